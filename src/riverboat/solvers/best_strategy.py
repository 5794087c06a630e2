"""The best answer of a run so far. Exploitability may rise: by rounding, by sampling, or by the nature of a schedule."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import IO, Any

import numpy as np

from riverboat.games.base import Array
from riverboat.solvers.tabular.best_response import Quality

IN_MEMORY = 16_000_000  # bytes; larger tables wait in a file without a name
SLOW = 0.8  # and are only copied where a check has not gained a fifth: while a run goes well, the next one is better


class Best:
    """The averages of the check with the lowest exploitability."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder  # where large tables wait; the system's place for such files where there is none
        self.iteration = -1  # of the check; -1 where nothing is kept
        self.quality: Quality | None = None
        self._last = np.inf  # exploitability of the last check that was offered
        self._table: Array | None = None
        self._file: IO[bytes] | None = None
        self._dtype: Any = None

    def offer(self, quality: Quality, iteration: int, table: Array) -> None:
        """Keep a copy of the averages if no earlier check was as good."""
        now, before = quality.exploitability, self._last
        self._last = now
        if not self.worse(quality):
            return
        if table.nbytes > IN_MEMORY and now <= SLOW * before:
            return
        self.keep(quality, iteration, table)

    def worse(self, quality: Quality) -> bool:
        """Whether what is kept, if anything is, is worse than this."""
        return self.quality is None or quality.exploitability < self.quality.exploitability

    def keep(self, quality: Quality, iteration: int, table: Array) -> None:
        """Keep a copy of the averages. Where it cannot be written nothing is kept: what was there before is spoilt."""
        self.quality, self.iteration = None, -1
        self._write(table)
        self.quality, self.iteration, self._dtype = quality, iteration, table.dtype

    def _write(self, table: Array) -> None:
        if table.nbytes <= IN_MEMORY:
            self._table = table.copy()
            return
        if self._file is None:
            place = self.folder if self.folder is not None and self.folder.is_dir() else None
            self._file = tempfile.TemporaryFile(dir=place)  # noqa: SIM115 - it lives as long as the run
        self._file.seek(0)
        self._file.write(table.view(np.uint8).data)
        self._file.truncate()
        self._file.flush()

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()

    def table(self) -> Array:
        """The averages that were kept."""
        if self._table is not None:
            return self._table
        assert self._file is not None
        self._file.seek(0)
        return np.frombuffer(self._file.read(), self._dtype)
