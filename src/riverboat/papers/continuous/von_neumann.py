"""Von Neumann's game: bluff with the weakest hands, bet the strong ones, call with the better ones."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from riverboat.continuous import signals as deals
from riverboat.continuous.discretization import Steps
from riverboat.continuous.examples import river
from riverboat.continuous.qualitative_model import Model
from riverboat.continuous.solve import Answer, solve_model
from riverboat.core.arrays import Array
from riverboat.core.errors import RiverboatError
from riverboat.papers.framework import Curve, Experiment, Report
from riverboat.papers.rows import finding, new, theorem
from riverboat.solvers.exact.lp import solve_lp
from riverboat.trees.compile import compile_game

STEPS = (7, 13, 27, 53, 107)  # none of them has an edge at the thresholds, which are tenths
EQUAL = {
    "piecewise": deals.piecewise([[(0.0, 0.0), (0.2, 0.5), (3.0, 0.6), (4.0, 1.0)]] * 2),
    "triangle": deals.densities([[(0.0, 0.0), (1.0, 2.0)]] * 2),
}


def solved(signals: deals.Signals, pot: float, method: str = "auto") -> Answer:
    """The half street with the model that bluffs."""
    game = river(signals, pot=pot, street="half")
    model = Model.make(game, {"root": "b x b", "b": "f c"}, "root:1 b:1 root:2")
    start = np.array([signals.quantile(0, share) for share in (0.1, 0.7, 0.4)])
    return solve_model(game, model, method, start=start)


def shares(answer: Answer) -> Array:
    """Shares of the signals below a, b and c."""
    if answer.profile is None:
        raise RiverboatError(f"von Neumann: {answer.reason}")
    return np.array([s for row in answer.profile.to_dict().values() for s in row["shares"]])


def formula(pot: float) -> Array:
    """The thresholds by hand (reference of the rows at other pots)."""
    c = (3 * pot + 2) / ((2 * pot + 1) * (pot + 2))
    return np.array([(1 - c) / (2 * (pot + 1)), (1 + c) / 2, c])


def run(full: bool, seed: int) -> Report:
    """All of it is exact but the finite games."""
    best = solved(deals.uniform(), 2.0)
    cuts = shares(best)
    rows = [
        theorem(name, paper, float(ours))
        for name, paper, ours in zip(
            ("a: bets below", "b: bets above", "c: calls above"), (0.1, 0.7, 0.4), cuts, strict=True
        )
    ]
    value = best.certificate.values[0] if best.certificate is not None else 0.0
    rows += [
        theorem("value to the bettor, antes of 1", 0.1, value),
        theorem("certified epsilon, share of the pot", 0.0, best.share, note="exact best responses over the continuum"),
    ]
    for method in ("linear", "milp", "newton"):
        off = float(np.abs(shares(solved(deals.uniform(), 2.0, method)) - cuts).max())
        rows.append(theorem(f"largest difference to the answer of {method}", 0.0, off))
    for name, signals in EQUAL.items():
        answer = solved(signals, 2.0)
        off = float(np.abs(shares(answer) - [0.1, 0.7, 0.4]).max())
        rows.append(theorem(f"both {name}: largest difference of shares", 0.0, off, note=f"epsilon {answer.share:.1g}"))
    for pot in (1.0, 4.0, 10.0):
        off = float(np.abs(shares(solved(deals.uniform(), pot)) - formula(pot)).max())
        rows.append(theorem(f"pot {pot:g}: largest difference to the formula", 0.0, off))
    game = river(street="half")
    sizes = STEPS + ((211, 401) if full else ())
    values = [solve_lp(compile_game(Steps(game, steps))).value for steps in sizes]
    errors = [max(abs(value - 0.1), 1e-12) for value in values]
    rows += [
        new(f"value of the game in {n} steps", v, note="linear program") for n, v in zip(sizes, values, strict=True)
    ]
    falls = all(later < before for before, later in pairwise(errors))
    rate = float(np.polyfit(np.log(sizes), np.log(errors), 1)[0])
    rows += [
        finding("more steps are nearer to the continuum", 1.0, float(falls)),
        new("error of the value: power of the number of steps", rate, note="about -2"),
    ]
    curve = Curve("error of the value", tuple(map(float, sizes)), tuple(errors))
    return Report(
        tuple(rows),
        ("the equations of indifference, solved by hand: c = (3P + 2) / ((2P + 1)(P + 2)), "
         "b = (1 + c) / 2, a = (1 - c) / (2 (P + 1))",),
        (curve,),
        log=True,
    )  # fmt: skip


EXPERIMENT = Experiment(
    "continuous-von-neumann",
    "Thresholds of von Neumann's game",
    "Ganzfried, thesis proposal, section 2.3; von Neumann & Morgenstern 1944",
    "5 s",
    "60 s",
    run,
)
