"""Description and measurements of the shipped agent."""

from __future__ import annotations

import json

import pytest

from riverboat.agents import registry
from riverboat.cli import main
from riverboat.core.tables import ReportTable
from riverboat.evaluation.ledger import RESULT_KINDS, read_ledger
from riverboat.reports import ledger as shipped
from riverboat.reports.ledger import measure_name


@pytest.mark.slow
def test_command_prints_the_description(capsys: pytest.CaptureFixture[str]) -> None:
    """Slow: kernels that decode the tables must be compiled."""
    with pytest.raises(SystemExit) as end:
        main.main(["show", "default", "--json"])
    assert not end.value.code
    assert json.loads(capsys.readouterr().out)["known"] == shipped.describe_shipped_agent()


def rows(table: ReportTable) -> list[tuple[str, str]]:
    return [(str(row["agent"]), str(row["measure"])) for row in table]


def test_default_and_demo_have_the_same_measurements() -> None:
    """There are provenance, matches, and bounds of both."""
    assert "core-hours" in shipped.describe_shipped_agent()[0]
    found = rows(shipped.shipped_measurement_table()[0])
    assert len(found) == len(set(found))  # parts of a measurement are pooled in one row
    mine, theirs = (
        {what for agent, what in found if agent == name and "won" not in what} for name in ("default", "demo")
    )
    assert mine == theirs
    assert len(mine) == 3  # fitted best response, LBR with calls only, LBR with bets
    assert ("default", "won against demo") in found
    assert ("default?search=river", "won against default") in found
    assert ("default?search=river", "LBR fcpa from the turn") in found


def test_the_table_has_the_figures_of_the_ledger_and_fits_80_columns() -> None:
    ledger = read_ledger(registry.SHIPPED_LEDGER)
    names = ledger.names()
    known = {
        (names[e.agents[0]], measure_name(e, names)): e for kind in RESULT_KINDS for e in ledger.pooled_entries(kind)
    }
    table, notes = shipped.shipped_measurement_table()
    assert set(rows(table)) == set(known)
    assert notes == []
    for row in table:
        entry = known[str(row["agent"]), str(row["measure"])]
        assert float(str(row["mbb/g"]).replace(",", "")) == pytest.approx(entry.mbb_per_game, abs=0.05)
        assert float(str(row["± 95 %"]).replace(",", "")) == pytest.approx(entry.ci95, abs=0.05)
        assert row["hands"] == (f"{entry.hands:,}" if entry.hands else "")
    text = table.text(80)
    assert max(map(len, text.splitlines())) <= 80
    assert len(text.splitlines()) == len(table) + 1  # one line per row, and no column is left out
    assert len(shipped.MEASUREMENTS_HEADING) <= 80


def test_measurements_of_another_demo_are_marked() -> None:
    (mark,) = {mark for mark, facts in read_ledger(registry.SHIPPED_LEDGER).agents.items() if facts["name"] == "demo"}
    same, other = shipped.shipped_measurement_table(mark), shipped.shipped_measurement_table("0123456789ab")
    assert same == shipped.shipped_measurement_table()
    assert len(other[1]) == 1
    assert all(part in other[1][0] for part in (mark[:6], "0123456789ab"))
    for (agent, what), (told, measured) in zip(rows(same[0]), rows(other[0]), strict=True):
        assert (mark[:6] in f"{told} {measured}") == ("demo" in f"{agent} {what}")
