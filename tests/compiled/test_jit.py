"""Unsupported versions of Numba: loops run, are not stored, and a warning says so."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import riverboat
from riverboat.compiled import code_linking

SOURCE = Path(riverboat.__file__).parent

# Renames one internal of Numba, as a new version might, and then uses every kind of loop.
RENAMED = r"""
import importlib.abc, importlib.machinery, importlib.util, re, sys, warnings
from pathlib import Path

name = sys.argv[1]
folder = Path(importlib.util.find_spec("numba").origin).parent
used = re.compile(rf"\b{name}\b")

class Renaming(importlib.abc.MetaPathFinder):
    def find_spec(self, module, path, target=None):
        if not module.startswith("numba."):
            return None
        spec = importlib.machinery.PathFinder.find_spec(module, path)
        if spec and spec.origin and spec.origin.endswith(".py") and used.search(Path(spec.origin).read_text()):
            spec.loader = Loader(module, spec.origin)
        return spec

class Loader(importlib.machinery.SourceFileLoader):
    def get_code(self, module):
        return compile(used.sub(name + "_renamed", Path(self.path).read_text()), self.path, "exec", dont_inherit=True)

if name != "nothing":
    sys.meta_path.insert(0, Renaming())
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always", RuntimeWarning)
    import numpy as np
    import loops
    from riverboat.compiled.jit import is_cached
    values = loops.first(20.0), loops.second(np.arange(5.0)), loops.made(3).tolist()
warned = any("is not supported" in str(w.message) for w in caught)
print(values == (41.0, 61.0, [0.0, 1.0, 2.0]), warned, any(map(is_cached, (loops.first, loops.second, loops.made))))
"""
LOOPS = """
import numpy as np
from riverboat.compiled.jit import kernel, allocating_kernel, inline, inline_optimized
@inline
def inner(x):
    return 2 * x
@inline_optimized
def outer(x):
    return inner(x) + 1
@kernel
def first(x):
    return outer(x)
@kernel
def second(x):
    total = 0.0
    for i in range(len(x)):
        total += inner(x[i])
    return first(total)  + inner(x[0]) + inner(total - 10)
@allocating_kernel
def made(n):
    out = np.zeros(n)
    for i in range(n):
        out[i] = i
    return out
"""
# Names that do not prevent storing are optional speed settings of Numba, which are dropped.
OPTIONS = {"_nrt", "forceinline", "no_cpython_wrapper", "no_cfunc_wrapper"}
NAMES = {
    "JITCodeLibrary", "_optimize_final_module", "_finalize_final_module", "_get_module_for_linking", "_final_module",
    "_shared_module", "_codegen", "_module_pass_manager", "_finalize_dynamic_globals", "_verify_declare_only_symbols",
    "_create_empty_module", "_add_module", "_engine", "_finalized", "__library", "enable_object_caching",
    "_compile_bytecode", "func_id", "unique_id", "unique_name", "modname", "func_qualname", "firstlineno",
    "FunctionCache", "load_overload", "save_overload", "_cache", "_cache_file", "_impl", "cache_path", "filename_base",
    "enable_caching", "global_compiler_lock", "targetctx", "_tm",
}  # fmt: skip
QUICK = [
    "_optimize_final_module",
    "_shared_module",
    "_cache",
]  # missing at import, during compilation, and when a loop is decorated


def outcome(folder: Path, name: str) -> list[str]:
    (folder / "loops.py").write_text(LOOPS)
    place = os.environ | {"NUMBA_CACHE_DIR": str(folder / "code"), "PYTHONPATH": f"{folder}:{SOURCE.parent}"}
    command = [sys.executable, "-c", RENAMED, name]
    done = subprocess.run(command, env=place, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split()


@pytest.mark.parametrize("name", QUICK)
def test_loops_run_without_one_internal_and_are_not_stored(tmp_path: Path, name: str) -> None:
    assert outcome(tmp_path, name) == ["True", "True", "False"]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(NAMES))
def test_loops_run_without_all_internals_and_are_not_stored(tmp_path: Path, name: str) -> None:
    assert outcome(tmp_path, name) == ["True", "True", "False"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nothing", *sorted(OPTIONS)])
def test_loops_are_stored_with_all_internals(tmp_path: Path, name: str) -> None:
    assert outcome(tmp_path, name) == ["True", "False", "True"]


def test_every_private_name_is_tested() -> None:
    """The list has all names with an underscore that the module takes from Numba."""
    text = Path(code_linking.__file__).read_text(encoding="utf-8")
    text = re.sub(r'"""(.|\n)*?"""', "", text)
    private = {name for name in re.findall(r"\.(_[a-z]\w+)|\"(_[a-z]\w+)\"", text) for name in name if name}
    own = {"_environments"}
    assert private - own <= NAMES
