"""The commands about ranges, equities and feature tables: `riverboat range`, `equity` and `features`."""

from __future__ import annotations

import time as clock
from math import comb
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from riverboat.api.options import Limits, PositiveCount, Seed, Threads
from riverboat.cards.deck import STANDARD_RULES, Deck
from riverboat.cards.equity import equities
from riverboat.cards.features import hand_features as tables
from riverboat.cards.grid import CLASS_NAMES
from riverboat.cards.hand_classes import DRAWS, MADE_HANDS, classify_all
from riverboat.cards.notation import format_cards, parse_board
from riverboat.cards.ranges import Range
from riverboat.cli.progress import ProgressBar
from riverboat.cli.terminal import figure, make_table, print_result, prose, save_picture
from riverboat.core import artifacts
from riverboat.core.errors import InputError
from riverboat.core.formatting import format_bytes


def show_range(text: str, *, board: str = "", out: Path | None = None, json: bool = False) -> None:
    """Show a range as a 13 × 13 grid.

    Parameters
    ----------
    text
        A range such as '22+,A2s+:0.5', or @file.
    board
        Board cards, which remove hands.
    out
        Draw the grid to an image file.
    """
    cards = parse_board(board)
    parsed = Range.parse(text)
    live_range = parsed.remove(cards)
    percent = 100 * live_range.combos / comb(52 - len(cards), 2)
    grid = parsed.grid(cards)
    size = f"{live_range.combos:,.6g} combos, {percent:.2f} %"
    if out is not None:
        title = f"{size} on {format_cards(cards, ' ')}" if cards else size
        save_picture(parsed.grid(cards, title).figure(), out)
    made, draws = _count_classes(live_range, cards) if cards else ({}, {})
    names = zip(CLASS_NAMES, grid.weight.ravel().tolist(), strict=True)
    facts: dict[str, Any] = {"text": str(parsed), "combos": live_range.combos, "percent": percent}
    if cards:
        facts |= {"board": format_cards(cards), "made": made, "draws": draws}
    facts["weights"] = {name: round(weight, 12) for name, weight in names if weight > 0}
    where = f"of the hands left on {format_cards(cards, ' ')}" if cards else "of all hands"
    parts = [grid, f"{size} {where}", str(parsed)]
    for title, counts in (("made hands", made), ("draws, which may overlap", draws)):
        if counts:
            rows = ((name, f"{x:,.6g}", f"{100 * x / live_range.combos:.1f}") for name, x in counts.items())
            parts += ["", make_table([title, figure("combos"), figure("%")], rows)]
    print_result(facts, parts, json)


def _count_classes(held: Range, board: tuple[int, ...]) -> tuple[dict[str, float], dict[str, float]]:
    """Return the combos of a range by made hand and by draw, without those that do not occur."""
    made, draws = classify_all(board)
    live = made >= 0
    sums = np.bincount(made[live], held.weights[live], len(MADE_HANDS))
    return (
        {name: float(count) for name, count in zip(MADE_HANDS, sums, strict=True) if count > 0},
        {name: float(count) for name, count in zip(DRAWS, held.weights @ draws, strict=True) if count > 0},
    )


# --- Equities and feature tables ---


def equity(
    hands: list[str],
    *,
    board: str = "",
    rules: str = "standard",
    threads: Threads = 2,
    samples: PositiveCount = 1_000_000,
    seed: Seed = 0,
    json: bool = False,
) -> None:
    """Compute the equity of hands and ranges against each other, exactly where possible.

    Parameters
    ----------
    hands
        Two to ten hands or ranges: AhKh, QQ, '22+,A2s+'.
    board
        Three to five cards, such as 2h7h9c.
    rules
        standard; short or short-trips for a deck of 36 cards.
    threads
        Threads over boards.
    samples
        Samples if the ranges are too many to enumerate.
    seed
        Seed of the samples.
    """
    board_cards, deck = parse_board(board) if board else (), Deck.for_rules(rules)
    with ProgressBar("equity") as bar:
        result = equities.equity(
            *hands, board=board_cards, deck=deck, threads=threads, samples=samples, seed=seed, progress=bar
        )
    facts: dict[str, Any] = {
        "hands": hands,
        "board": format_cards(board_cards),
        "rules": rules,
        "equity": list(result.shares),
        "unit": "share of the pot",
        "equity_is": "exact" if result.exact else "estimate ± 95 % half-width",
        "half_width": list(result.half_width),
        "showdowns": result.showdowns,
        "wins": result.wins,
        "ties": result.ties,
        "seed": None if result.exact else seed,
    }
    rows = []
    for k, side in enumerate(hands):
        shown = f"{100 * result.shares[k]:.4f} %" + ("" if result.exact else f" ± {100 * result.half_width[k]:.3f}")
        counts = [f"{c[k]:,}" for c in (result.wins, result.ties) if c is not None]
        rows.append((side if len(side) < 50 else side[:47] + "…", shown, *counts))
    names = ("equity", "wins", "ties")[: len(rows[0]) - 1]
    table = make_table([prose("hand or range"), *map(figure, names)], rows)
    how = "exact" if result.exact else f"estimate from {result.showdowns:,} samples, 95 % interval, seed {seed}"
    where = f" on {format_cards(board_cards, ' ')}" if board_cards else " before the flop"
    cards = "" if rules == STANDARD_RULES else f", short deck, rules {rules}"
    print_result(facts, [table, f"{how}{where}{cards}"], json)


def features(
    street: str,
    *,
    out: Path | None = None,
    bins: Annotated[int, Limits(1)] | None = None,
    ochs: bool = False,
    threads: Threads = 2,
    json: bool = False,
) -> None:
    """Compute the strength features of every canonical hand of a street.

    Parameters
    ----------
    street
        preflop, flop, turn or river.
    out
        Folder for the tables.
    bins
        Bins of the river strength histogram; default 50.
    ochs
        Strength against groups of starting hands instead.
    threads
        Threads over boards.
    """
    if ochs and bins is not None:
        raise InputError(f"--bins {bins} with --ochs: strength against groups has no bins")
    bins = 50 if bins is None else bins
    if out is not None and out.exists() and any(out.iterdir()) and not (out / artifacts.MANIFEST).exists():
        raise InputError(f"{out}: contains other files; choose an empty folder")
    started = clock.perf_counter()
    with ProgressBar(f"features of the {street}") as bar:
        if ochs:
            arrays = {"ochs": tables.ochs_features(street, threads=threads, progress=bar)}
        else:
            table = tables.street_features(street, bins, threads, bar)
            arrays = {"mean": table.mean, "square": table.square}
            if len(table.histogram):
                arrays["histogram"] = table.histogram
    seconds = clock.perf_counter() - started
    facts: dict[str, Any] = {
        "street": street,
        "rounds": list(tables.street_rounds(street)),
        "hands": len(next(iter(arrays.values()))),
        "bins": bins,
        "unit": "share of the pot",
        "tables": {name: {"shape": list(a.shape), "dtype": str(a.dtype)} for name, a in arrays.items()},
    }
    if out is not None:
        artifacts.write(out, "features", arrays, facts)
    lines = [
        f"{street}: {facts['hands']:,} canonical hands in {seconds:.1f} s",
        *(f"  {name}: {a.dtype} {list(a.shape)}, {format_bytes(a.nbytes)}" for name, a in arrays.items()),
        f"written to {out}" if out is not None else "nothing written: give --out DIR to save them",
    ]
    print_result(facts | {"seconds": seconds, "out": None if out is None else str(out)}, lines, json)
