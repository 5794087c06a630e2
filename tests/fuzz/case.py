"""A command and what it should come to."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

# Exit codes (docs/formats.md). Where it is open whether a value is refused, several are expected; crashes never are.
DONE = frozenset({0})
REFUSED = frozenset({2})
NO_MEMORY = frozenset({3})
ACCEPTED_OR_REFUSED = frozenset({0, 1, 2})

ERRORS = re.compile(
    r"operating system|could not be (read|written)", re.IGNORECASE
)  # the row of the operating system's errors


@dataclass(frozen=True)
class Case:
    """Words of a command, run in an empty folder that has `files` and a changed copy of a folder of the world."""

    group: str
    name: str
    words: tuple[str, ...]
    expect: frozenset[int] = REFUSED
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    copy: str | None = None  # a folder of the world, copied to `copy`
    change: Callable[[Path], None] | None = None  # what is done to the copy, or to the folder
    typed: str = ""  # what stdin has
    slow: bool = False  # never in the fast part

    @property
    def id(self) -> str:
        """`numbers/solve --iterations negative`."""
        return f"{self.group}/{self.name}"


def said(line: str) -> tuple[str, ...]:
    """The words of a line without quotes."""
    return (*line.split(),)


def crossed(
    group: str,
    table: Iterable[tuple[str, Iterable[str], str]],
    bad: Mapping[str, Mapping[str, str]],
    most: int | None = None,
) -> Iterator[Case]:
    """A case for every command and bad values of its kind: `(name, words, kind)`, where `?` is the value's place.

    With `most`, so many of the values, others for every command.
    """
    for name, words, kind in table:
        for label in some(bad[kind], most, name):
            said = tuple(bad[kind][label] if word == "?" else word for word in words)
            yield Case(group, f"{name} {label}", said, REFUSED | of_the_system() if label == "long" else REFUSED)


def some(labels: Iterable[str], most: int | None, seed: str) -> list[str]:
    """At most so many labels, in their order: the same ones in every run, others for every seed."""
    every = list(labels)
    if most is None or len(every) <= most:
        return every
    chosen = set(random.Random(seed).sample(every, most))
    return [label for label in every if label in chosen]


@cache
def documented() -> dict[int, str]:
    """Exit codes and what they mean, from the page of formats."""
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    section = page.partition("## Exit codes")[2]
    rows = re.findall(r"^\| ([\d, ]+) \| (.+?) \|$", section, re.MULTILINE)
    return {int(code): means for codes, means in rows for code in codes.split(",")}


def of_the_system() -> frozenset[int]:
    """The code of errors of the operating system: a folder where a file is wanted, a place that cannot be written to."""
    found = [code for code, means in documented().items() if ERRORS.search(means)]
    return frozenset(found) or REFUSED
