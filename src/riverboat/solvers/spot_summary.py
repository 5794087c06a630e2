"""What is said of a solved spot: `Result.to_dict`, and what `riverboat solve --json` prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from riverboat.cards.notation import show_cards
from riverboat.games.spots.spot import Spot
from riverboat.strategies.reports.node import summary
from riverboat.strategies.solution import Solution


def facts_of_spot(solution: Solution, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Those of any result, begun with what a spot has. EVs in chips, equities as shares, memory in millions of bytes."""
    spot, root = solution.tree.game, summary(solution[""])
    assert isinstance(spot, Spot)
    told = {
        "exploitability_pct": facts["exploitability"],
        "iterations": facts["iterations"],
        "seconds": facts["seconds"],
        "ev_oop": root.ev[0],
        "ev_ip": root.ev[1],
        "equity_oop": root.equity[0],
        "memory_mb": (facts["table_bytes"] + facts["layout_bytes"]) / 1e6,
        "threads": facts["threads"],
        "equity_ip": root.equity[1],
        "eqr_oop": root.eqr[0],
        "eqr_ip": root.eqr[1],
        "frequencies": root.frequencies,
        "nash_conv_pct": facts["nash_conv"],
        "exploitability_is": "exact: half of NashConv, in % of the pot",
        "units": {"ev": "chips", "equity": "share of the pot", "memory": "MB (10^6 bytes): tables and tree"},
        "board": show_cards(spot.board),
        "pot": spot.pot,
        "stack": spot.stack,
        "dtype": solution.provenance["dtype"],
        "tables_mb": facts["table_bytes"] / 1e6,
    }
    return told | {key: value for key, value in facts.items() if key not in told}
