"""`Model`: a qualitative model, the moves of each situation from weak to strong with the thresholds left open.

A model may also say in which order all thresholds lie, across situations and players (Ganzfried & Sandholm 2010 give that
order as part of a model). With the order everything that a player compares is linear in the distribution functions at the
thresholds; without it, the order is found with the thresholds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any, TypeAlias

import numpy as np

from riverboat.continuous.game import ContinuousGame
from riverboat.continuous.profile import Bands, Profile, read_moves
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError

Threshold: TypeAlias = tuple[int, int]  # situation, and number among its cuts from 0
Order: TypeAlias = tuple[Threshold, ...]


@dataclass(frozen=True)
class Model:
    """Moves (by number) of each situation of a game, from weak to strong."""

    name: str
    bands: tuple[tuple[int, ...], ...]  # [situations]
    order: Order | None = None  # of all thresholds, from weak to strong

    @property
    def thresholds(self) -> tuple[Threshold, ...]:
        """All of them, situation by situation."""
        return tuple((s, k) for s, moves in enumerate(self.bands) for k in range(len(moves) - 1))

    @staticmethod
    def make(game: ContinuousGame, bands: Mapping[str, str], order: str | None = None, name: str = "model") -> Model:
        """From words: `{"root": "b x b", "b": "f c"}` and, where it is known, `"root:1 b:1 root:2"`."""
        moves_of = []
        for situation in game.situations:
            if situation.name not in bands:
                raise InputError(f"model {name!r}: no moves for situation {situation.name!r}")
            moves = read_moves(bands[situation.name], situation.moves, f"model {name!r}: {situation.name}")
            if any(a == b for a, b in pairwise(moves)):
                raise InputError(f"model {name!r}: {situation.name}: {bands[situation.name]!r}: neighbours must differ")
            moves_of.append(moves)
        for word in bands:
            game.situation(word)
        model = Model(name, tuple(moves_of))
        return model if order is None else model.ordered(_read_order(game, model, order))

    def ordered(self, order: Iterable[Threshold]) -> Model:
        """The same model with an order of its thresholds."""
        thresholds = tuple(order)
        if sorted(thresholds) != sorted(self.thresholds):
            raise InputError(f"model {self.name!r}: the order must name each of {len(self.thresholds)} thresholds once")
        for s in range(len(self.bands)):
            mine = [k for situation, k in thresholds if situation == s]
            if mine != sorted(mine):
                raise InputError(f"model {self.name!r}: the order exchanges thresholds of one situation")
        return Model(self.name, self.bands, thresholds)

    def order_of(self, cuts: Array) -> Order:
        """The order in which given places of the thresholds lie; equal ones stay as they are numbered."""
        names = self.thresholds
        return tuple(names[k] for k in np.argsort(cuts, kind="stable"))

    def profile(self, game: ContinuousGame, cuts: Array) -> Profile:
        """The model with its thresholds at places."""
        bands, at = [], 0
        for moves in self.bands:
            bands.append(Bands(moves, tuple(map(float, cuts[at : at + len(moves) - 1]))))
            at += len(moves) - 1
        return Profile(game, tuple(bands))

    def words(self, game: ContinuousGame) -> dict[str, str]:
        """The moves as words, by situation."""
        return {
            situation.name: " ".join(situation.moves[m] for m in moves)
            for situation, moves in zip(game.situations, self.bands, strict=True)
        }

    def order_words(self, game: ContinuousGame) -> str | None:
        """The order as words."""
        if self.order is None:
            return None
        return " ".join(f"{game.situations[s].name}:{k + 1}" for s, k in self.order)

    def to_dict(self, game: ContinuousGame) -> dict[str, Any]:
        """For JSON."""
        return {"name": self.name, "bands": self.words(game), "order": self.order_words(game)}


def of_profile(profile: Profile, name: str = "model") -> Model:
    """The model of a profile, with the order of its thresholds."""
    model = Model(name, tuple(bands.moves for bands in profile.bands))
    return model.ordered(model.order_of(profile.cuts))


def every(game: ContinuousGame, choices: Mapping[str, Iterable[str]]) -> list[Model]:
    """All models that take one list of moves for each situation: `{"root": ("x b", "b x b"), …}`."""
    lists = []
    for situation in game.situations:
        if situation.name not in choices:
            raise InputError(f"{game.name}: no lists of moves for situation {situation.name!r}")
        lists.append([(situation.name, words) for words in choices[situation.name]])
    return [Model.make(game, dict(picked), name=f"model {n}") for n, picked in enumerate(product(*lists), start=1)]


def _read_order(game: ContinuousGame, model: Model, words: str) -> Order:
    thresholds = []
    for word in words.split():
        name, colon, number = word.rpartition(":")
        if not colon or not number.isdigit():
            raise InputError(f"model {model.name!r}: order: {word!r}: write a situation and a number, root:1")
        s, k = game.situation(name), int(number) - 1
        if (s, k) not in model.thresholds:
            raise InputError(
                f"model {model.name!r}: order: {name} has {len(model.bands[s]) - 1} thresholds, not {word!r}"
            )
        thresholds.append((s, k))
    return tuple(thresholds)
