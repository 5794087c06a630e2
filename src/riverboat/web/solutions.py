"""Solutions, blueprints and agents behind the API: loaded once, with a cache of encoded responses."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from fastapi import Response
from pydantic_core import to_json

from riverboat.api.artifacts import (
    agent_solution,
    is_solution,
    load_blueprint,
    load_policy,
    load_solved,
    newest_artifact,
)
from riverboat.api.nodes import find_source, read_node, source_version
from riverboat.core import artifacts
from riverboat.core.cache import LRUCache
from riverboat.core.cancellation import cancellation_check
from riverboat.core.errors import InputError, RiverboatError, short_repr
from riverboat.games.base import CHANCE
from riverboat.practice.evaluators import SolutionEvaluator
from riverboat.web.data_folder import DataFolder
from riverboat.web.models import NodeResponse
from riverboat.web.specs import parse_agent_spec
from riverboat.web.views.node import possible_cards, solution_node_to_dict
from riverboat.web.views.public_state import example_lines, public_node_to_dict

if TYPE_CHECKING:
    from riverboat.strategies.solution import Solution

# --- Locks of open solutions: traversals of one solution share memory, and several threads use it ---

_LOCKS: WeakKeyDictionary[Solution, threading.RLock] = WeakKeyDictionary()
_GUARD = threading.Lock()


def solution_lock(solution: Solution) -> threading.RLock:
    """Return the lock for traversals of a solution: one per solution."""
    with _GUARD:
        return _LOCKS.setdefault(solution, threading.RLock())


@contextmanager
def hold_solution_lock(who: object) -> Iterator[None]:
    """Hold the lock of the solution behind an agent or evaluator; others share nothing and need no lock.

    Polling for cancellation is off while it is held: to wait there for urgent work that needs the lock is a deadlock.
    """
    solution = agent_solution(who.agent if isinstance(who, SolutionEvaluator) else who)
    if solution is None:
        yield
        return
    with solution_lock(solution), cancellation_check(None):
        yield


MAX_CACHE_BYTES = 128 << 20  # size of the response cache
MAX_OPEN_SOLUTIONS = 4


class SolutionStore:
    """Solutions and agents of a data folder, with open solutions and encoded responses cached.

    Methods that may take time are called from worker threads.
    """

    def __init__(self, data: DataFolder) -> None:
        self.data = data
        self.responses = LRUCache[bytes](MAX_CACHE_BYTES, len)  # encoded, by version of the run and request
        self._open: LRUCache[tuple[Solution, threading.RLock]] = LRUCache(MAX_OPEN_SOLUTIONS)
        self._opening = threading.Lock()

    def agent(self, name: str | None) -> Any:
        """Make the agent of a name; it must be a policy over all hands."""
        return load_policy(parse_agent_spec(name, self.data))[0]

    def examples(self, name: str) -> bytes:
        """Return frequent lines of a blueprint as JSON; none for other agents."""
        source = find_source(name, self.data.run_folder)
        folder = source.folder
        if source.kind != "blueprint" or folder is None:
            return b"[]"
        key = (source.version, "examples")
        return self.responses.get_or_compute(key, lambda: encode_json(example_lines(load_blueprint(folder))))

    def solution(self, name: str) -> tuple[Solution, threading.RLock]:
        """Return a solution, loaded once, and the lock for its traversals."""
        artifact = newest_artifact(self.data.run_folder(name))
        key = (str(artifact), *artifacts.file_stamp(artifact / artifacts.MANIFEST))

        def load() -> tuple[Solution, threading.RLock]:
            solution = load_solved(artifact)
            if not is_solution(solution):
                raise InputError(
                    f"run {short_repr(name)}: contains {solution.tree.name}, which has no hold'em nodes to show"
                )
            return solution, solution_lock(solution)

        with self._opening:
            return self._open.get_or_compute(key, load)

    def get_cached(self, name: str, *key: Any) -> bytes | None:
        """Return the cached response for a run and a request's key; None if there is none or the run has changed."""
        return self.responses.get((source_version(name, self.data.run_folder), *key))

    def get_or_compute(self, name: str, *key: Any, compute: Callable[[Solution], Any]) -> bytes:
        """Return a response about a solution as JSON, from the cache or computed; `key` identifies the request."""
        cache_key = (source_version(name, self.data.run_folder), *key)
        cached = self.responses.get(cache_key)
        if cached is None:
            solution, lock = self.solution(name)
            with lock:
                cached = self.responses.get(cache_key) or self.responses.put(cache_key, encode_json(compute(solution)))
        return cached

    def node(self, name: str, line: str, board: str = "") -> bytes:
        """Return, as JSON, a node of a solution, or a decision of a blueprint or an agent on a board."""
        source = find_source(name, self.data.run_folder)
        if source.kind == "solution":
            if board:
                raise InputError(
                    f"board {short_repr(board)}: the cards of a spot are part of its lines, such as x-x/8h"
                )

            def compute(solved: Solution) -> NodeResponse:
                return NodeResponse(run=name, **solution_node_to_dict(solved, line))

            return self.get_or_compute(name, "node", line, board, compute=compute)
        fields = public_node_to_dict(read_node(source, line, board, make_agent=self.agent))
        return self.responses.put((source.version, "node", line, board), encode_json(NodeResponse(run=name, **fields)))

    def next_nodes(self, name: str, line: str) -> Iterator[Callable[[], object]]:
        """Yield functions that cache the nodes after a node of a solution: each child, then every card of a deal.

        The values of its street are computed first.
        """
        with suppress(RiverboatError, OSError):  # a request for them reports the error
            if find_source(name, self.data.run_folder).kind != "solution":
                return
            solution, lock = self.solution(name)
            with lock:
                solution.prepare()
                node = solution[line]
            joiner = solution.tree.game.joiner
            nodes = [node] if node.player == CHANCE else []
            for move in node.actions if node.player >= 0 else ():
                child_line = f"{line}{joiner if line else ''}{move}"
                if self.get_cached(name, "node", child_line, "") is None:
                    yield partial(self.node, name, child_line)
                nodes += [deal] if (deal := solution[child_line]).player == CHANCE else []
            for deal in nodes:  # the first node of a street takes longest, and there is one per card
                for card in possible_cards(deal):
                    if self.get_cached(name, "node", f"{deal.line}/{card}", "") is None:
                        yield partial(self.node, name, f"{deal.line}/{card}")


def encode_json(value: Any) -> bytes:
    """Encode models or plain values as JSON without spaces; NaN and infinity become null."""
    return to_json(value, inf_nan_mode="null")


def json_response(body: bytes, **headers: str) -> Response:
    """Return a response from encoded JSON."""
    return Response(body, media_type="application/json", headers=headers)
