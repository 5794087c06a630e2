"""Registry of agents: builds the agent that a spec names (`agents.spec` has the notation).

Options of blueprints: `purify`, `threshold=0.15` or `new=0.2` (post-processing); `spare-first=yes` or `no` (whether
the first action of a hand is not post-processed; yes with `new`); `translation=rand-pshar` and `tie=high` (action
translation); `abstraction=DIR` (where the card abstraction is now). All randomized agents have `seed=0`.

`exploit=dbbr`, `rnr`, `dbr` or `preflop` makes a blueprint learn from hands and respond to a model of the opponent
(`agents.learning`); `exploit=known&opponent=always-raise` responds to a known agent. With `search`, subgames are
solved against the range of the model (`agents.search`). `safe=20` risks at most 20 mbb per hand and the gifts so far
(`agents.safe`). `notice=200` discards data from before a change of the opponent (`agents.nonstationary`).

`search=preflop`, `flop`, `turn` or `river` makes a blueprint solve subgames from that street on; `agents.spec` has
the other options. `endgames=DIR` makes it play rivers by the nearest endgame of a database: `riverboat endgames build
DIR`.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any, cast

from riverboat.agents.base import Agent, errors_of_agent
from riverboat.agents.baselines import BaselineAgent
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.learning import KNOWN, LearningAgent, respond_to_known
from riverboat.agents.nonstationary import ChangeDetectingAgent, HedgeAgent, SwitchingAgent
from riverboat.agents.rules import RuleAgent
from riverboat.agents.safe import SafeLearningAgent, SafeSearchAgent
from riverboat.agents.search import LearningSearchAgent, SearchAgent, SubgameLibraryAgent
from riverboat.agents.spec import DEFAULT as DEFAULT
from riverboat.agents.spec import DEMO as DEMO
from riverboat.agents.spec import AgentSpec, parse_agent
from riverboat.agents.spot_solution import SolutionAgent
from riverboat.core import plugins
from riverboat.core.artifacts import MANIFEST
from riverboat.core.cache import user_folder
from riverboat.core.errors import InputError, short_repr, unknown_name_error
from riverboat.strategies.blueprint import load_blueprint
from riverboat.strategies.files import load
from riverboat.strategies.solution import Solution
from riverboat.subgames.database.database import load_database
from riverboat.subgames.search.search import SearchSettings

SHIPPED = Path(__file__).parent / "shipped" / DEFAULT
SHIPPED_LEDGER = SHIPPED.with_name("strength.jsonl")  # its measured results


def demo_folder() -> Path:
    """Return the folder of the demo's blueprint, in the user's data folder. Earlier releases called it `default`.

    Returns
    -------
    Path
        The folder of the demo's blueprint, in the user's data folder.

    Examples
    --------
    >>> demo_folder().name
    'demo'
    """
    home = user_folder("data")
    return home / DEFAULT if (home / DEFAULT).is_dir() and not (home / DEMO).is_dir() else home / DEMO


def default_folder() -> Path:
    """Return the folder of the agent that comes with Riverboat; that of the demo in builds without one.

    Returns
    -------
    Path
        The folder of the agent that comes with Riverboat.

    Examples
    --------
    >>> default_folder().exists()
    True
    """
    return SHIPPED if (SHIPPED / MANIFEST).is_file() else demo_folder()


def blueprint_folder(spec: AgentSpec) -> Path | None:
    """Return the folder of the blueprint that a spec names, None for other kinds of agents.

    Parameters
    ----------
    spec
        Parsed spec.

    Returns
    -------
    Path | None
        The folder of the blueprint that a spec names, None for other kinds of agents.

    Examples
    --------
    >>> from riverboat.agents.spec import parse_agent
    >>> blueprint_folder(parse_agent("always-call")) is None
    True
    """
    if spec.kind != "blueprint":
        return None
    if spec.target not in (DEMO, DEFAULT):
        return Path(spec.target)
    folder = demo_folder() if spec.target == DEMO else default_folder()
    if not folder.is_dir():
        raise InputError(f"agent {short_repr(spec.text)}: nothing at {folder} yet; `riverboat demo` builds it")
    return folder


def make_agent(spec: str | AgentSpec, seed: int = 0) -> Agent:
    """Build the agent that a spec names. `seed` is for randomized agents whose spec has none.

    A string counts as typed by a person; specs from elsewhere must be parsed with their origin first
    (`spec.parse_agent`).

    Parameters
    ----------
    spec
        Name of an agent with options: `default?search=turn`, `random`, a folder, `module:Class`.
    seed
        Seed of randomized agents whose spec has none.

    Returns
    -------
    Agent
        The agent.

    Raises
    ------
    InputError
        If there is no such agent, or an option is unknown or invalid.

    Examples
    --------
    >>> make_agent("random", seed=7).name
    'random'
    """
    if isinstance(spec, str):
        spec = parse_agent(spec)
    own_seed = seed if spec.seed is None else spec.seed
    folder = blueprint_folder(spec)
    if folder is not None:
        return _blueprint(spec, folder, own_seed, seed)
    if spec.kind == "baseline":
        return BaselineAgent(spec.target, own_seed)
    if spec.kind == "rules":
        return RuleAgent.read(spec.target, spec.text, own_seed)
    if spec.kind == "solution":
        solution = load(spec.target)
        if not isinstance(solution, Solution):
            raise InputError(f"agent {short_repr(spec.text)}: contains {solution!r}; only solved spots can be played")
        return SolutionAgent(solution, spec.text, own_seed)
    return _custom(spec) if spec.kind == "class" else _composite(spec, seed)


def _composite(spec: AgentSpec, seed: int) -> Agent:
    with errors_of_agent(spec.text):
        parts = [make_agent(part, seed) for part in spec.parts]
        if spec.kind == "switch":
            return SwitchingAgent(parts, spec.count, spec.text)
        return HedgeAgent(parts, spec.count, name=spec.text, seed=seed)


def _blueprint(spec: AgentSpec, folder: Path, own_seed: int, seed: int) -> Agent:
    plays = spec.blueprint
    agent = BlueprintAgent(
        load_blueprint(folder, plays.abstraction),
        name=spec.text,
        translation=plays.translation,
        tie=plays.tie,
        post=plays.post,
        share=plays.share,
        spare_first=plays.spare_first,
        seed=own_seed,
    )
    if plays.endgames is not None:
        return SubgameLibraryAgent(agent, SearchSettings("river"), library=load_database(plays.endgames))
    learns = plays.learn
    if learns is not None and learns.method == KNOWN:
        agent, learns = respond_to_known(agent, make_agent(spec.parts[0], seed), learns), None
    if learns is None:
        return agent if plays.search is None else SearchAgent(agent, plays.search)
    if plays.notice is not None:
        return ChangeDetectingAgent(lambda: LearningAgent(agent, learns), plays.notice)
    if plays.search is None:
        learner = LearningAgent(agent, learns)
        return learner if plays.safe is None else SafeLearningAgent(learner, plays.safe)
    if plays.safe is None:
        return LearningSearchAgent(LearningAgent(agent, learns), plays.search)
    return SafeSearchAgent(agent, plays.search, plays.safe, learns.every)


def _custom(spec: AgentSpec) -> Agent:
    """Build an agent of the user's own class, from a module that may be in the current folder."""
    text, current_folder = spec.text, str(Path.cwd())
    module, _, name = spec.target.partition(":")
    sys.path.insert(0, current_folder)
    try:
        home = plugins.import_user_module("agent", text, module)
    finally:
        sys.path.remove(current_folder)
    if not hasattr(home, name):
        classes = [key for key, value in vars(home).items() if inspect.isclass(value) and hasattr(value, "act")]
        problem = (
            unknown_name_error("class", name, classes)
            if classes
            else f"no class {short_repr(name)}, nor any other with a method act,"
        )
        raise InputError(f"agent {short_repr(text)}: {problem} in {module}")
    with plugins.user_code_errors("agent", text, f"{name} cannot be created"):
        agent = getattr(home, name)(**spec.arguments)
    return require_agent(agent, f"agent {short_repr(text)}")


def require_agent(agent: Any, subject: str) -> Agent:
    """Return an object that has what an agent needs.

    Parameters
    ----------
    agent
        Object that should be an agent.
    subject
        Beginning of the message.

    Returns
    -------
    Agent
        The object.

    Raises
    ------
    InputError
        If it has no `name`, `check_rules` or `act`.

    Examples
    --------
    >>> require_agent(5, "agent=5")
    Traceback (most recent call last):
    ...
    riverboat.core.errors.InputError: agent=5: has no name; an agent needs name, check_rules and act
    """
    needed = "name", "check_rules", "act"
    missing = [attribute for attribute in needed if not hasattr(agent, attribute)]
    missing += [attribute for attribute in needed[1:] if not missing and not callable(getattr(agent, attribute))]
    if missing:
        raise InputError(f"{subject}: has no {missing[0]}; an agent needs name, check_rules and act")
    if isinstance(agent, type):
        raise InputError(f"{subject}: is a class; give one of its objects")
    return cast("Agent", agent)
