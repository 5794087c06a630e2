"""Solve continuous games by qualitative models. Every answer has a certificate; what has none is refused with a reason."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from riverboat.continuous import programs
from riverboat.continuous.best_response import Certificate, Evaluation, certify
from riverboat.continuous.game import ContinuousGame
from riverboat.continuous.linear_forms import Forms, Label
from riverboat.continuous.newton import Finder, polish
from riverboat.continuous.piecewise import evaluate
from riverboat.continuous.profile import Profile
from riverboat.continuous.proposals import Reading, fit, of_atoms, propose, read
from riverboat.continuous.qualitative_model import Model, of_profile
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError

METHODS = ("auto", "linear", "lp", "milp", "newton")
TRIED = 40  # proposals, before a finer game is read
ENOUGH = 1e-6  # ε as a share of the pot: what counts as an equilibrium


@dataclass(frozen=True, eq=False)
class Answer:
    """What a model came to. `reason` is empty where it is an equilibrium to within `ENOUGH` of the pot."""

    model: Model
    method: str
    profile: Profile | None
    certificate: Certificate | None
    reason: str
    seconds: float

    @property
    def solved(self) -> bool:
        """Whether it is an equilibrium."""
        return not self.reason

    @property
    def share(self) -> float:
        """ε as a share of the pot; infinite where there is no profile."""
        return self.certificate.share if self.certificate is not None else float("inf")

    def to_dict(self, game: ContinuousGame) -> dict[str, Any]:
        """For JSON."""
        facts: dict[str, Any] = {"model": self.model.to_dict(game), "method": self.method, "solved": self.solved}
        facts |= {"reason": self.reason, "seconds": self.seconds}
        if self.profile is not None and self.certificate is not None:
            facts |= {"situations": self.profile.to_dict()} | self.certificate.to_dict()
        return facts


def solve_model(
    game: ContinuousGame, model: Model, method: str = "auto", start: Array | None = None, reading: Reading | None = None
) -> Answer:
    """Thresholds of a model, polished and certified.

    A model with an order goes to a program: `lp` or `linear` where the distributions are equal, `milp` where they are not.
    Without an order, or where a program does not apply, Newton's method starts at `start`, or at the thresholds that fit the
    solution of the game in steps best.
    """
    if method not in METHODS:
        raise InputError(f"method {method!r}: one of {', '.join(METHODS)}")
    if len(model.bands) != len(game.situations):
        raise InputError(f"model {model.name!r}: {len(model.bands)} situations; {game.name} has {len(game.situations)}")
    began = time.perf_counter()
    if method == "auto":
        method = _method(game, model)
    left: float | None = None  # of the equations of indifference
    if method == "newton":
        cuts = _start(game, model, reading) if start is None else np.asarray(start, float)
        if _programmable(game):
            cuts, left = Finder(game, model).find(game, cuts)
    else:
        if model.order is None:
            raise InputError(f"model {model.name!r}: the method {method} needs the order of the thresholds; use newton")
        forms = Forms.make(game, model, model.order)
        solver = {"lp": programs.lp, "linear": programs.linear, "milp": programs.milp_thresholds}[method]
        optimum = solver(game, forms)
        cuts = optimum.cuts[forms.place]
        if optimum.slack > ENOUGH * game.scale:
            profile = model.profile(game, _rising(model, cuts))
            reason = _blame(game, model, forms, optimum.slack, optimum.worst, optimum.cuts)
            return Answer(model, method, profile, certify(profile), reason, time.perf_counter() - began)
    profile = model.profile(game, _rising(model, cuts))
    if left is None or 1e-12 < left / game.scale < 1e-6:  # what is further off has no solution nearby
        profile = polish(profile)
    certificate = certify(profile)
    reason = "" if certificate.share <= ENOUGH else explain(profile, certificate)
    return Answer(model, method, profile, certificate, reason, time.perf_counter() - began)


def solve_models(game: ContinuousGame, models: Sequence[Model], method: str = "auto", steps: int = 60) -> list[Answer]:
    """Several models at once; the best answer first."""
    reading = None
    if any(_method(game, model) == "newton" for model in models) or method == "newton":
        reading = read(game, steps)
    return sorted((solve_model(game, model, method, reading=reading) for model in models), key=lambda a: a.share)


def solve(game: ContinuousGame, steps: int = 60) -> list[Answer]:
    """Models are proposed and tried in order of their fit, until one is an equilibrium; the best answer first.

    With discrete signals the game in steps is the game itself, and its solution is tried as it is. Where no model is an
    equilibrium, the game is read again in other numbers of steps: which thresholds it shows depends on where steps end, and a
    band may be narrower than one of them.
    """
    answers: list[Answer] = []
    if game.signals.tied.all():
        answers.append(_as_read(game))
        if answers[0].solved:
            return answers
    for count in (steps, max(steps // 2, 2), 4 * steps // 3, 2 * steps):
        for proposal in propose(game, count)[:TRIED]:
            answers.append(solve_model(game, proposal.model, "newton", proposal.profile.cuts))
            if answers[-1].solved:
                return sorted(answers, key=lambda a: a.share)
    return sorted(answers, key=lambda a: a.share)


def _as_read(game: ContinuousGame) -> Answer:
    began = time.perf_counter()
    profile = of_atoms(read(game))
    certificate = certify(profile)
    reason = "" if certificate.share <= ENOUGH else explain(profile, certificate)
    return Answer(of_profile(profile, "values"), "steps", profile, certificate, reason, time.perf_counter() - began)


def _programmable(game: ContinuousGame) -> bool:
    return game.players == 2 and game.signals.linear and not any(any(e.leaf.worth) for e in game.endings)


def _method(game: ContinuousGame, model: Model) -> str:
    if model.order is None or not _programmable(game):
        return "newton"
    return "lp" if game.signals.equal else "milp"


def _start(game: ContinuousGame, model: Model, reading: Reading | None) -> Array:
    return fit(reading or read(game), model).profile.cuts


def _rising(model: Model, cuts: Array) -> Array:
    out, at = np.array(cuts, float), 0
    for moves in model.bands:
        n = len(moves) - 1
        out[at : at + n] = np.maximum.accumulate(out[at : at + n])
        at += n
    return out


# --- reasons ------------------------------------------------------------------------------------


def _blame(game: ContinuousGame, model: Model, forms: Forms, slack: float, worst: Label | None, cuts: Array) -> str:
    """Why no thresholds fit a model and its order."""
    if worst is None:
        return f"infeasible by {100 * slack / game.scale:.3g} % of the pot: the thresholds would not be in the model's order"
    ends = [game.signals.low, *cuts, game.signals.high]
    low, high = (game.signals.value(x) for x in (ends[worst.cell], ends[worst.cell + 1]))
    name = game.situations[worst.situation].name
    return (
        f"infeasible: at best, player {worst.player} still gains {100 * slack / game.scale:.3g} % of the pot by "
        f"{worst.plan!r} at {name!r}, with signals from {low:.4g} to {high:.4g}"
    )


def explain(profile: Profile, certificate: Certificate) -> str:
    """Where a profile is furthest from an equilibrium."""
    game = profile.game
    me = int(np.argmax(certificate.gains))
    evaluation = Evaluation(profile)
    worth, _ = evaluation.moves(me)
    best = (0.0, 0, 0, 0)
    density = evaluate(evaluation.density(me), evaluation.width / 2) * evaluation.width
    for s, rows in worth.items():
        values = evaluate(rows, evaluation.width / 2)
        gain = (values.max(axis=0) - values[evaluation.choice[s], np.arange(values.shape[1])]) * density
        k = int(np.argmax(gain))
        if gain[k] > best[0]:
            best = (float(gain[k]), s, k, int(values[:, k].argmax()))
    _, s, k, move = best
    low, high = (game.signals.value(float(x)) for x in evaluation.breaks[k : k + 2])
    situation = game.situations[s]
    return (
        f"no equilibrium: player {me} gains {100 * certificate.share:.3g} % of the pot, most of it by "
        f"{situation.moves[move]!r} at {situation.name!r} with signals from {low:.4g} to {high:.4g}"
    )
