"""Compiled code on disk: found again, never that of other sources, and written by several processes at once."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.dispatcher import Dispatcher

import riverboat
from processes import Processes
from riverboat.jit import CodeFiles, sources, stamp

SOURCE = Path(riverboat.__file__).parent


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package whose kernels stand on others in every way that an import can be written."""
    files = {
        "__init__.py": "",
        "ground.py": "X = 1\n",
        "other.py": "Y = 1\n",
        "room/__init__.py": "",
        "room/_base.py": "from house.ground import X\n",
        "room/_kernels.py": "import numpy as np\nfrom house.room import (\n    _base,\n)\nimport house.more as more\n",
        "more.py": "def later():\n    from house.other import Y\n",
    }
    for name, text in files.items():
        path = tmp_path / "house" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "house"


def test_sources_are_what_is_imported(package: Path) -> None:
    found = sources(package / "room" / "_kernels.py", package)
    names = {path.relative_to(package).as_posix() for path in found}
    assert names == {"room/_kernels.py", "room/_base.py", "ground.py", "more.py"}


@pytest.mark.parametrize("name", ["ground.py", "other.py", "room/_base.py", "room/_kernels.py", "more.py"])
def test_the_stamp_changes_with_every_source_and_with_nothing_else(package: Path, tmp_path: Path, name: str) -> None:
    before = stamp(package / "room" / "_kernels.py", package)
    copy = shutil.copytree(package, tmp_path / "same" / "house")  # another time, another place, the same text
    assert stamp(copy / "room" / "_kernels.py", copy) == before
    changed = shutil.copytree(package, tmp_path / "changed" / "house")
    with (changed / name).open("a") as file:
        file.write("# changed\n")
    assert (stamp(changed / "room" / "_kernels.py", changed) == before) == (name == "other.py")


def test_every_kernel_of_a_module_stands_on_what_is_inlined_into_it() -> None:
    """The rule reads text; here the loaded modules say where their loops are from."""
    for path in [*SOURCE.rglob("*kernels.py"), *SOURCE.rglob("_loops.py")]:
        name = ".".join(["riverboat", *path.relative_to(SOURCE).with_suffix("").parts])
        known = sources(path, SOURCE)
        for loop in vars(importlib.import_module(name)).values():
            if isinstance(loop, Dispatcher) and loop.py_func.__module__.startswith("riverboat."):
                assert Path(loop.py_func.__code__.co_filename) in known, f"{name} uses {loop.py_func.__qualname__}"


def test_code_is_kept_and_that_of_other_sources_forgotten(tmp_path: Path) -> None:
    old, new = (CodeFiles(tmp_path, base, state) for base, state in [("m.f-10.py311", "s1"), ("m.f-12.py311", "s2")])
    other = CodeFiles(tmp_path, "m.g-10.py311", "s1")
    old.save("float64", b"old")
    other.save("float64", b"other")
    assert old.load("float64") == b"old"
    assert new.load("float64") is None
    assert (old.any(), new.any()) == (True, False)
    new.save("float64", b"new")
    new.save("float32", b"small")
    assert [files.load("float64") for files in (old, new, other)] == [None, b"new", b"other"]
    assert new.load("float32") == b"small"
    assert len(list(tmp_path.iterdir())) == 3


def test_a_file_that_was_cut_short_is_not_there(tmp_path: Path) -> None:
    files = CodeFiles(tmp_path, "m.f-10.py311", "s")
    files.save("key", b"code")
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert files.load("key") is None
    path.write_bytes(whole)
    assert files.load("key") == b"code"


def test_processes_that_save_at_once_find_each_others_code(processes: Processes, tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from riverboat.jit import CodeFiles\n"
        "files = CodeFiles(Path(sys.argv[1]), 'm.f-1.py311', 's')\n"
        "for k in range(200): files.save((sys.argv[2], k), f'{sys.argv[2]} {k}')"
    )
    writers = [processes.python("-c", code, tmp_path, name) for name in ("a", "b")]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    files = CodeFiles(tmp_path, "m.f-1.py311", "s")
    assert all(files.load((name, k)) == f"{name} {k}" for name in ("a", "b") for k in range(200))


DEPTH = """
import numpy as np
from riverboat.jit import on_disk
from riverboat.trees._kernels import depth
before = on_disk(depth)
assert depth(np.array([3, 2, 3], np.int32), np.empty(4, np.int32)) == 2
print(before, sum(depth.stats.cache_hits.values()), sum(depth.stats.cache_misses.values()))
"""


def test_kernels_are_found_on_disk_by_the_next_process(tmp_path: Path) -> None:
    command, place = [sys.executable, "-c", DEPTH], os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    said = [subprocess.run(command, env=place, capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert said == ["False 0 1\n", "True 1 0\n"]


@pytest.mark.skipif(os.name == "nt", reason="no such locks")
def test_processes_that_need_a_kernel_at_once_compile_it_once(processes: Processes, tmp_path: Path) -> None:
    place = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    at_once = [processes.python("-c", DEPTH, env=place, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = [process.communicate(timeout=200)[0].split()[1:] for process in at_once]
    assert sorted(said) == [["0", "1"], ["1", "0"], ["1", "0"]]


@pytest.mark.skipif(os.name == "nt", reason="no such locks")
def test_a_turn_keeps_others_from_the_same_signature_only(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from riverboat import jit\n"
        "jit.PATIENCE = 0\n"
        "files = jit.CodeFiles(Path(sys.argv[1]), 'm.f-1.py311', 's')\n"
        "for signature in ('a', 'b'):\n"
        "    with files.turn(signature) as mine: print(mine)"
    )

    def others() -> list[str]:
        command = [sys.executable, "-c", code, str(tmp_path)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()

    with CodeFiles(tmp_path, "m.f-1.py311", "s").turn("a") as mine:
        assert mine
        assert others() == ["False", "True"]
    assert others() == ["True", "True"]


HOUSE = {
    "house/__init__.py": "DEPTH = 1\n",
    "house/limits.py": "LIMIT = 10\n",
    "house/more/__init__.py": "",
    "house/more/loops.py": (
        "from house import DEPTH\nfrom house.limits import LIMIT\nfrom riverboat.jit import kernel\n"
        "@kernel\ndef loop(x):\n    return x * LIMIT + DEPTH\n"
    ),
}
LOOP = "from house.more.loops import loop; print(loop(2), sum(loop.stats.cache_hits.values()))"


def said_in(checkout: Path, cache: Path) -> str:
    place = os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": f"{checkout}:{SOURCE.parent}"}
    return subprocess.run([sys.executable, "-c", LOOP], env=place, capture_output=True, text=True, check=True).stdout


def checkout(folder: Path) -> Path:
    for name, text in HOUSE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("name", ["house/__init__.py", "house/limits.py", "house/more/loops.py"])
def test_loops_of_others_stand_on_their_own_modules(tmp_path: Path, name: str) -> None:
    """Constants are inlined: the loop itself need not change by a letter."""
    one, two = checkout(tmp_path / "one"), checkout(tmp_path / "two")
    (two / name).write_text(HOUSE[name] + "# changed")
    loops = "house/more/loops.py"
    assert stamp(one / loops) == stamp(checkout(tmp_path / "three") / loops) != stamp(two / loops)


@pytest.mark.slow
def test_checkouts_with_one_cache_folder_keep_their_code(tmp_path: Path) -> None:
    one, two = checkout(tmp_path / "one"), checkout(tmp_path / "two")
    (two / "house" / "limits.py").write_text("LIMIT = 20\n")
    said = [said_in(house, tmp_path / "code") for house in (one, two, one)]
    assert said == ["21 0\n", "41 0\n", "21 1\n"]
    (one / "house" / "__init__.py").write_text("DEPTH = 5\n")
    assert said_in(one, tmp_path / "code") == "25 0\n"


@pytest.mark.slow
def test_parts_are_loaded_from_disk_into_new_kernels(tmp_path: Path) -> None:
    """A kernel that is compiled in one process inlines what another has left: parts with parts of their own, and errors."""
    (tmp_path / "loops.py").write_text(
        "from riverboat.jit import kernel, part\n"
        "@part\n"
        "def inner(x):\n"
        "    if x < 0:\n"
        "        raise ValueError('below zero')\n"
        "    return 2 * x\n"
        "@part\n"
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
    place = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "code"), "PYTHONPATH": f"{tmp_path}:{SOURCE.parent}"}
    said = [
        subprocess.run([sys.executable, "-c", code, name], env=place, capture_output=True, text=True, check=True).stdout
        for name in ("first", "second", "second")
    ]
    assert said == [f"{value}\nbelow zero\n{hits}\n" for value, hits in ((41, "0 0 0"), (81, "1 1 0"), (81, "0 0 1"))]
