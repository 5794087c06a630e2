"""Rows, reports, the list of experiments, and the command that runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from riverboat.cli import main, reproduce
from riverboat.core.errors import InputError
from riverboat.papers import framework
from riverboat.papers.framework import MODULES, Curve, Experiment, Report, find
from riverboat.papers.rows import Explained, finding, new, printed, theorem


def command(*words: str) -> int:
    with pytest.raises(SystemExit) as end:
        main.main(["reproduce", *words])
    return int(end.value.code or 0)


@pytest.mark.parametrize("name", MODULES)
def test_every_experiment_is_there(name: str) -> None:
    found = find(name)
    assert found.id == name
    assert found.title
    assert found.source
    assert found.cost
    assert found.full_cost


def test_unknown_experiment(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("emd-exmple") == 2
    assert "did you mean 'emd-example'" in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["emd-example", "--list"], ["--all", "--list"]])
def test_one_of_three(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert command(*words) == 2
    assert "--list or --all" in capsys.readouterr().err


def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("emd-example") == 0
    told = capsys.readouterr().out
    assert "EMD, bin 1 to bin 5" in told
    assert "4 of 4 printed figures match" in told


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="2 x for 1 y"):
        Curve("c", (1.0, 2.0), (1.0,))
    with pytest.raises(InputError, match="did you mean 'first'"):
        Report((new("first", 1.0),)).row("frist")


def test_options(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert find("purification-matrices:rows=5,columns=3").id == "purification-matrices:rows=5,columns=3"
    assert find("purification-matrices:rows=5").run.keywords == {"rows": 5}  # type: ignore[attr-defined]
    for spec, what in (
        ("purification-matrices:row=5", "did you mean 'rows'"),
        ("purification-matrices:rows=many", "give a whole number"),
        ("purification-matrices:rows=-3", "give a whole number"),
        ("tartanian7-sizes:rows=3", "it has no options"),
        ("purification-matrices:rows=99", "rows=99: from 2 to 6"),
        ("emd-example:rows=4", "rows"),
        ("purification-matrices:rows=5,rows=4", "'rows' is given twice"),
        (f"purification-matrices:rows={'9' * 5000}", "give a whole number"),
    ):
        assert command(spec) == 2
        assert what in capsys.readouterr().err
    assert command("purification-matrices:rows=5", "--docs", str(tmp_path / "page.md")) == 2
    assert "without options" in capsys.readouterr().err


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("emd-example", "--json", "--seed", "3") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["id"] == "emd-example"
    assert told["seed"] == 3
    assert told["fine"] is True
    assert [row["verdict"] for row in told["rows"]] == ["match"] * 4


@pytest.fixture
def invented(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that agrees, one that differs, one that differs with an explanation, one whose explanation is of another value."""
    reports = {
        "emd-example": Report(
            (printed("same", 1.0, 1.0), theorem("bound", 2.0, 1.0, "<="), finding("order", 3.0, 3.0))
        ),
        "rpst": Report((printed("other", 1.0, 2.0), new("a | b", 3.0)), ("a note",)),
        "coin-toss": Report((printed("slip", 1.0, 2.0, explained=Explained(2.0, "a slip", within=0.1)),)),
        "dbbr-leduc": Report((printed("slip", 1.0, 2.2, explained=Explained(2.0, "a slip", within=0.1)),)),
    }
    monkeypatch.setattr(framework, "MODULES", dict.fromkeys(reports, ""))
    monkeypatch.setattr(reproduce, "MODULES", dict.fromkeys(reports, ""))

    def found(name: str) -> Experiment:
        return Experiment(name, "title", "source", "1 s", "2 s", lambda full, seed: reports[name])

    monkeypatch.setattr(reproduce, "find", found)


@pytest.mark.usefixtures("invented")
def test_exit_codes_and_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("emd-example") == 0
    assert command("rpst") == 1
    assert command("coin-toss") == 0
    assert command("dbbr-leduc") == 1
    told = capsys.readouterr().out
    assert "1 of 1 printed figure matches; 1 of 1 check of a theorem holds; 1 of 1 finding agrees" in told
    assert "0 of 1 printed figure matches, 1 unexplained; 1 figure of our own" in told
    assert "0 of 1 printed figure matches, 1 explained" in told
    assert "0 of 1 printed figure matches, 1 moved since explained" in told
    assert "note: a note" in told
    assert command("--all", "--json") == 1
    found = json.loads(capsys.readouterr().out)["experiments"]
    assert [e["fine"] for e in found] == [True, False, True, False]
    assert [row["kind"] for row in found[0]["rows"]] == ["printed", "theorem", "finding"]
    assert found[2]["rows"][0]["explained"] == {"at": 2.0, "why": "a slip", "within": 0.1}
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
    page = tmp_path / "docs" / "page.md"
    assert command("coin-toss", "--docs", str(page)) == 0
    assert command("emd-example", "--docs", str(page)) == 0
    text = page.read_text()
    assert text.startswith("# Reproductions")
    assert text.index("## emd-example") < text.index("## coin-toss")  # in the order of the list
    assert "| slip | 1 | 2 |  | differs, explained | a slip |" in text
    before = text.partition("## coin-toss")[2].rstrip()
    assert command("--all", "--docs", str(page)) == 1
    text = page.read_text()
    assert text.count("\n## ") == 4
    assert r"| a \| b |  | 3 |  | new |  |" in text
    assert "- a note" in text
    after = text.partition("## coin-toss")[2].partition("## dbbr-leduc")[0].rstrip()
    assert after.splitlines()[3:] == before.splitlines()[3:]  # but for the seconds
    assert command("emd-example", "--docs", str(page)) == 0
    assert page.read_text().splitlines()[-1] == text.splitlines()[-1]
    assert "| bound | ≤ 2 | 1 |  | holds |  |" in text
    assert "| slip | 1 | 2.2 |  | moved since explained | a slip |" in text
    capsys.readouterr()


@pytest.mark.usefixtures("invented")
@pytest.mark.parametrize("kind", ["png", "svg"])
def test_picture_of_bars(tmp_path: Path, kind: str) -> None:
    picture = tmp_path / f"bars.{kind}"
    assert command("rpst", "--plot", str(picture)) == 1
    assert picture.stat().st_size > 1000


def test_picture_of_curves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "curves.svg"
    run = reproduce.Run(find("emd-example"), Report((), (), (Curve("line", (1.0, 2.0), (3.0, 4.0)),)), False, 0, 0.0)
    reproduce.picture(run.report, run.experiment.title, picture)
    assert "<svg" in picture.read_text()
    with pytest.raises(InputError, match=r"use \.png"):
        reproduce.picture(run.report, run.experiment.title, tmp_path / "curves.doc")
    assert command("--all", "--plot", str(picture)) == 2
    assert "name it" in capsys.readouterr().err
    with pytest.raises(InputError, match="nothing to draw"):  # all parts are still to be made
        reproduce.picture(Report((), (), (Curve("line", (), ()),), log=True), "part", tmp_path / "none.png")


@pytest.mark.usefixtures("invented")
@pytest.mark.parametrize(("option", "code"), [("--docs", 2), ("--plot", 4)])
def test_where_nothing_can_be_written_is_told_before_the_work(
    option: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "folder.png"
    place.mkdir()
    assert command("coin-toss", option, str(place)) == code
    told = capsys.readouterr()
    assert "folder.png" in told.err
    assert told.out == ""
