"""Depth-limited search on small games: the printed figures, and rows by their names."""

from __future__ import annotations

import pytest

from riverboat.papers.endgames import depth_limited
from riverboat.subgames.lookahead.leaf_values import Continuations


def test_known_failures_and_repairs() -> None:
    rows = {row.name: row for row in depth_limited.rock_paper_scissors_rows() + depth_limited.coin_toss_rows()}
    assert all(row.passes for row in rows.values())
    assert rows["RPS+, one continuation: best response to it"].ours > 0.3
    assert rows["Coin Toss, player 1 searches, unsafe: best response of player 0"].ours == pytest.approx(0.75)
    lost = "Coin Toss, player 0 searches, {}: best response of player 1"
    assert rows[lost.format("one continuation")].ours == pytest.approx(0.25)
    assert rows[lost.format("three continuations")].ours == pytest.approx(0, abs=1e-6)


def test_rows_of_a_search() -> None:
    base = depth_limited.blueprint("kuhn", 3)
    rows = depth_limited.search_rows("kuhn", base, "resolve", {"1 continuation": Continuations()}, 10)
    limits = ["1 action, 1 continuation", "2 actions, 1 continuation", "1 round, 1 continuation", "no limit"]
    assert [row.name for row in rows] == [f"kuhn, re-solve, {limit}" for limit in limits]
    assert rows[2].ours == rows[3].ours  # Kuhn has one round
    assert all(row.passes for row in rows)
