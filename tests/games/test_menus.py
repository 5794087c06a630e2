"""Menus: round trips through TOML, and their sizes in chips."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.test_sizes import MENUS
from riverboat.core.errors import InputError
from riverboat.games.holdem.bet_sizes import MenuThresholds, parse_sizes
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.menus import (
    ActionMenu,
    MenuLevel,
    every_size_menu,
    format_menu,
    load_menu,
    menu_from_table,
    menu_raise_totals,
    one_size_menu,
    parse_menu,
)
from riverboat.games.holdem.rules import read_game

RECIPE = """\
[menu]
preflop = ["2.5x, a", "3x, a", "a"]
flop = ["50%, 100%", "100%, a"]
turn = "100%, a"
most_raises = [4, 3, 2]
add_all_in = "150%"
merge = "10%"
[menu.ip]
preflop = ["2x, 2.5x, a", "3x, a", "a"]
flop = ["50%, 100%", "100%, a"]
turn = "100%, a"
"""
NOLIMIT = read_game("nolimit-200bb")


def level(text: str) -> MenuLevel:
    return MenuLevel(parse_sizes(text))


def test_a_recipe() -> None:
    menu = parse_menu(RECIPE)
    assert menu.level_for(0, 0, 0) == level("2.5x, a")
    assert menu.level_for(1, 0, 0) == level("2x, 2.5x, a")
    assert menu.level_for(0, 0, 1) == menu.level_for(1, 0, 1) == level("3x, a")
    assert menu.level_for(0, 0, 2) == menu.level_for(0, 0, 9) == level("a")
    assert menu.level_for(0, 1, 0) == level("50%, 100%")
    assert menu.level_for(0, 2, 0) == menu.level_for(1, 3, 5) == level("100%, a")
    assert [menu.allows_raise(street, 2) for street in range(4)] == [True, True, False, False]
    assert menu.thresholds == MenuThresholds(add_all_in=Decimal(150), merge=Decimal(10))
    assert format_menu(menu) == RECIPE
    assert parse_menu(RECIPE.replace("[menu.ip]", "[ip]").replace("[menu]", "")) == menu


def test_equivalent_menus() -> None:
    short = parse_menu('preflop = "100%, a"')
    assert short == parse_menu('preflop = ["100%, a", "100%,a"]\nriver = "100%, a"')
    assert format_menu(short) == '[menu]\npreflop = "100%, a"\n'
    assert short == one_size_menu("100%, a")
    override = parse_menu('preflop = "100%"\nflop = "50%"\n[ip]\npreflop = "2x"')
    assert override.level_for(1, 0, 0) == level("2x")
    assert override.level_for(1, 1, 0) == level("50%")


def legal_first(levels: tuple[MenuLevel, ...]) -> tuple[MenuLevel, ...]:
    """Remove x sizes, which are for raises only, from the first list of a later street."""
    sizes = tuple(size for size in levels[0].sizes if size.kind != "x")
    return (MenuLevel(sizes, levels[0].every_size), *levels[1:])


LEVELS = st.lists(st.one_of(MENUS.map(MenuLevel), st.just(MenuLevel(every_size=True))), min_size=1, max_size=3).map(
    tuple
)
STREETS = st.tuples(LEVELS, st.lists(LEVELS.map(legal_first), min_size=3, max_size=3)).map(lambda s: (s[0], *s[1]))
SHARES = st.integers(0, 200).map(Decimal)


@given(
    STREETS,
    STREETS,
    st.lists(st.integers(0, 5), max_size=4),
    st.builds(MenuThresholds, SHARES, SHARES, SHARES),
    st.booleans(),
    st.tuples(st.integers(0, 3), st.lists(LEVELS.map(legal_first), min_size=3, max_size=3)),
    st.booleans(),
)
def test_menus_round_trip(oop, ip, most, thresholds, same, donks, donk_bets) -> None:  # type: ignore[no-untyped-def]
    none, own = donks  # streets after the first ones have sizes for bets into the aggressor
    by_street = (None, *[None if street < none else levels[0] for street, levels in enumerate(own)])
    menu = ActionMenu((oop, oop if same else ip), tuple(most) or (None,), thresholds, by_street, donk_bets)
    again = parse_menu(format_menu(menu))
    assert parse_menu(format_menu(again)) == again
    assert format_menu(parse_menu(format_menu(again))) == format_menu(again)
    for seat in range(2):
        for street in range(4):
            for raises in range(5):
                assert again.level_for(seat, street, raises) == menu.level_for(seat, street, raises)
                assert again.allows_raise(street, raises) == menu.allows_raise(street, raises)
            assert again.level_for(seat, street, 0, donk=True) == menu.level_for(seat, street, 0, donk=True)
    assert again.thresholds == thresholds


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('flop = "50%"', ("menu: ", "preflop = ")),
        ('preflop = "50"', ("menu.preflop: size '50'",)),
        ('preflop = ["a", "a, 7"]', ("menu.preflop[1]: size '7' (number 2 of 'a, 7')",)),
        ('preflop = "a"\nflop = "2x"', ("menu.flop: size '2x'",)),
        ('preflop = "2.5x"', ("menu.preflop (repeated on the flop): size '2.5x'",)),
        ('preflop = "a"\n[ip]\nturn = "1"', ("menu.ip.turn: size '1'",)),
        ('preflop = "a"\n[sb]\nturn = "a"', ("menu: unknown key 'sb'", "oop")),
        ('preflop = "a"\n[ip]\nmost_raises = 1', ("menu.ip: unknown key 'most_raises'",)),
        ('preflop = "a"\nip = 3', ("menu.ip = 3", "[menu.ip]")),
        ("preflop = 50", ("menu.preflop = 50",)),
        ("preflop = []", ("menu.preflop = []",)),
        ('preflop = "a"\nmost_raises = -1', ("menu.most_raises = -1",)),
        ('preflop = "a"\nmost_raises = [1, true]', ("menu.most_raises = [1, True]",)),
        ('preflop = "a"\nmerge = 0.1', ("menu.merge = 0.1",)),
        ('preflop = "a"\ndonk = "a"', ("menu.donk = 'a'", "[menu.donk]")),
        ('preflop = "a"\n[donk]\npreflop = "a"', ("menu.donk: unknown key 'preflop'", "flop, ")),
        ('preflop = "a"\n[donk]\nturn = "2x"', ("menu.donk.turn: size '2x'",)),
        ('preflop = "a"\n[donk]\nturn = ["a"]', ("menu.donk.turn = ['a']",)),
        ('preflop = "a"\ndonk_bets = "no"', ("menu.donk_bets = 'no'",)),
        ("preflop =", ("TOML",)),
        ("menu = 3", ("menu = 3",)),
    ],
)
def test_invalid_menus(text: str, words: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        parse_menu(text)
    for word in words:
        assert word in str(caught.value)


def test_files(tmp_path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text(f"seed = 1\n{RECIPE}")
    assert load_menu(path) == parse_menu(RECIPE)
    path.write_text('[menu]\npreflop = "7"')
    with pytest.raises(InputError, match=r"recipe\.toml: menu\.preflop: size '7'"):
        load_menu(path)
    with pytest.raises(InputError, match=r"no\.toml"):
        load_menu(tmp_path / "no.toml")


# --- chips ---


@pytest.mark.parametrize(
    ("sizes", "line", "expected"),
    [
        ("2.5x, 3x, a", "", (250, 300, 20_000)),  # times the big blind
        ("100%", "", (300,)),  # call 50, then the pot of 200
        ("100%", "c", (300,)),
        ("100%", "r300", (900,)),  # call 200, then the pot of 600
        ("10%", "r300", (500,)),  # the minimum
        ("100c", "r300", (500,)),
        ("50%, 100%", "r300c/", (600, 900)),
        ("1%", "r300c/", (400,)),  # a big blind
        ("3x", "r300c/r600", (1200,)),  # 300 on this street: three times, over what was there before
        ("100%, a", "r300c/r900", (2700, 20_000)),
        ("100%", "r19950", (20_000,)),
        ("100%", "r20000", ()),
        ("", "c", ()),
    ],
)
def test_totals(sizes: str, line: str, expected: tuple[int, ...]) -> None:
    first = "" if "x" in sizes else sizes  # x is for raises
    menu = menu_from_table({"preflop": sizes, "flop": [first, sizes]})
    assert menu_raise_totals(menu, BettingState.from_line(NOLIMIT, line)) == expected


def test_every_size_allows_every_legal_raise() -> None:
    rules = read_game("bench-2x52")
    for line in ("", "c", "cc/", "r6c/", "r100c/c"):
        state = BettingState.from_line(rules, line)
        assert list(menu_raise_totals(every_size_menu(), state)) == [m for m in state.legal_actions() if m > 0]


def test_one_bet_per_street() -> None:
    """By the number of raises, or by an empty second list."""
    for menu in (one_size_menu("100%", most_raises=1), menu_from_table({"preflop": ["100%", ""]})):
        assert menu_raise_totals(menu, BettingState.from_line(NOLIMIT, "")) == (300,)
        assert menu_raise_totals(menu, BettingState.from_line(NOLIMIT, "r300")) == ()
        assert menu_raise_totals(menu, BettingState.from_line(NOLIMIT, "r300c/c")) == (900,)
        assert menu_raise_totals(menu, BettingState.from_line(NOLIMIT, "r300c/r900")) == ()


def test_limit_games_need_no_menu() -> None:
    assert menu_raise_totals(None, BettingState.from_line(read_game("limit"), "r")) == (30,)
    assert menu_raise_totals(None, BettingState.from_line(read_game("limit"), "rrr")) == ()
    with pytest.raises(InputError, match="'nolimit-200bb'"):
        menu_raise_totals(None, BettingState.start(NOLIMIT))
