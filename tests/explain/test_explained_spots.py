"""Explained spots: costs against best responses and whole-tree values, EV breakdowns that add up, and comparisons."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from riverboat.cards.notation import format_hand
from riverboat.core.errors import InputError
from riverboat.explain.comparison import compare_decisions
from riverboat.explain.ev_breakdown import break_down_hand_ev
from riverboat.explain.explanation import explain
from riverboat.explain.spot_decisions import (
    BoardRow,
    board_decisions,
    node_exploitability_cost,
    replace_node_strategy,
    spot_decisions,
)
from riverboat.games.spots.spot import Spot
from riverboat.papers.explanation import solve_defences
from riverboat.solvers.boards.batches import solve_many
from riverboat.strategies.rule_list import CALL, RAISE, RuleAction
from riverboat.strategies.solution import Solution

RIVER = Spot.make(
    board="Td9d6hQc2s", pot=200, stack=600, oop="66+,AK,AQ,KQ,JT,T9s,98s,87s,A5s", ip="QQ-22,AQ,KJ,QJ,J8s,87s,76s,A2s",
    bets="60%", raises="3x",
)  # fmt: skip


@pytest.fixture(scope="module")
def solved() -> list[Solution]:
    """A river; the same with the last player locked to fold too much; and another board."""
    locked = RIVER.lock("b120", {"f": 0.9, "c": 0.1})
    other = replace(RIVER, board=(*RIVER.board[:4], 44))
    return solve_many([RIVER, locked, other], iterations=300)


def test_ev_lost_is_the_loss_of_the_node(solved: list[Solution]) -> None:
    """Against the same opponent, the rules lose exactly the stated EV."""
    node = solved[0][""]
    decisions = spot_decisions(node)
    explanation = explain(decisions, 5, "list", rule_counts=(1, 5))
    played = explanation.rules.action_probabilities(decisions.columns, decisions.moves, decisions.legal)
    after = replace_node_strategy(node, decisions, played)
    lost = (solved[0].expected_value(0) - after.expected_value(0)) * 100 / 200
    assert explanation.fidelity.ev_lost == pytest.approx(lost, abs=2e-3)
    again = spot_decisions(after[""])
    assert np.abs(again.strategy - played).max() < 1e-3
    assert explanation.fidelity.distance == pytest.approx(
        float(decisions.weight @ np.abs(again.strategy - decisions.strategy).sum(axis=1)) / 2, abs=1e-3
    )


def test_cost_is_the_gain_of_a_best_response(solved: list[Solution]) -> None:
    node = solved[0]["b120"]  # the player facing a bet
    decisions = spot_decisions(node)
    cost = node_exploitability_cost(node, decisions)
    assert cost(decisions.strategy)["exploitability"] == pytest.approx(0, abs=1e-3)
    fold = np.zeros_like(decisions.strategy)
    fold[:, [str(m) for m in decisions.moves].index("fold")] = 1
    best = replace_node_strategy(node, decisions, fold).expected_value(0, respond=True) - solved[0].expected_value(
        0, respond=True
    )
    assert cost(fold)["exploitability"] == pytest.approx(best * 100 / 200)
    assert cost(fold)["exploitability"] > 10  # any bet then wins the pot


@pytest.mark.parametrize("line", ["", "x", "b120", "x-b120"])
def test_ev_components_add_up(solved: list[Solution], line: str) -> None:
    node = solved[0][line]
    hands = np.flatnonzero(node.reach[node.player] * node.compatible_weight(node.player) > 1e-6)
    for hand in np.random.default_rng(1).choice(hands, 4, replace=False).tolist():
        breakdown = break_down_hand_ev(node, format_hand(hand))
        for k, action in enumerate(breakdown.breakdowns):
            assert action.total == pytest.approx(float(node.action_ev()[k, hand]), abs=0.02), (
                breakdown.hand,
                action.move,
            )
            assert action.played == pytest.approx(float(node.strategy[k, hand]))
            replies = {part.name.partition(":")[0]: part.chance for part in action.parts if part.name != "blocked"}
            whole = sum(replies.values()) + sum(part.chance for part in action.parts if part.name == "blocked")
            assert whole == pytest.approx(1, abs=1e-5)


def test_later_streets_on_the_turn() -> None:
    turn = Spot.make(board="Td9d6hQc", pot=200, stack=300, oop="AdKd,QQ,JTs", ip="AQ,T8s,77", bets="60%")
    (solution,) = solve_many([turn], iterations=100)
    breakdown = break_down_hand_ev(solution["x"], "AsQd")
    for action in breakdown.breakdowns:
        assert action.total == pytest.approx(action.ev, abs=0.02)
    assert any(part.name.endswith("later streets") and abs(part.chips) > 1 for part in breakdown.breakdowns[0].parts)
    with pytest.raises(InputError, match=r"2d2c|2c2d"):
        break_down_hand_ev(solution["x"], "2c2d")


def test_comparison_with_a_lock(solved: list[Solution]) -> None:
    """Against an opponent that folds too much the player bets more; the comparison gives the change and its EV."""
    first, second = (spot_decisions(s[""]) for s in solved[:2])
    comparison = compare_decisions(first, second)
    changes = {str(row["move"]): float(row["change"] or 0) for row in comparison.moves}
    assert changes["bet"] > 0.1
    assert changes["bet"] == pytest.approx(-changes["check"])
    assert comparison.ev_gain is not None
    assert comparison.ev_gain > 1  # % of pot
    assert comparison.change is not None
    assert any("bet more often" in text.sentence for text in comparison.change.rule_texts)
    same = compare_decisions(first, first)
    assert same.distance == 0
    assert same.ev_gain == pytest.approx(0)
    assert same.change is not None
    assert [text.sentence for text in same.change.rule_texts] == ["Always, play the same."]


def test_comparison_of_two_boards_by_groups(solved: list[Solution]) -> None:
    found = compare_decisions(*(spot_decisions(s[""]) for s in (solved[0], solved[2])))
    assert found.distance is None
    assert found.change is None
    assert len(found.groups) > 3
    changes = [abs(float(row["change"] or 0)) * float(row["share"] or 0) for row in found.groups]
    assert changes == sorted(changes, reverse=True)


def test_rules_by_board() -> None:
    """Rules separate boards with a high card from others, and generalize to held-out boards."""
    rng = np.random.default_rng(4)
    rows = []
    for _ in range(80):
        cards = rng.choice(52, 3, replace=False)
        bet = 0.8 if cards.max() >> 2 >= 10 else 0.2  # a queen or better
        name = "".join("23456789TJQKA"[c >> 2] + "cdhs"[c & 3] for c in cards)
        rows.append(BoardRow(name, 1.0, {"x": 1 - bet, "b50": bet}, float(rng.uniform(0.4, 0.6))))
    explanation = explain(
        board_decisions(rows, [RuleAction(CALL), RuleAction(RAISE, 0.5)], "flops"), 3, rule_counts=(1, 2, 3)
    )
    assert explanation.held_out_fidelity is not None
    assert explanation.held_out_fidelity.agreement == 1
    assert explanation.held_out_fidelity.distance < 1e-9
    assert "top card" in explanation.rules.tested_features()
    sentences = " ".join(text.sentence for text in explanation.rule_texts)
    assert "On a board with a top card of" in sentences


def test_defence_frequencies() -> None:
    """The corrected minimum defence frequency predicts defence better than the plain one."""
    found = solve_defences(40, seed=3, iterations=100)
    errors = {
        name: float(np.abs(predicted - found.defence_frequency).mean())
        for name, predicted in found.predictions().items()
    }
    plain, corrected, inverse = errors.values()
    assert corrected < plain < inverse
    assert found.exploitability < 0.5
    assert np.all((found.mdf > 0.3) & (found.mdf <= 0.8))


def test_nothing_to_explain(solved: list[Solution]) -> None:
    with pytest.raises(InputError, match="'x-x'"):
        spot_decisions(solved[0]["x-x"])
