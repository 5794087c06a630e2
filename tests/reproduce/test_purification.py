"""Purification in random matrix games and in Leduc."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from riverboat.core.errors import InputError
from riverboat.papers.framework import Report
from riverboat.papers.postprocessing import leduc as purification_leduc
from riverboat.papers.postprocessing import matrices
from riverboat.papers.rows import Row


@pytest.fixture(scope="module")
def sample() -> matrices.Sample:
    return matrices.play(60_000, 7)


def test_shares(sample: matrices.Sample) -> None:
    # Ganzfried, Sandholm & Waugh 2012, table 1, of 1.5 million games: 17.44 %, 11.48 % and 71.08 %, in four standard errors.
    gain = sample.purified - sample.plain
    for found, share in (((gain > 1e-9).mean(), 0.1744), ((gain < -1e-9).mean(), 0.1148)):
        assert found == pytest.approx(share, abs=4 * (share * (1 - share) / len(gain)) ** 0.5)


def test_means(sample: matrices.Sample) -> None:
    # The same table: -0.050987 ± 0.00042 and -0.054905 ± 0.00044.
    for found, mean in ((sample.purified, -0.050987), (sample.plain, -0.054905)):
        assert found.mean() == pytest.approx(mean, abs=4 * found.std() / len(found) ** 0.5 + 0.0009)
    gain = sample.purified - sample.plain
    assert gain.mean() > 4 * gain.std() / len(gain) ** 0.5


def test_proposition_4(sample: matrices.Sample) -> None:
    gain = sample.purified - sample.plain
    assert 0.3 < sample.safe.mean() < 0.9
    assert np.abs(gain[sample.safe]).max() < 1e-9
    assert np.abs(gain[~sample.safe]).max() > 0.1


def test_by_both_supports(sample: matrices.Sample) -> None:
    """Groups share out the games; nothing changes where both supports lie in the abstraction, which is then solved alike."""
    rows = matrices.by_supports(sample, 4, 4)
    share = sum(float(row.note.split()[0]) for row in rows)
    assert share == pytest.approx(100, abs=1)
    nothing = {row.name for row in rows if row.kind == "theorem"}
    for size in (1, 2, 3):
        assert f"gain, supports of {size}: row 4 out, column 4 out" in nothing
    assert "gain, supports of 4: row 4 in, column 4 in" in nothing  # the abstract support lies in that of all rows
    tested = [row for row in rows if row.kind == "new"]
    mean = sum(row.ours * float(row.note.split()[0]) / 100 for row in tested)
    assert mean == pytest.approx(float(sample.gain.mean()), abs=2e-4)  # shares are printed with one decimal


def test_what_is_significant() -> None:
    """With few games next to nothing is; a pure equilibrium in the last row and column never was, in a million games."""
    few = matrices.by_supports(matrices.play(500, 3), 4, 4)
    many = matrices.by_supports(matrices.play(60_000, 3), 4, 4)

    def significant(rows: list[Row]) -> set[str]:
        return {row.name for row in rows if row.verdict == "significant"}

    assert len(significant(few)) < len(significant(many))
    assert "gain, supports of 1: row 4 in, column 4 out" in significant(many)
    assert "gain, supports of 1: row 4 in, column 4 in" not in significant(many)


def test_intervals_hold_together() -> None:
    """Gains that are pure noise: at most one table of twenty may have a significant group."""
    rng = np.random.default_rng(0)
    sample = matrices.play(3000, 0)
    hits = 0
    for _ in range(200):
        noise = replace(sample, plain=np.zeros(3000), purified=rng.normal(size=3000), safe=np.zeros(3000, bool))
        hits += any(row.verdict == "significant" for row in matrices.by_supports(noise, 4, 4))
    assert hits < 200 * 0.05 + 4 * (200 * 0.05 * 0.95) ** 0.5


@pytest.mark.parametrize("shape", [(2, 2), (3, 5), (5, 2)])
def test_other_sizes(shape: tuple[int, int]) -> None:
    sample = matrices.play(2000, 1, *shape)
    assert sample.size.max() <= min(shape)
    assert np.abs(sample.gain[sample.safe]).max() < 1e-9
    if shape[0] == 2:  # one row is left: nothing to purify
        assert not sample.gain.any()


@pytest.mark.parametrize(("rows", "columns", "what"), [(1, 4, "rows=1"), (4, 7, "columns=7")])
def test_sizes_that_cannot_be(rows: int, columns: int, what: str) -> None:
    with pytest.raises(InputError, match=what):
        matrices.play(10, 0, rows, columns)


def test_seeds() -> None:
    first, again, other = (matrices.play(1000, seed).plain for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.slow
def test_the_papers_size() -> None:
    found = matrices.run(True, 0)
    assert found.fine
    assert all(row.verdict == "match" for row in found.rows if row.kind != "new")
    row = found.row("gain, supports of 1: row 4 in, column 4 in")
    assert row.verdict == "not significant"


@pytest.fixture(scope="module")
def leduc() -> Report:
    return purification_leduc.run(False, 0)


@pytest.mark.parametrize("groups", purification_leduc.ABSTRACTIONS)
def test_leduc(leduc: Report, groups: str) -> None:
    """In kind as in the papers: purified strategies win, lose less to an equilibrium, and are more exploitable."""

    def ours(rule: str, what: str) -> float:
        return leduc.row(f"{groups}, {rule}: {what}").ours

    assert ours("purified", "against the equilibrium") > ours("none", "against the equilibrium")
    assert ours("purified", "against unprocessed") > 0
    assert ours("none", "against unprocessed") == pytest.approx(0, abs=1e-12)
    assert ours("purified", "exploitability") > ours("none", "exploitability") > 0.1
    assert all(
        row.ours <= 1e-9 for row in leduc.rows if row.name.endswith("against the equilibrium")
    )  # nobody beats it
