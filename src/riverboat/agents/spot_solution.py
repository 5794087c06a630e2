"""A solved spot as a player of its subgame.

    agent = SolutionAgent(load("runs/spot"))
    agent.start, agent.deal(rng)           # where its hands begin, and cards from its ranges

Hands begin at the root of the spot, with its pot, its stacks and its ranges, and go on in its tree: what the tree does not
have cannot be played there. Totals of raises count from the street of the root on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from riverboat.agents.base import Choice, refuse_rules
from riverboat.cards.card_removal import without_shared
from riverboat.cards.deck import HAND_CARDS, card_name, hand_index
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, shown
from riverboat.games.base import CHANCE
from riverboat.games.holdem.action_labels import ACPC, STREET
from riverboat.games.holdem.actions import show_move
from riverboat.games.holdem.betting import Betting, steps
from riverboat.games.holdem.observation import Views
from riverboat.games.holdem.rules import Rules
from riverboat.games.spots.spot import Spot
from riverboat.strategies.policy import drawn
from riverboat.strategies.solution import Solution, Spotlight


@dataclass(frozen=True, eq=False)
class SolutionAgent:
    """Plays the strategy of a spot, in either seat."""

    solution: Solution
    name: str = "solution"
    seed: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.solution.tree.game, Spot) or self.solution.tree.game.gadget is not None:
            raise InputError(f"agent {self.name!r}: holds a solution of {self.solution.tree.name}, which is no spot")

    def __repr__(self) -> str:
        return f"<SolutionAgent {self.name}: {self.solution!r}>"

    @property
    def spot(self) -> Spot:
        """What was solved."""
        game = self.solution.tree.game
        assert isinstance(game, Spot)
        return game

    @cached_property
    def rules(self) -> Rules:
        """Of the subgame: hands begin with the street of the spot."""
        return replace(self.spot.rules, begins=len(self.spot.board) - 2)

    @cached_property
    def start(self) -> Betting:
        """Where hands begin."""
        state = Betting.start(self.rules)
        for label in self.spot.played.split(STREET.joiner) if self.spot.played else ():
            move = STREET.read(self.rules.book, state.at, label)
            assert move is not None  # the spot has played it
            state = state.move(show_move(move, self.rules))
        return state

    def check_rules(self, rules: Rules) -> None:
        """Only its own subgame."""
        refuse_rules(self.name, self.rules, rules)

    # --- cards ----------------------------------------------------------------------------------

    def deal(self, rng: np.random.Generator) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Cards of seat 0, of seat 1 and the whole board: hands as often as the ranges have them together."""
        first, second = self.spot.weights
        mine = _drawn(rng, first * without_shared(second))
        theirs = _drawn(rng, np.where(np.isin(HAND_CARDS, HAND_CARDS[mine]).any(axis=1), 0.0, second))
        holes = [tuple(HAND_CARDS[hand].tolist()) for hand in (mine, theirs)]
        left = np.setdiff1d(self.spot.deck.cards, [*self.spot.board, *holes[0], *holes[1]])
        more = rng.permutation(left)[: self.rules.board_sizes[-1] - len(self.spot.board)].tolist()
        return holes[0], holes[1], (*self.spot.board, *more)

    # --- places ---------------------------------------------------------------------------------

    def line(self, state: Betting, board: Sequence[int]) -> str:
        """A state of a table as the solution writes it: `b120-c/8h`; refused where the tree does not lead there."""
        now, parts = Betting.start(self.rules), [""]
        for label in steps(state.line):
            if label == "/":
                cards = self.rules.board_sizes[now.street : now.street + 2]
                now = now.next_street()
                parts.append("".join(card_name(card) for card in board[cards[0] : cards[1]]))
                continue
            move = ACPC.read(self.rules.book, now.at, label)
            written = None if move is None else STREET.write(self.rules.book, now.at, move)
            parts[-1] = f"{parts[-1]}-{written}".removeprefix("-")
            now = now.play(label)
        before = self.spot.played
        if not (parts[0] + "-").startswith(before + "-" if before else ""):
            raise InputError(f"line {shown(state.line)}: the spot begins after {shown(before)}")
        parts[0] = parts[0].removeprefix(before).removeprefix("-")
        return "/".join(parts)

    def behind(self, line: str) -> tuple[Betting, tuple[int, ...]]:
        """The state of a table at a line of the solution, `b120-c/8h`, and its board."""
        state, here = self.start, self.solution[line]
        for number, part in enumerate(line.split("/")):
            labels = part.split(STREET.joiner) if part else []
            if number:
                state, labels = state.next_street(), labels[1:]  # the cards stand first
            for label in labels:
                move = STREET.read(self.rules.book, state.at, label)
                assert move is not None  # the solution has this line
                state = state.play(show_move(move, self.rules))
        return state, here.board

    def node(self, state: Betting, board: Sequence[int]) -> Spotlight:
        """The solution at a state of a table, which the board says the cards of."""
        shown_cards = tuple(int(card) for card in board[: self.rules.board_sizes[state.street]])
        if shown_cards[: len(self.spot.board)] != self.spot.board:
            raise InputError(f"agent {self.name!r}: its spot has another board")
        return self.solution[self.line(state, shown_cards)]

    def menu(self, state: Betting, board: Sequence[int]) -> tuple[str, ...]:
        """What can be played at a state, as tables write moves: the moves of the tree."""
        if state.actor < 0 or state.actor == CHANCE:
            return ()
        moves = [STREET.read(self.rules.book, state.at, label) for label in self.node(state, board).actions]
        return tuple(show_move(move, self.rules) for move in moves if move is not None)

    # --- tables ---------------------------------------------------------------------------------

    def act(self, views: Views) -> Array:
        """Moves. int32 [n]"""
        choices = self.probabilities(views)
        columns = max(map(len, choices))
        rows, moves = np.zeros((len(views), columns)), np.zeros((len(views), columns), np.int32)
        for i, choice in enumerate(choices):
            moves[i, : len(choice)], rows[i, : len(choice)] = zip(*choice, strict=True)
        return drawn(self.seed, views, rows, moves)

    def probabilities(self, views: Views) -> list[Choice]:
        """Moves and their probabilities."""
        self.check_rules(views.rules)
        choices = []
        for i in range(len(views)):
            state = views.betting(i)
            here, hand = self.node(state, views.board[i].tolist()), hand_index(*views.hole[i].tolist())
            row = here.strategy[:, hand]
            if np.isnan(row).any():
                held = "".join(card_name(card) for card in views.hole[i].tolist())
                raise InputError(f"agent {self.name!r}: {held} is not in its range at {here.line or 'the root'}")
            moves = [STREET.read(self.rules.book, state.at, label) for label in here.actions]
            choices.append([(m, float(p)) for m, p in zip(moves, row.tolist(), strict=True) if m is not None and p > 0])
        return choices


def _drawn(rng: np.random.Generator, weights: Array) -> int:
    """A hand, as often as it weighs."""
    return int(rng.choice(len(weights), p=weights / weights.sum()))
