"""The grid of starting hands: its layout, and each way to show it."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from rich.text import Text

from riverboat.cards.deck import HAND_CARDS, hand_index, parse_card
from riverboat.cards.grid import CLASS_NAMES, CLASS_OF_HAND, HandGrid, action_colours, class_index
from riverboat.cards.ranges import Range
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.plots.colours import CALL_COLOUR, DARK, FOLD_COLOUR, WEIGHT_COLOUR

RANGE = Range.parse("QQ+,AKs,KQs:0.5,72o:0.001,AKo:0.25")


def three_actions() -> HandGrid:
    fold, call, bet = np.zeros((13, 13)), np.full((13, 13), 0.4), np.full((13, 13), 0.6)
    fold[12], call[12], bet[12] = 1, 0, 0
    return HandGrid.actions({"fold": fold, "call": call, "raise 3x": bet}, title="a spot")


def rendered(thing: Any, **options: Any) -> str:
    console = Console(file=io.StringIO(), force_terminal=True, **({"width": 80, "color_system": "truecolor"} | options))
    console.print(thing)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def style(colour: str) -> str:
    """Return a background colour as a terminal escape sequence."""
    return "48;2;" + ";".join(str(int(colour[k : k + 2], 16)) for k in (1, 3, 5))


def test_layout() -> None:
    names = np.array(CLASS_NAMES).reshape(13, 13)
    assert names[0].tolist() == ["AA", *(f"A{rank}s" for rank in "KQJT98765432")]
    assert names[:, 0].tolist() == ["AA", *(f"A{rank}o" for rank in "KQJT98765432")]
    assert names.diagonal().tolist() == [2 * rank for rank in "AKQJT98765432"]
    assert len(set(CLASS_NAMES)) == 169
    for first, second, name in (("As", "Ks", "AKs"), ("Kd", "As", "AKo"), ("7c", "2d", "72o"), ("2c", "2s", "22")):
        assert CLASS_NAMES[CLASS_OF_HAND[hand_index(parse_card(first), parse_card(second))]] == name
    assert class_index(12, 11, True) == class_index(11, 12, True) == 1
    combos = np.bincount(CLASS_OF_HAND, minlength=169)
    assert {name[2:]: count for name, count in zip(CLASS_NAMES, combos.tolist(), strict=True)} == {
        "": 6,
        "s": 4,
        "o": 12,
    }
    suited = HAND_CARDS[:, 0] & 3 == HAND_CARDS[:, 1] & 3
    assert (suited == (CLASS_OF_HAND % 13 > CLASS_OF_HAND // 13)).all()


def test_text() -> None:
    lines = str(RANGE.grid(title="a range")).splitlines()
    assert lines[0] == "a range"
    assert lines[1].split() == list("AKQJT98765432")
    assert lines[2].split() == ["A", "AA", "AKs", *"·" * 11]
    assert lines[3].split() == ["K", "25%", "KK", "50%", *"·" * 10]
    assert lines[14].split() == ["2", *"·" * 7, "<1%", *"·" * 4, "·"]
    assert len({len(line) for line in lines[1:]}) == 1


def test_text_of_actions() -> None:
    lines = str(three_actions()).splitlines()
    assert lines[0] == "a spot"
    assert [line.split()[0] for line in lines if "." in line] == ["fold", "call", "raise"]
    assert lines[2].split() == list("AKQJT98765432")
    assert lines[3].split() == ["A", *["0%"] * 13]
    assert lines[15].split() == ["2", *["100%"] * 13]


def test_terminal() -> None:
    shown = rendered(RANGE)
    assert style(WEIGHT_COLOUR) in shown
    assert style(DARK) in shown
    assert all(name in shown for name in CLASS_NAMES)
    assert "combos" in shown
    assert shown.count("\n") == 14
    # Without colours the text has all information.
    for options in ({"color_system": None}, {"no_color": True}):
        plain = rendered(RANGE.grid(), **options)
        assert plain.rstrip("\n") == str(RANGE.grid())
    narrow = Text.from_ansi(rendered(RANGE, width=52)).plain
    assert narrow.splitlines()[0].split() == list(CLASS_NAMES[:13])


def test_terminal_shows_actions() -> None:
    shown = rendered(three_actions())
    assert shown.splitlines()[0].find("a spot") >= 0
    assert style(FOLD_COLOUR) in shown
    assert style(CALL_COLOUR) in shown
    assert "raise 3x" in shown
    many = HandGrid.actions({f"a long name {k}": np.full((13, 13), 1 / 8) for k in range(8)})
    lines = rendered(many).splitlines()
    assert len(lines) > 14  # the legend goes on
    assert sum(line.count("a long name") for line in lines) == 8


def cells(page: str) -> list[ET.Element]:
    return list(ET.fromstring(f"<div>{page}</div>").iter("td"))


def test_notebook() -> None:
    found = cells(RANGE._repr_html_())
    assert [cell.text for cell in found] == list(CLASS_NAMES)
    assert found[0].get("title") == "AA: weight 1"
    half = found[CLASS_NAMES.index("KQs")].get("style", "")
    assert f"linear-gradient(to right,{WEIGHT_COLOUR} 0% 100%) bottom/100% 50% no-repeat" in half
    assert "gradient" not in found[CLASS_NAMES.index("A2s")].get("style", "")
    page = three_actions()._repr_html_()
    assert cells(page)[1].get("title") == "AKs: weight 1, fold 0.0%, call 40.0%, raise 3x 60.0%"
    assert f"{CALL_COLOUR} 60% 100%" in cells(page)[1].get("style", "")
    assert "<script>" not in HandGrid(np.ones((13, 13)), title="<script>")._repr_html_()


def test_picture(tmp_path: Path) -> None:
    figure = three_actions().figure()
    (axes,) = figure.axes
    assert axes.get_title() == "a spot"
    assert [text.get_text() for text in axes.texts] == list(CLASS_NAMES)
    assert [text.get_text().split()[0] for text in axes.get_legend().get_texts()] == ["fold", "call", "raise"]
    for name, start in (("grid.png", b"\x89PNG"), ("grid.PDF", b"%PDF")):
        RANGE.grid().save(tmp_path / "deep" / name)
        assert (tmp_path / "deep" / name).read_bytes().startswith(start)
    with pytest.raises(InputError, match=r"grid.doc.*'.doc'.*.png"):
        RANGE.grid().save(tmp_path / "grid.doc")


def test_heights_and_widths() -> None:
    """Bars are as high as the weight and as wide as the frequency."""
    weight = np.zeros((13, 13))
    weight[0, 1] = 0.5
    grid = HandGrid.actions({"c": np.full((13, 13), 0.25), "b50": np.full((13, 13), 0.75)}, weight=weight)
    red = action_colours(["b50"])["b50"]
    assert grid.layers(0, 1) == [(red, 0.75), (CALL_COLOUR, 0.25)]
    bars = [patch for patch in grid.figure().axes[0].patches if patch.get_height() < 0.9]
    assert [bar.get_height() for bar in bars] == pytest.approx([0.48, 0.48])
    assert [bar.get_width() for bar in bars] == pytest.approx([0.72, 0.24])
    assert bars[0].get_y() + bars[0].get_height() == pytest.approx(0.98)


def test_colours() -> None:
    found = action_colours(["fold", "check", "Call", "bet 33%", "bet 75%", "all-in", "f", "k", "x"])
    assert [found[name] for name in ("fold", "f")] == [FOLD_COLOUR] * 2
    assert [found[name] for name in ("check", "Call", "k", "x")] == [CALL_COLOUR] * 4
    reds = [found[name] for name in ("bet 33%", "bet 75%", "all-in")]
    brightness = [sum(int(red[k : k + 2], 16) for k in (1, 3, 5)) for red in reds]
    assert brightness == sorted(brightness, reverse=True)
    assert len(set(reds)) == 3


def test_shares() -> None:
    """Totals count combos, not cells."""
    bet = np.zeros((13, 13))
    bet[np.triu_indices(13, 1)] = 1  # suited
    grid = HandGrid.actions({"check": 1 - bet, "bet": bet})
    assert grid.share("bet") == pytest.approx(312 / 1326)
    live = ~np.isin(HAND_CARDS, [51]).any(axis=1)
    combos = np.bincount(CLASS_OF_HAND[live], minlength=169).reshape(13, 13)
    assert HandGrid.actions({"check": 1 - bet, "bet": bet}, combos=combos).share("bet") == pytest.approx(300 / 1275)
    empty = HandGrid.actions({"check": np.ones((13, 13))}, weight=np.zeros((13, 13)))
    assert empty.share("check") == 0


def test_hands_of_zero_weight_need_no_frequencies() -> None:
    weight, bet = np.ones((13, 13)), np.full((13, 13), 0.5)
    weight[3, 4], bet[3, 4] = 0, np.nan
    grid = HandGrid.actions({"check": 1 - bet, "bet": bet}, weight=weight)
    assert "nan" not in str(grid) + grid._repr_html_() + rendered(grid)


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (np.zeros((12, 13)), r"\(12, 13\)"),
        (np.full((13, 13), 1.5), "weights at AA .* 1.5"),
        (np.full((13, 13), np.nan), "weights at AA .* nan"),
        (np.zeros(169), "shape"),
    ],
)
def test_invalid_grids(values: Array, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        HandGrid(values)


def test_invalid_actions() -> None:
    half = np.full((13, 13), 0.5)
    with pytest.raises(InputError, match=r"AA .* 0.5"):
        HandGrid.actions({"bet": half})
    with pytest.raises(InputError, match="grid of actions"):
        HandGrid.actions({})
    with pytest.raises(InputError, match=r"'bet' of shape \(169,\)"):
        HandGrid.actions({"bet": np.ones(169)})
    with pytest.raises(InputError, match=r"combos of shape \(2,\)"):
        HandGrid.actions({"bet": 2 * half}, combos=np.ones(2))
    with pytest.raises(InputError, match="168 labels"):
        HandGrid(half, labels=CLASS_NAMES[:-1])
