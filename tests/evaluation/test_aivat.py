"""AIVAT: unbiased for any values over all hands, lower variance than the result, and invalid input."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations

import numpy as np
import pytest

from random_blueprints import random_blueprint
from reference.matches import all_hands
from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets, lossless_abstraction
from riverboat.agents.baselines import BaselineAgent
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.cards.isomorphism import HandIndexer
from riverboat.core.errors import InputError
from riverboat.evaluation.matches.aivat import Aivat
from riverboat.evaluation.matches.match import play_match
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.games.holdem.hand_records import HandRecords
from riverboat.games.holdem.menus import one_size_menu
from riverboat.games.holdem.rules import PokerRules, read_game
from riverboat.strategies.blueprint import Blueprint

# Two cards each of six, one card on the flop and one on the turn; a pot-sized raise of the other's is all-in.
TWO_CARDS = PokerRules(blinds=(100, 50), stacks=(600, 600), board=(0, 1, 1), hole=2, ranks=3, suits=2, name="six")
# A first board of two cards, of which most hands block some.
WIDE = PokerRules(blinds=(100, 50), stacks=(300, 300), board=(0, 2, 1), hole=1, ranks=3, suits=2, name="wide")
MENU = one_size_menu("100%", most_raises=2)


@cache
def blueprint(name: str, seed: int) -> Blueprint:
    if name == "leduc":
        return random_blueprint("leduc", seed)
    rules = {"six": TWO_CARDS, "wide": WIDE}[name]
    tree, cards = compile_action_tree(rules, MENU), lossless_abstraction(rules.board[1:], rules.deck)
    rng = np.random.default_rng(seed)
    shapes = [(cards.counts[street], int(tree.width[street])) for street in range(rules.rounds)]
    sums = tuple(rng.random(shape, np.float32) * (rng.random(shape) > 0.3) for shape in shapes)
    return Blueprint(rules, MENU, tree, cards, sums)


def agents(name: str) -> tuple[BlueprintAgent, BlueprintAgent]:
    first = BlueprintAgent(blueprint(name, 1), "first", seed=1)
    return first, BlueprintAgent(blueprint(name, 2), "second", post="threshold", share=0.3, seed=2)


@cache
def everything(name: str, way: int):
    first, second = agents(name)
    return all_hands(first, second, first.rules, way)


def arbitrary(aivat: Aivat) -> Aivat:
    """Replace the value tables by random numbers."""
    assert aivat.values is not None
    rng = np.random.default_rng(7)

    def spoilt(tables):
        after, begin = (
            tuple(rng.normal(0.5, 2, table.shape).astype(np.float32) for table in part)
            for part in (tables.after, tables.begin)
        )
        return replace(tables, after=after, begin=begin)

    aivat.values = spoilt(aivat.values[0]), spoilt(aivat.values[1])
    return aivat


QUICK = {("leduc", 0), ("six", 1), ("wide", 0)}  # the others are marked slow


@pytest.mark.parametrize(
    ("name", "way"),
    [
        pytest.param(name, way, marks=[] if (name, way) in QUICK else pytest.mark.slow)
        for name in ("leduc", "six", "wide")
        for way in (0, 1)
    ],
)
@pytest.mark.parametrize("known", [(True, True), (True, False), (False, True), (False, False)], ids=str)
def test_unbiased_for_any_values(name: str, known: tuple[bool, bool], way: int) -> None:
    """The mean over all hands, each with its probability, is the exact value."""
    first, second = agents(name)
    hands, chance = everything(name, way)
    assert chance.sum() == pytest.approx(1, abs=1e-12)
    exact = (chance * hands.won[:, way]).sum()
    spread = (chance * (hands.won[:, way] - exact) ** 2).sum()
    good = Aivat(first, second, first.rules, known=known, deals=3000)
    plain = Aivat(first, second, first.rules, known=known, use_corrections=False)
    variances = []
    for aivat in (good, arbitrary(Aivat(first, second, first.rules, known=known, deals=3000)), plain):
        total = aivat.estimate(hands).total
        assert (chance * total).sum() == pytest.approx(exact, abs=1e-9 * first.rules.big_blind)
        variances.append((chance * (total - exact) ** 2).sum())
    assert variances[2] <= (1 + 1e-9) * spread  # imaginary observations and all-ins
    assert variances[0] < (0.6 if all(known) else 1) * variances[2]
    assert variances[1] > variances[0]


def test_without_values_it_is_imaginary_observations() -> None:
    """With nothing corrected the estimate is the mean over the hands that known players may have held, by plain
    sums."""
    first, second = agents("leduc")
    hands, chance = everything("leduc", 0)
    total = Aivat(first, second, first.rules, known=(True, False), use_corrections=False).estimate(hands).total
    seen: dict[tuple[object, ...], list[float]] = {}
    keys = []
    for i in range(len(hands)):
        line = tuple(hands.moves[i, : hands.length[i]].tolist())
        showdown = hands.betting(i).folded is None
        streets = hands.betting(i).street
        board = hands.cards[i, 2] if streets or showdown else None
        key = line, int(hands.cards[i, 1]), board
        keys.append(key)
        weight = seen.setdefault(key, [0.0, 0.0])
        weight[0] += chance[i]
        weight[1] += chance[i] * float(hands.won[i, 0])
    expected = np.array([seen[key][1] / seen[key][0] for key in keys])
    assert total == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
def test_corrections_of_boards_with_the_full_deck() -> None:
    """52 cards, a flop and a turn: corrections equal plain means over all boards of two known hands."""
    rules = PokerRules(blinds=(100, 50), stacks=(1000, 1000), board=(0, 3, 1), name="turn")
    rng = np.random.default_rng(4)
    sizes = [HandIndexer.for_deck(rules.deck, (2, shown)).size() for shown in (3, 4)]
    streets = [StreetBuckets(20, rng.integers(0, 20, (1, size)).astype(np.uint16)) for size in sizes]
    cards = CardAbstraction((StreetBuckets(169), *streets), (3, 1))
    tree = compile_action_tree(rules, MENU)
    sums = tuple(rng.random((cards.counts[s], int(tree.width[s])), np.float32) for s in range(3))
    agent = BlueprintAgent(Blueprint(rules, MENU, tree, cards, sums), "one")
    kept: list[HandRecords] = []
    play_match(agent, agent, rules, 60, observe=kept.append)
    aivat = Aivat(agent, agent, rules, known=(False, False), deals=100)
    assert aivat.values is not None
    values = aivat.values[0]
    told = aivat.estimate(kept[0])
    tried = 0
    for i in np.flatnonzero(told.chance[:, 2]).tolist()[:3]:
        hand, way = kept[0], int(kept[0].player[i, 0])
        holes, board = (hand.hole(i, 0), hand.hole(i, 1)), hand.board(i)
        left = [card for card in range(52) if card not in (*holes[0], *holes[1])]
        line = hand.betting(i).line
        for street, boards in (
            (1, np.array([*combinations(left, 3)], np.uint8)),
            (2, np.array([[*board[:3], card] for card in left if card not in board[:3]], np.uint8)),
        ):
            node = tree.find("/".join(line.split("/")[:street]) + "/")
            row, seen = int(values.begin_row[node]), np.array([board[: boards.shape[1]]], np.uint8)

            def value(boards: np.ndarray, holes=holes, street=street, row=row, node=node) -> float:
                won = []
                for seat in (0, 1):
                    deals = np.concatenate([np.tile(np.array(holes[seat], np.uint8), (len(boards), 1)), boards], axis=1)
                    bucket = cards.buckets(deals)[:, 0, -1]
                    won.append(values.begin[street][seat, row, bucket].astype(float).mean())
                return 0.5 * float(tree.spent[node].sum()) * (won[0] - won[1])

            expected = (1 - 2 * way) * (value(boards) - value(seen))
            assert told.chance[i, street] == pytest.approx(expected, abs=1e-7)
            tried += 1
    assert tried == 6


def test_matches_agree_with_their_estimates() -> None:
    """Off-tree bets are translated at random, and AIVAT averages over it: result and estimate differ only by noise."""
    rules = replace(TWO_CARDS, stacks=(2000, 2000), name="deep six")
    cards = lossless_abstraction(rules.board[1:], rules.deck)

    def agent(size: str, seed: int) -> BlueprintAgent:
        menu = one_size_menu(size, most_raises=2)
        tree, rng = compile_action_tree(rules, menu), np.random.default_rng(seed)
        sums = tuple(rng.random((cards.counts[s], int(tree.width[s])), np.float32) for s in range(rules.rounds))
        return BlueprintAgent(Blueprint(rules, menu, tree, cards, sums), size, seed=seed)

    first, second = agent("70%", 1), agent("130%", 2)
    kept: list[object] = []
    play_match(first, second, rules, 8_000, observe=kept.append)
    aivat = Aivat(first, second, rules, deals=3000)
    gaps = np.concatenate(
        [
            aivat.estimate(hands).total - np.where(hands.player[:, 0] == 0, hands.won[:, 0], hands.won[:, 1])
            for hands in kept
        ]
    )
    pairs = gaps[0::2] + gaps[1::2]
    assert abs(pairs.mean()) < 4 * pairs.std() / len(pairs) ** 0.5


def test_threads_and_batches_change_nothing() -> None:
    first, second = agents("six")
    hands, _ = everything("six", 1)
    some = hands.take(np.arange(0, len(hands), 31))
    alone = Aivat(first, second, first.rules, deals=3000).estimate(some)
    spread = Aivat(first, second, first.rules, deals=3000, threads=2).estimate(some)
    assert alone.total.tobytes() == spread.total.tobytes()
    reverse = Aivat(first, second, first.rules, deals=3000).estimate(some.take(np.arange(len(some))[::-1]))
    assert alone.total.tobytes() == reverse.total[::-1].tobytes()


@dataclass
class Student:
    """Agent that plays one blueprint until it observes hands, then another."""

    now: BlueprintAgent
    later: BlueprintAgent
    name: str = "student"

    def check_rules(self, rules: PokerRules) -> None:
        self.now.check_rules(rules)

    def act(self, views):
        return self.now.act(views)

    def strategies(self, places, draw=None):
        return self.now.strategies(places, draw)

    def observe(self, hands) -> None:
        self.now = self.later


def test_estimates_of_an_agent_that_learns() -> None:
    """Each batch is estimated with the strategy that played it, without cached values of an earlier one."""
    first, second = agents("six")
    kept, told = [], []
    student = Student(first, second)
    play_match(
        student,
        first,
        first.rules,
        400,
        aivat=Aivat(student, first, first.rules, deals=500),
        observe=kept.append,
        on_estimates=told.append,
        batch_pairs=100,
    )
    for hands, found, agent in zip(kept, told, (first, second), strict=True):
        alone = Aivat(Student(agent, agent), first, first.rules, deals=500).estimate(hands)
        assert found.total == pytest.approx(alone.total, abs=1e-9)


def test_invalid_estimates() -> None:
    first, _ = agents("leduc")
    nolimit = read_game("nolimit-200bb")
    with pytest.raises(InputError, match="agent 'random'"):
        Aivat(BaselineAgent("random"), BaselineAgent("always-call"), nolimit, known=(True, True))
    kept: list[object] = []
    play_match(first, BaselineAgent("always-raise"), first.rules, 100, observe=kept.append)
    with pytest.raises(InputError, match=r"agent 'always-call' played 'r' at"):
        Aivat(first, BaselineAgent("always-call"), first.rules, deals=100).estimate(kept[0])
