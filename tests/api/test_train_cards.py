"""Training without a named card abstraction: that of the recipe is built, once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets, load_abstraction
from riverboat.abstraction.recipe import load_recipe
from riverboat.api import train as train_api
from riverboat.cards.isomorphism import HandIndexer
from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.strategies.blueprint import ABSTRACTION_FOLDER

RECIPE = """\
game = "bench-2x52"
abstraction = "{cards}"
[menu]
preflop = "a"
most_raises = [1, 1]
[training]
period = 1000
"""
CARDS = """\
[flop]
method = "histogram"
buckets = 2
[turn]
method = "histogram"
buckets = 2
[river]
method = "ochs"
buckets = 2
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder of the user's data, with a build that is quick: two buckets of preflop hands, and of hands with a flop."""
    built: list[Path] = []

    def build(recipe: Any, out: Path, *, resume: bool, progress: Any, **_: Any) -> None:
        assert resume
        built.append(out)
        progress(None, 0.5)
        if not out.is_dir():
            sizes = [HandIndexer(rounds).size(len(rounds) - 1) for rounds in ((2,), (2, 3))]
            streets = tuple(StreetBuckets(2, (np.arange(size) % 2).astype(np.uint16)[None]) for size in sizes)
            CardAbstraction(streets, (3,), name=recipe.name, recipe=recipe.to_dict()).save(out)

    monkeypatch.setattr(train_api, "abstract", build)
    monkeypatch.setattr(train_api, "user_folder", lambda kind: tmp_path / kind)
    return tmp_path


def recipe_file(folder: Path, cards: str) -> Path:
    path = folder / "training.toml"
    path.write_text(RECIPE.format(cards=cards))
    return path


def test_the_cards_of_the_recipe_are_built_once(home: Path) -> None:
    recipe = recipe_file(home, "tiny")
    first = train_api.train(recipe, out=home / "first", iterations=64, threads=1)
    made = load_abstraction(home / "data" / "tiny")
    assert made.recipe == load_recipe("tiny").to_dict()
    stamp = (home / "data" / "tiny").stat().st_mtime_ns
    second = train_api.train(recipe, out=home / "second", iterations=64, threads=1)
    assert (home / "data" / "tiny").stat().st_mtime_ns == stamp
    assert first.strategy.fingerprint == second.strategy.fingerprint


def test_recipes_of_equal_name_have_folders_of_their_own(home: Path) -> None:
    cards = home / "tiny.toml"
    for buckets in (2, 3):
        cards.write_text(CARDS.replace("buckets = 2", f"buckets = {buckets}"))
        train_api.train(recipe_file(home, str(cards)), out=home / f"run{buckets}", iterations=64, threads=1)
    assert len([each for each in (home / "data").iterdir() if each.name.startswith("tiny-")]) == 2


def test_a_resumed_run_keeps_its_cards(home: Path) -> None:
    recipe = recipe_file(home, "tiny")
    train_api.train(recipe, out=home / "run", iterations=64, threads=1)
    before = load_abstraction(home / "run" / ABSTRACTION_FOLDER).fingerprint
    recipe_file(home, "percentile5")
    again = train_api.train(recipe, out=home / "run", iterations=128, threads=1, resume=True)
    assert again.iterations == 128
    assert again.strategy.cards.fingerprint == before
    assert not (home / "data" / "percentile5").exists()


def test_a_stop_ends_the_build(home: Path) -> None:
    with pytest.raises(KeyboardInterrupt, match="tiny"):
        train_api.train(recipe_file(home, "tiny"), out=home / "run", iterations=64, stop=lambda: True)
    assert not (home / "run").exists()


def test_errors_come_before_the_build(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="nowhere"):
        train_api.train(recipe_file(home, "nowhere"), out=home / "run", iterations=64)
    monkeypatch.setattr(train_api, "available_memory", lambda: 10)
    with pytest.raises(MemoryLimitError):
        train_api.train(recipe_file(home, "tiny"), out=home / "run", iterations=64)
    assert not (home / "data").exists()
