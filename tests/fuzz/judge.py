"""The one rule: exit code as documented, one line, no traceback, no silence above two seconds, nothing lost."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from .case import Case, documented
from .runner import Outcome
from .world import WORLD, changes

FIRST = 2.5  # seconds of the processor until the first word: two, and a little for what a watch cannot see
SILENCE = 6.0  # after that; progress comes every five seconds where there is no terminal
WAITING = 20.0  # seconds on the wall, where other programs run too
LONGEST_LINE = 500
FAULT = 70  # what the command line makes of exceptions that nobody thought of
SYSTEM = 4
ERROR_CODES = frozenset({2, 3, SYSTEM})  # that come with a line
NOT_FINITE = re.compile(r"(?<![\w'\"./=-])(nan|inf|infinity)(?![\w'\"./=-])", re.IGNORECASE)

KINDS = {
    "traceback": "tracebacks",
    "hang": "hangs",
    "silence": "silences",
    "accepted": "wrong acceptances",
    "refused": "wrong refusals",
    "code": "wrong exit codes",
    "line": "errors that are not one line",
    "stdout": "errors with something on stdout",
    "number": "numbers that are not finite",
    "lost": "files changed by a refused command",
}


class Fault(NamedTuple):
    """What is wrong with what a command did."""

    kind: str  # of KINDS
    what: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.what}"

    @property
    def short(self) -> str:
        """Of a traceback, where it comes from and what it is."""
        if self.kind != "traceback":
            return str(self)
        *lines, last = self.what.strip().splitlines()
        where = [line.strip() for line in lines if "riverboat/" in line]
        return f"{self.kind}: {last} ({where[-1] if where else 'outside'})"


def faults(case: Case, done: Outcome) -> list[Fault]:
    """All that is wrong."""
    if done.interrupted and (done.code not in case.expect or _silent(done)):
        return [Fault("hang", f"interrupted after {done.seconds:.1f} s; silent for {done.silence:.1f} s")]
    if done.traceback or done.code == FAULT:
        return [Fault("traceback", done.traceback or done.err)]
    found = [*_code(case, done)]
    if _silent(done):
        spent = f"{done.first:.1f} s of the processor at first, {done.silence:.1f} s at most"
        found.append(Fault("silence", f"{spent}, {done.waited:.1f} s on the wall"))
    if done.code in ERROR_CODES:
        found += [*_line(done)]
    else:
        found += [*_answer(case, done)]
    return [*found, *_lost(done)]


def _silent(done: Outcome) -> bool:
    return done.first > FIRST or done.silence > SILENCE or done.waited > WAITING


def _code(case: Case, done: Outcome) -> Iterator[Fault]:
    said = f"exit code {done.code} where {sorted(case.expect)} is right: {(done.err or done.out).strip()[-300:]!r}"
    if done.code not in documented():
        yield Fault("code", f"exit code {done.code} is not in docs/formats.md")
    elif done.code in case.expect:
        return
    elif done.code == 0:
        yield Fault("accepted", said)
    elif 0 in case.expect:
        yield Fault("refused", said)
    else:
        yield Fault("code", said)


def _line(done: Outcome) -> Iterator[Fault]:
    """An error is one line, the last one, and can be read. What the system refuses comes after an answer."""
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
    """An answer has numbers, and JSON is one object."""
    found = NOT_FINITE.search(done.out)
    if found is not None and not case.typed:
        start = max(found.start() - 60, 0)
        yield Fault("number", f"… {done.out[start : found.end() + 60]!r}")
    if "--json" in case.words and done.code in (0, 1):
        try:
            whole = isinstance(json.loads(done.out), dict)
        except ValueError:
            whole = False
        if not whole:
            yield Fault("stdout", f"--json, and no object: {done.out[:200]!r}")


def _lost(done: Outcome) -> Iterator[Fault]:
    """A refused command leaves everything as it was; any command leaves what it was not told to write."""
    found = changes(done.before, done.after)
    if done.code not in ERROR_CODES:
        found = [change for change in found if f" {WORLD}/" in change]
    if found:
        yield Fault("lost", ", ".join(found[:5]))
