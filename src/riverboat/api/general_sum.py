"""Games with more than two players or without constant sum: correlated equilibria, and the table of all methods.

result = correlated("kuhn:players=3", until=1e-4)
result.gains, result.values
"""

from __future__ import annotations

import time as clock
from dataclasses import dataclass
from math import inf
from typing import Any, Literal, TypeAlias

import numpy as np

from riverboat.api.options import Duration, PositiveCount, Target, parse_seconds, parse_target
from riverboat.core.errors import InputError, short_repr, unknown_name_error
from riverboat.core.observer import SILENT, Observer
from riverboat.games.base import Game
from riverboat.games.small.normal_form import NormalForm
from riverboat.solvers.exact.correlated import JointDistribution, correlated_equilibrium, normal_form_of
from riverboat.solvers.game_values import game as make_game
from riverboat.solvers.tabular.correlated import CorrelatedCFR
from riverboat.trees.compile import compile_game, to_history_tree

Method: TypeAlias = Literal["cfr", "lp", "lp-coarse"]
METHODS: tuple[Method, ...] = ("cfr", "lp", "lp-coarse")
WELFARE = "welfare"
_FIRST_CHECK, _CHECK_FACTOR = 10, 1.25  # iterations before the first check, and the factor between two checks


@dataclass(frozen=True)
class OfferedMethod:
    """A method for games that are not two-player zero-sum.

    Attributes
    ----------
    name
        Name of the method.
    command, function
        How it is called in the terminal and in Python.
    games
        The games that it accepts.
    guarantee
        What its result guarantees.
    limit
        The size up to which it works.

    Examples
    --------
    >>> OFFERED[0].command
    'solve GAME'
    """

    name: str
    command: str
    function: str
    games: str
    guarantee: str
    limit: str


OFFERED = (
    OfferedMethod(
        "CFR, average strategy", "solve GAME", "rb.solve",
        "any number of players, any sums, imperfect recall",
        "gain of each player exact for the returned profile; convergence not guaranteed; gains are upper bounds under "
        "imperfect recall",
        "memory of the tree",
    ),
    OfferedMethod(
        "CFR, empirical play", "correlated GAME", "api.general_sum.correlated",
        "any number of players, any sums, perfect recall",
        "ε-coarse correlated equilibrium with exact ε, which tends to zero; trigger gains exact",
        "20,000,000 pairs of a terminal and an information set above it",
    ),
    OfferedMethod(
        "correlated equilibrium by LP", "correlated GAME --method lp", "api.general_sum.correlated",
        "normal-form games, any number of players",
        "correlated (or coarse) equilibrium with the best welfare, or the best for one player, up to tolerances",
        "100,000 joint profiles",
    ),
    OfferedMethod(
        "mixed integer program", "", "solvers.exact.mip.solve_mip",
        "three players, perfect recall",
        "gain of each player exact for the returned profile; a heuristic search for ε = 0",
        "tens of information sets for each player",
    ),
    OfferedMethod(
        "team-maxmin", "team GAME", "api.solve.team_values",
        "three or more players, perfect recall, one against a team of all others",
        "value with correlation certified from both sides; without, an interval (proved for teams of two)",
        "20,000 pairs of sequences of the two members for the proof",
    ),
    OfferedMethod(
        "LP, EGT", "solve GAME --method lp", "rb.solve",
        "two players with a constant sum, perfect recall",
        "value of the game: exact (LP) or certified interval (EGT)",
        "memory of the sequence form",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class CorrelatedResult:
    """A correlated play of a game, with its certificate: the largest gains by deviating, exact up to rounding.

    Attributes
    ----------
    game, unit
        Name of the game, and the unit of the figures.
    method, schedule, iterations, seconds
        How it was computed; schedule and iterations are None for linear programs.
    values
        Expected value of each player who follows the mediator.
    gains
        Gain of each player by the best strategy that ignores the mediator. It is negative where ignoring it costs.
    trigger_gains
        Gain of each player by the best deviation that begins at one information set; None for linear programs.
    trigger_infosets
        Names of these information sets.
    joint
        Distribution over joint pure profiles; None unless the game is in normal form.
    reached
        Whether the target was met; True without a target.

    Examples
    --------
    >>> result = correlated("kuhn:players=3,cards=4", iterations=300)
    >>> result.epsilon < 0.01, len(result.values)
    (True, 3)
    """

    game: str
    unit: str
    method: Method
    schedule: str | None
    iterations: int | None
    seconds: float
    values: tuple[float, ...]
    gains: tuple[float, ...]
    trigger_gains: tuple[float, ...] | None = None
    trigger_infosets: tuple[str | None, ...] | None = None
    joint: JointDistribution | None = None
    reached: bool = True

    @property
    def epsilon(self) -> float:
        """The largest gain, at least 0: the play is an ε-coarse correlated equilibrium."""
        return max(0.0, *self.gains)

    @property
    def swap_gains(self) -> tuple[float, ...] | None:
        """Gain of each player by the best reply to each recommendation; None unless the game is in normal form."""
        return None if self.joint is None else self.joint.swap_gains

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a dictionary for JSON."""
        names = (
            "game", "unit", "method", "schedule", "iterations", "seconds", "values", "gains", "trigger_gains",
            "trigger_infosets", "swap_gains", "epsilon", "reached",
        )  # fmt: skip
        joint = None if self.joint is None else self.joint.probabilities.tolist()
        gains_are = "exact: of the best deviation from the correlated play"
        return {name: getattr(self, name) for name in names} | {"joint": joint, "gains_are": gains_are}


def correlated(
    game: str | Game,
    *,
    method: Literal["cfr", "lp", "lp-coarse"] = "cfr",
    schedule: str = "pcfr+:alternating=0",
    iterations: PositiveCount = 10_000,
    until: Target | None = None,
    time: Duration | None = None,
    maximize: str = "welfare",
    observer: Observer = SILENT,
) -> CorrelatedResult:
    """Compute a correlated equilibrium of a small game of any number of players, with its certificate.

    Parameters
    ----------
    game
        Game, or its name with options. All players must have perfect recall.
    method
        cfr: a coarse correlated equilibrium by the empirical play of CFR. lp: a correlated equilibrium, or lp-coarse: a
        coarse one, of a normal-form game by a linear program.
    schedule
        Schedule of CFR. Iterations have the weights of its average.
    iterations
        Largest number of iterations.
    until
        Stop when no player gains more than this by ignoring the mediator, in the game's unit.
    time
        Stop after this time: 90s, 5m.
    maximize
        Objective of linear programs: welfare, or a player whose value is maximized.
    observer
        Receives the stage of the work.

    Returns
    -------
    CorrelatedResult
        Values and gains of all players.

    Raises
    ------
    InputError
        If an option is invalid, or the game is too large or not of the kind that the method needs.

    References
    ----------
    .. [1] Hart & Mas-Colell, "A simple adaptive procedure leading to correlated equilibrium", Econometrica 68, 2000.
    .. [2] Celli, Marchesi, Bianchi & Gatti, "Learning to correlate in multi-player general-sum sequential games",
       NeurIPS 2019.

    Examples
    --------
    >>> import riverboat as rb
    >>> chicken = rb.matrix([[[0, 7], [2, 6]], [[0, 2], [7, 6]]])
    >>> [round(value, 6) for value in correlated(chicken, method="lp").values]
    [5.25, 5.25]
    """
    if method not in METHODS:
        raise unknown_name_error("method", str(method), METHODS)
    limit = inf if time is None else parse_seconds(time)
    started = clock.monotonic()
    tree = to_history_tree(compile_game(make_game(game) if isinstance(game, str) else game))
    target = None if until is None else parse_target(until, tree.unit)
    if target is not None and not 0 < target < inf:
        raise InputError(f"until={short_repr(until)}: must be above 0, in {tree.unit}")
    matrix = normal_form_of(tree)
    if method != "cfr":
        return _by_program(tree.name, matrix, method, maximize, started)
    if maximize != WELFARE:
        raise InputError(
            f"maximize={short_repr(maximize)}: CFR has no objective; use method='lp' on a normal-form game"
        )
    solver = CorrelatedCFR(tree, schedule)
    observer.stage(f"{tree.name}: correlated play", solver.solver.schedule.name)
    check = _FIRST_CHECK
    while solver.iteration < iterations and clock.monotonic() - started < limit:
        solver.step(1)
        if target is not None and solver.iteration >= check:
            if solver.play.gains(triggers=False).epsilon <= target:
                break
            check = int(_CHECK_FACTOR * solver.iteration) + 1
    observer.stage("")
    if not solver.iteration:
        solver.step(1)  # within any limit of time there is a result
    final = solver.play.gains()
    names = [each.name for each in tree.infosets()]
    joint = None
    if matrix is not None:
        order = np.argsort(tree.owner)  # terminals are in the order in which the players act
        outcomes = solver.play.outcome_probabilities.reshape(tree.action_counts)
        joint = JointDistribution(matrix, np.transpose(outcomes, order))
    return CorrelatedResult(
        tree.name, tree.unit, method, str(solver.solver.schedule), solver.iteration, clock.monotonic() - started,
        final.values, final.coarse, final.trigger, tuple(names[at] if at >= 0 else None for at in final.trigger_at),
        joint, target is None or final.epsilon <= target,
    )  # fmt: skip


def _by_program(name: str, game: NormalForm | None, method: Method, maximize: str, started: float) -> CorrelatedResult:
    if game is None:
        raise InputError(f"{name}: method={method!r} needs a normal-form game; use method='cfr'")
    players = [str(player) for player in range(game.players)]
    if maximize not in (WELFARE, *players):
        raise InputError(f"maximize={short_repr(maximize)}: must be {WELFARE} or a player: {', '.join(players)}")
    objective = [float(maximize in (WELFARE, player)) for player in players]
    joint = correlated_equilibrium(game, coarse=method == "lp-coarse", objective=objective)
    seconds = clock.monotonic() - started
    return CorrelatedResult(
        game.name, game.unit, method, None, None, seconds, joint.values, joint.coarse_gains, joint=joint
    )
