"""The errors that users see. Each message shows the value, the place and the way out.

RiverboatError
├── InputError          bad names, options, files, strategies       exit code 2
│   └── GameFileError   a malformed game file, with its line
├── RecallError         perfect recall is needed and missing        exit code 2
├── ZeroSumError        a zero-sum game is needed                   exit code 2
├── CorruptError        an artefact on disk is torn or altered      exit code 2
└── MemoryLimitError    the work does not fit in memory             exit code 3
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class RiverboatError(Exception):
    """Root of everything that Riverboat raises on purpose."""

    exit_code = 2


class InputError(RiverboatError, ValueError):
    """Something given by the user cannot be understood or used."""


class GameFileError(InputError):
    """A game file is malformed."""

    def __init__(self, path: str, line: int, problem: str) -> None:
        super().__init__(f"{path}, line {line}: {problem}")
        self.path, self.line, self.problem = path, line, problem


class RecallError(InputError):
    """A player forgets what it knew or did, and the method needs perfect recall."""


class ZeroSumError(InputError):
    """The game is not a two-player zero-sum game, and the method needs one."""


class CorruptError(RiverboatError):
    """A file of an artefact does not match its checksum, or is missing."""


class MemoryLimitError(RiverboatError, MemoryError):
    """What was asked for does not fit in memory."""

    exit_code = 3


def unknown(kind: str, name: str, known: Iterable[str]) -> InputError:
    """An error for an unknown name that lists the known ones and the closest."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return InputError(f"unknown {kind} {name!r}{hint} (known: {', '.join(names)})")
