"""Pairs of duplicate hands, played side by side by two agents.

    hands = Pairs((first, second), ("a", "b"), rules, seed=0).play(np.arange(1000))

Tables advance together, one move each in turn, so that agents decide in batches. All that is random is keyed: the cards by
the seed and the number of the pair, what an agent draws by its own seed, that number and the place in the line.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riverboat.agents.base import Agent
from riverboat.cards.ranking import tables as ranking_tables
from riverboat.compiled.rng import match_key
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.evaluation.matches._kernels import match as kernels
from riverboat.games.holdem.actions import END, show_move
from riverboat.games.holdem.betting_batch import FIELDS, book_of
from riverboat.games.holdem.observation import Views
from riverboat.games.holdem.rules import Rules
from riverboat.games.records.hand_records import Hands

_MOVES = 16  # of a line, to begin with


@dataclass(frozen=True, eq=False)
class Pairs:
    """Who plays, and what: every deal twice, with the seats exchanged."""

    agents: tuple[Agent, Agent]
    names: tuple[str, str]
    rules: Rules
    seed: int

    def play(self, numbers: Array) -> Hands:
        """Both hands of pairs, by their numbers, which go upwards."""
        return _play(self.agents, self.names, self.rules, _dealer(self.rules), match_key(self.seed), numbers)


def _dealer(rules: Rules) -> kernels.Dealer:
    board = rules.board_sizes[-1]
    return kernels.Dealer(rules.deck.cards, ranking_tables(rules.hole + board), rules.hole, board)


def _play(
    agents: tuple[Agent, Agent],
    names: tuple[str, str],
    rules: Rules,
    dealer: kernels.Dealer,
    seed: np.uint64,
    numbers: Array,
) -> Hands:
    """Both hands of pairs, by their numbers, which go upwards."""
    deals, book = len(numbers), book_of(rules)
    n = 2 * deals
    cards, result = np.empty((deals, 2 * dealer.hole + dealer.board), np.uint8), np.empty(deals, np.int8)
    tables = kernels.MatchTables(
        cards, np.empty((n, FIELDS), np.int64), np.full((n, _MOVES), END, np.int32), np.zeros(n, np.int32)
    )
    for some in np.split(np.arange(deals), np.flatnonzero(np.diff(numbers) > 1) + 1):  # one after the other
        if len(some):
            at, end = int(some[0]), int(some[-1]) + 1
            there = kernels.MatchTables(cards[at:end], *(each[2 * at : 2 * end] for each in tables[1:]))
            kernels.deal(dealer, book, seed, int(numbers[at]), there.cards.reshape(-1), result[at:end], there)
    going = np.arange(n)
    while len(going):
        if tables.length.max() == tables.moves.shape[1]:
            tables = tables._replace(moves=np.concatenate([tables.moves, np.full_like(tables.moves, END)], axis=1))
        mover = tables.states[going, 2] ^ (going & 1)  # in odd hands seat 0 is the second agent's
        for who, agent in enumerate(agents):
            chosen = going[mover == who]
            if len(chosen):
                views = _views(rules, dealer, tables, chosen, numbers)
                actions = _asked(agent, views)
                wrong = kernels.advance(book, chosen, actions, tables)
                if wrong >= 0:
                    raise _illegal(agent, views, wrong, int(actions[wrong]))
        going = going[tables.states[going, 8] == 0]
    won = np.empty(n, np.int64)
    kernels.settle(tables, result, won)
    number = (2 * numbers[:, None] + np.arange(2)).reshape(-1)
    return _record(rules, names, number, np.repeat(cards, 2, axis=0), tables, won)


def _record(
    rules: Rules, names: tuple[str, str], number: Array, cards: Array, tables: kernels.MatchTables, won: Array
) -> Hands:
    """The hands of a match: the first agent has seat 0 in even ones. Agents of one name are told apart by a 2."""
    n = len(number)
    shown = names if names[0] != names[1] else (names[0], f"{names[1]}-2")
    player = np.stack([number % 2, 1 - number % 2], axis=1).astype(np.int32)
    blinds, stacks = (
        np.broadcast_to(np.array(chips, np.int64), (n, 2)) for chips in (rules.blinds, rules.stacks or (0, 0))
    )
    by_seat = np.stack([won, -won], axis=1)
    ante = np.full(n, rules.ante, np.int64)
    return Hands(rules, 1, shown, player, number, blinds, stacks, ante, cards, tables.moves, tables.length, by_seat)


def _views(rules: Rules, dealer: kernels.Dealer, tables: kernels.MatchTables, chosen: Array, numbers: Array) -> Views:
    """What the players to act in some hands see. Both hands of a pair have its number."""
    n, most = len(chosen), max(1, int(tables.length[chosen].max()))
    views = Views(
        rules,
        numbers[chosen >> 1],
        np.empty(n, np.int8),
        np.empty((n, dealer.hole), np.uint8),
        np.empty((n, dealer.board), np.uint8),
        np.empty((n, most), np.int32),
        np.empty(n, np.int32),
    )
    kernels.look(dealer, book_of(rules), tables, chosen, views.seat, views.hole, views.board, views.moves, views.length)
    return views


def _asked(agent: Agent, views: Views) -> Array:
    actions = np.asarray(agent.act(views))
    if actions.shape != (len(views),) or actions.dtype.kind not in "iu":
        raise InputError(
            f"agent {agent.name!r} answered {len(views)} views with {actions.dtype} {actions.shape}: "
            "one whole number for each is needed"
        )
    return actions.astype(np.int32, copy=False)


def _illegal(agent: Agent, views: Views, i: int, move: int) -> InputError:
    state = views.betting(i)
    try:
        state.play(show_move(move, views.rules))
    except InputError as error:
        return InputError(f"agent {agent.name!r}, {views.match_state(i)}: {error}")
    return InputError(
        f"agent {agent.name!r}, {views.match_state(i)}: {move} is no move: fold is -1, call 0, a raise its total"
    )
