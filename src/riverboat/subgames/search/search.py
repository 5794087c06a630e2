"""Subgame search at the table: the blueprint plays the first streets, then the rest of the hand is solved.

    search = SubgameSearch(policy, SearchSettings("turn", "resolve"))
    search.positions(public_states, seats)             # the position of each public state in a solved subgame

A subgame depends on the line, the board and the searching seat, never on private cards. So its solution can be cached,
and recomputed bit for bit. A line leads through a chain of subgames:

- The first starts with its street. Ranges come from Bayes' rule: the seat's own range from its real policy, the
  opponent's from the blueprint along the translated line. The opponent's values are best responses to the blueprint.
- An off-tree action, and each new street, starts the next subgame, with ranges and values of the last solution. After
  an off-tree action no values are known: those of the decision before it replace them (`nested="inexpensive"`), or the
  subgame starts at that decision and includes the action (`"expensive"`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from typing import NamedTuple, TypeAlias

import numpy as np

from riverboat.cards.deck import FULL_DECK, NUM_HANDS
from riverboat.cards.notation import format_cards
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, check_threads
from riverboat.core.resources import available_memory
from riverboat.core.validation import check_name, optional
from riverboat.engines.devices import CPU, resolve_device
from riverboat.games.holdem.actions import CALL, format_action
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.menus import ActionMenu, menu_raise_totals
from riverboat.games.holdem.public_states import PublicStates
from riverboat.games.holdem.rules import STREETS, PokerRules
from riverboat.solvers.boards.batches import solve_many
from riverboat.strategies.blueprint import Blueprint
from riverboat.strategies.blueprint_values import blueprint_values
from riverboat.strategies.policy import BlueprintPolicy
from riverboat.strategies.public_strategy import PublicStateCache
from riverboat.strategies.reports.blueprint import node_at_line
from riverboat.subgames.depth_limited.leaf_values import LEAF_METHODS
from riverboat.subgames.search.depth_limited import NO_VALUES, DepthLimitedPosition, DepthLimitedSubgame, SearchContext
from riverboat.subgames.search.gifts import blueprint_gifts
from riverboat.subgames.search.subgames import (
    GIFT_METHODS,
    SEARCH_METHODS,
    SearchSubgame,
    SubgamePosition,
    SubgameRoot,
    add_raise_total,
    choose_menu,
    street_nodes,
)

AnySubgame: TypeAlias = SearchSubgame | DepthLimitedSubgame
AnyPosition: TypeAlias = SubgamePosition | DepthLimitedPosition
NESTED_MODES = ("inexpensive", "expensive")
# Size of the cache of solutions in bytes, or as a share of free memory if that is more.
MIN_CACHE_BYTES, CACHE_MEMORY_SHARE = 1 << 30, 1 / 16
DEFAULT_WORK = 5.5e6  # nodes × boards × hands: about a second on one core for a hundred iterations
WORK_PER_SECOND = 5e6  # per core, for about sixty iterations
MIN_SECONDS = 0.05
DEFAULT_ITERATIONS = {"preflop": 100, "flop": 100, "turn": 100, "river": 300}
MAX_ITERATIONS = 1_000_000  # if time is the limit
CHECK_EVERY = 10  # iterations: a check costs half an iteration on a turn, and three on a river
MAX_SPREAD = 10.0
DEFAULT_FORCED = 0.1  # share of the opponent's range
LAST_DEPTH_LIMITED_STREET = 1  # the flop: later streets are solved to the end of the hand
MIN_OWN_WEIGHT = 1e-4  # minimum weight of own hands, so that hands outside the range have a strategy too


@dataclass(frozen=True)
class SearchSettings:
    """Settings of subgame search.

    Attributes
    ----------
    street
        First searched street.
    method
        One of `SEARCH_METHODS`: unsafe, resolve, maxmargin, reach_maxmargin, reach_maxmargin_split or estimate.
    iterations
        Per solve; None: DEFAULT_ITERATIONS of the street.
    until
        Target exploitability in % of the pot.
    seconds
        Time per solve, instead of iterations.
    menu
        None: by stack depth and available time.
    nested
        None: inexpensive for safe methods, else expensive.
    floor
        Minimum weight of the opponent's hands.
    model
        Threshold for the opponent model: less likely actions of the blueprint are dropped.
    play
        Threshold for play: less likely actions of a solution are dropped.
    leaves
        Leaf values of depth-limited subgames.
    forced
        `resolve`: share of the opponent's range that must enter; None: DEFAULT_FORCED.
    spread
        `estimate`: standard deviation of the values, as a multiple of their known error.
    threads
        Threads that solve one subgame.
    device
        `cpu`, or a GPU.

    Raises
    ------
    InputError
        If a value is unknown or out of range, or two contradict each other.

    Examples
    --------
    >>> SearchSettings("river", "resolve", iterations=50).work
    5500000.0
    """

    street: str = "turn"  # first searched street
    method: str = "unsafe"
    iterations: int | None = None  # per solve; None: DEFAULT_ITERATIONS of the street
    until: float = 0.4  # target exploitability in % of the pot
    seconds: float | None = None  # time per solve, instead of iterations
    menu: ActionMenu | None = None  # None: by stack depth and available time
    nested: str | None = None  # None: inexpensive for safe methods, else expensive
    floor: float = 0.01  # minimum weight of the opponent's hands
    model: float = 0.0  # threshold for the opponent model: less likely actions of the blueprint are dropped
    play: float = 0.0  # threshold for play: less likely actions of a solution are dropped
    leaves: str = "continuations"  # leaf values of depth-limited subgames
    forced: float | None = None  # `resolve`: share of the opponent's range that must enter; None: DEFAULT_FORCED
    spread: float = 0.0  # `estimate`: standard deviation of the values, as a multiple of their known error
    threads: int = 1
    device: str = CPU

    def __post_init__(self) -> None:
        check_name("street", self.street, STREETS)
        check_name("method", self.method, SEARCH_METHODS)
        check_name("leaves", self.leaves, LEAF_METHODS)
        if self.leaves != "continuations" and STREETS.index(self.street) > LAST_DEPTH_LIMITED_STREET:
            raise InputError(
                f"leaves={self.leaves}: a {self.street} is solved to the end of the hand; give search=flop or preflop"
            )
        optional(check_name, "nested", self.nested, NESTED_MODES)
        if self.nested == "inexpensive" and self.method == "unsafe":
            raise InputError(
                "nested=inexpensive: unsafe search has no values for off-tree actions; give nested=expensive"
            )
        if self.iterations is not None and self.iterations < 1:
            raise InputError(f"iterations={self.iterations}: must be at least 1")
        if not self.until > 0:
            raise InputError(f"until={self.until:g}: must be above zero, such as 0.4 (% of the pot)")
        if self.seconds is not None and self.iterations is not None:
            raise InputError("iterations and time: give only one of them to limit a solve")
        if self.seconds is not None and not self.seconds >= MIN_SECONDS:
            raise InputError(f"time={self.seconds:g} s: too short to solve anything; give {MIN_SECONDS:g} s or more")
        for name in ("floor", "model", "play", "forced"):
            if not 0 <= (share := getattr(self, name) or 0.0) <= 1:
                raise InputError(f"{name}={share:g}: must be from 0 to 1, such as 0.01")
        if not 0 <= self.spread <= MAX_SPREAD:
            raise InputError(f"spread={self.spread:g}: must be from 0 to {MAX_SPREAD:g}, such as 1")
        if self.spread and self.method != "estimate":
            raise InputError(
                f"spread={self.spread:g}: values of method={self.method} are not estimates; give method=estimate"
            )
        if self.forced is not None and self.method != "resolve":
            raise InputError(f"forced={self.forced:g}: method={self.method} has no stop action; give method=resolve")
        check_threads(self.threads)
        resolve_device(self.device)

    @property
    def work(self) -> float:
        """Maximum size of a subgame, nodes × boards × hands, for the default iterations or the given time."""
        return DEFAULT_WORK if self.seconds is None else self.seconds * self.threads * WORK_PER_SECOND


class SubgameStart(NamedTuple):
    """State, menu and cache key of a subgame whose root values are not computed yet.

    Attributes
    ----------
    key
        Line, board and seat as bytes, a key for caches.
    menu
        Bet sizes of the subgame.
    off_tree_move
        Off-tree action right before the root, for which no values are known.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> search = make_agent("default?search=river").search
    >>> state = BettingState.from_line(search.policy.rules, "cc/cc/cc/")
    >>> search.subgame_start(state, (0, 5, 10, 15, 20), 0, None).off_tree_move is None
    True
    """

    key: bytes
    menu: ActionMenu
    off_tree_move: int | None  # off-tree action right before the root, for which no values are known


@dataclass(frozen=True, eq=False)
class SubgameSearch:
    """Subgame search for a blueprint policy.

    Attributes
    ----------
    policy
        Blueprint policy.
    settings
        Settings of the search.
    opponent
        Opponent model; None: the blueprint.
    cache
        Solved subgames by key.

    Raises
    ------
    InputError
        If the game is not no-limit hold'em.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> search = make_agent("default?search=river").search
    >>> search.first_street, search.nested
    (3, 'expensive')
    """

    policy: BlueprintPolicy
    settings: SearchSettings
    opponent: Blueprint | None = None  # opponent model; None: the blueprint
    cache: PublicStateCache[AnyPosition] = field(
        default_factory=lambda: PublicStateCache(_cache_bytes(), attrgetter("nbytes")), repr=False
    )

    def __post_init__(self) -> None:
        rules = self.policy.rules
        if rules.limit or rules.board != (0, 3, 1, 1) or rules.hole != 2:
            raise InputError(f"{rules.name}: subgame search supports no-limit hold'em only")
        if self.settings.seconds is not None:
            self.warm_up()

    @cached_property
    def first_street(self) -> int:
        """Index of the first searched street."""
        return self.policy.rules.streets.index(self.settings.street)

    @cached_property
    def hand_indices(self) -> Array:
        """Indices of the deck's hands among the 1,326. int64 [hands]"""
        return FULL_DECK.hand_indices(self.policy.rules.deck.hands)

    @property
    def nested(self) -> str:
        """Mode of nested solving after off-tree actions."""
        return self.settings.nested or ("expensive" if self.settings.method == "unsafe" else "inexpensive")

    # --- positions ----------------------------------------------------------------------------

    def positions(self, public_states: PublicStates, seats: Sequence[int] | Array) -> list[AnyPosition]:
        """Return the positions of public states in subgames, for the searching seats.

        Missing subgames are solved in batches.

        Parameters
        ----------
        public_states
            Public states from the first searched street on.
        seats
            Searching seat at each.
        """
        solved: dict[bytes, AnyPosition] = {}
        while True:
            found = [self._follow_line(public_states, i, int(seats[i]), solved) for i in range(len(public_states))]
            needed = dict(entry for entry in found if isinstance(entry, tuple))
            if not needed:
                return [entry for entry in found if not isinstance(entry, tuple)]
            solved |= self._solve(needed)

    def _follow_line(
        self, public_states: PublicStates, i: int, seat: int, solved: dict[bytes, AnyPosition]
    ) -> AnyPosition | tuple[bytes, AnySubgame]:
        """Follow a line through subgames that are in `solved` or in the cache.

        Returns the position at its end, or the first subgame that must be solved, with its key.
        """
        board, sizes = public_states.board_cards(i), public_states.rules.board_sizes
        state, moves = self.split_line(public_states, i)
        position: AnyPosition | None = None
        while True:
            dealt = board[: sizes[state.street]]
            start = self.subgame_start(state, dealt, seat, moves[0] if moves else None)
            solved_root = solved.get(start.key) or self.cache.get(start.key)
            if solved_root is None:
                root = self.root_of_first_subgame(state, dealt, seat) if position is None else position.subgame_root()
                return start.key, self.make_subgame(start, root, seat)
            position = solved[start.key] = solved_root
            if start.off_tree_move is not None:
                moves.pop(0)
            while moves and not position.is_chance and (child := position.child(moves[0])) is not None:
                position = child
                moves.pop(0)
            if position.is_chance:
                street = position.state.street
                position = position.after_deal(board[sizes[street] : sizes[street + 1]])
            elif not moves:
                return position
            state = position.state

    def _solve(self, needed: dict[bytes, AnySubgame]) -> dict[bytes, AnyPosition]:
        positions: dict[bytes, AnyPosition] = {}
        for street, default_iterations in DEFAULT_ITERATIONS.items():
            settings = self.settings
            iterations = settings.iterations or (default_iterations if settings.seconds is None else MAX_ITERATIONS)
            for key, limited in needed.items():
                if isinstance(limited, DepthLimitedSubgame) and STREETS[limited.root.state.street] == street:
                    positions[key] = self.cache.put(key, limited.solve(iterations, settings.until, settings.seconds))
            whole = {key: subgame for key, subgame in needed.items() if isinstance(subgame, SearchSubgame)}
            batch = {key: subgame for key, subgame in whole.items() if subgame.spot.streets[0] == street}
            solutions = solve_many(
                [subgame.spot for subgame in batch.values()],
                iterations=iterations,
                check_every=CHECK_EVERY,
                **{name: getattr(settings, name) for name in ("until", "seconds", "threads", "device")},
            )
            for (key, subgame), solution in zip(batch.items(), solutions, strict=True):
                positions[key] = self.cache.put(key, subgame.root_position(solution, settings.play))
        return positions

    def warm_up(self) -> None:
        """Compile or load all kernels that the first solve needs, so that time limits measure solving alone."""
        rules, street = self.policy.rules, self.first_street
        board = rules.deck.cards[:: len(rules.deck.cards) // 5][: rules.board_sizes[street]]
        public_states = PublicStates.from_lines(rules, ["cc/" * street], [tuple(board.tolist())])
        quick = SubgameSearch(self.policy, replace(self.settings, seconds=None, iterations=1))
        for seat in (0, 1):
            quick.positions(public_states, [seat])[0].subgame_root()

    def split_line(self, public_states: PublicStates, i: int) -> tuple[BettingState, list[int]]:
        """Return the state where the first searched street of a line begins, and the actions after it.

        Parameters
        ----------
        public_states
            Public states from the first searched street on.
        i
            Index of the line.
        """
        moves = public_states.moves[i, : public_states.length[i]].tolist()
        state = BettingState.start(public_states.rules)
        while state.street < self.first_street:
            state = state.play(moves.pop(0))
        return state, moves

    # --- subgame roots --------------------------------------------------------------------------

    def root_of_first_subgame(self, state: BettingState, board: tuple[int, ...], seat: int) -> SubgameRoot:
        """Return ranges and values at the start of the first searched street, from the blueprint.

        Parameters
        ----------
        state
            Betting state at the start of the first searched street.
        board
            Board cards there.
        seat
            Searching seat.
        """
        public_states, other = PublicStates.from_betting([state], [board]), 1 - seat
        ranges = np.ones((2, NUM_HANDS))
        ranges[seat] = 0.0
        ranges[seat, self.hand_indices] = self.policy.reach(public_states, seat)[0]
        (node,) = street_nodes(self._line_reader, [state], board, seat)
        if node >= 0:
            blueprint_ranges = node_at_line(self._opponent_strategy, node, board).full_reach
            ranges[other] = blueprint_ranges[other]
            if not ranges[seat].any():
                ranges[seat] = blueprint_ranges[seat]
        return self.with_blueprint_values(SubgameRoot(state, board, ranges, None, NO_VALUES), seat)

    def with_blueprint_values(self, root: SubgameRoot, seat: int) -> SubgameRoot:
        """Add the opponent's values against the blueprint to a root, if the method needs them.

        Depth-limited subgames compute these values themselves, with their leaf values.

        Parameters
        ----------
        root
            Ranges at a public state.
        seat
            Searching seat.
        """
        if root.state.street <= LAST_DEPTH_LIMITED_STREET:
            return root
        if self.settings.method == "unsafe":
            return replace(root, source="none: unsafe search needs none")
        state, other = root.state, 1 - seat
        (node,) = street_nodes(self._line_reader, [state], root.board, seat)
        if node < 0:
            return replace(root, source="none: the blueprint has no such line")
        node_values = blueprint_values(self._tree_strategy, node, root.board, [*root.ranges], self.settings.threads)

        def to_real_pot(values: Array) -> Array:
            """Scale values to the real pot, which differs after translated bets; clip them to the possible payoffs."""
            stack = min(state.behind)
            return np.clip(values * state.pot / node_values.pot, -stack, state.pot + stack)

        best = to_real_pot(node_values.best_response[other])
        if self.settings.method in GIFT_METHODS and root.gifts is None:
            root = replace(root, gifts=self.blueprint_gifts(root, node, seat))
        if self.settings.method != "estimate":
            return replace(root, values=best, source="the blueprint")
        values = to_real_pot(node_values.self_play[other])
        # The error is the gain of a best response over self-play.
        return replace(root, values=values, source="the blueprint in self-play", error=np.maximum(best - values, 0.0))

    def blueprint_gifts(self, root: SubgameRoot, node: int, seat: int) -> Array | None:
        """Return what the opponent's hands gave up against the blueprint on the street before a root.

        That takes a blueprint's table of the street and all cards to come: a fraction of a second on the turn. On
        earlier streets it does not fit into a decision, so that there are no gifts: None. float64 [1326]

        Parameters
        ----------
        root
            Root of the first searched street.
        node
            Decision of the blueprint's tree that the root is translated to.
        seat
            Searching seat.
        """
        street, other = root.state.street - 1, 1 - seat
        if street <= LAST_DEPTH_LIMITED_STREET:
            return None
        state, board = BettingState.start(root.state.rules), root.board[: root.state.rules.board_sizes[street]]
        moves = PublicStates.from_betting([root.state], [root.board]).moves[0].tolist()
        while state.street < street:
            state = state.play(moves.pop(0))
        tree = self._tree_strategy.tree
        start = next(n for n in tree.path(node) if tree.street[n] == street)
        reach = np.zeros(NUM_HANDS)
        reach[self.hand_indices] = self.policy.reach(PublicStates.from_betting([state], [board]), seat)[0]
        if not reach.any():
            return None
        gifts = blueprint_gifts(self._tree_strategy, start, node, board, reach, other, self.settings.threads)
        gifts *= root.state.pot / sum(tree.spent[node].tolist())
        return gifts

    def subgame_start(self, state: BettingState, board: tuple[int, ...], seat: int, move: int | None) -> SubgameStart:
        """Return the start of the subgame for a line that reaches a state and continues with a move.

        Parameters
        ----------
        state
            Betting state.
        board
            Board cards there.
        seat
            Searching seat.
        move
            Next action of the line; None at its end.
        """
        menu, off_tree_move, added_label = self._menu(state), None, ""
        if move is not None and move > CALL and move not in menu_raise_totals(menu, state):
            if self.nested == "expensive" and state.turn != seat:
                menu, added_label = self._menu(state, move), format_action(move, state.rules)
            else:
                off_tree_move = move
                state = state.apply_action(move)
                menu = self._menu(state)
        return SubgameStart(f"{seat} {state.line} {added_label} {format_cards(board)}".encode(), menu, off_tree_move)

    def make_subgame(self, start: SubgameStart, root: SubgameRoot, seat: int) -> AnySubgame:
        """Build the subgame of a start with its root ranges and values.

        Parameters
        ----------
        start
            Identity of the subgame.
        root
            Ranges and values before the off-tree action, if there is one.
        seat
            Searching seat.
        """
        settings, menu, floors = self.settings, start.menu, (self.settings.floor, MIN_OWN_WEIGHT)
        if start.off_tree_move is not None:
            root = root.after_off_tree_move(start.off_tree_move, 1 - seat)
        if root.state.street <= LAST_DEPTH_LIMITED_STREET:
            context = SearchContext(self._line_reader, self._tree_strategy, self.with_blueprint_values)
            return DepthLimitedSubgame(seat, root, menu, context, *floors, settings.method, settings.leaves)
        forced = DEFAULT_FORCED if settings.forced is None else settings.forced
        return SearchSubgame.from_root(
            root, seat, menu, settings.method, *floors, spread=settings.spread, forced=forced
        )

    def _menu(self, state: BettingState, total: int | None = None) -> ActionMenu:
        menu = self.settings.menu
        if state.street < LAST_DEPTH_LIMITED_STREET or (menu is None and state.street == LAST_DEPTH_LIMITED_STREET):
            menu = self.policy.strategy.menu  # leaves must be nodes of the blueprint's tree
        if menu is None:
            return choose_menu(state, self.settings.work, total)
        return menu if total is None else add_raise_total(menu, state, total)

    @cached_property
    def _line_reader(self) -> BlueprintPolicy:
        """The policy, or one with a deterministic translation, so that a line has one node of the blueprint's tree."""
        policy = self.policy
        return policy if policy.has_deterministic_translation else replace(policy, translation="det-pshar")

    @cached_property
    def _opponent_strategy(self) -> Blueprint:
        """Strategy that the opponent's ranges follow: the model if one is given, else the (thresholded) blueprint."""
        if self.opponent is not None:
            return self.opponent
        if not self.settings.model:
            return self.policy.strategy
        return replace(self.policy, post="threshold", share=self.settings.model, spare_first=False).tree_strategy()

    @cached_property
    def _tree_strategy(self) -> Blueprint:
        """Post-processed blueprint on its own tree, against which the opponent's values are computed."""
        return self.policy.tree_strategy()


def _cache_bytes() -> int:
    """Return the size of the cache of solutions in bytes.

    If the subgames of a batch of tables did not fit, they would be solved again at every decision.
    """
    return max(MIN_CACHE_BYTES, int((available_memory() or 0) * CACHE_MEMORY_SHARE))


# --- unequal stacks -------------------------------------------------------------------------------


def equal_stack_rules(rules: PokerRules) -> PokerRules:
    """Return the game in which both players have the shorter stack.

    Parameters
    ----------
    rules
        Rules of the game.

    Returns
    -------
    PokerRules
        The game in which both players have the shorter stack.

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> equal_stack_rules(replace(read_game("nolimit-200bb"), stacks=(10_000, 20_000))).stacks
    (10000, 10000)
    """
    return rules if rules.stacks is None or len({*rules.stacks}) == 1 else replace(rules, stacks=(rules.stack,) * 2)


def equal_stack_strategy(strategy: Blueprint) -> Blueprint:
    """Return a blueprint for the game with equal stacks; its tree has no bets above the shorter stack in either game.

    Parameters
    ----------
    strategy
        The blueprint.

    Returns
    -------
    Blueprint
        A blueprint for the game with equal stacks.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> blueprint = make_agent("default").strategy
    >>> equal_stack_strategy(blueprint) is blueprint
    True
    """
    rules, tree = equal_stack_rules(strategy.rules), strategy.tree
    if rules is strategy.rules:
        return strategy
    return replace(strategy, rules=rules, tree=replace(tree, rules=rules, root=replace(tree.root, rules=rules)))


def equal_stack_policy(policy: BlueprintPolicy) -> BlueprintPolicy:
    """Return a blueprint policy for the game with equal stacks.

    Parameters
    ----------
    policy
        Blueprint policy.

    Returns
    -------
    BlueprintPolicy
        A blueprint policy for the game with equal stacks.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> policy = make_agent("default").policy
    >>> equal_stack_policy(policy) is policy
    True
    """
    strategy = equal_stack_strategy(policy.strategy)
    return policy if strategy is policy.strategy else replace(policy, strategy=strategy)


def equal_stack_states(public_states: PublicStates) -> PublicStates:
    """Map public states to the game with equal stacks.

    Parameters
    ----------
    public_states
        Public states.

    Returns
    -------
    PublicStates
        The public states, with raises cut to the shorter stack.

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> rules = replace(read_game("nolimit-200bb"), stacks=(10_000, 20_000))
    >>> equal_stack_states(PublicStates.from_lines(rules, ["r300"])).rules.stacks
    (10000, 10000)
    """
    rules = equal_stack_rules(public_states.rules)
    if rules is public_states.rules:
        return public_states
    moves = np.minimum(public_states.moves, rules.stack).astype(np.int32)
    return PublicStates(rules, moves, public_states.length, public_states.board)
