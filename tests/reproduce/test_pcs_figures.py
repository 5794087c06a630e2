"""Figures of the public-chance paper: what they share, and each at a small size."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from riverboat.abstraction.cards.card_abstraction import lossless
from riverboat.core.errors import InputError
from riverboat.games.boards.full_holdem import holdem
from riverboat.games.holdem.action_tree import compile_actions
from riverboat.games.holdem.rules import read_game
from riverboat.games.registry import make
from riverboat.papers.pieces import Pieces
from riverboat.papers.public_chance_sampling import bluff, figure_3, figure_4, two_rounds
from riverboat.papers.public_chance_sampling.curves import (
    Check,
    checks_of,
    claims,
    doublings,
    mean_run,
    piece,
    rows_of,
    speed_up,
    stages,
    time_to,
)
from riverboat.solvers.tabular.best_response import quality
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.tabular import Strategy
from riverboat.trees.compile import compile_game


def line(figures: list[float], first: float = 1.0) -> list[Check]:
    return [Check(first * 2**k, 10 * 2**k, 100 * 2**k, figure) for k, figure in enumerate(figures)]


def test_steps_end_when_time_is_up() -> None:
    """A clock that counts iterations: checks come after 25, 50 and 100 of them, give or take the last step."""
    done = [0]

    def step(count: int) -> None:
        done[0] += count

    spent = list(doublings(step, lambda: done[0], 100.0, 3, lambda: float(done[0])))
    assert spent[-1] == done[0]
    for found, wanted in zip(spent, (25, 50, 100), strict=True):
        assert wanted <= found < 1.6 * wanted


def test_a_run_may_be_measured_when_another_was() -> None:
    """Steps of 64 iterations say when checks are; single ones follow them closely."""
    done = [0]

    def step(count: int) -> None:
        done[0] += -(-count // 64) * 64

    coarse = list(stages(step, lambda: done[0], [100.0, 200.0], lambda: float(done[0])))
    assert coarse == [128.0, 256.0]
    fine = [0]
    assert (
        list(stages(lambda n: fine.__setitem__(0, fine[0] + n), lambda: fine[0], coarse, lambda: float(fine[0])))
        == coarse
    )


def test_checks_begin_at_the_first() -> None:
    assert [checks_of(seconds, 13.0) for seconds in (13, 26, 51, 52)] == [1, 2, 2, 3]
    with pytest.raises(InputError, match="seconds=12: the first check comes after 13"):
        checks_of(12, 13.0)


def test_runs_are_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run comes back from its piece as it was; one that another process is to make is not there yet."""
    monkeypatch.setattr("riverboat.core.cache.folder", lambda: tmp_path)
    run = line([3.0, 1.0])
    mine = Pieces("trial", "a", keep=True, part=2)
    assert piece(mine, "CS", lambda: pytest.fail("not this one")) is None
    assert piece(mine, "PCS", lambda: run) == run
    assert "CS (part=1)" in mine.note
    assert piece(Pieces("trial", "a", keep=True), "PCS", lambda: pytest.fail("made twice")) == run


def test_factors_of_time() -> None:
    slow, fast = line([80.0, 40.0, 20.0, 10.0]), line([40.0, 20.0, 10.0, 5.0])
    assert time_to(slow, 20.0) == (pytest.approx(4.0), True)
    assert time_to(slow, 28.284271) == (pytest.approx(2.828427), True)  # half-way on logarithmic axes
    assert time_to(slow, 1.0) == (8.0, False)
    factor, words = speed_up(slow, fast)
    assert factor == pytest.approx(2.0)
    assert "bound" not in words
    found = claims({"CS": [slow], "PCS": [fast]}, "x", "PCS", ("CS",))
    assert found[0].verdict == "match"
    assert claims({"CS": [fast], "PCS": [slow]}, "x", "PCS", ("CS",))[0].verdict == "differs"


def test_means_over_seeds() -> None:
    runs = [line([10.0, 1.0]), line([1000.0, 100.0])]
    assert [c.figure for c in mean_run(runs)] == pytest.approx([100.0, 10.0])
    row = rows_of({"CS": runs}, "mbb")[0]
    assert (row.low, row.high) == (10.0, 1000.0)


@pytest.mark.parametrize(("kind", "million", "now"), [("2-1", 16, 15_442_180), ("2-4", 94, 90_076_792)])
def test_sizes_of_two_rounds(kind: str, million: int, now: int) -> None:
    """16 and 94 million in the paper; 4 · 169 + 12 · 1,286,792 and 8 · 169 + 70 · 1,286,792 with the best indexer."""
    (row,) = two_rounds.size_rows(kind, compile_actions(holdem(kind).rules), million)
    assert row.verdict == "match"
    assert f"{now:,}" in row.note


def test_sizes_of_percentile_games() -> None:
    rows = figure_3.size_rows(compile_actions(holdem("4-4").rules))
    assert [row.verdict for row in rows] == ["match", "match", "match", "explained"]
    assert rows[0].ours == pytest.approx(3.62429)


@pytest.mark.slow
def test_two_rounds_on_leduc() -> None:
    """The same run on a small game: all four samplers come down."""
    rules = read_game("leduc")
    game = compile_actions(rules), lossless(rules.board[1:], rules.deck)
    for traversal in two_rounds.SAMPLERS:
        first, *_, last = two_rounds.trained(game, traversal, 0.2, 4, 1)
        assert last.figure < first.figure


@pytest.mark.slow
def test_loss_to_an_equilibrium_is_exact() -> None:
    """Bluff(1,1): seat by seat from a strategy that is put together by name."""
    tree = compile_game(make("bluff:1,1"))
    equilibrium, other = CFR(tree, "dcfr", dtype="float32"), CFR(tree, "vanilla", "chance", seed=3, dtype="float32")
    equilibrium.step(300)
    other.step(200)
    found = bluff.loss_to(equilibrium)(other)
    by_seat = []
    for seat in (0, 1):
        table = np.array(equilibrium.average().probabilities)
        tree.views(table)[seat][:] = tree.views(np.array(other.average().probabilities))[seat]
        by_seat.append(quality(Strategy(tree, table)).values[seat])
    assert found == pytest.approx(-sum(by_seat) / 2, abs=1e-6)
    assert found > 0
    assert bluff.loss_to(equilibrium)(equilibrium) == pytest.approx(0.0, abs=1e-6)


def test_parts_are_equal() -> None:
    values = np.random.default_rng(0).integers(0, 2000, 100_000).astype(np.uint16)
    cuts = figure_4.equal_parts(values, 10)[0]
    sizes = np.bincount(np.searchsorted(cuts, values, side="right"), minlength=10)
    assert abs(sizes - 10_000).max() < 200


def test_matches_say_at_every_check_who_is_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """CS at 0 ± 3 and PCS at -10, 1 and 10 ± 4: the half-width of the difference is 5."""
    played = {
        "CS": [figure_4.Match(float(k), k, 0.0, 3.0) for k in (1, 2, 4)],
        "PCS": [figure_4.Match(float(k), k, won, 4.0) for k, won in ((1, -10.0), (2, 1.0), (4, 10.0))],
    }
    monkeypatch.setattr(figure_4, "forgetful", lambda parts: SimpleNamespace(counts=(169, parts, parts, parts)))
    monkeypatch.setattr(figure_4, "matches", lambda *_: played)
    rows = [row for row in figure_4.run(False, 0, seconds=208).rows if row.name.startswith("PCS less CS")]
    assert [(row.low, row.high) for row in rows] == [(-15.0, -5.0), (-4.0, 6.0), (5.0, 15.0)]
    assert [row.note.removeprefix("the paper's claim ") for row in rows] == [
        "does not hold here", "is not settled here", "holds here",
    ]  # fmt: skip
