"""What is read from runs: opened once, and every answer kept as it was sent, so that it is computed once."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from riverboat import artefact
from riverboat.agents.registry import DEFAULT, DEMO, demo_folder, make_agent, names_agent
from riverboat.errors import InputError, RiverboatError, shown
from riverboat.games.base import CHANCE
from riverboat.interfaces.web.data_folder import DataFolder
from riverboat.interfaces.web.names import agent_name
from riverboat.interfaces.web.node_json import cards_of, solution_node
from riverboat.interfaces.web.place_json import agent_node, blueprint_node
from riverboat.interfaces.web.runs import place_of
from riverboat.interfaces.web.solution_locks import lock_of
from riverboat.strategy import blueprint, files
from riverboat.strategy.public_answers import Answering
from riverboat.strategy.solution import Solution
from riverboat.verbs.seating import rules_for

MOST_BYTES = 128 << 20  # of answers that are kept
MOST_OPEN = 4  # solutions
Mark = tuple[Any, ...]


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

    def mark(self, name: str) -> Mark:
        """What changes when a run does: which artefact is its newest, and when that was written. Agents do not change."""
        return ("agent", name) if self.is_agent(name) else self._place(name)[1]

    def is_agent(self, name: str) -> bool:
        """Whether a name is an agent's: a yardstick, the demo, or a run with options."""
        return "?" in name or (names_agent(name) and ":" not in name)

    def _place(self, name: str) -> tuple[Path, Mark]:
        place = place_of(self.data.run(name))
        return place, (str(place), *artefact.stamp(place / artefact.MANIFEST))

    def solution(self, name: str) -> tuple[Solution, threading.RLock]:
        """A solution, opened once, and the lock that its walks need."""
        place, mark = self._place(name)
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
        key = (self.mark(name), "node", line, board)
        if name in (DEMO, DEFAULT) and demo_folder().is_dir():  # a blueprint like others, with the moves on the way
            told = self._of_blueprint(blueprint.load_blueprint(demo_folder()), demo_folder(), line, board)
        elif self.is_agent(name):
            agent = make_agent(agent_name(name, self.data))
            if not isinstance(agent, Answering):
                raise InputError(f"agent {shown(name)}: does not say what it plays with all hands")
            told = agent_node(agent, rules_for([agent], None), line, board)
        else:
            place = self._place(name)[0]
            if artefact.manifest(place)["kind"] not in blueprint.KINDS:
                if board:
                    raise InputError(f"board {shown(board)}: the cards of a spot stand in its lines, such as x-x/8h")
                return self.read(name, "node", line, board, make=lambda one: solution_node(one, line) | {"run": name})
            strategy = blueprint.load_blueprint(place)
            told = self._of_blueprint(strategy, place, line, board)
        return self.answers.put(key, to_bytes(told | {"run": name}))

    def _of_blueprint(
        self, strategy: blueprint.BlueprintStrategy, place: Path, line: str, board: str
    ) -> dict[str, Any]:
        """A decision of its own tree; where the line leaves that, what it really plays there as an agent."""
        try:
            strategy.tree.find(line)
        except InputError:
            agent = make_agent(str(place))
            assert isinstance(agent, Answering)
            return agent_node(agent, strategy.rules, line, board)
        return blueprint_node(strategy, line, board)

    def next_nodes(self, name: str, line: str) -> Iterator[Callable[[], object]]:
        """Work that makes the nodes after one quick to read: what its solution's first street shares, each of them, and then
        those behind every card where a card comes next."""
        with suppress(RiverboatError, OSError):  # who asks for them is told
            if self.is_agent(name) or artefact.manifest(self._place(name)[0])["kind"] in blueprint.KINDS:
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
