"""What commands show while a verb of the API works: stages, plans, progress and notes."""

from __future__ import annotations

from typing import Self

from riverboat.cli.progress import ProgressLine
from riverboat.cli.terminal import say
from riverboat.core.observer import Observer


class StageDisplay(Observer):
    """Shows stages as a progress line, and notes as lines."""

    def __init__(self) -> None:
        self._stage: ProgressLine | None = None

    def stage(self, title: str, detail: str = "") -> None:
        if self._stage is not None and self._stage.title != title:
            self._stage.done()
            self._stage = None
        if title and self._stage is None:
            self._stage = ProgressLine(title)
        if self._stage is not None:
            self._stage.update(None, detail)

    def note(self, text: str) -> None:
        say(text)

    def close(self) -> None:
        """Remove the lines."""
        self.stage("")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
