"""Long experiments in pieces: figures that were worked out before are kept, and an interrupted run goes on behind them.

Only runs at full size keep theirs: quick ones are always worked out anew. A piece carries the version of its experiment and
all that its figures depend on; threads and devices are no part of that. `part=K` makes the K-th piece alone, so that several
processes can share the work.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.cache import kept
from riverboat.core.errors import InputError

Figures: TypeAlias = dict[str, Array]


class NotNow(Exception):
    """A piece that is not there, and that this run does not make."""


class Pieces:
    """The pieces of one experiment, from the user's cache where they are there, else made."""

    def __init__(self, name: str, recipe: str, *, keep: bool, part: int = 0) -> None:
        """`recipe` tells apart what must not be mixed; `part` is the one piece that is made, from 1 on, or 0 for all."""
        if part < 0:
            raise InputError(f"part={part}: pieces are counted from 1; 0 makes all of them")
        digest = hashlib.sha256(recipe.encode()).hexdigest()[:12]
        self.name, self.keep, self.part = f"{name}-{digest}", keep, part
        self.asked = 0
        self.seconds = 0.0  # of all pieces that are there, also of those that were made before
        self.missing: list[str] = []

    def get(self, what: str, make: Callable[[], Mapping[str, object]]) -> Figures | None:
        """The figures of a piece, by name; None where it is not there and not to be made."""
        self.asked += 1

        def work() -> Figures:
            if self.part not in (0, self.asked):
                raise NotNow
            began = time.perf_counter()
            figures = {key: np.asarray(value, float) for key, value in make().items()}
            return figures | {"seconds": np.array(time.perf_counter() - began)}

        try:
            figures = kept(f"{self.name}-{what}", work) if self.keep else work()
        except NotNow:
            self.missing.append(f"{what} (part={self.asked})")
            return None
        self.seconds += float(figures["seconds"])
        return figures

    @property
    def note(self) -> str:
        """What is there, in words. Asked for behind the last piece: only then is it known how many there are."""
        if self.part > self.asked:
            raise InputError(f"part={self.part}: there are pieces 1 … {self.asked}; part=0 makes all of them")
        if not self.missing:
            return f"All {self.asked} pieces took {self.seconds:,.0f} s."
        some = f"{self.asked - len(self.missing)} of {self.asked} pieces took {self.seconds:,.0f} s."
        return f"{some} Not there yet: {', '.join(self.missing)}."
