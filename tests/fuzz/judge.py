"""The rule for all cases: documented exit code, one line, no traceback, no silence above two seconds, no data loss."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from .case import Case, documented
from .runner import Outcome
from .world import WORLD, changes

FIRST = 2.5  # CPU seconds until the first output: two, with some tolerance
SILENCE = 6.0  # after that; without a terminal, progress is printed every five seconds
WAITING = 20.0  # wall-clock seconds, because other programs run too
LONGEST_LINE = 500
FAULT = 70  # the command line's message for unexpected exceptions
SYSTEM = 4
ERROR_CODES = frozenset({2, 3, SYSTEM})  # codes that need an error line
NOT_FINITE = re.compile(r"(?<![\w'\"./=-])(nan|inf|infinity)(?![\w'\"./=-])", re.IGNORECASE)

KINDS = {
    "traceback": "tracebacks",
    "hang": "hangs",
    "silence": "silences",
    "accepted": "wrong acceptances",
    "rejected": "wrong rejections",
    "code": "wrong exit codes",
    "line": "errors that are not one line",
    "stdout": "errors with something on stdout",
    "number": "numbers that are not finite",
    "lost": "files changed by a rejected command",
}


class Fault(NamedTuple):
    """A violation of the rule by a command."""

    kind: str  # of KINDS
    what: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.what}"

    @property
    def short(self) -> str:
        """For a traceback, its location and exception."""
        if self.kind != "traceback":
            return str(self)
        *lines, last = self.what.strip().splitlines()
        where = [line.strip() for line in lines if "riverboat/" in line]
        return f"{self.kind}: {last} ({where[-1] if where else 'outside'})"


def faults(case: Case, done: Outcome) -> list[Fault]:
    """All violations of the rule."""
    if done.interrupted and (done.code not in case.expect or _silent(done)):
        return [Fault("hang", f"interrupted after {done.seconds:.1f} s; silent for {done.silence:.1f} s")]
    if done.traceback or done.code == FAULT:
        return [Fault("traceback", done.traceback or done.err)]
    result = [*_code(case, done)]
    if _silent(done):
        spent = f"{done.first:.1f} s of the processor at first, {done.silence:.1f} s at most"
        result.append(Fault("silence", f"{spent}, {done.waited:.1f} s on the wall"))
    if done.code in ERROR_CODES:
        result += [*_line(done)]
    else:
        result += [*_answer(case, done)]
    return [*result, *_lost(done)]


def _silent(done: Outcome) -> bool:
    return done.first > FIRST or done.silence > SILENCE or done.waited > WAITING


def _code(case: Case, done: Outcome) -> Iterator[Fault]:
    text = f"exit code {done.code} where {sorted(case.expect)} is right: {(done.err or done.out).strip()[-300:]!r}"
    if done.code not in documented():
        yield Fault("code", f"exit code {done.code} is not in docs/formats.md")
    elif done.code in case.expect:
        return
    elif done.code == 0:
        yield Fault("accepted", text)
    elif 0 in case.expect:
        yield Fault("rejected", text)
    else:
        yield Fault("code", text)


def _line(done: Outcome) -> Iterator[Fault]:
    """An error is one readable line, the last one. Operating system errors may come after a result."""
    lines = done.err.splitlines()
    errors = [line for line in lines if line.startswith("error: ")]
    if len(errors) != 1 or lines[-1] != errors[0] or errors[0].strip() == "error:":
        yield Fault("line", f"{len(lines)} lines on stderr, {len(errors)} of them errors: {done.err[-1000:]!r}")
    elif len(errors[0]) > LONGEST_LINE:
        yield Fault("line", f"{len(errors[0]):,} characters: {errors[0][:200]!r} …")
    elif not errors[0].isprintable():
        yield Fault("line", f"characters that steer a terminal: {errors[0]!r}")
    if done.out and done.code != SYSTEM:
        yield Fault("stdout", repr(done.out[:300]))


def _answer(case: Case, done: Outcome) -> Iterator[Fault]:
    """Results are finite, and JSON is one object."""
    result = NOT_FINITE.search(done.out)
    if result is not None and not case.typed:
        start = max(result.start() - 60, 0)
        yield Fault("number", f"… {done.out[start : result.end() + 60]!r}")
    if "--json" in case.words and done.code in (0, 1):
        try:
            whole = isinstance(json.loads(done.out), dict)
        except ValueError:
            whole = False
        if not whole:
            yield Fault("stdout", f"--json, and no object: {done.out[:200]!r}")


def _lost(done: Outcome) -> Iterator[Fault]:
    """A rejected command changes nothing; any command changes only its own output."""
    result = changes(done.before, done.after)
    if done.code not in ERROR_CODES:
        result = [change for change in result if f" {WORLD}/" in change]
    if result:
        yield Fault("lost", ", ".join(result[:5]))
