"""Runs store their best check if exploitability rises, stalled runs end, and results are finite."""

import itertools
import json
import math

import numpy as np
import pytest

import riverboat as rb
from riverboat.cli.main import main
from riverboat.core.errors import InputError, NumericalError
from riverboat.solvers import run as best_strategy
from riverboat.solvers import solver_run
from riverboat.solvers.result import LIMIT, STALLED, TARGET
from riverboat.solvers.run import CFRRun
from riverboat.solvers.run_loop import after_iterations
from riverboat.solvers.tabular.best_response import Quality
from riverboat.strategies import files

ROCKY = {
    "schedule": "vanilla",
    "traversal": "outcome",
    "seed": 3,
    "answer": "best",
}  # sampled: exploitability fluctuates
SPOT = rb.Spot.make(board="Td9d6hQc2s", pot=100, stack=300, oop="99+,AQ,KJ", ip="22+,AT+,QJs", bets="60%")


def risen():
    """A run that ends with higher exploitability than an earlier check."""
    for count in range(20, 200):
        result = rb.solve("leduc", iterations=count, **ROCKY)
        if result.answer_iteration != result.iterations:
            return count
    raise AssertionError("no run of these rises: the tests here prove nothing")


COUNT = risen()


def test_result_is_the_best_check():
    result = rb.solve("leduc", iterations=COUNT, **ROCKY)
    lowest = min(result.history, key=lambda p: p.exploitability)
    assert result.history[-1].exploitability > lowest.exploitability
    assert (result.answer_iteration, result.exploitability) == (lowest.iteration, lowest.exploitability)
    assert rb.quality(result.strategy).exploitability == pytest.approx(result.exploitability, rel=1e-12)
    straight = rb.solve("leduc", iterations=lowest.iteration, **ROCKY)
    np.testing.assert_array_equal(result.strategy.probabilities, straight.strategy.probabilities)


def test_folder_holds_the_best_check_and_resume_continues_from_the_last(tmp_path):
    result = rb.solve("leduc", iterations=COUNT, out=tmp_path, **ROCKY)
    read = rb.load(tmp_path)
    np.testing.assert_array_equal(read.probabilities, result.strategy.probabilities)
    assert read.provenance["iterations"] == result.answer_iteration < COUNT
    run = CFRRun("leduc", **ROCKY, out=tmp_path, resume=True)
    assert run.solver.iteration == COUNT
    resumed = rb.solve("leduc", iterations=COUNT + 9, out=tmp_path, resume=True, **ROCKY)
    again = rb.solve("leduc", iterations=COUNT + 9, **ROCKY)
    np.testing.assert_array_equal(resumed.strategy.probabilities, again.strategy.probabilities)


def test_best_check_at_the_saved_iteration(tmp_path):
    """Saved at the very iteration of the best check, where the averages are the best ones, and before the next check."""
    at = rb.solve("leduc", iterations=COUNT, **ROCKY).answer_iteration
    run = CFRRun("leduc", **ROCKY, out=tmp_path)
    run.iterate([after_iterations(at)])
    assert run.best.iteration == run.solver.iteration == at
    run.save()
    resumed = CFRRun("leduc", **ROCKY, out=tmp_path, resume=True)
    assert resumed.best.iteration == at
    resumed.iterate([after_iterations(COUNT)])
    resumed.check()
    again = rb.solve("leduc", iterations=COUNT, **ROCKY)
    np.testing.assert_array_equal(resumed.result().strategy.probabilities, again.strategy.probabilities)
    resumed.save()
    later = CFRRun("leduc", **ROCKY, out=tmp_path, resume=True)
    later.save(tmp_path / "elsewhere")  # no check since
    np.testing.assert_array_equal(rb.load(tmp_path / "elsewhere").probabilities, again.strategy.probabilities)


def test_command_reports_the_best_check(capsys):
    with pytest.raises(SystemExit) as ended:
        main(
            [
                "solve",
                "leduc",
                "--schedule",
                "vanilla",
                "--traversal",
                "outcome",
                "--seed",
                "3",
                "--iterations",
                f"{COUNT}",
                "--answer",
                "best",
            ]
        )
    assert ended.value.code == 0
    output = capsys.readouterr().err
    result = rb.solve("leduc", iterations=COUNT, **ROCKY)
    assert f"iteration {result.answer_iteration}," in output


def test_show_prints_figures_of_the_returned_strategy(tmp_path, capsys):
    result = next(r for n in range(3, 60) if (r := rb.solve(SPOT, iterations=n, answer="best")).answer_iteration != n)
    rb.solve(SPOT, iterations=result.iterations, answer="best", out=tmp_path)
    with pytest.raises(SystemExit):
        main(["show", str(tmp_path), "--json"])
    reported = json.loads(capsys.readouterr().out)
    assert reported["iterations"] == result.answer_iteration
    assert reported["exploitability"] == pytest.approx(result.exploitability)
    assert result.history[-1].exploitability > 1.001 * result.exploitability


def test_buckets_return_the_last_average():
    """The last average solves the abstract game, even if an earlier one is less exploitable in the full game."""
    result = rb.solve("flop_holdem:one-bet,ranks=4,suits=2", cards="strength:1", iterations=200)
    assert result.answer_iteration in (None, 200)
    assert min(p.exploitability for p in result.history) < result.exploitability == result.history[-1].exploitability


def test_large_tables_are_stored_in_a_file(tmp_path, monkeypatch):
    expected = rb.solve("leduc", iterations=COUNT, **ROCKY)
    monkeypatch.setattr(best_strategy, "MAX_MEMORY_BYTES", 100)
    monkeypatch.setattr(best_strategy, "SLOW_PROGRESS", 0.0)
    result = rb.solve("leduc", iterations=COUNT, out=tmp_path / "run", **ROCKY)
    np.testing.assert_array_equal(result.strategy.probabilities, expected.strategy.probabilities)


def test_large_tables_are_copied_only_if_progress_slows(monkeypatch):
    monkeypatch.setattr(best_strategy, "MAX_MEMORY_BYTES", 0)
    stored = best_strategy.BestCheck()
    table = np.arange(10, dtype=np.uint16)
    for iteration, exploitability in enumerate([8.0, 4.0, 2.0, 1.9, 3.0, 1.0]):
        stored.offer(Quality((exploitability, exploitability), (0.0, 0.0)), iteration, table + iteration)
    assert stored.iteration == 3  # 1.9 after 2.0 is slow; 1.0 is fast progress again
    np.testing.assert_array_equal(stored.table(), table + 3)


def test_failed_copy_is_discarded(monkeypatch):
    """The file holds half of a new table and half of an old one: neither is used."""
    monkeypatch.setattr(best_strategy, "MAX_MEMORY_BYTES", 0)
    monkeypatch.setattr(best_strategy, "SLOW_PROGRESS", 0.0)
    stored = best_strategy.BestCheck()
    table = np.arange(10, dtype=np.uint16)
    stored.offer(Quality((2.0, 2.0), (0.0, 0.0)), 1, table)

    def full(*_):
        raise OSError(28, "no space left on device")

    file = stored._file
    monkeypatch.setattr(stored, "_file", type("Full", (), {"seek": file.seek, "write": full, "close": file.close})())
    with pytest.raises(OSError, match="no space"):
        stored.offer(Quality((1.0, 1.0), (0.0, 0.0)), 2, table)
    assert (stored.quality, stored.iteration) == (None, -1)
    stored._file = file
    stored.offer(Quality((1.5, 1.5), (0.0, 0.0)), 3, table + 3)
    np.testing.assert_array_equal(stored.table(), table + 3)


@pytest.mark.parametrize("dtype", ["compact", "16-bit", "float32"])
def test_more_iterations_never_hurt_in_any_format(dtype):
    """Means in sixteen bits, rounded to the nearest, once stopped changing while weights grew."""
    run = CFRRun(SPOT, dtype=dtype)
    result = []
    for count in (300, 1_000, 3_000, 10_000):
        run.solver.step(count - run.solver.iteration)
        result.append(run.solver.exploitability())
    assert result[0] > 0.002  # % of the pot
    for before, after in itertools.pairwise(result):
        assert after <= max(before, 0.001)
    assert result[-1] <= 0.001


@pytest.mark.slow
def test_example_turn_keeps_improving():
    """With averages rounded to the nearest: 0.065, 0.029 and 0.099 % of the pot."""
    run = CFRRun("examples/spots/turn.toml", threads=2)
    result = []
    for count in (300, 700, 3_000):
        run.solver.step(count - run.solver.iteration)
        result.append(run.solver.exploitability())
    assert result[0] > result[1] > result[2]
    assert result[2] <= 0.005


# --- targets that cannot be met ---------------------------------------------------------------


@pytest.mark.parametrize("target", [1e-17, 1e-300, 5e-324])
def test_far_targets_are_predicted_far(target):
    result = rb.solve("leduc", until=target, iterations=60)
    assert not result.reached
    assert result.ended == LIMIT
    assert result.iterations == 60


@pytest.mark.parametrize("bad", [0.0, -1.0, math.inf, -math.inf, math.nan])
def test_targets_must_be_positive_numbers(bad):
    with pytest.raises(InputError, match="until="):
        rb.solve("kuhn", until=bad)


def test_slow_progress_predicts_a_far_iteration():
    checks = [(1000, 1.0), (1250, math.nextafter(1.0, 0.0))]
    assert solver_run.predict_target_iteration(checks, 1e-17) == solver_run.UNREACHED_ITERATION
    assert solver_run.next_check(1250, checks, target=1e-17) == solver_run.next_check(1250, checks, target=None)
    assert solver_run.predict_target_iteration([(10, 1.0), (20, 0.5)], 0.125) == 80  # one over T: exact
    assert solver_run.predict_target_iteration([(10, 1.0), (20, 1.5)], 0.125) is None


def test_patient_run_does_not_overshoot_its_target() -> None:
    """Exploitability on boards falls in steps: extrapolation of two checks may be far too low or too high."""
    for bumps in (0.0, 0.3, -0.3):
        curve = [math.inf] + [1e4 * t**-1.7 * math.exp(bumps * math.sin(6 * math.log(t))) for t in range(1, 2000)]
        for target in (20.0, 3.0, 0.7):
            checks: list[solver_run.Check] = []
            while not checks or checks[-1][1] > target:
                due = solver_run.next_check(checks[-1][0] if checks else 0, checks, target=target, patient=True)
                checks.append((due, curve[due]))
            first = next(t for t, e in enumerate(curve) if e <= target)
            assert checks[-1][0] <= 1.3 * first
            assert len(checks) < 0.15 * checks[-1][0] + 8


def test_optimistic_checks_are_few_and_miss_no_target() -> None:
    """No check that could have been the last is left out if exploitability falls slower than the cube."""
    for power, bumps in ((1.0, 0.0), (2.0, 0.0), (2.0, 0.15), (2.9, 0.0)):
        curve = [math.inf] + [5e3 * t**-power * math.exp(bumps * math.sin(6 * math.log(t))) for t in range(1, 20_000)]
        for target, every in ((5.0, 10), (0.5, 5), (0.5, 50)):
            due, looks = every, 1
            while curve[due] > target:
                due, looks = solver_run.optimistic_check(due, curve[due], target, every), looks + 1
            assert due == next(t for t in range(every, 20_000, every) if curve[t] <= target)
            assert looks <= 8 + 2.5 * math.log(due) or looks == due // every
    assert solver_run.optimistic_check(10, 3.0, 0.0, 10) == solver_run.optimistic_check(10, math.inf, 1.0, 10) == 20


def test_stalled_run_ends():
    checks = [(t, 1.0 / min(t, 1_000)) for t in range(100, 3_900, 100)]
    assert not solver_run.is_stalled(checks)
    assert solver_run.is_stalled([*checks, (4_000, 1.0 / 1_000), (4_100, 0.001)])
    assert not solver_run.is_stalled([(t, 1.0 / t) for t in range(1, 10**6, 997)])
    result = rb.solve("rps", until=1e-300)  # solved exactly: only rounding is left
    assert result.ended in (STALLED, TARGET)
    stuck = rb.solve("rps", schedule="vanilla", traversal="outcome", until=1e-12, stop=[after_iterations(5_000)])
    assert (stuck.ended, stuck.reached) == (LIMIT, False)
    assert rb.solve("kuhn", until=0.1).ended == TARGET


# --- formats on resuming ----------------------------------------------------------------------


def test_resume_rejects_another_format(tmp_path):
    rb.solve(SPOT, iterations=3, dtype="float32", out=tmp_path)
    with pytest.raises(InputError, match=r"dtype='float32'.*'16-bit'"):
        rb.solve(SPOT, iterations=5, dtype="16-bit", out=tmp_path, resume=True)
    assert rb.solve(SPOT, iterations=5, out=tmp_path, resume=True).strategy.provenance["dtype"] == "float32"
    assert files.latest_artifact(tmp_path).name == "checkpoint-000000000005"


# --- extreme numbers -----------------------------------------------------------------------


class Deep:
    """A game of one path: at each of `depth` nodes the player to act may stop with payoff 0."""

    def __init__(self, depth, scale=1.0):
        self.depth, self.scale = depth, scale

    def efg(self):
        lines = ['EFG 2 R "deep" { "a" "b" }']
        for level in range(self.depth):
            player = level % 2 + 1
            lines.append(f'p "" {player} {level // 2 + 1} "" {{ "stop" "go" }} 0')
            lines.append(f't "" {level + 1} "" {{ {self.scale * (-1) ** level} {-self.scale * (-1) ** level} }}')
        lines.append(f't "" {self.depth + 1} "" {{ {self.scale} {-self.scale} }}')
        return "\n".join(lines) + "\n"


@pytest.mark.parametrize("traversal", ["full", "external", "outcome", "chance"])
@pytest.mark.parametrize("depth", [1_060, 2_100])
def test_deep_trees_give_finite_numbers(tmp_path, depth, traversal):
    """Reach falls below the smallest normal numbers, whose reciprocals are infinite."""
    path = tmp_path / "deep.efg"
    path.write_text(Deep(depth).efg())
    result = rb.solve(str(path), traversal=traversal, iterations=20)
    assert np.isfinite(result.strategy.probabilities).all()
    assert math.isfinite(result.exploitability)
    assert result.value_low <= -1 <= result.value_high or result.value_low <= 1 <= result.value_high


@pytest.mark.parametrize("gamma", [100, 1_000, 1e6])
def test_averages_with_large_gamma(gamma):
    """Weights of early iterations become so small that their reciprocals are infinite."""
    result = rb.solve("leduc", schedule=f"dcfr:gamma={gamma}", iterations=1_240)
    assert np.isfinite(result.strategy.probabilities).all()
    assert result.value_low <= -0.085606424 <= result.value_high
    assert math.isfinite(result.exploitability)


@pytest.mark.parametrize("schedule", ["vanilla", "dcfr", "pcfr+"])
@pytest.mark.parametrize("scale", [1e308, 1e200, 1e-200, 1e-308])
def test_extreme_payoffs(scale, schedule):
    """Regrets overflow or underflow; the result may be poor, but it is a strategy with measured exploitability."""
    result = rb.solve(rb.matrix([[scale, -scale], [-scale, 0.3 * scale]]), schedule=schedule, iterations=50)
    assert np.isfinite(result.strategy.probabilities).all()
    assert result.value_low <= -7 / 33 * scale <= result.value_high  # (ad - bc) / (a + d - b - c)


def test_non_finite_figures_raise(monkeypatch):
    run = CFRRun("kuhn")
    monkeypatch.setattr(run.solver, "quality", lambda: Quality((math.nan, 1.0), (0.0, 0.0)))
    with pytest.raises(NumericalError, match=r"kuhn.* 1 .*dcfr"):
        run.iterate([after_iterations(5)])


def test_overflow_prints_one_line(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["solve", "kuhn:ante=1e308", "--iterations", "5", "--json"])
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    assert [line for line in err.splitlines() if "exploitability" in line] == err.splitlines()[-1:]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, -0.5, 1.5])
def test_rows_must_be_distributions(bad):
    with pytest.raises(InputError, match="Q:"):
        rb.Strategy.from_mapping(rb.compile_game(rb.game("kuhn")), {"Q:": {"c": bad, "r": 0.5}})


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_probabilities_must_be_finite(bad):
    tree = rb.compile_game(rb.game("kuhn"))
    table = rb.Strategy.uniform(tree).probabilities.copy()
    table[3] = bad
    with pytest.raises(InputError, match="1 prob"):
        rb.Strategy(tree, table)


def test_a_table_that_was_read_is_not_overwritten() -> None:
    """A solution may hold the table while the run continues; memory of tables that nobody read is used again."""
    best = best_strategy.BestCheck()
    first, second, third = (np.full(8, k, np.uint16) for k in (1, 2, 3))
    best.store(Quality((0.5, 0.5), (0.0, 0.0), 0.0), 1, first)
    unread = best._table
    best.store(Quality((0.4, 0.4), (0.0, 0.0), 0.0), 2, second)
    assert best._table is unread
    read = best.table()
    best.store(Quality((0.3, 0.3), (0.0, 0.0), 0.0), 3, third)
    assert read.tolist() == [2] * 8
    assert best.table().tolist() == [3] * 8
