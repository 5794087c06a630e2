"""Translation of recorded hands to lines of a blueprint's tree, for any stacks, blinds and bet sizes.

    decisions = read_hands(tree, hands)
    decisions.node, decisions.move                     # the node of each decision, and the index of its action

Both players' bets are translated alike, by the deterministic pseudo-harmonic mapping
(`abstraction.actions.translation`). Sizes are fractions of the pot, so that blinds and stacks of other tables need no
conversion, and an all-in is translated by its size like any other bet. Where the two games diverge, the rules are those
of play (`strategies._kernels.line`): off-tree decisions are skipped until the next round is dealt, and counted.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from riverboat.abstraction.actions.translation import TRANSLATION_MAPPINGS, translation_probabilities
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.core.validation import check_name
from riverboat.games.holdem.action_tree import CALL, FOLD, RAISE, ActionTree
from riverboat.games.holdem.actions import CALL as CALL_ACTION
from riverboat.games.holdem.actions import FOLD as FOLD_ACTION
from riverboat.games.holdem.hand_records import HandRecords, trace_decisions

DEFAULT_MAPPING = "det-pshar"
OFF_TREE = -1  # instead of a node


@dataclass(frozen=True, eq=False)
class TreeDecisions:
    """Decisions of a record that are on a tree, in order.

    Attributes
    ----------
    hand
        Index of the hand in the record, int64 [n].
    player
        The actor, as an index into `hands.names`, int64 [n].
    node
        Decision node of the tree, int64 [n].
    move
        Index of the action, int64 [n].
    num_missed
        Number of off-tree decisions.

    Examples
    --------
    >>> zero = np.zeros(1, np.int64)
    >>> len(TreeDecisions(zero, zero, zero, zero, num_missed=0))
    1
    """

    hand: Array  # int64 [n]: index in the record
    player: Array  # int64 [n]: the actor, as an index into `hands.names`
    node: Array  # int64 [n]: decision node of the tree
    move: Array  # int64 [n]: index of the action
    num_missed: int  # number of off-tree decisions

    def __len__(self) -> int:
        return len(self.node)

    def take(self, selection: Array) -> TreeDecisions:
        """Select decisions by index or mask.

        Parameters
        ----------
        selection
            Indices or mask.
        """
        hand, player, node, move = (part[selection] for part in (self.hand, self.player, self.node, self.move))
        return TreeDecisions(hand, player, node, move, self.num_missed)


def read_hands(tree: ActionTree, hands: HandRecords, mapping: str = DEFAULT_MAPPING, seed: int = 0) -> TreeDecisions:
    """Translate every decision of a record that is on the tree.

    Parameters
    ----------
    tree
        Betting tree.
    hands
        Recorded hands, of any stacks, blinds and bet sizes.
    mapping
        Name of an action translation.
    seed
        Seed of a randomized mapping.

    Returns
    -------
    TreeDecisions
        Decisions on the tree.

    Raises
    ------
    InputError
        If the mapping is unknown, or the tree has other cards or betting.

    Examples
    --------
    >>> from riverboat.games.holdem.action_tree import compile_action_tree
    >>> from riverboat.games.holdem.betting import BettingState
    >>> from riverboat.games.holdem.hand_records import RecordedHand, build_records
    >>> from riverboat.games.holdem.rules import read_game
    >>> rules = read_game("kuhn")
    >>> hands = build_records([RecordedHand(0, ("Ann", "Bob"), BettingState.from_line(rules, "cc"), ((), (), ()))], rules)
    >>> read_hands(compile_action_tree(rules, None), hands).node
    array([0, 1])
    """
    check_name("action translation", mapping, TRANSLATION_MAPPINGS)
    tree_rules, hand_rules = tree.rules, hands.rules
    if any(getattr(tree_rules, key) != getattr(hand_rules, key) for key in ("limit", "board", "hole", "deck")):
        raise InputError(f"hands of {hand_rules.name!r}: the tree of {tree_rules.name!r} has other cards or betting")
    follower, decisions = _LineFollower(tree, mapping, seed), trace_decisions(hands)
    fields = (decisions.hand, decisions.seat, decisions.street, decisions.larger_total, decisions.action)
    translated, last = [], -1
    for k, (hand, seat, street, high, move) in enumerate(zip(*(x.tolist() for x in fields), strict=True)):
        if hand != last:
            follower.start_hand()
            last = hand
        step = follower.step(seat, street, high, move)
        if step is not None:
            translated.append((k, *step))
    rows, node, move_index = np.array(translated, np.int64).reshape(-1, 3).T
    num_missed = len(decisions) - len(translated)
    return TreeDecisions(decisions.hand[rows], decisions.player[rows], node, move_index, num_missed)


class _LineFollower:
    """Cursor in the tree that follows the actions of a real hand by action translation."""

    def __init__(self, tree: ActionTree, mapping: str, seed: int) -> None:
        self.mapping, self.rng = mapping, random.Random(seed)
        # Lists: reading single elements of an array is slow.
        fields = tree.actor, tree.street, tree.kind, tree.first, tree.count, tree.parent, tree.total
        lists: list[list[int]] = [array.tolist() for array in (*fields, tree.spent.max(axis=1))]
        self.actor, self.street, self.kind, self.first, self.count, self.parent, self.total, self.highest_total = lists
        self.sizes: dict[int, list[float]] = {}
        self.node, self.is_waiting, self.waiting_street = 0, False, 0  # waits for the round after `waiting_street`

    def start_hand(self) -> None:
        """Start a new hand."""
        self.node, self.is_waiting = 0, False

    def step(self, seat: int, street: int, high: int, move: int) -> tuple[int, int] | None:
        """Advance by a real action; return the node and action index that it is translated to, or None off the tree.

        `high` is the larger real total of both seats before the action, `move` the action (FOLD, CALL or a total).
        """
        node = self.node
        if node != OFF_TREE and self.street[node] < street:
            node = self.node = self._advance_to_street(node, street)
            self.is_waiting = False
        elif street != self.waiting_street:
            self.is_waiting = False  # a raise was translated to a call that ends the round; the next round is dealt now
        if node == OFF_TREE or self.is_waiting or self.actor[node] != seat or self.street[node] != street:
            return None
        call = self._call_child(node)
        if move == FOLD_ACTION:
            return (node, 0) if self.kind[self.first[node]] == FOLD else None
        child = call if move == CALL_ACTION else self._raise_child(node, call, high, move)
        if child == OFF_TREE:
            self.is_waiting, self.waiting_street = True, street
            return None
        if move != CALL_ACTION and child == call and (self.actor[child] < 0 or self.street[child] != street):
            self.is_waiting, self.waiting_street = True, street
        self.node = child
        return node, child - self.first[node]

    def _call_child(self, node: int) -> int:
        first = self.first[node]
        return first if self.kind[first] == CALL else first + 1

    def _raise_child(self, node: int, call: int, high: int, total: int) -> int:
        """Return the child that a raise to `total` is translated to, which may be the call; OFF_TREE without raises.

        Sizes are shares of the pot, and a check or call has size 0. `high` is the larger real total before the raise.
        """
        sizes = self.sizes.get(node)
        if sizes is None:
            abstract = self.highest_total[node]
            raises = range(call + 1, self.first[node] + self.count[node])
            sizes = self.sizes[node] = [0.0, *((self.total[c] - abstract) / (2 * abstract) for c in raises)]
        if len(sizes) == 1:
            return OFF_TREE
        probabilities = translation_probabilities(self.mapping, sizes, (total - high) / (2 * high))
        smaller, *larger = probabilities  # one or two
        return call + (larger[0] if larger and self.rng.random() >= probabilities[smaller] else smaller)

    def _advance_to_street(self, node: int, street: int) -> int:
        """Return the node on a street that calls lead to; OFF_TREE if there is none.

        If the tree has a called all-in where the real hand goes on, the largest smaller bet replaces the all-in.
        """
        while self.actor[node] >= 0 and self.street[node] < street:
            node = self._call_child(node)
        if self.actor[node] >= 0:
            return node
        bet = self.parent[node]
        if self.kind[node] != CALL or self.kind[bet] != RAISE:
            return OFF_TREE
        smaller = bet - 1
        while self.kind[smaller] == RAISE and self.parent[smaller] == self.parent[bet]:
            child = self._call_child(smaller)
            if self.actor[child] >= 0:
                return child if self.street[child] >= street else self._advance_to_street(child, street)
            smaller -= 1
        return OFF_TREE
