"""Compiled play of a blueprint in the real game: rows of probabilities at its places, and the real moves for them.

One player's cards: `choose` and `sample`, for tables. All hands at once: `answer`, for public places. How the other's bets
were read is the player's secret, drawn once for a hand; so its place in the tree is a hidden state. `answer` keeps, for each
place that it may be at, the chance of the readings that lead there and, for each hand, that chance times the probability
that the player with this hand made its own moves there. The mean of the rows with these weights is what others can know of
its strategy, exactly; their sum is the probability that a hand plays to here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.cards.features._kernels import Ranker, Sorter, strength, strength_of_all
from riverboat.compiled.jit import kernel, part
from riverboat.core.arrays import Array
from riverboat.games.holdem._kernels.betting import GOING, Book, begin, price, read, step, write
from riverboat.games.holdem.action_tree import CALL as CALLS
from riverboat.games.holdem.action_tree import FOLD as FOLDS
from riverboat.games.holdem.action_tree import RAISE as RAISES
from riverboat.games.holdem.actions import CALL, END, FOLD
from riverboat.strategies._kernels.line import (
    ACTING,
    IN_STEP,
    OFF_TREE,
    READING,
    SMALL,
    Reader,
    Tree,
    carry_out,
    dealt,
    decision,
    follow,
    onward,
    uniform,
)
from riverboat.strategies._kernels.postprocessing import Post, process

FOLD_COLUMN, CALL_COLUMN, FIRST_RAISE = 0, 1, 2  # columns of rows: fold, call, and each raise of the tree, upwards
MARGIN = 0.2  # of strength above the price at which a call is worth it: those who bet hold more than a random hand


class Player(NamedTuple):
    """A blueprint and how it is played."""

    book: Book
    tree: Tree
    reader: Reader
    post: Post
    spares: bool  # the first move of a hand is not post-processed
    kinds: Array  # int8 [columns]: as `Post` wants them
    ranker: Ranker
    tables: tuple[Array, ...]  # by street: weights [buckets, moves of the street]


# --- rows -------------------------------------------------------------------------------------


@part
def worth_a_call(book, s, beaten, met):
    """Whether a hand of this strength is worth the price."""
    cost = price(book, s)
    return beaten >= (cost / (s.spent0 + s.spent1 + cost) + MARGIN) * met


@part
def real_moves(p, node, off, s, played, i):
    """The real moves of the columns at a decision, into row i; how many columns it has."""
    for k in range(played.shape[1]):
        played[i, k] = CALL
    if price(p.book, s) > 0:
        played[i, FOLD_COLUMN] = FOLD  # else the fold of another price is a check
    columns = FIRST_RAISE
    if off == SMALL or node == OFF_TREE:
        return columns
    first = np.int64(p.tree.first[node])
    for child in range(first, first + np.int64(p.tree.moves[node])):
        if p.tree.kind[child] == RAISES:
            if off == IN_STEP:
                played[i, columns] = carry_out(p.book, p.tree, p.reader, node, child, s)
            columns += 1
    return columns


@part
def fill(p, node, off, street, bucket, calls, own, rows, i):
    """Probabilities of the columns at a decision, post-processed, into row i. Off the tree, `calls` decides."""
    for k in range(rows.shape[1]):
        rows[i, k] = 0.0
    if off == SMALL or node == OFF_TREE:
        rows[i, CALL_COLUMN if off == SMALL or calls else FOLD_COLUMN] = 1.0
        return
    tree, table, total = p.tree, p.tables[street], 0.0
    first, count, slot = np.int64(tree.first[node]), np.int64(tree.moves[node]), np.int64(tree.slot[node])
    for a in range(count):
        total += np.float64(table[bucket, slot + a])
    raises = FIRST_RAISE
    for a in range(count):
        x = np.float64(table[bucket, slot + a]) / total if total > 0 else 1.0 / count
        kind = tree.kind[first + a]
        if kind == FOLDS:
            rows[i, FOLD_COLUMN] = x
        elif kind == CALLS:
            rows[i, CALL_COLUMN] = x
        else:
            rows[i, raises] = x
            raises += 1
    if own > 0 or not p.spares:
        process(p.post, p.kinds, rows, i)


# --- tables -----------------------------------------------------------------------------------


class Seen(NamedTuple):
    """Arrays of `Views`."""

    hand: Array
    seat: Array
    hole: Array
    board: Array
    moves: Array
    length: Array


class Stand(NamedTuple):
    """Where the tables stand."""

    states: Array  # int64 [n, FIELDS]: the real betting, as `games.holdem._kernels.betting.State`
    node: Array  # int32 [n]: the player's decision in the tree; OFF_TREE (-1) where there is none
    off: Array  # int8 [n]: IN_STEP, BEYOND or SMALL
    own: Array  # int32 [n]: moves that the player has made


@kernel
def stand(
    p,  # Player
    seed,  # uint64
    seen,  # Seen
    out,  # Stand OUT
):
    """Follow the lines of all tables."""
    for i in range(len(seen.length)):
        seat, length = np.int64(seen.seat[i]), np.int64(seen.length[i])
        node, off, own, s = follow(p.book, p.tree, p.reader, seed, seen.hand[i], seat, seen.moves, i, length)
        out.node[i], out.off[i], out.own[i] = node, off, own
        write(s, out.states, i)


@kernel
def choose(
    p,  # Player
    buckets,  # int32 [n]
    seen,  # Seen
    at,  # Stand
    rows,  # float64 [n, columns] OUT
    played,  # int32 [n, columns] OUT: the real moves for them
):
    """Probabilities of moves, and what they are in the real game."""
    for i in range(len(buckets)):
        s, node, off, calls = read(at.states, i), np.int64(at.node[i]), np.int64(at.off[i]), True
        real_moves(p, node, off, s, played, i)
        if node == OFF_TREE and price(p.book, s) > 0:
            beaten, met = strength(p.ranker, s.street, seen.hole, seen.board, i, p.book.shown[s.street])
            calls = worth_a_call(p.book, s, beaten, met)
        fill(p, node, off, s.street, np.int64(buckets[i]), calls, np.int64(at.own[i]), rows, i)


@kernel
def sample(
    seed,  # uint64
    hand,  # int64 [n]
    length,  # int32 [n]
    rows,  # float64 [n, columns]
    played,  # int32 [n, columns]
    out,  # int32 [n] OUT
):
    """Draw a move from each row."""
    for i in range(len(out)):
        left = uniform(seed, hand[i], length[i], ACTING)
        for k in range(rows.shape[1]):
            if rows[i, k] > 0:
                out[i] = played[i, k]  # the last with any, where rounding leaves something
                left -= rows[i, k]
                if left < 0:
                    break


# --- all hands at public places -----------------------------------------------------------------


class Asked(NamedTuple):
    """Places and the seats that are asked about."""

    moves: Array  # int32 [n, most]
    length: Array  # int32 [n]
    board: Array  # uint8 [n, board]
    seat: Array  # int8 [n]
    drawn: bool  # bets are read as in one hand, else in all ways
    hand: Array  # int64 [n]: the numbers of these hands
    cards: Array  # int32 [n]: rows of the arrays below
    live: Array  # int32 [boards, hands]: hands that a board leaves
    left: Array  # int64 [boards]: how many they are
    buckets: Array  # int32 [boards, streets, hands]


class Room(NamedTuple):
    """Places in the tree where the player may be."""

    node: Array  # int64 [most]
    off: Array  # int64 [most]
    prior: Array  # float64 [most]: chance of the readings that lead there
    weight: Array  # float64 [most, hands]: times the probability of the player's own moves
    rows: Array  # float64 [hands, columns]: of one decision; hands of one bucket share the first of theirs
    played: Array  # int32 [1, columns]
    column: Array  # int64 [columns]: of the answer
    chance: Array  # float64 [hands]: of the player's move with the hands that rows are of
    visit: Array  # int64 [1]: decisions so far, each with rows of its own
    visited: Array  # int64 [most buckets]: the last that a bucket has a row for
    leader: Array  # int32 [most buckets]: the hand that has it
    ranked: Array  # int64 [2]: the street whose strengths are there, -1; twice the hands that each meets
    sorter: Sorter


class Told(NamedTuple):
    """What is told."""

    reach: Array  # float64 [n, hands]: probability that a hand's player makes its moves of the line
    used: Array  # int64 [n]: columns of each place
    moves: Array  # int32 [n, most columns]: upwards, END behind the last
    shares: Array  # float64 [n, hands, most columns]


@part
def rank_once(p, asked, i, street, room):
    """Strengths of all hands on this street, where they are not there yet."""
    if room.ranked[0] != street:
        room.ranked[1] = strength_of_all(p.ranker, street, asked.board, i, p.book.shown[street], room.sorter)
        room.ranked[0] = street


@part
def open_rows(p, asked, i, b, node, s, room):
    """Make ready for the rows of another decision."""
    room.visit[0] += 1
    if node == OFF_TREE and price(p.book, s) > 0 and asked.left[b] > 0:
        rank_once(p, asked, i, s.street, room)


@part
def row_of(p, asked, b, node, off, s, h, own, room):
    """The hand whose row is that of hand h, and whether it was filled in just now."""
    bucket = np.int64(asked.buckets[b, s.street, h])
    if node == OFF_TREE:  # hands of one bucket may differ in strength
        calls = price(p.book, s) == 0 or worth_a_call(p.book, s, room.sorter.twice[h], room.ranked[1])
        fill(p, node, off, s.street, bucket, calls, own, room.rows, h)
        return h, True
    if room.visited[bucket] == room.visit[0]:
        return np.int64(room.leader[bucket]), False
    room.visited[bucket], room.leader[bucket] = room.visit[0], h
    fill(p, node, off, s.street, bucket, True, own, room.rows, h)
    return h, True


@kernel
def weigh_move(p, asked, i, j, s, move, own, room):
    """Multiply the weights of place j by the probability of the player's own move there."""
    b, off = np.int64(asked.cards[i]), room.off[j]
    node = decision(p.tree, room.node[j], off, s.turn, s.street)
    columns = real_moves(p, node, off, s, room.played, 0)
    open_rows(p, asked, i, b, node, s, room)
    for k in range(asked.left[b]):
        h = np.int64(asked.live[b, k])
        if room.weight[j, h] == 0.0:
            continue
        first, fresh = row_of(p, asked, b, node, off, s, h, own, room)
        if fresh:
            chance = 0.0
            for c in range(columns):
                if room.played[0, c] == move:
                    chance += room.rows[first, c]
            room.chance[first] = chance
        room.weight[j, h] *= room.chance[first]


@part
def merge(asked, b, places, room):
    """Places that became one; how many are left."""
    j = 1
    while j < places:
        for i in range(j):
            if room.node[i] == room.node[j] and room.off[i] == room.off[j]:
                last = places - 1
                room.prior[i] += room.prior[j]
                room.node[j], room.off[j], room.prior[j] = room.node[last], room.off[last], room.prior[last]
                for k in range(asked.left[b]):
                    h = np.int64(asked.live[b, k])
                    room.weight[i, h] += room.weight[j, h]
                    room.weight[j, h] = room.weight[last, h]
                places = last
                j -= 1
                break
        j += 1
    return places


@part
def split(asked, b, j, new, ways, room):
    """Place j becomes two."""
    room.node[new], room.off[new] = ways.other_node, ways.other_off
    room.prior[new] = room.prior[j] * (1.0 - ways.chance)
    room.prior[j] *= ways.chance
    for k in range(asked.left[b]):
        h = np.int64(asked.live[b, k])
        room.weight[new, h] = room.weight[j, h] * (1.0 - ways.chance)
        room.weight[j, h] *= ways.chance


@kernel
def walk(p, seed, asked, i, room):
    """Where the player may be after line i: places, or -1 where there is no room for them, its moves so far, the state."""
    s, places, own, b = begin(p.book), 1, np.int64(0), np.int64(asked.cards[i])
    room.node[0], room.off[0], room.prior[0], room.ranked[0] = 0, IN_STEP, 1.0, -1
    for k in range(asked.left[b]):
        room.weight[0, asked.live[b, k]] = 1.0
    for k in range(asked.length[i]):
        move, mine, street, new = np.int64(asked.moves[i, k]), s.turn == asked.seat[i], s.street, places
        if mine:
            for j in range(places):
                weigh_move(p, asked, i, j, s, move, own, room)
            own += 1
        for j in range(places):
            ways = onward(p.book, p.tree, p.reader, room.node[j], room.off[j], s, move, mine)
            first = ways.chance >= 1.0
            if asked.drawn and not first:
                first = uniform(seed, asked.hand[i], k, READING) < ways.chance
            if not first and not asked.drawn and ways.chance > 0.0:
                if new == len(room.node):
                    return -1, own, s
                split(asked, b, j, new, ways, room)
                new, first = new + 1, True
            room.node[j], room.off[j] = (ways.node, ways.off) if first else (ways.other_node, ways.other_off)
        s = step(p.book, s, move)
        for j in range(new):
            room.node[j], room.off[j] = dealt(p.tree, room.node[j], room.off[j], street, s.street)
        places = merge(asked, b, new, room)
    return places, own, s


@part
def add_move(move, out, i):
    """Put a move in its place among those of place i."""
    at = out.used[i]
    for c in range(out.used[i]):
        if out.moves[i, c] == move:
            return
    while at > 0 and out.moves[i, at - 1] > move:
        out.moves[i, at] = out.moves[i, at - 1]
        at -= 1
    out.moves[i, at] = move
    out.used[i] += 1


@part
def list_moves(p, places, s, room, out, i):
    """The real moves of all places."""
    out.used[i] = 0
    for c in range(out.moves.shape[1]):
        out.moves[i, c] = END
    add_move(np.int64(CALL), out, i)
    if price(p.book, s) > 0:
        add_move(np.int64(FOLD), out, i)
    for j in range(places):
        node = decision(p.tree, room.node[j], room.off[j], s.turn, s.street)
        for c in range(FIRST_RAISE, real_moves(p, node, room.off[j], s, room.played, 0)):
            add_move(np.int64(room.played[0, c]), out, i)


@kernel
def add_rows(p, asked, i, j, places, own, s, room, out):
    """Add the rows of place j, each with its weight among all places; as bets are read where a hand never plays so."""
    b, off = np.int64(asked.cards[i]), room.off[j]
    node = decision(p.tree, room.node[j], off, s.turn, s.street)
    columns = real_moves(p, node, off, s, room.played, 0)
    for c in range(columns):
        for a in range(out.used[i]):
            if out.moves[i, a] == room.played[0, c]:
                room.column[c] = a
    open_rows(p, asked, i, b, node, s, room)
    for k in range(asked.left[b]):
        h = np.int64(asked.live[b, k])
        factor = 1.0
        if places > 1:
            factor = room.weight[j, h] / out.reach[i, h] if out.reach[i, h] > 0.0 else room.prior[j]
        first, _ = row_of(p, asked, b, node, off, s, h, own, room)
        for c in range(columns):
            out.shares[i, h, room.column[c]] += factor * room.rows[first, c]


@kernel
def answer(
    p,  # Player
    seed,  # uint64
    asked,  # Asked
    room,  # Room
    out,  # Told INOUT: shares begin as zeros; without columns nothing but reach is told
):
    """What the player does at public places with all hands, and which it plays to there. Without hands, the moves alone.

    The first place for which there is no room, or -1.
    """
    for i in range(len(asked.length)):
        places, own, s = walk(p, seed, asked, i, room)
        if places < 0:
            return i
        b = np.int64(asked.cards[i])
        for k in range(asked.left[b]):
            h = np.int64(asked.live[b, k])
            out.reach[i, h] = 0.0
            for j in range(places):
                out.reach[i, h] += room.weight[j, h]
        if out.moves.shape[1] == 0:
            continue
        out.used[i] = 0
        if s.over == GOING and s.turn == asked.seat[i]:
            list_moves(p, places, s, room, out, i)
            for j in range(places):
                add_rows(p, asked, i, j, places, own, s, room, out)
    return -1


# --- boards -----------------------------------------------------------------------------------


@kernel
def lay_out(
    hands,  # uint8 [hands, hole]
    boards,  # uint8 [boards, cards that lie]
    live,  # int32 [boards, hands] OUT: hands that a board leaves
    left,  # int64 [boards] OUT: how many they are
    deals,  # uint8 [boards · hands, hole + cards] OUT: these hands with the board, one board after the other
):
    """Deal every board with all hands that it leaves; how many deals there are."""
    n = 0
    for b in range(len(boards)):
        known, count = np.uint64(0), 0
        for k in range(boards.shape[1]):
            known |= np.uint64(1) << np.uint64(boards[b, k])
        for h in range(len(hands)):
            blocked = False
            for k in range(hands.shape[1]):
                blocked |= (known >> np.uint64(hands[h, k])) & np.uint64(1) != 0
                if n < len(deals):
                    deals[n, k] = hands[h, k]
            if blocked:
                continue
            for k in range(boards.shape[1]):
                deals[n, hands.shape[1] + k] = boards[b, k]
            live[b, count] = h
            count += 1
            n += 1
        left[b] = count
    return n


@kernel
def sort_out(
    live,  # int32 [boards, hands]
    left,  # int64 [boards]
    buckets,  # int32 [deals, 1, streets]: buckets of the deals of `lay_out`
    out,  # int32 [boards, streets, hands] OUT
):
    """Buckets by board, street and hand."""
    n = 0
    for b in range(len(live)):
        for k in range(left[b]):
            for street in range(buckets.shape[2]):
                out[b, street, live[b, k]] = buckets[n, 0, street]
            n += 1
