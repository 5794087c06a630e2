"""Push or fold: pots, prizes, what decisions are worth against all deals of small decks, and equilibria."""

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
from riverboat.tournaments.equilibrium import gains, share_of_hands, solve
from riverboat.tournaments.hand_tables import HandTables
from riverboat.tournaments.icm import ICM
from riverboat.tournaments.many_players import Ring
from riverboat.tournaments.push_fold import PushFold, share_pots
from riverboat.tournaments.showdown_orders import ORDERS, ThreeWay, TwoWay, count, count_two, triple_index
from riverboat.tournaments.stage import Stage

SMALL, BOARD = Deck.small(4, 2), 1  # 28 hands in 16 classes; four hands and a board leave nothing


# --- pots and prizes --------------------------------------------------------------------------


def test_side_pots() -> None:
    """The shortest stack wins the main pot, the second best the side pot, and what nobody matched goes back."""
    assert share_pots([5, 10, 20], [0, 1, 2]) == [15, 10, 10]
    assert share_pots([5, 10, 20], [2, 1, 0]) == [0, 0, 35]
    assert share_pots([5, 10, 10], [0, 0, 2]) == [7.5, 17.5, 0]
    assert share_pots([1, 10, 10], [None, 1, 0]) == [0, 0, 21]
    assert share_pots([4, 2, 2], [None, 0, 1]) == [0, 8, 0]  # a blind larger than what the others have


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 4), st.booleans()), min_size=2, max_size=6))
def test_pots_are_shared_chip_by_chip(players: list[tuple[int, int, bool]]) -> None:
    put = [chips for chips, _, _ in players]
    strength = [s if shows or i == 0 else None for i, (_, s, shows) in enumerate(players)]
    ranks = [
        None if s is None else sum(o is not None and o > s for o in strength) for s in strength
    ]  # how many are better
    wanted = [0.0] * len(put)
    shows = [i for i, rank in enumerate(ranks) if rank is not None]
    for chip in range(1, max(put) + 1):
        payers = [i for i, chips in enumerate(put) if chips >= chip]
        able = [i for i in payers if i in shows] or [i for i in shows if put[i] == max(put[j] for j in shows)]
        best = max(strength[i] for i in able)  # type: ignore[type-var]
        winners = [i for i in able if strength[i] == best]
        for i in winners:
            wanted[i] += len(payers) / len(winners)
    found = share_pots(put, ranks)
    assert found == pytest.approx(wanted)
    assert sum(found) == pytest.approx(sum(put))


def test_who_is_out_is_paid_by_the_stack_of_before() -> None:
    spot = PushFold((6, 4, 10), payouts=(50, 30, 20))
    both_out = spot.after("JJJ", (1, 2, 0))
    assert both_out == (0, 0, 20)
    assert spot.worth(np.array([both_out]))[0].tolist() == [30, 20, 50]
    level = PushFold((5, 5, 10), payouts=(50, 30, 20))
    assert level.worth(np.array([level.after("JJJ", (1, 2, 0))]))[0].tolist() == [25, 25, 50]
    alive = spot.after("JFJ", (0, None, 1))
    assert alive == (12.5, 3.5, 4)
    assert spot.worth(np.array([alive]))[0] == pytest.approx(ICM(alive, (50, 30, 20)).values)


def test_lines_and_blinds() -> None:
    spot = PushFold((10, 10, 0.7), blinds=(0.5, 1), ante=0.1)
    assert spot.lines == ("", "J", "F", "JJ", "JF", "FJ")
    assert spot.ends == ("JJJ", "JJF", "JFJ", "JFF", "FJJ", "FJF", "FFF")
    assert spot.posted == pytest.approx((0.1, 0.6, 0.7))  # a stack that cannot pay the blind
    assert sum(spot.after("FFF", ())) == pytest.approx(20.7)
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
def test_bad_spots(spot: dict[str, tuple[float, ...]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        PushFold(**spot)


# --- decisions --------------------------------------------------------------------------------


def stage(spot: PushFold) -> Stage:
    group = classes_of(SMALL)
    two = count_two(SMALL, group, board=BOARD) if spot.players == 2 else None
    three = count(SMALL, group, board=BOARD) if spot.players == 3 else None
    return Stage(spot, HandTables.of(SMALL, group, two, three, BOARD))


@pytest.mark.parametrize(
    "spot",
    [
        PushFold((6, 4)),
        PushFold((3, 9), ante=0.25, payouts=(70, 30)),
        pytest.param(PushFold((6, 4, 9), payouts=(50, 30, 20)), marks=pytest.mark.slow),
        pytest.param(PushFold((2, 8, 5), ante=0.5), marks=pytest.mark.slow),
    ],
)
def test_decisions_are_worth_what_all_deals_say(spot: PushFold) -> None:
    game = stage(spot)
    strategy = np.random.default_rng(1).random((len(game.lines), game.classes))

    def worth(line: str, order: tuple[int, ...]) -> tuple[float, ...]:
        inside = [i for i, move in enumerate(line) if move == "J"]
        ranks = [sum(order[j] < order[i] for j in inside) if i in inside else None for i in range(len(line))]
        return tuple(spot.worth(np.array([spot.after(line, ranks)]))[0])

    wanted, values = play(SMALL, BOARD, spot.players, game.lines, strategy, worth)
    assert game.counterfactual(strategy) == pytest.approx(wanted, abs=2e-5)
    assert game.values(strategy) == pytest.approx(values, abs=1e-4)


def test_two_players_against_a_linear_program() -> None:
    """The small blind's best guarantee: for each class the big blind folds or calls, whichever costs it less."""
    spot = PushFold((5, 5))
    game = stage(spot)
    n, table = game.classes, count_two(SMALL, classes_of(SMALL), board=BOARD)
    weight = table.hands / table.hands.sum()
    called = weight * (5 * (2 * table.wins + table.ties - 1))
    stolen = weight * 1.0
    folds = -0.5 * weight.sum(axis=1)
    # maximise Σ x folds' + Σ t, t_b ≤ x · called_b, t_b ≤ x · stolen_b
    cost = np.concatenate([folds, -np.ones(n)])  # of -(Σ folds (1 - x) + Σ t)
    limits = np.block([[-called.T, np.eye(n)], [-stolen.T, np.eye(n)]])
    found = linprog(cost, limits, np.zeros(2 * n), bounds=[(0, 1)] * n + [(None, None)] * n)
    best = folds.sum() - found.fun
    for method, epsilon in (("cfr", 3e-4), ("fp", 5e-3)):
        solved = solve(game, method, 3000, until=epsilon)
        assert solved.epsilon <= epsilon
        assert solved.values[0] == pytest.approx(best, abs=2 * epsilon)
        assert solved.values.sum() == pytest.approx(0, abs=1e-5)


def test_three_players_and_what_is_left() -> None:
    game = stage(PushFold((5, 4, 8), payouts=(50, 30, 20)))
    told: list[int] = []
    solved = solve(game, "cfr", 500, until=0.02, progress=lambda t, _: told.append(t))
    assert (
        solved.epsilon
        <= 0.02
        < gains(game, np.full_like(solved.strategy, 0.5), game.counterfactual(np.full_like(solved.strategy, 0.5))).max()
    )
    assert solved.values.sum() == pytest.approx(100, abs=1e-3)
    assert told == sorted(told)
    with pytest.raises(InputError, match="unknown method 'cfg'"):
        solve(game, "cfg")
    with pytest.raises(InputError, match="4 players: two or three"):
        Stage(PushFold((1, 1, 1, 1)))


# --- more players -----------------------------------------------------------------------------


@cache
def tables_of(deck: Deck, board: int) -> tuple[TwoWay, ThreeWay]:
    return count_two(deck, classes_of(deck), board=board), count(deck, classes_of(deck), board=board)


def ring(spot: PushFold, deck: Deck, board: int, samples: int = 200) -> Ring:
    tables = HandTables.of(deck, classes_of(deck), *tables_of(deck, board), board)
    return Ring(spot, samples=samples, tables=tables)


def test_four_players_as_the_model_says() -> None:
    """A twin by definition: others' moves given one's own class, showdowns from the tables, fours from the samples."""
    deck = Deck.small(5, 2)
    spot = PushFold((6, 4, 9, 5), ante=0.1, payouts=(50, 30, 20))
    game = ring(spot, deck, 1)
    strategy = np.random.default_rng(2).random((len(game.lines), game.classes))
    found = game.counterfactual(strategy)
    tables = game.tables
    line = "FJ"  # behind one all-in, one player to come
    for c in range(0, game.classes, 6):
        seen = {known: float(tables.other[c] @ strategy[k]) for known, k in game.lines.items()}
        wanted = 0.0
        for last in "JF":
            end = line + "J" + last
            others = [strategy[game.lines["F"]], *([strategy[game.lines["FJJ"]]] if last == "J" else [])]
            chance = (1 - seen[""]) * seen["F"] * (seen["FJJ"] if last == "J" else 1 - seen["FJJ"])
            wanted += chance * showdown(game, end, c, others)
        assert found[game.lines[line], 0, c] == pytest.approx(tables.dealt[c] * wanted, rel=1e-4)


def showdown(game: Ring, end: str, c: int, others: list[Array]) -> float:
    """What the third player expects with a class, seats two and perhaps four being in."""
    inside = [i for i, move in enumerate(end) if move == "J"]
    total = mean = 0.0
    two, three = tables_of(game.tables.deck, game.tables.board)
    orders = ((0, 1), (1, 0), (0, 0)) if len(inside) == 2 else ORDERS
    money = []
    for order in orders:
        ranks: list[int | None] = [None] * 4
        for i, rank in zip(inside, order, strict=True):
            ranks[i] = rank
        money.append(game.spot.worth(np.array([game.spot.after(end, ranks)]))[0, 2])
    for some in product(range(game.classes), repeat=len(others)):
        weight = np.prod([x[k] for x, k in zip(others, some, strict=True)])
        if len(inside) == 2:
            win, tie = two.wins[some[0], c], two.ties[some[0], c]
            chances = np.array([win, 1 - win - tie, tie])
            weight *= two.hands[some[0], c]
        else:
            held = (some[0], c, some[1])
            chances = three.orders(*held)
            weight *= three.hands[triple_index(*sorted(held))]
        mean += weight * float(chances @ money)
        total += weight
    return mean / total


@pytest.mark.slow
def test_many_players_are_solved_and_measured_with_other_samples() -> None:
    game = ring(PushFold((6, 4, 9, 5, 6), payouts=(50, 30, 20)), Deck.small(6, 2), 1, samples=2000)
    solved = solve(game, "cfr", 63, until=0.3)
    other = game.again(seed=9)
    again = gains(other, solved.strategy, other.counterfactual(solved.strategy)).max()
    assert solved.epsilon <= 0.3
    assert again < 1.0
    assert solved.values.sum() == pytest.approx(
        100, rel=0.1
    )  # players reckon each for itself, and a small deck is tight
    with pytest.raises(InputError, match="2 players"):
        Ring(PushFold((1, 1)), tables=game.tables)


def best_guarantee(tables: HandTables, stack: float, player: int, share: float | None = None) -> float:
    """What a player can be sure of in chips, by a linear program; with `share`, playing 1,326 hands so often, to a digit."""
    n, fold, stolen = tables.classes, -0.5 * tables.dealt, tables.pairs
    called = stack * (tables.met[0] - tables.met[1])
    one, none = np.eye(n), np.zeros((n, n))
    if player == 0:  # maximise Σ fold (1 - x) + Σ t, t no more than what a call or a fold leaves
        cost, limits = np.concatenate([fold, -np.ones(n)]), np.block([[-called.T, one], [-stolen.T, one]])
        most = np.zeros(2 * n)
    else:  # minimise Σ s, s no less than what folding and going all-in give the first player
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

    Six of the sixteen shares are possible in an exact equilibrium, which is unique at 12 and at 25 big blinds; all of them
    are for players who give up 0.00002 big blinds.
    """
    game = Stage(PushFold((blinds, blinds)))
    solved = solve(game, "cfr", 2000)
    assert solved.epsilon < 1e-5
    for player, share in enumerate((jam, call)):
        best = best_guarantee(game.tables, blinds, player)
        assert solved.values[player] == pytest.approx(best, abs=1e-5)
        assert best == pytest.approx(value if player == 0 else -value, abs=5.5e-4)
        assert best - best_guarantee(game.tables, blinds, player, share) < 2.5e-5
