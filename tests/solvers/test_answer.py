"""Which strategy a solve returns, that of the last iteration or of the best check, and how the result reports it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import riverboat as rb
from riverboat.cli.main import main
from riverboat.core.errors import InputError
from riverboat.solvers.run import CFRRun
from riverboat.solvers.run_loop import after_iterations
from riverboat.solvers.solver_run import SolveLimits
from riverboat.web.jobs.queue import SolveJob
from riverboat.web.routes.jobs import _player_evs

CARDS = {"board": "Td9d6hQc2s", "oop": "99+,AQ,KJ", "ip": "22+,AT+,QJs"}
SPOT = rb.Spot.make(**CARDS, pot=100, stack=300, bets="60%")
WHOLE = "flop_holdem:one-bet,ranks=4,suits=2"
ROCKY = {"schedule": "vanilla", "traversal": "outcome", "seed": 3}  # sampled: exploitability fluctuates
CASES: list[tuple[Any, dict[str, Any]]] = [
    ("leduc", {}),
    ("leduc", {"schedule": "pcfr+"}),
    ("leduc", ROCKY),
    ("leduc", {"traversal": "external", "schedule": "linear"}),
    ("kuhn:players=3", {}),
    (SPOT, {}),
    (WHOLE, {}),
    (WHOLE, {"traversal": "pcs"}),
    (WHOLE, {"cards": "strength:2"}),
    ("leduc", {"method": "egt"}),
]


def facts_of(result: rb.Result) -> dict[str, Any]:
    """All fields of a result, except for timings and the history of checks."""
    return {k: v for k, v in result.__dict__.items() if k not in ("strategy", "history", "seconds")}


def strategy_table(result: rb.Result) -> Any:
    """The table of the strategy, of either class."""
    return result.strategy.table if isinstance(result.strategy, rb.Solution) else result.strategy.probabilities


@pytest.mark.parametrize(("game", "options"), CASES)
@pytest.mark.parametrize("iterations", [1, 47])
def test_result_does_not_depend_on_checks(game: Any, options: Any, iterations: int) -> None:
    """Bitwise: choosing among checks would select on the outcome."""
    plain = rb.solve(game, iterations=iterations, **options)
    assert plain.answer == "last"
    assert (
        plain.answer_iteration == plain.iterations == plain.history[-1].iteration >= iterations
    )  # samplers step in blocks
    assert plain.history[-1].exploitability == plain.exploitability
    for every in (1, 5, 1000):
        other = rb.solve(game, iterations=iterations, check_every=every, **options)
        assert facts_of(other) == facts_of(plain)
        np.testing.assert_array_equal(strategy_table(other), strategy_table(plain))


def test_best_check_is_returned_with_a_target_or_a_time() -> None:
    best = rb.solve("leduc", time=0.3, **ROCKY)
    assert best.answer == "best"
    assert best.exploitability == min(check.exploitability for check in best.history)
    at = next(check.iteration for check in best.history if check.exploitability == best.exploitability)
    assert best.answer_iteration == at
    reached = rb.solve("leduc", until=0.1)
    assert (reached.answer, reached.answer_iteration) == ("best", reached.iterations)
    assert reached.history[-1].exploitability == reached.exploitability <= 0.1


@pytest.mark.parametrize(
    ("limits", "answer"),
    [
        (SolveLimits(iterations=5), "last"),
        (SolveLimits(until=0.1), "best"),
        (SolveLimits(time=5.0), "best"),
        (SolveLimits(5, None, 0.1), "last"),
        (SolveLimits(5, 5.0, None), "last"),
        (SolveLimits(), "last"),
    ],
)
def test_default_answer_of_limits(limits: SolveLimits, answer: str) -> None:
    assert limits.answer == answer


def test_last_and_best_can_be_requested() -> None:
    last, best = (rb.solve("leduc", iterations=60, answer=answer, **ROCKY) for answer in ("last", "best"))
    assert last.exploitability == last.history[-1].exploitability > best.exploitability
    assert (last.answer, best.answer) == ("last", "best")
    assert last.answer_iteration == last.iterations == best.iterations > best.answer_iteration


@pytest.mark.parametrize(
    "options",
    [
        {"answer": "first"},
        {"answer": 1},
        {"answer": "best", "method": "lp"},
        {"answer": "best", "method": "egt"},
    ],
)
def test_invalid_answers(options: Any) -> None:
    with pytest.raises(InputError, match="answer"):
        rb.solve("kuhn", iterations=3, **options)


def test_buckets_return_the_last_strategy() -> None:
    assert rb.solve(WHOLE, cards="strength:1", until=1e9).answer == "last"
    with pytest.raises(InputError, match="answer"):
        rb.solve(WHOLE, cards="strength:1", iterations=3, answer="best")


# --- checkpoints ----------------------------------------------------------------------------------


def test_resumed_run_returns_the_same(tmp_path: Any) -> None:
    """Started with a number of iterations, resumed for the best check: earlier checks count, and their best is stored."""
    full = rb.solve("leduc", iterations=60, answer="best", **ROCKY)
    assert full.answer_iteration is not None
    assert full.answer_iteration < 50
    first = rb.solve("leduc", iterations=50, out=tmp_path, **ROCKY)
    assert (first.answer, first.answer_iteration) == ("last", 50)
    np.testing.assert_array_equal(rb.load(tmp_path).probabilities, first.strategy.probabilities)
    best = rb.solve("leduc", iterations=60, answer="best", out=tmp_path, resume=True, **ROCKY)
    assert best.answer_iteration == full.answer_iteration
    assert best.exploitability == full.exploitability
    np.testing.assert_array_equal(best.strategy.probabilities, full.strategy.probabilities)
    np.testing.assert_array_equal(rb.load(tmp_path).probabilities, full.strategy.probabilities)


def test_requested_answer_is_stored_in_the_run(tmp_path: Any) -> None:
    rb.solve("leduc", iterations=50, answer="best", out=tmp_path, **ROCKY)
    resumed = rb.solve("leduc", iterations=60, out=tmp_path, resume=True, **ROCKY)
    assert resumed.answer == "best"
    assert rb.solve("leduc", iterations=61, answer="last", out=tmp_path, resume=True, **ROCKY).answer == "last"
    assert rb.solve("leduc", iterations=62, out=tmp_path, resume=True, **ROCKY).answer == "last"


def test_default_answer_is_not_stored(tmp_path: Any) -> None:
    rb.solve("leduc", until=0.5, out=tmp_path)
    assert rb.solve("leduc", iterations=80, out=tmp_path, resume=True).answer == "last"
    assert rb.solve("leduc", until=1e-3, out=tmp_path, resume=True).answer == "best"


def test_older_checkpoints_are_read(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the option existed, the best check was stored without a flag, and checks had no value."""
    from riverboat.core import artifacts

    write = artifacts.write

    def older(place: Any, kind: str, arrays: Any, meta: Any, *more: Any) -> Any:
        for key in ("answer", "answer_asked"):
            del meta["state"][key]
        meta["history"] = [{k: v for k, v in row.items() if k != "value"} for row in meta["history"]]
        return write(place, kind, arrays, meta, *more)

    with monkeypatch.context() as patched:
        patched.setattr(artifacts, "write", older)
        best = rb.solve("leduc", iterations=50, answer="best", out=tmp_path, **ROCKY)
    run = CFRRun("leduc", **ROCKY, out=tmp_path, resume=True)
    assert (run.answer, run.best.iteration) == ("best", best.answer_iteration)
    run.iterate([after_iterations(60)])
    assert rb.solve("leduc", iterations=60, out=tmp_path, resume=True, **ROCKY).answer == "last"


# --- command line and sweeps -------------------------------------------------------------------------


def run_json(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    with pytest.raises(SystemExit):
        main([*words, "--json"])
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def test_command_line_returns_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    how = ["--schedule", "vanilla", "--traversal", "outcome", "--seed", "3", "--iterations", "60"]
    for requested, options in ((None, []), ("last", ["--answer", "last"]), ("best", ["--answer", "best"])):
        actual = run_json(capsys, "solve", "leduc", *how, *options)
        result = rb.solve("leduc", iterations=60, answer=requested, **ROCKY)
        for key in ("answer", "answer_iteration", "exploitability", "iterations"):
            assert actual[key] == getattr(result, key)
    assert run_json(capsys, "solve", "kuhn", "--method", "lp")["answer"] is None


def test_sweep_measures_the_last_iteration(capsys: pytest.CaptureFixture[str]) -> None:
    for limits in ({"iterations": 60}, {"time": 0.2}):
        for trial in rb.sweep("leduc", "vanilla", 2, traversal="outcome", **limits).trials:
            assert trial.answer == "last"
            assert trial.exploitability == trial.history[-1][2]
            assert trial.answer_iteration == trial.iterations == trial.history[-1][0]
    best = rb.sweep("leduc", "vanilla", [3], traversal="outcome", iterations=60, answer="best").trials[0]
    assert best.exploitability == min(check[2] for check in best.history) < best.history[-1][2]
    result = run_json(capsys, "sweep", "leduc", "--schedule", "dcfr", "--iterations", "100")["trials"][0]
    assert result["exploitability"] == rb.solve("leduc", iterations=100).exploitability
    with pytest.raises(InputError, match="answer"):
        rb.sweep("kuhn", iterations=3, answer="first")


# --- without a certified value -----------------------------------------------------------------------


@pytest.mark.parametrize("game", ["kuhn:players=3", rb.matrix([[[3, 0], [5, 1]], [[3, 5], [0, 1]]])])
def test_no_value_is_reported_without_certificate(game: Any, tmp_path: Any) -> None:
    result = rb.solve(game, iterations=20, out=tmp_path / "run", log=tmp_path / "log")
    assert not result.certified
    assert result.value_low is result.value_high is None
    assert result.value == result.values[0]
    assert all(check.value_low is check.value_high is None for check in result.history)
    assert result.history[-1].value == result.value
    facts = json.loads(json.dumps(result.to_dict()))
    assert facts["value_low"] is facts["value_high"] is None
    assert not [claim for claim in facts["claims"] if claim["name"] == "value to player 0"]
    assert "<" in result._repr_html_()
    last = json.loads((tmp_path / "log").read_text().splitlines()[-1])
    assert (last["value_low"], last["value_high"], last["value"]) == (None, None, result.value)
    assert rb.solve(game, iterations=25, out=tmp_path / "run", resume=True).value_low is None
    assert len(rb.sweep(game, iterations=5).trials) == 1


def test_no_value_is_reported_with_rake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nor by commands that read the run, nor by the web page, which shows the EVs of the last check."""
    raked = rb.Spot.make(**CARDS, pot=100, stack=300, bets="60%", rake=0.05, rake_cap=10.0)
    result = rb.solve(raked, iterations=30, out=tmp_path / "run", log=tmp_path / "log")
    assert result.value_low is result.value_high is None
    actual = run_json(capsys, "exploitability", str(tmp_path / "run"))
    assert actual["value_low"] is actual["value_high"] is None
    with pytest.raises(SystemExit) as ended:
        main(["exploitability", str(tmp_path / "run")])
    assert not ended.value.code
    rb.solve(SPOT, iterations=30, log=tmp_path / "plain")
    for log, certified in (("log", False), ("plain", True)):
        last = json.loads((tmp_path / log).read_text().splitlines()[-1])
        oop, ip = _player_evs(last, SolveJob("name", "spot", {}, 0, facts={"pot": 100}))
        assert oop == pytest.approx(last["value"])
        assert ip == (pytest.approx(100 - last["value"]) if certified else None)
