"""Read and write strategies and the games they belong to. A folder holds a strategy, or the checkpoints of a run."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from riverboat.core import artifacts
from riverboat.core.arguments import checked
from riverboat.core.artifacts import ArtifactCache
from riverboat.core.errors import CorruptError, InputError, RiverboatError, located_errors, short_repr
from riverboat.core.files import read_text
from riverboat.core.schema import FileEntries
from riverboat.formats import spot_file
from riverboat.formats.gambit import loads_efg, loads_nfg
from riverboat.formats.game_export import write_game
from riverboat.games import registry
from riverboat.games.base import Game, GameWithContinuations
from riverboat.games.boards.board_game import BoardGame, UnrolledBoardGame
from riverboat.games.boards.holdem import Holdem
from riverboat.games.small.normal_form import NormalForm
from riverboat.games.spots.spot import Spot
from riverboat.strategies.mapping import unwrap
from riverboat.strategies.solution import Solution
from riverboat.strategies.tabular import Strategy
from riverboat.trees.boards import BoardTree
from riverboat.trees.compile import AnyTree, as_game, compile_game, solver_tree

if TYPE_CHECKING:
    from riverboat.strategies.blueprint import Blueprint

CHECKPOINT_PREFIX = "checkpoint-"
ROOT_ARRAY = "root_average"  # average strategy of the gadget at the root of a subgame
MATRIX_ENTRY = "matrix"  # manifest entry for the payoffs of a normal-form game
UNROLLED_ENTRY = "unrolled"  # manifest entry: a board game was solved as a general public tree (linear programs)
_CACHE = ArtifactCache["Strategy | Solution"](4)
_SOLUTION_KINDS = ("strategy", "checkpoint", "solution")
_GAME_FILES = tuple(f"game{suffix}" for suffix in registry.FILE_LOADERS)


def game_entries(game: Game, tree: AnyTree) -> tuple[dict[str, Any], dict[str, str]]:
    """Return manifest entries from which the game can be rebuilt, and the text of its game file if it has one.

    Parameters
    ----------
    game
        The game.
    tree
        Its tree.

    Returns
    -------
    tuple[dict[str, Any], dict[str, str]]
        Manifest entries from which the game can be rebuilt, and the text of its game file if it has one.

    Examples
    --------
    >>> from riverboat.games.registry import game_from_spec
    >>> from riverboat.trees.compile import compile_game
    >>> game = game_from_spec("kuhn")
    >>> game_entries(game, compile_game(game))[0]["game"]
    'kuhn'
    """
    spec = registry.spec_of(game)
    can_rebuild = spec is not None and registry.is_safe_spec(spec)
    entries: dict[str, Any] = {"game": spec or tree.name, "rebuild": can_rebuild, "fingerprint": tree.fingerprint}
    if isinstance(game, BoardGame) and not isinstance(tree, BoardTree):
        entries[UNROLLED_ENTRY] = True
    if isinstance(game, GameWithContinuations) and game.values:
        entries["values"] = dict(sorted(game.values.items()))
    path = Path(spec or "")
    if isinstance(game, Spot) and game.gadget is None:  # spots are stored completely, with their ranges
        return {**entries, "rebuild": True, "game_file": "game.toml"}, {"game.toml": spot_file.dumps(game)}
    if path.suffix.lower() in registry.FILE_LOADERS and path.is_file():
        name = f"game{path.suffix.lower()}"
        return {**entries, "rebuild": True, "game_file": name}, {name: read_text(path, "game file")}
    if isinstance(game, NormalForm) and not can_rebuild:  # normal-form games are stored as numbers
        moves = [list(names) for names in game.labels]
        table = {"moves": moves, "payoffs": game.table.ravel().tolist(), "name": game.name, "unit": game.unit}
        return {**entries, "game": game.name, "rebuild": True, MATRIX_ENTRY: table}, {}
    return entries, {}


def rebuild_game(folder: Path, entries: FileEntries, game: Game | None = None) -> tuple[Game, AnyTree]:
    """Rebuild the game of an artifact and its tree; raise `InputError` if the tree differs from the solved one.

    Reading a folder never runs code: the name of a game in it is one of the built-in games, or a game file in the
    folder. Callers pass any other game as `game`.

    Parameters
    ----------
    folder
        Folder of a strategy or of a run.
    entries
        Manifest entries of the game.
    game
        The game, if the folder does not contain it.

    Returns
    -------
    tuple[Game, AnyTree]
        The game and its tree.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import riverboat as rb
    >>> folder = save(rb.solve("kuhn", iterations=5).strategy, pathlib.Path(tempfile.mkdtemp(), "kuhn"))
    >>> load(folder).tree.name
    'kuhn'
    """
    name = entries.text("game")
    if game is None:
        game = _load_game(folder, entries, name)
    if isinstance(game, GameWithContinuations) and "values" in entries:
        game = game.with_values(_read_values(entries))
    if isinstance(game, BoardGame) and UNROLLED_ENTRY in entries and entries.boolean(UNROLLED_ENTRY):
        tree: AnyTree = compile_game(UnrolledBoardGame.from_game(game), constant_sum=True)
    else:
        tree = solver_tree(game)
    if tree.fingerprint != entries.text("fingerprint"):
        message = f"{folder}: solved for {short_repr(name)}, another game or version of it: the trees differ"
        if isinstance(game, Holdem):  # in older folders player 0 is the dealer, so their arrays have another order
            message += "; player 0 is now the big blind, no longer the dealer: solve it again"
        raise InputError(message)
    return game, tree


def _read_values(entries: FileEntries) -> dict[str, float]:
    """Read the values of the smaller games that end a game, by name; older folders list them by the dice of Bluff."""
    if isinstance(entries["values"], list):
        return {f"bluff:{a:.0f},{b:.0f}": value for a, b, value in entries.number_rows("values", 3)}
    table = entries.table("values")
    return {name: table.number(name) for name in table}


def _load_game(folder: Path, entries: FileEntries, name: str) -> Game:
    """Load the game that an artifact names, or whose file it contains."""
    if "game_file" in entries:
        file = entries.text("game_file", _GAME_FILES)
        text = artifacts.read_text_file(folder, entries, file)
        if file == "game.toml":
            with located_errors(folder / file):
                return spot_file.loads(text, None)
        game = (loads_efg if file == "game.efg" else loads_nfg)(text, Path(name).stem)
        registry.remember_spec(game, str(folder / file))  # the file's current location
        return game
    if MATRIX_ENTRY in entries:
        return _read_matrix(entries.table(MATRIX_ENTRY))
    if not entries.boolean("rebuild") or not registry.is_safe_spec(name):
        raise InputError(
            f"{folder}: solved from the game {short_repr(name)}, which cannot be rebuilt from its name: give it again, "
            "with --game NAME or game=…"
        )
    return registry.game_from_spec(name)


def _read_matrix(entries: FileEntries) -> NormalForm:
    """Read a normal-form game that was stored as numbers."""
    moves = entries["moves"]
    if not isinstance(moves, list) or not all(isinstance(names, list) for names in moves):
        raise CorruptError(f"{entries.location}: moves: must be lists of names, one for each player")
    labels = tuple(tuple(str(name) for name in names) for names in moves)
    shape = (*map(len, labels), len(labels))
    payoffs = np.array(entries.number_row("payoffs", math.prod(shape))).reshape(shape)
    return NormalForm(payoffs, labels, entries.text("name"), entries.text("unit"))


@checked
def save(strategy: Strategy | Solution | Game | Any, folder: str | Path, game: str | Game | None = None) -> Path:
    """Write a strategy as an artifact, or a game as a file.

    Parameters
    ----------
    strategy
        A strategy, a solution, or a result that has one; or a game.
    folder
        New folder for a strategy. For a game, a file whose suffix .efg, .nfg or .toml selects the format.
    game
        Game of the strategy, if its tree does not know it.

    Returns
    -------
    Path
        The written folder or file.

    Raises
    ------
    InputError
        If the folder is in use, or the game of the strategy is not known.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import riverboat as rb
    >>> folder = pathlib.Path(tempfile.mkdtemp(), "kuhn")
    >>> strategy = rb.solve("kuhn", iterations=5).strategy
    >>> save(strategy, folder) == folder, load(folder) == strategy
    (True, True)
    """
    strategy, known = unwrap(strategy), None if game is None else as_game(game)
    if not isinstance(strategy, Strategy | Solution):
        return write_game(as_game(strategy), folder)
    source = known if known is not None else getattr(strategy.tree, "game", None)
    entries: dict[str, Any] = {"game": strategy.tree.name, "rebuild": False, "fingerprint": strategy.tree.fingerprint}
    texts: dict[str, str] = {}
    if source is not None:
        entries, texts = game_entries(source, strategy.tree)
    if isinstance(strategy, Solution):
        kind, name, arrays = "solution", "average", {"average": strategy.table}
        if strategy.root is not None:
            arrays[ROOT_ARRAY] = strategy.root
    else:
        kind, name, arrays = "strategy", "probabilities", {"probabilities": strategy.probabilities}
    meta = {**entries, "provenance": dict(strategy.provenance), "table": name, "unit": strategy.tree.unit}
    return artifacts.write(Path(folder), kind, arrays, meta, texts)


def latest_artifact(folder: str | Path) -> Path:
    """Return the artifact that a path refers to: the folder itself, or the latest artifact of a run.

    Parameters
    ----------
    folder
        Folder of a strategy or of a run.

    Returns
    -------
    Path
        The artifact that a path refers to.

    Raises
    ------
    InputError
        If there is no artifact.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import riverboat as rb
    >>> folder = save(rb.solve("kuhn", iterations=5).strategy, pathlib.Path(tempfile.mkdtemp(), "kuhn"))
    >>> latest_artifact(folder) == folder
    True
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    if (folder / artifacts.MANIFEST).exists():
        return folder
    if (folder / "strategy").is_dir():
        return folder / "strategy"
    saved = checkpoints(folder)
    if not saved:
        raise InputError(f"{folder}: holds no strategy and no checkpoint")
    return saved[-1]


def checkpoints(folder: Path) -> list[Path]:
    """Return the checkpoint folders of a run, oldest first.

    Parameters
    ----------
    folder
        Folder of a run.

    Returns
    -------
    list[Path]
        The checkpoint folders of a run, oldest first.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> checkpoints(pathlib.Path(tempfile.mkdtemp()))
    []
    """
    return sorted(p for p in folder.glob(f"{CHECKPOINT_PREFIX}*") if p.is_dir())


def check_unused(folder: str | Path, *, resume: bool = False) -> None:
    """Check that a folder holds no strategy, run or other artifact that writing would mix with or overwrite.

    Parameters
    ----------
    folder
        Folder to write.
    resume
        Whether an existing run may be continued there.

    Raises
    ------
    InputError
        If the folder is in use.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> check_unused(pathlib.Path(tempfile.mkdtemp(), "new"))
    """
    folder = Path(folder)
    if (folder / artifacts.MANIFEST).exists():
        raise InputError(f"{folder}: holds an artifact; choose another folder")
    if (folder / "strategy").exists():
        raise InputError(f"{folder}: holds a finished strategy; choose another folder")
    if not resume and checkpoints(folder):
        raise InputError(f"{folder}: holds a run already; resume it, or choose another folder")


@checked
def load(folder: str | Path, game: str | Game | None = None) -> Strategy | Solution | Blueprint:
    """Load a strategy, or the average strategy of a run's latest checkpoint.

    Recently loaded strategies are cached until they change on disk; sharing is safe because strategies are immutable.

    Parameters
    ----------
    folder
        Folder of a strategy or of a run.
    game
        The game or its name, if the folder does not contain it.

    Returns
    -------
    Strategy, Solution or Blueprint
        A `Solution` for hold'em games on boards, a `Blueprint` for blueprints, and a `Strategy` otherwise.

    Raises
    ------
    InputError
        If the folder holds no strategy, or its game is not known.
    CorruptError
        If a file of it is torn or altered.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import riverboat as rb
    >>> folder = rb.save(rb.solve("kuhn", iterations=5).strategy, pathlib.Path(tempfile.mkdtemp(), "kuhn"))
    >>> sorted(load(folder)["K:"])
    ['c', 'r']
    """
    from riverboat.strategies import blueprint  # a cyclic import: it uses functions of this module

    source = latest_artifact(folder)
    if artifacts.read_manifest(source)["kind"] in blueprint.ARTIFACT_KINDS:
        return blueprint.load_blueprint(folder)
    if game is not None:
        return load_solution(folder, as_game(game))
    return _CACHE.get(source, lambda: load_solution(folder))


def load_solution(folder: str | Path, game: Game | None = None) -> Strategy | Solution:
    """Load a strategy of a solved game; raise `InputError` for blueprints.

    Parameters
    ----------
    folder
        Folder of a strategy or of a run.
    game
        The game, if the folder does not contain it.

    Returns
    -------
    Strategy | Solution
        A `Solution` for hold'em games on boards, else a `Strategy`.

    Raises
    ------
    InputError
        If the folder holds a blueprint, or nothing that can be loaded.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import riverboat as rb
    >>> folder = rb.save(rb.solve("kuhn", iterations=5).strategy, pathlib.Path(tempfile.mkdtemp(), "kuhn"))
    >>> type(load_solution(folder)).__name__
    'Strategy'
    """
    source = latest_artifact(folder)
    manifest = artifacts.read_manifest(source)
    kind = manifest.text("kind")
    if kind not in _SOLUTION_KINDS:
        raise InputError(f"{folder}: holds a {kind}, which is not a strategy of a solved game")
    name = manifest.text("table", ("probabilities", "average", "best"))
    # Arrays that only resuming needs are skipped.
    entries, arrays = artifacts.read(source, (f"{name}.npy", f"{ROOT_ARRAY}.npy", *_GAME_FILES))
    _, tree = rebuild_game(source, entries, game)
    provenance = {**entries.plain_table("provenance", 1), "folder": source.name}
    if isinstance(tree, BoardTree):
        table = arrays.get_checked(name, ("uint16", "float32", "float64"), (None,), 0.0)
        if len(table) < tree.table_size:
            raise CorruptError(f"{source}: {name}.npy has {len(table):,} numbers for a table of {tree.table_size:,}")
        has_root = ROOT_ARRAY in arrays and name == "average"
        root = arrays.get_checked(ROOT_ARRAY, ("float64",), (None, None), 0.0) if has_root else None
        return Solution(tree, table, provenance, root)
    table = arrays.get_checked(name, ("float32", "float64"), (tree.table_size,), 0.0)
    strategy = Strategy.from_sums(tree, table, provenance)
    if name != "probabilities":
        return strategy
    if not np.allclose(strategy.probabilities, table, rtol=0, atol=1e-6):
        raise CorruptError(f"{source}: {name}.npy: the probabilities of a decision do not sum to one")
    return Strategy(tree, table, provenance)


def holds_solution(folder: str | Path) -> bool:
    """Return whether a folder holds the strategy of a solved game; False for blueprints and unreadable folders.

    Parameters
    ----------
    folder
        Folder of a strategy or of a run.

    Returns
    -------
    bool
        Whether a folder holds the strategy of a solved game.

    Examples
    --------
    >>> import tempfile
    >>> holds_solution(tempfile.mkdtemp())
    False
    """
    try:
        return artifacts.read_manifest(latest_artifact(folder)).text("kind") in _SOLUTION_KINDS
    except RiverboatError:
        return False


def load_strategy(folder: str | Path, game: Game | None = None) -> Strategy:
    """Load a strategy of a public or history tree; raise `InputError` for other kinds.

    Parameters
    ----------
    folder
        Folder of a strategy or of a run.
    game
        The game, if the folder does not contain it.

    Returns
    -------
    Strategy
        The strategy.

    Raises
    ------
    InputError
        If the folder holds another kind of strategy.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import riverboat as rb
    >>> folder = rb.save(rb.solve("kuhn", iterations=5).strategy, pathlib.Path(tempfile.mkdtemp(), "kuhn"))
    >>> len(load_strategy(folder))
    12
    """
    loaded = load_solution(folder, game)
    if isinstance(loaded, Solution):
        raise InputError(f"{folder}: holds the solution of {loaded.tree.name}; read it with show or export")
    return loaded
