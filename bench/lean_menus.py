"""Measure what simpler betting menus cost: EV lost, memory and time on ten flops with the page's own ranges.

    python bench/lean_menus.py --device cuda --until 0.3
    python bench/lean_menus.py --spots hu-QsJh2h --changes raises --threads 2

The full menu has one bet size and one raise size (45 %) a street, any number of raises, and all-in up to the pot. Changes
are the steps of `api.estimate`, each alone, and three more. A change is made to the menu of one player, while the
other keeps the full menu and knows it. The fall of the first player's equilibrium value is what the change costs, in % of
the pot, exact up to the exploitability; it is negative if the new sizes are better. Memory and seconds are those of a solve
in which both players have the changed menu, to the same target.
"""

from __future__ import annotations

import argparse
import json
import time
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import riverboat as rb
from riverboat.api.estimate import MENU_CHANGES
from riverboat.api.solve import compile_for_solving
from riverboat.games.holdem.bet_sizes import MenuThresholds
from riverboat.games.holdem.menus import ActionMenu, MenuActions
from riverboat.games.spots.spot import Spot
from riverboat.solvers.run import default_schedule, solver_table_bytes
from riverboat.trees.boards import BoardTree

PRESETS = Path(__file__).parents[1] / "src" / "riverboat" / "web" / "range_presets.toml"
SIZES = {street: {"bet": bet, "raise": "45%"} for street, bet in (("flop", "52%"), ("turn", "55%"), ("river", "70%"))}
RANGES = {  # group and position of each player in the page's presets; pot and stack in tenths of a big blind
    "srp": (("big blind calls", "against the button"), ("6-max: open raise", "button"), 55, 975),
    "utg": (("big blind calls", "against under the gun"), ("6-max: open raise", "under the gun"), 55, 975),
    "3bet": (("3-bet", "big blind against the button"), ("3-bet", "button calls"), 230, 885),
    "hu": (("heads-up", "big blind calls"), ("heads-up", "button raises"), 50, 975),
}
SPOTS = (
    "srp-QsJh2h", "srp-Kd7c2s", "srp-9s8s6d", "utg-AhTc4d", "utg-8d8c3s", "utg-Kh6h5c", "3bet-QsJh2h", "3bet-Ac9s4s",
    "hu-QsJh2h", "hu-7h5c2d",
)  # fmt: skip


def change_menu(menu: ActionMenu, *, most: int | None = None, donks: bool = True, all_in: bool = True) -> ActionMenu:
    """Return a menu with at most `most` bets and raises a street, perhaps without donk bets or added all-ins."""
    thresholds = menu.thresholds if all_in else MenuThresholds()
    return replace(menu, most_raises=(most,), donk_bets=donks, thresholds=thresholds)


CHANGES: dict[str, Callable[[ActionMenu], ActionMenu]] = {
    removed.split(":")[0]: (lambda menu, change=change: change(menu, 1))
    for change, removed in MENU_CHANGES
    if "sizes" not in removed
}
CHANGES |= {
    "third raises": lambda menu: change_menu(menu, most=3),
    "donk bets": lambda menu: change_menu(menu, donks=False),
    "all-ins": lambda menu: change_menu(menu, all_in=False),
}
ONLY_OOP = "donk bets"  # the other player has none


@dataclass(frozen=True)
class Solved:
    """Equilibrium values of a spot in % of the pot, and what they cost."""

    values: tuple[float, float]
    exploitability: float  # % of the pot
    iterations: int
    seconds: float
    gigabytes: dict[str, float]  # of the tables, by format


def read_spot(name: str) -> Spot:
    """Return a spot by its name: ranges and board."""
    kind, board = name.split("-")
    (oop_group, oop), (ip_group, ip), pot, stack = RANGES[kind]
    presets = tomllib.loads(PRESETS.read_text(encoding="utf-8"))
    ranges = {"oop": presets[oop_group][oop], "ip": presets[ip_group][ip]}
    return Spot.make(board=board, pot=pot, stack=stack, bets=SIZES, add_all_in="100%", **ranges)


def solve(spot: Spot, menus: tuple[ActionMenu, ActionMenu], until: float, **options: Any) -> Solved:
    """Solve a spot in which each player has a menu of their own."""
    compute = MenuActions._compute_raise_totals

    def by_seat(self: MenuActions, state: Any, donk: bool) -> tuple[int, ...]:
        own = MenuActions(self.rules, menus[state.turn])
        return compute(own, state, donk and own.depends_on_aggressor)

    either = replace(menus[0], donk_bets=menus[0].donk_bets and menus[1].donk_bets)  # whether aggressors matter
    with mock.patch.object(MenuActions, "_compute_raise_totals", by_seat):
        compiled = compile_for_solving(replace(spot, menu=either))
    tree = compiled.tree
    assert isinstance(tree, BoardTree)
    schedule = default_schedule(tree)
    sizes = {name: solver_table_bytes(tree, schedule, name) / 1e9 for name in ("compact", "16-bit")}
    start = time.perf_counter()
    result = rb.solve(compiled, until=f"{until}%", **options)
    seconds, pot = time.perf_counter() - start, spot.rules.pot / 100
    values = tuple(result.strategy.expected_value(player) / pot for player in (0, 1))
    return Solved((values[0], values[1]), result.exploitability, result.iterations, seconds, sizes)


def measure(name: str, changes: list[str], until: float, **options: Any) -> Iterator[dict[str, Any]]:
    """Yield rows of a spot: the full menu, then each change with the EV that each player loses by it."""
    spot = read_spot(name)
    full = spot.menu
    assert full is not None
    base = solve(spot, (full, full), until, **options)
    yield row(name, "", base)
    for change in changes:
        if CHANGES[change](full) == full:
            continue
        lean, players = CHANGES[change](full), 1 if change == ONLY_OOP else 2
        both = solve(spot, (lean, lean), until, **options)
        alone = [solve(spot, menus, until, **options) for menus in ((lean, full), (full, lean))[:players]]
        lost = [base.values[player] - solved.values[player] for player, solved in enumerate(alone)]
        yield row(name, change, both) | {"lost": lost}


def row(name: str, change: str, solved: Solved) -> dict[str, Any]:
    """Return a row of the report."""
    return {
        "spot": name, "without": change, **solved.gigabytes, "seconds": solved.seconds, "iterations": solved.iterations,
        "exploitability": solved.exploitability, "values": solved.values,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spots", default=",".join(SPOTS))
    parser.add_argument("--changes", default=None, help="names with ;")
    parser.add_argument("--until", type=float, default=0.3, help="%% of the pot")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", default=None, help="file for a JSON line a row")
    args = parser.parse_args()
    changes = list(CHANGES) if args.changes is None else args.changes.split(";")
    rows: list[dict[str, Any]] = []
    for name in args.spots.split(","):
        for one in measure(name, changes, args.until, device=args.device, threads=args.threads):
            rows.append(one)
            lost = " ".join(f"{x:6.3f}" for x in one.get("lost", ()))
            print(
                f"{one['spot']:14} {one['without'] or 'full menu':42} {one['compact']:6.2f} {one['16-bit']:6.2f} GB "
                f"{one['seconds']:7.1f} s {one['iterations']:4} iterations {lost}",
                flush=True,
            )
            if args.out:
                with open(args.out, "a", encoding="utf-8") as file:
                    print(json.dumps(one), file=file)
    print_means(rows)


def print_means(rows: list[dict[str, Any]]) -> None:
    """Print the shares of memory and seconds that remain, and the EV lost, over all spots."""
    full = {one["spot"]: one for one in rows if not one["without"]}
    print(
        "\nwithout                                    memory  seconds   EV lost, % of the pot: mean, most; of oop, of ip"
    )
    for change in dict.fromkeys(one["without"] for one in rows if one["without"]):
        chosen = [one for one in rows if one["without"] == change]
        memory, seconds = (
            float(np.exp(np.mean([np.log(one[what] / full[one["spot"]][what]) for one in chosen])))
            for what in ("compact", "seconds")
        )
        lost = [[one["lost"][player] for one in chosen if len(one["lost"]) > player] for player in (0, 1)]
        losses = "; ".join(f"{np.mean(part):6.3f} {np.max(part):6.3f}" for part in lost if part)
        print(f"{change:42} {memory:8.2f} {seconds:8.2f}   {losses}")


if __name__ == "__main__":
    main()
