"""An opponent that changes its style in the middle of a match: who notices, after how many hands, and what it is worth.

No paper has these figures. The game is no-limit hold'em of three streets with 20 cards; the opponent calls always and then
raises always, or the other way round. Four play against it: the blueprint; a learner that remembers everything (DBBR); the
same that looks for changes and forgets what was before them; and a choice without regret among three strategies that were
prepared: the blueprint, and the best responses to both styles.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from riverboat.agents.base import Agent
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.changing import HedgeAgent, NoticingLearner, SwitchingAgent
from riverboat.agents.learning import LearningAgent, LearnSettings
from riverboat.agents.yardsticks import Yardstick
from riverboat.evaluation.duel import yardstick
from riverboat.evaluation.matches import play_match
from riverboat.exploit.responses import Responder
from riverboat.games.records import Hands, join
from riverboat.reproduce.blueprint_convergence import strategy, twenty_cards
from riverboat.reproduce.framework import Curve, Experiment, Report
from riverboat.reproduce.overfitting import WEIGHTING
from riverboat.reproduce.rows import Row, new
from riverboat.solving.bucket_sampling import make_blueprint
from riverboat.strategy.blueprint import BlueprintStrategy

TRAINING, ANSWERING = 3000, 200_000
HALF = 2000  # hands of each style
WINDOW = 200
SETTINGS = LearnSettings(every=200, work=20_000)
STYLES = ("always-call", "always-raise")


def prepared(base: BlueprintStrategy, move: str, seed: int) -> BlueprintStrategy:
    """The best response to who always makes one move."""
    responder = Responder(base, seed=seed)
    responder.improve(yardstick(move, base), ANSWERING)
    return responder.strategy()


def players(base: BlueprintStrategy, seed: int) -> dict[str, Callable[[], Agent]]:
    """Who plays against the opponent that changes."""
    plain = BlueprintAgent(base, "me", seed=seed)
    answers = [BlueprintAgent(prepared(base, move, seed), move, seed=seed) for move in ("call", "raise")]
    return {
        "blueprint": lambda: plain,
        "learner": lambda: LearningAgent(plain, SETTINGS),
        "learner that notices": lambda: NoticingLearner(lambda: LearningAgent(plain, SETTINGS), WINDOW),
        "choice among prepared": lambda: HedgeAgent((plain, *answers), every=100, name="me", seed=seed),
    }


def run(full: bool, seed: int) -> Report:
    """Matches of 4,000 hands, both orders of the styles; with `full`, five of each."""
    solver = make_blueprint(*twenty_cards(5), "pcs", seed=seed, weighting=WEIGHTING)
    solver.step(TRAINING)
    base, rows, curves = strategy(solver), list[Row](), list[Curve]()
    for order in (STYLES, STYLES[::-1]):
        for name, make in players(base, seed).items():
            matches = [_match(make(), order, base, seed + k) for k in range(5 if full else 1)]
            some, curve = _told(f"{order[0]}, then {order[1]}: {name}", [won for won, _ in matches])
            rows += some
            curves.append(curve)
            after = [noticed for _, noticed in matches if noticed is not None]
            if name == "learner that notices":
                told = f"in {len(after)} of {len(matches)} matches" if len(matches) > 1 else ""
                late = float(np.mean(after)) if after else float(HALF)
                rows.append(new(f"{order[0]}, then {order[1]}: hands until it is noticed", late, note=told))
    notes = (
        f"Chips a hand; the style changes after {HALF:,} hands of {2 * HALF:,}. Learners answer anew every {SETTINGS.every} "
        f"hands; changes are looked for in the last {WINDOW} hands.",
        "Prepared are the blueprint and the best responses to both styles in the tree, in which the least raise is the pot: "
        "against the true opponent, who raises by less, the answer to raises is worth little.",
    )
    return Report(tuple(rows), notes, tuple(curves))


def _match(agent: Agent, order: tuple[str, ...], base: BlueprintStrategy, seed: int) -> tuple[np.ndarray, int | None]:
    """Chips that the agent won in each hand, and hands after the change until it noticed one."""
    other = SwitchingAgent([Yardstick(style) for style in order], HALF // 2, "other")
    kept: list[Hands] = []
    play_match(agent, other, base.rules, 2 * HALF, seed, observe=kept.append)
    hands = join(kept)
    mine = hands.seat_of(hands.names[0])
    noticed = [n - HALF for n in getattr(agent, "noticed", []) if n > HALF]
    return hands.won[np.arange(len(hands)), mine].astype(float), noticed[0] if noticed else None


def _told(name: str, won: list[np.ndarray]) -> tuple[list[Row], Curve]:
    every = np.stack(won)
    rows = []
    parts = {"before": every[:, HALF // 2 : HALF], "after": every[:, HALF:], "at the end": every[:, -HALF // 4 :]}
    for when, some in parts.items():
        mean, half = float(some.mean()), float(1.96 * some.std() / np.sqrt(some.size))
        rows.append(new(f"{name}, {when}", mean, (mean - half, mean + half)))
    blocks = every.mean(axis=0).reshape(-1, 200)
    x = tuple(float(200 * k + 100) for k in range(len(blocks)))
    return rows, Curve(name.partition(": ")[2], x, tuple(blocks.mean(axis=1).tolist()), name.partition(": ")[0])


EXPERIMENT = Experiment(
    id="changing-opponents",
    title="An opponent that changes its style: learners, changes noticed, and a choice among prepared strategies",
    source="Ganzfried, thesis proposal, section 4, in kind",
    cost="1 min",
    full_cost="5 min",
    run=run,
)
