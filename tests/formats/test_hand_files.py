"""Files of hands: read, written, and compared with pokerkit."""

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

from riverboat.agents.baselines import BaselineAgent
from riverboat.core.errors import DiskError, InputError
from riverboat.core.files import parse_toml
from riverboat.evaluation.matches.match import play_match
from riverboat.formats import phh
from riverboat.formats.hand_files import BROKEN_LINE, gather_hands, open_hand_writer, read_hands, write_hands
from riverboat.formats.phh import parse_plain_table
from riverboat.games.holdem.actions import HIDDEN_CARD
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.hand_records import (
    UNKNOWN_RESULT,
    HandRecords,
    RecordedHand,
    build_records,
    concatenate_records,
)
from riverboat.games.holdem.rules import PokerRules, read_game

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


def match(path: Path, rules: PokerRules, hands: int, names: tuple[str, str]) -> HandRecords:
    """Play a match that is written to a file, and return its record."""
    records: list[HandRecords] = []
    with open_hand_writer(path) as write:

        def observe(batch: HandRecords) -> None:
            write(batch)
            records.append(batch)

        play_match(*map(BaselineAgent, names), rules, hands, observe=observe, batch_pairs=40)
    return concatenate_records(records)


def same(one: HandRecords, two: HandRecords, *, chips: bool = True) -> None:
    """Compare two records of the same hands, independent of units and numbers of names."""
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


# --- matches ---


@GAMES
def test_pokerkit_agrees_on_final_stacks(rules: PokerRules, names: tuple[str, str], tmp_path: Path) -> None:
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
def test_records_round_trip(rules: PokerRules, names: tuple[str, str], suffix: str, tmp_path: Path) -> None:
    plain = tmp_path / f"match{suffix.removesuffix('.gz')}"
    hands = match(plain, rules, 60, names)
    path = plain
    if suffix.endswith(".gz"):
        path = tmp_path / f"match{suffix}"
        path.write_bytes(gzip.compress(plain.read_bytes()))
    found = read_hands(path, rules)
    assert found.rejected == {}
    seen = found.hands
    if suffix != ".log":  # a hand that ends by a fold has cards that a log does not have to hide either
        assert seen.scale == 100
    dealt = [rules.board_sizes[hands.betting(i).street] for i in range(len(hands))]
    cards = hands.cards.copy()
    for i, shown in enumerate(dealt):  # what was not dealt is in no file
        cards[i, 2 * rules.hole + shown :] = HIDDEN_CARD
    same(replace(hands, cards=cards), seen, chips=rules.stacks is not None)


def test_one_history(tmp_path: Path) -> None:
    hands = match(tmp_path / "a.phhs", NOLIMIT, 4, ("always-raise", "always-fold"))
    found = pokerkit.HandHistory.loads(phh.format_hand(hands, 1))
    assert found.actions == [*found.actions[:2], "p2 cbr 200", "p1 f"]  # the dealer raises, the big blind folds
    assert (found.variant, found.min_bet, found.finishing_stacks) == ("NT", 100, [19_900, 20_100])


def test_unsupported_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="game 'leduc': PHH"):
        match(tmp_path / "a.phhs", read_game("leduc"), 4, ("random", "random"))
    for name in ("a.txt", "a", "a.gz", "a.txt.gz"):
        with pytest.raises(InputError, match=r"\.phh, \.phhs or \.log"), open_hand_writer(tmp_path / name):
            pass
    with pytest.raises(InputError, match=r"a\.phh'.*FILE\.phhs"), open_hand_writer(tmp_path / "a.phh"):
        pass
    with pytest.raises(InputError, match=r"'a\.phhs'"), open_hand_writer(tmp_path / "a.phhs.gz"):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(DiskError), open_hand_writer(tmp_path / "file" / "a.phhs"):
        pass
    with pytest.raises(InputError, match=r"hand 0: .*\.phhs"):
        write_hands(tmp_path / "a.log", read_hands(_file(tmp_path, MUCKED), None).hands.take(np.array([0])))


# --- hands of real tables ---

# Invented, in the form of real collections.
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


def test_cents_unknown_cards_and_mucks(tmp_path: Path) -> None:
    found = read_hands(_file(tmp_path, PLAIN, MUCKED, ALL_IN))
    hands = found.hands
    assert (len(hands), found.rejected, hands.scale) == (3, {}, 100)
    assert hands.names == ("some/one+", "another", "third")
    assert hands.number.tolist() == [26484825804, 0, 0]
    assert hands.stacks.tolist() == [[40_450, 39_500], [40_000, 40_000], [40_000, 25_050]]
    assert hands.blinds.tolist() == [[1000, 500]] * 3
    assert hands.betting(0).line == "r3000c/cr7025f"  # totals of the hand: 30 before the flop and 40.25 on it
    assert hands.won.tolist() == [[-3000, 3000], [3000, -3000], [UNKNOWN_RESULT, UNKNOWN_RESULT]]
    assert hands.hole(1, 0) != ()
    assert hands.hole(1, 1) == hands.hole(0, 0) == ()
    assert [len(hands.board(i)) for i in range(3)] == [3, 5, 5]
    assert hands.played_by("third").tolist() == [False, True, True]
    assert hands.seat_of("another").tolist() == [1, -1, -1]
    with pytest.raises(InputError, match="'nobody'"):
        hands.played_by("nobody")
    for i in range(3):  # pokerkit reads our files, and so do we
        text = phh.format_hand(hands, i)
        assert pokerkit.HandHistory.loads(text).starting_stacks == [x / 100 for x in hands.stacks[i].tolist()]
        again = build_records([phh.parse_hand(text)], hands.rules, 100)
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
def test_an_invalid_hand_is_counted_and_does_not_affect_others(
    change: tuple[str, str], reason: str, tmp_path: Path
) -> None:
    assert change[0] in PLAIN
    broken = PLAIN.replace(*change)
    found = read_hands(_file(tmp_path, MUCKED, broken, PLAIN))
    assert found.rejected == {reason: 1}
    assert len(found.hands) == 2
    assert found.examples[reason][0].startswith("[2] ")
    with pytest.raises(InputError, match=r"hands\.phhs.*\(2\)"):
        read_hands(_file(tmp_path, broken, broken))


def test_antes(tmp_path: Path) -> None:
    """Both players pay an ante in addition to the blinds; amounts of actions count the bets of the street without it."""
    with_antes = PLAIN.replace("antes = [0, 0]", "antes = [1, 1]")
    found = read_hands(_file(tmp_path, with_antes, PLAIN))
    hands = found.hands
    assert (found.rejected, hands.ante.tolist()) == ({}, [100, 0])
    assert hands.betting(0).line == "r3100c/cr7125f"
    assert hands.betting(0, 0).pot == 1700
    assert hands.won.tolist() == [[-3100, 3100], [-3000, 3000]]
    text = phh.format_hand(hands, 0)
    assert pokerkit.HandHistory.loads(text).antes == [1, 1]
    assert phh.parse_hand(text).betting == phh.parse_hand(with_antes).betting


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
def test_plain_tables_agree_with_toml(entries: list[tuple[str, str]]) -> None:
    text = "\n".join(f"{key} = {value}" for key, value in entries)
    found = parse_plain_table(text, {"a", "b", "hand", "x-y"})
    if found is None:
        return  # the TOML parser decides
    true = parse_toml(text, parse_float=Decimal)
    assert {key: str(value) for key, value in true.items()} == {key: str(value) for key, value in found.items()}


@pytest.mark.parametrize("text", [PLAIN, ALL_IN])
def test_real_tables_are_plain(text: str) -> None:
    """Otherwise reading collections takes three times as long."""
    assert parse_plain_table(text, {"players"}) is not None


def test_many_files_are_one_record(tmp_path: Path) -> None:
    """Invalid hands and hands of another game are counted and skipped."""
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
    assert found.rejected == {"another game": 4 + 4 + 2, "no TOML": 1, BROKEN_LINE: 1}  # logs count whole chips
    alone = gather_hands([tmp_path / "d.phhs"])
    assert (alone.hands, sum(alone.rejected.values())) == (None, 1)
    logs = gather_hands([tmp_path / "b.log", tmp_path / "e.log"])
    assert logs.hands is not None
    assert len(logs.hands) == 6


@pytest.mark.parametrize("body", [b"", b"\x1f\x8b", b"\x1f\x8b\x08\x00torn", b"\xff\xfe\x00", b"no toml at all"])
@pytest.mark.parametrize("name", ["a.phhs", "a.phhs.gz", "a.phh", "a.log"])
def test_invalid_files(body: bytes, name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(body)
    with pytest.raises(InputError, match=name.replace(".", r"\.")):
        read_hands(tmp_path / name)


def test_invalid_records(tmp_path: Path) -> None:
    one = build_records([phh.parse_hand(PLAIN)], phh.parse_hand(PLAIN).betting.rules, 100)
    with pytest.raises(InputError, match="no records"):
        concatenate_records([])
    with pytest.raises(InputError, match="different games"):
        concatenate_records([one, replace(one, scale=1)])
    with pytest.raises(InputError, match="different games"):
        concatenate_records([one, match(tmp_path / "a.phhs", LIMIT, 4, ("random", "random"))])
    with pytest.raises(InputError, match=r"hand 3: .*'c'"):
        build_records([RecordedHand(3, ("a", "b"), BettingState.from_line(NOLIMIT, "c"), ((), (), ()))], NOLIMIT)
    hands = match(tmp_path / "b.phhs", NOLIMIT, 8, ("random", "rule-based"))
    richer = replace(hands, stacks=hands.stacks + (hands.number == 7)[:, None])
    with pytest.raises(InputError, match=r"hand 7: .*stacks.*\.phhs"):
        write_hands(tmp_path / "b.log", richer)
    assert not (tmp_path / "b.log").exists()  # written atomically
    with pytest.raises(InputError, match="scale=0"):
        read_hands(tmp_path / "b.phhs", scale=0)


@settings(max_examples=40, deadline=None)
@given(
    stacks=st.tuples(st.integers(11, 5_000), st.integers(11, 5_000)),
    choices=st.lists(st.floats(0, 1), min_size=60, max_size=60),
    seed=st.integers(0, 10**6),
)
def test_random_hands_round_trip(stacks: tuple[int, int], choices: list[float], seed: int) -> None:
    """Random stacks, actions and cards, through the text of a history."""
    rules = PokerRules(blinds=(10, 5), stacks=stacks)
    state, turn = BettingState.start(rules).deal_due_streets(), iter(choices)
    while state.actor >= 0:
        moves = [m for m in ("f", "c") if state.find_action(m) is not None]
        span = state.raise_range()
        if span is not None:
            moves += [f"r{span.least}", f"r{span.least + int(next(turn, 0.0) * (span.most - span.least))}"]
        state = state.play(state.parse_action(moves[int(next(turn, 0.3) * len(moves)) % len(moves)]))
    deck = np.random.default_rng(seed).permutation(52).tolist()
    shown = rules.board_sizes[state.street]
    hand = RecordedHand(seed, ("a", "b"), state, (tuple(deck[:2]), tuple(deck[2:4]), tuple(deck[4 : 4 + shown])))
    hands = build_records([hand], rules)
    text = phh.format_hand(hands, 0)
    again = build_records([phh.parse_hand(text, scale=1)], rules)
    same(hands, again)
    *_, end = pokerkit.HandHistory.loads(text)
    assert tuple(end.stacks) == tuple(a + b for a, b in zip(stacks, hands.won[0].tolist(), strict=True))
