"""Reports of a decision on a board: ranges, action frequencies, tables of hands, and a strategy grid.

`BlueprintNode` is a decision of a blueprint's tree. All reports also accept decisions of agents
(`reports.public_state.policy_node`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from riverboat.cards.deck import FULL_DECK
from riverboat.cards.grid import CLASS_NAMES, CLASS_OF_HAND, HandGrid
from riverboat.cards.notation import Cards, format_cards
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.core.tables import COUNT, PROSE, SHARE, Cell, ReportColumn, ReportTable
from riverboat.core.validation import check_name
from riverboat.games.holdem.action_tree import CALL, FOLD, RAISE
from riverboat.games.holdem.menus import SEATS
from riverboat.games.holdem.public_states import parse_game_board, parse_game_hand
from riverboat.strategies.blueprint import Blueprint, hand_buckets
from riverboat.strategies.reports.node import (
    WEIGHT_DIGITS,
    class_grid,
    columns_table,
    describe_hands,
    hand_groups,
    node_title,
)
from riverboat.strategies.reports.public_state import PublicStateNode

BUCKETS_TABLE = "buckets"  # a table by buckets of the card abstraction
TABLES = ("combos", "classes", BUCKETS_TABLE, "made", "draws", "groups")
_MAX_NAMES = 6  # hand classes shown for a bucket


@dataclass(frozen=True, eq=False, kw_only=True)
class BlueprintNode(PublicStateNode):
    """A decision of a blueprint's tree on a board; or, as a child, an end of the hand or street, without actions."""

    strategy: Blueprint
    node: int
    buckets: Array  # int32 [n, streets so far]

    def child(self, move: int) -> BlueprintNode:
        """Return the node after an action, given by its index, on the same board."""
        reach = self.reach.copy()
        reach[self.seat] *= self.action_probabilities[:, move]
        child = int(self.strategy.tree.first[self.node]) + move
        return _blueprint_node(self.strategy, child, self.board, self.hands, self.buckets, reach)


def _blueprint_node(
    strategy: Blueprint, node: int, board: tuple[int, ...], hands: Array, buckets: Array, reach: Array
) -> BlueprintNode:
    """Return a node of the blueprint's tree; if its street is not dealt or the hand is over, without actions."""
    tree, street = strategy.tree, int(strategy.tree.street[node])
    bucket = buckets[:, street] if tree.actor[node] >= 0 and street < buckets.shape[1] else None
    first, second = tree.spent[node].tolist()
    return BlueprintNode(
        strategy=strategy,
        node=node,
        buckets=buckets,
        rules=strategy.rules,
        line=tree.line(node),
        street=street,
        seat=int(tree.actor[node]),
        spent=(first, second),
        board=board,
        hands=hands,
        reach=reach,
        moves=() if bucket is None else tree.actions(node),
        action_probabilities=np.zeros((len(hands), 0)) if bucket is None else strategy.probabilities(node, bucket),
        bucket=bucket,
    )


def node_at_line(strategy: Blueprint, line: str | int, board: Cards = ()) -> BlueprintNode:
    """Return the decision of a line, or of a node of the tree, on a board of its street."""
    tree = strategy.tree
    node = tree.find(line) if isinstance(line, str) else line
    strategy.moves(node)  # raises if nobody acts
    result = _root_node(strategy, parse_game_board(strategy.rules, int(tree.street[node]), board))
    for parent, child in pairwise(tree.path(node)):
        result = result.child(child - int(tree.first[parent]))
    return result


def _root_node(strategy: Blueprint, board: tuple[int, ...]) -> BlueprintNode:
    """Return the root of the tree for a board that is dealt later: its unblocked hands and all their buckets."""
    hands = strategy.rules.deck.hands
    hands = hands[~np.isin(hands, board).any(axis=1)]
    buckets = hand_buckets(strategy.cards, hands, board)
    return _blueprint_node(strategy, 0, board, hands, buckets, np.ones((2, len(hands))))


def first_street_nodes(strategy: Blueprint) -> Iterator[BlueprintNode]:
    """Yield all decisions before the first deal, breadth first."""
    queue = [_root_node(strategy, ())]
    tree = strategy.tree
    for node in queue:  # grows in the loop
        yield node
        for move, child in enumerate(tree.children(node.node)):
            if tree.actor[child] >= 0 and tree.street[child] == 0:
                queue.append(node.child(move))


# --- summary ----------------------------------------------------------------------------------


def parse_seat(node: PublicStateNode, player: int | str | None) -> int:
    """Parse a seat by number or name, oop (seat 0) or ip (seat 1); the default is the seat to act."""
    if player is None:
        return node.seat
    names = (*SEATS, "0", "1")
    check_name("player", str(player), names)
    return names.index(str(player)) % 2


def headline(node: PublicStateNode) -> str:
    """Return one line of text with the actor, the board, pot and stacks, and the reach probability."""
    rules, spent = node.rules, node.spent
    street = rules.streets[node.street]
    where = f"on the {street} {format_cards(node.board, ' ')}" if node.board else street
    behind = ""
    if rules.stacks is not None:
        behind = ", behind " + " and ".join(f"{stack - put:,}" for stack, put in zip(rules.stacks, spent, strict=True))
    reached = ""
    if node.unreachable_seats:
        reached = f"; {unreached_note(node)}"
    elif node.line:
        reached = f"; {100 * node.reach_probability:.3g} % of hands{' on this board' if node.board else ''} get there"
    return f"{node.line or 'root'}: {SEATS[node.seat]} to act {where}, pot {sum(spent):,}{behind}{reached}"


def unreached_note(node: PublicStateNode) -> str:
    """Explain why a node with an empty range is never reached and how its means are computed."""
    seats = " and ".join(SEATS[seat] for seat in node.unreachable_seats)
    verb = "play" if len(node.unreachable_seats) > 1 else "plays"
    return f"never reached: {seats} never {verb} this line; means are taken as if {seats} could hold any hand"


def ranges_table(node: PublicStateNode) -> ReportTable:
    """Return a table of both ranges: combos, and their share of all unblocked hands."""
    columns = ReportColumn("player"), ReportColumn("combos", COUNT), ReportColumn("weight", SHARE, "of all hands")
    return columns_table("", columns, [SEATS, node.reach.sum(axis=1), node.reach.mean(axis=1)])


def actions_table(node: PublicStateNode) -> ReportTable:
    """Return a table of each action's frequency and its number of combos."""
    combos = node.reach[node.seat] @ node.action_probabilities
    columns = ReportColumn("action"), ReportColumn("frequency", SHARE), ReportColumn("combos", COUNT)
    return columns_table("", columns, [node.moves, node.frequencies.values(), combos])


def node_summary(node: PublicStateNode) -> dict[str, Any]:
    """Return line, board, pot, actor, reach probability, ranges (as texts) and actions as a dictionary for JSON."""
    entries: dict[str, Any] = {
        "line": node.line,
        "board": format_cards(node.board),
        "street": node.rules.streets[node.street],
        "pot": sum(node.spent),
        "player": SEATS[node.seat],
        "chance": node.reach_probability,
        "never_reached_by": [SEATS[seat] for seat in node.unreachable_seats],
    }
    for seat, row in enumerate(ranges_table(node)):
        seat_range = node.range(seat)
        text = {} if seat_range is None else {"range": seat_range.text(node.board, WEIGHT_DIGITS)}
        entries[SEATS[seat]] = {"combos": row["combos"], "weight": row["weight"]} | text
    return entries | {"actions": list(actions_table(node))}


def decisions_table(nodes: Sequence[BlueprintNode], hand: Cards | None = None) -> ReportTable:
    """Return a table with one row for each decision: reach probability and frequencies of all hands or of one."""
    rows: list[tuple[Cell, ...]] = []
    name = ""
    for node in nodes:
        reach, probabilities = node.reach_probability, np.array(list(node.frequencies.values()))
        if hand is not None:
            row = _hand_row(node, hand)
            name = format_cards(node.hands[row][::-1])
            reach, probabilities = float(node.reach[node.seat, row]), node.action_probabilities[row]
        kinds = node.strategy.tree.kind[list(node.strategy.tree.children(node.node))]
        shares = [float(probabilities[kinds == kind].sum()) if kind in kinds else None for kind in (FOLD, CALL, RAISE)]
        moves = zip(node.moves, probabilities, strict=True)
        sizes = [f"{move} {100 * p:.1f}" for move, p in moves if move not in "fcr"]
        rows.append((node.line or "root", SEATS[node.seat], reach, *shares, "  ".join(sizes)))
    # With a hand, the column has the reach probability by its player's own actions.
    shares_of = ("chance" if hand is None else "weight", "fold", "call", "raise")
    columns = [ReportColumn("line"), ReportColumn("player"), *(ReportColumn(share, SHARE) for share in shares_of)]
    return ReportTable(name, (*columns, ReportColumn("sizes", PROSE, "sizes in %", 1)), tuple(rows))


# --- hands ------------------------------------------------------------------------------------


def _hand_row(node: PublicStateNode, hand: Cards) -> int:
    """Return the row of a hand in the arrays of a node."""
    cards = parse_game_hand(node.rules, hand)
    rows = np.flatnonzero((np.sort(node.hands, axis=1) == np.sort(cards)).all(axis=1))
    if not len(rows):
        shared = format_cards(card for card in cards if card in node.board)
        raise InputError(
            f"hand {format_cards(cards)} at {node.line!r}: {shared} is on the board {format_cards(node.board)}"
        )
    return int(rows[0])


def hand_report(node: PublicStateNode, cards: Cards, player: int | str | None = None) -> dict[str, Any]:
    """Return bucket, weight (reach) and, if its player acts, action frequencies of a hand as a dictionary for JSON."""
    row, seat = _hand_row(node, cards), parse_seat(node, player)
    acts = seat == node.seat
    return {
        "hand": format_cards(node.hands[row][::-1]),
        "player": SEATS[seat],
        "line": node.line,
        "board": format_cards(node.board),
        **({} if node.bucket is None else {"bucket": int(node.bucket[row])}),
        "weight": float(node.reach[seat, row]),
        "frequencies": dict(zip(node.moves, node.action_probabilities[row].tolist(), strict=True)) if acts else {},
    }


def available_tables(node: PublicStateNode) -> tuple[str, ...]:
    """Return the names of the tables that a node supports: classes need two hole cards, made hands also a flop."""
    tables = ("combos", "buckets") if node.hands.shape[1] == 1 else TABLES if len(node.board) >= 3 else TABLES[:3]
    return tables if node.bucket is not None else tuple(name for name in tables if name != "buckets")


def hands_table(node: PublicStateNode, by: str | None = None, player: int | str | None = None) -> ReportTable:
    """Return a table of frequencies and weights.

    Rows are `combos`, the 169 `classes`, `buckets`, `made` hands, `draws`, or `groups`: both of the last two, the
    default on a board. Draws may overlap. Empty groups are omitted; combos and buckets are complete, since all have a
    strategy.
    """
    tables = available_tables(node)
    by = by or (tables[-1] if len(node.board) >= 3 else "classes" if "classes" in tables else "combos")
    check_name("table", by, tables)
    seat = parse_seat(node, player)
    if by == "combos":
        return _combo_table(node, seat)
    if by == "buckets" and node.bucket is not None:
        return _bucket_table(node, seat, node.bucket)
    kind, groups = hand_groups(by, node.board)
    live = FULL_DECK.hand_indices(node.hands)
    return _group_table(node, seat, kind, [(name, members[live]) for name, members in groups])


_WEIGHT_COLUMNS = (ReportColumn("combos", COUNT, rank=2), ReportColumn("weight", SHARE, rank=1))


def _table_header(node: PublicStateNode, seat: int, kind: str) -> tuple[str, list[ReportColumn]]:
    """Return the title of a table, and its columns of actions."""
    moves = [ReportColumn(name, SHARE) for name in (node.moves if seat == node.seat else ())]
    return f"{node_title(node)}: {SEATS[seat]}", [ReportColumn(kind), *moves]


def _group_frequencies(node: PublicStateNode, seat: int, members: Array) -> list[float]:
    """Return the action frequencies of a group of hands, weighted by deals; empty if their player does not act."""
    if seat != node.seat:
        return []
    deals = node.deal_weights[seat][members]
    weights = deals if deals.sum() > 0 else np.ones(len(deals))
    shares: list[float] = (weights @ node.action_probabilities[members] / weights.sum()).tolist()
    return shares


def _group_table(node: PublicStateNode, seat: int, kind: str, groups: Sequence[tuple[str, Array]]) -> ReportTable:
    head, columns = _table_header(node, seat, kind)
    rows: list[tuple[Cell, ...]] = []
    for name, members in groups:
        reach = node.reach[seat][members]
        if node.assumed_ranges[seat][members].any():
            rows.append((name, *_group_frequencies(node, seat, members), float(reach.sum()), float(reach.mean())))
    return ReportTable(head, (*columns, *_WEIGHT_COLUMNS), tuple(rows))


def _bucket_table(node: PublicStateNode, seat: int, buckets: Array) -> ReportTable:
    head, columns = _table_header(node, seat, "bucket")
    rows: list[tuple[Cell, ...]] = []
    for bucket in np.unique(buckets).tolist():
        members = buckets == bucket
        reach, names = node.reach[seat][members], _class_names(node.hands[members])
        shown_names = " ".join(names[:_MAX_NAMES]) + (" …" if len(names) > _MAX_NAMES else "")
        weights = float(reach.sum()), float(reach.mean()), float(members.sum())
        rows.append((str(bucket), *_group_frequencies(node, seat, members), *weights, shown_names))
    columns += [*_WEIGHT_COLUMNS, ReportColumn("hands", COUNT, rank=3), ReportColumn("members", PROSE, rank=4)]
    return ReportTable(head, tuple(columns), tuple(rows))


def _combo_table(node: PublicStateNode, seat: int) -> ReportTable:
    head, columns = _table_header(node, seat, "hand")
    hands = node.hands[::-1]
    probabilities = node.action_probabilities[::-1].T if seat == node.seat else ()
    cells = [[format_cards(hand[::-1]) for hand in hands], *probabilities, node.reach[seat, ::-1]]
    columns.append(ReportColumn("weight", SHARE))
    if node.bucket is not None:
        columns.append(ReportColumn("bucket", rank=1))
        cells.append(list(map(str, node.bucket[::-1])))
    if "made" in available_tables(node):
        columns += [ReportColumn("made", rank=2), ReportColumn("draws", rank=3)]
        cells += describe_hands(FULL_DECK.hand_indices(hands), node.board)
    return columns_table(head, columns, cells)


def _class_names(hands: Array) -> list[str]:
    """Return the distinct classes of hands, the most frequent first; single cards for one-card hands."""
    if hands.shape[1] == 1:
        return [format_cards(hand) for hand in hands[::-1]]
    count = np.bincount(CLASS_OF_HAND[FULL_DECK.hand_indices(hands)], minlength=169)
    return [CLASS_NAMES[cell] for cell in np.argsort(-count, kind="stable")[: np.count_nonzero(count)]]


# --- grid -------------------------------------------------------------------------------------


def strategy_grid(node: PublicStateNode, player: int | str | None = None) -> HandGrid | None:
    """Return a seat's 13 × 13 grid: action frequencies, with heights by range weight; its range if it does not act.

    A seat with reach zero is shown with all hands. None for games with one-card hands.
    """
    if node.hands.shape[1] == 1:
        return None
    seat, cells = parse_seat(node, player), CLASS_OF_HAND[FULL_DECK.hand_indices(node.hands)]

    acts = seat == node.seat
    reach = (node.assumed_ranges if acts else node.reach)[seat]
    probabilities = dict(zip(node.moves, node.action_probabilities.T, strict=True)) if acts else None
    return class_grid(cells, reach, node.deal_weights[seat], probabilities, f"{node_title(node)}: {SEATS[seat]}")
