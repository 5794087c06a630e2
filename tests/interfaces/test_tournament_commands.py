"""`riverboat icm` and `riverboat pushfold`: what they print, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reference.all_in import classes_of
from riverboat.cards.deck import Deck
from riverboat.cards.grid import CLASS_NAMES
from riverboat.interfaces.cli import main
from riverboat.tournaments import orders, stage


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


def test_icm(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "icm", "--stacks", "2,1,1", "--payouts", "50,30,20", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["values"] == pytest.approx([115 / 3, 185 / 6, 185 / 6])
    assert found["call_off_equities"][0][0] is None
    code, out, _ = run(capsys, "icm", "--stacks", "2,1,1", "--payouts", "50,30,20")
    assert code == 0
    assert "38.33" in out
    assert "bubble factors" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["icm", "--stacks", "2,x", "--payouts", "1"], "number 2, 'x'"),
        (["icm", "--stacks", "2,,1", "--payouts", "1"], "number 2, ''"),
        (["icm", "--stacks", "2,0", "--payouts", "1"], "must be above zero"),
        (["icm", "--stacks", "1e400,1", "--payouts", "1"], "number 1"),
        (["pushfold", "--stacks", "10"], "2 to 9 players"),
        (["pushfold", "--stacks", "10,10", "--blinds", "1"], "small and the big"),
        (["pushfold", "--stacks", "10,10", "--line", "JJ"], "nobody decides there"),
        (["pushfold", "--stacks", "9,9,9,9,9", "--line", "JJJJ"], "nobody decides there"),  # behind four all-ins
        (["pushfold", "--stacks", "10,10", "--plot", "a.png"], "--line"),
        (["pushfold", "--stacks", "10,10", "--line", "", "--plot", "a.doc"], "unknown kind"),
    ],
)
def test_refused(capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_pushfold(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the classes of a small deck in the first places, where the real table would take half a minute."""
    deck = Deck.small(4, 2)
    small = orders.count_two(deck, classes_of(deck), board=1)
    wide = orders.TwoWay(*(_spread(part) for part in (small.wins, small.ties, small.hands)))
    monkeypatch.setattr(orders, "two_way", lambda *_: wide)
    monkeypatch.setattr(stage, "deals_to", lambda _players: stage.pairs(wide))
    table, picture = tmp_path / "all.csv", tmp_path / "sb.png"
    words = ["pushfold", "--stacks", "5,5", "--line", "", "--csv", str(table), "--plot", str(picture), "--until", "1"]
    code, out, err = run(capsys, *words)
    assert code == 0
    assert "SB first in" in out
    assert "(exact)" in out
    assert picture.stat().st_size > 1000
    assert table.read_text().splitlines()[0] == ",".join(("line", *CLASS_NAMES))
    assert len(table.read_text().splitlines()) == 3
    assert "Traceback" not in err
    code, out, _ = run(capsys, "pushfold", "--stacks", "5,5", "--until", "0", "--iterations", "3", "--json")
    found = json.loads(out)
    assert code == 1  # the target was missed
    assert found["values"][0] == pytest.approx(-found["values"][1], abs=1e-6)
    assert found["epsilon"] == max(found["gains"]) > 0
    assert [decision["position"] for decision in found["decisions"]] == ["SB", "BB"]


def _spread(part):  # type: ignore[no-untyped-def]
    import numpy as np

    wide = np.zeros((169, 169), part.dtype)
    wide[: len(part), : len(part)] = part
    return wide
