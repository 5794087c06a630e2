"""One way to ask any strategy what is played at a public place: a line, and the board that lies there.

    ask(strategy, "cc/Ks/r")                           # a table of a small game, its public cards in the line
    ask(solution, "b94-c/8h")                          # a spot
    ask(blueprint, "cr300c/", "8c8d5c")                # a blueprint, on its own tree
    ask(agent, "cr317c/", "8c8d5c")                    # an agent, as it really plays

The answer says who acts, the moves, their probabilities for all hands as one array, and both ranges on the way there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from riverboat.cards.deck import FULL_DECK, Deck
from riverboat.cards.notation import Cards, parse_cards, show_cards
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.public_state import Places
from riverboat.games.holdem.rules import Rules
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.strategies.public_strategy import Answering, ranges
from riverboat.strategies.reports.blueprint import at_line
from riverboat.strategies.solution import Solution
from riverboat.strategies.tabular import Strategy
from riverboat.trees.public import PublicTree

Asked: TypeAlias = Strategy | Solution | BlueprintStrategy | Answering
HandNames: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Answer:
    """What a strategy does at one place. Hands are those of the game, in its order: `deck.hands` in hold'em.

    Rows of hands that cannot be held there are zeros, and so are their weights.
    """

    line: str
    board: tuple[int, ...]
    actor: int  # below 0 where nobody acts
    moves: tuple[str, ...]
    probabilities: Array  # float64 [hands of the actor, moves]
    ranges: tuple[
        Array, Array
    ]  # float64 [hands]: how often each is dealt to a player times the chance of its own moves
    hands: tuple[HandNames, HandNames]  # of each player

    def row(self, hand: str) -> dict[str, float]:
        """What is played with one hand."""
        if self.actor < 0:
            raise InputError(f"line {self.line!r}: nobody acts there")
        names = self.hands[self.actor]
        if hand not in names:
            raise InputError(f"hand {hand!r} at {self.line!r}: write it as {names[0]!r} … {names[-1]!r}")
        return dict(zip(self.moves, self.probabilities[names.index(hand)].tolist(), strict=True))

    @property
    def frequencies(self) -> dict[str, float]:
        """How often each move is played over the actor's range, whatever the other holds."""
        if self.actor < 0:
            return {}
        mine = self.ranges[self.actor]
        return dict(zip(self.moves, (mine @ self.probabilities / max(mine.sum(), 1e-300)).tolist(), strict=True))


def ask(strategy: Asked, line: str = "", board: Cards = (), *, rules: Rules | None = None) -> Answer:
    """What is played at one place. An agent that plays any game needs `rules`."""
    return ask_all(strategy, [line], [board], rules=rules)[0]


def ask_all(
    strategy: Asked, lines: Sequence[str], boards: Sequence[Cards] = (), *, rules: Rules | None = None
) -> list[Answer]:
    """The same for many places at once; `boards` may be left out where lines say them or none is dealt."""
    shown = [_cards(board) for board in boards] or [()] * len(lines)
    if len(shown) != len(lines):
        raise InputError(f"{len(lines)} lines, {len(shown)} boards: give one of each for every place")
    if isinstance(strategy, Strategy):
        return [_table(strategy, line, board) for line, board in zip(lines, shown, strict=True)]
    if isinstance(strategy, Solution):
        return [_spot(strategy, line, board) for line, board in zip(lines, shown, strict=True)]
    if isinstance(strategy, BlueprintStrategy):
        return [_blueprint(strategy, line, board) for line, board in zip(lines, shown, strict=True)]
    if isinstance(strategy, Answering):
        return _player(strategy, rules or rules_of(strategy), lines, shown)
    raise InputError(
        f"{type(strategy).__name__}: cannot be asked; a Strategy, a Solution, a BlueprintStrategy, or whoever has "
        "strategies(places)"
    )


def rules_of(player: Any) -> Rules:
    """The game that somebody plays, who is asked about it."""
    own = getattr(player, "rules", None)
    if not isinstance(own, Rules):
        raise InputError(f"{getattr(player, 'name', player)!r} plays any game: say which, with rules=")
    return own


def _cards(board: Cards) -> tuple[int, ...]:
    return parse_cards(board if isinstance(board, str) else show_cards(board), "board")


@lru_cache(maxsize=16)
def hand_names(deck: Deck) -> HandNames:
    """The hands of a deck as people write them, the higher card first."""
    return tuple(show_cards(hand[::-1]) for hand in deck.hands.tolist())


# --- four kinds ---------------------------------------------------------------------------------


def _table(strategy: Strategy, line: str, board: tuple[int, ...]) -> Answer:
    tree = strategy.tree
    if not isinstance(tree, PublicTree):
        raise InputError(f"{tree.name}: moves are not seen by all: ask for an information set by name, strategy[…]")
    if board:
        raise InputError(f"{tree.name}: board {show_cards(board)}: public cards stand in its lines")
    place, views = tree.node(line), tree.views(strategy.probabilities)
    reach = [np.array(weights, float) for weights in tree.deal.weights]
    here = 0
    while here != place:
        actor, width = int(tree.nodes.actor[here]), int(tree.nodes.width[here])
        below = list(tree.children(here))
        move = next(k for k, child in enumerate(below) if child <= place < tree.nodes.end[child])
        if actor >= 0:
            at = int(tree.nodes.data[here])
            reach[actor] *= views[actor][at : at + width][move]
        here = below[move]
    for player in (0, 1):
        reach[player] *= tree.live[player][tree.boards[place]]
    actor, at, width = (int(part[place]) for part in (tree.nodes.actor, tree.nodes.data, tree.nodes.width))
    rows, moves = np.zeros((0, 0)), tuple[str, ...]()
    if actor >= 0:
        rows, moves = (
            views[actor][at : at + width].T * tree.live[actor][tree.boards[place]][:, None],
            tree.labels(place),
        )
    names = tuple(map(str, tree.hands[0])), tuple(map(str, tree.hands[1]))
    return Answer(line, (), actor, moves, rows, (reach[0], reach[1]), names)


def _spot(solution: Solution, line: str, board: tuple[int, ...]) -> Answer:
    if board:
        raise InputError(f"{solution.tree.name}: board {show_cards(board)}: cards that are dealt stand in its lines")
    here = solution[line]
    actor = here.player
    rows = np.nan_to_num(here.strategy.T) if actor >= 0 else np.zeros((0, 0))
    names = hand_names(FULL_DECK)
    return Answer(line, here.board, actor, here.actions if actor >= 0 else (), rows, here.reach, (names, names))


def _blueprint(strategy: BlueprintStrategy, line: str, board: tuple[int, ...]) -> Answer:
    here = at_line(strategy, line, board)
    deck = strategy.rules.deck
    number = {frozenset(hand): h for h, hand in enumerate(deck.hands.tolist())}
    at = [number[frozenset(hand)] for hand in here.hands.tolist()]
    rows, reach = np.zeros((deck.hand_count, len(here.moves))), np.zeros((2, deck.hand_count))
    rows[at], reach[:, at] = here.played, here.reach
    names = hand_names(deck)
    return Answer(here.line, board, here.seat, here.moves, rows, (reach[0], reach[1]), (names, names))


def _player(player: Answering, rules: Rules, lines: Sequence[str], boards: list[tuple[int, ...]]) -> list[Answer]:
    places = Places.from_lines(rules, lines, boards)
    played, both, names = player.strategies(places), ranges(places, player), hand_names(rules.deck)
    answers = []
    for i, board in enumerate(boards):
        moves = played.labels(i)
        rows, reach = played.probabilities[i, :, : len(moves)], (both[i, 0], both[i, 1])
        answers.append(Answer(places.line(i), board, int(played.actor[i]), moves, rows, reach, (names, names)))
    return answers
