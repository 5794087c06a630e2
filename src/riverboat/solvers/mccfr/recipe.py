"""Recipes of blueprints, as small TOML files: which game, which bets, which cards, and how to train.

about = "what it is for"
worth = "what it wins, and of whom: measured, with its interval"
game = "nolimit-200bb"        # a shipped game or the path of an ACPC game file
abstraction = "tiny"          # the recipe of cards it is meant for, or "lossless"
[menu]                        # no-limit: docs/formats.md
preflop = ["2.5x, a", "a"]
[training]
time = "60s"                  # all of these are optional
weighting = "linear"          # none, linear or dcfr:alpha=1.5,beta=0,gamma=2
period = 1000000              # iterations between two discounts
until = 100000000             # no discounts after this iteration
prune = 300                   # big blinds: moves with regret below minus this a visit are skipped on most deals
prune_after = 10000000
dtype = "float32"             # or "16-bit"
runouts = 8                   # boards that an all-in before the river is paid on; 0: the dealt one
traversal = "external"        # or chance, pcs, opcs, spcs, pure, cfr-br
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from riverboat.core.errors import InputError, shown, unknown
from riverboat.core.text_files import parse_toml, read_toml
from riverboat.games.holdem.menus import Menu, menu_from
from riverboat.games.holdem.rules import Rules, read_game
from riverboat.solvers import schedules
from riverboat.solvers.mccfr.samplers import TRAVERSALS
from riverboat.solvers.mccfr.tables import DTYPES, Pruning, Weighting
from riverboat.solvers.mccfr.trainer import MOST_RUNOUTS

KEYS = ("name", "about", "worth", "game", "abstraction", "menu", "training")
MOST = 2**53  # of a number
ON_DEVICE = ("external", "pcs")  # traversals
TRAINING = ("time", "weighting", "period", "until", "prune", "prune_after", "dtype", "traversal", "runouts")


@dataclass(frozen=True)
class TrainRecipe:
    """What a blueprint is trained on, and how."""

    rules: Rules
    menu: Menu | None  # None in limit games
    abstraction: str = "lossless"
    weighting: Weighting = field(default_factory=Weighting)
    pruning: Pruning | None = None
    dtype: str = "float32"
    time: str | None = None
    traversal: str = "external"
    runouts: int = 0  # boards that an all-in before the last street is paid on
    name: str = "recipe"
    about: str = ""
    worth: str = ""  # measured

    def check_device(self) -> None:
        """Refuse what cannot be done on a GPU: it samples deals, or boards with all hands, in tables of float32."""
        if self.traversal not in ON_DEVICE:
            raise InputError(f"{self.name}: traversal = {self.traversal!r} runs on processors; on a GPU {ON_DEVICE} do")
        if self.pruning is not None or self.runouts:
            raise InputError(f"{self.name}: prune and runouts are for external sampling on processors; leave them out")
        if self.dtype != "float32":
            raise InputError(f"{self.name}: dtype = {self.dtype!r}: tables on a GPU are float32")


def presets() -> list[str]:
    """The recipes that come with Riverboat."""
    return sorted(p.name.removesuffix(".toml") for p in _shipped().iterdir() if p.name.endswith(".toml"))


def _shipped() -> Any:
    return files("riverboat.solvers") / "train_recipes"


def load_train_recipe(source: str | Path) -> TrainRecipe:
    """A recipe by the name of a preset or the path of a file."""
    if str(source) in presets():
        return loads((_shipped() / f"{source}.toml").read_text(encoding="utf-8"), str(source))
    path = Path(source)
    if not path.is_file():
        raise InputError(f"recipe {str(source)!r}: no such file, and no preset (presets: {', '.join(presets())})")
    text = read_toml(path, "recipe")
    try:
        return loads(text, path.stem, path.parent)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def loads(text: str, name: str = "recipe", folder: Path | None = None) -> TrainRecipe:
    """A recipe from the text of a file; game files are looked for in `folder` first."""
    table = parse_toml(text)
    _known(table, KEYS, "recipe")
    if "game" not in table:
        raise InputError("no game: write game = 'nolimit-200bb', or the path of an ACPC game file")
    game = _text(table, "game", "")
    rules = read_game(folder / game if folder is not None and (folder / game).is_file() else game)
    if rules.limit and "menu" in table:
        raise InputError(f"[menu]: {rules.name} is a limit game, its bets are in the rules; leave it out")
    if not rules.limit and "menu" not in table:
        raise InputError(f"no [menu]: {rules.name} is a no-limit game; write flop = ['50%, 100%', 'a'] and so on")
    menu = None if rules.limit else menu_from(table["menu"])
    training = table.get("training", {})
    if not isinstance(training, Mapping):
        raise InputError(f"training = {shown(training)}: write a table of its own, [training]")
    _known(training, TRAINING, "[training]")
    dtype = _text(training, "dtype", "float32", "[training] ")
    if dtype not in DTYPES:
        raise unknown("dtype", dtype, DTYPES)
    traversal = _text(training, "traversal", "external", "[training] ")
    if traversal not in TRAVERSALS:
        raise unknown("traversal", traversal, TRAVERSALS)
    if traversal != "external" and "prune" in training:
        raise InputError(f"[training] prune with traversal = {traversal!r}: only external sampling prunes")
    runouts = _whole(training, "runouts", 0)
    if traversal not in ("external", "chance", "pure") and runouts:
        raise InputError(
            f"[training] runouts with traversal = {traversal!r}: all hands of a board are paid on that board"
        )
    if runouts > MOST_RUNOUTS:
        raise InputError(f"[training] runouts = {runouts}: at most {MOST_RUNOUTS} boards")
    clock = _whole(training, "period", 1 << 20), _whole(training, "until", 0) or None
    schedule = _text(training, "weighting", "none", "[training] ")
    try:
        if schedule != "none":
            schedules.parse(schedule, imports=False)  # a file does not say which code is run
        weighting = Weighting(schedule, *clock)
    except InputError as error:
        raise InputError(f"[training] weighting, period: {error}") from None
    pruning, begins = None, _whole(training, "prune_after", 0)
    if "prune_after" in training and "prune" not in training:
        raise InputError(f"[training] prune_after = {begins}: nothing is pruned without prune; write prune = 300 too")
    if "prune" in training:
        least = training["prune"]
        if not isinstance(least, (int, float)) or isinstance(least, bool) or not 0 < least <= MOST:
            raise InputError(f"[training] prune = {shown(least)}: a number of big blinds above zero")
        pruning = Pruning(-float(least) * rules.big_blind, begins)
    return TrainRecipe(
        rules,
        menu,
        _text(table, "abstraction", "lossless"),
        weighting,
        pruning,
        dtype,
        _text(training, "time", "", "[training] ") if "time" in training else None,
        traversal,
        runouts,
        _text(table, "name", name),
        _text(table, "about", ""),
        _text(table, "worth", ""),
    )


def _text(table: Mapping[str, Any], key: str, default: str, where: str = "") -> str:
    value = table.get(key, default)
    if not isinstance(value, str):
        raise InputError(f"{where}{key} = {shown(value)}: must be a text in quotes")
    return value


def _whole(table: Mapping[str, Any], key: str, default: int) -> int:
    value = table.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST:
        raise InputError(f"[training] {key} = {shown(value)}: must be a whole number from 0")
    return value


def _known(table: Mapping[str, Any], names: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in names:
            raise unknown(f"entry of {where}", key, names)
