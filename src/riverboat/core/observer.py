"""What a verb of the API reports while it works: the library never prints."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Observer:
    """Base class of objects that watch a verb at work. Every method does nothing: override those of interest."""

    def stage(self, title: str, detail: str = "") -> None:
        """A part of the work begins that reports no progress of its own; an empty title ends it."""

    def plan(self, plan: Any) -> None:
        """The size of the work is known; nothing large is allocated yet."""

    def progress(self, now: Any) -> None:
        """The work has advanced."""

    def note(self, text: str) -> None:
        """There is something that a person should read: a warning, or a choice that was made."""

    @contextmanager
    def during(self, title: str) -> Iterator[None]:
        """Report a stage for the length of a `with` block."""
        self.stage(title)
        try:
            yield
        finally:
            self.stage("")


SILENT = Observer()
