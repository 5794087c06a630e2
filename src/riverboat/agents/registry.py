"""Agents by name: builds what a spec names (`agents.spec` has the notation).

Options of blueprints: `purify`, `threshold=0.15` or `new=0.2` (post-processing); `spare-first=yes` or `no` (whether the first
action of a hand is left as it is; yes with `new`); `translation=rand-pshar` and `tie=high` (action translation);
`abstraction=DIR` (where the card abstraction lies now). All agents that draw have `seed=0`.

`exploit=dbbr`, `rnr`, `dbr` or `preflop` lets a blueprint learn from hands and respond to a model of the opponent:
`agents.learning`; `exploit=known&opponent=always-raise` responds to a known agent. With `search`, endgames are solved
against the range of the model: `agents.learning_search`. `safe=20` risks no more than 20 mbb a hand and the gifts so far:
`agents.safe`. `notice=200` forgets what was before the opponent changed: `agents.nonstationary`.

`search=preflop`, `flop`, `turn` or `river` lets a blueprint solve a hand from there on: `agents.search_options` has the rest.
`endgames=DIR` lets it play rivers by the nearest of a database of solved endgames: `riverboat endgames build DIR`.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import cast

from riverboat.agents.base import Agent
from riverboat.agents.baselines import Yardstick
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.learning import KNOWN, LearningAgent, known_answer
from riverboat.agents.learning_search import EndgameLearner
from riverboat.agents.nonstationary import HedgeAgent, NoticingLearner, SwitchingAgent
from riverboat.agents.rules import RuleAgent
from riverboat.agents.safe import SafeLearner, SafeSearcher
from riverboat.agents.search import LibraryAgent, SearchingAgent
from riverboat.agents.spec import DEFAULT as DEFAULT
from riverboat.agents.spec import DEMO as DEMO
from riverboat.agents.spec import AgentSpec, parse_agent
from riverboat.agents.spot_solution import SolutionAgent
from riverboat.core import plugins
from riverboat.core.artifacts import MANIFEST
from riverboat.core.cache import own_folder
from riverboat.core.errors import InputError, shown, unknown
from riverboat.strategies.blueprint import load_blueprint
from riverboat.strategies.files import load
from riverboat.strategies.solution import Solution
from riverboat.subgames.database.build import load_library
from riverboat.subgames.search.search import SearchSettings

SHIPPED = Path(__file__).parent / "shipped" / DEFAULT
SHIPPED_LEDGER = SHIPPED.with_name("strength.jsonl")  # what has been measured of it


def demo_folder() -> Path:
    """Return the folder of the demo's blueprint, in the user's data folder. Earlier releases called it `default`."""
    home = own_folder("data")
    return home / DEFAULT if (home / DEFAULT).is_dir() and not (home / DEMO).is_dir() else home / DEMO


def default_folder() -> Path:
    """Return the folder of the agent that comes with Riverboat; that of the demo, in builds without one."""
    return SHIPPED if (SHIPPED / MANIFEST).is_file() else demo_folder()


def blueprint_folder(spec: AgentSpec) -> Path | None:
    """Return the folder of the blueprint that a spec names, None for other kinds of agents."""
    if spec.kind != "blueprint":
        return None
    if spec.target not in (DEMO, DEFAULT):
        return Path(spec.target)
    folder = demo_folder() if spec.target == DEMO else default_folder()
    if not folder.is_dir():
        raise InputError(f"agent {shown(spec.text)}: nothing at {folder} yet; `riverboat demo` builds it")
    return folder


def make_agent(spec: str | AgentSpec, seed: int = 0) -> Agent:
    """Build the agent that a spec names. `seed` is for agents that draw, where the spec has none.

    A text is taken as typed by a person; what comes from elsewhere is parsed with its origin first (`spec.parse_agent`).
    """
    if isinstance(spec, str):
        spec = parse_agent(spec)
    own_seed = seed if spec.seed is None else spec.seed
    folder = blueprint_folder(spec)
    if folder is not None:
        return _blueprint(spec, folder, own_seed, seed)
    if spec.kind == "baseline":
        return Yardstick(spec.target, own_seed)
    if spec.kind == "rules":
        return RuleAgent.read(spec.target, spec.text, own_seed)
    if spec.kind == "solution":
        solution = load(spec.target)
        if not isinstance(solution, Solution):
            raise InputError(
                f"agent {shown(spec.text)}: holds {solution!r}; of what is solved, spots alone can be played"
            )
        return SolutionAgent(solution, spec.text, own_seed)
    return _custom(spec) if spec.kind == "class" else _composite(spec, seed)


def _composite(spec: AgentSpec, seed: int) -> Agent:
    try:
        parts = [make_agent(part, seed) for part in spec.parts]
        if spec.kind == "switch":
            return SwitchingAgent(parts, spec.number, spec.text)
        return HedgeAgent(parts, spec.number, name=spec.text, seed=seed)
    except InputError as error:
        raise InputError(f"agent {shown(spec.text)}: {error}") from None


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
        return LibraryAgent(agent, SearchSettings("river"), library=load_library(plays.endgames))
    learns = plays.learn
    if learns is not None and learns.method == KNOWN:
        agent, learns = known_answer(agent, make_agent(spec.parts[0], seed), learns), None
    if learns is None:
        return agent if plays.search is None else SearchingAgent(agent, plays.search)
    if plays.notice is not None:
        return NoticingLearner(lambda: LearningAgent(agent, learns), plays.notice)
    if plays.search is None:
        learner = LearningAgent(agent, learns)
        return learner if plays.safe is None else SafeLearner(learner, plays.safe)
    if plays.safe is None:
        return EndgameLearner(LearningAgent(agent, learns), plays.search)
    return SafeSearcher(agent, plays.search, plays.safe, learns.every)


def _custom(spec: AgentSpec) -> Agent:
    """An agent of the user's own, from a module that may lie in the current folder."""
    text, here = spec.text, str(Path.cwd())
    module, _, name = spec.target.partition(":")
    sys.path.insert(0, here)
    try:
        home = plugins.find("agent", text, module)
    finally:
        sys.path.remove(here)
    if not hasattr(home, name):
        there = [key for key, value in vars(home).items() if inspect.isclass(value) and hasattr(value, "act")]
        known = unknown("class", name, there) if there else f"no class {shown(name)}, and no other that acts,"
        raise InputError(f"agent {shown(text)}: {known} in {module}")
    with plugins.told("agent", text, f"{name} cannot be made"):
        agent = getattr(home, name)(**spec.arguments)
    missing = [what for what in ("name", "check_rules", "act") if not hasattr(agent, what)]
    if missing:
        raise InputError(f"agent {shown(text)}: has no {missing[0]}; see riverboat.agents.base.Agent")
    return cast("Agent", agent)
