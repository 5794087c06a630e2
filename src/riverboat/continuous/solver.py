"""Solver of continuous games by qualitative models (Ganzfried & Sandholm 2010).

Every solution has a certificate by exact best responses; a model that is no equilibrium has a reason.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from riverboat.continuous import programs, proposals
from riverboat.continuous.best_response import EquilibriumCertificate, ProfileEvaluation, certify
from riverboat.continuous.game import ContinuousGame
from riverboat.continuous.newton import ThresholdFinder, polish
from riverboat.continuous.piecewise import evaluate_polynomial
from riverboat.continuous.programs import LinearForms, ThresholdOptimum, build_linear_forms, has_linear_forms
from riverboat.continuous.proposals import DiscretizedSolution, solve_discretized
from riverboat.continuous.strategies import QualitativeModel, ThresholdProfile, model_of_profile, sort_cuts
from riverboat.continuous.threshold_path import solve_threshold_path
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError

SOLVERS: dict[str, Callable[[ContinuousGame, LinearForms], ThresholdOptimum]] = {  # by the names of methods
    "linear": programs.solve_threshold_system,
    "lp": programs.solve_threshold_lp,
    "path": solve_threshold_path,
    "milp": programs.solve_threshold_milp,
}
METHODS = ("auto", *SOLVERS, "newton")
MAX_PROPOSALS = 40  # models that are tried for each number of steps
EPSILON_TOLERANCE = 1e-6  # largest ε of an equilibrium, as a share of the pot


@dataclass(frozen=True, eq=False)
class ModelSolution:
    """The result for one model; `reason` is empty if it is an equilibrium to within `EPSILON_TOLERANCE` of the pot.

    Attributes
    ----------
    model
        The model.
    method
        `linear`, `lp`, `path`, `milp`, `newton`, or `steps` for discrete signals.
    profile
        Thresholds.
    certificate
        Exact values and best responses of the profile.
    reason
        Why the profile is no equilibrium.
    seconds
        Time that was used.

    Examples
    --------
    >>> from riverboat.continuous.examples import river
    >>> solution = solve(river(street="half"), steps=20)[0]
    >>> solution.solved, solution.profile.cuts.round(4)
    (True, array([0.1, 0.7, 0.4]))
    """

    model: QualitativeModel
    method: str
    profile: ThresholdProfile
    certificate: EquilibriumCertificate
    reason: str
    seconds: float

    @property
    def solved(self) -> bool:
        """Whether the profile is an equilibrium."""
        return not self.reason

    @property
    def epsilon_share(self) -> float:
        """ε as a share of the pot."""
        return self.certificate.epsilon_share

    def to_dict(self, game: ContinuousGame) -> dict[str, Any]:
        """Convert to a dictionary for JSON.

        Parameters
        ----------
        game
            The game.
        """
        entry: dict[str, Any] = {"model": self.model.to_dict(game), "method": self.method, "solved": self.solved}
        entry |= {"reason": self.reason, "seconds": self.seconds, "situations": self.profile.to_dict()}
        return entry | self.certificate.to_dict()


def solve_model(
    game: ContinuousGame,
    model: QualitativeModel,
    method: str = "auto",
    start: Array | None = None,
    discretized: DiscretizedSolution | None = None,
) -> ModelSolution:
    """Find the thresholds of a model, polish and certify them.

    A model with an order goes to a program: `lp` or `linear` for equal distributions, `milp` for different ones.
    Without an order, or where no program applies, Newton's method starts at `start`, or at the thresholds that best fit
    the solution of the discretized game.

    Parameters
    ----------
    game
        The game.
    model
        Qualitative model, with or without an order.
    method
        `auto`, `linear`, `lp`, `path`, `milp` or `newton`.
    start
        Initial thresholds of Newton's method, float64 [thresholds].
    discretized
        Solution of the discretized game, if it is known.

    Returns
    -------
    ModelSolution
        Thresholds with their certificate, and the reason if they are no equilibrium.

    Raises
    ------
    InputError
        If the method is unknown, needs an order that the model lacks, or the model is for another game.

    References
    ----------
    .. [1] Ganzfried and Sandholm, "Computing equilibria by incorporating qualitative models", AAMAS 2010.

    Examples
    --------
    >>> from riverboat.continuous.examples import river
    >>> game = river(street="half")
    >>> model = QualitativeModel.from_words(game, {"root": "b x b", "b": "f c"}, order="root:1 b:1 root:2")
    >>> solution = solve_model(game, model)
    >>> solution.method, solution.profile.cuts.round(4)
    ('lp', array([0.1, 0.7, 0.4]))
    """
    if method not in METHODS:
        raise InputError(f"method {method!r}: must be one of {', '.join(METHODS)}")
    if len(model.bands) != len(game.situations):
        raise InputError(f"model {model.name!r}: {len(model.bands)} situations; {game.name} has {len(game.situations)}")
    start_time = time.perf_counter()
    if method == "auto":
        method = _choose_method(game, model)
    reason, residual = "", None  # residual of the indifference equations
    if method == "newton":
        if start is None:
            start = proposals.fit_thresholds(discretized or solve_discretized(game), model).profile.cuts
        cuts = np.asarray(start, float)
        if has_linear_forms(game):
            cuts, residual = ThresholdFinder(game, model).find(game, cuts)
    else:
        if model.order is None:
            raise InputError(f"model {model.name!r}: the method {method} needs the order of the thresholds; use newton")
        forms = build_linear_forms(game, model, model.order)
        optimum = SOLVERS[method](game, forms)
        cuts = optimum.cuts[forms.order_index]
        if optimum.slack > EPSILON_TOLERANCE * game.scale:
            reason = _infeasibility_reason(game, optimum)
    profile = model.profile(game, sort_cuts(model.bands, cuts))
    solvable = residual is None or 1e-12 < residual / game.scale < 1e-6  # a larger residual has no solution nearby
    if solvable and not reason:
        profile = polish(profile)
    return _certified_solution(model, method, profile, start_time, reason)


def _certified_solution(
    model: QualitativeModel, method: str, profile: ThresholdProfile, start_time: float, reason: str = ""
) -> ModelSolution:
    certificate = certify(profile)
    if not reason and certificate.epsilon_share > EPSILON_TOLERANCE:
        reason = _deviation_reason(profile, certificate)
    return ModelSolution(model, method, profile, certificate, reason, time.perf_counter() - start_time)


def solve_models(
    game: ContinuousGame, models: Sequence[QualitativeModel], method: str = "auto", steps: int = 60
) -> list[ModelSolution]:
    """Solve several models; the best solution first.

    Parameters
    ----------
    game
        The game.
    models
        Qualitative models.
    method
        `auto`, `linear`, `lp`, `path`, `milp` or `newton`.
    steps
        Steps of the discretized game, where Newton's method needs it.

    Returns
    -------
    list of ModelSolution
        Solutions, the smallest ε first.

    Examples
    --------
    >>> from riverboat.continuous.examples import river
    >>> from riverboat.continuous.strategies import enumerate_models
    >>> game = river(street="half")
    >>> models = enumerate_models(game, {"root": ("x b", "b x b"), "b": ("f c",)})
    >>> [solution.solved for solution in solve_models(game, models, steps=20)]
    [True, False]
    """
    discretized = None
    if any(_choose_method(game, model) == "newton" for model in models) or method == "newton":
        discretized = solve_discretized(game, steps)
    solutions = [solve_model(game, model, method, discretized=discretized) for model in models]
    return sorted(solutions, key=lambda a: a.epsilon_share)


def solve(game: ContinuousGame, steps: int = 60) -> list[ModelSolution]:
    """Propose models and solve them in order of fit until one is an equilibrium; the best solution first.

    With discrete signals the discretized game is the game itself, and the solver tries its solution directly. If no
    model is an equilibrium, the solver discretizes with other numbers of steps. The visible thresholds depend on the
    ends of steps, and a band may be narrower than a step.

    Parameters
    ----------
    game
        The game.
    steps
        Steps of the discretized game.

    Returns
    -------
    list of ModelSolution
        Solutions that were tried, the smallest ε first.

    Examples
    --------
    >>> from riverboat.continuous.examples import river
    >>> best = solve(river(street="half"), steps=20)[0]
    >>> best.certificate.values[0].__round__(4)
    0.1
    """
    solutions: list[ModelSolution] = []
    if game.signals.tied.all():
        start_time = time.perf_counter()
        profile = proposals.profile_of_atoms(solve_discretized(game))
        solutions.append(_certified_solution(model_of_profile(profile, "values"), "steps", profile, start_time))
        if solutions[0].solved:
            return solutions
    counts = (steps, max(steps // 2, 2), 4 * steps // 3, 2 * steps)
    candidates = (proposals.propose_models(game, count)[:MAX_PROPOSALS] for count in counts)
    for proposal in chain.from_iterable(candidates):
        solutions.append(solve_model(game, proposal.model, "newton", proposal.profile.cuts))
        if solutions[-1].solved:
            break
    return sorted(solutions, key=lambda a: a.epsilon_share)


def _choose_method(game: ContinuousGame, model: QualitativeModel) -> str:
    if model.order is None or not has_linear_forms(game):
        return "newton"
    return "lp" if game.signals.identically_distributed else "milp"


# --- Reasons for failure ---


def _infeasibility_reason(game: ContinuousGame, optimum: ThresholdOptimum) -> str:
    """Explain why no thresholds fit a model and its order."""
    worst, percent = optimum.worst, 100 * optimum.slack / game.scale
    if worst is None:
        return f"infeasible by {percent:.3g} % of the pot: the thresholds would not be in the model's order"
    ends = [game.signals.low, *optimum.cuts, game.signals.high]
    low, high = (game.signals.value(x) for x in (ends[worst.cell], ends[worst.cell + 1]))
    name = game.situations[worst.situation].name
    return (
        f"infeasible: at best, player {worst.player} still gains {percent:.3g} % of the pot by "
        f"{worst.plan!r} at {name!r}, with signals from {low:.4g} to {high:.4g}"
    )


def _deviation_reason(profile: ThresholdProfile, certificate: EquilibriumCertificate) -> str:
    """Explain where a profile is furthest from an equilibrium."""
    game = profile.game
    me = int(np.argmax(certificate.gains))
    evaluation = ProfileEvaluation(profile)
    action_values, _ = evaluation.action_values(me)
    best = [(0.0, 0, 0, 0)]
    density = evaluate_polynomial(evaluation.density(me), evaluation.width / 2) * evaluation.width
    for s, rows in action_values.items():
        values = evaluate_polynomial(rows, evaluation.width / 2)
        gain = (values.max(axis=0) - values[evaluation.choice[s], np.arange(values.shape[1])]) * density
        k = int(np.argmax(gain))
        best.append((float(gain[k]), s, k, int(values[:, k].argmax())))
    _, s, k, move = max(best, key=lambda entry: entry[0])
    low, high = (game.signals.value(float(x)) for x in evaluation.breaks[k : k + 2])
    situation = game.situations[s]
    return (
        f"no equilibrium: player {me} gains {100 * certificate.epsilon_share:.3g} % of the pot, most of it by "
        f"{situation.moves[move]!r} at {situation.name!r} with signals from {low:.4g} to {high:.4g}"
    )
