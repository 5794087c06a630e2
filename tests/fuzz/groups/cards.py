"""Cards, boards, ranges, bet sizes and lines."""

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case, crossed, said
from ..values import BOARDS, KINDS, LINES

SPOT = {"--board": "Td9d6hQc2s", "--pot": "10", "--stack": "20", "--oop": "QQ", "--ip": "TT", "--bets": "50%"}
BLUEPRINT = ("show", "../world/blueprint")
CARDS = ("show", "../world/cards")


def _spot(option: str) -> tuple[str, ...]:
    """A spot by flags with one of them left open."""
    flags = {**SPOT, option: "?"}
    return ("solve", "spot", "--iterations", "2", *(word for pair in flags.items() for word in pair))


OPTIONS: list[tuple[str, tuple[str, ...], str]] = [
    ("spot --board", _spot("--board"), "board"),
    ("range --board", ("range", "AA", "--board", "?"), "board"),
    ("equity --board", ("equity", "AA", "KK", "--board", "?"), "board"),
    ("blueprint --board", (*BLUEPRINT, "cc/", "--board", "?"), "board"),
    ("cards --board", (*CARDS, "--hand", "AsKs", "--board", "?"), "board"),
    ("spot --oop", _spot("--oop"), "range"),
    ("spot --ip", _spot("--ip"), "range"),
    ("range", ("range", "?"), "range"),
    ("equity first", ("equity", "?", "KK", "--board", "2c3c4c"), "range"),
    ("equity second", ("equity", "KK", "?", "--board", "2c3c4c"), "range"),
    ("show --hand", ("show", "../world/river", "root", "--hand", "?"), "hand"),
    ("cards --hand", (*CARDS, "--hand", "?"), "hand"),
    ("blueprint --hand", (*BLUEPRINT, "root", "--hand", "?"), "hand"),
    ("spot --bets", _spot("--bets"), "sizes"),
    ("spot --raises", _spot("--raises"), "sizes"),
    ("spot --donks", _spot("--donks"), "sizes"),
    ("show line", ("show", "../world/turn", "?"), "line"),
    ("show --runouts line", ("show", "../world/turn", "?", "--runouts"), "line"),
    ("export --line", ("export", "../world/turn", "--line", "?"), "line"),
    ("blueprint line", (*BLUEPRINT, "?"), "betting"),
    ("kuhn information set", ("show", "../world/kuhn", "?"), "line"),
    ("kuhn export --line", ("export", "../world/kuhn", "--line", "?"), "line"),
]

# Values that are valid here, although invalid elsewhere.
FINE = {
    "spot --raises raise of a bet",  # a raise multiplies a bet
    "blueprint --board one card",  # as many as the game has
    "blueprint --hand one card",
}

# Valid cards that cannot be dealt together.
CLASHES: dict[str, tuple[str, ...]] = {
    "equity same hand": ("equity", "AsAh", "AsAh"),
    "equity shared card": ("equity", "AsAh", "AsKd"),
    "equity shared with the board": ("equity", "AsAh", "KsKd", "--board", "AsKh2c"),
    "equity no deal": ("equity", "AA", "AA", "AA", "--board", "AsKh2c"),
    "equity no deal before the flop": ("equity", "AA", "AA", "AA"),
    "equity one hand": ("equity", "AA"),
    "equity eleven hands": ("equity", *["22+"] * 11, "--board", "2c3c4c"),
    "equity river, eight of a kind": ("equity", "AA", "AA", "KK", "KK", "KK", "--board", "2c3c4c5c7d"),
    "spot blocked": said("solve spot --board QsQhQdQc2s --pot 9 --stack 9 --oop QQ --ip TT --bets a"),
    "spot no deal": said("solve spot --board 9s8h7d3c2s --pot 9 --stack 9 --oop AsAh --ip AsKs --bets a"),
    "show --hand on the board": ("show", "../world/river", "root", "--hand", "TdTc"),
    "cards --hand on the board": ("show", "../world/cards", "--hand", "TdTc", "--board", "Td9d6h"),
    "boards of the spot differ in length": said("solve ../world/turn.toml --boards ../world/boards.txt --iterations 2"),
    "range blocked by the board": ("range", "QsQh", "--board", "QsQh2d"),
}


def cases() -> Iterator[Case]:
    """Every option that takes cards."""
    for case in crossed("cards", OPTIONS, KINDS, most=12):
        if case.name not in FINE:
            yield case
    yield from (Case("cards", name, words) for name, words in CLASHES.items() if name != "range blocked by the board")
    for label, board in BOARDS.items():
        yield Case(
            "cards",
            f"--boards file {label}",
            ("solve", "../world/river.toml", "--boards", "boards.txt", "--iterations", "2"),
            files={"boards.txt": f"Td9d6hQc2s\n{board}\n".encode(errors="surrogateescape")},
        )
    for label, text in BOARD_LINES.items():
        yield Case(
            "cards",
            f"--boards weight {label}",
            ("solve", "../world/river.toml", "--boards", "boards.txt", "--iterations", "2"),
            files={"boards.txt": text},
        )
    for name in (
        "all",
        "sample:0",
        "sample:-1",
        "sample:x",
        "sample:",
        "sample:9999",
        "nowhere.txt",
        "../world/empty",
        "../world/binary",
        "",
    ):
        yield Case(
            "cards",
            f"--boards {name or 'empty'}",
            ("solve", "../world/river.toml", "--boards", name, "--iterations", "2"),
        )
    for label, line in LINES.items():
        yield Case(
            "cards",
            f"lock line {label}",
            ("solve", "spot.toml", "--iterations", "2"),
            files={"spot.toml": _locked(line)},
        )


BOARD_LINES = {
    "empty file": "",
    "comments alone": "# none\n",
    "zero": "AsKd7h7c2d 0\n",
    "negative": "AsKd7h7c2d -1\n",
    "nan": "AsKd7h7c2d nan\n",
    "inf": "AsKd7h7c2d inf\n",
    "overflow": "AsKd7h7c2d 1e400\n",
    "word": "AsKd7h7c2d often\n",
    "two": "AsKd7h7c2d 1 2\n",
    "twice": "AsKd7h7c2d\nKdAs7h7c2d\n",
    "flop": "AsKd7h\n",
}


def _locked(line: str) -> bytes:
    """A turn with a lock at a line; the line is written as JSON, which is valid TOML."""
    import json

    text = json.dumps(line.encode(errors="surrogateescape").decode("latin-1"))
    return (
        f'board = "Td9d6hQc"\npot = 100\nstack = 200\nbets.turn = {{ bet = "50%" }}\n[ranges]\noop = "AA"\nip = "QQ"\n'
        f"[[lock]]\nline = {text}\nstrategy = {{ x = 1.0 }}\n"
    ).encode()
