"""The three-player tournament of Ganzfried & Sandholm (AAMAS 2008, IJCAI 2009): ε, calls, findings, ICM errors.

Findings: hands have no fixed order, few of them mix, prizes matter for three players and hardly for two, the
Karlson-Sklansky ranking errs, and value iteration can converge outside equilibrium.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from riverboat.cards.grid import CLASS_NAMES
from riverboat.core import resources
from riverboat.core.arrays import Array
from riverboat.papers.framework import ExperimentReport, format_notes, load_figures
from riverboat.papers.rows import ComparisonRow, ExplainedDifference, finding_row, new_row, printed_row, theorem_row
from riverboat.tournaments.equilibrium import share_of_hands, solve
from riverboat.tournaments.fictitious_play import solve_hand
from riverboat.tournaments.hand_tables import HandTables, starting_hands
from riverboat.tournaments.push_fold import PushFold
from riverboat.tournaments.run import SolvedTournament, cached_solution
from riverboat.tournaments.stage_game import PushFoldStage
from riverboat.tournaments.stochastic_games import EquilibriumIteration, MatrixStage, StochasticGame
from riverboat.tournaments.tournament import Tournament

# --- ε of value iteration and policy iteration ---

PAPER_EPSILON = 0.5  # % of the entry fee
GRID_NOTE = (
    "Without --full stacks are multiples of 900 instead of 300: 91 states of three players instead of 946; stacks in "
    "between are rounded at random with the same mean. Solved once, then cached (`riverboat cache`)."
)


def solve_paper_tournament(full: bool, method: str = "pi-fp") -> SolvedTournament:
    """Return the equilibrium of the paper's tournament, or without `full` of a coarser grid of stacks; cached."""
    return cached_solution(Tournament() if full else Tournament.small(), method, resources.available_cores())


def run_epsilon(full: bool, seed: int) -> ExperimentReport:
    """Measure ε of VI-FP and PI-FP: the largest gain of any player by deviating; deterministic."""
    rows: list[ComparisonRow] = []
    for method in ("vi-fp", "pi-fp"):
        solution, name = solve_paper_tournament(full, method), "largest gain of any player, % of the fee"
        rows += [
            finding_row(f"{method}: {name}", PAPER_EPSILON, solution.epsilon_percent, "<=", note="exact"),
            new_row(f"{method}: the same in dollars", solution.epsilon),
            new_row(f"{method}: steps outside", float(solution.steps)),
            new_row(f"{method}: seconds", solution.seconds),
        ]
    fee, check = format_notes("tournament-epsilon")
    return ExperimentReport(rows, (fee, GRID_NOTE, check))


# --- Calls of the big blind behind two all-ins ---

BIG_BLIND_CALL_LINE = "JJ"  # both players before the big blind go all-in
PAPER_TOURNAMENT_SHARE, PAPER_SINGLE_HAND_SHARE = 0.021, 0.197
EXPLAINED_SHARES = {
    name: ExplainedDifference(**why) for name, why in load_figures("tournament-calls", "explained").items()
}


def solve_single_hand(tournament: Tournament) -> tuple[Array, float]:
    """Solve the first hand at equal stacks for chips instead of prizes.

    Return the share of hands that go all-in or call at each line, and ε in chips.
    """
    stacks = (tournament.chips / 3,) * 3
    stage = PushFoldStage(PushFold(stacks, tournament.blinds, tournament.ante))
    until = 1e-4 * tournament.blinds[0]
    strategy, gain = solve_hand(stage, stage.initial_strategy, stage.payoffs, 0, 5000, until=until)
    return share_of_hands(strategy), gain


def paper_row(
    full: bool, name: str, paper: float, ours: float, digits: int, explained: ExplainedDifference | None = None
) -> ComparisonRow:
    """Compare with a printed number at full size; otherwise the states are others and the number is a note."""
    if full:
        return printed_row(name, paper, ours, digits=digits, explained=explained)
    return new_row(name, ours, note=f"the paper's states: {paper}")


def run_calls(full: bool, seed: int) -> ExperimentReport:
    """Compare calling frequencies of the tournament with those of a single hand; deterministic."""
    solution = solve_paper_tournament(full)
    tournament = solution.tournament
    equal = (tournament.units // 3,) * 3
    lines = tournament.spot(equal).lines
    tournament_shares = share_of_hands(solution.strategy(equal))
    single_hand_shares, epsilon = solve_single_hand(tournament)
    at = lines.index(BIG_BLIND_CALL_LINE)
    ours, single = tournament_shares[at], single_hand_shares[at]
    name, why = "single hand: the big blind calls behind two all-ins", EXPLAINED_SHARES["tournament"]
    rows = [
        paper_row(full, "tournament: the big blind calls", PAPER_TOURNAMENT_SHARE, ours, 3, why),
        printed_row(name, PAPER_SINGLE_HAND_SHARE, single, digits=3, explained=EXPLAINED_SHARES["single_hand"]),
        finding_row("times as often as in the tournament", 2.0, single / ours, ">="),
    ]
    for line, p, c in zip(lines, tournament_shares, single_hand_shares, strict=True):
        if line != BIG_BLIND_CALL_LINE:
            rows.append(new_row(f"tournament, {line or 'first in'}", float(p), note=f"in a single hand {c:.4f}"))
    return ExperimentReport(rows, (GRID_NOTE, *format_notes("tournament-calls", epsilon=epsilon)))


PURE_TOLERANCE = 0.05  # distance from 0 or 1 of a class that does not mix
OPENING_LINES = "", "F"  # lines of an opening all-in


def run_findings(full: bool, seed: int) -> ExperimentReport:
    """Check all findings of the papers; deterministic."""
    solution = solve_paper_tournament(full)
    ordered, note = order_rows(solution)
    rows = [*ordered, *mixing_rows(solution), *prize_rows(solution), *ranking_rows(solution), *value_iteration_rows()]
    return ExperimentReport(rows, (GRID_NOTE, *format_notes("tournament-findings", order=note)))


def _three_player_strategies(solution: SolvedTournament) -> Array:
    """Return the strategies of three-player states. float64 [states, lines, classes]"""
    pairs = zip(solution.strategies, solution.tournament.states, strict=True)
    return np.array([strategy for strategy, state in pairs if len(state) == 3])


def order_rows(solution: SolvedTournament) -> tuple[list[ComparisonRow], str]:
    """Count pairs of hand classes without a fixed order: each opens all-in without the other in some state.

    Also return a note with the pair for which this happens most often.
    """
    opens = _three_player_strategies(solution)[:, 0]
    played, folded = (opens > 1 - PURE_TOLERANCE).astype(float), (opens < PURE_TOLERANCE).astype(float)
    counts = played.T @ folded
    both = np.minimum(counts, counts.T)
    a, b = np.unravel_index(int(both.argmax()), both.shape)
    pairs = int((both > 0).sum()) // 2
    first, second = CLASS_NAMES[a], CLASS_NAMES[b]
    note = f"The button goes all-in with {first} without {second} in {counts[a, b]:.0f} states, with {second} without "
    note += f"{first} in {counts[b, a]:.0f}."
    return [
        finding_row("button's first all-ins: pairs of classes without a fixed order", 1.0, float(pairs), ">=")
    ], note


def mixing_rows(solution: SolvedTournament) -> list[ComparisonRow]:
    """Measure the share of hands with mixed strategies."""
    class_shares = share_of_hands(np.eye(len(CLASS_NAMES)))
    strategies = _three_player_strategies(solution)
    mixed = ((strategies > PURE_TOLERANCE) & (strategies < 1 - PURE_TOLERANCE)) @ class_shares
    return [
        finding_row("share of decisions that mix, 5 to 95 %", 0.05, mixed.mean(), "<=", note="by hands"),
        new_row("share of states and lines where no class mixes", (mixed == 0).mean()),
    ]


def prize_rows(solution: SolvedTournament) -> list[ComparisonRow]:
    """Compare the tournament with single hands for chips: three players at equal stacks, two players at all stacks."""
    tournament = solution.tournament
    equal = (tournament.units // 3,) * 3
    three = np.abs(share_of_hands(solution.strategy(equal)) - solve_single_hand(tournament)[0])
    two = []
    tables = starting_hands(2)
    for state in (s for s in tournament.states if len(s) == 2):
        cash = solve(PushFoldStage(tournament.spot(state), tables), "cfr", 500, until=1e-3 * tournament.unit)
        two.append(np.abs(share_of_hands(solution.strategy(state)) - share_of_hands(cash.strategy)))
    return [
        finding_row("three players, equal stacks: largest change of a frequency by prizes", 0.1, three.max(), ">="),
        finding_row("two players, all stacks: mean change of a frequency by prizes", 0.02, np.mean(two), "<="),
        new_row("two players: largest change", np.max(two)),
    ]


def ranking_rows(solution: SolvedTournament) -> list[ComparisonRow]:
    """Measure the loss of the best opening strategy that follows the Karlson-Sklansky ranking."""
    tournament = solution.tournament
    order = rank_karlson_sklansky(starting_hands(2))
    payoffs = tournament.game.outcome_payoffs(solution.values)
    lost, misplaced = [], []
    class_shares = share_of_hands(np.eye(len(CLASS_NAMES)))
    for n, state in enumerate(tournament.states):
        if len(state) < 3:
            continue
        stage = tournament.game.stages[n]
        assert isinstance(stage, PushFoldStage)
        values = stage.response_problem(solution.strategies[n]).action_values(payoffs[n])
        for line in OPENING_LINES:
            k = stage.lines[line]
            advantage = values[k, 0] - values[k, 1]
            sums = np.concatenate([[0.0], np.cumsum(advantage[order])])
            cut = int(sums.argmax())
            lost.append(np.maximum(advantage, 0).sum() - sums[cut])
            prefix = np.zeros(len(order), bool)
            prefix[order[:cut]] = True
            misplaced.append(float(((advantage > 0) != prefix) @ class_shares))
    num_lost = np.sum(np.array(lost) > 1e-4)
    return [
        finding_row("Karlson-Sklansky ranking: states and lines where it loses", 1.0, num_lost, ">="),
        new_row("its mean loss a hand, dollars", np.mean(lost)),
        new_row("its largest loss a hand, dollars", np.max(lost)),
        new_row("hands that it misplaces, mean share", np.mean(misplaced)),
        new_row("hands that it misplaces, largest share", np.max(misplaced)),
    ]


def rank_karlson_sklansky(tables: HandTables) -> Array:
    """Rank classes by the largest stack at which an all-in with open cards gains, best first. int64 [169]"""
    won = tables.pair_orders[1] + tables.pair_orders[2] / 2
    share = won / np.maximum(tables.pair_probabilities, 1e-300)  # equity of the caller
    low, high = np.full(len(share), 0.5), np.full(len(share), 1e4)
    for _ in range(60):
        stack = (low + high)[:, None] / 2
        calls = share * 2 * stack > stack - 1
        gain = (tables.opponent_probabilities * np.where(calls, (1 - share) * 2 * stack - stack, 1.0)).sum(axis=1) + 0.5
        low, high = np.where(gain > 0, stack[:, 0], low), np.where(gain > 0, high, stack[:, 0])
    best: Array = np.argsort(-low, kind="stable")
    return best


def value_iteration_rows() -> list[ComparisonRow]:
    """Show that VI-FP can converge outside equilibrium, in a one-player game: stay for 0, or leave with 1.

    VI-FP and PI-FP start from values of 5, which are too high.
    """
    stays = sparse.csr_array(np.array([[1.0], [0.0]]))
    game = StochasticGame([MatrixStage((2,))], np.array([0.0, 1.0]), stays)
    epsilon = {}
    for method in ("vi-fp", "pi-fp"):
        run = EquilibriumIteration(game, method, np.array([5.0]))
        while run.step().change > 0 or run.steps < 3:
            pass
        epsilon[method] = run.check().epsilon
    return [
        theorem_row("a game in which value iteration ends: what is left to gain", 1.0, epsilon["vi-fp"]),
        theorem_row("PI-FP on it", 0.0, epsilon["pi-fp"]),
    ]


# --- Errors of the independent chip model ---

PAPER_MEAN_ERROR, PAPER_MAX_ERROR = 0.37, 2.99  # dollars
ICM_DIFFERENCES = {
    name: ExplainedDifference(**why) for name, why in load_figures("tournament-icm", "explained").items()
}
SEATS = ("button", "small blind", "big blind")


def run_icm(full: bool, seed: int) -> ExperimentReport:
    """Compare ICM values with equilibrium values; deterministic."""
    solution = solve_paper_tournament(full)
    tournament = solution.tournament
    three = np.concatenate([np.full(len(state), len(state) == 3) for state in tournament.states])
    errors = (solution.values - tournament.icm_values)[three]
    size, position = np.abs(errors), np.tile(np.arange(3), len(errors) // 3)
    worst = int(size.argmax())
    state = [s for s in tournament.states if len(s) == 3][worst // 3]
    rare = (size > size.max() / 2).mean()
    rows = [
        paper_row(full, "error of the chip model, mean", PAPER_MEAN_ERROR, size.mean(), 2, ICM_DIFFERENCES["mean"]),
        paper_row(full, "error of the chip model, largest", PAPER_MAX_ERROR, size.max(), 2, ICM_DIFFERENCES["largest"]),
        finding_row("mean error above the largest gain of any player", solution.epsilon, size.mean(), ">="),
        finding_row("large errors are rare: share above half of the largest", 0.1, rare, "<="),
        *(
            new_row(f"equilibrium less chip model, mean: {name}", errors[position == k].mean())
            for k, name in enumerate(SEATS)
        ),
    ]
    units = ", ".join(str(round(x * tournament.unit)) for x in state)
    notes = format_notes("tournament-icm", seat=SEATS[worst % 3], units=units)
    return ExperimentReport(rows, (GRID_NOTE, *notes))
