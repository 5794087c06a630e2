"""Every schedule on every kind of tree against reference implementations, OpenSpiel and known values.

If the largest regret of an information set is exactly zero, the next strategy depends on the last bit of rounding, in
the references as well. They are therefore also started from random regrets, where no such tie occurs: then the kernels
must follow them for any game, any schedule and any number of iterations.
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
from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE, ComparisonPayoff, ConstantPayoff, Game, MatrixPayoff, Outcome, PrivateDeal
from riverboat.games.registry import game_from_spec
from riverboat.games.small.normal_form import matrix
from riverboat.solvers.schedules import SCHEDULES, parse
from riverboat.solvers.tabular import best_response
from riverboat.solvers.tabular.cfr import CFR, tree_table_bytes
from riverboat.strategies.open_spiel import from_open_spiel
from riverboat.strategies.tabular import Strategy, Tree
from riverboat.trees.compile import compile_game, to_history_tree
from riverboat.trees.history import HistoryTree
from riverboat.trees.public import Infoset, PublicTree

ORDERS = (True, False)  # alternating, simultaneous


def trees(game: Game) -> list[Tree]:
    """The tree of a game, and its unrolled history tree."""
    tree = compile_game(game)
    return [tree, to_history_tree(tree)] if isinstance(tree, PublicTree) else [tree]


def block(infoset: Infoset) -> slice:
    """Table indices of an information set."""
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
    """Set random positive regrets, as if one iteration had left them."""
    solver.regret[:] = np.random.default_rng(seed).random(solver.tree.table_size)
    solver.iteration = twin.t = 1
    for infoset in solver.tree.infosets():
        regrets = as_stored(twin.rule, solver.regret[block(infoset)] * share(solver.tree, infoset), 1).tolist()
        predicts = isinstance(twin.rule, reference.Predictive)
        twin.memory[infoset.name] = (regrets, [0.0] * len(regrets)) if predicts else regrets


def assert_same(solver: CFR, twin: Twin, *, tables: bool, tolerance: float = 1e-12) -> None:
    """Check equal last iterates and averages; with `tables` also equal regrets and sums."""
    last, average = solver.current(), solver.average()
    current, averaged, regrets = twin.current(), twin.average(), twin.regrets()
    for infoset in solver.tree.infosets():
        name, where = infoset.name, block(infoset)
        node = f"{solver.tree.name} {solver.schedule} T={solver.iteration} {name}"
        np.testing.assert_allclose(last.row(infoset), current[name], rtol=0, atol=tolerance, err_msg=node)
        np.testing.assert_allclose(average.row(infoset), averaged[name], rtol=0, atol=tolerance, err_msg=node)
        if tables and len(infoset.actions) > 1:  # forced actions may store nothing
            ours = as_stored(twin.rule, solver.regret[where] * share(solver.tree, infoset), twin.t)
            scale = max(1.0, np.abs(regrets[name]).max())
            np.testing.assert_allclose(ours, regrets[name], rtol=0, atol=tolerance * scale, err_msg=node)
            sums = solver.averages[where] * float(twin.t) ** twin.rule.gamma
            if isinstance(solver.tree, HistoryTree):  # each history of an information set contributes
                sums = sums / count_histories(solver.tree)[name]
            np.testing.assert_allclose(sums, twin.sums[name], rtol=tolerance, atol=tolerance, err_msg=node)


@cache
def count_histories(tree: HistoryTree) -> dict[str, int]:
    counts = np.bincount(tree.node_infoset[tree.node_infoset >= 0])
    return {infoset.name: int(n) for infoset, n in zip(tree.infosets(), counts, strict=True)}


def follow(game: Game, seed: int | None, checks: tuple[int, ...], tolerance: float = 1e-12) -> None:
    """Compare both trees of a game (one of them in both orders) with references, for all schedules."""
    root, both = expand(game), trees(game)
    for schedule in SCHEDULES:
        for alternating in ORDERS:
            for tree in both if alternating else both[:1]:
                solver, twin = solver_and_twin(tree, root, schedule, alternating)
                if seed is not None:
                    start_anywhere(solver, twin, seed)
                for t in checks:
                    solver.step(t - twin.t)
                    twin.step(t - twin.t)
                    assert_same(solver, twin, tables=seed is not None, tolerance=tolerance)


# --- against the reference ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec",
    [
        "kuhn",
        "kuhn:cards=4",
        "coin_toss",
        "kuhn:cards=3,stack=2",
        "kuhn:cards=3,suits=2",
        "clairvoyance:chip=0.25",
        "rps",
    ],
)
def test_from_zero(spec: str) -> None:
    follow(game_from_spec(spec), None, (1, 2, 3, 10))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_leduc_from_zero(schedule: str) -> None:
    for tree in trees(game_from_spec("leduc")):
        solver, twin = solver_and_twin(tree, expanded("leduc"), schedule, parse(schedule).alternating)
        for _ in range(3):
            solver.step()
            twin.step()
            assert_same(solver, twin, tables=False)


@cache
def expanded(spec: str) -> reference.Node:
    return expand(game_from_spec(spec))


PUBLIC = [random_public_game(seed) for seed in (1, 5, 44)]
HISTORY = [random_history_game(seed) for seed in (5, 8, 29, 37)]
GENERAL = [
    random_public_game(7, zero_sum=False),
    random_history_game(7, zero_sum=False),
    random_history_game(11, players=3),
]


def test_random_games_have_everything() -> None:
    layouts = [compile_game(game).layout for game in PUBLIC]
    kinds = {type(payoff) for layout in layouts for payoff in layout.payoffs}
    assert kinds == {ConstantPayoff, ComparisonPayoff, MatrixPayoff}
    outcomes = [outcome for layout in layouts for chance in layout.chance_outcomes for outcome in chance]
    assert any(any(outcome.dead) for outcome in outcomes)
    assert any(
        len({outcome.weight for outcome in chance}) > 1 for layout in layouts for chance in layout.chance_outcomes
    )
    assert any(game.deal.excludes for game in PUBLIC)
    assert any(compile_game(game).nodes.actor[0] == CHANCE for game in PUBLIC + HISTORY)
    assert any(1 in compile_game(game).nodes.width for game in PUBLIC + HISTORY)
    assert any(compile_game(game).shared for game in HISTORY)


@pytest.mark.parametrize("game", PUBLIC + HISTORY + GENERAL, ids=lambda game: f"{game.name}-{game.zero_sum}")
def test_from_anywhere(game: RandomPublicGame | RandomHistoryGame) -> None:
    follow(game, game.seed, (2, 3, 4, 11))


@pytest.mark.parametrize("spec", ["kuhn", "kuhn:cards=3,stack=3", "kuhn:cards=3,suits=2", "coin_toss"])
def test_poker_from_anywhere(spec: str) -> None:
    follow(game_from_spec(spec), 1, (2, 3, 11))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_leduc_from_anywhere(schedule: str) -> None:
    for tree in trees(game_from_spec("leduc")):
        solver, twin = solver_and_twin(tree, expanded("leduc"), schedule, parse(schedule).alternating)
        start_anywhere(solver, twin, 3)
        solver.step(3)
        twin.step(3)
        assert_same(solver, twin, tables=True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 200))
def test_many_random_games(seed: int) -> None:
    """More games and iterations, with growing rounding errors."""
    for game in (random_public_game(seed), random_history_game(seed), random_history_game(seed, players=3)):
        follow(game, seed, (2, 11, 30), tolerance=1e-7)


def test_first_regrets_from_zero() -> None:
    """Regrets of the first iteration in all random games: uniform play does not depend on ties."""
    for seed in range(12):
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


def test_cfr_plus_floor_equals_dcfr_discount() -> None:
    """A floor at zero, and removing negative regrets before adding, play the same strategies."""
    tree = compile_game(random_public_game(5))
    floored, wiped = CFR(tree, "cfr+"), CFR(tree, "dcfr:alpha=inf,beta=-inf,gamma=1")
    for solver in (floored, wiped):
        solver.regret[:] = np.random.default_rng(0).random(tree.table_size)
        solver.step(20)
    np.testing.assert_array_equal(floored.current().probabilities, wiped.current().probabilities)
    np.testing.assert_array_equal(floored.averages, wiped.averages)


# --- odd shapes -----------------------------------------------------------------------------

DEALT = PrivateDeal((np.array([1.0, 2.0, 0.5]), np.array([3.0, 1.0])), frozenset({(1, 0), (2, 1)}))
FOLD = ConstantPayoff((1.5, -1.0))
SHOWDOWN = ComparisonPayoff(((1, 2, 2), (2, 1)), (2.0, -3.0), (0.25, 0.5), (-1.0, 4.0))
GRID = MatrixPayoff((((1.0, 2.0), (3.0, -4.0), (0.5, 0.0)), ((-1.0, 0.0), (2.0, 1.0), (7.0, -2.0))))
THREE_CARDS = ComparisonPayoff(((0, 1, 2), (0, 1, 2)), (1.0, -1.0), (0.0, 0.0), (-2.0, 2.0))
UNDEALT = PrivateDeal((np.array([1.0, 0.0, 1.0]), np.array([1.0, 1.0])), frozenset({(0, 0), (0, 1)}))

ODD: dict[str, Game] = {
    "terminal root": WrittenPublic(DEALT, SHOWDOWN),
    "decision root": WrittenPublic(DEALT, (1, {"a": FOLD, "b": SHOWDOWN, "c": GRID})),
    "chance root": WrittenPublic(
        DEALT,
        [(Outcome("x", 0.75), (0, {"a": FOLD, "b": GRID})), (Outcome("y", 0.25), (1, {"a": FOLD, "b": SHOWDOWN}))],
    ),
    "outcomes that kill hands": WrittenPublic(
        PrivateDeal.one_card(3),
        [(Outcome(f"{c}", 1.0, ((c,), (c,))), (0, {"a": FOLD, "b": THREE_CARDS})) for c in range(3)],
    ),
    "one move": WrittenPublic(DEALT, (0, {"a": (0, {"a": (1, {"a": GRID})})})),
    "one outcome": WrittenPublic(DEALT, (0, {"a": [(Outcome("x", 1.0), (1, {"a": GRID, "b": FOLD}))], "b": FOLD})),
    "player 0 never acts": WrittenPublic(DEALT, (1, {"a": SHOWDOWN, "b": (1, {"a": GRID, "b": FOLD})})),
    "hands that are never dealt": WrittenPublic(UNDEALT, (0, {"a": (1, {"a": GRID, "b": FOLD}), "b": SHOWDOWN})),
    "all the same": WrittenPublic(DEALT, (0, {"a": FOLD, "b": FOLD, "c": (1, {"a": FOLD, "b": FOLD})})),
    "wide": WrittenPublic(
        DEALT,
        (
            0,
            {
                f"{k}": (1, {f"{j}": ConstantPayoff((math.sin(k * j), math.cos(k + j))) for j in range(40)})
                for k in range(20)
            },
        ),
    ),
    "history, terminal root": Written((1.0, -1.0)),
    "history, one player": Written({"x": (0.25, (0, "i", {"a": (1.0,), "b": (0.0,)})), "y": (0.75, (2.0,))}, players=1),
    "history, impossible outcome": Written(
        {
            "x": (0.0, (0, "i", {"a": (1.0, 0.0), "b": (0.0, 1.0)})),
            "y": (1.0, (0, "i", {"a": (1.0, 0.0), "b": (3.0, 1.0)})),
        }
    ),
    "history, hidden move": matrix([[1.0, -2.0, 0.5], [-1.0, 3.0, 0.25]]),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_shapes(name: str) -> None:
    follow(ODD[name], 1, (2, 3, 11))


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_odd_shapes_from_zero(name: str, schedule: str) -> None:
    for tree in trees(ODD[name]):
        solver = CFR(tree, schedule)
        solver.step(50)
        for strategy in (solver.average(), solver.current()):
            assert all(sum(row.values()) == pytest.approx(1, abs=1e-12) for row in strategy.mapping().values())
        assert solver.quality().nash_conv >= -1e-12


def test_unreached_infosets_stay_uniform() -> None:
    """Player 0 always plays a, so player 1 is not reached: no regrets and uniform play there, exactly."""
    for tree in trees(WrittenPublic(DEALT, (0, {"a": FOLD, "b": (1, {"a": SHOWDOWN, "b": GRID, "c": FOLD})}))):
        solver = CFR(tree, "vanilla")
        for name in ("0:", "1:", "2:"):
            solver.regret[block(tree.infoset(name))] = 1, 0
        solver.step()
        for name in ("0:b", "1:b"):
            assert solver.regret[block(tree.infoset(name))].tolist() == [0, 0, 0]
            assert list(solver.current()[name].values()) == [1 / 3] * 3


def test_blocked_hand_has_zero_reach() -> None:
    """The only opponent hand that reaches the node holds the traverser's card: its reach is added and subtracted again.

    If the compiler fuses multiplication and addition, 3 x, rounded, minus 3 x, not rounded, is not zero. The remainder
    (10^-18) must not replace the uniform strategy.
    """
    showdown = ComparisonPayoff(((0, 1), (0, 1)), (3.0, -3.0), (0.0, 0.0), (-3.0, 3.0))
    answers = {"f": ConstantPayoff((1.0, -1.0)), "g": ConstantPayoff((3.0, -3.0)), "c": showdown}
    deal = PrivateDeal((np.array([0.1, 0.2]), np.array([0.1, 0.2])), frozenset({(0, 0), (1, 1)}))
    tree = compile_game(WrittenPublic(deal, (0, {"a": ConstantPayoff((1.0, -1.0)), "b": (1, answers)})))
    solver = CFR(tree, "vanilla")
    solver.regret[block(tree.infoset("0:"))] = 2, 1
    solver.regret[block(tree.infoset("1:"))] = 1, 0  # so that only card 0 plays b
    solver.step()
    assert np.abs(solver.regret[block(tree.infoset("1:b"))]).min() > 1e-3
    assert solver.regret[block(tree.infoset("0:b"))].tolist() == [0, 0, 0]


def test_infoset_visited_twice_adds_both_regrets() -> None:
    """Imperfect recall: the regrets of both visits are added. By hand, against uniform play: 1/2 + 1/4."""
    again = (0, "i", {"a": (1.0, -1.0), "b": (0.0, 0.0)})
    solver = CFR(compile_game(Written((0, "i", {"a": again, "b": (0.0, 0.0)}))), "vanilla")
    solver.step()
    assert solver.regret.tolist() == [0.75, -0.75]


def test_kuhn_by_hand() -> None:
    """The first iteration of player 0, against uniform play, in units of one deal (1/6)."""
    solver = CFR(compile_game(game_from_spec("kuhn")), "vanilla")
    solver.step()
    # The king bets: called or not, 2 or 1 from either hand, 3 in all. It checks: 1 where player 1 checks too; where
    # player 1 bets, -1 or 2 as it folds or calls: 1/2 (1) + 1/2 (1/2) = 3/4 from either hand, 3/2 in all.
    assert solver.regret[block(solver.tree.infoset("K:"))].tolist() == pytest.approx([-3 / 4, 3 / 4])
    # The jack bets: 1 or -2, -1/2 from either hand, -1 in all. It checks: -1, or -1 or -2: -5/4, -5/2 in all.
    assert solver.regret[block(solver.tree.infoset("J:"))].tolist() == pytest.approx([-3 / 4, 3 / 4])
    # The queen bets: 1 or 2 from the jack, 1 or -2 from the king, 1 in all; it checks: 3/4 and -5/4, -1/2 in all.
    assert solver.regret[block(solver.tree.infoset("Q:"))].tolist() == pytest.approx([-3 / 4, 3 / 4])
    # Facing a bet that comes half of the time: folding is -1, the jack loses 2, the king wins 2.
    assert solver.regret[block(solver.tree.infoset("J:cr"))].tolist() == pytest.approx([1 / 2, -1 / 2])
    assert solver.regret[block(solver.tree.infoset("Q:cr"))].tolist() == pytest.approx([-1 / 2, 1 / 2])
    assert solver.regret[block(solver.tree.infoset("K:cr"))].tolist() == pytest.approx([-3 / 2, 3 / 2])


# --- precision ------------------------------------------------------------------------------
# Slow: single precision compiles kernels of its own.


@pytest.mark.slow
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_single_precision(schedule: str) -> None:
    for game in (game_from_spec("leduc"), PUBLIC[1], HISTORY[2]):
        tree = compile_game(game)
        single, double = CFR(tree, schedule, dtype="float32"), CFR(tree, schedule)
        assert single.regret.dtype == single.averages.dtype == np.float32
        for solver in (single, double):
            solver.regret[:] = np.random.default_rng(0).random(tree.table_size).astype(np.float32)
            solver.iteration = 1
            solver.step(10)
        np.testing.assert_allclose(single.average().probabilities, double.average().probabilities, atol=1e-3)
        for low, high in zip(single.quality().best, double.quality().best, strict=True):
            assert low == pytest.approx(high, abs=1e-4)
        with pytest.raises(InputError, match="float64, float32"):
            CFR(tree, dtype="float16")


@pytest.mark.slow
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_single_precision_converges(schedule: str) -> None:
    tree = compile_game(game_from_spec("leduc"))
    solver = CFR(tree, schedule, dtype="float32")
    solver.step(1000)
    double = CFR(tree, schedule)
    double.step(1000)
    assert solver.exploitability() < 1.5 * double.exploitability() + 1e-5


@pytest.mark.slow
def test_reach_below_single_precision() -> None:
    """Chance reaches a node with 10^-42: regrets are too small to divide by, but the strategy must be a distribution."""
    rare: Any = (0, {"a": FOLD, "b": GRID})
    for k in range(3):
        rare = [(Outcome(f"x{k}", 1e-14), rare), (Outcome(f"y{k}", 1 - 1e-14), SHOWDOWN)]
    for schedule in SCHEDULES:
        for tree in trees(WrittenPublic(DEALT, rare)):
            solver = CFR(tree, schedule, dtype="float32")
            solver.step(20)
            for strategy in (solver.current(), solver.average()):
                assert all(sum(row.values()) == pytest.approx(1, abs=1e-6) for row in strategy.mapping().values())


# --- OpenSpiel ------------------------------------------------------------------------------

# OpenSpiel's CFR alternates ("which was not the case in the original paper"), and its CFR+ averages linearly.
SPIEL = {"CFRSolver": "vanilla:alternating=1", "CFRPlusSolver": "cfr+"}


@pytest.mark.parametrize("name", SPIEL)
@pytest.mark.parametrize(("spec", "spiel"), [("kuhn", "kuhn_poker"), ("leduc", "leduc_poker")])
def test_open_spiel(spec: str, spiel: str, name: str) -> None:
    """The same average policies after ten iterations as those of the C++ solvers, despite ties."""
    pyspiel = pytest.importorskip("pyspiel")
    other = getattr(pyspiel, name)(pyspiel.load_game(spiel))
    for _ in range(10):
        other.evaluate_and_update_policy()
    for tree in trees(game_from_spec(spec)):
        ours = CFR(tree, SPIEL[name])
        ours.step(10)
        expected = from_open_spiel(tree, other.tabular_average_policy())
        np.testing.assert_allclose(ours.average().probabilities, expected.probabilities, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", SPIEL)
@pytest.mark.parametrize(("spec", "spiel", "count"), [("kuhn", "kuhn_poker", 10), ("leduc", "leduc_poker", 3)])
def test_open_spiel_from_anywhere(spec: str, spiel: str, count: int, name: str) -> None:
    """The Python solvers, whose regrets can be set: equal on both trees, with or without ties."""
    pyspiel = pytest.importorskip("pyspiel")
    from open_spiel.python.algorithms import cfr

    from riverboat.strategies.open_spiel import to_open_spiel

    for tree in trees(game_from_spec(spec)):
        ours, other = CFR(tree, SPIEL[name]), getattr(cfr, name)(pyspiel.load_game(spiel))
        first = Strategy.from_sums(tree, np.random.default_rng(0).random(tree.table_size) + 0.1)
        for infoset in tree.infosets():
            ours.regret[block(infoset)] = 0.1 * first.row(infoset) / share(tree, infoset)
        policy = to_open_spiel(first)
        for node in other._info_state_nodes.values():
            row = policy.action_probability_array[node.index_in_tabular_policy]
            node.cumulative_regret.update({action: 0.1 * row[action] for action in node.legal_actions})
        cfr._update_current_policy(other._current_policy, other._info_state_nodes)
        ours.step(count)
        for _ in range(count):
            other.evaluate_and_update_policy()
        average = from_open_spiel(tree, other.average_policy())
        for infoset in tree.infosets():
            np.testing.assert_allclose(ours.average().row(infoset), average.row(infoset), rtol=0, atol=1e-9)


# --- known values --------------------------------------------------------------------------

LEDUC_VALUE = -0.085606424078  # Lanctot et al. 2017, appendix E.2


@pytest.mark.parametrize(
    ("spec", "value", "schedule", "iterations", "gap"),
    [
        ("kuhn", -1 / 18, "vanilla", 1000, 2e-2),
        ("kuhn", -1 / 18, "cfr+", 1000, 1e-3),
        ("kuhn", -1 / 18, "linear", 1000, 1e-3),
        ("kuhn", -1 / 18, "dcfr", 1000, 1e-3),
        ("kuhn", -1 / 18, "pcfr+", 1000, 1e-6),
        ("leduc", LEDUC_VALUE, "vanilla", 1000, 1e-1),
        ("leduc", LEDUC_VALUE, "cfr+", 1000, 1e-3),
        ("leduc", LEDUC_VALUE, "linear", 1000, 2e-2),
        ("leduc", LEDUC_VALUE, "dcfr", 1000, 1e-3),
        ("leduc", LEDUC_VALUE, "pcfr+", 1000, 3e-3),
        ("kuhn:cards=3,suits=2", -19 / 465, "dcfr", 1000, 1e-3),
        ("clairvoyance:stack=1,chip=0.5", 1 / 4, "cfr+", 2000, 1e-3),
        ("rps", 0.0, "cfr+", 100, 1e-3),
    ],
)
def test_values(spec: str, value: float, schedule: str, iterations: int, gap: float) -> None:
    for tree in trees(game_from_spec(spec))[: 1 if spec == "leduc" else 2]:
        solver = CFR(tree, schedule)
        solver.step(iterations)
        quality = solver.quality()
        low, high = quality.bracket
        assert low - 1e-12 <= value <= high + 1e-12
        assert high - low == pytest.approx(quality.nash_conv, abs=1e-12)
        assert high - low < gap


def test_bluff() -> None:
    """Bluff(1,1): the gap of CFR+ as measured by an independent program, and the value to the starter."""
    solver = CFR(compile_game(game_from_spec("bluff:1,1")), "cfr+")
    for iteration, gap in ((10, 0.283), (100, 9.8e-3), (400, 1.6e-3)):
        solver.step(iteration - solver.iteration)
        assert solver.quality().nash_conv == pytest.approx(gap, rel=0.1)
    low, high = solver.quality().bracket
    assert low <= -0.02713 <= high


@pytest.mark.parametrize(("spec", "expected"), [("kuhn", 11 / 12), ("leduc", 4.747222222222222)])
def test_uniform_play(spec: str, expected: float) -> None:
    for tree in trees(game_from_spec(spec)):
        assert best_response.quality(Strategy.uniform(tree)).nash_conv == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("spec", ["kuhn", "leduc"])
def test_first_action_play(spec: str) -> None:
    """Check, and fold to any bet: the bettor wins an ante each time."""
    for tree in trees(game_from_spec(spec)):
        first = Strategy.from_mapping(tree, {i.name: {i.actions[0]: 1.0} for i in tree.infosets()})
        assert best_response.quality(first).nash_conv == pytest.approx(2, abs=1e-12)


# --- runs --------------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", [*SCHEDULES, "pcfr+:alternating=0"])
def test_steps_add_up(schedule: str) -> None:
    for tree in trees(game_from_spec("kuhn:cards=4")):
        once, often = CFR(tree, schedule), CFR(tree, schedule)
        once.step(10)
        for _ in range(10):
            often.step()
        often.step(0)
        assert once.iteration == often.iteration == 10
        assert once.regret.tobytes() == often.regret.tobytes()
        assert once.averages.tobytes() == often.averages.tobytes()
        assert once.nodes_touched == often.nodes_touched == 10 * 2 * len(tree.nodes.actor)


def test_many_steps_at_once() -> None:
    """More than one batch of iterations."""
    tree = compile_game(game_from_spec("coin_toss"))
    once, often = CFR(tree, "dcfr"), CFR(tree, "dcfr")
    once.step(66_000)
    for _ in range(6):
        often.step(11_000)
    assert once.averages.tobytes() == often.averages.tobytes()
    assert once.nodes_touched == often.nodes_touched


def test_invalid_input() -> None:
    tree = compile_game(game_from_spec("kuhn"))
    with pytest.raises(InputError, match="step"):
        CFR(tree).step(-1)
    with pytest.raises(InputError, match="seed=-1"):
        CFR(tree, seed=-1)
    with pytest.raises(InputError, match="epsilon=0"):
        CFR(tree, epsilon=0.0)
    with pytest.raises(InputError, match="tick=0"):
        CFR(tree, tick=0)
    with pytest.raises(InputError, match="threads=0"):
        CFR(tree, threads=0)


def test_memory_is_estimated() -> None:
    for tree in trees(game_from_spec("kuhn")):
        for schedule in (*SCHEDULES, "pcfr+:alternating=0"):
            solver = CFR(tree, schedule)
            tables = {
                id(view.base): view.base.nbytes
                for seat in solver.tables
                for view in seat
                if len(view) and view.base is not None
            }
            assert sum(tables.values()) == tree_table_bytes(tree, solver.schedule)


def test_provenance() -> None:
    solver = CFR(compile_game(game_from_spec("kuhn")), "lcfr", seed=3)
    solver.step(7)
    assert dict(solver.average().provenance) == {
        "game": "kuhn",
        "method": "cfr",
        "schedule": "linear",
        "traversal": "full",
        "iterations": 7,
        "seed": 3,
        "dtype": "float64",
    }
    assert solver.current().provenance["iterate"] == "last"
