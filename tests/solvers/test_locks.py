"""Locked nodes: a lock to a pure action equals the game without the other actions, and the rest is still solved."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from riverboat.cards.deck import HAND_CARDS, Deck, card_name
from riverboat.cards.equity.equities import equity
from riverboat.cards.ranges import Range
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.boards.board_game import expand_deals
from riverboat.games.spots.locks import NodeLock, check_locks, unreachable_locks
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.cfr import BoardCFR
from riverboat.strategies.solution import Solution
from riverboat.trees.boards import BoardTree

RIVER: dict[str, Any] = {
    "board": "Td9d6hQc2s", "pot": 100, "stack": 200, "bets": "60%,a",
    "oop": "AA:0.3,KsJs:0.7,T9s,55:0.9,KdJd,A5s:0.4", "ip": "QQ,TT:0.5,AdKd:0.8,87s,44:0.6,A9o:0.35",
}  # fmt: skip
TURN: dict[str, Any] = {
    "board": "Ts9s6s2s", "pot": 20, "stack": 60, "bets": "60%", "raises": "a",
    "oop": "AA:0.3,KJs:0.7,T9o:0.6", "ip": "QQ,TT:0.5,AKs:0.8,87o:0.2",
}  # fmt: skip
FLOP: dict[str, Any] = {
    "board": "AsKsTs", "pot": 20, "stack": 40, "bets": "75%", "deck": Deck.small(6, 3),
    "oop": "AA,KQs:0.5,JJ:0.3,QTo", "ip": "QQ,AJs:0.45,KK",
}  # fmt: skip


def solve(
    given: dict[str, Any],
    *locks: NodeLock,
    iterations: int = 600,
    dtype: str = "float64",
    schedule: str = "dcfr",
    threads: int = 1,
) -> BoardCFR:
    solver = BoardCFR(BoardTree(Spot.make(**given, locks=locks)), schedule, dtype=dtype, threads=threads)
    solver.step(iterations)
    return solver


def lock(line: str, hands: str | None = None, **strategy: float) -> NodeLock:
    return NodeLock(line, tuple(strategy.items()), None if hands is None else Range.parse(hands))


def in_range(solver: BoardCFR, line: str) -> Array:
    """Hands with positive weight of the player to act."""
    light = solver.average()[line]
    return np.flatnonzero((solver.tree.game.weights[light.player] > 0) & ~np.isin(HAND_CARDS, light.board).any(axis=1))


# --- a locked-out action equals a missing one ---------------------------------------------------


@cache
def without_bets_by(player: str) -> BoardCFR:
    menu = {"bet": RIVER["bets"]}
    other = "ip" if player == "oop" else "oop"
    return solve({**RIVER, "bets": {player: {"river": {}}, other: {"river": menu}}})


@pytest.mark.parametrize("schedule", ["dcfr", "cfr+", "pcfr+", "vanilla"])
def test_lock_to_check_equals_no_bets(schedule: str) -> None:
    """oop locked to check at the root equals the spot without bets of oop: the same bracket of the value."""
    locked, bare = solve(RIVER, lock("", x=1.0), schedule=schedule), without_bets_by("oop")
    low, high = bare.quality().bracket
    assert high - low < 0.3  # % of pot
    result = locked.quality()
    wide = 5.0 if schedule == "vanilla" else 0.3
    assert result.exploitability < wide
    assert result.bracket[0] <= high + 1e-9
    assert result.bracket[1] >= low - 1e-9
    assert locked.average().expected_value(0) == pytest.approx(bare.average().expected_value(0), abs=wide)


def test_lock_to_fold() -> None:
    """ip folds to the smaller bet: then oop wins the pot with it, with any hand."""
    solver = solve(RIVER, lock("b60", f=1.0))
    quality = solver.quality()
    assert quality.exploitability < 0.1
    assert solver.average().expected_value(0) == pytest.approx(100, abs=0.5)
    assert quality.best[0] >= 100 - 1e-9  # % of pot: the bet wins it
    assert quality.best[1] == pytest.approx(0, abs=0.3)  # a best response cannot call either


def test_pure_locks_on_two_streets_equal_no_bets() -> None:
    """Four locks against turn bets equal empty turn menus."""
    bare = solve({**TURN, "bets": {"turn": {}, "river": {"bet": "60%", "raise": "a"}}, "raises": None})
    locked = solve(TURN, lock("", x=1.0), lock("x", x=1.0))
    for quality in (bare.quality(), locked.quality()):
        assert quality.exploitability < 0.3
    assert locked.average().expected_value(0) == pytest.approx(bare.average().expected_value(0), abs=0.006 * 20)
    low, high = bare.quality().bracket
    assert locked.quality().bracket[0] <= high + 1e-9
    assert locked.quality().bracket[1] >= low - 1e-9


def test_locks_never_help_the_locked_player() -> None:
    """Zero-sum: with fewer strategies a player cannot gain."""
    free = solve(FLOP, iterations=1500).quality()
    for player, line in ((0, ""), (1, "x")):
        locked = solve(FLOP, lock(line, b15=0.5, x=0.5), iterations=1500).quality()
        assert locked.exploitability < 0.2
        own = locked.bracket if player == 0 else (100 - locked.bracket[1], 100 - locked.bracket[0])
        freely = free.bracket if player == 0 else (100 - free.bracket[1], 100 - free.bracket[0])
        assert own[0] <= freely[1] + 1e-9
        assert own[1] < freely[1] + 0.5


# --- locked strategies are played -----------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "close"), [("float64", 1e-12), ("float32", 1e-6), ("compact", 1e-3)])
@pytest.mark.parametrize("schedule", ["dcfr", "cfr+", "pcfr+", "linear", "vanilla"])
def test_all_hands_follow_the_lock(schedule: str, dtype: str, close: float) -> None:
    solver = solve(RIVER, lock("", x=0.25, b60=0.5, a=0.25), iterations=30, dtype=dtype, schedule=schedule)
    light = solver.average()[""]
    np.testing.assert_allclose(
        light.strategy[:, in_range(solver, "")], np.broadcast_to([[0.25], [0.5], [0.25]], (3, len(in_range(solver, "")))),
        rtol=close,
    )  # fmt: skip
    other = solver.average()["x"]  # no lock there
    assert np.ptp(other.strategy[0, in_range(solver, "x")]) > 0.2


def test_free_hands_respond_to_locked_ones() -> None:
    part = lock("b60", "QQ,TT", f=0.5, c=0.5)
    solver, free = solve(RIVER, part), solve(RIVER)
    light = solver.average()["b60"]
    hands = (Range.parse("QQ,TT").weights > 0)[in_range(solver, "b60")]
    strategy = light.strategy[:, in_range(solver, "b60")]
    np.testing.assert_allclose(strategy[:, hands], 0.5, rtol=1e-9)
    assert (np.abs(strategy[:, ~hands] - 0.5) > 0.1).any()
    assert solver.quality().exploitability < 0.1
    # folding the best hands half of the time costs
    assert solver.average().expected_value(1) < free.average().expected_value(1) - 0.1


def test_later_locks_override_earlier_ones() -> None:
    solver = solve(RIVER, lock("", x=1.0), lock("", "AA", a=1.0), iterations=10)
    light = solver.average()[""]
    aces = (Range.parse("AA").weights > 0)[in_range(solver, "")]
    strategy = light.strategy[:, in_range(solver, "")]
    np.testing.assert_allclose(strategy[:, aces], [[0.0], [0.0], [1.0]] * np.ones(aces.sum()), atol=1e-12)
    np.testing.assert_allclose(strategy[:, ~aces], [[1.0], [0.0], [0.0]] * np.ones((~aces).sum()), atol=1e-12)


def test_a_lock_after_a_card() -> None:
    """Only that card is locked: others are free, although suits are isomorphic without locks."""
    free = BoardTree(Spot.make(**TURN))
    assert len(free.deals.card_maps) == 6
    solver = solve(TURN, lock("x-x/8d", b12=1.0), iterations=200)
    assert len(solver.tree.deals.card_maps) == 2  # clubs and hearts are still isomorphic
    there, elsewhere = solver.average()["x-x/8d"], solver.average()["x-x/8h"]
    assert there.tree_boards[0] != elsewhere.tree_boards[0]
    np.testing.assert_allclose(there.strategy[1, in_range(solver, "x-x/8d")], 1.0, rtol=1e-9)
    assert there.strategy[1, in_range(solver, "x-x/8d")].min() > elsewhere.strategy[1, in_range(solver, "x-x/8h")].min()
    assert solver.quality().exploitability < 1.0


def test_lock_to_the_equilibrium_breaks_only_the_symmetry() -> None:
    """The same result with and without suit isomorphism.

    The lock fixes one hand on one card to its own average from the free solution, so the equilibrium remains one.
    """
    free = solve(TURN, iterations=1500)
    light = free.average()["x-x/8d"]
    hand = in_range(free, "x-x/8d")[0]
    played = np.round(light.strategy[:, hand], 4)
    played[-1] = 1 - played[:-1].sum()
    one = np.zeros(1326)
    one[hand] = 1.0
    node_lock = NodeLock("x-x/8d", tuple(zip(light.actions, played.tolist(), strict=True)), Range(one))
    solver = solve(TURN, node_lock, iterations=1500)
    assert solver.tree.table_size > 1.5 * free.tree.table_size
    gap = free.quality().exploitability + solver.quality().exploitability
    assert gap < 0.2
    for player in (0, 1):
        ours, other = (s.average().expected_value(player) * s.tree.per_chip for s in (solver, free))
        assert ours == pytest.approx(other, abs=2 * gap)


def test_unreached_locks_are_read() -> None:
    """The second lock follows an action that the first excludes: the average has no data there, but the lock is read."""
    solver = solve(RIVER, lock("", b60=1.0), lock("x-b60", f=1.0), iterations=20)
    light = solver.average()["x-b60"]
    np.testing.assert_allclose(light.strategy[0, in_range(solver, "x-b60")], 1.0, rtol=1e-9)


# --- any card ---------------------------------------------------------------------------------


WILD = [
    (TURN, "x-x/*", None), (TURN, "x-x/*-x", "QQ,AKs"), (TURN, "x-x/*", "KsJs"),
    (FLOP, "x-x/*-x-x/*", None), (FLOP, "x-x/*-x-x/Js", "AA"),
]  # fmt: skip


def written_out(given: dict[str, Any], line: str, hands: str | None) -> tuple[NodeLock, list[NodeLock]]:
    """A lock with `*`, and one lock for each card in its place."""
    spot, parts = Spot.make(**given), line.split("/")
    node, pattern = spot.betting.find(line, any_card=True)
    played = {"x": 0.25, spot.betting.actions(node)[1]: 0.75}
    lines = []
    for dealt in expand_deals(pattern, spot.board, spot.deck.cards.tolist(), spot.deals):
        dealt_parts = [card_name(c) + part.lstrip("*Js") for (c,), part in zip(dealt, parts[1:], strict=True)]
        lines.append("/".join([parts[0], *dealt_parts]))
    assert len(lines) == len(set(lines)) > 10
    return lock(line, hands, **played), [lock(each, hands, **played) for each in lines]


@pytest.mark.parametrize(("given", "line", "hands"), WILD)
def test_any_card_equals_a_lock_for_each_card(given: dict[str, Any], line: str, hands: str | None) -> None:
    """Bitwise, if ranges distinguish all suits."""
    odd = {**given, "oop": given["oop"] + ",JsJh:0.11,JsJd:0.12,JhJd:0.13,JsJc:0.14"}
    wild, cards = written_out(odd, line, hands)
    short, long = solve(odd, wild, iterations=10), solve(odd, *cards, iterations=10)
    assert len(short.tree.deals.card_maps) == len(long.tree.deals.card_maps) == 1
    np.testing.assert_array_equal(short.engine.read("regret"), long.engine.read("regret"))
    np.testing.assert_array_equal(short.averages, long.averages)
    free = solve(odd, iterations=10)
    assert not np.array_equal(short.engine.read("regret"), free.engine.read("regret"))


@pytest.mark.parametrize(("given", "line", "hands"), WILD)
def test_any_card_keeps_suit_isomorphism(given: dict[str, Any], line: str, hands: str | None) -> None:
    wild, cards = written_out(given, line, hands)
    solver = solve(given, wild, iterations=5)
    if hands is None:
        assert len(solver.tree.deals.card_maps) == len(BoardTree(Spot.make(**given)).deals.card_maps) > 1
    solution = solver.average()
    for card in cards[::5]:
        light = solution[card.line]
        present = np.isfinite(light.strategy[0]) & (True if wild.hands is None else wild.hands.weights > 0)
        assert present.any() or hands == "KsJs"
        np.testing.assert_allclose(light.strategy[1, present], 0.75, rtol=1e-9)
        if hands is not None:
            others = np.isfinite(light.strategy[0]) & ~present
            assert (np.abs(light.strategy[1, others] - 0.75) > 1e-3).all()


def test_single_node_needs_its_cards() -> None:
    with pytest.raises(InputError, match=r"line 'x-x/\*': '\*'"):
        solve(TURN, iterations=1).average()["x-x/*"]


# --- best responses ---------------------------------------------------------------------------


def test_best_response_respects_locks() -> None:
    """The nuts locked to fold win nothing more, and exploitability does not count what they give up."""
    arguments: dict[str, Any] = {
        "board": "2c2d2h2s3c", "pot": 60, "stack": 60, "oop": "KK", "ip": "AA",
        "bets": {"oop": {"river": {"bet": "a"}}, "ip": {"river": {}}},
    }  # fmt: skip
    free, locked = solve(arguments), solve(arguments, lock("a", f=1.0))
    assert free.quality().bracket[0] == pytest.approx(0, abs=0.5)
    quality = locked.quality()
    assert quality.best[1] == pytest.approx(0, abs=0.5)  # cannot call
    assert quality.best[0] == pytest.approx(100, abs=1e-6)
    assert quality.exploitability < 0.3
    solution = locked.average()
    assert solution.expected_value(1, respond=True) == pytest.approx(solution.expected_value(1), abs=0.3)
    # only the lock prevents a call: without it the strategy is exploitable
    table = solution.table.copy()
    unlocked = Solution(free.tree, table)
    assert unlocked.expected_value(1, respond=True) > solution.expected_value(1) + 50


@pytest.mark.parametrize("given", [RIVER, TURN, FLOP], ids=["river", "turn", "flop"])
def test_exploitability_given_locks_converges(given: dict[str, Any]) -> None:
    tree = BoardTree(Spot.make(**given))
    move = tree.betting.actions(0)[1]
    locks = [lock("", **{"x": 0.3, move: 0.7}), lock("x", None, x=1.0)]
    gaps = [solve(given, *locks, iterations=n).quality().exploitability for n in (10, 100, 1000)]
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 0.2


def test_rake_with_locks() -> None:
    solver = solve({**FLOP, "rake": 0.05, "rake_cap": 3.0}, lock("", x=0.3, b15=0.7), iterations=1000)
    quality = solver.quality()
    assert quality.total is None
    assert quality.exploitability < 0.3
    assert all(b >= v - 1e-9 for b, v in zip(quality.best, quality.values, strict=True))


def test_threads_respect_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riverboat.core.resources.available_cores", lambda: 4)
    locks = lock("", x=0.3, b12=0.7), lock("x-x/8d", "AA", b12=1.0)
    runs = [solve(TURN, *locks, iterations=10, threads=n) for n in (1, 2, 3)]
    for run in runs[1:]:
        np.testing.assert_array_equal(run.engine.read("regret"), runs[0].engine.read("regret"))
        np.testing.assert_array_equal(run.averages, runs[0].averages)
        assert run.quality() == runs[0].quality()


# --- against tree CFR ----------------------------------------------------


def test_best_response_to_a_locked_opponent() -> None:
    """ip locked at its only decision: oop's best response follows from the pot odds, hand by hand."""
    arguments: dict[str, Any] = {
        "board": "Td9d6hQc2s", "pot": 100, "stack": 100, "bets": {"oop": {"river": {"bet": "a"}}, "ip": {"river": {}}},
        "oop": "AA:0.3,KsJs:0.7,T9s,55:0.9,KdJd,A5s:0.4", "ip": "QQ,TT:0.5,AdKd:0.8,87s,44:0.6,A9o:0.35",
    }  # fmt: skip
    calls = 0.4
    solver = solve(arguments, lock("a", f=1 - calls, c=calls), lock("x", x=1.0), iterations=500)
    shares = equity(arguments["oop"], arguments["ip"], board=arguments["board"]).by_hand
    assert shares is not None
    hands = in_range(solver, "")
    bet = (1 - calls) * 100 + calls * (300 * shares[hands] - 100)  # ip calls equally with all hands
    expected = np.maximum(100 * shares[hands], bet)
    result = solver.average()[""]
    # away from indifference, 500 iterations give a nearly pure strategy
    np.testing.assert_allclose(result.ev(0)[hands], expected, atol=0.5)
    weight = result.compatible_weight(0)[hands] * solver.tree.game.weights[0][hands]
    best = solver.average().expected_value(0, respond=True)
    assert best == pytest.approx(float(np.sum(weight * expected) / weight.sum()), rel=1e-9)


# --- invalid locks --------------------------------------------------------------------------


def test_invalid_locks() -> None:
    for wrong, pattern in (
        (lock("x-x", x=1.0), "x-x"),
        (lock("", b7=1.0), "b7"),
        (lock("", x=0.5), "0.5"),
        (lock("", "22", x=1.0), "22"),
    ):
        with pytest.raises(InputError, match=pattern):
            solve(RIVER, wrong, iterations=0)
    with pytest.raises(InputError, match=r"lock.*float32.*float64"):
        solve(RIVER, lock("", x=1.0), dtype="16-bit")
    with pytest.raises(InputError, match="Ts"):
        solve(TURN, lock("x-x/Ts", x=1.0), iterations=0)


@pytest.mark.parametrize(
    ("first", "second", "fits"),
    [
        # the second is a subset of the first: an exception
        (("x-x/*", None), ("x-x/*", "AA"), True),
        (("x-x/*", None), ("x-x/8d", None), True),
        (("x-x/*", "AA"), ("x-x/8d", "AsAh"), True),
        # disjoint
        (("x-x/*", "AA"), ("x-x/*", "KJs"), True),
        (("x-x/8d", None), ("x-x/8h", None), True),
        (("", "AA"), ("x", "TT"), True),
        (("x-x/*", "22"), ("x-x/*", "AA,22"), None),  # 22 is not in range: rejected
        # neither is a subset of the other, or the later one is wider
        (("x-x/*", "AA"), ("x-x/*", None), False),
        (("x-x/8d", None), ("x-x/*", None), False),
        (("x-x/*", "AA"), ("x-x/8d", None), False),
        (("x-x/8d", "AA,KJs"), ("x-x/8d", "AA,T9o"), False),
        (("x-x/8d", None), ("x-x/8d", None), False),
        (("", "AA"), ("", "AsAh,AA"), False),
    ],
)
def test_overlapping_locks_are_exceptions_or_contradictions(
    first: tuple[str, str | None], second: tuple[str, str | None], fits: bool | None
) -> None:
    spot = Spot.make(**TURN)
    bets = [spot.betting.actions(spot.betting.find(line, any_card=True).node)[1] for line, _ in (first, second)]
    apart = [lock(*first, x=1.0), lock(*second, **{bets[1]: 1.0})]
    alike = [lock(*first, x=1.0), lock(*second, **{"x": 1.0, bets[1]: 0.0})]
    if fits is None:
        with pytest.raises(InputError, match="22"):
            check_locks(replace(spot, locks=tuple(apart)))
        return
    check_locks(replace(spot, locks=tuple(alike)))  # the same lock twice is no contradiction
    if fits:
        check_locks(replace(spot, locks=tuple(apart)))
    else:
        with pytest.raises(InputError, match=r"lock 2 at '.*'.* lock 1"):
            check_locks(replace(spot, locks=tuple(apart)))


def test_locks_have_no_weights() -> None:
    with pytest.raises(InputError, match=r"lock 1 at '': weight 0.5 of "):
        Spot.make(**RIVER).lock("", {"x": 1.0}, "AA,KJs:0.5")


def test_unreachable_locks_are_reported() -> None:
    spot = Spot.make(**TURN)
    locked = replace(spot, locks=(lock("", b12=1.0), lock("x-x/*", x=1.0), lock("b12", c=1.0)))
    (report,) = unreachable_locks(locked)
    assert report.startswith("lock 2 at 'x-x/*'")
    assert "lock 1 at ''" in report
    for others in (
        (lock("", "AA", b12=1.0), lock("x-x/*", x=1.0)),
        (lock("", b12=1.0), lock("", "AA", x=1.0), lock("x", x=1.0)),
    ):
        assert not list(unreachable_locks(replace(spot, locks=others)))


def test_locks_are_part_of_the_fingerprint() -> None:
    game = Spot.make(**RIVER)
    free, locked = BoardTree(game), BoardTree(replace(game, locks=(lock("", x=1.0),)))
    assert free.fingerprint != locked.fingerprint
