"""What runs write on the way: the last lines of their logs, and whole logs as series."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

MOST_LINE = 1 << 16  # bytes of the end of a file that are looked at
MOST_LOG = 16 << 20  # bytes of a log
MOST_ROWS = 10_000


def tail(file: Path) -> str:
    """The last line of a file of text; nothing where there is none."""
    lines = _end(file).strip().splitlines()
    return lines[-1][:500] if lines else ""


def last_row(file: Path) -> dict[str, Any] | None:
    """The last whole line of a log, read as JSON."""
    for line in reversed(_end(file).rpartition("\n")[0].splitlines()):
        with suppress(ValueError):
            row = json.loads(line)
            return row if isinstance(row, dict) else None
    return None


def _end(file: Path) -> str:
    try:
        with file.open("rb") as lines:
            lines.seek(0, 2)
            lines.seek(max(0, lines.tell() - MOST_LINE))
            return lines.read().decode("utf-8", "replace")
    except OSError:
        return ""


def rows_of(file: Path, most: int = MOST_ROWS) -> list[dict[str, Any]]:
    """The whole lines of a log, read as JSON, the last ones of very many; nothing where there is no log."""
    try:
        with file.open("rb") as lines:
            size = lines.seek(0, 2)
            lines.seek(max(0, size - MOST_LOG))
            text = lines.read().decode("utf-8", "replace")
    except OSError:
        return []
    rows: list[dict[str, Any]] = []
    for line in text.rpartition("\n")[0].splitlines()[-most:]:
        with suppress(ValueError):
            row = json.loads(line)
            rows += [row] if isinstance(row, dict) else []
    return rows
