"""The counts of the Tartanian7 paper (Brown, Ganzfried & Sandholm 2015): cards and sizes of games.

Cards are enumerated; sizes of games follow by arithmetic. The paper prints the number of nodes of its betting tree, and
of nodes, information sets and actions of its two games. The tree itself is not published, but these numbers are
consistent. With N betting nodes and B buckets after the flop a game has N · B² nodes (both players hold a bucket). Each
of B buckets has N - 1 actions: every node but the root is reached by one action. The few preflop nodes, with 169
buckets instead, do not change the printed digits.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from riverboat.cards.deck import FULL_DECK
from riverboat.cards.isomorphism import HandIndexer, canonical_boards
from riverboat.cards.notation import parse_cards
from riverboat.papers.framework import ExperimentReport, format_notes
from riverboat.papers.rows import ComparisonRow, new_row, printed_row

NODES = 6_104_546  # of the betting tree, including terminals
PUBLIC_BUCKETS, PRIVATE_BUCKETS = 60, 500  # buckets of flops, and of hands in each
BASELINE_BUCKETS = 5000  # on each street of the game without public buckets
CORES, HOURS = 16 * PUBLIC_BUCKETS + 1, 1200  # a blade for each public bucket, and the head
# Win rate against each opponent of 2014, mbb/g.
WIN_RATES_2014 = (261, 121, 21, 33, 20, 125, 499, 141, 214, 516, 980, 1474, 1819)
BYTES_PER_ACTION = 16  # a regret and a sum of probabilities, eight bytes each
BLADE_GIGABYTES, SERVER_GIGABYTES = 128, 512  # memory


def count_hands_beside(flop: str) -> int:
    """Count the hands that share no card with a flop, by enumeration."""
    dead = set(parse_cards(flop))
    return sum(not dead & set(hand) for hand in combinations(FULL_DECK.cards.tolist(), 2))


def count_flops_beside(cards: str) -> int:
    """Count the flops that share no card with the players' cards, by enumeration."""
    remaining = sorted(set(FULL_DECK.cards.tolist()) - set(parse_cards(cards)))
    return sum(1 for _ in combinations(remaining, 3))


def card_rows() -> list[ComparisonRow]:
    """Check the paper's counts of cards by enumeration."""
    boards, times = canonical_boards(3)
    example = [count_hands_beside(flop) for flop in ("AsKhQd", "AsKhJd")]
    pairs = sum(1 for _ in combinations(range(len(boards)), 2))
    return [
        printed_row("flops", 22_100, sum(1 for _ in combinations(range(52), 3)), note="enumerated"),
        printed_row("flops that the canonical ones stand for", 22_100, int(times.sum()), note="enumerated"),
        printed_row("flops without names of suits", 1755, len(boards), note="enumerated"),
        printed_row("hands on a flop", 1176, example[0], note="enumerated"),
        printed_row("hands before the flop without names of suits", 169, HandIndexer.for_deck(FULL_DECK, (2,)).size()),
        printed_row("look-ups of the transition table", 2_063_880, len(boards) * example[0]),
        printed_row("hands in a public bucket of two flops", 2352, sum(example), note="AsKhQd and AsKhJd, as in the example"),
        printed_row("triples of two flops and a bucket", 7.7e9, float(pairs * BASELINE_BUCKETS), digits=-8),
        new_row("flops that two dealt hands leave", count_flops_beside("AsKhQd2c"),
                note="C(48, 3): the weights of all blades"),
    ]  # fmt: skip


def game_rows() -> list[ComparisonRow]:
    """Check the sizes of both games."""
    buckets = PUBLIC_BUCKETS * PRIVATE_BUCKETS
    moves = float(NODES - 1)
    decisions = 1.1e10 / BASELINE_BUCKETS  # from the smaller game; the larger one must have the same number
    return [
        printed_row("nodes: N (60 · 500)²", 5.49e15, NODES * float(buckets) ** 2, digits=-13),
        printed_row("moves of all information sets: (N - 1) · 60 · 500", 1.8e11, moves * buckets, digits=-10),
        printed_row("information sets: decisions of the baseline · 60 · 500", 6.6e10, decisions * buckets, digits=-9,
                    note=f"{decisions / 1e6:.2g} million decisions, {moves / decisions:.3g} moves each"),
        printed_row("baseline: nodes, N · 5,000²", 1.5e14, NODES * float(BASELINE_BUCKETS) ** 2, digits=-13),
        printed_row("baseline: moves of all information sets", 3.1e10, moves * BASELINE_BUCKETS, digits=-9),
    ]  # fmt: skip


def machine_rows() -> list[ComparisonRow]:
    """Check the numbers of the supercomputer and of the competition."""
    bucket_bytes, blade_buckets = (NODES - 1) * BYTES_PER_ACTION, PUBLIC_BUCKETS * PRIVATE_BUCKETS
    return [
        printed_row("cores", 961, CORES),
        printed_row("core-hours", 1_153_200, CORES * HOURS),
        printed_row("mean won from the field of 2014, mbb a hand", 479, np.mean(WIN_RATES_2014), digits=0),
        new_row("terabytes of tables on the blades", bucket_bytes * blade_buckets / 1e12, note="16 bytes a move"),
        new_row("terabytes of memory on the blades", PUBLIC_BUCKETS * BLADE_GIGABYTES / 1e3),
        new_row("gigabytes of tables of the baseline", bucket_bytes * BASELINE_BUCKETS / 1e9, note=f"on {SERVER_GIGABYTES}"),
    ]  # fmt: skip


def run_sizes(full: bool, seed: int) -> ExperimentReport:
    """Check all counts."""
    notes = format_notes("tartanian7-sizes", flops=comb(48, 3))
    return ExperimentReport((*card_rows(), *game_rows(), *machine_rows()), notes)
