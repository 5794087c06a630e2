"""Files appear whole, folders have one writer, and errors name the place."""

import contextlib
import errno
import os
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from riverboat.core import artifacts, atomic_io
from riverboat.core.errors import DiskError, InputError
from riverboat.strategies import files

HOLDER = """
import sys, time
from pathlib import Path
from riverboat import disk
with disk.held(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path):
    path = tmp_path / "deep" / "a.csv"
    atomic_io.write_text(path, "old\r\n")
    assert path.read_bytes() == b"old\r\n"
    with contextlib.suppress(RuntimeError), atomic_io.beside(path) as draft:
        draft.write_text("half of the n")
        raise RuntimeError
    assert path.read_bytes() == b"old\r\n"
    assert [p.name for p in path.parent.iterdir()] == ["a.csv"]
    assert draft.suffix == ".csv"  # by which libraries choose a format


@pytest.mark.parametrize(
    "write",
    [
        lambda path: atomic_io.write_text(path, "text"),
        lambda path: atomic_io.append(path, "line"),
        lambda path: artifacts.write(path, "test", {"a": np.zeros(3)}, {}),
    ],
)
def test_errors_of_the_system_name_the_place(write, tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "mine").write_text("mine")
    inside = tmp_path / "file" / "x"
    with pytest.raises(DiskError, match=str(inside)) as found:
        write(inside)
    assert "\n" not in str(found.value)
    with pytest.raises((DiskError, InputError), match=str(tmp_path / "folder")):
        write(tmp_path / "folder")
    assert (tmp_path / "folder" / "mine").read_text() == "mine"  # nothing of the user's is lost


def test_a_folder_does_not_take_the_place_of_a_file(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(DiskError, match="is a file"):
        artifacts.write(tmp_path / "file", "test", {}, {})
    assert (tmp_path / "file").read_text() == "mine"


def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch):
    place = artifacts.write(tmp_path / "a", "test", {"a": np.zeros(3)}, {})
    log = tmp_path / "log"
    atomic_io.append(log, "one")

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(artifacts, "write_numbers", full)
    with pytest.raises(DiskError, match="no space left on device"):
        artifacts.write(place, "test", {"a": np.ones(3)}, {})
    assert artifacts.read(place)[1]["a"].sum() == 0
    monkeypatch.setattr(os, "write", lambda handle, body: 1)  # only a part of it fits
    with pytest.raises(DiskError, match="no space left on device"):
        atomic_io.append(log, "two")
    assert log.read_text() == "one\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "log"]


def hold(processes, folder):
    """A process that writes to a folder."""
    process = processes.python("-c", HOLDER, folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    return process


def test_the_second_writer_is_refused_by_the_name_of_the_first(processes, tmp_path):
    folder = tmp_path / "run"
    first = hold(processes, folder)
    with pytest.raises(InputError, match=rf"process {first.pid} on ") as found, atomic_io.held(folder):
        pass
    assert str(found.value).startswith(str(folder))
    first.kill()
    first.wait()
    with atomic_io.held(folder):  # a dead process keeps no lock
        (folder / "work").touch()
    assert [p.name for p in folder.iterdir()] == ["work"]


def test_a_folder_in_which_nothing_was_done_is_not_left(tmp_path):
    with atomic_io.held(tmp_path / "new"):
        assert (tmp_path / "new").is_dir()
    assert not (tmp_path / "new").exists()


def test_many_writers_take_turns(processes, tmp_path):
    """One of them at a time, also while the lock's file comes and goes."""
    code = """
import sys
from pathlib import Path
from riverboat import disk
from riverboat.errors import InputError
folder, done = Path(sys.argv[1]), 0
while done < 20:
    try:
        with disk.held(folder):
            count = folder / "count"
            count.write_text(str(int(count.read_text()) + 1))
            done += 1
    except InputError:
        pass
"""
    (tmp_path / "count").write_text("0")
    started = time.monotonic()
    workers = [processes.python("-c", code, tmp_path) for _ in range(3)]
    assert [w.wait(timeout=60) for w in workers] == [0, 0, 0], time.monotonic() - started
    assert (tmp_path / "count").read_text() == "60"
    assert not Path(tmp_path / atomic_io.LOCK).exists()


def test_drafts_of_processes_that_were_killed_go_with_the_next_writer(processes, tmp_path):
    code = (
        "import sys; from riverboat import disk\n"
        "with disk.text_file(sys.argv[1]):\n    print(1, flush=True); sys.stdin.read()"
    )
    dead, alive = (
        processes.python("-c", code, tmp_path / "log.jsonl", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(2)
    )
    for process in (dead, alive):
        process.stdout.readline()
    dead.kill()
    dead.wait()
    assert len(list(tmp_path.iterdir())) == 2
    atomic_io.write_text(tmp_path / "log.jsonl", "mine")
    left, written = sorted(path.name for path in tmp_path.iterdir())
    assert left.startswith(f".log.{alive.pid}-")
    assert written == "log.jsonl"


# --- nothing is lost --------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_or_a_device_stays_what_it_is(processes, tmp_path):
    """A file that is renamed into the place of `/dev/stdout` would take it away from everybody."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = processes.python("-c", f"print(open({str(pipe)!r}).read())", stdout=subprocess.PIPE)
    with atomic_io.text_file(pipe) as file:
        file.write("said")
    assert reader.communicate(timeout=60)[0].strip() == b"said"
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_an_artefact_replaces_its_own_kind_alone(tmp_path):
    folder = tmp_path / "made"
    artifacts.write(folder, "blueprint", {"x": np.zeros(2)}, {})
    artifacts.write(folder, "blueprint", {"x": np.ones(2)}, {})
    with pytest.raises(InputError, match="holds a blueprint, which would be lost"):
        artifacts.write(folder, "strategy", {"x": np.ones(3)}, {})
    assert artifacts.manifest(folder)["kind"] == "blueprint"


@pytest.mark.parametrize("inside", ["manifest.json", "strategy/manifest.json", "checkpoint-000000000001/manifest.json"])
def test_a_folder_that_holds_something_is_not_free(inside, tmp_path):
    files.check_free(tmp_path)
    files.check_free(tmp_path / "nowhere")
    (tmp_path / inside).parent.mkdir(exist_ok=True)
    (tmp_path / inside).write_text("{}")
    with pytest.raises(InputError, match="holds"):
        files.check_free(tmp_path)


def test_pictures_go_by_their_names(tmp_path):
    assert atomic_io.check_picture("a/B.PNG").name == "B.PNG"
    for name in ("picture", "x.", "x.doc", ".png", ""):
        with pytest.raises(InputError, match=r"use \.png, \.svg or \.pdf"):
            atomic_io.check_picture(name)
