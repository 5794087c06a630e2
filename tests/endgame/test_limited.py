"""Depth-limited search measured exactly, and the ways to value exits, on decks of twelve cards."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from tests.agents.test_searching import MENU, base

from riverboat.cards.notation import parse_cards
from riverboat.core.errors import InputError
from riverboat.games.registry import make
from riverboat.solvers.exact.lp import quasi_perfect
from riverboat.subgames.database.build import reached, solve_some
from riverboat.subgames.database.database import Library
from riverboat.subgames.database.leaves import LibraryLeaves, RiverLeaves, Turn
from riverboat.subgames.depth_limited.leaf_baselines import FixedLeaves, Learnt, features
from riverboat.subgames.depth_limited.quality import Flop
from riverboat.subgames.depth_limited.rollouts import SHOWN, Exit, Rollouts, groups_of
from riverboat.subgames.depth_limited.street_game import StreetSolver, goes_on
from riverboat.trees.compile import compile_game


@cache
def flop() -> Flop:
    return Flop.of(base().strategy, "cc/", parse_cards("AsKhQh"))


def leaves(seat: int, ways: tuple[str, ...]) -> Rollouts:
    here = flop()
    exits = []
    for node in here.street.exits:
        state = here.street.states[node]
        place = here.strategy.tree.find(state.next_street().line) if goes_on(state) else SHOWN
        exits.append(Exit(place, float(state.pot)))
    groups = groups_of(here.strategy, here.board, here.hands, 1)
    return Rollouts.draw(here.strategy, exits, here.board, here.hands, seat, groups=groups, runouts=None, ways=ways)


def test_what_is_written_is_what_is_played() -> None:
    """The blueprint's own street written into its table changes nothing."""
    here, own = flop(), flop().blueprint_play()
    assert here.exploitability(here.played([own, own])) == pytest.approx(here.exploitability(here.table), rel=1e-5)
    assert here.earned(here.table) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.slow
def test_what_follows_is_solved_for_the_street_as_it_is_played() -> None:
    """With the street of a solution what follows is solved too; with another one little is left to gain but on the street."""
    here = flop()
    whole = here.solved(None, 200)
    solved = here.exploitability(whole)
    assert solved < 1.0
    own = here.blueprint_play()
    nested = here.exploitability(here.nested([own, own], 200))
    assert solved < nested < here.exploitability(here.table)


@pytest.mark.slow
def test_search_that_knows_its_values_is_consistent() -> None:
    """Where the opponent goes on as the blueprint, as it does, the searched street wins what was promised of it."""
    here, values = flop(), leaves(0, ("blueprint",))
    solver = StreetSolver(here.street, here.hands, here.ranges, values, 0)
    solver.step(60)
    play, ways = solver.averages()
    own = here.blueprint_play()
    mixed = {n: play[n] if here.street.states[n].actor == 0 else own[n] for n in play}
    promised = float(solver.ranges[0] @ solver.values(0, mixed, ways))
    total = float(solver.ranges[0] @ solver.beside(solver.ranges[1]))
    gained = 100 * (promised / total - _self_play(solver, own, ways, total)) / here.state.pot
    table = here.played([play, own])
    assert 2 * here.earned(table) == pytest.approx(gained, abs=0.05)


def _self_play(solver: StreetSolver, own: dict, ways: np.ndarray, total: float) -> float:
    return float(solver.ranges[0] @ solver.values(0, own, ways)) / total


def test_a_table_is_right_for_the_ranges_that_it_was_made_for() -> None:
    here, values = flop(), leaves(0, ("blueprint",))
    reach = np.random.default_rng(2).random((2, len(here.street.exits), len(here.hands)))
    fixed = FixedLeaves.of(values, here.hands, reach)
    np.testing.assert_allclose(fixed.chooser(reach), values.chooser(reach), rtol=1e-4, atol=1e-2)
    np.testing.assert_allclose(
        fixed.searcher(reach, reach[1][:, None]), values.searcher(reach, reach[1][:, None]), rtol=1e-4, atol=1e-2
    )
    nobody, everybody = (
        FixedLeaves.of(values, here.hands, 0 * reach),
        np.ones_like(reach),
    )  # exits that are never come to
    np.testing.assert_allclose(nobody.chooser(everybody), values.chooser(everybody), rtol=1e-4, atol=1e-2)


def test_what_is_learnt_is_what_was_shown() -> None:
    rng = np.random.default_rng(0)
    inputs = features(rng.random(400), np.array(0.4), np.array(3.0), 1.0)
    target = inputs @ np.linspace(-1, 1, inputs.shape[1])
    model = Learnt.fit([inputs], [target], [np.ones(400)])
    np.testing.assert_allclose(model(inputs), target, atol=0.02)


@cache
def turn() -> Flop:
    return Flop.of(base().strategy, "cc/cc/", parse_cards("AsKhQh9s"))


@pytest.mark.slow
@pytest.mark.parametrize("seat", [0, 1])
def test_a_solver_that_goes_on_learns_the_turn(seat: int) -> None:
    """All rivers at every question: CFR on the turn and what follows, so its street is nearly unexploitable."""
    here = turn()
    states = [here.street.states[node] for node in here.street.exits]
    on = RiverLeaves(Turn(states, here.board, here.hands, seat, cards=99), MENU)
    solver = StreetSolver(here.street, here.hands, here.ranges, on, seat)
    solver.step(60)
    play = solver.averages()[0]
    own = here.blueprint_play()
    nested = here.exploitability(here.nested([play, play], 200))
    assert nested < 0.1 * here.exploitability(here.nested([own, own], 200))
    assert on.numbers > 0


def test_a_solver_that_stops_reads_values_that_sum_to_the_pot() -> None:
    here = turn()
    source = reached(here.strategy, 5)
    library = Library.of(solve_some([next(source) for _ in range(12)], here.strategy))
    states = [here.street.states[node] for node in here.street.exits]
    reach = np.random.default_rng(3).random((2, len(states), len(here.hands)))
    one = LibraryLeaves(Turn(states, here.board, here.hands, 0, cards=99), library)
    other = one.chooser(reach)[:, 0]
    mine = one.searcher(reach, reach[1][:, None])
    pots = np.array([state.pot for state in states], float)
    both = (mine * reach[0]).sum(axis=1) + (other * reach[1]).sum(axis=1)
    met = (one.beside(reach[1]) * reach[0]).sum(axis=1)
    np.testing.assert_allclose(both, pots * met, rtol=1e-5)
    assert one.read > 0


def test_hands_of_a_bucket_play_alike_and_buckets_are_all_that_is_kept() -> None:
    here = turn()
    states = [here.street.states[node] for node in here.street.exits]
    end = Turn(states, here.board, here.hands, 0)
    few = RiverLeaves(end, MENU, 3)
    rows = end.buckets(4)
    solver = StreetSolver(here.street, here.hands, here.ranges, few, 0, rows)
    solver.step(6)
    moves = sum(len(some) for some in here.street.moves)
    assert solver.numbers == 2 * moves * 4
    assert {table.shape[1] for river in few.rivers.values() for table in river.regret.values()} == {3}
    assert len(few.rivers) == sum(goes_on(state) for state in states)  # not one for each card
    for play in solver.averages()[0].values():
        for bucket in range(4):
            assert np.ptp(play[:, rows[0] == bucket], axis=1).max() < 1e-12
    strongest = np.argmax(sum(end.beaten.values()))
    assert rows[0][strongest] == 3


@pytest.mark.parametrize("tremble", [0.0, 0.5, float("nan")])
def test_trembles_are_small(tremble: float) -> None:
    with pytest.raises(InputError, match="tremble"):
        quasi_perfect(compile_game(make("kuhn")), tremble)
