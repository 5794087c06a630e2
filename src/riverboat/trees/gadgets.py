"""Gadget games: an endgame, cut out of a tree, with something in front of it.

The refined player has a base strategy for the whole game and wants a better one for an endgame. Solved by itself
(`unsafe_gadget`) the endgame may be played in a way that invites the opponent in with hands that used to stay
out. A gadget gives the opponent a choice that takes this into account:

- `resolve_gadget` (Burch, Johanson & Bowling 2014): with each hand the opponent enters, or stops for what it could
  have had against the base strategy;
- `maxmargin_gadget` (Moravcik et al. 2016): the opponent chooses its hand, and is paid what it gets in the endgame
  minus a shift for that hand. Reach-maxmargin (Brown & Sandholm 2017) is the same with larger shifts.

All of them work on both kinds of tree. In a `PublicTree` an endgame is a public state and the opponent's hands
are its hands. In a `HistoryTree` it is a forest that no information set leaves, and a "hand" is what the opponent has done
on the way in: its last sequence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE, TERMINAL, Array, Deal, Matrix, Payoff, PublicState
from riverboat.games.layout import Layout
from riverboat.trees.arrays import Nodes
from riverboat.trees.compile import histories
from riverboat.trees.history import HistoryTree, by_first_visit
from riverboat.trees.public import PublicTree
from riverboat.trees.transform import Subgame, start_at


class Gadget(NamedTuple):
    """A game made from an endgame."""

    tree: PublicTree | HistoryTree
    origin: Array  # int64 [table]: the same place in the table of the whole tree, -1 at the gadget's own decisions


@dataclass(frozen=True, eq=False)
class Endgame:
    """A part of a tree that is played on its own: each information set lies inside or outside."""

    tree: PublicTree | HistoryTree
    name: str
    roots: Array  # int64 [roots], ascending: the public state, or where the forest begins

    @cached_property
    def inside(self) -> Array:
        """Which nodes belong to it. bool [nodes]"""
        inside = np.zeros(len(self.tree.nodes.actor), bool)
        for root in self.roots:
            inside[root : self.tree.nodes.end[root]] = True
        return inside

    def hands(self, player: int) -> tuple[str, ...]:
        """Names of what a player may hold on the way in: hands, or in a history tree last sequences."""
        tree = self.tree
        if isinstance(tree, PublicTree):
            return tree.hands[player]
        plex, infosets = tree.treeplex(player), list(tree.infosets())
        names = []
        for sequence in np.unique(tree.last_sequence[self.roots, player]):
            if sequence == 0:
                names.append("start")
                continue
            i = int(np.searchsorted(plex.first, sequence, "right")) - 1
            infoset = infosets[plex.infosets[i]]
            names.append(f"{infoset.name}>{infoset.actions[sequence - plex.first[i]]}")
        return tuple(names)

    def held(self, player: int) -> Array:
        """In a history tree: the number of the hand that a player holds at each root. int64 [roots]"""
        assert isinstance(self.tree, HistoryTree)
        return np.unique(self.tree.last_sequence[self.roots, player], return_inverse=True)[1].astype(np.int64)


def endgame_at(tree: PublicTree | HistoryTree, *where: str) -> Endgame:
    """The endgame at a line of a public tree, or around information sets of a history tree.

    In a history tree it is the smallest forest that holds the information sets and that no other one leaves. It may be
    less than the public state: to have all of that, name an information set for each of a player's hands.
    """
    name = " ".join(where)
    if isinstance(tree, PublicTree):
        if len(where) != 1:
            raise InputError(f"{tree.name}: an endgame of a public tree has one line, not {len(where)}: {name!r}")
        node = tree.node(name)
        if tree.nodes.actor[node] == TERMINAL:
            raise InputError(f"{tree.name}: the game is over at {name!r}: an endgame needs a move")
        return Endgame(tree, name, np.array([node]))
    if not where:
        raise InputError(f"{tree.name}: name an information set of the endgame")
    end = tree.nodes.end
    inside = np.zeros(len(end), bool)
    waiting = [int(np.flatnonzero(tree.offsets == tree.infoset(one).offset)[0]) for one in where]
    seen = set(waiting)
    while waiting:
        for top in np.flatnonzero(tree.node_infoset == waiting.pop()):
            if inside[top]:
                continue
            inside[top : end[top]] = True
            fresh = set(tree.node_infoset[top : end[top]].tolist()) - seen - {-1}
            seen |= fresh
            waiting += fresh
    roots, here = [], 0
    while here < len(end):  # maximal subtrees inside
        if inside[here]:
            roots.append(here)
        here = int(end[here]) if inside[here] else here + 1
    return Endgame(tree, name, np.array(roots))


def check_apart(endgames: Sequence[Endgame]) -> None:
    """Raise where two endgames overlap: they could not be refined independently."""
    owner: Array | None = None
    for number, part in enumerate(endgames):
        if owner is None:
            owner = np.full(len(part.inside), -1)
        taken = owner[part.inside]
        if (taken >= 0).any():
            raise InputError(
                f"{part.tree.name}: the endgames {endgames[taken.max()].name!r} and {part.name!r} overlap: "
                f"refine one, then the other"
            )
        owner[part.inside] = number


# --- the gadgets ------------------------------------------------------------------------------


def unsafe_gadget(part: Endgame, reach: tuple[Array, Array] | Array) -> Gadget:
    """The endgame by itself; chance deals the roots in proportion to the reach of both players.

    In a public tree `reach` holds the players' ranges, float64 [hands]; in a history tree the probability of each root,
    float64 [roots].
    """
    if isinstance(part.tree, PublicTree):
        sub = start_at(part.tree, part.name, (reach[0], reach[1]))
        return Gadget(sub, _public_origin(part, sub, (0, 0)))
    assert isinstance(reach, np.ndarray)
    build = _Build(part.tree)
    build.chance(part.roots, reach)
    return build.done(f"{part.tree.name} at {part.name!r}")


def resolve_gadget(part: Endgame, player: int, reach: Array, stops: Array) -> Gadget:
    """The opponent of `player` enters with its hand, or stops and is paid for that hand.

    `reach` is that of chance and `player`: its range in a public tree, float64 [hands]; the probability of each
    root in a history tree, float64 [roots]. `stops`: float64 [hands of the opponent]. Stopping comes first, so ties
    stay out.
    """
    opponent = 1 - player
    if isinstance(part.tree, PublicTree):
        weights = _ranges(part.tree, part, player, reach)
        tree = PublicTree(StopOrEnter(Subgame(part.tree, int(part.roots[0]), weights), opponent, np.asarray(stops)))
        return Gadget(tree, _public_origin(part, tree, (2, 0) if opponent == 0 else (0, 2)))
    hand, names = part.held(opponent), part.hands(opponent)
    build = _Build(part.tree)
    doors = {h: build.infoset(f"stop:{names[h]}", opponent, ("stop", "enter")) for h in range(len(names))}
    top, some = build.chance_node(part.roots, reach)
    for k in some:
        door = build.decision(doors[int(hand[k])], opponent, 2)
        build.terminal(_pay(opponent, float(stops[hand[k]])))
        build.subtree(int(part.roots[k]))
        build.close(door)
    build.close(top)
    return build.done(f"{part.tree.name} at {part.name!r}, re-solve")


def maxmargin_gadget(part: Endgame, player: int, reach: Array, shifts: Array) -> Gadget:
    """The opponent of `player` chooses its hand, chance the rest; the opponent is paid minus the hand's shift.

    Arguments as in `resolve_gadget`. Hands that cannot be held are no choice. The choice is hidden from `player`, and
    so the result is always a history tree.
    """
    opponent = 1 - player
    tree = part.tree
    if isinstance(tree, PublicTree):
        sub = start_at(tree, part.name, _ranges(tree, part, player, reach))
        flat = histories(sub)
        joint = sub.deal.joint()
        pairs = np.argwhere(joint > 0)  # in the order in which `histories` deals them
        roots = np.array([root for deal in flat.children(0) for root in flat.children(deal)])
        choice = _choose(flat, roots, pairs[:, opponent], joint[joint > 0], opponent, shifts, tree.hands[opponent])
        assert flat.origin is not None
        whole = _public_origin(part, sub, (0, 0))[flat.origin]
        return Gadget(choice.tree, np.where(choice.origin >= 0, whole[choice.origin], -1))
    return _choose(tree, part.roots, part.held(opponent), np.asarray(reach), opponent, shifts, part.hands(opponent))


def locked_gadget(tree: HistoryTree, probabilities: Array, player: int, free: Array) -> Gadget:
    """The whole game with `player` bound to a strategy outside of some nodes: its moves there become chance.

    The best that any refinement of those nodes can be, when the rest stays as it is. `probabilities`: float64 [table],
    `free`: bool [nodes].
    """
    nodes = tree.nodes
    bound = (nodes.actor == player) & ~free
    actor, data = nodes.actor.copy(), nodes.data.copy()
    actor[bound] = CHANCE
    data[bound] += len(tree.chance)
    build = _Build(tree, (nodes._replace(actor=actor, data=data), probabilities))
    build.subtree(0)
    return build.done(f"{tree.name}, player {player} bound")


def _choose(
    tree: HistoryTree, roots: Array, hand: Array, reach: Array, opponent: int, shifts: Array, names: Sequence[str]
) -> Gadget:
    some = np.unique(hand[reach > 0])
    if not len(some):
        raise InputError(f"{tree.name}: nothing of the endgame is reached, so there is nothing to choose")
    build = _Build(tree)
    top = build.decision(build.infoset("choose", opponent, tuple(names[h] for h in some)), opponent, len(some))
    for h in some:
        held = (hand == h) & (reach > 0)
        build.chance(roots[held], reach[held], _pay(opponent, -float(shifts[h])))
    build.close(top)
    return build.done(f"{tree.name}, maxmargin")


def _pay(player: int, amount: float) -> tuple[float, float]:
    return (amount, -amount) if player == 0 else (-amount, amount)


# --- public trees -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class StopOrEnter:
    """A public game in which one player may first stop, for a pay-off that depends on its hand."""

    endgame: Subgame
    player: int  # who may stop
    stops: Array  # float64 [hands of that player]

    @property
    def name(self) -> str:
        """The endgame's, and what was made of it."""
        return f"{self.endgame.name}, re-solve"

    @property
    def unit(self) -> str:
        """As in the whole game."""
        return self.endgame.unit

    @property
    def joiner(self) -> str:
        """As in the whole game."""
        return self.endgame.joiner

    @property
    def hands(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """As in the whole game."""
        return self.endgame.hands

    @property
    def deal(self) -> Deal:
        """By the ranges with which the endgame begins."""
        return self.endgame.deal

    @cached_property
    def stop(self) -> Matrix:
        """What stopping pays."""
        counts = len(self.hands[0]), len(self.hands[1])
        mine = np.broadcast_to(self.stops[:, None] if self.player == 0 else self.stops[None, :], counts)
        rows = tuple(map(tuple, mine.tolist())), tuple(map(tuple, (-mine).tolist()))
        return Matrix(rows if self.player == 0 else rows[::-1])

    def root(self) -> PublicState:
        """Stop or enter."""
        return _Door(self)

    def layout(self) -> Layout:
        """The endgame's arrays with two nodes in front."""
        inner = self.endgame.layout()
        return Layout(
            np.concatenate([[self.player, TERMINAL], inner.actor]).astype(np.int8),
            np.concatenate([[len(inner.end) + 2, 2], inner.end + 2]).astype(np.int32),
            np.concatenate([[len(inner.menus), len(inner.payoffs)], inner.index]).astype(np.int32),
            (*inner.menus, ("stop", "enter")),
            inner.chances,
            (*inner.payoffs, self.stop),
        )


@dataclass(frozen=True, eq=False)
class _Door:
    game: StopOrEnter
    stopped: bool = False

    @property
    def actor(self) -> int:
        return TERMINAL if self.stopped else self.game.player

    def actions(self) -> tuple[str, ...]:
        return ("stop", "enter")

    def outcomes(self) -> tuple[()]:
        return ()

    def child(self, index: int) -> PublicState:
        return self.game.endgame.root() if index else _Door(self.game, stopped=True)

    def payoff(self) -> Payoff:
        return self.game.stop


def _ranges(tree: PublicTree, part: Endgame, player: int, reach: Array) -> tuple[Array, Array]:
    """The player's range; of the opponent all hands that are possible, as they were dealt."""
    alive = tree.live[1 - player][tree.boards[part.roots[0]]]
    other = np.where(alive, tree.deal.weights[1 - player], 0.0)
    return (np.asarray(reach), other) if player == 0 else (other, np.asarray(reach))


def _public_origin(part: Endgame, sub: PublicTree, extra: tuple[int, int]) -> Array:
    """Rows of a subtree follow each other in the table of the whole tree; `extra` rows are the gadget's own."""
    tree = part.tree
    assert isinstance(tree, PublicTree)
    origin = np.full(sub.table, -1, np.int64)
    root = int(part.roots[0])
    span = slice(root, int(tree.nodes.end[root]))
    for player, places in enumerate(sub.views(origin)):
        own = tree.nodes.data[span][tree.nodes.actor[span] == player]
        if len(own):
            width = tree.hand_counts[player]
            first = tree.bases[player] + int(own[0]) * width
            rows = places[extra[player] :]
            rows[:] = first + np.arange(rows.size).reshape(rows.shape)
    return origin


# --- history trees ----------------------------------------------------------------------------


class _Build:
    """A history tree put together from single nodes and from subtrees of another."""

    def __init__(self, tree: HistoryTree, other: tuple[Nodes, Array] | None = None) -> None:
        self.source = tree
        self.nodes, more = other or (tree.nodes, np.zeros(0))
        self.key = np.where(self.nodes.actor >= 0, tree.node_infoset, -1)
        self.parts: dict[str, list[Array]] = {k: [] for k in ("actor", "end", "width", "data", "key", "pay")}
        self.size = 0
        self.open: dict[int, int] = {}  # ends of single nodes
        self.own: list[tuple[str, tuple[str, ...], int]] = []  # information sets of the gadget
        self.outcomes: list[Array] = [tree.chance, more]
        self.labels = [*(tree.outcome_labels or map(str, range(len(tree.chance)))), *map(str, range(len(more)))]

    def _add(self, actor: Array, end: Array, width: Array, data: Array, key: Array, pay: Array) -> None:
        for name, array in zip(self.parts, (actor, end, width, data, key, pay), strict=True):
            self.parts[name].append(array)
        self.size += len(actor)

    def _node(self, actor: int, width: int, data: int = 0, key: int = -1, pay: tuple[float, float] = (0, 0)) -> int:
        here = self.size
        one = [np.array([x]) for x in (actor, here + 1, width, data, key)]
        self._add(one[0], one[1], one[2], one[3], one[4], np.array([pay], float))
        return here

    def infoset(self, name: str, player: int, actions: tuple[str, ...]) -> int:
        """A new information set."""
        self.own.append((name, actions, player))
        return self.source.infoset_count + len(self.own) - 1

    def decision(self, infoset: int, player: int, width: int) -> int:
        """A node of the gadget's own; to be closed when its subtrees are there."""
        return self._node(player, width, key=infoset)

    def terminal(self, pay: tuple[float, float]) -> None:
        """An end of the gadget's own."""
        self._node(TERMINAL, 0, pay=pay)

    def chance_node(self, roots: Array, reach: Array) -> tuple[int, Array]:
        """A chance node over the roots that some reach leads to, to be closed; and which roots these are."""
        some = np.flatnonzero(reach > 0)
        if not len(some):
            raise InputError(f"{self.source.name}: nothing of the endgame is reached, so there is nothing to solve")
        first = sum(map(len, self.outcomes))
        self.outcomes.append(np.asarray(reach[some] / reach[some].sum(), float))
        self.labels += [f"{root}" for root in roots[some]]
        return self._node(CHANCE, len(some), data=first), some

    def close(self, node: int) -> None:
        """All subtrees of the node are there."""
        self.open[node] = self.size

    def chance(self, roots: Array, reach: Array, shift: tuple[float, float] = (0, 0)) -> None:
        """A chance node with its subtrees."""
        top, some = self.chance_node(roots, reach)
        for root in roots[some]:
            self.subtree(int(root), shift)
        self.close(top)

    def subtree(self, root: int, shift: tuple[float, float] = (0, 0)) -> None:
        """A subtree of the source, with something added to all pay-offs."""
        nodes, span = self.nodes, slice(root, int(self.nodes.end[root]))
        actor, data = nodes.actor[span], nodes.data[span]
        pay = np.zeros((len(actor), 2))
        ends = actor == TERMINAL
        pay[ends] = self.source.payoffs[data[ends]] + np.array(shift)
        self._add(actor, nodes.end[span] - root + self.size, nodes.width[span], data, self.key[span], pay)

    def done(self, name: str) -> Gadget:
        """Number the information sets by their first visit."""
        joined = {name: np.concatenate(arrays) for name, arrays in self.parts.items()}
        for node, end in self.open.items():
            joined["end"][node] = end
        actor, width, data, key = joined["actor"], joined["width"], joined["data"].astype(np.int64), joined["key"]
        decisions, ends = np.flatnonzero(key >= 0), np.flatnonzero(actor == TERMINAL)
        keys, infoset, visited = by_first_visit(key)
        widths = width[visited].astype(np.int64)
        offsets = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
        data[decisions] = offsets[infoset[decisions]]
        data[ends] = np.arange(len(ends))
        source, own = self.source, keys >= self.source.infoset_count
        start = np.where(own, 0, np.append(source.offsets, 0)[np.minimum(keys, source.infoset_count)])
        origin = np.repeat(start - offsets[:-1], widths) + np.arange(offsets[-1])
        origin[np.repeat(own, widths)] = -1

        def info() -> list[tuple[str, tuple[str, ...]]]:
            old = [(i.name, i.actions) for i in source.infosets()]
            known = [*old, *((label, actions) for label, actions, _ in self.own)]
            return [known[k] for k in keys]

        tree = HistoryTree(
            name,
            source.unit,
            Nodes(actor.astype(np.int8), joined["end"].astype(np.int32), width.astype(np.int16), data),
            infoset,
            actor[visited].astype(np.int8),
            joined["pay"][ends],
            np.concatenate(self.outcomes),
            info,
            tuple(self.labels),
        )
        return Gadget(tree, origin)
