"""Artefacts, checkpoints, sessions and ledgers of an earlier commit open, say the same, and go on."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from riverboat.practice.session import Sitting
from upgrade.write import ARCHIVE, READ, RESUMED, answer, inside, run, write


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the earlier commit has written."""
    folder = tmp_path_factory.mktemp("old")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture(scope="module")
def expected(old: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((old / "expected.json").read_text())
    return found


@pytest.mark.parametrize("name", READ)
def test_it_says_what_it_said(name: str, old: Path, expected: dict[str, Any]) -> None:
    with inside(old):
        assert [answer(words) for words in READ[name]] == expected[name]


def test_a_session_is_found_as_it_was_left(old: Path, expected: dict[str, Any]) -> None:
    session = Sitting.open(old / "session.json")
    assert json.loads(json.dumps(session.table.to_dict())) == expected["session.json"][0]


@pytest.mark.parametrize("name", RESUMED)
def test_a_run_goes_on(name: str, old: Path) -> None:
    with inside(old):
        code, said = run(*RESUMED[name], "--out", name, "--resume", "--json")
    assert code == 0, said


@pytest.mark.slow
def test_the_list_is_what_is_written(tmp_path: Path, old: Path) -> None:
    """The script still writes the same kinds of files."""
    write(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} | {"commit.txt"} == {path.name for path in old.iterdir()}
