"""Games that continue as smaller games: those are solved first, cached, and stored with saved strategies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

import riverboat as rb
from riverboat.core.errors import InputError
from riverboat.games.base import Continuation, Game
from riverboat.solvers import game_values as values

THIRD = [[3.0, -1.0], [-1.0, 1.0]]  # by hand: 1/3 to player 0


@dataclass(frozen=True, eq=False)
class Rounds:
    """Matching actions pay the value of the next round, which may continue itself."""

    left: int
    last: Any = None
    width: float = 1e-6
    values: Mapping[str, float] = field(default_factory=dict)
    unit: str = "points"
    players: int = 2

    @property
    def name(self) -> str:
        return f"rounds {self.left}"

    @property
    def continuations(self) -> dict[str, Continuation]:
        last = self.last if self.last is not None else rb.matrix(THIRD)
        after: Game = replace(self, left=self.left - 1) if self.left > 1 else last
        return {"next": Continuation(after, self.width)}

    def with_values(self, values: Mapping[str, float]) -> Rounds:
        return replace(self, values={**self.values, **values})

    def root(self) -> Any:
        return rb.matrix([[self.values["next"], 0], [0, self.values["next"]]]).root()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(values, "cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache" / "values"


@pytest.mark.parametrize("left", [1, 2, 3])
def test_every_round_halves_the_value(left: int) -> None:
    """A round [[v, 0], [0, v]] has the value v / 2; so n of them before the last have 1/3 · 2^-n."""
    assert rb.solve(Rounds(left), method="lp").value == pytest.approx(2.0**-left / 3, abs=2e-6)


def test_cached_values_are_used_and_validated(cache: Path) -> None:
    rb.game(Rounds(1))
    (path,) = cache.iterdir()
    stored = json.loads(path.read_text())
    assert stored["low"] <= 1 / 3 <= stored["high"]
    assert stored["high"] - stored["low"] <= 1e-6
    path.write_text(json.dumps(stored | {"low": 0.2, "value": 0.25}))
    assert rb.game(Rounds(1)).values["next"] == 0.25  # type: ignore[union-attr]
    path.write_text(json.dumps(stored | {"value": 7.0}))  # outside its interval: solved again
    assert rb.game(Rounds(1)).values["next"] == pytest.approx(1 / 3, abs=1e-6)  # type: ignore[union-attr]


def test_cache_distinguishes_games_and_widths(cache: Path) -> None:
    for game in (Rounds(1), Rounds(1, rb.matrix([[2.0, 0], [0, 2.0]])), Rounds(1, width=1e-3), Rounds(1)):
        rb.game(game)
    assert len(list(cache.iterdir())) == 3


def test_registered_games_are_cached_by_name(cache: Path) -> None:
    result = rb.game(Rounds(1, rb.game("kuhn"), 1e-3))
    assert result.values["next"] == pytest.approx(-1 / 18, abs=1e-3)  # type: ignore[union-attr]
    (path,) = cache.iterdir()
    assert json.loads(path.read_text())["recipe"]["game"] == "kuhn"


def test_given_values_are_not_computed(cache: Path) -> None:
    assert rb.solve(Rounds(1).with_values({"next": 1.0}), method="lp").value == pytest.approx(0.5)
    assert not cache.exists()


@pytest.mark.parametrize(
    ("game", "message"),
    [
        (Rounds(1, rb.matrix([[[1, 0], [0, 1]], [[1, 0], [0, 2]]])), "rounds 1 .*matrix.*constant-sum"),
        (Rounds(1, width=0.0), "rounds 1: .*matrix to within 0: "),
    ],
)
def test_games_without_a_value_are_rejected(game: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        rb.game(game)


def test_values_are_stored_with_strategies(tmp_path: Path) -> None:
    solved = rb.solve(Rounds(1), iterations=10, out=tmp_path / "run")
    again = rb.load(tmp_path / "run", game=Rounds(1))
    assert again == solved.strategy
