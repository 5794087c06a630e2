"""Choices of training and of play on and off at equal time: variants are trained, matched, put on record.

    python bench/ablations.py --list
    python bench/ablations.py averages --minutes 5 --hands 100000 --out runs/ablations
    python bench/ablations.py averages --iterations 16000000 --cards tiny --out runs/averages    # deals in place of minutes
    python bench/ablations.py size --minutes 1,5,20 --out runs/curve                             # against core-minutes
    riverboat ledger runs/ablations/ledger.jsonl --plot strength.svg                             # ratings over all matches

Every variant is trained for so many minutes on --threads and plays the first one. Variants with one betting tree are matched
by duels, others by matches, a million duplicate hands in seconds; those that search by matches with AIVAT.
What is trained or played already is not done again, so that a run may be stopped and go on. Cards are made where they are
missing.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from riverboat.abstraction.actions.translation import MAPPINGS
from riverboat.abstraction.build import build
from riverboat.abstraction.recipe import PublicRecipe, Recipe, StreetRecipe, load_recipe
from riverboat.api.match import match
from riverboat.api.train import train
from riverboat.evaluation.ledger import read_ledger
from riverboat.evaluation.matches.duel import duel
from riverboat.games.holdem.menus import parse_menu
from riverboat.solvers.mccfr.recipe import load_train_recipe
from riverboat.solvers.mccfr.tables import Pruning, Weighting
from riverboat.strategies.blueprint import load_blueprint

BEGIN = 0.1  # of the time that goes to coarse cards, where a variant begins with them
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
    """What is trained or played otherwise than by the recipe `demo`."""

    cards: str = ""  # --cards where nothing is said
    weighting: str = ""  # that of the recipe
    runouts: int = 0
    prune: float | None = None  # big blinds, from PRUNE_AFTER deals on
    begin: str | None = None
    menu: str | None = None
    cluster: str | None = None
    options: str = ""  # of the agent: `?purify`
    of: str | None = None  # the variant that is played with other options: it is not trained again


def streets(flop: StreetRecipe, turn: StreetRecipe, river: StreetRecipe, public: PublicRecipe | None = None) -> Recipe:
    """A recipe for cards."""
    return Recipe((StreetRecipe(), flop, turn, river), public)


def in_public(public: PublicRecipe) -> Recipe:
    """The cards of `tiny-public` with other public buckets."""
    preset = load_recipe("tiny-public")
    return replace(preset, public=public)


# Cards that are no presets: of the size of a preset, otherwise made.
OWN_CARDS = {
    "flat": streets(*(StreetRecipe(how, 100, passes=1) for how in ("histogram", "histogram", "ochs"))),
    "flat-l2": streets(
        *(StreetRecipe("histogram", 100, passes=1, metric="l2") for _ in range(2)), StreetRecipe("ochs", 100, passes=1)
    ),
    "forgets5": Recipe(
        tuple(  # type: ignore[arg-type]
            StreetRecipe(how, n, passes=1)
            for how, n in zip((*["histogram"] * 3, "ochs"), (5, 25, 125, 625), strict=True)
        )
    ),
    "potential100": streets(
        StreetRecipe("potential", 100, passes=5),
        StreetRecipe("histogram", 100, passes=1),
        StreetRecipe("ochs", 100, passes=1),
    ),
    "flops-mean": in_public(PublicRecipe(4, 200, 3, "mean")),
    "flops-medoids": in_public(PublicRecipe(4, 200, 3, "medoids")),
    "flops-hand": in_public(PublicRecipe(4, method="groups", groups=("paired", "monotone", "two-tone"))),
    "potential-up": streets(
        StreetRecipe("potential", 100, passes=5),
        StreetRecipe("potential", 100, passes=2),
        StreetRecipe("ochs", 100, passes=1),
    ),
}
POST = ("purify", "threshold=0.1", "threshold=0.2", "new=0.1", "new=0.2")

EXPERIMENTS: dict[str, tuple[str, dict[str, Variant]]] = {
    "averages": (
        "how fast averages forget the beginning: the power of the weights; regrets weighted linearly",
        {"linear": Variant(weighting="linear")}
        | {f"gamma{g}": Variant(weighting=f"linear:gamma={g}") for g in (0, 2, 4, 8, 16)},
    ),
    "regrets": (
        "the power of the weights of regrets, averages with 8; none and DCFR",
        {
            "linear": Variant(weighting="linear:gamma=8"),
            "alpha0": Variant(weighting="vanilla:gamma=8"),
            "alpha0.5": Variant(weighting="dcfr:alpha=0.5,beta=0.5,gamma=8"),
            "alpha2": Variant(weighting="dcfr:alpha=2,beta=2,gamma=8"),
            "dcfr": Variant(weighting="dcfr:alpha=1.5,beta=0,gamma=8"),
        },
    ),
    "size": (
        "buckets a street",
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
        "moves with bad regrets are skipped on most deals, from so many big blinds of regret on",
        {"all": Variant()} | {f"prune{n}": Variant(prune=n) for n in (3000, 300, 30)},
    ),
    "public": (
        "hierarchical public flops against a flat abstraction of as many buckets",
        {"flat": Variant(cards="flat"), "public": Variant(cards="tiny-public")},
    ),
    "flops": (
        "four public buckets of flops: Algorithm 3 against other objectives and against groups by hand",
        {"sum": Variant(cards="tiny-public")} | {n: Variant(cards=f"flops-{n}") for n in ("mean", "medoids", "hand")},
    ),
    "recall": (
        "perfect recall (percentiles of percentiles) against as many buckets that forget",
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
        "post-processing where the river is searched",
        {"plain": Variant(), "searched": Variant(options="?search=river", of="plain")}
        | {f"{each}-searched": Variant(options=f"?{each}&search=river", of="plain") for each in POST},
    ),
    "translation": (
        "the seven mappings against an agent with other bets, which all of them meet",
        {"other": Variant(cards="tiny", menu=LARGE), "plain": Variant(cards="tiny")}
        | {name: Variant(options=f"?translation={name}", of="plain") for name in MAPPINGS},
    ),
}


def cards_of(name: str, out: Path, threads: int) -> Path:
    """The card abstraction of a recipe, made once; a folder is taken as it is."""
    if Path(name).is_dir():
        return Path(name)
    recipe = replace(OWN_CARDS[name], name=name) if name in OWN_CARDS else load_recipe(name)
    build(recipe, out / "cards" / name, threads, resume=True)
    return out / "cards" / name


def trained(name: str, variant: Variant, minutes: float, given: argparse.Namespace) -> Path:
    """The folder of a variant after so many minutes or iterations."""
    out: Path = given.out
    threads: int = given.threads
    folder = out / (f"{name}-{minutes:g}" if given.iterations is None else f"{name}-{given.iterations}")
    if (folder / "strategy").is_dir():
        return folder
    recipe = load_train_recipe("demo")
    weighting = Weighting(variant.weighting, recipe.weighting.period) if variant.weighting else recipe.weighting
    menu = recipe.menu if variant.menu is None else parse_menu(variant.menu)
    pruning = None if variant.prune is None else Pruning(-variant.prune * recipe.rules.big_blind, PRUNE_AFTER)
    recipe = replace(recipe, runouts=variant.runouts, weighting=weighting, menu=menu, pruning=pruning)
    how: dict[str, Any] = {"threads": threads, "seed": given.seed, "check_seconds": 1e9}
    limit: dict[str, Any] = {"time": 60 * minutes} if given.iterations is None else {"iterations": given.iterations}
    begin = None
    if variant.begin is not None:
        begin = folder.with_name(f"{folder.name}.begin")
        coarse = cards_of(variant.begin, out, threads)
        part = {key: type(value)(BEGIN * value) for key, value in limit.items()}
        train(recipe, out=begin, abstraction=coarse, resume=begin.is_dir(), **part, **how)
        limit = {key: value - part[key] for key, value in limit.items()}  # of the new work alone
    fine = cards_of(variant.cards or given.cards, out, threads)
    train(
        recipe,
        out=folder,
        abstraction=fine,
        begin=begin,
        resume=folder.is_dir(),
        cluster=variant.cluster,
        **limit,
        **how,
    )
    return folder


def played(agent: str, other: str, given: argparse.Namespace) -> dict[str, Any]:
    """What an agent wins of another: by a duel where both are tables over one tree, by as many hands of a match where their
    trees or options differ, and with AIVAT where somebody searches.
    """
    if all(Path(each).is_dir() for each in (agent, other)):
        first, second = load_blueprint(agent), load_blueprint(other)
        if first.tree.fingerprint == second.tree.fingerprint:
            return {**duel(first, second, given.duel_hands, given.seed, given.threads).record(), "how": "duel"}
    if "search=" not in agent + other:
        return {**match(agent, other, hands=given.duel_hands, seed=given.seed).to_dict(), "how": "match"}
    made = match(agent, other, hands=given.hands, aivat=True, threads=given.threads, seed=given.seed).to_dict()
    return {**made, "how": "AIVAT"}


def options() -> argparse.Namespace:
    """What the command was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", nargs="?", choices=EXPERIMENTS, default="averages")
    parser.add_argument("--list", action="store_true", help="say what there is")
    parser.add_argument("--minutes", default="5", help="of training; a list for a curve")
    parser.add_argument("--iterations", type=int, help="deals of training in place of minutes")
    parser.add_argument("--cards", default="small", help="of variants that say nothing of them: a preset or a folder")
    parser.add_argument("--opponent", help="an agent that all variants play in place of the first one")
    parser.add_argument("--only", help="some of the variants; the first is what the others play")
    parser.add_argument("--hands", type=int, default=100_000, help="of matches with AIVAT")
    parser.add_argument("--duel-hands", type=int, default=DUEL_HANDS)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.out is None and not given.list:
        parser.error("--out DIR: where runs and results go")
    return given


def main() -> None:
    """Train, match, write."""
    given = options()
    if given.list:
        for name, (about, variants) in EXPERIMENTS.items():
            print(f"{name:12} {about}: {', '.join(variants)}")
        return
    given.out.mkdir(parents=True, exist_ok=True)
    variants = EXPERIMENTS[given.experiment][1]
    chosen = given.only.split(",") if given.only else list(variants)
    against = given.opponent
    for minutes in map(float, given.minutes.split(",")):
        for name in chosen:
            variant = variants[name]
            base = name if variant.of is None else variant.of
            folder = trained(base, variants[base], minutes, given)
            if against is None:  # the first is what the others play, each as soon as it is trained
                against = f"{folder}{variant.options}"
            else:
                report(folder, variant.options, against, given)


def report(folder: Path, more: str, against: str, given: argparse.Namespace) -> None:
    """Play what has not been played, put it on record and tell it."""
    title = f"{folder.name}{more}"
    result = given.out / f"{given.experiment}-{title.replace('?', '-').replace('=', '')}.json"
    if not result.exists():
        result.write_text(json.dumps(played(f"{folder}{more}", against, given)))
    told = json.loads(result.read_text())
    if "about" in told:
        ledger = read_ledger(given.out / "ledger.jsonl")
        ledger.add({key: value for key, value in told.items() if key != "how"}, str(result)).write()
    size = sum(path.stat().st_size for path in (folder / "strategy").glob("*.npy")) / 1e6
    print(
        f"{title:>28} against {against.rpartition('/')[2]}: {told['mbb_per_game']:+8.1f} ± {told['ci95']:5.1f} mbb/g "
        f"({told['how']}, {told['hands']:,} hands), {size:.1f} MB",
        flush=True,
    )


if __name__ == "__main__":
    main()
