"""The blueprint part of `riverboat bench`: look-up of buckets, sampled training, duels and best responses."""

from __future__ import annotations

import time as clock
from typing import Any

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets, lossless
from riverboat.abstraction.clustering.public_clusters import PublicBuckets
from riverboat.cards.isomorphism import canonical_boards
from riverboat.core import cores
from riverboat.evaluation.best_response import exact
from riverboat.evaluation.matches.duel import duel, yardstick
from riverboat.games.holdem.action_tree import compile_actions
from riverboat.games.holdem.menus import one_size
from riverboat.games.holdem.rules import read_game
from riverboat.solvers.mccfr.recipe import load_train_recipe
from riverboat.solvers.mccfr.trainer import Blueprint
from riverboat.strategies.blueprint import BlueprintStrategy

Row = dict[str, Any]
LAYERS = (1, 1, 4, 10)  # flops that a board may have begun with, at most
# Published for an earlier competition winner's C++ program, external sampling, one core of a machine of two.
PEERS = {"bench-2x52": 4.0e5, "bench-3x20": 1.0e6}
TITLES = {
    "look_up": "buckets of whole deals (both players, all streets, from raw cards), one thread",
    "training": "external sampling, an iteration is one deal with both traversers",
    "judging": "duels and best responses",
}


def look_up() -> list[Row]:
    """Deals a second through tables of the size of all of hold'em, with one table a street and with 60 public buckets."""
    rng = np.random.default_rng(0)
    deals = np.argsort(rng.random((400_000, 52), dtype=np.float32), axis=1)[:, :9].astype(np.uint8)
    rows = []
    for public in (0, 60):
        made = _filled(public)
        made.buckets(deals[:100], 2, check=False)
        best = min(_timed(lambda made=made: made.buckets(deals, 2, check=False)) for _ in range(3))
        size = sum(street.nbytes for street in made.streets) / 1e6
        what = f"{public} public buckets" if public else "one table a street"
        rows.append({"tables": what, "mb": size, "million_deals_a_second": len(deals) / best / 1e6, "target": 1.5})
    return rows


def _filled(public: int) -> CardAbstraction:
    """Tables as large as those of the presets, with any numbers in them."""
    whole = lossless()
    flops = len(canonical_boards(3)[0])
    rng = np.random.default_rng(1)
    streets = []
    for r in range(4):
        layers = LAYERS[r] if public else 1
        labels = np.empty((layers, whole.indexer(r).size()), np.uint16)
        labels[:] = np.resize(rng.integers(0, 500, 1009), labels.shape[1])
        layer = np.zeros((0, 0), np.uint8)
        if public and r:
            boards = len(canonical_boards(whole.shown[r])[0])
            layer = rng.integers(0, layers, (boards, public)).astype(np.uint8)
        streets.append(StreetBuckets(500, labels, layer))
    known = PublicBuckets(rng.integers(0, public, flops).astype(np.int32)) if public else None
    return CardAbstraction(tuple(streets), public=known)


def training() -> list[Row]:
    """Iterations and visits a second on games of published speeds."""
    rows = []
    for name, peer in PEERS.items():
        rules = read_game(name)
        tree, cards = compile_actions(rules, one_size("100%", 1)), lossless(rules.board[1:], rules.deck)
        for threads, dtype in ((1, "float32"), (2, "float32"), (1, "16-bit")):
            if threads > cores.available_cores():
                continue
            solver = Blueprint(tree, cards, seed=1, threads=threads, dtype=dtype)
            solver.step(400_000)
            before, started = (solver.iterations, solver.updates), clock.perf_counter()
            solver.step(4_000_000)
            took = clock.perf_counter() - started
            rate = (solver.iterations - before[0]) / took
            rows.append(
                {
                    "game": name,
                    "threads": threads,
                    "dtype": dtype,
                    "table_mb": solver.tables.nbytes / 1e6,
                    "bytes_each": solver.tables.nbytes / solver.tables.infoset_actions,
                    "iterations_a_second": rate,
                    "visits_a_second": (solver.updates - before[1]) / took,
                    "published_cpp": peer,
                    "ratio_a_thread": rate / threads / peer,
                    "target": 2.0,
                }
            )
    return rows


def judging() -> list[Row]:
    """A duel on the tree of the demo, and best responses in two games."""
    demo = load_train_recipe("demo")
    tree = compile_actions(demo.rules, demo.menu)
    cards = _filled(0)
    uniform = _uniform(tree, cards)
    match = duel(uniform, yardstick("call", uniform), 400_000, seed=1)
    rows = [{"work": "duel, demo tree, one thread: hands a second", "is": match.hands_per_second, "target": 2e5}]
    for name in PEERS:
        rules = read_game(name)
        small = compile_actions(rules, one_size("100%", 1))
        strategy = _uniform(small, lossless(rules.board[1:], rules.deck))
        exact.quality(strategy)
        quality = exact.quality(strategy)
        rows.append({"work": f"best response, {name}: seconds", "is": quality.seconds, "target": None})
    return rows


def _uniform(tree: Any, cards: CardAbstraction) -> BlueprintStrategy:
    tables = [np.zeros((count, int(w)), np.uint8) for count, w in zip(cards.counts, tree.width, strict=False)]
    return BlueprintStrategy(tree.rules, tree.menu, tree, cards, tuple(tables))


def _timed(work: Any) -> float:
    started = clock.perf_counter()
    work()
    return clock.perf_counter() - started


def run() -> dict[str, list[Row]]:
    """All of it."""
    return {"look_up": look_up(), "training": training(), "judging": judging()}
