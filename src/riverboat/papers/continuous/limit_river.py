"""The limit river with one bet and one raise: all qualitative models, and those that are equilibria."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from riverboat.continuous import programs
from riverboat.continuous.best_response import Certificate, certify
from riverboat.continuous.examples import river
from riverboat.continuous.game import ContinuousGame
from riverboat.continuous.linear_forms import Forms
from riverboat.continuous.newton import Finder
from riverboat.continuous.profile import Profile
from riverboat.continuous.proposals import fit, further_raises, read, river_models
from riverboat.continuous.qualitative_model import Model, of_profile
from riverboat.continuous.solve import ENOUGH, solve, solve_model
from riverboat.papers.framework import Experiment, Report
from riverboat.papers.rows import Row, finding, new, theorem
from riverboat.reports.plots.continuous import panels

POTS = (1.0, 2.0, 4.0, 8.0)
PANELS = 3  # models in the picture, as many as the proposal has figures of them


@dataclass(frozen=True, eq=False)
class Search:
    """All models of one game, tried in order of their fit."""

    models: int
    good: list[tuple[Model, Certificate, Profile]]
    first: float  # seconds to the first equilibrium, from the rules of the game
    seconds: float


def search(game: ContinuousGame, steps: int = 60) -> Search:
    """Fit all models to the game in steps, find their thresholds, and keep those that are equilibria."""
    began = time.perf_counter()
    reading = read(game, steps)
    tried = sorted((fit(reading, model) for model in river_models(game)), key=lambda p: -p.fit)
    good, first = [], math.inf
    for proposal in tried:
        cuts, left = Finder(game, proposal.model).find(game, proposal.profile.cuts)
        if left > 1e-9 * game.scale:
            continue
        profile = proposal.model.profile(game, cuts)
        certificate = certify(profile)
        if certificate.share <= ENOUGH:
            first = min(first, time.perf_counter() - began)
            good.append((proposal.model, certificate, profile))
    return Search(len(tried), good, first, time.perf_counter() - began)


def milliseconds(work: Callable[[ContinuousGame, Forms], object], game: ContinuousGame, forms: Forms) -> float:
    """Median of five."""
    times = []
    for _ in range(5):
        began = time.perf_counter()
        work(game, forms)
        times.append(1e3 * (time.perf_counter() - began))
    return median(times)


def run(full: bool, seed: int) -> Report:
    """Uniform signals; nothing is random."""
    rows: list[Row] = []
    drawn: list[tuple[Model, Certificate, Profile]] = []
    notes = ["a model is the moves of every situation from weak to strong; the paper's figures 3 to 5 print no numbers"]
    for pot in POTS if full else POTS[1:3]:
        game = river(pot=pot, raises=(1.0,))
        searched = search(game)
        values = [certificate.values[0] for _, certificate, _ in searched.good]
        rows += [
            new(f"pot {pot:g}: models", float(searched.models)),
            finding(f"pot {pot:g}: one of them or more is an equilibrium", 1.0, float(bool(searched.good))),
            new(f"pot {pot:g}: models that are equilibria", float(len(values)), note="they differ in idle bands"),
            new(f"pot {pot:g}: seconds for all models", searched.seconds),
        ]
        if not values:
            continue
        model, _, profile = min(searched.good, key=lambda g: len(g[0].thresholds))
        ordered = of_profile(profile)
        forms = Forms.make(game, ordered, ordered.order or ())
        slack = max(programs.lp(game, forms).slack, programs.linear(game, forms).slack) / pot
        shares = [certificate.share for _, certificate, _ in searched.good]
        rows += [
            new(f"pot {pot:g}: seconds to the first equilibrium", searched.first, note="from the rules of the game"),
            theorem(f"pot {pot:g}: largest certified epsilon, share of the pot", 0.0, max(shares)),
            new(f"pot {pot:g}: value to player 0", values[0]),
            theorem(f"pot {pot:g}: largest difference of their values", 0.0, max(values) - min(values)),
            theorem(f"pot {pot:g}: largest violation in both programs", 0.0, slack),
            new(f"pot {pot:g}: linear program, ms", milliseconds(programs.lp, game, forms)),
            new(f"pot {pot:g}: elimination, ms", milliseconds(programs.linear, game, forms), note="polynomial time"),
        ]
        words = "; ".join(f"{name}: {bands}" for name, bands in model.words(game).items())
        notes.append(f"pot {pot:g}, the simplest: {words}; thresholds {', '.join(f'{c:.6g}' for c in profile.cuts)}")
        drawn = sorted(searched.good, key=lambda g: len(g[0].thresholds))[:PANELS]
    rows += further(2.0)
    named = [(f"pot {pot:g}, model {n}", profile) for n, (_, _, profile) in enumerate(drawn, start=1)]
    return Report(tuple(rows), tuple(notes), draw=(lambda path: panels(named, path)) if named else None)


def further(pot: float) -> list[Row]:
    """Two raises: by the heuristic, and by models read off the game in steps."""
    small, large = river(pot=pot, raises=(1.0,)), river(pot=pot, raises=(1.0,), cap=2)
    simple = {"root": "b x b x", "x": "b x b", "x-b": "r f c r", "x-b-r": "f c", "b": "r f c r", "b-r": "f c"}
    heuristic = solve_model(large, further_raises(Model.make(small, simple), small, large))
    began = time.perf_counter()
    best = solve(large)[0]
    seconds = time.perf_counter() - began
    return [
        new("two raises, pot 2: epsilon of the heuristic model, share of the pot", heuristic.share),
        theorem("two raises, pot 2: epsilon of a model read off, share of the pot", 0.0, best.share),
        new("two raises, pot 2: seconds", seconds, note=f"{len(best.model.thresholds)} thresholds"),
    ]


EXPERIMENT = Experiment(
    "continuous-limit-river",
    "Qualitative models of the limit river with one bet and one raise",
    "Ganzfried, thesis proposal, section 2.3, figures 3 to 5",
    "10 s",
    "25 s",
    run,
)
