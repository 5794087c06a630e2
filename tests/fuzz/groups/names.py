"""Names of games, schedules, traversals, agents, recipes and of everything else that is one of a list."""

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case, crossed
from ..values import ODD

KUHN = ("solve", "kuhn", "--iterations", "2")
RIVER = ("solve", "../world/river.toml", "--iterations", "2")
SHOW = ("show", "../world/river", "root")

# What is named, where, and what it is nearly called.
NAMES: list[tuple[str, tuple[str, ...], dict[str, str]]] = [
    (
        "game",
        ("solve", "?", "--iterations", "2"),
        {
            "typo": "kuhnn",
            "case": "KUHN",
            "option": "kuhn:colour=3",
            "option twice": "kuhn:cards=3,cards=4",
            "too many options": "kuhn:1,2,3,4,5,6,7,8,9",
            "no number": "kuhn:cards=x",
            "colons": "kuhn::",
            "fraction": "kuhn:cards=3.5",
            "negative": "kuhn:cards=-1",
            "zero": "kuhn:cards=0",
            "two cards": "kuhn:cards=1",
            "one player": "kuhn:players=1",
            "too many players": "leduc:players=11",
            "players and no limit": "leduc:players=3,stack=5",
            "too few cards": "leduc:players=4,ranks=2",
            "nan": "kuhn:bet=nan",
            "inf": "coin_toss:left=inf",
            "no equals": "kuhn:=",
            "menu": "kuhn:stack=5,menu=zz",
            "menu without stack": "kuhn:menu=50%",
            "dice": "bluff:0,0",
            "dice negative": "bluff:-1,2",
            "hold'em": "holdem:9-9",
            "no file": "nowhere.efg",
            "folder.efg": "../world/empty.efg",
            "no module": "nosuchmodule:thing",
            "no object": "objects:nothing",
            "no game": "objects:number",
            "makes none": "objects:none",
            "maker fails": "objects:fails",
            "maker needs": "objects:needs",
            "does not parse": "broken:thing",
            "does not import": "raising:thing",
            "open_spiel": "open_spiel:",
            "open_spiel typo": "open_spiel:kuhn_pokerr",
            "open_spiel options": "open_spiel:kuhn_poker(players=99)",
            "open_spiel brackets": "open_spiel:kuhn_poker(((",
            "folder": "../world/kuhn",
            "text file": "../world/text.txt",
        },
    ),
    (
        "schedule",
        (*KUHN, "--schedule", "?"),
        {
            "typo": "dcfrr",
            "option": "dcfr:delta=1",
            "no number": "dcfr:alpha=x",
            "nan": "dcfr:alpha=nan",
            "no value": "dcfr:alpha",
            "negative gamma": "dcfr:gamma=-1",
            "inf gamma": "dcfr:gamma=inf",
            "no module": "nosuchmodule:thing",
            "no object": "objects:nothing",
            "no schedule": "objects:number",
            "makes none": "objects:none",
            "maker fails": "objects:fails",
            "maker needs": "objects:needs",
            "does not parse": "broken:thing",
            "does not import": "raising:thing",
        },
    ),
    (
        "cards",
        ("solve", "flop_holdem:one-bet,ranks=4,suits=2", "--iterations", "2", "--cards", "?"),
        {"typo": "strenght:3", "none": "strength:0", "too few": "flops:2", "no number": "flops:"},
    ),
    ("traversal", (*KUHN, "--traversal", "?"), {"typo": "fulll", "case": "FULL", "of spots": "compact"}),
    ("method", (*KUHN, "--method", "?"), {"typo": "lpp", "case": "LP"}),
    ("dtype", (*KUHN, "--dtype", "?"), {"typo": "float46", "of spots": "compact", "whole": "int8", "object": "object"}),
    ("dtype of a spot", (*RIVER, "--dtype", "?"), {"typo": "float46", "half": "float16"}),
    ("trace game", ("trace", "?"), {"typo": "kuhnn", "no game": "objects:number", "spot": "../world/turn.toml"}),
    ("trace schedule", ("trace", "kuhn", "--schedule", "?"), {"typo": "dcfrr", "maker fails": "objects:fails"}),
    ("trace deal", ("trace", "kuhn", "--deal", "?"), {"one": "Q", "same": "QQ", "three": "QJK", "unknown": "QZ"}),
    ("show table", (*SHOW, "--table", "?"), {"typo": "combo"}),
    ("show player", (*SHOW, "--player", "?"), {"typo": "op", "number": "0"}),
    ("show sort", (*SHOW, "--table", "combos", "--sort", "?"), {"typo": "eev"}),
    ("features street", ("features", "?"), {"typo": "flopp", "case": "FLOP"}),
    (
        "abstract recipe",
        ("abstract", "?", "--estimate"),
        {"typo": "tinyy", "no file": "nowhere.toml", "training": "../world/training.toml"},
    ),
    (
        "train recipe",
        ("train", "?", "--estimate"),
        {"typo": "demoo", "no file": "nowhere.toml", "cards": "../world/cards.toml"},
    ),
    (
        "train mode",
        ("train", "../world/leduc.toml", "--iterations", "2", "--out", "run", "--mode", "?"),
        {"typo": "race"},
    ),
    (
        "train abstraction",
        ("train", "../world/training.toml", "--iterations", "2", "--out", "run", "--abstraction", "?"),
        {"typo": "losless", "a run": "../world/kuhn", "of other streets": "../world/cards"},
    ),
    ("reproduce", ("reproduce", "?"), {"typo": "emd-exampel"}),
    (
        "reproduce with options",
        ("reproduce", "?"),
        {
            "typo": "endgame-table-2:rank=5",
            "no number": "endgame-table-1-small:ranks=x",
            "few cards": "endgame-table-2:ranks=3,suits=2",
            "few buckets": "endgame-table-1-large:ranks=4,suits=2,buckets=1",
        },
    ),
    (
        "continuous method",
        ("continuous", "../world/neumann.toml", "--models", "../world/models.toml", "--method", "?"),
        {"typo": "newtonn", "of solve": "cfr"},
    ),
    (
        "continuous game",
        ("continuous", "?"),
        {"no file": "nowhere.toml", "text": "../world/text.txt", "recipe": "../world/cards.toml"},
    ),
    ("team game", ("team", "?"), {"typo": "kuhnn", "two players": "kuhn", "one too many": "kuhn:players=11"}),
    (
        "agent",
        ("act", "?", "MATCHSTATE:0:0:r:Ks|", "--game", "leduc"),
        {
            "typo": "always-cal",
            "option": "always-call?speed=3",
            "option twice": "random?seed=1&seed=2",
            "seed": "random?seed=x",
            "seed negative": "random?seed=-1",
            "no folder": "runs/nowhere",
            "search of another game": "../world/blueprint?search=turn",
            "search street": "../world/blueprint?search=flop",
            "search method": "../world/blueprint?search=river&method=maxmargn",
            "search without": "../world/blueprint?method=resolve",
            "search time": "../world/blueprint?search=river&time=soon",
            "search both": "../world/blueprint?search=river&time=1s&iterations=5",
            "a run": "../world/kuhn",
            "a file": "../world/text.txt",
            "no module": "nosuchmodule:Thing",
            "no class": "objects:Nothing",
            "no agent": "objects:number",
            "needs": "objects:needs",
            "fails": "objects:fails",
            "no name": "objects:Agent",
            "does not parse": "broken:Thing",
            "does not import": "raising:Thing",
            "program": "acpc:./player.sh",
            "default": "default",
            "two posts": "../world/blueprint?purify&new=0.2",
            "share": "../world/blueprint?threshold=2",
            "share nan": "../world/blueprint?threshold=nan",
            "share negative": "../world/blueprint?new=-1",
            "translation": "../world/blueprint?translation=best",
            "tie": "../world/blueprint?tie=left",
            "spare-first": "../world/blueprint?spare-first=maybe",
            "abstraction": "../world/blueprint?abstraction=nowhere",
        },
    ),
    (
        "match agent",
        ("match", "always-call", "?", "--game", "leduc", "--hands", "4"),
        {"typo": "always-cal", "program": "acpc:"},
    ),
    ("litmus agent", ("litmus", "?", "--game", "leduc"), {"typo": "always-cal", "program": "acpc:"}),
    ("litmus --checks", ("litmus", "always-fold", "--game", "leduc", "--checks", "?"), {"none": "nowhere.toml"}),
    ("lbr agent", ("lbr", "?", "--game", "leduc", "--hands", "4"), {"typo": "always-cal", "program": "acpc:"}),
    (
        "lbr --actions",
        ("lbr", "always-fold", "--game", "leduc", "--hands", "4", "--actions", "?"),
        {"typo": "fcp", "more": "57"},
    ),
    (
        "lbr --from",
        ("lbr", "always-fold", "--game", "leduc", "--hands", "4", "--from", "?"),
        {"typo": "flopp", "number": "1"},
    ),
    ("play agent", ("play", "?", "--game", "leduc", "--hands", "1"), {"typo": "always-cal", "program": "acpc:./x"}),
    (
        "act game",
        ("act", "always-call", "MATCHSTATE:0:0:r:Ks|", "--game", "?"),
        {
            "typo": "leducc",
            "no file": "nowhere.game",
            "other file": "../world/text.txt",
            "binary": "../world/binary",
            "spot": "../world/river.toml",
        },
    ),
    ("dealer game", ("acpc", "dealer", "?", "--start-timeout", "0.1s"), {"typo": "leducc"}),
    ("client game", ("acpc", "client", "always-call", "127.0.0.1", "9", "--game", "?"), {"typo": "leducc"}),
    ("client agent", ("acpc", "client", "?", "127.0.0.1", "9", "--game", "leduc"), {"typo": "always-cal"}),
]


def cases() -> Iterator[Case]:
    """What is nearly right, and what is odd."""
    for what, words, near in NAMES:
        yield from crossed("names", [(what, words, "near")], {"near": near})
        yield from crossed("names", [(what, words, "odd")], {"odd": ODD}, most=8)
