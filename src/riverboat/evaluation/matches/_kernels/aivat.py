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

from riverboat.cards._kernels.ranking import board_keys, rank_by_keys
from riverboat.cards.equity._kernels.showdown_values import compatible_reach, showdown_wins, sort_by_strength, sum_reach
from riverboat.cards.ranking import RankTables
from riverboat.compiled.jit import inline, kernel
from riverboat.core.arrays import Array
from riverboat.games.holdem._kernels import FOLDED, IN_PROGRESS, SHOWDOWN, apply_action_and_deal, initial_state
from riverboat.games.holdem.actions import END_OF_LINE
from riverboat.strategies._kernels.line import OFF_TREE, ON_TREE, advance, advance_on_deal

# --- Sampled values of buckets at every node of a blueprint's tree ---


class ValueTree(NamedTuple):
    """Arrays of an `ActionTree`, and the rows of its nodes in the value tables."""

    actor: Array  # int8 [nodes]
    street: Array  # int8 [nodes]
    first: Array  # int32 [nodes]
    count: Array  # type: ignore[assignment]  # int8 [nodes]
    parent: Array  # int32 [nodes]
    showdown: Array  # bool [nodes]
    pay: Array  # int32 [nodes]
    slot: Array  # int32 [nodes]
    after: Array  # int32 [nodes]: row by the buckets of the parent's street; -1: none
    begin: Array  # int32 [nodes]: row by the buckets of its own street, if it begins one; -1: none


class ValueSamplerWorkspace(NamedTuple):
    """Scratch memory of one deal."""

    reach: Array  # float64 [2, nodes]: reach probability of each seat
    chance: Array  # float64 [nodes]: probability of the action that leads to a node
    value: Array  # float64 [nodes]: to seat 0


@inline
def propagate_reach(tree, first, second, buckets, k, workspace):
    """Compute the probabilities of all actions, and each seat's reach probability of every node."""
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
    """Compute the values of all nodes with these cards, from the terminals up."""
    for back in range(len(tree.actor)):
        node = len(tree.actor) - 1 - back
        if tree.actor[node] < 0:
            workspace.value[node] = np.float64(tree.pay[node]) * (result if tree.showdown[node] else 1.0)
            continue
        value, child = 0.0, np.int64(tree.first[node])
        for a in range(tree.count[node]):
            value += workspace.chance[child + a] * workspace.value[child + a]
        workspace.value[node] = value


@inline
def add_weighted(sums, bucket, row, weight, value):
    """Add a value with its weight to the sums of a bucket."""
    sums[bucket, row, 0] += np.float32(weight * value)
    sums[bucket, row, 1] += np.float32(weight)


@kernel
def sample_values(
    tree,  # ValueTree
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
                weight = workspace.reach[1 - seat, node]
                if weight <= 0:
                    continue
                if tree.after[node] >= 0:
                    street = np.int64(tree.street[tree.parent[node]])
                    bucket = np.int64(buckets[k, seat, street])
                    add_weighted(after[street][seat], bucket, tree.after[node], weight, workspace.value[node])
                if tree.begin[node] >= 0:
                    street = np.int64(tree.street[node])
                    bucket = np.int64(buckets[k, seat, street])
                    add_weighted(begin[street][seat], bucket, tree.begin[node], weight, workspace.value[node])


# --- Outcomes of actions, in the full game and in the tree of the values ---

NO_ACTION, ENDS_IN_FOLD, ENDS_IN_SHOWDOWN, CONTINUES = (
    0,
    1,
    2,
    3,
)  # kinds of outcomes; ENDS_IN_SHOWDOWN: on a complete board


class ValueRows(NamedTuple):
    """Rows of the nodes of a tree in the value tables."""

    after: Array  # int32 [nodes]: by the buckets of the parent's street; -1: none
    begin: Array  # int32 [nodes]: by the buckets of the street that the node begins; -1: none


class ActionOutcomes(NamedTuple):
    """Actions at n public states, and their outcomes."""

    move: Array  # int32 [n, columns]; END_OF_LINE after the last
    kind: Array  # int8 [n, columns]: NO_ACTION, ENDS_IN_FOLD, …
    stake: Array  # int64 [n, columns]: winnings of seat 0 after a fold; else stake of a showdown
    spent: Array  # int64 [n, columns, 2]
    after: Array  # int64 [n, columns]: row of values before the next cards; -1: half the pot each
    begin: Array  # int64 [n, columns]: row of values after the next cards; -1: none


@inline
def value_row_after(tree, rows, node, street):
    """Return the row of a node if it is indexed by buckets of this street, else -1."""
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
    """Find the outcomes of the actions at public states, in the full game and in the tree of the values."""
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
NO_CARD = 52  # in place of the second card of hands of one
MAX_RUNOUTS = 1_200  # averaged for an all-in; with more runouts the dealt board decides
RANGE, REMAINING, COMPATIBLE = (
    0,
    2,
    4,
)  # rows of `AivatWorkspace.real`, two of each: ranges, unblocked ranges, compatible weights
CHOSEN, WEIGHT, WINS, EDGE, NUM_ROWS = 6, 7, 8, 9, 10  # one row of each


class AivatCards(NamedTuple):
    """Deck and hands of the game."""

    deck: Array  # uint8 [cards]
    first: Array  # uint8 [hands]
    second: Array  # uint8 [hands]: NO_CARD if hands have one card
    mask: Array  # uint64 [hands]: a bit for each card
    two: bool  # whether a hand has two cards
    shown: Array  # int64 [rounds]: board cards
    ranks: RankTables  # of complete boards


class AivatWorkspace(NamedTuple):
    """Scratch memory of one hand."""

    real: Array  # float64 [NUM_ROWS, hands]
    sums: Array  # float64 [53]
    board: Array  # uint8 [2, 7]: the board to rank, and a runout
    strength: Array  # uint16 [2, hands]: by hand; in order of strength
    order: Array  # int32 [2, hands]
    digits: Array  # int64 [257]
    held: Array  # uint8 [2, hands]: cards of the hands, in order of strength


# --- Sums over pairs of hands ---


@kernel
def compatible_weights(cards, weights, sums, out):
    """Compute for each hand the total weight of the hands that share no card with it."""
    live = len(cards.first)
    sums[NO_CARD] = 0.0
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
    """Sum the pot shares of hands, each with its weight and its compatible weight."""
    total = 0.0
    for h in range(len(weights)):
        if weights[h] > 0:
            total += weights[h] * compatible[h] * np.float64(values[bucket[h]])
    return total


@kernel
def pot_share_difference(cards, workspace, rows_at, bucket, first, second):
    """Sum over pairs seat 0's pot share minus seat 1's; return the sum and the weight of the pairs.

    `rows_at` is RANGE or REMAINING; `first` and `second` are the values of both seats by bucket.
    """
    real = workspace.real
    compatible_weights(cards, real[rows_at + 1], workspace.sums, real[COMPATIBLE])
    compatible_weights(cards, real[rows_at], workspace.sums, real[COMPATIBLE + 1])
    difference = weighted_pot_share(real[rows_at], real[COMPATIBLE], bucket, first) - weighted_pot_share(
        real[rows_at + 1], real[COMPATIBLE + 1], bucket, second
    )
    return difference, dot(real[rows_at], real[COMPATIBLE])


@kernel
def remove_blocked_hands(cards, board, count, workspace, to):
    """Write both ranges without the hands that a board blocks to the rows at `to`."""
    dealt = U(0)
    for k in range(count):
        dealt |= U(1) << U(board[k])
    for h in range(len(cards.first)):
        free = not cards.mask[h] & dealt
        workspace.real[to, h] = workspace.real[RANGE, h] if free else 0.0
        workspace.real[to + 1, h] = workspace.real[RANGE + 1, h] if free else 0.0


@kernel
def compute_showdown_edges(cards, board, weights, workspace):
    """Compute wins minus losses of each hand on a complete board, into EDGE; blocked hands get 0."""
    shown = cards.shown[-1]
    for k in range(shown):
        workspace.board[0, k] = board[k]
    key, mask, dealt = board_keys(cards.ranks, workspace.board[0], shown)
    live, strength, order, real = 0, workspace.strength[0], workspace.order[0], workspace.real
    for h in range(len(cards.first)):
        real[EDGE, h] = 0.0
        if not cards.mask[h] & dealt:
            hand_key, bits, size = (
                key + cards.ranks.key[cards.first[h]],
                mask + cards.ranks.mask[cards.first[h]],
                shown + 1,
            )
            if cards.two:
                hand_key, bits, size = (
                    hand_key + cards.ranks.key[cards.second[h]],
                    bits + cards.ranks.mask[cards.second[h]],
                    size + 1,
                )
            strength[h] = rank_by_keys(cards.ranks, hand_key, bits, size)
            order[live] = h
            live += 1
    sort_by_strength(order, live, strength, workspace.order[1], workspace.digits)
    first, second, rank = workspace.held[0], workspace.held[1], workspace.strength[1]
    for k in range(live):
        h = order[k]
        first[k], second[k], rank[k], real[WEIGHT, k] = cards.first[h], cards.second[h], strength[h], weights[h]
    workspace.sums[NO_CARD] = 0.0
    total = showdown_wins(
        cards.deck, first, second, rank, cards.two, live, real[WEIGHT], workspace.sums, real[WINS], 0.0
    )
    for k in range(live):
        real[EDGE, order[k]] = real[WINS, k] - compatible_reach(
            first, second, cards.two, k, real[WEIGHT], workspace.sums, total
        )


# --- Board cards of the second street ---


class SecondStreetMeans(NamedTuple):
    """Sums of values over all boards of the second street."""

    orbit: Array  # int32 [hands]: class under suit permutations
    image: Array  # int32 [hands, hands]: hand b after the suit permutation that makes a the first of its class
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
    """Sum the values of a hand of each class over the boards that another hand does not block."""
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
    """Sum over pairs of hands and boards seat 0's pot share minus seat 1's."""
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
    """Pot shares of the buckets of each seat."""

    after: tuple[Array, ...]  # by street: float32 [2, rows, buckets]
    begin: tuple[Array, ...]
    root: int  # row of the first decision in begin[0]; -1: none
    corrects: bool  # whether to add corrections; without them only imaginary observations are used


class AivatHands(NamedTuple):
    """Hands of a match. Decisions of a hand are consecutive."""

    known: Array  # bool [2]: seats whose strategy is known
    held: Array  # int64 [n, 2]: hands, by seat
    board: Array  # uint8 [n, board]
    bucket: Array  # int32 [n, rounds, hands]: on the actual boards
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
    """Initialize both ranges; return the correction of the hole cards of players with unknown strategies."""
    workspace.real[RANGE : RANGE + 2] = 1.0
    if hands.known[0] and hands.known[1]:
        return 0.0
    has_values, term, table = values.corrects and values.root >= 0, 0.0, values.begin[0]
    if has_values:
        total, pairs = pot_share_difference(
            cards, workspace, RANGE, hands.bucket[i, 0], table[0, values.root], table[1, values.root]
        )
        term += 0.5 * pot * total / pairs
    for p in range(2):
        if not hands.known[p]:
            workspace.real[RANGE + p] = 0.0
            workspace.real[RANGE + p, hands.held[i, p]] = 1.0
    if has_values:
        total, pairs = pot_share_difference(
            cards, workspace, RANGE, hands.bucket[i, 0], table[0, values.root], table[1, values.root]
        )
        term -= 0.5 * pot * total / pairs
    return term


@kernel
def action_correction(cards, values, moves, strategy, hands, i, d, workspace):
    """Return the correction of an action, and update the actor's range; NaN if the action has probability 0."""
    u, observed, p, street = hands.decision[d]
    q, real, bucket = 1 - p, workspace.real, hands.bucket[i, street]
    sign = 1.0 if p == 0 else -1.0
    compatible_weights(cards, real[RANGE + q], workspace.sums, real[COMPATIBLE + p])
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
                row = moves.after[u, c]
                if row >= 0:
                    compatible_weights(cards, real[CHOSEN], workspace.sums, real[COMPATIBLE + q])
                    own = weighted_pot_share(real[CHOSEN], real[COMPATIBLE + p], bucket, values.after[street][p, row])
                    other = weighted_pot_share(
                        real[RANGE + q], real[COMPATIBLE + q], bucket, values.after[street][q, row]
                    )
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
    """Return the mean of `pot_share_difference` over all next board cards."""
    total, pairs, dealt, trial = 0.0, 0.0, U(0), workspace.board[1]
    for k in range(count - 1):
        trial[k] = board[k]
        dealt |= U(1) << U(board[k])
    for c in range(len(cards.deck)):
        if (dealt >> U(cards.deck[c])) & U(1) == 0:
            trial[count - 1] = cards.deck[c]
            remove_blocked_hands(cards, trial, count, workspace, REMAINING)
            difference, weight = pot_share_difference(
                cards, workspace, REMAINING, buckets[c], table[0, row], table[1, row]
            )
            total, pairs = total + difference, pairs + weight
    return total / pairs


@kernel
def board_card_correction(cards, values, means, hands, i, street, row, pot, terms, workspace):
    """Return the correction of the board cards of a street, and remove the hands that they block from the ranges."""
    board, count, line, term = hands.board[i], cards.shown[street], hands.line[i], 0.0
    if values.corrects and row >= 0 and (street == 1 or hands.next_index[i, street] >= 0):
        table = values.begin[street]
        if street > 1:
            mean = mean_over_next_card(
                cards, table, row, board, count, hands.next_buckets[hands.next_index[i, street]], workspace
            )
        else:
            if np.isnan(terms.second_street_mean[line]):
                compatible_weights(cards, workspace.real[RANGE + 1], workspace.sums, workspace.real[COMPATIBLE])
                num_boards = binomial(len(cards.deck) - (4 if cards.two else 2), count)
                pairs = dot(workspace.real[RANGE], workspace.real[COMPATIBLE])
                terms.second_street_mean[line] = sum_over_second_street(cards.mask, means, row, workspace.real) / (
                    num_boards * pairs
                )
            mean = terms.second_street_mean[line]
        remove_blocked_hands(cards, board, count, workspace, REMAINING)
        difference, pairs = pot_share_difference(
            cards, workspace, REMAINING, hands.bucket[i, street], table[0, row], table[1, row]
        )
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
    remove_blocked_hands(cards, board, cards.shown[-1], workspace, REMAINING)
    compute_showdown_edges(cards, board, workspace.real[REMAINING + 1], workspace)
    compatible_weights(cards, workspace.real[REMAINING + 1], workspace.sums, workspace.real[COMPATIBLE])
    return dot(workspace.real[REMAINING], workspace.real[EDGE]), dot(
        workspace.real[REMAINING], workspace.real[COMPATIBLE]
    )


@kernel
def runout_edge(cards, board, num_board_cards, workspace):
    """Sum `showdown_edge` over all runouts of one or two cards."""
    total, pairs, dealt, trial = 0.0, 0.0, U(0), workspace.board[1]
    missing = cards.shown[-1] - num_board_cards
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
    """Compute `showdown_edge` before the board, exact if hands of a class have equal weights; else the pairs are 0."""
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
    missing = cards.shown[-1] - num_board_cards
    total, pairs = 0.0, 0.0
    if num_board_cards == 0 and missing > 0 and len(classes.gap) > 0:
        total, pairs = preflop_edge_by_class(classes, workspace.real)
    if pairs <= 0 and 0 < missing <= 2 and binomial(len(cards.deck) - num_board_cards, missing) <= MAX_RUNOUTS:
        total, pairs = runout_edge(cards, board, num_board_cards, workspace)
    if pairs <= 0:
        total, pairs = showdown_edge(cards, board, workspace)  # on the dealt board
    return total / pairs


@kernel
def estimate_hands(
    cards,  # AivatCards
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
    """Compute the terms of all hands; return the index of an action that has probability 0, or -1."""
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
                board, shown = hands.board[i], cards.shown[street]
                terms.terminal_value[i] = np.float64(moves.stake[u, c]) * showdown_value(
                    cards, classes, board, shown, workspace
                )
            elif hands.decision[d + 1, 3] != street:
                pot = np.float64(moves.spent[u, c, 0] + moves.spent[u, c, 1])
                terms.chance[i, street + 1] = board_card_correction(
                    cards, values, means, hands, i, street + 1, moves.begin[u, c], pot, terms, workspace
                )
    return -1
