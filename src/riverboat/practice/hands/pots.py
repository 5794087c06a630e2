"""Reviews of heads-up pots at tables of any size: EV lost by each decision from the flop on.

Both ranges at the flop come from the library of preflop ranges. The flop is solved as a spot with the real pot and
stacks, and with the bets that were made; the ranges of the turn follow from that solution and the line played, those of
the river from the turn's. So every street is solved once, with richer bet sizes towards the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from riverboat.cards.deck import hand_index
from riverboat.cards.notation import format_cards
from riverboat.cards.ranges import Range
from riverboat.core.errors import InputError, RiverboatError
from riverboat.games.holdem.actions import format_action
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.betting_rules import CALL, FOLD
from riverboat.games.holdem.menus import ActionMenu, menu_from_table
from riverboat.games.holdem.rules import NO_RAKE
from riverboat.games.holdem.table_hands import BOARD_SIZES, Table, TableHand, replay
from riverboat.games.spots.spot import Spot, parse_spot_rules
from riverboat.practice.evaluators import MAX_WORK, ConvertedState, node_verdict
from riverboat.practice.hands.ranges import ChosenRange, RangeLibrary
from riverboat.practice.hands.results import money
from riverboat.practice.verdicts import DecisionVerdict
from riverboat.solvers.boards.batches import solve_many
from riverboat.strategies.solution import Solution, SolutionNode
from riverboat.subgames.search.subgames import add_raise_total, choose_menu

STREET_NAMES = ("preflop", "flop", "turn", "river")
# First bet and all-in raise of flops, and of the streets below them, which are solved again when they are reached. The
# first bet is the one that was made, since every other size would double the tree.
DEFAULT_FLOP_BET = "50%"
LATER_STREETS = {"turn": ["75%", ""], "river": ["100%", ""]}
ITERATIONS = {1: 80, 2: 100, 3: 300}  # most iterations of CFR, by street
TARGETS = {1: 1.0, 2: 0.5, 3: 0.3}  # % of the pot: exploitability at which solving stops earlier
MAX_SECONDS = {1: 40.0, 2: 10.0, 3: 5.0}
RANGE_FLOOR = 0.01  # smallest weight of a hand of the range, so that no range is empty after a rare line


@dataclass(frozen=True)
class PotDecision:
    """One decision of the player in a heads-up pot.

    Attributes
    ----------
    street
        Number of the street, 1 to 3.
    step
        Index of the action among `hand.actions`.
    words
        The action in words.
    verdict
        EVs and frequencies of all actions, in chips; None if the decision could not be solved.
    ev_lost
        Chips lost by the action; None if unknown.
    best
        The best action in words.
    why
        Why there is no verdict.
    error
        Chips by which the EVs may be wrong: the exploitability of the solution.
    options
        Actions in words with frequency and EV.
    """

    street: int
    step: int
    words: str
    verdict: DecisionVerdict | None
    ev_lost: float | None
    best: str = ""
    why: str = ""
    error: float = 0.0
    options: tuple[tuple[str, float, float | None], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the decision as a JSON object, in chips."""
        return {
            "street": STREET_NAMES[self.street], "step": self.step, "action": self.words, "ev_lost": self.ev_lost,
            "best": self.best, "why": self.why or None, "unit": "chips", "error": self.error,
            "source": None if self.verdict is None else self.verdict.source,
            "options": [{"action": words, "probability": p, "ev": ev} for words, p, ev in self.options],
        }  # fmt: skip


@dataclass(frozen=True)
class PotReview:
    """Review of a hand that was heads-up from the flop on.

    Attributes
    ----------
    hand
        The hand.
    player
        Number of the player whose decisions are reviewed.
    ranges
        Ranges of the players out of position and in position at the flop.
    pot, stack
        Chips in the pot at the flop, and behind of the shorter stack.
    decisions
        The player's decisions.
    """

    hand: TableHand
    player: int
    ranges: tuple[ChosenRange, ChosenRange]
    pot: int
    stack: int
    decisions: tuple[PotDecision, ...]

    @property
    def ev_lost(self) -> float:
        """EV lost by all reviewed decisions, in chips."""
        return sum(decision.ev_lost or 0.0 for decision in self.decisions)

    def to_dict(self) -> dict[str, Any]:
        """Return the review as a JSON object, in chips."""
        return {
            "number": self.hand.number, "site": self.hand.site, "player": self.hand.names[self.player],
            "pot": self.pot, "stack": self.stack, "scale": self.hand.scale,
            "ranges": {"oop": self.ranges[0].to_dict(), "ip": self.ranges[1].to_dict()},
            "ev_lost": self.ev_lost, "ev_lost_bb": self.ev_lost / self.hand.big_blind,
            "decisions": [decision.to_dict() for decision in self.decisions], "unit": "chips",
        }  # fmt: skip


def heads_up_players(hand: TableHand) -> tuple[int, int] | None:
    """Return the players of a heads-up pot, out of position first.

    Parameters
    ----------
    hand
        The hand.

    Returns
    -------
    tuple of int or None
        None unless exactly two players with chips behind see the flop.

    Examples
    --------
    >>> hand = TableHand(
    ...     names=("SB", "BB", "BTN"), stacks=(200, 200, 200), blinds=(1, 2, 0),
    ...     actions=((2, 6), (0, FOLD), (1, FOLD)), big_blind=2, holes=((), (), ()), boards=((),),
    ...     collected=(0, 0, 5), rake=0,
    ... )
    >>> heads_up_players(hand) is None
    True
    """
    table = _table_at_flop(hand)
    if table is None or table.live != 2:
        return None
    first, second = (k for k in range(hand.players) if not table.folded[k])
    return (first, second) if table.behind[first] and table.behind[second] else None


def _table_at_flop(hand: TableHand) -> Table | None:
    table = Table(hand)
    for player, action in hand.actions:
        if table.actor < 0 and not table.finished:
            break
        if table.finished:
            return None
        table.play(player, action)
    if len(hand.boards[0]) < 3 or table.finished or table.street or table.actor >= 0:
        return None
    return table


def reviewable(hand: TableHand, player: int) -> bool:
    """Whether a hand is a heads-up pot in which the player's cards are known and it acted from the flop on.

    Parameters
    ----------
    hand
        The hand.
    player
        Number of the player.
    """
    pair = heads_up_players(hand)
    acted = any(step.player == player and step.street for step in replay(hand))
    return pair is not None and player in pair and len(hand.holes[player]) == 2 and len(hand.boards) == 1 and acted


def review_pot(
    hand: TableHand,
    player: int,
    library: RangeLibrary,
    *,
    threads: int = 2,
    progress: Callable[[str], None] | None = None,
) -> PotReview:
    """Review the decisions of a player in a heads-up pot.

    Parameters
    ----------
    hand
        A reviewable hand.
    player
        Number of the player.
    library
        Preflop ranges.
    threads
        Threads that solve.
    progress
        Callback with the street that is solved next.

    Returns
    -------
    PotReview
        EV lost by each decision, and the ranges.

    Raises
    ------
    InputError
        The hand is not reviewable.
    """
    pair, table = heads_up_players(hand), _table_at_flop(hand)
    if pair is None or table is None or not reviewable(hand, player):
        raise InputError(
            f"hand {hand.number}: no heads-up pot from the flop on with known cards of {hand.names[player]!r}"
        )
    chosen = library.range_of(hand, pair[0]), library.range_of(hand, pair[1])
    pot = sum(table.before) + sum(table.own)
    stack = min(table.behind[k] for k in pair)
    rules = parse_spot_rules(pot, (stack, stack), min(hand.big_blind, stack), NO_RAKE, None, None)
    walk = _PotWalk(hand, player, pair, BettingState.at_street(rules, 1), chosen, threads, progress)
    return PotReview(hand, player, chosen, pot, stack, tuple(walk.decisions()))


class _PotWalk:
    """A walk along the line of a heads-up pot that solves each street once."""

    def __init__(
        self,
        hand: TableHand,
        player: int,
        pair: tuple[int, int],
        start: BettingState,
        chosen: tuple[ChosenRange, ChosenRange],
        threads: int,
        progress: Callable[[str], None] | None,
    ) -> None:
        self.hand, self.seat, self.pair, self.threads, self.progress = hand, pair.index(player), pair, threads, progress
        self.hole = hand.holes[player]
        self.state = start
        self.ranges = self._with_hole((chosen[0].range, chosen[1].range), hand.boards[0][:3])

    def _with_hole(self, ranges: tuple[Range, Range], board: Sequence[int]) -> tuple[Range, Range]:
        """Return ranges in which the player's own hand has at least the smallest weight."""
        both = [np.array(each.weights, float) for each in ranges]
        own = both[self.seat]
        own[hand_index(*self.hole)] = max(own[hand_index(*self.hole)], RANGE_FLOOR * float(own.max()))
        return Range(both[0]), Range(both[1])

    def decisions(self) -> list[PotDecision]:
        """Return the player's decisions of all streets."""
        steps = [(k, step) for k, step in enumerate(replay(self.hand)) if step.street > 0]
        out: list[PotDecision] = []
        for street in (1, 2, 3):
            own = [(k, step) for k, step in steps if step.street == street]
            if not own:
                break
            actions = [self._total(step.action, step.own, step.to_call) for _, step in own]
            later = any(step.player == self.pair[self.seat] for _, step in steps if step.street >= street)
            if not later:
                break
            try:
                out += self._review_street(street, own, actions)
            except RiverboatError as error:
                out += [
                    PotDecision(step.street, k, describe(step, self.hand), None, None, why=str(error))
                    for k, step in steps
                    if step.street >= street and step.player == self.pair[self.seat]
                ]
                break
        return out

    def _total(self, action: int, own: int, to_call: int) -> int:
        """Return an action in the chips of the spot; totals are at most the shorter stack."""
        if action <= CALL:
            return action
        stacks = self.state.rules.stacks or (0, 0)
        return min(action + self.state.committed_before_street, stacks[0])

    def _review_street(self, street: int, own: Any, actions: Sequence[int]) -> list[PotDecision]:
        board = self.hand.boards[0][: BOARD_SIZES[street]]
        if self.progress is not None:
            self.progress(STREET_NAMES[street])
        start = self.state
        menu = _flop_menu(actions) if street == 1 else choose_menu(start, MAX_WORK)
        state = start
        for action in actions:
            if state.actor < 0:
                break
            if action > CALL:
                action = _legal(state, action)
                menu = add_raise_total(menu, state, action)
            state = state.apply_action(action)
        spot, solution = self._solve(start, board, menu, street)
        percent = float(solution.provenance["exploitability"])
        source = f"solved from the {STREET_NAMES[street]} to {percent:.2g} % of the pot"
        found: list[PotDecision] = []
        state, node, earlier = start, 0, start.committed_before_street
        for (k, step), action in zip(own, actions, strict=True):
            if state.actor < 0:
                break
            action = _legal(state, action) if action > CALL else action
            if step.player == self.pair[self.seat]:
                found.append(self._decide(spot, solution.node(node), state, step, k, action, source, percent))
            child = spot.betting.child(node, action - earlier if action > CALL else action, spot.start.spent)
            if child is None:
                raise InputError("a bet that is not in the solved tree")
            state, node = state.apply_action(action), child
        if state.actor < 0 and street < 3 and max(state.spent) < min(state.rules.stacks or (0, 0)):
            reach = solution.node(node).reach
            self.state = state.next_street()
            weights = [np.maximum(side, 0.0) / max(float(side.max()), 1e-300) for side in reach]
            self.ranges = self._with_hole((Range(weights[0]), Range(weights[1])), board)
        return found

    def _solve(self, start: BettingState, board: Sequence[int], menu: ActionMenu, street: int) -> tuple[Spot, Solution]:
        blocked = [side.remove(board) for side in self.ranges]
        if not all(side.combos for side in blocked):
            raise InputError(f"no hand of a range is left on {format_cards(board)}")
        spot = Spot.at(start, tuple(board), (blocked[0], blocked[1]), menu, name=f"hand {self.hand.number}")
        (solution,) = solve_many(
            [spot], iterations=ITERATIONS[street], until=TARGETS[street], seconds=MAX_SECONDS[street], threads=self.threads,
            check_every=20,
        )  # fmt: skip
        return spot, solution

    def _decide(
        self,
        spot: Spot,
        node: SolutionNode,
        state: BettingState,
        step: Any,
        k: int,
        action: int,
        source: str,
        percent: float,
    ) -> PotDecision:
        root = ConvertedState(spot.start, earlier_chips=state.committed_before_street)
        verdict = node_verdict(spot, node, root, state, self.hole, source)
        labels = {option.move: describe_move(option.move, state, self.hand) for option in verdict.options}
        played = format_action(action, state.rules)
        best = verdict.best
        options = tuple((labels[option.move], option.probability, option.ev) for option in verdict.options)
        return PotDecision(
            step.street, k, labels[played], verdict, verdict.cost(played), "" if best is None else labels[best.move],
            error=percent / 100 * spot.rules.pot, options=options,
        )  # fmt: skip


def _flop_menu(actions: Sequence[int]) -> ActionMenu:
    """Return the menu of a flop: the first bet that was made, or half of the pot."""
    first = next((f"{action}c" for action in actions if action > CALL), DEFAULT_FLOP_BET)
    return menu_from_table({"preflop": [first, "a"], **LATER_STREETS})


def _legal(state: BettingState, total: int) -> int:
    """Return the legal raise next to a total: real bets may be below a minimum when somebody is all-in."""
    span = state.raise_range()
    return CALL if span is None else min(max(total, span.least), span.most)


def describe_move(move: str, state: BettingState, hand: TableHand) -> str:
    """Describe an action of a spot as players say it: fold, check, call, bets and raises as totals of the round.

    Parameters
    ----------
    move
        `f`, `c` or `r` with the total of a raise in the spot.
    state
        State before the action.
    hand
        The hand, for its currency.
    """
    if move == "f":
        return "fold"
    if move == "c":
        return "call" if state.to_call else "check"
    action = int(move[1:])
    total = action - state.committed_before_street
    verb = "raise to" if state.to_call or state.raises else "bet"
    stacks = state.rules.stacks or (0, 0)
    return f"{verb} {_amount(total, hand)}" + (" all-in" if action >= min(stacks) else "")


def describe(step: Any, hand: TableHand) -> str:
    """Describe an action of a replayed hand as players say it.

    Parameters
    ----------
    step
        The action, with the state before it.
    hand
        The hand.
    """
    if step.action == FOLD:
        return "fold"
    if step.action == CALL:
        return f"call {_amount(step.to_call, hand)}" if step.to_call else "check"
    verb = "raise to" if step.bet else "bet"
    return f"{verb} {_amount(step.action, hand)}" + (" all-in" if step.action - step.own >= step.behind else "")


def _amount(chips: float, hand: TableHand) -> str:
    return money(chips, hand.currency, hand.scale)
