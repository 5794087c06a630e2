"""Sampled traversals in whole games of hold'em: what is measured is what was learnt, and it gets better."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from riverboat.abstraction.small.last_street import by_strength
from riverboat.cli.main import main
from riverboat.core.errors import InputError
from riverboat.evaluation.best_response.exact import quality as real_quality
from riverboat.games.boards.full_holdem import Holdem, holdem
from riverboat.games.registry import make
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.sampled import SAMPLERS, SampledBoards
from riverboat.solvers.run import Run, solve
from riverboat.solvers.run_loop import after_iterations
from riverboat.solvers.selection import caution, make_solver
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.trees.boards import BoardTree

NOLIMIT = "flop_holdem:one-bet,ranks=4,suits=2"


def solver(spec: str = NOLIMIT, traversal: str = "pcs", schedule: str = "linear", **options: object) -> SampledBoards:
    game = make(spec)
    assert isinstance(game, Holdem)
    return SampledBoards(BoardTree(game), schedule, traversal, **options)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("buckets", [None, 7])
def test_figures_are_those_of_the_best_response_to_the_blueprint(buckets: int | None) -> None:
    """Best responses on boards against those that walk the deals of the blueprint's own tree: two programs, one answer."""
    cards = None if buckets is None else by_strength(buckets, holdem("2-1", ranks=4, suits=2).deck, each=False)
    found = solver("flop_holdem:small,ranks=4,suits=2,stack=900", cards=cards)
    found.step(640)
    mine, tree = found.quality(), found.actions
    average = tuple(found.blueprint.averages(street) for street in range(2))
    other = real_quality(
        BlueprintStrategy(tree.rules, tree.menu, tree, found.blueprint.cards, average), threads=1, self_play=False
    )
    assert mine.exploitability == pytest.approx(other.mbb_per_game, rel=1e-4)


@pytest.mark.parametrize(
    "traversal", ["pcs", *(pytest.param(name, marks=pytest.mark.slow) for name in SAMPLERS if name != "pcs")]
)
@pytest.mark.parametrize(
    "schedule", ["linear", *(pytest.param(name, marks=pytest.mark.slow) for name in ("vanilla", "dcfr"))]
)
def test_every_sampler_converges(traversal: str, schedule: str) -> None:
    found = solver(traversal=traversal, schedule=schedule)
    found.step(200)
    before = found.exploitability()
    found.step(20_000 if traversal == "pcs" else 200_000)
    assert found.exploitability() < 0.25 * before


def test_the_same_seed_is_the_same_run(tmp_path: Path) -> None:
    """Also where a run was stopped and went on."""
    whole = Run(NOLIMIT, "linear", "pcs", seed=3)
    whole.go([after_iterations(640)])
    part = Run(NOLIMIT, "linear", "pcs", seed=3, out=tmp_path / "run")
    part.go([after_iterations(320)])
    part.save()
    later = Run(NOLIMIT, "linear", "pcs", seed=3, out=tmp_path / "run", resume=True)
    later.go([after_iterations(640)])
    assert later.check() == whole.check()
    assert later.check() != Run(NOLIMIT, "linear", "pcs", seed=4).check()


def test_schedules_without_a_theory_warn() -> None:
    with pytest.warns(UserWarning, match=r"cfr\+ with traversal 'pcs': no theory"):
        result = solve(NOLIMIT, schedule="cfr+", traversal="pcs", iterations=64)
    assert (result.traversal, result.schedule) == ("pcs", "cfr+")
    assert caution("pcfr+", "external") is not None
    assert all(caution(name, "external") is None for name in ("vanilla", "linear", "dcfr"))
    assert caution("cfr+", "full") is None


def test_memory_and_formats_are_those_of_the_sampler(capsys: pytest.CaptureFixture[str]) -> None:
    """Eight bytes where it learns, and four that a check reads; a full walk has six."""
    table = BoardTree(holdem("2-1", ranks=4, suits=2)).table
    words = ["solve", "holdem:2-1,ranks=4,suits=2", "--iterations", "64", "--json"]
    for traversal, each in (("full", 6), ("pcs", 12)):
        with pytest.raises(SystemExit) as ended:
            main([*words, "--traversal", traversal])
        told = json.loads(capsys.readouterr().out)
        assert ended.value.code == 0
        assert told["table_bytes"] == each * table
    with pytest.raises(SystemExit) as ended:
        main([*words, "--traversal", "pcs", "--dtype", "float64"])
    assert ended.value.code == 2
    assert "dtype 'float64'" in capsys.readouterr().err


def test_what_cannot_be_sampled() -> None:
    with pytest.raises(InputError, match="sampled boards take vanilla, linear, dcfr"):
        solver(schedule="pcfr+")
    with pytest.raises(InputError, match="outcome"):
        solver(traversal="outcome")
    spot = BoardTree(Spot.make(board="Td9d6hQc2s", pot=20, stack=60, bets="75%", oop="AA,KQs", ip="QQ,T9s"))
    with pytest.raises(InputError, match="boards are walked in full"):
        make_solver(spot, "dcfr", "pcs", 0, 1, "compact", {})
