"""Drawings: well-formed, complete, legible, and errors where they would not be."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import pytest

from random_games import random_history_game, random_public_game
from riverboat.core.errors import InputError
from riverboat.games.base import TERMINAL, ConstantPayoff, Outcome, PrivateDeal
from riverboat.games.registry import game_from_spec
from riverboat.strategies.tabular import Strategy
from riverboat.trees.compile import compile_game, to_history_tree
from riverboat.trees.drawing import COLOURS, GREY, TreeDrawing, count_nodes, draw_tree, find_deal, small_svg
from riverboat.trees.public import PublicTree

SVG = "{http://www.w3.org/2000/svg}"
WHOLE = ("kuhn", "rps", "rpst", "coin_toss", "clairvoyance")


def parse(drawing: TreeDrawing) -> ET.Element:
    root = ET.fromstring(drawing.svg)
    assert root.tag == f"{SVG}svg"
    return root


def texts(root: ET.Element) -> list[str]:
    return ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]


def titles(root: ET.Element) -> list[str]:
    """Return the tooltips of the nodes."""
    found = (group.findtext(f"{SVG}title") for group in root.iter(f"{SVG}g"))
    return [title for title in found if title is not None]


def boxes(root: ET.Element) -> list[tuple[str, float, float, float, float]]:
    """Return the boxes of the texts, with letters as wide as in a narrow font: text, left, top, right, bottom."""
    found = []
    for text in root.iter(f"{SVG}text"):
        content = "".join(text.itertext())
        size = float(text.get("font-size", "11"))
        width = 0.6 * size * len(content)
        left = float(text.get("x", "0")) - (width / 2 if text.get("text-anchor") == "middle" else 0)
        base = float(text.get("y", "0"))
        found.append((content, left, base - 0.75 * size, left + width, base + 0.2 * size))
    return found


@pytest.mark.parametrize("spec", WHOLE)
def test_drawing_is_complete(spec: str) -> None:
    tree = compile_game(game_from_spec(spec))
    whole = to_history_tree(tree)
    root = parse(draw_tree(tree))
    shown = Counter(title.partition(" (player")[0] for title in titles(root))
    assert set(shown) - {"chance"} == {infoset.name for infoset in tree.infosets()}
    for number, infoset in enumerate(whole.infosets()):
        assert shown[infoset.name] == int((whole.node_infoset == number).sum())
    leaves = Counter(
        "  ".join(f"{x + 0.0:g}".replace("-", "−") for x in whole.payoffs[whole.nodes.data[n]])
        for n in range(len(whole.nodes.actor))
        if whole.nodes.actor[n] == TERMINAL
    )
    assert not leaves - Counter(texts(root))


def test_kuhn() -> None:
    drawing = draw_tree(game_from_spec("kuhn"))
    root = parse(drawing)
    assert repr(drawing) == "<Drawing of kuhn: 58 nodes>"
    assert drawing._repr_svg_() == drawing.svg
    assert sum("one information set" in text for text in texts(root)) == 1
    dashed = [path for path in root.iter(f"{SVG}path") if path.find(f"{SVG}title") is not None]
    assert all(path.get("stroke-dasharray") for path in dashed)
    assert Counter(path.get("stroke") for path in dashed) == {COLOURS[0]: 6, COLOURS[1]: 6}  # each has two nodes
    assert Counter(texts(root))["Q 1/3"] == 1
    assert Counter(texts(root))["Q 1/2"] == 2
    assert (
        sum(circle.get("fill") == GREY for circle in root.iter(f"{SVG}circle")) == 1 + 3 + 1
    )  # including one in the legend


def test_one_deal() -> None:
    tree = compile_game(game_from_spec("kuhn"))
    root = parse(draw_tree(tree, "QJ"))
    assert titles(root) == ["Q: (player 0)", "J:c (player 1)", "Q:cr (player 0)", "J:r (player 1)"]
    assert [text for text in texts(root) if text in ("1  −1", "−1  1", "2  −2", "−2  2")] == [
        "1  −1", "−1  1", "2  −2", "1  −1", "2  −2",
    ]  # fmt: skip
    assert "kuhn: player 0 holds Q, player 1 holds J" in texts(root)
    assert "one information set" not in texts(root)
    assert (
        len(titles(parse(draw_tree(game_from_spec("leduc"), ("Ks", "Qh"))))) == 126 + 5
    )  # five deals of the public card


def test_forced_chance_is_left_out() -> None:
    root = parse(draw_tree(game_from_spec("coin_toss")))
    assert "heads 1/2" in texts(root)
    assert not any(text.startswith("guesser 1") for text in texts(root))


def test_strategy() -> None:
    tree = compile_game(game_from_spec("kuhn"))
    strategy = Strategy.from_mapping(tree, {"Q:": {"c": 0.75, "r": 0.25}, "J:r": {"f": 1.0}})
    root = parse(draw_tree(tree, "QJ", strategy))
    assert {"c 0.75", "r 0.25", "f 1", "c 0"} <= set(texts(root))
    assert "Q: (player 0) — c 0.75, r 0.25" in titles(root)
    edges = [path for path in root.iter(f"{SVG}path") if path.get("stroke") == COLOURS[0]]
    likely, unlikely = (float(path.get("stroke-width", "0")) for path in (edges[0], edges[-1]))
    assert likely > 2 * unlikely
    whole = parse(draw_tree(tree, strategy=strategy))
    assert Counter(texts(whole))["c 0.75"] == 2
    matrix = compile_game(game_from_spec("rps"))
    rock = Strategy.from_mapping(matrix, {"player 1": {"rock": 1.0}})
    assert Counter(texts(parse(draw_tree(matrix, strategy=rock))))["rock 1"] == 3


@pytest.mark.parametrize("spec", WHOLE)
def test_texts_do_not_overlap(spec: str) -> None:
    tree = compile_game(game_from_spec(spec))
    clear_of_each_other(draw_tree(tree))
    clear_of_each_other(draw_tree(tree, strategy=Strategy.uniform(tree)))


@pytest.mark.parametrize("seed", range(8))
def test_random_trees_are_legible(seed: int) -> None:
    clear_of_each_other(draw_tree(random_history_game(seed, players=3, width=2), max_nodes=1000))
    public = random_public_game(seed, width=2, hands=2)
    clear_of_each_other(draw_tree(public, max_nodes=5000))


def test_leduc_is_legible() -> None:
    clear_of_each_other(draw_tree(game_from_spec("leduc"), "KsQh"))


def clear_of_each_other(drawing: TreeDrawing) -> None:
    root = parse(drawing)
    placed = sorted(boxes(root), key=lambda box: box[2])
    width, height = float(root.get("width", "0")), float(root.get("height", "0"))
    assert all(left >= 0 and top >= 0 and right <= width and bottom <= height for _, left, top, right, bottom in placed)
    for a, b in combinations(placed, 2):
        apart = a[3] <= b[1] or b[3] <= a[1] or a[4] <= b[2] or b[4] <= a[2]
        assert apart, (a, b)


def test_awkward_labels() -> None:
    @dataclass(frozen=True)
    class State:
        actor: int = 0

        def actions(self) -> tuple[str, ...]:
            return ("<&>", "tab\tand\x00null")

        def probabilities(self) -> tuple[float, ...]:
            return ()

        def child(self, index: int) -> State:
            return State(TERMINAL)

        def infoset(self) -> str:
            return '"a" < b'

        def payoffs(self) -> tuple[float, float]:
            return (0.1234567, -1e-9)

    @dataclass
    class Game:
        name: str = "<game>"
        players: int = 2
        unit: str = "points"

        def root(self) -> State:
            return State()

    root = parse(draw_tree(Game()))
    assert titles(root) == ['"a" < b (player 0)']
    assert {"<game>", "<&>", "tabandnull", "0.123  0"} <= set(texts(root))


def test_count_nodes() -> None:
    for spec in ("kuhn", "leduc", "coin_toss", "rps"):
        tree = compile_game(game_from_spec(spec))
        assert count_nodes(tree) == len(to_history_tree(tree).nodes.actor)
    leduc = compile_game(game_from_spec("leduc"))
    assert isinstance(leduc, PublicTree)
    deals = [count_nodes(leduc, (h0, h1)) for h0 in range(6) for h1 in range(6) if h0 != h1]
    assert 1 + 6 + sum(deals) == count_nodes(leduc)


def test_save(tmp_path: Path) -> None:
    drawing = draw_tree(game_from_spec("rps"))
    assert drawing.save(tmp_path / "rps.svg").read_text(encoding="utf-8") == drawing.svg
    assert drawing.save(str(tmp_path / "again.svg")).exists()
    with pytest.raises(InputError, match=r"rps\.png.*rps\.svg"):
        drawing.save(tmp_path / "rps.png")


def test_small_svg() -> None:
    kuhn = compile_game(game_from_spec("kuhn"))
    assert small_svg(kuhn) == draw_tree(kuhn).svg
    assert small_svg(compile_game(game_from_spec("leduc"))) is None


# --- errors -----------------------------------------------------------------------------------


def test_too_large() -> None:
    with pytest.raises(InputError, match=r"leduc: 9,457 .*max_nodes=400.*deal="):
        draw_tree(game_from_spec("leduc"))
    with pytest.raises(InputError, match=r"bluff:1,1: 8,191 .*max_nodes=400"):
        draw_tree(game_from_spec("bluff:1,1"), "1|2")
    with pytest.raises(InputError, match=r"rps: 13 .*max_nodes=12"):
        draw_tree(game_from_spec("rps"), max_nodes=12)


def test_wrong_strategy() -> None:
    with pytest.raises(InputError, match=r"kuhn.*rps"):
        draw_tree(game_from_spec("kuhn"), strategy=Strategy.uniform(compile_game(game_from_spec("rps"))))


@pytest.mark.parametrize("deal", ["KK", "XY", "", "Q", ("Q",)])
def test_bad_deals(deal: str) -> None:
    with pytest.raises(InputError, match=r"kuhn: deal .*'J\|Q'.*J, Q, K"):
        draw_tree(game_from_spec("kuhn"), deal)


def test_ambiguous_deal() -> None:
    @dataclass
    class State:
        actor: int = TERMINAL

        def actions(self) -> tuple[str, ...]:
            return ()

        def outcomes(self) -> tuple[Outcome, ...]:
            return ()

        def child(self, index: int) -> State:
            return self

        def payoff(self) -> ConstantPayoff:
            return ConstantPayoff((1.0, -1.0))

    @dataclass
    class Letters:
        name: str = "letters"
        unit: str = "points"
        joiner: str = ""
        hands: tuple[tuple[str, ...], tuple[str, ...]] = (("a", "ab"), ("b", "bb"))
        deal: PrivateDeal = field(default_factory=lambda: PrivateDeal.independent([1, 1], [1, 1]))

        def root(self) -> State:
            return State()

    tree = PublicTree(Letters())
    assert find_deal(tree, "a|bb") == (0, 1)
    assert find_deal(tree, "abbb") == (1, 1)
    assert "1  −1" in texts(parse(draw_tree(tree, "ab")))  # a game without decisions
    with pytest.raises(InputError, match=r"'abb'.*\|"):
        find_deal(tree, "abb")
