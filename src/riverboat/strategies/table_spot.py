"""A table state as a spot: the real pot, stacks and bets, and the ranges that somebody's strategy gives by Bayes.

    state = parse_match_state("MATCHSTATE:0:30:cr300c/cc/:9s8h|/8c8d5c/6s", rules)
    spot = table_spot(state.betting, state.board, agent, menu=menu)

The spot is what an observer knows: nobody's cards narrow a range, not even those of the seat that looks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riverboat.cards.deck import HANDS, Deck, hand_index
from riverboat.cards.ranges import Range
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, shown
from riverboat.games.base import TERMINAL
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.menus import SEATS, Menu
from riverboat.games.holdem.public_state import Places
from riverboat.games.spots.spot import Spot
from riverboat.strategies.public_strategy import Answering, ranges


def table_spot(
    state: Betting,
    board: Sequence[int],
    player: Answering,
    other: Answering | None = None,
    *,
    menu: Menu | None = None,
    floor: float = 0.0,
    name: str = "table",
    read_as: Betting | None = None,
) -> Spot:
    """The spot at a state of a table, from the flop on. Seat 0 has played as `player`, seat 1 as `other` or the same; where
    they know another table, with other blinds or stacks, `read_as` is the state that they are asked about.

    Weights are scaled so that the hand which plays so most often weighs one. With a `floor` every hand that the board leaves
    weighs at least so much: a range is then never empty, whatever line was really played. A limit game needs no menu.
    """
    if not 0 <= floor <= 1:
        raise InputError(f"floor={shown(floor)}: must be a weight from 0 to 1, such as 0.01")
    if state.actor == TERMINAL:
        raise InputError(
            f"the hand is over at {shown(state.line)}: nobody is to act there, so there is nothing to solve"
        )
    if state.street == 0:
        raise InputError(
            f"{shown(state.line)} is before the flop, where all boards are still to come: spots begin on the flop; "
            "a blueprint has the strategy before it"
        )
    everybody = Range(np.ones(HANDS))
    spot = Spot.at(state, tuple(board), (everybody, everybody), menu, name=name)  # refuses what is no spot
    places = Places.of([read_as or state], [tuple(board)])
    held = []
    for seat, reach in enumerate(ranges(places, player, other)[0]):
        live, most = places.live[0], float(reach.max())
        if most <= 0 and floor == 0:
            raise InputError(
                f"range of {SEATS[seat]}: no hand plays {shown(state.line)} by this strategy; "
                "give a floor such as 0.01, which leaves every hand a little"
            )
        weights = np.where(live, np.maximum(reach / (most or 1.0), floor), 0.0)
        held.append(Range(_numbered(weights, state.rules.deck)))
    return Spot.at(state, spot.board, (held[0], held[1]), menu, name=name)


def _numbered(weights: Array, deck: Deck) -> Array:
    """Weights of a deck's hands as those of the 1,326."""
    out = np.zeros(HANDS)
    out[[hand_index(*hand) for hand in deck.hands.tolist()]] = weights
    return out
