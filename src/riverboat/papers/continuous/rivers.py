"""Rivers with continuous signals: models of one bet and one raise, von Neumann's game, and three players.

Three players: a river with continuous signals by CFR+ on steps, and Kuhn poker by mixed integer programs.
"""

from __future__ import annotations

import math
import time
import timeit
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from statistics import median
from typing import NamedTuple

import numpy as np

from riverboat.continuous import programs
from riverboat.continuous import signals as deals
from riverboat.continuous.best_response import EquilibriumCertificate, certify
from riverboat.continuous.discretization import DiscretizedGame
from riverboat.continuous.examples import river, three_way
from riverboat.continuous.game import ContinuousGame
from riverboat.continuous.newton import ThresholdFinder
from riverboat.continuous.programs import build_linear_forms
from riverboat.continuous.proposals import add_raise, fit_thresholds, river_models, solve_discretized
from riverboat.continuous.solver import EPSILON_TOLERANCE, ModelSolution, solve, solve_model
from riverboat.continuous.strategies import QualitativeModel, ThresholdProfile, model_of_profile
from riverboat.continuous.threshold_path import solve_threshold_path
from riverboat.core.arrays import Array
from riverboat.games.registry import game_from_spec
from riverboat.papers.framework import Curve, ExperimentReport, format_notes
from riverboat.papers.rows import ComparisonRow, finding_row, new_row, theorem_row
from riverboat.plots.thresholds import plot_profiles
from riverboat.solvers.exact.lp import solve_lp
from riverboat.solvers.exact.mip import solve_mip
from riverboat.solvers.tabular.best_response import quality
from riverboat.solvers.tabular.cfr import CFR
from riverboat.trees.compile import compile_game, to_history_tree

POTS = (1.0, 2.0, 4.0, 8.0)
NUM_PANELS = 3  # models in the figure, as many as the proposal shows


class ModelSearch(NamedTuple):
    """A search over all models of one game, in order of their fit."""

    num_models: int
    equilibria: list[tuple[QualitativeModel, EquilibriumCertificate, ThresholdProfile]]
    seconds_to_first: float  # to the first equilibrium, from the rules of the game
    seconds: float  # for all models


def search_models(game: ContinuousGame) -> ModelSearch:
    """Fit all models to the discretized game, find their thresholds, and return those that are equilibria."""
    start_time = time.perf_counter()
    discretized = solve_discretized(game, 60)
    proposals = sorted((fit_thresholds(discretized, model) for model in river_models(game)), key=lambda p: -p.fit)
    equilibria, first = [], math.inf
    for proposal in proposals:
        cuts, residual = ThresholdFinder(game, proposal.model).find(game, proposal.profile.cuts)
        if residual > 1e-9 * game.scale:
            continue
        profile = proposal.model.profile(game, cuts)
        certificate = certify(profile)
        if certificate.epsilon_share <= EPSILON_TOLERANCE:
            first = min(first, time.perf_counter() - start_time)
            equilibria.append((proposal.model, certificate, profile))
    return ModelSearch(len(proposals), equilibria, first, time.perf_counter() - start_time)


def median_milliseconds(work: Callable[[], object]) -> float:
    """Return the median time of five calls of `work`."""
    return 1e3 * median(timeit.repeat(work, number=1, repeat=5))


def run_limit_river(full: bool, seed: int) -> ExperimentReport:
    """Search models of the river with one bet and one raise for several pots, with uniform signals; deterministic."""
    rows: list[ComparisonRow] = []
    drawn: list[tuple[QualitativeModel, EquilibriumCertificate, ThresholdProfile]] = []
    notes = ["a model is the moves of every situation from weak to strong; the paper's figures 3 to 5 print no numbers"]
    for pot in POTS if full else POTS[1:3]:
        game = river(pot=pot, raises=(1.0,))
        searched, name = search_models(game), f"pot {pot:g}"
        values = [certificate.values[0] for _, certificate, _ in searched.equilibria]
        rows += [
            new_row(f"{name}: models", float(searched.num_models)),
            finding_row(
                f"{name}: models that are equilibria", 1.0, len(values), ">=", note="they differ in idle bands"
            ),
            new_row(f"{name}: seconds for all models", searched.seconds),
        ]
        if not values:
            continue
        drawn = sorted(searched.equilibria, key=lambda g: len(g[0].thresholds))[:NUM_PANELS]
        model, _, profile = drawn[0]
        ordered = model_of_profile(profile)
        forms = build_linear_forms(game, ordered, ordered.order or ())
        linear = partial(programs.solve_threshold_lp, game, forms)
        elimination = partial(programs.solve_threshold_system, game, forms)
        slack = max(linear().slack, elimination().slack) / pot
        epsilon = max(certificate.epsilon_share for _, certificate, _ in searched.equilibria)
        milliseconds, seconds = median_milliseconds(linear), searched.seconds_to_first
        rows += [
            new_row(f"{name}: seconds to the first equilibrium", seconds, note="from the rules of the game"),
            theorem_row(f"{name}: largest certified epsilon, share of the pot", 0.0, epsilon),
            new_row(f"{name}: value to player 0", values[0]),
            theorem_row(f"{name}: largest difference of their values", 0.0, max(values) - min(values)),
            theorem_row(f"{name}: largest violation in both programs", 0.0, slack),
            new_row(f"{name}: linear program, ms", milliseconds),
            new_row(f"{name}: elimination, ms", median_milliseconds(elimination), note="polynomial time"),
        ]
        words = "; ".join(f"{situation}: {bands}" for situation, bands in model.band_words(game).items())
        notes.append(f"{name}, the simplest: {words}; thresholds {', '.join(f'{c:.6g}' for c in profile.cuts)}")
    rows += two_raise_rows(2.0)
    rows += unequal_rows(20 if full else 5, seed)
    named = [(f"pot {pot:g}, model {n}", profile) for n, (_, _, profile) in enumerate(drawn, start=1)]
    return ExperimentReport(rows, notes, draw=(lambda: plot_profiles(named)) if named else None)


UNEQUAL_GAMES = {"half street": {"street": "half"}, "full street": {}, "full street, one raise": {"raises": (1.0,)}}
UNEQUAL_SEGMENTS, UNEQUAL_CONCENTRATION = 6, 4.0  # of random distributions: segments, and concentration of their masses
MILP_SECONDS = 20.0


def random_signals(rng: np.random.Generator) -> deals.Signals:
    """Draw two different piecewise linear distributions on segments of equal width."""
    edges = np.linspace(0, 1, UNEQUAL_SEGMENTS + 1)
    cdfs = []
    for _ in range(2):
        masses = rng.dirichlet(np.full(UNEQUAL_SEGMENTS, UNEQUAL_CONCENTRATION))
        cdfs.append(list(zip(edges.tolist(), [0.0, *np.cumsum(masses)[:-1].tolist(), 1.0], strict=True)))
    return deals.from_cdfs(cdfs)


def unequal_rows(count: int, seed: int) -> list[ComparisonRow]:
    """Time the path of linear programs against the mixed integer program for `count` pairs of random distributions.

    Both get the model and the order of an equilibrium that the solver found.
    """
    rng, rows = np.random.default_rng(seed), []
    for name, options in UNEQUAL_GAMES.items():
        solved, seconds, thresholds = np.zeros((2, count), bool), np.zeros((2, count)), []
        for k in range(count):
            game = river(random_signals(rng), pot=2.0, **options)  # type: ignore[arg-type]
            best = solve(game)[0]
            model = model_of_profile(best.profile)
            thresholds.append(len(model.thresholds))
            for method, label in enumerate(("path", "milp")):
                forms = build_linear_forms(game, model, model.order or ())
                start_time = time.perf_counter()
                if label == "path":
                    optimum = solve_threshold_path(game, forms)
                else:
                    optimum = programs.solve_threshold_milp(game, forms, MILP_SECONDS)
                seconds[method, k] = time.perf_counter() - start_time
                solved[method, k] = optimum.slack <= EPSILON_TOLERANCE * game.scale
        title, size = (
            f"unequal distributions, {name}",
            f"{np.mean(thresholds):.0f} thresholds, {UNEQUAL_SEGMENTS} segments",
        )
        both = solved.all(axis=0)
        ratio = np.median((seconds[1] / seconds[0])[both]) if both.any() else 0.0
        rows += [
            new_row(f"{title}: solved by the path", solved[0].mean(), note=f"of {count}; {size}; polynomial time"),
            new_row(f"{title}: solved by the mixed integer program", solved[1].mean(), note=f"in {MILP_SECONDS:g} s"),
            new_row(f"{title}: times as long as the path that the program takes, median", ratio,
                    note=f"{1e3 * np.median(seconds[1]):.0f} ms against {1e3 * np.median(seconds[0]):.0f} ms"),
        ]  # fmt: skip
    return rows


def two_raise_rows(pot: float) -> list[ComparisonRow]:
    """Solve the river with two raises, by the heuristic model and by proposed models."""
    small, large = river(pot=pot, raises=(1.0,)), river(pot=pot, raises=(1.0,), cap=2)
    simple = {"root": "b x b x", "x": "b x b", "x-b": "r f c r", "x-b-r": "f c", "b": "r f c r", "b-r": "f c"}
    heuristic = solve_model(large, add_raise(QualitativeModel.from_words(small, simple), small, large))
    start_time = time.perf_counter()
    best = solve(large)[0]
    seconds = time.perf_counter() - start_time
    return [
        new_row("two raises, pot 2: epsilon of the heuristic model, share of the pot", heuristic.epsilon_share),
        theorem_row("two raises, pot 2: epsilon of a model read off, share of the pot", 0.0, best.epsilon_share),
        new_row("two raises, pot 2: seconds", seconds, note=f"{len(best.model.thresholds)} thresholds"),
    ]


# --- Von Neumann's game ---

STEPS = (7, 13, 27, 53, 107)  # none of them has an edge at the thresholds, which are tenths of the axis
EQUAL_SIGNALS = {
    "piecewise": deals.from_cdfs([[(0.0, 0.0), (0.2, 0.5), (3.0, 0.6), (4.0, 1.0)]] * 2),
    "triangle": deals.from_densities([[(0.0, 0.0), (1.0, 2.0)]] * 2),
}


def solve_half_street(signals: deals.Signals, pot: float, method: str = "auto") -> ModelSolution:
    """Solve the half street with the model that bluffs with the weakest and bets the strongest hands."""
    game = river(signals, pot=pot, street="half")
    model = QualitativeModel.from_words(game, {"root": "b x b", "b": "f c"}, "root:1 b:1 root:2")
    start = np.array([signals.quantile(0, share) for share in (0.1, 0.7, 0.4)])
    return solve_model(game, model, method, start=start)


def threshold_shares(answer: ModelSolution) -> Array:
    """Return the probabilities of signals below the thresholds a, b and c."""
    return np.array([s for row in answer.profile.to_dict().values() for s in row["shares"]])


def threshold_formula(pot: float) -> Array:
    """Return von Neumann's thresholds a, b and c of the half street with uniform signals and a bet of 1."""
    c = (3 * pot + 2) / ((2 * pot + 1) * (pot + 2))
    return np.array([(1 - c) / (2 * (pot + 1)), (1 + c) / 2, c])


def run_von_neumann(full: bool, seed: int) -> ExperimentReport:
    """Compare all methods with the analytic solution of von Neumann's half street; only discretized games differ."""
    best = solve_half_street(deals.uniform(), 2.0)
    cuts = threshold_shares(best)
    note = "exact best responses over the continuum"
    rows = [
        theorem_row("a: bets below", 0.1, cuts[0]),
        theorem_row("b: bets above", 0.7, cuts[1]),
        theorem_row("c: calls above", 0.4, cuts[2]),
        theorem_row("value to the bettor, antes of 1", 0.1, best.certificate.values[0]),
        theorem_row("certified epsilon, share of the pot", 0.0, best.epsilon_share, note=note),
    ]

    def add_difference(name: str, solution: ModelSolution, expected: Array | list[float], note: str = "") -> None:
        rows.append(theorem_row(name, 0.0, np.abs(threshold_shares(solution) - expected).max(), note=note))

    for method in ("linear", "milp", "newton"):
        solution = solve_half_street(deals.uniform(), 2.0, method)
        add_difference(f"largest difference to the answer of {method}", solution, cuts)
    for name, signals in EQUAL_SIGNALS.items():
        solution = solve_half_street(signals, 2.0)
        note = f"epsilon {solution.epsilon_share:.1g}"
        add_difference(f"both {name}: largest difference of shares", solution, [0.1, 0.7, 0.4], note)
    for pot in (1.0, 4.0, 10.0):
        solution = solve_half_street(deals.uniform(), pot)
        add_difference(f"pot {pot:g}: largest difference to the formula", solution, threshold_formula(pot))
    game = river(street="half")
    sizes = STEPS + ((211, 401) if full else ())
    values = [solve_lp(compile_game(DiscretizedGame(game, steps))).value for steps in sizes]
    errors = [max(abs(value - 0.1), 1e-12) for value in values]
    for size, value in zip(sizes, values, strict=True):
        rows.append(new_row(f"value of the game in {size} steps", value, note="linear program"))
    slowest = max(later / before for before, later in pairwise(errors))
    rate = float(np.polyfit(np.log(sizes), np.log(errors), 1)[0])
    rows += [
        finding_row("error of the value, largest share of that with half the steps", 1.0, slowest, "<="),
        new_row("error of the value: power of the number of steps", rate, note="about -2"),
    ]
    curve = Curve("error of the value", sizes, errors)
    return ExperimentReport(rows, format_notes("continuous-von-neumann"), (curve,), log=True)


# --- Three players ---

THREE_WAY_POTS = (1.0, 3.0, 6.0)


def three_way_river_rows() -> tuple[list[ComparisonRow], list[str]]:
    """Solve half streets with uniform signals: player 0 checks or bets, then players 1 and 2 call or fold."""
    rows: list[ComparisonRow] = []
    notes = []
    for pot in THREE_WAY_POTS:
        game = three_way(pot=pot)
        best = solve(game)[0]
        name = f"three-way river, pot {pot:g}"
        rows.append(theorem_row(f"{name}: certified epsilon, share of the pot", 0.0, best.epsilon_share))
        rows += [new_row(f"{name}: value to player {n}", value) for n, value in enumerate(best.certificate.values)]
        words = "; ".join(f"{name}: {bands}" for name, bands in best.model.band_words(game).items())
        notes.append(f"pot {pot:g}: {words}; thresholds {', '.join(f'{c:.6g}' for c in best.profile.cuts)}")
    return rows, notes


def kuhn_rows(rounds: int) -> list[ComparisonRow]:
    """Solve three-player Kuhn by mixed integer programs, in boxes around a rough CFR+ solution and without a start.

    `rounds` is the number of programs of the run without a start.
    """
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


def run_three_players(full: bool, seed: int) -> ExperimentReport:
    """Solve three-way rivers and three-player Kuhn; deterministic. With `full`, programs without a start run longer."""
    rows, notes = three_way_river_rows()
    return ExperimentReport(rows + kuhn_rows(8 if full else 1), notes)
