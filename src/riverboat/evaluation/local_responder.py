"""The responder of local best response: its actions with all hands at a public state (Lisý and Bowling 2017).

    responder = LocalResponder(agent, rules, "fcpa", start=2)
    raise_nodes = responder.raise_children(node)
    responder.query_agent(raise_nodes)
    utility = responder.utilities(node, raise_nodes, showdown_wins)
    responder.choose(node, raise_nodes, utility)           # each action with the hands that take it

`local_best_response` has the rule, and `lbr_traversal` the deals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import floor
from typing import Any, NamedTuple

import numpy as np

from riverboat.cards.equity.batch_equities import BatchShowdown
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, unknown_name_error
from riverboat.games.holdem import betting_rules
from riverboat.games.holdem.actions import END_OF_LINE, HIDDEN_CARD, format_action
from riverboat.games.holdem.betting_rules import CALL, FOLD, CompactBettingState
from riverboat.games.holdem.public_states import PublicStates
from riverboat.games.holdem.rules import PokerRules
from riverboat.strategies.public_strategy import PublicPolicy, PublicStateStrategy, iterate_strategies

POT_FRACTIONS = (*(0.05 * 1.15**k for k in range(53)),)
# Raises to consider, as fractions of the pot; all-in is added to them. None: no raises.
ACTION_SETS: dict[str, tuple[float, ...] | None] = {"fc": None, "fcpa": (1.0,), "56": POT_FRACTIONS}
MANY_ACTIONS = 256  # larger strategies, of agents that bet any number of chips, are compacted
_TOLERANCE = 1e-9  # relative to the pot, for rounding


class LbrSetting(NamedTuple):
    """Actions of the responder by street: a column of the published tables.

    Attributes
    ----------
    actions
        Keys of `ACTION_SETS` with commas between them, for the streets from `start` on; the last is for all later ones.
    start
        First street on which the responder may fold or raise; before it, it only calls.

    Examples
    --------
    >>> from riverboat.evaluation.local_responder import SETTINGS
    >>> SETTINGS["pot-turn"]
    LbrSetting(actions='fcpa', start='turn')
    """

    actions: str
    start: str


SETTINGS = {
    "fold-call": LbrSetting("fc", "preflop"),
    "pot-turn": LbrSetting("fcpa", "turn"),
    "56-turn": LbrSetting("56", "turn"),
    "56-flop": LbrSetting("56,fc", "flop"),
}


def raises_by_street(actions: str, start: int, rounds: int) -> tuple[tuple[float, ...] | None, ...]:
    """Return the raises that the responder considers on each street, as fractions of the pot; None: no raises.

    Parameters
    ----------
    actions
        Keys of `ACTION_SETS` with commas between them, for the streets from `start` on.
    start
        First street on which the responder may fold or raise, from 0.
    rounds
        Number of streets of the game.

    Raises
    ------
    InputError
        If there is no such set, or there are more sets than streets.

    Examples
    --------
    >>> from riverboat.evaluation.local_responder import raises_by_street
    >>> raises_by_street("fcpa,fc", 1, 4)
    (None, (1.0,), None, None)
    """
    names = actions.split(",")
    for name in names:
        if name not in ACTION_SETS:
            raise unknown_name_error("set of actions", name, ACTION_SETS)
    if len(names) > rounds - start:
        raise InputError(
            f"actions={actions!r}: {len(names)} sets for {rounds - start} streets; give at most one for each"
        )
    sets = [ACTION_SETS[name] for name in names]
    return (*[None] * start, *sets, *[sets[-1]] * (rounds - start - len(sets)))


def agent_name(agent: Any) -> str:
    """Return the name of an agent for messages."""
    return str(getattr(agent, "name", type(agent).__name__))


@dataclass
class LbrNode:
    """Public state of a sampled deal, with both ranges and the trajectories that reach it.

    Parameters
    ----------
    moves
        Actions so far, as integers.
    board
        Cards of the board.
    state
        Betting state.
    own_range
        Reach of the responder's hands. float64 [hands]
    opponent_range
        Reach of the agent's hands. float64 [hands]
    trajectories
        Number of trajectories.
    weight
        Weight of each trajectory: the inverse of its sampling probability.
    strategy
        The agent's strategy, once it was queried.
    expected_value
        State value per pair of hands before the last cards; None if these get no correction.

    Examples
    --------
    >>> import numpy as np
    >>> from riverboat.evaluation.local_responder import LbrNode
    >>> from riverboat.games.holdem.betting import CompactBettingState
    >>> from riverboat.games.holdem.rules import read_game
    >>> start = CompactBettingState(*read_game("leduc").compact.start)
    >>> LbrNode((), (), start, np.ones(6), np.ones(6)).weight
    1.0
    """

    moves: tuple[int, ...]
    board: tuple[int, ...]
    state: CompactBettingState
    own_range: Array  # float64 [hands]: reach of the responder's hands
    opponent_range: Array  # float64 [hands]: reach of the agent's hands
    trajectories: int = 1
    weight: float = 1.0  # inverse of the sampling probability of each trajectory
    strategy: PublicStateStrategy | None = None  # the agent's strategy; None until it is queried
    expected_value: float | None = None  # state value per pair of hands before the last cards, if they are corrected

    def child(self, move: int, state: CompactBettingState, **changes: Any) -> LbrNode:
        """Return the node after an action; its trajectories are those of this node until they are split.

        Parameters
        ----------
        move
            The action.
        state
            Betting state after it.
        changes
            The range that the action changes, and the agent's strategy there if it is known.
        """
        return replace(
            self, moves=(*self.moves, move), state=state, **{"strategy": None, "expected_value": None, **changes}
        )


class LocalResponder:
    """Local best responder against one agent with one set of actions.

    Parameters
    ----------
    agent
        Agent that has strategies for all hands.
    rules
        Zero-sum two-player game.
    actions
        Keys of `ACTION_SETS` with commas between them, for the streets from `start` on.
    start
        First street on which the responder may fold or raise, from 0.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> from riverboat.evaluation.local_responder import LocalResponder
    >>> from riverboat.games.holdem.rules import read_game
    >>> LocalResponder(make_agent("always-call"), read_game("leduc"), "fcpa", 0).raises
    ((1.0,), (1.0,))
    """

    def __init__(self, agent: PublicPolicy, rules: PokerRules, actions: str, start: int) -> None:
        self.agent, self.rules, self.book = agent, rules, rules.compact
        self.actions = actions
        self.raises, self.start = raises_by_street(actions, start, rules.rounds), start
        self.showdowns = BatchShowdown(rules.deck, rules.board_sizes[-1])

    # --- Agent ---

    def query_agent(self, nodes: Sequence[LbrNode]) -> None:
        """Query the agent's strategies at nodes where it acts, in one batch, and store them in the nodes.

        Parameters
        ----------
        nodes
            Nodes where the agent acts.

        Raises
        ------
        InputError
            If a strategy has illegal actions or does not sum to one.
        """
        max_length = max([1, *(len(node.moves) for node in nodes)])
        moves = np.full((len(nodes), max_length), END_OF_LINE, np.int32)
        board = np.full((len(nodes), self.rules.board_sizes[-1]), HIDDEN_CARD, np.uint8)
        for i, node in enumerate(nodes):
            moves[i, : len(node.moves)] = node.moves
            board[i, : len(node.board)] = node.board
        public_states = PublicStates(self.rules, moves, np.array([len(node.moves) for node in nodes], np.int32), board)
        for node, strategy in zip(nodes, iterate_strategies(self.agent, public_states), strict=True):
            self._check_strategy(strategy, node)
            node.strategy = _compact_strategy(strategy, node) if len(strategy.moves) > MANY_ACTIONS else strategy

    def _check_strategy(self, answer: PublicStateStrategy, node: LbrNode) -> None:
        """Raise InputError if a strategy has illegal actions or does not sum to one."""
        price = betting_rules.call_amount(self.book, node.state)
        raises = betting_rules.raise_bounds(self.book, node.state)
        illegal = [move for move in answer.moves.tolist() if not betting_rules.is_action_allowed(price, *raises, move)]
        sums = answer.probabilities.sum(axis=1)[node.opponent_range > 0]
        if illegal or not np.abs(sums - 1).max(initial=0.0) < 1e-6:
            line = " ".join(format_action(move, self.rules) for move in node.moves) or "the deal"
            problem = f"action {format_action(illegal[0], self.rules)!r} is illegal there" if illegal else ""
            problem = problem or f"probabilities of a hand sum to {float(sums[np.abs(sums - 1).argmax()]):.9g}"
            raise InputError(f"agent {agent_name(self.agent)!r} after {line}: {problem}")

    # --- Responder ---

    def raise_totals(self, state: CompactBettingState) -> list[int]:
        """Return the totals of the raises to consider, in ascending order.

        Parameters
        ----------
        state
            Betting state where the responder acts.
        """
        least, most = betting_rules.raise_bounds(self.book, state)
        fractions = self.raises[state.street]
        if fractions is None or least > most:
            return []
        high = max(state.spent0, state.spent1)
        wanted = [high + floor(2 * high * pots + 0.5) for pots in fractions]
        return sorted({most, *(min(max(total, least), most) for total in wanted)})

    def raise_children(self, node: LbrNode) -> list[LbrNode]:
        """Return the nodes after the raises to consider; the agent acts there.

        Parameters
        ----------
        node
            Node where the responder acts.
        """
        totals = self.raise_totals(node.state)
        return [node.child(total, betting_rules.apply_action(self.book, node.state, total)) for total in totals]

    def utilities(
        self, node: LbrNode, raise_nodes: Sequence[LbrNode], showdown_wins: Callable[[Array], Array]
    ) -> Array:
        """Return the utility of calling and of each raise for every hand, times the compatible weight of the range.

        Folding has utility 0. float64 [1 + raises, hands]

        Parameters
        ----------
        node
            Node where the responder acts.
        raise_nodes
            Nodes after its raises, with the agent's strategies there.
        showdown_wins
            Function from ranges to the weight that each hand wins against each of them. float64 [ranges, hands] to the
            same
        """
        at, seat = node.state, node.state.turn
        own_spent, opponent_spent = (at.spent0, at.spent1) if seat == 0 else (at.spent1, at.spent0)
        to_call, faced = betting_rules.call_amount(self.book, at), min(opponent_spent, self.book.stacks[seat])
        pot = own_spent + faced
        folding = [strategy_at(raise_node).move_probabilities(FOLD) for raise_node in raise_nodes]
        ranges = np.stack([node.opponent_range, *(node.opponent_range * (1.0 - fold) for fold in folding)])
        compatible, wins = self.showdowns.compatible_weights(ranges), showdown_wins(ranges)
        adds = [0, *(min(raise_node.state[seat], self.book.stacks[1 - seat]) - faced for raise_node in raise_nodes)]
        added = np.array(adds, float)[:, None]
        utility: Array = (
            (compatible[0] - compatible) * pot + wins * (pot + added) - (compatible - wins) * (to_call + added)
        )
        return utility

    def choose(self, node: LbrNode, raise_nodes: Sequence[LbrNode], utility: Array) -> list[tuple[int, Array]]:
        """Choose the responder's actions, each with the mask of hands that take it: folding first if it costs to call.

        Parameters
        ----------
        node
            Node where the responder acts.
        raise_nodes
            Nodes after its raises.
        utility
            Utilities of calling and of each raise. float64 [1 + raises, hands]
        """
        at, to_call = node.state, betting_rules.call_amount(self.book, node.state)
        pot = min(at.spent0, at.spent1) * 2 + to_call
        best_utility, tolerance = utility.max(axis=0), _TOLERANCE * pot * float(node.opponent_range.sum())
        nearly_best = utility >= best_utility - tolerance
        best = len(raise_nodes) - nearly_best[::-1].argmax(axis=0)  # the largest of equal raises
        folds = best_utility <= tolerance
        moves = [CALL, *(raise_node.moves[-1] for raise_node in raise_nodes)]
        chosen = [(move, (best == k) & ~(folds & (to_call > 0))) for k, move in enumerate(moves)]
        return [(FOLD, folds), *chosen] if to_call > 0 else chosen


def _compact_strategy(answer: PublicStateStrategy, node: LbrNode) -> PublicStateStrategy:
    """Return the strategy with one row for all hands, to save memory, if all hands in the agent's range play alike."""
    held = np.flatnonzero(node.opponent_range > 0)
    if len(held) and (answer.probabilities[held] == answer.probabilities[held[0]]).all():
        row = answer.probabilities[held[0]].copy()
        return PublicStateStrategy(answer.moves, np.broadcast_to(row, answer.probabilities.shape))
    return answer


def strategy_at(node: LbrNode) -> PublicStateStrategy:
    """Return the agent's strategy at a node, which was queried before."""
    assert node.strategy is not None
    return node.strategy
