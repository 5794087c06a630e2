"""Options of an agent that searches, as users write them: `demo?search=turn&method=resolve&iterations=200`.

search=turn          the first street that is solved: preflop, flop, turn or river
method=unsafe        unsafe, resolve, maxmargin, reach_maxmargin, estimate
iterations=100       of a solve, at most; without it 300 on a river, 100 before it
until=0.4            % of the pot, at which fewer do
time=2s              that a solve may take, instead of iterations
menu=50%,100%,a      sizes of bets; without it they are chosen by what is left behind and the time there is
nested=expensive     how a bet that is not in the tree is met: inexpensive or expensive
floor=0.01           the least weight of a hand of the opponent
model=0.05           moves of the blueprint that are less likely are never made by the opponent
play=0.05            moves of a solution that are less likely are never made
leaves=continuations how exits of a flop (or preflop) are valued: continuations, simulation, table, learnt
forced=0.1           of method=resolve: so much of the opponent's range may not stop
spread=1             of method=estimate: values are drawn around what they are, with so many times their known error
threads=1
device=cpu           cpu, cuda, or auto for what there is
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from riverboat.core.errors import InputError, shown
from riverboat.core.formatting import duration
from riverboat.subgames.search.menus import parse_table_menu
from riverboat.subgames.search.search import SearchSettings

_WHOLE = ("iterations", "threads")
_NUMBERS = ("until", "floor", "model", "play", "forced", "spread")
_WORDS = ("method", "nested", "leaves", "device")
SEARCH_OPTIONS = ("search", *_WORDS, *_WHOLE, *_NUMBERS, "time", "menu")


def search_settings(options: Mapping[str, str], text: str) -> SearchSettings | None:
    """Settings from the options of an agent; None where it does not search."""
    given = [key for key in SEARCH_OPTIONS if key in options]
    if not given:
        return None
    if "search" not in options:
        raise InputError(f"agent {shown(text)}: {given[0]} is for agents that search: add search=turn")
    settings: dict[str, Any] = {"street": options["search"]} if options["search"] else {}
    settings |= {key: options[key] for key in _WORDS if key in options}
    for key in (*_WHOLE, *_NUMBERS):
        if key in options:
            whole = key in _WHOLE
            if not re.fullmatch(r"\d+" if whole else r"\d+(\.\d+)?|\.\d+", options[key], re.ASCII):
                kind = "whole number" if whole else "number such as 0.1"
                raise InputError(f"agent {shown(text)}: {key}={shown(options[key])}: write a {kind}")
            settings[key] = int(options[key]) if whole else float(options[key])
    try:
        if "time" in options:
            settings["seconds"] = duration(options["time"])
        if "menu" in options:
            settings["menu"] = parse_table_menu(options["menu"])
        return SearchSettings(**settings)
    except InputError as error:
        raise InputError(f"agent {shown(text)}: {error}") from None
