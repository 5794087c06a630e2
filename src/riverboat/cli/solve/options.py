"""What `riverboat solve` may be asked for: how to solve, a spot by flags, a match state."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from math import inf, nan
from pathlib import Path
from typing import Any

from riverboat.core.errors import InputError, shown
from riverboat.engines.devices import CPU
from riverboat.games.base import Game
from riverboat.solvers.limits import Limits, limits_for


@dataclass(frozen=True, kw_only=True)
class SolveOptions:
    """How to solve, when to stop, and where the run lives."""

    traversal: str = "full"
    method: str = "cfr"
    iterations: int | None = None
    time: float | None = None  # seconds
    until: str | None = None  # as it is typed
    target: float | None = None  # what that is in the game's unit
    memory: int | None = None  # bytes
    out: Path | None = None
    resume: bool = False
    log: Path | None = None
    threads: int = 1
    seed: int = 0
    dtype: str | None = None
    device: str = CPU
    cards: str | None = None
    check_every: int | None = None
    checkpoint_seconds: float = 60.0
    answer: str | None = None  # last or best

    @property
    def limits(self) -> Limits:
        """When the solve ends."""
        return Limits(self.iterations, self.time, self.target)

    def aimed(self, unit: str) -> SolveOptions:
        """With the target that `until` asks for, in the game's unit."""
        return self if self.until is None else replace(self, target=target(self.until, unit))

    def for_game(self, game: Game) -> SolveOptions:
        """With the target in the game's unit, and with the default limits of the game where none are given."""
        aimed = self.aimed(getattr(game, "scale", (game.unit, 1.0))[0])
        iterations, time, until = limits_for(game, self.method, aimed.limits)
        return replace(aimed, iterations=iterations, time=time, target=until)


def target(text: str, unit: str) -> float:
    """What `--until` asks for, in the game's unit: `1e-3`, or `0.5%` where that is % of the pot."""
    number = text.strip()
    if number.endswith("%"):
        if "%" not in unit:
            raise InputError(f"--until {shown(text)}: exploitability is counted in {unit} here; write a plain number")
        number = number[:-1]
    try:
        wanted = float(number)
    except ValueError:
        wanted = nan
    if not 0 < wanted < inf:
        example = "0.5%" if "%" in unit else "1e-3"
        raise InputError(f"--until {shown(text)}: write a number above zero in {unit}, such as {example}")
    return wanted


@dataclass(frozen=True, kw_only=True)
class SpotFlags:
    """A spot by flags; what is None was not given."""

    board: str | None = None
    pot: int | None = None
    stack: int | None = None
    oop: str | None = None
    ip: str | None = None
    bets: str | None = None
    raises: str | None = None
    donks: str | None = None
    rake: str | None = None
    rake_cap: float | None = None
    add_all_in: str | None = None
    force_all_in: str | None = None
    merge: str | None = None
    donk_bets: bool | None = None
    raise_cap: int | None = None
    rules: str | None = None

    def given(self) -> dict[str, Any]:
        """Those that were given, by name."""
        return _given(self)


@dataclass(frozen=True, kw_only=True)
class TableFlags:
    """What goes with a match state; what is None was not given."""

    ranges: str | None = None
    menu: Path | None = None
    game: str | None = None
    floor: float | None = None
    spot_file: Path | None = None

    def given(self) -> dict[str, Any]:
        """Those that were given, by name."""
        return _given(self)


def _given(flags: SpotFlags | TableFlags) -> dict[str, Any]:
    every = {field.name: getattr(flags, field.name) for field in fields(flags)}
    return {name: value for name, value in every.items() if value is not None}
