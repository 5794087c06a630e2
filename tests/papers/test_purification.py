"""Purification in random matrix games and in Leduc."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.core.errors import InputError
from riverboat.papers import purification
from riverboat.papers import purification as purification_leduc
from riverboat.papers.framework import ExperimentReport
from riverboat.papers.rows import ComparisonRow


@pytest.fixture(scope="module")
def sample() -> purification.MatrixGameSample:
    return purification.sample_games(60_000, 7)


def test_shares(sample: purification.MatrixGameSample) -> None:
    # Ganzfried, Sandholm & Waugh 2012, table 1, of 1.5 million games: 17.44 %, 11.48 % and 71.08 %, in four standard errors.
    gain = sample.purified_payoff - sample.payoff
    for found, share in (((gain > 1e-9).mean(), 0.1744), ((gain < -1e-9).mean(), 0.1148)):
        assert found == pytest.approx(share, abs=4 * (share * (1 - share) / len(gain)) ** 0.5)


def test_means(sample: purification.MatrixGameSample) -> None:
    # The same table: -0.050987 ± 0.00042 and -0.054905 ± 0.00044.
    for found, mean in ((sample.purified_payoff, -0.050987), (sample.payoff, -0.054905)):
        assert found.mean() == pytest.approx(mean, abs=4 * found.std() / len(found) ** 0.5 + 0.0009)
    gain = sample.purified_payoff - sample.payoff
    assert gain.mean() > 4 * gain.std() / len(gain) ** 0.5


def test_proposition_4(sample: purification.MatrixGameSample) -> None:
    gain = sample.purified_payoff - sample.payoff
    assert 0.3 < sample.unaffected.mean() < 0.9
    assert np.abs(gain[sample.unaffected]).max() < 1e-9
    assert np.abs(gain[~sample.unaffected]).max() > 0.1


def test_by_both_supports(sample: purification.MatrixGameSample) -> None:
    """Groups partition the games; purification changes nothing if both supports lie in the abstraction."""
    rows = purification.support_rows(sample, 4, 4)
    share = sum(float(row.note.split()[0]) for row in rows)
    assert share == pytest.approx(100, abs=1)
    unaffected = {row.name for row in rows if row.kind == "theorem"}
    for size in (1, 2, 3):
        assert f"gain, supports of {size}: row 4 out, column 4 out" in unaffected
    assert "gain, supports of 4: row 4 in, column 4 in" in unaffected  # the full support contains the abstract one
    tested = [row for row in rows if row.kind != "theorem"]
    mean = sum(row.ours * float(row.note.split()[0]) / 100 for row in tested)
    assert mean == pytest.approx(float(sample.gain.mean()), abs=2e-4)  # shares are printed with one decimal


def is_significant(row: ComparisonRow) -> bool:
    """Whether the interval of a gain excludes zero."""
    return row.low is not None and row.high is not None and not row.low <= 0 <= row.high


def test_observation_2_has_one_significant_exception(sample: purification.MatrixGameSample) -> None:
    """The paper says that neither is better there; a row with another interval would have another verdict."""
    verdicts = {row.name: row for row in purification.support_rows(sample, 4, 4)}
    pure = verdicts["gain, supports of 1: row 4 in, column 4 in"]
    assert (pure.kind, pure.relation, pure.verdict) == ("finding", "=", "match")
    mixed = verdicts["gain, supports of 2: row 4 in, column 4 out"]
    assert mixed.relation == "="
    assert mixed.explained is not None
    assert mixed.explained.tried
    claimed = verdicts["gain, supports of 2: row 4 in, column 4 in"]
    assert (claimed.relation, claimed.verdict) == (">=", "match")


def test_significance() -> None:
    """With few games hardly any group is significant; pure equilibria in the last row and column never are."""
    few = purification.support_rows(purification.sample_games(500, 3), 4, 4)
    many = purification.support_rows(purification.sample_games(60_000, 3), 4, 4)

    def significant(rows: list[ComparisonRow]) -> set[str]:
        return {row.name for row in rows if is_significant(row)}

    assert len(significant(few)) < len(significant(many))
    assert "gain, supports of 1: row 4 in, column 4 out" in significant(many)
    assert "gain, supports of 1: row 4 in, column 4 in" not in significant(many)


def test_intervals_hold_jointly() -> None:
    """With gains that are pure noise, at most one table in twenty may have a significant group."""
    rng = np.random.default_rng(0)
    sample = purification.sample_games(3000, 0)
    hits = 0
    for _ in range(200):
        noise = sample._replace(
            payoff=np.zeros(3000), purified_payoff=rng.normal(size=3000), unaffected=np.zeros(3000, bool)
        )
        hits += any(is_significant(row) for row in purification.support_rows(noise, 4, 4))
    assert hits < 200 * 0.05 + 4 * (200 * 0.05 * 0.95) ** 0.5


@pytest.mark.parametrize("shape", [(2, 2), (3, 5), (5, 2)])
def test_other_sizes(shape: tuple[int, int]) -> None:
    sample = purification.sample_games(2000, 1, *shape)
    assert sample.support_size.max() <= min(shape)
    assert np.abs(sample.gain[sample.unaffected]).max() < 1e-9
    if shape[0] == 2:  # the abstraction has one row: nothing to purify
        assert not sample.gain.any()


@pytest.mark.parametrize(("rows", "columns", "what"), [(1, 4, "rows=1"), (4, 7, "columns=7")])
def test_invalid_sizes(rows: int, columns: int, what: str) -> None:
    with pytest.raises(InputError, match=what):
        purification.sample_games(10, 0, rows, columns)


def test_seeds() -> None:
    first, again, other = (purification.sample_games(1000, seed).payoff for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.slow
def test_paper_size() -> None:
    found = purification.run_matrices(True, 0)
    assert found.passes
    differing = {row.name: row.verdict for row in found.rows if row.verdict != "match"}
    assert differing == {"gain, supports of 2: row 4 in, column 4 out": "not found"}


@pytest.fixture(scope="module")
def leduc() -> ExperimentReport:
    return purification_leduc.run_leduc(False, 0)


@pytest.mark.parametrize("groups", purification_leduc.ABSTRACTIONS)
def test_leduc(leduc: ExperimentReport, groups: str) -> None:
    """As in the papers: purified strategies win, lose less to an equilibrium, and are more exploitable."""

    def ours(rule: str, what: str) -> float:
        return leduc.row(f"{groups}, {rule}: {what}").ours

    assert ours("purified", "against the equilibrium") > ours("none", "against the equilibrium")
    assert ours("purified", "against unprocessed") > 0
    assert ours("none", "against unprocessed") == pytest.approx(0, abs=1e-12)
    assert ours("purified", "exploitability") > ours("none", "exploitability") > 0.1
    assert all(
        row.ours <= 1e-9 for row in leduc.rows if row.name.endswith("against the equilibrium")
    )  # an equilibrium does not lose
