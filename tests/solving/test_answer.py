"""Which strategy a solve returns: that of the last iteration, or of the best check; and what it says of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import riverboat as rb
from riverboat.cli.main import main
from riverboat.core.errors import InputError
from riverboat.solvers.limits import Limits
from riverboat.solvers.run import Run
from riverboat.solvers.run_loop import after_iterations
from riverboat.web.jobs.queue import Job
from riverboat.web.routes.jobs import _evs

CARDS = {"board": "Td9d6hQc2s", "oop": "99+,AQ,KJ", "ip": "22+,AT+,QJs"}
SPOT = rb.Spot.make(**CARDS, pot=100, stack=300, bets="60%")
WHOLE = "flop_holdem:one-bet,ranks=4,suits=2"
ROCKY = {"schedule": "vanilla", "traversal": "outcome", "seed": 3}  # sampling: exploitability goes up and down
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


def told(result: rb.Result) -> dict[str, Any]:
    """All that a result says, but for the clock and for the checks on the way."""
    return {k: v for k, v in result.__dict__.items() if k not in ("strategy", "history", "seconds")}


def played(result: rb.Result) -> Any:
    """The table of the strategy, of whichever kind it is."""
    return result.strategy.table if isinstance(result.strategy, rb.Solution) else result.strategy.probabilities


@pytest.mark.parametrize(("game", "options"), CASES)
@pytest.mark.parametrize("iterations", [1, 47])
def test_what_is_returned_does_not_depend_on_checks(game: Any, options: Any, iterations: int) -> None:
    """Not to the last bit: checks that choose among answers would select on the outcome."""
    plain = rb.solve(game, iterations=iterations, **options)
    assert plain.answer == "last"
    assert (
        plain.answer_iteration == plain.iterations == plain.history[-1].iteration >= iterations
    )  # samplers: in blocks
    assert plain.history[-1].exploitability == plain.exploitability
    for every in (1, 5, 1000):
        other = rb.solve(game, iterations=iterations, check_every=every, **options)
        assert told(other) == told(plain)
        np.testing.assert_array_equal(played(other), played(plain))


def test_the_best_check_is_returned_where_a_target_or_a_time_is_given() -> None:
    best = rb.solve("leduc", time=0.3, **ROCKY)
    assert best.answer == "best"
    assert best.exploitability == min(check.exploitability for check in best.history)
    at = next(check.iteration for check in best.history if check.exploitability == best.exploitability)
    assert best.answer_iteration == at
    met = rb.solve("leduc", until=0.1)
    assert (met.answer, met.answer_iteration) == ("best", met.iterations)
    assert met.history[-1].exploitability == met.exploitability <= 0.1


@pytest.mark.parametrize(
    ("limits", "answer"),
    [
        (Limits(iterations=5), "last"),
        (Limits(until=0.1), "best"),
        (Limits(time=5.0), "best"),
        (Limits(5, None, 0.1), "last"),
        (Limits(5, 5.0, None), "last"),
        (Limits(), "last"),
    ],
)
def test_the_limits_decide(limits: Limits, answer: str) -> None:
    assert limits.answer == answer


def test_both_can_be_asked_for() -> None:
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
def test_what_is_no_answer_is_an_error(options: Any) -> None:
    with pytest.raises(InputError, match="answer"):
        rb.solve("kuhn", iterations=3, **options)


def test_with_buckets_it_is_the_last() -> None:
    assert rb.solve(WHOLE, cards="strength:1", until=1e9).answer == "last"
    with pytest.raises(InputError, match="answer"):
        rb.solve(WHOLE, cards="strength:1", iterations=3, answer="best")


# --- checkpoints ----------------------------------------------------------------------------------


def test_a_resumed_run_returns_what_it_would_have(tmp_path: Any) -> None:
    """Begun for a number of iterations, resumed for the best check: the earlier checks count, and their best is stored."""
    whole = rb.solve("leduc", iterations=60, answer="best", **ROCKY)
    assert whole.answer_iteration is not None
    assert whole.answer_iteration < 50
    first = rb.solve("leduc", iterations=50, out=tmp_path, **ROCKY)
    assert (first.answer, first.answer_iteration) == ("last", 50)
    np.testing.assert_array_equal(rb.load(tmp_path).probabilities, first.strategy.probabilities)
    best = rb.solve("leduc", iterations=60, answer="best", out=tmp_path, resume=True, **ROCKY)
    assert best.answer_iteration == whole.answer_iteration
    assert best.exploitability == whole.exploitability
    np.testing.assert_array_equal(best.strategy.probabilities, whole.strategy.probabilities)
    np.testing.assert_array_equal(rb.load(tmp_path).probabilities, whole.strategy.probabilities)


def test_an_answer_that_was_asked_for_is_part_of_the_run(tmp_path: Any) -> None:
    rb.solve("leduc", iterations=50, answer="best", out=tmp_path, **ROCKY)
    resumed = rb.solve("leduc", iterations=60, out=tmp_path, resume=True, **ROCKY)
    assert resumed.answer == "best"
    assert rb.solve("leduc", iterations=61, answer="last", out=tmp_path, resume=True, **ROCKY).answer == "last"
    assert rb.solve("leduc", iterations=62, out=tmp_path, resume=True, **ROCKY).answer == "last"


def test_a_default_is_not(tmp_path: Any) -> None:
    rb.solve("leduc", until=0.5, out=tmp_path)
    assert rb.solve("leduc", iterations=80, out=tmp_path, resume=True).answer == "last"
    assert rb.solve("leduc", until=1e-3, out=tmp_path, resume=True).answer == "best"


def test_checkpoints_from_before_the_option_are_read(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """They stored the best check wherever one was better, and no word of it; checks had no middle of the value."""
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
    run = Run("leduc", **ROCKY, out=tmp_path, resume=True)
    assert (run.answer, run.best.iteration) == ("best", best.answer_iteration)
    run.go([after_iterations(60)])
    assert rb.solve("leduc", iterations=60, out=tmp_path, resume=True, **ROCKY).answer == "last"


# --- the command, and sweeps -------------------------------------------------------------------------


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    with pytest.raises(SystemExit):
        main([*words, "--json"])
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def test_the_command_has_the_same_answers(capsys: pytest.CaptureFixture[str]) -> None:
    how = ["--schedule", "vanilla", "--traversal", "outcome", "--seed", "3", "--iterations", "60"]
    for asked, words in ((None, []), ("last", ["--answer", "last"]), ("best", ["--answer", "best"])):
        found = printed(capsys, "solve", "leduc", *how, *words)
        result = rb.solve("leduc", iterations=60, answer=asked, **ROCKY)
        for key in ("answer", "answer_iteration", "exploitability", "iterations"):
            assert found[key] == getattr(result, key)
    assert printed(capsys, "solve", "kuhn", "--method", "lp")["answer"] is None


def test_a_sweep_measures_the_last_iteration(capsys: pytest.CaptureFixture[str]) -> None:
    for limits in ({"iterations": 60}, {"time": 0.2}):
        for trial in rb.sweep("leduc", "vanilla", 2, traversal="outcome", **limits).trials:
            assert trial.answer == "last"
            assert trial.exploitability == trial.history[-1][2]
            assert trial.answer_iteration == trial.iterations == trial.history[-1][0]
    best = rb.sweep("leduc", "vanilla", [3], traversal="outcome", iterations=60, answer="best").trials[0]
    assert best.exploitability == min(check[2] for check in best.history) < best.history[-1][2]
    found = printed(capsys, "sweep", "leduc", "--schedule", "dcfr", "--iterations", "100")["trials"][0]
    assert found["exploitability"] == rb.solve("leduc", iterations=100).exploitability
    with pytest.raises(InputError, match="answer"):
        rb.sweep("kuhn", iterations=3, answer="first")


# --- where no value is certified -----------------------------------------------------------------------


@pytest.mark.parametrize("game", ["kuhn:players=3", rb.matrix([[[3, 0], [5, 1]], [[3, 5], [0, 1]]])])
def test_nothing_is_said_of_a_value_that_is_not_certified(game: Any, tmp_path: Any) -> None:
    result = rb.solve(game, iterations=20, out=tmp_path / "run", log=tmp_path / "log")
    assert not result.certified
    assert result.value_low is result.value_high is None
    assert result.value == result.values[0]
    assert all(check.value_low is check.value_high is None for check in result.history)
    assert result.history[-1].value == result.value
    told = json.loads(json.dumps(result.to_dict()))
    assert told["value_low"] is told["value_high"] is None
    assert not [claim for claim in told["claims"] if claim["name"] == "value to player 0"]
    assert "<" in result._repr_html_()
    last = json.loads((tmp_path / "log").read_text().splitlines()[-1])
    assert (last["value_low"], last["value_high"], last["value"]) == (None, None, result.value)
    assert rb.solve(game, iterations=25, out=tmp_path / "run", resume=True).value_low is None
    assert len(rb.sweep(game, iterations=5).trials) == 1


def test_nothing_is_said_of_the_value_of_a_spot_with_rake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also by the commands that read the run, and by the page, which shows the EVs of the last check."""
    raked = rb.Spot.make(**CARDS, pot=100, stack=300, bets="60%", rake=0.05, rake_cap=10.0)
    result = rb.solve(raked, iterations=30, out=tmp_path / "run", log=tmp_path / "log")
    assert result.value_low is result.value_high is None
    found = printed(capsys, "exploitability", str(tmp_path / "run"))
    assert found["value_low"] is found["value_high"] is None
    with pytest.raises(SystemExit) as ended:
        main(["exploitability", str(tmp_path / "run")])
    assert not ended.value.code
    rb.solve(SPOT, iterations=30, log=tmp_path / "plain")
    for log, certified in (("log", False), ("plain", True)):
        last = json.loads((tmp_path / log).read_text().splitlines()[-1])
        oop, ip = _evs(last, Job("name", "spot", {}, 0, facts={"pot": 100}))
        assert oop == pytest.approx(last["value"])
        assert ip == (pytest.approx(100 - last["value"]) if certified else None)
