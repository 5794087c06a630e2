"""Subgames and gadget games for safe subgame solving.

The refined player has a base strategy for the whole game and wants a better one for a subgame (Brown and Sandholm's
*endgame*). If the subgame is solved by itself (`unsafe_gadget`), the opponent may gain by entering it with hands that
used to stay out. A gadget gives the opponent a choice that prevents this:

- `resolve_gadget` (Burch, Johanson & Bowling 2014): with each hand the opponent enters the subgame, or stops for the
  value that it had against the base strategy;
- `maxmargin_gadget` (Moravcik et al. 2016): the opponent chooses its hand and receives its value in the subgame
  minus a shift for that hand. Reach-maxmargin (Brown & Sandholm 2017) uses the same gadget with larger shifts.

All of them work on both kinds of tree. In a `PublicTree` a subgame is a public state and the opponent's hands are its
private hands. In a `HistoryTree` it is a forest that contains every information set wholly or not at all; a "hand" is
the opponent's last sequence before the subgame.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple, TypeAlias

import numpy as np

from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE, TERMINAL, Array, MatrixPayoff, NoPublicChance, Payoff, PrivateDeal, PublicState
from riverboat.games.tree_layout import PublicTreeLayout
from riverboat.trees._kernels.tree import TreeNodes
from riverboat.trees.compile import to_history_tree
from riverboat.trees.history import HistoryTree, HistoryTreeBuilder
from riverboat.trees.public import PublicTree

# --- subgames: a subtree of a `PublicTree` is a slice of its arrays --------------------------

HandWeights: TypeAlias = Mapping[str, float] | Sequence[float] | Array


@dataclass(frozen=True, eq=False)
class PublicSubgame:
    """Public game that is a part of another one: it begins at a public state, or deals hands from other ranges."""

    name: str
    unit: str
    joiner: str
    hands: tuple[tuple[str, ...], tuple[str, ...]]  # hands of the whole game; impossible ones have weight zero
    deal: PrivateDeal
    root: Callable[[], PublicState]

    @staticmethod
    def at(tree: PublicTree, node: int, weights: tuple[Array, Array]) -> PublicSubgame:
        """Return the game from a public state on, with hands dealt by `weights` and the same excluded pairs."""
        name, deal = f"{tree.name} at {tree.line(node)!r}", PrivateDeal(weights, tree.deal.excludes)
        return PublicSubgame(name, tree.unit, tree.joiner, tree.hands, deal, partial(_state_at, tree, node))


def _state_at(tree: PublicTree, node: int) -> PublicState:
    """Return the public state of a node."""
    state = tree.game.root()
    for _, k in tree.path(node):
        state = state.child(k)
    return state


def _subtree_layout(tree: PublicTree, node: int) -> PublicTreeLayout:
    """Return the layout of the subtree at a node, as slices of the tree's arrays."""
    whole = tree.layout
    part = slice(node, int(whole.end[node]))
    return replace(
        whole, actor=whole.actor[part], end=(whole.end[part] - node).astype(np.int32), index=whole.index[part]
    )


def subgame_tree(tree: PublicTree, line: str, ranges: tuple[HandWeights, HandWeights] | None = None) -> PublicTree:
    """Return the subgame that begins at the public state after `line`.

    A range gives every hand a weight: by name, or one number for each hand in order. Hands that the public cards block
    get weight zero. Without ranges, all possible hands keep their weights from the deal.
    """
    node = tree.node(line)
    if tree.nodes.actor[node] == -2:
        raise InputError(f"{tree.name}: the game is over at {line!r}")
    weights = []
    for player in (0, 1):
        alive = tree.possible_hands[player][tree.board_of_node[node]]
        range_weights = tree.deal.weights[player] if ranges is None else _range_weights(tree, player, ranges[player])
        weights.append(np.where(alive, range_weights, 0.0))
        if not weights[-1].sum() > 0:
            raise InputError(f"{tree.name}: no hand of player {player}'s range is possible at {line!r}")
    return PublicTree(PublicSubgame.at(tree, node, (weights[0], weights[1])), _subtree_layout(tree, node))


def _range_weights(tree: PublicTree, player: int, given: HandWeights) -> Array:
    hands = tree.hands[player]
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in hands]
        if unknown:
            raise InputError(f"{tree.name}: player {player} has no hand {unknown[0]!r} (hands: {', '.join(hands)})")
        values = np.array([float(given.get(name, 0.0)) for name in hands])
    else:
        values = np.asarray(given, float)
    if values.shape != (len(hands),):
        raise InputError(f"{tree.name}: a range of {values.shape} weights for player {player}'s {len(hands)} hands")
    if not np.all(np.isfinite(values)) or values.min() < 0:
        raise InputError(f"{tree.name}: player {player}'s range has a weight of {values.min():g}: must be 0 or more")
    return values


class GadgetTree(NamedTuple):
    """A gadget game made from a subgame."""

    tree: PublicTree | HistoryTree
    origin: Array  # int64 [table]: index in the table of the whole tree, -1 at decisions of the gadget


@dataclass(frozen=True, eq=False)
class TreeSubgame:
    """A part of a tree that contains each information set wholly or not at all."""

    tree: PublicTree | HistoryTree
    name: str
    roots: Array  # int64 [roots], ascending: the public state, or the roots of the forest

    @cached_property
    def node_mask(self) -> Array:
        """Mask of the nodes inside the subgame. bool [nodes]"""
        inside = np.zeros(len(self.tree.nodes.actor), bool)
        for root in self.roots:
            inside[root : self.tree.nodes.end[root]] = True
        return inside

    def hands(self, player: int) -> tuple[str, ...]:
        """Return the names of a player's hands at the root; in a history tree, its last sequences."""
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

    def hand_at_roots(self, player: int) -> Array:
        """Return the index of a player's hand at each root of a history tree. int64 [roots]"""
        assert isinstance(self.tree, HistoryTree)
        return np.unique(self.tree.last_sequence[self.roots, player], return_inverse=True)[1].astype(np.int64)


def find_subgame(tree: PublicTree | HistoryTree, *where: str) -> TreeSubgame:
    """Find the subgame at a line of a public tree, or around information sets of a history tree.

    In a history tree it is the smallest forest that contains the information sets and splits no other one. It may be
    smaller than the public state: to get the whole public state, name an information set for each hand of a player.
    """
    name = " ".join(where)
    if isinstance(tree, PublicTree):
        if len(where) != 1:
            raise InputError(f"{tree.name}: a subgame of a public tree has one line, not {len(where)}: {name!r}")
        node = tree.node(name)
        if tree.nodes.actor[node] == TERMINAL:
            raise InputError(f"{tree.name}: the game is over at {name!r}: a subgame needs a decision")
        return TreeSubgame(tree, name, np.array([node]))
    if not where:
        raise InputError(f"{tree.name}: name an information set of the subgame")
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
    return TreeSubgame(tree, name, np.array(roots))


def check_disjoint(subgames: Sequence[TreeSubgame]) -> None:
    """Raise an error if two subgames overlap, because they could not be refined independently."""
    owner: Array | None = None
    for number, part in enumerate(subgames):
        if owner is None:
            owner = np.full(len(part.node_mask), -1)
        taken = owner[part.node_mask]
        if (taken >= 0).any():
            raise InputError(
                f"{part.tree.name}: the subgames {subgames[taken.max()].name!r} and {part.name!r} overlap: "
                f"refine one, then the other"
            )
        owner[part.node_mask] = number


# --- gadgets ----------------------------------------------------------------------------------


def unsafe_gadget(subgame: TreeSubgame, reach: tuple[Array, Array] | Array) -> GadgetTree:
    """Make the subgame of unsafe solving, without a gadget: chance deals the roots in proportion to the players' reach.

    In a public tree `reach` holds the players' ranges, float64 [hands]; in a history tree the probability of each root,
    float64 [roots].
    """
    if isinstance(subgame.tree, PublicTree):
        sub = subgame_tree(subgame.tree, subgame.name, (reach[0], reach[1]))
        return GadgetTree(sub, _public_origin(subgame, sub, (0, 0)))
    assert isinstance(reach, np.ndarray)
    build = _GadgetTreeBuilder(subgame.tree)
    build.add_chance_with_subtrees(subgame.roots, reach)
    return build.build(f"{subgame.tree.name} at {subgame.name!r}")


def resolve_gadget(subgame: TreeSubgame, player: int, reach: Array, stop_values: Array) -> GadgetTree:
    """Make the re-solve gadget: the opponent of `player` enters with its hand, or stops for that hand's value.

    `reach` is the reach of chance and `player`: its range in a public tree, float64 [hands]; the probability of each
    root in a history tree, float64 [roots]. `stop_values`: float64 [hands of the opponent]. Stopping is the first
    action, so a best response stops in case of a tie.
    """
    opponent = 1 - player
    if isinstance(subgame.tree, PublicTree):
        weights = _gadget_ranges(subgame.tree, subgame, player, reach)
        tree = _resolve_tree(subgame.tree, int(subgame.roots[0]), weights, opponent, np.asarray(stop_values))
        return GadgetTree(tree, _public_origin(subgame, tree, (2, 0) if opponent == 0 else (0, 2)))
    hand, names = subgame.hand_at_roots(opponent), subgame.hands(opponent)
    build = _GadgetTreeBuilder(subgame.tree)
    infosets = {h: build.add_infoset(f"stop:{names[h]}", ("stop", "enter")) for h in range(len(names))}
    top, reached = build.add_chance_over_roots(subgame.roots, reach)
    for k in reached:
        decision = build.add_node(opponent, 2, key=infosets[int(hand[k])])
        build.add_terminal(_zero_sum_payoffs(opponent, float(stop_values[hand[k]])))
        build.add_subtree(int(subgame.roots[k]))
        build.close_node(decision)
    build.close_node(top)
    return build.build(f"{subgame.tree.name} at {subgame.name!r}, re-solve")


class ValueLimits(NamedTuple):
    """Most that hands of the opponent may be worth in a subgame: a constraint of a maxmargin gadget.

    Besides its choice of one hand, the opponent may enter with each hand whose value exceeds its limit, and gets
    `multiplier` times the excess. That is an exact penalty: from some multiplier on, no hand exceeds its limit in an
    equilibrium, and the margins are the largest under the constraint.
    """

    values: Array  # float64 [hands of the opponent]
    multiplier: float


def maxmargin_gadget(
    subgame: TreeSubgame, player: int, reach: Array, shifts: Array, limits: ValueLimits | None = None
) -> GadgetTree:
    """Make the maxmargin gadget: the opponent of `player` chooses its hand and gets the hand's value minus its shift.

    `reach` as in `resolve_gadget`; `shifts`: float64 [hands of the opponent], their values against the base strategy,
    plus gifts for reach-maxmargin. Impossible hands cannot be chosen. The choice is hidden from `player`, so the result
    is always a history tree. With `limits`, chance decides whether the opponent chooses, or may enter with a hand.
    """
    opponent = 1 - player
    tree = subgame.tree
    if isinstance(tree, PublicTree):
        sub = subgame_tree(tree, subgame.name, _gadget_ranges(tree, subgame, player, reach))
        flat = to_history_tree(sub)
        joint = sub.deal.joint()
        pairs = np.argwhere(joint > 0)  # in the order in which `unroll` deals them
        roots = np.array([root for deal in flat.children(0) for root in flat.children(deal)])
        dealt = pairs[:, opponent], joint[joint > 0]
        choice = _choose_hand(flat, roots, *dealt, opponent, shifts, tree.hands[opponent], limits)
        assert flat.origin is not None
        whole = _public_origin(subgame, sub, (0, 0))[flat.origin]
        return GadgetTree(choice.tree, np.where(choice.origin >= 0, whole[choice.origin], -1))
    hand_of_root, names = subgame.hand_at_roots(opponent), subgame.hands(opponent)
    return _choose_hand(tree, subgame.roots, hand_of_root, np.asarray(reach), opponent, shifts, names, limits)


def locked_gadget(tree: HistoryTree, probabilities: Array, player: int, free: Array) -> GadgetTree:
    """Make the whole game with `player` locked to a strategy outside of some nodes: its actions there become chance.

    Its value bounds what any refinement of the free nodes can reach while the rest stays fixed. `probabilities`:
    float64 [table], `free`: bool [nodes].
    """
    nodes = tree.nodes
    locked = (nodes.actor == player) & ~free
    actor, data = nodes.actor.copy(), nodes.data.copy()
    actor[locked] = CHANCE
    data[locked] += len(tree.chance)
    build = _GadgetTreeBuilder(tree, (nodes._replace(actor=actor, data=data), probabilities))
    build.add_subtree(0)
    return build.build(f"{tree.name}, player {player} bound")


def _choose_hand(
    tree: HistoryTree,
    roots: Array,
    root_hand: Array,
    reach: Array,
    opponent: int,
    shifts: Array,
    names: Sequence[str],
    limits: ValueLimits | None,
) -> GadgetTree:
    reached = np.unique(root_hand[reach > 0])
    if not len(reached):
        raise InputError(f"{tree.name}: no part of the subgame is reached, so there is no hand to choose")
    build = _GadgetTreeBuilder(tree)
    hand_names = tuple(names[h] for h in reached)
    if limits is not None:
        weights = np.append(1.0, np.full(len(reached), limits.multiplier))
        draw = build.add_chance_node(weights / weights.sum(), ["choice", *hand_names])
    top = build.add_node(opponent, len(reached), key=build.add_infoset("choose", hand_names))
    held = {h: (root_hand == h) & (reach > 0) for h in reached}
    for h, here in held.items():
        build.add_chance_with_subtrees(roots[here], reach[here], _zero_sum_payoffs(opponent, -float(shifts[h])))
    build.close_node(top)
    if limits is not None:
        for h, here in held.items():
            decision = build.add_node(opponent, 2, key=build.add_infoset(f"stop:{names[h]}", ("stop", "enter")))
            build.add_terminal((0.0, 0.0))
            excess = _zero_sum_payoffs(opponent, -float(limits.values[h]))
            build.add_chance_with_subtrees(roots[here], reach[here], excess, apart=opponent)
            build.close_node(decision)
        build.close_node(draw)
    return build.build(f"{tree.name}, maxmargin")


def _zero_sum_payoffs(player: int, amount: float) -> tuple[float, float]:
    return (amount, -amount) if player == 0 else (-amount, amount)


# --- public trees -----------------------------------------------------------------------------


def _resolve_tree(tree: PublicTree, node: int, weights: tuple[Array, Array], player: int, stop: Array) -> PublicTree:
    """Return a subgame in which `player` may first stop, for a payoff that depends on its hand."""
    inner, game = _subtree_layout(tree, node), PublicSubgame.at(tree, node, weights)
    own = np.broadcast_to(stop[:, None] if player == 0 else stop[None, :], tree.hand_counts)
    rows = tuple(map(tuple, own.tolist())), tuple(map(tuple, (-own).tolist()))
    payoff = MatrixPayoff(rows if player == 0 else rows[::-1])
    layout = PublicTreeLayout(  # the two nodes of the gadget in front
        np.concatenate([[player, TERMINAL], inner.actor]).astype(np.int8),
        np.concatenate([[len(inner.end) + 2, 2], inner.end + 2]).astype(np.int32),
        np.concatenate([[len(inner.action_labels), len(inner.payoffs)], inner.index]).astype(np.int32),
        (*inner.action_labels, ("stop", "enter")),
        inner.chance_outcomes,
        (*inner.payoffs, payoff),
    )
    root = partial(_ResolveState, player, payoff, game.root)
    return PublicTree(replace(game, name=f"{game.name}, re-solve", root=root), layout)


@dataclass(frozen=True, eq=False)
class _ResolveState(NoPublicChance):
    """The state in which a player may stop or enter a subgame."""

    player: int
    stop_payoff: Payoff
    enter: Callable[[], PublicState]
    stopped: bool = False

    @property
    def actor(self) -> int:
        return TERMINAL if self.stopped else self.player

    def actions(self) -> tuple[str, ...]:
        return ("stop", "enter")

    def child(self, index: int) -> PublicState:
        return self.enter() if index else replace(self, stopped=True)

    def payoff(self) -> Payoff:
        return self.stop_payoff


def _gadget_ranges(tree: PublicTree, subgame: TreeSubgame, player: int, reach: Array) -> tuple[Array, Array]:
    """Return both ranges by seat: `reach` for `player`, for the opponent the deal weights of its possible hands."""
    alive = tree.possible_hands[1 - player][tree.board_of_node[subgame.roots[0]]]
    other = np.where(alive, tree.deal.weights[1 - player], 0.0)
    return (np.asarray(reach), other) if player == 0 else (other, np.asarray(reach))


def _public_origin(subgame: TreeSubgame, sub: PublicTree, gadget_rows: tuple[int, int]) -> Array:
    """Return the index in the whole tree's table of each entry of a subtree's table. int64 [table]

    The first `gadget_rows` rows of each player belong to the gadget; their entries are -1.
    """
    tree = subgame.tree
    assert isinstance(tree, PublicTree)
    origin = np.full(sub.table_size, -1, np.int64)
    root = int(subgame.roots[0])
    span = slice(root, int(tree.nodes.end[root]))
    for player, indices in enumerate(sub.player_tables(origin)):
        own = tree.nodes.data[span][tree.nodes.actor[span] == player]
        if len(own):
            width = tree.hand_counts[player]
            first = tree.player_offsets[player] + int(own[0]) * width
            rows = indices[gadget_rows[player] :]
            rows[:] = first + np.arange(rows.size).reshape(rows.shape)
    return origin


# --- history trees ----------------------------------------------------------------------------


class _GadgetTreeBuilder(HistoryTreeBuilder):
    """Builder of a history tree from single nodes and from subtrees of another tree.

    `other`: nodes to copy instead of those of `tree`, and probabilities of further chance outcomes that they refer to.
    """

    def __init__(self, tree: HistoryTree, other: tuple[TreeNodes, Array] | None = None) -> None:
        self.source = tree
        self.nodes, more = other or (tree.nodes, np.zeros(0))
        labels = tree.outcome_labels or map(str, range(len(tree.chance)))
        super().__init__([tree.chance, more], [*labels, *map(str, range(len(more)))])
        self.infoset_keys = np.where(self.nodes.actor >= 0, tree.node_infoset, -1)
        self.payoffs: list[Array] = []
        self.num_terminals = 0
        self.gadget_infosets: list[tuple[str, tuple[str, ...]]] = []  # information sets of the gadget
        self.infosets = list(tree.infosets())
        self.copies: dict[int, int] = {}  # keys of copied information sets, by that of the source

    def add_infoset(self, name: str, actions: tuple[str, ...]) -> int:
        """Add an information set of the gadget and return its key for `add_node`."""
        self.gadget_infosets.append((name, actions))
        return self.source.infoset_count + len(self.gadget_infosets) - 1

    def _add_payoffs(self, payoffs: Array) -> int:
        """Add the payoffs of terminals and return the index of the first."""
        first = self.num_terminals
        self.payoffs.append(payoffs)
        self.num_terminals += len(payoffs)
        return first

    def add_terminal(self, pay: tuple[float, float]) -> None:
        """Add a terminal of the gadget."""
        self.add_node(TERMINAL, 0, self._add_payoffs(np.array([pay], float)))

    def add_chance_over_roots(self, roots: Array, reach: Array) -> tuple[int, Array]:
        """Add a chance node that deals roots in proportion to `reach`; close it after their subtrees.

        Returns the node, and the indices of the roots with a positive reach.
        """
        reached = np.flatnonzero(reach > 0)
        if not len(reached):
            raise InputError(f"{self.source.name}: no part of the subgame is reached, so there is nothing to solve")
        shares = reach[reached] / reach[reached].sum()
        return self.add_chance_node(shares, [f"{root}" for root in roots[reached]]), reached

    def add_chance_with_subtrees(
        self, roots: Array, reach: Array, shift: tuple[float, float] = (0, 0), apart: int | None = None
    ) -> None:
        """Add a chance node that deals roots by `reach`, and their subtrees as `add_subtree` does."""
        top, reached = self.add_chance_over_roots(roots, reach)
        for root in roots[reached]:
            self.add_subtree(int(root), shift, apart)
        self.close_node(top)

    def add_subtree(self, root: int, shift: tuple[float, float] = (0, 0), apart: int | None = None) -> None:
        """Add a subtree of the source tree, with `shift` added to all payoffs.

        `apart`: this player's information sets are others than in subtrees without it, as perfect recall demands.
        """
        nodes, span = self.nodes, slice(root, int(self.nodes.end[root]))
        data, ends = nodes.data[span].copy(), nodes.actor[span] == TERMINAL
        payoffs = self.source.payoffs[data[ends]] + np.array(shift)
        data[ends] = self._add_payoffs(payoffs) + np.arange(len(payoffs))
        end = nodes.end[span] - root + self.size
        keys = self.infoset_keys[span].copy()
        for at in np.flatnonzero(nodes.actor[span] == apart) if apart is not None else ():
            keys[at] = self._copied_infoset(int(keys[at]))
        self.append(nodes.actor[span], end, nodes.width[span], data, keys)

    def _copied_infoset(self, key: int) -> int:
        """Return the key of the one copy of an information set of the source tree."""
        if key not in self.copies:
            infoset = self.infosets[key]
            self.copies[key] = self.add_infoset(f"{infoset.name}, entered", infoset.actions)
        return self.copies[key]

    def build(self, name: str) -> GadgetTree:
        """Return the tree, with information sets numbered by first visit, and its map to the source tree's table."""
        source = self.source

        def info(keys: Array) -> list[tuple[str, tuple[str, ...]]]:
            infosets = [*((i.name, i.actions) for i in self.infosets), *self.gadget_infosets]
            return [infosets[k] for k in keys]

        tree, keys = self.assemble(name, source.unit, np.concatenate(self.payoffs), info)
        own = keys >= source.infoset_count
        start = np.append(source.offsets, 0)[np.minimum(keys, source.infoset_count)]
        origin = tree.spread(start - tree.offsets) + np.arange(tree.table_size)
        origin[tree.spread(own)] = -1
        return GadgetTree(tree, origin)
