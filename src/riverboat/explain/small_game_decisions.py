"""Decisions of small games: one row for each information set, with features that players of such games use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.explain.decisions import CostFunction, DecisionTable
from riverboat.games.base import CHANCE
from riverboat.games.small.betting import card_names
from riverboat.games.small.poker import OneCardPoker
from riverboat.solvers.tabular.best_response import quality
from riverboat.strategies import rule_list
from riverboat.strategies.rule_list import DecisionFeature, RuleAction
from riverboat.strategies.tabular import Strategy
from riverboat.trees.public import Infoset, PublicTree


class _PublicLine(NamedTuple):
    """The public history of a node."""

    moves: tuple[tuple[int, str], ...] = ()  # actions of this round, as pairs of player and action
    board: tuple[str, ...] = ()
    before: tuple[tuple[int, str], ...] = ()  # actions of the previous round


def small_game_decisions(strategy: Strategy, player: int, line: str | None = None) -> DecisionTable:
    """Tabulate a player's decisions at all its information sets, or at those of one line.

    Parameters
    ----------
    strategy
        Strategy of a small game.
    player
        Player whose decisions are tabulated.
    line
        Line of a public game; None for all lines.

    Returns
    -------
    DecisionTable
        One row for each information set.

    Raises
    ------
    InputError
        If there is no such player, the player does not act at the line, or the game has hidden actions and a line is
        given.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.solvers.tabular.cfr import CFR
    >>> from riverboat.trees.compile import compile_game
    >>> solver = CFR(compile_game(kuhn()), "cfr+")
    >>> solver.step(200)
    >>> small_game_decisions(solver.average(), player=1, line="r").names
    ('J:r', 'Q:r', 'K:r')
    """
    tree = strategy.tree
    if not 0 <= player < tree.players:
        raise InputError(f"player {player}: must be 0 to {tree.players - 1} in {tree.name}")
    if isinstance(tree, PublicTree):
        return _public_tree_decisions(strategy, tree, player, line)
    if line is not None:
        raise InputError(f"line {line!r}: {tree.name} has hidden actions, so lines are not supported; leave it out")
    return _history_tree_decisions(strategy, player)


def _public_tree_decisions(strategy: Strategy, tree: PublicTree, player: int, line: str | None) -> DecisionTable:
    game = tree.game
    public_lines, reach = _reach_probabilities(tree, strategy, strategy)
    other = Strategy.uniform(tree)
    _, uniform_reach = _reach_probabilities(tree, *((strategy, other) if player == 0 else (other, strategy)))
    node_of = {at: node for node, at in tree.lines()}
    hand_index = {hand: k for k, hand in enumerate(tree.hands[player])}
    sets, places, rows = [], [], []
    for info in tree.infosets():
        hand, _, at = info.name.partition(":")
        if info.player == player and line in (None, at):
            sets.append(info)
            places.append((node_of[at], hand_index[hand]))
            rows.append((hand, public_lines[node_of[at]]))
    if not sets:
        where = "anywhere" if line is None else f"at {line!r}"
        raise InputError(f"{tree.name}: player {player} does not act {where}")
    moves, legal, table = _tabulate_rows(strategy, sets, isinstance(game, OneCardPoker))
    features, columns = _poker_columns(game, player, rows) if isinstance(game, OneCardPoker) else _plain_columns(rows)
    w, uniform = (np.array([reach_of[node][h] for node, h in places]) for reach_of in (reach, uniform_reach))
    # Information sets that are never reached have no weight; if none is reached, weights are equal.
    w = w / w.sum() if w.sum() > 0 else np.full(len(w), 1 / len(w))
    # Opponents may deviate to information sets that the strategy never reaches, so half of the sample weight is the
    # reach against a uniform opponent.
    sample_weight = w / 2 + uniform / max(uniform.sum(), 1e-300) / 2
    title = f"{tree.name}, player {player}" + ("" if line is None else f" at {line or 'the first decision'}")
    # Cards of one rank are held out together.
    group = np.unique([f"{hand[:-1] or hand}{public_line}" for hand, public_line in rows], return_inverse=True)[1]
    shown = {"unit": tree.unit, "learning_weight": sample_weight}
    names = tuple(info.name for info in sets)
    decisions = DecisionTable(title, tuple(features), columns, moves, legal, table, w, names, group, **shown)
    return decisions.drop_constant_features()


def _tabulate_rows(
    strategy: Strategy, sets: Sequence[Infoset], poker: bool
) -> tuple[tuple[RuleAction, ...], Array, Array]:
    """Return the actions of information sets, which of them are legal, and their probabilities. [sets, moves] each"""
    labels = tuple(dict.fromkeys(label for info in sets for label in info.actions))
    legal = np.array([[label in info.actions for label in labels] for info in sets])
    probabilities = np.zeros(legal.shape)
    for k, info in enumerate(sets):
        probabilities[k, [labels.index(label) for label in info.actions]] = strategy.row(info)
    return tuple(_make_move(label, poker) for label in labels), legal, probabilities


def _make_move(label: str, poker: bool) -> RuleAction:
    if not poker:
        return RuleAction(rule_list.OTHER, 0.0, label)
    if label in ("f", "c"):
        return RuleAction(rule_list.FOLD if label == "f" else rule_list.CALL)
    # In no-limit games every size is an action of its own, ordered by its total.
    return RuleAction(rule_list.RAISE) if label == "r" else RuleAction(rule_list.RAISE, float(label[1:]))


def _reach_probabilities(
    tree: PublicTree, first: Strategy, second: Strategy
) -> tuple[dict[int, _PublicLine], dict[int, Array]]:
    """Return, by decision node, its public history and the probability of reaching it with each hand of its player.

    `first` and `second` are the strategies of players 0 and 1. Probabilities include the opponent and chance.
    """
    joint = tree.deal.joint()
    probabilities = tree.player_tables(first.probabilities)[0], tree.player_tables(second.probabilities)[1]
    ones = np.ones(joint.shape[0]), np.ones(joint.shape[1])
    lines, reach = {}, {}
    stack: list[tuple[int, _PublicLine, tuple[Array, Array], float]] = [(0, _PublicLine(), ones, 1.0)]
    while stack:
        node, line, own, chance = stack.pop()
        actor, labels = int(tree.nodes.actor[node]), tree.labels(node)
        if actor >= 0:
            lines[node] = line
            opponent_reach = joint @ own[1] if actor == 0 else own[0] @ joint
            reach[node] = chance * own[actor] * opponent_reach
        at = int(tree.nodes.data[node])
        for k, (child, label) in enumerate(zip(tree.children(node), labels, strict=True)):
            if actor == CHANCE:
                outcome = tree.layout.chance_outcomes[tree.layout.index[node]][k]
                live = own[0].copy(), own[1].copy()
                for p in (0, 1):
                    live[p][list(outcome.dead[p])] = 0.0
                stack.append((child, _PublicLine((), (*line.board, label), line.moves), live, chance * outcome.weight))
            else:
                played = own[actor] * probabilities[actor][at + k]
                after = (played, own[1]) if actor == 0 else (own[0], played)
                stack.append((child, line._replace(moves=(*line.moves, (actor, label))), after, chance))
    return lines, reach


# --- Features ---


def _poker_columns(
    game: OneCardPoker, player: int, rows: list[tuple[str, _PublicLine]]
) -> tuple[list[DecisionFeature], dict[str, Array]]:
    ranks = card_names(game.ranks, 1)

    def rank_of(card: str) -> int:
        return ranks.index(card if game.suits == 1 else card[:-1])

    def flag(name: str, phrase: str, negated: str, subject: str = rule_list.SITUATION) -> DecisionFeature:
        return DecisionFeature(name, rule_list.FLAG, subject, (), phrase, negated)

    features = [
        DecisionFeature("card", rule_list.LEVEL, rule_list.HAND, ranks),
        flag("pair", "a pair", "no pair", rule_list.HAND),
        flag("facing", "facing a bet", "when you may check"),
        flag("reraised", "facing a raise", "not facing a raise"),
        flag("checked to", "after a check", "without a check before you"),
        flag("second round", "after the public card", "before the public card"),
        flag("you led", "if you bet last before the public card", "if you did not lead"),
        flag("they led", "if they bet last before the public card", "if they did not lead"),
        DecisionFeature("raises before", rule_list.NUMBER, rule_list.SITUATION, (), "raises before the public card"),
        DecisionFeature("board", rule_list.LEVEL, rule_list.BOARD, ranks, "on a"),
        flag("overcard", "a card above the board", "no card above the board", rule_list.HAND),
    ]
    table = []  # in the order of the features
    for hand, line in rows:
        raises, before = ([who for who, label in part if label[0] == "r"] for part in (line.moves, line.before))
        card, public = rank_of(hand), rank_of(line.board[-1].strip("/")) if line.board else -1
        facing, checked_to = raises[-1:] == [1 - player], bool(line.moves) and not raises
        led = before[-1:] == [player], before[-1:] == [1 - player]
        seen = facing, len(raises) >= 2, checked_to, bool(line.board), *led, len(before), public
        table.append((card, card == public, *seen, card > public >= 0))
    columns = zip(features, np.array(table, float).T, strict=True)
    return features, {feature.name: column for feature, column in columns}


def _plain_columns(rows: list[tuple[str, _PublicLine]]) -> tuple[list[DecisionFeature], dict[str, Array]]:
    """Return features of any public game: the hand, the last action, and the number of actions."""
    choices = {
        ("hand", rule_list.HAND): [hand for hand, _ in rows],
        ("after", rule_list.SITUATION): [line.moves[-1][1] if line.moves else "nothing" for _, line in rows],
    }
    features, columns = [], {}
    for (name, subject), values in choices.items():
        levels = tuple(dict.fromkeys(values))
        features.append(DecisionFeature(name, rule_list.CHOICE, subject, levels))
        columns[name] = np.array([float(levels.index(value)) for value in values])
    features.append(DecisionFeature("moves", rule_list.NUMBER, rule_list.SITUATION, (), "moves so far"))
    columns["moves"] = np.array([float(len(line.moves)) for _, line in rows])
    return features, columns


def _history_tree_decisions(strategy: Strategy, player: int) -> DecisionTable:
    """Tabulate a game with hidden actions: information sets by name, with equal weights."""
    tree = strategy.tree
    sets = [info for info in tree.infosets() if info.player == player]
    names = tuple(info.name for info in sets)
    moves, legal, probabilities = _tabulate_rows(strategy, sets, poker=False)
    feature = DecisionFeature("information set", rule_list.CHOICE, rule_list.SITUATION, names)
    columns, weight = {feature.name: np.arange(len(sets), dtype=float)}, np.full(len(sets), 1 / max(len(sets), 1))
    return DecisionTable(
        f"{tree.name}, player {player}", (feature,), columns, moves, legal, probabilities, weight, names,
        np.arange(len(sets)), unit=tree.unit,
    )  # fmt: skip


# --- Costs of following rules ---


def replace_strategy(strategy: Strategy, decisions: DecisionTable, replacement: Array, player: int) -> Strategy:
    """Return the strategy with a player's decisions replaced.

    Parameters
    ----------
    strategy
        Strategy of a small game.
    decisions
        Decisions of the player.
    replacement
        New probabilities, float64 [n, moves].
    player
        Player whose decisions these are.

    Returns
    -------
    Strategy
        The new strategy.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.solvers.tabular.cfr import CFR
    >>> from riverboat.trees.compile import compile_game
    >>> solver = CFR(compile_game(kuhn()), "cfr+")
    >>> solver.step(200)
    >>> decisions = small_game_decisions(solver.average(), player=1, line="r")
    >>> always_fold = np.tile([1.0, 0.0], (3, 1))
    >>> replace_strategy(solver.average(), decisions, always_fold, player=1)["K:r"]
    {'f': 1.0, 'c': 0.0}
    """
    table = np.array(strategy.probabilities)
    labels = {move: _action_label(move) for move in decisions.moves}
    for name, row in zip(decisions.names, replacement, strict=True):
        info = strategy.tree.infoset(name)
        probability = {labels[move]: p for move, p in zip(decisions.moves, row.tolist(), strict=True)}
        for k, action in enumerate(info.actions):
            table[info.offset + k * info.stride] = probability[action]
    return Strategy(strategy.tree, table, {"method": "rules"})


def _action_label(move: RuleAction) -> str:
    if move.kind == rule_list.RAISE:
        return "r" if move.size == 0 else f"r{move.size:g}"
    return {rule_list.FOLD: "f", rule_list.CALL: "c"}.get(move.kind, move.label)


def exploitability_cost(
    strategy: Strategy, decisions: DecisionTable, player: int, value: float | None = None
) -> CostFunction:
    """Return a cost function: the exact exploitability of the player's strategy with these decisions replaced.

    It is the opponent's best-response value less the value of the game.

    Parameters
    ----------
    strategy
        Strategy of a two-player zero-sum game.
    decisions
        Decisions of the player.
    player
        Player 0 or 1.
    value
        Value of the game to player 0; by default the middle of the interval that the strategy proves.

    Returns
    -------
    CostFunction
        Function of probabilities, float64 [n, moves], that returns `{"exploitability": …}`.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.solvers.tabular.cfr import CFR
    >>> from riverboat.trees.compile import compile_game
    >>> solver = CFR(compile_game(kuhn()), "cfr+")
    >>> solver.step(200)
    >>> decisions = small_game_decisions(solver.average(), player=1, line="r")
    >>> cost = exploitability_cost(solver.average(), decisions, player=1)
    >>> cost(decisions.strategy)["exploitability"] < 0.01
    True
    """
    low, high = quality(strategy).bracket
    middle = (low + high) / 2 if value is None else value
    opponent_value = -middle if player == 0 else middle

    def cost(played: Array) -> dict[str, float]:
        best = quality(replace_strategy(strategy, decisions, played, player)).best[1 - player]
        return {"exploitability": max(best - opponent_value, 0.0)}

    return cost
