"""The cache of compiled code: loaded again, never damaged or of other sources, and safe for several processes at once."""

from __future__ import annotations

import errno
import os
import pickle
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core import caching
from numba.core.codegen import JITCPUCodegen

import riverboat
from compiled_modules import Modules
from processes import Processes
from riverboat.compiled import code_cache
from riverboat.compiled.code_cache import CodeFiles
from riverboat.compiled.jit import is_cached

pytestmark = pytest.mark.smoke

SOURCE = Path(riverboat.__file__).parent


def test_code_is_stored_and_code_of_other_sources_deleted(tmp_path: Path) -> None:
    old, new = (CodeFiles(tmp_path, base, state) for base, state in [("m.f-10.py311", "s1"), ("m.f-12.py311", "s2")])
    other = CodeFiles(tmp_path, "m.g-10.py311", "s1")
    old.save("float64", b"old")
    other.save("float64", b"other")
    assert old.load("float64") == b"old"
    assert new.load("float64") is None
    assert (old.has_code(), new.has_code()) == (True, False)
    new.save("float64", b"new")
    new.save("float32", b"small")
    assert [files.load("float64") for files in (old, new, other)] == [None, b"new", b"other"]
    assert new.load("float32") == b"small"
    assert len(list(tmp_path.iterdir())) == 3


LOOP_MODULE = {"loops.py": "from riverboat.compiled.jit import kernel\n@kernel\ndef loop(x):\n    return 2 * x\n"}


def damaged(whole: bytes) -> list[bytes]:
    """Return files as a bad disk, a full disk and a crash leave them."""
    chance, size = random.Random(0), len(whole)
    flips = [chance.randrange(8 * size) for _ in range(200)] + list(range(0, 8 * 64, 37))
    files = [bytes(b ^ (1 << bit % 8) if k == bit // 8 else b for k, b in enumerate(whole)) for bit in flips]
    for at in [0, 1, 31, 32, 33, size // 2, size - 1, *(chance.randrange(size) for _ in range(50))]:
        length = min(chance.choice([1, 100, 4096]), size - at)
        files += [whole[:at], whole[:at] + bytes(size - at), whole[:at] + whole[at + length :]]
        files += [whole[:at] + bytes(length) + whole[at + length :]]
    return [file for file in files if file != whole] + [whole + b"0", whole + whole]


def test_damaged_code_is_not_loaded(modules: Modules) -> None:
    """Damaged code is not even unpickled: that would execute it."""
    modules.write(LOOP_MODULE)
    loop = modules.load("loops").loop
    assert loop(2) == 4
    (path,) = modules.files()
    whole = path.read_bytes()
    key, _ = pickle.loads(whole[32:])
    assert loop.code_files.load(key) is not None
    cases = damaged(whole)
    assert len(cases) > 400
    for case in cases:
        path.write_bytes(case)
        assert loop.code_files.load(key) is None
    for case in cases[::150]:  # the loop is compiled and stored again
        path.write_bytes(case)
        loop = modules.load("loops").loop
        assert (loop(2), modules.was_compiled(loop), path.read_bytes()[:32] == case[:32]) == (4, True, False)
        loop = modules.load("loops").loop
        assert (loop(2), modules.was_compiled(loop)) == (4, False)


def test_code_that_cannot_be_rebuilt_is_compiled_again(modules: Modules) -> None:
    """The checksum is right, but the content is invalid."""
    modules.write(LOOP_MODULE)
    assert modules.load("loops").loop(2) == 4
    (path,) = modules.files()
    key, data = pickle.loads(path.read_bytes()[32:])
    for wrong in (data[:3], (("loop", "object", (b"", b"")), *data[1:]), None):
        loop = modules.load("loops").loop
        loop.code_files.save(key, wrong)
        assert (loop(2), modules.was_compiled(loop)) == (4, True)


@pytest.mark.parametrize("changed", ["numba", "llvmlite", "numpy", "setting", "processor"])
def test_code_of_another_toolchain_is_not_loaded(
    modules: Modules, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    modules.write(LOOP_MODULE)
    assert modules.load("loops").loop(2) == 4
    if changed == "setting":
        monkeypatch.setattr(code_cache.numba.config, "BOUNDSCHECK", 1)
    elif changed == "processor":
        monkeypatch.setattr(JITCPUCodegen, "magic_tuple", lambda self: ("x86_64", "another", "+none"))
    else:
        library = {"numba": code_cache.numba, "llvmlite": code_cache.llvmlite, "numpy": code_cache.np}[changed]
        monkeypatch.setattr(library, "__version__", "another")
    loop = modules.load("loops").loop
    assert (loop(2), modules.was_compiled(loop)) == (4, True)


def no_space(*_: object) -> None:
    raise OSError(errno.ENOSPC, "no space left on device")


@pytest.mark.parametrize("trouble", ["full", "no folder", "no place"])
def test_loops_run_without_a_writable_folder(modules: Modules, monkeypatch: pytest.MonkeyPatch, trouble: str) -> None:
    modules.write(LOOP_MODULE)
    if trouble == "no place":  # neither next to the module nor in the user's folder
        monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    loop = modules.load("loops").loop
    if trouble == "full":
        monkeypatch.setattr(os, "fsync", no_space)
    elif trouble == "no folder":
        (folder,) = modules.cache.iterdir()
        shutil.rmtree(folder)
        folder.write_text("a file")
    assert loop(2) == 4
    assert not is_cached(loop)
    assert not modules.files()
    assert not list(modules.cache.rglob("*.tmp"))


def test_processes_that_save_at_once_share_their_code(processes: Processes, tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from riverboat.compiled.code_cache import CodeFiles\n"
        "files = CodeFiles(Path(sys.argv[1]), 'm.f-1.py311', 's')\n"
        "for k in range(200): files.save((sys.argv[2], k), f'{sys.argv[2]} {k}')"
    )
    writers = [processes.python("-c", code, tmp_path, name) for name in ("a", "b")]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    files = CodeFiles(tmp_path, "m.f-1.py311", "s")
    assert all(files.load((name, k)) == f"{name} {k}" for name in ("a", "b") for k in range(200))


RESPONSE = """
import numpy as np
from riverboat.compiled.jit import is_cached
from riverboat.trees._kernels.tree import treeplex_best_response as loop
before, value, best = is_cached(loop), np.array([0.0, 3.0, 5.0]), np.empty(1, np.int32)
loop(np.array([0], np.int32), np.array([1], np.int32), np.array([2], np.int32), value, best)
assert value[0] == 5 and best[0] == 1
print(before, sum(loop.stats.cache_hits.values()), sum(loop.stats.cache_misses.values()))
"""


def test_the_next_process_loads_kernels_from_disk(tmp_path: Path) -> None:
    command, environment = [sys.executable, "-c", RESPONSE], os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    outputs = [
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout for _ in range(2)
    ]
    assert outputs == ["False 0 1\n", "True 1 0\n"]


@pytest.mark.skipif(os.name == "nt", reason="needs fcntl")
def test_processes_that_need_a_kernel_at_once_compile_it_once(processes: Processes, tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    at_once = [processes.python("-c", RESPONSE, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    outputs = [process.communicate(timeout=200)[0].split()[1:] for process in at_once]
    assert sorted(outputs) == [["0", "1"], ["1", "0"], ["1", "0"]]


@pytest.mark.skipif(os.name == "nt", reason="needs fcntl")
def test_a_compile_lock_covers_one_signature(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from riverboat.compiled import code_cache\n"
        "code_cache.LOCK_TIMEOUT = 0\n"
        "files = code_cache.CodeFiles(Path(sys.argv[1]), 'm.f-1.py311', 's')\n"
        "for signature in ('a', 'b'):\n"
        "    with files.compile_lock(signature) as acquired: print(acquired)"
    )

    def others() -> list[str]:
        command = [sys.executable, "-c", code, str(tmp_path)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()

    with CodeFiles(tmp_path, "m.f-1.py311", "s").compile_lock("a") as acquired:
        assert acquired
        assert others() == ["False", "True"]
    assert others() == ["True", "True"]


HOUSE = {
    "house/__init__.py": "RESPONSE = 1\n",
    "house/limits.py": "LIMIT = 10\n",
    "house/more/__init__.py": "",
    "house/more/loops.py": (
        "from house import RESPONSE\nfrom house.limits import LIMIT\nfrom riverboat.compiled.jit import kernel\n"
        "@kernel\ndef loop(x):\n    return x * LIMIT + RESPONSE\n"
    ),
}
LOOP = "from house.more.loops import loop; print(loop(2), sum(loop.stats.cache_hits.values()))"


def output_in(checkout: Path, cache: Path) -> str:
    place = os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": f"{checkout}:{SOURCE.parent}"}
    return subprocess.run([sys.executable, "-c", LOOP], env=place, capture_output=True, text=True, check=True).stdout


def checkout(folder: Path) -> Path:
    for name, text in HOUSE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.slow
def test_checkouts_with_a_shared_cache_folder_do_not_mix_code(tmp_path: Path) -> None:
    one, two = checkout(tmp_path / "one"), checkout(tmp_path / "two")
    (two / "house" / "limits.py").write_text("LIMIT = 20\n")
    outputs = [output_in(house, tmp_path / "code") for house in (one, two, one)]
    assert outputs == ["21 0\n", "41 0\n", "21 1\n"]
    (one / "house" / "__init__.py").write_text("RESPONSE = 5\n")
    assert output_in(one, tmp_path / "code") == "25 0\n"


@pytest.mark.slow
def test_inlined_functions_are_loaded_from_disk_into_new_kernels(tmp_path: Path) -> None:
    """A kernel compiled in one process inlines functions that another has stored: nested ones, and ones that raise
    errors.
    """
    (tmp_path / "loops.py").write_text(
        "from riverboat.compiled.jit import inline, kernel\n"
        "@inline\n"
        "def inner(x):\n"
        "    if x < 0:\n"
        "        raise ValueError('below zero')\n"
        "    return 2 * x\n"
        "@inline\n"
        "def outer(x):\n"
        "    return inner(x) + 1\n"
        "@kernel\n"
        "def first(x):\n"
        "    return outer(x)\n"
        "@kernel\n"
        "def second(x):\n"
        "    return outer(x) + inner(x)\n"
    )
    code = (
        "import sys; import loops\n"
        "loop = getattr(loops, sys.argv[1])\n"
        "print(loop(20))\n"
        "try: loop(-1)\n"
        "except ValueError as error: print(error)\n"
        "print(*(sum(f.stats.cache_hits.values()) for f in (loops.inner, loops.outer, loop)))"
    )
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "code"), "PYTHONPATH": f"{tmp_path}:{SOURCE.parent}"}
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code, name], env=environment, capture_output=True, text=True, check=True
        ).stdout
        for name in ("first", "second", "second")
    ]
    assert outputs == [
        f"{value}\nbelow zero\n{hits}\n" for value, hits in ((41, "0 0 0"), (81, "1 1 0"), (81, "0 0 1"))
    ]
