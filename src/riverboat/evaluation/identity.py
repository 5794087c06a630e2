"""Who was measured, at what, with which release: what a result says about itself, so that unlike ones are told apart.

    facts | about("match", rules, first, second)      # adds the key `about`

A fingerprint is of what an agent plays, whatever it is called and wherever it lies: a blueprint's tables, tree and cards with
the options that change its play. Seeds are none of them. An agent that searches or learns is known by its options and
the blueprint behind it (`made_of`), one that is made of several by all of them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from riverboat import __version__
from riverboat.agents.baselines import Yardstick
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.learning import LearningAgent
from riverboat.agents.learning_search import EndgameLearner
from riverboat.agents.mixtures import MixedAgent
from riverboat.agents.nonstationary import HedgeAgent, NoticingLearner, SwitchingAgent
from riverboat.agents.rules import RuleAgent
from riverboat.agents.safe import SafeLearner, SafeSearcher
from riverboat.agents.safe_search import SafeEndgames
from riverboat.agents.search import LibraryAgent, SearchingAgent
from riverboat.agents.spot_solution import SolutionAgent
from riverboat.engines.devices import CUDA
from riverboat.games.holdem.rules import Rules, show_game
from riverboat.solvers.mccfr.sizing import DEVICE_CORES
from riverboat.strategies.blueprint import BlueprintStrategy

ELSEWHERE = ("seed", "abstraction", "threads", "device", "memory")  # options that do not change what is played
# What fingerprints in ledgers say of a class: never changed, whatever the class is called and wherever it lies.
KINDS: dict[type, str] = {
    EndgameLearner: "EndgameLearner",
    HedgeAgent: "HedgeAgent",
    LearningAgent: "LearningAgent",
    LibraryAgent: "LibraryAgent",
    MixedAgent: "MixedAgent",
    NoticingLearner: "NoticingLearner",
    RuleAgent: "riverboat.agents.rules:RuleAgent",
    SafeEndgames: "SafeEndgames",
    SafeLearner: "SafeLearner",
    SafeSearcher: "SafeSearcher",
    SearchingAgent: "SearchingAgent",
    SolutionAgent: "riverboat.agents.spot_solution:SolutionAgent",
    SwitchingAgent: "SwitchingAgent",
}
LENGTH = 12  # hexadecimal digits of a fingerprint that is written down


def about(result: str, rules: Rules, *agents: Any) -> dict[str, Any]:
    """What a result is of: its kind, the rules, the agents (or blueprints) and the release."""
    return {
        "about": {
            "result": result,
            "rules": {"name": rules.name, "fingerprint": _digest(show_game(rules)), "stacks": rules.stacks},
            "agents": [identity(agent) for agent in agents],
            "version": __version__,
        }
    }


def identity(agent: Any) -> dict[str, Any]:
    """An agent's name and fingerprint, and where it comes from, as far as that is known."""
    if isinstance(agent, BlueprintStrategy):
        agent = BlueprintAgent(agent, name=str(agent.provenance.get("folder", "blueprint")))
    if isinstance(agent, BlueprintAgent):
        return _of_blueprint(agent)
    if isinstance(agent, Yardstick):
        return {"name": agent.name, "fingerprint": _digest(f"yardstick {agent.name}"), "kind": "yardstick"}
    name, behind = str(getattr(agent, "name", agent)), getattr(agent, "made_of", ())
    if behind:
        return _of_parts(agent, name, [identity(part) for part in behind])
    own = getattr(agent, "fingerprint", None) or f"{_kind(agent)} {name}"
    return {"name": name, "fingerprint": _digest(str(own)), "kind": "own"}


def _kind(agent: Any) -> str:
    """Return the lasting name of an agent's class; a class of the user's own is known by its module and name."""
    return KINDS.get(type(agent)) or f"{type(agent).__module__}:{type(agent).__qualname__}"


def _of_blueprint(agent: BlueprintAgent) -> dict[str, Any]:
    strategy, played = agent.strategy, agent.played
    how = (played.translation, played.tie, played.post, played.share, played.spare_first)
    known = strategy.provenance
    facts: dict[str, Any] = {
        "name": agent.name.partition("?")[0].rstrip("/").rpartition("/")[2] + _options(agent.name),
        "fingerprint": _digest(repr((strategy.fingerprint, how))),
        "kind": "blueprint",
        "cards": f"{strategy.cards.name} {'-'.join(map(str, strategy.buckets))}",
        "nodes": len(strategy.tree),
        "megabytes": round(_bytes(strategy) / 1e6, 3),
    }
    if known.get("recipe") is not None:
        facts["recipe"] = str(known["recipe"])
    if isinstance(known.get("seconds"), int | float):
        facts["core_hours"] = round(float(known["seconds"]) * _cores(known) / 3600, 4)
    return facts


def _cores(known: Mapping[str, Any]) -> int:
    """That have trained a blueprint; a GPU that walks deals stands for as many as would have walked them."""
    if known.get("device") == CUDA and known.get("traversal") == "external":
        return DEVICE_CORES
    return int(known.get("threads", 1))


def _of_parts(agent: Any, name: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    alone = len(parts) == 1
    how = _options(name) if alone else ",".join(re.findall(r",(\w+=\d+)(?=,|$)", name))  # `deals=500` of a switch
    mark = _digest(repr((_kind(agent), how, [part["fingerprint"] for part in parts])))
    if not alone:
        return {"name": name, "fingerprint": mark, "kind": "several"}
    return {**parts[0], "fingerprint": mark}  # a blueprint is called by all options already


def _bytes(strategy: BlueprintStrategy) -> int:
    """Of all that it plays from: its own tables and those of its cards."""
    cards = sum(int(array.nbytes) for street in strategy.cards.streets for array in street.arrays().values())
    return cards + sum(int(table.nbytes) for table in strategy.average)


def _options(name: str) -> str:
    """What stands behind the name of a folder and changes play."""
    kept = [part for part in name.partition("?")[2].split("&") if part and part.partition("=")[0] not in ELSEWHERE]
    return f"?{'&'.join(kept)}" if kept else ""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:LENGTH]
