"""What a blueprint does at a line, and how a place is told: for every hand that the board leaves, who gets there with it and
what is played. Places of agents (`place_node.player_node`) are told in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from riverboat.cards.grid import CLASS_NAMES, CLASS_OF_HAND, Grid
from riverboat.cards.hand_classes import DRAWS, MADE, classify_all
from riverboat.cards.notation import Cards, show_cards
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, unknown
from riverboat.core.tables import COUNT, PROSE, SHARE, Cell, Column, ReportTable
from riverboat.games.holdem.action_tree import CALL, FOLD, RAISE
from riverboat.games.holdem.menus import SEATS
from riverboat.games.holdem.public_state import board_of, hand_of
from riverboat.games.holdem.rules import Rules
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.strategies.reports.node import DIGITS
from riverboat.strategies.reports.public_state import PlaceNode, hand_numbers

BUCKETS = "buckets"  # a table of what the strategy sees
BY = ("combos", "classes", BUCKETS, "made", "draws", "groups")
_NAMED = 6  # hands that are told of a bucket


@dataclass(frozen=True, eq=False)
class BlueprintNode(PlaceNode):
    """A decision of the blueprint's tree."""

    strategy: BlueprintStrategy
    node: int
    board: tuple[int, ...]
    hands: Array
    buckets: Array  # int32 [n, streets so far]
    reach: Array

    @property
    def rules(self) -> Rules:
        """Of the game."""
        return self.strategy.rules

    @property
    def line(self) -> str:
        """The moves that lead here."""
        return self.strategy.tree.line(self.node)

    @property
    def seat(self) -> int:
        """Who acts."""
        return int(self.strategy.tree.actor[self.node])

    @property
    def street(self) -> int:
        """The round of the betting."""
        return int(self.strategy.tree.street[self.node])

    @property
    def spent(self) -> tuple[int, int]:
        """Chips of each seat in the middle."""
        first, second = self.strategy.tree.spent[self.node].tolist()
        return first, second

    @property
    def moves(self) -> tuple[str, ...]:
        """Labels of what can be played."""
        return self.strategy.tree.moves(self.node)

    @property
    def bucket(self) -> Array:
        """Buckets on this street. int32 [n]"""
        numbers: Array = self.buckets[:, self.street]
        return numbers

    @cached_property
    def played(self) -> Array:
        """Probability of each move with each hand. float64 [n, moves]"""
        return self.strategy.probabilities(self.node, self.bucket)

    def after(self, move: int) -> BlueprintNode:
        """The decision behind a move, on the same board."""
        reach = self.reach.copy()
        reach[self.seat] *= self.played[:, move]
        return replace(self, node=int(self.strategy.tree.first[self.node]) + move, reach=reach)


def at_line(strategy: BlueprintStrategy, line: str, board: Cards = ()) -> BlueprintNode:
    """The decision that a line leads to, on a board of as many cards as its street has."""
    node = strategy.tree.find(line)
    strategy.moves(node)  # refuses where nobody acts
    path = []
    while node:
        parent = int(strategy.tree.parent[node])
        path.append(node - int(strategy.tree.first[parent]))
        node = parent
    street = int(strategy.tree.street[strategy.tree.find(line)])
    place = _first(strategy, board_of(strategy.rules, street, board))
    for move in reversed(path):
        place = place.after(move)
    return place


def _first(strategy: BlueprintStrategy, board: tuple[int, ...]) -> BlueprintNode:
    """The first decision of a hand, where the board to come is known."""
    hands = strategy.rules.deck.hands
    hands = hands[~np.isin(hands, board).any(axis=1)]
    shown = np.tile(np.array(board, np.uint8), (len(hands), 1))
    buckets = strategy.cards.buckets(np.concatenate([hands, shown], axis=1))[:, 0]
    return BlueprintNode(strategy, 0, board, hands, buckets, np.ones((2, len(hands))))


def first_street(strategy: BlueprintStrategy) -> Iterator[BlueprintNode]:
    """All decisions before the first deal, those that come earlier first."""
    waiting = [_first(strategy, ())]
    tree = strategy.tree
    while waiting:
        here = waiting.pop(0)
        yield here
        for move, child in enumerate(tree.children(here.node)):
            if tree.actor[child] >= 0 and tree.street[child] == 0:
                waiting.append(here.after(move))


# --- a node in a few figures ------------------------------------------------------------------


def seat_of(node: PlaceNode, player: int | str | None) -> int:
    """A seat by number or name, oop (seat 0) or ip (seat 1); by default the one that acts."""
    if player is None:
        return node.seat
    names = (*SEATS, "0", "1")
    if str(player) not in names:
        raise unknown("player", str(player), names)
    return names.index(str(player)) % 2


def title(node: PlaceNode) -> str:
    """`cr300c/ on As Kd 2c`."""
    return f"{node.line or 'root'} on {show_cards(node.board, ' ')}" if node.board else node.line or "root"


def headline(node: PlaceNode) -> str:
    """Who acts, where, for what, and how often."""
    rules, spent = node.rules, node.spent
    street = rules.streets[node.street]
    where = f"on the {street} {show_cards(node.board, ' ')}" if node.board else street
    behind = ""
    if rules.stacks is not None:
        behind = ", behind " + " and ".join(f"{stack - put:,}" for stack, put in zip(rules.stacks, spent, strict=True))
    often = (
        f"; {100 * node.chance:.3g} % of hands{' on this board' if node.board else ''} get there" if node.line else ""
    )
    often = f"; {never(node)}" if node.absent else often
    return f"{node.line or 'root'}: {SEATS[node.seat]} to act {where}, pot {sum(spent):,}{behind}{often}"


def never(node: PlaceNode) -> str:
    """Why a place is never reached, and what its figures then are; empty where it is."""
    if not node.absent:
        return ""
    who = " and ".join(SEATS[seat] for seat in node.absent)
    verb = "play" if len(node.absent) > 1 else "plays"
    return f"never reached: {who} never {verb} this line; means are taken as if {who} could hold any hand"


def sides(node: PlaceNode) -> ReportTable:
    """What both seats arrive with: combos, and their share of all hands that the board leaves."""
    columns = Column("player"), Column("combos", COUNT), Column("weight", SHARE, "of all hands")
    rows = [(SEATS[seat], float(node.reach[seat].sum()), float(node.reach[seat].mean())) for seat in (0, 1)]
    return ReportTable("", columns, tuple(rows))


def actions(node: PlaceNode) -> ReportTable:
    """How often each move is played, and with how many hands of those with which the player gets there."""
    combos = (node.reach[node.seat] @ node.played).tolist()
    columns = Column("action"), Column("frequency", SHARE), Column("combos", COUNT)
    shares = node.frequencies.items()
    return ReportTable("", columns, tuple((name, f, c) for (name, f), c in zip(shares, combos, strict=True)))


def summary(node: PlaceNode) -> dict[str, Any]:
    """The same as one dictionary, for JSON; with the ranges of both as texts, to four digits."""
    facts: dict[str, Any] = {
        "line": node.line,
        "board": show_cards(node.board),
        "street": node.rules.streets[node.street],
        "pot": sum(node.spent),
        "player": SEATS[node.seat],
        "chance": node.chance,
        "never_reached_by": [SEATS[seat] for seat in node.absent],
    }
    for seat, row in enumerate(sides(node)):
        held = node.range(seat)
        text = {} if held is None else {"range": held.text(node.board, DIGITS)}
        facts[SEATS[seat]] = {"combos": row["combos"], "weight": row["weight"]} | text
    return facts | {"actions": list(actions(node))}


def overview(nodes: Sequence[BlueprintNode], hand: Cards | None = None) -> ReportTable:
    """One row for each decision: how often it comes, and what is played, by all hands or by one."""
    columns = Column("line"), Column("player"), Column("chance", SHARE), Column("fold", SHARE), Column("call", SHARE)
    rows: list[tuple[Cell, ...]] = []
    name = ""
    for node in nodes:
        often, played = node.chance, np.array(list(node.frequencies.values()))
        if hand is not None:
            place = _place(node, hand)
            name = show_cards(node.hands[place][::-1])
            often, played = float(node.reach[node.seat, place]), node.played[place]
        kinds = node.strategy.tree.kind[list(node.strategy.tree.children(node.node))]
        shares = [float(played[kinds == kind].sum()) if kind in kinds else None for kind in (FOLD, CALL, RAISE)]
        sizes = [f"{move} {100 * p:.1f}" for move, p in zip(node.moves, played, strict=True) if move not in "fcr"]
        rows.append((node.line or "root", SEATS[node.seat], often, *shares, "  ".join(sizes)))
    # Of one hand: how often its player plays to there.
    often_name = columns[2] if hand is None else Column("weight", SHARE)
    heads = (*columns[:2], often_name, *columns[3:], Column("raise", SHARE), Column("sizes", PROSE, "sizes in %", 1))
    return ReportTable(name, heads, tuple(rows))


# --- hands ------------------------------------------------------------------------------------


def _place(node: PlaceNode, hand: Cards) -> int:
    """Where a hand stands in the arrays of a node."""
    cards = hand_of(node.rules, hand)
    rows = np.flatnonzero((np.sort(node.hands, axis=1) == np.sort(cards)).all(axis=1))
    if not len(rows):
        shared = show_cards(card for card in cards if card in node.board)
        raise InputError(
            f"hand {show_cards(cards)} at {node.line!r}: {shared} is on the board {show_cards(node.board)}"
        )
    return int(rows[0])


def hand(node: PlaceNode, cards: Cards, player: int | str | None = None) -> dict[str, Any]:
    """One hand: its bucket, how often it comes here, and what is played with it if its player acts."""
    place, seat = _place(node, cards), seat_of(node, player)
    played = dict(zip(node.moves, node.played[place].tolist(), strict=True)) if seat == node.seat else {}
    return {
        "hand": show_cards(node.hands[place][::-1]),
        "player": SEATS[seat],
        "line": node.line,
        "board": show_cards(node.board),
        **({} if node.bucket is None else {"bucket": int(node.bucket[place])}),
        "weight": float(node.reach[seat, place]),
        "frequencies": played,
    }


def choices(node: PlaceNode) -> tuple[str, ...]:
    """Tables that there are: classes are of two cards, made hands of two cards and a flop or more."""
    known = ("combos", "buckets") if node.hands.shape[1] == 1 else BY if len(node.board) >= 3 else BY[:3]
    return known if node.bucket is not None else tuple(name for name in known if name != "buckets")


def table(node: PlaceNode, by: str | None = None, player: int | str | None = None) -> ReportTable:
    """Frequencies and weights: by `combos`, by the 169 `classes`, by `buckets`, by `made` hand, by `draws`, or by both of
    these (`groups`, the default on a board). Draws may overlap.

    Groups that nobody holds here are left out; hands and buckets are all there, since they have a strategy all the same.
    """
    known = choices(node)
    by = by or (known[-1] if len(node.board) >= 3 else "classes" if "classes" in known else "combos")
    if by not in known:
        raise unknown("table", by, known)
    seat = seat_of(node, player)
    if by == "combos":
        return _combos(node, seat)
    if by == "buckets" and node.bucket is not None:
        return _buckets(node, seat, node.bucket)
    if by == "classes":
        cells = CLASS_OF_HAND[hand_numbers(node.hands)]
        return _grouped(node, seat, "class", [(name, cells == cell) for cell, name in enumerate(CLASS_NAMES)])
    made, draws = (part[hand_numbers(node.hands)] for part in classify_all(node.board))
    groups = [] if by == "draws" else [(name, made == k) for k, name in enumerate(MADE)]
    if by != "made":
        groups += [(name, draws[:, k]) for k, name in enumerate(DRAWS)]
    return _grouped(node, seat, {"made": "made hand", "draws": "draw"}.get(by, "group"), groups)


_WEIGHTS = (Column("combos", COUNT, rank=2), Column("weight", SHARE, rank=1))


def _frame(node: PlaceNode, seat: int, kind: str) -> tuple[str, list[Column]]:
    """The title of a table and its columns of moves."""
    moves = [Column(name, SHARE) for name in (node.moves if seat == node.seat else ())]
    return f"{title(node)}: {SEATS[seat]}", [Column(kind), *moves]


def _shares(node: PlaceNode, seat: int, members: Array) -> list[float]:
    """What a group of hands plays, as often as they are dealt; nothing where their player does not act."""
    if seat != node.seat:
        return []
    deals = node.deals[seat][members]
    weights = deals if deals.sum() > 0 else np.ones(len(deals))
    shares: list[float] = (weights @ node.played[members] / weights.sum()).tolist()
    return shares


def _grouped(node: PlaceNode, seat: int, kind: str, groups: Sequence[tuple[str, Array]]) -> ReportTable:
    head, columns = _frame(node, seat, kind)
    rows: list[tuple[Cell, ...]] = []
    for name, members in groups:
        reach = node.reach[seat][members]
        if node.assumed[seat][members].any():
            rows.append((name, *_shares(node, seat, members), float(reach.sum()), float(reach.mean())))
    return ReportTable(head, (*columns, *_WEIGHTS), tuple(rows))


def _buckets(node: PlaceNode, seat: int, buckets: Array) -> ReportTable:
    head, columns = _frame(node, seat, "bucket")
    rows: list[tuple[Cell, ...]] = []
    for bucket in np.unique(buckets).tolist():
        members = buckets == bucket
        reach, names = node.reach[seat][members], _class_names(node.hands[members])
        told = " ".join(names[:_NAMED]) + (" …" if len(names) > _NAMED else "")
        figures = float(reach.sum()), float(reach.mean()), float(members.sum())
        rows.append((str(bucket), *_shares(node, seat, members), *figures, told))
    return ReportTable(
        head, (*columns, *_WEIGHTS, Column("hands", COUNT, rank=3), Column("members", PROSE, rank=4)), tuple(rows)
    )


def _combos(node: PlaceNode, seat: int) -> ReportTable:
    head, columns = _frame(node, seat, "hand")
    played = node.played if seat == node.seat else np.zeros((len(node.hands), 0))
    named = "made" in choices(node)
    made, draws = (part[hand_numbers(node.hands)] for part in classify_all(node.board)) if named else (None, None)
    rows: list[tuple[Cell, ...]] = []
    for h in range(len(node.hands) - 1, -1, -1):
        told: list[Cell] = [] if made is None else [MADE[made[h]]]
        if draws is not None:
            told.append(", ".join(name for name, has in zip(DRAWS, draws[h], strict=True) if has))
        figures: list[Cell] = [float(node.reach[seat, h])]
        figures += [] if node.bucket is None else [str(node.bucket[h])]
        rows.append((show_cards(node.hands[h][::-1]), *played[h].tolist(), *figures, *told))
    more = [] if node.bucket is None else [Column("bucket", rank=1)]
    more += [Column("made", rank=2), Column("draws", rank=3)] if named else []
    return ReportTable(head, (*columns, Column("weight", SHARE), *more), tuple(rows))


def _class_names(hands: Array) -> list[str]:
    """Classes of hands without repetition, those of most hands first; cards where a hand is one."""
    if hands.shape[1] == 1:
        return [show_cards(hand) for hand in hands[::-1]]
    count = np.bincount(CLASS_OF_HAND[hand_numbers(hands)], minlength=169)
    return [CLASS_NAMES[cell] for cell in np.argsort(-count, kind="stable")[: np.count_nonzero(count)]]


# --- the grid ---------------------------------------------------------------------------------


def grid(node: PlaceNode, player: int | str | None = None) -> Grid | None:
    """The 13 × 13 grid: moves side by side, as high as the hands are held; of a seat that does not act, weights.

    Who acts where it never gets is drawn as if it held every hand. None where hands have one card.
    """
    if node.hands.shape[1] == 1:
        return None
    seat, cells = seat_of(node, player), CLASS_OF_HAND[hand_numbers(node.hands)]

    def by_class(values: Array) -> Array:
        return np.bincount(cells, values, 169)

    acts = seat == node.seat
    held, deals = by_class((node.assumed if acts else node.reach)[seat]), node.deals[seat]
    weight = np.minimum(held / np.maximum(by_class(np.ones(len(cells))), 1.0), 1.0)
    head = f"{title(node)}: {SEATS[seat]}"
    if not acts:
        return Grid(weight.reshape(13, 13), title=head)
    total = by_class(deals)
    live = total > 0
    weight = np.where(live, weight, 0.0)
    shares = [by_class(deals * node.played[:, a]) / np.where(live, total, 1.0) for a in range(len(node.moves))]
    # Combos are such that the totals of the legend count deals, as all means do.
    combos = np.where(live, total / np.where(live, weight, 1.0), 0.0)
    frequencies = {name: share.reshape(13, 13) for name, share in zip(node.moves, shares, strict=True)}
    return Grid.actions(frequencies, weight.reshape(13, 13), combos.reshape(13, 13), head)
