"""Sampled lower bounds: unbiased, below the exact figure, and above the value of an unfitted response."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from evaluation.test_best_response import TINY, blueprint, bucketed
from reference.response import response_value
from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets, lossless_abstraction
from riverboat.core.errors import InputError
from riverboat.evaluation.best_response.exact import quality
from riverboat.evaluation.best_response.lower_bound import (
    BoardSampling,
    abstract_lower_bound,
    draw_boards,
    evaluate_response,
    fit_response,
    lower_bound,
)
from riverboat.games.holdem.menus import one_size_menu
from riverboat.games.holdem.rules import PokerRules, read_game
from riverboat.solvers.mccfr.abstract_response import abstract_quality


@pytest.mark.parametrize("name", ["one card, two boards", "two cards", "limit"])
def test_mean_over_all_boards(name: str) -> None:
    """The mean over every board, each with its own card removal, agrees with enumeration of one fixed response."""
    rules, menu = TINY[name]
    cards = bucketed(rules, (4, 3, 3)[: rules.rounds], 1)
    strategy = blueprint(rules, menu, cards, 2)
    if menu is None:  # integer tables, as in training
        strategy = replace(strategy, average=tuple(table.astype(np.uint8) for table in strategy.average))
    response = fit_response(strategy, 50)
    assert any((a != b).any() for a, b in zip(response.average[:-1], strategy.average[:-1], strict=True))
    boards = np.array(list(permutations(rules.deck.cards.tolist(), rules.board_sizes[-1])), np.uint8)
    found = evaluate_response(strategy, response, boards).mean(axis=0)
    wanted = [response_value(strategy, seat, own=response, since=rules.rounds - 1) for seat in (0, 1)]
    assert found == pytest.approx(wanted, abs=1e-9)
    best = [response_value(strategy, seat) for seat in (0, 1)]
    assert (found <= np.array(best) + 1e-9).all()


def test_bound_is_between_unfitted_and_exact() -> None:
    rules = read_game("bench-3x20")
    strategy = blueprint(rules, one_size_menu("100%"), bucketed(rules, (5, 7, 9), 5), 6)
    exact, found = quality(strategy), lower_bound(strategy, 400, fitting_boards=130, seed=1)
    assert found.mbb_per_game - found.ci95 < exact.mbb_per_game
    assert 0 < found.ci95 < 0.2 * found.mbb_per_game
    assert found.fitting_boards == 2 * 130
    plain = evaluate_response(strategy, strategy, 400, BoardSampling(seed=1)).mean() * 1000 / rules.big_blind
    assert found.mbb_per_game > plain  # on the same boards
    assert found.mbb_per_game > 0.7 * exact.mbb_per_game
    again = lower_bound(strategy, 400, fitting_boards=130, seed=1, threads=2)
    assert (again.chips, again.by_seat) == (found.chips, found.by_seat)


@pytest.mark.parametrize("dtype", [np.float64, pytest.param(np.float32, marks=pytest.mark.slow)])
def test_response_fitted_on_all_boards_is_optimal_with_perfect_recall(dtype: type) -> None:
    """It agrees with the best response from joint counts of buckets, and with enumeration."""
    rules = PokerRules(blinds=(2, 1), stacks=(9, 9), board=(0, 1, 1), ranks=4, suits=2, hole=1)
    rng = np.random.default_rng(3)
    values = [rng.integers(0, 100, (1, n)).astype(np.uint16) for n in lossless_abstraction((1, 1), rules.deck).counts]
    cuts = [np.array([[50]], np.uint16), *(np.sort(rng.integers(0, 100, (n, 1)), axis=1) for n in (2, 4))]
    streets = [StreetBuckets(n, v, cuts=c.astype(np.uint16)) for n, v, c in zip((2, 4, 8), values, cuts, strict=True)]
    strategy = blueprint(rules, TINY["one card, two boards"][1], CardAbstraction(tuple(streets), (1, 1), rules.deck), 4)
    boards = np.array(list(permutations(rules.deck.cards.tolist(), 2)), np.uint8)
    response = fit_response(strategy, boards, BoardSampling(dtype=dtype), abstract=True)
    won = [response_value(strategy, seat, respond=False, own=response) for seat in (0, 1)]
    exact = abstract_quality(strategy)
    assert won == pytest.approx(exact.best, abs=1e-6)
    assert exact.exploitability > 0.01
    paid = abstract_lower_bound(strategy, 300, hands=100_000, threads=2)
    assert abs(paid.chips.mean - exact.exploitability) < 2 * paid.chips.half_width


def test_abstract_bound_with_imperfect_recall() -> None:
    rules = read_game("bench-3x20")
    strategy = blueprint(rules, one_size_menu("100%"), bucketed(rules, (5, 7, 9), 5), 6)
    inside, outside = abstract_lower_bound(strategy, 130, hands=400_000, seed=1), quality(strategy)
    assert 5 * inside.ci95 < inside.mbb_per_game < outside.mbb_per_game - inside.ci95
    again = abstract_lower_bound(strategy, 130, hands=400_000, seed=1, threads=2)
    assert again.chips == inside.chips


def test_random_boards() -> None:
    """All cards are equally frequent on every street, and boards for fitting differ from those for evaluation."""
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


def test_games_without_boards() -> None:
    rules = read_game("kuhn")
    with pytest.raises(InputError, match="kuhn"):
        lower_bound(blueprint(rules, None, lossless_abstraction((), rules.deck), 0))
