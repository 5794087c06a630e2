"""Claims: exact figures, bounds and estimates, in the same words and keys everywhere."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import riverboat as rb
from riverboat.agents.registry import make_agent
from riverboat.core.claims import CLAIM_KINDS, ESTIMATE, EXACT, LOWER, UPPER, Claim, to_dicts
from riverboat.core.errors import InputError
from riverboat.evaluation.ledger import EXPLOITABILITY, LBR, MATCH, LedgerEntry
from riverboat.evaluation.local_best_response import local_best_response
from riverboat.evaluation.matches.match import play_match
from riverboat.games.holdem.rules import read_game
from riverboat.papers.rows import new_row, printed_row


def claims() -> st.SearchStrategy[Claim]:
    def made(kind: str, value: float, width: float | None, size: int | None) -> Claim:
        half = None if kind == EXACT else 0.0 if kind == ESTIMATE and width is None else width
        return Claim("won", value, "mbb/g", kind, half, seed=3, size=size, samples="hands")  # type: ignore[arg-type]

    numbers = st.floats(-1e9, 1e9)
    widths = st.none() | st.floats(0, 1e6)
    return st.builds(made, st.sampled_from(CLAIM_KINDS), numbers, widths, st.none() | st.integers(0, 10**9))


def test_claims_as_text_and_dictionary() -> None:
    assert str(Claim("exploitability", 3, "chips", EXACT)) == "exploitability 3 chips (exact)"
    bound = Claim("exploitability", 812, "mbb/g", LOWER, 40, seed=0, size=4000, samples="hands")
    assert str(bound) == "exploitability 812.0 ± 40.0 mbb/g (lower bound, 4,000 hands, seed 0)"
    assert str(Claim("won", -12.5, "mbb/g", ESTIMATE, 1.25)) == "won -12.50 ± 1.25 mbb/g (estimate)"
    assert str(Claim("won", 1000, "mbb/g", ESTIMATE, 0.0)) == "won 1,000 ± 0 mbb/g (estimate)"
    assert str(Claim("x", 1.0, "chips", EXACT, game="by its menu")) == "x 1 chips (exact, by its menu)"
    assert bound.to_dict() == {
        "name": "exploitability", "value": 812, "unit": "mbb/g", "is": "bound", "side": "lower", "ci95": 40, "seed": 0,
        "size": 4000, "samples": "hands",
    }  # fmt: skip


@given(claims())
def test_intervals_of_bounds_are_one_sided(claim: Claim) -> None:
    low, high = claim.interval
    assert low <= claim.value <= high
    assert math.isinf(low) == (claim.kind == UPPER)
    assert math.isinf(high) == (claim.kind == LOWER)
    assert Claim.from_dict(json.loads(json.dumps(claim.to_dict()))) == claim


@pytest.mark.parametrize(
    ("kind", "width", "value"),
    [(ESTIMATE, None, 1.0), (EXACT, 1.0, 1.0), (LOWER, -1.0, 1.0), (LOWER, math.nan, 1.0), (EXACT, None, math.nan)],
)
def test_inconsistent_claims_are_rejected(kind: str, width: float | None, value: float) -> None:
    with pytest.raises(InputError):
        Claim("won", value, "mbb/g", kind, width)  # type: ignore[arg-type]


def test_an_unknown_kind_is_rejected() -> None:
    with pytest.raises(InputError, match="'guess'"):
        Claim("won", 1.0, "mbb/g", "guess")  # type: ignore[arg-type]


def test_results_report_claims() -> None:
    """Claims of results agree with the figures of the results."""
    solved = rb.solve("kuhn", iterations=50)
    first, *_, low, high = solved.claims
    assert (first.value, first.kind, first.unit) == (solved.exploitability, EXACT, solved.unit)
    assert (low.value, low.kind, high.value, high.kind) == (solved.value_low, LOWER, solved.value_high, UPPER)
    assert solved.to_dict()["claims"] == to_dicts(solved.claims)
    assert rb.quality(solved.strategy).claims[0].value == pytest.approx(first.value)

    rules, caller = read_game("kuhn"), make_agent("always-call")
    match = play_match(caller, make_agent("random"), rules, hands=40, seed=5)
    assert match.claim == Claim("won", match.mbb_per_game, "mbb/g", ESTIMATE, match.ci95, "", 5, 40, "hands")
    assert str(match.claim) in str(match)

    response = local_best_response(make_agent("random"), rules, hands=40, seed=2)
    assert response.claim.kind == LOWER
    assert (response.claim.value, response.claim.half_width) == (response.mbb_per_game, response.ci95)
    assert (response.claim.seed, response.claim.size) == (2, response.hands)


def test_rows_and_ledger_entries_report_claims() -> None:
    assert [claim.kind for claim in printed_row("a", 1.0, 1.0).claims] == [EXACT]
    assert [claim.kind for claim in new_row("a", 1.0, (0.5, 1.5)).claims] == [ESTIMATE]
    proved = printed_row("a", 1.0, 1.0, interval=(0.9, 1.1), certified=True, rivals=(2.0,)).claims
    assert [(claim.kind, claim.value) for claim in proved] == [(LOWER, 0.9), (UPPER, 1.1)]
    kinds = [
        (LedgerEntry(MATCH, ("a", "b"), 1.0, 2.0, 10, 0), ESTIMATE),
        (LedgerEntry(LBR, ("a",), 1.0, 2.0, 10, 0), LOWER),
        (LedgerEntry(EXPLOITABILITY, ("a",), 1.0, 0.0, None, None, {"is": "exact"}), EXACT),
    ]
    assert all(entry.claim.kind == kind for entry, kind in kinds)
