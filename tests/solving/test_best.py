"""Runs whose exploitability rises keep their best answer; runs that stall end; what is not finite never leaves."""

import itertools
import json
import math

import numpy as np
import pytest

import riverboat as rb
from riverboat.cli.main import main
from riverboat.core.errors import InputError, NumericalError
from riverboat.solvers import best_strategy, check_schedule
from riverboat.solvers.result import LIMIT, STALLED, TARGET
from riverboat.solvers.run import Run
from riverboat.solvers.run_loop import after_iterations
from riverboat.solvers.tabular.best_response import Quality
from riverboat.strategies import files

ROCKY = {
    "schedule": "vanilla",
    "traversal": "outcome",
    "seed": 3,
    "answer": "best",
}  # sampling: exploitability goes up and down
SPOT = rb.Spot.make(board="Td9d6hQc2s", pot=100, stack=300, oop="99+,AQ,KJ", ip="22+,AT+,QJs", bets="60%")


def risen():
    """A run that ends worse than it was."""
    for count in range(20, 200):
        result = rb.solve("leduc", iterations=count, **ROCKY)
        if result.answer_iteration != result.iterations:
            return count
    raise AssertionError("no run of these rises: the tests here prove nothing")


COUNT = risen()


def test_the_answer_is_the_best_check():
    result = rb.solve("leduc", iterations=COUNT, **ROCKY)
    lowest = min(result.history, key=lambda p: p.exploitability)
    assert result.history[-1].exploitability > lowest.exploitability
    assert (result.answer_iteration, result.exploitability) == (lowest.iteration, lowest.exploitability)
    assert rb.quality(result.strategy).exploitability == pytest.approx(result.exploitability, rel=1e-12)
    straight = rb.solve("leduc", iterations=lowest.iteration, **ROCKY)
    np.testing.assert_array_equal(result.strategy.probabilities, straight.strategy.probabilities)


def test_it_is_what_a_folder_holds_and_a_resumed_run_goes_on_from_the_end(tmp_path):
    result = rb.solve("leduc", iterations=COUNT, out=tmp_path, **ROCKY)
    read = rb.load(tmp_path)
    np.testing.assert_array_equal(read.probabilities, result.strategy.probabilities)
    assert read.provenance["iterations"] == result.answer_iteration < COUNT
    run = Run("leduc", **ROCKY, out=tmp_path, resume=True)
    assert run.solver.iteration == COUNT
    resumed = rb.solve("leduc", iterations=COUNT + 9, out=tmp_path, resume=True, **ROCKY)
    again = rb.solve("leduc", iterations=COUNT + 9, **ROCKY)
    np.testing.assert_array_equal(resumed.strategy.probabilities, again.strategy.probabilities)


def test_a_run_that_was_saved_at_its_best_still_knows_it(tmp_path):
    """Saved at the very iteration of the best check, where the averages are the best ones; and before the next check."""
    at = rb.solve("leduc", iterations=COUNT, **ROCKY).answer_iteration
    run = Run("leduc", **ROCKY, out=tmp_path)
    run.go([after_iterations(at)])
    assert run.best.iteration == run.solver.iteration == at
    run.save()
    resumed = Run("leduc", **ROCKY, out=tmp_path, resume=True)
    assert resumed.best.iteration == at
    resumed.go([after_iterations(COUNT)])
    resumed.check()
    again = rb.solve("leduc", iterations=COUNT, **ROCKY)
    np.testing.assert_array_equal(resumed.result().strategy.probabilities, again.strategy.probabilities)
    resumed.save()
    later = Run("leduc", **ROCKY, out=tmp_path, resume=True)
    later.save(tmp_path / "elsewhere")  # nothing was checked since
    np.testing.assert_array_equal(rb.load(tmp_path / "elsewhere").probabilities, again.strategy.probabilities)


def test_the_command_says_so(capsys):
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
    said = capsys.readouterr().err
    result = rb.solve("leduc", iterations=COUNT, **ROCKY)
    assert f"the answer is that of iteration {result.answer_iteration}" in said


def test_show_tells_the_figures_of_the_answer(tmp_path, capsys):
    result = next(r for n in range(3, 60) if (r := rb.solve(SPOT, iterations=n, answer="best")).answer_iteration != n)
    rb.solve(SPOT, iterations=result.iterations, answer="best", out=tmp_path)
    with pytest.raises(SystemExit):
        main(["show", str(tmp_path), "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["iterations"] == result.answer_iteration
    assert told["exploitability"] == pytest.approx(result.exploitability)
    assert result.history[-1].exploitability > 1.001 * result.exploitability


def test_with_buckets_the_last_average_is_the_answer():
    """What the abstract game's solution costs in the full one, though an earlier average may cost less."""
    result = rb.solve("flop_holdem:one-bet,ranks=4,suits=2", cards="strength:1", iterations=200)
    assert result.answer_iteration in (None, 200)
    assert min(p.exploitability for p in result.history) < result.exploitability == result.history[-1].exploitability


def test_large_tables_wait_in_a_file(tmp_path, monkeypatch):
    expected = rb.solve("leduc", iterations=COUNT, **ROCKY)
    monkeypatch.setattr(best_strategy, "IN_MEMORY", 100)
    monkeypatch.setattr(best_strategy, "SLOW", 0.0)
    found = rb.solve("leduc", iterations=COUNT, out=tmp_path / "run", **ROCKY)
    np.testing.assert_array_equal(found.strategy.probabilities, expected.strategy.probabilities)


def test_large_tables_are_copied_only_where_a_run_slows_down(monkeypatch):
    monkeypatch.setattr(best_strategy, "IN_MEMORY", 0)
    kept = best_strategy.Best()
    table = np.arange(10, dtype=np.uint16)
    for iteration, exploitability in enumerate([8.0, 4.0, 2.0, 1.9, 3.0, 1.0]):
        kept.offer(Quality((exploitability, exploitability), (0.0, 0.0)), iteration, table + iteration)
    assert kept.iteration == 3  # 1.9 after 2.0; at 1.0 the run goes well again
    np.testing.assert_array_equal(kept.table(), table + 3)


def test_a_copy_that_cannot_be_written_is_not_an_answer(monkeypatch):
    """The file holds half of a new table and half of an old one: neither is kept."""
    monkeypatch.setattr(best_strategy, "IN_MEMORY", 0)
    monkeypatch.setattr(best_strategy, "SLOW", 0.0)
    kept = best_strategy.Best()
    table = np.arange(10, dtype=np.uint16)
    kept.offer(Quality((2.0, 2.0), (0.0, 0.0)), 1, table)

    def full(*_):
        raise OSError(28, "no space left on device")

    file = kept._file
    monkeypatch.setattr(kept, "_file", type("Full", (), {"seek": file.seek, "write": full, "close": file.close})())
    with pytest.raises(OSError, match="no space"):
        kept.offer(Quality((1.0, 1.0), (0.0, 0.0)), 2, table)
    assert (kept.quality, kept.iteration) == (None, -1)
    kept._file = file
    kept.offer(Quality((1.5, 1.5), (0.0, 0.0)), 3, table + 3)
    np.testing.assert_array_equal(kept.table(), table + 3)


@pytest.mark.parametrize("dtype", ["compact", "16-bit", "float32"])
def test_no_format_gets_worse_with_more_iterations(dtype):
    """Kept as means in sixteen bits and rounded to the nearest, averages stood still while weights went on."""
    run = Run(SPOT, dtype=dtype)
    found = []
    for count in (300, 1_000, 3_000, 10_000):
        run.solver.step(count - run.solver.iteration)
        found.append(run.solver.exploitability())
    assert found[0] > 0.002  # % of the pot
    for before, after in itertools.pairwise(found):
        assert after <= max(before, 0.001)
    assert found[-1] <= 0.001


@pytest.mark.slow
def test_the_turn_of_the_examples_goes_on_improving():
    """With averages rounded to the nearest: 0.065, 0.029 and 0.099 % of the pot."""
    run = Run("examples/spots/turn.toml", threads=2)
    found = []
    for count in (300, 700, 3_000):
        run.solver.step(count - run.solver.iteration)
        found.append(run.solver.exploitability())
    assert found[0] > found[1] > found[2]
    assert found[2] <= 0.005


# --- targets that cannot be met ---------------------------------------------------------------


@pytest.mark.parametrize("target", [1e-17, 1e-300, 5e-324])
def test_far_targets_are_expected_far_away(target):
    result = rb.solve("leduc", until=target, iterations=60)
    assert not result.reached
    assert result.ended == LIMIT
    assert result.iterations == 60


@pytest.mark.parametrize("bad", [0.0, -1.0, math.inf, -math.inf, math.nan])
def test_targets_are_numbers_above_zero(bad):
    with pytest.raises(InputError, match="until="):
        rb.solve("kuhn", until=bad)


def test_a_line_that_hardly_falls_leads_far():
    checks = [(1000, 1.0), (1250, math.nextafter(1.0, 0.0))]
    assert check_schedule.expected_at(checks, 1e-17) == check_schedule.FAR
    assert check_schedule.next_check(1250, checks, target=1e-17) == check_schedule.next_check(1250, checks, target=None)
    assert check_schedule.expected_at([(10, 1.0), (20, 0.5)], 0.125) == 80  # one over T: exact
    assert check_schedule.expected_at([(10, 1.0), (20, 1.5)], 0.125) is None


def test_a_patient_run_does_not_overshoot_its_target() -> None:
    """Curves on boards fall in steps: a line through two checks may promise far too little or too much."""
    for bumps in (0.0, 0.3, -0.3):
        curve = [math.inf] + [1e4 * t**-1.7 * math.exp(bumps * math.sin(6 * math.log(t))) for t in range(1, 2000)]
        for target in (20.0, 3.0, 0.7):
            checks: list[check_schedule.Check] = []
            while not checks or checks[-1][1] > target:
                due = check_schedule.next_check(checks[-1][0] if checks else 0, checks, target=target, patient=True)
                checks.append((due, curve[due]))
            first = next(t for t, e in enumerate(curve) if e <= target)
            assert checks[-1][0] <= 1.3 * first
            assert len(checks) < 0.15 * checks[-1][0] + 8


def test_hopeful_checks_are_few_and_miss_nothing() -> None:
    """No check that could have been the last is left out where exploitability falls slower than with the cube."""
    for power, bumps in ((1.0, 0.0), (2.0, 0.0), (2.0, 0.15), (2.9, 0.0)):
        curve = [math.inf] + [5e3 * t**-power * math.exp(bumps * math.sin(6 * math.log(t))) for t in range(1, 20_000)]
        for target, every in ((5.0, 10), (0.5, 5), (0.5, 50)):
            due, looks = every, 1
            while curve[due] > target:
                due, looks = check_schedule.hopeful_check(due, curve[due], target, every), looks + 1
            assert due == next(t for t in range(every, 20_000, every) if curve[t] <= target)
            assert looks <= 8 + 2.5 * math.log(due) or looks == due // every
    assert check_schedule.hopeful_check(10, 3.0, 0.0, 10) == check_schedule.hopeful_check(10, math.inf, 1.0, 10) == 20


def test_a_run_that_stalls_ends():
    checks = [(t, 1.0 / min(t, 1_000)) for t in range(100, 3_900, 100)]
    assert not check_schedule.stalls(checks)
    assert check_schedule.stalls([*checks, (4_000, 1.0 / 1_000), (4_100, 0.001)])
    assert not check_schedule.stalls([(t, 1.0 / t) for t in range(1, 10**6, 997)])
    result = rb.solve("rps", until=1e-300)  # solved exactly: rounding is all that is left
    assert result.ended in (STALLED, TARGET)
    stuck = rb.solve("rps", schedule="vanilla", traversal="outcome", until=1e-12, stop=[after_iterations(5_000)])
    assert (stuck.ended, stuck.reached) == (LIMIT, False)
    assert rb.solve("kuhn", until=0.1).ended == TARGET


# --- formats on resuming ----------------------------------------------------------------------


def test_another_format_is_refused_on_resuming(tmp_path):
    rb.solve(SPOT, iterations=3, dtype="float32", out=tmp_path)
    with pytest.raises(InputError, match="dtype='float32', not '16-bit'"):
        rb.solve(SPOT, iterations=5, dtype="16-bit", out=tmp_path, resume=True)
    assert rb.solve(SPOT, iterations=5, out=tmp_path, resume=True).strategy.provenance["dtype"] == "float32"
    assert files.newest(tmp_path).name == "checkpoint-000000000005"


# --- what is not finite -----------------------------------------------------------------------


class Deep:
    """A game of one path: at each of `depth` nodes the player whose turn it is may stop for nothing."""

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
    """Reach fades through the smallest numbers on the way down: one over them is infinite."""
    path = tmp_path / "deep.efg"
    path.write_text(Deep(depth).efg())
    result = rb.solve(str(path), traversal=traversal, iterations=20)
    assert np.isfinite(result.strategy.probabilities).all()
    assert math.isfinite(result.exploitability)
    assert result.value_low <= -1 <= result.value_high or result.value_low <= 1 <= result.value_high


@pytest.mark.parametrize("gamma", [100, 1_000, 1e6])
def test_averages_that_forget_almost_everything(gamma):
    """Weights of early iterations fade to numbers so small that one over them is infinite."""
    result = rb.solve("leduc", schedule=f"dcfr:gamma={gamma}", iterations=1_240)
    assert np.isfinite(result.strategy.probabilities).all()
    assert result.value_low <= -0.085606424 <= result.value_high
    assert math.isfinite(result.exploitability)


@pytest.mark.parametrize("schedule", ["vanilla", "dcfr", "pcfr+"])
@pytest.mark.parametrize("scale", [1e308, 1e200, 1e-200, 1e-308])
def test_pay_offs_at_the_ends_of_the_range(scale, schedule):
    """Regrets overflow or fade; the answer may be poor, but it is a strategy, and what it loses is measured."""
    result = rb.solve(rb.matrix([[scale, -scale], [-scale, 0.3 * scale]]), schedule=schedule, iterations=50)
    assert np.isfinite(result.strategy.probabilities).all()
    assert result.value_low <= -7 / 33 * scale <= result.value_high  # (ad - bc) / (a + d - b - c)


def test_figures_that_are_not_finite_give_no_answer(monkeypatch):
    run = Run("kuhn")
    monkeypatch.setattr(run.solver, "quality", lambda: Quality((math.nan, 1.0), (0.0, 0.0)))
    with pytest.raises(NumericalError, match="not finite after 1 iterations of dcfr"):
        run.go([after_iterations(5)])


def test_overflow_is_one_line(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["solve", "kuhn:ante=1e308", "--iterations", "5", "--json"])
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    assert [line for line in err.splitlines() if "not finite" in line] == err.splitlines()[-1:]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, -0.5, 1.5])
def test_a_row_is_a_distribution(bad):
    with pytest.raises(InputError, match="do not sum to one"):
        rb.Strategy.from_mapping(rb.compile_game(rb.game("kuhn")), {"Q:": {"c": bad, "r": 0.5}})


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_strategy_is_made_of_numbers(bad):
    tree = rb.compile_game(rb.game("kuhn"))
    table = rb.Strategy.uniform(tree).probabilities.copy()
    table[3] = bad
    with pytest.raises(InputError, match="1 probabilities are not finite"):
        rb.Strategy(tree, table)
