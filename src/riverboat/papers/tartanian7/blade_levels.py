"""Head and blades on any number of levels, plainly, for small decks: what a cluster of clusters would compute.

    solver = BladeLevels(compile_actions(rules), levels=3)
    solver.step(2_000)
    solver.strategy()

Brown, Ganzfried & Sandholm (2015) have two levels: a head with the first street, and blades that own all later streets of
their public buckets (`cluster` is that, compiled). Here a blade may be a head itself: it owns one street of its bucket, and
blades below it own the streets after each public card that may follow. An iteration is one deal of hands. Every machine below
draws a card of its own bucket that the cards before leave, values all places that it is asked about, and answers; who asked
weights the answers by |F|, how many cards each could draw. What a machine learns is weighted by the chance of its draws, the
product of |F| over all cards along the way, so that increments are those of one deal of the whole game on average. That takes
as many messages as there are machines, whatever the number of levels, and each machine has the tables of its street alone.

Machines play the strategy of the start of a batch, and learn at its end. One level is plain external sampling.

`baseline` takes luck out of the opponent's draws (Schmid et al. 2019): what each move of the opponent was worth to a bucket
of the traverser is remembered, at that rate; a draw then counts as its distance from what was expected of it, and the
expectation over all moves is added, so that the mean stays what it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets, lossless
from riverboat.abstraction.clustering.public_clusters import PublicBuckets, cluster_private
from riverboat.cards.isomorphism import canonical_boards
from riverboat.cards.ranking import rank
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.games.holdem.rules import Rules
from riverboat.strategies.blueprint import BlueprintStrategy

MOST_CARDS = 20  # Python walks every place


@dataclass(eq=False)
class Machine:
    """One machine: the tables of some streets in one public bucket."""

    number: int
    streets: range
    draws: tuple[int, ...]  # cards of its bucket, one of which is dealt when it is asked; the head has none
    below: list[Machine] = field(default_factory=list)
    regrets: dict[int, Array] = field(default_factory=dict)  # by street: float64 [buckets, width]
    averages: dict[int, Array] = field(default_factory=dict)
    gained: dict[int, Array] = field(default_factory=dict)  # regrets of the batch
    played: dict[int, Array] = field(default_factory=dict)  # averages of the batch
    expected: dict[int, Array] = field(
        default_factory=dict
    )  # what moves of the opponent were worth, by the traverser's bucket

    def all(self) -> Iterator[Machine]:
        """It and those below."""
        yield self
        for blade in self.below:
            yield from blade.all()

    def learn(self) -> None:
        """At the end of a batch."""
        for street in self.streets:
            self.regrets[street] += self.gained[street]
            self.averages[street] += self.played[street]
            self.gained[street][:] = 0
            self.played[street][:] = 0


def _by_first_card(rules: Rules) -> CardAbstraction:
    """All hands on all boards, those apart whose first public card has another rank: no two machines share a bucket."""
    deck, whole = rules.deck, lossless(rules.board[1:], rules.deck)
    boards = canonical_boards(1, deck)[0]
    public = PublicBuckets(np.unique(boards[:, 0] // 4, return_inverse=True)[1].reshape(-1), 1, deck)
    streets = [whole.streets[0]]
    for street in range(1, rules.rounds):
        made = cluster_private(public, rules.board_sizes[street], lambda bucket, hands, weights: np.arange(len(hands)))
        streets.append(StreetBuckets(int(made.first[-1]), made.labels, made.layer, first=made.first))
    return CardAbstraction(tuple(streets), rules.board[1:], deck, public)


@dataclass(frozen=True)
class _Deal:
    """What is dealt on the way to a machine."""

    number: int
    hands: tuple[tuple[int, ...], tuple[int, ...]]
    board: tuple[int, ...]
    weight: float  # chance of the draws on the way

    @property
    def gone(self) -> set[int]:
        return {*self.hands[0], *self.hands[1], *self.board}


class BladeLevels:
    """A limit game of one public card a round, trained by machines on some levels."""

    def __init__(
        self,
        tree: ActionTree,
        levels: int = 2,
        seed: int = 0,
        batch: int = 32,
        weighted: bool = True,
        baseline: float | None = None,
    ) -> None:
        rules = tree.rules
        if not rules.limit or rules.board[0] or any(count != 1 for count in rules.board[1:]):
            raise InputError(f"{rules.name}: levels of blades are for limit games that deal one public card a round")
        if len(rules.deck.cards) > MOST_CARDS:
            raise InputError(f"{rules.name}: levels of blades are for decks of up to {MOST_CARDS} cards")
        if not 1 <= levels <= rules.rounds:
            raise InputError(f"levels={levels}: {rules.name} has {rules.rounds} rounds, so 1 to {rules.rounds}")
        if batch < 1:
            raise InputError(f"batch={batch}: deals that machines play with one strategy, at least 1")
        self.tree, self.cards, self.levels, self.seed, self.batch = tree, _by_first_card(rules), levels, seed, batch
        self.weighted = (
            weighted  # what machines learn, by the chance of their draws; the paper's pseudocode leaves it out
        )
        if baseline is not None and not 0 < baseline <= 1:
            raise InputError(f"baseline={baseline:g}: a rate above 0 and at most 1, or None")
        self.baseline = baseline
        self.iterations = 0
        self.messages = 0  # to machines, one for each deal that it is asked about
        self._count = 0
        self.head = self._machine(0, ())
        self._moves = [tuple(tree.children(node)) for node in range(len(tree))]
        self._buckets: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
        self._ranks: dict[tuple[int, ...], int] = {}

    def _machine(self, street: int, draws: tuple[int, ...]) -> Machine:
        rounds, last = self.tree.rules.rounds, street + 1 == self.levels
        made = Machine(self._count, range(street, rounds if last else street + 1), draws)
        self._count += 1
        for s in made.streets:
            for tables in (made.regrets, made.averages, made.gained, made.played, made.expected):
                tables[s] = np.zeros((self.cards.counts[s], int(self.tree.width[s])))
        if not last:
            ranks = sorted({card // 4 for card in self.cards.deck.cards.tolist()})
            of_rank = [tuple(c for c in self.cards.deck.cards.tolist() if c // 4 == rank) for rank in ranks]
            made.below = [self._machine(street + 1, bucket) for bucket in of_rank]
        return made

    @property
    def machines(self) -> int:
        """How many there are."""
        return self._count

    def step(self, iterations: int) -> None:
        """Train for so many deals."""
        end = self.iterations + iterations
        while self.iterations < end:
            for _ in range(min(self.batch, end - self.iterations)):
                self._deal()
            for machine in self.head.all():
                machine.learn()

    def _deal(self) -> None:
        rng = np.random.default_rng((self.seed, self.iterations))
        hole = self.cards.deck.hole
        drawn = [int(c) for c in rng.choice(self.cards.deck.cards, 2 * hole, replace=False)]
        hands = tuple(sorted(drawn[:hole])), tuple(sorted(drawn[hole:]))
        deal = _Deal(self.iterations, hands, (), 1.0)
        asked = {0: rng}  # one stream of random numbers for each machine and deal, however often it is asked
        boards: dict[int, tuple[int, ...]] = {}
        for traverser in range(2):
            self._value(self.head, deal, 0, traverser, asked, boards)
        self.iterations += 1
        self.messages += sum(machine != 0 for machine in boards)

    # --- walks ------------------------------------------------------------------------------------

    def _value(
        self,
        machine: Machine,
        deal: _Deal,
        node: int,
        me: int,
        asked: dict[int, np.random.Generator],
        boards: dict[int, tuple[int, ...]],
    ) -> float:
        """What a place is worth to the traverser, as a machine finds it."""
        tree = self.tree
        actor, street = int(tree.actor[node]), int(tree.street[node])
        if actor < 0:
            return self._paid(node, deal, me)
        if street not in machine.streets:
            return self._from_below(machine, deal, node, me, asked, boards)
        if len(deal.board) < street:  # the last level deals the cards of all its streets itself
            board = self._board(machine, deal, street, asked, boards)
            deal = _Deal(deal.number, deal.hands, board, deal.weight)
        bucket = self._bucket(deal.hands[actor], deal.board[:street])
        slot, children = int(tree.slot[node]), self._moves[node]
        place = bucket, slice(slot, slot + len(children))
        positive = np.maximum(machine.regrets[street][place], 0.0)
        total = positive.sum()
        sigma = positive / total if total > 0 else np.full(len(children), 1.0 / len(children))
        if actor != me:
            machine.played[street][place] += deal.weight * sigma
            rng = np.random.default_rng((self.seed, deal.number, machine.number, node, me))
            chosen = int(rng.choice(len(children), p=sigma))
            value = self._value(machine, deal, children[chosen], me, asked, boards)
            if self.baseline is None:
                return value
            expected = machine.expected[street][self._bucket(deal.hands[me], deal.board[:street]), place[1]]
            surprise = value - float(expected[chosen])
            mean = float(sigma @ expected) + surprise
            expected[chosen] += self.baseline * surprise
            return mean
        values = np.array([self._value(machine, deal, child, me, asked, boards) for child in children])
        mean = float(sigma @ values)
        machine.gained[street][place] += deal.weight * (values - mean)
        return mean

    def _from_below(
        self,
        machine: Machine,
        deal: _Deal,
        node: int,
        me: int,
        asked: dict[int, np.random.Generator],
        boards: dict[int, tuple[int, ...]],
    ) -> float:
        """Answers of the machines below, weighted by how many cards each could draw."""
        left = [tuple(c for c in blade.draws if c not in deal.gone) for blade in machine.below]
        flops, value = sum(map(len, left)), 0.0
        for blade, cards in zip(machine.below, left, strict=True):
            if not cards:
                continue
            if blade.number not in boards:
                rng = asked.setdefault(blade.number, np.random.default_rng((self.seed, deal.number, blade.number)))
                boards[blade.number] = (*deal.board, int(rng.choice(cards)))
            chance = len(cards) / flops
            weight = deal.weight * chance if self.weighted else 1.0
            there = _Deal(deal.number, deal.hands, boards[blade.number], weight)
            value += chance * self._value(blade, there, node, me, asked, boards)
        return value

    def _board(
        self,
        machine: Machine,
        deal: _Deal,
        street: int,
        asked: dict[int, np.random.Generator],
        boards: dict[int, tuple[int, ...]],
    ) -> tuple[int, ...]:
        """The board of a machine that has several streets, up to one of them."""
        known = boards.get(machine.number, deal.board)
        rng = asked.setdefault(machine.number, np.random.default_rng((self.seed, deal.number, machine.number)))
        while len(known) < street:
            held = {*deal.hands[0], *deal.hands[1], *known}
            known = (*known, int(rng.choice([c for c in self.cards.deck.cards.tolist() if c not in held])))
        boards[machine.number] = known
        return known[:street]

    def _paid(self, node: int, deal: _Deal, me: int) -> float:
        tree = self.tree
        pay = float(tree.pay[node])
        if tree.showdown[node]:
            pay *= self._better(deal)
        return pay if me == 0 else -pay

    def _better(self, deal: _Deal) -> int:
        """1 where seat 0's hand is better, -1 where it is worse."""
        ours, theirs = (self._rank(hand + deal.board) for hand in deal.hands)
        return (ours > theirs) - (ours < theirs)

    def _rank(self, held: tuple[int, ...]) -> int:
        if held not in self._ranks:
            self._ranks[held] = rank(held)
        return self._ranks[held]

    def _bucket(self, hand: tuple[int, ...], board: tuple[int, ...]) -> int:
        known = self._buckets.get((hand, board))
        if known is None:
            known = self._buckets[hand, board] = self.cards.bucket(hand, board)
        return known

    # --- what has been learned --------------------------------------------------------------------

    def strategy(self) -> BlueprintStrategy:
        """The averages of all machines."""
        tables = []
        for street in range(self.tree.rules.rounds):
            parts = [machine.averages[street] for machine in self.head.all() if street in machine.streets]
            tables.append(np.sum(parts, axis=0))
        return BlueprintStrategy(self.tree.rules, self.tree.menu, self.tree, self.cards, tuple(tables))
