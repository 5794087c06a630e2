"""Observers: objects to which functions of the API report while they work, since the library never prints."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Observer:
    """Base class of objects to which an API function reports. Every method does nothing: override those of interest."""

    def stage(self, title: str, detail: str = "") -> None:
        """Handle the begin of a part of the work that reports no progress of its own; an empty title ends it."""

    def plan(self, plan: Any) -> None:
        """Handle the plan of the work, with its size, before anything large is allocated."""

    def progress(self, now: Any) -> None:
        """Handle a report of progress, an object such as `SolveProgress` that depends on the function."""

    def note(self, text: str) -> None:
        """Handle a text that a person should read: a warning, or a choice that was made."""

    @contextmanager
    def during(self, title: str) -> Iterator[None]:
        """Report a stage for the length of a `with` block."""
        self.stage(title)
        try:
            yield
        finally:
            self.stage("")


SILENT = Observer()
