"""What all tests share. Each core has a process of its own, so libraries in it get one thread."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

for library in ("OPENBLAS", "OMP", "MKL"):  # before NumPy is loaded
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
os.environ["COLORTERM"] = "truecolor"  # Rich keeps a style as it was first drawn: in all tests with the same colours

HERE = Path(__file__).parent
# The files that take longest begin first, so that no process is left alone with one of them at the end. By seconds of
# processor time with nothing compiled; the order need not be exact.
LONG = [
    "solving/test_bucket_sampling.py",
    "solving/test_boards.py",
    "solving/test_cluster.py",
    "solving/test_cfr.py",
    "test_docs.py",
    "evaluation/test_best_response.py",
    "solving/test_run.py",
    "solving/test_sampling.py",
    "solving/test_rules.py",
    "strategy/test_solution.py",
    "solving/test_blueprint.py",
    "abstraction/test_kmeans.py",
    "solving/test_whole_holdem.py",
    "solving/test_training.py",
    "test_contracts.py",
    "endgame/test_refine.py",
    "agents/test_blueprint_agent.py",
    "games/test_open_spiel.py",
    "interfaces/test_cli.py",
    "abstraction/test_potential.py",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the long files; the others stay in their order."""
    place = {HERE / name: k for k, name in enumerate(LONG)}
    items.sort(key=lambda item: place.get(item.path, len(LONG)))
