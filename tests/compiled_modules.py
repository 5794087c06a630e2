"""Modules with compiled kernels that tests write, load, change and reload, with a cache folder of their own."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import pytest

from riverboat.compiled import code_cache


class Modules:
    """Source files in a folder, loaded as modules that share only the cache on disk with earlier loads."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self._monkeypatch, self._names = folder / "source", monkeypatch, set[str]()
        self.folder.mkdir()
        monkeypatch.syspath_prepend(str(self.folder))
        self.use_cache(folder / "code")

    def use_cache(self, folder: Path) -> None:
        """Store code compiled from now on in another folder."""
        self.cache = folder
        self._monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder))
        self._monkeypatch.setattr(numba.config, "CACHE_DIR", str(folder))

    def write(self, files: dict[str, str]) -> None:
        """Write modules by their paths."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            self._names.add(name.split("/")[0].removesuffix(".py"))

    def load(self, name: str) -> ModuleType:
        """Load a module as a new process would."""
        self.forget()
        importlib.invalidate_caches()
        self._monkeypatch.setattr(sys, "dont_write_bytecode", True)  # two versions may be written in one second
        return importlib.import_module(name)

    def forget(self) -> None:
        """Unload all modules written here."""
        for name in list(sys.modules):
            if name.split(".")[0] in self._names:
                del sys.modules[name]
        for remembered in vars(code_cache).values():
            if hasattr(remembered, "cache_clear"):
                remembered.cache_clear()

    @staticmethod
    def was_compiled(loop: Any) -> bool:
        """Whether a kernel that was called once was compiled, and not loaded from disk."""
        hits, misses = (sum(counts.values()) for counts in (loop.stats.cache_hits, loop.stats.cache_misses))
        assert hits + misses == 1
        return bool(misses)

    def files(self, function: str = "") -> list[Path]:
        """Files of compiled code, of one function or of all."""
        return sorted(path for path in self.cache.rglob("*.nbc") if function in path.name)
