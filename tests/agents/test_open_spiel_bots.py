"""OpenSpiel bots in our matches, and our strategies and agents as OpenSpiel bots."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from open_spiel.python.bots.policy import PolicyBot  # noqa: E402

import riverboat as rb  # noqa: E402
from riverboat.agents.base import PolicyAgent  # noqa: E402
from riverboat.agents.open_spiel import GAMES, OpenSpielAgent, open_spiel_bot  # noqa: E402
from riverboat.agents.registry import make_agent  # noqa: E402
from riverboat.core.errors import InputError  # noqa: E402
from riverboat.games.holdem.observations import Observations  # noqa: E402
from riverboat.games.holdem.rules import read_game  # noqa: E402


def decisions(name: str) -> Iterator[Any]:
    """Yield all states of an OpenSpiel game in which a player is to act."""
    work = [pyspiel.load_game(name).new_initial_state()]
    while work:
        state = work.pop()
        if not state.is_terminal():
            if not state.is_chance_node():
                yield state
            work.extend(state.child(action) for action in state.legal_actions())


def random_strategy(game: str, seed: int = 1) -> rb.Strategy:
    tree = rb.compile_game(rb.game(game))
    return rb.Strategy.from_sums(tree, np.random.default_rng(seed).exponential(size=tree.table_size))


def policy_bots(strategy: rb.Strategy) -> list[Any]:
    """Return OpenSpiel's own bots for a policy, one for each seat."""
    policy = strategy.to_open_spiel()
    return [PolicyBot(player, np.random.RandomState(player), policy) for player in (0, 1)]


def uniform_bots() -> list[Any]:
    return [pyspiel.make_uniform_random_bot(player, 1) for player in (0, 1)]


def same(first: list[tuple[int, float]], second: dict[int, float]) -> bool:
    ours = {action: p for action, p in first if p > 0}
    return ours == pytest.approx({action: p for action, p in second.items() if p > 0}, abs=1e-12)


# --- policies, at every decision ---


@pytest.mark.parametrize("game", GAMES)
def test_policies_survive_the_way_through_our_matches(game: str) -> None:
    """OpenSpiel's policy as an agent of ours, and that as a bot again: the same probabilities in every state."""
    strategy = random_strategy(game)
    policy = strategy.to_open_spiel()
    agent = OpenSpielAgent(policy, game)
    assert isinstance(agent, PolicyAgent)
    bots = [open_spiel_bot(agent, seat, game=game) for seat in (0, 1)]
    states = list(decisions(GAMES[game]))
    for state in states:
        assert same(bots[state.current_player()].get_policy(state), policy.action_probabilities(state))
    assert len(states) == {"kuhn": 24, "leduc": 3780}[game]


@pytest.mark.parametrize("game", ["kuhn", "leduc", "bluff:1,1", "kuhn:players=3", "open_spiel:tiny_hanabi"])
def test_strategies_as_bots(game: str) -> None:
    if game == "bluff:1,1":
        game = "open_spiel:liars_dice(dice_sides=2)"
    strategy = random_strategy(game)
    policy = strategy.to_open_spiel()
    bots = [open_spiel_bot(strategy, seat) for seat in range(strategy.tree.players)]
    for state in decisions(str(policy.game)):
        bot = bots[state.current_player()]
        assert same(bot.get_policy(state), policy.action_probabilities(state))
        chosen, action = bot.step_with_policy(state)
        assert action in state.legal_actions()
        assert dict(chosen)[action] > 0


# --- matches ---


@pytest.mark.parametrize("game", GAMES)
def test_matches_of_both_kinds_agree_with_the_exact_value(game: str) -> None:
    """A solved strategy against uniform play, as an agent in our match and as a bot in OpenSpiel's."""
    strategy = rb.solve(game, iterations=60).strategy
    uniform = rb.Strategy.uniform(strategy.tree)
    exact = [value_against(strategy, uniform, seat) for seat in (0, 1)]
    assert min(exact) > 0.1  # a wrong order of the cards would lose

    ours = rb.match(OpenSpielAgent(policy_bots(strategy), game), "random", game=game, hands=6_000)
    theirs = rb.match(
        OpenSpielAgent([open_spiel_bot(strategy, s) for s in (0, 1)], game),
        OpenSpielAgent(uniform_bots(), game, "uniform"),
        game=game,
        hands=6_000,
        seed=1,
    )
    for match in (ours, theirs):
        assert match.chips.mean == pytest.approx(np.mean(exact), abs=2 * match.chips.half_width)  # four standard errors

    rules = pyspiel.load_game(GAMES[game])
    for seat in (0, 1):
        bots = [open_spiel_bot(make_agent("random"), player, game=game, seed=player) for player in (0, 1)]
        bots[seat] = open_spiel_bot(strategy, seat, seed=7)
        won = [pyspiel.evaluate_bots(rules.new_initial_state(), bots, seed)[seat] for seed in range(1_500)]
        assert np.mean(won) == pytest.approx(exact[seat], abs=4 * np.std(won) / np.sqrt(len(won)))


def value_against(strategy: rb.Strategy, other: rb.Strategy, seat: int) -> float:
    """Return the exact value of one player's half of a strategy against the other player's half of another."""
    mixed = {each.name: (strategy if each.player == seat else other)[each.name] for each in strategy.tree.infosets()}
    return rb.quality(rb.Strategy.from_mapping(strategy.tree, mixed)).values[seat]


def test_matches_can_be_repeated() -> None:
    agents = [OpenSpielAgent(uniform_bots(), "leduc", seed=3) for _ in range(2)]
    first, second = (rb.match(agent, "always-call", game="leduc", hands=200) for agent in agents)
    assert first.chips == second.chips


# --- bots without a policy ---


class Recorder(pyspiel.Bot):
    """A bot that calls, or plays a given action, and records what it is told."""

    def __init__(self, action: int = 1) -> None:
        pyspiel.Bot.__init__(self)
        self.action, self.events, self.states = action, [], []

    def restart(self) -> None:
        self.events.append("restart")

    def inform_action(self, state: Any, player: int, action: int) -> None:
        self.events.append((player, action))

    def step(self, state: Any) -> int:
        self.states.append(str(state))
        return self.action


def observation(text: str) -> Observations:
    return Observations.from_match_state(text, read_game("leduc"))


def test_bots_without_policy_are_informed_of_the_actions() -> None:
    bot = Recorder()
    agent = OpenSpielAgent([Recorder(), bot], "leduc")
    assert not isinstance(agent, PolicyAgent)
    assert agent.act(observation("MATCHSTATE:1:0:crc/r:|Ks/As")).tolist() == [0]
    assert bot.events == ["restart", (0, 1), (1, 2), (0, 1), (0, 2)]


def test_bots_do_not_see_the_card_of_the_opponent() -> None:
    bot = Recorder()
    agent = OpenSpielAgent([bot, Recorder()], "leduc")
    rb.match(agent, "always-raise", game="leduc", hands=300)
    assert len(bot.states) > 100
    # Seat 0 has one of six cards. The other one is always the lowest that is left, however the hand was dealt.
    for text in bot.states:
        public, own, other = map(int, re.search(r"player_1\): (-?\d+) (\d) (\d)", text).groups())
        assert other == min({0, 1, 2} - {own, public})


def test_errors() -> None:
    strategy = random_strategy("leduc")
    with pytest.raises(InputError, match="unknown game 'holdem'"):
        OpenSpielAgent(uniform_bots(), "holdem")
    with pytest.raises(InputError, match="1 bots: give one for each of two seats"):
        OpenSpielAgent(uniform_bots()[:1], "leduc")
    with pytest.raises(InputError, match="plays 'leduc' and cannot play 'kuhn'"):
        rb.match(OpenSpielAgent(uniform_bots(), "leduc"), "always-call", game="kuhn", hands=2)
    with pytest.raises(InputError, match=r"at 'c': illegal action 0: \[1, 2\]"):
        OpenSpielAgent([Recorder(), Recorder(0)], "leduc").act(observation("MATCHSTATE:1:0:c:|Ks"))
    with pytest.raises(InputError, match="seat=2: leduc has players 0 to 1"):
        open_spiel_bot(strategy, 2)
    with pytest.raises(InputError, match="seat=3: must be 0 or 1"):
        open_spiel_bot(make_agent("random"), 3)
    kuhn = next(decisions("kuhn_poker"))
    with pytest.raises(InputError, match=r"bot for leduc_poker\(\): the state is of kuhn_poker\(\)"):
        open_spiel_bot(strategy, 0).step(kuhn)
    leduc = next(state for state in decisions("leduc_poker") if state.current_player() == 1)
    with pytest.raises(InputError, match="bot of player 0: it is the turn of player 1"):
        open_spiel_bot(strategy, 0).step(leduc)
