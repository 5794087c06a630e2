"""Tables, drills and charts: sources, lines, typed input, and files of sessions and records."""

from __future__ import annotations

from collections.abc import Iterator

from ..case import ACCEPTED_OR_REJECTED, DONE, Case
from ..values import ODD

SPOT = "../world/river"
DRILL = ("drill", SPOT, "--questions", "1", "--record", "d.jsonl", "--seed", "1")
SESSION = ("play", SPOT, "--hands", "1", "--seed", "1")


def cases() -> Iterator[Case]:
    """Valid and invalid values of every option."""
    yield Case("practice", "play a spot", SESSION, DONE, typed="c\n" * 9)
    yield Case("practice", "play leaves at once", SESSION, DONE, typed="")
    yield Case("practice", "drill answers", DRILL, DONE, typed="x\nc\nf\nc\n")
    yield Case("practice", "drill leaves at once", DRILL, DONE, typed="")
    yield Case("practice", "charts of a spot", ("charts", SPOT, "--list"), DONE)
    for name, words in {
        "play resume of nothing": (*SESSION, "--resume"),
        "play resume of a folder": (*SESSION, "--resume", "--out", "../world"),
        "play seat": (*SESSION, "--seat", "dealer"),
        "play histories": (*SESSION, "--histories", "x.phh"),
        "play another game": (*SESSION, "--game", "leduc"),
        "match of a spot": ("match", SPOT, "always-call", "--hands", "4"),
        "act of a spot": ("act", SPOT, "MATCHSTATE:0:0:c:9s8h|"),
        "drill of nothing": ("drill", "nowhere"),
        "drill of a baseline agent": ("drill", "always-call"),
        "drill only": (*DRILL, "--only", "easy"),
        "drill scope": (*DRILL, "--scope", "hand"),
        "drill seat": (*DRILL, "--seat", "dealer"),
        "drill line": (*DRILL, "--line", "x-x-x"),
        "drill line over": (*DRILL, "--line", "cc"),
        "charts of a baseline agent": ("charts", "always-call"),
        "charts line": ("charts", SPOT, "--line", "zz"),
        "charts picture": ("charts", SPOT, "--out", "x.doc"),
        "push one stack": ("charts", "push:10"),
        "push words": ("charts", "push:ten,ten"),
        "push option": ("charts", "push:10,10?colour=3"),
        "push of a folder with options": ("charts", f"{SPOT}?state=1,2"),
        "push blinds": ("charts", "push:10,10?blinds=1"),
        "review of nobody": ("review", "hands.log", "--player", "nobody"),
    }.items():
        yield Case("practice", name, words, typed="c\n")
    torn = {"d.jsonl": '{"source": 3}\n', "s.json": '{"kind": "sitting"}'}
    yield Case("practice", "record torn", (*DRILL, "--show"), files=torn)
    yield Case("practice", "session torn", (*SESSION, "--out", "s.json", "--resume"), files=torn, typed="c\n")
    for label, value in ODD.items():
        yield Case("practice", f"drill line {label}", (*DRILL, f"--line={value}"), ACCEPTED_OR_REJECTED, typed="c\n")
        yield Case("practice", f"charts source {label}", ("charts", f"push:{value}"), ACCEPTED_OR_REJECTED)
