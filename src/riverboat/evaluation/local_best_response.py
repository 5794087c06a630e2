"""Local best response (LBR): a lower bound on exploitability in the full game (Lisý and Bowling 2017).

    bound = local_best_response(agent, rules, actions="fcpa", start="turn", hands=20_000)
    bound.mbb_per_game, bound.ci95                     # at most the agent's exploitability, up to the interval

The responder tracks the agent's range by Bayes' rule and looks one action ahead, off the agent's betting tree too. At
each decision it takes the action with the largest utility, on the assumption that both players check and call from
then on:

    call:   wp · pot - (1 - wp) · to_call
    raise:  fp · pot + (1 - fp) · (wp' · (pot + a) - (1 - wp') · (to_call + a))

`wp` is the probability that its hand wins against the agent's range over all runouts. `fp` is the probability that
the range folds to the raise, and `wp'` the win probability against the rest of the range; the raise adds `a` to a
call. If no utility is positive, the responder folds, or checks. On streets before `start` it only calls.

The estimator does not play single hands. A public state carries the ranges of both players over all hands: the
responder's reach is 0 or 1, the agent's comes from its strategy. Terminal values are computed exactly as means over
all pairs of hands; an all-in is averaged over runouts. Lines that continue are sampled: a number of trajectories
start at the root of a deal and are split among the actions in proportion to the stakes behind them. Each trajectory
sees its own turn and river. It is weighted by the inverse of its sampling probability, so every deal gives an
unbiased mean. Deals are independent; the interval is over them.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from math import floor
from typing import Any, TypeAlias

import numpy as np

from riverboat.cards.equity.batch_equities import BatchShowdown
from riverboat.core.arrays import Array
from riverboat.core.claims import LOWER, Claim
from riverboat.core.errors import InputError, check_threads, unknown_name_error
from riverboat.core.parallel import map_in_order
from riverboat.evaluation.confidence_intervals import ConfidenceInterval, Winnings, mean_interval
from riverboat.games.holdem import betting_rules
from riverboat.games.holdem.actions import END_OF_LINE, HIDDEN_CARD, format_action
from riverboat.games.holdem.betting_rules import CALL, FOLD, FOLDED, IN_PROGRESS, SHOWDOWN, CompactBettingState
from riverboat.games.holdem.public_states import PublicStates
from riverboat.games.holdem.rules import PokerRules
from riverboat.strategies.public_strategy import PublicPolicy, PublicStateStrategy, iterate_strategies

# --- Responder: its decision with all hands at a public state ---

POT_FRACTIONS = (*(0.05 * 1.15**k for k in range(53)),)
# Raises to consider, as fractions of the pot; all-in is added to them. None: no raises.
ACTION_SETS: dict[str, tuple[float, ...] | None] = {"fc": None, "fcpa": (1.0,), "56": POT_FRACTIONS}
_MANY_ACTIONS = 256  # larger strategies, of agents that bet any number of chips, are compacted
_TOLERANCE = 1e-9  # relative to the pot, for rounding


def _agent_name(agent: Any) -> str:
    """Return the name of an agent for messages."""
    return str(getattr(agent, "name", type(agent).__name__))


@dataclass
class LbrNode:
    """Public state of a sampled deal, with both ranges and the trajectories that reach it.

    Parameters
    ----------
    moves
        Actions so far, as integers.
    board
        Cards of the board.
    state
        Betting state.
    own_range
        Reach of the responder's hands. float64 [hands]
    opponent_range
        Reach of the agent's hands. float64 [hands]
    trajectories
        Number of trajectories.
    weight
        Weight of each trajectory: the inverse of its sampling probability.
    strategy
        The agent's strategy, once it was queried.

    Examples
    --------
    >>> import numpy as np
    >>> from riverboat.evaluation.local_best_response import LbrNode
    >>> from riverboat.games.holdem.betting import CompactBettingState
    >>> from riverboat.games.holdem.rules import read_game
    >>> start = CompactBettingState(*read_game("leduc").compact.start)
    >>> LbrNode((), (), start, np.ones(6), np.ones(6)).weight
    1.0
    """

    moves: tuple[int, ...]
    board: tuple[int, ...]
    state: CompactBettingState
    own_range: Array  # float64 [hands]: reach of the responder's hands
    opponent_range: Array  # float64 [hands]: reach of the agent's hands
    trajectories: int = 1
    weight: float = 1.0  # inverse of the sampling probability of each trajectory
    strategy: PublicStateStrategy | None = None  # the agent's strategy; None until it is queried

    def child(self, move: int, state: CompactBettingState, **changes: Any) -> LbrNode:
        """Return the node after an action; its trajectories are those of this node until they are split.

        Parameters
        ----------
        move
            The action.
        state
            Betting state after it.
        changes
            The range that the action changes, and the agent's strategy there if it is known.
        """
        return replace(self, moves=(*self.moves, move), state=state, **{"strategy": None, **changes})


class LocalResponder:
    """Local best responder against one agent with one set of actions.

    Parameters
    ----------
    agent
        Agent that has strategies for all hands.
    rules
        Zero-sum two-player game.
    actions
        A key of `ACTION_SETS`.
    start
        First street on which the responder may fold or raise, from 0.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> from riverboat.evaluation.local_best_response import LocalResponder
    >>> from riverboat.games.holdem.rules import read_game
    >>> LocalResponder(make_agent("always-call"), read_game("leduc"), "fcpa", 0).raises
    (1.0,)
    """

    def __init__(self, agent: PublicPolicy, rules: PokerRules, actions: str, start: int) -> None:
        self.agent, self.rules, self.book = agent, rules, rules.compact
        self.raises, self.start = ACTION_SETS[actions], start
        self.showdowns = BatchShowdown(rules.deck, rules.board_sizes[-1])

    # --- Agent ---

    def query_agent(self, nodes: Sequence[LbrNode]) -> None:
        """Query the agent's strategies at nodes where it acts, in one batch, and store them in the nodes.

        Parameters
        ----------
        nodes
            Nodes where the agent acts.

        Raises
        ------
        InputError
            If a strategy has illegal actions or does not sum to one.
        """
        max_length = max([1, *(len(node.moves) for node in nodes)])
        moves = np.full((len(nodes), max_length), END_OF_LINE, np.int32)
        board = np.full((len(nodes), self.rules.board_sizes[-1]), HIDDEN_CARD, np.uint8)
        for i, node in enumerate(nodes):
            moves[i, : len(node.moves)] = node.moves
            board[i, : len(node.board)] = node.board
        public_states = PublicStates(self.rules, moves, np.array([len(node.moves) for node in nodes], np.int32), board)
        for node, strategy in zip(nodes, iterate_strategies(self.agent, public_states), strict=True):
            self._check_strategy(strategy, node)
            node.strategy = _compact_strategy(strategy, node) if len(strategy.moves) > _MANY_ACTIONS else strategy

    def _check_strategy(self, answer: PublicStateStrategy, node: LbrNode) -> None:
        """Raise InputError if a strategy has illegal actions or does not sum to one."""
        price = betting_rules.call_amount(self.book, node.state)
        raises = betting_rules.raise_bounds(self.book, node.state)
        illegal = [move for move in answer.moves.tolist() if not betting_rules.is_action_allowed(price, *raises, move)]
        sums = answer.probabilities.sum(axis=1)[node.opponent_range > 0]
        if illegal or not np.abs(sums - 1).max(initial=0.0) < 1e-6:
            line = " ".join(format_action(move, self.rules) for move in node.moves) or "the deal"
            problem = f"action {format_action(illegal[0], self.rules)!r} is illegal there" if illegal else ""
            problem = problem or f"probabilities of a hand sum to {float(sums[np.abs(sums - 1).argmax()]):.9g}"
            raise InputError(f"agent {_agent_name(self.agent)!r} after {line}: {problem}")

    # --- Responder ---

    def raise_totals(self, state: CompactBettingState) -> list[int]:
        """Return the totals of the raises to consider, in ascending order.

        Parameters
        ----------
        state
            Betting state where the responder acts.
        """
        least, most = betting_rules.raise_bounds(self.book, state)
        if self.raises is None or least > most:
            return []
        high = max(state.spent0, state.spent1)
        wanted = [high + floor(2 * high * pots + 0.5) for pots in self.raises]
        return sorted({most, *(min(max(total, least), most) for total in wanted)})

    def raise_children(self, node: LbrNode) -> list[LbrNode]:
        """Return the nodes after the raises to consider; the agent acts there.

        Parameters
        ----------
        node
            Node where the responder acts.
        """
        totals = [] if node.state.street < self.start else self.raise_totals(node.state)
        return [node.child(total, betting_rules.apply_action(self.book, node.state, total)) for total in totals]

    def choose(
        self, node: LbrNode, raise_nodes: Sequence[LbrNode], showdown_wins: Callable[[Array], Array]
    ) -> list[tuple[int, Array]]:
        """Choose the responder's actions, each with the mask of hands that take it.

        Parameters
        ----------
        node
            Node where the responder acts.
        raise_nodes
            Nodes after its raises, with the agent's strategies there.
        showdown_wins
            Function from ranges to the weight that each hand wins against each of them. float64 [ranges, hands] to the
            same
        """
        at, seat = node.state, node.state.turn
        own_spent, opponent_spent = (at.spent0, at.spent1) if seat == 0 else (at.spent1, at.spent0)
        to_call, faced = betting_rules.call_amount(self.book, at), min(opponent_spent, self.book.stacks[seat])
        pot = own_spent + faced
        folding = [_strategy_at(raise_node).move_probabilities(FOLD) for raise_node in raise_nodes]
        ranges = np.stack([node.opponent_range, *(node.opponent_range * (1.0 - fold) for fold in folding)])
        compatible, wins = self.showdowns.compatible_weights(ranges), showdown_wins(ranges)
        adds = [0, *(min(raise_node.state[seat], self.book.stacks[1 - seat]) - faced for raise_node in raise_nodes)]
        added = np.array(adds, float)[:, None]
        utility = (compatible[0] - compatible) * pot + wins * (pot + added) - (compatible - wins) * (to_call + added)
        best_utility, tolerance = utility.max(axis=0), _TOLERANCE * pot * float(node.opponent_range.sum())
        nearly_best = utility >= best_utility - tolerance
        best = len(raise_nodes) - nearly_best[::-1].argmax(axis=0)  # the largest of equal raises
        folds = best_utility <= tolerance
        moves = [CALL, *(raise_node.moves[-1] for raise_node in raise_nodes)]
        chosen = [(move, (best == k) & ~(folds & (to_call > 0))) for k, move in enumerate(moves)]
        return [(FOLD, folds), *chosen] if to_call > 0 else chosen


def _compact_strategy(answer: PublicStateStrategy, node: LbrNode) -> PublicStateStrategy:
    """Return the strategy with one row for all hands, to save memory, if all hands in the agent's range play alike."""
    held = np.flatnonzero(node.opponent_range > 0)
    if len(held) and (answer.probabilities[held] == answer.probabilities[held[0]]).all():
        row = answer.probabilities[held[0]].copy()
        return PublicStateStrategy(answer.moves, np.broadcast_to(row, answer.probabilities.shape))
    return answer


def _strategy_at(node: LbrNode) -> PublicStateStrategy:
    assert node.strategy is not None
    return node.strategy


# --- Traversal of the public tree of one deal ---

NUM_RUNOUTS = 48  # sampled for the value of an all-in before the turn
MAX_EXACT_RUNOUTS = 50  # runouts evaluated one by one; with more, all pairs of hands are rolled out once


@dataclass
class _LbrBranches:
    """Terminal values of the actions at a decision, and the children to sample."""

    fold_value: float = 0.0  # responder's winnings from folds, summed over pairs of hands
    showdowns: list[LbrNode] = field(default_factory=list)  # terminal nodes
    continuing: list[Callable[[], LbrNode]] = field(default_factory=list)  # factories of children, called when sampled
    sampling_weights: list[float] = field(default_factory=list)  # children: pairs × larger stake


Line: TypeAlias = tuple[int, ...]
Cards: TypeAlias = tuple[int, ...]


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
    >>> from riverboat.evaluation.local_best_response import LbrTraversal, LocalResponder
    >>> from riverboat.games.holdem.rules import read_game
    >>> responder = LocalResponder(make_agent("always-fold"), read_game("leduc"), "fcpa", 0)
    >>> len(LbrTraversal(responder, 4, seed=0).evaluate_deal(0))
    2
    """

    def __init__(self, responder: LocalResponder, trajectories: int, seed: int) -> None:
        self.responder, self.trajectories, self.seed = responder, trajectories, seed
        self.preflop_branches: dict[tuple[int, Line], _LbrBranches] = {}

    def evaluate_deal(self, number: int) -> tuple[float, float]:
        """Return the responder's values in seat 0 and in seat 1 in one deal, in chips per hand, with the same cards.

        Parameters
        ----------
        number
            Number of the deal, from 0.
        """
        rng = np.random.default_rng((self.seed, number))
        cards, margins = rng.permutation(self.responder.rules.deck.cards).tolist(), dict[Cards, Array]()
        return _LbrDeal(self, 0, cards, margins, rng).value(), _LbrDeal(self, 1, cards, margins, rng).value()


@dataclass
class _LbrDeal:
    """One deal with the responder in one seat, traversed breadth-first, so that the agent is queried in batches."""

    traversal: LbrTraversal
    seat: int  # seat of the responder
    cards: list[int]  # shuffled deck; all trajectories share its first cards as their first board
    margins: dict[Cards, Array]  # cache of `pair_margins` by board
    rng: np.random.Generator

    def __post_init__(self) -> None:
        self.responder = responder = self.traversal.responder
        self.showdowns, self.rules, self.book = responder.showdowns, responder.rules, responder.book

    def value(self) -> float:
        """Estimate the responder's mean winnings over all pairs of hands, in chips per hand."""
        trajectories, board = self.traversal.trajectories, tuple(self.cards[: self.rules.board_sizes[0]])
        live, start = self.showdowns.live_hands(board).astype(float), CompactBettingState(*self.book.start)
        frontier = [LbrNode((), board, start, live, live, trajectories)]
        total = 0.0
        while frontier:
            following: list[LbrNode] = []
            for node, branches in zip(frontier, self._branches(frontier), strict=True):
                value = branches.fold_value + sum(self._showdown_value(terminal) for terminal in branches.showdowns)
                total += node.trajectories * node.weight * value / self.showdowns.count_hand_pairs(len(node.board))
                following += self._split_trajectories(node, branches)
            frontier = following
        return total / trajectories

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
        if node.state.street < self.responder.start:
            chosen = [(CALL, np.ones(len(node.own_range), bool))]
        else:
            chosen = self.responder.choose(node, raise_nodes, lambda ranges: self._showdown_wins(node.board, ranges))
        compatible = self.showdowns.compatible_weights(node.opponent_range[None])[0]
        strategies = {raise_node.moves[-1]: raise_node.strategy for raise_node in raise_nodes}
        out = _LbrBranches()
        for move, hands in chosen:
            own_range = node.own_range * hands
            child = partial(node.child, own_range=own_range, strategy=strategies.get(move))
            self._add_branch(out, node, move, float(own_range @ compatible), child)
        return out

    def _agent_branches(self, node: LbrNode) -> _LbrBranches:
        """Return the branches of a decision of the agent, one for each action of its strategy."""
        strategy, compatible = _strategy_at(node), self.showdowns.compatible_weights(node.own_range[None])[0]
        masses = (node.opponent_range * compatible) @ strategy.probabilities
        out = _LbrBranches()
        for k, move in enumerate(strategy.moves.tolist()):
            self._add_branch(out, node, move, float(masses[k]), partial(_agent_child, node, k))
        return out

    def _add_branch(
        self, out: _LbrBranches, node: LbrNode, move: int, mass: float, child: Callable[..., LbrNode]
    ) -> None:
        """Add the branch of one action to `out`; `mass` is its number of pairs of hands, weighted by reach.

        `child` makes the node after the action from the action and the betting state.
        """
        if not mass > 0:
            return
        state = betting_rules.apply_action(self.book, node.state, move)
        make_node = partial(child, move, state)
        if state.over == FOLDED:
            stake = min(state.spent0, state.spent1)
            out.fold_value += mass * (-stake if state.turn == self.seat else stake)
        elif state.over == SHOWDOWN:
            out.showdowns.append(make_node())
        else:
            out.continuing.append(make_node)
            out.sampling_weights.append(mass * max(state.spent0, state.spent1))

    # --- Showdowns ---

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
        if not branches.continuing:
            return []
        expected = node.trajectories * np.array(branches.sampling_weights) / sum(branches.sampling_weights)
        rare = np.cumsum(np.where(expected < 1, expected, 0.0)) + self.rng.random()
        drawn = np.diff(np.floor(rare), prepend=0.0) > 0  # each with probability `expected`
        counts = np.where(expected < 1, drawn, np.floor(expected))
        weights = node.trajectories * node.weight / np.where(expected < 1, expected, counts)
        out: list[LbrNode] = []
        for make_node, trajectories, weight in zip(branches.continuing, counts.tolist(), weights.tolist(), strict=True):
            if trajectories:
                out += self._deal_next_street(replace(make_node(), trajectories=int(trajectories), weight=weight))
        return out

    def _deal_next_street(self, node: LbrNode) -> list[LbrNode]:
        """Deal the next street to each trajectory, and return a node for each board; the node itself if none is due."""
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
            out.append(LbrNode(node.moves, board, state, *ranges, trajectories, node.weight))
        return out


def _agent_child(node: LbrNode, k: int, move: int, state: CompactBettingState) -> LbrNode:
    """Return the node after action k of the agent's strategy, with the agent's range updated by Bayes' rule."""
    return node.child(move, state, opponent_range=node.opponent_range * _strategy_at(node).probabilities[:, k])


NUM_TRAJECTORIES = 32  # per deal and seat


@dataclass(frozen=True)
class LocalBestResponseResult(Winnings):
    """Winnings of a local best response against an agent: a lower bound on its exploitability.

    Attributes
    ----------
    agent
        Name of the agent.
    actions
        Set of actions of the responder.
    start
        First street on which it may fold or raise.
    big_blind
        Chips of a big blind.
    chips
        Winnings per hand, over deals.
    seats
        The same with the responder in seat 0, and in seat 1.
    hands
        Number of hands.
    seed
        Seed of all cards and samples.
    seconds
        Time of the computation.

    Examples
    --------
    >>> from riverboat.evaluation.confidence_intervals import ConfidenceInterval
    >>> from riverboat.evaluation.local_best_response import LocalBestResponseResult
    >>> won = ConfidenceInterval(10.0, 2.0, 100)
    >>> LocalBestResponseResult("agent", "fcpa", "preflop", 100, won, (won, won), 200, 0, 1.0).mbb_per_game
    100.0
    """

    agent: str
    actions: str
    start: str
    big_blind: int
    chips: ConfidenceInterval  # per hand, over deals
    seats: tuple[ConfidenceInterval, ConfidenceInterval]  # the same with the responder in seat 0, and in seat 1
    hands: int
    seed: int
    seconds: float

    @property
    def by_seat(self) -> tuple[float, float]:
        """Winnings in chips per hand with the responder in seat 0, and in seat 1."""
        return self.seats[0].mean, self.seats[1].mean

    @property
    def claim(self) -> Claim:
        """Lower bound on the agent's exploitability."""
        return self._claim("exploitability", LOWER, self.hands, "hands")

    @property
    def hands_per_second(self) -> float:
        """Hands evaluated per second."""
        return self.hands / self.seconds if self.seconds > 0 else 0.0

    def record(self) -> dict[str, Any]:
        """Return the result as a JSON object, without timings."""
        return {
            "mbb_per_game": self.mbb_per_game,
            "ci95": self.ci95,
            "is": "bound",
            "side": "lower",
            "hands": self.hands,
            "deals": self.chips.count,
            "actions": self.actions,
            "from": self.start,
            "by_seat": [1000 * chips / self.big_blind for chips in self.by_seat],
            "seed": self.seed,
        }

    def __str__(self) -> str:
        return f"{self.agent}: {self.claim}"


def local_best_response(
    agent: PublicPolicy,
    rules: PokerRules,
    *,
    actions: str = "fcpa",
    start: str = "preflop",
    hands: int | None = 4_000,
    seconds: float | None = None,
    seed: int = 0,
    threads: int = 1,
    trajectories: int = NUM_TRAJECTORIES,
    progress: Callable[[float], None] | None = None,
) -> LocalBestResponseResult:
    """Estimate how much a local best response wins against an agent.

    Parameters
    ----------
    agent
        Agent that has strategies for all hands.
    rules
        Zero-sum two-player game.
    actions
        Responder's set of actions: `fc`, `fcpa` (pot and all-in raises) or `56` (53 pot fractions and all-in).
    start
        First street on which the responder may fold or raise; before it, it only calls.
    hands, seconds
        Sample size, rounded up to whole deals, or time limit; give one of the two. At least two deals are evaluated.
    seed
        Seed of all cards and samples.
    threads
        Threads that evaluate deals; with more than one, all of them query the agent. Results do not depend on the
        number, unless `seconds` is given.
    trajectories
        Sampled trajectories per deal and seat.
    progress
        Callback with the completed fraction.

    Returns
    -------
    LocalBestResponseResult
        Lower bound on the exploitability, with its interval.

    Raises
    ------
    InputError
        If an option is invalid, the agent has no strategies for all hands, or the game is not zero-sum.

    References
    ----------
    .. [1] Lisý & Bowling, "Equilibrium approximation quality of current no-limit poker bots", AAAI workshop 2017.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> from riverboat.evaluation.local_best_response import local_best_response
    >>> from riverboat.games.holdem.rules import read_game
    >>> local_best_response(make_agent("always-fold"), read_game("leduc"), hands=64).mbb_per_game > 0
    True
    """
    if actions not in ACTION_SETS:
        raise unknown_name_error("set of actions", actions, ACTION_SETS)
    if start not in rules.streets:
        raise unknown_name_error("street", start, rules.streets)
    if not isinstance(agent, PublicPolicy):
        raise InputError(
            f"agent {_agent_name(agent)!r} has no strategies for all hands: it lacks the method strategies(public_states)"
        )
    if (hands is None) == (seconds is None):
        raise InputError(f"hands={hands}, seconds={seconds}: give one of the two")
    if hands is not None and hands < 4:
        raise InputError(f"hands={hands}: must be at least 4: two deals in two seats")
    check_threads(threads)
    rules.require_zero_sum("local best responses are known")
    trajectories = trajectories if hands is None else min(trajectories, max(1, hands // 4))
    traversal = LbrTraversal(LocalResponder(agent, rules, actions, rules.streets.index(start)), trajectories, seed)
    start_time = time.perf_counter()
    pairs: list[tuple[float, float]] = []
    deals = None if hands is None else max(2, -(-hands // (2 * trajectories)))
    for values in map_in_order(traversal.evaluate_deal, count() if deals is None else range(deals), threads):
        pairs.append(values)
        elapsed = time.perf_counter() - start_time
        if progress is not None:
            progress(len(pairs) / deals if deals is not None else min(elapsed / (seconds or elapsed), 1.0))
        if seconds is not None and elapsed >= seconds and len(pairs) >= 2:
            break
    first, second = np.array(pairs).T
    chips, *seats = (mean_interval(samples) for samples in ((first + second) / 2, first, second))
    elapsed = time.perf_counter() - start_time
    facts = chips, (seats[0], seats[1]), 2 * trajectories * len(pairs), seed, elapsed
    return LocalBestResponseResult(_agent_name(agent), actions, start, rules.big_blind, *facts)
