"""Restricted Nash responses (Johanson, Zinkevich & Bowling 2007): how to gain against a model without being naked.

The opponent is supposed to follow the model with probability p and to play as it likes otherwise. An equilibrium
strategy of that game gains most against the model of all that are as exploitable as it is; p runs from the
equilibrium (0) to the best response (1). Two ways to get it: a linear program on the sequence form, or the
restricted game as a tree, which any solver takes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE, Array
from riverboat.opponents.safe.epsilon_safe import Response, respond, safe_response, value
from riverboat.solvers.exact.sequence_form import SequenceForm
from riverboat.strategies.tabular import Strategy
from riverboat.trees.arrays import Nodes
from riverboat.trees.compile import histories
from riverboat.trees.history import HistoryTree


@dataclass(frozen=True, eq=False)
class TradeOff:
    """Restricted Nash responses for some p, as points of a curve."""

    p: Array  # float64 [points]
    gain: Array  # float64 [points]: pay-off against the model
    exploitability: Array  # float64 [points]: what the worst opponent takes of the value
    responses: tuple[Response, ...]


def restricted_nash(form: SequenceForm, player: int, model: Array, p: float) -> Response:
    """The restricted Nash response to the opponent's plan `model`: maximise p x gain + (1 - p) x guarantee."""
    if not 0 <= p <= 1:
        raise InputError(f"{form.tree.name}: p={p}: must be between 0 and 1")
    return respond(form, player, model, weight=p)


def trade_off(form: SequenceForm, player: int, model: Array, ps: Array) -> TradeOff:
    """Restricted Nash responses for every p.

    At p = 0 every equilibrium strategy is a solution; the one that gains most is taken, which is the limit from
    above. At p = 1 any best response is.
    """
    game_value = value(form, player)
    responses = tuple(
        restricted_nash(form, player, model, float(p)) if p > 0 else safe_response(form, player, model, 0.0, game_value)
        for p in np.asarray(ps, float)
    )
    return TradeOff(
        np.asarray(ps, float),
        np.array([r.gain for r in responses]),
        game_value - np.array([r.worst for r in responses]),
        responses,
    )


def restrict(strategy: Strategy, opponent: int, p: float) -> HistoryTree:
    """The restricted game: a coin that only the opponent sees makes it follow the strategy with probability p.

    The tree stands twice below the coin. In the second copy the opponent's decisions are chance, with the strategy's
    probabilities. Information sets keep their numbers, so tables fit `histories(strategy.tree)`.
    """
    if not 0 <= p <= 1:
        raise InputError(f"{strategy.tree.name}: p={p}: must be between 0 and 1")
    tree = histories(strategy.tree)
    if not 0 <= opponent < tree.players:
        raise InputError(f"{tree.name}: no player {opponent}: there are {tree.players}")
    unrolled = tree is not strategy.tree and tree.origin is not None
    table = strategy.probabilities[tree.origin] if unrolled else strategy.probabilities
    nodes, outcomes = tree.nodes, len(tree.chance)
    count = len(nodes.actor)
    locked = nodes.actor == opponent
    coin = outcomes + len(table)
    free_end, locked_end = nodes.end + 1, nodes.end + 1 + count
    made = Nodes(
        np.concatenate([[CHANCE], nodes.actor, np.where(locked, CHANCE, nodes.actor)]).astype(np.int8),
        np.concatenate([[1 + 2 * count], free_end, locked_end]).astype(np.int32),
        np.concatenate([[2], nodes.width, nodes.width]).astype(np.int16),
        np.concatenate([[coin], nodes.data, np.where(locked, outcomes + nodes.data, nodes.data)]).astype(np.int64),
    )
    infoset = np.concatenate([[-1], tree.node_infoset, np.where(locked, -1, tree.node_infoset)]).astype(np.int32)
    sets = list(tree.infosets())
    labels = tree.outcome_labels or tuple(str(k) for k in range(outcomes))
    moves = tuple(action for infoset_ in sets for action in infoset_.actions)
    return HistoryTree(
        f"{tree.name} with player {opponent} restricted",
        tree.unit,
        made,
        infoset,
        tree.owner,
        tree.payoffs,
        np.concatenate([tree.chance, table, [1 - p, p]]),
        lambda: [(i.name, i.actions) for i in sets],
        (*labels, *moves, "free", "model"),
    )
