"""Distributed external sampling with head and blades on several levels, and the counts of the Tartanian7 paper.

Brown, Ganzfried & Sandholm (2015) have a head and blades, each of which owns all streets after its flops. Where a share
is too large for one machine, a blade can be the head of others. Leduc with a second public card (six cards, three
rounds) is small enough for exact exploitability: with three levels 1, 3 and 9 machines own one street each. The
experiment compares one, two and three levels at equal numbers of deals.

Cards are enumerated; sizes of games follow by arithmetic. The paper prints the number of nodes of its betting tree, and
of nodes, information sets and actions of its two games. The tree itself is not published, but these numbers are
consistent. With N betting nodes and B buckets after the flop a game has N · B² nodes (both players hold a bucket). Each
of B buckets has N - 1 actions: every node but the root is reached by one action. The few preflop nodes, with 169
buckets instead, do not change the printed digits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations, groupby
from math import comb
from typing import NamedTuple

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets, lossless_abstraction
from riverboat.abstraction.clustering.public_clusters import PublicBuckets, cluster_private
from riverboat.cards.deck import FULL_DECK
from riverboat.cards.isomorphism import HandIndexer, canonical_boards
from riverboat.cards.notation import parse_cards
from riverboat.cards.ranking import rank
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.evaluation.best_response.exact import quality
from riverboat.games.holdem.action_tree import ActionTree, compile_action_tree
from riverboat.games.holdem.rules import PokerRules
from riverboat.papers.framework import Curve, ExperimentReport, format_notes
from riverboat.papers.rows import ComparisonRow, new_row, printed_row
from riverboat.strategies.blueprint import Blueprint

# --- Trainer with head and blades on any number of levels ---

MAX_CARDS = 20  # the traversal is plain Python


@dataclass(eq=False)
class LevelMachine:
    """One machine: the tables of its streets in one public bucket."""

    number: int
    streets: range
    draws: tuple[int, ...]  # cards of its bucket, one of which it deals; empty for the head
    children: list[LevelMachine] = field(default_factory=list)
    regrets: dict[int, Array] = field(default_factory=dict)  # by street: float64 [buckets, width]
    averages: dict[int, Array] = field(default_factory=dict)
    regret_increments: dict[int, Array] = field(default_factory=dict)  # regrets of the current batch
    average_increments: dict[int, Array] = field(default_factory=dict)  # strategy sums of the current batch
    baselines: dict[int, Array] = field(default_factory=dict)  # values of opponent actions, by the traverser's bucket

    def subtree(self) -> Iterator[LevelMachine]:
        """Iterate over this machine and all machines below it."""
        yield self
        for blade in self.children:
            yield from blade.subtree()

    def apply_batch(self) -> None:
        """Add the increments of a batch to the tables."""
        for tables, increments in (self.regrets, self.regret_increments), (self.averages, self.average_increments):
            for street in self.streets:
                tables[street] += increments[street]
                increments[street][:] = 0


def _by_first_card(rules: PokerRules) -> CardAbstraction:
    """Return lossless buckets that separate the rank of the first public card: no two machines share a bucket."""
    deck, whole = rules.deck, lossless_abstraction(rules.board[1:], rules.deck)
    boards = canonical_boards(1, deck)[0]
    public = PublicBuckets(np.unique(boards[:, 0] // 4, return_inverse=True)[1].reshape(-1), 1, deck)
    streets = [whole.streets[0]]
    for street in range(1, rules.rounds):
        clusters = cluster_private(
            public, rules.board_sizes[street], lambda bucket, hands, weights: np.arange(len(hands))
        )
        streets.append(StreetBuckets(int(clusters.first[-1]), clusters.labels, clusters.layer, first=clusters.first))
    return CardAbstraction(tuple(streets), rules.board[1:], deck, public)


class _LevelDeal(NamedTuple):
    """The cards dealt on the path to a machine."""

    number: int
    hands: tuple[tuple[int, ...], tuple[int, ...]]
    traverser: int
    generators: dict[int, np.random.Generator]  # by machine, shared by both traversers
    boards: dict[int, tuple[int, ...]]  # dealt so far by each machine, shared by both traversers
    board: tuple[int, ...] = ()
    weight: float = 1.0  # probability of the draws on the path

    def dealt_cards(self, board: tuple[int, ...]) -> set[int]:
        return {*self.hands[0], *self.hands[1], *board}


class LevelTrainer:
    """External sampling of a limit game with one public card a round, on `levels` levels of machines.

    Tables are updated after every `batch` deals. `baseline` is the learning rate of baselines (Schmid et al. 2019);
    None for no baselines.
    """

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
            raise InputError(f"{rules.name}: levels of blades need a limit game that deals one public card a round")
        if len(rules.deck.cards) > MAX_CARDS:
            raise InputError(f"{rules.name}: levels of blades need a deck of at most {MAX_CARDS} cards")
        if not 1 <= levels <= rules.rounds:
            raise InputError(f"levels={levels}: must be 1 to {rules.rounds}, the number of rounds of {rules.name}")
        if batch < 1:
            raise InputError(f"batch={batch}: must be at least 1 deal")
        self.tree, self.cards, self.levels, self.seed, self.batch = tree, _by_first_card(rules), levels, seed, batch
        self.weighted = weighted  # weight updates by the probability of the draws; the paper's pseudocode omits it
        if baseline is not None and not 0 < baseline <= 1:
            raise InputError(f"baseline={baseline:g}: must be a rate above 0 and at most 1, or None")
        self.baseline = baseline
        self.iterations = 0
        self.messages = 0  # one for each machine and deal
        self.machines = 0
        self.head = self._make_machine(0, ())
        self._moves = [tuple(tree.children(node)) for node in range(len(tree))]
        self._bucket, self._rank = cache(self.cards.bucket), cache(rank)

    def _make_machine(self, street: int, draws: tuple[int, ...]) -> LevelMachine:
        rounds, last = self.tree.rules.rounds, street + 1 == self.levels
        machine = LevelMachine(self.machines, range(street, rounds if last else street + 1), draws)
        self.machines += 1
        for s in machine.streets:
            for table in ("regrets", "averages", "regret_increments", "average_increments", "baselines"):
                getattr(machine, table)[s] = np.zeros((self.cards.counts[s], int(self.tree.width[s])))
        if not last:
            of_rank = groupby(sorted(self.cards.deck.cards.tolist()), key=lambda card: card // 4)
            machine.children = [self._make_machine(street + 1, tuple(cards)) for _, cards in of_rank]
        return machine

    def step(self, iterations: int) -> None:
        """Train for a number of deals."""
        end = self.iterations + iterations
        while self.iterations < end:
            for _ in range(min(self.batch, end - self.iterations)):
                self._deal()
            for machine in self.head.subtree():
                machine.apply_batch()

    def _deal(self) -> None:
        rng = np.random.default_rng((self.seed, self.iterations))
        hole = self.cards.deck.hole
        hole_cards = [int(c) for c in rng.choice(self.cards.deck.cards, 2 * hole, replace=False)]
        hands = tuple(sorted(hole_cards[:hole])), tuple(sorted(hole_cards[hole:]))
        generators, boards = {0: rng}, dict[int, tuple[int, ...]]()
        for traverser in range(2):
            self._value(self.head, _LevelDeal(self.iterations, hands, traverser, generators, boards), 0)
        self.iterations += 1
        self.messages += sum(machine != 0 for machine in boards)

    def _generator(self, machine: LevelMachine, deal: _LevelDeal) -> np.random.Generator:
        """Return the random stream of a machine for a deal."""
        if machine.number not in deal.generators:
            deal.generators[machine.number] = np.random.default_rng((self.seed, deal.number, machine.number))
        return deal.generators[machine.number]

    def _value(self, machine: LevelMachine, deal: _LevelDeal, node: int) -> float:
        """Return the sampled value of a node to the traverser, as a machine computes it."""
        tree = self.tree
        actor, street = int(tree.actor[node]), int(tree.street[node])
        if actor < 0:
            payoff = float(tree.payoff[node]) * (self._compare_hands(deal) if tree.showdown[node] else 1)
            return payoff if deal.traverser == 0 else -payoff
        if street not in machine.streets:
            return self._value_from_children(machine, deal, node)
        if len(deal.board) < street:  # the last level deals the cards of all its streets
            deal = deal._replace(board=self._board(machine, deal, street))
        bucket = self._bucket(deal.hands[actor], deal.board[:street])
        slot, children = int(tree.slot[node]), self._moves[node]
        cells = bucket, slice(slot, slot + len(children))
        positive = np.maximum(machine.regrets[street][cells], 0.0)
        total = positive.sum()
        strategy = positive / total if total > 0 else np.full(len(children), 1.0 / len(children))
        if actor != deal.traverser:
            machine.average_increments[street][cells] += deal.weight * strategy
            rng = np.random.default_rng((self.seed, deal.number, machine.number, node, deal.traverser))
            chosen = int(rng.choice(len(children), p=strategy))
            value = self._value(machine, deal, children[chosen])
            if self.baseline is None:
                return value
            own_bucket = self._bucket(deal.hands[deal.traverser], deal.board[:street])
            expected = machine.baselines[street][own_bucket, cells[1]]
            surprise = value - float(expected[chosen])
            mean = float(strategy @ expected) + surprise
            expected[chosen] += self.baseline * surprise
            return mean
        values = np.array([self._value(machine, deal, child) for child in children])
        mean = float(strategy @ values)
        machine.regret_increments[street][cells] += deal.weight * (values - mean)
        return mean

    def _value_from_children(self, machine: LevelMachine, deal: _LevelDeal, node: int) -> float:
        """Return the mean of the children's values, weighted by the number of cards each could deal."""
        dealt = deal.dealt_cards(deal.board)
        remaining = [tuple(c for c in blade.draws if c not in dealt) for blade in machine.children]
        total, value = sum(map(len, remaining)), 0.0
        for blade, cards in zip(machine.children, remaining, strict=True):
            if not cards:
                continue
            if blade.number not in deal.boards:
                deal.boards[blade.number] = (*deal.board, int(self._generator(blade, deal).choice(cards)))
            probability = len(cards) / total
            weight = deal.weight * probability if self.weighted else 1.0
            child_deal = deal._replace(board=deal.boards[blade.number], weight=weight)
            value += probability * self._value(blade, child_deal, node)
        return value

    def _board(self, machine: LevelMachine, deal: _LevelDeal, street: int) -> tuple[int, ...]:
        """Return the board of a machine with several streets, up to one of them; deal missing cards."""
        board, rng = deal.boards.get(machine.number, deal.board), self._generator(machine, deal)
        while len(board) < street:
            dealt = deal.dealt_cards(board)
            board = (*board, int(rng.choice([c for c in self.cards.deck.cards.tolist() if c not in dealt])))
        deal.boards[machine.number] = board
        return board[:street]

    def _compare_hands(self, deal: _LevelDeal) -> int:
        """Return 1 if seat 0 has the better hand, -1 if the worse, 0 for a tie."""
        first, second = (self._rank(hand + deal.board) for hand in deal.hands)
        return (first > second) - (first < second)

    def strategy(self) -> Blueprint:
        """Return the average strategy of all machines."""
        averages = [machine.averages for machine in self.head.subtree()]
        streets = range(self.tree.rules.rounds)
        tables = tuple(np.sum([table[street] for table in averages if street in table], axis=0) for street in streets)
        return Blueprint(self.tree.rules, self.tree.menu, self.tree, self.cards, tables)


LEVELS = (1, 2, 3)


def three_round_leduc() -> ActionTree:
    """Return Leduc with a second public card, and one bet on each of the later rounds."""
    rules = PokerRules(
        limit=True, blinds=(1, 1), raise_sizes=(2, 4, 4), most_raises=(2, 1, 1), first=(1, 1, 1), suits=2, ranks=3, hole=1,
        board=(0, 1, 1), name="leduc of three rounds",
    )  # fmt: skip
    return compile_action_tree(rules)


def run_blade_levels(full: bool, seed: int) -> ExperimentReport:
    """Compare the exploitability of one, two and three levels of machines at equal numbers of deals."""
    return compare_levels((1_000, 4_000, 16_000) if full else (250, 1_000), seed)


def compare_levels(deals: tuple[int, ...], seed: int) -> ExperimentReport:
    """Measure the exploitability of each number of levels after numbers of deals."""
    tree = three_round_leduc()
    rows, curves = [], []
    for levels, weighted in [*((n, True) for n in LEVELS), (3, False)]:
        solver = LevelTrainer(tree, levels, seed, weighted=weighted)
        exploitability, name = [], f"{levels} level{'s' if levels > 1 else ''}{'' if weighted else ', not weighted'}"
        for count in deals:
            solver.step(count - solver.iterations)
            exploitability.append(quality(solver.strategy()).mbb_per_game)
            note = f"{solver.machines} machines, {solver.messages / solver.iterations:.1f} messages a deal"
            rows.append(new_row(f"{name}: {count:,} deals", exploitability[-1], note=note))
        curves.append(Curve(name, deals, exploitability, "exploitability against deals"))
    return ExperimentReport(rows, format_notes("blade-levels"), curves, log=True)


# --- Counts of the paper ---

NODES = 6_104_546  # nodes of the betting tree, including terminals
PUBLIC_BUCKETS, PRIVATE_BUCKETS = 60, 500  # buckets of flops, and of hands in each
BASELINE_BUCKETS = 5000  # on each street of the game without public buckets
CORES, HOURS = 16 * PUBLIC_BUCKETS + 1, 1200  # a blade for each public bucket, and the head
# Win rate against each opponent of 2014, mbb/g.
WIN_RATES_2014 = (261, 121, 21, 33, 20, 125, 499, 141, 214, 516, 980, 1474, 1819)
BYTES_PER_ACTION = 16  # a regret and a sum of probabilities, eight bytes each
BLADE_GIGABYTES, SERVER_GIGABYTES = 128, 512  # memory


def card_rows() -> list[ComparisonRow]:
    """Check the paper's counts of cards by enumeration."""
    boards, times = canonical_boards(3)
    deck = set(FULL_DECK.cards.tolist())
    example = [sum(1 for _ in combinations(deck - set(parse_cards(flop)), 2)) for flop in ("AsKhQd", "AsKhJd")]
    flops_left = sum(1 for _ in combinations(deck - set(parse_cards("AsKhQd2c")), 3))
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
        new_row("flops that two dealt hands leave", flops_left,
                note="C(48, 3): the weights of all blades"),
    ]  # fmt: skip


def game_rows() -> list[ComparisonRow]:
    """Check the printed numbers of nodes, information sets and actions of Tartanian7's game and of the baseline's."""
    buckets = PUBLIC_BUCKETS * PRIVATE_BUCKETS
    moves = float(NODES - 1)
    decisions = 1.1e10 / BASELINE_BUCKETS  # decision nodes, from the baseline's size; the larger game has as many
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
    """Check all counts of cards, game sizes and machines that the paper prints."""
    notes = format_notes("tartanian7-sizes", flops=comb(48, 3))
    return ExperimentReport((*card_rows(), *game_rows(), *machine_rows()), notes)
