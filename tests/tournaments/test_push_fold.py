"""Push or fold: pots, prizes, counterfactual values against all deals of small decks, and equilibria."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from reference.all_in import classes_of, play
from riverboat.cards.deck import Deck
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.tournaments.equilibrium import deviation_gains, share_of_hands, solve
from riverboat.tournaments.hand_tables import (
    TRIPLE_ORDERS,
    HandTables,
    ThreeWayShowdowns,
    TwoWayShowdowns,
    count_three_way,
    count_two_way,
    triple_index,
)
from riverboat.tournaments.icm import ICM
from riverboat.tournaments.many_players import ManyPlayerPushFold
from riverboat.tournaments.push_fold import PushFold, split_pots
from riverboat.tournaments.stage_game import PushFoldStage

SMALL, BOARD = Deck.small(4, 2), 1  # 28 hands in 16 classes; four hands and a board use the whole deck


# --- Pots and prizes ---


def test_side_pots() -> None:
    """The shortest stack wins the main pot, the second best hand the side pot, and unmatched chips go back."""
    assert split_pots([5, 10, 20], [0, 1, 2]) == [15, 10, 10]
    assert split_pots([5, 10, 20], [2, 1, 0]) == [0, 0, 35]
    assert split_pots([5, 10, 10], [0, 0, 2]) == [7.5, 17.5, 0]
    assert split_pots([1, 10, 10], [None, 1, 0]) == [0, 0, 21]
    assert split_pots([4, 2, 2], [None, 0, 1]) == [0, 8, 0]  # a blind larger than the other stacks


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 4), st.booleans()), min_size=2, max_size=6))
def test_pots_are_shared_chip_by_chip(players: list[tuple[int, int, bool]]) -> None:
    contributions = [chips for chips, _, _ in players]
    strength = [s if shows or i == 0 else None for i, (_, s, shows) in enumerate(players)]
    ranks = [
        None if s is None else sum(o is not None and o > s for o in strength) for s in strength
    ]  # number of better hands
    expected = [0.0] * len(contributions)
    shows = [i for i, rank in enumerate(ranks) if rank is not None]
    for chip in range(1, max(contributions) + 1):
        payers = [i for i, chips in enumerate(contributions) if chips >= chip]
        eligible = [i for i in payers if i in shows] or [
            i for i in shows if contributions[i] == max(contributions[j] for j in shows)
        ]
        best = max(strength[i] for i in eligible)  # type: ignore[type-var]
        winners = [i for i in eligible if strength[i] == best]
        for i in winners:
            expected[i] += len(payers) / len(winners)
    found = split_pots(contributions, ranks)
    assert found == pytest.approx(expected)
    assert sum(found) == pytest.approx(sum(contributions))


def test_eliminated_players_are_ranked_by_initial_stacks() -> None:
    spot = PushFold((6, 4, 10), payouts=(50, 30, 20))
    both_out = spot.final_stacks("JJJ", (1, 2, 0))
    assert both_out == (0, 0, 20)
    assert spot.payoffs(np.array([both_out]))[0].tolist() == [30, 20, 50]
    level = PushFold((5, 5, 10), payouts=(50, 30, 20))
    assert level.payoffs(np.array([level.final_stacks("JJJ", (1, 2, 0))]))[0].tolist() == [25, 25, 50]
    alive = spot.final_stacks("JFJ", (0, None, 1))
    assert alive == (12.5, 3.5, 4)
    assert spot.payoffs(np.array([alive]))[0] == pytest.approx(ICM(alive, (50, 30, 20)).values)


def test_lines_and_blinds() -> None:
    spot = PushFold((10, 10, 0.7), blinds=(0.5, 1), ante=0.1)
    assert spot.lines == ("", "J", "F", "JJ", "JF", "FJ")
    assert spot.terminal_lines == ("JJJ", "JJF", "JFJ", "JFF", "FJJ", "FJF", "FFF")
    assert spot.posted == pytest.approx((0.1, 0.6, 0.7))  # a stack smaller than the blind
    assert sum(spot.final_stacks("FFF", ())) == pytest.approx(20.7)
    assert PushFold((1,) * 9).positions[0] == "UTG"
    assert len(PushFold((1,) * 9).lines) == 2**9 - 2


@pytest.mark.parametrize(
    ("spot", "message"),
    [
        ({"stacks": (10,)}, "1 stacks: 2 to 9"),
        ({"stacks": (10, -1)}, "stacks: number 2"),
        ({"stacks": (10, 10), "blinds": (1, 0.5)}, "blinds"),
        ({"stacks": (10, 10), "ante": float("inf")}, "ante: number 1 is inf"),
        ({"stacks": (10, 10), "payouts": (3, 2, 1)}, "3 payouts for 2"),
    ],
)
def test_invalid_spots(spot: dict[str, tuple[float, ...]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        PushFold(**spot)


# --- Decisions ---


def stage(spot: PushFold) -> PushFoldStage:
    group = classes_of(SMALL)
    two = count_two_way(SMALL, group, board=BOARD) if spot.players == 2 else None
    three = count_three_way(SMALL, group, board=BOARD) if spot.players == 3 else None
    return PushFoldStage(spot, HandTables.from_showdowns(SMALL, group, two, three, BOARD))


@pytest.mark.parametrize(
    "spot",
    [
        PushFold((6, 4)),
        PushFold((3, 9), ante=0.25, payouts=(70, 30)),
        pytest.param(PushFold((6, 4, 9), payouts=(50, 30, 20)), marks=pytest.mark.slow),
        pytest.param(PushFold((2, 8, 5), ante=0.5), marks=pytest.mark.slow),
    ],
)
def test_counterfactual_values_against_all_deals(spot: PushFold) -> None:
    game = stage(spot)
    strategy = np.random.default_rng(1).random((len(game.lines), game.classes))

    def payoffs(line: str, order: tuple[int, ...]) -> tuple[float, ...]:
        all_in = [i for i, move in enumerate(line) if move == "J"]
        ranks = [sum(order[j] < order[i] for j in all_in) if i in all_in else None for i in range(len(line))]
        return tuple(spot.payoffs(np.array([spot.final_stacks(line, ranks)]))[0])

    expected, values = play(SMALL, BOARD, spot.players, game.lines, strategy, payoffs)
    assert game.counterfactual_values(strategy) == pytest.approx(expected, abs=2e-5)
    assert game.values(strategy) == pytest.approx(values, abs=1e-4)


def test_two_players_against_a_linear_program() -> None:
    """The small blind's maximin value: for each class the big blind folds or calls, whichever costs it less."""
    spot = PushFold((5, 5))
    game = stage(spot)
    n, table = game.classes, count_two_way(SMALL, classes_of(SMALL), board=BOARD)
    weight = table.hands / table.hands.sum()
    called = weight * (5 * (2 * table.wins + table.ties - 1))
    stolen = weight * 1.0
    folds = -0.5 * weight.sum(axis=1)
    # maximize Σ x folds' + Σ t, t_b ≤ x · called_b, t_b ≤ x · stolen_b
    cost = np.concatenate([folds, -np.ones(n)])  # of -(Σ folds (1 - x) + Σ t)
    limits = np.block([[-called.T, np.eye(n)], [-stolen.T, np.eye(n)]])
    found = linprog(cost, limits, np.zeros(2 * n), bounds=[(0, 1)] * n + [(None, None)] * n)
    best = folds.sum() - found.fun
    for method, epsilon in (("cfr", 3e-4), ("fp", 5e-3)):
        solved = solve(game, method, 3000, until=epsilon)
        assert solved.epsilon <= epsilon
        assert solved.values[0] == pytest.approx(best, abs=2 * epsilon)
        assert solved.values.sum() == pytest.approx(0, abs=1e-5)


def test_three_players() -> None:
    game = stage(PushFold((5, 4, 8), payouts=(50, 30, 20)))
    iterations: list[int] = []
    solved = solve(game, "cfr", 500, until=0.02, progress=lambda t, _: iterations.append(t))
    assert (
        solved.epsilon
        <= 0.02
        < deviation_gains(
            game, np.full_like(solved.strategy, 0.5), game.counterfactual_values(np.full_like(solved.strategy, 0.5))
        ).max()
    )
    assert solved.values.sum() == pytest.approx(100, abs=1e-3)
    assert iterations == sorted(iterations)
    with pytest.raises(InputError, match="'cfg'"):
        solve(game, "cfg")
    with pytest.raises(InputError, match=r"^4 players"):
        PushFoldStage(PushFold((1, 1, 1, 1)))


# --- More players ---


@cache
def tables_of(deck: Deck, board: int) -> tuple[TwoWayShowdowns, ThreeWayShowdowns]:
    return count_two_way(deck, classes_of(deck), board=board), count_three_way(deck, classes_of(deck), board=board)


def ring(spot: PushFold, deck: Deck, board: int, samples: int = 200) -> ManyPlayerPushFold:
    tables = HandTables.from_showdowns(deck, classes_of(deck), *tables_of(deck, board), board)
    return ManyPlayerPushFold(spot, samples=samples, tables=tables)


def test_four_players_by_definition() -> None:
    """Compare with the definition: others' actions given the own class, showdowns from the tables, or sampled with
    four.
    """
    deck = Deck.small(5, 2)
    spot = PushFold((6, 4, 9, 5), ante=0.1, payouts=(50, 30, 20))
    game = ring(spot, deck, 1)
    strategy = np.random.default_rng(2).random((len(game.lines), game.classes))
    found = game.counterfactual_values(strategy)
    tables = game.tables
    line = "FJ"  # behind one all-in, with one player left to act
    for c in range(0, game.classes, 6):
        jam_probability = {
            other_line: float(tables.opponent_probabilities[c] @ strategy[k]) for other_line, k in game.lines.items()
        }
        expected = 0.0
        for last in "JF":
            end = line + "J" + last
            others = [strategy[game.lines["F"]], *([strategy[game.lines["FJJ"]]] if last == "J" else [])]
            probability = (
                (1 - jam_probability[""])
                * jam_probability["F"]
                * (jam_probability["FJJ"] if last == "J" else 1 - jam_probability["FJJ"])
            )
            expected += probability * showdown(game, end, c, others)
        assert found[game.lines[line], 0, c] == pytest.approx(tables.class_probabilities[c] * expected, rel=1e-4)


def showdown(game: ManyPlayerPushFold, end: str, c: int, others: list[Array]) -> float:
    """Return the third player's expected payoff with a class, against seat two and optionally seat four."""
    all_in = [i for i, move in enumerate(end) if move == "J"]
    total = mean = 0.0
    two, three = tables_of(game.tables.deck, game.tables.board)
    orders = ((0, 1), (1, 0), (0, 0)) if len(all_in) == 2 else TRIPLE_ORDERS
    money = []
    for order in orders:
        ranks: list[int | None] = [None] * 4
        for i, rank in zip(all_in, order, strict=True):
            ranks[i] = rank
        money.append(game.spot.payoffs(np.array([game.spot.final_stacks(end, ranks)]))[0, 2])
    for classes in product(range(game.classes), repeat=len(others)):
        weight = np.prod([x[k] for x, k in zip(others, classes, strict=True)])
        if len(all_in) == 2:
            win, tie = two.wins[classes[0], c], two.ties[classes[0], c]
            probabilities = np.array([win, 1 - win - tie, tie])
            weight *= two.hands[classes[0], c]
        else:
            triple = (classes[0], c, classes[1])
            probabilities = three.orders(*triple)
            weight *= three.hands[triple_index(*sorted(triple))]
        mean += weight * float(probabilities @ money)
        total += weight
    return mean / total


@pytest.mark.slow
def test_many_players_with_other_samples() -> None:
    game = ring(PushFold((6, 4, 9, 5, 6), payouts=(50, 30, 20)), Deck.small(6, 2), 1, samples=2000)
    solved = solve(game, "cfr", 63, until=0.3)
    other = game.resample(seed=9)
    again = deviation_gains(other, solved.strategy, other.counterfactual_values(solved.strategy)).max()
    assert solved.epsilon <= 0.3
    assert again < 1.0
    assert solved.values.sum() == pytest.approx(
        100, rel=0.1
    )  # players are treated as independent, and the deck is small
    with pytest.raises(InputError, match="2 players"):
        ManyPlayerPushFold(PushFold((1, 1)), tables=game.tables)


def best_guarantee(tables: HandTables, stack: float, player: int, share: float | None = None) -> float:
    """Return a player's maximin value in chips by a linear program; with `share`, at this frequency, to one decimal."""
    n, fold, stolen = tables.classes, -0.5 * tables.class_probabilities, tables.pair_probabilities
    called = stack * (tables.pair_orders[0] - tables.pair_orders[1])
    one, none = np.eye(n), np.zeros((n, n))
    if player == 0:  # maximize Σ fold (1 - x) + Σ t, t at most the value after a call or a fold
        cost, limits = np.concatenate([fold, -np.ones(n)]), np.block([[-called.T, one], [-stolen.T, one]])
        most = np.zeros(2 * n)
    else:  # minimize Σ s, s at least the first player's value of folding and of going all-in
        cost, limits = np.concatenate([np.zeros(n), np.ones(n)]), np.block([[none, -one], [called - stolen, -one]])
        most = np.concatenate([-fold, -stolen.sum(axis=1)])
    if share is not None:
        hands = np.concatenate([100 * share_of_hands(np.eye(n)), np.zeros(n)])
        limits, most = np.vstack([limits, hands, -hands]), np.concatenate([most, [share + 0.05, 0.05 - share]])
    found = linprog(cost, limits, most, bounds=[(0, 1)] * n + [(None, None)] * n)
    return float(fold.sum() - found.fun if player == 0 else -found.fun)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("blinds", "jam", "call", "value"),
    [
        (3, 77.7, 92.8, 0.052),
        (5, 71.4, 62.1, 0.056),
        (7, 66.2, 48.5, 0.017),
        (10, 58.3, 37.5, -0.045),
        (12, 53.5, 33.0, -0.082),
        (15, 45.7, 28.2, -0.127),
        (20, 40.2, 21.7, -0.183),
        (25, 36.1, 17.4, -0.229),
    ],
)
def test_heads_up_table(blinds: float, jam: float, call: float, value: float) -> None:
    """Published equilibria of the small blind against the big blind, in % of hands.

    Six of the sixteen shares are possible in an exact equilibrium, which is unique at 12 and at 25 big blinds; all of
    them are possible for players who give up 0.00002 big blinds.
    """
    game = PushFoldStage(PushFold((blinds, blinds)))
    solved = solve(game, "cfr", 2000)
    assert solved.epsilon < 1e-5
    for player, share in enumerate((jam, call)):
        best = best_guarantee(game.tables, blinds, player)
        assert solved.values[player] == pytest.approx(best, abs=1e-5)
        assert best == pytest.approx(value if player == 0 else -value, abs=5.5e-4)
        assert best - best_guarantee(game.tables, blinds, player, share) < 2.5e-5
