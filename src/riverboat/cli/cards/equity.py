"""The commands about equities and feature tables."""

from __future__ import annotations

import time as clock
from pathlib import Path
from typing import Any

from riverboat.cards.deck import Deck
from riverboat.cards.equity import equities
from riverboat.cards.features import street_features as tables
from riverboat.cards.notation import parse_board, show_cards
from riverboat.cards.ranking_rules import STANDARD
from riverboat.cli.progress import Bar
from riverboat.cli.terminal import emit, plain_console
from riverboat.core import artifacts
from riverboat.core.errors import InputError
from riverboat.core.formatting import show_bytes
from riverboat.core.tables import FIGURE, PROSE, Column, ReportTable


def equity(sides: list[str], board: str, rules: str, threads: int, samples: int, seed: int, json: bool) -> None:
    """Shares of the pot of hands and ranges."""
    known, deck = parse_board(board) if board else (), Deck.of_rules(rules)
    with Bar("equity") as bar:
        result = equities.equity(
            *sides, board=known, deck=deck, threads=threads, samples=samples, seed=seed, progress=bar
        )
    if json:
        emit(
            {
                "hands": sides,
                "board": show_cards(known),
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
        )
        return
    rows = []
    for k, side in enumerate(sides):
        shown = f"{100 * result.shares[k]:.4f} %" + ("" if result.exact else f" ± {100 * result.half_width[k]:.3f}")
        counts = [f"{c[k]:,}" for c in (result.wins, result.ties) if c is not None]
        rows.append((side if len(side) < 50 else side[:47] + "…", shown, *counts))
    names = ("equity", "wins", "ties")[: len(rows[0]) - 1]
    console = plain_console()
    console.print(ReportTable("", (Column("hand or range", PROSE), *(Column(n, FIGURE) for n in names)), tuple(rows)))
    how = "exact" if result.exact else f"estimate from {result.showdowns:,} samples, 95 % interval, seed {seed}"
    where = f" on {show_cards(known, ' ')}" if known else " before the flop"
    cards = "" if rules == STANDARD else f", short deck, rules {rules}"
    console.print(f"{how}{where}{cards}")


def features(street: str, out: Path | None, bins: int, ochs: bool, threads: int, json: bool) -> None:
    """Compute the feature tables of a street and write them as an artefact."""
    if out is not None and out.exists() and any(out.iterdir()) and not (out / artifacts.MANIFEST).exists():
        raise InputError(f"{out}: holds other files; choose an empty folder")
    started = clock.perf_counter()
    with Bar(f"features of the {street}") as bar:
        if ochs:
            arrays = {"ochs": tables.ochs(street, threads=threads, progress=bar)}
        else:
            table = tables.features(street, bins, threads, bar)
            arrays = {"mean": table.mean, "square": table.square}
            if len(table.histogram):
                arrays["histogram"] = table.histogram
    seconds = clock.perf_counter() - started
    facts: dict[str, Any] = {
        "street": street,
        "rounds": list(tables.rounds(street)),
        "hands": len(next(iter(arrays.values()))),
        "bins": bins,
        "unit": "share of the pot",
        "tables": {name: {"shape": list(a.shape), "dtype": str(a.dtype)} for name, a in arrays.items()},
    }
    if out is not None:
        artifacts.write(out, "features", arrays, facts)
    if json:
        emit(facts | {"seconds": seconds, "out": None if out is None else str(out)})
        return
    console = plain_console()
    console.print(f"{street}: {facts['hands']:,} canonical hands in {seconds:.1f} s")
    for name, array in arrays.items():
        console.print(f"  {name}: {array.dtype} {list(array.shape)}, {show_bytes(array.nbytes)}")
    console.print(f"written to {out}" if out is not None else "nothing written: give --out DIR to keep them")
