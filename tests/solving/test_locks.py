"""Locked nodes: a lock to a pure move is the game without the others, and the rest of the game is still solved."""

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
from riverboat.games.boards.board_game import every_deal
from riverboat.games.spots.locks import Lock, check_locks, unreachable
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
    *locks: Lock,
    iterations: int = 600,
    dtype: str = "float64",
    schedule: str = "dcfr",
    threads: int = 1,
) -> BoardCFR:
    solver = BoardCFR(BoardTree(Spot.make(**given, locks=locks)), schedule, dtype=dtype, threads=threads)
    solver.step(iterations)
    return solver


def lock(line: str, hands: str | None = None, **strategy: float) -> Lock:
    return Lock(line, tuple(strategy.items()), None if hands is None else Range.parse(hands))


def in_range(solver: BoardCFR, line: str) -> Array:
    """Hands that the player who acts there holds with any weight."""
    light = solver.average()[line]
    return np.flatnonzero((solver.tree.game.weights[light.player] > 0) & ~np.isin(HAND_CARDS, light.board).any(axis=1))


# --- a move that is locked out is not there ---------------------------------------------------


@cache
def without_bets_by(player: str) -> BoardCFR:
    menu = {"bet": RIVER["bets"]}
    other = "ip" if player == "oop" else "oop"
    return solve({**RIVER, "bets": {player: {"river": {}}, other: {"river": menu}}})


@pytest.mark.parametrize("schedule", ["dcfr", "cfr+", "pcfr+", "vanilla"])
def test_a_player_that_must_check(schedule: str) -> None:
    """oop locked to check at the root is the spot in which oop has no bets: the same bracket of the value."""
    locked, bare = solve(RIVER, lock("", x=1.0), schedule=schedule), without_bets_by("oop")
    low, high = bare.quality().bracket
    assert high - low < 0.3  # % of pot
    found = locked.quality()
    wide = 5.0 if schedule == "vanilla" else 0.3
    assert found.exploitability < wide
    assert found.bracket[0] <= high + 1e-9
    assert found.bracket[1] >= low - 1e-9
    assert locked.average().earnings(0) == pytest.approx(bare.average().earnings(0), abs=wide)


def test_a_caller_that_must_fold() -> None:
    """ip folds to the smaller bet: then oop takes the pot with it, whatever it holds."""
    solver = solve(RIVER, lock("b60", f=1.0))
    quality = solver.quality()
    assert quality.exploitability < 0.1
    assert solver.average().earnings(0) == pytest.approx(100, abs=0.5)
    assert quality.best[0] >= 100 - 1e-9  # % of pot: the bet wins it
    assert quality.best[1] == pytest.approx(0, abs=0.3)  # a best response may not call either


def test_a_pure_lock_over_streets_is_the_game_without_the_bet() -> None:
    """Neither bets on the turn, by four locks; against menus that are empty there."""
    bare = solve({**TURN, "bets": {"turn": {}, "river": {"bet": "60%", "raise": "a"}}, "raises": None})
    locked = solve(TURN, lock("", x=1.0), lock("x", x=1.0))
    for quality in (bare.quality(), locked.quality()):
        assert quality.exploitability < 0.3
    assert locked.average().earnings(0) == pytest.approx(bare.average().earnings(0), abs=0.006 * 20)
    low, high = bare.quality().bracket
    assert locked.quality().bracket[0] <= high + 1e-9
    assert locked.quality().bracket[1] >= low - 1e-9


def test_locks_cost_the_locked_player_and_no_one_else() -> None:
    """Zero-sum: with fewer strategies a player cannot have more."""
    free = solve(FLOP, iterations=1500).quality()
    for player, line in ((0, ""), (1, "x")):
        held = solve(FLOP, lock(line, b15=0.5, x=0.5), iterations=1500).quality()
        assert held.exploitability < 0.2
        mine = held.bracket if player == 0 else (100 - held.bracket[1], 100 - held.bracket[0])
        freely = free.bracket if player == 0 else (100 - free.bracket[1], 100 - free.bracket[0])
        assert mine[0] <= freely[1] + 1e-9
        assert mine[1] < freely[1] + 0.5


# --- what is locked is played -----------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "close"), [("float64", 1e-12), ("float32", 1e-6), ("compact", 1e-3)])
@pytest.mark.parametrize("schedule", ["dcfr", "cfr+", "pcfr+", "linear", "vanilla"])
def test_all_hands_play_what_is_locked(schedule: str, dtype: str, close: float) -> None:
    solver = solve(RIVER, lock("", x=0.25, b60=0.5, a=0.25), iterations=30, dtype=dtype, schedule=schedule)
    light = solver.average()[""]
    np.testing.assert_allclose(
        light.strategy[:, in_range(solver, "")], np.broadcast_to([[0.25], [0.5], [0.25]], (3, len(in_range(solver, "")))),
        rtol=close,
    )  # fmt: skip
    other = solver.average()["x"]  # nothing is locked there
    assert np.ptp(other.strategy[0, in_range(solver, "x")]) > 0.2


def test_some_hands_are_locked_and_the_others_answer() -> None:
    part = lock("b60", "QQ,TT", f=0.5, c=0.5)
    solver, free = solve(RIVER, part), solve(RIVER)
    light = solver.average()["b60"]
    held = (Range.parse("QQ,TT").weights > 0)[in_range(solver, "b60")]
    strategy = light.strategy[:, in_range(solver, "b60")]
    np.testing.assert_allclose(strategy[:, held], 0.5, rtol=1e-9)
    assert (np.abs(strategy[:, ~held] - 0.5) > 0.1).any()
    assert solver.quality().exploitability < 0.1
    # folding the best hands half of the time costs
    assert solver.average().earnings(1) < free.average().earnings(1) - 0.1


def test_later_locks_go_over_earlier_ones() -> None:
    solver = solve(RIVER, lock("", x=1.0), lock("", "AA", a=1.0), iterations=10)
    light = solver.average()[""]
    aces = (Range.parse("AA").weights > 0)[in_range(solver, "")]
    strategy = light.strategy[:, in_range(solver, "")]
    np.testing.assert_allclose(strategy[:, aces], [[0.0], [0.0], [1.0]] * np.ones(aces.sum()), atol=1e-12)
    np.testing.assert_allclose(strategy[:, ~aces], [[1.0], [0.0], [0.0]] * np.ones((~aces).sum()), atol=1e-12)


def test_a_lock_after_a_card() -> None:
    """Only that card: others are free, though suits stand for each other where nothing is locked."""
    free = BoardTree(Spot.make(**TURN))
    assert len(free.deals.card_maps) == 6
    solver = solve(TURN, lock("x-x/8d", b12=1.0), iterations=200)
    assert len(solver.tree.deals.card_maps) == 2  # clubs and hearts still do
    there, elsewhere = solver.average()["x-x/8d"], solver.average()["x-x/8h"]
    assert there.boards[0] != elsewhere.boards[0]
    np.testing.assert_allclose(there.strategy[1, in_range(solver, "x-x/8d")], 1.0, rtol=1e-9)
    assert there.strategy[1, in_range(solver, "x-x/8d")].min() > elsewhere.strategy[1, in_range(solver, "x-x/8h")].min()
    assert solver.quality().exploitability < 1.0


def test_a_lock_that_breaks_the_symmetry_but_says_what_is_played_anyway() -> None:
    """With and without suits that stand for each other: one answer.

    The lock fixes one hand at one card to its own average from the free solution, so the equilibrium stays one.
    """
    free = solve(TURN, iterations=1500)
    light = free.average()["x-x/8d"]
    held = in_range(free, "x-x/8d")[0]
    played = np.round(light.strategy[:, held], 4)
    played[-1] = 1 - played[:-1].sum()
    one = np.zeros(1326)
    one[held] = 1.0
    given = Lock("x-x/8d", tuple(zip(light.actions, played.tolist(), strict=True)), Range(one))
    solver = solve(TURN, given, iterations=1500)
    assert solver.tree.table > 1.5 * free.tree.table
    gap = free.quality().exploitability + solver.quality().exploitability
    assert gap < 0.2
    for player in (0, 1):
        ours, theirs = (s.average().earnings(player) * s.tree.per_chip for s in (solver, free))
        assert ours == pytest.approx(theirs, abs=2 * gap)


def test_a_lock_is_read_where_nobody_comes() -> None:
    """The second lock stands behind a move that the first rules out: the average knows nothing of it, the reader does."""
    solver = solve(RIVER, lock("", b60=1.0), lock("x-b60", f=1.0), iterations=20)
    light = solver.average()["x-b60"]
    np.testing.assert_allclose(light.strategy[0, in_range(solver, "x-b60")], 1.0, rtol=1e-9)


# --- any card ---------------------------------------------------------------------------------


WILD = [
    (TURN, "x-x/*", None), (TURN, "x-x/*-x", "QQ,AKs"), (TURN, "x-x/*", "KsJs"),
    (FLOP, "x-x/*-x-x/*", None), (FLOP, "x-x/*-x-x/Js", "AA"),
]  # fmt: skip


def written_out(given: dict[str, Any], line: str, hands: str | None) -> tuple[Lock, list[Lock]]:
    """A lock with `*`, and one for each card in its place."""
    spot, parts = Spot.make(**given), line.split("/")
    node, pattern = spot.betting.find(line, any_card=True)
    played = {"x": 0.25, spot.betting.moves(node)[1]: 0.75}
    lines = []
    for dealt in every_deal(pattern, spot.board, spot.deck.cards.tolist(), spot.deals):
        dealt_parts = [card_name(c) + part.lstrip("*Js") for (c,), part in zip(dealt, parts[1:], strict=True)]
        lines.append("/".join([parts[0], *dealt_parts]))
    assert len(lines) == len(set(lines)) > 10
    return lock(line, hands, **played), [lock(each, hands, **played) for each in lines]


@pytest.mark.parametrize(("given", "line", "hands"), WILD)
def test_any_card_is_every_card_written_out(given: dict[str, Any], line: str, hands: str | None) -> None:
    """Bit by bit, where ranges tell all suits apart."""
    odd = {**given, "oop": given["oop"] + ",JsJh:0.11,JsJd:0.12,JhJd:0.13,JsJc:0.14"}
    wild, cards = written_out(odd, line, hands)
    short, long = solve(odd, wild, iterations=10), solve(odd, *cards, iterations=10)
    assert len(short.tree.deals.card_maps) == len(long.tree.deals.card_maps) == 1
    np.testing.assert_array_equal(short.walker.read("regret"), long.walker.read("regret"))
    np.testing.assert_array_equal(short.averages, long.averages)
    free = solve(odd, iterations=10)
    assert not np.array_equal(short.walker.read("regret"), free.walker.read("regret"))


@pytest.mark.parametrize(("given", "line", "hands"), WILD)
def test_any_card_keeps_suits_that_stand_for_each_other(given: dict[str, Any], line: str, hands: str | None) -> None:
    wild, cards = written_out(given, line, hands)
    solver = solve(given, wild, iterations=5)
    if hands is None:
        assert len(solver.tree.deals.card_maps) == len(BoardTree(Spot.make(**given)).deals.card_maps) > 1
    solution = solver.average()
    for card in cards[::5]:
        light = solution[card.line]
        held = np.isfinite(light.strategy[0]) & (True if wild.hands is None else wild.hands.weights > 0)
        assert held.any() or hands == "KsJs"
        np.testing.assert_allclose(light.strategy[1, held], 0.75, rtol=1e-9)
        if hands is not None:
            others = np.isfinite(light.strategy[0]) & ~held
            assert (np.abs(light.strategy[1, others] - 0.75) > 1e-3).all()


def test_one_node_needs_its_cards() -> None:
    with pytest.raises(InputError, match=r"line 'x-x/\*': '\*' is any card.*name the card"):
        solve(TURN, iterations=1).average()["x-x/*"]


# --- best responses ---------------------------------------------------------------------------


def test_a_best_response_may_not_leave_the_lock() -> None:
    """The nuts locked to fold: by the lock they win nothing more, and exploitability does not count what they give up."""
    given: dict[str, Any] = {
        "board": "2c2d2h2s3c", "pot": 60, "stack": 60, "oop": "KK", "ip": "AA",
        "bets": {"oop": {"river": {"bet": "a"}}, "ip": {"river": {}}},
    }  # fmt: skip
    free, held = solve(given), solve(given, lock("a", f=1.0))
    assert free.quality().bracket[0] == pytest.approx(0, abs=0.5)
    quality = held.quality()
    assert quality.best[1] == pytest.approx(0, abs=0.5)  # cannot call
    assert quality.best[0] == pytest.approx(100, abs=1e-6)
    assert quality.exploitability < 0.3
    solution = held.average()
    assert solution.earnings(1, respond=True) == pytest.approx(solution.earnings(1), abs=0.3)
    # nothing else than the lock keeps it from calling: the same strategy without lock is worth less than its best response
    table = solution.table.copy()
    unlocked = Solution(free.tree, table)
    assert unlocked.earnings(1, respond=True) > solution.earnings(1) + 50


@pytest.mark.parametrize("given", [RIVER, TURN, FLOP], ids=["river", "turn", "flop"])
def test_exploitability_of_the_rest_goes_to_zero(given: dict[str, Any]) -> None:
    tree = BoardTree(Spot.make(**given))
    move = tree.betting.moves(0)[1]
    locks = [lock("", **{"x": 0.3, move: 0.7}), lock("x", None, x=1.0)]
    gaps = [solve(given, *locks, iterations=n).quality().exploitability for n in (10, 100, 1000)]
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 0.2


def test_rake_and_locks_go_together() -> None:
    solver = solve({**FLOP, "rake": 0.05, "rake_cap": 3.0}, lock("", x=0.3, b15=0.7), iterations=1000)
    quality = solver.quality()
    assert quality.total is None
    assert quality.exploitability < 0.3
    assert all(b >= v - 1e-9 for b, v in zip(quality.best, quality.values, strict=True))


def test_threads_keep_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riverboat.core.cores.available_cores", lambda: 4)
    locks = lock("", x=0.3, b12=0.7), lock("x-x/8d", "AA", b12=1.0)
    runs = [solve(TURN, *locks, iterations=10, threads=n) for n in (1, 2, 3)]
    for run in runs[1:]:
        np.testing.assert_array_equal(run.walker.read("regret"), runs[0].walker.read("regret"))
        np.testing.assert_array_equal(run.averages, runs[0].averages)
        assert run.quality() == runs[0].quality()


# --- a locked spot against the general game ----------------------------------------------------


def test_locks_by_a_fixed_strategy_in_the_general_walk() -> None:
    """ip locked at its only decision: oop's best response is found hand by hand, by the pot odds."""
    given: dict[str, Any] = {
        "board": "Td9d6hQc2s", "pot": 100, "stack": 100, "bets": {"oop": {"river": {"bet": "a"}}, "ip": {"river": {}}},
        "oop": "AA:0.3,KsJs:0.7,T9s,55:0.9,KdJd,A5s:0.4", "ip": "QQ,TT:0.5,AdKd:0.8,87s,44:0.6,A9o:0.35",
    }  # fmt: skip
    calls = 0.4
    solver = solve(given, lock("a", f=1 - calls, c=calls), lock("x", x=1.0), iterations=500)
    shares = equity(given["oop"], given["ip"], board=given["board"]).by_hand
    assert shares is not None
    held = in_range(solver, "")
    bet = (1 - calls) * 100 + calls * (300 * shares[held] - 100)  # ip calls with all hands alike
    expected = np.maximum(100 * shares[held], bet)
    found = solver.average()[""]
    # away from the point where both are worth the same, 500 iterations have made up their mind
    np.testing.assert_allclose(found.ev(0)[held], expected, atol=0.5)
    weight = found.compatible(0)[held] * solver.tree.game.weights[0][held]
    best = solver.average().earnings(0, respond=True)
    assert best == pytest.approx(float(np.sum(weight * expected) / weight.sum()), rel=1e-9)


# --- what is refused --------------------------------------------------------------------------


def test_bad_locks_are_refused() -> None:
    for wrong, words in (
        (lock("x-x", x=1.0), "nobody acts there"),
        (lock("", b7=1.0), "unknown move 'b7'"),
        (lock("", x=0.5), "sum to 1"),
        (lock("", "22", x=1.0), "holds none of"),
    ):
        with pytest.raises(InputError, match=words):
            solve(RIVER, wrong, iterations=0)
    with pytest.raises(InputError, match="locks need float32 or float64"):
        solve(RIVER, lock("", x=1.0), dtype="16-bit")
    with pytest.raises(InputError, match="cannot be dealt"):
        solve(TURN, lock("x-x/Ts", x=1.0), iterations=0)


@pytest.mark.parametrize(
    ("first", "second", "fits"),
    [
        # all that the second speaks of is part of the first: an exception
        (("x-x/*", None), ("x-x/*", "AA"), True),
        (("x-x/*", None), ("x-x/8d", None), True),
        (("x-x/*", "AA"), ("x-x/8d", "AsAh"), True),
        # nothing is in both
        (("x-x/*", "AA"), ("x-x/*", "KJs"), True),
        (("x-x/8d", None), ("x-x/8h", None), True),
        (("", "AA"), ("x", "TT"), True),
        (("x-x/*", "22"), ("x-x/*", "AA,22"), None),  # 22 is not held: refused for that
        # neither is part of the other, or the later one is wider
        (("x-x/*", "AA"), ("x-x/*", None), False),
        (("x-x/8d", None), ("x-x/*", None), False),
        (("x-x/*", "AA"), ("x-x/8d", None), False),
        (("x-x/8d", "AA,KJs"), ("x-x/8d", "AA,T9o"), False),
        (("x-x/8d", None), ("x-x/8d", None), False),
        (("", "AA"), ("", "AsAh,AA"), False),
    ],
)
def test_locks_that_overlap_are_exceptions_or_contradictions(
    first: tuple[str, str | None], second: tuple[str, str | None], fits: bool | None
) -> None:
    given = Spot.make(**TURN)
    bets = [given.betting.moves(given.betting.find(line, any_card=True).node)[1] for line, _ in (first, second)]
    apart = [lock(*first, x=1.0), lock(*second, **{bets[1]: 1.0})]
    alike = [lock(*first, x=1.0), lock(*second, **{"x": 1.0, bets[1]: 0.0})]
    if fits is None:
        with pytest.raises(InputError, match="holds none of"):
            check_locks(replace(given, locks=tuple(apart)))
        return
    check_locks(replace(given, locks=tuple(alike)))  # the same thing twice is no contradiction
    if fits:
        check_locks(replace(given, locks=tuple(apart)))
    else:
        with pytest.raises(InputError, match=r"lock 2 at '.*' contradicts lock 1: both speak of [^ ]+ and play"):
            check_locks(replace(given, locks=tuple(apart)))


def test_a_lock_has_no_weights() -> None:
    with pytest.raises(InputError, match=r"lock 1 at '': weight 0.5 of .*: a hand is locked or it is not"):
        Spot.make(**RIVER).lock("", {"x": 1.0}, "AA,KJs:0.5")


def test_locks_that_no_hand_reaches_are_told() -> None:
    spot = Spot.make(**TURN)
    found = replace(spot, locks=(lock("", b12=1.0), lock("x-x/*", x=1.0), lock("b12", c=1.0)))
    assert list(unreachable(found)) == ["lock 2 at 'x-x/*' is never reached: lock 1 at '' plays no x"]
    for others in (
        (lock("", "AA", b12=1.0), lock("x-x/*", x=1.0)),
        (lock("", b12=1.0), lock("", "AA", x=1.0), lock("x", x=1.0)),
    ):
        assert not list(unreachable(replace(spot, locks=others)))


def test_locks_are_part_of_the_fingerprint() -> None:
    game = Spot.make(**RIVER)
    free, held = BoardTree(game), BoardTree(replace(game, locks=(lock("", x=1.0),)))
    assert free.fingerprint != held.fingerprint
