"""Commands without arguments, options that do not exist or do not belong together."""

from __future__ import annotations

from collections.abc import Iterator

from ..case import DONE, Case, said

RIVER = ("solve", "../world/river.toml", "--iterations", "2")
KUHN = ("solve", "kuhn", "--iterations", "2")
SPOT = said("solve spot --board Td9d6hQc2s --pot 10 --stack 20 --oop QQ --ip TT --bets 50%")

NEEDED = (
    "solve",
    "show",
    "export",
    "exploitability",
    "respond",
    "equity",
    "range",
    "features",
    "abstract",
    "train",
    "act",
    "match",
    "reproduce",
    "acpc client",
)
COMMANDS = (*NEEDED, "games", "trace", "play", "demo", "bench", "cache", "acpc dealer")

TOGETHER: dict[str, tuple[str, ...]] = {
    "--resume without --out": (*KUHN, "--resume"),
    "--resume of a spot without --out": (*RIVER, "--resume"),
    "--resume with lp": (*KUHN, "--method", "lp", "--resume", "--out", "run"),
    "two schedules with lp": (*KUHN, "--method", "lp", "--schedule", "dcfr", "--schedule", "cfr+"),
    "a schedule with lp": (*KUHN, "--method", "lp", "--schedule", "cfr+"),
    "a traversal with lp": (*KUHN, "--method", "lp", "--traversal", "external"),
    "two schedules of a spot": (*RIVER, "--schedule", "dcfr", "--schedule", "cfr+"),
    "--csv and --json": ("export", "../world/kuhn", "--csv", "--json"),
    "--keep without --boards": (*RIVER, "--keep"),
    "--keep with --boards without --out": (*RIVER, "--boards", "../world/boards.txt", "--keep"),
    "--board of kuhn": (*KUHN, "--board", "AsKd7h"),
    "--boards of kuhn": (*KUHN, "--boards", "all"),
    "--estimate of kuhn": ("solve", "kuhn", "--estimate"),
    "--pot of a file": (*RIVER, "--pot", "3"),
    "--no-donk of a file": (*RIVER, "--no-donk"),
    "spot without --board": said("solve spot --pot 10 --stack 20 --oop QQ --ip TT --bets 50%"),
    "spot without --pot": said("solve spot --board Td9d6hQc2s --stack 20 --oop QQ --ip TT --bets 50%"),
    "spot without anything": ("solve", "spot"),
    "--rake-cap without --rake": (*SPOT, "--rake-cap", "3"),
    "sampling on a spot": (*RIVER, "--traversal", "external"),
    "pcs on a matrix": ("solve", "rps", "--iterations", "2", "--traversal", "pcs"),
    "16-bit on kuhn": (*KUHN, "--dtype", "16-bit"),
    "locks in 16 bits": (*RIVER, "--dtype", "16-bit"),
    "a target in % on kuhn": (*KUHN, "--until", "1%"),
    "--list and a recipe": ("abstract", "tiny", "--list"),
    "--list and a training": ("train", "demo", "--list"),
    "--list and --all": ("reproduce", "--list", "--all"),
    "--list and an experiment": ("reproduce", "emd-example", "--list"),
    "--plot of all": ("reproduce", "--all", "--plot", "x.png"),
    "--hand of kuhn": ("show", "../world/kuhn", "--hand", "AsKs"),
    "--board of kuhn's run": ("show", "../world/kuhn", "--board", "AsKd7h"),
    "--board of a spot's run": ("show", "../world/river", "root", "--board", "AsKd7h"),
    "--sort of kuhn": ("show", "../world/kuhn", "--sort", "ev"),
    "--abstraction of kuhn": ("show", "../world/kuhn", "--abstraction", "../world/cards"),
    "--runouts of a blueprint": ("show", "../world/blueprint", "root", "--runouts"),
    "--runouts on the river": ("show", "../world/river", "root", "--runouts"),
    "--runouts of cards": ("show", "../world/cards", "--runouts"),
    "--table of cards": ("show", "../world/cards", "--table", "made"),
    "--hand and --table": ("show", "../world/river", "root", "--hand", "QsQh", "--table", "made"),
    "--picture of leduc cards": ("show", "../world/blueprint", "root", "--picture", "x.png"),
    "--depth of kuhn": ("export", "../world/kuhn", "--depth", "1"),
    "respond to a spot": ("respond", "../world/river"),
    "respond to a blueprint": ("respond", "../world/blueprint"),
    "respond --out without --player": ("respond", "../world/kuhn", "--out", "best"),
    "exploitability of a blueprint": ("exploitability", "../world/blueprint"),
    "exploitability of cards": ("exploitability", "../world/cards"),
    "export of a blueprint": ("export", "../world/blueprint"),
    "export of cards": ("export", "../world/cards"),
    "abstract without --out": ("abstract", "../world/cards.toml"),
    "train without --out": ("train", "../world/leduc.toml", "--iterations", "2"),
    "train without --abstraction": ("train", "../world/training.toml", "--iterations", "2", "--out", "run"),
    "train --blades without --cluster": said("train ../world/leduc.toml --iterations 2 --out run --blades 3"),
    "train --cluster and --mode": said(
        "train ../world/leduc.toml --iterations 2 --out run --cluster none --mode deterministic"
    ),
    "histories of three": said("match always-call always-fold random --game leduc --hands 4 --histories x.phhs"),
    "histories with a program": said("match always-call acpc:./x --game leduc --hands 2 --histories x.phhs"),
    "the same agent twice in a round robin": said("match always-call always-call random --game leduc --hands 2"),
    "one agent": ("match", "always-call", "--game", "leduc"),
    "an agent of another game": said("match ../world/blueprint always-call --game nolimit-200bb --hands 2"),
    "--ochs with --bins": ("features", "river", "--ochs", "--bins", "7"),
    "--ochs before the flop": ("features", "preflop", "--ochs", "--bins", "-1"),
    "a trace of a spot": ("trace", "../world/turn.toml"),
    "a trace of a large game": ("trace", "bluff:2,1"),
    "egt of a spot with two menus": ("solve", "rps", "--method", "egt", "--traversal", "chance", "--iterations", "2"),
}

GOOD: dict[str, tuple[str, ...]] = {
    "help": ("--help",),
    "version": ("--version",),
    "help of solve": ("solve", "--help"),
    "help of acpc": ("acpc", "--help"),
    "games": ("games",),
    "games as JSON": ("games", "--json"),
    "cache": ("cache",),
    "lists": ("abstract", "--list"),
    "train lists": ("train", "--list"),
    "reproduce lists": ("reproduce", "--list"),
    "schedule in capitals": (*KUHN, "--schedule", "DCFR"),
    "schedule by alias": (*KUHN, "--schedule", "cfrplus"),
    "inf as an exponent": (*KUHN, "--schedule", "dcfr:alpha=inf,beta=-inf"),
    "kuhn by place": ("solve", "kuhn:6", "--iterations", "2"),
    "time without a unit": ("solve", "kuhn", "--time", "0.01"),
    "time of two parts": (*KUHN, "--time", "1m30s"),
    "memory in GiB": (*KUHN, "--memory", "1.5GiB"),
    "memory in small letters": (*KUHN, "--memory", "512mb"),
    "until in %": (*RIVER, "--until", "99%"),
    "until in % with a space": (*RIVER, "--until", "99 %"),
    "board with spaces": ("range", "AA", "--board", "Qs Jh 2h"),
    "board with commas": ("range", "AA", "--board", "Qs,Jh,2h"),
    "board in small letters": ("range", "AA", "--board", "qsjh2h"),
    "board in capitals": ("range", "AA", "--board", "QSJH2H"),
    "board with commas and spaces": ("range", "AA", "--board", " Qs, Jh , 2h "),
    "range in small letters": ("range", "aks,qq+"),
    "range in capitals": ("range", "AKS,QQ+"),
    "range with spaces": ("range", "QQ+  AKs"),
    "range with semicolons": ("range", "QQ+;AKs"),
    "range of a file": ("range", "@../world/range.txt"),
    "range of all": ("range", "random"),
    "range of two dashes": ("range", "88-55,55-88"),
    "range with a weight": ("range", "AA:1e-3"),
    "range with newlines": ("range", "AA\nKK\r\nQQ"),
    "equity of a hand in small letters": ("equity", "asah", "kskd", "--board", "2c 3c 4c"),
    "root": ("show", "../world/river", "root"),
    "root by an empty line": ("show", "../world/river", ""),
    "hand in small letters": ("show", "../world/river", "root", "--hand", "qsqh"),
    "hand the other way round": ("show", "../world/river", "root", "--hand", "QhQs"),
    "a trailing slash": ("show", "../world/kuhn/"),
    "a folder of a run": ("show", "../world/kuhn/../kuhn"),
    "rake in %": (*SPOT, "--iterations", "2", "--rake", "5%", "--rake-cap", "3"),
    "rake as a share": (*SPOT, "--iterations", "2", "--rake", "0.05"),
    "sizes with spaces": (
        "solve",
        "spot",
        "--board",
        "Td 9d 6h Qc 2s",
        "--pot",
        "10",
        "--stack",
        "20",
        "--oop",
        "QQ",
        "--ip",
        "TT",
        "--bets",
        " 50% , a ",
        "--iterations",
        "2",
    ),
    "zero of a seed": (*KUHN, "--seed", "0"),
    "an estimate as JSON": ("solve", "../world/turn.toml", "--estimate", "--json"),
    "solve as JSON": (*KUHN, "--json"),
    "river as JSON": (*RIVER, "--json"),
    "turn as JSON": ("solve", "../world/turn.toml", "--iterations", "2", "--json"),
    "export as JSON": ("export", "../world/kuhn", "--json"),
    "export of a node": ("export", "../world/turn", "--line", "x-x/2c", "--json"),
    "exploitability as JSON": ("exploitability", "../world/river", "--json"),
    "respond as JSON": ("respond", "../world/kuhn", "--json"),
    "trace as JSON": ("trace", "kuhn", "--json"),
    "range as JSON": ("range", "AA", "--json"),
    "equity as JSON": ("equity", "AA", "KK", "--board", "2c3c4c", "--json"),
    "cards as JSON": ("show", "../world/cards", "--json"),
    "blueprint as JSON": ("show", "../world/blueprint", "--json"),
    "a run as JSON": ("show", "../world/training", "--json"),
    "a round robin": ("match", "always-call", "always-fold", "random", "--game", "leduc", "--hands", "20", "--json"),
    "a run of an efg": ("solve", "../world/moves.efg", "--iterations", "5", "--json"),
    "a run of an nfg": ("solve", "../world/pennies.nfg", "--iterations", "5", "--json"),
    "lp of an nfg": ("solve", "../world/pennies.nfg", "--method", "lp", "--json"),
    "two logs in one": (*KUHN, "--log", "a.jsonl"),
    "boards": (*RIVER, "--boards", "../world/boards.txt", "--json"),
    "compare": (*KUHN, "--schedule", "dcfr", "--schedule", "cfr+", "--json"),
    "options by dash and equals": ("solve", "kuhn", "--iterations=2"),
}


def cases() -> Iterator[Case]:
    """Words that are missing, unknown or in each other's way; and words that are fine."""
    for command in NEEDED:
        yield Case("words", f"{command} without arguments", (*command.split(),))
    for command in COMMANDS:
        yield Case("words", f"{command} --nonsense", (*command.split(), "--nonsense"))
        yield Case(
            "words",
            f"{command} one word too many",
            (*command.split(), "a", "b", "c", "d", "e", "--", "f")
            if command != "equity"
            else ("equity", *"abcdefghijkl"),
        )
    for label, words in {
        "no such command": ("fly",),
        "no such command of acpc": ("acpc", "fly"),
        "an option without a value": ("solve", "kuhn", "--iterations"),
        "a flag with a value": ("solve", "kuhn", "--resume=3"),
        "an odd option": ("solve", "kuhn", "--[/red]", "1"),
        "a long command": ("x" * 20_000,),
        "a long option": ("solve", "kuhn", "--" + "x" * 20_000),
        "a control in an option": ("solve", "kuhn", "--a\x1b[31m"),
    }.items():
        yield Case("words", label, words)
    for label, words in TOGETHER.items():
        yield Case("together", label, words)
    for label, words in GOOD.items():
        yield Case("good words", label, words, DONE)
