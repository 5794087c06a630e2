"""Sizes, times and paths as people read and type them."""

from __future__ import annotations

import shlex
from pathlib import Path


def show_bytes(count: float) -> str:
    """`1.5 GB`: three digits, in powers of 1,000."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 999.5:  # what would be rounded to 1,000 has the next unit
            return f"{count:.0f} B" if unit == "B" else f"{count:.3g} {unit}"
        count /= 1000
    if count >= 1e6:
        return "over a million TB"
    return f"{count:.3g} TB" if count < 999.5 else f"{count:,.0f} TB"


def show_seconds(seconds: float) -> str:
    """`42 µs`, `120 ms`, `1.5 s`, `45 s`, `3 min 20 s`, `2 h 5 min`, `40 days`."""
    if 0 < seconds < 0.9995:
        return f"{1e6 * seconds:.3g} µs" if seconds < 0.9995e-3 else f"{1e3 * seconds:.3g} ms"
    if seconds < 59.5:
        return f"{seconds:.2g} s" if seconds < 9.95 else f"{seconds:.0f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min" + (f" {whole % 60} s" if whole % 60 else "")
    minutes = round(seconds / 60)
    if minutes < 48 * 60:
        return f"{minutes // 60} h" + (f" {minutes % 60} min" if minutes % 60 else "")
    return f"{seconds / 86400:,.3g} days"


def quote(text: str | Path) -> str:
    """A path or a word as it is typed in a shell: `'my runs/x'`."""
    return shlex.quote(str(text))
