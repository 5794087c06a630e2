"""Decisions of small games: one row for each information set, with features that players of such a game use."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.explain.decisions import Cost, Decisions
from riverboat.games.base import CHANCE
from riverboat.games.small.poker import OneCardPoker, card_names
from riverboat.solvers.tabular.best_response import quality
from riverboat.strategies.rule_list import (
    BOARD,
    CALL,
    CHOICE,
    FLAG,
    FOLD,
    HAND,
    LEVEL,
    NUMBER,
    OTHER,
    RAISE,
    SITUATION,
    Feature,
    Move,
)
from riverboat.strategies.tabular import Strategy
from riverboat.trees.public import PublicTree


class _Way(NamedTuple):
    """What lies behind a node."""

    moves: tuple[tuple[int, str], ...] = ()  # of this round: who, what
    board: tuple[str, ...] = ()
    before: tuple[tuple[int, str], ...] = ()  # of the round before


def small_decisions(strategy: Strategy, player: int, line: str | None = None) -> Decisions:
    """What a player does at all its information sets, or at those of one line."""
    tree = strategy.tree
    if not 0 <= player < tree.players:
        raise InputError(f"player {player}: {tree.name} has players 0 to {tree.players - 1}")
    if isinstance(tree, PublicTree):
        return _public(strategy, tree, player, line)
    if line is not None:
        raise InputError(f"line {line!r}: in {tree.name} moves are not seen by all; leave it out")
    return _history(strategy, player)


def _public(strategy: Strategy, tree: PublicTree, player: int, line: str | None) -> Decisions:
    game = tree.game
    poker = isinstance(game, OneCardPoker)
    ways, reach = _walk(tree, strategy, strategy)
    other = Strategy.uniform(tree)
    _, tries = _walk(tree, *((strategy, other) if player == 0 else (other, strategy)))
    nodes = [node for node, at in tree.lines() if tree.nodes.actor[node] == player and line in (None, at)]
    if not nodes:
        where = "anywhere" if line is None else f"at {line!r}"
        raise InputError(f"{tree.name}: player {player} does not act {where}")
    labels = tuple(dict.fromkeys(label for node in nodes for label in tree.labels(node)))
    moves = tuple(_move(label, poker) for label in labels)
    hands, views = tree.hands[player], tree.views(strategy.probabilities)[player]
    lines = dict(tree.lines())
    names: list[str] = []
    possible, played, weight, anywhere, rows = [], [], [], [], []
    for node in nodes:
        live = np.flatnonzero(tree.live[player][tree.boards[node]])
        at, width = int(tree.nodes.data[node]), int(tree.nodes.width[node])
        here = [labels.index(label) for label in tree.labels(node)]
        table = np.zeros((len(live), len(labels)))
        table[:, here] = views[at : at + width, live].T
        able = np.zeros(table.shape, bool)
        able[:, here] = True
        possible.append(able)
        played.append(table)
        weight.append(reach[node][live])
        anywhere.append(tries[node][live])
        names += [f"{hands[h]}:{lines[node]}" for h in live.tolist()]
        rows += [(hands[h], ways[node]) for h in live.tolist()]
    if poker:
        assert isinstance(game, OneCardPoker)
        features, columns = _poker_columns(game, player, rows)
    else:
        features, columns = _plain_columns(rows)
    able, w = np.concatenate(possible), np.concatenate(weight)
    # A set that is never reached has no weight; where none is, all count alike.
    w = w / w.sum() if w.sum() > 0 else np.full(len(w), 1 / len(w))
    # Opponents go where the strategy does not take them, so rules are learned by those who try everything as well.
    tried = np.concatenate(anywhere)
    emphasis = w / 2 + tried / max(tried.sum(), 1e-300) / 2
    title = f"{tree.name}, player {player}" + ("" if line is None else f" at {line or 'the first decision'}")
    group = np.unique([f"{_rank(hand)}{way}" for hand, way in rows], return_inverse=True)[1]
    keep = [k for k, f in enumerate(features) if np.ptp(columns[f.name]) > 0]
    return Decisions(
        title,
        tuple(features[k] for k in keep),
        {features[k].name: columns[features[k].name] for k in keep},
        moves,
        able,
        np.concatenate(played),
        w,
        tuple(names),
        group,
        unit=tree.unit,
        emphasis=emphasis,
    )


def _rank(hand: str) -> str:
    return hand[:-1] if len(hand) > 1 else hand


def _move(label: str, poker: bool) -> Move:
    if not poker:
        return Move(OTHER, 0.0, label)
    if label in ("f", "c"):
        return Move(FOLD if label == "f" else CALL)
    # Of no-limit games every size is a move of its own, ordered by its total.
    return Move(RAISE) if label == "r" else Move(RAISE, float(label[1:]))


def _walk(tree: PublicTree, first: Strategy, second: Strategy) -> tuple[dict[int, _Way], dict[int, Array]]:
    """What lies behind every decision, and how often its player comes there with each hand when these two play."""
    joint = tree.deal.joint()
    views = tree.views(first.probabilities)[0], tree.views(second.probabilities)[1]
    every = (np.ones(joint.shape[0]), np.ones(joint.shape[1]))
    ways, reach = {}, {}
    work: list[tuple[int, _Way, tuple[Array, Array], float]] = [(0, _Way(), every, 1.0)]
    while work:
        node, way, own, chance = work.pop()
        actor, labels = int(tree.nodes.actor[node]), tree.labels(node)
        if actor >= 0:
            ways[node] = way
            met = joint @ own[1] if actor == 0 else own[0] @ joint
            reach[node] = chance * own[actor] * met
        at = int(tree.nodes.data[node])
        for k, (child, label) in enumerate(zip(tree.children(node), labels, strict=True)):
            if actor == CHANCE:
                outcome = tree.layout.chances[tree.layout.index[node]][k]
                left = [x.copy() for x in own]
                for p in (0, 1):
                    left[p][list(outcome.dead[p])] = 0.0
                new = _Way((), (*way.board, label), way.moves)
                work.append((child, new, (left[0], left[1]), chance * outcome.weight))
            else:
                after = list(own)
                after[actor] = own[actor] * views[actor][at + k]
                new = way._replace(moves=(*way.moves, (actor, label)))
                work.append((child, new, (after[0], after[1]), chance))
    return ways, reach


# --- features ---------------------------------------------------------------------------------------


def _poker_columns(
    game: OneCardPoker, player: int, rows: list[tuple[str, _Way]]
) -> tuple[list[Feature], dict[str, Array]]:
    ranks = card_names(game.ranks, 1)
    level = {rank: float(k) for k, rank in enumerate(ranks)}

    def rank_of(card: str) -> float:
        return level[card if game.suits == 1 else card[:-1]]

    def raises(moves: tuple[tuple[int, str], ...]) -> list[int]:
        return [who for who, label in moves if label.startswith("r")]

    def public(way: _Way) -> float:
        return rank_of(way.board[-1].strip("/")) if way.board else -1.0

    features: dict[str, tuple[Feature, Callable[[str, _Way], float]]] = {
        f.name: (f, column)
        for f, column in (
            (Feature("card", LEVEL, HAND, ranks), lambda h, w: rank_of(h)),
            (Feature("pair", FLAG, HAND, (), "a pair", "no pair"), lambda h, w: float(rank_of(h) == public(w))),
            (
                Feature("facing", FLAG, SITUATION, (), "facing a bet", "when you may check"),
                lambda h, w: float(bool(raises(w.moves)) and raises(w.moves)[-1] != player),
            ),
            (
                Feature("reraised", FLAG, SITUATION, (), "facing a raise", "not facing a raise"),
                lambda h, w: float(len(raises(w.moves)) >= 2),
            ),
            (
                Feature("checked to", FLAG, SITUATION, (), "after a check", "without a check before you"),
                lambda h, w: float(bool(w.moves) and not raises(w.moves)),
            ),
            (
                Feature("second round", FLAG, SITUATION, (), "after the public card", "before the public card"),
                lambda h, w: float(bool(w.board)),
            ),
            (
                Feature(
                    "you led", FLAG, SITUATION, (), "if you bet last before the public card", "if you did not lead"
                ),
                lambda h, w: float(raises(w.before)[-1:] == [player]),
            ),
            (
                Feature(
                    "they led", FLAG, SITUATION, (), "if they bet last before the public card", "if they did not lead"
                ),
                lambda h, w: float(raises(w.before)[-1:] == [1 - player]),
            ),
            (
                Feature("raises before", NUMBER, SITUATION, (), "raises before the public card"),
                lambda h, w: float(len(raises(w.before))),
            ),
            (Feature("board", LEVEL, BOARD, ranks, "on a"), lambda h, w: public(w)),
            (
                Feature("overcard", FLAG, HAND, (), "a card above the board", "no card above the board"),
                lambda h, w: float(bool(w.board) and rank_of(h) > public(w)),
            ),
        )
    }
    columns = {name: np.array([column(h, w) for h, w in rows]) for name, (_, column) in features.items()}
    return [feature for feature, _ in features.values()], columns


def _plain_columns(rows: list[tuple[str, _Way]]) -> tuple[list[Feature], dict[str, Array]]:
    """Of any public game: the hand, the last move, and how many moves were made."""
    hands = tuple(dict.fromkeys(hand for hand, _ in rows))
    lasts = tuple(dict.fromkeys(way.moves[-1][1] if way.moves else "nothing" for _, way in rows))
    features = [
        Feature("hand", CHOICE, HAND, hands),
        Feature("after", CHOICE, SITUATION, lasts),
        Feature("moves", NUMBER, SITUATION, (), "moves so far"),
    ]
    columns = {
        "hand": np.array([float(hands.index(hand)) for hand, _ in rows]),
        "after": np.array([float(lasts.index(way.moves[-1][1] if way.moves else "nothing")) for _, way in rows]),
        "moves": np.array([float(len(way.moves)) for _, way in rows]),
    }
    return features, columns


def _history(strategy: Strategy, player: int) -> Decisions:
    """Of a game in which moves are not seen by all: every information set by its name, each as often."""
    tree = strategy.tree
    sets = [info for info in tree.infosets() if info.player == player]
    labels = tuple(dict.fromkeys(label for info in sets for label in info.actions))
    names = tuple(info.name for info in sets)
    possible = np.array([[label in info.actions for label in labels] for info in sets])
    played = np.zeros(possible.shape)
    for k, info in enumerate(sets):
        played[k, [labels.index(label) for label in info.actions]] = strategy.row(info)
    feature = Feature("information set", CHOICE, SITUATION, names)
    return Decisions(
        f"{tree.name}, player {player}",
        (feature,),
        {feature.name: np.arange(len(sets), dtype=float)},
        tuple(Move(OTHER, 0.0, label) for label in labels),
        possible,
        played,
        np.full(len(sets), 1 / max(len(sets), 1)),
        names,
        np.arange(len(sets)),
        unit=tree.unit,
    )


# --- what following rules costs -------------------------------------------------------------------


def replaced(strategy: Strategy, decisions: Decisions, played: Array, player: int) -> Strategy:
    """The strategy with these decisions of a player played so. float64 [n, moves]"""
    table = np.array(strategy.probabilities)
    labels = {move: _label(move) for move in decisions.moves}
    for name, row in zip(decisions.names, played, strict=True):
        info = strategy.tree.infoset(name)
        chance = {labels[move]: p for move, p in zip(decisions.moves, row.tolist(), strict=True)}
        for k, action in enumerate(info.actions):
            table[info.offset + k * info.stride] = chance[action]
    return Strategy(strategy.tree, table, {"method": "rules"})


def _label(move: Move) -> str:
    if move.kind == RAISE:
        return "r" if move.size == 0 else f"r{move.size:g}"
    return {FOLD: "f", CALL: "c"}.get(move.kind, move.label)


def cost_of(strategy: Strategy, decisions: Decisions, player: int, value: float | None = None) -> Cost:
    """What playing these decisions otherwise costs in a two-player game: exploitability of the player's half, exact.

    It is what the opponent's best response earns beyond the value of the game, `value` to player 0; by default the middle of
    what the strategy proves.
    """
    low, high = quality(strategy).bracket
    middle = (low + high) / 2 if value is None else value
    theirs = -middle if player == 0 else middle

    def cost(played: Array) -> dict[str, float]:
        best = quality(replaced(strategy, decisions, played, player)).best[1 - player]
        return {"exploitability": max(best - theirs, 0.0)}

    return cost
