"""Correlated and coarse correlated equilibria of normal-form games by linear programs.

A mediator draws a joint pure profile and tells each player its own action. In a correlated equilibrium (Aumann 1974) no
player gains by replacing a recommended action by another one; in a coarse one (Moulin & Vial 1978), by ignoring the
recommendation. Both sets are polytopes, and a linear objective selects a point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, vstack

from riverboat.core.errors import InputError, RiverboatError
from riverboat.games.base import CHANCE, TERMINAL, Array
from riverboat.games.small.normal_form import NormalForm
from riverboat.trees.history import HistoryTree

MAX_PROFILES = 100_000  # joint pure profiles
MAX_ENTRIES = 20_000_000  # of the constraints


@dataclass(frozen=True, eq=False)
class JointDistribution:
    """A distribution over joint pure profiles of a normal-form game, with the gains by deviating from it.

    Attributes
    ----------
    game
        The game.
    probabilities
        float64 [actions of player 0, actions of player 1, …]

    Examples
    --------
    >>> from riverboat.games.small.normal_form import matrix
    >>> chicken = matrix([[[0, 7], [2, 6]], [[0, 2], [7, 6]]])
    >>> traffic_light = JointDistribution(chicken, np.array([[0, 1 / 3], [1 / 3, 1 / 3]]))
    >>> [round(value, 9) for value in traffic_light.values], max(traffic_light.swap_gains) <= 1e-12
    ([5.0, 5.0], True)
    """

    game: NormalForm
    probabilities: Array

    @property
    def values(self) -> tuple[float, ...]:
        """Expected payoff of each player who follows."""
        axes = self.game.players
        payoffs = np.tensordot(self.probabilities, self.game.table, axes)
        return tuple(payoffs.tolist())

    @property
    def coarse_gains(self) -> tuple[float, ...]:
        """Gain of each player by its best action, if it ignores the mediator; not positive in a coarse equilibrium."""
        return tuple(float(self._deviations(p).sum(axis=0).max()) for p in range(self.game.players))

    @property
    def swap_gains(self) -> tuple[float, ...]:
        """Gain of each player by its best reply to each recommendation; zero in a correlated equilibrium."""
        return tuple(float(self._deviations(p).max(axis=1).sum()) for p in range(self.game.players))

    def _deviations(self, player: int) -> Array:
        """Return the gain by playing b where a is recommended, times the probability of a. float64 [a, b]"""
        pay, weight = _by_action(self.game, player), np.moveaxis(self.probabilities, player, 0)
        by_action: Array = weight.reshape(len(pay), -1)
        return np.asarray(by_action @ pay.T - np.sum(by_action * pay, axis=1, keepdims=True))


def normal_form_of(tree: HistoryTree) -> NormalForm | None:
    """Return the normal form of a tree in which every player acts once and sees nothing, or None for other trees.

    Parameters
    ----------
    tree
        Compiled game.

    Returns
    -------
    NormalForm or None
        The game with one axis for each player.

    Examples
    --------
    >>> import riverboat as rb
    >>> normal_form_of(rb.compile_game(rb.game("rps"))).table.shape
    (3, 3, 2)
    """
    terminals = np.flatnonzero(tree.nodes.actor == TERMINAL)
    owners, widths = tree.owner.tolist(), tree.action_counts.tolist()  # in the order in which they act
    if sorted(owners) != list(range(tree.players)) or np.any(tree.nodes.actor == CHANCE):
        return None
    if len(terminals) != np.prod(widths) or tree.depth != tree.players + 1:
        return None
    pay = tree.payoffs[tree.nodes.data[terminals]].reshape(*widths, tree.players)
    infosets = {each.player: each.actions for each in tree.infosets()}
    table = np.transpose(pay, [*np.argsort(owners), tree.players])
    return NormalForm(table, tuple(infosets[player] for player in range(tree.players)), tree.name, tree.unit)


def correlated_equilibrium(
    game: NormalForm, *, coarse: bool = False, objective: Sequence[float] | None = None
) -> JointDistribution:
    """Compute the correlated equilibrium with the largest weighted sum of values.

    Parameters
    ----------
    game
        A normal-form game.
    coarse
        Whether the equilibrium need only be a coarse one.
    objective
        Weight of each player's value; by default 1, which maximizes welfare.

    Returns
    -------
    JointDistribution
        The equilibrium; its gains are computed from the distribution, not taken from the program.

    Raises
    ------
    InputError
        If the game is too large, or `objective` has another length.

    References
    ----------
    .. [1] Aumann, "Subjectivity and correlation in randomized strategies", Journal of Mathematical Economics 1, 1974.
    .. [2] Moulin & Vial, "Strategically zero-sum games", International Journal of Game Theory 7, 1978.

    Examples
    --------
    >>> from riverboat.games.small.normal_form import matrix
    >>> chicken = matrix([[[0, 7], [2, 6]], [[0, 2], [7, 6]]])
    >>> round(sum(correlated_equilibrium(chicken).values), 6)
    10.5
    """
    weights = np.ones(game.players) if objective is None else np.asarray(objective, float)
    if weights.shape != (game.players,) or not np.all(np.isfinite(weights)):
        raise InputError(f"objective={objective!r}: must be {game.players} finite numbers, one for each player")
    shape = game.table.shape[:-1]
    profiles = int(np.prod(shape))
    entries = profiles * sum(shape)
    if profiles > MAX_PROFILES or entries > MAX_ENTRIES:
        raise InputError(
            f"{game.name}: {profiles:,} joint profiles with {entries:,} entries of the program; at most {MAX_PROFILES:,} "
            f"and {MAX_ENTRIES:,} are supported; use method='cfr'"
        )
    scale = float(np.abs(game.table).max(initial=0.0)) or 1.0
    blocks = [_incentives(game, player, coarse) for player in range(game.players)]
    constraints = vstack(blocks) / scale
    found = linprog(
        -(game.table @ weights).ravel() / scale, A_ub=constraints, b_ub=np.zeros(constraints.shape[0]),
        A_eq=np.ones((1, profiles)), b_eq=[1.0], bounds=(0, 1), method="highs",
    )  # fmt: skip
    if found.x is None:
        raise RiverboatError(f"{game.name}: HiGHS found no correlated equilibrium: {found.message}")
    probabilities = np.maximum(found.x, 0.0).reshape(shape)
    return JointDistribution(game, probabilities / probabilities.sum())


def _by_action(game: NormalForm, player: int) -> Array:
    """Return the payoffs of a player by its own action and the profile of the others. float64 [actions, others]"""
    return np.moveaxis(game.table[..., player], player, 0).reshape(game.table.shape[player], -1)


def _incentives(game: NormalForm, player: int, coarse: bool) -> csr_array:
    """Return the gains of a player's deviations by joint profile, which must not be positive. [deviations, profiles]"""
    pay = _by_action(game, player)
    actions, others = pay.shape
    profiles = np.arange(game.table[..., 0].size).reshape(game.table.shape[:-1])
    column = np.moveaxis(profiles, player, 0).reshape(actions, others)
    if coarse:
        coarse_gains = (pay[:, None, :] - pay[None, :, :]).ravel()  # [b, a, others]
        rows = np.repeat(np.arange(actions), actions * others)
        return csr_array((coarse_gains, (rows, np.tile(column.ravel(), actions))), (actions, profiles.size))
    recommended, other = (part.ravel() for part in np.nonzero(~np.eye(actions, dtype=bool)))
    rows = np.repeat(np.arange(len(recommended)), others)
    gains = (pay[other] - pay[recommended]).ravel()
    return csr_array((gains, (rows, column[recommended].ravel())), (len(recommended), profiles.size))
