"""Rows, reports, the registry of experiments, and the command that runs them."""

from __future__ import annotations

import ast
import importlib
import json
import time
from dataclasses import replace
from pathlib import Path
from string import Formatter

import pytest

from riverboat.cli import main, reproduce
from riverboat.core.errors import InputError
from riverboat.papers import page, registry
from riverboat.papers.framework import Curve, ExperimentParts, ExperimentReport, experiment_descriptions
from riverboat.papers.page import format_page
from riverboat.papers.registry import EXPERIMENTS, Experiment, find
from riverboat.papers.results import published_results, read_results
from riverboat.papers.rows import ExplainedDifference, finding_row, new_row, printed_row, theorem_row, variation_row

DOCS = Path(__file__).parents[2] / "docs"


def command(*words: str) -> int:
    with pytest.raises(SystemExit) as end:
        main.main(["reproduce", *words])
    return int(end.value.code or 0)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_is_registered(name: str) -> None:
    experiment = find(name)
    assert experiment.id == name
    assert experiment.title
    assert experiment.source
    assert experiment.cost
    assert experiment.full_cost
    module, _, function = experiment.function.partition(":")
    assert callable(getattr(importlib.import_module(f"riverboat.papers.{module}"), function))


def note_calls() -> list[ast.Call]:
    """Return all calls of `format_notes` in the experiments."""
    calls = []
    for path in Path(registry.__file__).parent.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        calls += [n for n in ast.walk(tree) if isinstance(n, ast.Call) and ast.unparse(n.func) == "format_notes"]
    return calls


def test_notes_get_exactly_the_values_of_their_placeholders() -> None:
    calls, used = note_calls(), set()
    for call in calls:
        name = ast.literal_eval(call.args[0])
        used.add(name)
        placeholders = {
            field.partition(".")[0].partition("[")[0]
            for note in experiment_descriptions()[name]["notes"]
            for _, field, _, _ in Formatter().parse(note)
            if field is not None
        }
        assert placeholders == {keyword.arg for keyword in call.keywords}, name
    assert used == {name for name, about in experiment_descriptions().items() if "notes" in about}


def test_unknown_experiment(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("emd-exmple") == 2
    assert "'emd-example'" in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["emd-example", "--list"], ["--all", "--list"]])
def test_invalid_combinations(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert command(*words) == 2
    assert "--list" in capsys.readouterr().err


def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("emd-example") == 0
    printed = capsys.readouterr().out
    assert "EMD, bin 1 to bin 5" in printed
    assert "4 of 4 printed figures match" in printed


def test_invalid_reports() -> None:
    with pytest.raises(InputError, match="curve 'c'"):
        Curve("c", (1.0, 2.0), (1.0,))
    with pytest.raises(InputError, match=r"'frist'.*'first'"):
        ExperimentReport((new_row("first", 1.0),)).row("frist")


def test_options(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert find("purification-matrices:rows=5,columns=3").id == "purification-matrices:rows=5,columns=3"
    assert find("purification-matrices:rows=5").chosen == {"rows": 5}
    for spec, place in (
        ("purification-matrices:row=5", "'rows'"),
        ("purification-matrices:rows=many", "rows=many"),
        ("purification-matrices:rows=-3", "rows=-3"),
        ("tartanian7-sizes:rows=3", "tartanian7-sizes: 'rows=3'"),
        ("purification-matrices:rows=99", "rows=99: "),
        ("emd-example:rows=4", "rows"),
        ("purification-matrices:rows=5,rows=4", "rows=5,rows=4"),
        (f"purification-matrices:rows={'9' * 5000}", "rows=9999"),
    ):
        assert command(spec) == 2
        assert place in capsys.readouterr().err
    assert command("purification-matrices:rows=5", "--docs", str(tmp_path / "page.md")) == 2
    assert "--docs" in capsys.readouterr().err


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("emd-example", "--json", "--seed", "3") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["id"] == "emd-example"
    assert report["seed"] == 3
    assert report["fine"] is True
    assert [row["verdict"] for row in report["rows"]] == ["match"] * 4


@pytest.fixture
def invented(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four reports: one passes, one differs, one differs with an explanation, one has moved since its explanation."""
    reports = {
        "emd-example": ExperimentReport(
            (printed_row("same", 1.0, 1.0), theorem_row("bound", 2.0, 1.0, "<="), finding_row("order", 3.0, 3.0))
        ),
        "rpst": ExperimentReport((printed_row("other", 1.0, 2.0), new_row("a | b", 3.0)), ("a note",)),
        "coin-toss": ExperimentReport(
            (
                printed_row("slip", 1.0, 2.0, explained=ExplainedDifference(2.0, "a slip", 0.1, "no slip")),
                variation_row("no slip", 1.0, 1.0),
            )
        ),
        "dbbr-leduc": ExperimentReport(
            (printed_row("guess", 1.0, 2.2, explained=ExplainedDifference(2.0, "a guess", within=0.1)),)
        ),
    }
    experiments = {name: Experiment(name, "title", "source", "1 s", "2 s", "") for name in reports}
    experiments["dbbr-leduc"] = replace(experiments["dbbr-leduc"], size="reduced", reduction="fewer cards")
    experiments["rpst"] = replace(experiments["rpst"], size="full")
    for module in (registry, reproduce, page):
        monkeypatch.setattr(module, "EXPERIMENTS", experiments)
    monkeypatch.setattr(Experiment, "run", lambda self, full, seed: reports[self.id])


@pytest.mark.usefixtures("invented")
def test_exit_codes_and_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("emd-example") == 0
    assert command("rpst") == 1
    assert command("coin-toss") == 0
    assert command("dbbr-leduc") == 1
    printed = capsys.readouterr().out
    assert "1 of 1 printed figure matches; 1 of 1 check of a theorem holds; 1 of 1 finding agrees" in printed
    assert "0 of 1 printed figure matches, 1 unexplained; 1 figure of our own" in printed
    assert "0 of 1 printed figure matches, 1 explained" in printed
    assert "0 of 1 printed figure matches, 1 moved since explained" in printed
    assert "note: a note" in printed
    assert command("--all", "--json") == 1
    found = json.loads(capsys.readouterr().out)["experiments"]
    assert [e["fine"] for e in found] == [True, False, True, False]
    assert [row["kind"] for row in found[0]["rows"]] == ["printed", "theorem", "finding"]
    assert found[2]["rows"][0]["explained"] == {
        "at": 2.0, "why": "a slip", "within": 0.1, "test": "no slip", "tried": ""
    }  # fmt: skip
    assert command("--list", "--json") == 0
    assert [e["id"] for e in json.loads(capsys.readouterr().out)["experiments"]] == [
        "emd-example",
        "rpst",
        "coin-toss",
        "dbbr-leduc",
    ]
    assert command("--list") == 0
    assert "coin-toss" in capsys.readouterr().out


@pytest.mark.usefixtures("invented")
def test_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "docs" / "page.md"
    assert command("coin-toss", "--docs", str(file)) == 0
    assert command("emd-example", "--docs", str(file)) == 0
    text = file.read_text()
    assert text.startswith("# Reproductions")
    assert text.index("## emd-example") < text.index("## coin-toss")  # in the order of the registry
    assert "| slip | 1 | 2 |  | differs, explained | a slip; tested by: no slip |" in text
    assert "| no slip | 1 | 1 |  | confirms |  |" in text
    before = text.partition("## coin-toss")[2].rstrip()
    assert command("--all", "--docs", str(file)) == 1
    text = file.read_text()
    assert text.count("\n## ") == 4
    assert r"| a \| b |  | 3 |  | new |  |" in text
    assert "- a note" in text
    after = text.partition("## coin-toss")[2].partition("## dbbr-leduc")[0].rstrip()
    assert after.splitlines()[3:] == before.splitlines()[3:]  # except for the seconds
    assert command("emd-example", "--docs", str(file)) == 0
    assert file.read_text().splitlines()[-1] == text.splitlines()[-1]
    assert "| bound | ≤ 2 | 1 |  | holds |  |" in text
    assert "| guess | 1 | 2.2 |  | moved since explained | a guess |" in text
    capsys.readouterr()


@pytest.mark.usefixtures("invented")
def test_table_of_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "page.md"
    assert command("--all", "--full", "--docs", str(file)) == 1
    assert command("rpst", "--docs", str(file)) == 1
    text = file.read_text()
    table = {row.split(" | ")[1]: row for row in text.splitlines() if row.startswith("| source | [")}
    assert table["[emd-example](#emd-example)"].endswith("| paper's size | agrees |  |")
    assert "| reduced | differs in 1 of 1 | differs: other; size: the default run, smaller" in table["[rpst](#rpst)"]
    assert "| differs in 1 of 1 | explained by a test: a slip |" in table["[coin-toss](#coin-toss)"]
    assert (
        "| reduced | differs in 1 of 1 | moved since explained: a guess; size: fewer"
        in table["[dbbr-leduc](#dbbr-leduc)"]
    )
    assert "| figure | paper | ours, reduced | interval |" in text.partition("## rpst")[2]
    stored = read_results(file.with_suffix(".json"))
    assert (
        stored["rpst"].full_summary == "0 of 1 printed figure matches, 1 unexplained; 1 figure of our own"
    )  # of --full
    assert not stored["rpst"].full
    assert format_page(stored) == text
    file.with_suffix(".json").write_text("[]")
    assert command("rpst", "--docs", str(file)) == 2
    assert "page.json" in capsys.readouterr().err
    file.with_suffix(".json").unlink()  # nobody's page is overwritten
    assert command("rpst", "--docs", str(file)) == 2
    assert "page.md" in capsys.readouterr().err
    assert file.read_text() == text


def test_the_published_page_is_in_step() -> None:
    stored = read_results(DOCS / "reproductions.json")
    assert format_page(stored) == (DOCS / "reproductions.md").read_text(encoding="utf-8")
    assert list(stored) == list(EXPERIMENTS)
    assert stored == published_results()
    for name, result in stored.items():
        assert bool(result.full_summary) >= result.full, name
        kinds = {row.name: row.kind for row in result.rows}
        for row in result.rows:
            assert (row.verdict == "explained") == bool(row.test and row.why), (name, row.name)
            assert not row.test or kinds[row.test] != "new", (name, row.name)


def test_listing_says_what_was_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("--list", "--json") == 0
    found = {e["id"]: e["found"] for e in json.loads(capsys.readouterr().out)["experiments"]}
    stored = published_results()
    assert found["pcs-figure-6"] == stored["pcs-figure-6"].full_summary != ""
    assert found["emd-example"] == "agrees, default size: 4 of 4 printed figures match"
    assert set(found) == set(EXPERIMENTS)


def test_seconds_count_cached_computations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that reads its parts from the cache reports the time of computing them."""
    monkeypatch.setattr("riverboat.core.cache.cache_folder", lambda: tmp_path)

    def run(self: Experiment, full: bool, seed: int) -> ExperimentReport:
        parts = ExperimentParts("trial", "a", use_cache=True)
        parts.get_or_compute("x", lambda: time.sleep(0.2) or {"figure": 1.0})
        return ExperimentReport((new_row("x", 1.0),))

    monkeypatch.setattr(Experiment, "run", run)
    for _ in range(2):  # computed, then read
        assert command("rpst", "--docs", str(tmp_path / "page.md")) == 0
        assert 0.2 <= read_results(tmp_path / "page.json")["rpst"].seconds < 2.0


@pytest.mark.usefixtures("invented")
@pytest.mark.parametrize("kind", ["png", "svg"])
def test_plot_of_bars(tmp_path: Path, kind: str) -> None:
    picture = tmp_path / f"bars.{kind}"
    assert command("rpst", "--plot", str(picture)) == 1
    assert picture.stat().st_size > 1000


def test_plot_of_curves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "curves.svg"
    run = reproduce.ExperimentRun(
        find("emd-example"), ExperimentReport((), (), (Curve("line", (1.0, 2.0), (3.0, 4.0)),)), False, 0, 0.0
    )
    reproduce.plot_report(run.report, run.experiment.title, picture)
    assert "<svg" in picture.read_text()
    with pytest.raises(InputError, match=r"curves\.doc"):
        reproduce.plot_report(run.report, run.experiment.title, tmp_path / "curves.doc")
    assert command("--all", "--plot", str(picture)) == 2
    assert "--plot" in capsys.readouterr().err
    with pytest.raises(InputError, match=r"none\.png|part"):  # no part is available yet
        reproduce.plot_report(
            ExperimentReport((), (), (Curve("line", (), ()),), log=True), "part", tmp_path / "none.png"
        )


@pytest.mark.usefixtures("invented")
@pytest.mark.parametrize(("option", "code"), [("--docs", 2), ("--plot", 4)])
def test_unwritable_paths_fail_before_the_run(
    option: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "folder.png"
    folder.mkdir()
    assert command("coin-toss", option, str(folder)) == code
    captured = capsys.readouterr()
    assert "folder.png" in captured.err
    assert captured.out == ""
