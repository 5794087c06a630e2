"""Simpler betting menus for a spot that is too large, with the memory and time of each before anything is solved.

    proposal = propose(spot, memory=8 << 30, seconds=300, threads=2)
    proposal.chosen.spot, proposal.chosen.left_out      # the richest menu that fits; None if even the simplest does not

The list begins with the spot's own menu. Each step leaves out more: small raises, later raises, large all-ins, sizes,
raises. `bench/lean_menus.py` measures what steps cost in EV.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from riverboat.api.estimate import estimate_spot
from riverboat.core.errors import MemoryLimitError
from riverboat.engines.tables import SIXTEEN_BITS, choose_format
from riverboat.games.holdem.bet_sizes import BetSize
from riverboat.games.holdem.menus import ActionMenu, MenuLevel, MenuLevels, trim_repeats
from riverboat.games.holdem.rules import STREETS
from riverboat.games.spots.spot import Spot

DEFAULT_SECONDS = 300.0  # default time budget to the target
USUAL_BET = Decimal(66)  # % of the pot: of several sizes the nearest one is kept
MAX_ALL_IN = Decimal(150)  # % of the pot: larger all-ins are removed
LARGER_RAISE = MenuLevel((BetSize("%", Decimal(75)),))
ALL_IN_RAISE = MenuLevel((BetSize("a"),))
MIN_REMAINDER = Decimal(33)  # % of the pot: a bet that would leave less behind is all-in
SMALL_RAISES = "raises of less than 75 % of the pot: the first is 75 %, later ones all-in"
LATER_RAISES = "third and later bets and raises of a street"
LARGE_ALL_INS = f"all-in bets and raises of more than {MAX_ALL_IN} % of the pot"
LATER_SIZES = "second and further sizes on later streets"
OTHER_SIZES = "second and further sizes on every street"
RAISES = "raises"


@dataclass(frozen=True)
class MenuCandidate:
    """A spot with one of the simpler menus, and the cost of solving it."""

    spot: Spot
    left_out: tuple[str, ...]  # what the spot's own menu has in addition; empty for that menu itself
    dtype: str  # format of the tables: compact if they fit, otherwise 16-bit
    infosets: int | None  # None if the tree is too large to count
    bytes: int | None
    seconds: float | None  # estimated time to the usual target
    fits: bool  # whether it is within the memory limit


@dataclass(frozen=True)
class MenuProposal:
    """The candidate menus of a spot, richest first, and the proposed one."""

    candidates: tuple[MenuCandidate, ...]
    chosen: MenuCandidate | None  # None: even the simplest exceeds the memory limit


def propose(spot: Spot, *, memory: int, seconds: float = DEFAULT_SECONDS, threads: int = 1) -> MenuProposal:
    """Estimate a spot with simpler and simpler menus, and choose the richest within a memory and time budget.

    If none is quick enough, the quickest within the memory limit is chosen.
    """
    spots = ((replace(spot, menu=menu), left_out) for menu, left_out in leaner_menus(spot))
    candidates = tuple(_estimate_candidate(each, left_out, memory, threads) for each, left_out in spots)
    fitting = [each for each in candidates if each.fits]
    quick = [each for each in fitting if each.seconds is not None and each.seconds <= seconds]
    chosen = next(iter(quick), fitting[-1] if fitting else None)
    return MenuProposal(candidates, chosen)


def leaner_menus(spot: Spot) -> Iterator[tuple[ActionMenu | None, tuple[str, ...]]]:
    """Yield the menu of a spot and simpler ones, each with what it leaves out; steps that change nothing are skipped.

    Limit games have no menu, and locks refer to the actions of theirs: both have one step only.
    """
    menu, street = spot.menu, len(spot.board) - 2
    left_out: tuple[str, ...] = ()
    yield menu, left_out
    if menu is None or spot.locks:
        return
    for change, removed in MENU_CHANGES:
        leaner = change(menu, street)
        if leaner != menu:
            # OTHER_SIZES covers both
            left_out = tuple(each for each in left_out if (each, removed) != (LATER_SIZES, OTHER_SIZES))
            menu, left_out = leaner, (*left_out, removed)
            yield menu, left_out


def _estimate_candidate(spot: Spot, left_out: tuple[str, ...], memory: int, threads: int) -> MenuCandidate:
    try:
        facts = estimate_spot(spot, None, threads)
    except MemoryLimitError:
        return MenuCandidate(spot, left_out, SIXTEEN_BITS, None, None, None, False)
    sizes = {kind: int(size + facts["bytes_tree"]) for kind, size in facts["bytes"].items()}
    dtype = choose_format(sizes, memory, locks=bool(spot.locks))
    fits = sizes[dtype] <= memory
    return MenuCandidate(spot, left_out, dtype, facts["infosets"], sizes[dtype], facts["seconds_to_target"], fits)


# --- Steps ---


MenuChange = Callable[[ActionMenu, int], ActionMenu]  # a menu and the first street of the spot -> a simpler menu


def _map_levels(menu: ActionMenu, change: Callable[[MenuLevel], MenuLevel], first: int = 0) -> ActionMenu:
    """Return a menu with `change` applied to the sizes of all raise levels and donk bets, from street `first` on."""

    def at(street: int, level: MenuLevel) -> MenuLevel:
        return change(level) if street >= first else level

    oop, ip = (
        tuple(
            trim_repeats([at(street, level) for level in menu.levels_for(seat, street)])
            for street in range(len(STREETS))
        )
        for seat in (0, 1)
    )
    donks = [menu.donks[min(street, len(menu.donks) - 1)] for street in range(len(STREETS))]
    changed = [None if level is None else at(street, level) for street, level in enumerate(donks)]
    return replace(menu, levels=(trim_repeats(oop), trim_repeats(ip)), donks=trim_repeats(changed))


def _larger_raises(menu: ActionMenu, _: int) -> ActionMenu:
    """Return a menu with raises of 75 % of the pot, then all-in, if the first raises are smaller ones."""

    def change(levels: MenuLevels) -> MenuLevels:
        raises = levels[1].sizes if len(levels) > 1 else ()
        small = bool(raises) and all(size.kind == "%" and size.number < 75 for size in raises)
        return (levels[0], LARGER_RAISE, ALL_IN_RAISE) if small else levels

    oop, ip = (trim_repeats([change(levels) for levels in streets]) for streets in menu.levels)
    if (oop, ip) == menu.levels:
        return menu
    remainder = max(menu.thresholds.force_all_in, MIN_REMAINDER)
    return replace(menu, levels=(oop, ip), thresholds=replace(menu.thresholds, force_all_in=remainder))


def _cap_raises(count: int) -> MenuChange:
    """Return a menu change that allows at most `count` bets and raises on every street."""
    return lambda menu, _: replace(
        menu, most_raises=trim_repeats([count if most is None else min(most, count) for most in menu.most_raises])
    )


def _without_large_all_ins(menu: ActionMenu, _: int) -> ActionMenu:
    def change(level: MenuLevel) -> MenuLevel:
        others = tuple(size for size in level.sizes if size.kind != "a")
        return replace(level, sizes=others) if others else level

    leaner = _map_levels(menu, change)
    if leaner == menu:
        return menu
    share = max(menu.thresholds.add_all_in, MAX_ALL_IN)
    return replace(leaner, thresholds=replace(menu.thresholds, add_all_in=share))


def _one_size(level: MenuLevel) -> MenuLevel:
    if level.every_size:
        return MenuLevel((BetSize("%", USUAL_BET),))
    shares = [size for size in level.sizes if size.kind == "%"]
    nearest = sorted(shares, key=lambda size: abs(size.number - USUAL_BET))[:1] or list(level.sizes[:1])
    return replace(level, sizes=tuple(nearest))


MENU_CHANGES: tuple[tuple[MenuChange, str], ...] = (
    (_larger_raises, SMALL_RAISES),
    (_cap_raises(2), LATER_RAISES),
    (_without_large_all_ins, LARGE_ALL_INS),
    (lambda menu, street: _map_levels(menu, _one_size, street + 1), LATER_SIZES),
    (lambda menu, _: _map_levels(menu, _one_size), OTHER_SIZES),
    (_cap_raises(1), RAISES),
)
