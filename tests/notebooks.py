"""Run the code cells of notebooks, and record what they show: `python -m tests.notebooks` after an intended change."""

from __future__ import annotations

import ast
import base64
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib

NOTEBOOKS = sorted((Path(__file__).parent.parent / "docs" / "notebooks").glob("*.ipynb"))


def code_cells(notebook: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def run_cells(notebook: Mapping[str, Any], replacements: Mapping[str, str] | None = None) -> list[Any]:
    """Run all code cells in one namespace; return the value of the last expression of each, or None.

    `replacements` change the source, to run with smaller settings; each must occur.
    """
    matplotlib.use("Agg")
    sources = ["".join(cell["source"]) for cell in code_cells(notebook)]
    for old, new in (replacements or {}).items():
        assert any(old in source for source in sources), old
        sources = [source.replace(old, new) for source in sources]
    names: dict[str, Any] = {"__name__": "notebook"}
    values = []
    for number, source in enumerate(sources, start=1):
        tree = ast.parse(source, f"cell {number}")
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"cell {number}", "exec"), names)
        expression = None if last is None else ast.Expression(last.value)  # type: ignore[attr-defined]
        values.append(None if expression is None else eval(compile(expression, f"cell {number}", "eval"), names))
    return values


def show(value: Any) -> dict[str, Any]:
    """The representations of a value, as a notebook stores them."""
    if hasattr(value, "savefig"):
        picture = io.BytesIO()
        value.savefig(picture, format="png", dpi=80, metadata={"Software": None})
        return {"image/png": base64.b64encode(picture.getvalue()).decode(), "text/plain": "<Figure>"}
    data = {"text/plain": repr(value).splitlines(keepends=True)}
    html = getattr(value, "_repr_html_", None)
    return data | ({"text/html": html().splitlines(keepends=True)} if html is not None else {})


def record(path: Path) -> None:
    """Run a notebook and store its outputs."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for number, (cell, value) in enumerate(zip(code_cells(notebook), run_cells(notebook), strict=True), start=1):
        cell["execution_count"] = number
        result = {"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": show(value)}
        cell["outputs"] = [] if value is None else [result]
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for each in NOTEBOOKS:
        record(each)
