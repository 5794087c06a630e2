"""Spots on which the board engine is compared: few hands, several streets."""

from __future__ import annotations

from functools import cache
from typing import Any
from unittest.mock import patch

from riverboat.cards.deck import Deck
from riverboat.games.spots.spot import Spot
from riverboat.trees import betting
from riverboat.trees.boards import BoardTree
from riverboat.trees.public import PublicTree

SMALL, SMALLER = Deck.small(5, 4), Deck.small(6, 3)

# Few hands, distinct weights, boards and ranges with and without suit isomorphisms.
SPOTS: dict[str, dict[str, Any]] = {
    "river": {
        "board": "Td9d6hQc2s", "pot": 200, "stack": 900, "bets": "60%,a", "raises": "2.5x",
        "oop": "AA:0.3,KsJs:0.7,T9s,55:0.9,KdJd,A5s:0.4", "ip": "QQ,TT:0.5,AdKd:0.8,87s,44:0.6,A9o:0.35",
    },
    "turn": {
        "board": "Td9d6hQc", "pot": 20, "stack": 60, "bets": "60%", "raises": "a",
        "oop": "AA:0.3,KsJs:0.7,T9s,55:0.9", "ip": "QQ,TT:0.5,AdKd:0.8,87s",
    },
    "turn, three suits alike": {
        "board": "Ts9s6s2s", "pot": 20, "stack": 60, "bets": "60%", "raises": "a",
        "oop": "AA:0.3,KJs:0.7,T9o:0.6", "ip": "QQ,TT:0.5,AKs:0.8,87o:0.2",
    },
    "turn, two suits alike": {
        "board": "Td9d6d2h", "pot": 20, "stack": 60, "bets": {"turn": {}, "river": {"bet": "50%, a"}},
        "oop": "AKs:0.3,QQ:0.7", "ip": "JJ,AdQd:0.4,87s:0.2",
    },
    "flop": {
        "board": "AsKhQd", "pot": 20, "stack": 40, "bets": "75%", "deck": SMALLER,
        "oop": "AA,KTs:0.5,JJ:0.3,T9s:0.8", "ip": "QQ,JTs:0.7,AJs:0.45,99",
    },
    "flop, three suits alike": {
        "board": "AsKsTs", "pot": 20, "stack": 40, "bets": "75%", "deck": SMALL,
        "oop": "AA,KQs:0.5,JJ:0.3,TT:0.2", "ip": "QQ,AJs:0.45,KK",
    },
    "flop, suits of ranges differ": {
        "board": "AsKsTh", "pot": 20, "stack": 40, "bets": "75%", "deck": SMALL,
        "oop": "AdAc,KdQd:0.5,JJ:0.3,TsTd:0.2", "ip": "QQ,AcJc:0.45,KhKc",
    },
    "flop, many lines": {  # more terminals than one batch of the last street holds
        "board": "AsKhQd", "pot": 20, "stack": 100, "bets": "50%, a", "raises": "a", "deck": SMALLER,
        "oop": "AhAd,KdTd:0.5,JsJh:0.3", "ip": "QsQh,JdTd:0.7,AdJd:0.45",
    },
    "flop with rake": {
        "board": "AsKsTs", "pot": 20, "stack": 40, "bets": "75%", "deck": SMALLER, "rake": 0.07, "rake_cap": 3.0,
        "oop": "AA,KQs:0.5,JJ:0.3,TT:0.2", "ip": "QQ,AJs:0.45,KK",
    },
}  # fmt: skip


@cache
def spot(name: str) -> Spot:
    return Spot.make(**SPOTS[name])


@cache
def compiled(name: str) -> BoardTree:
    """Compile a spot; its betting is cut into several batches even where these fill SIMD vectors partly."""
    with patch.object(betting, "EXTRA_VECTORS", 9.0):
        return BoardTree(spot(name))


@cache
def unrolled(name: str) -> PublicTree:
    return PublicTree(spot(name))
