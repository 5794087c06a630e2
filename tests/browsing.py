"""Shared parts of the browser tests: the browser, screen sizes, and a training run that writes its log."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from pathlib import Path

from riverboat.core import files
from riverboat.solvers.mccfr.training import TrainingProgress

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
LEFT_OUT = "browser tests are skipped: Chromium is not installed (Debian: apt install chromium)"
WIDE, NARROW = (1280, 900), (390, 844)
PATIENCE = 150.0  # seconds that a test waits for anything, on a busy, slow machine where nothing is compiled yet


def add_to_log(run: Path, iteration: int) -> None:
    """Append a check of `riverboat train` to a run's log."""
    strength = {"exploitability": None, "against_snapshot": 3e6 / iteration, "half_width": 90.0, "unit": "mbb/g"}
    now = TrainingProgress(
        iteration, iteration / 100, 100.0, 5e4, 0.5, 60.0, touched=2 * iteration, regret=9.0, strength=strength
    )
    files.append_line(run / "log.jsonl", json.dumps(asdict(now)))
