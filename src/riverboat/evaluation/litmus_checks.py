"""Checks of poker sense as users write them: a file of `[[check]]` tables, read with the place of every mistake.

`litmus.toml` beside this module says what there is and has those that come with the package.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from importlib import resources
from pathlib import Path
from typing import Any

from riverboat.cards.notation import parse_cards
from riverboat.cards.ranges import Range
from riverboat.core.errors import InputError, shown, unknown
from riverboat.core.text_files import parse_toml, read_toml
from riverboat.games.holdem.bet_sizes import parse_sizes

NEVER, MORE, MONOTONE, SIZES, CHEAP = "never", "more", "monotone", "sizes", "cheap"
KINDS = {  # what each needs beside lines
    NEVER: ("move", "hands"),
    MORE: ("move", "hands", "than"),
    MONOTONE: (),
    SIZES: ("sizes",),
    CHEAP: (),
}
MOVES = ("fold", "call", "raise")
ANY, NUTS = "any", "nuts"
CHECK_DOWN, LEAST, ALL_IN, SIZE = "~", "min", "a", "?"
MOST_BOARDS = 1000
MOST_LINES = 100


@dataclass(frozen=True)
class Check:
    """One check."""

    name: str
    kind: str
    lines: tuple[str, ...]
    boards: tuple[tuple[int, ...], ...] | int = 0  # complete ones, or how many are drawn
    move: str = ""
    hands: str = ANY
    than: str = ANY
    sizes: tuple[str, ...] = ()
    tolerance: float = 0.0


def shipped_checks() -> tuple[Check, ...]:
    """Those that come with the package."""
    text = resources.files("riverboat.evaluation").joinpath("litmus.toml").read_text(encoding="utf-8")
    return parse_checks(text, "litmus.toml")


def read_checks(path: str | Path) -> tuple[Check, ...]:
    """Those of a user's file."""
    return parse_checks(read_toml(path, "checks"), str(path))


def joined(ours: Sequence[Check], theirs: Sequence[Check]) -> tuple[Check, ...]:
    """Ours, with those of the same name replaced, and then the others."""
    named = {check.name: check for check in (*ours, *theirs)}
    return tuple(named.values())


def parse_checks(text: str, where: str = "checks") -> tuple[Check, ...]:
    """Checks from the text of a file."""
    try:
        table = parse_toml(text)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    entries = table.get("check")
    if set(table) != {"check"} or not isinstance(entries, list) or not entries:
        raise InputError(
            f"{where}: a file of checks has [[check]] tables, each with name, kind and lines, and nothing else"
        )
    checks = tuple(_check(entry, f"{where}, check {number}") for number, entry in enumerate(entries, 1))
    names = [check.name for check in checks]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"{where}: two checks are named {shown(twice[0])}")
    return checks


def _check(entry: Any, where: str) -> Check:
    if not isinstance(entry, Mapping):
        raise InputError(f"{where}: {shown(entry)} is no table; write [[check]]")
    keys = [field.name for field in fields(Check)]
    for key in entry:
        if key not in keys:
            raise InputError(f"{where}: {unknown('entry', key, keys)}")
    name, kind = (_text(entry, key, where) for key in ("name", "kind"))
    where = f"{where} ({shown(name)})"
    if kind not in KINDS:
        raise InputError(f"{where}: {unknown('kind', kind, KINDS)}")
    for key in KINDS[kind]:
        if key not in entry:
            raise InputError(f"{where}: a check of kind {kind} needs {key}")
    for key in ("move", "hands", "than", "sizes"):
        if key in entry and key not in KINDS[kind]:
            raise InputError(f"{where}: {key} is not for checks of kind {kind}")
    tolerance = entry.get("tolerance", 0.0)
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float) or not 0 <= tolerance <= 1:
        raise InputError(f"{where}: tolerance = {shown(tolerance)}: must be a probability, 0 to 1")
    sizes = _texts(entry, "sizes", where) if kind == SIZES else ()
    for size in sizes:
        _size(size, f"{where}: sizes")
    return Check(
        name,
        kind,
        _lines(entry, kind, where),
        _boards(entry.get("boards", 0), where),
        _move(entry, where),
        _hands(entry, "hands", where),
        _hands(entry, "than", where),
        sizes,
        float(tolerance),
    )


def _text(entry: Mapping[str, Any], key: str, where: str) -> str:
    text = entry.get(key)
    if not isinstance(text, str) or not text.strip() or not text.isprintable():
        raise InputError(f"{where}: {key} = {shown(text)}: must be a text")
    return text


def _texts(entry: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    texts = entry.get(key)
    if not isinstance(texts, list) or not 0 < len(texts) <= MOST_LINES or not all(isinstance(x, str) for x in texts):
        raise InputError(f"{where}: {key} = {shown(texts)}: must be a list of 1 to {MOST_LINES} texts")
    return tuple(texts)


def _move(entry: Mapping[str, Any], where: str) -> str:
    if "move" in entry and entry["move"] not in MOVES:
        raise InputError(f"{where}: {unknown('move', str(entry['move']), MOVES)}")
    return str(entry.get("move", ""))


def _hands(entry: Mapping[str, Any], key: str, where: str) -> str:
    if key not in entry:
        return ANY
    text = _text(entry, key, where)
    if text not in (ANY, NUTS):
        try:
            Range.parse(text)
        except InputError as error:
            raise InputError(f"{where}: {key}: {error}; or write {ANY} or {NUTS}") from None
    return text


def _lines(entry: Mapping[str, Any], kind: str, where: str) -> tuple[str, ...]:
    lines = _texts(entry, "lines", where)
    for line in lines:
        if (line.split().count(SIZE) != 1) if kind == SIZES else SIZE in line.split():
            raise InputError(f"{where}: line {shown(line)}: one {SIZE} stands for the size in checks of kind {SIZES}")
        for word in line.replace("/", " ").split():
            if word not in ("c", "f", CHECK_DOWN, SIZE):
                _size(word, f"{where}: line {shown(line)}")
    return lines


def _size(word: str, where: str) -> None:
    if word != LEAST:
        try:
            parse_sizes(word, where)
        except InputError as error:
            raise InputError(f"{error}; or c, f, {LEAST}, {CHECK_DOWN}") from None


def _boards(given: Any, where: str) -> tuple[tuple[int, ...], ...] | int:
    if isinstance(given, int) and not isinstance(given, bool) and 0 <= given <= MOST_BOARDS:
        return given
    if not isinstance(given, list) or not 0 < len(given) <= MOST_BOARDS or not all(isinstance(x, str) for x in given):
        raise InputError(
            f"{where}: boards = {shown(given)}: must be a list of boards such as 'AsKd7h2c9s', or how many are drawn"
        )
    try:
        return tuple(parse_cards(board, "board") for board in given)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
