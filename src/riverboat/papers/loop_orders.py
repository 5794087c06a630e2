"""PI-FP with its loops in both orders, and value iteration, on random stochastic games of three players.

The thesis proposal describes PI-FP as policy iteration in the inner loop and fictitious play in the outer one: every step
of fictitious play is towards best responses that policy iteration finds for the whole game (`fp-mdp` here). The paper of
2009 has fictitious play inside, for every stage, and evaluates the strategies exactly outside (`pi-fp`).
"""

from __future__ import annotations

import time

import numpy as np
from scipy import sparse

from riverboat.papers.framework import ExperimentReport, format_notes
from riverboat.papers.rows import ComparisonRow, new_row, student_half_width
from riverboat.tournaments.stochastic_games import EquilibriumIteration, MatrixStage, StochasticGame

METHODS = {
    "pi-fp": "fictitious play inside, policy evaluation outside",
    "fp-mdp": "policy iteration inside, fictitious play outside: the proposal's order",
    "vi-fp": "fictitious play inside, value iteration outside",
}
NUM_STATES, NUM_SEATS, NUM_ACTIONS = 8, 3, 3
STAY = 0.9  # probability that the game goes on after an outcome
NUM_GAMES = {False: 6, True: 20}  # by `full`
RUN_SECONDS = {False: 1.0, True: 20.0}  # CPU time of a run, by `full`
STAGE_ITERATIONS = 200


def random_game(rng: np.random.Generator) -> StochasticGame:
    """Return a random stochastic game: rewards that sum to zero, and two states that may follow each outcome."""
    stages = [MatrixStage((NUM_ACTIONS,) * NUM_SEATS) for _ in range(NUM_STATES)]
    outcomes = len(stages[0].outcomes)
    rewards = rng.uniform(-1, 1, (NUM_STATES, NUM_SEATS, outcomes))
    rewards -= rewards.mean(axis=1, keepdims=True)
    shape = NUM_STATES, NUM_SEATS, outcomes, NUM_STATES, NUM_SEATS
    transitions = np.zeros(shape)
    for state, outcome in np.ndindex(NUM_STATES, outcomes):
        following = rng.choice(NUM_STATES, 2, replace=False)
        share = rng.random()
        for seat in range(NUM_SEATS):
            transitions[state, seat, outcome, following, seat] = STAY * np.array([share, 1 - share])
    table = sparse.csr_array(transitions.reshape(NUM_STATES * NUM_SEATS * outcomes, NUM_STATES * NUM_SEATS))
    return StochasticGame(stages, rewards.ravel(), table)


def run_method(game: StochasticGame, method: str, seconds: float) -> tuple[float, float, int]:
    """Run a method for some CPU time; return its least ε, the time until then, and the steps."""
    run = EquilibriumIteration(game, method, iterations=STAGE_ITERATIONS)
    elapsed, best, reached = 0.0, np.inf, 0.0
    while elapsed < seconds:
        start_time = time.process_time()
        run.step()
        elapsed += time.process_time() - start_time
        epsilon = run.check().epsilon
        if epsilon < best:
            best, reached = epsilon, elapsed
    return best, reached, run.steps


def run(full: bool, seed: int) -> ExperimentReport:
    """Compare the least ε of all methods after equal time."""
    rng = np.random.default_rng(seed)
    games = [random_game(rng) for _ in range(NUM_GAMES[full])]
    rows: list[ComparisonRow] = []
    logs = {}
    for method, description in METHODS.items():
        results = np.array([run_method(game, method, RUN_SECONDS[full]) for game in games])
        logs[method] = np.log10(np.maximum(results[:, 0], 1e-12))
        rows += [
            new_row(f"{method}: least ε, median", np.median(results[:, 0]), note=description),
            new_row(f"{method}: seconds until then, median", np.median(results[:, 1])),
            new_row(f"{method}: steps, median", np.median(results[:, 2])),
        ]
    for other in ("fp-mdp", "vi-fp"):
        gain = logs[other] - logs["pi-fp"]
        name = f"ε of {other} over that of pi-fp, powers of ten, mean"
        rows.append(new_row(name, gain.mean(), half_width=student_half_width(gain), null=0.0))
    notes = format_notes(
        "pi-fp-loops", games=len(games), states=NUM_STATES, actions=NUM_ACTIONS, seconds=RUN_SECONDS[full]
    )
    return ExperimentReport(rows, notes)
