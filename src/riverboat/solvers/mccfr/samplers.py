"""Other ways to sample a blueprint: chance sampling, public chance sampling with one vector or two, and pure CFR, on the
tables of `Blueprint`.

    solver = make_blueprint(tree, cards, "pcs", seed=1)
    solver.step(10_000)
    solver.average(0, bucket=2)

An iteration is one deal (`external`, `chance`, `pure`), one board with all hands on it (`pcs`, `cfr-br`), or one board and
for each traverser all hands of one seat against a hand of the other (`opcs`, `spcs`), and both seats learn from it.
Increments are scaled alike: on average over what is drawn, all of them add the same to the regrets of the same strategies.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import comb
from typing import Any

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, lossless
from riverboat.cards.ranking import tables as ranking_tables
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, MemoryLimitError, unknown
from riverboat.core.formatting import show_bytes
from riverboat.engines.sampling._kernels import cfr_br as cfr_br_kernels
from riverboat.engines.sampling._kernels import chance as chance_kernels
from riverboat.engines.sampling._kernels import external as kernels
from riverboat.engines.sampling._kernels import half_public as half_kernels
from riverboat.engines.sampling._kernels import public_chance as public_kernels
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.solvers.mccfr.tables import BLOCK, BucketTables, Weighting, make_game
from riverboat.solvers.mccfr.trainer import Blueprint

MOST_HYBRID = 2 << 30  # bytes of what the one who sees its cards learns

TRAVERSALS = {
    "external": "one deal, the opponent's moves drawn (Lanctot et al. 2009)",
    "chance": "one deal, all moves (Zinkevich et al. 2007)",
    "pcs": "one board, all hands as vectors, all moves (Johanson et al. 2012)",
    "opcs": "one board and a hand of the opponent, all hands of the traverser (Johanson et al. 2012)",
    "spcs": "one board and a hand of the traverser, all hands of the opponent (Johanson et al. 2012)",
    "pure": "one deal, everybody's moves drawn (Gibson 2014)",
    "cfr-br": "one board, each seat against one that sees its cards and answers best (Johanson et al. 2012)",
}
# As checkpoints name them: new ones go to the end.
_NUMBERS = ("external", "chance", "pcs", "pure", "cfr-br", "opcs", "spcs")


def make_blueprint(tree: ActionTree, cards: CardAbstraction, traversal: str = "external", **options: Any) -> Blueprint:
    """A blueprint to be trained by one of TRAVERSALS. Options are those of `Blueprint`; some are for `external` alone."""
    if traversal == "external":
        return Blueprint(tree, cards, **options)
    return BucketSampling(tree, cards, traversal, **options)


class BucketSampling(Blueprint):
    """A blueprint in training, by another traversal than external sampling."""

    def __init__(
        self,
        tree: ActionTree,
        cards: CardAbstraction,
        traversal: str,
        *,
        seed: int = 0,
        threads: int = 1,
        weighting: str | Weighting = "none",
        dtype: str = "float32",
        runouts: int = 0,
    ) -> None:
        if traversal not in TRAVERSALS or traversal == "external":
            raise unknown("traversal", traversal, [name for name in TRAVERSALS if name != "external"])
        super().__init__(tree, cards, seed=seed, threads=threads, weighting=weighting, dtype=dtype, runouts=runouts)
        self.traversal = traversal
        self.hybrid: BucketTables | None = None  # what the one who sees its cards has learnt before the last street
        self._train, self._rooms = self._prepare()

    def _prepare(self) -> tuple[Any, list[tuple[Any, ...]]]:
        """The loop of a traversal, and what each thread works on."""
        if self.traversal in ("pcs", "opcs", "spcs", "cfr-br"):
            hands = hands_of(self.tree)
            rooms: list[tuple[Any, ...]] = [(hands, board_room(self.tree), frames(self.tree)) for _ in self._places]
            if self.traversal == "pcs":
                return public_kernels.train_public, rooms
            if self.traversal in ("opcs", "spcs"):
                own_all = self.traversal == "opcs"
                return half_kernels.train_half, [(own_all, *room) for room in rooms]
            return cfr_br_kernels.train_cfr_br, [(*room, self._opponent()) for room in rooms]
        train = chance_kernels.train_chance if self.traversal == "chance" else chance_kernels.train_pure
        return train, [(block, _visits(self.tree)) for block, _ in self._places]

    def _opponent(self) -> cfr_br_kernels.Responder:
        """The one who sees its cards, as a thread of CFR-BR needs it."""
        tree, whole = self.tree, lossless(self.tree.rules.board[1:], self.tree.rules.deck)
        if self.hybrid is None:
            counts = *whole.counts[: tree.rules.rounds - 1], 1
            cells = 2 * sum(n * int(w) for n, w in zip(counts, tree.width, strict=True))
            if 4 * cells > MOST_HYBRID:
                raise MemoryLimitError(
                    f"cfr-br in {tree.rules.name}: the opponent who sees its cards needs {show_bytes(4 * cells)} before the "
                    f"last street, {show_bytes(MOST_HYBRID)} are allowed: take a game of two rounds"
                )
            self.hybrid = BucketTables(tree, counts)
        best = np.zeros((len(tree), tree.rules.deck.hand_count), np.int8)
        game = make_game(tree, whole, self.hybrid)
        learner = cfr_br_kernels.Learner(game, whole.look, self.hybrid.cells, board_room(tree))
        return cfr_br_kernels.Responder(learner, best)

    def _discount(self, period: int) -> None:
        if self.hybrid is not None and (factors := self.weighting.factors(period)) is not None:
            self.hybrid.discount(*factors, self.iterations)
        super()._discount(period)

    def _race(self, end: int) -> None:
        tally, payoff = np.zeros((self.threads, 2), np.int64), self._payoffs(2)
        deals = self._deals(self.iterations, end)
        given = self.game, self.cards.look, self.tables.cells, deals, self.tables.share

        def go(thread: int) -> None:
            self._train(*given, *self._rooms[thread], kernels.Tally(tally[thread], payoff[thread]))

        self._spread(go)
        self._count(tally, payoff)

    def state(self) -> dict[str, Array]:
        """All that is needed to go on. The table itself, not a copy."""
        more = {} if self.hybrid is None else {"hybrid": self.hybrid.cells}
        return {**super().state(), **more, "traversal": np.array([_NUMBERS.index(self.traversal)])}

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go on from a state: on one thread, exactly as if nothing had happened."""
        before = _NUMBERS[int(state["traversal"][0])] if "traversal" in state else "external"
        if before != self.traversal:
            raise InputError(f"state of a run by {before!r}: this one is by {self.traversal!r}")
        super().restore(state)
        if self.hybrid is not None:
            self.hybrid.cells[:] = state["hybrid"]


def _visits(tree: ActionTree) -> chance_kernels.Visits:
    places = len(tree)
    return chance_kernels.Visits(
        np.zeros(places, np.int32),
        np.zeros(places, np.int32),
        np.zeros((places, 2), np.float32),
        np.zeros(places, np.float32),
        np.zeros(places, np.float32),
    )


def hands_of(tree: ActionTree) -> public_kernels.Hands:
    """All hands of a deck, and their probabilities on the boards of each street."""
    rules, deck = tree.rules, tree.rules.deck
    if deck.hole > 2:
        raise InputError(f"{rules.name} deals {deck.hole} cards to a hand: public chance sampling takes one or two")
    ranks, shown = ranking_tables(rules.hole + rules.board_sizes[-1]), np.array(rules.board_sizes, np.int64)
    cards = np.full((deck.hand_count, 2), public_kernels.NO_CARD, np.uint8)
    cards[:, : deck.hole] = deck.hands
    left = [len(deck.cards) - int(n) for n in shown]
    hand = np.array([1.0 / comb(n, deck.hole) for n in left])
    return public_kernels.Hands(
        cards,
        np.bitwise_or.reduce(np.uint64(1) << deck.hands.astype(np.uint64), axis=1),
        ranks.key[deck.hands].sum(axis=1, dtype=np.uint64),
        ranks.mask[deck.hands].sum(axis=1, dtype=np.uint64),
        shown,
        hand / np.array([comb(n - deck.hole, deck.hole) for n in left]),
        hand,
    )


def board_room(tree: ActionTree) -> public_kernels.Board:
    """Room for a board and what it makes of the hands."""
    rules, hands = tree.rules, tree.rules.deck.hand_count
    streets, places = rules.rounds, 1 << (2 * hands).bit_length()
    return public_kernels.Board(
        cards=np.zeros(rules.hole + rules.board_sizes[-1], np.uint8),
        drawn=np.zeros(2, np.uint8),
        order=np.zeros(hands, np.int32),
        spare=np.zeros(hands, np.int32),
        first=np.zeros(hands, np.uint8),
        second=np.zeros(hands, np.uint8),
        strength=np.zeros(hands, np.uint16),
        rank=np.zeros(hands, np.uint16),
        live=np.zeros(streets, np.int64),
        member=np.zeros((streets, hands), np.int32),
        bucket=np.zeros((streets, hands), np.int64),
        kinds=np.zeros(streets, np.int64),
        known=np.zeros((streets, places), np.int64),
        number=np.zeros((streets, places), np.int32),
        digits=np.zeros(257, np.int64),
        place=np.zeros((streets, hands), np.int64),
        layers=np.zeros((BLOCK, streets), np.int64),
        numbers=np.zeros((BLOCK, 1, streets), np.int64),
        sums=np.zeros(53),
    )


def frames(tree: ActionTree) -> public_kernels.HandFrames:
    """Room for walks with vectors of hands."""
    hands, moves, levels = tree.rules.deck.hand_count, int(tree.count.max()), levels_of(tree)
    return public_kernels.HandFrames(
        node=np.zeros(levels, np.int64),
        move=np.zeros(levels, np.int64),
        reach=np.zeros((levels, 2, hands), np.float32),
        value=np.zeros((levels, 2, hands), np.float32),
        sigma=np.zeros((levels, moves, hands), np.float32),
        worth=np.zeros((levels, moves, hands)),
        held=np.zeros(hands),
        beats=np.zeros(hands),
    )


def levels_of(tree: ActionTree) -> int:
    """Nodes on the longest line."""
    above, levels = tree.parent[tree.actor < 0], 1
    while len(above):
        above, levels = tree.parent[above[above >= 0]], levels + 1
    return levels
