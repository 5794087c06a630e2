"""What is told of the agent that comes with Riverboat."""

from __future__ import annotations

import json

import pytest

from riverboat.agents import registry
from riverboat.evaluation.ledger import read_ledger
from riverboat.interfaces import cli, shipped_facts


@pytest.mark.slow
def test_the_command_tells_it(capsys: pytest.CaptureFixture[str]) -> None:
    """Slow: what bytes mean is read by loops of their own."""
    with pytest.raises(SystemExit) as end:
        cli.main(["show", "default", "--json"])
    assert not end.value.code
    assert json.loads(capsys.readouterr().out)["known"] == shipped_facts.lines()


def test_default_tells_what_is_on_record_beside_demo() -> None:
    """How it was made, matches, and bounds of both: no figure of one stands alone."""
    known = shipped_facts.lines()
    assert "core-hours" in known[0]
    bounds = [line.partition(":")[0] for line in known if "lower bound" in line]
    mine = [what.removeprefix("default") for what in bounds if what.startswith("default,") or what == "default"]
    theirs = [what.removeprefix("demo") for what in bounds if what.startswith("demo")]
    assert sorted(mine) == sorted(theirs)
    assert len(mine) == 3  # a fitted response, calls alone, bets
    assert any(line.startswith("default against demo: won") for line in known)
    searched = [line for line in known if line.startswith("default?search=river")]  # pieces are told as one
    assert sum("against default: won" in line for line in searched) == 1
    assert sum("LBR fcpa from the turn" in line for line in searched) == 1


def test_figures_of_another_demo_than_the_one_here_say_so() -> None:
    known = shipped_facts.lines()
    (mark,) = {mark for mark, facts in read_ledger(registry.SHIPPED_LEDGER).agents.items() if facts["name"] == "demo"}
    assert shipped_facts.lines(mark) == known
    for line, told in zip(shipped_facts.lines("0123456789ab"), known, strict=True):
        assert ("another training" in line) == ("demo" in told)
