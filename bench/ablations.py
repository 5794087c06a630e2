"""Ablations of training and play at equal time: variants are trained, matched and recorded in a ledger.

    python bench/ablations.py --list
    python bench/ablations.py averages --minutes 5 --hands 100000 --out runs/ablations
    python bench/ablations.py averages --iterations 16000000 --cards tiny --out runs/averages  # deals instead of minutes
    python bench/ablations.py size --minutes 1,5,20 --out runs/curve  # against core-minutes
    riverboat ledger runs/ablations/ledger.jsonl --plot strength.svg  # ratings over all matches

Every variant is trained for that time on --threads and plays the first variant. Variants with the same betting tree are
compared by duels, others by matches, a million duplicate hands in seconds; those with search by matches with AIVAT.
Existing trainings and results are reused, so that a run may be stopped and resumed. Missing card abstractions are
built.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from riverboat.abstraction.actions.translation import TRANSLATION_MAPPINGS
from riverboat.abstraction.build import build_abstraction
from riverboat.abstraction.recipe import AbstractionRecipe, PublicRecipe, StreetRecipe, load_recipe
from riverboat.api.match import match
from riverboat.api.train import train
from riverboat.evaluation.ledger import read_ledger
from riverboat.evaluation.matches.duel import duel
from riverboat.games.holdem.menus import parse_menu
from riverboat.solvers.mccfr.recipe import load_train_recipe
from riverboat.solvers.mccfr.tables import Pruning, Weighting
from riverboat.strategies.blueprint import load_blueprint

BEGIN = 0.1  # share of the time for the coarse cards of a warm start
DUEL_HANDS = 1_000_000
PRUNE_AFTER = 1_000_000  # deals
LARGE = """[menu]
preflop = ["2x, 2.5x, 3x, a", "50%, 100%, a", "100%, a"]
flop = ["33%, 66%, 100%, 200%, a", "100%, a", "100%, a"]
turn = ["50%, 100%, 200%, a", "100%, a", "a"]
river = ["50%, 100%, 200%, a", "100%, a", "a"]
"""


FOUR_BETS = 'preflop = ["2.5x, a", "100%, a", "100%, a", "a"]\n'
MENUS = {
    "demo": '[menu]\npreflop = ["2.5x, a", "100%, a", "a"]\nflop = ["50%, 100%, a", "100%, a", "a"]',
    "fourth": f'[menu]\n{FOUR_BETS}flop = ["50%, 100%, a", "100%, a", "a"]',
    "double": f'[menu]\n{FOUR_BETS}flop = ["50%, 100%, a", "100%, a", "a"]\nturn = ["50%, 100%, 200%, a", "100%, a", "a"]',
    "flop": f'[menu]\n{FOUR_BETS}flop = ["33%, 75%, 150%, a", "100%, a", "a"]\nturn = ["75%, 150%, a", "100%, a", "a"]',
    "small": f'[menu]\n{FOUR_BETS}flop = ["33%, 100%, a", "60%, a", "100%, a", "a"]',
}


@dataclass(frozen=True)
class Variant:
    """Differences of a variant from the recipe `demo`."""

    cards: str = ""  # by default --cards
    weighting: str = ""  # by default that of the recipe
    runouts: int = 0
    prune: float | None = None  # big blinds, after PRUNE_AFTER deals
    begin: str | None = None
    menu: str | None = None
    cluster: str | None = None
    options: str = ""  # of the agent, such as `?purify`
    of: str | None = None  # trained variant that is played with these options


def clustered(flop: StreetRecipe, turn: StreetRecipe) -> AbstractionRecipe:
    """Return a card abstraction with all hands before the flop, and 100 buckets by equity against groups on the river."""
    return AbstractionRecipe((StreetRecipe(), flop, turn, StreetRecipe("ochs", 100, passes=1)))


def in_public(public: PublicRecipe) -> AbstractionRecipe:
    """Return the cards of `tiny-public` with other public buckets."""
    return replace(load_recipe("tiny-public"), public=public)


HISTOGRAM, L2_HISTOGRAM = (
    StreetRecipe("histogram", 100, passes=1),
    StreetRecipe("histogram", 100, passes=1, metric="l2"),
)
# Card abstractions that are not presets: as large as a preset, but built differently.
OWN_CARDS = {
    "flat": clustered(HISTOGRAM, HISTOGRAM),
    "flat-l2": clustered(L2_HISTOGRAM, L2_HISTOGRAM),
    "forgets5": AbstractionRecipe(
        tuple(  # type: ignore[arg-type]
            StreetRecipe(how, n, passes=1)
            for how, n in zip((*["histogram"] * 3, "ochs"), (5, 25, 125, 625), strict=True)
        )
    ),
    "potential100": clustered(StreetRecipe("potential", 100, passes=5), HISTOGRAM),
    "flops-mean": in_public(PublicRecipe(4, 200, 3, "mean")),
    "flops-medoids": in_public(PublicRecipe(4, 200, 3, "medoids")),
    "flops-transitions": in_public(PublicRecipe(4, 200, 3, "transitions")),
    "flops-hand": in_public(PublicRecipe(4, method="groups", groups=("paired", "monotone", "two-tone"))),
    "potential-up": clustered(StreetRecipe("potential", 100, passes=5), StreetRecipe("potential", 100, passes=2)),
}
POST = ("purify", "threshold=0.1", "threshold=0.2", "new=0.1", "new=0.2")

EXPERIMENTS: dict[str, tuple[str, dict[str, Variant]]] = {
    "averages": (
        "exponent of the weights of averages; regrets weighted linearly",
        {"linear": Variant(weighting="linear")}
        | {f"gamma{g}": Variant(weighting=f"linear:gamma={g}") for g in (0, 2, 4, 8, 16)},
    ),
    "regrets": (
        "exponent of the weights of regrets, averages with 8; none and DCFR",
        {
            "linear": Variant(weighting="linear:gamma=8"),
            "alpha0": Variant(weighting="vanilla:gamma=8"),
            "alpha0.5": Variant(weighting="dcfr:alpha=0.5,beta=0.5,gamma=8"),
            "alpha2": Variant(weighting="dcfr:alpha=2,beta=2,gamma=8"),
            "dcfr": Variant(weighting="dcfr:alpha=1.5,beta=0,gamma=8"),
        },
    ),
    "size": (
        "buckets per street",
        {name: Variant(cards=name) for name in ("small", "tiny", "medium", "standard")},
    ),
    "sizes": (
        "buckets against bet sizes: 500 buckets with the demo's bets, 100 with the larger menu of `laptop`",
        {
            "buckets": Variant(cards="small"),
            "bets": Variant(cards="tiny", menu=LARGE),
            "neither": Variant(cards="tiny"),
        },
    ),
    "menus": (
        "bets, each against the demo's: --opponent demo plays all against one agent",
        {name: Variant(cards="tiny", weighting="linear:gamma=8", menu=menu) for name, menu in MENUS.items()},
    ),
    "begin": ("coarse to fine against a cold start", {"cold": Variant(), "begun": Variant(begin="tiny")}),
    "runouts": ("all-ins paid by the mean of eight boards", {"dealt": Variant(), "runouts": Variant(runouts=8)}),
    "pruning": (
        "regret-based pruning, by the threshold in big blinds",
        {"all": Variant()} | {f"prune{n}": Variant(prune=n) for n in (3000, 300, 30)},
    ),
    "public": (
        "hierarchical public flops against a flat abstraction of as many buckets",
        {"flat": Variant(cards="flat"), "public": Variant(cards="tiny-public")},
    ),
    "flops": (
        "four public buckets of flops: Algorithm 3 against other objectives, transition tables and groups by hand",
        {"sum": Variant(cards="tiny-public")}
        | {n: Variant(cards=f"flops-{n}") for n in ("mean", "medoids", "transitions", "hand")},
    ),
    "recall": (
        "perfect recall (percentiles of percentiles) against as many imperfect-recall buckets",
        {"forgets": Variant(cards="forgets5"), "recalls": Variant(cards="percentile5")},
    ),
    "distance": (
        "earth mover's distance against L2 for histograms of flop and turn",
        {"emd": Variant(cards="flat"), "l2": Variant(cards="flat-l2")},
    ),
    "potential": (
        "a potential-aware flop, and potential from the river up, against histograms of river strength",
        {"flat": Variant(cards="flat"), "flop": Variant(cards="potential100"), "up": Variant(cards="potential-up")},
    ),
    "cluster": (
        "head and blades in one process against shared memory at equal time, four public buckets",
        {"shared": Variant(cards="tiny-public"), "blades": Variant(cards="tiny-public", cluster="none")},
    ),
    "post": (
        "post-processing: both thresholds, purification",
        {"plain": Variant()} | {each: Variant(options=f"?{each}", of="plain") for each in POST},
    ),
    "post-search": (
        "post-processing with search on the river",
        {"plain": Variant(), "searched": Variant(options="?search=river", of="plain")}
        | {f"{each}-searched": Variant(options=f"?{each}&search=river", of="plain") for each in POST},
    ),
    "translation": (
        "the seven mappings against one agent with other bet sizes",
        {"other": Variant(cards="tiny", menu=LARGE), "plain": Variant(cards="tiny")}
        | {name: Variant(options=f"?translation={name}", of="plain") for name in TRANSLATION_MAPPINGS},
    ),
}


def cards_of(name: str, out: Path, threads: int) -> Path:
    """Return the card abstraction of a recipe, built once; a folder is returned as it is."""
    if Path(name).is_dir():
        return Path(name)
    recipe = replace(OWN_CARDS[name], name=name) if name in OWN_CARDS else load_recipe(name)
    build_abstraction(recipe, out / "cards" / name, threads, resume=True)
    return out / "cards" / name


def trained(name: str, variant: Variant, minutes: float, arguments: argparse.Namespace) -> Path:
    """Return the folder of a variant, trained for some minutes or iterations."""
    out: Path = arguments.out
    threads: int = arguments.threads
    folder = out / (f"{name}-{minutes:g}" if arguments.iterations is None else f"{name}-{arguments.iterations}")
    if (folder / "strategy").is_dir():
        return folder
    recipe = load_train_recipe("demo")
    weighting = Weighting(variant.weighting, recipe.weighting.period) if variant.weighting else recipe.weighting
    menu = recipe.menu if variant.menu is None else parse_menu(variant.menu)
    pruning = None if variant.prune is None else Pruning(-variant.prune * recipe.rules.big_blind, PRUNE_AFTER)
    recipe = replace(recipe, runouts=variant.runouts, weighting=weighting, menu=menu, pruning=pruning)
    how: dict[str, Any] = {"threads": threads, "seed": arguments.seed, "check_seconds": 1e9}
    limit: dict[str, Any] = (
        {"time": 60 * minutes} if arguments.iterations is None else {"iterations": arguments.iterations}
    )
    begin = None
    if variant.begin is not None:
        begin = folder.with_name(f"{folder.name}.begin")
        coarse = cards_of(variant.begin, out, threads)
        part = {key: type(value)(BEGIN * value) for key, value in limit.items()}
        train(recipe, out=begin, abstraction=coarse, resume=begin.is_dir(), **part, **how)
        limit = {key: value - part[key] for key, value in limit.items()}  # limits count new work only
    fine = cards_of(variant.cards or arguments.cards, out, threads)
    how |= {"begin": begin, "resume": folder.is_dir(), "cluster": variant.cluster}
    train(recipe, out=folder, abstraction=fine, **limit, **how)
    return folder


def played(agent: str, other: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure an agent against another.

    By a duel if both are tables over the same tree, by a match if their trees or options differ, and with AIVAT if one
    searches.
    """
    if all(Path(each).is_dir() for each in (agent, other)):
        first, second = load_blueprint(agent), load_blueprint(other)
        if first.tree.fingerprint == second.tree.fingerprint:
            result = duel(first, second, arguments.duel_hands, arguments.seed, arguments.threads)
            return result.record() | {"how": "duel"}
    if "search=" not in agent + other:
        return match(agent, other, hands=arguments.duel_hands, seed=arguments.seed).to_dict() | {"how": "match"}
    options = {"hands": arguments.hands, "threads": arguments.threads, "seed": arguments.seed}
    return match(agent, other, aivat=True, **options).to_dict() | {"how": "AIVAT"}


def options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", nargs="?", choices=EXPERIMENTS, default="averages")
    parser.add_argument("--list", action="store_true", help="list the experiments")
    parser.add_argument("--minutes", default="5", help="minutes of training; a list for a curve")
    parser.add_argument("--iterations", type=int, help="deals of training instead of minutes")
    parser.add_argument("--cards", default="small", help="default card abstraction of variants: a preset or a folder")
    parser.add_argument("--opponent", help="agent that all variants play instead of the first variant")
    parser.add_argument("--only", help="comma-separated variants; the others play the first")
    parser.add_argument("--hands", type=int, default=100_000, help="hands of matches with AIVAT")
    parser.add_argument("--duel-hands", type=int, default=DUEL_HANDS)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    if arguments.out is None and not arguments.list:
        parser.error("--out DIR is required: the folder for runs and results")
    return arguments


def main() -> None:
    """Train, match and record."""
    arguments = options()
    if arguments.list:
        for name, (about, variants) in EXPERIMENTS.items():
            print(f"{name:12} {about}: {', '.join(variants)}")
        return
    arguments.out.mkdir(parents=True, exist_ok=True)
    variants = EXPERIMENTS[arguments.experiment][1]
    chosen = arguments.only.split(",") if arguments.only else list(variants)
    against = arguments.opponent
    for minutes in map(float, arguments.minutes.split(",")):
        for name in chosen:
            variant = variants[name]
            base = name if variant.of is None else variant.of
            folder = trained(base, variants[base], minutes, arguments)
            if against is None:  # the others play the first variant, each as soon as it is trained
                against = f"{folder}{variant.options}"
            else:
                report(folder, variant.options, against, arguments)


def report(folder: Path, more: str, against: str, arguments: argparse.Namespace) -> None:
    """Play a match that has not been played, record it and print the result."""
    title = f"{folder.name}{more}"
    result = arguments.out / f"{arguments.experiment}-{title.replace('?', '-').replace('=', '')}.json"
    if not result.exists():
        result.write_text(json.dumps(played(f"{folder}{more}", against, arguments)))
    facts = json.loads(result.read_text())
    if "about" in facts:
        ledger = read_ledger(arguments.out / "ledger.jsonl")
        ledger.add({key: value for key, value in facts.items() if key != "how"}, str(result)).write()
    size = sum(path.stat().st_size for path in (folder / "strategy").glob("*.npy")) / 1e6
    figures = f"{facts['mbb_per_game']:+8.1f} ± {facts['ci95']:5.1f} mbb/g ({facts['how']}, {facts['hands']:,} hands)"
    print(f"{title:>28} against {against.rpartition('/')[2]}: {figures}, {size:.1f} MB", flush=True)


if __name__ == "__main__":
    main()
