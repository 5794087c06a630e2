"""Fixtures of the kill tests, and a summary of kills and results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chaos.harness import Found, Nursery

PROPERTY = "chaos"


@pytest.fixture
def nursery(tmp_path: Path) -> Iterator[Nursery]:
    """A process from which commands are forked; it ends with all of them."""
    with Nursery(tmp_path) as made:
        yield made


@pytest.fixture
def judge(request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> Callable[[Found], None]:
    """Record results for the summary, and fail if anything is wrong."""

    def record(found: Found) -> None:
        record_property(PROPERTY, f"{request.node.name}: {found}")
        assert found.wrong == []
        assert found.equal == found.trials
        assert sum(found.killed.values()) > 0

    return record


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the results, if any test ran."""
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, text in getattr(report, "user_properties", ()):
                if name == PROPERTY and report.when == "call":
                    terminalreporter.write_line(f"chaos: {text}")
