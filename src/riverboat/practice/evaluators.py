"""Judges of decisions: a solved spot, or an agent of the whole game.

    judge = judge_of(agent)
    judge.verdict(state, board, hole)      # a Verdict for the seat to act

A solved spot knows all EVs. An agent that plays a blueprint judges the first streets by the blueprint's values, which are
means over buckets, and from the turn on by solving the spot at hand: real pot and stacks, both ranges by Bayes from the
blueprint, sizes of a menu and the one that was bet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol, TypeAlias

import numpy as np

from riverboat.agents.base import Agent, Answering, rules_of
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.search import SearchingAgent
from riverboat.agents.spot_solution import SolutionAgent
from riverboat.cards.deck import hand_index
from riverboat.cards.notation import show_cards
from riverboat.core.errors import InputError
from riverboat.evaluation.matches.value_tables import ValueTables, value_tables
from riverboat.games.holdem.action_labels import STREET
from riverboat.games.holdem.action_tree import FOLD as FOLDS
from riverboat.games.holdem.action_tree import RAISE
from riverboat.games.holdem.actions import CALL, FOLD, read_move, show_move
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.menus import totals
from riverboat.games.holdem.observation import Views
from riverboat.games.holdem.public_state import Places
from riverboat.games.holdem.rules import Rules
from riverboat.games.spots.spot import Spot
from riverboat.practice.table_conversion import Reading, inside, read_at, returned
from riverboat.practice.verdicts import Option, Verdict
from riverboat.solvers.boards.batches import solve_many
from riverboat.strategies.policy import Played
from riverboat.strategies.public_cache import PublicCache
from riverboat.strategies.solution import Solution, Spotlight
from riverboat.strategies.table_spot import table_spot
from riverboat.subgames.search.menus import table_menu, with_total

Cards: TypeAlias = Sequence[int]
FIRST_SOLVED = 2  # the turn: earlier streets take too long at a table
ITERATIONS = {2: 100, 3: 300}  # by street
UNTIL = 0.3  # % of the pot, at which fewer do
WORK = 5.5e6  # nodes × boards × hands of a subgame: about a second of one core
FLOOR = 0.01  # the least weight of a hand, so that the one that was held is in its range
LEAST = 0.05  # of the blueprint's moves: values behind rarer ones are of hands that were hardly sampled there
KEPT = 256 << 20  # bytes of solutions


class Judge(Protocol):
    """Who knows what decisions are worth."""

    def verdict(self, state: Betting, board: Cards, hole: Cards, move: str | None = None) -> Verdict:
        """Of the seat to act with a hand; `move` is one that was made, and is among what is judged."""
        ...


def judge_of(agent: Agent) -> Judge:
    """The judge that an agent is; refused where it has no values of any kind."""
    if isinstance(agent, SolutionAgent):
        return SolutionJudge(agent)
    base = agent.base if isinstance(agent, SearchingAgent) else agent
    if not isinstance(base, Answering):
        raise InputError(f"agent {agent.name!r}: does not answer for all hands, so it cannot say what moves are worth")
    return TableJudge(agent, base)


# --- solved spots -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SolutionJudge:
    """Judges hands of its subgame."""

    agent: SolutionAgent

    @property
    def begins(self) -> int:
        """The street that its subgame begins with."""
        return self.agent.rules.begins

    def verdict(self, state: Betting, board: Cards, hole: Cards, move: str | None = None) -> Verdict:
        """From the solution's own values; a whole hand is read as one of the subgame."""
        there = inside(state, board, self.agent)
        here = self.agent.node(there.state, board)
        if there.state is state:
            return node_verdict(here, state, hole, "the solution")
        own = node_verdict(here, there.state, hole, "the solution")
        before = state.before if state.street == self.begins else _root_before(state, self.begins)
        options = tuple(
            Option(
                _outside(option.move, before, there.scale), option.probability, option.ev and option.ev / there.scale
            )
            for option in own.options
        )
        return replace(own, options=options, pot=float(state.pot))


def _root_before(state: Betting, street: int) -> int:
    """What each seat had put in when a street began."""
    cut = [k for k, letter in enumerate(state.line) if letter == "/"][street - 1] + 1
    return Betting.from_line(state.rules, state.line[:cut]).before


def _outside(move: str, before: int, scale: float) -> str:
    """A move of a subgame as the whole hand writes it."""
    return f"r{round(int(move[1:]) / scale) + before}" if move[0] == "r" and move != "r" else move


def node_verdict(
    here: Spotlight, state: Betting, hole: Cards, source: str, before: int = 0, outside: Betting | None = None
) -> Verdict:
    """One hand at a node of a solution. Where the table counts totals from earlier on, `before` is what they have more."""
    hand = hand_index(*hole)
    played, values = here.strategy[:, hand], here.action_ev()[:, hand]
    if np.isnan(played).any():
        raise InputError(f"hand {show_cards(hole)}: not in the range at {here.line or 'the root'}")
    options = []
    for label, p, ev in zip(here.actions, played.tolist(), values.tolist(), strict=True):
        move = STREET.read(state.rules.book, state.at, label)
        assert move is not None  # the tree was made of these rules
        real = show_move(move + before if move > 0 else move, (outside or state).rules)
        options.append(Option(real, p, None if np.isnan(ev) else ev))
    return Verdict(tuple(options), source, float(state.pot))


# --- agents of the whole game -------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TableJudge:
    """Judges hands of a whole game by an agent's strategy."""

    agent: Agent
    base: Answering  # whose strategy gives ranges: the agent itself, or what it plays before it searches
    solves: bool = True  # false: the blueprint's values on all streets
    _solved: PublicCache[Solution] = field(
        default_factory=lambda: PublicCache(KEPT, lambda solution: int(solution.table.nbytes)), repr=False
    )

    def verdict(self, state: Betting, board: Cards, hole: Cards, move: str | None = None) -> Verdict:
        """By solving from the turn on, by the blueprint's values before it; without either, how often moves are made.

        A hand of a table with other blinds or stacks is read at the agent's own (`other_tables`), and solved with its own.
        """
        there = self.read(state)
        shown = tuple(int(card) for card in board[: state.rules.board_sizes[state.street]])
        if self.solves and state.street >= FIRST_SOLVED and _solvable(state.rules):
            solution, root = self.solution(state, shown, move)
            judged = node_verdict(solution[""], root, hole, "solved on the spot", state.before, state)
            mix = tuple(Option(label, p, None) for label, p in self._mix(there.state, shown, hole).items())
            told = returned(Verdict(mix, "", judged.pot), state, there)
            return replace(judged, played={option.move: option.probability for option in told.options})
        valued = self._valued(there.state, shown, hole)
        if valued is None:
            options = [Option(label, p, None) for label, p in self._mix(there.state, shown, hole).items()]
            valued = Verdict(tuple(options), "none: the agent has no values", float(there.state.pot))
        return returned(valued, state, there)

    def read(self, state: Betting) -> Reading:
        """A state at the agent's own table."""
        own = rules_of(self.agent)
        if own is not None:
            return read_at(state, own, self.agent.name)
        self.agent.check_rules(state.rules)
        return Reading(state)

    def spot(self, state: Betting, board: Cards, move: str | None = None) -> Spot:
        """The spot at a decision, with a move that was made among its sizes."""
        menu = None
        if not state.rules.limit:
            menu = table_menu(state, WORK)
            total = CALL if move is None else read_move(move, state)
            if total > CALL and total not in totals(menu, state):
                menu = with_total(menu, state, total)
        return table_spot(state, tuple(board), self.base, menu=menu, floor=FLOOR, read_as=self.played_as(state, board))

    def played_as(self, state: Betting, board: Cards) -> Betting:
        """The state at which both ranges are asked for: bets that the blueprint never makes are read as the nearest ones that
        it makes, or nobody would hold anything."""
        there = self.read(state).state
        if self._reader is None:
            return there
        dealt = tuple(int(card) for card in board)
        hole = tuple([card for card in there.rules.deck.cards.tolist() if card not in dealt][: there.rules.hole])
        decisions = self._reader.decide(Views.of([there], [hole], [dealt]))
        node, tree = int(decisions.node[0]), self._reader.strategy.tree
        if node < 0 or decisions.off[0]:
            return there
        near = Betting.from_line(there.rules, tree.line(node))
        return near if near.line != there.line and (near.street, near.actor) == (there.street, there.actor) else there

    def solution(self, state: Betting, board: Cards, move: str | None = None) -> tuple[Solution, Betting]:
        """The spot solved, and its own state at the root."""
        spot = self.spot(state, board, move)
        key = f"{state.line} {state.rules.stacks} {show_cards(board)} {spot.menu}".encode()
        solved = self._solved.get(key)
        if solved is None:
            (solved,) = solve_many([spot], iterations=ITERATIONS[state.street], until=UNTIL)
            self._solved.keep(key, solved)
        return solved, spot.start

    def _mix(self, state: Betting, board: Cards, hole: Cards) -> dict[str, float]:
        """What the agent would have played with the hand."""
        asked = self.agent if isinstance(self.agent, Answering) else self.base
        answer = asked.strategies(Places.of([state], [tuple(board)]))
        deck = state.rules.deck
        hand = int(np.flatnonzero((np.sort(deck.hands, axis=1) == np.sort(np.array(hole))).all(axis=1))[0])
        row = answer.probabilities[0, hand].tolist()
        return {label: p for label, p in zip(answer.labels(0), row, strict=False) if p > 0 or label in ("f", "c")}

    # --- the blueprint's values ---------------------------------------------------------------

    @cached_property
    def _reader(self) -> Played | None:
        """The blueprint, which reads every line in one way; None where the agent plays none."""
        if not isinstance(self.base, BlueprintAgent):
            return None
        played = self.base.played
        return played if played.reads_one_way else replace(played, translation="det-pshar")

    @cached_property
    def values(self) -> ValueTables | None:
        """What buckets are worth at the blueprint's nodes; made once, and kept on disk."""
        return None if self._reader is None else value_tables(self._reader.on_tree())

    def _valued(self, state: Betting, board: Cards, hole: Cards) -> Verdict | None:
        """None where the agent has no blueprint, or the line leads off its tree."""
        if self._reader is None or self.values is None:
            return None
        views = Views.of([state], [tuple(hole)], [tuple(board)])
        decisions = self._reader.decide(views)
        node, tree = int(decisions.node[0]), self._reader.strategy.tree
        if node < 0 or decisions.off[0] or tree.actor[node] != state.turn:
            return None
        cards = np.array([[*hole, *board]], np.uint8)
        bucket = int(self._reader.strategy.cards.buckets(cards, check=False)[0, 0, -1])
        chances: dict[int, float] = {}
        worth: dict[
            int, tuple[float, float]
        ] = {}  # abstract moves that come out alike are one: the likeliest values it
        raises = 2
        for child in tree.children(node):
            kind = int(tree.kind[child])
            column = kind if kind < RAISE else raises
            raises += kind == RAISE
            p, move = float(decisions.rows[0, column]), int(decisions.moves[0, column])
            chances[move] = chances.get(move, 0.0) + p
            if kind == FOLDS and move != FOLD:
                continue  # nothing is to be called really: what folds there checks here
            ev = 0.0 if move == FOLD else self._worth(state, move, child, bucket)
            if move not in worth or p > worth[move][0]:
                worth[move] = p, ev
        options = tuple(
            Option(show_move(m, state.rules), chances[m], worth[m][1] if m in worth else None) for m in sorted(chances)
        )
        return Verdict(options, "the blueprint's values", float(state.pot), LEAST)

    def _worth(self, state: Betting, move: int, child: int, bucket: int) -> float:
        """Chips that a bucket wins of the pot as it stands after a move, by the share of the pot that it wins there."""
        assert self.values is not None
        row, street, seat = int(self.values.after_row[child]), state.street, state.turn
        after = state.move(show_move(move, state.rules))
        share = float(self.values.after[street][seat, row, bucket])
        return share * after.pot - (after.spent[seat] - state.spent[seat])


def _solvable(rules: Rules) -> bool:
    return rules.board == (0, 3, 1, 1) and rules.hole == 2 and rules.suits == 4 and rules.ranks == 13
