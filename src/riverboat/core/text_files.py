"""What users write in files: read in one place, within bounds, whatever their editor put in front.

A byte order mark is skipped. A file that is too large, no text or nested without end is refused with a word, before it costs
memory or time: that is why TOML has bounds of its own here, and all of the package reads it through `parse_toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from riverboat.core.errors import InputError

MOST_BYTES = 64 << 20  # of a text file
MOST_TOML = 1 << 20  # bytes; the longest ranges, hand by hand, have 40,000
MOST_NESTED = 12  # tables and lists inside one another; what Riverboat reads has at most four

# Reading a dotted key costs the square of its parts, so long ones are found before they are read.
_DOTTED = re.compile(rf"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{MOST_NESTED}}}""")


def read_text(path: str | Path, what: str, most: int = MOST_BYTES) -> str:
    """The text of a file; `what` it is begins the error where it cannot be read."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            text = file.read(most + 1)
        if len(text) > most:
            raise InputError(f"{what} {str(path)!r}: more than {_bytes(most)}, which is the most that is read")
        return text.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{what} {str(path)!r}: {getattr(error, 'strerror', None) or 'no text'}") from None


def read_toml(path: str | Path, what: str) -> str:
    """The text of a TOML file, which has to be short; `parse_toml` reads it."""
    return read_text(path, what, MOST_TOML)


def parse_toml(text: str, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """The table that a TOML text says."""
    text = text.removeprefix("\ufeff")
    if len(text) > MOST_TOML:
        raise InputError(f"TOML of {len(text):,} characters: at most {MOST_TOML:,} are read")
    deep = f"tables or lists are nested too deeply; at most {MOST_NESTED} inside one another are read"
    if _DOTTED.search(text):
        raise InputError(deep)
    try:
        table = tomllib.loads(text, parse_float=parse_float)
    except RecursionError:
        raise InputError(deep) from None
    except ValueError as error:  # TOMLDecodeError is one; so is a whole number of thousands of digits
        problem = error if isinstance(error, tomllib.TOMLDecodeError) else "a number has too many digits"
        raise InputError(f"this is not TOML: {problem}") from None
    level: list[Any] = [table]
    for _ in range(MOST_NESTED):
        inner = [list(value.values()) if isinstance(value, dict) else value for value in level]
        level = [value for values in inner for value in values if isinstance(value, dict | list)]
    if level:
        raise InputError(deep)
    return table


def _bytes(count: int) -> str:
    return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count:,} bytes"
