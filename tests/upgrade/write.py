"""Write the artifacts of `tests/upgrade` with the installed code: `python -m tests.upgrade.write COMMIT`.

Each kind of file that Riverboat writes, as small as possible, and the output of the commands that read it. The test
opens them with today's code and compares. The archive is written once for a commit and never again.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ARCHIVE = Path(__file__).parent / "artefacts.tar.xz"
NFG = 'NFG 1 R "pennies" { "a" "b" } { 2 2 }\n\n1 -1 -1 1 -1 1 1 -1\n'
SPOT = ["--board", "2s3s5hJdQc", "--pot", "10", "--stack", "20", "--oop", "AA,KK", "--ip", "QQ,AA", "--bets", "50%"]
RECIPE = 'game = "leduc"\nabstraction = "lossless"\n'
TOURNAMENT = "players = 2\nchips = 1200\nunit = 300\nblinds = [150, 300]\npayouts = [65, 35]\n"

# Commands that make each artifact in the folder of the archive; then those that read or resume it.
WRITTEN: dict[str, list[str]] = {
    "kuhn": ["solve", "kuhn", "--method", "lp"],
    "leduc": ["solve", "leduc", "--schedule", "pcfr+", "--iterations", "20"],
    "sampled": ["solve", "kuhn", "--traversal", "external", "--iterations", "20"],
    "three": ["solve", "kuhn:players=3", "--iterations", "20"],
    "file": ["solve", "pennies.nfg", "--iterations", "20"],
    "river": ["solve", "spot", *SPOT, "--iterations", "20"],
    "compact": ["solve", "spot", *SPOT, "--iterations", "20", "--dtype", "16-bit"],
    "boards": ["solve", "spot", *SPOT, "--boards", "boards.txt", "--iterations", "20"],
    "blueprint": [
        "train", "leduc.toml", "--iterations", "640", "--threads", "1", "--mode", "deterministic", "--seed", "3",
    ],
    "tournament": ["tournament", "tournament.toml", "--threads", "1"],
}  # fmt: skip
READ: dict[str, list[list[str]]] = {
    "kuhn": [["show", "kuhn", "--json"], ["exploitability", "kuhn", "--json"]],
    "leduc": [["show", "leduc", "--json"], ["show", "leduc", "Ks:cr", "--json"]],
    "sampled": [["show", "sampled", "--json"]],
    "three": [["show", "three", "--json"]],
    "file": [["show", "file", "--json"], ["exploitability", "file", "--json"]],
    "river": [["show", "river", "--json"], ["show", "river", "b5", "--json"], ["export", "river"]],
    "compact": [["show", "compact", "--json"]],
    "blueprint": [
        ["show", "blueprint", "--json"],
        ["act", "blueprint", "MATCHSTATE:0:0::Ks|", "--json"],
        ["match", "blueprint", "random", "--hands", "40", "--seed", "1", "--json"],
    ],
    "tournament": [["tournament", "tournament", "--state", "2,2", "--json"]],
    "ledger.jsonl": [["ledger", "ledger.jsonl", "--json"]],
}
RESUMED: dict[str, list[str]] = {
    "leduc": [*WRITTEN["leduc"][:-1], "30"],
    "sampled": [*WRITTEN["sampled"][:-1], "30"],
    "river": [*WRITTEN["river"][:-1], "30"],
    "compact": [*WRITTEN["compact"][:-3], "30", "--dtype", "16-bit"],
    "boards": WRITTEN["boards"],
    "blueprint": [word if word != "640" else "1280" for word in WRITTEN["blueprint"]],
}
TIMES = ("second", "time", "created", "version", "resident", "bytes", "path", "folder", "per_s", "date", "peak", "rate")


def run(*words: str) -> tuple[int, str]:
    """Run a command in this process; return exit code and standard output."""
    from riverboat.cli import main as cli

    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        try:
            cli.main(list(words))
        except SystemExit as stopped:
            return int(stopped.code or 0), out.getvalue()
    return 0, out.getvalue()


def steady(value: Any) -> Any:
    """The output without times, paths and the texts that describe units."""
    if isinstance(value, dict):
        return {
            k: sorted(steady(v)) if k == "units" else steady(v)
            for k, v in value.items()
            if not any(word in k for word in TIMES)
        }
    return [steady(one) for one in value] if isinstance(value, list) else value


def answer(words: list[str]) -> Any:
    """The output of a command for comparison: JSON without times, or lines."""
    code, text = run(*words)
    try:
        return [code, steady(json.loads(text))]
    except ValueError:
        return [code, text.splitlines()]


@contextlib.contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Change to a folder temporarily."""
    node = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(node)


def write(folder: Path) -> None:
    """Write all artifacts, and `expected.json` with the output of the commands that read them."""
    from riverboat.practice.session import PracticeSession

    with inside(folder):
        Path("pennies.nfg").write_text(NFG, encoding="utf-8")
        Path("boards.txt").write_text("2s3s5hJdQc\n2s3s5hJdTc\n", encoding="utf-8")
        Path("leduc.toml").write_text(RECIPE, encoding="utf-8")
        Path("tournament.toml").write_text(TOURNAMENT, encoding="utf-8")
        for name, command in WRITTEN.items():
            code, _ = run(*command, "--out", name)
            assert code == 0, (name, code)
        code, text = run("match", "always-call", "random", "--hands", "200", "--json")
        Path("match.json").write_text(text, encoding="utf-8")
        assert run("ledger", "ledger.jsonl", "--add", "match.json")[0] == 0
        session = PracticeSession.begin("session.json", "rule-based", seed=7)
        for _ in range(6):
            session.deal() if session.table.over else session.act("c")
        expected = {name: [answer(command) for command in READ[name]] for name in READ}
        expected["session.json"] = [session.table.to_dict()]
        Path("expected.json").write_text(json.dumps(expected, sort_keys=True), encoding="utf-8")


def main() -> None:
    """Write the archive."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write(folder)
        (folder / "commit.txt").write_text(sys.argv[1] + "\n")
        with tarfile.open(ARCHIVE, "w:xz") as archive:
            for path in sorted(folder.rglob("*")):
                archive.add(path, path.relative_to(folder).as_posix(), recursive=False)
    print(ARCHIVE, ARCHIVE.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
