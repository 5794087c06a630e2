"""Agents that learn during a match, and responses to models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from random_blueprints import KINDS, random_blueprint
from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
from riverboat.agents.baselines import BaselineAgent
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.learning import LearningAgent, LearningSettings
from riverboat.agents.registry import make_agent
from riverboat.core.errors import CorruptError, InputError
from riverboat.evaluation.matches.match import play_match
from riverboat.games.holdem.action_tree import CALL, compile_action_tree
from riverboat.games.holdem.hand_records import HandRecords, concatenate_records
from riverboat.games.holdem.rules import read_game
from riverboat.opponents.models.hand_lines import read_hands
from riverboat.opponents.models.hierarchical import fit_tied_model, log_likelihood_gain
from riverboat.opponents.models.tree import MoveCounts, count_moves, fit_model, strategy_tables
from riverboat.opponents.responses import ModelResponder, model_confidence
from riverboat.solvers.mccfr.abstract_response import abstract_quality
from riverboat.solvers.mccfr.trainer import BlueprintTrainer
from riverboat.strategies.blueprint import Blueprint, save_blueprint

KIND = "pot"


@pytest.fixture(scope="module")
def base() -> Blueprint:
    """Blueprint of a game with one card each, trained briefly."""
    rules, menu = KINDS[KIND]
    solver = BlueprintTrainer(
        compile_action_tree(rules, menu), lossless_abstraction(rules.board[1:], rules.deck), seed=1
    )
    solver.step(50_000)
    return strategy_of(solver)


def strategy_of(solver: BlueprintTrainer) -> Blueprint:
    tree = solver.tree
    averages = tuple(solver.averages(street) for street in range(tree.rules.rounds))
    return Blueprint(tree.rules, tree.menu, tree, solver.cards, averages)


@pytest.fixture(scope="module")
def leduc() -> Blueprint:
    rules = read_game("leduc")
    solver = BlueprintTrainer(compile_action_tree(rules), lossless_abstraction(rules.board[1:], rules.deck), seed=1)
    solver.step(60_000)
    return strategy_of(solver)


def joined(first: Blueprint, second: Blueprint) -> Blueprint:
    """Combine seat 0 of the first strategy with seat 1 of the second."""
    tree, tables = first.tree, []
    for street, (mine, theirs) in enumerate(zip(strategy_tables(first), strategy_tables(second), strict=True)):
        nodes = np.flatnonzero((tree.actor >= 0) & (tree.street == street))
        seat = np.repeat(tree.actor[nodes], tree.count[nodes])
        tables.append(np.where(seat == 0, mine, theirs).astype(np.float32))
    return replace(first, average=tuple(tables))


def always(base: Blueprint, kind: int) -> Blueprint:
    """Return a strategy that always takes one kind of action."""
    tree, tables = base.tree, [np.zeros_like(table, np.float32) for table in base.average]
    for node in np.flatnonzero(tree.actor >= 0).tolist():
        chosen = [k for k, child in enumerate(tree.children(node)) if tree.kind[child] == kind]
        tables[tree.street[node]][:, tree.slot[node] + chosen[0]] = 1
    return replace(base, average=tuple(tables))


# --- Responses ---


def test_response_is_a_best_response(leduc: Blueprint) -> None:
    """Compare with the exact best response to the same model, in both seats; Leduc without abstraction."""
    model = random_blueprint("leduc", seed=4)
    responder = ModelResponder(leduc)
    responder.improve(model, 200_000)
    answer = responder.strategy()
    best = abstract_quality(model).best
    first, second = abstract_quality(joined(answer, model)).values[0], abstract_quality(joined(model, answer)).values[1]
    assert best[0] - 0.05 < first <= best[0] + 1e-6
    assert best[1] - 0.05 < second <= best[1] + 1e-6


def test_p_trades_gains_for_losses(leduc: Blueprint) -> None:
    """With larger p more is won from the model and more can be lost; the curve is above the chord between the ends."""
    model = random_blueprint("leduc", seed=4)
    gains, losses = [], []
    for p in (0.0, 0.5, 1.0):
        responder = ModelResponder(leduc, p)
        responder.improve(model, 150_000)
        answer = responder.strategy()
        against = abstract_quality(joined(answer, model)).values[0] + abstract_quality(joined(model, answer)).values[1]
        gains.append(against / 2)
        losses.append(sum(abstract_quality(answer).best) / 2)
    assert gains[0] < gains[1] < gains[2]
    assert losses[0] < losses[1] < losses[2]
    share = (losses[1] - losses[0]) / (losses[2] - losses[0])
    assert gains[1] > gains[0] + share * (gains[2] - gains[0]) + 0.01


def test_data_biased_response_without_data(leduc: Blueprint) -> None:
    model = random_blueprint("leduc", seed=4)
    free, none = (
        ModelResponder(leduc, 0.0),
        ModelResponder(leduc, confidence=model_confidence(leduc.tree, MoveCounts({}))),
    )
    for responder in (free, none):
        responder.improve(model, 20_000)
    np.testing.assert_array_equal(free.strategy().average[0], none.strategy().average[0])
    assert model_confidence(leduc.tree, MoveCounts({3: np.array([4.0, 1.0]), 5: np.array([70.0])}), 0.8) == {
        3: 0.4,
        5: 0.8,
    }
    with pytest.raises(InputError, match=r"p=1\.5"):
        ModelResponder(leduc, 1.5)
    with pytest.raises(InputError, match="tree"):
        free.improve(random_blueprint("kuhn"), 64)


# --- Evidence that the opponent differs from the blueprint ---


def record(one: Blueprint, other: object, hands: int) -> HandRecords:
    kept: list[HandRecords] = []
    play_match(BlueprintAgent(one, "one"), other, one.rules, hands, observe=kept.append)  # type: ignore[arg-type]
    return concatenate_records(kept)


@pytest.mark.parametrize("fit", ["tied", "l1"])
def test_evidence_about_the_opponent(fit: str, base: Blueprint) -> None:
    """A blueprint opponent is not mistaken for another player; a different one is detected after a few hundred
    hands."""
    seen = {}
    for other in (BlueprintAgent(base, "other", seed=8), BaselineAgent("always-call")):
        agent = learner(base, fit=fit)
        play_match(agent, other, base.rules, 2000, seed=9)
        seen[other.name] = agent
    assert seen["other"].evidence_decisions > 1000
    assert not seen["other"].opponent_differs
    assert seen["other"].current_agent is seen["other"].blueprint_agent
    assert seen["always-call"].opponent_differs
    assert seen["always-call"].current_agent is not seen["always-call"].blueprint_agent


def test_models_generalize(base: Blueprint) -> None:
    """At nodes without observations a tied model is closer to an opponent that always calls than the blueprint is."""
    hands = record(base, BaselineAgent("always-call"), 600)
    reading = read_hands(base.tree, hands)
    counts = count_moves(reading, base.tree, reading.player == 1)
    model, true = fit_tied_model(base, counts), always(base, CALL)
    tree = base.tree
    unseen = [n for n in np.flatnonzero(tree.actor >= 0).tolist() if n not in counts.moves]
    assert len(unseen) > 50

    def apart(strategy: Blueprint) -> float:
        rows, wanted = strategy_tables(strategy), strategy_tables(true)
        total = 0.0
        for node in unseen:
            street, at = int(tree.street[node]), int(tree.slot[node])
            here = slice(at, at + int(tree.count[node]))
            total += float(np.abs(rows[street][:, here] - wanted[street][:, here]).sum(axis=1).mean())
        return total / len(unseen)

    assert apart(model) < 0.3 * apart(base)
    assert apart(fit_model(base, counts)) == pytest.approx(apart(base), abs=1e-5)
    assert log_likelihood_gain(base, model, counts) > 100
    # Showdowns count for the bucket of the shown hand.
    shown = count_moves(reading, base.tree, reading.player == 1, hands, base.cards)
    assert log_likelihood_gain(base, fit_tied_model(base, shown), shown) > 100


# --- Agent ---


def learner(base: Blueprint, **settings: object) -> LearningAgent:
    return LearningAgent(BlueprintAgent(base, "learner"), LearningSettings(every=400, work=20_000, **settings))  # type: ignore[arg-type]


def test_winnings(base: Blueprint) -> None:
    """Within a few thousand hands the agent wins more than half as much as a best response to the true opponent."""
    responder = ModelResponder(base)
    responder.improve(always(base, CALL), 100_000)
    best = BlueprintAgent(responder.strategy(), "best")
    most, before, found = (
        play_match(one, BaselineAgent("always-call"), base.rules, 4000, seed=9).mbb_per_game
        for one in (best, BlueprintAgent(base, "base"), learner(base))
    )
    assert most > 2 * before > 0
    assert found > most / 2


def test_equal_seeds_give_equal_matches(base: Blueprint) -> None:
    kept: list[HandRecords] = []
    for _ in range(2):
        play_match(learner(base), BaselineAgent("random", 3), base.rules, 1200, seed=9, observe=kept.append)
    half = len(kept) // 2
    for one, two in zip(kept[:half], kept[half:], strict=True):
        np.testing.assert_array_equal(one.moves, two.moves)


def test_play_without_waiting(base: Blueprint, monkeypatch: pytest.MonkeyPatch) -> None:
    """With wait=no, hands are played and counted while a response is computed; it is adopted when it is ready."""
    agent, think = learner(base, wait=False), Event()
    answer = LearningAgent._compute_response

    def slow(self: LearningAgent, before: MoveCounts, parts: list[MoveCounts]) -> Blueprint | None:
        assert think.wait(60)
        return answer(self, before, parts)

    monkeypatch.setattr(LearningAgent, "_compute_response", slow)
    play_match(agent, BaselineAgent("always-call"), base.rules, 1600, seed=9)
    assert agent.hands_seen == 1600
    assert agent.current_agent is agent.blueprint_agent
    assert agent._future is not None
    think.set()
    agent._future.result()
    play_match(agent, BaselineAgent("always-call"), base.rules, 400, seed=10)
    assert agent.current_agent is not agent.blueprint_agent
    assert agent.counts.decisions > 2000  # all hands were counted


def test_counts_by_seat(base: Blueprint) -> None:
    """In a pair of hands the opponent has each seat once: its actions are counted for that seat only."""
    agent = learner(base, fit="l1", showdowns=False)
    kept: list[HandRecords] = []
    play_match(agent, BaselineAgent("random", 3), base.rules, 400, seed=9, observe=kept.append)
    for seat in (0, 1):
        one = concatenate_records(
            [hands.take(np.arange(1 - seat, len(hands), 2)) for hands in kept]
        )  # the learning agent has the other seat
        reading = read_hands(base.tree, one, agent.blueprint_agent.translation)
        there = count_moves(reading, base.tree, reading.player == one.names.index("random"))
        assert {int(base.tree.actor[node]) for node in there.moves} == {seat}
        mine = sum(float(made.sum()) for node, made in agent.counts.moves.items() if base.tree.actor[node] == seat)
        assert mine == pytest.approx(there.decisions, rel=0.02)  # translation of bets is randomized


@pytest.mark.parametrize("second", [False, True])
def test_own_name_is_found_by_the_visible_cards(second: bool, base: Blueprint) -> None:
    """Against a caller of the same name, in either position: all counted actions are calls."""
    agent, caller = learner(base), BlueprintAgent(always(base, CALL), "learner")
    play_match(*((caller, agent) if second else (agent, caller)), base.rules, 800, seed=9)
    assert agent.hands_seen == 800
    tree = base.tree
    for node, seen in agent.counts.moves.items():
        kinds = [int(tree.kind[child]) for child in tree.children(node)]
        assert seen[kinds.index(CALL)] == seen.sum()


def test_memory(base: Blueprint, tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    one = learner(base, memory=folder)
    play_match(one, BaselineAgent("always-call"), base.rules, 800, seed=9)
    again = learner(base, memory=folder)
    assert again.hands_seen == 800
    assert again.current_agent is not again.blueprint_agent  # it starts with a response
    assert {n: c.tolist() for n, c in again.counts.moves.items()} == {
        n: c.tolist() for n, c in one.counts.moves.items()
    }
    assert again.counts.showdowns.keys() == one.counts.showdowns.keys()
    other = replace(base, average=base.average)
    assert learner(other, memory=folder).hands_seen == 800
    with pytest.raises((InputError, CorruptError)):
        learner(base, memory=save_blueprint(base, tmp_path / "no memory"))


def test_preflop_method(base: Blueprint) -> None:
    """`preflop` responds before the flop, and plays the blueprint afterwards."""
    agent = learner(base, method="preflop")
    play_match(agent, BaselineAgent("always-call"), base.rules, 1200, seed=9)
    now = strategy_tables(agent.current_agent.strategy)
    for street, plain in enumerate(strategy_tables(base)):
        assert np.allclose(now[street], plain, atol=1e-6) == (street > 0)
    model = fit_model(base, agent.counts.on_street(base.tree, 0))
    np.testing.assert_allclose(strategy_tables(model)[1], strategy_tables(base)[1], atol=1e-6)


def test_names(base: Blueprint, tmp_path: Path) -> None:
    folder = save_blueprint(base, tmp_path / "b")
    agent = make_agent(f"{folder}?exploit=rnr&p=0.5&every=100&work=640&fit=em&wait=no&showdowns=no&doubt=no&seed=4")
    assert isinstance(agent, LearningAgent)
    assert agent.settings == LearningSettings(
        method="rnr", p=0.5, every=100, work=640, fit="em", wait=False, showdowns=False, doubt=False
    )
    plain, itself = make_agent(str(folder)), make_agent(f"{folder}?exploit=known&opponent={folder}&work=640")
    assert isinstance(plain, BlueprintAgent)
    assert isinstance(itself, BlueprintAgent)
    responder = ModelResponder(plain.strategy)
    responder.improve(plain.strategy, 640)  # the strategy is known, so nothing is sampled
    np.testing.assert_array_equal(responder.strategy().average[0], itself.strategy.average[0])
    known = make_agent(f"{folder}?exploit=known&opponent=always-call&work=20000")
    assert isinstance(known, BlueprintAgent)
    won = [play_match(one, BaselineAgent("always-call"), base.rules, 2000, seed=9) for one in (known, plain)]
    assert won[0].mbb_per_game > 2 * won[1].mbb_per_game
    for options, message in {
        "exploit=best": "'best'",
        "exploit=dbbr&fit=l3": "'l3'",
        "exploit=dbbr&p=2": "p=2",
        "exploit=dbbr&p=x": "p='x'",
        "exploit=dbbr&every=1": "every=1,",
        "exploit=dbbr&wait=perhaps": "wait='perhaps'",
        "every=100": "every.*exploit=dbbr",
        "exploit=known": "exploit=known, opponent=''",
        "exploit=dbbr&opponent=random": "exploit=dbbr, opponent='random'",
        "exploit=known&opponent=nobody": "'nobody'",
    }.items():
        with pytest.raises(InputError, match=message):
            make_agent(f"{folder}?{options}")
