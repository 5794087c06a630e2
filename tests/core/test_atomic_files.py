"""Atomic writes, folder locks, and errors that name the path."""

import contextlib
import errno
import os
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from riverboat.core import artifacts
from riverboat.core import files as core_files
from riverboat.core.errors import DiskError, InputError
from riverboat.strategies import files

HOLDER = """
import sys, time
from pathlib import Path
from riverboat.core import files
with files.folder_lock(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


def test_files_are_replaced_atomically(tmp_path):
    path = tmp_path / "deep" / "a.csv"
    core_files.write_text(path, "old\r\n")
    assert path.read_bytes() == b"old\r\n"
    with contextlib.suppress(RuntimeError), core_files.atomic_write(path) as draft:
        draft.write_text("half of the n")
        raise RuntimeError
    assert path.read_bytes() == b"old\r\n"
    assert [p.name for p in path.parent.iterdir()] == ["a.csv"]
    assert draft.suffix == ".csv"  # libraries choose a format by it


@pytest.mark.parametrize(
    "write",
    [
        lambda path: core_files.write_text(path, "text"),
        lambda path: core_files.append_line(path, "line"),
        lambda path: artifacts.write(path, "test", {"a": np.zeros(3)}, {}),
    ],
)
def test_system_errors_name_the_path(write, tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "mine").write_text("mine")
    inside = tmp_path / "file" / "x"
    with pytest.raises(DiskError, match=str(inside)) as found:
        write(inside)
    assert "\n" not in str(found.value)
    with pytest.raises((DiskError, InputError), match=str(tmp_path / "folder")):
        write(tmp_path / "folder")
    assert (tmp_path / "folder" / "mine").read_text() == "mine"  # no file of the user is lost


def test_a_folder_does_not_replace_a_file(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(DiskError, match=str(tmp_path / "file")):
        artifacts.write(tmp_path / "file", "test", {}, {})
    assert (tmp_path / "file").read_text() == "mine"


def test_a_full_disk_keeps_the_old_files(tmp_path, monkeypatch):
    folder = artifacts.write(tmp_path / "a", "test", {"a": np.zeros(3)}, {})
    log = tmp_path / "log"
    core_files.append_line(log, "one")

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(artifacts, "write_npy", full)
    with pytest.raises(DiskError, match="no space left on device"):
        artifacts.write(folder, "test", {"a": np.ones(3)}, {})
    assert artifacts.read(folder)[1]["a"].sum() == 0
    monkeypatch.setattr(os, "write", lambda handle, body: 1)  # only a part of the line fits
    with pytest.raises(DiskError, match="no space left on device"):
        core_files.append_line(log, "two")
    assert log.read_text() == "one\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "log"]


def hold(processes, folder):
    """Start a process that holds the lock of a folder."""
    process = processes.python("-c", HOLDER, folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    return process


def test_the_second_writer_is_rejected_and_the_first_named(processes, tmp_path):
    folder = tmp_path / "run"
    first = hold(processes, folder)
    with pytest.raises(InputError, match=rf"process {first.pid} on ") as found, core_files.folder_lock(folder):
        pass
    assert str(found.value).startswith(str(folder))
    first.kill()
    first.wait()
    with core_files.folder_lock(folder):  # a dead process holds no lock
        (folder / "work").touch()
    assert [p.name for p in folder.iterdir()] == ["work"]


def test_an_unused_folder_is_removed(tmp_path):
    with core_files.folder_lock(tmp_path / "new"):
        assert (tmp_path / "new").is_dir()
    assert not (tmp_path / "new").exists()


def test_locks_exclude_other_processes(processes, tmp_path):
    """Only one process at a time holds the lock, even while the lock file is created and removed."""
    code = """
import sys
from pathlib import Path
from riverboat.core import files
from riverboat.core.errors import InputError
folder, done = Path(sys.argv[1]), 0
while done < 20:
    try:
        with files.folder_lock(folder):
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
    assert not Path(tmp_path / core_files.LOCK_FILE).exists()


def test_the_next_writer_removes_drafts_of_killed_processes(processes, tmp_path):
    code = (
        "import sys; from riverboat.core import files\n"
        "with files.atomic_text_file(sys.argv[1]):\n    print(1, flush=True); sys.stdin.read()"
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
    core_files.write_text(tmp_path / "log.jsonl", "mine")
    left, written = sorted(path.name for path in tmp_path.iterdir())
    assert left.startswith(f".log.{alive.pid}-")
    assert written == "log.jsonl"


# --- existing files are not lost ---


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_pipes_and_devices_are_written_directly(processes, tmp_path):
    """Renaming a draft to `/dev/stdout` would replace the device."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = processes.python("-c", f"print(open({str(pipe)!r}).read())", stdout=subprocess.PIPE)
    with core_files.atomic_text_file(pipe) as file:
        file.write("said")
    assert reader.communicate(timeout=60)[0].strip() == b"said"
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_an_artifact_replaces_only_its_own_kind(tmp_path):
    folder = tmp_path / "made"
    artifacts.write(folder, "blueprint", {"x": np.zeros(2)}, {})
    artifacts.write(folder, "blueprint", {"x": np.ones(2)}, {})
    with pytest.raises(InputError, match=rf"{folder}.*blueprint"):
        artifacts.write(folder, "strategy", {"x": np.ones(3)}, {})
    assert artifacts.read_manifest(folder)["kind"] == "blueprint"


@pytest.mark.parametrize("inside", ["manifest.json", "strategy/manifest.json", "checkpoint-000000000001/manifest.json"])
def test_a_folder_with_an_artifact_is_not_unused(inside, tmp_path):
    files.check_unused(tmp_path)
    files.check_unused(tmp_path / "nowhere")
    (tmp_path / inside).parent.mkdir(exist_ok=True)
    (tmp_path / inside).write_text("{}")
    with pytest.raises(InputError, match=str(tmp_path)):
        files.check_unused(tmp_path)


def test_images_need_a_known_suffix(tmp_path):
    assert core_files.check_image_path("a/B.PNG").name == "B.PNG"
    for name in ("picture", "x.", "x.doc", ".png", ""):
        with pytest.raises(InputError, match=r"\.png.*\.svg.*\.pdf"):
            core_files.check_image_path(name)
