"""Spots as games: hands, deals, analytic values, a river solved by hand, and invalid arguments."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pytest

from riverboat.cards.deck import FULL_DECK, HAND_CARDS, Deck, hand_index, parse_card
from riverboat.cards.ranges import Range
from riverboat.cards.ranking import rank
from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE, TERMINAL, PublicGame
from riverboat.games.boards.board_game import BoardGame, UnrolledBoardGame
from riverboat.games.spots.locks import NodeLock, check_locks
from riverboat.games.spots.spot import Spot
from riverboat.solvers.exact.lp import solve_lp
from riverboat.solvers.tabular.best_response import quality
from riverboat.strategies.tabular import Strategy
from riverboat.testing import check_game
from riverboat.trees.compile import compile_game

GIVEN: dict[str, Any] = {"board": "2c3d5h8s9c", "pot": 100, "stack": 100, "oop": "AA,QQ", "ip": "KK", "bets": "100%"}


def spot(**changes: Any) -> Spot:
    return Spot.make(**(GIVEN | changes))


# --- as a game ---


def test_a_spot_is_a_board_game_and_a_public_game() -> None:
    game = spot()
    assert isinstance(game, BoardGame)
    assert isinstance(game, PublicGame)
    assert (game.deals, game.streets, game.deck, game.joiner) == ((), ("river",), FULL_DECK, "-")
    assert spot(board="2c3d5h").deals == (1, 1)
    assert game == spot()
    assert game != spot(pot=101)


def test_blocked_hands_are_removed() -> None:
    game = spot(board="Ac3d5h8s9c", oop="AA,QQ:0.5", ip="random")
    assert game.hands[0] == ("QdQc", "QhQc", "QhQd", "QsQc", "QsQd", "QsQh", "AhAd", "AsAd", "AsAh")
    assert game.deal.weights[0].tolist() == [0.5] * 6 + [1.0] * 3
    assert len(game.hands[1]) == comb(47, 2)
    assert game.weights[0][hand_index(parse_card("Ac"), parse_card("Ad"))] == 0
    # Two hands of three aces share a card; with 47 cards left each hand shares a card with 2 · 45 + 1 hands.
    assert len(game.deal.excludes) == 9 * 91


def test_a_turn_deals_every_remaining_card() -> None:
    game = spot(board="2c3d5h8s", oop="AsAh", ip="KK")
    state = game.root().child(0).child(0)
    assert state.actor == CHANCE
    outcomes = state.outcomes()
    assert len(outcomes) == 48
    assert {o.weight for o in outcomes} == {1 / 44}
    ace = next(o for o in outcomes if o.label == "/As")
    assert ace.dead == ((0,), ())
    king = next(k for k, o in enumerate(outcomes) if o.label == "/Ks")
    assert [game.hands[1][h] for h in outcomes[king].dead[1]] == ["KsKc", "KsKd", "KsKh"]
    assert state.child(king).board == (*game.board, parse_card("Ks"))


TINY: dict[str, dict[str, Any]] = {
    "river": {
        "oop": "AsKs,QsQh:0.3,7h6h",
        "ip": "AcQc,QsQd,JsJh:0.7",
        "bets": "50%, a",
        "raises": "2.2x",
        "stack": 170,
    },
    "rake": {"oop": "AsKs,QQ:0.3", "ip": "AcQc,QsQd", "rake": 0.05, "rake_cap": 8},
    "turn": {"board": "2c3d5h8s", "oop": "AsKs,4s4h", "ip": "AcQc:0.25,9c9h,AsQs", "bets": "a"},
    "flop": {
        "board": "QsJhTh",
        "oop": "AsKs,QhJs,9s9h:0.5",
        "ip": "AhKh,KsTs",
        "bets": {"flop": {}, "turn": {"bet": "50%"}, "river": {}},
        "deck": Deck("TJQKA9", "hs"),
    },
}


@pytest.mark.parametrize("name", TINY)
def test_contract(name: str) -> None:
    report = check_game(spot(**TINY[name]))
    assert report.complete
    assert not report.zero_sum  # the pot is paid out
    if name != "rake":
        assert check_game(UnrolledBoardGame.zero_sum(spot(**TINY[name]))).zero_sum


def test_the_unrolled_game_is_the_same() -> None:
    game = spot(**TINY["turn"])
    assert isinstance(UnrolledBoardGame.from_game(game), BoardGame)
    assert compile_game(UnrolledBoardGame.from_game(game)).fingerprint == compile_game(game).fingerprint


def test_lines_with_cards() -> None:
    tree = compile_game(spot(**TINY["turn"]))
    node = tree.node("x-x/Kd-x-a")
    assert tree.labels(node) == ("f", "c")
    assert tree.infoset("4s4h:x-x/Kd-x-a").actions == ("f", "c")


# --- analytic values ---


def values(game: Spot) -> tuple[float, ...]:
    """Return the values of both players under uniform play."""
    return quality(Strategy.uniform(compile_game(game))).values


@pytest.mark.parametrize(("rake", "cap", "left"), [(0.0, 0.0, 100), (0.05, 1000.0, 95), (0.05, 3.0, 97)])
def test_checking_down_shares_the_pot_by_equity(rake: float, cap: float, left: float) -> None:
    game = spot(board="2c3d5h8s", oop="AsKs,4s4h:0.5", ip="AcQc,9c9h", bets="", rake=rake, rake_cap=cap)
    share = weight = 0.0
    for first, mine in (("AsKs", 1.0), ("4s4h", 0.5)):
        for second in ("AcQc", "9c9h"):
            known = [parse_card(text[k : k + 2]) for text in (first, second) for k in (0, 2)]
            rivers = [c for c in range(52) if c not in (*game.board, *known)]
            better = [np.sign(rank([*known[:2], *game.board, c]) - rank([*known[2:], *game.board, c])) for c in rivers]
            share += mine * (np.mean(better) + 1) / 2
            weight += mine
    np.testing.assert_allclose(values(game), (left * share / weight, left * (1 - share / weight)), rtol=1e-12)


@pytest.mark.parametrize(
    ("oop", "ip", "expected"), [("AA", "KK", (95, 0)), ("QQ", "KK", (0, 95)), ("AcKh", "AdKs", (47.5, 47.5))]
)
def test_always_ahead_behind_or_equal(oop: str, ip: str, expected: tuple[float, float]) -> None:
    np.testing.assert_allclose(values(spot(oop=oop, ip=ip, bets="", rake=0.05)), expected)


@pytest.mark.parametrize(("stack", "bluffs"), [(100, 1 / 3), (50, 1 / 4), (200, 2 / 5)])
def test_nuts_or_air_against_a_bluff_catcher(stack: int, bluffs: float) -> None:
    """Half nuts, half air, no shared cards: bet b into pot p, and b / (p + 2 b) of the bets are bluffs.

    All nuts bet, air bets so often that a call is worth nothing, and gives up otherwise. The catcher gets the pot from
    the air that gives up, and no more: calls stop bluffs from paying.
    """
    game = spot(stack=stack, bets="a")
    tree = compile_game(UnrolledBoardGame.zero_sum(game))
    found = solve_lp(tree)
    air = bluffs / (1 - bluffs)  # of the air hands, as all nuts bet
    assert found.value + 50 == pytest.approx(100 * (1 - (1 - air) / 2), abs=1e-6)
    strategy = found.strategy.mapping()
    bets = [np.mean([row["a"] for name, row in strategy.items() if name in names]) for names in _groups(game)]
    assert bets == pytest.approx([1.0, air], abs=1e-6)
    calls = np.mean([row["c"] for name, row in strategy.items() if name.startswith("K") and name.endswith(":a")])
    assert calls == pytest.approx(100 / (100 + stack), abs=1e-6)


def _groups(game: Spot) -> list[set[str]]:
    return [{f"{hand}:" for hand in game.hands[0] if hand.startswith(rank)} for rank in "AQ"]


def test_values_sum_to_the_pot_less_rake() -> None:
    assert sum(values(spot(**TINY["river"]))) == pytest.approx(100)
    game = spot(**TINY["rake"])
    assert 92 - 1e-9 <= sum(values(game)) <= 95 + 1e-9


def test_strengths_use_the_whole_board() -> None:
    game = spot(**TINY["turn"])
    state = game.root().child(0).child(0).child(0)  # 2d
    while state.actor != TERMINAL:
        state = state.child(0)
    strengths = state.payoff().strengths  # type: ignore[union-attr]
    for player in (0, 1):
        for hand, strength in zip(game.hand_indices[player], strengths[player], strict=True):
            assert strength == rank([*HAND_CARDS[hand].tolist(), *state.board])


# --- invalid arguments ---


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"board": "2c3d5h8s2c"}, ("board '2c3d5h8s2c'", "'2c' at position 9")),
        ({"board": (0, 1, 2, 1)}, ("board '2c2d2h2d': ", " 2d")),
        ({"board": "2c3d"}, ("board '2c3d': 2 cards",)),
        ({"board": ""}, ("board '': 0 cards",)),
        ({"board": "2c3d5h8s9cTc"}, ("board '2c3d5h8s9cTc': 6 cards",)),
        ({"board": (0, 1, 52)}, ("card number 52",)),
        ({"board": "2x3d5h"}, ("token '2x' at position 1",)),
        ({"oop": ""}, ("range of oop", "hands such as")),
        ({"ip": "AA:0"}, ("range of ip", "hands such as")),
        ({"ip": Range(np.zeros(1326))}, ("range of ip", "hands such as")),
        ({"ip": "AK?"}, ("range of ip", "token 'AK?' at position 1")),
        ({"oop": "9c9d,9c9h"}, ("range of oop", "'9h9c,9d9c'", "2c3d5h8s9c")),
        ({"oop": "AsAh,AsAc", "ip": "AsKs,AsQs"}, ("'AsAh,AsAc'", "'AsKs,AsQs'")),
        ({"bets": "0%"}, ("bets.river.bet: size '0%'",)),
        ({"bets": "33%, -75%"}, ("size '-75%' (number 2",)),
        ({"raises": "2x", "bets": "2x"}, ("bets.river.bet: size '2x'",)),
        ({"bets": {"rivr": {"bet": "50%"}}}, ("bets: ", "'rivr'", "'river'")),
        ({"bets": {"river": {"bets": "50%"}}}, ("bets.river: ", "'bets'", "'bet'")),
        ({"bets": {"oop": {"rivers": {}}}}, ("bets.oop: ", "'rivers'", "'river'")),
        ({"bets": {"river": "50%"}}, ("bets.river = '50%'",)),
        ({"bets": {"oop": {"river": "50%"}}}, ("bets.oop.river = '50%'",)),
        ({"bets": {"river": {}, "ip": {"river": {"donk": "50%"}}}}, ("bets.ip.river.donk", "bets.oop")),
        ({"board": "2c3d5h", "bets": {"turn": {"bet": "50%"}}}, ("oop on the flop", "flop = {}")),
        ({"bets": {"oop": {"river": {"bet": "50%"}}}}, ("ip on the river",)),
        ({"bets": {"river": {}}, "raises": "2x"}, ("raises and donks",)),
        ({"pot": 0}, ("pot=0",)),
        ({"pot": -5}, ("pot=-5",)),
        ({"pot": 10.5}, ("pot=10.5: ",)),
        ({"pot": "180"}, ("pot='180': ",)),
        ({"pot": True}, ("pot=True",)),
        ({"stack": 0}, ("stack=0: ",)),
        ({"stack": -1}, ("stack=-1: ",)),
        ({"stack": 99.5}, ("stack=99.5: ",)),
        ({"rake": 1.0}, ("rake rate 1.0",)),
        ({"rake": -0.1}, ("rake rate -0.1",)),
        ({"rake": "5%"}, ("rake rate '5%'", "0.05")),
        ({"rake_cap": -1}, ("rake cap -1",)),
        ({"rake_cap": float("nan")}, ("rake cap nan",)),
        ({"merge": "-1%"}, ("merge = '-1%'",)),
        ({"add_all_in": 1.0}, ("add_all_in = 1.0",)),
        ({"raise_cap": -1}, ("raise_cap=-1",)),
        ({"raise_cap": 1.5}, ("raise_cap=1.5",)),
        ({"donk_bets": "no"}, ("donk_bets='no'",)),
        ({"deck": Deck("AKQJT", "hs")}, ("board '2c3d5h8s9c': 2c",)),
        ({"board": "AhKhQh", "deck": Deck("AKQJ", "hs")}, ("deck of 8 cards",)),
        ({"board": "AhKhQh", "oop": "22", "deck": Deck("AKQJT", "hs")}, ("range of oop", "'22'", "deck")),
    ],
)
def test_invalid_arguments(changes: dict[str, Any], words: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        spot(**changes)
    for word in words:
        assert word in str(caught.value)


def test_messages_differ() -> None:
    found = set()
    for changes in ({"board": "2c3d"}, {"oop": ""}, {"oop": "9c9d"}, {"bets": "0%"}, {"pot": 0}, {"stack": 0}):
        with pytest.raises(InputError) as caught:
            spot(**changes)
        found.add(str(caught.value))
    assert len(found) == 6


def test_menus_are_by_street() -> None:
    game = spot(board="2c3d5h8s", stack=1000, bets={"turn": {"bet": "50%"}, "river": {"bet": "100%"}})
    later = replace(game, board=(*game.board, 50))
    assert later.betting.actions(0) == ("x", f"b{game.pot}")


# --- menus ---


def test_omitted_streets_repeat_the_last_one() -> None:
    game = spot(
        board="2c3d5h",
        bets={"flop": {"bet": "10%", "donk": "20%"}, "river": {"bet": "30%"}, "ip": {"turn": {"bet": "40%"}}},
    )
    assert game.menu is not None
    shown = [[str(game.menu.level_for(seat, street, 0)) for street in (1, 2, 3)] for seat in (0, 1)]
    assert shown == [["10%", "10%", "30%"], ["10%", "40%", "30%"]]
    donks = [str(game.menu.level_for(0, street, 0, donk=True)) for street in (1, 2, 3)]
    assert donks == ["20%", "20%", "30%"]  # the river has no donk sizes of its own


def test_a_menu_of_an_earlier_street_applies_to_later_roots() -> None:
    game = spot(bets={"flop": {"bet": "10%"}})
    assert game.menu is not None
    assert str(game.menu.level_for(0, len(game.board) - 2, 0)) == "10%"


# --- locks ---


@pytest.mark.parametrize(
    ("lock", "words"),
    [
        (NodeLock("", (("x", 0.25), ("a", 0.75))), ()),
        (NodeLock("x-a", (("c", 1.0),), Range.parse("AA")), ()),
        (NodeLock("x-x/Kd-x", (("x", 1.0),)), ()),
        (NodeLock("b50", (("c", 1.0),)), ("lock 1 at 'b50'", "x, a")),
        (NodeLock("a-f", (("c", 1.0),)), ("lock 1 at 'a-f'",)),
        (NodeLock("x-x", (("c", 1.0),)), ("lock 1 at 'x-x'",)),
        (NodeLock("a", (("x", 1.0),)), ("lock 1 at 'a'", "'x'", "c, f")),
        (NodeLock("a", (("c", 0.5), ("f", 0.4))), ("lock 1 at 'a'", "[0.5, 0.4]")),
        (NodeLock("a", (("c", 1.5), ("f", -0.5))), ("lock 1 at 'a'", "[1.5, -0.5]")),
        (NodeLock("a", (("c", 1.0),), Range.parse("AA")), ("lock 1 at 'a'", "ip", "'AA'")),
        (NodeLock("x-x/2c-x", (("x", 1.0),)), ("lock 1 at 'x-x/2c-x'", "2c3d5h8s")),
        (NodeLock("x-x/KdKh-x", (("x", 1.0),)), ("lock 1 at 'x-x/KdKh-x'", "'KdKh'")),
    ],
)
def test_locks(lock: NodeLock, words: tuple[str, ...]) -> None:
    game = spot(board="2c3d5h8s", locks=[lock])
    if not words:
        check_locks(game)
        return
    with pytest.raises(InputError) as caught:
        check_locks(game)
    for word in words:
        assert word in str(caught.value)


def test_every_hand_may_be_in_a_range() -> None:
    game = spot(board="Td9d6h", oop="99,AsKs,Td9h,8c7c", ip="random", bets="")
    free = [pair for pair in combinations(range(52), 2) if not set(pair) & set(game.board)]
    assert len(game.hands[1]) == len(free) == 1176
    assert game.hands[0] == ("8c7c", "9h9c", "9s9c", "9s9h", "AsKs")


def test_a_lock_is_added_and_checked() -> None:
    spot = Spot.make(board="QsJh2h8c3d", pot=100, stack=100, oop="AA,KK", ip="QQ,99", bets="50%")
    locked = spot.lock("x", {"x": 1.0}).lock("b50", {"f": 0.25, "c": 0.75}, hands="99")
    assert [lock.line for lock in locked.locks] == ["x", "b50"]
    assert locked.locks[0].hands is None
    assert locked.locks[1].strategy == (("f", 0.25), ("c", 0.75))
    assert spot.locks == ()  # a new spot
    with pytest.raises(InputError, match="lock 1 at 'b60'"):
        spot.lock("b60", {"f": 1.0})
    with pytest.raises(InputError, match="lock 1 at 'b50'"):
        spot.lock("b50", {"f": 0.5})
    with pytest.raises(InputError, match="lock at 'b50'"):
        spot.lock("b50", {"f": 1.0}, hands="ZZ")
