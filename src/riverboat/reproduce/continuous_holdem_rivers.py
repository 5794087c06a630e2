"""Rivers of hold'em by thresholds: which qualitative models apply, what is lost, and what is saved."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from riverboat.arrays import Array
from riverboat.cards.notation import show_cards
from riverboat.cards.ranges import Range
from riverboat.continuous.holdem import Betting, Ranks, RiverPlayer, solution
from riverboat.continuous.propose import read
from riverboat.continuous.qualitative import Model
from riverboat.continuous.signals import uniform
from riverboat.continuous.solve import solve as solve_game
from riverboat.continuous.solve import solve_model
from riverboat.games.base import CHANCE
from riverboat.games.spot import Spot
from riverboat.reproduce.framework import Experiment, Report
from riverboat.reproduce.rows import finding, new
from riverboat.solving.boards import BoardCFR
from riverboat.solving.run import solve
from riverboat.strategy.solution import Solution
from riverboat.trees.boards import BoardTree

OPENER = "22+,A2s+,A8o+,K5s+,KTo+,Q8s+,QTo+,J8s+,JTo,T7s+,96s+,86s+,75s+,64s+,54s"
CALLER = "22-JJ,A2s-AJs,A7o-AQo,K4s-KQs,KTo-KQo,Q7s+,Q9o+,J8s+,J9o+,T7s+,97s+,86s+,75s+,65s,54s"
POT, BET = 400, "25%"  # chips; a limit river with four bets in the pot, and one raise
PATIENT = 40  # stages where it is not time that counts, but whether a model applies
REST = 10  # rivers without a model for which the slow way is tried
PER_TURN = 20  # rivers that are reached from one turn
APPLIES = 0.005  # a model applies where its certified ε is at most so much of the pot
LOW, HIGH = "r f c r", "f r c r"  # bluff-raises with the weakest hands, or with the best that would fold
MODELS = {
    f"{root} / {'weakest' if raises == LOW else 'best folds'}": (root, raises)
    for root in ("b x b x", "b x b x b", "b x b", "x")
    for raises in (LOW, HIGH)
}


@dataclass(frozen=True, eq=False)
class Reached:
    """A river that was reached: the board, what both may hold there, and how it came about."""

    board: tuple[int, ...]
    ranges: tuple[Array, Array]  # float64 [1326] each
    line: str

    def spot(self) -> Spot:
        """The river as a spot with limit betting."""
        held = [Range(weights / weights.max()) for weights in self.ranges]
        return Spot.make(
            board=self.board, pot=POT, stack=10 * POT, oop=held[0], ip=held[1], bets=BET, raises="2x", raise_cap=1,
            name=f"{show_cards(self.board)} after {self.line}",
        )  # fmt: skip


def reached(count: int, seed: int) -> Iterator[Reached]:
    """Rivers to which solved turns lead: boards at random, lines as often as they are played."""
    rng = np.random.default_rng(seed)
    done = 0
    for turn in range(-(-count // PER_TURN)):
        board = tuple(int(c) for c in rng.choice(52, 4, replace=False))
        oop, ip = (OPENER, CALLER) if turn % 2 else (CALLER, OPENER)
        menu = {"turn": {"bet": "60%", "raise": "3x"}, "river": {"bet": "75%", "raise": "a"}}
        spot = Spot.make(board=board, pot=100, stack=400, oop=oop, ip=ip, bets=menu, raise_cap=1)
        played = solve(spot, until=1.0).strategy
        assert isinstance(played, Solution)
        lines = list(_lines(spot, 0, ""))
        weights = np.array([np.prod([r.sum() for r in played[line].reach]) for line in lines])
        free = [c for c in range(52) if c not in board]
        for _ in range(min(PER_TURN, count - done)):
            line = lines[rng.choice(len(lines), p=weights / weights.sum())]
            card = int(rng.choice(free))
            yield Reached((*board, card), played[f"{line}/{show_cards((card,))}"].reach, line)
            done += 1


def _lines(spot: Spot, node: int, line: str) -> Iterator[str]:
    """Lines that end with a deal."""
    betting = spot.betting
    if betting.actor[node] == CHANCE:
        yield line
    elif betting.actor[node] >= 0:
        for child in betting.children(node):
            yield from _lines(spot, child, f"{line}-{betting.label[child]}" if line else betting.label[child])


def player(betting: Betting) -> RiverPlayer:
    """The models with their thresholds for equal distributions."""
    game = betting.game(uniform())
    reading = read(game, 60)
    found = []
    for name, (root, raises) in MODELS.items():
        bands = {"root": root, "x": "b x b", "x-b": raises, "x-b-r": "f c", "b": raises, "b-r": "f c"}
        answer = solve_model(game, Model.make(game, bands, name=name), reading=reading)
        assert answer.profile is not None
        found.append((answer.model, answer.profile.cuts))
    return RiverPlayer(betting, found)


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
    to_exact: float  # what the threshold player wins from the exact solution
    to_bucketed: float
    seconds: tuple[float, float, float]  # threshold player; exact to 0.5 %, with its tree; one iteration on ranks


def measure(river: Reached, us: RiverPlayer) -> Figures:
    """All figures of one river."""
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
    return Figures(
        each,
        exploited(thresholds),
        exploited(solution(tree, ranks, us.betting, many)),
        exploited(rough),
        duel(tree, thresholds, fine),
        duel(tree, thresholds, rough),
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


def run(full: bool, seed: int) -> Report:
    """A thousand rivers at full size."""
    count = 1000 if full else 100
    rivers = list(reached(count, seed))
    us = player(Betting.of(rivers[0].spot()))
    measure(rivers[0], us)  # compiles
    found = [measure(river, us) for river in rivers]
    epsilon = np.array([f.epsilon for f in found])
    names = [model.name for model in us.models]
    rows = []
    for size in (1, 2, 3, len(names)):
        share, some = cover(epsilon, size)
        which = ", ".join(names[n] for n in some) if size < len(names) else "all"
        rows.append(new(f"rivers to which one of the best {size} models applies", share, note=which))
    rows.append(finding("a third model is needed", 1.0, float(cover(epsilon, 3)[0] > cover(epsilon, 2)[0])))
    rest = [river for river, row in zip(rivers, epsilon, strict=True) if row.min() > APPLIES][:REST]
    if rest:
        share = sum(proposed(river, us.betting) for river in rest) / len(rest)
        rows.append(
            new("of the rest, solved by models read off their own game in steps", share, note=f"of {len(rest)}")
        )
    for number, name in enumerate(names):
        share = float((epsilon[:, number] <= APPLIES).mean())
        rows.append(new(f"applies: {name}", share, note="P0 first to act / bluff-raises"))
    for name, values, note in (
        ("loss of the threshold player, % of pot", [f.loss for f in found], "exploitability in the river as it is"),
        ("loss of ranks without card removal, % of pot", [f.floor for f in found], "1,000 iterations of CFR+ on ranks"),
        ("loss of ranks in equal time, % of pot", [f.bucketed for f in found], "every rank a bucket"),
        ("against the exact solution, % of pot a hand", [f.to_exact for f in found], "to 0.05 %, seats exchanged"),
        ("against ranks in equal time, % of pot a hand", [f.to_bucketed for f in found], "seats exchanged"),
    ):
        rows.append(new(name, *_mean(values), null=0.0, note=note))
    for name, column in (("thresholds, ms a river", 0), ("exact to 0.5 %, ms a river, with its tree", 1)):
        spent = 1e3 * np.array([f.seconds[column] for f in found])
        rows.append(new(name, float(np.median(spent)), note=f"of one core, median; mean {spent.mean():.2g}"))
    lines = sorted({river.line for river in rivers})
    return Report(
        tuple(rows),
        (
            f"{count} rivers to which {-(-count // PER_TURN)} solved turns lead, lines as often as they are played "
            f"({', '.join(lines)}); both ranges by Bayes; then a limit river: {BET} of the pot, one raise.",
            f"A model applies where its certified epsilon is at most {100 * APPLIES:g} % of the pot with independent "
            "ranks. The proposal says that three models cover all rivers and no two do, without a figure or a tolerance.",
            "The threshold player takes the first model within 0.1 %, else the best.",
        ),
    )


EXPERIMENT = Experiment(
    "continuous-holdem-rivers",
    "Rivers of hold'em by thresholds",
    "Ganzfried, thesis proposal, section 2.3",
    "60 s",
    "8 min",
    run,
)
