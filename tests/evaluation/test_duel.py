"""Duels: against exact values, the same for a seed, and what is refused."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets, lossless_abstraction
from riverboat.agents.baselines import BaselineAgent
from riverboat.core.errors import InputError
from riverboat.evaluation.best_response.exact import quality
from riverboat.evaluation.confidence_intervals import SampleSums
from riverboat.evaluation.matches.duel import TREE_BASELINE_ACTIONS, DuelResult, _duel_deals, baseline_strategy, duel
from riverboat.evaluation.matches.pairs import DuplicatePairs
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.games.holdem.menus import one_size_menu
from riverboat.games.holdem.rules import PokerRules, read_game
from riverboat.solvers.mccfr.trainer import BlueprintTrainer
from riverboat.strategies.blueprint import Blueprint

POT = one_size_menu("100%")
SMALL = read_game("bench-3x20")


def cards_of(rules: PokerRules, counts: tuple[int, ...], seed: int) -> CardAbstraction:
    rng, whole = np.random.default_rng(seed), lossless_abstraction(rules.board[1:], rules.deck)
    streets = tuple(
        StreetBuckets(n, rng.integers(0, n, (1, whole.counts[s])).astype(np.uint16)) for s, n in enumerate(counts)
    )
    return CardAbstraction(streets, rules.board[1:], rules.deck)


def blueprint(rules: PokerRules, cards: CardAbstraction, seed: int, menu: object = POT) -> Blueprint:
    """Random weights, a third of them zero, which leaves some decisions with none."""
    rng = np.random.default_rng(seed)
    tree = compile_action_tree(rules, None if rules.limit else menu)
    shapes = [(cards.counts[s], int(tree.width[s])) for s in range(rules.rounds)]
    tables = [rng.random(shape, np.float32) * (rng.random(shape) > 1 / 3) for shape in shapes]
    return Blueprint(rules, tree.menu, tree, cards, tuple(table.astype(np.float32) for table in tables))


def against(first: Blueprint, second: Blueprint) -> float:
    """Return the exact winnings of the first per hand, over both seats; both have one card abstraction."""
    tree = first.tree

    def seats(zero: Blueprint, one: Blueprint) -> float:
        tables = [table.astype(np.float32) for table in zero.average]
        for node in np.flatnonzero(tree.actor == 1):
            street, at = int(tree.street[node]), int(tree.slot[node])
            tables[street][:, at : at + tree.count[node]] = one.average[street][:, at : at + tree.count[node]]
        return quality(replace(zero, average=tuple(tables))).values[0]

    return (seats(first, second) - seats(second, first)) / 2


def within(found: DuelResult, wanted: float) -> bool:
    """Whether a result is within four standard errors of its expected value."""
    return abs(found.chips.mean - wanted) < 4 * found.chips.half_width / 1.96


# --- Results ---


@pytest.mark.parametrize("rules", [read_game("leduc"), SMALL], ids=lambda rules: rules.name)
def test_the_mean_is_the_exact_value(rules: PokerRules) -> None:
    cards = cards_of(rules, (3, 5, 4)[: rules.rounds], 0)
    first, second = blueprint(rules, cards, 1), blueprint(rules, cards, 2)
    raises = baseline_strategy("raise", second).average  # raises too often
    second = replace(second, average=tuple(a + b for a, b in zip(second.average, raises, strict=True)))
    found = duel(first, second, 400_000)
    wanted = against(first, second)
    assert within(found, wanted)
    assert found.chips.half_width < 0.2 * abs(wanted)  # a wrong sign would fail
    assert found.mbb_per_game == pytest.approx(1000 * found.chips.mean / rules.big_blind)


def test_baselines() -> None:
    """Means against each other are exact values too; always calling against itself is a fair lottery of hands."""
    like = blueprint(SMALL, cards_of(SMALL, (2, 2, 2), 3), 4)
    sticks = {name: baseline_strategy(name, like) for name in TREE_BASELINE_ACTIONS}
    for name in ("call", "fold", "raise"):
        assert within(duel(like, sticks[name], 200_000, seed=5), against(like, sticks[name]))
    assert within(duel(sticks["random"], sticks["raise"], 200_000), against(sticks["random"], sticks["raise"]))
    # It loses 1 chip as small blind and 2 to a raise as big blind: 1.5 per hand, always.
    folded = duel(sticks["raise"], sticks["fold"], 1000)
    assert (folded.chips.mean, folded.chips.half_width, folded.mbb_per_game) == (1.5, 0, 750)
    # Without raises every hand has a showdown, and a pair of hands wins as much as it loses.
    assert duel(sticks["call"], sticks["call"], 1000).chips.mean == 0


def test_actions_of_baselines() -> None:
    like = blueprint(SMALL, cards_of(SMALL, (2, 2, 2), 3), 4)
    tree = like.tree
    for name, wanted in (("fold", "fc"), ("call", "c"), ("raise", "rc")):
        stick = baseline_strategy(name, like)
        for node in np.flatnonzero(tree.actor >= 0):
            labels = [move[0] for move in tree.actions(node)]
            best = labels.index(next(kind for kind in wanted if kind in labels))
            assert stick.probabilities(node, np.array([1]))[0].tolist() == np.eye(len(labels))[best].tolist()
    uniform = baseline_strategy("random", like)
    assert uniform.probabilities(0, np.array([0]))[0].tolist() == [1 / 3] * 3
    with pytest.raises(InputError, match=r"'raises'.*'raise'"):
        baseline_strategy("raises", like)


def test_winnings_against_itself_are_zero() -> None:
    """Cards and random numbers are the same at every decision in both seats."""
    one = blueprint(SMALL, cards_of(SMALL, (3, 4, 5), 6), 7)
    found = duel(one, replace(one), 10_000)
    assert (found.chips.mean, found.chips.half_width) == (0, 0)


def test_card_abstractions_may_differ() -> None:
    """A bucketed strategy written out for every hand is the same strategy, and plays the same hands."""
    few = blueprint(SMALL, cards_of(SMALL, (3, 4, 5), 8), 9)
    whole = lossless_abstraction(SMALL.board[1:], SMALL.deck)
    tables = tuple(few.average[s][few.cards.streets[s].labels[0]] for s in range(SMALL.rounds))
    many = Blueprint(SMALL, few.menu, few.tree, whole, tables)
    other = blueprint(SMALL, cards_of(SMALL, (2, 6, 3), 10), 11)
    assert duel(few, many, 10_000).chips.half_width == 0
    assert duel(few, other, 10_000).record() == duel(many, other, 10_000).record()
    swapped = duel(other, many, 10_000)
    assert swapped.chips.mean == -duel(few, other, 10_000).chips.mean


def test_seeds_and_threads() -> None:
    cards = cards_of(SMALL, (3, 4, 5), 6)
    first, second = blueprint(SMALL, cards, 12), blueprint(SMALL, cards, 13)
    one = duel(first, second, 50_000, seed=3)
    assert one.record() == duel(first, second, 50_000, seed=3, threads=2).record()
    assert one.record() != duel(first, second, 50_000, seed=4).record() | {"seed": 3}
    assert (one.hands, one.pairs, one.seed) == (50_000, 25_000, 3)
    assert set(one.record()) == {"mbb_per_game", "bb_per_100", "ci95", "hands", "pairs", "seed"}
    assert one.bb_per_100 == pytest.approx(one.mbb_per_game / 10)
    assert one.hands_per_second > 0


def test_integer_and_float_tables_agree() -> None:
    one = blueprint(SMALL, cards_of(SMALL, (3, 4, 5), 6), 7)
    steps = tuple(np.round(table * 255).astype(np.uint8) for table in one.average)
    sums = tuple(table.astype(np.float32) * 1000 for table in steps)
    bytes_, floats = replace(one, average=steps), replace(one, average=sums)
    assert duel(bytes_, floats, 10_000).chips.half_width == 0


# --- Intervals ---


def test_confidence_interval() -> None:
    sample = np.random.default_rng(0).normal(3, 2, 1000)
    found = SampleSums(len(sample), sample.sum(), (sample**2).sum()).confidence_interval()
    assert found.mean == pytest.approx(sample.mean())
    assert found.half_width == pytest.approx(1.959964 * sample.std(ddof=1) / math.sqrt(1000))
    with pytest.raises(InputError, match="1 samples"):
        SampleSums(1, 1.0, 1.0).confidence_interval()


def test_coverage_of_intervals() -> None:
    """95 % intervals contain the true value in about 190 of 200 matches."""
    rules = read_game("kuhn")
    cards = lossless_abstraction((), rules.deck)
    first, second = blueprint(rules, cards, 1), blueprint(rules, cards, 2)
    wanted = against(first, second)
    found = [duel(first, second, 2000, seed) for seed in range(200)]
    inside = sum(abs(one.chips.mean - wanted) <= one.chips.half_width for one in found)
    assert 180 <= inside <= 199


# --- Invalid input ---


def test_invalid_duels() -> None:
    cards = cards_of(SMALL, (2, 2, 2), 3)
    one = blueprint(SMALL, cards, 4)
    with pytest.raises(InputError, match="hands=1001"):
        duel(one, one, 1001)
    with pytest.raises(InputError, match="threads=0"):
        duel(one, one, 1000, threads=0)
    other = blueprint(SMALL, cards, 4, one_size_menu("50%"))
    with pytest.raises(InputError, match="nodes"):
        duel(one, other, 1000)
    leduc = read_game("leduc")
    with pytest.raises(InputError, match="'leduc'"):
        duel(one, blueprint(leduc, cards_of(leduc, (3, 3), 0), 0), 1000)


def test_deals_differ_from_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """With equal seeds matches have other deals than training, which may have memorized its deals."""
    some = blueprint(SMALL, cards_of(SMALL, (3, 4, 5), 6), 12)
    solver = BlueprintTrainer(some.tree, some.cards, seed=3)
    traverser: Any = solver.traverser
    solver.step(traverser.group)
    size, dealt = 2 * SMALL.hole + SMALL.board_sizes[-1], []
    seen = traverser._workspaces[0][0].cards[: traverser.group * size].reshape(-1, size)

    def spy(*asked: Any) -> Any:
        dealt.append(_duel_deals(*asked))
        return dealt[-1]

    monkeypatch.setattr("riverboat.evaluation.matches.duel._duel_deals", spy)
    duel(some, some, 2 * len(seen), seed=3)
    call = BaselineAgent("always-call")
    for cards in (
        dealt[0].cards,
        DuplicatePairs((call, call), ("one", "two"), SMALL, 3).play(np.arange(len(seen))).cards[::2],
    ):
        assert cards.shape == seen.shape
        assert not (cards == seen).all(axis=1).any()
