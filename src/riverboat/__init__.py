"""Riverboat: solve imperfect-information games, and prove how good the solution is.

    import riverboat as rb

    result = rb.solve("leduc", schedule=rb.dcfr(), until=1e-3)
    result.value_low, result.value_high      # certified
    result.strategy["Ks:cr"]                 # {'f': …, 'c': …, 'r': …}

Names load on first use, so that importing the package is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_MODULE_OF_NAME = {
    "CFR": "riverboat.solvers.tabular.cfr",
    "Result": "riverboat.solvers.result",
    "RiverboatError": "riverboat.core.errors",
    "Rule": "riverboat.solvers.schedules",
    "SequenceForm": "riverboat.solvers.exact.sequence_form",
    "Solution": "riverboat.strategies.solution",
    "Spot": "riverboat.games.spots.spot",
    "Strategy": "riverboat.strategies.tabular",
    "abstract": "riverboat.api.abstract",
    "agent": "riverboat.api.agent",
    "ask": "riverboat.strategies.queries",
    "compile_game": "riverboat.trees.compile",
    "dcfr": "riverboat.solvers.schedules",
    "exploit": "riverboat.api.exploit",
    "game": "riverboat.solvers.game_values",
    "load": "riverboat.strategies.files",
    "match": "riverboat.api.match",
    "matrix": "riverboat.games.small.normal_form",
    "play": "riverboat.api.play",
    "quality": "riverboat.evaluation.quality",
    "refine": "riverboat.api.refine",
    "respond": "riverboat.api.respond",
    "save": "riverboat.strategies.files",
    "solve": "riverboat.api.solve",
    "sweep": "riverboat.api.sweep",
    "trace": "riverboat.solvers.tabular.trace",
    "train": "riverboat.api.train",
}

# Modules that are part of the public API as modules
_MODULES = {"research": "riverboat.research", "schedules": "riverboat.solvers.schedules"}

__all__ = sorted([*_MODULE_OF_NAME, *_MODULES])

if TYPE_CHECKING:
    from riverboat import research as research
    from riverboat.api.abstract import abstract as abstract
    from riverboat.api.agent import agent as agent
    from riverboat.api.exploit import exploit as exploit
    from riverboat.api.match import match as match
    from riverboat.api.play import play as play
    from riverboat.api.refine import refine as refine
    from riverboat.api.respond import respond as respond
    from riverboat.api.solve import solve as solve
    from riverboat.api.sweep import sweep as sweep
    from riverboat.api.train import train as train
    from riverboat.core.errors import RiverboatError as RiverboatError
    from riverboat.evaluation.quality import quality as quality
    from riverboat.games.small.normal_form import matrix as matrix
    from riverboat.games.spots.spot import Spot as Spot
    from riverboat.solvers import schedules as schedules
    from riverboat.solvers.exact.sequence_form import SequenceForm as SequenceForm
    from riverboat.solvers.game_values import game as game
    from riverboat.solvers.result import Result as Result
    from riverboat.solvers.schedules import Rule as Rule
    from riverboat.solvers.schedules import dcfr as dcfr
    from riverboat.solvers.tabular.cfr import CFR as CFR
    from riverboat.solvers.tabular.trace import trace as trace
    from riverboat.strategies.files import load as load
    from riverboat.strategies.files import save as save
    from riverboat.strategies.queries import ask as ask
    from riverboat.strategies.solution import Solution as Solution
    from riverboat.strategies.tabular import Strategy as Strategy
    from riverboat.trees.compile import compile_game as compile_game


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value: Any = importlib.import_module(_MODULES[name])
    elif name in _MODULE_OF_NAME:
        value = getattr(importlib.import_module(_MODULE_OF_NAME[name]), name)
    else:
        raise AttributeError(f"module 'riverboat' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
