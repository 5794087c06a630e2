"""The regret bound of sampled CFR next to measured regret, on Leduc.

With probability 1 - p the average regret of player i after T iterations of chance sampling, OPCS, SPCS, PCS or external
sampling is at most

    (1 + 2 / √p) · Δ · M · √A / √T

Δ is the range of the payoffs, A the largest number of actions, and M = Σ √|I(a)| over the player's own action sequences
a, where I(a) are its information sets after a (Johanson et al. 2012, theorem 1; M as in Lanctot et al. 2009). The
regret is measured exactly: the value of the best fixed strategy against all of the opponent's strategies, less the
value obtained.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from riverboat.games.base import Array
from riverboat.games.registry import game_from_spec
from riverboat.papers.framework import Curve, ExperimentReport, format_notes
from riverboat.papers.rows import ComparisonRow, theorem_row
from riverboat.solvers.exact.sequence_form import SequenceForm
from riverboat.solvers.tabular.cfr import CFR
from riverboat.trees.compile import compile_game

SAMPLERS = ("chance", "opcs", "spcs", "pcs", "external")
FAILURE_PROBABILITY = 0.05  # p of the bound


def own_action_sequences(form: SequenceForm, player: int) -> list[tuple[str, ...]]:
    """Return the player's earlier actions for each of its information sets, without its observations."""
    plex, actions = form.treeplexes[player], [infoset.actions for infoset in form.histories.infosets()]
    sequences: list[tuple[str, ...]] = [()] * plex.sequences
    for infoset, parent, first in zip(plex.infosets, plex.parent, plex.first, strict=True):
        for k, action in enumerate(actions[infoset]):
            sequences[first + k] = (*sequences[parent], action)
    return [sequences[parent] for parent in plex.parent]


def bound_constant_m(form: SequenceForm, player: int) -> float:
    """Return M, between √|I| and |I|: smaller if more information sets share a sequence of own actions."""
    return float(sum(count**0.5 for count in Counter(own_action_sequences(form, player)).values()))


def regret_bound(form: SequenceForm, player: int, iterations: int) -> float:
    """Return the theorem's bound on the average regret."""
    payoff_range = np.ptp(form.histories.payoffs[:, player])
    width = int(form.treeplexes[player].width.max())
    factor = (1 + 2 / FAILURE_PROBABILITY**0.5) * payoff_range * bound_constant_m(form, player)
    return float(factor * width**0.5 / iterations**0.5)


def measure_regret(form: SequenceForm, traversal: str, iterations: int, seed: int) -> dict[int, tuple[float, float]]:
    """Measure the exact average regret of both players at every doubling, by iterations.

    Player 0 updates first, and player 1 responds to its new strategy.
    """
    solver = CFR(form.tree, "vanilla", traversal, seed=seed)
    current = form.plans(solver.current())
    sums: list[Array] = [np.zeros(plex.sequences) for plex in form.treeplexes]  # of each player's strategies
    earned = [0.0, 0.0]
    regrets = {}
    for t in range(1, iterations + 1):
        before = current
        solver.step(1)
        current = form.plans(solver.current())
        opponents = before[1], current[0]  # opponents of player 0 and of player 1
        earned[0] += form.value(before[0], opponents[0])
        earned[1] -= form.value(opponents[1], before[1])
        sums[1] += opponents[0]
        sums[0] += opponents[1]
        if t & (t - 1) == 0 or t == iterations:
            best = [form.best_response(me, sums[1 - me])[0] for me in (0, 1)]
            regrets[t] = ((best[0] - earned[0]) / t, (best[1] - earned[1]) / t)
    return regrets


def run(full: bool, seed: int) -> ExperimentReport:
    """Compare the measured regret of all samplers and both players with the theorem's bound."""
    iterations = 16_384 if full else 1024
    form = SequenceForm(compile_game(game_from_spec("leduc")))
    rows: list[ComparisonRow] = []
    for player in (0, 1):
        count, m = len(form.treeplexes[player].parent), bound_constant_m(form, player)
        rows += [
            theorem_row(f"player {player}: M, at least √{count}", count**0.5, m, ">="),
            theorem_row(f"player {player}: M, at most {count}", float(count), m, "<="),
        ]
    curves = []
    for traversal in SAMPLERS:
        regrets = measure_regret(form, traversal, iterations, seed)
        for player in (0, 1):
            limit, last = regret_bound(form, player, iterations), regrets[iterations][player]
            name = f"{traversal}, player {player}: average regret, T = {iterations:,}"
            rows.append(theorem_row(name, limit, last, "<=", note=f"{limit / last:,.0f} times below the bound"))
        curves.append(Curve(f"{traversal}: regret of player 0", regrets, [first for first, _ in regrets.values()]))
    curves.append(Curve(f"bound, p = {FAILURE_PROBABILITY}", regrets, [regret_bound(form, 0, t) for t in regrets]))
    notes = format_notes("pcs-bound", failure_probability=FAILURE_PROBABILITY, runs=1 / FAILURE_PROBABILITY)
    return ExperimentReport(rows, notes, curves, log=True)
