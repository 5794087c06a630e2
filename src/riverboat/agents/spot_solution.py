"""Agent that plays a solved spot.

    agent = SolutionAgent(load("runs/spot"))
    agent.start, agent.deal(rng)           # initial state, and cards from the ranges

Hands begin at the root of the spot, with its pot, stacks and ranges, and continue in its tree; actions that the tree
does not have cannot be played. Totals of raises count from the street of the root on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from riverboat.agents.base import ActionProbabilities, check_own_rules
from riverboat.cards.deck import HAND_CARDS, card_name, hand_index
from riverboat.cards.ranges import compatible_weights
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, short_repr
from riverboat.games.base import CHANCE
from riverboat.games.holdem.actions import format_action
from riverboat.games.holdem.betting import DEAL, STREET_NOTATION, BettingState
from riverboat.games.holdem.match_state import Holes
from riverboat.games.holdem.observations import Observations
from riverboat.games.holdem.rules import PokerRules
from riverboat.games.spots.spot import Spot
from riverboat.strategies.policy import sample_moves
from riverboat.strategies.solution import Solution, SolutionNode


@dataclass(frozen=True, eq=False)
class SolutionAgent:
    """Agent that plays the strategy of a spot, in either seat."""

    solution: Solution
    name: str = "solution"
    seed: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.solution.tree.game, Spot) or self.solution.tree.game.gadget is not None:
            raise InputError(
                f"agent {self.name!r}: contains a solution of {self.solution.tree.name}, which is not a spot"
            )

    def __repr__(self) -> str:
        return f"<SolutionAgent {self.name}: {self.solution!r}>"

    @property
    def spot(self) -> Spot:
        """The solved spot."""
        game = self.solution.tree.game
        assert isinstance(game, Spot)
        return game

    @cached_property
    def rules(self) -> PokerRules:
        """Rules of the subgame: hands begin on the street of the spot."""
        return replace(self.spot.rules, begins=len(self.spot.board) - 2)

    @cached_property
    def start(self) -> BettingState:
        """Initial state of its hands."""
        state = BettingState.start(self.rules)
        for label in self.spot.played.split(STREET_NOTATION.joiner) if self.spot.played else ():
            move = STREET_NOTATION.parse(self.rules.compact, state.compact, label)
            assert move is not None  # the spot has played it
            state = state.apply_action(move)
        return state

    def check_rules(self, rules: PokerRules) -> None:
        """Raise InputError unless the rules are those of its subgame."""
        check_own_rules(self.name, self.rules, rules)

    # --- Cards ---

    def deal(self, rng: np.random.Generator) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Deal the cards of seat 0, of seat 1 and the complete board, by the joint distribution of the ranges."""
        holes = deal_holes(rng, HAND_CARDS, *self.spot.weights)
        assert holes is not None  # the spot was checked
        remaining = np.setdiff1d(self.spot.deck.cards, [*self.spot.board, *holes[0], *holes[1]])
        runout = rng.permutation(remaining)[: self.rules.board_sizes[-1] - len(self.spot.board)].tolist()
        return holes[0], holes[1], (*self.spot.board, *runout)

    # --- Public states ---

    def solution_line(self, state: BettingState, board: Sequence[int]) -> str:
        """Return the solution's line for a state of a table, such as `b120-c/8h`; the tree must have it."""
        return self.node_at(state, board).line

    def state_at(self, line: str) -> tuple[BettingState, tuple[int, ...]]:
        """Return the state of a table at a line of the solution, such as `b120-c/8h`, and its board."""
        state, node, betting = self.start, self.solution[line], self.spot.betting
        for parent, child in pairwise(node.path):
            if betting.actor[parent] == CHANCE:
                state = state.next_street()
            else:
                state = state.apply_action(self._moves(parent)[list(betting.children(parent)).index(child)])
        return state, node.board

    def node_at(self, state: BettingState, board: Sequence[int]) -> SolutionNode:
        """Return the node of the solution at a state of a table with this board; the tree must have it."""
        sizes, before, betting = self.rules.board_sizes, self.start.history, self.spot.betting
        if tuple(map(int, board[: len(self.spot.board)])) != self.spot.board:
            raise InputError(f"agent {self.name!r}: its spot has another board")
        if state.history[: len(before)] != before:
            raise InputError(f"line {short_repr(state.line)}: the spot begins after {short_repr(self.spot.played)}")
        node, dealt, street = 0, [], self.start.street
        for action in state.history[len(before) :]:
            if action == DEAL:
                dealt.append(tuple(map(int, board[sizes[street] : sizes[street + 1]])))
                node, street = node + 1, street + 1
                continue
            child = betting.child(node, action, self.start.spent)
            if child is None:
                options = ", ".join(format_action(move, self.rules) for move in self._moves(node))
                raise InputError(
                    f"line {short_repr(state.line)}: {format_action(action, self.rules)} is not in the tree; "
                    f"there are {options}"
                )
            node = child
        return self.solution.node(node, tuple(dealt))

    def _moves(self, node: int) -> tuple[int, ...]:
        """Return the actions at a node of the betting tree: FOLD, CALL, or the total of a raise at the table."""
        return self.spot.betting.moves(node, self.start.spent)

    def menu(self, state: BettingState, board: Sequence[int]) -> tuple[str, ...]:
        """Return the actions of the tree at a state, in table notation."""
        if state.actor < 0:
            return ()
        return tuple(format_action(move, self.rules) for move in self._moves(self.node_at(state, board).betting_node))

    # --- Tables ---

    def act(self, observations: Observations) -> Array:
        """Return the action at each table: FOLD, CALL, or the total of a raise. int32 [n]"""
        choices = self.probabilities(observations)
        columns = max(map(len, choices))
        rows, moves = np.zeros((len(observations), columns)), np.zeros((len(observations), columns), np.int32)
        for i, choice in enumerate(choices):
            moves[i, : len(choice)], rows[i, : len(choice)] = zip(*choice, strict=True)
        return sample_moves(self.seed, observations, rows, moves)

    def probabilities(self, observations: Observations) -> list[ActionProbabilities]:
        """Return the actions at each table with their probabilities, which are positive and sum to one."""
        self.check_rules(observations.rules)
        choices = []
        for i in range(len(observations)):
            state = observations.betting(i)
            node, hand = self.node_at(state, observations.board[i].tolist()), hand_index(*observations.hole[i].tolist())
            row = node.strategy[:, hand]
            if np.isnan(row).any():
                held = "".join(card_name(card) for card in observations.hole[i].tolist())
                raise InputError(f"agent {self.name!r}: {held} is not in its range at {node.line or 'the root'}")
            choices.append([(m, p) for m, p in zip(self._moves(node.betting_node), row.tolist(), strict=True) if p > 0])
        return choices


def deal_holes(rng: np.random.Generator, hands: Array, first: Array, second: Array) -> Holes | None:
    """Deal two hands of a deck by the joint distribution of two ranges; None if no two can be dealt together."""
    pairs = first * compatible_weights(second) if len(hands) == len(HAND_CARDS) else first
    if pairs.sum() <= 0:
        return None
    first_hand = hands[rng.choice(len(hands), p=pairs / pairs.sum())]
    second = np.where(np.isin(hands, first_hand).any(axis=1), 0.0, second)
    if second.sum() <= 0:
        return None
    second_hand = hands[rng.choice(len(hands), p=second / second.sum())]
    return tuple(first_hand.tolist()), tuple(second_hand.tolist())
