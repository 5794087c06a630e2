"""Kernels of blueprint policies: action probabilities in the real game, and the real actions of the columns.

`action_probabilities` and `sample_actions` serve observations of single players; `public_strategies` serves all hands
at public states. How a player translated the opponent's bets is private randomness, drawn once per hand, so that its
position in the tree is a hidden state. `public_strategies` tracks a belief over positions: for each one, the
probability of the translations that lead there and, for each hand, this probability times that of the player's own
actions. The mean of the rows by these weights is exactly the strategy as others can know it; their sum is the reach
probability of a hand.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.cards.equity._kernels.showdown import HandStrengthTables, hand_strength, hand_strength_of_all
from riverboat.cards.equity._kernels.showdown_values import ShowdownWorkspace
from riverboat.compiled.jit import inline, kernel
from riverboat.core.arrays import Array
from riverboat.games.holdem._kernels import (
    IN_PROGRESS,
    CompactBettingRules,
    apply_action_and_deal,
    call_amount,
    initial_state,
    load_state,
    store_state,
)
from riverboat.games.holdem.action_tree import CALL as CALL_KIND
from riverboat.games.holdem.action_tree import FOLD as FOLD_KIND
from riverboat.games.holdem.action_tree import RAISE as RAISE_KIND
from riverboat.games.holdem.actions import CALL, END_OF_LINE, FOLD
from riverboat.strategies._kernels.line import (
    ACTION_STREAM,
    OFF_TREE,
    ON_TREE,
    READ_AS_CALL,
    TRANSLATION_STREAM,
    ActionTreeArrays,
    BetTranslation,
    advance,
    advance_on_deal,
    decision_node,
    follow_line,
    realize_raise,
    uniform_draw,
)
from riverboat.strategies._kernels.table import PostprocessingRule, process_row

FOLD_COLUMN, CALL_COLUMN, FIRST_RAISE_COLUMN = 0, 1, 2  # columns of rows: fold, call, raises in ascending order
CALL_MARGIN = 0.2  # strength above pot odds that a call needs: a bettor's range is stronger than random


class PolicyArrays(NamedTuple):
    """A blueprint with its action translation and post-processing."""

    book: CompactBettingRules
    tree: ActionTreeArrays
    reader: BetTranslation
    post: PostprocessingRule
    spares: bool  # whether a player's first action of a hand is not post-processed
    kinds: Array  # int8 [columns]: FOLD_KIND, CALL_KIND or BET_KIND
    ranker: HandStrengthTables
    tables: tuple[Array, ...]  # by street: weights [buckets, actions of the street]


# --- rows -------------------------------------------------------------------------------------


@inline
def is_profitable_call(book, state, hands_beaten, hands_met):
    """Return whether a hand's strength, hands_beaten / hands_met, exceeds the pot odds by CALL_MARGIN."""
    cost = call_amount(book, state)
    return hands_beaten >= (cost / (state.spent0 + state.spent1 + cost) + CALL_MARGIN) * hands_met


@inline
def write_real_moves(policy, node, tree_status, state, played, i):
    """Write the real action of each column (fold, call, raises) to `played[i]`; return the number of columns."""
    for k in range(played.shape[1]):
        played[i, k] = CALL
    if call_amount(policy.book, state) > 0:
        played[i, FOLD_COLUMN] = FOLD  # without a bet, the abstract fold becomes a check
    columns = FIRST_RAISE_COLUMN
    if tree_status == READ_AS_CALL or node == OFF_TREE:
        return columns
    first = np.int64(policy.tree.first[node])
    for child in range(first, first + np.int64(policy.tree.moves[node])):
        if policy.tree.kind[child] == RAISE_KIND:
            if tree_status == ON_TREE:
                played[i, columns] = realize_raise(policy.book, policy.tree, policy.reader, node, child, state)
            columns += 1
    return columns


@inline
def fill_row(policy, node, tree_status, street, bucket, call_off_tree, num_own_moves, rows, i):
    """Write a bucket's post-processed action probabilities at a decision to row i.

    Off the tree, the player calls if `call_off_tree` is set, and folds otherwise.
    """
    for k in range(rows.shape[1]):
        rows[i, k] = 0.0
    if tree_status == READ_AS_CALL or node == OFF_TREE:
        rows[i, CALL_COLUMN if tree_status == READ_AS_CALL or call_off_tree else FOLD_COLUMN] = 1.0
        return
    tree, table, total = policy.tree, policy.tables[street], 0.0
    first, count, slot = np.int64(tree.first[node]), np.int64(tree.moves[node]), np.int64(tree.slot[node])
    for a in range(count):
        total += np.float64(table[bucket, slot + a])
    raises = FIRST_RAISE_COLUMN
    for a in range(count):
        x = np.float64(table[bucket, slot + a]) / total if total > 0 else 1.0 / count
        kind = tree.kind[first + a]
        if kind == FOLD_KIND:
            rows[i, FOLD_COLUMN] = x
        elif kind == CALL_KIND:
            rows[i, CALL_COLUMN] = x
        else:
            rows[i, raises] = x
            raises += 1
    if num_own_moves > 0 or not policy.spares:
        process_row(policy.post, policy.kinds, rows, i)


# --- observations -----------------------------------------------------------------------------


class ObservationArrays(NamedTuple):
    """Arrays of `Observations` for kernels."""

    hand: Array
    seat: Array
    hole: Array
    board: Array
    moves: Array
    length: Array


class TablePositions(NamedTuple):
    """Real states and tree positions of n observations."""

    states: Array  # int64 [n, FIELDS]: real betting states
    node: Array  # int32 [n]: the player's decision in the tree, or OFF_TREE (-1)
    off: Array  # int8 [n]: ON_TREE, BEYOND_MENU or READ_AS_CALL
    own: Array  # int32 [n]: number of the player's actions so far


@kernel
def follow_lines(
    policy,  # PolicyArrays
    seed,  # uint64
    observations,  # ObservationArrays
    out,  # TablePositions OUT
):
    """Follow the lines of all observations, and write their real states and positions in the tree."""
    for i in range(len(observations.length)):
        seat, length = np.int64(observations.seat[i]), np.int64(observations.length[i])
        node, tree_status, num_own_moves, state = follow_line(
            policy.book, policy.tree, policy.reader, seed, observations.hand[i], seat, observations.moves, i, length
        )
        out.node[i], out.off[i], out.own[i] = node, tree_status, num_own_moves
        store_state(state, out.states, i)


@kernel
def action_probabilities(
    policy,  # PolicyArrays
    buckets,  # int32 [n]
    observations,  # ObservationArrays
    positions,  # TablePositions
    rows,  # float64 [n, columns] OUT
    played,  # int32 [n, columns] OUT: the real actions of the columns
):
    """Compute the action probabilities at all observations, and the real action of each column."""
    for i in range(len(buckets)):
        state, calls = load_state(positions.states, i), True
        node, tree_status = np.int64(positions.node[i]), np.int64(positions.off[i])
        write_real_moves(policy, node, tree_status, state, played, i)
        if node == OFF_TREE and call_amount(policy.book, state) > 0:
            beaten, compared = hand_strength(
                policy.ranker, state.street, observations.hole, observations.board, i, policy.book.shown[state.street]
            )
            calls = is_profitable_call(policy.book, state, beaten, compared)
        fill_row(
            policy, node, tree_status, state.street, np.int64(buckets[i]), calls, np.int64(positions.own[i]), rows, i
        )


@kernel
def sample_actions(
    seed,  # uint64
    hand,  # int64 [n]
    length,  # int32 [n]
    rows,  # float64 [n, columns]
    played,  # int32 [n, columns]
    out,  # int32 [n] OUT
):
    """Sample an action from each row; the random number depends on seed, hand number and length of the line."""
    for i in range(len(out)):
        remaining = uniform_draw(seed, hand[i], length[i], ACTION_STREAM)
        for k in range(rows.shape[1]):
            if rows[i, k] > 0:
                out[i] = played[i, k]  # the last positive one, if rounding leaves a remainder
                remaining -= rows[i, k]
                if remaining < 0:
                    break


# --- all hands at public states -----------------------------------------------------------------


class PublicQuery(NamedTuple):
    """Public states and the seats whose strategies are requested."""

    moves: Array  # int32 [n, most]
    length: Array  # int32 [n]
    board: Array  # uint8 [n, board]
    seat: Array  # int8 [n]
    drawn: bool  # whether `hand` fixes the translations; otherwise all of them count with their probabilities
    hand: Array  # int64 [n]: hand numbers, which seed the translations if `drawn`
    cards: Array  # int32 [n]: index of the board in the arrays below
    live: Array  # int32 [boards, hands]: unblocked hands
    left: Array  # int64 [boards]: number of unblocked hands
    buckets: Array  # int32 [boards, streets, hands]


class BeliefWorkspace(NamedTuple):
    """Belief over the player's positions in the tree, and scratch memory."""

    node: Array  # int64 [most]
    off: Array  # int64 [most]
    prior: Array  # float64 [most]: probability of the translations that lead there
    weight: Array  # float64 [most, hands]: prior times the probability of the player's own actions
    rows: Array  # float64 [hands, columns]: probabilities at one decision; a bucket's hands share its first hand's row
    played: Array  # int32 [1, columns]
    column: Array  # int64 [columns]: column in the result
    chance: Array  # float64 [hands]: probability of the player's action, for hands with a row of their own
    visit: Array  # int64 [1]: number of decisions so far, each with new rows
    visited: Array  # int64 [most buckets]: last decision for which a bucket has a row
    leader: Array  # int32 [most buckets]: the hand with that row
    ranked: Array  # int64 [2]: street of the current strengths or -1; twice the number of opposing hands
    sorter: ShowdownWorkspace


class PublicQueryResult(NamedTuple):
    """Strategies and reach probabilities at n public states."""

    reach: Array  # float64 [n, hands]: probability of the player's actions of the line
    used: Array  # int64 [n]: number of columns in use
    moves: Array  # int32 [n, most columns]: ascending, padded with END_OF_LINE
    shares: Array  # float64 [n, hands, most columns]: action probabilities


@inline
def begin_decision(policy, query, i, b, node, state, workspace):
    """Invalidate all rows for a new decision; off the tree, compute all hands' strengths unless they are current."""
    workspace.visit[0] += 1
    street, ranked = state.street, workspace.ranked
    if node == OFF_TREE and call_amount(policy.book, state) > 0 and query.left[b] > 0 and ranked[0] != street:
        shown = policy.book.shown[street]
        ranked[1] = hand_strength_of_all(policy.ranker, street, query.board, i, shown, workspace.sorter)
        ranked[0] = street


@inline
def row_for_hand(policy, query, b, node, tree_status, state, h, num_own_moves, workspace):
    """Return the index of the row with the probabilities of hand h, and whether it was filled just now."""
    bucket = np.int64(query.buckets[b, state.street, h])
    if node == OFF_TREE:  # hands of one bucket may differ in strength
        calls = call_amount(policy.book, state) == 0 or is_profitable_call(
            policy.book, state, workspace.sorter.twice[h], workspace.ranked[1]
        )
        fill_row(policy, node, tree_status, state.street, bucket, calls, num_own_moves, workspace.rows, h)
        return h, True
    if workspace.visited[bucket] == workspace.visit[0]:
        return np.int64(workspace.leader[bucket]), False
    workspace.visited[bucket], workspace.leader[bucket] = workspace.visit[0], h
    fill_row(policy, node, tree_status, state.street, bucket, True, num_own_moves, workspace.rows, h)
    return h, True


@kernel
def weight_by_own_move(policy, query, i, j, state, move, num_own_moves, workspace):
    """Multiply each hand's weight at position j by the hand's probability of the player's own action `move`."""
    b, tree_status = np.int64(query.cards[i]), workspace.off[j]
    node = decision_node(policy.tree, workspace.node[j], tree_status, state.turn, state.street)
    columns = write_real_moves(policy, node, tree_status, state, workspace.played, 0)
    begin_decision(policy, query, i, b, node, state, workspace)
    for k in range(query.left[b]):
        h = np.int64(query.live[b, k])
        if workspace.weight[j, h] == 0.0:
            continue
        row, is_new = row_for_hand(policy, query, b, node, tree_status, state, h, num_own_moves, workspace)
        if is_new:
            probability = 0.0
            for c in range(columns):
                if workspace.played[0, c] == move:
                    probability += workspace.rows[row, c]
            workspace.chance[row] = probability
        workspace.weight[j, h] *= workspace.chance[row]


@inline
def merge_nodes(query, b, num_nodes, workspace):
    """Merge equal positions of the belief by adding their weights, and return the number of positions that remain."""
    j = 1
    while j < num_nodes:
        for i in range(j):
            if workspace.node[i] == workspace.node[j] and workspace.off[i] == workspace.off[j]:
                last = num_nodes - 1
                workspace.prior[i] += workspace.prior[j]
                workspace.node[j], workspace.off[j] = workspace.node[last], workspace.off[last]
                workspace.prior[j] = workspace.prior[last]
                for k in range(query.left[b]):
                    h = np.int64(query.live[b, k])
                    workspace.weight[i, h] += workspace.weight[j, h]
                    workspace.weight[j, h] = workspace.weight[last, h]
                num_nodes = last
                j -= 1
                break
        j += 1
    return num_nodes


@inline
def split_node(query, b, j, new, branch, workspace):
    """Split position j if a bet has two translations: position `new` gets the second and its share of the weights."""
    workspace.node[new], workspace.off[new] = branch.other_node, branch.other_off
    workspace.prior[new] = workspace.prior[j] * (1.0 - branch.chance)
    workspace.prior[j] *= branch.chance
    for k in range(query.left[b]):
        h = np.int64(query.live[b, k])
        workspace.weight[new, h] = workspace.weight[j, h] * (1.0 - branch.chance)
        workspace.weight[j, h] *= branch.chance


@kernel
def track_beliefs(policy, seed, query, i, workspace):
    """Compute the belief over the player's positions in the tree after line i, in the workspace.

    Returns the number of positions (-1: the workspace is too small), the number of own actions, and the real state.
    """
    state, num_nodes, num_own_moves, b = initial_state(policy.book), 1, np.int64(0), np.int64(query.cards[i])
    workspace.node[0], workspace.off[0], workspace.prior[0], workspace.ranked[0] = 0, ON_TREE, 1.0, -1
    for k in range(query.left[b]):
        workspace.weight[0, query.live[b, k]] = 1.0
    for k in range(query.length[i]):
        move, own_move, street, new = np.int64(query.moves[i, k]), state.turn == query.seat[i], state.street, num_nodes
        if own_move:
            for j in range(num_nodes):
                weight_by_own_move(policy, query, i, j, state, move, num_own_moves, workspace)
            num_own_moves += 1
        for j in range(num_nodes):
            step = advance(
                policy.book, policy.tree, policy.reader, workspace.node[j], workspace.off[j], state, move, own_move
            )
            first = step.chance >= 1.0
            if query.drawn and not first:
                first = uniform_draw(seed, query.hand[i], k, TRANSLATION_STREAM) < step.chance
            if not first and not query.drawn and step.chance > 0.0:
                if new == len(workspace.node):
                    return -1, num_own_moves, state
                split_node(query, b, j, new, step, workspace)
                new, first = new + 1, True
            workspace.node[j], workspace.off[j] = (step.node, step.off) if first else (step.other_node, step.other_off)
        state = apply_action_and_deal(policy.book, state, move)
        for j in range(new):
            workspace.node[j], workspace.off[j] = advance_on_deal(
                policy.tree, workspace.node[j], workspace.off[j], street, state.street
            )
        num_nodes = merge_nodes(query, b, new, workspace)
    return num_nodes, num_own_moves, state


@inline
def insert_move(move, out, i):
    """Insert an action into the sorted actions `out.moves[i]` of public state i, unless it is there."""
    position = out.used[i]
    for c in range(out.used[i]):
        if out.moves[i, c] == move:
            return
    while position > 0 and out.moves[i, position - 1] > move:
        out.moves[i, position] = out.moves[i, position - 1]
        position -= 1
    out.moves[i, position] = move
    out.used[i] += 1


@inline
def collect_moves(policy, num_nodes, state, workspace, out, i):
    """Collect the real actions at all positions of the belief in `out.moves[i]`, without repeats."""
    out.used[i] = 0
    for c in range(out.moves.shape[1]):
        out.moves[i, c] = END_OF_LINE
    insert_move(np.int64(CALL), out, i)
    if call_amount(policy.book, state) > 0:
        insert_move(np.int64(FOLD), out, i)
    for j in range(num_nodes):
        node = decision_node(policy.tree, workspace.node[j], workspace.off[j], state.turn, state.street)
        for c in range(
            FIRST_RAISE_COLUMN, write_real_moves(policy, node, workspace.off[j], state, workspace.played, 0)
        ):
            insert_move(np.int64(workspace.played[0, c]), out, i)


@kernel
def accumulate_rows(policy, query, i, j, num_nodes, num_own_moves, state, workspace, out):
    """Add the hands' action probabilities at position j, weighted by its posterior; by its prior if reach is zero."""
    b, tree_status = np.int64(query.cards[i]), workspace.off[j]
    node = decision_node(policy.tree, workspace.node[j], tree_status, state.turn, state.street)
    columns = write_real_moves(policy, node, tree_status, state, workspace.played, 0)
    for c in range(columns):
        for a in range(out.used[i]):
            if out.moves[i, a] == workspace.played[0, c]:
                workspace.column[c] = a
    begin_decision(policy, query, i, b, node, state, workspace)
    for k in range(query.left[b]):
        h = np.int64(query.live[b, k])
        posterior = 1.0
        if num_nodes > 1:
            posterior = workspace.weight[j, h] / out.reach[i, h] if out.reach[i, h] > 0.0 else workspace.prior[j]
        row, _ = row_for_hand(policy, query, b, node, tree_status, state, h, num_own_moves, workspace)
        for c in range(columns):
            out.shares[i, h, workspace.column[c]] += posterior * workspace.rows[row, c]


@kernel
def public_strategies(
    policy,  # PolicyArrays
    seed,  # uint64
    query,  # PublicQuery
    workspace,  # BeliefWorkspace
    out,  # PublicQueryResult INOUT: shares start at zero; without columns only reach is computed
):
    """Compute strategies and reach of all hands at public states; if the query has no hands, only the actions.

    Returns the first public state for which the workspace is too small, or -1.
    """
    for i in range(len(query.length)):
        num_nodes, num_own_moves, state = track_beliefs(policy, seed, query, i, workspace)
        if num_nodes < 0:
            return i
        b = np.int64(query.cards[i])
        for k in range(query.left[b]):
            h = np.int64(query.live[b, k])
            out.reach[i, h] = 0.0
            for j in range(num_nodes):
                out.reach[i, h] += workspace.weight[j, h]
        if out.moves.shape[1] == 0:
            continue
        out.used[i] = 0
        if state.over == IN_PROGRESS and state.turn == query.seat[i]:
            collect_moves(policy, num_nodes, state, workspace, out, i)
            for j in range(num_nodes):
                accumulate_rows(policy, query, i, j, num_nodes, num_own_moves, state, workspace, out)
    return -1


# --- boards -----------------------------------------------------------------------------------


@kernel
def deal_hands(
    hands,  # uint8 [hands, hole]
    boards,  # uint8 [boards, board cards]
    live,  # int32 [boards, hands] OUT: unblocked hands
    num_live,  # int64 [boards] OUT: number of unblocked hands
    deals,  # uint8 [boards · hands, hole + cards] OUT: these hands with the board, board after board
):
    """Combine every board with all unblocked hands, and return the number of deals."""
    n = 0
    for b in range(len(boards)):
        board_mask, count = np.uint64(0), 0
        for k in range(boards.shape[1]):
            board_mask |= np.uint64(1) << np.uint64(boards[b, k])
        for h in range(len(hands)):
            blocked = False
            for k in range(hands.shape[1]):
                blocked |= (board_mask >> np.uint64(hands[h, k])) & np.uint64(1) != 0
                if n < len(deals):
                    deals[n, k] = hands[h, k]
            if blocked:
                continue
            for k in range(boards.shape[1]):
                deals[n, hands.shape[1] + k] = boards[b, k]
            live[b, count] = h
            count += 1
            n += 1
        num_live[b] = count
    return n


@kernel
def arrange_buckets(
    live,  # int32 [boards, hands]
    num_live,  # int64 [boards]
    buckets,  # int32 [deals, 1, streets]: buckets of the deals of `deal_hands`
    out,  # int32 [boards, streets, hands] OUT
):
    """Copy the buckets of the deals of `deal_hands` to an array by board, street and hand."""
    n = 0
    for b in range(len(live)):
        for k in range(num_live[b]):
            for street in range(buckets.shape[2]):
                out[b, street, live[b, k]] = buckets[n, 0, street]
            n += 1
