"""Chips, prizes and tournaments: stacks, payouts, states, lines and files. Solves are only estimated."""

from __future__ import annotations

from collections.abc import Iterator

from ..case import DONE, Case, crossed, said
from ..values import KINDS

ICM = said("icm --stacks 10,10,15 --payouts 50,30,20")
SPOT = ("pushfold", "--stacks", "10")  # one player: rejected in any case
TOURNAMENT = ("tournament", "--small", "--estimate")
FILE = "players = 3\nchips = 900\nunit = 100\nblinds = [50, 100]\nante = 0\npayouts = [50, 30, 20]\n"

OPTIONS: list[tuple[str, tuple[str, ...], str]] = [
    ("pushfold --ante", (*SPOT, "--ante", "?"), "number"),
    ("pushfold --iterations", (*SPOT, "--iterations", "?"), "count"),
    ("pushfold --threads", (*SPOT, "--threads", "?"), "count"),
    ("pushfold --seed", (*SPOT, "--seed", "?"), "whole"),
    ("tournament --iterations", (*TOURNAMENT, "--iterations", "?"), "count"),
    ("tournament --threads", (*TOURNAMENT, "--threads", "?"), "count"),
    ("tournament --time", (*TOURNAMENT, "--time", "?"), "time"),
    ("tournament --until", (*TOURNAMENT, "--until", "?"), "number"),
]
LISTS = {
    "empty": "",
    "commas": ",,",
    "a word": "10,many",
    "negative": "10,-5",
    "zero": "10,0",
    "exponent": "1e3,10",
    "overflow": "1e400,10",
    "nan": "nan,10",
    "spaces": " ",
    "digits of another script": "١٠,١٠",
    "too many": ",".join(["1"] * 400),
    "long": "1," * 5000,
    "semicolon": "10;10",
}
STATES = {
    "too few": "5",
    "too many": "5,5,3,2",
    "another sum": "5,5,6",
    "fraction": "4.5,5.5,5",
    "zero": "0,7,8",
    "word": "x",
}
LINES = {"lower case": "j", "too long": "JJJ", "all fold": "FF", "word": "jam", "spaces": " "}
FILES = {
    "unknown entry": FILE + "chip = 1\n",
    "players four": FILE.replace("players = 3", "players = 4"),
    "players text": FILE.replace("players = 3", 'players = "3"'),
    "players true": FILE.replace("players = 3", "players = true"),
    "chips negative": FILE.replace("chips = 900", "chips = -900"),
    "chips nan": FILE.replace("chips = 900", "chips = nan"),
    "chips inf": FILE.replace("chips = 900", "chips = inf"),
    "no multiple": FILE.replace("chips = 900", "chips = 950"),
    "unit zero": FILE.replace("unit = 100", "unit = 0"),
    "unit tiny": FILE.replace("unit = 100", "unit = 0.001"),
    "blinds one": FILE.replace("[50, 100]", "[50]"),
    "blinds empty": FILE.replace("[50, 100]", "[]"),
    "blinds turned": FILE.replace("[50, 100]", "[100, 50]"),
    "ante text": FILE.replace("ante = 0", 'ante = "x"'),
    "ante negative": FILE.replace("ante = 0", "ante = -1"),
    "payouts none": FILE.replace("[50, 30, 20]", "[]"),
    "payouts zero": FILE.replace("[50, 30, 20]", "[0, 0, 0]"),
    "payouts many": FILE.replace("[50, 30, 20]", "[4, 3, 2, 1]"),
    "payouts negative": FILE.replace("[50, 30, 20]", "[50, -30]"),
    "two players": "players = 2\n",
    "no toml": "[[[",
}


def cases() -> Iterator[Case]:
    """Invalid numbers, lists, states, lines and files, and some valid ones."""
    group = "tournaments"
    yield from crossed(group, OPTIONS, KINDS, most=7)
    for label, value in LISTS.items():
        yield Case(group, f"icm --stacks {label}", ("icm", "--stacks", value, "--payouts", "1"))
        yield Case(group, f"pushfold --stacks {label}", ("pushfold", "--stacks", value, "--line", "nowhere"))
        if label != "zero":  # valid for prizes
            yield Case(group, f"icm --payouts {label}", ("icm", "--stacks", "10,10,15", "--payouts", value))
    for label, value in STATES.items():
        yield Case(group, f"tournament --state {label}", (*TOURNAMENT, "--state", value))
    for label, value in LINES.items():
        yield Case(group, f"tournament --line {label}", (*TOURNAMENT, "--line", value))
        yield Case(group, f"pushfold --line {label}", ("pushfold", "--stacks", "10,10", "--line", value))
    for label, text in FILES.items():
        yield Case(group, f"file {label}", ("tournament", "t.toml", "--estimate"), files={"t.toml": text})
    yield Case(group, "file", ("tournament", "t.toml", "--estimate"), DONE, files={"t.toml": FILE})
    yield Case(group, "estimate", (*TOURNAMENT, "--json"), DONE)
    yield Case(group, "icm", (*ICM, "--json"), DONE)
    yield Case(group, "icm of one", said("icm --stacks 3 --payouts 1"), DONE)
    yield Case(group, "prizes of nothing", said("icm --stacks 3,4 --payouts 0"), DONE)
    yield Case(group, "--resume without --out", ("tournament", "--small", "--resume"))
    yield Case(group, "a folder that is no run", ("tournament", "../world/kuhn"))
    yield Case(group, "--small and a file", ("tournament", "t.toml", "--small"), files={"t.toml": FILE})
    yield Case(group, "--plot without --line", (*TOURNAMENT, "--plot", "a.png"))
    yield Case(group, "--plot of no kind", (*TOURNAMENT, "--line", "J", "--plot", "a.doc"))
