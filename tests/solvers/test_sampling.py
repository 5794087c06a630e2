"""Sampled traversals: updates have the expectation of a full traversal, runs are reproducible, and they converge."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from random_games import random_history_game, random_public_game
from reference import cfr as reference
from reference.cfr import Written, WrittenPublic, expand, share
from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE, TERMINAL, Array, ComparisonPayoff, ConstantPayoff, Game, Outcome, PrivateDeal
from riverboat.games.registry import game_from_spec
from riverboat.solvers import traversals as sampling
from riverboat.solvers.schedules import SCHEDULES, parse
from riverboat.solvers.tabular import best_response
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.tabular import Strategy, Tree
from riverboat.trees.compile import compile_game, to_history_tree
from riverboat.trees.public import Infoset, PublicTree

SAMPLED = ["chance", "pcs", "opcs", "spcs", "external", "outcome"]
ANYWHERE = ["chance", "external", "outcome"]  # no public tree needed
LARGE = 1e10  # regrets so large that the updates of a batch do not change the strategy


def block(infoset: Infoset) -> slice:
    return slice(infoset.offset, infoset.offset + infoset.stride * len(infoset.actions), infoset.stride)


def trees(game: Game) -> list[Tree]:
    tree = compile_game(game)
    return [tree, to_history_tree(tree)] if isinstance(tree, PublicTree) else [tree]


def traversals(tree: Tree) -> list[str]:
    return SAMPLED if isinstance(tree, PublicTree) else ANYWHERE


def frozen(tree: Tree, traversal: str, seed: int = 0, **options: Any) -> tuple[CFR, Array]:
    """A solver that always plays one random strategy, and its regrets."""
    solver = CFR(tree, "vanilla", traversal, seed=seed, **options)
    solver.regret[:] = LARGE * (0.1 + np.random.default_rng(seed).random(tree.table_size))
    return solver, solver.regret.copy()


# --- unbiased -------------------------------------------------------------------------------


def chance_reach(root: reference.Node) -> Counter[str]:
    """Σ_{h ∈ I} π_c(h): reach of each information set by chance alone."""
    result: Counter[str] = Counter()

    def walk(node: reference.Node, reach: float) -> None:
        if node.actor >= 0:
            result[node.infoset] += reach  # type: ignore[assignment]
        for k, child in enumerate(node.children):
            walk(child, reach * node.chance[k] if node.actor == CHANCE else reach)

    walk(root, 1.0)
    return result


def expectations(game: Game, strategy: Strategy, traversal: str) -> tuple[Array, Array]:
    """Expected update of regrets and, if single deals are sampled, of averages in one iteration.

    Public-chance traversals divide by the probability of the hands that they sample: the expectation is that of a full
    traversal, in which a hand meets the raw weights of the opponent's. External and outcome sampling draw deals from
    their distribution and divide by nothing: the expectation is the counterfactual regret itself, smaller by weight /
    total. Scaling a whole information set does not change the strategy.
    """
    tree, root, profile = strategy.tree, expand(game), reference.profile(strategy)
    arrives = chance_reach(root)
    regret, average = np.zeros(tree.table_size), np.zeros(tree.table_size)
    for player in range(tree.players):
        reach, result = reference.counterfactual_regrets(root, profile, player)
        for infoset in (i for i in tree.infosets() if i.player == player):
            scale = 1.0 if traversal in ("external", "outcome") else share(tree, infoset)
            regret[block(infoset)] = np.array(result[infoset.name]) / scale
            # Opponents' traversals reach this infoset as often as chance and the player itself (two players).
            average[block(infoset)] = arrives[infoset.name] * reach[infoset.name] * strategy.row(infoset)
    return regret, average


def assert_unbiased(samples: Array, expected: Array, what: str) -> None:
    """Check z-scores of batch means: no outliers, and the expected size on the whole.

    Entries are correlated (what one action gains another loses), so their mean square varies more than a χ² with as
    many degrees of freedom. Entries visited by few batches have no reliable error and are left out.
    """
    reached = ((samples != 0).sum(axis=0) >= len(samples) // 4) | (expected == 0)
    assert reached.mean() > 0.8
    mean, error = samples.mean(axis=0), samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
    z = (mean - expected) / (error + 1e-5 * np.abs(expected).max())  # rounding errors of large regrets
    assert np.abs(z[reached]).max() < 5, what
    assert np.mean(z[reached] ** 2) < 4, what


@pytest.mark.parametrize("traversal", SAMPLED)
@pytest.mark.parametrize(
    ("game", "batches", "size"),
    [
        (game_from_spec("kuhn"), 100, 1000),
        pytest.param(game_from_spec("leduc"), 40, 1000, marks=pytest.mark.slow),
        (random_public_game(1), 100, 500),
    ],
    ids=["kuhn", "leduc", "random"],
)
def test_unbiased(game: Any, batches: int, size: int, traversal: str) -> None:
    for tree in trees(game):
        if traversal in traversals(tree):
            check_unbiased(game, tree, traversal, batches, size)


@pytest.mark.parametrize("traversal", ANYWHERE)
@pytest.mark.parametrize("seed", [5, 8])
def test_unbiased_on_histories(seed: int, traversal: str) -> None:
    game = random_history_game(seed)
    check_unbiased(game, compile_game(game), traversal, 60, 500)


@pytest.mark.parametrize("epsilon", [0.05, 1.0])
def test_unbiased_for_any_exploration(epsilon: float) -> None:
    game = game_from_spec("kuhn")
    check_unbiased(game, compile_game(game), "outcome", 100, 2000, epsilon=epsilon)


def check_unbiased(game: Game, tree: Tree, traversal: str, batches: int, size: int, **options: Any) -> None:
    solver, start = frozen(tree, traversal, **options)
    regret, average = expectations(game, solver.current(), traversal)
    added, averaged = [], []
    for _ in range(batches):
        solver.regret[:] = start
        solver.averages[:] = 0
        solver.step(size)
        added.append((solver.regret - start) / size)
        averaged.append(solver.averages / size)
    live = np.zeros(tree.table_size, bool)  # impossible hands may have any update, forced actions none
    for infoset in tree.infosets():
        live[block(infoset)] = len(infoset.actions) > 1
    assert_unbiased(np.array(added)[:, live], regret[live], "regrets")
    if traversal in ("chance", "external", "outcome"):
        assert_unbiased(np.array(averaged)[:, live], average[live], "averages")


@pytest.mark.parametrize("traversal", ["chance", "pcs", "opcs", "spcs"])
def test_averages_are_weighted_by_own_reach(traversal: str) -> None:
    """A traversal adds π_i σ at visited nodes, and which nodes it visits does not depend on the strategy."""
    for game in (random_public_game(1), random_public_game(20)):
        tree = compile_game(game)
        came = []
        for start in (1, 2):
            solver, _ = frozen(tree, traversal, seed=7)
            solver.regret[:] = LARGE * (0.1 + np.random.default_rng(start).random(tree.table_size))
            strategy = solver.current()
            solver.step(500)
            times = np.zeros(tree.table_size)
            for player in (0, 1):
                reach, _ = reference.counterfactual_regrets(expand(game), reference.profile(strategy), player)
                for infoset in (i for i in tree.infosets() if i.player == player and len(i.actions) > 1):
                    sums = solver.averages[block(infoset)]
                    times[block(infoset)] = sums / (reach[infoset.name] * strategy.row(infoset))
            came.append(times)
        np.testing.assert_allclose(came[0], came[1], rtol=0, atol=0.01)
        np.testing.assert_allclose(came[0], came[0].round(), rtol=0, atol=0.01)  # a count
        assert came[0].max() >= 20


def test_pcs_without_chance_is_the_full_traversal() -> None:
    tree = compile_game(game_from_spec("kuhn"))
    for schedule in SCHEDULES:
        full, public = CFR(tree, schedule), CFR(tree, schedule, "pcs")
        full.step(20)
        public.step(20)
        assert full.averages.tobytes() == public.averages.tobytes()


# --- reproducible -----------------------------------------------------------------------------


@pytest.mark.parametrize("traversal", SAMPLED)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_seeds(traversal: str, schedule: str) -> None:
    """The same seed gives the same run, in one step or in ten; another seed gives another run."""
    for tree in trees(game_from_spec("leduc")):
        if traversal not in traversals(tree):
            continue
        runs = [CFR(tree, schedule, traversal, seed=seed, tick=3) for seed in (1, 1, 2)]
        runs[0].step(10)
        for _ in range(10):
            runs[1].step(1)
        runs[2].step(10)
        for table in ("regret", "averages", "prediction"):
            assert getattr(runs[0], table).tobytes() == getattr(runs[1], table).tobytes()
        assert runs[0].rng[0] == runs[1].rng[0]
        assert runs[0].nodes_touched == runs[1].nodes_touched
        assert runs[0].regret.tobytes() != runs[2].regret.tobytes()


# --- schedules ------------------------------------------------------------------------------


@pytest.mark.parametrize("traversal", SAMPLED)
@pytest.mark.parametrize("schedule", ["linear", "dcfr", "dcfr:alpha=2,beta=0.5,gamma=1"])
def test_discounts_are_applied_once_a_tick(traversal: str, schedule: str) -> None:
    """Nothing is discounted within a tick; at its end the whole table is, by the numbers of the next."""
    clock = parse(schedule)
    for tree in trees(game_from_spec("leduc")):
        if traversal not in traversals(tree):
            continue
        ticking = CFR(tree, schedule, traversal, seed=3, tick=4)
        plain = CFR(tree, "vanilla", traversal, seed=3)
        ticking.step(14)
        for tick in range(1, 5):
            plain.step(4 if tick < 4 else 2)
            if tick < 4:
                step = clock.step(tick + 1)
                plain.regret *= np.where(plain.regret > 0, step.positive, step.negative)
                plain.averages *= step.decay
        np.testing.assert_array_equal(ticking.regret, plain.regret)
        np.testing.assert_array_equal(ticking.averages, plain.averages)


def test_default_tick() -> None:
    assert CFR(compile_game(game_from_spec("kuhn")), "linear", "external").tick == 1
    assert CFR(compile_game(game_from_spec("leduc")), "linear", "external").tick == 93


@pytest.mark.parametrize("traversal", SAMPLED)
def test_floors_hold_while_sampling(traversal: str) -> None:
    for tree in trees(game_from_spec("leduc")):
        if traversal in traversals(tree):
            solver = CFR(tree, "cfr+", traversal)
            solver.step(300)
            assert solver.regret.min() == 0
            assert solver.regret.max() > 0


@pytest.mark.parametrize("traversal", ANYWHERE)
def test_a_prediction_is_the_last_increment(traversal: str) -> None:
    """Zero too: no action gains anything here, so the prediction is zero after one visit."""
    nothing = (0, "i", {"a": (0.0, 0.0), "b": (0.0, 0.0)})
    tree = compile_game(Written({"x": (0.5, nothing), "y": (0.5, nothing)}))
    solver = CFR(tree, "pcfr+", traversal)
    solver.prediction[:] = 0.5, -0.5
    solver.step()
    assert solver.prediction.tolist() == [0, 0]


# --- convergence ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("traversal", "schedule", "figure"),
    [
        ("chance", "vanilla", 0.015),
        ("pcs", "vanilla", 0.003),
        ("opcs", "vanilla", 0.01),
        ("spcs", "vanilla", 0.01),
        ("external", "vanilla", 0.015),
        ("outcome", "vanilla", 0.05),
        ("chance", "linear", 0.015),
        ("external", "linear", 0.02),
        ("external", "dcfr", 0.02),
        ("spcs", "cfr+", 0.005),
        ("outcome", "linear", 0.05),
    ],
)
def test_kuhn(traversal: str, schedule: str, figure: float) -> None:
    """30,000 iterations; uniform play is exploitable for 11/24 = 0.458."""
    for tree in trees(game_from_spec("kuhn")):
        if traversal in traversals(tree):
            solver = CFR(tree, schedule, traversal, seed=1, tick=10)
            solver.step(30_000)
            low, high = solver.quality().bracket
            assert low - 1e-12 <= -1 / 18 <= high + 1e-12
            assert solver.exploitability() < figure


def test_leduc() -> None:
    """External sampling with linear weights, 100,000 iterations; uniform play is exploitable for 2.37."""
    solver = CFR(compile_game(game_from_spec("leduc")), "linear", "external", seed=1)
    solver.step(100_000)
    assert solver.exploitability() < 0.15
    assert solver.nodes_touched > 100_000


@pytest.mark.slow
@pytest.mark.parametrize("traversal", SAMPLED)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_leduc_slow_traversals(traversal: str, dtype: str) -> None:
    for tree in trees(game_from_spec("leduc")):
        if traversal in traversals(tree):
            solver = CFR(tree, "linear", traversal, seed=1, dtype=dtype)
            solver.step(1_000_000)
            assert solver.exploitability() < (0.3 if traversal == "outcome" else 0.05)


# --- odd shapes -----------------------------------------------------------------------------

UNDEALT = PrivateDeal((np.array([1.0, 0.0, 1.0]), np.array([1.0, 1.0])), frozenset({(0, 0), (0, 1)}))
SHOWDOWN = ComparisonPayoff(((1, 2, 2), (2, 1)), (2.0, -3.0), (0.25, 0.5), (-1.0, 4.0))
FOLD = ConstantPayoff((1.5, -1.0))
KILLS = [(Outcome(f"{c}", 1.0, ((c,), (c,))), (0, {"a": FOLD, "b": ConstantPayoff((0.5, 2.0))})) for c in range(3)]
ODD: dict[str, Game] = {
    "terminal root": WrittenPublic(UNDEALT, SHOWDOWN),
    "hands that are never dealt": WrittenPublic(UNDEALT, (0, {"a": (1, {"a": SHOWDOWN, "b": FOLD}), "b": SHOWDOWN})),
    "outcomes that kill hands": WrittenPublic(PrivateDeal.one_card(3), KILLS),
    "one move": WrittenPublic(UNDEALT, (0, {"a": (1, {"a": SHOWDOWN})})),
    "wide": game_from_spec("clairvoyance:stack=20,chip=0.1"),
    "history, terminal root": Written((1.0, -1.0)),
    "history, impossible outcome": Written(
        {
            "x": (0.0, (0, "i", {"a": (1.0, 0.0), "b": (0.0, 1.0)})),
            "y": (1.0, (0, "i", {"a": (1.0, 0.0), "b": (3.0, 1.0)})),
        }
    ),
}


def check_odd_shape(game: Game) -> None:
    for tree in trees(game):
        for traversal in traversals(tree):
            solver = CFR(tree, "dcfr", traversal, tick=10)
            solver.step(300)
            assert np.isfinite(solver.regret).all()
            for row in (*solver.average().mapping().values(), *solver.current().mapping().values()):
                assert sum(row.values()) == pytest.approx(1, abs=1e-12)
                assert min(row.values()) >= 0


@pytest.mark.parametrize("name", ODD)
def test_odd_shapes(name: str) -> None:
    check_odd_shape(ODD[name])


@pytest.mark.slow
def test_one_player() -> None:
    """Kernels are compiled for each number of players."""
    game = Written({"x": (0.25, (0, "i", {"a": (1.0,), "b": (0.0,)})), "y": (0.75, (2.0,))}, players=1)
    check_odd_shape(game)
    for traversal in ANYWHERE:
        solver = CFR(compile_game(game), "cfr+", traversal)
        solver.step(1000)
        assert solver.quality().best == pytest.approx((1.75,))
        assert solver.current()["i"]["a"] == pytest.approx(1)


# --- names ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("alias", "name"), [("cs", "chance"), ("es", "external"), ("os", "outcome"), ("pcs", "pcs")])
def test_names(alias: str, name: str) -> None:
    assert sampling.parse_traversal(alias) is sampling.parse_traversal(name) is sampling.TRAVERSALS[name]
    assert sampling.parse_traversal(sampling.TRAVERSALS[name]) is sampling.TRAVERSALS[name]


def test_unknown_names() -> None:
    with pytest.raises(InputError, match=r"'externl'.*'external'.*chance, external, full"):
        CFR(compile_game(game_from_spec("kuhn")), traversal="externl")


@pytest.mark.parametrize("traversal", ["pcs", "opcs", "spcs"])
def test_public_traversals_need_a_public_tree(traversal: str) -> None:
    for tree in (compile_game(game_from_spec("rps")), to_history_tree(compile_game(game_from_spec("kuhn")))):
        with pytest.raises(InputError, match=f"{traversal!r}.*full, chance, external or outcome"):
            CFR(tree, traversal=traversal)


# --- three players --------------------------------------------------------------------------


@dataclass(frozen=True)
class ThreePlayerKuhn:
    """Four cards, three players, ante 1: one bet of 1, which the others call or fold to, in turn."""

    name: str = "kuhn3"
    players: int = 3
    unit: str = "chips"

    def root(self) -> _Kuhn3:
        return _Kuhn3()


@dataclass(frozen=True)
class _Kuhn3:
    cards: tuple[int, ...] = ()
    line: str = field(default="")

    @property
    def actor(self) -> int:
        if len(self.cards) < 3:
            return CHANCE
        last = self.line.find("b") + 2 if "b" in self.line else 2  # the last action
        return TERMINAL if len(self.line) > last else len(self.line) % 3

    def actions(self) -> tuple[str, ...]:
        if self.actor == CHANCE:
            return tuple("JQKA"[card] for card in range(4) if card not in self.cards)
        return "p", "b"

    def probabilities(self) -> list[float]:
        return [1 / len(self.actions())] * len(self.actions())

    def child(self, index: int) -> _Kuhn3:
        label = self.actions()[index]
        if self.actor == CHANCE:
            return _Kuhn3((*self.cards, "JQKA".index(label)))
        return _Kuhn3(self.cards, self.line + label)

    def infoset(self) -> str:
        return f"{'JQKA'[self.cards[self.actor]]}:{self.line}"

    def payoffs(self) -> list[float]:
        bets = {k % 3 for k, move in enumerate(self.line) if move == "b"}
        stay = bets or {0, 1, 2}
        winner = max(stay, key=lambda player: self.cards[player])
        paid = [1.0 + (player in bets) for player in range(3)]
        return [sum(paid) * (player == winner) - paid[player] for player in range(3)]


def test_three_players_equal_open_spiel() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    from open_spiel.python.algorithms import exploitability
    from open_spiel.python.policy import UniformRandomPolicy

    tree = compile_game(ThreePlayerKuhn())
    assert tree.infoset_count == 48
    game = pyspiel.load_game("kuhn_poker(players=3)")
    other = exploitability.nash_conv(game, UniformRandomPolicy(game))
    assert best_response.quality(Strategy.uniform(tree)).nash_conv == pytest.approx(other, abs=1e-12)


@pytest.mark.parametrize(
    ("traversal", "schedule", "count"),
    [("full", "dcfr", 500), pytest.param("external", "linear", 30_000, marks=pytest.mark.slow)],
)
def test_three_players_improve(traversal: str, schedule: str, count: int) -> None:
    """No theorem covers three players, yet exploitability in Kuhn poker falls (Risk & Szafron 2010 found the same)."""
    tree = compile_game(ThreePlayerKuhn())
    solver = CFR(tree, schedule, traversal, seed=1)
    before = solver.quality().nash_conv
    solver.step(count)
    middle = solver.quality().nash_conv
    solver.step(3 * count)
    after = solver.quality().nash_conv
    assert before == pytest.approx(best_response.quality(Strategy.uniform(tree)).nash_conv)
    assert after < middle < before / 10
    gains = solver.quality().gains
    assert sum(gains) == pytest.approx(after)
    assert solver.quality().exploitability == pytest.approx(max(gains))
