"""The run loop: stoppers, log and checkpoints; resumed runs equal uninterrupted ones bitwise."""

import hashlib
import itertools
import json
import re
import signal
import subprocess
import time

import numpy as np
import pytest

import riverboat as rb
from riverboat.core import artifacts
from riverboat.core.errors import CorruptError, InputError, ZeroSumError
from riverboat.solvers.run import CFRRun
from riverboat.solvers.run_loop import (
    StepThread,
    after_iterations,
    exploitability_below,
    iterations_before_stop,
)
from riverboat.solvers.solver_run import SolveLimits
from riverboat.strategies import files
from riverboat.strategies.blueprint import load_blueprint


def test_solve_certifies_kuhn():
    result = rb.solve("kuhn", schedule="pcfr+", until=1e-6)
    assert result.reached
    assert result.exploitability <= 1e-6
    assert result.value_low <= -1 / 18 <= result.value_high
    assert result.infosets == 12
    assert result.strategy["J:r"]["f"] == pytest.approx(1.0, abs=1e-3)  # a jack never calls


def test_first_stopper_ends_the_run():
    assert rb.solve("kuhn", iterations=7, until=1e-12).iterations == 7
    assert not rb.solve("kuhn", iterations=7, until=1e-12).reached
    assert rb.solve("kuhn").iterations == 1000
    started = time.perf_counter()
    rb.solve("leduc", time=0.3)
    assert time.perf_counter() - started < 5
    assert rb.solve("kuhn", stop=[lambda p: p.iteration >= 3]).iterations == 3


def test_callbacks_and_history():
    seen = []
    result = rb.solve("kuhn", iterations=50, callback=seen.append)
    assert seen[-1].iteration == 50
    assert [p.iteration for p in result.history] == [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18, 22, 27, 33, 41, 50]
    assert all(p.checked for p in result.history)
    every = rb.solve("kuhn", iterations=20, check_every=5)
    assert [p.iteration for p in every.history] == [5, 10, 15, 20]


def test_caller_owns_the_loop():
    solver = rb.CFR(rb.compile_game(rb.game("kuhn")), rb.schedules.cfr_plus())
    while solver.exploitability() > 1e-3:
        solver.step(10)
    assert rb.quality(solver.average()).exploitability == pytest.approx(solver.exploitability(), abs=1e-15)
    assert solver.current()["K:r"]["c"] > 0.9  # a king calls


@pytest.mark.filterwarnings("ignore:schedule pcfr")
@pytest.mark.parametrize("traversal", ["full", "external", "outcome", "chance", "pcs"])
@pytest.mark.parametrize("schedule", ["pcfr+", "dcfr", "vanilla"])
def test_resumed_runs_equal_uninterrupted_ones(tmp_path, schedule, traversal):
    options = {"schedule": schedule, "traversal": traversal, "seed": 3}
    rb.solve("leduc", iterations=40, out=tmp_path, **options)
    resumed = rb.solve("leduc", iterations=97, out=tmp_path, resume=True, **options)
    straight = rb.solve("leduc", iterations=97, **options)
    np.testing.assert_array_equal(resumed.strategy.probabilities, straight.strategy.probabilities)
    assert resumed.nodes == straight.nodes
    assert len(files.checkpoints(tmp_path)) == 2


def test_log_lines(tmp_path):
    log = tmp_path / "log.jsonl"
    rb.solve("kuhn", iterations=10, log=log)
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    assert [row["iteration"] for row in rows] == [1, 2, 3, 4, 5, 6, 7, 8, 10]
    assert {"iteration", "seconds", "nodes", "exploitability", "unit"} <= set(rows[0])
    assert rows[-1]["nodes"] == 10 * 2 * 9


def test_runs_are_not_overwritten(tmp_path):
    rb.solve("kuhn", iterations=5, out=tmp_path)
    with pytest.raises(InputError, match=re.escape(str(tmp_path))):
        rb.solve("kuhn", iterations=5, out=tmp_path)
    with pytest.raises(InputError, match=r"schedule='dcfr'.*'cfr\+'"):
        rb.solve("kuhn", schedule="cfr+", iterations=9, out=tmp_path, resume=True)
    with pytest.raises(InputError, match=r"seed=0.*4"):
        rb.solve("kuhn", seed=4, iterations=9, out=tmp_path, resume=True)


def test_corrupt_checkpoint_is_named(tmp_path):
    rb.solve("kuhn", iterations=5, out=tmp_path)
    last = files.checkpoints(tmp_path)[-1]
    path = last / "regret.npy"
    body = bytearray(path.read_bytes())
    body[-3] ^= 16
    path.write_bytes(body)
    with pytest.raises(CorruptError, match=r"checkpoint-000000000005.*regret\.npy"):
        rb.solve("kuhn", iterations=9, out=tmp_path, resume=True)
    read = rb.load(tmp_path)  # a strategy does not read regrets, so the error is not found
    assert read.probabilities.shape == rb.solve("kuhn", iterations=5).strategy.probabilities.shape


def test_resume_without_checkpoint_starts_a_run(tmp_path):
    assert rb.solve("kuhn", iterations=5, out=tmp_path / "new", resume=True).iterations == 5
    with pytest.raises(InputError, match="out="):
        rb.solve("kuhn", resume=True)


def test_unsupported_games_are_rejected():
    general = rb.matrix([[[1, 0], [0, 1]], [[1, 0], [0, 1]]])
    for method in ("lp", "egt"):
        with pytest.raises(ZeroSumError, match=r"1 and 1, .*0 and 0"):
            rb.solve(general, method=method)
    for bad in ({"iterations": -1}, {"time": -1}, {"until": 0.0}, {"method": "magic"}, {"threads": 0}, {"seed": -1}):
        with pytest.raises(InputError):
            rb.solve("kuhn", **bad)
    with pytest.raises(InputError, match="iterations, time or until"):
        CFRRun("kuhn").iterate([])


def test_interrupts_leave_a_checkpoint(tmp_path):
    def stop(progress):
        if progress.iteration >= 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rb.solve("kuhn", iterations=100, out=tmp_path, callback=stop, check_every=1)
    assert rb.load(tmp_path).provenance["iterations"] >= 3


def test_checks_are_frequent_near_a_target():
    result = rb.solve("leduc", until=0.03)
    checks = [p.iteration for p in result.history]
    assert result.exploitability <= 0.03 < result.history[-2].exploitability
    ladder = [1]
    while ladder[-1] < checks[-1]:
        ladder.append(max(ladder[-1] + 1, int(ladder[-1] * 1.25)))
    assert checks[-1] < ladder[-1]  # the plain sequence would have gone further
    assert checks == [p.iteration for p in rb.solve("leduc", until=0.03).history]


def test_checks_on_boards_are_rare_far_from_the_target():
    spot = rb.Spot.make(board="Td9d6hQc2s", pot=100, stack=300, oop="99+,AQ,KJ", ip="22+,AT+,QJs", bets="60%")
    result = rb.solve(spot, until=0.05)
    checks = [p.iteration for p in result.history]
    assert checks[0] == 16
    assert all(later <= 2 * earlier for earlier, later in itertools.pairwise(checks))
    assert result.exploitability <= 0.05
    assert result.seconds == pytest.approx(result.history[-1].seconds)


@pytest.mark.parametrize("target", [None, 0.5, 0.01])
def test_next_check_does_not_depend_on_progress(target):
    """The iteration at which the schedule is read depends on the clock; the checks must not."""
    spot = rb.Spot.make(board="Td9d6hQc2s", pot=100, stack=300, oop="99+,AQ,KJ", ip="22+,AT+,QJs", bets="60%")
    for game in (spot, "kuhn"):
        run = CFRRun(game)
        run.target = target
        for _ in range(6):
            due = run._next_check(run.solver.iteration)
            assert {run._next_check(i) for i in range(run.solver.iteration, due)} == {due}
            run.solver.step(due - run.solver.iteration)
            run.check()


def test_boards_need_full_traversal():
    spot = rb.Spot.make(board="Td9d6hQc2s", pot=100, stack=300, oop="99+", ip="22+", bets="60%")
    with pytest.raises(InputError, match="traversal 'external'"):
        rb.solve(spot, traversal="external", iterations=1)
    with pytest.raises(InputError, match=r"dtype 'float16'.*compact"):
        rb.solve(spot, dtype="float16", iterations=1)


def test_stoppers_compose():
    stops = [exploitability_below(0.5), *SolveLimits(10, None, 1e-3).stoppers]
    assert len(stops) == 3
    assert after_iterations(3)(CFRRun("kuhn").current_progress()) is False


def test_methods_agree():
    for method in ("lp", "egt"):
        result = rb.solve("kuhn", method=method)
        assert result.value == pytest.approx(-1 / 18, abs=1e-4)
        assert result.value_low - 1e-12 <= -1 / 18 <= result.value_high + 1e-12


KILLED = (
    "import riverboat as rb; rb.solve('bluff:2,1', iterations=100000, out={out!r}, resume=True, checkpoint_seconds=0.0)"
)


@pytest.mark.parametrize("pause", [0.05, *(pytest.param(p, marks=pytest.mark.slow) for p in (0.0, 0.11, 0.23))])
def test_killed_run_resumes(processes, tmp_path, pause):
    """Killed at some moment of a run that writes checkpoints all the time: the checkpoint is complete."""
    rb.game("bluff:2,1")  # so that its smaller game is cached
    out = tmp_path / "run"
    process = processes.python("-c", KILLED.format(out=str(out)))
    deadline = time.monotonic() + 120
    while not (out.is_dir() and files.checkpoints(out)) and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(pause)
    process.kill()
    process.wait()
    before = files.checkpoints(out)
    assert before
    run = CFRRun("bluff:2,1", out=out, resume=True)
    done = run.solver.iteration
    assert done >= 1
    run.iterate([after_iterations(done + 1)])
    assert 0 < run.check().exploitability < 1
    assert not list(out.glob(".*.tmp"))


# --- interrupts -------------------------------------------------------------------------------


def test_interrupt_is_deferred_until_work_is_done():
    """However long it takes after the interrupt."""
    done = []

    def work():
        signal.raise_signal(signal.SIGINT)
        time.sleep(0.3)
        done.append(1)

    with StepThread() as thread:
        with pytest.raises(KeyboardInterrupt):
            thread.run(work)
        assert done == [1]
        thread.run(done.append, 2)
    assert done == [1, 2]


def test_interrupt_before_a_step_is_handed_over(monkeypatch):
    """The step runs once nevertheless, so that the run is in a definite state."""
    done = []
    with StepThread() as thread:
        thread.run(done.append, 0)
        put, calls = thread._steps.put, []

        class Interrupting:
            def put(self, step):
                calls.append(step)
                if len(calls) == 1:
                    raise KeyboardInterrupt
                put(step)

        monkeypatch.setattr(thread, "_steps", Interrupting())
        with pytest.raises(KeyboardInterrupt):
            thread.run(done.append, 1)
    assert done == [0, 1]


def test_error_of_a_step_is_raised_with_its_traceback():
    with StepThread() as thread, pytest.raises(ZeroDivisionError) as caught:
        thread.run(lambda: 1 // 0)
    assert any("<lambda>" in str(entry.name) for entry in caught.traceback)


@pytest.mark.parametrize("most", [1, 2, 3, 100])
@pytest.mark.parametrize("limit", [1, 2, 3, 50, 10**6])
def test_iterations_before_a_limit(most, limit):
    progress = CFRRun("kuhn").current_progress()
    assert iterations_before_stop(progress, [after_iterations(limit)], most) == min(most, limit)


@pytest.mark.posix
@pytest.mark.parametrize("what", ["solve", pytest.param("train", marks=pytest.mark.slow)])
def test_interrupt_saves_a_complete_checkpoint(what, processes, tmp_path):
    """Ctrl-C in a program without a handler: the checkpoint equals that of a run with that many iterations."""
    script = tmp_path / "go.py"
    (tmp_path / "leduc.toml").write_text("game = 'leduc'\n")
    calls = {
        "solve": "rb.solve('leduc', iterations=10**9, out='run', callback=tell)",
        "train": "rb.train('leduc.toml', iterations=10**12, threads=1, out='run', callback=tell)",
    }
    script.write_text(
        "import riverboat as rb, sys\n"
        "def tell(now):\n"
        "    if now.iteration > 100: print('going', flush=True)\n"
        f"try:\n    {calls[what]}\nexcept KeyboardInterrupt:\n    sys.exit(77)\n"
    )
    process = processes.python(script, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "going\n"
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 77
    process.stdout.close()
    place = files.checkpoints(tmp_path / "run")[-1]
    if what == "train":
        assert load_blueprint(tmp_path / "run").provenance["iterations"] == int(place.name.rpartition("-")[2])
        return
    iterations = int(place.name.rpartition("-")[2])
    _, arrays = artifacts.read(place)
    if iterations <= 200_000:  # otherwise the second run would take long
        full = rb.CFR(rb.compile_game(rb.game("leduc")), "dcfr")
        full.step(iterations)
        assert np.array_equal(arrays["regret"], full.regret)


def test_a_stored_schedule_imports_nothing(tmp_path, monkeypatch):
    """Who resumes a run does not choose what its folder says: `module:object` there is an error, not code that runs."""
    module = tmp_path / "planted.py"
    module.write_text("import pathlib\npathlib.Path(__file__).with_name('ran').touch()\nrule = None\n")
    monkeypatch.syspath_prepend(tmp_path)
    run = tmp_path / "run"
    rb.solve("kuhn", schedule="cfr+", iterations=5, out=run)
    (manifest,) = run.glob("checkpoint-*/manifest.json")
    entries = json.loads(manifest.read_text())["manifest"]
    assert entries["provenance"]["schedule"] == "cfr+"
    entries["provenance"]["schedule"] = "planted:rule"
    body = json.dumps(entries, indent=2, sort_keys=True)
    signed = {"manifest": entries, "sha256": hashlib.sha256(body.encode()).hexdigest()}
    manifest.write_text(json.dumps(signed, indent=2, sort_keys=True))
    with pytest.raises(InputError, match="schedule 'planted'"):
        rb.solve("kuhn", iterations=9, out=run, resume=True)
    assert not (tmp_path / "ran").exists()
