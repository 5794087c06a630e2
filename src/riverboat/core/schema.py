"""Validated reading of entries of files (manifests, recipes), which anybody may have altered.

    entries.text("game"), entries.integer("iteration"), entries.table("state").number("seconds", 0)

A checksum proves that a file has not changed since it was written, not who wrote it. So every entry is checked for its
type and its range, and an invalid one is rejected by name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING
from dataclasses import fields as fields_of
from math import inf, isfinite
from typing import Any, NoReturn, TypeVar

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import CorruptError, InputError, short_repr, unknown_name_error
from riverboat.core.validation import MAX_INT

_MAX_DEPTH = 6  # nesting of tables and lists
_CHUNK_NUMBERS = 1 << 22  # numbers of an array that are checked at a time
_MAX_FLOAT = float(np.finfo(np.float64).max)
T = TypeVar("T")


class FileEntries(dict[str, Any]):
    """Dictionary of the entries of a JSON or TOML table, with getters that check type and range.

    An invalid or missing entry raises CorruptError. `location` is the table's file and key, for messages.
    """

    def __init__(self, location: str, entries: Any) -> None:
        if not isinstance(entries, Mapping):
            raise CorruptError(f"{location}: {short_repr(entries)} where a table must be")
        super().__init__(entries)
        self.location = location

    def __missing__(self, key: str) -> Any:
        raise CorruptError(f"{self.location}: no {key}; it was not written by this release, or was altered")

    def _fail(self, key: str, wanted: str) -> NoReturn:
        raise CorruptError(f"{self.location}: {key} = {short_repr(self[key])}: must be {wanted}")

    # --- single values ---

    def text(self, key: str, choices: Collection[str] | None = None, *, multiline: bool = False) -> str:
        """Return an entry that must be a printable text, one of `choices` if given; line breaks need `multiline`."""
        value = self[key]
        if not isinstance(value, str) or not (value.replace("\n", "") if multiline else value).isprintable():
            self._fail(key, "a printable text" if isinstance(value, str) else "a text")
        if choices is not None and value not in choices:
            self._fail(key, f"one of {', '.join(choices)}")
        return value

    def boolean(self, key: str) -> bool:
        """Return an entry that must be a boolean."""
        value = self[key]
        if not isinstance(value, bool):
            self._fail(key, "true or false")
        return value

    def integer(self, key: str, low: int = 0, high: int = MAX_INT) -> int:
        """Return an entry that must be an integer from `low` to `high`."""
        value = self[key]
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            self._fail(key, f"a whole number from {low:,}" + ("" if high == MAX_INT else f" to {high:,}"))
        return value

    def number(self, key: str, low: float = -inf, high: float = inf) -> float:
        """Return an entry that must be a finite number from `low` to `high`."""
        value = self[key]
        if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value <= high:
            self._fail(key, "a number" + ("" if low == -inf else f" from {low:g}"))
        if not isfinite(value) or abs(value) > _MAX_FLOAT:
            self._fail(key, "a finite number")
        return float(value)

    # --- tables and lists ---

    def table(self, key: str) -> FileEntries:
        """Return an entry that must be a table."""
        return FileEntries(f"{self.location}, {key}", self[key])

    def _list(self, key: str) -> Sequence[Any]:
        values = self[key]
        if not isinstance(values, list | tuple):
            self._fail(key, "a list")
        return values

    def _items(self, key: str) -> FileEntries:
        """Return the entries of a list as a table, by their numbers from 1."""
        entries = {str(n): entry for n, entry in enumerate(self._list(key), 1)}
        return FileEntries(f"{self.location}, {key}", entries)

    def tables(self, key: str) -> list[FileEntries]:
        """Return an entry that must be a list of tables."""
        return [FileEntries(f"{self.location}, {key} {n}", entry) for n, entry in enumerate(self._list(key), 1)]

    def texts(self, key: str) -> tuple[str, ...]:
        """Return an entry that must be a list of printable texts."""
        values = tuple(self._list(key))
        if not all(isinstance(text, str) and text.isprintable() for text in values):
            self._fail(key, "a list of texts")
        return values

    def integers(self, key: str, low: int = 0, high: int = MAX_INT) -> tuple[int, ...]:
        """Return an entry that must be a list of integers from `low` to `high`."""
        items = self._items(key)
        return tuple(items.integer(n, low, high) for n in items)

    def number_rows(self, key: str, columns: int) -> list[tuple[float, ...]]:
        """Return an entry that must be a list of rows of `columns` finite numbers each."""
        items = self._items(key)
        return [items.number_row(n, columns) for n in items]

    def number_row(self, key: str, count: int) -> tuple[float, ...]:
        """Return an entry that must be a list of `count` finite numbers."""
        items = self._items(key)
        if len(items) != count:
            self._fail(key, f"a list of {count} numbers")
        return tuple(items.number(n) for n in items)

    def plain_table(self, key: str, max_depth: int = _MAX_DEPTH) -> dict[str, Any]:
        """Return an entry that must be a table of texts, finite numbers, booleans, nulls, and lists and tables of them.

        Nesting goes at most `max_depth` levels deep.
        """
        table = self.table(key)
        if not _is_plain(table, max_depth):
            self._fail(key, "a table of plain values")
        return dict(table)

    # --- records ---

    def read_like(self, example: Mapping[str, Any]) -> dict[str, Any]:
        """Return the entries with the keys of an example; each must have the type of the example's value.

        Numbers must not be negative. If the example has a text of digits, the entry must be one that fits in 64 bits.
        """
        out: dict[str, Any] = {}
        for key, default in example.items():
            if isinstance(default, bool):
                out[key] = self.boolean(key)
            elif isinstance(default, int):
                out[key] = self.integer(key)
            elif isinstance(default, float):
                out[key] = self.number(key, 0.0)
            else:
                out[key] = self.text(key)
                if default.isdecimal() and not (out[key].isdecimal() and len(out[key]) < 21 and int(out[key]) < 2**64):
                    self._fail(key, "a number of 64 bits")
        return out

    def to_dataclass(self, dataclass_type: type[T]) -> T:
        """Make a dataclass from the entries named like its fields, checked against the fields' type hints.

        Fields are numbers, booleans, texts or tuples of texts. Entries of fields with a default may be absent.
        """
        values: dict[str, Any] = {}
        for field in fields_of(dataclass_type):  # type: ignore[arg-type]
            name, wanted = field.name, str(field.type)
            if name not in self and field.default is not MISSING:
                continue
            if "tuple" in wanted:
                values[name] = self.texts(name)
            elif "None" in wanted and self[name] is None:
                values[name] = None
            elif "bool" in wanted:
                values[name] = self.boolean(name)
            elif "float" in wanted:
                values[name] = self.number(name)
            else:
                values[name] = self.integer(name) if "int" in wanted else self.text(name)
        return dataclass_type(**values)


class UserEntries(FileEntries):
    """Entries of a table that a person has written, with defaults for missing ones.

    An invalid or unknown entry raises InputError.
    """

    def __init__(self, location: str, entries: Any, defaults: Mapping[str, Any]) -> None:
        if not isinstance(entries, Mapping):
            raise InputError(f"{location} = {short_repr(entries)}: must be a table")
        check_keys(entries, defaults, location)
        super().__init__(location, {**defaults, **entries})

    def _fail(self, key: str, wanted: str) -> NoReturn:
        raise InputError(f"{self.location} {key} = {short_repr(self[key])}: must be {wanted}")


def check_keys(table: Mapping[str, Any], known: Collection[str], location: str, kind: str = "key") -> None:
    """Raise InputError for an unknown entry of a table; the message suggests a known one."""
    for key in table:
        if key not in known:
            raise InputError((f"{location}: " if location else "") + str(unknown_name_error(kind, key, known)))


def _is_plain(value: Any, max_depth: int) -> bool:
    if isinstance(value, str):
        return value.isprintable()
    if isinstance(value, float):
        return isfinite(value)
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, int):
        return -MAX_INT <= value <= MAX_INT
    if max_depth and isinstance(value, Mapping):
        return all(isinstance(k, str) and k.isprintable() and _is_plain(v, max_depth - 1) for k, v in value.items())
    return bool(max_depth) and isinstance(value, list) and all(_is_plain(v, max_depth - 1) for v in value)


class ArtifactArrays(dict[str, Array]):
    """Dictionary of the arrays of an artifact, with checks of their types, shapes and values.

    An invalid or missing array raises CorruptError. `location` is the artifact's folder, for messages.
    """

    def __init__(self, location: str, arrays: Mapping[str, Array]) -> None:
        super().__init__(arrays)
        self.location = location

    def __missing__(self, name: str) -> Array:
        raise CorruptError(f"{self.location}: no {name}.npy; it was not written by this release, or was altered")

    def get_checked(
        self,
        name: str,
        dtypes: Collection[Any],
        shape: tuple[int | None, ...],
        low: float = -_MAX_FLOAT,
        high: float = _MAX_FLOAT,
    ) -> Array:
        """Return an array after checking its dtype, its shape (None: any length) and its range of values."""
        array = self[name]
        where, kinds = f"{self.location}: {name}.npy", [np.dtype(dtype) for dtype in dtypes]
        if array.dtype not in kinds or not array.flags.c_contiguous:
            raise CorruptError(
                f"{where}: an array of {array.dtype}: must be {' or '.join(map(str, kinds))}, row by row"
            )
        if len(array.shape) != len(shape) or any(n not in (None, m) for m, n in zip(array.shape, shape, strict=True)):
            expected = " × ".join("…" if n is None else f"{n:,}" for n in shape)
            raise CorruptError(f"{where}: an array of shape {array.shape}: must be {expected}")
        check_range(where, array, low, high)
        return array

    def check_state(self, state: Mapping[str, Array]) -> None:
        """Raise CorruptError if arrays differ in type or shape from a trainer's `state`, or if counts are negative."""
        for name, array in state.items():
            self.get_checked(name, (array.dtype,), array.shape, *((0,) if name == "numbers" else ()))


def check_range(location: str, array: Array, low: float, high: float) -> None:
    """Raise CorruptError if an array has numbers outside a range, or NaN."""
    if array.dtype.kind == "u" and low <= 0 and high >= np.iinfo(array.dtype).max:
        return
    flat = array.reshape(-1)
    for first in range(0, len(flat), _CHUNK_NUMBERS):
        part = flat[first : first + _CHUNK_NUMBERS]
        least, most = part.min().item(), part.max().item()
        if not (low <= least and most <= high):
            wrong = most if low <= least else least
            raise CorruptError(f"{location}: has {wrong}: numbers must be from {low:g} to {high:g}")
