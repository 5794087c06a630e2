"""ε-safe best responses, and what an opponent certainly gave away.

A plan is ε-safe when it guarantees the value of the game less ε. The best of them against a model y of the opponent is a
linear program on the sequence form (Ganzfried & Sandholm 2015; notation of `solvers.exact.lp`, P the player's pay-offs):

    maximise x'P y   subject to   E x = e,   F'q <= P'x,   q_0 >= v* - ε,   x >= 0

With ε = 0 it is the best equilibrium strategy against the model, with a large ε the best response.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack

from riverboat.core.errors import InputError, RiverboatError
from riverboat.games.base import Array
from riverboat.solvers.exact.sequence_form import SequenceForm

_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


@dataclass(frozen=True, eq=False)
class Response:
    """A plan, what it earns against the model and what it guarantees, both to the player who has it."""

    plan: Array  # float64 [own sequences]
    gain: float
    worst: float


def guarantee(form: SequenceForm, player: int, plan: Array) -> float:
    """What a plan earns against its worst opponent."""
    return -form.respond(1 - player, plan)[0]


def value(form: SequenceForm, player: int) -> float:
    """The value of a zero-sum game to a player, by linear programming."""
    uniform = _uniform(form, 1 - player)
    return respond(form, player, uniform, weight=0.0).worst


def safe_response(
    form: SequenceForm, player: int, model: Array, epsilon: float, game_value: float | None = None
) -> Response:
    """The best response to the plan `model` among those that guarantee the value less `epsilon`.

    Without `game_value` it is computed first.
    """
    if not epsilon >= 0:
        raise InputError(f"{form.tree.name}: epsilon={epsilon}: must be 0 or more")
    if game_value is None:
        game_value = value(form, player)
    return respond(form, player, model, floor=game_value - epsilon)


def respond(form: SequenceForm, player: int, model: Array, weight: float = 1.0, floor: float = -np.inf) -> Response:
    """Maximise weight x (pay-off against the model) + (1 - weight) x (guarantee), the guarantee at least `floor`."""
    form.histories.check_zero_sum()
    if not 0 <= weight <= 1:
        raise InputError(f"{form.tree.name}: weight={weight}: must be between 0 and 1")
    if model.shape != (form.treeplexes[1 - player].sequences,):
        raise InputError(
            f"{form.tree.name}: a model of shape {model.shape} for player {1 - player}, who has "
            f"{form.treeplexes[1 - player].sequences} sequences"
        )
    payoffs = form.payoffs[player]
    own, right = form.constraints(player)
    other, _ = form.constraints(1 - player)
    sequences, sets = own.shape[1], other.shape[0]
    cost = np.zeros(sequences + sets)
    cost[:sequences] = -weight * (payoffs @ model)
    cost[sequences] = weight - 1
    bounds = np.full((sequences + sets, 2), (-np.inf, np.inf))
    bounds[:sequences, 0] = 0.0
    bounds[sequences, 0] = floor
    optimum = linprog(
        cost,
        A_ub=csr_array(hstack([-payoffs.T, other.T])),
        b_ub=np.zeros(other.shape[1]),
        A_eq=csr_array(hstack([own, csr_array((len(right), sets))])),
        b_eq=right,
        bounds=bounds,
        method="highs-ds",
        options=_OPTIONS,
    )
    if optimum.status != 0:
        raise RiverboatError(
            f"{form.tree.name}: no plan of player {player} guarantees {floor:g}, or HiGHS failed: {optimum.message}"
        )
    plan = _behave(form, player, optimum.x[:sequences])
    return Response(plan, float(plan @ (payoffs @ model)), guarantee(form, player, plan))


def credit(form: SequenceForm, player: int, plan: Array, played: Iterable[int]) -> float:
    """The least that a plan earns against an opponent who makes the moves that were seen.

    `played` are the opponent's sequences on the path of play. Elsewhere, with other cards and on other
    paths, the opponent is assumed to respond best. A rule that adds `credit - value` to what it may risk stays
    safe; where the opponent's card was not seen, take the least over all that fit.
    """
    plex = form.treeplexes[1 - player]
    pays = np.array(form.payoffs[player].T @ plan)  # [opponent sequences]
    forced = {int(s) for s in played}
    for i in range(len(plex.parent) - 1, -1, -1):
        moves = range(int(plex.first[i]), int(plex.first[i] + plex.width[i]))
        seen = [s for s in moves if s in forced]
        pays[plex.parent[i]] += pays[seen[0]] if seen else min(pays[s] for s in moves)
    return float(pays[0])


def gift(form: SequenceForm, player: int, other: Array) -> float:
    """What the opponent's plan gives away to the player's best equilibrium strategy; a gift where it is above 0.

    A gift strategy is one that is no best response to some equilibrium strategy of the player.
    """
    game_value = value(form, player)
    return safe_response(form, player, other, 0.0, game_value).gain - game_value


def _uniform(form: SequenceForm, player: int) -> Array:
    plex = form.treeplexes[player]
    plan = np.ones(plex.sequences)
    for parent, first, width in zip(plex.parent, plex.first, plex.width, strict=True):
        plan[first : first + width] = plan[parent] / width
    return plan


def _behave(form: SequenceForm, player: int, plan: Array) -> Array:
    """The same plan with E x = e to the last digit; uniform where it never goes."""
    plex = form.treeplexes[player]
    out = np.ones(plex.sequences)
    for parent, first, width in zip(plex.parent, plex.first, plex.width, strict=True):
        moves = np.maximum(plan[first : first + width], 0.0)
        moves[moves < 1e-12] = 0.0
        total = moves.sum()
        out[first : first + width] = out[parent] * (moves / total if total > 0 else 1 / width)
    return out
