"""An abstract game of cards as a game of classes: joint counts of bucket sequences, from boards with all their hands.

Where every bucket tells the one before it, nothing else of the cards matters to players who see buckets
(`papers.public_chance_sampling.class_game`). `solvers.mccfr.abstract_response` walks all boards of small games instead; the 2.6 billion hands of limit
hold'em on all boards are too many, and some thousands of boards, each with all its pairs of hands, say the same closely.
"""

from __future__ import annotations

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.core.formatting import show_bytes
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.papers.public_chance_sampling import _kernels as kernels
from riverboat.papers.public_chance_sampling.class_game import ClassGame
from riverboat.solvers.mccfr.samplers import board_room, hands_of
from riverboat.solvers.mccfr.tables import BucketTables, make_game

MOST_BYTES = 8 << 30


def parents_of(cards: CardAbstraction) -> tuple[Array, ...]:
    """The bucket that each bucket follows, where buckets are cut within those of the street before."""
    parents = [np.zeros(cards.counts[0], np.int64)]
    for street in range(1, len(cards.streets)):
        before, count = cards.counts[street - 1], cards.counts[street]
        cuts = cards.streets[street].cuts
        if len(cuts) != before or count % before:
            raise InputError(f"{cards.name}, street {street}: buckets do not tell the ones before; percentile ones do")
        parents.append(np.arange(count) // (count // before))
    return tuple(parents)


def drawn_boards(tree: ActionTree, count: int, seed: int) -> Array:
    """Whole boards in the order of the deal, each equally likely. uint8 [boards, cards]"""
    rng, deck = np.random.default_rng(seed), tree.rules.deck.cards
    return np.array([rng.choice(deck, sum(tree.rules.board), replace=False) for _ in range(count)], np.uint8)


def joint_game(tree: ActionTree, cards: CardAbstraction, boards: Array) -> ClassGame:
    """The abstract game with the joint counts of some boards."""
    parents, classes = parents_of(cards), cards.counts[tree.rules.rounds - 1]
    need = 2 * 4 * classes**2
    if need > MOST_BYTES:
        raise MemoryLimitError(
            f"{cards.name}: joint counts of {classes:,} buckets take {show_bytes(need)}: take fewer buckets"
        )
    meets, wins = (np.zeros((classes, classes), np.float32) for _ in range(2))
    most = min(classes, tree.rules.deck.hand_count)
    room = [np.zeros((most, most), np.float32) for _ in range(2)]
    game = make_game(tree, cards, BucketTables(tree, (1,) * tree.rules.rounds))
    kernels.count_meetings(game, cards.look, hands_of(tree), board_room(tree), boards, *room, meets, wins)
    total = float(meets.sum(dtype=np.float64))
    meets /= total
    wins /= total
    return ClassGame(tree, parents, meets, wins)
