"""The counts of the Tartanian7 paper: cards by enumeration, the sizes of its games by arithmetic.

The paper prints how many nodes its betting tree has, and how many nodes, information sets and moves its two games have. The
tree itself is not published, but these figures hang together. With N betting nodes and B buckets after the flop a game
has N · B² nodes (both players hold a bucket), and N - 1 moves are made with each of B buckets: every node but the root is
reached by one. The few nodes before the flop, with 169 buckets instead, do not show in the printed digits.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from riverboat.cards.deck import FULL_DECK
from riverboat.cards.isomorphism import Indexer, canonical_boards
from riverboat.cards.notation import parse_cards
from riverboat.papers.framework import Experiment, Report
from riverboat.papers.rows import Row, new, printed

NODES = 6_104_546  # of the betting tree, leaves included
PUBLIC, PRIVATE = 60, 500  # buckets of flops, and of hands within each
BASELINE = 5000  # buckets on each street of the game without public buckets
CORES, HOURS = 16 * PUBLIC + 1, 1200  # a blade for each public bucket, and the head
FIELD = (261, 121, 21, 33, 20, 125, 499, 141, 214, 516, 980, 1474, 1819)  # won from each opponent of 2014, mbb a hand
BYTES = 16  # of a move: a regret and a sum of probabilities, eight each
BLADE, SERVER = 128, 512  # gigabytes of memory


def hands_beside(flop: str) -> int:
    """Hands that a flop leaves, one by one."""
    gone = set(parse_cards(flop))
    return sum(not gone & set(hand) for hand in combinations(FULL_DECK.cards.tolist(), 2))


def flops_beside(cards: str) -> int:
    """Flops that the players' cards leave, one by one."""
    left = sorted(set(FULL_DECK.cards.tolist()) - set(parse_cards(cards)))
    return sum(1 for _ in combinations(left, 3))


def cards_rows() -> list[Row]:
    """What the paper says of cards; everything is counted, not computed."""
    boards, times = canonical_boards(3)
    example = [hands_beside(flop) for flop in ("AsKhQd", "AsKhJd")]
    pairs = sum(1 for _ in combinations(range(len(boards)), 2))
    return [
        printed("flops", 22_100, sum(1 for _ in combinations(range(52), 3)), note="enumerated"),
        printed("flops that the canonical ones stand for", 22_100, int(times.sum()), note="enumerated"),
        printed("flops without names of suits", 1755, len(boards), note="enumerated"),
        printed("hands on a flop", 1176, example[0], note="enumerated"),
        printed("hands before the flop without names of suits", 169, Indexer.for_deck(FULL_DECK, (2,)).size()),
        printed("look-ups of the transition table", 2_063_880, len(boards) * example[0]),
        printed(
            "hands in a public bucket of two flops", 2352, sum(example), note="AsKhQd and AsKhJd, as in the example"
        ),
        printed("triples of two flops and a bucket", 7.7e9, float(pairs * BASELINE), digits=-8),
        new("flops that two dealt hands leave", flops_beside("AsKhQd2c"), note="C(48, 3): the weights of all blades"),
    ]


def game_rows() -> list[Row]:
    """Sizes of both games."""
    buckets = PUBLIC * PRIVATE
    moves = float(NODES - 1)
    decisions = 1.1e10 / BASELINE  # by the smaller game; the larger one must have as many
    return [
        printed("nodes: N (60 · 500)²", 5.49e15, NODES * float(buckets) ** 2, digits=-13),
        printed("moves of all information sets: (N - 1) · 60 · 500", 1.8e11, moves * buckets, digits=-10),
        printed(
            "information sets: decisions of the baseline · 60 · 500",
            6.6e10,
            decisions * buckets,
            digits=-9,
            note=f"{decisions / 1e6:.2g} million decisions, {moves / decisions:.3g} moves each",
        ),
        printed("baseline: nodes, N · 5,000²", 1.5e14, NODES * float(BASELINE) ** 2, digits=-13),
        printed("baseline: moves of all information sets", 3.1e10, moves * BASELINE, digits=-9),
    ]


def machine_rows() -> list[Row]:
    """The supercomputer, and the field."""
    return [
        printed("cores", 961, CORES),
        printed("core-hours", 1_153_200, CORES * HOURS),
        printed("mean won from the field of 2014, mbb a hand", 479, float(np.mean(FIELD)), digits=0),
        new("terabytes of tables on the blades", (NODES - 1) * PUBLIC * PRIVATE * BYTES / 1e12, note="16 bytes a move"),
        new("terabytes of memory on the blades", PUBLIC * BLADE / 1e3),
        new("gigabytes of tables of the baseline", (NODES - 1) * BASELINE * BYTES / 1e9, note=f"on {SERVER}"),
    ]


def run(full: bool, seed: int) -> Report:
    """All of them."""
    notes = (
        "Cards are enumerated with the deck. The betting tree is not published: its number of nodes is taken from the paper, "
        "and the other sizes of both games follow from it to all printed digits. So one betting tree served both games.",
        f"The number of flops that two hands leave is the same for all hands: C(48, 3) = {comb(48, 3):,}.",
    )
    return Report((*cards_rows(), *game_rows(), *machine_rows()), notes)


EXPERIMENT = Experiment(
    "tartanian7-sizes",
    "The counts of the Tartanian7 paper",
    "Brown, Ganzfried & Sandholm 2015, sections 2 and 5, table 1",
    "1 s",
    "1 s",
    run,
)
