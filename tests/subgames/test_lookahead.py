"""Depth-limited solving and search on public trees: exact where it must be, bounded elsewhere, and clear about bad input."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from examples.own_game import AKQ
from tests.random_games import random_history_game, random_public_game

import riverboat as rb
from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE, TERMINAL, Array
from riverboat.games.small.toy_games import CoinToss
from riverboat.solvers.exact.lp import solve_lp
from riverboat.solvers.tabular.best_response import best_response, expected_value, hand_values, quality
from riverboat.solvers.tabular.cfr import CFR
from riverboat.solvers.tabular.tree_engine import TreeEngine
from riverboat.strategies.tabular import Strategy
from riverboat.subgames.lookahead.leaf_models import ContinuationModel, LeafEngine, SimultaneousChoices
from riverboat.subgames.lookahead.leaf_values import Continuations, biased, value_table
from riverboat.subgames.lookahead.search import SearchResult, search
from riverboat.subgames.lookahead.solver import solve_limited
from riverboat.subgames.lookahead.subgame_solver import METHODS
from riverboat.subgames.lookahead.trees import DepthLimit, LeafState, PairEvaluator, limited_tree
from riverboat.subgames.resolving import VectorSolver, lp_solver
from riverboat.trees.compile import compile_game
from riverboat.trees.public import PublicTree

SAFE = METHODS[1:]
EXACT = 1e-6
VARIANTS = ["blueprint", "f:5", "c:5", "r:5"]


def tree_of(spec: str) -> PublicTree:
    tree = compile_game(rb.game(spec))
    assert isinstance(tree, PublicTree)
    return tree


@pytest.fixture(scope="module")
def leduc() -> PublicTree:
    return tree_of("leduc")


def roughly(tree: PublicTree) -> Strategy:
    """A strategy after a few iterations."""
    solver = CFR(tree, "dcfr")
    solver.step(20)
    return solver.average()


@pytest.fixture(scope="module")
def rough(leduc: PublicTree) -> Strategy:
    return roughly(leduc)


SMALL = "leduc:ranks=2,cap=1"  # 4 cards, 34 public decisions
GAMES = [SMALL, pytest.param("leduc", marks=pytest.mark.slow)]
LIMITS: list[Any] = [{"depth": 1}, {"depth": 2}, {"rounds": 1}]


def random_base(tree: PublicTree, seed: int) -> Strategy:
    return Strategy.from_sums(tree, np.random.default_rng(seed).random(tree.table_size) ** 2)


def random_trees(count: int) -> list[PublicTree]:
    trees = [PublicTree(random_public_game(seed, depth=3, hands=3)) for seed in range(4 * count)]
    return [tree for tree in trees if (tree.nodes.actor >= 0).sum() > 3][:count]


RANDOM_TREES = random_trees(10)


# --- pieces ---------------------------------------------------------------------------------


@pytest.mark.parametrize("tree", RANDOM_TREES[:4], ids=lambda tree: tree.name)
def test_values_of_pairs_are_expected_payoffs(tree: PublicTree) -> None:
    """At the root, the mean over pairs is the value of the profile; at any node, of the subgame with these hands."""
    one, two = random_base(tree, 1), random_base(tree, 2)
    values = PairEvaluator(tree).values(0, one.probabilities, two.probabilities)
    assert (tree.deal.joint() * values).sum() == pytest.approx(
        expected_value(tree, 0, one.probabilities, two.probabilities)
    )


def test_leaves_of_limits(leduc: PublicTree) -> None:
    lines = [leduc.line(node) for node in DepthLimit(1, None).leaves(leduc, leduc.node("cr"))]
    assert lines == ["crc", "crr"]  # a fold ends the game
    assert all(leduc.nodes.actor[node] == CHANCE for node in DepthLimit(None, 1).leaves(leduc, 0))
    assert DepthLimit(None, 2).leaves(leduc, 0) == DepthLimit().leaves(leduc, 0) == []
    event = leduc.node("cc")
    inside = DepthLimit(1).leaves(leduc, event)  # the event at the root is no action
    assert {leduc.line(node)[-1] for node in inside} == {"c", "r"}
    assert len(inside) == 12


def test_tree_without_limit_is_the_subgame(rough: Strategy, leduc: PublicTree) -> None:
    cut = limited_tree(leduc, 0, [], leduc.deal.weights, [], 1)
    assert np.array_equal(cut.origin, np.arange(leduc.table_size))
    assert quality(Strategy(cut.tree, rough.probabilities)) == quality(rough)


def test_biased_strategies(rough: Strategy) -> None:
    base, more = rough["Ks:cr"], biased(rough, "r", 5.0)["Ks:cr"]
    total = base["f"] + base["c"] + 5 * base["r"]
    assert more == pytest.approx({"f": base["f"] / total, "c": base["c"] / total, "r": 5 * base["r"] / total})
    assert biased(rough, "*", 0.0) == rough


def test_value_table_is_the_value_of_the_strategy(rough: Strategy) -> None:
    first, second = value_table(rough)[""]
    assert first == pytest.approx(hand_values(rough, 0))
    assert second == pytest.approx(hand_values(rough, 1))


def test_vector_solver_is_cfr(leduc: PublicTree) -> None:
    solver = CFR(leduc, "dcfr")
    solver.step(7)
    found = VectorSolver(7, lambda tree: TreeEngine(tree, np.float64))(leduc)
    assert found.probabilities == pytest.approx(solver.average().probabilities)


def test_simultaneous_choices_of_one_player_are_decisions(rough: Strategy, leduc: PublicTree) -> None:
    """If the searching player has one continuation, choices at the same time are those of the explicit tree."""
    leaves = DepthLimit(2).leaves(leduc, 0)
    model = ContinuationModel(rough, 0, Continuations(VARIANTS))
    payoffs = model.payoffs(leaves)
    explicit = limited_tree(leduc, 0, leaves, leduc.deal.weights, payoffs, 1).tree
    value = solve_lp(explicit).value
    plain = [[(np.zeros(leduc.hand_counts),) * 2] for _ in leaves]
    cut = limited_tree(leduc, 0, leaves, leduc.deal.weights, plain, 1)
    values = np.array([[[first for first, _ in row]] for row in payoffs])  # [leaves, 1, continuations, hands, hands]
    engine = LeafEngine(cut.tree, cut.leaves, SimultaneousChoices(values, leduc.deal.joint() > 0))
    strategy = VectorSolver(3000, lambda _: engine)(cut.tree)
    own = np.zeros(explicit.table_size)
    own[:] = Strategy.uniform(explicit).probabilities
    explicit.player_tables(own)[0][:] = cut.tree.player_tables(np.asarray(strategy.probabilities))[0]
    assert -best_response(Strategy(explicit, own), 1)[0] == pytest.approx(value, abs=2e-3)


# --- without a limit: the whole game --------------------------------------------------------


@pytest.mark.parametrize("spec", ["kuhn", "leduc", "coin_toss", "clairvoyance:stack=1,chip=0.5"])
@pytest.mark.parametrize("limit", [{}, {"depth": 50}, {"rounds": 9}])
def test_limit_behind_the_end_is_the_whole_game(spec: str, limit: dict[str, int]) -> None:
    tree = tree_of(spec)
    base, value = Strategy.uniform(tree), solve_lp(tree).value
    for player in (0, 1):
        solution = solve_limited(base, player=player, **limit)
        assert solution.leaves == ()
        assert solution.method == "unsafe"
        assert best_response(solution.strategy, 1 - player)[0] == pytest.approx((-value, value)[player], abs=EXACT)
        assert quality(solution.trunk).value == pytest.approx(value, abs=EXACT)


@pytest.mark.parametrize("method", SAFE)
@pytest.mark.parametrize("spec", ["kuhn", "coin_toss", *GAMES])
def test_search_without_limit_is_an_equilibrium(spec: str, method: str) -> None:
    result = search(Strategy.uniform(tree_of(spec)), method=method)
    assert result.exploitability == pytest.approx(0, abs=EXACT)
    assert result.bound == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize("tree", RANDOM_TREES, ids=lambda tree: tree.name)
def test_search_of_random_games_without_limit(tree: PublicTree) -> None:
    assert search(random_base(tree, 0), method="maxmargin").exploitability == pytest.approx(0, abs=EXACT)


def test_own_game() -> None:
    tree = compile_game(AKQ)
    assert search(Strategy.uniform(tree), depth=1, leaves=Continuations(responses=9)).exploitability < 0.2
    assert search(Strategy.uniform(tree)).exploitability == pytest.approx(0, abs=EXACT)


# --- leaf values ----------------------------------------------------------------------------


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("spec", GAMES)
def test_equilibrium_with_enough_continuations_stays_one(spec: str, limit: dict[str, int]) -> None:
    """One continuation makes the searching player careless; best responses to its solutions repair it."""
    equilibrium = solve_lp(tree_of(spec)).strategy
    enough = search(equilibrium, leaves=Continuations(responses=40), method="maxmargin", **limit)
    assert enough.exploitability == pytest.approx(0, abs=EXACT)
    assert search(equilibrium, method="maxmargin", depth=1).exploitability > 0.1


def last_decision(tree: PublicTree) -> Any:
    """A value function for leaves with one decision left: its player responds best to the other's range."""
    compatible = tree.deal.joint() > 0

    def values(states: Sequence[LeafState], ranges: tuple[Array, Array]) -> tuple[Array, Array]:
        found = [np.zeros(each.shape) for each in ranges]
        for i, leaf in enumerate(states):
            actor = int(tree.nodes.actor[leaf.node])
            other = ranges[1 - actor][i]
            payoffs = []
            for child in tree.children(leaf.node):
                assert tree.nodes.actor[child] == TERMINAL
                uniform = Strategy.uniform(tree).probabilities
                first = PairEvaluator(tree).values(child, uniform, uniform) * compatible
                payoffs.append(first if actor == 0 else -first.T)  # [hands of the actor, hands of the other]
            mine = compatible if actor == 0 else compatible.T
            by_action = np.array([payoff @ other for payoff in payoffs])
            best = by_action.argmax(axis=0)
            weight = mine @ other
            found[actor][i] = np.where(weight > 0, by_action.max(axis=0) / np.where(weight > 0, weight, 1), 0)
            chosen = np.array([payoffs[a][h] for h, a in enumerate(best)])  # [hands of the actor, hands of the other]
            against = ranges[actor][i] @ mine
            found[1 - actor][i] = np.where(
                against > 0, -(ranges[actor][i] @ chosen) / np.where(against > 0, against, 1), 0
            )
        return found[0], found[1]

    return values


@pytest.mark.parametrize("method", ["resolve", "maxmargin"])
@pytest.mark.parametrize(
    ("game", "depth", "reached"), [("kuhn", 2, 5e-3), ("coin_toss", 1, 8e-3), ("clairvoyance:stack=1,chip=1", 1, 2e-3)]
)
def test_exact_value_function(game: str, depth: int, reached: float, method: str) -> None:
    """With exact values of the leaves continual re-solving converges to an equilibrium, from nothing."""
    tree = tree_of(game)
    uniform = Strategy.uniform(tree)
    result = search(uniform, depth=depth, leaves=last_decision(tree), method=method, solver=400)
    assert result.exploitability < reached
    assert result.base_exploitability > 10 * reached
    assert result.iterations == 400 * result.subgames


def test_function_that_reads_a_table_is_the_table(rough: Strategy) -> None:
    table = value_table(rough)

    def values(states: Sequence[LeafState], ranges: tuple[Array, Array]) -> tuple[Any, Any]:
        assert all(part.sum(axis=1) == pytest.approx(1.0) for part in ranges)
        return [table[leaf.line][0] for leaf in states], [table[leaf.line][1] for leaf in states]

    for method in ("resolve", "maxmargin"):
        by_table = solve_limited(rough, "cr", player=0, depth=1, leaves=table, method=method, solver=30)
        by_function = solve_limited(rough, "cr", player=0, depth=1, leaves=values, method=method, solver=30)
        assert by_function.strategy.probabilities == pytest.approx(by_table.strategy.probabilities)
        assert by_function.values == pytest.approx(by_table.values)
    rough = roughly(tree_of(SMALL))
    table = value_table(rough)
    whole = search(rough, depth=2, leaves=table, solver=20)
    assert whole.strategy.probabilities == pytest.approx(
        search(rough, depth=2, leaves=values, solver=20).strategy.probabilities
    )


def test_one_array_of_both_players(rough: Strategy) -> None:
    table = value_table(rough)

    def values(states: Sequence[LeafState], ranges: tuple[Array, Array]) -> Any:
        return np.array([[table[leaf.line][player] for leaf in states] for player in (0, 1)])

    by_array = solve_limited(rough, "cr", player=0, depth=1, leaves=values, solver=10)
    by_table = solve_limited(rough, "cr", player=0, depth=1, leaves=table, solver=10)
    assert by_array.strategy.probabilities == pytest.approx(by_table.strategy.probabilities)


def test_choices_of_both_players() -> None:
    """Equal continuations are one; with variants the searching player is optimistic, and the solution another one."""
    rough = random_base(tree_of(SMALL), 3)
    one = search(rough, rounds=1, leaves=Continuations(["blueprint"]), solver=50)
    same = search(rough, rounds=1, leaves=Continuations(["blueprint"] * 3, both=True), solver=50)
    assert same.exploitability == pytest.approx(one.exploitability)
    both = search(rough, rounds=1, leaves=Continuations(VARIANTS, both=True), solver=50)
    assert both.exploitability != pytest.approx(one.exploitability, abs=1e-3)


# --- exploitability -------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("roots", ["carried", "blueprint"])
@pytest.mark.parametrize("spec", GAMES)
def test_searches_add_no_more_than_reported(spec: str, method: str, roots: str) -> None:
    leaves = Continuations(VARIANTS)
    result = search(roughly(tree_of(spec)), depth=2, leaves=leaves, method=method, roots=roots)
    assert result.exploitability <= result.bound + 1e-9
    for player in (0, 1):
        risen = result.quality.best[1 - player] - result.base_quality.best[1 - player]
        assert risen <= result.rise[player] + 1e-9


@pytest.mark.parametrize("method", SAFE)
@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("spec", GAMES)
def test_safe_methods_with_enough_continuations(spec: str, method: str, limit: dict[str, int]) -> None:
    """Then no search adds anything, and the exploitability does not rise."""
    result = search(roughly(tree_of(spec)), leaves=Continuations(responses=60), method=method, **limit)
    assert max(result.rise) <= EXACT
    assert result.exploitability <= result.base_exploitability + EXACT


@pytest.mark.parametrize("method", SAFE)
@pytest.mark.parametrize("tree", RANDOM_TREES, ids=lambda tree: tree.name)
def test_safe_methods_on_random_games(tree: PublicTree, method: str) -> None:
    base = random_base(tree, 5)
    plain = search(base, depth=1, method=method)
    assert plain.exploitability <= plain.bound + 1e-9
    enough = search(base, depth=1, leaves=Continuations(responses=60), method=method)
    assert max(enough.rise) <= EXACT
    assert enough.exploitability <= plain.base_exploitability + EXACT


def test_exploitability_is_that_of_all_pure_responses() -> None:
    """Kuhn: all 64 pure strategies of each player, evaluated one by one."""
    tree = tree_of("kuhn")
    result = search(random_base(tree, 3), depth=1, method="resolve")
    profile = dict(result.strategy.items())
    best = []
    for player in (0, 1):
        names = [infoset.name for infoset in tree.infosets() if infoset.player == player]
        values = []
        for choice in product((0, 1), repeat=len(names)):
            pure = {
                name: dict(zip(tree.infoset(name).actions, np.eye(2)[k], strict=True))
                for name, k in zip(names, choice, strict=True)
            }
            values.append((1 - 2 * player) * play_kuhn({**profile, **pure}))
        best.append(max(values))
    assert len(values) == 64
    assert result.quality.best == pytest.approx(best)


def play_kuhn(profile: dict[str, dict[str, float]]) -> float:
    """Player 0's value of a profile of Kuhn poker, written from the rules."""
    total = 0.0
    for first, second in ((a, b) for a in "JQK" for b in "JQK" if a != b):
        sign = 1 if "JQK".index(first) > "JQK".index(second) else -1
        check, bet = profile[f"{first}:"]["c"], profile[f"{first}:"]["r"]
        after_check, after_bet = profile[f"{second}:c"], profile[f"{second}:r"]
        last = profile[f"{first}:cr"]
        total += bet * (after_bet["f"] + 2 * sign * after_bet["c"])
        total += check * (after_check["c"] * sign + after_check["r"] * (2 * sign * last["c"] - last["f"]))
    return total / 6


@pytest.mark.parametrize("spec", GAMES)
def test_unsafe_search_is_exploitable(spec: str) -> None:
    """Known failure: the ranges of an equilibrium do not make it one again, whatever the depth."""
    equilibrium = solve_lp(tree_of(spec)).strategy
    assert search(equilibrium, method="unsafe").exploitability > 0.1
    assert search(equilibrium, method="resolve").exploitability == pytest.approx(0, abs=EXACT)


def test_search_is_deterministic() -> None:
    rough = roughly(tree_of(SMALL))

    def once() -> SearchResult:
        return search(rough, rounds=1, leaves=Continuations(VARIANTS, both=True), solver=20)

    one, two = once(), once()
    assert np.array_equal(one.strategy.probabilities, two.strategy.probabilities)
    assert one.rise == two.rise
    assert one.subgames == two.subgames


def test_one_player_searches(rough: Strategy, leduc: PublicTree) -> None:
    reports: list[tuple[int, int]] = []
    result = search(rough, depth=1, players=(1,), solver=20, progress=lambda *each: reports.append(each))
    assert reports == [(k + 1, len(reports)) for k in range(len(reports))]
    assert len(reports) == result.subgames
    rows, base = (leduc.player_tables(np.asarray(each.probabilities)) for each in (result.strategy, rough))
    assert np.array_equal(rows[0], base[0])
    assert not np.array_equal(rows[1], base[1])
    assert result.rise[0] == 0.0
    assert "subgames" in result._repr_html_()


# --- Coin Toss and rock-paper-scissors+ -----------------------------------------------------

MOVES = ("rock", "paper", "scissors")
COIN_TOSS_BASE = {
    "heads:": {"left": 0.25, "right": 0.75},
    "tails:": {"left": 0.5, "right": 0.5},
    "guesser:right": {"heads": 0.5, "tails": 0.25, "forfeit": 0.25},
}


def test_rock_paper_scissors_plus() -> None:
    """Brown, Sandholm & Amos 2018, figure 1: with one leaf value every strategy looks best, with three only one."""
    tree = compile_game(rb.matrix([[0, -1, 2], [1, 0, -2], [-2, 2, 0]], MOVES, MOVES, "rps+"))
    exact = solve_lp(tree).strategy
    wanted = {"rock": 0.4, "paper": 0.4, "scissors": 0.2}
    assert exact["player 0"] == pytest.approx(wanted)
    pure = [Strategy.from_mapping(tree, {"player 1": {move: 1.0}}) for move in MOVES]
    one = solve_limited(exact, player=0, depth=1)
    assert best_response(one.strategy, 1)[0] > 0.3  # the linear program may return any strategy
    for solver, error in ((lp_solver, 1e-9), (2000, 2e-3)):
        many = solve_limited(exact, player=0, depth=1, leaves=Continuations(pure), solver=solver)
        assert many.leaves == MOVES
        assert many.strategy["player 0"] == pytest.approx(wanted, abs=error)
        assert many.values["start"] == pytest.approx(0, abs=error)


def test_coin_toss() -> None:
    tree = compile_game(CoinToss())
    base = Strategy.from_mapping(tree, COIN_TOSS_BASE)
    guesses = Continuations(["heads:1e9", "tails:1e9", "forfeit:1e9"])
    assert quality(search(base, method="unsafe", roots="blueprint", players=(1,)).strategy).best[0] == pytest.approx(
        0.75
    )
    assert best_response(solve_limited(base, player=0, depth=1).strategy, 1)[0] == pytest.approx(0.25)
    assert best_response(solve_limited(base, player=0, depth=1, leaves=guesses).strategy, 1)[0] == pytest.approx(
        0, abs=1e-9
    )


@pytest.mark.parametrize("seed", range(6))
def test_history_games_without_limit(seed: int) -> None:
    tree = compile_game(random_history_game(seed, depth=4))
    value = solve_lp(tree).value
    found = solve_limited(Strategy.uniform(tree), player=1)
    assert best_response(found.strategy, 0)[0] == pytest.approx(value, abs=EXACT)


def test_histories_that_the_opponent_cannot_tell_apart_have_one_choice() -> None:
    tree = compile_game(rb.matrix([[0, -1, 2], [1, 0, -2], [-2, 2, 0]], MOVES, MOVES))
    solution = solve_limited(Strategy.uniform(tree), player=0, depth=1, leaves=Continuations(["blueprint", "rock:9"]))
    assert [name for name in solution.trunk if name.startswith("leaf")] == ["leaf 0"]


# --- bad input ------------------------------------------------------------------------------


def wrong_shape(states: Sequence[LeafState], ranges: Any) -> Any:
    return np.zeros((len(states), 5)), np.zeros((len(states), 6))


def not_finite(states: Sequence[LeafState], ranges: Any) -> Any:
    return np.zeros((len(states), 6)), np.full((len(states), 6), np.nan)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"depth": 0}, "depth"),
        ({"rounds": -1}, "rounds"),
        ({"depth": 1.5}, "depth"),
        ({"method": "none"}, "method"),
        ({"roots": "none"}, "roots"),
        ({"players": (2,)}, "players"),
        ({"solver": 0}, "solver"),
        ({"leaves": 3}, "leaves=3"),
        ({"leaves": wrong_shape, "solver": 5, "depth": 1}, r"shape \(\d+, 5\) for player 0: must be \(\d+, 6\)"),
        ({"leaves": not_finite, "solver": 5, "depth": 1}, "nan: must be finite"),
        ({"leaves": lambda states, ranges: None, "solver": 5, "depth": 1}, "must be a pair"),
        ({"leaves": lambda states, ranges: ("a", "b"), "solver": 5, "depth": 1}, "must be numbers"),
        ({"leaves": wrong_shape}, "linear programs"),
        ({"leaves": {}, "solver": 5, "depth": 1}, "no values at"),
        ({"leaves": {}}, "number of iterations"),
        ({"leaves": wrong_shape, "solver": 5, "method": "reach_maxmargin"}, "gifts"),
        ({"leaves": Continuations(both=True)}, "linear programs"),
        ({"leaves": Continuations(["x*:2"])}, "no such action: c, f, r"),
    ],
)
def test_invalid_options(rough: Strategy, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        search(rough, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strategies": []}, "give a list"),
        ({"strategies": "blueprint"}, "give a list"),
        ({"strategies": [3]}, "must be 'blueprint'"),
        ({"strategies": ["r"]}, "must be 'blueprint'"),
        ({"strategies": ["r:-1"]}, "must be 'blueprint'"),
        ({"strategies": ["r:nan"]}, "must be 'blueprint'"),
        ({"responses": -1}, "responses"),
        ({"responses": 1, "both": True}, "both=False"),
    ],
)
def test_invalid_continuations(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Continuations(**options)


def test_unsuitable_games(rough: Strategy) -> None:
    matrix = Strategy.uniform(compile_game(rb.matrix([[1, 0], [0, 1]])))
    with pytest.raises(InputError, match="public game of two players"):
        search(matrix)
    with pytest.raises(InputError, match="from its root only"):
        solve_limited(matrix, player=0, rounds=1)
    with pytest.raises(InputError, match="not zero-sum"):
        solve_limited(matrix_of_both(), player=0, depth=1)
    with pytest.raises(InputError, match="not zero-sum"):
        search(Strategy.uniform(PublicTree(random_public_game(3, zero_sum=False))))
    with pytest.raises(InputError, match="3 players"):
        solve_limited(Strategy.uniform(compile_game(rb.game("kuhn:players=3"))), player=0, depth=1)
    with pytest.raises(InputError, match="strategy of a compiled game"):
        search("leduc")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="another game"):
        search(rough, leaves=Continuations([Strategy.uniform(tree_of("kuhn"))]))
    with pytest.raises(InputError, match="is over"):
        solve_limited(rough, "rf", player=0)
    never = Strategy.from_mapping(tree_of("kuhn"), {f"{hand}:": {"c": 1.0} for hand in "JQK"})
    with pytest.raises(InputError, match="never reaches 'r'"):
        solve_limited(never, "r", player=0)


def matrix_of_both() -> Strategy:
    return Strategy.uniform(compile_game(rb.matrix([[[1, 0], [0, 1]], [[1, 0], [0, 1]]])))


def test_information_sets_on_both_sides_of_a_limit() -> None:
    wrong = 0
    for seed in range(20):
        tree = compile_game(random_history_game(seed, depth=4, hidden=1.0))
        try:
            solve_limited(Strategy.uniform(tree), player=0, depth=2)
        except InputError as error:
            wrong += "before and behind the limit" in str(error)
    assert wrong > 0
