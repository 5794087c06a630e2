"""Identity of measured agents: what was measured, under which rules and with which release.

    facts | describe_result("match", rules, first, second)      # adds the key `about`

A fingerprint depends only on how an agent plays, not on its name or folder: the tables, tree and card abstraction of
a blueprint and the options that change its play. Seeds do not count. An agent that searches or adapts is identified
by its options and the blueprint behind it (`made_of`); a composite agent by all of its parts.
"""

from __future__ import annotations

import hashlib
import re
from itertools import chain
from typing import Any

from riverboat import __version__
from riverboat.agents.baselines import BaselineAgent
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.composite import MixtureAgent
from riverboat.agents.learning import LearningAgent
from riverboat.agents.nonstationary import ChangeDetectingAgent, HedgeAgent, SwitchingAgent
from riverboat.agents.open_spiel import OpenSpielAgent
from riverboat.agents.rules import RuleAgent
from riverboat.agents.safe import SafeLearningAgent, SafeSearchAgent, SafeSubgameAgent
from riverboat.agents.search import LearningSearchAgent, SearchAgent, SubgameLibraryAgent
from riverboat.agents.spot_solution import SolutionAgent
from riverboat.engines.devices import CUDA
from riverboat.games.holdem.rules import PokerRules, format_game
from riverboat.solvers.mccfr.recipe import DEVICE_CORES
from riverboat.strategies.blueprint import Blueprint

IRRELEVANT_OPTIONS = ("seed", "abstraction", "threads", "device", "memory")  # options that do not change what is played
# Names of classes in the fingerprints of ledgers. They never change, even if a class is renamed or moved.
CLASS_NAMES: dict[type, str] = {
    LearningSearchAgent: "EndgameLearner",
    HedgeAgent: "HedgeAgent",
    LearningAgent: "LearningAgent",
    SubgameLibraryAgent: "LibraryAgent",
    MixtureAgent: "MixedAgent",
    ChangeDetectingAgent: "NoticingLearner",
    OpenSpielAgent: "OpenSpielAgent",
    RuleAgent: "riverboat.agents.rules:RuleAgent",
    SafeSubgameAgent: "SafeEndgames",
    SafeLearningAgent: "SafeLearner",
    SafeSearchAgent: "SafeSearcher",
    SearchAgent: "SearchingAgent",
    SolutionAgent: "riverboat.agents.spot_solution:SolutionAgent",
    SwitchingAgent: "SwitchingAgent",
}
FINGERPRINT_DIGITS = 12  # hexadecimal digits of a stored fingerprint


def describe_result(result: str, rules: PokerRules, *agents: Any) -> dict[str, Any]:
    """Return `{"about": ...}`: kind of the result, rules, identities of the agents (or blueprints), and release."""
    game = {"name": rules.name, "fingerprint": _digest(format_game(rules)), "stacks": rules.stacks}
    identities = [agent_identity(agent) for agent in agents]
    return {"about": {"result": result, "rules": game, "agents": identities, "version": __version__}}


def agent_identity(agent: Any) -> dict[str, Any]:
    """Return an agent's `name`, `fingerprint` and `kind` and, for blueprints, its size, recipe and training time.

    An agent made of one blueprint has the facts of that blueprint, with a fingerprint of its own.
    """
    if isinstance(agent, Blueprint):
        agent = BlueprintAgent(agent, name=str(agent.provenance.get("folder", "blueprint")))
    if isinstance(agent, BlueprintAgent):
        return _blueprint_identity(agent)
    if isinstance(agent, BaselineAgent):
        return {"name": agent.name, "fingerprint": _digest(f"yardstick {agent.name}"), "kind": "yardstick"}
    name, parts = str(getattr(agent, "name", agent)), getattr(agent, "made_of", ())
    if parts:
        return _composite_identity(agent, name, [agent_identity(part) for part in parts])
    fingerprint = getattr(agent, "fingerprint", None) or f"{_class_name(agent)} {name}"
    return {"name": name, "fingerprint": _digest(str(fingerprint)), "kind": "own"}


def _class_name(agent: Any) -> str:
    """Return the permanent name of an agent's class; a user's class is identified by its module and name."""
    return CLASS_NAMES.get(type(agent)) or f"{type(agent).__module__}:{type(agent).__qualname__}"


def _blueprint_identity(agent: BlueprintAgent) -> dict[str, Any]:
    strategy, policy = agent.strategy, agent.policy
    options = (policy.translation, policy.tie, policy.post, policy.share, policy.spare_first)
    provenance, card_tables = strategy.provenance, (street.arrays().values() for street in strategy.cards.streets)
    arrays = chain(strategy.average, *card_tables)
    facts: dict[str, Any] = {
        "name": agent.name.partition("?")[0].rstrip("/").rpartition("/")[2] + _relevant_options(agent.name),
        "fingerprint": _digest(repr((strategy.fingerprint, options))),
        "kind": "blueprint",
        "cards": f"{strategy.cards.name} {'-'.join(map(str, strategy.buckets))}",
        "nodes": len(strategy.tree),
        "megabytes": round(sum(int(array.nbytes) for array in arrays) / 1e6, 3),
    }
    if provenance.get("recipe") is not None:
        facts["recipe"] = str(provenance["recipe"])
    if isinstance(provenance.get("seconds"), int | float):
        # A GPU that samples deals counts as DEVICE_CORES.
        samples_on_gpu = provenance.get("device") == CUDA and provenance.get("traversal") == "external"
        cores = DEVICE_CORES if samples_on_gpu else int(provenance.get("threads", 1))
        facts["core_hours"] = round(float(provenance["seconds"]) * cores / 3600, 4)
    return facts


def _composite_identity(agent: Any, name: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    single = len(parts) == 1
    # Several parts have options such as `deals=500` of a switching agent.
    options = _relevant_options(name) if single else ",".join(re.findall(r",(\w+=\d+)(?=,|$)", name))
    fingerprint = _digest(repr((_class_name(agent), options, [part["fingerprint"] for part in parts])))
    if not single:
        return {"name": name, "fingerprint": fingerprint, "kind": "several"}
    return {**parts[0], "fingerprint": fingerprint}  # the name of a blueprint contains all options already


def _relevant_options(name: str) -> str:
    """Return the options in an agent's name that change its play."""
    options = filter(None, name.partition("?")[2].split("&"))
    relevant = [option for option in options if option.partition("=")[0] not in IRRELEVANT_OPTIONS]
    return f"?{'&'.join(relevant)}" if relevant else ""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:FINGERPRINT_DIGITS]
