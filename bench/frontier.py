"""Is more worth more? `riverboat train --time` at rising times, every step against every other.

    python bench/frontier.py --core-minutes 2,10,40,120 --threads 2 --out runs/frontier
    python bench/frontier.py --core-minutes 120 --threads 1 --out runs/frontier    # one step, others are found there

A step is what the command makes of that time, size of cards included; cards are made before and count no time. Steps are
matched by duels of duplicate hands. Nothing is trained or played twice, so that a run may be stopped and go on. It ends
with 1 where a step is weaker than the one before it, or a factor of ten is not significantly stronger.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from pathlib import Path
from typing import Any

from riverboat.evaluation.duel import duel
from riverboat.interfaces.cli import main as command
from riverboat.strategy.blueprint import load_blueprint
from riverboat.verbs.matching import match

BEGUN = ".begin"  # of the folder that a larger size begins with
FACTOR = 10.0  # in time, that must be seen in a duel


def trained(core_minutes: float, out: Path, threads: int, seed: int) -> Path:
    """The folder of a step."""
    folder = out / f"{core_minutes:g}"
    if not (folder / "strategy").is_dir():
        words = ["train", "--time", f"{60 * core_minutes / threads:g}s", "--threads", str(threads), "--seed", str(seed)]
        more = ["--out", str(folder), "--check", "1000h", *(["--resume"] if folder.is_dir() else [])]
        try:
            command([*words, *more])
        except SystemExit as ended:
            if ended.code:
                raise
    return folder


def played(first: Path, second: Path | str, given: argparse.Namespace) -> dict[str, Any]:
    """What a step wins of another, or of an agent by name."""
    name = second if isinstance(second, str) else second.name
    result: Path = given.out / f"{first.name}-against-{name}.json"
    if not result.exists():
        if isinstance(second, str):
            told = match(str(first), second, hands=given.hands, seed=given.seed).to_dict()
        else:
            told = duel(load_blueprint(first), load_blueprint(second), given.hands, given.seed, given.threads).record()
        result.write_text(json.dumps(told))
    facts: dict[str, Any] = json.loads(result.read_text())
    return facts


def main() -> int:
    """Train the steps, match them, tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--core-minutes", default="2,10,40,120", help="of each step; wall clock is that over --threads")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--hands", type=int, default=3_000_000, help="of a duel")
    parser.add_argument(
        "--against", default="", help="agents by name that every step plays as well, such as demo,default"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for each in map(float, given.core_minutes.split(",")):
        trained(each, given.out, given.threads, given.seed)
    made = [path.parent for path in given.out.glob("[0-9]*/strategy") if path.parent.suffix != BEGUN]
    steps = sorted(float(folder.name) for folder in made)
    failed = False
    for early, late in itertools.combinations(steps, 2):
        told = played(given.out / f"{late:g}", given.out / f"{early:g}", given)
        won, wide = told["mbb_per_game"], told["ci95"]
        next_to = steps.index(late) == steps.index(early) + 1
        bad = (next_to and won + wide < 0) or (late >= FACTOR * early and won - wide <= 0)
        failed |= bad
        print(
            f"{late:g} core-minutes against {early:g}: {won:+.1f} ± {wide:.1f} mbb/g{': not so' if bad else ''}",
            flush=True,
        )
    for step, name in itertools.product(steps, filter(None, given.against.split(","))):
        told = played(given.out / f"{step:g}", name, given)
        print(
            f"{step:g} core-minutes against {name}: {told['mbb_per_game']:+.1f} ± {told['ci95']:.1f} mbb/g", flush=True
        )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
