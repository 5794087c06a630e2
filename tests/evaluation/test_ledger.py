"""Ledger: results, ratings against plain sums, stable files, and this project's page."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from random_blueprints import random_blueprint
from riverboat.agents.baselines import BaselineAgent
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.registry import make_agent
from riverboat.core.errors import InputError, RiverboatError
from riverboat.evaluation.identity import agent_identity, describe_result
from riverboat.evaluation.ledger import Ledger, read_ledger
from riverboat.games.holdem.rules import read_game
from riverboat.reports.ledger import open_ledger, to_markdown_page
from riverboat.strategies.blueprint import save_blueprint

DOCS = Path(__file__).parents[2] / "docs"
RULES = read_game("leduc")
NAMES = ("always-call", "always-fold", "always-raise", "rule-based", "random")
AGENTS = {name: BaselineAgent(name) for name in NAMES}


def match(first: str, second: str, mbb: float, ci95: float = 10.0, seed: int = 0, rules=RULES) -> dict[str, object]:
    facts = {"mbb_per_game": mbb, "ci95": ci95, "hands": 1000, "seed": seed}
    return facts | describe_result("match", rules, AGENTS[first], AGENTS[second])


def filled(*matches: dict[str, object]) -> Ledger:
    found = Ledger("x.jsonl")
    for each in matches:
        found = found.add(json.loads(json.dumps(each)))
    return found


def rated(found: Ledger) -> dict[str, tuple[float, float, int]]:
    names = found.names()
    return {names[r.agent]: (r.mbb_per_game, r.ci95, r.group) for r in found.ratings()}


# --- Ratings ---


def test_two_agents() -> None:
    """The difference of the ratings is the result, with its error: each agent has half of it."""
    found = rated(filled(match("always-call", "always-fold", 300, 20)))
    assert found["always-call"] == pytest.approx((150, 10, 0))
    assert found["always-fold"] == pytest.approx((-150, 10, 0))


def test_two_matches_are_weighted_by_their_intervals() -> None:
    """Half the width weighs as much as four times the hands: weights 4/5 and 1/5."""
    one, two = match("always-call", "always-fold", 100, 100), match("always-call", "always-fold", 150, 50, seed=1)
    two["aivat"] = {"known": []}  # not a piece of the first
    found = rated(filled(one, two))
    assert found["always-call"][0] - found["always-fold"][0] == pytest.approx(0.2 * 100 + 0.8 * 150)
    assert 2 * found["always-call"][1] == pytest.approx((1 / 100**2 + 1 / 50**2) ** -0.5)


def test_pieces_are_pooled() -> None:
    """Pieces with different seeds weigh by their hands; of equal seeds, with the same first cards, the longest
    counts."""
    pieces = [match("always-call", "always-fold", mbb, 30, seed) for seed, mbb in enumerate((100, 160, 40))]
    pieces[2]["hands"] = 2000
    shorter = match("always-call", "always-fold", 900, 30, seed=2)
    (entry,) = filled(*pieces, shorter).pooled_entries("match")
    assert (entry.mbb_per_game, entry.hands, entry.seed) == (pytest.approx((100 + 160 + 2 * 40) / 4), 4000, None)
    assert entry.ci95 == pytest.approx(30 * (1 + 1 + 4) ** 0.5 / 4)
    pieces[0]["ci95"] = 1.0  # a short piece that happens to be narrow weighs no more
    found = rated(filled(*pieces))
    assert found["always-call"][0] - found["always-fold"][0] == pytest.approx(entry.mbb_per_game)
    other = match("always-call", "always-raise", 5, 30, seed=9)
    assert sorted(e.hands or 0 for e in filled(*pieces, other).pooled_entries("match")) == [1000, 4000]


def test_ratings_against_another_fit() -> None:
    """Compare with a fit that fixes the last agent at zero, and with the errors of differences from the mean."""
    rng = np.random.default_rng(3)
    true = dict(zip(NAMES, rng.normal(0, 200, 5).tolist(), strict=True))
    games = [(a, b, float(rng.integers(5, 40))) for i, a in enumerate(NAMES) for b in NAMES[:i]]
    results = [match(a, b, true[a] - true[b] + rng.normal(0, w / 1.96), w) for a, b, w in games]
    rows, right = np.zeros((len(games), 4)), np.zeros(len(games))
    for k, (a, b, w) in enumerate(games):
        for name, sign in ((a, 1), (b, -1)):
            if name != NAMES[-1]:
                rows[k, NAMES.index(name)] = sign / w
        right[k] = results[k]["mbb_per_game"] / w  # type: ignore[operator]
    fit = np.append(np.linalg.lstsq(rows, right, rcond=None)[0], 0.0)
    found = rated(filled(*results))
    assert [found[name][0] for name in NAMES] == pytest.approx(fit - fit.mean(), abs=0.01)
    spread = np.zeros((5, 5))
    spread[:4, :4] = np.linalg.inv(rows.T @ rows)
    about_mean = np.eye(5) - 0.2
    widths = np.sqrt(np.diag(about_mean @ spread @ about_mean.T))
    misfit = ((rows @ fit[:4] - right) ** 2).sum() * 1.959964**2 / (len(games) - 4)
    assert [found[name][1] for name in NAMES] == pytest.approx(widths * max(1, misfit) ** 0.5, rel=1e-3)


def test_cyclic_results_increase_errors() -> None:
    circle = [("always-call", "always-fold"), ("always-fold", "always-raise"), ("always-raise", "always-call")]
    straight = rated(filled(*(match(a, b, 0) for a, b in circle)))
    round_ = rated(filled(*(match(a, b, 500) for a, b in circle)))
    assert all(abs(round_[name][0]) < 1e-6 for name in round_)
    assert round_["always-call"][1] > 20 * straight["always-call"][1]


def test_groups_are_rated_separately() -> None:
    found = filled(match("always-call", "always-fold", 100), match("rule-based", "random", 900))
    groups = {name: rating[2] for name, rating in rated(found).items()}
    assert groups["always-call"] == groups["always-fold"] != groups["random"] == groups["rule-based"]
    assert "2 groups" in to_markdown_page(found, Path("page.md"))


# --- Identities ---


@pytest.mark.parametrize(
    ("more", "hours"),
    [({}, 2.0), ({"device": "cuda", "traversal": "external"}, 150.0), ({"device": "cuda", "traversal": "pcs"}, 2.0)],
)
def test_core_hours(more: dict[str, str], hours: float) -> None:
    """A GPU that samples deals counts as many cores; with vectors, the CPU threads that dealt to it count."""
    strategy = random_blueprint("leduc")
    known = {**strategy.provenance, "seconds": 3600.0, "threads": 2, **more}
    assert agent_identity(replace(strategy, provenance=known))["core_hours"] == hours


def test_fingerprints_depend_on_play() -> None:
    strategy, other = random_blueprint("leduc", 1), random_blueprint("leduc", 2)
    plain = agent_identity(BlueprintAgent(strategy, "runs/a", seed=1))
    assert agent_identity(BlueprintAgent(strategy, "b?seed=2", seed=2))["fingerprint"] == plain["fingerprint"]
    assert agent_identity(strategy)["fingerprint"] == plain["fingerprint"]
    marks = {
        plain["fingerprint"],
        agent_identity(BlueprintAgent(other))["fingerprint"],
        agent_identity(BlueprintAgent(strategy, post="purify"))["fingerprint"],
        agent_identity(BlueprintAgent(strategy, post="threshold", share=0.2))["fingerprint"],
        agent_identity(BlueprintAgent(strategy, translation="det-arith"))["fingerprint"],
        *(agent_identity(agent)["fingerprint"] for agent in AGENTS.values()),
    }
    assert len(marks) == 10
    assert (plain["name"], agent_identity(BlueprintAgent(strategy, "x/y?purify&seed=3", post="purify"))["name"]) == (
        "a",
        "y?purify",
    )


def test_fingerprints_of_composite_agents(tmp_path: Path) -> None:
    first, other = (save_blueprint(random_blueprint("leduc", seed), tmp_path / str(seed)) for seed in (1, 2))
    copy = shutil.copytree(first, tmp_path / "copy")
    for how in ("{}?exploit=dbbr", "{}?exploit=dbbr&notice=20", "hedge:{},random", "switch:{},random"):
        plain, again, unlike = (agent_identity(make_agent(how.format(folder))) for folder in (first, copy, other))
        assert plain["fingerprint"] != unlike["fingerprint"]
        assert plain["fingerprint"] == again["fingerprint"]
        assert plain["fingerprint"] != agent_identity(make_agent(str(first)))["fingerprint"]
    seeded = make_agent(f"{first}?exploit=dbbr&seed=3&memory={tmp_path / 'memory'}")
    plain = agent_identity(make_agent(f"{first}?exploit=dbbr"))
    assert agent_identity(seeded) == plain
    assert (plain["name"], plain["kind"]) == ("1?exploit=dbbr", "blueprint")


# --- Files ---


def test_files_are_stable(tmp_path: Path) -> None:
    """The text does not depend on the order of results and survives a round trip; equal measurements occur once."""
    results = [
        match("always-call", "always-fold", 100),
        match("rule-based", "random", 900.123456),
        match("random", "always-call", 5),
    ]
    one, other = filled(*results), filled(*reversed(results), results[0])
    assert one.to_text() == other.to_text()
    path = tmp_path / "ledger.jsonl"
    path.write_text(one.to_text())
    assert read_ledger(path).to_text() == one.to_text()
    assert len(one.to_text().splitlines()) == 1 + 4 + 3
    again = one.add(match("always-call", "always-fold", 120))
    assert len(again.entries) == 3


def of_release(version: str) -> dict[str, object]:
    found = match("always-call", "always-fold", 1)
    return found | {"about": {**found["about"], "version": version}}  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("other", "word"),
    [
        (match("always-call", "always-fold", 1, rules=read_game("kuhn")), "rules"),
        (match("always-call", "always-fold", 1, rules=read_game("nolimit-100bb")), "stacks"),
        (of_release("9"), "release"),
    ],
)
def test_other_games_and_releases(other: dict[str, object], word: str) -> None:
    with pytest.raises(InputError, match=rf"{word} .*x\.jsonl"):
        filled(match("always-call", "always-fold", 100), other)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"ledger": 2}',
        '{"result": "match"}',
        '{"agent": "a", "name": "\\u0007", "kind": "x"}',
        "[" * 100_000,
    ],
)
def test_invalid_files(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(text)
    with pytest.raises(RiverboatError, match=r"x\.jsonl"):
        read_ledger(path)


def test_results_without_identity(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text('{"mbb_per_game": 3}')
    with pytest.raises(InputError, match="`about`"):
        open_ledger(tmp_path / "ledger.jsonl", [path])
    assert not (tmp_path / "ledger.jsonl").exists()


def test_strength_page_is_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/strength.md is written by `riverboat ledger docs/strength.jsonl --write docs/strength.md`."""
    monkeypatch.chdir(DOCS.parent)
    page = (DOCS / "strength.md").read_text()
    assert page == to_markdown_page(read_ledger("docs/strength.jsonl"), Path("docs/strength.md"))
    assert "`riverboat ledger docs/strength.jsonl --write docs/strength.md`" in page
