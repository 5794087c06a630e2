"""Agents that learn while they play, and answers to models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from random_blueprints import KINDS, random_blueprint
from riverboat.abstraction.cards.card_abstraction import lossless
from riverboat.agents.baselines import Yardstick
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.learning import LearningAgent, LearnSettings
from riverboat.agents.registry import make_agent
from riverboat.core.errors import CorruptError, InputError
from riverboat.evaluation.matches.match import play_match
from riverboat.games.holdem.action_tree import CALL, compile_actions
from riverboat.games.holdem.rules import read_game
from riverboat.games.records.hand_records import Hands, join
from riverboat.opponents.models.hand_lines import read_in
from riverboat.opponents.models.tied import evidence, fit_tied
from riverboat.opponents.models.tree import Counts, count_moves, fit_model, shares_of
from riverboat.opponents.responses.responder import Responder, confidence
from riverboat.solvers.mccfr.abstract_response import abstract_quality
from riverboat.solvers.mccfr.trainer import Blueprint
from riverboat.strategies.blueprint import BlueprintStrategy, save_blueprint

KIND = "pot"


@pytest.fixture(scope="module")
def base() -> BlueprintStrategy:
    """A blueprint of a game with one card each, trained for a moment."""
    rules, menu = KINDS[KIND]
    solver = Blueprint(compile_actions(rules, menu), lossless(rules.board[1:], rules.deck), seed=1)
    solver.step(50_000)
    return strategy_of(solver)


def strategy_of(solver: Blueprint) -> BlueprintStrategy:
    tree = solver.tree
    averages = tuple(solver.averages(street) for street in range(tree.rules.rounds))
    return BlueprintStrategy(tree.rules, tree.menu, tree, solver.cards, averages)


@pytest.fixture(scope="module")
def leduc() -> BlueprintStrategy:
    rules = read_game("leduc")
    solver = Blueprint(compile_actions(rules), lossless(rules.board[1:], rules.deck), seed=1)
    solver.step(60_000)
    return strategy_of(solver)


def joined(first: BlueprintStrategy, second: BlueprintStrategy) -> BlueprintStrategy:
    """Seat 0 of the one with seat 1 of the other."""
    tree, tables = first.tree, []
    for street, (mine, theirs) in enumerate(zip(shares_of(first), shares_of(second), strict=True)):
        nodes = np.flatnonzero((tree.actor >= 0) & (tree.street == street))
        seat = np.repeat(tree.actor[nodes], tree.count[nodes])
        tables.append(np.where(seat == 0, mine, theirs).astype(np.float32))
    return replace(first, average=tuple(tables))


def always(base: BlueprintStrategy, kind: int) -> BlueprintStrategy:
    """Everybody makes one kind of move."""
    tree, tables = base.tree, [np.zeros_like(table, np.float32) for table in base.average]
    for node in np.flatnonzero(tree.actor >= 0).tolist():
        chosen = [k for k, child in enumerate(tree.children(node)) if tree.kind[child] == kind]
        tables[tree.street[node]][:, tree.slot[node] + chosen[0]] = 1
    return replace(base, average=tuple(tables))


# --- answers ----------------------------------------------------------------------------------


def test_a_best_response_is_one(leduc: BlueprintStrategy) -> None:
    """Beside the exact best response to the same model, in both seats; Leduc without abstraction."""
    model = random_blueprint("leduc", seed=4)
    responder = Responder(leduc)
    responder.improve(model, 200_000)
    answer = responder.strategy()
    best = abstract_quality(model).best
    first, second = abstract_quality(joined(answer, model)).values[0], abstract_quality(joined(model, answer)).values[1]
    assert best[0] - 0.05 < first <= best[0] + 1e-6
    assert best[1] - 0.05 < second <= best[1] + 1e-6


def test_p_is_a_dial(leduc: BlueprintStrategy) -> None:
    """The surer of the model, the more is won of it and the more can be lost; the curve is above DBBR's chord."""
    model = random_blueprint("leduc", seed=4)
    gains, losses = [], []
    for p in (0.0, 0.5, 1.0):
        responder = Responder(leduc, p)
        responder.improve(model, 150_000)
        answer = responder.strategy()
        against = abstract_quality(joined(answer, model)).values[0] + abstract_quality(joined(model, answer)).values[1]
        gains.append(against / 2)
        losses.append(sum(abstract_quality(answer).best) / 2)
    assert gains[0] < gains[1] < gains[2]
    assert losses[0] < losses[1] < losses[2]
    share = (losses[1] - losses[0]) / (losses[2] - losses[0])
    assert gains[1] > gains[0] + share * (gains[2] - gains[0]) + 0.01


def test_where_nothing_was_seen_a_data_biased_opponent_is_free(leduc: BlueprintStrategy) -> None:
    model = random_blueprint("leduc", seed=4)
    free, none = Responder(leduc, 0.0), Responder(leduc, confidence=confidence(leduc.tree, Counts({})))
    for responder in (free, none):
        responder.improve(model, 20_000)
    np.testing.assert_array_equal(free.strategy().average[0], none.strategy().average[0])
    assert confidence(leduc.tree, Counts({3: np.array([4.0, 1.0]), 5: np.array([70.0])}), 0.8) == {3: 0.4, 5: 0.8}
    with pytest.raises(InputError, match=r"p=1\.5"):
        Responder(leduc, 1.5)
    with pytest.raises(InputError, match="tree and the buckets"):
        free.improve(random_blueprint("kuhn"), 64)


# --- who plays the base is taken for the base ---------------------------------------------------


def record(one: BlueprintStrategy, other: object, hands: int) -> Hands:
    kept: list[Hands] = []
    play_match(BlueprintAgent(one, "one"), other, one.rules, hands, observe=kept.append)  # type: ignore[arg-type]
    return join(kept)


@pytest.mark.parametrize("fit", ["tied", "l1"])
def test_who_plays_the_blueprint_is_taken_for_it(fit: str, base: BlueprintStrategy) -> None:
    """And who does not is known after a few hundred hands."""
    seen = {}
    for other in (BlueprintAgent(base, "other", seed=8), Yardstick("always-call")):
        agent = learner(base, fit=fit)
        play_match(agent, other, base.rules, 2000, seed=9)
        seen[other.name] = agent
    assert seen["other"].judged > 1000
    assert not seen["other"].sure
    assert seen["other"].now is seen["other"].first
    assert seen["always-call"].sure
    assert seen["always-call"].now is not seen["always-call"].first


def test_models_generalise(base: BlueprintStrategy) -> None:
    """From a match to places that were never seen in it: there a model is nearer to who always calls than the blueprint."""
    hands = record(base, Yardstick("always-call"), 600)
    reading = read_in(base.tree, hands)
    counts = count_moves(reading, base.tree, reading.player == 1)
    model, true = fit_tied(base, counts), always(base, CALL)
    tree = base.tree
    unseen = [n for n in np.flatnonzero(tree.actor >= 0).tolist() if n not in counts.moves]
    assert len(unseen) > 50

    def apart(strategy: BlueprintStrategy) -> float:
        rows, wanted = shares_of(strategy), shares_of(true)
        total = 0.0
        for node in unseen:
            street, at = int(tree.street[node]), int(tree.slot[node])
            here = slice(at, at + int(tree.count[node]))
            total += float(np.abs(rows[street][:, here] - wanted[street][:, here]).sum(axis=1).mean())
        return total / len(unseen)

    assert apart(model) < 0.3 * apart(base)
    assert apart(fit_model(base, counts)) == pytest.approx(apart(base), abs=1e-5)
    assert evidence(base, model, counts) > 100
    # What was shown counts for the bucket that held it: two buckets of a node, and two moves.
    shown = count_moves(reading, base.tree, reading.player == 1, hands, base.cards)
    assert evidence(base, fit_tied(base, shown), shown) > 100


# --- the agent ----------------------------------------------------------------------------------


def learner(base: BlueprintStrategy, **settings: object) -> LearningAgent:
    return LearningAgent(BlueprintAgent(base, "learner"), LearnSettings(every=400, work=20_000, **settings))  # type: ignore[arg-type]


def test_it_wins_half_of_what_there_is(base: BlueprintStrategy) -> None:
    """Of what a best response to the true opponent wins, within a few thousand hands."""
    responder = Responder(base)
    responder.improve(always(base, CALL), 100_000)
    best = BlueprintAgent(responder.strategy(), "best")
    most, before, found = (
        play_match(one, Yardstick("always-call"), base.rules, 4000, seed=9).mbb_per_game
        for one in (best, BlueprintAgent(base, "base"), learner(base))
    )
    assert most > 2 * before > 0
    assert found > most / 2


def test_equal_seeds_give_equal_matches(base: BlueprintStrategy) -> None:
    kept: list[Hands] = []
    for _ in range(2):
        play_match(learner(base), Yardstick("random", 3), base.rules, 1200, seed=9, observe=kept.append)
    half = len(kept) // 2
    for one, two in zip(kept[:half], kept[half:], strict=True):
        np.testing.assert_array_equal(one.moves, two.moves)


def test_a_match_never_waits(base: BlueprintStrategy, monkeypatch: pytest.MonkeyPatch) -> None:
    """With wait=no: while an answer is worked out, hands are played and counted; it is taken when it is there."""
    agent, think = learner(base, wait=False), Event()
    answer = LearningAgent._answer

    def slow(self: LearningAgent, before: Counts, parts: list[Counts]) -> BlueprintStrategy | None:
        assert think.wait(60)
        return answer(self, before, parts)

    monkeypatch.setattr(LearningAgent, "_answer", slow)
    play_match(agent, Yardstick("always-call"), base.rules, 1600, seed=9)
    assert agent.hands == 1600
    assert agent.now is agent.first
    assert agent._work is not None
    think.set()
    agent._work.result()
    play_match(agent, Yardstick("always-call"), base.rules, 400, seed=10)
    assert agent.now is not agent.first
    assert agent.counts.decisions > 2000  # nothing was missed meanwhile


def test_each_seating_has_its_own_memory(base: BlueprintStrategy) -> None:
    """In a pair of hands the other player sits in each seat once: what it does there is counted there alone."""
    agent = learner(base, fit="l1", showdowns=False)
    kept: list[Hands] = []
    play_match(agent, Yardstick("random", 3), base.rules, 400, seed=9, observe=kept.append)
    for seat in (0, 1):
        one = join([hands.take(np.arange(1 - seat, len(hands), 2)) for hands in kept])  # the learner sits opposite
        reading = read_in(base.tree, one, agent.first.translation)
        there = count_moves(reading, base.tree, reading.player == one.names.index("random"))
        assert {int(base.tree.actor[node]) for node in there.moves} == {seat}
        mine = sum(float(made.sum()) for node, made in agent.counts.moves.items() if base.tree.actor[node] == seat)
        assert mine == pytest.approx(there.decisions, rel=0.02)  # bets between two sizes are read by lot


@pytest.mark.parametrize("second", [False, True])
def test_it_knows_who_it_is_by_what_it_sees(second: bool, base: BlueprintStrategy) -> None:
    """Against a caller of the same name, in either place: all that is counted are calls."""
    agent, caller = learner(base), BlueprintAgent(always(base, CALL), "learner")
    play_match(*((caller, agent) if second else (agent, caller)), base.rules, 800, seed=9)
    assert agent.hands == 800
    tree = base.tree
    for node, seen in agent.counts.moves.items():
        kinds = [int(tree.kind[child]) for child in tree.children(node)]
        assert seen[kinds.index(CALL)] == seen.sum()


def test_memory(base: BlueprintStrategy, tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    one = learner(base, memory=folder)
    play_match(one, Yardstick("always-call"), base.rules, 800, seed=9)
    again = learner(base, memory=folder)
    assert again.hands == 800
    assert again.now is not again.first  # it goes on with an answer
    assert {n: c.tolist() for n, c in again.counts.moves.items()} == {
        n: c.tolist() for n, c in one.counts.moves.items()
    }
    assert again.counts.shown.keys() == one.counts.shown.keys()
    other = replace(base, average=base.average)
    assert learner(other, memory=folder).hands == 800
    with pytest.raises((InputError, CorruptError)):
        learner(base, memory=save_blueprint(base, tmp_path / "no memory"))


def test_models_of_one_street(base: BlueprintStrategy) -> None:
    """`preflop` answers before the flop, and is the blueprint afterwards."""
    agent = learner(base, method="preflop")
    play_match(agent, Yardstick("always-call"), base.rules, 1200, seed=9)
    now = shares_of(agent.now.strategy)
    for street, plain in enumerate(shares_of(base)):
        assert np.allclose(now[street], plain, atol=1e-6) == (street > 0)
    model = fit_model(base, agent.counts.on(base.tree, 0))
    np.testing.assert_allclose(shares_of(model)[1], shares_of(base)[1], atol=1e-6)


def test_names(base: BlueprintStrategy, tmp_path: Path) -> None:
    folder = save_blueprint(base, tmp_path / "b")
    agent = make_agent(f"{folder}?exploit=rnr&p=0.5&every=100&work=640&fit=em&wait=no&showdowns=no&doubt=no&seed=4")
    assert isinstance(agent, LearningAgent)
    assert agent.settings == LearnSettings(
        method="rnr", p=0.5, every=100, work=640, fit="em", wait=False, showdowns=False, doubt=False
    )
    plain, itself = make_agent(str(folder)), make_agent(f"{folder}?exploit=known&opponent={folder}&work=640")
    assert isinstance(plain, BlueprintAgent)
    assert isinstance(itself, BlueprintAgent)
    responder = Responder(plain.strategy)
    responder.improve(plain.strategy, 640)  # the strategy is there: nothing is drawn
    np.testing.assert_array_equal(responder.strategy().average[0], itself.strategy.average[0])
    known = make_agent(f"{folder}?exploit=known&opponent=always-call&work=20000")
    assert isinstance(known, BlueprintAgent)
    won = [play_match(one, Yardstick("always-call"), base.rules, 2000, seed=9) for one in (known, plain)]
    assert won[0].mbb_per_game > 2 * won[1].mbb_per_game
    for options, message in {
        "exploit=best": "unknown exploit",
        "exploit=dbbr&fit=l3": "unknown fit",
        "exploit=dbbr&p=2": "p=2",
        "exploit=dbbr&p=x": "write a number",
        "exploit=dbbr&every=1": "at least 2 hands",
        "exploit=dbbr&wait=perhaps": "write yes or no",
        "every=100": "add exploit=dbbr",
        "exploit=known": "needs an agent",
        "exploit=dbbr&opponent=random": "others none",
        "exploit=known&opponent=nobody": "unknown agent",
    }.items():
        with pytest.raises(InputError, match=message):
            make_agent(f"{folder}?{options}")
