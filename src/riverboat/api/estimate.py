"""Size, memory and time of a solve, before anything is allocated.

estimate("leduc")["bytes"]
estimate("examples/spots/river.toml")["seconds_to_target"]

For a spot that is too large, `propose` estimates simpler betting menus. Each step leaves out more: small raises, later
raises, large all-ins, sizes, raises. `bench/lean_menus.py` measures what the steps cost in EV.

    proposal = propose(spot, memory=8 << 30, seconds=300, threads=2)
    proposal.chosen.spot, proposal.chosen.left_out      # the richest menu that fits; None if even the simplest does not
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import permutations
from typing import Any

import numpy as np

from riverboat.api.boards import read_boards, spots_on_boards
from riverboat.api.options import ByteSize, Threads, parse_byte_size
from riverboat.core.errors import InputError, MemoryLimitError, short_repr
from riverboat.core.observer import SILENT, Observer
from riverboat.engines.tables import SIXTEEN_BITS, TABLE_FORMATS, choose_format
from riverboat.games import tree_layout
from riverboat.games.base import Game, GameWithContinuations, PublicGame, append_label
from riverboat.games.boards.board_game import BoardGame
from riverboat.games.holdem import rules
from riverboat.games.holdem.bet_sizes import BetSize
from riverboat.games.holdem.menus import ActionMenu, MenuLevel, MenuLevels, trim_repeats
from riverboat.games.registry import game_from_spec
from riverboat.games.spots.spot import STREETS, Spot
from riverboat.solvers import schedules
from riverboat.solvers.run import default_schedule, fitting_dtype, solver_table_bytes
from riverboat.solvers.solver_run import DEFAULT_SPOT_TARGET
from riverboat.solvers.tabular import cfr
from riverboat.strategies.reports.node import player_names
from riverboat.trees.boards import BoardTree
from riverboat.trees.compile import compile_game

NUM_SUITS = 4


def estimate(
    game: str | Game,
    *,
    schedule: str | None = None,
    threads: Threads = 1,
    traversal: str = "full",
    boards: str | None = None,
    memory: ByteSize | None = None,
    observer: Observer = SILENT,
) -> dict[str, Any]:
    """Estimate the size, memory and time of a solve without solving.

    Parameters
    ----------
    game
        Game, or its name with options.
    schedule
        CFR schedule; the default of the game if None.
    threads
        Threads of the solve.
    traversal
        Traversal of the solve.
    boards
        Spots only: many boards, as `all`, `sample:25` or a file. They are solved one after the other: seconds are summed,
        memory is that of the largest. Boards with the same suit symmetries take about the same time, so one of each kind is
        estimated.
    memory
        Memory limit of the tables of hold'em, such as 2GB; the free memory by default.
    observer
        Receives the stage of the work.

    Returns
    -------
    dict
        JSON fields of `riverboat solve --estimate`: `infosets`, `bytes` for each table format, and for hold'em `dtype`, the
        format that a solve uses by default, streets, menus in chips, `seconds_per_iteration`, `seconds_to_target` and, with
        `boards`, `solves`.

    Examples
    --------
    >>> facts = estimate("leduc")
    >>> facts["infosets"], facts["figures_are"]
    (936, 'exact')
    """
    made = game_from_spec(game) if isinstance(game, str) else game
    limit = None if memory is None else parse_byte_size(memory)
    if boards is not None:
        if not isinstance(made, Spot):
            raise InputError(f"boards {short_repr(boards)}: for spots, not for {made.name}")
        return _estimate_boards(made, schedule, threads, boards, limit)
    with observer.during(f"building the tree of {made.name}"):
        if isinstance(made, BoardGame):
            return estimate_spot(made, schedule, threads, traversal, limit)
        return estimate_tree(made, schedule)


def _estimate_boards(spot: Spot, schedule: str | None, threads: int, boards: str, memory: int | None) -> dict[str, Any]:
    kinds: dict[int, list[Spot]] = {}
    for board_spot in spots_on_boards(spot, read_boards(boards)):
        kinds.setdefault(suit_symmetries(board_spot.board), []).append(board_spot)
    sizes = {kind: estimate_spot(group[0], schedule, threads, memory=memory) for kind, group in kinds.items()}
    largest = max(sizes.values(), key=lambda facts: facts["infoset_actions"])
    seconds = sum(len(group) * sizes[kind]["seconds_to_target"] for kind, group in kinds.items())
    return largest | {"seconds_to_target": seconds, "solves": sum(map(len, kinds.values()))}


def suit_symmetries(board: Sequence[int]) -> int:
    """Return the number of suit permutations that leave a board unchanged; more symmetry means fewer distinct runouts."""
    cards = {divmod(card, NUM_SUITS) for card in board}
    return sum({(rank, to[suit]) for rank, suit in cards} == cards for to in permutations(range(NUM_SUITS)))


# --- Games other than hold'em: size of tree and tables ---

PROBE_SECONDS = 2.0  # time of random probes
MAX_NODES_BUILT = 50_000  # most estimated nodes of a tree that is built and counted exactly
EXACT, ESTIMATED = "exact", "estimates from random probes of the tree: the order of magnitude"


def estimate_tree(game: Game, schedule: str | None) -> dict[str, Any]:
    """Return the fields of `--estimate --json` for a game other than hold'em."""
    if isinstance(game, GameWithContinuations):  # values of the smaller games do not change the size of this one
        game = game.with_values(dict.fromkeys(game.continuations, 0.0))
    if isinstance(game, PublicGame) and hasattr(game, "layout"):
        return _public_game_estimate(game, _layout_size(game.layout()), schedule, EXACT)
    size = tree_layout.estimate_tree_size(game.root(), PROBE_SECONDS)
    if size.nodes <= MAX_NODES_BUILT:
        return _exact_estimate(game, schedule)
    if isinstance(game, PublicGame):
        return _public_game_estimate(game, size, schedule, ESTIMATED)
    return {"game": game.name, "nodes": round(size.nodes), "figures_are": ESTIMATED}


def _layout_size(layout: tree_layout.PublicTreeLayout) -> tree_layout.TreeSizeEstimate:
    """Return nodes, decisions and actions of a public tree whose game provides its layout."""
    widths = np.array([len(menu) for menu in layout.action_labels])
    size = tree_layout.TreeSizeEstimate(float(len(layout.actor)))
    for player in (0, 1):
        menus = layout.index[layout.actor == player]
        size.decisions[player], size.actions[player] = float(len(menus)), float(widths[menus].sum())
    return size


def _public_game_estimate(
    game: PublicGame, size: tree_layout.TreeSizeEstimate, schedule: str | None, what: str
) -> dict[str, Any]:
    """Return the JSON estimate of a public game: each decision has an information set for every hand of its player.

    `what`: how exact the figures are, `EXACT` or `ESTIMATED`.
    """
    infosets, infoset_actions = (
        round(sum(count.get(player, 0.0) * len(hands) for player, hands in enumerate(game.hands)))
        for count in (size.decisions, size.actions)
    )
    parsed = schedules.parse("dcfr" if schedule is None else schedule)
    entries = cfr.table_count(parsed, shared=False) * infoset_actions
    return {
        "game": game.name,
        "nodes": round(size.nodes),
        "infosets": infosets,
        "infoset_actions": infoset_actions,
        "schedule": str(parsed),
        "bytes": {"float64": 8 * entries, "float32": 4 * entries},
        "figures_are": what,
    }


def _exact_estimate(game: Game, schedule: str | None) -> dict[str, Any]:
    tree = compile_game(game)
    parsed = schedules.parse(default_schedule(tree) if schedule is None else schedule)
    return {
        "game": tree.name,
        "nodes": len(tree.nodes.actor),
        "infosets": tree.infoset_count,
        "infoset_actions": tree.action_count,
        "schedule": str(parsed),
        "bytes": {dtype: cfr.tree_table_bytes(tree, parsed, dtype) for dtype in cfr.DTYPES},
        "figures_are": EXACT,
    }


DEFAULT_TARGET = DEFAULT_SPOT_TARGET  # target if no limit is given
# Between the rates of two machines, in core-seconds, with compact tables and the default schedule: on the spots of
# examples/spots a server needed 3.3 to 4.2 ns for each information set and action, a newer machine 1.3 to 2 ns.
SECONDS_PER_ACTION = 2.4e-9  # per infoset-action and iteration
SECONDS_PER_NODE = 4e-8  # per betting node, board and iteration
SECONDS_PER_ITERATION = 3e-6  # overhead
# To the target: 44 to 79 iterations on these spots, 56 to 96 with the presets of the page; a check costs two thirds of one.
TYPICAL_ITERATIONS, TYPICAL_CHECKS = 70, 4
# Bets far above the pot converge more slowly. Measured on a turn with two sizes: 86 iterations if all-in is 4 pots, 127
# at 10, 361 at 40; without all-in 52 to 58.
LARGE_BET = 2.5  # in pots: above it iterations grow with the square root of the largest bet


def iter_decisions(tree: BoardTree) -> Iterator[dict[str, Any]]:
    """Yield every decision of the betting: its line (`*` for any card), the player, the pot, and the actions in chips."""
    betting, game = tree.betting, tree.game
    start = getattr(game, "pot", 0)
    lines: list[str] = []
    for node, (label, parent) in enumerate(zip(betting.label, betting.parents, strict=True)):
        line = append_label(lines[parent], game.joiner, label or "/*") if node else ""
        lines.append(line)
        if betting.actor[node] >= 0:
            pot = start + float(betting.spent[node].sum())
            player = player_names(game)[betting.actor[node]]
            street = int(betting.street[node])
            yield {"line": line, "street": street, "player": player, "pot": pot, "moves": list(betting.actions(node))}


def estimate_times(tree: BoardTree, threads: int) -> dict[str, float | None]:
    """Estimate times from the size of a tree and the rates above; threads share the boards of the last street.

    Iterations and seconds to the target are None if no comparable game was measured.
    """
    boards = np.diff(tree.street_start)
    nodes = float((np.diff(tree.forest.first) * boards).sum())
    parallel = max(1, min(threads, int(boards[-1])))
    seconds = SECONDS_PER_ITERATION + (SECONDS_PER_ACTION * tree.table_size + SECONDS_PER_NODE * nodes) / parallel
    iterations = total = None
    if isinstance(tree.game, Spot):
        iterations = round(TYPICAL_ITERATIONS * max(1.0, largest_bet(tree) / LARGE_BET) ** 0.5)
        total = seconds * (iterations + TYPICAL_CHECKS)
    return {"seconds_per_iteration": seconds, "iterations_to_target": iterations, "seconds_to_target": total}


def largest_bet(tree: BoardTree) -> float:
    """Return the largest bet or raise of a spot's tree as a multiple of the pot before it."""
    spot, betting, nodes = tree.game, tree.betting, np.flatnonzero(tree.betting.actor >= 0)
    assert isinstance(spot, Spot)
    spent, actor = betting.spent[nodes] + np.array(spot.start.spent), betting.actor[nodes]
    rows = np.arange(len(nodes))
    faced = np.maximum(spent[rows, 1 - actor] - spent[rows, actor], 0.0)  # chips to call
    before = spot.rules.pot + spent.sum(axis=1) - faced
    return float((faced / before).max(initial=0.0))


def estimate_spot(
    game: Any, schedule: str | None, threads: int, traversal: str = "full", memory: int | None = None
) -> dict[str, Any]:
    """Return the fields of `--estimate --json` for hold'em."""
    tree = BoardTree(game)
    streets = [
        {
            "street": (STREETS[len(game.board) - 3 :] if isinstance(game, Spot) else range(tree.streets))[s],
            "boards": tree.street_start[s + 1] - tree.street_start[s],
            "nodes": int(tree.forest.first[s + 1] - tree.forest.first[s]),
            **{f"decisions_{name}": int(tree.nodes_by_street[s, p]) for p, name in enumerate(player_names(game))},
        }
        for s in range(tree.streets)
    ]
    parsed = schedules.parse(default_schedule(tree, traversal) if schedule is None else schedule)
    sizes = {name: solver_table_bytes(tree, parsed, name, traversal) for name in TABLE_FORMATS}
    return {
        "game": tree.name,
        "streets": streets,
        "infosets": tree.infoset_count,
        "infoset_actions": tree.table_size,
        "bytes_32": sizes["compact"],
        "bytes_16": sizes["16-bit"],
        "bytes": sizes,
        "dtype": fitting_dtype(tree, parsed, memory, traversal=traversal),
        "bytes_tree": tree.estimate_layout_bytes(),
        "schedule": str(parsed),
        **estimate_times(tree, threads),
        "target_pct": DEFAULT_TARGET,
        "threads": threads,
        "seconds_are": "an estimate from rates of two machines: a factor of three off at most is usual",
        "menus": list(iter_decisions(tree)),
    }


# --- simpler menus for a spot that is too large ---

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


MenuChange = Callable[[ActionMenu, int], ActionMenu]  # a menu and the first street of the spot -> a simpler menu


def _map_levels(menu: ActionMenu, change: Callable[[MenuLevel], MenuLevel], first: int = 0) -> ActionMenu:
    """Return a menu with `change` applied to the sizes of all raise levels and donk bets, from street `first` on."""

    def at(street: int, level: MenuLevel) -> MenuLevel:
        return change(level) if street >= first else level

    oop, ip = (
        tuple(
            trim_repeats([at(street, level) for level in menu.levels_for(seat, street)])
            for street in range(len(rules.STREETS))
        )
        for seat in (0, 1)
    )
    donks = [menu.donks[min(street, len(menu.donks) - 1)] for street in range(len(rules.STREETS))]
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
