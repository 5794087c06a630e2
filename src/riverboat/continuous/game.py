"""`ContinuousGame`: signals, a finite tree of moves, and pay-offs by moves and by whose signal is higher.

A tree is made of `Decision` and `Leaf`. It is read once into what everything else uses: the *situations* in which a player
decides (all that it has seen, but for its signal), and the leaves with the moves of each player on the way. Situations
are named by the line of moves that leads there, `root` at the start; nodes that share a name are one situation, in
which the player does not know at which of them it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from riverboat.continuous.signals import Signals
from riverboat.core.errors import InputError, RecallError

ROOT = "root"
MOST_ENDINGS = 500  # of a game: time to solve grows faster than they do
JOINER = "-"
Choice: TypeAlias = tuple[int, int]  # a situation and a move, both by number


@dataclass(frozen=True)
class Leaf:
    """The end. Player p gets `base[p]`; the contender with the highest signal also gets the prize, equal ones share it.

    `worth[p]` is what each unit of the player's own signal is worth to it there: auctions pay the winner its value.
    """

    base: tuple[float, ...]
    prize: float = 0.0
    contenders: tuple[int, ...] = ()
    worth: tuple[float, ...] = ()


@dataclass(frozen=True)
class Decision:
    """A player moves. `situation` names what it knows; by default the line."""

    player: int
    moves: tuple[tuple[str, Tree], ...]
    situation: str | None = None


Tree: TypeAlias = Decision | Leaf


@dataclass(frozen=True)
class Situation:
    """Where a player decides, whatever its signal."""

    name: str
    player: int
    moves: tuple[str, ...]
    parent: Choice | None  # the player's own last choice on the way


@dataclass(frozen=True)
class Ending:
    """A leaf, and what each player chose on the way to it."""

    leaf: Leaf
    line: str
    choices: tuple[tuple[Choice, ...], ...]  # [players]


@dataclass(frozen=True, eq=False)
class ContinuousGame:
    """A game with private signals. `scale` is what ε is measured in: the pot of a river, the highest bid of an auction."""

    name: str
    signals: Signals
    tree: Tree
    scale: float = 1.0
    unit: str = "chips"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.scale) and self.scale > 0):
            raise InputError(f"{self.name}: scale {self.scale:g}: must be above zero")
        _ = self._read  # refuses trees that make no sense

    @property
    def players(self) -> int:
        """How many."""
        return self.signals.players

    @property
    def situations(self) -> tuple[Situation, ...]:
        """All of them, parents before children."""
        return self._read[0]

    @property
    def endings(self) -> tuple[Ending, ...]:
        """All leaves."""
        return self._read[1]

    def situation(self, name: str) -> int:
        """The number of a situation."""
        for number, one in enumerate(self.situations):
            if one.name == name:
                return number
        known = ", ".join(s.name for s in self.situations)
        raise InputError(f"{self.name}: no situation {name!r}; there are {known}")

    @cached_property
    def constant_sum(self) -> float | None:
        """What all leaves pay in all, where that is one number."""
        sums = {round(sum(e.leaf.base) + e.leaf.prize, 12) for e in self.endings}
        worth = any(any(e.leaf.worth) for e in self.endings)
        return sums.pop() if len(sums) == 1 and not worth else None

    @cached_property
    def _read(self) -> tuple[tuple[Situation, ...], tuple[Ending, ...]]:
        situations: list[Situation] = []
        endings: list[Ending] = []
        number: dict[str, int] = {}

        def visit(tree: Tree, line: str, choices: tuple[tuple[Choice, ...], ...]) -> None:
            if isinstance(tree, Leaf):
                if len(endings) == MOST_ENDINGS:
                    raise InputError(
                        f"{self.name}: more than {MOST_ENDINGS} leaves; fewer sizes, raises or bids make it smaller"
                    )
                endings.append(Ending(_complete(tree, self.players, f"{self.name}: {line or ROOT}"), line, choices))
                return
            name = tree.situation or line or ROOT
            where = f"{self.name}: {name}"
            if not 0 <= tree.player < self.players:
                raise InputError(f"{where}: player {tree.player}: there are players 0 to {self.players - 1}")
            moves = tuple(label for label, _ in tree.moves)
            if len(moves) < 1 or len(set(moves)) < len(moves):
                raise InputError(f"{where}: moves {moves}: give one or more, each once")
            mine = choices[tree.player]
            situation = Situation(name, tree.player, moves, mine[-1] if mine else None)
            if name not in number:
                number[name] = len(situations)
                situations.append(situation)
            s = number[name]
            if situations[s] != situation:
                raise RecallError(f"{where}: nodes of one situation differ in player, moves, or own moves before")
            for k, (label, child) in enumerate(tree.moves):
                after = tuple((*c, (s, k)) if p == tree.player else c for p, c in enumerate(choices))
                visit(child, f"{line}{JOINER}{label}" if line else label, after)

        visit(self.tree, "", ((),) * self.players)
        if not situations:
            raise InputError(f"{self.name}: nobody decides anything")
        return tuple(situations), tuple(endings)


def _complete(leaf: Leaf, players: int, where: str) -> Leaf:
    """A leaf with all its fields filled in and checked."""
    base = tuple(map(float, leaf.base))
    worth = tuple(map(float, leaf.worth)) or (0.0,) * players
    if len(base) != players or len(worth) != players:
        raise InputError(f"{where}: pays {leaf.base}: one number for each of {players} players")
    numbers = (*base, *worth, leaf.prize)
    if not all(map(math.isfinite, numbers)):
        raise InputError(f"{where}: pays {numbers}: must be finite")
    contenders = tuple(sorted(set(leaf.contenders))) or (tuple(range(players)) if leaf.prize else ())
    if not all(0 <= p < players for p in contenders):
        raise InputError(f"{where}: contenders {leaf.contenders}: there are players 0 to {players - 1}")
    if len(contenders) == 1:  # nobody to beat
        base = tuple(b + (leaf.prize if p in contenders else 0.0) for p, b in enumerate(base))
        return Leaf(base, 0.0, (), worth)
    return Leaf(base, float(leaf.prize), contenders if leaf.prize else (), worth)
