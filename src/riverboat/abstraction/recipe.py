"""Recipes of card abstractions, as small TOML files.

    about = "what it is for"
    seed = 1
    [public]                     # optional: public buckets of flops; the buckets below are then inside each of them
    buckets = 60
    base = 5000                  # flop clusters by which flops are compared
    method = "sum"               # the paper's Algorithm 3; or mean, medoids; or groups = ["paired", "monotone"], by hand
    [flop]                       # [preflop] keeps its 169 hands unless it says otherwise
    method = "histogram"
    buckets = 5000
    [turn]
    method = "histogram"
    buckets = 5000
    [river]
    method = "ochs"
    buckets = 5000

Methods: `lossless`; `histogram` (k-means of strength histograms, earth mover's distance); `ochs` (k-means of strength
against eight groups, river); `potential` (k-means of histograms over the buckets of the next street); `strength` (parts of
equal weight by river strength); `percentile` (parts of each bucket of the street before: perfect recall, on all streets or
none).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from riverboat.abstraction.cards.card_abstraction import STREETS
from riverboat.abstraction.clustering.flop_textures import groups
from riverboat.abstraction.clustering.public_clusters import OBJECTIVES
from riverboat.core.errors import InputError, shown, unknown
from riverboat.core.text_files import parse_toml, read_toml

CANONICAL = {"preflop": 169, "flop": 1_286_792, "turn": 13_960_050, "river": 123_156_254}
METHODS = {
    "lossless": STREETS,
    "histogram": ("preflop", "flop", "turn"),
    "ochs": ("river",),
    "potential": ("flop", "turn"),
    "strength": ("river",),
    "percentile": STREETS,
}


METRICS = {"histogram": "emd", "ochs": "l2"}  # by which hands are compared, where a recipe says nothing else
DISTANCES = ("emd", "l2")
GROUPS = "groups"  # method of public buckets that are made by hand


@dataclass(frozen=True)
class StreetRecipe:
    """How the hands of a street are put into buckets."""

    method: str = "lossless"
    buckets: int = (
        0  # clusters; inside each public bucket where there are some; percentile: parts of each bucket before
    )
    value: str = "square"  # percentile: E[HS²] is "square", E[HS] is "mean"
    sample: int = 0  # hands on which clusters are begun; 0: by the number of buckets
    restarts: int = 1  # on the sample
    passes: int = 8  # over all hands, at most
    metric: str = ""  # histogram: "emd" or "l2"; the usual one of the method where nothing is said

    @property
    def distance(self) -> str:
        """By which hands are compared."""
        return self.metric or METRICS.get(self.method, "")

    def to_dict(self) -> dict[str, Any]:
        """As a TOML file would have it; the usual distance is not named."""
        return {key: value for key, value in asdict(self).items() if key != "metric" or value}

    def sampled(self, buckets: int | None = None) -> int:
        """Hands on which clusters are begun."""
        return self.sample or max(50_000, 40 * (buckets or self.buckets))


@dataclass(frozen=True)
class PublicRecipe:
    """How flops are put into public buckets."""

    buckets: int = 0
    base: int = 5000  # flop clusters of the base abstraction
    restarts: int = 10
    method: str = "sum"  # what clusters minimise: `public.OBJECTIVES`; or GROUPS
    groups: tuple[str, ...] = ()  # by hand: `flop_textures`

    @property
    def by_hand(self) -> bool:
        """Whether a person has made the groups, so that no base is needed."""
        return self.method == GROUPS

    def check(self) -> None:
        """Refuse what cannot be built."""
        if self.method not in (*OBJECTIVES, GROUPS):
            raise unknown("method of [public]", self.method, (*OBJECTIVES, GROUPS))
        if self.by_hand != bool(self.groups):
            raise InputError(
                f"[public] method = {shown(self.method)}: groups go with method = {GROUPS!r}, and it with them"
            )
        if not 1 <= self.buckets <= 1755:
            raise InputError(f"[public] buckets = {self.buckets}: there are 1,755 flops")
        if self.by_hand and self.buckets != int(groups(self.groups).max()) + 1:
            made = int(groups(self.groups).max()) + 1
            raise InputError(f"[public] buckets = {self.buckets}: the groups, with one for all others, are {made}")
        if not 1 <= self.base <= CANONICAL["flop"] or self.restarts < 1:
            raise InputError(f"[public] base = {self.base}, restarts = {self.restarts}: from 1 up")

    def to_dict(self) -> dict[str, Any]:
        """As a TOML file would have it; the paper's method is not named."""
        told = {**asdict(self), "groups": list(self.groups)}
        return {
            key: value for key, value in told.items() if key not in ("method", "groups") or value not in ("sum", [])
        }


@dataclass(frozen=True)
class Recipe:
    """A card abstraction of hold'em."""

    streets: tuple[StreetRecipe, StreetRecipe, StreetRecipe, StreetRecipe]
    public: PublicRecipe | None = None
    name: str = "recipe"
    about: str = ""
    seed: int = 1

    def __post_init__(self) -> None:
        for street, recipe in zip(STREETS, self.streets, strict=True):
            _check_street(street, recipe)
        nested = [street for street, recipe in zip(STREETS, self.streets, strict=True) if recipe.method == "percentile"]
        if nested and len(nested) < len(STREETS):
            other = next(street for street in STREETS if street not in nested)
            raise InputError(f"[{nested[0]}] method = 'percentile', but not [{other}]: all streets or none")
        if nested and self.public is not None:
            raise InputError("[public] with percentiles: they cut the buckets of the street before; leave one out")
        if self.public is not None:
            self.public.check()
            plain = [
                s for s, r in zip(STREETS[1:], self.streets[1:], strict=True) if r.method in ("lossless", "strength")
            ]
            if plain:
                raise InputError(
                    f"[{plain[0]}]: inside public buckets hands are clustered; use histogram, potential or ochs"
                )
        for street, recipe, following in zip(STREETS[1:], self.streets[1:], self.streets[2:], strict=False):
            if recipe.method == "potential" and following.method not in ("histogram", "ochs", "potential"):
                raise InputError(
                    f"[{street}] method = 'potential' needs clusters on the next street, not {following.method!r}"
                )

    def street(self, name: str) -> StreetRecipe:
        """The recipe of one street."""
        return self.streets[STREETS.index(name)]

    @property
    def counts(self) -> tuple[int, ...]:
        """Buckets of each street, as far as they are known before it is built."""
        out: list[int] = []
        for street, recipe in zip(STREETS, self.streets, strict=True):
            if recipe.method == "lossless":
                out.append(CANONICAL[street])
            elif recipe.method == "percentile":
                out.append(recipe.buckets * (out[-1] if out else 1))
            else:
                times = self.public.buckets if self.public is not None and street != "preflop" else 1
                out.append(recipe.buckets * times)
        return tuple(out)

    def to_dict(self) -> dict[str, Any]:
        """The recipe as a TOML file would have it."""
        shown: dict[str, Any] = {"name": self.name, "about": self.about, "seed": self.seed}
        if self.public is not None:
            shown["public"] = self.public.to_dict()
        return shown | {street: recipe.to_dict() for street, recipe in zip(STREETS, self.streets, strict=True)}

    @property
    def fingerprint(self) -> str:
        """Of everything that the result depends on: not of names."""
        facts = {key: value for key, value in self.to_dict().items() if key not in ("name", "about")}
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def _check_street(street: str, recipe: StreetRecipe) -> None:
    where = f"[{street}]"
    if recipe.method not in METHODS:
        raise unknown(f"method of {where}", recipe.method, METHODS)
    if street not in METHODS[recipe.method]:
        raise InputError(f"{where} method = {recipe.method!r}: it is for {', '.join(METHODS[recipe.method])}")
    if recipe.method != "lossless" and not 1 <= recipe.buckets <= CANONICAL[street]:
        raise InputError(
            f"{where} buckets = {recipe.buckets}: from 1 to {CANONICAL[street]:,}, the hands of the street"
        )
    if recipe.method == "lossless" and recipe.buckets:
        raise InputError(
            f"{where} buckets = {recipe.buckets}, but nothing is lost: name a method, or leave buckets out"
        )
    if recipe.metric and (recipe.method != "histogram" or recipe.metric not in DISTANCES):
        raise InputError(f"{where} metric = {shown(recipe.metric)}: of histograms, {' or '.join(DISTANCES)}")
    if recipe.value not in ("square", "mean"):
        raise unknown(f"value of {where}", recipe.value, ("square", "mean"))
    if recipe.sample < 0 or recipe.restarts < 1 or recipe.passes < 1:
        raise InputError(f"{where} sample = {recipe.sample}, restarts = {recipe.restarts}, passes = {recipe.passes}")
    if recipe.sample and recipe.sample < recipe.buckets:
        raise InputError(f"{where} sample = {recipe.sample}: fewer than its {recipe.buckets} buckets")


# --- files ------------------------------------------------------------------------------------------


def presets() -> list[str]:
    """The recipes that come with Riverboat."""
    return sorted(p.name.removesuffix(".toml") for p in _shipped().iterdir() if p.name.endswith(".toml"))


def _shipped() -> Any:
    return files("riverboat.abstraction") / "recipes"


def load_recipe(source: str | Path) -> Recipe:
    """A recipe by the name of a preset or the path of a file."""
    if str(source) in presets():
        return loads((_shipped() / f"{source}.toml").read_text(encoding="utf-8"), str(source))
    path = Path(source)
    if not path.is_file():
        raise InputError(f"recipe {str(source)!r}: no such file, and no preset (presets: {', '.join(presets())})")
    text = read_toml(path, "recipe")
    try:
        return loads(text, path.stem)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def loads(text: str, name: str = "recipe") -> Recipe:
    """A recipe from the text of a file."""
    table = parse_toml(text)
    _known(table, ("name", "about", "seed", "public", *STREETS), "recipe")
    missing = [street for street in STREETS[1:] if street not in table]
    if missing:
        raise InputError(f"no [{missing[0]}]: give flop, turn and river, such as [{missing[0]}] method = ...")
    streets = tuple(_section(table.get(street, {}), StreetRecipe, f"[{street}]") for street in STREETS)
    public = _public(table["public"]) if "public" in table else None
    seed = table.get("seed", 1)
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 1 << 63:
        raise InputError(f"seed = {shown(seed)}: a whole number from 0")
    for key in ("name", "about"):
        if not isinstance(table.get(key, ""), str):
            raise InputError(f"{key} = {shown(table[key])}: must be a text in quotes")
    return Recipe(streets, public, table.get("name", name), table.get("about", ""), seed)


def _section(table: Any, kind: type[Any], where: str) -> Any:
    if not isinstance(table, Mapping):
        raise InputError(f"{where} = {shown(table)}: write a table of its own")
    known = {f.name: f for f in fields(kind)}
    _known(table, tuple(known), where)
    for key, value in table.items():
        if known[key].type.startswith("tuple"):
            if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
                raise InputError(f"{where} {key} = {shown(value)}: must be a list of texts")
            continue
        expected = str if known[key].type == "str" else int
        if not isinstance(value, expected) or isinstance(value, bool):
            raise InputError(
                f"{where} {key} = {shown(value)}: must be {'a text' if expected is str else 'a whole number'}"
            )
    return kind(**{key: tuple(value) if isinstance(value, list) else value for key, value in table.items()})


def _public(table: Any) -> PublicRecipe:
    """Groups by hand say how many they are; else the recipe does."""
    public: PublicRecipe = _section(table, PublicRecipe, "[public]")
    if public.groups:
        public = replace(public, method=table.get("method", GROUPS))
    if not public.buckets:
        if not public.groups:
            raise InputError("[public]: say how many buckets")
        public = replace(public, buckets=int(groups(public.groups).max()) + 1)
    return public


def _known(table: Mapping[str, Any], names: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in names:
            raise unknown(f"entry of {where}", key, names)
