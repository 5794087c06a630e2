"""EV breakdown of a hand: the value of each action as a sum of components.

    breakdown = break_down_hand_ev(solution["b94"], "AhKh")

After an action the opponent replies. The EV is the sum over replies of their probability times the EV after them:

- *they fold*: the pot times the fold frequency of the opponent's whole range;
- *blocked*: the change of that term because the hand's own cards block a part of the range;
- *beats*: equity against the hands that reply so, if there were no more bets, less the cost of the action;
- *later streets*: the remaining EV beyond that;
- *they bet*, *they raise*: the EV after their bet or raise, as one component.

If an action ends the street there is one reply, the next card. The components of an action sum to its EV.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from riverboat.cards.deck import hand_index
from riverboat.cards.equity.equities import range_wins, runouts
from riverboat.cards.notation import Cards, as_hand, format_hand
from riverboat.core.errors import InputError
from riverboat.core.tables import CHIPS, SHARE, ReportColumn, ReportTable
from riverboat.games.base import TERMINAL
from riverboat.strategies.reports.node import node_title, player_names, pot
from riverboat.strategies.solution import SolutionNode

FOLD, BLOCKED, BEATS, LATER = "they fold", "blocked", "beats", "later streets"


@dataclass(frozen=True)
class EvComponent:
    """One component of an action's EV, in chips.

    Attributes
    ----------
    name
        Name of the component.
    chance
        Probability of the reply.
    chips
        Contribution to the EV.

    Examples
    --------
    >>> EvComponent("they fold", 0.4, 80.0).chips
    80.0
    """

    name: str
    chance: float  # probability of the reply
    chips: float


@dataclass(frozen=True)
class ActionEvBreakdown:
    """The EV breakdown of one action of a hand.

    Attributes
    ----------
    move
        Label of the action.
    played
        Its frequency with this hand.
    ev
        EV from a traversal of the whole subtree, in chips.
    parts
        Components, which sum to the EV.

    Examples
    --------
    >>> ActionEvBreakdown("b100", 1.0, 80.0, (EvComponent("they fold", 0.4, 80.0),)).total
    80.0
    """

    move: str
    played: float  # frequency
    ev: float  # from a traversal of the whole subtree
    parts: tuple[EvComponent, ...]

    @property
    def total(self) -> float:
        """Sum of the components."""
        return sum(part.chips for part in self.parts)


@dataclass(frozen=True)
class HandEvBreakdown:
    """EV breakdowns of all actions of a hand at a node.

    Attributes
    ----------
    title
        Title of the node.
    hand
        The hand.
    breakdowns
        One for each action.

    Examples
    --------
    >>> from riverboat.games.spots.spot import Spot
    >>> from riverboat.solvers.boards.batches import solve_many
    >>> spot = Spot.make(board="Td9d6hQc2s", pot=200, stack=400, oop="AA,KJ,76", ip="QQ,T9,AJ", bets="50%")
    >>> (solution,) = solve_many([spot], iterations=100)
    >>> len(break_down_hand_ev(solution[""], "AhAs").table().rows)
    9
    """

    title: str
    hand: str
    breakdowns: tuple[ActionEvBreakdown, ...]

    def table(self) -> ReportTable:
        """Return the components of all actions as a table."""
        rows = []
        for breakdown in self.breakdowns:
            rows += [(breakdown.move, part.name, part.chance, part.chips) for part in breakdown.parts]
            rows.append((breakdown.move, f"all, played {100 * breakdown.played:.0f} %", 1.0, breakdown.total))
        columns = (
            ReportColumn("move"),
            ReportColumn("part"),
            ReportColumn("chance", SHARE),
            ReportColumn("chips", CHIPS),
        )
        return ReportTable(f"{self.title}: why {self.hand}", columns, tuple(rows))

    def __str__(self) -> str:
        best = max(self.breakdowns, key=lambda r: r.total)
        others = [r for r in self.breakdowns if r is not best]
        text = f"{self.hand}: {best.move} earns {best.total:.2f} chips"
        return text + "".join(f", {best.total - r.total:.2f} more than {r.move}" for r in others)

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary for JSON."""
        moves = [asdict(r) | {"total": r.total} for r in self.breakdowns]
        return {"title": self.title, "hand": self.hand, "moves": moves, "unit": "chips"}


def break_down_hand_ev(node: SolutionNode, cards: Cards) -> HandEvBreakdown:
    """Break down the EVs of all actions of a hand of the acting player.

    Parameters
    ----------
    node
        Node of a solution at which a player acts.
    cards
        The hand, such as `AhKh`.

    Returns
    -------
    HandEvBreakdown
        Components of the EV of each action.

    Raises
    ------
    InputError
        If no player acts at the node, or it is never reached with the hand.

    Examples
    --------
    >>> from riverboat.games.spots.spot import Spot
    >>> from riverboat.solvers.boards.batches import solve_many
    >>> spot = Spot.make(board="Td9d6hQc2s", pot=200, stack=400, oop="AA,KJ,76", ip="QQ,T9,AJ", bets="50%")
    >>> (solution,) = solve_many([spot], iterations=100)
    >>> print(break_down_hand_ev(solution[""], "AhAs"))
    AsAh: x earns 67.00 chips, 12.64 more than b100
    """
    me = node.player
    if me < 0:
        raise InputError(f"{node.tree.name}: no player acts at {node.line!r}, so there is nothing to explain")
    hand = hand_index(*as_hand(cards))
    if not node.reach[me][hand] > 0 or not node.compatible_weight(me)[hand] > 0:
        raise InputError(
            f"hand {format_hand(hand)} at {node.line!r}: {player_names(node.tree.game)[me]} never reaches the node with it"
        )
    breakdowns = []
    for k, label in enumerate(node.actions):
        ev, parts = float(node.action_ev()[k, hand]), tuple(_ev_components(node, _child_node(node, label), hand))
        breakdowns.append(ActionEvBreakdown(label, float(node.strategy[k, hand]), ev, parts))
    return HandEvBreakdown(node_title(node), format_hand(hand), tuple(breakdowns))


def _child_node(node: SolutionNode, label: str) -> SolutionNode:
    joiner = node.tree.game.joiner if node.line and not node.line.endswith("/") else ""
    return node.solution[f"{node.line}{joiner}{label}"]


def _ev_components(node: SolutionNode, after: SolutionNode, hand: int) -> list[EvComponent]:
    """Return the EV components of the action that leads from `node` to `after`, reply by reply."""
    me, paid = node.player, _paid(node, after)
    if after.player != 1 - me:  # the action ends the street or the hand
        if after.player == TERMINAL and not after.tree.betting.showdown[after.betting_node]:
            return [EvComponent("fold", 1.0, 0.0)]
        return _showdown_components(node, after, hand, 1.0, "call" if paid else "check")
    parts, opponent_range, weight = [], node.reach[1 - me], node.compatible_weight(me)[hand]
    for k, label in enumerate(after.actions):
        reply = _child_node(after, label)
        chance = float(reply.compatible_weight(me)[hand] / weight)
        if label == "f":
            fold_frequency = float(opponent_range @ np.nan_to_num(after.strategy[k]) / opponent_range.sum())
            shares = {FOLD: fold_frequency, BLOCKED: chance - fold_frequency}
            parts += [EvComponent(name, share, share * pot(node)) for name, share in shares.items()]
        elif chance > 0 and label in ("x", "c"):
            reply_name = f"they {'check' if label == 'x' else 'call'}"
            parts += _showdown_components(node, reply, hand, chance, reply_name)
        elif chance > 0:
            verb = "raise" if paid else "bet"
            ev = float(reply.ev(me)[hand]) - _paid(node, reply)
            parts.append(EvComponent(f"they {verb} ({label})", chance, chance * ev))
    return parts


def _paid(node: SolutionNode, after: SolutionNode) -> float:
    """Return the chips that the player who acts at `node` pays from there to the later node `after`."""
    spent = node.tree.betting.spent[:, node.player]
    return float(spent[after.betting_node] - spent[node.betting_node])


def _showdown_components(
    node: SolutionNode, after: SolutionNode, hand: int, chance: float, reply: str
) -> list[EvComponent]:
    """Return the components after a check or a call that ends the street: equity of the pot, then later streets."""
    me, paid = node.player, _paid(node, after)
    opponent_range = after.reach[1 - me]
    boards = runouts(after.board, node.tree.game.deck)
    wins, weight = range_wins(opponent_range, boards, np.ones(len(boards)), rules=node.tree.game.deck.rules)
    share = float(wins[hand] / weight[hand]) if weight[hand] > 0 else 0.0
    beats, no_betting_left = chance * (share * pot(after) - paid), after.player == TERMINAL and len(after.board) == 5
    ev = beats if no_betting_left else chance * (float(after.ev(me)[hand]) - paid)
    return [EvComponent(f"{reply}: {BEATS}", chance, beats), EvComponent(f"{reply}: {LATER}", chance, ev - beats)]
