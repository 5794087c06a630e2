"""Decisions of agents in full hold'em games: sampled from self-play, or for all hands at one line.

    decisions = self_play_decisions(agent, rules, hands=2_000)         # rules for a whole strategy
    decisions = line_decisions(agent, rules, "cr300c/", boards)        # one decision on many flops

Decisions on one flop are held out together, so held-out fidelity is that on other flops.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from riverboat.agents.base import Agent, PolicyAgent
from riverboat.cards.grid import CLASS_OF_HAND
from riverboat.cards.notation import format_cards, format_hand
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, short_repr
from riverboat.explain.decisions import DecisionTable
from riverboat.explain.spot_decisions import range_columns, range_equities
from riverboat.games.holdem.actions import END_OF_LINE, FOLD, call_and_raise_bounds
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.observations import Observations
from riverboat.games.holdem.public_states import PublicStates
from riverboat.games.holdem.rules import PokerRules
from riverboat.strategies import rule_list
from riverboat.strategies.features import HOLDEM_FEATURES, RANGE_FEATURES, hand_features, situation_features
from riverboat.strategies.public_strategy import PublicPolicy, ranges
from riverboat.strategies.rule_list import RAISE, RuleAction

POT_SHARES = (0.33, 0.5, 0.75, 1.0, 1.5, 2.5)  # bets are rounded to the nearest of these shares of the pot


def _nearest_sizes(rules: PokerRules, states: Array, totals: Array) -> Array:
    """Round raises, given as totals, to the nearest of `POT_SHARES`; all-in is infinite, and limit raises are 0.

    int64 [n, FIELDS], int64 [n] -> float64 [n]
    """
    price, _, most = call_and_raise_bounds(rules, states).T
    spent = np.maximum(states[:, 0], states[:, 1])
    share = (totals - spent) / np.maximum(states[:, 0] + states[:, 1] + price, 1)
    log_shares = np.log(np.array(POT_SHARES))
    nearest = np.array(POT_SHARES)[np.abs(np.log(np.maximum(share, 1e-3))[:, None] - log_shares).argmin(axis=1)]
    if rules.limit:
        return np.zeros(len(totals))
    return np.where(totals >= most, inf, nearest)


def _tabulate_actions(rules: PokerRules, states: Array, actions: Array) -> tuple[tuple[RuleAction, ...], Array]:
    """Return the actions of a table, with rounded sizes, and the column of each given action.

    int64 [n, FIELDS], int64 [n] -> actions, int64 [n]
    """
    sizes, is_raise, column = _nearest_sizes(rules, states, actions), actions > 0, np.where(actions == FOLD, 0, 1)
    raises = np.unique(sizes[is_raise])
    column[is_raise] = 2 + np.searchsorted(raises, sizes[is_raise])
    moves = RuleAction(rule_list.FOLD), RuleAction(rule_list.CALL)
    return (*moves, *(RuleAction(RAISE, size) for size in raises.tolist())), column


# --- Self-play ---


def self_play_decisions(agent: Agent, rules: PokerRules, hands: int = 2_000, seed: int = 0) -> DecisionTable:
    """Collect the decisions of an agent in `hands` hands against itself, with its action probabilities.

    Parameters
    ----------
    agent
        Agent that has action probabilities.
    rules
        Game to play.
    hands
        Number of hands.
    seed
        Seed of cards and actions.

    Returns
    -------
    DecisionTable
        One row for each decision.

    Raises
    ------
    InputError
        If the agent gives no action probabilities.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> from riverboat.games.holdem.rules import read_game
    >>> decisions = self_play_decisions(make_agent("rule-based"), read_game("nolimit-200bb"), hands=20)
    >>> decisions.title
    'rule-based, 20 hands against itself'
    """
    if not isinstance(agent, PolicyAgent):
        raise InputError(f"agent {short_repr(agent.name)}: it gives no action probabilities, so it cannot be explained")
    agent.check_rules(rules)
    rng = np.random.default_rng(seed)
    cards = rng.permuted(np.tile(rules.deck.cards, (hands, 1)), axis=1)
    holes, boards = (cards[:, :2], cards[:, 2:4]), cards[:, 4:]
    states = [BettingState.start(rules).deal_due_streets() for _ in range(hands)]
    observations, choices = [], []
    while running := [k for k in range(hands) if states[k].actor >= 0]:
        shown_cards = [boards[k, : rules.board_sizes[states[k].street]].tolist() for k in running]
        hole_cards = [holes[states[k].turn][k].tolist() for k in running]
        batch = Observations.from_betting([states[k] for k in running], hole_cards, shown_cards, running)
        batch_choices = agent.probabilities(batch)
        observations.append(batch)
        choices += batch_choices
        draws = rng.uniform(size=len(running))
        for k, choice, u in zip(running, batch_choices, draws.tolist(), strict=True):
            at = int(np.searchsorted(np.cumsum([p for _, p in choice]), u, "right"))
            states[k] = states[k].play(choice[min(at, len(choice) - 1)][0])
    return _tabulate_choices(rules, observations, choices, f"{agent.name}, {hands:,} hands against itself")


def _tabulate_choices(
    rules: PokerRules, views: Sequence[Observations], choices: Sequence[Sequence[tuple[int, float]]], title: str
) -> DecisionTable:
    states = np.concatenate([batch.public_states.states for batch in views])
    hole, board = np.concatenate([batch.hole for batch in views]), np.concatenate([batch.board for batch in views])
    lines = [batch.line(i) for batch in views for i in range(len(batch))]
    columns = {f.name: np.zeros(len(states)) for f in HOLDEM_FEATURES} | situation_features(rules, states)
    count = np.array(rules.board_sizes)[states[:, 3]]
    for cards in np.unique(count).tolist():
        rows = np.flatnonzero(count == cards)
        for name, x in hand_features(hole[rows], board[rows, :cards]).items():
            columns[name][rows] = x
    flop = np.sort(board[:, :3].astype(np.int64), axis=1) @ np.array([52 * 52, 52, 1])
    hole = np.sort(hole.astype(np.int64), axis=1)
    hand_class = CLASS_OF_HAND[hole[:, 0] + hole[:, 1] * (hole[:, 1] - 1) // 2]
    group = np.where(count == 0, -1 - hand_class, flop)  # hand classes before the flop, flops afterwards
    labels = tuple(f"{format_cards(h[::-1])} at {line}" for h, line in zip(hole.tolist(), lines, strict=True))
    rows = np.repeat(np.arange(len(choices)), [len(choice) for choice in choices])
    move = np.array([m for choice in choices for m, _ in choice], np.int64)
    probability = np.array([p for choice in choices for _, p in choice])
    moves, column = _tabulate_actions(rules, states[rows], move)
    strategy = np.zeros((len(choices), len(moves)))
    np.add.at(strategy, (rows, column), probability)
    price, min_raise, max_raise = call_and_raise_bounds(rules, states).T
    legal = np.repeat((min_raise <= max_raise)[:, None], len(moves), axis=1)
    legal[:, 0], legal[:, 1] = price > 0, True
    legal |= strategy > 0
    strategy, weight = strategy / strategy.sum(axis=1, keepdims=True), np.full(len(choices), 1 / len(choices))
    decisions = DecisionTable(title, HOLDEM_FEATURES, columns, moves, legal, strategy, weight, labels, group)
    return decisions.drop_constant_features()


# --- All hands at one line ---


def line_decisions(
    player: PublicPolicy, rules: PokerRules, line: str, boards: Sequence[tuple[int, ...]]
) -> DecisionTable:
    """Tabulate the strategy of all hands at a line on several boards.

    Boards have equal weights, hands those of both ranges.

    Parameters
    ----------
    player
        Strategy for all hands.
    rules
        Game.
    line
        Betting line in ACPC notation, such as `cr300c/`.
    boards
        Board cards of each board, all of the street of the line.

    Returns
    -------
    DecisionTable
        One row for each hand and board.

    Raises
    ------
    InputError
        If no player acts at the line, or the strategy never plays it.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> from riverboat.games.holdem.rules import read_game
    >>> decisions = line_decisions(make_agent("rule-based"), read_game("nolimit-200bb"), "cr300c/", [(0, 5, 10)])
    >>> decisions.title
    'rule-based at cr300c/ on 2c3d4h'
    """
    public_states = PublicStates.from_lines(rules, [line] * len(boards), [format_cards(board) for board in boards])
    if public_states.actor[0] < 0:
        raise InputError(f"{rules.name}: no player acts at {short_repr(line)}, so there is nothing to explain")
    strategies, reach_probabilities = player.strategies(public_states), ranges(public_states, player)
    situation = situation_features(rules, public_states.states)
    seat, hands = int(public_states.actor[0]), rules.deck.hands
    where, choice = np.nonzero(strategies.moves != END_OF_LINE)
    actions = strategies.moves[where, choice].astype(np.int64)
    moves, column = _tabulate_actions(rules, public_states.states[where], actions)
    # Equities against the range are slow, so they are left out on several boards.
    ranged = len(boards) == 1 and len(boards[0]) >= 3
    features = (*HOLDEM_FEATURES, *(RANGE_FEATURES if ranged else ()))
    reach = reach_probabilities[:, seat]
    table, live = np.nonzero(reach > 1e-9)  # boards and hands
    if not len(live):
        raise InputError(
            f"{rules.name}: {short_repr(line)} is never reached: the agent never plays this line; use bet sizes of the agent"
        )
    columns = hand_features(hands[live], np.array(boards, np.uint8)[table])
    columns |= {name: x[table] for name, x in situation.items()}
    if ranged:
        opponent_reach = reach_probabilities[0, 1 - seat]
        columns |= range_columns(reach[0], opponent_reach, range_equities(reach[0], opponent_reach, boards[0]), live)
    rows, w = np.zeros((len(live), len(moves))), np.zeros(len(live))
    for i in range(len(boards)):
        on_board = np.flatnonzero(table == i)
        w[on_board] = reach[i, live[on_board]] / reach[i, live[on_board]].sum()
        for k in np.flatnonzero(where == i):
            rows[on_board, column[k]] += strategies.probabilities[i, live[on_board], choice[k]]
    group, names = CLASS_OF_HAND[live].astype(np.int64), tuple(map(format_hand, live.tolist()))
    if len(boards) > 1:
        shown_boards = [format_cards(boards[i]) for i in table.tolist()]
        group, names = table, tuple(f"{name} on {shown}" for name, shown in zip(names, shown_boards, strict=True))
    columns = {f.name: columns[f.name] for f in features}
    legal = np.ones(rows.shape, bool)
    legal[:, 0] = columns["facing"] > 0
    title = f"{getattr(player, 'name', 'strategy')} at {line or 'the first decision'}"
    title += f" on {format_cards(boards[0])}" if len(boards) == 1 and boards[0] else f" on {len(boards)} boards"
    strategy = rows / rows.sum(axis=1, keepdims=True)
    decisions = DecisionTable(title, features, columns, moves, legal, strategy, w / w.sum(), names, group)
    return decisions.drop_constant_features()
