"""TOML files: spots, recipes of card abstractions and blueprints, litmus checks.

One entry at a time is removed or gets another value.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

from .. import toml
from ..case import ACCEPTED_OR_REJECTED, DONE, REJECTED, Case, some
from ..world import CARDS, MODELS, NEUMANN, RIVER, TRAINING

MOST = 7  # other values of an entry
FACING = """\
board = "Td9d6hQc2s"
pot = 200
stack = [800, 1900]
least_bet = 7
[ranges]
oop = "QQ,A8s"
ip = "TT,KJs"
[bets]
river = { bet = "60%, a", raise = ["60%", "a"] }
[tree]
most_raises = 2
[street]
played = "x-b70"
led = "ip"
"""  # in the middle of a street

PASS_OR_BET = """\
scale = 2
unit = "chips"
[signals]
discrete = [[1, 0.25], [2, 0.75]]
[tree]
player = 0
[tree.moves.x]
pay = [-1, -1]
prize = 2
contenders = [0, 1]
[tree.moves.b]
player = 1
situation = "facing"
[tree.moves.b.moves]
f = { pay = [1, -1] }
c = { pay = [-2, -2], prize = 4, contenders = [0, 1] }
"""  # a continuous game action by action
AUCTION = """\
[signals]
density = [[0, 1], [1, 2]]
[auction]
bids = [0, 0.25, 0.5]
price = "first"
players = 2
"""
JOINT = """\
[signals]
edges = [0, 1, 2]
joint = [[0.3, 0.2], [0.1, 0.4]]
tied = false
[river]
pot = 2
bets = [1]
street = "half"
"""
LITMUS = """\
[[check]]
name = "the nuts are bet when the other has checked last"
kind = "never"
move = "call"
hands = "nuts"
lines = ["~ c"]
boards = 2
tolerance = 1.0
"""  # replaces the one check that always-call fails in Leduc

# Further valid values of an entry. Keys are paths, with * for any; values are labels of `toml.VALUES`.
FINE: dict[str, set[str]] = {
    "*.about": {"text", "empty text", "long text", "tag", "newline"},
    "*.name": {"text", "empty text", "long text", "tag", "control", "newline", "null"},
    "spot.name": {"text", "long text", "tag", "newline"},
    "spot.pot": {"whole"},
    "spot.stack": {"whole"},
    "spot.rake": {"table"},
    "spot.rake.rate": {"zero", "fraction"},
    "spot.rake.cap": {"whole", "zero", "fraction", "huge", "large float", "inf"},
    "spot.bets.river.bet": {"empty text"},
    "spot.bets.river.raise": {"empty text"},
    "spot.bets.river.donk": {"empty text"},
    "spot.bets.river": {"table"},
    "spot.bets": {"table"},
    "spot.tree": {"table"},
    "spot.tree.donk_bets": {"true"},
    "spot.tree.raise_cap": {"whole", "zero", "huge"},
    "spot.deck": {"table"},
    "spot.lock": {"list"},
    "facing.name": {"text", "long text", "tag", "newline"},
    "facing.pot": {"whole"},
    "facing.stack.1": {"whole"},
    "facing.least_bet": {"whole"},
    "facing.bets": {"table"},
    "facing.bets.river": {"table"},
    "facing.bets.river.bet": {"empty text"},
    "facing.bets.river.raise": {"empty text"},
    "facing.bets.river.raise.0": {"empty text"},
    "facing.bets.river.raise.1": {"empty text"},
    "facing.tree": {"table"},
    "facing.tree.most_raises": {"whole", "zero", "huge"},
    "facing.street": {"table"},
    "facing.street.played": {"empty text"},
    "cards.seed": {"whole", "zero", "huge"},
    "cards.public.buckets": {"whole"},
    "cards.public.base": {"whole"},
    "cards.public.restarts": {"whole", "huge"},
    "cards.preflop": {"table"},
    "cards.flop.buckets": {"whole"},
    "cards.flop.sample": {"zero", "huge"},
    "cards.flop.restarts": {"whole", "huge"},
    "cards.flop.passes": {"whole", "huge"},
    "cards.turn.buckets": {"whole"},
    "cards.river.buckets": {"whole"},
    "training.menu.preflop": {"empty text"},
    "training.menu.flop": {"empty text"},
    "training.menu.ip.preflop": {"empty text"},
    "training.menu.ip": {"table"},
    "training.menu.most_raises": {"whole", "zero", "huge"},
    "training.training": {"table"},
    "training.training.period": {"whole", "huge"},
    "training.training.until": {"whole", "zero", "huge"},
    "training.training.prune": {"whole", "fraction", "huge", "large float"},
    "training.training.prune_after": {"whole", "zero", "huge"},
    "signals.river": {"table"},
    "signals.river.pot": {"whole", "fraction"},
    "signals.signals": {"table"},
    "moves.unit": {"text", "long text", "tag", "empty text"},
    "moves.scale": {"whole", "fraction"},
    "moves.signals": {"table"},
    "moves.tree.moves.b.situation": {"text", "long text", "tag", "empty text"},
    "moves.tree.moves.x.contenders": {"list"},
    "moves.tree.moves.b.moves.c.contenders": {"list"},
    "auction.signals": {"table"},
    "auction.auction": {"table"},
    "joint.signals": {"table"},
    "joint.river": {"table"},
    "joint.signals.tied": {"true"},
    "models.model.0.name": {"text", "long text", "tag", "empty text"},
    "litmus.check.0.boards": {"whole", "zero"},
    "litmus.check.0.lines.0": {"empty text"},
}
# Valid or not: must not crash.
OPEN: dict[str, set[str]] = {
    "spot.pot": {"huge"},
    "spot.stack": {"huge"},
    "spot.rake.cap": {"huge", "large float", "inf"},
    "spot.tree.raise_cap": {"huge"},
    "*.name": {"control", "null", "empty text"},
    "spot.bets.river": {"table"},
    "facing.pot": {"huge"},
    "facing.stack": {"whole", "huge"},
    "facing.stack.0": {"whole", "huge"},
    "facing.stack.1": {"whole", "huge"},
    "facing.bets": {"table"},
    "facing.tree.most_raises": {"huge"},
    "cards.seed": {"huge"},
    "cards.public.restarts": {"huge"},
    "cards.flop.sample": {"huge"},
    "cards.flop.restarts": {"huge"},
    "cards.flop.passes": {"huge"},
    "training.menu.most_raises": {"huge"},
    "training.training.period": {"huge", "zero"},
    "training.training.until": {"huge"},
    "training.training.prune": {"huge", "large float", "inf"},
    "training.training.prune_after": {"huge"},
    "spot.lock": {"table"},
    "spot.bets.river.donk": {"empty text"},
    "training.menu.preflop": {"list"},
    "training.menu.flop": {"list"},
    "spot.bets": {"table"},
    "spot.tree.donk_bets": {"true"},
    "joint.river.pot": {"whole", "fraction"},
    "joint.river": {"table"},
    "joint.signals.tied": {"true"},
    "moves.tree.moves.x.prize": {"whole", "fraction", "zero", "negative"},
    "moves.tree.moves.b.moves.c.prize": {"whole", "fraction", "zero", "negative"},
    "auction.auction.players": {"whole"},
    "litmus.check.0.name": {"text", "long text", "tag"},
    "litmus.check.0.tolerance": {"zero", "fraction"},
}
# Optional entries.
OPTIONAL = {
    "spot": {
        "name",
        "rake",
        "rake.cap",
        "bets",
        "bets.river",
        "bets.river.bet",
        "bets.river.raise",
        "bets.river.donk",
        "tree",
        "tree.add_all_in",
        "tree.force_all_in",
        "tree.merge",
        "tree.donk_bets",
        "tree.raise_cap",
        "deck",
        "deck.ranks",
        "deck.suits",
        "lock",
        "lock.0.hands",
    },
    "facing": {
        "least_bet",
        "bets.river",
        "bets.river.bet",
        "bets.river.raise",
        "bets.river.raise.0",
        "bets.river.raise.1",
        "tree",
        "tree.most_raises",
        "street",
        "street.played",
        "street.led",
    },
    "cards": {
        "about",
        "seed",
        "public",
        "public.base",
        "public.restarts",
        "preflop",
        "preflop.method",
        "flop.value",
        "flop.sample",
        "flop.restarts",
        "flop.passes",
    },
    "training": {
        "about",
        "abstraction",
        "menu.flop",
        "menu.most_raises",
        "menu.add_all_in",
        "menu.ip",
        "menu.ip.preflop",
        "training",
        "training.time",
        "training.weighting",
        "training.period",
        "training.until",
        "training.prune",
        "training.prune_after",
        "training.dtype",
        "training.traversal",
    },
    "signals": {"name", "signals", "river.pot", "river.bets", "river.street"},
    "moves": {
        "scale",
        "unit",
        "signals",
        "signals.discrete",
        "tree.moves.x.contenders",
        "tree.moves.b.situation",
        "tree.moves.b.moves.c.contenders",
    },
    "auction": {"signals", "signals.density", "auction.bids", "auction.price", "auction.players"},
    "joint": {"signals", "signals.tied", "river.pot", "river.bets"},
    "models": {"model.0.name", "model.0.order"},
    "litmus": {"check.0.boards"},
}
# Without them, the rest is contradictory or meaningless.
LEFT_OPEN: dict[str, set[str]] = {
    "spot": {"bets", "rake.rate", "bets.river", "bets.river.bet"},
    "facing": {"bets.river", "stack.0", "stack.1"},
    "cards": set(),
    "training": {"training.prune", "menu.flop"},
    "signals": set(),
    "moves": {
        "tree.moves.x",
        "tree.moves.b",
        "tree.moves.x.prize",
        "tree.moves.b.moves.f",
        "tree.moves.b.moves.c",
        "tree.moves.b.moves.c.prize",
    },
    "auction": set(),
    "joint": {"river.street"},
    "models": set(),
    "litmus": {"check.0.tolerance"},
}

CONTINUOUS = ("continuous", "file.toml", "--steps", "10")
KINDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "spot": (RIVER, ("solve", "file.toml", "--iterations", "2")),
    "facing": (FACING, ("solve", "file.toml", "--iterations", "2")),
    "cards": (CARDS, ("abstract", "file.toml", "--estimate")),
    "training": (TRAINING, ("train", "file.toml", "--estimate")),
    "signals": (NEUMANN, CONTINUOUS),
    "moves": (PASS_OR_BET, CONTINUOUS),
    "auction": (AUCTION, CONTINUOUS),
    "joint": (JOINT, CONTINUOUS),
    "models": (MODELS, ("continuous", "../world/neumann.toml", "--models", "file.toml")),
    "litmus": (LITMUS, ("litmus", "always-call", "--game", "leduc", "--checks", "file.toml")),
}


def cases() -> Iterator[Case]:
    """Every entry of every kind of file."""
    for kind, (text, words) in KINDS.items():
        table = tomllib.loads(text)
        for place in toml.places(table):
            yield from _values(kind, table, place, words)
            yield from _missing(kind, table, place, words)
        for place in [(), *(p for p in toml.places(table) if isinstance(toml.at(table, p), dict))]:
            changed = toml.put(table, (*place, "zzz"), 1)
            name = f"{kind} {toml.show(place) or 'top'}: unknown key"
            yield Case("files", name, words, REJECTED, {"file.toml": toml.write(changed)})
        yield from _texts(kind, text, words)
    yield from _contradictions()


def _listed(table: dict[str, set[str]], kind: str, place: toml.Place, label: str) -> bool:
    name = toml.show(place)
    return label in table.get(f"{kind}.{name}", set()) or label in table.get(f"*.{name}", set())


def _values(kind: str, table: dict[str, Any], place: toml.Place, words: tuple[str, ...]) -> Iterator[Case]:
    for label in some(toml.VALUES, MOST, f"{kind} {toml.show(place)}"):
        value = toml.VALUES[label]
        if value == toml.at(table, place) and type(value) is type(toml.at(table, place)):
            continue
        expect = REJECTED
        if _listed(OPEN, kind, place, label):
            expect = ACCEPTED_OR_REJECTED | {3}
        elif _listed(FINE, kind, place, label):
            expect = DONE
        text = toml.write(toml.put(table, place, value))
        yield Case("files", f"{kind} {toml.show(place)}: {label}", words, expect, {"file.toml": text})


def _missing(kind: str, table: dict[str, Any], place: toml.Place, words: tuple[str, ...]) -> Iterator[Case]:
    name = toml.show(place)
    expect = REJECTED
    if name in LEFT_OPEN[kind]:
        expect = ACCEPTED_OR_REJECTED
    elif name in OPTIONAL[kind]:
        expect = DONE
    text = toml.write(toml.without(table, place))
    yield Case("files", f"{kind} {name}: left out", words, expect, {"file.toml": text})


def _texts(kind: str, text: str, words: tuple[str, ...]) -> Iterator[Case]:
    """The file as bytes: other encodings, truncated, nested, huge."""
    good: dict[str, str | bytes] = {
        "with a BOM": b"\xef\xbb\xbf" + text.encode(),
        "with CRLF": text.replace("\n", "\r\n"),
        "without a last newline": text.rstrip("\n"),
        "with comments": "# one\n\n" + text.replace("\n", " # two\n"),
        "with a BOM and CRLF": b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode(),
    }
    bad: dict[str, str | bytes] = {
        "empty": "",
        "blank": " \n\t\n",
        "binary": bytes(range(256)),
        "zeros": bytes(1000),
        "UTF-16": text.encode("utf-16"),
        "Latin-1": (text + "# é\n").encode("latin-1"),
        "lone surrogate": b"\xed\xa0\x80" + text.encode(),
        "nested lists": "a = " + "[" * 5000 + "]" * 5000,
        "nested tables": "a = " + "{b=" * 3000 + "1" + "}" * 3000,
        "long dotted key": ".".join(["a"] * 20000) + " = 1",
        "long key": "k" * 100_000 + " = 1",
        "long value": f'board = "{"As" * 100_000}"\n',
        "twice": text + text,
        "JSON": '{"board": "AsKd7h"}',
        "open quote": text.replace('"', "", 1),
        "line of brackets": "[[[[\n",
        "control": text + "\x01\n",
        "tag": "[/red]\n",
        "many keys": "".join(f"k{n} = 1\n" for n in range(5000)),
    }
    if kind == "models":
        good["twice"] = bad.pop("twice")  # two models
    for label, content in good.items():
        yield Case("good files", f"{kind} {label}", words, DONE, {"file.toml": content})
    for label, content in bad.items():
        yield Case("files", f"{kind} {label}", words, REJECTED, {"file.toml": content})
    step = max(1, len(text) // 12)
    for end in range(step, len(text), step):
        torn = Case(
            "files", f"{kind} torn after {end} characters", words, ACCEPTED_OR_REJECTED, {"file.toml": text[:end]}
        )
        yield torn


TURN = """\
board = "Td9d6hQc"
pot = 100
stack = 200
{top}
[ranges]
oop = "AA,KK"
ip = "QQ"
[bets]
turn = {{ bet = "50%" }}
{end}"""

CONTRADICTIONS: dict[str, tuple[str, str]] = {
    "rake without a rate": ("rake = { cap = 3 }", ""),
    "rake above one": ("rake = { rate = 1.5 }", ""),
    "lock twice": ("", '[[lock]]\nline = ""\nstrategy = { x = 1.0 }\n[[lock]]\nline = ""\nstrategy = { b50 = 1.0 }\n'),
    "lock twice, hands overlap": (
        "",  # all of them at the root
        '[[lock]]\nline = ""\nhands = "AA"\nstrategy = { x = 1.0 }\n'
        '[[lock]]\nline = ""\nhands = "AA,KK"\nstrategy = { b50 = 1.0 }\n',
    ),
    "lock with weights": ("", '[[lock]]\nline = ""\nhands = "AA:0.5"\nstrategy = { x = 1.0 }\n'),
    "lock sums to less": ("", '[[lock]]\nline = ""\nstrategy = { x = 0.5 }\n'),
    "lock sums to more": ("", '[[lock]]\nline = ""\nstrategy = { x = 0.9, b50 = 0.9 }\n'),
    "lock with nan": ("", '[[lock]]\nline = ""\nstrategy = { x = nan }\n'),
    "lock of hands nobody holds": ("", '[[lock]]\nline = ""\nhands = "22"\nstrategy = { x = 1.0 }\n'),
    "lock with an unknown move": ("", '[[lock]]\nline = ""\nstrategy = { b75 = 1.0 }\n'),
    "lock after the end": ("", '[[lock]]\nline = "b50-f"\nstrategy = { x = 1.0 }\n'),
    "deck without the board": ('deck = { ranks = "2345678" }', ""),
    "deck of five cards": ('deck = { ranks = "TQ96", suits = "d" }', ""),
    "deck with a rank twice": ('deck = { ranks = "TT9876Q" }', ""),
    "ip donks": ("", '[bets.ip]\nturn = { bet = "50%", donk = "20%" }\n'),
    "many sizes": ("", '[bets.oop]\nturn = { bet = "' + ", ".join(f"{n}c" for n in range(1, 701)) + '" }\n'),
    "pot beyond exact floats": ("", ""),
}


def _contradictions() -> Iterator[Case]:
    words = ("solve", "spot.toml", "--iterations", "2")
    for label, (top, end) in CONTRADICTIONS.items():
        text = TURN.format(top=top, end=end)
        expect = REJECTED
        if label == "many sizes":
            expect = ACCEPTED_OR_REJECTED | {3}
        if label == "pot beyond exact floats":
            text = text.replace("pot = 100", f"pot = {2**53 + 1}")
        yield Case("files", f"spot contradicts itself: {label}", words, expect, {"spot.toml": text})
