"""`riverboat solve --boards`: a spot on many boards, and one weighted table of them: one after the other on processors, side
by side on a GPU.

Under `--out DIR`: `boards.jsonl` gets a line for each board that is done, `runs/BOARD` holds the checkpoints of the one
that is not, and `aggregate.csv` and `aggregate.json` the table. `--resume` leaves out what is done.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from riverboat.cards.isomorphism import canonical_boards
from riverboat.cards.notation import parse_board, show_cards
from riverboat.cli.progress import ProgressLine
from riverboat.cli.show.spot import ROOT
from riverboat.cli.solve import solve as solving
from riverboat.cli.solve import spots
from riverboat.cli.solve.options import SolveOptions
from riverboat.cli.terminal import emit, plain_console, say
from riverboat.core import atomic_io
from riverboat.core.errors import CorruptError, GameFileError, InputError
from riverboat.core.schema import Fields
from riverboat.core.tables import CHIPS, COUNT, SHARE, Column, ReportTable
from riverboat.core.text_files import read_text
from riverboat.engines.devices import CPU, CUDA, choose
from riverboat.formats import spot_file
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.results import solve_side_by_side
from riverboat.solvers.result import BEST, Result
from riverboat.strategies import files
from riverboat.strategies.reports import runouts
from riverboat.strategies.reports.node import ALL
from riverboat.strategies.reports.runouts import weighted_means
from riverboat.strategies.solution import Solution

DONE = "boards.jsonl"
TOGETHER = 32  # boards that a GPU is given at a time: as many are lost where a run is stopped
_LINE = re.compile(r"(?P<cards>(?:[2-9TJQKA][cdhs][\s,]*)+?)(?:[\s,:]\s*(?P<weight>[+-]?\d[\d.e+-]*))?", re.IGNORECASE)
_FIGURES = ("ev_oop", "ev_ip", "equity_oop", "equity_ip")


class Board(NamedTuple):
    """A board, and how much it counts."""

    cards: tuple[int, ...]
    weight: float


# --- which boards -----------------------------------------------------------------------------


def read(name: str) -> list[Board]:
    """Boards of a file, one a line with an optional weight behind it; `all` flops; or `sample:N` of them.

    `all` are the 1,755 flops that differ by more than suits, weighted by how many each stands for. `sample:N` walks
    the 22,100 flops in that order in N equal strides, so that a flop comes as often as it stands for others.
    """
    if name == "all":
        cards, times = canonical_boards(3)
        return [Board(tuple(c), float(t)) for c, t in zip(cards.tolist(), times.tolist(), strict=True)]
    if name.startswith("sample:"):
        return _sample(name)
    path = Path(name)
    try:
        lines = read_text(path, "--boards").splitlines()
    except InputError as error:
        raise InputError(f"{error}; name a file with a board a line, all, or sample:25") from None
    boards: dict[frozenset[int], Board] = {}
    for number, line in enumerate(lines, 1):
        text = line.partition("#")[0].strip()
        if text:
            board = _parse(path, number, text)
            if frozenset(board.cards) in boards:
                raise GameFileError(name, number, f"the board {show_cards(board.cards)} is there already")
            boards[frozenset(board.cards)] = board
    if not boards:
        raise InputError(f"--boards {name!r}: no boards in it; write one a line, such as QsJh2h or QsJh2h 12")
    return list(boards.values())


def _sample(name: str) -> list[Board]:
    cards, times = canonical_boards(3)
    text = name.partition(":")[2]
    if not text.isdecimal() or not 1 <= int(text) <= len(cards):
        raise InputError(f"--boards {name!r}: write sample:25, with 1 to {len(cards):,} flops")
    count = int(text)
    places = (np.arange(count) + 0.5) * times.sum() / count
    chosen = np.unique(np.searchsorted(np.cumsum(times), places, "right"), return_counts=True)
    return [Board(tuple(cards[k].tolist()), float(n)) for k, n in zip(*chosen, strict=True)]


def _parse(path: Path, number: int, text: str) -> Board:
    match = _LINE.fullmatch(text)
    if match is None:
        raise GameFileError(str(path), number, f"{text!r}: write a board and its weight, such as QsJh2h 12")
    try:
        cards = parse_board(match["cards"])
        weight = float(match["weight"] or 1)
    except ValueError as error:  # InputError is one
        raise GameFileError(str(path), number, str(error)) from None
    if not 0 < weight < float("inf"):
        raise GameFileError(str(path), number, f"weight {match['weight']}: must be above zero")
    return Board(cards, weight)


def place(spot: Spot, boards: list[Board], line: str = "") -> list[Spot]:
    """The spot on each board; every one is checked, and the line on it, before the first is solved."""
    node, dealt = spot.betting.find(line, spot.joiner, any_card=True)
    if spot.betting.actor[node] < 0:
        raise InputError(f"--line {line!r}: nobody acts there; name a decision, such as {spot.betting.moves(0)[0]}")
    wanted = {card for deal in dealt for card in deal}
    placed = []
    for board in boards:
        if len(board.cards) != len(spot.board):
            raise InputError(
                f"board {show_cards(board.cards)}: {len(board.cards)} cards, and the spot begins with {len(spot.board)}"
            )
        if wanted & set(board.cards):
            there = show_cards(wanted & set(board.cards))
            raise InputError(
                f"board {show_cards(board.cards)}: --line {line!r} deals {there}, which lies there already"
            )
        placed.append(replace(spot, board=board.cards, name=f"{spot.name} {show_cards(board.cards)}"))
    return placed


# --- solving them -----------------------------------------------------------------------------


def solve(
    spot: Spot, boards: list[Board], schedule: str | None, options: SolveOptions, *, keep: bool, line: str = ""
) -> tuple[list[dict[str, Any]], ReportTable]:
    """Solve them; what is done already under `--out` is not done again."""
    placed, out = place(spot, boards, line), options.out
    done = _done(out, resume=options.resume) if out is not None else {}
    rows: list[dict[str, Any]] = []
    marks = [_mark(here, schedule, options, line) for here in placed]
    for board, mark in zip(boards, marks, strict=True):
        name = show_cards(board.cards)
        if name in done and done[name]["mark"] != mark:
            raise InputError(f"{out}: {name} was solved there from another spot or with other options")
        rows.append(done.get(name, {"board": name}) | {"weight": board.weight, "mark": mark})
    todo = [k for k, row in enumerate(rows) if row["board"] not in done]
    together = not keep and _on_device(options)
    solved = (_side_by_side if together else _one_by_one)([placed[k] for k in todo], schedule, options)
    for k, (result, facts) in zip(todo, solved, strict=True):
        rows[k] |= facts
        if line:
            assert isinstance(result.strategy, Solution)
            with ProgressLine(f"figures of {line}"):
                rows[k]["node"] = at_line(result.strategy, line)
        if out is not None:
            atomic_io.append(out / DONE, json.dumps(rows[k]))
            if not keep:
                shutil.rmtree(out / "runs" / rows[k]["board"], ignore_errors=together)
    table = aggregate(rows, spot.name, line)
    if out is not None:
        atomic_io.write_text(out / "aggregate.csv", table.to_csv())
        atomic_io.write_text(out / "aggregate.json", json.dumps(to_dict(rows, table), indent=1) + "\n")
    return rows, table


def _one_by_one(
    placed: list[Spot], schedule: str | None, options: SolveOptions
) -> Iterator[tuple[Result, dict[str, Any]]]:
    unsaved = solving.Unsaved()
    for number, here in enumerate(placed, 1):
        name = show_cards(here.board)
        say(f"board {number} of {len(placed)}: {name}")
        folder = None if options.out is None else options.out / "runs" / name
        result, facts = spots.solve(here, schedule, replace(options, out=folder), unsaved)
        solving.finished([], [facts["reason"]], None, unsaved)
        yield result, facts


def _on_device(options: SolveOptions) -> bool:
    """Whether boards can be solved side by side on a GPU: where each needs neither a clock nor a log of its own."""
    plain = options.method == "cfr" and options.traversal == "full" and options.cards is None and options.answer != BEST
    own = (options.time, options.memory, options.log, options.check_every)
    return plain and all(each is None for each in own) and choose(options.device) != CPU


def _side_by_side(
    placed: list[Spot], schedule: str | None, options: SolveOptions
) -> Iterator[tuple[Result, dict[str, Any]]]:
    if not placed:
        return
    options = options.for_game(placed[0])
    for low in range(0, len(placed), TOGETHER):
        some = placed[low : low + TOGETHER]
        with ProgressLine(f"boards {low + 1:,} to {low + len(some):,} of {len(placed):,}"):
            results = solve_side_by_side(
                some, CUDA, iterations=options.iterations, until=options.target, schedule=schedule, dtype=options.dtype
            )
        for result in results:
            reason = solving.missed(result, options)
            solving.finished([], [reason], None, solving.Unsaved())
            yield result, result.to_dict() | {"reason": reason}


def at_line(solution: Solution, line: str) -> dict[str, Any]:
    """Figures of a node: how often it is played to, frequencies, who acts, EV and equity; with `*` means over the cards."""
    if runouts.stands_for_many(line):
        table = solution.runouts(line)
        means, others = table[ALL], {"card", "chance", "played", *_FIGURES, "eqr_oop", "eqr_ip"}
        moves = {name: means[name] for name in table.names if name not in others}
        one = solution[runouts.lines(solution, line)[0][1]].summary()  # whoever acts, and for what, on every card
        facts = {"line": line, "played": means["played"], "frequencies": moves, "player": one.player, "pot": one.pot}
        return facts | {key: means[key] for key in _FIGURES}
    node = solution[line]
    told = node.summary()
    figures = dict(zip(_FIGURES, (*told.ev, *told.equity), strict=True))
    acts = {"player": told.player, "pot": told.pot}
    return {"line": line, "played": node.played, "frequencies": told.frequencies} | acts | figures


def _mark(spot: Spot, schedule: str | None, options: SolveOptions, line: str) -> str:
    """Tells apart what would give other answers."""
    how = [str(schedule), *map(str, (*options.limits, options.dtype))]
    how += [line] if line else []
    how += [options.answer] if options.answer is not None else []
    return hashlib.sha256("\n".join([spot_file.dumps(spot), *how]).encode()).hexdigest()[:16]


def _done(out: Path, *, resume: bool) -> dict[str, dict[str, Any]]:
    """Boards that are solved already; a torn last line is none."""
    path = out / DONE
    if not path.exists():
        files.check_free(out)
        out.mkdir(parents=True, exist_ok=True)
        return {}
    if not resume:
        raise InputError(f"{out}: holds solved boards already; go on with --resume, or choose another folder")
    whole, _, torn = path.read_text(encoding="utf-8").rpartition("\n")
    if torn:
        atomic_io.write_text(path, f"{whole}\n" if whole else "")
    rows = [_checked(path, number, line) for number, line in enumerate(whole.splitlines(), 1)]
    return {row["board"]: row for row in rows}


def _checked(path: Path, number: int, line: str) -> dict[str, Any]:
    """A line of a board that is done, with all that the table needs."""
    try:
        row = Fields(f"{path}, line {number}", json.loads(line))
    except (ValueError, RecursionError):
        raise CorruptError(f"{path}, line {number}: is no JSON; delete {path} to solve all boards again") from None
    entries = dict(row)
    if "node" in row:  # what a line that is never played earns is not a number
        node = row.table("node")
        if not all(isinstance(node[key], float | int | None) for key in ("played", *_FIGURES)):
            raise CorruptError(f"{node.where}: figures that are no numbers")
    Fields(row.where, {"row": {key: value for key, value in entries.items() if key != "node"}}).plain("row")
    row.text("board")
    row.text("mark")
    row.flag("reached")
    for key in (*_FIGURES, "exploitability_pct"):
        row.number(key)
    for place in (row, node) if "node" in row else (row,):
        frequencies = place.table("frequencies")
        for move in frequencies:
            frequencies.number(move, 0, 1.001)
    return entries


# --- the table --------------------------------------------------------------------------------


def aggregate(solved: list[dict[str, Any]], name: str, line: str = "") -> ReportTable:
    """A row for each board, and the mean of all by their weights: `Σ weight × figure / Σ weight`. At a line, boards count
    as often as it is played on them too.
    """
    places = [row["node"] if line else row for row in solved]
    menus = [list(place["frequencies"]) for place in places]
    if any(a != b for a, b in pairwise(menus)):  # sizes do not depend on the cards
        raise CorruptError(f"{name}: boards of different moves; they were not solved from one spot")
    columns = [Column("board"), Column("weight", COUNT, rank=2)]
    columns += [Column("played", SHARE, rank=2)] if line else []
    columns += [Column(move, SHARE) for move in menus[0]]
    columns += [Column(key, CHIPS, key.replace("ev_", "EV ")) for key in _FIGURES[:2]]
    columns += [Column(key, SHARE, key.replace("_", " "), 1) for key in _FIGURES[2:]]
    columns.append(Column("exploitability_pct", COUNT, "exploitability, % of pot", 3))
    rows = []
    for row, place in zip(solved, places, strict=True):
        often = [place["played"]] if line else []
        figures = *place["frequencies"].values(), *(place[key] for key in _FIGURES)
        rows.append((row["board"], row["weight"], *often, *figures, row["exploitability_pct"]))
    title = f"{name}: {len(solved)} boards" + (f", at {line}" if line else "")
    table = ReportTable(title, tuple(columns), tuple(rows))
    given = [float(row["weight"]) for row in solved]
    means = weighted_means(table, [w * place.get("played", 1.0) for w, place in zip(given, places, strict=True)])
    plain = weighted_means(table, given)
    means |= {key: plain[key] for key in ("played", "exploitability_pct") if key in plain}
    means |= {"board": ALL, "weight": sum(given)}
    return replace(table, rows=(*table.rows, tuple(means[column.name] for column in columns)))


def to_dict(solved: list[dict[str, Any]], table: ReportTable) -> dict[str, Any]:
    """What `--json` prints, and `aggregate.json` holds."""
    rows = [{key: value for key, value in row.items() if key != "mark"} for row in solved]
    return {"boards": rows, "aggregate": table[ALL], "table": list(table)}


def command(
    spot: Spot, name: str, schedule: str | None, options: SolveOptions, *, keep: bool, line: str | None, json: bool
) -> bool:
    """Solve, print, and say whether every board has reached the target."""
    with solving.held(options.out):
        at = "" if line in (None, ROOT) else str(line)
        rows, table = solve(spot, read(name), schedule, options, keep=keep, line=at)
    if json:
        emit(to_dict(rows, table))
    else:
        plain_console().print(table)
        if options.out is not None:
            say(f"written to {options.out / 'aggregate.csv'} and aggregate.json")
    return all(row["reached"] for row in rows)
