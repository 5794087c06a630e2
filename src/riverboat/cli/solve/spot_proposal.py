"""Proposals for a spot that is too large: leaner betting menus, with the memory and time of each before anything is solved.

    proposal = propose(spot, memory=8 << 30, seconds=300, threads=2)
    proposal.chosen.spot, proposal.chosen.left_out      # the richest menu that fits; None where even the leanest does not

The ladder begins with the spot's own menu. Each step leaves out more: later raises, large all-ins, sizes, raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from riverboat.cli.solve.spot_estimate import estimate
from riverboat.core.errors import MemoryLimitError
from riverboat.games.holdem.bet_sizes import Size
from riverboat.games.holdem.menus import Level, Menu, trimmed
from riverboat.games.holdem.rules import STREETS
from riverboat.games.spots.spot import Spot

SECONDS = 300.0  # that a proposal may take to its target
USUAL = Decimal(66)  # % of the pot: of many sizes the one nearest to it stays
ALL_IN_FROM = Decimal(150)  # % of the pot: up to here all-in stays a size
COMPACT, SIXTEEN_BITS = "compact", "16-bit"
LATER_RAISES = "third and later bets and raises of a street"
LARGE_ALL_INS = f"all-in bets and raises of more than {ALL_IN_FROM} % of the pot"
LATER_SIZES = "second and further sizes on later streets"
OTHER_SIZES = "second and further sizes on every street"
RAISES = "raises"


@dataclass(frozen=True)
class Candidate:
    """A spot with one menu of the ladder, and what its solve takes."""

    spot: Spot
    left_out: tuple[str, ...]  # of the spot's own menu; empty for that itself
    dtype: str  # of the tables: compact where they fit, else 16-bit
    infosets: int | None  # None where the tree is too large to be counted
    bytes: int | None
    seconds: float | None  # to the usual target
    fits: bool  # into the memory


@dataclass(frozen=True)
class Proposal:
    """The ladder of a spot, richest menu first, and the step that is proposed."""

    candidates: tuple[Candidate, ...]
    chosen: Candidate | None  # None: even the leanest does not fit into the memory


def propose(spot: Spot, *, memory: int, seconds: float = SECONDS, threads: int = 1) -> Proposal:
    """Estimate a spot with leaner and leaner menus, and choose the richest that fits into a memory and time budget.

    Where none is quick enough, the quickest that fits into the memory is chosen.
    """
    candidates = tuple(
        _candidate(replace(spot, menu=menu), left_out, memory, threads) for menu, left_out in ladder(spot)
    )
    fitting = [each for each in candidates if each.fits]
    quick = [each for each in fitting if each.seconds is not None and each.seconds <= seconds]
    chosen = next(iter(quick), fitting[-1] if fitting else None)
    return Proposal(candidates, chosen)


def ladder(spot: Spot) -> Iterator[tuple[Menu | None, tuple[str, ...]]]:
    """Yield the menu of a spot and leaner ones, each with what it leaves out; steps that change nothing are skipped.

    Limit games have no menu, and locks name moves of theirs: both have one step.
    """
    menu, street = spot.menu, len(spot.board) - 2
    left_out: tuple[str, ...] = ()
    yield menu, left_out
    if menu is None or spot.locks:
        return
    for change, what in _STEPS:
        leaner = change(menu, street)
        if leaner != menu:
            left_out = tuple(each for each in left_out if (each, what) != (LATER_SIZES, OTHER_SIZES))  # that says both
            menu, left_out = leaner, (*left_out, what)
            yield menu, left_out


def _candidate(spot: Spot, left_out: tuple[str, ...], memory: int, threads: int) -> Candidate:
    try:
        facts = estimate(spot, None, threads)
    except MemoryLimitError:
        return Candidate(spot, left_out, SIXTEEN_BITS, None, None, None, False)
    kinds = (COMPACT,) if spot.locks else (COMPACT, SIXTEEN_BITS)  # locks need exact regrets
    sizes = {kind: int(facts["bytes"][kind] + facts["bytes_tree"]) for kind in kinds}
    dtype = next((kind for kind in kinds if sizes[kind] <= memory), kinds[-1])
    fits = sizes[dtype] <= memory
    return Candidate(spot, left_out, dtype, facts["infosets"], sizes[dtype], facts["seconds_to_target"], fits)


# --- the steps --------------------------------------------------------------------------------


Step = Callable[[Menu, int], Menu]  # a menu and the street on which the spot begins -> a leaner menu


def _map(menu: Menu, change: Callable[[Level], Level], first: int = 0) -> Menu:
    """Return a menu with the lists of sizes changed, from a street on."""

    def at(street: int, level: Level) -> Level:
        return change(level) if street >= first else level

    oop, ip = (
        tuple(trimmed([at(street, level) for level in menu.of(seat, street)]) for street in range(len(STREETS)))
        for seat in (0, 1)
    )
    donks = [menu.donks[min(street, len(menu.donks) - 1)] for street in range(len(STREETS))]
    changed = [None if level is None else at(street, level) for street, level in enumerate(donks)]
    return replace(menu, levels=(trimmed(oop), trimmed(ip)), donks=trimmed(changed))


def _at_most(count: int) -> Step:
    """Cap the bets and raises of every street."""
    return lambda menu, _: replace(
        menu, most_raises=trimmed([count if most is None else min(most, count) for most in menu.most_raises])
    )


def _without_large_all_ins(menu: Menu, _: int) -> Menu:
    def change(level: Level) -> Level:
        others = tuple(size for size in level.sizes if size.kind != "a")
        return replace(level, sizes=others) if others else level

    leaner = _map(menu, change)
    if leaner == menu:
        return menu
    share = max(menu.thresholds.add_all_in, ALL_IN_FROM)
    return replace(leaner, thresholds=replace(menu.thresholds, add_all_in=share))


def _one_size(level: Level) -> Level:
    if level.every:
        return Level((Size("%", USUAL),))
    shares = [size for size in level.sizes if size.kind == "%"]
    nearest = sorted(shares, key=lambda size: abs(size.number - USUAL))[:1] or list(level.sizes[:1])
    return replace(level, sizes=tuple(nearest))


_STEPS: tuple[tuple[Step, str], ...] = (
    (_at_most(2), LATER_RAISES),
    (_without_large_all_ins, LARGE_ALL_INS),
    (lambda menu, street: _map(menu, _one_size, street + 1), LATER_SIZES),
    (lambda menu, _: _map(menu, _one_size), OTHER_SIZES),
    (_at_most(1), RAISES),
)
