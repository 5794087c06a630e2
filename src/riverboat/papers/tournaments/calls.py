"""How often the big blind calls behind two all-ins: in the tournament, and in a single hand for chips."""

from __future__ import annotations

from riverboat.core.arrays import Array
from riverboat.papers.framework import Experiment, Report
from riverboat.papers.rows import Explained, Row, finding, new, printed
from riverboat.papers.tournaments.epsilon import COSTS, GRID, SOURCE, solved
from riverboat.tournaments.equilibrium import share_of_hands
from riverboat.tournaments.fictitious_play import play_hand
from riverboat.tournaments.push_fold import PushFold
from riverboat.tournaments.stage import Stage
from riverboat.tournaments.tournament import Tournament

CALLS = "JJ"
TOURNAMENT, SINGLE = 0.021, 0.197
NEARLY = Explained(
    0.1901,
    "no class is indifferent here, but A6s and KTo, 16 hands in 1,326, lose only 0.04 and 0.07 small blinds by calling, one "
    "hand in twelve gets there, and fictitious play sheds them slowly: 0.202 after 500 iterations, 0.190 after 1,000",
    0.003,
)
WITH_AKS = Explained(
    0.0181,
    "jacks or better, 24 hands in 1,326; AKs, four more, loses a ninetieth of what aces gain by calling, and with it the "
    "share is 0.0211",
    0.0005,
)


def single_hand(tournament: Tournament) -> tuple[Array, float]:
    """The first hand at equal stacks, for chips instead of prizes: shares of hands by line, and ε in chips."""
    stacks = (tournament.chips / 3,) * 3
    stage = Stage(PushFold(stacks, tournament.blinds, tournament.ante))
    strategy, gain = play_hand(stage, stage.start, stage.pay, 0, 5000, until=1e-4 * tournament.blinds[0])
    return share_of_hands(strategy), gain


def run(full: bool, seed: int) -> Report:
    """Nothing is random."""
    solution = solved(full)
    tournament = solution.tournament
    equal = (tournament.units // 3,) * 3
    lines = tournament.spot(equal).lines
    prizes = share_of_hands(solution.strategy(equal))
    chips, epsilon = single_hand(tournament)
    at = lines.index(CALLS)
    rows: list[Row] = [
        printed(
            "single hand: the big blind calls behind two all-ins", SINGLE, float(chips[at]), digits=3, explained=NEARLY
        ),
        finding("times as often as in the tournament", 2.0, float(chips[at] / prizes[at]), ">="),
    ]
    if full:
        ours = float(prizes[at])
        rows.insert(0, printed("tournament: the big blind calls", TOURNAMENT, ours, digits=3, explained=WITH_AKS))
    else:
        rows.insert(
            0, new("tournament: the big blind calls", float(prizes[at]), note=f"the paper's states: {TOURNAMENT}")
        )
    for line, p, c in zip(lines, prizes, chips, strict=True):
        if line != CALLS:
            rows.append(new(f"tournament, {line or 'first in'}", float(p), note=f"in a single hand {c:.4f}"))
    notes = (GRID, f"At equal stacks; shares of the 1,326 hands. The single hand has ε {epsilon:.2g} chips.")
    return Report(tuple(rows), notes)


EXPERIMENT = Experiment(
    "tournament-calls", "The three-player tournament: calls behind two all-ins", SOURCE, *COSTS, run
)
