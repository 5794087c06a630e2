"""`riverboat icm` and `riverboat pushfold`: what stacks are worth, and who goes all-in with what."""

from __future__ import annotations

import re
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from riverboat.cards.grid import CLASS_NAMES, Grid
from riverboat.cli.progress import Bar
from riverboat.cli.terminal import emit, plain_console, say
from riverboat.core import atomic_io
from riverboat.core.errors import InputError, shown
from riverboat.core.tables import FIGURE, Column, ReportTable
from riverboat.tournaments.icm import ICM
from riverboat.tournaments.push_fold import MOST

MOST_SHOWN = 9  # players, of tables of each against each
EXACT_CUBE = 3  # players whose deals come from the table of three hands alone
_UNTIL = {2: 1e-4, 3: 0.01, MOST: 0.1}  # ε by number of players, where none is asked for


def numbers(text: str, what: str) -> tuple[float, ...]:
    """`10,10,15` as numbers."""
    values = []
    for place, part in enumerate(text.split(","), 1):
        if not re.fullmatch(r"\s*\d+(\.\d+)?\s*", part, re.ASCII):
            raise InputError(f"{what} {shown(text)}: number {place}, {shown(part)}: write numbers such as 10,10,15")
        values.append(float(part))
    return tuple(values)


def icm(stacks: str, payouts: str, json: bool) -> None:
    """Values, places, bubble factors and call-off equities."""
    model = ICM(numbers(stacks, "--stacks"), numbers(payouts, "--payouts"))
    players = range(len(model.stacks))
    small = len(players) <= MOST_SHOWN
    each = [[(i, j) for j in players] for i in players] if small else []
    factors = [[None if i == j else _known(model.bubble_factor(i, j)) for i, j in row] for row in each]
    calls = [[None if i == j else model.call_off(i, j) for i, j in row] for row in each]
    total = sum(model.payouts)
    if json:
        emit(
            {
                "stacks": list(model.stacks),
                "payouts": list(model.payouts),
                "values": model.values.tolist(),
                "unit": "of the payouts",
                "values_are": "exact in the model of Malmuth and Harville",
                "places": model.places.tolist(),
                "bubble_factors": factors,
                "call_off_equities": calls,
            }
        )
        return
    paid = range(len(model.payouts))
    columns = (Column("player"), *(Column(n, FIGURE) for n in ("stack", "chips", "value", "prizes")))
    columns += tuple(Column(f"place {k + 1}", FIGURE, rank=1) for k in paid)
    rows = []
    for i in players:
        shares = [model.stacks[i] / sum(model.stacks), model.values[i] / total if total else 0.0]
        stack = (f"{model.stacks[i]:g}", f"{shares[0]:.2%}", f"{model.values[i]:.4g}", f"{shares[1]:.2%}")
        rows.append((str(i + 1), *stack, *(f"{model.places[i, k]:.2%}" for k in paid)))
    console = plain_console()
    console.print(ReportTable("", columns, tuple(rows)))
    if small and len(players) > 1:
        heads = (Column("all-in"), *(Column(f"against {j + 1}", FIGURE) for j in players))
        for title, table, form in (("bubble factors", factors, "{:.3f}"), ("wins needed to call", calls, "{:.1%}")):
            lines = tuple(
                (str(i + 1), *("–" if x is None else form.format(x) for x in row)) for i, row in enumerate(table)
            )
            console.print(ReportTable(title, heads, lines))


def _known(factor: float) -> float | None:
    """None where nothing can be won."""
    return factor if isfinite(factor) else None


def pushfold(
    stacks: str,
    blinds: str,
    ante: float,
    payouts: str | None,
    method: str,
    iterations: int,
    until: float | None,
    line: str | None,
    threads: int,
    seed: int,
    plot: Path | None,
    csv: Path | None,
    json: bool,
) -> bool:
    """Solve a spot; true when ε is small enough."""
    from riverboat.tournaments.equilibrium import game_of, share_of_hands, solve
    from riverboat.tournaments.many_players import MOST_IN, Ring
    from riverboat.tournaments.push_fold import PushFold
    from riverboat.tournaments.showdown_orders import three_way, two_way

    small, big = _pair(numbers(blinds, "--blinds"), blinds)
    prizes = None if payouts is None else numbers(payouts, "--payouts")
    spot = PushFold(numbers(stacks, "--stacks"), (small, big), ante, prizes)
    if line is not None and (line not in spot.lines or (spot.players > EXACT_CUBE and line.count("J") >= MOST_IN)):
        some = ", ".join(shown(known) for known in spot.lines[:6])
        raise InputError(f"--line {shown(line)}: nobody decides there; lines are J and F by player, such as {some}")
    if plot is not None:
        atomic_io.check_picture(plot)
        if line is None:
            raise InputError("--plot: say which decision with --line, such as --line F")
    if until is not None and not until >= 0:
        raise InputError(f"--until {until}: give % of the prizes or of the big blind, such as 0.1")
    if until is None:
        until = _UNTIL.get(spot.players, _UNTIL[MOST])
    goal = until * (sum(prizes) / 100 if prizes is not None else big / 100)
    with Bar("equities, once") as bar:
        (two_way if spot.players == 2 else three_way)(threads, bar)
    game = game_of(spot, seed, threads)
    with Bar("push or fold") as bar:
        solution = solve(game, method, iterations, goal, lambda t, epsilon: bar(min(1.0, goal / max(epsilon, 1e-300))))
    unit = spot.unit
    shares = share_of_hands(solution.strategy)
    rows = [(known, spot.positions[len(known)], float(shares[k])) for known, k in game.lines.items()]
    if csv is not None:
        write_csv(csv, solution.strategy, list(game.lines))
        say(f"table: {csv}")
    if line is not None:
        grid = grid_of(solution.strategy[game.lines[line]], f"{spot.positions[len(line)]} {said(line)}")
        if plot is not None:
            grid.save(plot)
            say(f"picture: {plot}")
    sampled = isinstance(game, Ring)
    if json:
        facts: dict[str, Any] = {
            "stacks": list(spot.stacks), "blinds": [small, big], "ante": ante, "payouts": prizes,
            "positions": list(spot.positions), "unit": unit, "method": method, "iterations": solution.iterations,
            "values": solution.values.tolist(), "gains": solution.gains.tolist(), "epsilon": solution.epsilon,
            "epsilon_is": "exact in the model: showdowns of four are sampled" if sampled else "exact",
            "seed": seed if sampled else None,
            "decisions": [
                {"line": known, "position": position, "hands_percent": 100 * share,
                 "all_in": dict(zip(CLASS_NAMES, solution.strategy[game.lines[known]].tolist(), strict=True))}
                for known, position, share in rows
            ],
        }  # fmt: skip
        emit(facts)
        return solution.epsilon <= goal
    console = plain_console()
    shown_rows = [row for row in rows if len(rows) <= 64 or row[0].count("J") <= 1]
    columns = (Column("line"), Column("player"), Column("move"), Column("% of hands", FIGURE))
    body = tuple(
        (known or "–", who, "call" if "J" in known else "jam", f"{100 * share:.1f}") for known, who, share in shown_rows
    )
    console.print(ReportTable("", columns, body))
    if line is not None:
        console.print(grid)
    values = ", ".join(f"{who} {value:.4g}" for who, value in zip(spot.positions, solution.values, strict=True))
    console.print(f"values {values} {unit}", highlight=False)
    how = "exact in the model; showdowns of four are sampled" if sampled else "exact"
    console.print(
        f"ε {solution.epsilon:.3g} {unit} ({how}), {method}, {solution.iterations} iterations", highlight=False
    )
    return solution.epsilon <= goal


def _pair(pair: tuple[float, ...], text: str) -> tuple[float, float]:
    if len(pair) != 2:
        raise InputError(f"--blinds {shown(text)}: give the small and the big one, such as 0.5,1")
    return pair[0], pair[1]


def said(line: str) -> str:
    """A line in words."""
    jams = line.count("J")
    return "first in" if not jams else f"behind {jams} all-in{'s' * (jams > 1)}"


def grid_of(jam: np.ndarray[Any, Any], title: str) -> Grid:
    """A decision as a grid."""
    square = jam.reshape(13, 13)
    return Grid.actions({"fold": 1.0 - square, "all-in": square}, title=title)


def write_csv(path: Path, strategy: np.ndarray[Any, Any], lines: list[str]) -> None:
    """All decisions, a row for each."""
    rows = [",".join(("line", *CLASS_NAMES))]
    rows += [",".join((line, *(f"{x:.6g}" for x in strategy[k]))) for k, line in enumerate(lines)]
    atomic_io.write_text(path, "\n".join(rows) + "\n")
