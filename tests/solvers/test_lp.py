"""Linear programs: known values, certificates, and undominated equilibria."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import riverboat as rb
from random_games import Forgetful, history_games, public_games, swap_players
from riverboat.core.errors import InputError, RecallError, RiverboatError, ZeroSumError
from riverboat.games.base import Array, PublicGame
from riverboat.games.registry import game_from_spec
from riverboat.games.small.normal_form import NormalForm, matrix
from riverboat.solvers.exact import lp
from riverboat.solvers.exact.lp import quasi_perfect, solve_lp, undominated
from riverboat.solvers.exact.sequence_form import SequenceForm
from riverboat.strategies.tabular import Strategy
from riverboat.trees.compile import compile_game, to_history_tree
from riverboat.trees.history import HistoryTree

LEDUC_OPEN_SPIEL = -0.08560642418  # from the tests of OpenSpiel's sequence_form_lp

GOLDEN = [
    ("rps", 0.0),
    ("rpst", 0.0),
    ("coin_toss", 0.0),
    ("kuhn", -1 / 18),
    ("kuhn:cards=3,suits=2", -19 / 465),
    ("leduc", -0.085606424078),
    *((f"clairvoyance:stack={n},chip=0.5", n / (2 * (n + 1))) for n in (1, 2, 5)),
]

small_matrices = st.integers(1, 4).flatmap(
    lambda m: st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(st.integers(-2, 2).map(float), min_size=n, max_size=n), min_size=m, max_size=m).map(
            np.array
        )
    )
)


@pytest.mark.parametrize(("spec", "value"), GOLDEN)
def test_known_values(spec: str, value: float) -> None:
    tree = compile_game(game_from_spec(spec))
    for solution in (solve_lp(tree), undominated(tree)):
        assert solution.value == pytest.approx(value, abs=1e-9)
        low, high = solution.bracket
        assert low - 1e-12 <= solution.value <= high + 1e-12
        assert abs(solution.gap) < 1e-9
        assert solution.strategy.tree is tree


def test_leduc_equals_open_spiel() -> None:
    assert solve_lp(compile_game(game_from_spec("leduc"))).value == pytest.approx(LEDUC_OPEN_SPIEL, abs=1e-9)


@pytest.mark.slow
def test_bluff_with_one_die_each() -> None:
    assert solve_lp(compile_game(game_from_spec("bluff:1,1"))).value == pytest.approx(-7 / 258, abs=1e-9)


def test_kuhn_strategy() -> None:
    strategy = solve_lp(compile_game(game_from_spec("kuhn"))).strategy
    alpha = strategy["J:"]["r"]
    assert -1e-12 <= alpha <= 1 / 3 + 1e-12
    assert strategy["K:"]["r"] == pytest.approx(3 * alpha)
    assert strategy["Q:"]["r"] == pytest.approx(0)
    assert strategy["Q:cr"]["c"] == pytest.approx(alpha + 1 / 3)
    assert strategy["Q:r"]["c"] == pytest.approx(1 / 3)
    assert strategy["J:c"]["r"] == pytest.approx(1 / 3)
    assert strategy["K:r"]["c"] == pytest.approx(1)


def test_a_public_tree_and_its_histories_agree() -> None:
    tree = compile_game(game_from_spec("leduc:ranks=4,suits=1"))
    assert solve_lp(tree).value == pytest.approx(solve_lp(to_history_tree(tree)).value, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(table=st.tuples(*[st.integers(-40, 40).map(lambda k: k / 4)] * 4))
def test_two_by_two(table: tuple[float, float, float, float]) -> None:
    a, b, c, d = table
    low, high = max(min(a, b), min(c, d)), min(max(a, c), max(b, d))
    value = low if low >= high else (a * d - b * c) / (a + d - b - c)
    assert solve_lp(compile_game(matrix([[a, b], [c, d]]))).value == pytest.approx(value, abs=1e-8)


def reference_value(table: Array) -> float:
    """The value of a matrix game by SciPy: maximize v with x'A >= v."""
    m, n = table.shape
    result = linprog(
        [0.0] * m + [-1.0],
        A_ub=np.hstack([-table.T, np.ones((n, 1))]),
        b_ub=np.zeros(n),
        A_eq=[[1.0] * m + [0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * m + [(None, None)],
    )
    return -float(result.fun)


@settings(max_examples=40, deadline=None)
@given(table=small_matrices)
def test_matrix_games(table: Array) -> None:
    solution = solve_lp(compile_game(matrix(table)))
    assert solution.value == pytest.approx(reference_value(table), abs=1e-7)
    assert solution.gap < 1e-9
    assert solve_lp(compile_game(matrix(-table.T))).value == pytest.approx(-solution.value, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(game=st.one_of(history_games(), public_games()))
def test_random_games(game) -> None:
    tree = compile_game(game)
    solution, refined = solve_lp(tree), undominated(tree)
    assert -1e-12 <= solution.gap < 1e-7
    assert -1e-12 <= refined.gap < 1e-7
    assert refined.value == pytest.approx(solution.value, abs=1e-7)
    # Both refined strategies do at least as well against uniform play as the first solutions.
    form = SequenceForm(tree)
    x0, y0 = form.plans(Strategy.uniform(tree))
    assert form.value(refined.plans[0], y0) >= form.value(solution.plans[0], y0) - 1e-7
    assert form.value(x0, refined.plans[1]) <= form.value(x0, solution.plans[1]) + 1e-7
    if not isinstance(game, PublicGame):
        swapped = solve_lp(HistoryTree.from_game(swap_players(game)))
        assert swapped.value == pytest.approx(-solution.value, abs=1e-7)


# --- undominated ----------------------------------------------------------------------------


def improvement(table: Array, row: Array) -> float:
    """The most that a mixed row can gain over all columns together without losing in any."""
    m, n = table.shape
    result = linprog(
        np.concatenate([np.zeros(m), -np.ones(n)]),
        A_ub=np.hstack([-table.T, np.eye(n)]),
        b_ub=-(row @ table) + 1e-9,
        A_eq=[[1.0] * m + [0.0] * n],
        b_eq=[1.0],
    )
    return -float(result.fun)


@settings(max_examples=60, deadline=None)
@given(table=small_matrices)
def test_undominated_in_matrix_games(table: Array) -> None:
    solution = undominated(compile_game(matrix(table)))
    x, y = (plan[1:] for plan in solution.plans)
    assert improvement(table, x) < 1e-6
    assert improvement(-table.T, y) < 1e-6


def test_dominated_actions_are_not_played() -> None:
    # Column c1 limits every row to 0, so every row is optimal; r3 is the best row otherwise.
    tree = compile_game(matrix([[0, 0, 1], [0, 1, 0], [0, 2, 2]]))
    strategy = undominated(tree).strategy
    assert strategy["player 0"]["r3"] == pytest.approx(1)
    assert strategy["player 1"]["c1"] == pytest.approx(1)


def test_forfeit_is_not_played() -> None:
    strategy = undominated(compile_game(game_from_spec("coin_toss"))).strategy
    assert strategy["guesser:right"]["forfeit"] == pytest.approx(0, abs=1e-12)
    assert strategy["guesser:right"]["heads"] == pytest.approx(1 / 4)


def test_quasi_perfect_players_expect_errors() -> None:
    """Dominated actions are not played, nor actions that pay only before the opponent has erred."""
    tree = compile_game(matrix([[0, 0, 1], [0, 1, 0], [0, 2, 2]]))
    strategy = quasi_perfect(tree).strategy
    assert strategy["player 0"]["r3"] == pytest.approx(1)
    assert strategy["player 1"]["c1"] == pytest.approx(1)
    forfeit = quasi_perfect(compile_game(game_from_spec("coin_toss"))).strategy["guesser:right"]
    assert forfeit["forfeit"] == 0.0


@pytest.mark.parametrize(
    ("game", "value"), [("kuhn", -1 / 18), pytest.param("leduc", -0.085606424078, marks=pytest.mark.slow)]
)
def test_quasi_perfect_strategies_are_nearly_equilibria(game: str, value: float) -> None:
    coarse, fine = (quasi_perfect(compile_game(game_from_spec(game)), tremble) for tremble in (1e-2, 1e-3))
    assert fine.gap < 0.5 * coarse.gap < 0.05
    assert fine.bracket[0] - 1e-9 <= value <= fine.bracket[1] + 1e-9


def test_against_chooses_among_the_optimal() -> None:
    # Both rows guarantee 0; which is better depends on the opponent.
    tree = compile_game(matrix([[0, 2, 1], [0, 1, 3]]))
    for column, row in (("c2", "r1"), ("c3", "r2")):
        opponent = Strategy.from_mapping(tree, {"player 1": {column: 1.0}})
        assert undominated(tree, against=opponent).strategy["player 0"][row] == pytest.approx(1)


def test_tremble_must_be_a_probability() -> None:
    tree = compile_game(game_from_spec("rps"))
    with pytest.raises(InputError, match="tremble=0"):
        undominated(tree, tremble=0.0)
    with pytest.raises(InputError, match=r"rps.*kuhn"):
        undominated(tree, against=Strategy.uniform(compile_game(game_from_spec("kuhn"))))


# --- invalid input -------------------------------------------------------------------------------


def test_general_sum_is_rejected() -> None:
    tree = compile_game(matrix([[[3, 0], [5, 1]], [[3, 5], [0, 1]]], name="dilemma"))
    for method in (solve_lp, undominated):
        with pytest.raises(ZeroSumError, match=r"dilemma.* 3 and 3, .* 0 and 5"):
            method(tree)


def test_three_players_are_rejected() -> None:
    with pytest.raises(InputError, match="3 players"):
        solve_lp(compile_game(NormalForm(np.zeros((2, 2, 2, 3)), (("a", "b"),) * 3)))


def test_imperfect_recall_is_rejected() -> None:
    with pytest.raises(RecallError, match=r"forgetful.*player 0"):
        solve_lp(compile_game(Forgetful()))


def test_large_trees_are_rejected() -> None:
    with pytest.raises(InputError, match="sequence form"):
        solve_lp(compile_game(game_from_spec("kuhn:cards=1000,stack=8")))


def test_failed_program_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    import highspy

    monkeypatch.setattr(highspy.Highs, "run", lambda self: None)
    with pytest.raises(RiverboatError, match=r"rps.*'Not Set'"):
        solve_lp(compile_game(game_from_spec("rps")))


def test_without_highs_only_linear_programs_fail(monkeypatch):
    monkeypatch.setattr(lp, "highspy", None)
    with pytest.raises(InputError, match=r"kuhn.*pip install highspy"):
        rb.solve("kuhn", method="lp")
    assert rb.solve("kuhn", iterations=10).exploitability < 0.2


def test_nothing_else_imports_highs():
    """Servers may lack it: engine, matches and bench must work without it."""
    blocked = "import sys; sys.modules.update(highspy=None, platformdirs=None, ray=None)"
    loaded = "import riverboat.benchmarks.suite, riverboat.cli.matches.match, riverboat.solvers.boards.batches"
    ended = subprocess.run([sys.executable, "-c", f"{blocked}; {loaded}"], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
