"""Solve a spot on many boards and aggregate them in a weighted table.

    solve_boards(spot, "sample:25", until="0.5%", out="runs/boards").table

Boards are solved one after the other on CPUs, and in batches on a GPU. In the folder `out`, `boards.jsonl` gets a line
for each solved board, `runs/BOARD` holds the checkpoints of the current one, and `aggregate.csv` and `aggregate.json`
hold the table. `resume` skips boards that are done.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from riverboat.api.options import parse_seconds, parse_target
from riverboat.api.solve import missed_target_reason, solve
from riverboat.cards.isomorphism import canonical_boards
from riverboat.cards.notation import format_cards, parse_board
from riverboat.core import files as core_files
from riverboat.core.errors import CorruptError, GameFileError, InputError
from riverboat.core.observer import SILENT, Observer
from riverboat.core.schema import FileEntries
from riverboat.core.tables import CHIPS, COUNT, SHARE, ReportColumn, ReportTable
from riverboat.engines.devices import CPU, CUDA, resolve_device
from riverboat.formats import spot_file
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.batches import solve_batch
from riverboat.solvers.result import BEST, Result
from riverboat.solvers.solver_run import SolveLimits, effective_limits
from riverboat.strategies import files
from riverboat.strategies.reports import comparison
from riverboat.strategies.reports.node import MEANS_ROW
from riverboat.strategies.solution import Solution

BOARDS_FILE = "boards.jsonl"
BATCH_SIZE = 32  # boards per GPU batch: a stopped run loses at most this many
_BOARD_LINE = re.compile(
    r"(?P<cards>(?:[2-9TJQKA][cdhs][\s,]*)+?)(?:[\s,:]\s*(?P<weight>[+-]?\d[\d.e+-]*))?", re.IGNORECASE
)
_FIGURES = ("ev_oop", "ev_ip", "equity_oop", "equity_ip")


class WeightedBoard(NamedTuple):
    """A board and its weight."""

    cards: tuple[int, ...]
    weight: float


# --- Sets of boards ---


def read_boards(name: str) -> list[WeightedBoard]:
    """Read boards from a file, one per line with an optional weight; or return `all` flops, or `sample:N` of them.

    `all` are the 1,755 suit-isomorphism classes of flops, weighted by their size. `sample:N` takes N equally spaced
    flops from the 22,100 in that order, so that a class is chosen in proportion to its size.
    """
    if name == "all":
        cards, class_sizes = canonical_boards(3)
        return [WeightedBoard(tuple(c), float(t)) for c, t in zip(cards.tolist(), class_sizes.tolist(), strict=True)]
    if name.startswith("sample:"):
        return _sample_flops(name)
    path = Path(name)
    try:
        lines = core_files.read_text(path, "boards").splitlines()
    except InputError as error:
        raise InputError(f"{error}; name a file with one board per line, all, or sample:25") from None
    boards: dict[frozenset[int], WeightedBoard] = {}
    for number, line in enumerate(lines, 1):
        text = line.partition("#")[0].strip()
        if text:
            board = _parse_board_line(path, number, text)
            if frozenset(board.cards) in boards:
                raise GameFileError(name, number, f"duplicate board {format_cards(board.cards)}")
            boards[frozenset(board.cards)] = board
    if not boards:
        raise InputError(f"boards {name!r}: contains no boards; write one per line, such as QsJh2h or QsJh2h 12")
    return list(boards.values())


def _sample_flops(name: str) -> list[WeightedBoard]:
    cards, class_sizes = canonical_boards(3)
    text = name.partition(":")[2]
    if not text.isdecimal() or not 1 <= int(text) <= len(cards):
        raise InputError(f"boards {name!r}: write sample:25, with 1 to {len(cards):,} flops")
    count = int(text)
    positions = (np.arange(count) + 0.5) * class_sizes.sum() / count
    chosen = np.unique(np.searchsorted(np.cumsum(class_sizes), positions, "right"), return_counts=True)
    return [WeightedBoard(tuple(cards[k].tolist()), float(n)) for k, n in zip(*chosen, strict=True)]


def _parse_board_line(path: Path, number: int, text: str) -> WeightedBoard:
    match = _BOARD_LINE.fullmatch(text)
    if match is None:
        raise GameFileError(str(path), number, f"{text!r}: write a board and its weight, such as QsJh2h 12")
    try:
        cards = parse_board(match["cards"])
        weight = float(match["weight"] or 1)
    except ValueError as error:  # InputError is one
        raise GameFileError(str(path), number, str(error)) from None
    if not 0 < weight < float("inf"):
        raise GameFileError(str(path), number, f"weight {match['weight']}: must be positive")
    return WeightedBoard(cards, weight)


def spots_on_boards(spot: Spot, boards: list[WeightedBoard], line: str = "") -> list[Spot]:
    """Return the spot on each board; all boards and the line are checked before the first is solved."""
    node, dealt = spot.betting.find(line, spot.joiner, any_card=True)
    if spot.betting.actor[node] < 0:
        raise InputError(f"line {line!r}: no player acts there; name a decision, such as {spot.betting.actions(0)[0]}")
    line_cards = {card for deal in dealt for card in deal}
    board_spots = []
    for board in boards:
        name, duplicates = format_cards(board.cards), format_cards(line_cards & set(board.cards))
        if len(board.cards) != len(spot.board):
            raise InputError(f"{name}: has {len(board.cards)} cards, but the spot begins with {len(spot.board)}")
        if duplicates:
            raise InputError(f"{name}: line {line!r} deals {duplicates}, which is already on the board")
        board_spots.append(replace(spot, board=board.cards, name=f"{spot.name} {name}"))
    return board_spots


# --- Solving ---

ROOT = "root"


@dataclass(frozen=True)
class BoardsResult:
    """A spot solved on many boards.

    Attributes
    ----------
    rows
        One row of JSON fields for each board.
    table
        The rows as a table, with the weighted means.
    missed
        Why boards missed their target, one line each.
    """

    rows: list[dict[str, Any]]
    table: ReportTable
    missed: tuple[str, ...] = ()

    @property
    def reached(self) -> bool:
        """Whether every board has reached the target."""
        return all(row["reached"] for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of `--json` and `aggregate.json`."""
        rows = [{key: value for key, value in row.items() if key != "mark"} for row in self.rows]
        return {"boards": rows, "aggregate": self.table[MEANS_ROW], "table": list(self.table)}


def solve_boards(
    spot: Spot,
    boards: str | Sequence[WeightedBoard],
    *,
    schedule: str | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    keep: bool = False,
    line: str = "",
    observer: Observer = SILENT,
    **options: Any,
) -> BoardsResult:
    """Solve a spot on all boards, except those already solved in `out`.

    Parameters
    ----------
    spot
        The spot; its own board is replaced.
    boards
        A file with one board per line, `all`, `sample:25`, or boards with weights.
    schedule
        CFR schedule.
    out
        Folder of the results.
    resume
        Skip boards that are done.
    keep
        Keep every solution under `out`.
    line
        Line to report instead of the root: `b50`, `x-x/*`.
    observer
        Receives sizes, progress and notes.
    **options
        Further options of `rb.solve`, for each board.

    Returns
    -------
    BoardsResult
        The figures of each board and their weighted means.

    Raises
    ------
    InputError
        If a board or the line does not fit the spot, or boards in `out` were solved with other options.

    Examples
    --------
    >>> from riverboat.api.boards import WeightedBoard, solve_boards
    >>> from riverboat.cards.notation import parse_board
    >>> from riverboat.games.spots.spot import Spot
    >>> spot = Spot.make(board="AsKd7c4h2s", pot=2, stack=2, oop="AA", ip="KK", bets="a")
    >>> boards = [WeightedBoard(parse_board(text), 1.0) for text in ("AsKd7c4h2s", "AsKd7c4h2d")]
    >>> solve_boards(spot, boards, iterations=10).table["mean"]["weight"]
    2.0
    """
    if keep and out is None:
        raise InputError("keep needs out=…, the folder of the solutions")
    folder = None if out is None else Path(out)
    with core_files.folder_lock(folder):
        line = "" if line == ROOT else line
        weighted = read_boards(boards) if isinstance(boards, str) else list(boards)
        board_spots = spots_on_boards(spot, weighted, line)
        done = _read_solved_boards(folder, resume=resume) if folder is not None else {}
        rows: list[dict[str, Any]] = []
        requested = _requested_limits(spot, options)
        for board, board_spot in zip(weighted, board_spots, strict=True):
            name = format_cards(board.cards)
            fingerprint = _fingerprint(board_spot, schedule, requested, options, line)
            if name in done and done[name]["mark"] != fingerprint:
                raise InputError(f"{folder}: {name} was solved from another spot or with other options")
            rows.append(done.get(name, {"board": name}) | {"weight": board.weight, "mark": fingerprint})
        todo = [k for k, row in enumerate(rows) if row["board"] not in done]
        in_batches = not keep and _can_batch_on_gpu(options)
        placed = [board_spots[k] for k in todo]
        limits = effective_limits(spot, "cfr", requested)
        if in_batches:
            results = _solve_in_batches(placed, schedule, limits, observer, options.get("dtype"))
        else:
            results = _solve_sequentially(placed, folder, observer, {**options, "schedule": schedule, "resume": resume})
        missed = []
        for k, result in zip(todo, results, strict=True):
            reason = missed_target_reason(result, limits, options.get("until"))
            if reason is not None:
                missed.append(reason)
                observer.note(reason)
            with observer.during("EVs and equities of the root"):
                rows[k] |= result.to_dict() | {"reason": reason}
            if line:
                assert isinstance(result.strategy, Solution)
                with observer.during(f"EVs and frequencies at {line}"):
                    rows[k]["node"] = node_figures(result.strategy, line)
            if folder is not None:
                core_files.append_line(folder / BOARDS_FILE, json.dumps(rows[k]))
                if not keep:
                    shutil.rmtree(folder / "runs" / rows[k]["board"], ignore_errors=in_batches)
        solved = BoardsResult(rows, aggregate_table(rows, spot.name, line), tuple(missed))
        if folder is not None:
            core_files.write_text(folder / "aggregate.csv", solved.table.to_csv())
            core_files.write_text(folder / "aggregate.json", json.dumps(solved.to_dict(), indent=1) + "\n")
        return solved


def _requested_limits(spot: Spot, options: Mapping[str, Any]) -> SolveLimits:
    time, until = options.get("time"), options.get("until")
    return SolveLimits(
        options.get("iterations"),
        None if time is None else parse_seconds(time),
        None if until is None else parse_target(until, spot.scale[0]),
    )


def _solve_sequentially(
    placed: list[Spot], out: Path | None, observer: Observer, options: Mapping[str, Any]
) -> Iterator[Result]:
    for number, here in enumerate(placed, 1):
        name = format_cards(here.board)
        observer.note(f"board {number} of {len(placed)}: {name}")
        folder = None if out is None else out / "runs" / name
        yield solve(here, out=folder, observer=observer, **options)


def _can_batch_on_gpu(options: Mapping[str, Any]) -> bool:
    """Return whether boards can be solved in batches on a GPU: none needs its own time limit or log."""
    if options.get("traversal", "full") != "full" or options.get("cards") is not None or options.get("answer") == BEST:
        return False
    per_board = ("time", "memory", "log", "check_every")
    return all(options.get(each) is None for each in per_board) and resolve_device(options.get("device", CPU)) != CPU


def _solve_in_batches(
    placed: list[Spot], schedule: str | None, limits: SolveLimits, observer: Observer, dtype: str | None
) -> Iterator[Result]:
    iterations, _, until = limits
    for low in range(0, len(placed), BATCH_SIZE):
        batch = placed[low : low + BATCH_SIZE]
        with observer.during(f"boards {low + 1:,} to {low + len(batch):,} of {len(placed):,}"):
            yield from solve_batch(batch, CUDA, iterations=iterations, until=until, schedule=schedule, dtype=dtype)


def node_figures(solution: Solution, line: str) -> dict[str, Any]:
    """Return reach, frequencies, player, EV and equity of a node; with `*` means over the cards."""
    if comparison.has_wildcard(line):
        table = solution.runouts(line)
        means, other_columns = table[MEANS_ROW], {"card", "chance", "played", *_FIGURES, "eqr_oop", "eqr_ip"}
        moves: Mapping[str, Any] = {name: means[name] for name in table.names if name not in other_columns}
        example = comparison.expand_line(solution, line)[0].summary()  # player and pot are the same for every card
        played, figures = means["played"], {key: means[key] for key in _FIGURES}
    else:
        node = solution[line]
        example = node.summary()
        played, moves = node.reach_probability, example.frequencies
        figures = dict(zip(_FIGURES, (*example.ev, *example.equity), strict=True))
    acts = {"player": example.player, "pot": example.pot}
    return {"line": line, "played": played, "frequencies": moves} | acts | figures


def _fingerprint(spot: Spot, schedule: str | None, limits: SolveLimits, options: Mapping[str, Any], line: str) -> str:
    """Return a hash of everything that determines the solution of a spot, to recognize boards already solved."""
    settings = [str(schedule), *map(str, (*limits, options.get("dtype")))]
    settings += [line] if line else []
    settings += [options["answer"]] if options.get("answer") is not None else []
    return hashlib.sha256("\n".join([spot_file.dumps(spot), *settings]).encode()).hexdigest()[:16]


def _read_solved_boards(out: Path, *, resume: bool) -> dict[str, dict[str, Any]]:
    """Read the rows of boards that are already solved, by board; an incomplete last line is dropped from the file."""
    path = out / BOARDS_FILE
    if not path.exists():
        files.check_unused(out)
        out.mkdir(parents=True, exist_ok=True)
        return {}
    if not resume:
        raise InputError(
            f"{out}: already contains solved boards; continue with resume=True (--resume), or choose another folder"
        )
    whole, _, torn = path.read_text(encoding="utf-8").rpartition("\n")
    if torn:
        core_files.write_text(path, f"{whole}\n" if whole else "")
    rows = [_parse_solved_row(path, number, line) for number, line in enumerate(whole.splitlines(), 1)]
    return {row["board"]: row for row in rows}


def _parse_solved_row(path: Path, number: int, line: str) -> dict[str, Any]:
    """Parse and validate one line of the file of solved boards."""
    location = f"{path}, line {number}"
    try:
        row = FileEntries(location, json.loads(line))
    except (ValueError, RecursionError):
        raise CorruptError(f"{location}: is not valid JSON; delete {path} to solve all boards again") from None
    plain = {key: value for key, value in row.items() if key != "node"}
    FileEntries(location, {"row": plain}).plain_table("row")
    nodes = [row.table("node")] if "node" in row else []
    for node in nodes:  # the EV at a line that is never reached is null
        if not all(isinstance(node[key], float | int | None) for key in ("played", *_FIGURES)):
            raise CorruptError(f"{node.location}: 'played', EVs and equities must be numbers")
    row.text("board")
    row.text("mark")
    row.boolean("reached")
    for key in (*_FIGURES, "exploitability_pct"):
        row.number(key)
    for entry in (row, *nodes):
        frequencies = entry.table("frequencies")
        for move in frequencies:
            frequencies.number(move, 0, 1.001)
    return dict(row)


# --- Table ---


def aggregate_table(solved: list[dict[str, Any]], name: str, line: str = "") -> ReportTable:
    """Return a table with one row per board, and the weighted mean of all: `Σ weight × figure / Σ weight`.

    At a line, weights are also multiplied by the probability that the line is reached on that board.
    """
    nodes = [row["node"] if line else row for row in solved]
    menus = [list(node["frequencies"]) for node in nodes]
    if any(a != b for a, b in pairwise(menus)):  # sizes do not depend on the cards
        raise CorruptError(f"{name}: boards with different actions; they were not solved from the same spot")
    columns = [ReportColumn("board"), ReportColumn("weight", COUNT, rank=2)]
    columns += [ReportColumn("played", SHARE, rank=2)] if line else []
    columns += [ReportColumn(move, SHARE) for move in menus[0]]
    columns += [ReportColumn(key, CHIPS, key.replace("ev_", "EV ")) for key in _FIGURES[:2]]
    columns += [ReportColumn(key, SHARE, key.replace("_", " "), 1) for key in _FIGURES[2:]]
    columns.append(ReportColumn("exploitability_pct", COUNT, "exploitability, % of pot", 3))
    rows = []
    for row, node in zip(solved, nodes, strict=True):
        reach = [node["played"]] if line else []
        figures = *node["frequencies"].values(), *(node[key] for key in _FIGURES)
        rows.append((row["board"], row["weight"], *reach, *figures, row["exploitability_pct"]))
    title = f"{name}: {len(solved)} boards" + (f", at {line}" if line else "")
    table = ReportTable(title, tuple(columns), tuple(rows))
    weights = [float(row["weight"]) for row in solved]
    reached = [weight * node.get("played", 1.0) for weight, node in zip(weights, nodes, strict=True)]
    means = comparison.weighted_means(table, reached)
    plain = comparison.weighted_means(table, weights)
    means |= {key: plain[key] for key in ("played", "exploitability_pct") if key in plain}
    means |= {"board": MEANS_ROW, "weight": sum(weights)}
    return replace(table, rows=(*table.rows, tuple(means[column.name] for column in columns)))
