"""Machine code depends on the sources alone: not on what was compiled or loaded before, in this process or another."""

from __future__ import annotations

import itertools
import os
import pickle
import struct
import subprocess
import sys
from pathlib import Path
from types import FunctionType

import numpy as np
import pytest
from numba import njit
from numba.core.bytecode import FunctionIdentity

import riverboat
from compiled_modules import Modules
from processes import Processes
from riverboat.compiled.jit import KERNEL_OPTIONS

pytestmark = pytest.mark.smoke

SOURCE = Path(riverboat.__file__).parent
# Too long to be inlined, with sums that the optimizer may reorder.
LONG = "\n".join(f"    if x[0] > {k}.5:\n        total += x[0] / (x[0] + {k + 1}.0 + K)" for k in range(40))
LINKED = {
    "linked.py": f"""
from riverboat.compiled.jit import inline, kernel

K = 10.0

@inline
def product(x, y):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total

@kernel
def scaled(x):
    return K * x[0]

@kernel
def inner(x):
    total = product(x, x)
    for i in range(len(x)):
        total += product(x[:i], x[:i]) * x[i]
{LONG}
    return total

@kernel
def outer(x):
    return inner(x) + product(x, x)
"""
}
X = np.random.default_rng(0).random(1001)


def functions(path: Path) -> dict[str, tuple[bool, bytes]]:
    """Read the machine code of a file: whether other files can call a function, and its bytes, by name."""
    _, data = pickle.loads(path.read_bytes()[32:])
    elf: bytes = data[0][2][0]
    table, size, count = struct.unpack_from("<Q", elf, 40)[0], *struct.unpack_from("<HH", elf, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", elf, table + size * k) for k in range(count)]
    found = {}
    for _, kind, _, _, at, length, link, _, _, entry in sections:
        if kind != 2:  # the table of symbols
            continue
        for k in range(at, at + length, entry):
            name, info, _, section, value, bytes_long = struct.unpack_from("<IBBHQQ", elf, k)
            if info & 15 == 2:  # a function
                text = sections[link][4] + name
                code = sections[section][4] + value
                called = elf[text : elf.index(b"\0", text)].decode()
                found[called] = (info >> 4 != 0, elf[code : code + bytes_long])
    return found


def code_of(path: Path) -> list[bytes]:
    """Return the machine code of a file without names, which depend on the order of sets."""
    return sorted(code for _, code in functions(path).values())


elf_only = pytest.mark.skipif(sys.platform != "linux", reason="reads ELF files")


@elf_only
def test_a_linked_kernel_is_private_and_compiled_as_by_itself(modules: Modules) -> None:
    modules.write(LINKED)
    modules.load("linked").outer(X)
    (outer,), (inner,) = (modules.files(f"linked.{name}-") for name in ("outer", "inner"))
    mine = {
        name: code for name, (_, code) in functions(inner).items() if "6linked5inner" in name and "cpython" not in name
    }
    linked = functions(outer)
    copies = {name: code for name, code in linked.items() if "6linked5inner" in name}
    assert copies
    for name, (seen_by_others, code) in copies.items():
        assert (seen_by_others, code) == (False, mine[name])
    assert any(seen for seen, _ in linked.values())


@elf_only
def test_code_does_not_depend_on_what_was_compiled_before(modules: Modules) -> None:
    """Compiled all at once; with inlined functions and the inner kernel loaded from disk; and after other functions."""
    modules.write(LINKED)
    codes = []
    for first in ("outer", "inner"):
        modules.use_cache(modules.folder.parent / first)
        getattr(modules.load("linked"), first)(X)
        njit(lambda x: x + 1)(1)
        linked = modules.load("linked")
        linked.outer(X)
        codes.append({name: code_of(modules.files(f"linked.{name}-")[0]) for name in ("outer", "inner", "product")})
    assert codes[0] == codes[1]


def test_names_are_not_shared_with_other_functions(modules: Modules, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba numbers functions in order: a number on disk may belong to the same code with other constants."""
    modules.write(LINKED)
    names = []
    for start in (1, 1000):
        modules.use_cache(modules.folder.parent / str(start))
        monkeypatch.setattr(FunctionIdentity, "_unique_ids", itertools.count(start))
        linked = modules.load("linked")
        linked.scaled(X)
        (compiled,) = linked.scaled.overloads.values()
        names.append(compiled.fndesc.mangled_name)
    assert names[0] == names[1]
    monkeypatch.setattr(FunctionIdentity, "_unique_ids", itertools.count(1))
    linked = modules.load("linked")
    other = njit(**KERNEL_OPTIONS)(FunctionType(linked.scaled.py_func.__code__, {**vars(linked), "K": 77.0}, "scaled"))
    other(X)
    (compiled,) = other.overloads.values()
    assert compiled.fndesc.mangled_name not in names


TWO_FUNCTIONS = """
import itertools, sys
from types import FunctionType
import numpy as np
from numba import njit
from numba.core.bytecode import FunctionIdentity
import linked
from riverboat.compiled.jit import KERNEL_OPTIONS
x = np.arange(1.0, 50.0)
if sys.argv[1:]:
    FunctionIdentity._unique_ids = itertools.count(int(sys.argv[1]))
    njit(**KERNEL_OPTIONS)(FunctionType(linked.inner.py_func.__code__, {**vars(linked), "K": 77.0}, "inner"))(x)
print(linked.outer(x).hex())
"""


@pytest.mark.slow
def test_a_function_of_the_same_name_is_not_called_instead(tmp_path: Path) -> None:
    """This happens when a user's rule is compiled into the same kernels before the stored ones are loaded."""
    (tmp_path / "linked.py").write_text(LINKED["linked.py"])
    place = os.environ | {
        "NUMBA_CACHE_DIR": str(tmp_path / "code"),
        "PYTHONPATH": f"{tmp_path}:{SOURCE.parent}",
        "PYTHONHASHSEED": "0",
    }
    commands = [[sys.executable, "-c", TWO_FUNCTIONS, *start] for start in ([], ["1"], ["2"], ["3"])]
    values = {
        subprocess.run(command, env=place, capture_output=True, text=True, check=True).stdout for command in commands
    }
    assert len(values) == 1


WALKS = """
import hashlib, os, sys
os.cpu_count = lambda: 2
from riverboat.games.registry import game_from_spec
from riverboat.solvers.tabular import tree_engine
from riverboat.solvers.tabular.cfr import CFR
from riverboat.trees.compile import compile_game
tree_engine.MIN_PARALLEL_NODES = 0
tree = compile_game(game_from_spec("bluff:1,1"))
for count in map(int, sys.argv[1].split(",")):
    solver = CFR(tree, "pcfr+", threads=count)
    solver.step(10)
    print(hashlib.sha256(solver.regret.tobytes()).hexdigest())
"""


def traversals(processes: Processes, cache: Path, threads: str, seed: str = "random") -> subprocess.Popen[str]:
    place = os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(SOURCE.parent), "PYTHONHASHSEED": seed}
    return processes.python("-c", WALKS, threads, env=place, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
@elf_only
def test_traversals_do_not_depend_on_how_they_were_compiled(processes: Processes, tmp_path: Path) -> None:
    """In one process; in successive ones; in two at once; each with another order of sets; and then loaded."""
    plans: list[list[list[str]]] = [[["1,2"]], [["2"], ["1"]], [["1", "2"]]]
    results, codes = set(), []
    for k, plan in enumerate(plans):
        cache = tmp_path / str(k)
        for at_once in [*plan, ["1,2"], ["2,1"]]:
            for process in [traversals(processes, cache, threads, str(k)) for threads in at_once]:
                results |= set(process.communicate(timeout=200)[0].split())
                assert process.returncode == 0
        codes.append({path.name: code_of(path) for path in cache.rglob("*.nbc")})
    assert len(results) == 1
    assert len(codes[0]) > 10
    assert all(code == codes[0] for code in codes)
    copies: dict[str, set[bytes]] = {}
    for path in (tmp_path / "0").rglob("*.nbc"):
        for name, (_, code) in functions(path).items():
            copies.setdefault(name, set()).add(code)
    assert all(len(code) == 1 for code in copies.values())
