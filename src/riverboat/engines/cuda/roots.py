"""The gadgets of many games on a GPU, and on the processor, where they are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from riverboat.engines.cpu._kernels.gadget import NONE
from riverboat.engines.cuda._kernels.root import Gadgets
from riverboat.engines.cuda.compilation import cuda
from riverboat.engines.roots import Root
from riverboat.games.base import Array

TABLES = ("regret", "average", "prediction", "opp_regret", "opp_prediction")


class DeviceRoots:
    """Whoever has learnt last has the truth: the device, until the processor asks; the processor, until the next walk."""

    def __init__(self, roots: Sequence[Root]) -> None:
        self.roots = roots
        states = [root.state for root in roots]
        self.there = any(state.kind != NONE for state in states)
        sets = np.array([len(state.row) for state in states], np.int32)
        self._at = np.concatenate([[0], np.cumsum(sets)])
        facts = {
            "kind": np.array([state.kind for state in states], np.int32),
            "player": np.array([state.player for state in states], np.int32),
            "at": self._at[:-1].astype(np.int64),
            "sets": sets,
        }
        for name in ("row", "share", "factor", "offset", "entry"):
            facts[name] = _all([getattr(state, name) for state in states], np.int32 if name == "row" else float)
        self._newer = False  # whether the device has learnt something since
        self.apart = any(state.opp_regret is not state.regret for state in states)
        tables = {name: cuda.to_device(self._flat(name)) for name in TABLES}
        if not self.apart:
            tables |= {f"opp_{name}": tables[name] for name in ("regret", "prediction")}
        self.arrays: Any = Gadgets(**{name: cuda.to_device(x) for name, x in facts.items()}, **tables)

    def _flat(self, name: str) -> Array:
        """A table of all games."""
        numbers = np.zeros(max(2 * int(self._at[-1]), 1))
        for g, root in enumerate(self.roots):
            own = getattr(root.state, name).ravel()
            numbers[2 * self._at[g] : 2 * self._at[g] + len(own)] = own
        return numbers

    def learnt(self) -> None:
        """The device has the truth now."""
        self._newer = self.there

    def fetch(self) -> None:
        """Let the processor have it."""
        if not self._newer:
            return
        for name in TABLES if self.apart else TABLES[:3]:
            numbers = getattr(self.arrays, name).copy_to_host()
            for g, root in enumerate(self.roots):
                own = getattr(root.state, name)
                own[:] = numbers[2 * self._at[g] : 2 * self._at[g] + own.size].reshape(own.shape)
        self._newer = False

    def send(self) -> None:
        """Let the device have what the processor has written."""
        for name in TABLES if self.apart else TABLES[:3]:
            getattr(self.arrays, name).copy_to_device(self._flat(name))
        self._newer = False

    def copy_seen(self) -> None:
        """Before an iteration in which both answer the same profile."""
        self.arrays.opp_regret.copy_to_device(self.arrays.regret)
        self.arrays.opp_prediction.copy_to_device(self.arrays.prediction)


def _all(parts: Sequence[Array], dtype: Any) -> Array:
    """One array; an empty one still has a place."""
    whole = np.concatenate(parts).astype(dtype)
    return whole if len(whole) else np.zeros(1, dtype)
