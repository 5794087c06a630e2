"""Traversals: which part of the tree an iteration visits, independent of the schedule.

`full` visits everything. The public-tree samplers of Johanson et al. (2012) sample the public chance events, and for
each player either carry all hands as a vector or sample one: `pcs` carries both vectors, `opcs` samples the opponent's
hand, `spcs` the traverser's, `chance` both. `external` and `outcome` also sample actions (Lanctot et al. 2009).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riverboat.core.errors import InputError, unknown_name_error
from riverboat.games.base import Array
from riverboat.solvers.tabular._kernels.iterations import HandSampler, InfosetRows
from riverboat.strategies.tabular import Tree
from riverboat.trees.history import HistoryTree
from riverboat.trees.public import PublicTree


@dataclass(frozen=True)
class Traversal:
    """A traversal: its name and what it samples.

    Parameters
    ----------
    name
        Name in texts, such as "pcs".
    about
        What an iteration visits, in a few words.
    sampled
        Whether an iteration visits a sample of the tree.
    public
        Whether it needs a public tree.
    own_all
        Whether all hands of the traverser are carried as a vector; otherwise one is sampled.
    opp_all
        Whether all hands of the opponent are carried as a vector; otherwise one is sampled.

    Examples
    --------
    >>> from riverboat.solvers.traversals import TRAVERSALS
    >>> TRAVERSALS["pcs"].about
    "public chance sampled, both players' hands as vectors"
    """

    name: str
    about: str
    sampled: bool = True
    public: bool = False  # whether it needs a public tree
    own_all: bool = True  # whether all hands of the traverser are carried as a vector
    opp_all: bool = True  # whether all hands of the opponent are carried as a vector

    def __str__(self) -> str:
        return self.name


TRAVERSALS: dict[str, Traversal] = {
    t.name: t
    for t in (
        Traversal("full", "every node, all hands as vectors", sampled=False),
        Traversal("chance", "one deal and its public cards, all actions", own_all=False, opp_all=False),
        Traversal("external", "one deal, the opponent's actions sampled"),
        Traversal("outcome", "one trajectory"),
        Traversal("pcs", "public chance sampled, both players' hands as vectors", public=True),
        Traversal("opcs", "public chance and the opponent's hand sampled", public=True, opp_all=False),
        Traversal("spcs", "public chance and the own hand sampled", public=True, own_all=False),
    )
}
_ALIASES = {"cs": "chance", "es": "external", "os": "outcome", "chance_sampling": "chance"}


def parse_traversal(text: str | Traversal) -> Traversal:
    """Return a traversal by its name or alias.

    Parameters
    ----------
    text
        A key of `TRAVERSALS`, an alias ("cs", "es", "os", "chance_sampling"), or a traversal, which is returned.

    Returns
    -------
    Traversal
        The traversal.

    Raises
    ------
    InputError
        If the name is unknown.

    Examples
    --------
    >>> from riverboat.solvers.traversals import parse_traversal
    >>> parse_traversal("es").name
    'external'
    """
    if isinstance(text, Traversal):
        return text
    name = _ALIASES.get(text, text)
    if name not in TRAVERSALS:
        raise unknown_name_error("traversal", text, TRAVERSALS)
    return TRAVERSALS[name]


def check_traversal(tree: Tree, traversal: Traversal) -> None:
    """Raise InputError if a tree does not support a traversal.

    Parameters
    ----------
    tree
        Tree of the game.
    traversal
        Traversal to check.

    Raises
    ------
    InputError
        If the traversal needs a public tree and `tree` is none.

    Examples
    --------
    >>> import riverboat as rb
    >>> from riverboat.solvers.traversals import check_traversal, parse_traversal
    >>> check_traversal(rb.compile_game(rb.game("kuhn")), parse_traversal("pcs"))
    """
    if traversal.public and not isinstance(tree, PublicTree):
        raise InputError(
            f"{tree.name}: traversal {traversal.name!r} needs a public game (all actions public, hands dealt at the start); "
            f"use full, chance, external or outcome"
        )


def make_sampler(tree: Tree, traversal: Traversal) -> HandSampler:
    """Make the tables that sample pairs of hands and find the k-th child, as far as a traversal needs them.

    Parameters
    ----------
    tree
        Tree of the game.
    traversal
        Traversal that reads the tables.

    Returns
    -------
    HandSampler
        Alias table of the joint deal (Walker 1977), marginals of both players' hands, and lists of children.

    Examples
    --------
    >>> import riverboat as rb
    >>> from riverboat.solvers.traversals import make_sampler, parse_traversal
    >>> make_sampler(rb.compile_game(rb.game("kuhn")), parse_traversal("external")).pair.shape
    (6, 2)
    """
    needs_children = traversal.name in ("external", "outcome")
    if isinstance(tree, PublicTree) and traversal.sampled:
        joint = tree.deal.joint()
        dealt = np.ascontiguousarray(np.argwhere(joint > 0), np.int32)
        accept, alias = _alias_table(joint[joint > 0])
        marginal = joint.sum(axis=1), joint.sum(axis=0)
    else:
        dealt, (accept, alias) = np.zeros((1, 2), np.int32), _alias_table(np.ones(1))
        marginal = np.ones(1), np.ones(1)
    kid_at, children = _child_lists(tree) if needs_children else (np.zeros(0, np.int32), np.zeros(0, np.int32))
    cumulative = np.cumsum(marginal[0]), np.cumsum(marginal[1])
    vectors = traversal.own_all, traversal.opp_all
    return HandSampler(accept, alias, dealt, marginal, cumulative, tree.total, *vectors, kid_at, children)


def infoset_rows(tree: Tree) -> tuple[InfosetRows, ...]:
    """Return the table rows of each player's information sets.

    Parameters
    ----------
    tree
        Tree of the game.

    Returns
    -------
    tuple of InfosetRows
        One for each player; empty if no information set has several nodes.

    Examples
    --------
    >>> import riverboat as rb
    >>> from riverboat.solvers.traversals import infoset_rows
    >>> [len(rows.at) for rows in infoset_rows(rb.compile_game(rb.game("kuhn")))]
    [0, 0]
    """
    if not isinstance(tree, HistoryTree) or not tree.shared:
        empty = InfosetRows(np.zeros(0, np.int64), np.zeros(0, np.int32))
        return (empty,) * tree.players
    owned = [np.flatnonzero(tree.owner == p) for p in range(tree.players)]
    return tuple(InfosetRows(tree.offsets[i], tree.action_counts[i]) for i in owned)


def _alias_table(probability: Array) -> tuple[Array, Array]:
    """Build the alias table of a discrete distribution, for sampling in O(1) (Walker 1977).

    Returns the probability to accept each entry, and the entry to take otherwise. float64, int32 [entries]
    """
    count = len(probability)
    scaled = probability * (count / probability.sum())
    alias = np.arange(count, dtype=np.int32)
    small = [i for i in range(count) if scaled[i] < 1]
    large = [i for i in range(count) if scaled[i] >= 1]
    while small and large:
        low, high = small.pop(), large[-1]
        alias[low] = high
        scaled[high] -= 1 - scaled[low]
        if scaled[high] < 1:
            small.append(large.pop())
    scaled[small + large] = 1.0  # left over by rounding
    return scaled, alias


def _child_lists(tree: Tree) -> tuple[Array, Array]:
    """Return the start of each node's children in one list, and that list."""
    width, end = tree.nodes.width.astype(np.int64), tree.nodes.end
    first = np.concatenate([[0], np.cumsum(width)[:-1]]).astype(np.int32)
    children = np.zeros(max(int(width.sum()), 1), np.int32)
    # Subtrees of siblings are contiguous: the next starts where this one ends.
    child = np.arange(len(width)) + 1
    for k in range(int(width.max())):
        has = np.flatnonzero(width > k)
        children[first[has] + k] = child[has]
        child[has] = end[child[has]] if len(has) else child[has]
    return first, children
