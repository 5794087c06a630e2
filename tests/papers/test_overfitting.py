"""Exploitability in the abstract and the real game during training, on a small deck; whole experiments are slow."""

from __future__ import annotations

import pytest

from riverboat.papers import sampling as overfitting
from riverboat.papers.registry import find
from riverboat.papers.sampling import leduc_with_merged_ranks


def test_checks_at_doubling_iterations() -> None:
    points = overfitting.train_with_checks(leduc_with_merged_ranks(), "pcs", 5, 0)
    assert [p.iterations for p in points] == [128 * 2**k for k in range(5)]
    assert points[-1].abstract_exploitability < points[0].abstract_exploitability
    assert (
        points[-1].abstract_exploitability < points[-1].real_exploitability
    )  # merging jack and queen has a cost that training cannot remove


@pytest.mark.slow
def test_cfr_br() -> None:
    assert find("cfr-br").run(False, 0).passes


@pytest.mark.slow
def test_overfitting() -> None:
    """The abstract game converges; four runs of the default size are too few to tell that the real game gets worse."""
    abstract, real = (row for row in find("proposal-figure-6").run(False, 0).rows if row.kind == "finding")
    assert abstract.passes
    assert real.verdict in ("match", "blurred")
    assert real.half_width > 0
