"""What programs have written to files, read with its types: anybody may have altered it since.

    entries.text("game"), entries.whole("iteration"), entries.table("state").number("seconds", 0)

A checksum says that a file is as its writer left it, not who that was. So nothing is taken from a file that is not of the
type and in the range that it must have; what is not is refused by its name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING
from dataclasses import fields as fields_of
from math import inf, isfinite
from typing import Any, NoReturn, TypeVar

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import CorruptError, shown

MOST = 2**63 - 1
_DEEP = 6  # tables and lists inside one another
_CHUNK = 1 << 22  # numbers of an array that are looked at in one go
_LARGEST = float(np.finfo(np.float64).max)
T = TypeVar("T")


class Fields(Mapping[str, Any]):
    """Entries of a table in a file, and where it is."""

    def __init__(self, where: str, entries: Any) -> None:
        if not isinstance(entries, Mapping):
            raise CorruptError(f"{where}: {shown(entries)} where a table must be")
        self.where, self._entries = where, entries

    def __getitem__(self, key: str) -> Any:
        if key not in self._entries:
            raise CorruptError(f"{self.where}: no {key}; it was not written by this release, or was altered")
        return self._entries[key]

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: str, default: Any = None) -> Any:
        """An entry as it is, or the default."""
        return self._entries.get(key, default)

    def _refuse(self, key: str, wanted: str) -> NoReturn:
        raise CorruptError(f"{self.where}: {key} = {shown(self[key])}: must be {wanted}")

    # --- one thing --------------------------------------------------------------------------------

    def text(self, key: str, among: Collection[str] | None = None, *, lines: bool = False) -> str:
        """A text that can be printed; with `lines`, of many lines."""
        value = self[key]
        if not isinstance(value, str) or not (value.replace("\n", "") if lines else value).isprintable():
            self._refuse(key, "a text")
        if among is not None and value not in among:
            self._refuse(key, f"one of {', '.join(among)}")
        return value

    def flag(self, key: str) -> bool:
        """True or false."""
        value = self[key]
        if not isinstance(value, bool):
            self._refuse(key, "true or false")
        return value

    def whole(self, key: str, low: int = 0, high: int = MOST) -> int:
        """A whole number."""
        value = self[key]
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            self._refuse(key, f"a whole number from {low:,}" + ("" if high == MOST else f" to {high:,}"))
        return value

    def number(self, key: str, low: float = -inf, high: float = inf) -> float:
        """A finite number."""
        value = self[key]
        if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value <= high:
            self._refuse(key, "a number" + ("" if low == -inf else f" from {low:g}"))
        if not isfinite(value) or abs(value) > _LARGEST:
            self._refuse(key, "a finite number")
        return float(value)

    # --- many things ------------------------------------------------------------------------------

    def table(self, key: str) -> Fields:
        """A table."""
        return Fields(f"{self.where}, {key}", self[key])

    def _list(self, key: str) -> Sequence[Any]:
        values = self[key]
        if not isinstance(values, list | tuple):
            self._refuse(key, "a list")
        return values

    def tables(self, key: str) -> list[Fields]:
        """A list of tables."""
        return [Fields(f"{self.where}, {key} {n}", entry) for n, entry in enumerate(self._list(key), 1)]

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts that can be printed."""
        values = tuple(self._list(key))
        if not all(isinstance(text, str) and text.isprintable() for text in values):
            self._refuse(key, "a list of texts")
        return values

    def wholes(self, key: str, low: int = 0, high: int = MOST) -> tuple[int, ...]:
        """A list of whole numbers."""
        each = {str(n): entry for n, entry in enumerate(self._list(key), 1)}
        inner = Fields(f"{self.where}, {key}", each)
        return tuple(inner.whole(n, low, high) for n in each)

    def numbers(self, key: str, columns: int) -> list[tuple[float, ...]]:
        """A list of rows of so many finite numbers."""
        each = {str(n): row for n, row in enumerate(self._list(key), 1)}
        inner = Fields(f"{self.where}, {key}", each)
        return [inner.row(n, columns) for n in each]

    def row(self, key: str, count: int) -> tuple[float, ...]:
        """So many finite numbers."""
        each = {str(n): entry for n, entry in enumerate(self._list(key), 1)}
        if len(each) != count:
            self._refuse(key, f"a list of {count} numbers")
        inner = Fields(f"{self.where}, {key}", each)
        return tuple(inner.number(n) for n in each)

    def plain(self, key: str, deep: int = _DEEP) -> dict[str, Any]:
        """A table of facts for people: texts, finite numbers, true and false; lists and tables of them, so `deep`."""
        table = self.table(key)
        if not _is_plain(table._entries, deep):
            self._refuse(key, "a table of plain facts")
        return dict(table)

    # --- by example -------------------------------------------------------------------------------

    def like(self, example: Mapping[str, Any]) -> dict[str, Any]:
        """The entries that an example has, of the same types. Numbers are not below zero; digits in a text have 64 bits."""
        out: dict[str, Any] = {}
        for key, mine in example.items():
            if isinstance(mine, bool):
                out[key] = self.flag(key)
            elif isinstance(mine, int):
                out[key] = self.whole(key)
            elif isinstance(mine, float):
                out[key] = self.number(key, 0.0)
            else:
                out[key] = self.text(key)
                if mine.isdecimal() and not (out[key].isdecimal() and len(out[key]) < 21 and int(out[key]) < 2**64):
                    self._refuse(key, "a number of 64 bits")
        return out

    def make(self, kind: type[T]) -> T:
        """A dataclass of numbers, flags and texts from the entries of the same names; fields with a default may be absent."""
        values: dict[str, Any] = {}
        for field in fields_of(kind):  # type: ignore[arg-type]
            name, wanted = field.name, str(field.type)
            if name not in self and field.default is not MISSING:
                continue
            if "None" in wanted and self[name] is None:
                values[name] = None
            elif "bool" in wanted:
                values[name] = self.flag(name)
            elif "float" in wanted:
                values[name] = self.number(name)
            else:
                values[name] = self.whole(name) if "int" in wanted else self.text(name)
        return kind(**values)


def _is_plain(value: Any, deep: int) -> bool:
    if isinstance(value, str):
        return value.isprintable()
    if isinstance(value, float):
        return isfinite(value)
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, int):
        return -MOST <= value <= MOST
    if deep and isinstance(value, Mapping):
        return all(isinstance(k, str) and k.isprintable() and _is_plain(v, deep - 1) for k, v in value.items())
    return bool(deep) and isinstance(value, list) and all(_is_plain(v, deep - 1) for v in value)


class Arrays(dict[str, Array]):
    """The arrays of an artefact, and where they are."""

    def __init__(self, where: str, arrays: Mapping[str, Array]) -> None:
        super().__init__(arrays)
        self.where = where

    def __missing__(self, name: str) -> Array:
        raise CorruptError(f"{self.where}: no {name}.npy; it was not written by this release, or was altered")

    def take(
        self,
        name: str,
        dtypes: Collection[Any],
        shape: tuple[int | None, ...],
        low: float = -_LARGEST,
        high: float = _LARGEST,
    ) -> Array:
        """An array of one of these types and of this shape (None: any), with finite numbers from `low` to `high`."""
        array = self[name]
        where, kinds = f"{self.where}: {name}.npy", [np.dtype(dtype) for dtype in dtypes]
        if array.dtype not in kinds or not array.flags.c_contiguous:
            raise CorruptError(
                f"{where}: an array of {array.dtype}: must be {' or '.join(map(str, kinds))}, row by row"
            )
        if len(array.shape) != len(shape) or any(n not in (None, m) for m, n in zip(array.shape, shape, strict=True)):
            wanted = " × ".join("…" if n is None else f"{n:,}" for n in shape)
            raise CorruptError(f"{where}: an array of shape {array.shape}: must be {wanted}")
        check_range(where, array, low, high)
        return array

    def check_state(self, state: Mapping[str, Array]) -> None:
        """Refuse arrays of other types or shapes than those of a trainer's `state`, and counts below zero."""
        for name, mine in state.items():
            self.take(name, (mine.dtype,), mine.shape, *((0,) if name == "numbers" else ()))


def check_range(where: str, array: Array, low: float, high: float) -> None:
    """Refuse an array with numbers out of a range; what is not a number is in none."""
    if array.dtype.kind == "u" and low <= 0 and high >= np.iinfo(array.dtype).max:
        return
    flat = array.reshape(-1)
    for first in range(0, len(flat), _CHUNK):
        part = flat[first : first + _CHUNK]
        least, most = part.min().item(), part.max().item()
        if not (low <= least and most <= high):
            wrong = most if low <= least else least
            raise CorruptError(f"{where}: has {wrong}: numbers must be from {low:g} to {high:g}")
