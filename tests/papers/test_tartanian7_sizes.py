"""Counts of the Tartanian7 paper."""

from __future__ import annotations

import pytest

from riverboat.papers import tartanian7


def test_all_printed_counts_follow() -> None:
    found = tartanian7.run_sizes(False, 0)
    assert found.passes
    printed = [row for row in found.rows if row.kind == "printed"]
    assert len(printed) == 16
    assert {row.verdict for row in printed} == {"match"}


def test_another_betting_tree_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tartanian7, "NODES", int(6_104_546 * 1.03))
    wrong = [row.name for row in tartanian7.run_sizes(False, 0).rows if not row.passes]
    assert any("60 · 500" in name for name in wrong)
    assert any("baseline" in name for name in wrong)
