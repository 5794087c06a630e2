"""Backends that run the blades (workers) of a cluster: in this process, or as Ray actors on this machine or others.

Both execute calls in order and return the results of all blades in the order of the blades. A run with one thread per
blade is therefore bitwise equal on either.
"""

from __future__ import annotations

import os
import pickle
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, load_abstraction
from riverboat.core.errors import InputError, RiverboatError
from riverboat.games.holdem.action_tree import ActionTree, compile_action_tree
from riverboat.games.holdem.menus import ActionMenu
from riverboat.games.holdem.rules import PokerRules
from riverboat.solvers.cluster.blade import Blade, BladeAssignment

LOCAL = "local"
_OBJECT_STORE_BYTES = 1 << 28  # shared memory for messages; Ray's default is a third of the machine's memory


class BladeLostError(RiverboatError):
    """The process of a blade (worker) has died."""


class LocalBackend:
    """Blades of a cluster as plain objects in this process, called in turn."""

    def __init__(self, tree: ActionTree, cards: CardAbstraction, parts: Sequence[BladeAssignment]) -> None:
        self.blades: list[Any] = [Blade(tree, cards, share) for share in parts]

    def call_each(self, method: str, given: Sequence[tuple[Any, ...] | None]) -> list[Any]:
        """Call a method of each blade with its own arguments in `given`; None skips a blade, whose result is None."""
        calls = zip(self.blades, given, strict=True)
        return [None if args is None else getattr(blade, method)(*args) for blade, args in calls]

    def call_all(self, method: str, *given: Any) -> list[Any]:
        """Call a method of all blades with the same arguments, and return the results in order.

        Raises BladeLostError if a blade has died.
        """
        return self.call_each(method, [given] * len(self.blades))

    def restart_dead(self) -> int:
        """Restart dead blades with empty tables, and return how many there were."""
        return 0

    def close(self) -> None:
        """Release all resources."""
        self.blades = []


@dataclass(frozen=True)
class _BladeSource:
    """The data from which a blade makes its tree and cards in another process."""

    rules: PokerRules
    menu: ActionMenu | None
    nodes: int  # number of nodes of the tree
    tree: str  # fingerprint of the tree
    cards: str  # fingerprint of the card abstraction
    pickled_cards: bytes | None  # a small abstraction is sent with the message
    path: str | None  # a large one is read from its folder, which every machine must see

    def make(self) -> tuple[ActionTree, CardAbstraction]:
        tree = compile_action_tree(self.rules, self.menu, self.nodes)
        # Pickled explicitly: arrays unpacked by Ray are read-only, for which kernels would be compiled again.
        cards = pickle.loads(self.pickled_cards) if self.pickled_cards is not None else load_abstraction(str(self.path))
        if tree.fingerprint != self.tree or cards.fingerprint != self.cards:
            raise InputError(f"{self.path}: differs on {platform.node()}: another abstraction or version of Riverboat")
        return tree, cards


class _BladeActor:
    """Ray actor with a blade, in a process of its own."""

    def __init__(self, origin: _BladeSource, share: BladeAssignment) -> None:
        self.blade = Blade(*origin.make(), share)

    def call(self, method: str, *given: Any) -> Any:
        return getattr(self.blade, method)(*given)

    def process(self) -> int:
        return os.getpid()


class RayBackend(LocalBackend):
    """Blades as Ray actors, on this machine (`local`) or on the cluster at an address.

    The address `auto` is the cluster that runs on this machine.
    """

    def __init__(
        self,
        tree: ActionTree,
        cards: CardAbstraction,
        parts: Sequence[BladeAssignment],
        address: str,
        path: Path | None,
    ) -> None:
        self.ray, self.owns_ray = connect_ray(address, sum(share.threads for share in parts))
        self.assignments = parts
        self.blades = []
        required, available = sum(share.threads for share in parts), int(self.ray.cluster_resources().get("CPU", 0))
        if required > available:  # actors would wait forever
            self.close()
            raise InputError(f"{len(parts)} blades with {required} threads: the Ray cluster has only {available} CPUs")
        pickled = None if path is not None else pickle.dumps(cards)
        folder = str(path.resolve()) if path is not None else None
        origin = _BladeSource(tree.rules, tree.menu, len(tree), tree.fingerprint, cards.fingerprint, pickled, folder)
        self.origin = self.ray.put(origin)
        self.blades = [self._start(share) for share in parts]
        self.processes()

    def _start(self, share: BladeAssignment) -> Any:
        make = self.ray.remote(num_cpus=share.threads, max_restarts=0, max_task_retries=0)(_BladeActor)
        return make.remote(self.origin, share)

    def call_all(self, method: str, *given: Any) -> list[Any]:
        # Tuples of arrays go to the object store once; actors read them from there.
        return super().call_all(method, *(self.ray.put(x) if isinstance(x, tuple) else x for x in given))

    def call_each(self, method: str, given: Sequence[tuple[Any, ...] | None]) -> list[Any]:
        calls = {n: self.blades[n].call.remote(method, *args) for n, args in enumerate(given) if args is not None}
        answers = dict(zip(calls, self._get(list(calls.values())), strict=True))
        return [answers.get(n) for n in range(len(self.blades))]

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
        return [int(n) for n in self._get([actor.process.remote() for actor in self.blades])]

    def restart_dead(self) -> int:
        restarted = 0
        for n, actor in enumerate(list(self.blades)):
            try:
                self.ray.get(actor.process.remote())
            except self.ray.exceptions.RayActorError:
                self.blades[n] = self._start(self.assignments[n])
                restarted += 1
        return restarted

    def close(self) -> None:
        for actor in self.blades:
            self.ray.kill(actor)
        super().close()
        if self.owns_ray and self.ray.is_initialized():
            self.ray.shutdown()


def connect_ray(address: str, cpus: int) -> tuple[Any, bool]:
    """Start Ray on this machine with `cpus` CPUs (`local`), or connect to an address.

    Returns Ray and whether the caller must shut it down.
    """
    ray = _import_ray(address)
    if ray.is_initialized():
        return ray, False
    options: dict[str, Any] = {"address": address, "log_to_driver": False, "logging_level": "error"}
    if address == LOCAL:
        options |= {"num_cpus": cpus, "include_dashboard": False, "object_store_memory": _OBJECT_STORE_BYTES}
    try:
        ray.init(**options)
    except ConnectionError as error:
        raise InputError(
            f"--cluster {address}: no Ray cluster at this address ({error}); start one with `ray start`"
        ) from None
    return ray, True


def _import_ray(address: str) -> Any:
    """Import Ray, an optional dependency, with usage reporting switched off."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # suppresses a needless warning
    # Ray prints this on standard output, but lost blades are handled.
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", "A worker died")
    if address == LOCAL:  # binds Ray to localhost, so that other machines cannot reach it
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    try:
        return import_module("ray")
    except ImportError:
        raise InputError("a cluster needs Ray: pip install riverboat[cluster]") from None


def make_backend(
    engine: str, tree: ActionTree, cards: CardAbstraction, parts: Sequence[BladeAssignment], path: Path | None
) -> LocalBackend:
    """Make a backend: `local` in this process, `ray` actors on this machine, `ray:ADDRESS` on a cluster."""
    kind, _, address = engine.partition(":")
    if engine == LOCAL:
        return LocalBackend(tree, cards, parts)
    if kind == "ray":
        return RayBackend(tree, cards, parts, address or LOCAL, path)
    raise InputError(f"engine {engine!r}: must be local, ray, ray:auto or ray:ADDRESS")
