"""What decides a showdown: which kind of hand beats which, and where the ace stands in a straight.

standard      as with 52 cards; in a smaller deck too
short         short deck, 36 cards from the six on: a flush beats a full house, A-6-7-8-9 is the lowest straight
short-trips   the same, and three of a kind beats a straight
"""

from __future__ import annotations

from typing import NamedTuple

from riverboat.core.errors import unknown

CATEGORIES = (
    "high card",
    "pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
)


class HandRules(NamedTuple):
    """One way to rank hands."""

    order: tuple[str, ...]  # categories from worst to best
    lowest: int  # the lowest rank of the deck they are for; the ace also stands below it


def _short(*worst: str) -> HandRules:
    return HandRules((*worst, "full house", "flush", "four of a kind", "straight flush"), 4)


STANDARD = "standard"
RULES = {
    STANDARD: HandRules(CATEGORIES, 0),
    "short": _short("high card", "pair", "two pair", "three of a kind", "straight"),
    "short-trips": _short("high card", "pair", "two pair", "straight", "three of a kind"),
}


def hand_rules(name: str) -> HandRules:
    """Rules by their name."""
    if name not in RULES:
        raise unknown("rules", str(name), RULES)
    return RULES[name]
