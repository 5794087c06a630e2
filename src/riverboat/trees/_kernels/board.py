"""Compiled loops that lay out hands on boards."""

from __future__ import annotations

from riverboat.compiled.jit import kernel

NOWHERE = 65_535  # row of a hand that cannot be held


@kernel
def orbits(
    combos,  # uint8 [combos, cards]: what may be dealt
    perms,  # uint8 [permutations, 52]: the symmetries of the board so far, as maps of cards
    canon,  # uint64 [combos] OUT: the smallest set of cards that a symmetry makes of each
    by,  # int16 [combos] OUT: the symmetry that does
):
    """The classes of what may be dealt."""
    for i in range(len(combos)):
        for g in range(len(perms)):
            image = 0
            for k in range(combos.shape[1]):
                image |= 1 << int(perms[g, combos[i, k]])
            if g == 0 or image < canon[i]:
                canon[i] = image
                by[i] = g


@kernel
def place_rows(
    held,  # int32 [hands]: numbers of the hands in a range, ascending
    cards,  # uint8 [1326, 2]
    dead,  # uint64: the board, a bit for each card
    images,  # int16 [permutations, 1326]: the symmetries of the board, as maps of hands
    row_of,  # uint16 [1326] OUT
    rep,  # uint16 [hands] OUT: the hand that stands for each row
):
    """Number the hands that a board leaves; hands that a symmetry exchanges share a row. Rows, hands."""
    rows, count = 0, 0
    for i in range(len(row_of)):
        row_of[i] = NOWHERE
    for i in range(len(held)):
        h = held[i]
        if (dead >> cards[h, 0]) & 1 or (dead >> cards[h, 1]) & 1:
            continue
        least = h
        for g in range(len(images)):
            least = min(least, images[g, h])
        if least == h:
            rep[rows] = h
            row_of[h] = rows
            rows += 1
        else:
            row_of[h] = row_of[least]
        count += 1
    return rows, count


@kernel
def map_up(
    rep,  # uint16 [rows]: hands that stand for the rows of a board
    row_of,  # uint16 [1326]: rows of the board before
    up,  # uint16 [rows] OUT
):
    """The row of the board before that each row comes from."""
    for r in range(len(up)):
        up[r] = row_of[rep[r]]


@kernel
def map_down(
    rep,  # uint16 [rows]: hands that stand for the rows of a board
    image,  # int16 [1326]: the symmetry that makes the cards dealt those of the child
    cards,  # uint8 [1326, 2]
    dead,  # uint64: the cards dealt
    row_of,  # uint16 [1326]: rows of the child
    none,  # row that is always zero
    down,  # uint16 [rows] OUT
):
    """The row of a child board that each row goes on in."""
    for r in range(len(down)):
        h = rep[r]
        gone = (dead >> cards[h, 0]) & 1 or (dead >> cards[h, 1]) & 1
        row = none if gone else row_of[image[h]]
        down[r] = row if row != NOWHERE else none


@kernel
def order_hands(
    order,  # int16 [1326]: hands from weak to strong
    strength,  # uint16 [1326]
    cards,  # uint8 [1326, 2]
    own_row,  # uint16 [1326]: my rows
    own_rep,  # uint16 [rows]: hands that stand for them
    opp_row,  # uint16 [1326]: the opponent's
    zero,  # row of the opponent that is always zero
    start,  # int32 [53] scratch
    fill,  # int32 [52] scratch
    hand,  # uint16 [opponent hands, 3] OUT: row, and the places of its cards in their lists
    rep,  # uint16 [rows, 10] OUT, see `riverboat.trees.boards.Boards`
):
    """Lay out a showdown: the opponent's hands by strength, in one list and in one list for each card.

    Lists hold running sums, so entry k of a list is what the k weakest of it weigh; entry 0 is zero.
    """
    for c in range(52):
        fill[c] = 0
    for k in range(len(order)):
        h = order[k]
        if opp_row[h] != NOWHERE:
            fill[cards[h, 0]] += 1
            fill[cards[h, 1]] += 1
    start[0] = 0
    for c in range(52):
        start[c + 1] = start[c] + fill[c] + 1
        fill[c] = start[c]
    count, mine = 0, 0
    low = 0
    while low < len(order):
        high = low
        while high < len(order) and strength[order[high]] == strength[order[low]]:
            high += 1
        group = mine
        for k in range(low, high):
            h = order[k]
            if own_row[h] != NOWHERE and own_rep[own_row[h]] == h:
                rep[mine, 0] = own_row[h]
                rep[mine, 1] = opp_row[h] if opp_row[h] != NOWHERE else zero
                rep[mine, 2] = count
                rep[mine, 3] = fill[cards[h, 0]]
                rep[mine, 4] = fill[cards[h, 1]]
                mine += 1
        for k in range(low, high):
            h = order[k]
            if opp_row[h] != NOWHERE:
                fill[cards[h, 0]] += 1
                fill[cards[h, 1]] += 1
                hand[count, 0] = opp_row[h]
                hand[count, 1] = fill[cards[h, 0]]
                hand[count, 2] = fill[cards[h, 1]]
                count += 1
        for i in range(group, mine):
            h = own_rep[rep[i, 0]]
            rep[i, 5] = count
            rep[i, 6] = fill[cards[h, 0]]
            rep[i, 7] = fill[cards[h, 1]]
            rep[i, 8] = start[cards[h, 0] + 1] - 1
            rep[i, 9] = start[cards[h, 1] + 1] - 1
        low = high


@kernel
def lay_showdown(
    order,  # int16 [1326]: hands from weak to strong
    strength,  # uint16 [1326]
    cards,  # uint8 [1326, 2]
    own_row,  # uint16 [1326]: my rows
    own_rep,  # uint16 [rows]: hands that stand for them
    opp_row,  # uint16 [1326]: the opponent's
    zero,  # row of the opponent that is always zero
    place,  # int32 [52] scratch
    hand,  # uint16 [opponent hands, 3] OUT
    rep,  # uint16 [rows, 7] OUT
    group,  # uint16 [groups at most, 2] OUT
    touched,  # uint8 [cards at most] OUT; see `riverboat.trees.boards.Boards`
):
    """Lay out a showdown: the opponent's hands in groups of equal strength. How many groups and cards of groups there are."""
    count, mine, groups, cards_met = 0, 0, 0, 0
    low = 0
    while low < len(order):
        high = low
        place[:] = -1
        while high < len(order) and strength[order[high]] == strength[order[low]]:
            high += 1
        for k in range(low, high):
            h = order[k]
            shown = own_row[h] != NOWHERE and own_rep[own_row[h]] == h
            if shown:
                for i in range(2):
                    if place[cards[h, i]] < 0:
                        place[cards[h, i]] = cards_met
                        touched[cards_met] = cards[h, i]
                        cards_met += 1
                rep[mine, 0] = own_row[h]
                rep[mine, 1] = opp_row[h] if opp_row[h] != NOWHERE else zero
                rep[mine, 2] = cards[h, 0]
                rep[mine, 3] = cards[h, 1]
                rep[mine, 4] = groups
                rep[mine, 5] = place[cards[h, 0]]
                rep[mine, 6] = place[cards[h, 1]]
                mine += 1
            if opp_row[h] != NOWHERE:
                hand[count, 0] = opp_row[h]
                hand[count, 1] = cards[h, 0]
                hand[count, 2] = cards[h, 1]
                count += 1
        if groups == 0 or group[groups - 1, 0] < count or group[groups - 1, 1] < cards_met:
            group[groups, 0] = count
            group[groups, 1] = cards_met
            groups += 1
        low = high
    return groups, cards_met
