"""What is read from runs: opened once, and every answer kept as it was sent, so that it is computed once."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

from riverboat.core import artifacts
from riverboat.agents.base import Agent
from riverboat.agents.registry import DEFAULT, DEMO, default_folder, demo_folder, make_agent
from riverboat.agents.spec import is_agent_spec
from riverboat.core.errors import InputError, RiverboatError, shown
from riverboat.games.base import CHANCE
from riverboat.web.data_folder import DataFolder
from riverboat.web.runs.example_lines import example_lines
from riverboat.web.specs import agent_spec
from riverboat.web.views.node import cards_of, solution_node
from riverboat.web.views.public_state import agent_node, blueprint_node
from riverboat.web.runs.runs import place_of
from riverboat.web.runs.locks import lock_of
from riverboat.strategies import blueprint, files
from riverboat.strategies.public_strategy import Answering
from riverboat.strategies.solution import Solution
from riverboat.api.seating import rules_for

MOST_BYTES = 128 << 20  # of answers that are kept
MOST_OPEN = 4  # solutions
SOLUTION, BLUEPRINT, AGENT = "solution", "blueprint", "agent"
Mark = tuple[Any, ...]


class AnsweringAgent(Agent, Answering, Protocol):
    """An agent that answers for all hands at public states."""


class Resolved(NamedTuple):
    """What a name from outside means."""

    kind: str  # SOLUTION; BLUEPRINT, whose own tree is read; AGENT, which is asked
    folder: Path | None  # the artefact; of an agent with options that of its base; None for baseline agents


class Answers:
    """Bytes by key, the ones used last; as many as fit."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self.most, self.size = most, 0
        self._kept: OrderedDict[Mark, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Mark) -> bytes | None:
        """What is kept, and now the last to be let go."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: Mark, body: bytes) -> bytes:
        """Keep an answer."""
        with self._lock:
            self.size += len(body) - len(self._kept.pop(key, b""))
            self._kept[key] = body
            while self.size > self.most and len(self._kept) > 1:
                self.size -= len(self._kept.popitem(last=False)[1])
        return body


class Shelf:
    """Everything that is read from runs. Methods that may take time are called from threads."""

    def __init__(self, data: DataFolder) -> None:
        self.data, self.answers = data, Answers()
        self._open: OrderedDict[Mark, tuple[Solution, threading.RLock]] = OrderedDict()
        self._lock, self._opening = threading.Lock(), threading.Lock()

    def resolve(self, name: str) -> Resolved:
        """Decide what a name means: `default` is the shipped blueprint, `demo` the demo's, others are runs or agents."""
        folder = self._folder(name)
        if folder is None or "?" in name:
            return Resolved(AGENT, folder)
        return Resolved(BLUEPRINT if artifacts.manifest(folder)["kind"] in blueprint.KINDS else SOLUTION, folder)

    def _folder(self, name: str) -> Path | None:
        """Return the newest artefact behind a name; None for baseline agents, and for a demo that was never built."""
        base = name.partition("?")[0]
        if base in (DEMO, DEFAULT):
            folder = default_folder() if base == DEFAULT else demo_folder()
            return place_of(folder) if folder.is_dir() else None
        if is_agent_spec(base) and ":" not in base:
            return None
        return place_of(self.data.run(base))

    def agent(self, name: str | None) -> AnsweringAgent:
        """Make the agent of a name; it must answer for all hands."""
        agent = make_agent(agent_spec(name, self.data))
        if not isinstance(agent, Answering):
            raise InputError(f"agent {shown(name)}: does not say what it plays with all hands")
        return cast("AnsweringAgent", agent)

    def examples(self, name: str) -> list[dict[str, Any]]:
        """Return lines that a blueprint plays often, for a start; of what is no blueprint none."""
        kind, folder = self.resolve(name)
        if kind != BLUEPRINT or folder is None:
            return []
        key = (self.mark(name), "examples")
        known = self.answers.get(key)
        if known is None:
            known = self.answers.put(key, to_bytes(example_lines(blueprint.load_blueprint(folder))))
        examples: list[dict[str, Any]] = json.loads(known)
        return examples

    def mark(self, name: str) -> Mark:
        """Return what changes when the artefact behind a name does: its newest folder, and when that was written."""
        folder = self._folder(name)
        return (name, str(folder), *(artifacts.stamp(folder / artifacts.MANIFEST) if folder else ()))

    def solution(self, name: str) -> tuple[Solution, threading.RLock]:
        """A solution, opened once, and the lock that its walks need."""
        place = place_of(self.data.run(name))
        mark = (str(place), *artifacts.stamp(place / artifacts.MANIFEST))
        with self._opening:
            with self._lock:
                if mark in self._open:
                    self._open.move_to_end(mark)
                    return self._open[mark]
            solved = files.load_solved(place)
            if not isinstance(solved, Solution):
                raise InputError(f"run {shown(name)}: holds {solved.tree.name}, which has no nodes of hold'em to draw")
            with self._lock:
                self._open[mark] = solved, lock_of(solved)
                while len(self._open) > MOST_OPEN:
                    self._open.popitem(last=False)
                return self._open[mark]

    def kept(self, name: str, *key: Any) -> bytes | None:
        """An answer that was given before, if its run has not changed."""
        return self.answers.get((self.mark(name), *key))

    def read(self, name: str, *key: Any, make: Callable[[Solution], Any]) -> bytes:
        """An answer about a solution as JSON, computed where it is not known yet."""
        whole = (self.mark(name), *key)
        known = self.answers.get(whole)
        if known is None:
            solution, lock = self.solution(name)
            with lock:
                known = self.answers.get(whole) or self.answers.put(whole, to_bytes(make(solution)))
        return known

    def node(self, name: str, line: str, board: str = "") -> bytes:
        """A node of a solution, or a decision of a blueprint or an agent on a board."""
        kind, folder = self.resolve(name)
        if kind == SOLUTION:
            if board:
                raise InputError(f"board {shown(board)}: the cards of a spot stand in its lines, such as x-x/8h")
            return self.read(name, "node", line, board, make=lambda one: solution_node(one, line) | {"run": name})
        key = (self.mark(name), "node", line, board)
        told = (
            self._of_blueprint(blueprint.load_blueprint(folder), line, board) if kind == BLUEPRINT and folder else None
        )
        if told is None:
            agent = self.agent(name)
            told = agent_node(agent, rules_for([agent], None), line, board)
        return self.answers.put(key, to_bytes(told | {"run": name}))

    def _of_blueprint(self, strategy: blueprint.BlueprintStrategy, line: str, board: str) -> dict[str, Any] | None:
        """Return a decision of a blueprint's own tree; None where the line is not in it, and the agent must be asked."""
        try:
            strategy.tree.find(line)
        except InputError:
            return None
        return blueprint_node(strategy, line, board)

    def next_nodes(self, name: str, line: str) -> Iterator[Callable[[], object]]:
        """Work that makes the nodes after one quick to read: what its solution's first street shares, each of them, and then
        those behind every card where a card comes next."""
        with suppress(RiverboatError, OSError):  # who asks for them is told
            if self.resolve(name).kind != SOLUTION:
                return
            solution, lock = self.solution(name)
            with lock:
                solution.prepare()
                node = solution[line]
            joiner = solution.tree.game.joiner
            nodes = [node] if node.player == CHANCE else []
            for move in node.actions if node.player >= 0 else ():
                after = f"{line}{joiner if line else ''}{move}"
                if self.kept(name, "node", after, "") is None:
                    yield partial(self.node, name, after)
                nodes += [deal] if (deal := solution[after]).player == CHANCE else []
            for deal in nodes:  # a street's first node takes longest, and there is one for every card
                for card in cards_of(deal):
                    if self.kept(name, "node", f"{deal.line}/{card}", "") is None:
                        yield partial(self.node, name, f"{deal.line}/{card}")


def to_bytes(value: Any) -> bytes:
    """JSON without spaces; figures that are not numbers must have become null before."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=False, default=str).encode()
