"""Hand histories of sites: every sample is read as it was written, and nothing that does not add up is accepted."""

from __future__ import annotations

import gzip
import random
import re
import time as clock
from pathlib import Path

import pokerkit
import pytest
from tests.formats.site_samples import POKER_STARS, SAMPLES, Sample

from riverboat.cards.notation import format_cards
from riverboat.core.errors import InputError
from riverboat.formats.sites import reader
from riverboat.formats.sites.draft import MAX_IMPLIED_RAKE
from riverboat.formats.sites.reader import ReadHands, list_files, read_bytes, read_files, read_text
from riverboat.formats.sites.text import SiteHandError, amount, decode
from riverboat.formats.table_phh import format_table_hand, parse_table_hand
from riverboat.games.holdem.table_hands import TableHand, positions, pots_of, replay, side_pots

MUTATIONS = 4_000


def only_hand(result: ReadHands) -> TableHand:
    assert not result.refused, result.refused
    (hand,) = result.hands
    return hand


def sample_id(sample: Sample) -> str:
    return f"{sample.site}: {sample.name}"


@pytest.mark.parametrize("sample", SAMPLES, ids=sample_id)
def test_every_sample_is_read(sample: Sample) -> None:
    hand = only_hand(read_text(sample.text))
    assert dict(zip(hand.names, hand.winnings, strict=True)) == sample.won
    facts = hand.site, hand.rake, hand.currency, hand.big_blind, hand.tournament, hand.time
    assert facts == (
        sample.site, sample.rake, sample.currency, sample.big_blind, sample.tournament, sample.time
    )  # fmt: skip
    assert len(hand.boards) == sample.boards
    assert (hand.names[hand.hero] if hand.hero >= 0 else "") == sample.hero
    for name, cards in sample.holes.items():
        assert format_cards(hand.holes[hand.names.index(name)]) == cards


@pytest.mark.parametrize("sample", SAMPLES, ids=sample_id)
def test_chips_are_conserved(sample: Sample) -> None:
    hand = only_hand(read_text(sample.text))
    assert sum(hand.winnings) == hand.added - hand.rake
    assert all(0 <= put <= stack for put, stack in zip(hand.contributed, hand.stacks, strict=True))
    last = list(replay(hand))[-1]
    assert last.pot <= sum(hand.stacks)


@pytest.mark.parametrize("sample", SAMPLES, ids=sample_id)
def test_hands_are_written_as_phh_and_read_back(sample: Sample) -> None:
    hand = only_hand(read_text(sample.text))
    assert parse_table_hand(format_table_hand(hand)) == hand
    assert only_hand(read_text(f"[1]\n{format_table_hand(hand)}\n")) == hand


@pytest.mark.parametrize("sample", [s for s in SAMPLES if s.boards == 1], ids=sample_id)
def test_another_program_replays_the_phh(sample: Sample) -> None:
    """PokerKit knows no rake and nothing of chips that the house adds: players who win nothing must agree."""
    hand = only_hand(read_text(sample.text))
    final = list(pokerkit.HandHistory.loads(format_table_hand(hand)))[-1]
    assert not final.status
    for won, collected, payoff in zip(hand.winnings, hand.collected, final.payoffs, strict=True):
        if not collected or not (hand.rake or hand.added):
            assert won == round(100 * float(payoff))


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: text.replace("\n", "\r").encode(),
        lambda text: text.replace("\n", "\n\n").encode(),
        lambda text: text.replace("\n", "  \n").encode(),
        lambda text: text.encode("utf-8-sig"),
        lambda text: text.encode("utf-16"),
        lambda text: text.encode("utf-16-le"),
        lambda text: gzip.compress(text.encode()),
    ],
    ids=["CRLF", "CR", "blank lines", "spaces", "UTF-8 with BOM", "UTF-16 with BOM", "UTF-16", "gzip"],
)
def test_encodings_and_line_ends_make_no_difference(encode) -> None:
    for sample in SAMPLES:
        expected = only_hand(read_text(sample.text))
        assert only_hand(read_bytes(encode(sample.text))) == expected, sample.name


def test_windows_code_pages_are_read() -> None:
    (sample,) = (s for s in SAMPLES if s.site == "Winamax" and "uncalled" in s.name)
    assert only_hand(read_bytes(sample.text.encode("cp1252"))).currency == "EUR"


def test_many_hands_of_many_sites_in_one_file_are_listed_with_their_lines() -> None:
    lines = [sample for sample in SAMPLES if sample.site != "iPoker"]
    text = "\n\n\n".join(sample.text for sample in lines)
    result = read_text(text)
    assert [hand.site for hand in result.hands] == [sample.site for sample in lines]
    assert not result.refused
    garbage = "something else\nand more\n"
    omaha = lines[0].text.replace("Hold'em No Limit", "Omaha Pot Limit")
    result = read_text(f"{garbage}{lines[0].text}{omaha}{lines[1].text}", "evening.txt")
    assert [hand.number for hand in result.hands] == ["1001", "1002"]
    first, second = result.refused
    assert (first.file, first.line, first.reason) == ("evening.txt", 1, "no hand history of a known site")
    assert (second.line, second.reason, second.detail) == (3 + lines[0].text.count("\n"), "another game", "omaha")


def test_several_games_of_an_ipoker_session_are_read() -> None:
    games = [sample for sample in SAMPLES if sample.site == "iPoker" and not sample.tournament]
    bodies = [re.search(r"<game .*</game>\n", sample.text, re.DOTALL)[0] for sample in games]  # type: ignore[index]
    text = games[0].text.replace(bodies[0], "".join(bodies))
    assert [hand.number for hand in read_text(text).hands] == ["901", "902"]


def test_a_hand_that_occurs_twice_counts_once(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(SAMPLES[0].text + SAMPLES[1].text, encoding="utf-8")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    result = read_files([tmp_path])
    assert (len(result.hands), result.duplicates, result.files, result.refused) == (2, 2, 2, [])
    assert len(list_files([tmp_path, tmp_path / "picture.png"])) == 3
    with pytest.raises(InputError, match="no such file"):
        list_files([tmp_path / "missing.txt"])


REFUSED = [
    ("Hero: raises $0.15 to $0.25\n", "", "an action out of turn"),
    ("Player2: folds\n", "", "an action out of turn"),
    ("Player2: folds\n", "Player2: checks\n", "amounts that do not add up"),
    ("Player2: folds\n", "Player2: calls $0.10\n", "amounts that do not add up"),
    ("raises $0.15 to $0.25", "raises $0.15 to $0.35", "amounts that do not add up"),
    ("raises $0.15 to $0.25", "raises $99.90 to $100", "amounts that do not add up"),
    ("collected $0.25", "collected $0.26", "amounts that do not add up"),
    ("collected $0.25", "collected $0.10", "amounts that do not add up"),
    ("Hero collected", "Player2 collected", "amounts that do not add up"),
    ("Rake $0", "Rake $0.05", "amounts that do not add up"),
    ("Total pot $0.25", "Total pot $0.35", "amounts that do not add up"),
    ("returned to Hero", "returned to Player2", "amounts that do not add up"),
    ("($0.15) returned", "($0.10) returned", "amounts that do not add up"),
    ("Hero collected $0.25 from pot\n", "", "the hand breaks off"),
    ("*** SUMMARY ***\nTotal pot $0.25 | Rake $0\n", "", "the hand breaks off"),
    ("Seat #1 is the button", "", "the hand breaks off"),
    ("Seat 2: Player2 ($10 in chips)\n", "", "a player without a seat"),
    ("Seat 2: Player2 ($10 in chips)", "Seat 1: Player2 ($10 in chips)", "a seat twice"),
    ("[As Kd]", "[As As]", "cards that cannot be dealt"),
    ("[As Kd]", "[As Kd Qd Jd]", "another game"),
    ("[As Kd]", "[As K?]", "cards that cannot be read"),
    ("No Limit", "Limit", "another game"),
    ("No Limit", "Pot Limit", "another game"),
    ("Hold'em No Limit", "5 Card Draw", "another game"),
    ("$0.25 | Rake", "$0.2.5 | Rake", "an amount that cannot be read"),
    ("Player2: folds\n", "Player2: shoves $10\n", "a line that cannot be read"),
]


@pytest.mark.parametrize(("old", "new", "reason"), REFUSED, ids=range(len(REFUSED)))
def test_inconsistent_hands_are_refused_with_the_reason(old: str, new: str, reason: str) -> None:
    text = POKER_STARS[0].text
    assert old in text
    result = read_text(text.replace(old, new, 1))
    assert not result.hands
    assert [refusal.reason for refusal in result.refused] == [reason]


def test_the_pot_must_go_to_the_best_hand() -> None:
    (sample,) = (s for s in POKER_STARS if s.name.startswith("showdown"))
    for old, new in (("[Jd Td]", "[Jd Js]"), ("[2c 7d Jh Ks] [3d]", "[2c 7d Jh Ks] [Ts]")):
        text = sample.text.replace(old, new)
        assert text != sample.text
        assert read_text(text).refused[0].reason == "the pot does not go to the best hand"


def test_cash_outs_and_cancelled_hands_are_refused() -> None:
    text = POKER_STARS[0].text
    for line, reason in (
        ("Hero: Pays Cashout Risk ($0.10)", "an all-in insurance or cash-out"),
        ("Hand was cancelled", "a cancelled hand"),
    ):
        assert read_text(text.replace("*** SUMMARY", f"{line}\n*** SUMMARY")).refused[0].reason == reason


def test_amounts_are_read_in_all_notations_or_refused() -> None:
    good = {
        "$0.05": 5,
        "0,05 €": 5,
        "1\u00a0234,50 €": 123450,
        "1.234.567": 123456700,
        "12,500": 1250000,
        "£7": 700,
        "7.5": 750,
    }
    assert {text: amount(text) for text in good} == good
    for text in ("", "chips", "0.005", "1,23,4", "1.2.3", "5 or 6", "1" * 20):
        with pytest.raises(SiteHandError, match="amount"):
            amount(text)


def test_binary_files_are_refused() -> None:
    with pytest.raises(InputError, match="binary"):
        decode(b"\x7fELF\0\1\2\3" * 20)
    assert read_bytes(b"\x7fELF\0\1\2\3" * 20).refused[0].reason == "a file that cannot be read"
    assert read_bytes(b"\x1f\x8b\x08\0broken").refused[0].reason == "a damaged gzip file"


# --- fuzzing ---


def mutate(text: str, rng: random.Random) -> str:
    """Return a text with one to three random changes: cuts, swaps, repeats, other digits and characters."""
    for _ in range(rng.randint(1, 3)):
        kind, at, length = rng.randrange(8), rng.randrange(len(text) + 1), rng.randint(1, 40)
        lines = text.split("\n")
        row = rng.randrange(len(lines))
        if kind == 0:
            text = text[:at]
        elif kind == 1:
            text = text[:at] + text[at + length :]
        elif kind == 2:
            text = (
                text[:at] + rng.choice(["\0", "[", "]", '"', "<", ">", "€", "\u2028", "9" * 30, "-", " "]) + text[at:]
            )
        elif kind == 3:
            text = re.sub(r"[0-9]", lambda m: str(rng.randrange(10)) if rng.random() < 0.02 else m[0], text)
        elif kind == 4:
            text = "\n".join([*lines[:row], *lines[row + 1 :]])
        elif kind == 5:
            text = "\n".join([*lines[: row + 1], *lines[row:]])
        elif kind == 6:
            other = rng.randrange(len(lines))
            lines[row], lines[other] = lines[other], lines[row]
            text = "\n".join(lines)
        else:
            text = text[:at] + text[at : at + length].swapcase() + text[at + length :]
        text = text or " "
    return text


def test_mutated_histories_never_crash_and_never_create_chips() -> None:
    rng = random.Random(47)
    accepted = 0
    for k in range(MUTATIONS):
        text = mutate(SAMPLES[k % len(SAMPLES)].text, rng)
        result = read_text(text)
        assert result.hands or result.refused
        for hand in result.hands:
            accepted += 1
            pot = sum(hand.contributed) + hand.added
            assert sum(hand.winnings) == hand.added - hand.rake
            assert hand.rake >= 0
            assert min(hand.collected) >= 0
            assert parse_table_hand(format_table_hand(hand)).winnings == hand.winnings
            assert hand.rake <= max(pot * (MAX_IMPLIED_RAKE + 0.5), 2 * hand.big_blind)
    assert MUTATIONS / 10 < accepted < MUTATIONS * 9 / 10  # most changes matter, some do not


def test_mutated_phh_never_crashes() -> None:
    rng = random.Random(48)
    texts = [format_table_hand(only_hand(read_text(sample.text))) for sample in SAMPLES]
    for k in range(MUTATIONS // 10):
        result = read_text(mutate(texts[k % len(texts)], rng))
        assert result.hands or result.refused


def test_ten_megabytes_of_garbage_are_refused_quickly() -> None:
    rng = random.Random(1)
    begin = clock.perf_counter()
    for data in (
        rng.randbytes(10 << 20),
        b"PokerStars Hand #1: " * (512 << 10),
        b"PokerStars Hand #1:\n" * 2_000 + b"x" * (10 << 20),
        b"*" * (10 << 20),
        b"<game>" * (1 << 20),
    ):
        result = read_bytes(data)
        assert not result.hands
        assert result.refused
    assert clock.perf_counter() - begin < 30  # seconds on a busy machine; about one on an idle one


def test_large_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_FILE_BYTES", 1_000)
    (tmp_path / "large.txt").write_text(SAMPLES[0].text * 9, encoding="utf-8")
    (refusal,) = read_files([tmp_path]).refused
    assert (refusal.reason, refusal.detail) == ("a file that cannot be read", "more than 0 MB")


def test_xml_and_gzip_bombs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    entities = "".join(f'<!ENTITY a{k} "{f"&a{k - 1};" * 10}">' for k in range(1, 12))
    bomb = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a0 "ha">{entities}]><session>&a11;<game gamecode="1">'
    assert read_text(bomb).refused[0].reason == "an XML document with declarations"
    nested = "<session>" * 100_000 + '<game gamecode="1">' + "<round no='1'>" * 10_000
    assert read_text(nested).refused[0].reason == "too long for a hand"
    monkeypatch.setattr(reader, "MAX_FILE_BYTES", 1 << 20)
    assert "unpacked" in read_bytes(gzip.compress(b"\0" * (3 << 20))).refused[0].detail


# --- parts ---


def test_positions_have_the_usual_names() -> None:
    assert positions(3) == ("SB", "BB", "BTN")
    assert positions(9) == ("SB", "BB", "UTG", "UTG+1", "UTG+2", "LJ", "HJ", "CO", "BTN")
    assert all(len(set(positions(n))) == n for n in range(2, 11))


def test_side_pots_leave_out_players_who_folded() -> None:
    assert side_pots((50, 100, 100, 30), (False, False, False, True)) == [(180, (0, 1, 2)), (100, (1, 2))]
    assert side_pots((50, 100, 120), (False, False, True)) == [(150, (0, 1)), (120, (1,))]


def test_dead_blinds_are_in_the_main_pot() -> None:
    (sample,) = (s for s in SAMPLES if s.name.startswith("a dead blind, and a hand shown"))
    hand = only_hand(read_text(sample.text))
    assert pots_of(hand, hand.contributed, (True, False, False)) == [(30, (1, 2))]
