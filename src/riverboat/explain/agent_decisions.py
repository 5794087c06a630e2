"""Decisions of agents in whole games of hold'em: as they come up when an agent plays itself, or with all hands at one line.

    decisions = played_decisions(agent, rules, hands=2_000)            # rules for everything: an agent of its own
    decisions = line_decisions(agent, rules, "cr300c/", boards)        # one decision on many flops

What is held out together are decisions on one flop, so that fidelity is that on other flops.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from riverboat.agents.base import Agent, Chooser
from riverboat.cards.grid import CLASS_OF_HAND
from riverboat.cards.notation import show_cards, show_hand
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, shown
from riverboat.explain.decisions import Decisions
from riverboat.explain.range_features import equities, range_columns
from riverboat.games.holdem.actions import CALL, END, FOLD, play_move
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.betting_batch import spans
from riverboat.games.holdem.match_state import settled
from riverboat.games.holdem.observation import Views
from riverboat.games.holdem.public_state import Places
from riverboat.games.holdem.rules import Rules
from riverboat.strategies import rule_list
from riverboat.strategies.features import HOLDEM, RANGE, hand_columns, situation_columns
from riverboat.strategies.public_strategy import Answering, ranges
from riverboat.strategies.rule_list import RAISE, Feature, Move

SIZES = (0.33, 0.5, 0.75, 1.0, 1.5, 2.5)  # of the pot, that real bets are told as
MOST_STEPS = 200  # of a hand


def _vocabulary(taken: Sequence[float]) -> tuple[Move, ...]:
    """Fold, call, and the sizes that are played."""
    raises = [Move(RAISE, size) for size in sorted(set(taken))]
    return (Move(rule_list.FOLD), Move(rule_list.CALL), *raises)


def _sizes(rules: Rules, states: Array, totals: Array) -> Array:
    """Raises to totals as sizes that people know; all-in is infinite. int64 [n, FIELDS], int64 [n] -> float64 [n]"""
    price, _, most = spans(rules, states).T
    spent = np.maximum(states[:, 0], states[:, 1])
    share = (totals - spent) / np.maximum(states[:, 0] + states[:, 1] + price, 1)
    known = np.log(np.array(SIZES))
    near = np.array(SIZES)[np.abs(np.log(np.maximum(share, 1e-3))[:, None] - known).argmin(axis=1)]
    if rules.limit:
        return np.zeros(len(totals))
    return np.where(totals >= most, inf, near)


# --- as they come up --------------------------------------------------------------------------------


def played_decisions(agent: Agent, rules: Rules, hands: int = 2_000, seed: int = 0) -> Decisions:
    """Decisions of so many hands of an agent against itself, each with what it draws from there."""
    if not isinstance(agent, Chooser):
        raise InputError(
            f"agent {shown(agent.name)}: it does not say what its moves are drawn from, so it cannot be explained"
        )
    agent.check_rules(rules)
    rng = np.random.default_rng(seed)
    cards = rng.permuted(np.tile(rules.deck.cards, (hands, 1)), axis=1)
    holes, boards = (cards[:, :2], cards[:, 2:4]), cards[:, 4:]
    states = [settled(Betting.start(rules)) for _ in range(hands)]
    views, choices = [], []
    for _ in range(MOST_STEPS):
        going = [k for k in range(hands) if states[k].actor >= 0]
        if not going:
            break
        shown_cards = [boards[k, : rules.board_sizes[states[k].street]].tolist() for k in going]
        own = [holes[states[k].turn][k].tolist() for k in going]
        some = Views.of([states[k] for k in going], own, shown_cards, going)
        chosen = agent.probabilities(some)
        views.append(some)
        choices += chosen
        left = rng.uniform(size=len(going))
        for k, choice, u in zip(going, chosen, left.tolist(), strict=True):
            at = int(np.searchsorted(np.cumsum([p for _, p in choice]), u, "right"))
            states[k] = play_move(states[k], choice[min(at, len(choice) - 1)][0])
    return _told(rules, views, choices, f"{agent.name}, {hands:,} hands against itself")


def _told(
    rules: Rules, views: Sequence[Views], choices: Sequence[Sequence[tuple[int, float]]], title: str
) -> Decisions:
    parts = []
    for some in views:
        states = some.places.states
        columns = situation_columns(rules, states)
        count = np.array(rules.board_sizes)[states[:, 3]]
        hands = {f.name: np.zeros(len(some)) for f in HOLDEM if f.name not in columns}
        for cards in np.unique(count).tolist():
            rows = np.flatnonzero(count == cards)
            for name, x in hand_columns(some.hole[rows], some.board[rows, :cards]).items():
                hands[name][rows] = x
        flop = np.sort(some.board[:, :3].astype(np.int64), axis=1) @ np.array([52 * 52, 52, 1])
        hole = np.sort(some.hole.astype(np.int64), axis=1)
        own = CLASS_OF_HAND[hole[:, 0] + hole[:, 1] * (hole[:, 1] - 1) // 2]
        group = np.where(count == 0, -1 - own, flop)  # before the flop, by class
        names = [f"{show_cards(h[::-1])} at {some.line(i)}" for i, h in enumerate(hole.tolist())]
        parts.append((columns | hands, states, group, names))
    states = np.concatenate([part[1] for part in parts])
    rows = np.repeat(np.arange(len(choices)), [len(choice) for choice in choices])
    move = np.array([m for choice in choices for m, _ in choice], np.int64)
    chance = np.array([p for choice in choices for _, p in choice])
    sizes = _sizes(rules, states[rows], move)
    moves = _vocabulary(sizes[move > 0].tolist())
    place = {m.size: k for k, m in enumerate(moves) if m.kind == RAISE}
    column = np.where(move == FOLD, 0, 1)
    column[move > 0] = [place[size] for size in sizes[move > 0].tolist()]
    played = np.zeros((len(choices), len(moves)))
    np.add.at(played, (rows, column), chance)
    price, least, most = spans(rules, states).T
    possible = np.concatenate([(price > 0)[:, None], np.ones((len(states), 1), bool)], axis=1)
    raises = np.tile((least <= most)[:, None], (1, len(moves) - 2))
    possible = np.concatenate([possible, raises], axis=1) | (played > 0)
    columns = {f.name: np.concatenate([part[0][f.name] for part in parts]) for f in HOLDEM}
    n = len(choices)
    return Decisions(
        title, _useful(columns), columns, moves, possible, played / played.sum(axis=1, keepdims=True), np.full(n, 1 / n),
        tuple(name for part in parts for name in part[3]), np.concatenate([part[2] for part in parts]),
    )  # fmt: skip


def _useful(columns: dict[str, Array]) -> tuple[Feature, ...]:
    return tuple(f for f in (*HOLDEM, *RANGE) if f.name in columns and np.ptp(columns[f.name]) > 0)


# --- at one line --------------------------------------------------------------------------------------


def line_decisions(player: Answering, rules: Rules, line: str, boards: Sequence[tuple[int, ...]]) -> Decisions:
    """What is played with all hands at a line, on some boards; boards weigh alike, hands by both ranges."""
    places = Places.from_lines(rules, [line] * len(boards), [show_cards(board) for board in boards])
    if places.actor[0] < 0:
        raise InputError(f"{rules.name}: nobody acts at {shown(line)}, so there is nothing to explain")
    answers, both = player.strategies(places), ranges(places, player)
    situation = situation_columns(rules, places.states)
    seat, hands = int(places.actor[0]), rules.deck.hands
    order = answers.moves[0][answers.moves[0] != END]
    sizes = _sizes(rules, np.repeat(places.states[:1], len(order), axis=0), order.astype(np.int64))
    moves = _vocabulary(sizes[order > 0].tolist())
    at = {m: k for k, m in enumerate(moves)}
    # Equities against the range take a moment, so many boards do without.
    ranged = len(boards) == 1 and len(boards[0]) >= 3
    columns: dict[str, list[Array]] = {f.name: [] for f in (*HOLDEM, *(RANGE if ranged else ()))}
    played, weight, names, group = [], [], [], []
    for i, board in enumerate(boards):
        reach = both[i, seat]
        here = np.flatnonzero(reach > 1e-9)
        if not len(here):
            continue
        shown_board = np.broadcast_to(np.array(board, np.uint8), (len(here), len(board)))
        seen = hand_columns(hands[here], shown_board) | {
            name: np.full(len(here), x[i]) for name, x in situation.items()
        }
        if ranged:
            theirs = both[i, 1 - seat]
            seen |= range_columns(reach, theirs, equities(reach, theirs, board), here)
        for name, x in seen.items():
            columns[name].append(x)
        rows = np.zeros((len(here), len(moves)))
        for k, move in enumerate(answers.moves[i].tolist()):
            if move != END:
                size = Move(RAISE, float(_sizes(rules, places.states[i : i + 1], np.array([move]))[0]))
                column = 0 if move == FOLD else 1 if move == CALL else at[size]
                rows[:, column] += answers.probabilities[i, here, k]
        played.append(rows)
        weight.append(reach[here] / reach[here].sum())
        where = f" on {show_cards(board)}" if len(boards) > 1 else ""
        names += [f"{show_hand(h)}{where}" for h in here.tolist()]
        alike = CLASS_OF_HAND[here].astype(np.int64) if len(boards) == 1 else np.full(len(here), i)
        group.append(alike)
    if not played:
        raise InputError(
            f"{rules.name}: nobody gets to {shown(line)}: the agent never plays so; write sizes that it bets itself"
        )
    together = {name: np.concatenate(parts) for name, parts in columns.items()}
    rows, w = np.concatenate(played), np.concatenate(weight)
    possible = np.ones(rows.shape, bool)
    possible[:, 0] = together["facing"] > 0
    title = f"{getattr(player, 'name', 'strategy')} at {line or 'the first decision'}"
    title += f" on {show_cards(boards[0])}" if len(boards) == 1 and boards[0] else f" on {len(boards)} boards"
    return Decisions(
        title, _useful(together), together, moves, possible, rows / rows.sum(axis=1, keepdims=True), w / w.sum(),
        tuple(names), np.concatenate(group),
    )  # fmt: skip
