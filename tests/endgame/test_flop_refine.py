"""Endgames before the flop: values hand by hand as by walks, safe methods safe, and the improvement worth something."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from reference.endgame import Opponent
from riverboat.cards.deck import hand_index
from riverboat.cards.notation import parse_hand
from riverboat.core.errors import InputError
from riverboat.engines.cpu.board_engine import BoardWalker
from riverboat.games.base import CHANCE
from riverboat.games.boards.full_holdem import holdem
from riverboat.games.boards.subtrees import cut
from riverboat.solvers.boards.cfr import BoardCFR, quality_of
from riverboat.strategies.solution import Solution
from riverboat.subgames.flop.refinement import COVER, METHODS, endgame, refine_flop
from riverboat.subgames.flop.values import Round, secured
from riverboat.trees.boards import BoardTree

ROUNDING = 1e-6  # in mbb/g
SAFE = [name for name, method in METHODS.items() if method.safe]
WHOLE = [name for name, method in METHODS.items() if method.gifts == "whole"]
GAME: dict[str, Any] = {
    "kind": "2-2",
    "ranks": 4,
    "suits": 2,
    "raises": "2/1",
}  # five endgames, up to three decisions before


@cache
def tree() -> BoardTree:
    return BoardTree(holdem(**GAME))


@cache
def base(kind: str) -> Round:
    """A strategy after few iterations, or one with arbitrary numbers, some of them zero."""
    if kind == "blueprint":
        solver = BoardCFR(tree(), dtype="float64")
        solver.step(4)
        return Round(tree(), solver.averages.copy())
    random = np.random.default_rng(int(kind))
    table = random.random(tree().table + 16) ** 3 * (random.random(tree().table + 16) > 0.2)
    return Round(tree(), table)


def best(table: Any) -> np.ndarray:
    return np.array(quality_of(BoardWalker.reader(tree(), table)).best)


class TestParts:
    def test_a_part_is_the_betting_below_its_root(self) -> None:
        betting = tree().betting
        for root in np.flatnonzero(betting.actor == CHANCE):
            part, origin = cut(betting, int(root))
            assert len(part.actor) == betting.end[root] - root
            for node, before in enumerate(origin):
                assert part.moves(node) == betting.moves(before)
                assert (part.pay[node] == betting.pay[before]).all()
                assert [origin[c] for c in part.children(node)] == list(betting.children(before))

    def test_moves_that_are_left_out_are_gone_with_what_is_below(self) -> None:
        betting = tree().betting
        dropped = [n for n, label in enumerate(betting.label) if label == "r" and betting.street[n] == 1]
        part, origin = cut(betting, 0, dropped)
        assert "r" not in {part.label[n] for n in range(len(origin)) if part.street[n] == 1}
        for node, before in enumerate(origin):
            kept = [c for c in betting.children(int(before)) if c not in dropped]
            assert [origin[c] for c in part.children(node)] == kept

    def test_a_node_keeps_a_move(self) -> None:
        betting = tree().betting
        with pytest.raises(InputError, match="leave one"):
            cut(betting, 0, list(betting.children(0)))
        with pytest.raises(InputError, match="nothing would be left"):
            cut(betting, 3, [3])

    def test_a_tree_that_shares_boards_is_the_one_that_is_built_anew(self) -> None:
        opening = base("0")
        for player in (None, 0, 1):
            _, shared, _ = endgame(opening, opening.exits[1], METHODS["maxmargin"], player)
            assert shared is not None
            runs = [BoardCFR(t, "dcfr", dtype="float64") for t in (shared, BoardTree(shared.game))]
            for run in runs:
                run.step(20)
            assert runs[0].quality().best == pytest.approx(runs[1].quality().best, abs=1e-9)

    def test_other_cards_are_refused(self) -> None:
        game = holdem(**{**GAME, "ranks": 5})
        with pytest.raises(InputError, match="other cards"):
            tree().with_game(game)


class TestValues:
    def test_hand_by_hand(self) -> None:
        """Reach and best-response values as the states give them, for some hands on the longest line."""
        opening, game = base("1"), tree().game
        solution = Solution(tree(), opening.table)
        node = max(opening.exits, key=lambda n: len(opening.path(n)))
        nodes = [0, *(child for _, child in opening.path(node))]
        labels = tuple(opening.line(node))
        for opponent in (0, 1):
            twin = Opponent(game, _Rows(solution), opponent)
            for hand in (0, 5, 17):
                row = tree().row_of[0, opponent][game.held[opponent][hand]]
                for n, (_, weight, value) in zip(nodes, twin.down(labels, hand), strict=True):
                    assert opening.meets(opponent)[n][row] == pytest.approx(weight, abs=1e-9)
                    assert opening.best(opponent)[n][row] == pytest.approx(value, abs=1e-9)

    def test_gifts_are_spent_once_when_split(self) -> None:
        opening = base("2")
        for opponent in (0, 1):
            for decision in range(opening.count):
                if tree().forest.actor[decision] != opponent:
                    continue
                for child in opening.children(decision):
                    behind = [e for e in opening.exits if child <= e < tree().forest.end[child]]
                    given = opening.best(opponent)[decision] - opening.best(opponent)[child]
                    # of the endgames behind a move, what they get beyond the gifts from below it
                    spent: Any = sum(opening.gifts(opponent, e, split=True) for e in behind)
                    assert (given >= -1e-9).all()
                    if behind and opening.earliest(opponent, behind[0]) == decision:
                        later = sum(_gifts_after(opening, opponent, e, child) for e in behind)
                        some = opening.meets(opponent)[behind].sum(axis=0) > 0
                        assert np.allclose((spent - later)[some], given[some], atol=1e-6)

    def test_what_cannot_be_taken_away(self) -> None:
        """Who calls and then folds loses what is in: 5 or 10 chips of blinds, or a bet of 10 more."""
        betting = tree().betting
        floor = secured(betting, 1)  # the dealer, with a small blind of 5
        assert floor[0] == -5
        call, raised = betting.find("c", "").node, betting.find("r", "").node
        assert (floor[call], floor[raised]) == (-10, -20)
        assert secured(betting, 0)[call] == -10


class _Rows:
    """A solution as the twin reads it: `hand:line` gives probabilities by move."""

    def __init__(self, solution: Solution) -> None:
        self.spot = cache(lambda line: solution[line])

    def __getitem__(self, key: str) -> dict[str, float]:
        hand, _, line = key.partition(":")
        spot = self.spot(line)
        return dict(zip(spot.actions, spot.strategy[:, hand_index(*parse_hand(hand))], strict=True))


def _gifts_after(opening: Round, opponent: int, node: int, child: int) -> Any:
    """Gifts at the decisions below a node, as `Round.gifts` splits them."""
    found = np.zeros(opening.best(opponent).shape[1])
    met = opening.meets(opponent)
    for above, below in opening.path(node):
        if above >= child and tree().forest.actor[above] == opponent:
            behind = [e for e in opening.exits if below <= e < tree().forest.end[below]]
            share = met[node] / np.maximum(met[behind].sum(axis=0), 1e-300)
            found += (opening.best(opponent)[above] - opening.best(opponent)[below]) * share
    return found


@pytest.mark.parametrize("kind", ["blueprint", "3", "4"])
@pytest.mark.parametrize("method", SAFE)
def test_safe_methods_are_safe(method: str, kind: str) -> None:
    """No best response gains more than what the gadgets' own solutions lack, all endgames refined at once."""
    opening = base(kind)
    found = refine_flop(opening, method, iterations=60, dtype="float64")
    rise = best(found.table) - best(opening.table)
    for player in (0, 1):
        assert rise[1 - player] <= found.allowance(player) + ROUNDING
        assert found.allowance(player) > 0


@pytest.mark.parametrize("method", WHOLE)
def test_whole_gifts_are_safe_for_one_endgame(method: str) -> None:
    opening = base("5")
    for node in opening.exits:
        found = refine_flop(opening, method, iterations=60, lines=[opening.line(node)], dtype="float64")
        rise = best(found.table) - best(opening.table)
        assert all(rise[1 - player] <= found.allowance(player) + ROUNDING for player in (0, 1))


def test_unsafe_takes_an_equilibrium_of_the_endgame_and_promises_nothing() -> None:
    opening = base("3")
    found = refine_flop(opening, "unsafe", iterations=300, dtype="float64")
    assert [(solved.player, solved.allowance) for solved in found.endgames] == [(None, 0.0)] * len(opening.exits)
    assert all(solved.exploitability < 1 for solved in found.endgames)


def test_the_improvement_leaves_more_to_those_who_are_not_covered() -> None:
    """Margins of hands without a better way out are no smaller than where all hands are to be kept out."""
    seen = 0
    for kind in ("3", "4", "5"):
        opening = base(kind)
        for node in opening.exits:
            for player in (0, 1):
                covered = opening.hands(opening.covered(1 - player, node).astype(float), 1 - player) > 0
                least = []
                for method in (METHODS["reach"], replace(METHODS["reach"], improved=False)):
                    _, part, _ = endgame(opening, node, method, player)
                    if part is None:
                        break
                    solver = BoardCFR(part, dtype="float64")
                    solver.step(150)
                    margins = np.where(covered, np.nan, solver.walker.margins())
                    least.append(
                        (np.nanmin(margins) if not np.isnan(margins).all() else np.nan, solver.exploitability())
                    )
                if len(least) == 2 and covered.any() and not np.isnan(least[0][0]):
                    seen += 1
                    slack = 2 * (least[0][1] + least[1][1]) / tree().per_chip
                    assert least[0][0] >= least[1][0] - slack - 1e-9
    assert seen > 3
    assert COVER > 1


def test_a_line_that_is_no_endgame_is_refused() -> None:
    with pytest.raises(InputError, match="line before the flop"):
        refine_flop(base("3"), "maxmargin", lines=["cc", "zz"])
    with pytest.raises(InputError, match="method"):
        refine_flop(base("3"), "magic")
