"""Names say what they hold, and loops take few things at a time."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "riverboat"
MODULES = sorted([*SOURCE.rglob("*.py"), *(ROOT / "bench").glob("*.py"), *(ROOT / "examples").glob("*.py")])
MOST_ARGUMENTS = 10
COMPILED = ("kernel", "part", "walked_part", "maker", "njit", "jit", "cuda.jit")
EMPTY = ("Tables", "Frames", "Found", "Data", "Info", "Stuff")  # of classes: what of, and what for?

# Loops that take more, and why (docs/decisions/0045-bundles-of-arrays.md).
_BOARDS = "of the walk over boards: search calls it for many small subgames, and bundled its checks took a tenth longer"
_DEVICE = "of the device: what it is given lies in registers"
MANY: dict[str, str] = {
    f"{module}.py: {name}": reason
    for module, names, reason in (
        ("trees/_board_kernels", ("order_hands", "lay_showdown"), _BOARDS),
        ("walks/_board_kernels", ("visit", "work"), _BOARDS),
        ("walks/_node_kernels", ("matched", "play", "mean_play", "absorb", "down", "up"), _BOARDS),
        ("walks/rules", ("play", "absorb"), _BOARDS),
        ("walks/_cuda_kernels", ("follow", "inner_board", "walk"), _DEVICE),
        ("walks/_cuda_kernels", ("last_boards",), _DEVICE),
        (
            "walks/_cuda_node_kernels",
            (
                "descend_mine",
                "ascend",
            ),
            _DEVICE,
        ),
    )
    for name in names
}


def bound(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Names that are given to something: of variables, arguments, fields, functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node.lineno


def say_nothing(tree: ast.AST) -> list[str]:
    """Names that would fit anything: `found`, whatever was found; tables, of whatever."""
    return sorted(
        f"line {line}: {name}"
        for name, line in set(bound(tree))
        if re.match(r"_*found(_|\d|$)", name, re.IGNORECASE) or name.lstrip("_") in EMPTY
    )


def arguments(tree: ast.AST, module: str) -> Iterator[tuple[str, int]]:
    """Compiled functions of a module, and how many arguments they take."""
    loops = module.endswith(("_kernels.py", "_loops.py"))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            marks = {ast.unparse(mark).partition("(")[0] for mark in node.decorator_list}
            if loops or marks & set(COMPILED):
                given = node.args
                yield node.name, len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs)


def show(path: Path) -> str:
    return path.relative_to(SOURCE if SOURCE in path.parents else ROOT).as_posix()


@cache
def parsed() -> dict[Path, ast.Module]:
    return {module: ast.parse(module.read_text()) for module in MODULES}


def test_names_say_something() -> None:
    empty = {show(module): say_nothing(tree) for module, tree in parsed().items()}
    assert {module: names for module, names in empty.items() if names} == {}


def test_loops_take_few_things() -> None:
    """What travels together is a NamedTuple of arrays, which costs nothing."""
    large = {
        f"{show(module)}: {name}": count
        for module, tree in parsed().items()
        for name, count in arguments(tree, module.name)
        if count > MOST_ARGUMENTS
    }
    assert {name: count for name, count in large.items() if name not in MANY} == {}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("found = 1", 1),
        ("found_it: int = 1", 1),
        ("for found in x: pass", 1),
        ("def f(found): pass", 1),
        ("[found for found in x]", 1),
        ("if found := f(): pass", 1),
        ("class A:\n    def __init__(self):\n        self.found = 1", 1),
        ("class Tables: pass", 1),
        ("class _Frames: pass", 1),
        ("class Found: pass", 1),
        ("foundation = 1", 0),
        ("class RegretTables: pass", 0),
        ("result = find(x)", 0),
        ("print('found')", 0),
    ],
)
def test_names_that_say_nothing_are_seen(source: str, expected: int) -> None:
    assert len(say_nothing(ast.parse(source))) == expected


@pytest.mark.parametrize(
    ("source", "module", "expected"),
    [
        ("@kernel\ndef f(a, b): pass", "x.py", [("f", 2)]),
        ("@njit(nogil=True)\ndef f(a, *, b): pass", "x.py", [("f", 2)]),
        ("@cuda.jit\ndef f(a): pass", "x.py", [("f", 1)]),
        ("def f(a, b, c): pass", "_kernels.py", [("f", 3)]),
        ("def f(a, b, c): pass", "x.py", []),
    ],
)
def test_arguments_are_counted(source: str, module: str, expected: list[tuple[str, int]]) -> None:
    assert list(arguments(ast.parse(source), module)) == expected
