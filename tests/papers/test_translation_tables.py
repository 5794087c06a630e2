"""The paper's tables of exploitability by mapping."""

from __future__ import annotations

from fractions import Fraction

import pytest

from riverboat.abstraction.actions.translation import TRANSLATION_MAPPINGS
from riverboat.games.small.poker import leduc
from riverboat.games.small.toy_games import half_street_kuhn
from riverboat.papers import translation as translation_clairvoyance
from riverboat.papers import translation as translation_kuhn
from riverboat.papers import translation as translation_leduc
from riverboat.papers.framework import ExperimentReport
from riverboat.solvers.tabular.best_response import quality
from riverboat.trees.public import PublicTree


@pytest.fixture(scope="module")
def clairvoyance() -> ExperimentReport:
    return translation_clairvoyance.run_clairvoyance(False, 0)


def test_47_of_49(clairvoyance: ExperimentReport) -> None:
    printed = [row for row in clairvoyance.rows if row.kind == "printed"]
    differing = {row.name for row in printed if row.verdict != "match"}
    assert len(printed) == 49
    tests = {row.name: row for row in clairvoyance.rows if row.kind == "variation"}
    assert {row.explained.test for row in printed if row.explained} == set(tests)
    assert tests["stack 20, a bet just above 10.5"].ours == pytest.approx(2.375)
    assert tests["stack 1, the least over both rules for ties"].ours == pytest.approx(0.1)
    assert differing == {"Det-Arith, stack 1", "Det-Arith, stack 20"}
    assert clairvoyance.passes
    assert all(row.rounding == 0.005 and row.combined_error == 0 for row in printed)  # the printed digits


def formula(mapping: str, n: int) -> Fraction:
    """Compute exploitability by exact arithmetic: c(x) mixed by the mapping, and the best bets of winner and loser."""
    sizes = [Fraction(0), Fraction(1)] + ([Fraction(n)] if n > 1 else [])

    def call(x: Fraction) -> Fraction:
        if x in sizes:
            return 1 / (1 + x)
        a = max(s for s in sizes if s < x)
        b = min(s for s in sizes if s > x)
        f = {
            "det-arith": Fraction(2 * x <= a + b),
            "rand-arith": (b - x) / (b - a),
            "det-geo": Fraction(x * x < a * b),
            "rand-geo-1": a * (b - x) / (a * (b - x) + x * (x - a)),
            "rand-geo-2": a * (b + x) * (b - x) / ((b - a) * (x * x + a * b)),
            "det-pshar": Fraction(x * (a + b + 2) <= a + b + 2 * a * b),
            "rand-pshar": (b - x) * (1 + a) / ((b - a) * (1 + x)),
        }[mapping]
        return f / (1 + a) + (1 - f) / (1 + b)

    bets = [Fraction(k, 10) for k in range(10 * n + 1)]
    winner = max(1 + call(x) * x for x in bets)
    loser = max(1 - call(x) - call(x) * x for x in bets)
    return (winner + loser) / 2 - (1 + Fraction(n, n + 1)) / 2


@pytest.mark.parametrize("stack", [1, 3, 5, 20])
def test_trees_and_formula_agree(stack: int) -> None:
    found = translation_clairvoyance.clairvoyance_exploitabilities(stack)
    assert found == pytest.approx({m: float(formula(m, stack)) for m in TRANSLATION_MAPPINGS}, abs=1e-9)


@pytest.fixture(scope="module")
def kuhn() -> ExperimentReport:
    return translation_kuhn.run_kuhn(False, 0)


def test_kuhn(kuhn: ExperimentReport) -> None:
    """92 entries match the printed digits; six of Det-Arith match with the other tie rule."""
    printed = [row for row in kuhn.rows if row.kind == "printed"]
    assert len(printed) == 98
    differing = [row for row in printed if row.verdict != "match"]
    assert [row.name for row in differing] == [f"Det-Arith, 0.4 pot, stack {n}" for n in (1, 3, 5, 20, 50, 100)]
    for row in differing:
        assert row.verdict == "explained"
        assert row.explained is not None
        other = kuhn.row(row.explained.test)
        assert (other.kind, other.verdict, other.paper) == ("variation", "match", row.paper)
        assert other.ours != pytest.approx(row.ours, abs=0.0006)
    assert kuhn.passes


@pytest.mark.parametrize("size", [0.4, 1.0])
@pytest.mark.parametrize("stack", [1, 3, 10, 100])
def test_defender_is_an_equilibrium_of_the_small_game(size: float, stack: int) -> None:
    # A bet of b gains player 1 nothing for b = 1 and above, and 1/35 for 0.4.
    game = half_street_kuhn((size, float(stack)) if size < stack else (size,))
    found = quality(translation_kuhn.defender_equilibrium(game)).best[0]
    assert found == pytest.approx(1 / 35 if size == 0.4 else 0, abs=1e-12)
    assert isinstance(translation_kuhn.defender_equilibrium(game).tree, PublicTree)


def test_ranks() -> None:
    assert translation_leduc.average_ranks({"a": 0.3, "b": 0.1, "c": 0.104, "d": 0.2}) == {
        "b": 1.5,
        "c": 1.5,
        "d": 3,
        "a": 4,
    }
    printed = {m: row[2] for m, row in translation_leduc.LEDUC_TABLE.items()}
    assert min(printed, key=lambda m: printed[m]) == "rand-pshar"


def test_leduc_with_a_smaller_stack() -> None:
    """With stacks of 8 the randomized pseudo-harmonic mapping is least exploitable, and randomizing helps every kind."""
    small = translation_leduc.solve_small_game(8)["LP"]
    tree = PublicTree(leduc(stack=8))
    averages = {m: sum(best) / 2 for m, best in translation_leduc.best_response_values(small, tree).items()}
    assert min(averages, key=lambda m: averages[m]) == "rand-pshar"
    for randomised, kind in (
        ("rand-arith", "arith"),
        ("rand-geo-1", "geo"),
        ("rand-geo-2", "geo"),
        ("rand-pshar", "pshar"),
    ):
        assert 0 < averages[randomised] < averages[f"det-{kind}"]


@pytest.mark.slow
def test_leduc() -> None:
    found = translation_leduc.run_leduc(False, 0)
    assert found.passes
    for m in TRANSLATION_MAPPINGS.values():
        assert found.row(f"{m.title}, place by average, LP equilibrium").verdict == "match"
    for name in ("LP", "undominated", "CFR"):
        assert found.row(f"Rand-psHar, place by average, {name} equilibrium").ours == 1
        assert found.row(f"Det-Arith, place by average, {name} equilibrium").ours == 7
