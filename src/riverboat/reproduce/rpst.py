"""Rock-paper-scissors-toothpick: gifts, safe play that beats the value, and what gifts are not.

The toothpick T loses to everything, so whoever throws it has made a gift, and what was given may be risked without
falling below the value of the game (Ganzfried & Sandholm 2012).
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from riverboat.exploit.corners import corners
from riverboat.exploit.matches import play
from riverboat.exploit.safe import gift, guarantee, safe_response, value
from riverboat.games.base import Array
from riverboat.games.normal_form import NormalForm, matrix, rock_paper_scissors, rpst
from riverboat.reproduce.framework import Experiment, Report, Row
from riverboat.solving.sequence import SequenceForm
from riverboat.trees.compile import compile_game

# Player 0's pay-offs. R is a gift, as the equilibrium (1/2, 1/2) earns 5 from it instead of 5/2, and yet R is the
# best reply to D: no dominance removes it.
SURVIVES = [[3, 2, 10], [2, 3, 0]]
# The only equilibrium strategy is U, and both columns are best replies to it: no gifts. But L dominates R weakly.
REMOVED = [[0, 0], [-1, 5]]


def pure(form: SequenceForm, player: int, move: int) -> Array:
    """The plan that makes one move of a matrix game."""
    plan = np.zeros(form.treeplexes[player].sequences)
    plan[0] = plan[1 + move] = 1.0
    return plan


def gifts(form: SequenceForm) -> list[float]:
    """What each move of player 1 gives away to the best equilibrium strategy of player 0."""
    return [gift(form, 0, pure(form, 1, move)) for move in range(form.treeplexes[1].sequences - 1)]


def survivors(payoffs: Array) -> tuple[list[int], list[int]]:
    """Rows and columns left when weakly dominated ones (also by mixes) are removed, all at once, again and again."""
    rows, columns = list(range(payoffs.shape[0])), list(range(payoffs.shape[1]))
    while True:
        part = payoffs[np.ix_(rows, columns)]
        bad_rows = [i for i in range(len(rows)) if _dominated(part, i)]
        bad_columns = [j for j in range(len(columns)) if _dominated(-part.T, j)]
        if not bad_rows and not bad_columns:
            return rows, columns
        rows = [r for i, r in enumerate(rows) if i not in bad_rows]
        columns = [c for j, c in enumerate(columns) if j not in bad_columns]


def _dominated(payoffs: Array, row: int) -> bool:
    """Whether a mix of other rows is nowhere worse and somewhere better."""
    others = np.delete(payoffs, row, axis=0)
    if not len(others):
        return False
    found = linprog(-others.sum(axis=1), A_ub=-others.T, b_ub=-payoffs[row], A_eq=np.ones((1, len(others))), b_eq=[1.0])
    return bool(found.status == 0 and -found.fun > payoffs[row].sum() + 1e-9)


def two_rounds(game: NormalForm, expected: bool) -> float:
    """The least that two rounds of "risk what you've won" bring in rock-paper-scissors, in expectation.

    The model holds that the opponent throws rock. Round 1 is the equilibrium's, as nothing is won yet. In round 2 the
    opponent knows the plan. With `expected` a rule counts what it won in expectation over its own dice.
    """
    form = SequenceForm(compile_game(game))
    mixed = safe_response(form, 0, pure(form, 1, 0), 0.0)
    thrown = pure(form, 1, 0)
    total = 0.0
    for move in range(len(game.labels[0])):
        won = form.value(pure(form, 0, move), thrown)
        k = max(form.value(mixed.plan, thrown) if expected else won, 0.0)
        total += mixed.plan[1 + move] * (won + guarantee(form, 0, safe_response(form, 0, thrown, k).plan))
    return total


def run(full: bool, seed: int) -> Report:
    """All of it is exact but the match, whose luck comes from the seed."""
    form = SequenceForm(compile_game(rpst()))
    toothpick = gifts(form)[3]
    after = safe_response(form, 0, pure(form, 1, 3), toothpick)
    ours = corners(form, 0)
    opponent = np.array([[1.0, 0.3, 0.3, 0.3, 0.1]])
    fair = np.array([1.0, 1 / 3, 1 / 3, 1 / 3, 0.0])
    hands = 100_000 if full else 10_000
    risking = play(ours, "rwywe", opponent, fair, hands, seed)
    waiting = play(ours, "best-equilibrium", opponent, fair, hands, seed)
    games = {name: SequenceForm(compile_game(matrix(p))) for name, p in (("7", SURVIVES), ("8", REMOVED))}
    rps = SequenceForm(compile_game(rock_paper_scissors()))
    rows = (
        Row("value of the game", 0.0, value(form, 0), tolerance=1e-9),
        Row("gift of a toothpick", 10 / 3, toothpick, tolerance=1e-9),
        Row("exploitability of rock", 1.0, -guarantee(form, 0, pure(form, 0, 0)), tolerance=1e-9),
        Row("after one toothpick: probability of rock", None, float(after.plan[1]), note="it risks 1 of 10/3"),
        Row("a toothpick, then the worst: least of two rounds", None, toothpick + after.worst, note="10/3 - 1, above 0"),
        Row("largest gift of a move of rock-paper-scissors", None, max(gifts(rps)), note="0: only equilibria are safe"),
        Row("RWYW, two rounds of rock-paper-scissors: least", None, two_rounds(rock_paper_scissors(), False),
            note="-1/3, below the value: not safe"),
        Row("RWYWE, the same", None, two_rounds(rock_paper_scissors(), True), note="0: safe"),
        Row("[[3, 2, 10], [2, 3, 0]]: gift of the third column", None, gifts(games["7"])[2], note="5 instead of 5/2"),
        Row("[[3, 2, 10], [2, 3, 0]]: moves that weak dominance removes", None,
            float(5 - sum(map(len, survivors(np.array(SURVIVES, float))))), note="0: a gift may survive dominance"),
        Row("[[0, 0], [-1, 5]]: largest gift of a column", None, max(gifts(games["8"])), note="0: there are no gifts"),
        Row("[[0, 0], [-1, 5]]: columns that weak dominance leaves", None,
            float(len(survivors(np.array(REMOVED, float))[1])), note="1 of 2: no gift, and yet dominated"),
        Row("RWYWE against a toothpick every tenth time", None, float(risking.mean[0]),
            note=f"per hand, {hands:,} hands; k was never below {risking.least[0]:.1g}"),
        Row("best equilibrium against the same", None, float(waiting.mean[0]), note="the gifts alone: 1/3"),
    )  # fmt: skip
    return Report(
        rows,
        (
            "a gift is a strategy of the opponent that is no best reply to some equilibrium strategy of ours",
            "propositions 7 and 8 are taken to say that a gift may survive iterated weak dominance, and that a move which "
            "dominance removes may be no gift; the two matrices are counter-examples to the opposite",
        ),
    )


EXPERIMENT = Experiment(
    id="rpst",
    title="Gifts and safe exploitation in rock-paper-scissors-toothpick",
    source="Ganzfried & Sandholm 2012, Figure 9 and Propositions 7 and 8 (numbers of the thesis proposal)",
    cost="1 s",
    full_cost="2 s",
    run=run,
)
