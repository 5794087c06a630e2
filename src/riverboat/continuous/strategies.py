"""Threshold strategies: actions by intervals of the signal, and qualitative models whose thresholds are unknown.

`ActionBands` is the strategy of one situation, `ThresholdProfile` that of all situations. A `QualitativeModel` has the
actions of each situation from weak to strong without thresholds (Ganzfried & Sandholm 2010).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from typing import Any, TypeAlias, TypeVar

import numpy as np

from riverboat.continuous.game import ContinuousGame, ContinuousSituation
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError

Entry = TypeVar("Entry")


@dataclass(frozen=True)
class ActionBands:
    """Actions (by index) over intervals of the axis: `moves[k]` between cut k - 1 and cut k.

    Parameters
    ----------
    moves
        Action of each band, from weak to strong.
    cuts
        Thresholds between the bands, not decreasing; one less than bands.

    Raises
    ------
    InputError
        If the numbers of moves and cuts do not match, or cuts decrease.

    Examples
    --------
    >>> ActionBands((1, 0, 1), (0.1, 0.7)).moves_at(np.array([0.05, 0.5, 0.9]))
    array([1, 0, 1])
    """

    moves: tuple[int, ...]
    cuts: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.moves) != len(self.cuts) + 1:
            raise InputError(
                f"bands: {len(self.moves)} moves and {len(self.cuts)} cuts: must have one move more than cuts"
            )
        if any(b < a for a, b in pairwise(self.cuts)):
            raise InputError(f"bands: cuts {self.cuts}: must not decrease")

    def moves_at(self, positions: Array) -> Array:
        """Return the action of a player with each private signal. int [...]

        Parameters
        ----------
        positions
            Private signals, in the unit of the cuts. float64 [...]
        """
        return np.take(self.moves, np.searchsorted(self.cuts, positions, side="right"))

    def merge_narrow(self) -> ActionBands:
        """Drop bands without width, and merge neighbours with the same action."""
        moves, cuts = [self.moves[0]], list[float]()
        for cut, move in zip(self.cuts, self.moves[1:], strict=True):
            if cuts and cut <= cuts[-1]:
                cuts.pop()
                moves.pop()
            if move != moves[-1]:
                moves.append(move)
                cuts.append(cut)
        return ActionBands(tuple(moves), tuple(cuts))


@dataclass(frozen=True, eq=False)
class ThresholdProfile:
    """The strategy profile of all players: bands for each situation.

    Parameters
    ----------
    game
        The game.
    bands
        Bands of each situation.

    Raises
    ------
    InputError
        If the number of bands or an action does not fit the game.

    Examples
    --------
    >>> from riverboat.continuous.examples import river
    >>> profile = ThresholdProfile.from_words(
    ...     river(street="half"), {"root": ("b x b", (0.1, 0.7)), "b": ("f c", (0.4,))}
    ... )
    >>> profile.cuts
    array([0.1, 0.7, 0.4])
    """

    game: ContinuousGame
    bands: tuple[ActionBands, ...]  # [situations]

    def __post_init__(self) -> None:
        if len(self.bands) != len(self.game.situations):
            raise InputError(f"{self.game.name}: {len(self.bands)} bands for {len(self.game.situations)} situations")
        for situation, bands in zip(self.game.situations, self.bands, strict=True):
            if not all(0 <= m < len(situation.moves) for m in bands.moves):
                raise InputError(
                    f"{self.game.name}: {situation.name}: moves must be among {', '.join(situation.moves)}"
                )

    @staticmethod
    def from_words(game: ContinuousGame, bands: Mapping[str, tuple[str, tuple[float, ...]]]) -> ThresholdProfile:
        """Build a profile from words.

        Parameters
        ----------
        game
            The game.
        bands
            Moves from weak to strong and cuts, by situation: `{"root": ("b x b", (0.1, 0.7)), …}`. Cuts are positions
            on the axis.

        Raises
        ------
        InputError
            If a situation is missing or unknown, or a move is unknown.
        """
        entries = _entries_by_situation(game, bands, f"{game.name}: no bands")
        parsed = [(parse_moves(words, s.moves, s.name), tuple(map(float, cuts))) for s, (words, cuts) in entries]
        return ThresholdProfile(game, tuple(ActionBands(moves, cuts) for moves, cuts in parsed))

    @property
    def cuts(self) -> Array:
        """All thresholds, situation by situation. float64 [thresholds]"""
        return np.array([c for bands in self.bands for c in bands.cuts], float)

    def thresholds(self) -> Iterator[tuple[int, int, float]]:
        """Iterate over all thresholds: situation, index among its cuts, position."""
        for s, bands in enumerate(self.bands):
            for k, cut in enumerate(bands.cuts):
                yield s, k, cut

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary for JSON, in the user's units, with the probability below each threshold."""
        signals = self.game.signals
        return {
            situation.name: {
                "player": situation.player,
                "moves": [situation.moves[m] for m in bands.moves],
                "thresholds": [signals.value(c) for c in bands.cuts],
                "shares": [float(signals.cdf(situation.player, np.asarray(c))) for c in bands.cuts],
            }
            for situation, bands in zip(self.game.situations, self.bands, strict=True)
        }


def _entries_by_situation(
    game: ContinuousGame, entries: Mapping[str, Entry], missing: str
) -> Iterator[tuple[ContinuousSituation, Entry]]:
    """Iterate over the situations of a game with their entries; raise InputError if one is missing or unknown."""
    for situation in game.situations:
        if situation.name not in entries:
            raise InputError(f"{missing} for situation {situation.name!r}")
        yield situation, entries[situation.name]
    for name in entries:
        game.situation_index(name)


def parse_moves(words: str, moves: tuple[str, ...], where: str) -> tuple[int, ...]:
    """Parse actions in sequence, such as `b x b`, to indices.

    Parameters
    ----------
    words
        Labels separated by blanks.
    moves
        Labels of the situation.
    where
        Place for error messages.

    Returns
    -------
    tuple of int
        Indices of the actions.

    Raises
    ------
    InputError
        If a label is unknown, or there is none.

    Examples
    --------
    >>> parse_moves("b x b", ("x", "b"), "root")
    (1, 0, 1)
    """
    indices = []
    for word in words.split():
        if word not in moves:
            raise InputError(f"{where}: unknown move {word!r}; use one of {', '.join(moves)}")
        indices.append(moves.index(word))
    if not indices:
        raise InputError(f"{where}: no moves; list moves of {', '.join(moves)} from weak to strong")
    return tuple(indices)


def split_cuts(moves: Sequence[tuple[int, ...]], cuts: Array) -> list[Array]:
    """Split the thresholds of all situations, given the actions of each, into those of one situation.

    Parameters
    ----------
    moves
        Actions of the bands of each situation.
    cuts
        Thresholds, situation by situation, float64 [thresholds].

    Returns
    -------
    list of Array
        Thresholds of each situation.

    Examples
    --------
    >>> split_cuts(((0, 1), (0, 1, 0)), np.array([0.5, 0.2, 0.7]))
    [array([0.5]), array([0.2, 0.7])]
    """
    return np.split(np.asarray(cuts, float), np.cumsum([len(bands) - 1 for bands in moves])[:-1])


def sort_cuts(moves: Sequence[tuple[int, ...]], cuts: Array) -> Array:
    """Raise thresholds that lie below an earlier one of their situation to that one. float64 [thresholds]

    Parameters
    ----------
    moves
        Actions of the bands of each situation.
    cuts
        Thresholds, situation by situation, float64 [thresholds].

    Returns
    -------
    Array
        Thresholds that do not decrease within a situation.

    Examples
    --------
    >>> sort_cuts(((0, 1), (0, 1, 0)), np.array([0.5, 0.2, 0.1]))
    array([0.5, 0.2, 0.2])
    """
    return np.concatenate([np.maximum.accumulate(part) for part in split_cuts(moves, cuts)])


# --- Qualitative models ---

ThresholdId: TypeAlias = tuple[int, int]  # situation, and index among its cuts
ThresholdOrder: TypeAlias = tuple[ThresholdId, ...]


@dataclass(frozen=True)
class QualitativeModel:
    """The actions (by index) of each situation of a game, from weak to strong, with unknown thresholds.

    Parameters
    ----------
    name
        Name in messages and results.
    bands
        Actions of each situation, from weak to strong.
    order
        Order of all thresholds from weak to strong, as pairs of a situation and an index; None if unknown.

    References
    ----------
    .. [1] Ganzfried and Sandholm, "Computing equilibria by incorporating qualitative models", AAMAS 2010.

    Examples
    --------
    >>> from riverboat.continuous.examples import river
    >>> model = QualitativeModel.from_words(
    ...     river(street="half"), {"root": "b x b", "b": "f c"}, order="root:1 b:1 root:2"
    ... )
    >>> model.bands, model.order
    (((1, 0, 1), (0, 1)), ((0, 0), (1, 0), (0, 1)))
    """

    name: str
    bands: tuple[tuple[int, ...], ...]  # [situations]
    order: ThresholdOrder | None = None  # of all thresholds, from weak to strong

    @property
    def thresholds(self) -> tuple[ThresholdId, ...]:
        """All thresholds, situation by situation."""
        return tuple((s, k) for s, moves in enumerate(self.bands) for k in range(len(moves) - 1))

    @staticmethod
    def from_words(
        game: ContinuousGame, bands: Mapping[str, str], order: str | None = None, name: str = "model"
    ) -> QualitativeModel:
        """Build a model from words.

        Parameters
        ----------
        game
            The game.
        bands
            Moves from weak to strong, by situation: `{"root": "b x b", "b": "f c"}`.
        order
            Order of all thresholds, such as `"root:1 b:1 root:2"`; None if unknown.
        name
            Name of the model.

        Raises
        ------
        InputError
            If a situation is missing or unknown, a move is unknown, neighbours are equal, or the order is invalid.
        """
        moves_of = []
        for situation, words in _entries_by_situation(game, bands, f"model {name!r}: no moves"):
            moves = parse_moves(words, situation.moves, f"model {name!r}: {situation.name}")
            if any(a == b for a, b in pairwise(moves)):
                raise InputError(f"model {name!r}: {situation.name}: {words!r}: neighbours must differ")
            moves_of.append(moves)
        model = QualitativeModel(name, tuple(moves_of))
        return model if order is None else model.with_order(_parse_order(game, model, order))

    def with_order(self, order: Iterable[ThresholdId]) -> QualitativeModel:
        """Return the same model with an order of its thresholds.

        Parameters
        ----------
        order
            Every threshold once, those of one situation in their own order.

        Raises
        ------
        InputError
            If a threshold is missing, doubled or swapped.
        """
        thresholds = tuple(order)
        if sorted(thresholds) != sorted(self.thresholds):
            raise InputError(f"model {self.name!r}: the order must name each of {len(self.thresholds)} thresholds once")
        if any(a == b and j > k for (a, j), (b, k) in combinations(thresholds, 2)):
            raise InputError(f"model {self.name!r}: the order swaps thresholds of one situation")
        return QualitativeModel(self.name, self.bands, thresholds)

    def order_of(self, cuts: Array) -> ThresholdOrder:
        """Return the order of thresholds at these positions; ties keep the order of indices.

        Parameters
        ----------
        cuts
            Thresholds, situation by situation, float64 [thresholds].
        """
        return tuple(self.thresholds[k] for k in np.argsort(cuts, kind="stable"))

    def profile(self, game: ContinuousGame, cuts: Array) -> ThresholdProfile:
        """Return the profile with the thresholds at these positions.

        Parameters
        ----------
        game
            The game.
        cuts
            Thresholds, situation by situation, float64 [thresholds].
        """
        parts = zip(self.bands, split_cuts(self.bands, cuts), strict=True)
        return ThresholdProfile(game, tuple(ActionBands(moves, tuple(part.tolist())) for moves, part in parts))

    def band_words(self, game: ContinuousGame) -> dict[str, str]:
        """Return the actions as words, by situation.

        Parameters
        ----------
        game
            The game.
        """
        pairs = zip(game.situations, self.bands, strict=True)
        return {situation.name: " ".join(situation.moves[m] for m in moves) for situation, moves in pairs}

    def order_words(self, game: ContinuousGame) -> str | None:
        """Return the order as words, or None.

        Parameters
        ----------
        game
            The game.
        """
        if self.order is None:
            return None
        return " ".join(f"{game.situations[s].name}:{k + 1}" for s, k in self.order)

    def to_dict(self, game: ContinuousGame) -> dict[str, Any]:
        """Convert to a dictionary for JSON.

        Parameters
        ----------
        game
            The game.
        """
        return {"name": self.name, "bands": self.band_words(game), "order": self.order_words(game)}


def model_of_profile(profile: ThresholdProfile, name: str = "model") -> QualitativeModel:
    """Return the model of a profile, with the order of its thresholds.

    Parameters
    ----------
    profile
        Threshold profile.
    name
        Name of the model.

    Returns
    -------
    QualitativeModel
        The model.

    Examples
    --------
    >>> from riverboat.continuous.examples import river
    >>> game = river(street="half")
    >>> profile = ThresholdProfile.from_words(game, {"root": ("b x b", (0.1, 0.7)), "b": ("f c", (0.4,))})
    >>> model_of_profile(profile).order_words(game)
    'root:1 b:1 root:2'
    """
    model = QualitativeModel(name, tuple(bands.moves for bands in profile.bands))
    return model.with_order(model.order_of(profile.cuts))


def enumerate_models(game: ContinuousGame, choices: Mapping[str, Iterable[str]]) -> list[QualitativeModel]:
    """List all models that take one list of actions for each situation.

    Parameters
    ----------
    game
        The game.
    choices
        Lists of moves by situation: `{"root": ("x b", "b x b"), …}`.

    Returns
    -------
    list of QualitativeModel
        All combinations, without orders.

    Raises
    ------
    InputError
        If a situation is missing.

    Examples
    --------
    >>> from riverboat.continuous.examples import river
    >>> len(enumerate_models(river(street="half"), {"root": ("x b", "b x b"), "b": ("f c",)}))
    2
    """
    lists = []
    for situation in game.situations:
        if situation.name not in choices:
            raise InputError(f"{game.name}: no lists of moves for situation {situation.name!r}")
        lists.append([(situation.name, words) for words in choices[situation.name]])
    combinations = enumerate(product(*lists), start=1)
    return [QualitativeModel.from_words(game, dict(words), name=f"model {number}") for number, words in combinations]


def _parse_order(game: ContinuousGame, model: QualitativeModel, words: str) -> ThresholdOrder:
    thresholds = []
    for word in words.split():
        name, colon, number = word.rpartition(":")
        if not colon or not number.isdigit():
            raise InputError(f"model {model.name!r}: order: {word!r}: write a situation and a number, root:1")
        s, k = game.situation_index(name), int(number) - 1
        if (s, k) not in model.thresholds:
            raise InputError(
                f"model {model.name!r}: order: {name} has {len(model.bands[s]) - 1} thresholds, not {word!r}"
            )
        thresholds.append((s, k))
    return tuple(thresholds)
