"""The CUDA engine against the one for processors, in Numba's simulator; and the choice of a device."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import riverboat as rb
from riverboat.api.devices import note_agents_cpu_fallback
from riverboat.cli.main import main
from riverboat.cli.progress import StageDisplay
from riverboat.core.errors import InputError
from riverboat.engines import devices
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.batches import solve_many
from riverboat.subgames.search.search import SearchSettings

# 16-bit regrets and averages are rounded with the same dither, so only a few entries differ in the last bit.
CLOSE = {
    "many with limits": 1e-9, "river compact": 1e-4, "river 16-bit": 1e-4, "many": 0.05,  # "many": rounding decides ties
    "training by vectors": 1e-5, "training by vectors with two cards": 1e-5, "training by vectors in limit": 1e-5,
    "learning by vectors": 0.02,
    "training by deals": 1e-4, "training by deals in no-limit": 1e-4, "training by deals with public buckets": 1e-4,
    "training by deals with cuts": 1e-4, "averages of many deals": 4.0,
}  # fmt: skip
CASES = (
    "river 16-bit",
    "choose",
    "choose with limits",
    "batch",
    "best response",
    "nearest centres",
    "training by vectors",
    "training by deals",
)
MORE = (
    "turn with rake", "river float64", "river compact", "river at once", "more than four moves", "stop", "moved", "flop",
    "river predicting", "locked", "stop before a turn", "many", "far", "stakes", "best response with two cards",
    "best response in limit", "stop with draws", "choose with limits at once", "many with limits",
    "training by vectors with two cards",
    "training by vectors in limit", "learning by vectors", "steps by vectors", "training by deals in no-limit",
    "training by deals with public buckets", "training by deals with cuts", "averages of many deals",
)  # fmt: skip
SMALL = {"board": "AsKd7c4h2s", "pot": 2, "stack": 2, "oop": "AA", "ip": "KK", "bets": "a"}


def simulate(*cases: str) -> dict[str, dict[str, float]]:
    """Return the results of the simulator for some cases; it must be chosen before Numba is imported."""
    script = Path(__file__).with_name("simulated.py")
    done = subprocess.run(
        [sys.executable, script, *cases],
        env={
            **os.environ,
            "NUMBA_ENABLE_CUDASIM": "1",
            "PYTHONPATH": os.pathsep.join(sys.path),
        },  # for the reference implementations
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
def test_equals_the_processor(simulated: dict[str, dict[str, float]], case: str) -> None:
    found, bound = simulated[case], CLOSE.get(case, 1e-12)
    assert {name: x for name, x in found.items() if not x <= bound} == {}


@pytest.mark.slow
@pytest.mark.parametrize("case", MORE)
def test_slow_cases_equal_the_processor(case: str) -> None:
    test_equals_the_processor(simulate(case), case)


def test_missing_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "cuda_unavailable_reason", lambda: "no CUDA device is there")
    spot = Spot.make(**SMALL)
    with pytest.raises(InputError, match=r"'cuda'.*'cpu'.*'auto'"):
        rb.solve(spot, device="cuda", iterations=10)
    with pytest.raises(InputError, match=r"'cuda'.*'cpu'.*'auto'"):
        rb.train("demo", out="nowhere", device="cuda")
    assert rb.solve(spot, device="auto", iterations=10).exploitability >= 0


def test_invalid_devices_methods_and_games() -> None:
    with pytest.raises(InputError, match=r"'cuda'.*'lp'"):
        rb.solve("kuhn", method="lp", device="cuda")
    with pytest.raises(InputError, match=r"'tpu'.*cpu, cuda, auto"):
        solve_many([Spot.make(**SMALL)], device="tpu")
    with pytest.raises(InputError, match=r"'tpu'.*cpu, cuda, auto"):
        SearchSettings(device="tpu")
    with pytest.raises(InputError, match=r"'tpu'.*cpu, cuda, auto"):
        rb.solve(Spot.make(**SMALL), device="tpu", iterations=1)
    with pytest.raises(InputError, match=r"kuhn.*'cuda'"):
        rb.solve("kuhn", device="cuda", iterations=1)


def test_command_prints_the_device(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(devices, "cuda_unavailable_reason", lambda: "no CUDA device is there")
    flags = [x for key, value in SMALL.items() for x in (f"--{key}", str(value))]
    for device, code, said in (
        ("auto", 0, "no CUDA device is there"),
        ("cuda", 2, "no CUDA device is there"),
        ("tpu", 2, "'tpu'"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(["solve", "spot", *flags, "--iterations", "5", "--device", device, "--json"])
        assert (ended.value.code or 0, said in capfd.readouterr().err) == (code, True)


def test_fallback_of_agents_is_printed_once(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(devices, "cuda_unavailable_reason", lambda: "no CUDA device is there")
    for agents, count in ((["cpu"], 0), (["auto", "auto"], 1)):
        note_agents_cpu_fallback(StageDisplay(), [f"default?search=river&device={d}" for d in agents])
        err = capfd.readouterr().err
        assert (err.count("no CUDA device is there"), len(err.splitlines())) == (count, count)
    note_agents_cpu_fallback(StageDisplay(), ["random"])
    assert capfd.readouterr().err == ""


def test_devices_of_other_commands(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Without a device, `cuda` is an error that names it, and `auto` takes the processor and prints it."""
    monkeypatch.setattr(devices, "cuda_unavailable_reason", lambda: "no CUDA device is there")
    rb.solve(Spot.make(**SMALL), iterations=10, out=tmp_path / "run")
    rb.solve("kuhn", iterations=10, out=tmp_path / "kuhn")
    refused = "no CUDA device is there"
    for words, code, said in (
        (["exploitability", str(tmp_path / "run"), "--device", "cuda"], 2, refused),
        (["exploitability", str(tmp_path / "run"), "--device", "auto"], 0, "no CUDA device is there"),
        (["exploitability", str(tmp_path / "kuhn"), "--device", "cuda"], 2, refused),
        (["match", "demo?search=river", "random", "--device", "cuda"], 2, refused),
        (["match", "random", "always-call", "--device", "auto"], 2, "--device auto"),
        (["bench", "--device", "cuda"], 2, refused),
        (["bench", "--device", "auto"], 2, "--device auto"),
        (["solve", "kuhn", "--method", "lp", "--device", "cuda"], 2, "--device"),
    ):
        with pytest.raises(SystemExit) as ended:
            main([*words, "--json"])
        assert (words, ended.value.code or 0, said in capfd.readouterr().err) == (words, code, True)
