"""Text files of users: every reader skips a byte-order mark and rejects files that are too large, too deep or no text."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from riverboat.abstraction.recipe import load_recipe
from riverboat.api.boards import read_boards
from riverboat.cards.ranges import Range
from riverboat.continuous import game_file as continuous_file
from riverboat.core.errors import InputError, join_names, short_repr, unknown_name_error
from riverboat.core.files import MAX_TOML_BYTES, MAX_TOML_DEPTH, parse_toml, read_text
from riverboat.formats import spot_file
from riverboat.formats.gambit import load_efg, load_nfg
from riverboat.games.holdem.menus import load_menu
from riverboat.games.holdem.rules import read_game
from riverboat.solvers.mccfr.recipe import load_train_recipe

PACKAGE = Path(__file__).parents[2] / "src" / "riverboat"
SPOT = 'board = "QsJh2h"\npot = 10\nstack = 20\n[ranges]\noop = "AA"\nip = "KK"\n[bets]\nflop = { bet = "50%" }\n'

READERS: dict[str, tuple[str, Callable[[Path], Any], str]] = {
    "spot": (".toml", spot_file.load, SPOT),
    "recipe": (".toml", load_recipe, (PACKAGE / "abstraction" / "recipes" / "tiny.toml").read_text()),
    "train recipe": (".toml", load_train_recipe, (PACKAGE / "solvers" / "mccfr" / "recipes" / "demo.toml").read_text()),
    "menu": (".toml", load_menu, '[menu]\npreflop = "100%, a"\n'),
    "continuous": (".toml", continuous_file.load, "[river]\npot = 2\n"),
    "range": (".txt", lambda path: Range.parse(f"@{path}"), "AA, AKs:0.5\n"),
    "boards": (".txt", lambda path: read_boards(str(path)), "QsJh2h 12\nQsJh3h\n"),
    "acpc": (".game", read_game, "GAMEDEF\nlimit\nnumPlayers = 2\nnumRounds = 1\nblind = 1 1\nraiseSize = 1\nmaxRaises = 1\n"
             "numSuits = 1\nnumRanks = 3\nnumHoleCards = 1\nEND GAMEDEF\n"),
    "efg": (".efg", load_efg, 'EFG 2 R "x" { "a" "b" }\nt "" 1 "o" { 1, -1 }\n'),
    "nfg": (".nfg", load_nfg, 'NFG 1 R "x" { "a" "b" } { 1 1 }\n1 -1\n'),
}  # fmt: skip
TOML = [name for name, (suffix, _, _) in READERS.items() if suffix == ".toml"]


def write(folder: Path, name: str, text: str | bytes) -> tuple[Path, Callable[[Path], Any]]:
    suffix, reader, _ = READERS[name]
    path = folder / f"given{suffix}"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path, reader


@pytest.mark.parametrize("name", READERS)
def test_byte_order_marks_and_line_ends_do_not_matter(name: str, tmp_path: Path) -> None:
    text = READERS[name][2]
    plain = repr(READERS[name][1](write(tmp_path, name, text)[0]))
    for other in (f"\ufeff{text}", text.replace("\n", "\r\n"), "\ufeff" + text.replace("\n", "\r\n")):
        path, reader = write(tmp_path, name, other)
        assert repr(reader(path)) == plain


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("content", [b"\xff\xfe\x00\x01\x80", b"\x80\x81\x82"], ids=["utf-16", "bytes"])
def test_binary_files_are_rejected(name: str, content: bytes, tmp_path: Path) -> None:
    path, reader = write(tmp_path, name, content)
    with pytest.raises(InputError, match=r"given\.") as caught:
        reader(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [n for n in READERS if n not in ("recipe", "train recipe")])
def test_a_folder_and_a_missing_file_are_named(name: str, tmp_path: Path) -> None:
    suffix, reader, _ = READERS[name]
    with pytest.raises(InputError, match="nowhere"):
        reader(tmp_path / f"nowhere{suffix}")
    folder = tmp_path / f"folder{suffix}"
    folder.mkdir()
    with pytest.raises(InputError, match=r"folder\."):
        reader(folder)


DEEP = {
    "lists": "a = " + "[" * 5000 + "]" * 5000,
    "tables": "a = " + "{ b = " * 5000 + "1" + " }" * 5000,
    "few lists": "a = " + "[" * 40 + "]" * 40,
    "headers": "[" + ".".join("a" * 60_000) + "]",
    "keys": ".".join("a" * 60_000) + " = 1",
    "quoted keys": " . ".join(['"$"'] * 60_000) + " = 1",
    "spaced keys": " . ".join("a" * 60_000) + " = 1",
    "keys inside": "x = { " + ".".join("a" * 60_000) + " = 1 }",
    "header by header": "\n".join("[" + ".".join("a" * n) + "]" for n in range(1, 40)),
}


@pytest.mark.parametrize("name", TOML)
@pytest.mark.parametrize("kind", DEEP)
def test_nesting_is_limited(name: str, kind: str, tmp_path: Path) -> None:
    """Long keys are rejected at once: parsing a dotted key of 60,000 parts would take minutes."""
    path, reader = write(tmp_path, name, DEEP[kind])
    started = time.perf_counter()
    with pytest.raises(InputError, match=rf"\b{MAX_TOML_DEPTH}\b"):
        reader(path)
    assert time.perf_counter() - started < 5


@pytest.mark.parametrize("name", TOML)
def test_the_size_of_toml_is_limited(name: str, tmp_path: Path) -> None:
    path, reader = write(tmp_path, name, b"# long\n" * (MAX_TOML_BYTES // 6))
    with pytest.raises(InputError, match=r"given\.toml.*1 MiB"):
        reader(path)


def test_files_within_the_limits_are_read() -> None:
    deep = "a = " + "[" * (MAX_TOML_DEPTH - 1) + "]" * (MAX_TOML_DEPTH - 1)
    assert parse_toml(deep)["a"]
    assert parse_toml("x = " + repr("0.5," * 50_000))["x"].count(",") == 50_000
    assert parse_toml("# ................................................\nx = 1")["x"] == 1
    with pytest.raises(InputError, match=r"TOML.*digits"):
        parse_toml("pot = " + "9" * 5000)


def test_infinite_files_are_rejected() -> None:
    zero = Path("/dev/zero")
    if zero.exists():
        with pytest.raises(InputError, match="1,000 bytes"):
            read_text(zero, "file", max_bytes=1000)


def test_toml_is_parsed_in_one_module() -> None:
    """So the limits hold for all future readers too."""
    found = [
        path.name for path in PACKAGE.rglob("*.py") if re.search(r"^\s*(import|from) tomllib", path.read_text(), re.M)
    ]
    assert found == ["files.py"]


# --- values in messages ---


@pytest.mark.parametrize(
    "value", ["x" * 200_000, ["x"] * 100_000, 10**5000, {"a": "b" * 10**6}], ids=lambda v: type(v).__name__
)
def test_long_values_are_shortened(value: object) -> None:
    assert len(short_repr(value)) <= 110
    assert "…" in short_repr(value) or "very large" in short_repr(value)


def test_short_values_are_complete() -> None:
    for value in ("AsKs", 12, 0.5, ["a"], "x" * 100):
        assert short_repr(value) == repr(value)
    assert join_names(["a", "b"]) == "a, b"
    assert join_names(map(str, range(1000))).endswith("39, … 960 more")
    assert len(str(unknown_name_error("move", "b" * 200_000, [f"b{k}" for k in range(700)]))) < 500


LONG = "Z" * 200_000
ECHOES: dict[str, Callable[[], Any]] = {
    "range": lambda: Range.parse(LONG),
    "range weight": lambda: Range.parse(f"AA:{LONG}"),
    "board": lambda: spot_file.loads(SPOT.replace("QsJh2h", LONG)),
    "sizes": lambda: spot_file.loads(SPOT.replace("50%", LONG)),
    "key": lambda: spot_file.loads(f"{LONG} = 1\n{SPOT}"),
    "street": lambda: spot_file.loads(f"{SPOT}{LONG} = 1"),
    "line": lambda: spot_file.loads(SPOT).lock(LONG, {"x": 1.0}),
    "move": lambda: spot_file.loads(SPOT).lock("", {LONG: 1.0}),
    "pot": lambda: spot_file.loads(SPOT.replace("pot = 10", f"pot = '{LONG}'")),
    "rake": lambda: spot_file.loads(f"rake = '{LONG}'\n{SPOT}"),
    "share": lambda: spot_file.loads(f"{SPOT}[tree]\nmerge = '{LONG}'"),
    "deck": lambda: spot_file.loads(f"deck = {{ ranks = '{LONG}' }}\n{SPOT}"),
    "strategy": lambda: spot_file.loads(f"{SPOT}[[lock]]\nline = ''\nstrategy = {{ {LONG} = '{LONG}' }}"),
    "game": lambda: read_game(LONG),
}  # fmt: skip


@pytest.mark.parametrize("kind", ECHOES)
def test_messages_do_not_repeat_long_texts(kind: str) -> None:
    started = time.perf_counter()
    with pytest.raises(InputError) as caught:
        ECHOES[kind]()
    assert len(str(caught.value)) < 1000
    assert "\n" not in str(caught.value)
    assert time.perf_counter() - started < 5
