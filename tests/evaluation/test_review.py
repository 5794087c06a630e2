"""Reviews of match hands: the largest losses, and costs of decisions against plain sums."""

from __future__ import annotations

import numpy as np
import pytest

from random_blueprints import random_blueprint
from riverboat.agents.baselines import BaselineAgent
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.core.errors import InputError
from riverboat.evaluation.matches.aivat import Aivat
from riverboat.evaluation.matches.hand_review import WorstHands, review_match_hand
from riverboat.evaluation.matches.match import play_match
from riverboat.games.holdem.rules import read_game

RULES = read_game("leduc")


def test_worst_hands() -> None:
    """The hands with the lowest results, for any batch size, with cards, actions and chips as they were played."""
    first, second = BlueprintAgent(random_blueprint("leduc", 1), "first"), BaselineAgent("always-raise")
    aivat, kept, worst = Aivat(first, second, RULES, deals=500), [], WorstHands(3)
    play_match(first, second, RULES, 400, aivat=aivat, observe=kept.append, on_estimates=worst, batch_pairs=70)
    won = np.concatenate([np.where(hands.player[:, 0] == 0, hands.won[:, 0], hands.won[:, 1]) for hands in kept])
    numbers = np.concatenate([hands.number for hands in kept])
    lowest = sorted(zip(won.tolist(), numbers.tolist(), strict=True))[:3]
    found = worst.reviews(aivat)
    assert [(hand.won, hand.number) for hand in found] == lowest
    for hand in found:
        assert hand.names[hand.first_seat] == "first"
        assert len({*hand.hole[0], *hand.hole[1], *hand.board}) == 2 + len(hand.board)
        assert all(d.cost is None or d.cost >= 0 for d in hand.decisions)
        raises = [d for d in hand.decisions if hand.names[d.seat] == "always-raise"]
        assert {d.probability for d in raises} == {1.0}


def strength(card: int, board: int) -> tuple[bool, int]:
    """Return the strength of a card in Leduc, where a pair with the board beats a high card."""
    return card >> 2 == board >> 2, card >> 2


def test_cost_of_the_last_call() -> None:
    """On the river against an agent that raises with every hand: a call wins by the remaining cards, a fold loses the
    chips put in.
    """
    first, second = BlueprintAgent(random_blueprint("leduc", 1), "first"), BaselineAgent("always-raise")
    aivat, kept = Aivat(first, second, RULES, deals=500), []
    play_match(first, second, RULES, 400, observe=kept.append)
    (hands,) = kept
    dear = 0
    for i in range(len(hands)):
        end, before = hands.betting(i), hands.betting(i, int(hands.length[i]) - 1)
        if end.folded is not None or hands.players(i)[before.turn] != "first":
            continue
        told = review_match_hand(aivat, hands.take(np.array([i])))
        assert [d.pot for d in told.decisions] == [sum(hands.betting(i, k).spent) for k in range(int(hands.length[i]))]
        last, (mine,), (board,) = told.decisions[-1], told.hole[before.turn], told.board
        others = [card for card in RULES.deck.cards.tolist() if card not in (mine, board)]
        me = strength(mine, board)
        edge = np.mean([(me > strength(card, board)) - (me < strength(card, board)) for card in others])
        if last.best_action == "f":
            assert last.cost == pytest.approx(-before.spent[before.turn] - end.spent[0] * edge)
            dear += 1
        elif last.best_action == "":
            assert last.cost == 0
            assert end.spent[0] * edge >= -before.spent[before.turn]
    assert dear > 5
    with pytest.raises(InputError, match="2 hands"):
        review_match_hand(aivat, hands.take(np.arange(2)))
