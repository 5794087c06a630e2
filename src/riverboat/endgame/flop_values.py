"""What a strategy for a two-round game brings to the end of the first round: ranges, values and gifts, for all hands.

The opponent of the refined player best-responds: V(n) is what each of its hands gets from a node on, summed over the hands
it may meet there, each as often as the refined player comes there with it; N(n) is the weight of those hands. So V / N is
the counterfactual best-response value given the hand (CBV). One walk gives V at all nodes of the first round.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from riverboat.cards.dealing import without_shared
from riverboat.cards.deck import HANDS
from riverboat.games.base import CHANCE, TERMINAL, Array
from riverboat.games.board_game import BettingTree
from riverboat.trees.boards import NOWHERE, BoardTree
from riverboat.walks.board_walk import BoardWalker

NOTHING = 1e-12  # of the weight of all hands: what cancelling leaves of none


class Opening:
    """The first round of a game under a strategy. Nodes are those of the forest on that street; arrays are by row."""

    def __init__(self, tree: BoardTree, table: Array, threads: int = 1) -> None:
        self.tree, self.table = tree, table
        self.walker = BoardWalker.reader(tree, table, threads)
        self.count = int(tree.forest.first[1])
        self.exits = [n for n in range(self.count) if tree.forest.actor[n] == CHANCE]
        self.parent = np.full(self.count, -1)
        for node in range(self.count):
            self.parent[self.children(node)] = node

    def children(self, node: int) -> list[int]:
        """Nodes after each move, on the first street."""
        forest, found, child = self.tree.forest, [], node + 1
        while child < forest.end[node]:
            found.append(child)
            child = int(forest.end[child])
        return found

    def path(self, node: int) -> list[tuple[int, int]]:
        """The decisions on the way to a node, each with the node that was gone to, from the root on."""
        found = []
        while self.parent[node] >= 0:
            found.append((int(self.parent[node]), node))
            node = int(self.parent[node])
        return found[::-1]

    def line(self, node: int) -> str:
        """The moves on the way."""
        label, joiner = self.tree.betting.label, self.tree.game.joiner
        return joiner.join(label[self.tree.forest.node[child]] for _, child in self.path(node))

    def hands(self, rows: Array, player: int) -> Array:
        """Numbers by row as numbers by hand, zero where there is none. float64 [1326]"""
        row, out = self.tree.row_of[0, player], np.zeros(HANDS)
        live = row != NOWHERE
        out[live] = rows[row[live]]
        return out

    @cached_property
    def reach(self) -> tuple[Array, Array]:
        """How often each player comes to each node with one hand of each row, as it was dealt. float64 [nodes, rows] each"""
        found = [np.zeros((self.count, len(w))) for w in self.tree.weights]
        for player in (0, 1):
            found[player][0] = self.tree.weights[player]
        for node in range(self.count):
            who = int(self.tree.forest.actor[node])
            play = self.walker.play(0, node) if who >= 0 else None
            for k, child in enumerate(self.children(node)):
                for player in (0, 1):
                    share = play[k] if play is not None and who == player else 1.0
                    found[player][child] = found[player][node] * share
        return found[0], found[1]

    @cached_property
    def meets(self) -> tuple[Array, Array]:
        """N: the weight of the other's hands that each row of a player meets at each node. float64 [nodes, rows] each"""
        return self._meets(0), self._meets(1)

    def _meets(self, player: int) -> Array:
        other, reps = 1 - player, self.tree.reps(0, player)
        found = np.array([without_shared(self.hands(r, other))[reps] for r in self.reach[other]])
        most = np.array([self.hands(r, other).sum() for r in self.reach[other]])
        return np.where(found > NOTHING * most[:, None], found, 0.0)

    @cached_property
    def best(self) -> tuple[Array, Array]:
        """V: what each row of a player gets at best from each node on, times N. float64 [nodes, rows] each"""
        return self.walker.opening(0, respond=True), self.walker.opening(1, respond=True)

    def cbv(self, opponent: int, node: int) -> Array:
        """V / N, zero where nobody is met. float64 [rows]"""
        met = self.meets[opponent][node]
        found: Array = np.divide(self.best[opponent][node], met, out=np.zeros_like(met), where=met > 0)
        return found

    def gifts(self, opponent: int, node: int, *, split: bool) -> Array:
        """What each row of the opponent gave up on the way to an endgame, V(I') − V(I', a') at each of its decisions there.

        As V, times the weight that it meets. With `split` a gift is shared by all endgames behind it in proportion to
        that weight, so that together they spend it once.
        """
        best, met = self.best[opponent], self.meets[opponent]
        found = np.zeros(best.shape[1])
        for above, child in self.path(node):
            if self.tree.forest.actor[above] != opponent:
                continue
            given = np.maximum(best[above] - best[child], 0.0)
            if split:
                behind = [e for e in self.exits if child <= e < self.tree.forest.end[child]]
                shared = met[behind].sum(axis=0)
                given = given * np.divide(met[node], shared, out=np.zeros_like(shared), where=shared > 0)
            found += given
        return found

    def earliest(self, opponent: int, node: int) -> int:
        """The opponent's first decision on the way to a node, or the node: no other entry can be reached from there."""
        own = [above for above, _ in self.path(node) if self.tree.forest.actor[above] == opponent]
        return own[0] if own else node

    def covered(self, opponent: int, node: int) -> Array:
        """Rows that a move off the path serves better than the path does, whatever is changed behind that move. bool [rows]

        Such a move is worth what the opponent cannot be kept from (`secured`), which is compared with the value of going on.
        """
        forest, best, met = self.tree.forest, self.best[opponent], self.meets[opponent]
        floor = secured(self.tree.betting, opponent)
        found = np.zeros(best.shape[1], bool)
        onwards = best[node].copy()  # value of staying on the path, at the node that is looked at
        for above, child in reversed(self.path(node)):
            others = [other for other in self.children(above) if other != child]
            if forest.actor[above] != opponent:
                onwards = onwards + best[others].sum(axis=0)  # where the refined player goes elsewhere
                continue
            least = max(float(floor[forest.node[other]]) for other in others) if others else -np.inf
            found |= (met[above] > 0) & (least * np.where(met[above] > 0, met[above], 1.0) >= onwards)
        return found


def secured(betting: BettingTree, player: int) -> Array:
    """The least that a player can be held to from each node on, not looking at cards. float64 [nodes]

    Everybody else, and the cards, are against it; it may fold.
    """
    found = np.zeros(len(betting.actor))
    for node in range(len(betting.actor) - 1, -1, -1):
        if betting.actor[node] == TERMINAL:
            found[node] = betting.pay[node, :, player].min()
        else:
            below = [found[child] for child in betting.children(node)]
            found[node] = max(below) if betting.actor[node] == player else min(below)
    return found
