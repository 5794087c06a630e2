"""Sampled traversals in whole hold'em games: exact measures of the trained strategy, and convergence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from riverboat.abstraction.cards.percentile_buckets import strength_abstraction
from riverboat.api.solve import solve
from riverboat.cli.main import main
from riverboat.core.errors import InputError
from riverboat.evaluation.best_response.exact import quality as real_quality
from riverboat.games.boards.holdem import Holdem, holdem
from riverboat.games.registry import game_from_spec
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.cfr import SAMPLED_TRAVERSALS, SampledBoardCFR
from riverboat.solvers.run import CFRRun, convergence_warning, make_solver
from riverboat.solvers.run_loop import after_iterations
from riverboat.strategies.blueprint import Blueprint
from riverboat.trees.boards import BoardTree

NOLIMIT = "flop_holdem:one-bet,ranks=4,suits=2"


def solver(spec: str = NOLIMIT, traversal: str = "pcs", schedule: str = "linear", **options: object) -> SampledBoardCFR:
    game = game_from_spec(spec)
    assert isinstance(game, Holdem)
    return SampledBoardCFR(BoardTree(game), schedule, traversal, **options)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("buckets", [None, 7])
def test_quality_equals_the_blueprint_best_response(buckets: int | None) -> None:
    """Best responses on boards equal those over the deals of the blueprint's own tree: two independent programs."""
    cards = (
        None
        if buckets is None
        else strength_abstraction(buckets, holdem("2-1", ranks=4, suits=2).deck, per_board=False)
    )
    result = solver("flop_holdem:small,ranks=4,suits=2,stack=900", cards=cards)
    result.step(640)
    own, tree = result.quality(), result.actions
    average = tuple(result.trainer.averages(street) for street in range(2))
    other = real_quality(
        Blueprint(tree.rules, tree.menu, tree, result.trainer.cards, average), threads=1, self_play=False
    )
    assert own.exploitability == pytest.approx(other.mbb_per_game, rel=1e-4)


@pytest.mark.parametrize(
    "traversal", ["pcs", *(pytest.param(name, marks=pytest.mark.slow) for name in SAMPLED_TRAVERSALS if name != "pcs")]
)
@pytest.mark.parametrize(
    "schedule", ["linear", *(pytest.param(name, marks=pytest.mark.slow) for name in ("vanilla", "dcfr"))]
)
def test_every_sampler_converges(traversal: str, schedule: str) -> None:
    result = solver(traversal=traversal, schedule=schedule)
    result.step(200)
    before = result.exploitability()
    result.step(20_000 if traversal == "pcs" else 200_000)
    assert result.exploitability() < 0.25 * before


def test_the_same_seed_is_the_same_run(tmp_path: Path) -> None:
    """Also if the run was stopped and resumed."""
    full = CFRRun(NOLIMIT, "linear", "pcs", seed=3)
    full.iterate([after_iterations(640)])
    part = CFRRun(NOLIMIT, "linear", "pcs", seed=3, out=tmp_path / "run")
    part.iterate([after_iterations(320)])
    part.save()
    later = CFRRun(NOLIMIT, "linear", "pcs", seed=3, out=tmp_path / "run", resume=True)
    later.iterate([after_iterations(640)])
    assert later.check() == full.check()
    assert later.check() != CFRRun(NOLIMIT, "linear", "pcs", seed=4).check()


def test_unproved_schedules_warn() -> None:
    with pytest.warns(UserWarning, match=r"cfr\+ with traversal 'pcs'"):
        result = solve(NOLIMIT, schedule="cfr+", traversal="pcs", iterations=64)
    assert (result.traversal, result.schedule) == ("pcs", "cfr+")
    assert convergence_warning("pcfr+", "external") is not None
    assert all(convergence_warning(name, "external") is None for name in ("vanilla", "linear", "dcfr"))
    assert convergence_warning("cfr+", "full") is None


def test_memory_and_formats_of_samplers(capsys: pytest.CaptureFixture[str]) -> None:
    """Eight bytes for training and four that a check reads; a full traversal has six."""
    table = BoardTree(holdem("2-1", ranks=4, suits=2)).table_size
    command = ["solve", "holdem:2-1,ranks=4,suits=2", "--iterations", "64", "--json"]
    for traversal, each in (("full", 6), ("pcs", 12)):
        with pytest.raises(SystemExit) as ended:
            main([*command, "--traversal", traversal])
        reported = json.loads(capsys.readouterr().out)
        assert ended.value.code == 0
        assert reported["table_bytes"] == each * table
    with pytest.raises(SystemExit) as ended:
        main([*command, "--traversal", "pcs", "--dtype", "float64"])
    assert ended.value.code == 2
    assert "dtype 'float64'" in capsys.readouterr().err


def test_unsupported_sampling() -> None:
    with pytest.raises(InputError, match=r"pcfr\+.*vanilla, linear, dcfr"):
        solver(schedule="pcfr+")
    with pytest.raises(InputError, match="outcome"):
        solver(traversal="outcome")
    spot = BoardTree(Spot.make(board="Td9d6hQc2s", pot=20, stack=60, bets="75%", oop="AA,KQs", ip="QQ,T9s"))
    with pytest.raises(InputError, match=r"traversal 'pcs'.*'full'"):
        make_solver(spot, "dcfr", "pcs", 0, 1, "compact", {})
