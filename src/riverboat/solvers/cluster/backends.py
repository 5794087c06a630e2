"""Where the blades of a cluster work: in this process, or as Ray actors on this machine or others.

Both do what they are told in order and give the answers of all blades in the order of the blades, so that a run with one
thread a blade is the same bit for bit on either.
"""

from __future__ import annotations

import os
import pickle
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, load_abstraction
from riverboat.core.errors import InputError, RiverboatError
from riverboat.games.holdem.action_tree import ActionTree, compile_actions
from riverboat.games.holdem.menus import Menu
from riverboat.games.holdem.rules import Rules
from riverboat.solvers.cluster.blade import Blade, Share

LOCAL = "local"
_STORE = 1 << 28  # bytes of shared memory for messages; Ray takes a third of the machine's otherwise


class BladeLostError(RiverboatError):
    """A blade has died."""


class Engine(Protocol):
    """Blades, wherever they are."""

    def ask(self, method: str, *given: Any) -> list[Any]:
        """Call a method of all blades; their answers in order. BladeLostError when one has died."""
        ...

    def ask_each(self, method: str, given: Sequence[tuple[Any, ...] | None]) -> list[Any]:
        """The same with arguments for each blade; None: not called, and None is its answer."""
        ...

    def revive(self) -> int:
        """Start blades that have died again, empty. How many there were."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...


class InProcess:
    """Blades as plain objects, called in turn."""

    def __init__(self, tree: ActionTree, cards: CardAbstraction, parts: Sequence[Share]) -> None:
        self.blades = [Blade(tree, cards, share) for share in parts]

    def ask(self, method: str, *given: Any) -> list[Any]:
        return [getattr(blade, method)(*given) for blade in self.blades]

    def ask_each(self, method: str, given: Sequence[tuple[Any, ...] | None]) -> list[Any]:
        return [
            getattr(blade, method)(*args) if args is not None else None
            for blade, args in zip(self.blades, given, strict=True)
        ]

    def revive(self) -> int:
        return 0

    def close(self) -> None:
        self.blades = []


@dataclass(frozen=True)
class _Origin:
    """What it takes to make the tree and the cards of a blade somewhere else."""

    rules: Rules
    menu: Menu | None
    nodes: int
    tree: str  # fingerprints
    cards: str
    given: bytes | None  # small ones travel,
    path: str | None  # large ones are read from the folder, which every machine must see

    def make(self) -> tuple[ActionTree, CardAbstraction]:
        tree = compile_actions(self.rules, self.menu, self.nodes)
        # Pickled by hand: arrays that Ray unpacks are read-only, and kernels would be compiled for them once more.
        cards = pickle.loads(self.given) if self.given is not None else load_abstraction(str(self.path))
        if tree.fingerprint != self.tree or cards.fingerprint != self.cards:
            raise InputError(f"{self.path}: another abstraction or another version of Riverboat on {platform.node()}")
        return tree, cards


class _Actor:
    """A blade in a process of its own."""

    def __init__(self, origin: _Origin, share: Share) -> None:
        self.blade = Blade(*origin.make(), share)

    def call(self, method: str, *given: Any) -> Any:
        return getattr(self.blade, method)(*given)

    def process(self) -> int:
        return os.getpid()


class RayActors:
    """Blades as actors: on this machine (`local`), or on the cluster at an address (`auto`: the one of this machine)."""

    def __init__(
        self, tree: ActionTree, cards: CardAbstraction, parts: Sequence[Share], address: str, path: Path | None
    ) -> None:
        self.ray, self.mine = connect(address, sum(share.threads for share in parts))
        self.parts = parts
        self.actors: list[Any] = []
        need, there = sum(share.threads for share in parts), int(self.ray.cluster_resources().get("CPU", 0))
        if need > there:  # actors would wait for ever
            self.close()
            raise InputError(f"{len(parts)} blades with {need} threads: the Ray cluster has {there} processors")
        shipped = None if path is not None else pickle.dumps(cards)
        where = str(path.resolve()) if path is not None else None
        origin = _Origin(tree.rules, tree.menu, len(tree), tree.fingerprint, cards.fingerprint, shipped, where)
        self.origin = self.ray.put(origin)
        self.actors = [self._start(share) for share in parts]
        self.processes()

    def _start(self, share: Share) -> Any:
        make = self.ray.remote(num_cpus=share.threads, max_restarts=0, max_task_retries=0)(_Actor)
        return make.remote(self.origin, share)

    def ask(self, method: str, *given: Any) -> list[Any]:
        # What many arrays make up goes to the object store once; actors get it from there.
        given = tuple(self.ray.put(x) if isinstance(x, tuple) else x for x in given)
        return self.ask_each(method, [given] * len(self.actors))

    def ask_each(self, method: str, given: Sequence[tuple[Any, ...] | None]) -> list[Any]:
        calls = {
            n: actor.call.remote(method, *args)
            for n, (actor, args) in enumerate(zip(self.actors, given, strict=True))
            if args is not None
        }
        answers = dict(zip(calls, self._get(list(calls.values())), strict=True))
        return [answers.get(n) for n in range(len(self.actors))]

    def _get(self, calls: list[Any]) -> list[Any]:
        try:
            return list(self.ray.get(calls))
        except self.ray.exceptions.RayActorError as error:
            raise BladeLostError(f"a blade has died: {error}") from None
        except self.ray.exceptions.RayTaskError as error:
            cause = error.cause
            raise (cause if isinstance(cause, Exception) else error) from None

    def processes(self) -> list[int]:
        """Process ids of the blades."""
        return [int(n) for n in self._get([actor.process.remote() for actor in self.actors])]

    def revive(self) -> int:
        dead = []
        for n, actor in enumerate(self.actors):
            try:
                self.ray.get(actor.process.remote())
            except self.ray.exceptions.RayActorError:
                dead.append(n)
        for n in dead:
            self.actors[n] = self._start(self.parts[n])
        return len(dead)

    def close(self) -> None:
        for actor in self.actors:
            self.ray.kill(actor)
        self.actors = []
        if self.mine and self.ray.is_initialized():
            self.ray.shutdown()


def connect(address: str, cpus: int) -> tuple[Any, bool]:
    """Ray, on this machine with so many processors (`local`) or at an address; and whether whoever asks has to end it."""
    ray = _ray(address)
    if ray.is_initialized():
        return ray, False
    common: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    try:
        if address == LOCAL:
            ray.init(address="local", num_cpus=cpus, include_dashboard=False, object_store_memory=_STORE, **common)
        else:
            ray.init(address=address, **common)
    except ConnectionError as error:
        raise InputError(
            f"--cluster {address}: no Ray cluster answers there ({error}); `ray start` makes one"
        ) from None
    return ray, True


def _ray(address: str) -> Any:
    """Ray, which is no part of a plain installation; nothing is reported to its makers."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # no warning where there is nothing to warn of
    os.environ.setdefault(
        "RAY_DEDUP_LOGS_SKIP_REGEX", "A worker died"
    )  # on standard output: a lost blade is no surprise
    if address == LOCAL:  # on one machine nobody else shall reach it: Ray's way to say that, whatever the system is
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    try:
        return import_module("ray")
    except ImportError:
        raise InputError("a cluster needs Ray: pip install riverboat[cluster]") from None


def make_engine(
    engine: str, tree: ActionTree, cards: CardAbstraction, parts: Sequence[Share], path: Path | None
) -> Engine:
    """`local`: in this process; `ray`: actors on this machine; `ray:ADDRESS`: on a cluster."""
    kind, _, address = engine.partition(":")
    if engine == LOCAL:
        return InProcess(tree, cards, parts)
    if kind == "ray":
        return RayActors(tree, cards, parts, address or LOCAL, path)
    raise InputError(f"engine {engine!r}: write local, ray, ray:auto or ray:ADDRESS")
