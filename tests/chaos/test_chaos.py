"""Trainings, solves, builds and reproductions are killed, resumed, and compared with an uninterrupted run."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chaos.harness import Case, Found, Nursery, torment
from riverboat.core import artifacts
from riverboat.strategies import files

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

RECIPE = "game = 'leduc'\n[training]\nweighting = 'linear'\nperiod = 5000\n"
SPOT = (
    "solve", "spot", "--board", "Td9d6hQc2s", "--pot", 200, "--stack", 900, "--oop", "66+,AK", "--ip", "QQ-22,AQ",
    "--bets", "60%, a",
)  # fmt: skip


def tables(folder: Path) -> dict[str, bytes]:
    """Read the tables of a run's last checkpoint."""
    _, arrays = artifacts.read(files.checkpoints(folder / "run")[-1])
    return {name: values.tobytes() for name, values in arrays.items()}


def iterations(folder: Path) -> int:
    """Read the iterations of a run so far."""
    return int(files.checkpoints(folder / "run")[-1].name.rpartition("-")[2])


def train(mode: str, threads: tuple[int, ...], extra: tuple[Any, ...] = (), exact: bool = True) -> Case:
    """A training of Leduc that writes checkpoints all the time; each session may have another number of threads."""

    def words(folder: Path, count: int) -> list[Any]:
        (folder.parent / "leduc.toml").write_text(RECIPE)
        how = "--iterations", 150_000, "--threads", count, "--mode", mode, "--checkpoint", "0.02s", "--check", "0.1s"
        return ["train", folder.parent / "leduc.toml", "--out", folder / "run", *how, *extra, "--resume"]

    return Case(
        lambda folder: words(folder, threads[0]),
        lambda folder, draws: words(folder, draws.choice(threads)),
        tables if exact else lambda folder: iterations(folder) >= 150_000,
    )


def solve(*command: Any, count: int) -> Case:
    """A solve that writes checkpoints all the time."""

    def words(folder: Path) -> list[Any]:
        return [*command, "--iterations", count, "--out", folder / "run", "--checkpoint", "0.01s", "--resume"]

    return Case(words, lambda folder, draws: words(folder), tables)


def call(name: str, result: Callable[[Path], Any]) -> Case:
    """A function of `work` that resumes where it was killed."""
    command: Callable[[Path], list[Any]] = lambda folder: ["call", f"chaos.work:{name}", folder]  # noqa: E731
    return Case(command, lambda folder, draws: command(folder), result)


def library(folder: Path) -> dict[str, bytes]:
    """Read all parts of a subgame library."""
    result = {}
    for part in sorted(folder.glob("part-*")):
        _, arrays = artifacts.read(part)
        result |= {f"{part.name} {name}": values.tobytes() for name, values in arrays.items()}
    return result


def results(folder: Path) -> list[Any]:
    """Read the lines of a ledger, without timings."""
    lines = [json.loads(line) for line in (folder / "ledger.jsonl").read_text().splitlines()]
    return [{key: value for key, value in line.items() if key not in ("date", "seconds")} for line in lines]


def page(folder: Path) -> str:
    """Read a page of reproductions, without timings."""
    return re.sub(r"[\d.,]+ s\b", "", (folder / "page.md").read_text())


def reproduce(folder: Path, draws: random.Random | None = None) -> list[Any]:
    """An experiment whose section of a page is rewritten; a page is complete or missing."""
    folder.mkdir(exist_ok=True)
    return ["reproduce", "emd-example", "--docs", folder / "page.md"]


def lbr_sums(folder: Path) -> Any:
    """Read the sums over deals of a local best response."""
    return json.loads((folder / "run" / "lbr.json").read_text())["sums"]


CASES = {
    "train, deterministic": train("deterministic", (1, 2, 3)),
    "train, racing on one thread": train("racing", (1,)),
    "train, racing on two threads": train("racing", (2,), exact=False),
    "solve": solve("solve", "leduc", count=3_000),
    "solve, sampled": solve("solve", "leduc", "--traversal", "external", "--seed", 3, count=60_000),
    "solve, spot": solve(*SPOT, count=150),
    "endgames": call("endgames", library),
    "pieces of reproduce": call("pieces", lambda folder: (folder / "figures.npy").read_bytes()),
    "ledger": call("ledger", results),
    "local best response": call("local_best_response", lbr_sums),
    "reproduce": Case(reproduce, reproduce, page),
}


@pytest.mark.parametrize("name", CASES)
def test_killed_and_resumed(name: str, nursery: Nursery, judge: Callable[[Found], None]) -> None:
    judge(torment(nursery, CASES[name], seed=1, trials=8))


def test_hundred_deterministic_trainings(nursery: Nursery, judge: Callable[[Found], None]) -> None:
    judge(torment(nursery, CASES["train, deterministic"], seed=2, trials=100))
