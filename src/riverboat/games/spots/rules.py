"""The rules of a spot and the moves before its root: from what players write, or from a state of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

from riverboat.core.errors import InputError, shown
from riverboat.games.holdem.action_labels import ACPC, STREET
from riverboat.games.holdem.betting import Betting, steps
from riverboat.games.holdem.betting_rules import step
from riverboat.games.holdem.menus import Menu, trimmed
from riverboat.games.holdem.menus import most_raises as read_most_raises
from riverboat.games.holdem.rules import MOST_OF_SPOTS, Rake, Rules

# --- what players write -----------------------------------------------------------------------


def written_rules(pot: Any, stack: Any, least_bet: Any, rake: Rake, raise_sizes: Any, most_raises: Any) -> Rules:
    """The rules of a spot; of a limit game where there are `raise_sizes`."""
    both = isinstance(stack, Sequence) and not isinstance(stack, str) and len(stack) == 2
    stacks = (stack[0], stack[1]) if both else (stack, stack)
    for what, amount in (("pot", pot), ("stack", stacks[0]), ("stack", stacks[1]), ("least_bet", least_bet)):
        _whole(what, amount)
    if pot <= 0:
        raise InputError(f"pot={shown(pot)}: must be above zero; a spot is played for what is in the middle")
    if min(stacks) <= 0:
        raise InputError(
            f"stack={shown(min(stacks))}: too little to call any bet; give the chips that the shorter player has behind"
        )
    if pot + 2 * max(stacks) > MOST_OF_SPOTS:
        raise InputError(
            f"pot={shown(pot)} and stack={shown(max(stacks))}: more than 2^53 chips in all cannot be counted exactly; "
            "divide all amounts by the same number"
        )
    limit: dict[str, Any] = {}
    if raise_sizes is not None:
        limit = {"limit": True, "raise_sizes": _by_round(raise_sizes), "most_raises": _by_round(most_raises)}
    return Rules(
        blinds=(0, 0), pot=pot, stacks=stacks, least_bet=least_bet, rake=rake, first=(1, 0, 0, 0), name="spot", **limit
    )


def _by_round(counts: Any) -> tuple[int, ...]:
    if not isinstance(counts, Sequence) or len(counts) != 4 or not all(type(n) is int for n in counts):
        raise InputError(
            f"limit: {shown(counts)}: write a whole number for each round from the deal on: [10, 10, 20, 20]"
        )
    return tuple(counts)


def written_most_raises(raise_cap: Any, most_raises: Any) -> tuple[int | None, ...]:
    """Bets and raises of a street; a cap on raises does not count the first bet."""
    if raise_cap is None:
        return read_most_raises(most_raises, "tree")
    if most_raises is not None:
        raise InputError("raise_cap and most_raises say the same in two ways; give one of them")
    _whole("raise_cap", raise_cap)
    if raise_cap < 0:
        raise InputError(f"raise_cap={shown(raise_cap)}: raises a street must not be negative; leave it out for no cap")
    return (raise_cap + 1,)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _whole(what: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        way = (
            "multiply all amounts until they are"
            if _number(value) and isfinite(value)
            else "write a number such as 180"
        )
        raise InputError(f"{what}={shown(value)}: must be a whole number; {way}")


# --- table states -----------------------------------------------------------------------------


def table_rules(rules: Rules, before: int) -> Rules:
    """The rules of a street and what follows, with what was put in before as a pot that belongs to nobody."""
    stacks = rules.stacks
    if stacks is None:  # a limit game: as much as all bets come to, and a chip
        stacks = (before + _most_bet(rules) + 1,) * 2
    return replace(
        rules,
        blinds=(0, 0),
        ante=0,
        pot=rules.pot + 2 * before,
        stacks=(stacks[0] - before, stacks[1] - before),
        least_bet=rules.book.least_bet,
        most_raises=rules.most_raises if rules.limit else None,
        first=(1, 0, 0, 0),
    )


def _most_bet(rules: Rules) -> int:
    assert rules.most_raises is not None
    return sum(size * most for size, most in zip(rules.raise_sizes, rules.most_raises, strict=True))


def capped(menu: Menu, rules: Rules) -> Menu:
    """A menu with the most raises that the rules allow."""
    if rules.most_raises is None:
        return menu
    own = [menu.most_raises[min(street, len(menu.most_raises) - 1)] for street in range(rules.rounds)]
    most = [ours if theirs is None else min(ours, theirs) for ours, theirs in zip(rules.most_raises, own, strict=True)]
    return replace(menu, most_raises=trimmed(most))


def played_moves(state: Betting) -> str:
    """The moves of this street as spots write them."""
    line = state.line.rpartition("/")[2]
    rules = table_rules(state.rules, state.before)
    theirs = Betting.on(state.rules, state.street, state.before).at
    ours = Betting.on(rules, state.street).at
    written = []
    for label in steps(line):
        move = ACPC.read(state.rules.book, theirs, label)
        assert move is not None
        here = move - state.before if move > 0 else move
        written.append(STREET.write(rules.book, ours, here))
        theirs, ours = step(state.rules.book, theirs, move), step(rules.book, ours, here)
    return STREET.joiner.join(written)
