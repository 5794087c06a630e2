"""Hands on record: read, written, and held against pokerkit."""

from __future__ import annotations

import gzip
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pokerkit
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riverboat.agents.baselines import Yardstick
from riverboat.core.errors import DiskError, InputError
from riverboat.core.text_files import parse_toml
from riverboat.evaluation.matches.match import play_match
from riverboat.formats import phh
from riverboat.formats.hand_files import BROKEN_LINE, gather_hands, open_hands, read_hands, write_hands
from riverboat.formats.phh_text import plain_table
from riverboat.games.holdem.actions import HIDDEN
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.match_state import settled
from riverboat.games.holdem.rules import Rules, read_game
from riverboat.games.records.hand_records import UNKNOWN, Hands, Played, join, record

NOLIMIT, LIMIT = read_game("nolimit-200bb"), read_game("limit")
GAMES = pytest.mark.parametrize(
    ("rules", "names"),
    [
        (NOLIMIT, ("random", "rule-based")),
        (replace(NOLIMIT, stacks=(900, 900)), ("random", "random")),  # all-in before the river
        (replace(NOLIMIT, stacks=(700, 1510)), ("random", "always-call")),
        (LIMIT, ("random", "rule-based")),
        (LIMIT, ("always-raise", "always-raise")),  # the cap of every round
    ],
    ids=["200bb", "9bb", "unequal", "limit", "caps"],
)


def match(path: Path, rules: Rules, hands: int, names: tuple[str, str]) -> Hands:
    """A match that is written to a file on the way, and its record."""
    kept: list[Hands] = []
    with open_hands(path) as write:

        def observe(batch: Hands) -> None:
            write(batch)
            kept.append(batch)

        play_match(*map(Yardstick, names), rules, hands, observe=observe, pairs_at_once=40)
    return join(kept)


def same(one: Hands, two: Hands, *, chips: bool = True) -> None:
    """Two records of the same hands, whatever their units and numbers of names are."""
    assert len(one) == len(two)
    scale = two.scale // one.scale
    for name in ("number", "cards", "length"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    for i in range(len(one)):
        assert one.players(i) == two.players(i)
        raised = [m * scale if m > 0 else m for m in one.moves[i, : one.length[i]].tolist()]
        assert raised == two.moves[i, : two.length[i]].tolist()
    np.testing.assert_array_equal(one.won * scale, two.won)
    np.testing.assert_array_equal(one.blinds * scale, two.blinds)
    if chips:
        np.testing.assert_array_equal(one.stacks * scale, two.stacks)


# --- our own matches --------------------------------------------------------------------------


@GAMES
def test_pokerkit_comes_to_the_same_stacks(rules: Rules, names: tuple[str, str], tmp_path: Path) -> None:
    hands = match(tmp_path / "match.phhs", rules, 120, names)
    with (tmp_path / "match.phhs").open("rb") as file:
        found = list(pokerkit.HandHistory.load_all(file))
    assert len(found) == 120
    stacks = rules.stacks or (10_000, 10_000)
    assert hands.won.any()
    second = names[1] if names[0] != names[1] else f"{names[1]}-2"
    for number, (hand, chips) in enumerate(zip(found, hands.won[:, 0].tolist(), strict=True)):
        *_, end = hand
        assert not end.status
        assert tuple(end.stacks) == (stacks[0] + chips, stacks[1] - chips)
        assert hand.finishing_stacks == list(end.stacks)
        assert (hand.hand, hand.players) == (number, [names[0], second][:: 1 if number % 2 == 0 else -1])


@GAMES
@pytest.mark.parametrize("suffix", [".phhs", ".phhs.gz", ".log"])
def test_what_is_written_reads_back(rules: Rules, names: tuple[str, str], suffix: str, tmp_path: Path) -> None:
    plain = tmp_path / f"match{suffix.removesuffix('.gz')}"
    hands = match(plain, rules, 60, names)
    path = plain
    if suffix.endswith(".gz"):
        path = tmp_path / f"match{suffix}"
        path.write_bytes(gzip.compress(plain.read_bytes()))
    found = read_hands(path, rules)
    assert found.refused == {}
    seen = found.hands
    if suffix != ".log":  # a hand that ends by a fold has cards that a log does not have to hide either
        assert seen.scale == 100
    dealt = [rules.board_sizes[hands.betting(i).street] for i in range(len(hands))]
    cards = hands.cards.copy()
    for i, shown in enumerate(dealt):  # what was not dealt is in no file
        cards[i, 2 * rules.hole + shown :] = HIDDEN
    same(replace(hands, cards=cards), seen, chips=rules.stacks is not None)


def test_one_history(tmp_path: Path) -> None:
    hands = match(tmp_path / "a.phhs", NOLIMIT, 4, ("always-raise", "always-fold"))
    found = pokerkit.HandHistory.loads(phh.show_hand(hands, 1))
    assert found.actions == [*found.actions[:2], "p2 cbr 200", "p1 f"]  # the dealer raises, the big blind folds
    assert (found.variant, found.min_bet, found.finishing_stacks) == ("NT", 100, [19_900, 20_100])


def test_what_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="game 'leduc': PHH is written for heads-up hold'em"):
        match(tmp_path / "a.phhs", read_game("leduc"), 4, ("random", "random"))
    for name in ("a.txt", "a", "a.gz", "a.txt.gz"):
        with pytest.raises(InputError, match=r"named \.phh, \.phhs or \.log"), open_hands(tmp_path / name):
            pass
    with pytest.raises(InputError, match="many hands"), open_hands(tmp_path / "a.phh"):
        pass
    with pytest.raises(InputError, match=r"write 'a\.phhs', then pack it"), open_hands(tmp_path / "a.phhs.gz"):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(DiskError), open_hands(tmp_path / "file" / "a.phhs"):
        pass
    with pytest.raises(InputError, match=r"cards of both seats: write \.phhs"):
        write_hands(tmp_path / "a.log", read_hands(_file(tmp_path, MUCKED), None).hands.take(np.array([0])))


# --- hands of real tables ---------------------------------------------------------------------

# Made up, in the form in which real collections have them.
PLAIN = """
variant = 'NT'
ante_trimming_status = false
antes = [0, 0]
blinds_or_straddles = [5, 10]
min_bet = 10
starting_stacks = [404.50, 395]
actions = ['d dh p1 ????', 'd dh p2 ????', 'p2 cbr 30', 'p1 cc', 'd db 2c9h9c', 'p1 cc', 'p2 cbr 40.25', 'p1 f']
time = 19:52:40
hand = 26484825804
players = ['some/one+', 'another']
winnings = [0, 0]
"""
MUCKED = """
variant = 'NT'
antes = [0, 0]
blinds_or_straddles = [5, 10]
min_bet = 10
starting_stacks = [400, 400]
actions = ['d dh p1 ????', 'd dh p2 ????', 'p2 cc', 'p1 cc', 'd db 2c9h9c', 'p1 cc', 'p2 cc', 'd db 3d', 'p1 cbr 20',
  'p2 cc', 'd db Ah', 'p1 cc', 'p2 cc', 'p1 sm AsKs', 'p2 sm ????']
players = ['some/one+', 'third']
"""
ALL_IN = """
variant = 'NT'
antes = [0, 0]
blinds_or_straddles = [5, 10]
min_bet = 10
starting_stacks = [400, 250.50]
actions = ['d dh p1 ????', 'd dh p2 ????', 'p2 cbr 250.50', 'p1 cc', 'd db 2c9h9c', 'd db 3d', 'd db Ah']
players = ['some/one+', 'third']
"""


def _file(tmp_path: Path, *hands: str, name: str = "hands.phhs") -> Path:
    path = tmp_path / name
    path.write_text("\n".join(f"[{k}]\n{hand}" for k, hand in enumerate(hands, 1)))
    return path


def test_cents_unseen_cards_and_mucks(tmp_path: Path) -> None:
    found = read_hands(_file(tmp_path, PLAIN, MUCKED, ALL_IN))
    hands = found.hands
    assert (len(hands), found.refused, hands.scale) == (3, {}, 100)
    assert hands.names == ("some/one+", "another", "third")
    assert hands.number.tolist() == [26484825804, 0, 0]
    assert hands.stacks.tolist() == [[40_450, 39_500], [40_000, 40_000], [40_000, 25_050]]
    assert hands.blinds.tolist() == [[1000, 500]] * 3
    assert hands.betting(0).line == "r3000c/cr7025f"  # totals of the hand: 30 before the flop and 40.25 on it
    assert hands.won.tolist() == [[-3000, 3000], [3000, -3000], [UNKNOWN, UNKNOWN]]
    assert hands.hole(1, 0) != ()
    assert hands.hole(1, 1) == hands.hole(0, 0) == ()
    assert [len(hands.board(i)) for i in range(3)] == [3, 5, 5]
    assert hands.of("third").tolist() == [False, True, True]
    assert hands.seat_of("another").tolist() == [1, -1, -1]
    with pytest.raises(InputError, match="plays in none"):
        hands.of("nobody")
    for i in range(3):  # pokerkit reads what we write, and ours reads it again
        text = phh.show_hand(hands, i)
        assert pokerkit.HandHistory.loads(text).starting_stacks == [x / 100 for x in hands.stacks[i].tolist()]
        again = record([phh.read_hand(text)], hands.rules, 100)
        one = hands.take(np.array([i]))
        assert again.betting(0).line == one.betting(0).line
        np.testing.assert_array_equal(again.won, one.won)
        np.testing.assert_array_equal(again.cards, one.cards)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("'NT'", "'PO'"), "another game"),
        (("variant = 'NT'", ""), "a field is missing"),
        (("[404.50, 395]", "[404.50, 395, 100]"), "not for two players"),
        (("antes = [0, 0]", "antes = [0, 10]"), "antes that differ"),
        (("404.50", "404.505"), "an amount that is no whole number of chips"),
        (("404.50", "-3"), "an amount that is no whole number of chips"),
        (("404.50", "'x'"), "an amount that is no whole number of chips"),
        (("404.50", "nan"), "an amount that is no whole number of chips"),
        (("404.50", "9"), "a stack within the big blind"),
        (("'p2 cbr 30'", "'p2 cbr 15'"), "illegal betting or cards"),
        (("'p2 cbr 30'", "'p1 cbr 30'"), "illegal betting or cards"),
        (("d db 2c9h9c", "d db 2c9h"), "illegal betting or cards"),
        (("d db 2c9h9c", "d db 2c9h9h"), "illegal betting or cards"),
        (("d db 2c9h9c", "d db 2x9h9c"), "illegal betting or cards"),
        ((", 'p1 f'", ""), "the hand breaks off"),
        (("'p1 f'", "'p1 sd'"), "another game"),
        (("'p1 f'", "'p9 f'"), "not for two players"),
        (("'p1 f'", "''"), "a field of the wrong kind"),
        (("'p1 f'", "7"), "a field of the wrong kind"),
        (("'another'", "'some/one+'"), "a field of the wrong kind"),
        (("hand = 2", "hand = = 2"), "no TOML"),
    ],
)
def test_a_hand_that_cannot_be_read_is_counted_and_spoils_no_other(
    change: tuple[str, str], reason: str, tmp_path: Path
) -> None:
    assert change[0] in PLAIN
    broken = PLAIN.replace(*change)
    found = read_hands(_file(tmp_path, MUCKED, broken, PLAIN))
    assert found.refused == {reason: 1}
    assert len(found.hands) == 2
    assert found.examples[reason][0].startswith("[2] ")
    with pytest.raises(InputError, match=r"none can be read: .*\(2\)"):
        read_hands(_file(tmp_path, broken, broken))


def test_antes(tmp_path: Path) -> None:
    """Both pay an ante beside the blinds; amounts of moves count what is bet on the street, without it."""
    with_antes = PLAIN.replace("antes = [0, 0]", "antes = [1, 1]")
    found = read_hands(_file(tmp_path, with_antes, PLAIN))
    hands = found.hands
    assert (found.refused, hands.ante.tolist()) == ({}, [100, 0])
    assert hands.betting(0).line == "r3100c/cr7125f"
    assert hands.betting(0, 0).pot == 1700
    assert hands.won.tolist() == [[-3100, 3100], [-3000, 3000]]
    text = phh.show_hand(hands, 0)
    assert pokerkit.HandHistory.loads(text).antes == [1, 1]
    assert phh.read_hand(text).betting == phh.read_hand(with_antes).betting


_PLAIN = ["true", "false", "19:52:40", "'a b'", '"a # b"', "[]", "[1, 2.50,]", "['x', 'y']", "['p1 f']"]
_NOT_PLAIN = [
    "'''a'''",
    r'"a\n"',
    "[1, [2]]",
    "{a = 1}",
    "1_000",
    "0x10",
    "007",
    "1 # one",
    "''x''",
    "'",
    "nan",
    "1e3",
    "",
]
VALUES = st.one_of(
    st.integers(-(10**6), 10**6).map(str),
    st.decimals(0, 10**6, places=2, allow_nan=False).map(str),
    st.sampled_from(_PLAIN + _NOT_PLAIN),
)


@settings(max_examples=150, deadline=None)
@given(entries=st.lists(st.tuples(st.sampled_from(["a", "b", "hand", "x-y", "a.b", "'q'"]), VALUES), max_size=4))
def test_plain_tables_are_those_of_toml(entries: list[tuple[str, str]]) -> None:
    text = "\n".join(f"{key} = {value}" for key, value in entries)
    found = plain_table(text, {"a", "b", "hand", "x-y"})
    if found is None:
        return  # TOML is asked
    true = parse_toml(text, parse_float=Decimal)
    assert {key: str(value) for key, value in true.items()} == {key: str(value) for key, value in found.items()}


@pytest.mark.parametrize("text", [PLAIN, ALL_IN])
def test_real_tables_are_plain(text: str) -> None:
    """Whoever breaks this reads collections three times as slowly."""
    assert plain_table(text, {"players"}) is not None


def test_many_files_are_one_record(tmp_path: Path) -> None:
    """What is broken or of another game is counted, and spoils nothing."""
    one = match(tmp_path / "a.phhs", NOLIMIT, 8, ("random", "always-call"))
    match(tmp_path / "b.log", NOLIMIT, 4, ("random", "always-call"))
    match(tmp_path / "c.phhs", LIMIT, 4, ("random", "always-call"))
    (tmp_path / "d.phhs").write_text("no hands at all")
    lines = (tmp_path / "b.log").read_text().splitlines()
    (tmp_path / "e.log").write_text("\n".join([*lines[:3], "STATE:9:r5f:9s8h|KdKc:-1|1:random|always-call"]))
    names = ("a.phhs", "b.log", "c.phhs", "d.phhs", "e.log")
    found = gather_hands([tmp_path / name for name in names])
    assert found.hands is not None
    assert len(found.hands) == len(one) == 8
    assert found.refused == {"another game": 4 + 4 + 2, "no TOML": 1, BROKEN_LINE: 1}  # logs count whole chips
    alone = gather_hands([tmp_path / "d.phhs"])
    assert (alone.hands, sum(alone.refused.values())) == (None, 1)
    logs = gather_hands([tmp_path / "b.log", tmp_path / "e.log"])
    assert logs.hands is not None
    assert len(logs.hands) == 6


@pytest.mark.parametrize("body", [b"", b"\x1f\x8b", b"\x1f\x8b\x08\x00torn", b"\xff\xfe\x00", b"no toml at all"])
@pytest.mark.parametrize("name", ["a.phhs", "a.phhs.gz", "a.phh", "a.log"])
def test_files_that_are_no_hands(body: bytes, name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(body)
    with pytest.raises(InputError, match=name.replace(".", r"\.")):
        read_hands(tmp_path / name)


def test_records_that_cannot_be(tmp_path: Path) -> None:
    one = record([phh.read_hand(PLAIN)], phh.read_hand(PLAIN).betting.rules, 100)
    with pytest.raises(InputError, match="at least one part"):
        join([])
    with pytest.raises(InputError, match="different games or units"):
        join([one, replace(one, scale=1)])
    with pytest.raises(InputError, match="different games or units"):
        join([one, match(tmp_path / "a.phhs", LIMIT, 4, ("random", "random"))])
    with pytest.raises(InputError, match="hand 3: the betting 'c' is not at its end"):
        record([Played(3, ("a", "b"), Betting.from_line(NOLIMIT, "c"), ((), (), ()))], NOLIMIT)
    hands = match(tmp_path / "b.phhs", NOLIMIT, 8, ("random", "rule-based"))
    richer = replace(hands, stacks=hands.stacks + (hands.number == 7)[:, None])
    with pytest.raises(InputError, match=r"hand 7: blinds and stacks of its own.*write \.phhs"):
        write_hands(tmp_path / "b.log", richer)
    assert not (tmp_path / "b.log").exists()  # whole or not at all
    with pytest.raises(InputError, match="scale=0"):
        read_hands(tmp_path / "b.phhs", scale=0)


@settings(max_examples=40, deadline=None)
@given(
    stacks=st.tuples(st.integers(11, 5_000), st.integers(11, 5_000)),
    choices=st.lists(st.floats(0, 1), min_size=60, max_size=60),
    seed=st.integers(0, 10**6),
)
def test_any_hand_reads_back(stacks: tuple[int, int], choices: list[float], seed: int) -> None:
    """Random stacks, moves and cards, through the text of a history."""
    rules = Rules(blinds=(10, 5), stacks=stacks)
    state, turn = settled(Betting.start(rules)), iter(choices)
    while state.actor >= 0:
        moves = [m for m in ("f", "c") if state.legal(m)]
        span = state.raise_range()
        if span is not None:
            moves += [f"r{span.least}", f"r{span.least + int(next(turn, 0.0) * (span.most - span.least))}"]
        state = settled(state.play(moves[int(next(turn, 0.3) * len(moves)) % len(moves)]))
    deck = np.random.default_rng(seed).permutation(52).tolist()
    shown = rules.board_sizes[state.street]
    hand = Played(seed, ("a", "b"), state, (tuple(deck[:2]), tuple(deck[2:4]), tuple(deck[4 : 4 + shown])))
    hands = record([hand], rules)
    text = phh.show_hand(hands, 0)
    again = record([phh.read_hand(text, scale=1)], rules)
    same(hands, again)
    *_, end = pokerkit.HandHistory.loads(text)
    assert tuple(end.stacks) == tuple(a + b for a, b in zip(stacks, hands.won[0].tolist(), strict=True))
