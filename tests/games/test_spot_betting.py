"""Betting of spots: small trees by hand, donk bets, caps, rake, and properties of every tree."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.boards.board_game import BettingTree
from riverboat.games.spots.spot import STREETS, Spot


def menu(bet: str = "", raise_: str = "", donk: str | None = None) -> dict[str, str]:
    return {"bet": bet, "raise": raise_} | ({} if donk is None else {"donk": donk})


def spot(*menus: dict[str, str], ip: tuple[dict[str, str], ...] = (), **more: Any) -> Spot:
    """Return a spot with as many streets as there are menus."""
    streets = STREETS[-len(menus) :]
    bets = dict(zip(streets, menus, strict=True)) | ({"ip": dict(zip(streets, ip, strict=True))} if ip else {})
    board = "QsJh2h8c3d"[: 2 * (6 - len(menus))]
    return Spot.make(**{"board": board, "pot": 100, "stack": 300, "oop": "AA", "ip": "KK", "bets": bets} | more)


def tree(*menus: dict[str, str], **more: Any) -> BettingTree:
    return spot(*menus, **more).betting


def lines(betting: BettingTree) -> dict[str, int]:
    """Return the node of every line of a tree, with a deal as `/`."""
    found: dict[str, int] = {}

    def walk(node: int, line: str) -> None:
        found[line] = node
        for child in betting.children(node):
            if betting.actor[node] == CHANCE:
                walk(child, line + "/")
            else:
                walk(child, line + ("-" if line and not line.endswith("/") else "") + betting.label[child])

    walk(0, "")
    return found


def moves(betting: BettingTree, line: str) -> tuple[str, ...]:
    return betting.actions(lines(betting)[line])


# --- trees by hand ---


def test_a_river_with_one_bet() -> None:
    """Pot 100, stack 100, pot-sized bets: preorder, players and payoffs by hand."""
    betting = tree(menu("100%", "100%"), stack=100)
    assert list(lines(betting)) == ["", "x", "x-x", "x-a", "x-a-f", "x-a-c", "a", "a-f", "a-c"]
    assert betting.actor.tolist() == [0, 1, TERMINAL, 0, TERMINAL, TERMINAL, 1, TERMINAL, TERMINAL]
    assert betting.end.tolist() == [9, 6, 3, 6, 5, 6, 9, 8, 9]
    assert betting.showdown.tolist() == [False, False, True, False, False, True, False, False, True]
    assert betting.spent.tolist() == [
        [0, 0],
        [0, 0],
        [0, 0],
        [0, 100],
        [0, 100],
        [100, 100],
        [100, 0],
        [100, 0],
        [100, 100],
    ]
    assert betting.payoffs[2].tolist() == [[100, 0], [50, 50], [0, 100]]  # checked down
    assert betting.payoffs[4].tolist() == [[0, 100]] * 3  # oop folds
    assert betting.payoffs[5].tolist() == [[200, -100], [50, 50], [-100, 200]]
    assert betting.payoffs[7].tolist() == [[100, 0]] * 3  # ip folds
    assert betting.street.tolist() == [0] * 9


def test_bets_and_raises_are_totals_of_the_street() -> None:
    betting = tree(menu("50%", "100%"), stack=1000)
    assert moves(betting, "") == ("x", "b50")
    assert moves(betting, "b50") == ("f", "c", "r250")  # 50 + the pot of 200
    assert moves(betting, "b50-r250") == ("f", "c", "r850")  # 250 + 600
    assert moves(betting, "b50-r250-r850") == ("f", "c", "a")
    assert moves(betting, "b50-r250-r850-a") == ("f", "c")
    assert betting.spent[lines(betting)["b50-r250-r850-a-c"]].tolist() == [1000, 1000]


def test_later_streets_start_from_a_larger_pot() -> None:
    betting = tree(menu("50%"), menu("50%"), stack=1000)
    assert moves(betting, "b50-c/") == ("x", "b100")
    node = lines(betting)["b50-c/b100-c"]
    assert betting.payoffs[node].tolist() == [[250, -150], [50, 50], [-150, 250]]
    assert betting.street[node] == 1
    deal = lines(betting)["b50-c"]
    assert (betting.actor[deal], betting.street[deal]) == (CHANCE, 0)
    assert betting.label[deal + 1] == ""


def test_after_a_called_all_in_the_board_is_dealt() -> None:
    betting = tree(menu("a"), menu("a"), menu("a"))
    node = lines(betting)["a-c"]
    assert betting.actor[node : betting.end[node]].tolist() == [CHANCE, CHANCE, TERMINAL]
    assert betting.street[node : betting.end[node]].tolist() == [0, 1, 2]
    assert betting.showdown[node + 2]
    assert betting.payoffs[node + 2].tolist() == [[400, -300], [50, 50], [-300, 400]]


def test_check_down() -> None:
    assert list(lines(tree(menu(), menu()))) == ["", "x", "x-x", "x-x/", "x-x/x", "x-x/x-x"]


# --- rules ---


@pytest.mark.parametrize(
    ("donk", "donk_bets", "share"),
    [
        (None, True, 0.5),  # the bet menu
        (None, False, None),
        ("25%", True, 0.25),
        ("25%", False, 0.25),
        ("", True, None),
    ],
)
def test_donk_bets(donk: str | None, donk_bets: bool, share: float | None) -> None:
    betting = tree(menu("50%", "100%"), menu("50%", "100%", donk), stack=1000, donk_bets=donk_bets)
    for line, pot in (("x-b50-c/", 200), ("b50-r250-c/", 600)):  # ip was the aggressor
        assert moves(betting, line) == (("x",) if share is None else ("x", f"b{share * pot:g}"))
    for line, pot in (("x-x/", 100), ("b50-c/", 200), ("x-b50-r250-c/", 600)):  # nobody was, or oop
        assert moves(betting, line) == ("x", f"b{pot // 2}")
    assert moves(betting, "x-b50-c/x") == ("x", "b100")  # ip bets as usual


def test_there_is_no_aggressor_at_the_root() -> None:
    assert moves(tree(menu("50%", donk="20%"), donk_bets=False), "") == ("x", "b50")


def test_only_the_last_street_counts_for_donk_bets() -> None:
    three = menu("50%", donk="25%")
    betting = tree(three, three, three, stack=1000)
    assert moves(betting, "x-b50-c/x-x/") == ("x", "b100")
    assert moves(betting, "x-b50-c/x-b100-c/") == ("x", "b100")  # 25 % of 400


def test_the_threshold_adds_all_in_even_without_donk_bets() -> None:
    betting = tree(menu("50%"), menu("50%"), stack=200, donk_bets=False, add_all_in="100%")
    assert moves(betting, "") == ("x", "b50")
    assert moves(betting, "x-b50-c/") == ("x", "a")  # 150 left, 200 in the pot


def test_raise_cap() -> None:
    def cap(most: int | None) -> BettingTree:
        return tree(menu("50%", "50%"), menu("50%", "50%"), stack=10000, raise_cap=most)

    assert moves(cap(0), "b50") == ("f", "c")
    assert moves(cap(1), "b50") == ("f", "c", "r150")
    assert moves(cap(1), "b50-r150") == ("f", "c")
    assert moves(cap(1), "b50-r150-c/b200") == ("f", "c", "r600")  # counted anew
    assert moves(cap(2), "b50-r150") == ("f", "c", "r350")
    assert len(moves(cap(None), "b50-r150-r350")) == 3


def test_players_have_their_own_menus() -> None:
    betting = tree(menu("50%", "2x"), ip=(menu("100%", "a"),))
    assert moves(betting, "") == ("x", "b50")
    assert moves(betting, "x") == ("x", "b100")
    assert moves(betting, "b50") == ("f", "c", "a")
    assert moves(betting, "x-b100") == ("f", "c", "r200")


def test_rake() -> None:
    betting = tree(menu("100%"), stack=1000, rake=0.1, rake_cap=25.0)
    found = lines(betting)
    assert betting.payoffs[found["x-x"]].tolist() == [[90, 0], [45, 45], [0, 90]]
    assert betting.payoffs[found["b100-f"]].tolist() == [[90, 0]] * 3  # the bet goes back before rake
    assert betting.payoffs[found["b100-c"]].tolist() == [[175, -100], [37.5, 37.5], [-100, 175]]  # 25, not 30


# --- lines ---


def test_nodes_of_lines() -> None:
    betting = tree(menu("50%", "100%"), menu("50%"), stack=1000)
    position = betting.find("b50-c/8h-x-b100")
    assert position.node == lines(betting)["b50-c/x-b100"]
    assert position.dealt == ((26,),)
    assert betting.find("") == (0, ())


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("b60", ("'b60' at the root", "x, b50")),
        ("b50-r300", ("'r300' after 'b50'", "f, c, r250")),
        ("b50-f-c", ("'c' after 'b50-f'",)),
        ("b50/8h", ("after 'b50'", "f, c, r250")),
        ("b50-c-x", ("'x' after 'b50-c'",)),
        ("b50-c/", ("'b50-c/'", "/8h")),
        ("b50-c/8x", ("token '8x'",)),
        ("b50--c", ("'' after 'b50'",)),
        ("/8h", ("'/8h'", "at the root")),
    ],
)
def test_invalid_lines(line: str, words: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        tree(menu("50%", "100%"), menu("50%"), stack=1000).find(line)
    for word in words:
        assert word in str(caught.value)


# --- every tree ---

BETS = st.lists(st.sampled_from(["10%", "33%", "75%", "150%", "7c", "e", "2e", "a"]), max_size=2).map(", ".join)
RAISES = st.lists(st.sampled_from(["50%", "100%", "2.2x", "3x", "20c", "a"]), max_size=2).map(", ".join)
STREET = st.builds(menu, BETS, RAISES, st.none() | BETS)


@st.composite
def spots(draw: st.DrawFn) -> Spot:
    streets = draw(st.integers(1, 2))
    oop = draw(st.lists(STREET, min_size=streets, max_size=streets))
    ip = [menu(one["bet"], one["raise"]) for one in draw(st.lists(STREET, min_size=streets, max_size=streets))]
    shares = [f"{draw(st.integers(0, most))}%" for most in (150, 40, 20)]
    return spot(
        *oop,
        ip=tuple(ip),
        pot=draw(st.integers(1, 200)),
        stack=draw(st.integers(1, 400)),
        add_all_in=shares[0],
        force_all_in=shares[1],
        merge=shares[2],
        donk_bets=draw(st.booleans()),
        raise_cap=draw(st.none() | st.integers(0, 2)),
        rake=draw(st.sampled_from([0.0, 0.05, 0.3])),
        rake_cap=draw(st.sampled_from([5.0, 1000.0])),
    )


@settings(max_examples=60, deadline=None)
@given(spots())
def test_properties_of_every_tree(game: Spot) -> None:
    betting, rake = game.betting, game.rules.rake
    pot, stack, streets = game.pot, game.stack, len(game.deals) + 1
    for node in range(len(betting.actor)):
        spent, children = betting.spent[node], list(betting.children(node))
        assert spent.max() <= stack
        assert betting.end[node] == (betting.end[children[-1]] if children else node + 1)
        if betting.actor[node] == TERMINAL:
            assert not children
            stake = spent.min()
            left = pot + 2 * stake
            left -= min(rake.rate * left, rake.cap)
            np.testing.assert_allclose(betting.payoffs[node].sum(axis=1), left - 2 * stake)
            if betting.showdown[node]:
                assert spent[0] == spent[1]
                assert betting.street[node] == streets - 1
                assert betting.payoffs[node, 0, 0] == betting.payoffs[node, 2, 1] == left - stake
                assert betting.payoffs[node, 0, 1] == betting.payoffs[node, 2, 0] == -stake
            else:
                assert betting.label[node] == "f"
                assert sorted(betting.payoffs[node, 0]) == [-stake, left - stake]
            continue
        assert not betting.showdown[node]
        assert not betting.payoffs[node].any()
        if betting.actor[node] == CHANCE:
            assert children == [node + 1]
            assert betting.street[node + 1] == betting.street[node] + 1 < streets
            assert spent[0] == spent[1]
            assert (betting.actor[node + 1] >= 0) == (spent[0] < stack)
            continue
        who, labels = betting.actor[node], betting.actions(node)
        facing = spent[1 - who] > spent[who]
        assert labels[: 1 + facing] == (("f", "c") if facing else ("x",))
        added = [betting.spent[c][who] - spent[1 - who] for c in children[1 + facing :]]
        assert all(low < high for low, high in pairwise(added))
        for child, more in zip(children[1 + facing :], added, strict=True):
            all_in = betting.spent[child][who] == stack
            assert (betting.label[child] == "a") == all_in
            assert more > 0
            # A raise adds at least the increment of the last one, or is all-in.
            assert all_in or more >= spent[1 - who] - spent[who]


@settings(max_examples=30, deadline=None)
@given(spots())
def test_lines_of_every_tree(game: Spot) -> None:
    betting = game.betting
    for line, node in lines(betting).items():
        dealt = "".join(f"/8h{'-' if part else ''}{part}" if k else part for k, part in enumerate(line.split("/")))
        assert betting.find(dealt).node == node
