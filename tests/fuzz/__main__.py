"""`python -m tests.fuzz [PATTERN …] [--fast] [--show] [--ids]`: run cases without pytest, and print a summary."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import warnings
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

from tests.fuzz import judge, suite  # noqa: E402
from tests.fuzz.runner import run  # noqa: E402
from tests.fuzz.summary import Summary  # noqa: E402
from tests.fuzz.world import build  # noqa: E402


def main() -> int:
    """Run the requested cases."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("patterns", nargs="*", default=["*"])
    parser.add_argument("--fast", action="store_true", help="the part of the fast tests alone")
    parser.add_argument("--show", action="store_true", help="show what commands print")
    parser.add_argument("--ids", action="store_true", help="list the cases, run nothing")
    options = parser.parse_args()
    chosen = [case for case in suite.cases() if any(fnmatchcase(case.id, p) for p in options.patterns)]
    if options.fast:
        chosen = [case for case in chosen if case.id in suite.fast()]
    if options.ids:
        print(*(case.id for case in chosen), sep="\n")
        print(f"{len(chosen):,} cases", dict(Counter(case.group for case in chosen)))
        return 0
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    summary = Summary()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        root = build(Path(folder))
        for case in chosen:
            done = run(case, root)
            result = judge.faults(case, done)
            summary.add(fault.kind for fault in result)
            if options.show:
                print(f"--- {case.id}: {done.code} in {done.seconds:.2f} s\n{done.out[-2000:]}{done.err[-2000:]}")
            for fault in result:
                print(f"{case.id}\n    {fault.short[:330]}", flush=True)
            if done.seconds > 5 and not result:
                print(f"{case.id}\n    slow: {done.seconds:.1f} s", flush=True)
    print(f"{summary}; {time.monotonic() - started:.0f} s")
    return 1 if summary.failed else 0


if __name__ == "__main__":
    sys.exit(main())
