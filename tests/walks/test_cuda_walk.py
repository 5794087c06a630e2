"""The walk for a GPU against the one for processors, in Numba's simulator; and the choice of a device."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import riverboat as rb
from riverboat.errors import InputError
from riverboat.games.spot import Spot
from riverboat.interfaces import solving
from riverboat.interfaces.cli import main
from riverboat.walks import devices

# Sixteen-bit regrets and averages are rounded by the same thresholds, so a difference is one in the last bit of few.
CLOSE = {"river compact": 1e-4, "river 16-bit": 1e-4}
CASES = ("river 16-bit", "turn with rake", "choose", "batch")
MORE = (
    "river float64", "river compact", "river at once", "more than four moves", "stop", "moved", "flop",
    "river predicting", "locked",
)  # fmt: skip
SMALL = {"board": "AsKd7c4h2s", "pot": 2, "stack": 2, "oop": "AA", "ip": "KK", "bets": "a"}


def simulate(*cases: str) -> dict[str, dict[str, float]]:
    """What the simulator finds for some cases; it must be chosen before Numba is imported."""
    script = Path(__file__).with_name("simulated.py")
    done = subprocess.run(
        [sys.executable, script, *cases],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {row.pop("case"): row for row in rows}


@pytest.fixture(scope="module")
def simulated() -> dict[str, dict[str, float]]:
    return simulate(*CASES)


@pytest.mark.parametrize("case", CASES)
def test_as_on_processors(simulated: dict[str, dict[str, float]], case: str) -> None:
    found, bound = simulated[case], CLOSE.get(case, 1e-12)
    assert {name: x for name, x in found.items() if not x <= bound} == {}


@pytest.mark.slow
@pytest.mark.parametrize("case", MORE)
def test_more_as_on_processors(case: str) -> None:
    test_as_on_processors(simulate(case), case)


def test_a_device_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "why_not", lambda: "no CUDA device is there")
    spot = Spot.make(**SMALL)
    with pytest.raises(InputError, match="device 'cuda': no CUDA device is there; take 'cpu', or 'auto'"):
        rb.solve(spot, device="cuda", iterations=10)
    assert rb.solve(spot, device="auto", iterations=10).exploitability >= 0


def test_other_words_and_games() -> None:
    with pytest.raises(InputError, match="device 'tpu': one of cpu, cuda, auto"):
        rb.solve(Spot.make(**SMALL), device="tpu", iterations=1)
    with pytest.raises(InputError, match="kuhn: device 'cuda' is for spots and whole games of hold'em"):
        rb.solve("kuhn", device="cuda", iterations=1)


def test_the_command_says_where_it_runs(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    for module in (devices, solving):
        monkeypatch.setattr(module, "why_not", lambda: "no CUDA device is there")
    flags = [x for key, value in SMALL.items() for x in (f"--{key}", str(value))]
    for device, code, said in (
        ("auto", 0, "device auto: cpu; no CUDA device is there"),
        ("cuda", 2, "device 'cuda': no CUDA device is there; take 'cpu', or 'auto'"),
        ("tpu", 2, "device 'tpu': one of cpu, cuda, auto"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(["solve", "spot", *flags, "--iterations", "5", "--device", device, "--json"])
        assert (ended.value.code or 0, said in capfd.readouterr().err) == (code, True)
