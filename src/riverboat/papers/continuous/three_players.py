"""Three players: a river with continuous signals by iteration, and Kuhn poker by mixed integer programs."""

from __future__ import annotations

from riverboat.continuous.examples import three_way
from riverboat.continuous.solve import solve
from riverboat.games.registry import make
from riverboat.papers.framework import Experiment, Report
from riverboat.papers.rows import Row, new, theorem
from riverboat.solvers.exact.mip import solve_mip
from riverboat.solvers.tabular.best_response import quality
from riverboat.solvers.tabular.cfr import CFR
from riverboat.trees.compile import compile_game, histories

POTS = (1.0, 3.0, 6.0)


def rivers() -> tuple[list[Row], list[str]]:
    """Player 0 checks or bets, then players 1 and 2 call or fold; uniform signals."""
    rows: list[Row] = []
    notes = []
    for pot in POTS:
        game = three_way(pot=pot)
        best = solve(game)[0]
        assert best.profile is not None
        assert best.certificate is not None
        rows.append(theorem(f"three-way river, pot {pot:g}: certified epsilon, share of the pot", 0.0, best.share))
        for player, value in enumerate(best.certificate.values):
            rows.append(new(f"three-way river, pot {pot:g}: value to player {player}", value))
        words = "; ".join(f"{name}: {bands}" for name, bands in best.model.words(game).items())
        notes.append(f"pot {pot:g}: {words}; thresholds {', '.join(f'{c:.6g}' for c in best.profile.cuts)}")
    return rows, notes


def kuhn(rounds: int) -> list[Row]:
    """A rough answer by CFR+, then programs in boxes around it; and programs alone."""
    tree = histories(compile_game(make("kuhn:players=3")))
    solver = CFR(tree, "cfr+")
    solver.step(200)
    rough = quality(solver.average())
    solution = solve_mip(tree, around=solver.average(), width=0.2)
    first, second, third = solution.values
    seconds = solution.steps[-1].seconds
    rows = [
        new("three-player Kuhn, CFR+, 200 iterations: epsilon", rough.exploitability),
        theorem("three-player Kuhn, MIP around it: epsilon", 0.0, solution.epsilon, note=f"{seconds:.2g} s"),
        theorem("value to player 1", -1 / 48, second, note="of a family of equilibria in which players 0 and 2 trade"),
        theorem("value to player 0, at least", -1 / 32, first, ">=", note="from -1/32 to -1/48 in that family"),
        theorem("value to player 0, at most", -1 / 48, first, "<="),
        theorem("values to players 0 and 2, their sum", 1 / 48, third + first),
    ]  # fmt: skip
    alone = solve_mip(tree, rounds=rounds, seconds=20.0)
    note = "from nothing: products over whole intervals say too little, and boxes narrow around a poor answer"
    return [*rows, new("three-player Kuhn, MIP alone: epsilon", alone.epsilon, note=note)]


def run(full: bool, seed: int) -> Report:
    """Nothing is random; at full size the programs alone get more rounds."""
    rows, notes = rivers()
    return Report(tuple(rows + kuhn(8 if full else 1)), tuple(notes))


EXPERIMENT = Experiment(
    "continuous-three-players",
    "Three players: a river by iteration, Kuhn poker by mixed integer programs",
    "Ganzfried, thesis proposal, section 2.3; Szafron, Gibson & Sturtevant 2013 (values of Kuhn poker)",
    "40 s",
    "3 min",
    run,
)
