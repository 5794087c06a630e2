"""The staircase: every room imports only from rooms below it, by its public names, and no two modules need each other.

Read from the source, nothing is imported.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
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
    {"walks"},
    {"strategy"},
    {"solving"},
    {"endgame", "exploit", "continuous", "tournaments"},
    {"agents"},
    {"evaluation"},
    {"verbs"},
    {"practice"},
    {"explain"},
    {"reproduce"},
    {"interfaces"},
]
STEP: dict[str, float] = {room: height for height, rooms in enumerate(STAIRCASE) for room in rooms}
STEP["testing"] = STEP["agents"] + 0.5  # sees all up to agents, and nobody sees it
MOST_LINES = 600
MOST_NAMES = 25

# Loops are inlined into loops of higher rooms, so kernel modules may use each other's public names. Python code may
# not; what does so still is listed here until the rooms are rebuilt. Nothing is added.
PRIVATE = {
    "abstraction/clustering/board_features.py": {"cards._showdown_kernels"},
    "abstraction/clustering/potential_aware.py": {"cards._isomorphism_kernels"},
    "subgames/values.py": {"solving._kernels", "trees._kernels"},
    "subgames/maxmargin.py": {"solving._kernels"},
    "solvers/mccfr/tables.py": {"abstraction._lookup_kernels"},
    "solvers/tabular/best_response.py": {"trees._kernels"},
    "solvers/exact/sequence_form.py": {"trees._kernels"},
}
# Modules of one room that import one of the same room inside a function, and why.
LATER = {
    "evaluation/best_response/pieces.py": {"evaluation.response_cuda": "brings numba.cuda along"},
    "games/registry.py": {"games.open_spiel": "an optional library"},
    "cli/main.py": {"*": "a command loads what it needs, so that --help is quick"},
    "cli/endgames/commands.py": {"*": "as cli.py"},
    "cli/evaluation/commands.py": {"*": "as cli.py"},
    "cli/explain/commands.py": {"*": "as cli.py"},
    "cli/files/commands.py": {"*": "as cli.py"},
    "cli/explain/explain.py": {"interfaces.explain_plots": "loads matplotlib"},
    "cli/hands/commands.py": {"*": "as cli.py"},
    "cli/hands/statistics.py": {"interfaces.hand_plots": "loads matplotlib"},
    "cli/hands/player_models.py": {"interfaces.hand_plots": "loads matplotlib"},
    "cli/matches/commands.py": {"*": "as cli.py"},
    "cli/models/commands.py": {"*": "as cli.py"},
    "cli/practice/commands.py": {"*": "as cli.py"},
    "cli/matches/ledger.py": {"interfaces.plots": "loads matplotlib"},
    "cli/matches/match.py": {"interfaces.plots": "loads matplotlib"},
    "cli/serve.py": {"*": "as cli.py"},
    "cli/solve/solve.py": {"interfaces.plots": "loads matplotlib"},
    "cli/solve/spots.py": {"interfaces.many_boards": "solves each of its boards by this module"},
    "web/jobs/process.py": {"interfaces.cli": "listens to its server before anything is loaded"},
    "web/serve.py": {"*": "the page is there before what computes is loaded"},
    "cli/train.py": {"interfaces.reproducing": "only after a long run"},
    "solvers/game_values.py": {"solving.lp": "brings SciPy and HiGHS along"},
    "solvers/run.py": {"solving.exact": "`solve` is the one door to all methods"},
    "strategies/files.py": {"strategy.blueprint": "finds its folders by this module"},
    "strategies/tabular.py": {"strategy.open_spiel": "an optional library, and it makes strategies"},
    "trees/history.py": {"trees.draw": "trees draw themselves, and drawings take trees"},
    "trees/public.py": {"trees.draw": "trees draw themselves, and drawings take trees"},
    "engines/devices.py": {
        "walks.cuda_code": "loads CUDA",
        "walks.cuda_walk": "loads CUDA",
        "walks.cuda_points": "loads CUDA",
    },
}


@cache
def parsed(module: Path) -> ast.Module:
    return ast.parse(module.read_text(encoding="utf-8"))


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
    for line, target in imported(parsed(module), package):
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
        ("from riverboat.core.errors import InputError", [], GROUND),
        ("import riverboats", [], None),
        ("if TYPE_CHECKING:\n    from riverboat.solvers import cfr", [], None),
        ("if TYPE_CHECKING:\n    pass\nelse:\n    from riverboat.solvers import cfr", [], "solving"),
        ("from riverboat import __version__", [], None),
    ],
)
def test_imports_are_found(source: str, package: list[str], expected: str | None) -> None:
    found = [room for _, room in imported(ast.parse(source), package)]
    assert found == ([expected] if expected else [])


# --- private names and circles ----------------------------------------------------------------

NAMES = {".".join(m.relative_to(SOURCE).with_suffix("").parts) for m in MODULES}


def is_kernel(name: str) -> bool:
    last = name.rpartition(".")[2]
    return last.endswith("_kernels") or last == "_loops"


def links(tree: ast.AST, names: set[str] = NAMES, inside: bool = False) -> Iterator[tuple[str, str, bool]]:
    """Module, name in it or "", and whether it stands in a function, of every import from riverboat in the long form."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("riverboat."):
            base = node.module.removeprefix("riverboat.")
            for alias in node.names:
                full = f"{base}.{alias.name}"
                yield (full, "", inside) if full in names else (base, alias.name, inside)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("riverboat."):
                    yield alias.name.removeprefix("riverboat."), "", inside
        yield from links(node, names, inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda))


def trespasses(module: str, tree: ast.AST, names: set[str] = NAMES) -> set[str]:
    """Private modules and names of other rooms that a module imports or reaches into."""
    room, found = module.partition(".")[0], set()
    for target, name, _ in links(tree, names):
        if target.partition(".")[0] == room or "." not in target:
            continue
        hidden = target.partition(".")[2].startswith("_") and not (is_kernel(target) and is_kernel(module))
        if hidden or name.startswith("_"):
            found.add(target)
    return found


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Modules that import each other in a circle, or nothing."""
    done: set[str] = set()

    def search(path: list[str]) -> list[str]:
        if path[-1] in path[:-1]:
            return path[path.index(path[-1]) :]
        for target in sorted(graph.get(path[-1], set()) - done):
            if found := search([*path, target]):
                return found
        done.add(path[-1])
        return []

    return next((found for start in sorted(graph) if start not in done and (found := search([start]))), [])


def in_room(later: bool) -> dict[str, set[str]]:
    """Imports between modules of one room, at the top of the file or in functions."""
    graph: dict[str, set[str]] = {}
    for module in MODULES:
        name = ".".join(module.relative_to(SOURCE).with_suffix("").parts)
        for target, _, inside in links(parsed(module)):
            if inside == later and target.partition(".")[0] == name.partition(".")[0] and target != name:
                graph.setdefault(name, set()).add(target)
    return graph


def test_rooms_use_each_other_by_public_names() -> None:
    found = {}
    for module in MODULES:
        name = ".".join(module.relative_to(SOURCE).with_suffix("").parts)
        if some := trespasses(name, parsed(module)):
            found[show(module)] = some
    new = {module: sorted(some - PRIVATE.get(module, set())) for module, some in found.items()}
    assert not {module: some for module, some in new.items() if some}, "imports what another room keeps to itself"
    gone = {module: sorted(some - found.get(module, set())) for module, some in PRIVATE.items()}
    assert not {module: some for module, some in gone.items() if some}, "no longer needed in PRIVATE: take it out"


@pytest.mark.parametrize(
    ("module", "source", "expected"),
    [
        ("b.x", "from riverboat.a._kernels import loop", {"a._kernels"}),
        ("b.x", "from riverboat.a import _kernels", {"a._kernels"}),
        ("b.x", "import riverboat.a._kernels", {"a._kernels"}),
        ("b.x", "def f():\n    from riverboat.a.plain import _name", {"a.plain"}),
        ("b.x", "from riverboat.a.plain import name", set()),
        ("a.x", "from riverboat.a._kernels import loop", set()),
        ("b._kernels", "from riverboat.a._kernels import loop", set()),
        ("b._kernels", "from riverboat.a._kernels import _loop", {"a._kernels"}),
        ("b._loops", "from riverboat.a._other import loop", {"a._other"}),
        ("b.x", "from riverboat.compiled.jit import kernel", set()),
    ],
)
def test_private_imports_are_seen(module: str, source: str, expected: set[str]) -> None:
    names = {"a._kernels", "a._other", "a.plain", "b.x", "b._kernels", "jit"}
    assert trespasses(module, ast.parse(source), names) == expected


def test_no_circles_inside_a_room() -> None:
    assert not circle(in_room(later=False))


def test_circles_are_seen() -> None:
    assert circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"d", "b"}}) == ["b", "c", "b"]


def test_imports_in_functions_are_listed() -> None:
    """They hide circles, so each has a reason."""
    found = {name.replace(".", "/") + ".py": some for name, some in in_room(later=True).items()}
    known = {module: set(some) if "*" not in some else found.get(module, set()) for module, some in LATER.items()}
    assert found == known


# --- size and front door ----------------------------------------------------------------------


def test_modules_stay_small() -> None:
    lines = {show(module): len(module.read_text().splitlines()) for module in MODULES}
    large = {name: count for name, count in lines.items() if count > MOST_LINES}
    assert not large, f"more than {MOST_LINES} lines: {large}"


def test_only_interfaces_print() -> None:
    found = [
        f"{show(module)}:{node.lineno}"
        for module in MODULES
        if room_of(module) != "interfaces"
        for node in ast.walk(parsed(module))
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
    body = parsed(SOURCE / "__init__.py").body
    top = ast.Module([node for node in body if isinstance(node, ast.Import | ast.ImportFrom)], [])
    assert not list(imported(top, []))
    code = "import sys, riverboat; print([name for name in sys.modules if name.startswith('riverboat.')])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_help_waits_for_nothing_heavy() -> None:
    """`--help` is read by people who wait; what takes long to import is imported by the commands that need it."""
    code = "import sys; import riverboat.cli.main; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    heavy = {"numpy", "scipy", "numba", "matplotlib", "pandas", "ray", "highspy"}
    assert not heavy & set(found)
