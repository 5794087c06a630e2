"""Options of a job, checked by one function: those of a new job, of one that goes on, and of `job.json` in a data folder.

A data folder may come from somebody else, so that its files are no more trusted than a request: nothing here names code or
writes outside the data folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from riverboat.cli.solve import many_boards
from riverboat.cli.solve.options import target
from riverboat.cli.terminal import duration
from riverboat.core.errors import InputError, shown
from riverboat.core.text_files import read_toml
from riverboat.formats import spot_file
from riverboat.solvers import schedules
from riverboat.web.data_folder import DataFolder
from riverboat.web.models import Limits, Line, Word

MOST_THREADS = 1024
SPOT_FILE = "spot.toml"
PERCENT = "% of pot"  # unit of spots


class JobOptions(Limits):
    """Options of `riverboat solve` that a job may have, by their long names."""

    threads: Annotated[int, Field(ge=1, le=MOST_THREADS)] | None = None
    checkpoint: Word | None = None
    dtype: Literal["float64", "float32", "compact", "16-bit"] | None = None
    schedule: Word | None = None
    boards: Annotated[str, Field(max_length=2_000)] | None = None
    line: Line | None = None
    keep: Literal[True] | None = None


def check_options(options: Mapping[str, Any], kind: str, data: DataFolder, unit: str = PERCENT) -> dict[str, Any]:
    """Return the options of a job as the command line takes them; raise for unknown keys and invalid values.

    Parameters
    ----------
    options
        By the long names of `riverboat solve`.
    kind
        `spot`, or `boards` for many boards.
    data
        Folder that a file of boards must lie in.
    unit
        Unit of `until`.
    """
    if kind not in ("spot", "boards"):
        raise InputError(f"kind {shown(kind)}: spot or boards")
    try:
        given = JobOptions.model_validate(dict(options), strict=True).model_dump(exclude_none=True)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"option {'.'.join(map(str, first['loc']))}: {first['msg']}"[:300]) from None
    if "until" in given:
        target(given["until"], unit)
    for name in ("time", "checkpoint"):
        if name in given:
            duration(given[name])
    if "schedule" in given:
        schedules.parse(given["schedule"], imports=False)
    if kind == "spot" and (extra := [name for name in ("boards", "line", "keep") if name in given]):
        raise InputError(f"option {extra[0]}: goes with many boards")
    if kind == "boards":
        given["boards"] = check_boards(given.get("boards", ""), data)
    return given


def check_boards(text: str, data: DataFolder) -> str:
    """Return `all`, `sample:N`, or the path of a file of the data folder, named from there or in full; raise for others."""
    if text != "all" and not text.startswith("sample:"):
        full = Path(text)
        inside = full.is_absolute() and full.is_relative_to(data.root)
        text = str(data.path(full.relative_to(data.root).as_posix() if inside else text))
    many_boards.read(text)
    return text


def check_files(notes: Path, run: Path) -> None:
    """Raise unless a job's files lie where they seem to, and its spot file needs no other file."""
    for link in (path for folder in (notes, run) for path in (folder, *folder.rglob("*")) if path.is_symlink()):
        raise InputError(f"{link}: a link, through which a job could write elsewhere; remove it")
    file = notes / SPOT_FILE
    try:
        spot_file.loads(read_toml(file, "spot file"), None)
    except InputError as error:
        raise InputError(f"{file}: {error}") from None
