"""Numbers: negative, zero, not finite, too large, fractions instead of integers, and no numbers at all."""

from __future__ import annotations

from collections.abc import Iterator

from ..case import ACCEPTED_OR_REJECTED, Case, crossed
from ..values import KINDS

KUHN = ("solve", "kuhn", "--iterations", "2")
RIVER = ("solve", "../world/river.toml", "--iterations", "2")
FLAGS = ("--board", "Td9d6hQc2s", "--oop", "QQ", "--ip", "TT", "--bets", "50%", "--iterations", "2")
SPOT = ("solve", "spot", *FLAGS, "--pot", "10", "--stack", "20")
TRAIN = ("train", "../world/leduc.toml", "--out", "run")
ACT = ("act", "random", "MATCHSTATE:0:0:r:Ks|", "--game", "leduc")
STATE = "MATCHSTATE:1:30:cr300c/cc/cc/:|9s8h/8c8d5c/6s/2d"
MATCH = ("match", "always-call", "always-fold", "--game", "leduc")
LBR = ("lbr", "always-fold", "--game", "leduc")
DEALER = ("acpc", "dealer", "leduc", "--start-timeout", "0.1s")

OPTIONS: list[tuple[str, tuple[str, ...], str]] = [
    ("solve --iterations", ("solve", "kuhn", "--iterations", "?"), "whole"),
    ("solve --threads", (*KUHN, "--threads", "?"), "count"),
    ("solve --seed", (*KUHN, "--seed", "?"), "whole"),
    ("solve external --seed", (*KUHN, "--traversal", "external", "--seed", "?"), "whole"),
    ("solve --check-every", (*KUHN, "--check-every", "?"), "count"),
    ("solve --time", ("solve", "kuhn", "--time", "?"), "time"),
    ("solve --checkpoint", (*KUHN, "--checkpoint", "?"), "time"),
    ("solve --until", ("solve", "kuhn", "--until", "?", "--iterations", "2"), "target"),
    ("solve --memory", (*KUHN, "--memory", "?"), "memory"),
    ("lp --until", ("solve", "kuhn", "--method", "lp", "--until", "?"), "target"),
    ("egt --iterations", ("solve", "kuhn", "--method", "egt", "--iterations", "?"), "whole"),
    ("river --until", (*RIVER, "--until", "?"), "target"),
    ("river --iterations", ("solve", "../world/river.toml", "--iterations", "?"), "whole"),
    ("river --threads", (*RIVER, "--threads", "?"), "count"),
    ("river --memory", (*RIVER, "--memory", "?"), "memory"),
    ("state --floor", ("solve", STATE, "--ranges", "always-call", "--iterations", "1", "--floor", "?"), "share"),
    ("spot --pot", ("solve", "spot", *FLAGS, "--pot", "?", "--stack", "20"), "count"),
    ("spot --stack", ("solve", "spot", *FLAGS, "--pot", "10", "--stack", "?"), "count"),
    ("spot --raise-cap", (*SPOT, "--raise-cap", "?"), "whole"),
    ("spot --rake", (*SPOT, "--rake", "?"), "share"),
    ("spot --rake-cap", (*SPOT, "--rake", "5%", "--rake-cap", "?"), "number"),
    ("spot --add-all-in", (*SPOT, "--add-all-in", "?"), "share"),
    ("spot --force-all-in", (*SPOT, "--force-all-in", "?"), "share"),
    ("spot --merge", (*SPOT, "--merge", "?"), "share"),
    ("show --limit", ("show", "../world/kuhn", "--limit", "?"), "whole"),
    ("show river --limit", ("show", "../world/river", "root", "--limit", "?"), "whole"),
    ("export --depth", ("export", "../world/river", "--depth", "?"), "count"),
    ("exploitability --threads", ("exploitability", "../world/kuhn", "--threads", "?"), "count"),
    ("exploitability --boards", ("exploitability", "../world/blueprint", "--bound", "--boards", "?"), "count"),
    ("exploitability --time", ("exploitability", "../world/blueprint", "--boards", "4", "--time", "?"), "time"),
    ("explain --rules", ("explain", "../world/kuhn", "--player", "1", "--rules", "?"), "count"),
    ("explain --player", ("explain", "../world/kuhn", "--method", "list", "--player", "?"), "whole"),
    ("respond --player", ("respond", "../world/kuhn", "--player", "?"), "whole"),
    ("respond --limit", ("respond", "../world/kuhn", "--limit", "?"), "whole"),
    ("continuous --steps", ("continuous", "../world/neumann.toml", "--steps", "?"), "count"),
    ("team --adversary", ("team", "kuhn:players=3", "--adversary", "?"), "whole"),
    ("team --time", ("team", "kuhn:players=3,cards=3", "--adversary", "0", "--time", "?"), "time"),
    ("correlated --iterations", ("correlated", "rps", "--iterations", "?"), "count"),
    ("correlated --until", ("correlated", "rps", "--iterations", "3", "--until", "?"), "target"),
    ("correlated --time", ("correlated", "rps", "--iterations", "3", "--time", "?"), "time"),
    ("trace --iteration", ("trace", "kuhn", "--iteration", "?"), "count"),
    ("equity --threads", ("equity", "AsAh", "KsKd", "--board", "2c3c4c", "--threads", "?"), "count"),
    ("equity --samples", ("equity", "AA", "KK", "QQ", "--board", "2c3c4c", "--samples", "?"), "count"),
    ("equity --seed", ("equity", "AA", "KK", "QQ", "--board", "2c3c4c", "--seed", "?"), "whole"),
    ("features --bins", ("features", "preflop", "--bins", "?"), "count"),
    ("features --threads", ("features", "preflop", "--threads", "?"), "count"),
    ("abstract --threads", ("abstract", "../world/cards.toml", "--estimate", "--threads", "?"), "count"),
    ("train --iterations", (*TRAIN, "--iterations", "?"), "count"),
    ("train --time", (*TRAIN, "--time", "?"), "time"),
    ("train --threads", (*TRAIN, "--iterations", "2", "--threads", "?"), "count"),
    ("train --seed", (*TRAIN, "--iterations", "2", "--seed", "?"), "whole"),
    ("train --check", (*TRAIN, "--iterations", "2", "--check", "?"), "time"),
    ("train --checkpoint", (*TRAIN, "--iterations", "2", "--checkpoint", "?"), "time"),
    ("train --blades", (*TRAIN, "--iterations", "2", "--cluster", "none", "--blades", "?"), "count"),
    ("train --estimate --time", ("train", "../world/training.toml", "--estimate", "--time", "?"), "time"),
    ("play --hands", ("play", "always-call", "--game", "leduc", "--hands", "?"), "count"),
    ("play --seed", ("play", "always-call", "--game", "leduc", "--hands", "1", "--seed", "?"), "whole"),
    ("act --seed", (*ACT, "--seed", "?"), "whole"),
    ("match --hands", (*MATCH, "--hands", "?"), "count"),
    ("match --seed", (*MATCH, "--hands", "4", "--seed", "?"), "whole"),
    ("match --threads", (*MATCH, "--hands", "4", "--aivat", "--threads", "?"), "count"),
    ("match --worst", (*MATCH, "--hands", "4", "--aivat", "--worst", "?"), "whole"),
    ("cost --hands", ("cost", "always-fold", "--game", "leduc", "--hands", "?"), "count"),
    ("lbr --hands", (*LBR, "--hands", "?"), "count"),
    ("lbr --seed", (*LBR, "--hands", "4", "--seed", "?"), "whole"),
    ("litmus --seed", ("litmus", "always-fold", "--game", "leduc", "--seed", "?"), "whole"),
    ("lbr --walkers", (*LBR, "--hands", "4", "--walkers", "?"), "count"),
    ("lbr --threads", (*LBR, "--hands", "4", "--threads", "?"), "count"),
    ("lbr --workers", (*LBR, "--hands", "4", "--workers", "?"), "count"),
    ("demo --pairs", ("demo", "--pairs", "?"), "count"),
    ("demo --time", ("demo", "--time", "?"), "time"),
    ("demo --threads", ("demo", "--threads", "?"), "count"),
    ("demo --seed", ("demo", "--seed", "?"), "whole"),
    ("dealer --hands", (*DEALER, "--hands", "?"), "count"),
    ("dealer --seed", (*DEALER, "--seed", "?"), "whole"),
    ("dealer --ports", (*DEALER, "--ports", "?"), "ports"),
    ("dealer --t-response", (*DEALER, "--t-response", "?"), "time"),
    ("dealer --start-timeout", ("acpc", "dealer", "leduc", "--start-timeout", "?"), "time"),
    ("client port", ("acpc", "client", "always-call", "127.0.0.1", "?", "--game", "leduc"), "count"),
    ("reproduce --seed", ("reproduce", "emd-example", "--seed", "?"), "whole"),
]

# Large but meaningful numbers: may be accepted or rejected, but must neither crash nor hang.
LARGE: list[tuple[str, tuple[str, ...]]] = [
    ("solve --iterations", ("solve", "kuhn", "--time", "0.1s", "--iterations", "?")),
    ("solve --seed", (*KUHN, "--traversal", "external", "--seed", "?")),
    ("solve --threads", (*KUHN, "--threads", "?")),
    ("solve --check-every", (*KUHN, "--check-every", "?")),
    ("solve --time", (*KUHN, "--time", "?")),
    ("solve --checkpoint", (*KUHN, "--checkpoint", "?")),
    ("solve --memory", (*KUHN, "--memory", "?")),
    ("river --threads", (*RIVER, "--threads", "?")),
    ("spot --pot", ("solve", "spot", *FLAGS, "--pot", "?", "--stack", "20")),
    ("spot --stack", ("solve", "spot", *FLAGS, "--pot", "10", "--stack", "?")),
    ("spot --raise-cap", (*SPOT, "--raise-cap", "?")),
    ("spot --rake-cap", (*SPOT, "--rake", "5%", "--rake-cap", "?")),
    ("spot --bets", ("solve", "spot", *FLAGS, "--pot", "10", "--stack", "20", "--raises", "?x")),
    ("show --limit", ("show", "../world/kuhn", "--limit", "?")),
    ("export --depth", ("export", "../world/river", "--depth", "?")),
    ("exploitability --threads", ("exploitability", "../world/kuhn", "--threads", "?")),
    ("respond --limit", ("respond", "../world/kuhn", "--limit", "?")),
    ("equity --threads", ("equity", "AsAh", "KsKd", "--board", "2c3c4c", "--threads", "?")),
    ("equity --seed", ("equity", "AA", "KK", "QQ", "--board", "2c3c4c", "--samples", "10", "--seed", "?")),
    ("features --bins", ("features", "preflop", "--bins", "?")),
    ("train --seed", (*TRAIN, "--iterations", "2", "--seed", "?")),
    ("train --threads", (*TRAIN, "--iterations", "2", "--threads", "?")),
    ("train --blades", (*TRAIN, "--iterations", "2", "--cluster", "none", "--blades", "?")),
    ("act --seed", (*ACT, "--seed", "?")),
    ("play --seed", ("play", "always-call", "--game", "leduc", "--hands", "1", "--seed", "?")),
    ("match --seed", (*MATCH, "--hands", "4", "--seed", "?")),
    ("dealer --seed", (*DEALER, "--seed", "?")),
    ("reproduce --seed", ("reproduce", "emd-example", "--seed", "?")),
]


def cases() -> Iterator[Case]:
    """Every option that takes a number."""
    yield from crossed("numbers", OPTIONS, KINDS, most=7)
    for name, words in LARGE:
        for label, value in (("2^31", 2**31), ("2^63", 2**63), ("10^30", 10**30)):
            command = tuple(word.replace("?", str(value)) for word in words)
            yield Case("large numbers", f"{name} {label}", command, ACCEPTED_OR_REJECTED | {3})
