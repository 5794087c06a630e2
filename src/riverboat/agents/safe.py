"""Agents that learn and stay safe, relative to their blueprint.

    agent = make_agent("demo?exploit=dbbr&search=river&safe=20")     # 20 mbb a hand, and what was given, may be at risk

What is at risk in a hand is known, never more than the budget and the bank allow, and the bank holds what the opponent
certainly gave (`opponents.safe.bank`, with the proof). Two ways to answer at a known risk:

- `SafeSearcher`, in endgames (`agents.safe_search`): risks are exact on the real board;
- `SafeLearner`, the answer of a learner in a share of hands (`opponents.safe.relative`): exact in the abstract game, which needs
  buckets with perfect recall, and refused elsewhere.
"""

from __future__ import annotations

import numpy as np

from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.learning import LearningAgent, own_name
from riverboat.agents.mixtures import MixedAgent, PlaysAMixture
from riverboat.agents.safe_search import SafeEndgames
from riverboat.core.errors import InputError
from riverboat.games.holdem.public_state import Places
from riverboat.games.records.hand_records import Hands
from riverboat.opponents.models.hand_lines import read_in
from riverboat.opponents.models.tree import Counts, count_moves, fit_model
from riverboat.opponents.safe.bank import Bank
from riverboat.opponents.safe.gifts import street_gifts
from riverboat.opponents.safe.relative import Risk, exact_risk
from riverboat.subgames.search.search import SearchSettings

MOST_MBB = 1_000_000.0


class _Safe(PlaysAMixture):
    """What is played changes only when hands are shown; then risks are charged, and gifts credited."""

    def __init__(self, base: BlueprintAgent, budget: float, every: int) -> None:
        if not 0 <= budget <= MOST_MBB:
            raise InputError(f"safe={budget:g}: mbb a hand, from 0 to {MOST_MBB:,.0f}")
        self.base, self.every, self.name = base, every, base.name
        self.shown = 0  # hands
        self.bank = Bank(budget * base.rules.big_blind / 1000)
        self.now: MixedAgent = MixedAgent((base,), (1.0,), base.name, base.seed)

    @property
    def made_of(self) -> tuple[BlueprintAgent]:
        """The blueprint by which it is known."""
        return (self.base,)

    def account(self) -> str:
        """What was given and risked so far."""
        mbb, bank = 1000 / self.base.rules.big_blind / max(self.shown, 1), self.bank
        return (
            f"{bank.given * mbb:,.0f} mbb a hand of proven gifts, {bank.risked * mbb:,.0f} of them risked beyond a budget of "
            f"{bank.budget * 1000 / self.base.rules.big_blind:,.0f}; {bank.chips:,.0f} chips are left in the bank"
        )

    def observe(self, hands: Hands) -> None:
        """Charge what was risked in these hands, credit what was given, learn, and see what may be risked next."""
        if len(hands) > self.every:
            raise InputError(
                f"agent {self.name!r}: {len(hands):,} hands at once, and its bank allows for {self.every:,}: give every="
            )
        mine = own_name(self.name, hands)
        self.shown += len(hands)
        self._charge(hands, mine)
        for other in hands.names:
            if other != mine:
                self.bank.credit(float(street_gifts(self.now, hands, other, self.base.strategy.menu).sum()))
        self._learn(hands, mine)
        self._renew(self.bank.allows(self.every))

    def _charge(self, hands: Hands, mine: str) -> None:
        raise NotImplementedError

    def _learn(self, hands: Hands, mine: str) -> None:
        raise NotImplementedError

    def _renew(self, allowed: float) -> None:
        raise NotImplementedError


class SafeLearner(_Safe):
    """A learner whose answer is played in a share of hands."""

    def __init__(self, learner: LearningAgent, budget: float) -> None:
        super().__init__(learner.first, budget, learner.settings.every)
        try:
            exact_risk(self.base.strategy, self.base.strategy)
        except InputError as error:
            raise InputError(
                f"agent {self.name!r}: what an answer risks is not known here ({error}); search=river knows it, add that"
            ) from None
        self.learner = learner
        self.risk = Risk(0.0)  # of the answer
        self._answer: BlueprintAgent = self.base

    def _charge(self, hands: Hands, mine: str) -> None:
        if len(self.now.shares) > 1:
            self.bank.charge(max(0.0, self.risk.chips) * self.now.shares[1], len(hands))

    def _learn(self, hands: Hands, mine: str) -> None:
        self.learner.observe(hands)

    def _renew(self, allowed: float) -> None:
        answer = self.learner.now
        if answer is not self._answer:
            self.risk = exact_risk(answer.strategy, self.base.strategy)
            self._answer = answer
        share = self.risk.share(allowed)
        self.now = MixedAgent((self.base, answer), (1.0 - share, share), self.name, self.base.seed)


class SafeSearcher(_Safe):
    """A blueprint that answers a model in its endgames."""

    def __init__(self, base: BlueprintAgent, settings: SearchSettings, budget: float, every: int) -> None:
        super().__init__(base, budget, every)
        SafeEndgames(base, settings, base.strategy, 0.0)  # refuses what cannot be searched
        self.settings = settings
        self.counts = Counts({})
        self.hands = 0

    def _charge(self, hands: Hands, mine: str) -> None:
        if not isinstance(self.now, SafeEndgames):
            return
        seats, board = hands.seat_of(mine), np.array(hands.cards[:, 2 * hands.rules.hole :])
        places = Places(hands.rules, hands.moves, hands.length, board)
        for i in np.flatnonzero(places.street >= self.now.first).tolist():
            stake = self.now.known(places, i, int(seats[i]))
            if stake is not None and stake.share > 0:
                self.bank.charge(stake.risk, 1)

    def _learn(self, hands: Hands, mine: str) -> None:
        strategy = self.base.strategy
        reading = read_in(strategy.tree, hands, self.base.translation, self.base.seed + self.hands)
        theirs = reading.player != hands.names.index(mine)
        self.counts += count_moves(reading, strategy.tree, theirs, hands, strategy.cards)
        self.hands += len(hands)

    def _renew(self, allowed: float) -> None:
        model = fit_model(self.base.strategy, self.counts, "l1")
        self.now = SafeEndgames(self.base, self.settings, model, allowed)
