"""Tables of the poker hand history format as they are nearly always written: one plain `key = value` in a line.

A collection has hundreds of thousands of them, and a whole TOML reader takes more time than all that follows. So a table
that is plain from its first to its last line is read here, and `plain_table` says None of any other: TOML reads those.
"""

from __future__ import annotations

import re
from collections.abc import Container
from decimal import Decimal
from typing import Any

_STRING = r"""(?:'[^'\n]*'|"[^"\\\n]*")"""
_NUMBER = r"[+-]?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,9})?"
_SCALAR = rf"(?:{_STRING}|{_NUMBER})"
_TIME = r"[0-2][0-9]:[0-5][0-9]:[0-5][0-9]"
_LIST = rf"\[ *(?:{_SCALAR}(?: *, *{_SCALAR})* *,? *)?\]"
_LINE = re.compile(rf" *([A-Za-z0-9_-]+) *= *({_STRING}|true|false|{_TIME}|{_NUMBER}|{_LIST}) *")
_PART = re.compile(_SCALAR)


def plain_table(text: str, wanted: Container[str]) -> dict[str, Any] | None:
    """The wanted entries of a text, with numbers as int or Decimal; None where any line of it is anything but plain."""
    if not text.replace("\n", "").isprintable():
        return None
    table: dict[str, Any] = {}
    for line in text.split("\n"):
        if not line or line.isspace():
            continue
        entry = _LINE.fullmatch(line)
        if entry is None or entry[1] in table:
            return None
        key, value = entry.groups()
        table[key] = None
        if key in wanted:
            table[key] = [_scalar(part) for part in _PART.findall(value)] if value[0] == "[" else _scalar(value)
    return table


def _scalar(value: str) -> Any:
    if value[0] in "'\"":
        return value[1:-1]
    if value in ("true", "false"):
        return value == "true"
    if ":" in value:  # a time of day, which no hand is judged by
        return value
    return Decimal(value) if "." in value else int(value)
