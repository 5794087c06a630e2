"""Trees and spots from any betting state: trees are parts of the tree from the deal, and spots are such parts with
cards.
"""

from __future__ import annotations

import random
from dataclasses import replace
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riverboat.acpc.dealer import run_match
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.formats.spot_file import dumps, loads
from riverboat.games.base import CHANCE
from riverboat.games.boards.betting_tree import build_betting_tree
from riverboat.games.boards.board_game import BettingTree
from riverboat.games.holdem.action_tree import ActionTree, compile_action_tree, measure_action_tree
from riverboat.games.holdem.actions import compact_rules_arrays
from riverboat.games.holdem.betting import ACPC_NOTATION, STREET_NOTATION, ActionNotation, BettingState
from riverboat.games.holdem.betting_rules import (
    CALL,
    FOLD,
    NOBODY,
    apply_action,
    call_amount,
    deal_street,
    is_action_allowed,
    raise_bounds,
)
from riverboat.games.holdem.match_state import payoffs_of_result
from riverboat.games.holdem.menus import ActionMenu, MenuActions, menu_from_table, one_size_menu
from riverboat.games.holdem.rules import PokerRules, Rake, read_game
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.cfr import BoardCFR
from riverboat.strategies.reports.export import node_dict
from riverboat.trees.boards import BoardTree

NOLIMIT, LIMIT = read_game("nolimit-200bb"), read_game("limit")
MENU = menu_from_table(
    {"preflop": ["2.5x", "a"], "flop": ["50%", "100%, a"], "donk": {"turn": "25%"}, "most_raises": 2}
)
BOARD = "QsJh2h8c3d"


def lines(tree: BettingTree) -> dict[str, int]:
    """Return every line of a tree, with a slash for a deal."""
    found: dict[str, int] = {}
    work = [(0, "")]
    while work:
        node, line = work.pop()
        found[line] = node
        for child in tree.children(node):
            work.append((child, line + (tree.label[child] or "/")))
    return found


def random_root(rules: PokerRules, menu: ActionMenu | None, dice: random.Random, *, flop: bool = False) -> BettingState:
    """Return a state with a player to act, after actions of a menu."""
    while True:
        state, found = BettingState.start(rules), []
        while state.actor >= 0:
            found.append(state)
            moves = MenuActions(rules, menu).actions(state.compact)
            move = dice.choice(moves[1:] if len(moves) > 2 else moves)
            state = state.apply_action(move, check=False).deal_due_streets()
        found = [one for one in found if one.street or not flop]
        if found:
            return dice.choice(found)


GAMES = {
    "nolimit": (replace(NOLIMIT, stacks=(900, 900)), MENU),
    "unequal": (replace(NOLIMIT, stacks=(700, 1510)), MENU),
    "ante": (replace(NOLIMIT, stacks=(800, 800), ante=20), MENU),
    "limit": (LIMIT, None),
    "short limit": (replace(LIMIT, stacks=(47, 33)), None),
}


# --- trees ---


@pytest.mark.parametrize("name", GAMES)
def test_a_betting_tree_from_a_state_is_a_subtree(name: str) -> None:
    rules, menu = GAMES[name]
    whole, dice = build_betting_tree(BettingState.start(rules), name, menu), random.Random(name)
    found = lines(whole)
    for _ in range(6):
        root = random_root(rules, menu, dice)
        for since_root in (False, True):
            part = build_betting_tree(root, name, menu, since_root=since_root)
            at = found[root.line]
            here = slice(at, int(whole.end[at]))
            paid = np.array(root.spent if since_root else (0, 0))
            over = whole.actor[here] == -2
            assert part.label[1:] == whole.label[at + 1 : here.stop]
            np.testing.assert_array_equal(part.actor, whole.actor[here])
            np.testing.assert_array_equal(part.end + at, whole.end[here])
            np.testing.assert_array_equal(part.street + root.street, whole.street[here])
            np.testing.assert_array_equal(part.spent + paid, whole.spent[here])
            np.testing.assert_array_equal(part.payoffs[over], whole.payoffs[here][over] + paid)
            sums = part.payoffs[over].sum(axis=2)
            assert (sums == (root.pot if since_root else 0)).all()


@pytest.mark.parametrize("name", GAMES)
def test_an_action_tree_from_a_state_is_a_subtree(name: str) -> None:
    rules, menu = GAMES[name]
    whole, dice = compile_action_tree(rules, menu), random.Random(name)

    def facts(tree: ActionTree, node: int) -> tuple[object, ...]:
        arrays: tuple[Array, ...] = (tree.actor, tree.street, tree.count, tree.total, tree.showdown, tree.payoff)
        return (*(int(array[node]) for array in arrays), *tree.spent[node].tolist(), tree.actions(node))

    for _ in range(6):
        root = random_root(rules, menu, dice)
        part = compile_action_tree(root, menu)
        assert measure_action_tree(root, menu) == part.shape
        assert (part.fingerprint == whole.fingerprint) == (root.line == "")
        for node in dice.sample(range(1, len(part)), min(40, len(part) - 1)):
            line = part.line(node)
            assert part.find(line) == node
            assert facts(part, node) == facts(whole, whole.find(line))
        if root.line:
            with pytest.raises(InputError, match=f"line 'f': .*'{root.line}'"):
                part.find("f")


def test_invalid_roots() -> None:
    for line in ("f", "cc", "r20000c"):
        with pytest.raises(InputError, match=f"at '{line}'"):
            build_betting_tree(BettingState.from_line(NOLIMIT, line), "game", MENU)
        with pytest.raises(InputError, match=f"at '{line}'"):
            compile_action_tree(BettingState.from_line(NOLIMIT, line), MENU)
    with pytest.raises(InputError, match="street 4 of game 'nolimit-200bb'"):
        BettingState.at_street(NOLIMIT, 4)
    with pytest.raises(InputError, match="spent=20000"):
        BettingState.at_street(NOLIMIT, 1, 20_000)


@pytest.mark.parametrize("more", [{"rake": Rake(0.05)}, {"pot": 30}])
def test_games_with_rake_or_dead_money_are_rejected_by_zero_sum_methods(
    more: dict[str, object],
) -> None:
    rules = replace(NOLIMIT, **more)  # type: ignore[arg-type]
    folded = BettingState.from_line(rules, "f")
    calls = (
        lambda: compile_action_tree(rules, MENU),
        lambda: measure_action_tree(rules, MENU),
        lambda: compact_rules_arrays(rules),
        lambda: payoffs_of_result(folded, 1),
        lambda: run_match(rules, 1, 0, ()),
    )
    for call in calls:
        with pytest.raises(InputError, match="'nolimit-200bb' has rake or a pot"):
            call()
    raked = build_betting_tree(
        BettingState.at_street(rules, 3, 100), "river", one_size_menu()
    )  # for vectors of hands it is a game like others
    assert (raked.payoffs[raked.actor == -2].sum(axis=2) != 0).all()


# --- notations ---


@pytest.mark.parametrize("notation", [ACPC_NOTATION, STREET_NOTATION], ids=["acpc", "street"])
@pytest.mark.parametrize("name", GAMES)
def test_actions_round_trip(name: str, notation: ActionNotation) -> None:
    rules, dice, seen = GAMES[name][0], random.Random(name), 0
    book = rules.compact
    for _ in range(150):
        s = BettingState.start(rules).compact
        while not s.over:
            least, most = raise_bounds(book, s)
            moves = [FOLD, CALL, *({least, most, (least + most) // 2} if least <= most else ())]
            moves = [move for move in moves if is_action_allowed(call_amount(book, s), least, most, move)]
            labels = [notation.format(book, s, move) for move in moves]
            assert [notation.parse(book, s, label) for label in labels] == moves
            assert len(set(labels)) == len(moves)
            seen += len(moves)
            s = apply_action(book, s, dice.choice(moves[1:] or moves))
            s = deal_street(book, s) if s.over == 3 else s
    assert seen > 1000


def test_labels_without_a_meaning() -> None:
    s, book = BettingState.from_line(NOLIMIT, "cc/").compact, NOLIMIT.compact
    for label in ("c", "r300", "f300", "b0", "b", "b0300", "-x", ""):  # nothing is faced: x, and bets
        assert STREET_NOTATION.parse(book, s, label) is None
    assert STREET_NOTATION.parse(book, s, "b300") == 400
    for label in ("x", "b300", "r", "r0300", "a", ""):
        assert ACPC_NOTATION.parse(book, s, label) is None


# --- aggressor of the previous street ---


@pytest.mark.parametrize(
    ("line", "led"),
    [("cc/", None), ("r300c/", 1), ("cr300c/", 0), ("r300r900c/", 0), ("r300c/cc/", None), ("r300c/cr400c/", 1)],
)
def test_the_aggressor_is_known_on_the_next_street(line: str, led: int | None) -> None:
    assert BettingState.from_line(NOLIMIT, line).previous_aggressor == led


def test_donk_bets_of_a_menu_for_whole_games() -> None:
    rules = replace(NOLIMIT, stacks=(4000, 4000))
    for tree in (compile_action_tree(rules, MENU), compile_action_tree(BettingState.from_line(rules, "r250c/"), MENU)):
        assert tree.actions(tree.find("r250c/")) == ("c", "r500")  # no sizes of their own on the flop: as usual
        assert tree.actions(tree.find("r250c/cr500c/")) == ("c", "r750")  # 25 % of 1000 into the aggressor
        assert tree.actions(tree.find("r250c/cr500c/c")) == ("c", "r1000")  # who bets behind a check bets as usual
        assert tree.actions(tree.find("r250c/r500c/")) == ("c", "r1000")  # seat 0 led itself
        assert tree.actions(tree.find("r250c/cc/")) == ("c", "r500")  # nobody led
    none = compile_action_tree(rules, replace(MENU, donk_bets=False))
    assert none.actions(none.find("r250c/")) == ("c",)
    assert none.actions(none.find("r250c/cr500c/")) == ("c", "r750")
    assert none.actions(none.find("cc/")) == ("c", "r200")


# --- spots ---


def board_of(state: BettingState) -> str:
    return BOARD[: 2 * state.rules.board_sizes[state.street]]


RAKED = (
    replace(NOLIMIT, stacks=(900, 1200), rake=Rake(0.05, 20), pot=33, least_bet=40, most_raises=(2, 1, 2, 3)),
    MENU,
)


@pytest.mark.parametrize("name", [*GAMES, "raked"])
def test_the_spot_of_a_betting_state(name: str) -> None:
    """Pot, stacks, actions and tree are those of the betting state, in another notation."""
    rules, menu = GAMES.get(name, RAKED)
    dice = random.Random(name)
    for _ in range(8):
        state = random_root(rules, menu, dice, flop=True)
        spot = Spot.at(state, board_of(state), ("AA,T9s", "KK,AQ"), menu)
        assert (spot.pot, spot.start.turn, spot.start.to_call) == (state.pot, state.turn, state.to_call)
        if rules.stacks is not None:
            assert (spot.behind, spot.stack) == (state.behind, min(state.behind))
        ours, theirs = spot.betting, build_betting_tree(state, name, menu, since_root=True)
        for array in ("actor", "end", "street", "showdown", "payoffs", "spent"):
            np.testing.assert_array_equal(getattr(ours, array), getattr(theirs, array))
        assert loads(dumps(spot)) == spot


def test_a_spot_facing_a_bet_by_hand() -> None:
    """Each player has put in 100, and the dealer has bet 150 into 200; a call leaves 550 of the shorter stack."""
    rules = replace(NOLIMIT, stacks=(800, 2000))
    spot = Spot.at(
        BettingState.from_line(rules, "cc/cr250"), "QsJh2h", ("AA", "KK"), menu_from_table({"preflop": ["50%", "a"]})
    )
    assert (spot.pot, spot.behind, spot.stack, spot.played) == (350, (700, 1750), 700, "x-b150")
    assert spot.betting.actions(0) == ("f", "c", "a")
    assert spot.betting.payoffs[spot.betting.find("f").node].tolist() == [[0, 350]] * 3  # the uncalled bet is returned
    called = spot.betting.find("a-c/8c/3d").node
    # Oop puts in 700 from here on, ip 550; the final pot is 1,600.
    assert spot.betting.payoffs[called].tolist() == [[900, -550], [100, 250], [-700, 1050]]


def test_a_round_that_is_over_is_dealt() -> None:
    spot = Spot.at(BettingState.from_line(NOLIMIT, "r300c/cr400c"), "QsJh2h8c", ("AA", "KK"), MENU)
    assert (spot.played, spot.led, spot.pot) == ("", 1, 800)
    assert spot.betting.actions(0) == ("x", "b200")  # a donk bet


@pytest.mark.parametrize(
    ("line", "board", "words"),
    [
        ("r300", "QsJh2h", "the preflop at 'r300'"),
        ("cc/", "QsJh2h8c", "the flop at 'cc/': .*3 .*4"),
        ("cc/r400", "QsJh", "board 'QsJh': 2 cards"),
        ("r20000c", "QsJh2h8c3d", "at 'r20000c/"),
        ("cc/r400f", "QsJh2h", "at 'cc/r400f'"),
    ],
)
def test_states_that_cannot_be_spots(line: str, board: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Spot.at(BettingState.from_line(NOLIMIT, line), board, ("AA", "KK"), MENU)


def test_invalid_spots() -> None:
    state = BettingState.from_line(NOLIMIT, "cc/r400")
    with pytest.raises(InputError, match=r"at 'cc/r400'.*menu"):
        Spot.at(state, "QsJh2h", ("AA", "KK"))
    with pytest.raises(InputError, match="at ''"):
        Spot.at(replace(state, history=()), "QsJh2h", ("AA", "KK"), MENU)
    with pytest.raises(InputError, match="game 'leduc'"):
        Spot.at(BettingState.start(read_game("leduc")), "QsJh2h", ("AA", "KK"))
    for played, words in (
        ("b5000", "played 'b5000': 'b5000'"),
        ("x-x", "played 'x-x': 'x'"),
        ("c", "played 'c': 'c'"),
        ("b50-f", "played 'b50-f': 'f'"),
        ("b50-r60", "played 'b50-r60': 'r60'"),
    ):
        with pytest.raises(InputError, match=words):
            Spot.make(board="QsJh2h", pot=100, stack=900, oop="AA", ip="KK", bets="50%", played=played)
    with pytest.raises(InputError, match="led='dealer'"):
        Spot.make(board="QsJh2h", pot=100, stack=900, oop="AA", ip="KK", led="dealer", bets="")


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.05]), st.sampled_from([inf, 9.0]))
def test_a_spot_after_actions_is_a_subgame_of_the_spot_before_them(seed: int, rate: float, cap: float) -> None:
    dice = random.Random(seed)
    stack = (dice.randint(20, 300), dice.randint(20, 300))
    spot = Spot.make(
        board="QsJh2h8c", pot=dice.randint(10, 90), stack=stack, oop="AA", ip="KK", bets="50%, a", raises="60%, 3x",
        donks="20%", raise_cap=2, rake=rate, rake_cap=cap, led=dice.choice([None, "ip", "oop"]),
    )  # fmt: skip
    whole, node, line = spot.betting, 0, []
    for _ in range(dice.randint(1, 3)):
        below = [n for n in whole.children(node) if whole.actor[n] >= 0]
        if below:
            node = dice.choice(below)
            line.append(whole.label[node])
    part = replace(spot, played="-".join(line)).betting
    here = slice(node, int(whole.end[node]))
    np.testing.assert_array_equal(part.actor, whole.actor[here])
    assert part.label[1:] == whole.label[node + 1 : here.stop]
    over = part.actor == -2
    np.testing.assert_allclose(part.payoffs[over], whole.payoffs[here][over] + whole.spent[node], atol=1e-9)
    np.testing.assert_array_equal(part.spent, whole.spent[here] - whole.spent[node])


def test_a_spot_in_the_middle_of_a_street_is_solved_and_queried() -> None:
    state = BettingState.from_line(replace(NOLIMIT, stacks=(900, 2000)), "cc/cc/cc/cr250")
    spot = Spot.at(state, BOARD, ("QQ,T9s,A8s,76s", "JJ,AQ,KQs,65s"), one_size_menu("100%", 3))
    solver = BoardCFR(BoardTree(spot.lock("", {"f": 0.5, "c": 0.5}, "76s")), dtype="float64")
    solver.step(200)
    solution = solver.average()
    root = solution[""]
    assert (root.player, root.actions) == (0, ("f", "c", "r650"))
    assert root.range_mean(0, root.ev(0)) + root.range_mean(1, root.ev(1)) == pytest.approx(350)
    assert solver.exploitability() < 1  # % of the pot
    node = node_dict(root)
    assert (node["pot"], node["stacks"], node["player"]) == (350, (800, 1750), "oop")
    locked = next(hand for hand in node["oop"]["hands"] if hand["hand"] in ("7s6s", "7c6c", "7d6d", "7h6h"))
    assert locked["strategy"]["f"] == pytest.approx(0.5)


def test_a_tree_without_a_root_state_begins_with_the_deal() -> None:
    for rules, _ in GAMES.values():
        start = BettingState.start(rules).compact
        assert (start.spent0 - rules.blinds[0], start.before, start.led) == (rules.ante, rules.ante, NOBODY)
        assert BettingState.start(rules).actor != CHANCE
