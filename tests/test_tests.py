"""Tests of the tests: each can fail, and none is skipped because a package is missing."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.conftest import LONG

ROOT = Path(__file__).parent.parent
FILES = sorted((ROOT / "tests").rglob("*.py"))

# Allowed conditions of a skip: a package of the extra `dev`, or the reason for an exception.
OPTIONAL = {
    "pyspiel": "open_spiel",
    "pokerkit": "pokerkit",
    "pydantic": "fastapi",  # which depends on it
    "pygambit": "takes minutes to build; its answers are recorded, and slow tests compare them",
    "ray": "large, and an extra of its own; slow tests",
    "resource": "part of Python, but not on Windows",
}


def calls(tree: ast.AST) -> Iterator[str]:
    """The last name of every call."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            yield function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def asserts(tree: ast.AST) -> bool:
    return any(isinstance(node, ast.Assert) for node in ast.walk(tree)) or any(
        name in ("raises", "warns", "fail") or name.startswith(("assert_", "check_")) for name in calls(tree)
    )


def helpers(trees: list[ast.Module]) -> set[str]:
    """Functions that fail on errors, directly or through a function that they call."""
    candidates = [f for tree in trees for f in functions(tree) if not f.name.startswith("test_")]
    result = {f.name for f in candidates if asserts(f)}
    while more := {f.name for f in candidates if f.name not in result and result & set(calls(f))}:
        result |= more
    return result


def toothless(tree: ast.Module, helping: set[str]) -> list[str]:
    """Tests without assertions."""
    return [
        f"line {f.lineno}: {f.name}"
        for f in functions(tree)
        if f.name.startswith("test_") and not asserts(f) and not helping & set(calls(f))
    ]


def truisms(tree: ast.Module) -> list[str]:
    """Assertions that always hold: constants, and values compared with themselves."""
    result = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assert):
            continue
        test = node.test
        constant = isinstance(test, ast.Constant | ast.JoinedStr | ast.Lambda) or (
            isinstance(test, ast.Tuple | ast.List) and bool(test.elts)
        )
        same = isinstance(test, ast.Compare) and ast.dump(test.left) == ast.dump(test.comparators[0])
        module = (
            isinstance(test, ast.Compare)
            and isinstance(test.left, ast.Call)
            and getattr(test.left.func, "attr", "") == "import_module"
        )
        if constant or same or module:
            result.append(f"line {node.lineno}: {ast.unparse(test)}")
    return result


@cache
def parsed() -> dict[Path, ast.Module]:
    return {file: ast.parse(file.read_text()) for file in FILES}


@cache
def all_helpers() -> set[str]:
    return helpers(list(parsed().values()))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_every_test_can_fail(file: Path) -> None:
    assert not toothless(parsed()[file], all_helpers())
    assert not truisms(parsed()[file])


@pytest.mark.parametrize(
    ("body", "right"),
    [
        ("assert f() == 1", True),
        ("f()", False),
        ("with pytest.raises(ValueError):\n        f()", True),
        ("np.testing.assert_array_equal(f(), 1)", True),
        ("check_game(f())", True),
        ("compare(f())", True),
        ("indirect(f())", True),
        ("harmless(f())", False),
        ("assert True", False),
        ("assert 'f'", False),
        ("assert (f(), 'why')", False),
        ("assert f == f", False),
        ("assert importlib.import_module('m') is m", False),
    ],
)
def test_tests_that_cannot_fail_are_found(body: str, right: bool) -> None:
    source = (
        "def compare(x):\n    assert x\ndef indirect(x):\n    compare(x)\ndef harmless(x):\n    return x\n"
        f"def test_it():\n    {body}\n"
    )
    tree = ast.parse(source)
    assert (not toothless(tree, helpers([tree])) and not truisms(tree)) == right


def test_nothing_is_skipped_for_want_of_a_package() -> None:
    """A test that needs a package runs: `make test` installs the package, or it is a listed exception."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    named = re.search(r"\[(.*)\]", next(text for text in extras["dev"] if text.startswith("riverboat[")))
    assert named is not None
    installed = " ".join(
        extras["dev"] + [text for extra in named[1].split(",") for text in extras[extra]] + project["dependencies"]
    )
    for file, tree in parsed().items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in ("importorskip", "find_spec"):
                target = node.args[0]
                assert isinstance(target, ast.Constant)
                assert target.value in OPTIONAL, f"{file.name}:{node.lineno}: {target.value}"
                package = OPTIONAL[target.value]
                assert package in installed or " " in package
            assert name not in ("skip", "xfail"), f"{file.name}:{node.lineno}: {name}"


def test_unix_tests_are_marked() -> None:
    """Windows cannot signal a single process (`process.kill()` works) and has no devices: such tests are skipped there."""
    alone = re.compile(r"send_signal\(|os\.kill\(|signal\.SIG(?:KILL|HUP|USR)|os\.mkfifo\(")
    for file, tree in parsed().items():
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and alone.search(ast.unparse(node)):
                marks = " ".join(map(ast.unparse, node.decorator_list))
                assert "posix" in marks or "skipif" in marks, f"{file.name}:{node.lineno}: {node.name}"


def test_listed_slow_files_exist() -> None:
    assert all((ROOT / "tests" / name).is_file() for name in LONG)
    assert len(set(LONG)) == len(LONG)


def test_file_names_are_unique() -> None:
    """Two test files of one name cannot be collected in one run, although each passes alone."""
    names = [file.name for file in FILES if file.name.startswith("test_")]
    assert [name for name in sorted(set(names)) if names.count(name) > 1] == []


def test_processes_are_started_in_one_place() -> None:
    """Processes of the fixture `processes` end with the test; others would survive a failed test."""
    result = [
        f"{file.relative_to(ROOT)}: {name}"
        for file, tree in parsed().items()
        for name in calls(tree)
        if name in ("Popen", "Process", "fork") and file.name not in ("processes.py", "nursery.py")
    ]
    assert result == []
