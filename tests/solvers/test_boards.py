"""The board engine on spots, against tree CFR, linear programs, enumeration and known values."""

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

import riverboat as rb
from reference.board_spots import SMALLER, SPOTS, compiled, spot, unrolled
from reference.boards import Slow, assert_same_state, hand, profile_of, same_places, same_run
from riverboat.api.estimate import estimate
from riverboat.cards.deck import HAND_CARDS, NUM_HANDS, Deck, hand_index
from riverboat.cards.equity.equities import equity
from riverboat.cards.notation import parse_cards
from riverboat.cards.ranges import Range
from riverboat.compiled.simd import decode_codes
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.core.observer import Observer
from riverboat.engines.devices import AnyBoardEngine
from riverboat.engines.tables import TABLE_FORMATS
from riverboat.formats import spot_file
from riverboat.games.base import CHANCE
from riverboat.games.boards.board_game import UnrolledBoardGame
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.cfr import BoardCFR, board_table_bytes
from riverboat.solvers.exact.lp import solve_lp
from riverboat.solvers.schedules import SCHEDULES
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.solution import Solution
from riverboat.trees.boards import NO_ROW, BoardTree
from riverboat.trees.public import PublicTree

ROOT = Path(__file__).parents[2]


def solved(
    tree: BoardTree, iterations: int, dtype: str = "float64", schedule: str = "dcfr", **options: Any
) -> BoardCFR:
    solver = BoardCFR(tree, schedule, dtype=dtype, **options)
    solver.step(iterations)
    return solver


# --- against tree CFR -----------------------------------------------------------------


@cache
def places(name: str) -> tuple[Array, Array, Array]:
    return same_places(compiled(name), unrolled(name))


def pair(name: str, schedule: str, seed: int) -> tuple[BoardCFR, CFR]:
    return same_run(compiled(name), unrolled(name), schedule, seed, places(name))


@pytest.mark.parametrize("schedule", [*SCHEDULES, "pcfr+:alternating=0"])
@pytest.mark.parametrize("name", SPOTS)
def test_iterations_equal_tree_cfr(name: str, schedule: str) -> None:
    own, oracle = pair(name, schedule, 7)
    assert_same_state(own, oracle, places(name))
    ours, other = own.quality(), oracle.quality()
    if spot(name).rules.rake.rate:  # general-sum: both values need a traversal
        assert ours.total is None
        np.testing.assert_allclose(ours.values, own.tree.per_chip * np.array(other.values), rtol=1e-9)
    assert ours.nash_conv == pytest.approx(own.tree.per_chip * other.nash_conv, rel=1e-8)


def test_a_small_spot_has_one_batch_where_more_would_fill_vectors_less() -> None:
    forest = BoardTree(spot("flop, many lines")).forest
    assert np.diff(forest.batch_at).tolist()[1] == 1
    assert forest.deal_at[-1] < compiled("flop, many lines").forest.deal_at[-1]


def test_a_spot_has_several_batches() -> None:
    forest = compiled("flop, many lines").forest
    counts = np.diff(forest.batch_at).tolist()
    assert counts[0] == 1
    assert 1 < counts[1] <= counts[2]
    followers = [range(forest.child_at[b], forest.child_at[b + 1]) for b in range(sum(counts[:2]))]
    assert [b for group in followers for b in group] == list(range(1, sum(counts)))
    for batch, group in enumerate(followers):  # every exit of a batch leads to a root of the batches that follow
        low, high = forest.batch[batch]
        roots = forest.root_at[group.stop] - forest.root_at[group.start]
        assert (forest.actor[low:high] == CHANCE).sum() == roots


@pytest.mark.parametrize("counts", [(1, 1), (1, 17), (15, 16), (16, 16), (32, 31), (33, 48)])
def test_any_number_of_hands(counts: tuple[int, int]) -> None:
    """SIMD vectors have sixteen entries; a range may end anywhere in one, and a river may leave no hand of it."""
    rng = np.random.default_rng(counts)
    board = parse_cards("Td9d6h2s", "board")
    live = np.flatnonzero(~np.isin(HAND_CARDS, board).any(axis=1))
    ranges = []
    for count, fixed in zip(counts, ("AsAh", "KcQc"), strict=True):  # one pair that can be dealt
        weights = np.zeros(NUM_HANDS)
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
def test_five_iterations_from_zero(schedule: str) -> None:
    """Without random regrets, on a spot without ties; read through the public API, hand by hand."""
    own, oracle = BoardCFR(compiled("river"), schedule, dtype="float64"), CFR(unrolled("river"), schedule)
    own.step(5)
    oracle.step(5)
    solution, lights = own.average(), {}
    for name, row in oracle.average().items():
        hand_name, _, line = name.partition(":")
        light = lights.setdefault(line, solution[line])
        assert light.actions == tuple(row)
        np.testing.assert_allclose(light.strategy[:, hand(hand_name)], list(row.values()), rtol=1e-9, atol=1e-12)
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
def test_value_equals_the_linear_program(name: str) -> None:
    game = Spot.make(**FEW[name])
    exact = solve_lp(PublicTree(UnrolledBoardGame.from_game(game)))  # both payoffs sum to the pot
    assert exact.gap < 1e-6
    value = exact.value
    solver = solved(BoardTree(game), 2000)
    low, high = np.array(solver.quality().bracket) / solver.tree.per_chip
    assert low - 1e-6 <= value <= high + 1e-6
    assert high - low < 2e-3 * game.pot
    # the expected value of the profile is in the bracket too
    assert solver.average().expected_value(0) == pytest.approx(value, abs=high - low)
    assert solver.average().expected_value(1) == pytest.approx(game.pot - value, abs=high - low)


def test_nash_conv_converges_with_rake() -> None:
    """General-sum: NashConv still goes to zero here."""
    solver = solved(compiled("flop with rake"), 1500)
    quality = solver.quality()
    assert quality.total is None
    assert all(b >= v for b, v in zip(quality.best, quality.values, strict=True))
    assert quality.exploitability < 0.2  # % of pot
    taken = 100 - sum(quality.values)  # at most the rate of all pots
    assert 0 < taken <= 100 * 3.0 / 20


# --- values known without solving ------------------------------------------------------------


@pytest.mark.parametrize("board", ["Td9d6h", "Td9d6hQc", "Td9d6hQc2s", "AsKsTs"])
def test_checked_down_ev_is_equity(board: str) -> None:
    oop, ip = "AA:0.3,KJs:0.7,T9o,55:0.9,7s2h", "QQ,TT:0.5,AKs:0.8,87s,A9o:0.35"
    tree = BoardTree(Spot.make(board=board, pot=60, stack=100, oop=oop, ip=ip, bets=""))
    result = BoardCFR(tree, dtype="float64").average()[""]
    for me, sides in ((0, (oop, ip)), (1, (ip, oop))):
        shares = equity(*sides, board=board)
        hands = ~np.isnan(shares.by_hand)
        np.testing.assert_array_equal(np.isnan(result.ev(me)), ~hands)
        np.testing.assert_allclose(result.ev(me)[hands], 60 * shares.by_hand[hands], rtol=1e-9)
        np.testing.assert_allclose(result.equity[me][hands], shares.by_hand[hands], rtol=1e-9)
        assert result.solution.expected_value(me) == pytest.approx(60 * shares.shares[0], rel=1e-9)
        assert result.range_mean(me, result.ev(me)) == pytest.approx(60 * shares.shares[0], rel=1e-9)


@pytest.mark.parametrize(
    ("rake", "cap", "left"), [(0.0, inf, 60.0), (0.05, inf, 57.0), (0.05, 2.0, 58.0), (0.5, 0.0, 60.0)]
)
@pytest.mark.parametrize(
    ("board", "oop", "ip", "share"),
    [
        ("2c2d2h2s3c", "AsKs,AdQd", "KK,QQ", 1.0),  # an ace with four of a kind
        ("2c2d2h2s3c", "KK,QQ", "AsKs,AdQd", 0.0),
        ("AsKsQsJsTs", "random", "random", 0.5),
        ("AcAdKsKh", "AsAh", "KcKd", 1.0),  # on any river
    ],
)
def test_always_ahead_behind_or_equal(
    rake: float, cap: float, left: float, board: str, oop: str, ip: str, share: float
) -> None:
    tree = BoardTree(Spot.make(board=board, pot=60, stack=100, oop=oop, ip=ip, rake=rake, rake_cap=cap, bets=""))
    result = BoardCFR(tree, dtype="float64").average()[""]
    for me, own in ((0, share), (1, 1 - share)):
        np.testing.assert_allclose(result.ev(me)[tree.held[me]], own * left, atol=1e-9)
    assert tree.constant_sum == pytest.approx(left)  # every line ends in the same pot, so rake is constant too


def test_better_hand_wins_the_pot_with_or_without_bets() -> None:
    """An opponent that cannot win folds to every bet; a hand that cannot lose gets the pot, less rake."""
    arguments: dict[str, Any] = {"board": "2c2d2h2s3c", "pot": 60, "stack": 100, "ip": "AsKs,AdQd", "oop": "KK,QQ"}
    for rake, left in ((0.0, 60.0), (0.05, 57.0)):
        tree = BoardTree(Spot.make(**arguments, bets="50%, a", raises="a", rake=rake))
        solution = solved(tree, 1000).average()
        assert solution.expected_value(0) == pytest.approx(0.0, abs=0.01 * 60)
        assert solution.expected_value(1) == pytest.approx(left, abs=0.01 * 60)


def test_every_hand_against_every_hand() -> None:
    tree = BoardTree(Spot.make(board="Td9d6hQc2s", pot=100, stack=100, oop="random", ip="random", bets=""))
    assert tree.hand_counts.tolist() == [[1081, 1081]]
    solution = BoardCFR(tree, dtype="float64").average()
    assert solution.expected_value(0) == pytest.approx(50, rel=1e-12)
    assert solution.expected_value(1) == pytest.approx(50, rel=1e-12)
    np.testing.assert_allclose(solution[""].ev(0), solution[""].ev(1), rtol=1e-12)


# --- suits ------------------------------------------------------------------------------------


ALIKE = ["turn, three suits alike", "turn, two suits alike", "flop, three suits alike", "flop with rake"]


def play_at_random(tree: BoardTree, seed: int) -> Solution:
    return Solution(tree, np.random.default_rng(seed).random(tree.table_size + 16))


def carried_over(source: Solution, tree: BoardTree, card_map: Array | None = None) -> Solution:
    """The strategy of another tree of the same betting, by hand and board; `card_map` maps our cards to its cards."""
    card_map = np.arange(52) if card_map is None else card_map
    hand_map = np.array([hand_index(int(card_map[a]), int(card_map[b])) for a, b in HAND_CARDS])
    table = np.zeros(tree.table_size + 16)
    for b in range(len(tree.deals.masks)):
        chain, at = [], b
        while at:
            chain.append(tuple(int(card_map[c]) for c in tree.deals.dealt_cards(at)))
            at = tree.deals.parents[at]
        boards, maps = source.tree.deals.locate(tuple(reversed(chain)))
        street = len(chain)
        for n in range(tree.forest.first[street], tree.forest.first[street + 1]):
            player = int(tree.forest.actor[n])
            if player < 0:
                continue
            rows, width = int(tree.boards.rows[b, player]), int(tree.forest.width[n])
            other = source.tree.row_of[boards[-1], player][maps[-1][hand_map[tree.representatives(b, player)]]]
            block = source.node_strategy(boards[-1], n)
            padded = np.concatenate(
                [block, np.full((width, 1), 1 / width)], axis=1
            )  # a hand that the other tree does not have
            begin = int(tree.boards.base[b, player]) + int(tree.forest.slot[n]) * rows
            table[begin : begin + width * rows] = padded[:, np.where(other == NO_ROW, -1, other)].ravel()
    return Solution(tree, table)


def assert_same_values(ours: Solution, theirs: Solution, hand_map: Array, tolerance: float) -> None:
    for me in (0, 1):
        for respond in (False, True):
            assert ours.expected_value(me, respond=respond) == pytest.approx(
                theirs.expected_value(me, respond=respond), rel=tolerance
            )
        own, other = ours[""].ev(me), theirs[""].ev(me)[hand_map]
        hands = ~np.isnan(other)
        np.testing.assert_allclose(own[hands], other[hands], rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", ALIKE)
def test_values_do_not_depend_on_suit_isomorphism(name: str) -> None:
    """A weight that is smaller by 1e-12 breaks the symmetry: the same play has the same values on more boards and rows."""
    alike = compiled(name)
    assert len(alike.deals.card_maps) > 1
    weights = np.array(spot(name).ranges[0].weights)
    extra = next(h for h in alike.held[0] if (alike.deals.hand_maps[:, h] != h).any())
    weights[extra] *= 1 - 1e-12
    apart = BoardTree(replace(spot(name), ranges=(Range(weights), spot(name).ranges[1])))
    assert apart.table_size > 1.3 * alike.table_size
    source = play_at_random(alike, 3)
    assert_same_values(carried_over(source, apart), source, np.arange(NUM_HANDS), 1e-9)


@pytest.mark.parametrize("suits", ["dchs", "shdc", "hsdc"])
@pytest.mark.parametrize("name", ["turn", "turn, two suits alike", "turn, three suits alike"])
def test_suit_permutations_change_nothing(name: str, suits: str) -> None:
    game = spot(name)
    suit = np.array(["cdhs".index(s) for s in suits])
    card_map = np.array([4 * (c // 4) + suit[c % 4] for c in range(52)])
    hand_map = np.array([hand_index(int(card_map[a]), int(card_map[b])) for a, b in HAND_CARDS])
    weights = []
    for player_range in game.ranges:
        moved = np.zeros(NUM_HANDS)
        moved[hand_map] = player_range.weights
        weights.append(Range(moved))
    board = tuple(int(card_map[c]) for c in game.board)
    moved_tree, tree = BoardTree(replace(game, board=board, ranges=(weights[0], weights[1]))), compiled(name)
    assert (moved_tree.table_size, moved_tree.infoset_count) == (tree.table_size, tree.infoset_count)
    source = play_at_random(moved_tree, 4)
    assert_same_values(carried_over(source, tree, card_map), source, hand_map, 1e-9)


def test_isomorphic_cards_have_equal_strategies() -> None:
    tree = compiled("turn, three suits alike")
    solution = solved(tree, 30).average()
    swap = np.array([4 * (c // 4) + [0, 2, 1, 3][c % 4] for c in range(52)])  # diamonds and hearts
    hands = np.array([hand_index(int(swap[a]), int(swap[b])) for a, b in HAND_CARDS])
    for first, second in (("x-x/8d", "x-x/8h"), ("b12-c/Ah-x", "b12-c/Ad-x"), ("x-x/Kc", "x-x/Kc")):
        one, two = solution[first], solution[second]
        assert (one.tree_boards[0] == two.tree_boards[0]) == (first[:2] == second[:2])
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
    """Bitwise, on two threads or three, on any machine."""
    monkeypatch.setattr("riverboat.core.resources.available_cores", lambda: 4)
    runs = [solved(compiled(name), 12, dtype, schedule, threads=n) for n in (1, 2, 3)]
    assert [run.threads for run in runs] == [1, 2, 3]
    for run in runs[1:]:
        assert run.engine.table_names == runs[0].engine.table_names
        for table in run.engine.table_names:
            np.testing.assert_array_equal(run.engine.read(table), runs[0].engine.read(table))
        assert run.quality() == runs[0].quality()


def close_to_float64(tree: BoardTree, bounds: dict[str, float], schedule: str = "dcfr") -> None:
    """Check that after 200 iterations EVs and exploitabilities are within these % of the pot."""
    exact = solved(tree, 200, schedule=schedule)
    value, quality = exact.average().expected_value(0) * tree.per_chip, exact.exploitability()
    for dtype, bound in bounds.items():
        run = solved(tree, 200, dtype, schedule)
        assert run.engine.read("regret").dtype == TABLE_FORMATS[dtype].regret
        assert run.averages.dtype == TABLE_FORMATS[dtype].average
        assert run.average().expected_value(0) * tree.per_chip == pytest.approx(value, abs=bound)
        assert run.exploitability() == pytest.approx(quality, abs=bound)


def test_formats_on_a_river() -> None:
    tree = BoardTree(spot_file.load(ROOT / "examples/spots/river.toml"))
    close_to_float64(tree, {"float32": 0.02, "compact": 0.02, "16-bit": 0.05})


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_formats_on_a_small_turn(schedule: str) -> None:
    """Exact ties make early iterates depend on the last bit, so runs diverge; poorly solved spots then differ more.

    Sums with little discount also lose more in sixteen bits: increments are soon below half a step.
    """
    bound = 0.3 if schedule in ("vanilla", "linear") else 0.1
    close_to_float64(compiled("turn"), {"float32": bound, "compact": bound, "16-bit": bound}, schedule)


@pytest.mark.slow
def test_formats_on_a_turn() -> None:
    tree = BoardTree(spot_file.load(ROOT / "examples/spots/turn.toml"))
    close_to_float64(tree, {"float32": 0.02, "compact": 0.02, "16-bit": 0.05})


# --- reading solutions ----------------------------------------------------------------------------------

TINY: dict[str, Any] = {
    "board": "AsKsTs", "pot": 20, "stack": 40, "bets": "75%", "deck": SMALLER,
    "oop": "AhAd,QhJh:0.5,QdJd:0.5,9d9h:0.3", "ip": "QhQd:0.6,AhJh:0.45,AdJd:0.45,KhKd",
}  # fmt: skip
SPOTS["tiny"] = TINY


def assert_reading_equals_enumeration(name: str, line: str) -> None:
    """Compare with an enumeration of every pair of hands on every runout, with the strategy of tree CFR."""
    own, oracle = pair(name, "dcfr", 11)
    light, twin = own.average()[line], Slow(spot(name), profile_of(oracle))
    assert light.board == twin.board(line)
    for me in (0, 1):
        reach = twin.reach(line, me)
        assert set(np.flatnonzero(light.reach[me])) <= set(reach)
        np.testing.assert_allclose(light.reach[me][list(reach)], list(reach.values()), rtol=1e-8, atol=1e-12)
        assert light.combos[me] == pytest.approx(sum(reach.values()), rel=1e-8)
        for result, expected in ((light.ev(me), twin.ev(line, me)), (light.equity[me], twin.equity(line, me))):
            assert set(np.flatnonzero(~np.isnan(result))) == set(expected)
            np.testing.assert_allclose(result[list(expected)], list(expected.values()), rtol=1e-7, atol=1e-7)
    if light.player >= 0:
        for k, _move in enumerate(light.actions):
            expected = twin.ev(line, light.player, k)
            result = light.action_ev()[k]
            assert set(np.flatnonzero(~np.isnan(result))) == set(expected)
            np.testing.assert_allclose(result[list(expected)], list(expected.values()), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize(
    "line",
    ["", "x", "b15-c/Jh", "b15-c/Jd", "b15-f", "x-x", "x-x/9d-x-b15-c/9h", "x-x/9d-x-b15-c/9h-x-a", "b15-c/Jd-a-c",
     "b15-c/Jd-a-c/Qs"],
)  # fmt: skip
def test_reading_equals_enumeration(line: str) -> None:
    assert_reading_equals_enumeration("tiny", line)


@pytest.mark.parametrize("line", ["x-x/9d-x-x/9h", "x-x/Js-b10-c/Th-x-b20", "b10-c/9s-x-b20-c/Td-x", "b10-a-c/Jd/9d"])
def test_reading_on_every_batch_of_the_last_street(line: str) -> None:
    assert_reading_equals_enumeration("flop, many lines", line)


def nodes_of_a_line(line: str) -> Iterator[str]:
    """All nodes on a line, the root included."""
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
def test_nodes_are_consistent(name: str, line: str) -> None:
    """Everywhere on a line: probabilities, means over actions, folds, and EVs that sum to the pot."""
    tree = compiled(name)
    solution = solved(tree, 10).average()
    for node in dict.fromkeys(nodes_of_a_line(line)):
        light = solution[node]
        pot = spot(name).pot + tree.betting.spent[light.betting_node].sum()
        means = [light.range_mean(me, light.ev(me)) for me in (0, 1)]
        assert sum(means) == pytest.approx(pot, rel=1e-9)
        shares = [light.range_mean(me, light.equity[me]) for me in (0, 1)]
        assert sum(shares) == pytest.approx(1, rel=1e-9)
        if light.player < 0:
            with pytest.raises(InputError, match="act"):
                light.action_ev()
            continue
        hands = light.reach[light.player] * light.compatible_weight(light.player) > 0
        strategy, values = light.strategy[:, hands], light.action_ev()[:, hands]
        np.testing.assert_allclose(strategy.sum(axis=0), 1, rtol=1e-12)
        np.testing.assert_allclose(light.ev(light.player)[hands], (strategy * values).sum(axis=0), rtol=1e-9, atol=1e-9)
        if "f" in light.actions:
            np.testing.assert_allclose(values[light.actions.index("f")], 0, atol=1e-9)


def test_read_only_tables_give_the_same() -> None:
    """As with a memory-mapped table."""
    for dtype in ("compact", "float64"):
        solver = solved(compiled("turn"), 5, dtype)
        fixed = solver.averages.copy()
        fixed.flags.writeable = False
        fresh, original = Solution(solver.tree, fixed), solver.average()
        np.testing.assert_array_equal(fresh["x-x/Ks"].ev(0), original["x-x/Ks"].ev(0))
        assert fresh.expected_value(1, respond=True) == original.expected_value(1, respond=True)


def test_impossible_hands() -> None:
    light = solved(compiled("turn"), 3).average()["x-x/Ks"]
    dead = np.isin(HAND_CARDS, light.board).any(axis=1)
    for me in (0, 1):
        absent = dead | (spot("turn").weights[me] == 0)
        assert not light.reach[me][absent].any()
        assert np.isnan(light.ev(me)[absent]).all()
        assert np.isnan(light.equity[me][absent]).all()
    assert np.isnan(light.strategy[:, dead]).all()
    for line, pattern in (("x-x/Td", "Td"), ("x-b1", "'b1'"), ("x/Ks", "Ks")):
        with pytest.raises(InputError, match=pattern):
            solved(compiled("turn"), 0).average()[line]


# --- solver -------------------------------------------------------------------------------


def allocated_bytes(engine: AnyBoardEngine) -> int:
    """Return the memory of an engine's tables, of which some may be the same array."""
    return sum({id(table): table.nbytes for table in engine._tables[:5]}.values())


def test_memory_is_estimated_and_limited() -> None:
    tree = compiled("turn")
    for dtype, numbers in (("compact", 6), ("16-bit", 4), ("float32", 8), ("float64", 16)):
        solver = BoardCFR(tree, dtype=dtype)
        assert board_table_bytes(tree, solver.schedule, dtype) == numbers * tree.table_size
        behind = 16 * numbers
        assert allocated_bytes(solver.engine) == numbers * tree.table_size + behind
    for schedule in (*SCHEDULES, "pcfr+:alternating=0"):
        solver = BoardCFR(tree, schedule, dtype="float64")
        expected = board_table_bytes(tree, solver.schedule, "float64") * (1 + 16 / tree.table_size)
        assert allocated_bytes(solver.engine) == expected
    with pytest.raises(MemoryLimitError, match="16-bit"):
        BoardCFR(tree, memory=6 * tree.table_size - 1)
    assert BoardCFR(tree, memory=6 * tree.table_size).iteration == 0


@pytest.mark.parametrize("threads", [1, 2])
def test_warm_compiles_and_changes_nothing(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riverboat.core.resources.available_cores", lambda: 2)
    solver = BoardCFR(compiled("turn"), dtype="float64", threads=threads)
    loops, calls = solver.engine.kernels, []
    solver.engine.kernels = SimpleNamespace(traverse=lambda *args: calls.append(loops.traverse(*args)))
    solver.warm()
    assert calls  # for any number of threads: the first step must not compile
    assert not solver.engine.read("regret").any()
    assert not solver.averages.any()
    assert solver.iteration == 0


def test_restored_run_continues() -> None:
    tree = compiled("turn")
    for schedule in ("dcfr", "pcfr+"):
        full, first, second = (BoardCFR(tree, schedule) for _ in range(3))
        full.step(9)
        first.step(4)
        arrays, state = first.state()
        second.restore({name: array.copy() for name, array in arrays.items()}, state)
        second.step(5)
        np.testing.assert_array_equal(second.engine.read("regret"), full.engine.read("regret"))
        np.testing.assert_array_equal(second.averages, full.averages)
        assert (second.iteration, second.weight) == (9, full.weight)


def test_bad_input() -> None:
    tree = compiled("river")
    with pytest.raises(InputError, match="dtype 'float16'"):
        BoardCFR(tree, dtype="float16")
    with pytest.raises(InputError, match="threads=0"):
        BoardCFR(tree, threads=0)
    with pytest.raises(InputError, match=r"step=-1"):
        BoardCFR(tree).step(-1)
    with pytest.raises(InputError, match="schedule 'dcfrr'"):
        BoardCFR(tree, "dcfrr")
    with pytest.raises(InputError, match="table of"):
        Solution(tree, np.zeros(3))


def test_user_rule_needs_float_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)
    with pytest.raises(InputError, match=r"float32.*float64"):
        BoardCFR(compiled("river"), "examples.own_rule:REGRET_MATCHING", dtype="16-bit")


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "compact"])
def test_user_rule(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's copy of regret matching equals the schedule that it copies, from random regrets (no ties)."""
    monkeypatch.syspath_prepend(ROOT)
    monkeypatch.setattr("riverboat.core.resources.available_cores", lambda: 2)
    for name in ("river", "flop, three suits alike"):
        runs = []
        for schedule, threads in (
            ("vanilla", 1),
            ("examples.own_rule:REGRET_MATCHING", 1),
            ("examples.own_rule:REGRET_MATCHING", 2),
        ):
            solver = BoardCFR(compiled(name), schedule, dtype=dtype, threads=threads)
            solver.engine.write("regret", np.random.default_rng(0).random(solver.tree.table_size) / 256)
            solver.step(8)
            runs.append(solver)
        loose = 1e-9 if dtype == "float64" else 2e-3  # averages in the compact format have 12 bits
        for run in runs[1:]:
            np.testing.assert_allclose(
                run.engine.read("regret"), runs[0].engine.read("regret"), rtol=loose, atol=loose / 256
            )
            np.testing.assert_allclose(
                decode_codes(run.averages), decode_codes(runs[0].averages), rtol=loose, atol=loose
            )
            assert run.exploitability() == pytest.approx(runs[0].exploitability(), rel=loose)


def test_sixteen_bits_are_chosen_where_compact_tables_do_not_fit() -> None:
    """The limit is between both sizes; a user's format and locks keep theirs."""
    turn = spot_file.load(ROOT / "examples" / "spots" / "turn.toml")
    size = BoardTree(turn).table_size
    notes: list[str] = []

    class Notes(Observer):
        def note(self, text: str) -> None:
            notes.append(text)

    def dtype_of(**options: Any) -> str:
        result = rb.solve(options.pop("game", turn), iterations=1, observer=Notes(), **options)
        return str(result.strategy.provenance["dtype"])

    assert dtype_of(memory=6 * size) == "compact"
    assert not notes
    assert dtype_of(memory=5 * size) == "16-bit"
    assert "16-bit tables" in notes[0]
    assert estimate(turn, memory=5 * size)["dtype"] == "16-bit"
    for options in ({"dtype": "compact"}, {"game": turn.lock("", {"x": 1.0})}):
        with pytest.raises(MemoryLimitError):
            dtype_of(memory=5 * size, **options)
