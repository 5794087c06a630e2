"""Strategies of whole ranges at public states: batches, reach probabilities, ranges, and spots from table states.

    batch = agent.strategies(public_states)            # actions and probabilities of all hands
    ranges(public_states, agent)                       # float64 [n, 2, hands]: both players' ranges, by Bayes' rule

Everything here is public knowledge about a strategy: a player's private randomness is averaged out, given its actions so
far. With `draw`, hand numbers fix that randomness, and the result is the strategy of those hands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from riverboat.cards.deck import FULL_DECK, NUM_HANDS
from riverboat.cards.ranges import Range
from riverboat.core.arrays import Array
from riverboat.core.cache import LRUCache
from riverboat.core.errors import InputError, MemoryLimitError, short_repr
from riverboat.games.base import TERMINAL
from riverboat.games.holdem.actions import END_OF_LINE, format_action
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.menus import SEATS, ActionMenu
from riverboat.games.holdem.public_states import PublicStates
from riverboat.games.spots.spot import Spot


@dataclass(frozen=True, eq=False)
class StrategyBatch:
    """Strategies of all hands at n public states. Hands are indexed as in `deck.hands`.

    Rows of unblocked hands sum to one. Rows of blocked hands are zero, and so are all rows at states where nobody acts, so
    that products with ranges need no mask.

    Attributes
    ----------
    public_states
        Public states.
    actor
        int8 [n]: seat to act; -1 if nobody acts.
    moves
        int32 [n, columns]: FOLD, CALL, raise totals in ascending order; padded with END_OF_LINE.
    probabilities
        float64 [n, hands, columns]

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> agent = make_agent("default")
    >>> states = PublicStates.from_lines(agent.rules, ["", "r300"])
    >>> batch = agent.strategies(states)
    >>> batch.actor.tolist(), batch.probabilities.shape[:2]
    ([1, 0], (2, 1326))
    """

    public_states: PublicStates
    actor: Array  # int8 [n]: seat to act; -1 if nobody acts
    moves: Array  # int32 [n, columns]: FOLD, CALL, raise totals in ascending order; padded with END_OF_LINE
    probabilities: Array  # float64 [n, hands, columns]

    def __len__(self) -> int:
        return len(self.public_states)

    def labels(self, i: int) -> tuple[str, ...]:
        """Return the labels of the actions at a public state, in protocol notation.

        Parameters
        ----------
        i
            Index of a state.
        """
        rules = self.public_states.rules
        return tuple(format_action(move, rules) for move in self.moves[i].tolist() if move != END_OF_LINE)

    def move_probabilities(self, moves: Array) -> Array:
        """Return the probability of one action at each state; zero if it is never played.

        int32 [n] -> float64 [n, hands]

        Parameters
        ----------
        moves
            Action at each state. int32 [n]
        """
        match = (self.moves == np.asarray(moves)[:, None]) & (self.moves != END_OF_LINE)
        probabilities: Array = np.matmul(self.probabilities, match[:, :, None].astype(float))[:, :, 0]
        return probabilities


@runtime_checkable
class PublicPolicy(Protocol):
    """A player whose strategy at public states can be queried."""

    def strategies(self, public_states: PublicStates, draw: Array | None = None) -> StrategyBatch:
        """Return the strategies of all hands; `draw` gives hand numbers that fix private randomness. int64 [n]

        Parameters
        ----------
        public_states
            Public states.
        draw
            Numbers of the hands, which fix private randomness; without them strategies are expectations. int64 [n]
        """


class PublicStateStrategy(NamedTuple):
    """Strategies of all hands at one public state.

    Attributes
    ----------
    moves
        int32 [actions], ascending.
    probabilities
        float64 [hands, actions]

    Examples
    --------
    >>> PublicStateStrategy(np.array([0, 300]), np.array([[0.25, 0.75]])).move_probabilities(300).tolist()
    [0.75]
    """

    moves: Array  # int32 [actions], ascending
    probabilities: Array  # float64 [hands, actions]

    def move_probabilities(self, move: int) -> Array:
        """Return the probability of one action with every hand; zeros if it is never played. float64 [hands]

        Parameters
        ----------
        move
            FOLD, CALL, or the total of a raise.
        """
        probabilities: Array = self.probabilities[:, self.moves == move].sum(axis=1)
        return probabilities


def iterate_strategies(
    player: PublicPolicy, public_states: PublicStates, batch_size: int = 64
) -> Iterator[PublicStateStrategy]:
    """Yield the strategies at public states one by one, queried in batches, or singly if results are large.

    Parameters
    ----------
    player
        Policy that is asked.
    public_states
        Public states.
    batch_size
        Number of states that are asked at once.

    Yields
    ------
    PublicStateStrategy
        Strategies of all hands at one state.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> agent = make_agent("default")
    >>> states = PublicStates.from_lines(agent.rules, ["", "r300"])
    >>> len(list(iterate_strategies(agent, states)))
    2
    """
    for begin in range(0, len(public_states), batch_size):
        batch = public_states.take(slice(begin, begin + batch_size))
        try:
            strategies = player.strategies(batch)
        except MemoryLimitError:  # some policies have a column for every chip
            if len(batch) == 1:
                raise
            yield from iterate_strategies(player, batch, 1)
            continue
        for i in range(len(batch)):
            used = int((strategies.moves[i] != END_OF_LINE).sum())
            # Copied: sums over a view would round differently, depending on the width of the batch.
            yield PublicStateStrategy(strategies.moves[i, :used], strategies.probabilities[i, :, :used].copy())


def reach_probabilities(player: PublicPolicy, public_states: PublicStates, seat: int) -> Array:
    """Return the probability that a seat plays its actions of each line with each hand; zero for blocked hands.

    Uses the player's own `reach` method if it has one, otherwise the chain rule. float64 [n, hands]

    Parameters
    ----------
    player
        Policy that is asked.
    public_states
        Public states.
    seat
        Seat: 0 has the big blind, 1 is the dealer.

    Returns
    -------
    Array
        The probability that a seat plays its actions of each line with each hand.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> agent = make_agent("default")
    >>> reach_probabilities(agent, PublicStates.from_lines(agent.rules, ["c"]), 0).shape
    (1, 1326)
    """
    if seat not in (0, 1):
        raise InputError(f"seat {seat}: seats are 0 and 1")
    return getattr(player, "reach", partial(reach_by_chain_rule, player))(public_states, seat)


def reach_by_chain_rule(player: PublicPolicy, public_states: PublicStates, seat: int) -> Array:
    """Compute reach probabilities as products of the strategy at each decision on the path. float64 [n, hands]

    Parameters
    ----------
    player
        Policy that is asked.
    public_states
        Public states.
    seat
        Seat: 0 has the big blind, 1 is the dealer.

    Returns
    -------
    Array
        Reach probabilities as products of the strategy at each decision on the path.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> agent = make_agent("default")
    >>> float(reach_by_chain_rule(agent, PublicStates.from_lines(agent.rules, ["c"]), 0).min())
    1.0
    """
    out = public_states.live_hands.astype(float)
    path, owner, actions = public_states.decisions()
    own = np.flatnonzero(path.actor == seat)
    for i, row in zip(own.tolist(), iterate_strategies(player, path.take(own)), strict=True):
        out[owner[i]] *= row.move_probabilities(int(actions[i]))
    return out


def ranges(public_states: PublicStates, player: PublicPolicy, other: PublicPolicy | None = None) -> Array:
    """Return both ranges at public states: seat 0 plays `player`, seat 1 `other` or the same policy. float64 [n, 2, hands]

    A weight is the probability that a player with that hand plays its actions of the line; zero for blocked hands.

    Parameters
    ----------
    public_states
        Public states.
    player
        Policy of seat 0.
    other
        Policy of seat 1; None: the same.

    Returns
    -------
    Array
        Weights of all hands. float64 [n, 2, hands]

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> agent = make_agent("default")
    >>> ranges(PublicStates.from_lines(agent.rules, ["c"]), agent).shape
    (1, 2, 1326)
    """
    policies = (player, player if other is None else other)
    return np.stack([reach_probabilities(policy, public_states, seat) for seat, policy in enumerate(policies)], axis=1)


def empty_strategies(public_states: PublicStates, columns: int = 0) -> StrategyBatch:
    """Allocate a batch of strategies to be filled in.

    Parameters
    ----------
    public_states
        Public states.
    columns
        Number of columns for actions.

    Returns
    -------
    StrategyBatch
        The batch: all probabilities are zero, and there are no actions.

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> empty_strategies(PublicStates.from_lines(read_game("nolimit-200bb"), [""]), 2).moves.tolist()
    [[-2, -2]]
    """
    n, hands = len(public_states), public_states.rules.deck.num_hands
    moves = np.full((n, columns), END_OF_LINE, np.int32)
    return StrategyBatch(public_states, public_states.actor, moves, np.zeros((n, hands, columns)))


# --- cache --------------------------------------------------------------------------------------

PublicStateCache = LRUCache  # keys are the bytes of a line, a board or both


# --- spots from table states --------------------------------------------------------------------


def spot_from_state(
    state: BettingState,
    board: Sequence[int],
    player: PublicPolicy,
    opponent: PublicPolicy | None = None,
    *,
    menu: ActionMenu | None = None,
    floor: float = 0.0,
    name: str = "table",
    policy_state: BettingState | None = None,
) -> Spot:
    """Build the spot at a betting state from the flop on: real pot, stacks and bets, and ranges by Bayes' rule.

    Seat 0 has played `player`, seat 1 `opponent` or the same policy. If the policies were made for other blinds or stacks,
    `policy_state` is the corresponding state of their game. Weights are scaled so that the largest is one. With a `floor`,
    every unblocked hand has at least that weight, so that no range is empty after any line. A limit game needs no menu.

    Parameters
    ----------
    state
        Betting state of the real game, from the flop on.
    board
        Board cards.
    player
        Policy of seat 0.
    opponent
        Policy of seat 1; None: the same.
    menu
        Bet sizes; None in a limit game.
    floor
        Smallest weight of an unblocked hand.
    name
        Name for messages and progress.
    policy_state
        The state in the policies' own game, if its blinds or stacks differ.

    Returns
    -------
    Spot
        The spot at a betting state from the flop on.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> from riverboat.games.holdem.menus import one_size_menu
    >>> agent = make_agent("default")
    >>> state = BettingState.from_line(agent.rules, "cc/")
    >>> spot_from_state(state, (0, 5, 10), agent, menu=one_size_menu("100%")).pot
    200
    """
    if not 0 <= floor <= 1:
        raise InputError(f"floor={short_repr(floor)}: must be a weight from 0 to 1, such as 0.01")
    if state.actor == TERMINAL:
        raise InputError(f"the hand is over at {short_repr(state.line)}: nobody acts, so there is nothing to solve")
    if state.street == 0:
        raise InputError(
            f"{short_repr(state.line)} is before the flop, where all boards are still possible: spots begin on the flop; "
            "use a blueprint for the preflop strategy"
        )
    full_range = Range(np.ones(NUM_HANDS))
    spot = Spot.at(state, tuple(board), (full_range, full_range), menu, name=name)  # raises on invalid spots
    public_states = PublicStates.from_betting([policy_state or state], [tuple(board)])
    both_ranges = []
    for seat, reach in enumerate(ranges(public_states, player, opponent)[0]):
        live, largest = public_states.live_hands[0], float(reach.max())
        if largest <= 0 and floor == 0:
            raise InputError(
                f"range of {SEATS[seat]}: no hand plays {short_repr(state.line)} with this strategy; "
                "give a floor such as 0.01, a minimum weight of every hand"
            )
        weights = np.zeros(NUM_HANDS)
        deck_hands = FULL_DECK.hand_indices(state.rules.deck.hands)
        weights[deck_hands] = np.where(live, np.maximum(reach / (largest or 1.0), floor), 0.0)
        both_ranges.append(Range(weights))
    return Spot.at(state, spot.board, (both_ranges[0], both_ranges[1]), menu, name=name)
