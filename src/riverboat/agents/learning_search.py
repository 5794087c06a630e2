"""An agent that learns, and solves endgames against the range of its model.

    agent = make_agent("demo?exploit=preflop&search=turn")

The proposal's section 4.3: model the first round, answer there, and solve the later rounds against the hands that the model
comes with. Before the searched street the answer plays; from there on both ranges are by Bayes, our own from what is
really played, the opponent's from the model. Nothing is promised against others: `agents.safe` does.
"""

from __future__ import annotations

from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.delegation import ChoosesAs
from riverboat.agents.learning import LearningAgent
from riverboat.agents.search import SearchingAgent
from riverboat.games.records.hand_records import Hands
from riverboat.opponents.models.tree import fit_model
from riverboat.subgames.search.search import SearchSettings


class EndgameLearner(ChoosesAs):
    """A learner with search. What it plays changes only when it is shown hands."""

    def __init__(self, learner: LearningAgent, settings: SearchSettings) -> None:
        self.learner, self.settings, self.name = learner, settings, learner.name
        self.now: SearchingAgent = SearchingAgent(learner.now, settings)
        self._made = 0  # hands that the model was made of

    @property
    def made_of(self) -> tuple[BlueprintAgent]:
        """The blueprint by which it is known."""
        return self.learner.made_of

    @property
    def tables_at_once(self) -> int:
        """As many as search likes."""
        return min(self.now.tables_at_once, self.learner.tables_at_once)

    def observe(self, hands: Hands) -> None:
        """Learn; a new model, and a new search, with every answer."""
        self.learner.observe(hands)
        every, base = self.learner.settings.every, self.learner.first.strategy
        if self.learner.hands // every == self._made // every and self.learner.now is self.now.base:
            return
        self._made = self.learner.hands
        counts = self.learner.counts
        if self.learner.settings.method == "preflop":
            counts = counts.on(base.tree, 0)
        self.now = SearchingAgent(self.learner.now, self.settings, fit_model(base, counts, "l1"))
