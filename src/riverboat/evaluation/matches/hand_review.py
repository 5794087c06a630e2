"""Reviews of match hands: the cards of both players, and the cost of each decision.

    worst = WorstHands(5)
    play_match(first, second, rules, aivat=aivat, on_estimates=worst)
    for hand in worst.reviews(aivat): hand.decisions

The value of an action for the actual hand is exact after a fold, computed against the opponent's range at a showdown
on a complete board, and else taken from the value tables of AIVAT, which depend on buckets, not on boards. The cost
of a decision is the value of the player's best action minus that of the action taken. Values are estimates that
ignore the opponent's actual cards: a bluff that is right on average may have a cost here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from riverboat.cards.notation import format_cards
from riverboat.cards.ranking import hand_strengths
from riverboat.core.errors import InputError
from riverboat.evaluation.matches._kernels.aivat import ENDS_IN_FOLD, ENDS_IN_SHOWDOWN, NO_ACTION
from riverboat.evaluation.matches.aivat import Aivat, AivatEstimates, pots_by_street
from riverboat.games.holdem.actions import format_action
from riverboat.games.holdem.hand_records import HandRecords, concatenate_records
from riverboat.games.holdem.public_states import PublicStates
from riverboat.strategies.public_strategy import ranges


@dataclass(frozen=True)
class MatchDecisionReview:
    """Review of one action of a hand."""

    street: str
    seat: int
    pot: int  # chips before the action
    move: str
    probability: float | None  # probability of the action with this hand; None if the player's strategy is unknown
    cost: float | None  # value of the best action minus that of the action taken, in chips; None if unknown
    best_action: str  # action with the largest value; empty if it is the one taken
    luck: float  # chips that AIVAT removes for the randomness of this action, from the first agent's view


@dataclass(frozen=True)
class MatchHandReview:
    """Review of one hand."""

    number: int
    names: tuple[str, str]  # by seat
    hole: tuple[tuple[int, ...], tuple[int, ...]]  # by seat
    board: tuple[int, ...]
    won: float  # chips won by the first agent
    estimate: float  # AIVAT estimate, in chips
    luck: tuple[tuple[str, float], ...]  # chips by which the cards favoured the first agent, by round
    decisions: tuple[MatchDecisionReview, ...]
    first_seat: int  # seat of the first agent

    def record(self, big_blind: int) -> dict[str, Any]:
        """Return the review as a JSON object; amounts are in big blinds."""
        return {
            "hand": self.number,
            "names": list(self.names),
            "first_seat": self.first_seat,
            "hole": [format_cards(cards) for cards in self.hole],
            "board": format_cards(self.board),
            "won": self.won / big_blind,
            "without_luck": self.estimate / big_blind,
            "luck": {name: chips / big_blind for name, chips in self.luck},
            "decisions": [
                {
                    "street": d.street,
                    "seat": d.seat,
                    "pot": d.pot / big_blind,
                    "move": d.move,
                    "probability": d.probability,
                    "cost": None if d.cost is None else d.cost / big_blind,
                    "better": d.best_action or None,
                    "drawn": d.luck / big_blind,
                }
                for d in self.decisions
            ],
        }


class WorstHands:
    """Collector of the `count` hands in which the first agent lost most; pass it to `play_match` as `on_estimates`."""

    def __init__(self, count: int) -> None:
        if count < 1:
            raise InputError(f"{count} hands: must be at least 1")
        self.count = count
        self.entries: list[tuple[float, HandRecords, AivatEstimates]] = []

    def __call__(self, estimates: AivatEstimates) -> None:
        """Add a batch of hands, and keep only the worst of all batches."""
        hands = estimates.hands
        won = np.where(hands.player[:, 0] == 0, hands.won[:, 0], hands.won[:, 1])
        for i in np.argsort(won, kind="stable")[: self.count].tolist():
            self.entries.append((float(won[i]), hands.take(np.array([i])), estimates.take(np.array([i]))))
        self.entries.sort(key=lambda item: (item[0], int(item[1].number[0])))
        del self.entries[self.count :]

    def reviews(self, aivat: Aivat) -> list[MatchHandReview]:
        """Review the collected hands, the largest loss first."""
        return [review_match_hand(aivat, hand, estimates) for _, hand, estimates in self.entries]

    @property
    def hands(self) -> HandRecords:
        """Records of the collected hands."""
        return concatenate_records(hand for _, hand, _ in self.entries)


def review_match_hand(aivat: Aivat, hand: HandRecords, estimates: AivatEstimates | None = None) -> MatchHandReview:
    """Review one hand of a match, decision by decision; `estimates` are its AIVAT estimates, if known already."""
    if len(hand) != 1:
        raise InputError(f"{len(hand)} hands: must be exactly one")
    estimates = aivat.estimate(hand) if estimates is None else estimates
    rules, seating, final_state = aivat.rules, int(hand.player[0, 0]), hand.betting(0)
    shown = rules.board_sizes[-1 if final_state.folded is None else final_state.street]
    names = ("deal", *rules.streets[1:])
    return MatchHandReview(
        int(hand.number[0]),
        hand.players(0),
        (hand.hole(0, 0), hand.hole(0, 1)),
        hand.board(0)[:shown],
        float(hand.won[0, seating]),
        float(estimates.total[0]),
        tuple((name, -float(term)) for name, term in zip(names, estimates.chance[0], strict=True) if term),
        tuple(_review_decisions(aivat, hand, estimates)),
        seating,
    )


def _review_decisions(aivat: Aivat, hand: HandRecords, estimates: AivatEstimates) -> Iterator[MatchDecisionReview]:
    """Yield the reviews of all actions of one hand."""
    rules, seating, hole = aivat.rules, int(hand.player[0, 0]), aivat.rules.hole
    board = np.ascontiguousarray(hand.cards[:, 2 * hole :])
    public_states, _, actions = PublicStates(rules, hand.moves, hand.length, board).decisions()
    held_hands = [int(rules.deck.hand_indices(hand.cards[:, s * hole : (s + 1) * hole])[0]) for s in (0, 1)]
    actor, known = public_states.actor, aivat.known_seats(seating)
    distinct, row, column, strategies = aivat.decision_strategies(seating, public_states, actions)
    outcomes = aivat.action_outcomes(seating, distinct)
    buckets = aivat.buckets(public_states.board[-1:], pots_by_street(hand))[0][0]

    def value(d: int, column: int) -> float | None:
        """Return the winnings that the actor of decision d expects after an action, with its actual hand.

        Chips of the whole hand; None if the value is unknown. `column` is the action's column in `outcomes`.
        """
        u, seat, street = int(row[d]), int(actor[d]), int(public_states.street[d])
        kind, stake, after = (part[u, column] for part in (outcomes.kind, outcomes.stake, outcomes.after))
        if kind == ENDS_IN_FOLD:
            return float(stake) * (1 - 2 * seat)
        if kind == ENDS_IN_SHOWDOWN:
            edge = _showdown_edge(aivat, seating, seat, held_hands[seat], public_states.take(slice(d, d + 1)))
            return None if edge is None else float(stake) * edge
        if after < 0 or aivat.values is None:
            return None
        share = aivat.values[seating].after[street][seat, after, buckets[street, held_hands[seat]]]
        return float(share) * float(outcomes.spent[u, column].sum()) - float(outcomes.spent[u, column, seat])

    for d in range(len(actions)):
        u, c, seat = int(row[d]), int(column[d]), int(actor[d])
        columns = np.flatnonzero(outcomes.kind[u] != NO_ACTION).tolist() if known[seat] else []
        values = {k: x for k, x in ((k, value(d, k)) for k in columns) if x is not None}
        best = max(values, key=lambda k: values[k]) if c in values else c
        yield MatchDecisionReview(
            rules.streets[int(public_states.street[d])],
            seat,
            int(public_states.states[d, :2].sum()),
            format_action(int(actions[d]), rules),
            float(strategies[u, held_hands[seat], c]) if known[seat] else None,
            values[best] - values[c] if c in values else None,
            format_action(int(outcomes.move[u, best]), rules) if best != c else "",
            -float(estimates.actions[0, d]),
        )


def _showdown_edge(aivat: Aivat, seating: int, seat: int, hand: int, public_state: PublicStates) -> float | None:
    """Return the win minus the loss probability of a hand against the opponent's range; None if that is unknown."""
    other, rules = 1 - seat, aivat.rules
    if not aivat.known[other ^ seating]:
        return None
    weights = ranges(public_state, aivat.agents[other ^ seating])[0, other]  # type: ignore[arg-type]
    cards = rules.deck.hands
    weights = np.where(np.isin(cards, cards[hand]).any(axis=1), 0.0, weights)
    if not weights.sum() > 0:
        return None
    strength = hand_strengths(public_state.board[0], rules.deck).astype(np.int64)
    return float((np.sign(strength[hand] - strength) * weights).sum() / weights.sum())
