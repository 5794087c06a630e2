"""Work that no command does in small pieces: functions called by name in a process of the nursery."""

from __future__ import annotations

import contextlib
import io
import time
from pathlib import Path

import numpy as np
from tests.agents.test_search import base

from riverboat.cli import main
from riverboat.evaluation import local_best_response as lbr_module
from riverboat.papers.framework import ExperimentParts
from riverboat.subgames.database.database import build_database


def endgames(folder: str) -> None:
    """Build a subgame library in parts of two; existing parts are not built again."""
    build_database(base().strategy, folder, 8, part_size=2, resume=True)


def pieces(folder: str) -> None:
    """Compute the figures of an experiment in cached pieces, and write all of them at the end."""
    stored = ExperimentParts("chaos", folder, use_cache=True)
    result = []
    for k in range(8):

        def make(k: int = k) -> dict[str, object]:
            time.sleep(0.02)
            return {"figure": np.random.default_rng(k).random(2000)}

        piece = stored.get_or_compute(str(k), make)
        assert piece is not None
        result.append(piece["figure"])
    Path(folder).mkdir(parents=True, exist_ok=True)
    np.save(Path(folder) / "figures.npy", np.array(result))


def ledger(folder: str) -> None:
    """Play matches that the ledger does not have yet, and add each; results are reproducible for a seed."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for seed in range(4):
        result = place / f"{seed}.json"
        command = ["match", "always-call", "random", "--game", "leduc", "--hands", "200", "--seed", str(seed), "--json"]
        output = _printed(command)
        result.write_text(output)
        _printed(["ledger", str(place / "ledger.jsonl"), "--add", str(result), "--json"])


def local_best_response(folder: str) -> None:
    """Compute a local best response that writes its sums after each deal."""
    lbr_module.SECONDS_PER_CHECKPOINT = 0.0
    words = "lbr rule-based --game leduc --hands 4000 --walkers 4 --seed 3 --resume --json --out"
    _printed([*words.split(), str(Path(folder) / "run")])


def _printed(words: list[str]) -> str:
    """Run a command and return its output; an interrupt propagates to the caller."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            main.main(words)
        except SystemExit as ended:
            if ended.code:
                raise
    return out.getvalue()
