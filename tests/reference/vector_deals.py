"""Reference for the packed boards of GPU public chance sampling: lists and dictionaries, one hand at a time."""

from __future__ import annotations

import numpy as np

from reference.bucket_sampling import PublicChanceSampling
from reference.external_sampling import number
from riverboat.core.arrays import Array


def dealt(twin: PublicChanceSampling, begin: int, end: int, run: int, runs: list[int]) -> tuple[Array, ...]:
    """Boards begin … end - 1: `seen`, `by_bucket` and `run` of `PackedBoards`.

    `run` hands of a bucket are summed at a time, and a board has space for `runs` of them on each street.
    """
    rules = twin.tree.rules
    number_of = {tuple(sorted(hand)): k for k, hand in enumerate(rules.deck.hands.tolist())}
    seen, places, pieces = ([[] for _ in rules.board] for _ in range(3))  # type: ignore[var-annotated]
    for i in range(begin, end):
        board = twin.board(number(twin.seed, i))
        boards = [board[:count] for count in rules.board_sizes]
        strength = {hand: twin.strength(hand, board) for hand in twin.hands(board)}
        order = sorted(strength, key=lambda hand: (strength[hand], number_of[hand]))
        for visible in reversed(boards):  # hands that the complete board allows, then those that its last cards exclude
            order += sorted({*twin.hands(visible)} - {*order}, key=lambda hand: number_of[hand])
        for s, visible in enumerate(boards):
            live = [hand for hand in order if not {*hand} & {*visible}]
            own = [twin.cards.bucket(hand, visible) for hand in live]
            for k, hand in enumerate(live):
                last = k + 1 >= len(strength) or strength[order[k + 1]] != strength[hand]
                seen[s].append(hand[0] | (hand[1] if len(hand) == 2 else 52) << 6 | last << 12 | own[k] << 13)
            first, rows = 0, []
            for bucket in dict.fromkeys(own):
                alike = [k for k, other in enumerate(own) if other == bucket]
                places[s] += alike
                rows += [[first + k, min(run, len(alike) - k), bucket] for k in range(0, len(alike), run)]
                first += len(alike)
            pieces[s] += rows + [[0, 0, 0]] * (runs[s] - len(rows))
    joined = (np.array([x for street in part for x in street]).ravel() for part in (seen, places, pieces))
    return tuple(joined)
