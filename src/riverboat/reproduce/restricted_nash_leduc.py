"""Restricted Nash responses in Leduc: what is gained against a model, and what a nemesis would take, for p from 0 to 1."""

from __future__ import annotations

import numpy as np

from riverboat.exploit.restricted_nash import TradeOff, trade_off
from riverboat.games.base import Array
from riverboat.games.small_poker import leduc
from riverboat.reproduce.dbbr_leduc import yardsticks
from riverboat.reproduce.framework import Curve, Experiment, Report
from riverboat.reproduce.rows import Row, new, theorem
from riverboat.solving.lp import solve_lp
from riverboat.solving.sequence import SequenceForm
from riverboat.trees.compile import compile_game

MODELS = ("always call", "random", "perturbed equilibrium")
NOISE = 1e-7  # of the linear programs


def monotone(curve: TradeOff) -> int:
    """Steps of p along which neither the gain nor the exploitability falls."""
    return int(np.sum((np.diff(curve.gain) > -NOISE) & (np.diff(curve.exploitability) > -NOISE)))


def run(full: bool, seed: int) -> Report:
    """Both seats; the curves show the average of the two."""
    tree = compile_game(leduc())
    form = SequenceForm(tree)
    equilibrium = solve_lp(tree).strategy
    ps = np.linspace(0, 1, 101 if full else 11)
    rows: list[Row] = []
    curves: list[Curve] = []
    for name in MODELS:
        strategy = yardsticks(equilibrium, seed)[name]
        plans = form.plans(strategy)
        both = [trade_off(form, me, plans[1 - me], ps) for me in (0, 1)]
        best = [form.respond(me, plans[1 - me])[0] for me in (0, 1)]
        gain: Array = np.mean([c.gain for c in both], axis=0)
        cost: Array = np.mean([c.exploitability for c in both], axis=0)
        steps = 2 * (len(ps) - 1)
        rows += [
            theorem(f"{name}: p = 0, exploitability", 0.0, float(cost[0]), rounding=NOISE, note="an equilibrium"),
            theorem(
                f"{name}: p = 1, gain less that of a best response",
                0.0,
                float(gain[-1] - np.mean(best)),
                rounding=NOISE,
            ),
            theorem(f"{name}: steps of p on which a side falls", 0.0, float(steps - sum(map(monotone, both)))),
        ]
        rows += [
            new(f"{name}: p = {p:.1f}, gain", float(g), note=f"exploitability {e:.4f}")
            for p, g, e in zip(ps, gain, cost, strict=True)
            if abs(p * 10 - round(p * 10)) < 1e-9
        ]
        curves.append(Curve(f"{name}: gain by exploitability", tuple(cost.tolist()), tuple(gain.tolist())))
    return Report(
        tuple(rows),
        (
            "chips per hand, both seats averaged; exploitability is what a nemesis takes of the value",
            "the paper's curves are for hold'em; the ends and the order of the points are checked against theory",
            "at p = 0 every equilibrium is a solution: the one that gains most is shown",
        ),
        tuple(curves),
    )


EXPERIMENT = Experiment(
    id="restricted-nash-leduc",
    title="Exploitation against exploitability of restricted Nash responses in Leduc",
    source="Johanson, Zinkevich & Bowling 2007, in kind",
    cost="10 s",
    full_cost="2 min",
    run=run,
)
