"""Whether an opponent has changed: what it did of late beside what it did before.

    watch = Watch(tree, window=200)
    watch.add(reading, theirs, hands)                  # True where a change was noticed; what was before is then forgotten

Counted are folds, calls and raises, by seat, street and whether there is a bet to meet. Each time the last `window` hands are
compared with all hands before them since the last change, by a G-test of homogeneity: whether one set of frequencies can have
made both. A level of one in ten thousand a look keeps false alarms rare; hands that are not independent make them somewhat
less rare than that.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from scipy.stats import chi2

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.action_tree import FOLD, ActionTree
from riverboat.opponents.models.hand_lines import Reading

LEVEL = 1e-4
KINDS = 3  # fold, call, raise
LEAST_WINDOW = 10  # hands
LEAST = 10  # decisions of a situation, in both parts, for it to count


class Watch:
    """Counts of what somebody does, with a window of the last hands."""

    def __init__(self, tree: ActionTree, window: int = 200, level: float = LEVEL) -> None:
        if window < LEAST_WINDOW or not 0 < level < 1:
            raise InputError(f"window={window}, level={level:g}: at least {LEAST_WINDOW} hands, and a chance")
        self.tree, self.window, self.level = tree, window, level
        self._before = self._nothing()
        self._recent: deque[tuple[int, Array]] = deque()  # hands and counts, block by block
        self._size = max(1, window // 10)  # hands of a block

    def _nothing(self) -> Array:
        return np.zeros((2 * self.tree.rules.rounds * 2, KINDS))

    def add(self, reading: Reading, chosen: Array, hands: int) -> bool:
        """Count some decisions of so many hands, a mask; whether a change was noticed on the way."""
        some = reading.take(chosen)
        noticed = False
        for begin in range(0, hands, self._size):
            end = min(begin + self._size, hands)
            here = (some.hand >= begin) & (some.hand < end)
            self._recent.append((end - begin, self._counted(some.node[here], some.move[here])))
            while sum(n for n, _ in self._recent) - self._recent[0][0] >= self.window:
                self._before += self._recent.popleft()[1]
            if self._changed():
                noticed = True
                self._before = self._nothing()
        return noticed

    def _counted(self, node: Array, move: Array) -> Array:
        tree, out = self.tree, self._nothing()
        meets = tree.kind[tree.first[node]] == FOLD  # where one can fold there is a bet
        situation = (tree.actor[node] * tree.rules.rounds + tree.street[node]) * 2 + meets
        np.add.at(out, (situation, tree.kind[tree.first[node] + move]), 1.0)
        return out

    def _changed(self) -> bool:
        return homogeneity(self._before, np.sum([c for _, c in self._recent], axis=0)) < self.level


def homogeneity(first: Array, second: Array) -> float:
    """Chance that rows of counts differ so much where both parts have the same frequencies; 1 where few were seen."""
    g, freedom = 0.0, 0
    for one, two in zip(first, second, strict=True):
        if min(one.sum(), two.sum()) < LEAST:
            continue
        both = one + two
        used = both > 0
        for part in (one, two):
            expected = both[used] * part.sum() / both.sum()
            made = part[used]
            g += 2 * float((made[made > 0] * np.log(made[made > 0] / expected[made > 0])).sum())
        freedom += int(used.sum()) - 1
    return float(chi2.sf(g, freedom)) if freedom else 1.0
