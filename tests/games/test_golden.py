"""Sizes, rules and payoffs that are known from other sources, and invalid names and options.

Counts of states and information sets are those of OpenSpiel's integration_tests/api_test.py unless a comment says
otherwise. Bluff follows Lanctot, Gibson, Burch & Bowling 2012 ("No-regret learning in extensive-form games with
imperfect recall"), whose (2,2) game has "352 million" information sets.
"""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riverboat.core.errors import InputError
from riverboat.games import registry
from riverboat.games.base import CHANCE, TERMINAL, ComparisonPayoff, ConstantPayoff, HistoryGame, Payoff, PublicGame
from riverboat.games.registry import game_from_spec
from riverboat.games.small.betting import SmallBettingState, SmallPokerRules, card_names
from riverboat.games.small.bluff import Bluff
from riverboat.games.small.normal_form import NormalForm, matrix, rpst
from riverboat.games.small.poker import kuhn, leduc
from riverboat.games.small.toy_games import CoinToss, clairvoyance_with_chips
from riverboat.games.tree_layout import layout_from_states
from riverboat.solvers.tabular.best_response import quality
from riverboat.strategies.tabular import Strategy
from riverboat.trees.compile import compile_game, to_history_tree
from riverboat.trees.history import HistoryTree
from riverboat.trees.public import PublicTree


def public(spec: str) -> PublicTree:
    tree = compile_game(game_from_spec(spec))
    assert isinstance(tree, PublicTree)
    return tree


def follow(game: Any, *labels: str) -> Any:
    """Return the state after some actions and outcomes, by their labels."""
    state = game.root()
    for label in labels:
        names = [o.label for o in state.outcomes()] if state.actor == CHANCE else list(state.actions())
        state = state.child(names.index(label))
    return state


def pay(payoff: Payoff, h0: int, h1: int) -> tuple[float, float]:
    """Return the payoffs of two hands, straight from the definition."""
    if isinstance(payoff, ConstantPayoff):
        return payoff.payoffs
    assert isinstance(payoff, ComparisonPayoff)
    mine, theirs = payoff.strengths[0][h0], payoff.strengths[1][h1]
    return payoff.win if mine > theirs else payoff.lose if mine < theirs else payoff.tie


# --- sizes ---


@pytest.mark.parametrize(
    ("spec", "states", "infosets"),
    [
        ("kuhn", (4, 24, 30), 12),
        ("leduc", (157, 3780, 5520), 936),
        ("bluff:1,1", (7, 147456, 147420), 24576),
    ],
)
def test_states_and_infosets(spec: str, states: tuple[int, int, int], infosets: int) -> None:
    tree = public(spec)
    actor = to_history_tree(tree).nodes.actor
    assert (np.sum(actor == CHANCE), np.sum(actor >= 0), np.sum(actor == TERMINAL)) == states
    assert tree.infoset_count == to_history_tree(tree).infoset_count == infosets


@pytest.mark.parametrize(
    ("spec", "sequences"),
    [
        ("kuhn", 13),  # the empty one and two for each of six information sets
        ("leduc", 1093),  # 1 + 6 cards × (7 moves before + 5 ways on × 5 public cards × 7 after)
    ],
)
def test_sequences_of_each_player(spec: str, sequences: int) -> None:
    tree = to_history_tree(public(spec))
    assert [tree.treeplex(player).sequences for player in (0, 1)] == [sequences, sequences]


def test_leduc_betting_nodes() -> None:
    # Six betting nodes before the public card; five continuations; six again on each of six cards.
    tree = public("leduc")
    decisions = np.flatnonzero(tree.nodes.actor >= 0)
    assert np.sum(tree.board_of_node[decisions] == 0) == 6
    assert np.sum(tree.nodes.actor == CHANCE) == 5
    assert len(decisions) == 6 + 5 * 6 * 6


def infosets_of_bluff(first: int, second: int) -> int:
    """A player acts after every set of bids whose last one is the opponent's: half of all sets."""
    rolls = {1: 6, 2: 21, 3: 56}  # unordered rolls of six-sided dice
    return (rolls[first] + rolls[second]) * 2 ** (6 * (first + second) - 1)


@pytest.mark.parametrize("dice", [(1, 1), (2, 1), (1, 2)])
def test_infosets_of_bluff(dice: tuple[int, int]) -> None:
    tree = PublicTree(Bluff(dice, values={"bluff:1,1": -0.027}))
    assert tree.infoset_count == infosets_of_bluff(*dice)
    assert len(tree.nodes.actor) == 2 ** (6 * sum(dice) + 1) - 1
    if dice[0] == dice[1]:  # every edge of the tree is a move of somebody with this many rolls
        assert tree.action_count == 6 * (2**13 - 2)


def test_published_numbers_of_infosets_of_bluff() -> None:
    assert infosets_of_bluff(1, 1) == 24_576
    assert infosets_of_bluff(2, 1) == 3_538_944
    assert infosets_of_bluff(2, 2) == 352_321_536


def test_layout_of_bluff_agrees_with_the_traversed_tree() -> None:
    game = Bluff((1, 1))
    filled, walked = game.layout(), layout_from_states(game)
    assert np.array_equal(filled.actor, walked.actor)
    assert np.array_equal(filled.end, walked.end)
    for n, who in enumerate(filled.actor):
        table = "payoffs" if who == TERMINAL else "action_labels"
        assert getattr(filled, table)[filled.index[n]] == getattr(walked, table)[walked.index[n]]


@pytest.mark.slow
def test_bluff_with_four_dice_fits_in_memory() -> None:
    pytest.importorskip("resource")  # not on Windows
    tree = PublicTree(Bluff((2, 2), values={"bluff:2,1": 0.6165}))
    assert len(tree.nodes.actor) == 2**25 - 1
    assert tree.infoset_count == infosets_of_bluff(2, 2) == 352_321_536
    assert tree.action_count == 21 * (2**25 - 2)
    # 9 bytes of layout and 10 of indices per node, and a few temporary arrays of 8 bytes.
    assert sum(array.nbytes for array in tree.nodes) < 0.6e9
    # In a process of its own. Linux hands the peak of `getrusage` on to programs that a process starts.
    read_peak = (
        "print(1024 * int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]))"
        if sys.platform == "linux"
        else "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == 'darwin' else 1024))"
    )
    lines = (
        "import resource, sys",
        "from riverboat.games.small.bluff import Bluff",
        "from riverboat.trees.public import PublicTree",
        "PublicTree(Bluff((2, 2), values={'bluff:2,1': 0.6165}))",
        read_peak,
    )
    peak = int(subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, check=True).stdout)
    assert peak < 3e9


# --- betting ---


def totals(menu: str, line: str = "", **options: Any) -> list[str]:
    """Return the actions after a line such as `r3 c`, with a stack of 20 besides an ante of 1."""
    state = SmallBettingState.start(SmallPokerRules(**{"stack": 20.0, "menu": menu, **options}))
    for label in line.split():
        state = state.apply_action(label)
    return list(state.legal_actions())


@pytest.mark.parametrize(
    ("menu", "line", "moves"),
    [
        ("50%", "", "c r2"),  # half of a pot of 2
        ("100%", "", "c r3"),
        ("100%", "r3", "f c r9"),  # calling makes the pot 6: three to call and six on top
        ("100%", "r3 r9", "f c r21"),  # 27 is more than the stack
        ("3c", "", "c r4"),
        ("3c", "r4", "f c r7"),  # raise by three
        ("a", "", "c r21"),
        ("a", "r21", "f c"),  # nothing is left to raise with
        ("a", "c", "c r21"),
        ("100%/2c/a", "", "c r3 r21"),  # equal sizes are one move
        ("a/50%/100%", "", "c r2 r3 r21"),  # upwards, whatever the order of the menu
        ("25%", "", "c r2"),  # 0.5 is rounded up
        ("20%", "", "c r2"),  # 0.4 is rounded to nothing, which is below the least bet of one chip
        ("75%", "c", "c r3"),  # 1.5 is rounded up
        ("400%/1c", "r9", "f c r17 r21"),  # at least the last raise of eight; four pots are more than the stack
        ("5000%", "", "c r21"),
    ],
)
def test_no_limit_menus(menu: str, line: str, moves: str) -> None:
    assert totals(menu, line) == moves.split()


def test_every_size_from_the_minimum_raise_to_all_in() -> None:
    every = [f"r{total}" for total in range(2, 22)]
    assert totals("*") == ["c", *every]
    assert totals("*", "r4") == ["f", "c", *every[5:]]  # by three at least: r7
    assert totals("*", "r4 r7") == ["f", "c", *every[8:]]  # the raise was by three again
    assert totals("*", "r12") == ["f", "c", "r21"]  # by eleven is not to be had: all in is, though short
    assert totals("*", "c") == ["c", *every]


def test_cap_counts_the_raises_of_a_round() -> None:
    assert totals("*", "r4", cap=1) == ["f", "c"]
    assert totals("a", "", cap=0) == ["c"]
    assert totals("1c", "r2 r3", cap=3) == ["f", "c", "r4"]


def test_a_new_round_starts_with_the_first_player_and_the_minimum_bet() -> None:
    state = SmallBettingState.start(SmallPokerRules(stack=20.0, menu="1c", cap=1)).apply_action("r2").apply_action("c")
    assert state.round_over
    assert not state.all_in
    after = state.next_round()
    assert (after.actor, after.raises, after.spent, after.legal_actions()) == (0, 0, (2, 2), ("c", "r3"))


def test_small_chips() -> None:
    assert totals("50%", chip=0.25, ante=0.5) == ["c", "r1"]
    assert totals("50%", "r1", chip=0.25, ante=0.5) == ["f", "c", "r2"]
    assert totals("0.25c", chip=0.25, ante=0.5) == ["c", "r0.75"]
    rules = SmallPokerRules(stack=1.0, ante=0.5, chip=0.25)
    assert SmallBettingState.start(rules).apply_action("r0.75").apply_action("f").stakes() == 0.5
    assert SmallBettingState.start(rules).apply_action("r0.75").apply_action("c").stakes() == 0.75


def test_limit_betting_of_leduc() -> None:
    game = leduc()
    assert follow(game).actions() == ("c", "r")
    assert follow(game, "r").actions() == ("f", "c", "r")
    assert follow(game, "r", "r").actions() == ("f", "c")  # two raises a round
    assert follow(game, "c", "r").actions() == ("f", "c", "r")
    assert follow(game, "r", "r", "c").actor == CHANCE
    assert follow(game, "r", "f").payoff() == ConstantPayoff((1.0, -1.0))  # the ante, not the raise
    assert follow(game, "r", "r", "f").payoff() == ConstantPayoff((-3.0, 3.0))
    last = follow(game, "r", "r", "c", "/Ks/", "r", "r", "c").payoff()
    assert last.win == (13.0, -13.0)  # 1 + 2 × 2 + 2 × 4, the most that Leduc can cost
    assert follow(game, "c", "c", "/Ks/", "c", "r", "c").payoff().lose == (-5.0, 5.0)


def test_there_is_no_betting_after_a_called_all_in() -> None:
    state = follow(leduc(stack=4.0), "r5", "c")
    assert state.actor == CHANCE
    assert all(state.child(k).actor == TERMINAL for k in range(len(state.outcomes())))
    assert state.child(0).payoff().win == (5.0, -5.0)


# --- cards ---


@pytest.mark.parametrize(
    ("ranks", "suits", "names"),
    [
        (3, 1, "J Q K"),
        (3, 2, "Jh Js Qh Qs Kh Ks"),
        (1, 4, "Kc Kd Kh Ks"),
        (12, 1, "2 3 4 5 6 7 8 9 T J Q K"),
        (13, 1, "2 3 4 5 6 7 8 9 T J Q K A"),
        (14, 1, "1. 2. 3. 4. 5. 6. 7. 8. 9. 10. 11. 12. 13. 14."),
    ],
)
def test_card_names(ranks: int, suits: int, names: str) -> None:
    assert card_names(ranks, suits) == tuple(names.split())


def test_showdowns_of_leduc() -> None:
    """All 120 deals, with the winner by the written rule: a pair with the public card, else the higher card."""
    game = leduc()
    cards = game.hands[0]
    for mine, theirs, board in permutations(range(6), 3):
        ranks = ["JQK".index(cards[c][0]) for c in (mine, theirs, board)]
        if ranks[0] == ranks[2]:
            sign = 1.0  # there are two of each rank, so the other has no pair
        elif ranks[1] == ranks[2]:
            sign = -1.0
        else:
            sign = float(np.sign(ranks[0] - ranks[1]))
        payoff = follow(game, "c", "c", f"/{cards[board]}/", "c", "c").payoff()
        assert pay(payoff, mine, theirs) == (sign, -sign), (cards[mine], cards[theirs], cards[board])


def test_pairs_of_one_rank_split_when_there_are_three_suits() -> None:
    game = leduc(suits=3)
    payoff = follow(game, "c", "c", "/Jd/", "c", "c").payoff()
    hands = {card: h for h, card in enumerate(game.hands[0])}
    assert pay(payoff, hands["Jh"], hands["Js"]) == (0.0, 0.0)
    assert pay(payoff, hands["Jh"], hands["Ks"]) == (1.0, -1.0)


def test_the_public_card_is_not_a_hole_card() -> None:
    state = follow(leduc(), "c", "c")
    outcomes = state.outcomes()
    assert [o.label for o in outcomes] == ["/Jh/", "/Js/", "/Qh/", "/Qs/", "/Kh/", "/Ks/"]
    assert all(o.weight == 0.25 and o.dead == ((k,), (k,)) for k, o in enumerate(outcomes))


# --- toy games, normal forms and dice ---


def test_published_payoffs_of_coin_toss() -> None:
    """Brown & Sandholm 2017, figure 1: heads sells for 0.5, tails for -0.5; a right guess costs one."""
    game = CoinToss()
    heads, tails = 0, 1
    assert pay(follow(game, "left").payoff(), heads, 0) == (0.5, -0.5)
    assert pay(follow(game, "left").payoff(), tails, 0) == (-0.5, 0.5)
    for guess, right, wrong in (("heads", heads, tails), ("tails", tails, heads)):
        assert pay(follow(game, "right", guess).payoff(), right, 0) == (-1.0, 1.0)
        assert pay(follow(game, "right", guess).payoff(), wrong, 0) == (1.0, -1.0)
    assert follow(game, "right", "forfeit").payoff() == ConstantPayoff((1.0, -1.0))
    assert pay(follow(CoinToss(left=0.25), "left").payoff(), tails, 0) == (-0.25, 0.25)


def test_published_payoffs_of_clairvoyance() -> None:
    """Ankenman & Chen 2006, example 11.1: a pot of one, half of it each player's."""
    game = clairvoyance_with_chips(stack=1.0, chip=0.3)
    assert game.bets == (0.3, 0.6, 0.9, 1.0)  # the stack itself is always there
    assert follow(game).actions() == ("c", "r0.3", "r0.6", "r0.9", "r1")
    assert follow(game, "r1").actions() == ("f", "c")
    assert follow(game, "r1", "f").payoff() == ConstantPayoff((0.5, -0.5))
    assert pay(follow(game, "r1", "c").payoff(), 0, 0) == (1.5, -1.5)
    assert pay(follow(game, "r1", "c").payoff(), 1, 0) == (-1.5, 1.5)
    assert pay(follow(game, "c").payoff(), 1, 0) == (-0.5, 0.5)
    assert clairvoyance_with_chips(stack=2.0, chip=0.5).bets == (0.5, 1.0, 1.5, 2.0)


def test_toothpick_is_a_gift() -> None:
    """Ganzfried & Sandholm 2012, table 1: uniform play earns (4 + 3 + 3) / 3 from it and nothing from the others."""
    table = rpst().table
    assert table[..., 0].mean(axis=0) == pytest.approx([0, 0, 0, 10 / 3])
    assert np.array_equal(table[..., 1], -table[..., 0])
    assert np.array_equal(table[:, :3, 0], game_from_spec("rps").table[..., 0])
    assert np.all(table[:, 3, 0] > table[:, :3, 0].max(axis=1))  # dominated for player 1
    tree = compile_game(rpst())
    third = {"rock": 1 / 3, "paper": 1 / 3, "scissors": 1 / 3}
    against = Strategy.from_mapping(tree, {"player 0": third, "player 1": {"toothpick": 1.0}})
    assert quality(against).values == pytest.approx((10 / 3, -10 / 3))


def test_normal_forms_of_two_and_three_players() -> None:
    dilemma = matrix([[[3, 0], [5, 1]], [[3, 5], [0, 1]]], ("c", "d"), ("c", "d"), "dilemma")
    assert follow(dilemma, "d", "c").payoffs() == [5.0, 0.0]
    assert [follow(dilemma).infoset(), follow(dilemma, "c").infoset()] == ["player 0", "player 1"]
    three = NormalForm(np.arange(24.0).reshape(2, 2, 2, 3), (("a", "b"),) * 3)
    assert follow(three, "b", "a", "b").payoffs() == [15.0, 16.0, 17.0]
    tree = compile_game(three)
    assert isinstance(tree, HistoryTree)
    assert (tree.players, tree.infoset_count) == (3, 3)
    assert matrix([[1, 2]]).labels == (("r1",), ("c1", "c2"))


def test_bluff_counts_stars_and_the_winner_starts() -> None:
    game = Bluff((2, 1), values={"bluff:1,1": -0.027})
    assert set(game.continuations) == {"bluff:1,1"}
    assert game.hands[0][:6] == ("11", "12", "13", "14", "15", "1*")
    assert game.deal.joint()[0, 0] == pytest.approx(1 / 216)
    assert game.deal.joint()[1, 0] == pytest.approx(2 / 216)  # 12 and 21
    payoff = follow(game, "2-3", "bluff").payoff()  # player 1 doubts two threes
    hand = game.hands[0].index
    assert pay(payoff, hand("3*"), 0) == (1.0, -1.0)  # true: player 1 loses its only die
    assert pay(payoff, hand("13"), 5) == (1.0, -1.0)  # the star of player 1 counts
    assert pay(payoff, hand("13"), 2) == (1.0, -1.0)
    # False: player 0 keeps one die, and player 1 starts Bluff(1,1), whose value is -0.027 to its starter.
    assert pay(payoff, hand("13"), 0) == (0.027, -0.027)
    stars = follow(game, "1-*", "bluff").payoff()
    assert pay(stars, hand("55"), 4) == (0.027, -0.027)  # only stars are stars
    assert follow(game, "1-3").actions()[:4] == ("bluff", "1-4", "1-5", "1-*")
    assert follow(game, "3-*").actions() == ("bluff",)


# --- names ---


def test_options_by_position_and_by_name() -> None:
    assert game_from_spec("kuhn:4") == game_from_spec("kuhn:cards=4") == kuhn(4)
    assert game_from_spec("leduc:4,suits=3") == leduc(4, 3)
    assert game_from_spec("kuhn:stack=3,menu=50%/a") == kuhn(stack=3.0, menu="50%/a")
    assert game_from_spec("coin_toss:left=0.25") == CoinToss(0.25)
    assert game_from_spec("bluff:2,1").name == "bluff:2,1"
    assert registry.game_options("bluff") == {"first": 1, "second": 1}


THIRD_PARTY = """
from riverboat.games.small.poker import kuhn
from riverboat.games.small.toy_games import CoinToss

instance = kuhn(5)
factory = kuhn
Class = CoinToss
number = 7

def nothing():
    return None

def needs(argument):
    return kuhn(argument)
"""


@pytest.fixture
def third_party(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "dockside.py").write_text(THIRD_PARTY)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "dockside", raising=False)
    return "dockside"


@pytest.mark.parametrize(("name", "game"), [("instance", kuhn(5)), ("factory", kuhn()), ("Class", CoinToss())])
def test_user_games(third_party: str, name: str, game: Any) -> None:
    made = game_from_spec(f"{third_party}:{name}")
    assert isinstance(made, HistoryGame | PublicGame)
    assert made == game


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("number", "int .*docs/your-own-game.md"),
        ("nothing", "NoneType"),
        ("absent", "dockside .*'absent'"),
        ("needs", "TypeError: needs.. missing 1 required positional argument: 'argument'"),
    ],
)
def test_user_objects_that_are_no_games(third_party: str, name: str, message: str) -> None:
    with pytest.raises(InputError, match=f"game '{third_party}:{name}': .*{message}"):
        game_from_spec(f"{third_party}:{name}")


OTHERS = ("open_spiel:NAME", "FILE.efg", "FILE.nfg", "FILE.toml", "module:object", "spot")
KNOWN = f"(known: {', '.join(sorted([*registry.GAMES, *OTHERS]))})"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", f"unknown game '' {KNOWN}"),
        ("kuhm", f"unknown game 'kuhm'; did you mean 'kuhn'? {KNOWN}"),
        ("zzz", f"unknown game 'zzz' {KNOWN}"),
        ("kuhm:cards=4", f"unknown game 'kuhm'; did you mean 'kuhn'? {KNOWN}"),  # not a module called kuhm
        ("7 + 7:x", f"unknown game '7 + 7' {KNOWN}"),
        ("no_such_module:thing", "game 'no_such_module:thing': no module 'no_such_module'"),
        ("absent.efg", "game file 'absent.efg': "),
        ("rps:7", "game 'rps:7': '7'"),
        ("bluff:1,1,1", "game 'bluff:1,1,1': '1'"),
        ("kuhn:card=4", "game 'kuhn:card=4': unknown option 'card'; did you mean 'cards'? (known: ante, bet, cap, "),
        ("leduc:bet=3", "game 'leduc:bet=3': unknown option 'bet' (known: ante, cap, chip, menu, players, "),
        ("kuhn:cards=many", "game 'kuhn:cards=many': cards='many'"),
        ("kuhn:cards=3.5", "game 'kuhn:cards=3.5': cards='3.5'"),
        ("kuhn:cards=", "game 'kuhn:cards=': cards=''"),
        ("kuhn:ante=x", "game 'kuhn:ante=x': ante='x'"),
        ("kuhn:3,cards=4", "game 'kuhn:3,cards=4': option 'cards'"),
        ("bluff:x", "game 'bluff:x': first='x'"),
        # betting
        ("kuhn:chip=0", "chip=0"),
        ("kuhn:ante=-1", "ante=-1"),
        ("kuhn:ante=0.5", "ante=0.5"),
        ("kuhn:bet=0", "bet size 0"),
        ("kuhn:bet=1.5", "bet size=1.5"),
        ("kuhn:stack=0", "stack=0.0"),
        ("leduc:stack=2.5", "stack=2.5"),
        ("kuhn:stack=5,menu=50", "size '50' (number 1 of menu '50')"),
        ("kuhn:stack=5,menu=a/-1c", "size '-1c' (number 2 of menu 'a/-1c')"),
        ("kuhn:stack=5,menu=", "size '' (number 1 of menu '')"),
        ("kuhn:stack=9,menu=2.5c", "menu size 2.5c=2.5"),
        ("kuhn:cap=-1", "cap=-1"),
        ("kuhn:stack=nan", "stack=nan"),
        ("kuhn:stack=inf", "stack=inf"),
        ("kuhn:ante=nan", "ante=nan"),
        ("kuhn:chip=nan", "chip=nan"),
        ("kuhn:bet=inf", "bet size=inf"),
        # cards
        ("kuhn:cards=1", "kuhn: 1 ranks x 1 suits"),
        ("leduc:2,1", "leduc: 2 ranks x 1 suits"),
        ("kuhn:cards=-3", "kuhn: -3 ranks x 1 suits"),
        ("leduc:suits=5", "leduc: suits=5"),
        ("leduc:suits=0", "leduc: suits=0"),
        # dice
        ("bluff:0,1", "bluff:0,1"),
        ("bluff:3,2", "bluff:3,2: 2^31 public nodes"),
        # toy games
        ("clairvoyance:chip=0", "chip=0"),
        ("clairvoyance:stack=inf", "stack=inf, chip=0.1"),
        ("clairvoyance:chip=nan", "stack=1, chip=nan"),
        ("coin_toss:left=nan", "coin_toss: left=nan"),
        ("clairvoyance:stack=0.05", "stack=0.05"),
    ],
)
def test_invalid_names_and_options(spec: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as caught:
        game_from_spec(spec)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: SmallPokerRules(), "stack=None: a no-limit game needs a stack above zero"),
        (lambda: SmallPokerRules(sizes=(2.0,)), "a limit game needs a cap"),
        (lambda: SmallPokerRules(sizes=(2.0, -1.0), cap=1), "bet size -1: must be above zero"),
        (lambda: matrix([1, 2]), "matrix: payoffs of shape (2,): "),
        (lambda: matrix([[]]), "matrix: payoffs of shape (1, 0): "),
        (lambda: matrix(np.zeros((3, 2, 2))), "matrix: payoffs of shape (3, 2, 2): "),
        (lambda: matrix([[1, 2]], rows=("a", "b")), "matrix: 2 row and 2 column names"),
        (lambda: matrix([[1, float("nan")]]), "matrix: the payoff at (0, 1, 0) is nan"),
        (
            lambda: NormalForm(np.zeros((2, 2)), (("a", "b"),) * 2),
            "matrix: payoffs of shape (2, 2): ",
        ),
        (lambda: NormalForm(np.zeros((2, 2, 3)), (("a", "b"),) * 2), "matrix: payoffs of shape (2, 2, 3): "),
        (lambda: matrix([[1, 2], [3]]), "matrix: "),
        (lambda: matrix("abc"), "matrix: "),
        (lambda: matrix([[1, 2], [3, 4]], rows=("a", "a")), "matrix: duplicate action names of player 0"),
        (
            lambda: NormalForm(np.zeros((2, 2, 2)), (("a",), ("b", "c"))),
            "matrix: 1 names for the 2 actions of player 0",
        ),
        (lambda: registry.game_options("kuhm"), "unknown game 'kuhm'; did you mean 'kuhn'?"),
        (lambda: compile_game(7), "game=7: is not a game"),  # type: ignore[arg-type]
    ],
)
def test_invalid_arguments(build: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        build()
    assert str(caught.value).startswith(message)


@dataclass(frozen=True)
class Coin:
    """A toss of a coin that pays; the game is its own state."""

    probabilities_: tuple[float, ...] = (0.5, 0.5)
    labels: tuple[str, ...] = ("h", "t")
    pay: tuple[float, float] = (1.0, -1.0)
    actor: int = CHANCE
    name: str = "coin"
    unit: str = "points"
    players: int = 2

    def root(self) -> Coin:
        return self

    def actions(self) -> tuple[str, ...]:
        return self.labels

    def probabilities(self) -> tuple[float, ...]:
        return self.probabilities_

    def child(self, index: int) -> Coin:
        return replace(self, actor=TERMINAL)

    def payoffs(self) -> tuple[float, float]:
        return self.pay


def test_the_unmodified_coin_compiles() -> None:
    assert compile_game(Coin()).infoset_count == 0


# Invalid games that must raise InputError.
@pytest.mark.parametrize(
    "build",
    [
        pytest.param(lambda: compile_game(Coin(pay=(math.nan, 0.0))), id="payoff is NaN"),
        pytest.param(lambda: compile_game(Coin((math.nan, 0.5))), id="probability is NaN"),
        pytest.param(lambda: compile_game(Coin(labels=("h", "h"))), id="duplicate outcome labels"),
        pytest.param(lambda: compile_game(Bluff((2, 1), {"bluff:1,1": math.nan})), id="value is NaN"),
        pytest.param(lambda: game_from_spec("kuhn:stack=1e300"), id="too many sizes"),
        pytest.param(lambda: game_from_spec("kuhn:menu=a"), id="menu in a limit game"),
        pytest.param(lambda: game_from_spec("kuhn:stack=5,bet=3"), id="bet in a no-limit game"),
    ],
)
def test_invalid_games(build: Any) -> None:
    with pytest.raises(InputError):
        build()


def test_deep_public_trees_compile() -> None:
    tree = public("kuhn:stack=2000,menu=1c")
    assert tree.depth == 2003  # raises of one chip, then a call; the root counts
