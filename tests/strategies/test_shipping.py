"""Blueprints in compact form for shipping."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets
from riverboat.cli.files import ship
from riverboat.core.errors import InputError
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.games.holdem.menus import one_size_menu
from riverboat.games.holdem.rules import read_game
from riverboat.strategies import shipping as shipped_form
from riverboat.strategies.blueprint import Blueprint, load_blueprint, save_blueprint
from riverboat.strategies.shipping import SHIPPED_STEPS, ship_blueprint, without_late_labels

RNG = np.random.default_rng(8)


def trained(folder: Path, river: str = "strength") -> Blueprint:
    """Save a hold'em blueprint with random numbers."""
    rules = read_game("nolimit-200bb")
    tree = compile_action_tree(rules, one_size_menu("a"))
    cuts = np.arange(200, 2000, 200).astype(np.uint16)[None]
    centres = RNG.dirichlet(np.full(50, 0.3), 6).astype(np.float32)
    streets = (
        StreetBuckets(169),
        StreetBuckets(5, RNG.integers(0, 5, (1, 1_286_792)).astype(np.uint16)),
        StreetBuckets(6, centres=centres, computed=True, metadata={"method": "histogram"}),
        StreetBuckets(10, cuts=cuts, centres=np.zeros((10, 1), np.float32), computed=True, metadata={"method": river}),
    )
    cards = CardAbstraction(streets, name="made up")
    sums = tuple(
        RNG.exponential(3.0, (n, int(width))).astype(np.float32)
        for n, width in zip(cards.counts, tree.width, strict=True)
    )
    strategy = Blueprint(
        rules, tree.menu, tree, cards, sums, {"recipe": "mine", "seconds": 7.0}, cards.save(folder / "cards")
    )
    save_blueprint(strategy, folder / "run")
    return strategy


def test_shipped_folder_is_self_contained(tmp_path: Path) -> None:
    strategy = trained(tmp_path)
    shipped = ship_blueprint(tmp_path / "run", tmp_path / "out")
    assert str(tmp_path) not in (tmp_path / "out" / "manifest.json").read_text()  # no path of the build machine
    (tmp_path / "out").rename(tmp_path / "elsewhere")
    again = load_blueprint(tmp_path / "elsewhere")
    assert all(table.dtype == np.uint8 for table in again.average)
    assert shipped.bytes < 4_000_000
    with zipfile.ZipFile(io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path in sorted((tmp_path / "elsewhere").rglob("*.*")):
            wheel.write(path, path.relative_to(tmp_path))
        assert shipped.zipped == pytest.approx(sum(entry.compress_size for entry in wheel.infolist()), rel=0.01)
    assert shipped.provenance["recipe"] == again.provenance["recipe"] == "mine"
    for line, board in (("", ""), ("cc/", "AsKd2c"), ("cc/cc/", "AsKd2c9h"), ("cc/cc/cc/", "AsKd2c9h9d")):
        before, after = strategy.hand_probabilities(line, "QhJh", board), again.hand_probabilities(line, "QhJh", board)
        assert after == pytest.approx(before, abs=1 / SHIPPED_STEPS)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cards", "elsewhere", "run"]  # no temporary files
    with pytest.raises(InputError, match="elsewhere"):
        ship_blueprint(tmp_path / "run", tmp_path / "elsewhere")


def test_steps_and_size_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer steps are smaller, more steps are more accurate; a folder above the size limit is removed."""
    strategy = trained(tmp_path)
    fine, coarse = (ship_blueprint(tmp_path / "run", tmp_path / str(steps), steps) for steps in (255, 15))
    assert coarse.zipped < fine.zipped
    assert coarse.bytes == fine.bytes
    for shipped, steps in ((fine, 255), (coarse, 15)):
        after = load_blueprint(shipped.folder).hand_probabilities("cc/", "QhJh", "AsKd2c")
        assert after == pytest.approx(strategy.hand_probabilities("cc/", "QhJh", "AsKd2c"), abs=1 / steps)
    for steps in (0, 256):
        with pytest.raises(InputError, match=f"steps={steps}.*255"):
            ship_blueprint(tmp_path / "run", tmp_path / "never", steps)
    monkeypatch.setattr(shipped_form, "MAX_ZIPPED_BYTES", coarse.zipped - 1)
    with pytest.raises(InputError, match=r"never: [\d,]+ .*steps"):
        ship_blueprint(tmp_path / "run", tmp_path / "never", 15)
    assert not (tmp_path / "never").exists()


def test_abstraction_without_computable_buckets() -> None:
    river = StreetBuckets(4, np.zeros((1, 123_156_254), np.uint16), metadata={"method": "percentile"})
    flop, turn = (StreetBuckets(1, np.zeros((1, n), np.uint16)) for n in (1_286_792, 13_960_050))
    cards = CardAbstraction((StreetBuckets(169), flop, turn, river))
    with pytest.raises(InputError, match=r"turn by None.*histogram"):
        without_late_labels(cards)


def test_shipping_an_agent_applies_post_processing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Agents are given by name; their post-processing goes into the tables. Search and baseline agents have no tables."""
    strategy = trained(tmp_path)
    ship(f"{tmp_path / 'run'}?purify", out=tmp_path / "out", steps=63, json=True)
    printed = json.loads(capsys.readouterr().out)
    assert printed["provenance"]["post-processing"] == "purify"
    again = load_blueprint(tmp_path / "out")
    before, after = (
        strategy.hand_probabilities("cc/", "QhJh", "AsKd2c"),
        again.hand_probabilities("cc/", "QhJh", "AsKd2c"),
    )
    assert [after[move] for move in before] == [float(share == max(before.values())) for share in before.values()]
    for name in (f"{tmp_path / 'run'}?search=river", "always-call"):
        with pytest.raises(InputError, match="blueprint"):
            ship(name, out=tmp_path / "other", steps=63, json=True)
    assert not (tmp_path / "other").exists()
