"""ε-safe best responses, guaranteed earnings, and restricted Nash responses on the sequence form.

A plan is ε-safe if it guarantees the value of the game minus ε. The best of them against a model y of the opponent is a
linear program on the sequence form (Ganzfried & Sandholm 2015; notation of `solvers.exact.lp`, P the player's payoffs):

    maximize x'P y   subject to   E x = e,   F'q <= P'x,   q_0 >= v* - ε,   x >= 0

With ε = 0 it is the best equilibrium strategy against the model, with a large ε the best response.

Restricted Nash responses (Johanson, Zinkevich & Bowling 2007) exploit a model while bounding exploitability: they
maximize p × (payoff against the model) + (1 − p) × (guarantee).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack

from riverboat.core.errors import InputError, RiverboatError
from riverboat.games.base import CHANCE, Array
from riverboat.opponents import _kernels
from riverboat.solvers.exact.sequence_form import SequenceForm
from riverboat.strategies.tabular import Strategy
from riverboat.trees._kernels.tree import TreeNodes
from riverboat.trees.compile import to_history_tree
from riverboat.trees.history import HistoryTree

_LP_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


@dataclass(frozen=True, eq=False)
class PlanResponse:
    """A plan with its payoff against the model and its guaranteed payoff, both to the player.

    Attributes
    ----------
    plan
        Realization plan, float64 [own sequences].
    gain
        Expected payoff against the model.
    guaranteed_value
        Expected payoff against a best-responding opponent.

    Examples
    --------
    >>> PlanResponse(np.array([1.0, 0.25, 0.75]), gain=0.5, guaranteed_value=-0.1).gain
    0.5
    """

    plan: Array  # float64 [own sequences]
    gain: float
    guaranteed_value: float


def guarantee(form: SequenceForm, player: int, plan: Array) -> float:
    """Return the payoff of a plan against a best-responding opponent.

    Parameters
    ----------
    form
        Sequence form of a two-player zero-sum game.
    player
        Player whose plan it is, 0 or 1.
    plan
        Realization plan, float64 [own sequences].

    Returns
    -------
    float
        Guaranteed payoff to the player, in the unit of the game.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.trees.compile import compile_game
    >>> form = SequenceForm(compile_game(kuhn()))
    >>> round(guarantee(form, 0, form.plan(Strategy.uniform(form.tree), 0)), 4)
    -0.4167
    """
    return -form.best_response(1 - player, plan)[0]


def value_of_game(form: SequenceForm, player: int) -> float:
    """Compute the value of a zero-sum game to a player by linear programming.

    Parameters
    ----------
    form
        Sequence form of a two-player zero-sum game.
    player
        Player 0 or 1.

    Returns
    -------
    float
        Value to the player, in the unit of the game.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.trees.compile import compile_game
    >>> round(18 * value_of_game(SequenceForm(compile_game(kuhn())), 0), 6)
    -1.0
    """
    ignored = np.zeros(form.treeplexes[1 - player].sequences)
    return maximize_response(form, player, ignored, weight=0.0).guaranteed_value


def safe_response(
    form: SequenceForm, player: int, model: Array, epsilon: float, game_value: float | None = None
) -> PlanResponse:
    """Compute the best response to a model among plans that guarantee the game value minus `epsilon`.

    Parameters
    ----------
    form
        Sequence form of a two-player zero-sum game.
    player
        Responding player.
    model
        Plan of the opponent, float64 [its sequences].
    epsilon
        Part of the game value that may be risked, 0 or more.
    game_value
        Value of the game to the player. The default is to compute it.

    Returns
    -------
    PlanResponse
        The plan, its payoff against the model, and its guaranteed payoff.

    Raises
    ------
    InputError
        If `epsilon` is negative, the model has another shape, or the game is not zero-sum.

    References
    ----------
    .. [1] Ganzfried and Sandholm, "Safe opponent exploitation", EC 2012; ACM Transactions on Economics and Computation
       2015.

    Examples
    --------
    Uniform play of the second player of Kuhn poker gives up a lot:

    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.trees.compile import compile_game
    >>> form = SequenceForm(compile_game(kuhn()))
    >>> uniform = form.plan(Strategy.uniform(form.tree), 1)
    >>> [round(safe_response(form, 0, uniform, epsilon).gain, 4) for epsilon in (0.0, 0.1, 1.0)]
    [0.1667, 0.4111, 0.5]
    """
    if not epsilon >= 0:
        raise InputError(f"{form.tree.name}: epsilon={epsilon}: must be 0 or more")
    if game_value is None:
        game_value = value_of_game(form, player)
    return maximize_response(form, player, model, floor=game_value - epsilon)


def maximize_response(
    form: SequenceForm, player: int, model: Array, weight: float = 1.0, floor: float = -np.inf
) -> PlanResponse:
    """Maximize weight × (payoff against the model) + (1 - weight) × guarantee, with a guarantee of at least `floor`.

    Parameters
    ----------
    form
        Sequence form of a two-player zero-sum game.
    player
        Responding player.
    model
        Plan of the opponent, float64 [its sequences].
    weight
        Weight of the payoff against the model, from 0 to 1.
    floor
        Least guaranteed payoff. The default is no limit.

    Returns
    -------
    PlanResponse
        The plan, its payoff against the model, and its guaranteed payoff.

    Raises
    ------
    InputError
        If `weight` is out of range, the model has another shape, or the game is not zero-sum.
    RiverboatError
        If no plan guarantees `floor`.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.trees.compile import compile_game
    >>> form = SequenceForm(compile_game(kuhn()))
    >>> uniform = form.plan(Strategy.uniform(form.tree), 1)
    >>> round(maximize_response(form, 0, uniform).gain, 4)
    0.5
    """
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
        options=_LP_OPTIONS,
    )
    if optimum.status != 0:
        raise RiverboatError(
            f"{form.tree.name}: no plan of player {player} guarantees {floor:g}, or HiGHS failed: {optimum.message}"
        )
    plan = _clean_plan(form, player, optimum.x[:sequences])
    return PlanResponse(plan, float(plan @ (payoffs @ model)), guarantee(form, player, plan))


def guaranteed_earnings(form: SequenceForm, player: int, plan: Array, played: Iterable[int]) -> float:
    """Return the least payoff of a plan against an opponent who plays the observed actions.

    Parameters
    ----------
    form
        Sequence form of a two-player zero-sum game.
    player
        Player whose plan it is.
    plan
        Realization plan, float64 [own sequences].
    played
        The opponent's sequences on the path of play. Elsewhere, with other cards and on other paths, the opponent is
        assumed to best-respond.

    Returns
    -------
    float
        Guaranteed expected payoff, given the observed actions.

    Notes
    -----
    A rule that adds `guaranteed_earnings - value` to its bank stays safe. If the opponent's card was not seen, take the
    minimum over all consistent cards.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.trees.compile import compile_game
    >>> form = SequenceForm(compile_game(kuhn()))
    >>> plan = form.plan(Strategy.uniform(form.tree), 0)
    >>> guaranteed_earnings(form, 0, plan, []) == guarantee(form, 0, plan)
    True
    """
    plex = form.treeplexes[1 - player]
    pays = np.array(form.payoffs[player].T @ plan)  # [opponent sequences]
    forced = {int(s) for s in played}
    for i in range(len(plex.parent) - 1, -1, -1):
        actions = range(int(plex.first[i]), int(plex.first[i] + plex.width[i]))
        observed = [s for s in actions if s in forced]
        pays[plex.parent[i]] += pays[observed[0]] if observed else min(pays[s] for s in actions)
    return float(pays[0])


def gift_value(form: SequenceForm, player: int, other: Array) -> float:
    """Return the payoff that the opponent's plan gives up to the player's best equilibrium strategy.

    Parameters
    ----------
    form
        Sequence form of a two-player zero-sum game.
    player
        Player who receives the gift.
    other
        Plan of the opponent, float64 [its sequences].

    Returns
    -------
    float
        Positive for a gift strategy: one that is not a best response to some equilibrium strategy of the player.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.trees.compile import compile_game
    >>> form = SequenceForm(compile_game(kuhn()))
    >>> round(gift_value(form, 0, form.plan(Strategy.uniform(form.tree), 1)), 4)
    0.2222
    """
    game_value = value_of_game(form, player)
    return safe_response(form, player, other, 0.0, game_value).gain - game_value


def _clean_plan(form: SequenceForm, player: int, plan: Array) -> Array:
    """Return the plan with rounding errors of E x = e removed; uniform at infosets that the plan does not reach."""
    plex = form.treeplexes[player]
    out = np.ones(plex.sequences)
    for parent, first, width in zip(plex.parent, plex.first, plex.width, strict=True):
        moves = np.maximum(plan[first : first + width], 0.0)
        moves[moves < 1e-12] = 0.0
        total = moves.sum()
        out[first : first + width] = out[parent] * (moves / total if total > 0 else 1 / width)
    return out


# --- vertices of plans and guarantees -------------------------------------------------------------

MAX_SYSTEMS = 500_000  # limit of linear systems in `enumerate_vertices`
_TOLERANCE = 1e-10


@dataclass(frozen=True, eq=False)
class PlanVertices:
    """Undominated vertices of a player's plans and guarantees: all ε-safe best responses of a small game.

    Attributes
    ----------
    form
        Sequence form of the game.
    player
        Player whose plans these are.
    plans
        Vertices of the polytope of plans, float64 [vertices, own sequences].
    guarantees
        Guaranteed payoff of each vertex, float64 [vertices].

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.trees.compile import compile_game
    >>> vertices = enumerate_vertices(SequenceForm(compile_game(kuhn())), player=0)
    >>> len(vertices.plans), round(18 * vertices.value, 6)
    (22, -1.0)
    """

    form: SequenceForm
    player: int
    plans: Array  # float64 [vertices, own sequences]
    guarantees: Array  # float64 [vertices]: guaranteed payoffs

    @property
    def value(self) -> float:
        """Value of the game to the player."""
        return float(self.guarantees.max())

    def respond(self, model: Array, epsilon: float, preference: Array | None = None) -> Array:
        """Return an ε-safe best response to the opponent's plan `model`. float64 [own sequences]

        Parameters
        ----------
        model
            Plan of the opponent, float64 [its sequences].
        epsilon
            Part of the value that may be risked, 0 or more.
        preference
            Tie-breaking preference of each vertex, float64 [vertices], larger is better; it has a weight of 1e-9.

        Raises
        ------
        InputError
            If `epsilon` is negative.
        """
        if not epsilon >= 0:
            raise InputError(f"{self.form.tree.name}: epsilon={epsilon}: must be 0 or more")
        gain = self.plans @ (self.form.payoffs[self.player] @ model)
        if preference is not None:
            gain = gain + _kernels.TIE_WEIGHT * preference
        first, second, share = _kernels.mix_vertices(gain, self.guarantees, self.value - epsilon)
        return np.asarray((1 - share) * self.plans[first] + share * self.plans[second])

    @property
    def aggression(self) -> Array:
        """Aggression of each vertex: how much it bets, raises and calls. float64 [vertices]

        An action counts by its position in its menu (from folding to raising), and half as much with every earlier own
        action.
        """
        plex = self.form.treeplexes[self.player]
        reach = np.ones(plex.sequences)
        weight = np.zeros(plex.sequences)
        for parent, first, width in zip(plex.parent, plex.first, plex.width, strict=True):
            reach[first : first + width] = reach[parent] / 2
            weight[first : first + width] = reach[parent] * np.arange(width) / max(width - 1, 1)
        return np.asarray(self.plans @ weight)

    @property
    def most_aggressive_equilibrium(self) -> int:
        """Index of the vertex that bets most among those that guarantee the value."""
        return int(np.argmax(np.where(self.guarantees > self.value - _TOLERANCE, self.aggression, -np.inf)))


def enumerate_vertices(form: SequenceForm, player: int) -> PlanVertices:
    """Enumerate the vertices for a player of a small zero-sum game in which the opponent decides once.

    Parameters
    ----------
    form
        Sequence form of a two-player zero-sum game.
    player
        Player whose plans are enumerated.

    Returns
    -------
    PlanVertices
        Vertices that no other vertex weakly dominates.

    Raises
    ------
    InputError
        If the opponent decides more than once on a path, or there are more than `MAX_SYSTEMS` candidates.

    Notes
    -----
    At a vertex, as many independent constraints are tight as the plans have dimensions. Constraints are the nonnegative
    own sequences without successors, and the planes where two actions of the opponent have the same value. All
    combinations are tried.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.trees.compile import compile_game
    >>> enumerate_vertices(SequenceForm(compile_game(kuhn())), player=0).plans.shape
    (22, 13)
    """
    form.histories.check_zero_sum()
    own, other = form.treeplexes[player], form.treeplexes[1 - player]
    if np.any(other.parent):
        raise InputError(
            f"{form.tree.name}: player {1 - player} decides more than once on a path; "
            f"vertices can be enumerated for one decision only, use safe_response instead"
        )
    equal, right = form.constraints(player)
    equal = equal.toarray()
    cost = form.payoffs[player].toarray().T  # [opponent sequences, own sequences]
    planes = list(np.eye(own.sequences)[~np.isin(np.arange(own.sequences), own.parent)])
    menus = [slice(first, first + width) for first, width in zip(other.first, other.width, strict=True)]
    planes += [one - two for menu in menus for one, two in combinations(cost[menu], 2)]
    free = own.sequences - len(right)
    if comb(len(planes), free) > MAX_SYSTEMS:
        raise InputError(
            f"{form.tree.name}: {comb(len(planes), free):,} candidate vertices, more than {MAX_SYSTEMS:,}; "
            f"use safe_response instead"
        )
    chosen = np.array(list(combinations(range(len(planes)), free)))
    systems = np.concatenate([np.broadcast_to(equal, (len(chosen), *equal.shape)), np.array(planes)[chosen]], axis=1)
    regular = systems[np.abs(np.linalg.det(systems)) > _TOLERANCE]
    sides = np.concatenate([right, np.zeros(free)])
    points = np.linalg.solve(regular, np.broadcast_to(sides[:, None], (len(regular), len(sides), 1)))[..., 0]
    points = points[points.min(axis=1) > -_TOLERANCE]
    _, unique = np.unique(np.round(points, 9), axis=0, return_index=True)
    plans = np.maximum(points[np.sort(unique)], 0.0)
    pays = plans @ cost.T  # [points, opponent sequences]
    worst = pays[:, 0] + sum(pays[:, menu].min(axis=1) for menu in menus)
    keep = _undominated(pays, worst, menus)
    return PlanVertices(form, player, np.ascontiguousarray(plans[keep]), np.ascontiguousarray(worst[keep]))


def _undominated(pays: Array, worst: Array, menus: list[slice]) -> Array:
    """Return the indices of vertices that no other weakly dominates, in payoffs against all replies and the guarantee.

    `pays` float64 [vertices, opponent sequences], `worst` float64 [vertices]; `menus` are the opponent's infosets.
    """
    advantage = pays[:, None, 0] - pays[None, :, 0]  # [a, b]: least advantage of a over b
    for menu in menus:
        advantage += (pays[:, None, menu] - pays[None, :, menu]).min(axis=2)
    dominates = (advantage >= -_TOLERANCE) & (worst[:, None] >= worst[None, :] - _TOLERANCE)
    equal = dominates & dominates.T
    dominates &= ~equal | (np.arange(len(worst))[:, None] < np.arange(len(worst))[None, :])  # keep the first of equals
    np.fill_diagonal(dominates, False)
    return np.flatnonzero(~dominates.any(axis=0))


# --- restricted Nash responses --------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RestrictedNashCurve:
    """Restricted Nash responses for several p, as points of a curve.

    Attributes
    ----------
    p
        Probabilities that the opponent is the model, float64 [points].
    gain
        Payoff against the model, float64 [points].
    exploitability
        Game value minus guarantee, float64 [points].
    responses
        The response of each point.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.trees.compile import compile_game
    >>> form = SequenceForm(compile_game(kuhn()))
    >>> uniform = form.plan(Strategy.uniform(form.tree), 1)
    >>> restricted_nash_curve(form, 0, uniform, np.array([0.0, 0.5, 1.0])).gain.round(4)
    array([0.1667, 0.3889, 0.5   ])
    """

    p: Array  # float64 [points]
    gain: Array  # float64 [points]: payoff against the model
    exploitability: Array  # float64 [points]: game value minus guarantee
    responses: tuple[PlanResponse, ...]


def restricted_nash(form: SequenceForm, player: int, model: Array, p: float) -> PlanResponse:
    """Compute the restricted Nash response to a model: maximize p × gain + (1 - p) × guarantee.

    Parameters
    ----------
    form
        Sequence form of a two-player zero-sum game.
    player
        Responding player.
    model
        Plan of the opponent, float64 [its sequences].
    p
        Probability that the opponent is the model: 0 gives an equilibrium strategy, 1 a best response.

    Returns
    -------
    PlanResponse
        The plan, its payoff against the model, and its guaranteed payoff.

    Raises
    ------
    InputError
        If `p` is not from 0 to 1.

    References
    ----------
    .. [1] Johanson, Zinkevich and Bowling, "Computing robust counter-strategies", NIPS 2007.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.trees.compile import compile_game
    >>> form = SequenceForm(compile_game(kuhn()))
    >>> response = restricted_nash(form, 0, form.plan(Strategy.uniform(form.tree), 1), p=0.5)
    >>> round(response.gain, 4), round(response.guaranteed_value, 4)
    (0.3889, -0.1111)
    """
    if not 0 <= p <= 1:
        raise InputError(f"{form.tree.name}: p={p}: must be between 0 and 1")
    return maximize_response(form, player, model, weight=p)


def restricted_nash_curve(form: SequenceForm, player: int, model: Array, ps: Array) -> RestrictedNashCurve:
    """Compute restricted Nash responses for every p.

    Parameters
    ----------
    form
        Sequence form of a two-player zero-sum game.
    player
        Responding player.
    model
        Plan of the opponent, float64 [its sequences].
    ps
        Probabilities that the opponent is the model, float64 [points].

    Returns
    -------
    RestrictedNashCurve
        Gains, exploitabilities and responses.

    Notes
    -----
    At p = 0 every equilibrium strategy is a solution; the one with the largest gain is taken, which is the limit from
    above. At p = 1 any best response is a solution.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.trees.compile import compile_game
    >>> form = SequenceForm(compile_game(kuhn()))
    >>> curve = restricted_nash_curve(form, 0, form.plan(Strategy.uniform(form.tree), 1), np.array([0.5, 1.0]))
    >>> curve.exploitability.round(4)
    array([0.0556, 0.4444])
    """
    game_value = value_of_game(form, player)
    points = np.asarray(ps, float)
    responses = tuple(
        restricted_nash(form, player, model, float(p)) if p > 0 else safe_response(form, player, model, 0.0, game_value)
        for p in points
    )
    gains = np.array([response.gain for response in responses])
    guarantees = np.array([response.guaranteed_value for response in responses])
    return RestrictedNashCurve(points, gains, game_value - guarantees, responses)


def restricted_game(strategy: Strategy, opponent: int, p: float) -> HistoryTree:
    """Build the restricted game: a coin that only the opponent sees makes it follow the strategy with probability p.

    Parameters
    ----------
    strategy
        Profile whose part for `opponent` is the model.
    opponent
        Player that follows the model after one side of the coin.
    p
        Probability of the model, from 0 to 1.

    Returns
    -------
    HistoryTree
        A tree with two copies below the coin. In the second, the opponent's decisions are chance nodes with the
        strategy's probabilities. Information sets keep their indices, so that tables fit
        `to_history_tree(strategy.tree)`.

    Raises
    ------
    InputError
        If `p` is not from 0 to 1, or there is no such player.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.trees.compile import compile_game
    >>> restricted_game(Strategy.uniform(compile_game(kuhn())), opponent=1, p=0.5).name
    'kuhn with player 1 restricted'
    """
    if not 0 <= p <= 1:
        raise InputError(f"{strategy.tree.name}: p={p}: must be between 0 and 1")
    tree, table = unroll(strategy)
    if not 0 <= opponent < tree.players:
        raise InputError(f"{tree.name}: no player {opponent}: must be 0 to {tree.players - 1}")
    nodes, outcomes = tree.nodes, len(tree.chance)
    count = len(nodes.actor)
    locked = nodes.actor == opponent
    restricted_nodes = TreeNodes(
        np.concatenate([[CHANCE], nodes.actor, np.where(locked, CHANCE, nodes.actor)]).astype(np.int8),
        np.concatenate([[1 + 2 * count], nodes.end + 1, nodes.end + 1 + count]).astype(np.int32),
        np.concatenate([[2], nodes.width, nodes.width]).astype(np.int16),
        np.concatenate(
            [[outcomes + len(table)], nodes.data, np.where(locked, outcomes + nodes.data, nodes.data)]
        ).astype(np.int64),
    )
    infoset = np.concatenate([[-1], tree.node_infoset, np.where(locked, -1, tree.node_infoset)]).astype(np.int32)
    sets = list(tree.infosets())
    labels = tree.outcome_labels or tuple(str(k) for k in range(outcomes))
    moves = tuple(action for infoset_ in sets for action in infoset_.actions)
    return HistoryTree(
        f"{tree.name} with player {opponent} restricted",
        tree.unit,
        restricted_nodes,
        infoset,
        tree.owner,
        tree.payoffs,
        np.concatenate([tree.chance, table, [1 - p, p]]),
        lambda: [(i.name, i.actions) for i in sets],
        (*labels, *moves, "free", "model"),
    )


def unroll(strategy: Strategy) -> tuple[HistoryTree, Array]:
    """Return the history tree of a strategy's game, and the strategy's table on it.

    Parameters
    ----------
    strategy
        Strategy of a public tree or of a history tree.

    Returns
    -------
    tuple
        The tree, and the probabilities of its actions, float64 [table].

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.trees.compile import compile_game
    >>> unroll(Strategy.uniform(compile_game(kuhn())))[1].shape
    (24,)
    """
    tree, table = to_history_tree(strategy.tree), strategy.probabilities
    return tree, table if tree is strategy.tree or tree.origin is None else table[tree.origin]
