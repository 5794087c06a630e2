"""The experiment `coin-toss`: all figures of Coin Toss, and its table on a small Leduc."""

from __future__ import annotations

import pytest

from riverboat.games.registry import make
from riverboat.papers.endgames.coin_toss import EXPERIMENT, Blind, _blind, coin_toss, random_bases, second_round
from riverboat.testing import check_game


def test_coin_toss() -> None:
    rows = coin_toss()
    assert all(row.fine for row in rows)
    assert next(row.ours for row in rows if row.name == "re-solve: least margin") >= -1e-9
    differs = [row.name for row in rows if row.verdict == "explained"]
    assert differs == ["maxmargin: guess heads"]  # the misprint
    assert sum(row.verdict == "match" for row in rows if row.kind == "printed") == 15


def test_second_round() -> None:
    rows, curves = second_round("leduc:ranks=3,suits=1")
    assert all(row.fine for row in rows)
    assert len(curves) == 4
    found = {row.name.partition(": ")[2]: row.ours for row in rows if "blind" in row.name}
    least = found["best possible"]
    assert all(least <= value + 1e-6 for name, value in found.items() if not name.startswith("most"))
    assert found["base"] > least + 0.01


def test_random_bases() -> None:
    rows = random_bases("leduc:ranks=3,suits=1", 2, seed=1)
    assert all(row.fine for row in rows)


def test_the_blind_game() -> None:
    game = make("leduc:ranks=3,suits=2")
    found = check_game(Blind(game), limit=50_000)  # type: ignore[arg-type]
    assert found.complete
    assert found.zero_sum
    assert _blind("Ks:crc/Qh/cr") == "K:crc/cr"


@pytest.mark.slow
def test_the_whole_experiment() -> None:
    report = EXPERIMENT.run(False, 0)
    assert report.fine
    assert report.row("leduc, equilibrium: unsafe").ours > 0.01
