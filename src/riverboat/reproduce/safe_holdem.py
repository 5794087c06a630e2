"""A learner that stays safe in hold'em, relative to its blueprint: what it wins, and what can be won from it at any time.

No paper has these figures: Ganzfried & Sandholm (2015) play Kuhn poker, where the value is known. The game is no-limit
hold'em of three streets with 20 cards, in five percentile buckets of E[HS²] a street with perfect recall, so that what a
blueprint and a mixture guarantee is known exactly, in the abstract game. Opponents call always, play the blueprint with a
third of its moves by lot, play the blueprint itself, fold always (which proves hardly a gift, as few cards are shown), or
give and then take: they call always in the first half, and in the second half they are a best response to the answer to that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from riverboat.agents.base import Agent
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.changing import SwitchingAgent
from riverboat.agents.learning import LearningAgent, LearnSettings
from riverboat.agents.safe import SafeLearner
from riverboat.agents.yardsticks import Yardstick
from riverboat.evaluation.duel import yardstick
from riverboat.evaluation.matches import Match, play_match
from riverboat.exploit.relative import exact_risk, mixed
from riverboat.reproduce.blueprint_convergence import strategy, twenty_cards
from riverboat.reproduce.framework import Curve, Experiment, Report
from riverboat.reproduce.overfitting import WEIGHTING
from riverboat.reproduce.restricted_nash_holdem import LOTS, answered, perturbed
from riverboat.reproduce.rows import Row, new, theorem
from riverboat.solving.bucket_sampling import make_blueprint
from riverboat.strategy.blueprint import BlueprintStrategy

BUDGET = 20.0  # mbb a hand
ANSWERING = 100_000  # deals of the answers that opponents are made of
TAKES = "gives, then takes"


@dataclass(frozen=True)
class Size:
    """How much work a run gets."""

    training: int = 3000  # boards
    hands: int = 4000
    every: int = 400
    work: int = 20_000  # iterations of an answer

    @property
    def settings(self) -> LearnSettings:
        """Of the learners."""
        return LearnSettings(every=self.every, work=self.work, doubt=False)


@dataclass(frozen=True)
class Moment:
    """Between two batches of a match, in chips: exact, in the abstract game."""

    hands: int
    bank: float
    allowed: float  # a hand, by budget and bank
    risk: float  # what can be won more from what is played than from the blueprint


def opponents(base: BlueprintStrategy, hands: int, seed: int) -> dict[str, Callable[[], Agent]]:
    """Who is played against."""
    answer = answered(base, yardstick("call", base), 1.0, ANSWERING, seed)
    taker = BlueprintAgent(answered(base, answer, 1.0, ANSWERING, seed + 1), "taker", seed=seed + 1)
    lots = BlueprintAgent(perturbed(base, LOTS, seed), "lots", seed=seed + 1)
    return {
        "always-call": lambda: Yardstick("always-call"),
        "a third by lot": lambda: lots,
        "the blueprint itself": lambda: BlueprintAgent(base, "itself", seed=seed + 1),
        "always-fold": lambda: Yardstick("always-fold"),
        TAKES: lambda: SwitchingAgent([Yardstick("always-call"), taker], hands // 4, "other"),
    }


def watched(base: BlueprintStrategy, opponent: Agent, size: Size, seed: int) -> tuple[Match, SafeLearner, list[Moment]]:
    """A match of the safe learner, and what could be won from it at every moment."""
    agent = SafeLearner(LearningAgent(BlueprintAgent(base, "me", seed=seed), size.settings), BUDGET)
    moments: list[Moment] = []

    def look(done: int, _: int) -> None:
        played = mixed(agent.now.parts[-1].strategy, base, agent.now.shares[-1])  # type: ignore[attr-defined]
        allowed = agent.bank.allows(size.every)
        moments.append(Moment(done, agent.bank.chips, allowed, exact_risk(played, base).chips))

    return play_match(agent, opponent, base.rules, size.hands, seed, progress=look), agent, moments


def report(base: BlueprintStrategy, size: Size, seed: int) -> Report:
    """Every opponent against the blueprint, the safe learner and the learner that is not safe."""
    rows: list[Row] = []
    curves: list[Curve] = []
    mbb = 1000 / base.rules.big_blind
    plain = BlueprintAgent(base, "me", seed=seed)
    for name, make in opponents(base, size.hands, seed).items():
        safe, agent, moments = watched(base, make(), size, seed)
        for who, match in {
            "blueprint": play_match(plain, make(), base.rules, size.hands, seed),
            "learner": play_match(LearningAgent(plain, size.settings), make(), base.rules, size.hands, seed),
            "safe learner": safe,
        }.items():
            ends = match.mbb_per_game - match.ci95, match.mbb_per_game + match.ci95
            rows.append(new(f"{name}: {who}", match.mbb_per_game, ends))
        each, most = mbb / size.hands, mbb * max(m.risk for m in moments)
        rows.append(
            new(f"{name}: proven gifts", each * agent.bank.given, note=f"{each * agent.bank.risked:.0f} of them risked")
        )
        rows += [
            theorem(
                f"{name}: exploitability beyond the blueprint, the budget and the bank, at most",
                0.0,
                mbb * max(m.risk - m.allowed for m in moments),
                "<=",
                note=f"{len(moments)} times in {size.hands:,} hands; the largest risk {most:.0f}",
            ),
            theorem(f"{name}: the bank, at least", 0.0, min(m.bank for m in moments), ">="),
        ]
        x, panel = tuple(float(m.hands) for m in moments), f"{name}: mbb a hand, by hands"
        curves += [
            Curve("allowed", x, tuple(mbb * m.allowed for m in moments), panel),
            Curve("exploitability beyond the blueprint", x, tuple(mbb * m.risk for m in moments), panel),
        ]
    notes = (
        f"mbb a hand; {size.hands:,} hands in duplicate, a budget of {BUDGET:g} mbb a hand, and an answer every {size.every} "
        "hands from the first on. Exploitability is exact, in the abstract game.",
        "Gifts are counted on the last street, where cards were shown: at most what was given.",
    )
    return Report(tuple(rows), notes, tuple(curves))


def run(full: bool, seed: int) -> Report:
    """The small game; with `full`, longer matches and answers."""
    size = Size(6000, 40_000, 400, 100_000) if full else Size()
    solver = make_blueprint(*twenty_cards(5), "pcs", seed=seed, weighting=WEIGHTING)
    solver.step(size.training)
    return report(strategy(solver), size, seed)


EXPERIMENT = Experiment(
    id="safe-holdem",
    title="A safe learner in hold'em: what it wins, and what could be won from it at any time",
    source="Ganzfried & Sandholm 2015, in kind",
    cost="2 min",
    full_cost="30 min",
    run=run,
)
