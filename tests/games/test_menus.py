"""Menus: short TOML in, the same out, and what they come to in chips."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.test_sizes import MENUS
from riverboat.core.errors import InputError
from riverboat.games.holdem.bet_sizes import Thresholds, parse_sizes
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.menus import (
    Level,
    Menu,
    every_size,
    load_menu,
    menu_from,
    one_size,
    parse_menu,
    show_menu,
    totals,
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


def level(text: str) -> Level:
    return Level(parse_sizes(text))


def test_a_recipe() -> None:
    menu = parse_menu(RECIPE)
    assert menu.level(0, 0, 0) == level("2.5x, a")
    assert menu.level(1, 0, 0) == level("2x, 2.5x, a")
    assert menu.level(0, 0, 1) == menu.level(1, 0, 1) == level("3x, a")
    assert menu.level(0, 0, 2) == menu.level(0, 0, 9) == level("a")
    assert menu.level(0, 1, 0) == level("50%, 100%")
    assert menu.level(0, 2, 0) == menu.level(1, 3, 5) == level("100%, a")
    assert [menu.may_raise(street, 2) for street in range(4)] == [True, True, False, False]
    assert menu.thresholds == Thresholds(add_all_in=Decimal(150), merge=Decimal(10))
    assert show_menu(menu) == RECIPE
    assert parse_menu(RECIPE.replace("[menu.ip]", "[ip]").replace("[menu]", "")) == menu


def test_short_ways_to_write_the_same() -> None:
    short = parse_menu('preflop = "100%, a"')
    assert short == parse_menu('preflop = ["100%, a", "100%,a"]\nriver = "100%, a"')
    assert show_menu(short) == '[menu]\npreflop = "100%, a"\n'
    assert short == one_size("100%, a")
    override = parse_menu('preflop = "100%"\nflop = "50%"\n[ip]\npreflop = "2x"')
    assert override.level(1, 0, 0) == level("2x")
    assert override.level(1, 1, 0) == level("50%")


def legal_first(levels: tuple[Level, ...]) -> tuple[Level, ...]:
    """x is for raises: not in the first list of a later street."""
    sizes = tuple(size for size in levels[0].sizes if size.kind != "x")
    return (Level(sizes, levels[0].every), *levels[1:])


LEVELS = st.lists(st.one_of(MENUS.map(Level), st.just(Level(every=True))), min_size=1, max_size=3).map(tuple)
STREETS = st.tuples(LEVELS, st.lists(LEVELS.map(legal_first), min_size=3, max_size=3)).map(lambda s: (s[0], *s[1]))
SHARES = st.integers(0, 200).map(Decimal)


@given(
    STREETS,
    STREETS,
    st.lists(st.integers(0, 5), max_size=4),
    st.builds(Thresholds, SHARES, SHARES, SHARES),
    st.booleans(),
    st.tuples(st.integers(0, 3), st.lists(LEVELS.map(legal_first), min_size=3, max_size=3)),
    st.booleans(),
)
def test_what_is_written_is_read_again(oop, ip, most, thresholds, same, donks, donk_bets) -> None:  # type: ignore[no-untyped-def]
    none, own = donks  # streets after the first ones have sizes for bets into the aggressor
    by_street = (None, *[None if street < none else levels[0] for street, levels in enumerate(own)])
    menu = Menu((oop, oop if same else ip), tuple(most) or (None,), thresholds, by_street, donk_bets)
    again = parse_menu(show_menu(menu))
    assert parse_menu(show_menu(again)) == again
    assert show_menu(parse_menu(show_menu(again))) == show_menu(again)
    for seat in range(2):
        for street in range(4):
            for raises in range(5):
                assert again.level(seat, street, raises) == menu.level(seat, street, raises)
                assert again.may_raise(street, raises) == menu.may_raise(street, raises)
            assert again.level(seat, street, 0, donk=True) == menu.level(seat, street, 0, donk=True)
    assert again.thresholds == thresholds


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('flop = "50%"', ("menu: no preflop sizes", "preflop = ")),
        ('preflop = "50"', ("menu.preflop: size '50'", "write 52% of the pot")),
        ('preflop = ["a", "a, 7"]', ("menu.preflop[1]: size '7' (number 2 of 'a, 7')",)),
        ('preflop = "a"\nflop = "2x"', ("menu.flop: size '2x'", "no bet is faced")),
        ('preflop = "2.5x"', ("menu.preflop (repeated on the flop): size '2.5x'", "no bet is faced")),
        ('preflop = "a"\n[ip]\nturn = "1"', ("menu.ip.turn: size '1'",)),
        ('preflop = "a"\n[sb]\nturn = "a"', ("menu: unknown key 'sb'", "oop")),
        ('preflop = "a"\n[ip]\nmost_raises = 1', ("menu.ip: unknown key 'most_raises'",)),
        ('preflop = "a"\nip = 3', ("menu.ip = 3", "[menu.ip]")),
        ("preflop = 50", ("menu.preflop = 50", "as a text")),
        ("preflop = []", ("menu.preflop = []", "as a text")),
        ('preflop = "a"\nmost_raises = -1', ("menu.most_raises = -1", "by street")),
        ('preflop = "a"\nmost_raises = [1, true]', ("menu.most_raises = [1, True]",)),
        ('preflop = "a"\nmerge = 0.1', ("menu.merge = 0.1", "in quotes")),
        ('preflop = "a"\ndonk = "a"', ("menu.donk = 'a'", "[menu.donk]")),
        ('preflop = "a"\n[donk]\npreflop = "a"', ("menu.donk: unknown key 'preflop'", "flop, ")),
        ('preflop = "a"\n[donk]\nturn = "2x"', ("menu.donk.turn: size '2x'", "no bet is faced")),
        ('preflop = "a"\n[donk]\nturn = ["a"]', ("menu.donk.turn = ['a']", "must be a text")),
        ('preflop = "a"\ndonk_bets = "no"', ("menu.donk_bets = 'no'", "true or false")),
        ("preflop =", ("not TOML",)),
        ("menu = 3", ("menu = 3", "must be a table")),
    ],
)
def test_menus_that_are_refused(text: str, words: tuple[str, ...]) -> None:
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
    with pytest.raises(InputError, match="No such file"):
        load_menu(tmp_path / "no.toml")


# --- chips ------------------------------------------------------------------------------------


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
    menu = menu_from({"preflop": sizes, "flop": [first, sizes]})
    assert totals(menu, Betting.from_line(NOLIMIT, line)) == expected


def test_every_size_is_every_legal_move() -> None:
    rules = read_game("bench-2x52")
    for line in ("", "c", "cc/", "r6c/", "r100c/c"):
        state = Betting.from_line(rules, line)
        assert [f"r{total}" for total in totals(every_size(), state)] == [m for m in state.moves() if m[0] == "r"]


def test_one_bet_a_street() -> None:
    """By the number of raises, or by an empty second list."""
    for menu in (one_size("100%", most_raises=1), menu_from({"preflop": ["100%", ""]})):
        assert totals(menu, Betting.from_line(NOLIMIT, "")) == (300,)
        assert totals(menu, Betting.from_line(NOLIMIT, "r300")) == ()
        assert totals(menu, Betting.from_line(NOLIMIT, "r300c/c")) == (900,)
        assert totals(menu, Betting.from_line(NOLIMIT, "r300c/r900")) == ()


def test_limit_games_need_no_menu() -> None:
    assert totals(None, Betting.from_line(read_game("limit"), "r")) == (30,)
    assert totals(None, Betting.from_line(read_game("limit"), "rrr")) == ()
    with pytest.raises(InputError, match="'nolimit-200bb' is no-limit: it needs a menu"):
        totals(None, Betting.start(NOLIMIT))
