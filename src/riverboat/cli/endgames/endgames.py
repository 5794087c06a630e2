"""What the commands about libraries of endgames do."""

from __future__ import annotations

import time as clock
from pathlib import Path
from typing import Any

import numpy as np

from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.registry import make_agent
from riverboat.cards.deck import HAND_CARDS
from riverboat.cards.notation import parse_board, show_cards
from riverboat.cards.ranges import Range
from riverboat.cli import device_notes
from riverboat.cli.progress import Bar
from riverboat.cli.terminal import emit, plain_console, say
from riverboat.core.errors import InputError
from riverboat.core.formatting import show_bytes, show_seconds
from riverboat.core.tables import FIGURE, PROSE, Column, ReportTable
from riverboat.engines.devices import CPU, choose
from riverboat.solvers.boards.batches import solve_many
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.subgames.database import build as library_build
from riverboat.subgames.database.database import POT, RUNGS, Key, Library, rung_betting, rung_spot

TRIED = 20  # endgames that an estimate solves
PLAYERS = ("oop", "ip")


def _blueprint(agent: str) -> BlueprintStrategy:
    made = make_agent(agent)
    if not isinstance(made, BlueprintAgent):
        raise InputError(f"agent {agent!r}: rivers are those of a blueprint, such as demo or runs/mine")
    return made.strategy


def build(
    folder: Path, agent: str, count: int, resume: bool, estimate: bool, seed: int, threads: int, device: str, json: bool
) -> None:
    """Solve and keep, or say how long that takes."""
    choose(device)
    device_notes.tell(device)
    strategy = _blueprint(agent)
    if estimate and choose(device) != CPU:
        raise InputError(f"--estimate --device {device}: an estimate is of processors; leave one of them out")
    if estimate:
        _estimate(folder, strategy, count, seed, threads, json)
        return
    began, spent = clock.perf_counter(), clock.process_time()
    done = 0

    def tell(progress: library_build.Progress) -> None:
        nonlocal done
        done = progress.done
        bar(done / progress.wanted)

    try:
        with Bar("endgames") as bar:
            library = library_build.build(
                strategy, folder, count, seed=seed, threads=threads, device=device, resume=resume, name=agent, tell=tell
            )
    except KeyboardInterrupt:
        if done:
            say(f"{done:,} of {count:,} endgames are kept in {folder}; the same command with --resume goes on")
        raise
    facts = {
        "folder": str(folder),
        "endgames": len(library),
        "seconds": clock.perf_counter() - began,
        "processor_seconds": clock.process_time() - spent,
    }
    if json:
        emit(facts)
        return
    plain_console().print(
        f"{len(library):,} endgames in {folder}, {show_seconds(clock.perf_counter() - began)} "
        f"({show_seconds(clock.process_time() - spent)} of processors)"
    )


def _estimate(folder: Path, strategy: BlueprintStrategy, count: int, seed: int, threads: int, json: bool) -> None:
    source = library_build.reached(strategy, seed)
    rivers = [next(source) for _ in range(2 * TRIED)]
    library_build.solve_some(rivers[:1], strategy)  # compiles
    began = clock.process_time()
    entries = library_build.solve_some(rivers[TRIED:], strategy)
    each = (clock.process_time() - began) / TRIED  # of processors
    size = float(np.mean([sum(part.nbytes for part in kept) for _, kept in entries]))
    facts = {
        "folder": str(folder), "endgames": count, "processor_seconds_each": each, "seconds": each * count / threads,
        "threads": threads, "bytes": size * count, "seconds_are": f"estimate from {TRIED} endgames",
    }  # fmt: skip
    if json:
        emit(facts)
        return
    plain_console().print(
        f"{count:,} endgames: about {show_seconds(each * count / threads)} on {threads} threads of their own "
        f"({1000 * each:.0f} ms of a processor each, {TRIED} solved), {show_bytes(size * count)}"
    )


def show(folder: Path, json: bool) -> None:
    """How many endgames of each rung there are, and how far apart they are."""
    library = library_build.load_library(folder)
    rows = []
    for rung, shelf in library.shelves.items():
        apart = _apart(library, rung)
        rows.append({"stack_in_pots": RUNGS[rung], "endgames": len(shelf), "nearest_other": apart})
    if json:
        emit({"folder": str(folder), "endgames": len(library), **library.facts, "rungs": rows, "unit": "EMD of equity"})
        return
    columns = (Column("stack in pots", FIGURE), Column("endgames", FIGURE), Column("to the nearest other", FIGURE))
    table = [
        (f"{row['stack_in_pots']:g}", f"{row['endgames']:,}", "" if (d := row["nearest_other"]) is None else f"{d:.4f}")
        for row in rows
    ]
    console = plain_console()
    console.print(ReportTable("", columns, tuple(table)))
    console.print(f"{len(library):,} endgames of {', '.join(map(str, library.facts['agents']))}; distances are medians")


def _apart(library: Library, rung: int, most: int = 200) -> float | None:
    """The median distance of some entries to the nearest other one."""
    cdf = library.shelves[rung].cdf
    if len(cdf) < 2:
        return None
    some = np.linspace(0, len(cdf) - 1, min(most, len(cdf))).astype(int)
    far = [np.sort(np.abs(cdf - cdf[k]).sum(axis=2).max(axis=1))[1] / cdf.shape[2] for k in some]
    return float(np.median(far))


def query(folder: Path, board: str, oop: str, ip: str, pot: float, stack: float, exact: bool, json: bool) -> None:
    """The nearest endgame, and what it says."""
    library = library_build.load_library(folder)
    cards = parse_board(board)
    live = ~np.isin(HAND_CARDS, cards).any(axis=1)
    ranges = [Range.parse(text).weights * live for text in (oop, ip)]
    key = Key.of(cards, pot, stack, ranges)
    library.nearest(key)  # lays out what bounds need
    began = clock.perf_counter()
    match = library.nearest(key)
    micros = 1e6 * (clock.perf_counter() - began)
    values, weight = library.values(match, key), key.weight
    mean = [float(np.nansum(values[s] * weight[s]) / weight[s].sum()) for s in (0, 1)]
    first = library.play(match, 0, key.equity[0])
    held = weight[0] / weight[0].sum()
    known = weight[0] > 0
    labels = [_in_chips(move, pot) for move in rung_betting(match.rung).moves(0)]
    moves = dict(zip(labels, (first[:, known] @ held[known]).tolist(), strict=True))
    facts: dict[str, Any] = {
        "board": show_cards(cards), "stack_in_pots": stack / pot, "rung": RUNGS[match.rung], "entry": match.number,
        "distance": match.distance, "microseconds": micros,
        "value": dict(zip(PLAYERS, mean, strict=True)), "first": moves, "unit": "pots",
    }  # fmt: skip
    if exact:
        real = rung_spot(key.rung, cards, ranges, pots=stack / pot)
        solution = solve_many([real], iterations=1000, until=0.1)[0]
        root = solution[""]
        facts["exact"] = {name: root.mean(s, root.ev(s)) / POT for s, name in enumerate(PLAYERS)}
    if json:
        emit(facts)
        return
    rows = [
        ("nearest", f"number {match.number:,} of those with {RUNGS[match.rung]:g} pots behind"),
        ("distance", f"{match.distance:.4f} (EMD of equity, the larger of both players'), found in {micros:.0f} µs"),
        ("value", f"oop {mean[0]:.3f}, ip {mean[1]:.3f} pots"),
        ("first", ", ".join(f"{move} {share:.0%}" for move, share in moves.items())),
    ]
    if exact:
        rows.insert(3, ("solved", ", ".join(f"{name} {v:.3f}" for name, v in facts["exact"].items()) + " pots"))
    plain_console().print(ReportTable("", (Column("endgame"), Column("", PROSE)), tuple(rows)))


def _in_chips(move: str, pot: float) -> str:
    """A move of a library's endgames, `b500`, in a pot of other chips: `b50`."""
    return f"b{round(int(move[1:]) * pot / POT, 2):g}" if move[1:].isdigit() else move
