"""Blueprint benchmarks: bucket look-up, MCCFR training, duels and best responses."""

from __future__ import annotations

from functools import partial

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets, lossless_abstraction
from riverboat.abstraction.clustering.public_clusters import PublicBuckets
from riverboat.benchmarks.timing import Row, timed
from riverboat.cards.isomorphism import canonical_boards
from riverboat.core import resources
from riverboat.engines.devices import CPU
from riverboat.evaluation.best_response import exact
from riverboat.evaluation.matches.duel import baseline_strategy, duel
from riverboat.games.holdem.action_tree import ActionTree, compile_action_tree
from riverboat.games.holdem.menus import one_size_menu
from riverboat.games.holdem.rules import read_game
from riverboat.solvers.mccfr.recipe import load_train_recipe
from riverboat.solvers.mccfr.trainer import BlueprintTrainer
from riverboat.strategies.blueprint import Blueprint

MAX_LAYERS = (1, 1, 4, 10)  # most flops that a canonical board can come from, by street
# Iterations per second, published for an earlier competition winner's C++ program: external sampling, one of two cores.
PUBLISHED_RATES = {"bench-2x52": 4.0e5, "bench-3x20": 1.0e6}
TITLES = {
    "look_up": "buckets of whole deals (both players, all streets, from raw cards), one thread",
    "training": "external sampling; one iteration is one deal with both traversers",
    "judging": "duels and best responses",
}


def bucket_lookup_speed() -> list[Row]:
    """Measure deals looked up per second in tables of full hold'em size, with one table per street and with 60 public
    buckets.
    """
    rng = np.random.default_rng(0)
    deals = np.argsort(rng.random((400_000, 52), dtype=np.float32), axis=1)[:, :9].astype(np.uint8)
    rows = []
    for public in (0, 60):
        abstraction = _random_abstraction(public)
        abstraction.buckets(deals[:100], 2, check=False)
        look_up = partial(abstraction.buckets, deals, 2, check=False)
        best = min(timed(look_up)[1] for _ in range(3))
        size = sum(street.nbytes for street in abstraction.streets) / 1e6
        label = f"{public} public buckets" if public else "one table a street"
        rows.append({"tables": label, "mb": size, "million_deals_a_second": len(deals) / best / 1e6, "target": 1.5})
    return rows


def _random_abstraction(public: int) -> CardAbstraction:
    """Return tables as large as those of the presets, filled with random buckets."""
    lossless = lossless_abstraction()
    flops = len(canonical_boards(3)[0])
    rng = np.random.default_rng(1)
    streets = []
    for r in range(4):
        layers = MAX_LAYERS[r] if public else 1
        labels = np.empty((layers, lossless.indexer(r).size()), np.uint16)
        labels[:] = np.resize(rng.integers(0, 500, 1009), labels.shape[1])
        layer = np.zeros((0, 0), np.uint8)
        if public and r:
            boards = len(canonical_boards(lossless.board_sizes[r])[0])
            layer = rng.integers(0, layers, (boards, public)).astype(np.uint8)
        streets.append(StreetBuckets(500, labels, layer))
    public_buckets = PublicBuckets(rng.integers(0, public, flops).astype(np.int32)) if public else None
    return CardAbstraction(tuple(streets), public=public_buckets)


def training_speed(device: str = CPU) -> list[Row]:
    """Measure iterations and visits per second on games with published speeds."""
    variants = ((1, "float32"), (2, "float32"), (1, "16-bit")) if device == CPU else ((1, "float32"),)
    rows = []
    for name, published in PUBLISHED_RATES.items():
        rules = read_game(name)
        tree = compile_action_tree(rules, one_size_menu("100%", 1))
        cards = lossless_abstraction(rules.board[1:], rules.deck)
        for threads, dtype in variants:
            if threads > resources.available_cores():
                continue
            options = {"threads": threads, "dtype": dtype} if device == CPU else {"device": device}
            solver = BlueprintTrainer(tree, cards, seed=1, **options)
            solver.step(400_000)
            iterations, updates, tables = solver.iterations, solver.updates, solver.tables
            _, seconds = timed(partial(solver.step, 4_000_000))
            rate = (solver.iterations - iterations) / seconds
            row: Row = {"game": name, "threads": threads, "dtype": dtype, "table_mb": tables.nbytes / 1e6}
            row |= {"bytes_each": tables.nbytes / tables.infoset_actions, "iterations_a_second": rate}
            row |= {"visits_a_second": (solver.updates - updates) / seconds, "published_cpp": published}
            rows.append(row | {"ratio_a_thread": rate / threads / published, "target": 2.0})
    return rows


def evaluation_speed() -> list[Row]:
    """Time a duel on the demo's tree, and best responses in two games."""
    demo = load_train_recipe("demo")
    tree = compile_action_tree(demo.rules, demo.menu)
    cards = _random_abstraction(0)
    uniform = uniform_blueprint(tree, cards)
    match = duel(uniform, baseline_strategy("call", uniform), 400_000, seed=1)
    rows = [{"work": "duel, demo tree, one thread: hands a second", "is": match.hands_per_second, "target": 2e5}]
    for name in PUBLISHED_RATES:
        rules = read_game(name)
        small = compile_action_tree(rules, one_size_menu("100%", 1))
        strategy = uniform_blueprint(small, lossless_abstraction(rules.board[1:], rules.deck))
        exact.quality(strategy)
        quality = exact.quality(strategy)
        rows.append({"work": f"best response, {name}: seconds", "is": quality.seconds, "target": None})
    return rows


def uniform_blueprint(tree: ActionTree, cards: CardAbstraction) -> Blueprint:
    """Return the blueprint that plays all actions with equal probability."""
    tables = [np.zeros((count, int(w)), np.uint8) for count, w in zip(cards.counts, tree.width, strict=False)]
    return Blueprint(tree.rules, tree.menu, tree, cards, tuple(tables))


def run_blueprint_benchmarks() -> dict[str, list[Row]]:
    """Run all blueprint benchmarks."""
    return {"look_up": bucket_lookup_speed(), "training": training_speed(), "judging": evaluation_speed()}
