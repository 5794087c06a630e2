"""Profile the threads of a solver of spots: where each spends an iteration and a check of exploitability.

    python bench/threads.py --threads 1,2,4,8,16 turn flop

For each number of threads it prints the time of an iteration and of a check, and what the threads spend it on, in percent
of the time of all threads: units of work; waiting while thread 0 traverses the first street; waiting for the last unit;
sums; between calls. Cores that run copies of the same work on one thread each show what memory and clock rates cost: the
row `copies` is the time of an iteration then, relative to one copy alone.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from pathlib import Path

import numpy as np

from riverboat.engines.cpu._kernels import board as kernels
from riverboat.games import registry
from riverboat.solvers.boards.cfr import BoardCFR
from riverboat.trees.boards import BoardTree

SPOTS = Path(__file__).resolve().parents[1] / "examples" / "spots"
PHASES = {
    "units": kernels.UNITS, "wait: first street": kernels.WAIT_FOR_UNITS, "wait: last unit": kernels.WAIT_FOR_VALUES,
    "sums": kernels.SUMS, "first street": kernels.FIRST_STREET, "between calls": kernels.AWAY,
}  # fmt: skip


def profile(solver: BoardCFR, what: str, seconds: float = 1.0) -> tuple[float, dict[str, float]]:
    """Return the milliseconds of an iteration or check, and the share of each phase in percent of all threads' time."""
    work = solver.step if what == "iteration" else lambda count: [solver.exploitability() for _ in range(count)]
    work(4)
    cycles = solver.engine._workspace.team_memory(0).cycles
    cycles[:] = 0
    start, count = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        work(16)
        count += 16
    ms = 1000 * (time.perf_counter() - start) / count
    total = max(int(cycles.sum()), 1)
    return ms, {name: 100 * float(cycles[:, phase].sum()) / total for name, phase in PHASES.items()}


def run_copy(spot: str, barrier: multiprocessing.synchronize.Barrier, results: multiprocessing.Queue[float]) -> None:
    """Time iterations on one thread while other copies do the same."""
    solver = BoardCFR(BoardTree(registry.game_from_spec(spot)), threads=1)
    solver.step(2)
    barrier.wait()
    start, count = time.perf_counter(), 0
    while time.perf_counter() - start < 2:
        solver.step(1)
        count += 1
    results.put((time.perf_counter() - start) / count)


def copies(spot: str, count: int) -> float:
    """Return the median seconds of an iteration while `count` copies run."""
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(count), context.Queue()
    children = [context.Process(target=run_copy, args=(spot, barrier, results)) for _ in range(count)]
    for child in children:
        child.start()
    seconds = [results.get() for _ in children]
    for child in children:
        child.join()
    return float(np.median(seconds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spots", nargs="+", help="names of examples/spots, such as turn")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--copies", action="store_true", help="also run copies on one thread each")
    options = parser.parse_args()
    threads = [int(word) for word in options.threads.split(",")]
    for name in options.spots:
        spot = str(SPOTS / f"{name}.toml")
        tree = BoardTree(registry.game_from_spec(spot))
        for what in ("iteration", "check"):
            print(
                f"\n{name}, {what:10}" + f"{'threads':>8}{'ms':>9}{'speedup':>9}" + "".join(f"{p:>20}" for p in PHASES)
            )
            first = None
            for count in threads:
                ms, shares = profile(BoardCFR(tree, threads=count), what)
                first = first or ms * count
                row = "".join(f"{share:19.1f}%" for share in shares.values())
                print(f"{'':{len(name) + 12}}{count:8d}{ms:9.3f}{first / ms:9.2f}{row}", flush=True)
        if options.copies:
            alone = copies(spot, 1)
            for count in threads[1:]:
                print(f"{name}, {count} copies: {copies(spot, count) / alone:.2f} of one alone", flush=True)


if __name__ == "__main__":
    main()
