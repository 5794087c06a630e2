"""Rhode Island hold'em: GameShrink, sizes of its linear program, and the value of the game.

Gilpin and Sandholm (2005, 2007) solved it by linear programming in a week with 25 gigabytes. Here linear programs solve
small decks, without and with classes, and CFR+ over classes solves the whole deck with a certified interval for its
value. Classes are suit isomorphisms, which are lossless, and those of GameShrink as implemented in
`abstraction.game_shrink`.
"""

from __future__ import annotations

import time
from dataclasses import replace
from math import perm

import numpy as np

from riverboat.abstraction.game_shrink import ShrunkGame, class_matchups, shrink_game, suit_classes
from riverboat.core.arrays import Array
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.games.holdem.rules import PokerRules
from riverboat.games.small.poker import RHODE_ISLAND_ANTE, RHODE_ISLAND_BETS, RhodeIsland, rhode_island
from riverboat.papers.framework import Curve, ExperimentReport, format_notes
from riverboat.papers.public_chance_sampling.class_game import (
    ClassCFR,
    ClassGame,
    ClassSequenceForm,
    class_program_size,
    class_quality,
)
from riverboat.papers.rows import ComparisonRow, finding_row, new_row, printed_row, theorem_row
from riverboat.solvers.exact.lp import solve_lp
from riverboat.solvers.tabular.best_response import Quality
from riverboat.trees.compile import compile_game

SMALL_DECKS = ((3, 2, 1),)  # (ranks, suits, raises per round) of decks that are solved both with and without classes
LARGER_DECKS = ((4, 2, 1), (3, 3, 1), (3, 2, 3))
CLASS_DECKS = ((4, 4, 1), (5, 2, 1))  # decks that are solved with suit classes only
LARGEST_DECKS = ((6, 4, 1),)
CFR_ITERATIONS = 500  # iterations of CFR+ next to the linear programs of small decks
# CFR+ iterations on the whole deck: with the classes of GameShrink, and with suit classes
QUICK_ITERATIONS, FULL_ITERATIONS = (256, 256), (2048, 1024)


def make_class_game(game: RhodeIsland, classes: ShrunkGame) -> ClassGame:
    """Build the class game of a deck: its betting tree, with classes from GameShrink or suit isomorphism as hands."""
    rules = PokerRules(
        limit=True, blinds=(int(RHODE_ISLAND_ANTE),) * 2, raise_sizes=tuple(map(int, RHODE_ISLAND_BETS)),
        most_raises=(int(game.rules.cap or 0),) * 3, first=(0, 0, 0), ranks=game.ranks, suits=game.suits, hole=1,
        board=(0, 1, 1), name=game.name,
    )  # fmt: skip
    return ClassGame(compile_action_tree(rules), classes.parents, *class_matchups(game, classes))


def coarse_labels(fine: ShrunkGame, coarse: ShrunkGame) -> list[Array]:
    """Map every fine class to the coarse class that contains it, by street. int64 [fine classes] each"""
    labels = []
    for fine_labels, coarse_street, count in zip(fine.labels, coarse.labels, fine.counts, strict=True):
        live = fine_labels >= 0
        label = np.zeros(count, np.int64)
        label[fine_labels[live]] = coarse_street[live]
        labels.append(label)
    return labels


def full_game_size(cards: int) -> tuple[int, float]:
    """Return the rows of the sequence-form linear program without abstraction, and the nodes of the game tree.

    Both follow by arithmetic from the number of cards in the deck. In a round each seat has four decisions with ten
    actions in total; seven lines continue and six end with a fold.
    """
    deals = [perm(cards, k) for k in (1, 2, 3)]
    sequences = 1 + sum(10 * 7**k * n for k, n in enumerate(deals))
    infosets = sum(4 * 7**k * n for k, n in enumerate(deals))
    pairs = [perm(cards, k) for k in (2, 3, 4)]
    # Deals of both cards; then in each round 8 decisions, 6 folds, and 7 lines that deal a card or end in a showdown.
    nodes = 1 + cards + sum(7**k * n * (8 + 6 + 7) for k, n in enumerate(pairs))
    return sequences + infosets + 1, float(nodes)


def size_rows(shrunk: ClassGame, suits: ClassGame) -> list[ComparisonRow]:
    """Compare the sizes of the game and of its linear programs with those that Gilpin and Sandholm publish."""
    rows, nodes = full_game_size(52)
    after, lossless = class_program_size(shrunk), class_program_size(suits)
    names = "first", "second", "third"
    return [
        printed_row("rows of the linear program, no abstraction", 91_224_226, rows),
        finding_row("nodes of the game tree, billions", 3.1, nodes / 1e9, ">=", note="published: more than 3.1"),
        *(
            new_row(f"classes of the {name} round", shrunk_count, note=f"suits alone leave {suit_count:,}")
            for name, shrunk_count, suit_count in zip(names, shrunk.counts, suits.counts, strict=True)
        ),
        printed_row("rows of the linear program after GameShrink", 1_237_238, after.rows),
        printed_row("entries of the linear program after GameShrink", 50_428_638, after.entries),
        new_row("rows of the linear program, suits alone", lossless.rows),
        new_row("entries of the linear program, suits alone", lossless.entries),
    ]


def small_deck_rows(ranks: int, suits: int, cap: int) -> list[ComparisonRow]:
    """Compare the value of a small deck by linear programs without classes, with suit classes, and after GameShrink."""
    game = rhode_island(ranks, suits, cap)
    start_time = time.process_time()
    whole = solve_lp(compile_game(game))
    duration = f"{time.process_time() - start_time:.1f} s for the whole game"
    values = []
    for classes in (suit_classes(game), shrink_game(game)):
        class_game = make_class_game(game, classes)
        value = ClassSequenceForm(class_game).quality().value
        values.append((value, f"{class_program_size(class_game).rows:,} rows"))
    (suit_value, rows), (shrunk_value, shrunk_rows) = values
    name, suit_note = deck_name(ranks, suits, cap), f"{rows}; {duration}"
    note = f"{shrunk_rows}; the whole game has {whole.value:.6g}"
    return [
        theorem_row(f"{name} LP, without names of suits", whole.value, suit_value, rounding=1e-6, note=suit_note),
        cfr_row(name, make_class_game(game, suit_classes(game))),
        new_row(f"{name} LP, after GameShrink", shrunk_value, note=note),
    ]


def deck_name(ranks: int, suits: int, cap: int) -> str:
    """Format the start of a deck's row labels, such as `3 ranks, 2 suits, 1 raise: value by`."""
    return f"{ranks} ranks, {suits} suits, {cap} raise{'s' * (cap > 1)}: value by"


def cfr_row(name: str, game: ClassGame) -> ComparisonRow:
    """Solve a class game by CFR+, and return a row with its value and certified interval."""
    solver = ClassCFR(game)
    solver.step(CFR_ITERATIONS)
    return value_row(f"{name} CFR+, without names of suits", solver.quality(), f"{CFR_ITERATIONS:,} iterations")


def class_deck_rows(ranks: int, suits: int, cap: int) -> list[ComparisonRow]:
    """Solve a larger deck over suit classes, by a linear program and by CFR+; return a row with the value of each."""
    game = rhode_island(ranks, suits, cap)
    class_game = make_class_game(game, suit_classes(game))
    size, start_time = class_program_size(class_game), time.process_time()
    exact = ClassSequenceForm(class_game).quality()
    duration = f"{size.rows:,} rows, {size.entries:,} entries, {time.process_time() - start_time:.0f} s"
    name = deck_name(ranks, suits, cap)
    return [value_row(f"{name} LP, without names of suits", exact, duration), cfr_row(name, class_game)]


def train_class_cfr(game: ClassGame, iterations: int) -> tuple[ClassCFR, Curve, str]:
    """Run CFR+ in float32; return the solver, a curve of exploitability measured in float64, and a note on the time."""
    probability, margin = game.joint_probability.astype(np.float32), game.win_margin.astype(np.float32)
    single = replace(game, joint_probability=probability, win_margin=margin)
    solver, seconds, x, y = ClassCFR(single), 0.0, [], []
    for k in range(3, iterations.bit_length()):
        start_time = time.process_time()
        solver.step(2**k - solver.iterations)
        seconds += time.process_time() - start_time
        x.append(float(solver.iterations))
        y.append(class_quality(game, solver.averages(), self_play=False).exploitability)
    name = f"{game.counts[-1]:,} classes"
    panel = "Rhode Island hold'em, CFR+: exploitability in chips a hand against iterations"
    return solver, Curve(name, x, y, panel), f"{iterations:,} iterations, {seconds:.0f} s of one core"


def value_row(name: str, quality: Quality, note: str) -> ComparisonRow:
    """Return a row with the value of the game that a strategy certifies, and the certified interval."""
    return new_row(name, quality.value, quality.interval, note=f"certified; {note}")


def run(full: bool, seed: int) -> ExperimentReport:
    """Compare sizes, solve small decks by linear programs, and solve the whole game by CFR+ over classes."""
    whole = rhode_island()
    coarse_classes, fine_classes = shrink_game(whole), suit_classes(whole)
    shrunk, suits = make_class_game(whole, coarse_classes), make_class_game(whole, fine_classes)
    rows = size_rows(shrunk, suits)
    for deck in SMALL_DECKS + LARGER_DECKS * full:
        rows += small_deck_rows(*deck)
    for deck in CLASS_DECKS + LARGEST_DECKS * full:
        rows += class_deck_rows(*deck)
    coarse, fine = FULL_ITERATIONS if full else QUICK_ITERATIONS
    solver, curve, duration = train_class_cfr(shrunk, coarse)
    inside = class_quality(shrunk, solver.averages())
    labels = coarse_labels(fine_classes, coarse_classes)
    lifted = class_quality(suits, [table[label] for table, label in zip(solver.averages(), labels, strict=True)])
    exact, exact_curve, exact_took = train_class_cfr(suits, fine)
    lossless = class_quality(suits, exact.averages())
    rows += [
        value_row("value to the first player, in the game after GameShrink", inside, duration),
        new_row("exploitability in that game, chips a hand", inside.exploitability),
        new_row("exploitability of the same strategy in the whole game", lifted.exploitability),
        value_row("value to the first player, no loss", lossless, exact_took),
        new_row("exploitability without loss, chips a hand", lossless.exploitability),
    ]
    return ExperimentReport(rows, format_notes("rhode-island"), (curve, exact_curve), log=True)
