"""Source stamps: they change with every module that a loop may inline code of, and with no other."""

from __future__ import annotations

import ast
import importlib
import shutil
from pathlib import Path

import pytest
from numba.core.dispatcher import Dispatcher

import riverboat
from compiled_modules import Modules
from riverboat.compiled import code_cache
from riverboat.compiled.code_cache import find_sources, source_stamp

SOURCE = Path(riverboat.__file__).parent

# A package whose kernels import modules in every possible way. True: the kernels are compiled from the module.
FILES: dict[str, tuple[bool, str]] = {
    "__init__.py": (False, "import house.unused\n"),
    "ground.py": (True, "X = 1\n"),
    "more.py": (True, "def later():\n    from house.inside import Y\n    return Y\nZ = later()\n"),
    "inside.py": (True, "Y = 1\n"),
    "unused.py": (False, "U = 1\n"),
    "typing_only.py": (False, "T = 1\n"),
    "either.py": (True, "E = 1\n"),
    "room/__init__.py": (False, "import house.unused\n"),
    "room/_base.py": (True, "from ..ground import X\n"),
    "room/_beside.py": (True, "from . import _third\n"),
    "room/_third.py": (True, "V = 1\n"),
    "shop/__init__.py": (True, "from .goods import PRICE\nfrom house.shop import lists\n"),
    "shop/goods.py": (True, "from house.shop._deep import *\n"),
    "shop/_deep.py": (True, "PRICE = 1\n"),
    "shop/lists.py": (True, "L = 1\n"),
    "shop/unused.py": (False, "U = 1\n"),
    "tower/__init__.py": (True, "from house.tower._real import top\n"),  # hides its module of that name
    "tower/_real.py": (True, "top = 1\n"),
    "tower/top.py": (True, "TOP = 1\n"),
    "outer/__init__.py": (True, "O = 1\n"),
    "outer/inner.py": (True, "I = 1\n"),
    "room/_kernels.py": (
        True,
        "from typing import TYPE_CHECKING\nimport numpy as np\nfrom house.room import (\n    _base,\n)\n"
        "import house.more as more\nfrom ._beside import _third\nfrom house.shop import PRICE\n"
        "from house.tower import top\nimport house.outer.inner\n"
        "if TYPE_CHECKING:\n    from house.typing_only import T\n"
        "try:\n    import missing\nexcept ImportError: from house.either import E\n",
    ),
}
# `import house.outer.inner` binds the package itself.
USED = {name for name, (used, _) in FILES.items() if used} | {"__init__.py", "unused.py"}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for name, (_, text) in FILES.items():
        path = tmp_path / "house" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "house"


def test_sources_are_the_modules_of_imported_names(package: Path) -> None:
    found = find_sources(package / "room" / "_kernels.py", package)
    assert {path.relative_to(package).as_posix() for path in found} == USED


def test_a_module_does_not_depend_on_its_package(package: Path) -> None:
    found = find_sources(package / "room" / "_base.py", package)
    assert {path.relative_to(package).as_posix() for path in found} == {"room/_base.py", "ground.py"}


@pytest.mark.parametrize("name", FILES)
def test_the_stamp_changes_with_every_source_and_with_nothing_else(package: Path, tmp_path: Path, name: str) -> None:
    before = source_stamp(package / "room" / "_kernels.py", package)
    copy = shutil.copytree(package, tmp_path / "same" / "house")  # another time and folder, the same text
    assert source_stamp(copy / "room" / "_kernels.py", copy) == before
    changed = shutil.copytree(package, tmp_path / "changed" / "house")
    with (changed / name).open("a") as file:
        file.write("# changed\n")
    assert (source_stamp(changed / "room" / "_kernels.py", changed) != before) == (name in USED)


@pytest.mark.parametrize(
    "text",
    [
        "import a.b; import c",
        "if x: import a.b",
        "from a import \\\n    b",
        "from a import (  # (of b)\n    b,\n    c,\n)",
        "from a import (b,  # c)\n    d)",
        "from a import b  # import c",
        "'import'\nfrom .a import b as c, d",
        "def f():\n    from a import (\n        b,\n        c,\n    )  # late",
        "import typing\nif typing.TYPE_CHECKING:\n    import a\nelse:\n    import b",
        "class A:\n\timport a.b as c",
        "try:\n    import a\nexcept* ImportError:\n    import b\nfinally:\n    import c",
        "match 1:\n    case 1:\n        import a",
        "import a  ;import b",
        "from ... import a",
        "from .b import *",
    ],
)
def test_the_fast_parser_of_imports_agrees_with_ast(text: str) -> None:
    whole, quick = (
        sorted(map(repr, code_cache._iterate_imports(statements, ("x", "y", "z"))))
        for statements in (ast.parse(text).body, code_cache._parse_imports(text.encode()))
    )
    assert quick == whole != []


def test_imports_of_all_modules_are_found() -> None:
    for path in SOURCE.rglob("*.py"):
        text = path.read_bytes()
        found = {repr(one) for one in code_cache._iterate_imports(code_cache._parse_imports(text), ("a", "b", "c"))}
        assert found >= {repr(one) for one in code_cache._iterate_imports(ast.parse(text).body, ("a", "b", "c"))}, path


def test_every_kernel_depends_on_what_is_inlined_into_it() -> None:
    """The rule reads source text; here it is compared with the loaded modules."""
    for path in [*SOURCE.rglob("*kernels.py"), *SOURCE.rglob("_loops.py")]:
        name = ".".join(["riverboat", *path.relative_to(SOURCE).with_suffix("").parts])
        known = find_sources(path, SOURCE)
        for loop in vars(importlib.import_module(name)).values():
            if isinstance(loop, Dispatcher) and loop.py_func.__module__.startswith("riverboat."):
                assert Path(loop.py_func.__code__.co_filename) in known, f"{name} uses {loop.py_func.__qualname__}"


def test_kernels_do_not_depend_on_the_whole_package() -> None:
    """A kernel that imports the top-level package would be compiled again after every change."""
    for path in SOURCE.rglob("*kernels.py"):
        assert SOURCE / "__init__.py" not in find_sources(path), path


def test_installed_packages_do_not_depend_on_each_other(tmp_path: Path) -> None:
    folder = tmp_path / "site-packages"
    for name, text in {
        "plugin/__init__.py": "",
        "plugin/limits.py": "",
        "plugin/loops.py": "import plugin.limits as limits\nimport numpy as np\nfrom riverboat.compiled.rng import random\n",
        "numpy/__init__.py": "",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    found = find_sources(folder / "plugin" / "loops.py")
    assert {path.name for path in found if folder in path.parents} == {"loops.py", "limits.py"}
    assert SOURCE / "compiled" / "rng.py" in found


HOUSE = {
    "house/__init__.py": "DEPTH = 1\n",
    "house/limits.py": "LIMIT = 10\n",
    "house/shop/__init__.py": "from house.shop.goods import PRICE\n",
    "house/shop/goods.py": "PRICE = 100\n",
    "house/more/__init__.py": "",
    "house/more/loops.py": (
        "from house import DEPTH\nfrom house.limits import LIMIT\nfrom ..shop import PRICE\n"
        "from riverboat.compiled.jit import kernel\n"
        "@kernel\ndef loop(x):\n    return x * LIMIT + DEPTH + PRICE\n"
    ),
}


def test_changing_a_reexported_constant_compiles_the_kernel_again(modules: Modules) -> None:
    """Constants are inlined, so the source of the loop itself need not change."""

    def result() -> tuple[int, bool]:
        loop = modules.load("house.more.loops").loop
        return loop(2), modules.was_compiled(loop)

    modules.write(HOUSE)
    assert [result(), result()] == [(121, True), (121, False)]
    for name, text, value in (
        ("house/shop/goods.py", "PRICE = 200\n", 221),
        ("house/limits.py", "LIMIT = 20\n", 241),
        ("house/__init__.py", "DEPTH = 5\n", 245),
    ):
        modules.write({name: text})
        assert [result(), result()] == [(value, True), (value, False)]
