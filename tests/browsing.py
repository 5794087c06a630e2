"""What tests in the browser share: which browser there is, sizes of screens, and a training run that writes its log."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from pathlib import Path

from riverboat.core import atomic_io
from riverboat.solvers.mccfr.training import Progress

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
LEFT_OUT = "tests in the browser are left out: there is no Chromium here (Debian: apt install chromium)"
WIDE, NARROW = (1280, 900), (390, 844)


def add_to_log(run: Path, iteration: int) -> None:
    """What `riverboat train` writes when it checks."""
    strength = {"exploitability": None, "against_snapshot": 3e6 / iteration, "half_width": 90.0, "unit": "mbb/g"}
    now = Progress(
        iteration, iteration / 100, 100.0, 5e4, 0.5, 60.0, touched=2 * iteration, regret=9.0, strength=strength
    )
    atomic_io.append(run / "log.jsonl", json.dumps(asdict(now)))
