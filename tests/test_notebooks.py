"""Notebooks run from top to bottom: with small settings always, as written in the slow tests."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.notebooks import NOTEBOOKS, code_cells, run_cells, show

SMALL = {
    "depth_limited_search": {'GAME = "leduc"': 'GAME = "leduc:ranks=2,cap=1"', "ITERATIONS = 200": "ITERATIONS = 5"}
}


def read(path: Path) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_run(path: Path) -> None:
    notebook = read(path)
    values = run_cells(notebook, SMALL[path.stem])
    stored = [bool(cell["outputs"]) for cell in code_cells(notebook)]
    assert [value is not None for value in values] == stored
    assert sum(stored) >= 4


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_those_of_the_cells(path: Path) -> None:
    """Compare all numbers; linear programs with several solutions may differ by platform."""
    notebook = read(path)
    for cell, value in zip(code_cells(notebook), run_cells(notebook), strict=True):
        for output in cell["outputs"]:
            stored, found = (numbers(data["text/plain"]) for data in (output["data"], show(value)))
            assert found == pytest.approx(stored, abs=0.02)


def numbers(text: list[str] | str) -> list[float]:
    return [float(number) for number in re.findall(r"-?\d+\.\d+", "".join(text))]
