"""Statistics of a player at tables of any size, by position and street, with Wilson's 95 % intervals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from riverboat.games.holdem.betting_rules import CALL, FOLD
from riverboat.games.holdem.rules import STREETS
from riverboat.games.holdem.table_hands import Step, TableHand, replay
from riverboat.opponents.statistics import FrequencyEstimate

ALL = "all"  # positions or streets together
POSITION_ORDER = ("UTG", "UTG+1", "UTG+2", "UTG+3", "LJ", "HJ", "CO", "BTN", "SB", "BB", ALL)
STATISTICS = {
    "vpip": ("VPIP", "puts chips in before the flop, of hands in which it acts there"),
    "pfr": ("PFR", "raises before the flop, of the same hands"),
    "three_bet": ("3-bet", "raises again, of the times that it faces the first raise before the flop"),
    "fold_to_three_bet": ("fold to 3-bet", "folds, of the times that its first raise is raised before the flop"),
    "steal": ("steal", "raises first from CO, BTN or SB, of the times that nobody has called or raised there"),
    "c_bet": ("c-bet", "bets, of the times that it raised last on the street before and nobody has bet yet"),
    "fold_to_c_bet": ("fold to c-bet", "folds, of the times that it faces such a bet"),
    "check_raise": ("check-raise", "raises a bet after a check, of the times that it faces one after a check"),
    "aggression": ("aggression", "bets and raises as a share of bets, raises, calls and folds"),
    "wtsd": ("WTSD", "goes to the showdown, of hands in which it sees the flop"),
    "wsd": ("W$SD", "wins chips, of its showdowns"),
}
PREFLOP = ("vpip", "pfr", "three_bet", "fold_to_three_bet", "steal")
POSTFLOP = ("c_bet", "fold_to_c_bet", "check_raise", "aggression")
BY_HAND = ("wtsd", "wsd")
STEAL_POSITIONS = ("CO", "BTN", "SB")


@dataclass(frozen=True)
class TableStatistics:
    """Statistics of a player.

    Attributes
    ----------
    player
        Name of the player; several names if the hands have several.
    hands
        Number of hands by position.
    frequencies
        By statistic, position and street; `ALL` stands for all of them.
    """

    player: str
    hands: dict[str, int]
    frequencies: dict[tuple[str, str, str], FrequencyEstimate]

    def get(self, name: str, position: str = ALL, street: str = ALL) -> FrequencyEstimate:
        """Return a frequency; it has no opportunities if there were none."""
        return self.frequencies.get((name, position, street), FrequencyEstimate(0, 0))

    @property
    def positions(self) -> list[str]:
        """Positions with hands, in the order of action before the flop, and `ALL`."""
        return [name for name in POSITION_ORDER if name in self.hands]

    def to_dict(self) -> dict[str, Any]:
        """Return the statistics as a JSON object."""
        rows = [
            {"statistic": name, "position": position, "street": street, **share.to_dict()}
            for (name, position, street), share in self.frequencies.items()
            if share.opportunities
        ]
        units = {name: meaning for name, (_, meaning) in STATISTICS.items()}
        return {"player": self.player, "hands": self.hands, "frequencies": rows, "units": units}


def table_statistics(hands: Sequence[tuple[TableHand, int]]) -> TableStatistics:
    """Compute the statistics of a player.

    Parameters
    ----------
    hands
        Hands, each with the number of the player.

    Returns
    -------
    TableStatistics
        Frequencies by position and street.

    Examples
    --------
    >>> hand = TableHand(
    ...     names=("SB", "BB", "BTN"), stacks=(200, 200, 200), blinds=(1, 2, 0),
    ...     actions=((2, 6), (0, FOLD), (1, FOLD)), big_blind=2, holes=((), (), ()), boards=((),),
    ...     collected=(0, 0, 5), rake=0,
    ... )
    >>> table_statistics([(hand, 2)]).get("pfr", "BTN").count
    1
    """
    done: dict[tuple[str, str, str], int] = defaultdict(int)
    of: dict[tuple[str, str, str], int] = defaultdict(int)
    number: dict[str, int] = defaultdict(int)

    def count(name: str, position: str, street: str, happened: bool) -> None:
        for where in (position, ALL):
            for when in {street, ALL}:
                of[name, where, when] += 1
                done[name, where, when] += happened

    for hand, player in hands:
        position = hand.positions[player]
        number[position] += 1
        number[ALL] += 1
        for name, street, happened in _events(hand, player):
            count(name, position, street, happened)
    names = list(dict.fromkeys(hand.names[player] for hand, player in hands))
    frequencies = {key: FrequencyEstimate(done[key], of[key]) for key in of}
    return TableStatistics(", ".join(names[:3]), dict(number), frequencies)


def _events(hand: TableHand, player: int) -> Iterable[tuple[str, str, bool]]:
    """Yield the opportunities of a player: statistic, street ("all" before the flop), and whether it took them."""
    steps = list(replay(hand))
    own = [step for step in steps if step.player == player]
    preflop = [step for step in own if step.street == 0]
    position = hand.positions[player]
    if preflop:
        yield "vpip", ALL, any(step.action > CALL or (step.action == CALL and step.to_call > 0) for step in preflop)
        yield "pfr", ALL, any(step.action > CALL for step in preflop)
    opened = False
    for step in preflop:
        if step.raises == 0 and position in STEAL_POSITIONS and _folded_to(steps, step):
            yield "steal", ALL, step.action > CALL
        if step.raises == 1 and step.aggressor != player:
            yield "three_bet", ALL, step.action > CALL
        if step.raises == 2 and opened:
            yield "fold_to_three_bet", ALL, step.action == FOLD
        opened = opened or (step.raises == 0 and step.action > CALL)
    checked = [False] * 4
    for step in own:
        street = STREETS[step.street]
        if step.action != CALL or step.to_call:
            yield "aggression", street, step.action > CALL
        if step.street == 0:
            continue
        if step.raises == 0:
            if step.previous_aggressor == player:
                yield "c_bet", street, step.action > CALL
            checked[step.street] = step.action == CALL
            continue
        if step.raises == 1 and step.aggressor == step.previous_aggressor and step.aggressor != player:
            yield "fold_to_c_bet", street, step.action == FOLD
        if step.raises == 1 and checked[step.street]:
            yield "check_raise", street, step.action > CALL
    folded = any(step.action == FOLD for step in own)
    folded_before = any(step.action == FOLD for step in preflop)
    if len(hand.boards[0]) >= 3 and not folded_before:
        live = hand.players - sum(step.action == FOLD for step in steps)
        shown = not folded and live > 1
        yield "wtsd", ALL, shown
        if shown:
            yield "wsd", ALL, hand.collected[player] > 0


def _folded_to(steps: Sequence[Step], step: Step) -> bool:
    """Whether everybody before a step has folded."""
    for earlier in steps:
        if earlier is step:
            return True
        if earlier.action != FOLD:
            return False
    return True
