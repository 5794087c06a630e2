"""Walks on the simulated GPU beside those of the processor, as a process of its own: the simulator is chosen before numba.

    NUMBA_ENABLE_CUDASIM=1 python tests/walks/simulated.py "river compact"

Prints for each case named how far tables, values and margins are apart.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import riverboat as rb
from reference.bucket_sampling import PublicChanceSampling
from reference.vector_deals import dealt
from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets, lossless
from riverboat.abstraction.clustering.kmeans import cluster
from riverboat.abstraction.clustering.public_clusters import PublicBuckets
from riverboat.cards.deck import HANDS, Deck
from riverboat.cards.ranges import Range
from riverboat.compiled.simd import BIAS, SHIFTS
from riverboat.core.arrays import Array
from riverboat.engines.cpu.board_engine import BoardWalker
from riverboat.engines.cuda._kernels import external as external_kernels
from riverboat.engines.cuda._kernels import vector as kernels
from riverboat.engines.cuda.board_engine import CudaBatch, CudaWalker
from riverboat.engines.devices import nearest_finder
from riverboat.engines.tables import Format, table_format
from riverboat.evaluation.best_response.exact import quality as blueprint_quality
from riverboat.evaluation.quality import quality
from riverboat.games.boards.root_gadgets import Choose, Stop
from riverboat.games.holdem.action_tree import compile_actions
from riverboat.games.holdem.menus import Menu, one_size, parse_menu
from riverboat.games.holdem.rules import Rules, read_game
from riverboat.games.spots.locks import Lock
from riverboat.games.spots.spot import Spot
from riverboat.solvers import schedules
from riverboat.solvers.boards.batches import solve_many
from riverboat.solvers.boards.cfr import BoardCFR, step_rows
from riverboat.solvers.mccfr.cuda_external import DeviceSampling
from riverboat.solvers.mccfr.cuda_vectors import Dealt, VectorSampling
from riverboat.solvers.mccfr.tables import Weighting
from riverboat.solvers.mccfr.trainer import Blueprint
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.trees.boards import BoardTree

RIVER = {
    "board": "Td9d6hQc2s", "pot": 200, "stack": 900, "bets": "60%,a", "raises": "2.5x",
    "oop": "KsJs:0.7,T9s,55:0.9,KdJd", "ip": "QQ,AdKd:0.8,87s,A9o:0.35",
}  # fmt: skip
TURN = {
    "board": "AsKsTsQs", "pot": 20, "stack": 40, "bets": "75%", "deck": Deck.small(5, 4), "rake": 0.05, "rake_cap": 2.0,
    "oop": "AA,KQs:0.5,JJ:0.3", "ip": "QQ,AJs:0.45",
}  # fmt: skip
FLOP = {
    "board": "AsKhQd", "pot": 20, "stack": 20, "bets": {"flop": {}, "turn": {}, "river": {"bet": "a"}},
    "deck": Deck.small(4, 3), "oop": "AhAd,KsJs:0.5", "ip": "QsQh,JsJh:0.7",
}  # fmt: skip
WIDE = {"board": "Td9d6hQc2s", "pot": 100, "stack": 100, "bets": "33%,50%,75%,100%,a", "oop": "AA,T9s", "ip": "QQ,87s"}

MENU = parse_menu('preflop = ["a"]\nflop = ["50%, a", "a"]\nmost_raises = [2, 2, 1]')
LIMIT = Rules(
    limit=True, blinds=(2, 1), raise_sizes=(2, 2, 4), most_raises=(1, 1, 1), board=(0, 1, 1), ranks=3, suits=2
)  # fmt: skip

SMALL_DECK = Rules(blinds=(2, 1), stacks=(9, 9), board=(0, 1, 1), ranks=3, suits=2)
TWO = read_game("bench-2x52")  # two rounds with all cards


def untied(tree: BoardTree, kind: Format) -> Array:
    """Regrets that leave no ties, for the table of a walker: in all formats the same ones."""
    start = np.random.default_rng(1).random(tree.table) / 256
    if kind.regret != "int16":
        return start.astype(kind.regret)
    bits = (start + 2.0**-31).astype(np.float32).view(np.int32)
    return (bits - BIAS >> SHIFTS[True]).astype(np.int16)


def apart(spot: Spot, form: str, schedule: str, count: int = 2) -> dict[str, float]:
    """The largest differences after some iterations, from regrets that leave no ties."""
    tree, rule, kind = BoardTree(spot), schedules.parse(schedule), table_format(form)
    options: dict[str, Any] = {"predictive": rule.predictive, "simultaneous": not rule.alternating}
    options["stakes"] = rule.stakes
    ours, theirs = CudaWalker(tree, kind, **options), BoardWalker.learner(tree, kind, **options)
    if not getattr(spot, "locks", ()):
        for walker in (ours, theirs):
            walker.write("regret", untied(tree, kind))
    steps, _ = step_rows(rule, 1, 0.0, count)
    for walker in (ours, theirs):
        walker.learn(steps)
    found = {}
    for name in theirs.names:
        x, y = (np.asarray(w.read(name), float).ravel() for w in (ours, theirs))
        size = min(len(x), len(y)) if name.startswith("root") else tree.table
        found[name] = float(np.abs(x[:size] - y[:size]).max(initial=0.0) / max(np.abs(y[:size]).max(), 1e-300))
    for player in (0, 1):
        for name, x, y in (
            ("values", ours.evaluate(player), theirs.evaluate(player)),
            ("responses", ours.respond(player), theirs.respond(player)),
        ):
            found[name] = max(found.get(name, 0.0), float(np.abs(x - y).max() / np.abs(y).max()))
    if getattr(spot, "gadget", None) is not None:
        x, y = ours.margins(), theirs.margins()
        found["margins"] = float(np.nanmax(np.abs(x - y)) / np.nanmax(np.abs(y)))
        found["same hands"] = float((np.isnan(x) != np.isnan(y)).sum())
    board, node = len(tree.rows) - 1, int(np.flatnonzero(tree.forest.actor >= 0)[-1])
    found["play"] = float(np.abs(ours.play(board, node) - theirs.play(board, node)).max())
    return found


def batch() -> dict[str, float]:
    """Two rivers with unlike menus, boards and ranges, beside each alone."""
    unlike = {**WIDE, "bets": "75%"}, {**RIVER, "board": "AcKd7h7s2c", "bets": "a"}
    trees = [BoardTree(Spot.make(**some)) for some in unlike]
    form = table_format("float64")
    steps, _ = step_rows(schedules.parse("dcfr"), 0, 0.0, 2)
    both = CudaBatch(trees, form)
    both.learn(steps)
    earned, found = both.earnings(0, respond=True), {}
    for g, tree in enumerate(trees):
        alone = CudaBatch([tree], form)
        alone.learn(steps)
        found[f"average {g}"] = float(np.abs(both.read(g, "average") - alone.read(0, "average"))[: tree.table].max())
        found[f"earnings {g}"] = abs(earned[g] - alone.earnings(0, respond=True)[0])
    return found


def far() -> dict[str, float]:
    """Vectors that do not fit near a block lie in the device's memory: the same to the bit."""
    tree, form = BoardTree(Spot.make(**RIVER)), table_format("float64")
    steps, _ = step_rows(schedules.parse("dcfr"), 0, 0.0, 2)
    near, away = (CudaBatch([tree], form, near=near) for near in (True, False))
    for walker in (near, away):
        walker.learn(steps)
    return {"average": float(np.abs(near.read(0, "average") - away.read(0, "average"))[: tree.table].max())}


def moved() -> dict[str, float]:
    """A run that goes from one device to the other and back."""
    tree = BoardTree(Spot.make(**RIVER))
    runs = [BoardCFR(tree, "dcfr", dtype="float64", device=device) for device in ("cuda", "cpu", "auto")]
    whole = BoardCFR(tree, "dcfr", dtype="float64")
    for run in (whole, runs[0]):  # no ties
        run.iteration = 1
        run.walker.write("regret", untied(tree, table_format("float64")))
    whole.step(6)
    for k, run in enumerate(runs):
        if k:
            run.restore(*runs[k - 1].state())
        run.step(2)
    return {"exploitability": abs(runs[-1].exploitability() - whole.exploitability()) / whole.exploitability()}


def best_response(rules: Rules, menu: Menu | None) -> dict[str, float]:
    """Best responses to a blueprint of random tables and buckets, and what it earns against itself."""
    rng, whole = np.random.default_rng(1), lossless(rules.board[1:], rules.deck)
    buckets = [StreetBuckets(3, rng.integers(0, 3, (1, n)).astype(np.uint16)) for n in whole.counts]
    cards, tree = CardAbstraction(tuple(buckets), rules.board[1:], rules.deck), compile_actions(rules, menu)
    tables = [np.maximum(rng.integers(-50, 100, (3, int(width))), 0).astype(np.float32) for width in tree.width]
    strategy = BlueprintStrategy(rules, menu, tree, cards, tuple(tables))
    ours, theirs = (blueprint_quality(strategy, device=device) for device in ("cuda", "cpu"))
    gaps = {f"seat {p}": abs(ours.best[p] / theirs.best[p] - 1) for p in (0, 1)}
    return {**gaps, "self-play": abs(ours.values[0] - theirs.values[0]), "boards": abs(ours.boards - theirs.boards)}


def nearest_centres() -> dict[str, float]:
    """k-means with the nearest centres found on the device: the same centres and labels."""
    rng, gaps = np.random.default_rng(3), {}
    for metric, points in (("l2", rng.random((24, 3))), ("emd", rng.integers(1, 9, (24, 5)))):
        kind = np.float32 if metric == "l2" else np.uint8
        here, there = (
            cluster(points.astype(kind), None, 3, metric, iterations=3, medians=metric == "emd", device=device)
            for device in (nearest_finder("cuda"), None)
        )
        gaps[f"{metric} labels"] = float(np.abs(here.labels - there.labels).max())
        gaps[f"{metric} centres"] = float(np.abs(here.centres - there.centres).max())
        gaps[f"{metric} passes"] = abs(here.iterations - there.iterations)
    return gaps


def vectors(rules: Rules, menu: Menu | None, buckets: int, *, deals: bool = False) -> dict[str, float]:
    """Regrets and averages after two batches of boards, beside the slow twin's: the second answers what was learnt.

    `deals`: and what the processor deals, which compiles a loop.
    """
    rng, whole = np.random.default_rng(2), lossless(rules.board[1:], rules.deck)
    streets = [StreetBuckets(buckets, rng.integers(0, buckets, (1, n)).astype(np.uint16)) for n in whole.counts]
    cards, tree = CardAbstraction(tuple(streets), rules.board[1:], rules.deck), compile_actions(rules, menu)
    solver, twin = VectorSampling(tree, cards, seed=1, batch=2, pack=4), PublicChanceSampling(tree, cards, 1, 1)
    runs, apart = [int(n) for n in solver.sizes[:, kernels.RUNS]], {}
    theirs = dealt(twin, 0, 4, kernels.RUN, runs)
    if deals:
        solver.deal(0, 4)
        both = zip(solver.dealt, theirs, Dealt._fields, strict=True)
        apart.update({name: float((mine != other).sum()) for mine, other, name in both})
    for part, given in zip(solver.dealt, theirs, strict=True):
        part[:] = given
    solver.walk(4)
    twin.run_together(0, 2)
    twin.run_together(2, 4)
    for name, table in (("regret", twin.regret), ("average", twin.average)):
        apart[name] = 0.0
        for (line, bucket), numbers in table.items():
            node = tree.find(line)
            street, count = int(tree.street[node]), int(tree.count[node])
            at = int(solver.tables.base[street] + bucket * solver.tables.width[street] + 2 * tree.slot[node])
            at += count * (name == "average")
            apart[name] = max(apart[name], float(np.abs(solver.tables.cells[at : at + count] - numbers).max()))
    return apart


def random_buckets(rules: Rules, buckets: int) -> CardAbstraction:
    """Buckets without sense, for every street."""
    rng, whole = np.random.default_rng(2), lossless(rules.board[1:], rules.deck)
    streets = [StreetBuckets(buckets, rng.integers(0, buckets, (1, n)).astype(np.uint16)) for n in whole.counts]
    return CardAbstraction(tuple(streets), rules.board[1:], rules.deck)


def public_buckets() -> CardAbstraction:
    """Flops in two public buckets, each with hands of its own."""
    rng, whole = np.random.default_rng(3), lossless((3,))
    first = StreetBuckets(5, rng.integers(0, 5, (1, whole.counts[0])).astype(np.uint16))
    labels = np.stack([rng.integers(4 * k, 4 * k + 4, whole.counts[1]).astype(np.uint16) for k in range(2)])
    layer, ends = np.tile(np.arange(2, dtype=np.uint8), (1755, 1)), np.array([0, 4, 8])
    public = PublicBuckets(rng.integers(0, 2, 1755).astype(np.int32))
    return CardAbstraction((first, StreetBuckets(8, labels, layer, first=ends)), (3,), public=public)


def cut_buckets() -> CardAbstraction:
    """Three buckets of the first street, each cut into four by a value on the second."""
    rng, whole = np.random.default_rng(4), lossless((3,))
    first = StreetBuckets(3, rng.integers(0, 3, (1, whole.counts[0])).astype(np.uint16))
    values = rng.integers(0, 1000, (1, whole.counts[1])).astype(np.uint16)
    cuts = np.sort(rng.integers(1, 1000, (3, 3)), axis=1).astype(np.uint16)
    return CardAbstraction((first, StreetBuckets(12, values, cuts=cuts)), (3,))


def deals(rules: Rules, menu: Menu | None, cards: CardAbstraction) -> dict[str, float]:
    """Tables after 128 deals and two discounts, beside those of one thread of the processor: one block, as large groups."""
    tree = compile_actions(rules, menu)
    how: dict[str, Any] = {"seed": 3, "weighting": Weighting("linear", 64)}
    twin = Blueprint(tree, cards, **how)
    solver = DeviceSampling(tree, cards, **how, blocks=1, group=twin.group)
    for each in (solver, twin):
        each.step(64)
        each.step(64)
    mine, theirs = solver.state(), twin.state()
    largest = float(np.abs(theirs["cells"]).max())
    again = DeviceSampling(tree, cards, **how, blocks=1, group=twin.group)
    again.restore(theirs)  # as if it had begun on the processor
    return {
        "cells": float(np.abs(mine["cells"] - theirs["cells"]).max()) / largest,
        "numbers": float(np.abs(mine["numbers"] - theirs["numbers"]).max()),
        "sums": float(np.abs(mine["sums"] - theirs["sums"]).max()) / largest,
        "value": abs(solver.value - twin.value) / largest,
        "restored": float(np.abs(again.tables.cells - theirs["cells"]).max()),
    }


def many_averages() -> dict[str, float]:
    """Averages far beyond 2^24 still grow by what is added, on average, where a float32 would not grow at all."""
    rng, worst = np.random.default_rng(5), 0.0
    for size in (0.0, 5.0, 3e4, 1.7e7, 5e8):
        step = max(2 * float(np.spacing(np.float32(size))), 2.0**-10)
        amount = np.float32(0.3 * min(step, 1.0))
        noise = rng.random(4000, np.float32)
        grown = np.array([external_kernels.grown(np.float32(size), amount, x) for x in noise])
        exact = np.float32(size) + grown.astype(np.float32) - np.float32(size) == grown  # nothing is rounded away
        apart = abs(grown.mean() - amount) / (step * 0.5 / np.sqrt(len(noise)))  # in standard errors, at most
        worst = max(worst, float(apart), 1e9 * float((~exact).any()))
    return {"standard errors": worst}


def learning() -> dict[str, float]:
    """What is left to gain against the average strategy of Kuhn poker, in its chips: it has no board to draw."""
    rules = read_game("kuhn")
    tree, cards = compile_actions(rules), lossless(rules.board[1:], rules.deck)
    solver = VectorSampling(tree, cards, weighting=Weighting("linear", 64), batch=1)
    solver.deal(0, 64)
    solver.walk(64)
    solver.step(192)  # begins with the same boards: they are dealt again, where others were
    strategy = BlueprintStrategy(rules, None, tree, cards, (solver.averages(0),))
    return {"exploitability": blueprint_quality(strategy).exploitability}


def steps() -> dict[str, float]:
    """Bytes in which runs of Kuhn poker by vectors differ: one of one step, one of many with a restore between them."""
    rules = read_game("kuhn")
    tree, cards = compile_actions(rules), lossless(rules.board[1:], rules.deck)
    how: dict[str, Any] = {"seed": 2, "weighting": Weighting("dcfr:alpha=1.5,beta=0,gamma=2", 128), "batch": 16}
    whole, parts, later = (VectorSampling(tree, cards, **how) for _ in range(3))
    for solver in (whole, parts):
        solver.payoff = np.full(2, 2.0**40)  # as after a long run: what is added is rounded
    whole.step(320)
    parts.step(1)
    parts.state()  # a checkpoint on the way
    parts.step(70)
    later.restore({name: np.array(values) for name, values in parts.state().items()})
    later.step(128)
    mine, other = whole.state(), later.state()
    return {name: float(mine[name].tobytes() != other[name].tobytes()) for name in mine}


def many() -> dict[str, float]:
    """Spots solved side by side, until each is good enough, beside the processor's answers."""
    spots = [Spot.make(**some) for some in (WIDE, {**RIVER, "board": "AcKd7h7s2c"}, TURN)]
    here, there = (
        solve_many(spots, iterations=6, until=20.0, check_every=2, dtype="float64", device=device)
        for device in ("cuda", "cpu")
    )
    apart = {}
    for k, (x, y) in enumerate(zip(here, there, strict=True)):
        gap = y.earnings(0, respond=True) - x.earnings(0, respond=True)
        apart[f"response {k}"] = abs(gap) / 100
        apart[f"own figure {k}"] = abs(x.provenance["exploitability"] - rb.quality(x).exploitability)
        apart[f"on the device {k}"] = abs(rb.quality(x).exploitability - quality(x, device="cuda").exploitability)
    return apart


def cases() -> dict[str, Callable[[], dict[str, float]]]:
    """What can be compared, by name."""
    river, turn = Spot.make(**RIVER), Spot.make(**TURN)
    rng = np.random.default_rng(2)
    stop = Stop(1, rng.normal(100, 50, HANDS))
    choose = Choose(0, rng.normal(50, 20, HANDS), rng.random(HANDS))
    drawn = replace(stop, spread=rng.random(HANDS) * 40, forced=rng.random(HANDS) / 4)
    lock = Lock("", (("x", 0.25), ("b120", 0.75)), Range.parse("KsJs,KdJd"))
    return {
        "river float64": lambda: apart(river, "float64", "dcfr"),
        "river compact": lambda: apart(river, "compact", "dcfr"),
        "river 16-bit": lambda: apart(river, "16-bit", "dcfr"),
        "river predicting": lambda: apart(river, "float64", "pcfr+"),
        "river at once": lambda: apart(river, "float64", "vanilla"),
        "stakes": lambda: apart(river, "float64", "dcfr:stakes=0.8"),
        "more than four moves": lambda: apart(Spot.make(**WIDE), "float64", "cfr+"),
        "turn with rake": lambda: apart(turn, "float64", "dcfr", 1),
        "flop": lambda: apart(Spot.make(**FLOP), "float64", "dcfr", 1),
        "stop": lambda: apart(replace(river, gadget=stop), "float64", "dcfr"),
        "stop with draws": lambda: apart(replace(river, gadget=drawn), "float64", "dcfr"),
        "choose": lambda: apart(replace(river, gadget=choose), "float64", "dcfr"),
        "stop before a turn": lambda: apart(replace(turn, gadget=stop), "float64", "dcfr", 1),
        "locked": lambda: apart(replace(river, locks=(lock,)), "float64", "dcfr"),
        "best response": lambda: best_response(
            Rules(blinds=(2, 1), stacks=(9, 9), board=(0, 1, 1), ranks=2, suits=2, hole=1), MENU
        ),
        "best response with two cards": lambda: best_response(
            Rules(blinds=(2, 1), stacks=(7, 7), board=(0, 1), ranks=3, suits=2), MENU
        ),
        "best response in limit": lambda: best_response(LIMIT, None),
        "nearest centres": nearest_centres,
        "training by vectors": lambda: vectors(
            Rules(blinds=(2, 1), stacks=(9, 9), board=(0, 1, 1), ranks=3, suits=2, hole=1), MENU, 3
        ),
        "training by vectors with two cards": lambda: vectors(
            Rules(blinds=(2, 1), stacks=(7, 7), board=(0, 1, 1), ranks=3, suits=2), MENU, 4, deals=True
        ),
        "training by vectors in limit": lambda: vectors(LIMIT, None, 4, deals=True),
        "learning by vectors": learning,
        "steps by vectors": steps,
        "training by deals": lambda: deals(read_game("leduc"), None, random_buckets(read_game("leduc"), 3)),
        "training by deals in no-limit": lambda: deals(SMALL_DECK, MENU, random_buckets(SMALL_DECK, 5)),
        "training by deals with public buckets": lambda: deals(TWO, one_size("100%"), public_buckets()),
        "training by deals with cuts": lambda: deals(TWO, one_size("100%"), cut_buckets()),
        "averages of many deals": many_averages,
        "batch": batch,
        "many": many,
        "far": far,
        "moved": moved,
    }


def main() -> None:
    found = cases()
    for name in sys.argv[1:]:
        print(json.dumps({"case": name, **found[name]()}), flush=True)


if __name__ == "__main__":
    main()
