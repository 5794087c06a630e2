"""Invalid options of external sampling on a GPU, rejected before a device is used.

The kernels are tested in tests/engines/simulated.py.
"""

from __future__ import annotations

from typing import Any

import pytest

from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.engines.cuda._kernels import external
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.games.holdem.rules import read_game
from riverboat.solvers.mccfr import cuda_trainer
from riverboat.solvers.mccfr.trainer import BlueprintTrainer

LEDUC = read_game("leduc")


def make(**options: Any) -> BlueprintTrainer:
    cards = lossless_abstraction(LEDUC.board[1:], LEDUC.deck)
    return BlueprintTrainer(compile_action_tree(LEDUC), cards, device="cuda", **options)


def test_without_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_trainer, "cuda_unavailable_reason", lambda: "no CUDA device is there")
    with pytest.raises(InputError, match=r"leduc: .*no CUDA device is there.*device='cpu'"):
        make()


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that a device is available."""
    monkeypatch.setattr(cuda_trainer, "cuda_unavailable_reason", lambda: None)


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("wrong", [{"group": 65}, {"group": 0}, {"blocks": 0}, {"threads": 0}])
def test_invalid_sizes(wrong: dict[str, int]) -> None:
    (name, value), *_ = wrong.items()
    with pytest.raises(InputError, match=rf"{name}={value}\b.*\b64$"):
        make(**{"blocks": 1, **wrong})


@pytest.mark.usefixtures("device")
def test_too_long_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external, "LEVELS", 3)
    with pytest.raises(InputError, match=r"leduc: \d+ decisions .* at most 3\b.*device='cpu'"):
        make(blocks=1)


@pytest.mark.usefixtures("device")
def test_insufficient_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_trainer, "free_bytes", lambda: 1000)
    with pytest.raises(MemoryLimitError, match=r"leduc: .*1 kB free"):
        make(blocks=8)
