"""Figures of the public-chance-sampling paper: shared functions, and each figure at a small size."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
from riverboat.core.errors import InputError
from riverboat.games.boards.holdem import holdem
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.games.holdem.rules import read_game
from riverboat.games.registry import game_from_spec
from riverboat.papers.framework import ExperimentParts
from riverboat.papers.public_chance_sampling import figures
from riverboat.papers.public_chance_sampling.curves import (
    SAMPLERS,
    TrainingCheck,
    cached_run,
    claim_rows,
    doubling_times,
    geometric_mean_run,
    iterate_target_times,
    num_checks,
    sampler_rows,
    speed_up,
    time_to_reach,
    train_with_checks,
)
from riverboat.papers.training import make_compiled_trainer, real_exploitability
from riverboat.solvers.tabular.best_response import quality
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.tabular import Strategy
from riverboat.trees.compile import compile_game


def line(figures: list[float], first: float = 1.0) -> list[TrainingCheck]:
    return [TrainingCheck(first * 2**k, 10 * 2**k, 100 * 2**k, figure) for k, figure in enumerate(figures)]


def test_checks_at_doubling_times() -> None:
    """With a clock that counts iterations, checks come after 25, 50 and 100 of them, up to the last step."""
    done = [0]

    def step(count: int) -> None:
        done[0] += count

    spent = list(iterate_target_times(step, lambda: done[0], doubling_times(100.0, 3), lambda: float(done[0])))
    assert spent[-1] == done[0]
    for found, wanted in zip(spent, (25, 50, 100), strict=True):
        assert wanted <= found < 1.6 * wanted


def test_checks_at_the_times_of_another_run() -> None:
    """Steps of 64 iterations determine the times of checks; single steps follow them closely."""
    done = [0]

    def step(count: int) -> None:
        done[0] += -(-count // 64) * 64

    coarse = list(iterate_target_times(step, lambda: done[0], [100.0, 200.0], lambda: float(done[0])))
    assert coarse == [128.0, 256.0]
    fine = [0]
    assert (
        list(
            iterate_target_times(
                lambda n: fine.__setitem__(0, fine[0] + n), lambda: fine[0], coarse, lambda: float(fine[0])
            )
        )
        == coarse
    )


def test_number_of_checks() -> None:
    assert [num_checks(seconds, 13.0) for seconds in (13, 26, 51, 52)] == [1, 2, 2, 3]
    with pytest.raises(InputError, match=r"seconds=12\b.*\b13\b"):
        num_checks(12, 13.0)


def test_runs_are_cached_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run is read back from its cached part; a part that is not requested is missing."""
    monkeypatch.setattr("riverboat.core.cache.cache_folder", lambda: tmp_path)
    run = line([3.0, 1.0])
    parts = ExperimentParts("trial", "a", use_cache=True, part=2)
    assert cached_run(parts, "CS", lambda: pytest.fail("not this one")) is None
    assert cached_run(parts, "PCS", lambda: run) == run
    assert "CS (part=1)" in parts.note
    assert cached_run(ExperimentParts("trial", "a", use_cache=True), "PCS", lambda: pytest.fail("made twice")) == run


def test_speed_up() -> None:
    slow, fast = line([80.0, 40.0, 20.0, 10.0]), line([40.0, 20.0, 10.0, 5.0])
    assert time_to_reach(slow, 20.0) == (pytest.approx(4.0), True)
    assert time_to_reach(slow, 28.284271) == (pytest.approx(2.828427), True)  # half-way on logarithmic axes
    assert time_to_reach(slow, 1.0) == (8.0, False)
    factor, words = speed_up(slow, fast)
    assert factor == pytest.approx(2.0)
    assert "bound" not in words
    found = claim_rows({"CS": [slow], "PCS": [fast]}, "x")
    assert found[0].verdict == "match"
    assert claim_rows({"CS": [fast], "PCS": [slow]}, "x")[0].verdict == "differs"


def test_means_over_seeds() -> None:
    runs = [line([10.0, 1.0]), line([1000.0, 100.0])]
    assert [c.value for c in geometric_mean_run(runs)] == pytest.approx([100.0, 10.0])
    row = sampler_rows({"CS": runs}, "mbb")[0]
    assert (row.low, row.high) == (10.0, 1000.0)


@pytest.mark.parametrize(("kind", "million", "now"), [("2-1", 16, 15_442_180), ("2-4", 94, 90_076_792)])
def test_infosets_of_two_rounds(kind: str, million: int, now: int) -> None:
    """16 and 94 million in the paper; 4 · 169 + 12 · 1,286,792 and 8 · 169 + 70 · 1,286,792 without duplicates."""
    (row,) = figures.two_round_infoset_rows(kind, compile_action_tree(holdem(kind).rules), million)
    assert row.verdict == "match"
    assert f"{now:,}" in row.note


def test_infosets_of_percentile_games() -> None:
    rows = figures.four_round_infoset_rows(compile_action_tree(holdem("4-4").rules))
    assert [row.verdict for row in rows] == ["match", "match", "match", "explained", "match"]
    assert rows[0].ours == pytest.approx(3.62429)
    assert (rows[4].kind, rows[4].ours) == ("variation", 118.6)  # cut off, not rounded


@pytest.mark.slow
def test_two_rounds_on_leduc() -> None:
    """The same run on a small game: the exploitability of all four samplers falls."""
    rules = read_game("leduc")
    game = compile_action_tree(rules), lossless_abstraction(rules.board[1:], rules.deck)
    for traversal in SAMPLERS:
        first, *_, last = train_with_checks(make_compiled_trainer(game, traversal, 1), real_exploitability, 0.2, 4)
        assert last.value < first.value


@pytest.mark.slow
def test_loss_to_an_equilibrium_is_exact() -> None:
    """Bluff(1,1): compare with the values of combined strategies, seat by seat."""
    tree = compile_game(game_from_spec("bluff:1,1"))
    equilibrium, other = CFR(tree, "dcfr", dtype="float32"), CFR(tree, "vanilla", "chance", seed=3, dtype="float32")
    equilibrium.step(300)
    other.step(200)
    found = figures.loss_against(equilibrium, other)
    by_seat = []
    for seat in (0, 1):
        table = np.array(equilibrium.average().probabilities)
        tree.player_tables(table)[seat][:] = tree.player_tables(np.array(other.average().probabilities))[seat]
        by_seat.append(quality(Strategy(tree, table)).values[seat])
    assert found == pytest.approx(-sum(by_seat) / 2, abs=1e-6)
    assert found > 0
    assert figures.loss_against(equilibrium, equilibrium) == pytest.approx(0.0, abs=1e-6)


def test_percentiles_have_equal_sizes() -> None:
    values = np.random.default_rng(0).integers(0, 2000, 100_000).astype(np.uint16)
    cuts = figures.quantile_cuts(values, 10)[0]
    sizes = np.bincount(np.searchsorted(cuts, values, side="right"), minlength=10)
    assert abs(sizes - 10_000).max() < 200


def test_leads_at_every_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """CS at 0 ± 3 and PCS at -10, 1 and 10 ± 4: the half-width of the difference is 5."""
    played = {
        "CS": [figures.AgentMatchCheck(float(k), k, 0.0, 3.0) for k in (1, 2, 4)],
        "PCS": [figures.AgentMatchCheck(float(k), k, won, 4.0) for k, won in ((1, -10.0), (2, 1.0), (4, 10.0))],
    }
    monkeypatch.setattr(
        figures, "imperfect_recall_cards", lambda parts: SimpleNamespace(counts=(169, parts, parts, parts))
    )
    monkeypatch.setattr(figures, "play_checks", lambda *_: played)
    rows = [row for row in figures.run_figure_4(False, 0, seconds=208).rows if row.name.startswith("PCS less CS")]
    assert [(row.low, row.high) for row in rows] == [(-15.0, -5.0), (-4.0, 6.0), (5.0, 15.0)]
    assert [row.note.removeprefix("the paper's claim ") for row in rows] == [
        "does not hold here", "is not settled here", "holds here",
    ]  # fmt: skip
