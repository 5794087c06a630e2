"""The data folder: all that the server reads and writes, and names that cannot lead out of it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from riverboat.core import artifacts, atomic_io
from riverboat.core.errors import InputError, shown
from riverboat.strategies import files

JOBS = ".jobs"  # what is known of jobs, beside the runs that they make
BOARDS = "boards.jsonl"  # of many boards, in their folder
DEPTH = 3  # folders below the data folder in which runs are looked for
MOST_RUNS = 2_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._+=,@-]{0,99}")


class DataFolder:
    """A folder, and what lies in it by name: a path from it, such as `flop` or `study/flop`."""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root).absolute()
        with atomic_io.told(self.root):
            self.root.mkdir(parents=True, exist_ok=True)
        self.root = self.root.resolve()

    def path(self, name: str) -> Path:
        """Where a name points; refused where that is not in the folder, by whatever way."""
        parts = name.split("/")
        if not all(_NAME.fullmatch(part) for part in parts):
            raise InputError(
                f"name {shown(name)}: a path below the data folder, of letters, digits, spaces and ._+=,@-; "
                "no part may begin with a dot"
            )
        target = self.root.joinpath(*parts)
        if not target.resolve().is_relative_to(self.root):
            raise InputError(f"name {shown(name)}: leads out of the data folder")
        return target

    def run(self, name: str) -> Path:
        """The folder of a run that is there."""
        folder = self.path(name)
        if not is_run(folder):
            raise MissingError(f"run {shown(name)}: not in the data folder; GET /api/runs lists what is")
        return folder

    def free_name(self, wanted: str) -> str:
        """A name that nothing in the folder has, made from a word."""
        base = re.sub(r"[^A-Za-z0-9]+", "-", wanted).strip("-")[:40] or "spot"
        number, name = 1, base
        while (self.root / name).exists() or self.notes(name).exists():
            number += 1
            name = f"{base}-{number}"
        return name

    def notes(self, name: str) -> Path:
        """The folder with what is known of the job that makes a run."""
        return self.root / JOBS / name

    def runs(self) -> Iterator[tuple[str, Path]]:
        """Every run with its name, some levels deep."""
        work, count = [(self.root, 0)], 0
        while work:
            folder, depth = work.pop()
            for below in sorted(_folders(folder), reverse=True):
                if is_run(below):
                    count += 1
                    if count > MOST_RUNS:
                        return
                    yield below.relative_to(self.root).as_posix(), below
                elif depth + 1 < DEPTH:
                    work.append((below, depth + 1))

    def remove(self, name: str) -> None:
        """Delete a run and what is known of its job."""
        place = self.path(name)
        if atomic_io.is_held(place):
            raise InputError(f"run {shown(name)}: a process is writing there; stop it first")
        with atomic_io.told(place):
            for folder in (place, self.notes(name)):
                if folder.is_dir():
                    shutil.rmtree(folder)


class MissingError(InputError):
    """What was asked for is not there."""


def is_run(folder: Path) -> bool:
    """Whether a folder holds a strategy, a run with checkpoints or one that has just begun, or many boards."""
    if not folder.is_dir() or folder.name.startswith("."):
        return False
    marks = (
        folder / artifacts.MANIFEST,
        folder / "strategy" / artifacts.MANIFEST,
        folder / BOARDS,
        folder / atomic_io.LOCK,
    )
    return any(mark.is_file() for mark in marks) or bool(files.checkpoints(folder))


def _folders(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.is_dir() and not path.is_symlink() and path.name[0] != "."]
    except OSError:
        return []
