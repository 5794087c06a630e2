"""Gadgets at the root of board engines, against gadgets in general trees, linear programs and invariants."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riverboat.cards.deck import NUM_HANDS
from riverboat.cards.ranges import Range, compatible_weights
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.base import TERMINAL
from riverboat.games.boards.board_game import UnrolledBoardGame
from riverboat.games.boards.root_gadgets import MaxmarginGadget, ResolvingGadget, RootGadget
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.cfr import BoardCFR
from riverboat.solvers.exact.lp import solve_lp
from riverboat.solvers.run import CFRRun
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.files import load_solution, save
from riverboat.strategies.solution import Solution
from riverboat.subgames.resolving import solve_vector_maxmargin
from riverboat.trees.boards import BoardTree
from riverboat.trees.gadgets import TreeSubgame, ValueLimits, find_subgame, maxmargin_gadget, resolve_gadget
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
    "turn, three equivalent suits": {
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
    """Return stop payoffs or shifts around the values of hands, so that no choice is right for all hands."""
    rng = np.random.default_rng((seed, player))
    numbers = rng.uniform(0.2, 0.8, NUM_HANDS) * pot
    if kind == "choose with limits":
        limits = rng.uniform(0.2, 0.8, NUM_HANDS) * pot
        return MaxmarginGadget(player, numbers, 1.0, limits, 3.1)
    if kind in ("stop", "drawn"):
        return ResolvingGadget(player, numbers, 0.0 if kind == "stop" else rng.uniform(0.0, 0.3, NUM_HANDS) * pot)
    return MaxmarginGadget(player, numbers, 1.0 if kind == "choose" else rng.uniform(0.3, 1.5, NUM_HANDS))


def unrolled(game: Spot) -> tuple[PublicTree, TreeSubgame]:
    tree = PublicTree(UnrolledBoardGame.zero_sum(replace(game, gadget=None)))
    return tree, find_subgame(tree, "")


def as_history(game: Spot) -> PublicTree | HistoryTree:
    """Return the same gadget in a general tree, in which each player pays half of the pot."""
    gadget = game.gadget
    assert gadget is not None
    tree, part = unrolled(game)
    who, half = gadget.player, game.pot / 2
    reach, held = tree.deal.weights[1 - who], game.hand_indices[who]
    if isinstance(gadget, ResolvingGadget):
        return resolve_gadget(part, 1 - who, reach, gadget.payoffs[held] - half).tree
    limited = gadget.limits is not None
    multiplier = float(np.max(gadget.multipliers)) / len(held)
    limits = ValueLimits(np.zeros(len(held)), multiplier) if limited else None
    made = maxmargin_gadget(part, 1 - who, reach, np.zeros(len(held)), limits).tree
    assert isinstance(made, HistoryTree)
    moves = next(i for i in made.infosets() if i.name == "choose").actions
    number = dict(zip(tree.hands[who], held, strict=True))
    ends = made.nodes.actor == TERMINAL

    def pay(child: int, hand: str, bounds: Array) -> None:
        """Write what the gadget's player gets below a node with a hand, given the bound of each hand."""
        inside = np.zeros(len(ends), bool)
        inside[child : made.nodes.end[child]] = True
        data, h = made.nodes.data[inside & ends], number[hand]
        paid = np.asarray(gadget.weights)[h] * (made.payoffs[data, who] + half) - bounds[h]
        made.payoffs[data, who], made.payoffs[data, 1 - who] = paid, -paid

    choice, *entries = made.children(0) if limited else [0]
    for hand, child in zip(moves, made.children(choice), strict=True):
        pay(child, hand, gadget.shifts)
    for hand, entry in zip(moves, entries, strict=limited):
        assert gadget.limits is not None
        pay(list(made.children(entry))[1], hand, gadget.limits)
    return made


# --- iterations -------------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", ["dcfr", "cfr+", "vanilla", "pcfr+"])
@pytest.mark.parametrize("player", [0, 1])
def test_resolving_iterations_equal_those_of_a_general_tree(schedule: str, player: int) -> None:
    """With stop or enter as a decision before the public tree, the averages after five iterations are the same."""
    game = replace(spot("river"), gadget=some_gadget("stop", player, 3, 200))
    own, oracle = run(game, 5, schedule), CFR(as_history(game), schedule)
    oracle.step(5)
    root, row_of = own.engine.root.average_strategy, own.tree.row_of[0, player]
    number = dict(
        zip((h for h in PublicTree(replace(game, gadget=None)).hands[player]), game.hand_indices[player], strict=True)
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
        hands = {h: k for k, h in zip(game.hand_indices[light.player], game.hands[light.player], strict=True)}
        np.testing.assert_allclose(light.strategy[:, hands[held]], found, rtol=1e-9, atol=1e-12)
    assert seen == len(game.hand_indices[player])
    assert own.quality().nash_conv == pytest.approx(own.tree.per_chip * oracle.quality().nash_conv, rel=1e-8)


def test_choosing_iterations_equal_those_of_small_games() -> None:
    """`choose_hand` updates the refined player first, like the engine if that is player 0."""
    game = replace(spot("river"), gadget=some_gadget("choose", 1, 5, 200))
    tree, part = unrolled(game)
    assert isinstance(game.gadget, MaxmarginGadget)
    shifts = game.gadget.shifts[game.hand_indices[1]] - game.pot / 2
    _, strategy = solve_vector_maxmargin(part, 0, tree.deal.weights[0], shifts, 6)
    solution, number = run(game, 6).average(), dict(zip(tree.hands[0], game.hand_indices[0], strict=True))
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
@pytest.mark.parametrize("kind", ["stop", "choose", "choose with weights", "choose with limits"])
@pytest.mark.parametrize("name", ["river", "turn"])
def test_value_equals_that_of_the_linear_program(name: str, kind: str, player: int, seed: int) -> None:
    game = spot(name)
    rng = np.random.default_rng(seed)
    ranges = [Range(np.where(w > 0, rng.uniform(0.1, 1, NUM_HANDS), 0.0)) for w in game.weights]
    game = replace(game, ranges=(ranges[0], ranges[1]), gadget=some_gadget(kind, player, seed, game.pot))
    exact = solve_lp(as_history(game))
    assert exact.gap < 1e-6
    value = exact.value + (game.pot / 2 if kind == "stop" else 0.0)  # value of player 0
    if kind == "choose with limits":  # chance draws an entry with probability multiplier / (1 + all multipliers)
        value *= 1.0 + float(np.max(game.gadget.multipliers))
    solver = run(game, 2000)
    low, high = np.array(solver.quality().bracket) / solver.tree.per_chip
    assert low - 1e-6 <= value <= high + 1e-6
    assert high - low < 4e-3 * game.pot
    solution = solver.average()
    assert solution.expected_value(0) == pytest.approx(value, abs=high - low + 1e-6)
    least = np.nanmin(solution.margins())
    if kind == "choose with limits":
        excess = np.nan_to_num(solver.engine.excesses()).clip(0.0)
        multiplier = float(np.max(game.gadget.multipliers)) / len(game.hand_indices[player])
        gets = solution.expected_value(player, respond=True)
        assert gets == pytest.approx(-least + multiplier * excess.sum(), abs=1e-9 * game.pot)
    elif kind != "stop":  # the value of the choice is minus the smallest margin
        gets = solution.expected_value(player, respond=True)
        assert gets == pytest.approx(-least, abs=1e-9 * game.pot)
        assert -least == pytest.approx(value if player == 0 else -value, abs=high - low)


# --- safety -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["river", "turn, three equivalent suits"])
@pytest.mark.parametrize("player", [0, 1])
def test_refinement_is_as_safe_as_the_base_strategy(name: str, player: int) -> None:
    """With its counterfactual best-response values as stop payoffs or shifts, no margin is negative or NaN."""
    game = spot(name)
    tree = BoardTree(game)
    base = Solution(tree, np.random.default_rng(player).random(tree.table_size + 16))
    met = compatible_weights(game.weights[1 - player])[tree.representatives(0, player)]
    by_row = base.engine.best_response_values(player)[0] / met
    values = np.zeros(NUM_HANDS)
    values[game.hand_indices[player]] = by_row[tree.row_of[0, player][game.hand_indices[player]]]
    before = base.expected_value(player, respond=True)
    for gadget in (ResolvingGadget(player, values), MaxmarginGadget(player, values)):
        solver = run(replace(game, gadget=gadget), 1500)
        found, off = solver.average(), solver.quality().nash_conv / tree.per_chip
        margins = found.margins()
        np.testing.assert_array_equal(np.flatnonzero(~np.isnan(margins)), game.hand_indices[player])
        weights = game.weights[player] * compatible_weights(game.weights[1 - player]) / tree.total
        lost = np.minimum(margins[game.hand_indices[player]], 0) * weights[game.hand_indices[player]]
        assert lost.sum() > -2 * off - 1e-9
        # the refined player's strategy, in the game without a gadget
        after = Solution(tree, found.table).expected_value(player, respond=True)
        assert after <= before + 2 * off + 1e-9
        if isinstance(gadget, MaxmarginGadget):
            assert np.nanmin(margins) >= -2 * off
            assert np.nanmin(margins) > 0.01 * game.pot  # a random strategy can be improved against every hand


# --- suits ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["stop", "choose", "choose with weights", "choose with limits"])
def test_gadget_breaks_suit_symmetry(kind: str) -> None:
    """A number that differs by 1e-9 breaks the symmetry of suits: many more rows, the same values."""
    plain = BoardTree(spot("turn, three equivalent suits"))
    gadget = some_gadget(kind, 1, 8, 20)
    even = [
        np.array([v[plain.representatives(0, 1)[r]] if r != 65535 else 0.0 for r in plain.row_of[0, 1]])
        for v in gadget.vectors
    ]
    moved = [v.copy() for v in even]
    hand = next(h for h in plain.held[1] if (plain.deals.hand_maps[:, h] != h).any())
    moved[0][hand] += 1e-9
    symmetric, asymmetric = (
        BoardTree(replace(spot("turn, three equivalent suits"), gadget=type(gadget)(1, *vectors)))
        for vectors in (even, moved)
    )
    assert symmetric.table_size == plain.table_size
    assert asymmetric.table_size > 1.3 * symmetric.table_size
    assert len({plain.fingerprint, symmetric.fingerprint, asymmetric.fingerprint}) == 3
    runs = [BoardCFR(tree, "dcfr", dtype="float64") for tree in (symmetric, asymmetric)]
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
        ("choose with limits", "float64", "pcfr+"),
    ],
)
def test_threads_change_nothing(kind: str, dtype: str, schedule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riverboat.core.resources.available_cores", lambda: 4)
    game = replace(spot("turn, three equivalent suits"), gadget=some_gadget(kind, 0, 2, 20))
    runs = [run(game, 12, schedule, dtype, threads=n) for n in (1, 2, 3)]
    assert [solver.threads for solver in runs] == [1, 2, 3]
    assert "root_regret" in runs[0].engine.table_names
    for solver in runs[1:]:
        for table in runs[0].engine.table_names:
            np.testing.assert_array_equal(solver.engine.read(table), runs[0].engine.read(table))
        assert solver.quality() == runs[0].quality()


@pytest.mark.parametrize("kind", ["stop", "choose"])
def test_formats(kind: str) -> None:
    game = replace(spot("turn"), gadget=some_gadget(kind, 1, 2, 20))
    exact = run(game, 1500).quality()
    for dtype in ("float32", "compact", "16-bit"):
        assert run(game, 1500, dtype=dtype).quality().best == pytest.approx(exact.best, abs=0.5)  # % of pot


@pytest.mark.parametrize("schedule", ["dcfr", "pcfr+"])
@pytest.mark.parametrize("kind", ["stop", "choose", "choose with limits"])
def test_run_continues_from_its_state(kind: str, schedule: str) -> None:
    game = replace(spot("turn"), gadget=some_gadget(kind, 0, 4, 20))
    whole, first, second = run(game, 9, schedule), run(game, 4, schedule), run(game, 0, schedule)
    arrays, state = first.state()
    second.restore({name: array.copy() for name, array in arrays.items()}, state)
    second.step(5)
    for table in whole.engine.table_names:
        np.testing.assert_array_equal(second.engine.read(table), whole.engine.read(table))


def test_folders(tmp_path: Path) -> None:
    """A checkpoint has the gadget's tables, a solution has the gadget's strategy; the game must be passed again."""
    game = replace(spot("turn"), gadget=some_gadget("choose", 0, 4, 20))
    first = CFRRun(game, "dcfr", out=tmp_path / "run", dtype="float64")
    first.solver.step(6)
    first.save()
    again = CFRRun(game, "dcfr", out=tmp_path / "run", resume=True)
    for solver in (first.solver, again.solver):
        solver.step(3)
    whole = run(game, 9)
    assert isinstance(again.solver, BoardCFR)
    for table in whole.engine.table_names:
        np.testing.assert_array_equal(again.solver.engine.read(table), whole.engine.read(table))
    save(whole.average(), tmp_path / "answer")
    with pytest.raises(InputError, match=r"answer: .*--game"):
        load_solution(tmp_path / "answer")
    found = load_solution(tmp_path / "answer", game)
    assert isinstance(found, Solution)
    assert found.expected_value(0) == whole.average().expected_value(0)
    np.testing.assert_array_equal(found.margins(), whole.average().margins())
    with pytest.raises(InputError, match="gadget"):
        Solution(whole.tree, whole.averages).expected_value(0)
    with pytest.raises(InputError, match=r"answer: .*trees differ"):
        load_solution(tmp_path / "answer", replace(game, gadget=None))


def test_bad_input() -> None:
    for bad, words in ((np.zeros(3), "shape"), (np.full(NUM_HANDS, np.nan), "nan")):
        with pytest.raises(InputError, match=words):
            ResolvingGadget(0, bad)
    with pytest.raises(InputError, match="player 2"):
        MaxmarginGadget(2, np.zeros(NUM_HANDS))
    with pytest.raises(InputError, match="-1"):
        MaxmarginGadget(0, np.zeros(NUM_HANDS), -1.0)
    with pytest.raises(InputError, match="margins"):
        run(spot("river"), 1).average().margins()
    with pytest.raises(InputError, match="gadget"):
        PublicTree(replace(spot("turn"), gadget=ResolvingGadget(0, np.zeros(NUM_HANDS))))
    one, same, other = (ResolvingGadget(player, np.full(NUM_HANDS, 3.0)) for player in (0, 0, 1))
    assert one == same
    assert one != other
    assert hash(MaxmarginGadget(0, np.ones(NUM_HANDS))) == hash(
        MaxmarginGadget(0, np.ones(NUM_HANDS), np.ones(NUM_HANDS))
    )


@pytest.mark.parametrize(
    "kind", ["stop", *(pytest.param(k, marks=pytest.mark.slow) for k in ("choose", "choose with limits"))]
)
def test_user_defined_rule(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule also applies to the gadget: a user's copy of regret matching equals the schedule that it copies."""
    monkeypatch.syspath_prepend(ROOT)
    game = replace(spot("river"), gadget=some_gadget(kind, 1, 6, 200))
    runs = [run(game, 8, schedule) for schedule in ("vanilla", "examples.own_rule:REGRET_MATCHING")]
    assert runs[0].engine.read("root_regret").any()
    for table in runs[0].engine.table_names:
        np.testing.assert_allclose(runs[1].engine.read(table), runs[0].engine.read(table), rtol=1e-9, atol=1e-12)


# --- other weights ----------------------------------------------------------------------------


def moved_ranges(game: Spot, seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    first, second = (
        np.where((w > 0) & (rng.random(NUM_HANDS) > 0.2), rng.uniform(0.1, 1, NUM_HANDS), 0.0) for w in game.weights
    )
    return first, second


@pytest.mark.parametrize("kind", [None, "stop", "choose"])
@pytest.mark.parametrize("name", ["river", "turn"])
def test_other_ranges_in_the_same_tree(name: str, kind: str | None) -> None:
    """Values equal those of a tree built for the ranges; hands with zero weight have a row and change nothing."""
    game = replace(spot(name), gadget=None if kind is None else some_gadget(kind, 1, 1, 200 if name == "river" else 20))
    tree = BoardTree(game)
    first, second = moved_ranges(game, 3)
    moved, fresh = tree.with_weights(first, second), BoardTree(replace(game, ranges=(Range(first), Range(second))))
    assert moved.boards is tree.boards
    assert moved.table_size > fresh.table_size
    assert len({tree.fingerprint, moved.fingerprint, fresh.fingerprint}) == 3
    ours, theirs = BoardCFR(moved, "dcfr", dtype="float64"), BoardCFR(fresh, "dcfr", dtype="float64")
    for solver in (ours, theirs):
        solver.step(40)
    np.testing.assert_allclose(ours.quality().best, theirs.quality().best, rtol=1e-4)
    same = tree.with_weights(*(np.array(r.weights) for r in game.ranges))
    assert same.fingerprint == tree.fingerprint


def test_other_ranges_must_fit() -> None:
    tree = BoardTree(spot("turn, three equivalent suits"))
    weights = [np.array(r.weights) for r in spot("turn, three equivalent suits").ranges]
    extra = weights[0].copy()
    extra[np.flatnonzero(~np.isin(np.arange(NUM_HANDS), tree.held[0]))[-1]] = 1.0
    with pytest.raises(InputError, match="of player 0"):
        tree.with_weights(extra, weights[1])
    apart = weights[0].copy()
    apart[next(h for h in tree.held[0] if (tree.deals.hand_maps[:, h] != h).any())] /= 2
    with pytest.raises(InputError, match="weights of player 0"):
        tree.with_weights(apart, weights[1])


# --- noisy stop payoffs and forced hands ---------------------------------------------------------


@pytest.mark.parametrize("player", [0, 1])
def test_sampled_stop_payoffs(player: int) -> None:
    """Updates, values and best responses belong to one zero-sum game; a hand enters with every draw that pays less."""
    game = replace(spot("turn, three equivalent suits"), gadget=some_gadget("drawn", player, 4, 20))
    solver = run(game, 400)
    engine, root = solver.engine, solver.engine.root
    assert solver.exploitability() < 0.1
    assert engine.expected_value(0) + engine.expected_value(1) == pytest.approx(engine.constant_sum)
    gadget, reps = game.gadget, solver.tree.representatives(0, player)
    assert isinstance(gadget, ResolvingGadget)
    met = compatible_weights(game.weights[1 - player])[reps]
    values = engine.best_response_values(player)[0]
    enters = root.average_strategy[1].reshape(3, -1)  # by draw: low, middle, high
    for (stops, _), played in zip(gadget.stop_payoff_draws, enters, strict=True):
        gain = values / np.where(met > 0, met, 1.0) - stops[reps]
        assert (played[(met > 0) & (gain > 2)] > 0.9).all()
        assert (played[(met > 0) & (gain < -2)] < 0.1).all()
    assert ((enters[0] >= enters[2] - 0.05) | (met <= 0)).all()
    np.testing.assert_allclose(root.reach(player), solver.tree.weights[player] * (enters.T @ [1 / 6, 2 / 3, 1 / 6]))


@pytest.mark.parametrize("player", [0, 1])
def test_forced_hands(player: int) -> None:
    """If stopping pays the maximum, the rest of the game has the forced shares as its range."""
    plain = spot("turn, three equivalent suits")
    forced = np.where(plain.weights[player] > 0, 0.1 * plain.weights[player], 0.0)
    dealt = (plain.weights[player] > 0).astype(float)
    weights = (Range(dealt), plain.ranges[1]) if player == 0 else (plain.ranges[0], Range(dealt))
    game = replace(plain, ranges=weights, gadget=ResolvingGadget(player, np.full(NUM_HANDS, 90.0), forced=forced))
    own, alone = run(game, 800), run(plain, 800)
    root = own.engine.root
    assert own.exploitability() < 0.1
    assert own.engine.expected_value(0) + own.engine.expected_value(1) == pytest.approx(own.engine.constant_sum)
    np.testing.assert_allclose(root.reach(player), 0.1 * alone.tree.weights[player], atol=1e-3)
    other = 1 - player  # against hands that are all forced to enter, only the range matters
    met = [solver.engine.best_response_values(other)[0] / solver.tree.weights[player].sum() for solver in (own, alone)]
    np.testing.assert_allclose(met[0] / met[0].max(), met[1] / met[1].max(), atol=0.02)


def test_zero_spread_changes_nothing() -> None:
    plain = replace(spot("river"), gadget=some_gadget("stop", 0, 3, 200))
    assert isinstance(plain.gadget, ResolvingGadget)
    assert replace(plain, gadget=ResolvingGadget(0, plain.gadget.payoffs, np.zeros(NUM_HANDS))) == plain
    assert replace(plain, gadget=ResolvingGadget(0, plain.gadget.payoffs, 1.0)) != plain
    with pytest.raises(InputError, match=r"gadget: spreads? -1\b"):
        ResolvingGadget(0, plain.gadget.payoffs, -1.0)
    with pytest.raises(InputError, match=r"forced.* 0 to 1\.5"):
        ResolvingGadget(0, plain.gadget.payoffs, forced=np.linspace(0, 1.5, NUM_HANDS))
