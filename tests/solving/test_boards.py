"""The engine for spots against the general walk, linear programs, enumeration and what is known by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from reference.board_spots import SMALLER, SPOTS, compiled, spot, unrolled
from reference.boards import Slow, assert_same_state, hand, profile_of, same_places, same_run
from riverboat.cards.deck import HAND_CARDS, HANDS, Deck, hand_index
from riverboat.cards.equity.equities import equity
from riverboat.cards.notation import parse_cards
from riverboat.cards.ranges import Range
from riverboat.compiled.simd import decode
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.engines.tables import FORMATS
from riverboat.formats import spot_file
from riverboat.games.boards.unrolled import Unrolled
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.cfr import BoardCFR, table_bytes
from riverboat.solvers.exact.lp import solve_lp
from riverboat.solvers.schedules import SCHEDULES
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.solution import Solution
from riverboat.trees.boards import NOWHERE, BoardTree
from riverboat.trees.public import PublicTree

ROOT = Path(__file__).parents[2]


def solved(
    tree: BoardTree, iterations: int, dtype: str = "float64", schedule: str = "dcfr", **options: Any
) -> BoardCFR:
    solver = BoardCFR(tree, schedule, dtype=dtype, **options)
    solver.step(iterations)
    return solver


# --- against the general walk -----------------------------------------------------------------


@cache
def places(name: str) -> tuple[Array, Array, Array]:
    return same_places(compiled(name), unrolled(name))


def pair(name: str, schedule: str, seed: int) -> tuple[BoardCFR, CFR]:
    return same_run(compiled(name), unrolled(name), schedule, seed, places(name))


@pytest.mark.parametrize("schedule", [*SCHEDULES, "pcfr+:alternating=0"])
@pytest.mark.parametrize("name", SPOTS)
def test_iterations_are_those_of_the_general_walk(name: str, schedule: str) -> None:
    own, oracle = pair(name, schedule, 7)
    assert_same_state(own, oracle, places(name))
    ours, theirs = own.quality(), oracle.quality()
    if spot(name).rules.rake.rate:  # general-sum: no constant to lean on, both values are walked
        assert ours.total is None
        np.testing.assert_allclose(ours.values, own.tree.per_chip * np.array(theirs.values), rtol=1e-9)
    assert ours.nash_conv == pytest.approx(own.tree.per_chip * theirs.nash_conv, rel=1e-8)


def test_a_spot_here_has_several_batches() -> None:
    forest = compiled("flop, many lines").forest
    assert np.diff(forest.batch_at).tolist()[:2] == [1, 1]
    assert np.diff(forest.batch_at)[2] > 1


@pytest.mark.parametrize("counts", [(1, 1), (1, 17), (15, 16), (16, 16), (32, 31), (33, 48)])
def test_any_number_of_hands(counts: tuple[int, int]) -> None:
    """Vectors are walked by sixteen; a range may end anywhere in one, and a river may leave no hand of it."""
    rng = np.random.default_rng(counts)
    board = parse_cards("Td9d6h2s", "board")
    live = np.flatnonzero(~np.isin(HAND_CARDS, board).any(axis=1))
    ranges = []
    for count, fixed in zip(counts, ("AsAh", "KcQc"), strict=True):  # one pair that can be dealt
        weights = np.zeros(HANDS)
        others = live[live != hand(fixed)]
        weights[[hand(fixed), *rng.choice(others, count - 1, replace=False)]] = rng.uniform(0.1, 1, count)
        ranges.append(Range(weights))
    bets = {"turn": {}, "river": {"bet": "50%", "raise": "a"}}
    game = Spot.make(board=board, pot=20, stack=60, oop=ranges[0], ip=ranges[1], bets=bets)
    tree, oracle = BoardTree(game), PublicTree(game)
    assert tree.rows[0].tolist() == list(counts)
    where = same_places(tree, oracle)
    assert_same_state(*same_run(tree, oracle, "dcfr", 1, where), where)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_five_iterations_from_nothing(schedule: str) -> None:
    """The same without random regrets, on a spot in which nothing ties; read as a user reads it, hand by hand."""
    own, oracle = BoardCFR(compiled("river"), schedule, dtype="float64"), CFR(unrolled("river"), schedule)
    own.step(5)
    oracle.step(5)
    solution, lights = own.average(), {}
    for name, row in oracle.average().items():
        held, _, line = name.partition(":")
        light = lights.setdefault(line, solution[line])
        assert light.actions == tuple(row)
        np.testing.assert_allclose(light.strategy[:, hand(held)], list(row.values()), rtol=1e-9, atol=1e-12)
    assert len(lights) == int((own.tree.betting.actor >= 0).sum())


FEW: dict[str, dict[str, Any]] = {
    "river": SPOTS["river"],
    "turn": {
        "board": "Ts9s6s2s", "pot": 20, "stack": 30, "bets": {"turn": {"bet": "50%"}, "river": {"bet": "a"}},
        "oop": "AdAc,KdJd:0.7,8h7h", "ip": "QdQc,AhKh:0.8,7d7c:0.4",
    },
    "flop": {
        "board": "AsKhQd", "pot": 20, "stack": 20, "bets": {"flop": {"bet": "a"}, "turn": {}, "river": {"bet": "a"}},
        "oop": "AhAd,9d9h:0.5", "ip": "QsQh,JsTs:0.7", "deck": Deck.small(6, 3),
    },
}  # fmt: skip


@pytest.mark.parametrize("name", FEW)
def test_value_is_that_of_the_linear_program(name: str) -> None:
    game = Spot.make(**FEW[name])
    exact = solve_lp(PublicTree(Unrolled.of(game)))  # both pay-offs sum to the pot
    assert exact.gap < 1e-6
    value = exact.value
    solver = solved(BoardTree(game), 2000)
    low, high = np.array(solver.quality().bracket) / solver.tree.per_chip
    assert low - 1e-6 <= value <= high + 1e-6
    assert high - low < 2e-3 * game.pot
    # what the profile earns is in the bracket too
    assert solver.average().earnings(0) == pytest.approx(value, abs=high - low)
    assert solver.average().earnings(1) == pytest.approx(game.pot - value, abs=high - low)


def test_rake_is_an_equilibrium_of_what_is_paid() -> None:
    """General-sum: NashConv, the sum of what both could gain, still goes to zero here."""
    solver = solved(compiled("flop with rake"), 1500)
    quality = solver.quality()
    assert quality.total is None
    assert all(b >= v for b, v in zip(quality.best, quality.values, strict=True))
    assert quality.exploitability < 0.2  # % of pot
    taken = 100 - sum(quality.values)  # of all pots, at most the rate
    assert 0 < taken <= 100 * 3.0 / 20


# --- what is known without solving ------------------------------------------------------------


@pytest.mark.parametrize("board", ["Td9d6h", "Td9d6hQc", "Td9d6hQc2s", "AsKsTs"])
def test_checked_down_a_hand_gets_its_equity(board: str) -> None:
    oop, ip = "AA:0.3,KJs:0.7,T9o,55:0.9,7s2h", "QQ,TT:0.5,AKs:0.8,87s,A9o:0.35"
    tree = BoardTree(Spot.make(board=board, pot=60, stack=100, oop=oop, ip=ip))
    found = BoardCFR(tree, dtype="float64").average()[""]
    for me, sides in ((0, (oop, ip)), (1, (ip, oop))):
        shares = equity(*sides, board=board)
        held = ~np.isnan(shares.by_hand)
        np.testing.assert_array_equal(np.isnan(found.ev(me)), ~held)
        np.testing.assert_allclose(found.ev(me)[held], 60 * shares.by_hand[held], rtol=1e-9)
        np.testing.assert_allclose(found.equity[me][held], shares.by_hand[held], rtol=1e-9)
        assert found.solution.earnings(me) == pytest.approx(60 * shares.shares[0], rel=1e-9)
        assert found.mean(me, found.ev(me)) == pytest.approx(60 * shares.shares[0], rel=1e-9)


@pytest.mark.parametrize(
    ("rake", "cap", "left"), [(0.0, inf, 60.0), (0.05, inf, 57.0), (0.05, 2.0, 58.0), (0.5, 0.0, 60.0)]
)
@pytest.mark.parametrize(
    ("board", "oop", "ip", "share"),
    [
        ("2c2d2h2s3c", "AsKs,AdQd", "KK,QQ", 1.0),  # an ace beside four of a kind
        ("2c2d2h2s3c", "KK,QQ", "AsKs,AdQd", 0.0),
        ("AsKsQsJsTs", "random", "random", 0.5),
        ("AcAdKsKh", "AsAh", "KcKd", 1.0),  # on any river
    ],
)
def test_always_ahead_behind_or_equal(
    rake: float, cap: float, left: float, board: str, oop: str, ip: str, share: float
) -> None:
    tree = BoardTree(Spot.make(board=board, pot=60, stack=100, oop=oop, ip=ip, rake=rake, rake_cap=cap))
    found = BoardCFR(tree, dtype="float64").average()[""]
    for me, mine in ((0, share), (1, 1 - share)):
        np.testing.assert_allclose(found.ev(me)[tree.held[me]], mine * left, atol=1e-9)
    assert tree.constant == pytest.approx(left)  # every line ends in the same pot, so even rake is constant


def test_the_better_hand_takes_the_pot_by_betting_or_not() -> None:
    """An opponent that cannot win folds to every bet; who cannot lose gets the pot, and less rake with rake."""
    given: dict[str, Any] = {"board": "2c2d2h2s3c", "pot": 60, "stack": 100, "ip": "AsKs,AdQd", "oop": "KK,QQ"}
    for rake, left in ((0.0, 60.0), (0.05, 57.0)):
        tree = BoardTree(Spot.make(**given, bets="50%, a", raises="a", rake=rake))
        solution = solved(tree, 1000).average()
        assert solution.earnings(0) == pytest.approx(0.0, abs=0.01 * 60)
        assert solution.earnings(1) == pytest.approx(left, abs=0.01 * 60)


def test_every_hand_against_every_hand() -> None:
    tree = BoardTree(Spot.make(board="Td9d6hQc2s", pot=100, stack=100, oop="random", ip="random"))
    assert tree.hand_counts.tolist() == [[1081, 1081]]
    solution = BoardCFR(tree, dtype="float64").average()
    assert solution.earnings(0) == pytest.approx(50, rel=1e-12)
    assert solution.earnings(1) == pytest.approx(50, rel=1e-12)
    np.testing.assert_allclose(solution[""].ev(0), solution[""].ev(1), rtol=1e-12)


# --- suits ------------------------------------------------------------------------------------


ALIKE = ["turn, three suits alike", "turn, two suits alike", "flop, three suits alike", "flop with rake"]


def play_at_random(tree: BoardTree, seed: int) -> Solution:
    return Solution(tree, np.random.default_rng(seed).random(tree.table + 16))


def carried_over(source: Solution, tree: BoardTree, card_map: Array | None = None) -> Solution:
    """The strategy of another tree of the same betting, hand by hand and board by board; its cards are `card_map` of ours."""
    card_map = np.arange(52) if card_map is None else card_map
    hand_map = np.array([hand_index(int(card_map[a]), int(card_map[b])) for a, b in HAND_CARDS])
    table = np.zeros(tree.table + 16)
    for b in range(len(tree.deals.masks)):
        chain, at = [], b
        while at:
            chain.append(tuple(int(card_map[c]) for c in tree.deals.dealt(at)))
            at = tree.deals.parents[at]
        boards, maps = source.tree.deals.locate(tuple(reversed(chain)))
        street = len(chain)
        for n in range(tree.forest.first[street], tree.forest.first[street + 1]):
            who = int(tree.forest.actor[n])
            if who < 0:
                continue
            rows, width = int(tree.boards.rows[b, who]), int(tree.forest.width[n])
            theirs = source.tree.row_of[boards[-1], who][maps[-1][hand_map[tree.reps(b, who)]]]
            block = source.block(boards[-1], n)
            padded = np.concatenate([block, np.full((width, 1), 1 / width)], axis=1)  # a hand that they do not have
            begin = int(tree.boards.base[b, who]) + int(tree.forest.slot[n]) * rows
            table[begin : begin + width * rows] = padded[:, np.where(theirs == NOWHERE, -1, theirs)].ravel()
    return Solution(tree, table)


def assert_same_values(ours: Solution, theirs: Solution, hand_map: Array, tolerance: float) -> None:
    for me in (0, 1):
        for respond in (False, True):
            assert ours.earnings(me, respond=respond) == pytest.approx(
                theirs.earnings(me, respond=respond), rel=tolerance
            )
        mine, other = ours[""].ev(me), theirs[""].ev(me)[hand_map]
        held = ~np.isnan(other)
        np.testing.assert_allclose(mine[held], other[held], rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", ALIKE)
def test_suits_that_are_alike_may_be_told_apart(name: str) -> None:
    """A weight that is less by 1e-12 breaks the symmetry: the same play on many more boards and rows is worth the same."""
    alike = compiled(name)
    assert len(alike.deals.card_maps) > 1
    weights = np.array(spot(name).ranges[0].weights)
    extra = next(h for h in alike.held[0] if (alike.deals.hand_maps[:, h] != h).any())
    weights[extra] *= 1 - 1e-12
    apart = BoardTree(replace(spot(name), ranges=(Range(weights), spot(name).ranges[1])))
    assert apart.table > 1.3 * alike.table
    source = play_at_random(alike, 3)
    assert_same_values(carried_over(source, apart), source, np.arange(HANDS), 1e-9)


@pytest.mark.parametrize("suits", ["dchs", "shdc", "hsdc"])
@pytest.mark.parametrize("name", ["turn", "turn, two suits alike", "turn, three suits alike"])
def test_names_of_suits_do_not_matter(name: str, suits: str) -> None:
    game = spot(name)
    suit = np.array(["cdhs".index(s) for s in suits])
    card_map = np.array([4 * (c // 4) + suit[c % 4] for c in range(52)])
    hand_map = np.array([hand_index(int(card_map[a]), int(card_map[b])) for a, b in HAND_CARDS])
    weights = []
    for held in game.ranges:
        moved = np.zeros(HANDS)
        moved[hand_map] = held.weights
        weights.append(Range(moved))
    board = tuple(int(card_map[c]) for c in game.board)
    moved_tree, tree = BoardTree(replace(game, board=board, ranges=(weights[0], weights[1]))), compiled(name)
    assert (moved_tree.table, moved_tree.infoset_count) == (tree.table, tree.infoset_count)
    source = play_at_random(moved_tree, 4)
    assert_same_values(carried_over(source, tree, card_map), source, hand_map, 1e-9)


def test_cards_that_stand_for_each_other_read_alike() -> None:
    tree = compiled("turn, three suits alike")
    solution = solved(tree, 30).average()
    swap = np.array([4 * (c // 4) + [0, 2, 1, 3][c % 4] for c in range(52)])  # diamonds and hearts
    hands = np.array([hand_index(int(swap[a]), int(swap[b])) for a, b in HAND_CARDS])
    for first, second in (("x-x/8d", "x-x/8h"), ("b12-c/Ah-x", "b12-c/Ad-x"), ("x-x/Kc", "x-x/Kc")):
        one, two = solution[first], solution[second]
        assert (one.boards[0] == two.boards[0]) == (first[:2] == second[:2])
        np.testing.assert_array_equal(one.strategy, two.strategy[:, hands])
        for me in (0, 1):
            np.testing.assert_array_equal(one.reach[me], two.reach[me][hands])
            np.testing.assert_allclose(one.ev(me), two.ev(me)[hands], rtol=1e-12)
            np.testing.assert_allclose(one.equity[me], two.equity[me][hands], rtol=1e-12)


# --- threads and formats ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "schedule"),
    [
        pytest.param("float64", "pcfr+:alternating=0", marks=pytest.mark.slow),
        pytest.param("compact", "dcfr", marks=pytest.mark.slow),
        ("16-bit", "dcfr"),
    ],
)
@pytest.mark.parametrize("name", ["turn", pytest.param("flop, three suits alike", marks=pytest.mark.slow)])
def test_threads_change_nothing(name: str, dtype: str, schedule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a bit, on two threads or three, whatever the machine has."""
    monkeypatch.setattr("riverboat.core.cores.available_cores", lambda: 4)
    runs = [solved(compiled(name), 12, dtype, schedule, threads=n) for n in (1, 2, 3)]
    assert [run.threads for run in runs] == [1, 2, 3]
    for run in runs[1:]:
        assert run.walker.names == runs[0].walker.names
        for table in run.walker.names:
            np.testing.assert_array_equal(run.walker.read(table), runs[0].walker.read(table))
        assert run.quality() == runs[0].quality()


def close_to_float64(tree: BoardTree, bounds: dict[str, float], schedule: str = "dcfr") -> None:
    """After 200 iterations EVs and exploitabilities are within these % of the pot."""
    exact = solved(tree, 200, schedule=schedule)
    value, quality = exact.average().earnings(0) * tree.per_chip, exact.exploitability()
    for dtype, bound in bounds.items():
        run = solved(tree, 200, dtype, schedule)
        assert run.walker.read("regret").dtype == FORMATS[dtype].regret
        assert run.averages.dtype == FORMATS[dtype].average
        assert run.average().earnings(0) * tree.per_chip == pytest.approx(value, abs=bound)
        assert run.exploitability() == pytest.approx(quality, abs=bound)


def test_formats_on_a_river() -> None:
    tree = BoardTree(spot_file.load(ROOT / "examples/spots/river.toml"))
    close_to_float64(tree, {"float32": 0.02, "compact": 0.02, "16-bit": 0.05})


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_formats_on_a_small_turn(schedule: str) -> None:
    """Exact ties make early iterates depend on the last bit, so runs part; what is not solved closely then differs more.

    Sums that are not discounted much also lose more to sixteen bits: what is added is soon below half a step.
    """
    bound = 0.3 if schedule in ("vanilla", "linear") else 0.1
    close_to_float64(compiled("turn"), {"float32": bound, "compact": bound, "16-bit": bound}, schedule)


@pytest.mark.slow
def test_formats_on_a_turn() -> None:
    tree = BoardTree(spot_file.load(ROOT / "examples/spots/turn.toml"))
    close_to_float64(tree, {"float32": 0.02, "compact": 0.02, "16-bit": 0.05})


# --- reading ----------------------------------------------------------------------------------

TINY: dict[str, Any] = {
    "board": "AsKsTs", "pot": 20, "stack": 40, "bets": "75%", "deck": SMALLER,
    "oop": "AhAd,QhJh:0.5,QdJd:0.5,9d9h:0.3", "ip": "QhQd:0.6,AhJh:0.45,AdJd:0.45,KhKd",
}  # fmt: skip
SPOTS["tiny"] = TINY


def assert_read_right(name: str, line: str) -> None:
    """Against a plain twin that plays out every pair of hands on every runout, with the general walk's strategy."""
    own, oracle = pair(name, "dcfr", 11)
    light, twin = own.average()[line], Slow(spot(name), profile_of(oracle))
    assert light.board == twin.board(line)
    for me in (0, 1):
        reach = twin.reach(line, me)
        assert set(np.flatnonzero(light.reach[me])) <= set(reach)
        np.testing.assert_allclose(light.reach[me][list(reach)], list(reach.values()), rtol=1e-8, atol=1e-12)
        assert light.combos[me] == pytest.approx(sum(reach.values()), rel=1e-8)
        for found, expected in ((light.ev(me), twin.ev(line, me)), (light.equity[me], twin.equity(line, me))):
            assert set(np.flatnonzero(~np.isnan(found))) == set(expected)
            np.testing.assert_allclose(found[list(expected)], list(expected.values()), rtol=1e-7, atol=1e-7)
    if light.player >= 0:
        for k, _move in enumerate(light.actions):
            expected = twin.ev(line, light.player, k)
            found = light.action_ev()[k]
            assert set(np.flatnonzero(~np.isnan(found))) == set(expected)
            np.testing.assert_allclose(found[list(expected)], list(expected.values()), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize(
    "line",
    ["", "x", "b15-c/Jh", "b15-c/Jd", "b15-f", "x-x", "x-x/9d-x-b15-c/9h", "x-x/9d-x-b15-c/9h-x-a", "b15-c/Jd-a-c",
     "b15-c/Jd-a-c/Qs"],
)  # fmt: skip
def test_reading_is_what_enumeration_gives(line: str) -> None:
    assert_read_right("tiny", line)


@pytest.mark.parametrize("line", ["x-x/9d-x-x/9h", "x-x/Js-b10-c/Th-x-b20", "b10-c/9s-x-b20-c/Td-x", "b10-a-c/Jd/9d"])
def test_reading_in_every_batch_of_the_last_street(line: str) -> None:
    assert_read_right("flop, many lines", line)


def nodes_of_a_line(line: str) -> Iterator[str]:
    """A line and all that it passes through, the root included."""
    yield ""
    for at, sign in enumerate(line):
        if sign in "-/":
            yield line[:at]
    yield line


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("river", "x-b120-r300-r750-a"),
        ("turn", "b12-c/Ks-b26-a-c"),
        ("flop", "x-b15-c/9d-x-x/9h-a-c"),
        ("flop", "x-b15-f"),
    ],
)
def test_nodes_agree_with_each_other(name: str, line: str) -> None:
    """Everywhere on a line: probabilities, means over moves, folds, and two EVs that sum to the pot."""
    tree = compiled(name)
    solution = solved(tree, 10).average()
    for here in dict.fromkeys(nodes_of_a_line(line)):
        light = solution[here]
        pot = spot(name).pot + tree.betting.spent[light.place].sum()
        means = [light.mean(me, light.ev(me)) for me in (0, 1)]
        assert sum(means) == pytest.approx(pot, rel=1e-9)
        shares = [light.mean(me, light.equity[me]) for me in (0, 1)]
        assert sum(shares) == pytest.approx(1, rel=1e-9)
        if light.player < 0:
            with pytest.raises(InputError, match="nobody acts"):
                light.action_ev()
            continue
        held = light.reach[light.player] * light.compatible(light.player) > 0
        strategy, values = light.strategy[:, held], light.action_ev()[:, held]
        np.testing.assert_allclose(strategy.sum(axis=0), 1, rtol=1e-12)
        np.testing.assert_allclose(light.ev(light.player)[held], (strategy * values).sum(axis=0), rtol=1e-9, atol=1e-9)
        if "f" in light.actions:
            np.testing.assert_allclose(values[light.actions.index("f")], 0, atol=1e-9)


def test_a_table_that_may_not_be_written_reads_the_same() -> None:
    """As one that was memory-mapped."""
    for dtype in ("compact", "float64"):
        solver = solved(compiled("turn"), 5, dtype)
        fixed = solver.averages.copy()
        fixed.flags.writeable = False
        fresh, shown = Solution(solver.tree, fixed), solver.average()
        np.testing.assert_array_equal(fresh["x-x/Ks"].ev(0), shown["x-x/Ks"].ev(0))
        assert fresh.earnings(1, respond=True) == shown.earnings(1, respond=True)


def test_hands_that_cannot_be_there() -> None:
    light = solved(compiled("turn"), 3).average()["x-x/Ks"]
    dead = np.isin(HAND_CARDS, light.board).any(axis=1)
    for me in (0, 1):
        absent = dead | (spot("turn").weights[me] == 0)
        assert not light.reach[me][absent].any()
        assert np.isnan(light.ev(me)[absent]).all()
        assert np.isnan(light.equity[me][absent]).all()
    assert np.isnan(light.strategy[:, dead]).all()
    for line, words in (("x-x/Td", "cannot be dealt"), ("x-b1", "no move 'b1'"), ("x/Ks", "no card is dealt")):
        with pytest.raises(InputError, match=words):
            solved(compiled("turn"), 0).average()[line]


# --- the solver -------------------------------------------------------------------------------


def test_memory_is_counted_and_limited() -> None:
    tree = compiled("turn")
    for dtype, numbers in (("compact", 6), ("16-bit", 4), ("float32", 8), ("float64", 16)):
        solver = BoardCFR(tree, dtype=dtype)
        assert table_bytes(tree, solver.schedule, dtype) == numbers * tree.table
        behind = 16 * numbers
        assert solver.walker.nbytes == numbers * tree.table + behind
    for schedule in (*SCHEDULES, "pcfr+:alternating=0"):
        solver = BoardCFR(tree, schedule, dtype="float64")
        assert solver.walker.nbytes == table_bytes(tree, solver.schedule, "float64") * (1 + 16 / tree.table)
    with pytest.raises(MemoryLimitError, match="16-bit"):
        BoardCFR(tree, memory=6 * tree.table - 1)
    assert BoardCFR(tree, memory=6 * tree.table).iteration == 0


@pytest.mark.parametrize("threads", [1, 2])
def test_warming_compiles_and_changes_nothing(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riverboat.core.cores.available_cores", lambda: 2)
    solver = BoardCFR(compiled("turn"), dtype="float64", threads=threads)
    loops, calls = solver.walker.loops, []
    solver.walker.loops = SimpleNamespace(work=lambda *args: calls.append(loops.work(*args)))
    solver.warm()
    assert calls  # with whatever number of threads: the first step should not wait for the compiler
    assert not solver.walker.read("regret").any()
    assert not solver.averages.any()
    assert solver.iteration == 0


def test_a_run_goes_on_from_its_state() -> None:
    tree = compiled("turn")
    for schedule in ("dcfr", "pcfr+"):
        whole, first, second = (BoardCFR(tree, schedule) for _ in range(3))
        whole.step(9)
        first.step(4)
        arrays, state = first.state()
        second.restore({name: array.copy() for name, array in arrays.items()}, state)
        second.step(5)
        np.testing.assert_array_equal(second.walker.read("regret"), whole.walker.read("regret"))
        np.testing.assert_array_equal(second.averages, whole.averages)
        assert (second.iteration, second.weight) == (9, whole.weight)


def test_bad_input() -> None:
    tree = compiled("river")
    with pytest.raises(InputError, match="dtype 'float16'"):
        BoardCFR(tree, dtype="float16")
    with pytest.raises(InputError, match="threads=0"):
        BoardCFR(tree, threads=0)
    with pytest.raises(InputError, match=r"step\(-1\)"):
        BoardCFR(tree).step(-1)
    with pytest.raises(InputError, match="unknown schedule 'dcfrr'"):
        BoardCFR(tree, "dcfrr")
    with pytest.raises(InputError, match="table of"):
        Solution(tree, np.zeros(3))


def test_a_rule_of_ones_own_needs_whole_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)
    with pytest.raises(InputError, match="float32 or float64 regrets"):
        BoardCFR(compiled("river"), "examples.own_rule:REGRET_MATCHING", dtype="16-bit")


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "compact"])
def test_a_rule_of_ones_own(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regret matching written again by a user is the schedule that it copies, from random regrets (no ties)."""
    monkeypatch.syspath_prepend(ROOT)
    monkeypatch.setattr("riverboat.core.cores.available_cores", lambda: 2)
    for name in ("river", "flop, three suits alike"):
        runs = []
        for schedule, threads in (
            ("vanilla", 1),
            ("examples.own_rule:REGRET_MATCHING", 1),
            ("examples.own_rule:REGRET_MATCHING", 2),
        ):
            solver = BoardCFR(compiled(name), schedule, dtype=dtype, threads=threads)
            solver.walker.write("regret", np.random.default_rng(0).random(solver.tree.table) / 256)
            solver.step(8)
            runs.append(solver)
        loose = 1e-9 if dtype == "float64" else 2e-3  # averages of the compact format have 12 bits
        for run in runs[1:]:
            np.testing.assert_allclose(
                run.walker.read("regret"), runs[0].walker.read("regret"), rtol=loose, atol=loose / 256
            )
            np.testing.assert_allclose(decode(run.averages), decode(runs[0].averages), rtol=loose, atol=loose)
            assert run.exploitability() == pytest.approx(runs[0].exploitability(), rel=loose)
