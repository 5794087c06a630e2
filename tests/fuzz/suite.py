"""All cases, and the part of them that runs in the fast tests."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from functools import cache
from itertools import zip_longest

from .case import Case
from .groups import (
    artefacts,
    cards,
    extremes,
    game_files,
    match_states,
    names,
    numbers,
    places,
    practice,
    tables,
    tournaments,
    words,
)

GROUPS = (
    names,
    numbers,
    cards,
    tables,
    game_files,
    match_states,
    places,
    artefacts,
    words,
    tournaments,
    practice,
    extremes,
)
FAST = 200  # cases of the fast tests


@cache
def cases() -> tuple[Case, ...]:
    """Every case, by group."""
    found = [case for group in GROUPS for case in group.cases()]
    ids = [case.id for case in found]
    twice = {name for name in ids if ids.count(name) > 1} if len(set(ids)) < len(ids) else set()
    if twice:
        raise ValueError(f"two cases with one name: {sorted(twice)[:5]}")
    return tuple(found)


@cache
def fast() -> frozenset[str]:
    """The same cases every time, of all groups in turn, in an order that has nothing to do with what they are."""
    groups: dict[str, list[Case]] = defaultdict(list)
    for case in sorted(cases(), key=lambda case: hashlib.sha256(case.id.encode()).digest()):
        if not case.slow:
            groups[case.group].append(case)
    in_turn = [case.id for row in zip_longest(*groups.values()) for case in row if case is not None]
    return frozenset(in_turn[:FAST])
