"""All hands that two agents may play, one at a time, with their probabilities: slow, for exact means."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from riverboat.cards.ranking import rank
from riverboat.games.base import TERMINAL
from riverboat.games.holdem.actions import END_OF_LINE, HIDDEN_CARD
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.hand_records import HandRecords
from riverboat.games.holdem.match_state import payoffs_of_result
from riverboat.games.holdem.public_states import PublicStates


def hand_payoffs(betting, holes, board):
    """Return the chips that each seat has won at the end of a hand. Both hands must be known at a showdown."""
    assert betting.actor == TERMINAL, betting.line
    if betting.folded is not None:
        result = 1 if betting.folded == 1 else -1
    else:
        first, second = (rank((*hole, *board)) for hole in holes)
        result = (first > second) - (first < second)
    return payoffs_of_result(betting, result)


def all_deals(rules):
    """All deals: hole cards of both players and the board by rounds, unordered within a round, with their probability."""
    sizes = (rules.hole, rules.hole, *rules.board[1:])

    def deal(left, sizes):
        if not sizes:
            yield ()
            return
        for part in combinations(left, sizes[0]):
            for rest in deal([c for c in left if c not in part], sizes[1:]):
                yield (*part, *rest)

    result = list(deal(rules.deck.cards.tolist(), sizes))
    return result, 1 / len(result)


class _Answers:
    """Strategies of agents, queried once for each public state."""

    def __init__(self, agents, rules):
        self.agents, self.rules, self.known = agents, rules, {}

    def row(self, seat, line, board, hand):
        key = seat, tuple(line), tuple(board)
        if key not in self.known:
            full = np.full((1, self.rules.board_sizes[-1]), HIDDEN_CARD, np.uint8)
            full[0, : len(board)] = board
            moves = np.full((1, max(1, len(line))), END_OF_LINE, np.int32)
            moves[0, : len(line)] = line
            places = PublicStates(self.rules, moves, np.array([len(line)], np.int32), full)
            result = self.agents[seat].strategies(places)
            self.known[key] = result.moves[0].tolist(), result.probabilities[0]
        moves, rows = self.known[key]
        return [(m, p) for m, p in zip(moves, rows[hand].tolist(), strict=True) if m != END_OF_LINE and p > 0]


def all_hands(first, second, rules, way=0):
    """All hands as records, with their probabilities; the first agent has seat `way`."""
    seats = (first, second) if way == 0 else (second, first)
    answers, hole = _Answers(seats, rules), rules.hole
    number = {frozenset(h): i for i, h in enumerate(rules.deck.hands.tolist())}
    cards, lines, won, chances = [], [], [], []
    deals, share = all_deals(rules)
    for deal in deals:
        holes, board = (deal[:hole], deal[hole : 2 * hole]), deal[2 * hole :]
        hands = [number[frozenset(h)] for h in holes]
        work = [(BettingState.start(rules), (), share)]
        while work:
            state, line, chance = work.pop()
            if state.actor == TERMINAL:
                cards.append(deal)
                lines.append(line)
                won.append(hand_payoffs(state, holes, board))
                chances.append(chance)
                continue
            visible = board[: rules.board_sizes[state.street]]
            for move, p in answers.row(state.actor, line, visible, hands[state.actor]):
                work.append((state.play(move), (*line, move), chance * p))
    n = len(cards)
    moves = np.full((n, max(map(len, lines))), END_OF_LINE, np.int32)
    for i, line in enumerate(lines):
        moves[i, : len(line)] = line
    player = np.tile(np.array([way, 1 - way], np.int32), (n, 1))
    record = HandRecords(
        rules, 1, ("first", "second"), player, np.arange(n), np.tile(rules.blinds, (n, 1)),
        np.tile(rules.stacks or (0, 0), (n, 1)), np.full(n, rules.ante), np.array(cards, np.uint8), moves,
        np.array([len(line) for line in lines], np.int32), np.array(won, np.int64),
    )  # fmt: skip
    return record, np.array(chances)
