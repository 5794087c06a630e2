"""Solve a subgame on boards with a gadget at its root until its own exploitability is low enough.

A gadget with limits is adapted on the way (`RootState.adjust`): multipliers of hands that exceed their limits rise, and
hands whose margins need not grow further leave the opponent's choice. Checks come at geometric times, so that they cost
a fixed share of the iterations.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from riverboat.core.arrays import Array
from riverboat.engines.roots import next_adjustment
from riverboat.solvers.boards.cfr import BoardCFR


class GadgetSolution(NamedTuple):
    """Quality of a solved subgame. Values are in the game's unit."""

    iterations: int
    exploitability: float  # of the gadget game's solution
    margin: float  # least margin over the hands that the opponent may choose; NaN without a gadget
    excess: Array  # float64 [1326]: by how much the opponent's hands exceed what the gadget allows them; 0 if unsafe


def check_times(iterations: int, start: int = 0) -> list[int]:
    """Return the iterations after which a solution is checked: those of `next_adjustment`, and the last.

    Examples
    --------
    >>> from riverboat.subgames.gadget_solving import check_times
    >>> check_times(40)
    [16, 20, 25, 31, 38, 40]
    """
    times, time = [], 0
    while (time := next_adjustment(time)) < iterations:
        times.append(time)
    return [time for time in (*times, iterations) if time > start]


def solve_gadget(
    solver: BoardCFR, iterations: int, *, until: float = -math.inf, caps: Array | None = None
) -> GadgetSolution:
    """Run iterations until the exploitability of the gadget game is at most `until`, or `iterations` are done.

    Parameters
    ----------
    solver
        Solver of the subgame with its gadget.
    iterations
        Most iterations.
    until
        Target exploitability, in the game's unit.
    caps
        Most that the margin of each hand needs to be, as in `BoardEngine.adjust_gadget`.

    Returns
    -------
    GadgetSolution
        Iterations, exploitability, and how the opponent's hands compare with what the gadget allows them.
    """
    engine, unit = solver.engine, solver.tree.per_chip
    limited, exploitability = engine.root.has_limits, math.nan
    for time in check_times(iterations, solver.iteration):
        last = time == iterations
        if not last and not limited and until == -math.inf:
            continue
        solver.step(time - solver.iteration)
        if last or until > -math.inf:
            exploitability = solver.quality().exploitability
            if last or exploitability <= until:
                break
        engine.adjust_gadget(caps)
    if engine.root.gadget is None:
        return GadgetSolution(solver.iteration, exploitability, math.nan, np.zeros(0))
    margins = engine.margins()
    excess = engine.excesses() if limited else -margins
    margin = float(np.nanmin(margins)) if not np.isnan(margins).all() else math.nan
    return GadgetSolution(solver.iteration, exploitability, margin * unit, np.nan_to_num(excess).clip(0.0) * unit)
