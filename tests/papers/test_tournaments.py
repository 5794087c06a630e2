"""Reproductions of the tournament: parts by hand, and slow tests on the solved tournament."""

from __future__ import annotations

import numpy as np
import pytest

from reference.all_in import classes_of
from riverboat.cards.deck import Deck
from riverboat.papers.registry import find
from riverboat.papers.tournaments import mixing_rows, order_rows, rank_karlson_sklansky, value_iteration_rows
from riverboat.tournaments.hand_tables import HandTables, count_two_way
from riverboat.tournaments.run import SolvedTournament
from riverboat.tournaments.tournament import Tournament


def played(*opens: dict[int, float]) -> SolvedTournament:
    """Return a tournament of four units whose button goes all-in with these classes in its three states."""
    tournament = Tournament(3, 4.0, 1.0, (1.0, 2.0))
    strategies = [np.zeros((2, 169)) for _ in range(3)] + [np.zeros((6, 169)) for _ in opens]
    for strategy, frequencies in zip(strategies[3:], opens, strict=True):
        for number, frequency in frequencies.items():
            strategy[0, number] = frequency
    num_pairs = int(tournament.first_seat_index[-1])
    return SolvedTournament(tournament, "pi-fp", 1, strategies, np.zeros(num_pairs), np.zeros(num_pairs), 0.0)


def test_orders_of_hands() -> None:
    (row,), _ = order_rows(played({0: 1, 1: 1}, {0: 1}, {}))
    assert (row.ours, row.passes) == (0, False)
    (row,), words = order_rows(played({0: 1}, {1: 1}, {2: 0.5}))
    assert (row.ours, row.passes) == (1, True)
    assert "AA without AKs in 1 states" in words


def test_mixing() -> None:
    some, none = mixing_rows(played({0: 0.5}, {}, {0: 0.99}))
    assert some.ours == pytest.approx(6 / 1326 / 18)  # AA, in one of three states and six lines
    assert none.ours == pytest.approx(17 / 18)


def test_value_iteration() -> None:
    assert all(row.passes for row in value_iteration_rows())


def test_karlson_sklansky_ranking() -> None:
    """By definition, hand by hand: the stack at which an all-in with open cards stops gaining."""
    deck = Deck.small(5, 2)
    two = count_two_way(deck, classes_of(deck), board=2)
    order = rank_karlson_sklansky(HandTables.from_showdowns(deck, classes_of(deck), two, None, 2))

    def gain(hand: int, stack: float) -> float:
        total = 0.0
        for other in range(len(order)):
            share = two.wins[other, hand] + two.ties[other, hand] / 2
            called = share * 2 * stack > stack - 1
            value = (1 - share) * 2 * stack - stack if called else 1.0
            total += two.hands[hand, other] / two.hands[hand].sum() * (value + 0.5)
        return total

    stacks = np.linspace(0.6, 40, 400)
    largest = [max((s for s in stacks if gain(int(hand), s) > 0), default=0.0) for hand in order]
    assert largest == sorted(largest, reverse=True)
    assert largest[0] > largest[-1]


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", ["epsilon", "icm", "calls", "findings"])
def test_all_rows_agree(name: str) -> None:
    report = find(f"tournament-{name}").run(full=False, seed=0)
    assert [row.name for row in report.rows if not row.passes] == []
