"""Where a question stands, in words to group by: the line, the kind of board and the kind of hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from riverboat.cards.deck import RANKS, hand_index
from riverboat.cards.grid import CLASS_NAMES, CLASS_OF_HAND
from riverboat.cards.hand_classes import classify

HIGH = {12: "ace high", 11: "king high", 10: "queen high", 9: "jack high"}


def board_class(board: Sequence[int]) -> str:
    """A board as players call it: `king high, two-tone`, with `paired` where it is."""
    if not board:
        return "before the flop"
    ranks, suits = Counter(card >> 2 for card in board), Counter(card & 3 for card in board)
    most = max(suits.values())
    suited = "rainbow" if most == 1 else "two-tone" if most == 2 else "three of a suit" if most == 3 else "flush board"
    if len(board) == 3 and most == 3:
        suited = "monotone"
    high = HIGH.get(max(ranks), "ten high or lower")
    paired = ", trips" if max(ranks.values()) > 2 else ", paired" if max(ranks.values()) == 2 else ""
    return f"{high}, {suited}{paired}"


def hand_class(hole: Sequence[int], board: Sequence[int]) -> str:
    """A hand as players call it: what it has made on a board, with its first draw; before the flop its kind."""
    if len(board) >= 3:
        kind = classify(tuple(hole), tuple(board))
        draws = [draw for draw in kind.draws if draw not in ("no draw", "overcards", "backdoor flush draw")]
        return f"{kind.made}, {draws[0]}" if draws else kind.made
    return starting_class(CLASS_NAMES[int(CLASS_OF_HAND[hand_index(*hole)])])


def starting_class(name: str) -> str:
    """The kind of a starting hand by its name, such as `AKs`."""
    high, low = (RANKS.index(letter) for letter in name[:2])
    if high == low:
        return "high pair" if high >= 8 else "middle pair" if high >= 4 else "low pair"
    suited = "suited" if name.endswith("s") else "offsuit"
    if high == 12:
        return f"{suited} ace"
    if low >= 8:
        return f"{suited} broadway"
    return f"{suited} connector" if high - low <= 2 else f"{suited} other"
