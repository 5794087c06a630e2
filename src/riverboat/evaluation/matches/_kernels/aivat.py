"""Compiled AIVAT: what public histories are worth on average over the cards that players may hold, and the luck on the way.

A public state has two ranges: r0 and r1 are how often a player plays to there with each hand. Everything is a sum over
the pairs of hands that share no card, each with the weight r0 · r1. A player whose strategy is not known has one hand in
its range, the one that it held.

The value of a state is v = ½ (what seat 0's hand wins) - ½ (what seat 1's hand wins), each by its own bucket; so its mean is
two sums over hands, each with what a hand meets of the other range.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.cards.equity._kernels.sweep import meets, sort_by_strength, sweep, weigh
from riverboat.cards.features._kernels import laid, value_of
from riverboat.cards.ranking import RankTables
from riverboat.compiled.jit import kernel, part
from riverboat.core.arrays import Array
from riverboat.evaluation.matches._kernels.branch import FOLDS, NOTHING, SHOWS

U = np.uint64
NO_CARD = 52  # in place of the second card of hands of one
MOST_RUNOUTS = 1_200  # that an all-in is paid by; where more may come, by the board that was dealt
RANGE, LEFT, MET = 0, 2, 4  # rows of `Room.real`, two of each: ranges, what a board leaves of them, what hands meet
CHOSEN, WEIGHT, BEATS, EDGE, ROWS = 6, 7, 8, 9, 10  # one of each


class Cards(NamedTuple):
    """The deck and its hands."""

    deck: Array  # uint8 [cards]
    first: Array  # uint8 [hands]
    second: Array  # uint8 [hands]: NO_CARD where hands have one card
    mask: Array  # uint64 [hands]: a bit for each card
    two: bool  # cards in a hand, or one
    shown: Array  # int64 [rounds]: board cards
    ranks: RankTables  # of whole boards


class Room(NamedTuple):
    """Of one hand."""

    real: Array  # float64 [ROWS, hands]
    sums: Array  # float64 [53]
    board: Array  # uint8 [2, 7]: one that is ranked, one that is tried
    strength: Array  # uint16 [2, hands]: by hand; from weak to strong
    order: Array  # int32 [2, hands]
    digits: Array  # int64 [257]
    held: Array  # uint8 [2, hands]: cards of the hands, from weak to strong


# --- sums over pairs of hands ---------------------------------------------------------------------


@kernel
def meet(cards, weights, sums, out):
    """For each hand the weight of the hands that share no card with it."""
    live = len(cards.first)
    sums[NO_CARD] = 0.0
    total = weigh(cards.deck, cards.first, cards.second, cards.two, live, weights, sums, 0.0)
    for h in range(live):
        out[h] = meets(cards.first, cards.second, cards.two, h, weights, sums, total)


@part
def dot(a, b):
    """Sum of products."""
    total = 0.0
    for h in range(len(a)):
        total += a[h] * b[h]
    return total


@part
def worth(weights, met, bucket, values):
    """Sum of the shares of the pot that hands win, each with its weight and what it meets."""
    total = 0.0
    for h in range(len(weights)):
        if weights[h] > 0:
            total += weights[h] * met[h] * np.float64(values[bucket[h]])
    return total


@kernel
def shares(cards, room, at, bucket, first, second):
    """Sum over pairs of the share of the pot that seat 0's hand wins less the one that seat 1's wins, and the pairs.

    `at` is RANGE or LEFT; `first` and `second` are both seats' values by bucket.
    """
    real = room.real
    meet(cards, real[at + 1], room.sums, real[MET])
    meet(cards, real[at], room.sums, real[MET + 1])
    gap = worth(real[at], real[MET], bucket, first) - worth(real[at + 1], real[MET + 1], bucket, second)
    return gap, dot(real[at], real[MET])


@kernel
def keep(cards, board, count, room, to):
    """What a board leaves of both ranges, into the rows at `to`."""
    known = U(0)
    for k in range(count):
        known |= U(1) << U(board[k])
    for h in range(len(cards.first)):
        free = not cards.mask[h] & known
        room.real[to, h] = room.real[RANGE, h] if free else 0.0
        room.real[to + 1, h] = room.real[RANGE + 1, h] if free else 0.0


@kernel
def find_edges(cards, board, weights, room):
    """What each hand beats less what beats it on a whole board, into EDGE; hands that it blocks have none."""
    shown = cards.shown[-1]
    for k in range(shown):
        room.board[0, k] = board[k]
    key, mask, known = laid(cards.ranks, room.board, 0, shown)
    live, strength, order, real = 0, room.strength[0], room.order[0], room.real
    for h in range(len(cards.first)):
        real[EDGE, h] = 0.0
        if not cards.mask[h] & known:
            mine, bits, size = key + cards.ranks.key[cards.first[h]], mask + cards.ranks.mask[cards.first[h]], shown + 1
            if cards.two:
                mine, bits, size = (
                    mine + cards.ranks.key[cards.second[h]],
                    bits + cards.ranks.mask[cards.second[h]],
                    size + 1,
                )
            strength[h] = value_of(cards.ranks, mine, bits, size)
            order[live] = h
            live += 1
    sort_by_strength(order, live, strength, room.order[1], room.digits)
    one, other, rank = room.held[0], room.held[1], room.strength[1]
    for k in range(live):
        h = order[k]
        one[k], other[k], rank[k], real[WEIGHT, k] = cards.first[h], cards.second[h], strength[h], weights[h]
    room.sums[NO_CARD] = 0.0
    total = sweep(cards.deck, one, other, rank, cards.two, live, real[WEIGHT], room.sums, real[BEATS], 0.0)
    for k in range(live):
        real[EDGE, order[k]] = real[BEATS, k] - meets(one, other, cards.two, k, real[WEIGHT], room.sums, total)


# --- the first cards of the board -----------------------------------------------------------------


class First(NamedTuple):
    """Means over all boards of the second street."""

    orbit: Array  # int32 [hands]: the class that suits make alike
    image: Array  # int32 [hands, hands]: hand b, with the suits renamed that make a the first of its class
    means: Array  # float64 [rows, 2, classes, hands]: of the rows that are needed: sums of values as in `pair_sums`


@kernel
def pair_sums(
    first,  # uint8 [hands]
    second,  # uint8 [hands]
    boards,  # uint8 [boards, cards]
    bucket,  # int32 [classes, boards]: of one hand of each class; -1 where the board blocks it
    values,  # float32 [buckets]: of one seat at one node
    one,  # float64 [53] scratch
    two,  # float64 [53, 53] scratch
    out,  # float64 [classes, hands] OUT
):
    """Sum of the values of a hand of each class over the boards that another hand leaves."""
    for c in range(len(bucket)):
        total = 0.0
        one[:] = 0.0
        two[:, :] = 0.0
        for b in range(len(boards)):
            if bucket[c, b] < 0:
                continue
            x = np.float64(values[bucket[c, b]])
            total += x
            for i in range(boards.shape[1]):
                one[boards[b, i]] += x
                for j in range(i):
                    two[boards[b, i], boards[b, j]] += x
                    two[boards[b, j], boards[b, i]] += x
        for h in range(len(first)):
            p, q = first[h], second[h]
            out[c, h] = total - one[p] - one[q] + two[p, q]


@kernel
def first_deal(mask, first, row, ranges):
    """Sum over pairs of hands and boards of the share that seat 0's hand wins less the one that seat 1's wins."""
    total, mine, theirs = 0.0, first.means[row, 0], first.means[row, 1]
    for a in range(len(mask)):
        if ranges[0, a] <= 0:
            continue
        for b in range(len(mask)):
            if ranges[1, b] > 0 and not mask[a] & mask[b]:
                gain = mine[first.orbit[a], first.image[a, b]] - theirs[first.orbit[b], first.image[b, a]]
                total += ranges[0, a] * ranges[1, b] * gain
    return total


# --- hands --------------------------------------------------------------------------------------


class Values(NamedTuple):
    """Shares of the pot that each seat's buckets win."""

    after: tuple[Array, ...]  # by street: float32 [2, rows, buckets]
    begin: tuple[Array, ...]
    root: int  # the row of the first decision in begin[0]; -1: none
    corrects: bool  # without it nothing is corrected, and what is left are imaginary observations


class Played(NamedTuple):
    """Hands that were played. Decisions of a hand follow one another."""

    known: Array  # bool [2]: seats whose strategy is known
    held: Array  # int64 [n, 2]: hands, by seat
    board: Array  # uint8 [n, board]
    bucket: Array  # int32 [n, rounds, hands]: on the boards that lay
    tried: Array  # int64 [n, rounds]: number of the boards that might have lain; -1: none
    tries: Array  # int32 [numbers, cards, hands]: buckets on them, with each card that may have come next
    start: Array  # int64 [n + 1]: the first decision of each hand
    decision: Array  # int64 [decisions, 4]: place among those of `Moves` and the strategies, move, actor, street
    line: Array  # int64 [n]: hands of one number had the same moves before the board, and their seats as well


class Told(NamedTuple):
    """What is told of n hands, in chips of seat 0."""

    base: Array  # float64 [n]: what the end is worth, on average over the hands that players may have held
    chance: (
        Array  # float64 [n, rounds]: what is to be added for the luck of cards: before the first street, after it, …
    )
    moves: Array  # float64 [decisions]: and for the luck of a move
    drawn: Array  # float64 [lines]: mean of the shares over the first boards; NaN where it is not known yet


@part
def sit_down(cards, values, pot, played, i, room):
    """Ranges before the first move; what is to be added for the luck of hands that are not averaged over."""
    room.real[RANGE : RANGE + 2] = 1.0
    if played.known[0] and played.known[1]:
        return 0.0
    knows, term, table = values.corrects and values.root >= 0, 0.0, values.begin[0]
    if knows:
        total, pairs = shares(cards, room, RANGE, played.bucket[i, 0], table[0, values.root], table[1, values.root])
        term += 0.5 * pot * total / pairs
    for p in range(2):
        if not played.known[p]:
            room.real[RANGE + p] = 0.0
            room.real[RANGE + p, played.held[i, p]] = 1.0
    if knows:
        total, pairs = shares(cards, room, RANGE, played.bucket[i, 0], table[0, values.root], table[1, values.root])
        term -= 0.5 * pot * total / pairs
    return term


@kernel
def act(cards, values, moves, strategy, played, i, d, room):
    """What is to be added for the luck of a move; NaN where it is never made. Its player's range is then what is left."""
    u, observed, p, street = played.decision[d]
    q, real, bucket = 1 - p, room.real, played.bucket[i, street]
    sign = 1.0 if p == 0 else -1.0
    meet(cards, real[RANGE + q], room.sums, real[MET + p])
    ranked, mean, before, seen, after = False, 0.0, 0.0, 0.0, 0.0
    for c in range(moves.move.shape[1]):
        kind = moves.kind[u, c]
        if kind == NOTHING or not (values.corrects or c == observed):
            continue
        for h in range(real.shape[1]):
            real[CHOSEN, h] = real[RANGE + p, h] * strategy[h, c]
        pairs, value = dot(real[CHOSEN], real[MET + p]), 0.0
        if values.corrects and pairs > 0:
            if kind == FOLDS:
                value = np.float64(moves.stake[u, c]) * pairs
            elif kind == SHOWS:
                if not ranked:
                    find_edges(cards, played.board[i], real[RANGE + q], room)
                    ranked = True
                value = sign * np.float64(moves.stake[u, c]) * dot(real[CHOSEN], real[EDGE])
            else:
                spent0, spent1 = np.float64(moves.spent[u, c, 0]), np.float64(moves.spent[u, c, 1])
                value = 0.5 * (spent1 - spent0) * pairs
                row = moves.after[u, c]
                if row >= 0:
                    meet(cards, real[CHOSEN], room.sums, real[MET + q])
                    mine = worth(real[CHOSEN], real[MET + p], bucket, values.after[street][p, row])
                    theirs = worth(real[RANGE + q], real[MET + q], bucket, values.after[street][q, row])
                    value += 0.5 * (spent0 + spent1) * sign * (mine - theirs)
        mean, before = mean + value, before + pairs
        if c == observed:
            seen, after = value, pairs
    if after <= 0:
        return np.nan
    for h in range(real.shape[1]):
        real[RANGE + p, h] *= strategy[h, observed]
    return mean / before - seen / after if values.corrects else 0.0


@part
def later_deal(cards, table, row, board, count, buckets, room):
    """Mean of `shares` over all cards that may come next, which is one."""
    total, pairs, known, trial = 0.0, 0.0, U(0), room.board[1]
    for k in range(count - 1):
        trial[k] = board[k]
        known |= U(1) << U(board[k])
    for c in range(len(cards.deck)):
        if (known >> U(cards.deck[c])) & U(1) == 0:
            trial[count - 1] = cards.deck[c]
            keep(cards, trial, count, room, LEFT)
            worth_here, some = shares(cards, room, LEFT, buckets[c], table[0, row], table[1, row])
            total, pairs = total + worth_here, pairs + some
    return total / pairs


@kernel
def deal_board(cards, values, first, played, i, street, row, pot, told, room):
    """What is to be added for the luck of the cards that begin a street; ranges are then those on it."""
    board, count, line, term = played.board[i], cards.shown[street], played.line[i], 0.0
    if values.corrects and row >= 0 and (street == 1 or played.tried[i, street] >= 0):
        table = values.begin[street]
        if street > 1:
            mean = later_deal(cards, table, row, board, count, played.tries[played.tried[i, street]], room)
        else:
            if np.isnan(told.drawn[line]):
                meet(cards, room.real[RANGE + 1], room.sums, room.real[MET])
                ways = ways_to_deal(len(cards.deck) - (4 if cards.two else 2), count)
                pairs = dot(room.real[RANGE], room.real[MET])
                told.drawn[line] = first_deal(cards.mask, first, row, room.real) / (ways * pairs)
            mean = told.drawn[line]
        keep(cards, board, count, room, LEFT)
        worth_here, pairs = shares(cards, room, LEFT, played.bucket[i, street], table[0, row], table[1, row])
        term = 0.5 * pot * (mean - worth_here / pairs)
    keep(cards, board, count, room, RANGE)
    return term


@part
def ways_to_deal(left, count):
    """So many cards of those that are left."""
    ways = 1.0
    for k in range(count):
        ways = ways * (left - k) / (k + 1)
    return ways


# --- ends ---------------------------------------------------------------------------------------


class Classes(NamedTuple):
    """Starting hands before the board; empty where nothing is known of them."""

    group: Array  # int16 [hands]
    leader: Array  # int64 [classes]: a hand of each
    gap: Array  # float64 [classes, classes]: pairs of hands times wins less losses, over all boards
    pairs: Array  # float64 [classes, classes]: pairs of hands


@kernel
def edge_on(cards, board, room):
    """Wins less losses of seat 0 over all pairs of hands on a whole board, and the pairs."""
    keep(cards, board, cards.shown[-1], room, LEFT)
    find_edges(cards, board, room.real[LEFT + 1], room)
    meet(cards, room.real[LEFT + 1], room.sums, room.real[MET])
    return dot(room.real[LEFT], room.real[EDGE]), dot(room.real[LEFT], room.real[MET])


@kernel
def runouts(cards, board, shown, room):
    """The same over all boards that may still come, of one or two cards more."""
    total, pairs, known, trial = 0.0, 0.0, U(0), room.board[1]
    missing = cards.shown[-1] - shown
    for k in range(shown):
        trial[k] = board[k]
        known |= U(1) << U(board[k])
    for i in range(len(cards.deck)):
        for j in range(i if missing == 2 else 1):
            a, b = cards.deck[i], cards.deck[j]
            if (known >> U(a)) & U(1) or (missing == 2 and (known >> U(b)) & U(1)):
                continue
            trial[shown] = a
            if missing == 2:
                trial[shown + 1] = b
            edge, some = edge_on(cards, trial, room)
            total, pairs = total + edge, pairs + some
    return total, pairs


@kernel
def by_class(classes, ranges):
    """The same before the board, exact where hands of one class weigh the same; no pairs where they do not."""
    for h in range(len(classes.group)):
        leader = classes.leader[classes.group[h]]
        if ranges[0, h] != ranges[0, leader] or ranges[1, h] != ranges[1, leader]:
            return 0.0, 0.0
    total, pairs = 0.0, 0.0
    for a in range(len(classes.gap)):
        for b in range(len(classes.gap)):
            weight = ranges[0, classes.leader[a]] * ranges[1, classes.leader[b]]
            total += weight * classes.gap[a, b]
            pairs += weight * classes.pairs[a, b]
    return total, pairs


@part
def shown_down(cards, classes, board, shown, room):
    """What seat 0 wins of a stake of one when hands are compared, the cards that are to come averaged over."""
    missing = cards.shown[-1] - shown
    total, pairs = 0.0, 0.0
    if shown == 0 and missing > 0 and len(classes.gap) > 0:
        total, pairs = by_class(classes, room.real)
    if pairs <= 0 and 0 < missing <= 2 and ways_to_deal(len(cards.deck) - shown, missing) <= MOST_RUNOUTS:
        total, pairs = runouts(cards, board, shown, room)
    if pairs <= 0:
        total, pairs = edge_on(cards, board, room)  # the board that was dealt
    return total / pairs


@kernel
def estimate(
    cards,  # Cards
    classes,  # Classes
    values,  # Values
    first,  # First
    moves,  # Moves
    strategies,  # float64 [places, hands, columns]
    blinds,  # what is in the pot before the first move
    played,  # Played
    room,  # Room
    told,  # Told OUT
):
    """What hands were worth, and what is to be added for luck. The decision that is never made, or -1."""
    for i in range(len(played.held)):
        told.chance[i, 0] = sit_down(cards, values, blinds, played, i, room)
        for d in range(played.start[i], played.start[i + 1]):
            u, c, p, street = played.decision[d]
            told.moves[d] = 0.0
            if played.known[p]:
                told.moves[d] = act(cards, values, moves, strategies[u], played, i, d, room)
                if np.isnan(told.moves[d]):
                    return d
            if moves.kind[u, c] == FOLDS:
                told.base[i] = np.float64(moves.stake[u, c])
            elif d + 1 == played.start[i + 1]:
                board, shown = played.board[i], cards.shown[street]
                told.base[i] = np.float64(moves.stake[u, c]) * shown_down(cards, classes, board, shown, room)
            elif played.decision[d + 1, 3] != street:
                pot = np.float64(moves.spent[u, c, 0] + moves.spent[u, c, 1])
                told.chance[i, street + 1] = deal_board(
                    cards, values, first, played, i, street + 1, moves.begin[u, c], pot, told, room
                )
    return -1
