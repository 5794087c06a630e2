"""A command and its expected exit codes."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

# Exit codes (docs/formats.md). If a value may or may not be valid, several are expected; crashes never are.
DONE = frozenset({0})
REJECTED = frozenset({2})
NO_MEMORY = frozenset({3})
ACCEPTED_OR_REJECTED = frozenset({0, 1, 2})

ERRORS = re.compile(
    r"operating system|could not be (read|written)", re.IGNORECASE
)  # the row of the operating system's errors


@dataclass(frozen=True)
class Case:
    """Arguments of a command, run in an empty folder that has `files` and a changed copy of a folder of the world."""

    group: str
    name: str
    words: tuple[str, ...]
    expect: frozenset[int] = REJECTED
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    copy: str | None = None  # a folder of the world, copied to `copy`
    change: Callable[[Path], None] | None = None  # function that changes the copy, or the folder
    typed: str = ""  # text on stdin
    slow: bool = False  # never among the fast tests

    @property
    def id(self) -> str:
        """`numbers/solve --iterations negative`."""
        return f"{self.group}/{self.name}"


def said(line: str) -> tuple[str, ...]:
    """The words of a line, split at spaces; no quotes."""
    return (*line.split(),)


def crossed(
    group: str,
    table: Iterable[tuple[str, Iterable[str], str]],
    bad: Mapping[str, Mapping[str, str]],
    most: int | None = None,
) -> Iterator[Case]:
    """A case for every command and bad values of its kind: `(name, words, kind)`, with `?` in place of the value.

    With `most`, at most that many of the values, others for every command.
    """
    for name, words, kind in table:
        for label in some(bad[kind], most, name):
            command = tuple(bad[kind][label] if word == "?" else word for word in words)
            yield Case(group, f"{name} {label}", command, REJECTED | of_the_system() if label == "long" else REJECTED)


def some(labels: Iterable[str], most: int | None, seed: str) -> list[str]:
    """At most `most` labels, in their order: the same ones in every run, others for every seed."""
    every = list(labels)
    if most is None or len(every) <= most:
        return every
    chosen = set(random.Random(seed).sample(every, most))
    return [label for label in every if label in chosen]


@cache
def documented() -> dict[int, str]:
    """Exit codes and their meaning, from docs/formats.md."""
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    section = page.partition("## Exit codes")[2]
    rows = re.findall(r"^\| ([\d, ]+) \| (.+?) \|$", section, re.MULTILINE)
    return {int(code): means for codes, means in rows for code in codes.split(",")}


def of_the_system() -> frozenset[int]:
    """The exit code of operating system errors: a folder instead of a file, a path that cannot be written."""
    result = [code for code, means in documented().items() if ERRORS.search(means)]
    return frozenset(result) or REJECTED
