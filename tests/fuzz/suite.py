"""All cases, the part of them that runs in the fast tests, and those that wait for something."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from fnmatch import fnmatchcase
from functools import cache
from itertools import zip_longest

from .case import Case
from .groups import artefacts, cards, extremes, game_files, match_states, names, numbers, places, tables, words

GROUPS = (names, numbers, cards, tables, game_files, match_states, places, artefacts, words, extremes)
FAST = 200  # cases of the fast tests

# Faults that are known and being worked on: pattern of ids -> whose they are. It only ever shrinks.
PENDING: dict[str, str] = {}


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
        if not case.slow and pending(case) is None:
            groups[case.group].append(case)
    in_turn = [case.id for row in zip_longest(*groups.values()) for case in row if case is not None]
    return frozenset(in_turn[:FAST])


def pending(case: Case) -> str | None:
    """Who is working on a case that is known to fail."""
    return next((who for pattern, who in PENDING.items() if fnmatchcase(case.id, pattern)), None)
