"""Summary of many cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from .judge import KINDS


class Summary:
    """Counts of cases and of faults."""

    def __init__(self) -> None:
        self.cases = self.failed = 0
        self.faults: Counter[str] = Counter()

    def add(self, kinds: Iterable[str]) -> None:
        """Count a case with the kinds of its faults."""
        kinds = set(kinds)
        self.cases += 1
        self.failed += bool(kinds)
        self.faults.update(kinds)

    def __str__(self) -> str:
        counts = ", ".join(f"{words} {self.faults[kind]}" for kind, words in KINDS.items())
        return f"fuzz: {self.cases:,} cases, {self.failed} with faults: {counts}"
