"""ACPC match states, input typed at a table, and dealers and clients without a peer."""

from __future__ import annotations

from collections.abc import Iterator

from ..case import ACCEPTED_OR_REJECTED, DONE, REJECTED, Case

STATE = "MATCHSTATE:1:30:cr300c/r900:|9s8h/8c8d5c"
AGENTS = {"baseline": ("always-call", "nolimit-200bb"), "random": ("random", "nolimit-200bb")}
FIELDS = ("tag", "position", "hand", "betting", "cards")
WRONG: dict[str, dict[str, str]] = {
    "tag": {"empty": "", "case": "matchstate", "typo": "MATCHSTAT", "long": "M" * 5000, "space": " MATCHSTATE x"},
    "position": {"empty": "", "two": "2", "negative": "-1", "word": "x", "zeros": "01", "huge": "9" * 500},
    "hand": {
        "empty": "",
        "negative": "-1",
        "beyond": str(2**32),
        "huge": "9" * 5000,
        "zeros": "030",
        "word": "x",
        "fraction": "1.5",
    },
    "betting": {
        "empty": "",
        "unknown": "q",
        "too small": "cr101c/",
        "too large": "cr30000c/",
        "huge": "cr" + "9" * 5000 + "c/",
        "no amount": "crc/",
        "after a fold": "f/",
        "round open": "cr300/",
        "round not open": "cr300c",
        "two rounds": "cr300c//",
        "not mine": "cr300c/cr600",
        "over": "cr300f",
        "case": "CR300C/",
        "negative": "cr-300c/",
        "fraction": "cr300.5c/",
        "long": "c" * 20_000,
        "unicode": "сr300c/",
        "bytes": "\udcff",
        "tag": "[/b]",
    },
    "cards": {
        "empty": "",
        "no bar": "9s8h/8c8d5c",
        "bars": "||9s8h/8c8d5c",
        "no board": "|9s8h",
        "short board": "|9s8h/8c8d",
        "long board": "|9s8h/8c8d5c6c",
        "two boards": "|9s8h/8c8d5c/6s",
        "one card": "|9s/8c8d5c",
        "three cards": "|9s8h7h/8c8d5c",
        "twice": "|9s8c/8c8d5c",
        "both": "AsAh|9s8h/8c8d5c",
        "other seat": "9s8h|/8c8d5c",
        "suit": "|9x8h/8c8d5c",
        "case": "|9S8H/8C8D5C",
        "rank": "|1s8h/8c8d5c",
        "long": "|" + "9s" * 5000,
        "tag": "|[b][/b]/8c8d5c",
        "bytes": "|\udcff\udcff9s/8c8d5c",
    },
}


def cases() -> Iterator[Case]:
    """Every field of a match state, and the whole of it."""
    parts = STATE.split(":")
    for who, (agent, game) in AGENTS.items():
        for place, field in enumerate(FIELDS):
            for label, value in WRONG[field].items():
                text = ":".join([*parts[:place], value, *parts[place + 1 :]])
                yield Case("match states", f"{who} {field} {label}", ("act", agent, text, "--game", game))
        for label, text in {
            "empty": "",
            "colons": "::::",
            "six fields": STATE + ":c",
            "four fields": ":".join(parts[:4]),
            "twice": STATE + STATE,
            "newline": STATE + "\n" + STATE,
            "long": STATE * 500,
            "comment": "#GAMEOVER",
            "json": "{}",
        }.items():
            yield Case("match states", f"{who} {label}", ("act", agent, text, "--game", game))
        for label, text in {"plain": STATE, "spaces around": f"  {STATE} ", "CRLF": STATE + "\r\n"}.items():
            yield Case("good words", f"act {who} {label}", ("act", agent, text, "--game", game), DONE)
    yield Case(
        "match states", "blueprint of another game", ("act", "../world/blueprint", STATE, "--game", "nolimit-200bb")
    )
    yield Case("match states", "one hole card", ("act", "always-call", STATE, "--game", "leduc"))
    yield from _solved()
    yield from _typed()
    yield from _programs()


SOLVE = ("--ranges", "always-call", "--floor", "0.5", "--iterations", "1", "--menu", "menu.toml")
MENU = {"menu.toml": 'preflop = ""'}


def _solved() -> Iterator[Case]:
    """States that are opened as spots: each field, the agent, the game, the menu, and invalid combinations."""
    parts = STATE.split(":")
    for place, field in enumerate(FIELDS):
        for label, value in WRONG[field].items():
            if label != "not mine":  # an observer sees both seats
                text = ":".join([*parts[:place], value, *parts[place + 1 :]])
                yield Case("match states", f"solve {field} {label}", ("solve", text, *SOLVE), files=MENU)
    river = "MATCHSTATE:1:30:cr300c/cc/cc/:|9s8h/8c8d5c/6s/2d"
    for label, words in {
        "before the flop": ("MATCHSTATE:1:30:cr300:|9s8h", *SOLVE),
        "over": ("MATCHSTATE:1:30:cr300c/r900f:|9s8h/8c8d5c", *SOLVE),
        "showdown": ("MATCHSTATE:1:30:cr20000c///:AsAh|9s8h/8c8d5c/6s/2d", *SOLVE),
        "no agent": (STATE, "--iterations", "1"),
        "empty range": (STATE, "--ranges", "always-fold", "--iterations", "1"),
        "agent of another game": (STATE, "--ranges", "../world/blueprint", "--game", "nolimit-200bb"),
        "blueprint whose game is no hold'em": (STATE, "--ranges", "../world/blueprint"),
        "one hole card": ("MATCHSTATE:0:0:rc/:Ks|/Qs", "--ranges", "always-call", "--game", "leduc"),
        "limit with a menu": (river, *SOLVE, "--game", "limit"),
        "spot flags": (river, *SOLVE, "--pot", "100"),
        "boards": (river, *SOLVE, "--boards", "sample:2"),
        "menu that is none": (river, *SOLVE[:-1], "../world/text.txt"),
        "menu that is a folder": (river, *SOLVE[:-1], "../world/empty"),
        "no menu there": (river, *SOLVE[:-1], "nowhere.toml"),
        "spot file in a folder": (river, *SOLVE, "--spot-file", "../world/empty"),
        "ranges of a spot": ("../world/river.toml", "--ranges", "always-call", "--iterations", "1"),
        "floor of a game": ("kuhn", "--floor", "0.5", "--iterations", "1"),
        "game of a game": ("kuhn", "--game", "leduc", "--iterations", "1"),
    }.items():
        yield Case("match states", f"solve {label}", ("solve", *words), REJECTED | {4}, files=MENU)
    yield Case("good words", "solve a state", ("solve", river, *SOLVE, "--json"), DONE, files=MENU)


def _typed() -> Iterator[Case]:
    """Invalid typed input is asked for again and is never an error of the command."""
    for label, text in {
        "nothing": "",
        "words": "hello\nfly\nq\n",
        "amounts": "r99999999999999999999\nr-1\nr1.5\nb\nr\nq\n",
        "long": "x" * 50_000 + "\nq\n",
        "control": "\x1b[A\x00\nq\n",
        "sizes": "0%\n-5%\n1e400%\nnan%\n5x5\nq\n",
        "tag": "[/red]\nq\n",
        "end in the middle": "c",
        "all-in": "a\na\na\nq\n",
        "long number": "r" + "9" * 5000 + "\nq\n",
        "long share": "9" * 5000 + "%\nq\n",
        "unicode": "к\n٣\nq\n",
    }.items():
        words = ("play", "always-call", "--game", "nolimit-200bb", "--hands", "2", "--seed", "1")
        yield Case("typed", label, words, DONE, typed=text)
        yield Case(
            "typed",
            f"limit, {label}",
            ("play", "always-call", "--game", "leduc", "--hands", "2", "--seed", "1"),
            DONE,
            typed=text,
        )


def _programs() -> Iterator[Case]:
    """Dealers without players, clients without a dealer, and programs that do not exist."""
    dealer = ("acpc", "dealer", "leduc", "--start-timeout", "0.2s", "--hands", "2")
    missed = frozenset({1, 2})
    yield Case("match states", "dealer alone", dealer, missed)
    for label, more in {
        "one program": ("--players", "true"),
        "programs that are not there": ("--players", "./nowhere", "--players", "./nowhere"),
        "three programs": ("--players", "a", "--players", "b", "--players", "c"),
        "empty program": ("--players", "", "--players", ""),
        "open quote": ("--players", "'a", "--players", "b"),
        "one name": ("--names", "a"),
        "same names": ("--names", "a,a"),
        "names with colons": ("--names", "a:b,c|d"),
        "empty names": ("--names", ","),
        "long names": ("--names", "a" * 5000 + ",b"),
        "no such host": ("--host", "256.256.256.256"),
        "host of others": ("--host", "192.0.2.1"),
        "empty host": ("--host", "[/red]"),
        "control in names": ("--names", "a\x1b,b"),
        "log in a folder": ("--log", "../world/empty"),
        "ports in use": ("--ports", "1,1"),
    }.items():
        yield Case("match states", f"dealer {label}", (*dealer, *more), missed | REJECTED | {4})
    for label, more in {  # valid options would wait for a browser
        "no address": ("--host", "[/red]"),
        "a name": ("--host", "no.such.host.invalid"),
        "host of others": ("--host", "192.0.2.1"),
        "port too large": ("--port", "65536"),
        "negative port": ("--port", "-1"),
        "port in words": ("--port", "http"),
        "no jobs": ("--jobs", "0"),
        "memory in words": ("--memory", "much"),
        "data in a file": ("--data", "../world/river.toml"),
        "data below a file": ("--data", "../world/river.toml/x"),
    }.items():
        yield Case("match states", f"serve {label}", ("serve", "--no-open", *more), REJECTED | {4})
    for label, host, port in [
        ("nobody", "127.0.0.1", "9"),
        ("port zero", "127.0.0.1", "0"),
        ("no such host", "no.such.host.invalid", "9"),
        ("tag", "[/red]", "9"),
    ]:
        yield Case(
            "match states",
            f"client {label}",
            ("acpc", "client", "always-call", host, port, "--game", "leduc"),
            REJECTED | {4},
            slow=True,
        )
    yield Case(
        "match states",
        "match with a program that is not there",
        ("match", "always-call", "acpc:./nowhere", "--game", "leduc", "--hands", "2"),
        REJECTED | {4},
    )
    yield Case(
        "match states",
        "odd hands",
        ("match", "always-call", "always-fold", "--game", "leduc", "--hands", "3"),
        ACCEPTED_OR_REJECTED,
    )
