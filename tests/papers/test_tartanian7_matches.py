"""Agents over training time and rules of post-processing, at the size of Leduc."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets, lossless_abstraction
from riverboat.abstraction.recipe import load_recipe
from riverboat.games.holdem.rules import read_game
from riverboat.papers import tartanian7_matches
from riverboat.papers.tartanian7_matches import FULL, QUICK, Comparison, TrainedAgent, figure_1, flat_recipe, table_2

LEDUC = read_game("leduc")
LOSSLESS = lossless_abstraction(LEDUC.board[1:], LEDUC.deck)


def blind_cards() -> CardAbstraction:
    """Return cards with two buckets on each street that say nothing about the strength of hands."""
    streets = tuple(StreetBuckets(2, (np.arange(count) % 2).astype(np.uint16)[None]) for count in LOSSLESS.counts)
    return CardAbstraction(streets, LOSSLESS.deals, LEDUC.deck, name="blind")


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Comparison:
    recipe = tmp_path / "leduc.toml"
    recipe.write_text('game = "leduc"\n[training]\nperiod = 1000\n')
    blind = blind_cards()
    cards = {"lossless": (LOSSLESS, None), "blind": (blind, blind.save(tmp_path / "blind"))}
    monkeypatch.setattr(tartanian7_matches, "load_cards", cards.__getitem__)
    monkeypatch.setattr(tartanian7_matches, "cache_folder", lambda: tmp_path / "cache")
    times = (0.02, 0.1)
    agents = TrainedAgent("fine", "lossless", times), TrainedAgent("coarse", "blind", times)
    opponents = TrainedAgent("O1", "blind", (0.02,), "pcs"), TrainedAgent("O2", "lossless", (0.02,))
    return Comparison(str(recipe), agents, opponents, 100_000)


def test_finer_cards_lead_against_both_opponents_and_directly(small: Comparison) -> None:
    report = figure_1(small, 0, use_cache=False)
    direct = report.row("fine against coarse, both after 0.1 s")
    assert direct.verdict == "significant"
    assert direct.ours > 0
    leads = [row for row in report.rows if row.kind == "finding"]
    assert [row.name for row in leads] == [f"least lead of fine over coarse against {o}" for o in ("O1", "O2")]
    assert all(row.passes == (row.ours >= 0) for row in leads)
    assert [curve.panel for curve in report.curves[::2]] == [
        f"mbb a hand against {o}, by seconds" for o in ("O1", "O2")
    ]


def test_parts_are_trained_one_by_one(small: Comparison, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for part in range(1, 5):
        report = figure_1(small, 0, use_cache=True, part=part)
        assert not report.rows
        assert f"{part} of {4 + (part == 4)} parts" in report.notes[-1]
    assert figure_1(small, 0, use_cache=True, part=5).rows


def test_rules_of_table_2_are_played_by_one_strategy(small: Comparison) -> None:
    report = table_2(small._replace(agents=small.agents[:1]), 0, use_cache=False)
    rows = {row.name: row.ours for row in report.rows}
    for rule in tartanian7_matches.POST_PROCESSING:
        both = [rows[f"{rule} against {o}"] for o in ("O1", "O2")]
        assert rows[f"{rule}: mean"] == pytest.approx(np.mean(both))
        assert rows[f"{rule}: worst"] == min(both)
    lead = max(rows[f"{rule}: mean"] for rule in ("none", "purification", "threshold 0.15"))
    assert rows["lead of the new rule in the mean"] == pytest.approx(rows["new 0.2: mean"] - lead)
    assert len({rows[f"{rule} against O1"] for rule in tartanian7_matches.POST_PROCESSING}) > 4  # they differ


def test_sizes_are_those_of_the_paper() -> None:
    hierarchical, flat, large = FULL.agents
    assert load_recipe(hierarchical.cards).counts == (169, 30_000, 30_000, 30_000)
    assert load_recipe(flat.cards).counts == (169, 5_000, 5_000, 5_000)
    assert flat_recipe(tartanian7_matches.FLAT_BUCKETS[large.cards]).counts == (169, 30_000, 30_000, 30_000)
    assert load_recipe(QUICK.agents[0].cards).counts == load_recipe(QUICK.agents[1].cards).counts
    for size in QUICK, FULL:
        assert size.agents[0].seconds[-1] / size.agents[0].seconds[0] >= 64
