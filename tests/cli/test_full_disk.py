"""Errors of a full disk: the file, the reason, exit code 4; nothing half-written is left, and earlier files stay.

The tests fill a file system of a few hundred kilobytes if they may mount one. Otherwise the operating system is simulated in
the functions that every writer uses.
"""

from __future__ import annotations

import ast
import errno
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import riverboat as rb
from riverboat.core import artifacts
from riverboat.core import files as core_files
from riverboat.core.cache import cached_arrays
from riverboat.core.errors import DiskError
from riverboat.strategies import files

SOURCES = sorted((Path(__file__).parents[2] / "src" / "riverboat").rglob("*.py"))
SIZE = 400 << 10
Run = Callable[..., tuple[int, str, str]]
SPOT = (
    "--board", "2s3s5hJdQc", "--pot", 10, "--stack", 20, "--oop", "AA,KK", "--ip", "QQ,AA", "--bets", "50%",
)  # fmt: skip


def mounted(place: Path) -> bool:
    """Mount a small file system in memory; return False if that is not permitted."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(place)]
    return sys.platform == "linux" and os.getuid() == 0 and subprocess.run(command, capture_output=True).returncode == 0


def _may_mount() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        if not mounted(Path(folder)):
            return False
        subprocess.run(["umount", folder], check=True)
        return True


needs_mount = pytest.mark.skipif(not _may_mount(), reason="may not mount a file system")


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A small file system."""
    place = tmp_path / "small"
    place.mkdir()
    assert mounted(place)
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def fill(place: Path, left: int) -> Path:
    """Leave a given number of bytes free on a small file system."""
    filler = place / "filler"
    free = os.statvfs(place).f_bavail * os.statvfs(place).f_frsize
    filler.write_bytes(bytes(max(0, free - left)))
    return filler


def check_refusal(code: int, err: str, place: Path) -> None:
    """Check for one line that names a file there and says that the disk is full."""
    (line,) = [line for line in err.splitlines() if line.startswith("error: ")]
    assert code == 4, err
    assert line.startswith(f"error: {place}"), line
    assert "the disk is full" in line


def left_behind(place: Path) -> list[str]:
    """Find temporary files and incomplete artifacts."""
    drafts = [str(path) for path in place.rglob("*") if re.search(r"\.(tmp|old)\b", path.name)]
    for manifest in place.rglob(artifacts.MANIFEST):
        artifacts.read(manifest.parent)  # raises if it is incomplete
    return drafts


@pytest.fixture
def match_result(run: Run, tmp_path: Path) -> Path:
    """The result of a match, for a ledger."""
    code, out, _ = run("match", "always-call", "random", "--hands", 4, "--game", "leduc", "--json")
    assert code == 0
    (tmp_path / "result.json").write_text(out)
    return tmp_path / "result.json"


COMMANDS = {
    "solve": ("solve", "leduc", "--iterations", 20, "--out", "{}/run"),
    "lp": ("solve", "kuhn", "--method", "lp", "--out", "{}/run"),
    "spot": ("solve", "spot", *SPOT, "--iterations", 20, "--out", "{}/run"),
    "log": ("solve", "kuhn", "--iterations", 2000, "--log", "{}/log.jsonl"),
    "train": ("train", "{tmp}/leduc.toml", "--iterations", 500, "--threads", 1, "--out", "{}/run"),
    "picture": ("solve", "kuhn", "--iterations", 50, "--plot", "{}/picture.png"),
    "hands": ("match", "always-call", "random", "--hands", 400, "--histories", "{}/hands.phhs"),
    "game": ("convert", "leduc", "--out", "{}/leduc.efg"),
    "ledger": ("ledger", "{}/ledger.jsonl", "--add", "{tmp}/result.json"),
}
SLOW = ("lp", "picture", "hands", "game")


@needs_mount
@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] if n in SLOW else []) for n in COMMANDS])
def test_commands_on_a_full_disk(name: str, run: Run, small: Path, tmp_path: Path, match_result: Path) -> None:
    (tmp_path / "leduc.toml").write_text("game = 'leduc'\n")
    filler = fill(small, 0)
    words = [str(word).format(small, tmp=tmp_path) for word in COMMANDS[name]]
    check_refusal(*run(*words)[::2], small)
    assert left_behind(small) == []
    filler.unlink()
    assert run(*words, *(("--resume",) if "/run" in words[-1] and name != "lp" else ()))[0] == 0
    assert left_behind(small) == []


@needs_mount
def test_training_keeps_its_last_checkpoint(small: Path, tmp_path: Path) -> None:
    """Failed checkpoints are retried; the error comes at the end, and a later session has the same tables."""
    recipe = tmp_path / "kuhn.toml"
    recipe.write_text("game = 'kuhn'\n")
    told: list[str] = []
    out = small / "run"

    def later(now: object) -> None:
        if len(files.checkpoints(out)) == 2 and not (small / "filler").exists():
            fill(small, 0)
        told.extend(filter(None, [getattr(now, "trouble", None)]))

    how = {
        "iterations": 200_000,
        "threads": 1,
        "mode": "deterministic",
        "checkpoint_seconds": 0.0,
        "check_seconds": 0.0,
    }
    with pytest.raises(DiskError, match="the disk is full"):
        rb.train(recipe, out=out, callback=later, **how)  # type: ignore[arg-type]
    assert told
    assert "the disk is full" in told[0]
    assert left_behind(small) == []
    assert 0 < int(files.checkpoints(out)[-1].name.rpartition("-")[2]) < 200_000
    (small / "filler").unlink()
    done = rb.train(recipe, out=out, resume=True, **{**how, "check_seconds": 60.0})  # type: ignore[arg-type]
    whole = rb.train(recipe, out=tmp_path / "whole", **{**how, "check_seconds": 60.0})  # type: ignore[arg-type]
    assert (done.iterations, done.regret) == (whole.iterations, whole.regret)
    tables = [artifacts.read(files.checkpoints(run)[-1])[1]["cells"].tobytes() for run in (out, whole.out)]
    assert tables[0] == tables[1]


@needs_mount
def test_cache_on_a_full_disk(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riverboat.core.cache.cache_folder", lambda: small)
    filler, made = fill(small, 4096), []

    def make() -> dict[str, np.ndarray]:
        made.append(1)
        return {"a": np.arange(10_000.0)}

    for _ in range(2):
        assert cached_arrays("some/table", make)["a"].sum() == np.arange(10_000).sum()
    assert len(made) == 2
    assert [path for path in small.rglob("*") if path.is_file() and path != filler] == []
    filler.unlink()
    for _ in range(2):
        cached_arrays("some/table", make)
    assert len(made) == 3


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_standard_output(processes) -> None:  # type: ignore[no-untyped-def]
    with open("/dev/full", "w", encoding="utf-8") as full:
        process = processes.riverboat("games", stdout=full, stderr=subprocess.PIPE, text=True)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 4
    (line,) = err.splitlines()
    assert line.startswith("error: standard output: ")
    assert "the disk is full" in line


# --- Simulated errors ---


@pytest.mark.parametrize("number", ["ENOSPC", "EDQUOT", "EROFS", "EMFILE", "EIO"])
@pytest.mark.parametrize("name", ["artefact", "text"])
def test_errors_name_the_file_and_the_reason(
    name: str, number: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = getattr(errno, number)
    place = artifacts.write(tmp_path / "thing", "test", {"x": np.zeros(3)}, {})
    core_files.write_text(tmp_path / "text", "before")

    def refused(path: Path) -> None:
        raise OSError(code, os.strerror(code))

    write = {
        "artefact": lambda: artifacts.write(place, "test", {"x": np.ones(3)}, {}),
        "text": lambda: core_files.write_text(tmp_path / "text", "after"),
    }[name]
    monkeypatch.setattr(core_files, "sync_file", refused)  # every file is synchronized before it is renamed
    with pytest.raises(DiskError, match=re.escape(os.strerror(code).lower())) as found:
        write()
    assert str(found.value).startswith(str(place if name == "artefact" else tmp_path / "text"))
    assert artifacts.read(place)[1]["x"].sum() == 0
    assert (tmp_path / "text").read_text() == "before"
    assert left_behind(tmp_path) == []


def test_artifact_survives_a_killed_replacement(tmp_path: Path) -> None:
    place = artifacts.write(tmp_path / "run" / "strategy", "test", {"x": np.arange(3)}, {})
    place.rename(place.with_name(".strategy.123.old"))  # between two renames
    (place.parent / ".strategy.123.tmp").mkdir()
    artifacts.discard_leftovers(place.parent)
    assert artifacts.read(place)[1]["x"].tolist() == [0, 1, 2]
    place.with_name(".strategy.124.old").mkdir()
    artifacts.discard_leftovers(place.parent)
    assert [path.name for path in place.parent.iterdir()] == ["strategy"]


def test_artifact_is_never_removed_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = artifacts.write(tmp_path / "thing", "test", {"x": np.zeros(3)}, {})
    monkeypatch.setattr("shutil.rmtree", lambda *given, **more: None)  # killed before anything else is removed
    artifacts.remove(place)
    artifacts.remove(place)  # it is already removed
    assert not place.exists()
    monkeypatch.undo()
    artifacts.discard_leftovers(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_failed_replacement_keeps_the_old_artifact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = artifacts.write(tmp_path / "thing", "test", {"x": np.zeros(3)}, {})
    real = core_files.replace

    def replace(source: Path, target: Path) -> None:
        if source.suffix == ".tmp":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(source, target)

    monkeypatch.setattr(core_files, "replace", replace)
    with pytest.raises(DiskError, match="the disk is full"):
        artifacts.write(place, "test", {"x": np.ones(3)}, {})
    assert artifacts.read(place)[1]["x"].sum() == 0
    assert left_behind(tmp_path) == []


# --- Writers of files ---

# Who writes files otherwise than by `disk`, and why.
OTHERWISE = {
    "artifacts.py": "files of a folder that is renamed as a whole; errors name them",
    "arrays.py": "arrays, for artifacts",
    "cache.py": "inside a draft that is renamed",
    "code_cache.py": "compiled code, by Numba's rules",
    "dealer.py": "a log that others read while a match is played; errors name it",
    "queue.py": "output of another process; errors name it",
    "solver_run.py": "a log that is tried before the work",
}
WRITERS = {"write_text", "write_bytes", "save", "savez", "savez_compressed", "tofile", "dump", "copyfile", "savefig"}


def written(tree: ast.AST) -> Iterator[str]:
    """Find calls that write files by other means than `riverboat.core.files`."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        module = getattr(owner, "id", "")
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        modes = [each.value for each in given if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        opens = name == "open" and any(re.fullmatch(r"[wax]b?\+?|r\+b?", mode) for mode in modes)
        writes = name in ("write_text", "write_bytes") and module not in ("files", "core_files")
        if opens or writes or (name in WRITERS and module in ("np", "json", "pickle", "shutil")):
            yield ast.unparse(node)


def test_files_are_written_in_one_place() -> None:
    found = {path.name for path in SOURCES if any(written(ast.parse(path.read_text())))}
    assert found - {"files.py"} == set(OTHERWISE)


def test_what_writes_is_seen() -> None:
    for code in ("p.open('w')", "open(p, mode='ab')", "p.write_text(x)", "np.save(p, x)", "json.dump(x, f)"):
        assert list(written(ast.parse(code))) != [], code
    for code in ("p.open()", "open(p, 'rb')", "files.write_text(p, x)", "json.dumps(x)", "self.save()"):
        assert list(written(ast.parse(code))) == [], code
