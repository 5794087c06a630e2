"""`StrategyMapping`: base class of all stored strategies, a mapping from decisions to what is played there."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import ItemsView, Iterator, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from riverboat.core.errors import InputError, UnknownKeyError, short_repr

V = TypeVar("V")


class StrategyMapping(Mapping[str, V]):
    """Read-only mapping from the decisions of a game, by name, to what a strategy profile plays there.

    `Strategy` maps information sets to probabilities of actions. `Solution` maps lines to nodes with all hands. Code
    that only reads decisions works with both: `len`, iteration, `in`, `[...]`, `get`, `keys`, `values`, `items`; a decision
    has its actions in turn, `strategy[decision][action]`: a number, or in a `Solution` an array over the hands. Both convert
    with `to_frame` and `to_open_spiel`. A key that the game does not have raises `UnknownKeyError`, which is an
    `InputError` and a `KeyError`.

    Parameters
    ----------
    tree
        Compiled game.
    provenance
        Origin of the strategy: method, iterations and so on.

    Attributes
    ----------
    tree
        Compiled game.
    provenance
        Origin of the strategy, read-only.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.strategies.tabular import Strategy
    >>> from riverboat.trees.compile import compile_game
    >>> strategy: StrategyMapping[dict[str, float]] = Strategy.uniform(compile_game(kuhn()))
    >>> len(strategy), next(iter(strategy)), strategy["K:"]
    (12, 'J:', {'c': 0.5, 'r': 0.5})
    """

    def __init__(self, tree: Any, provenance: Mapping[str, Any] | None = None) -> None:
        if provenance is not None and not isinstance(provenance, Mapping):
            raise InputError(f"provenance={short_repr(provenance)}: must be a mapping, or None")
        self.tree = tree
        self.provenance: Mapping[str, Any] = MappingProxyType(dict(provenance or {}))

    def __getitem__(self, key: str) -> V:
        if not isinstance(key, str):
            raise UnknownKeyError(f"{self.tree.name}: {key!r} is not the name of a decision")
        try:
            return self._find(key)
        except InputError as error:
            raise UnknownKeyError(str(error)) from None

    @abstractmethod
    def _find(self, key: str) -> V:
        """Return the value of the decision with a name; raise `InputError` if the game does not have it."""

    @abstractmethod
    def _entries(self) -> Iterator[tuple[str, V]]:
        """Yield the name and the value of every decision, without looking names up."""

    @abstractmethod
    def to_frame(self) -> Any:
        """Return a pandas data frame with the columns infoset, player, action and probability.

        It has a row for each action of each information set.
        """

    @abstractmethod
    def to_open_spiel(self) -> Any:
        """Convert to a `TabularPolicy` of OpenSpiel; raise `InputError` for games that OpenSpiel does not have."""

    def items(self) -> ItemsView[str, V]:
        """Return a view of all pairs of a decision's name and its value."""
        return _Entries(self)


class _Entries(ItemsView[str, V]):
    """Items view that iterates over `_entries` instead of looking up each name."""

    def __init__(self, strategy: StrategyMapping[V]) -> None:
        super().__init__(strategy)
        self._strategy = strategy

    def __iter__(self) -> Iterator[tuple[str, V]]:
        return self._strategy._entries()


def unwrap(strategy: Any) -> Any:
    """Return the strategy of a result; any other object is returned unchanged.

    Parameters
    ----------
    strategy
        Result of a solve, a response or a refinement, or a strategy.

    Returns
    -------
    object
        Its `strategy`, or the object itself.

    Examples
    --------
    >>> import riverboat as rb
    >>> unwrap(rb.solve("kuhn", iterations=1))
    <Strategy for kuhn: 12 information sets>
    """
    inner = None if isinstance(strategy, StrategyMapping | type) else getattr(strategy, "strategy", None)
    return inner if isinstance(inner, StrategyMapping) else strategy
