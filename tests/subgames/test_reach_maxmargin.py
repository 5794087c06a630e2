"""Reach-maxmargin as in the paper: the constraint for several subgames against an LP, and both theorems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from scipy.optimize import linprog
from scipy.sparse import lil_array

from random_games import SEEDS, RandomHistoryGame, RandomPublicGame, history_games, public_games
from riverboat.api.refine import Refinement, refine
from riverboat.games.base import Array
from riverboat.games.registry import game_from_spec
from riverboat.games.small.toy_games import CoinToss
from riverboat.solvers.exact.sequence_form import SequenceForm
from riverboat.solvers.tabular.best_response import best_response, quality
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.tabular import Strategy
from riverboat.subgames.resolving import lines_after_chance
from riverboat.subgames.values import SubgameRootValues, subgame_gifts, subgame_root_values
from riverboat.trees.compile import compile_game
from riverboat.trees.gadgets import TreeSubgame, find_subgame, maxmargin_gadget
from riverboat.trees.public import PublicTree
from subgames.test_refine import some_base, some_endgames

TOLERANCE = 1e-6


def largest_margin(subgame: TreeSubgame, player: int, root: SubgameRootValues, *, limited: bool) -> float:
    """The largest least margin, gifts included, by a linear program; `limited`: no hand may be worth more than before.

    Variables: the player's realization plan, the opponent's value of each information set, and the negative margin.
    """
    form = SequenceForm(maxmargin_gadget(subgame, player, root.reach, np.zeros(len(root.values))).tree)
    own, other = form.treeplexes[player], form.treeplexes[1 - player]
    payoffs = form.payoffs[1 - player].toarray()
    plans, infosets = own.sequences, len(other.parent)
    size = plans + infosets + 1
    rows = lil_array((other.sequences - 1, size))  # value of each sequence, minus that of its information set
    for s, (first, width) in enumerate(zip(other.first, other.width, strict=True)):
        for q in range(first, first + width):
            rows[q - 1, :plans] = payoffs[q]
            rows[q - 1, plans + s] -= 1
    for s, parent in enumerate(other.parent):
        if parent:
            rows[parent - 1, plans + s] += 1
    hands = np.flatnonzero(root.weights > 0)
    chosen = np.arange(other.first[0], other.first[0] + other.width[0]) - 1  # the choice of a hand comes first
    assert len(chosen) == len(hands)
    assert other.parent[0] == 0
    margins, bound = rows.tocsr()[chosen].tolil(), np.zeros(other.sequences - 1)
    margins[:, plans] = 0
    limits = margins.copy()
    margins[:, -1] = -1
    gifts = np.broadcast_to(root.gifts, root.values.shape)
    others = np.setdiff1d(np.arange(other.sequences - 1), chosen)
    matrices = [rows.tocsr()[others].toarray(), margins.toarray()] + [limits.toarray()] * limited
    bounds = [bound[others], (root.values + gifts)[hands]] + [root.values[hands]] * limited
    equal, right = np.zeros((1 + len(own.parent), size)), np.zeros(1 + len(own.parent))
    equal[0, 0] = right[0] = 1
    for s, (first, width, parent) in enumerate(zip(own.first, own.width, own.parent, strict=True), 1):
        equal[s, first : first + width] = 1
        equal[s, parent] -= 1
    cost = np.zeros(size)
    cost[-1] = 1
    found = linprog(
        cost, np.vstack(matrices), np.concatenate(bounds), equal, right,
        bounds=[(0, None)] * plans + [(None, None)] * (infosets + 1), method="highs",
    )  # fmt: skip
    assert found.status == 0, found.message
    return float(-found.fun)


def check_margins(base: Strategy, places: Sequence[str], method: str = "reach_maxmargin") -> None:
    """The least margins of a refinement are those of the linear program, and no hand exceeds its limit."""
    found = refine(base, places, method)
    subgames = [find_subgame(base.tree, place) for place in places]
    reports = iter(found.endgames)
    for player in (0, 1):
        roots = subgame_root_values(base, player, subgames)
        gifts = subgame_gifts(base, player, subgames, roots, split=False)
        for subgame, root, gift in zip(subgames, roots, gifts, strict=True):
            report = next(reports)
            if not (root.weights > 0).any():
                continue
            least = float(gift[root.weights > 0].min())  # a gift of a hand with almost no weight may be huge
            with_gifts = root._replace(gifts=np.clip(gift - least, 0.0, 1e3))
            expected = least + largest_margin(subgame, player, with_gifts, limited=len(places) > 1)
            assert report.least_margin == pytest.approx(expected, abs=TOLERANCE, rel=TOLERANCE)
            if len(places) > 1:
                assert min(report.margins.values()) >= -TOLERANCE


def opponents_reach(strategy: Strategy, opponent: int, subgame: TreeSubgame) -> Array:
    """Probability that chance and the refined player reach each hand's root, if a best response goes there, else zero.

    Public trees only. float64 [hands of the opponent]
    """
    tree = strategy.tree
    assert isinstance(tree, PublicTree)
    (root,) = subgame_root_values(strategy, 1 - opponent, [subgame])
    _, response = best_response(strategy, opponent)
    rows = tree.player_tables(np.array(response.probabilities, float))[opponent]
    goes = np.ones(len(root.weights))
    for node, k in tree.path(int(subgame.roots[0])):
        if tree.nodes.actor[node] == opponent:
            goes *= rows[int(tree.nodes.data[node]) + k]
    return np.where(goes > 0, root.weights * tree.deal.weights[opponent] / tree.total, 0.0)


def without(found: Refinement, base: Strategy, subgame: TreeSubgame) -> Strategy:
    """The refined strategy with the base strategy in one subgame."""
    tree, table = base.tree, np.array(found.strategy.probabilities)
    assert isinstance(tree, PublicTree)
    inside = np.zeros(tree.table_size, bool)
    for player in (0, 1):
        rows = tree.player_tables(inside)[player]
        for node in np.flatnonzero(subgame.node_mask & (tree.nodes.actor == player)):
            rows[int(tree.nodes.data[node]) : int(tree.nodes.data[node]) + int(tree.nodes.width[node])] = True
    table[inside] = base.probabilities[inside]
    return Strategy(tree, table)


def check_theorem(base: Strategy, places: Sequence[str], player: int) -> int:
    """Theorem 2 (theorem 1 if there is one subgame): what a best response that reaches a subgame loses at least.

    Returns the number of subgames that a best response reaches.
    """
    found, opponent, reached = refine(base, places, "reach_maxmargin", players=(player,)), 1 - player, 0
    best = quality(found.strategy).best[opponent]
    for place, report in zip(places, found.endgames, strict=True):
        subgame = find_subgame(base.tree, place)
        reach = opponents_reach(found.strategy, opponent, subgame)
        if not report.margins or not reach.any():
            continue
        reached += 1
        least = min(report.margins.values())
        gain = max(reach.max() * least, reach[reach > 0].min() * least)
        assert best <= quality(without(found, base, subgame)).best[opponent] - gain + TOLERANCE, place
    return reached


def leduc(spec: str, seed: int) -> Strategy:
    tree = compile_game(game_from_spec(spec))
    assert isinstance(tree, PublicTree)
    return some_base(tree, np.random.default_rng(seed))


def test_coin_toss_spends_the_gift_in_a_single_subgame() -> None:
    tree = PublicTree(CoinToss())
    rows = {"heads:": {"left": 0.25, "right": 0.75}, "guesser:right": {"heads": 0.5, "tails": 0.25, "forfeit": 0.25}}
    base = Strategy.from_mapping(tree, rows)
    check_margins(base, ["right"])
    assert check_theorem(base, ["right"], 1) == 1


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("spec", ["leduc:ranks=3,suits=1", "leduc:ranks=2,suits=2"])
def test_leduc_equals_the_linear_program(spec: str, seed: int) -> None:
    base = leduc(spec, seed)
    lines = lines_after_chance(base.tree)  # type: ignore[arg-type]
    check_margins(base, lines)
    check_margins(base, lines[:1])
    assert sum(check_theorem(base, lines, player) for player in (0, 1)) > 0


@given(public_games(), SEEDS)
@settings(max_examples=20, deadline=None)
def test_random_public_games(game: RandomPublicGame, seed: int) -> None:
    tree, random = compile_game(game), np.random.default_rng(seed)
    assume(tree.infoset_count > 0)
    base, places = some_base(tree, random), some_endgames(tree, random)
    check_margins(base, places)
    for player in (0, 1):
        check_theorem(base, places, player)


@given(history_games(depth=5), SEEDS)
@settings(max_examples=10, deadline=None)
def test_random_history_games(game: RandomHistoryGame, seed: int) -> None:
    tree, random = compile_game(game), np.random.default_rng(seed)
    assume(tree.infoset_count > 0)
    check_margins(some_base(tree, random), some_endgames(tree, random))


@pytest.mark.parametrize("kind", ["public", "history"])
def test_the_constraint_by_cfr(kind: str) -> None:
    """Vectors of hands, and the history tree of the gadget."""
    base: Any = leduc("leduc:ranks=3,suits=1", 5)
    lines = lines_after_chance(base.tree)
    exact = refine(base, lines, "reach_maxmargin")
    if kind == "history":
        found = refine(base, lines, "reach_maxmargin", solver=lambda tree: run(tree, 1500))
    else:
        found = refine(base, lines, "reach_maxmargin", solver=1500)
    for one, other in zip(found.endgames, exact.endgames, strict=True):
        assert one.least_margin == pytest.approx(other.least_margin, abs=0.02)
        assert min(one.margins.values(), default=0.0) >= -0.03


def run(tree: Any, iterations: int) -> Strategy:
    solver = CFR(tree, "dcfr")
    solver.step(iterations)
    return solver.average()
