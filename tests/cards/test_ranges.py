"""Ranges: meaning of tokens, formatting, and invalid texts."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riverboat.cards.deck import HAND_CARDS, NUM_HANDS, RANKS, hand_index, parse_card
from riverboat.cards.grid import CLASS_NAMES, CLASS_OF_HAND
from riverboat.cards.notation import format_hand, parse_hand
from riverboat.cards.ranges import Range
from riverboat.cli.cards import show_range
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError


def hands(text: str) -> set[str]:
    return {format_hand(h) for h in np.flatnonzero(Range.parse(text).weights)}


@pytest.mark.parametrize(
    ("text", "combos"),
    [
        ("22+", 78), ("A2s+", 48), ("A2o+", 144), ("A2+", 192), ("AKs", 4), ("AKo", 12), ("AK", 16), ("QQ", 6),
        ("QQ+", 18), ("AA+", 6), ("KTs+", 12), ("76s+", 4), ("32+", 16), ("88-55", 24), ("A9s-A6s", 16),
        ("98o-65o", 48), ("QJo-87o", 60), ("AQ-86", 112), ("random", 1326), ("*", 1326), ("any two", 1326),
        ("Any  Two:0.5", 663), ("AsKs", 1), ("AsKs:0.25", 0.25), ("AKs:0.5", 2), ("AKs,AKs", 4), ("AK,AKs:0", 12),
        ("AKs:0,AK", 16), ("QQ+,AKs,A5s-A2s:0.5,98o-65o,AsKs", 78), ("random,AsKs:0", 1325), ("AK:1e-1", 1.6),
        ("any", 1326), ("AK:.5", 8), ("AK:1.", 16), ("AK:0.0,QQ", 6), ("random:0.3", 397.8),
    ],
)  # fmt: skip
def test_combos(text: str, combos: float) -> None:
    assert Range.parse(text).combos == pytest.approx(combos, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("KTs+", "KTs,KJs,KQs"),
        ("98s+", "98s"),
        ("T8+", "T8s,T8o,T9s,T9o"),
        ("98o-65o", "98o,87o,76o,65o"),
        ("65o-98o", "98o-65o"),
        ("A2s-A5s", "A5s,A4s,A3s,A2s"),
        ("55-88", "88,77,66,55"),
        ("J9-97", "J9,T8,97"),
        ("KAs", "AKs"),
        ("TAs+", "ATs+"),
        ("aks, qq+;ksAS\n", "AKs QQ+"),
        ("AKS,aKo", "AK"),
        ("KsAs,ksah", "AsKs,AhKs"),
        ("AKs-AKs", "AKs"),
        ("QQ-QQ", "QQ"),
        ("ANY TWO", "22+,A2+,K2+,Q2+,J2+,T2+,92+,82+,72+,62+,52+,42+,32"),
        ("AK:0.5,AKs:0.25", "AKs:0.25,AKo:0.5"),
    ],
)
def test_same(text: str, same: str) -> None:
    assert Range.parse(text) == Range.parse(same)


def test_hands() -> None:
    assert hands("QQ") == {"QsQh", "QsQd", "QsQc", "QhQd", "QhQc", "QdQc"}
    assert hands("54s") == {"5s4s", "5h4h", "5d4d", "5c4c"}
    assert hands("AsKh") == {"AsKh"}
    assert len(hands("54o")) == 12
    assert not hands("54o") & hands("54s")


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("AA,KK,QQ", "QQ+"),
        ("AKs,AKo", "AK"),
        ("AKs,AQs,AJs", "AJs+"),
        ("A2s+,A2o+", "A2+"),
        ("98s,87s,76s,65s", "98s-65s"),
        ("88,77,66,55", "88-55"),
        ("A5s,A4s,A3s,A2s", "A5s-A2s"),
        ("AsKs,AhKh,AdKd,AcKc", "AKs"),
        ("AsKs,AhKh:0.5", "AsKs,AhKh:0.5"),
        ("random", "random"),
        ("random:0.5", "random:0.5"),
        ("random:0.5,22+", "22+,A2+:0.5,K2+:0.5,Q2+:0.5,J2+:0.5,T2+:0.5,92+:0.5,82+:0.5,72+:0.5,62+:0.5,52+:0.5,"
         "42+:0.5,32:0.5"),
        ("98o-65o,QQ+,A5s-A2s:0.5,AKs:0.25,AsKs", "QQ+,A5s-A2s:0.5,98o-65o,AsKs,AhKh:0.25,AdKd:0.25,AcKc:0.25"),
        ("AhAs,2c2d", "AsAh,2d2c"),
        ("22+,A2+,K9s+,QTs+,J9s+,T8s+,98s,87s,76s,65s,KTo+,QJo",
         "22+,A2+,KT+,QJ,K9s,QTs,J9s+,T8s+,98s-65s"),
    ],
)  # fmt: skip
def test_printed(text: str, printed: str) -> None:
    found = Range.parse(text)
    assert str(found) == printed
    assert Range.parse(printed) == found
    assert repr(found) == f"Range({printed!r})"


weights = st.one_of(st.sampled_from([0.0, 0.0, 1.0, 1.0, 0.5, 0.25, 1 / 3]), st.floats(0, 1))


@st.composite
def any_range(draw: st.DrawFn) -> Range:
    """Draw a range of whole classes, some with changed hands."""
    palette = draw(st.lists(weights, min_size=1, max_size=4))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    found: Array = rng.choice([0.0, *palette], 169)[CLASS_OF_HAND]
    for hand, weight in draw(st.dictionaries(st.integers(0, NUM_HANDS - 1), weights, max_size=6)).items():
        found[hand] = weight
    if draw(st.booleans()):
        found[rng.random(NUM_HANDS) < draw(st.sampled_from([0.02, 0.5, 0.98]))] = 0.0
    return Range(found)


@settings(deadline=None)
@given(any_range())
def test_ranges_round_trip(given_range: Range) -> None:
    text = str(given_range)
    assert Range.parse(text, allow_empty=True) == given_range
    tokens = [Range.parse(token).weights > 0 for token in text.split(",")] if text else []
    assert sum(tokens, np.zeros(NUM_HANDS, int)).max() <= 1  # no overlaps
    assert str(Range.parse(text, allow_empty=True)) == text


@given(any_range(), any_range())
@settings(deadline=None, max_examples=30)
def test_operations(one: Range, two: Range) -> None:
    assert one | two == two | one
    assert one & two == two & one
    assert one | one == one & one == one
    assert (one | two).combos + (one & two).combos == pytest.approx(one.combos + two.combos)
    assert (one * 0.5).combos == pytest.approx(one.combos / 2)
    assert 0.5 * one == one * 0.5
    assert one * 1 == one
    assert (one == two) == (str(one) == str(two))
    assert hash(one) == hash(Range(one.weights.copy()))


def test_agrees_with_pokerkit() -> None:
    """PokerKit's parser on every token that both know, as sets of hands."""
    pytest.importorskip("pokerkit")
    from pokerkit.analysis import parse_range

    tokens = []
    pairs = list(combinations(RANKS[::-1], 2))
    for high, low in pairs:
        tokens += [high + low + kind + plus for kind in ("", "s", "o") for plus in ("", "+")]
    tokens += [rank + rank + plus for rank in RANKS for plus in ("", "+")]
    tokens += ["88-55", "55-88", "98o-65o", "QJo-87o", "AQs-86s", "86-AQ", "AKo-32o", "AA-22"]
    tokens += ["AsKs", "2c2d", "QQ+;AKs 98o-65o,2c2d"]
    for token in tokens:
        theirs = {frozenset(parse_card(repr(card)) for card in hand) for hand in parse_range(token)}
        ours = {frozenset(HAND_CARDS[h].tolist()) for h in np.flatnonzero(Range.parse(token).weights)}
        assert ours == theirs, token


def test_order_of_weights() -> None:
    """2d2c 2h2c 2h2d 2s2c … is also PioSOLVER's show_hand_order, so its 1326 numbers can be used as they are."""
    begin = "2d2c 2h2c 2h2d 2s2c 2s2d 2s2h 3c2c 3c2d 3c2h 3c2s 3d2c 3d2d 3d2h 3d2s 3d3c 3h2c"
    assert " ".join(format_hand(h) for h in range(16)) == begin
    weights = np.zeros(NUM_HANDS)
    weights[hand_index(*parse_hand("AsKs"))] = 0.25
    assert Range(weights) == Range.parse("AsKs:0.25")


def test_weights_by_token() -> None:
    found = Range.parse("AKs:0.5,AsKs,QQ")
    assert found.weight("AsKs") == found.weight("KsAs") == found.weight((51, 47)) == 1
    assert found.weight("AhKh") == 0.5
    assert found["AKs"] == 0.625
    assert found["AK"] == 2.5 / 16
    assert found["qq+"] == pytest.approx(6 / 18)
    assert found["AhKh"] == 0.5
    assert found["72o"] == 0
    assert found.percent == pytest.approx(100 * 8.5 / 1326)
    grid = found.class_weights()
    assert grid.shape == (13, 13)
    assert (grid[0, 1], grid[2, 2], grid[1, 0]) == (0.625, 1, 0)
    with pytest.raises(InputError, match="hands 'AKx'"):
        found["AKx"]
    with pytest.raises(InputError, match="hand 'AK': token 'AK' at position 1"):
        found.weight("AK")


def test_board_removes_hands() -> None:
    found = Range.parse("AA,AKs,72o")
    left = found.remove("AsKh2c")
    assert left.combos == 3 + 2 + 9
    assert left == found.remove((51, 46, 0)) == left.remove("As Kh 2c")
    assert left.weight("AsKs") == left.weight("AhKh") == 0
    assert (found.class_weights("AsKh2c") == found.class_weights()).all()  # averages over the hands that are left
    assert left.class_weights()[0, 0] == 0.5
    assert found.class_weights("AsAhAd")[0, 0] == 0  # none is left
    assert found.remove("") == found
    with pytest.raises(InputError, match="board 'AsKs': 2 cards"):
        found.remove("AsKs")


def test_ranges_are_immutable() -> None:
    source = np.zeros(NUM_HANDS)
    found = Range(source)
    source[0] = 1
    assert found.combos == 0
    with pytest.raises(ValueError, match="read-only"):
        found.weights[0] = 1
    with pytest.raises(AttributeError):
        found.weights = source  # type: ignore[misc]
    assert Range(np.full(NUM_HANDS, -0.0)) == found
    assert len({found, Range(np.zeros(NUM_HANDS)), Range(np.full(NUM_HANDS, -0.0))}) == 1
    assert found != "22+"


@pytest.mark.parametrize(
    ("text", "token", "position", "reason"),
    [
        ("QQ+,AKx", "AKx", 5, ""),
        ("QQ+, AKs:1.5", "AKs:1.5", 6, "weight '1.5'"),
        ("AKs:", "AKs:", 1, "weight ''"),
        ("AKs:-0.5", "AKs:-0.5", 1, "weight '-0.5'"),
        ("AKs:nan", "AKs:nan", 1, "weight 'nan'"),
        ("AKs:1_0", "AKs:1_0", 1, "weight '1_0'"),
        ("22 AsAS", "AsAS", 4, ""),
        ("AAs", "AAs", 1, ""),
        ("A5s-A2o", "A5s-A2o", 1, "A5s and A2o"),
        ("A5s-K2s", "A5s-K2s", 1, ""),
        ("AA-AK", "AA-AK", 1, ""),
        ("A5s-", "A5s-", 1, ""),
        ("A5s - A2s", "-", 5, ""),
        ("QQ++", "QQ++", 1, ""),
        ("QQ+-88", "QQ+-88", 1, ""),
        ("1h2h", "1h2h", 1, ""),
        ("As Ks", "As", 1, ""),
        ("AsK", "AsK", 1, ""),
        ("AsKsQs", "AsKsQs", 1, ""),
        ("0.5", "0.5", 1, ""),
        ("AA,@file", "@file", 4, ""),
    ],
)
def test_invalid_tokens(text: str, token: str, position: int, reason: str) -> None:
    with pytest.raises(InputError) as caught:
        Range.parse(text)
    assert str(caught.value).startswith(f"range {text!r}: token {token!r} at position {position}: {reason}")


@given(st.text(alphabet="AKQ2sohcdT+-:0.5,; @*#", max_size=12))
def test_any_text_round_trips_or_is_rejected(text: str) -> None:
    try:
        found = Range.parse(text)
    except InputError:
        return
    assert Range.parse(str(found)) == found


@pytest.mark.parametrize("text", ["", "  ", ",;", "AKs:0", "AK,random:0"])
def test_empty(text: str) -> None:
    with pytest.raises(InputError, match=r"^range "):
        Range.parse(text)
    empty = Range.parse(text, allow_empty=True)
    assert empty.combos == 0
    assert str(empty) == ""


def test_long_texts_are_shortened() -> None:
    with pytest.raises(InputError) as caught:
        Range.parse("AKs," * 100 + "XX")
    assert "…': token 'XX' at position 401" in str(caught.value)
    assert len(str(caught.value)) < 250


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "an opening, early.txt"
    path.write_text("# pairs\n22+\n\nA2s+ # suited aces, AKo\nKQs:0.5\n", encoding="utf-8")
    assert Range.parse(f"@{path}") == Range.parse("22+,A2s+,KQs:0.5")
    path.write_text("22+\nAKs, AQx # no\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"early.txt: token 'AQx' at line 2, position 6: "):
        Range.parse(f"@{path}")
    path.write_text("# nothing\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"early\.txt"):
        Range.parse(f"@{path}")
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"early\.txt"):
        Range.parse(f"@{path}")
    with pytest.raises(InputError, match=r"missing\.txt"):
        Range.parse("@" + str(tmp_path / "missing.txt"))


@pytest.mark.parametrize(
    ("weights", "problem"),
    [(np.zeros(1325), "shape"), (np.full(NUM_HANDS, 1.5), "2d2c"), (np.full(NUM_HANDS, np.nan), "nan of 2d2c")],
)
def test_invalid_weights(weights: Array, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        Range(weights)


def test_factors() -> None:
    with pytest.raises(InputError, match=r"weight 2.0 of AhAc"):
        Range.parse("AA,AcAd:0.5") * 2
    for wrong in (lambda r: r | "AA", lambda r: r & 1, lambda r: r * "2"):
        with pytest.raises(TypeError):
            wrong(Range.parse("AA"))


def test_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    show_range("AA,KK,AKs:0.5")
    out = capsys.readouterr().out
    assert "14 combos, 1.06 % of all hands\nKK+,AKs:0.5\n" in out
    assert "made hands" not in out

    show_range("22+,A2s+", board="Qs Jh 2h", out=tmp_path / "new" / "range.png")
    found = capsys.readouterr()
    assert (tmp_path / "new" / "range.png").read_bytes().startswith(b"\x89PNG")
    assert "picture" in found.err
    assert "114 combos, 9.69 % of the hands left on Qs Jh 2h" in found.out
    assert "underpair" in found.out

    show_range("AA,KK,AKs:0.5,QTo", board="QsJh2h", json=True)
    facts = json.loads(capsys.readouterr().out)
    assert facts == {
        "text": "KK+,AKs:0.5,QTo",
        "combos": 23,
        "percent": 100 * 23 / 1176,
        "board": "QsJh2h",
        "made": {"overpair": 12, "top pair": 9, "ace high": 2},
        "draws": {"combo draw": 0.5, "nut flush draw": 0.5, "gutshot": 2, "backdoor flush draw": 0.5, "overcards": 2,
                  "no draw": 21},
        "weights": {"AA": 1, "AKs": 0.5, "KK": 1, "QTo": 1},
    }  # fmt: skip
    show_range("random:0.5", json=True)
    facts = json.loads(capsys.readouterr().out)
    assert facts["percent"] == 50
    assert facts["weights"] == dict.fromkeys(CLASS_NAMES, 0.5)
    with pytest.raises(InputError, match=r"range\.doc"):
        show_range("AA", out=tmp_path / "range.doc")
