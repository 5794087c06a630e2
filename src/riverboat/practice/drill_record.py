"""The record of drills: every answer on a line of its own, and where EV is lost.

record = DrillRecord.read("drills.jsonl")
record.where("hand")               # groups with what they lose, the most expensive first
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from riverboat.core import atomic_io
from riverboat.core.errors import InputError, shown, unknown
from riverboat.core.text_files import read_text

KINDS = ("line", "board", "hand")
MOST = 256 << 20  # bytes of a file
PRIOR = 3.0  # answers that a group is thought to have had before, as bad as all are on average
LEAST_SHARE = 0.15  # how often a question is taken that nothing speaks for, as a share of the one that most speaks for


@dataclass(frozen=True)
class Entry:
    """One answer."""

    source: str
    kinds: Mapping[str, str]
    move: str
    lost: float  # chips
    percent: float  # of the pot
    mixed: bool
    followed: bool | None  # the number, where several moves were right
    when: str = ""  # as who keeps the record writes dates

    def to_dict(self) -> dict[str, Any]:
        """For the file."""
        return {**vars(self), "kinds": dict(self.kinds)}


class Group(NamedTuple):
    """Answers of one kind."""

    name: str
    answers: int
    lost: float  # chips, in all
    percent: float  # of the pot, on average


class DrillRecord:
    """Answers in their order, in a file or not."""

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = None if path is None else Path(path)
        self.entries: list[Entry] = []

    @staticmethod
    def read(path: str | Path) -> DrillRecord:
        """The record in a file; an empty one where there is none yet."""
        record = DrillRecord(path)
        if Path(path).exists():
            lines = read_text(path, "record of drills", MOST).splitlines()
            record.entries = [_entry(line, f"{path}, line {n}") for n, line in enumerate(lines, 1) if line.strip()]
        return record

    def snapshot(self) -> DrillRecord:
        """Return the answers so far, without a file: another thread may go on adding to this record."""
        copy = DrillRecord()
        copy.entries = list(self.entries)
        return copy

    def add(self, entry: Entry) -> None:
        """Keep an answer."""
        self.entries.append(entry)
        if self.path is not None:
            atomic_io.append(self.path, json.dumps(entry.to_dict()))

    def where(self, by: str, source: str | None = None) -> list[Group]:
        """Answers by line, board or hand, those that lost most in all first."""
        if by not in KINDS:
            raise unknown("kind", by, KINDS)
        groups: dict[str, list[Entry]] = {}
        for entry in self._of(source):
            groups.setdefault(entry.kinds.get(by, "?"), []).append(entry)
        told = [
            Group(name, len(some), sum(e.lost for e in some), sum(e.percent for e in some) / len(some))
            for name, some in groups.items()
        ]
        return sorted(told, key=lambda group: (-group.percent * group.answers, group.name))

    def over_time(self, source: str | None = None, parts: int = 12) -> list[Group]:
        """The answers in their order, cut into parts: what each lost on average."""
        entries = self._of(source)
        size = max(1, -(-len(entries) // parts))
        told = []
        for begin in range(0, len(entries), size):
            some = entries[begin : begin + size]
            name = some[-1].when or f"{begin + 1}-{begin + len(some)}"
            told.append(Group(name, len(some), sum(e.lost for e in some), sum(e.percent for e in some) / len(some)))
        return told

    def weight(self, source: str, kinds: Mapping[str, str]) -> float:
        """How much a question should be asked, as a share of the one that should be most: by what its kinds lost so far."""
        entries = self._of(source)
        if not entries:
            return 1.0
        mean = sum(entry.percent for entry in entries) / len(entries)
        if mean <= 0:
            return 1.0
        ratios = []
        for kind in KINDS:
            alike = [e.percent for e in entries if e.kinds.get(kind) == kinds.get(kind)]
            ratios.append((sum(alike) + PRIOR * mean) / (len(alike) + PRIOR) / mean)
        score = sum(ratios) / len(ratios)  # one is as bad as on average
        return min(1.0, max(LEAST_SHARE, score / 2.0))

    def _of(self, source: str | None) -> list[Entry]:
        return [entry for entry in self.entries if source is None or entry.source == source]

    def to_dict(self, source: str | None = None) -> dict[str, Any]:
        """For JSON: the total, groups of all kinds, and the way over time."""
        entries = self._of(source)
        followed = [entry.followed for entry in entries if entry.followed is not None]
        return {
            "answers": len(entries),
            "lost": sum(entry.lost for entry in entries),
            "percent": sum(entry.percent for entry in entries) / len(entries) if entries else None,
            "units": {"lost": "chips", "percent": "% of the pot, on average"},
            "mixed": len(followed),
            "followed": sum(followed),
            "where": {kind: [group._asdict() for group in self.where(kind, source)] for kind in KINDS},
            "over_time": [group._asdict() for group in self.over_time(source)],
        }


def _entry(line: str, where: str) -> Entry:
    try:
        facts = json.loads(line)
        kinds = {str(key): str(value) for key, value in facts["kinds"].items()}
        followed = facts["followed"]
        if followed not in (None, True, False):
            raise ValueError
        return Entry(
            str(facts["source"]), kinds, str(facts["move"]), float(facts["lost"]), float(facts["percent"]),
            bool(facts["mixed"]), followed, str(facts.get("when", "")),
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"{where}: {shown(line[:60])}: no answer of a drill") from None
