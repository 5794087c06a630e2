"""No-limit flop hold'em: published counts, payoffs by hand, small decks against the general traversal and linear
programs.
"""

from __future__ import annotations

import numpy as np
import pytest

from reference.boards import assert_same_state, same_places, same_run
from riverboat.cards.isomorphism import HandIndexer
from riverboat.core.errors import InputError
from riverboat.games import registry
from riverboat.games.base import TERMINAL
from riverboat.games.boards.holdem import FLOP_HOLDEM_VARIANTS, Holdem, flop_holdem
from riverboat.solvers.boards.cfr import BoardCFR
from riverboat.solvers.exact.lp import solve_lp
from riverboat.trees.boards import BoardTree
from riverboat.trees.public import PublicTree

# Brown and Sandholm 2017 (safe and nested subgame solving); the last is of a competition winner's program.
COUNTS = {"small": (9, 48), "large": (30, 172), "nested": (8, 560), "nested-abstract": (6, 150), "one-bet": (4, 12)}
TINY = "ranks=4,suits=2"


def decisions(game: Holdem) -> tuple[int, ...]:
    betting = game.betting
    return tuple(int(((betting.street == k) & (betting.actor >= 0)).sum()) for k in (0, 1))


@pytest.mark.parametrize("kind", FLOP_HOLDEM_VARIANTS)
def test_published_counts_of_betting_sequences(kind: str) -> None:
    game = registry.game_from_spec(f"flop_holdem:{kind}")
    assert isinstance(game, Holdem)
    assert decisions(game) == COUNTS[kind]
    assert not game.betting.payoffs.sum(axis=2).any()


def test_information_sets_of_the_papers_games() -> None:
    hands, flops = HandIndexer((2,)).size(), HandIndexer((2, 3)).size()
    sets = {kind: before * hands + after * flops for kind, (before, after) in COUNTS.items()}
    assert (sets["small"], sets["large"]) == (61_767_537, 221_333_294)


def test_without_stacks_there_is_no_all_in() -> None:
    """81 big blinds at most: one raise to three, then three bets of the pot."""
    betting = flop_holdem("nested").betting
    assert betting.payoffs.max() == 100 * 3 * 3**3


def test_payoffs_by_hand() -> None:
    betting = flop_holdem("one-bet").betting  # blinds 1 and 2

    def end(line: str) -> list[list[float]]:
        node = betting.find(line.replace("/", "/8h7d2c/"), "").node
        assert betting.actor[node] == TERMINAL
        found: list[list[float]] = betting.payoffs[node].tolist()
        return found

    assert end("f") == [[1, -1]] * 3
    assert end("r6f") == [[-2, 2]] * 3  # to call and a pot of four on top
    assert end("r6c/r18c") == [[18, -18], [0, 0], [-18, 18]]
    assert end("cc/r6f") == [[2, -2]] * 3


def test_no_limit_lines() -> None:
    betting = flop_holdem("small").betting
    assert betting.actions(betting.find("cr300", "").node) == ("f", "c", "r900", "r20000")
    with pytest.raises(InputError, match=r"'r301' after 'c'; .*c, r300"):
        betting.find("cr301", "")


def test_a_custom_menu() -> None:
    game = flop_holdem("small", preflop="100%/a", flop="50%", raises="1/2", stack=1000, blinds="10/20")
    betting = game.betting
    assert betting.actions(0) == ("f", "c", "r60", "r1000")
    assert betting.actions(betting.find("cc/8h7d2c/", "").node) == ("c", "r40")
    assert game.scale == ("mbb/g", 50.0)


@pytest.mark.parametrize("kind", ["one-bet", "nested-abstract,raises=1/1"])
def test_iterations_agree_with_the_general_traversal(kind: str) -> None:
    game = registry.game_from_spec(f"flop_holdem:{kind},{TINY}")
    assert isinstance(game, Holdem)
    tree, oracle = BoardTree(game), PublicTree(game)
    places = same_places(tree, oracle)
    assert_same_state(*same_run(tree, oracle, "dcfr", 4, places), places)


@pytest.mark.slow
def test_the_value_agrees_with_the_linear_program() -> None:
    game = registry.game_from_spec(f"flop_holdem:one-bet,{TINY}")
    assert isinstance(game, Holdem)
    exact, solver = solve_lp(PublicTree(game)), BoardCFR(BoardTree(game), dtype="float64")
    solver.step(2000)
    low, high = np.array(solver.quality().bracket) / solver.tree.per_chip
    assert low - exact.gap <= exact.value <= high + exact.gap
    assert solver.exploitability() < 0.1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("tiny", ("kind of flop_holdem 'tiny'", "small")),
        ("small,raises=2", ("raises='2'", "2/3")),
        ("small,blinds=a/b", ("blinds='a/b'",)),
        ("small,ranks=3,suits=2", ("a deck of 6 cards: 7",)),
        ("small,flop=50", ("flop: size '50'",)),
        ("small,stack=100", ("stacks=(100, 100)",)),
    ],
)
def test_invalid_options(options: str, words: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        registry.game_from_spec(f"flop_holdem:{options}")
    for word in words:
        assert word in str(caught.value)
