"""Strategies, results and quality measures as mappings, in pickles, in notebooks and in pandas."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import riverboat as rb
from random_games import random_history_game
from riverboat.core.errors import InputError
from riverboat.evaluation.quality import StrategyQuality
from riverboat.solvers.tabular.best_response import Quality

GAMES = ["kuhn", "leduc", "rps", "coin_toss", "kuhn:players=3"]


@pytest.fixture(scope="module")
def results() -> dict[str, rb.Result]:
    return {name: rb.solve(name, iterations=20, check_every=5) for name in GAMES}


@pytest.mark.parametrize("game", GAMES)
def test_a_strategy_is_a_mapping(game: str, results: dict[str, rb.Result]) -> None:
    strategy = results[game].strategy
    assert isinstance(strategy, rb.Strategy)
    assert isinstance(strategy, Mapping)
    plain = {name: strategy[name] for name in strategy}
    assert len(plain) == len(strategy) == len(strategy.items()) == len(strategy.keys())
    assert strategy == plain
    assert dict(strategy.items()) == plain
    assert list(strategy.values()) == list(plain.values())
    assert {**strategy} == plain


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("missing", ["nowhere", "K:zz", "", ":", 3, None, ("K", "c")])
def test_missing_names_are_key_errors(game: str, missing: Any, results: dict[str, rb.Result]) -> None:
    strategy = results[game].strategy
    assert missing not in strategy
    assert strategy.get(missing) is None  # type: ignore[union-attr]
    with pytest.raises(KeyError) as caught:
        strategy[missing]
    assert isinstance(caught.value, InputError)
    assert str(caught.value).startswith(f"{strategy.tree.name}: ")  # a sentence, not a quoted key


def test_equal_strategies(results: dict[str, rb.Result]) -> None:
    one = results["kuhn"].strategy
    assert isinstance(one, rb.Strategy)
    other = rb.Strategy.uniform(one.tree)
    assert one == rb.Strategy(one.tree, one.probabilities)
    assert one != other
    assert len({one, rb.Strategy(one.tree, one.probabilities), other}) == 2
    again = rb.Strategy(rb.compile_game(rb.game("kuhn")), one.probabilities)
    assert one == again
    assert hash(one) == hash(again)


@pytest.mark.parametrize("game", GAMES)
def test_results_are_pickled(game: str, results: dict[str, rb.Result]) -> None:
    result = results[game]
    again = pickle.loads(pickle.dumps(result))
    assert again == result
    assert again.history == result.history
    assert again.strategy == result.strategy
    assert dict(again.strategy.provenance) == dict(result.strategy.provenance)
    assert not again.strategy.probabilities.flags.writeable
    figures = rb.quality(result.strategy)
    assert rb.quality(again.strategy) == figures
    assert pickle.loads(pickle.dumps(figures)) == figures


def test_trees_of_random_games_are_pickled() -> None:
    tree = rb.compile_game(random_history_game(3))
    again = pickle.loads(pickle.dumps(tree))
    assert again.fingerprint == tree.fingerprint
    assert [*again.infosets()] == [*tree.infosets()]


def test_solutions_are_pickled() -> None:
    spot = rb.Spot.make(board="Td9d6hQc2s", pot=100, stack=100, oop="AA,JJ", ip="KK,88", bets="a")
    result = rb.solve(spot, iterations=10)
    again = pickle.loads(pickle.dumps(result))
    assert rb.quality(again.strategy) == rb.quality(result.strategy)
    assert str(again.strategy[""].summary()) == str(result.strategy[""].summary())


# --- notebooks ----------------------------------------------------------------------------------


class Balanced(HTMLParser):
    """Parser that checks that every tag is closed, in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words = ""
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += f"{data} "


def test_html_representations(results: dict[str, rb.Result]) -> None:
    result = results["leduc"]
    assert f"{result.exploitability:.6g} chips" in Balanced(result._repr_html_()).words
    assert "none is claimed" in Balanced(results["kuhn:players=3"]._repr_html_()).words
    words = Balanced(result.strategy._repr_html_()).words  # type: ignore[union-attr]
    assert "936 information sets; the first 20" in words
    assert "Jh:" in words
    quality = Quality((0.5, -0.25), (0.125, -0.125))
    assert "0.375" in Balanced(quality._repr_html_()).words
    measured = Balanced(rb.quality(result.strategy)._repr_html_()).words
    assert "NashConv" in measured
    assert "exact" in measured


def test_names_are_escaped() -> None:
    result = rb.solve(rb.matrix([[1, -1], [-1, 1]], rows=["<b>", "&"], name="<script>"), iterations=5)
    for shown in (result, result.strategy):
        html = shown._repr_html_()  # type: ignore[union-attr]
        assert "&lt;script&gt;" in html
        assert "<script>" not in html
    assert "&lt;b&gt; 50.0%" in html


# --- pandas -------------------------------------------------------------------------------------


def test_frames(results: dict[str, rb.Result]) -> None:
    result = results["leduc"]
    strategy = result.strategy
    assert isinstance(strategy, rb.Strategy)
    frame = strategy.to_frame()
    assert list(frame.columns) == ["infoset", "player", "action", "probability"]
    assert len(frame) == strategy.tree.action_count
    assert frame.groupby("infoset")["probability"].sum().to_numpy() == pytest.approx(np.ones(len(strategy)))
    assert frame.set_index(["infoset", "action"])["probability"]["Ks:cr", "r"] == strategy["Ks:cr"]["r"]
    checks = result.to_frame()
    assert checks["iteration"].tolist() == [check.iteration for check in result.history]
    assert checks["exploitability"].iloc[-1] == result.history[-1].exploitability
    quality = rb.quality(strategy)
    assert isinstance(quality, StrategyQuality)
    assert quality.to_frame()["value"].tolist() == [claim.value for claim in quality.claims]
    players = Quality((0.5, -0.25), (0.125, -0.125)).to_frame()
    assert players["gain"].tolist() == [0.375, -0.125]


def test_frames_need_pandas(monkeypatch: pytest.MonkeyPatch, results: dict[str, rb.Result]) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    for source in (results["rps"], results["rps"].strategy, rb.quality(results["rps"].strategy)):
        with pytest.raises(InputError, match="pip install pandas"):
            source.to_frame()  # type: ignore[union-attr]


def test_package_is_typed() -> None:
    """Type checkers read the annotations of an installed package only if it contains this file."""
    assert Path(rb.__file__).with_name("py.typed").is_file()
