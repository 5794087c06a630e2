"""Artifacts on disk: folders with `manifest.json`, memory-mapped `.npy` files, and checksums.

A folder is written under a temporary name next to its target and then renamed, so that a folder of the final name is
always complete. Readers verify every file against the manifest before they use it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from riverboat import __version__
from riverboat.core import files as core_files
from riverboat.core.arrays import Array, map_npy, write_npy
from riverboat.core.cache import LRUCache
from riverboat.core.errors import CorruptError, DiskError, InputError, short_repr
from riverboat.core.schema import ArtifactArrays, FileEntries

FORMAT_VERSION = 1
MANIFEST = "manifest.json"
MAX_MANIFEST_BYTES = 64 << 20
T = TypeVar("T")


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


_CHECKSUM_CACHE: LRUCache[str] = LRUCache(4096)  # checksums that this process has computed, by path and `file_stamp`


def file_stamp(path: Path) -> tuple[int, int, int, int]:
    """Return the identity, size and modification time of a file, which change when its content does.

    Parameters
    ----------
    path
        An existing file.

    Returns
    -------
    tuple of int
        Device, inode, size in bytes, and modification time in nanoseconds.

    Examples
    --------
    >>> file_stamp(Path(__file__)) == file_stamp(Path(__file__))
    True
    """
    stat = path.stat()
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns


class ArtifactCache(Generic[T]):
    """Cache of the last few objects made from artifacts, invalidated when a file changes.

    Parameters
    ----------
    max_entries
        Number of objects that are held.

    Examples
    --------
    >>> import tempfile
    >>> cache = ArtifactCache[str](2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cache.get(Path(folder), lambda: "made"), cache.get(Path(folder), lambda: "made again")
    ('made', 'made')
    """

    def __init__(self, max_entries: int) -> None:
        self._objects: LRUCache[T] = LRUCache(max_entries)

    def get(self, folder: Path, make: Callable[[], T], *others: Path) -> T:
        """Return the object made from a folder (and perhaps others); evict the oldest entries beyond the limit.

        Parameters
        ----------
        folder
            Folder of the artifact.
        make
            Called to make the object if it is not cached, or if a file of the folders has changed.
        *others
            Further folders that the object depends on.
        """
        try:
            paths = [path for parent in (folder, *others) if parent.is_dir() for path in parent.iterdir()]
            key = folder.absolute(), tuple(sorted(file_stamp(path) for path in paths if path.is_file()))
        except OSError:  # a run has replaced the checkpoint by a newer one
            return make()
        return self._objects.get_or_compute(key, make)


def write(
    folder: Path,
    kind: str,
    arrays: Mapping[str, Array],
    meta: Mapping[str, Any],
    text_files: Mapping[str, str] | None = None,
) -> Path:
    """Write an artifact atomically: the folder appears complete or not at all, and replaces an older one.

    Parameters
    ----------
    folder
        Folder of the artifact; its parents are created.
    kind
        Kind of the artifact, such as `solution`.
    arrays
        Arrays by name; each becomes a `.npy` file.
    meta
        Further entries of the manifest, as JSON allows them.
    text_files
        Texts by file name.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    InputError
        The folder holds an artifact of another kind, or other files.
    DiskError
        The folder is a file, or the operating system rejects a file access.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as home:
    ...     folder = write(Path(home) / "example", "example", {"values": np.arange(3)}, {"game": "kuhn"})
    ...     entries, arrays = read(folder)
    ...     entries.text("game"), arrays["values"].tolist()
    ('kuhn', [0, 1, 2])
    """
    draft = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    try:
        with core_files.disk_errors(folder):
            _check_replaceable(folder, kind)
            folder.parent.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(draft, ignore_errors=True)
            draft.mkdir()
            for name, array in arrays.items():
                with core_files.disk_errors(folder / f"{name}.npy"):
                    write_npy(draft / f"{name}.npy", array)
            for name, text in (text_files or {}).items():
                with core_files.disk_errors(folder / name):
                    (draft / name).write_text(text, encoding="utf-8", newline="")
            with core_files.disk_errors(folder / MANIFEST):
                _write_manifest(draft, {"kind": kind, **meta})
            for path in draft.iterdir():
                with core_files.disk_errors(folder / path.name):
                    core_files.sync_file(path)
            _move_into_place(draft, folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)  # if it was not renamed: do not leave a useless copy on the disk
    return folder


def _check_replaceable(folder: Path, kind: str) -> None:
    """Raise an error if writing an artifact to a folder would lose other files, or if the folder is a file."""
    if (folder / MANIFEST).is_file():
        with contextlib.suppress(CorruptError):  # an unreadable manifest can be overwritten
            old_kind = read_manifest(folder).get("kind")
            if old_kind != kind:
                raise InputError(f"{folder}: holds a {old_kind}, which would be lost; choose another folder")
    elif folder.is_dir() and any(folder.iterdir()):
        raise InputError(f"{folder}: holds other files, which would be lost; choose another folder")
    if folder.exists() and not folder.is_dir():
        raise DiskError(f"{folder}: is a file, but must be a folder")


def _write_manifest(folder: Path, entries: Mapping[str, Any]) -> None:
    """Write the manifest of a folder that holds all other files already."""
    files = {path.name: {"sha256": _checksum(path), "bytes": path.stat().st_size} for path in folder.iterdir()}
    manifest = {"format_version": FORMAT_VERSION, "version": __version__, **entries, "files": files}
    body = json.dumps(manifest, indent=2, sort_keys=True)
    signed = {"manifest": manifest, "sha256": hashlib.sha256(body.encode()).hexdigest()}
    (folder / MANIFEST).write_text(json.dumps(signed, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def _move_into_place(draft: Path, folder: Path) -> None:
    """Rename a complete draft to its folder; an older folder is restored if that fails."""
    if folder.exists():
        old = folder.with_name(f".{folder.name}.{os.getpid()}.old")
        core_files.replace(folder, old)
        try:
            core_files.replace(draft, folder)
        except BaseException:
            core_files.replace(old, folder)
            raise
        shutil.rmtree(old)
    else:
        core_files.replace(draft, folder)
    core_files.sync_file(folder.parent)


def read_manifest(folder: Path) -> FileEntries:
    """Read the manifest of an artifact and verify it against its own checksum.

    Parameters
    ----------
    folder
        Folder of the artifact.

    Returns
    -------
    FileEntries
        The entries, with `format_version` and `kind` already checked.

    Raises
    ------
    InputError
        There is no manifest, or it has a format version of another release.
    CorruptError
        The manifest is torn or altered.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home:
    ...     read_manifest(write(Path(home) / "example", "example", {}, {})).text("kind")
    'example'
    """
    path = folder / MANIFEST
    if not path.is_file():
        raise InputError(f"{folder}: no artifact here ({MANIFEST} is missing)")
    is_valid = False
    with core_files.disk_errors(path), contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):
        if path.stat().st_size <= MAX_MANIFEST_BYTES and not path.is_symlink():
            signed = json.loads(path.read_text(encoding="utf-8"))
            entries = signed["manifest"]
            body = json.dumps(entries, indent=2, sort_keys=True)
            is_valid = signed["sha256"] == hashlib.sha256(body.encode()).hexdigest()
    if not is_valid:
        raise CorruptError(f"{path}: the manifest is torn or altered; delete {folder} to do without it")
    fields = FileEntries(str(path), entries)
    version = fields.integer("format_version")
    if version != FORMAT_VERSION:
        raise InputError(
            f"{path}: format version {version}; this release reads version {FORMAT_VERSION} (docs/formats.md)"
        )
    fields.text("kind")
    return fields


def read(
    folder: Path, names: Collection[str] | None = None, *, private: bool = False
) -> tuple[FileEntries, ArtifactArrays]:
    """Read the manifest and the memory-mapped arrays of an artifact, after verifying all checksums.

    Parameters
    ----------
    folder
        Folder of the artifact.
    names
        Names of the files to read, such as `values.npy`; all by default.
    private
        Whether the mappings are writable. Writes stay in memory, and compiled loops treat such arrays as ordinary ones.

    Returns
    -------
    tuple of FileEntries and ArtifactArrays
        The manifest, and the arrays by name.

    Raises
    ------
    InputError
        There is no artifact in the folder.
    CorruptError
        A file is missing, truncated or altered.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as home:
    ...     entries, arrays = read(write(Path(home) / "example", "example", {"values": np.arange(3)}, {}), private=True)
    ...     arrays["values"] += 1
    ...     arrays["values"].tolist()
    [1, 2, 3]
    """
    entries = read_manifest(folder)
    arrays: dict[str, Array] = {}
    hint = f"delete {folder} to do without it"
    listed = entries.table("files")
    for name in listed:
        if names is not None and name not in names:
            continue
        path, entry = folder / name, listed.table(name)
        if Path(name).name != name or "\\" in name or name in ("", ".", ".."):
            raise CorruptError(
                f"{folder / MANIFEST}: file {short_repr(name)}: files of an artifact must be in its folder"
            )
        with core_files.disk_errors(path):
            if path.is_symlink() or not path.is_file():
                raise CorruptError(f"{path}: missing, or not a plain file; {hint}")
            size, expected = path.stat().st_size, entry.integer("bytes")
            if size != expected:
                raise CorruptError(f"{path}: {size:,} bytes where {expected:,} were written: truncated; {hint}")
            checksum = _CHECKSUM_CACHE.get_or_compute((path.absolute(), file_stamp(path)), partial(_checksum, path))
            if checksum != entry.text("sha256"):
                raise CorruptError(f"{path}: the checksum does not match; {hint}")
            if path.suffix == ".npy":
                arrays[path.stem] = map_npy(path, private=private)
    return entries, ArtifactArrays(str(folder), arrays)


def read_text_file(folder: Path, entries: FileEntries, name: str) -> str:
    """Read a text file of an artifact that `read` has verified.

    Parameters
    ----------
    folder
        Folder of the artifact.
    entries
        Its manifest.
    name
        Name of the file.

    Returns
    -------
    str
        The text.

    Raises
    ------
    CorruptError
        The manifest does not list the file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home:
    ...     folder = write(Path(home) / "example", "example", {}, {}, {"spot.toml": "pot = 180"})
    ...     read_text_file(folder, read(folder)[0], "spot.toml")
    'pot = 180'
    """
    if name not in entries.table("files"):
        raise CorruptError(f"{folder}: no {name}; it was not written by this release, or was altered")
    return core_files.read_text(folder / name, "file")


def link(source: Path, folder: Path) -> Path:
    """Make an artifact available in a second folder, by hard links or, where there are none, by copies.

    Parameters
    ----------
    source
        Folder of the artifact.
    folder
        The second folder, which must not exist.

    Returns
    -------
    Path
        The second folder.

    Raises
    ------
    InputError, CorruptError
        The manifest of the artifact is missing or damaged.
    DiskError
        The operating system rejects a file access.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home:
    ...     first = write(Path(home) / "first", "example", {}, {})
    ...     read_manifest(link(first, Path(home) / "second")).text("kind")
    'example'
    """
    draft = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    with core_files.disk_errors(folder):
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        try:
            for name in (MANIFEST, *read_manifest(source).table("files")):
                try:
                    os.link(source / name, draft / name)
                except OSError:
                    shutil.copyfile(source / name, draft / name)
            core_files.replace(draft, folder)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return folder


def remove(folder: Path) -> None:
    """Remove an artifact if it exists.

    A process killed in between leaves no half-removed folder under that name.

    Parameters
    ----------
    folder
        Folder of the artifact.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home:
    ...     folder = write(Path(home) / "example", "example", {}, {})
    ...     remove(folder)
    ...     folder.exists()
    False
    """
    doomed = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    shutil.rmtree(doomed, ignore_errors=True)
    with contextlib.suppress(FileNotFoundError):
        folder.rename(doomed)
    shutil.rmtree(doomed, ignore_errors=True)


def discard_leftovers(folder: Path) -> None:
    """Remove temporary folders of killed writers, and restore an artifact that was about to be replaced.

    Parameters
    ----------
    folder
        Folder that contains artifacts.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home:
    ...     (Path(home) / ".run.1.tmp").mkdir()
    ...     discard_leftovers(Path(home))
    ...     list(Path(home).iterdir())
    []
    """
    for path in folder.glob(".*.tmp"):
        shutil.rmtree(path, ignore_errors=True)
    for path in folder.glob(".*.old"):
        replaced = path.with_name(path.name[1:].removesuffix(".old").rpartition(".")[0])
        if (path / MANIFEST).is_file() and not replaced.exists():
            path.rename(replaced)  # killed between two renames: the new one was not there yet
        else:
            shutil.rmtree(path, ignore_errors=True)
