"""Spot files: round trips, examples, and invalid files."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riverboat.cards.deck import FULL_DECK, HAND_RULES, Deck
from riverboat.cards.ranges import Range
from riverboat.core.errors import InputError
from riverboat.formats.spot_file import dumps, load, loads, save
from riverboat.games import registry
from riverboat.games.holdem.bet_sizes import MenuThresholds
from riverboat.games.holdem.rules import Rake
from riverboat.games.spots.locks import NodeLock, check_locks
from riverboat.games.spots.spot import Spot

EXAMPLES = Path(__file__).parents[2] / "examples" / "spots"

TEXT = """board = "QsJh2h"
pot = 180
stack = 910
name = "a spot"
rake = { rate = 0.05, cap = 30 }
[ranges]
oop = "88+,AKs:0.5"
ip = "AA:0.25,99-22"
[bets.oop]
flop = { bet = "52%, 2e", raise = "45%", donk = "25%" }
river = { bet = "70%, a", raise = "2.5x", donk = "" }
[bets.ip]
flop = { bet = "52%", raise = "45%" }
turn = {}
[tree]
add_all_in = "100%"
force_all_in = "12.5%"
merge = "0%"
donk_bets = false
raise_cap = 2
[[lock]]
line = "b94"
hands = "AA,99"
strategy = { "f" = 0.25, "c" = 0.75 }
[[lock]]
line = ""
strategy = { "x" = 1.0 }
"""


def test_the_text_round_trips() -> None:
    spot = loads(TEXT)
    assert dumps(spot) == TEXT
    assert (spot.pot, spot.stack, spot.name, spot.rules.rake) == (180, 910, "a spot", Rake(0.05, 30))
    menu = spot.menu
    assert menu is not None
    assert menu.thresholds == MenuThresholds(Decimal(100), Decimal("12.5"))
    assert menu.most_raises == (3,)  # a bet and two raises
    assert not menu.donk_bets
    assert [len(menu.level_for(0, street, 0).sizes) for street in (1, 2, 3)] == [2, 2, 2]
    assert [len(menu.level_for(1, street, 0).sizes) for street in (1, 2, 3)] == [1, 0, 0]
    assert spot.locks == (
        NodeLock("b94", (("f", 0.25), ("c", 0.75)), Range.parse("AA,99")),
        NodeLock("", (("x", 1.0),)),
    )
    check_locks(spot)


SIZE = st.integers(1, 300).map(lambda n: f"{n / 2:g}%") | st.sampled_from(["a", "2e150%"])
SIZES = st.lists(SIZE, max_size=2).map(", ".join)
LEVELS = SIZES | st.just("*")
SHARES = st.integers(0, 400).map(lambda n: f"{n / 2:g}%")
BETS = st.fixed_dictionaries({}, optional={"bet": LEVELS, "raise": LEVELS | st.lists(LEVELS, min_size=1, max_size=3)})
DONKS = st.fixed_dictionaries({}, optional={"bet": SIZES, "raise": SIZES, "donk": LEVELS})
RAKES = [
    {},
    {"rake": 0.05},
    {"rake": 0.05, "rake_cap": 7.5},
    {"rake": 1e-9, "rake_cap": 0.0},
    {"rake": 0.0, "rake_cap": 3},
]
CAPS: list[dict[str, Any]] = [{}, {"raise_cap": 0}, {"raise_cap": 3}, {"most_raises": 0}, {"most_raises": [9, 3, 1]}]
LOCKS = st.builds(
    NodeLock,
    st.sampled_from(["", "x", "b10-c/8h", "x-x/*-b10", "b10-c/*-x-x/*"]),
    st.just((("x", 0.1), ("b10", 0.9))),
    st.none() | st.sampled_from(["AA", "AKs,7h6h", "random"]).map(Range.parse),
)
DECKS = [
    *(Deck.for_rules(name) for name in HAND_RULES),
    *(Deck(ranks, rules=name) for name in HAND_RULES for ranks in ("6789TJQKA", "AKQJT9876")),
    Deck("6789TJQKA", "chs", rules="short"),
    Deck("789TJQKA"),
    Deck("TJQKA", "shdc"),
]


@st.composite
def spots(draw: st.DrawFn) -> Spot:
    deck = draw(st.sampled_from(DECKS))
    board = tuple(int(deck.cards[k]) for k in draw(st.sampled_from([(0, 5, 10), (0, 5, 10, 19), (18, 0, 5, 10, 19)])))
    first = ("flop", "turn", "river")[len(board) - 3]
    bets: dict[str, Any] = {first: draw(DONKS)} | draw(st.fixed_dictionaries({}, optional={"river": DONKS}))
    bets |= draw(
        st.fixed_dictionaries(
            {},
            optional={
                "oop": st.fixed_dictionaries({}, optional={first: DONKS, "river": DONKS}),
                "ip": st.fixed_dictionaries({}, optional={first: BETS, "river": BETS}),
            },
        )
    )
    ranges = [Range.parse(draw(st.sampled_from(["random", "AKs:0.123,AQo-A9o", "QQ+,7h6h:0.5,KJ"]))) for _ in range(2)]
    stacks = st.integers(50, 1000)
    return Spot.make(
        board=board,
        pot=draw(st.integers(1, 1000)),
        stack=draw(stacks | st.tuples(stacks, stacks)),
        oop=ranges[0],
        ip=ranges[1],
        bets=bets,
        add_all_in=draw(SHARES),
        force_all_in=draw(SHARES),
        merge=draw(SHARES),
        donk_bets=draw(st.booleans()),
        least_bet=draw(st.sampled_from([1, 7])),
        played=draw(st.sampled_from(["", "x", "x-b10", "b7-r24"])),
        led=draw(st.none() | st.sampled_from(["oop", "ip"])),
        locks=draw(st.lists(LOCKS, max_size=2)),
        deck=deck,
        name=draw(st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)),
        **draw(st.sampled_from(RAKES)),
        **draw(st.sampled_from(CAPS)),
    )


@settings(max_examples=50, deadline=None)
@given(spots())
def test_random_spots_round_trip(spot: Spot) -> None:
    assert loads(dumps(spot)) == spot


def test_decks_and_rules() -> None:
    def deck(text: str) -> Deck:
        cards = 'board = "AhKhQh"\npot = 2\nstack = 2\n'
        return loads(f'{cards}{text}\n[ranges]\noop = "AsKs"\nip = "JJ"\n[bets]\nflop = {{}}\n').deck

    assert deck("") == FULL_DECK
    assert deck('deck = { ranks = "TJQKA", suits = "hs" }') == Deck("TJQKA", "hs")
    assert deck('deck = { rules = "short" }') == Deck("6789TJQKA", rules="short")
    assert deck('deck = { ranks = "6789TJQKA", rules = "short-trips" }') == Deck("6789TJQKA", rules="short-trips")
    assert deck('deck = { ranks = "6789TJQKA", rules = "standard" }').rules == "standard"
    for wrong, words in (
        ('deck = { ranks = "6789TJQKA" }', "deck of 36 cards.*short-trips"),
        ('deck = { ranks = "789TJQKA", rules = "short" }', "'789TJQKA'.*6789TJQKA"),
        ('deck = { rules = "shrot" }', "'shrot'.*'short'"),
        ('deck = { rules = "" }', "unknown rules ''"),
        ("deck = { rules = 6 }", "deck.rules = 6"),
        ('deck = { rule = "short" }', "deck: .*'rule'.*'rules'"),
    ):
        with pytest.raises(InputError, match=words):
            deck(wrong)


def test_files(tmp_path: Path) -> None:
    spot = loads(TEXT)
    save(spot, tmp_path / "own.toml")
    assert load(tmp_path / "own.toml") == spot
    assert registry.game_from_spec(str(tmp_path / "own.toml")) == spot
    (tmp_path / "ip.txt").write_text("AA:0.25  # rarely\n99-22\n")
    text = TEXT.replace('"AA:0.25,99-22"', '"@ip.txt"').replace('name = "a spot"\n', "")
    (tmp_path / "neighbour.toml").write_text(text)
    found = load(tmp_path / "neighbour.toml")
    assert found.ranges == spot.ranges
    assert found.name == "neighbour"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_examples(path: Path) -> None:
    spot = load(path)
    assert loads(dumps(spot)) == spot
    check_locks(spot)
    assert len(spot.betting.actor) > 1


def test_the_benchmark_spot() -> None:
    """Sizes worked out by hand: 52 % of 180, 45 % of 368 on top of 94, 55 % of 368."""
    betting = load(EXAMPLES / "3bet_pot.toml").betting
    assert betting.actions(0) == ("x", "b94")
    assert betting.actions(betting.find("b94").node) == ("f", "c", "r260")
    assert betting.actions(betting.find("b94-c/8h").node) == ("x", "b202")
    assert betting.actions(betting.find("x-b94-c/8h").node) == ("x",)  # no donk bets
    assert betting.actions(betting.find("x-b94-c/8h-x-b202-c/8c").node) == ("x", "a")  # 614 left, 772 in the pot


# --- invalid files ---


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("pot = 180", "pott = 180", ("'pott'", "'pot'")),
        ("pot = 180\n", "", (": pot ",)),
        ("pot = 180", "pot = 180.5", ("pot=180.5",)),
        ("pot = 180", "pot = ", ("TOML", "line 2")),
        ('board = "QsJh2h"', "board = 3", ("board = 3",)),
        ('oop = "88+,AKs:0.5"', "", ("ranges: ", "oop = ")),
        ('oop = "88+,AKs:0.5"', 'opp = "88+"', ("ranges: ", "'opp'", "'oop'")),
        ('oop = "88+,AKs:0.5"', "oop = 5", ("ranges.oop = 5",)),
        ('oop = "88+,AKs:0.5"', 'oop = "@no_such_file"', ("range of oop", "no_such_file")),
        ("cap = 30", "capp = 30", ("rake: ", "'capp'", "'cap'")),
        ("rake = { rate = 0.05, cap = 30 }", "rake = 0.05", ("rake = 0.05",)),
        ("raise_cap", "raise_caps", ("tree: ", "'raise_caps'", "'raise_cap'")),
        ('merge = "0%"', "merge = 0", ("merge = 0",)),
        ("[bets.ip]", "[bets.pi]", ("bets: ", "'pi'", "'ip'")),
        ("turn = {}", "tern = {}", ("bets.ip: ", "'tern'", "'turn'")),
        ("[[lock]]", "[lock]", ("TOML",)),
        ("hands =", "hand =", ("lock 1: ", "'hand'", "'hands'")),
        ('line = "b94"', "", ("lock 1: ", "line = ")),
        ('{ "f" = 0.25, "c" = 0.75 }', "{}", ("lock 1: ", "strategy = ")),
        ('"f" = 0.25', '"f" = "often"', ("lock 1: 'f' = 'often'",)),
    ],
)
def test_invalid_files(old: str, new: str, words: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    assert old in TEXT
    path.write_text(TEXT.replace(old, new))
    with pytest.raises(InputError) as caught:
        load(path)
    for word in (str(path), *words):
        assert word in str(caught.value)


def test_lock_must_be_a_list() -> None:
    with pytest.raises(InputError, match=r"\[\[lock\]\]"):
        loads("lock = 3\n" + TEXT.split("[[lock]]")[0])


def test_a_missing_file() -> None:
    with pytest.raises(InputError, match=r"spot file 'no_such\.toml'"):
        registry.game_from_spec("no_such.toml")


def test_names_of_spots() -> None:
    found: Any = loads(TEXT.replace('name = "a spot"\n', ""), name="mine")
    assert found.name == "mine"
