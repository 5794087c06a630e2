"""What is told of the agent that comes with Riverboat."""

from __future__ import annotations

import json

import pytest

from riverboat.interfaces import cli


def test_default_tells_what_is_on_record_beside_demo(capsys: pytest.CaptureFixture[str]) -> None:
    """How it was made, matches, and bounds of both: no figure of one stands alone."""
    with pytest.raises(SystemExit) as end:
        cli.main(["show", "default", "--json"])
    assert not end.value.code
    known = json.loads(capsys.readouterr().out)["known"]
    assert "core-hours" in known[0]
    bounds = [line.partition(":")[0] for line in known if "lower bound" in line]
    mine = [what.removeprefix("default") for what in bounds if what.startswith("default")]
    theirs = [what.removeprefix("demo") for what in bounds if what.startswith("demo")]
    assert sorted(mine) == sorted(theirs)
    assert len(mine) == 3  # a fitted response, calls alone, bets
    assert any(line.startswith("default against demo: won") for line in known)
