"""Recipes of card abstractions, as small TOML files.

    about = "purpose of the abstraction"
    seed = 1
    [public]                     # optional: public buckets of flops; the buckets below are then inside each of them
    buckets = 60
    base = 5000                  # flop clusters by which flops are compared
    method = "sum"               # Brown et al. 2015, Alg. 3; or mean, medoids; or groups = ["paired", "monotone"]
    [flop]                       # [preflop] is lossless (169 hands) by default
    method = "histogram"
    buckets = 5000
    [turn]
    method = "histogram"
    buckets = 5000
    [river]
    method = "ochs"
    buckets = 5000

Methods: `lossless`; `histogram` (k-means of strength histograms, earth mover's distance); `ochs` (k-means of strength
against eight groups of opponent hands, river); `potential` (k-means of histograms over the buckets of the next street);
`strength` (hands sorted by river strength, buckets of equal weight); `percentile` (each bucket of the previous street
is split into buckets of equal weight: perfect recall, on all streets or none). The module also estimates time and
memory of each stage of a build.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields, replace
from itertools import pairwise
from math import comb
from pathlib import Path
from typing import Any, TypeVar

from riverboat.abstraction.cards.card_abstraction import STREETS
from riverboat.abstraction.clustering import features
from riverboat.abstraction.clustering.public_clusters import OBJECTIVES, flop_groups
from riverboat.core import files
from riverboat.core.errors import InputError, short_repr
from riverboat.core.schema import UserEntries
from riverboat.core.validation import check_name

T = TypeVar("T")
CANONICAL_HANDS = {"preflop": 169, "flop": 1_286_792, "turn": 13_960_050, "river": 123_156_254}
METHOD_STREETS = {
    "lossless": STREETS,
    "histogram": ("preflop", "flop", "turn"),
    "ochs": ("river",),
    "potential": ("flop", "turn"),
    "strength": ("river",),
    "percentile": STREETS,
}


DEFAULT_METRICS = {"histogram": "emd", "ochs": "l2"}  # default distance between hands in k-means, by method
DISTANCES = ("emd", "l2")
TRANSITIONS_METHOD = "transitions"  # method of public buckets by k-means over transition tables (Waugh et al. 2009)
GROUPS_METHOD = "groups"  # method of public buckets that are defined manually, by flop textures


@dataclass(frozen=True)
class StreetRecipe:
    """Recipe of the buckets of one street.

    Parameters
    ----------
    method
        A key of `METHOD_STREETS`.
    buckets
        Number of clusters (of each public bucket); for `percentile`, parts of each bucket of the previous street.
    value
        For `percentile`: `square` sorts hands by E[HS²], `mean` by E[HS].
    sample
        Hands of the sample that initializes the clusters; 0: depends on the number of buckets.
    restarts
        Starts of k-means on the sample.
    passes
        Most passes over all hands.
    metric
        For `histogram`: `emd` or `l2`; empty for the default of the method.

    Examples
    --------
    >>> StreetRecipe("histogram", 500).effective_metric
    'emd'
    """

    method: str = "lossless"
    buckets: int = 0  # clusters (of each public bucket); percentile: parts of each bucket of the previous street
    value: str = "square"  # percentile: E[HS²] is "square", E[HS] is "mean"
    sample: int = 0  # hands of the sample that initializes the clusters; 0: depends on the number of buckets
    restarts: int = 1  # on the sample
    passes: int = 8  # most passes over all hands
    metric: str = ""  # histogram: "emd" or "l2"; empty: the default of the method

    @property
    def effective_metric(self) -> str:
        """Distance between hands in k-means: `metric`, or the default of the method; empty for other methods."""
        return self.metric or DEFAULT_METRICS.get(self.method, "")

    def to_dict(self) -> dict[str, Any]:
        """Return the recipe as entries of its TOML section; an empty `metric` is left out."""
        return {key: value for key, value in asdict(self).items() if key != "metric" or value}

    def sample_size(self, buckets: int | None = None) -> int:
        """Return the number of hands in the sample that initializes the clusters.

        Parameters
        ----------
        buckets
            Number of clusters; that of the recipe by default.
        """
        return self.sample or max(50_000, 40 * (buckets or self.buckets))


@dataclass(frozen=True)
class PublicRecipe:
    """Recipe of the public buckets of flops.

    Parameters
    ----------
    buckets
        Number of public buckets.
    base
        Flop clusters of the base abstraction, by which flops are compared.
    restarts
        Starts of the clustering.
    method
        Objective of the clustering, one of `OBJECTIVES`; `transitions`, k-means over transition tables; or `groups`.
    groups
        Flop textures of manually defined groups, such as `paired`; for method `groups` only.

    Examples
    --------
    >>> PublicRecipe(60).to_dict()
    {'buckets': 60, 'base': 5000, 'restarts': 10}
    """

    buckets: int = 0
    base: int = 5000  # flop clusters of the base abstraction
    restarts: int = 10
    method: str = "sum"  # objective of the clustering, one of `OBJECTIVES`; or TRANSITIONS_METHOD, GROUPS_METHOD
    groups: tuple[str, ...] = ()  # flop textures, for GROUPS_METHOD

    @property
    def manual(self) -> bool:
        """Whether groups are defined manually by flop textures."""
        return self.method == GROUPS_METHOD

    @property
    def needs_base(self) -> bool:
        """Whether flops are compared by a base abstraction of `base` buckets."""
        return self.method in OBJECTIVES

    def check(self) -> None:
        """Raise InputError for a recipe that cannot be built."""
        check_name("method of [public]", self.method, (*OBJECTIVES, TRANSITIONS_METHOD, GROUPS_METHOD))
        if self.manual != bool(self.groups):
            raise InputError(
                f"[public] method = {short_repr(self.method)}: groups and method = {GROUPS_METHOD!r} require each other"
            )
        if not 1 <= self.buckets <= 1755:
            raise InputError(f"[public] buckets = {self.buckets}: there are 1,755 flops")
        count = int(flop_groups(self.groups).max()) + 1 if self.manual else self.buckets
        if self.buckets != count:
            raise InputError(
                f"[public] buckets = {self.buckets}: the groups, with one for all other flops, are {count}"
            )
        if not 1 <= self.base <= CANONICAL_HANDS["flop"] or self.restarts < 1:
            raise InputError(f"[public] base = {self.base}, restarts = {self.restarts}: must be at least 1")

    def to_dict(self) -> dict[str, Any]:
        """Return the recipe as entries of its TOML section; the default `method` and empty `groups` are left out."""
        entries = {**asdict(self), "groups": list(self.groups)}
        defaults = {"method": "sum", "groups": []}
        return {key: value for key, value in entries.items() if value != defaults.get(key)}


@dataclass(frozen=True)
class AbstractionRecipe:
    """Recipe of a card abstraction of hold'em.

    Parameters
    ----------
    streets
        Recipes of preflop, flop, turn and river.
    public
        Recipe of the public buckets; None for none.
    name
        Name of the abstraction.
    about
        Purpose of the abstraction, one line.
    seed
        Seed of all clusterings.

    Raises
    ------
    InputError
        A street or the combination of methods cannot be built.

    Examples
    --------
    >>> flop = StreetRecipe("histogram", 50)
    >>> AbstractionRecipe((StreetRecipe(), flop, flop, StreetRecipe("ochs", 50))).counts
    (169, 50, 50, 50)
    """

    streets: tuple[StreetRecipe, StreetRecipe, StreetRecipe, StreetRecipe]
    public: PublicRecipe | None = None
    name: str = "recipe"
    about: str = ""
    seed: int = 1

    def __post_init__(self) -> None:
        for street, recipe in zip(STREETS, self.streets, strict=True):
            _check_street(street, recipe)
        methods = dict(zip(STREETS, (recipe.method for recipe in self.streets), strict=True))
        nested = [street for street in STREETS if methods[street] == "percentile"]
        if nested and len(nested) < len(STREETS):
            other = next(street for street in STREETS if street not in nested)
            raise InputError(f"[{nested[0]}] method = 'percentile', but not [{other}]: all streets or none")
        if nested and self.public is not None:
            raise InputError(
                "[public] with percentiles: percentiles split the buckets of the previous street; use only one of them"
            )
        if self.public is not None:
            self.public.check()
            plain = [street for street in STREETS[1:] if methods[street] in ("lossless", "strength")]
            if plain:
                raise InputError(f"[{plain[0]}]: public buckets need clustered hands; use histogram, potential or ochs")
        for street, following in pairwise(STREETS[1:]):
            if methods[street] == "potential" and methods[following] not in ("histogram", "ochs", "potential"):
                raise InputError(
                    f"[{street}] method = 'potential' needs clusters on the next street, not {methods[following]!r}"
                )

    def street(self, name: str) -> StreetRecipe:
        """Return the recipe of one street.

        Parameters
        ----------
        name
            preflop, flop, turn or river.
        """
        return self.streets[STREETS.index(name)]

    @property
    def counts(self) -> tuple[int, ...]:
        """Number of buckets of each street; an upper bound if a public bucket may have fewer hands than buckets."""
        out: list[int] = []
        for street, recipe in zip(STREETS, self.streets, strict=True):
            if recipe.method == "lossless":
                out.append(CANONICAL_HANDS[street])
            elif recipe.method == "percentile":
                out.append(recipe.buckets * (out[-1] if out else 1))
            else:
                times = self.public.buckets if self.public is not None and street != "preflop" else 1
                out.append(recipe.buckets * times)
        return tuple(out)

    def to_dict(self) -> dict[str, Any]:
        """Return the recipe as entries of its TOML file: name, about, seed, and a table for each section."""
        entries: dict[str, Any] = {"name": self.name, "about": self.about, "seed": self.seed}
        if self.public is not None:
            entries["public"] = self.public.to_dict()
        return entries | {street: recipe.to_dict() for street, recipe in zip(STREETS, self.streets, strict=True)}

    @property
    def fingerprint(self) -> str:
        """Hexadecimal SHA-256 of all entries that the result depends on: all but `name` and `about`."""
        entries = {key: value for key, value in self.to_dict().items() if key not in ("name", "about")}
        return hashlib.sha256(json.dumps(entries, sort_keys=True).encode()).hexdigest()


def _check_street(street: str, recipe: StreetRecipe) -> None:
    """Raise InputError if the method does not support the street, or a number of its recipe is out of range."""
    where = f"[{street}]"
    check_name(f"method of {where}", recipe.method, METHOD_STREETS)
    if street not in METHOD_STREETS[recipe.method]:
        raise InputError(
            f"{where} method = {recipe.method!r}: only supported for {', '.join(METHOD_STREETS[recipe.method])}"
        )
    if recipe.method != "lossless" and not 1 <= recipe.buckets <= CANONICAL_HANDS[street]:
        raise InputError(
            f"{where} buckets = {recipe.buckets}: must be 1 to {CANONICAL_HANDS[street]:,}, the number of hands of the street"
        )
    if recipe.method == "lossless" and recipe.buckets:
        raise InputError(
            f"{where} buckets = {recipe.buckets}with the lossless method: choose another method, or leave buckets out"
        )
    if recipe.metric and (recipe.method != "histogram" or recipe.metric not in DISTANCES):
        raise InputError(
            f"{where} metric = {short_repr(recipe.metric)}: must be {' or '.join(DISTANCES)}, for method histogram only"
        )
    check_name(f"value of {where}", recipe.value, ("square", "mean"))
    if recipe.sample < 0 or recipe.restarts < 1 or recipe.passes < 1:
        raise InputError(f"{where} sample = {recipe.sample}, restarts = {recipe.restarts}, passes = {recipe.passes}")
    if recipe.sample and recipe.sample < recipe.buckets:
        raise InputError(f"{where} sample = {recipe.sample}: fewer than its {recipe.buckets} buckets")


# --- files ------------------------------------------------------------------------------------------


def preset_names() -> list[str]:
    """Return the names of the recipes that ship with Riverboat.

    Returns
    -------
    list of str
        Names for `load_recipe`, sorted.

    Examples
    --------
    >>> preset_names() == sorted(preset_names())
    True
    """
    return list(files.preset_files("riverboat.abstraction"))


def load_recipe(source: str | Path) -> AbstractionRecipe:
    """Load a recipe by the name of a preset or the path of a file.

    Parameters
    ----------
    source
        Name of a preset, or path of a TOML file.

    Returns
    -------
    AbstractionRecipe
        The recipe, checked.

    Raises
    ------
    InputError
        There is neither a preset nor a file of this name, or its content is invalid.

    Examples
    --------
    >>> load_recipe(preset_names()[0]).counts[0]
    169
    """
    return files.load_recipe(source, "riverboat.abstraction", lambda text, name, _: parse_recipe(text, name))


def parse_recipe(text: str, name: str = "recipe") -> AbstractionRecipe:
    r"""Parse a recipe from the text of a file.

    Parameters
    ----------
    text
        TOML as described at the top of this module.
    name
        Name of the abstraction, if the text has none.

    Returns
    -------
    AbstractionRecipe
        The recipe, checked.

    Raises
    ------
    InputError
        The text is no TOML, or an entry is unknown, missing or invalid.

    Examples
    --------
    >>> street = "method = 'histogram'\nbuckets = 20\n"
    >>> parse_recipe(f"[flop]\n{street}[turn]\n{street}[river]\nmethod = 'strength'\nbuckets = 20").counts
    (169, 20, 20, 20)
    """
    defaults = {"name": name, "about": "", "seed": 1, "public": None, **dict.fromkeys(STREETS)}
    table = UserEntries("recipe", files.parse_toml(text), defaults)
    missing = [street for street in STREETS[1:] if table[street] is None]
    if missing:
        raise InputError(f"no [{missing[0]}]: give flop, turn and river, such as [{missing[0]}] method = ...")
    preflop, flop, turn, river = (_parse_section(table[street], StreetRecipe, f"[{street}]") for street in STREETS)
    public = _parse_public(table["public"]) if table["public"] is not None else None
    names = table.text("name"), table.text("about", multiline=True)
    return AbstractionRecipe((preflop, flop, turn, river), public, *names, table.integer("seed"))


def _parse_section(table: Any, kind: type[T], where: str) -> T:
    defaults = {field.name: field.default for field in fields(kind)}  # type: ignore[arg-type]
    return UserEntries(where, {} if table is None else table, defaults).to_dataclass(kind)


def _parse_public(table: Any) -> PublicRecipe:
    """Parse the [public] section; manually defined groups imply the method and the number of buckets."""
    public = _parse_section(table, PublicRecipe, "[public]")
    if public.groups:
        public = replace(public, method=table.get("method", GROUPS_METHOD))
    if not public.buckets:
        if not public.groups:
            raise InputError("[public]: the number of buckets is missing")
        public = replace(public, buckets=int(flop_groups(public.groups).max()) + 1)
    return public


# --- stages of a build, with estimates of time and memory -------------------------------------------

FEATURE_DIMS = {"histogram": features.HISTOGRAM_BINS, "ochs": 8}
# average number of public buckets (of 60) that a board belongs to: those of all flops among its cards
PUBLIC_BUCKETS_PER_BOARD = {"flop": 1.0, "turn": 3.5, "river": 8.0}


@dataclass(frozen=True)
class BuildStage:
    """One stage of a build.

    Parameters
    ----------
    name
        Name of a feature table, or `base`, `public`, or a street.
    kind
        `table` or `buckets`.
    seconds
        Time on one thread, an estimate from measured rates.
    memory
        Bytes at the peak, an estimate.
    about
        What the stage makes, for people.

    Examples
    --------
    >>> BuildStage("river", "buckets", 2.0, 1 << 20, "every hand").kind
    'buckets'
    """

    name: str  # name of a feature table, or "base", "public", or a street
    kind: str  # "table" or "buckets"
    seconds: float  # on one thread, an estimate from measured rates
    memory: int  # bytes at the peak, an estimate
    about: str


def plan_stages(recipe: AbstractionRecipe) -> list[BuildStage]:
    """Return the stages of a recipe, in order. Feature tables in the cache take no time.

    Parameters
    ----------
    recipe
        The recipe.

    Returns
    -------
    list of BuildStage
        Stages with estimates of time and memory.

    Examples
    --------
    >>> flop = StreetRecipe("histogram", 50)
    >>> recipe = AbstractionRecipe((StreetRecipe(), flop, flop, StreetRecipe("strength", 50)))
    >>> [stage.name for stage in plan_stages(recipe)]
    ['turn', 'flop', 'strength', 'river', 'turn', 'flop', 'preflop']
    """
    tables = [feature_table(street, recipe.street(street).method) for street in STREETS]
    if recipe.public is not None and not recipe.public.manual:
        tables += ["flop"] if recipe.public.needs_base else ["preflop", "flop"]
    if "flop" in tables:
        tables.append("turn")
    stages = [_estimate_table(name) for name in ("preflop", "turn", "flop", "strength", "ochs") if name in tables]
    if recipe.street("preflop").method == "percentile":
        about = "parts of each bucket of the previous street"
        return stages + [BuildStage(s, "buckets", CUT_SECONDS[s], 6 * CANONICAL_HANDS[s], about) for s in STREETS]
    if recipe.public is not None:
        if recipe.public.needs_base:
            base = StreetRecipe("histogram", recipe.public.base)
            stages.append(_estimate_street("base", "flop", base, 1, "flop clusters by which flops are compared"))
        about = f"{recipe.public.buckets} public buckets of flops"
        stages.append(BuildStage("public", "buckets", 5.0, 200 << 20, about))
    for street in reversed(STREETS):
        here = recipe.street(street)
        inside = recipe.public.buckets if recipe.public is not None and street != "preflop" else 1
        about = f"{here.method}, {here.buckets:,} buckets" + (f" in each of {inside}" if inside > 1 else "")
        about = about if here.method != "lossless" else "every hand"
        stages.append(_estimate_street(street, street, here, inside, about))
    return stages


def feature_table(street: str, method: str) -> str:
    """Return the name of the feature table that a method needs for a street; empty for none.

    Parameters
    ----------
    street
        preflop, flop, turn or river.
    method
        A key of `METHOD_STREETS`.

    Returns
    -------
    str
        A key of `FEATURE_TABLES`, or an empty text.

    Examples
    --------
    >>> feature_table("river", "percentile"), feature_table("turn", "histogram"), feature_table("flop", "lossless")
    ('strength', 'turn', '')
    """
    if method == "percentile":
        return "strength" if street == "river" else street
    return {"histogram": street, "ochs": "ochs", "strength": "strength"}.get(method, "")


def _estimate_table(name: str) -> BuildStage:
    """Estimate the time (0 if it is cached) and memory for computing a feature table."""
    table = features.FEATURE_TABLES[name]
    seconds = 0.0 if features.has_feature_table(name) else table.seconds
    return BuildStage(name, "table", seconds, int(1.3 * table.bytes), f"{name} features")


def _estimate_street(name: str, street: str, recipe: StreetRecipe, num_public: int, about: str) -> BuildStage:
    """Estimate time and memory for clustering a street inside each of `num_public` public buckets (1 for none)."""
    hands, k = CANONICAL_HANDS[street], recipe.buckets
    if recipe.method in ("lossless", "strength"):
        return BuildStage(name, "buckets", 2.0 if recipe.method == "strength" else 0.1, 3 * hands, about)
    pairs = hands * (_public_buckets_per_board(street, num_public) if num_public > 1 else 1.0)
    dims = FEATURE_DIMS.get(recipe.method, features.HISTOGRAM_BINS)
    sample = min(recipe.sample_size(), pairs / num_public)
    if recipe.method == "potential":
        seconds = POTENTIAL_SECONDS * pairs * k * recipe.passes
    else:
        begin = SEEDING_SECONDS * num_public * recipe.restarts * sample * dims * k**0.5
        each = STAY_SECONDS[recipe.method] + SEARCH_SECONDS[recipe.method] * k**0.5
        seconds = begin + pairs * (recipe.passes + 1) * each
    memory = hands * (dims * (2 if street == "flop" else 1)) + pairs * 2 + pairs / num_public * (dims + 20)
    if recipe.method == "potential":
        next_cards = 47 if street == "flop" else 46
        memory += HISTOGRAM_ENTRY_BYTES * pairs / num_public * next_cards
    return BuildStage(name, "buckets", seconds, int(memory), about)


def _public_buckets_per_board(street: str, public: int) -> float:
    """Estimate how many of `public` public buckets a board belongs to: those of all flops among its cards."""
    flops = comb({"flop": 3, "turn": 4, "river": 5}[street], 3)
    return min(PUBLIC_BUCKETS_PER_BOARD[street], public * (1 - (1 - 1 / public) ** flops))


# Seconds, measured on one thread, accurate within a factor of two. Seeding of k clusters costs SEEDING_SECONDS · √k for
# each feature value of the sample. A pass costs STAY_SECONDS + SEARCH_SECONDS · √k for each hand: to check its bounds,
# and to search its centroid. A potential-aware pass costs POTENTIAL_SECONDS for each hand and cluster.
SEEDING_SECONDS = 5e-8
STAY_SECONDS = {"histogram": 3e-7, "ochs": 6e-8}
SEARCH_SECONDS = {"histogram": 1.7e-8, "ochs": 9e-9}
POTENTIAL_SECONDS = 3.5e-8
HISTOGRAM_ENTRY_BYTES = 16  # bytes of one histogram entry while histograms are built
CUT_SECONDS = {"preflop": 0.1, "flop": 2.0, "turn": 3.0, "river": 30.0}  # to count values in each bucket sequence
