"""Boards and rows: their numbers, what they represent, and the maps between streets."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pytest

from riverboat.cards.deck import HAND_CARDS, NUM_HANDS, Deck, hand_index
from riverboat.cards.isomorphism import HandIndexer
from riverboat.cards.notation import parse_cards
from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.boards.holdem import holdem
from riverboat.games.spots.locks import NodeLock
from riverboat.games.spots.spot import Spot
from riverboat.trees.betting import MAX_BATCH_TERMINALS
from riverboat.trees.boards import NO_ROW, BoardTree

WIDE = {"pot": 10, "stack": 20, "bets": "50%", "oop": "random", "ip": "random"}
SMALL: dict[str, Any] = {"pot": 10, "stack": 30, "bets": "50%", "raises": "a", "deck": Deck.small(5, 4)}


def spot(board: str, **changes: Any) -> BoardTree:
    return BoardTree(Spot.make(board=board, **({**WIDE, **changes})))


@pytest.fixture(scope="module")
def two_one() -> BoardTree:
    return BoardTree(holdem("2-1"))


# --- counts -----------------------------------------------------------------------------------


def test_two_one_holdem(two_one: BoardTree) -> None:
    """4 · 169 + 12 · 1,286,792 information sets: decisions before and after the flop times classes of hands (Waugh 2013).

    Johanson et al. 2012 round to 16 million, with an index of flops and hands that had some gaps.
    """
    assert np.diff(two_one.street_start).tolist() == [1, 1755]
    assert two_one.rows[0].tolist() == [169, 169]
    assert two_one.infoset_count == 15_442_180
    # two cards and a flop, by Waugh's index
    assert two_one.rows[1:].sum(axis=0).tolist() == [HandIndexer((2, 3)).size()] * 2
    assert np.diff(two_one.boards.member)[1:].sum() == comb(52, 3)


def test_rows_of_a_flop_are_the_classes_of_hands_on_it(two_one: BoardTree) -> None:
    """The rows of a flop are the classes of (flop, hand) with this flop."""
    indexer = HandIndexer((3, 2))
    for board in range(1, 1756, 97):
        flop = np.array(two_one.deals.dealt_cards(board))
        hands = HAND_CARDS[~np.isin(HAND_CARDS, flop).any(axis=1)]
        deals = np.concatenate([np.broadcast_to(flop, (len(hands), 3)), hands], axis=1).astype(np.uint8)
        classes = indexer.index(deals)
        row = two_one.row_of[board, 0][[hand_index(int(a), int(b)) for a, b in hands]]
        assert two_one.rows[board].tolist() == [len(np.unique(classes))] * 2
        # the same partition, not only the same number of parts
        assert len({*zip(classes.tolist(), row.tolist(), strict=True)}) == len(np.unique(classes))
        assert (row != NO_ROW).all()


@pytest.mark.parametrize(("ranks", "suits"), [(4, 4), (5, 3), (6, 2)])
def test_small_decks_from_the_deal(ranks: int, suits: int) -> None:
    deck = Deck.small(ranks, suits)
    tree = BoardTree(holdem("3-1", ranks=ranks, suits=suits))
    assert tree.rows[0].tolist() == [HandIndexer.for_deck(deck, (2,)).size()] * 2
    for street, rounds in ((1, (2, 3)), (2, (2, 3, 1))):
        rows = tree.rows[tree.street_start[street] : tree.street_start[street + 1]].sum(axis=0)
        assert rows.tolist() == [HandIndexer.for_deck(deck, rounds).size()] * 2
        boards = tree.street_start[street + 1] - tree.street_start[street]
        assert boards == HandIndexer.for_deck(deck, rounds[1:]).size()


@pytest.mark.parametrize(
    ("board", "turns"),
    [
        ("AsKsTs", 10 + 13),  # monotone: its suit, or one of three equivalent ones
        ("AsKsTh", 11 + 12 + 13),  # two-tone: clubs and diamonds are equivalent
        ("AsKhTd", 12 * 3 + 13),  # rainbow: four different suits
        ("AsAhAd", 12 + 13),  # a set: three equivalent suits of the board, and the fourth
        ("AsAhKs", 11 + 12 + 13),  # spades have two cards, hearts one
        ("AsAhKd", 12 + 12 + 13),  # the suits of the two aces are equivalent
    ],
)
def test_turn_cards_of_a_flop(board: str, turns: int) -> None:
    tree = spot(board)
    assert tree.street_start[2] - tree.street_start[1] == turns
    # rivers: by brute force over all pairs of cards, up to the permutations of suits that fix the flop
    flop = parse_cards(board, "board")
    keeps = [m for m in tree.deals.card_maps if {int(m[c]) for c in flop} == set(flop)]
    assert len(keeps) == len(tree.deals.card_maps)
    left = [c for c in range(52) if c not in flop]
    classes = {min((int(m[t]), int(m[r])) for m in keeps) for t in left for r in left if t != r}
    assert tree.street_start[3] - tree.street_start[2] == len(classes)


@pytest.mark.parametrize(("ip", "shared"), [("QQ,JTs", True), ("QQ,JTs,99", False)])
def test_players_with_the_same_hands_have_one_layout(ip: str, shared: bool) -> None:
    tree = spot("AsKsTs", oop="QQ,JTs", ip=ip)
    for player in (0, 1):  # every row maps to the parent row of its representative hand, also in a shared layout
        for board in range(1, len(tree.rows)):
            at, above = tree.boards.up_at[board, player], int(tree.deals.parents[board])
            up = tree.boards.up[at : at + tree.rows[board, player]]
            assert up.tolist() == tree.row_of[above, player][tree.representatives(board, player)].tolist()
    assert np.shares_memory(tree.row_of[:, 0], tree.row_of[:, 1]) == shared
    assert len(tree.boards.up) == tree.rows[:, : 1 if shared else 2].sum()
    rows_of = tree.row_of[:, 0].size + (0 if shared else tree.row_of[:, 1].size)
    assert tree.layout_bytes == sum(a.nbytes for a in tree.boards) + 2 * rows_of + tree.representative_hands.nbytes


def test_ranges_break_symmetries() -> None:
    assert len(spot("AsKsTs").deals.card_maps) == 6
    assert len(spot("AsKsTs", oop="QQ,JcTc").deals.card_maps) == 2
    assert len(spot("AsKsTs", oop="QQ,JcTc", ip="JdTd,99").deals.card_maps) == 1
    assert len(spot("AsKsTs", oop="JcTc:0.5,JdTd:0.5,JhTh:0.25").deals.card_maps) == 2
    tree = spot("AsKsTs", oop="QQ,JcTc", ip="JdTd,99")
    assert np.diff(tree.street_start).tolist() == [1, 49, 49 * 48]
    assert (np.diff(tree.boards.member)[1:] == 1).all()


def test_locks_break_symmetries() -> None:
    given: dict[str, Any] = {**WIDE, "board": "AsKsTs"}
    for lock, symmetries in (
        (NodeLock("x", (("x", 1.0),)), 6),
        (NodeLock("x-x/9d", (("x", 1.0),)), 2),
        (NodeLock("x-x/9s", (("x", 1.0),)), 6),
        (NodeLock("x-x/9d-x-x/8h", (("x", 1.0),)), 1),
        (NodeLock("x", (("x", 1.0),), Spot.make(**{**given, "oop": "QQ,JcTc"}).ranges[0]), 2),
    ):
        assert len(BoardTree(Spot.make(**given, locks=[lock])).deals.card_maps) == symmetries


# --- maps -------------------------------------------------------------------------------------

TREES = {
    "monotone": lambda: spot("AsKsTs", **{**SMALL, "oop": "AA,KQs:0.5,JJ:0.3,QTo", "ip": "QQ,AJs,KK,QJo:0.2"}),
    "two-tone": lambda: spot("AsKsTh", **{**SMALL, "oop": "random", "ip": "random"}),
    "asymmetric": lambda: spot("AsKhTd", **{**SMALL, "oop": "AdAc,KdQd", "ip": "QQ,AcJc"}),
    "turn": lambda: spot("AsKsTsJs"),
    "from the deal": lambda: BoardTree(holdem("3-1", ranks=4, suits=4)),
}


@pytest.fixture(params=TREES, scope="module")
def tree(request: pytest.FixtureRequest) -> BoardTree:
    return TREES[request.param]()


def cards_of(mask: int) -> tuple[int, ...]:
    return tuple(c for c in range(52) if mask >> c & 1)


def test_members_are_all_that_can_be_dealt(tree: BoardTree) -> None:
    member, child = tree.boards.member, tree.boards.child
    for street, count in enumerate(tree.game.deals):
        for b in range(tree.street_start[street], tree.street_start[street + 1]):
            seen = [cards_of(int(m)) for m in tree.deals.member_masks[member[child[b]] : member[child[b + 1]]]]
            left = [c for c in tree.game.deck.cards.tolist() if not int(tree.deals.masks[b]) >> c & 1]
            assert sorted(seen) == sorted(combinations(left, count))
            for c in range(child[b], child[b + 1]):
                assert tree.deals.parents[c] == b
                assert int(tree.deals.masks[c]) == int(tree.deals.masks[b]) | sum(
                    1 << x for x in tree.deals.dealt_cards(c)
                )
                assert tree.boards.chance[c] == pytest.approx(1 / comb(len(left) - 4, count))
                # a permutation that fixes the parent board maps each member to its representative
                for m in range(member[c], member[c + 1]):
                    card_map = tree.deals.card_maps[tree.deals.member_symmetry[m]]
                    assert tuple(
                        sorted(int(card_map[x]) for x in cards_of(int(tree.deals.member_masks[m])))
                    ) == tree.deals.dealt_cards(c)
                    assert {int(card_map[x]) for x in cards_of(int(tree.deals.masks[b]))} == set(
                        cards_of(int(tree.deals.masks[b]))
                    )


def test_row_maps_down_and_up_are_inverse(tree: BoardTree) -> None:
    """Row r maps to `down[r]` for every card of its class, and that row maps back to r."""
    t = tree.boards
    for b in range(1, len(tree.deals.masks)):
        above = tree.deals.parents[b]
        for p in (0, 1):
            up = t.up[t.up_at[b, p] : t.up_at[b, p] + t.rows[b, p]]
            np.testing.assert_array_equal(up, tree.row_of[above, p][tree.representatives(b, p)])
            for m in range(t.member[b], t.member[b + 1]):
                down = t.down[t.down_at[m, p] : t.down_at[m, p] + t.rows[above, p]]
                blocked = np.isin(
                    HAND_CARDS[tree.representatives(above, p)], cards_of(int(tree.deals.member_masks[m]))
                ).any(axis=1)
                np.testing.assert_array_equal(down == t.rows[b, p], blocked)  # only hands with the card are blocked
                went = np.flatnonzero(~blocked)
                np.testing.assert_array_equal(up[down[went]], went)


def test_rows_are_orbits(tree: BoardTree) -> None:
    """Hands share a row if and only if a permutation of suits that fixes board and ranges exchanges them."""
    for b in range(0, len(tree.deals.masks), max(1, len(tree.deals.masks) // 40)):
        board = set(cards_of(int(tree.deals.masks[b])))
        history = []
        at = b
        while at:
            history.append(set(tree.deals.dealt_cards(at)))
            at = tree.deals.parents[at]
        keeps = [
            (m, h)
            for m, h in zip(tree.deals.card_maps, tree.deals.hand_maps, strict=True)
            if all({int(m[c]) for c in deal} == deal for deal in history)
        ]
        for p in (0, 1):
            for h in range(NUM_HANDS):
                row = tree.row_of[b, p][h]
                live = tree.game.weights[p][h] > 0 and not set(HAND_CARDS[h].tolist()) & board
                assert (row != NO_ROW) == live
                if live:
                    assert {int(tree.row_of[b, p][image[h]]) for _, image in keeps} == {int(row)}
                    assert any(image[h] == tree.representatives(b, p)[row] for _, image in keeps)


# --- tables -----------------------------------------------------------------------------------


def test_table_blocks_cover_every_entry_once(tree: BoardTree) -> None:
    taken = np.zeros(tree.table_size, int)
    infosets = 0
    for b in range(len(tree.deals.masks)):
        street = tree.street_of(b)
        for n in range(tree.forest.first[street], tree.forest.first[street + 1]):
            who = int(tree.forest.actor[n])
            if who >= 0:
                rows, width = int(tree.boards.rows[b, who]), int(tree.forest.width[n])
                at = int(tree.boards.base[b, who]) + int(tree.forest.slot[n]) * rows
                taken[at : at + width * rows] += 1
                infosets += rows
                assert width == len(tree.betting.actions(int(tree.forest.node[n])))
    assert (taken == 1).all()
    assert tree.action_count == tree.table_size
    assert tree.infoset_count == infosets


def test_streets_are_cut_from_the_betting(tree: BoardTree) -> None:
    f, betting = tree.forest, tree.betting
    assert sorted(f.node.tolist()) == list(range(len(betting.actor)))
    np.testing.assert_array_equal(f.actor, betting.actor[f.node])
    assert (f.actor == CHANCE).sum() == len(f.root) - 1
    exits, roots = f.node[f.actor == CHANCE], f.node[f.root]
    np.testing.assert_array_equal(roots[1:], exits + 1)  # exit k and root k + 1 are the two ends of a deal
    assert sum(int((f.actor[low:high] == TERMINAL).sum()) for low, high in f.batch) == (betting.actor == TERMINAL).sum()


def test_every_terminal_is_evaluated_once_with_its_own_reach(tree: BoardTree) -> None:
    f, betting = tree.forest, tree.betting
    for me, seat in enumerate(tree.seats):
        for (low, high), (first, mixed, last) in zip(f.batch, seat.chunk, strict=True):
            by_value = {int(seat.value[n]): n for n in range(low, high) if f.actor[n] == TERMINAL}
            paid = []
            for chunk in range(first, last):
                for lane in range(16):
                    shown = by_value.get(int(seat.lane_value[chunk, lane]))
                    fold = by_value.get(int(seat.lane_fold[chunk, lane]))
                    for n in (shown, fold):
                        if n is not None:
                            paid.append(n)
                            assert seat.opp[n] == seat.lane_opp[chunk, lane]
                    if shown is not None and betting.showdown[f.node[shown]]:
                        assert chunk < mixed
                    if fold is not None:
                        assert betting.showdown[f.node[shown]]
                        assert not betting.showdown[f.node[fold]]
                        assert (seat.pay[chunk, 3, lane] == betting.payoffs[f.node[fold], :, me]).all()
            assert sorted(paid) == sorted(by_value.values())


def test_size_of_batches() -> None:
    tree = spot("AsKsTs", oop="QQ", ip="JJ", stack=300, bets="30%, 70%, a", raises="50%, a")
    f = tree.forest
    last = [int((f.actor[low:high] == TERMINAL).sum()) for low, high in f.batch[f.batch_at[-2] : f.batch_at[-1]]]
    assert len(last) > 1
    single = max(int((f.actor[r : f.end[r]] == TERMINAL).sum()) for r in f.root)
    assert max(last) <= max(MAX_BATCH_TERMINALS, single)


def test_total_counts_compatible_pairs() -> None:
    tree = spot("AsKhTd", **{**SMALL, "oop": "AdAc:0.5,KdQd,QJs:0.3", "ip": "QQ,AcJc:0.7,KcKd"})
    total = 0.0
    for h in np.flatnonzero(tree.game.weights[0]):
        for g in np.flatnonzero(tree.game.weights[1]):
            if not set(HAND_CARDS[h].tolist()) & set(HAND_CARDS[g].tolist()):
                total += tree.game.weights[0][h] * tree.game.weights[1][g]
    assert tree.total == pytest.approx(total, rel=1e-12)


def test_locating_a_deal() -> None:
    tree = spot("AsKsTs", oop="QQ,J9s", ip="JJ,T9s")
    for text in ("8c", "8d", "8h"):
        boards, maps = tree.deals.locate((parse_cards(text, ""),))
        image = maps[-1][hand_index(*parse_cards("Qs" + text, ""))]
        assert set(tree.deals.dealt_cards(boards[-1])) <= set(HAND_CARDS[image].tolist())
        assert boards[0] == 0
    same = {tree.deals.locate((parse_cards(t, ""),))[0][-1] for t in ("8c", "8d", "8h")}
    assert len(same) == 1
    twice = tree.deals.locate((parse_cards("8c", ""), parse_cards("8d", "")))[0][-1]
    assert twice == tree.deals.locate((parse_cards("8h", ""), parse_cards("8c", "")))[0][-1]
    for deal in ("As", "8c8d"):
        with pytest.raises(InputError, match=deal):
            tree.deals.locate((parse_cards(deal, ""),))
    with pytest.raises(InputError, match="8c"):
        tree.deals.locate((parse_cards("8c", ""), parse_cards("8c", "")))


def test_fingerprint_depends_on_the_game() -> None:
    given = {**SMALL, "oop": "AdAc,KdQd", "ip": "QQ,AcJc"}
    one = spot("AsKhTd", **given).fingerprint
    assert one == spot("AsKhTd", **given).fingerprint
    others = [
        spot("AsKhTc", **given), spot("AsKhTd", **{**given, "pot": 11}), spot("AsKhTd", **{**given, "oop": "AdAc,KdQd:0.9"}),
        spot("AsKhTd", **{**given, "raises": ""}), spot("AsKhTd", **{**given, "rake": 0.01}),
    ]  # fmt: skip
    assert len({one, *(o.fingerprint for o in others)}) == 6
