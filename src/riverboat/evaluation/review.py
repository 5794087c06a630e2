"""Hands looked at again: what each side held, and what each decision cost.

    worst = Worst(5)
    play_match(first, second, rules, aivat=aivat, estimated=worst)
    for hand in worst.reviews(aivat): hand.decisions

What a move is worth to the hand that was held: exact after a fold, against the other's range at a showdown on a board that
lies, and else by the tables of values that AIVAT uses, which know buckets and no boards. A decision costs what the best of
the player's own moves is worth more than the one that it made. These are estimates, without the other's cards: a bluff that
is right on average may cost something here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from riverboat.cards.notation import show_cards
from riverboat.cards.ranking import rank_batch
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.evaluation.matches._kernels.branch import FOLDS, NOTHING, SHOWS
from riverboat.evaluation.matches.aivat import Aivat, Estimates, hand_numbers, pots_of
from riverboat.games.holdem.actions import show_move
from riverboat.games.holdem.public_state import Places
from riverboat.games.records.hand_records import Hands, join
from riverboat.strategies.public_strategy import ranges


@dataclass(frozen=True)
class Decision:
    """One move of a hand."""

    street: str
    seat: int
    pot: int  # chips before it
    move: str
    probability: float | None  # of the move with this hand; None where the player does not say
    cost: float | None  # chips; None where nothing is known
    instead: str  # the move that is worth the most
    luck: float  # chips that AIVAT takes out for the draw of this move, from the first agent's side


@dataclass(frozen=True)
class Review:
    """One hand."""

    number: int
    names: tuple[str, str]  # by seat
    hole: tuple[tuple[int, ...], tuple[int, ...]]
    board: tuple[int, ...]
    won: float  # chips of the first agent
    estimate: float  # without luck
    luck: tuple[tuple[str, float], ...]  # chips by which cards favoured the first agent, by round
    decisions: tuple[Decision, ...]
    first: int  # seat of the first agent

    def record(self, big_blind: int) -> dict[str, Any]:
        """For JSON; amounts in big blinds."""
        return {
            "hand": self.number,
            "names": list(self.names),
            "first_seat": self.first,
            "hole": [show_cards(cards) for cards in self.hole],
            "board": show_cards(self.board),
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
                    "better": d.instead or None,
                    "drawn": d.luck / big_blind,
                }
                for d in self.decisions
            ],
        }


class Worst:
    """Keeps the hands of a match that cost the first agent most."""

    def __init__(self, count: int) -> None:
        if count < 1:
            raise InputError(f"{count} hands: at least one is kept")
        self.count = count
        self.kept: list[tuple[float, Hands, Estimates]] = []

    def __call__(self, told: Estimates) -> None:
        """Look at some more hands."""
        hands = told.hands
        won = np.where(hands.player[:, 0] == 0, hands.won[:, 0], hands.won[:, 1])
        for i in np.argsort(won, kind="stable")[: self.count].tolist():
            self.kept.append((float(won[i]), hands.take(np.array([i])), told.take(np.array([i]))))
        self.kept.sort(key=lambda item: (item[0], int(item[1].number[0])))
        del self.kept[self.count :]

    def reviews(self, aivat: Aivat) -> list[Review]:
        """The hands that were kept, the most expensive first."""
        return [review(aivat, hand, told) for _, hand, told in self.kept]

    @property
    def hands(self) -> Hands:
        """Their record."""
        return join(hand for _, hand, _ in self.kept)


def review(aivat: Aivat, hand: Hands, told: Estimates | None = None) -> Review:
    """One hand of a match, decision by decision."""
    if len(hand) != 1:
        raise InputError(f"{len(hand)} hands: one is looked at at a time")
    told = aivat.estimate(hand) if told is None else told
    rules, way, hole = aivat.rules, int(hand.player[0, 0]), aivat.rules.hole
    board = np.ascontiguousarray(hand.cards[:, 2 * hole :])
    places, _, made = Places(rules, hand.moves, hand.length, board).decisions()
    held = [int(hand_numbers(rules.deck, hand.cards[:, s * hole : (s + 1) * hole])[0]) for s in (0, 1)]
    decisions = _decisions(aivat, way, hand, places, made, held, told)
    shown = rules.board_sizes[-1] if hand.betting(0).folded is None else rules.board_sizes[int(places.street[-1])]
    names = ("deal", *rules.streets[1:])
    return Review(
        int(hand.number[0]),
        hand.players(0),
        (hand.hole(0, 0), hand.hole(0, 1)),
        hand.board(0)[:shown],
        float(hand.won[0, way]),
        float(told.total[0]),
        tuple((name, -float(term)) for name, term in zip(names, told.chance[0], strict=True) if term),
        tuple(decisions),
        way,
    )


def _decisions(
    aivat: Aivat, way: int, hand: Hands, places: Places, made: Array, held: list[int], told: Estimates
) -> list[Decision]:
    rules, actor = aivat.rules, places.actor
    known = np.array([aivat.known[way], aivat.known[1 - way]])
    asked, place, column, strategies = aivat.asked(way, places, actor, made, known)
    moves = aivat.located(way, asked)
    buckets = aivat.buckets(places.board[-1:], pots_of(hand))[0][0]
    reviewed = []
    for d in range(len(made)):
        u, c, seat, street = int(place[d]), int(column[d]), int(actor[d]), int(places.street[d])
        state, values = places.states[d], {}
        if known[seat]:
            for k in np.flatnonzero(moves.kind[u] != NOTHING).tolist():
                values[k] = _worth(
                    aivat, way, moves, u, k, seat, street, held[seat], buckets, places.take(slice(d, d + 1))
                )
        sure = {k: value for k, value in values.items() if value is not None}
        best = max(sure, key=lambda k: sure[k]) if c in sure else c
        reviewed.append(
            Decision(
                rules.streets[street],
                seat,
                int(state[0] + state[1]),
                show_move(int(made[d]), rules),
                float(strategies[u, held[seat], c]) if known[seat] else None,
                sure[best] - sure[c] if c in sure else None,
                show_move(int(moves.move[u, best]), rules) if best != c else "",
                -float(told.moves[0, d]),
            )
        )
    return reviewed


def _worth(
    aivat: Aivat,
    way: int,
    moves: object,
    u: int,
    k: int,
    seat: int,
    street: int,
    hand: int,
    buckets: Array,
    place: Places,
) -> float | None:
    """Chips that a hand wins over the whole hand after a move; None where nothing is known."""
    kind, stake, spent, after = (getattr(moves, name)[u, k] for name in ("kind", "stake", "spent", "after"))
    if kind == FOLDS:
        return float(stake) * (1 - 2 * seat)
    if kind == SHOWS:
        edge = _edge(aivat, way, seat, hand, place)
        return None if edge is None else float(stake) * edge
    if after < 0 or aivat.values is None:
        return None
    share = aivat.values[way].after[street][seat, after, buckets[street, hand]]
    return float(share) * float(spent.sum()) - float(spent[seat])


def _edge(aivat: Aivat, way: int, seat: int, hand: int, place: Places) -> float | None:
    """Wins less losses of a hand against the range that the other brings to a place; None where that is not known."""
    other, rules = 1 - seat, aivat.rules
    if not aivat.known[other ^ way]:
        return None
    player = aivat.agents[other ^ way]
    weights = ranges(place, player)[0, other]  # type: ignore[arg-type]
    cards = rules.deck.hands
    weights = np.where(np.isin(cards, cards[hand]).any(axis=1), 0.0, weights)
    if not weights.sum() > 0:
        return None
    live = np.flatnonzero((weights > 0) | (np.arange(len(cards)) == hand))
    board = np.tile(place.board[0], (len(live), 1))
    strength = rank_batch(np.concatenate([cards[live], board], axis=1)).astype(np.int64)
    mine = strength[live == hand][0]
    edge = (np.sign(mine - strength) * weights[live]).sum() / weights.sum()
    return float(edge)
