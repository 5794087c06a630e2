"""Rows, reports, the list of experiments, and the command that runs them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from riverboat.errors import InputError
from riverboat.interfaces import cli, reproducing
from riverboat.reproduce import framework
from riverboat.reproduce.framework import MODULES, Curve, Experiment, Report, Row, find


def command(*words: str) -> int:
    with pytest.raises(SystemExit) as end:
        cli.main(["reproduce", *words])
    return int(end.value.code or 0)


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (Row("equal", 0.5, 0.5), "match"),
        (Row("new", None, 0.5), "new"),
        (Row("off", 0.5, 0.51), "differs"),
        (Row("within", 0.5, 0.51, tolerance=0.01), "match"),
        (Row("rounded", 0.23, 0.225, tolerance=0.005), "match"),
        (Row("just outside", 0.5, 0.5101, tolerance=0.01), "differs"),
        (Row("inside", 0.5, 0.6, 0.45, 0.65), "match"),
        (Row("outside", 0.5, 0.6, 0.55, 0.65), "differs"),
        (Row("outside, explained", 0.5, 0.6, 0.55, 0.65, note="a misprint", explained=True), "differs"),
    ],
    ids=lambda x: x.name if isinstance(x, Row) else "",
)
def test_verdicts(row: Row, verdict: str) -> None:
    assert row.verdict == verdict
    assert row.fine == (verdict != "differs" or row.explained)
    assert Report((row,)).fine == row.fine


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="finite"):
        Row("x", 1.0, math.nan)
    with pytest.raises(InputError, match="low and high"):
        Row("x", 1.0, 1.0, low=0.0)
    with pytest.raises(InputError, match="say why"):
        Row("x", 1.0, 2.0, explained=True)
    with pytest.raises(InputError, match="2 x for 1 y"):
        Curve("c", (1.0, 2.0), (1.0,))
    with pytest.raises(InputError, match="did you mean 'first'"):
        Report((Row("first", None, 1.0),)).row("frist")


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


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("emd-example", "--json", "--seed", "3") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["id"] == "emd-example"
    assert told["seed"] == 3
    assert told["fine"] is True
    assert [row["verdict"] for row in told["rows"]] == ["match"] * 4


@pytest.fixture
def invented(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three experiments: one that agrees, one that differs, one that differs with an explanation."""
    reports = {
        "emd-example": Report((Row("same", 1.0, 1.0),)),
        "rpst": Report((Row("other", 1.0, 2.0), Row("a | b", None, 3.0)), ("a note",)),
        "coin-toss": Report((Row("slip", 1.0, 2.0, note="a slip", explained=True),)),
    }
    monkeypatch.setattr(framework, "MODULES", dict.fromkeys(reports, ""))
    monkeypatch.setattr(reproducing, "MODULES", dict.fromkeys(reports, ""))

    def found(name: str) -> Experiment:
        return Experiment(name, "title", "source", "1 s", "2 s", lambda full, seed: reports[name])

    monkeypatch.setattr(reproducing, "find", found)


@pytest.mark.usefixtures("invented")
def test_exit_codes_and_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("emd-example") == 0
    assert command("rpst") == 1
    assert command("coin-toss") == 0
    told = capsys.readouterr().out
    assert "0 of 1 printed figures match, 1 differs and is explained" in told
    assert "note: a note" in told
    assert command("--all", "--json") == 1
    assert [e["fine"] for e in json.loads(capsys.readouterr().out)["experiments"]] == [True, False, True]
    assert command("--list", "--json") == 0
    assert [e["id"] for e in json.loads(capsys.readouterr().out)["experiments"]] == ["emd-example", "rpst", "coin-toss"]
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
    before = text.partition("## coin-toss")[2]
    assert command("--all", "--docs", str(page)) == 1
    text = page.read_text()
    assert text.count("## ") == 3
    assert r"| a \| b |  | 3 |  | new |  |" in text
    assert "- a note" in text
    assert text.partition("## coin-toss")[2].splitlines()[3:] == before.splitlines()[3:]  # but for the seconds
    assert command("emd-example", "--docs", str(page)) == 0
    assert page.read_text().splitlines()[-1] == text.splitlines()[-1]
    capsys.readouterr()


@pytest.mark.usefixtures("invented")
@pytest.mark.parametrize("kind", ["png", "svg"])
def test_picture_of_bars(tmp_path: Path, kind: str) -> None:
    picture = tmp_path / f"bars.{kind}"
    assert command("rpst", "--plot", str(picture)) == 1
    assert picture.stat().st_size > 1000


def test_picture_of_curves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "curves.svg"
    run = reproducing.Run(find("emd-example"), Report((), (), (Curve("line", (1.0, 2.0), (3.0, 4.0)),)), False, 0, 0.0)
    reproducing.picture(run.report, run.experiment.title, picture)
    assert "<svg" in picture.read_text()
    with pytest.raises(InputError, match=r"use \.png"):
        reproducing.picture(run.report, run.experiment.title, tmp_path / "curves.doc")
    assert command("--all", "--plot", str(picture)) == 2
    assert "name it" in capsys.readouterr().err
