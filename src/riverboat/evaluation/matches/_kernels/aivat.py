"""Kernels of AIVAT (Burch, Schmid, Moravčík, Morrill and Bowling 2018): values of public histories, and correction
terms.

The first part samples value tables: expected values of buckets at every node of a blueprint's tree. The second part
finds the outcomes of actions, in the full game and in the tree of the values. The third part computes the estimates
of hands.

A public state has two ranges: r0 and r1 are the reach probabilities of each player with each hand. Every quantity is
a sum over pairs of hands that share no card, with weight r0 · r1. The range of a player with unknown strategy is the
actual hand alone.

The value of a state is v = ½ (share of seat 0's hand) - ½ (share of seat 1's hand), each by its own bucket. So the
mean of v is two sums over hands, each weighted by the compatible hands of the other range.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.cards.equity._kernels.showdown_values import (
    ShowdownWorkspace,
    compatible_reach,
    rank_live_hands,
    showdown_wins,
    sort_live_hands,
    sum_reach,
)
from riverboat.compiled.jit import inline, kernel
from riverboat.core.arrays import Array
from riverboat.games.holdem._kernels import FOLDED, IN_PROGRESS, SHOWDOWN, apply_action_and_deal, initial_state
from riverboat.games.holdem.actions import END_OF_LINE
from riverboat.strategies._kernels.line import OFF_TREE, ON_TREE, advance, advance_on_deal

# --- Sampled values of buckets at every node of a blueprint's tree ---


class ValueRows(NamedTuple):
    """Rows of the nodes of a tree in the value tables."""

    after: Array  # int32 [nodes]: row of values by the buckets of the parent's street; -1: none
    begin: Array  # int32 [nodes]: row of values by the buckets of the street that the node begins; -1: none


class ValueSamplerWorkspace(NamedTuple):
    """Scratch memory for the values of a tree with the cards of one deal."""

    reach: Array  # float64 [2, nodes]: reach probability of each seat
    chance: Array  # float64 [nodes]: probability of the action that leads to a node
    value: Array  # float64 [nodes]: value to seat 0, in chips


@inline
def propagate_reach(tree, first, second, buckets, k, workspace):
    """Compute the probabilities of all actions and both seats' reach probabilities of all nodes, for deal k."""
    workspace.reach[0, 0], workspace.reach[1, 0], workspace.chance[0] = 1.0, 1.0, 1.0
    for node in range(len(tree.actor)):
        if tree.actor[node] < 0:
            continue
        seat, street, child = np.int64(tree.actor[node]), np.int64(tree.street[node]), np.int64(tree.first[node])
        num_actions, slot, total = np.int64(tree.count[node]), np.int64(tree.slot[node]), 0.0
        bucket = np.int64(buckets[k, seat, street])
        strategy = first[street] if seat == 0 else second[street]
        for a in range(num_actions):
            total += np.float64(strategy[bucket, slot + a])
        for a in range(num_actions):
            probability = np.float64(strategy[bucket, slot + a]) / total if total > 0 else 1.0 / num_actions
            workspace.chance[child + a] = probability
            workspace.reach[seat, child + a] = workspace.reach[seat, node] * probability
            workspace.reach[1 - seat, child + a] = workspace.reach[1 - seat, node]


@inline
def backup_values(tree, result, workspace):
    """Compute the values of all nodes to seat 0; `result` is 1, 0 or -1 if seat 0 wins, ties or loses a showdown."""
    for back in range(len(tree.actor)):
        node = len(tree.actor) - 1 - back
        if tree.actor[node] < 0:
            workspace.value[node] = np.float64(tree.payoff[node]) * (result if tree.showdown[node] else 1.0)
            continue
        value, child = 0.0, np.int64(tree.first[node])
        for a in range(tree.count[node]):
            value += workspace.chance[child + a] * workspace.value[child + a]
        workspace.value[node] = value


@inline
def add_weighted(sums, bucket, row, weight, value):
    """Add a weighted value, and its weight, to the sums of a bucket in a row of a value table."""
    sums[bucket, row, 0] += np.float32(weight * value)
    sums[bucket, row, 1] += np.float32(weight)


@kernel
def sample_values(
    tree,  # PlayedTree
    rows,  # ValueRows
    first,  # by street: weights of seat 0's actions [buckets, actions of the street]
    second,  # same layout, of seat 1
    buckets,  # int32 [deals, 2, streets]
    result,  # int8 [deals]: 1 if seat 0's hand is better, -1 if it is worse
    workspace,  # ValueSamplerWorkspace
    after,  # by street: float32 [2, buckets, rows, 2] INOUT: sums of weighted values to seat 0, and of weights
    begin,  # same layout, for nodes that begin a street
):
    """Add the values of every node to the sums of both seats' buckets, weighted by the opponent's reach."""
    for k in range(len(result)):
        propagate_reach(tree, first, second, buckets, k, workspace)
        backup_values(tree, np.float64(result[k]), workspace)
        for node in range(len(tree.actor)):
            for seat in range(2):
                weight, value = workspace.reach[1 - seat, node], workspace.value[node]
                if weight > 0 and rows.after[node] >= 0:
                    street = np.int64(tree.street[tree.parent[node]])
                    add_weighted(after[street][seat], buckets[k, seat, street], rows.after[node], weight, value)
                if weight > 0 and rows.begin[node] >= 0:
                    street = np.int64(tree.street[node])
                    add_weighted(begin[street][seat], buckets[k, seat, street], rows.begin[node], weight, value)


# --- Outcomes of actions, in the full game and in the tree of the values ---

NO_ACTION, ENDS_IN_FOLD, ENDS_IN_SHOWDOWN, CONTINUES = 0, 1, 2, 3  # outcomes; ENDS_IN_SHOWDOWN: on a complete board


class ActionOutcomes(NamedTuple):
    """Actions at n public states, and their outcomes."""

    move: Array  # int32 [n, columns]; END_OF_LINE after the last
    kind: Array  # int8 [n, columns]: NO_ACTION, ENDS_IN_FOLD, …
    stake: Array  # int64 [n, columns]: winnings of seat 0 after a fold; else stake of a showdown
    spent: Array  # int64 [n, columns, 2]: chips of each seat after the action
    after: Array  # int64 [n, columns]: row of `AivatValues.after`; -1: each seat gets half the pot
    begin: Array  # int64 [n, columns]: row of `AivatValues.begin`, after the next cards; -1: none


@inline
def value_row_after(tree, rows, node, street):
    """Return the row of the values after the action that leads to a node; -1 if the action is not on this street."""
    if node == OFF_TREE or tree.parent[node] < 0 or tree.street[tree.parent[node]] != street:
        return np.int64(-1)
    return np.int64(rows.after[node])


@kernel
def locate_actions(
    book,  # CompactBettingRules
    tree,  # ActionTreeArrays
    reader,  # BetTranslation of a deterministic mapping
    rows,  # ValueRows
    root,  # node of the first decision; OFF_TREE (-1) if there are no values
    moves,  # int32 [n, most]: lines
    length,  # int32 [n]
    out,  # ActionOutcomes INOUT: `move` is an input
):
    """Find how each action at public states ends or continues, and its value rows after translation to the tree."""
    for i in range(len(length)):
        s, node, off = initial_state(book), np.int64(root), np.int64(ON_TREE)
        for k in range(length[i]):
            move, street = np.int64(moves[i, k]), s.street
            step = advance(book, tree, reader, node, off, s, move, False)
            node, off = (step.node, step.off) if step.chance >= 0.5 else (step.other_node, step.other_off)
            s = apply_action_and_deal(book, s, move)
            node, off = advance_on_deal(tree, node, off, street, s.street)
        for c in range(out.move.shape[1]):
            move = np.int64(out.move[i, c])
            out.kind[i, c], out.after[i, c], out.begin[i, c] = NO_ACTION, -1, -1
            if move == END_OF_LINE:
                continue
            step = advance(book, tree, reader, node, off, s, move, False)
            child, child_off = (step.node, step.off) if step.chance >= 0.5 else (step.other_node, step.other_off)
            after = apply_action_and_deal(book, s, move)
            stake = min(after.spent0, after.spent1)
            out.spent[i, c, 0], out.spent[i, c, 1], out.stake[i, c] = after.spent0, after.spent1, stake
            if after.over == FOLDED:
                out.kind[i, c], out.stake[i, c] = ENDS_IN_FOLD, -stake if after.turn == 0 else stake
                continue
            if after.over == SHOWDOWN and s.street == len(book.first) - 1:
                out.kind[i, c] = ENDS_IN_SHOWDOWN
                continue
            out.kind[i, c], out.after[i, c] = CONTINUES, value_row_after(tree, rows, child, s.street)
            if after.over == IN_PROGRESS and after.street != s.street:
                first_node, _ = advance_on_deal(tree, child, child_off, s.street, after.street)
                if first_node != OFF_TREE and tree.street[first_node] == after.street:
                    out.begin[i, c] = rows.begin[first_node]


U = np.uint64
MAX_RUNOUTS = 1_200  # most runouts over which an all-in is averaged; with more, the dealt board decides
# Rows of `AivatWorkspace.real`: two each of ranges, unblocked ranges and compatible weights; one of the others.
RANGE, REMAINING, COMPATIBLE, CHOSEN, EDGE, NUM_ROWS = 0, 2, 4, 6, 7, 8


class AivatWorkspace(NamedTuple):
    """Scratch memory of one hand."""

    real: Array  # float64 [NUM_ROWS, hands]
    board: Array  # uint8 [cards]: a runout
    showdown: ShowdownWorkspace


# --- Sums over pairs of hands ---


@kernel
def compatible_weights(cards, weights, sums, out):
    """Compute for each hand the total weight of the hands that share no card with it."""
    live = len(cards.first)
    total = sum_reach(cards.deck, cards.first, cards.second, cards.two, live, weights, sums, 0.0)
    for h in range(live):
        out[h] = compatible_reach(cards.first, cards.second, cards.two, h, weights, sums, total)


@inline
def dot(a, b):
    """Return the dot product of two vectors."""
    total = 0.0
    for h in range(len(a)):
        total += a[h] * b[h]
    return total


@inline
def weighted_pot_share(weights, compatible, bucket, values):
    """Sum the pot shares of a range over pairs: value of a hand × its reach × compatible reach of the other range."""
    total = 0.0
    for h in range(len(weights)):
        if weights[h] > 0:
            total += weights[h] * compatible[h] * np.float64(values[bucket[h]])
    return total


@kernel
def pot_share_difference(cards, workspace, rows_at, bucket, table, row):
    """Sum seat 0's pot share minus seat 1's over pairs of hands; return the sum and the total weight of the pairs.

    Pairs are weighted by reach. `rows_at` is RANGE or REMAINING: where the ranges are in `AivatWorkspace.real`. `table`
    has the pot shares of both seats by row and bucket.
    """
    real, sums = workspace.real, workspace.showdown.sums
    compatible_weights(cards, real[rows_at + 1], sums, real[COMPATIBLE])
    compatible_weights(cards, real[rows_at], sums, real[COMPATIBLE + 1])
    own = weighted_pot_share(real[rows_at], real[COMPATIBLE], bucket, table[0, row])
    other = weighted_pot_share(real[rows_at + 1], real[COMPATIBLE + 1], bucket, table[1, row])
    return own - other, dot(real[rows_at], real[COMPATIBLE])


@kernel
def remove_blocked_hands(cards, board, count, workspace, to):
    """Copy both ranges to the workspace rows from `to` on, without hands that the first `count` board cards block."""
    dealt = U(0)
    for k in range(count):
        dealt |= U(1) << U(board[k])
    for h in range(len(cards.first)):
        free = not cards.mask[h] & dealt
        workspace.real[to, h] = workspace.real[RANGE, h] if free else 0.0
        workspace.real[to + 1, h] = workspace.real[RANGE + 1, h] if free else 0.0


@kernel
def compute_showdown_edges(cards, board, weights, workspace):
    """Compute the weight that each hand beats minus the weight that beats it on a complete board, into row EDGE.

    `weights` is the range of the other player. Blocked hands get 0.
    """
    s, edge = workspace.showdown, workspace.real[EDGE]
    edge[:] = 0.0
    live = rank_live_hands(cards, board, len(board), s.order, s.strength)
    sort_live_hands(cards.hands, live, s)
    for k in range(live):
        s.reach[k] = weights[s.order[k]]
    total = showdown_wins(cards.deck, s.first, s.second, s.rank, cards.two, live, s.reach, s.sums, s.beats, 0.0)
    for k in range(live):
        edge[s.order[k]] = s.beats[k] - compatible_reach(s.first, s.second, cards.two, k, s.reach, s.sums, total)


# --- Board cards of the second street ---


class SecondStreetMeans(NamedTuple):
    """Sums of values over all boards of the second street."""

    orbit: Array  # int32 [hands]: class under suit permutations
    image: Array  # int32 [hands, hands]: [a, b] is b after the suit permutation that makes a the first of its class
    means: Array  # float64 [rows, 2, classes, hands]: sums of `pair_sums`, for rows in use


@kernel
def pair_sums(
    first,  # uint8 [hands]
    second,  # uint8 [hands]
    boards,  # uint8 [boards, cards]
    bucket,  # int32 [classes, boards]: of one hand of each class; -1 if the board blocks it
    values,  # float32 [buckets]: of one seat at one node
    one,  # float64 [53] scratch
    two,  # float64 [53, 53] scratch
    out,  # float64 [classes, hands] OUT
):
    """Sum the values of one hand of each class over the boards that neither it nor another hand blocks.

    The sums exclude boards with cards of the other hand by inclusion and exclusion.
    """
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
def sum_over_second_street(mask, means, row, ranges):
    """Sum seat 0's pot share minus seat 1's over pairs of hands, weighted by reach, and boards of the second street."""
    total, first, second = 0.0, means.means[row, 0], means.means[row, 1]
    for a in range(len(mask)):
        if ranges[0, a] <= 0:
            continue
        for b in range(len(mask)):
            if ranges[1, b] > 0 and not mask[a] & mask[b]:
                gain = first[means.orbit[a], means.image[a, b]] - second[means.orbit[b], means.image[b, a]]
                total += ranges[0, a] * ranges[1, b] * gain
    return total


# --- Correction terms ---


class AivatValues(NamedTuple):
    """Value tables: the expected share of the pot of each seat by row (node) and bucket."""

    after: tuple[Array, ...]  # by street: float32 [2, rows, buckets]
    begin: tuple[Array, ...]  # same layout, for nodes that begin a street
    root: int  # row of the first decision in begin[0]; -1: none
    corrects: bool  # whether to add corrections; without them only imaginary observations are used


class AivatHands(NamedTuple):
    """Hands of a match. Decisions of a hand are consecutive."""

    known: Array  # bool [2]: seats whose strategy is known
    shown: Array  # int64 [rounds]: number of board cards
    held: Array  # int64 [n, 2]: index of the actual hand, by seat
    board: Array  # uint8 [n, board]
    bucket: Array  # int32 [n, rounds, hands]: buckets of all hands on the actual boards
    next_index: Array  # int64 [n, rounds]: index in `next_buckets`; -1: none
    next_buckets: Array  # int32 [boards, cards, hands]: buckets with each card that may come next
    start: Array  # int64 [n + 1]: the first decision of each hand
    decision: Array  # int64 [decisions, 4]: row in `ActionOutcomes` and strategies, column, actor, street
    line: Array  # int64 [n]: hands with equal numbers have equal actions before the board, and equal seats


class AivatTerms(NamedTuple):
    """Terms of the estimates of n hands, in chips of seat 0."""

    terminal_value: Array  # float64 [n]: averaged over the hands that known players may hold
    chance: Array  # float64 [n, rounds]: corrections of the cards of each street
    actions: Array  # float64 [decisions]: corrections of the actions
    second_street_mean: Array  # float64 [lines]: mean over the boards of the second street; NaN until computed


@inline
def hole_card_correction(cards, values, pot, hands, i, workspace):
    """Initialize both ranges for hand i; return the correction of the hole cards of players with unknown strategies."""
    workspace.real[RANGE : RANGE + 2] = 1.0
    if hands.known[0] and hands.known[1]:
        return 0.0
    term, table = 0.0, values.begin[0]
    for sign in (1.0, -1.0):  # before and after the cards are known
        if values.corrects and values.root >= 0:
            total, pairs = pot_share_difference(cards, workspace, RANGE, hands.bucket[i, 0], table, values.root)
            term += sign * (0.5 * pot * total / pairs)
        for p in range(2):
            if not hands.known[p]:
                workspace.real[RANGE + p] = 0.0
                workspace.real[RANGE + p, hands.held[i, p]] = 1.0
    return term


@kernel
def action_correction(cards, values, moves, strategy, hands, i, d, workspace):
    """Return the correction of the action at decision d of hand i, and update the actor's range by Bayes' rule.

    `strategy` has the actor's probabilities of the columns of `moves` with each hand. Returns NaN if the action has
    probability 0 with the whole range.
    """
    u, observed, p, street = hands.decision[d]
    q, real, sums, bucket = 1 - p, workspace.real, workspace.showdown.sums, hands.bucket[i, street]
    sign = 1.0 if p == 0 else -1.0
    compatible_weights(cards, real[RANGE + q], sums, real[COMPATIBLE + p])
    ranked, mean, all_pairs, observed_value, observed_pairs = False, 0.0, 0.0, 0.0, 0.0
    for c in range(moves.move.shape[1]):
        kind = moves.kind[u, c]
        if kind == NO_ACTION or not (values.corrects or c == observed):
            continue
        for h in range(real.shape[1]):
            real[CHOSEN, h] = real[RANGE + p, h] * strategy[h, c]
        pairs, value = dot(real[CHOSEN], real[COMPATIBLE + p]), 0.0
        if values.corrects and pairs > 0:
            if kind == ENDS_IN_FOLD:
                value = np.float64(moves.stake[u, c]) * pairs
            elif kind == ENDS_IN_SHOWDOWN:
                if not ranked:
                    compute_showdown_edges(cards, hands.board[i], real[RANGE + q], workspace)
                    ranked = True
                value = sign * np.float64(moves.stake[u, c]) * dot(real[CHOSEN], real[EDGE])
            else:
                spent0, spent1 = np.float64(moves.spent[u, c, 0]), np.float64(moves.spent[u, c, 1])
                value = 0.5 * (spent1 - spent0) * pairs
                row, table = moves.after[u, c], values.after[street]
                if row >= 0:
                    compatible_weights(cards, real[CHOSEN], sums, real[COMPATIBLE + q])
                    own = weighted_pot_share(real[CHOSEN], real[COMPATIBLE + p], bucket, table[p, row])
                    other = weighted_pot_share(real[RANGE + q], real[COMPATIBLE + q], bucket, table[q, row])
                    value += 0.5 * (spent0 + spent1) * sign * (own - other)
        mean, all_pairs = mean + value, all_pairs + pairs
        if c == observed:
            observed_value, observed_pairs = value, pairs
    if observed_pairs <= 0:
        return np.nan
    for h in range(real.shape[1]):
        real[RANGE + p, h] *= strategy[h, observed]
    return mean / all_pairs - observed_value / observed_pairs if values.corrects else 0.0


@inline
def mean_over_next_card(cards, table, row, board, count, buckets, workspace):
    """Return seat 0's mean pot share minus seat 1's over all cards that may come as card `count` of the board.

    `buckets` has the buckets of all hands with each card. int32 [cards, hands]
    """
    total, pairs, dealt, trial = 0.0, 0.0, U(0), workspace.board
    for k in range(count - 1):
        trial[k] = board[k]
        dealt |= U(1) << U(board[k])
    for c in range(len(cards.deck)):
        if (dealt >> U(cards.deck[c])) & U(1) == 0:
            trial[count - 1] = cards.deck[c]
            remove_blocked_hands(cards, trial, count, workspace, REMAINING)
            difference, weight = pot_share_difference(cards, workspace, REMAINING, buckets[c], table, row)
            total, pairs = total + difference, pairs + weight
    return total / pairs


@kernel
def board_card_correction(cards, values, means, hands, i, street, row, pot, terms, workspace):
    """Return the correction of a street's board cards in hand i, and remove blocked hands from the ranges.

    `row` is the row of the values after these cards, -1 if there are none. The mean over the boards of the second
    street is computed once for each group of hands (`AivatHands.line`).
    """
    board, count, line, term = hands.board[i], hands.shown[street], hands.line[i], 0.0
    if values.corrects and row >= 0 and (street == 1 or hands.next_index[i, street] >= 0):
        table = values.begin[street]
        if street > 1:
            next_buckets = hands.next_buckets[hands.next_index[i, street]]
            mean = mean_over_next_card(cards, table, row, board, count, next_buckets, workspace)
        else:
            if np.isnan(terms.second_street_mean[line]):
                real = workspace.real
                compatible_weights(cards, real[RANGE + 1], workspace.showdown.sums, real[COMPATIBLE])
                pairs = binomial(len(cards.deck) - (4 if cards.two else 2), count) * dot(real[RANGE], real[COMPATIBLE])
                terms.second_street_mean[line] = sum_over_second_street(cards.mask, means, row, real) / pairs
            mean = terms.second_street_mean[line]
        remove_blocked_hands(cards, board, count, workspace, REMAINING)
        difference, pairs = pot_share_difference(cards, workspace, REMAINING, hands.bucket[i, street], table, row)
        term = 0.5 * pot * (mean - difference / pairs)
    remove_blocked_hands(cards, board, count, workspace, RANGE)
    return term


@inline
def binomial(left, count):
    """Return the binomial coefficient of `left` and `count`."""
    coefficient = 1.0
    for k in range(count):
        coefficient = coefficient * (left - k) / (k + 1)
    return coefficient


# --- Terminal values ---


class AivatHandClasses(NamedTuple):
    """Classes of starting hands before the board; empty if the game does not have them."""

    group: Array  # int16 [hands]
    leader: Array  # int64 [classes]: one hand of each
    gap: Array  # float64 [classes, classes]: wins minus losses over all boards, times pairs of hands
    pairs: Array  # float64 [classes, classes]: pairs of hands


@kernel
def showdown_edge(cards, board, workspace):
    """Sum seat 0's wins minus losses over all pairs of hands on a complete board; return it with the weight of the
    pairs.
    """
    real = workspace.real
    remove_blocked_hands(cards, board, len(board), workspace, REMAINING)
    compute_showdown_edges(cards, board, real[REMAINING + 1], workspace)
    compatible_weights(cards, real[REMAINING + 1], workspace.showdown.sums, real[COMPATIBLE])
    return dot(real[REMAINING], real[EDGE]), dot(real[REMAINING], real[COMPATIBLE])


@kernel
def runout_edge(cards, board, num_board_cards, workspace):
    """Sum `showdown_edge` over all runouts of one or two cards."""
    total, pairs, dealt, trial = 0.0, 0.0, U(0), workspace.board
    missing = len(board) - num_board_cards
    for k in range(num_board_cards):
        trial[k] = board[k]
        dealt |= U(1) << U(board[k])
    for i in range(len(cards.deck)):
        for j in range(i if missing == 2 else 1):
            a, b = cards.deck[i], cards.deck[j]
            if (dealt >> U(a)) & U(1) or (missing == 2 and (dealt >> U(b)) & U(1)):
                continue
            trial[num_board_cards] = a
            if missing == 2:
                trial[num_board_cards + 1] = b
            edge, weight = showdown_edge(cards, trial, workspace)
            total, pairs = total + edge, pairs + weight
    return total, pairs


@kernel
def preflop_edge_by_class(classes, ranges):
    """Compute `showdown_edge` averaged over all boards, before any board card, by classes of starting hands.

    Returns (0, 0) if hands of a class have different weights, because the classes are not exact then.
    """
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


@inline
def showdown_value(cards, classes, board, num_board_cards, workspace):
    """Return seat 0's expected winnings at a showdown for a stake of one, averaged over the cards to come."""
    missing = len(board) - num_board_cards
    total, pairs = 0.0, 0.0
    if num_board_cards == 0 and missing > 0 and len(classes.gap) > 0:
        total, pairs = preflop_edge_by_class(classes, workspace.real)
    if pairs <= 0 and 0 < missing <= 2 and binomial(len(cards.deck) - num_board_cards, missing) <= MAX_RUNOUTS:
        total, pairs = runout_edge(cards, board, num_board_cards, workspace)
    if pairs <= 0:
        total, pairs = showdown_edge(cards, board, workspace)  # only on the dealt board
    return total / pairs


@kernel
def estimate_hands(
    cards,  # BatchShowdownHands
    classes,  # AivatHandClasses
    values,  # AivatValues
    means,  # SecondStreetMeans
    moves,  # ActionOutcomes
    strategies,  # float64 [rows, hands, columns]
    blinds,  # pot before the first action
    hands,  # AivatHands
    workspace,  # AivatWorkspace
    terms,  # AivatTerms OUT
):
    """Compute the terms of all hands; return the first decision whose action has probability 0, or -1."""
    for i in range(len(hands.held)):
        terms.chance[i, 0] = hole_card_correction(cards, values, blinds, hands, i, workspace)
        for d in range(hands.start[i], hands.start[i + 1]):
            u, c, p, street = hands.decision[d]
            terms.actions[d] = 0.0
            if hands.known[p]:
                terms.actions[d] = action_correction(cards, values, moves, strategies[u], hands, i, d, workspace)
                if np.isnan(terms.actions[d]):
                    return d
            if moves.kind[u, c] == ENDS_IN_FOLD:
                terms.terminal_value[i] = np.float64(moves.stake[u, c])
            elif d + 1 == hands.start[i + 1]:
                value = showdown_value(cards, classes, hands.board[i], hands.shown[street], workspace)
                terms.terminal_value[i] = np.float64(moves.stake[u, c]) * value
            elif hands.decision[d + 1, 3] != street:
                pot = np.float64(moves.spent[u, c, 0] + moves.spent[u, c, 1])
                terms.chance[i, street + 1] = board_card_correction(
                    cards, values, means, hands, i, street + 1, moves.begin[u, c], pot, terms, workspace
                )
    return -1
