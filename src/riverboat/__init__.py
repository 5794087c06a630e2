"""Riverboat: imperfect-information games solved, with a proof of how good the answer is.

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

_PLACES = {
    "CFR": "riverboat.solving.cfr",
    "Result": "riverboat.solving.run",
    "RiverboatError": "riverboat.errors",
    "Rule": "riverboat.solving.schedules",
    "Run": "riverboat.solving.run",
    "Schedule": "riverboat.solving.schedules",
    "Solution": "riverboat.strategy.solution",
    "Spot": "riverboat.games.spot",
    "Strategy": "riverboat.strategy.table",
    "ask": "riverboat.strategy.asking",
    "best_response": "riverboat.solving.response",
    "cfr_plus": "riverboat.solving.schedules",
    "compile_game": "riverboat.trees.compile",
    "dcfr": "riverboat.solving.schedules",
    "draw": "riverboat.trees.draw",
    "game": "riverboat.solving.values",
    "linear": "riverboat.solving.schedules",
    "load": "riverboat.strategy.files",
    "matrix": "riverboat.games.normal_form",
    "pcfr_plus": "riverboat.solving.schedules",
    "quality": "riverboat.evaluation.quality",
    "save": "riverboat.strategy.files",
    "solve": "riverboat.solving.run",
    "trace": "riverboat.solving.trace",
    "vanilla": "riverboat.solving.schedules",
}

__all__ = sorted(_PLACES)

if TYPE_CHECKING:
    from riverboat.errors import RiverboatError as RiverboatError
    from riverboat.evaluation.quality import quality as quality
    from riverboat.games.normal_form import matrix as matrix
    from riverboat.games.spot import Spot as Spot
    from riverboat.solving.cfr import CFR as CFR
    from riverboat.solving.response import best_response as best_response
    from riverboat.solving.run import Result as Result
    from riverboat.solving.run import Run as Run
    from riverboat.solving.run import solve as solve
    from riverboat.solving.schedules import Rule as Rule
    from riverboat.solving.schedules import Schedule as Schedule
    from riverboat.solving.schedules import cfr_plus as cfr_plus
    from riverboat.solving.schedules import dcfr as dcfr
    from riverboat.solving.schedules import linear as linear
    from riverboat.solving.schedules import pcfr_plus as pcfr_plus
    from riverboat.solving.schedules import vanilla as vanilla
    from riverboat.solving.trace import trace as trace
    from riverboat.solving.values import game as game
    from riverboat.strategy.asking import ask as ask
    from riverboat.strategy.files import load as load
    from riverboat.strategy.files import save as save
    from riverboat.strategy.solution import Solution as Solution
    from riverboat.strategy.table import Strategy as Strategy
    from riverboat.trees.compile import compile_game as compile_game
    from riverboat.trees.draw import draw as draw


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'riverboat' has no attribute {name!r}")
    value = getattr(importlib.import_module(_PLACES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
