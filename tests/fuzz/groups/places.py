"""Paths: a folder instead of a file, a file instead of a folder, paths that do not exist or cannot be written."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from ..case import ACCEPTED_OR_REJECTED, DONE, REJECTED, Case, of_the_system, said

KUHN = ("solve", "kuhn", "--iterations", "2")
RIVER = ("solve", "../world/river.toml", "--iterations", "2")

# Output options, and the suffixes of their paths.
FILES: dict[str, tuple[tuple[str, ...], str]] = {
    "solve --log": ((*KUHN, "--log", "?"), ".jsonl"),
    "solve --plot": ((*KUHN, "--plot", "?"), ".png"),
    "river --log": ((*RIVER, "--log", "?"), ".jsonl"),
    "river --plot": ((*RIVER, "--plot", "?"), ".png"),
    "show --picture": (("show", "../world/river", "root", "--picture", "?"), ".png"),
    "export --out": (("export", "../world/river", "--out", "?"), ".csv"),
    "kuhn export --out": (("export", "../world/kuhn", "--out", "?"), ".json"),
    "trace --svg": (("trace", "kuhn", "--svg", "?"), ".svg"),
    "range --out": (("range", "QQ+", "--out", "?"), ".png"),
    "match --histories": (
        ("match", "always-call", "always-fold", "--game", "nolimit-200bb", "--hands", "4", "--histories", "?"),
        ".phhs",
    ),
    "explain --out": (("explain", "../world/kuhn", "--player", "1", "--method", "list", "--out", "?"), ".rules"),
    "explain --plot": (("explain", "../world/kuhn", "--player", "1", "--method", "list", "--plot", "?"), ".png"),
    "reproduce --plot": (("reproduce", "emd-example", "--plot", "?"), ".png"),
    "reproduce --docs": (("reproduce", "emd-example", "--docs", "?"), ".md"),
}
FOLDERS: dict[str, tuple[str, ...]] = {
    "solve --out": (*KUHN, "--out", "?"),
    "lp --out": ("solve", "kuhn", "--method", "lp", "--out", "?"),
    "river --out": (*RIVER, "--out", "?"),
    "boards --out": (*RIVER, "--boards", "../world/boards.txt", "--out", "?"),
    "respond --out": ("respond", "../world/kuhn", "--player", "0", "--out", "?"),
    "ship --out": ("ship", "../world/blueprint", "--out", "?"),
    "lbr --out": said("lbr always-fold --game leduc --hands 8 --out ?"),
    "train --out": ("train", "../world/leduc.toml", "--iterations", "2", "--out", "?"),
}
READ: dict[str, tuple[str, ...]] = {
    "show": ("show", "?"),
    "show a line": ("show", "?", "root"),
    "export": ("export", "?"),
    "exploitability": ("exploitability", "?"),
    "explain": ("explain", "?"),
    "respond": ("respond", "?"),
    "resume": (*KUHN, "--resume", "--out", "?"),
    "train --abstraction": said("train ../world/training.toml --iterations 2 --out run --abstraction ?"),
    "ship": ("ship", "?", "--out", "shipped"),
    "record": ("online", "always-call", "--hands", "2", "--replay", "?"),
    "begin": said("train ../world/leduc.toml --iterations 2 --out run --begin ?"),
    "agent": ("act", "?", "MATCHSTATE:0:0:r:Ks|", "--game", "leduc"),
    "spot": ("solve", "?.toml", "--iterations", "2"),
    "efg": ("solve", "?.efg", "--iterations", "2"),
    "range": ("range", "@?"),
    "recipe": ("abstract", "?.toml", "--estimate"),
    "boards": (*RIVER, "--boards", "?"),
}


def cases() -> Iterator[Case]:
    """Output paths and input paths."""
    either = REJECTED | of_the_system()
    for name, (words, suffix) in FILES.items():
        for label, place in {
            "a folder": f"folder{suffix}",
            "below a file": f"file/x{suffix}",
            "below a file, deep": f"file/a/b/x{suffix}",
            "a long name": "n" * 300 + suffix,
            "a long path": "p/" * 3000 + f"x{suffix}",
            "empty": "",
        }.items():
            made = {"file": "kept\n", f"folder{suffix}/kept": "kept\n"}
            yield Case("places", f"{name} {label}", _at(words, place), either, made)
        if suffix == ".png":
            for label, place in {"an unknown kind": "x.doc", "no kind": "picture", "a dot": "x."}.items():
                yield Case("places", f"{name} {label}", _at(words, place))
        for label, place in {
            "new folders": f"a/b/x{suffix}",
            "spaces": f"a folder/a name{suffix}",
            "unicode": f"Ordner ♠{suffix}",
            "a tag": f"[red]x{suffix}",
        }.items():
            yield Case("good places", f"{name} {label}", _at(words, place), DONE)
        if sys.platform == "linux" and suffix in (".jsonl", ".csv", ".json", ".phhs"):
            yield Case("places", f"{name} a full disk", _at(words, f"full{suffix}"), either, change=_full(suffix))
    for name, words in FOLDERS.items():
        for label, place in {
            "a file": "file",
            "below a file": "file/x",
            "a long name": "n" * 300,
            "a long path": "p/" * 3000,
        }.items():
            yield Case("places", f"{name} {label}", _at(words, place), either, {"file": "kept\n"})
        for label, place in {
            "new folders": "a/b/c",
            "spaces": "a folder/of mine",
            "unicode": "Ordner ♠",
            "a tag": "[red]x",
        }.items():
            yield Case("good places", f"{name} {label}", _at(words, place), DONE)
    for name, words in READ.items():
        for label, place in {
            "nowhere": "nowhere",
            "empty": "",
            "a folder": "folder",
            "a file": "file",
            "below a file": "file/x",
            "a long path": "p/" * 3000,
            "a loop": "loop",
        }.items():
            anew = name == "resume" and label in ("nowhere", "empty", "a folder")  # without a run, resume starts one
            yield Case(
                "places",
                f"{name} {label}",
                _at(words, place),
                ACCEPTED_OR_REJECTED if anew else either,
                {"file": "kept\n", "folder/kept": "kept\n"},
                change=_loop if label == "a loop" else None,
            )
    yield from _occupied()
    yield Case("places", "show, no line, closed later", ("show", "../world/kuhn", "--json"), DONE)


def _at(words: tuple[str, ...], place: str) -> tuple[str, ...]:
    return tuple(word.replace("?", place) for word in words)


def _loop(here: Path) -> None:
    """A link to itself."""
    for suffix in ("", ".toml", ".efg"):
        (here / f"loop{suffix}").symlink_to(f"loop{suffix}")


def _full(suffix: str) -> Callable[[Path], None]:
    """A link to the device without space: replacing a file atomically must not replace the device itself."""
    return lambda here: (here / f"full{suffix}").symlink_to("/dev/full")


def _occupied() -> Iterator[Case]:
    """Folders that are not empty: nothing in them may be lost."""
    for name, words in FOLDERS.items():
        for kind in ("kuhn", "lp", "river", "training", "blueprint", "cards"):
            yield Case("places", f"{name} over {kind}", _at(words, "copy"), REJECTED, copy=kind)
        yield Case(
            "places",
            f"{name} over other files",
            _at(words, "folder"),
            ACCEPTED_OR_REJECTED,
            {"folder/mine.txt": "mine\n"},
        )
