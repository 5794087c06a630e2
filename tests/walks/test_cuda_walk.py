"""The walk for a GPU against the one for processors, in Numba's simulator; and the choice of a device."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import riverboat as rb
from riverboat.agents.baselines import Yardstick
from riverboat.cli import device_notes
from riverboat.cli.main import main
from riverboat.core.errors import InputError
from riverboat.engines import devices
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.batches import solve_many
from riverboat.subgames.search.search import SearchSettings

# Sixteen-bit regrets and averages are rounded by the same thresholds, so a difference is one in the last bit of few.
CLOSE = {
    "river compact": 1e-4, "river 16-bit": 1e-4, "many": 0.05,  # "many": ties fall as rounding has it
    "training by vectors": 1e-5, "training by vectors with two cards": 1e-5, "training by vectors in limit": 1e-5,
    "learning by vectors": 0.02,
    "training by deals": 1e-4, "training by deals in no-limit": 1e-4, "training by deals with public buckets": 1e-4,
    "training by deals with cuts": 1e-4, "averages of many deals": 4.0,
}  # fmt: skip
CASES = (
    "river 16-bit",
    "choose",
    "batch",
    "best response",
    "nearest centres",
    "training by vectors",
    "training by deals",
)
MORE = (
    "turn with rake", "river float64", "river compact", "river at once", "more than four moves", "stop", "moved", "flop",
    "river predicting", "locked", "stop before a turn", "many", "far", "stakes", "best response with two cards",
    "best response in limit", "stop with draws", "training by vectors with two cards",
    "training by vectors in limit", "learning by vectors", "steps by vectors", "training by deals in no-limit",
    "training by deals with public buckets", "training by deals with cuts", "averages of many deals",
)  # fmt: skip
SMALL = {"board": "AsKd7c4h2s", "pot": 2, "stack": 2, "oop": "AA", "ip": "KK", "bets": "a"}


def simulate(*cases: str) -> dict[str, dict[str, float]]:
    """What the simulator finds for some cases; it must be chosen before Numba is imported."""
    script = Path(__file__).with_name("simulated.py")
    done = subprocess.run(
        [sys.executable, script, *cases],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": os.pathsep.join(sys.path)},  # twins lie there
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
    with pytest.raises(InputError, match="device 'cuda': no CUDA device is there; take 'cpu', or 'auto'"):
        rb.train("demo", out="nowhere", device="cuda")
    assert rb.solve(spot, device="auto", iterations=10).exploitability >= 0


def test_other_words_and_games() -> None:
    with pytest.raises(InputError, match="device 'cuda' is for method 'cfr'; 'lp' runs on processors"):
        rb.solve("kuhn", method="lp", device="cuda")
    with pytest.raises(InputError, match="device 'tpu': one of cpu, cuda, auto"):
        solve_many([Spot.make(**SMALL)], device="tpu")
    with pytest.raises(InputError, match="device 'tpu': one of cpu, cuda, auto"):
        SearchSettings(device="tpu")
    with pytest.raises(InputError, match="device 'tpu': one of cpu, cuda, auto"):
        rb.solve(Spot.make(**SMALL), device="tpu", iterations=1)
    with pytest.raises(InputError, match="kuhn: device 'cuda' is for spots and whole games of hold'em"):
        rb.solve("kuhn", device="cuda", iterations=1)


def test_the_command_says_where_it_runs(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    for module in (devices, device_notes):
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


def test_agents_that_search_say_where(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    for module in (devices, device_notes):
        monkeypatch.setattr(module, "why_not", lambda: "no CUDA device is there")
    for agents, said in ((["cpu"], ""), (["auto", "auto"], "device auto: cpu; no CUDA device is there\n")):
        device_notes.tell_agents([SimpleNamespace(settings=SearchSettings(device=d)) for d in agents])  # type: ignore[misc]
        assert capfd.readouterr().err == said
    device_notes.tell_agents([Yardstick("random")])
    assert capfd.readouterr().err == ""


def test_other_commands_know_devices(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Where there is none it is refused by name, or `auto` takes the processor and says so."""
    for module in (devices, device_notes):
        monkeypatch.setattr(module, "why_not", lambda: "no CUDA device is there")
    rb.solve(Spot.make(**SMALL), iterations=10, out=tmp_path / "run")
    rb.solve("kuhn", iterations=10, out=tmp_path / "kuhn")
    refused = "device 'cuda': no CUDA device is there; take 'cpu', or 'auto'"
    for words, code, said in (
        (["exploitability", str(tmp_path / "run"), "--device", "cuda"], 2, refused),
        (["exploitability", str(tmp_path / "run"), "--device", "auto"], 0, "device auto: cpu; no CUDA device is there"),
        (["exploitability", str(tmp_path / "kuhn"), "--device", "cuda"], 2, refused),
        (["match", "demo?search=river", "random", "--device", "cuda"], 2, refused),
        (["match", "random", "always-call", "--device", "auto"], 2, "--device auto: none of these agents searches"),
        (["bench", "--device", "cuda"], 2, refused),
        (["bench", "--device", "auto"], 2, "--device auto: no GPU is here"),
        (["solve", "kuhn", "--method", "lp", "--device", "cuda"], 2, "--device belong to method cfr, not lp"),
    ):
        with pytest.raises(SystemExit) as ended:
            main([*words, "--json"])
        assert (words, ended.value.code or 0, said in capfd.readouterr().err) == (words, code, True)
