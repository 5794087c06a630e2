"""All cases, and the subset that runs among the fast tests."""

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
FAST = 200  # number of cases among the fast tests


@cache
def cases() -> tuple[Case, ...]:
    """Every case, by group."""
    result = [case for group in GROUPS for case in group.cases()]
    ids = [case.id for case in result]
    twice = {name for name in ids if ids.count(name) > 1} if len(set(ids)) < len(ids) else set()
    if twice:
        raise ValueError(f"two cases with one name: {sorted(twice)[:5]}")
    return tuple(result)


@cache
def fast() -> frozenset[str]:
    """The same cases every time, of all groups in turn, in an order independent of their content."""
    groups: dict[str, list[Case]] = defaultdict(list)
    for case in sorted(cases(), key=lambda case: hashlib.sha256(case.id.encode()).digest()):
        if not case.slow:
            groups[case.group].append(case)
    in_turn = [case.id for row in zip_longest(*groups.values()) for case in row if case is not None]
    return frozenset(in_turn[:FAST])
