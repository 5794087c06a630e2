"""Opponent models in the tree of a blueprint."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from random_blueprints import KINDS, random_blueprint
from riverboat.abstraction.actions.translation import translation_probabilities
from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.cli import players
from riverboat.core.errors import InputError
from riverboat.evaluation.matches.match import play_match
from riverboat.formats import hand_files
from riverboat.formats.hand_files import GatheredHands
from riverboat.games.holdem.action_tree import ActionTree, compile_action_tree
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.hand_records import HandRecords, RecordedHand, build_records, concatenate_records
from riverboat.opponents.dbbr import FITS
from riverboat.opponents.models.evaluation import EQUILIBRIUM, ModelEvaluation, evaluate_models
from riverboat.opponents.models.hand_lines import read_hands
from riverboat.opponents.models.tree import (
    BucketReach,
    MoveCounts,
    bucket_probabilities,
    count_moves,
    fit_clusters,
    fit_model,
    strategy_tables,
)
from riverboat.strategies.blueprint import Blueprint, load_blueprint, save_blueprint


def blueprint(seed: int, kind: str = "demo", sharp: float = 1.0) -> Blueprint:
    """A random blueprint for one of the small games with hold'em betting."""
    rules, menu = KINDS[kind]
    tree, cards = compile_action_tree(rules, menu), lossless_abstraction(rules.board[1:], rules.deck)
    rng = np.random.default_rng(seed)
    shapes = [(cards.counts[s], int(tree.width[s])) for s in range(rules.rounds)]
    sums = tuple((rng.random(shape) ** sharp).astype(np.float32) for shape in shapes)
    return Blueprint(rules, menu, tree, cards, sums)


def match(one: Blueprint, two: Blueprint, hands: int) -> HandRecords:
    records: list[HandRecords] = []
    play_match(BlueprintAgent(one, "one"), BlueprintAgent(two, "two", seed=5), one.rules, hands, observe=records.append)
    return concatenate_records(records)


@pytest.fixture(scope="module")
def played() -> tuple[Blueprint, Blueprint, HandRecords]:
    base, other = blueprint(1, "pot"), blueprint(2, "pot", sharp=3.0)
    return base, other, match(base, other, 3000)


def nodes_on_the_path(tree: ActionTree, hands: HandRecords) -> list[tuple[int, int, int]]:
    """Hand, node and action of every decision, by the tree's own line search."""
    decisions = []
    for i in range(len(hands)):
        for k in range(int(hands.length[i])):
            node = tree.find(hands.betting(i, k).line)
            child = tree.find(hands.betting(i, k + 1).line)
            decisions.append((i, node, child - int(tree.first[node])))
    return decisions


def test_lines_on_the_tree_are_unchanged(
    played: tuple[Blueprint, Blueprint, HandRecords],
) -> None:
    base, _, hands = played
    selected = hands.take(np.arange(200))
    expected = nodes_on_the_path(base.tree, selected)
    # Other blinds and stacks with the same pot fractions give the same lines.
    raised = selected.moves > 0
    richer = replace(
        selected,
        blinds=3 * selected.blinds,
        stacks=3 * selected.stacks,
        moves=np.where(raised, 3 * selected.moves, selected.moves),
    )
    for records in (selected, richer):
        found = read_hands(base.tree, records)
        assert found.num_missed == 0
        assert list(zip(found.hand.tolist(), found.node.tolist(), found.move.tolist(), strict=True)) == expected


@pytest.mark.parametrize("total", [250, 300, 420, 700, 900, 1299])
def test_off_tree_bets_are_translated(total: int) -> None:
    """By the mapping's own list of sizes: the pot is 200 before the flop once the blind is called."""
    base = blueprint(1, "pot")
    rules, tree = base.rules, base.tree
    ended = BettingState.from_line(rules, f"cr{total}f")
    hands = build_records([RecordedHand(0, ("a", "b"), ended, ((), (), ()))], rules)
    found = read_hands(tree, hands)
    raises = [tree.total[c] for c in tree.children(int(tree.find("c"))) if tree.kind[c] == 2]
    sizes = [0.0, *((int(t) - 100) / 200 for t in raises)]
    assert found.move[1] == next(iter(translation_probabilities("det-pshar", sizes, (total - 100) / 200)))
    assert found.move.tolist()[2:] == [0]  # the fold follows after any translation


def test_off_tree_decisions_are_skipped_until_the_next_round() -> None:
    base = blueprint(1, "meek")  # one bet of the pot, at most two raises, and no bets of the dealer after the flop
    rules = base.rules
    lines = ["cr300r900r2700c/cc/cc/cc", "cc/cr200c/cc/cc", "cc/cc/cc/cc"]
    hands = build_records(
        [RecordedHand(k, ("a", "b"), BettingState.from_line(rules, x), ((), (), ())) for k, x in enumerate(lines)],
        rules,
    )
    found = read_hands(base.tree, hands)
    counted = [int((found.hand == k).sum()) for k in range(3)]
    assert counted[2] == 8
    assert counted[0] == 3 + 6  # the third raise and its call are off the tree
    assert found.num_missed == 2 + (8 - counted[1] + 1)
    with pytest.raises(InputError, match="leduc"):
        read_hands(random_blueprint("leduc").tree, hands)


def test_bucket_probabilities_equal_the_deck() -> None:
    """Without abstraction every hand is a bucket with equal probability, and transition rows sum to one."""
    base = blueprint(1, "pot")
    first, transitions = bucket_probabilities(base.cards, base.rules.rounds)
    assert first.sum() == pytest.approx(1)
    np.testing.assert_allclose(first, 1 / len(first), rtol=0.05)  # 4 ranks
    for transition in transitions:
        np.testing.assert_allclose(transition.sum(axis=1)[transition.sum(axis=1) > 0], 1)


@pytest.mark.parametrize("fit", FITS)
def test_model_matches_the_posterior(fit: str, played: tuple[Blueprint, Blueprint, HandRecords]) -> None:
    base, _, hands = played
    decisions = read_hands(base.tree, hands)
    counts = count_moves(decisions, base.tree, decisions.player == hands.names.index("two"))
    assert counts.decisions == (decisions.player == hands.names.index("two")).sum()
    model = fit_model(base, counts, fit)
    before = BucketReach(base.tree, base.cards, strategy_tables(base))
    after = BucketReach(base.tree, base.cards, strategy_tables(model))
    for node, observed in counts.moves.items():
        expected = before.reach_shares(node) @ before.rows(node)
        target = (5 * expected + observed) / (5 + observed.sum())
        np.testing.assert_allclose(after.reach_shares(node) @ after.rows(node), target, atol=1e-5)
    unseen = next(n for n in np.flatnonzero(base.tree.actor >= 0).tolist() if n not in counts.moves)
    np.testing.assert_allclose(after.rows(unseen), before.rows(unseen), atol=1e-6)
    with pytest.raises(InputError, match="prior=0,"):
        fit_model(base, counts, fit, prior=0)


def test_showdowns_improve_bucket_rows(played: tuple[Blueprint, Blueprint, HandRecords]) -> None:
    """With all cards seen, rows are closer to the true strategy of each hand."""
    base, other, hands = played
    decisions = read_hands(base.tree, hands)
    selection = decisions.player == hands.names.index("two")
    counts = count_moves(decisions, base.tree, selection, hands, base.cards)
    assert sum(c.sum() for c in counts.showdowns.values()) == counts.decisions  # records of a match contain all cards
    true = strategy_tables(other)
    frequent_nodes = [node for node, observed in counts.moves.items() if observed.sum() > 300]
    assert frequent_nodes

    def distance(model: Blueprint) -> float:
        rows, ours = (
            BucketReach(base.tree, base.cards, true),
            BucketReach(base.tree, base.cards, strategy_tables(model)),
        )
        return float(np.mean([np.abs(rows.rows(n) - ours.rows(n)).mean() for n in frequent_nodes]))

    public, shown = fit_model(base, MoveCounts(counts.moves), "l1"), fit_model(base, counts, "l1")
    assert distance(shown) < 0.5 * distance(public) < 0.5 * distance(base)


def test_evaluation_by_hand() -> None:
    """Two hands, three decisions: losses, gains and intervals by definition."""
    predictions = {"a": np.array([[0.5, 0.5], [0.25, 0.75], [0.9, 0.1]]), "b": np.full((3, 2), 0.5)}
    found = ModelEvaluation("x", 1, 2, 0.0, predictions, np.array([0, 1, 1]), np.array([2, 2, 2]), np.array([4, 4, 9]))
    losses = -np.log([0.5, 0.75, 0.1])
    mean, half = found.loss("a")
    assert mean == pytest.approx(losses.mean())
    hand_deviations = np.array([losses[:2].sum() - 2 * mean, losses[2] - mean])
    assert half == pytest.approx(1.959963984540054 * np.sqrt(2 * (hand_deviations**2).sum()) / 3)
    assert found.gain("a", "b")[0] == pytest.approx(np.log(2) - mean)
    assert found.gain("a", "a") == (0.0, 0.0)
    assert sum(n for _, _, n in found.calibration("a")) == 6


def test_models_beat_the_equilibrium(played: tuple[Blueprint, Blueprint, HandRecords]) -> None:
    base, _, hands = played
    found = evaluate_models(base, hands, "two")
    for key in ("l1", "em", "showdowns"):
        gain, half = found.gain(key, EQUILIBRIUM)
        assert gain - half > 0
    for rows in found.predictions.values():
        np.testing.assert_allclose(rows.sum(axis=1), 1)
    own = evaluate_models(base, hands, "one")  # the blueprint predicts itself best
    assert own.gain("l1", EQUILIBRIUM)[0] < 0.01
    with pytest.raises(InputError, match="train_share=1"):
        evaluate_models(base, hands, "two", 1.0)
    with pytest.raises(InputError, match="player 'two'"):  # one hand has no interval
        evaluate_models(base, hands, "two", 1 - 1 / len(hands))


def test_command(
    played: tuple[Blueprint, Blueprint, HandRecords],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Hands of these small games cannot be written as PHH, so reading files is patched."""
    base, _, hands = played
    folder = str(save_blueprint(base, tmp_path / "base"))
    monkeypatch.setattr(hand_files, "gather_hands", lambda files: GatheredHands(hands, {}, {}))
    out = tmp_path / "model"
    options: dict[str, Any] = {"players": ["two"], "out": out, "plot": tmp_path / "a.png", "json": True}
    players.model(folder, [], **options)
    (player,) = json.loads(capsys.readouterr().out)["players"]
    assert (player["player"], player["hands_learnt"]) == ("two", 2400)
    gain = player["forecasts"]["l1"]["below_equilibrium"]
    assert gain["nats"] > gain["ci95"] > 0
    assert (tmp_path / "a.png").stat().st_size > 5000
    saved = load_blueprint(out)
    assert (saved.tree.fingerprint, saved.provenance["model"]) == (base.tree.fingerprint, "l1")
    assert saved.fingerprint != base.fingerprint
    for place, invalid in {
        "out .*model": options,
        "'l3'": {"fit": "l3"},
        "out .*player=": {"out": tmp_path / "m"},
        "'tow'": {"players": ["tow"]},
    }.items():
        with pytest.raises(InputError, match=place):
            players.model(folder, [], **invalid)
    with pytest.raises(InputError, match="always-call"):
        players.model("always-call", [])


# --- clusters -----------------------------------------------------------------------------------


def test_clusters_match_frequencies_and_keep_shown_hands() -> None:
    """Six hands on a line: shown hands stay, the others go to the nearest cluster with capacity."""
    weights, points = np.full(6, 1 / 6), np.array([[x, 0.0] for x in (0.0, 0.1, 0.2, 0.8, 0.9, 1.0)])
    rows = np.full((6, 2), 0.5) + np.linspace(0.4, -0.4, 6)[:, None] * [1, -1]  # weaker hands fold a little more
    shown = np.array([False, True, False, False, False, False])
    rows[1] = [0, 1]  # a weak hand that was shown to call
    fitted = fit_clusters(weights, rows, np.array([1 / 3, 2 / 3]), points, shown)
    np.testing.assert_allclose(fitted[:, 0], [1, 0, 1, 0, 0, 0], atol=0.02)
    shared = fit_clusters(weights, rows, np.array([0.25, 0.75]), points, shown)  # one hand is split
    np.testing.assert_allclose(weights @ shared, [0.25, 0.75], atol=1e-9)
    assert shared[1, 1] == 1
    assert shared[0, 0] > shared[2, 0] > 0.3  # the weakest folds first
    all_fold = fit_clusters(weights, rows, np.array([1.0, 0.0]), points, shown)  # shown hands stay
    np.testing.assert_allclose(all_fold[:, 0], [1, 0, 1, 1, 1, 1], atol=1e-9)
