"""TOML for tests: tables that are written, and changed one entry at a time."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

Place = tuple[str | int, ...]  # keys, and numbers in lists of tables

# A value of every TOML type, and absurd ones.
VALUES: dict[str, Any] = {
    "text": "zzz",
    "empty text": "",
    "whole": 7,
    "zero": 0,
    "negative": -1,
    "fraction": 0.37,
    "huge": 2**70,
    "large float": 1e308,
    "nan": math.nan,
    "inf": math.inf,
    "minus inf": -math.inf,
    "true": True,
    "list": [],
    "list of lists": [[1], [2]],
    "table": {},
    "strange table": {"zzz": 1},
    "date": date(2026, 1, 1),
    "long text": "z" * 5000,
    "tag": "[/red]",
    "control": "\x1b[31m",
    "newline": "a\nb",
    "null": "\x00",
}


def write(table: Mapping[str, Any]) -> str:
    """The text of a file. Everything is written inline, one line for each top-level entry."""
    return "".join(f"{_key(key)} = {_value(value)}\n" for key, value in table.items())


def _key(key: str) -> str:
    return json.dumps(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(k)} = {_value(v)}' for k, v in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return repr(value)


def places(table: Mapping[str, Any], above: Place = ()) -> Iterator[Place]:
    """Paths of all entries, tables before their contents."""
    for key, value in table.items():
        yield (*above, key)
        if isinstance(value, Mapping):
            yield from places(value, (*above, key))
        elif isinstance(value, list):
            for number, item in enumerate(value):
                if isinstance(item, Mapping):
                    yield from places(item, (*above, key, number))


def put(table: Mapping[str, Any], place: Place, value: Any) -> dict[str, Any]:
    """The table with another value at a path."""
    result = copy.deepcopy(dict(table))
    _inside(result, place)[place[-1]] = value
    return result


def without(table: Mapping[str, Any], place: Place) -> dict[str, Any]:
    """The table without an entry."""
    result = copy.deepcopy(dict(table))
    del _inside(result, place)[place[-1]]
    return result


def at(table: Mapping[str, Any], place: Place) -> Any:
    """The value at a path."""
    return _inside(dict(table), place)[place[-1]]


def show(place: Place) -> str:
    """A path as text, such as `lock.0.line`."""
    return ".".join(map(str, place))


def _inside(table: Any, place: Place) -> Any:
    for key in place[:-1]:
        table = table[key]
    return table
