"""Hierarchical opponent models, and projections of agents to the abstract game."""

from __future__ import annotations

import numpy as np
import pytest

from random_blueprints import KINDS
from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
from riverboat.agents.baselines import BaselineAgent
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.cards.deck import FULL_DECK
from riverboat.cards.features.hand_features import board_hand_strengths, hand_strengths_on_boards
from riverboat.core.errors import InputError
from riverboat.evaluation.matches.match import play_match
from riverboat.games.holdem.action_tree import CALL, FOLD, compile_action_tree
from riverboat.games.holdem.hand_records import HandRecords, concatenate_records
from riverboat.opponents.models import hierarchical
from riverboat.opponents.models.hand_lines import read_hands
from riverboat.opponents.models.hierarchical import (
    bucket_strength_bins,
    fit_tied_model,
    log_likelihood_gain,
    similar_counts,
    tied_columns,
    unseen_final_decisions,
)
from riverboat.opponents.models.projection import project_agent
from riverboat.opponents.models.tree import MoveCounts, count_moves, strategy_tables
from riverboat.strategies.blueprint import Blueprint


def blueprint(seed: int, kind: str = "pot") -> Blueprint:
    rules, menu = KINDS[kind]
    tree, cards = compile_action_tree(rules, menu), lossless_abstraction(rules.board[1:], rules.deck)
    rng = np.random.default_rng(seed)
    sums = tuple(rng.random((cards.counts[s], int(tree.width[s]))).astype(np.float32) for s in range(rules.rounds))
    return Blueprint(rules, menu, tree, cards, sums)


@pytest.fixture(scope="module")
def base() -> Blueprint:
    return blueprint(1)


@pytest.fixture(scope="module")
def counts(base: Blueprint) -> MoveCounts:
    """Counts of a match as the opponent sees them: cards at showdowns only."""
    records: list[HandRecords] = []
    observer, observed = BlueprintAgent(base, "one"), BlueprintAgent(blueprint(2), "two", seed=5)
    play_match(observer, observed, base.rules, 1000, observe=records.append)
    hands = concatenate_records(records).seen_by("one")
    decisions = read_hands(base.tree, hands)
    return count_moves(decisions, base.tree, decisions.player == hands.names.index("two"), hands, base.cards)


def test_rows_and_conditional_probabilities_convert(base: Blueprint) -> None:
    """Probabilities of each action given no earlier one, and back; for all nodes and for some."""
    for street, table in zip(tied_columns(base.tree), strategy_tables(base), strict=True):
        selected = street.restrict_to(np.unique(street.node)[::3])
        for columns in (street, selected):
            rows = table[:, columns.column]
            np.testing.assert_allclose(columns.action_probabilities(rows / columns.tail_sums(rows)), rows, atol=1e-12)
        assert set(selected.node.tolist()) == set(np.unique(street.node)[::3].tolist())


def test_expected_counts_sum_to_observations(base: Blueprint, counts: MoveCounts) -> None:
    """Every decision counts once, by bucket or spread over buckets; hidden hands are those without cards."""
    final_decisions = unseen_final_decisions(base.tree, counts)
    assert final_decisions
    assert counts.showdowns
    folds = sum(
        float(observed[0]) for node, observed in counts.moves.items() if base.tree.kind[base.tree.first[node]] == FOLD
    )
    assert sum(final_decisions.values()) >= folds > 0  # folded hands are hidden
    expected = hierarchical._expected_counts(base, strategy_tables(base), counts, final_decisions)
    for node, observed in counts.moves.items():
        slot, street = int(base.tree.slot[node]), int(base.tree.street[node])
        np.testing.assert_allclose(expected[street][:, slot : slot + len(observed)].sum(axis=0), observed, atol=1e-9)


def test_model_is_more_likely_than_its_base(base: Blueprint, counts: MoveCounts) -> None:
    model = fit_tied_model(base, counts)
    assert log_likelihood_gain(base, model, counts) > 50
    assert log_likelihood_gain(base, base, counts) == 0
    unfitted = fit_tied_model(base, MoveCounts({}))
    for table, base_table in zip(strategy_tables(unfitted), strategy_tables(base), strict=True):
        np.testing.assert_allclose(table, base_table, atol=hierarchical.SMOOTHING)
    with pytest.raises(InputError, match="prior=0"):
        fit_tied_model(base, counts, 0)


def test_log_likelihood_gain_by_hand(base: Blueprint) -> None:
    """One shown and one hidden hand at the root."""
    tree, other = base.tree, blueprint(2)
    first_action, second_action = np.eye(int(tree.count[0]))[:2]
    ratio = []
    for strategy in (other, base):
        table = hierarchical.smooth_tables(tree, strategy_tables(strategy))[0]
        hidden = table[:, 0].mean()  # all buckets are equally likely
        ratio.append(np.log(table[3, 1]) + np.log(hidden))
    gain = log_likelihood_gain(base, other, MoveCounts({0: first_action + second_action}, {(0, 3): second_action}))
    assert gain == pytest.approx(ratio[0] - ratio[1], abs=0.02)


def test_similar_decisions_are_counted_together(base: Blueprint, counts: MoveCounts) -> None:
    observations = similar_counts(base.tree, counts)
    assert set(observations) == set(np.flatnonzero(base.tree.actor >= 0).tolist())
    for node, node_counts in counts.moves.items():
        assert observations[node] >= node_counts.sum()
    assert sum(n > 0 for n in observations.values()) > len(counts.moves)


def test_strength_bins_follow_ranks(base: Blueprint) -> None:
    """Before the board, buckets are ranks of the deck in ascending order."""
    first = bucket_strength_bins(base.cards, base.rules.rounds)[0]
    ranks = base.cards.indexer(0).unindex(np.arange(len(first)))[:, 0] // 4
    assert (np.diff(first[np.argsort(ranks)]) >= 0).all()
    assert first.min() < first.max()


# --- projection of agents -----------------------------------------------------------------------


def test_projection_of_a_caller(base: Blueprint) -> None:
    projected = project_agent(BaselineAgent("always-call"), base, 50)
    tree = base.tree
    for node in np.flatnonzero(tree.actor >= 0).tolist():
        street, slot = int(tree.street[node]), int(tree.slot[node])
        calls = tree.kind[list(tree.children(node))] == CALL
        rows = strategy_tables(projected)[street][:, slot : slot + len(calls)]
        np.testing.assert_allclose(rows, np.tile(calls, (len(rows), 1)))


def test_projection_of_a_blueprint_is_itself(base: Blueprint) -> None:
    projected = project_agent(BlueprintAgent(base, seed=3), base, 4000)
    before, after = strategy_tables(base)[0], strategy_tables(projected)[0]
    assert np.abs(before - after).max() < 0.08  # about 300 deals per bucket
    with pytest.raises(InputError, match="0 deals"):
        project_agent(BaselineAgent("always-call"), base, 0)


def test_projection_splits_bets_between_sizes(base: Blueprint) -> None:
    """The smallest raise maps to a call or to a bet of the pot, with the probabilities of the mapping."""
    projected = project_agent(BaselineAgent("always-raise"), base, 50)
    table = strategy_tables(projected)[0]
    tree = base.tree
    least = (tree.rules.big_blind) / (2 * tree.rules.big_blind)
    sizes = [(int(tree.total[c]) - 100) / 200 for c in tree.children(0) if tree.kind[c] == 2]
    share = (sizes[0] - least) / (sizes[0] * (1 + least))  # pseudo-harmonic, between 0 and the first size
    calls = next(k for k, c in enumerate(tree.children(0)) if tree.kind[c] == CALL)
    np.testing.assert_allclose(table[:, calls], share, atol=1e-6)


def test_strengths_on_many_boards_equal_single_boards() -> None:
    rng = np.random.default_rng(1)
    deals = np.stack([rng.choice(52, 7, replace=False) for _ in range(20)]).astype(np.uint8)
    strengths = hand_strengths_on_boards(deals[:, :2], deals[:, 2:])
    index_of = {tuple(sorted(hand)): k for k, hand in enumerate(FULL_DECK.hands.tolist())}
    for share, deal in zip(strengths, deals, strict=True):
        assert share == pytest.approx(
            board_hand_strengths(deal[2:].tolist())[index_of[tuple(sorted(deal[:2].tolist()))]]
        )
    with pytest.raises(InputError, match=r"\(3, 2\).*\(20, 5\)"):
        hand_strengths_on_boards(deals[:3, :2], deals[:, 2:])
