"""Every hand that two agents may play, one at a time, with its probability: slow, for exact means."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from riverboat.games.base import TERMINAL
from riverboat.games.holdem.actions import END, HIDDEN, play_move
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.match_state import values
from riverboat.games.holdem.public_state import Places
from riverboat.games.records.hand_records import Hands


def all_deals(rules):
    """All deals: hole cards of both and the board by rounds, sets within a round, with their probability."""
    sizes = (rules.hole, rules.hole, *rules.board[1:])

    def deal(left, sizes):
        if not sizes:
            yield ()
            return
        for part in combinations(left, sizes[0]):
            for rest in deal([c for c in left if c not in part], sizes[1:]):
                yield (*part, *rest)

    found = list(deal(rules.deck.cards.tolist(), sizes))
    return found, 1 / len(found)


class _Answers:
    """What agents answer, asked once for each place."""

    def __init__(self, agents, rules):
        self.agents, self.rules, self.known = agents, rules, {}

    def row(self, seat, line, board, hand):
        key = seat, tuple(line), tuple(board)
        if key not in self.known:
            full = np.full((1, self.rules.board_sizes[-1]), HIDDEN, np.uint8)
            full[0, : len(board)] = board
            moves = np.full((1, max(1, len(line))), END, np.int32)
            moves[0, : len(line)] = line
            places = Places(self.rules, moves, np.array([len(line)], np.int32), full)
            found = self.agents[seat].strategies(places)
            self.known[key] = found.moves[0].tolist(), found.probabilities[0]
        moves, rows = self.known[key]
        return [(m, p) for m, p in zip(moves, rows[hand].tolist(), strict=True) if m != END and p > 0]


def all_hands(first, second, rules, way=0):
    """All hands as a record, with their probabilities; the first agent has seat `way`."""
    seats = (first, second) if way == 0 else (second, first)
    answers, hole = _Answers(seats, rules), rules.hole
    number = {frozenset(h): i for i, h in enumerate(rules.deck.hands.tolist())}
    cards, lines, won, chances = [], [], [], []
    deals, share = all_deals(rules)
    for deal in deals:
        holes, board = (deal[:hole], deal[hole : 2 * hole]), deal[2 * hole :]
        held = [number[frozenset(h)] for h in holes]
        work = [(Betting.start(rules), (), share)]
        while work:
            state, line, chance = work.pop()
            if state.actor == TERMINAL:
                cards.append(deal)
                lines.append(line)
                won.append(values(state, holes, board))
                chances.append(chance)
                continue
            shown = board[: rules.board_sizes[state.street]]
            for move, p in answers.row(state.actor, line, shown, held[state.actor]):
                work.append((play_move(state, move), (*line, move), chance * p))
    n = len(cards)
    moves = np.full((n, max(map(len, lines))), END, np.int32)
    for i, line in enumerate(lines):
        moves[i, : len(line)] = line
    player = np.tile(np.array([way, 1 - way], np.int32), (n, 1))
    record = Hands(
        rules, 1, ("first", "second"), player, np.arange(n), np.tile(rules.blinds, (n, 1)),
        np.tile(rules.stacks or (0, 0), (n, 1)), np.full(n, rules.ante), np.array(cards, np.uint8), moves,
        np.array([len(line) for line in lines], np.int32), np.array(won, np.int64),
    )  # fmt: skip
    return record, np.array(chances)
