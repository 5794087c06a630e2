"""`riverboat hands`: what files of hands hold, and the facts of their players."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from riverboat.cli.terminal import emit, plain_console
from riverboat.core import atomic_io
from riverboat.core.errors import unknown
from riverboat.core.tables import COUNT, FIGURE, Cell, Column, ReportTable
from riverboat.formats.hand_files import Gathered, gather_hands
from riverboat.games.holdem.rules import read_game
from riverboat.games.records.decisions import trace
from riverboat.games.records.hand_records import Hands
from riverboat.opponents.statistics import HABITS, Habits, Share, habits

MOST = 10  # players that are shown without being asked for
UNITS = {
    "share": "of the chances that there were, from 0 to 1",
    "ci95": "Wilson's interval of the share",
    "bb_per_100": "big blinds won in 100 hands, over hands whose end is known, with half the width of the 95 % interval",
    **HABITS,
    "aggression": "bets and raises, of bets, raises, calls and folds",
}
_TITLES = {
    "vpip": "VPIP", "pfr": "PFR", "three_bet": "3-bet", "continuation_bet": "c-bet",
    "fold_to_continuation_bet": "fold to it", "went_to_showdown": "showdown",
}  # fmt: skip
_ONE = (Column("fact"), Column("share", FIGURE, "%"), Column("ci95", FIGURE, "95 %"), Column("chances", COUNT))
_MANY = (Column("player"), Column("hands", COUNT), *(Column(key, FIGURE, title) for key, title in _TITLES.items()))


def hands(files: list[Path], players: list[str], plot: Path | None, game: str | None, json: bool) -> None:
    """Read, count and show."""
    if plot is not None:
        atomic_io.check_picture(plot)
    gathered = gather_hands(files, None if game is None else read_game(game))
    told = [] if gathered.hands is None else _facts(gathered.hands, players)
    if plot is not None and told:
        from riverboat.reports.plots import players as hand_plots

        hand_plots.facts(told, plot)
    if json:
        emit(
            {
                "hands": 0 if gathered.hands is None else len(gathered.hands),
                "refused": gathered.refused,
                "examples": {reason: list(some) for reason, some in gathered.examples.items()},
                "game": None if gathered.hands is None else _kind(gathered.hands),
                "players": [one.to_dict() for one in told],
                "names": 0 if gathered.hands is None else len(gathered.hands.names),
                "units": UNITS,
            }
        )
        return
    _print(gathered, told, bool(players))


def _facts(record: Hands, players: list[str]) -> list[Habits]:
    for name in players:
        if name not in record.names:
            raise unknown("player", name, record.names)
    if not players:
        count = np.bincount(record.player.ravel(), minlength=len(record.names))
        players = [record.names[k] for k in np.argsort(-count, kind="stable")[:MOST]]
    decisions = trace(record)
    return [habits(record, decisions, name) for name in dict.fromkeys(players)]


def _kind(record: Hands) -> str:
    return "limit hold'em" if record.rules.limit else "no-limit hold'em"


def _print(gathered: Gathered, told: list[Habits], asked: bool) -> None:
    console = plain_console()
    count = 0 if gathered.hands is None else len(gathered.hands)
    of = "" if gathered.hands is None else f" of {_kind(gathered.hands)}, {len(gathered.hands.names):,} players"
    console.print(f"{count:,} hands{of}; {sum(gathered.refused.values()):,} refused")
    for reason, times in gathered.refused.items():
        console.print(f"  {times:,} × {reason}")
        for example in gathered.examples.get(reason, ())[:1]:
            console.print(f"      {example}")
    if not told:
        return
    if len(told) > 1:
        rows = [_row(one) for one in told]
        console.print(ReportTable("% of chances", _MANY, tuple(rows)))
    for one in told if asked or len(told) == 1 else ():
        console.print(_table(one))


def _row(one: Habits) -> tuple[Cell, ...]:
    return one.name, one.hands, *(_percent(one[key]) for key in _TITLES)


def _table(one: Habits) -> ReportTable:
    rows: list[tuple[Cell, ...]] = [(_TITLES[key], *_cells(share)) for key, share in one.shares.items()]
    rows += [
        (f"aggression, {street}, {position}", *_cells(share)) for (street, position), share in one.aggression.items()
    ]
    title = f"{one.name}: {one.hands:,} hands"
    if one.won is not None:
        title += f", won {one.won[0]:+.1f} ± {one.won[1]:.1f} big blinds in 100"
    return ReportTable(title, _ONE, tuple(rows))


def _cells(share: Share) -> tuple[str, str, int]:
    return _percent(share), f"{100 * share.low:.1f} – {100 * share.high:.1f}", share.chances


def _percent(share: Share) -> str:
    return "" if share.share is None else f"{100 * share.share:.1f}"
