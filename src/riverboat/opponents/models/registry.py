"""All kinds of models in a blueprint's tree, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from riverboat.core.errors import unknown
from riverboat.opponents.dbbr import FITS
from riverboat.opponents.models.tied import fit_tied
from riverboat.opponents.models.tree import CLUSTERS, PRIOR, Counts, fit_model
from riverboat.strategies.blueprint import BlueprintStrategy

TIED = "tied"
MODELS: Mapping[str, Callable[..., BlueprintStrategy]] = {
    TIED: fit_tied,
    **{fit: partial(fit_model, fit=fit) for fit in (*FITS, CLUSTERS)},
}


def make_model(kind: str, base: BlueprintStrategy, counts: Counts, prior: float = PRIOR) -> BlueprintStrategy:
    """A model of what was counted, with so many hands of the base as its prior."""
    if kind not in MODELS:
        raise unknown("fit", kind, MODELS)
    return MODELS[kind](base, counts, prior=prior)
