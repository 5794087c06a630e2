"""Recipes of blueprints, as small TOML files: the game, the bets, the card abstraction, and how to train.

    about = "what it is for"
    worth = "its measured strength, against which opponent, with its interval"
    game = "nolimit-200bb"        # a shipped game or the path of an ACPC game file
    abstraction = "tiny"          # the recipe of its card abstraction, or "lossless"
    [menu]                        # no-limit: docs/formats.md
    preflop = ["2.5x, a", "a"]
    [training]
    time = "60s"                  # all of these are optional
    weighting = "linear"          # none, linear or dcfr:alpha=1.5,beta=0,gamma=2
    period = 1000000              # iterations between two discounts
    until = 100000000             # no discounts after this iteration
    prune = 300                   # big blinds: actions with regret below minus this per visit are skipped on most deals
    prune_after = 10000000
    dtype = "float32"             # or "16-bit"
    runouts = 8                   # boards over which an all-in before the river is averaged; 0: the dealt one
    traversal = "external"        # or chance, pcs, opcs, spcs, pure, cfr-br

`training_size_for` suggests a card abstraction for the time available.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from riverboat.core import files
from riverboat.core.errors import InputError, located_errors, unknown_name_error
from riverboat.core.schema import UserEntries
from riverboat.games.holdem.menus import ActionMenu, menu_from_table
from riverboat.games.holdem.rules import PokerRules, read_game
from riverboat.solvers import schedules
from riverboat.solvers.mccfr.tables import DTYPES, Pruning, Weighting
from riverboat.solvers.mccfr.trainer import DEVICE_TRAVERSALS, TRAVERSALS
from riverboat.solvers.mccfr.traversers import MAX_RUNOUTS

DEFAULTS: dict[str, Any] = {
    "name": "recipe", "about": "", "worth": "", "game": None, "abstraction": "lossless", "menu": None, "training": {},
}  # fmt: skip
MAX_NUMBER = 2**53  # largest number in a recipe
TRAINING_DEFAULTS: dict[str, Any] = {
    "time": None, "weighting": "none", "period": 1 << 20, "until": 0, "prune": None, "prune_after": 0, "dtype": "float32",
    "traversal": "external", "runouts": 0,
}  # fmt: skip


@dataclass(frozen=True)
class TrainRecipe:
    """The game of a blueprint, its abstractions, and the training options.

    Attributes
    ----------
    rules
        The game.
    menu
        Bet sizes; None in limit games.
    abstraction
        Recipe of the card abstraction, or "lossless".
    weighting
        Weighting of iterations.
    pruning
        Regret-based pruning; None: all actions are traversed.
    dtype
        Cells of the tables: "float32" or "16-bit".
    time
        Suggested training time, such as "60s".
    traversal
        One of `trainer.TRAVERSALS`.
    runouts
        Boards over which an all-in before the last street is averaged; 0: the dealt one.
    name
        Name of the recipe.
    about
        What it is for.
    measured_strength
        Its measured strength, against which opponent, with its interval.

    Examples
    --------
    >>> from riverboat.solvers.mccfr.recipe import parse_train_recipe
    >>> parse_train_recipe('game = "leduc"').traversal
    'external'
    """

    rules: PokerRules
    menu: ActionMenu | None  # None in limit games
    abstraction: str = "lossless"
    weighting: Weighting = field(default_factory=Weighting)
    pruning: Pruning | None = None
    dtype: str = "float32"
    time: str | None = None
    traversal: str = "external"
    runouts: int = 0  # boards over which an all-in before the last street is averaged
    name: str = "recipe"
    about: str = ""
    measured_strength: str = ""

    def check_device(self) -> None:
        """Raise InputError if the recipe is not supported on a GPU.

        A GPU needs external sampling or PCS, and float32 tables.
        """
        if self.traversal not in DEVICE_TRAVERSALS:
            raise InputError(
                f"{self.name}: traversal = {self.traversal!r} runs on the CPU only; a GPU supports {DEVICE_TRAVERSALS}"
            )
        if self.pruning is not None or self.runouts:
            raise InputError(f"{self.name}: prune and runouts are for external sampling on the CPU; leave them out")
        if self.dtype != "float32":
            raise InputError(f"{self.name}: dtype = {self.dtype!r}: tables on a GPU are float32")


def presets() -> list[str]:
    """Return the names of the shipped recipes.

    Returns
    -------
    list of str
        Names, sorted.

    Examples
    --------
    >>> from riverboat.solvers.mccfr.recipe import presets
    >>> "demo" in presets()
    True
    """
    return list(files.preset_files("riverboat.solvers.mccfr"))


def load_train_recipe(source: str | Path) -> TrainRecipe:
    """Load a recipe.

    Parameters
    ----------
    source
        Name of a preset, or path of a TOML file.

    Returns
    -------
    TrainRecipe
        The recipe.

    Raises
    ------
    InputError
        If there is no such preset or file, or an entry is invalid.

    Examples
    --------
    >>> from riverboat.solvers.mccfr.recipe import load_train_recipe
    >>> load_train_recipe("demo").name
    'demo'
    """
    return files.load_recipe(source, "riverboat.solvers.mccfr", parse_train_recipe)


def parse_train_recipe(text: str, name: str = "recipe", folder: Path | None = None) -> TrainRecipe:
    """Parse the text of a recipe.

    Parameters
    ----------
    text
        Text of a TOML file; the module's docstring lists its entries.
    name
        Name of the recipe if the text has none.
    folder
        Folder in which game files are looked up first.

    Returns
    -------
    TrainRecipe
        The recipe.

    Raises
    ------
    InputError
        If an entry is missing, unknown or out of range.

    Examples
    --------
    >>> from riverboat.solvers.mccfr.recipe import parse_train_recipe
    >>> parse_train_recipe('game = "leduc"\\n[training]\\ntraversal = "pcs"').traversal
    'pcs'
    """
    table = UserEntries("recipe", files.parse_toml(text), DEFAULTS | {"name": name})
    if table["game"] is None:
        raise InputError("no game: write game = 'nolimit-200bb', or the path of an ACPC game file")
    game = table.text("game")
    rules = read_game(folder / game if folder is not None and (folder / game).is_file() else game)
    if rules.limit and table["menu"] is not None:
        raise InputError(f"[menu]: {rules.name} is a limit game, its bets are in the rules; leave it out")
    if not rules.limit and table["menu"] is None:
        raise InputError(f"no [menu]: {rules.name} is a no-limit game; write flop = ['50%, 100%', 'a'] and so on")
    menu = None if rules.limit else menu_from_table(table["menu"])
    training = UserEntries("[training]", table["training"], TRAINING_DEFAULTS)
    dtype = training.text("dtype")
    if dtype not in DTYPES:
        raise unknown_name_error("dtype", dtype, DTYPES)
    traversal = training.text("traversal")
    if traversal not in TRAVERSALS:
        raise unknown_name_error("traversal", traversal, TRAVERSALS)
    if traversal != "external" and training["prune"] is not None:
        raise InputError(f"[training] prune with traversal = {traversal!r}: only external sampling supports pruning")
    runouts = training.integer("runouts", 0, MAX_NUMBER)
    if traversal not in ("external", "chance", "pure") and runouts:
        remark = "not supported, all hands of a board are paid on that board"
        raise InputError(f"[training] runouts with traversal = {traversal!r}: {remark}")
    if runouts > MAX_RUNOUTS:
        raise InputError(f"[training] runouts = {runouts}: at most {MAX_RUNOUTS} boards")
    clock = training.integer("period", 0, MAX_NUMBER), training.integer("until", 0, MAX_NUMBER) or None
    schedule = training.text("weighting")
    with located_errors("[training] weighting, period"):
        if schedule != "none":
            schedules.parse(schedule, imports=False)  # a file must not choose which code runs
        weighting = Weighting(schedule, *clock)
    pruning, prune_after = None, training.integer("prune_after", 0, MAX_NUMBER)
    if prune_after and training["prune"] is None:
        raise InputError(f"[training] prune_after = {prune_after}: has no effect without prune; add prune = 300")
    if training["prune"] is not None:
        threshold = training.number("prune", 0.0, MAX_NUMBER)
        if not threshold:
            raise InputError("[training] prune = 0: must be a number of big blinds above zero")
        pruning = Pruning(-threshold * rules.big_blind, prune_after)
    time = training.text("time") if training["time"] is not None else None
    names = table.text("name"), table.text("about", multiline=True), table.text("worth", multiline=True)
    abstraction = table.text("abstraction")
    return TrainRecipe(rules, menu, abstraction, weighting, pruning, dtype, time, traversal, runouts, *names)


# --- card abstraction by training time ---

PREVIOUS_SIZE_SHARE = 0.1  # share of the time spent on the next smaller size
# CPU cores that a GPU replaces: an H200 traverses 28 to 42 million deals a second, a core some 175,000.
DEVICE_CORES = 150


@dataclass(frozen=True)
class TrainingSize:
    """A card abstraction for a training of some length. More buckets than the time can train do not add strength.

    Attributes
    ----------
    cards
        Recipe of the card abstraction.
    min_core_seconds
        Core-seconds from which it is chosen.
    starts_from
        Recipe of the card abstraction of its warm start; None: it starts from scratch.
    rate
        Measured deals per second and core.
    measured
        Measured result.

    Examples
    --------
    >>> from riverboat.solvers.mccfr.recipe import SIZES
    >>> SIZES[0].cards
    'tiny'
    """

    cards: str  # recipe of the card abstraction
    min_core_seconds: float  # core-seconds from which it is chosen
    starts_from: str | None  # recipe of the card abstraction of its warm start
    rate: int  # measured deals per second and core
    measured: str  # measured result


SIZES = (
    TrainingSize(
        "tiny",
        0.0,
        None,
        175_000,
        "100 buckets have nearly converged after 20 core-minutes: ten times more deals gain 45 ± 23 mbb/g",
    ),
    TrainingSize(
        "small", 1_200.0, "tiny", 175_000, "500 buckets after 40 core-minutes are 22 ± 9 mbb/g ahead of 100 after 10"
    ),
    TrainingSize(
        "medium", 7_200.0, "small", 150_000, "2,000 buckets are 31 ± 9 mbb/g ahead of 500 after 120 core-minutes"
    ),
)


def training_size_for(seconds: float, threads: int, *, device: bool = False) -> TrainingSize:
    """Return the card abstraction for a training of some seconds.

    Parameters
    ----------
    seconds
        Training time, above zero.
    threads
        Threads of the CPU, 1 or more.
    device
        Whether a GPU trains.

    Returns
    -------
    TrainingSize
        The largest abstraction that the time can train.

    Raises
    ------
    InputError
        If `seconds` or `threads` is not above zero.

    Examples
    --------
    >>> from riverboat.solvers.mccfr.recipe import training_size_for
    >>> training_size_for(3_600, 1).cards
    'small'
    """
    if not seconds > 0 or threads < 1:
        raise InputError(f"{seconds:g} seconds on {threads} threads: both must be above zero")
    return [size for size in SIZES if size.min_core_seconds <= seconds * (DEVICE_CORES if device else threads)][-1]
