"""Artefacts on disk: a folder with `manifest.json`, `.npy` files that can be memory-mapped, and checksums.

A folder is written beside its place and renamed into it, so that what bears the name is whole. Readers
check every file against the manifest before they use it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from riverboat import disk
from riverboat.arrays import Array
from riverboat.errors import CorruptError, DiskError, InputError

FORMAT_VERSION = 1
MANIFEST = "manifest.json"


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write(
    folder: Path,
    kind: str,
    arrays: Mapping[str, Array],
    meta: Mapping[str, Any],
    texts: Mapping[str, str] | None = None,
) -> Path:
    """Write an artefact; the folder appears whole or not at all, and replaces an older one."""
    beside = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    try:
        with disk.told(folder):
            _write(folder, beside, kind, arrays, meta, texts or {})
    finally:
        shutil.rmtree(beside, ignore_errors=True)  # where it was not renamed: no room is taken by what is of no use
    return folder


def _write(
    folder: Path,
    beside: Path,
    kind: str,
    arrays: Mapping[str, Array],
    meta: Mapping[str, Any],
    texts: Mapping[str, str],
) -> None:
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MANIFEST).is_file():
        raise InputError(f"{folder}: holds other files, which would be lost; choose another folder")
    if folder.exists() and not folder.is_dir():
        raise DiskError(f"{folder}: is a file, and a folder is to be written")
    folder.parent.mkdir(parents=True, exist_ok=True)
    if beside.exists():
        shutil.rmtree(beside)
    beside.mkdir()
    files = {}
    for name, array in arrays.items():
        np.save(beside / f"{name}.npy", np.ascontiguousarray(array), allow_pickle=False)
        files[f"{name}.npy"] = array.nbytes
    for name, text in texts.items():
        (beside / name).write_text(text, encoding="utf-8", newline="")
        files[name] = len(text)
    manifest = {
        "format_version": FORMAT_VERSION,
        "kind": kind,
        **meta,
        "files": {
            name: {"sha256": _checksum(beside / name), "bytes": (beside / name).stat().st_size} for name in files
        },
    }
    body = json.dumps(manifest, indent=2, sort_keys=True)
    signed = {"manifest": manifest, "sha256": hashlib.sha256(body.encode()).hexdigest()}
    (beside / MANIFEST).write_text(json.dumps(signed, indent=2, sort_keys=True) + "\n")
    for path in beside.iterdir():
        disk.sync(path)
    if folder.exists():
        old = folder.with_name(f".{folder.name}.{os.getpid()}.old")
        folder.rename(old)
        beside.rename(folder)
        shutil.rmtree(old)
    else:
        beside.rename(folder)
    disk.sync(folder.parent)


def manifest(folder: Path) -> dict[str, Any]:
    """An artefact's manifest, checked against its own checksum."""
    path = folder / MANIFEST
    if not path.is_file():
        raise InputError(f"{folder}: no artefact here ({MANIFEST} is missing)")
    try:
        signed = json.loads(path.read_text())
        found: dict[str, Any] = signed["manifest"]
        body = json.dumps(found, indent=2, sort_keys=True)
        right = signed["sha256"] == hashlib.sha256(body.encode()).hexdigest()
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError):
        right = False
    if not right:
        raise CorruptError(f"{path}: the manifest is torn or altered; delete {folder} to do without it")
    if found["format_version"] != FORMAT_VERSION:
        raise InputError(
            f"{path}: format version {found['format_version']}; this release reads version {FORMAT_VERSION} (docs/formats.md)"
        )
    return found


def read(folder: Path, names: Collection[str] | None = None) -> tuple[dict[str, Any], dict[str, Array]]:
    """An artefact's manifest and its arrays, memory-mapped; refused unless every checksum agrees.

    With `names`, only these files are looked at.
    """
    found = manifest(folder)
    arrays: dict[str, Array] = {}
    for name, facts in found["files"].items():
        if names is not None and name not in names:
            continue
        path = folder / name
        if not path.is_file():
            raise CorruptError(f"{path}: missing; delete {folder} to do without it")
        size = path.stat().st_size
        if size != facts["bytes"]:
            raise CorruptError(
                f"{path}: {size:,} bytes where {facts['bytes']:,} were written: truncated; delete {folder} to do without it"
            )
        if _checksum(path) != facts["sha256"]:
            raise CorruptError(f"{path}: the checksum does not match; delete {folder} to do without it")
        if path.suffix == ".npy":
            arrays[path.stem] = np.load(path, mmap_mode="r", allow_pickle=False)
    return found, arrays


def discard_leftovers(folder: Path) -> None:
    """Remove what a killed writer has left beside its artefacts."""
    for path in folder.glob(".*.tmp"):
        shutil.rmtree(path, ignore_errors=True)
    for path in folder.glob(".*.old"):
        shutil.rmtree(path, ignore_errors=True)
