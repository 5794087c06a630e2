"""Names of games, results and numbers in texts at the front door; strategies and solutions behind one interface."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import riverboat as rb
from riverboat import research
from riverboat.core.arguments import Count, Duration, checked, parse_count
from riverboat.core.errors import InputError
from riverboat.strategies.profiles import as_strategy

SPOT: dict[str, Any] = {
    "board": "Qs Jh 2h 8c 3d",
    "pot": 100,
    "stack": 200,
    "oop": "AA,KK",
    "ip": "QQ,JJ",
    "bets": "50%",
}


def test_names_of_games_are_accepted_where_a_tree_is() -> None:
    tree = rb.compile_game("leduc")
    assert tree.fingerprint == rb.compile_game(rb.game("leduc")).fingerprint
    assert rb.CFR("leduc").tree.fingerprint == rb.CFR(tree).tree.fingerprint == tree.fingerprint
    assert rb.Strategy.from_mapping("leduc", {}) == rb.Strategy.uniform(tree)
    assert rb.SequenceForm("kuhn").matrix.shape == (13, 13)
    assert rb.trace("kuhn", "QJ").iteration == 1
    assert research.lines_after_chance("leduc") == research.lines_after_chance(tree)
    assert research.check_game("kuhn").infosets == 12
    spot = rb.Spot.make(**SPOT)
    assert rb.CFR(spot).tree.infoset_count == rb.solve(spot, iterations=1).infosets


def test_games_with_continuations_are_compiled_by_name() -> None:
    """Bluff with two dice and one needs the value of the game with one die each."""
    assert rb.compile_game("bluff:2,1").infoset_count == rb.compile_game(rb.game("bluff:2,1")).infoset_count
    assert rb.CFR("bluff:1,1").tree.name.startswith("bluff")


class Broken:
    """A game whose root is no state."""

    name, unit, players = "broken", "chips", 2

    def root(self) -> int:
        return 5


class NoRules:
    """An agent that lacks a method."""

    name = "lazy"

    def act(self, observations: Any) -> None:
        """Do nothing."""


def test_objects_that_lack_something_are_named() -> None:
    with pytest.raises(InputError, match=r"game 'broken': root\(\) returns 5: must be a state"):
        rb.solve(Broken())  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"game=Broken: is a class; give one of its objects, Broken\(\)"):
        rb.solve(Broken)  # type: ignore[arg-type]
    for call in (lambda: rb.agent(NoRules()), lambda: rb.match(NoRules(), "always-call"), lambda: rb.play(NoRules())):  # type: ignore[arg-type]
        with pytest.raises(InputError, match="has no check_rules; an agent needs name, check_rules and act"):
            call()


def test_a_schedule_may_be_a_function() -> None:
    for schedule in (rb.schedules.cfr_plus, rb.schedules.cfr_plus(), "cfr+"):
        assert rb.solve("kuhn", schedule=schedule, iterations=10).schedule == "cfr+"
        assert str(rb.CFR("kuhn", schedule).schedule) == "cfr+"
    with pytest.raises(InputError, match=r"cannot be called without arguments"):
        rb.CFR("kuhn", lambda x: x)  # type: ignore[arg-type, misc]


@pytest.mark.parametrize("value", [1000, 1e3, "1000", "1e3", "1,000", np.int64(1000), np.float64(1000)])
def test_counts(value: Any) -> None:
    assert parse_count(value) == 1000
    assert isinstance(parse_count(value), int)


@pytest.mark.parametrize("value", [1.5, "1.5", "x", "", "-1", float("inf"), float("nan"), True, "1e99", None, []])
def test_invalid_counts(value: Any) -> None:
    with pytest.raises(InputError, match=r"count=.*must be a whole number from 0"):
        parse_count(value)


def test_numbers_as_in_the_terminal() -> None:
    assert rb.solve("kuhn", iterations=1e2).iterations == rb.solve("kuhn", iterations="1e2").iterations == 100  # type: ignore[arg-type]
    assert rb.solve("kuhn", time="90s", iterations=5).iterations == 5
    solved = rb.solve(rb.Spot.make(**SPOT), until="0.5%")
    assert solved.exploitability <= 0.5
    assert rb.sweep("kuhn", time="1m", iterations="5").trials[0].iterations == 5  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"until '0\.5%'"):
        rb.solve("kuhn", until="0.5%")
    solver = rb.CFR("kuhn")
    solver.step(1e1)  # type: ignore[arg-type]
    assert solver.iteration == 10


def test_checked_functions_keep_their_signature() -> None:
    @checked
    def work(count: Count, *names: str, wait: Duration = 1.0, kind: bool = False) -> tuple[Any, ...]:
        """Work."""
        return count, names, wait, kind

    assert work("1e2", "a", "b", wait="2m") == (100, ("a", "b"), 120.0, False)  # type: ignore[arg-type]
    assert work.__doc__ == "Work."
    with pytest.raises(TypeError, match="missing a required argument: 'count'"):
        work()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        work(1, colour=2)  # type: ignore[call-arg]
    for wrong in ({"kind": 1}, {"wait": None}, {"count": -1}):
        with pytest.raises(InputError, match=f"{next(iter(wrong))}=.*: must be"):
            work(**{"count": 1, **wrong})  # type: ignore[arg-type]


# --- strategies of every kind ---------------------------------------------------------------


def test_refine_takes_every_kind_of_strategy(tmp_path: Path) -> None:
    result = rb.solve("leduc", iterations=10)
    expected = rb.refine(result.strategy, "cc/Kh/", players=(0,)).strategy
    folder = rb.save(result, tmp_path / "leduc")
    rows = dict(result.strategy.items())
    kinds: list[tuple[Any, dict[str, Any]]] = [
        (result, {}), (folder, {}), (str(folder), {}), (rows, {"game": "leduc"}),
        (lambda infoset: rows[infoset.name], {"game": "leduc"}), (rb.refine(result, "cc/Kh/", players=(0,)), {}),
    ]  # fmt: skip
    for strategy, more in kinds[:-1]:
        assert rb.refine(strategy, "cc/Kh/", players=(0,), **more).strategy == expected
        assert rb.quality(strategy, **more).exploitability == pytest.approx(result.exploitability, abs=1e-12)
        assert rb.respond(strategy, 0, **more)[0].value == pytest.approx(rb.respond(result, 0)[0].value, abs=1e-12)
    assert rb.quality(kinds[-1][0]).exploitability == pytest.approx(rb.quality(expected).exploitability, abs=1e-12)
    with pytest.raises(InputError, match="unknown game"):
        rb.quality(result, game="chess")


def test_solutions_of_small_spots_become_strategies() -> None:
    """A turn: the same exploitability on the unrolled tree, and a refinement that does not raise it."""
    spot = rb.Spot.make(**{**SPOT, "board": "Qs Jh 2h 8c", "oop": "AsAh,KsKh", "ip": "QdQc,JdJc"})
    result = rb.solve(spot, iterations=20)
    strategy = as_strategy(result)
    exact = rb.quality(result).exploitability * spot.pot / 100
    assert rb.quality(strategy).exploitability == pytest.approx(exact, rel=1e-3, abs=1e-3)
    better = rb.refine(result, "x-b50")
    assert rb.quality(better).exploitability <= rb.quality(strategy).exploitability + 1e-6


def decisions(strategy: research.StrategyMapping[Any]) -> int:
    """A function of the interface: it takes strategies and solutions alike."""
    assert list(strategy.keys()) == list(strategy) == [key for key, _ in strategy.items()]
    for key, decision in strategy.items():
        assert key in strategy
        assert sum(decision[action] for action in decision) == pytest.approx(1, abs=1e-4, nan_ok=True)
    return len(strategy)


def test_one_mapping_interface() -> None:
    result, solved = rb.solve("kuhn", iterations=5), rb.solve(rb.Spot.make(**SPOT), iterations=5)
    assert isinstance(result.strategy, rb.Strategy)
    assert isinstance(solved.strategy, rb.Solution)
    assert decisions(result.strategy) == 12
    sums = {key: sum(np.nan_to_num(row) for row in dict(node).values()) for key, node in solved.strategy.items()}
    assert len(sums) == len(solved.strategy) == 4
    assert all(set(np.round(total, 6)) == {0.0, 1.0} for total in sums.values())
    common = ["infoset", "player", "action", "probability"]
    frames = result.strategy.to_frame(), solved.strategy.to_frame()
    assert all(list(frame.columns)[:4] == common for frame in frames)
    for frame in frames:
        assert abs(frame.groupby("infoset")["probability"].sum() - 1).max() < 1e-6
    assert set(frames[1]["line"]) == set(solved.strategy)
    assert set(solved.strategy.to_frame("b50")["line"]) == {"b50"}
    with pytest.raises(InputError, match="OpenSpiel has no game with betting × boards"):
        solved.strategy.to_open_spiel()
    with pytest.raises(KeyError, match="no action 'z' at 'b50': f, c"):
        solved.strategy["b50"]["z"]


def test_strategies_from_functions() -> None:
    seen: list[research.Infoset] = []

    def first(infoset: research.Infoset) -> list[float]:
        seen.append(infoset)
        return [1.0] + [0.0] * (len(infoset.actions) - 1)

    strategy = rb.Strategy.from_function("leduc", first)
    assert len(seen) == 936
    assert {max(row.values()) for row in strategy.values()} == {1.0}
    research.check_strategy(strategy)
    for wrong, match in (
        (lambda _: [0.5], "must be probabilities"), (lambda _: {"z": 1.0}, "no action 'z'"),
        (lambda infoset: [0.9] * len(infoset.actions), "do not sum to one"), (lambda _: 1 / 0, "ZeroDivisionError.*line"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=match):
            rb.Strategy.from_function("kuhn", wrong)  # type: ignore[arg-type]
