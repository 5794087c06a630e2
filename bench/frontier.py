"""Strength by training time: `riverboat train --time` at rising times, every step against every other.

    python bench/frontier.py --core-minutes 2,10,40,120 --threads 2 --out runs/frontier
    python bench/frontier.py --core-minutes 120 --threads 1 --out runs/frontier    # one step, others are found there
    python bench/frontier.py --core-minutes 2,10,40,120,960 --device cuda --out runs/frontier    # 8 hours of two cores

With --device a step has as many deals as CPU cores do in its time (rates: `solvers.mccfr.recipe`): equal deals are
equally strong on either, and ten minutes of an H200 are enough for all steps.

A step is the result of the command for that time, including the size of the card abstraction; cards are built before
and do not count. Steps are compared by duels of duplicate hands. Existing trainings and results are reused, so that a
run may be stopped and resumed. The exit code is 1 if a step is weaker than the one before it, or ten times the time is
not significantly stronger.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from pathlib import Path
from typing import Any

from riverboat.api.match import match
from riverboat.cli.main import main as command
from riverboat.engines.devices import CPU
from riverboat.evaluation.matches.duel import duel
from riverboat.solvers.mccfr.recipe import PREVIOUS_SIZE_SHARE, SIZES, training_size_for
from riverboat.strategies.blueprint import load_blueprint

BEGUN = ".begin"  # suffix of the folder of a warm start
FACTOR = 10.0  # factor in time that must be significant in a duel


def run(words: list[str]) -> None:
    """Run a Riverboat command."""
    try:
        command(words)
    except SystemExit as ended:
        if ended.code:
            raise


def run_training(words: list[str], folder: Path, seed: int) -> None:
    """Run `riverboat train` without checks; resume if its folder exists."""
    resume = ["--resume"] if folder.is_dir() else []
    run(["train", *words, "--seed", str(seed), "--check", "1000h", *resume, "--out", str(folder)])


def trained(core_minutes: float, arguments: argparse.Namespace) -> Path:
    """Return the folder of a step, trained if necessary."""
    folder: Path = arguments.out / f"{core_minutes:g}"
    if not (folder / "strategy").is_dir():
        if arguments.device == CPU:
            limits = ["--time", f"{60 * core_minutes / arguments.threads:g}s", "--threads", str(arguments.threads)]
            run_training(limits, folder, arguments.seed)
        else:
            by_deals(60 * core_minutes, folder, arguments)
    return folder


def by_deals(core_seconds: float, folder: Path, arguments: argparse.Namespace) -> None:
    """Train as `train --time` does for these core-seconds, on a device: by deals instead of seconds."""
    size, begin = training_size_for(core_seconds, 1), None
    if size.starts_from is not None:
        begin = folder.with_name(f"{folder.name}{BEGUN}")
        part(size.starts_from, PREVIOUS_SIZE_SHARE * core_seconds, begin, None, arguments)
        core_seconds *= 1 - PREVIOUS_SIZE_SHARE
    part(size.cards, core_seconds, folder, begin, arguments)


def part(cards: str, core_seconds: float, folder: Path, begin: Path | None, arguments: argparse.Namespace) -> None:
    """Train one size; missing card abstractions are built."""
    folder_of_cards = arguments.out / "cards" / cards
    if not folder_of_cards.is_dir():
        run(["abstract", cards, "--out", str(folder_of_cards), "--threads", str(arguments.threads)])
    deals = int(core_seconds * next(size.rate for size in SIZES if size.cards == cards))
    words = ["default", "--abstraction", str(folder_of_cards), "--iterations", str(deals), "--device", arguments.device]
    words += ["--begin", str(begin)] if begin is not None else []
    run_training(words, folder, arguments.seed)


def played(first: Path, second: Path | str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure a step against another, or against an agent by name."""
    name = second if isinstance(second, str) else second.name
    result: Path = arguments.out / f"{first.name}-against-{name}.json"
    if not result.exists():
        if isinstance(second, str):
            record = match(str(first), second, hands=arguments.hands, seed=arguments.seed).to_dict()
        else:
            blueprints = load_blueprint(first), load_blueprint(second)
            record = duel(*blueprints, arguments.hands, arguments.seed, arguments.threads).record()
        result.write_text(json.dumps(record), encoding="utf-8")
    facts: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    return facts


def main() -> int:
    """Train the steps, match them, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    about = "core-minutes of each step; wall-clock time is that divided by --threads"
    parser.add_argument("--core-minutes", default="2,10,40,120", help=about)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default=CPU, help="cuda: as many deals as CPU cores do in that time, on a GPU")
    parser.add_argument("--hands", type=int, default=3_000_000, help="hands of a duel")
    parser.add_argument("--against", default="", help="agents by name that every step also plays, such as demo,default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for minutes in map(float, arguments.core_minutes.split(",")):
        trained(minutes, arguments)
    folders = [path.parent for path in arguments.out.glob("[0-9]*/strategy") if path.parent.suffix != BEGUN]
    steps = sorted(float(folder.name) for folder in folders)
    failed = False
    for early, late in itertools.combinations(steps, 2):
        record = played(arguments.out / f"{late:g}", arguments.out / f"{early:g}", arguments)
        won, half_width = record["mbb_per_game"], record["ci95"]
        next_to = steps.index(late) == steps.index(early) + 1
        unexpected = (next_to and won + half_width < 0) or (late >= FACTOR * early and won - half_width <= 0)
        failed |= unexpected
        mark = ": FAILED" if unexpected else ""
        print(f"{late:g} core-minutes against {early:g}: {won:+.1f} ± {half_width:.1f} mbb/g{mark}", flush=True)
    for step, name in itertools.product(steps, filter(None, arguments.against.split(","))):
        record = played(arguments.out / f"{step:g}", name, arguments)
        won, half_width = record["mbb_per_game"], record["ci95"]
        print(f"{step:g} core-minutes against {name}: {won:+.1f} ± {half_width:.1f} mbb/g", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
