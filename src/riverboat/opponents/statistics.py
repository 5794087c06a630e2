"""Statistics of a player: frequencies of voluntary play, raises, continuation bets, folds and showdowns.

    statistics = player_statistics(hands, trace_decisions(hands), "somebody")
    statistics["vpip"].frequency, statistics["vpip"].low, statistics["vpip"].high

Each is a share of opportunities with Wilson's 95 % interval (Wilson 1927), which is valid for few opportunities too.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.actions import CALL, FOLD
from riverboat.games.holdem.hand_records import UNKNOWN_RESULT, HandRecords, RecordedDecisions
from riverboat.games.holdem.rules import STREETS

Z_95 = 1.959963984540054
POSITIONS = ("big blind", "dealer")  # indexed by seat
STATISTICS = {
    "vpip": "puts chips in before the flop, of hands in which it acts there",
    "pfr": "raises before the flop, of the same hands",
    "three_bet": "raises again, of the times that it faces the first raise before the flop",
    "continuation_bet": "bets the flop, of the times that it raised last before and nobody has bet yet",
    "fold_to_continuation_bet": "folds, of the times that it faces such a bet",
    "went_to_showdown": "shows down, of hands in which it sees a flop",
}


@dataclass(frozen=True)
class FrequencyEstimate:
    """Frequency of an action among its opportunities.

    Attributes
    ----------
    count
        Number of times that the action was played.
    opportunities
        Number of times that it could be played.

    Examples
    --------
    >>> estimate = FrequencyEstimate(3, 10)
    >>> estimate.frequency, round(estimate.low, 3), round(estimate.high, 3)
    (0.3, 0.108, 0.603)
    """

    count: int
    opportunities: int

    @property
    def frequency(self) -> float | None:
        """Observed frequency; None without opportunities."""
        return self.count / self.opportunities if self.opportunities else None

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval; from 0 to 1 without opportunities."""
        n = self.opportunities
        if not n:
            return 0.0, 1.0
        z, p = Z_95, self.count / n
        middle, half = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return max((middle - half) / (1 + z * z / n), 0.0), min((middle + half) / (1 + z * z / n), 1.0)

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self.interval[0]

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self.interval[1]

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate as a dictionary for JSON."""
        counts = {"count": self.count, "chances": self.opportunities}
        return {"share": self.frequency, "ci95": list(self.interval), **counts}


# Frequency of `done` among the opportunities `of`: masks over hands or decisions.
def _frequency(done: Array, of: Array) -> FrequencyEstimate:
    return FrequencyEstimate(int((done & of).sum()), int(of.sum()))


@dataclass(frozen=True)
class PlayerStatistics:
    """Statistics of one player.

    Attributes
    ----------
    name
        Name of the player.
    hands
        Number of hands.
    frequencies
        Frequencies by name in `STATISTICS`; `statistics[name]` is short for them.
    aggression
        Bets and raises among all actions except checks, by street and position.
    win_rate
        Big blinds per 100 hands, 95 % half-width and number of hands; None if results are unknown.

    Examples
    --------
    >>> PlayerStatistics("someone", 10, {"vpip": FrequencyEstimate(3, 10)}, {}, None)["vpip"].frequency
    0.3
    """

    name: str
    hands: int
    frequencies: dict[str, FrequencyEstimate]  # by name in STATISTICS
    aggression: dict[tuple[str, str], FrequencyEstimate]  # by street and position
    win_rate: tuple[float, float, int] | None

    def __getitem__(self, name: str) -> FrequencyEstimate:
        return self.frequencies[name]

    def to_dict(self) -> dict[str, Any]:
        """Return the statistics as a dictionary for JSON."""
        streets: dict[str, dict[str, Any]] = {}
        for (street, position), share in self.aggression.items():
            streets.setdefault(street, {})[position] = share.to_dict()
        won = self.win_rate and dict(zip(("bb_per_100", "ci95", "hands"), self.win_rate, strict=True))
        shares = {key: share.to_dict() for key, share in self.frequencies.items()}
        return {"player": self.name, "hands": self.hands, **shares, "aggression": streets, "won": won}


def player_statistics(hands: HandRecords, decisions: RecordedDecisions, name: str) -> PlayerStatistics:
    """Compute the statistics of a player.

    Parameters
    ----------
    hands
        Recorded hands.
    decisions
        All decisions of the record, from `trace_decisions(hands)`.
    name
        Name of the player.

    Returns
    -------
    PlayerStatistics
        Frequencies with intervals, aggression and win rate.

    Raises
    ------
    InputError
        If the player is in none of the hands.

    References
    ----------
    .. [1] Wilson, "Probable inference, the law of succession, and statistical inference", JASA 1927.

    Examples
    --------
    >>> from riverboat.games.holdem.betting import BettingState
    >>> from riverboat.games.holdem.hand_records import RecordedHand, build_records, trace_decisions
    >>> from riverboat.games.holdem.rules import read_game
    >>> rules = read_game("nolimit-200bb")
    >>> end = BettingState.from_line(rules, "r300f")
    >>> hands = build_records([RecordedHand(0, ("Ann", "Bob"), end, ((), (), ()))], rules)
    >>> player_statistics(hands, trace_decisions(hands), "Bob")["pfr"].frequency
    1.0
    """
    if name not in hands.names:
        raise InputError(f"player {name!r}: plays in none of these {len(hands):,} hands")
    player, n = hands.names.index(name), len(hands)
    seat = hands.seat_of(name)
    present = seat >= 0
    own = decisions.take(decisions.player == player)
    raised, called, preflop = own.action > CALL, (own.action == CALL) & (own.to_call > 0), own.street == 0

    def hands_with(made: RecordedDecisions, chosen: Array) -> Array:
        marked = np.zeros(n, bool)
        marked[made.hand[chosen]] = True
        return marked

    acted = hands_with(own, preflop)
    opened = preflop & (own.raises == 1) & (own.to_call > 0)
    flop = own.street == 1
    may_bet = flop & (own.previous_aggressor == own.seat) & (own.raises == 0)
    other = decisions.take((decisions.street == 1) & (decisions.player != player))
    led_again = (other.previous_aggressor == other.seat) & (other.raises == 0) & (other.action > CALL)
    facing = flop & (own.raises == 1) & (own.to_call > 0) & hands_with(other, led_again)[own.hand]
    last = np.cumsum(hands.length) - 1  # the last decision of each hand
    folded, last_street = decisions.action[last] == FOLD, decisions.street[last]
    saw_flop = present & ((last_street > 0) | ~folded)
    shares = {
        "vpip": _frequency(hands_with(own, preflop & (raised | called)), acted),
        "pfr": _frequency(hands_with(own, preflop & raised), acted),
        "three_bet": _frequency(raised, opened),
        "continuation_bet": _frequency(raised, may_bet),
        "fold_to_continuation_bet": _frequency(own.action == FOLD, facing),
        "went_to_showdown": _frequency(~folded, saw_flop),
    }
    counted = raised | called | (own.action == FOLD)
    aggression = {
        (street, position): _frequency(raised, counted & (own.street == s) & (own.seat == p))
        for s, street in enumerate(STREETS[: hands.rules.rounds])
        for p, position in enumerate(POSITIONS)
    }
    return PlayerStatistics(name, int(present.sum()), shares, aggression, _win_rate(hands, seat))


def _win_rate(hands: HandRecords, seat: Array) -> tuple[float, float, int] | None:
    """Return big blinds per 100 hands over hands with a known result, the 95 % half-width, and their number."""
    known = np.flatnonzero((seat >= 0) & (hands.won[:, 0] != UNKNOWN_RESULT))
    if len(known) < 2:
        return None
    blinds = 100 * hands.won[known, seat[known]] / hands.blinds[known].max(axis=1)
    return float(blinds.mean()), float(Z_95 * blinds.std(ddof=1) / sqrt(len(known))), len(known)
