"""Depth-limited search on a small deck: exploitability of what it plays, with exits valued in four ways at equal time.

The game is no-limit hold'em with 15 cards, 15 big blinds deep. A blueprint of three percentile buckets for each bucket of the
street before is trained; on some flops both seats search. Everything that follows is small enough to be walked, so that best
responses are exact, as is what the searched street wins of the blueprint.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np

from riverboat.abstraction.perfect_recall import percentile_abstraction
from riverboat.arrays import Array
from riverboat.blas import one_thread
from riverboat.cards.dealing import without_shared
from riverboat.cards.deck import HANDS
from riverboat.cards.notation import show_cards
from riverboat.endgame.leaf_kinds import FixedLeaves, Learnt, LearntLeaves, PairEquities, features
from riverboat.endgame.leaf_rollouts import CONTINUATIONS, SHOWN, Exit, Rollouts, groups_of
from riverboat.endgame.limited_quality import Flop
from riverboat.endgame.street_game import Beside, Leaves, StreetSolver, goes_on
from riverboat.games.acpc import Rules
from riverboat.games.action_tree import compile_actions
from riverboat.games.menus import parse_menu
from riverboat.reproduce.framework import Experiment, Report
from riverboat.reproduce.rows import Row, finding, new
from riverboat.solving.blueprint import Blueprint
from riverboat.solving.boards import STAKES_SCHEDULE, step_rows
from riverboat.strategy.blueprint import BlueprintStrategy
from riverboat.strategy.blueprint_game import line_game
from riverboat.trees.boards import BoardTree
from riverboat.walks.board_walk import BoardWalker
from riverboat.walks.tables import table_format

GAME = Rules(blinds=(100, 50), stacks=(1_500, 1_500), board=(0, 3, 1, 1), ranks=5, suits=3, name="15 cards")
MENU = parse_menu('preflop = ["2.5x", "a"]\nflop = ["100%, a", "a"]\nmost_raises = [2, 2, 2, 2]')
LINES = ("cc/", "cr250c/")
SECONDS = 0.25  # of a processor for a searched street
LEARNT_FROM = 24  # solved subgames
DEALS = 400_000  # of the blueprint's training
SAMPLED = 24  # runouts, with one continuation four times as many
FULL_ITERATIONS = 150


def blueprint(deals: int, seed: int) -> BlueprintStrategy:
    """A coarse blueprint of the small game."""
    tree = compile_actions(GAME, MENU)
    cards = percentile_abstraction(3, "square", GAME.deck, GAME.board[1:])
    solver = Blueprint(tree, cards, seed=seed)
    solver.step(deals)
    tables = tuple(solver.tables.strategies(street) for street in range(GAME.rounds))
    return BlueprintStrategy(GAME, MENU, tree, cards, tables, {"iterations": solver.iterations})


def exits(flop: Flop) -> list[Exit]:
    """Where the street ends; bets are all the blueprint's own."""
    out = []
    for node in flop.street.exits:
        state = flop.street.states[node]
        place = flop.strategy.tree.find(state.next_street().line) if goes_on(state) else SHOWN
        out.append(Exit(place, float(state.pot)))
    return out


# --- four ways ------------------------------------------------------------------------------------


def rollouts(flop: Flop, seat: int, ways: tuple[str, ...], runouts: int | None, seed: int = 0) -> Rollouts:
    """Exits by rollouts; on so small a deck each hand is a group."""
    groups = groups_of(flop.strategy, flop.board, flop.hands, 1)
    return Rollouts.draw(
        flop.strategy, exits(flop), flop.board, flop.hands, seat, groups=groups, runouts=runouts, ways=ways, seed=seed
    )


def from_table(flop: Flop, seat: int) -> FixedLeaves:
    """A table from the blueprint: what hands are worth at exits when it plays itself."""
    all_out = rollouts(flop, seat, ("blueprint",), 4 * SAMPLED)
    solver = StreetSolver(flop.street, flop.hands, flop.ranges, all_out, seat)
    reach = solver.reach(flop.blueprint_play())
    both = np.stack([reach[node] for node in flop.street.exits], axis=1)
    return FixedLeaves.of(all_out, flop.hands, both if seat == 0 else both[::-1])


def from_model(model: Learnt, flop: Flop, seat: int) -> LearntLeaves:
    """A learnt value."""
    ends = exits(flop)
    shown = next(k for k, end in enumerate(ends) if end.node == SHOWN)
    pairs = PairEquities.of(rollouts(flop, seat, ("blueprint",), 4 * SAMPLED), shown)
    states = [flop.street.states[node] for node in flop.street.exits]
    stacks = np.array([min(s.behind) / s.pot if goes_on(s) else 0.0 for s in states])
    return LearntLeaves(model, pairs, flop.hands, np.array([end.pot for end in ends]), stacks, seat)


def learn(strategy: BlueprintStrategy, count: int, seed: int) -> Learnt:
    """Solve what follows some exits for ranges at random, and fit what hands are worth there."""
    rng, inputs, targets, weights = np.random.default_rng(seed), [], [], []
    for _ in range(count):
        flop = Flop.of(strategy, LINES[int(rng.integers(len(LINES)))], _board(rng))
        ends = exits(flop)
        going = [k for k, end in enumerate(ends) if end.node != SHOWN]
        end = ends[going[int(rng.integers(len(going)))]]
        ranges = np.zeros((2, HANDS))
        ranges[:, flop.hands] = rng.random((2, len(flop.hands))) ** rng.uniform(0.5, 4.0, (2, 1))
        game = line_game(strategy, end.node, flop.board, ranges)
        walker = BoardWalker.learner(BoardTree(game), table_format("float32"), stakes=STAKES_SCHEDULE.stakes)
        walker.learn(step_rows(STAKES_SCHEDULE, 0, 0.0, FULL_ITERATIONS // 2)[0])
        pairs = PairEquities.of(rollouts(flop, 1, ("blueprint",), 4 * SAMPLED), len(ends) - 1)
        stack = (GAME.stack - end.pot / 2) / end.pot
        for seat in (0, 1):
            value = walker.evaluate(seat)[0][walker.tree.row_of[0, seat][flop.hands]]
            met = without_shared(ranges[1 - seat])[flop.hands]
            apart = Beside(flop.hands).apart
            share = pairs.share if seat == 0 else 1.0 - pairs.share.T
            equity = (share * apart) @ ranges[1 - seat][flop.hands] / met
            held = ranges[seat][flop.hands] * met
            mean = np.array((held * equity).sum() / held.sum())
            inputs.append(features(equity, mean, np.array(stack), float(seat == 0)))
            targets.append(value / met / end.pot)
            weights.append(held / held.sum())
    return Learnt.fit(inputs, targets, weights)


def _board(rng: np.random.Generator) -> tuple[int, ...]:
    return tuple(int(c) for c in np.sort(rng.choice(GAME.deck.cards, 3, replace=False)))


# --- the comparison ---------------------------------------------------------------------------------


def searched(flop: Flop, leaves: Callable[[Flop, int], Leaves], seconds: float | None) -> list[dict[int, Array]]:
    """The street of each seat: values and iterations take so much of a processor together, or as many as it takes."""
    plays = []
    for seat in (0, 1):
        began = time.thread_time()
        with one_thread():
            solver = StreetSolver(flop.street, flop.hands, flop.ranges, leaves(flop, seat), seat)
            solver.step(2)
            while solver.iterations < FULL_ITERATIONS if seconds is None else time.thread_time() - began < seconds:
                solver.step(2)
        plays.append(solver.averages()[0])
    return plays


def compare(flops: int, seconds: float, seed: int, deals: int) -> tuple[list[Row], dict[str, list[float]]]:
    """All ways on the same flops."""
    strategy, rng = blueprint(deals, seed), np.random.default_rng([seed, 1])
    model = learn(strategy, LEARNT_FROM, seed)
    ways: dict[str, Callable[[Flop, int], Leaves]] = {
        "table from the blueprint": from_table,
        "simulation": lambda flop, seat: rollouts(flop, seat, ("blueprint",), 4 * SAMPLED),
        "four continuations": lambda flop, seat: rollouts(flop, seat, tuple(CONTINUATIONS), SAMPLED),
        "learnt value": partial(from_model, model),
    }
    figures: dict[str, list[float]] = {}

    def note(name: str, value: float) -> None:
        figures.setdefault(name, []).append(value)

    for number in range(flops):
        flop = Flop.of(strategy, LINES[number % len(LINES)], _board(rng))
        note("blueprint", flop.exploitability(flop.table))
        own = flop.blueprint_play()
        note("blueprint on the flop, then solved", flop.exploitability(flop.nested([own, own], FULL_ITERATIONS)))
        note("all streets solved", flop.exploitability(flop.solved(None, FULL_ITERATIONS)))
        exact = searched(flop, lambda f, seat: rollouts(f, seat, tuple(CONTINUATIONS), None), None)
        note("four continuations, nothing sampled", flop.exploitability(flop.nested(exact, FULL_ITERATIONS)))
        for name, leaves in ways.items():
            plays = searched(flop, leaves, seconds)
            after = flop.nested(plays, FULL_ITERATIONS)
            note(f"{name}", flop.exploitability(after))
            note(f"{name}, then the blueprint", flop.exploitability(flop.played(plays)))
            note(f"{name}: won of the blueprint", flop.earned(after))
    rows = []
    for name, numbers in figures.items():
        half = 1.96 * float(np.std(numbers, ddof=1)) / len(numbers) ** 0.5 if len(numbers) > 1 else 0.0
        mean = float(np.mean(numbers))
        rows.append(new(f"{name}, % of pot", mean, (mean - half, mean + half)))
    return rows, figures


def run(full: bool, seed: int) -> Report:
    """A few flops; with `full` more of them, and more time for each."""
    flops, seconds = (24, 4 * SECONDS) if full else (4, SECONDS)
    rows, figures = compare(flops, seconds, seed, DEALS)
    base, mine = (float(np.mean(figures[name])) for name in ("blueprint", "four continuations"))
    rows.insert(
        0,
        finding(
            "exploitability with four continuations over the blueprint's, at most half", 0.5, mine / base, "<=",
            note="the flop searched, later streets solved for its ranges",
        ),
    )  # fmt: skip
    first = _board(np.random.default_rng([seed, 1]))
    notes = (
        f"15 cards (five ranks, three suits), 15 big blinds; {flops} flops, the first one "
        f"{show_cards(first)}. Exploitability is half of what "
        "both seats could gain by exact best responses from the flop on, where both come with the blueprint's ranges.",
        f"Each searched street takes {seconds:g} s of a processor, values of exits included. Without further "
        "words later streets are solved for the ranges that the "
        "search leads to, as search=flop does at the table; `then the blueprint`: they are left to it.",
        "Won of the blueprint: the mean over both seats, exact: a match without luck. Intervals are over flops.",
        f"The learnt value is a polynomial with 16 weights, fitted to {LEARNT_FROM} subgames that were solved "
        "for random ranges; that time is not counted.",
    )
    return Report(tuple(rows), notes)


EXPERIMENT = Experiment(
    "midgame-leaves",
    "Depth-limited search on a small deck: exits valued in four ways",
    "Brown, Sandholm & Amos 2018, in kind: theirs is heads-up no-limit hold'em",
    "1 min",
    "15 min",
    run,
)
