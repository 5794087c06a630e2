"""Action trees: golden counts, a plain traversal of the betting states, and lookup of lines."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.holdem import action_tree
from riverboat.games.holdem.action_tree import (
    CALL,
    FOLD,
    RAISE,
    TERMINAL_ACTOR,
    ActionTree,
    BettingTreeSize,
    compile_action_tree,
    measure_action_tree,
)
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.menus import ActionMenu, every_size_menu, menu_raise_totals, one_size_menu, parse_menu
from riverboat.games.holdem.rules import PokerRules, read_game

NOLIMIT = read_game("nolimit-200bb")
ROYAL = PokerRules(blinds=(2, 1), stacks=(20, 20), board=(0, 3), ranks=5, name="royal")
MIXED = parse_menu(
    """
    preflop = ["2x, 3x, a", "100%, a"]
    flop = ["50%, 100%, a", "100%", "a"]
    turn = ["e", "2.5x, a"]
    most_raises = [3, 3, 2, 1]
    force_all_in = "20%"
    [ip]
    preflop = ["2.5x", "3x, a"]
    flop = "75%"
    """
)


def per_street(shape: BettingTreeSize) -> list[int]:
    return [sum(both) for both in shape.decisions]


# --- golden counts ---


def test_limit_holdem() -> None:
    """8 nodes before the flop with 7 continuations, then 10 with 9; information sets of Johanson (2013)."""
    tree = compile_action_tree(read_game("limit"))
    assert per_street(tree.shape) == [8, 70, 630, 5670]
    raw = tree.table_size((1326, 25_989_600, 1_221_511_200, 56_189_515_200))
    assert sum(raw.infosets) == 319_365_922_522_608
    canonical = tree.table_size((169, 1_286_792, 55_190_538, 2_428_287_420))
    assert sum(canonical.infosets) == 13_803_249_787_132


def test_leduc_and_kuhn() -> None:
    """6 nodes in a round and 5 continuations; 936 information sets with six cards, 30 terminals of Kuhn in 6 deals."""
    leduc, kuhn = compile_action_tree(read_game("leduc")), compile_action_tree(read_game("kuhn"))
    assert per_street(leduc.shape) == [6, 30]
    assert sum(leduc.table_size((6, 30)).infosets) == 936
    assert (per_street(kuhn.shape), kuhn.shape.terminals) == ([4], 5)
    assert sum(kuhn.table_size((3,)).infosets) == 12


def test_royal_no_limit() -> None:
    """Two rounds, blinds 1 and 2, stacks of 20, all sizes: counts by the method of Johanson (2013), exact."""
    shape = measure_action_tree(ROYAL, every_size_menu())
    assert per_street(shape) == [1188, 19_996]
    assert [sum(both) for both in shape.actions] == [3561, 57_616]
    # A called all-in before the flop counts here as a showdown of that street, in the paper of the flop.
    assert (shape.folds[1], sum(shape.showdowns)) == (18_810, 19_997)
    counts = shape.table_size((25, 7760))
    assert counts.infosets == (29_700, 155_168_960)
    assert counts.infoset_actions == (89_025, 447_100_160)


def test_two_streets_with_one_bet() -> None:
    """[2-1] hold'em: 4 · 169 + 12 · 1,286,792 information sets (Johanson et al. 2012, with the smallest index)."""
    counts = measure_action_tree(read_game("bench-2x52"), one_size_menu()).table_size((169, 1_286_792))
    assert sum(counts.infosets) == 15_442_180


# --- reference traversal ---


def walk(tree: ActionTree, menu: ActionMenu | None) -> int:
    """Traverse the states of `BettingState` along the tree; return the number of nodes."""
    met, work = 0, [(0, BettingState.start(tree.rules))]
    while work:
        node, state = work.pop()
        met += 1
        assert tree.line(node).rstrip("/") == state.line.rstrip("/")
        over_on = state.street
        while state.actor == CHANCE:
            state = state.next_street()
        assert tree.line(node) == state.line
        assert tuple(tree.spent[node]) == state.spent
        if state.actor == TERMINAL:
            assert (tree.actor[node], tree.count[node], tree.first[node], tree.slot[node]) == (
                TERMINAL_ACTOR,
                0,
                -1,
                -1,
            )
            assert tree.street[node] == over_on
            assert tree.showdown[node] == state.showdown
            assert tree.payoff[node] == state.payoffs()[0][0]
            continue
        assert (tree.actor[node], tree.street[node]) == (state.actor, state.street)
        assert not tree.showdown[node]
        raises = [f"r{total}" if not tree.rules.limit else "r" for total in menu_raise_totals(menu, state)]
        moves = [*(move for move in "fc" if state.find_action(move) is not None), *raises]
        assert tree.actions(node) == tuple(moves)
        for move, child in zip(moves, tree.children(node), strict=True):
            after = state.apply_action(state.parse_action(move))
            assert tree.parent[child] == node
            assert tree.total[child] == after.spent[state.actor]
            assert tree.kind[child] == {"f": FOLD, "c": CALL, "r": RAISE}[move[0]]
            work.append((child, after))
    return met


TREES = [
    (read_game("kuhn"), None),
    (read_game("leduc"), None),
    (read_game("limit"), None),
    (replace(read_game("limit"), stacks=(45, 45)), None),
    (replace(ROYAL, stacks=(12, 12)), every_size_menu()),
    (read_game("bench-3x20"), one_size_menu()),
    (replace(NOLIMIT, stacks=(2000, 2000)), MIXED),
    (PokerRules(blinds=(1, 1), stacks=(13, 13), board=(0, 1), hole=1, ranks=3, suits=2), one_size_menu("50%, a")),
]
NAMES = ["kuhn", "leduc", "limit", "limit-short", "royal", "bench", "mixed", "leduc-nolimit"]


@pytest.mark.parametrize(("rules", "menu"), TREES, ids=NAMES)
def test_the_tree_agrees_with_the_betting_states(rules: PokerRules, menu: ActionMenu | None) -> None:
    tree = compile_action_tree(rules, menu)
    assert walk(tree, menu) == len(tree)


@pytest.mark.parametrize(("rules", "menu"), TREES, ids=NAMES)
def test_layout(rules: PokerRules, menu: ActionMenu | None) -> None:
    tree = compile_action_tree(rules, menu)
    nodes, decisions = np.arange(len(tree)), np.flatnonzero(tree.actor >= 0)
    assert (tree.parent < nodes).all()
    assert tree.count[decisions].min() >= 1
    # Children are adjacent, each node occurs once: blocks of children cover all nodes but the root.
    covered = np.concatenate(
        [np.arange(first, first + n) for first, n in zip(tree.first, tree.count, strict=True) if n]
    )
    assert sorted(covered) == list(nodes[1:])
    assert (tree.first[decisions] > decisions).all()
    # Slots of one street follow each other in the order of the nodes.
    for street in range(rules.rounds):
        here = decisions[tree.street[decisions] == street]
        ends = np.cumsum(tree.count[here])
        np.testing.assert_array_equal(tree.slot[here], ends - tree.count[here])
        assert tree.width[street] == ends[-1]
    # The measured size is the size of the tree.
    shape = measure_action_tree(rules, menu)
    assert shape == tree.shape
    assert shape.nodes == len(tree)
    for street in range(rules.rounds):
        there = tree.street == street
        for seat in range(2):
            own = there & (tree.actor == seat)
            assert (shape.decisions[street][seat], shape.actions[street][seat]) == (own.sum(), tree.count[own].sum())
        over = there & (tree.actor == TERMINAL_ACTOR)
        assert (shape.folds[street], shape.showdowns[street]) == (
            (over & ~tree.showdown).sum(),
            (over & tree.showdown).sum(),
        )
    types = {"actor": "int8", "street": "int8", "first": "int32", "count": "int8", "parent": "int32", "kind": "int8"}
    types |= {
        "total": "int32",
        "spent": "int32",
        "showdown": "bool",
        "payoff": "int32",
        "slot": "int32",
        "width": "int64",
    }
    assert {name: str(getattr(tree, name).dtype) for name in types} == types


@pytest.mark.parametrize(("rules", "menu"), TREES, ids=NAMES)
def test_small_trees_do_not_load_compiled_loops(
    rules: PokerRules, menu: ActionMenu | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that only loads an agent need not load compiled loops; larger trees are unrolled by them, to the same
    arrays.
    """
    few = compile_action_tree(rules, menu)
    monkeypatch.setattr(action_tree, "MAX_INTERPRETED_NODES", 0)
    many = compile_action_tree(rules, menu)
    for name in ("first", "parent", "kind", "total", "slot", "payoff"):
        np.testing.assert_array_equal(getattr(few, name), getattr(many, name))


def test_subtrees_of_children_are_in_order() -> None:
    """Blocks of children are in depth-first order."""
    tree = compile_action_tree(replace(NOLIMIT, stacks=(2000, 2000)), MIXED)
    order, work = [], [0]
    while work:
        node = work.pop()
        if tree.count[node]:
            order.append(int(tree.first[node]))
            work += reversed(tree.children(node))
    assert order == sorted(order)


# --- lines ---


def test_lines_round_trip() -> None:
    tree = compile_action_tree(NOLIMIT, MIXED)
    dice = random.Random(7)
    for node in [0, *(dice.randrange(len(tree)) for _ in range(500))]:
        line = tree.line(node)
        assert tree.find(line) == node
        assert tree.find(line.rstrip("/")) == node
        assert BettingState.from_line(NOLIMIT, line).line == line


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("r260", "'r260' at '' in this tree: f, c, r250"),
        ("cc/cc/r100", "'r100' at 'cc/cc/' in this tree: c, r"),
        ("fc", "'c' at 'f' in this tree"),
        ("cccc", "'cc/cc/'"),
        ("c/c", "'cc/'"),
        ("cc//", "'cc/'"),
        ("cb3", "'b' (letter 2)"),
    ],
)
def test_invalid_lines(line: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        compile_action_tree(NOLIMIT, MIXED).find(line)
    assert message in str(caught.value)


def test_missing_nodes() -> None:
    with pytest.raises(InputError, match="node -1"):
        compile_action_tree(read_game("kuhn")).line(-1)


def test_a_called_all_in_deals_all_streets() -> None:
    tree = compile_action_tree(NOLIMIT, one_size_menu("a"))
    node = tree.find("r20000c")
    assert tree.line(node) == "r20000c///"
    assert (tree.actor[node], tree.street[node], tree.showdown[node], tree.payoff[node]) == (
        TERMINAL_ACTOR,
        0,
        True,
        20_000,
    )


def test_the_shorter_stack_limits_the_tree() -> None:
    short, even = (compile_action_tree(replace(NOLIMIT, stacks=s), MIXED) for s in ((5000, 2000), (2000, 2000)))
    np.testing.assert_array_equal(short.total, even.total)
    np.testing.assert_array_equal(short.payoff, even.payoff)


# --- sizes and limits ---


def test_the_table_of_sizes() -> None:
    counts = measure_action_tree(read_game("limit")).table_size((169, 100, 100, 1_000_000), entry_bytes=10)
    lines = str(counts).splitlines()
    assert lines[0].startswith(
        "limit: 16,584 nodes, 6,378 decisions and 10,206 terminals (5,103 folds, 5,103 showdowns)"
    )
    assert lines[1].split() == [
        "street",
        "decisions",
        "actions",
        "buckets",
        *["information", "sets", "infoset-actions", "memory"],
    ]
    assert lines[2].split() == ["preflop", "8", "21", "169", "1,352", "3,549", "35.5", "kB"]
    assert lines[5].split() == ["river", "5,670", "14,742", "1,000,000", "5,670,000,000", "14,742,000,000", "147", "GB"]
    assert lines[6].split()[0] == "all"
    assert lines[7] == "at 10 bytes an infoset-action"
    assert counts.bytes[0] == 35_490
    with pytest.raises(InputError, match=r"buckets=\(1, 2\): .*preflop, flop"):
        counts.tree_size.table_size((1, 2))


def test_trees_that_are_too_large() -> None:
    with pytest.raises(MemoryLimitError, match=r"34 nodes .* 30 "):
        compile_action_tree(read_game("bench-2x52"), one_size_menu(), max_nodes=30)
    with pytest.raises(InputError, match=r"19803 .*preflop.* 127"):
        measure_action_tree(NOLIMIT, every_size_menu())
    with pytest.raises(InputError, match="'nolimit-200bb'"):
        compile_action_tree(NOLIMIT)


def test_sizes_of_trees_that_are_too_large_to_build() -> None:
    """Sizes are counted over states, not nodes. The reference is Johanson's (2013) recursion."""
    rounds, stack = 4, 30

    @cache
    def decisions(street: int, rest: int, facing: bool, least: int, opening: bool) -> int:
        """`rest`: the most that a raise may add; `least`: what it must, unless it is all-in."""
        count = 1
        if opening:
            count += decisions(street, rest, False, least, False)
        elif rest and street + 1 < rounds:
            count += decisions(street + 1, rest, False, 2, True)
        raises = {*range(least, rest + 1), rest} - {0}
        return count + sum(decisions(street, rest - by, True, max(least, by), False) for by in raises)

    shape = measure_action_tree(
        replace(ROYAL, stacks=(stack, stack), board=(0, 3, 1, 1), first=(1, 0, 0, 0)), every_size_menu()
    )
    assert sum(per_street(shape)) == decisions(0, stack - 2, True, 2, True)
    assert shape.nodes == sum(map(sum, shape.actions)) + 1
    assert shape.nodes > 10**8
    # A fold for each raise and for the small blind; a showdown for each call.
    assert sum(shape.folds) == sum(shape.showdowns)


def test_fingerprints() -> None:
    trees = [compile_action_tree(NOLIMIT, one_size_menu(size)) for size in ("100%", "100%", "99%")]
    assert trees[0].fingerprint == trees[1].fingerprint != trees[2].fingerprint
    other = compile_action_tree(replace(NOLIMIT, suits=3), one_size_menu("100%"))
    assert other.fingerprint != trees[0].fingerprint
