"""Source stamps: which modules a compiled loop is made from, and in which state they are.

A loop inlines loops and constants of the modules that its own module imports, of those that they import, and so on. A
change of any of them must compile it again; a change of any other module must not.

Imports are read from the syntax tree: those inside functions too, since a function may compute a constant when its
module is loaded. The `__init__.py` of a package counts where a name is taken from the package itself, and not where
only one of its modules is imported. Names that a module loads by text (`importlib`) are not seen.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent
INSTALLED = {"site-packages", "dist-packages"}  # folders whose packages have nothing to do with each other
_WORD = re.compile(rb"\bimport\b")
_LINE = re.compile(
    rb"^[ \t]*((?:from[ \t]+[.\w]+[ \t]+)?import[ \t]+(?:\([^)]*\)|[^\n;\\(]*))[ \t]*(?:#.*)?$", re.MULTILINE
)
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def sources(module: Path, package: Path = PACKAGE) -> set[Path]:
    """Find the modules that loops of a module are made from, itself included."""
    modules, work = {module}, [module]
    while work:
        new = _read(work.pop(), package)[1] - modules
        modules |= new
        work += new
    return modules


@cache
def stamp(module: Path, package: Path = PACKAGE) -> str:
    """Name the state of a module's sources, whenever and wherever they were written."""
    digest = hashlib.sha256()
    for path in sorted(sources(module, package)):
        digest.update(hashlib.sha256(_read(path, package)[0]).digest())
    return digest.hexdigest()[:16]


def _statements(text: bytes) -> list[ast.stmt]:
    """Parse a module, or only its imports where each stands on a line of its own, which is many times faster."""
    lines = _LINE.findall(text)
    if len(lines) == len(_WORD.findall(text)) and b"TYPE_CHECKING" not in text:
        with contextlib.suppress(SyntaxError):
            return ast.parse(b"\n".join(lines)).body
    try:
        return ast.parse(text).body
    except SyntaxError:  # never loaded by this Python
        return []


@cache
def _read(module: Path, package: Path) -> tuple[bytes, frozenset[Path]]:
    """Read a module's text, and find the files that it takes names from."""
    text = module.read_bytes()
    home = _home(module.parent)
    inside = module.relative_to(home).with_suffix("").parts
    used: set[Path] = set()
    for base, names in _imports(_statements(text), inside):
        if not base:
            continue
        if base[0] == package.name:
            root = package.parent
        elif package in module.parents or (INSTALLED & set(home.parts) and base[0] != inside[0]):
            continue  # somebody else's package: its version is part of the key of compiled code
        else:
            root = home
        used.update(_named(root, base, names))
    return text, frozenset(used)


@cache
def _home(folder: Path) -> Path:
    """Find the folder that a folder's modules are imported from: above its outermost package, or itself."""
    while (folder / "__init__.py").is_file():
        folder = folder.parent
    return folder


def _imports(block: Iterable[ast.AST], inside: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Yield the import statements of a block as a module's name and the names that are taken from it."""
    for node in block:
        if isinstance(node, ast.ImportFrom):
            base = inside[: len(inside) - node.level] if node.level else ()
            yield (*base, *(node.module.split(".") if node.module else ())), [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            for alias in node.names:
                *outer, name = alias.name.split(".")
                yield tuple(outer), [name]
                if alias.asname is None:  # the outermost package gets a name, and all that it holds is within reach
                    for k in range(1, len(outer) + 1):
                        yield tuple(outer[:k]), ["*"]
                if not outer:
                    yield (name,), ["*"]
        elif isinstance(node, ast.If) and _for_types(node.test):
            yield from _imports(node.orelse, inside)
        else:
            for part in _BLOCKS:
                if isinstance(inner := getattr(node, part, None), list):
                    yield from _imports(inner, inside)


def _for_types(test: ast.expr) -> bool:
    """Whether a condition holds for type checkers alone."""
    return "TYPE_CHECKING" in (getattr(test, "id", None), getattr(test, "attr", None))


def _named(root: Path, base: tuple[str, ...], names: list[str]) -> Iterator[Path]:
    """Yield the files that names of a module or a package may come from."""
    module = _file(root, base)
    is_package = module is None or module.name == "__init__.py"
    for name in names:
        inner = _file(root, (*base, name)) if is_package else None
        if inner is not None:
            yield inner
        if module is not None and (inner is None or name in _words(module)):  # it may hide its module of that name
            yield module


@cache
def _words(module: Path) -> frozenset[str]:
    """Find the words of a module's text."""
    return frozenset(re.findall(r"\w+", module.read_text("utf-8", "replace")))


@cache
def _file(root: Path, name: tuple[str, ...]) -> Path | None:
    """Find the file of a module or a package by its full name."""
    place = root.joinpath(*name)
    for path in (place / "__init__.py", place.with_name(f"{place.name}.py")):
        if path.is_file():
            return path
    return None
