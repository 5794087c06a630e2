"""Compiled list of all boards below one of the second street, with the hands that each leaves: what a GPU is given."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.jit import kernel
from riverboat.core.arrays import Array
from riverboat.evaluation.best_response._kernels.traversal import FRESH, ONE, U, lay_out_hands, next_deal

# A hand of a list as one number: its cards, where it stands in the list of the street before, whether it is the last of
# those that are as strong.
CARD_BITS, PLACE_BITS = 6, 11
PLACE, TIE = 2 * CARD_BITS, 2 * CARD_BITS + PLACE_BITS


class Dealt(NamedTuple):
    """Boards of one street in the order of a walk: those that follow one board stand side by side."""

    hand: Array  # uint16 [boards · live]: the hands that each leaves; on the last street from weak to strong
    place: Array  # int16 [boards · hands]: where each hand of the deck stands there, -1 if nowhere
    bucket: Array  # int32 [boards · live]
    seen: Array  # uint32 [boards · live]: see above
    first: Array  # int32 [boards + 1]: the first board that follows each, on the next street
    parent: Array  # int32 [boards]: the board before
    times: Array  # float64 [boards]: how many each stands for
    group: Array  # int64 [boards]: a bit for each permutation of suits that keeps it


@kernel
def lay_out_boards(
    cards,  # Cards
    look,  # LookUp
    boards,  # Boards: one of the second street
    room,  # Room, of a walk
    dealt,  # a Dealt for each street; that of the first is not used OUT
    count,  # int64 [streets]: boards of each OUT
):
    """One board of the second street and all that follow."""
    end, hands = len(cards.shown) - 1, len(cards.mask)
    room.taken[1] = U(0)
    for k in range(cards.dealt[1]):
        room.board[k] = boards.cards[0, k]
        room.taken[1] |= ONE << U(boards.cards[0, k])
    room.times[1], room.group[1] = boards.times[0], boards.groups[0]
    count[:] = 0
    s, entering = 1, True
    while s >= 1:
        if entering:
            room.walked[s] += 1
            lay_out_hands(look, cards, s, room)
            out, b, live = dealt[s], count[s], room.live[s]
            for h in range(hands):
                out.place[b * hands + h] = -1
            for k in range(live):
                h = room.hand[s, k]
                tie = np.uint32(k + 1 == live or room.rank[k + 1] != room.rank[k])
                held = np.uint32(room.first[s, k]) | np.uint32(room.second[s, k]) << np.uint32(CARD_BITS)
                stands = np.uint32(room.source[s, k]) << np.uint32(PLACE)
                out.seen[b * live + k] = held | stands | tie << np.uint32(TIE)
                out.hand[b * live + k], out.place[b * hands + h] = h, k
                out.bucket[b * live + k] = room.bucket[s, k]
            out.parent[b], out.times[b], out.group[b] = count[s - 1] - 1 if s > 1 else 0, room.times[s], room.group[s]
            count[s] += 1
            if s < end:
                out.first[b] = count[s + 1]
                room.chosen[s + 1, 0] = FRESH
        if s < end and next_deal(cards, s + 1, room):
            s, entering = s + 1, True
            continue
        if s < end:
            dealt[s].first[count[s]] = count[s + 1]
        s, entering = s - 1, False
