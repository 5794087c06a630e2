"""Projection of an agent to the abstract game: its strategy at every node of a blueprint's tree, by bucket.

    projected = project_agent(make_agent("always-raise"), strategy)

The lines of the tree are played at a real table with sampled cards, and the agent's actions are translated to the tree
by a randomized mapping. The result is a `Blueprint`. The value of a best response to it is the value of knowing
the opponent: the baseline for agents that must learn a model.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np

from riverboat.abstraction.actions.translation import translation_probabilities
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.action_tree import CALL, FOLD, RAISE, ActionTree
from riverboat.games.holdem.actions import CALL as CALL_ACTION
from riverboat.games.holdem.actions import FOLD as FOLD_ACTION
from riverboat.games.holdem.actions import HIDDEN_CARD
from riverboat.games.holdem.observations import Observations
from riverboat.strategies.blueprint import Blueprint

DEALS_PER_NODE = 1_000
MAPPING = "rand-pshar"  # action translation of the agent's raises to those of the tree
PRIOR_DEALS = 0.5  # weight, in deals, of the node's mean strategy as a prior in every bucket


class ActingAgent(Protocol):
    """An agent that chooses actions."""

    @property
    def name(self) -> str:
        """Display name."""

    def act(self, views: Observations) -> Array:
        """Return actions for observations. int32 [n]

        Parameters
        ----------
        views
            Observations.
        """


def project_agent(agent: ActingAgent, base: Blueprint, deals: int = DEALS_PER_NODE, seed: int = 0) -> Blueprint:
    """Estimate an agent's strategy in the tree and the buckets of `base`, in both seats.

    Parameters
    ----------
    agent
        Agent that chooses actions.
    base
        Blueprint with tree and buckets.
    deals
        Deals at every node.
    seed
        Seed of the deals.

    Returns
    -------
    Blueprint
        The agent's strategy in the abstract game.

    Raises
    ------
    InputError
        If `deals` is below 1.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> from riverboat.games.holdem.action_tree import compile_action_tree
    >>> from riverboat.games.holdem.rules import read_game
    >>> from riverboat.strategies.blueprint import Blueprint
    >>> rules = read_game("kuhn")
    >>> tree, cards = compile_action_tree(rules, None), lossless_abstraction((), rules.deck)
    >>> base = Blueprint(rules, None, tree, cards, (np.ones((3, int(tree.width[0])), np.float32),))
    >>> project_agent(make_agent("always-call"), base, deals=10).average[0][0, :2]
    array([1., 0.], dtype=float32)
    """
    if deals < 1:
        raise InputError(f"{deals} deals: must be at least 1")
    tree, rules = base.tree, base.rules
    num_cards = rules.hole + rules.board_sizes[-1]
    rng, deck = np.random.default_rng(seed), np.array(rules.deck.cards, np.uint8)
    cards = np.stack([rng.choice(deck, num_cards, replace=False) for _ in range(deals)])
    buckets = base.cards.buckets(np.ascontiguousarray(cards), check=False)[:, 0, :]
    tables = [np.zeros(table.shape) for table in base.average]
    for node in np.flatnonzero(tree.actor >= 0).tolist():
        street, slot, count = int(tree.street[node]), int(tree.slot[node]), int(tree.count[node])
        boards = cards[:, rules.hole :].copy()
        boards[:, rules.board_sizes[street] :] = HIDDEN_CARD
        line = np.tile(np.array([tree.move(child) for child in tree.path(node)[1:]], np.int32), (deals, 1))
        views = Observations(
            rules,
            node * deals + np.arange(deals, dtype=np.int64),
            np.full(deals, tree.actor[node], np.int8),
            np.ascontiguousarray(cards[:, : rules.hole]),
            boards,
            line,
            np.full(deals, line.shape[1], np.int32),
        )
        probabilities = _translate_moves(tree, node, agent.act(views))
        rows = np.tile(PRIOR_DEALS * probabilities.mean(axis=0), (len(tables[street]), 1))
        np.add.at(rows, buckets[:, street], probabilities)
        tables[street][:, slot : slot + count] = rows / rows.sum(axis=1, keepdims=True)
    provenance = {**base.provenance, "projection": agent.name, "deals": deals}
    return replace(base, average=tuple(table.astype(np.float32) for table in tables), provenance=provenance)


def _translate_moves(tree: ActionTree, node: int, moves: Array) -> Array:
    """Translate real actions at a node to probabilities of the node's own actions. float64 [n, actions of the node]"""
    kinds = tree.kind[list(tree.children(node))]
    call = int(np.flatnonzero(kinds == CALL)[0])
    out = np.zeros((len(moves), len(kinds)))
    out[moves == FOLD_ACTION, 0 if kinds[0] == FOLD else call] = 1
    out[moves == CALL_ACTION, call] = 1
    high = int(tree.spent[node].max())
    raises = tree.total[int(tree.first[node]) + np.flatnonzero(kinds == RAISE)].tolist()
    sizes = [0.0, *((total - high) / (2 * high) for total in raises)]  # a check or call has size 0
    for total in np.unique(moves[moves > 0]).tolist():
        for k, probability in translation_probabilities(MAPPING, sizes, (total - high) / (2 * high)).items():
            out[moves == total, call + k] = probability
    return out
