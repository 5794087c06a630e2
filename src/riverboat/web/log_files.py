"""Log files of jobs and runs, which a process may be writing."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

MAX_TAIL_BYTES = 1 << 16  # bytes read for the last line
MAX_LOG_BYTES = 16 << 20  # bytes read for all lines
MAX_ROWS = 10_000


def last_line(file: Path) -> str:
    """Return the last line of a text file; empty if there is none."""
    lines = _read_tail(file, MAX_TAIL_BYTES).strip().splitlines()
    return lines[-1][:500] if lines else ""


def read_rows(file: Path, max_bytes: int = MAX_LOG_BYTES) -> list[dict[str, Any]]:
    """Return the last complete lines of a log, parsed as JSON, at most `MAX_ROWS`; empty if there is no log."""
    rows: list[dict[str, Any]] = []
    for line in _read_tail(file, max_bytes).rpartition("\n")[0].splitlines()[-MAX_ROWS:]:
        with suppress(ValueError):
            row = json.loads(line)
            rows += [row] if isinstance(row, dict) else []
    return rows


def _read_tail(file: Path, max_bytes: int) -> str:
    try:
        with file.open("rb") as lines:
            lines.seek(max(0, lines.seek(0, 2) - max_bytes))
            return lines.read().decode("utf-8", "replace")
    except OSError:
        return ""


def read_result(file: Path) -> dict[str, Any] | None:
    """Return the JSON object that a command printed into a file; None if it is incomplete or missing."""
    with suppress(OSError, ValueError):
        printed = json.loads(file.read_text(encoding="utf-8"))
        return printed if isinstance(printed, dict) else None
    return None
