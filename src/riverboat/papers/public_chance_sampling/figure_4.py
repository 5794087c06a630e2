"""CS and PCS over training time against one fixed strong agent, in an abstraction that forgets.

Johanson et al. 2012, Figure 4, in kind. Theirs is limit hold'em with some hundred millions of information sets of imperfect
recall, played against a winner of the competition of 2010. Here hands are cut by E[HS²] into equal parts on each street, anew
on each: what the street before has told is forgotten. The opponent has learnt by external sampling in the same game.

PCS draws 64 boards at a time: so it goes first, and CS is measured after as many seconds as it took.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets
from riverboat.abstraction.cards.perfect_recall import NEVER, hand_values
from riverboat.cards.deck import FULL_DECK
from riverboat.cards.isomorphism import Indexer
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.evaluation.matches.duel import duel
from riverboat.games.boards.full_holdem import BOARD, holdem
from riverboat.games.holdem.action_tree import compile_actions
from riverboat.papers.framework import Curve, Experiment, Report
from riverboat.papers.public_chance_sampling.curves import checks_of, doublings, shown_seconds, stages
from riverboat.papers.rows import new
from riverboat.papers.sampling.blueprint_convergence import strategy
from riverboat.solvers.mccfr.samplers import make_blueprint

PARTS = 5000  # of a street
FIRST = 52.0  # seconds to the first check


def equal_parts(values: Array, parts: int) -> Array:
    """Values at which hands of a street are cut into parts of about equal size. uint16 [1, parts - 1]"""
    below = np.cumsum(np.bincount(values, minlength=1 << 16))
    wanted = np.arange(1, parts) * below[-1] / parts
    cuts: Array = (np.searchsorted(below, wanted) + 1).clip(0, 65_535).astype(np.uint16)
    return cuts[None]


def forgetful(parts: int) -> CardAbstraction:
    """All hands before the flop, and so many parts of E[HS²] on each later street, whatever the street before was."""
    if not 2 <= parts <= NEVER:
        raise InputError(f"parts={parts}: hands of a street are cut into 2 to {NEVER:,}")
    streets = [StreetBuckets(Indexer.for_deck(FULL_DECK, (2,)).size())]
    for street in (1, 2, 3):
        values = hand_values(street)
        streets.append(StreetBuckets(parts, values[None], cuts=equal_parts(values, parts)))
    return CardAbstraction(tuple(streets), BOARD[1:], FULL_DECK, name=f"{parts} parts, forgets")


@dataclass(frozen=True)
class Match:
    """What a sampler's averages won from the fixed agent at a check."""

    seconds: float  # of training
    iterations: int
    won: float  # mbb a hand
    error: float  # half of the 95 % interval


def matches(
    cards: CardAbstraction, teach: float, seconds: float, checks: int, hands: int, seed: int
) -> dict[str, list[Match]]:
    """Both samplers, measured after equal times by duels with one that has learnt by external sampling."""
    tree = compile_actions(holdem("4-4").rules)
    teacher = make_blueprint(tree, cards, "external", seed=seed + 1)
    for _ in doublings(teacher.step, partial(getattr, teacher, "iterations"), teach, 1):
        pass
    opponent = strategy(teacher)
    del teacher

    def play(traversal: str, targets: Sequence[float]) -> list[Match]:
        make_blueprint(tree, cards, traversal).step(1)  # compiles
        solver, some = make_blueprint(tree, cards, traversal, seed=seed), []
        for took in stages(solver.step, partial(getattr, solver, "iterations"), targets):
            result = duel(strategy(solver), opponent, hands, seed, threads=2)
            some.append(Match(took, solver.iterations, result.mbb_per_game, result.ci95))
        return some

    first = play("pcs", [seconds / 2 ** (checks - 1 - k) for k in range(checks)])
    return {"CS": play("chance", [match.seconds for match in first]), "PCS": first}


def lead(played: dict[str, list[Match]], k: int) -> tuple[float, float]:
    """How far PCS is ahead of CS at a check, and the half-width of that."""
    pcs, cs = played["PCS"][k], played["CS"][k]
    return pcs.won - cs.won, float(np.hypot(pcs.error, cs.error))


def run(full: bool, seed: int, seconds: int = 0, parts: int = 0, hands: int = 0) -> Report:
    """Both samplers over `seconds`, in an abstraction of `parts` a street, `hands` a match."""
    most, teach, deals = float(seconds or (832 if full else 104)), 600.0 if full else 60.0, hands or 4_000_000
    checks, cards = checks_of(most, FIRST), forgetful(parts or PARTS)
    played = matches(cards, teach, most, checks, deals, seed)
    rows, curves = [], []
    for name, some in played.items():
        for match in some:
            interval = match.won - match.error, match.won + match.error
            note = f"mbb a hand; {match.iterations:,} iterations"
            rows.append(new(f"{name}, {shown_seconds(match.seconds)}", match.won, interval, note=note))
        panel = "mbb a hand won from the fixed agent, by seconds of training"
        curves.append(Curve(name, tuple(m.seconds for m in some), tuple(m.won for m in some), panel))
    for k in range(checks):
        ahead, error = lead(played, k)
        claim = "holds here" if ahead > error else "does not hold here" if ahead < -error else "is not settled here"
        name = f"PCS less CS after {shown_seconds(played['CS'][k].seconds)}, mbb a hand"
        rows.append(new(name, ahead, (ahead - error, ahead + error), null=0.0, note=f"the paper's claim {claim}"))
    infosets = sum(compile_actions(holdem("4-4").rules).counts(cards.counts).infosets)
    notes = (
        f"Limit hold'em of four rounds, {' – '.join(f'{n:,}' for n in cards.counts)} buckets that forget, {infosets:,} "
        f"information sets. The opponent learnt in the same game by external sampling for {teach:.0f} s of one core.",
        f"{deals:,} hands a check, in duplicate pairs, the same deals for all. Time is that of one core, without matches. "
        "PCS draws boards in blocks of 64, some 13 s each, so it says when checks are.",
        "In the paper PCS is ahead of CS at equal time, in a game several times as large and against another opponent. "
        "Matches are dealt by another seed than training: by the same one CS is tried on the very deals that it has learnt "
        "from, which was worth some 50 mbb a hand after 700,000 of them, and hid that PCS is ahead.",
    )
    return Report(tuple(rows), notes, tuple(curves))


EXPERIMENT = Experiment(
    "pcs-figure-4",
    "CS and PCS over training time against one fixed agent, in an abstraction that forgets",
    "Johanson, Bard, Lanctot, Gibson & Bowling 2012, Figure 4, in kind",
    "5 min",
    "50 min",
    run,
    ("seconds", "parts", "hands"),
)
