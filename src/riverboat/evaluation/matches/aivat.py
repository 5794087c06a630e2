"""AIVAT: what hands of a match were worth without most of their luck (Burch, Schmid, Moravcik, Morrill & Bowling 2018).

    aivat = Aivat(first, second, rules)
    told = aivat.estimate(hands)                      # hands of `play_match`, batch by batch
    told.total                                        # chips that the first agent won, a number for each hand

Where a player's strategy is known, the hands that it may have held are averaged over (imaginary observations), an all-in
is paid by the boards that may come, and for every card of the board and every move of such a player the mean of a value
over what might have come is added, and the value of what came taken away. The mean over all that may happen does not change,
whatever the values are, as long as they were fixed before. They are tables of a blueprint (`value_tables`): the better
they are, the less is left of the luck.

What a player draws in secret for a hand is averaged over by its own answers for all hands (`Answering`): at each of its
moves the probabilities are those given all its earlier moves of the line.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations, permutations
from threading import Lock
from typing import Any

import numpy as np

from riverboat.abstraction.cards.successors import next_buckets
from riverboat.agents.base import Agent, Answering, Learner
from riverboat.agents.baselines import Yardstick
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.cards.deck import FULL_DECK, Deck
from riverboat.cards.equity.equities import class_pairs, hand_classes, preflop_table
from riverboat.cards.features.strength import padded
from riverboat.cards.ranking import tables as ranking_tables
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, check_threads
from riverboat.evaluation.matches._kernels import aivat as kernels
from riverboat.evaluation.matches._kernels import branch as branches
from riverboat.evaluation.matches.duel import yardstick
from riverboat.evaluation.matches.value_tables import ValueTables, value_tables
from riverboat.games.holdem.actions import END, show_move
from riverboat.games.holdem.betting_batch import book_of
from riverboat.games.holdem.public_state import Places
from riverboat.games.holdem.rules import Rules
from riverboat.games.records.hand_records import Hands
from riverboat.strategies.board_buckets import board_buckets
from riverboat.strategies.policy import tree_of
from riverboat.strategies.public_strategy import Strategies

HANDS_AT_ONCE = 128
LEAST_POT = 10.0  # big blinds: where both are known, 98 of 100 parts of the luck of later cards are in larger pots
SMALL_DECK = 200  # hands; with so few, time is no matter
MAPPING = "det-pshar"  # how bets that the tree of values does not have are read: nothing is drawn
SIMPLE = {"always-call": "call", "always-fold": "fold", "always-raise": "raise"}  # yardsticks that a tree can play
LUCK = ("deal", "flop", "turn", "river")


@dataclass(frozen=True, eq=False)
class Estimates:
    """What n hands were worth to the first agent, in chips."""

    hands: Hands
    base: Array  # float64 [n]: what the end is worth, averaged over the hands that players may have held
    chance: Array  # float64 [n, rounds]: added for the luck of the deal, and of the cards that begin each later round
    moves: Array  # float64 [n, most]: added for the luck of each move

    @property
    def total(self) -> Array:
        """All of it. float64 [n]"""
        sums: Array = self.base + self.chance.sum(axis=1) + self.moves.sum(axis=1)
        return sums

    def __len__(self) -> int:
        return len(self.base)

    def take(self, chosen: Array) -> Estimates:
        """Of some of the hands, by number or by mask."""
        return Estimates(self.hands.take(chosen), self.base[chosen], self.chance[chosen], self.moves[chosen])


class Aivat:
    """The estimator of a match between two agents."""

    def __init__(
        self,
        first: Agent,
        second: Agent,
        rules: Rules,
        *,
        corrects: bool = True,
        known: tuple[bool, bool] | None = None,
        deals: int | None = None,
        least_pot: float | None = None,
        threads: int = 1,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        """Without `corrects` imaginary observations are all. `known` says whose strategy may be used; by default that of
        everybody who answers for all hands. `deals` are sampled for the tables of values. In pots of less than `least_pot`
        big blinds values do not tell cards of the turn and river apart: there is little luck in them, and half of the time
        would go into it. `threads` estimate hands side by side; the numbers are the same.
        """
        self.agents, self.rules = (first, second), rules
        self.known = (answers(first, rules), answers(second, rules)) if known is None else known
        for agent, used in zip(self.agents, self.known, strict=True):
            if used and not answers(agent, rules):
                raise InputError(
                    f"agent {agent.name!r}: does not answer for all hands, so its moves cannot be averaged"
                )
        if 0 in rules.board[1:] or rules.board[0]:
            raise InputError(
                f"{rules.name}: deals {rules.board} board cards: AIVAT needs one or more in each later round"
            )
        check_threads(threads)
        self.corrects, self.threads = corrects, threads
        costly = rules.deck.hand_count > SMALL_DECK and all(self.known)
        self.least_pot = (LEAST_POT if costly else 0.0) if least_pot is None else least_pot
        more = {} if deals is None else {"deals": deals}
        self.values = _values_of(first, second, rules, progress, more) if corrects else None
        self._lock = Lock()
        self._drawn: dict[bytes, float] = {}  # means over the first boards, by line
        self._filled: set[tuple[int, int]] = set()  # rows of `_means` that are there

    # --- what loops read ------------------------------------------------------------------------

    @cached_property
    def _cards(self) -> kernels.Cards:
        return _cards_of(self.rules)

    @cached_property
    def _classes(self) -> kernels.Classes:
        return _classes_of(self.rules)

    @cached_property
    def _boards(self) -> tuple[Array, Array]:
        """All first boards, and the buckets of one hand of each class on them; -1 where a board blocks it."""
        assert self.values is not None
        cards, deck = self.values[0].strategy.cards, self.rules.deck
        boards = np.array([*combinations(deck.cards.tolist(), self.rules.board_sizes[1])], np.uint8)
        members = deck.hands[np.unique(_suits(deck)[0], return_index=True)[1]]
        numbers = np.full((len(members), len(boards)), -1, np.int32)
        for c, hand in enumerate(members):
            free = np.flatnonzero(~np.isin(boards, hand).any(axis=1))
            deals = np.concatenate([np.tile(hand, (len(free), 1)), boards[free]], axis=1)
            numbers[c, free] = cards.buckets(deals, check=False)[:, 0, 1]
        return boards, numbers

    @cached_property
    def _means(self) -> tuple[Array, Array]:
        """By seating; rows are filled in when they are needed."""
        assert self.values is not None
        orbit, _ = _suits(self.rules.deck)
        shape = 2, int(orbit.max()) + 1, len(orbit)
        mine, theirs = (np.zeros((tables.begin[1].shape[1], *shape)) for tables in self.values)
        return mine, theirs

    def _first(self, way: int, rows: Array) -> kernels.First:
        """Means over the first boards at the nodes that begin the second street."""
        orbit, image = _suits(self.rules.deck)
        if self.values is None or self.rules.rounds < 2:
            return kernels.First(orbit, image, np.zeros((1, 2, 1, 1)))
        means, table, cards = self._means[way], self.values[way].begin[1], self._cards
        for row in np.unique(rows[rows >= 0]).tolist():
            if (way, row) not in self._filled:
                for seat in (0, 1):
                    scratch = np.zeros(53), np.zeros((53, 53))
                    kernels.pair_sums(
                        cards.first, cards.second, *self._boards, table[seat, row], *scratch, means[row, seat]
                    )
                self._filled.add((way, row))
        return kernels.First(orbit, image, means)

    def _table_values(self, way: int) -> kernels.Values:
        if self.values is None:
            nothing = padded([np.zeros((2, 1, 1), np.float32)])
            return kernels.Values(nothing, nothing, -1, self.corrects)
        tables = self.values[way]
        return kernels.Values(tables.after, tables.begin, int(tables.begin_row[0]), self.corrects)

    def buckets(self, board: Array, pots: Array) -> tuple[Array, Array, Array]:
        """Buckets of all hands on the boards that lay, and with each card that might have come in a pot that is large enough:
        int32 [n, rounds, hands], numbers of the latter, int64 [n, rounds], and they themselves, int32 [boards, cards, hands].
        """
        rules, deck, n = self.rules, self.rules.deck, len(board)
        lay, tried = np.zeros((n, rules.rounds, deck.hand_count), np.int32), np.full((n, rules.rounds), -1, np.int64)
        tries: list[Array] = []
        if self.values is None:
            return lay, tried, np.zeros((1, 1, 1), np.int32)
        cards, count = self.values[0].strategy.cards, 0
        for street, shown in enumerate(rules.board_sizes):
            there = np.flatnonzero(pots[:, street])
            if not len(there):
                break
            boards, number = np.unique(board[there, :shown], axis=0, return_inverse=True)
            lay[there, street] = board_buckets(cards, boards).buckets[number.reshape(-1), street]
            large = np.flatnonzero(pots[:, street] >= max(1, self.least_pot * rules.big_blind))
            if street > 1 and rules.board[street] == 1 and len(large):
                before, first, number = np.unique(
                    board[large, : shown - 1], axis=0, return_index=True, return_inverse=True
                )
                tries.append(next_buckets(cards, before, lay[large[first], street - 1]))
                tried[large, street] = count + number.reshape(-1)
                count += len(before)
        return lay, tried, np.concatenate(tries) if tries else np.zeros((1, 1, 1), np.int32)

    # --- hands ----------------------------------------------------------------------------------

    def estimate(self, hands: Hands) -> Estimates:
        """Hands of a match between these agents; what is said of each does not depend on the others."""
        if any(isinstance(agent, Learner) for agent in self.agents):
            self._drawn.clear()  # it may play otherwise now
        base, chance = np.zeros(len(hands)), np.zeros((len(hands), self.rules.rounds))
        moves = np.zeros(hands.moves.shape)

        def work(at: int) -> None:
            some = np.arange(at, min(at + HANDS_AT_ONCE, len(hands)))
            board = np.ascontiguousarray(hands.cards[some, 2 * self.rules.hole :])
            lay = self.buckets(board, pots_of(hands.take(some)))
            for way in (0, 1):  # the first agent sits in seat 0, or in seat 1
                there = np.flatnonzero(hands.player[some, 0] == way)
                if len(there):
                    chosen, buckets = some[there], (lay[0][there], lay[1][there], lay[2])
                    terms = self._part(way, hands.take(chosen), board[there], buckets)
                    for out, part in zip((base, chance, moves), terms, strict=True):
                        out[chosen] = (1.0 - 2.0 * way) * part

        jobs = range(0, len(hands), HANDS_AT_ONCE)
        if self.threads == 1:
            for at in jobs:
                work(at)
        else:
            with ThreadPoolExecutor(self.threads, thread_name_prefix="riverboat") as pool:
                list(pool.map(work, jobs))
        return Estimates(hands, base, chance, moves)

    def _part(
        self, way: int, hands: Hands, board: Array, lay: tuple[Array, Array, Array]
    ) -> tuple[Array, Array, Array]:
        """Hands in which the first agent has seat 0 (way 0) or 1, and buckets on their boards; chips of seat 0."""
        rules, n, hole = self.rules, len(hands), self.rules.hole
        places, owner, made = Places(rules, hands.moves, hands.length, board).decisions()
        actor = places.actor
        known = np.array([self.known[way], self.known[1 - way]])
        asked, place, column, strategies = self.asked(way, places, actor, made, known)
        told = self.located(way, asked)
        lines, line = self._lines(way, hands, places, owner, known)
        held = np.stack([hand_numbers(rules.deck, hands.cards[:, s * hole : (s + 1) * hole]) for s in (0, 1)], axis=1)
        decision = np.stack([place, column, actor.astype(np.int64), places.street], axis=1)
        start = np.concatenate([[0], np.cumsum(hands.length)]).astype(np.int64)
        played = kernels.Played(known, held, board, *lay, start, decision, line)
        drawn = np.array([self._drawn.get(key, np.nan) for key in lines])
        out = kernels.Told(np.zeros(n), np.zeros((n, rules.rounds)), np.zeros(len(owner)), drawn)
        first = self._first(way, told.begin[place, column][places.street == 0])
        values, pot = self._table_values(way), float(sum(rules.book.start[:2]))
        wrong = kernels.estimate(
            self._cards,
            self._classes,
            values,
            first,
            told,
            strategies,
            pot,
            played,
            _room_of(len(self._cards.first)),
            out,
        )
        if wrong >= 0:
            raise _unlisted(self.agents[int(actor[wrong]) ^ way], places, wrong, int(made[wrong]))
        self._drawn |= {key: x for key, x in zip(lines, out.drawn.tolist(), strict=True) if key and x == x}
        moves = np.zeros(hands.moves.shape)
        moves[np.arange(hands.moves.shape[1]) < hands.length[:, None]] = out.moves
        return out.base, out.chance, moves

    def asked(
        self, way: int, places: Places, actor: Array, made: Array, known: Array
    ) -> tuple[tuple[Places, Array], Array, Array, Array]:
        """Different places of known players with their strategies, and those of the others with the move that was made."""
        mine = known[actor]
        key = np.concatenate([places.moves, places.board.astype(np.int32), np.where(mine, END, made)[:, None]], axis=1)
        _, first, place = np.unique(key, axis=0, return_index=True, return_inverse=True)
        place = place.reshape(-1)
        asked, who = places.take(first), np.where(known[actor[first]], actor[first] ^ way, -1)
        answers: list[tuple[Array, Strategies | None]] = []
        for agent in (-1, 0, 1):
            there = np.flatnonzero(who == agent)
            if len(there):
                answers.append((there, None if agent < 0 else self._answer(agent, asked.take(there))))
        width = max(1 if answer is None else answer.moves.shape[1] for _, answer in answers)
        moves = np.full((len(first), width), END, np.int32)
        strategies = np.zeros((len(first), self.rules.deck.hand_count, width))
        for there, answer in answers:
            if answer is None:
                moves[there, 0] = made[first[there]]
            else:
                moves[there, : answer.moves.shape[1]] = answer.moves
                strategies[there, :, : answer.moves.shape[1]] = answer.probabilities
        match = moves[place] == made[:, None]
        column = np.where(match.any(axis=1), match.argmax(axis=1), -1)
        if (column < 0).any():
            i = int(np.flatnonzero(column < 0)[0])
            raise _unlisted(self.agents[int(actor[i]) ^ way], places, i, int(made[i]))
        return (asked, moves), place, column.astype(np.int64), strategies

    def _answer(self, agent: int, places: Places) -> Strategies:
        """What an agent plays at places. Agents of others are asked by one thread at a time."""
        player = self.agents[agent]
        assert isinstance(player, Answering)
        with nullcontext() if isinstance(player, BlueprintAgent | Yardstick) else self._lock:
            return player.strategies(places)

    def located(self, way: int, asked: tuple[Places, Array]) -> branches.Moves:
        """Where the moves at places lead."""
        places, moves = asked
        shape = moves.shape
        out = branches.Moves(
            moves,
            np.zeros(shape, np.int8),
            np.zeros(shape, np.int64),
            np.zeros((*shape, 2), np.int64),
            np.full(shape, -1, np.int64),
            np.full(shape, -1, np.int64),
        )
        tables = None if self.values is None else self.values[way]
        tree, reader = tree_of(None if tables is None else tables.strategy, self.rules, MAPPING)
        nothing = np.full(1, -1, np.int32)
        rows = branches.Rows(nothing, nothing) if tables is None else branches.Rows(tables.after_row, tables.begin_row)
        lines, length = np.ascontiguousarray(places.moves), np.ascontiguousarray(places.length)
        branches.locate(book_of(self.rules), tree, reader, rows, -1 if tables is None else 0, lines, length, out)
        return out

    def _lines(self, way: int, hands: Hands, places: Places, owner: Array, known: Array) -> tuple[list[bytes], Array]:
        """Hands with the same moves before the board: what follows them on average is the same where both are known."""
        if not known.all():
            return [b""] * len(hands), np.arange(len(hands))
        before = np.bincount(owner[places.street == 0], minlength=len(hands))
        moves = np.where(np.arange(hands.moves.shape[1]) < before[:, None], hands.moves, END)
        keys = [bytes([way]) + row[:count].tobytes() for row, count in zip(moves, before.tolist(), strict=True)]
        different = list(dict.fromkeys(keys))
        number = {key: k for k, key in enumerate(different)}
        return different, np.array([number[key] for key in keys], np.int64)


def answers(agent: Agent, rules: Rules) -> bool:
    """Whether an agent's strategy can be asked for all hands. `random` has thousands of raises to answer with."""
    if isinstance(agent, Yardstick) and agent.name == "random" and not rules.limit:
        return False
    return isinstance(agent, Answering)


def _unlisted(agent: Agent, places: Places, i: int, move: int) -> InputError:
    return InputError(
        f"agent {agent.name!r} played {show_move(move, places.rules)!r} at {places.line(i)!r}, which it never plays by its "
        "answers for all hands (`strategies`): match without --aivat"
    )


def pots_of(hands: Hands) -> Array:
    """What was in the pot when somebody first acted on each street; 0 where nobody did. int64 [n, rounds]"""
    board = hands.cards[:, 2 * hands.rules.hole :]
    places, owner, _ = Places(hands.rules, hands.moves, hands.length, board).decisions()
    pots = np.zeros((len(hands), hands.rules.rounds), np.int64)
    back = np.arange(len(owner))[::-1]  # the first decision of a street is written last
    pots[owner[back], places.street[back]] = places.states[back, :2].sum(axis=1)
    return pots


def hand_numbers(deck: Deck, cards: Array) -> Array:
    """The numbers of hands. uint8 [n, hole] -> int64 [n]"""
    place = np.full(256, -1, np.int64)
    place[deck.cards] = np.arange(len(deck.cards))
    at = np.sort(place[cards], axis=1)
    numbers: Array = at[:, 0] if deck.hole == 1 else at[:, 1] * (at[:, 1] - 1) // 2 + at[:, 0]
    return numbers


# --- values ---------------------------------------------------------------------------------------


def _values_of(
    first: Agent, second: Agent, rules: Rules, progress: Callable[[float], None] | None, more: dict[str, Any]
) -> tuple[ValueTables, ValueTables] | None:
    """Tables for both seatings: of the blueprint that plays, against what the other plays where one tree can say it."""
    ours = [agent.strategy for agent in (first, second) if isinstance(agent, BlueprintAgent)]
    if not ours:
        return None
    like = ours[0]
    by_agent = []
    for agent in (first, second):
        if isinstance(agent, BlueprintAgent) and _alike(agent.strategy, like):
            by_agent.append(agent.played.on_tree())
        elif agent.name in SIMPLE and isinstance(agent, Yardstick):
            by_agent.append(yardstick(SIMPLE[agent.name], like))
        else:
            by_agent.append(like)
    mine, theirs = (strategy.labelled(progress=progress) for strategy in by_agent)
    if mine is theirs or mine.fingerprint == theirs.fingerprint:
        both = value_tables(mine, progress=progress, **more)
        return both, both
    return (
        value_tables(mine, theirs, progress=progress, **more),
        value_tables(theirs, mine, progress=progress, **more),
    )


def _alike(one: Any, other: Any) -> bool:
    return bool(one.tree.fingerprint == other.tree.fingerprint and one.cards.fingerprint == other.cards.fingerprint)


# --- cards ----------------------------------------------------------------------------------------


def _cards_of(rules: Rules) -> kernels.Cards:
    deck, hands = rules.deck, rules.deck.hands
    second = hands[:, 1] if deck.hole == 2 else np.full(len(hands), kernels.NO_CARD, np.uint8)
    mask = np.bitwise_or.reduce(np.uint64(1) << hands.astype(np.uint64), axis=1)
    shown = np.array(rules.board_sizes, np.int64)
    ranks = ranking_tables(rules.hole + rules.board_sizes[-1])
    first = np.ascontiguousarray(hands[:, 0])
    return kernels.Cards(deck.cards, first, np.ascontiguousarray(second), mask, deck.hole == 2, shown, ranks)


@lru_cache(maxsize=1)
def _classes_of(rules: Rules) -> kernels.Classes:
    """Of starting hands, in games with the whole deck."""
    if rules.deck != FULL_DECK or rules.board_sizes[-1] != 5:
        return kernels.Classes(np.zeros(0, np.int16), np.zeros(0, np.int64), np.zeros((0, 0)), np.zeros((0, 0)))
    group, pairs = hand_classes(), class_pairs().astype(float)
    return kernels.Classes(group, np.unique(group, return_index=True)[1], (2 * preflop_table() - 1) * pairs, pairs)


@lru_cache(maxsize=4)
def _suits(deck: Deck) -> tuple[Array, Array]:
    """Classes of hands that suits make alike, and how hands look once a hand is made the first of its class.

    int32 [hands], int32 [hands, hands]
    """
    suits = sorted({int(card) & 3 for card in deck.cards})
    images = []
    for order in permutations(suits):
        rename = np.arange(256)
        for card in deck.cards.tolist():
            rename[card] = (card & ~3) | order[suits.index(card & 3)]
        images.append(hand_numbers(deck, rename[deck.hands].astype(np.uint8)))
    every = np.stack(images)  # [orders, hands]
    leader, by = every.min(axis=0), every.argmin(axis=0)
    orbit = np.unique(leader, return_inverse=True)[1].reshape(-1)
    return orbit.astype(np.int32), every[by].astype(np.int32)


def _room_of(hands: int) -> kernels.Room:
    return kernels.Room(
        np.zeros((kernels.ROWS, hands)),
        np.zeros(kernels.NO_CARD + 1),
        np.zeros((2, 7), np.uint8),
        np.zeros((2, hands), np.uint16),
        np.zeros((2, hands), np.int32),
        np.zeros(257, np.int64),
        np.zeros((2, hands), np.uint8),
    )
