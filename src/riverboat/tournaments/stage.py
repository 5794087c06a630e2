"""A hand of push or fold as a game over classes of starting hands: what every decision is worth, exactly.

Two or three players. Hands come from one deck: two or three classes have the weight of the ways to deal them, and who wins
is known for all of them, with the cards of a player who folded out of the deck (`riverboat.tournaments.orders`). Suits are
alike before the flop, so a class forgets nothing.

    stage = Stage(PushFold((10, 10)))
    worth = stage.counterfactual(strategy)        # float64 [lines, 2, 169]: of going all-in, of folding
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from riverboat.arrays import Array
from riverboat.errors import InputError
from riverboat.tournaments.orders import ORDERS, ThreeWay, TwoWay, three_way, triples, two_way
from riverboat.tournaments.push_fold import JAM, PushFold

PLAYERS = (2, 3)


@dataclass(frozen=True, eq=False)
class Deals:
    """How often classes are dealt, and how they stand: axes are the classes of the players, in their order."""

    weights: Array  # float32 [classes, …]: the chance of these classes
    orders: tuple[
        tuple[tuple[int, ...], Array], ...
    ]  # how many are better than each player; float32 [classes, …]: its chance

    @property
    def classes(self) -> int:
        """Of hands."""
        return len(self.weights)

    @property
    def players(self) -> int:
        """Who are dealt hands."""
        return self.weights.ndim


def pairs(table: TwoWay) -> Deals:
    """Deals to two players."""
    orders = ((0, 1), table.wins), ((1, 0), table.wins.T), ((0, 0), table.ties)
    return Deals(
        (table.hands / table.hands.sum()).astype(np.float32),
        tuple((order, x.astype(np.float32)) for order, x in orders),
    )


def cubes(table: ThreeWay) -> Deals:
    """Deals to three players: the table has classes in ascending order, here they stand in every order."""
    a, b, c = triples(table.classes)
    sixfold = [((a, b, c), (0, 1, 2)), ((a, c, b), (0, 2, 1)), ((b, a, c), (1, 0, 2))]
    sixfold += [((b, c, a), (1, 2, 0)), ((c, a, b), (2, 0, 1)), ((c, b, a), (2, 1, 0))]
    weights = np.zeros((table.classes,) * 3, np.float32)
    for at, _ in sixfold:
        weights[at] = table.hands
    found = []
    for order in ORDERS:
        cube = np.zeros_like(weights)
        for at, place in sixfold:  # player k holds the class that stands at place[k] of the ascending ones
            ascending = tuple(order[place.index(p)] for p in range(3))
            cube[at] = table.shares[:, ORDERS.index(ascending)]
        found.append((order, cube))
    return Deals((weights / weights.sum(dtype=np.float64)).astype(np.float32), tuple(found))


@cache
def deals_to(players: int, threads: int = 1) -> Deals:
    """Deals of the 169 classes of starting hands."""
    return pairs(two_way(threads)) if players == 2 else cubes(three_way(threads))


class Stage:
    """Pay-offs of a spot for all classes. A strategy is the probability to go all-in. float64 [lines, classes]"""

    def __init__(self, spot: PushFold, deals: Deals | None = None) -> None:
        if spot.players not in PLAYERS:
            raise InputError(f"{spot.players} players: two or three can be solved exactly")
        self.spot = spot
        self.deals = deals_to(spot.players) if deals is None else deals
        if self.deals.players != spot.players:
            raise InputError(f"deals to {self.deals.players} players, and {spot.players} stacks")
        self.classes = self.deals.classes
        self.lines = {line: k for k, line in enumerate(spot.lines)}
        self._pays = {end: self._pay(end) for end in spot.ends}

    def _pay(self, end: str) -> tuple[Array, Array] | Array:
        """Worth of a line's end times the weight of the classes. float32 [players, classes, …], or constants"""
        spot, deals = self.spot, self.deals
        if end.count(JAM) < 2:
            return deals.weights, spot.worth(np.array([spot.after(end, ())]))[0]
        out = np.zeros((spot.players, *deals.weights.shape), np.float32)
        worth = spot.worth(np.array([spot.after(end, order) for order, _ in deals.orders]))
        alike: dict[bytes, Array] = {}  # orders that come to the same are one
        for (_, chance), row in zip(deals.orders, worth, strict=True):
            alike[row.tobytes()] = alike[row.tobytes()] + chance if row.tobytes() in alike else chance
        for row, chance in alike.items():
            for i, value in enumerate(np.frombuffer(row)):
                out[i] += np.float32(value) * chance
        out *= deals.weights
        return out

    def counterfactual(self, strategy: Array, fresh: bool = True) -> Array:
        """What going all-in and folding are worth at every line with every class, times the chance that chance and the others
        lead there. float64 [lines, 2, classes]. It is always fresh."""
        found = np.zeros((len(self.lines), 2, self.deals.classes))
        for end, i, value in self._contracted(strategy):
            if end[:i] in self.lines:
                found[self.lines[end[:i]], 0 if end[i] == JAM else 1] += value
        return found

    def values(self, strategy: Array) -> Array:
        """What each player gets. float64 [players]"""
        out = np.zeros(self.spot.players)
        for end, i, value in self._contracted(strategy):
            out[i] += value @ self._played(strategy, end, i)
        return out

    def _played(self, strategy: Array, end: str, player: int) -> Array:
        """How often a player with each class makes its move of a line."""
        line = self.lines.get(end[:player])
        if line is None:
            return np.ones(self.deals.classes)  # nobody was left to play against
        jam = strategy[line]
        return np.asarray(jam if end[player] == JAM else 1.0 - jam)

    def _contracted(self, strategy: Array) -> Iterator[tuple[str, int, Array]]:
        """For every end and player: its worth by the player's class, the others' moves being as in the strategy."""
        for end, pay in self._pays.items():
            played = [self._played(strategy, end, i) for i in range(self.spot.players)]
            for i in range(self.spot.players):
                if isinstance(pay, tuple):
                    yield end, i, pay[1][i] * contract(pay[0], played, i)
                else:
                    yield end, i, contract(pay[i], played, i)


def contract(table: Array, vectors: list[Array], keep: int) -> Array:
    """Sum over the classes of all players but one, each weighed by its vector. float64 [classes]"""
    some = [vector.astype(np.float32) for vector in vectors]
    if table.ndim == 2:
        return np.asarray(table @ some[1] if keep == 0 else some[0] @ table, np.float64)
    n = len(table)
    if keep == 2:
        return np.asarray(some[1] @ (some[0] @ table.reshape(n, n * n)).reshape(n, n), np.float64)
    half = (table.reshape(n * n, n) @ some[2]).reshape(n, n)
    return np.asarray(half @ some[1] if keep == 0 else some[0] @ half, np.float64)
