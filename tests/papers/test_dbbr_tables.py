"""Table 3 and Figure 8 of DBBR, on Leduc: how the reports are assembled."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
from riverboat.games.holdem.rules import read_game
from riverboat.papers.exploitation import dbbr
from riverboat.papers.exploitation.dbbr import (
    BASE_AGENT,
    HOLDEM_FITS,
    DbbrSize,
    LearningMatchResult,
    play_matches,
    table_3_report,
)
from riverboat.papers.registry import find

SIZE = DbbrSize(20_000, 64, 1200, 200, 2000, ("always-call", "always-raise"), ("em", "l2"), 4000)


@pytest.fixture(scope="module")
def played() -> dict[str, dict[str, LearningMatchResult]]:
    rules = read_game("leduc")
    return play_matches(rules, lossless_abstraction(rules.board[1:], rules.deck), SIZE, 0)


def test_learning_agents_win_more(played: dict[str, dict[str, LearningMatchResult]]) -> None:
    for by_fit in played.values():
        assert set(by_fit) == {BASE_AGENT, "em", "l2"}
        for fit in ("em", "l2"):
            np.testing.assert_array_equal(
                by_fit[fit].pair_winnings[:200], by_fit[BASE_AGENT].pair_winnings[:200]
            )  # until the first response
            assert by_fit[fit].mean > by_fit[BASE_AGENT].mean + 0.1


def test_table_and_figure(played: dict[str, dict[str, LearningMatchResult]]) -> None:
    table = table_3_report(played, SIZE)
    assert table.passes
    row = table.row("always-raise: em")
    assert row.ours == pytest.approx(played["always-raise"]["em"].mean)
    assert "the paper has 1.391" in row.note
    assert table.row("fits ahead of the base, trivial opponents").paper == 4
    worse = {name: {**by_fit, "em": by_fit[BASE_AGENT]} for name, by_fit in played.items()}
    assert not table_3_report(worse, SIZE).passes  # equal to the base is not ahead of it
    figure = dbbr.figure_8_report(played, SIZE)
    assert figure.passes
    profit = next(c for c in figure.curves if c.name == "em" and c.panel.startswith("always-raise: profit"))
    assert profit.x[-1] == SIZE.hands
    assert profit.y[-1] == pytest.approx(SIZE.hands * played["always-raise"]["em"].pair_winnings.mean())
    for name in ("dbbr-table-3", "dbbr-figure-8"):
        assert find(name).source.startswith("Ganzfried & Sandholm 2011")
    assert set(HOLDEM_FITS) < set(dbbr.PAPER_WIN_RATES["random"])
