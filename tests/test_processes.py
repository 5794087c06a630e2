"""Processes that tests start end with the test in any case, and react to its signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from processes import Processes, left_over

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")

PARENT = """
import subprocess, sys, time
subprocess.Popen([sys.executable, "-c", "import os, time; print(os.getpid(), flush=True); time.sleep(600)"])
time.sleep(600)
"""  # the child prints, not its parent: `Popen` returns while the kernel still lays out the child's environment


def gone(process: int, seconds: float = 30) -> bool:
    """Wait until a process has ended."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.01)
    return False


@pytest.mark.posix
def test_process_group_ends_with_the_test() -> None:
    with Processes() as started:
        process = started.python("-c", PARENT, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        child = int(process.stdout.readline())
        assert {process.pid, child} <= set(left_over())
    assert process.returncode == -signal.SIGKILL
    assert gone(child)


def test_orphans_are_found(processes: Processes) -> None:
    process = processes.python("-c", PARENT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    child = int(process.stdout.readline())
    process.kill()
    process.wait()
    assert child in left_over()
    processes.end()
    assert gone(child)


@pytest.mark.parametrize("name", ["SIGHUP", "SIGINT"])
def test_signals_ignored_by_pytest_are_not_ignored(processes: Processes, name: str) -> None:
    number = getattr(signal, name)
    code = f"import signal; print(signal.getsignal(signal.{name}) == signal.SIG_IGN)"
    before = signal.signal(number, signal.SIG_IGN)  # as under nohup, or in the background of a script
    try:
        heeding, deaf = (
            processes.python("-c", code, stdout=subprocess.PIPE, text=True, ignored=ignored)
            for ignored in ((), (number,))
        )
        assert signal.getsignal(number) == signal.SIG_IGN
    finally:
        signal.signal(number, before)
    assert [each.communicate(timeout=60)[0].strip() for each in (heeding, deaf)] == ["False", "True"]


LEAVES = """
import subprocess, sys
def test_leaves():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], stdout=subprocess.DEVNULL)
    child.returncode = 0  # nobody warns of it
    assert child.pid
"""


def test_pytest_fails_if_a_process_is_left(tmp_path: Path) -> None:
    """It also kills the process, so that nothing computes for minutes afterwards."""
    (tmp_path / "conftest.py").write_text("from tests.conftest import _nothing_is_left_running, processes\n")
    (tmp_path / "test_leaves.py").write_text(LEAVES)
    here = Path(__file__).parent
    path = os.pathsep.join([str(here.parent), str(here), *sys.path])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(tmp_path)]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 1
    assert "1 passed, 1 error" in done.stdout
    (left,) = {int(word) for line in done.stdout.splitlines() if line.startswith("E ") for word in _pids(line)}
    assert gone(left)


def _pids(line: str) -> list[str]:
    """Find the keys of the mapping in the failed assertion."""
    inside = line.partition("assert {")[2].partition(":")[0]
    return [inside] if inside.isdecimal() else []
