"""What is going on for somebody who practises: sittings and drills that are open, and the agents that they are with.

Sittings lie in `.practice/sittings/NAME.json` of the data folder, and the record of drills beside them: a server that starts
again knows all of them. Drills themselves are of this server alone.
"""

from __future__ import annotations

import itertools
import re
import secrets
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from riverboat.agents.base import Agent
from riverboat.agents.registry import blueprint_folder, make_agent
from riverboat.agents.spec import AgentSpec
from riverboat.agents.spot_solution import SolutionAgent
from riverboat.core import artifacts, atomic_io
from riverboat.core.errors import InputError, RiverboatError, shown
from riverboat.practice.charts import Book, charts_of, push_book
from riverboat.practice.drill_record import DrillRecord
from riverboat.practice.drills import Drill, DrillOptions
from riverboat.practice.evaluators import Judge, judge_of
from riverboat.practice.push_charts import push_table
from riverboat.practice.questions import ChartSource, Source, TableSource
from riverboat.practice.session import FinishedHands, Sitting
from riverboat.strategies import files
from riverboat.web.data_folder import DataFolder, MissingError
from riverboat.web.practice.hand_histories import Histories
from riverboat.web.runs.locks import walking
from riverboat.web.specs import agent_spec, push_spec

FOLDER = ".practice"
MOST_OPEN = 32  # sittings and drills
MOST_AGENTS = 8  # of all uses; they share what is read from files
MOST_SITTINGS = 2_000
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")


@dataclass(eq=False)
class HeldSitting:
    """A session that is open. Its table is for one thread at a time; `state` and `finished` are values for all."""

    name: str
    agent: str  # as the reader names it
    sitting: Sitting
    state: dict[str, Any] = field(
        default_factory=dict
    )  # what the person sees; replaced after every step, never changed
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def finished(self) -> FinishedHands:
        """The hands that are over now."""
        return self.sitting.finished


@dataclass(eq=False)
class HeldDrill:
    """A drill that is open, and who may touch it now."""

    name: str
    agent: str  # as the reader names it
    drill: Drill
    lock: threading.Lock = field(default_factory=threading.Lock)


class Used(StrEnum):
    """What an agent is used for: each use has agents of its own, so that no two threads share one."""

    PLAY = "play"
    JUDGE = "judge"
    VALUES = "values"
    CHARTS = "charts"


H = TypeVar("H", HeldSitting, HeldDrill)


class Desk:
    """One for each server. Methods may take time, and are called from threads; what plays, from one thread alone."""

    def __init__(self, data: DataFolder) -> None:
        self.data = data
        self.folder = data.root / FOLDER / "sittings"
        self._lock = threading.Lock()  # of the tables below; nothing is computed under it
        self._agents: OrderedDict[tuple[Any, ...], Agent] = OrderedDict()
        self._books: OrderedDict[tuple[Any, ...], Book] = OrderedDict()
        self._sittings: OrderedDict[str, HeldSitting] = OrderedDict()
        self._drills: OrderedDict[str, HeldDrill] = OrderedDict()
        self.histories = Histories(data)
        self._judges: OrderedDict[tuple[Any, ...], Judge] = OrderedDict()
        self._numbers = itertools.count(1)
        self._record: DrillRecord | None = None

    # --- agents -------------------------------------------------------------------------------

    def agent(self, text: str, seed: int = 0, use: Used = Used.PLAY) -> Agent:
        """By the name that a reader gives; those used last stay open."""
        spec = agent_spec(text, self.data)
        key = *_mark(spec), seed, use
        with self._lock:
            if key in self._agents:
                self._agents.move_to_end(key)
                return self._agents[key]
        made = make_agent(spec, seed)
        with self._lock:
            self._agents[key] = made
            while len(self._agents) > MOST_AGENTS:
                self._agents.popitem(last=False)
        return made

    def judge(self, text: str) -> Judge:
        """Who judges decisions; what it has solved is kept with it. For the thread of reviews alone."""
        key = _mark(agent_spec(text, self.data))
        with self._lock:
            if key in self._judges:
                self._judges.move_to_end(key)
                return self._judges[key]
        made = judge_of(self.agent(text, use=Used.JUDGE))
        with self._lock:
            self._judges[key] = made
            while len(self._judges) > MOST_AGENTS:
                self._judges.popitem(last=False)
        return made

    # --- sittings -----------------------------------------------------------------------------

    def sit(self, agent: str, seed: int | None, seat: int | None) -> HeldSitting:
        """Begin a sitting."""
        seed = secrets.randbits(32) if seed is None else seed
        with atomic_io.told(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        if sum(1 for _ in self.folder.glob("*.json")) >= MOST_SITTINGS:
            raise InputError(f"{MOST_SITTINGS:,} sittings are kept: delete some before another one")
        made = self.agent(agent, seed)
        name = self._free(agent)  # sessions begin on one thread, so that nobody takes it meanwhile
        with walking(made):
            sitting = Sitting.begin(self._file(name), made, seed=seed, seat=seat, name=agent)
        with self._lock:
            return _hold(self._sittings, HeldSitting(name, agent, sitting))

    def _free(self, agent: str) -> str:
        base = re.sub(r"[^a-z0-9]+", "-", agent.lower()).strip("-")[:40] or "table"
        number = 1
        while self._file(f"{base}-{number}").exists():
            number += 1
        return f"{base}-{number}"

    def _file(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise InputError(f"sitting {shown(name)}: names have small letters, digits and dashes")
        return self.folder / f"{name}.json"

    def opened(self, name: str) -> HeldSitting | None:
        """One that is open; None where it would have to be opened first."""
        file = self._file(name)
        with self._lock:
            if not file.is_file():
                self._sittings.pop(name, None)
                raise MissingError(
                    f"sitting {shown(name)}: there is none of that name; GET /api/play/sittings lists them"
                )
            if name in self._sittings:
                self._sittings.move_to_end(name)
            return self._sittings.get(name)

    def named(self, name: str) -> str:
        """The agent of a session, open or not."""
        held = self.opened(name)
        return Sitting.named(self._file(name))[0] if held is None else held.agent

    def sitting(self, name: str) -> HeldSitting:
        """One that is open, or is opened now as it was left."""
        held = self.opened(name)
        if held is not None:
            return held
        file = self._file(name)
        agent, seed = Sitting.named(file)
        made = self.agent(agent, seed)
        with walking(made):
            held = HeldSitting(name, agent, Sitting.open(file, made))
        with self._lock:
            return self._sittings.get(name) or _hold(self._sittings, held)

    def sittings(self) -> list[dict[str, Any]]:
        """All that are kept, the last first."""
        told = []
        for file in self.folder.glob("*.json") if self.folder.is_dir() else ():
            try:
                told.append({"name": file.stem, "changed": file.stat().st_mtime, **Sitting.told(file)})
            except (RiverboatError, OSError):
                continue
        return sorted(told, key=lambda one: -one["changed"])

    def leave(self, name: str) -> None:
        """Delete a sitting."""
        file = self._file(name)
        if not file.is_file():
            raise MissingError(f"sitting {shown(name)}: there is none of that name")
        with self._lock, atomic_io.told(file):
            self._sittings.pop(name, None)
            file.unlink()

    # --- drills and charts ----------------------------------------------------------------------

    @property
    def record(self) -> DrillRecord:
        """All answers that were ever given here."""
        with self._lock:
            if self._record is None:
                self._record = DrillRecord.read(self.data.root / FOLDER / "drills.jsonl")
            return self._record

    def source(self, text: str) -> Source:
        """What a drill is of."""
        push = push_spec(text, self.data)
        return TableSource(self.agent(text), text) if push is None else ChartSource(push_table(push), text)

    def drill(self, source: str, options: DrillOptions, seed: int | None) -> HeldDrill:
        """Begin a drill."""
        folder = self.data.root / FOLDER
        with atomic_io.told(folder):
            folder.mkdir(parents=True, exist_ok=True)
        made = Drill(self.source(source), options, self.record, secrets.randbits(32) if seed is None else seed)
        with self._lock:
            return _hold(self._drills, HeldDrill(f"drill-{next(self._numbers)}", source, made))

    def drilled(self, name: str) -> HeldDrill:
        """One that is going on."""
        with self._lock:
            if name not in self._drills:
                raise MissingError(f"drill {shown(name)}: is not going on here; begin another")
            return self._drills[name]

    def book(self, source: str, line: str = "") -> Book:
        """The charts of a source; of a solved spot those around a line."""
        push = push_spec(source, self.data)
        if push is not None:
            return push_book(push_table(push))
        agent = self.agent(source, use=Used.CHARTS)
        key = (*_mark(agent_spec(source, self.data)), line if isinstance(agent, SolutionAgent) else "")
        with self._lock:
            if key in self._books:
                self._books.move_to_end(key)
                return self._books[key]
        with walking(agent):
            book = charts_of(agent, line)
        with self._lock:
            self._books[key] = book
            while len(self._books) > MOST_OPEN:
                self._books.popitem(last=False)
        return book


def _mark(spec: AgentSpec) -> tuple[Any, ...]:
    """A key that changes when the run behind a spec does."""
    folder = Path(spec.target) if spec.kind == "solution" else blueprint_folder(spec)
    if folder is None:
        return (spec.text,)
    place = files.newest(folder)
    return spec.text, str(place), *artifacts.stamp(place / artifacts.MANIFEST)


def _hold(among: OrderedDict[str, H], held: H) -> H:
    among[held.name] = held
    while len(among) > MOST_OPEN:
        among.popitem(last=False)
    return held
