"""What can be learnt about an opponent from public actions (Ganzfried & Sandholm 2011).

A *public history* is a line of public actions without the cards. What an opponent does there, whatever it holds, is
counted, and a prior of some hands of equilibrium play keeps short samples tame.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE, Array
from riverboat.strategies.tabular import Strategy
from riverboat.trees.public import PublicTree

# From weights of buckets [b], their rows of probabilities [b, actions] and the public history, to new rows.
Fit: TypeAlias = Callable[["PublicHistory", Array, Array], Array]
Counts: TypeAlias = Mapping[str, Array]  # public history: how often each action was seen, float64 [actions]


@dataclass(frozen=True, eq=False)
class PublicHistory:
    """Decisions of a player after the same public actions, with any cards."""

    line: str  # actions only; rounds are parted by "/"
    nodes: tuple[int, ...]
    actions: tuple[str, ...]


@lru_cache(maxsize=8)  # a match asks again and again
def public_histories(tree: PublicTree, player: int) -> tuple[PublicHistory, ...]:
    """A player's public histories, parents before children."""
    lines = _betting(tree)
    nodes_at: dict[tuple[int, str], list[int]] = {}
    for node in np.flatnonzero(tree.nodes.actor == player):
        nodes_at.setdefault((len(lines[node]), lines[node]), []).append(int(node))
    return tuple(
        PublicHistory(line, tuple(nodes), tree.labels(nodes[0])) for (_, line), nodes in sorted(nodes_at.items())
    )


@lru_cache(maxsize=8)
def _betting(tree: PublicTree) -> list[str]:
    """For every node the actions that lead to it, chance's as "/"."""
    lines = [""] * len(tree.nodes.actor)
    for node, actor in enumerate(tree.nodes.actor):
        for child, label in zip(tree.children(node), tree.labels(node), strict=True):
            lines[child] = lines[node] + ("/" if actor == CHANCE else label)
    return lines


def follow(strategy: Strategy, player: int, fit: Fit) -> Strategy:
    """Replace a player's rows, one public history after the other, from the top.

    A bucket is a hand with the public cards. Its weight is the probability that it is dealt and that the player
    comes here with it, by the rows made so far: our own cards and actions are left out, as in the paper.
    """
    tree = strategy.tree
    if not isinstance(tree, PublicTree):
        raise InputError(f"{tree.name} has no public histories: this needs a public game")
    table = np.array(strategy.probabilities, float)
    rows, hands = tree.views(table)[player], tree.hand_counts[player]
    side, nodes = tree.sides[player], tree.nodes
    weight = np.zeros((len(nodes.actor), hands))
    weight[0] = tree.deal.joint().sum(axis=1 - player)
    public = {n: h for h in public_histories(tree, player) for n in h.nodes}
    level = [0]
    while level:
        for history in dict.fromkeys(public[n] for n in level if n in public):  # all its nodes are on this level
            blocks = [slice(int(nodes.data[n]), int(nodes.data[n]) + int(nodes.width[n])) for n in history.nodes]
            here = weight[list(history.nodes)].ravel()
            if here.sum() > 0:
                old = np.concatenate([rows[block].T for block in blocks])
                new = fit(history, here / here.sum(), old)
                for k, block in enumerate(blocks):
                    rows[block] = new[k * hands : (k + 1) * hands].T
        below = []
        for n in level:
            for a, child in enumerate(tree.children(n)):
                if nodes.actor[n] == player:
                    weight[child] = weight[n] * rows[int(nodes.data[n]) + a]
                elif nodes.actor[n] == CHANCE:
                    outcome = int(nodes.data[n]) + a
                    weight[child] = weight[n] * side.chance[outcome] * side.live[outcome]
                else:
                    weight[child] = weight[n]
                below.append(child)
        level = below
    return Strategy(tree, table, {"method": "opponent model", "player": player})


def frequencies(strategy: Strategy, player: int) -> dict[str, Array]:
    """How often a strategy takes each action at its public histories, over all its hands. float64 [actions]"""
    played: dict[str, Array] = {}

    def read(history: PublicHistory, weights: Array, rows: Array) -> Array:
        played[history.line] = weights @ rows
        return rows

    follow(strategy, player, read)
    return played


def posterior(expected: Counts, counts: Counts, prior: float = 5.0) -> dict[str, Array]:
    """Action probabilities with a Dirichlet prior of `prior` hands that act as expected."""
    if not prior > 0:
        raise InputError(f"prior={prior:g}: must be above 0 hands")
    out = {}
    for line, frequency in expected.items():
        seen = counts.get(line, np.zeros(len(frequency)))
        out[line] = (prior * frequency + seen) / (prior + seen.sum())
    return out


def observe(
    tree: PublicTree, profile: Strategy, watched: int, hands: int, rng: np.random.Generator
) -> dict[str, Array]:
    """Deal hands between the two halves of a profile and count the public actions of one player."""
    joint = tree.deal.joint()
    dealt = rng.choice(joint.size, size=hands, p=joint.ravel())
    held = np.stack(np.unravel_index(dealt, joint.shape))  # [2, hands]
    lines, views = _betting(tree), tree.views(np.asarray(profile.probabilities))
    counts = {h.line: np.zeros(len(h.actions)) for h in public_histories(tree, watched)}
    work = [(0, np.arange(hands))]
    while work:
        node, who = work.pop()
        actor, width, first = (int(x[node]) for x in (tree.nodes.actor, tree.nodes.width, tree.nodes.data))
        if width == 0:
            continue
        if actor == CHANCE:
            outcomes = slice(first, first + width)
            chances = tree.sides[0].chance[outcomes] * np.ones((len(who), 1))
            for player in (0, 1):
                chances = chances * tree.sides[player].live[outcomes][:, held[player, who]].T
        else:
            chances = views[actor][first : first + width, held[actor, who]].T
        ahead = chances.cumsum(axis=1)
        pick = (rng.random((len(who), 1)) * ahead[:, -1:] >= ahead[:, :-1]).sum(axis=1)
        if actor == watched:
            counts[lines[node]] += np.bincount(pick, minlength=width)
        work += [(child, who[pick == k]) for k, child in enumerate(tree.children(node)) if np.any(pick == k)]
    return counts
