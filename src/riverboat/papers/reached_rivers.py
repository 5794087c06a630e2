"""Rivers that are reached, with what both players may hold there: by solved turns, or by agents that play each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from riverboat.abstraction.build import build
from riverboat.abstraction.recipe import load_recipe
from riverboat.agents import registry
from riverboat.agents.base import Agent
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.cards.notation import show_cards
from riverboat.cards.ranges import Range
from riverboat.core import cache
from riverboat.core.arrays import Array
from riverboat.evaluation.matches.match import play_match
from riverboat.games.base import CHANCE
from riverboat.games.holdem.action_tree import compile_actions
from riverboat.games.holdem.actions import CALL, END, FOLD
from riverboat.games.holdem.betting_batch import states_after
from riverboat.games.holdem.public_state import Places
from riverboat.games.holdem.rules import Rules
from riverboat.games.records.hand_records import Hands
from riverboat.games.spots.spot import Spot
from riverboat.solvers.mccfr.recipe import load_train_recipe
from riverboat.solvers.mccfr.trainer import Blueprint
from riverboat.solvers.run import solve
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.strategies.public_strategy import Answering, ranges
from riverboat.strategies.solution import Solution

POT = 400  # chips of every river; ranges and shares of the pot are all that matters where stacks are deep enough
OPENER = "22+,A2s+,A8o+,K5s+,KTo+,Q8s+,QTo+,J8s+,JTo,T7s+,96s+,86s+,75s+,64s+,54s"
CALLER = "22-JJ,A2s-AJs,A7o-AQo,K4s-KQs,KTo-KQo,Q7s+,Q9o+,J8s+,J9o+,T7s+,97s+,86s+,75s+,65s,54s"
PER_TURN = 20  # rivers that are reached from one turn
RIVER = 3  # the round
SMALL = 2_000_000  # deals that the small blueprint is trained for
AT_ONCE = 200  # rivers that an agent is asked about


@dataclass(frozen=True)
class Sizes:
    """Betting of a river with one bet and one raise."""

    bet: str
    raised: str


LIMIT = Sizes("25%", "2x")  # a limit river with four bets in the pot
MENU = Sizes("50%", "100%")  # the smallest bet and raise of the demo's menu


@dataclass(frozen=True, eq=False)
class Reached:
    """A river that was reached: the board, what both may hold there, and how it came about."""

    board: tuple[int, ...]
    ranges: tuple[Array, Array]  # float64 [1326] each
    line: str
    sizes: Sizes = LIMIT
    base: dict[str, Array] | None = None  # what who came there plays on with, by situation. float64 [moves, 1326]

    def spot(self) -> Spot:
        """The river as a spot with one bet and one raise."""
        held = [Range(weights / weights.max()) for weights in self.ranges]
        return Spot.make(
            board=self.board, pot=POT, stack=10 * POT, oop=held[0], ip=held[1], bets=self.sizes.bet,
            raises=self.sizes.raised, raise_cap=1, name=f"{show_cards(self.board)} after {self.line}",
        )  # fmt: skip


# --- solved turns -----------------------------------------------------------------------------


def by_turns(count: int, seed: int) -> Iterator[Reached]:
    """Rivers to which solved turns lead: boards at random, lines as often as they are played."""
    rng = np.random.default_rng(seed)
    done = 0
    for turn in range(-(-count // PER_TURN)):
        board = tuple(int(c) for c in rng.choice(52, 4, replace=False))
        oop, ip = (OPENER, CALLER) if turn % 2 else (CALLER, OPENER)
        menu = {"turn": {"bet": "60%", "raise": "3x"}, "river": {"bet": "75%", "raise": "a"}}
        spot = Spot.make(board=board, pot=100, stack=400, oop=oop, ip=ip, bets=menu, raise_cap=1)
        played = solve(spot, until=1.0).strategy
        assert isinstance(played, Solution)
        lines = list(_lines(spot, 0, ""))
        weights = np.array([np.prod([r.sum() for r in played[line].reach]) for line in lines])
        free = [c for c in range(52) if c not in board]
        for _ in range(min(PER_TURN, count - done)):
            line = lines[rng.choice(len(lines), p=weights / weights.sum())]
            card = int(rng.choice(free))
            yield Reached((*board, card), played[f"{line}/{show_cards((card,))}"].reach, line)
            done += 1


def _lines(spot: Spot, node: int, line: str) -> Iterator[str]:
    """Lines that end with a deal."""
    betting = spot.betting
    if betting.actor[node] == CHANCE:
        yield line
    elif betting.actor[node] >= 0:
        for child in betting.children(node):
            yield from _lines(spot, child, f"{line}-{betting.label[child]}" if line else betting.label[child])


# --- matches ----------------------------------------------------------------------------------


class Asked(Agent, Answering, Protocol):
    """An agent that answers for all hands."""


def base_agent(seed: int) -> BlueprintAgent:
    """The demo's agent; where it was never built, a smaller blueprint with the same recipe, its cards kept for next time."""
    if registry.demo_folder().is_dir():
        agent = registry.make_agent(registry.DEMO, seed)
        assert isinstance(agent, BlueprintAgent)
        return agent
    recipe = load_train_recipe(registry.DEMO)
    cards = build(load_recipe(recipe.abstraction), cache.folder() / "reproduce" / recipe.abstraction, resume=True)
    solver = Blueprint(compile_actions(recipe.rules, recipe.menu), cards, seed=seed, weighting=recipe.weighting)
    solver.step(SMALL)
    tables = tuple(solver.tables.strategies(street) for street in range(recipe.rules.rounds))
    facts = {"method": "cfr", "iterations": solver.iterations}
    strategy = BlueprintStrategy(recipe.rules, recipe.menu, solver.tree, cards, tables, facts)
    return BlueprintAgent(strategy, name="a smaller blueprint with the demo's recipe", seed=seed)


def by_play(agent: Asked, rules: Rules, count: int, seed: int) -> tuple[list[Reached], int]:
    """Rivers that an agent reaches against itself, by at least one bet, and how many were left out for want of chips.

    The river is then played with one size of bet and one raise (MENU). What the agent does there is asked of it, line by
    line; all its bets and raises count as the one that there is, as a call where there is none.
    """
    rivers: list[Reached] = []
    short = 0
    while len(rivers) < count:
        hands: list[Hands] = []
        play_match(agent, agent, rules, 2 * max(64, 4 * (count - len(rivers))), seed, observe=hands.append)
        seed += 1
        for part in hands:  # an agent that meets itself plays both hands of a pair alike
            places, left_out = _rivers(part.take(np.arange(0, len(part), 2)))
            short += left_out
            for begin in range(0, len(places), AT_ONCE):
                rivers += _asked(agent, places.take(slice(begin, begin + AT_ONCE)))
    return rivers[:count], short


def _rivers(hands: Hands) -> tuple[Places, int]:
    """Where the betting on the river begins, with chips for a bet and a raise; and how often chips were wanting."""
    rules, moves = hands.rules, hands.moves
    first, paid = np.full(len(hands), -1), np.zeros(len(hands), np.int64)
    for k in range(moves.shape[1] + 1):
        states, _ = states_after(rules, moves, np.minimum(hands.length, k).astype(np.int32))
        here = (first < 0) & (k <= hands.length) & (states[:, 3] == RIVER) & (states[:, 8] == 0)
        first[here], paid[here] = k, states[here, 0]
    before = np.arange(moves.shape[1]) < first[:, None]
    reached = (first >= 0) & ((moves > CALL) & before).any(axis=1)
    assert rules.stacks is not None
    deep = _raise(paid) <= min(rules.stacks)
    chosen = np.flatnonzero(reached & deep)
    board = hands.cards[:, 2 * rules.hole :]
    lines = np.where(before, moves, END)[chosen]
    return Places(rules, lines, first[chosen].astype(np.int32), board[chosen]), int((reached & ~deep).sum())


def _bet(paid: Array) -> Array:
    """The total of a bet of half the pot, where each has paid so much."""
    return 2 * paid


def _raise(paid: Array) -> Array:
    """The total of a raise by the pot after such a bet."""
    return 6 * paid


def _asked(agent: Answering, places: Places) -> list[Reached]:
    held, paid = ranges(places, agent), places.states[:, 0]
    base = {name: _answers(agent, _after(places, line)) for name, line in _situations(paid).items()}
    return [
        Reached(
            places.shown(i),
            (held[i, 0], held[i, 1]),
            places.line(i),
            MENU,
            {name: row[i] for name, row in base.items()},
        )
        for i in range(len(places))
        if held[i].max(axis=1).min() > 0
    ]


def _situations(paid: Array) -> dict[str, tuple[Array, ...]]:
    """Moves on the river that lead to each decision."""
    check, bet, raised = np.full(len(paid), CALL), _bet(paid), _raise(paid)
    return {
        "root": (), "x": (check,), "x-b": (check, bet), "x-b-r": (check, bet, raised), "b": (bet,), "b-r": (bet, raised),
    }  # fmt: skip


def _after(places: Places, line: tuple[Array, ...]) -> Places:
    """The same places some moves later."""
    n, most = places.moves.shape
    moves = np.full((n, most + len(line)), END, np.int32)
    moves[:, :most] = places.moves
    for k, made in enumerate(line):
        moves[np.arange(n), places.length + k] = made
    return Places(places.rules, moves, (places.length + len(line)).astype(np.int32), places.board)


def _answers(agent: Answering, places: Places) -> Array:
    """Fold, call and raise of all hands; check and bet where nobody has bet. float64 [n, moves, 1326]"""
    answers = agent.strategies(places)
    fold, call, more = (
        (answers.probabilities * kind[:, None, :]).sum(axis=2)
        for kind in (answers.moves == FOLD, answers.moves == CALL, answers.moves > CALL)
    )
    raises = places.states[:, 4][0]  # bets and raises of the river so far: the same at all places
    if raises == 0:
        return np.stack([call, more], axis=1)
    return np.stack([fold, call, more] if raises == 1 else [fold, call + more], axis=1)
