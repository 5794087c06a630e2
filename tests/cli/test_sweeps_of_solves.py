"""Sweeps: games × schedules × seeds in this process, in several processes and on Ray give the same results."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

import riverboat as rb
from riverboat.api.sweep import SweepResult, SweepTrial
from riverboat.core.errors import InputError


def without_clock(found: SweepResult) -> list[tuple[Any, ...]]:
    return [
        (t.game, t.schedule, t.seed, t.iterations, t.exploitability, t.values, [(at, e) for at, _, e in t.history])
        for t in found.trials
    ]


def test_every_combination_equals_a_single_solve() -> None:
    heard: list[tuple[str, int, int]] = []

    def progress(trial: SweepTrial, done: int, of: int) -> None:
        heard.append((trial.game, done, of))

    found = rb.sweep(
        ["kuhn", "coin_toss"], ["dcfr", "linear"], [3, 5], traversal="external", iterations=50, progress=progress
    )
    assert [(t.game, t.schedule, t.seed) for t in found.trials] == [
        (game, schedule, seed) for game in ("kuhn", "coin_toss") for schedule in ("dcfr", "linear") for seed in (3, 5)
    ]
    alone = rb.solve("kuhn", schedule="linear", traversal="external", seed=5, iterations=50)
    assert found.trials[3].exploitability == alone.exploitability
    assert found.trials[3].values == alone.values
    assert heard[-1] == ("coin_toss", 8, 8)
    table = found.table()
    assert table[1]["exploitability"] == fmean(t.exploitability for t in found.trials[2:4])
    assert list(found.to_frame(checks=False)["seed"]) == [3, 5] * 4
    assert len(found.to_csv().splitlines()) == 9
    curves = found.to_frame()  # a row for each check
    assert len(curves) == sum(len(trial.history) for trial in found.trials) > 8 * 5
    last = curves.groupby(["game", "schedule", "seed"]).tail(1)
    assert list(last["exploitability"]) == [trial.exploitability for trial in found.trials]


def test_the_picture(tmp_path: Path) -> None:
    found = rb.sweep("kuhn", ["dcfr", "linear"], 2, traversal="external", iterations=20)
    axes = found.figure().axes
    assert [axis.get_title() for axis in axes] == ["kuhn"]
    assert [line.get_label() for line in axes[0].lines] == ["dcfr", "linear"]
    assert len(axes[0].collections) == 2  # bands over seeds
    # 95 % confidence interval of the mean of the logarithms of two numbers: Student's t with one degree of freedom is 12.7062
    band, line = axes[0].collections[0].get_paths()[0].vertices, axes[0].lines[0].get_xydata()
    first, second = ({at: e for at, _, e in trial.history}[20] for trial in found.trials[:2])
    assert line[-1][1] == pytest.approx(math.sqrt(first * second))
    width = 12.7062 * abs(math.log(first / second)) / 2
    heights = [y for x, y in band if x == 20]
    assert max(heights) == pytest.approx(line[-1][1] * math.exp(width), rel=1e-4)
    assert min(heights) == pytest.approx(line[-1][1] * math.exp(-width), rel=1e-4)
    assert found.plot(tmp_path / "s.svg").stat().st_size > 1000


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"games": []}, "game"),
        ({"games": "chess"}, "'chess'"),
        ({"schedules": "magic"}, "magic"),
        ({"seeds": [1, 1]}, "each seed once"),
        ({"until": "0.5%"}, "in chips"),
        ({"resume": True}, "resume needs out"),
        ({"workers": 0}, "workers=0"),
        ({"traversal": "sideways"}, "sideways"),
    ],
)
def test_invalid_arguments_raise_before_the_first_solve(given: dict[str, Any], message: str) -> None:
    def never(*_: object) -> None:
        raise AssertionError("solved")

    with pytest.raises(InputError, match=message):
        rb.sweep(**{"games": ["kuhn"], "iterations": 5, "progress": never, **given})


@pytest.mark.slow
@pytest.mark.parametrize("where", [{"workers": 2}, {"workers": 2, "cluster": "local"}], ids=["processes", "ray"])
def test_workers_do_not_change_the_result(where: dict[str, Any]) -> None:
    what: dict[str, Any] = {
        "games": ["kuhn", rb.matrix([[1, -1], [-1, 1]])],
        "schedules": ["dcfr", "cfr+"],
        "iterations": 30,
    }
    assert without_clock(rb.sweep(**what, **where)) == without_clock(rb.sweep(**what))
    with pytest.raises(InputError, match="pcs"):
        rb.sweep("rps", traversal="pcs", iterations=5, **where)


# --- mixed grids, resumed sweeps, tables ----------------------------------------------------


SPOT = rb.Spot.make(board="Qs Jh 2h 8c 3d", pot=100, stack=200, oop="AA,KK", ip="QQ,JJ", bets="50%", name="river")


def test_mixed_grid() -> None:
    found = rb.sweep(["kuhn", SPOT], ["dcfr"], 2, traversal=["full", "pcs"], iterations=10)
    # Nothing is random: Kuhn has no public chance for PCS to sample.
    assert [(t.game, t.traversal, t.seed) for t in found.trials] == [
        ("kuhn", "full", 0), ("kuhn", "pcs", 0), ("river", "full", 0),
    ]  # fmt: skip
    assert found.left_out == ("river: traversal 'pcs' is not supported: use 'full'",)
    with pytest.raises(InputError, match=r"river: traversal 'pcs' is not supported"):
        rb.sweep(["kuhn", SPOT], traversal="pcs", iterations=10)
    sampled = rb.sweep("leduc", traversal=["full", "pcs"], seeds=2, iterations=5).trials
    assert [(t.traversal, t.seed) for t in sampled] == [("full", 0), ("pcs", 0), ("pcs", 1)]
    assert {t.unit for t in found.trials} == {"chips", "% of pot"}


def test_games_of_one_name_are_told_apart() -> None:
    other = rb.matrix([[2, -1], [-1, 1]])
    found = rb.sweep([rb.matrix([[1, -1], [-1, 1]]), other, "kuhn:cards=4", "kuhn"], iterations=3)
    assert [t.game for t in found.trials] == ["matrix 1", "matrix 2", "kuhn:cards=4", "kuhn"]
    assert len(found.table()) == 4


class Killed(Exception):
    """A kill between two solves."""


def test_a_killed_sweep_goes_on(tmp_path: Path) -> None:
    grid: dict[str, Any] = {
        "games": ["kuhn", SPOT], "schedules": ["dcfr", rb.schedules.cfr_plus], "iterations": 20, "out": tmp_path / "s",
    }  # fmt: skip

    def kill(_: SweepTrial, done: int, __: int) -> None:
        if done == 2:
            raise Killed

    with pytest.raises(Killed):
        rb.sweep(**grid, progress=kill)
    with pytest.raises(InputError, match="holds a sweep already; resume it"):
        rb.sweep(**grid)
    with pytest.raises(InputError, match="holds another sweep"):
        rb.sweep(**{**grid, "iterations": 30}, resume=True)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "s").glob("solve-*.json")}
    assert len(before) == 2
    found = rb.sweep(**grid, resume=True)
    assert without_clock(found) == without_clock(rb.sweep(**{**grid, "out": None}))
    assert all(path.stat().st_mtime_ns == time for path, time in before.items())  # not solved again
    heard: list[int] = []
    assert rb.sweep(**grid, resume=True, progress=lambda _, done, __: heard.append(done)).trials == found.trials
    assert len(heard) == 4
    next(iter(before)).write_text("{")
    with pytest.raises(rb.RiverboatError, match=r"solve-\d+\.json: cannot be read"):
        rb.sweep(**grid, resume=True)


def test_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = rb.sweep("kuhn", ["dcfr", "cfr+"], iterations=5)
    lines = found.save(tmp_path / "s.csv").read_text().splitlines()
    assert lines[0] == "game,schedule,traversal,seed,iteration,seconds,exploitability,unit"
    assert len(lines) == 1 + len(found.to_frame()) > 10
    with pytest.raises(InputError, match=r"must end in \.csv or \.parquet"):
        found.save(tmp_path / "s.txt")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"pip install pyarrow; or write \.csv"):
        found.save(tmp_path / "s.parquet")


def test_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a stand-in for pyarrow, which `make test` does not install: the columns reach its writer."""
    written: dict[str, Any] = {}

    class Parquet:
        @staticmethod
        def write_table(columns: dict[str, list[Any]], path: Path) -> None:
            written.update(columns)
            Path(path).write_bytes(b"PAR1")

    class Arrow:
        table = dict
        parquet = Parquet

    monkeypatch.setitem(sys.modules, "pyarrow", Arrow)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", Parquet)
    found = rb.sweep("kuhn", iterations=5)
    assert found.save(tmp_path / "s.parquet").read_bytes() == b"PAR1"
    assert written["exploitability"] == [e for _, _, e in found.trials[0].history]
