"""The world of files that cases use, and a summary of the results."""

import pytest

from .summary import Summary
from .world import build

FOUND = "faults of a case"  # the test property that stores the kinds of faults


@pytest.fixture(scope="session")
def root(tmp_path_factory):
    """A folder that contains the world."""
    return build(tmp_path_factory.mktemp("fuzz"))


def pytest_terminal_summary(terminalreporter):
    """Print the results, if any case ran; reports may come from several processes."""
    summary = Summary()
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, kinds in getattr(report, "user_properties", ()):
                if name == FOUND and report.when == "call":
                    summary.add(kinds.split())
    if summary.cases:
        terminalreporter.line(str(summary))
