"""CS and PCS on limit hold'em with percentile buckets: exploitability in the abstract game against time, by buckets.

Johanson et al. 2012, Figure 3. Four rounds, four bets each; n buckets of E[HS²] on each street within those of the street
before: 3.6, 23.6, 57.3 and 118.7 million information sets for n = 5, 8, 10 and 12. Best responses are those of players who
see buckets, from joint counts of bucket sequences.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, load_abstraction
from riverboat.abstraction.cards.perfect_recall import percentile_abstraction
from riverboat.core.cache import folder
from riverboat.core.errors import RiverboatError
from riverboat.games.boards.full_holdem import holdem
from riverboat.games.holdem.action_tree import ActionTree, compile_actions
from riverboat.papers.framework import Curve, Experiment, Report
from riverboat.papers.pieces import Pieces
from riverboat.papers.public_chance_sampling.class_game import ClassGame, class_quality
from riverboat.papers.public_chance_sampling.curves import (
    Check,
    checks_of,
    claims,
    curves_of,
    doublings,
    piece,
    rows_of,
)
from riverboat.papers.public_chance_sampling.joint_counts import drawn_boards, joint_game
from riverboat.papers.rows import Explained, Row, finding, new, printed
from riverboat.solvers.mccfr.samplers import make_blueprint
from riverboat.solvers.mccfr.trainer import Blueprint

SAMPLERS = {"chance": "CS", "pcs": "PCS"}
MILLIONS = {5: 3.6, 8: 23.6, 10: 57.3, 12: 118.6}
CUT_OFF = Explained(118.671936, "118,671,936: cut off, not rounded", within=0.01)
BOARDS = {False: 1500, True: 5000}  # that joint counts are taken from; with `full` or without
SECONDS, FIRST = {False: 26, True: 64}, {False: 13.0, True: 32.0}  # of a run, and to its first check
VERSION = 1  # of what pieces hold


def cards_of(n: int) -> CardAbstraction:
    """The buckets, from the cache where they are there: the first time takes minutes."""
    place: Path = folder() / "reproduce" / f"percentile-square-{n}-1"
    try:
        return load_abstraction(place)
    except (OSError, RiverboatError):
        made = percentile_abstraction(n, "square", threads=2)
        place.parent.mkdir(parents=True, exist_ok=True)
        made.save(place)
        return made


def exploitability(game: ClassGame, solver: Blueprint) -> float:
    """In the abstract game, in mbb a hand."""
    tables = [solver.tables.strategies(street) for street in range(game.tree.rules.rounds)]
    return 1000 * class_quality(game, tables, self_play=False).exploitability / game.tree.rules.big_blind


def trained(
    tree: ActionTree,
    prepared: Callable[[], tuple[CardAbstraction, ClassGame]],
    traversal: str,
    seconds: float,
    checks: int,
    seed: int,
) -> list[Check]:
    """One run with its checks."""
    cards, game = prepared()
    make_blueprint(tree, cards, traversal).step(1)  # compiles
    solver = make_blueprint(tree, cards, traversal, seed=seed)
    return [
        Check(spent, solver.iterations, solver.updates, exploitability(game, solver))
        for spent in doublings(solver.step, lambda: solver.iterations, seconds, checks)
    ]


def size_rows(tree: ActionTree) -> list[Row]:
    """Information sets of all four abstract games."""
    decisions = [int(((tree.actor >= 0) & (tree.street == street)).sum()) for street in range(4)]
    rows = []
    for n, million in MILLIONS.items():
        count = sum(d * n ** (street + 1) for street, d in enumerate(decisions))
        why = CUT_OFF if n == 12 else None
        rows.append(printed(f"n = {n}: information sets, millions", million, count / 1e6, digits=1, explained=why))
    return rows


def run(full: bool, seed: int, seconds: int = 0, boards: int = 0, part: int = 0) -> Report:
    """Numbers of buckets, two or with `full` four; `seconds` for each run, from so many `boards`."""
    tree = compile_actions(holdem("4-4").rules)
    most, buckets = float(seconds or SECONDS[full]), (5, 8, 10, 12) if full else (5, 8)
    counted, checks = boards or BOARDS[full], checks_of(most, FIRST[full])
    pieces = Pieces("pcs-figure-3", f"{VERSION} {most:g} {checks} {counted} {seed}", keep=full, part=part)
    rows, curves, shares = size_rows(tree), [], {}
    for n in buckets:
        prepared = cache(partial(_prepared, tree, n, counted, seed))
        made = {
            name: piece(pieces, f"{n}-{name}", partial(trained, tree, prepared, traversal, most, checks, seed))
            for traversal, name in SAMPLERS.items()
        }
        runs = {name: [run] for name, run in made.items() if run is not None}
        rows += [new(f"n = {n}: {row.name}", row.ours, note=row.note) for row in rows_of(runs, "mbb a hand")]
        if len(runs) == len(SAMPLERS):
            shares[n] = runs["PCS"][0][-1].figure / runs["CS"][0][-1].figure
            rows.append(new(f"n = {n}: PCS at the end, shares of CS", shares[n]))
            rows += [row for row in claims(runs, f"n = {n}", "PCS", ("CS",)) if row.kind == "new"]
        curves += curves_of(runs, f"percentile {n}: exploitability in the abstract game, mbb a hand, against seconds")
    few, many = min(shares, default=0), max(shares, default=0)
    if few < many:
        name = f"PCS gains on CS as buckets grow: share of CS with {many} buckets, shares of that with {few}"
        rows.append(finding(name, 1.0, shares[many] / shares[few], "<="))
    notes = (
        "Limit hold'em, four rounds. Exploitability in the abstract game, in mbb a hand: responders see buckets as well. "
        f"Joint counts are of {counted:,} boards with all their pairs of hands, {counted * 1081 * 990:.2g} in all: "
        "best responses fit their noise a little, so that figures are rather too high than too low, for both alike.",
        "Vanilla CFR; time is that of one core, without the measuring. The paper finds that CS is faster with 5 buckets and "
        "that PCS overtakes it as buckets grow. PCS draws boards in blocks of 64, some 12 s each: so its checks come late.",
        f"{most:g} s for each run. {pieces.note}",
    )
    return Report(tuple(rows), notes, tuple[Curve, ...](curves), log=True)


def _prepared(tree: ActionTree, n: int, boards: int, seed: int) -> tuple[CardAbstraction, ClassGame]:
    cards = cards_of(n)
    return cards, joint_game(tree, cards, drawn_boards(tree, boards, seed))


EXPERIMENT = Experiment(
    "pcs-figure-3",
    "CS and PCS on limit hold'em with percentile buckets: the abstract game against time",
    "Johanson, Bard, Lanctot, Gibson & Bowling 2012, Figure 3",
    "5 min",
    "50 min",
    run,
    ("seconds", "boards", "part"),
)
