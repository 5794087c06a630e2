"""Change detection: tests whether an opponent's recent actions differ from its earlier ones.

    detector = ChangeDetector(tree, window=200)
    detector.add(reading, selection, hands)            # True after a detected change, which discards earlier counts

Counts are of folds, calls and raises, by seat, street and whether the player faces a bet. The last `window` hands are
compared with all earlier hands since the last change by a G-test of homogeneity: whether both can have the same
frequencies. A significance level of 1e-4 per test keeps false alarms rare; dependence between hands makes them somewhat
less rare.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.action_tree import FOLD, ActionTree
from riverboat.opponents.models.hand_lines import TreeDecisions

SIGNIFICANCE_LEVEL = 1e-4
NUM_KINDS = 3  # fold, call, raise
MIN_WINDOW = 10  # hands
MIN_DECISIONS = 10  # per situation in both samples, for it to count


class ChangeDetector:
    """Counts of a player's actions, with a window of recent hands.

    Parameters
    ----------
    tree
        Betting tree.
    window
        Recent hands that are compared with earlier ones, at least 10.
    level
        Significance level of a test, between 0 and 1.

    Raises
    ------
    InputError
        If a number is out of range.

    Examples
    --------
    >>> from riverboat.games.holdem.action_tree import compile_action_tree
    >>> from riverboat.games.holdem.rules import read_game
    >>> ChangeDetector(compile_action_tree(read_game("kuhn"), None), window=50).level
    0.0001
    """

    def __init__(self, tree: ActionTree, window: int = 200, level: float = SIGNIFICANCE_LEVEL) -> None:
        if window < MIN_WINDOW or not 0 < level < 1:
            raise InputError(
                f"window={window}, level={level:g}: must be at least {MIN_WINDOW} hands, and a level between 0 and 1"
            )
        self.tree, self.window, self.level = tree, window, level
        self._older_counts = self._zero_counts()
        self._recent_counts: deque[tuple[int, Array]] = deque()  # number of hands and counts of each block
        self._block_size = max(1, window // 10)  # hands per block

    # float64 [situations, kinds]: a situation is seat, street, and whether the player faces a bet.
    def _zero_counts(self) -> Array:
        return np.zeros((2 * self.tree.rules.rounds * 2, NUM_KINDS))

    def add(self, reading: TreeDecisions, chosen: Array, hands: int) -> bool:
        """Count the selected decisions of `hands` hands, and return whether a change was detected.

        Parameters
        ----------
        reading
            Decisions of a record on the tree.
        chosen
            Mask or indices of the player's decisions.
        hands
            Number of hands of the record.
        """
        selected = reading.take(chosen)
        changed = False
        for begin in range(0, hands, self._block_size):
            end = min(begin + self._block_size, hands)
            block = selected.take((selected.hand >= begin) & (selected.hand < end))
            self._recent_counts.append((end - begin, self._count_moves(block.node, block.move)))
            while sum(n for n, _ in self._recent_counts) - self._recent_counts[0][0] >= self.window:
                self._older_counts += self._recent_counts.popleft()[1]
            recent = np.sum([counts for _, counts in self._recent_counts], axis=0)
            if homogeneity_p_value(self._older_counts, recent) < self.level:
                changed = True
                self._older_counts = self._zero_counts()
        return changed

    def _count_moves(self, node: Array, move: Array) -> Array:
        tree, out = self.tree, self._zero_counts()
        facing_bet = tree.kind[tree.first[node]] == FOLD  # a player who can fold faces a bet
        situation = (tree.actor[node] * tree.rules.rounds + tree.street[node]) * 2 + facing_bet
        np.add.at(out, (situation, tree.kind[tree.first[node] + move]), 1.0)
        return out


def homogeneity_p_value(first: Array, second: Array) -> float:
    """Return the p-value of a G-test that two samples of counts have the same frequencies; 1 with few observations.

    Parameters
    ----------
    first
        Counts, float64 [situations, kinds].
    second
        Counts of the other sample.

    Returns
    -------
    float
        p-value.

    Examples
    --------
    >>> homogeneity_p_value(np.array([[50.0, 50.0]]), np.array([[5.0, 45.0]])) < 1e-6
    True
    """
    g, freedom = 0.0, 0
    for first_row, second_row in zip(first, second, strict=True):
        if min(first_row.sum(), second_row.sum()) < MIN_DECISIONS:
            continue
        both = first_row + second_row
        used = both > 0
        for row in (first_row, second_row):
            expected = both[used] * row.sum() / both.sum()
            observed = row[used]
            g += 2 * float((observed[observed > 0] * np.log(observed[observed > 0] / expected[observed > 0])).sum())
        freedom += int(used.sum()) - 1
    if not freedom:
        return 1.0
    from scipy.special import chdtrc  # imported here: every start of an agent would pay for it, and few detect changes

    return float(chdtrc(freedom, max(g, 0.0)))  # survival function of the chi-squared distribution
