"""Winnings by stake, in money and big blinds, as played and with the luck of all-ins taken out.

When all cards of the players left are known and no bets can follow, the chips won are replaced by their expected value:
exact equities over all boards, for the main pot and every side pot, less the same share of rake.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from riverboat.cards.equity.equities import equity
from riverboat.cards.notation import format_cards
from riverboat.evaluation.confidence_intervals import mean_interval
from riverboat.games.holdem.betting_rules import FOLD
from riverboat.games.holdem.table_hands import BOARD_SIZES, TableHand, pots_of, replay

SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£"}
HANDS_PER_RATE = 100


def money(chips: float, currency: str, scale: int, sign: bool = False) -> str:
    """Format an amount in the currency of a hand.

    Parameters
    ----------
    chips
        Amount in chips.
    currency
        ISO code; "" for chips.
    scale
        Chips per unit.
    sign
        Whether to write a plus sign.

    Examples
    --------
    >>> money(-1234, "USD", 100), money(50000, "", 100, sign=True)
    ('-$12.34', '+500')
    """
    value = abs(chips) / scale
    text = f"{value:,.2f}" if currency else f"{value:,.2f}".removesuffix(".00")
    mark = "-" if chips < 0 else "+" if sign else ""
    unit = SYMBOLS.get(currency, "")
    return f"{mark}{unit}{text}" + (f" {currency}" if currency and not unit else "")


def stake_name(hand: TableHand) -> str:
    """Return the stake of a hand: blinds and currency of a cash game, or its tournament.

    Parameters
    ----------
    hand
        The hand.
    """
    if hand.tournament:
        return "tournaments"
    small, big = (money(chips, hand.currency, hand.scale) for chips in (hand.small_blind, hand.big_blind))
    return f"{small}/{big}" + ("" if hand.currency else " play money")


def all_in_winnings(hand: TableHand) -> tuple[float, ...] | None:
    """Return the expected winnings of all players of a hand that ended with an all-in.

    Parameters
    ----------
    hand
        The hand.

    Returns
    -------
    tuple of float or None
        Chips; None if the hand was not decided by an all-in before the river, or cards are unknown.

    Examples
    --------
    >>> hand = TableHand(
    ...     names=("BB", "BTN"), stacks=(20, 20), blinds=(2, 1), actions=((1, 20), (0, 0)), big_blind=2,
    ...     holes=((51, 50), (46, 47)), boards=((8, 13, 22, 31, 40),), collected=(40, 0), rake=0,
    ... )
    >>> [round(chips, 2) for chips in all_in_winnings(hand)]
    [12.71, -12.71]
    """
    steps = list(replay(hand))
    folded = [False] * hand.players
    for step in steps:
        if step.action == FOLD:
            folded[step.player] = True
    live = [k for k in range(hand.players) if not folded[k]]
    street = steps[-1].street if steps else 0
    if len(live) < 2 or any(len(hand.holes[k]) != 2 for k in live) or len(hand.boards[0]) != 5 or street == 3:
        return None
    contributed = hand.contributed
    if not _was_all_in(hand, live, contributed):
        return None
    pot = sum(contributed) + hand.added
    board = hand.boards[0][: BOARD_SIZES[street]]
    expected = [-float(put) for put in contributed]
    for chips, eligible in pots_of(hand, contributed, tuple(folded)):
        held = tuple(hand.holes[k] for k in eligible)
        dead = tuple(card for k in live if k not in eligible for card in hand.holes[k])
        shares = _shares(held, board, dead) if len(eligible) > 1 else (1.0,)
        for k, share in zip(eligible, shares, strict=True):
            expected[k] += share * chips * (1 - hand.rake / pot)
    return tuple(expected)


def _was_all_in(hand: TableHand, live: Sequence[int], contributed: Sequence[int]) -> bool:
    """Whether at most one of the players left had chips behind."""
    return sum(contributed[k] < hand.stacks[k] for k in live) <= 1


@lru_cache(maxsize=4096)
def _shares(held: tuple[tuple[int, ...], ...], board: tuple[int, ...], dead: tuple[int, ...]) -> tuple[float, ...]:
    return tuple(equity(*map(format_cards, held), board=board, dead=dead).shares)


@dataclass(frozen=True)
class StakeResult:
    """Results of a player at one stake.

    Attributes
    ----------
    stake
        Blinds and currency, or "tournaments".
    currency
        ISO code; "" for chips.
    hands
        Number of hands.
    won
        Chips won, in units of money.
    expected
        The same with all-ins at their expected value.
    all_ins
        Number of all-ins whose value is known.
    rate, rate_ci95
        Big blinds won per 100 hands, and half the width of the 95 % interval.
    expected_rate, expected_ci95
        The same with all-ins at their expected value.
    rake
        Rake of the pots that the player won, in units of money.
    """

    stake: str
    currency: str
    hands: int
    won: float
    expected: float
    all_ins: int
    rate: float
    rate_ci95: float | None
    expected_rate: float
    expected_ci95: float | None
    rake: float

    def to_dict(self) -> dict[str, Any]:
        """Return the results as a JSON object."""
        return {
            "stake": self.stake, "currency": self.currency, "hands": self.hands, "won": self.won,
            "won_all_in_ev": self.expected, "all_ins": self.all_ins, "bb_per_100": self.rate, "ci95": self.rate_ci95,
            "bb_per_100_all_in_ev": self.expected_rate, "ci95_all_in_ev": self.expected_ci95, "rake": self.rake,
            "unit": self.currency or "chips",
        }  # fmt: skip


def stake_results(hands: Sequence[tuple[TableHand, int]]) -> list[StakeResult]:
    """Return the results of a player by stake, the stake with the most hands first.

    Parameters
    ----------
    hands
        Hands, each with the number of the player.

    Examples
    --------
    >>> stake_results([])
    []
    """
    groups: dict[tuple[str, int], list[tuple[TableHand, int]]] = {}
    for hand, player in hands:  # by big blind: the small one may be missing, or all-in for less
        groups.setdefault((hand.currency, 0 if hand.tournament else hand.big_blind), []).append((hand, player))
    return [_stake_result(group) for group in sorted(groups.values(), key=lambda group: -len(group))]


def _stake_result(hands: Sequence[tuple[TableHand, int]]) -> StakeResult:
    stake, currency = Counter(stake_name(hand) for hand, _ in hands).most_common(1)[0][0], hands[0][0].currency
    won, expected, blinds, rake, all_ins = [], [], [], 0.0, 0
    for hand, player in hands:
        chips = hand.winnings[player]
        values = all_in_winnings(hand) if hand.contributed[player] and _stays(hand, player) else None
        all_ins += values is not None
        won.append(chips / hand.scale)
        expected.append((chips if values is None else values[player]) / hand.scale)
        blinds.append(hand.scale / hand.big_blind)
        if hand.collected[player]:
            rake += hand.rake / hand.scale * hand.collected[player] / sum(hand.collected)
    rates = [_rate(np.array(amounts) * np.array(blinds)) for amounts in (won, expected)]
    (rate, ci95), (expected_rate, expected_ci95) = rates
    return StakeResult(
        stake, currency, len(hands), sum(won), sum(expected), all_ins, rate, ci95, expected_rate, expected_ci95, rake
    )


def _stays(hand: TableHand, player: int) -> bool:
    return all(who != player or action != FOLD for who, action in hand.actions)


def _rate(samples: Any) -> tuple[float, float | None]:
    """Return big blinds per 100 hands, and half the width of the 95 % interval; None for a single hand."""
    if len(samples) < 2:
        return HANDS_PER_RATE * float(samples.mean()), None
    interval = mean_interval(samples)
    return HANDS_PER_RATE * interval.mean, HANDS_PER_RATE * interval.half_width
