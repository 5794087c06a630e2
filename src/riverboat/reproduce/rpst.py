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
from riverboat.reproduce.framework import Experiment, Report
from riverboat.reproduce.rows import new, printed, theorem
from riverboat.solving.matrices import equilibria
from riverboat.solving.sequence import SequenceForm
from riverboat.trees.compile import compile_game

# Player 0's pay-offs. R is a gift, as the equilibrium (1/2, 1/2) earns 5 from it instead of 5/2, and yet R is the
# best reply to D: no dominance removes it.
SURVIVES = [[3, 2, 10], [2, 3, 0]]
# Player 1 must play L: R is in no equilibrium. Yet R is a best reply to U, which is an equilibrium strategy.
UNUSED = [[0, 0], [0, 1]]
# Not an example of that: L dominates R weakly, and R is in an equilibrium all the same, with up to 1/6.
USED = [[0, 0], [-1, 5]]


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
    optimum = linprog(
        -others.sum(axis=1), A_ub=-others.T, b_ub=-payoffs[row], A_eq=np.ones((1, len(others))), b_eq=[1.0]
    )
    return bool(optimum.status == 0 and -optimum.fun > payoffs[row].sum() + 1e-9)


def column_facts(payoffs: Array, column: int) -> tuple[float, float, float]:
    """How often an equilibrium strategy of player 1 makes a move at most, and what it gives away: the least and the most
    over the equilibrium strategies of player 0."""
    rows, columns = payoffs.shape
    worth = float(equilibria(payoffs[None]).value[0])
    one_row, one_column = np.ones((1, rows)), np.ones((1, columns))
    share = linprog(-np.eye(columns)[column], A_ub=payoffs, b_ub=np.full(rows, worth), A_eq=one_column, b_eq=[1.0])
    paid = [
        linprog(sign * payoffs[:, column], A_ub=-payoffs.T, b_ub=np.full(columns, -worth), A_eq=one_row, b_eq=[1.0])
        for sign in (1, -1)
    ]
    return -float(share.fun), float(paid[0].fun) - worth, -float(paid[1].fun) - worth


def unexplained_gifts(count: int, rng: np.random.Generator) -> int:
    """Columns of random games that break: a move is in some equilibrium, or some equilibrium strategy gains from it."""
    wrong = 0
    for payoffs in rng.integers(-2, 3, (count, 3, 3)).astype(float):
        for column in range(3):
            share, _, most = column_facts(payoffs, column)
            wrong += (share > 1e-7) == (most > 1e-7)
    return wrong


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
    seven = SequenceForm(compile_game(matrix(SURVIVES)))
    rps = SequenceForm(compile_game(rock_paper_scissors()))
    unused, used = (column_facts(np.array(payoffs, float), 1) for payoffs in (UNUSED, USED))
    tried = 1000 if full else 50
    rows = (
        printed("value of the game", 0.0, value(form, 0)),
        printed("gift of a toothpick", 10 / 3, toothpick),
        printed("exploitability of rock", 1.0, -guarantee(form, 0, pure(form, 0, 0))),
        new("after one toothpick: probability of rock", float(after.plan[1]), note="it risks 1 of 10/3"),
        theorem("a toothpick, then the worst: least of two rounds", 0.0, toothpick + after.worst, ">=", note="10/3 - 1"),
        theorem("largest gift of a move of rock-paper-scissors", 0.0, max(gifts(rps)), note="only equilibria are safe"),
        theorem("RWYW, two rounds of rock-paper-scissors: least", -1 / 3, two_rounds(rock_paper_scissors(), False),
                note="below the value: not safe"),
        theorem("RWYWE, the same", 0.0, two_rounds(rock_paper_scissors(), True), ">=", note="safe"),
        theorem("7, [[3, 2, 10], [2, 3, 0]]: gift of the third column", 5 / 2, gifts(seven)[2], note="5 instead of 5/2"),
        theorem("7: moves that weak dominance removes", 0.0, float(5 - sum(map(len, survivors(np.array(SURVIVES, float)))))),
        theorem("8, [[0, 0], [0, 1]]: most of column 2 in an equilibrium", 0.0, unused[0]),
        theorem("8: what it gives away to one equilibrium strategy", 0.0, unused[1], note="a best reply to the first row"),
        theorem("8: what it gives away to another", 1.0, unused[2], note="no best reply to the second row"),
        new("8, [[0, 0], [-1, 5]]: most of column 2 in an equilibrium", used[0], note="1/6: no example of the proposition"),
        theorem(f"{tried} random games: moves that are used and a gift, or neither", 0.0,
                float(unexplained_gifts(tried, np.random.default_rng(seed))), note="Goldman & Tucker 1956"),
        new("RWYWE against a toothpick every tenth time", float(risking.mean[0]),
            note=f"per hand, {hands:,} hands; k was never below {risking.least[0]:.1g}"),
        new("best equilibrium against the same", float(waiting.mean[0]), note="the gifts alone: 1/3"),
    )  # fmt: skip
    return Report(
        rows,
        (
            "a gift is a strategy of the opponent that is no best reply to some equilibrium strategy of ours",
            "proposition 7 is read as: a gift may survive iterated weak dominance. Proposition 8 as: a move that no "
            "equilibrium makes may be a best reply to an equilibrium strategy of ours. To all of them it cannot be: of a "
            "move and the equilibrium strategies against it, just one is true, that some equilibrium makes it or that some "
            "gains from it.",
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
