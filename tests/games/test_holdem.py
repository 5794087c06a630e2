"""Limit hold'em from the deal: counts, payoffs, order of play."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pytest

from riverboat.cards.deck import FULL_DECK, HAND_CARDS
from riverboat.cards.isomorphism import HandIndexer
from riverboat.cards.ranking import rank
from riverboat.core.errors import InputError
from riverboat.games import registry
from riverboat.games.base import CHANCE, TERMINAL, PublicGame
from riverboat.games.boards.board_game import BoardGame
from riverboat.games.boards.holdem import Holdem, holdem
from riverboat.solvers.exact.lp import solve_lp
from riverboat.solvers.tabular.best_response import quality
from riverboat.testing import check_game
from riverboat.trees.compile import compile_game


def decisions(game: Holdem) -> list[int]:
    """Return the number of betting decisions of each round."""
    betting = game.betting
    return [int(((betting.street == k) & (betting.actor >= 0)).sum()) for k in range(len(game.deals) + 1)]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("4-4", [8, 70, 630, 5670]),  # limit hold'em, Johanson 2013, "Measuring the size of large no-limit poker games"
        ("2-4", [8, 70]),
        ("2-1", [4, 12]),
        ("1-4", [8]),
        ("3-2", [4, 18, 90]),  # x, b, r: three lines go on before the flop, five after it
    ],
)
def test_betting_decisions(kind: str, expected: list[int]) -> None:
    assert decisions(holdem(kind)) == expected


def test_information_sets_up_to_suits() -> None:
    """15,442,180 and 90,076,792: 169 hands before the flop and 1,286,792 hands with a flop."""
    hands, flops = HandIndexer((2,)).size(), HandIndexer((2, 3)).size()
    for kind, expected in (("2-1", 15_442_180), ("2-4", 90_076_792)):
        preflop, flop = decisions(holdem(kind))
        assert preflop * hands + flop * flops == expected


def test_the_game() -> None:
    game = registry.game_from_spec("holdem:2-1")
    assert isinstance(game, BoardGame)
    assert isinstance(game, PublicGame)
    assert isinstance(game, Holdem)
    assert (game.deals, game.board, game.deck, game.big_blind, game.unit) == ((3,), (), FULL_DECK, 10, "chips")
    assert [w.sum() for w in game.weights] == [1326, 1326]
    assert holdem().deals == (3, 1, 1)


def test_play_before_and_after_the_flop() -> None:
    betting = holdem("2-1").betting
    assert betting.actor[0] == 1  # the dealer
    assert betting.spent[0].tolist() == [10, 5]
    assert betting.actions(0) == ("f", "c", "r")
    call = next(n for n in betting.children(0) if betting.label[n] == "c")
    assert (betting.actor[call], betting.actions(call), betting.spent[call].tolist()) == (0, ("c", "r"), [10, 10])
    flop = call + 2
    assert (betting.actor[call + 1], betting.actor[flop], betting.street[flop]) == (CHANCE, 0, 1)


def test_payoffs_by_hand() -> None:
    betting = holdem("2-1").betting

    def end(line: str) -> list[list[float]]:
        node = betting.find(line.replace("/", "/8h7d2c/"), "").node
        assert betting.actor[node] == TERMINAL
        found: list[list[float]] = betting.payoffs[node].tolist()
        return found

    assert end("f") == [[5, -5]] * 3
    assert end("rf") == [[-10, 10]] * 3
    assert end("crf") == [[10, -10]] * 3
    assert end("cc/cc") == [[10, -10], [0, 0], [-10, 10]]
    assert end("rc/rc") == [[30, -30], [0, 0], [-30, 30]]
    assert end("rc/rf") == [[20, -20]] * 3  # the big blind bets, the dealer folds
    assert end("rc/crf") == [[-20, 20]] * 3


def test_lines_of_limit_games() -> None:
    betting = holdem("2-1").betting
    place = betting.find("crc/8h7d2c/cr", "")
    assert [cards[0] for cards in place.dealt] == [26]
    assert (betting.street[place.node], betting.actions(place.node)) == (1, ("f", "c"))
    with pytest.raises(InputError, match=r"'r' after 'cr'; .*f, c"):
        betting.find("crr", "")


def test_all_payoffs_are_zero_sum() -> None:
    betting = holdem().betting
    assert not betting.payoffs.sum(axis=2).any()
    assert betting.payoffs.max() == 240  # 40, then 4 · 10, 4 · 20 and 4 · 20


def test_bets_double_on_the_turn() -> None:
    assert holdem().betting.payoffs[:, 0, 0].max() == 40 + 40 + 80 + 80
    assert holdem(bets="1/2/4/8", blinds="1/1", raises="0/1/1/1").betting.payoffs.max() == 1 + 2 + 4 + 8


@pytest.mark.parametrize("kind", ["4-4", "2-1", "2-4", "3-2"])
def test_open_spiel_plays_the_same_game(kind: str) -> None:
    """Random hands through OpenSpiel's universal_poker: the same player, the same actions, the same payoffs."""
    pyspiel = pytest.importorskip("pyspiel")
    game, random = holdem(kind), np.random.default_rng(0)
    rules, rounds = game.rules, len(game.deals) + 1
    options = {
        "betting": "limit",
        "numPlayers": 2,
        "numRounds": rounds,
        "blind": "10 5",
        "raiseSize": " ".join(map(str, rules.raise_sizes)),
        "firstPlayer": " ".join(["2", "1", "1", "1"][:rounds]),
        "maxRaises": " ".join(map(str, rules.most_raises or ())),
        "numSuits": 4,
        "numRanks": 13,
        "numHoleCards": 2,
        "numBoardCards": " ".join(map(str, (0, *game.deals))),
    }
    open_spiel, betting = pyspiel.load_game("universal_poker", options), game.betting
    showdowns = 0
    for _ in range(200):
        state, node, cards = open_spiel.new_initial_state(), 0, random.permutation(52)[: 4 + sum(game.deals)].tolist()
        dealt = 0
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(cards[dealt])  # cards have the same numbers
                dealt += 1
                continue
            if betting.actor[node] == CHANCE:
                node += 1
            assert state.current_player() == betting.actor[node]
            assert ["fcr"[action] for action in state.legal_actions()] == list(betting.actions(node))
            index = int(random.integers(len(betting.actions(node))))
            if betting.actions(node)[index] == "f" and random.random() < 0.8:
                continue  # or few hands would be shown down
            state.apply_action(state.legal_actions()[index])
            node = list(betting.children(node))[index]
        assert betting.actor[node] == TERMINAL
        showdowns += betting.showdown[node]
        first, second = rank([*cards[:2], *cards[4:]]), rank([*cards[2:4], *cards[4:]])
        outcome = 0 if first > second else 1 if first == second else 2
        assert state.returns() == betting.payoffs[node, outcome].tolist()
    assert showdowns > 20


TINY = "holdem:2-1,ranks=7,suits=1"


def test_contract() -> None:
    report = check_game(registry.game_from_spec(TINY))
    assert report.complete
    assert report.zero_sum
    # Before the flop 4 decisions with 21 hands; after it 12 on each of 35 flops, with 6 hands of the remaining cards.
    assert report.infosets == 4 * 21 + 12 * 35 * comb(4, 2)


def test_deals_of_a_small_deck() -> None:
    game: Any = registry.game_from_spec("holdem:2-1,ranks=4,suits=2")
    state = game.root().child(1).child(0)
    outcomes = state.outcomes()
    assert len(outcomes) == comb(8, 3)
    assert {o.weight for o in outcomes} == {1 / comb(4, 3)}
    assert outcomes[0].label == "/JhJsQh/"
    held = list(combinations(game.deck.cards.tolist(), 2))
    assert sorted(map(tuple, HAND_CARDS[game.hand_indices[0]].tolist())) == sorted(held)
    for outcome in outcomes:
        assert len(outcome.dead[0]) == comb(8, 2) - comb(5, 2)


def test_a_check_down_is_fair() -> None:
    """Without raises the hand is shown down for the big blind in either seat; folding is worse."""
    found = solve_lp(compile_game(registry.game_from_spec("holdem:2-1,ranks=7,suits=1,raises=0/0,blinds=10/10")))
    assert found.value == pytest.approx(0, abs=1e-9)


def test_equilibrium_of_a_small_game() -> None:
    """The linear program's strategy is not exploitable, by the general traversal."""
    found = solve_lp(compile_game(registry.game_from_spec(TINY)))
    assert quality(found.strategy).exploitability == pytest.approx(0, abs=1e-6)
    assert np.diff(found.bracket) < 1e-6


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("2", ("kind='2'", "2-1")),
        ("5-1", ("kind='5-1'",)),
        ("2-1,raises=1/1/1", ("raises='1/1/1': 3", "kind='2-1'")),
        ("2-1,raises=1/x", ("raises='1/x'",)),
        ("2-1,raises=1/-1", ("-1 raises",)),
        ("4-1,bets=10/10", ("2 bet sizes for 4 rounds",)),
        ("2-1,bets=10/0", ("a bet of 0 chips",)),
        ("2-1,blinds=10", ("blinds='10'", "5/10")),
        ("2-1,blinds=10/5", ("blinds (10, 5)",)),
        ("2-1,ranks=3,suits=2", ("a deck of 6 cards: 7",)),
        ("2-1,ranks=14", ("14 ranks",)),
    ],
)
def test_invalid_options(options: str, words: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        registry.game_from_spec(f"holdem:{options}")
    for word in words:
        assert word in str(caught.value)
