"""Mixtures, responses in subgames at a known risk, and learning agents that stay within budget and bank."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
from riverboat.agents.baselines import BaselineAgent
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.composite import MixtureAgent
from riverboat.agents.learning import LearningAgent, LearningSettings
from riverboat.agents.registry import make_agent
from riverboat.agents.safe import SafeLearningAgent, SafeSearchAgent, SafeSubgameAgent
from riverboat.agents.search import LearningSearchAgent
from riverboat.cards.deck import FULL_DECK
from riverboat.cards.ranking import hand_strengths
from riverboat.core.errors import InputError
from riverboat.evaluation.matches.match import play_match
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.menus import one_size_menu, parse_menu
from riverboat.games.holdem.public_states import PublicStates
from riverboat.games.holdem.rules import PokerRules
from riverboat.opponents.gifts import _GiftNode, _ShownHand
from riverboat.opponents.risk import exact_risk, mix_strategies
from riverboat.solvers.mccfr.trainer import BlueprintTrainer
from riverboat.strategies.blueprint import Blueprint, save_blueprint
from riverboat.strategies.blueprint_values import blueprint_values
from riverboat.subgames.search.search import SearchSettings
from riverboat.testing.agents import check_agent

# Twelve cards: hold'em with 66 hands, all streets, stacks of fifteen big blinds.
SMALL = PokerRules(blinds=(100, 50), stacks=(1_500, 1_500), board=(0, 3, 1, 1), ranks=6, suits=2, name="small")
MENU = parse_menu('preflop = ["2.5x", "a"]\nflop = ["100%, a", "a"]\nmost_raises = [2, 1, 2, 2]')
BOARD = "AsKhQh9s9h"
RIVER = "cc/cc/cc/"
# One card each, and one on the board.
SHORT = PokerRules(blinds=(100, 50), stacks=(1_300, 1_300), board=(0, 1), hole=1, ranks=4, suits=2, name="short")
POT = one_size_menu("100%")


@cache
def small(seed: int) -> Blueprint:
    tree, cards = compile_action_tree(SMALL, MENU), lossless_abstraction(SMALL.board[1:], SMALL.deck)
    rng = np.random.default_rng(seed)
    shapes = [(cards.counts[street], int(tree.width[street])) for street in range(SMALL.rounds)]
    return Blueprint(SMALL, MENU, tree, cards, tuple(rng.random(s).astype(np.float32) for s in shapes))


@cache
def short(seed: int) -> Blueprint:
    tree, cards = compile_action_tree(SHORT, POT), lossless_abstraction(SHORT.board[1:], SHORT.deck)
    rng = np.random.default_rng(seed)
    shapes = [(cards.counts[street], int(tree.width[street])) for street in range(SHORT.rounds)]
    return Blueprint(SHORT, POT, tree, cards, tuple(rng.random(s).astype(np.float32) for s in shapes))


def at(*lines: str) -> PublicStates:
    return PublicStates.from_lines(SMALL, lines, [BOARD[: 2 * SMALL.board_sizes[line.count("/")]] for line in lines])


# --- Mixtures ---


def test_mixture_agrees_with_mixed_strategy() -> None:
    """Compare with `mix_strategies`, which works bucket by bucket in the tree; check the agent's contract."""
    one, two = short(1), short(8)
    agent = MixtureAgent((BlueprintAgent(one), BlueprintAgent(two)), (0.3, 0.7), seed=2)
    whole = BlueprintAgent(mix_strategies(one, two, 0.3))
    lines, card = ["", "r300", "r300c/", "cc/cr200"], int(one.rules.deck.cards[3])
    places = PublicStates.from_lines(one.rules, lines, [(card,) * line.count("/") for line in lines])
    mine, wanted = agent.strategies(places), whole.strategies(places)
    np.testing.assert_array_equal(mine.moves, wanted.moves)
    np.testing.assert_allclose(mine.probabilities, wanted.probabilities, atol=1e-5)
    for seat in (0, 1):
        np.testing.assert_allclose(agent.reach(places, seat), whole.reach(places, seat), atol=1e-5)
    drawn = agent.sample_parts(np.arange(4000), np.zeros(4000), np.tile([0.3, 0.7], (4000, 1)))
    assert abs((drawn == 0).mean() - 0.3) < 0.04
    check_agent(agent, tables=40)
    with pytest.raises(InputError, match=r"0\.3, 0\.3"):
        MixtureAgent((whole, whole), (0.3, 0.3))
    with pytest.raises(InputError, match="1 shares for 2"):
        MixtureAgent((whole, whole), (1.0,))


# --- Subgames ---


def most_won(agent: SafeSubgameAgent | BlueprintAgent, seat: int) -> np.ndarray:
    """Return the best-response value of each hand of the opponent from the river on, from the agent's strategies at
    every line.
    """
    start, board = BettingState.from_line(SMALL, RIVER), tuple(at(RIVER).board_cards(0))
    out = np.full(SMALL.deck.num_hands, np.nan)
    reach = agent.reach(at(RIVER), seat)[0]
    for h, hole in enumerate(SMALL.deck.hands.tolist()):
        if set(hole) & set(board):
            continue
        shown = _ShownHand(start, board, tuple(hole), 1 - seat, [])
        root = _GiftNode(start)
        shown._build_tree(agent, root, MENU)
        weights = reach * ~np.isin(SMALL.deck.hands, hole).any(axis=1)
        strengths = _strengths(board)
        shown._compute_values(root, weights, np.sign(strengths[h] - strengths))
        out[h] = root.value / root.weight
    return out


@cache
def _strengths(board: tuple[int, ...]) -> np.ndarray:
    return hand_strengths(board, SMALL.deck).astype(np.int64)


@pytest.mark.parametrize("seat", [0, 1])
def test_no_hand_wins_more_than_the_allowance(seat: int) -> None:
    """Exact best responses to the agent's strategies win at most the allowance more than those to the blueprint."""
    base, model = BlueprintAgent(small(1)), small(2)
    settings = SearchSettings("river", iterations=200, menu=MENU)
    before = most_won(base, seat)
    known = blueprint_values(small(1), RIVER, BOARD).best_response[1 - seat]
    live = ~np.isnan(before)
    np.testing.assert_allclose(before[live] + 100, known[FULL_DECK.hand_indices(SMALL.deck.hands)][live], atol=0.01)
    free = SafeSubgameAgent(base, settings, model, 1e9)
    stake = free.stake(at(RIVER), 0, seat)
    assert stake.share == 1.0
    worst = float(np.nanmax(most_won(free, seat) - before))
    assert worst == pytest.approx(stake.excess, abs=0.05)
    assert worst > 1
    careful = SafeSubgameAgent(base, settings, model, worst / 4)
    assert careful.stake(at(RIVER), 0, seat).risk == pytest.approx(worst / 4)
    assert 0 < np.nanmax(most_won(careful, seat) - before) < worst / 4 + 0.05
    with pytest.raises(InputError, match=r"search=flop.*search=turn or river"):
        SafeSubgameAgent(base, SearchSettings("flop"), model, 1.0)
    none = SafeSubgameAgent(base, settings, model, 0.0)
    places = at("cr250", RIVER, RIVER + "c")
    np.testing.assert_array_equal(
        none.strategies(places).probabilities[:, :, :3], base.strategies(places).probabilities[:, :, :3]
    )
    early = at("cr250", "cc/r200")
    np.testing.assert_array_equal(free.strategies(early).moves, base.strategies(early).moves)


# --- Learning agents ---


@pytest.fixture(scope="module")
def trained() -> Blueprint:
    """Blueprint of a game with one card each, trained briefly."""
    solver = BlueprintTrainer(
        compile_action_tree(SHORT, POT), lossless_abstraction(SHORT.board[1:], SHORT.deck), seed=1
    )
    solver.step(50_000)
    return Blueprint(
        SHORT, POT, solver.tree, solver.cards, tuple(solver.averages(street) for street in range(SHORT.rounds))
    )


class Ready:
    """Learning agent that has its response from the first batch on."""

    def __init__(self, base: Blueprint, answer: Blueprint) -> None:
        self.blueprint_agent = self.current_agent = BlueprintAgent(base, "learner")
        self.settings, self._answer = LearningSettings(every=400), BlueprintAgent(answer, "learner")

    def observe(self, hands: object) -> None:
        self.current_agent = self._answer


@pytest.mark.slow
def test_a_learner_within_its_bank(trained: Blueprint) -> None:
    """The mixture is never more exploitable than blueprint, budget and bank allow: exactly, in the abstract game."""
    answer, seen = short(5), []
    agent = SafeLearningAgent(Ready(trained, answer), 10.0)  # type: ignore[arg-type]

    def look(done: int, _: int) -> None:
        risk = exact_risk(mix_strategies(answer, trained, agent.current_agent.weights[-1]), trained).chips
        seen.append((agent.bank.chips, agent.current_agent.weights[-1], risk, agent.bank.allowed_risk(400)))

    play_match(agent, BaselineAgent("rule-based"), trained.rules, 1200, seed=9, progress=look)
    assert agent.bank.total_gifts > 0
    assert agent.bank.total_risked > 0
    assert agent.account().startswith(f"{agent.bank.total_gifts * 10 / 1200:,.0f} mbb per hand of proven gifts")
    assert all(0 < share < 1 for _, share, _, _ in seen)
    for chips, _, risk, allowed in seen:
        assert chips >= 0
        assert risk <= allowed + 1e-3
    with pytest.raises(InputError, match=r"402 .*400.*every="):
        agent.observe(_hands(trained, 402))
    with pytest.raises(InputError, match="safe=-1"):
        SafeLearningAgent(agent.learning_agent, -1.0)
    ready = SafeLearningAgent(
        LearningAgent(BlueprintAgent(trained, "learner"), LearningSettings(every=20, work=64)), 10.0
    )
    play_match(ready, BaselineAgent("always-call"), trained.rules, 60)
    assert ready.learning_agent.hands_seen == 60


def _hands(strategy: Blueprint, count: int):
    kept = []
    play_match(BlueprintAgent(strategy, "learner"), BaselineAgent("random"), strategy.rules, count, observe=kept.append)
    return kept[0]


@pytest.mark.slow
def test_a_searcher_within_its_bank(tmp_path: Path) -> None:
    """Two batches of a match: gifts are credited, subgames charged, and only the opponent's actions are counted."""
    folder = save_blueprint(small(1), tmp_path / "b")
    agent = make_agent(f"{folder}?exploit=dbbr&search=river&iterations=20&safe=10&every=40")
    assert isinstance(agent, SafeSearchAgent)
    play_match(agent, BaselineAgent("always-call"), SMALL, 80, seed=2)
    assert agent.bank.total_gifts > 0
    assert agent.bank.chips == pytest.approx(agent.bank.total_gifts - agent.bank.total_risked)
    assert agent.hands == 80
    for node, made in agent.counts.moves.items():
        kinds = [int(small(1).tree.kind[child]) for child in small(1).tree.children(node)]
        assert made[kinds.index(1)] == made.sum()  # calls
    learner = make_agent(f"{folder}?exploit=preflop&search=river&iterations=5&every=20&work=64")
    assert isinstance(learner, LearningSearchAgent)
    play_match(learner, BaselineAgent("always-call"), SMALL, 60, seed=2)
    assert learner.current_agent.opponent is not None
    for options, message in {
        "safe=10": "safe.*exploit=dbbr",
        "exploit=dbbr&safe=x": "safe='x'",
        "exploit=dbbr&safe=-3": "safe='-3'",
        "exploit=dbbr&safe=2000000": r"safe=2e\+06",
    }.items():
        with pytest.raises(InputError, match=message):
            make_agent(f"{folder}?{options}")
