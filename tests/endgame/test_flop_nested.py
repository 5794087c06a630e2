"""Nested endgames: every unknown bet is answered once, safely as far as margins say; translation mixes its readings."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from riverboat.core.errors import InputError
from riverboat.engines.cpu.board_engine import BoardWalker
from riverboat.engines.tables import block
from riverboat.games.boards.flop_holdem import flop_holdem
from riverboat.games.boards.subtrees import BoardPart
from riverboat.papers.endgames.table_2 import unknown_bets
from riverboat.solvers.boards.cfr import BoardCFR, quality_of
from riverboat.subgames.flop.nested import METHODS, Larger, nest
from riverboat.subgames.flop.translated import translate

GADGETS = [name for name, method in METHODS.items() if method.gadget]
ROUNDING = 1e-6


@cache
def larger(raises: str) -> Larger:
    game = flop_holdem("nested", ranks=4, suits=2, raises=raises)
    whole = BoardPart(game, game.name, game.betting, game.weights, None, game.board, game.deals)
    return Larger.of(whole, unknown_bets(game.betting))


@cache
def boards(raises: str) -> Any:
    return larger(raises).board_trees()


@cache
def base(raises: str, kind: str) -> Any:
    tree = larger(raises).tree
    if kind == "blueprint":
        solver = BoardCFR(tree, dtype="float64")
        solver.step(60)
        return solver.averages.copy()
    return np.random.default_rng(int(kind)).random(tree.table + 16) ** 3


def earned(raises: str, kind: str) -> tuple[float, ...]:
    return quality_of(BoardWalker.reader(larger(raises).tree, base(raises, kind))).best


def safely(name: str, raises: str, kind: str) -> None:
    before = earned(raises, kind)
    for player in (0, 1):
        found = nest(
            larger(raises), base(raises, kind), name, player, boards=boards(raises), iterations=30, dtype="float64"
        )
        assert found.earnings() <= before[1 - player] + found.shortfall + ROUNDING
        assert found.shortfall == 0 or found.least < 0


@pytest.mark.parametrize("name", GADGETS)
def test_best_responses_gain_no_more_than_margins_below_zero_allow(name: str) -> None:
    safely(name, "1/1", "blueprint")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["blueprint", "1", "2"])
@pytest.mark.parametrize("name", GADGETS)
def test_the_same_with_more_bets_and_arbitrary_strategies(name: str, kind: str) -> None:
    safely(name, "1/2", kind)


@pytest.mark.parametrize("name", ["maxmargin", "unsafe_expensive"])
def test_every_unknown_bet_is_answered_once(name: str) -> None:
    whole = larger("1/1")
    for player in (0, 1):
        found = nest(whole, base("1/1", "1"), name, player, boards=boards("1/1"), iterations=2, dtype="float64")
        tree, part = whole.for_opponent(1 - player)
        new = [n for n in range(len(part.origin)) if part.origin[n] in whole.added]
        flops = tree.street_at[2] - tree.street_at[1]
        assert found.solved == sum(1 if tree.betting.street[n] == 0 else flops for n in new)
        own = [n for n in range(len(tree.forest.actor)) if tree.forest.actor[n] == player]
        for node in own:
            street = int(node >= tree.forest.first[1])
            for b in range(tree.street_at[street], tree.street_at[street + 1]):
                at, width, rows = block(tree, b, node)
                assert found.table[at : at + width * rows].reshape(width, rows).sum(axis=0).all()


def test_what_the_base_knows_stays() -> None:
    """Where the opponent does without the new bets, its best response earns what it did."""
    whole = larger("1/1")
    found = nest(whole, base("1/1", "1"), "resolve", 0, boards=boards("1/1"), iterations=2, dtype="float64")
    play = BoardWalker.reader(found.tree, found.table)
    known = BoardWalker.reader(whole.tree, base("1/1", "1"))
    places = {int(n): k for k, n in enumerate(whole.betting.origin[whole.tree.forest.node])}
    seen = 0
    for node, origin in enumerate(found.part.origin[found.tree.forest.node]):
        if found.tree.forest.actor[node] == 0 and int(origin) in places:
            b = 0 if node < found.tree.forest.first[1] else 5
            assert np.allclose(play.play(b, node), known.play(b, places[int(origin)]), atol=1e-12)
            seen += 1
    assert seen > 10


def test_translation_mixes_the_answers_to_both_neighbours() -> None:
    """A bet of 0.75 is read as 0.5 with (1 - 0.75)(1 + 0.5) / ((1 - 0.5)(1 + 0.75)) = 3/7 (Ganzfried & Sandholm 2013)."""
    whole = larger("1/1")
    table = base("1/1", "2")
    tree, mixed = translate(whole, table, 0)
    play, known = BoardWalker.reader(tree, mixed), BoardWalker.reader(whole.tree, table)
    betting, place = tree.betting, {int(n): k for k, n in enumerate(tree.forest.node)}
    half, new, pot = (child for child in betting.children(0) if betting.label[child].startswith("r"))
    abstract = [child for child in whole.tree.betting.children(0) if whole.tree.betting.label[child].startswith("r")]
    spots = {int(n): k for k, n in enumerate(whole.tree.forest.node)}
    low, high = (known.play(0, spots[child]) for child in abstract)
    assert np.allclose(play.play(0, place[half]), low)
    assert np.allclose(play.play(0, place[pot]), high)
    assert np.allclose(play.play(0, place[new]), 3 / 7 * low + 4 / 7 * high)


def test_later_answers_weigh_what_was_read_by_how_it_was_played() -> None:
    """Behind the flop the two readings count as often as each would have called."""
    whole = larger("1/1")
    table = base("1/1", "3")
    tree, mixed = translate(whole, table, 0)
    play, known = BoardWalker.reader(tree, mixed), BoardWalker.reader(whole.tree, table)
    betting, abstract = tree.betting, whole.tree.betting
    place = {int(n): k for k, n in enumerate(tree.forest.node)}
    spots = {int(n): k for k, n in enumerate(whole.tree.forest.node)}

    def flop(b: Any, bet: int) -> tuple[int, int]:
        """The bet and, behind a call, the first decision on the flop."""
        call = next(c for c in b.children(bet) if b.label[c] == "c")
        return bet, call + 1

    new = [c for c in betting.children(0) if betting.label[c].startswith("r")][1]
    reads = [flop(abstract, c) for c in abstract.children(0) if abstract.label[c].startswith("r")]
    board = 4
    up = tree.boards.up[tree.boards.up_at[board, 0] :][: tree.boards.rows[board, 0]]
    called = [known.play(0, spots[bet])[1][up] for bet, _ in reads]  # fold, call
    answers = [known.play(board, spots[node]) for _, node in reads]
    weights = 3 / 7 * called[0], 4 / 7 * called[1]
    wanted = (weights[0] * answers[0] + weights[1] * answers[1]) / (weights[0] + weights[1])
    assert np.allclose(play.play(board, place[flop(betting, new)[1]]), wanted)


def test_words() -> None:
    with pytest.raises(InputError, match="nested method"):
        nest(larger("1/1"), base("1/1", "1"), "magic", 0)
    with pytest.raises(InputError, match="dtype"):
        nest(larger("1/1"), base("1/1", "1"), "resolve", 0, dtype="float32")
