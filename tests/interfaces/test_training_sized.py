"""`riverboat train --time` without a recipe: the size is taken from the time, and a run keeps the one that it has."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from riverboat.abstraction.cards.card_abstraction import StreetBuckets, lossless
from riverboat.cli import train
from riverboat.games.holdem.rules import read_game
from riverboat.solvers.mccfr import sizing
from riverboat.strategies.blueprint import load_blueprint

LEDUC = read_game("leduc")


@pytest.fixture(autouse=True)
def leduc(tmp_path, monkeypatch):
    """Leduc in place of hold'em: one bucket on the first street below a second, then all of them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "leduc.toml").write_text("game = 'leduc'\n[training]\nweighting = 'linear'\nperiod = 640\n")
    fine = lossless(LEDUC.board[1:], LEDUC.deck)
    alike = StreetBuckets(1, np.zeros((1, fine.counts[0]), np.uint16))
    coarse = replace(fine, streets=(alike, *fine.streets[1:]), name="coarse")
    coarse.save(tmp_path / "coarse")
    fine.save(tmp_path / "fine")
    sizes = (sizing.Size("coarse", 0.0, None, 1, "few"), sizing.Size("fine", 1.0, "coarse", 1, "many"))
    monkeypatch.setattr(sizing, "SIZES", sizes)
    monkeypatch.setattr(train, "SIZED", str(tmp_path / "leduc.toml"))
    monkeypatch.setattr(train, "_made", lambda cards, how: tmp_path / cards)


def test_the_size_is_taken_from_the_time(run, tmp_path):
    assert run("train", "--time", "0.2s", "--threads", "1", "--out", "short")[0] == 0
    assert run("train", "--time", "1s", "--threads", "1", "--out", "long")[0] == 0
    short, long = load_blueprint(tmp_path / "short"), load_blueprint(tmp_path / "long")
    assert (short.cards.counts[0], short.cards.name) == (1, "coarse")
    assert long.cards.counts[0] > 1
    assert "begun_seconds" not in short.provenance
    assert 0 < long.provenance["begun_seconds"] < long.provenance["seconds"]
    assert not (tmp_path / "long.begin").exists()


def test_who_goes_on_for_longer_keeps_the_cards_of_the_run(run, tmp_path):
    """Also beyond the time from which on a new run would have more of them."""
    assert run("train", "--time", "0.2s", "--threads", "1", "--out", "run")[0] == 0
    before = load_blueprint(tmp_path / "run").provenance
    code, _, said = run("train", "--time", "1.2s", "--threads", "1", "--out", "run", "--resume")
    assert code == 0, said
    after = load_blueprint(tmp_path / "run")
    assert after.cards.name == "coarse"
    assert after.provenance["iterations"] > before["iterations"]
    assert after.provenance["seconds"] >= 1.2 - 1e-3
