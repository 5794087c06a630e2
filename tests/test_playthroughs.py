"""Every registered game still matches its recorded playthrough."""

from __future__ import annotations

from difflib import unified_diff

import pytest

from playthrough import FOLDER, path_of, playthrough
from riverboat.games import registry

HOW = "after a change on purpose: python -m tests.playthrough --write"


@pytest.mark.parametrize("name", registry.GAMES)
def test_playthrough(name: str) -> None:
    path = path_of(name)
    assert path.exists(), f"{name} has no playthrough: python -m tests.playthrough --write"
    before, now = path.read_text(encoding="utf-8"), playthrough(name)
    difference = "\n".join(unified_diff(before.splitlines(), now.splitlines(), "written", "now", lineterm=""))
    assert now == before, f"{name} plays differently; {HOW}\n{difference}"


def test_no_playthrough_without_a_game() -> None:
    left = {path.stem for path in FOLDER.iterdir()} - set(registry.GAMES)
    assert not left, f"playthroughs of games that are not registered: {sorted(left)}"
