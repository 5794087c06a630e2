"""A lower bound that is paid on fresh boards: unbiased, below the exact figure, and above what nobody fitted."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from evaluation.test_best_response import TINY, blueprint, bucketed
from reference.response import response_value
from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets, lossless
from riverboat.core.errors import InputError
from riverboat.evaluation.best_response.exact import quality
from riverboat.evaluation.best_response.fitted import draw_boards, fit_response
from riverboat.evaluation.best_response.lower_bound import abstract_bound, lower_bound, pay_response
from riverboat.games.holdem.menus import one_size
from riverboat.games.holdem.rules import Rules, read_game
from riverboat.solvers.mccfr.abstract_response import abstract_quality


@pytest.mark.parametrize("name", ["one card, two boards", "two cards", "limit"])
def test_the_mean_over_all_boards_is_what_the_response_wins(name: str) -> None:
    """Every board once, each with its own card removal: against plain enumeration of one fixed response."""
    rules, menu = TINY[name]
    cards = bucketed(rules, (4, 3, 3)[: rules.rounds], 1)
    strategy = blueprint(rules, menu, cards, 2)
    if menu is None:  # tables of steps, as training leaves them
        strategy = replace(strategy, average=tuple(table.astype(np.uint8) for table in strategy.average))
    response = fit_response(strategy, 50)
    assert any((a != b).any() for a, b in zip(response.average[:-1], strategy.average[:-1], strict=True))
    boards = np.array(list(permutations(rules.deck.cards.tolist(), rules.board_sizes[-1])), np.uint8)
    found = pay_response(strategy, response, boards).mean(axis=0)
    wanted = [response_value(strategy, seat, own=response, since=rules.rounds - 1) for seat in (0, 1)]
    assert found == pytest.approx(wanted, abs=1e-9)
    best = [response_value(strategy, seat) for seat in (0, 1)]
    assert (found <= np.array(best) + 1e-9).all()


def test_the_bound_is_below_the_exact_figure_and_above_play_that_is_not_fitted() -> None:
    rules = read_game("bench-3x20")
    strategy = blueprint(rules, one_size("100%"), bucketed(rules, (5, 7, 9), 5), 6)
    exact, found = quality(strategy), lower_bound(strategy, 400, fitted=130, seed=1)
    assert found.mbb_per_game - found.ci95 < exact.mbb_per_game
    assert 0 < found.ci95 < 0.2 * found.mbb_per_game
    assert found.fitted == 2 * 130
    plain = pay_response(strategy, strategy, 400, seed=1).mean() * 1000 / rules.big_blind
    assert found.mbb_per_game > plain  # on the same boards
    assert found.mbb_per_game > 0.7 * exact.mbb_per_game
    again = lower_bound(strategy, 400, fitted=130, seed=1, threads=2)
    assert (again.chips, again.seats) == (found.chips, found.seats)


@pytest.mark.parametrize("dtype", [np.float64, pytest.param(np.float32, marks=pytest.mark.slow)])
def test_a_response_fitted_on_all_boards_is_the_best_of_an_abstract_game_that_remembers(dtype: type) -> None:
    """Against the best response from joint counts of buckets, and against plain enumeration of what it plays."""
    rules = Rules(blinds=(2, 1), stacks=(9, 9), board=(0, 1, 1), ranks=4, suits=2, hole=1)
    rng = np.random.default_rng(3)
    values = [rng.integers(0, 100, (1, n)).astype(np.uint16) for n in lossless((1, 1), rules.deck).counts]
    cuts = [np.array([[50]], np.uint16), *(np.sort(rng.integers(0, 100, (n, 1)), axis=1) for n in (2, 4))]
    streets = [StreetBuckets(n, v, cuts=c.astype(np.uint16)) for n, v, c in zip((2, 4, 8), values, cuts, strict=True)]
    strategy = blueprint(rules, TINY["one card, two boards"][1], CardAbstraction(tuple(streets), (1, 1), rules.deck), 4)
    boards = np.array(list(permutations(rules.deck.cards.tolist(), 2)), np.uint8)
    response = fit_response(strategy, boards, within=True, dtype=dtype)
    won = [response_value(strategy, seat, respond=False, own=response) for seat in (0, 1)]
    exact = abstract_quality(strategy)
    assert won == pytest.approx(exact.best, abs=1e-6)
    assert exact.exploitability > 0.01
    paid = abstract_bound(strategy, 300, hands=100_000, threads=2)
    assert abs(paid.chips.mean - exact.exploitability) < 2 * paid.chips.half_width


def test_of_buckets_that_forget_a_response_wins_less_than_one_that_sees_its_hand() -> None:
    rules = read_game("bench-3x20")
    strategy = blueprint(rules, one_size("100%"), bucketed(rules, (5, 7, 9), 5), 6)
    inside, outside = abstract_bound(strategy, 130, hands=400_000, seed=1), quality(strategy)
    assert 5 * inside.ci95 < inside.mbb_per_game < outside.mbb_per_game - inside.ci95
    again = abstract_bound(strategy, 130, hands=400_000, seed=1, threads=2)
    assert again.chips == inside.chips


def test_boards_are_drawn_alike() -> None:
    """All cards come equally often on every street, and boards that a response is fitted on are others than it is paid on."""
    rules = read_game("bench-3x20")
    boards = draw_boards(rules, 4000, 0, 0)
    assert boards.shape == (4000, rules.board_sizes[-1])
    assert (np.diff(np.sort(boards, axis=1).astype(int), axis=1) > 0).all()
    for low, high in zip((0, *rules.board_sizes[:-1]), rules.board_sizes, strict=True):
        counts = np.bincount(boards[:, low:high].ravel(), minlength=52)[rules.deck.cards]
        if high > low:
            mean = 4000 * (high - low) / len(rules.deck.cards)
            assert np.abs(counts - mean).max() < 6 * np.sqrt(mean)
    assert (boards != draw_boards(rules, 4000, 0, 1)).any()


def test_what_has_no_boards_is_refused() -> None:
    rules = read_game("kuhn")
    with pytest.raises(InputError, match="no boards"):
        lower_bound(blueprint(rules, None, lossless((), rules.deck), 0))
