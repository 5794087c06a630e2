"""The API reference is complete: numpydoc sections for every parameter, and examples that run.

`REFERENCE` lists its modules. `python tests/test_docstrings.py MODULE…` prints what a module lacks.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

# Modules of the API reference, besides the names of `riverboat` itself.
REFERENCE = (
    "riverboat.abstraction.actions.translation",
    "riverboat.abstraction.cards.card_abstraction",
    "riverboat.abstraction.clustering.kmeans",
    "riverboat.abstraction.clustering.potential_aware",
    "riverboat.abstraction.clustering.public_clusters",
    "riverboat.abstraction.quality",
    "riverboat.abstraction.recipe",
    "riverboat.acpc.client",
    "riverboat.acpc.dealer",
    "riverboat.agents.base",
    "riverboat.agents.registry",
    "riverboat.agents.spec",
    "riverboat.api.abstract",
    "riverboat.api.agent",
    "riverboat.api.artifacts",
    "riverboat.api.continuous",
    "riverboat.api.devices",
    "riverboat.api.endgames",
    "riverboat.api.evaluate",
    "riverboat.api.exploit",
    "riverboat.api.general_sum",
    "riverboat.api.match",
    "riverboat.api.nodes",
    "riverboat.api.play",
    "riverboat.api.players",
    "riverboat.api.refine",
    "riverboat.api.respond",
    "riverboat.api.review",
    "riverboat.api.show",
    "riverboat.api.solve",
    "riverboat.api.spots",
    "riverboat.api.sweep",
    "riverboat.api.tournaments",
    "riverboat.api.train",
    "riverboat.cards.deck",
    "riverboat.cards.grid",
    "riverboat.cards.isomorphism",
    "riverboat.cards.notation",
    "riverboat.cards.ranges",
    "riverboat.cards.ranking",
    "riverboat.cards.equity.equities",
    "riverboat.continuous.game",
    "riverboat.continuous.solver",
    "riverboat.continuous.strategies",
    "riverboat.core.artifacts",
    "riverboat.core.claims",
    "riverboat.core.errors",
    "riverboat.core.formatting",
    "riverboat.core.tables",
    "riverboat.core.validation",
    "riverboat.evaluation.best_response.exact",
    "riverboat.evaluation.best_response.lower_bound",
    "riverboat.evaluation.confidence_intervals",
    "riverboat.evaluation.ledger",
    "riverboat.evaluation.litmus",
    "riverboat.evaluation.local_best_response",
    "riverboat.evaluation.matches.duel",
    "riverboat.evaluation.matches.match",
    "riverboat.evaluation.matches.pairs",
    "riverboat.evaluation.quality",
    "riverboat.explain.explanation",
    "riverboat.explain.rule_learning",
    "riverboat.formats.open_spiel_games",
    "riverboat.formats.open_spiel_layout",
    "riverboat.formats.phh",
    "riverboat.formats.spot_file",
    "riverboat.games.base",
    "riverboat.games.boards.holdem",
    "riverboat.games.holdem.betting",
    "riverboat.games.holdem.menus",
    "riverboat.games.holdem.observations",
    "riverboat.games.holdem.public_states",
    "riverboat.games.holdem.rules",
    "riverboat.games.registry",
    "riverboat.games.small.bluff",
    "riverboat.games.small.normal_form",
    "riverboat.games.small.poker",
    "riverboat.games.small.toy_games",
    "riverboat.games.spots.spot",
    "riverboat.opponents.dbbr",
    "riverboat.opponents.gifts",
    "riverboat.opponents.repeated_games",
    "riverboat.opponents.responses",
    "riverboat.opponents.safe_responses",
    "riverboat.opponents.statistics",
    "riverboat.practice.session",
    "riverboat.solvers.exact.correlated",
    "riverboat.solvers.exact.egt",
    "riverboat.solvers.exact.lp",
    "riverboat.solvers.exact.matrix_games",
    "riverboat.solvers.exact.mip",
    "riverboat.solvers.exact.sequence_form",
    "riverboat.solvers.game_values",
    "riverboat.solvers.mccfr.recipe",
    "riverboat.solvers.mccfr.trainer",
    "riverboat.solvers.schedules",
    "riverboat.solvers.tabular.best_response",
    "riverboat.solvers.tabular.correlated",
    "riverboat.solvers.tabular.cfr",
    "riverboat.solvers.tabular.trace",
    "riverboat.solvers.traversals",
    "riverboat.strategies.blueprint",
    "riverboat.strategies.files",
    "riverboat.strategies.mapping",
    "riverboat.strategies.policy",
    "riverboat.strategies.postprocessing",
    "riverboat.strategies.public_strategy",
    "riverboat.strategies.queries",
    "riverboat.strategies.solution",
    "riverboat.strategies.tabular",
    "riverboat.subgames.lookahead.leaf_values",
    "riverboat.subgames.lookahead.search",
    "riverboat.subgames.lookahead.solver",
    "riverboat.subgames.resolving",
    "riverboat.subgames.search.search",
    "riverboat.testing.agents",
    "riverboat.testing.games",
    "riverboat.testing.schedules",
    "riverboat.testing.strategies",
    "riverboat.tournaments.icm",
    "riverboat.tournaments.push_fold",
    "riverboat.trees.compile",
    "riverboat.trees.history",
    "riverboat.trees.public",
)

SECTION = re.compile(r"^(Parameters|Attributes|Returns|Yields|Raises|Examples|Notes|References|See Also)\n-+$", re.M)


def sections(text: str) -> dict[str, str]:
    """Split a docstring into its numpydoc sections."""
    parts = SECTION.split(inspect.cleandoc(text))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def entries(section: str) -> set[str]:
    """Return the names that a section describes; several may share an entry."""
    lines = [line for line in section.splitlines() if line and not line[0].isspace()]
    return {name.strip().lstrip("*") for line in lines for name in line.partition(" : ")[0].split(",")}


def parameters(function: Any) -> list[str]:
    """Return the names of the parameters that a caller gives."""
    names = list(inspect.signature(function).parameters)
    return [name for name in names if name not in ("self", "cls")]


def public_objects(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield the public functions, classes and their methods that a module defines."""
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
            continue
        if inspect.isfunction(value):
            yield name, value
        elif inspect.isclass(value) and not issubclass(value, BaseException):
            yield name, value
            for method, found in vars(value).items():
                function = found.__func__ if isinstance(found, staticmethod | classmethod) else found
                if inspect.isfunction(function) and not method.startswith("_"):
                    yield f"{name}.{method}", function


def missing(name: str, value: Any) -> list[str]:
    """List what the docstring of one function, class or method lacks."""
    text = inspect.getdoc(value) or ""
    found = sections(text)
    if inspect.isclass(value):
        if getattr(value, "_is_protocol", False):
            return [] if text else [f"{name}: no docstring"]
        given = parameters(value)
        described = entries(found.get("Parameters", "")) | entries(found.get("Attributes", ""))
        lacks = [f"{name}: {each} is not described" for each in given if each not in described]
        return lacks + ([] if "Examples" in found or not given else [f"{name}: no example"])
    described = entries(found.get("Parameters", ""))
    lacks = [f"{name}: parameter {each} is not described" for each in parameters(value) if each not in described]
    lacks += [f"{name}: {each} is no parameter" for each in described - set(parameters(value))]
    returns = inspect.signature(value).return_annotation
    is_method = "." in name
    if (
        returns not in (None, "None", inspect.Signature.empty)
        and not is_method
        and not {"Returns", "Yields"} & set(found)
    ):
        lacks.append(f"{name}: no section Returns")
    if not is_method and "Examples" not in found:
        lacks.append(f"{name}: no example")
    return lacks


def public_names() -> Iterator[tuple[str, Any]]:
    """Yield the functions and classes that `riverboat` itself offers."""
    import riverboat

    for name in riverboat.__all__:
        value = getattr(riverboat, name)
        if inspect.isfunction(value) or (inspect.isclass(value) and not issubclass(value, BaseException)):
            yield name, value


def module_report(name: str) -> list[str]:
    """List what the docstrings of a module lack."""
    return [lack for each, value in public_objects(importlib.import_module(name)) for lack in missing(each, value)]


def run_examples(name: str) -> doctest.TestResults:
    """Run the examples in the docstrings of a module."""
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    return doctest.testmod(importlib.import_module(name), optionflags=options, verbose=False)


@pytest.mark.parametrize("module", REFERENCE)
def test_every_parameter_is_described(module: str) -> None:
    assert module_report(module) == []


def test_names_of_the_package_are_described() -> None:
    assert [lack for name, value in public_names() for lack in missing(name, value)] == []


# Examples that train, or load the agent that comes with Riverboat.
COSTLY = {
    "riverboat.api.match",
    "riverboat.api.train",
    "riverboat.evaluation.best_response.lower_bound",
    "riverboat.opponents.repeated_games",
    "riverboat.strategies.policy",
}


@pytest.mark.parametrize(
    "module", [pytest.param(each, marks=[pytest.mark.slow] if each in COSTLY else []) for each in REFERENCE]
)
def test_examples_run(module: str) -> None:
    result = run_examples(module)
    assert result.failed == 0


if __name__ == "__main__":
    for each in sys.argv[1:]:
        print(*module_report(each), sep="\n")
        print(each, run_examples(each))
