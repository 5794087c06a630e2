"""What commands show while a verb of the API works: stages, plans, progress and notes."""

from __future__ import annotations

from riverboat.cli.progress import LineSlot
from riverboat.cli.terminal import say
from riverboat.core.observer import Observer


class StageDisplay(LineSlot, Observer):
    """Shows the stage of the work as a progress line, and notes as lines of text."""

    def stage(self, title: str, detail: str = "") -> None:
        if title:
            self.open(title).update(None, detail)
        else:
            self.close_line()

    def note(self, text: str) -> None:
        say(text)

    def close(self) -> None:
        """Erase all lines."""
        self.close_line()

    def __exit__(self, *_: object) -> None:
        self.close()
