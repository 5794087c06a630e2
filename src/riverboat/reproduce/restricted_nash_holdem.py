"""Restricted Nash responses in hold'em: what is gained and what can be lost, for p from 0 to 1.

Johanson, Zinkevich & Bowling 2007 draw the curve for limit hold'em. The games here are small enough for exact best responses
in the abstract game and in the real one: no-limit hold'em of three streets with 20 cards, and with `--full` two-round hold'em
with all cards ([2-4]). Both have five percentile buckets of E[HS²] a street with perfect recall. The opponent is the
blueprint with a third of its play replaced by lots, and is seen for some thousand hands alone: answers are to DBBR's model.
p = 1 is DBBR.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from riverboat.abstraction.card_abstraction import CardAbstraction
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.evaluation.best_response import quality
from riverboat.evaluation.matches import play_match
from riverboat.exploit.relative import exact_risk, gain, mixed
from riverboat.exploit.responses import Responder
from riverboat.exploit.tree_models import count_moves, fit_model, shares_of
from riverboat.exploit.tree_reading import read_in
from riverboat.games.action_tree import ActionTree
from riverboat.games.records import Hands, join
from riverboat.reproduce.blueprint_convergence import strategy, twenty_cards
from riverboat.reproduce.framework import Curve, Experiment, Report
from riverboat.reproduce.overfitting import WEIGHTING, two_rounds
from riverboat.reproduce.rows import Row, finding, new, theorem
from riverboat.solving.bucket_sampling import make_blueprint
from riverboat.strategy.blueprint import BlueprintStrategy

LOTS = 1 / 3  # of the opponent's play
HANDS = 4000  # that are seen of it
PS = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)
SMALL, LARGE = "20 cards", "[2-4] hold'em"
ROUNDING = 1e-5


@dataclass(frozen=True)
class Size:
    """How much work a game gets."""

    make: Callable[[], tuple[ActionTree, CardAbstraction]]
    training: int  # iterations over boards
    answering: int  # deals, in each seat


GAMES = {SMALL: Size(lambda: twenty_cards(5), 6000, 600_000), LARGE: Size(two_rounds, 8000, 2_000_000)}


@dataclass(frozen=True)
class Point:
    """An answer, in mbb a hand; exact but for the answer itself, which sampling finds."""

    p: float
    model: float  # won from the model, in the abstract game
    opponent: float  # and from the true opponent
    risk: float  # what a nemesis takes more than of the blueprint, in the abstract game
    real: float  # exploitability in the real game, where a nemesis sees cards


def perturbed(base: BlueprintStrategy, share: float, seed: int) -> BlueprintStrategy:
    """Moves of the base, a share of them replaced by random ones, the same at every time."""
    rng, tables = np.random.default_rng(seed), []
    lots = shares_of(
        replace(base, average=tuple(rng.exponential(size=t.shape).astype(np.float32) for t in base.average))
    )
    for mine, other in zip(shares_of(base), lots, strict=True):
        tables.append(((1 - share) * mine + share * other).astype(np.float32))
    return replace(base, average=tuple(tables))


def modelled(base: BlueprintStrategy, opponent: BlueprintStrategy, hands: int, seed: int) -> BlueprintStrategy:
    """DBBR's model of an opponent who was watched for some hands."""
    kept: list[Hands] = []
    one, two = BlueprintAgent(base, "base", seed=seed), BlueprintAgent(opponent, "opponent", seed=seed + 1)
    play_match(one, two, base.rules, hands, seed, observe=kept.append)
    seen = join(kept)
    reading = read_in(base.tree, seen)
    theirs = reading.player == seen.names.index("opponent")
    return fit_model(base, count_moves(reading, base.tree, theirs), "l1")


def answered(base: BlueprintStrategy, model: BlueprintStrategy, p: float, work: int, seed: int) -> BlueprintStrategy:
    """The restricted Nash response to a model."""
    responder = Responder(base, p, seed=seed)
    responder.improve(model, work)
    return responder.strategy()


def measured(
    p: float, answer: BlueprintStrategy, base: BlueprintStrategy, model: BlueprintStrategy, opponent: BlueprintStrategy
) -> Point:
    """An answer in both games."""
    mbb = 1000 / base.rules.big_blind
    real = quality(answer, threads=2, self_play=False).mbb_per_game
    risk = exact_risk(answer, base).chips
    return Point(p, mbb * gain(answer, model), mbb * gain(answer, opponent), mbb * risk, real)


def above_chord(point: Point, first: Point, last: Point) -> float:
    """How much more a point wins from the model than a mixture of two others with the same risk."""
    span = last.risk - first.risk
    share = (point.risk - first.risk) / span if span > 0 else 0.0
    return point.model - (first.model + share * (last.model - first.model))


def curve(name: str, size: Size, seed: int) -> tuple[list[Row], list[Curve]]:
    """All points of a game."""
    solver = make_blueprint(*size.make(), "pcs", seed=seed, weighting=WEIGHTING)
    solver.step(size.training)
    base = strategy(solver)
    opponent = perturbed(base, LOTS, seed)
    model = modelled(base, opponent, HANDS, seed)
    plain = measured(-1.0, base, base, model, opponent)
    answers = [answered(base, model, p, size.answering, seed) for p in PS]
    points = [measured(p, answer, base, model, opponent) for p, answer in zip(PS, answers, strict=True)]
    rows = [new(f"{name}: the blueprint, won from the model", plain.model, note=_note(plain))]
    rows += [new(f"{name}: p = {p.p:g}, won from the model", p.model, note=_note(p)) for p in points]
    last, inner = points[-1], points[1:-1]
    best = max(inner, key=lambda p: above_chord(p, plain, last))
    rows.append(
        finding(
            f"{name}: the most that a p wins beyond mixtures of the blueprint and DBBR with its risk",
            0.0,
            above_chord(best, plain, last),
            ">=",
            note=f"p = {best.p:g}: the curve lies above the chord to DBBR's point",
        )
    )
    lowest = min(inner, key=lambda p: p.risk - 0.5 * p.model)
    rows.append(
        finding(
            f"{name}: risk at p = {lowest.p:g}, shares of DBBR's",
            1.0,
            lowest.risk / last.risk,
            "<=",
            note=f"{lowest.model / last.model:.0%} of what DBBR wins from the model, "
            f"{lowest.opponent / last.opponent:.0%} from the opponent itself",
        )
    )
    half = mixed(answers[-1], base, 0.5)
    risk = 1000 / base.rules.big_blind * exact_risk(half, base).chips
    rows.append(
        theorem(f"{name}: risk of DBBR in half of all hands, shares of its half", 1.0, risk / (last.risk / 2), "<=",
                rounding=ROUNDING, note="guarantees are concave: ε-safe by a secret draw")
    )  # fmt: skip
    x = tuple(p.risk for p in points)
    panel = f"{name}: won against risk, mbb a hand"
    curves = [
        Curve("from the model", x, tuple(p.model for p in points), panel),
        Curve("from the opponent itself", x, tuple(p.opponent for p in points), panel),
        Curve("DBBR in a share of hands", (plain.risk, last.risk), (plain.model, last.model), panel),
        Curve(
            "exploitability in the real game",
            x,
            tuple(p.real for p in points),
            f"{name}: real exploitability against risk",
        ),
    ]
    return rows, curves


def _note(p: Point) -> str:
    return f"{p.opponent:.0f} from the opponent; risk {p.risk:.0f}; exploitability {p.real:.0f} in the real game"


def run(full: bool, seed: int) -> Report:
    """The small game, and both with `full`."""
    rows: list[Row] = []
    curves: list[Curve] = []
    for name in (SMALL, LARGE) if full else (SMALL,):
        some, lines = curve(name, GAMES[name], seed)
        rows += some
        curves += lines
    notes = (
        f"mbb a hand, the mean of both seats, exact in the abstract game and in the real one. Answers are to DBBR's model "
        f"(L1) of {HANDS:,} hands; the opponent plays the blueprint with {LOTS:.0%} of its play replaced by lots.",
        "Risk is what a nemesis in the abstract game takes more than it takes of the blueprint.",
        "The paper's curves are for limit hold'em against programs that are not public; ends and shape are compared.",
    )
    return Report(tuple(rows), notes, tuple(curves))


EXPERIMENT = Experiment(
    id="restricted-nash-holdem",
    title="Exploitation against exploitability of restricted Nash responses in hold'em",
    source="Johanson, Zinkevich & Bowling 2007, in kind",
    cost="1 min",
    full_cost="6 min",
    run=run,
)
