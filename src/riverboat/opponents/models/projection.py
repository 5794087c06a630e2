"""Any agent as the abstract game sees it: what it does at every node of a blueprint's tree with the hands of every bucket.

    true = project(make_agent("always-raise"), strategy)

The lines of the tree are played at a real table with cards that are drawn, and the agent's moves are read as the tree reads
them, in the shares of a randomised mapping. The answer is a `BlueprintStrategy`. A best response to it is what it is worth to
know the opponent: the yardstick of agents that have to learn it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.action_tree import CALL, FOLD, RAISE, ActionTree
from riverboat.games.holdem.actions import CALL as CALLS
from riverboat.games.holdem.actions import FOLD as FOLDS
from riverboat.games.holdem.actions import HIDDEN
from riverboat.games.holdem.observation import Views
from riverboat.strategies.blueprint import BlueprintStrategy

DEALS = 1_000  # that every node is played with
FEW = 0.5  # deals of the node's mean in every bucket: what is said of a bucket that was never dealt


class Acting(Protocol):
    """Who can be asked for moves."""

    @property
    def name(self) -> str:
        """What tables call it."""
        ...

    def act(self, views: Views) -> Array:
        """Moves at tables. int32 [n]"""
        ...


def project(agent: Acting, base: BlueprintStrategy, deals: int = DEALS, seed: int = 0) -> BlueprintStrategy:
    """What an agent plays in the tree and the buckets of `base`, in both seats, by so many deals at every node."""
    if deals < 1:
        raise InputError(f"{deals} deals: at least 1")
    tree, rules = base.tree, base.rules
    need = rules.hole + rules.board_sizes[-1]
    rng, deck = np.random.default_rng(seed), np.array(rules.deck.cards, np.uint8)
    cards = np.stack([rng.choice(deck, need, replace=False) for _ in range(deals)])
    buckets = base.cards.buckets(np.ascontiguousarray(cards), check=False)[:, 0, :]
    tables = [np.zeros(table.shape) for table in base.average]
    for node in np.flatnonzero(tree.actor >= 0).tolist():
        street, at, count = int(tree.street[node]), int(tree.slot[node]), int(tree.count[node])
        shown = cards[:, rules.hole :].copy()
        shown[:, rules.board_sizes[street] :] = HIDDEN
        line = np.tile(np.array(_moves(tree, node), np.int32), (deals, 1))
        views = Views(
            rules,
            node * deals + np.arange(deals, dtype=np.int64),
            np.full(deals, tree.actor[node], np.int8),
            np.ascontiguousarray(cards[:, : rules.hole]),
            shown,
            line,
            np.full(deals, line.shape[1], np.int32),
        )
        shares = _read(tree, node, agent.act(views))
        rows = np.tile(FEW * shares.mean(axis=0), (len(tables[street]), 1))
        np.add.at(rows, buckets[:, street], shares)
        tables[street][:, at : at + count] = rows / rows.sum(axis=1, keepdims=True)
    facts = {**base.provenance, "projection": agent.name, "deals": deals}
    return replace(base, average=tuple(table.astype(np.float32) for table in tables), provenance=facts)


def _moves(tree: ActionTree, node: int) -> list[int]:
    """The line of a node, as numbers."""
    line: list[int] = []
    while node:
        kind = int(tree.kind[node])
        line.append({FOLD: FOLDS, CALL: CALLS}.get(kind, int(tree.total[node])))
        node = int(tree.parent[node])
    return line[::-1]


def _read(tree: ActionTree, node: int, moves: Array) -> Array:
    """Real moves at a node as shares of its own. float64 [n, moves of the node]"""
    kinds = tree.kind[list(tree.children(node))]
    first = int(tree.first[node])
    call = int(np.flatnonzero(kinds == CALL)[0])
    out = np.zeros((len(moves), len(kinds)))
    out[moves == FOLDS, 0 if kinds[0] == FOLD else call] = 1
    out[moves == CALLS, call] = 1
    raised = np.flatnonzero(moves > 0)
    if len(raised):
        high = int(tree.spent[node].max())
        totals = tree.total[first + np.flatnonzero(kinds == RAISE)].astype(float)
        sizes = np.concatenate([[0.0], (totals - high) / (2 * high)])
        x = np.clip((moves[raised] - high) / (2 * high), 0, sizes[-1])
        above = np.clip(np.searchsorted(sizes, x, side="right"), 1, max(len(sizes) - 1, 1))
        below = above - 1
        share = np.ones(len(x))
        if len(sizes) > 1:
            a, b = sizes[below], sizes[above]
            share = (b - x) * (1 + a) / ((b - a) * (1 + x))  # the pseudo-harmonic mapping
            out[raised, call + above] = 1 - share
        out[raised, call + below] += share
    return out
