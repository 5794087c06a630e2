"""Trees of betting: golden counts, a plain twin that walks the states one by one, and the way lines are found."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.holdem import action_tree
from riverboat.games.holdem.action_tree import CALL, FOLD, OVER, RAISE, ActionTree, Shape, compile_actions, measure
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.menus import Menu, every_size, one_size, parse_menu, totals
from riverboat.games.holdem.rules import Rules, read_game

NOLIMIT = read_game("nolimit-200bb")
ROYAL = Rules(blinds=(2, 1), stacks=(20, 20), board=(0, 3), ranks=5, name="royal")
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


def per_street(shape: Shape) -> list[int]:
    return [sum(both) for both in shape.decisions]


# --- golden counts ----------------------------------------------------------------------------


def test_limit_holdem() -> None:
    """8 nodes before the flop with 7 continuations, then 10 with 9; information sets of Johanson (2013)."""
    tree = compile_actions(read_game("limit"))
    assert per_street(tree.shape) == [8, 70, 630, 5670]
    raw = tree.counts((1326, 25_989_600, 1_221_511_200, 56_189_515_200))
    assert sum(raw.infosets) == 319_365_922_522_608
    canonical = tree.counts((169, 1_286_792, 55_190_538, 2_428_287_420))
    assert sum(canonical.infosets) == 13_803_249_787_132


def test_leduc_and_kuhn() -> None:
    """6 nodes in a round and 5 continuations; 936 information sets with six cards, 30 terminals of Kuhn in 6 deals."""
    leduc, kuhn = compile_actions(read_game("leduc")), compile_actions(read_game("kuhn"))
    assert per_street(leduc.shape) == [6, 30]
    assert sum(leduc.counts((6, 30)).infosets) == 936
    assert (per_street(kuhn.shape), kuhn.shape.terminals) == ([4], 5)
    assert sum(kuhn.counts((3,)).infosets) == 12


def test_royal_no_limit() -> None:
    """Two rounds, blinds 1 and 2, stacks of 20, all sizes: counts by the method of Johanson (2013), exact."""
    shape = measure(ROYAL, every_size())
    assert per_street(shape) == [1188, 19_996]
    assert [sum(both) for both in shape.actions] == [3561, 57_616]
    # All-in before the flop counts here as a showdown of that street, there of the flop.
    assert (shape.folds[1], sum(shape.showdowns)) == (18_810, 19_997)
    counts = shape.counts((25, 7760))
    assert counts.infosets == (29_700, 155_168_960)
    assert counts.infoset_actions == (89_025, 447_100_160)


def test_two_streets_with_one_bet() -> None:
    """[2-1] hold'em: 4 · 169 + 12 · 1,286,792 information sets (Johanson et al. 2012, with the smallest index)."""
    counts = measure(read_game("bench-2x52"), one_size()).counts((169, 1_286_792))
    assert sum(counts.infosets) == 15_442_180


# --- a plain twin -----------------------------------------------------------------------------


def walk(tree: ActionTree, menu: Menu | None) -> int:
    """Follow the states of `Betting` through the tree; nodes met."""
    met, work = 0, [(0, Betting.start(tree.rules))]
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
            assert (tree.actor[node], tree.count[node], tree.first[node], tree.slot[node]) == (OVER, 0, -1, -1)
            assert tree.street[node] == over_on
            assert tree.showdown[node] == state.showdown
            assert tree.pay[node] == state.pay()[0][0]
            continue
        assert (tree.actor[node], tree.street[node]) == (state.actor, state.street)
        assert not tree.showdown[node]
        raises = [f"r{total}" if not tree.rules.limit else "r" for total in totals(menu, state)]
        moves = [*(move for move in "fc" if state.legal(move)), *raises]
        assert tree.moves(node) == tuple(moves)
        for move, child in zip(moves, tree.children(node), strict=True):
            after = state.play(move)
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
    (replace(ROYAL, stacks=(12, 12)), every_size()),
    (read_game("bench-3x20"), one_size()),
    (replace(NOLIMIT, stacks=(2000, 2000)), MIXED),
    (Rules(blinds=(1, 1), stacks=(13, 13), board=(0, 1), hole=1, ranks=3, suits=2), one_size("50%, a")),
]
NAMES = ["kuhn", "leduc", "limit", "limit-short", "royal", "bench", "mixed", "leduc-nolimit"]


@pytest.mark.parametrize(("rules", "menu"), TREES, ids=NAMES)
def test_the_tree_is_the_walk_of_the_states(rules: Rules, menu: Menu | None) -> None:
    tree = compile_actions(rules, menu)
    assert walk(tree, menu) == len(tree)


@pytest.mark.parametrize(("rules", "menu"), TREES, ids=NAMES)
def test_layout(rules: Rules, menu: Menu | None) -> None:
    tree = compile_actions(rules, menu)
    nodes, decisions = np.arange(len(tree)), np.flatnonzero(tree.actor >= 0)
    assert (tree.parent < nodes).all()
    assert tree.count[decisions].min() >= 1
    # Children side by side, each node once: blocks of children cover all nodes but the root.
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
    # What was counted before is what was built.
    shape = measure(rules, menu)
    assert shape == tree.shape
    assert shape.nodes == len(tree)
    for street in range(rules.rounds):
        there = tree.street == street
        for seat in range(2):
            own = there & (tree.actor == seat)
            assert (shape.decisions[street][seat], shape.actions[street][seat]) == (own.sum(), tree.count[own].sum())
        over = there & (tree.actor == OVER)
        assert (shape.folds[street], shape.showdowns[street]) == (
            (over & ~tree.showdown).sum(),
            (over & tree.showdown).sum(),
        )
    types = {"actor": "int8", "street": "int8", "first": "int32", "count": "int8", "parent": "int32", "kind": "int8"}
    types |= {"total": "int32", "spent": "int32", "showdown": "bool", "pay": "int32", "slot": "int32", "width": "int64"}
    assert {name: str(getattr(tree, name).dtype) for name in types} == types


@pytest.mark.parametrize(("rules", "menu"), TREES, ids=NAMES)
def test_small_trees_need_no_compiled_loop(rules: Rules, menu: Menu | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who only reads an agent does not wait for loops; a larger tree is unrolled by them, to the same arrays."""
    few = compile_actions(rules, menu)
    monkeypatch.setattr(action_tree, "FEW_NODES", 0)
    many = compile_actions(rules, menu)
    for name in ("first", "parent", "kind", "total", "slot", "pay"):
        np.testing.assert_array_equal(getattr(few, name), getattr(many, name))


def test_what_is_below_one_child_comes_before_the_next() -> None:
    """Blocks of children lie in the order of a walk in depth."""
    tree = compile_actions(replace(NOLIMIT, stacks=(2000, 2000)), MIXED)
    order, work = [], [0]
    while work:
        node = work.pop()
        if tree.count[node]:
            order.append(int(tree.first[node]))
            work += reversed(tree.children(node))
    assert order == sorted(order)


# --- lines ------------------------------------------------------------------------------------


def test_lines_are_found_again() -> None:
    tree = compile_actions(NOLIMIT, MIXED)
    dice = random.Random(7)
    for node in [0, *(dice.randrange(len(tree)) for _ in range(500))]:
        line = tree.line(node)
        assert tree.find(line) == node
        assert tree.find(line.rstrip("/")) == node
        assert Betting.from_line(NOLIMIT, line).line == line


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("r260", "no move 'r260' at '' in this tree: f, c, r250"),
        ("cc/cc/r100", "no move 'r100' at 'cc/cc/' in this tree: c, r"),
        ("fc", "no move 'c' at 'f' in this tree: the hand is over"),
        ("cccc", "deals are not where rounds end; write 'cc/cc/'"),
        ("c/c", "deals are not where rounds end; write 'cc/'"),
        ("cc//", "deals are not where rounds end; write 'cc/'"),
        ("cb3", "'b' (letter 2) is no move"),
    ],
)
def test_lines_that_are_refused(line: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        compile_actions(NOLIMIT, MIXED).find(line)
    assert message in str(caught.value)


def test_nodes_that_are_not_there() -> None:
    with pytest.raises(InputError, match="node -1: the tree has nodes 0 to 8"):
        compile_actions(read_game("kuhn")).line(-1)


def test_all_in_is_run_out() -> None:
    tree = compile_actions(NOLIMIT, one_size("a"))
    node = tree.find("r20000c")
    assert tree.line(node) == "r20000c///"
    assert (tree.actor[node], tree.street[node], tree.showdown[node], tree.pay[node]) == (OVER, 0, True, 20_000)


def test_unequal_stacks_are_as_deep_as_the_shorter() -> None:
    short, even = (compile_actions(replace(NOLIMIT, stacks=s), MIXED) for s in ((5000, 2000), (2000, 2000)))
    np.testing.assert_array_equal(short.total, even.total)
    np.testing.assert_array_equal(short.pay, even.pay)


# --- sizes and limits -------------------------------------------------------------------------


def test_the_summary() -> None:
    counts = measure(read_game("limit")).counts((169, 100, 100, 1_000_000), entry_bytes=10)
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
    with pytest.raises(InputError, match=r"buckets=\(1, 2\): give a number above zero for each of preflop, flop"):
        counts.shape.counts((1, 2))


def test_trees_that_are_too_large() -> None:
    with pytest.raises(MemoryLimitError, match=r"has 34 nodes .* more than the 30 allowed"):
        compile_actions(read_game("bench-2x52"), one_size(), most_nodes=30)
    with pytest.raises(InputError, match="19803 moves for one decision on the preflop: at most 127"):
        measure(NOLIMIT, every_size())
    with pytest.raises(InputError, match="needs a menu"):
        compile_actions(NOLIMIT)


def test_counts_of_a_tree_that_is_not_built() -> None:
    """Counted through states, not nodes: exact where little could be built. The twin: Johanson's (2013) recursion."""
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

    shape = measure(replace(ROYAL, stacks=(stack, stack), board=(0, 3, 1, 1), first=(1, 0, 0, 0)), every_size())
    assert sum(per_street(shape)) == decisions(0, stack - 2, True, 2, True)
    assert shape.nodes == sum(map(sum, shape.actions)) + 1
    assert shape.nodes > 10**8
    # A fold for each raise and for the small blind; a showdown for each way to be called.
    assert sum(shape.folds) == sum(shape.showdowns)


def test_fingerprints() -> None:
    trees = [compile_actions(NOLIMIT, one_size(size)) for size in ("100%", "100%", "99%")]
    assert trees[0].fingerprint == trees[1].fingerprint != trees[2].fingerprint
    other = compile_actions(replace(NOLIMIT, suits=3), one_size("100%"))
    assert other.fingerprint != trees[0].fingerprint
