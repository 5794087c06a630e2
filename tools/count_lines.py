"""Count lines of code under a folder: without docstrings, comments and blank lines.

Usage: python tools/count_lines.py src prints the total, and one row for each package.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

NOT_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def docstring_lines(tree: ast.Module) -> set[int]:
    """Return the line numbers of all docstrings."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and node.body and isinstance(node.body[0], ast.Expr):
            value = node.body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                lines.update(range(value.lineno, (value.end_lineno or value.lineno) + 1))
    return lines


def count(source: str) -> int:
    """Count the lines of one module that hold code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in NOT_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docstring_lines(ast.parse(source)))


def main(folder: str) -> None:
    """Print the count of each package and the total."""
    root = Path(folder)
    counts: Counter[str] = Counter()
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).parts
        counts["/".join(parts[:2]) if len(parts) > 2 else parts[0]] += count(path.read_text(encoding="utf-8"))
    for name, lines in sorted(counts.items()):
        sys.stdout.write(f"{lines:8,}  {name}\n")
    sys.stdout.write(f"{sum(counts.values()):8,}  total\n")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "src")
