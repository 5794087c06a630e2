"""A spot without bet sizes is refused: in Python, in spot files and in the terminal alike."""

from __future__ import annotations

from typing import Any

import pytest

from riverboat.api.spots import spot_from_texts
from riverboat.core.errors import InputError
from riverboat.formats.spot_file import loads
from riverboat.games.spots.spot import Spot

SPOT: dict[str, Any] = {"board": "QsJh2h8c3d", "pot": 180, "stack": 910, "oop": "AA", "ip": "KK"}
FILE = 'board = "QsJh2h8c3d"\npot = 180\nstack = 910\n[ranges]\noop = "AA"\nip = "KK"\n'


def test_bets_are_asked_for_everywhere() -> None:
    with pytest.raises(InputError, match='bets are missing: give sizes such as bets="33%, 75%", or bets=""'):
        Spot.make(**SPOT)
    with pytest.raises(InputError, match="bets are missing; write"):
        loads(FILE)
    with pytest.raises(InputError, match="--bets '' for a hand that is checked down"):
        spot_from_texts(**{name: str(value) for name, value in SPOT.items()})


def test_a_check_down_is_explicit() -> None:
    assert {*Spot.make(**SPOT, bets="").betting.actions(0)} == {"x"}
    assert {*loads(FILE + "[bets]\nriver = {}\n").betting.actions(0)} == {"x"}


def test_limit_games_need_no_bets() -> None:
    limit = Spot.make(**SPOT, raise_sizes=[2, 2, 4, 4], most_raises=[4, 4, 4, 4])
    assert len(limit.betting.actions(0)) == 2
