"""Move modules as `docs/renames.md` says: `python tools/move_modules.py ROOT`, in a checkout without changes.

Rewrites imports (by syntax trees), dotted names and paths in strings and pages, then moves the files with git. Local names of
modules follow where nothing else in the file has the new name; elsewhere they stay, by `as`. Run ruff afterwards.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

PACKAGES = {
    "abstraction": "abstraction", "agents": "agents", "cards": "cards", "continuous": "continuous", "endgame": "subgames",
    "evaluation": "evaluation", "explain": "explain", "exploit": "opponents", "games": "games", "interfaces": "cli",
    "interfaces.web": "web", "practice": "practice", "reproduce": "papers", "solving": "solvers", "strategy": "strategies",
    "testing": "testing", "tournaments": "tournaments", "trees": "trees", "verbs": "api", "walks": "engines",
}  # fmt: skip
DATA = {
    "interfaces/web/page": "web/page",
    "games/game_files": "games/holdem/game_files",
    "solving/train_recipes": "solvers/mccfr/recipes",
}
_DOTTED = re.compile(r"\briverboat((?:\.[A-Za-z_]\w*)+)")
_QUOTED = re.compile(rf"(?<=`)((?:{'|'.join(PACKAGES)})(?:\.[A-Za-z_]\w*)+)(?=[`( ])")
_PATH = re.compile(r"(?<![\w-])((?:[a-z_]+/)*[A-Za-z_]\w*)\.py\b")


class Mover:
    """The mapping, and what it makes of texts."""

    def __init__(self, root: Path) -> None:
        self.root, self.source = root, root / "src" / "riverboat"
        modules = {
            ".".join(path.relative_to(self.source).with_suffix("").parts)
            for path in self.source.rglob("*.py")
            if path.name != "__init__.py"
        }
        rows = re.findall(r"^\| `([\w.]+)` \| `([\w.]+)` \|", (root / "docs" / "renames.md").read_text("utf-8"), re.M)
        self.new = {module: module for module in modules} | {old: new for old, new in rows if old in modules}

    def moved(self, dotted: str) -> str | None:
        """Return the new name of a module, package, or name in one; None where it is none of ours."""
        parts = dotted.split(".")
        for table in (self.new, PACKAGES):
            for k in range(len(parts), 0, -1):
                if (head := ".".join(parts[:k])) in table:
                    return ".".join([table[head], *parts[k:]])
        return None

    def imports(self, text: str) -> str:
        """Rewrite the imports of a module, and the local names of modules that got other ones."""
        tree, lines = ast.parse(text), text.encode().split(b"\n")
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line) + 1)
        found = [
            node for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").partition(".")[0] == "riverboat"
        ]  # fmt: skip
        names, renamed = _names(tree, found, self.new), dict[str, str]()
        locals_ = {alias.asname or alias.name for node in found for alias in node.names}
        edits: list[tuple[int, int, str]] = []
        for node in found:
            base = (node.module or "").partition(".")[2]
            groups: dict[str, list[str]] = {}
            for alias in node.names:
                package, word = self._import(base, alias, names, locals_, renamed)
                groups.setdefault(package, []).append(word)
            indent = " " * node.col_offset
            new = f"\n{indent}".join(f"from {package} import {', '.join(words)}" for package, words in groups.items())
            at = starts[node.lineno - 1] + node.col_offset
            edits.append((at, starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0), new))
        for name in ast.walk(tree):
            if isinstance(name, ast.Name) and name.id in renamed:
                at = starts[name.lineno - 1] + name.col_offset
                edits.append((at, at + len(name.id.encode()), renamed[name.id]))
        data = text.encode()
        for begin, end, new in sorted(edits, reverse=True):
            data = data[:begin] + new.encode() + data[end:]
        return data.decode()

    def _import(
        self, base: str, alias: ast.alias, names: set[str], locals_: set[str], renamed: dict[str, str]
    ) -> tuple[str, str]:
        """Return the package and the words of one imported name."""
        full = f"{base}.{alias.name}" if base else alias.name
        if full not in self.new:
            new = self.new.get(base) or PACKAGES.get(base)
            as_what = f" as {alias.asname}" if alias.asname else ""
            return f"riverboat.{new}" if new else f"riverboat.{base}" if base else "riverboat", alias.name + as_what
        parent, _, leaf = self.new[full].rpartition(".")
        package = f"riverboat.{parent}" if parent else "riverboat"
        if alias.asname:
            return package, leaf if alias.asname == leaf != alias.name else f"{leaf} as {alias.asname}"
        if leaf == alias.name:
            return package, leaf
        taken = {new for old, new in renamed.items() if old != alias.name}
        if alias.name in names or leaf in names | taken | locals_:
            return package, f"{leaf} as {alias.name}"
        renamed[alias.name] = leaf
        return package, leaf

    def words(self, text: str, *, code: bool) -> str:
        """Rewrite dotted names and paths in strings, comments and pages."""

        def dotted(match: re.Match[str]) -> str:
            new = self.moved(match[1][1:])
            return f"riverboat.{new}" if new else match[0]

        def quoted(match: re.Match[str]) -> str:
            inside = any(match[1] == module or match[1].startswith(f"{module}.") for module in self.new)
            return (self.moved(match[1]) or match[1]) if inside else match[0]

        def path(match: re.Match[str]) -> str:
            short = match[1].removeprefix("src/riverboat/").removeprefix("riverboat/")
            module = short.replace("/", ".")
            if module not in self.new or ("/" not in short and match[1] == short):
                return match[0]
            return f"{match[1][: len(match[1]) - len(short)]}{self.new[module].replace('.', '/')}.py"

        done = [
            line if code and re.match(r"\s*(from|import) riverboat", line) else _DOTTED.sub(dotted, line)
            for line in text.split("\n")
        ]
        text = _PATH.sub(path, _QUOTED.sub(quoted, "\n".join(done)))
        for old, new in DATA.items():
            text = text.replace(old, new)
        return text

    def move_files(self) -> None:
        """Move modules and data, in two steps, since a name may be another module's old one."""
        for old, new in PACKAGES.items():
            self._git("mv", f"{old.replace('.', '/')}/__init__.py", f"__init_{new}.py")
        for old, new in DATA.items():
            (self.source / new).parent.mkdir(parents=True, exist_ok=True)
            self._git("mv", old, new)
        others = {old: new for old, new in self.new.items() if old != new}
        for old in others:
            self._git("mv", f"{old.replace('.', '/')}.py", f"{old}.moving")
        for old, new in others.items():
            (self.source / new.replace(".", "/")).parent.mkdir(parents=True, exist_ok=True)
            self._git("mv", f"{old}.moving", f"{new.replace('.', '/')}.py")
        for new in PACKAGES.values():
            (self.source / new).mkdir(parents=True, exist_ok=True)
            self._git("mv", f"__init_{new}.py", f"{new}/__init__.py")
        page = (self.root / "docs" / "renames.md").read_text("utf-8")
        for package, docstring in re.findall(r"^\| ([\w.]+) \| (.+) \|$", page.partition("## New packages")[2], re.M)[
            1:
        ]:
            home = self.source / package.replace(".", "/")
            home.mkdir(parents=True, exist_ok=True)
            (home / "__init__.py").write_text(f'"""{docstring}"""\n', "utf-8")
        for folder in [path for path in self.source.rglob("_kernels") if path.is_dir()]:
            (folder / "__init__.py").write_text('"""Compiled loops: arrays and scalars in, arrays out."""\n', "utf-8")

    def _git(self, verb: str, *paths: str) -> None:
        subprocess.run(["git", verb, *paths], cwd=self.source, check=True)


def _names(tree: ast.AST, found: Iterable[ast.ImportFrom], modules: dict[str, str]) -> set[str]:
    """Names that a file binds or uses, other than those of modules that get another one."""
    own = set()
    for node in found:
        base = (node.module or "").partition(".")[2]
        for alias in node.names:
            new = modules.get(f"{base}.{alias.name}" if base else alias.name)
            if alias.asname is None and new is not None and new.rpartition(".")[2] != alias.name:
                own.add((node, alias.name))
    imported = {name for _, name in own}
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not (isinstance(node.ctx, ast.Load) and node.id in imported):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler):
            names |= {node.name} if node.name else set()
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {one.asname or one.name.partition(".")[0] for one in node.names if (node, one.name) not in own}
    return names


def main() -> None:
    """Move everything below a root."""
    root = Path(sys.argv[1]).resolve()
    mover = Mover(root)
    for folder in ("src/riverboat", "tests", "bench", "examples"):
        for path in (root / folder).rglob("*.py"):
            text = path.read_text("utf-8")
            path.write_text(mover.words(mover.imports(text), code=True), "utf-8")
    pages = [path for path in (root / "docs").rglob("*.md") if path.name != "renames.md"]
    for path in (*pages, *(root / name for name in ("README.md", "CONTRIBUTING.md", "pyproject.toml", "Makefile"))):
        path.write_text(mover.words(path.read_text("utf-8"), code=False), "utf-8")
    mover.move_files()


if __name__ == "__main__":
    main()
