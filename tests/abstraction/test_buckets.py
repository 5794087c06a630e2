"""Bucketed games: the identity is lossless, merged ranks cost value, and strategies are lifted to the full game."""

from __future__ import annotations

import numpy as np
import pytest

from riverboat.abstraction.bucketed_game import BucketedGame
from riverboat.core.errors import InputError, RecallError
from riverboat.games.base import PublicGame
from riverboat.games.registry import game_from_spec
from riverboat.games.small.poker import kuhn, leduc
from riverboat.solvers.exact.lp import solve_lp
from riverboat.solvers.tabular.best_response import quality
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.lifting import combine_players, lift_cards
from riverboat.strategies.tabular import Strategy
from riverboat.testing import check_game, check_strategy
from riverboat.trees.compile import compile_game
from riverboat.trees.public import PublicTree


def cards(player: int, hand: str, board: tuple[str, ...]) -> str:
    """Bucket map that distinguishes all cards."""
    return hand + "".join(board)


def ranks(player: int, hand: str, board: tuple[str, ...]) -> str:
    """Bucket map without suits, which is lossless in Leduc."""
    return hand[0] + "".join(card.strip("/")[0] for card in board)


def pairs(player: int, hand: str, board: tuple[str, ...]) -> str:
    """Bucket map that merges jack and queen before the public card and only shows pairs after it."""
    if not board:
        return "K" if hand[0] == "K" else "JQ"
    return "pair" if board[-1].strip("/")[0] == hand[0] else "none"


@pytest.mark.parametrize("bucket", [ranks, pairs])
def test_contract(bucket: object) -> None:
    check_game(BucketedGame(leduc(), bucket))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["kuhn", "coin_toss", "clairvoyance"])
def test_identity_in_other_games(name: str) -> None:
    game = game_from_spec(name)
    assert isinstance(game, PublicGame)
    seen = BucketedGame(game, cards)
    check_game(seen)
    assert solve_lp(compile_game(seen)).value == pytest.approx(solve_lp(compile_game(game)).value, abs=1e-9)


@pytest.mark.parametrize(("bucket", "infosets"), [(cards, 936), (ranks, 288)])
def test_lossless(bucket: object, infosets: int) -> None:
    # 936 information sets with six different cards and 288 without suits; value -0.085606424078 (OpenSpiel's tests).
    game = leduc()
    abstraction = BucketedGame(game, bucket)  # type: ignore[arg-type]
    tree = compile_game(abstraction)
    assert tree.infoset_count == infosets
    found = solve_lp(tree)
    assert found.value == pytest.approx(-0.085606424078, abs=1e-9)
    lifted = lift_cards(found.strategy, abstraction, PublicTree(game))
    assert quality(lifted).exploitability == pytest.approx(0, abs=1e-9)


def test_lifting_preserves_values_and_names() -> None:
    """A lifted strategy has the same value in the full game as in the abstract one."""
    game = leduc()
    tree = PublicTree(game)
    for recall in (True, False):
        abstraction = BucketedGame(game, pairs, perfect_recall=recall)
        small = compile_game(abstraction)
        strategy = Strategy.from_sums(small, np.random.default_rng(1).exponential(size=small.table_size))
        lifted = lift_cards(strategy, abstraction, tree)
        check_strategy(lifted)
        if recall:  # best responses, which `quality` also computes, need it
            assert quality(lifted).values == pytest.approx(quality(strategy).values, abs=1e-12)
        assert lifted["Js:"] == lifted["Qh:"] == strategy["0 JQ:"]
        assert lifted["Js:c"] == lifted["Qh:c"] == strategy["1 JQ:c"]
        name = "0 JQ.pair:cc" if recall else "0 pair:cc"
        assert lifted["Js:cc/Jh/"] == strategy[name]


def test_merged_ranks_lose_value() -> None:
    game = leduc()
    abstraction = BucketedGame(game, pairs)
    found = solve_lp(compile_game(abstraction))
    lifted = lift_cards(found.strategy, abstraction, PublicTree(game))
    assert found.gap < 1e-9
    assert quality(lifted).exploitability > 0.3


def test_imperfect_recall_works_with_cfr_but_not_with_the_lp() -> None:
    abstraction = BucketedGame(leduc(), pairs, perfect_recall=False)
    tree = compile_game(abstraction)
    solver = CFR(tree, "vanilla")
    solver.step(50)
    lift_cards(solver.average(), abstraction, PublicTree(leduc()))
    with pytest.raises(RecallError):
        solve_lp(tree)


def test_combine_players() -> None:
    tree = PublicTree(kuhn())
    equilibrium, uniform = solve_lp(tree).strategy, Strategy.uniform(tree)
    mixed = combine_players(equilibrium, uniform)
    assert mixed["K:"] == equilibrium["K:"]
    assert mixed["K:r"] == uniform["K:r"]
    with pytest.raises(InputError, match="kuhn"):
        combine_players(equilibrium, Strategy.uniform(PublicTree(kuhn(cards=4))))
    with pytest.raises(InputError, match="rps"):
        combine_players(Strategy.uniform(compile_game(game_from_spec("rps"))), uniform)


def test_lift_needs_the_same_actions() -> None:
    abstraction = BucketedGame(kuhn(stack=3, menu="100%"), cards)
    strategy = Strategy.uniform(compile_game(abstraction))
    with pytest.raises(InputError, match="kuhn"):
        lift_cards(strategy, abstraction, PublicTree(kuhn(stack=3)))
