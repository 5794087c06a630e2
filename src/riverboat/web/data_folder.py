"""The data folder: everything the server reads and writes, and names that cannot escape it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from riverboat.api.artifacts import is_run
from riverboat.core import files as core_files
from riverboat.core.errors import InputError, short_repr

JOBS_FOLDER = ".jobs"  # files of jobs, next to the runs that they write
MAX_DEPTH = 3  # levels of folders that are searched for runs
_NAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._+=,@-]{0,99}")


class DataFolder:
    """A folder whose contents have names: relative paths such as `flop` or `study/flop`."""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root).absolute()
        with core_files.disk_errors(self.root):
            self.root.mkdir(parents=True, exist_ok=True)
        self.root = self.root.resolve()

    def path(self, name: str) -> Path:
        """Return the path of a name; raise an error if it is outside the folder."""
        parts = name.split("/")
        if not all(_NAME_PATTERN.fullmatch(part) for part in parts):
            raise InputError(
                f"name {short_repr(name)}: use a path below the data folder with letters, digits, spaces and ._+=,@-; "
                "no part may start with a dot"
            )
        target = self.root.joinpath(*parts)
        if not target.resolve().is_relative_to(self.root):
            raise InputError(f"name {short_repr(name)}: is outside the data folder")
        return target

    def run_folder(self, name: str) -> Path:
        """Return the folder of an existing run."""
        folder = self.path(name)
        if not is_run(folder):
            raise MissingError(f"run {short_repr(name)}: not in the data folder; GET /api/runs lists all runs")
        return folder

    def free_name(self, wanted: str) -> str:
        """Return a name that no run and no job has, derived from the given text."""
        base = re.sub(r"[^A-Za-z0-9]+", "-", wanted).strip("-")[:40] or "spot"
        names = (f"{base}-{number}" if number > 1 else base for number in count(1))
        return next(name for name in names if not ((self.root / name).exists() or self.job_folder(name).exists()))

    def job_folder(self, name: str) -> Path:
        """Return the folder with the files of the job that writes a run."""
        return self.root / JOBS_FOLDER / name

    def iter_runs(self) -> Iterator[tuple[str, Path]]:
        """Yield every run with its name, down to `MAX_DEPTH` levels."""
        stack = [(self.root, 0)]
        while stack:
            folder, depth = stack.pop()
            for subfolder in sorted(_subfolders(folder), reverse=True):
                if is_run(subfolder):
                    yield subfolder.relative_to(self.root).as_posix(), subfolder
                elif depth + 1 < MAX_DEPTH:
                    stack.append((subfolder, depth + 1))

    def remove(self, name: str) -> None:
        """Delete a run and the files of its job."""
        run = self.path(name)
        if core_files.is_locked(run):
            raise InputError(f"run {short_repr(name)}: a process is writing to it; stop it first")
        with core_files.disk_errors(run):
            for folder in (run, self.job_folder(name)):
                if folder.is_dir():
                    shutil.rmtree(folder)


class MissingError(InputError):
    """The requested object does not exist."""


def _subfolders(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.is_dir() and not path.is_symlink() and path.name[0] != "."]
    except OSError:
        return []
