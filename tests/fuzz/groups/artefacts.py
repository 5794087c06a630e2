"""Artifact folders that are truncated, altered or of another kind."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..case import ACCEPTED_OR_REJECTED, REJECTED, Case, said, some

SHOW = ("show", "copy")
COMMANDS: dict[str, list[tuple[str, tuple[str, ...]]]] = {
    "kuhn": [
        ("show", SHOW),
        ("export", ("export", "copy")),
        ("exploitability", ("exploitability", "copy")),
        ("respond", ("respond", "copy")),
        ("resume", ("solve", "kuhn", "--iterations", "30", "--out", "copy", "--resume")),
    ],
    "lp": [("show", SHOW), ("exploitability", ("exploitability", "copy"))],
    "river": [
        ("show", SHOW),
        ("show root", ("show", "copy", "root")),
        ("export", ("export", "copy")),
        ("resume", ("solve", "../world/river.toml", "--iterations", "30", "--out", "copy", "--resume")),
    ],
    "blueprint": [
        ("show", SHOW),
        ("show root", ("show", "copy", "root")),
        ("act", ("act", "copy", "MATCHSTATE:0:0:r:Ks|", "--game", "leduc")),
    ],
    "training": [
        ("show", SHOW),
        ("resume", ("train", "../world/leduc.toml", "--iterations", "300", "--out", "copy", "--resume")),
    ],
    "cards": [("show", SHOW)],
}


def cases() -> Iterator[Case]:
    """Damaged files, damaged manifests, and manifests with valid checksums and wrong values."""
    for kind, commands in COMMANDS.items():
        for name, words in commands:
            for label, change in DAMAGE.items():
                yield Case("artefacts", f"{kind}: {name}, {label}", words, copy=kind, change=change)
            for label in some(MANIFESTS, 6, f"{kind} {name}"):
                change = MANIFESTS[label]
                yield Case("artefacts", f"{kind}: {name}, manifest {label}", words, copy=kind, change=change)
        name, words = commands[0]
        for key in said(
            "kind game rebuild fingerprint table provenance files unit state history rules menu "
            "abstraction counts deck deals game_file"
        ):
            for label in some(FORGED, 3, f"{kind} {key}"):
                yield Case(
                    "forged",
                    f"{kind}: {key} {label}",
                    words,
                    ACCEPTED_OR_REJECTED,
                    copy=kind,
                    change=_forge(key, FORGED[label]),
                )
    yield from _resumed()


# --- damage -----------------------------------------------------------------------------------


def newest(copy: Path) -> Path:
    """The folder with the manifest that a command reads."""
    if (copy / "manifest.json").exists():
        return copy
    if (copy / "strategy").is_dir():
        return copy / "strategy"
    return sorted(copy.glob("checkpoint-*"))[-1]


def every(copy: Path) -> list[Path]:
    """All folders with a manifest: resuming and reading use different ones."""
    return sorted(path.parent for path in copy.rglob("manifest.json"))


def _to_arrays(change: Callable[[Path], None]) -> Callable[[Path], None]:
    def damage(copy: Path) -> None:
        for folder in every(copy):
            for path in sorted(folder.glob("*.npy")):
                change(path)

    return damage


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 0xFF
    path.write_bytes(bytes(data))


def _into_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGE: dict[str, Callable[[Path], None]] = {
    "arrays torn": _to_arrays(lambda path: path.write_bytes(path.read_bytes()[:-1])),
    "arrays empty": _to_arrays(lambda path: path.write_bytes(b"")),
    "arrays gone": _to_arrays(lambda path: path.unlink()),
    "a bit flipped": _to_arrays(_flip),
    "arrays longer": _to_arrays(lambda path: path.write_bytes(path.read_bytes() + b"x")),
    "arrays are folders": _to_arrays(_into_folder),
}


def _to_manifests(change: Callable[[Path], None]) -> Callable[[Path], None]:
    def damage(copy: Path) -> None:
        for folder in every(copy):
            change(folder / "manifest.json")

    return damage


def _text(text: str | bytes) -> Callable[[Path], None]:
    return _to_manifests(lambda path: path.write_bytes(text.encode() if isinstance(text, str) else text) and None)  # type: ignore[func-returns-value]


MANIFESTS: dict[str, Callable[[Path], None]] = {
    "torn": _to_manifests(lambda path: path.write_bytes(path.read_bytes()[:-20])),
    "empty": _text(""),
    "{}": _text("{}"),
    "null": _text("null"),
    "a list": _text("[]"),
    "a number": _text("3"),
    "binary": _text(bytes(range(256))),
    "nested": _text("[" * 100_000),
    "of nothing": _text('{"manifest": null, "sha256": null}'),
    "gone": _to_manifests(lambda path: path.unlink()),
    "a folder": _to_manifests(_into_folder),
    "altered": _to_manifests(lambda path: path.write_text(path.read_text().replace('"files"', '"filez"', 1)) and None),  # type: ignore[func-returns-value]
    "of another version": lambda copy: _forge("format_version", 99)(copy),
    "of a version in words": lambda copy: _forge("format_version", "one")(copy),
}


# --- forgery ----------------------------------------------------------------------------------

GONE = object()
FORGED: dict[str, Any] = {
    "gone": GONE,
    "null": None,
    "number": 7,
    "text": "zzz",
    "list": [],
    "table": {},
    "list of lists": [[1, [2]]],
    "path": "../../../etc/passwd",
    "code": "os:getcwd",
    "long": "z" * 5000,
    "tag": "[/red]",
}


def _forge(key: str, value: Any) -> Callable[[Path], None]:
    """Replace a value in every manifest, with a valid checksum."""

    def change(copy: Path) -> None:
        for folder in every(copy):
            path = folder / "manifest.json"
            result = json.loads(path.read_text())["manifest"]
            if value is GONE:
                result.pop(key, None)
            else:
                result[key] = value
            body = json.dumps(result, indent=2, sort_keys=True)
            signed = {"manifest": result, "sha256": hashlib.sha256(body.encode()).hexdigest()}
            path.write_text(json.dumps(signed, indent=2, sort_keys=True) + "\n")

    return change


# --- invalid resumes ----------------------------------------------------------


def _resumed() -> Iterator[Case]:
    """`--resume` with another game, schedule, seed or kind of folder."""
    kuhn = ("--iterations", "30", "--resume", "--out")
    for label, words, folder in [
        ("another game", ("solve", "leduc", *kuhn, "copy"), "kuhn"),
        ("another size", ("solve", "kuhn:cards=4", *kuhn, "copy"), "kuhn"),
        ("another schedule", ("solve", "kuhn", "--schedule", "cfr+", *kuhn, "copy"), "kuhn"),
        ("another traversal", ("solve", "kuhn", "--traversal", "external", *kuhn, "copy"), "kuhn"),
        ("another seed", ("solve", "kuhn", "--seed", "3", *kuhn, "copy"), "kuhn"),
        ("another dtype", ("solve", "kuhn", "--dtype", "float32", *kuhn, "copy"), "kuhn"),
        ("another method", ("solve", "kuhn", "--method", "lp", *kuhn, "copy"), "kuhn"),
        ("two schedules", ("solve", "kuhn", "--schedule", "dcfr", "--schedule", "cfr+", *kuhn, "copy"), "kuhn"),
        ("a strategy", ("solve", "kuhn", *kuhn, "copy"), "lp"),
        ("a spot as kuhn", ("solve", "kuhn", *kuhn, "copy"), "river"),
        ("kuhn as a spot", ("solve", "../world/river.toml", *kuhn, "copy"), "kuhn"),
        ("another spot", ("solve", "../world/turn.toml", *kuhn, "copy"), "river"),
        ("another dtype of a spot", ("solve", "../world/river.toml", "--dtype", "float64", *kuhn, "copy"), "river"),
        ("a blueprint as kuhn", ("solve", "kuhn", *kuhn, "copy"), "blueprint"),
        ("cards as kuhn", ("solve", "kuhn", *kuhn, "copy"), "cards"),
        ("training as kuhn", ("solve", "kuhn", *kuhn, "copy"), "training"),
        ("kuhn as training", ("train", "../world/leduc.toml", *kuhn, "copy"), "kuhn"),
        ("cards as training", ("train", "../world/leduc.toml", *kuhn, "copy"), "cards"),
        (
            "training, another game",
            ("train", "../world/training.toml", "--abstraction", "lossless", *kuhn, "copy"),
            "training",
        ),
        (
            "training, another seed",
            ("train", "../world/leduc.toml", "--seed", "5", "--iterations", "300", "--resume", "--out", "copy"),
            "training",
        ),
        (
            "a spot as boards",
            ("solve", "../world/river.toml", "--boards", "../world/boards.txt", *kuhn, "copy"),
            "river",
        ),
        ("cards as a recipe", ("abstract", "../world/cards.toml", "--resume", "--out", "copy"), "kuhn"),
    ]:
        yield Case("resume", label, words, REJECTED, copy=folder)
    yield Case(
        "resume",
        "only the last checkpoint is torn",
        ("solve", "kuhn", *kuhn, "copy"),
        REJECTED,
        copy="kuhn",
        change=_torn,
    )


def _torn(copy: Path) -> None:
    """A complete checkpoint, and a newer one without its arrays."""
    last = newest(copy)
    later = copy / "checkpoint-000000000099"
    shutil.copytree(last, later)
    for path in later.glob("*.npy"):
        path.write_bytes(b"")
