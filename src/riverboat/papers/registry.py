"""Registry of all experiments of `experiments.toml`: what each reproduces, how long it takes, and its function."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from riverboat.core.errors import InputError, short_repr
from riverboat.core.validation import check_name
from riverboat.papers.framework import ExperimentReport, experiment_descriptions

MAX_OPTION_DIGITS = 12
# The paper's size: in every run, with --full only, or in none. `own`: no paper has this experiment.
ExperimentSize: TypeAlias = Literal["paper", "full", "reduced", "own"]


@dataclass(frozen=True)
class Experiment:
    """A reproduction of a table or figure."""

    id: str
    title: str
    source: str  # authors, year, table or figure
    cost: str  # duration of the default run on two cores, such as "20 s"
    full_cost: str  # duration with --full; the same if the default run is complete
    function: str  # module of `riverboat.papers` and function (full, seed, **arguments, **options), imported by `run`
    arguments: Mapping[str, str] = field(default_factory=dict)  # what tells experiments with one function apart
    size: ExperimentSize = "paper"  # which runs have the paper's size
    reduction: str = ""  # what makes a reduced experiment smaller than the paper's, or another one
    options: Sequence[str] = ()  # names of integer options of a spec, after a colon
    chosen: Mapping[str, int] = field(default_factory=dict)  # values of options that a spec gives

    def __post_init__(self) -> None:
        if (self.size == "reduced") != bool(self.reduction):
            raise InputError(
                f"{self.id}: size {self.size!r}: give a reduction for reduced experiments, and only for them"
            )

    def format_size(self, full: bool) -> str:
        """Return how the size of a run compares with the paper's: `paper's size`, `reduced`, or empty without a paper."""
        if self.size == "own":
            return ""
        return "paper's size" if self.size == "paper" or (self.size == "full" and full) else "reduced"

    def run(self, full: bool, seed: int) -> ExperimentReport:
        """Run at default size, or at the paper's size with `full`."""
        module, _, name = self.function.partition(":")
        run: Callable[..., ExperimentReport] = getattr(importlib.import_module(f"riverboat.papers.{module}"), name)
        return run(full, seed, **self.arguments, **self.chosen)


_FACTS = ("title", "source", "cost", "full_cost", "function", "arguments", "options", "size", "reduction")
EXPERIMENTS = {
    name: Experiment(name, **{fact: about[fact] for fact in _FACTS if fact in about})
    for name, about in experiment_descriptions().items()
}


def find(spec: str) -> Experiment:
    """Return an experiment by its spec: an id with options, such as `purification-matrices:rows=5,columns=3`."""
    name, _, text = spec.partition(":")
    check_name("experiment", name, EXPERIMENTS)
    experiment = EXPERIMENTS[name]
    if not text:
        return experiment
    chosen: dict[str, int] = {}
    for option in text.split(","):
        key, number = _parse_option(experiment, option)
        if key in chosen:
            raise InputError(f"experiment {short_repr(spec)}: option {short_repr(key)} occurs twice")
        chosen[key] = number
    return replace(experiment, id=spec, title=f"{experiment.title}, {text}", chosen=chosen)


def _parse_option(experiment: Experiment, word: str) -> tuple[str, int]:
    key, _, number = word.partition("=")
    if not experiment.options:
        raise InputError(f"{experiment.id}: {short_repr(word)}: the experiment has no options")
    check_name(f"option of {experiment.id}", key, experiment.options)
    if not number.isdecimal() or len(number) > MAX_OPTION_DIGITS:
        raise InputError(f"{experiment.id}: {short_repr(word)}: give a whole number, as in {key}=4")
    return key, int(number)
