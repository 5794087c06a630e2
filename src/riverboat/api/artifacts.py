"""Artifacts by name: what a folder holds, strategies of solved games, and agents as policies for all hands.

describe("runs/mine").kind              # "blueprint"
load_solved("runs/leduc")["Ks:cr"]      # {'f': …, 'c': …, 'r': …}
agent, rules = load_policy("default?search=turn")
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from riverboat.abstraction.cards.card_abstraction import ABSTRACTION_KIND
from riverboat.agents.base import PublicPolicy
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.registry import make_agent
from riverboat.agents.search import SearchAgent
from riverboat.agents.spec import AgentSpec, is_agent_spec
from riverboat.agents.spot_solution import SolutionAgent
from riverboat.api.agent import blueprint_agent, rules_for
from riverboat.core.artifacts import MANIFEST, read_manifest
from riverboat.core.errors import InputError, short_repr
from riverboat.core.files import LOCK_FILE, read_text
from riverboat.core.schema import FileEntries
from riverboat.formats.game_export import write_game
from riverboat.formats.other_solvers import is_other_solver_file, load_other_solver_file
from riverboat.games.holdem.rules import PokerRules
from riverboat.games.registry import FILE_LOADERS
from riverboat.solvers.game_values import game as make_game
from riverboat.strategies import files, shipping
from riverboat.strategies.blueprint import ARTIFACT_KINDS, Blueprint
from riverboat.strategies.blueprint import load_blueprint as load_blueprint
from riverboat.strategies.solution import Solution
from riverboat.strategies.tabular import Strategy
from riverboat.tournaments import run

if TYPE_CHECKING:
    from typing_extensions import TypeIs


ArtifactType: TypeAlias = Literal["agent", "abstraction", "tournament", "blueprint", "boards", "strategy"]
BOARDS_FILE = "boards.jsonl"  # rows of a spot that was solved on many boards
SNAPSHOT_FOLDER = "snapshots"  # folder of snapshots in a training run


@dataclass(frozen=True, eq=False)
class ArtifactDescription:
    """What a name means.

    Attributes
    ----------
    type
        agent, abstraction, tournament, blueprint, boards (a spot on many boards) or strategy.
    folder
        Folder that was named; None for an agent.
    entries
        Manifest of the newest artifact in the folder; None for agents and many boards.

    Examples
    --------
    >>> describe("always-call").type
    'agent'
    """

    type: ArtifactType
    folder: Path | None
    entries: FileEntries | None


def describe(source: str | Path) -> ArtifactDescription:
    """Find out what a name means: an agent, or the kind of artifact that a folder holds.

    Parameters
    ----------
    source
        Folder of a run, a strategy or a card abstraction; or an agent with its options: demo?purify.

    Returns
    -------
    ArtifactDescription
        The type, and the manifest of a folder.

    Raises
    ------
    InputError
        If there is no such folder, and it is not the name of an agent.

    Examples
    --------
    >>> describe("demo?purify").folder is None
    True
    """

    folder = Path(source)
    if not folder.is_dir() and is_agent_spec(str(source)):
        return ArtifactDescription("agent", None, None)
    if (folder / BOARDS_FILE).is_file():
        return ArtifactDescription("boards", folder, None)
    entries = read_manifest(files.latest_artifact(folder))
    return ArtifactDescription(artifact_type(entries["kind"]), folder, entries)


def artifact_type(kind: str) -> ArtifactType:
    """Return the type of an artifact.

    Parameters
    ----------
    kind
        Entry `kind` of its manifest.

    Returns
    -------
    str
        abstraction, tournament, blueprint or strategy.

    Examples
    --------
    >>> artifact_type("blueprint")
    'blueprint'
    """
    kinds: dict[str, ArtifactType] = {ABSTRACTION_KIND: "abstraction", run.ARTIFACT_KIND: "tournament"}
    kinds |= dict.fromkeys(ARTIFACT_KINDS, "blueprint")
    return kinds.get(kind, "strategy")


def newest_artifact(folder: str | Path) -> Path:
    """Return the newest artifact of a run: its strategy or last checkpoint, or a newer snapshot.

    Parameters
    ----------
    folder
        Folder of the run.

    Returns
    -------
    Path
        Folder of the artifact.

    Raises
    ------
    InputError
        If the folder holds no artifact.

    Examples
    --------
    >>> newest_artifact("no-such-folder")
    Traceback (most recent call last):
    riverboat.core.errors.InputError: ...
    """

    artifact = files.latest_artifact(folder)
    snapshots = sorted(p for p in (Path(folder) / SNAPSHOT_FOLDER).glob("[0-9]*") if (p / MANIFEST).is_file())
    prefix = files.CHECKPOINT_PREFIX
    if snapshots and artifact.name.startswith(prefix) and snapshots[-1].name > artifact.name.removeprefix(prefix):
        return snapshots[-1]
    return artifact


def is_run(folder: str | Path) -> bool:
    """Return whether a folder contains a strategy, a run (possibly just started), or many boards.

    Parameters
    ----------
    folder
        The folder.

    Returns
    -------
    bool
        False for hidden and missing folders.

    Examples
    --------
    >>> is_run("no-such-folder")
    False
    """

    path = Path(folder)
    if not path.is_dir() or path.name.startswith("."):
        return False
    markers = path / MANIFEST, path / "strategy" / MANIFEST, path / BOARDS_FILE, path / LOCK_FILE
    return any(marker.is_file() for marker in markers) or bool(files.checkpoints(path))


def load_solved(folder: str | Path, game: str | None = None) -> Strategy | Solution:
    """Load the strategy of a solved game or spot.

    Parameters
    ----------
    folder
        Folder of a run or a strategy.
    game
        The game that was solved, if it was module:object.

    Returns
    -------
    Strategy or Solution
        The strategy of a small game, or the solution of a spot.

    Raises
    ------
    InputError
        If the folder holds no strategy, or its game cannot be created.

    Examples
    --------
    >>> load_solved("no-such-folder")
    Traceback (most recent call last):
    riverboat.core.errors.InputError: ...
    """

    return files.load_solution(folder, None if game is None else make_game(game))


def is_solution(solved: Strategy | Solution) -> TypeIs[Solution]:
    """Return whether a solved game is a hold'em spot or game on boards.

    Parameters
    ----------
    solved
        A strategy from `load_solved`.

    Returns
    -------
    bool
        True for a solution with nodes, False for a tabular strategy.

    Examples
    --------
    >>> from riverboat.api.solve import solve
    >>> is_solution(solve("kuhn", iterations=1).strategy)
    False
    """

    return isinstance(solved, Solution)


def load_policy(agent: str | AgentSpec, game: str | None = None, seed: int = 0) -> tuple[PublicPolicy, PokerRules]:
    """Load an agent that gives its strategy for all hands, and the rules of its game.

    Parameters
    ----------
    agent
        Name of the agent with its options, or its parsed spec.
    game
        A game or .game file; by default the agent's game.
    seed
        Seed of a randomized agent whose name has none.

    Returns
    -------
    tuple of PublicPolicy and PokerRules
        The agent, and the game that it plays.

    Raises
    ------
    InputError
        If there is no such agent, it cannot play the game, or it does not give its strategy for all hands.

    Examples
    --------
    >>> agent, rules = load_policy("always-call")
    >>> rules.name
    'nolimit-200bb'
    """

    made = make_agent(agent, seed)
    if not isinstance(made, PublicPolicy):
        name = agent if isinstance(agent, str) else agent.text
        raise InputError(f"agent {name!r}: has no method strategies(states), which gives its strategy for all hands")
    return made, rules_for([made], game)


def agent_solution(agent: Any) -> Solution | None:
    """Return the solution that an agent plays.

    Parameters
    ----------
    agent
        An agent.

    Returns
    -------
    Solution or None
        The solution of an agent for a solved spot; None for other agents.

    Examples
    --------
    >>> agent_solution(load_policy("always-call")[0]) is None
    True
    """

    return agent.solution if isinstance(agent, SolutionAgent) else None


def agent_blueprint(agent: Any) -> Blueprint | None:
    """Return the blueprint of an agent, with its post-processing.

    Parameters
    ----------
    agent
        An agent.

    Returns
    -------
    Blueprint or None
        The blueprint that the agent plays, also below its search; None if it plays none.

    Examples
    --------
    >>> agent_blueprint(load_policy("always-call")[0]) is None
    True
    """

    base = agent.base if isinstance(agent, SearchAgent) else agent
    return base.policy.tree_strategy() if isinstance(base, BlueprintAgent) else None


def ship(blueprint: str | Path, out: str | Path, *, steps: int = 63) -> shipping.ShippedBlueprint:
    """Compress a blueprint to a few megabytes; the result needs no separate card abstraction.

    Parameters
    ----------
    blueprint
        Folder of the blueprint, or an agent: demo, 'demo?purify'.
    out
        New folder to write.
    steps
        Quantization levels of probabilities, up to 255; fewer compress better.

    Returns
    -------
    ShippedBlueprint
        Folder, bytes and sizes.

    Raises
    ------
    InputError
        If there is no such blueprint, or the folder exists.

    Examples
    --------
    >>> ship("always-call", "unused")
    Traceback (most recent call last):
    riverboat.core.errors.InputError: ...
    """

    if Path(blueprint).is_dir() or not is_agent_spec(str(blueprint)):
        strategy = load_blueprint(blueprint)
    else:
        purpose = "only blueprints can be shipped, not agents with search or learning; name a blueprint or its folder"
        strategy = blueprint_agent(str(blueprint), purpose).policy.tree_strategy()
    return shipping.ship_blueprint(strategy, Path(out), steps)


@dataclass(frozen=True)
class ConvertedGame:
    """A game file that was written.

    Attributes
    ----------
    file
        The file.
    game
        Name of the game.
    source
        The program whose file was read, or the name of the game.
    left_out
        What the file of another solver has and the spot file does not.

    Examples
    --------
    >>> ConvertedGame("kuhn.efg", "kuhn", "kuhn", ()).to_dict()["left_out"]
    []
    """

    file: str
    game: str
    source: str
    left_out: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the conversion as a JSON object."""
        return vars(self) | {"left_out": list(self.left_out)}


def convert(
    source: str, out: str | Path, *, board: str | None = None, oop: str | None = None, ip: str | None = None
) -> ConvertedGame:
    """Convert a game to a Gambit file, or another solver's file to a spot file.

    Parameters
    ----------
    source
        A game, or a file of PioSOLVER, TexasSolver or WASM Postflop.
    out
        FILE.efg, FILE.nfg (matrix games) or FILE.toml (spots).
    board
        Files of other solvers: replaces the board.
    oop
        Range of the player out of position.
    ip
        Range of the player in position.

    Returns
    -------
    ConvertedGame
        The file, and what was left out.

    Raises
    ------
    InputError
        If the source cannot be read or written in this format, or the file exists.

    Examples
    --------
    >>> convert("kuhn", "kuhn.doc")
    Traceback (most recent call last):
    riverboat.core.errors.InputError: ...
    """

    path, target = Path(source), Path(out)
    if target.exists():
        raise InputError(f"out {target}: exists already; choose another name")
    if (
        path.suffix.lower() not in FILE_LOADERS
        and path.is_file()
        and is_other_solver_file(read_text(path, "file of another solver"))
    ):
        other = load_other_solver_file(path, board=board, oop=oop, ip=ip)
        return ConvertedGame(str(write_game(other.spot, target)), other.spot.name, other.source, tuple(other.notes))
    if board or oop or ip:
        raise InputError(f"board, oop and ip are for files of other solvers, and {short_repr(source)} is not one")
    game = make_game(source)
    return ConvertedGame(str(write_game(game, target)), game.name, source, ())
