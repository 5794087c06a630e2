"""Strategies to and from disk. A folder holds a strategy, or a CFR run's checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from riverboat import artefact
from riverboat.errors import CorruptError, InputError
from riverboat.games import registry, spot_file
from riverboat.games.base import Game
from riverboat.games.spot import Spot
from riverboat.strategy.solution import Solution
from riverboat.strategy.table import Strategy
from riverboat.trees.boards import BoardTree
from riverboat.trees.compile import AnyTree, solver_tree

if TYPE_CHECKING:
    from riverboat.strategy.blueprint import BlueprintStrategy

CHECKPOINT = "checkpoint-"


def describe(game: Game, tree: AnyTree) -> tuple[dict[str, Any], dict[str, str]]:
    """What it takes to build the game again, and the text of its file where it came from one."""
    spec = registry.spec_of(game)
    facts: dict[str, Any] = {"game": spec or tree.name, "rebuild": spec is not None, "fingerprint": tree.fingerprint}
    values = getattr(game, "values", None)
    if values:
        facts["values"] = [[*pair, value] for pair, value in sorted(values.items())]
    path = Path(spec or "")
    if isinstance(game, Spot):  # whole, with its ranges, whatever file or object it came from
        return {**facts, "rebuild": True, "game_file": "game.toml"}, {"game.toml": spot_file.dumps(game)}
    if path.suffix in registry.FILES and path.is_file():
        return {**facts, "game_file": f"game{path.suffix}"}, {f"game{path.suffix}": path.read_text()}
    return facts, {}


def rebuild(folder: Path, found: dict[str, Any], game: Game | None = None) -> tuple[Game, AnyTree]:
    """The game of an artefact and its tree; refused where the tree is another one."""
    if game is None:
        if not found["rebuild"]:
            raise InputError(f"{folder}: solved from a game object named {found['game']!r}; pass game=… to read it")
        if "game_file" in found:
            game = registry.make(str(folder / found["game_file"]))
        else:
            game = registry.make(found["game"])
    if "values" in found and hasattr(game, "with_values"):
        game = game.with_values({(int(a), int(b)): float(v) for a, b, v in found["values"]})
    tree = solver_tree(game)
    if tree.fingerprint != found["fingerprint"]:
        raise InputError(f"{folder}: solved for {found['game']!r}, another game or version of it: the trees differ")
    return game, tree


def save(strategy: Strategy | Solution, folder: str | Path, game: Game | None = None) -> Path:
    """Write a strategy as an artefact."""
    source = game if game is not None else getattr(strategy.tree, "game", None)
    facts: dict[str, Any] = {"game": strategy.tree.name, "rebuild": False, "fingerprint": strategy.tree.fingerprint}
    texts: dict[str, str] = {}
    if source is not None:
        facts, texts = describe(source, strategy.tree)
    if isinstance(strategy, Solution):
        kind, name, table = "solution", "average", strategy.table
    else:
        kind, name, table = "strategy", "probabilities", strategy.probabilities
    meta = {**facts, "provenance": dict(strategy.provenance), "table": name, "unit": strategy.tree.unit}
    return artefact.write(Path(folder), kind, {name: table}, meta, texts)


def newest(folder: str | Path) -> Path:
    """The artefact that a path means: itself, or the last one of a run's folder."""
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    if (folder / artefact.MANIFEST).exists():
        return folder
    if (folder / "strategy").is_dir():
        return folder / "strategy"
    found = checkpoints(folder)
    if not found:
        raise InputError(f"{folder}: holds no strategy and no checkpoint")
    return found[-1]


def checkpoints(folder: Path) -> list[Path]:
    """A run's checkpoints, oldest first."""
    return sorted(p for p in folder.glob(f"{CHECKPOINT}*") if p.is_dir())


def load(folder: str | Path, game: Game | None = None) -> Strategy | Solution | BlueprintStrategy:
    """Read a strategy, or the average strategy of a run's last checkpoint; a `Solution` where the game is hold'em, a
    `BlueprintStrategy` where it was trained over buckets."""
    from riverboat.strategy import blueprint  # which finds its folders by the functions above

    if artefact.manifest(newest(folder))["kind"] in blueprint.KINDS:
        return blueprint.load_blueprint(folder)
    return load_solved(folder, game)


def load_solved(folder: str | Path, game: Game | None = None) -> Strategy | Solution:
    """The same where a blueprint will not do."""
    place = newest(folder)
    kind = artefact.manifest(place)["kind"]
    if kind.startswith("blueprint"):
        raise InputError(f"{folder}: holds a {kind}; read it with show, or load_blueprint")
    found, arrays = artefact.read(place)
    if "table" not in found or found["table"] not in arrays:
        raise CorruptError(f"{place}: a {found.get('kind')!r} artefact without a strategy")
    _, tree = rebuild(place, found, game)
    table = arrays[found["table"]]
    provenance = {**found.get("provenance", {}), "folder": place.name}
    if isinstance(tree, BoardTree):
        return Solution(tree, table, provenance)
    if found["kind"] == "strategy":
        return Strategy(tree, table, provenance)
    return Strategy.from_sums(tree, table, provenance)


def load_strategy(folder: str | Path, game: Game | None = None) -> Strategy:
    """The same where only a strategy of a public or history tree will do."""
    found = load_solved(folder, game)
    if isinstance(found, Solution):
        raise InputError(f"{folder}: holds the solution of {found.tree.name}; read it with show or export")
    return found
