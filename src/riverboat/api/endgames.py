"""Databases of solved river endgames: build, load and query.

database = build_endgames("runs/endgames", "demo", count=1000)
match = query_endgames("runs/endgames", board="QsJh2h7d7c", oop="QQ+", ip="AJs+")
match.values                  # expected values of both players, in pots
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from riverboat.api.options import Limits, Seed, Threads
from riverboat.cards.deck import HAND_CARDS
from riverboat.cards.notation import format_cards, parse_board
from riverboat.cards.ranges import Range
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.engines.devices import CPU, resolve_device
from riverboat.solvers.boards.batches import solve_many
from riverboat.strategies.blueprint import Blueprint
from riverboat.subgames.database import database

MAX_ENDGAMES = 10_000_000
ESTIMATE_SAMPLE_SIZE = 20  # endgames that an estimate solves
PLAYERS = ("oop", "ip")


def _load_blueprint(agent: str) -> Blueprint:
    from riverboat.api.agent import blueprint_agent

    return blueprint_agent(agent, "endgames are sampled from a blueprint, such as demo or runs/mine").strategy


@dataclass(frozen=True)
class EndgameBuild:
    """A built database, and what it cost.

    Attributes
    ----------
    folder
        Folder of the database.
    endgames
        Number of endgames.
    seconds
        Seconds of this run.
    processor_seconds
        CPU seconds of this run.

    Examples
    --------
    >>> EndgameBuild("runs/endgames", 10, 1.5, 1.4).to_dict()["endgames"]
    10
    """

    folder: str
    endgames: int
    seconds: float
    processor_seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return the build as a JSON object."""
        return dict(vars(self))


def build_endgames(
    folder: str | Path,
    agent: str = "demo",
    *,
    count: Annotated[int, Limits(1, MAX_ENDGAMES)] = 1000,
    seed: Seed = 0,
    threads: Threads = 1,
    device: str = "cpu",
    resume: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> EndgameBuild:
    """Solve rivers that a blueprint reaches in self-play, and index them by the equities of both ranges.

    Parameters
    ----------
    folder
        Folder of the database.
    agent
        A blueprint; rivers that it reaches in self-play are solved.
    count
        Number of endgames in the database.
    seed
        Seed of the cards.
    threads
        Threads.
    device
        cpu, cuda, or auto (a GPU if there is one).
    resume
        Continue the build in that folder.
    progress
        Callback with the number of saved endgames and the total.

    Returns
    -------
    EndgameBuild
        Number of endgames, and seconds.

    Raises
    ------
    InputError
        If the agent has no blueprint, or the folder holds another database.

    Examples
    --------
    >>> build_endgames("unused", "always-fold")
    Traceback (most recent call last):
    riverboat.core.errors.InputError: ...
    """
    resolve_device(device)
    strategy = _load_blueprint(agent)
    start, cpu_start = clock.perf_counter(), clock.process_time()
    built = database.build_database(
        strategy,
        folder,
        count,
        seed=seed,
        threads=threads,
        device=device,
        resume=resume,
        name=agent,
        on_progress=None if progress is None else lambda now: progress(now.done, now.target),
    )
    return EndgameBuild(str(folder), len(built), clock.perf_counter() - start, clock.process_time() - cpu_start)


def estimate_endgames(
    folder: str | Path,
    agent: str = "demo",
    *,
    count: int = 1000,
    seed: Seed = 0,
    threads: Threads = 1,
    device: str = "cpu",
) -> dict[str, Any]:
    """Estimate the time and memory of a build from twenty endgames.

    Parameters
    ----------
    folder
        Folder of the database.
    agent
        A blueprint; rivers that it reaches in self-play are solved.
    count
        Number of endgames in the database.
    seed
        Seed of the cards.
    threads
        Threads of the build.
    device
        Device of the build; must be a CPU.

    Returns
    -------
    dict
        Seconds, CPU seconds of an endgame and bytes, as a JSON object.

    Raises
    ------
    InputError
        If the agent has no blueprint, or the device is a GPU.

    Examples
    --------
    >>> estimate_endgames("unused", "always-fold")
    Traceback (most recent call last):
    riverboat.core.errors.InputError: ...
    """
    resolved = resolve_device(device)
    strategy = _load_blueprint(agent)
    if resolved != CPU:
        raise InputError(
            f"estimate with device {device}: estimates are for CPUs only; leave out one of the two options"
        )
    source = database.sample_reached_streets(strategy, seed)
    rivers = [next(source) for _ in range(2 * ESTIMATE_SAMPLE_SIZE)]
    database.solve_rivers(rivers[:1], strategy)  # compiles
    start = clock.process_time()
    entries = database.solve_rivers(rivers[ESTIMATE_SAMPLE_SIZE:], strategy)
    seconds_each = (clock.process_time() - start) / ESTIMATE_SAMPLE_SIZE  # CPU seconds
    size = float(np.mean([sum(part.nbytes for part in arrays) for _, arrays in entries]))
    return {
        "folder": str(folder), "endgames": count, "processor_seconds_each": seconds_each,
        "seconds": seconds_each * count / threads, "threads": threads, "bytes": size * count,
        "seconds_are": f"estimate from {ESTIMATE_SAMPLE_SIZE} endgames",
    }  # fmt: skip


def describe_endgames(folder: str | Path) -> dict[str, Any]:
    """Describe the contents of a database.

    Parameters
    ----------
    folder
        Folder of the database.

    Returns
    -------
    dict
        Number of endgames, agents, and for each stack level the median distance to the nearest other endgame, as a
        JSON object.

    Raises
    ------
    InputError
        If the folder holds no database.

    Examples
    --------
    >>> describe_endgames("no-such-folder")
    Traceback (most recent call last):
    riverboat.core.errors.InputError: ...
    """
    endgames = database.load_database(folder)
    levels = []
    for level, entries in endgames.entries_by_level.items():
        nearest = _median_nearest_distance(entries.cdf)
        levels.append(
            {"stack_in_pots": database.STACK_LEVELS[level], "endgames": len(entries), "nearest_other": nearest}
        )
    facts = {"folder": str(folder), "endgames": len(endgames), **endgames.metadata}
    return facts | {"rungs": levels, "unit": "EMD of equity"}


def _median_nearest_distance(cdf: Array) -> float | None:
    """Return the median distance (EMD of equity) of up to 200 entries of a stack level to their nearest neighbor.

    `cdf`: cumulative equity distributions [entries, players, steps].
    """
    if len(cdf) < 2:
        return None
    sample = np.linspace(0, len(cdf) - 1, min(200, len(cdf))).astype(int)
    distances = [np.sort(np.abs(cdf - cdf[k]).sum(axis=2).max(axis=1))[1] / cdf.shape[2] for k in sample]
    return float(np.median(distances))


@dataclass(frozen=True)
class EndgameMatch:
    """The nearest endgame of a database.

    Attributes
    ----------
    board
        The five cards.
    stack_in_pots
        Chips behind over chips in the middle.
    stack_level
        Chips behind over chips in the middle in the database.
    entry
        Number of the endgame.
    distance
        Earth mover's distance of the equities, the maximum over both players.
    microseconds
        Time of the lookup.
    values
        Expected values of both players, in pots.
    first
        Probability of each first action, over all hands.
    exact
        Expected values of the solved spot, in pots; None if it was not solved.

    Examples
    --------
    >>> EndgameMatch("2c3c4c5c7d", 1.0, 1.0, 0, 0.0, 50.0, {}, {}, None).to_dict()["unit"]
    'pots'
    """

    board: str
    stack_in_pots: float
    stack_level: float
    entry: int
    distance: float
    microseconds: float
    values: Mapping[str, float]
    first: Mapping[str, float]
    exact: Mapping[str, float] | None

    def to_dict(self) -> dict[str, Any]:
        """Return the match as a JSON object."""
        facts = {
            "board": self.board, "stack_in_pots": self.stack_in_pots, "rung": self.stack_level, "entry": self.entry,
            "distance": self.distance, "microseconds": self.microseconds, "value": self.values, "first": self.first,
            "unit": "pots",
        }  # fmt: skip
        return facts | ({} if self.exact is None else {"exact": self.exact})


def query_endgames(
    folder: str | Path,
    *,
    board: str,
    oop: str,
    ip: str,
    pot: Annotated[float, Limits(0)] = 100.0,
    stack: Annotated[float, Limits(0)] = 100.0,
    exact: bool = False,
) -> EndgameMatch:
    """Find the nearest endgame of a database.

    Parameters
    ----------
    folder
        Folder of the database.
    board
        Five cards, such as QsJh2h7d7c.
    oop
        Range of the player out of position.
    ip
        Range of the player in position.
    pot
        Chips in the middle.
    stack
        Chips behind.
    exact
        Also solve the spot, and compare.

    Returns
    -------
    EndgameMatch
        Distance, values and first action.

    Raises
    ------
    InputError
        If the folder holds no database, or the cards or ranges are invalid.

    Examples
    --------
    >>> query_endgames("no-such-folder", board="QsJh2h7d7c", oop="QQ+", ip="AJs+")
    Traceback (most recent call last):
    riverboat.core.errors.InputError: ...
    """
    endgames = database.load_database(folder)
    cards = parse_board(board)
    live = ~np.isin(HAND_CARDS, cards).any(axis=1)
    ranges = [Range.parse(text).weights * live for text in (oop, ip)]
    key = database.EndgameKey.from_river(cards, pot, stack, ranges)
    endgames.nearest(key)  # first call prepares the arrays of the distance bounds
    start = clock.perf_counter()
    match = endgames.nearest(key)
    microseconds = 1e6 * (clock.perf_counter() - start)
    values, weight = endgames.hand_values(match, key), key.weight
    means = [float(np.nansum(values[s] * weight[s]) / weight[s].sum()) for s in (0, 1)]
    first = endgames.strategy(match, 0, key.equity[0])
    hand_weight, live_hands = weight[0] / weight[0].sum(), weight[0] > 0
    shares = (first[:, live_hands] @ hand_weight[live_hands]).tolist()
    moves = database.stack_level_betting(match.stack_level).actions(0)
    solved = None
    if exact:
        spot = database.endgame_spot(key.stack_level, cards, ranges, stack_to_pot=stack / pot)
        root = solve_many([spot], iterations=1000, until=0.1)[0][""]
        solved = {name: root.range_mean(s, root.ev(s)) / database.ENDGAME_POT for s, name in enumerate(PLAYERS)}
    level, value = database.STACK_LEVELS[match.stack_level], dict(zip(PLAYERS, means, strict=True))
    played = {_rescale_move(move, pot): share for move, share in zip(moves, shares, strict=True)}
    return EndgameMatch(
        format_cards(cards), stack / pot, level, match.number, match.distance, microseconds, value, played, solved
    )


def _rescale_move(move: str, pot: float) -> str:
    """Rescale an action of a database's endgame to another pot: `b500` becomes `b50` in a tenth of the pot."""
    return f"b{round(int(move[1:]) * pot / database.ENDGAME_POT, 2):g}" if move[1:].isdigit() else move
