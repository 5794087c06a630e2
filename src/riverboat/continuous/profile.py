"""`Bands`: what a player does in one situation, from weak to strong. `Profile`: the bands of all situations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from riverboat.continuous.game import ContinuousGame
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError


@dataclass(frozen=True)
class Bands:
    """Moves (by number) over intervals: `moves[k]` between cut k - 1 and cut k. Cuts are places on the axis."""

    moves: tuple[int, ...]
    cuts: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.moves) != len(self.cuts) + 1:
            raise InputError(f"bands: {len(self.moves)} moves and {len(self.cuts)} cuts: one move more than cuts")
        if any(b < a for a, b in zip(self.cuts, self.cuts[1:], strict=False)):
            raise InputError(f"bands: cuts {self.cuts}: must not fall")

    def at(self, places: Array) -> Array:
        """The move at each place. int [...]"""
        moves: Array = np.asarray(self.moves)[np.searchsorted(np.asarray(self.cuts), places, side="right")]
        return moves

    def merged(self, least: float = 0.0) -> Bands:
        """Without bands that are no wider than `least`, and with equal neighbours as one."""
        moves, cuts = [self.moves[0]], list[float]()
        for cut, move in zip(self.cuts, self.moves[1:], strict=True):
            if cuts and cut - cuts[-1] <= least:
                cuts.pop()
                moves.pop()
            if move != moves[-1]:
                moves.append(move)
                cuts.append(cut)
        return Bands(tuple(moves), tuple(cuts))


@dataclass(frozen=True, eq=False)
class Profile:
    """What all players do, in all situations, with all signals."""

    game: ContinuousGame
    bands: tuple[Bands, ...]  # [situations]

    def __post_init__(self) -> None:
        if len(self.bands) != len(self.game.situations):
            raise InputError(f"{self.game.name}: {len(self.bands)} bands for {len(self.game.situations)} situations")
        for situation, bands in zip(self.game.situations, self.bands, strict=True):
            if not all(0 <= m < len(situation.moves) for m in bands.moves):
                raise InputError(f"{self.game.name}: {situation.name}: moves are {', '.join(situation.moves)}")

    @staticmethod
    def make(game: ContinuousGame, bands: Mapping[str, tuple[str, tuple[float, ...]]]) -> Profile:
        """From words: `{"root": ("b x b", (0.1, 0.7)), …}`, cuts as places on the axis."""
        made = []
        for situation in game.situations:
            if situation.name not in bands:
                raise InputError(f"{game.name}: no bands for situation {situation.name!r}")
            words, cuts = bands[situation.name]
            made.append(Bands(read_moves(words, situation.moves, situation.name), tuple(map(float, cuts))))
        for name in bands:
            game.situation(name)
        return Profile(game, tuple(made))

    @property
    def cuts(self) -> Array:
        """All thresholds, situation by situation. float64 [thresholds]"""
        return np.array([c for bands in self.bands for c in bands.cuts], float)

    def moved(self, cuts: Array) -> Profile:
        """The same bands with other thresholds."""
        changed, at = [], 0
        for bands in self.bands:
            n = len(bands.cuts)
            changed.append(Bands(bands.moves, tuple(map(float, cuts[at : at + n]))))
            at += n
        return Profile(self.game, tuple(changed))

    def thresholds(self) -> Iterator[tuple[int, int, float]]:
        """Situation, number among its cuts, place: of all thresholds."""
        for s, bands in enumerate(self.bands):
            for k, cut in enumerate(bands.cuts):
                yield s, k, cut

    def to_dict(self) -> dict[str, Any]:
        """For JSON: moves and thresholds in the users' numbers, with the players' shares below them."""
        signals, situations = self.game.signals, {}
        for situation, bands in zip(self.game.situations, self.bands, strict=True):
            shares = [float(signals.cdf(situation.player, np.asarray(c))) for c in bands.cuts]
            situations[situation.name] = {
                "player": situation.player,
                "moves": [situation.moves[m] for m in bands.moves],
                "thresholds": [signals.value(c) for c in bands.cuts],
                "shares": shares,
            }
        return situations


def read_moves(words: str, moves: tuple[str, ...], where: str) -> tuple[int, ...]:
    """Numbers of moves written one after the other: `b x b`."""
    numbers = []
    for word in words.split():
        if word not in moves:
            raise InputError(f"{where}: no move {word!r}; there are {', '.join(moves)}")
        numbers.append(moves.index(word))
    if not numbers:
        raise InputError(f"{where}: no moves; write some of {', '.join(moves)} from weak to strong")
    return tuple(numbers)
