"""Gadgets at the root of the board engine, against gadgets in general trees, linear programs and what must hold."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riverboat.cards.card_removal import without_shared
from riverboat.cards.deck import HANDS
from riverboat.cards.ranges import Range
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.base import TERMINAL
from riverboat.games.boards.root_gadgets import Choose, RootGadget, Stop
from riverboat.games.boards.unrolled import Unrolled
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.cfr import BoardCFR
from riverboat.solvers.exact.lp import solve_lp
from riverboat.solvers.run import Run
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.files import load_solved, save
from riverboat.strategies.solution import Solution
from riverboat.subgames.maxmargin import choose_hand
from riverboat.trees.boards import BoardTree
from riverboat.trees.gadgets import Endgame, endgame_at, maxmargin_gadget, resolve_gadget
from riverboat.trees.history import HistoryTree
from riverboat.trees.public import PublicTree

ROOT = Path(__file__).parents[2]
SPOTS: dict[str, dict[str, Any]] = {
    "river": {
        "board": "Td9d6hQc2s", "pot": 200, "stack": 900, "bets": "60%,a", "raises": "2.5x",
        "oop": "AA:0.3,KsJs:0.7,T9s,55:0.9,KdJd,A5s:0.4", "ip": "QQ,TT:0.5,AdKd:0.8,87s,44:0.6,A9o:0.35",
    },
    "turn": {
        "board": "Ts9s6s2s", "pot": 20, "stack": 30, "bets": {"turn": {"bet": "50%"}, "river": {"bet": "a"}},
        "oop": "AdAc,KdJd:0.7,8h7h", "ip": "QdQc,AhKh:0.8,7d7c:0.4",
    },
    "turn, three suits alike": {
        "board": "Ts9s6s2s", "pot": 20, "stack": 60, "bets": "60%", "raises": "a",
        "oop": "AA:0.3,KJs:0.7,T9o:0.6", "ip": "QQ,TT:0.5,AKs:0.8,87o:0.2",
    },
}  # fmt: skip


def spot(name: str) -> Spot:
    return Spot.make(**SPOTS[name])


def run(game: Spot, iterations: int, schedule: str = "dcfr", dtype: str = "float64", **options: Any) -> BoardCFR:
    solver = BoardCFR(BoardTree(game), schedule, dtype=dtype, **options)
    solver.step(iterations)
    return solver


def some_gadget(kind: str, player: int, seed: int, pot: float) -> RootGadget:
    """Stop pay-offs or shifts around what hands are worth, so that neither choice is the right one for all."""
    rng = np.random.default_rng((seed, player))
    numbers = rng.uniform(0.2, 0.8, HANDS) * pot
    if kind in ("stop", "drawn"):
        return Stop(player, numbers, 0.0 if kind == "stop" else rng.uniform(0.0, 0.3, HANDS) * pot)
    return Choose(player, numbers, 1.0 if kind == "choose" else rng.uniform(0.3, 1.5, HANDS))


def unrolled(game: Spot) -> tuple[PublicTree, Endgame]:
    tree = PublicTree(Unrolled.zero_sum(replace(game, gadget=None)))
    return tree, endgame_at(tree, "")


def as_history(game: Spot) -> PublicTree | HistoryTree:
    """The same gadget in a general tree, in which half of the pot is taken from each player."""
    gadget = game.gadget
    assert gadget is not None
    tree, part = unrolled(game)
    who, half = gadget.player, game.pot / 2
    reach, held = tree.deal.weights[1 - who], game.held[who]
    if isinstance(gadget, Stop):
        return resolve_gadget(part, 1 - who, reach, gadget.payoffs[held] - half).tree
    made = maxmargin_gadget(part, 1 - who, reach, np.zeros(len(held))).tree
    assert isinstance(made, HistoryTree)
    moves = next(i for i in made.infosets() if i.name == "choose").actions
    number = dict(zip(tree.hands[who], held, strict=True))
    ends = made.nodes.actor == TERMINAL
    for hand, child in zip(moves, made.children(0), strict=True):
        inside = np.zeros(len(ends), bool)
        inside[child : made.nodes.end[child]] = True
        data = made.nodes.data[inside & ends]
        h = number[hand]
        weight, shift = np.asarray(gadget.weights)[h], gadget.shifts[h]
        paid = weight * (made.payoffs[data, who] + half) - shift
        made.payoffs[data, who], made.payoffs[data, 1 - who] = paid, -paid
    return made


# --- iterations -------------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", ["dcfr", "cfr+", "vanilla", "pcfr+"])
@pytest.mark.parametrize("player", [0, 1])
def test_re_solving_iterates_as_the_general_walk_does(schedule: str, player: int) -> None:
    """Stop or enter as a decision in front of the public tree: the same averages after five iterations from nothing."""
    game = replace(spot("river"), gadget=some_gadget("stop", player, 3, 200))
    own, oracle = run(game, 5, schedule), CFR(as_history(game), schedule)
    oracle.step(5)
    root, row_of = own.walker.root.play, own.tree.row_of[0, player]
    number = dict(
        zip((h for h in PublicTree(replace(game, gadget=None)).hands[player]), game.held[player], strict=True)
    )
    seen = 0
    solution = own.average()
    lights: dict[str, Any] = {}
    for name, chances in oracle.average().items():
        held, _, line = name.partition(":")
        found = list(chances.values())
        if tuple(chances) == ("stop", "enter"):
            np.testing.assert_allclose(root[:, row_of[number[held]]], found, rtol=1e-9, atol=1e-12)
            seen += 1
            continue
        line = line.removeprefix("enter").removeprefix("-")
        light = lights.setdefault(line, solution[line])
        hands = {h: k for k, h in zip(game.held[light.player], game.hands[light.player], strict=True)}
        np.testing.assert_allclose(light.strategy[:, hands[held]], found, rtol=1e-9, atol=1e-12)
    assert seen == len(game.held[player])
    assert own.quality().nash_conv == pytest.approx(own.tree.per_chip * oracle.quality().nash_conv, rel=1e-8)


def test_choosing_iterates_as_the_vectors_of_small_games_do() -> None:
    """`choose_hand` walks the refined player first, as the engine does when that is player 0."""
    game = replace(spot("river"), gadget=some_gadget("choose", 1, 5, 200))
    tree, part = unrolled(game)
    assert isinstance(game.gadget, Choose)
    shifts = game.gadget.shifts[game.held[1]] - game.pot / 2
    _, strategy = choose_hand(part, 0, tree.deal.weights[0], shifts, 6)
    solution, number = run(game, 6).average(), dict(zip(tree.hands[0], game.held[0], strict=True))
    compared = 0
    for name, chances in strategy.items():
        held, _, line = name.partition(":")
        light = solution[line]
        if light.player == 0:
            np.testing.assert_allclose(light.strategy[:, number[held]], list(chances.values()), rtol=1e-8, atol=1e-11)
            compared += 1
    assert compared > 20


# --- linear programs --------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("kind", ["stop", "choose", "choose with weights"])
@pytest.mark.parametrize("name", ["river", "turn"])
def test_value_is_that_of_the_linear_program(name: str, kind: str, player: int, seed: int) -> None:
    game = spot(name)
    rng = np.random.default_rng(seed)
    ranges = [Range(np.where(w > 0, rng.uniform(0.1, 1, HANDS), 0.0)) for w in game.weights]
    game = replace(game, ranges=(ranges[0], ranges[1]), gadget=some_gadget(kind, player, seed, game.pot))
    exact = solve_lp(as_history(game))
    assert exact.gap < 1e-6
    value = exact.value + (game.pot / 2 if kind == "stop" else 0.0)  # to player 0
    solver = run(game, 2000)
    low, high = np.array(solver.quality().bracket) / solver.tree.per_chip
    assert low - 1e-6 <= value <= high + 1e-6
    assert high - low < 4e-3 * game.pot
    solution = solver.average()
    assert solution.earnings(0) == pytest.approx(value, abs=high - low + 1e-6)
    least = np.nanmin(solution.margins())
    if kind != "stop":  # what the choice is worth is minus the least margin
        gets = solution.earnings(player, respond=True)
        assert gets == pytest.approx(-least, abs=1e-9 * game.pot)
        assert -least == pytest.approx(value if player == 0 else -value, abs=high - low)


# --- safety -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["river", "turn, three suits alike"])
@pytest.mark.parametrize("player", [0, 1])
def test_what_the_base_strategy_holds_is_held(name: str, player: int) -> None:
    """With its counterfactual best-response values as stop pay-offs or shifts no margin is negative, and none is NaN."""
    game = spot(name)
    tree = BoardTree(game)
    base = Solution(tree, np.random.default_rng(player).random(tree.table + 16))
    met = without_shared(game.weights[1 - player])[tree.reps(0, player)]
    by_row = base.walker.respond(player)[0] / met
    values = np.zeros(HANDS)
    values[game.held[player]] = by_row[tree.row_of[0, player][game.held[player]]]
    before = base.earnings(player, respond=True)
    for gadget in (Stop(player, values), Choose(player, values)):
        solver = run(replace(game, gadget=gadget), 1500)
        found, off = solver.average(), solver.quality().nash_conv / tree.per_chip
        margins = found.margins()
        np.testing.assert_array_equal(np.flatnonzero(~np.isnan(margins)), game.held[player])
        weights = game.weights[player] * without_shared(game.weights[1 - player]) / tree.total
        lost = np.minimum(margins[game.held[player]], 0) * weights[game.held[player]]
        assert lost.sum() > -2 * off - 1e-9
        # the refined player's strategy, in the game without a gadget
        after = Solution(tree, found.table).earnings(player, respond=True)
        assert after <= before + 2 * off + 1e-9
        if isinstance(gadget, Choose):
            assert np.nanmin(margins) >= -2 * off
            assert np.nanmin(margins) > 0.01 * game.pot  # a random strategy can be improved against every hand


# --- suits ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["stop", "choose", "choose with weights"])
def test_suits_are_alike_only_where_the_gadget_keeps_them(kind: str) -> None:
    """A number that differs by 1e-9 tells suits apart: many more rows, the same values."""
    plain = BoardTree(spot("turn, three suits alike"))
    gadget = some_gadget(kind, 1, 8, 20)
    even = [
        np.array([v[plain.reps(0, 1)[r]] if r != 65535 else 0.0 for r in plain.row_of[0, 1]]) for v in gadget.vectors
    ]
    moved = [v.copy() for v in even]
    hand = next(h for h in plain.held[1] if (plain.deals.hand_maps[:, h] != h).any())
    moved[0][hand] += 1e-9
    alike, apart = (
        BoardTree(replace(spot("turn, three suits alike"), gadget=type(gadget)(1, *vectors)))
        for vectors in (even, moved)
    )
    assert alike.table == plain.table
    assert apart.table > 1.3 * alike.table
    assert len({plain.fingerprint, alike.fingerprint, apart.fingerprint}) == 3
    runs = [BoardCFR(tree, "dcfr", dtype="float64") for tree in (alike, apart)]
    for solver in runs:
        solver.step(3)
    np.testing.assert_allclose(runs[0].quality().best, runs[1].quality().best, rtol=1e-6)
    one, two = (solver.average().margins() for solver in runs)
    np.testing.assert_allclose(one, two, rtol=1e-6, atol=1e-6)


# --- threads, formats, files ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "dtype", "schedule"),
    [
        ("stop", "compact", "dcfr"),
        ("choose", "16-bit", "dcfr"),
        ("choose with weights", "float64", "pcfr+:alternating=0"),
    ],
)
def test_threads_change_nothing(kind: str, dtype: str, schedule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riverboat.core.cores.available_cores", lambda: 4)
    game = replace(spot("turn, three suits alike"), gadget=some_gadget(kind, 0, 2, 20))
    runs = [run(game, 12, schedule, dtype, threads=n) for n in (1, 2, 3)]
    assert [solver.threads for solver in runs] == [1, 2, 3]
    assert "root_regret" in runs[0].walker.names
    for solver in runs[1:]:
        for table in runs[0].walker.names:
            np.testing.assert_array_equal(solver.walker.read(table), runs[0].walker.read(table))
        assert solver.quality() == runs[0].quality()


@pytest.mark.parametrize("kind", ["stop", "choose"])
def test_formats(kind: str) -> None:
    game = replace(spot("turn"), gadget=some_gadget(kind, 1, 2, 20))
    exact = run(game, 1500).quality()
    for dtype in ("float32", "compact", "16-bit"):
        assert run(game, 1500, dtype=dtype).quality().best == pytest.approx(exact.best, abs=0.5)  # % of pot


@pytest.mark.parametrize("schedule", ["dcfr", "pcfr+"])
@pytest.mark.parametrize("kind", ["stop", "choose"])
def test_a_run_goes_on_from_its_state(kind: str, schedule: str) -> None:
    game = replace(spot("turn"), gadget=some_gadget(kind, 0, 4, 20))
    whole, first, second = run(game, 9, schedule), run(game, 4, schedule), run(game, 0, schedule)
    arrays, state = first.state()
    second.restore({name: array.copy() for name, array in arrays.items()}, state)
    second.step(5)
    for table in whole.walker.names:
        np.testing.assert_array_equal(second.walker.read(table), whole.walker.read(table))


def test_folders(tmp_path: Path) -> None:
    """A checkpoint keeps the gadget's tables, a solution what the gadget plays; the game itself is given again."""
    game = replace(spot("turn"), gadget=some_gadget("choose", 0, 4, 20))
    first = Run(game, "dcfr", out=tmp_path / "run", dtype="float64")
    first.solver.step(6)
    first.save()
    again = Run(game, "dcfr", out=tmp_path / "run", resume=True)
    for solver in (first.solver, again.solver):
        solver.step(3)
    whole = run(game, 9)
    assert isinstance(again.solver, BoardCFR)
    for table in whole.walker.names:
        np.testing.assert_array_equal(again.solver.walker.read(table), whole.walker.read(table))
    save(whole.average(), tmp_path / "answer")
    with pytest.raises(InputError, match="give it again"):
        load_solved(tmp_path / "answer")
    found = load_solved(tmp_path / "answer", game)
    assert isinstance(found, Solution)
    assert found.earnings(0) == whole.average().earnings(0)
    np.testing.assert_array_equal(found.margins(), whole.average().margins())
    with pytest.raises(InputError, match="without what its gadget plays"):
        Solution(whole.tree, whole.averages).earnings(0)
    with pytest.raises(InputError, match="another game"):
        load_solved(tmp_path / "answer", replace(game, gadget=None))


def test_bad_input() -> None:
    for bad, words in ((np.zeros(3), "shape"), (np.full(HANDS, np.nan), "nan")):
        with pytest.raises(InputError, match=words):
            Stop(0, bad)
    with pytest.raises(InputError, match="player 2"):
        Choose(2, np.zeros(HANDS))
    with pytest.raises(InputError, match="not be negative"):
        Choose(0, np.zeros(HANDS), -1.0)
    with pytest.raises(InputError, match="no margins"):
        run(spot("river"), 1).average().margins()
    with pytest.raises(InputError, match="walked on boards only"):
        PublicTree(replace(spot("turn"), gadget=Stop(0, np.zeros(HANDS))))
    one, same, other = (Stop(player, np.full(HANDS, 3.0)) for player in (0, 0, 1))
    assert one == same
    assert one != other
    assert hash(Choose(0, np.ones(HANDS))) == hash(Choose(0, np.ones(HANDS), np.ones(HANDS)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["stop", "choose"])
def test_a_rule_of_ones_own(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It plays the gadget too: regret matching written again by a user is the schedule that it copies."""
    monkeypatch.syspath_prepend(ROOT)
    game = replace(spot("river"), gadget=some_gadget(kind, 1, 6, 200))
    runs = [run(game, 8, schedule) for schedule in ("vanilla", "examples.own_rule:REGRET_MATCHING")]
    assert runs[0].walker.read("root_regret").any()
    for table in runs[0].walker.names:
        np.testing.assert_allclose(runs[1].walker.read(table), runs[0].walker.read(table), rtol=1e-9, atol=1e-12)


# --- other weights ----------------------------------------------------------------------------


def moved_ranges(game: Spot, seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    first, second = (
        np.where((w > 0) & (rng.random(HANDS) > 0.2), rng.uniform(0.1, 1, HANDS), 0.0) for w in game.weights
    )
    return first, second


@pytest.mark.parametrize("kind", [None, "stop", "choose"])
@pytest.mark.parametrize("name", ["river", "turn"])
def test_other_ranges_in_the_same_tree(name: str, kind: str | None) -> None:
    """As in a tree that was built for them; hands that nobody holds any more keep a row and change nothing."""
    game = replace(spot(name), gadget=None if kind is None else some_gadget(kind, 1, 1, 200 if name == "river" else 20))
    tree = BoardTree(game)
    first, second = moved_ranges(game, 3)
    moved, fresh = tree.with_weights(first, second), BoardTree(replace(game, ranges=(Range(first), Range(second))))
    assert moved.boards is tree.boards
    assert moved.table > fresh.table
    assert len({tree.fingerprint, moved.fingerprint, fresh.fingerprint}) == 3
    ours, theirs = BoardCFR(moved, "dcfr", dtype="float64"), BoardCFR(fresh, "dcfr", dtype="float64")
    for solver in (ours, theirs):
        solver.step(40)
    np.testing.assert_allclose(ours.quality().best, theirs.quality().best, rtol=1e-4)
    same = tree.with_weights(*(np.array(r.weights) for r in game.ranges))
    assert same.fingerprint == tree.fingerprint


def test_other_ranges_must_fit() -> None:
    tree = BoardTree(spot("turn, three suits alike"))
    weights = [np.array(r.weights) for r in spot("turn, three suits alike").ranges]
    extra = weights[0].copy()
    extra[np.flatnonzero(~np.isin(np.arange(HANDS), tree.held[0]))[-1]] = 1.0
    with pytest.raises(InputError, match="has no row"):
        tree.with_weights(extra, weights[1])
    apart = weights[0].copy()
    apart[next(h for h in tree.held[0] if (tree.deals.hand_maps[:, h] != h).any())] /= 2
    with pytest.raises(InputError, match="tell suits apart"):
        tree.with_weights(apart, weights[1])


# --- estimates of a known error -------------------------------------------------------------------


@pytest.mark.parametrize("player", [0, 1])
def test_pay_offs_that_are_drawn(player: int) -> None:
    """What is learnt, paid and answered is one zero-sum game, in which a hand enters with every draw that pays less."""
    game = replace(spot("turn, three suits alike"), gadget=some_gadget("drawn", player, 4, 20))
    solver = run(game, 400)
    walker, root = solver.walker, solver.walker.root
    assert solver.exploitability() < 0.1
    assert walker.earnings(0) + walker.earnings(1) == pytest.approx(walker.constant)
    gadget, reps = game.gadget, solver.tree.reps(0, player)
    assert isinstance(gadget, Stop)
    met = without_shared(game.weights[1 - player])[reps]
    values = walker.respond(player)[0]
    enters = root.play[1].reshape(3, -1)  # by draw: low, middle, high
    for (stops, _), played in zip(gadget.draws, enters, strict=True):
        gain = values / np.where(met > 0, met, 1.0) - stops[reps]
        assert (played[(met > 0) & (gain > 2)] > 0.9).all()
        assert (played[(met > 0) & (gain < -2)] < 0.1).all()
    assert ((enters[0] >= enters[2] - 0.05) | (met <= 0)).all()
    np.testing.assert_allclose(root.reach(player), solver.tree.weights[player] * (enters.T @ [1 / 6, 2 / 3, 1 / 6]))


@pytest.mark.parametrize("player", [0, 1])
def test_hands_that_may_not_stop(player: int) -> None:
    """Where stopping pays all there is, the rest of the game is the one in which the forced shares are the range."""
    plain = spot("turn, three suits alike")
    forced = np.where(plain.weights[player] > 0, 0.1 * plain.weights[player], 0.0)
    dealt = (plain.weights[player] > 0).astype(float)
    weights = (Range(dealt), plain.ranges[1]) if player == 0 else (plain.ranges[0], Range(dealt))
    game = replace(plain, ranges=weights, gadget=Stop(player, np.full(HANDS, 90.0), forced=forced))
    own, alone = run(game, 800), run(plain, 800)
    root = own.walker.root
    assert own.exploitability() < 0.1
    assert own.walker.earnings(0) + own.walker.earnings(1) == pytest.approx(own.walker.constant)
    np.testing.assert_allclose(root.reach(player), 0.1 * alone.tree.weights[player], atol=1e-3)
    other = 1 - player  # against hands that all enter by force nothing but the range is played for
    met = [solver.walker.respond(other)[0] / solver.tree.weights[player].sum() for solver in (own, alone)]
    np.testing.assert_allclose(met[0] / met[0].max(), met[1] / met[1].max(), atol=0.02)


def test_a_spread_of_nothing_changes_nothing() -> None:
    plain = replace(spot("river"), gadget=some_gadget("stop", 0, 3, 200))
    assert isinstance(plain.gadget, Stop)
    assert replace(plain, gadget=Stop(0, plain.gadget.payoffs, np.zeros(HANDS))) == plain
    assert replace(plain, gadget=Stop(0, plain.gadget.payoffs, 1.0)) != plain
    with pytest.raises(InputError, match="spread -1: must not be negative"):
        Stop(0, plain.gadget.payoffs, -1.0)
    with pytest.raises(InputError, match=r"forced 0 to 1\.5: must be from 0 to 1"):
        Stop(0, plain.gadget.payoffs, forced=np.linspace(0, 1.5, HANDS))
