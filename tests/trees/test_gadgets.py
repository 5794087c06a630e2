"""Gadget games on both kinds of tree: playable, and consistent with each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from random_games import SEEDS, RandomHistoryGame, RandomPublicGame, history_games, public_games
from riverboat.core.errors import InputError
from riverboat.games.registry import game_from_spec
from riverboat.solvers.exact.lp import solve_lp
from riverboat.solvers.tabular.best_response import quality
from riverboat.strategies.tabular import Strategy
from riverboat.subgames.values import history_reach, subgame_root_values
from riverboat.testing import check_game
from riverboat.trees.compile import compile_game, to_history_tree
from riverboat.trees.gadgets import (
    TreeSubgame,
    check_disjoint,
    find_subgame,
    locked_gadget,
    maxmargin_gadget,
    resolve_gadget,
    unsafe_gadget,
)
from riverboat.trees.history import HistoryTree
from riverboat.trees.public import PublicTree


def some_strategy(tree: PublicTree | HistoryTree, seed: int) -> Strategy:
    random = np.random.default_rng(seed)
    return Strategy.from_sums(tree, random.random(tree.table_size) * (random.random(tree.table_size) > 0.2))


def flat_copy(base: Strategy) -> Strategy:
    flat = to_history_tree(base.tree)
    return Strategy(flat, base.probabilities[flat.origin])


@pytest.mark.parametrize(
    ("spec", "line"), [("coin_toss", "right"), ("kuhn", "c"), ("kuhn", "cr"), ("leduc", "crc/Qs/")]
)
@pytest.mark.parametrize("player", [0, 1])
def test_public_gadget_is_a_public_game(spec: str, line: str, player: int) -> None:
    tree = compile_game(game_from_spec(spec))
    base = some_strategy(tree, 1)
    part = find_subgame(tree, line)
    (entry,) = subgame_root_values(base, player, [part])
    gadget = resolve_gadget(part, player, entry.reach, entry.values)
    assert isinstance(gadget.tree, PublicTree)
    assert check_game(gadget.tree.game).zero_sum


@pytest.mark.parametrize("player", [0, 1])
def test_origin_maps_to_the_whole_tree(player: int) -> None:
    tree = compile_game(game_from_spec("leduc"))
    line = "crc/Qs/"
    base = some_strategy(tree, 2)
    part = find_subgame(tree, line)
    (entry,) = subgame_root_values(base, player, [part])
    known = {infoset.offset: infoset for infoset in tree.infosets()}
    gadgets = {
        "enter": resolve_gadget(part, player, entry.reach, entry.values),
        "": unsafe_gadget(part, (entry.reach, entry.reach)),
        "hand": maxmargin_gadget(part, player, entry.reach, entry.values),
    }
    for front, gadget in gadgets.items():
        own = 0
        for infoset in gadget.tree.infosets():
            if gadget.origin[infoset.offset] < 0:
                own += 1
                assert infoset.player == 1 - player
                continue
            there = known[int(gadget.origin[infoset.offset])]
            assert (there.player, there.actions) == (infoset.player, infoset.actions)
            hand, _, rest = infoset.name.partition(":")
            assert there.name == f"{hand}:{line}{rest.removeprefix(front)}"
            for k in range(len(infoset.actions)):
                assert gadget.origin[infoset.offset + k * infoset.stride] == there.offset + k * there.stride
        assert own == {"enter": 5, "": 0, "hand": 1}[front]


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(("spec", "line"), [("kuhn", "cr"), ("leduc", "crrc/Ks/"), ("leduc", "rc/Jh/")])
def test_both_kinds_of_tree_give_the_same_game(spec: str, line: str, player: int) -> None:
    """If the opponent has acted before, its last sequence identifies its hand."""
    tree = compile_game(game_from_spec(spec))
    base = some_strategy(tree, 3)
    part = find_subgame(tree, line)
    flat = flat_copy(base)
    assert isinstance(flat.tree, HistoryTree)
    other = find_subgame(flat.tree, *(i.name for i in tree.infosets() if i.name.partition(":")[2] == line))
    (mine,), (theirs,) = subgame_root_values(base, player, [part]), subgame_root_values(flat, player, [other])
    order = [part.hands(1 - player).index(hand.partition(":")[0]) for hand in other.hands(1 - player)]
    held = mine.weights[order] > 0
    np.testing.assert_allclose(mine.values[order], theirs.values, atol=1e-12)
    assert sorted(np.flatnonzero(mine.weights > 0)) == sorted(np.array(order)[held])
    for gadget in (resolve_gadget, maxmargin_gadget):
        values = [
            solve_lp(gadget(p, player, entry.reach, entry.values).tree).value
            for p, entry in ((part, mine), (other, theirs))
        ]
        assert values[0] == pytest.approx(values[1], abs=1e-9)


@given(public_games(), SEEDS)
@settings(max_examples=15, deadline=None)
def test_margin_bounds_the_stop_values(game: RandomPublicGame, seed: int) -> None:
    """With stop values lowered by the maxmargin value no hand gains by entering; lowered by more, some hand does."""
    tree = compile_game(game)
    lines = [line for _, line in tree.lines()]
    if not lines:
        return
    part = find_subgame(tree, lines[seed % len(lines)])
    player = seed % 2
    sign = -1 if player == 1 else 1  # value of the refined player
    (entry,) = subgame_root_values(some_strategy(tree, seed), player, [part])
    if not (entry.weights > 0).any():
        return
    margin = sign * solve_lp(maxmargin_gadget(part, player, entry.reach, entry.values).tree).value
    assert margin >= -1e-9
    share = entry.weights * tree.deal.weights[1 - player]
    for extra, holds in ((0.0, True), (0.01, False)):
        stops = entry.values - margin - extra
        gadget = resolve_gadget(part, player, entry.reach, stops)
        out = -sign * solve_lp(gadget.tree).value
        stay = float(share @ stops / share.sum())
        assert (out <= stay + 1e-9) == holds


@given(history_games(), SEEDS)
@settings(max_examples=30, deadline=None)
def test_subgames_contain_whole_information_sets(game: RandomHistoryGame, seed: int) -> None:
    tree = compile_game(game)
    assert isinstance(tree, HistoryTree)
    names = [infoset.name for infoset in tree.infosets()]
    if not names:
        return
    part = find_subgame(tree, names[seed % len(names)])
    sets = tree.node_infoset
    assert not set(sets[part.node_mask]) & set(sets[~part.node_mask]) - {-1}
    for root in part.roots:  # maximal
        assert root == 0 or not part.node_mask[root - 1] or tree.nodes.end[root - 1] == root
        assert part.node_mask[root : tree.nodes.end[root]].all()


@pytest.mark.parametrize("spec", ["kuhn", "rpst", "coin_toss"])
@pytest.mark.parametrize("player", [0, 1])
def test_locked_everywhere_or_nowhere(spec: str, player: int) -> None:
    tree = to_history_tree(compile_game(game_from_spec(spec)))
    base = some_strategy(tree, 4)
    best = quality(base).best
    none = np.zeros(len(tree.nodes.actor), bool)
    bound = solve_lp(locked_gadget(tree, base.probabilities, player, none).tree).value
    assert bound == pytest.approx(best[0] if player == 1 else -best[1], abs=1e-9)
    free = solve_lp(locked_gadget(tree, base.probabilities, player, ~none).tree).value
    assert free == pytest.approx(solve_lp(tree).value, abs=1e-9)


def test_unsafe_subgame() -> None:
    """With the equilibrium's own reach, the value of the subgame is that of the equilibrium there."""
    tree = to_history_tree(compile_game(game_from_spec("kuhn")))
    whole = solve_lp(tree).strategy
    assert (
        len(find_subgame(tree, "Q:c").roots) == 4
    )  # not the nodes with a king for player 1, which are in other information sets
    part = find_subgame(tree, "J:c", "Q:c", "K:c")
    assert len(part.roots) == 6
    reach = history_reach(whole, -1)[part.roots]
    gadget = unsafe_gadget(part, reach)
    sums = whole.probabilities[gadget.origin]
    restored = quality(Strategy.from_sums(gadget.tree, sums))
    assert restored.values[0] == pytest.approx(solve_lp(gadget.tree).value, abs=1e-9)
    assert restored.nash_conv == pytest.approx(0, abs=1e-9)


def test_invalid_subgames() -> None:
    tree = compile_game(game_from_spec("kuhn"))
    with pytest.raises(InputError, match=r"'c'.*'cr'"):
        check_disjoint([find_subgame(tree, "c"), find_subgame(tree, "cr")])
    with pytest.raises(InputError, match="'cc'"):
        find_subgame(tree, "cc")
    with pytest.raises(InputError, match="2: 'c r'"):
        find_subgame(tree, "c", "r")
    flat = to_history_tree(tree)
    with pytest.raises(InputError, match="information set"):
        find_subgame(flat)
    part = find_subgame(flat, "Q:c")
    assert isinstance(part, TreeSubgame)
    nothing = np.zeros(len(part.roots))
    for make_gadget in (maxmargin_gadget, resolve_gadget):
        with pytest.raises(InputError, match="subgame"):
            make_gadget(part, 0, nothing, nothing)
    with pytest.raises(InputError, match="subgame"):
        unsafe_gadget(part, nothing)
