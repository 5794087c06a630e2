"""Tables of a blueprint that learns on a GPU: the device has a copy, which is fetched when somebody asks for it.

So checkpoints, snapshots and figures do not know where a run is trained, and a run goes on on processors and back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.engines.cuda.compilation import cuda, why_not
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.solvers.mccfr.tables import BucketTables
from riverboat.solvers.mccfr.trainer import Blueprint


class DeviceTables(Blueprint):
    """A blueprint whose tables are on a device. What it adds up there for `payoff` are the first two numbers of `_paid`."""

    _host: BucketTables
    _cells: Any  # on the device
    _paid: Any
    _newer = False  # whether the device has learnt what the processor's tables do not have
    _lent = True  # whether somebody may have written to the processor's tables

    @property
    def tables(self) -> BucketTables:
        """What has been learnt, on the processor."""
        if self._newer:
            self._cells.copy_to_host(self._host.cells)
            self.payoff = self._paid[:2].copy_to_host()
            self._newer = False
        self._lent = True
        return self._host

    @tables.setter
    def tables(self, tables: BucketTables) -> None:
        self._host = tables

    def _give(self) -> None:
        """Tables that somebody may have written to go to the device again; those there are about to learn."""
        if self._lent:
            self._cells.copy_to_device(self._host.cells)
            self._paid[:2].copy_to_device(self.payoff)  # the sums go on there: when they are read changes nothing
            self._lent = False
        self._newer = True

    @property
    def value(self) -> float:
        """What seat 0 has won a hand on average over the run."""
        self.tables  # noqa: B018  # what was paid is fetched with it
        return super().value

    def step(self, iterations: int) -> None:
        """Train for at least so many iterations: whole blocks of 64."""
        super().step(iterations)
        cuda.synchronize()

    def state(self) -> dict[str, Array]:
        """All that is needed to go on, on a device or without. The table itself, not a copy."""
        self.tables  # noqa: B018  # what was paid is fetched with it
        return super().state()

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go on from a state."""
        self._newer = False
        super().restore(state)
        self._lent = True


def check_device_is_there(tree: ActionTree) -> None:
    """Refuse to train on a device where none is."""
    reason = why_not()
    if reason is not None:
        raise InputError(f"{tree.rules.name}: no training on a GPU: {reason}; take device='cpu'")


def send(numbers: Array) -> Any:
    """An array on the device; an empty one still has a place."""
    if not numbers.size:
        return cuda.to_device(np.zeros((1,) * numbers.ndim, numbers.dtype))[(slice(0),) * numbers.ndim]
    return cuda.to_device(np.ascontiguousarray(numbers))


def send_all(given: Any) -> Any:
    """Arrays in tuples and tuples of tuples, all of them on the device; other things as they are."""
    if isinstance(given, np.ndarray):
        return send(given)
    if isinstance(given, tuple):
        sent = [send_all(each) for each in given]
        return type(given)(*sent) if hasattr(given, "_fields") else tuple(sent)
    return given


def grid(count: int, threads: int) -> tuple[int, int]:
    """Blocks for so many threads, and the threads of each."""
    return max(1, -(-count // threads)), threads
