"""What building a recipe takes: its stages, and an estimate of time and memory for each."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

from riverboat.abstraction.cards.card_abstraction import STREETS
from riverboat.abstraction.clustering import points
from riverboat.abstraction.recipe import CANONICAL, Recipe, StreetRecipe

DIMS = {"histogram": points.BINS, "ochs": 8}
PAIRS = {"flop": 1.0, "turn": 3.5, "river": 8.0}  # public buckets that a board may have begun in, of sixty, on average


@dataclass(frozen=True)
class Stage:
    """One step of a build."""

    name: str  # of a table, or "base", "public", or a street
    kind: str  # "table" or "buckets"
    seconds: float  # on one thread, an estimate from measured rates
    memory: int  # bytes at the peak, an estimate
    about: str


def plan(recipe: Recipe) -> list[Stage]:
    """The stages of a recipe, in order. Tables that are kept already take no time."""
    tables: list[str] = []
    for street in STREETS:
        method = recipe.street(street).method
        if method == "percentile":
            tables += ["strength"] if street == "river" else [street]
        elif method in ("ochs", "strength"):
            tables.append(method)
        elif method == "histogram":
            tables.append(street)
    if recipe.public is not None and not recipe.public.by_hand:
        tables.append("flop")
    if "flop" in tables:
        tables.append("turn")
    stages = [_table(name) for name in ("preflop", "turn", "flop", "strength", "ochs") if name in tables]
    if recipe.street("preflop").method == "percentile":
        return stages + [Stage(s, "buckets", CUTS[s], 6 * CANONICAL[s], "parts of each bucket before") for s in STREETS]
    if recipe.public is not None:
        if not recipe.public.by_hand:
            base = StreetRecipe("histogram", recipe.public.base)
            stages.append(_street("base", "flop", base, 1, "flop clusters by which flops are compared"))
        stages.append(Stage("public", "buckets", 5.0, 200 << 20, f"{recipe.public.buckets} public buckets of flops"))
    for street in reversed(STREETS):
        here = recipe.street(street)
        inside = recipe.public.buckets if recipe.public is not None and street != "preflop" else 1
        about = f"{here.method}, {here.buckets:,} buckets" + (f" in each of {inside}" if inside > 1 else "")
        stages.append(_street(street, street, here, inside, about if here.method != "lossless" else "every hand"))
    return stages


def _table(name: str) -> Stage:
    table = points.TABLES[name]
    seconds = 0.0 if points.have(name) else table.seconds
    return Stage(name, "table", seconds, int(1.3 * table.bytes), f"{name} features")


def _street(name: str, street: str, recipe: StreetRecipe, inside: int, about: str) -> Stage:
    hands, k = CANONICAL[street], recipe.buckets
    if recipe.method in ("lossless", "strength"):
        return Stage(name, "buckets", 2.0 if recipe.method == "strength" else 0.1, 3 * hands, about)
    pairs = hands * (_begun_in(street, inside) if inside > 1 else 1.0)
    dims = DIMS.get(recipe.method, points.BINS)
    sample = min(recipe.sampled(), pairs / inside)
    if recipe.method == "potential":
        seconds = POTENTIAL * pairs * k * recipe.passes
    else:
        begin = BEGIN * inside * recipe.restarts * sample * dims * k**0.5
        seconds = begin + pairs * (recipe.passes + 1) * (STAY[recipe.method] + SEARCH[recipe.method] * k**0.5)
    memory = hands * (dims * (2 if street == "flop" else 1)) + pairs * 2 + pairs / inside * (dims + 20)
    if recipe.method == "potential":
        memory += ENTRY * pairs / inside * (47 if street == "flop" else 46)  # cards that may come
    return Stage(name, "buckets", seconds, int(memory), about)


def _begun_in(street: str, public: int) -> float:
    """Public buckets that a board may have begun in: those of its flops, which few buckets share."""
    flops = comb({"flop": 3, "turn": 4, "river": 5}[street], 3)
    return min(PAIRS[street], public * (1 - (1 - 1 / public) ** flops))


# Measured on one thread, in seconds, to be within a factor of two: for each number of a sample, times the root of the
# clusters; in a pass over all hands, for a hand that stays, and for one that looks for its cluster, times that root; and of
# the potential-aware pass, for each hand and cluster.
BEGIN = 5e-8
STAY = {"histogram": 3e-7, "ochs": 6e-8}
SEARCH = {"histogram": 1.7e-8, "ochs": 9e-9}
POTENTIAL = 3.5e-8
ENTRY = 16  # bytes of a cluster that a hand leads to, while histograms are put together
CUTS = {"preflop": 0.1, "flop": 2.0, "turn": 3.0, "river": 30.0}  # to count values by sequence
