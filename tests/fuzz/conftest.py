"""The world that cases are pointed at, and what came of them."""

import pytest

from .summary import Summary
from .world import build

FOUND = "faults of a case"  # the property of a test that has their kinds


@pytest.fixture(scope="session")
def root(tmp_path_factory):
    """A folder with the world in it."""
    return build(tmp_path_factory.mktemp("fuzz"))


def pytest_terminal_summary(terminalreporter):
    """Say what came of it, where anything was run: reports come from whatever process ran the tests."""
    summary = Summary()
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, kinds in getattr(report, "user_properties", ()):
                if name == FOUND and report.when == "call":
                    summary.add(kinds.split())
    if summary.cases:
        terminalreporter.line(str(summary))
