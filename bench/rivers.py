"""Time three rivers to 0.5 % of the pot in a warm process: tree, iterations and checks; compare two checkouts.

    git worktree add /tmp/before HEAD~50
    python bench/rivers.py /tmp/before . --rounds 40

Each checkout has a process of its own; both solve each river in turn, so that other load affects both. The processes call
the public API alone. Printed are the medians of the rounds and the median of their ratios.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

BOARD, TARGET = "Ks9h5d3c2s", 0.5  # % of the pot
NARROW = "22+,A2s+,K6s+,Q8s+,J8s+,T8s+,97s+,87s,76s,65s,A2o+,KTo+,QTo+,JTo,T9o,98o"
WIDE = "22+,A2s+,K2s+,Q2s+,J2s+,T3s+,94s+,84s+,74s+,63s+,53s+,43s,A2o+,K2o+,Q2o+,J4o+,T6o+,96o+,86o+,75o+,64o+,54o"
RIVERS: dict[str, dict[str, Any]] = {  # nodes of betting, hands
    "21 nodes, 400 hands": {"stack": 400, "oop": NARROW, "ip": NARROW, "bets": "50%", "raises": "3x"},
    "39 nodes, 800 hands": {"stack": 500, "oop": WIDE, "ip": WIDE, "bets": "33%,75%", "raises": "4x"},
    "117 nodes, all hands": {
        "stack": 900, "oop": "random", "ip": "random", "bets": "33%,75%,150%,a", "raises": "2.5x,a",
    },
}  # fmt: skip


def serve() -> None:
    """Solve the river named on each line of standard input, and print its seconds and iterations."""
    import riverboat as rb

    spots = {name: rb.Spot.make(board=BOARD, pot=100, **facts) for name, facts in RIVERS.items()}
    for line in sys.stdin:
        start = time.perf_counter()
        solution = rb.solve(spots[line.strip()], until=TARGET, threads=1)
        print(time.perf_counter() - start, solution.iterations, flush=True)


def solve(child: subprocess.Popen[str], name: str) -> tuple[float, int]:
    """Let a process solve a river; return its seconds and iterations."""
    assert child.stdin is not None
    assert child.stdout is not None
    print(name, file=child.stdin, flush=True)
    seconds, iterations = child.stdout.readline().split()
    return float(seconds), int(iterations)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", nargs="+", type=Path, help="one or two checkouts")
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    children = [
        subprocess.Popen(
            [sys.executable, __file__, "--serve"], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": str((checkout / "src").resolve())},
        )
        for checkout in options.checkouts
    ]  # fmt: skip
    print(f"{'river':24}" + "".join(f"{'ms':>10}{'iterations':>12}" for _ in children) + f"{'ratio':>8}")
    for name in RIVERS:
        for child in children:
            solve(child, name)  # compiles
        rounds = [[solve(child, name) for child in children] for _ in range(options.rounds)]
        ms = [1000 * median(row[k][0] for row in rounds) for k in range(len(children))]
        figures = "".join(f"{ms[k]:10.2f}{rounds[0][k][1]:12d}" for k in range(len(children)))
        print(f"{name:24}{figures}{median(row[-1][0] / row[0][0] for row in rounds):8.3f}", flush=True)
    for child in children:
        assert child.stdin is not None
        child.stdin.close()
        child.wait()


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["--serve"] else main()
