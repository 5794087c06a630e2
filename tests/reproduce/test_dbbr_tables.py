"""Table 3 and Figure 8 of DBBR, on Leduc: how they are put together."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.abstraction.cards.card_abstraction import lossless
from riverboat.games.holdem.rules import read_game
from riverboat.papers.exploitation import dbbr_figure_8, dbbr_table_3
from riverboat.papers.exploitation.dbbr_table_3 import BASE, FITS, Played, Size, matches, table

SIZE = Size(20_000, 64, 1200, 200, 2000, ("always-call", "always-raise"), ("em", "l2"), 4000)


@pytest.fixture(scope="module")
def played() -> dict[str, dict[str, Played]]:
    rules = read_game("leduc")
    return matches(rules, lossless(rules.board[1:], rules.deck), SIZE, 0)


def test_who_learns_wins_more(played: dict[str, dict[str, Played]]) -> None:
    for by_fit in played.values():
        assert set(by_fit) == {BASE, "em", "l2"}
        for fit in ("em", "l2"):
            np.testing.assert_array_equal(by_fit[fit].pairs[:200], by_fit[BASE].pairs[:200])  # until the first answer
            assert by_fit[fit].mean > by_fit[BASE].mean + 0.1


def test_the_table_and_the_picture(played: dict[str, dict[str, Played]]) -> None:
    told = table(played, SIZE)
    assert told.fine
    row = told.row("always-raise: em")
    assert row.ours == pytest.approx(played["always-raise"]["em"].mean)
    assert "the paper has 1.391" in row.note
    assert told.row("fits ahead of the base, trivial opponents").paper == 4
    worse = {name: {**by_fit, "em": by_fit[BASE]} for name, by_fit in played.items()}
    assert not table(worse, SIZE).fine  # as good as the base is not ahead of it
    drawn = dbbr_figure_8.report(played, SIZE)
    assert drawn.fine
    profit = next(c for c in drawn.curves if c.name == "em" and c.panel.startswith("always-raise: profit"))
    assert profit.x[-1] == SIZE.hands
    assert profit.y[-1] == pytest.approx(SIZE.hands * played["always-raise"]["em"].pairs.mean())
    for module in (dbbr_table_3, dbbr_figure_8):
        assert module.EXPERIMENT.source.startswith("Ganzfried & Sandholm 2011")
    assert set(FITS) < set(dbbr_table_3.PAPER["random"])
