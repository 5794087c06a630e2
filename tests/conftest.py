"""What all tests share. Each core has a process of its own, so libraries in it get one thread."""

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
os.environ["COLORTERM"] = "truecolor"  # Rich keeps a style as it was first drawn: in all tests with the same colours

gc.set_threshold(
    50_000, 20, 20
)  # trees are many objects and no rubbish: looking through them less often saves a twentieth
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # run in the background: what tests start and interrupt would too
    signal.signal(signal.SIGINT, signal.default_int_handler)

import processes as started  # noqa: E402 after the number of threads is set
from browsing import CHROMIUM, LEFT_OUT  # noqa: E402

started.mark()

HERE = Path(__file__).parent
# The files that take longest begin first, so that no process is left alone with one of them at the end. By seconds of
# processor time with nothing compiled; the order need not be exact. Those at the top stand in pairs of which each compiles
# other loops: two processes that need the same ones at once would wait for each other.
LONG = [
    "solving/test_bucket_sampling.py",
    "solving/test_boards.py",
    "solving/test_cluster.py",
    "solving/test_cfr.py",
    "evaluation/test_best_response.py",
    "solving/test_rules.py",
    "test_docs.py",
    "solving/test_sampling.py",
    "interfaces/test_hostile_folders.py",
    "walks/test_cuda_walk.py",
    "endgame/test_refine.py",
    "games/test_open_spiel.py",
    "solving/test_whole_holdem.py",
    "abstraction/test_kmeans.py",
    "solving/test_blueprint.py",
    "interfaces/test_spots.py",
    "agents/test_blueprint_agent.py",
    "solving/test_run.py",
    "strategy/test_translate.py",
    "abstraction/test_potential.py",
    "abstraction/test_other_games.py",
    "reproduce/test_exploitation.py",
    "abstraction/test_build.py",
    "interfaces/test_patience.py",
    "exploit/test_matches.py",
    "interfaces/test_widths.py",
    "trees/test_board_tree.py",
    "interfaces/test_endings.py",
]


@pytest.fixture
def processes() -> Iterator[started.Processes]:
    """Start processes that end with the test."""
    with started.Processes() as group:
        yield group


@pytest.fixture(scope="session", autouse=True)
def _nothing_is_left_running() -> Iterator[None]:
    """Fail where a process that a test has started still runs at the end, and end it."""
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
    """Tell whether a test belongs to a shard: by its name alone, so alike in every process and on every machine."""
    part, parts = shard
    return zlib.crc32(name.encode()) % parts == part - 1


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the long files; the others stay in their order. Leave out what belongs to other shards."""
    place = {HERE / name: k for k, name in enumerate(LONG)}
    items.sort(key=lambda item: place.get(item.path, len(LONG)))
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
    """Modules with compiled loops, written by the test, and a cache folder of their own."""
    from compiled_modules import Modules  # loads Numba

    made = Modules(tmp_path, monkeypatch)
    yield made
    made.forget()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was left out."""
    if CHROMIUM is None:
        terminalreporter.write_line(LEFT_OUT)
