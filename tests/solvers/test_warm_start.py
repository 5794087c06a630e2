"""Warm starts: from fewer buckets or bets to more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reference.small_blueprint import small_game_strategy
from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets, lossless_abstraction
from riverboat.abstraction.recipe import load_recipe
from riverboat.api.train import train
from riverboat.core.errors import InputError
from riverboat.evaluation.best_response import exact
from riverboat.games.holdem.action_tree import ActionTree, compile_action_tree
from riverboat.games.holdem.menus import one_size_menu, parse_menu
from riverboat.games.holdem.rules import PokerRules, read_game
from riverboat.games.registry import game_from_spec
from riverboat.solvers.mccfr.recipe import SIZES, parse_train_recipe, training_size_for
from riverboat.solvers.mccfr.tables import Weighting
from riverboat.solvers.mccfr.trainer import BlueprintTrainer
from riverboat.solvers.mccfr.training import quantized_averages
from riverboat.solvers.mccfr.warm_start import bucket_shares, warm_start
from riverboat.solvers.tabular.best_response import quality
from riverboat.strategies.blueprint import Blueprint
from riverboat.trees.compile import compile_game
from riverboat.trees.public import PublicTree

LEDUC = read_game("leduc")
LINEAR = Weighting("linear", 64)
FINE = lossless_abstraction(LEDUC.board[1:], LEDUC.deck)


def coarse_cards() -> CardAbstraction:
    """Queen and jack share a bucket before the board; with the board, buckets distinguish only pairs and the king."""
    deck = LEDUC.deck
    first = np.zeros(FINE.counts[0], np.uint16)
    second = np.zeros(FINE.counts[1], np.uint16)
    for card in deck.cards.tolist():
        high = int(card) >> 2 == 12
        first[FINE.bucket([card])] = high
        for board in deck.cards.tolist():
            if board != card:
                pair = board >> 2 == card >> 2
                second[FINE.bucket([card], [board])] = 2 if pair else int(high)
    return CardAbstraction((StreetBuckets(2, first[None]), StreetBuckets(3, second[None])), (1,), deck, name="coarse")


def trained(cards: CardAbstraction, iterations: int, seed: int = 3) -> BlueprintTrainer:
    solver = BlueprintTrainer(compile_action_tree(LEDUC), cards, seed=seed, weighting=LINEAR)
    solver.step(iterations)
    return solver


def exploitability(solver: BlueprintTrainer) -> float:
    tree = compile_game(game_from_spec("leduc"))
    assert isinstance(tree, PublicTree)
    return quality(small_game_strategy(solver, tree)).exploitability


def test_split_buckets_play_bitwise_as_before() -> None:
    coarse = trained(coarse_cards(), 64_000)
    fine = BlueprintTrainer(coarse.tree, FINE, seed=4, weighting=LINEAR)
    warm_start(coarse, fine, deals=1 << 15)
    assert fine.iterations == coarse.iterations
    parent = []
    for part in bucket_shares(coarse.cards, FINE, 2, deals=1 << 15):
        assert ((part > 0).sum(axis=0) == 1).all()  # each fine bucket is a subset of one coarse bucket
        parent.append(np.argmax(part, axis=0))
    for averages in (True, False):
        for street in range(2):
            before = coarse.tables.strategies(street, averages=averages)
            after = fine.tables.strategies(street, averages=averages)
            assert before.std() > 0.1
            assert np.array_equal(after, before[parent[street]])
    for street, (before, after) in enumerate(zip(quantized_averages(coarse), quantized_averages(fine), strict=True)):
        assert np.array_equal(after, before[parent[street]])


def test_regrets_are_copied_in_proportion_to_hands() -> None:
    coarse = trained(coarse_cards(), 6_400)
    fine = BlueprintTrainer(coarse.tree, FINE, seed=4, weighting=LINEAR)
    warm_start(coarse, fine, keep=0.5, deals=1 << 15)
    before, after = (sum(solver.tables.visited_and_regret(0)[1]) for solver in (coarse, fine))
    assert 0.5 * 0.7 < after / before < 0.5 * 1.42  # rounding to powers of two changes by at most √2
    assert fine.iterations == pytest.approx(coarse.iterations / 2, abs=64)


def test_warm_start_is_no_worse_than_a_cold_start() -> None:
    """With little time, coarse buckets in a tenth of it learn what takes fine ones longer."""
    cold, started = [], []
    for seed in range(6):
        coarse = trained(coarse_cards(), 128, seed)
        fine = BlueprintTrainer(coarse.tree, FINE, seed=seed + 50, weighting=LINEAR)
        warm_start(coarse, fine, deals=1 << 13)
        fine.step(1_280 - coarse.iterations)
        started.append(exploitability(fine))
        cold.append(exploitability(trained(FINE, 1_280, seed + 100)))
    assert np.mean(started) < 1.05 * np.mean(cold)


def test_new_bets_start_from_zero_and_old_ones_are_copied() -> None:
    rules = PokerRules(blinds=(2, 1), stacks=(40, 40), suits=4, ranks=3, board=(0, 3), most_raises=(2, 2), name="small")
    cards = lossless_abstraction(rules.board[1:], rules.deck)
    few, many = (
        compile_action_tree(rules, menu) for menu in (one_size_menu("100%"), parse_menu("preflop = '50%, 100%'"))
    )
    coarse, fine = BlueprintTrainer(few, cards, seed=1), BlueprintTrainer(many, cards, seed=2)
    coarse.step(20_000)
    warm_start(coarse, fine, deals=1 << 15)
    new = 0
    for node in np.flatnonzero(few.actor >= 0)[:200].tolist():
        position, bucket = many.find(few.line(node)), 0
        if coarse.average(node, bucket).std() == 0:
            continue  # not trained there: uniform
        reported = dict(zip(many.actions(position), fine.average(position, bucket).tolist(), strict=True))
        assert [reported.pop(label) for label in few.actions(node)] == coarse.average(node, bucket).tolist()
        assert not any(reported.values())
        new += len(reported)
    assert new > 10
    unknown = next(n for n in np.flatnonzero(many.actor >= 0).tolist() if many.line(n) not in lines(few))
    assert fine.average(unknown, 0).tolist() == [1 / many.count[unknown]] * int(many.count[unknown])


def lines(tree: ActionTree) -> set[str]:
    return {tree.line(node) for node in np.flatnonzero(tree.actor >= 0).tolist()}


@pytest.mark.parametrize(
    ("what", "match"), [("keep", "keep=0"), ("begun", "64 iterations"), ("game", "leduc and kuhn")]
)
def test_invalid_warm_starts(what: str, match: str) -> None:
    kuhn = read_game("kuhn")
    coarse = trained(FINE, 64)
    fine = trained(FINE, 64) if what == "begun" else BlueprintTrainer(coarse.tree, FINE)
    if what == "game":
        fine = BlueprintTrainer(compile_action_tree(kuhn), lossless_abstraction((), kuhn.deck))
    with pytest.raises(InputError, match=match):
        warm_start(coarse, fine, keep=0.0 if what == "keep" else 1.0)


def test_training_starts_from_another_run(tmp_path: Path) -> None:
    """Through the folders of runs: the time of the first counts, and its training is not lost."""
    recipe = parse_train_recipe('game = "leduc"\n[training]\nweighting = "linear"\nperiod = 640')
    coarse_cards().save(tmp_path / "cards")
    first = train(recipe, out=tmp_path / "first", abstraction=tmp_path / "cards", iterations=6_400, threads=1)
    how: dict[str, Any] = {"begin": tmp_path / "first", "threads": 1}
    second = train(recipe, out=tmp_path / "second", time=1e-9, **how)  # limits count new iterations only
    assert second.updates > first.updates
    assert second.seconds >= first.seconds - 1e-3  # files store milliseconds
    assert first.iterations < second.iterations < first.iterations + 8_192
    assert second.strategy.provenance["begun_iterations"] == first.iterations
    assert train(recipe, out=tmp_path / "second", time=1e-9, resume=True, **how).iterations == second.iterations
    assert train(recipe, out=tmp_path / "second", iterations=8_192, resume=True).iterations == first.iterations + 8_192
    cold = train(recipe, out=tmp_path / "cold", iterations=128, threads=1)
    assert exploitability_of(second.strategy) < exploitability_of(cold.strategy)
    with pytest.raises(InputError, match="nothing"):
        train(recipe, out=tmp_path / "third", abstraction=tmp_path / "cards", begin=tmp_path / "nothing", iterations=64)
    assert not (tmp_path / "third").exists()


def exploitability_of(strategy: Blueprint) -> float:
    return exact.quality(strategy, 1, self_play=False).claim.value


@pytest.mark.parametrize(
    ("seconds", "threads", "cards"),
    [
        (60, 2, "tiny"),
        (300, 2, "tiny"),
        (600, 2, "small"),
        (3_500, 2, "small"),
        (3_600, 2, "medium"),
        (28_800, 2, "medium"),  # larger sizes have not been measured
        (60, 64, "small"),
    ],
)
def test_training_size_by_time(seconds: float, threads: int, cards: str) -> None:
    size = training_size_for(seconds, threads)
    assert size.cards == cards
    before = [each.cards for each in SIZES][: [each.cards for each in SIZES].index(cards)]
    assert size.starts_from == (before[-1] if before else None)
    assert load_recipe(size.cards).counts[1] == {"tiny": 100, "small": 500, "medium": 2000}[cards]
    with pytest.raises(InputError, match="0 seconds on 1 threads"):
        training_size_for(0.0, 1)


def test_device_gets_a_larger_size() -> None:
    assert [training_size_for(seconds, 2, device=True).cards for seconds in (1, 10, 60)] == ["tiny", "small", "medium"]
