"""Sizes for a subgame that is solved at the table: chosen by what is left behind and by the time there is.

    menu = table_menu(state, work=2e7)

All-in is always there. Menus go from rich to lean; the richest is taken whose tree is within the work that is allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from math import comb

from riverboat.core.errors import InputError, shown
from riverboat.games.base import CHANCE
from riverboat.games.holdem.bet_sizes import NO_THRESHOLDS, Size, parse_sizes, show_sizes
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.betting_rules import deal, step
from riverboat.games.holdem.menus import Choices, Level, Levels, Menu, menu_from, totals, trimmed

LADDER: tuple[tuple[Sequence[str], Sequence[str]], ...] = (  # turn, river: first bet, first raise, from then on
    (("33%, 75%, 150%, a", "75%, a", "a"), ("33%, 75%, 150%, a", "50%, 100%, a", "100%, a", "a")),
    (("50%, 100%, a", "100%, a", "a"), ("50%, 100%, a", "100%, a", "a")),
    (("50%, 100%, a", "100%, a", "a"), ("100%, a", "a")),
    (("100%, a", "100%, a", "a"), ("100%, a", "a")),
    (("100%, a", "a"), ("100%, a", "a")),
    (("100%, a", "a"), ("a",)),
    (("a",), ("a",)),
)


@lru_cache(maxsize=1 << 12)
def table_menu(state: Betting, work: float, total: int | None = None) -> Menu:
    """The richest menu whose tree takes at most so much work: decisions and terminals, times boards, times hands.

    With `total` the seat to act may also raise to that.
    """
    for turn, river in LADDER:
        menu = menu_from({"preflop": list(turn), "river": list(river)})
        if total is not None and total not in totals(menu, state):
            menu = with_total(menu, state, total)
        if work_of(state, menu, work) <= work:
            return menu
    return menu


def parse_table_menu(text: str) -> Menu:
    """A menu from a list of sizes, `50%,100%,a`; all-in joins where it is not named."""
    try:
        sizes = show_sizes(parse_sizes(text, "menu", raising=False))
    except InputError as error:
        raise InputError(f"menu={shown(text)}: {error}") from None
    first = sizes if "a" in sizes.split(", ") else f"{sizes}, a" if sizes else "a"
    return menu_from({"preflop": [first, first, "a"]})


def work_of(state: Betting, menu: Menu, most: float) -> float:
    """Nodes of a tree times boards and hands, counted until they are more than `most`."""
    choices, book = Choices(state.rules, menu), state.rules.book
    waiting, total, first = [state.at], 0.0, state.street
    left = len(state.rules.deck.cards) - state.rules.board_sizes[first]
    while waiting and total <= most:
        s = waiting.pop()
        total += comb(left, 2) * left ** (s.street - first)
        actor = Betting(state.rules, s).actor
        if actor == CHANCE:
            waiting.append(deal(book, s))
        elif actor >= 0:
            waiting += [step(book, s, move) for move in choices.moves(s)]
    return total


def with_total(menu: Menu, state: Betting, total: int) -> Menu:
    """A menu in which the seat to act may also raise to a total, at this decision."""
    seat, street, raises = state.turn, state.street, state.raises
    chips = Size("c", parse_sizes(f"{total - max(state.spent)}c")[0].number)
    streets = [menu.of(seat, number) for number in range(state.rules.rounds)]
    levels = [*streets[street]]
    levels += [levels[-1]] * (raises + 2 - len(levels))
    levels[raises] = Level((*levels[raises].sizes, chips))
    streets[street] = trimmed(levels)
    both: list[tuple[Levels, ...]] = [menu.levels[0], menu.levels[1]]
    both[seat] = trimmed(streets)
    most = [menu.most_raises[min(k, len(menu.most_raises) - 1)] for k in range(state.rules.rounds)]
    if (cap := most[street]) is not None:
        most[street] = max(cap, raises + 1)
    wider = replace(menu, levels=(both[0], both[1]), most_raises=tuple(most))
    if total in totals(wider, state):
        return wider
    # Sizes that are merged, or those of who did not lead, may have hidden it.
    return replace(wider, thresholds=NO_THRESHOLDS, donks=(None,), donk_bets=True)
