"""Game files of Gambit and the ACPC: valid ones that are truncated, or with tokens removed, swapped and replaced."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from ..case import ACCEPTED_OR_REJECTED, DONE, REJECTED, Case
from ..world import EFG, GAME, NFG

TOKENS = re.compile(r'"[^"]*"|[{}]|[^\s{}"]+')
STRANGE = {
    "word": "zzz",
    "negative": "-1",
    "huge": "9" * 400,
    "nan": "nan",
    "inf": "inf",
    "zero division": "1/0",
    "brace": "{",
    "quote": '"',
    "control": "\x1b",
    "escape": "\\",
    "unicode": "♠",
    "overflow": "1e400",
    "fraction": "1/3",
}
SOLVE = {
    "efg": (EFG, ("solve", "game.efg", "--iterations", "2")),
    "nfg": (NFG, ("solve", "game.nfg", "--iterations", "2")),
}
MATCH = ("match", "always-call", "always-fold", "--hands", "4", "--game", "file.game")


def cases() -> Iterator[Case]:
    """Files of all three kinds."""
    for kind, (text, words) in SOLVE.items():
        yield from _changed(kind, text, words, f"game.{kind}")
        yield from _bytes(kind, text, words, f"game.{kind}")
    yield from _changed("acpc", GAME, MATCH, "file.game")
    yield from _bytes("acpc", GAME, MATCH, "file.game")
    yield from _entries()
    yield from _wrong_games()


def _changed(kind: str, text: str, words: tuple[str, ...], file: str) -> Iterator[Case]:
    """Tokens removed, swapped and replaced. The remainder may be another valid game, so both outcomes are accepted."""
    rng = random.Random(f"{kind} tokens")
    places = [result.span() for result in TOKENS.finditer(text)]
    for number in sorted(rng.sample(range(1, len(places)), 10)):
        start, end = places[number]
        if kind != "acpc":
            torn = text[:start]
            yield Case("game files", f"{kind} torn before token {number}", words, REJECTED, {file: torn})
        cut = text[:start] + text[end:]
        yield Case("game files", f"{kind} without token {number}", words, ACCEPTED_OR_REJECTED, {file: cut})
        other = places[rng.randrange(1, len(places))]
        first, second = sorted(((start, end), other))
        mixed = (
            text[: first[0]]
            + text[second[0] : second[1]]
            + text[first[1] : second[0]]
            + text[first[0] : first[1]]
            + text[second[1] :]
        )
        if first[1] <= second[0]:
            yield Case("game files", f"{kind} token {number} exchanged", words, ACCEPTED_OR_REJECTED, {file: mixed})
        for label in rng.sample(sorted(STRANGE), 4):
            given = text[:start] + STRANGE[label] + text[end:]
            yield Case("game files", f"{kind} token {number} {label}", words, ACCEPTED_OR_REJECTED, {file: given})


def _bytes(kind: str, text: str, words: tuple[str, ...], file: str) -> Iterator[Case]:
    for label, content in {
        "with a BOM": b"\xef\xbb\xbf" + text.encode(),
        "with CRLF": text.replace("\n", "\r\n"),
        "without a last newline": text.rstrip("\n"),
    }.items():
        yield Case("good files", f"{kind} {label}", words, DONE, {file: content})
    bad: dict[str, str | bytes] = {
        "empty": "",
        "blank": "\n \n",
        "binary": bytes(range(256)),
        "zeros": bytes(1000),
        "UTF-16": text.encode("utf-16"),
        "Latin-1": text.encode() + b"\xe9",
        "another kind": "EFG 9 Z\n",
        "long token": "x" * 100_000,
        "long number": text.replace("1", "1" * 5000, 1),
        "quotes without end": text + '"' * 3,
        "braces": "{" * 20_000,
        "old Mac, one line": "//" + text.replace("\n", "\r"),
        "twice": text + text,
        "tag": "[/red]" + text,
    }
    for label, content in bad.items():
        behind = kind == "acpc" and label in ("quotes without end", "twice")  # text after END GAMEDEF is ignored
        yield Case("game files", f"{kind} {label}", words, DONE if behind else REJECTED, {file: content})
    step = max(1, len(text) // 10)
    for end in range(step, len(text), step):
        yield Case("game files", f"{kind} torn after {end} bytes", words, ACCEPTED_OR_REJECTED, {file: text[:end]})


VALUES = {
    "numPlayers": ("0", "1", "3", "x", "-2", "2.0", ""),
    "numRounds": ("0", "5", "x", "-1"),
    "stack": ("0 0", "50 50", "x x", "1200", "1 2 3", "-5 -5", str(2**40)),
    "blind": ("0 0", "-1 5", "x", "100", "5000 50"),
    "firstPlayer": ("3 3", "0 0", "x"),
    "numSuits": ("0", "5", "x"),
    "numRanks": ("0", "14", "1", "x"),
    "numHoleCards": ("0", "3", "x", "9"),
    "numBoardCards": ("3", "0 9", "-1 3", "x y"),
}


def _entries() -> Iterator[Case]:
    """Entries of an ACPC game: missing, duplicated, and with other values."""
    lines = GAME.splitlines(keepends=True)
    for number, line in enumerate(lines):
        key = line.partition("=")[0].strip()
        if key in VALUES:
            for value in VALUES[key]:
                text = "".join([*lines[:number], f"{key} = {value}\n", *lines[number + 1 :]])
                yield Case("game files", f"acpc {key} = {value or 'empty'}", MATCH, REJECTED, {"file.game": text})
            text = "".join([*lines[:number], *lines[number + 1 :]])
            optional = key in ("firstPlayer", "numBoardCards")  # these have defaults
            yield Case(
                "game files",
                f"acpc without {key}",
                MATCH,
                ACCEPTED_OR_REJECTED if optional else REJECTED,
                {"file.game": text},
            )
    for label, text in {
        "unknown key": GAME.replace("blind", "blinds"),
        "limit without raises": GAME.replace("nolimit", "limit"),
        "no end": GAME.replace("END GAMEDEF", ""),
        "no kind": GAME.replace("nolimit\n", ""),
    }.items():
        yield Case("game files", f"acpc {label}", MATCH, REJECTED, {"file.game": text})


def _wrong_games() -> Iterator[Case]:
    """Valid files of games that cannot be solved."""
    three = 'NFG 1 R "three" { "A" "B" "C" } { 2 2 2 }\n' + "0 " * 24
    general = 'NFG 1 R "not zero-sum" { "A" "B" } { 2 2 }\n1 1 0 3 3 0 2 2\n'
    forgetful = (
        'EFG 2 R "forgets" { "A" "B" }\np "" 1 1 "x" { "l" "r" } 0\np "" 1 2 "y" { "l" "r" } 0\nt "" 1 "" { 1 -1 }\n'
        't "" 2 "" { 0 0 }\np "" 1 2 "y" { "l" "r" } 0\nt "" 2 "" { 0 0 }\nt "" 1 "" { 1 -1 }\n'
    )
    chance = EFG.replace("1/2", "1/3")
    level = 'p "" {player} {number} "i{number}" {{ "l" "r" }} 0\nt "" 1 "" {{ 0 0 }}\n'
    levels = "".join(level.format(player=1 + number % 2, number=number) for number in range(1, 3000))
    deep = 'EFG 2 R "deep" { "A" "B" }\n' + levels + 't "" 1 "" { 0 0 }\n'
    huge = NFG.replace("2 -2", "1e308 -1e308")
    for label, words, files in [
        ("three players, lp", ("solve", "game.nfg", "--method", "lp"), {"game.nfg": three}),
        ("not zero-sum, lp", ("solve", "game.nfg", "--method", "lp"), {"game.nfg": general}),
        ("imperfect recall, lp", ("solve", "game.efg", "--method", "lp"), {"game.efg": forgetful}),
        ("chances sum to less", ("solve", "game.efg", "--iterations", "2"), {"game.efg": chance}),
    ]:
        yield Case("game files", f"gambit {label}", words, REJECTED, files)
    solved = ("solve", "game.nfg", "--iterations", "2")
    yield Case("game files", "gambit three players", solved, DONE, {"game.nfg": three})
    yield Case("game files", "gambit not zero-sum", solved, DONE, {"game.nfg": general})
    recalled = ("solve", "game.efg", "--iterations", "2")
    yield Case("game files", "gambit imperfect recall", recalled, DONE, {"game.efg": forgetful})
    for method in ("cfr", "lp", "egt"):
        yield Case(
            "game files",
            f"gambit deep, {method}",
            ("solve", "game.efg", "--method", method, "--iterations", "2"),
            ACCEPTED_OR_REJECTED,
            {"game.efg": deep},
        )
        yield Case(
            "game files",
            f"gambit huge payoffs, {method}",
            ("solve", "game.nfg", "--method", method, "--iterations", "2"),
            ACCEPTED_OR_REJECTED,
            {"game.nfg": huge},
        )
