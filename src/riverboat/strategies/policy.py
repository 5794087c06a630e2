"""`BlueprintPolicy`: a blueprint with action translation and post-processing, a policy for the full game.

    policy = BlueprintPolicy(load_blueprint("runs/mine"), post="new", share=0.2)
    policy.decide(observations)                        # probabilities and actions for observations of single players
    policy.strategies(public_states)                   # strategies of all hands at public states

Off-tree bets are mapped to the tree by action translation. The real pot and stacks are tracked along with the abstract
line, and abstract actions are mapped back to legal actions in the real pot (`_kernels/line.py` has the rules).
Probabilities may be post-processed.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from riverboat.abstraction.actions.translation import TRANSLATION_MAPPINGS, TieRule
from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.cards.equity.equities import map_chunks, showdown_workspace
from riverboat.cards.features.hand_features import hand_strength_tables, pad_streets
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.core.formatting import format_bytes
from riverboat.core.validation import check_name
from riverboat.games.holdem.action_tree import RAISE
from riverboat.games.holdem.actions import END_OF_LINE, HIDDEN_CARD, STATE_FIELDS, compact_rules_arrays
from riverboat.games.holdem.observations import Observations
from riverboat.games.holdem.public_states import PublicStates
from riverboat.games.holdem.rules import PokerRules
from riverboat.strategies._kernels import line as line_kernels
from riverboat.strategies._kernels import policy as kernels
from riverboat.strategies._kernels import table as post_kernels
from riverboat.strategies.blueprint import MAX_STREETS, Blueprint, current_buckets
from riverboat.strategies.postprocessing import FOLD_THRESHOLD, action_kinds
from riverboat.strategies.public_strategy import PublicStateCache, StrategyBatch

# --- buckets of whole ranges ---------------------------------------------------------------------


class BoardBuckets(NamedTuple):
    """Unblocked hands and their buckets, for boards with the same number of cards.

    Attributes
    ----------
    live
        int32 [boards, hands]: indices of the hands that a board does not block, padded.
    left
        int64 [boards]: number of these hands.
    buckets
        int32 [boards, MAX_STREETS, hands]: on all streets so far; 0 for blocked hands.

    Examples
    --------
    >>> from riverboat.agents.registry import default_folder
    >>> from riverboat.strategies.blueprint import load_blueprint
    >>> cards = load_blueprint(default_folder()).cards
    >>> board_buckets(cards, np.array([[0, 5, 10]], np.uint8)).left.tolist()
    [1176]
    """

    live: Array  # int32 [boards, hands]: indices of the hands that a board does not block, padded
    left: Array  # int64 [boards]: number of these hands
    buckets: Array  # int32 [boards, MAX_STREETS, hands]: on all streets so far; 0 for blocked hands


def board_buckets(cards: CardAbstraction, boards: Array) -> BoardBuckets:
    """Return the hands that boards do not block, and their buckets. uint8 [boards, board cards]

    Parameters
    ----------
    cards
        Card abstraction.
    boards
        Boards with the same number of cards. uint8 [boards, board cards]

    Returns
    -------
    BoardBuckets
        The hands that boards do not block, and their buckets.

    Examples
    --------
    >>> from riverboat.agents.registry import default_folder
    >>> from riverboat.strategies.blueprint import load_blueprint
    >>> cards = load_blueprint(default_folder()).cards
    >>> board_buckets(cards, np.zeros((1, 0), np.uint8)).left.tolist()
    [1326]
    """
    hands, n = cards.deck.num_hands, len(boards)
    live, left = np.zeros((n, hands), np.int32), np.zeros(n, np.int64)
    deals = np.empty((live.size, cards.deck.hole + boards.shape[1]), np.uint8)
    count = kernels.deal_hands(cards.deck.hands, boards, live, left, deals)
    buckets = np.zeros((n, MAX_STREETS, hands), np.int32)
    kernels.arrange_buckets(live, left, cards.buckets(deals[:count], check=False), buckets)
    return BoardBuckets(live, left, buckets)


DEFAULT_MAPPING = "rand-pshar"
POSTPROCESSING_METHODS = {
    "none": "as the strategy says",
    "purify": "the most likely move",
    "threshold": "without moves of less than a share, such as 0.15",
    "new": "Tartanian7's: fold above a share, such as 0.2, else the most likely of fold, call and all bets, then of bets",
}
DEFAULT_SHARES = {"threshold": 0.15, "new": FOLD_THRESHOLD}  # used if no share is given
MAX_RESULT_BYTES = 8 << 30  # largest `StrategyBatch`
_METHOD_CODES = {
    "none": post_kernels.NO_PROCESSING,
    "purify": post_kernels.PURIFY,
    "threshold": post_kernels.THRESHOLD,
    "new": post_kernels.TARTANIAN7,
}
_BATCH_SIZE = 256  # public states whose buckets are in memory at once


@dataclass(frozen=True)
class PolicyDecisions:
    """Action probabilities of a policy for n observations.

    Columns: fold, call, and each raise of the tree in ascending order.

    Attributes
    ----------
    rows
        float64 [n, columns]: post-processed probabilities.
    moves
        int32 [n, columns]: the real action of each column.
    node
        int32 [n]: the tree's decision that the line is translated to; -1: off the tree.
    tree_status
        Translation status of the last raise: ON_TREE, BEYOND_MENU or READ_AS_CALL of `_kernels/line.py`. [n]

    Examples
    --------
    >>> from riverboat.agents.registry import default_folder
    >>> from riverboat.strategies.blueprint import load_blueprint
    >>> policy = BlueprintPolicy(load_blueprint(default_folder()))
    >>> tables = Observations.from_match_state("MATCHSTATE:1:0::|AsAh", policy.rules)
    >>> bool(policy.decide(tables).rows.sum() > 0.999)
    True
    """

    rows: Array  # float64 [n, columns]: post-processed probabilities
    moves: Array  # int32 [n, columns]: the real action of each column
    node: Array  # int32 [n]: the tree's decision that the line is translated to; -1: off the tree
    # int8 [n]: ON_TREE (0); BEYOND_MENU (1): the menu has no further raise, so the previous decision is used again
    # without raising; READ_AS_CALL (2): a small raise is translated to a call that ends the round, `node` is after it
    tree_status: Array


@dataclass(frozen=True, eq=False)
class BlueprintPolicy:
    """A blueprint with action translation and post-processing: a policy for the full game.

    Attributes
    ----------
    strategy
        The blueprint.
    translation
        One of `abstraction.actions.translation.TRANSLATION_MAPPINGS`
    tie
        Side for a bet exactly at the threshold of a deterministic mapping.
    post
        One of POSTPROCESSING_METHODS.
    share
        Threshold ε of `threshold`, or fold threshold of `new`; None: the default of the method.
    spare_first
        Whether a player's first decision of a hand is not post-processed; None: the default of the method.
    seed
        Seed of its random choices.
    cache
        Cache of the unblocked hands of boards and their buckets.

    Raises
    ------
    InputError
        If the translation or the post-processing is unknown, or its share invalid.

    Examples
    --------
    >>> from riverboat.agents.registry import default_folder
    >>> from riverboat.strategies.blueprint import load_blueprint
    >>> policy = BlueprintPolicy(load_blueprint(default_folder()))
    >>> states = PublicStates.from_lines(policy.rules, ["r300"])
    >>> policy.strategies(states).labels(0)[:2]
    ('f', 'c')
    """

    strategy: Blueprint
    translation: str = DEFAULT_MAPPING  # one of `abstraction.actions.translation.TRANSLATION_MAPPINGS`
    tie: TieRule = "high"  # side for a bet exactly at the threshold of a deterministic mapping
    post: str = "none"  # one of POSTPROCESSING_METHODS
    share: float | None = None  # ε of `threshold`, fold threshold of `new`
    # skip post-processing at a player's first action of a hand; None: only with `new`, as in Tartanian7
    spare_first: bool | None = None
    seed: int = 0
    cache: PublicStateCache[BoardBuckets] = field(default_factory=PublicStateCache, repr=False)

    def __post_init__(self) -> None:
        check_name("action translation", self.translation, TRANSLATION_MAPPINGS)
        check_name("tie rule", self.tie, ("low", "high"))
        check_name("post-processing", self.post, POSTPROCESSING_METHODS)
        if self.share is not None and self.post not in DEFAULT_SHARES:
            raise InputError(
                f"share={self.share:g}: {self.post} takes no share; {' and '.join(DEFAULT_SHARES)} take one"
            )
        if self.share is not None and not 0 <= self.share <= 1:
            raise InputError(f"{self.post}={self.share:g}: must be from 0 to 1")
        if 0 in self.rules.board[1:]:
            raise InputError(
                f"{self.rules.name!r} deals {self.rules.board} board cards: a blueprint policy needs one in each later round"
            )

    @property
    def rules(self) -> PokerRules:
        """Rules of the game."""
        return self.strategy.rules

    @property
    def has_deterministic_translation(self) -> bool:
        """Whether a bet between two sizes always has the same translation, so that there is no private randomness."""
        return not TRANSLATION_MAPPINGS[self.translation].randomised

    # --- observations ---------------------------------------------------------------------------

    def decide(self, observations: Observations) -> PolicyDecisions:
        """Return action probabilities for observations, and the real actions of the columns.

        Parameters
        ----------
        observations
            Tables at which the player is to act.
        """
        shape = len(observations), self._num_columns
        arrays = kernels.ObservationArrays(*(getattr(observations, name) for name in kernels.ObservationArrays._fields))
        positions = self._follow_lines(arrays)
        rows, moves = np.empty(shape), np.empty(shape, np.int32)
        streets = positions.states[:, 3]
        buckets = current_buckets(self.strategy.cards, streets, observations.hole, observations.board)
        kernels.action_probabilities(self._arrays, buckets, arrays, positions, rows, moves)
        return PolicyDecisions(rows, moves, positions.node, positions.off)

    def act(self, observations: Observations) -> Array:
        """Sample actions for observations. int32 [n]

        Parameters
        ----------
        observations
            Tables at which the player is to act.
        """
        decisions = self.decide(observations)
        return sample_moves(self.seed, observations, decisions.rows, decisions.moves)

    def abstract_nodes(self, public_states: PublicStates, seats: Array) -> Array:
        """Return the tree node that a seat translates each line to, by a deterministic translation; -1: off the tree.

        int8 [n] -> int32 [n]

        Parameters
        ----------
        public_states
            Public states.
        seats
            Seat that translates each line. int8 [n]
        """
        if not self.has_deterministic_translation:
            raise InputError(f"{self.translation}: a line has one tree node only under a deterministic translation")
        _ = public_states.states  # raises on illegal lines
        n = len(public_states)
        cards = np.zeros((n, self.rules.hole), np.uint8), public_states.board  # hole cards do not matter
        lines = (np.ascontiguousarray(part, np.int32) for part in (public_states.moves, public_states.length))
        observations = kernels.ObservationArrays(np.zeros(n, np.int64), np.asarray(seats, np.int8), *cards, *lines)
        return self._follow_lines(observations).node

    def _follow_lines(self, observations: kernels.ObservationArrays) -> kernels.TablePositions:
        """Follow the lines of observations; return their real betting states and their positions in the tree."""
        n = len(observations.length)
        columns = (np.empty(n, dtype) for dtype in (np.int32, np.int8, np.int32))
        positions = kernels.TablePositions(np.empty((n, STATE_FIELDS), np.int64), *columns)
        kernels.follow_lines(self._arrays, self._seed, observations, positions)
        return positions

    # --- public states --------------------------------------------------------------------------

    def strategies(self, public_states: PublicStates, draw: Array | None = None) -> StrategyBatch:
        """Return the strategies of all hands: the expectation over translations, given the line and the player's own actions.

        A hand that never plays these actions gets the expectation given the bets alone.

        Parameters
        ----------
        public_states
            Public states.
        draw
            Numbers of the hands, which fix private randomness; without them strategies are expectations. int64 [n]
        """
        seats = public_states.actor
        query, survey, workspace = self._prepare_query(public_states, seats, draw)
        columns = int(survey.used.max(initial=0))
        shape = (len(public_states), self.rules.deck.num_hands, columns)
        size = 8 * shape[0] * shape[1] * columns
        if size > MAX_RESULT_BYTES:
            raise MemoryLimitError(
                f"{shape[0]:,} public states, {shape[1]:,} hands and {columns} actions take {format_bytes(size)}; "
                f"{format_bytes(MAX_RESULT_BYTES)} are allowed: query fewer public states at a time"
            )
        moves = np.ascontiguousarray(survey.moves[:, :columns])
        result = kernels.PublicQueryResult(np.zeros(shape[:2]), survey.used, moves, np.zeros(shape))
        self._run_query(query, workspace, result)
        return StrategyBatch(public_states, seats, moves, result.shares)

    def reach(self, public_states: PublicStates, seat: int, draw: Array | None = None) -> Array:
        """Return the probability that a seat plays its actions of the line with each hand. float64 [n, hands]

        Parameters
        ----------
        public_states
            Public states.
        seat
            Seat: 0 has the big blind, 1 is the dealer.
        draw
            Numbers of the hands, which fix private randomness; without them strategies are expectations. int64 [n]
        """
        n = len(public_states)
        query, _, workspace = self._prepare_query(public_states, np.full(n, seat, np.int8), draw)
        out = np.zeros((n, self.rules.deck.num_hands))
        no_actions = np.zeros((n, 0), np.int32), np.zeros((n, self.rules.deck.num_hands, 0))
        self._run_query(query, workspace, kernels.PublicQueryResult(out, np.zeros(n, np.int64), *no_actions))
        return out

    def tree_strategy(self, threads: int = 1) -> Blueprint:
        """Return the blueprint with post-processed probabilities, for play within its own tree, without translation.

        If first actions are not post-processed (`spare_first`), nor are decisions of a seat that has not acted before.

        Parameters
        ----------
        threads
            Number of threads. The result does not depend on it.
        """
        if self.post == "none":
            return self.strategy
        tree, rule = self.strategy.tree, self._rule
        tables = []
        for street, weights in enumerate(self.strategy.average):
            slot, count = self.strategy.slots(street)
            nodes = np.flatnonzero((tree.actor >= 0) & (tree.street == street))
            nodes = nodes[np.argsort(tree.slot[nodes])]  # in the order of `slot`
            spared = np.array([self._is_spared(node) for node in nodes.tolist()], bool)
            kinds = np.concatenate([action_kinds(tree.actions(node)) for node in nodes.tolist()])
            table = np.empty(weights.shape)

            def process(buckets: slice, weights: Array = weights, table: Array = table, facts: Any = None) -> None:
                row = np.empty((1, int(facts[1].max())))
                post_kernels.process_table(rule, *facts, weights[buckets], row, table[buckets])

            map_chunks(partial(process, facts=(slot, count, spared, kinds)), len(weights), threads, chunk=256)
            tables.append(table)
        provenance = {**self.strategy.provenance, "post-processing": self.post}
        return replace(self.strategy, average=tuple(tables), provenance=provenance)

    def _is_spared(self, node: int) -> bool:
        """Return whether a decision is not post-processed, as the first of its seat."""
        tree = self.strategy.tree
        return self._spares_first and tree.actor[node] not in tree.actor[tree.path(node)[:-1]]

    def _prepare_query(
        self, public_states: PublicStates, seats: Array, draw: Array | None
    ) -> tuple[kernels.PublicQuery, kernels.PublicQueryResult, kernels.BeliefWorkspace]:
        """Return a query without hands, the actions at its public states, and a workspace of sufficient size."""
        if public_states.rules is not self.rules and public_states.rules != self.rules:
            raise InputError(f"public states of {public_states.rules.name!r}: this policy plays {self.rules.name!r}")
        _ = public_states.states  # raises on illegal lines
        n, max_nodes = len(public_states), 4
        if draw is not None and np.shape(draw) != (n,):
            raise InputError(f"draw of shape {np.shape(draw)}: must have one hand number for each of {n} public states")
        moves, length = (np.ascontiguousarray(part, np.int32) for part in (public_states.moves, public_states.length))
        board = np.ascontiguousarray(public_states.board, np.uint8)
        numbers = np.zeros(n, np.int64) if draw is None else np.ascontiguousarray(draw, np.int64)
        no_hands = np.zeros((1, 0), np.int32), np.zeros(1, np.int64), np.zeros((1, MAX_STREETS, 0), np.int32)
        lines, cards = (moves, length, board, seats), np.zeros(n, np.int32)
        query = kernels.PublicQuery(*lines, draw is not None, numbers, cards, *no_hands)
        while True:
            columns = 2 + max_nodes * (self._num_columns - 2)
            moves = np.full((n, columns), END_OF_LINE, np.int32)
            used = np.zeros(n, np.int64)
            result = kernels.PublicQueryResult(np.zeros((n, 0)), used, moves, np.zeros((n, 0, columns)))
            if kernels.public_strategies(self._arrays, self._seed, query, self._workspace(max_nodes, 0), result) < 0:
                return query, result, self._workspace(max_nodes, self.rules.deck.num_hands)
            max_nodes *= 2

    def _run_query(
        self, query: kernels.PublicQuery, workspace: kernels.BeliefWorkspace, result: kernels.PublicQueryResult
    ) -> None:
        """Run the query with all hands, in batches of public states, and fill in the result."""
        n = len(query.length)
        for begin in range(0, n, _BATCH_SIZE):
            part = slice(begin, min(begin + _BATCH_SIZE, n))
            boards, numbers = query.board[part], np.zeros(1, np.int64)
            if len(boards) > 1:
                boards, numbers = np.unique(boards, axis=0, return_inverse=True)
            board_arrays = self._board_arrays(boards)
            lines = query.moves[part], query.length[part], query.board[part], query.seat[part]
            cards = numbers.reshape(-1).astype(np.int32)
            batch = kernels.PublicQuery(*lines, query.drawn, query.hand[part], cards, *board_arrays)
            batch_result = kernels.PublicQueryResult(*(array[part] for array in result))
            kernels.public_strategies(self._arrays, self._seed, batch, workspace, batch_result)

    def _board_arrays(self, boards: Array) -> BoardBuckets:
        """Return unblocked hands of boards, their number and their buckets, from the cache where possible.

        uint8 [boards, cards] -> int32 [boards, hands], int64 [boards], int32 [boards, streets, hands]
        """
        cached = [self.cache.get(board.tobytes()) for board in boards]
        new = np.array([i for i, board in enumerate(cached) if board is None], np.int64)
        dealt = (boards != HIDDEN_CARD).sum(axis=1)
        for cards in np.unique(dealt[new]).tolist():
            rows = new[dealt[new] == cards]
            computed = board_buckets(self.strategy.cards, boards[rows, :cards])
            for k, i in enumerate(rows.tolist()):
                cached[i] = self.cache.put(boards[i].tobytes(), BoardBuckets(*(part[k : k + 1] for part in computed)))
        entries = [board for board in cached if board is not None]
        return entries[0] if len(entries) == 1 else BoardBuckets(*map(np.concatenate, zip(*entries, strict=True)))

    # --- kernel arguments ---------------------------------------------------------------------------

    @cached_property
    def _seed(self) -> np.uint64:
        return np.uint64(self.seed % 2**64)

    @cached_property
    def _num_columns(self) -> int:
        tree = self.strategy.tree
        raises = np.bincount(tree.parent[1:][tree.kind[1:] == RAISE], minlength=1)
        return kernels.FIRST_RAISE_COLUMN + int(raises.max(initial=0))

    @property
    def _rule(self) -> post_kernels.PostprocessingRule:
        share = DEFAULT_SHARES.get(self.post, 0.0) if self.share is None else self.share
        epsilon = share if self.post == "threshold" else post_kernels.NO_EPSILON
        return post_kernels.PostprocessingRule(_METHOD_CODES[self.post], float(share), float(epsilon))

    @property
    def _spares_first(self) -> bool:
        return self.post == "new" if self.spare_first is None else self.spare_first

    @cached_property
    def _arrays(self) -> kernels.PolicyArrays:
        rules = compact_rules_arrays(self.rules)
        # Tables of one dtype, uint8 or float32, so that kernels are compiled at most twice.
        average = self.strategy.average
        dtype: Any = np.uint8 if all(table.dtype == np.uint8 for table in average) else np.float32
        return kernels.PolicyArrays(
            rules,
            *line_arrays(self.strategy, self.rules, self.translation, self.tie),
            self._rule,
            self._spares_first,
            action_kinds(("f", "c", *["r"] * (self._num_columns - kernels.FIRST_RAISE_COLUMN))),
            hand_strength_tables(self.rules.deck, self.rules.board_sizes),
            pad_streets(np.require(table, dtype, ["C", "W"]) for table in average),
        )

    def _workspace(self, max_nodes: int, hands: int) -> kernels.BeliefWorkspace:
        num_buckets = max(self.strategy.buckets) if hands else 0
        return kernels.BeliefWorkspace(
            np.zeros(max_nodes, np.int64),
            np.zeros(max_nodes, np.int64),
            np.zeros(max_nodes),
            np.zeros((max_nodes, hands)),
            np.zeros((hands, self._num_columns)),
            np.zeros((1, self._num_columns), np.int32),
            np.zeros(self._num_columns, np.int64),
            np.zeros(hands),
            np.zeros(1, np.int64),
            np.zeros(num_buckets, np.int64),
            np.zeros(num_buckets, np.int32),
            np.zeros(2, np.int64),
            showdown_workspace(hands),
        )


def sample_moves(seed: int, observations: Observations, rows: Array, moves: Array) -> Array:
    """Sample an action from each row, determined by the seed, the hand number and the position in the line. int32 [n]

    Parameters
    ----------
    seed
        Seed of the random choices.
    observations
        Tables at which the player is to act.
    rows
        Probabilities. float64 [n, columns]
    moves
        Action of each column. int32 [n, columns]

    Returns
    -------
    Array
        The sampled actions. int32 [n]

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> tables = Observations.from_match_state("MATCHSTATE:1:0::|AsAh", read_game("nolimit-200bb"))
    >>> sample_moves(0, tables, np.array([[0.0, 1.0]]), np.array([[0, 300]], np.int32)).tolist()
    [300]
    """
    out = np.zeros(len(observations), np.int32)
    kernels.sample_actions(np.uint64(seed % 2**64), observations.hand, observations.length, rows, moves, out)
    return out


def line_arrays(
    strategy: Blueprint | None, rules: PokerRules, mapping: str, tie: TieRule = "high"
) -> tuple[line_kernels.ActionTreeArrays, line_kernels.BetTranslation]:
    """Return kernel arrays of a blueprint's tree and of the action translation (`_kernels/line.py`).

    Without a strategy the tree is empty, for lines that start off the tree.

    Parameters
    ----------
    strategy
        The blueprint; None: lines start off the tree.
    rules
        Rules of the game.
    mapping
        Action translation, one of `abstraction.actions.translation.TRANSLATION_MAPPINGS`.
    tie
        Side for a bet exactly at the threshold of a deterministic mapping.

    Returns
    -------
    tuple[line_kernels.ActionTreeArrays, line_kernels.BetTranslation]
        Kernel arrays of a blueprint's tree and of the action translation (`_kernels/line.py`).

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> tree, translation = line_arrays(None, read_game("nolimit-200bb"), "det-pshar")
    >>> len(tree.actor)
    1
    """
    bet_translation = line_kernels.BetTranslation(
        list(TRANSLATION_MAPPINGS).index(mapping), tie == "low", int(compact_rules_arrays(rules).stacks.min())
    )
    names = ("actor", "street", "first", "count", "parent", "kind", "total", "spent", "slot")
    if strategy is not None:
        return line_kernels.ActionTreeArrays(*(getattr(strategy.tree, name) for name in names)), bet_translation
    small = ("actor", "street", "count", "kind")
    arrays = [np.full((1, 2) if name == "spent" else 1, -1, np.int8 if name in small else np.int32) for name in names]
    return line_kernels.ActionTreeArrays(*arrays), bet_translation
