"""Deviation-based best response in limit hold'em against simple opponents and our own weaker ones.

Table 3 of the thesis proposal. The base is a blueprint of ours in the place of GS5, the tree is that of limit hold'em with
100 buckets a street, and models, answers and matches are those of `demo?exploit=dbbr`: an answer is worth what it wins at
the real table. Of the paper's opponents four are public; in the place of its three bots there are a blueprint that was
trained for a moment, and rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from riverboat.abstraction.card_abstraction import CardAbstraction, load_abstraction
from riverboat.agents.base import Agent
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.learning import LearningAgent, LearnSettings
from riverboat.agents.yardsticks import Yardstick
from riverboat.arrays import Array
from riverboat.errors import RiverboatError
from riverboat.evaluation.matches import play_match
from riverboat.games.acpc import Rules, read_game
from riverboat.games.action_tree import compile_actions
from riverboat.games.records import Hands
from riverboat.kept import folder
from riverboat.reproduce.blueprint_convergence import strategy
from riverboat.reproduce.framework import Experiment, Report
from riverboat.reproduce.rows import Row, finding, new, theorem
from riverboat.solving.blueprint import Blueprint
from riverboat.strategy.blueprint import BlueprintStrategy
from riverboat.verbs.abstracting import abstract

BASE = "base"
FITS = ("em", "l1", "l2")
TRIVIAL = ("random", "always-fold", "always-call", "always-raise")
WEAK = "weak blueprint"
# Small bets a hand: GS5, and DBBR with the three fits (Table 3).
PAPER: Mapping[str, Mapping[str, float]] = {
    "random": {BASE: 0.854, "em": 1.769, "l1": 2.164, "l2": 2.287},
    "always-fold": {BASE: 0.646, "em": 0.719, "l1": 0.717, "l2": 0.716},
    "always-call": {BASE: 0.582, "em": 0.930, "l1": 0.935, "l2": 0.931},
    "always-raise": {BASE: 0.791, "em": 1.391, "l1": 0.878, "l2": 1.143},
}
MOST_OF_A_FOLDER = 0.75  # half a small bet as the big blind, a whole one as the dealer


@dataclass(frozen=True)
class Size:
    """How much work a run gets."""

    training: int = 1_000_000  # iterations of the base
    weak: int = 20_000  # of the opponent that was trained for a moment
    hands: int = 2000  # of a match
    every: int = 500  # hands between two answers
    work: int = 30_000  # iterations of an answer, in each seat
    opponents: tuple[str, ...] = (*TRIVIAL, WEAK)
    fits: tuple[str, ...] = FITS
    after: int = 20_000  # hands that are played with the last answer


FULL = Size(20_000_000, 100_000, 6000, 500, 100_000, (*TRIVIAL, WEAK, "rule-based"), (*FITS, "tied"), 400_000)


@dataclass(frozen=True, eq=False)
class Played:
    """A match in which somebody learns, and one with what it has learnt, in small bets a hand."""

    pairs: Array  # float64 [hands / 2]: every pair of hands of the first
    mean: float  # of the second
    half: float  # of its 95 % interval

    @property
    def interval(self) -> tuple[float, float]:
        """Of the second match."""
        return self.mean - self.half, self.mean + self.half


def cards() -> CardAbstraction:
    """The buckets of the demo, from the cache where they are there: the first time takes half a minute."""
    place: Path = folder() / "reproduce" / "tiny-1"
    try:
        return load_abstraction(place)
    except (OSError, RiverboatError):
        place.parent.mkdir(parents=True, exist_ok=True)
        return abstract("tiny", place).cards


def trained(rules: Rules, cards: CardAbstraction, iterations: int, seed: int) -> BlueprintStrategy:
    """A blueprint of a limit game, by one thread: a seed gives one."""
    solver = Blueprint(compile_actions(rules), cards, seed=seed, weighting="linear")
    solver.step(iterations)
    return strategy(solver)


def play(base: BlueprintStrategy, opponent: Agent, fit: str, size: Size, seed: int) -> Played:
    """A duplicate match of the base, or of the base that learns with a fit. As in the paper only public moves are seen."""
    player: Agent = BlueprintAgent(base, "player", seed=seed)
    if fit != BASE:
        settings = LearnSettings(fit=fit, every=size.every, work=size.work, showdowns=fit == "tied", doubt=False)
        player = LearningAgent(BlueprintAgent(base, "player", seed=seed), settings)
    won: list[Array] = []

    def keep(hands: Hands) -> None:
        won.append((hands.won[0::2, 0] + hands.won[1::2, 1]) / 2 / base.rules.raise_sizes[0])

    play_match(player, opponent, base.rules, size.hands, seed, observe=keep)
    learnt = player.now if isinstance(player, LearningAgent) else player
    after = play_match(learnt, opponent, base.rules, size.after, seed + 1)
    return Played(np.concatenate(won), after.mbb_per_game / 1000, after.ci95 / 1000)


def opponents(rules: Rules, cards: CardAbstraction, size: Size, seed: int) -> dict[str, Agent]:
    """Who is played against."""
    out: dict[str, Agent] = {}
    for name in size.opponents:
        if name == WEAK:
            weak = trained(rules, cards, size.weak, seed + 1)
            out[name] = BlueprintAgent(weak, "weak", seed=seed + 1)
        else:
            out[name] = Yardstick(name, seed + 1)
    return out


def matches(rules: Rules, cards: CardAbstraction, size: Size, seed: int) -> dict[str, dict[str, Played]]:
    """All matches: by opponent, the base and every fit."""
    base = trained(rules, cards, size.training, seed)
    return {
        name: {fit: play(base, other, fit, size, seed) for fit in (BASE, *size.fits)}
        for name, other in opponents(rules, cards, size, seed).items()
    }


def table(played: Mapping[str, Mapping[str, Played]], size: Size) -> Report:
    """Rows of the table, beside the paper's."""
    rows: list[Row] = []
    ahead, pairs = 0, 0
    for name, by_fit in played.items():
        paper = PAPER.get(name, {})
        for fit, one in by_fit.items():
            note = f"the paper has {paper[fit]:.3f}; " if fit in paper else ""
            note += f"while it learnt {one.pairs.mean():.3f}"
            rows.append(new(f"{name}: {fit}", one.mean, one.interval, note=note))
            if name in TRIVIAL and fit in FITS:
                pairs += 1
                ahead += one.mean > by_fit[BASE].mean
        order = sorted((fit for fit in by_fit if fit in FITS), key=lambda fit: -by_fit[fit].mean)
        theirs = sorted(FITS, key=lambda fit: -paper[fit]) if paper else []
        beside = f"; the paper's: {' > '.join(theirs)}" if theirs else ""
        best = max(by_fit[fit].mean for fit in order)
        rows.append(
            new(f"{name}: the best fit over the base", best - by_fit[BASE].mean, note=" > ".join(order) + beside)
        )
        if name == "always-fold":
            most = max(one.mean for one in by_fit.values())
            rows.append(theorem(f"{name}: the most that can be won", MOST_OF_A_FOLDER, most, "<="))
    rows.append(finding("fits ahead of the base, trivial opponents", float(pairs), float(ahead), note="Table 3: all"))
    return Report(tuple(rows), notes(size))


def notes(size: Size) -> tuple[str, ...]:
    """How matches were played."""
    return (
        f"Duplicate matches in limit hold'em, small bets a hand: {size.hands:,} hands with an answer every {size.every}, "
        f"then {size.after:,} with the last answer, which are the figures; the paper answers from hand 1,000 on, every 50.",
        f"The base has {size.training:,} iterations with 100 buckets a street, an answer {size.work:,} in each seat, begun "
        "at the last one. Only public moves are seen, as in the paper; `tied`, which the paper does not have, sees "
        "showdowns too.",
        "GS5 and the three bots of the paper are not public: only the order can be compared.",
    )


def run(full: bool, seed: int) -> Report:
    """The table."""
    size = FULL if full else Size()
    return table(matches(read_game("limit"), cards(), size, seed), size)


EXPERIMENT = Experiment(
    id="dbbr-table-3",
    title="Deviation-based best response in limit hold'em",
    source="Ganzfried & Sandholm 2011, Table 3 of the thesis proposal",
    cost="4 min",
    full_cost="40 min",
    run=run,
)
