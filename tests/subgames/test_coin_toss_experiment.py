"""The experiment `coin-toss`: all figures of Coin Toss, and its table on a small Leduc."""

from __future__ import annotations

import re

import pytest

from riverboat.games.registry import game_from_spec
from riverboat.papers.endgames.small_games import (
    base_strategies,
    coin_toss_rows,
    random_base_rows,
    run_coin_toss,
    second_round_rows,
)
from riverboat.trees.public import PublicTree


def test_coin_toss() -> None:
    rows = coin_toss_rows()
    assert all(row.passes for row in rows)
    assert next(row.ours for row in rows if row.name == "re-solve: least margin") >= -1e-9
    differs = [row.name for row in rows if row.verdict == "explained"]
    assert differs == ["maxmargin: guess heads"]  # the misprint
    assert sum(row.verdict == "match" for row in rows if row.kind == "printed") == 17


def test_second_round() -> None:
    rows, curves = second_round_rows("leduc:ranks=3,suits=1")
    assert all(row.passes for row in rows)
    assert len(curves) == 4
    values = {row.name.partition(": ")[2]: row.ours for row in rows if "blind" in row.name}
    least = values["best possible"]
    assert all(least <= value + 1e-6 for name, value in values.items() if not name.startswith("most"))
    assert values["base"] > least + 0.01


def test_random_bases() -> None:
    rows = random_base_rows("leduc:ranks=3,suits=1", 2, seed=1)
    assert all(row.passes for row in rows)


def test_blind_base() -> None:
    """Hands of a rank play alike, whatever the public card."""
    tree = PublicTree(game_from_spec("leduc:ranks=3,suits=2"))  # type: ignore[arg-type]
    blind = base_strategies(tree)["abstraction blind to the public card"]
    rows: dict[str, dict[str, float]] = {}
    for infoset in tree.infosets():
        hand, _, line = infoset.name.partition(":")
        name = f"{hand[0]}:{re.sub('/[^/]*/', '/', line)}"
        assert rows.setdefault(name, blind[infoset.name]) == blind[infoset.name]
    assert len(rows) < tree.infoset_count / 4


@pytest.mark.slow
def test_full_experiment() -> None:
    report = run_coin_toss(False, 0)
    assert report.passes
    assert report.row("leduc, equilibrium: unsafe").ours > 0.01
