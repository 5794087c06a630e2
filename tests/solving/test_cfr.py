"""Every schedule on every kind of tree against slow twins, OpenSpiel and known values.

Where the largest regret of an information set is exactly zero, what is played next is up to the last bit of rounding.
Twins are therefore also started from random regrets, where no such tie can come up: then the fast walk must follow them
for any game, any schedule and any number of iterations.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest

from random_games import RandomHistoryGame, RandomPublicGame, random_history_game, random_public_game
from reference import cfr as reference
from reference.cfr import Twin, Written, WrittenPublic, expand, share
from riverboat.errors import InputError
from riverboat.games.base import CHANCE, Compare, Constant, Deal, Game, Matrix, Outcome
from riverboat.games.normal_form import matrix
from riverboat.games.registry import make
from riverboat.solving import response
from riverboat.solving.cfr import CFR, table_bytes
from riverboat.solving.schedules import SCHEDULES, parse
from riverboat.strategy.open_spiel import from_open_spiel
from riverboat.strategy.table import Strategy, Tree
from riverboat.trees.compile import compile_game, histories
from riverboat.trees.history import HistoryTree
from riverboat.trees.public import Infoset, PublicTree

ORDERS = (True, False)  # alternating, simultaneous


def trees(game: Game) -> list[Tree]:
    """The tree of a game, and what it unrolls to."""
    tree = compile_game(game)
    return [tree, histories(tree)] if isinstance(tree, PublicTree) else [tree]


def block(infoset: Infoset) -> slice:
    """Where an information set lives in a table."""
    return slice(infoset.offset, infoset.offset + infoset.stride * len(infoset.actions), infoset.stride)


def solver_and_twin(tree: Tree, root: reference.Node, schedule: str, alternating: bool) -> tuple[CFR, Twin]:
    twin = Twin(root, tree.players, reference.RULES[schedule](), alternating=alternating)
    return CFR(tree, f"{schedule}:alternating={int(alternating)}"), twin


def as_stored(rule: reference.Vanilla, regrets: Any, t: int) -> Any:
    """Our regrets after iteration t in the form in which the paper stores them."""
    if isinstance(rule, reference.Linear):
        return regrets * t
    if isinstance(rule, reference.Discounted):
        up, down = (t**x / (t**x + 1) for x in (rule.alpha, rule.beta))
        return regrets * np.where(regrets > 0, up, down)
    return regrets


def start_anywhere(solver: CFR, twin: Twin, seed: int) -> None:
    """Random positive regrets, as if one iteration had left them."""
    solver.regret[:] = np.random.default_rng(seed).random(solver.tree.table)
    solver.iteration = twin.t = 1
    for infoset in solver.tree.infosets():
        regrets = as_stored(twin.rule, solver.regret[block(infoset)] * share(solver.tree, infoset), 1).tolist()
        predicts = isinstance(twin.rule, reference.Predictive)
        twin.memory[infoset.name] = (regrets, [0.0] * len(regrets)) if predicts else regrets


def assert_same(solver: CFR, twin: Twin, *, tables: bool) -> None:
    """The same last iterate and average; with `tables` also the same regrets and sums."""
    last, average = solver.current(), solver.average()
    current, averaged, regrets = twin.current(), twin.average(), twin.regrets()
    for infoset in solver.tree.infosets():
        name, where = infoset.name, block(infoset)
        here = f"{solver.tree.name} {solver.schedule} T={solver.iteration} {name}"
        np.testing.assert_allclose(last.row(infoset), current[name], rtol=0, atol=1e-12, err_msg=here)
        np.testing.assert_allclose(average.row(infoset), averaged[name], rtol=0, atol=1e-12, err_msg=here)
        if tables:
            ours = as_stored(twin.rule, solver.regret[where] * share(solver.tree, infoset), twin.t)
            scale = max(1.0, np.abs(regrets[name]).max())
            np.testing.assert_allclose(ours, regrets[name], rtol=0, atol=1e-12 * scale, err_msg=here)
            sums = solver.average_sums[where] * float(twin.t) ** twin.rule.gamma
            if isinstance(solver.tree, HistoryTree):  # each history of an information set adds its part
                sums = sums / count_histories(solver.tree)[name]
            np.testing.assert_allclose(sums, twin.sums[name], rtol=1e-12, atol=1e-12, err_msg=here)


@cache
def count_histories(tree: HistoryTree) -> dict[str, int]:
    counts = np.bincount(tree.node_infoset[tree.node_infoset >= 0])
    return {infoset.name: int(n) for infoset, n in zip(tree.infosets(), counts, strict=True)}


def follow(game: Game, seed: int | None, checks: tuple[int, ...]) -> None:
    """Both trees of a game, all schedules, both orders, against one twin each."""
    root, both = expand(game), trees(game)
    for schedule in SCHEDULES:
        for alternating in ORDERS:
            for tree in both:
                solver, twin = solver_and_twin(tree, root, schedule, alternating)
                if seed is not None:
                    start_anywhere(solver, twin, seed)
                for t in checks:
                    solver.step(t - twin.t)
                    twin.step(t - twin.t)
                    assert_same(solver, twin, tables=seed is not None)


# --- twins ----------------------------------------------------------------------------------

NO_TIES = ["kuhn:cards=4", "coin_toss", "kuhn:cards=3,stack=2", "clairvoyance:stack=1,chip=0.25", "rps"]


@pytest.mark.parametrize("spec", NO_TIES)
def test_from_zero(spec: str) -> None:
    follow(make(spec), None, (1, 2, 3, 10))


@pytest.mark.parametrize(("spec", "checks"), [("kuhn", (1, 2, 3, 10)), ("leduc", (1, 2, 3))])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_poker_from_zero(spec: str, checks: tuple[int, ...], schedule: str) -> None:
    """On public trees, whose sums leave exact zeros where pay-offs are equal."""
    game = make(spec)
    root, tree = expanded(spec), compile_game(game)
    for alternating in ORDERS:
        solver, twin = solver_and_twin(tree, root, schedule, alternating)
        for t in checks:
            solver.step(t - twin.t)
            twin.step(t - twin.t)
            assert_same(solver, twin, tables=False)


@cache
def expanded(spec: str) -> reference.Node:
    return expand(make(spec))


PUBLIC = [random_public_game(seed) for seed in (1, 5, 20, 44)]
HISTORY = [random_history_game(seed) for seed in (5, 8, 29, 37)]
GENERAL = [
    random_public_game(7, zero_sum=False),
    random_history_game(7, zero_sum=False),
    random_history_game(11, players=3),
]


def test_random_games_have_everything() -> None:
    layouts = [compile_game(game).layout for game in PUBLIC]
    kinds = {type(payoff) for layout in layouts for payoff in layout.payoffs}
    assert kinds == {Constant, Compare, Matrix}
    outcomes = [outcome for layout in layouts for chance in layout.chances for outcome in chance]
    assert any(any(outcome.dead) for outcome in outcomes)
    assert any(len({outcome.weight for outcome in chance}) > 1 for layout in layouts for chance in layout.chances)
    assert any(game.deal.excludes for game in PUBLIC)
    assert any(compile_game(game).nodes.actor[0] == CHANCE for game in PUBLIC + HISTORY)
    assert any(1 in compile_game(game).nodes.width for game in PUBLIC + HISTORY)
    assert any(compile_game(game).shared for game in HISTORY)


@pytest.mark.parametrize("game", PUBLIC + HISTORY + GENERAL, ids=lambda game: f"{game.name}-{game.zero_sum}")
def test_from_anywhere(game: RandomPublicGame | RandomHistoryGame) -> None:
    follow(game, game.seed, (2, 3, 4, 11))


@pytest.mark.parametrize("spec", ["kuhn", "kuhn:cards=3,stack=3", "kuhn:cards=3,suits=2", "coin_toss"])
def test_poker_from_anywhere(spec: str) -> None:
    follow(make(spec), 1, (2, 3, 11))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_leduc_from_anywhere(schedule: str) -> None:
    for tree in trees(make("leduc")):
        solver, twin = solver_and_twin(tree, expanded("leduc"), schedule, parse(schedule).alternating)
        start_anywhere(solver, twin, 3)
        solver.step(3)
        twin.step(3)
        assert_same(solver, twin, tables=True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 200))
def test_many_random_games(seed: int) -> None:
    for game in (random_public_game(seed), random_history_game(seed), random_history_game(seed, players=3)):
        follow(game, seed, (2, 11, 30))


def test_first_regrets_from_zero() -> None:
    """Against uniform play nothing hangs on ties: the regrets of the first iteration, in all random games."""
    for seed in range(30):
        for game in (random_public_game(seed), random_history_game(seed)):
            root = expand(game)
            for tree in trees(game):
                solver = CFR(tree, "vanilla")
                solver.step()
                uniform = reference.profile(Strategy.uniform(tree))
                for player in range(2):
                    _, regrets = reference.counterfactual_regrets(root, uniform, player)
                    for infoset in (i for i in tree.infosets() if i.player == player):
                        ours = solver.regret[block(infoset)] * share(tree, infoset)
                        np.testing.assert_allclose(ours, regrets[infoset.name], rtol=0, atol=1e-13)


def test_cfr_plus_forgets_as_dcfr_does() -> None:
    """Flooring at zero, and wiping what is below zero before adding, play the same strategies."""
    tree = compile_game(random_public_game(5))
    floored, wiped = CFR(tree, "cfr+"), CFR(tree, "dcfr:alpha=inf,beta=-inf,gamma=1")
    for solver in (floored, wiped):
        solver.regret[:] = np.random.default_rng(0).random(tree.table)
        solver.step(20)
    np.testing.assert_array_equal(floored.current().probabilities, wiped.current().probabilities)
    np.testing.assert_array_equal(floored.average_sums, wiped.average_sums)


# --- shapes ---------------------------------------------------------------------------------

DEALT = Deal((np.array([1.0, 2.0, 0.5]), np.array([3.0, 1.0])), frozenset({(1, 0), (2, 1)}))
SHOWDOWN = Compare(((1, 2, 2), (2, 1)), (2.0, -3.0), (0.25, 0.5), (-1.0, 4.0))
GRID = Matrix((((1.0, 2.0), (3.0, -4.0), (0.5, 0.0)), ((-1.0, 0.0), (2.0, 1.0), (7.0, -2.0))))
FOLD = Constant((1.5, -1.0))
ODD_GAMES = {
    "terminal root": WrittenPublic(DEALT, SHOWDOWN),
    "decision root": WrittenPublic(DEALT, (1, {"a": FOLD, "b": SHOWDOWN, "c": GRID})),
    "chance root": WrittenPublic(
        DEALT,
        [
            (Outcome("x", 0.75), (0, {"a": FOLD, "b": GRID})),
            (Outcome("y", 0.25), (0, {"a": SHOWDOWN, "b": FOLD})),
        ],
    ),
    "outcomes that kill hands": WrittenPublic(
        Deal.one_card(3),
        [
            (Outcome(f"<{c}>", 1.0, ((c,), (c,))), (0, {"a": FOLD, "b": Compare(((0, 1, 2),) * 2, *FOLDS)}))
            for c in range(3)
        ],
    )
    if (FOLDS := ((1.0, -1.0), (0.0, 0.0), (-2.0, 2.0)))
    else None,
    "one move": WrittenPublic(DEALT, (0, {"a": (0, {"a": (1, {"a": GRID})})})),
    "nobody but player 1": WrittenPublic(DEALT, (1, {"a": SHOWDOWN, "b": (1, {"a": GRID, "b": FOLD})})),
    "a hand that is never dealt": WrittenPublic(
        Deal((np.array([1.0, 0.0, 1.0]), np.array([1.0, 1.0])), frozenset({(0, 0), (0, 1)})),
        (0, {"a": (1, {"a": GRID, "b": FOLD}), "b": SHOWDOWN}),
    ),
    "all the same": WrittenPublic(DEALT, (0, {"a": FOLD, "b": FOLD, "c": (1, {"a": FOLD, "b": FOLD})})),
    "wide": WrittenPublic(
        DEALT, (0, {f"{k}": (1, {f"{j}": Constant((math.sin(k * j), k - j))} | {"x": GRID}) for j in [k] for k in [0]})
    )
    if False
    else WrittenPublic(
        DEALT,
        (
            0,
            {f"{k}": (1, {f"{j}": Constant((math.sin(k * j), math.cos(k + j))) for j in range(50)}) for k in range(40)},
        ),
    ),
}
