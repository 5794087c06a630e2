"""Configuration of all tests. Each core has a process of its own, so libraries in it use one thread."""

from __future__ import annotations

import gc
import os
import signal
import sys
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from compiled_modules import Modules

for library in ("OPENBLAS", "OMP", "MKL"):  # before NumPy is loaded
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
os.environ["COLORTERM"] = "truecolor"  # Rich caches styles as first rendered: use the same colors in all tests

gc.set_threshold(50_000, 20, 20)  # trees are many objects without garbage: collecting less often saves a twentieth
if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # ignored in background runs, and then in processes that tests start too
    signal.signal(signal.SIGINT, signal.default_int_handler)

import processes as started  # noqa: E402 after the number of threads is set
from browsing import CHROMIUM, LEFT_OUT  # noqa: E402

started.mark()

HERE = Path(__file__).parent
# The slowest files start first, so that no process is left alone with one of them at the end. Ordered by seconds of
# CPU time with an empty cache; the order need not be exact. Those at the top are in pairs of which each compiles
# other kernels: two processes that need the same ones at once would wait for each other.
LONG = [
    "solvers/test_bucket_sampling.py",
    "solvers/test_boards.py",
    "solvers/test_cluster.py",
    "solvers/test_cfr.py",
    "evaluation/test_best_response.py",
    "solvers/test_rules.py",
    "test_docs.py",
    "solvers/test_sampling.py",
    "cli/test_hostile_folders.py",
    "engines/test_cuda_engine.py",
    "subgames/test_refine.py",
    "formats/test_open_spiel.py",
    "solvers/test_whole_holdem.py",
    "abstraction/test_kmeans.py",
    "solvers/test_trainer.py",
    "cli/test_spots.py",
    "agents/test_blueprint_agent.py",
    "solvers/test_run.py",
    "strategies/test_translate.py",
    "abstraction/test_potential.py",
    "abstraction/test_other_games.py",
    "papers/test_exploitation.py",
    "abstraction/test_build.py",
    "cli/test_patience.py",
    "opponents/test_repeated_games.py",
    "cli/test_widths.py",
    "trees/test_board_tree.py",
    "cli/test_exit_codes.py",
]


@pytest.fixture
def processes() -> Iterator[started.Processes]:
    """Start processes that end with the test."""
    with started.Processes() as group:
        yield group


@pytest.fixture(scope="session", autouse=True)
def _nothing_is_left_running() -> Iterator[None]:
    """Fail if a process that a test started still runs at the end, and kill it."""
    yield
    left = started.left_over()
    for process in left:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    assert left == {}, "tests have left processes behind"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--shard 2/8`, which runs the second of eight parts."""
    parser.addoption("--shard", type=parse_shard, metavar="K/N", help="run part K of N, from 1")


def parse_shard(text: str) -> tuple[int, int]:
    """Read `2/8` as (2, 8)."""
    part, _, parts = text.partition("/")
    if not (part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        raise pytest.UsageError(f"--shard {text!r}: must be K/N with K from 1 to N, such as 2/8")
    return int(part), int(parts)


def in_shard(name: str, shard: tuple[int, int]) -> bool:
    """Return whether a test belongs to a shard: by its name alone, so equal in every process and on every machine."""
    part, parts = shard
    return zlib.crc32(name.encode()) % parts == part - 1


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Start with the slow files, keep the order of the others, and drop tests of other shards."""
    place = {HERE / name: k for k, name in enumerate(LONG)}
    # Playwright keeps an event loop running in its process, which other tests of the server cannot use: browsers come last.
    browsing = {item.path for item in items if "browser" in getattr(item, "fixturenames", ())}
    items.sort(key=lambda item: (item.path in browsing, place.get(item.path, len(LONG))))
    for item in items:
        if item.get_closest_marker("posix"):
            item.add_marker(
                pytest.mark.skipif(sys.platform == "win32", reason="needs signals from outside, or devices")
            )
    shard = config.getoption("--shard")
    if shard is not None:
        config.hook.pytest_deselected(items=[item for item in items if not in_shard(item.nodeid, shard)])
        items[:] = [item for item in items if in_shard(item.nodeid, shard)]


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Modules]:
    """Modules with compiled kernels, written by the test, with a cache folder of their own."""
    from compiled_modules import Modules  # loads Numba

    made = Modules(tmp_path, monkeypatch)
    yield made
    made.forget()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Report what was left out."""
    if CHROMIUM is None:
        terminalreporter.write_line(LEFT_OUT)
