"""Mixtures, answers in endgames at a known risk, and learners that stay within budget and bank."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from riverboat.abstraction.cards.card_abstraction import lossless
from riverboat.agents.baselines import Yardstick
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.learning import LearningAgent, LearnSettings
from riverboat.agents.learning_search import EndgameLearner
from riverboat.agents.mixtures import MixedAgent
from riverboat.agents.registry import make_agent
from riverboat.agents.safe import SafeLearner, SafeSearcher
from riverboat.agents.safe_search import SafeEndgames
from riverboat.cards.ranking import hand_strengths
from riverboat.core.errors import InputError
from riverboat.evaluation.matches.match import play_match
from riverboat.games.holdem.action_tree import compile_actions
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.menus import one_size, parse_menu
from riverboat.games.holdem.public_state import Places
from riverboat.games.holdem.rules import Rules
from riverboat.opponents.safe.gifts import _Node, _Shown
from riverboat.opponents.safe.relative import exact_risk, mixed
from riverboat.solvers.mccfr.trainer import Blueprint
from riverboat.strategies.blueprint import BlueprintStrategy, save_blueprint
from riverboat.strategies.blueprint_values import blueprint_values
from riverboat.strategies.reports.public_state import hand_numbers
from riverboat.subgames.search.search import SearchSettings
from riverboat.testing.agents import check_agent

# Twelve cards: hold'em with 66 hands, all streets, stacks of fifteen big blinds.
SMALL = Rules(blinds=(100, 50), stacks=(1_500, 1_500), board=(0, 3, 1, 1), ranks=6, suits=2, name="small")
MENU = parse_menu('preflop = ["2.5x", "a"]\nflop = ["100%, a", "a"]\nmost_raises = [2, 1, 2, 2]')
BOARD = "AsKhQh9s9h"
RIVER = "cc/cc/cc/"
# One card each, and one on the board.
SHORT = Rules(blinds=(100, 50), stacks=(1_300, 1_300), board=(0, 1), hole=1, ranks=4, suits=2, name="short")
POT = one_size("100%")


@cache
def small(seed: int) -> BlueprintStrategy:
    tree, cards = compile_actions(SMALL, MENU), lossless(SMALL.board[1:], SMALL.deck)
    rng = np.random.default_rng(seed)
    shapes = [(cards.counts[street], int(tree.width[street])) for street in range(SMALL.rounds)]
    return BlueprintStrategy(SMALL, MENU, tree, cards, tuple(rng.random(s).astype(np.float32) for s in shapes))


@cache
def short(seed: int) -> BlueprintStrategy:
    tree, cards = compile_actions(SHORT, POT), lossless(SHORT.board[1:], SHORT.deck)
    rng = np.random.default_rng(seed)
    shapes = [(cards.counts[street], int(tree.width[street])) for street in range(SHORT.rounds)]
    return BlueprintStrategy(SHORT, POT, tree, cards, tuple(rng.random(s).astype(np.float32) for s in shapes))


def at(*lines: str) -> Places:
    return Places.from_lines(SMALL, lines, [BOARD[: 2 * SMALL.board_sizes[line.count("/")]] for line in lines])


# --- mixtures -----------------------------------------------------------------------------------


def test_a_mixture_of_agents_is_the_mixture_of_strategies() -> None:
    """Beside `mixed`, which works bucket by bucket in the tree; and the agent's contract."""
    one, two = short(1), short(8)
    agent = MixedAgent((BlueprintAgent(one), BlueprintAgent(two)), (0.3, 0.7), seed=2)
    whole = BlueprintAgent(mixed(one, two, 0.3))
    lines, card = ["", "r300", "r300c/", "cc/cr200"], int(one.rules.deck.cards[3])
    places = Places.from_lines(one.rules, lines, [(card,) * line.count("/") for line in lines])
    mine, wanted = agent.strategies(places), whole.strategies(places)
    np.testing.assert_array_equal(mine.moves, wanted.moves)
    np.testing.assert_allclose(mine.probabilities, wanted.probabilities, atol=1e-5)
    for seat in (0, 1):
        np.testing.assert_allclose(agent.reach(places, seat), whole.reach(places, seat), atol=1e-5)
    drawn = agent.drawn(np.arange(4000), np.zeros(4000), np.tile([0.3, 0.7], (4000, 1)))
    assert abs((drawn == 0).mean() - 0.3) < 0.04
    check_agent(agent, tables=40)
    with pytest.raises(InputError, match="sum to one"):
        MixedAgent((whole, whole), (0.3, 0.3))
    with pytest.raises(InputError, match="1 shares for 2"):
        MixedAgent((whole, whole), (1.0,))


# --- endgames -----------------------------------------------------------------------------------


def most_won(agent: SafeEndgames | BlueprintAgent, seat: int) -> np.ndarray:
    """What each hand of the opponent wins at most from the river on: by asking the agent at every line of the street."""
    start, board = Betting.from_line(SMALL, RIVER), tuple(at(RIVER).shown(0))
    out = np.full(SMALL.deck.hand_count, np.nan)
    reach = agent.reach(at(RIVER), seat)[0]
    for h, hole in enumerate(SMALL.deck.hands.tolist()):
        if set(hole) & set(board):
            continue
        shown = _Shown(start, board, tuple(hole), 1 - seat, [])
        root = _Node(start)
        shown._grow(agent, root, MENU)
        weights = reach * ~np.isin(SMALL.deck.hands, hole).any(axis=1)
        strengths = _strengths(board)
        shown._value(root, weights, np.sign(strengths[h] - strengths))
        out[h] = root.value / root.weight
    return out


@cache
def _strengths(board: tuple[int, ...]) -> np.ndarray:
    return hand_strengths(board, SMALL.deck).astype(np.int64)


@pytest.mark.parametrize("seat", [0, 1])
def test_no_hand_wins_more_than_the_allowance(seat: int) -> None:
    """By exact best responses to what the agent says it plays, beside those to the blueprint."""
    base, model = BlueprintAgent(small(1)), small(2)
    settings = SearchSettings("river", iterations=200, menu=MENU)
    before = most_won(base, seat)
    known = blueprint_values(small(1), RIVER, BOARD).best_response[1 - seat]
    live = ~np.isnan(before)
    np.testing.assert_allclose(before[live] + 100, known[hand_numbers(SMALL.deck.hands)][live], atol=0.01)
    free = SafeEndgames(base, settings, model, 1e9)
    stake = free.stake(at(RIVER), 0, seat)
    assert stake.share == 1.0
    worst = float(np.nanmax(most_won(free, seat) - before))
    assert worst == pytest.approx(stake.excess, abs=0.05)
    assert worst > 1
    careful = SafeEndgames(base, settings, model, worst / 4)
    assert careful.stake(at(RIVER), 0, seat).risk == pytest.approx(worst / 4)
    assert 0 < np.nanmax(most_won(careful, seat) - before) < worst / 4 + 0.05
    with pytest.raises(InputError, match="search=turn or river"):
        SafeEndgames(base, SearchSettings("flop"), model, 1.0)
    none = SafeEndgames(base, settings, model, 0.0)
    places = at("cr250", RIVER, RIVER + "c")
    np.testing.assert_array_equal(
        none.strategies(places).probabilities[:, :, :3], base.strategies(places).probabilities[:, :, :3]
    )
    early = at("cr250", "cc/r200")
    np.testing.assert_array_equal(free.strategies(early).moves, base.strategies(early).moves)


# --- learners -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trained() -> BlueprintStrategy:
    """A blueprint of a game with one card each, trained for a moment."""
    solver = Blueprint(compile_actions(SHORT, POT), lossless(SHORT.board[1:], SHORT.deck), seed=1)
    solver.step(50_000)
    return BlueprintStrategy(
        SHORT, POT, solver.tree, solver.cards, tuple(solver.averages(street) for street in range(SHORT.rounds))
    )


class Ready:
    """A learner that has its answer from the first batch on."""

    def __init__(self, base: BlueprintStrategy, answer: BlueprintStrategy) -> None:
        self.first = self.now = BlueprintAgent(base, "learner")
        self.settings, self._answer = LearnSettings(every=400), BlueprintAgent(answer, "learner")

    def observe(self, hands: object) -> None:
        self.now = self._answer


@pytest.mark.slow
def test_a_learner_within_its_bank(trained: BlueprintStrategy) -> None:
    """What is played is never more exploitable than the blueprint, the budget and the bank: exactly, in the abstract game."""
    answer, seen = short(5), []
    agent = SafeLearner(Ready(trained, answer), 10.0)  # type: ignore[arg-type]

    def look(done: int, _: int) -> None:
        risk = exact_risk(mixed(answer, trained, agent.now.shares[-1]), trained).chips
        seen.append((agent.bank.chips, agent.now.shares[-1], risk, agent.bank.allows(400)))

    play_match(agent, Yardstick("rule-based"), trained.rules, 1200, seed=9, progress=look)
    assert agent.bank.given > 0
    assert agent.bank.risked > 0
    assert agent.account().startswith(f"{agent.bank.given * 10 / 1200:,.0f} mbb a hand of proven gifts")
    assert all(0 < share < 1 for _, share, _, _ in seen)
    for chips, _, risk, allowed in seen:
        assert chips >= 0
        assert risk <= allowed + 1e-3
    with pytest.raises(InputError, match="400: give every="):
        agent.observe(_hands(trained, 402))
    with pytest.raises(InputError, match="safe=-1"):
        SafeLearner(agent.learner, -1.0)
    ready = SafeLearner(LearningAgent(BlueprintAgent(trained, "learner"), LearnSettings(every=20, work=64)), 10.0)
    play_match(ready, Yardstick("always-call"), trained.rules, 60)
    assert ready.learner.hands == 60


def _hands(strategy: BlueprintStrategy, count: int):
    kept = []
    play_match(BlueprintAgent(strategy, "learner"), Yardstick("random"), strategy.rules, count, observe=kept.append)
    return kept[0]


@pytest.mark.slow
def test_a_searcher_within_its_bank(tmp_path: Path) -> None:
    """Two batches of a match: gifts are banked, endgames charged, and the memory is of the opponent."""
    folder = save_blueprint(small(1), tmp_path / "b")
    agent = make_agent(f"{folder}?exploit=dbbr&search=river&iterations=20&safe=10&every=40")
    assert isinstance(agent, SafeSearcher)
    play_match(agent, Yardstick("always-call"), SMALL, 80, seed=2)
    assert agent.bank.given > 0
    assert agent.bank.chips == pytest.approx(agent.bank.given - agent.bank.risked)
    assert agent.hands == 80
    for node, made in agent.counts.moves.items():
        kinds = [int(small(1).tree.kind[child]) for child in small(1).tree.children(node)]
        assert made[kinds.index(1)] == made.sum()  # calls
    learner = make_agent(f"{folder}?exploit=preflop&search=river&iterations=5&every=20&work=64")
    assert isinstance(learner, EndgameLearner)
    play_match(learner, Yardstick("always-call"), SMALL, 60, seed=2)
    assert learner.now.opponent is not None
    for options, message in {
        "safe=10": "add exploit=dbbr",
        "exploit=dbbr&safe=x": "write mbb a hand",
        "exploit=dbbr&safe=-3": "write mbb a hand",
        "exploit=dbbr&safe=2000000": "from 0 to",
    }.items():
        with pytest.raises(InputError, match=message):
            make_agent(f"{folder}?{options}")
