"""Choices of training on and off at equal time, and strength against time: variants are trained, matched, put on record.

    python bench/ablations.py --minutes 5 --hands 100000 --out runs/ablations
    python bench/ablations.py --minutes 1,5,20 --only base --out runs/curve        # strength against core-minutes
    riverboat ledger runs/ablations/ledger.jsonl                                   # ratings over all matches

Every variant is trained for so many minutes on --threads, all with the demo's bets, and plays the first of them with AIVAT.
What is trained or played already is not done again, so that a run may be stopped and go on. Cards are made where they are
missing.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, replace
from pathlib import Path

from riverboat.abstraction.build import build
from riverboat.abstraction.recipe import load_recipe
from riverboat.evaluation.ledger import read_ledger
from riverboat.solving.blueprint_tables import Weighting
from riverboat.solving.train_recipe import load_train_recipe
from riverboat.verbs.matching import match
from riverboat.verbs.training import train

BEGIN = 0.1  # of the time that goes to coarse cards, where a variant begins with them


@dataclass(frozen=True)
class Variant:
    """What is trained otherwise than by the recipe `default`."""

    cards: str = "small"
    weighting: str = "linear"
    runouts: int = 0
    begin: str | None = None


VARIANTS = {
    "base": Variant(),
    "begun": Variant(begin="tiny"),
    "tiny": Variant(cards="tiny"),
    "medium": Variant(cards="medium"),
    "standard": Variant(cards="standard"),
    "potential": Variant(cards="potential"),
    "runouts": Variant(runouts=8),
    "unweighted": Variant(weighting="none"),
    "dcfr": Variant(weighting="dcfr:alpha=1.5,beta=0,gamma=2"),
}


def cards_of(name: str, out: Path, threads: int) -> Path:
    """The card abstraction of a recipe, made once."""
    build(load_recipe(name), out / "cards" / name, threads, resume=True)
    return out / "cards" / name


def trained(name: str, minutes: float, out: Path, threads: int, seed: int) -> Path:
    """The folder of a variant after so many minutes."""
    variant, folder = VARIANTS[name], out / f"{name}-{minutes:g}"
    if (folder / "strategy").is_dir():
        return folder
    recipe = load_train_recipe("default")
    period = recipe.weighting.period
    recipe = replace(recipe, runouts=variant.runouts, weighting=Weighting(variant.weighting, period))
    how = {"threads": threads, "seed": seed, "check_seconds": 1e9}
    begin = None
    if variant.begin is not None:
        begin = out / f"{name}-{minutes:g}.begin"
        coarse = cards_of(variant.begin, out, threads)
        train(recipe, out=begin, abstraction=coarse, time=BEGIN * 60 * minutes, resume=begin.is_dir(), **how)
    fine = cards_of(variant.cards, out, threads)
    train(recipe, out=folder, abstraction=fine, time=60 * minutes, begin=begin, resume=folder.is_dir(), **how)
    return folder


def main() -> None:
    """Train, match, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", default="5", help="of training; a list for a curve")
    parser.add_argument("--only", default=",".join(VARIANTS), help="variants; the first is what the others play")
    parser.add_argument("--hands", type=int, default=100_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    ledger_file = options.out / "ledger.jsonl"
    folders = [
        trained(name, float(minutes), options.out, options.threads, options.seed)
        for minutes in options.minutes.split(",")
        for name in options.only.split(",")
    ]
    for folder in folders[1:]:
        result = options.out / f"{folder.name}.json"
        if not result.exists():
            played = match(str(folder), str(folders[0]), hands=options.hands, aivat=True, threads=options.threads)
            result.write_text(json.dumps(played.to_dict()))
        told = json.loads(result.read_text())
        read_ledger(ledger_file).add(told, str(result)).write()
        size = sum(path.stat().st_size for path in (folder / "strategy").glob("*.npy")) / 1e6
        core = float(folder.name.rpartition("-")[2]) * options.threads
        print(
            f"{folder.name:>20} against {folders[0].name}: {told['mbb_per_game']:+8.1f} ± {told['ci95']:5.1f} mbb/g, "
            f"{core:g} core-minutes, {size:.1f} MB",
            flush=True,
        )


if __name__ == "__main__":
    main()
