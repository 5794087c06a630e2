"""Gifts of an opponent on the last street, in hands that were shown.

    gifts = last_street_gifts(agent, hands, "opponent", menu)        # chips, by hand

By the performance-difference lemma, the loss of a strategy y against our strategy x, beyond the worst case, is a sum
over y's decisions I: its reach of I times BRV(I) − BRV(I, a), the best-response value minus the value after the chosen
action, both against x. So along each hand, the sum of these differences over some of the decisions has a mean of at
most the gift of that strategy; over all decisions it is the gift. No term is negative.

Only decisions on the last street with a shown hand are counted. Everything is known there: the board, the hand, and, by
Bayes' rule, the agent's range and strategy (`strategies`, `reach`). Best responses are computed over the actions of a
menu and those that were played. Hands that were not shown count zero.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from riverboat.cards.ranking import hand_strengths
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.actions import CALL, END_OF_LINE, FOLD, fit_to_stacks
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.hand_records import HandRecords
from riverboat.games.holdem.menus import ActionMenu, menu_raise_totals
from riverboat.games.holdem.public_states import PublicStates
from riverboat.strategies.public_strategy import PublicPolicy, reach_probabilities


def last_street_gifts(
    agent: PublicPolicy, hands: HandRecords, opponent: str, menu: ActionMenu | None, max_hands: int | None = None
) -> Array:
    """Return the gift of the opponent in each hand, in chips. float64 [n]

    Parameters
    ----------
    agent
        Our strategy for all hands.
    hands
        Recorded hands.
    opponent
        Name of the opponent.
    menu
        Actions of the opponent's best responses, besides those that were played; None in limit games, or for calls and
        folds only.
    max_hands
        Largest number of countable hands that are evaluated; None: all.

    Returns
    -------
    Array
        Zero for hands that were not shown, or without an action of the opponent on the last street.

    Raises
    ------
    InputError
        If the opponent is in none of the hands.

    Examples
    --------
    A hand that ended before the river gives nothing:

    >>> from riverboat.agents.registry import make_agent
    >>> from riverboat.games.holdem.hand_records import RecordedHand, build_records
    >>> from riverboat.games.holdem.rules import read_game
    >>> rules = read_game("nolimit-200bb")
    >>> end = BettingState.from_line(rules, "r300f")
    >>> hands = build_records([RecordedHand(0, ("us", "them"), end, ((), (), ()))], rules)
    >>> last_street_gifts(make_agent("rule-based"), hands, "them", menu=None)
    array([0.])
    """
    if opponent not in hands.names:
        raise InputError(f"player {opponent!r}: plays in none of these {len(hands):,} hands")
    out, seats = np.zeros(len(hands)), hands.seat_of(opponent)
    records = ((i, _ShownHand.from_record(hands, i, int(seats[i]))) for i in np.flatnonzero(seats >= 0).tolist())
    for i, shown in islice(((i, shown) for i, shown in records if shown is not None), max_hands):
        out[i] = shown.gift(agent, menu)
    return out


@dataclass(eq=False)
class _GiftNode:
    """A node of the last street's tree of a shown hand, with the value of the opponent's best response."""

    state: BettingState
    moves_made: list[int] = field(default_factory=list)  # actions of the hand from here on, if it came here
    children: list[_GiftNode] = field(default_factory=list)
    moves: list[int] = field(default_factory=list)
    chosen_move: int | None = None  # index of the played action, on the path of the hand
    probabilities: Array | None = None  # float64 [hands, actions], if the agent acts
    value: float = 0.0  # the opponent's best-response value in chips, times the weight
    weight: float = 0.0  # sum of the agent's reach probabilities over its hands


@dataclass(frozen=True, eq=False)
class _ShownHand:
    """The last street of a hand in which the opponent's cards were shown."""

    start: BettingState
    board: tuple[int, ...]
    hole: tuple[int, ...]
    seat: int  # of the opponent
    moves_made: list[int]  # actions on the street

    @staticmethod
    def from_record(hands: HandRecords, i: int, seat: int) -> _ShownHand | None:
        """Return hand i of a record; None if it was not shown, or the opponent did not act on the last street."""
        hole, rules = hands.hole(i, seat), hands.rules_of(i)
        board, last = hands.board(i), rules.rounds - 1
        if not hole or len(board) < rules.board_sizes[last]:
            return None
        state, street_moves, acted = BettingState.start(rules), [], False
        start = state if last == 0 else None
        for move in hands.moves[i, : hands.length[i]].tolist():
            state = state.deal_due_streets()
            if state.street == last:
                start = start or state
                street_moves.append(move)
                acted |= state.turn == seat
            state = state.play(move)
        return _ShownHand(start, board, hole, seat, street_moves) if start is not None and acted else None

    def gift(self, agent: PublicPolicy, menu: ActionMenu | None) -> float:
        """Return what the opponent's actions of the street gave up against its best response to the agent, in chips."""
        rules = self.start.rules
        public_states = PublicStates.from_betting([self.start], [self.board])
        cards = rules.deck.hands
        weights = reach_probabilities(agent, public_states, 1 - self.seat)[0] * ~np.isin(cards, self.hole).any(axis=1)
        if not weights.sum() > 0:
            return 0.0
        strengths = hand_strengths(self.board, rules.deck).astype(np.int64)
        index = int(np.flatnonzero((np.sort(cards, axis=1) == np.sort(self.hole)).all(axis=1))[0])
        beaten = np.sign(strengths[index] - strengths)
        root = _GiftNode(self.start, self.moves_made)
        self._build_tree(agent, root, menu)
        self._compute_values(root, weights, beaten)
        total, node = 0.0, root
        while node.chosen_move is not None:
            child = node.children[node.chosen_move]
            if node.state.turn == self.seat and node.weight > 0:
                total += (node.value - child.value) / node.weight
            node = child
        return max(total, 0.0)

    def _build_tree(self, agent: PublicPolicy, root: _GiftNode, menu: ActionMenu | None) -> None:
        """Build the tree of the street below `root`, level by level; the agent is queried once per level.

        Actions are those of the agent's strategy or of the opponent's menu, and those played.
        """
        level = [root]
        while level:
            agent_nodes = [node for node in level if node.state.actor == 1 - self.seat]
            if agent_nodes:
                states = [node.state for node in agent_nodes]
                strategies = agent.strategies(PublicStates.from_betting(states, [self.board] * len(states)))
                for i, node in enumerate(agent_nodes):
                    used = int((strategies.moves[i] != END_OF_LINE).sum())
                    node.moves = strategies.moves[i, :used].tolist()
                    node.probabilities = strategies.probabilities[i, :, :used]
            for node in level:
                if node.state.actor == self.seat:
                    raises = menu_raise_totals(menu, node.state) if menu is not None or node.state.rules.limit else ()
                    node.moves = [*([FOLD] if node.state.to_call else []), CALL, *fit_to_stacks(raises, node.state)]
                made, later = node.moves_made[:1], node.moves_made[1:]
                if made and made[0] not in node.moves:
                    node.moves += made
                    if node.probabilities is not None:  # an action that the agent's strategy never plays
                        node.probabilities = np.pad(node.probabilities, ((0, 0), (0, 1)))
                node.children = [_GiftNode(node.state.play(move)) for move in node.moves]
                if made:
                    node.chosen_move = node.moves.index(made[0])
                    node.children[node.chosen_move].moves_made = later
            level = [child for node in level for child in node.children if child.state.actor >= 0]

    def _compute_values(self, node: _GiftNode, weights: Array, outcome: Array) -> None:
        """Compute the value and weight of each node for an opponent that best-responds to the agent.

        `weights` are the agent's reach probabilities, `outcome` is 1, 0 or -1 if the opponent wins, ties or loses, both
        by the agent's hand. float64 [hands], int64 [hands]
        """
        state, node.weight = node.state, float(weights.sum())
        if state.folded is not None:
            payoff = -state.spent[self.seat] if state.folded == self.seat else state.spent[1 - self.seat]
            node.value = payoff * node.weight
        elif state.actor < 0:
            node.value = float(weights @ outcome) * min(state.spent)
        elif node.probabilities is not None:
            for k, child in enumerate(node.children):
                self._compute_values(child, weights * node.probabilities[:, k], outcome)
            node.value = sum(child.value for child in node.children)
        else:
            for child in node.children:
                self._compute_values(child, weights, outcome)
            node.value = max(child.value for child in node.children)
