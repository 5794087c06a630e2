"""Hand histories that pokerkit reads back."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pokerkit
import pytest

from riverboat.agents.yardsticks import Yardstick
from riverboat.errors import DiskError, InputError
from riverboat.evaluation.histories import history, open_histories
from riverboat.evaluation.matches import Hands, play_match
from riverboat.games.acpc import Rules, read_game

NOLIMIT, LIMIT = read_game("nolimit-200bb"), read_game("limit")


def match(path: Path, rules: Rules, hands: int, names: tuple[str, str]) -> list[Hands]:
    kept: list[Hands] = []
    with open_histories(path) as write:

        def observe(batch: Hands) -> None:
            write(batch)
            kept.append(batch)

        play_match(*map(Yardstick, names), rules, hands, observe=observe, pairs_at_once=40)
    return kept


@pytest.mark.parametrize(
    ("rules", "names"),
    [
        (NOLIMIT, ("random", "rule-based")),
        (replace(NOLIMIT, stacks=(900, 900)), ("random", "random")),  # all-in before the river
        (replace(NOLIMIT, stacks=(700, 1510)), ("random", "always-call")),
        (LIMIT, ("random", "rule-based")),
        (LIMIT, ("always-raise", "always-raise")),  # the cap of every round
    ],
    ids=["200bb", "9bb", "unequal", "limit", "caps"],
)
def test_pokerkit_comes_to_the_same_stacks(rules: Rules, names: tuple[str, str], tmp_path: Path) -> None:
    kept = match(tmp_path / "match.phhs", rules, 120, names)
    with (tmp_path / "match.phhs").open("rb") as file:
        found = list(pokerkit.HandHistory.load_all(file))
    assert len(found) == 120
    stacks = rules.stacks or (10_000, 10_000)
    won = [int(chips) for batch in kept for chips in batch.won]
    assert any(won)
    for number, (hand, chips) in enumerate(zip(found, won, strict=True)):
        *_, end = hand
        assert not end.status
        assert tuple(end.stacks) == (stacks[0] + chips, stacks[1] - chips)
        assert hand.finishing_stacks == list(end.stacks)
        assert (hand.hand, hand.players) == (number, list(names if number % 2 == 0 else names[::-1]))


def test_one_history(tmp_path: Path) -> None:
    (hands,) = match(tmp_path / "a.phhs", NOLIMIT, 4, ("always-raise", "always-fold"))
    found = history(hands, 1)
    cards = found.actions[:2]
    assert found.actions == [*cards, "p2 cbr 200", "p1 f"]  # the dealer raises, the big blind folds
    assert pokerkit.HandHistory.loads(found.dumps()).actions == found.actions
    assert (found.variant, found.min_bet, found.finishing_stacks) == ("NT", 100, [19_900, 20_100])


def test_what_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="game 'leduc': PHH is written for heads-up hold'em"):
        match(tmp_path / "a.phhs", read_game("leduc"), 4, ("random", "random"))
    with pytest.raises(InputError, match=r"named FILE\.phhs"), open_histories(tmp_path / "a.txt"):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(DiskError, match="file exists"), open_histories(tmp_path / "file" / "a.phhs"):
        pass
    monkeypatch.setitem(sys.modules, "pokerkit", None)
    with pytest.raises(InputError, match="pip install pokerkit"), open_histories(tmp_path / "a.phhs"):
        pass
