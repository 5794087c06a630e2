"""The documentation is true: its code runs, its links lead somewhere, its tables agree with the code.

Blocks of Python run from top to bottom of a page, in an empty folder. So do lines of shell blocks that start with
`riverboat`; a comment `# exits 2` gives an exit code other than 0. A block with a command that takes minutes waits for
the slow tests, which run the whole page.
"""

from __future__ import annotations

import ast
import json
import math
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import riverboat as rb
from riverboat.cli import main
from riverboat.core import artifacts, errors
from riverboat.games import registry
from riverboat.solvers.run import CFRRun
from riverboat.solvers.schedules import SCHEDULES, parse
from riverboat.solvers.traversals import TRAVERSALS

ROOT = Path(__file__).parent.parent
ROOT_PAGES = [ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG", "SECURITY")]
PAGES = [*ROOT_PAGES, *sorted((ROOT / "docs").rglob("*.md"))]
SOURCE = Path(rb.__file__).parent
TEXT = {page: page.read_text() for page in PAGES}
DOCS = "\n".join(text for page, text in TEXT.items() if (ROOT / "docs") in page.parents)
KINDS = {"python", "sh", "toml", "text"}  # valid tags of a fence
SLOW = re.compile(
    r"riverboat ((demo|bench|abstract|train|pushfold|tournament)\b(?! --list)|.*\b(default|demo)\b)"
)  # minutes, or after minutes
LONG_PAGES = {  # without compilation: ten seconds each, for the slow run
    "docs/algorithms/continuous.md",
    "docs/algorithms/explanation.md",
    "docs/algorithms/many-players.md",
    "docs/cards.md",
    "docs/practice.md",
    "docs/spots.md",
    "docs/your-own-rule.md",
}
UNTRIED = {  # tests cannot run these as written: why, and where the command is tested
    "riverboat serve": "waits for a browser: tests/web/test_web.py",
    "riverboat serve --port 8765 --data runs --no-open": "waits for scripts: tests/web/test_web.py",
    "riverboat play demo": "a person sits at the table: tests/cli/test_play.py",
    "riverboat play runs/spot --seat ip --review": "a person sits at the table: tests/cli/test_play.py",
    "riverboat drill runs/spot --questions 2 --only mixed --record runs/drills.jsonl --seed 1": (
        "a person answers: tests/practice/test_drills.py"
    ),
    'riverboat match demo "acpc:./their_player.sh"': "somebody's program: tests/acpc/test_acpc_match.py",
    'riverboat match default "acpc:python examples/acpc_player.py" --hands 200': (
        "a program beside the pages: tests/acpc/test_acpc_programs.py"
    ),
    "riverboat online default --url https://slumbot.com/api --hands 100 --pause 1s --record hands.jsonl": (
        "a live host: tests/acpc/test_web_bot.py"
    ),
    "riverboat train --time 30m --out runs/mine": "half an hour: tests/solvers/test_warm_start.py",
    "riverboat train default --abstraction runs/small --begin runs/demo --out runs/fine --time 20m": (
        "twenty minutes: tests/solvers/test_warm_start.py"
    ),
    "riverboat train demo --abstraction runs/tiny --out runs/demo --time 10m --resume": (
        "ten minutes: tests/solvers/test_training.py"
    ),
}

BLOCK = re.compile(r"^```(?P<kind>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s]+)\)")


def show(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path, *kinds: str) -> list[tuple[int, str]]:
    """Line and text of the code blocks of some kinds."""
    result = BLOCK.finditer(TEXT[page])
    return [(TEXT[page][: m.start()].count("\n") + 1, m["body"]) for m in result if m["kind"] in kinds]


def commands(page: Path) -> Iterator[tuple[int, str, int, bool]]:
    """Line, command, expected exit code and slowness of the commands on a page."""
    for first, body in blocks(page, "sh"):
        result = []
        for match in re.finditer(r"^(?:PYTHONPATH=\. )?(riverboat (?:.*\\\n)*.*)", body, re.MULTILINE):
            text, _, comment = match[1].replace("\\\n", " ").partition("#")
            code = re.match(r"\s*exits (\d+)", comment)
            place = first + 1 + body[: match.start()].count("\n")
            result.append((place, text.strip(), int(code[1]) if code else 0))
        slow = any(SLOW.match(text) for _, text, _ in result)
        yield from ((*one, slow) for one in result)


def rows(page: str, heading: str, under: str = "") -> list[list[str]]:
    """The cells of the first table whose first column has this heading, after the text `under`."""
    text = TEXT[ROOT / page]
    lines = text[text.index(under) :].splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith(f"| {heading} |"))
    table = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        table.append([cell.strip() for cell in line.strip("|").split("|")])
    return table


def names(cells: list[list[str]], column: int = 0) -> list[str]:
    """Names in backticks in one column."""
    return [name for row in cells for name in re.findall(r"`([^`]+)`", row[column])]


def run_command(text: str) -> int:
    try:
        main.main(shlex.split(text)[1:])
    except SystemExit as end:
        return int(end.code or 0)
    raise AssertionError("main always exits")


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder and an empty cache."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("riverboat.solvers.game_values.cache_folder", lambda: tmp_path / "cache")
    return tmp_path


@pytest.fixture(scope="session")
def with_demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder in which `riverboat demo` has built its agent, in seconds."""
    folder = tmp_path_factory.mktemp("demo")
    command = [sys.executable, "-m", "riverboat.cli.main", "demo", "--time", "5s", "--pairs", "50"]
    subprocess.run(command, cwd=folder, env=os.environ | {"XDG_DATA_HOME": str(folder)}, check=True)
    return folder


# --- code -----------------------------------------------------------------------------------


def follow(page: Path, said: pytest.CaptureFixture[str], slow: bool) -> None:
    """Run the code of a page, without or with the slow parts."""
    names: dict[str, Any] = {"__name__": show(page)}
    for line, body in blocks(page, "python"):
        code = compile("\n" * line + body, str(page), "exec")  # so that errors show the line on the page
        exec(code, names)
    for line, text, expected, later in commands(page):
        if text in UNTRIED or (later and not slow):
            continue
        said.readouterr()
        result = run_command(text)
        out, err = said.readouterr()
        assert result == expected, f"{show(page)}:{line}: {text}\n{out}{err}"
        if "--json" in text:
            json.loads(out)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(p, marks=[pytest.mark.slow] if show(p) in LONG_PAGES else [], id=show(p))
        for p in PAGES
        if blocks(p, "python") or list(commands(p))
    ],
)
def test_code(page: Path, elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    follow(page, capsys, slow=False)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("page", [p for p in PAGES if any(slow for *_, slow in commands(p))], ids=show)
def test_slow_code(
    page: Path, elsewhere: Path, with_demo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    builds = any(text.startswith("riverboat demo") for _, text, _, _ in commands(page))
    monkeypatch.setenv("XDG_DATA_HOME", str(elsewhere / "data" if builds else with_demo))  # where the demo is
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    follow(page, capsys, slow=True)


def test_fences_are_tagged() -> None:
    """Fences without a tag would not be run."""
    for page, text in TEXT.items():
        for match in BLOCK.finditer(text):
            line = text[: match.start()].count("\n") + 1
            assert match["kind"] in KINDS, f"{show(page)}:{line}: a fence tagged {match['kind']!r}"
            hidden = match["kind"] != "sh" and re.search(
                r"^(PYTHONPATH=\. |\$ )?riverboat ", match["body"], re.MULTILINE
            )
            assert not hidden, f"{show(page)}:{line}: commands in a fence that is not run"


def test_untested_commands_exist_and_are_tested_elsewhere() -> None:
    reported = {text for page in PAGES for _, text, _, _ in commands(page)}
    for text, reason in UNTRIED.items():
        assert text in reported, f"no page has {text!r} any more"
        assert (ROOT / reason.rpartition(" ")[2]).is_file()


def test_user_game_is_found_by_pythonpath(tmp_path: Path) -> None:
    """As on the page: in the checkout's folder with PYTHONPATH=. and not without."""
    command = [sys.executable, "-P", "-m", "riverboat.cli.main", "solve", "examples.own_game:AKQ", "--json"]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    result = subprocess.run(command, cwd=ROOT, env=environment | {"PYTHONPATH": "."}, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    answer = json.loads(result.stdout)
    assert answer["value_low"] <= 1 / 18 <= answer["value_high"]
    lost = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert lost.returncode == 2
    assert "examples.own_game" in lost.stderr


def test_the_readme_fits_on_a_screen() -> None:
    assert len(TEXT[ROOT / "README.md"].splitlines()) <= 80


# --- links and names ------------------------------------------------------------------------


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    prose = BLOCK.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=show)
def test_links(page: Path) -> None:
    for match in LINK.finditer(BLOCK.sub("", TEXT[page])):
        target, _, anchor = match["target"].partition("#")
        if "://" in target:
            continue
        place = page.parent / target if target else page
        assert place.exists(), f"{show(page)} links to {target}, which is not there"
        if anchor:
            assert anchor in anchors(place), f"{show(page)} links to {match['target']}: no such heading"


def test_every_page_can_be_reached() -> None:
    reached, work = set(), [ROOT / "README.md"]
    while work:
        page = work.pop()
        if page not in reached and page in TEXT:
            reached.add(page)
            work += [(page.parent / m["target"].partition("#")[0]).resolve() for m in LINK.finditer(TEXT[page])]
    assert reached == set(PAGES)


def test_names_of_files_are_right() -> None:
    """Paths in backticks that look like files of the checkout or of the package."""
    for page, text in TEXT.items():
        for path in re.findall(r"`((?:[\w.]+/)+\w+\.(?:py|md))`", BLOCK.sub("", text)):
            places = [ROOT / path, SOURCE / path, SOURCE.parent / path]
            assert any(place.exists() for place in places), f"{show(page)}: there is no {path}"


@pytest.mark.parametrize("name", rb.__all__)
def test_every_public_name_is_documented(name: str) -> None:
    assert re.search(rf"\brb\.{name}\b", TEXT[ROOT / "docs" / "index.md"])


def test_documented_names_exist() -> None:
    for page, text in TEXT.items():
        for name in re.findall(r"\brb\.(\w+)", text):
            assert name in rb.__all__, f"{show(page)}: rb.{name}"


def test_command_line_is_documented() -> None:
    reported = "\n".join(re.findall(r"`[^`\n]+`", DOCS))
    for name in [*SCHEDULES, *TRAVERSALS, *registry.GAMES]:
        assert f"`{name}`" in reported, name
    expected = {words.partition(" ")[0] for words in main.COMMANDS}
    assert set(re.findall(r"`riverboat (\w+)", DOCS)) == expected
    assert set(names(rows("docs/formats.md", "name"))) >= set(registry.GAMES)


def commands_below(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """All commands and subcommands."""
    if not hasattr(command, "commands"):
        yield name, command
        return
    for word, one in command.commands.items():
        yield from commands_below(one, f"{name} {word}".strip())


def test_all_options_are_listed_and_explained() -> None:
    expected: dict[str, set[str]] = {}
    for name, command in commands_below(typer.main.get_command(main.make_app())):
        assert command.help, name
        assert all(p.help for p in command.params if getattr(p, "opts", [""])[0].startswith("--")), name
        expected[name] = {option for p in command.params for option in p.opts if option.startswith("--")}
    table = rows("docs/index.md", "options of")
    assert {row[0].strip("`"): {n for n in names([row], 1) if n.startswith("--")} for row in table} == expected
    words = {name.split()[0] for name in names(rows("docs/index.md", "word"))}
    assert words <= {option for some in expected.values() for option in some}


def test_options_of_games() -> None:
    for row in rows("docs/formats.md", "name"):
        name = row[0].strip("`")
        if name in registry.GAMES and name != "bluff":
            assert names([row], 2) == list(registry.game_options(name))


def test_packages_are_drawn() -> None:
    """The architecture page names every package and top-level module."""
    text = TEXT[ROOT / "docs" / "architecture.md"]
    for path in SOURCE.iterdir():
        if path.name not in ("__init__.py", "__pycache__") and (path.is_file() or any(path.glob("*.py"))):
            assert re.search(rf"\b{path.stem}\b", text), f"architecture.md does not know {path.name}"


def test_makefile() -> None:
    reported = {name.removeprefix("make ") for name in names(rows("CONTRIBUTING.md", "command"))}
    phony = re.search(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert phony is not None
    assert reported == set(phony[1].split())


def test_versions_agree() -> None:
    assert f"version: {rb.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"## [{rb.__version__}]" in TEXT[ROOT / "CHANGELOG.md"]


# --- tables against the code ----------------------------------------------------------------


def number(text: str) -> float:
    return -math.inf if text == "−∞" else float(text)


def test_schedule_table() -> None:
    table = rows("docs/algorithms/cfr.md", "schedule", "first five iterations")
    assert names(table) == list(SCHEDULES)
    for name, *cells in table:
        for t, cell in enumerate(cells, start=1):
            reported = [number(x) for x in cell.split(" / ")]
            assert reported == pytest.approx(parse(name.strip("`")).step(t)[:4], abs=5e-5), f"{name} at T = {t}"


def test_iterations_of_checks() -> None:
    run, iteration, checks = CFRRun("kuhn"), 0, []
    while iteration < 27:
        iteration = run._next_check(iteration)
        checks.append(iteration)
    reported = ", ".join(map(str, checks))
    page = ROOT / "docs" / "decisions" / "0009-check-exploitability-at-fixed-iterations.md"
    assert reported in TEXT[page].replace("\n", " ")


def test_figures_of_the_demo() -> None:
    (reported,) = rows("docs/algorithms/cfr.md", "`vanilla`", "`riverboat solve leduc`")
    for schedule, figure in zip(SCHEDULES, reported, strict=True):
        result = rb.solve("leduc", schedule=schedule, iterations=2000, check_every=2000).exploitability
        assert float(figure) / 2 < result < float(figure) * 2, schedule


def test_fields_of_json_log_and_manifest(elsewhere: Path) -> None:
    options: dict[str, Any] = {"iterations": 20, "check_every": 10}
    result = rb.solve("kuhn", schedule="pcfr+", out="run", log="log.jsonl", **options)
    fields = set(names(rows("docs/formats.md", "field", "## JSON")))
    others = {"cfr", "lp", "egt", "exact", "--until", "--schedule", "runs", "reason"}
    assert fields - others - {"guarantee"} == set(result.to_dict())  # only with more than two players
    assert "guarantee" in rb.solve("kuhn:players=3", iterations=2).to_dict()

    lines = [json.loads(line) for line in Path("log.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["iteration"] for line in lines] == [10, 20]
    assert set(names(rows("docs/formats.md", "field", "## Log"))) == set(lines[0])

    table = {row[0].strip("`"): row[1] for row in rows("docs/formats.md", "field of the manifest")}
    saved = artifacts.read_manifest(rb.save(result.strategy, "strategy"))
    checkpoint = artifacts.read_manifest(next(Path("run").iterdir()))
    assert set(saved) | {"game_file", "matrix", "unrolled", "values", "state", "history"} == set(table)
    assert set(checkpoint) == set(saved) | {"state", "history"}
    assert set(re.findall(r"`(\w+)`", table["state"])) - {"best"} == set(checkpoint["state"]) - {"best"}
    assert set(re.findall(r"`(\w+)`", table["provenance"])) == set(checkpoint["provenance"])
    assert set(checkpoint["files"]) == {"regret.npy", "average.npy", "prediction.npy"}


def test_exit_codes() -> None:
    table = {int(row[0]) for row in rows("docs/formats.md", "code")}
    raised = {e.exit_code for e in vars(errors).values() if isinstance(e, type) and issubclass(e, rb.RiverboatError)}
    assert table == raised | {0, 1, 129, 130, 143}


def test_sizes_of_bluff() -> None:
    for spec, nodes, infosets in rows("docs/algorithms/bluff.md", "game"):
        first, second = map(int, spec.strip("`").partition(":")[2].split(","))
        rolls = [math.comb(dice + 5, 5) for dice in (first, second)]
        assert int(nodes.replace(",", "")) == 2 ** (6 * (first + second) + 1) - 1
        assert int(infosets.replace(",", "")) == sum(rolls) * 2 ** (6 * (first + second) - 1)


# --- examples -------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_examples_are_explained(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert f"examples/{path.name}" in DOCS
