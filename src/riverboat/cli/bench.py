"""`riverboat bench`: print the benchmarks as tables or as one JSON object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from riverboat.benchmarks import scaling, suite
from riverboat.cli.terminal import make_table, print_result, say
from riverboat.core.errors import InputError
from riverboat.core.resources import available_cores
from riverboat.core.tables import FIGURE, TEXT, ReportColumn


def bench(*, full: bool = False, device: str = "cpu", threads: str | None = None, json: bool = False) -> None:
    """Measure speed on fixed workloads, and against OpenSpiel if it is installed.

    Parameters
    ----------
    full
        Also Bluff(2,2) (6 GB), feature tables, flops and [2-1] hold'em: ten minutes.
    device
        cpu, or cuda: GPU throughput next to its memory bandwidth.
    threads
        Only scaling: the same work on these numbers of threads, such as 1,2,4,8.
    """
    counts = None if threads is None else scaling.parse_thread_counts(threads)
    if counts is not None and device != "cpu":
        raise InputError(f"threads={threads!r} and device={device!r}: give only one of them")
    if counts is not None and counts[-1] > (cores := available_cores()):
        raise InputError(f"threads={threads!r}: this process can use {cores} cores; give at most as many threads")
    report = suite.run_benchmarks(full, device, counts, say)
    print_result(report, _report_parts(report), json)


def _report_parts(report: dict[str, Any]) -> Iterator[Any]:
    for key, title in suite.TITLES.items():
        if rows := report.get(key):
            if isinstance(rows, dict):
                rows = [{"what": name, "is": value} for name, value in rows.items()]
            columns = (
                ReportColumn(name, TEXT if isinstance(value, str) else FIGURE, name.replace("_", " "))
                for name, value in rows[0].items()
            )
            yield make_table(columns, (tuple(map(_format_value, row.values())) for row in rows), title)
            yield ""


def _format_value(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if isinstance(value, float):
        return f"{value:.10g}" if abs(value) < 10 and value not in (0.5,) else f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
