"""Compiled look-up of the buckets that all hands have with every card that may come next: what boards share is done once."""

from __future__ import annotations

import numpy as np

from riverboat.abstraction.cards._kernels.lookup import bucket_at, number_of
from riverboat.cards._kernels.isomorphism import close, deal, start, take
from riverboat.compiled.jit import kernel, part

U = np.uint64


@part
def layer_of(look, street, board, shown, deck, c):
    """The layer of labels of a board with card c of the deck behind it."""
    if look.public.size == 0 or len(look.streets[street].labels) <= 1:
        return np.int64(0)
    t = look.numbering
    begun = take(t, 0, (0, 0, 0), board, 0, min(look.decides, shown))
    if look.decides > shown:
        begun = take(t, 0, begun, deck, c, 1)
    public = np.int64(look.public[number_of(look, close(t, start(), begun, look.decides), look.flop)])
    whole = take(t, 0, take(t, 0, (0, 0, 0), board, 0, shown), deck, c, 1)
    return np.int64(
        look.streets[street].layer[number_of(look, close(t, start(), whole, shown + 1), look.board[street]), public]
    )


@kernel
def next_buckets(
    look,  # LookUp
    hands,  # uint8 [hands, hole]
    deck,  # uint8 [cards]
    street,  # the one that the next card begins
    boards,  # uint8 [boards, cards that lie]
    before,  # int32 [boards, hands]: buckets on the street before
    layers,  # int64 [cards] scratch
    out,  # int32 [boards, cards, hands] OUT: 0 where a card is dealt twice
):
    """Buckets of all hands on boards with each card of the deck behind them."""
    t, hole, shown = look.numbering, hands.shape[1], boards.shape[1]
    for b in range(len(boards)):
        known = U(0)
        for k in range(shown):
            known |= U(1) << U(boards[b, k])
        for c in range(len(deck)):
            if (known >> U(deck[c])) & U(1) == 0:
                layers[c] = layer_of(look, street, boards[b], shown, deck, c)
        for h in range(len(hands)):
            gone = known
            for k in range(hole):
                gone |= U(1) << U(hands[h, k])
            free = True
            for k in range(hole):
                free &= (known >> U(hands[h, k])) & U(1) == 0
            if not free:
                for c in range(len(deck)):
                    out[b, c, h] = 0
                continue
            held = deal(t, start(), hands[h], 0, hole)
            begun = take(t, held[0], (0, 0, 0), boards[b], 0, shown)
            for c in range(len(deck)):
                out[b, c, h] = 0
                if (gone >> U(deck[c])) & U(1) == 0:
                    dealt = take(t, held[0], begun, deck, c, 1)
                    number = number_of(look, close(t, held, dealt, shown + 1), look.hand[street])
                    out[b, c, h] = bucket_at(look, street, layers[c], number, np.int64(before[b, h]))
