"""What training by deals on a GPU refuses before the device is asked for anything; the walk: tests/walks/simulated.py."""

from __future__ import annotations

from typing import Any

import pytest

from riverboat.abstraction.cards.card_abstraction import lossless
from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.engines.cuda._kernels import external
from riverboat.games.holdem.action_tree import compile_actions
from riverboat.games.holdem.rules import read_game
from riverboat.solvers.mccfr import cuda_external, cuda_tables
from riverboat.solvers.mccfr.cuda_external import DeviceSampling

LEDUC = read_game("leduc")


def make(**options: Any) -> DeviceSampling:
    return DeviceSampling(compile_actions(LEDUC), lossless(LEDUC.board[1:], LEDUC.deck), **options)


def test_without_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_tables, "why_not", lambda: "no CUDA device is there")
    with pytest.raises(InputError, match="leduc: no training on a GPU: no CUDA device is there; take device='cpu'"):
        make()


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is said to be there."""
    monkeypatch.setattr(cuda_tables, "why_not", lambda: None)


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("wrong", [{"group": 65}, {"group": 0}, {"blocks": 0}, {"threads": 0}])
def test_sizes_that_no_note_can_hold(wrong: dict[str, int]) -> None:
    (name, value), *_ = wrong.items()
    with pytest.raises(InputError, match=rf"{name}={value}.*each at least 1, and groups of at most 64"):
        make(**{"blocks": 1, **wrong})


@pytest.mark.usefixtures("device")
def test_lines_that_are_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external, "LEVELS", 3)
    with pytest.raises(InputError, match=r"leduc: \d+ decisions on a line .* on a GPU at most 3, .* take device='cpu'"):
        make(blocks=1)


@pytest.mark.usefixtures("device")
def test_memory_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_external, "free_bytes", lambda: 1000)
    with pytest.raises(MemoryLimitError, match=r"one group of deals need .* the device has 1 kB free"):
        make(blocks=8)
