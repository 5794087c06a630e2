"""Decisions of a spot: all hands of a player at one node with EVs of actions, the cost of other play, and boards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from riverboat.cards.deck import HAND_CARDS
from riverboat.cards.equity.equities import range_wins, runouts
from riverboat.cards.grid import CLASS_OF_HAND
from riverboat.cards.notation import format_cards, format_hand, parse_cards
from riverboat.cards.ranges import compatible_weights
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.engines.tables import encode_averages, table_block
from riverboat.explain.decisions import CostFunction, DecisionTable, concatenate_decisions
from riverboat.games.spots.spot import Spot
from riverboat.strategies import features
from riverboat.strategies.reports.comparison import expand_line
from riverboat.strategies.reports.node import node_title, player_names, pot, stacks
from riverboat.strategies.rule_list import BOARD, CALL, FOLD, RAISE, SHARE, DecisionFeature, RuleAction
from riverboat.strategies.solution import Solution, SolutionNode

# --- Features of both ranges: equity, percentile, blockers ---

BLOCKED_RANGE_SHARE = 0.25  # top share of the opponent's range that counts for blockers
PASSIVE_MOVES = {"x": RuleAction(CALL), "c": RuleAction(CALL), "f": RuleAction(FOLD)}


def range_equities(mine: Array, theirs: Array, board: tuple[int, ...]) -> tuple[Array, Array]:
    """Return the equity of each hand against the other range without further bets. float64 [1326] each

    Parameters
    ----------
    mine
        Weights of the own range, float64 [1326].
    theirs
        Weights of the opponent's range, float64 [1326].
    board
        Board cards; runouts complete it.

    Returns
    -------
    tuple of Array
        Equities of the own hands and of the opponent's hands.

    Examples
    --------
    >>> from riverboat.games.spots.spot import Spot
    >>> from riverboat.solvers.boards.batches import solve_many
    >>> spot = Spot.make(board="Td9d6hQc2s", pot=200, stack=400, oop="AA,KJ,76", ip="QQ,T9,AJ", bets="50%")
    >>> (solution,) = solve_many([spot], iterations=100)
    >>> node = solution[""]
    >>> float(range_equities(node.reach[0], node.reach[1], node.board)[0].max())
    1.0
    """
    boards = runouts(board)
    shares = []
    for opponent in (theirs, mine):
        won, weight = range_wins(opponent, boards, np.ones(len(boards)))
        shares.append(np.where(weight > 0, won / np.where(weight > 0, weight, 1.0), 0.0))
    return shares[0], shares[1]


def range_columns(mine: Array, theirs: Array, equity: tuple[Array, Array], hands: Array) -> dict[str, Array]:
    """Return `RANGE_FEATURES` of hands, given both ranges and the equities of all their hands. float64 [n] each

    Parameters
    ----------
    mine
        Weights of the own range, float64 [1326].
    theirs
        Weights of the opponent's range, float64 [1326].
    equity
        Equities of both ranges, as `range_equities` returns them.
    hands
        Indices of hands, int64 [n].

    Returns
    -------
    dict of Array
        Equity, percentile in the own range, and share of the opponent's best hands that are blocked.

    Examples
    --------
    >>> from riverboat.games.spots.spot import Spot
    >>> from riverboat.solvers.boards.batches import solve_many
    >>> spot = Spot.make(board="Td9d6hQc2s", pot=200, stack=400, oop="AA,KJ,76", ip="QQ,T9,AJ", bets="50%")
    >>> (solution,) = solve_many([spot], iterations=100)
    >>> mine, theirs = solution[""].reach
    >>> columns = range_columns(mine, theirs, range_equities(mine, theirs, spot.board), np.flatnonzero(mine > 0))
    >>> sorted(columns)
    ['blocks', 'equity', 'percentile']
    """
    own = np.nan_to_num(equity[0])
    compatible = compatible_weights(theirs)
    weight = (mine * compatible)[hands]
    order = np.argsort(own[hands], kind="stable")
    cumulative = np.cumsum(weight[order])
    percentile = np.zeros(len(hands))
    percentile[order] = (cumulative - weight[order] / 2) / max(cumulative[-1], 1e-300)
    # Blockers: the share of the opponent's best hands (by equity) blocked, relative to the share blocked of all hands.
    ranked = np.argsort(-np.where(theirs > 0, np.nan_to_num(equity[1]), -1.0), kind="stable")
    top = ranked[np.cumsum(theirs[ranked]) <= BLOCKED_RANGE_SHARE * theirs.sum()]
    best = np.zeros(len(theirs))
    best[top] = theirs[top]
    base_share = best.sum() / max(theirs.sum(), 1e-300)
    share_left = compatible_weights(best)[hands] / np.maximum(compatible[hands], 1e-300)
    blocks = np.maximum(1.0 - share_left / base_share, 0.0) if base_share > 0 else np.zeros(len(hands))
    return {"equity": own[hands], "percentile": percentile, "blocks": blocks}


def spot_decisions(node: SolutionNode, *, board_features: bool = False) -> DecisionTable:
    """Tabulate the acting player's strategy with every hand.

    Parameters
    ----------
    node
        Node of a solution at which a player acts.
    board_features
        Keep features that are the same for all hands, to concatenate nodes.

    Returns
    -------
    DecisionTable
        One row for each hand in the range, with EVs of the actions.

    Raises
    ------
    InputError
        If no player acts at the node, or it is never reached.

    Examples
    --------
    >>> from riverboat.games.spots.spot import Spot
    >>> from riverboat.solvers.boards.batches import solve_many
    >>> spot = Spot.make(board="Td9d6hQc2s", pot=200, stack=400, oop="AA,KJ,76", ip="QQ,T9,AJ", bets="50%")
    >>> (solution,) = solve_many([spot], iterations=100)
    >>> decisions = spot_decisions(solution[""])
    >>> decisions.title, len(decisions), decisions.unit
    ('root on Td 9d 6h Qc 2s: oop', 34, '% of pot')
    """
    player = node.player
    if player < 0:
        raise InputError(f"{node.tree.name}: no player acts at {node.line!r}, so there is nothing to explain")
    weight = node.reach[player] * node.compatible_weight(player)
    hands = np.flatnonzero(weight > 0)
    if not len(hands):
        raise InputError(f"{node.tree.name}: {node.line!r} is never reached, so there is nothing to explain")
    strategy, values = node.strategy[:, hands].T, node.action_ev()[:, hands].T
    boards = np.broadcast_to(np.array(node.board, np.uint8), (len(hands), len(node.board)))
    columns = features.hand_features(HAND_CARDS[hands], boards, deck=node.tree.game.deck)
    equities = node.equity[player], node.equity[1 - player]
    columns |= range_columns(node.reach[player], node.reach[1 - player], equities, hands)
    columns |= _situation_columns(node, len(hands))
    game = node.tree.game
    unit, scale = game.scale if isinstance(game, Spot) else ("chips", 1.0)
    decisions = DecisionTable(
        f"{node_title(node)}: {player_names(game)[player]}",
        features.HAND_FEATURES + features.RANGE_FEATURES + features.BOARD_FEATURES + features.SITUATION_FEATURES,
        columns,
        _node_moves(node),
        np.ones(strategy.shape, bool),
        strategy,
        weight[hands] / weight[hands].sum(),
        tuple(format_hand(h) for h in hands.tolist()),
        CLASS_OF_HAND[hands].astype(np.int64),
        values * scale,
        unit,
    )
    return decisions if board_features else decisions.drop_constant_features()


def card_decisions(solution: Solution, line: str) -> DecisionTable:
    """Tabulate decisions on all cards of `*` in a line such as `x-x/*`, weighted by the frequency of each card.

    Parameters
    ----------
    solution
        Solution of a spot before the river.
    line
        Line with `*` for a card.

    Returns
    -------
    DecisionTable
        One row for each hand and card.

    Raises
    ------
    InputError
        If no player acts at the line, or it is never reached.

    Examples
    --------
    >>> from riverboat.games.spots.spot import Spot
    >>> from riverboat.solvers.boards.batches import solve_many
    >>> spot = Spot.make(board="Td9d6hQc", pot=200, stack=100, oop="AA,KJ", ip="QQ,AJ", bets="a")
    >>> (solution,) = solve_many([spot], iterations=20)
    >>> card_decisions(solution, "x-x/*").title
    'x-x/* on Td 9d 6h Qc, 48 deals: oop'
    """
    nodes = expand_line(solution, line)
    if nodes[0].player < 0:
        raise InputError(f"{solution.tree.name}: no player acts at {line!r}, so there is nothing to explain")
    nodes = [node for node in nodes if node.pair_weights[0] > 0]
    if not nodes:
        raise InputError(f"{solution.tree.name}: {line!r} is never reached, so there is nothing to explain")
    parts = []
    for node in nodes:
        part = spot_decisions(node, board_features=True)
        dealt = format_cards([card for deal in node.dealt_cards for card in deal])
        parts.append(replace(part, names=tuple(f"{name} on {dealt}" for name in part.names)))
    game = solution.tree.game
    title = f"{line} on {format_cards(game.board, ' ')}, {len(nodes)} deals: {player_names(game)[nodes[0].player]}"
    return concatenate_decisions(parts, title, [node.pair_weights[0] for node in nodes]).drop_constant_features()


def _node_moves(node: SolutionNode) -> tuple[RuleAction, ...]:
    """Return the actions of a node as rule actions."""
    betting, player = node.tree.betting, node.player
    spent, call = _spent_and_call(node)
    pot_after_call = pot(node) + call
    out = []
    for child, label in zip(betting.children(node.betting_node), node.actions, strict=True):
        extra = float(betting.spent[child, player]) - spent[player] - call
        size = inf if label == "a" else round(extra / pot_after_call, 4)
        out.append(PASSIVE_MOVES.get(label, RuleAction(RAISE, size)))
    return tuple(out)


def _spent_and_call(node: SolutionNode) -> tuple[Array, float]:
    """Return the chips of both players in the pot, float64 [2], and the price of a call."""
    spent = node.tree.betting.spent[node.betting_node].astype(float)
    return spent, max(spent[1 - node.player] - spent[node.player], 0.0)


def _situation_columns(node: SolutionNode, count: int) -> dict[str, Array]:
    """Return features that are the same for all hands."""
    game, player = node.tree.game, node.player
    _, call = _spent_and_call(node)
    behind = stacks(node) or (0.0, 0.0)
    pot_after_call = pot(node) + call
    led = game.led if isinstance(game, Spot) and not node.dealt_cards else None
    raises = sum(label[0] in "bra" for label in node.line.rpartition("/")[2].split("-") if label)
    values = {
        "street": float(max(len(node.board) - 2, 0)), "in position": float(player == 1), "facing": float(call > 0),
        "price": call / pot_after_call, "raises": float(raises),
        "stack to pot": max(min(behind[1 - player], behind[player] - call), 0.0) / pot_after_call,
        "you led": float(led == player), "they led": float(led == 1 - player),
    }  # fmt: skip
    return {name: np.full(count, value) for name, value in values.items()}


# --- Costs of following rules ---


def replace_node_strategy(node: SolutionNode, decisions: DecisionTable, replacement: Array) -> Solution:
    """Return the solution with the strategy of one node replaced, on its board.

    Parameters
    ----------
    node
        Node of a solution.
    decisions
        Its decisions.
    replacement
        New probabilities, float64 [n, moves].

    Returns
    -------
    Solution
        The new solution.

    Examples
    --------
    >>> from riverboat.games.spots.spot import Spot
    >>> from riverboat.solvers.boards.batches import solve_many
    >>> spot = Spot.make(board="Td9d6hQc2s", pot=200, stack=400, oop="AA,KJ,76", ip="QQ,T9,AJ", bets="50%")
    >>> (solution,) = solve_many([spot], iterations=100)
    >>> decisions = spot_decisions(solution[""])
    >>> always_check = replace_node_strategy(solution[""], decisions, np.tile([1.0, 0.0], (len(decisions), 1)))
    >>> float(np.nanmin(always_check[""].strategy[0]))
    1.0
    """
    solution, tree = node.solution, node.tree
    hands = np.array([_HAND_INDEX[name] for name in decisions.names])
    rows = np.array(node.strategy)  # NaN for impossible hands
    rows[:, hands] = replacement.T
    boards, maps = node.tree_boards
    street = len(node.dealt_cards)
    inverse = np.empty(len(rows[0]), np.int64)
    inverse[maps[street]] = np.arange(len(inverse))
    representatives = inverse[tree.representatives(boards[street], node.player)]
    forest = int(np.flatnonzero(tree.forest.node == node.betting_node)[0])
    at, width, count = table_block(tree, boards[street], forest)
    averages = np.nan_to_num(rows[:, representatives], nan=1.0 / width).reshape(width * count)
    table = np.array(solution.table)
    table[at : at + width * count] = encode_averages(averages, table.dtype)
    return Solution(tree, table, {"method": "rules"}, solution.root)


def node_exploitability_cost(node: SolutionNode, decisions: DecisionTable) -> CostFunction:
    """Return a cost function: the exact gain of the opponent's best response when only this decision is replaced.

    Parameters
    ----------
    node
        Node of a solution.
    decisions
        Its decisions.

    Returns
    -------
    CostFunction
        Function of probabilities, float64 [n, moves], that returns `{"exploitability": …}` in the unit of the tree.

    Examples
    --------
    >>> from riverboat.games.spots.spot import Spot
    >>> from riverboat.solvers.boards.batches import solve_many
    >>> spot = Spot.make(board="Td9d6hQc2s", pot=200, stack=400, oop="AA,KJ,76", ip="QQ,T9,AJ", bets="50%")
    >>> (solution,) = solve_many([spot], iterations=100)
    >>> decisions = spot_decisions(solution[""])
    >>> node_exploitability_cost(solution[""], decisions)(decisions.strategy)
    {'exploitability': 0.0}
    """
    solution, other = node.solution, 1 - node.player
    before = solution.expected_value(other, respond=True)

    def cost(played: Array) -> dict[str, float]:
        best = replace_node_strategy(node, decisions, played).expected_value(other, respond=True)
        return {"exploitability": (best - before) * node.tree.per_chip}

    return cost


_HAND_INDEX = {format_hand(h): h for h in range(len(HAND_CARDS))}


# --- Decisions by board, from a spot solved on many boards ---

BOARD_EQUITY = DecisionFeature("equity", SHARE, BOARD, (), "equity of your range", effort=2.0)


@dataclass(frozen=True)
class BoardRow:
    """The solution of one board.

    Attributes
    ----------
    board
        Board cards as text.
    weight
        Frequency of the board.
    frequencies
        Frequencies of the actions, over the range.
    equity
        Equity of the acting player.

    Examples
    --------
    >>> BoardRow("Td9d6h", 1.0, {"x": 0.5, "b": 0.5}, 0.4).equity
    0.4
    """

    board: str
    weight: float
    frequencies: Mapping[str, float]  # of actions, over the range
    equity: float  # of the acting player


def board_decisions(rows: Sequence[BoardRow], moves: Sequence[RuleAction], title: str) -> DecisionTable:
    """Tabulate decisions by board, with a whole range as one row.

    Parameters
    ----------
    rows
        Solutions of boards of one street.
    moves
        Actions in the order of the frequencies.
    title
        Title of the table.

    Returns
    -------
    DecisionTable
        One row for each board.

    Raises
    ------
    InputError
        If there are no boards, streets differ, or the numbers of actions differ.

    Examples
    --------
    >>> rows = [BoardRow("Td9d6h", 1.0, {"x": 0.5, "b": 0.5}, 0.4), BoardRow("AdKd6h", 1.0, {"x": 0.2, "b": 0.8}, 0.6)]
    >>> board_decisions(rows, (RuleAction(CALL), RuleAction(RAISE, 0.5)), "two flops").strategy
    array([[0.5, 0.5],
           [0.2, 0.8]])
    """
    if not rows:
        raise InputError(f"{title}: no boards")
    cards = [parse_cards(row.board, "board") for row in rows]
    if len({len(board) for board in cards}) > 1:
        raise InputError(f"{title}: boards must be of the same street")
    frequencies = np.array([list(row.frequencies.values()) for row in rows], float)
    if frequencies.shape != (len(rows), len(moves)):
        raise InputError(f"{title}: {len(moves)} moves for {frequencies.shape[1]} frequencies")
    boards = np.array(cards, np.uint8)
    # Any two remaining cards as the hand: board features ignore it.
    dummy_hands = np.array([[c for c in range(52) if c not in board][:2] for board in cards], np.uint8)
    columns = features.hand_features(dummy_hands, boards, {f.name for f in features.BOARD_FEATURES})
    columns["equity"] = np.array([row.equity for row in rows])
    weight = np.array([row.weight for row in rows], float)
    total = frequencies.sum(axis=1, keepdims=True)
    legal, strategy = np.ones(frequencies.shape, bool), frequencies / np.where(total > 0, total, 1.0)
    facts = weight / weight.sum(), tuple(row.board for row in rows), np.arange(len(rows))
    tested = (*features.BOARD_FEATURES, BOARD_EQUITY)
    return DecisionTable(title, tested, columns, tuple(moves), legal, strategy, *facts).drop_constant_features()
