"""What a strategy brings to the nodes of a round of betting: ranges, values and gifts, for all hands.

The opponent of the refined player best-responds: V(n) is what each of its hands gets from a node on, summed over the hands
it may meet there, each as often as the refined player comes there with it; N(n) is the weight of those hands. So V / N is
the counterfactual best-response value given the hand (CBV). One walk gives V at all nodes of a round on a board.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from riverboat.cards.deck import HAND_CARDS, HANDS
from riverboat.engines.cpu.board_engine import BoardWalker
from riverboat.engines.protocol import Start
from riverboat.games.base import CHANCE, TERMINAL, Array
from riverboat.games.boards.board_game import BettingTree
from riverboat.trees.boards import NOWHERE, BoardTree

NOTHING = 1e-12  # of the weight of all hands: what cancelling leaves of none
HOLDS = np.zeros((HANDS, 52))  # which cards a hand holds
np.put_along_axis(HOLDS, HAND_CARDS.astype(np.int64), 1.0, axis=1)


class Round:
    """A round of betting on one board under a strategy: the first of a game, or the one that a place begins.

    Nodes are numbered from the place on, in the order of the forest; arrays are by the rows of its board.
    """

    def __init__(
        self,
        tree: BoardTree,
        table: Array,
        start: Start | None = None,
        *,
        walker: BoardWalker | None = None,
        threads: int = 1,
    ) -> None:
        """With a walker that has the table already, that one is asked."""
        self.tree, self.table = tree, table
        self.walker = BoardWalker.reader(tree, table, threads) if walker is None else walker
        self.start = start
        self._met: dict[int, Array] = {}
        self._best: dict[int, Array] = {}
        self.board, self.first = (0, 0) if start is None else (start.board, start.node)
        last = int(tree.forest.end[self.first])
        self.count = last - self.first
        self.actor, self.end = tree.forest.actor[self.first : last], tree.forest.end[self.first : last] - self.first
        self.node = tree.forest.node[self.first : last]  # of the betting
        self.exits = [n for n in range(self.count) if self.actor[n] == CHANCE]
        self.parent = np.full(self.count, -1)
        for node in range(self.count):
            self.parent[self.children(node)] = node

    def children(self, node: int) -> list[int]:
        """Nodes after each move of this round."""
        nodes, child = [], node + 1
        while child < self.end[node]:
            nodes.append(child)
            child = int(self.end[child])
        return nodes

    def path(self, node: int) -> list[tuple[int, int]]:
        """The decisions on the way to a node, each with the node that was gone to, from the root on."""
        steps = []
        while self.parent[node] >= 0:
            steps.append((int(self.parent[node]), node))
            node = int(self.parent[node])
        return steps[::-1]

    def line(self, node: int) -> str:
        """The moves on the way."""
        label, joiner = self.tree.betting.label, self.tree.game.joiner
        return joiner.join(label[self.node[child]] for _, child in self.path(node))

    def hands(self, rows: Array, player: int) -> Array:
        """Numbers by row as numbers by hand, zero where there is none. float64 [1326]"""
        row = self.tree.row_of[self.board, player]
        out, live = np.zeros((*rows.shape[:-1], HANDS)), row != NOWHERE
        out[..., live] = rows[..., row[live]]
        return out

    @cached_property
    def reach(self) -> tuple[Array, Array]:
        """How often each player comes to each node with one hand of each row, as it was dealt. float64 [nodes, rows] each"""
        came = self.tree.weights if self.start is None else self.start.reach
        weights = [np.zeros((self.count, len(w))) for w in came]
        for player in (0, 1):
            weights[player][0] = came[player]
        for node in range(self.count):
            who = int(self.actor[node])
            play = self.walker.play(self.board, self.first + node) if who >= 0 else None
            for k, child in enumerate(self.children(node)):
                for player in (0, 1):
                    share = play[k] if play is not None and who == player else 1.0
                    weights[player][child] = weights[player][node] * share
        return weights[0], weights[1]

    def meets(self, player: int) -> Array:
        """N: the weight of the other's hands that each row of a player meets at each node. float64 [nodes, rows]"""
        if player not in self._met:
            held = self.hands(self.reach[1 - player], 1 - player)  # of the other: [nodes, 1326]
            some, reps = np.flatnonzero(held.any(axis=0)), self.tree.reps(self.board, player)
            by_card = held[:, some] @ HOLDS[some]
            first, second = HAND_CARDS[reps].T
            most = held.sum(axis=1, keepdims=True)
            weights = most - by_card[:, first] - by_card[:, second] + held[:, reps]
            self._met[player] = np.where(weights > NOTHING * most, weights, 0.0)
        return self._met[player]

    def best(self, player: int) -> Array:
        """V: what each row of a player gets at best from each node on, times N. float64 [nodes, rows]"""
        if player not in self._best:
            self._best[player] = self.walker.round_values(player, self.start, respond=True)
        return self._best[player]

    def cbv(self, opponent: int, node: int) -> Array:
        """V / N, zero where nobody is met. float64 [rows]"""
        met = self.meets(opponent)[node]
        values: Array = np.divide(self.best(opponent)[node], met, out=np.zeros_like(met), where=met > 0)
        return values

    def gifts(self, opponent: int, node: int, *, split: bool) -> Array:
        """What each row of the opponent gave up on the way to an endgame, V(I') − V(I', a') at each of its decisions there.

        As V, times the weight that it meets. With `split` a gift is shared by all endgames behind it in proportion to
        that weight, so that together they spend it once.
        """
        best, met = self.best(opponent), self.meets(opponent)
        total = np.zeros(best.shape[1])
        for above, child in self.path(node):
            if self.actor[above] != opponent:
                continue
            given = np.maximum(best[above] - best[child], 0.0)
            if split:
                behind = [e for e in self.exits if child <= e < self.end[child]]
                shared = met[behind].sum(axis=0)
                given = given * np.divide(met[node], shared, out=np.zeros_like(shared), where=shared > 0)
            total += given
        return total

    def earliest(self, opponent: int, node: int) -> int:
        """The opponent's first decision on the way to a node, or the node: no other entry can be reached from there."""
        own = [above for above, _ in self.path(node) if self.actor[above] == opponent]
        return own[0] if own else node

    def covered(self, opponent: int, node: int) -> Array:
        """Rows that a move off the path serves better than the path does, whatever is changed behind that move. bool [rows]

        Such a move is worth what the opponent cannot be kept from (`secured`), which is compared with the value of going on.
        """
        best, met = self.best(opponent), self.meets(opponent)
        floor = secured(self.tree.betting, opponent)
        hands = np.zeros(best.shape[1], bool)
        onwards = best[node].copy()  # value of staying on the path, at the node that is looked at
        for above, child in reversed(self.path(node)):
            others = [other for other in self.children(above) if other != child]
            if self.actor[above] != opponent:
                onwards = onwards + best[others].sum(axis=0)  # where the refined player goes elsewhere
                continue
            least = max(float(floor[self.node[other]]) for other in others) if others else -np.inf
            hands |= (met[above] > 0) & (least * np.where(met[above] > 0, met[above], 1.0) >= onwards)
        return hands


def secured(betting: BettingTree, player: int) -> Array:
    """The least that a player can be held to from each node on, not looking at cards. float64 [nodes]

    Everybody else, and the cards, are against it; it may fold.
    """
    least = np.zeros(len(betting.actor))
    for node in range(len(betting.actor) - 1, -1, -1):
        if betting.actor[node] == TERMINAL:
            least[node] = betting.pay[node, :, player].min()
        else:
            below = [least[child] for child in betting.children(node)]
            least[node] = max(below) if betting.actor[node] == player else min(below)
    return least
