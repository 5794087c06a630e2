"""Work that no command does in small pieces: called by name in a process of the nursery."""

from __future__ import annotations

import contextlib
import io
import time
from pathlib import Path

import numpy as np
from tests.agents.test_searching import base

from riverboat.cli import main
from riverboat.papers.pieces import Pieces
from riverboat.subgames.database.build import build


def endgames(folder: str) -> None:
    """Build a library of endgames in parts of two; what is there counts."""
    build(base().strategy, folder, 8, part=2, resume=True)


def pieces(folder: str) -> None:
    """Make the figures of an experiment in pieces, which are kept in the cache; write all of them down at the end."""
    kept = Pieces("chaos", folder, keep=True)
    found = []
    for k in range(8):

        def make(k: int = k) -> dict[str, object]:
            time.sleep(0.02)
            return {"figure": np.random.default_rng(k).random(2000)}

        piece = kept.get(str(k), make)
        assert piece is not None
        found.append(piece["figure"])
    Path(folder).mkdir(parents=True, exist_ok=True)
    np.save(Path(folder) / "figures.npy", np.array(found))


def ledger(folder: str) -> None:
    """Play matches and add each to a ledger, those that are not there yet; results are the same for a seed."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for seed in range(4):
        result = place / f"{seed}.json"
        command = ["match", "always-call", "random", "--game", "leduc", "--hands", "200", "--seed", str(seed), "--json"]
        said = _printed(command)
        result.write_text(said)
        _printed(["ledger", str(place / "ledger.jsonl"), "--add", str(result), "--json"])


def _printed(words: list[str]) -> str:
    """Run a command and return what it printed; an interrupt goes on to the caller."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            main.main(words)
        except SystemExit as ended:
            if ended.code:
                raise
    return out.getvalue()
