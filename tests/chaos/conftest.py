"""Counts of what was killed and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chaos.harness import Found, Nursery

TOLD = "chaos"


@pytest.fixture
def nursery(tmp_path: Path) -> Iterator[Nursery]:
    """A process that commands are forked from, ended with all of them."""
    with Nursery(tmp_path) as made:
        yield made


@pytest.fixture
def judge(request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> Callable[[Found], None]:
    """Note what was found for the end of the run, and fail where anything is wrong."""

    def told(found: Found) -> None:
        record_property(TOLD, f"{request.node.name}: {found}")
        assert found.wrong == []
        assert found.equal == found.trials
        assert sum(found.killed.values()) > 0

    return told


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what came of it, where anything was run."""
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, words in getattr(report, "user_properties", ()):
                if name == TOLD and report.when == "call":
                    terminalreporter.write_line(f"chaos: {words}")
