"""Files that commands use: solved games, blueprints, card abstractions and more, made once."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from random_blueprints import random_blueprint
from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets
from riverboat.cli import main
from riverboat.formats.spot_file import load
from riverboat.solvers.run import CFRRun
from riverboat.strategies.blueprint import save_blueprint

WORLD = "world"

RIVER = """\
board = "Td9d6hQc2s"
pot = 200
stack = 900
name = "river"
rake = { rate = 0.05, cap = 30 }
[ranges]
oop = "QQ,A8s,JTs:0.5"
ip = "TT,KJs,65s"
[bets]
river = { bet = "60%, a", raise = "2.5x", donk = "20%" }
[tree]
add_all_in = "150%"
force_all_in = "10%"
merge = "5%"
donk_bets = true
raise_cap = 3
[deck]
ranks = "23456789TJQKA"
suits = "cdhs"
[[lock]]
line = "x"
hands = "TT"
strategy = { x = 0.25, a = 0.75 }
"""
TURN = """\
board = "Td9d6hQc"
pot = 100
stack = 200
[ranges]
oop = "AA,KsKd"
ip = "QQ,5d4d"
[bets]
turn = { bet = "50%", raise = "a" }
"""
CARDS = """\
about = "for tests"
seed = 1
[public]
buckets = 6
base = 50
restarts = 2
[preflop]
method = "lossless"
[flop]
method = "potential"
buckets = 10
value = "square"
sample = 1000
restarts = 1
passes = 2
[turn]
method = "histogram"
buckets = 10
[river]
method = "ochs"
buckets = 10
"""
TRAINING = """\
about = "for tests"
game = "bench-2x52"
abstraction = "tiny"
[menu]
preflop = ["2.5x, a", "a"]
flop = "100%"
most_raises = [2, 1]
add_all_in = "150%"
[menu.ip]
preflop = ["2x", "a"]
[training]
time = "1s"
weighting = "linear"
period = 1000
until = 100000
prune = 300
prune_after = 1000
dtype = "float32"
traversal = "external"
"""
LEDUC = """\
game = "leduc"
abstraction = "lossless"
[training]
time = "1s"
"""
EFG = """\
EFG 2 R "two moves" { "One" "Two" }
c "" 1 "" { "up" 1/2 "down" 0.5 } 0
p "" 1 1 "high" { "left" "right" } 0
t "" 1 "" { 1 -1 }
p "" 2 1 "guess" { "a" "b" } 0
t "" 2 "" { 2, -2 }
t "" 3 "" { -2, 2 }
p "" 1 2 "low" { "left" "right" } 0
t "" 4 "" { -1 1 }
p "" 2 1 "guess" { "a" "b" } 0
t "" 3 "" { -2 2 }
t "" 2 "" { 2 -2 }
"""
NFG = """\
NFG 1 R "pennies and more" { "Row" "Column" }
{ 2 3 }
1 -1 -1 1 -1 1 1 -1 0 0 2 -2
"""
GAME = """\
# a no-limit game for tests
GAMEDEF
nolimit
numPlayers = 2
numRounds = 2
stack = 1200 1200
blind = 100 50
firstPlayer = 2 1
numSuits = 4
numRanks = 13
numHoleCards = 2
numBoardCards = 0 3
END GAMEDEF
"""
OBJECTS = '''\
"""Objects that are named as `objects:thing`, none of which is of any use."""

number = 3


def none():
    return None


def fails():
    raise KeyError("what")


def needs(something):
    return something


class Agent:
    def act(self, views):
        return 1 / 0
'''
NEUMANN = """\
name = "von Neumann"
[signals.0]
cdf = [[0, 0], [1, 1]]
[signals.1]
cdf = [[0, 0], [1, 1]]
[river]
pot = 2
bets = [1]
street = "half"
"""
MODELS = """\
[[model]]
name = "bluffs"
bands = { root = "b x b", b = "f c" }
order = "root:1 b:1 root:2"
"""
FILES: dict[str, str | bytes] = {
    "neumann.toml": NEUMANN,
    "models.toml": MODELS,
    "river.toml": RIVER,
    "turn.toml": TURN,
    "cards.toml": CARDS,
    "training.toml": TRAINING,
    "leduc.toml": LEDUC,
    "moves.efg": EFG,
    "pennies.nfg": NFG,
    "short.game": GAME,
    "objects.py": OBJECTS,
    "broken.py": "1 +\n",
    "raising.py": "raise RuntimeError('no')\n",
    "text.txt": "no such thing\n",
    "boards.txt": "Td9d6hQc2s\nAsKd7h7c2d 2\n",
    "range.txt": "QQ+, AKs # the top\nJTs:0.5\n",
    "binary": bytes(range(256)),
    "empty/.keep": "",
}


def build(root: Path) -> Path:
    """Make the world in a folder."""
    world = root / WORLD
    for name, content in FILES.items():
        path = world / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    _command("solve", "kuhn", "--iterations", "20", "--out", f"{world}/kuhn", "--json")
    _command("solve", "kuhn", "--method", "lp", "--out", f"{world}/lp", "--json")
    _command("train", f"{world}/leduc.toml", "--iterations", "200", "--out", f"{world}/training", "--json")
    for name in ("river", "turn"):
        run = CFRRun(load(world / f"{name}.toml"), out=world / name)
        run.solver.step(20)
        run.save()
    save_blueprint(random_blueprint("leduc"), world / "blueprint")
    _cards().save(world / "cards")
    return root


def _command(*words: str) -> None:
    try:
        main.main([*words])
    except SystemExit as stopped:
        if stopped.code != 0:
            raise RuntimeError(f"{words} ended with {stopped.code}") from None


def _cards() -> CardAbstraction:
    """Starting hands in four random buckets."""
    labels = np.random.default_rng(0).integers(0, 4, (1, 169)).astype(np.uint16)
    return CardAbstraction((StreetBuckets(4, labels),), (), name="four")


# --- files on disk --------------------------------------------------------------------------


class Seen(NamedTuple):
    """Metadata of a file or folder, without its content."""

    size: int
    changed: int
    node: int


State: TypeAlias = dict[str, tuple[Seen | None, str]]  # by path; None for folders
_SUMS: dict[tuple[str, Seen], str] = {}  # unchanged files are not read again


def state_of(root: Path) -> State:
    """Checksums of all files, and all folders."""
    result: State = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if "__pycache__" in name:
            continue
        if path.is_dir() and not path.is_symlink():
            result[name] = (None, "folder")
            continue
        if path.is_symlink():
            result[name] = (None, f"link to {path.readlink()}")
            continue
        facts = path.lstat()
        seen = Seen(facts.st_size, facts.st_mtime_ns, facts.st_ino)
        if (name, seen) not in _SUMS:
            _SUMS[name, seen] = hashlib.sha256(path.read_bytes()).hexdigest()
        result[name] = (seen, _SUMS[name, seen])
    return result


def changes(before: State, after: State) -> list[str]:
    """Describe the differences."""
    gone = [f"lost {name}" for name in before if name not in after]
    new = [f"new {name}" for name in after if name not in before]
    other = [f"changed {name}" for name in before if name in after and before[name][1] != after[name][1]]
    return gone + other + new
