"""Blueprints in the form in which they are shipped."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets
from riverboat.cli.files import ship as shipping
from riverboat.core.errors import InputError
from riverboat.games.holdem.action_tree import compile_actions
from riverboat.games.holdem.menus import one_size
from riverboat.games.holdem.rules import read_game
from riverboat.strategies import shipping as shipped_form
from riverboat.strategies.blueprint import BlueprintStrategy, load_blueprint, save_blueprint
from riverboat.strategies.shipping import SHIPPED_STEPS, computed_cards, ship

RNG = np.random.default_rng(8)


def trained(folder: Path, river: str = "strength") -> BlueprintStrategy:
    """A blueprint of hold'em with made-up numbers, on disk."""
    rules = read_game("nolimit-200bb")
    tree = compile_actions(rules, one_size("a"))
    cuts = np.arange(200, 2000, 200).astype(np.uint16)[None]
    centres = RNG.dirichlet(np.full(50, 0.3), 6).astype(np.float32)
    streets = (
        StreetBuckets(169),
        StreetBuckets(5, RNG.integers(0, 5, (1, 1_286_792)).astype(np.uint16)),
        StreetBuckets(6, centres=centres, computed=True, facts={"method": "histogram"}),
        StreetBuckets(10, cuts=cuts, centres=np.zeros((10, 1), np.float32), computed=True, facts={"method": river}),
    )
    cards = CardAbstraction(streets, name="made up")
    sums = tuple(
        RNG.exponential(3.0, (n, int(width))).astype(np.float32)
        for n, width in zip(cards.counts, tree.width, strict=True)
    )
    strategy = BlueprintStrategy(
        rules, tree.menu, tree, cards, sums, {"recipe": "mine", "seconds": 7.0}, cards.save(folder / "cards")
    )
    save_blueprint(strategy, folder / "run")
    return strategy


def test_what_is_shipped_needs_nothing_beside_it(tmp_path: Path) -> None:
    strategy = trained(tmp_path)
    made = ship(tmp_path / "run", tmp_path / "out")
    assert str(tmp_path) not in (tmp_path / "out" / "manifest.json").read_text()  # nothing is told of where it was made
    (tmp_path / "out").rename(tmp_path / "elsewhere")
    again = load_blueprint(tmp_path / "elsewhere")
    assert all(table.dtype == np.uint8 for table in again.average)
    assert made.bytes < 4_000_000
    with zipfile.ZipFile(io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path in sorted((tmp_path / "elsewhere").rglob("*.*")):
            wheel.write(path, path.relative_to(tmp_path))
        assert made.zipped == pytest.approx(sum(each.compress_size for each in wheel.infolist()), rel=0.01)
    assert made.provenance["recipe"] == again.provenance["recipe"] == "mine"
    for line, board in (("", ""), ("cc/", "AsKd2c"), ("cc/cc/", "AsKd2c9h"), ("cc/cc/cc/", "AsKd2c9h9d")):
        before, after = strategy.at(line, "QhJh", board), again.at(line, "QhJh", board)
        assert after == pytest.approx(before, abs=1 / SHIPPED_STEPS)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cards", "elsewhere", "run"]  # nothing is left over
    with pytest.raises(InputError, match="exists already"):
        ship(tmp_path / "run", tmp_path / "elsewhere")


def test_steps_and_the_size_of_a_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Coarser steps are smaller, finer ones nearer; what a wheel cannot carry leaves nothing behind."""
    strategy = trained(tmp_path)
    fine, coarse = (ship(tmp_path / "run", tmp_path / str(steps), steps) for steps in (255, 15))
    assert coarse.zipped < fine.zipped
    assert coarse.bytes == fine.bytes
    for made, steps in ((fine, 255), (coarse, 15)):
        after = load_blueprint(made.folder).at("cc/", "QhJh", "AsKd2c")
        assert after == pytest.approx(strategy.at("cc/", "QhJh", "AsKd2c"), abs=1 / steps)
    for steps in (0, 256):
        with pytest.raises(InputError, match=f"steps={steps}: how finely shares are told, 1 to 255"):
            ship(tmp_path / "run", tmp_path / "never", steps)
    monkeypatch.setattr(shipped_form, "MOST_BYTES", coarse.zipped - 1)
    with pytest.raises(InputError, match=r"bytes when zipped; at most .* fewer steps"):
        ship(tmp_path / "run", tmp_path / "never", 15)
    assert not (tmp_path / "never").exists()


def test_cards_that_cannot_be_computed_are_refused() -> None:
    river = StreetBuckets(4, np.zeros((1, 123_156_254), np.uint16), facts={"method": "percentile"})
    flop, turn = (StreetBuckets(1, np.zeros((1, n), np.uint16)) for n in (1_286_792, 13_960_050))
    cards = CardAbstraction((StreetBuckets(169), flop, turn, river))
    with pytest.raises(InputError, match="buckets of the turn by None cannot be computed at the table; histogram can"):
        computed_cards(cards)


def test_an_agent_is_shipped_as_it_plays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By its name; what is done to its rows is in the tables then. Search and yardsticks have none of their own."""
    strategy = trained(tmp_path)
    shipping.ship(f"{tmp_path / 'run'}?purify", tmp_path / "out", 63, json=True)
    told = json.loads(capsys.readouterr().out)
    assert told["provenance"]["post-processing"] == "purify"
    again = load_blueprint(tmp_path / "out")
    before, after = strategy.at("cc/", "QhJh", "AsKd2c"), again.at("cc/", "QhJh", "AsKd2c")
    assert [after[move] for move in before] == [float(share == max(before.values())) for share in before.values()]
    for name in (f"{tmp_path / 'run'}?search=river", "always-call"):
        with pytest.raises(InputError, match="a blueprint is shipped"):
            shipping.ship(name, tmp_path / "other", 63, json=True)
    assert not (tmp_path / "other").exists()
