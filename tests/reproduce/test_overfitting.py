"""Runs that are measured in both games, on a deck small enough for tests; the whole ones are slow."""

from __future__ import annotations

import pytest

from riverboat.papers.abstraction import overfitting
from riverboat.papers.sampling import cfr_br
from riverboat.papers.sampling.blueprint_convergence import merged_leduc


def test_checks_come_after_twice_as_many_iterations() -> None:
    points = overfitting.trained(merged_leduc(), "pcs", 5, 0)
    assert [p.iterations for p in points] == [128 * 2**k for k in range(5)]
    assert points[-1].abstract < points[0].abstract
    assert points[-1].abstract < points[-1].real  # a jack like a queen costs something, whatever is learnt


@pytest.mark.slow
@pytest.mark.parametrize("module", [overfitting, cfr_br])
def test_two_round_holdem(module: object) -> None:
    assert module.EXPERIMENT.run(False, 0).fine  # type: ignore[attr-defined]
