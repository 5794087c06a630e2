"""`quality` accepts every kind of strategy, and marks its figures as exact, bound or estimate."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import riverboat as rb
from random_blueprints import blueprint_of, random_blueprint
from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
from riverboat.agents.baselines import BASELINES, BaselineAgent
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.cards.deck import NUM_HANDS
from riverboat.core.claims import EXACT, LOWER
from riverboat.core.errors import InputError
from riverboat.evaluation.best_response import exact
from riverboat.evaluation.local_best_response import local_best_response
from riverboat.evaluation.quality import full_action_tree, quality, tabulate_agent
from riverboat.games.boards.root_gadgets import ResolvingGadget
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.games.holdem.menus import one_size_menu
from riverboat.games.holdem.rules import PokerRules, read_game
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.cfr import BoardCFR
from riverboat.solvers.tabular import best_response
from riverboat.strategies.blueprint import Blueprint
from riverboat.strategies.policy import BlueprintPolicy
from riverboat.strategies.postprocessing import purify
from riverboat.trees.boards import BoardTree

LEDUC, KUHN = read_game("leduc"), read_game("kuhn")


def test_small_games_and_spots_are_exact() -> None:
    result = rb.solve("leduc", iterations=20)
    found, plain = quality(result.strategy), best_response.quality(result.strategy)
    assert (found.best, found.values, found.exploitability) == (plain.best, plain.values, plain.exploitability)
    assert {figure.kind for figure in found.claims} == {EXACT}
    assert found.claims[0].unit == result.strategy.tree.unit
    assert rb.quality is quality


def test_bracket_of_a_subgame_with_a_gadget() -> None:
    """The payoff of stopping is not part of the pot, so the bracket of the value is the engine's, not the spot's."""
    river = Spot.make(board="Td9d6hQc2s", pot=20, stack=40, oop="AA,KsJs:0.7,T9s", ip="QQ,87s,A9o:0.3", bets="75%")
    solver = BoardCFR(BoardTree(replace(river, gadget=ResolvingGadget(1, np.full(NUM_HANDS, 7.0)))), dtype="float64")
    solver.step(60)
    found, wanted = quality(solver.average()), solver.quality()
    assert found.bracket == pytest.approx(wanted.bracket)
    assert found.bracket[0] < found.values[0] < found.bracket[1]


def test_a_blueprint_of_a_limit_game_is_exact_and_of_a_no_limit_game_a_bound() -> None:
    limit = random_blueprint("leduc")
    found = quality(limit)
    assert (found.kind, found.exact_in) == (EXACT, "")
    assert found.claims[0].value == pytest.approx(exact.quality(limit).mbb_per_game)
    assert found.claims[0].unit == "mbb/g"
    wide = quality(blueprint_of("pairs"))
    assert wide.kind == LOWER
    kinds = {(figure.name, figure.kind, bool(figure.game)) for figure in wide.claims}
    assert {("exploitability", LOWER, False), ("exploitability", EXACT, True)} <= kinds


@pytest.mark.parametrize("game", [pytest.param("leduc", marks=pytest.mark.slow), "kuhn"])
def test_tabulated_agent(game: str) -> None:
    """A blueprint agent has the same figure as its strategy, by tabulation at every public state."""
    strategy = random_blueprint(game)
    agent = BlueprintAgent(strategy)
    assert quality(agent).exploitability == pytest.approx(quality(strategy).exploitability, abs=1e-9)


@pytest.mark.parametrize("options", [{"post": "purify"}, {"post": "new"}, {"post": "threshold", "share": 0.4}])
def test_post_processed_strategies(options) -> None:
    """Tabulation at every public state agrees with post-processing of the tree's rows."""
    played = BlueprintPolicy(random_blueprint("leduc"), **options)
    asked, processed = quality(played), quality(played.tree_strategy())
    assert asked.best == pytest.approx(processed.best, abs=1e-9)
    assert asked.best != pytest.approx(quality(played.strategy).best, abs=1e-3)


def test_rows_of_the_tree_are_post_processed() -> None:
    strategy = blueprint_of("capped")
    for spare in (True, False):
        rows = BlueprintPolicy(strategy, post="purify", spare_first=spare).tree_strategy()
        first, later = 0, strategy.tree.find("cr300r900")
        for node in (first, later):
            some = np.arange(4)
            was = strategy.probabilities(node, some)
            wanted = was if spare and node == first else purify(was)
            assert rows.probabilities(node, some) == pytest.approx(wanted)
    assert BlueprintPolicy(strategy).tree_strategy() is strategy


def test_baselines_in_small_games() -> None:
    """An agent that always folds loses its blind to any bet; one that always calls can be value-bet."""
    folds = quality(BaselineAgent("always-fold"), rules=KUHN)
    # Both have an ante of one chip in Kuhn poker; a bet takes it with any hand.
    assert folds.best == pytest.approx((1.0 * KUHN.big_blind, 1.0 * KUHN.big_blind))
    for name in BASELINES:
        found = quality(BaselineAgent(name), rules=LEDUC)
        assert found.kind == EXACT
        assert found.exploitability > 0
        assert sum(found.values) == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
def test_tabulation_of_small_no_limit_games() -> None:
    """The tree contains every legal bet, so translation is measured too."""
    rules = PokerRules(blinds=(2, 1), stacks=(6, 6), board=(0, 1), hole=1, ranks=3, suits=2, name="tiny")
    tree = full_action_tree(rules)
    assert tree is not None
    strategy = random_blueprint_of(rules)
    found, inside = quality(BlueprintAgent(strategy)), quality(strategy)
    assert (found.kind, inside.kind) == (EXACT, LOWER)
    assert max(a - b for a, b in zip(found.best, inside.best, strict=True)) > 0
    assert all(a >= b - 1e-9 for a, b in zip(found.best, inside.best, strict=True))  # the responder has more bets


def random_blueprint_of(rules: PokerRules) -> Blueprint:
    base, menu = blueprint_of("pot"), one_size_menu("100%")
    tree, cards = compile_action_tree(rules, menu), lossless_abstraction(rules.board[1:], rules.deck)
    rng = np.random.default_rng(2)
    sums = tuple(rng.random((cards.counts[s], int(tree.width[s])), np.float32) for s in range(rules.rounds))
    return replace(base, rules=rules, menu=menu, tree=tree, cards=cards, average=sums)


def test_lower_bound_of_other_agents() -> None:
    """With three rounds of one card an agent is not tabulated; a local best response gives a lower bound."""
    rules = PokerRules(blinds=(2, 1), stacks=(8, 8), board=(0, 1, 1), hole=1, ranks=3, suits=2, name="short")
    assert full_action_tree(rules) is None
    agent = BaselineAgent("rule-based")
    found, plain = quality(agent, rules=rules, hands=640), local_best_response(agent, rules, hands=640)
    first = found.claims[0]
    assert (first.name, first.kind, first.unit) == ("exploitability", LOWER, "mbb/g")
    assert (first.value, first.half_width) == pytest.approx((plain.mbb_per_game, plain.ci95))
    assert [figure.name for figure in found.claims[2:]] == ["best response of player 0", "best response of player 1"]
    assert [figure.value / 500 for figure in found.claims[2:]] == pytest.approx(plain.by_seat)
    assert all(figure.half_width is not None for figure in found.claims)
    assert found.bracket == (-math.inf, math.inf)  # an estimate is no guarantee


def test_invalid_input() -> None:
    with pytest.raises(InputError, match="rule-based"):
        quality(BaselineAgent("rule-based"))
    with pytest.raises(InputError, match=r"^leduc: no such folder"):
        quality("leduc")
    with pytest.raises(InputError, match=r"^strategy=5: must be a strategy"):
        quality(5)


class Superstitious:
    """Agent that folds hearts."""

    name, rules = "superstitious", LEDUC

    def strategies(self, places, draw=None):
        fold, call = (BaselineAgent(f"always-{name}").strategies(places) for name in ("fold", "call"))
        hearts = (places.rules.deck.hands[:, 0] % 4 == 2)[None, :, None]
        moves = np.stack([fold.moves[:, 0], np.where(fold.moves[:, 0] == 0, -2, 0)], axis=1)
        same = fold.moves[:, :1, None] == 0
        first = np.where(same | hearts, fold.probabilities[:, :, :1], 0.0)
        second = np.where(same | hearts, 0.0, call.probabilities[:, :, :1])
        return replace(fold, moves=moves, probabilities=np.concatenate([first, second], axis=2))


def test_suit_dependent_agents_cannot_be_tabulated() -> None:
    tree = full_action_tree(LEDUC)
    assert tree is not None
    with pytest.raises(InputError, match=r"agent 'player' at .*suits"):
        tabulate_agent(Superstitious(), tree)
