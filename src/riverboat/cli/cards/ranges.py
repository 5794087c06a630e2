"""The command that shows a range."""

from __future__ import annotations

from math import comb
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from riverboat.cards.grid import CLASS_NAMES
from riverboat.cards.hand_classes import DRAWS, MADE, classify_all
from riverboat.cards.notation import parse_board, show_cards
from riverboat.cards.ranges import Range
from riverboat.cli.terminal import emit, plain_console, say
from riverboat.core.tables import FIGURE, Column, ReportTable


def show_range(text: str, board: str | None, out: Path | None, json: bool) -> None:
    """A range as a grid, with its combos and its shortest text; on a board also what its hands are there."""
    cards = parse_board(board or "")
    written = Range.parse(text)
    held = written.remove(cards)
    percent = 100 * held.combos / comb(52 - len(cards), 2)
    grid = written.grid(cards)
    if out is not None:
        title = f"{held.combos:,.6g} combos, {percent:.2f} %" + (f" on {show_cards(cards, ' ')}" if cards else "")
        written.grid(cards, title).save(out)
        say(f"picture: {out}")
    made, draws = _classes(held, cards)
    if json:
        names = zip(CLASS_NAMES, grid.weight.ravel().tolist(), strict=True)
        facts: dict[str, Any] = {"text": str(written), "combos": held.combos, "percent": percent}
        if cards:
            facts |= {"board": show_cards(cards), "made": made, "draws": draws}
        emit(facts | {"weights": {name: round(weight, 12) for name, weight in names if weight > 0}})
        return
    console = plain_console()
    console.print(grid)
    where = f"of the hands left on {show_cards(cards, ' ')}" if cards else "of all hands"
    console.print(f"{held.combos:,.6g} combos, {percent:.2f} % {where}")
    console.print(str(written))
    for title, counts in (("made hands", made), ("draws, which may overlap", draws)):
        if counts:
            console.print()
            _counts(console, title, counts, held.combos)


def _classes(held: Range, board: tuple[int, ...]) -> tuple[dict[str, float], dict[str, float]]:
    """Combos of each made hand and of each draw, of those that there are; nothing before the flop."""
    if not board:
        return {}, {}
    made, draws = classify_all(board)
    live = made >= 0
    sums = np.bincount(made[live], held.weights[live], len(MADE))
    return (
        {name: float(count) for name, count in zip(MADE, sums, strict=True) if count > 0},
        {name: float(count) for name, count in zip(DRAWS, held.weights @ draws, strict=True) if count > 0},
    )


def _counts(console: Console, title: str, counts: dict[str, float], total: float) -> None:
    rows = [(name, f"{count:,.6g}", f"{100 * count / total:.1f}") for name, count in counts.items()]
    console.print(ReportTable("", (Column(title), Column("combos", FIGURE), Column("%", FIGURE)), tuple(rows)))
