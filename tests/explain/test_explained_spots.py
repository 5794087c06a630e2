"""Spots explained: figures against best responses and walks of the whole tree, parts that add up, changes that are found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from riverboat.cards.notation import show_hand
from riverboat.core.errors import InputError
from riverboat.explain.comparison import compare
from riverboat.explain.explanation import explain
from riverboat.explain.flop_rules import BoardRow, board_decisions
from riverboat.explain.spots import cost_of, replaced, spot_decisions
from riverboat.explain.why import why
from riverboat.games.spots.spot import Spot
from riverboat.papers.explanation.defence import defences
from riverboat.solvers.boards.batches import solve_many
from riverboat.strategies.rule_list import CALL, RAISE, Move
from riverboat.strategies.solution import Solution

RIVER = Spot.make(
    board="Td9d6hQc2s", pot=200, stack=600, oop="66+,AK,AQ,KQ,JT,T9s,98s,87s,A5s", ip="QQ-22,AQ,KJ,QJ,J8s,87s,76s,A2s",
    bets="60%", raises="3x",
)  # fmt: skip


@pytest.fixture(scope="module")
def solved() -> list[Solution]:
    """A river; the same where who acts last is locked to fold too much; and another board."""
    locked = RIVER.lock("b120", {"f": 0.9, "c": 0.1})
    other = replace(RIVER, board=(*RIVER.board[:4], 44))
    return solve_many([RIVER, locked, other], iterations=300)


def test_ev_lost_is_what_the_node_loses(solved: list[Solution]) -> None:
    """Played against the opponent as before, the rules earn less by exactly what is said."""
    node = solved[0][""]
    decisions = spot_decisions(node)
    told = explain(decisions, 5, "list", dial=(1, 5))
    played = told.rules.decide(decisions.columns, decisions.moves, decisions.possible)
    after = replaced(node, decisions, played)
    lost = (solved[0].earnings(0) - after.earnings(0)) * 100 / 200
    assert told.seen.ev_lost == pytest.approx(lost, abs=2e-3)
    again = spot_decisions(after[""])
    assert np.abs(again.played - played).max() < 1e-3
    assert told.seen.distance == pytest.approx(
        float(decisions.weight @ np.abs(again.played - decisions.played).sum(axis=1)) / 2, abs=1e-3
    )


def test_cost_is_the_gain_of_a_best_response(solved: list[Solution]) -> None:
    node = solved[0]["b120"]  # the one who faces a bet
    decisions = spot_decisions(node)
    cost = cost_of(node, decisions)
    assert cost(decisions.played)["exploitability"] == pytest.approx(0, abs=1e-3)
    fold = np.zeros_like(decisions.played)
    fold[:, [str(m) for m in decisions.moves].index("fold")] = 1
    best = replaced(node, decisions, fold).earnings(0, respond=True) - solved[0].earnings(0, respond=True)
    assert cost(fold)["exploitability"] == pytest.approx(best * 100 / 200)
    assert cost(fold)["exploitability"] > 10  # any bet then wins the pot


@pytest.mark.parametrize("line", ["", "x", "b120", "x-b120"])
def test_reasons_add_up(solved: list[Solution], line: str) -> None:
    node = solved[0][line]
    hands = np.flatnonzero(node.reach[node.player] * node.compatible(node.player) > 1e-6)
    for hand in np.random.default_rng(1).choice(hands, 4, replace=False).tolist():
        told = why(node, show_hand(hand))
        for k, reason in enumerate(told.reasons):
            assert reason.total == pytest.approx(float(node.action_ev()[k, hand]), abs=0.02), (told.hand, reason.move)
            assert reason.played == pytest.approx(float(node.strategy[k, hand]))
            replies = {part.name.partition(":")[0]: part.chance for part in reason.parts if part.name != "blocked"}
            whole = sum(replies.values()) + sum(part.chance for part in reason.parts if part.name == "blocked")
            assert whole == pytest.approx(1, abs=1e-5)


def test_on_the_turn_later_streets_have_their_part() -> None:
    turn = Spot.make(board="Td9d6hQc", pot=200, stack=300, oop="AdKd,QQ,JTs", ip="AQ,T8s,77", bets="60%")
    (solution,) = solve_many([turn], iterations=100)
    told = why(solution["x"], "AsQd")
    for reason in told.reasons:
        assert reason.total == pytest.approx(reason.ev, abs=0.02)
    assert any(part.name.endswith("later streets") and abs(part.chips) > 1 for part in told.reasons[0].parts)
    with pytest.raises(InputError, match="does not come there"):
        why(solution["x"], "2c2d")


def test_a_lock_is_found(solved: list[Solution]) -> None:
    """Who is folded to too often bets more; the comparison says so, and what still playing as before costs."""
    first, second = (spot_decisions(s[""]) for s in solved[:2])
    found = compare(first, second)
    more = {str(row["move"]): float(row["change"] or 0) for row in found.moves}
    assert more["bet"] > 0.1
    assert more["bet"] == pytest.approx(-more["check"])
    assert found.worth is not None
    assert found.worth > 1  # % of pot
    assert found.change is not None
    assert any("bet more often" in told.sentence for told in found.change.told)
    same = compare(first, first)
    assert same.distance == 0
    assert same.worth == pytest.approx(0)
    assert same.change is not None
    assert [told.sentence for told in same.change.told] == ["Always, play the same."]


def test_two_boards_are_compared_by_groups(solved: list[Solution]) -> None:
    found = compare(*(spot_decisions(s[""]) for s in (solved[0], solved[2])))
    assert found.distance is None
    assert found.change is None
    assert len(found.groups) > 3
    changes = [abs(float(row["change"] or 0)) * float(row["share"] or 0) for row in found.groups]
    assert changes == sorted(changes, reverse=True)


def test_rules_of_boards() -> None:
    """Boards on which high cards are bet are told from those on which they are not, with the fit on other boards."""
    rng = np.random.default_rng(4)
    rows = []
    for _ in range(80):
        cards = rng.choice(52, 3, replace=False)
        bet = 0.8 if cards.max() >> 2 >= 10 else 0.2  # a queen or better
        name = "".join("23456789TJQKA"[c >> 2] + "cdhs"[c & 3] for c in cards)
        rows.append(BoardRow(name, 1.0, {"x": 1 - bet, "b50": bet}, float(rng.uniform(0.4, 0.6))))
    told = explain(board_decisions(rows, [Move(CALL), Move(RAISE, 0.5)], "flops"), 3, dial=(1, 2, 3))
    assert told.unseen is not None
    assert told.unseen.agreement == 1
    assert told.unseen.distance < 1e-9
    assert "top card" in told.rules.needed()
    sentences = " ".join(one.sentence for one in told.told)
    assert "On a board with a top card of" in sentences


def test_a_bet_is_defended_as_theory_says() -> None:
    """One pair of ranges of equal strength: what is defended is the minimum defence frequency, nearly."""
    found = defences(40, seed=3, iterations=100)
    errors = {name: float(np.abs(said - found.defence).mean()) for name, said in found.predicted().items()}
    plain, corrected, turned = errors.values()
    assert corrected < plain < turned
    assert found.exploitability < 0.5
    assert np.all((found.mdf > 0.3) & (found.mdf <= 0.8))


def test_nothing_to_explain(solved: list[Solution]) -> None:
    with pytest.raises(InputError, match="nobody acts"):
        spot_decisions(solved[0]["x-x"])
