"""Rivers with both ranges, reached by solved turns or by agents in self-play."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np

from riverboat.abstraction.build import build_abstraction
from riverboat.abstraction.recipe import load_recipe
from riverboat.agents import registry
from riverboat.agents.base import Agent
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.api.solve import solve
from riverboat.cards.notation import format_cards
from riverboat.cards.ranges import Range
from riverboat.core import cache
from riverboat.core.arrays import Array
from riverboat.evaluation.matches.match import play_match
from riverboat.games.base import CHANCE
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.games.holdem.actions import CALL, END_OF_LINE, FOLD, replay_lines
from riverboat.games.holdem.hand_records import HandRecords
from riverboat.games.holdem.public_states import PublicStates
from riverboat.games.holdem.rules import PokerRules
from riverboat.games.spots.spot import Spot
from riverboat.papers.training import train_blueprint
from riverboat.solvers.mccfr.recipe import load_train_recipe
from riverboat.strategies.public_strategy import PublicPolicy, ranges
from riverboat.strategies.solution import Solution

POT = 400  # chips of every river; with deep stacks only ranges and shares of the pot matter
OPENER_RANGE = "22+,A2s+,A8o+,K5s+,KTo+,Q8s+,QTo+,J8s+,JTo,T7s+,96s+,86s+,75s+,64s+,54s"
CALLER_RANGE = "22-JJ,A2s-AJs,A7o-AQo,K4s-KQs,KTo-KQo,Q7s+,Q9o+,J8s+,J9o+,T7s+,97s+,86s+,75s+,65s,54s"
RIVERS_PER_TURN = 20  # rivers sampled from one turn
RIVER_ROUND = 3
SMALL_BLUEPRINT_DEALS = 2_000_000  # training deals of the small blueprint
BATCH_SIZE = 200  # rivers in one query of an agent
# A player's chips in the pot after the bet and after the raise of DEMO_SIZES, relative to those before the river.
BET_FACTOR, RAISE_FACTOR = 2, 6


LIMIT_SIZES = "25%", "2x"  # bet and raise of a limit river with four bets in the pot
DEMO_SIZES = "50%", "100%"  # the smallest bet and raise of the demo's menu


class SampledRiver(NamedTuple):
    """A reached river: the board, both ranges, and the line before the river."""

    board: tuple[int, ...]
    ranges: tuple[Array, Array]  # float64 [1326] each
    line: str
    sizes: tuple[str, str] = LIMIT_SIZES  # of the only bet and of the only raise
    base: dict[str, Array] | None = None  # the agent's strategy on the river, by situation. float64 [moves, 1326]

    def spot(self) -> Spot:
        """Return the river as a spot with one bet and one raise."""
        hand_ranges = [Range(weights / weights.max()) for weights in self.ranges]
        return Spot.make(
            board=self.board, pot=POT, stack=10 * POT, oop=hand_ranges[0], ip=hand_ranges[1], bets=self.sizes[0],
            raises=self.sizes[1], raise_cap=1, name=f"{format_cards(self.board)} after {self.line}",
        )  # fmt: skip


# --- Solved turns ---


def rivers_from_solved_turns(count: int, seed: int) -> Iterator[SampledRiver]:
    """Solve random turns, and sample `count` rivers from them; lines are drawn by their frequency."""
    rng = np.random.default_rng(seed)
    for turn in range(-(-count // RIVERS_PER_TURN)):
        board = tuple(int(c) for c in rng.choice(52, 4, replace=False))
        oop, ip = (OPENER_RANGE, CALLER_RANGE) if turn % 2 else (CALLER_RANGE, OPENER_RANGE)
        menu = {"turn": {"bet": "60%", "raise": "3x"}, "river": {"bet": "75%", "raise": "a"}}
        spot = Spot.make(board=board, pot=100, stack=400, oop=oop, ip=ip, bets=menu, raise_cap=1)
        solution = solve(spot, until=1.0).strategy
        assert isinstance(solution, Solution)
        lines = [spot.betting.line(node, ()) for node in np.flatnonzero(spot.betting.actor == CHANCE).tolist()]
        weights = np.array([np.prod([r.sum() for r in solution[line].reach]) for line in lines])
        remaining = [c for c in range(52) if c not in board]
        for _ in range(min(RIVERS_PER_TURN, count - RIVERS_PER_TURN * turn)):
            line = lines[rng.choice(len(lines), p=weights / weights.sum())]
            card = int(rng.choice(remaining))
            yield SampledRiver((*board, card), solution[f"{line}/{format_cards((card,))}"].reach, line)


# --- Self-play ---


class RangePolicyAgent(Agent, PublicPolicy, Protocol):
    """An agent that can act, and returns its strategies for all hands at a public state."""


def make_base_agent(seed: int) -> BlueprintAgent:
    """Return the demo's agent, or a smaller blueprint by the same recipe if the demo was never built.

    The card abstraction of the smaller blueprint is cached.
    """
    if registry.demo_folder().is_dir():
        agent = registry.make_agent(registry.DEMO, seed)
        assert isinstance(agent, BlueprintAgent)
        return agent
    recipe = load_train_recipe(registry.DEMO)
    cards = build_abstraction(
        load_recipe(recipe.abstraction), cache.cache_folder() / "reproduce" / recipe.abstraction, resume=True
    )
    game = compile_action_tree(recipe.rules, recipe.menu), cards
    strategy = train_blueprint(game, "external", SMALL_BLUEPRINT_DEALS, seed=seed, weighting=recipe.weighting)
    return BlueprintAgent(strategy, name="a smaller blueprint with the demo's recipe", seed=seed)


def rivers_from_self_play(
    agent: RangePolicyAgent, rules: PokerRules, count: int, seed: int
) -> tuple[list[SampledRiver], int]:
    """Sample rivers that an agent reaches against itself after at least one bet.

    Also return the number of reached rivers that are left out, as stacks are too short for a bet and a raise.

    The river has one bet size and one raise (`DEMO_SIZES`). The agent's strategy there is queried line by line. All its
    bets and raises count as the single size, or as a call where no raise is left.
    """
    rivers: list[SampledRiver] = []
    num_short = 0
    while len(rivers) < count:
        hands: list[HandRecords] = []
        play_match(agent, agent, rules, 2 * max(64, 4 * (count - len(rivers))), seed, observe=hands.append)
        seed += 1
        for part in hands:  # in self-play both hands of a duplicate pair are the same
            public_states, short = _find_river_starts(part.take(np.arange(0, len(part), 2)))
            num_short += short
            for begin in range(0, len(public_states), BATCH_SIZE):
                rivers += _query_agent(agent, public_states.take(slice(begin, begin + BATCH_SIZE)))
    return rivers[:count], num_short


def _find_river_starts(hands: HandRecords) -> tuple[PublicStates, int]:
    """Return the public states at the start of the river after a bet, and the number left out for short stacks.

    Stacks are too short if they have no chips for the bet and the raise of `DEMO_SIZES`.
    """
    rules, moves = hands.rules, hands.moves
    first, paid = np.full(len(hands), -1), np.zeros(len(hands), np.int64)
    for k in range(moves.shape[1] + 1):
        states, _ = replay_lines(rules, moves, np.minimum(hands.length, k).astype(np.int32))
        starting = (first < 0) & (k <= hands.length) & (states[:, 3] == RIVER_ROUND) & (states[:, 8] == 0)
        first[starting], paid[starting] = k, states[starting, 0]
    before = np.arange(moves.shape[1]) < first[:, None]
    reached = (first >= 0) & ((moves > CALL) & before).any(axis=1)
    assert rules.stacks is not None
    deep = RAISE_FACTOR * paid <= min(rules.stacks)
    chosen = np.flatnonzero(reached & deep)
    board = hands.cards[:, 2 * rules.hole :]
    lines = np.where(before, moves, END_OF_LINE)[chosen]
    return PublicStates(rules, lines, first[chosen].astype(np.int32), board[chosen]), int((reached & ~deep).sum())


def _query_agent(agent: PublicPolicy, public_states: PublicStates) -> list[SampledRiver]:
    reach, paid = ranges(public_states, agent), public_states.states[:, 0]
    check, bet, raised = np.full(len(paid), CALL), BET_FACTOR * paid, RAISE_FACTOR * paid
    lines: dict[str, tuple[Array, ...]] = {  # the river actions that lead to each decision
        "root": (), "x": (check,), "x-b": (check, bet), "x-b-r": (check, bet, raised), "b": (bet,), "b-r": (bet, raised),
    }  # fmt: skip
    base = {name: _action_probabilities(agent, _append_actions(public_states, line)) for name, line in lines.items()}
    rivers = []
    for i in np.flatnonzero(reach.max(axis=2).min(axis=1) > 0).tolist():
        strategy = {name: row[i] for name, row in base.items()}
        both = reach[i, 0], reach[i, 1]
        rivers.append(SampledRiver(public_states.board_cards(i), both, public_states.line(i), DEMO_SIZES, strategy))
    return rivers


def _append_actions(public_states: PublicStates, line: tuple[Array, ...]) -> PublicStates:
    """Append river actions to public states; each array of `line` has one action for every state."""
    padding, length = ((0, 0), (0, len(line))), public_states.length
    moves = np.pad(public_states.moves, padding, constant_values=END_OF_LINE)
    for action in line:
        moves[np.arange(len(moves)), length] = action
        length = length + np.int32(1)
    return PublicStates(public_states.rules, moves, length, public_states.board)


def _action_probabilities(agent: PublicPolicy, public_states: PublicStates) -> Array:
    """Return probabilities of fold, call and raise for all hands, or of check and bet. float64 [n, moves, 1326]"""
    strategies = agent.strategies(public_states)
    fold, call, raise_ = (
        (strategies.probabilities * kind[:, None, :]).sum(axis=2)
        for kind in (strategies.moves == FOLD, strategies.moves == CALL, strategies.moves > CALL)
    )
    raises = public_states.states[:, 4][0]  # bets and raises on the river so far: the same at all states
    if raises == 0:
        return np.stack([call, raise_], axis=1)
    return np.stack([fold, call, raise_] if raises == 1 else [fold, call + raise_], axis=1)
