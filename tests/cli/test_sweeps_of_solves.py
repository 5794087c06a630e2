"""Sweeps: games × schedules × seeds in this process, in several processes and on Ray give the same results."""

from __future__ import annotations

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
    assert list(found.to_frame()["seed"]) == [3, 5] * 4
    assert len(found.to_csv().splitlines()) == 9


def test_the_picture(tmp_path: Path) -> None:
    found = rb.sweep("kuhn", ["dcfr", "linear"], 2, traversal="external", iterations=20)
    axes = found.figure().axes
    assert [axis.get_title() for axis in axes] == ["kuhn"]
    assert [line.get_label() for line in axes[0].lines] == ["dcfr", "linear"]
    assert len(axes[0].collections) == 2  # bands over seeds
    assert found.plot(tmp_path / "s.svg").stat().st_size > 1000


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"games": []}, "game"),
        ({"games": "chess"}, "'chess'"),
        ({"schedules": "magic"}, "magic"),
        ({"seeds": 2}, "2 seeds.*'full'"),
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
