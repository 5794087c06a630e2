"""Artifacts, checkpoints, sessions and ledgers of an earlier commit open, give the same output, and resume."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from riverboat.practice.session import PracticeSession
from upgrade.write import ARCHIVE, READ, RESUMED, answer, inside, run, steady, write


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the earlier commit."""
    folder = tmp_path_factory.mktemp("old")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture(scope="module")
def expected(old: Path) -> dict[str, Any]:
    result: dict[str, Any] = json.loads((old / "expected.json").read_text())
    return result


def rounded(value: Any) -> Any:
    """Return a value with approximate floats: sums round differently on a processor with other vector instructions."""
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    return pytest.approx(value, rel=1e-6, abs=1e-9) if isinstance(value, float) else value


@pytest.mark.parametrize("name", READ)
def test_output_is_unchanged(name: str, old: Path, expected: dict[str, Any]) -> None:
    with inside(old):
        assert [answer(command) for command in READ[name]] == rounded(steady(expected[name]))


def test_session_is_unchanged(old: Path, expected: dict[str, Any]) -> None:
    session = PracticeSession.open(old / "session.json")
    assert json.loads(json.dumps(session.table.to_dict())) == expected["session.json"][0]


@pytest.mark.parametrize("name", RESUMED)
def test_run_resumes(name: str, old: Path) -> None:
    with inside(old):
        code, output = run(*RESUMED[name], "--out", name, "--resume", "--json")
    assert code == 0, output


@pytest.mark.slow
def test_script_writes_the_listed_files(tmp_path: Path, old: Path) -> None:
    """The script still writes the same kinds of files."""
    write(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} | {"commit.txt"} == {path.name for path in old.iterdir()}
