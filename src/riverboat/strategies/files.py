"""Strategies to and from disk. A folder holds a strategy, or a CFR run's checkpoints."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from riverboat.core import artifacts
from riverboat.core.artifacts import Opened
from riverboat.core.errors import CorruptError, InputError, RiverboatError, shown
from riverboat.core.schema import Fields
from riverboat.core.text_files import read_text
from riverboat.formats import spot_file
from riverboat.formats.gambit import loads_efg, loads_nfg
from riverboat.formats.game_export import write_game
from riverboat.games import registry
from riverboat.games.base import Continuing, Game
from riverboat.games.boards.board_game import BoardGame
from riverboat.games.boards.full_holdem import Holdem
from riverboat.games.boards.unrolled import Unrolled
from riverboat.games.small.normal_form import NormalForm
from riverboat.games.spots.spot import Spot
from riverboat.strategies.solution import Solution
from riverboat.strategies.tabular import Strategy
from riverboat.trees.boards import BoardTree
from riverboat.trees.compile import AnyTree, compile_game, solver_tree

if TYPE_CHECKING:
    from riverboat.strategies.blueprint import BlueprintStrategy

CHECKPOINT = "checkpoint-"
ROOT = "root_average"  # of a gadget at the root of a subgame
MATRIX = "matrix"  # the entry for the pay-offs of a game that was given by numbers
UNROLLED = "unrolled"  # whether a game of boards was solved as any public game is: by linear programs
_OPENED = Opened["Strategy | Solution"](4)
_SOLVED = ("strategy", "checkpoint", "solution")
_GAME_FILES = tuple(f"game{suffix}" for suffix in registry.FILES)


def describe(game: Game, tree: AnyTree) -> tuple[dict[str, Any], dict[str, str]]:
    """What it takes to build the game again, and the text of its file where it came from one."""
    spec = registry.spec_of(game)
    rebuilds = spec is not None and registry.inert(spec)
    facts: dict[str, Any] = {"game": spec or tree.name, "rebuild": rebuilds, "fingerprint": tree.fingerprint}
    if isinstance(game, BoardGame) and not isinstance(tree, BoardTree):
        facts[UNROLLED] = True
    values = game.values if isinstance(game, Continuing) else None
    if values:
        facts["values"] = dict(sorted(values.items()))
    path = Path(spec or "")
    if isinstance(game, Spot) and game.gadget is None:  # whole, with its ranges, whatever file or object it came from
        return {**facts, "rebuild": True, "game_file": "game.toml"}, {"game.toml": spot_file.dumps(game)}
    if path.suffix.lower() in registry.FILES and path.is_file():
        name = f"game{path.suffix.lower()}"
        return {**facts, "rebuild": True, "game_file": name}, {name: read_text(path, "game file")}
    if isinstance(game, NormalForm) and not rebuilds:  # numbers, whatever object they came from
        moves = [list(names) for names in game.labels]
        table = {"moves": moves, "payoffs": game.table.ravel().tolist(), "name": game.name, "unit": game.unit}
        return {**facts, "game": game.name, "rebuild": True, MATRIX: table}, {}
    return facts, {}


def rebuild(folder: Path, entries: Fields, game: Game | None = None) -> tuple[Game, AnyTree]:
    """The game of an artefact and its tree; refused where the tree is another one.

    Reading a folder never runs code: a name that stands in it is one of our own games, or means the file beside it. Any
    other game is given by who reads.
    """
    name = entries.text("game")
    if game is None:
        game = _game(folder, entries, name)
    if isinstance(game, Continuing) and "values" in entries:
        game = game.with_values(_values(entries))
    if isinstance(game, BoardGame) and UNROLLED in entries and entries.flag(UNROLLED):
        tree: AnyTree = compile_game(Unrolled.of(game), constant_sum=True)
    else:
        tree = solver_tree(game)
    if tree.fingerprint != entries.text("fingerprint"):
        # Once player 0 of this game was the dealer: the arrays of such a folder are in another order.
        why = (
            "; player 0 is now the big blind, no longer the dealer: solve it again" if isinstance(game, Holdem) else ""
        )
        raise InputError(f"{folder}: solved for {shown(name)}, another game or version of it: the trees differ{why}")
    return game, tree


def _values(entries: Fields) -> dict[str, float]:
    """Of the smaller games that a game goes on as; older folders list them by the dice of Bluff."""
    if isinstance(entries["values"], list):
        return {f"bluff:{a:.0f},{b:.0f}": value for a, b, value in entries.numbers("values", 3)}
    table = entries.table("values")
    return {name: table.number(name) for name in table}


def _game(folder: Path, entries: Fields, name: str) -> Game:
    """The game that an artefact names, or whose file it has."""
    if "game_file" in entries:
        file = entries.text("game_file", _GAME_FILES)
        words = artifacts.text(folder, entries, file)
        if file == "game.toml":
            try:
                return spot_file.loads(words, None)
            except InputError as error:
                raise InputError(f"{folder / file}: {error}") from None
        loader = loads_efg if file == "game.efg" else loads_nfg
        made = loader(words, Path(name).stem)
        registry.remember(made, str(folder / file))  # where its file is now
        return made
    if MATRIX in entries:
        return _matrix(entries.table(MATRIX))
    if not entries.flag("rebuild") or not registry.inert(name):
        raise InputError(
            f"{folder}: solved from the game {shown(name)}, which is not made from a name in a file: give it again, "
            "with --game NAME or game=…"
        )
    return registry.make(name)


def _matrix(entries: Fields) -> NormalForm:
    """A game in normal form that was given as numbers."""
    moves = entries["moves"]
    if not isinstance(moves, list) or not all(isinstance(names, list) for names in moves):
        raise CorruptError(f"{entries.where}: moves: lists of names are needed, one for each player")
    labels = tuple(tuple(str(name) for name in names) for names in moves)
    shape = (*map(len, labels), len(labels))
    payoffs = np.array(entries.row("payoffs", math.prod(shape))).reshape(shape)
    return NormalForm(payoffs, labels, entries.text("name"), entries.text("unit"))


def save(strategy: Strategy | Solution | Game, folder: str | Path, game: Game | None = None) -> Path:
    """Write a strategy as an artefact; a game as a file of the kind that its name ends with: .efg, .nfg or .toml."""
    if not isinstance(strategy, Strategy | Solution):
        return write_game(strategy, folder)
    source = game if game is not None else getattr(strategy.tree, "game", None)
    facts: dict[str, Any] = {"game": strategy.tree.name, "rebuild": False, "fingerprint": strategy.tree.fingerprint}
    texts: dict[str, str] = {}
    if source is not None:
        facts, texts = describe(source, strategy.tree)
    if isinstance(strategy, Solution):
        kind, name, table = "solution", "average", strategy.table
    else:
        kind, name, table = "strategy", "probabilities", strategy.probabilities
    arrays = {name: table}
    if isinstance(strategy, Solution) and strategy.root is not None:
        arrays[ROOT] = strategy.root
    meta = {**facts, "provenance": dict(strategy.provenance), "table": name, "unit": strategy.tree.unit}
    return artifacts.write(Path(folder), kind, arrays, meta, texts)


def newest(folder: str | Path) -> Path:
    """The artefact that a path means: itself, or the last one of a run's folder."""
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    if (folder / artifacts.MANIFEST).exists():
        return folder
    if (folder / "strategy").is_dir():
        return folder / "strategy"
    folders = checkpoints(folder)
    if not folders:
        raise InputError(f"{folder}: holds no strategy and no checkpoint")
    return folders[-1]


def checkpoints(folder: Path) -> list[Path]:
    """A run's checkpoints, oldest first."""
    return sorted(p for p in folder.glob(f"{CHECKPOINT}*") if p.is_dir())


def check_free(folder: str | Path, *, resume: bool = False) -> None:
    """Refuse a folder that holds a strategy, a run or another artefact, which would be mixed or lost."""
    folder = Path(folder)
    if (folder / artifacts.MANIFEST).exists():
        raise InputError(f"{folder}: holds an artefact; choose another folder")
    if (folder / "strategy").exists():
        raise InputError(f"{folder}: holds a finished strategy; choose another folder")
    if not resume and checkpoints(folder):
        raise InputError(f"{folder}: holds a run already; resume it, or choose another folder")


def load(folder: str | Path, game: Game | None = None) -> Strategy | Solution | BlueprintStrategy:
    """Read a strategy, or the average strategy of a run's last checkpoint; a `Solution` where the game is hold'em, a
    `BlueprintStrategy` where it was trained over buckets.

    What was read lately and has not changed on disk is not read again: strategies never change, so all may share one.
    """
    from riverboat.strategies import blueprint  # which finds its folders by the functions above

    place = newest(folder)
    facts = artifacts.manifest(place)
    if facts["kind"] in blueprint.KINDS:
        return blueprint.load_blueprint(folder)
    if game is not None:
        return load_solved(folder, game)
    return _OPENED.get(place, lambda: load_solved(folder))


def load_solved(folder: str | Path, game: Game | None = None) -> Strategy | Solution:
    """The same where a blueprint will not do."""
    place = newest(folder)
    kind = artifacts.manifest(place).text("kind")
    if kind not in _SOLVED:
        raise InputError(f"{folder}: holds a {kind}, which is no strategy of a solved game")
    name = artifacts.manifest(place).text("table", ("probabilities", "average", "best"))
    entries, arrays = artifacts.read(place, (f"{name}.npy", f"{ROOT}.npy", *_GAME_FILES))  # not what only a run needs
    _, tree = rebuild(place, entries, game)
    provenance = {**entries.plain("provenance", 1), "folder": place.name}
    if isinstance(tree, BoardTree):
        table = arrays.take(name, ("uint16", "float32", "float64"), (None,), 0.0)
        if len(table) < tree.table:
            raise CorruptError(f"{place}: {name}.npy has {len(table):,} numbers for a table of {tree.table:,}")
        root = arrays.take(ROOT, ("float64",), (None, None), 0.0) if ROOT in arrays and name == "average" else None
        return Solution(tree, table, provenance, root)
    table = arrays.take(name, ("float32", "float64"), (tree.table,), 0.0)
    strategy = Strategy.from_sums(tree, table, provenance)
    if name != "probabilities":
        return strategy
    if not np.allclose(strategy.probabilities, table, rtol=0, atol=1e-6):
        raise CorruptError(f"{place}: {name}.npy: the probabilities of a decision do not sum to one")
    return Strategy(tree, table, provenance)


def holds_solution(folder: str | Path) -> bool:
    """Whether a folder holds what was solved, and no blueprint; false where it holds nothing that can be read."""
    try:
        return artifacts.manifest(newest(folder)).text("kind") in _SOLVED
    except RiverboatError:
        return False


def load_strategy(folder: str | Path, game: Game | None = None) -> Strategy:
    """The same where only a strategy of a public or history tree will do."""
    solved = load_solved(folder, game)
    if isinstance(solved, Solution):
        raise InputError(f"{folder}: holds the solution of {solved.tree.name}; read it with show or export")
    return solved
