"""What building a recipe takes: its stages, and an estimate of time and memory for each."""

from __future__ import annotations

from dataclasses import dataclass

from riverboat.abstraction import points
from riverboat.abstraction.card_abstraction import STREETS
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
    if recipe.public is not None:
        tables.append("flop")
    if "flop" in tables:
        tables.append("turn")
    stages = [_table(name) for name in ("preflop", "turn", "flop", "strength", "ochs") if name in tables]
    if recipe.street("preflop").method == "percentile":
        return stages + [Stage(s, "buckets", CUTS[s], 6 * CANONICAL[s], "parts of each bucket before") for s in STREETS]
    if recipe.public is not None:
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
    return Stage(name, "table", seconds, int(1.3 * table.bytes), f"features: {name}")


def _street(name: str, street: str, recipe: StreetRecipe, inside: int, about: str) -> Stage:
    hands, k = CANONICAL[street], recipe.buckets
    if recipe.method in ("lossless", "strength"):
        return Stage(name, "buckets", 2.0 if recipe.method == "strength" else 0.1, 3 * hands, about)
    pairs = hands * (PAIRS.get(street, 1.0) if inside > 1 else 1.0)
    dims = DIMS.get(recipe.method, points.BINS)
    sample = recipe.sampled()
    begin = inside * recipe.restarts * sample * k * dims * BEGIN
    every = pairs * recipe.passes * (STEP * dims + SEARCH * dims * k**0.5)
    if recipe.method == "potential":
        every, begin = pairs * recipe.passes * 35e-6 * (k / 1000), inside * sample * k * 1e-8
    memory = hands * (dims * (2 if street == "flop" else 1)) + pairs * 2 + pairs / inside * (dims + 20)
    return Stage(name, "buckets", begin + every, int(memory), about)


# Measured on one thread: seconds for each number that is compared while clusters are begun, in a pass over points that stay,
# and in the search of those that may not.
BEGIN = 0.5e-10
STEP = 1e-9
SEARCH = 1e-10
CUTS = {"preflop": 0.1, "flop": 1.0, "turn": 8.0, "river": 300.0}  # seconds to count values by sequence
