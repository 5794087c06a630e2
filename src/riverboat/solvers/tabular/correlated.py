"""Coarse correlated equilibria of games with any number of players, by the empirical play of CFR.

A mediator draws an iteration t with its weight, and every player follows its strategy of that iteration. No player
gains more from ignoring the mediator than its average external regret, which CFR makes small in every game with perfect
recall. So the empirical play tends to a coarse correlated equilibrium where the average strategy may be none.

The certificate is exact for any sequence of profiles. For player i and each terminal z the sum over t of
w_t π_{-i}^t(z) is accumulated. A best response to these sums is the best deviation, since it cannot depend on t.

Two deviations are measured:

- *coarse*: the player decides before the game to ignore the mediator (normal-form coarse correlated equilibrium);
- *trigger*: the player follows until it reaches an information set, and ignores the mediator from there on, before it
  sees the recommendation (extensive-form coarse correlated equilibrium). CFR does not bound this one in general.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from riverboat.core.errors import InputError
from riverboat.games.base import TERMINAL, Array
from riverboat.solvers import schedules
from riverboat.solvers.schedules import AnySchedule
from riverboat.solvers.tabular.cfr import CFR
from riverboat.trees._kernels.tree import opponents_reach, treeplex_best_response
from riverboat.trees.history import HistoryTree

DEFAULT_SCHEDULE = "pcfr+:alternating=0"  # simultaneous, so that regrets are those against the play of an iteration
MAX_PAIRS = 20_000_000  # pairs of a terminal and an information set above it, a float64 each


@dataclass(frozen=True)
class DeviationGains:
    """Largest gains of each player by deviating from a correlated play, exact up to rounding.

    Attributes
    ----------
    values
        Expected value of each player who follows.
    coarse
        Gain of each player by the best strategy that ignores the mediator.
    trigger
        Gain of each player by the best deviation that begins at one information set.
    trigger_at
        Index of that information set in the tree, for each player; -1 for a player without one.

    Examples
    --------
    >>> gains = DeviationGains((1.0, 1.0), (0.0, 0.25), (0.0, 0.5), (0, 1))
    >>> gains.epsilon, gains.trigger_epsilon
    (0.25, 0.5)
    """

    values: tuple[float, ...]
    coarse: tuple[float, ...]
    trigger: tuple[float, ...]
    trigger_at: tuple[int, ...]

    @property
    def epsilon(self) -> float:
        """The largest coarse gain, at least 0: the play is an ε-coarse correlated equilibrium."""
        return max(0.0, *self.coarse)

    @property
    def trigger_epsilon(self) -> float:
        """The largest trigger gain, at least 0: the play is an ε-extensive-form coarse correlated equilibrium."""
        return max(0.0, *self.trigger)


class EmpiricalPlay:
    """Weighted sums over a sequence of strategy profiles, from which all gains by deviating follow.

    Parameters
    ----------
    tree
        Tree of a game in which all players have perfect recall.

    Raises
    ------
    InputError
        If the tree is too large.
    RecallError
        If a player has imperfect recall.

    Examples
    --------
    >>> import riverboat as rb
    >>> from riverboat.trees.compile import compile_game
    >>> tree = compile_game(rb.matrix([[[3, 0], [5, 1]], [[3, 5], [0, 1]]]))  # prisoner's dilemma
    >>> play = EmpiricalPlay(tree)
    >>> play.add(rb.Strategy.uniform(tree).probabilities)
    >>> play.gains().coarse
    (0.75, 0.75)
    """

    def __init__(self, tree: HistoryTree) -> None:
        self.tree = tree
        self.terminals = np.flatnonzero(tree.nodes.actor == TERMINAL)
        self.pay = tree.payoffs[tree.nodes.data[self.terminals]]  # float64 [terminals, players]
        self.weight = 0.0
        self._parts = tuple(_PlayerPart(self, player) for player in range(tree.players))
        self._reach = np.zeros(len(self.terminals))

    def add(self, table: Array, weight: float = 1.0, decay: float = 1.0) -> None:
        """Add a profile with a weight, after all earlier weights are multiplied by `decay`.

        Parameters
        ----------
        table
            Probabilities of the actions. float64 [tree.table_size]
        weight
            Weight of the profile.
        decay
            Factor on earlier weights.
        """
        reach = np.empty(len(self.tree.nodes.actor))
        self.weight = self.weight * decay + weight
        for part in self._parts:
            part.add(table, reach, weight, decay)
        self._others_reach(table, self.tree.players, reach)  # without the part of nobody: of all players
        self._reach *= decay
        self._reach += weight * reach[self.terminals]

    def _others_reach(self, table: Array, player: int, out: Array) -> None:
        nodes = self.tree.nodes
        opponents_reach(nodes.actor, nodes.end, nodes.data, self.tree.chance, table, player, out)

    @property
    def outcome_probabilities(self) -> Array:
        """Probability of each terminal, in the order of the tree. float64 [terminals]"""
        self._check_not_empty()
        return self._reach / self.weight

    def gains(self, *, triggers: bool = True) -> DeviationGains:
        """Compute the value of each player, and its largest gains by deviating.

        Parameters
        ----------
        triggers
            Whether to compute the trigger gains, which takes longest; they are NaN otherwise.

        Returns
        -------
        DeviationGains
            Exact figures, up to rounding.
        """
        follow = self.outcome_probabilities[:, None] * self.pay
        values = follow.sum(axis=0)
        coarse = [part.best_value() / self.weight - value for part, value in zip(self._parts, values, strict=True)]
        trigger = [part.best_trigger(follow[:, part.player]) if triggers else (math.nan, -1) for part in self._parts]
        return DeviationGains(
            tuple(values.tolist()), tuple(map(float, coarse)), tuple(gain for gain, _ in trigger),
            tuple(at for _, at in trigger),
        )  # fmt: skip

    def _check_not_empty(self) -> None:
        if not self.weight > 0:
            raise InputError(f"{self.tree.name}: no profile has been added yet")


class _PlayerPart:
    """The sums of one player: reach of the others at terminals, and the same times its own reach of information sets."""

    def __init__(self, play: EmpiricalPlay, player: int) -> None:
        tree = play.tree
        self.play, self.player, self.plex = play, player, tree.treeplex(player)
        self.last = tree.last_sequence[play.terminals, player]  # int32 [terminals]
        self.others = np.zeros(len(play.terminals))
        # Sequence s belongs to information set above[s] of the treeplex, -1 for the empty sequence.
        above = np.repeat(np.arange(len(self.plex.infosets)), self.plex.width)
        self.above = np.concatenate([[-1], above]) if len(above) else np.array([-1])
        terminal, infoset = [], []
        at = self.above[self.last]
        while np.any(at >= 0):
            inside = np.flatnonzero(at >= 0)
            terminal.append(inside)
            infoset.append(at[inside])
            at = np.where(at >= 0, self.above[self.plex.parent[np.maximum(at, 0)]], -1) if len(self.plex.parent) else at
        self.pair_terminal = np.concatenate([*terminal, np.zeros(0, np.int64)]).astype(np.int64)
        self.pair_infoset = np.concatenate([*infoset, np.zeros(0, np.int64)]).astype(np.int64)
        if len(self.pair_terminal) > MAX_PAIRS:
            raise InputError(
                f"{tree.name}: {len(self.pair_terminal):,} pairs of a terminal and an information set of player {player}, at "
                f"most {MAX_PAIRS:,} are supported; take a smaller game"
            )
        self.triggered = np.zeros(len(self.pair_terminal))
        self.levels = self._levels()

    def _levels(self) -> list[tuple[Array, Array]]:
        """Return the sequences with one own action, with two, … and the sequences before them."""
        parent = np.concatenate([[0], np.repeat(self.plex.parent, self.plex.width)])
        levels, before = [], np.zeros(1, np.int64)
        while len(before):
            inside = np.zeros(len(parent), bool)
            inside[before] = True
            sequences = 1 + np.flatnonzero(inside[parent[1:]])
            levels.append((parent[sequences], sequences))
            before = sequences
        return levels[:-1]

    def add(self, table: Array, reach: Array, weight: float, decay: float) -> None:
        play, plex = self.play, self.plex
        play._others_reach(table, self.player, reach)
        others = weight * reach[play.terminals]
        self.others *= decay
        self.others += others
        plan = np.ones(plex.sequences)  # own reach of each sequence
        for parents, sequences in self.levels:
            plan[sequences] = plan[parents] * table[plex.table_index[sequences]]
        self.triggered *= decay
        self.triggered += others[self.pair_terminal] * plan[plex.parent[self.pair_infoset]]

    def best_value(self) -> float:
        """Return the best value against the sums of the others' reach."""
        value = np.bincount(self.last, self.others * self.play.pay[:, self.player], minlength=self.plex.sequences)
        best = np.empty(len(self.plex.infosets), np.int32)
        treeplex_best_response(self.plex.parent, self.plex.first, self.plex.width, value, best)
        return float(value[0])

    def best_trigger(self, follow: Array) -> tuple[float, int]:
        """Return the largest gain by a deviation at one information set, and that set; `follow` is float64 [terminals]."""
        plex, count = self.plex, len(self.plex.infosets)
        if not count:
            return 0.0, -1
        pay = self.play.pay[self.pair_terminal, self.player] * self.triggered / self.play.weight
        followed = np.bincount(self.pair_infoset, follow[self.pair_terminal], minlength=count)
        order = np.argsort(self.pair_infoset, kind="stable")
        ends = np.searchsorted(self.pair_infoset[order], np.arange(count + 1))
        parent_infoset = self.above[plex.parent]
        best_gain, best_at = -np.inf, -1
        for i in range(count):
            inside = np.zeros(count, bool)
            inside[i] = True
            for j in range(i + 1, count):  # parents precede children
                inside[j] = parent_infoset[j] >= i and inside[parent_infoset[j]]
            below, pairs = np.flatnonzero(inside), order[ends[i] : ends[i + 1]]
            value = np.bincount(self.last[self.pair_terminal[pairs]], pay[pairs], minlength=plex.sequences)
            value[plex.parent[i]] = 0.0
            best = np.empty(len(below), np.int32)
            treeplex_best_response(plex.parent[below], plex.first[below], plex.width[below], value, best)
            gain = float(value[plex.parent[i]] - followed[i])
            if gain > best_gain:
                best_gain, best_at = gain, int(plex.infosets[i])
        return best_gain, best_at


class CorrelatedCFR:
    """CFR whose empirical play is accumulated.

    Parameters
    ----------
    tree
        Tree of a game in which all players have perfect recall.
    schedule
        Name of a schedule, a `Schedule`, or a `Rule`. Iterations have the weights of its average.

    References
    ----------
    .. [1] Hart & Mas-Colell, "A simple adaptive procedure leading to correlated equilibrium", Econometrica 68, 2000.
    .. [2] Celli, Marchesi, Bianchi & Gatti, "Learning to correlate in multi-player general-sum sequential games",
       NeurIPS 2019.
    .. [3] Farina, Bianchi & Sandholm, "Coarse correlation in extensive-form games", AAAI 2020.

    Examples
    --------
    >>> import riverboat as rb
    >>> from riverboat.trees.compile import compile_game
    >>> solver = CorrelatedCFR(compile_game(rb.game("kuhn:players=3,cards=4")))
    >>> solver.step(200)
    >>> solver.play.gains().epsilon < 0.01
    True
    """

    def __init__(self, tree: HistoryTree, schedule: str | AnySchedule = DEFAULT_SCHEDULE) -> None:
        self.play = EmpiricalPlay(tree)
        self.solver = CFR(tree, schedules.parse(schedule))

    @property
    def iteration(self) -> int:
        """Number of iterations so far."""
        return self.solver.iteration

    def step(self, count: int = 1) -> None:
        """Run iterations, and add the profile of each to the play.

        Parameters
        ----------
        count
            Number of iterations, 0 or more.
        """
        for _ in range(count):
            decay = self.solver.schedule.step(self.iteration + 1).decay
            self.play.add(self.solver.current().probabilities, 1.0, decay)
            self.solver.step(1)
