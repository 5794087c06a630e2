"""Exit codes and messages after signals, conflicts with other processes, and disk errors."""

import errno
import json
import os
import signal
import subprocess
import time
from functools import partial

import pytest

from riverboat.core import artifacts
from riverboat.strategies import files

LONG = ("solve", "leduc", "--time", "600s", "--checkpoint", "600s")


@pytest.fixture
def start(processes):
    """A function that starts commands and captures their output."""
    return partial(processes.riverboat, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def busy(log, process):
    """Wait until a run has started to write its log."""
    for _ in range(3000):  # the kernels may have to be compiled first
        if log.exists() and log.read_text().count("\n") > 3:
            return
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.1)
    raise AssertionError("the run did not begin")


@pytest.mark.posix
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_signal_saves_and_run_resumes(name, code, run, start, tmp_path):
    out, log = tmp_path / "run", tmp_path / "log"
    process = start(*LONG, "--out", out, "--log", log)
    busy(log, process)
    process.send_signal(getattr(signal, name))
    _, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert "--resume)" in err
    assert "Traceback" not in err
    found, _ = artifacts.read(files.latest_artifact(out))
    before = found["state"]["iteration"]
    assert before > 0
    target = before + 100
    assert run("solve", "leduc", "--iterations", target, "--out", out, "--resume", "--json")[0] == 0
    assert [p.name for p in out.iterdir() if p.name.startswith(".")] == []


@pytest.mark.posix
def test_nohup_is_respected(start, tmp_path):
    log = tmp_path / "log"
    process = start(*LONG, "--log", log, cwd=tmp_path, ignored=[signal.SIGHUP])
    busy(log, process)
    process.send_signal(signal.SIGHUP)
    time.sleep(1.0)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 143
    assert len(list((tmp_path / "runs").iterdir())) == 1  # the default folder without --out
    assert "saved under runs" in err


def test_two_processes_do_not_share_a_folder(run, start, tmp_path):
    out, log = tmp_path / "run", tmp_path / "log"
    first = start(*LONG, "--out", out, "--log", log)
    busy(log, first)
    code, printed, err = run("solve", "leduc", "--iterations", 10, "--out", out, "--resume")
    assert (code, printed) == (2, "")
    assert f"{out}: process {first.pid} on " in err
    assert err.count("\n") == 1
    first.kill()
    first.communicate()
    assert run("solve", "leduc", "--iterations", 10, "--out", out)[0] == 0


def no_room(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


SPOT = (
    "solve", "spot", "--board", "2s3s5hJdQc", "--pot", 10, "--stack", 20, "--oop", "AA,KK", "--ip", "QQ,AA",
    "--bets", "50%", "--iterations", 20,
)  # fmt: skip


@pytest.mark.parametrize("command", [("solve", "kuhn", "--iterations", 50), ("solve", "kuhn", "--method", "lp"), SPOT])
def test_result_is_printed_even_if_it_cannot_be_written(command, run, tmp_path, monkeypatch):
    monkeypatch.setattr(artifacts, "write_npy", no_room)
    code, out, err = run(*command, "--out", tmp_path / "run", "--json")
    assert code == 4
    assert json.loads(out)["iterations"] >= 1
    (line,) = [line for line in err.splitlines() if line.startswith("error: ")]
    assert str(tmp_path / "run") in line
    assert "no space left on device" in line


def test_run_survives_a_failed_checkpoint(run, tmp_path, monkeypatch):
    """The disk is full for a while but not at the end, and nothing is lost."""
    real, calls = artifacts.write_npy, []

    def at_first(*arguments, **options):
        calls.append(1)
        return no_room() if len(calls) < 3 else real(*arguments, **options)

    monkeypatch.setattr(artifacts, "write_npy", at_first)
    code, _, err = run("solve", "leduc", "--iterations", 4000, "--checkpoint", "0.01s", "--out", tmp_path / "run")
    assert code == 0
    assert len(calls) > 3
    assert err.count("warning:") == 1
    assert files.load(tmp_path / "run").provenance["iterations"] == 4000


@pytest.mark.parametrize(
    ("option", "place"),
    [("--out", "file"), ("--out", "file/inside"), ("--log", "file/inside"), ("--log", "folder"),
     ("--plot", "file/inside.png"), ("--plot", "folder.png")],
)  # fmt: skip
def test_write_errors_are_one_line(option, place, run, tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder.png").mkdir()
    path = tmp_path / place
    code, _, err = run("solve", "kuhn", "--iterations", 5, option, path)
    assert code == 4
    (line,) = [line for line in err.splitlines() if line.startswith("error: ")]
    assert line.startswith(f"error: {path}")
    assert (tmp_path / "file").read_text() == "mine"


def test_write_time_counts_towards_the_limit(run, tmp_path, monkeypatch):
    real = artifacts.write

    def slow(*arguments, **options):
        time.sleep(0.5)
        return real(*arguments, **options)

    monkeypatch.setattr(artifacts, "write", slow)
    started = time.monotonic()
    code, out, _ = run("solve", "leduc", "--time", "2s", "--checkpoint", "0.1s", "--out", tmp_path / "run", "--json")
    assert code == 0
    assert json.loads(out)["seconds"] == pytest.approx(2.0, abs=0.8)
    assert time.monotonic() - started < 30  # six times as long if the 0.5 s after each 0.1 s did not count


def test_unexpected_errors_have_their_own_exit_code(run, monkeypatch):
    from riverboat.cli.show import artifact

    def broken(*, json: bool = False):
        raise KeyError("x\ny")

    monkeypatch.setattr(artifact, "games", broken)
    code, out, err = run("games")
    assert (code, out) == (70, "")
    assert err.count("\n") == 1
    assert "KeyError" in err
