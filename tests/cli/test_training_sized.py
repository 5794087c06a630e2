"""`riverboat train --time` without a recipe: the time determines the size, and a resumed run keeps its size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from riverboat.abstraction.cards.card_abstraction import StreetBuckets, lossless_abstraction
from riverboat.api import train as training
from riverboat.games.holdem.rules import read_game
from riverboat.solvers.mccfr import recipe
from riverboat.strategies.blueprint import load_blueprint

LEDUC = read_game("leduc")


@pytest.fixture(autouse=True)
def leduc(tmp_path, monkeypatch):
    """Replace hold'em by Leduc: one bucket on the first street below one second, otherwise all buckets."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "leduc.toml").write_text("game = 'leduc'\n[training]\nweighting = 'linear'\nperiod = 640\n")
    fine = lossless_abstraction(LEDUC.board[1:], LEDUC.deck)
    alike = StreetBuckets(1, np.zeros((1, fine.counts[0]), np.uint16))
    coarse = replace(fine, streets=(alike, *fine.streets[1:]), name="coarse")
    coarse.save(tmp_path / "coarse")
    fine.save(tmp_path / "fine")
    sizes = (recipe.TrainingSize("coarse", 0.0, None, 1, "few"), recipe.TrainingSize("fine", 1.0, "coarse", 1, "many"))
    monkeypatch.setattr(recipe, "SIZES", sizes)
    monkeypatch.setattr(training, "SIZED_RECIPE", str(tmp_path / "leduc.toml"))
    monkeypatch.setattr(training, "_build_cards", lambda cards, *_: tmp_path / cards)


def test_time_determines_the_size(run, tmp_path):
    assert run("train", "--time", "0.2s", "--threads", "1", "--out", "short")[0] == 0
    assert run("train", "--time", "1s", "--threads", "1", "--out", "long")[0] == 0
    short, long = load_blueprint(tmp_path / "short"), load_blueprint(tmp_path / "long")
    assert (short.cards.counts[0], short.cards.name) == (1, "coarse")
    assert long.cards.counts[0] > 1
    assert "begun_seconds" not in short.provenance
    assert 0 < long.provenance["begun_seconds"] < long.provenance["seconds"]
    assert not (tmp_path / "long.begin").exists()


def test_resumed_run_keeps_its_abstraction(run, tmp_path):
    """This also holds beyond the time from which a new run would have more buckets."""
    assert run("train", "--time", "0.2s", "--threads", "1", "--out", "run")[0] == 0
    before = load_blueprint(tmp_path / "run").provenance
    code, _, said = run("train", "--time", "1.2s", "--threads", "1", "--out", "run", "--resume")
    assert code == 0, said
    after = load_blueprint(tmp_path / "run")
    assert after.cards.name == "coarse"
    assert after.provenance["iterations"] > before["iterations"]
    assert after.provenance["seconds"] >= 1.2 - 1e-3
