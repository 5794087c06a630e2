"""Three players: a river with continuous signals by CFR+ on steps, and Kuhn poker by mixed integer programs."""

from __future__ import annotations

from riverboat.continuous.examples import three_way
from riverboat.continuous.solver import solve
from riverboat.games.registry import game_from_spec
from riverboat.papers.framework import ExperimentReport
from riverboat.papers.rows import ComparisonRow, new_row, theorem_row
from riverboat.solvers.exact.mip import solve_mip
from riverboat.solvers.tabular.best_response import quality
from riverboat.solvers.tabular.cfr import CFR
from riverboat.trees.compile import compile_game, to_history_tree

POTS = (1.0, 3.0, 6.0)


def three_way_river_rows() -> tuple[list[ComparisonRow], list[str]]:
    """Solve half streets with uniform signals: player 0 checks or bets, then players 1 and 2 call or fold."""
    rows: list[ComparisonRow] = []
    notes = []
    for pot in POTS:
        game = three_way(pot=pot)
        best = solve(game)[0]
        assert best.profile is not None
        assert best.certificate is not None
        name = f"three-way river, pot {pot:g}"
        rows.append(theorem_row(f"{name}: certified epsilon, share of the pot", 0.0, best.epsilon_share))
        rows += [new_row(f"{name}: value to player {n}", value) for n, value in enumerate(best.certificate.values)]
        words = "; ".join(f"{name}: {bands}" for name, bands in best.model.band_words(game).items())
        notes.append(f"pot {pot:g}: {words}; thresholds {', '.join(f'{c:.6g}' for c in best.profile.cuts)}")
    return rows, notes


def kuhn_rows(rounds: int) -> list[ComparisonRow]:
    """Solve Kuhn poker by programs in boxes around a rough solution of CFR+, and by programs alone."""
    tree = to_history_tree(compile_game(game_from_spec("kuhn:players=3")))
    solver = CFR(tree, "cfr+")
    solver.step(200)
    rough = quality(solver.average())
    solution = solve_mip(tree, around=solver.average(), width=0.2)
    first, second, third = solution.values
    seconds = solution.steps[-1].seconds
    rows = [
        new_row("three-player Kuhn, CFR+, 200 iterations: epsilon", rough.exploitability),
        theorem_row("three-player Kuhn, MIP around it: epsilon", 0.0, solution.epsilon, note=f"{seconds:.2g} s"),
        theorem_row("value to player 1", -1 / 48, second, note="of a family of equilibria in which players 0 and 2 trade"),
        theorem_row("value to player 0, at least", -1 / 32, first, ">=", note="from -1/32 to -1/48 in that family"),
        theorem_row("value to player 0, at most", -1 / 48, first, "<="),
        theorem_row("values to players 0 and 2, their sum", 1 / 48, third + first),
    ]  # fmt: skip
    alone = solve_mip(tree, rounds=rounds, seconds=20.0)
    note = "without a start: relaxations of products over whole intervals are weak, and boxes narrow around a poor solution"
    return [*rows, new_row("three-player Kuhn, MIP alone: epsilon", alone.epsilon, note=note)]


def run(full: bool, seed: int) -> ExperimentReport:
    """Run the experiment; deterministic. At full size the programs alone get more rounds."""
    rows, notes = three_way_river_rows()
    return ExperimentReport(rows + kuhn_rows(8 if full else 1), notes)
