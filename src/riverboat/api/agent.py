"""Agents and rules from names or objects, and the demo agent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

from riverboat.abstraction.recipe import AbstractionRecipe, load_recipe
from riverboat.agents import registry
from riverboat.agents.base import Agent, rules_of_agents
from riverboat.agents.baselines import BASELINES
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.registry import make_agent
from riverboat.agents.spec import AgentSpec, SpecOrigin, parse_agent
from riverboat.api.options import checked
from riverboat.core import artifacts, validation
from riverboat.core.errors import CorruptError, InputError, short_repr
from riverboat.core.formatting import parse_duration
from riverboat.games.holdem.rules import PokerRules, read_game
from riverboat.solvers.mccfr.recipe import TrainRecipe, load_train_recipe
from riverboat.strategies import files
from riverboat.strategies.blueprint import Blueprint, load_blueprint

DEFAULT, DEMO = registry.DEFAULT, registry.DEMO  # names of agents
DEFAULT_GAME = "nolimit-200bb"  # if neither the user nor an agent names a game


@checked
def agent(name: str | Agent | AgentSpec, seed: int = 0) -> Agent:
    """Return an agent by its name, or the agent itself.

    Parameters
    ----------
    name
        Name of an agent with its options (docs/playing.md), its parsed spec, or an agent.
    seed
        Seed of a randomized agent whose name has none.

    Returns
    -------
    Agent
        The agent.

    Raises
    ------
    InputError
        If no agent has this name, or the object lacks what an agent needs: `name`, `check_rules` and `act`.

    Examples
    --------
    >>> agent("always-call").name
    'always-call'
    """
    validation.check_integer("seed", seed)
    if isinstance(name, str):
        validation.check_text("agent", name)
    if isinstance(name, str | AgentSpec):
        return make_agent(name, seed)
    return registry.require_agent(name, f"agent={short_repr(name)}")


def blueprint_agent(name: str, purpose: str) -> BlueprintAgent:
    """Return an agent that plays a blueprint, by its name.

    Parameters
    ----------
    name
        A blueprint folder, `demo` or `default`, with options.
    purpose
        What the blueprint is needed for, for the message.

    Returns
    -------
    BlueprintAgent
        The agent.

    Raises
    ------
    InputError
        If the agent plays no blueprint.

    Examples
    --------
    >>> blueprint_agent("random", "models need a blueprint")
    Traceback (most recent call last):
    ...
    riverboat.core.errors.InputError: agent 'random': models need a blueprint
    """
    made = make_agent(name)
    if not isinstance(made, BlueprintAgent):
        raise InputError(f"agent {short_repr(name)}: {purpose}")
    return made


def rules_for(agents: Sequence[Agent], game: str | PokerRules | None) -> PokerRules:
    """Return the rules of the named game, else of the game that the agents play.

    Parameters
    ----------
    agents
        Agents that play it.
    game
        Name of a game, path of a game file, or rules; by default the game of the agents.

    Returns
    -------
    PokerRules
        The rules; by default no-limit hold'em with stacks of 200 big blinds.

    Raises
    ------
    InputError
        If there is no such game, or an agent cannot play it.

    Examples
    --------
    >>> rules_for([agent("always-call")], "leduc").name
    'leduc'
    """
    own = rules_of_agents(*agents)
    if isinstance(game, str):
        validation.check_text("game", game)
    elif game is not None and not isinstance(game, PokerRules):
        raise InputError(
            f"game={short_repr(game)}: must be the name of a game, the path of a game file, or `PokerRules`"
        )
    named = read_game(game) if isinstance(game, str) else game
    rules = named or own or read_game(DEFAULT_GAME)
    for player in agents:
        player.check_rules(rules)
    return rules


def agent_folder(name: str) -> Path:
    """Return the folder of the blueprint of `default` or `demo`; it may not exist yet.

    Parameters
    ----------
    name
        default (shipped with the package) or demo (built by `riverboat demo`).

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    InputError
        For another name.

    Examples
    --------
    >>> agent_folder("default").is_dir()
    True
    """
    folders = {DEFAULT: registry.default_folder, DEMO: registry.demo_folder}
    validation.check_name("agent", name, folders)
    return folders[name]()


def parse_request(text: str, find_run: Callable[[str], Path]) -> AgentSpec:
    """Parse the spec of an agent from an untrusted source: never code, never a path.

    Parameters
    ----------
    text
        Name of an agent, or of a run, with options.
    find_run
        Function that returns the folder of a run, and raises an error for other names.

    Returns
    -------
    AgentSpec
        The parsed spec; nothing is loaded yet.

    Raises
    ------
    InputError
        If the spec is invalid, or names something that only a person may name.

    Examples
    --------
    >>> parse_request("default?search=turn", Path).is_expensive
    True
    """
    return parse_agent(text, SpecOrigin("a request", find=find_run))


def spec_version(spec: AgentSpec) -> tuple[Any, ...]:
    """Return a key that changes when the run behind a spec changes.

    Parameters
    ----------
    spec
        A parsed spec.

    Returns
    -------
    tuple
        The text, and the newest artifact with its file stamp.

    Examples
    --------
    >>> spec_version(parse_request("always-call", Path))
    ('always-call',)
    """
    folder = Path(spec.target) if spec.kind == "solution" else registry.blueprint_folder(spec)
    if folder is None:
        return (spec.text,)
    artifact = files.latest_artifact(folder)
    return spec.text, str(artifact), *artifacts.file_stamp(artifact / artifacts.MANIFEST)


def baseline_descriptions() -> dict[str, str]:
    """Return the baseline agents with a description of each.

    Returns
    -------
    dict of str
        Descriptions by name.

    Examples
    --------
    >>> sorted(baseline_descriptions())[0]
    'always-call'
    """
    return {name: about for name, (_, about) in BASELINES.items()}


# --- The demo agent ---


@dataclass(frozen=True, eq=False)
class DemoStatus:
    """What exists of the demo agent, and how to build the rest.

    Attributes
    ----------
    folder
        Folder of the training run.
    recipe
        Training recipe.
    abstraction
        Recipe of the card abstraction.
    time
        Requested training time, such as 60s.
    blueprint
        The blueprint, also if it was trained for less; None if nothing was saved yet.
    complete
        Whether it was trained for the requested time, or cannot be trained further.

    Examples
    --------
    >>> demo_status(time="5m").time
    '5m'
    """

    folder: Path
    recipe: TrainRecipe
    abstraction: AbstractionRecipe
    time: str
    blueprint: Blueprint | None = field(repr=False)
    complete: bool


def demo_status(time: str | None = None) -> DemoStatus:
    """Find out what exists of the demo agent.

    Parameters
    ----------
    time
        Training time such as 60s or 5m; by default that of the recipe, one minute.

    Returns
    -------
    DemoStatus
        Folders, recipes and the blueprint.

    Raises
    ------
    InputError
        If the time is invalid, or the folder is damaged.

    Examples
    --------
    >>> demo_status().recipe.name
    'demo'
    """
    from riverboat.solvers.mccfr.training import has_no_checkpoint

    folder, recipe = registry.demo_folder(), load_train_recipe(DEMO)
    wanted = recipe.time or "60s" if time is None else time
    seconds = parse_duration(wanted)  # invalid values raise before anything is built
    blueprint, complete = None, False
    if folder.is_dir() and not has_no_checkpoint(folder):
        with rebuild_hint(folder):
            blueprint = load_blueprint(folder)
        trained = float(blueprint.provenance.get("seconds", inf))
        complete = trained >= seconds or not files.checkpoints(folder)
    return DemoStatus(folder, recipe, load_recipe(recipe.abstraction), wanted, blueprint, complete)


@contextmanager
def rebuild_hint(folder: Path) -> Iterator[None]:
    """Add to errors that the user can delete a folder of the demo: it may be damaged or from another release.

    Parameters
    ----------
    folder
        Folder of the card abstraction or of the training run.

    Returns
    -------
    AbstractContextManager
        Context of the code that reads or writes the folder.

    Examples
    --------
    >>> with rebuild_hint(Path("demo")):
    ...     raise InputError("bad file")
    Traceback (most recent call last):
    riverboat.core.errors.InputError: bad file; delete demo, and the demo will build it again
    """
    try:
        yield
    except (InputError, CorruptError) as error:
        raise InputError(f"{error}; delete {folder}, and the demo will build it again") from None
