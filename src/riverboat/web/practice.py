"""Practice: hand histories, open sessions and drills, and the agents that they use.

Sessions are stored in `.practice/sittings/NAME.json` of the data folder, drill answers in `.practice/drills.jsonl`: a
restarted server knows all of them. Open drills are only in memory.
"""

from __future__ import annotations

import itertools
import re
import secrets
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from riverboat.api.agent import agent as make_agent
from riverboat.api.agent import spec_version
from riverboat.api.artifacts import agent_solution
from riverboat.cards.notation import format_cards
from riverboat.core import files
from riverboat.core.cache import LRUCache
from riverboat.core.errors import InputError, RiverboatError, short_repr
from riverboat.core.files import read_text
from riverboat.formats.hand_files import HandFileContents, hand_file_suffix, parse_hands_in_file_units
from riverboat.practice.charts import ChartBook, load_charts, push_book, push_table
from riverboat.practice.drills import Drill, DrillOptions, DrillRecord
from riverboat.practice.evaluators import DecisionEvaluator, make_evaluator
from riverboat.practice.questions import ChartSource, QuestionSource, TableSource
from riverboat.practice.reviews import PlayedHand, hands_of_player
from riverboat.practice.session import PracticeSession
from riverboat.web.data_folder import DataFolder, MissingError
from riverboat.web.solutions import hold_solution_lock
from riverboat.web.specs import parse_agent_spec, parse_push_spec

if TYPE_CHECKING:
    from riverboat.agents.base import Agent

# --- Uploaded hand histories: stored unchanged, parsed once, reviewed by any agent ---

HISTORY_FOLDER = Path(".practice") / "histories"
MAX_HISTORY_FILES = 500
MAX_HISTORY_BYTES = 64 << 20  # size limit of a file in the data folder
MAX_OPEN_HISTORIES = 4
MAX_HANDS_LISTED = 5_000  # hands listed per player
AgentUse: TypeAlias = Literal["play", "judge", "values", "charts"]  # each has its own agents: no two threads share one
_NAME_PATTERN = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")


def _slug(text: str) -> str:
    """Return a text as part of a name: lower-case letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40]


def _list_files(paths: Iterable[Path], describe: Callable[[Path], dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the names and properties of readable files, the latest first."""
    entries: list[dict[str, Any]] = []
    for path in paths:
        with suppress(RiverboatError, OSError):  # invalid, or deleted meanwhile
            entries.append({"name": path.stem, "changed": path.stat().st_mtime, **describe(path)})
    return sorted(entries, key=lambda entry: -entry["changed"])


class HandHistoryStore:
    """The hand histories of a server. Methods may take time and are called from worker threads."""

    def __init__(self, data: DataFolder) -> None:
        self.data, self.folder = data, data.root / HISTORY_FOLDER
        self._lock = threading.Lock()
        self._cache = LRUCache[HandFileContents](MAX_OPEN_HISTORIES)

    def add_text(self, text: str, title: str) -> str:
        """Store the text of a valid hand history, and return its name.

        A text that was stored before with the same title is not stored again.
        """
        kind = ".log" if re.search(r"^STATE:", text, re.MULTILINE) else ".phhs"
        parse_hands_in_file_units(text, kind, where=title)  # raises for invalid files
        base = _slug(Path(title).stem) or "hands"
        with self._lock:
            stored = {path.stem: path for path in self._files()}
            if len(stored) >= MAX_HISTORY_FILES:
                raise InputError(f"{MAX_HISTORY_FILES} hand histories are stored: delete some first")
            number, name = 1, base
            while name in stored:
                if stored[name].suffix == kind and stored[name].read_text(encoding="utf-8") == text:
                    return name
                number += 1
                name = f"{base}-{number}"
            files.write_text(self.folder / f"{name}{kind}", text)
        return name

    def add_file(self, file: str) -> str:
        """Store a copy of a hand history file of the data folder, and return its name."""
        path = self.data.path(file)
        hand_file_suffix(path)
        if not path.is_file():
            raise MissingError(f"file {short_repr(file)}: not in the data folder")
        return self.add_text(read_text(path, "hands", MAX_HISTORY_BYTES), path.name)

    def _files(self) -> list[Path]:
        return [path for path in self.folder.glob("*.*") if path.suffix in (".phhs", ".log")]

    def _find_file(self, name: str) -> Path:
        for path in self._files():
            if path.stem == name and _NAME_PATTERN.fullmatch(name):
                return path
        raise MissingError(
            f"hands {short_repr(name)}: no hand history has this name; GET /api/play/histories lists all"
        )

    def read(self, name: str) -> HandFileContents:
        """Return the parsed hands of a stored hand history, by its name."""
        path = self._find_file(name)

        def parse() -> HandFileContents:
            return parse_hands_in_file_units(read_text(path, "hands", MAX_HISTORY_BYTES), path.suffix, where=name)

        return self._cache.get_or_compute(name, parse)

    def list_histories(self) -> list[dict[str, Any]]:
        """Return name, time of change and format of all stored hand histories, the latest first."""
        return _list_files(self._files(), lambda path: {"kind": path.suffix[1:]})

    def describe(self, name: str) -> dict[str, Any]:
        """Return the players of a hand history, the number of its hands, and those rejected, by reason."""
        contents = self.read(name)
        hands = contents.hands
        players: list[dict[str, Any]] = []
        for player in hands.names:
            players.append({"name": player, "hands": int(hands.played_by(player).sum()), "seen": 0})
            with suppress(RiverboatError):  # the player's cards are never shown
                players[-1]["seen"] = len(hands_of_player(hands, player))
        players.sort(key=lambda entry: (-entry["seen"], entry["name"]))
        rejected = [
            {"why": reason, "hands": count, "where": list(contents.examples.get(reason, ()))}
            for reason, count in contents.rejected.items()
        ]
        return {"name": name, "hands": len(hands), "scale": hands.scale, "players": players[:100], "refused": rejected}

    def list_hands(self, name: str, player: str) -> dict[str, Any]:
        """Return a summary of the hands in which a player's cards are known."""
        hands = hands_of_player(self.read(name).hands, player)
        rows = [
            {"hand": k, "number": one.number, "hole": format_cards(one.hole), "board": format_cards(one.dealt)}
            | {"line": one.end.line, "won": one.won, "seat": one.seat}
            for k, one in enumerate(hands[:MAX_HANDS_LISTED])
        ]
        return {"player": player, "hands": rows, "left_out": max(0, len(hands) - MAX_HANDS_LISTED), "unit": "chips"}

    def hand(self, name: str, player: str, hand: int) -> PlayedHand:
        """Return hand number `hand`, from 0, of those in which a player's cards are known."""
        hands = hands_of_player(self.read(name).hands, player)
        if not 0 <= hand < len(hands):
            raise InputError(f"hand {hand}: {player} has hands 0 to {len(hands) - 1}")
        return hands[hand]

    def remove(self, name: str) -> None:
        """Delete a stored hand history."""
        path = self._find_file(name)
        with self._lock, files.disk_errors(path):
            self._cache.discard(name)
            path.unlink()


PRACTICE_FOLDER = ".practice"
MAX_OPEN = 32  # open sessions, open drills, and chart books
MAX_AGENTS = 8  # loaded agents of all uses; they share data read from files
MAX_SESSIONS = 2_000


@dataclass(eq=False)
class OpenSession:
    """An open session. Only one thread at a time may use its table.

    `state` and `session.finished` are immutable values, which any thread may read.
    """

    name: str
    agent: str  # as named in the request
    session: PracticeSession
    # what the player sees, as JSON fields; replaced after every step, never modified
    state: dict[str, Any] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(eq=False)
class OpenDrill:
    """An open drill with its lock."""

    name: str
    agent: str  # as named in the request
    drill: Drill
    lock: threading.Lock = field(default_factory=threading.Lock)


class PracticeService:
    """Practice sessions, drills and charts of a server.

    Methods may take time and are called from worker threads; those that play are called from one thread only.
    """

    def __init__(self, data: DataFolder) -> None:
        self.data = data
        self.folder = data.root / PRACTICE_FOLDER / "sittings"
        self._lock = threading.Lock()  # protects sessions and record; nothing is computed while it is held
        self._agents: LRUCache[Agent] = LRUCache(MAX_AGENTS)
        self._judges = LRUCache[DecisionEvaluator](MAX_AGENTS)
        self._books = LRUCache[ChartBook](MAX_OPEN)
        self._sessions = LRUCache[OpenSession](MAX_OPEN)
        self._drills = LRUCache[OpenDrill](MAX_OPEN)
        self.histories = HandHistoryStore(data)
        self._numbers = itertools.count(1)
        self._record: DrillRecord | None = None

    # --- Agents ---

    def agent(self, text: str, seed: int = 0, use: AgentUse = "play") -> Agent:
        """Return the agent of a spec; the most recently used agents stay loaded."""
        spec = parse_agent_spec(text, self.data)
        return self._agents.get_or_compute((*spec_version(spec), seed, use), lambda: make_agent(spec, seed))

    def judge(self, text: str) -> DecisionEvaluator:
        """Return the evaluator of an agent, which caches its solved subgames; only for the review thread."""
        key = spec_version(parse_agent_spec(text, self.data))
        return self._judges.get_or_compute(key, lambda: make_evaluator(self.agent(text, use="judge")))

    # --- Sessions ---

    def begin_session(self, agent: str, seed: int | None, seat: int | None) -> OpenSession:
        """Begin a session against an agent and save it; without a seed, with a random one."""
        seed = secrets.randbits(32) if seed is None else seed
        if sum(1 for _ in self.folder.glob("*.json")) >= MAX_SESSIONS:
            raise InputError(f"{MAX_SESSIONS:,} sessions are stored: delete some first")
        player = self.agent(agent, seed)
        names = (f"{_slug(agent) or 'table'}-{number}" for number in itertools.count(1))
        name = next(name for name in names if not self._session_file(name).exists())  # one thread only begins sessions
        with hold_solution_lock(player):
            session = PracticeSession.begin(self._session_file(name), player, seed=seed, seat=seat, name=agent)
        return self._sessions.put(name, OpenSession(name, agent, session))

    def _session_file(self, name: str) -> Path:
        if not _NAME_PATTERN.fullmatch(name):
            raise InputError(f"session {short_repr(name)}: names have lower-case letters, digits and dashes")
        return self.folder / f"{name}.json"

    def find_open_session(self, name: str) -> OpenSession | None:
        """Return an open session; None if it must be opened first."""
        file = self._session_file(name)
        with self._lock:
            if not file.is_file():
                self._sessions.discard(name)
                raise MissingError(f"session {short_repr(name)}: does not exist; GET /api/play/sittings lists all")
            return self._sessions.get(name)

    def session_agent(self, name: str) -> str:
        """Return the spec of the agent of a session, open or not."""
        session = self.find_open_session(name)
        return PracticeSession.read_summary(self._session_file(name))["agent"] if session is None else session.agent

    def open_session(self, name: str) -> OpenSession:
        """Return an open session, or open it in the state in which it was left."""
        session = self.find_open_session(name)
        if session is not None:
            return session
        file = self._session_file(name)
        summary = PracticeSession.read_summary(file)
        player = self.agent(summary["agent"], summary["seed"])
        with hold_solution_lock(player):
            session = OpenSession(name, summary["agent"], PracticeSession.open(file, player))
        with self._lock:
            return self._sessions.get_or_compute(name, lambda: session)

    def list_sessions(self) -> list[dict[str, Any]]:
        """Return all stored sessions, the latest first."""
        return _list_files(self.folder.glob("*.json"), PracticeSession.read_summary)

    def delete_session(self, name: str) -> None:
        """Delete the file of a session and close it."""
        file = self._session_file(name)
        if not file.is_file():
            raise MissingError(f"session {short_repr(name)}: does not exist")
        with self._lock, files.disk_errors(file):
            self._sessions.discard(name)
            file.unlink()

    # --- Drills and charts ---

    @property
    def record(self) -> DrillRecord:
        """The record of all drill answers in this data folder."""
        with self._lock:
            if self._record is None:
                self._record = DrillRecord.read(self.data.root / PRACTICE_FOLDER / "drills.jsonl")
            return self._record

    def drill_source(self, text: str) -> QuestionSource:
        """Return the source of drill questions that a request names: a push/fold table, or an agent."""
        push = parse_push_spec(text, self.data)
        return TableSource(self.agent(text), text) if push is None else ChartSource(push_table(push), text)

    def begin_drill(self, source: str, options: DrillOptions, seed: int | None) -> OpenDrill:
        """Begin a drill with a source of questions; without a seed, with a random one."""
        folder = self.data.root / PRACTICE_FOLDER
        with files.disk_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
        drill = Drill(self.drill_source(source), options, self.record, secrets.randbits(32) if seed is None else seed)
        name = f"drill-{next(self._numbers)}"
        return self._drills.put(name, OpenDrill(name, source, drill))

    def find_drill(self, name: str) -> OpenDrill:
        """Return an open drill by its name."""
        drill = self._drills.get(name)
        if drill is None:
            raise MissingError(f"drill {short_repr(name)}: is not open; begin a new one")
        return drill

    def chart_book(self, source: str, line: str = "") -> ChartBook:
        """Return the charts of a source; for a solved spot those on the path to a line and after it."""
        push = parse_push_spec(source, self.data)
        if push is not None:
            return push_book(push_table(push))
        agent = self.agent(source, use="charts")
        key = (*spec_version(parse_agent_spec(source, self.data)), line if agent_solution(agent) is not None else "")

        def load() -> ChartBook:
            with hold_solution_lock(agent):
                return load_charts(agent, line)

        return self._books.get_or_compute(key, load)
