"""What the papers found in the equilibrium of the tournament.

Hands have no fixed order, few of them mix, prizes matter for three players and hardly for two, the Karlson-Sklansky ranking
errs, and value iteration can end outside equilibrium.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from riverboat.cards.grid import CLASS_NAMES
from riverboat.core.arrays import Array
from riverboat.papers.framework import Experiment, Report
from riverboat.papers.rows import Row, finding, new, theorem
from riverboat.papers.tournaments.calls import single_hand
from riverboat.papers.tournaments.epsilon import COSTS, GRID, SOURCE, solved
from riverboat.tournaments.equilibrium import share_of_hands, solve
from riverboat.tournaments.hand_tables import HandTables, starting_hands
from riverboat.tournaments.iteration import Iteration
from riverboat.tournaments.run import SolvedTournament
from riverboat.tournaments.stage import Stage
from riverboat.tournaments.stochastic import MatrixStage, StochasticGame

SURE = 0.05  # of one or zero: a class that is played, or not
OPENS = "", "F"  # lines of a first all-in


def run(full: bool, seed: int) -> Report:
    """Nothing is random."""
    solution = solved(full)
    ordered, note = no_order(solution)
    rows = [*ordered, *mixing(solution), *prizes(solution), *ranking(solution), *value_iteration()]
    notes = (
        GRID,
        note,
        "The Karlson-Sklansky ranking is by the largest stack with which the small blind gains by showing its hand and going "
        "all-in. Its error: what a first all-in loses when it must be the best hands of that ranking, however many.",
        "The papers print no figures for these; bounds are ours.",
    )
    return Report(tuple(rows), notes)


def _threes(solution: SolvedTournament) -> Array:
    """Strategies of three players. float64 [states, lines, classes]"""
    return np.array(
        [s for s, state in zip(solution.strategies, solution.tournament.states, strict=True) if len(state) == 3]
    )


def no_order(solution: SolvedTournament) -> tuple[list[Row], str]:
    """Pairs of classes of which now the one is played and the other not, now the other way round."""
    opens = _threes(solution)[:, 0]
    played, folded = (opens > 1 - SURE).astype(float), (opens < SURE).astype(float)
    before = played.T @ folded
    both = np.minimum(before, before.T)
    a, b = np.unravel_index(int(both.argmax()), both.shape)
    pairs = int((both > 0).sum()) // 2
    first, second = CLASS_NAMES[a], CLASS_NAMES[b]
    words = (
        f"{first} without {second} in {before[a, b]:.0f} states, with {second} without {first} in {before[b, a]:.0f}"
    )
    return [finding("button's first all-ins: pairs of classes without a fixed order", 1.0, float(pairs), ">=")], (
        f"The button goes all-in with {words}."
    )


def mixing(solution: SolvedTournament) -> list[Row]:
    """Hands that are played now and then."""
    ways = share_of_hands(np.eye(len(CLASS_NAMES)))
    some = _threes(solution)
    mixed = ((some > SURE) & (some < 1 - SURE)) @ ways
    return [
        finding("share of decisions that mix, 5 to 95 %", 0.05, float(mixed.mean()), "<=", note="by hands"),
        new("share of states and lines where no class mixes", float((mixed == 0).mean())),
    ]


def prizes(solution: SolvedTournament) -> list[Row]:
    """Tournament against single hands for chips: three players at equal stacks, two players at all."""
    tournament = solution.tournament
    equal = (tournament.units // 3,) * 3
    three = np.abs(share_of_hands(solution.strategy(equal)) - single_hand(tournament)[0])
    two = []
    tables = starting_hands(2)
    for state in (s for s in tournament.states if len(s) == 2):
        cash = solve(Stage(tournament.spot(state), tables), "cfr", 500, until=1e-3 * tournament.unit)
        two.append(np.abs(share_of_hands(solution.strategy(state)) - share_of_hands(cash.strategy)))
    return [
        finding("three players, equal stacks: largest change of a frequency by prizes", 0.1, float(three.max()), ">="),
        finding("two players, all stacks: mean change of a frequency by prizes", 0.02, float(np.mean(two)), "<="),
        new("two players: largest change", float(np.max(two))),
    ]


def ranking(solution: SolvedTournament) -> list[Row]:
    """What the best strategy that follows the ranking loses at first all-ins."""
    tournament = solution.tournament
    order = karlson_sklansky(starting_hands(2))
    pays = tournament.game.pays(solution.values)
    lost, placed = [], []
    ways = share_of_hands(np.eye(len(CLASS_NAMES)))
    for n, state in enumerate(tournament.states):
        if len(state) < 3:
            continue
        stage = tournament.game.stages[n]
        assert isinstance(stage, Stage)
        worth = stage.seen(solution.strategies[n]).worth(pays[n])
        for line in OPENS:
            k = stage.lines[line]
            more = worth[k, 0] - worth[k, 1]
            sums = np.concatenate([[0.0], np.cumsum(more[order])])
            cut = int(sums.argmax())
            lost.append(np.maximum(more, 0).sum() - sums[cut])
            prefix = np.zeros(len(order), bool)
            prefix[order[:cut]] = True
            placed.append(float(((more > 0) != prefix) @ ways))
    return [
        finding(
            "Karlson-Sklansky ranking: states and lines where it loses", 1.0, float(np.sum(np.array(lost) > 1e-4)), ">="
        ),
        new("its mean loss a hand, dollars", float(np.mean(lost))),
        new("its largest loss a hand, dollars", float(np.max(lost))),
        new("hands that it misplaces, mean share", float(np.mean(placed))),
        new("hands that it misplaces, largest share", float(np.max(placed))),
    ]


def karlson_sklansky(tables: HandTables) -> Array:
    """Classes from the best on: by the largest stack with which going all-in with open cards gains. int64 [169]"""
    share = (tables.met[1] + tables.met[2] / 2) / np.maximum(tables.pairs, 1e-300)  # of the caller
    low, high = np.full(len(share), 0.5), np.full(len(share), 1e4)
    for _ in range(60):
        stack = (low + high)[:, None] / 2
        calls = share * 2 * stack > stack - 1
        gain = (tables.other * np.where(calls, (1 - share) * 2 * stack - stack, 1.0)).sum(axis=1) + 0.5
        low, high = np.where(gain > 0, stack[:, 0], low), np.where(gain > 0, high, stack[:, 0])
    best: Array = np.argsort(-low, kind="stable")
    return best


def value_iteration() -> list[Row]:
    """Stay for nothing, or leave with 1: from values of 5."""
    stays = sparse.csr_array(np.array([[1.0], [0.0]]))
    game = StochasticGame([MatrixStage((2,))], np.array([0.0, 1.0]), stays)
    left = {}
    for method in ("vi-fp", "pi-fp"):
        run = Iteration(game, method, np.array([5.0]))
        while run.step().change > 0 or run.steps < 3:
            pass
        left[method] = run.check().epsilon
    return [
        theorem("a game in which value iteration ends: what is left to gain", 1.0, left["vi-fp"]),
        theorem("PI-FP on it", 0.0, left["pi-fp"]),
    ]


EXPERIMENT = Experiment(
    "tournament-findings", "The three-player tournament: what its equilibrium is like", SOURCE, *COSTS, run
)
