"""Agents that exploit safely, relative to their blueprint.

    agent = make_agent("demo?exploit=dbbr&search=river&safe=20")     # risks 20 mbb per hand, and the gifts so far

The risk of a hand is known and never exceeds what the budget and the bank allow; the bank contains the opponent's
proven gifts (`opponents.risk` has the proof). The rule is RWYWE (risk what you've won in expectation) of Ganzfried
and Sandholm (2015). There are two ways to respond at a known risk:

- `SafeSearchAgent` responds in subgames: its risks are exact on the real board.
- `SafeLearningAgent` plays the response of a learning agent in a share of hands (`opponents.risk`): its risk is exact
  in the abstract game, which must have perfect recall; other games are rejected.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.composite import MixtureAgent, MixtureDelegatingAgent
from riverboat.agents.learning import LearningAgent, own_player_name, read_opponent
from riverboat.agents.search import SearchAgent
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.hand_records import HandRecords
from riverboat.games.holdem.public_states import PublicStates
from riverboat.opponents.gifts import last_street_gifts
from riverboat.opponents.models.tree import MoveCounts, count_moves, fit_model
from riverboat.opponents.risk import RelativeRisk, RiskBank, exact_risk
from riverboat.strategies.blueprint import Blueprint
from riverboat.subgames.search.search import (
    SearchSettings,
    SubgameSearch,
    equal_stack_policy,
    equal_stack_states,
    equal_stack_strategy,
)
from riverboat.subgames.search.subgames import SubgamePosition

# --- Responses in subgames at a limited risk ---

SEARCH_STREETS = ("turn", "river")  # streets from which subgames are solved to the end of the hand
MIN_FLOOR = 0.01  # smallest weight of an opponent's hand


class SubgameStake(NamedTuple):
    """Mixture of blueprint and response in a subgame, with its risk."""

    share: float  # share of hands in which the response is played
    excess: float  # chips that the opponent's best hand wins more against the response than against the blueprint

    @property
    def risk(self) -> float:
        """Expected risk of a hand that reaches the subgame, in chips."""
        return self.share * self.excess


class SafeSubgameAgent(MixtureAgent):
    """Blueprint with responses in its subgames, each at a risk of at most `allowance` chips."""

    def __init__(self, base: BlueprintAgent, settings: SearchSettings, opponent: Blueprint, allowance: float) -> None:
        if settings.street not in SEARCH_STREETS:
            raise InputError(
                f"search={settings.street}: the risk of a solution that ends with its street is not known; "
                f"safe needs search={' or '.join(SEARCH_STREETS)}"
            )
        # Every hand of the opponent must be in the subgame, or its possible winnings would be unknown.
        settings = replace(settings, floor=max(settings.floor, MIN_FLOOR), nested=None)
        response = SearchAgent(base, replace(settings, method="unsafe"), opponent)
        super().__init__((base, response), (1.0, 0.0), base.name, base.seed)
        self.search = response.search
        self.allowance = allowance
        self._value_search = SubgameSearch(
            equal_stack_policy(base.policy), replace(settings, method="resolve"), equal_stack_strategy(opponent)
        )
        self._stakes: dict[tuple[str, tuple[int, ...], int], SubgameStake] = {}

    @property
    def first_street(self) -> int:
        """First street with responses."""
        return self.search.first_street

    def mixture_weights(self, public_states: PublicStates, seats: Array) -> Array:
        """Return the weights of blueprint and response; before the searched street the blueprint's is 1. float64 [n,
        parts]
        """
        weights = np.tile([1.0, 0.0], (len(public_states), 1))
        for i in np.flatnonzero(public_states.street >= self.first_street).tolist():
            share = self.stake(public_states, i, int(seats[i])).share
            weights[i] = 1.0 - share, share
        return weights

    def stake(self, public_states: PublicStates, i: int, seat: int) -> SubgameStake:
        """Return the mixture that a seat plays in the subgame that contains public state i."""
        state, board = self._subgame_root(public_states, i)
        key = state.line, board, seat
        if key not in self._stakes:
            self._stakes[key] = self._compute_stake(state, board, seat)
        return self._stakes[key]

    def cached_stake(self, public_states: PublicStates, i: int, seat: int) -> SubgameStake | None:
        """Return the mixture of the subgame that contains public state i if it was computed before, else None."""
        state, board = self._subgame_root(public_states, i)
        return self._stakes.get((state.line, board, seat))

    def _compute_stake(self, state: BettingState, board: tuple[int, ...], seat: int) -> SubgameStake:
        subgame_root = self._value_search.root_of_first_subgame(state, board, seat)
        if subgame_root.values is None:
            return SubgameStake(0.0, np.inf)  # the blueprint does not have this line: there is nothing to compare with
        position = self.search.positions(PublicStates.from_betting([state], [board]), [seat])[0]
        assert isinstance(position, SubgamePosition)  # solved to the end of the hand
        response_values = position.solution_node.best_response_values(1 - seat)
        excess_by_hand = np.asarray(response_values - subgame_root.values, float)
        excess = float(np.nanmax(excess_by_hand, initial=0.0))
        return SubgameStake(1.0 if excess <= self.allowance else self.allowance / excess, excess)

    def _subgame_root(self, public_states: PublicStates, i: int) -> tuple[BettingState, tuple[int, ...]]:
        """Return the state at the start of the searched street, in the game with equal stacks, and its board."""
        board = public_states.board_cards(i)[: public_states.rules.board_sizes[self.first_street]]
        public_states = equal_stack_states(public_states)
        state = BettingState.start(public_states.rules)
        for move in public_states.moves[i, : public_states.length[i]].tolist():
            state = state.next_street() if state.actor == CHANCE else state
            if state.street == self.first_street:
                break
            state = state.play(move)
        return state.next_street() if state.actor == CHANCE else state, board


MAX_BUDGET_MBB = 1_000_000.0


class _SafeAgent(MixtureDelegatingAgent):
    """Base class of safe agents, whose strategy changes only when they observe hands.

    Each observation charges the risk of its hands to a bank, and credits the opponent's gifts. `budget` is in mbb/g.
    """

    def __init__(self, base: BlueprintAgent, budget: float, every: int) -> None:
        if not 0 <= budget <= MAX_BUDGET_MBB:
            raise InputError(f"safe={budget:g}: must be mbb per hand, from 0 to {MAX_BUDGET_MBB:,.0f}")
        self.base, self.every, self.name = base, every, base.name
        self.made_of = (base,)  # the blueprint that identifies it in ledgers
        self.hands_seen = 0
        self.bank = RiskBank(budget * base.rules.big_blind / 1000)
        self.current_agent: MixtureAgent = MixtureAgent((base,), (1.0,), base.name, base.seed)

    def account(self) -> str:
        """Return the gifts and risks so far, in mbb per hand, as text."""
        mbb, bank = 1000 / self.base.rules.big_blind / max(self.hands_seen, 1), self.bank
        return (
            f"{bank.total_gifts * mbb:,.0f} mbb per hand of proven gifts, "
            f"{bank.total_risked * mbb:,.0f} of them risked beyond a budget of "
            f"{bank.budget * 1000 / self.base.rules.big_blind:,.0f}; {bank.chips:,.0f} chips are left in the bank"
        )

    def observe(self, hands: HandRecords) -> None:
        """Charge the risks of these hands, credit the gifts, learn, and set the mixture for the next hands."""
        if len(hands) > self.every:
            raise InputError(
                f"agent {self.name!r}: {len(hands):,} hands at once, but its bank allows {self.every:,}: set every="
            )
        own_name = own_player_name(self.name, hands)
        self.hands_seen += len(hands)
        self._charge(hands, own_name)
        for other in hands.names:
            if other != own_name:
                self.bank.credit(
                    float(last_street_gifts(self.current_agent, hands, other, self.base.strategy.menu).sum())
                )
        self._learn(hands, own_name)
        self._update_mixture(self.bank.allowed_risk(self.every))

    # Subclasses charge the bank for the risk of hands, learn from them, and set the mixture to an allowed risk in chips
    # per hand.
    def _charge(self, hands: HandRecords, own_name: str) -> None:
        raise NotImplementedError

    def _learn(self, hands: HandRecords, own_name: str) -> None:
        raise NotImplementedError

    def _update_mixture(self, allowed: float) -> None:
        raise NotImplementedError


class SafeLearningAgent(_SafeAgent):
    """Learning agent that plays its response in a share of hands, as large as the bank allows."""

    def __init__(self, learning_agent: LearningAgent, budget: float) -> None:
        super().__init__(learning_agent.blueprint_agent, budget, learning_agent.settings.every)
        try:
            exact_risk(self.base.strategy, self.base.strategy)
        except InputError as error:
            raise InputError(
                f"agent {self.name!r}: the risk of a response is not known here ({error}); "
                "add search=river, where it is known"
            ) from None
        self.learning_agent = learning_agent
        self.risk = RelativeRisk(0.0)  # risk of the response
        self._response: BlueprintAgent = self.base

    def _charge(self, hands: HandRecords, own_name: str) -> None:
        if len(self.current_agent.weights) > 1:
            self.bank.charge(max(0.0, self.risk.chips) * self.current_agent.weights[1], len(hands))

    def _learn(self, hands: HandRecords, own_name: str) -> None:
        self.learning_agent.observe(hands)

    def _update_mixture(self, allowed: float) -> None:
        response = self.learning_agent.current_agent
        if response is not self._response:
            self.risk = exact_risk(response.strategy, self.base.strategy)
            self._response = response
        share = self.risk.allowed_share(allowed)
        self.current_agent = MixtureAgent((self.base, response), (1.0 - share, share), self.name, self.base.seed)


class SafeSearchAgent(_SafeAgent):
    """Blueprint that responds to a model of the opponent in subgames, at a risk that the bank allows."""

    def __init__(self, base: BlueprintAgent, settings: SearchSettings, budget: float, every: int) -> None:
        super().__init__(base, budget, every)
        SafeSubgameAgent(base, settings, base.strategy, 0.0)  # raises if the game cannot be searched
        self.settings = settings
        self.counts = MoveCounts({})
        self.hands = 0

    def _charge(self, hands: HandRecords, own_name: str) -> None:
        if not isinstance(self.current_agent, SafeSubgameAgent):
            return
        seats, board = hands.seat_of(own_name), np.array(hands.cards[:, 2 * hands.rules.hole :])
        public_states = PublicStates(hands.rules, hands.moves, hands.length, board)
        for i in np.flatnonzero(public_states.street >= self.current_agent.first_street).tolist():
            stake = self.current_agent.cached_stake(public_states, i, int(seats[i]))
            if stake is not None and stake.share > 0:
                self.bank.charge(stake.risk, 1)

    def _learn(self, hands: HandRecords, own_name: str) -> None:
        strategy = self.base.strategy
        reading, is_opponent = read_opponent(self.base, hands, own_name, self.hands)
        self.counts += count_moves(reading, strategy.tree, is_opponent, hands, strategy.cards)
        self.hands += len(hands)

    def _update_mixture(self, allowed: float) -> None:
        model = fit_model(self.base.strategy, self.counts, "l1")
        self.current_agent = SafeSubgameAgent(self.base, self.settings, model, allowed)
