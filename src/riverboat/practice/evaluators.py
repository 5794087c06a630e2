"""Evaluators of decisions: a solved spot, or an agent of the whole game.

    evaluator = make_evaluator(agent)
    evaluator.verdict(state, board, hole)      # a DecisionVerdict for the seat to act

A solved spot has all EVs. An agent with a blueprint evaluates the first streets by the blueprint's values, which are
means over buckets, and from the turn on by solving a spot: real pot and stacks, both ranges from the blueprint by
Bayes' rule, sizes of a menu and the actual bet. States of other tables are converted first: to other blinds and
stacks, or between a spot and whole hands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, TypeAlias

import numpy as np

from riverboat.agents.base import Agent, PublicPolicy, check_own_rules, rules_of_agents
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.search import SearchAgent
from riverboat.agents.spot_solution import SolutionAgent
from riverboat.cards.deck import hand_index
from riverboat.cards.notation import format_cards
from riverboat.core.errors import InputError, short_repr
from riverboat.evaluation.matches.value_tables import ValueTables, value_tables
from riverboat.formats.phh import is_holdem
from riverboat.games.holdem.action_tree import FOLD as FOLD_KIND
from riverboat.games.holdem.action_tree import RAISE
from riverboat.games.holdem.actions import CALL, FOLD, format_action
from riverboat.games.holdem.betting import DEAL, BettingState
from riverboat.games.holdem.menus import menu_raise_totals
from riverboat.games.holdem.observations import Observations
from riverboat.games.holdem.public_states import PublicStates
from riverboat.games.holdem.rules import NO_RAKE, PokerRules
from riverboat.games.spots.spot import Spot
from riverboat.practice.verdicts import DecisionVerdict, VerdictOption
from riverboat.solvers.boards.batches import solve_many
from riverboat.strategies.policy import BlueprintPolicy
from riverboat.strategies.public_strategy import PublicStateCache, spot_from_state
from riverboat.strategies.solution import Solution, SolutionNode
from riverboat.subgames.search.subgames import add_raise_total, choose_menu

# --- Conversion of states ---

STACK_TOLERANCE = 0.02  # tolerance of stacks and bets as a share of the pot, because amounts are whole chips


@dataclass(frozen=True)
class ConvertedState:
    """State converted to another table.

    Attributes
    ----------
    state
        State at the other table.
    scale
        Chips of the other table per chip of this one.
    earlier_chips
        Chips of each seat that count in raise totals of this table, but not of the other one.

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> rules = read_game("nolimit-200bb")
    >>> ConvertedState(BettingState.start(rules)).scale
    1.0
    """

    state: BettingState
    scale: float = 1.0  # chips of the other table per chip of this one
    earlier_chips: int = 0  # chips of each seat that count in raise totals of this table, but not of the other one


def _replay(rules: PokerRules, history: Sequence[int]) -> BettingState:
    """Return the state after the actions and deals of a history."""
    state = BettingState.start(rules)
    for action in history:
        state = state.next_street() if action == DEAL else state.apply_action(action)
    return state


# --- Tables with other blinds and stacks ---


def convert_to_rules(state: BettingState, rules: PokerRules, name: str = "judge") -> ConvertedState:
    """Convert a state to a table with other blinds and stacks.

    Parameters
    ----------
    state
        State of a table.
    rules
        Rules of the other table.
    name
        Owner of the other table, for messages.

    Returns
    -------
    ConvertedState
        State with bets rounded to legal ones, and the scale of chips.

    Raises
    ------
    InputError
        If the games differ otherwise, or the line is deeper than the other stacks.

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> rules = read_game("nolimit-200bb")
    >>> small = replace(rules, blinds=(2, 1), stacks=(400, 400))
    >>> convert_to_rules(BettingState.from_line(small, "r6"), rules).state.line
    'r300'
    """
    own_rules = state.rules
    if own_rules == rules:
        return ConvertedState(state)
    compatible = (
        own_rules.limit == rules.limit
        and own_rules.big_blind > 0
        and own_rules.blinds[0] * rules.blinds[1] == own_rules.blinds[1] * rules.blinds[0]
        and replace(own_rules, blinds=rules.blinds, stacks=rules.stacks, raise_sizes=rules.raise_sizes) == rules
    )
    if not compatible:
        check_own_rules(name, rules, own_rules)
    scale = rules.big_blind / own_rules.big_blind
    converted = BettingState.start(rules)
    for action in state.history:
        if action == DEAL:
            converted = converted.next_street()
            continue
        legal = converted.raise_range()
        if converted.actor < 0 or (action > CALL and legal is None):
            break
        if action > CALL and legal is not None:
            action = min(max(round(action * scale), legal.least), legal.most)
        converted = converted.apply_action(action)
    else:
        if converted.actor == state.actor:
            return ConvertedState(converted, scale)
    raise InputError(f"line {short_repr(state.line)}: deeper than the {_stack_depth(rules)} big blinds of {name}")


def _stack_depth(rules: PokerRules) -> str:
    return f"{rules.stack / rules.big_blind:g}"


def convert_verdict_back(verdict: DecisionVerdict, state: BettingState, converted: ConvertedState) -> DecisionVerdict:
    """Convert a verdict of another table to the amounts of this one.

    Merged actions take the EV of the most frequent.

    Parameters
    ----------
    verdict
        Verdict at the other table.
    state
        State at this table.
    converted
        The same state at the other table.

    Returns
    -------
    DecisionVerdict
        The verdict in chips of this table.

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> rules = read_game("nolimit-200bb")
    >>> small = replace(rules, blinds=(2, 1), stacks=(400, 400))
    >>> state = BettingState.start(small)
    >>> verdict = DecisionVerdict((VerdictOption("r300", 1.0, 50.0),), "example", 150.0)
    >>> convert_verdict_back(verdict, state, convert_to_rules(state, rules)).options[0]
    VerdictOption(move='r6', probability=1.0, ev=1.0)
    """
    if converted.scale == 1.0 and converted.state.rules == state.rules:
        return verdict
    merged: dict[str, VerdictOption] = {}
    for option in verdict.options:
        move = _convert_action(option.move, state, converted.scale)
        ev = None if option.ev is None else option.ev / converted.scale
        before = merged.get(move)
        if before is not None:
            ev = before.ev if before.probability > option.probability else ev
        merged[move] = VerdictOption(move, option.probability + (0.0 if before is None else before.probability), ev)
    source = f"{verdict.source} at {_stack_depth(converted.state.rules)} big blinds"
    return replace(verdict, options=tuple(merged.values()), source=source, pot=verdict.pot / converted.scale)


def _convert_action(label: str, state: BettingState, scale: float) -> str:
    span = state.raise_range()
    if label[0] != "r" or state.rules.limit or span is None:
        return label if span is not None or label[0] != "r" else "c"
    return f"r{min(max(round(int(label[1:]) / scale), span.least), span.most)}"


# --- Spots ---


def convert_to_spot(state: BettingState, board: Sequence[int], agent: SolutionAgent) -> ConvertedState:
    """Convert a state of a whole hand to a state of a spot.

    The hand must reach the spot's street with the spot's board and, relative to the pot, its stacks.

    Parameters
    ----------
    state
        State of a whole hand.
    board
        Board cards.
    agent
        Agent of the solved spot.

    Returns
    -------
    ConvertedState
        State of the spot, and the scale of chips.

    Raises
    ------
    InputError
        If board, stacks or a bet do not fit the spot.

    Examples
    --------
    >>> from riverboat.solvers.boards.batches import solve_many
    >>> spot = Spot.make(board="Td9d6hQc2s", pot=200, stack=400, oop="AA,KJ,76", ip="QQ,T9,AJ", bets="50%")
    >>> (solution,) = solve_many([spot], iterations=100)
    >>> agent = SolutionAgent(solution, "river")
    >>> whole, _ = convert_to_whole_hand(agent.start)
    >>> convert_to_spot(whole, spot.board, agent).scale
    1.0
    """
    rules, spot = agent.rules, agent.spot
    if state.rules == rules:
        return ConvertedState(state)
    if state.street < rules.begins:
        first = rules.streets[rules.begins]
        raise InputError(f"line {short_repr(state.line)}: before the {first}, where the spot begins")
    deals = [k for k, action in enumerate(state.history) if action == DEAL]
    earlier = state.history[: deals[rules.begins - 1] + 1]
    root = _replay(state.rules, earlier)
    scale = spot.rules.pot / root.pot
    gaps = [abs(scale * chips - stack) for chips, stack in zip(root.behind, rules.stacks or (), strict=True)]
    if tuple(board[: len(spot.board)]) != spot.board or max(gaps) > STACK_TOLERANCE * spot.rules.pot:
        raise InputError(f"agent {agent.name!r}: its spot has another board, or other stacks behind its pot")
    converted, before = BettingState.start(rules), root.committed_before_street
    for action in state.history[len(earlier) :]:
        if action == DEAL:
            converted = converted.next_street()
            continue
        moves = spot.betting.moves(agent.node_at(converted, board).betting_node, agent.start.spent)
        if action > CALL:
            total = scale * (action - before)
            raises = [move for move in moves if move > CALL]
            nearest = min(raises, key=lambda move: abs(move - total), default=None)
            if nearest is None or (not rules.limit and abs(nearest - total) > STACK_TOLERANCE * spot.rules.pot):
                label = format_action(action, state.rules)
                known = ", ".join(format_action(move, rules) for move in moves)
                raise InputError(f"{label!r} at {state.line!r}: not in the tree of {agent.name}: {known}")
            action = nearest
        converted = converted.apply_action(action)
    return ConvertedState(converted, scale, before)


def convert_to_whole_hand(end: BettingState) -> tuple[BettingState, int]:
    """Convert a hand of a spot to a whole hand, as files have them.

    The pot becomes an ante of both players, half of it each, and every street before the spot two checks. So pot,
    stacks and all later actions are unchanged. An odd pot is counted in half chips.

    Parameters
    ----------
    end
        State of a spot.

    Returns
    -------
    tuple
        State of the whole hand, and the scale of its chips: 1, or 2 for an odd pot.

    Examples
    --------
    >>> from riverboat.solvers.boards.batches import solve_many
    >>> spot = Spot.make(board="Td9d6hQc2s", pot=200, stack=400, oop="AA", ip="QQ", bets="50%")
    >>> (solution,) = solve_many([spot], iterations=1)
    >>> convert_to_whole_hand(SolutionAgent(solution, "river").start)[0].line
    'cc/cc/cc/'
    """
    rules = end.rules
    scale = 1 + rules.pot % 2
    ante = rules.pot * scale // 2
    first, second = (stack * scale + ante for stack in rules.stacks or ())
    whole_rules = replace(
        rules, blinds=(0, 0), ante=ante, pot=0, stacks=(first, second), begins=0,
        raise_sizes=tuple(size * scale for size in rules.raise_sizes), least_bet=rules.compact.least_bet * scale,
        first=(0,) * rules.rounds, rake=NO_RAKE, name=f"{rules.name}, as a whole hand",
    )  # fmt: skip
    history = [action * scale + ante if action > CALL else action for action in end.history]
    return _replay(whole_rules, [*(CALL, CALL, DEAL) * rules.begins, *history]), scale


Cards: TypeAlias = Sequence[int]
FIRST_SOLVED_STREET = 2  # the turn: earlier streets take too long to solve at a table
ITERATIONS = {2: 100, 3: 300}  # most iterations of CFR, by street: turn, river
TARGET_PERCENT = 0.3  # % of the pot: exploitability at which solving stops earlier
MAX_WORK = 5.5e6  # nodes × boards × hands of a subgame: about a second of one core
RANGE_FLOOR = 0.01  # smallest weight of a hand, so that the actual hand is in its range
MIN_PROBABILITY = 0.05  # values of actions that a blueprint plays less often have few samples
CACHE_BYTES = 256 << 20  # size of the cache of solutions


class DecisionEvaluator(Protocol):
    """Source of verdicts on decisions."""

    def verdict(self, state: BettingState, board: Cards, hole: Cards, action: int | None = None) -> DecisionVerdict:
        """Return the verdict for the seat to act with a hand.

        Parameters
        ----------
        state
            State at which a player acts.
        board
            Board cards.
        hole
            Cards of the seat to act.
        action
            The actual action, which is among the options; None if unknown.
        """


def make_evaluator(agent: Agent) -> DecisionEvaluator:
    """Create the evaluator of an agent.

    Parameters
    ----------
    agent
        Agent of a solved spot, or one with strategies for all hands.

    Returns
    -------
    DecisionEvaluator
        The evaluator.

    Raises
    ------
    InputError
        If the agent has no strategies for all hands.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> type(make_evaluator(make_agent("rule-based"))).__name__
    'TableEvaluator'
    """
    if isinstance(agent, SolutionAgent):
        return SolutionEvaluator(agent)
    base = agent.base if isinstance(agent, SearchAgent) else agent
    if not isinstance(base, PublicPolicy):
        raise InputError(f"agent {agent.name!r}: has no strategies for all hands, so it cannot evaluate decisions")
    return TableEvaluator(agent, base)


# --- Solved spots ---


@dataclass(frozen=True, eq=False)
class SolutionEvaluator:
    """Evaluator of hands of a solved subgame.

    Parameters
    ----------
    agent
        Agent of the solved spot.

    Examples
    --------
    >>> from riverboat.solvers.boards.batches import solve_many
    >>> spot = Spot.make(board="Td9d6hQc2s", pot=200, stack=400, oop="AA,KJ,76", ip="QQ,T9,AJ", bets="50%")
    >>> (solution,) = solve_many([spot], iterations=100)
    >>> agent = SolutionAgent(solution, "river")
    >>> verdict = SolutionEvaluator(agent).verdict(agent.start, spot.board, (51, 50))
    >>> verdict.best.move, verdict.source
    ('c', 'the solution')
    """

    agent: SolutionAgent

    @property
    def begins(self) -> int:
        """First street of its subgame."""
        return self.agent.rules.begins

    def verdict(self, state: BettingState, board: Cards, hole: Cards, action: int | None = None) -> DecisionVerdict:
        """Return the verdict by the solution's values; a whole hand is converted to the subgame.

        Parameters
        ----------
        state
            State of the spot, or of a whole hand that reaches it.
        board
            Board cards.
        hole
            Cards of the seat to act.
        action
            Not used: the tree has its own actions.
        """
        converted = convert_to_spot(state, board, self.agent)
        node = self.agent.node_at(converted.state, board)
        return node_verdict(self.agent.spot, node, converted, state, hole, "the solution")


def node_verdict(
    spot: Spot, node: SolutionNode, converted: ConvertedState, state: BettingState, hole: Cards, source: str
) -> DecisionVerdict:
    """Return the verdict for hand `hole` at a node of a solution, in chips of the table where `state` was played."""
    hand, scale = hand_index(*hole), converted.scale
    probabilities, values = node.strategy[:, hand], node.action_ev()[:, hand]
    if np.isnan(probabilities).any():
        raise InputError(f"hand {format_cards(hole)}: not in the range at {node.line or 'the root'}")
    options = []
    moves = spot.betting.moves(node.betting_node, spot.start.spent)
    for move, p, ev in zip(moves, probabilities.tolist(), values.tolist(), strict=True):
        real = format_action(round(move / scale) + converted.earlier_chips if move > CALL else move, state.rules)
        options.append(VerdictOption(real, p, None if np.isnan(ev) else ev / scale))
    return DecisionVerdict(tuple(options), source, float(state.pot))


# --- Agents of whole games ---


@dataclass(frozen=True, eq=False)
class TableEvaluator:
    """Evaluator of hands of a whole game by an agent's strategy.

    Parameters
    ----------
    agent
        The agent.
    base
        Strategy that gives the ranges: the agent itself, or its blueprint if it searches.
    solves
        Whether to solve spots from the turn on; False: use the blueprint's values on all streets.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> from riverboat.games.holdem.rules import read_game
    >>> rules = read_game("nolimit-200bb")
    >>> agent = make_agent("rule-based")
    >>> TableEvaluator(agent, agent).verdict(BettingState.start(rules), (), (50, 51)).moves
    ('f', 'c', 'r300')
    """

    agent: Agent
    base: PublicPolicy  # gives the ranges: the agent itself, or its blueprint if it searches
    solves: bool = True  # False: use the blueprint's values on all streets

    @cached_property
    def _solution_cache(self) -> PublicStateCache[Solution]:
        return PublicStateCache(CACHE_BYTES, lambda solution: int(solution.table.nbytes))

    def verdict(self, state: BettingState, board: Cards, hole: Cards, action: int | None = None) -> DecisionVerdict:
        """Return the verdict by solving from the turn on, and by the blueprint's values before it.

        An agent without values gives only frequencies. A hand of a table with other blinds or stacks is converted to
        the agent's table for its strategy, but solved with its own.

        Parameters
        ----------
        state
            State at which a player acts.
        board
            Board cards.
        hole
            Cards of the seat to act.
        action
            The actual action, which is among the options; None if unknown.
        """
        converted = self.convert_state(state)
        shown = tuple(int(card) for card in board[: state.rules.board_sizes[state.street]])
        if self.solves and state.street >= FIRST_SOLVED_STREET and is_holdem(state.rules):
            spot, solution = self.solution(state, shown, action)
            root = ConvertedState(spot.start, earlier_chips=state.committed_before_street)
            verdict = node_verdict(spot, solution[""], root, state, hole, "solved on the spot")
            agent_mix = convert_verdict_back(self._agent_verdict(converted.state, shown, hole), state, converted)
            return replace(verdict, played={option.move: option.probability for option in agent_mix.options})
        own = self._blueprint_verdict(converted.state, shown, hole) or self._agent_verdict(converted.state, shown, hole)
        return convert_verdict_back(own, state, converted)

    def convert_state(self, state: BettingState) -> ConvertedState:
        """Convert a state to the agent's own table.

        Parameters
        ----------
        state
            State of a table.
        """
        own = rules_of_agents(self.agent)
        if own is not None:
            return convert_to_rules(state, own, self.agent.name)
        self.agent.check_rules(state.rules)
        return ConvertedState(state)

    def spot(self, state: BettingState, board: Cards, action: int | None = None) -> Spot:
        """Return the spot of a decision, with the actual bet among its sizes.

        Parameters
        ----------
        state
            State at which a player acts.
        board
            Board cards.
        action
            The actual action; None if unknown.
        """
        menu = None
        if not state.rules.limit:
            menu = choose_menu(state, MAX_WORK)
            if action is not None and action > CALL and action not in menu_raise_totals(menu, state):
                menu = add_raise_total(menu, state, action)
        policy_state = self.translated_state(state, board)
        return spot_from_state(state, tuple(board), self.base, menu=menu, floor=RANGE_FLOOR, policy_state=policy_state)

    def translated_state(self, state: BettingState, board: Cards) -> BettingState:
        """Return the state at which the ranges are computed, with off-tree bets translated to the nearest ones.

        The blueprint never makes off-tree bets, so both ranges would be empty.

        Parameters
        ----------
        state
            State at which a player acts.
        board
            Board cards.
        """
        converted = self.convert_state(state).state
        policy = self._translated_blueprint
        if policy is None:
            return converted
        live = [card for card in converted.rules.deck.cards.tolist() if card not in board]
        decisions = policy.decide(Observations.from_betting([converted], [live[: converted.rules.hole]], [board]))
        node = int(decisions.node[0])
        if node < 0 or decisions.tree_status[0]:
            return converted
        translated = policy.strategy.tree.state(node)
        same_turn = (translated.street, translated.actor) == (converted.street, converted.actor)
        return translated if same_turn else converted

    def solution(self, state: BettingState, board: Cards, action: int | None = None) -> tuple[Spot, Solution]:
        """Return the spot of a decision and its solution.

        Parameters
        ----------
        state
            State at which a player acts.
        board
            Board cards.
        action
            The actual action; None if unknown.
        """
        spot = self.spot(state, board, action)
        key = f"{state.line} {state.rules.stacks} {format_cards(board)} {spot.menu}".encode()

        def solve() -> Solution:
            return solve_many([spot], iterations=ITERATIONS[state.street], until=TARGET_PERCENT)[0]

        return spot, self._solution_cache.get_or_compute(key, solve)

    def _agent_verdict(self, state: BettingState, board: Cards, hole: Cards) -> DecisionVerdict:
        """Return the agent's own action probabilities with a hand, without EVs."""
        policy = self.agent if isinstance(self.agent, PublicPolicy) else self.base
        batch = policy.strategies(PublicStates.from_betting([state], [tuple(board)]))
        hand = int(state.rules.deck.hand_indices(np.array([hole]))[0])
        row = zip(batch.labels(0), batch.probabilities[0, hand].tolist(), strict=False)
        options = tuple(VerdictOption(label, p, None) for label, p in row if p > 0 or label in ("f", "c"))
        return DecisionVerdict(options, "none: the agent has no values", float(state.pot))

    # --- Values of the blueprint ---

    @cached_property
    def _translated_blueprint(self) -> BlueprintPolicy | None:
        """Blueprint policy with deterministic action translation; None if the agent has no blueprint."""
        if not isinstance(self.base, BlueprintAgent):
            return None
        policy = self.base.policy
        return policy if policy.has_deterministic_translation else replace(policy, translation="det-pshar")

    @cached_property
    def values(self) -> ValueTables | None:
        """Sampled values of the blueprint by node and bucket, computed once and cached; None without a blueprint."""
        return None if self._translated_blueprint is None else value_tables(self._translated_blueprint.tree_strategy())

    def _blueprint_verdict(self, state: BettingState, board: Cards, hole: Cards) -> DecisionVerdict | None:
        """Return the verdict by the blueprint's values; None without a blueprint, or if the line leaves its tree."""
        policy = self._translated_blueprint
        if policy is None:
            return None
        decisions = policy.decide(Observations.from_betting([state], [tuple(hole)], [tuple(board)]))
        node, tree = int(decisions.node[0]), policy.strategy.tree
        if node < 0 or decisions.tree_status[0] or tree.actor[node] != state.turn:
            return None
        bucket = int(policy.strategy.cards.buckets(np.array([[*hole, *board]], np.uint8), check=False)[0, 0, -1])
        probabilities: dict[int, float] = {}
        values: dict[int, tuple[float, float]] = {}  # merged actions take the EV of the most frequent
        raises = 2
        for child in tree.children(node):
            kind = int(tree.kind[child])
            column = kind if kind < RAISE else raises
            raises += kind == RAISE
            p, move = float(decisions.rows[0, column]), int(decisions.moves[0, column])
            probabilities[move] = probabilities.get(move, 0.0) + p
            if kind == FOLD_KIND and move != FOLD:
                continue  # no bet to call in the real game: a fold of the tree is a check here
            tables, ev = self.values, 0.0
            if move != FOLD and tables is not None:  # share of the pot after the action, less its chips
                after = state.apply_action(move, check=False)
                share = float(tables.after[state.street][state.turn, tables.after_row[child], bucket])
                ev = share * after.pot - (after.spent[state.turn] - state.spent[state.turn])
            if move not in values or p > values[move][0]:
                values[move] = p, ev
        rows = sorted((move, p, values.get(move, (0.0, None))[1]) for move, p in probabilities.items())
        options = tuple(VerdictOption(format_action(move, state.rules), p, ev) for move, p, ev in rows)
        return DecisionVerdict(options, "the blueprint's values", float(state.pot), MIN_PROBABILITY)
