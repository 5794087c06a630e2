"""Compiled loops that enumerate deals, number the hands on boards, rank them and lay out showdowns."""

from __future__ import annotations

from typing import NamedTuple

from riverboat.cards._kernels.ranking import board_keys, rank_by_keys
from riverboat.cards.equity._kernels.showdown_values import sort_by_strength
from riverboat.cards.ranking import RankTables
from riverboat.compiled.jit import kernel
from riverboat.core.arrays import Array

NO_ROW = 65_535  # row of a hand that is not possible


@kernel
def number_rows(
    held,  # int32 [hands]: indices of the hands in a range, ascending
    cards,  # uint8 [1326, 2]
    dead,  # uint64: bit mask of the board
    hand_maps,  # int16 [permutations, 1326]: the symmetries of the board, as maps of hands
    row_of,  # uint16 [1326] OUT: NO_ROW for hands that are blocked or not in the range
    representatives,  # uint16 [hands] OUT: representative hand of each row
):
    """Number the hands of a range that a board does not block; hands that a symmetry exchanges share a row.

    Returns the number of rows and the number of hands.
    """
    rows, count = 0, 0
    for i in range(len(row_of)):
        row_of[i] = NO_ROW
    for i in range(len(held)):
        h = held[i]
        if (dead >> cards[h, 0]) & 1 or (dead >> cards[h, 1]) & 1:
            continue
        least = h
        for g in range(len(hand_maps)):
            least = min(least, hand_maps[g, h])
        if least == h:
            representatives[rows] = h
            row_of[h] = rows
            rows += 1
        else:
            row_of[h] = row_of[least]
        count += 1
    return rows, count


@kernel
def map_rows_to_child(
    representatives,  # uint16 [rows]: representative hands of a board's rows
    image,  # int16 [1326]: symmetry that maps the cards dealt to those of the child board
    cards,  # uint8 [1326, 2]
    dead,  # uint64: bit mask of the cards dealt
    row_of,  # uint16 [1326]: rows of the child board
    none,  # row that is always zero
    child_row,  # uint16 [rows] OUT
):
    """Map each row of a board to its row on a child board, or to `none` where the deal blocks the hand."""
    for r in range(len(child_row)):
        h = representatives[r]
        blocked = (dead >> cards[h, 0]) & 1 or (dead >> cards[h, 1]) & 1
        row = none if blocked else row_of[image[h]]
        child_row[r] = row if row != NO_ROW else none


@kernel
def lay_out_running_sums(
    order,  # int16 [1326]: hands from weak to strong
    strength,  # uint16 [1326]
    cards,  # uint8 [1326, 2]
    own_row,  # uint16 [1326]: the player's rows
    own_rep,  # uint16 [rows]: representative hands of the rows
    opp_row,  # uint16 [1326]: the opponent's rows
    zero,  # row of the opponent that is always zero
    start,  # int32 [53] scratch
    fill,  # int32 [52] scratch
    hand,  # uint16 [opponent hands, 3] OUT: row, and the positions in the lists of its two cards
    rep,  # uint16 [rows, 10] OUT, see `riverboat.trees.boards.BoardArrays`
):
    """Lay out a showdown with running sums over the opponent's hands by strength: of all hands and of each card.

    Entry k of such a list is the total reach of its k weakest hands; entry 0 is zero.
    """
    for c in range(52):
        fill[c] = 0
    for k in range(len(order)):
        h = order[k]
        if opp_row[h] != NO_ROW:
            fill[cards[h, 0]] += 1
            fill[cards[h, 1]] += 1
    start[0] = 0
    for c in range(52):
        start[c + 1] = start[c] + fill[c] + 1
        fill[c] = start[c]
    count, row = 0, 0
    low = 0
    while low < len(order):
        high = low
        while high < len(order) and strength[order[high]] == strength[order[low]]:
            high += 1
        group = row
        for k in range(low, high):
            h = order[k]
            if own_row[h] != NO_ROW and own_rep[own_row[h]] == h:
                rep[row, 0] = own_row[h]
                rep[row, 1] = opp_row[h] if opp_row[h] != NO_ROW else zero
                rep[row, 2] = count
                rep[row, 3] = fill[cards[h, 0]]
                rep[row, 4] = fill[cards[h, 1]]
                row += 1
        for k in range(low, high):
            h = order[k]
            if opp_row[h] != NO_ROW:
                fill[cards[h, 0]] += 1
                fill[cards[h, 1]] += 1
                hand[count, 0] = opp_row[h]
                hand[count, 1] = fill[cards[h, 0]]
                hand[count, 2] = fill[cards[h, 1]]
                count += 1
        for i in range(group, row):
            h = own_rep[rep[i, 0]]
            rep[i, 5] = count
            rep[i, 6] = fill[cards[h, 0]]
            rep[i, 7] = fill[cards[h, 1]]
            rep[i, 8] = start[cards[h, 0] + 1] - 1
            rep[i, 9] = start[cards[h, 1] + 1] - 1
        low = high


@kernel
def lay_out_showdown(
    order,  # int16 [1326]: hands from weak to strong
    strength,  # uint16 [1326]
    cards,  # uint8 [1326, 2]
    own_row,  # uint16 [1326]: the player's rows
    own_rep,  # uint16 [rows]: representative hands of the rows
    opp_row,  # uint16 [1326]: the opponent's rows
    zero,  # row of the opponent that is always zero
    place,  # int32 [52] scratch
    hand,  # uint16 [opponent hands, 3] OUT
    rep,  # uint16 [rows, 7] OUT
    group,  # uint16 [groups at most, 2] OUT
    touched,  # uint8 [cards at most] OUT; see `riverboat.trees.boards.BoardArrays`
):
    """Lay out a showdown: the opponent's hands in groups of equal strength.

    Returns the number of groups, and the sum over the groups of the distinct cards of the player's hands in them.
    """
    count, row, groups, num_touched = 0, 0, 0, 0
    low = 0
    while low < len(order):
        high = low
        place[:] = -1
        while high < len(order) and strength[order[high]] == strength[order[low]]:
            high += 1
        for k in range(low, high):
            h = order[k]
            is_representative = own_row[h] != NO_ROW and own_rep[own_row[h]] == h
            if is_representative:
                for i in range(2):
                    if place[cards[h, i]] < 0:
                        place[cards[h, i]] = num_touched
                        touched[num_touched] = cards[h, i]
                        num_touched += 1
                rep[row, 0] = own_row[h]
                rep[row, 1] = opp_row[h] if opp_row[h] != NO_ROW else zero
                rep[row, 2] = cards[h, 0]
                rep[row, 3] = cards[h, 1]
                rep[row, 4] = groups
                rep[row, 5] = place[cards[h, 0]]
                rep[row, 6] = place[cards[h, 1]]
                row += 1
            if opp_row[h] != NO_ROW:
                hand[count, 0] = opp_row[h]
                hand[count, 1] = cards[h, 0]
                hand[count, 2] = cards[h, 1]
                count += 1
        if groups == 0 or group[groups - 1, 0] < count or group[groups - 1, 1] < num_touched:
            group[groups, 0] = count
            group[groups, 1] = num_touched
            groups += 1
        low = high
    return groups, num_touched


# --- ranking of hands on boards ---------------------------------------------------------------


class HandKeys(NamedTuple):
    """Ranking keys of all hands, to be combined with those of a board."""

    ranks: RankTables  # for the number of cards of hand and board together
    mask: Array  # uint64 [hands]: bit mask of the cards
    key: Array  # uint64 [hands]: sums of ranking keys
    suits: Array  # uint64 [hands]: sums of suit masks


@kernel
def order_hands_by_strength(
    hand_keys,  # HandKeys
    boards,  # uint8 [boards, cards]
    strength,  # uint16 [boards, hands] OUT: zero where the board blocks the hand
    order,  # int16 [boards, hands] OUT: from weak to strong
    spare,  # int16 [hands] scratch
    digits,  # int64 [257] scratch
):
    """Rank every hand on some boards and sort the hands from weak to strong."""
    t, hands, size = hand_keys.ranks, len(hand_keys.mask), boards.shape[1]
    for b in range(len(boards)):
        key, mask, taken = board_keys(t, boards[b], size)
        for h in range(hands):
            order[b, h] = h
            if hand_keys.mask[h] & taken:
                strength[b, h] = 0
            else:
                strength[b, h] = rank_by_keys(t, key + hand_keys.key[h], mask + hand_keys.suits[h], 2 + size)
        sort_by_strength(order[b], hands, strength[b], spare, digits)
