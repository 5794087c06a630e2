"""Lift strategies of smaller games to the full game: action translation, card buckets, and combined profiles.

A strategy for a no-limit game with few bet sizes is played in the game with all of them. The player tracks its node in
the small tree. A mapping of `riverboat.abstraction.actions.translation` translates the opponent's off-tree bets, the
player's own actions are scaled to the real pot, and both advance the node. A randomized mapping leads to several nodes:
the player's belief is a weight for each node and hand, the probability of its own translations and actions so far.
Mixing the small strategy by belief gives the exact behavior strategy, not a sample, so that best responses to it are
exact.

Where the small game has no reply the player calls: a bet translated to a check has ended the round there, and a bet
translated to all-in has ended all betting. When a public card is dealt, open betting in the small tree is closed by
calls. Information sets that the player's own actions exclude are uniform.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from riverboat.abstraction.actions import translation
from riverboat.abstraction.actions.translation import TRANSLATION_MAPPINGS, PotFraction, TieRule
from riverboat.abstraction.bucketed_game import BucketedGame
from riverboat.core.errors import InputError
from riverboat.core.validation import check_name
from riverboat.games.base import CHANCE, TERMINAL, Array, PublicState
from riverboat.strategies.tabular import Strategy
from riverboat.trees.public import PublicTree

Belief: TypeAlias = dict[int, Array]  # node of the small tree -> weight, float64 [mappings, hands]
ActionSizes: TypeAlias = tuple[PotFraction | None, ...]


def translate(strategy: Strategy, tree: PublicTree, mapping: str = "rand-pshar", tie: TieRule = "high") -> Strategy:
    """Translate a strategy profile of a small game to behavior strategies of the full `tree` by action translation.

    `tie` is the neighbor to which a deterministic mapping translates a bet exactly at its threshold.
    """
    return translate_many(strategy, tree, [mapping], tie)[mapping]


def translate_many(
    strategy: Strategy, tree: PublicTree, mappings: Sequence[str] = tuple(TRANSLATION_MAPPINGS), tie: TieRule = "high"
) -> dict[str, Strategy]:
    """Translate a strategy profile as `translate`, by several mappings in one traversal; return a strategy for each."""
    for mapping in mappings:
        check_name("mapping", mapping, TRANSLATION_MAPPINGS)
    small = strategy.tree
    if not isinstance(small, PublicTree):
        raise InputError(f"{small.name}: action translation needs a public game")
    if small.hands != tree.hands:
        raise InputError(f"{small.name} and {tree.name}: the hands differ: {small.hands[0]} and {tree.hands[0]}")
    sums, small_nodes = np.zeros((len(mappings), tree.table_size)), _small_tree_nodes(small)
    own_sums = np.split(sums, [tree.player_offsets[1]], axis=1)  # views
    for player, rows in enumerate(small.player_tables(strategy.probabilities)):
        own_rows = own_sums[player].reshape(len(mappings), -1, tree.hand_counts[player])
        _TranslationTraversal(tree, small, small_nodes, player, mappings, tie, rows, own_rows).run()
    names = {**strategy.provenance, "translated from": small.name}
    return {m: Strategy.from_sums(tree, s, {**names, "mapping": m}) for m, s in zip(mappings, sums, strict=True)}


@dataclass(frozen=True)
class _SmallTreeNode:
    """Node of the small tree, with the sizes of its actions."""

    actor: int
    sizes: ActionSizes  # size of each action at a decision; None for a fold
    children: tuple[int, ...]


def _small_tree_nodes(tree: PublicTree) -> list[_SmallTreeNode]:
    """List all nodes of a small tree by index; action sizes come from its public states, which know the pot."""
    by_number: dict[int, _SmallTreeNode] = {}
    stack: list[tuple[int, PublicState]] = [(0, tree.game.root())]
    while stack:
        node, state = stack.pop()
        actor, children = int(tree.nodes.actor[node]), tuple(tree.children(node))
        by_number[node] = _SmallTreeNode(actor, translation.action_sizes(state) if actor >= 0 else (), children)
        stack += [(child, state.child(k)) for k, child in enumerate(children)]
    return [by_number[node] for node in range(len(by_number))]


@dataclass(frozen=True, eq=False)
class _TranslationTraversal:
    """Traversal of the full tree with one player's belief about its node in the small tree."""

    tree: PublicTree
    small: PublicTree
    small_nodes: list[_SmallTreeNode]
    player: int
    mappings: Sequence[str]
    tie: TieRule
    rows: Array  # float64 [rows, hands]: the player's strategy in the small tree
    own_rows: Array  # float64 [mappings, rows, hands] OUT: the player's rows in the full tree
    translations: dict[tuple[ActionSizes, PotFraction], list[tuple[int, Array]]] = field(default_factory=dict)

    def run(self) -> None:
        """Traverse the full tree and fill the player's rows with reach probability times strategy, not normalized."""
        root_weight = np.ones((len(self.mappings), self.tree.hand_counts[self.player]))
        stack: list[tuple[int, PublicState, Belief]] = [(0, self.tree.game.root(), {0: root_weight})]
        while stack:
            node, state, belief = stack.pop()
            actor = int(self.tree.nodes.actor[node])
            if actor == TERMINAL:
                continue
            if actor == CHANCE:
                child_beliefs = self._advance_chance(node, belief)
            elif actor == self.player:
                child_beliefs = self._advance_own_move(node, state, belief)
            else:
                child_beliefs = self._advance_opponent_move(state, belief)
            for k, child in enumerate(self.tree.children(node)):
                if child_beliefs[k]:
                    stack.append((child, state.child(k), child_beliefs[k]))

    def _advance_chance(self, node: int, belief: Belief) -> list[Belief]:
        """Return the belief after each public card: nodes move on to that card, after calls if betting is open."""
        child_beliefs: list[Belief] = [{} for _ in self.tree.labels(node)]
        for small, weight in belief.items():
            while (small_node := self.small_nodes[small]).actor >= 0:
                small = small_node.children[small_node.sizes.index(translation.CALL_SIZE)]
            if small_node.actor == TERMINAL:
                for child_belief in child_beliefs:
                    _add_weight(child_belief, small, weight)
                continue
            child_by_card = dict(zip(self.small.labels(small), small_node.children, strict=True))
            for child_belief, label in zip(child_beliefs, self.tree.labels(node), strict=True):
                if label not in child_by_card:
                    raise InputError(f"{self.small.name}: no card {label!r} at {self.small.line(small)!r}")
                _add_weight(child_belief, child_by_card[label], weight)
        return child_beliefs

    def _advance_own_move(self, node: int, state: PublicState, belief: Belief) -> list[Belief]:
        """Return the belief after each own action, and add its weights to the player's rows.

        An action of the small strategy becomes the real action of the nearest size, as a fraction of the real pot.
        """
        menu = translation.action_sizes(state)
        call = menu.index(translation.CALL_SIZE)
        child_beliefs: list[Belief] = [{} for _ in menu]
        first = int(self.tree.nodes.data[node])
        for small, weight in belief.items():
            small_node = self.small_nodes[small]
            if small_node.actor != self.player:
                self.own_rows[:, first + call] += weight
                _add_weight(child_beliefs[call], small, weight)
                continue
            row = int(self.small.nodes.data[small])
            for k, (size, child) in enumerate(zip(small_node.sizes, small_node.children, strict=True)):
                part = weight * self.rows[row + k]
                if part.any():
                    action = translation.nearest_action(menu, size)
                    self.own_rows[:, first + action] += part
                    _add_weight(child_beliefs[action], child, part)
        return child_beliefs

    def _advance_opponent_move(self, state: PublicState, belief: Belief) -> list[Belief]:
        """Return the belief after each action of the opponent, by translation. A fold ends the hand and needs none."""
        sizes = translation.action_sizes(state)
        child_beliefs: list[Belief] = [{} for _ in sizes]
        for child_belief, size in zip(child_beliefs, sizes, strict=True):
            if size is None:
                continue
            for small, weight in belief.items():
                small_node = self.small_nodes[small]
                if small_node.actor != 1 - self.player:
                    _add_weight(child_belief, small, weight)
                else:
                    for k, probability in self._translation_probabilities(small_node.sizes, size):
                        part = weight * probability
                        if part.any():
                            _add_weight(child_belief, small_node.children[k], part)
        return child_beliefs

    def _translation_probabilities(self, menu: ActionSizes, bet: PotFraction) -> list[tuple[int, Array]]:
        """Return the menu's actions that a bet may translate to: index, and float64 [mappings, 1] probabilities."""
        if (menu, bet) not in self.translations:
            table = np.zeros((len(menu), len(self.mappings), 1))
            for m, mapping in enumerate(self.mappings):
                for k, probability in translation.translate_bet(mapping, menu, bet, self.tie).items():
                    table[k, m] = probability
            self.translations[menu, bet] = [(k, table[k]) for k in range(len(menu)) if table[k].any()]
        return self.translations[menu, bet]


def _add_weight(belief: Belief, at: int, weight: Array) -> None:
    belief[at] = belief[at] + weight if at in belief else weight


# --- card buckets and combined profiles ---------------------------------------------------------


def lift_cards(strategy: Strategy, abstraction: BucketedGame, tree: PublicTree) -> Strategy:
    """Lift a strategy of a bucketed game to the full game `tree`: every hand plays the strategy of its bucket."""
    table = np.array(Strategy.uniform(tree).probabilities)
    stack: list[tuple[int, tuple[str, ...], tuple[str, ...]]] = [(0, (), ())]
    while stack:
        node, board, moves = stack.pop()
        player, labels = int(tree.nodes.actor[node]), tree.labels(node)
        for child, label in zip(tree.children(node), labels, strict=True):
            if player == CHANCE:
                stack.append((child, (*board, label), moves))
            else:
                stack.append((child, board, (*moves, label)))
        if player < 0:
            continue
        first, width = int(tree.nodes.data[node]), int(tree.nodes.width[node])
        rows = tree.player_tables(table)[player]
        for hand in np.flatnonzero(tree.possible_hands[player][tree.board_of_node[node]]):
            infoset = strategy.tree.infoset(abstraction.infoset(player, tree.hands[player][hand], board, moves))
            if infoset.actions != labels:
                raise InputError(
                    f"{tree.name}: actions {labels} at {tree.line(node)!r}, but {infoset.actions} in the abstraction"
                )
            rows[first : first + width, hand] = strategy.row(infoset)
    return Strategy(tree, table, {**strategy.provenance, "lifted from": abstraction.name})


def combine_players(first: Strategy, second: Strategy) -> Strategy:
    """Combine two strategies to a profile: player 0 from `first`, player 1 from `second`."""
    tree = first.tree
    if not isinstance(tree, PublicTree):
        raise InputError(f"{tree.name}: combining strategies of two players needs a public game")
    if second.tree is not tree and second.tree.fingerprint != tree.fingerprint:
        raise InputError(f"strategies for different trees: {tree.name} and {second.tree.name}")
    end = tree.player_offsets[1]
    table = np.concatenate([first.probabilities[:end], second.probabilities[end:]])
    return Strategy(tree, table, {"player 0": dict(first.provenance), "player 1": dict(second.provenance)})
