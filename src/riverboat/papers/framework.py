"""What an experiment is, and which there are.

An experiment compares figures of a paper with ours. It is thin: the algorithms are public API of their rooms. Each lives
in a module of its own with a module-level `EXPERIMENT`, imported when it is asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from riverboat.core.claims import to_dicts
from riverboat.core.errors import InputError, shown, unknown
from riverboat.papers.rows import Row

MODULES: dict[str, str] = {
    "essay-kuhn-trace": "essay_kuhn_trace",
    "essay-rps": "essay_rps",
    "emd-example": "emd_example",
    "purification-matrices": "purification_matrices",
    "purification-leduc": "purification_leduc",
    "translation-clairvoyance": "translation_clairvoyance",
    "translation-kuhn": "translation_kuhn",
    "translation-leduc": "translation_leduc",
    "safe-exploitation-kuhn": "safe_exploitation_kuhn",
    "rpst": "rpst",
    "dbbr-leduc": "dbbr_leduc",
    "dbbr-table-3": "dbbr_table_3",
    "dbbr-figure-8": "dbbr_figure_8",
    "restricted-nash-leduc": "restricted_nash_leduc",
    "restricted-nash-holdem": "restricted_nash_holdem",
    "exploit-endgames": "exploit_endgames",
    "exploit-many-players": "exploit_many_players",
    "safe-holdem": "safe_holdem",
    "changing-opponents": "changing_opponents",
    "propositions": "propositions",
    "coin-toss": "coin_toss",
    "endgame-bound": "endgame_bound",
    "endgame-table-1-small": "endgame_table_1_small",
    "endgame-table-1-large": "endgame_table_1_large",
    "endgame-table-2": "endgame_table_2",
    "search-methods": "search_methods",
    "endgame-refinements": "endgame_refinements",
    "endgame-database": "endgame_database",
    "midgame-leaves": "midgame_leaves",
    "pcs-bound": "pcs_bound",
    "pcs-figure-2a": "pcs_figure_2a",
    "pcs-figure-2b": "pcs_figure_2b",
    "pcs-figure-3": "pcs_figure_3",
    "pcs-figure-4": "pcs_figure_4",
    "pcs-figure-5": "pcs_figure_5",
    "pcs-figure-6": "pcs_figure_6",
    "rhode-island": "rhode_island",
    "tartanian7-sizes": "tartanian7_sizes",
    "blade-levels": "blade_levels",
    "baselines": "baselines",
    "blueprint-convergence": "blueprint_convergence",
    "proposal-figure-6": "overfitting",
    "cfr-br": "cfr_br",
    "continuous-von-neumann": "continuous_von_neumann",
    "continuous-limit-river": "continuous_limit_river",
    "continuous-holdem-rivers": "continuous_holdem_rivers",
    "continuous-three-players": "continuous_three_players",
    "tournament-epsilon": "tournament_epsilon",
    "tournament-icm": "tournament_icm",
    "tournament-calls": "tournament_calls",
    "tournament-findings": "tournament_findings",
    "explain-kuhn": "explain_kuhn",
    "explain-leduc": "explain_leduc",
    "explain-defence": "explain_defence",
}

MOST_DIGITS = 12  # of an option


@dataclass(frozen=True)
class Curve:
    """A line of a picture."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    panel: str = ""  # curves of one panel share its axes; the panel's title

    def __post_init__(self) -> None:
        if len(self.x) != len(self.y):
            raise InputError(f"curve {self.name!r}: {len(self.x)} x for {len(self.y)} y")


@dataclass(frozen=True)
class Report:
    """What a run found."""

    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()  # conventions, slips of the text, what was left out
    curves: tuple[Curve, ...] = ()
    log: bool = False  # whether the picture's axes are logarithmic
    draw: Callable[[Path], None] | None = None  # a picture of its own, instead of curves or of rows as bars

    @property
    def fine(self) -> bool:
        """No row fails."""
        return all(row.fine for row in self.rows)

    def row(self, name: str) -> Row:
        """A row by its name."""
        for row in self.rows:
            if row.name == name:
                return row
        raise unknown("row", name, [row.name for row in self.rows])

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "rows": [
                asdict(row) | {"verdict": row.verdict, "fine": row.fine, "claims": to_dicts(row.claims)}
                for row in self.rows
            ],
            "notes": list(self.notes),
            "curves": [asdict(curve) for curve in self.curves],
            "fine": self.fine,
        }


@dataclass(frozen=True)
class Experiment:
    """A table or figure that can be computed again."""

    id: str
    title: str
    source: str  # authors, year, table or figure
    cost: str  # of the default run on two cores, such as "20 s"
    full_cost: str  # with --full; the same where the default is already everything
    run: Callable[..., Report]  # (full, seed, and the options by name)
    options: tuple[str, ...] = ()  # whole numbers that may stand after a colon


def find(spec: str) -> Experiment:
    """An experiment by its id, with options where it has some: `purification-matrices:rows=5,columns=3`."""
    name, _, text = spec.partition(":")
    if name not in MODULES:
        raise unknown("experiment", name, MODULES)
    module = importlib.import_module(f"riverboat.papers.{MODULES[name]}")
    experiment: Experiment = module.EXPERIMENT
    if not text:
        return experiment
    chosen: dict[str, int] = {}
    for word in text.split(","):
        key, number = _option(experiment, word)
        if key in chosen:
            raise InputError(f"experiment {shown(spec)}: option {shown(key)} is given twice")
        chosen[key] = number
    return replace(experiment, id=spec, title=f"{experiment.title}, {text}", run=partial(experiment.run, **chosen))


def _option(experiment: Experiment, word: str) -> tuple[str, int]:
    key, _, number = word.partition("=")
    if not experiment.options:
        raise InputError(f"{experiment.id}: {shown(word)}: it has no options")
    if key not in experiment.options:
        raise unknown(f"option of {experiment.id}", key, experiment.options)
    if not number.isdecimal() or len(number) > MOST_DIGITS:
        raise InputError(f"{experiment.id}: {shown(word)}: give a whole number, as in {key}=4")
    return key, int(number)
