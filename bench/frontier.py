"""Is more worth more? `riverboat train --time` at rising times, every step against every other.

    python bench/frontier.py --core-minutes 2,10,40,120 --threads 2 --out runs/frontier
    python bench/frontier.py --core-minutes 120 --threads 1 --out runs/frontier    # one step, others are found there
    python bench/frontier.py --core-minutes 2,10,40,120,960 --device cuda --out runs/frontier    # 8 hours of two cores

With --device a step has as many deals as cores make in its time (`solvers.mccfr.sizing` has their rates): equal deals are equally
strong on either, and ten minutes of an H200 are enough for all steps.

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

from riverboat.api.match import match
from riverboat.cli.main import main as command
from riverboat.engines.devices import CPU
from riverboat.evaluation.matches.duel import duel
from riverboat.solvers.mccfr.sizing import SHARE, SIZES, size_for
from riverboat.strategies.blueprint import load_blueprint

BEGUN = ".begin"  # of the folder that a larger size begins with
FACTOR = 10.0  # in time, that must be seen in a duel


def run(words: list[str]) -> None:
    """A command of Riverboat."""
    try:
        command(words)
    except SystemExit as ended:
        if ended.code:
            raise


def trained(core_minutes: float, given: argparse.Namespace) -> Path:
    """The folder of a step."""
    folder: Path = given.out / f"{core_minutes:g}"
    if not (folder / "strategy").is_dir():
        if given.device == CPU:
            words = ["train", "--time", f"{60 * core_minutes / given.threads:g}s", "--threads", str(given.threads)]
            more = ["--seed", str(given.seed), "--check", "1000h", *(["--resume"] if folder.is_dir() else [])]
            run([*words, *more, "--out", str(folder)])
        else:
            by_deals(60 * core_minutes, folder, given)
    return folder


def by_deals(core_seconds: float, folder: Path, given: argparse.Namespace) -> None:
    """What `train --time` makes of so many core-seconds, on a device: deals in place of seconds."""
    size, begin = size_for(core_seconds, 1), None
    if size.begins is not None:
        begin = folder.with_name(f"{folder.name}{BEGUN}")
        part(size.begins, SHARE * core_seconds, begin, None, given)
        core_seconds *= 1 - SHARE
    part(size.cards, core_seconds, folder, begin, given)


def part(cards: str, core_seconds: float, folder: Path, begin: Path | None, given: argparse.Namespace) -> None:
    """One size of it; cards are made where they are missing."""
    made = given.out / "cards" / cards
    if not made.is_dir():
        run(["abstract", cards, "--out", str(made), "--threads", str(given.threads)])
    rate = next(size.rate for size in SIZES if size.cards == cards)
    deals = str(int(rate * core_seconds))
    more = ["--begin", str(begin)] if begin is not None else []
    more += ["--resume"] if folder.is_dir() else []
    words = ["train", "default", "--abstraction", str(made), "--iterations", deals, "--device", given.device]
    run([*words, "--seed", str(given.seed), "--check", "1000h", *more, "--out", str(folder)])


def played(first: Path, second: Path | str, given: argparse.Namespace) -> dict[str, Any]:
    """What a step wins of another, or of an agent by name."""
    name = second if isinstance(second, str) else second.name
    result: Path = given.out / f"{first.name}-against-{name}.json"
    if not result.exists():
        if isinstance(second, str):
            told = match(str(first), second, hands=given.hands, seed=given.seed).to_dict()
        else:
            told = duel(load_blueprint(first), load_blueprint(second), given.hands, given.seed, given.threads).record()
        result.write_text(json.dumps(told), encoding="utf-8")
    facts: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    return facts


def main() -> int:
    """Train the steps, match them, tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--core-minutes", default="2,10,40,120", help="of each step; wall clock is that over --threads")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default=CPU, help="cuda: as many deals as cores make in that time, on a GPU")
    parser.add_argument("--hands", type=int, default=3_000_000, help="of a duel")
    parser.add_argument(
        "--against", default="", help="agents by name that every step plays as well, such as demo,default"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for each in map(float, given.core_minutes.split(",")):
        trained(each, given)
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
