"""Artefacts on disk: a folder with `manifest.json`, `.npy` files that can be memory-mapped, and checksums.

A folder is written beside its place and renamed into it, so that what bears the name is whole. Readers
check every file against the manifest before they use it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import threading
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

from riverboat import __version__
from riverboat.core import atomic_io, text_files
from riverboat.core.arrays import Array
from riverboat.core.errors import CorruptError, DiskError, InputError, shown
from riverboat.core.npy_file import map_numbers, write_numbers
from riverboat.core.schema import Arrays, Fields

FORMAT_VERSION = 1
MANIFEST = "manifest.json"
MOST_MANIFEST = 64 << 20  # bytes
T = TypeVar("T")


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


Stamp: TypeAlias = tuple[int, int, int, int]
_CHECKED: dict[Path, tuple[Stamp, str]] = {}  # files whose checksums this process has computed, as they were then
_MOST_CHECKED = 4096


def stamp(path: Path) -> Stamp:
    """What changes when a file does: which it is, its size, and when it was written."""
    facts = path.stat()
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns


def _known_checksum(path: Path) -> str:
    """The checksum of a file, computed once while the file stays as it is."""
    now, place = stamp(path), path.absolute()
    kept = _CHECKED.get(place)
    if kept is None or kept[0] != now:
        if len(_CHECKED) >= _MOST_CHECKED:
            _CHECKED.clear()
        kept = _CHECKED[place] = now, _checksum(path)
    return kept[1]


class Opened(Generic[T]):
    """What was made from artefacts lately, the last few; made again where a file has changed."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._kept: dict[tuple[Path, tuple[Stamp, ...]], T] = {}
        self._lock = threading.Lock()

    def get(self, folder: Path, make: Callable[[], T], *others: Path) -> T:
        """What is made from a folder and perhaps others; the oldest is let go where there are too many."""
        try:
            read = [path for place in (folder, *others) if place.is_dir() for path in place.iterdir()]
            key = folder.absolute(), tuple(sorted(stamp(path) for path in read if path.is_file()))
        except OSError:  # a run has put a newer checkpoint in its place
            return make()
        with self._lock:
            value = self._kept.pop(key, None)
        if value is None:
            value = make()
        with self._lock:
            self._kept[key] = value
            for old in list(self._kept)[: -self.most]:
                del self._kept[old]
        return value


def write(
    folder: Path,
    kind: str,
    arrays: Mapping[str, Array],
    meta: Mapping[str, Any],
    kept: Mapping[str, str] | None = None,
) -> Path:
    """Write an artefact; the folder appears whole or not at all, and replaces an older one."""
    beside = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    try:
        with atomic_io.told(folder):
            _write(folder, beside, kind, arrays, meta, kept or {})
    finally:
        shutil.rmtree(beside, ignore_errors=True)  # where it was not renamed: no room is taken by what is of no use
    return folder


def _write(
    folder: Path,
    beside: Path,
    kind: str,
    arrays: Mapping[str, Array],
    meta: Mapping[str, Any],
    kept: Mapping[str, str],
) -> None:
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MANIFEST).is_file():
        raise InputError(f"{folder}: holds other files, which would be lost; choose another folder")
    if (folder / MANIFEST).is_file():
        with contextlib.suppress(CorruptError):  # what cannot be read is no loss
            there = manifest(folder).get("kind")
            if there != kind:
                raise InputError(f"{folder}: holds a {there}, which would be lost; choose another folder")
    if folder.exists() and not folder.is_dir():
        raise DiskError(f"{folder}: is a file, and a folder is to be written")
    folder.parent.mkdir(parents=True, exist_ok=True)
    if beside.exists():
        shutil.rmtree(beside)
    beside.mkdir()
    files: list[str] = []
    for name, array in arrays.items():
        with atomic_io.told(folder / f"{name}.npy"):
            write_numbers(beside / f"{name}.npy", array)
        files.append(f"{name}.npy")
    for name, words in kept.items():
        with atomic_io.told(folder / name):
            (beside / name).write_text(words, encoding="utf-8", newline="")
        files.append(name)
    made = {
        "format_version": FORMAT_VERSION,
        "kind": kind,
        "version": __version__,
        **meta,
        "files": {
            name: {"sha256": _checksum(beside / name), "bytes": (beside / name).stat().st_size} for name in files
        },
    }
    body = json.dumps(made, indent=2, sort_keys=True)
    signed = {"manifest": made, "sha256": hashlib.sha256(body.encode()).hexdigest()}
    with atomic_io.told(folder / MANIFEST):
        (beside / MANIFEST).write_text(json.dumps(signed, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    for path in beside.iterdir():
        with atomic_io.told(folder / path.name):
            atomic_io.sync(path)
    if folder.exists():
        old = folder.with_name(f".{folder.name}.{os.getpid()}.old")
        atomic_io.replace(folder, old)
        try:
            atomic_io.replace(beside, folder)
        except BaseException:
            atomic_io.replace(old, folder)
            raise
        shutil.rmtree(old)
    else:
        atomic_io.replace(beside, folder)
    atomic_io.sync(folder.parent)


def manifest(folder: Path) -> Fields:
    """An artefact's manifest, checked against its own checksum."""
    path = folder / MANIFEST
    if not path.is_file():
        raise InputError(f"{folder}: no artefact here ({MANIFEST} is missing)")
    right = False
    with atomic_io.told(path), contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):
        if path.stat().st_size <= MOST_MANIFEST and not path.is_symlink():
            signed = json.loads(path.read_text(encoding="utf-8"))
            entries = signed["manifest"]
            body = json.dumps(entries, indent=2, sort_keys=True)
            right = signed["sha256"] == hashlib.sha256(body.encode()).hexdigest()
    if not right:
        raise CorruptError(f"{path}: the manifest is torn or altered; delete {folder} to do without it")
    fields = Fields(str(path), entries)
    version = fields.whole("format_version")
    if version != FORMAT_VERSION:
        raise InputError(
            f"{path}: format version {version}; this release reads version {FORMAT_VERSION} (docs/formats.md)"
        )
    fields.text("kind")
    return fields


def read(folder: Path, names: Collection[str] | None = None, *, private: bool = False) -> tuple[Fields, Arrays]:
    """An artefact's manifest and its arrays, memory-mapped; refused unless every checksum agrees.

    With `names`, only these files are looked at. Mappings that are `private` can be written to, in memory alone: compiled
    loops take them for ordinary arrays.
    """
    entries = manifest(folder)
    arrays: dict[str, Array] = {}
    listed = entries.table("files")
    for name in listed:
        if names is not None and name not in names:
            continue
        path, facts = folder / name, listed.table(name)
        if Path(name).name != name or "\\" in name or name in ("", ".", ".."):
            raise CorruptError(f"{folder / MANIFEST}: file {shown(name)}: files of an artefact lie in its folder")
        with atomic_io.told(path):
            if path.is_symlink() or not path.is_file():
                raise CorruptError(f"{path}: missing, or not a plain file; delete {folder} to do without it")
            size, written = path.stat().st_size, facts.whole("bytes")
            if size != written:
                raise CorruptError(
                    f"{path}: {size:,} bytes where {written:,} were written: truncated; delete {folder} to do without it"
                )
            if _known_checksum(path) != facts.text("sha256"):
                raise CorruptError(f"{path}: the checksum does not match; delete {folder} to do without it")
            if path.suffix == ".npy":
                arrays[path.stem] = map_numbers(path, private=private)
    return entries, Arrays(str(folder), arrays)


def text(folder: Path, entries: Fields, name: str) -> str:
    """A file of text that `read` has checked."""
    if name not in entries.table("files"):
        raise CorruptError(f"{folder}: no {name}; it was not written by this release, or was altered")
    return text_files.read_text(folder / name, "file")


def link(source: Path, folder: Path) -> Path:
    """Have an artefact in another place too: by hard links, which take no room, or as a copy where there are none."""
    beside = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    with atomic_io.told(folder):
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir(parents=True)
        try:
            for name in (MANIFEST, *manifest(source).table("files")):
                try:
                    os.link(source / name, beside / name)
                except OSError:
                    shutil.copyfile(source / name, beside / name)
            atomic_io.replace(beside, folder)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    return folder


def remove(folder: Path) -> None:
    """Remove an artefact, where it is there. A process that is killed meanwhile leaves nothing half-removed of its name."""
    away = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    shutil.rmtree(away, ignore_errors=True)
    with contextlib.suppress(FileNotFoundError):
        folder.rename(away)
    shutil.rmtree(away, ignore_errors=True)


def discard_leftovers(folder: Path) -> None:
    """Remove what a killed writer has left beside its artefacts. What it was about to replace comes back."""
    for path in folder.glob(".*.tmp"):
        shutil.rmtree(path, ignore_errors=True)
    for path in folder.glob(".*.old"):
        replaced = path.with_name(path.name[1:].removesuffix(".old").rpartition(".")[0])
        if (path / MANIFEST).is_file() and not replaced.exists():
            path.rename(replaced)  # killed between two renames: the new one was not there yet
        else:
            shutil.rmtree(path, ignore_errors=True)
