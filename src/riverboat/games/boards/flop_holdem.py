"""No-limit flop hold'em: the first two rounds of hold'em, shown down on the flop. The games of the papers on endgames.

Brown and Sandholm (2017) give the counts of their games, not the menus: which of those that give the same counts stand
here is told in docs/decisions/0034-menus-of-flop-holdem.md. `one-bet` is a game that a competition winner's program was
timed on: four decisions before the flop and twelve on it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from riverboat.cards.deck import Deck
from riverboat.core.errors import InputError, shown, unknown
from riverboat.games.boards.full_holdem import BOARD, OPENERS, Holdem
from riverboat.games.holdem.menus import menu_from
from riverboat.games.holdem.rules import Rules

NO_STACKS = 1_000_000  # more than the bets of a game without stacks can come to: nobody is ever all-in
LEAST_CARDS = 7  # two hands and a flop


class Kind(NamedTuple):
    """A game by name: its menu as a menu file has it, and its chips."""

    menu: dict[str, Any]
    stack: int = 20_000
    blinds: tuple[int, int] = (50, 100)


def _nested(sizes: str) -> Kind:
    return Kind({"preflop": sizes, "flop": sizes, "most_raises": [1, 3]}, NO_STACKS)


KINDS = {
    "small": Kind(
        {
            "ip": {"preflop": ["100%, a", "100%, a", ""]},
            "oop": {"preflop": ["100%", "100%, a", ""]},
            "flop": "100%",
        }
    ),
    "large": Kind({"preflop": "100%, 200%", "flop": "150%", "most_raises": [3, 3]}),
    "nested": _nested("50%, 75%, 100%"),
    "nested-abstract": _nested("50%, 100%"),
    "one-bet": Kind({"preflop": "100%", "flop": "100%", "most_raises": [1, 1]}, 162, (1, 2)),
}


def flop_holdem(
    kind: str = "small",
    ranks: int = 13,
    suits: int = 4,
    preflop: str = "",
    flop: str = "",
    raises: str = "",
    stack: int = 0,
    blinds: str = "",
) -> Holdem:
    """No-limit hold'em of two rounds: `flop_holdem:small`, `large`, `nested`, `nested-abstract` or `one-bet`.

    `preflop` and `flop` are sizes instead of the kind's for both seats, with / between them: `flop=50%/100%/a`; `raises` is
    how many bets and raises there may be in each round, `2/3`. `ranks` and `suits` make the deck smaller, from the top.
    """
    if kind not in KINDS:
        raise unknown("kind of flop_holdem", kind, KINDS)
    menu, chips, posted = KINDS[kind]
    menu = dict(menu)
    for street, sizes in (("preflop", preflop), ("flop", flop)):
        if sizes:
            menu |= {street: sizes.replace("/", ", ")}
            menu |= {
                seat: {k: v for k, v in menu[seat].items() if k != street} for seat in ("ip", "oop") if seat in menu
            }
    if raises:
        menu["most_raises"] = list(_pair(raises, "raises", "2/3"))
    if blinds:
        posted = _pair(blinds, "blinds", "50/100")
    if Deck.small(ranks, suits).cards.size < LEAST_CARDS:
        raise InputError(f"flop_holdem: a deck of {ranks * suits} cards: {LEAST_CARDS} are dealt")
    rules = Rules(
        blinds=(posted[1], posted[0]),
        stacks=(stack or chips,) * 2,
        first=OPENERS[:2],
        suits=suits,
        ranks=ranks,
        board=BOARD[:2],
        name="flop_holdem",
    )
    return Holdem(rules, menu_from(menu), "flop_holdem")


def _pair(text: str, what: str, example: str) -> tuple[int, int]:
    parts = text.split("/")
    if len(parts) != 2 or not all(part.isdecimal() for part in parts):
        raise InputError(f"flop_holdem: {what}={shown(text)}: write two whole numbers, such as {example}")
    return int(parts[0]), int(parts[1])
