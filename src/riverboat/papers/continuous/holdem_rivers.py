"""Rivers of hold'em by thresholds: which qualitative models apply, what is lost, and what is saved."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from riverboat.continuous.holdem import Betting, Ranks, RiverPlayer, hands_solution, solution
from riverboat.continuous.proposals import read
from riverboat.continuous.qualitative_model import Model
from riverboat.continuous.signals import uniform
from riverboat.continuous.solve import solve as solve_game
from riverboat.continuous.solve import solve_model
from riverboat.core.arrays import Array
from riverboat.papers.framework import Experiment, Report
from riverboat.papers.reached_rivers import LIMIT, PER_TURN, POT, Reached, base_agent, by_play, by_turns
from riverboat.papers.rows import Row, finding, new
from riverboat.solvers.boards.cfr import BoardCFR
from riverboat.strategies.solution import Solution
from riverboat.trees.boards import BoardTree

PATIENT = 40  # stages where it is not time that counts, but whether a model applies
REST = 10  # rivers without a model for which the slow way is tried
APPLIES = 0.005  # a model applies where its certified ε is at most so much of the pot
LOW, HIGH = "r f c r", "f r c r"  # bluff-raises with the weakest hands, or with the best that would fold
MODELS = {
    f"{root} / {'weakest' if raises == LOW else 'best folds'}": (root, raises)
    for root in ("b x b x", "b x b x b", "b x b", "x")
    for raises in (LOW, HIGH)
}
TURNS, LIMIT_PLAY, PLAY = "turns, limit", "matches, limit", "matches"  # where rivers come from, and their betting


def player(betting: Betting) -> RiverPlayer:
    """The models with their thresholds for equal distributions."""
    game = betting.game(uniform())
    reading = read(game, 60)
    models = []
    for name, (root, raises) in MODELS.items():
        bands = {"root": root, "x": "b x b", "x-b": raises, "x-b-r": "f c", "b": raises, "b-r": "f c"}
        answer = solve_model(game, Model.make(game, bands, name=name), reading=reading)
        assert answer.profile is not None
        models.append((answer.model, answer.profile.cuts))
    return RiverPlayer(betting, models)


def exploited(played: Solution) -> float:
    """Exploitability in the river as it is, in % of the pot."""
    return 100 * (played.earnings(0, respond=True) + played.earnings(1, respond=True) - POT) / 2 / POT


def duel(tree: BoardTree, ours: Solution, theirs: Solution) -> float:
    """What ours wins from theirs, seats exchanged, in % of the pot."""
    total, cut = 0.0, int(tree.boards.base[0, 1])
    for seat in (0, 1):
        first, second = (ours, theirs) if seat == 0 else (theirs, ours)
        table = np.concatenate([_decoded(first, tree)[:cut], _decoded(second, tree)[cut:]])
        total += Solution(tree, table).earnings(seat) - POT / 2
    return 100 * total / 2 / POT


def _decoded(played: Solution, tree: BoardTree) -> Array:
    """A solution's table as probabilities. float64 [tree.table]"""
    out = np.zeros(tree.table)
    for node in np.flatnonzero(tree.forest.actor >= 0):
        who = int(tree.forest.actor[node])
        block = played.block(0, int(node))
        at = int(tree.boards.base[0, who]) + int(tree.forest.slot[node]) * block.shape[1]
        out[at : at + block.size] = block.ravel()
    return out


def exact(tree: BoardTree, until: float) -> tuple[Solution, float]:
    """The river solved to an exploitability, and seconds for it."""
    began = time.process_time()
    solver = BoardCFR(tree, "dcfr:alpha=1.4,beta=0.25,gamma=3")
    while solver.iteration < 2000:
        solver.step(10)
        if solver.exploitability() <= until:
            break
    return solver.average(), time.process_time() - began


@dataclass(frozen=True)
class Figures:
    """Of one river. Shares are of the pot, losses in % of it."""

    epsilon: tuple[float, ...]  # of each model in the continuous game
    loss: float  # exploitability of the threshold player
    floor: float  # of many iterations on ranks: what card removal costs
    bucketed: float  # of as many as take the player's time
    exact: float  # of the exact solution
    base: float | None  # of who has come there, in this betting; None where that is not known
    to_exact: float  # what the threshold player wins from the exact solution
    to_bucketed: float
    to_base: float | None
    seconds: tuple[float, float, float]  # threshold player; exact to 0.5 %, with its tree; one iteration on ranks


def measure(river: Reached, us: RiverPlayer) -> Figures:
    """All figures of one river. What one player wins from another is the expectation over all hands, not a sample."""
    spot = river.spot()
    began = time.process_time()
    tree = BoardTree(spot)
    build = time.process_time() - began
    began = time.process_time()
    ranks = Ranks.make(spot.board, spot.weights)
    best = us.play(ranks)
    ours = time.process_time() - began
    each = tuple(us.find(ranks, number, PATIENT).epsilon for number in range(len(us.models)))
    began = time.process_time()
    many = us.bucketed(ranks, 1000)
    one = (time.process_time() - began) / 1000
    thresholds = solution(tree, ranks, us.betting, best.frequencies)
    rough = solution(tree, ranks, us.betting, us.bucketed(ranks, max(1, int(ours / one))))
    _, seconds = exact(tree, 0.5)
    fine, _ = exact(tree, 0.05)
    base = None if river.base is None else hands_solution(tree, us.betting, river.base)
    return Figures(
        each,
        exploited(thresholds),
        exploited(solution(tree, ranks, us.betting, many)),
        exploited(rough),
        exploited(fine),
        None if base is None else exploited(base),
        duel(tree, thresholds, fine),
        duel(tree, thresholds, rough),
        None if base is None else duel(tree, thresholds, base),
        (ours, build + seconds, one),
    )


def proposed(river: Reached, betting: Betting) -> bool:
    """Whether a model that is read off this river's game in steps is an equilibrium, ranks told apart inside."""
    spot = river.spot()
    game = betting.game(Ranks.make(spot.board, spot.weights).signals.untied())
    return solve_game(game)[0].solved


def cover(epsilon: Array, size: int) -> tuple[float, tuple[int, ...]]:
    """The largest share of rivers to which one of `size` models applies, and which they are. epsilon: [rivers, models]"""
    applies = epsilon <= APPLIES
    return max(
        (float(applies[:, list(some)].any(axis=1).mean()), some) for some in combinations(range(epsilon.shape[1]), size)
    )


def _mean(values: list[float]) -> tuple[float, tuple[float, float]]:
    mean, half = float(np.mean(values)), 1.96 * float(np.std(values, ddof=1)) / len(values) ** 0.5
    return mean, (mean - half, mean + half)


def _models(source: str, us: RiverPlayer, rivers: Sequence[Reached], epsilon: Array) -> list[Row]:
    """Which models apply how often."""
    names = [model.name for model in us.models]
    rows = []
    for size in (1, 2, 3, len(names)):
        share, some = cover(epsilon, size)
        which = ", ".join(names[n] for n in some) if size < len(names) else "all"
        rows.append(new(f"{source}: rivers to which one of the best {size} models applies", share, note=which))
    loose = float((epsilon.min(axis=1) <= 2 * APPLIES).mean())
    rows.append(new(f"{source}: rivers to which one of all applies within {200 * APPLIES:g} %", loose))
    rest = [river for river, row in zip(rivers, epsilon, strict=True) if row.min() > APPLIES][:REST]
    if rest:
        share = sum(proposed(river, us.betting) for river in rest) / len(rest)
        of = "of the rest, solved by models read off their own game in steps"
        rows.append(new(f"{source}: {of}", share, note=f"of {len(rest)}"))
    for number, name in enumerate(names):
        share = float((epsilon[:, number] <= APPLIES).mean())
        rows.append(new(f"{source}: applies: {name}", share, note="first to act / bluff-raises"))
    return rows


def judged(source: str, rivers: Sequence[Reached]) -> tuple[list[Row], Array]:
    """All rows of some rivers with one kind of betting, and ε of each model in each of them. float64 [rivers, models]"""
    us = player(Betting.of(rivers[0].spot()))
    measure(rivers[0], us)  # compiles
    measured = [measure(river, us) for river in rivers]
    epsilon = np.array([f.epsilon for f in measured])
    rows = _models(source, us, rivers, epsilon)
    for name, values, note in (
        ("loss of the threshold player, % of pot", [f.loss for f in measured], "exploitability in the river as it is"),
        (
            "loss of ranks without card removal, % of pot",
            [f.floor for f in measured],
            "1,000 iterations of CFR+ on ranks",
        ),
        ("loss of ranks in equal time, % of pot", [f.bucketed for f in measured], "every rank a bucket"),
        ("loss of the exact solution, % of pot", [f.exact for f in measured], "solved to 0.05 %"),
        ("loss of the base agent, % of pot", [f.base for f in measured], "all its bets count as the one that there is"),
        ("against the exact solution, % of pot a hand", [f.to_exact for f in measured], "to 0.05 %, seats exchanged"),
        ("against ranks in equal time, % of pot a hand", [f.to_bucketed for f in measured], "seats exchanged"),
        ("against the base agent, % of pot a hand", [f.to_base for f in measured], "seats exchanged"),
    ):
        known = [value for value in values if value is not None]
        if known:
            rows.append(new(f"{source}: {name}", *_mean(known), null=0.0, note=note))
    for name, column in (("thresholds, ms a river", 0), ("exact to 0.5 %, ms a river, with its tree", 1)):
        spent = 1e3 * np.array([f.seconds[column] for f in measured])
        note = f"of one core, median; mean {spent.mean():.2g}"
        rows.append(new(f"{source}: {name}", float(np.median(spent)), note=note))
    return rows, epsilon


def run(full: bool, seed: int) -> Report:
    """A thousand rivers of both kinds at full size."""
    count = 1000 if full else 30
    turns = list(by_turns(count, seed))
    agent = base_agent(seed)
    played, short = by_play(agent, agent.rules, count, seed)
    limit = [replace(river, sizes=LIMIT, base=None) for river in played]
    rows: list[Row] = []
    epsilon = []
    for source, rivers in ((TURNS, turns), (LIMIT_PLAY, limit), (PLAY, played)):
        some, each = judged(source, rivers)
        rows += some
        epsilon.append(each)
    both = np.concatenate(epsilon[:2])
    rows.append(finding("limit rivers: a third model is needed", 1.0, float(cover(both, 3)[0] > cover(both, 2)[0])))
    lines = sorted({river.line for river in turns})
    trained = f"{agent.strategy.provenance.get('iterations', 0):,} iterations"
    return Report(
        tuple(rows),
        (
            f"Turns: {count} rivers to which {-(-count // PER_TURN)} solved turns lead, lines as often as they are played "
            f"({', '.join(lines)}). Matches: {count} rivers that {agent.name} ({trained}) reached against itself with at "
            f"least one bet before; {short} more were left out for want of chips. Both ranges by Bayes.",
            "Limit: a quarter of the pot and one raise. Else half of the pot and one raise by the pot, the smallest sizes of "
            "the agent's menu; it is asked what it does at every line of that betting.",
            f"A model applies where its certified epsilon is at most {100 * APPLIES:g} % of the pot with independent "
            "ranks. The proposal says that three models cover all rivers and no two do, without a figure or a tolerance.",
            "The threshold player takes the first model within 0.1 %, else the best. What one player wins from another is "
            "the expectation over all hands of both ranges; intervals are over rivers.",
        ),
    )


EXPERIMENT = Experiment(
    "continuous-holdem-rivers",
    "Rivers of hold'em by thresholds",
    "Ganzfried, thesis proposal, section 2.3",
    "60 s, and a minute more where the demo was never built",
    "25 min",
    run,
)
