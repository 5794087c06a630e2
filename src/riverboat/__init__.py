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
    "Result": "riverboat.solving.result",
    "RiverboatError": "riverboat.errors",
    "Solution": "riverboat.strategy.solution",
    "Spot": "riverboat.games.spot",
    "Strategy": "riverboat.strategy.table",
    "abstract": "riverboat.verbs.abstracting",
    "agent": "riverboat.verbs.seating",
    "ask": "riverboat.strategy.asking",
    "compile_game": "riverboat.trees.compile",
    "dcfr": "riverboat.solving.schedules",
    "game": "riverboat.solving.values",
    "load": "riverboat.strategy.files",
    "match": "riverboat.verbs.matching",
    "matrix": "riverboat.games.normal_form",
    "play": "riverboat.verbs.playing",
    "quality": "riverboat.evaluation.quality",
    "refine": "riverboat.endgame.refine",
    "respond": "riverboat.verbs.responding",
    "save": "riverboat.strategy.files",
    "solve": "riverboat.solving.run",
    "sweep": "riverboat.verbs.sweeping",
    "trace": "riverboat.solving.trace",
    "train": "riverboat.verbs.training",
}

_MODULES = {"schedules": "riverboat.solving.schedules"}  # names for more names

__all__ = sorted([*_PLACES, *_MODULES])

if TYPE_CHECKING:
    from riverboat.endgame.refine import refine as refine
    from riverboat.errors import RiverboatError as RiverboatError
    from riverboat.evaluation.quality import quality as quality
    from riverboat.games.normal_form import matrix as matrix
    from riverboat.games.spot import Spot as Spot
    from riverboat.solving import schedules as schedules
    from riverboat.solving.cfr import CFR as CFR
    from riverboat.solving.result import Result as Result
    from riverboat.solving.run import solve as solve
    from riverboat.solving.schedules import dcfr as dcfr
    from riverboat.solving.trace import trace as trace
    from riverboat.solving.values import game as game
    from riverboat.strategy.asking import ask as ask
    from riverboat.strategy.files import load as load
    from riverboat.strategy.files import save as save
    from riverboat.strategy.solution import Solution as Solution
    from riverboat.strategy.table import Strategy as Strategy
    from riverboat.trees.compile import compile_game as compile_game
    from riverboat.verbs.abstracting import abstract as abstract
    from riverboat.verbs.matching import match as match
    from riverboat.verbs.playing import play as play
    from riverboat.verbs.responding import respond as respond
    from riverboat.verbs.seating import agent as agent
    from riverboat.verbs.sweeping import sweep as sweep
    from riverboat.verbs.training import train as train


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value: Any = importlib.import_module(_MODULES[name])
    elif name in _PLACES:
        value = getattr(importlib.import_module(_PLACES[name]), name)
    else:
        raise AttributeError(f"module 'riverboat' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
