"""What is told of the agent that comes with Riverboat."""

from __future__ import annotations

import json

import pytest

from riverboat.agents import registry
from riverboat.cli import main
from riverboat.cli.matches.ledger import measure
from riverboat.cli.show import shipped
from riverboat.core.tables import ReportTable
from riverboat.evaluation.ledger import KINDS, read_ledger


@pytest.mark.slow
def test_the_command_tells_it(capsys: pytest.CaptureFixture[str]) -> None:
    """Slow: what bytes mean is read by loops of their own."""
    with pytest.raises(SystemExit) as end:
        main.main(["show", "default", "--json"])
    assert not end.value.code
    assert json.loads(capsys.readouterr().out)["known"] == shipped.lines()


def rows(table: ReportTable) -> list[tuple[str, str]]:
    return [(str(row["agent"]), str(row["measure"])) for row in table]


def test_default_is_measured_as_the_demo_is() -> None:
    """How it was made, matches, and bounds of both: no figure of one stands alone."""
    assert "core-hours" in shipped.lines()[0]
    found = rows(shipped.table()[0])
    assert len(found) == len(set(found))  # pieces of a measurement are one row
    mine, theirs = (
        {what for agent, what in found if agent == name and "won" not in what} for name in ("default", "demo")
    )
    assert mine == theirs
    assert len(mine) == 3  # a fitted response, calls alone, bets
    assert ("default", "won against demo") in found
    assert ("default?search=river", "won against default") in found
    assert ("default?search=river", "LBR fcpa from the turn") in found


def test_the_table_has_the_figures_of_the_ledger_and_fits_80_columns() -> None:
    ledger = read_ledger(registry.SHIPPED_LEDGER)
    names = ledger.names()
    known = {(names[e.agents[0]], measure(e, names)): e for kind in KINDS for e in ledger.pooled(kind)}
    table, notes = shipped.table()
    assert set(rows(table)) == set(known)
    assert notes == []
    for row in table:
        entry = known[str(row["agent"]), str(row["measure"])]
        assert float(str(row["mbb/g"]).replace(",", "")) == pytest.approx(entry.mbb_per_game, abs=0.05)
        assert float(str(row["± 95 %"]).replace(",", "")) == pytest.approx(entry.ci95, abs=0.05)
        assert row["hands"] == (f"{entry.hands:,}" if entry.hands else "")
    text = table.text(80)
    assert max(map(len, text.splitlines())) <= 80
    assert len(text.splitlines()) == len(table) + 1  # a row is a line, and no column is left out
    assert len(shipped.HEADING) <= 80


def test_figures_of_another_demo_than_the_one_here_say_so() -> None:
    (mark,) = {mark for mark, facts in read_ledger(registry.SHIPPED_LEDGER).agents.items() if facts["name"] == "demo"}
    same, other = shipped.table(mark), shipped.table("0123456789ab")
    assert same == shipped.table()
    assert len(other[1]) == 1
    assert all(part in other[1][0] for part in (mark[:6], "0123456789ab"))
    for (agent, what), (told, measured) in zip(rows(same[0]), rows(other[0]), strict=True):
        assert (mark[:6] in f"{told} {measured}") == ("demo" in f"{agent} {what}")
