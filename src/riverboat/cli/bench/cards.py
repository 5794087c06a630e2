"""The card part of `riverboat bench`: ranking, match-ups, and the feature tables of whole streets."""

from __future__ import annotations

import time as clock
from functools import partial
from typing import Any

import numpy as np

from riverboat.cards import ranking
from riverboat.cards.deck import card_name
from riverboat.cards.equity.equities import equity, preflop_table
from riverboat.cards.features import street_features
from riverboat.cards.isomorphism import Indexer, canonical_boards
from riverboat.cli.terminal import say
from riverboat.core.resources import peak_memory

Row = dict[str, Any]


def ranking_speed() -> list[Row]:
    """Hands a second on one thread: a NumPy batch of random hands, and an enumeration of all of them."""
    rng = np.random.default_rng(0)
    hands = np.argsort(rng.random((1_000_000, 52), dtype=np.float32), axis=1)[:, :7].astype(np.uint8)
    ranking.rank_batch(hands[:10])
    rows = []
    for what, check, target in (
        ("random seven-card hands, NumPy batch, cards checked", True, 100.0),
        ("the same, not checked", False, 100.0),
    ):
        best = min(_timed(partial(ranking.rank_batch, hands, check=check)) for _ in range(5))
        rows.append({"work": what, "million_a_second": len(hands) / best / 1e6, "target": target})
    best = min(_timed(lambda: ranking.count_categories(7)) for _ in range(2))
    rows.append({"work": "all 133,784,560 seven-card hands", "million_a_second": 133.78456 / best, "target": 400.0})
    try:
        import phevaluator
    except ImportError:
        return rows
    names = [[card_name(c) for c in hand] for hand in hands[:50_000].tolist()]
    seconds = _timed(lambda: [phevaluator.evaluate_cards(*hand) for hand in names])
    rows.append({"work": "phevaluator, one call a hand", "million_a_second": 0.05 / seconds, "target": None})
    return rows


def _timed(work: Any) -> float:
    started = clock.perf_counter()
    work()
    return clock.perf_counter() - started


def matchups() -> list[Row]:
    """Known equities."""
    rows = []
    for first, second, known in (
        ("AA", "KK", 0.819461),
        ("AsAh", "KsKd", 0.819461),
        ("AsKs", "QhQd", 0.462145),
        ("2c2d", "AhKh", 0.499158),
        ("JsTs", "2c2d", 0.539794),
    ):
        started = clock.perf_counter()
        ours = equity(first, second, threads=2).shares[0]
        rows.append(
            {
                "match_up": f"{first} v {second}",
                "equity": ours,
                "known": known,
                "ok": abs(ours - known) < 1e-6,
                "seconds": clock.perf_counter() - started,
            }
        )
    started = clock.perf_counter()
    table = preflop_table(threads=2)
    rows.append(
        {
            "match_up": "169 × 169 table, two threads (or from the cache)",
            "equity": float(table[0, 14]),
            "known": 0.819461,
            "ok": bool(np.allclose(table + table.T, 1)),
            "seconds": clock.perf_counter() - started,
        }
    )
    return rows


def streets(threads: int = 2) -> list[Row]:
    """Feature tables of whole streets."""
    canonical_boards(5)
    Indexer((2, 5))
    rows: list[Row] = []

    def add(what: str, hands: int, target: float | None, work: Any) -> None:
        say(f"bench: {what}")
        before = peak_memory() or 0
        started = clock.perf_counter()
        result = work()
        seconds = clock.perf_counter() - started
        grown = max(0, (peak_memory() or 0) - before) / 2**30
        rows.append(
            {
                "work": what,
                "hands": hands,
                "seconds": seconds,
                "target_seconds": target,
                "threads": threads,
                "gb_grown": grown,
            }
        )
        del result

    add("river E[HS]", 123_156_254, 45.0, lambda: street_features.river_strengths(threads))
    add("turn histograms, 50 bins", 13_960_050, None, lambda: street_features.features("turn", 50, threads))
    add("flop histograms, 50 bins", 1_286_792, None, lambda: street_features.features("flop", 50, threads))
    both = rows[1]["seconds"] + rows[2]["seconds"]
    rows.append(
        {
            "work": "turn and flop together", "hands": 15_246_842, "seconds": both, "target_seconds": 240.0,
            "threads": threads, "gb_grown": 0.0,
        }
    )  # fmt: skip
    return rows
