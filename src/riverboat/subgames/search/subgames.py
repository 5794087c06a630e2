"""Subgames of a hand in play: a spot with the real pot, a gadget at its root, positions in its solution, and bet menus.

`SearchSubgame` is a subgame to be solved. `SubgamePosition` is a public state in a solved one: its strategy, ranges,
and the opponent's best-response values. Arrays are over the 1,326 hands of `cards.deck`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from math import comb
from typing import Any

import numpy as np

from riverboat.cards.deck import HAND_CARDS, NUM_HANDS
from riverboat.cards.ranges import Range
from riverboat.compiled.simd import decode_codes
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, short_repr
from riverboat.games.base import CHANCE
from riverboat.games.boards.board_game import DealtCards
from riverboat.games.boards.root_gadgets import MaxmarginGadget, ResolvingGadget, RootGadget
from riverboat.games.holdem.bet_sizes import NO_THRESHOLDS, BetSize, format_sizes, parse_sizes
from riverboat.games.holdem.betting import BettingState, current_actor
from riverboat.games.holdem.betting_rules import apply_action, deal_street
from riverboat.games.holdem.menus import (
    ActionMenu,
    MenuActions,
    MenuLevel,
    MenuLevels,
    menu_from_table,
    menu_raise_totals,
    trim_repeats,
)
from riverboat.games.holdem.public_states import PublicStates
from riverboat.games.spots.spot import Spot
from riverboat.strategies.blueprint_game import decision_view
from riverboat.strategies.policy import BlueprintPolicy
from riverboat.strategies.solution import Solution, SolutionNode

SEARCH_METHODS = {
    "unsafe": "both ranges are taken as known: no guarantee",
    "resolve": "the opponent may stop and take its previous value: no hand gains, except through the forced share",
    "maxmargin": "the least margin over the opponent's hands is maximized: no hand gains",
    "reach_maxmargin": "maxmargin, where margins include what hands gave up on earlier streets: no hand gains",
    "reach_maxmargin_split": "maxmargin, where hands may gain what they gave up on earlier streets, once",
    "estimate": "self-play values as estimates, by maxmargin or with their error distribution: as safe as these are accurate",
}

GIFT_METHODS = ("reach_maxmargin", "reach_maxmargin_split")
MIN_LEARNED_REACH = 1e-3  # minimum own reach of a hand: strategies of rarer hands stem from the first iterations


@dataclass(frozen=True, eq=False)
class SubgameRoot:
    """Ranges and values at a public state where a subgame may start."""

    state: BettingState
    board: tuple[int, ...]
    ranges: Array  # float64 [2, 1326]: reach of each seat's hands
    # float64 [1326]: best-response values of the opponent's hands from the current pot; NaN without compatible hands
    values: Array | None
    source: str  # origin of the values, or why there are none
    gifts: Array | None = None  # float64 [1326]: values that these hands gave up on the path; None: none are known
    error: Array | float = 0.0  # float64 [1326]: error of the values, if they are estimates

    def after_off_tree_move(self, move: int, other: int) -> SubgameRoot:
        """Return the root after an off-tree action; `other` is the opponent of the searching seat.

        The opponent's values are those before the action, plus the chips that it put in with the action.
        """
        state = self.state.apply_action(move)
        added = state.spent[other] - self.state.spent[other]
        if self.values is None:
            return replace(self, state=state)
        source = f"{self.source}, before an action that it does not have"
        return replace(self, state=state, values=self.values + added, source=source)


@dataclass(frozen=True, eq=False)
class SearchSubgame:
    """A subgame to be solved for one seat, as a spot with a gadget."""

    seat: int
    root: SubgameRoot
    spot: Spot
    method: str  # the method in use: without values only unsafe is possible

    @staticmethod
    def from_root(
        root: SubgameRoot, seat: int, menu: ActionMenu, method: str, floor: float, own_floor: float, *, spread: float = 0.0,
        forced: float = 0.0,
    ) -> SearchSubgame:  # fmt: skip
        """Build the spot of a root with the gadget of a method.

        `floor` is the minimum weight of the opponent's hands in unsafe search, `own_floor` that of own hands, so that
        hands outside the range have a strategy too. `spread` is the standard deviation of estimates as a multiple of
        their error. `forced` is the share of the opponent's range that must enter.
        """
        live: Array = np.logical_not(np.isin(HAND_CARDS, root.board).any(axis=1))
        actual_method = method if root.values is not None else "unsafe"
        own, other = (normalize_range(root.ranges[player], live) for player in (seat, 1 - seat))
        floored = np.maximum(other, floor) * live
        own_range = Range(np.maximum(own, own_floor) * live)
        other_range = Range(floored if actual_method == "unsafe" else live.astype(float))
        ranges = (own_range, other_range) if seat == 0 else (other_range, own_range)
        spot = Spot.at(root.state, root.board, ranges, menu, name="table")
        gadget = _make_gadget(actual_method, 1 - seat, root, spread, forced * floored)
        return SearchSubgame(seat, root, replace(spot, gadget=gadget), actual_method)

    def root_position(self, solution: Solution, min_probability: float = 0.0) -> SubgamePosition:
        """Return the root position of a solution. Actions of the seat with less than `min_probability` are dropped."""
        if min_probability:
            _drop_unlikely_moves(solution, self.seat, min_probability)
        return SubgamePosition(self, solution, self.root.state)


def _drop_unlikely_moves(solution: Solution, seat: int, min_probability: float) -> None:
    """Drop a seat's actions below `min_probability` from the solution's table; the most likely action always stays."""
    tree, table = solution.tree, solution.table
    for node in np.flatnonzero(tree.forest.actor == seat).tolist():
        street = int(np.searchsorted(tree.forest.first, node, side="right")) - 1
        for board in range(tree.street_start[street], tree.street_start[street + 1]):
            sums = decision_view(tree, table, board, node)
            weights = np.asarray(decode_codes(sums.ravel()), float).reshape(sums.shape)
            sums[(weights < min_probability * weights.sum(axis=0)) & (weights < weights.max(axis=0))] = 0


def street_nodes(policy: BlueprintPolicy, states: Sequence[BettingState], board: Sequence[int], seat: int) -> list[int]:
    """Return the decision of the policy's tree that each state, at the start of a street, is translated to; -1 if none.

    `seat` is the seat whose translation counts. `board` has the cards of the street.
    """
    if not states:
        return []
    public_states = PublicStates.from_betting(states, [board] * len(states))
    nodes = policy.abstract_nodes(public_states, np.full(len(states), seat)).tolist()
    actor, street = policy.strategy.tree.actor, policy.strategy.tree.street
    return [
        node if node >= 0 and actor[node] >= 0 and street[node] == state.street else -1
        for node, state in zip(nodes, states, strict=True)
    ]


def normalize_range(reach: Array, live: Array) -> Array:
    """Scale a range to a maximum of one, zero for blocked hands; if it is empty, return all `live` hands."""
    largest = float(reach.max(initial=0.0))
    return np.where(live, reach / largest, 0.0) if largest > 0 else live.astype(float)


def undo_floor(reach: Array, true: Array, used: Array) -> Array:
    """Convert a reach that started from weights `used` to one that starts from the `true` weights."""
    return reach * true / np.where(used > 0, used, 1.0)


def _make_gadget(method: str, player: int, root: SubgameRoot, spread: float, forced: Array) -> RootGadget | None:
    if method == "unsafe" or root.values is None:
        return None
    max_value = root.state.pot + min(root.state.behind)  # a hand without compatible hands never enters
    values = np.where(np.isnan(root.values), max_value, root.values)
    if method == "resolve":
        return ResolvingGadget(player, values, forced=forced)
    if method == "estimate" and spread:
        return ResolvingGadget(player, values, spread * np.nan_to_num(root.error))
    if method in GIFT_METHODS and root.gifts is not None and root.gifts.any():
        limits = values if method == "reach_maxmargin" else None
        return MaxmarginGadget(player, values + root.gifts, limits=limits)
    return MaxmarginGadget(player, values)


@dataclass(frozen=True, eq=False)
class SubgamePosition:
    """A public state in a solved subgame."""

    subgame: SearchSubgame
    solution: Solution
    state: BettingState  # of the real game
    node: int = 0  # node of the solution's betting tree
    dealt_cards: DealtCards = ()  # cards of each deal since the root

    @property
    def nbytes(self) -> int:
        """Memory of the solution in bytes."""
        return int(self.solution.table.nbytes)

    # --- successors ---------------------------------------------------------------------------

    @cached_property
    def moves(self) -> tuple[int, ...]:
        """Real actions, ascending."""
        return self.solution.tree.betting.moves(self.node, self.subgame.root.state.spent)

    def child(self, move: int) -> SubgamePosition | None:
        """Return the position after an action; None if the subgame does not have it."""
        child = self.solution.tree.betting.child(self.node, move, self.subgame.root.state.spent)
        return None if child is None else replace(self, state=self.state.apply_action(move), node=child)

    def after_deal(self, cards: tuple[int, ...]) -> SubgamePosition:
        """Return the position after the deal of the next street."""
        return replace(self, state=self.state.next_street(), node=self.node + 1, dealt_cards=(*self.dealt_cards, cards))

    @property
    def is_chance(self) -> bool:
        """Whether the next street is dealt here."""
        return self.state.actor == CHANCE

    # --- strategies and values ----------------------------------------------------------------

    @cached_property
    def solution_node(self) -> SolutionNode:
        """Node of the solution."""
        return self.solution.node(self.node, self.dealt_cards)

    @cached_property
    def strategy(self) -> Array:
        """Probability of each action with each hand. float64 [1326, actions]

        The solution has no useful strategy for a hand with almost no reach, nor for one with almost no compatible
        opponent hands, whose values are lost to rounding so that all its actions are equal. Such a hand plays its best
        action against the opponent's range here, or, if that is empty, against the range at the root. Hands outside the
        range, and hands without compatible hands, play the mean of the own range.
        """
        player, probabilities = self.solution_node.player, self.solution_node.strategy.T.copy()
        reach, root_weights = self.solution_node.reach[player], self.subgame.spot.weights[player]
        defined: Array = np.logical_not(np.isnan(probabilities).any(axis=1))
        reliable = defined & (reach >= MIN_LEARNED_REACH * root_weights)
        # One iteration leaves all strategies uniform.
        if probabilities.shape[1] > 1 and self.solution.provenance["iterations"] > 1:
            reliable &= np.ptp(probabilities, axis=1) > 0
        weight = np.where(reliable, reach, 0.0)
        weight = weight if weight.any() else defined.astype(float)
        unreliable = ~reliable & (root_weights > 0)
        probabilities[~reliable] = weight @ np.nan_to_num(probabilities) / weight.sum()
        for opponent_range in (None, self.solution_node.root_weights[1 - player]):
            if not unreliable.any():
                break
            action_values = self.solution_node.best_response_action_values(player, opponent_range)
            fixed = np.flatnonzero(unreliable & np.logical_not(np.isnan(action_values).any(axis=0)))
            probabilities[fixed] = np.eye(len(action_values))[action_values[:, fixed].argmax(axis=0)]
            unreliable[fixed] = False
        return probabilities

    def subgame_root(self) -> SubgameRoot:
        """Return ranges and values here, as the root of another subgame."""
        other, ranges, values, gifts = 1 - self.subgame.seat, np.stack(self.solution_node.reach), None, None
        provenance, spot, source = self.solution.provenance, self.subgame.spot, self.subgame.root.source
        own, used = self.subgame.seat, spot.weights[self.subgame.seat]
        ranges[own] = undo_floor(ranges[own], normalize_range(self.subgame.root.ranges[own], used > 0), used)
        if self.subgame.method != "unsafe":
            ranges[other] *= self.subgame.root.ranges[other]  # with a gadget, all hands have equal root weights
            values, source = self.solution_node.best_response_values(other), "the last solution"
        if self.subgame.method in GIFT_METHODS:
            gifts = self.gifts()
        error = provenance["exploitability"] * spot.pot / 100  # bound on the mean error over a range
        return SubgameRoot(self.state, self.solution_node.board, ranges, values, source, gifts, error)

    def figures(self) -> dict[str, Any]:
        """Return figures of the solution for reports: method, guarantee, tree size, iterations and exploitability."""
        subgame, provenance = self.subgame, self.solution.provenance
        return {
            "method": subgame.method,
            "guarantee": SEARCH_METHODS[subgame.method],
            "values": subgame.root.source,
            "betting_nodes": len(subgame.spot.betting.actor),
            "boards": int(self.solution.tree.street_start[-1]),
            "hands": [int(np.count_nonzero(weights)) for weights in subgame.spot.weights],
            **{key: provenance[key] for key in ("iterations", "exploitability", "unit")},
        }

    def gifts(self) -> Array:
        """Return the gifts of the opponent's hands on the path: values they gave up by not playing their best actions.

        Given the hand, gifts are the same after all cards and all actions of the searching seat, so that they may be
        spent once together: a hand's value from here on may rise by its gift, and still no decision of it on the path is
        worth more than before. What this solution has spent of the gifts at its root is gone, if they may be spent.
        float64 [1326]
        """
        other, root_gifts, betting = 1 - self.subgame.seat, self.subgame.root.gifts, self.solution.tree.betting
        total = np.zeros(NUM_HANDS) if root_gifts is None else root_gifts.copy()
        if root_gifts is not None and self.subgame.method == "reach_maxmargin_split":
            total = np.minimum(total, np.nan_to_num(self.solution.margins()).clip(0.0))
        for node, child in pairwise(betting.path(self.node)):
            if betting.actor[node] == other:
                solution_node = self.solution.node(node, self.dealt_cards[: betting.street[node]])
                values = solution_node.best_response_action_values(other)
                total += np.nan_to_num(values.max(axis=0) - values[list(betting.children(node)).index(child)])
        return total


# --- bet menus ------------------------------------------------------------------------------------

# Menus from rich to poor, each (turn, river): sizes of the first bet, the first raise, and later raises.
MENU_LADDER: tuple[tuple[Sequence[str], Sequence[str]], ...] = (
    (("33%, 75%, 150%, a", "75%, a", "a"), ("33%, 75%, 150%, a", "50%, 100%, a", "100%, a", "a")),
    (("50%, 100%, a", "100%, a", "a"), ("50%, 100%, a", "100%, a", "a")),
    (("50%, 100%, a", "100%, a", "a"), ("100%, a", "a")),
    (("100%, a", "100%, a", "a"), ("100%, a", "a")),
    (("100%, a", "a"), ("100%, a", "a")),
    (("100%, a", "a"), ("a",)),
    (("a",), ("a",)),
)


@lru_cache(maxsize=1 << 12)
def choose_menu(state: BettingState, max_work: float, total: int | None = None) -> ActionMenu:
    """Return the richest menu whose tree takes at most `max_work`: nodes × boards × hands.

    With `total`, the seat to act may also raise to that total.
    """
    for turn, river in MENU_LADDER:
        menu = menu_from_table({"preflop": list(turn), "river": list(river)})
        if total is not None:
            menu = add_raise_total(menu, state, total)
        if estimate_work(state, menu, max_work) <= max_work:
            return menu
    return menu


def parse_search_menu(text: str) -> ActionMenu:
    """Parse a menu from a list of sizes such as `50%,100%,a`; all-in is added if it is missing."""
    try:
        sizes = format_sizes(parse_sizes(text, "menu", facing_bet=False))
    except InputError as error:
        raise InputError(f"menu={short_repr(text)}: {error}") from None
    first = sizes if "a" in sizes.split(", ") else f"{sizes}, a" if sizes else "a"
    return menu_from_table({"preflop": [first, first, "a"]})


def estimate_work(state: BettingState, menu: ActionMenu, limit: float) -> float:
    """Return the cost of solving from a state on: nodes × boards × hands of its tree, counted up to `limit`."""
    choices, rules = MenuActions(state.rules, menu), state.rules.compact
    stack, total, first = [state.compact], 0.0, state.street
    cards_left = len(state.rules.deck.cards) - state.rules.board_sizes[first]
    while stack and total <= limit:
        s = stack.pop()
        total += comb(cards_left, 2) * cards_left ** (s.street - first)
        actor = current_actor(rules, s)
        if actor == CHANCE:
            stack.append(deal_street(rules, s))
        elif actor >= 0:
            stack += [apply_action(rules, s, move) for move in choices.actions(s)]
    return total


def add_raise_total(menu: ActionMenu, state: BettingState, total: int) -> ActionMenu:
    """Return a menu in which the seat to act may raise to a total at this decision: the same menu if it has it."""
    if total in menu_raise_totals(menu, state):
        return menu
    seat, street, raises = state.turn, state.street, state.raises
    chips = BetSize("c", parse_sizes(f"{total - max(state.spent)}c")[0].number)
    streets = [menu.levels_for(seat, number) for number in range(state.rules.rounds)]
    levels = [*streets[street]]
    levels += [levels[-1]] * (raises + 2 - len(levels))
    levels[raises] = MenuLevel((*levels[raises].sizes, chips))
    streets[street] = trim_repeats(levels)
    own_levels: tuple[MenuLevels, ...] = trim_repeats(streets)
    both_levels = (own_levels, menu.levels[1]) if seat == 0 else (menu.levels[0], own_levels)
    max_raises = [menu.most_raises[min(k, len(menu.most_raises) - 1)] for k in range(state.rules.rounds)]
    if (cap := max_raises[street]) is not None:
        max_raises[street] = max(cap, raises + 1)
    wider = replace(menu, levels=both_levels, most_raises=tuple(max_raises))
    if total in menu_raise_totals(wider, state):
        return wider
    # Merging of similar sizes or donk-bet rules may have hidden it.
    return replace(wider, thresholds=NO_THRESHOLDS, donks=(None,), donk_bets=True)
