"""Traversals on the simulated GPU against those on the processor, in a process of its own.

    NUMBA_ENABLE_CUDASIM=1 python tests/engines/simulated.py "river compact"

Numba chooses the simulator when it is imported. Prints the differences of tables, values and margins for each case.
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
from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets, lossless_abstraction
from riverboat.abstraction.clustering.kmeans import kmeans
from riverboat.abstraction.clustering.public_clusters import PublicBuckets
from riverboat.cards.deck import NUM_HANDS, Deck
from riverboat.cards.ranges import Range
from riverboat.compiled.simd import CODE_BIAS, DROPPED_BITS
from riverboat.core.arrays import Array
from riverboat.engines.cpu.board_engine import CpuBoardEngine
from riverboat.engines.cuda._kernels import external as external_kernels
from riverboat.engines.cuda._kernels import public_chance as kernels
from riverboat.engines.cuda.board_engine import CudaBatchEngine, CudaBoardEngine
from riverboat.engines.devices import nearest_centroid_finder
from riverboat.engines.tables import TableFormat, parse_table_format
from riverboat.evaluation.best_response.exact import quality as blueprint_quality
from riverboat.evaluation.quality import quality
from riverboat.games.boards.root_gadgets import MaxmarginGadget, ResolvingGadget
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.games.holdem.menus import ActionMenu, one_size_menu, parse_menu
from riverboat.games.holdem.rules import PokerRules, read_game
from riverboat.games.spots.locks import NodeLock
from riverboat.games.spots.spot import Spot
from riverboat.solvers import schedules
from riverboat.solvers.boards.batches import solve_many
from riverboat.solvers.boards.cfr import BoardCFR, schedule_rows
from riverboat.solvers.mccfr.cuda_public_chance import PackedBoards
from riverboat.solvers.mccfr.tables import Weighting
from riverboat.solvers.mccfr.trainer import BlueprintTrainer
from riverboat.strategies.blueprint import Blueprint
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
LIMIT = PokerRules(
    limit=True, blinds=(2, 1), raise_sizes=(2, 2, 4), most_raises=(1, 1, 1), board=(0, 1, 1), ranks=3, suits=2
)  # fmt: skip

SMALL_DECK = PokerRules(blinds=(2, 1), stacks=(9, 9), board=(0, 1, 1), ranks=3, suits=2)
TWO = read_game("bench-2x52")  # two rounds with the full deck


def untied(tree: BoardTree, kind: TableFormat) -> Array:
    """Return regrets without ties for the table of an engine, the same ones in all formats."""
    start = np.random.default_rng(1).random(tree.table_size) / 256
    if kind.regret != "int16":
        return start.astype(kind.regret)
    bits = (start + 2.0**-31).astype(np.float32).view(np.int32)
    return (bits - CODE_BIAS >> DROPPED_BITS[True]).astype(np.int16)


def apart(spot: Spot, form: str, schedule: str, count: int = 2) -> dict[str, float]:
    """Return the largest differences after some iterations, from regrets without ties."""
    tree, rule, kind = BoardTree(spot), schedules.parse(schedule), parse_table_format(form)
    options: dict[str, Any] = {"predictive": rule.predictive, "simultaneous": not rule.alternating}
    options["stakes"] = rule.stakes
    ours, theirs = CudaBoardEngine(tree, kind, **options), CpuBoardEngine(tree, kind, **options)
    if not getattr(spot, "locks", ()):
        for engine in (ours, theirs):
            engine.write("regret", untied(tree, kind))
    steps, _ = schedule_rows(rule, 1, 0.0, count)
    for engine in (ours, theirs):
        if engine.root.has_limits:  # all hands but the last are at their caps, and some multipliers rise
            engine.iterate(steps)
            engine.adjust_gadget(np.where(np.arange(NUM_HANDS) < np.flatnonzero(tree.game.weights[0])[-1], -1e9, 1e9))
        engine.iterate(steps)
    found = {}
    for name in theirs.table_names:
        x, y = (np.asarray(w.read(name), float).ravel() for w in (ours, theirs))
        size = min(len(x), len(y)) if name.startswith("root") else tree.table_size
        found[name] = float(np.abs(x[:size] - y[:size]).max(initial=0.0) / max(np.abs(y[:size]).max(), 1e-300))
    for player in (0, 1):
        for name, x, y in (
            ("values", ours.strategy_values(player), theirs.strategy_values(player)),
            ("responses", ours.best_response_values(player), theirs.best_response_values(player)),
        ):
            found[name] = max(found.get(name, 0.0), float(np.abs(x - y).max() / np.abs(y).max()))
    if getattr(spot, "gadget", None) is not None:
        x, y = ours.margins(), theirs.margins()
        found["margins"] = float(np.nanmax(np.abs(x - y)) / np.nanmax(np.abs(y)))
        found["same hands"] = float((np.isnan(x) != np.isnan(y)).sum())
    board, node = len(tree.rows) - 1, int(np.flatnonzero(tree.forest.actor >= 0)[-1])
    found["play"] = float(np.abs(ours.average_strategy(board, node) - theirs.average_strategy(board, node)).max())
    return found


def batch() -> dict[str, float]:
    """Compare two rivers with different menus, boards and ranges in a batch with each alone."""
    unlike = {**WIDE, "bets": "75%"}, {**RIVER, "board": "AcKd7h7s2c", "bets": "a"}
    trees = [BoardTree(Spot.make(**some)) for some in unlike]
    form = parse_table_format("float64")
    steps, _ = schedule_rows(schedules.parse("dcfr"), 0, 0.0, 2)
    both = CudaBatchEngine(trees, form)
    both.iterate(steps)
    earned, found = both.expected_values(respond=True), {}
    for g, tree in enumerate(trees):
        alone = CudaBatchEngine([tree], form)
        alone.iterate(steps)
        found[f"average {g}"] = float(
            np.abs(both.read(g, "average") - alone.read(0, "average"))[: tree.table_size].max()
        )
        found[f"earnings {g}"] = abs(earned[g][0] - alone.expected_values(respond=True)[0][0])
    return found


def far() -> dict[str, float]:
    """Compare vectors in global memory with vectors in shared memory: bitwise equal."""
    tree, form = BoardTree(Spot.make(**RIVER)), parse_table_format("float64")
    steps, _ = schedule_rows(schedules.parse("dcfr"), 0, 0.0, 2)
    near, away = (CudaBatchEngine([tree], form, shared_slots=near) for near in (True, False))
    for engine in (near, away):
        engine.iterate(steps)
    return {"average": float(np.abs(near.read(0, "average") - away.read(0, "average"))[: tree.table_size].max())}


def moved() -> dict[str, float]:
    """Compare a run that moves from one device to the other and back with one that does not."""
    tree = BoardTree(Spot.make(**RIVER))
    runs = [BoardCFR(tree, "dcfr", dtype="float64", device=device) for device in ("cuda", "cpu", "auto")]
    whole = BoardCFR(tree, "dcfr", dtype="float64")
    for run in (whole, runs[0]):  # no ties
        run.iteration = 1
        run.engine.write("regret", untied(tree, parse_table_format("float64")))
    whole.step(6)
    for k, run in enumerate(runs):
        if k:
            run.restore(*runs[k - 1].state())
        run.step(2)
    return {"exploitability": abs(runs[-1].exploitability() - whole.exploitability()) / whole.exploitability()}


def best_response(rules: PokerRules, menu: ActionMenu | None) -> dict[str, float]:
    """Compare best responses to a blueprint with random tables and buckets, and its own value."""
    rng, whole = np.random.default_rng(1), lossless_abstraction(rules.board[1:], rules.deck)
    buckets = [StreetBuckets(3, rng.integers(0, 3, (1, n)).astype(np.uint16)) for n in whole.counts]
    cards, tree = CardAbstraction(tuple(buckets), rules.board[1:], rules.deck), compile_action_tree(rules, menu)
    tables = [np.maximum(rng.integers(-50, 100, (3, int(width))), 0).astype(np.float32) for width in tree.width]
    strategy = Blueprint(rules, menu, tree, cards, tuple(tables))
    ours, theirs = (blueprint_quality(strategy, device=device) for device in ("cuda", "cpu"))
    gaps = {f"seat {p}": abs(ours.best[p] / theirs.best[p] - 1) for p in (0, 1)}
    return {**gaps, "self-play": abs(ours.values[0] - theirs.values[0]), "boards": abs(ours.boards - theirs.boards)}


def nearest_centres() -> dict[str, float]:
    """Compare k-means with nearest centroids from the device: the same centroids and labels."""
    rng, gaps = np.random.default_rng(3), {}
    for metric, points in (("l2", rng.random((24, 3))), ("emd", rng.integers(1, 9, (24, 5)))):
        kind = np.float32 if metric == "l2" else np.uint8
        here, there = (
            kmeans(points.astype(kind), None, 3, metric, iterations=3, medians=metric == "emd", device=device)
            for device in (nearest_centroid_finder("cuda"), None)
        )
        gaps[f"{metric} labels"] = float(np.abs(here.labels - there.labels).max())
        gaps[f"{metric} centres"] = float(np.abs(here.centres - there.centres).max())
        gaps[f"{metric} passes"] = abs(here.iterations - there.iterations)
    return gaps


def vectors(rules: PokerRules, menu: ActionMenu | None, buckets: int, *, deals: bool = False) -> dict[str, float]:
    """Compare regrets and averages after two batches of boards with the reference; the second batch uses the updated tables.

    `deals`: compare the deals of the processor as well, which compiles a loop.
    """
    rng, whole = np.random.default_rng(2), lossless_abstraction(rules.board[1:], rules.deck)
    streets = [StreetBuckets(buckets, rng.integers(0, buckets, (1, n)).astype(np.uint16)) for n in whole.counts]
    cards, tree = CardAbstraction(tuple(streets), rules.board[1:], rules.deck), compile_action_tree(rules, menu)
    solver, twin = (
        BlueprintTrainer(tree, cards, "pcs", device="cuda", seed=1, batch=2, pack=4),
        PublicChanceSampling(tree, cards, 1, 1),
    )
    runs, apart = [int(n) for n in solver.traverser.sizes[:, kernels.RUNS]], {}
    theirs = dealt(twin, 0, 4, kernels.MAX_RUN, runs)
    if deals:
        solver.traverser.deal(1, 0, 4)
        both = zip(solver.traverser.dealt, theirs, PackedBoards._fields, strict=True)
        apart.update({name: float((mine != other).sum()) for mine, other, name in both})
    for part, given in zip(solver.traverser.dealt, theirs, strict=True):
        part[:] = given
    solver.traverser.train_boards(4)
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


def random_buckets(rules: PokerRules, buckets: int) -> CardAbstraction:
    """Return random buckets for every street."""
    rng, whole = np.random.default_rng(2), lossless_abstraction(rules.board[1:], rules.deck)
    streets = [StreetBuckets(buckets, rng.integers(0, buckets, (1, n)).astype(np.uint16)) for n in whole.counts]
    return CardAbstraction(tuple(streets), rules.board[1:], rules.deck)


def public_buckets() -> CardAbstraction:
    """Return flops in two public buckets, each with its own private buckets."""
    rng, whole = np.random.default_rng(3), lossless_abstraction((3,))
    first = StreetBuckets(5, rng.integers(0, 5, (1, whole.counts[0])).astype(np.uint16))
    labels = np.stack([rng.integers(4 * k, 4 * k + 4, whole.counts[1]).astype(np.uint16) for k in range(2)])
    layer, ends = np.tile(np.arange(2, dtype=np.uint8), (1755, 1)), np.array([0, 4, 8])
    public = PublicBuckets(rng.integers(0, 2, 1755).astype(np.int32))
    return CardAbstraction((first, StreetBuckets(8, labels, layer, first=ends)), (3,), public=public)


def cut_buckets() -> CardAbstraction:
    """Return three buckets of the first street, each cut into four by a value on the second."""
    rng, whole = np.random.default_rng(4), lossless_abstraction((3,))
    first = StreetBuckets(3, rng.integers(0, 3, (1, whole.counts[0])).astype(np.uint16))
    values = rng.integers(0, 1000, (1, whole.counts[1])).astype(np.uint16)
    cuts = np.sort(rng.integers(1, 1000, (3, 3)), axis=1).astype(np.uint16)
    return CardAbstraction((first, StreetBuckets(12, values, cuts=cuts)), (3,))


def deals(rules: PokerRules, menu: ActionMenu | None, cards: CardAbstraction) -> dict[str, float]:
    """Compare tables after 128 deals and two discounts with one thread of the processor: one block, equal groups."""
    tree = compile_action_tree(rules, menu)
    how: dict[str, Any] = {"seed": 3, "weighting": Weighting("linear", 64)}
    twin = BlueprintTrainer(tree, cards, **how)
    solver = BlueprintTrainer(tree, cards, device="cuda", **how, blocks=1, group=twin.traverser.group)
    for each in (solver, twin):
        each.step(64)
        each.step(64)
    mine, theirs = solver.state(), twin.state()
    largest = float(np.abs(theirs["cells"]).max())
    again = BlueprintTrainer(tree, cards, device="cuda", **how, blocks=1, group=twin.traverser.group)
    again.restore(theirs)  # as if the run had started on the processor
    return {
        "cells": float(np.abs(mine["cells"] - theirs["cells"]).max()) / largest,
        "numbers": float(np.abs(mine["numbers"] - theirs["numbers"]).max()),
        "sums": float(np.abs(mine["sums"] - theirs["sums"]).max()) / largest,
        "value": abs(solver.value - twin.value) / largest,
        "restored": float(np.abs(again.tables.cells - theirs["cells"]).max()),
    }


def many_averages() -> dict[str, float]:
    """Check that averages far beyond 2^24 still grow by the right amount on average, where a float32 would not grow."""
    rng, worst = np.random.default_rng(5), 0.0
    for size in (0.0, 5.0, 3e4, 1.7e7, 5e8):
        step = max(2 * float(np.spacing(np.float32(size))), 2.0**-10)
        amount = np.float32(0.3 * min(step, 1.0))
        noise = rng.random(4000, np.float32)
        grown = np.array([external_kernels.average_increment(np.float32(size), amount, x) for x in noise])
        exact = (
            np.float32(size) + grown.astype(np.float32) - np.float32(size) == grown
        )  # representable without rounding
        apart = abs(grown.mean() - amount) / (step * 0.5 / np.sqrt(len(noise)))  # in standard errors
        worst = max(worst, float(apart), 1e9 * float((~exact).any()))
    return {"standard errors": worst}


def learning() -> dict[str, float]:
    """Return the exploitability of the average strategy of Kuhn poker, which has no board to sample, in chips."""
    rules = read_game("kuhn")
    tree, cards = compile_action_tree(rules), lossless_abstraction(rules.board[1:], rules.deck)
    solver = BlueprintTrainer(tree, cards, "pcs", device="cuda", weighting=Weighting("linear", 64), batch=1)
    solver.traverser.deal(0, 0, 64)
    solver.traverser.train_boards(64)
    solver.step(192)  # starts with the same boards, which replace those of the last step
    strategy = Blueprint(rules, None, tree, cards, (solver.averages(0),))
    return {"exploitability": blueprint_quality(strategy).exploitability}


def steps() -> dict[str, float]:
    """Count the bytes in which two runs of Kuhn poker differ: one of one step, one of many with a restore between them."""
    rules = read_game("kuhn")
    tree, cards = compile_action_tree(rules), lossless_abstraction(rules.board[1:], rules.deck)
    how: dict[str, Any] = {"seed": 2, "weighting": Weighting("dcfr:alpha=1.5,beta=0,gamma=2", 128), "batch": 16}
    whole, parts, later = (BlueprintTrainer(tree, cards, "pcs", device="cuda", **how) for _ in range(3))
    for solver in (whole, parts):
        solver.payoff = np.full(2, 2.0**40)  # as after a long run, where increments are rounded
    whole.step(320)
    parts.step(1)
    parts.state()  # a checkpoint between steps
    parts.step(70)
    later.restore({name: np.array(values) for name, values in parts.state().items()})
    later.step(128)
    mine, other = whole.state(), later.state()
    return {name: float(mine[name].tobytes() != other[name].tobytes()) for name in mine}


def many() -> dict[str, float]:
    """Compare spots that are solved in a batch to a target with the processor's solutions."""
    spots = [Spot.make(**some) for some in (WIDE, {**RIVER, "board": "AcKd7h7s2c"}, TURN)]
    here, there = (
        solve_many(spots, iterations=6, until=20.0, check_every=2, dtype="float64", device=device)
        for device in ("cuda", "cpu")
    )
    apart = {}
    for k, (x, y) in enumerate(zip(here, there, strict=True)):
        gap = y.expected_value(0, respond=True) - x.expected_value(0, respond=True)
        apart[f"response {k}"] = abs(gap) / 100
        apart[f"own figure {k}"] = abs(x.provenance["exploitability"] - rb.quality(x).exploitability)
        apart[f"on the device {k}"] = abs(rb.quality(x).exploitability - quality(x, device="cuda").exploitability)
    return apart


def many_limited() -> dict[str, float]:
    """Compare a batch of gadgets with limits, which are adjusted on the way, with the processor's."""
    rng, spots = np.random.default_rng(4), []
    for player, board in ((0, "Td9d6hQc2s"), (1, "AcKd7h7s2c")):
        gadget = MaxmarginGadget(player, rng.normal(50, 20, NUM_HANDS), limits=rng.normal(20, 20, NUM_HANDS))
        spots.append(replace(Spot.make(**{**RIVER, "board": board}), gadget=gadget))
    here, there = (solve_many(spots, iterations=18, dtype="float64", device=device) for device in ("cuda", "cpu"))
    return {
        f"margins {k}": float(np.nanmax(np.abs(x.margins() - y.margins())))
        for k, (x, y) in enumerate(zip(here, there, strict=True))
    }


def cases() -> dict[str, Callable[[], dict[str, float]]]:
    """Return the comparisons by name."""
    river, turn = Spot.make(**RIVER), Spot.make(**TURN)
    rng = np.random.default_rng(2)
    stop = ResolvingGadget(1, rng.normal(100, 50, NUM_HANDS))
    choose = MaxmarginGadget(0, rng.normal(50, 20, NUM_HANDS), rng.random(NUM_HANDS))
    limited = replace(choose, limits=rng.normal(0, 20, NUM_HANDS))
    drawn = replace(stop, spread=rng.random(NUM_HANDS) * 40, forced=rng.random(NUM_HANDS) / 4)
    lock = NodeLock("", (("x", 0.25), ("b120", 0.75)), Range.parse("KsJs,KdJd"))
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
        "choose with limits": lambda: apart(replace(river, gadget=limited), "float64", "dcfr"),
        "choose with limits at once": lambda: apart(replace(river, gadget=limited), "float64", "pcfr+:alternating=0"),
        "stop before a turn": lambda: apart(replace(turn, gadget=stop), "float64", "dcfr", 1),
        "locked": lambda: apart(replace(river, locks=(lock,)), "float64", "dcfr"),
        "best response": lambda: best_response(
            PokerRules(blinds=(2, 1), stacks=(9, 9), board=(0, 1, 1), ranks=2, suits=2, hole=1), MENU
        ),
        "best response with two cards": lambda: best_response(
            PokerRules(blinds=(2, 1), stacks=(7, 7), board=(0, 1), ranks=3, suits=2), MENU
        ),
        "best response in limit": lambda: best_response(LIMIT, None),
        "nearest centres": nearest_centres,
        "training by vectors": lambda: vectors(
            PokerRules(blinds=(2, 1), stacks=(9, 9), board=(0, 1, 1), ranks=3, suits=2, hole=1), MENU, 3
        ),
        "training by vectors with two cards": lambda: vectors(
            PokerRules(blinds=(2, 1), stacks=(7, 7), board=(0, 1, 1), ranks=3, suits=2), MENU, 4, deals=True
        ),
        "training by vectors in limit": lambda: vectors(LIMIT, None, 4, deals=True),
        "learning by vectors": learning,
        "steps by vectors": steps,
        "training by deals": lambda: deals(read_game("leduc"), None, random_buckets(read_game("leduc"), 3)),
        "training by deals in no-limit": lambda: deals(SMALL_DECK, MENU, random_buckets(SMALL_DECK, 5)),
        "training by deals with public buckets": lambda: deals(TWO, one_size_menu("100%"), public_buckets()),
        "training by deals with cuts": lambda: deals(TWO, one_size_menu("100%"), cut_buckets()),
        "averages of many deals": many_averages,
        "batch": batch,
        "many": many,
        "many with limits": many_limited,
        "far": far,
        "moved": moved,
    }


def main() -> None:
    found = cases()
    for name in sys.argv[1:]:
        print(json.dumps({"case": name, **found[name]()}), flush=True)


if __name__ == "__main__":
    main()
