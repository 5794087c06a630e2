"""What an opponent gave away on the last street, where its hand was shown.

    given = street_gifts(agent, hands, "opponent", menu)             # chips, by hand

By the performance-difference lemma, what a strategy y loses to our strategy x beyond the worst case is the sum, over its
decisions I, of how often it comes there times BRV(I) − BRV(I, a): what the best moves would have won from there on, less the
same behind the move that was made, both against x. So along each hand, the sum of these differences over some of the
decisions has a mean that is at most the gift of that strategy, whatever it is; over all decisions it is the gift. None is
negative.

Counted are decisions on the last street with a hand that was shown. Everything there is known: the board, the hand, and by
Bayes with what hands the agent comes and goes on (`strategies`, `reach`). The best moves are looked for among those of a menu
and those that were made. Hands that were not shown count nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from riverboat.cards.ranking import hand_strengths
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.actions import CALL, END, FOLD, play_move, real_moves
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.match_state import settled
from riverboat.games.holdem.menus import Menu, totals
from riverboat.games.holdem.public_state import Places
from riverboat.games.records.hand_records import Hands
from riverboat.strategies.public_strategy import Answering, reach


def street_gifts(agent: Answering, hands: Hands, opponent: str, menu: Menu | None, most: int | None = None) -> Array:
    """Chips that the opponent gave in each hand; with `most`, of the first so many hands that count. float64 [n]"""
    if opponent not in hands.names:
        raise InputError(f"player {opponent!r}: plays in none of these {len(hands):,} hands")
    out, seats = np.zeros(len(hands)), hands.seat_of(opponent)
    counted = 0
    for i in range(len(hands)):
        if seats[i] < 0 or (most is not None and counted >= most):
            continue
        shown = _Shown.of(hands, i, int(seats[i]))
        if shown is not None:
            counted += 1
            out[i] = shown.given(agent, menu)
    return out


@dataclass(eq=False)
class _Node:
    """A place on the street."""

    state: Betting
    children: list[_Node] = field(default_factory=list)
    moves: list[int] = field(default_factory=list)
    made: int | None = None  # which move was made, where the hand came by
    chances: Array | None = None  # float64 [hands, moves], where the agent acts
    value: float = 0.0  # what the opponent wins from here on, times the weight of the agent's hands
    weight: float = 0.0


@dataclass(frozen=True, eq=False)
class _Shown:
    """A hand that was shown, from the start of the last street on."""

    start: Betting
    board: tuple[int, ...]
    hole: tuple[int, ...]
    seat: int  # of the opponent
    made: list[int]  # moves on the street

    @staticmethod
    def of(hands: Hands, i: int, seat: int) -> _Shown | None:
        """None where the hand was not shown, or the opponent did not act on the last street."""
        hole, rules = hands.hole(i, seat), hands.rules_of(i)
        board, last = hands.board(i), rules.rounds - 1
        if not hole or len(board) < rules.board_sizes[last]:
            return None
        state, made, acted = Betting.start(rules), [], False
        start = state if last == 0 else None
        for move in hands.moves[i, : hands.length[i]].tolist():
            state = settled(state)
            if state.street == last:
                start = start or state
                made.append(move)
                acted |= state.turn == seat
            state = play_move(state, move)
        return _Shown(start, board, hole, seat, made) if start is not None and acted else None

    def given(self, agent: Answering, menu: Menu | None) -> float:
        """Chips given away by the moves that were made."""
        rules = self.start.rules
        places = Places.of([self.start], [self.board])
        cards = rules.deck.hands
        weights = reach(agent, places, 1 - self.seat)[0] * ~np.isin(cards, self.hole).any(axis=1)
        if not weights.sum() > 0:
            return 0.0
        strengths = hand_strengths(self.board, rules.deck).astype(np.int64)
        own = int(np.flatnonzero((np.sort(cards, axis=1) == np.sort(self.hole)).all(axis=1))[0])
        beaten = np.sign(strengths[own] - strengths)
        root = _Node(self.start)
        self._grow(agent, root, menu)
        self._value(root, weights, beaten)
        total, node = 0.0, root
        for _ in self.made:
            assert node.made is not None
            below = node.children[node.made]
            if node.state.turn == self.seat and node.weight > 0:
                total += (node.value - below.value) / node.weight
            node = below
        return max(total, 0.0)

    def _grow(self, agent: Answering, root: _Node, menu: Menu | None) -> None:
        """All lines of the street, level by level: the agent is asked about a level at once."""
        level, path = [root], 0
        on_path: _Node | None = root
        while level:
            mine = [node for node in level if node.state.actor == 1 - self.seat]
            if mine:
                answers = agent.strategies(Places.of([n.state for n in mine], [self.board] * len(mine)))
                for i, node in enumerate(mine):
                    used = int((answers.moves[i] != END).sum())
                    node.moves, node.chances = answers.moves[i, :used].tolist(), answers.probabilities[i, :, :used]
            for node in level:
                if node.state.actor == self.seat:
                    raises = totals(menu, node.state) if menu is not None or node.state.rules.limit else ()
                    node.moves = [*([FOLD] if node.state.to_call else []), CALL, *real_moves(raises, node.state)]
                if node is on_path and path < len(self.made):
                    move = self.made[path]
                    if move not in node.moves:
                        node.moves.append(move)
                        if node.chances is not None:  # the agent's own move that it says it never makes
                            node.chances = np.column_stack([node.chances, np.zeros(len(node.chances))])
                    node.made = node.moves.index(move)
                node.children = [_Node(play_move(node.state, move)) for move in node.moves]
            if on_path is not None:
                on_path = on_path.children[on_path.made] if on_path.made is not None else None
                path += 1
            level = [child for node in level for child in node.children if child.state.actor >= 0]

    def _value(self, node: _Node, weights: Array, beaten: Array) -> None:
        """Best moves of the opponent, and the agent's own."""
        state, node.weight = node.state, float(weights.sum())
        if state.folded is not None:
            won = -state.spent[self.seat] if state.folded == self.seat else state.spent[1 - self.seat]
            node.value = won * node.weight
        elif state.actor < 0:
            node.value = float(weights @ beaten) * min(state.spent)
        elif node.chances is not None:
            for k, child in enumerate(node.children):
                self._value(child, weights * node.chances[:, k], beaten)
            node.value = sum(child.value for child in node.children)
        else:
            for child in node.children:
                self._value(child, weights, beaten)
            node.value = max(child.value for child in node.children)
