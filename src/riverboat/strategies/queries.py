"""Query the strategy at a public state, by line and board, for every kind of strategy.

    ask(strategy, "cc/Ks/r")                           # a tabular strategy; public cards are part of the line
    ask(solution, "b94-c/8h")                          # a spot
    ask(blueprint, "cr300c/", "8c8d5c")                # a blueprint, on its own tree
    ask(agent, "cr317c/", "8c8d5c")                    # an agent, as it plays in the full game

The result has the actor, the actions, their probabilities for all hands as one array, and both players' ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from riverboat.cards.deck import FULL_DECK, Deck
from riverboat.cards.notation import Cards, format_cards, parse_cards
from riverboat.core.arguments import checked
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.public_states import PublicStates
from riverboat.games.holdem.rules import PokerRules
from riverboat.strategies.blueprint import Blueprint
from riverboat.strategies.mapping import unwrap
from riverboat.strategies.public_strategy import PublicPolicy, ranges
from riverboat.strategies.reports.blueprint import node_at_line
from riverboat.strategies.solution import Solution
from riverboat.strategies.tabular import Strategy
from riverboat.trees.public import PublicTree

Queryable: TypeAlias = Strategy | Solution | Blueprint | PublicPolicy
HandNames: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class StrategyQueryResult:
    """Strategy at one public state. Hands are those of the game, in its order: `deck.hands` in hold'em.

    Rows and weights of blocked hands are zero.

    Attributes
    ----------
    line
        Line to the public state.
    board
        Board cards.
    actor
        Negative if nobody acts.
    moves
        Labels of the actions.
    probabilities
        float64 [hands of the actor, actions]
    ranges
        float64 [hands]: deal probability times the probability of the player's own actions.
    hands
        Names of each player's hands.

    Examples
    --------
    >>> import riverboat as rb
    >>> result = ask(rb.solve("kuhn", iterations=5).strategy, "cr")
    >>> result.actor, result.moves
    (0, ('f', 'c'))
    """

    line: str
    board: tuple[int, ...]
    actor: int  # negative if nobody acts
    moves: tuple[str, ...]
    probabilities: Array  # float64 [hands of the actor, actions]
    ranges: tuple[Array, Array]  # float64 [hands]: deal probability times the probability of the player's own actions
    hands: tuple[HandNames, HandNames]  # names of each player's hands

    def row(self, hand: str) -> dict[str, float]:
        """Return the action probabilities of one hand.

        Parameters
        ----------
        hand
            Name of the hand, such as `K` or `AsKh`.
        """
        if self.actor < 0:
            raise InputError(f"line {self.line!r}: nobody acts")
        names = self.hands[self.actor]
        if hand not in names:
            raise InputError(f"hand {hand!r} at {self.line!r}: write it as {names[0]!r} … {names[-1]!r}")
        return dict(zip(self.moves, self.probabilities[names.index(hand)].tolist(), strict=True))

    @property
    def frequencies(self) -> dict[str, float]:
        """Frequency of each action over the actor's range, ignoring card removal."""
        if self.actor < 0:
            return {}
        weights = self.ranges[self.actor]
        return dict(zip(self.moves, (weights @ self.probabilities / max(weights.sum(), 1e-300)).tolist(), strict=True))


@checked
def ask(
    strategy: Queryable | Any, line: str = "", board: Cards = (), *, rules: PokerRules | None = None
) -> StrategyQueryResult:
    """Return the strategy at one public state.

    Parameters
    ----------
    strategy
        A tabular strategy, a solution, a blueprint, an agent, or a result that has one of them.
    line
        Line to the public state, in the notation of the game.
    board
        Board cards, for blueprints and agents; other lines contain the cards.
    rules
        Game of an agent that plays any game.

    Returns
    -------
    StrategyQueryResult
        Actor, actions, probabilities of all hands, and both players' ranges.

    Raises
    ------
    InputError
        If the game has no such line or board.

    Examples
    --------
    >>> import riverboat as rb
    >>> ask(rb.solve("kuhn", iterations=5).strategy, "r").moves
    ('f', 'c')
    """
    return ask_all(strategy, [line], [board], rules=rules)[0]


@checked
def ask_all(
    strategy: Queryable | Any, lines: Sequence[str], boards: Sequence[Cards] = (), *, rules: PokerRules | None = None
) -> list[StrategyQueryResult]:
    """Return the strategies at many public states.

    Parameters
    ----------
    strategy
        A tabular strategy, a solution, a blueprint, an agent, or a result that has one of them.
    lines
        One line for each public state.
    boards
        One board for each line; empty if lines contain the cards or none are dealt.
    rules
        Game of an agent that plays any game.

    Returns
    -------
    list of StrategyQueryResult
        One result for each line, in order.

    Raises
    ------
    InputError
        If the game has no such line or board, or there are more or fewer boards than lines.

    Examples
    --------
    >>> import riverboat as rb
    >>> [result.actor for result in ask_all(rb.solve("kuhn", iterations=5).strategy, ["", "c", "cr"])]
    [0, 1, 0]
    """
    strategy = unwrap(strategy)
    parsed = [parse_cards(b if isinstance(b, str) else format_cards(b), "board") for b in boards] or [()] * len(lines)
    if len(parsed) != len(lines):
        raise InputError(f"{len(lines)} lines, {len(parsed)} boards: give one board for each line")
    for kind, query in _QUERIES.items():
        if isinstance(strategy, kind):
            return [query(strategy, line, board) for line, board in zip(lines, parsed, strict=True)]
    if isinstance(strategy, PublicPolicy):
        return _query_policy(strategy, rules or rules_of(strategy), lines, parsed)
    raise InputError(
        f"{type(strategy).__name__}: cannot be queried; give a Strategy, a Solution, a Blueprint, or an agent with "
        "strategies(public_states)"
    )


def rules_of(player: Any) -> PokerRules:
    """Return the rules of the game that a player is made for; raise `InputError` if it plays any game.

    Parameters
    ----------
    player
        Blueprint, policy or agent.

    Returns
    -------
    PokerRules
        The rules of the game that a player is made for.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> rules_of(make_agent("default")).name
    'nolimit-200bb'
    """
    own = getattr(player, "rules", None)
    if not isinstance(own, PokerRules):
        raise InputError(f"{getattr(player, 'name', player)!r} plays any game: choose one with rules=")
    return own


@lru_cache(maxsize=16)
def hand_names(deck: Deck) -> HandNames:
    """Return the names of a deck's hands, the higher card first.

    Parameters
    ----------
    deck
        The deck.

    Returns
    -------
    HandNames
        The names of a deck's hands, the higher card first.

    Examples
    --------
    >>> from riverboat.cards.deck import Deck
    >>> len(hand_names(Deck()))
    1326
    """
    return tuple(format_cards(hand[::-1]) for hand in deck.hands.tolist())


# --- kinds of strategies ------------------------------------------------------------------------


def _query_tabular(strategy: Strategy, line: str, board: tuple[int, ...]) -> StrategyQueryResult:
    tree = strategy.tree
    if not isinstance(tree, PublicTree):
        raise InputError(f"{tree.name}: actions are not public: query an information set by name, strategy[…]")
    if board:
        raise InputError(f"{tree.name}: board {format_cards(board)}: public cards belong in the line")
    node = tree.node(line)
    actor, row, width = (int(part[node]) for part in (tree.nodes.actor, tree.nodes.data, tree.nodes.width))
    rows, moves = np.zeros((0, 0)), tuple[str, ...]()
    if actor >= 0:
        possible = tree.possible_hands[actor][tree.board_of_node[node]]
        rows = tree.player_tables(strategy.probabilities)[actor][row : row + width].T * possible[:, None]
        moves = tree.labels(node)
    names = tuple(map(str, tree.hands[0])), tuple(map(str, tree.hands[1]))
    return StrategyQueryResult(line, (), actor, moves, rows, tabular_ranges(strategy, node), names)


def tabular_ranges(strategy: Strategy, node: int) -> tuple[Array, Array]:
    """Return both players' ranges at a node of a public tree: deal weight × own reach, zero for impossible hands.

    Parameters
    ----------
    strategy
        Strategy profile of a game with public actions.
    node
        Index of the node in the tree, 0 for the root.

    Returns
    -------
    tuple[Array, Array]
        Weights of both players' hands, float64 [hands] each.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.trees.compile import compile_game
    >>> tabular_ranges(Strategy.uniform(compile_game(kuhn())), 0)[0]
    array([1., 1., 1.])
    """
    tree = strategy.tree
    assert isinstance(tree, PublicTree)
    reach, tables = [np.array(w, float) for w in tree.deal.weights], tree.player_tables(strategy.probabilities)
    for ancestor, k in tree.path(node):
        actor = int(tree.nodes.actor[ancestor])
        if actor >= 0:
            reach[actor] *= tables[actor][int(tree.nodes.data[ancestor]) + k]
    first, second = (np.where(tree.possible_hands[p][tree.board_of_node[node]], reach[p], 0.0) for p in (0, 1))
    return first, second


def _query_solution(solution: Solution, line: str, board: tuple[int, ...]) -> StrategyQueryResult:
    if board:
        raise InputError(f"{solution.tree.name}: board {format_cards(board)}: dealt cards belong in the line")
    node = solution[line]
    rows = np.nan_to_num(node.strategy.T) if node.player >= 0 else np.zeros((0, 0))
    names = hand_names(FULL_DECK)
    return StrategyQueryResult(line, node.board, node.player, node.actions, rows, node.reach, (names, names))


def _query_blueprint(strategy: Blueprint, line: str, board: tuple[int, ...]) -> StrategyQueryResult:
    node = node_at_line(strategy, line, board)
    deck = strategy.rules.deck
    indices = deck.hand_indices(node.hands)
    rows, reach = np.zeros((deck.num_hands, len(node.moves))), np.zeros((2, deck.num_hands))
    rows[indices], reach[:, indices] = node.action_probabilities, node.reach
    names = hand_names(deck)
    return StrategyQueryResult(node.line, board, node.seat, node.moves, rows, (reach[0], reach[1]), (names, names))


_QUERIES: dict[type, Callable[[Any, str, tuple[int, ...]], StrategyQueryResult]] = {
    Strategy: _query_tabular,
    Solution: _query_solution,
    Blueprint: _query_blueprint,
}


def _query_policy(
    player: PublicPolicy, rules: PokerRules, lines: Sequence[str], boards: list[tuple[int, ...]]
) -> list[StrategyQueryResult]:
    public_states = PublicStates.from_lines(rules, lines, boards)
    strategies, both_ranges = player.strategies(public_states), ranges(public_states, player)
    names, results = hand_names(rules.deck), []
    for i, board in enumerate(boards):
        moves = strategies.labels(i)
        rows, reach = strategies.probabilities[i, :, : len(moves)], (both_ranges[i, 0], both_ranges[i, 1])
        line, actor = public_states.line(i), int(strategies.actor[i])
        results.append(StrategyQueryResult(line, board, actor, moves, rows, reach, (names, names)))
    return results
