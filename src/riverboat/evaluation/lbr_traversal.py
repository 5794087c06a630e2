"""Deals of local best response: sampled trajectories with control variates (after AIVAT, Burch et al. 2018).

    traversal = LbrTraversal(LocalResponder(agent, rules, "fcpa", start=2), trajectories=32, seed=0)
    first, second = traversal.sample_deal(0)               # the responder in seat 0, and in seat 1
    first.value, first.corrected                           # chips per hand, without and with corrections

A public state carries the ranges of both players over all hands, so neither player's cards are sampled. Two things
are: which action a trajectory follows, and the board cards. Both get a correction from a *state value*, an estimate of
what the responder wins from there on:

    actions:  + Σ v(child) over all children      - Σ v(child) · weight over the sampled ones
    cards:    + v(state before the card)          - v(state with the card)

The first has mean zero for any v, since a child's weight is the inverse of its probability. The second has mean zero
where v before the card is the mean of v over all cards.

State values assume that both players check and call from now on, as the responder does when it decides: the value
after its own raise is its utility, which contains the agent's folds; after a bet of the agent the responder folds or
calls. Their mean over the next card is the value before it. A call or fold that ends the hand has its exact value. So
has a bet that nobody can raise, and it needs no trajectory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np

from riverboat.cards.equity.batch_equities import MAX_RUNOUTS
from riverboat.core.arrays import Array
from riverboat.evaluation.local_responder import MANY_ACTIONS, LbrNode, LocalResponder, strategy_at
from riverboat.games.holdem import betting_rules
from riverboat.games.holdem.betting_rules import CALL, FOLD, FOLDED, IN_PROGRESS, SHOWDOWN, CompactBettingState

NUM_RUNOUTS = 48  # sampled for the value of an all-in before the turn
MAX_EXACT_RUNOUTS = 50  # runouts evaluated one by one; with more, all pairs of hands are rolled out once

Line: TypeAlias = tuple[int, ...]
Cards: TypeAlias = tuple[int, ...]


class DealSample(NamedTuple):
    """Estimates of the responder's mean winnings over all pairs of hands in one deal, in chips per hand.

    Attributes
    ----------
    value
        Estimate without corrections.
    corrected
        Estimate with corrections, of the same mean.

    Examples
    --------
    >>> from riverboat.evaluation.lbr_traversal import DealSample
    >>> DealSample(12.0, 10.5).corrected
    10.5
    """

    value: float
    corrected: float


class _Child(NamedTuple):
    """A child of a decision that a trajectory may follow."""

    make: Callable[[], LbrNode]  # called when the child is sampled
    sampling_weight: float  # pairs of hands × larger stake
    state_value: float  # before the next cards; 0 if it is not known


@dataclass
class _LbrBranches:
    """Exact values of the actions that end the hand at a decision, and the children to sample."""

    state_value: float | None = None  # of the decision itself; None: not known
    terminal_value: float = 0.0  # responder's winnings where the hand ends, summed over pairs of hands
    showdowns: list[LbrNode] = field(default_factory=list)  # ends of the hand whose value must be sampled
    children: list[_Child] = field(default_factory=list)


class LbrTraversal:
    """Estimator of a responder's winnings in single deals, by sampled trajectories through the public tree.

    Branches before the first board cards are the same in all deals and are cached.

    Parameters
    ----------
    responder
        The local best responder.
    trajectories
        Sampled trajectories per deal and seat.
    seed
        Seed of all cards and samples.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> from riverboat.evaluation.lbr_traversal import LbrTraversal
    >>> from riverboat.evaluation.local_responder import LocalResponder
    >>> from riverboat.games.holdem.rules import read_game
    >>> responder = LocalResponder(make_agent("always-fold"), read_game("leduc"), "fcpa", 0)
    >>> len(LbrTraversal(responder, 4, seed=0).sample_deal(0))
    2
    """

    def __init__(self, responder: LocalResponder, trajectories: int, seed: int) -> None:
        self.responder, self.trajectories, self.seed = responder, trajectories, seed
        self.preflop_branches: dict[tuple[int, Line], _LbrBranches] = {}

    def sample_deal(self, number: int) -> tuple[DealSample, DealSample]:
        """Return the estimates of one deal with the responder in seat 0 and in seat 1, with the same first cards.

        Parameters
        ----------
        number
            Number of the deal, from 0.
        """
        rng = np.random.default_rng((self.seed, number))
        cards, margins = rng.permutation(self.responder.rules.deck.cards).tolist(), dict[Cards, Array]()
        return _LbrDeal(self, 0, cards, margins, rng).sample(), _LbrDeal(self, 1, cards, margins, rng).sample()

    def evaluate_deal(self, number: int) -> tuple[float, float]:
        """Return the corrected estimates of one deal with the responder in seat 0 and in seat 1, in chips per hand.

        Parameters
        ----------
        number
            Number of the deal, from 0.
        """
        first, second = self.sample_deal(number)
        return first.corrected, second.corrected


@dataclass
class _LbrDeal:
    """One deal with the responder in one seat, traversed breadth-first, so that the agent is queried in batches."""

    traversal: LbrTraversal
    seat: int  # seat of the responder
    cards: list[int]  # shuffled deck; all trajectories share its first cards as their first board
    margins: dict[Cards, Array]  # cache of `pair_margins` by board
    rng: np.random.Generator
    correction: float = 0.0  # sum of the corrections, over trajectories

    def __post_init__(self) -> None:
        self.responder = responder = self.traversal.responder
        self.showdowns, self.rules, self.book = responder.showdowns, responder.rules, responder.book

    def sample(self) -> DealSample:
        """Estimate the responder's mean winnings over all pairs of hands, in chips per hand."""
        trajectories, board = self.traversal.trajectories, tuple(self.cards[: self.rules.board_sizes[0]])
        live, start = self.showdowns.live_hands(board).astype(float), CompactBettingState(*self.book.start)
        frontier = [LbrNode((), board, start, live, live, trajectories)]
        total = 0.0
        while frontier:
            following: list[LbrNode] = []
            for node, branches in zip(frontier, self._branches(frontier), strict=True):
                scale = node.trajectories * node.weight / self.showdowns.count_hand_pairs(len(node.board))
                total += scale * (branches.terminal_value + sum(map(self._showdown_value, branches.showdowns)))
                self.correction += scale * sum(child.state_value for child in branches.children)
                if node.expected_value is not None and branches.state_value is not None:
                    self.correction += node.trajectories * node.weight * node.expected_value
                    self.correction -= scale * branches.state_value
                following += self._split_trajectories(node, branches)
            frontier = following
        return DealSample(total / trajectories, (total + self.correction) / trajectories)

    # --- Decisions ---

    def _branches(self, front: list[LbrNode]) -> list[_LbrBranches]:
        """Return the branches of each node, cached or new; the agent is queried for all new ones in one batch."""
        cached = self.traversal.preflop_branches
        branches_of = {i: None if node.board else cached.get((self.seat, node.moves)) for i, node in enumerate(front)}
        new = [i for i, branches in branches_of.items() if branches is None]
        raised = {i: self.responder.raise_children(front[i]) for i in new if front[i].state.turn == self.seat}
        queries = [front[i] for i in new if i not in raised and front[i].strategy is None]
        queries += [child for children in raised.values() for child in children]
        self.responder.query_agent(queries)
        for i in new:
            node = front[i]
            branches = self._responder_branches(node, raised[i]) if i in raised else self._agent_branches(node)
            branches_of[i] = branches
            if not node.board:
                cached[self.seat, node.moves] = branches
        return [branches for branches in branches_of.values() if branches is not None]

    def _responder_branches(self, node: LbrNode, raise_nodes: list[LbrNode]) -> _LbrBranches:
        """Return the branches of a decision of the responder; each of its hands takes one action."""
        at, exact = node.state, self._is_exact(node)
        compatible = self.showdowns.compatible_weights(node.opponent_range[None])[0]
        chosen, utility = [(CALL, np.ones(len(node.own_range), bool))], None
        if at.street >= self.responder.start or exact:
            utility = self.responder.utilities(node, raise_nodes, partial(self._showdown_wins, node.board))
        if at.street >= self.responder.start and utility is not None:
            chosen = self.responder.choose(node, raise_nodes, utility)
        raised = {raise_node.moves[-1]: k for k, raise_node in enumerate(raise_nodes, 1)}
        own_spent = at.spent0 if self.seat == 0 else at.spent1
        out = _LbrBranches()
        for move, hands in chosen:
            own_range, k = node.own_range * hands, raised.get(move, 0)
            mass, value = float(own_range @ compatible), None
            if exact and utility is not None and move != FOLD:
                value = float(own_range @ (utility[k] - own_spent * compatible))
            strategy = raise_nodes[k - 1].strategy if k else None
            child = partial(node.child, own_range=own_range, strategy=strategy)
            self._add_branch(out, node, move, mass, value, child)
        if exact and utility is not None:
            out.state_value = float(node.own_range @ (utility[0] - own_spent * compatible))
        return out

    def _agent_branches(self, node: LbrNode) -> _LbrBranches:
        """Return the branches of a decision of the agent, one for each action of its strategy."""
        strategy, compatible = strategy_at(node), self.showdowns.compatible_weights(node.own_range[None])[0]
        masses = (node.opponent_range * compatible) @ strategy.probabilities
        values: Sequence[float | None] = [None] * len(masses)
        out = _LbrBranches()
        if self._is_exact(node):
            out.state_value, values = self._state_values_of_replies(node, masses)
        for k, move in enumerate(strategy.moves.tolist()):
            self._add_branch(out, node, move, float(masses[k]), values[k], partial(_agent_child, node, k))
        return out

    def _state_values_of_replies(self, node: LbrNode, masses: Array) -> tuple[float, list[float | None]]:
        """Return the state values of a decision of the agent and of its children; the responder folds or calls bets."""
        strategy, at = strategy_at(node), node.state
        states = [betting_rules.apply_action(self.book, at, move) for move in strategy.moves.tolist()]
        bets = [
            k
            for k, state in enumerate(states)
            if masses[k] > 0 and state.over == IN_PROGRESS and state.spent0 != state.spent1
        ]
        bets = bets if len(strategy.moves) <= MANY_ACTIONS else []
        ranges = np.stack([node.own_range, *(node.opponent_range * strategy.probabilities[:, k] for k in bets)])
        compatible, wins = self.showdowns.compatible_weights(ranges), self._showdown_wins(node.board, ranges)
        edges = 2.0 * wins - compatible  # of each hand against each range, for a stake of one
        agent_edge = -node.opponent_range * edges[0]  # responder's winnings against each hand of the agent
        by_move = agent_edge @ strategy.probabilities
        values: list[float | None] = [
            min(state.spent0, state.spent1) * float(edge) for state, edge in zip(states, by_move, strict=True)
        ]
        for k, weight, edge in zip(bets, compatible[1:], edges[1:], strict=True):
            called = min(max(states[k].spent0, states[k].spent1), self.book.stacks[self.seat]) * edge
            spent = states[k].spent0 if self.seat == 0 else states[k].spent1
            if at.street >= self.responder.start:
                called = np.maximum(called, -spent * weight)
            values[k] = float(node.own_range @ called)
        return min(at.spent0, at.spent1) * float(agent_edge.sum()), values

    def _add_branch(
        self,
        out: _LbrBranches,
        node: LbrNode,
        move: int,
        mass: float,
        value: float | None,
        child: Callable[..., LbrNode],
    ) -> None:
        """Add the branch of one action to `out`; `mass` is its number of pairs of hands, weighted by reach.

        `value` is the state value after the action, if it is known. `child` makes the node after the action from the
        action and the betting state.
        """
        if not mass > 0:
            return
        state = betting_rules.apply_action(self.book, node.state, move)
        make_node = partial(child, move, state)
        if state.over == FOLDED:
            stake = min(state.spent0, state.spent1)
            out.terminal_value += mass * (-stake if state.turn == self.seat else stake)
        elif value is not None and (state.over == SHOWDOWN or self._ends_with_next_action(state)):
            out.terminal_value += value
        elif state.over == SHOWDOWN:
            out.showdowns.append(make_node())
        else:
            weight = mass * max(state.spent0, state.spent1)
            out.children.append(_Child(make_node, weight, 0.0 if value is None else value))

    def _ends_with_next_action(self, state: CompactBettingState) -> bool:
        """Return whether a bet can only be folded or called, and no betting follows the call."""
        if state.over != IN_PROGRESS or betting_rules.call_amount(self.book, state) == 0:
            return False
        least, most = betting_rules.raise_bounds(self.book, state)
        may_raise = self.responder.raise_totals(state) if state.turn == self.seat else least <= most
        return not may_raise and betting_rules.apply_action(self.book, state, CALL).over == SHOWDOWN

    # --- Showdowns ---

    def _is_exact(self, node: LbrNode) -> bool:
        """Return whether `_showdown_wins` is the exact mean over runouts at a node, and known without much work."""
        count = self.showdowns.count_runouts(len(node.board))
        if count <= MAX_EXACT_RUNOUTS:
            return True
        return count <= MAX_RUNOUTS and node.state.street >= self.responder.start

    def _showdown_wins(self, board: Cards, ranges: Array) -> Array:
        """Return the weight of each range that every hand beats, averaged over runouts. float64 [ranges, hands]"""
        if self.showdowns.count_runouts(len(board)) <= MAX_EXACT_RUNOUTS:
            return self.showdowns.wins(board, ranges)
        if board not in self.margins:
            self.margins[board] = self.showdowns.pair_margins(board)
        return self.showdowns.wins_from_margins(self.margins[board], ranges)

    def _showdown_value(self, node: LbrNode) -> float:
        """Return the responder's winnings at a showdown, summed over pairs of hands.

        The mean over runouts is exact if there are few, else an unbiased estimate from sampled ones.
        """
        ranges = node.opponent_range[None]
        runouts = None
        if self.showdowns.count_runouts(len(node.board)) > MAX_EXACT_RUNOUTS:
            runouts = self.showdowns.sample_runouts(node.board, NUM_RUNOUTS, self.rng)
        edge = 2.0 * self.showdowns.wins(node.board, ranges, runouts)[0] - self.showdowns.compatible_weights(ranges)[0]
        return min(node.state.spent0, node.state.spent1) * float(node.own_range @ edge)

    # --- Sampling ---

    def _split_trajectories(self, node: LbrNode, branches: _LbrBranches) -> list[LbrNode]:
        """Split the trajectories of a node among its children, in proportion to their sampling weights.

        A child with an expected count of one or more always gets some; the others are drawn at random.
        """
        if not branches.children:
            return []
        shares = np.array([child.sampling_weight for child in branches.children])
        expected = node.trajectories * shares / shares.sum()
        rare = np.cumsum(np.where(expected < 1, expected, 0.0)) + self.rng.random()
        drawn = np.diff(np.floor(rare), prepend=0.0) > 0  # each with probability `expected`
        counts = np.where(expected < 1, drawn, np.floor(expected))
        weights = node.trajectories * node.weight / np.where(expected < 1, expected, counts)
        pairs = self.showdowns.count_hand_pairs(len(node.board))
        out: list[LbrNode] = []
        for child, trajectories, weight in zip(branches.children, counts.tolist(), weights.tolist(), strict=True):
            if trajectories:
                self.correction -= trajectories * weight * child.state_value / pairs
                sampled = replace(child.make(), trajectories=int(trajectories), weight=weight)
                out += self._deal_next_street(sampled, child.state_value / pairs if self._is_exact(node) else None)
        return out

    def _deal_next_street(self, node: LbrNode, expected_value: float | None) -> list[LbrNode]:
        """Deal the next street to each trajectory, and return a node for each board; the node itself if none is due.

        `expected_value` is the state value per pair of hands before the cards.
        """
        if node.state.over == IN_PROGRESS:
            return [node]
        state = betting_rules.deal_street(self.book, node.state)
        size = self.rules.board_sizes[state.street]
        num_cards = size - len(node.board)
        boards = Counter[Cards]()
        if not node.board:  # all trajectories of a deal share its first cards
            boards[tuple(self.cards[:size])] = node.trajectories
        else:
            remaining = [card for card in self.cards if card not in node.board]
            deck: list[int] = []
            for _ in range(node.trajectories):
                if len(deck) < num_cards:
                    deck = self.rng.permutation(remaining).tolist()
                boards[(*node.board, *(deck.pop() for _ in range(num_cards)))] += 1
        out = []
        for board, trajectories in boards.items():
            live = self.showdowns.live_hands(board)
            ranges = node.own_range * live, node.opponent_range * live
            out.append(LbrNode(node.moves, board, state, *ranges, trajectories, node.weight, None, expected_value))
        return out


def _agent_child(node: LbrNode, k: int, move: int, state: CompactBettingState) -> LbrNode:
    """Return the node after action k of the agent's strategy, with the agent's range updated by Bayes' rule."""
    return node.child(move, state, opponent_range=node.opponent_range * strategy_at(node).probabilities[:, k])
