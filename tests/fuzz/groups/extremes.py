"""Valid but extreme input: numbers beyond floats, and absurd sizes."""

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case, said

RIVER = ("solve", "../world/river.toml", "--iterations", "2")
SPOT = said("solve spot --board Td9d6hQc2s --pot 10 --stack 20 --oop QQ --ip TT --bets 50%")

# Numbers beyond floats, from valid schedules and games.
FINITE: dict[str, tuple[str, ...]] = {
    "large gamma": ("solve", "leduc", "--schedule", "dcfr:gamma=100", "--iterations", "1240", "--json"),
    "huge gamma": ("solve", "kuhn", "--schedule", "dcfr:gamma=1e300", "--iterations", "20", "--json"),
    "large alpha": ("solve", "kuhn", "--schedule", "dcfr:alpha=1e300", "--iterations", "20", "--json"),
    "large negative beta": ("solve", "kuhn", "--schedule", "dcfr:beta=-1e300", "--iterations", "20", "--json"),
    "forget all": said("solve kuhn --schedule dcfr:alpha=-inf,beta=-inf,gamma=50 --iterations 400 --json"),
    "large bets": ("solve", "kuhn:bet=1e300", "--iterations", "20", "--json"),
    "small bets": ("solve", "kuhn:bet=1e-300,ante=1e-300", "--iterations", "20", "--json"),
    "large stack": ("solve", "coin_toss:left=1e308", "--iterations", "20", "--json"),
    "no iteration": ("solve", "leduc", "--iterations", "1", "--schedule", "vanilla", "--json"),
    "a target below rounding": ("solve", "kuhn", "--until", "1e-17", "--iterations", "3000", "--json"),
    "a spot's target below rounding": (*RIVER, "--until", "1e-17", "--json"),
    "a target of the smallest number": ("solve", "kuhn", "--until", "5e-324", "--iterations", "300", "--json"),
    "float32 with a large gamma": said("solve leduc --dtype float32 --schedule dcfr:gamma=30 --iterations 500 --json"),
    "a small share of a bet": (*SPOT, "--iterations", "20", "--merge", "0.0000001%", "--json"),
}

# Absurd sizes: rejected, or tried with progress output until interrupted.
TALKING = frozenset({0, 2, 3, 130})
ABSURD: dict[str, tuple[str, ...]] = {
    "cards of kuhn": ("solve", "kuhn:cards=1000000", "--iterations", "2"),
    "stack of kuhn": ("solve", "kuhn:stack=100000,menu=*", "--iterations", "2"),
    "ranks of leduc": ("solve", "leduc:ranks=100000", "--iterations", "2"),
    "cap of leduc": ("solve", "leduc:cap=100000", "--iterations", "2"),
    "stack of leduc": ("solve", "leduc:stack=1000000,menu=*", "--iterations", "2"),
    "dice": ("solve", "bluff:9,9", "--iterations", "2"),
    "clairvoyance": ("solve", "clairvoyance:stack=1e18", "--iterations", "2"),
    "a small chip": ("solve", "clairvoyance:stack=1,chip=1e-12", "--iterations", "2"),
    "hold'em": ("solve", "holdem", "--iterations", "2"),
    "raises of hold'em": ("solve", "holdem:raises=100000", "--iterations", "2"),
    "phantom": ("solve", "open_spiel:phantom_ttt", "--iterations", "2"),
    "go": ("solve", "open_spiel:go", "--iterations", "2"),
    "three-player leduc": ("solve", "open_spiel:leduc_poker(players=3)", "--iterations", "2"),
    "matrices of a file": ("solve", "open_spiel:nfg_game", "--iterations", "2"),
    "a flop of all hands": said(
        "solve spot --board Td9d6h --pot 10 --stack 2000 --oop random --ip random --bets "
        "10%,20%,30%,40%,50%,60%,70% --raises 10%,20%,30%,40% --iterations 2"
    ),
    "kinds of bets": (
        "solve",
        "spot",
        "--board",
        "Td9d6hQc2s",
        "--pot",
        "10",
        "--stack",
        "1000000",
        "--oop",
        "QQ",
        "--ip",
        "TT",
        "--bets",
        ",".join(f"{n}c" for n in range(1, 701)),
        "--raises",
        ",".join(f"{n}c" for n in range(1, 701)),
        "--iterations",
        "2",
    ),
    "samples": ("equity", "22+", "33+", "44+", "55+", "66+", "77+", "--samples", "100000000000000"),
    "bins": ("features", "river", "--bins", "1000000000"),
    "hands of a match": ("match", "always-call", "always-fold", "--game", "leduc", "--hands", "1000000000000000000"),
    "menu": ("train", "file.toml", "--estimate"),
    "stacks": ("match", "always-call", "always-raise", "--game", "file.game", "--hands", "2"),
}
MENU = 'game = "nolimit-200bb"\nabstraction = "lossless"\n[menu]\npreflop = "*"\n'
STACKS = (
    "GAMEDEF\nnolimit\nnumPlayers = 2\nnumRounds = 4\nstack = 1000000000 1000000000\nblind = 2 1\n"
    "firstPlayer = 2 1 1 1\nnumSuits = 4\nnumRanks = 13\nnumHoleCards = 2\nnumBoardCards = 0 3 1 1\nEND GAMEDEF\n"
)


def cases() -> Iterator[Case]:
    """Results are finite; sizes that are too large are rejected, or show progress."""
    for label, words in FINITE.items():
        yield Case("finite", label, words, frozenset({0, 1, 2}))
    for label, words in ABSURD.items():
        files = {"file.toml": MENU} if label == "menu" else {"file.game": STACKS} if label == "stacks" else {}
        yield Case("absurd", label, words, TALKING, files, slow=True)
