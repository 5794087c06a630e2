"""Purification in random matrix games and in Leduc."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.reproduce import purification_leduc, purification_matrices
from riverboat.reproduce.framework import Report


@pytest.fixture(scope="module")
def sample() -> purification_matrices.Sample:
    return purification_matrices.play(60_000, 7)


def test_shares(sample: purification_matrices.Sample) -> None:
    # Ganzfried, Sandholm & Waugh 2012, table 1, of 1.5 million games: 17.44 %, 11.48 % and 71.08 %, in four standard errors.
    gain = sample.purified - sample.plain
    for found, share in (((gain > 1e-9).mean(), 0.1744), ((gain < -1e-9).mean(), 0.1148)):
        assert found == pytest.approx(share, abs=4 * (share * (1 - share) / len(gain)) ** 0.5)


def test_means(sample: purification_matrices.Sample) -> None:
    # The same table: -0.050987 ± 0.00042 and -0.054905 ± 0.00044.
    for found, mean in ((sample.purified, -0.050987), (sample.plain, -0.054905)):
        assert found.mean() == pytest.approx(mean, abs=4 * found.std() / len(found) ** 0.5 + 0.0009)
    gain = sample.purified - sample.plain
    assert gain.mean() > 4 * gain.std() / len(gain) ** 0.5


def test_proposition_4(sample: purification_matrices.Sample) -> None:
    gain = sample.purified - sample.plain
    assert 0.3 < sample.safe.mean() < 0.9
    assert np.abs(gain[sample.safe]).max() < 1e-9
    assert np.abs(gain[~sample.safe]).max() > 0.1


def test_by_support(sample: purification_matrices.Sample) -> None:
    """Where the full equilibrium uses all rows of the abstraction nothing can change; else purification gains."""
    gain = sample.purified - sample.plain
    for size in (1, 2, 3, 4):
        for missing in (False, True):
            chosen = gain[(sample.size == size) & (sample.missing == missing)]
            if (size, missing) == (4, False):
                assert not len(chosen)
            elif (size, missing) in ((3, False), (4, True)):
                assert np.abs(chosen).max() < 1e-9
            else:
                assert chosen.mean() > 2 * chosen.std() / len(chosen) ** 0.5, (size, missing)


def test_seeds() -> None:
    first, again, other = (purification_matrices.play(1000, seed).plain for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.slow
def test_the_papers_size() -> None:
    found = purification_matrices.run(True, 0)
    assert found.fine
    assert all(row.verdict == "match" for row in found.rows if row.paper is not None)


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
