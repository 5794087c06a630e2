"""The staircase: every room imports only from rooms below it. Read from the source, nothing is imported."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import riverboat

SOURCE = Path(riverboat.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))

GROUND = "the ground"  # files directly under the package: errors, how loops are compiled, …
FRONT_DOOR = "the front door"

# From the ground up; rooms on one step do not see each other.
STAIRCASE: list[set[str]] = [
    {GROUND},
    {"cards"},
    {"games"},
    {"abstraction"},
    {"trees"},
    {"strategy"},
    {"solving"},
    {"endgame", "exploit"},
    {"agents"},
    {"evaluation"},
    {"explain"},
    {"reproduce"},
    {"interfaces"},
]
STEP: dict[str, float] = {room: height for height, rooms in enumerate(STAIRCASE) for room in rooms}
STEP["testing"] = STEP["agents"] + 0.5  # sees all up to agents, and nobody sees it
MOST_LINES = 600
MOST_NAMES = 25


def show(module: Path) -> str:
    return module.relative_to(SOURCE).as_posix()


def room_of(module: Path) -> str:
    """The folder directly under the package that a module belongs to."""
    first, *rest = module.relative_to(SOURCE).parts
    return first if rest else FRONT_DOOR if first == "__init__.py" else GROUND


# What `riverboat.NAME` is: a room, or a file on the ground. Rooms that are yet to be built have their place already.
ROOMS = {room: room for room in STEP} | {m.stem: GROUND for m in MODULES if room_of(m) == GROUND}


def executed(node: ast.AST) -> Iterator[ast.AST]:
    """Like `ast.walk`, without what stands under `if TYPE_CHECKING:`."""
    yield node
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        children: list[ast.AST] = [*node.orelse]
    else:
        children = [*ast.iter_child_nodes(node)]
    for child in children:
        yield from executed(child)


def imported(tree: ast.Module, package: list[str]) -> Iterator[tuple[int, str]]:
    """Line and room of every import from riverboat, wherever it stands in the file.

    `package` is where the module lives, below riverboat, so that relative imports can be followed. Imports for
    type checkers alone do not count, since they do not happen; nor does the version, which is no code.
    """
    for node in executed(tree):
        if isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module.split(".") if node.module else []
            if node.level:
                base = ["riverboat", *package[: len(package) + 1 - node.level], *base]
            # `from riverboat import games` is the room, `from riverboat import solve` the front door.
            names = [[*base, alias.name] for alias in node.names]
        else:
            continue
        for name in names:
            if name[0] == "riverboat" and name != ["riverboat", "__version__"]:
                yield node.lineno, ROOMS.get(name[1], FRONT_DOOR) if len(name) > 1 else FRONT_DOOR


def leaks(module: Path) -> list[str]:
    """Imports of a module that do not go down."""
    room = room_of(module)
    package = list(module.relative_to(SOURCE).parts[:-1])
    found = []
    for line, target in imported(ast.parse(module.read_text()), package):
        where = f"{show(module)}:{line}"
        if target == FRONT_DOOR:
            found.append(f"{where}: imports the front door, which is for users: import from the room")
        elif target != room and (STEP[target] >= STEP[room] or target == "testing"):
            found.append(f"{where}: {room} imports {target}, which is not below it")
    return found


def test_every_room_has_a_step() -> None:
    unknown = {room_of(module) for module in MODULES} - set(STEP) - {FRONT_DOOR}
    assert not unknown, f"no place in the staircase: {sorted(unknown)}"


@pytest.mark.parametrize(
    "module",
    [
        pytest.param(m, id=show(m))
        for m in MODULES
        if room_of(m) != FRONT_DOOR  # it may import anything, on demand
    ],
)
def test_imports_go_down(module: Path) -> None:
    assert not leaks(module), "\n".join(leaks(module))


@pytest.mark.parametrize(
    ("source", "package", "expected"),
    [
        ("import riverboat", [], FRONT_DOOR),
        ("import riverboat as rb", [], FRONT_DOOR),
        ("from riverboat import solve", [], FRONT_DOOR),
        ("from riverboat import games", [], "games"),
        ("import riverboat.games.base", [], "games"),
        ("from riverboat.games.base import Game", [], "games"),
        ("def f():\n    from riverboat.trees import public", [], "trees"),
        ("from . import base", ["games"], "games"),
        ("from .base import Game", ["games"], "games"),
        ("from .. import games", ["trees"], "games"),
        ("from ..games.base import Game", ["trees"], "games"),
        ("from riverboat.errors import InputError", [], GROUND),
        ("import riverboats", [], None),
        ("if TYPE_CHECKING:\n    from riverboat.solving import cfr", [], None),
        ("if TYPE_CHECKING:\n    pass\nelse:\n    from riverboat.solving import cfr", [], "solving"),
        ("from riverboat import __version__", [], None),
    ],
)
def test_imports_are_found(source: str, package: list[str], expected: str | None) -> None:
    found = [room for _, room in imported(ast.parse(source), package)]
    assert found == ([expected] if expected else [])


def test_modules_stay_small() -> None:
    lines = {show(module): len(module.read_text().splitlines()) for module in MODULES}
    large = {name: count for name, count in lines.items() if count > MOST_LINES}
    assert not large, f"more than {MOST_LINES} lines: {large}"


def test_only_interfaces_print() -> None:
    found = [
        f"{show(module)}:{node.lineno}"
        for module in MODULES
        if room_of(module) != "interfaces"
        for node in ast.walk(ast.parse(module.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert not found, f"print outside interfaces: {found}"


def test_the_front_door_is_narrow() -> None:
    names: list[str] = list(getattr(riverboat, "__all__", []))
    assert len(names) <= MOST_NAMES
    assert len(set(names)) == len(names)
    missing = []
    for name in names:
        try:
            getattr(riverboat, name)
        except (AttributeError, ImportError) as error:
            missing.append(f"{name}: {error}")
    assert not missing, missing


def test_the_front_door_is_light() -> None:
    """Names load on first use: at its top level the package imports nothing of its own."""
    body = ast.parse((SOURCE / "__init__.py").read_text()).body
    top = ast.Module([node for node in body if isinstance(node, ast.Import | ast.ImportFrom)], [])
    assert not list(imported(top, []))
    assert importlib.import_module("riverboat") is riverboat
