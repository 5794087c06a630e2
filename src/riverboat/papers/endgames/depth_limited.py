"""Depth-limited search on small games (Brown, Sandholm & Amos 2018): known failures, repairs, and exact exploitability."""

from __future__ import annotations

from collections.abc import Sequence

from riverboat.games.registry import game_from_spec
from riverboat.games.small.normal_form import matrix
from riverboat.games.small.toy_games import CoinToss
from riverboat.papers.endgames.small_games import COIN_TOSS_BASE, LP_TOLERANCE, TITLES
from riverboat.papers.framework import Curve, ExperimentReport, format_notes, load_figures
from riverboat.papers.rows import ComparisonRow, new_row, printed_row, theorem_row
from riverboat.solvers.exact.lp import solve_lp
from riverboat.solvers.tabular.best_response import best_response, quality
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.tabular import Strategy
from riverboat.subgames.lookahead.leaf_values import Continuations, Leaves, value_table
from riverboat.subgames.lookahead.search import search
from riverboat.subgames.lookahead.solver import solve_limited
from riverboat.subgames.lookahead.subgame_solver import METHODS
from riverboat.subgames.resolving import GadgetSolver, lp_solver
from riverboat.trees.compile import compile_game

MOVES = ("rock", "paper", "scissors")
RPS_PLUS = [[0, -1, 2], [1, 0, -2], [-2, 2, 0]]
LIMITS = {"1 action": (1, None), "2 actions": (2, None), "1 round": (None, 1), "no limit": (None, None)}
LEAF_LIMITS = tuple(LIMITS)[:3]
LEDUC_VARIANTS = ("blueprint", "f:5", "c:5", "r:5")
LEDUC_ITERATIONS = 20  # of DCFR, for the blueprint
BLUFF, FLOP_HOLDEM = "bluff:1,1", "holdem:2-1,ranks=4,suits=2"
LARGER_GAMES = {BLUFF: (30, ("blueprint", "uniform", "bluff:5")), FLOP_HOLDEM: (10, LEDUC_VARIANTS)}
LARGER_GAMES_SOLVER = 100
SOLVER_ITERATIONS = (10, 100, 1000)
MAX_RESPONSES = 40


def rock_paper_scissors_rows() -> list[ComparisonRow]:
    """Solve rock-paper-scissors+ down to player 0's action, with one and with three values of its leaves."""
    tree = compile_game(matrix(RPS_PLUS, MOVES, MOVES, "rps+"))
    exact, printed = solve_lp(tree).strategy, load_figures("depth-limited-small", "printed")
    pure = Continuations([Strategy.from_mapping(tree, {"player 1": {move: 1.0}}) for move in MOVES])
    one, three = solve_limited(exact, player=0, depth=1), solve_limited(exact, player=0, depth=1, leaves=pure)
    rows = []
    for title, strategy in (("equilibrium", exact), ("three continuations", three.strategy)):
        rows += [printed_row(f"RPS+, {title}: {m}", printed[m], strategy["player 0"][m]) for m in MOVES]
    rows.append(new_row("RPS+, one continuation: best response to it", best_response(one.strategy, 1)[0]))
    rows.append(new_row("RPS+, three continuations: best response to it", best_response(three.strategy, 1)[0]))
    return rows


def coin_toss_rows() -> list[ComparisonRow]:
    """Search Coin Toss from the paper's base strategy."""
    base = Strategy.from_mapping(compile_game(CoinToss()), COIN_TOSS_BASE)
    guesses = Continuations(["heads:1e9", "tails:1e9", "forfeit:1e9"])
    unsafe = search(base, method="unsafe", roots="blueprint", players=(1,))
    rows = [
        new_row("Coin Toss, base: best response of player 0", quality(base).best[0]),
        new_row("Coin Toss, player 1 searches, unsafe: best response of player 0", unsafe.quality.best[0]),
    ]
    for title, leaves in (("one continuation", Continuations()), ("three continuations", guesses)):
        solution = solve_limited(base, player=0, depth=1, leaves=leaves)
        conceded = best_response(solution.strategy, 1)[0]
        rows.append(new_row(f"Coin Toss, player 0 searches, {title}: best response of player 1", conceded))
    for method in METHODS[1:]:
        result = search(base, method=method)
        rows.append(
            theorem_row(
                f"Coin Toss, both search, no limit, {method}", 0.0, result.exploitability, rounding=LP_TOLERANCE
            )
        )
    return rows


def blueprint(spec: str, iterations: int) -> Strategy:
    """Return the average strategy after some iterations of DCFR."""
    solver = CFR(compile_game(game_from_spec(spec)), "dcfr")
    solver.step(iterations)
    return solver.average()


def search_rows(
    name: str,
    base: Strategy,
    method: str,
    leaves: dict[str, Leaves],
    solver: GadgetSolver | int,
    limits: Sequence[str] = tuple(LIMITS),
    roots: str = "carried",
) -> list[ComparisonRow]:
    """Measure the agent that searches everywhere, by limit and leaf values, against its bound."""
    rows = []
    for limit in limits:
        depth, rounds = LIMITS[limit]
        for title, each in leaves.items() if limit != "no limit" else [("", Continuations())]:
            result = search(base, depth=depth, rounds=rounds, leaves=each, method=method, roots=roots, solver=solver)
            above = result.exploitability > result.base_exploitability + LP_TOLERANCE
            where = ", ".join(filter(None, [name, TITLES[method], limit, title]))
            note = "above the blueprint" if above else ""
            rows.append(theorem_row(where, result.bound, result.exploitability, "<=", rounding=LP_TOLERANCE, note=note))
    return rows


def leduc_rows(spec: str) -> tuple[list[ComparisonRow], list[Curve]]:
    """Search Leduc from a rough blueprint and from an equilibrium."""
    base = blueprint(spec, LEDUC_ITERATIONS)
    exact = solve_lp(base.tree).strategy
    one: dict[str, Leaves] = {"1 continuation": Continuations()}
    four: dict[str, Leaves] = {f"{len(LEDUC_VARIANTS)} continuations": Continuations(LEDUC_VARIANTS)}
    both: dict[str, Leaves] = {"4 continuations of both players": Continuations(LEDUC_VARIANTS, both=True)}
    table: dict[str, Leaves] = {"table of the blueprint": value_table(base)}
    responses: dict[str, Leaves] = {"best responses": Continuations(responses=MAX_RESPONSES)}
    rows = [new_row(f"{spec}, blueprint", quality(base).exploitability)]
    curves: list[Curve] = []
    for method in METHODS:
        found = search_rows(spec, base, method, one | four, lp_solver)
        curves.append(Curve(f"{spec}, {TITLES[method]}", range(len(found)), [row.ours for row in found]))
        rows += found
    equilibrium = f"{spec}, equilibrium"
    rows += search_rows(spec, base, "maxmargin", responses, lp_solver, LEAF_LIMITS)
    rows += search_rows(equilibrium, exact, "maxmargin", one | four | responses, lp_solver, LEAF_LIMITS)
    rows += search_rows(spec, base, "resolve", both | table, SOLVER_ITERATIONS[1], ["2 actions"])
    for count in SOLVER_ITERATIONS:
        rows += search_rows(f"{spec}, {count} iterations", base, "resolve", four, count, ["2 actions", "no limit"])
    for method in METHODS:
        name = f"{spec}, roots from the blueprint"
        rows += search_rows(name, base, method, four, lp_solver, ["2 actions"], roots="blueprint")
    return rows, curves


def larger_game_rows(spec: str, methods: Sequence[str], limits: Sequence[str]) -> list[ComparisonRow]:
    """Search Bluff (liar's dice), or hold'em of two rounds on a small deck, from a rough blueprint by iterations."""
    base = blueprint(spec, LARGER_GAMES[spec][0])
    names = LARGER_GAMES[spec][1]
    leaves: dict[str, Leaves] = {
        "1 continuation": Continuations(), f"{len(names)} continuations": Continuations(names)
    }  # fmt: skip
    rows = [new_row(f"{spec}, blueprint", quality(base).exploitability)]
    for method in methods:
        rows += search_rows(spec, base, method, leaves, LARGER_GAMES_SOLVER, limits)
    return rows


def run_depth_limited(full: bool, seed: int) -> ExperimentReport:
    """Search small games at every decision; with `full`, more of Bluff and hold'em, and larger Leduc."""
    rows, curves = leduc_rows("leduc")
    rows = rock_paper_scissors_rows() + coin_toss_rows() + rows
    methods = METHODS if full else ["resolve"]
    rows += larger_game_rows(BLUFF, methods, ["1 action", "2 actions", "no limit"])
    rows += larger_game_rows(FLOP_HOLDEM, methods, ["1 round", "no limit"])
    if full:
        more, more_curves = leduc_rows("leduc:ranks=4,suits=2")
        rows, curves = rows + more, curves + more_curves
    bluff, holdem = LARGER_GAMES[BLUFF][0], LARGER_GAMES[FLOP_HOLDEM][0]
    iterations = LARGER_GAMES_SOLVER
    notes = format_notes("depth-limited-small", leduc=LEDUC_ITERATIONS, bluff=bluff, holdem=holdem, solver=iterations)
    return ExperimentReport(rows, notes, curves)
