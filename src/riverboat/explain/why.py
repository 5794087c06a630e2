"""Why a hand is played as it is: what each move earns, in parts that add up.

    told = why(solution["b94"], "AhKh")

After a move the opponent replies. What a hand wins is, over the replies, their chance times what it wins after them:

- *they fold*: the pot, as often as their whole range folds; *blocked*: the same for what the hand's own cards change of that;
- *beats*: its share of the pot against the hands that reply so, if nobody bet any more, less what the move costs;
- *later streets*: what the rest of the hand brings beyond that;
- *they bet*, *they raise*: what is left after a bet or a raise of theirs, in one figure.

Where a move ends the street there is one reply, that of the cards. The parts of a move sum to its EV.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from riverboat.cards.deck import hand_index
from riverboat.cards.equity.equities import range_shares, runouts
from riverboat.cards.notation import Cards, as_hand, show_hand
from riverboat.core.errors import InputError
from riverboat.core.tables import CHIPS, SHARE, Column, ReportTable
from riverboat.games.base import TERMINAL
from riverboat.strategies.reports.node import names, pot, title
from riverboat.strategies.solution import Spotlight

FOLD, BLOCKED, BEATS, LATER = "they fold", "blocked", "beats", "later streets"


@dataclass(frozen=True)
class Part:
    """Something that a move earns, in chips."""

    name: str
    chance: float  # of the reply that it is about
    chips: float


@dataclass(frozen=True)
class Reason:
    """A move of a hand."""

    move: str
    played: float  # how often
    ev: float  # as a walk of the whole subtree has it
    parts: tuple[Part, ...]

    @property
    def total(self) -> float:
        """What the parts sum to."""
        return sum(part.chips for part in self.parts)


@dataclass(frozen=True)
class Why:
    """All moves of a hand at a node."""

    title: str
    hand: str
    reasons: tuple[Reason, ...]

    def table(self) -> ReportTable:
        """Parts of all moves side by side."""
        rows = []
        for reason in self.reasons:
            for part in reason.parts:
                rows.append((reason.move, part.name, part.chance, part.chips))
            rows.append((reason.move, f"all, played {100 * reason.played:.0f} %", 1.0, reason.total))
        columns = Column("move"), Column("part"), Column("chance", SHARE), Column("chips", CHIPS)
        return ReportTable(f"{self.title}: why {self.hand}", columns, tuple(rows))

    def __str__(self) -> str:
        best = max(self.reasons, key=lambda r: r.total)
        others = [r for r in self.reasons if r is not best]
        text = f"{self.hand}: {best.move} earns {best.total:.2f} chips"
        return text + "".join(f", {best.total - r.total:.2f} more than {r.move}" for r in others)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        moves = [asdict(r) | {"total": r.total} for r in self.reasons]
        return {"title": self.title, "hand": self.hand, "moves": moves, "unit": "chips"}


def why(node: Spotlight, cards: Cards) -> Why:
    """Why a hand of the player who acts is played as it is."""
    me = node.player
    if me < 0:
        raise InputError(f"{node.tree.name}: nobody acts at {node.line!r}, so nothing is to be explained there")
    hand = hand_index(*as_hand(cards))
    if not node.reach[me][hand] > 0 or not node.compatible(me)[hand] > 0:
        raise InputError(
            f"hand {show_hand(hand)} at {node.line!r}: {names(node.tree.game)[me]} does not come there with it"
        )
    reasons = []
    for k, label in enumerate(node.actions):
        ev = float(node.action_ev()[k, hand])
        reasons.append(Reason(label, float(node.strategy[k, hand]), ev, tuple(_parts(node, _after(node, label), hand))))
    return Why(title(node), show_hand(hand), tuple(reasons))


def _after(node: Spotlight, label: str) -> Spotlight:
    joiner = node.tree.game.joiner
    return node.solution[
        f"{node.line}{joiner}{label}" if node.line and not node.line.endswith("/") else node.line + label
    ]


def _parts(node: Spotlight, after: Spotlight, hand: int) -> list[Part]:
    """What one move earns, reply by reply."""
    me, spent = node.player, node.tree.betting.spent
    paid = float(spent[after.place, me] - spent[node.place, me])
    if after.player != 1 - me:  # the street or the hand is over
        if _folded(after):
            return [Part("fold", 1.0, 0.0)]
        return _showdown(node, after, hand, 1.0, "call" if paid else "check")
    parts, before, mine = [], node.reach[1 - me], node.compatible(me)[hand]
    for k, label in enumerate(after.actions):
        reply = _after(after, label)
        chance = float(reply.compatible(me)[hand] / mine)
        if label == "f":
            usual = float(before @ np.nan_to_num(after.strategy[k]) / before.sum())
            parts += [Part(FOLD, usual, usual * pot(node)), Part(BLOCKED, chance - usual, (chance - usual) * pot(node))]
        elif label in ("x", "c"):
            parts += (
                _showdown(node, reply, hand, chance, f"they {'check' if label == 'x' else 'call'}")
                if chance > 0
                else []
            )
        elif chance > 0:
            verb = "raise" if paid else "bet"
            worth = float(reply.ev(me)[hand]) - float(spent[reply.place, me] - spent[node.place, me])
            parts.append(Part(f"they {verb} ({label})", chance, chance * worth))
    return parts


def _folded(node: Spotlight) -> bool:
    betting = node.tree.betting
    return bool(betting.actor[node.place] == TERMINAL and not betting.showdown[node.place])


def _showdown(node: Spotlight, after: Spotlight, hand: int, chance: float, reply: str) -> list[Part]:
    """After a check or a call that ends the street: the share of the pot as hands stand, then what later streets bring."""
    me, spent = node.player, node.tree.betting.spent
    paid = float(spent[after.place, me] - spent[node.place, me])
    theirs = after.reach[1 - me]
    boards = runouts(after.board, node.tree.game.deck)
    won, met = range_shares(theirs, boards, np.ones(len(boards)), rules=node.tree.game.deck.rules)
    share = float(won[hand] / met[hand]) if met[hand] > 0 else 0.0
    beats = chance * (share * pot(after) - paid)
    if after.player == TERMINAL and len(after.board) == 5:
        worth = beats  # nothing is left to play
    else:
        worth = chance * (float(after.ev(me)[hand]) - paid)
    return [Part(f"{reply}: {BEATS}", chance, beats), Part(f"{reply}: {LATER}", chance, worth - beats)]
