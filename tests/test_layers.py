"""Import order: a package imports only from packages below it, by public names, and there are no import cycles.

The source is parsed; nothing is imported.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import riverboat

SOURCE = Path(riverboat.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))
API = "the public API"  # riverboat/__init__.py

# From the bottom up; packages on one line do not import each other.
LAYERS: list[set[str]] = [
    {"core"},
    {"compiled", "plots"},
    {"cards"},
    {"games"},
    {"abstraction"},
    {"trees"},
    {"formats"},
    {"engines"},
    {"strategies"},
    {"solvers"},
    {"subgames", "opponents", "continuous", "tournaments"},
    {"agents"},
    {"evaluation"},
    {"api"},
    {"practice"},
    {"explain"},
    {"reports"},
    {"papers", "benchmarks"},
    {"acpc"},
    {"cli"},
    {"web"},
]
LEVEL: dict[str, float] = {package: level for level, packages in enumerate(LAYERS) for package in packages}
LEVEL["testing"] = LEVEL["agents"] + 0.5  # imports everything up to agents, and nothing imports it
LEVEL["research"] = LEVEL["api"] + 0.5  # names for users: nothing imports it
LEVEL["__main__"] = LEVEL["cli"] + 0.5  # `python -m riverboat`

# Imports that go up, inside functions, and why.
UPWARD: dict[str, dict[str, str]] = {
    "cli.serve": {"web.serve": "`riverboat serve` starts the server"},
    "trees.compile": {"solvers.game_values": "games by name include those that need the values of smaller games"},
    "games.registry": {"formats.open_spiel_games": "games by name include those of an optional library"},
}
MAX_MODULES = 25  # directly in one folder
MAX_NAMES = 30  # of the public API


def dotted(path: Path) -> str:
    """Name a module below riverboat; a package has the name of its folder."""
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


NAMES = {dotted(path) for path in MODULES}


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def package_of(name: str) -> str:
    return API if name == "__init__" else name.partition(".")[0]


def imports(tree: ast.AST, names: set[str] = NAMES, lazy: bool = False) -> Iterator[tuple[str, str, int, bool]]:
    """Yield module, imported name or "", line, and whether the import is in a function, for imports from riverboat.

    Imports for type checkers only and of the version are not counted.
    """
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            yield from imports(ast.Module(node.orelse, []), names, lazy)
            continue
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"relative import in line {node.lineno}"
            base = node.module or ""
            if base.partition(".")[0] == "riverboat":
                base = base.removeprefix("riverboat").removeprefix(".")
                for alias in node.names:
                    full = f"{base}.{alias.name}".removeprefix(".")
                    if full == "__version__":
                        continue
                    yield (full, "", node.lineno, lazy) if full in names else (base, alias.name, node.lineno, lazy)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] == "riverboat":
                    yield alias.name.removeprefix("riverboat").removeprefix("."), "", node.lineno, lazy
        function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from imports(node, names, lazy or function)


def upward(name: str, tree: ast.AST, names: set[str] = NAMES) -> list[str]:
    """List the imports of a module that do not go down."""
    package = package_of(name)
    wrong = []
    for target, _, line, lazy in imports(tree, names):
        if not target:
            wrong.append(f"line {line}: imports the public API, which is for users")
            continue
        other = package_of(target)
        above = LEVEL[other] >= LEVEL[package] or other == "testing"
        if other != package and above and not (lazy and target in UPWARD.get(name, {})):
            wrong.append(f"line {line}: {package} imports {target}, which is not below it")
    return wrong


def test_every_package_has_a_level() -> None:
    assert {package_of(dotted(path)) for path in MODULES} - set(LEVEL) - {API, ""} <= {"__init__"}


@pytest.mark.parametrize("path", [pytest.param(p, id=dotted(p)) for p in MODULES if p.parent != SOURCE])
def test_imports_go_down(path: Path) -> None:
    assert not upward(dotted(path), parse(path))


@pytest.mark.parametrize(
    ("source", "allowed"),
    [
        ("import riverboat", False),
        ("from riverboat import solve", False),
        ("from riverboat import __version__", True),
        ("from riverboat.games.base import Game", True),
        ("def f():\n    from riverboat.trees import public", True),
        ("from riverboat.solvers import run", True),
        ("from riverboat.agents import base", False),
        ("def f():\n    from riverboat.agents import base", False),
        ("if TYPE_CHECKING:\n    from riverboat.agents import base", True),
        ("if TYPE_CHECKING:\n    pass\nelse:\n    from riverboat.agents import base", False),
        ("import riverboats", True),
        ("import riverboat.cli.main", False),
        ("from riverboat.testing import games", False),
    ],
)
def test_upward_imports_are_found(source: str, allowed: bool) -> None:
    assert (not upward("solvers.example", ast.parse(source))) is allowed


# --- interfaces call the API ---

# Command line and web server import these packages, and nothing else: notation, rules, the API and what stands above it.
INTERFACES = ("cli", "web")
FOR_INTERFACES = {
    "core", "plots", "cards", "games", "formats",
    "api", "practice", "explain", "reports", "papers", "benchmarks", "acpc", *INTERFACES,
}  # fmt: skip
PACKAGES_FOR_INTERFACES = ("strategies.reports",)


def below_the_api(tree: ast.AST, names: set[str] = NAMES) -> list[str]:
    """List the imports of an interface that are neither the API nor allowed next to it."""
    return [
        f"line {line}: {target}"
        for target, _, line, _ in imports(tree, names)
        if package_of(target) not in FOR_INTERFACES and not target.startswith(PACKAGES_FOR_INTERFACES)
    ]


@pytest.mark.parametrize(
    "path", [pytest.param(p, id=dotted(p)) for p in MODULES if package_of(dotted(p)) in INTERFACES]
)
def test_interfaces_call_the_api(path: Path) -> None:
    assert below_the_api(parse(path)) == []


@pytest.mark.parametrize(
    ("source", "allowed"),
    [
        ("from riverboat.api.match import match", True),
        ("from riverboat.strategies.reports import node", True),
        ("from riverboat.games.holdem.rules import read_game", True),
        ("if TYPE_CHECKING:\n    from riverboat.strategies.solution import Solution", True),
        ("from riverboat.strategies.solution import Solution", False),
        ("def f():\n    from riverboat.agents.registry import make_agent", False),
        ("import riverboat.solvers.run", False),
    ],
)
def test_imports_below_the_api_are_found(source: str, allowed: bool) -> None:
    assert (not below_the_api(ast.parse(source))) is allowed


# --- private names -----------------------------------------------------------------------------


def is_private(name: str) -> bool:
    return any(part.startswith("_") for part in name.split("."))


def is_kernel(name: str) -> bool:
    return "_kernels" in name.split(".")


def private_imports(name: str, tree: ast.AST, names: set[str] = NAMES) -> list[tuple[str, int]]:
    """List private modules and names of other packages that a module imports, with lines.

    Kernels are inlined into kernels of other packages, so kernel modules may use each other's public names.
    """
    return [
        (f"{target}.{imported}".rstrip("."), line)
        for target, imported, line, _ in imports(tree, names)
        if package_of(target) != package_of(name)
        and (imported.startswith("_") or (is_private(target) and not (is_kernel(target) and is_kernel(name))))
    ]


# Packages whose Python code calls kernels of another package.
KERNEL_USERS = {
    ("abstraction", "cards"),
    ("opponents", "trees"),
    ("solvers", "abstraction"),
    ("solvers", "engines"),
    ("solvers", "trees"),
    ("subgames", "solvers"),
    ("subgames", "trees"),
}


def test_packages_use_public_names_of_each_other() -> None:
    wrong, used = [], set()
    for path in MODULES:
        for target, line in private_imports(dotted(path), parse(path)):
            pair = package_of(dotted(path)), package_of(target)
            if is_kernel(target) and pair in KERNEL_USERS:
                used.add(pair)
            else:
                wrong.append(f"{dotted(path)}:{line}: {target}")
    assert not wrong
    assert used == KERNEL_USERS


@pytest.mark.parametrize(
    ("name", "source", "private"),
    [
        ("b.x", "from riverboat.a._kernels import loop", True),
        ("b.x", "from riverboat.a import _kernels", True),
        ("b.x", "import riverboat.a._kernels", True),
        ("b.x", "def f():\n    from riverboat.a.plain import _name", True),
        ("b.x", "from riverboat.a.plain import name", False),
        ("a.x", "from riverboat.a._kernels import loop", False),
        ("b._kernels", "from riverboat.a._kernels import loop", False),
        ("b._kernels.one", "from riverboat.a._kernels import _loop", True),
        ("b._kernels", "from riverboat.a._other import loop", True),
    ],
)
def test_private_imports_are_found(name: str, source: str, private: bool) -> None:
    names = {"a._kernels", "a._other", "a.plain", "b.x", "b._kernels"}
    assert bool(private_imports(name, ast.parse(source), names)) is private


# --- cycles -----------------------------------------------------------------------------------


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Find an import cycle."""
    done: set[str] = set()

    def search(path: list[str]) -> list[str]:
        if path[-1] in path[:-1]:
            return path[path.index(path[-1]) :]
        for target in sorted(graph.get(path[-1], set()) - done):
            if result := search([*path, target]):
                return result
        done.add(path[-1])
        return []

    return next((result for start in sorted(graph) if start not in done and (result := search([start]))), [])


def test_no_import_cycles() -> None:
    graph: dict[str, set[str]] = {}
    for path in MODULES:
        name = dotted(path)
        graph[name] = {target for target, _, _, lazy in imports(parse(path)) if not lazy and target != name}
    assert not circle(graph)


def test_import_cycles_are_found() -> None:
    assert circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"d", "b"}}) == ["b", "c", "b"]


# --- matplotlib ---


def test_only_plots_import_matplotlib() -> None:
    """Types are annotations, imported as `from matplotlib.figure import Figure` for type checkers."""
    uses = re.compile(r"^ *(?:import|from) matplotlib(?!\.figure import Figure\n)", re.MULTILINE)
    assert {package_of(dotted(path)) for path in MODULES if uses.search(path.read_text("utf-8"))} == {"plots"}


# --- packages and the public API ---------------------------------------------------------------


def test_folders_are_small() -> None:
    folders = {path.parent for path in MODULES}
    large = {str(f.relative_to(SOURCE)): n for f in folders if (n := len([*f.glob("*.py")]) - 1) > MAX_MODULES}
    assert not large


def test_only_interfaces_print() -> None:
    calls = [
        f"{dotted(path)}:{node.lineno}"
        for path in MODULES
        if package_of(dotted(path)) not in ("cli", "web", "acpc")
        for node in ast.walk(parse(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert not calls


def test_the_public_api_is_small() -> None:
    names: list[str] = list(riverboat.__all__)
    assert len(set(names)) == len(names) <= MAX_NAMES
    assert all(hasattr(riverboat, name) for name in names)


def test_importing_the_package_loads_nothing_else() -> None:
    code = "import sys, riverboat; print([name for name in sys.modules if name.startswith('riverboat.')])"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == "[]"


def test_help_loads_nothing_heavy() -> None:
    code = "import sys; import riverboat.cli.main; print(*sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert not {"numpy", "scipy", "numba", "matplotlib", "pandas", "ray", "highspy"} & set(printed)
