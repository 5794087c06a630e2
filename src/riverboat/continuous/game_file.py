"""Continuous games and qualitative models as TOML files, read strictly.

name = "von Neumann"
[signals]                                # all players alike; [signals.0], [signals.1] where they differ
cdf = [[0, 0], [1, 1]]                   # points of the distribution function; two with one signal are an atom
# discrete = [[1, 0.5], [2, 0.5]]        # or values with their probabilities
# density = [[0, 1], [1, 3]]             # or points of a density that is linear between them
# edges = [0, 1, 2]                      # or two players who depend on each other:
# joint = [[0.3, 0.2], [0.1, 0.4]]       # probability of each pair of segments, row: player 0
[river]                                  # or [auction], [three-way]; or the tree itself:
pot = 2
bets = [1]
street = "half"
[tree]                                   # a decision has a player and moves, a leaf has pay (and prize, contenders, worth)
player = 0
moves.x = { pay = [-1, -1], prize = 2 }
moves.b = { player = 1, moves = { f = { pay = [1, -1] }, c = { pay = [-2, -2], prize = 4 } } }

Models are another file, [[model]] for each:
[[model]]
name = "bluff and value"
bands = { root = "b x b", b = "f c" }    # moves from weak to strong, for each situation
order = "root:1 b:1 root:2"              # optional: all thresholds from weak to strong
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from riverboat.continuous import signals as deals
from riverboat.continuous.examples import MAKERS
from riverboat.continuous.game import ContinuousGame, Decision, Leaf, Tree
from riverboat.continuous.qualitative_model import Model
from riverboat.continuous.signals import Signals
from riverboat.core.errors import InputError, shown, unknown
from riverboat.core.text_files import parse_toml, read_toml

KEYS = ("name", "signals", "tree", "scale", "unit", *MAKERS)
KINDS = ("cdf", "discrete", "density")
LEAF = ("pay", "prize", "contenders", "worth")
MOST_PLAYERS = 4
_LARGEST = 1e100  # pay-offs and signals: their products are still numbers


def load(path: str | Path) -> ContinuousGame:
    """The game in a file; it is named after the file unless it says otherwise."""
    text = read_toml(path, "continuous game")
    try:
        return loads(text, Path(path).stem)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def load_models(path: str | Path, game: ContinuousGame) -> list[Model]:
    """The models in a file, for a game."""
    text = read_toml(path, "qualitative models")
    try:
        return loads_models(text, game)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def loads(text: str, name: str = "game") -> ContinuousGame:
    """A game from the text of a file."""
    table = parse_toml(text)
    _known(table, KEYS, "the file")
    name = _text(table, "name", name)
    given = [key for key in ("tree", *MAKERS) if key in table]
    if len(given) != 1:
        raise InputError(f"{len(given)} of tree, {', '.join(MAKERS)} are given: give one")
    (kind,) = given
    what = _table(table[kind], kind)
    if kind == "tree":
        tree = _tree(what, "tree")
        players = 1 + max(_players(tree))
        signals = _signals(_table(table.get("signals", {}), "signals"), max(players, 2))
        return ContinuousGame(
            name, signals, tree, _number(table.get("scale", 1.0), "scale"), _text(table, "unit", "chips")
        )
    maker = MAKERS[kind]
    known = [key for key in inspect.signature(maker).parameters if key not in ("signals", "name")]
    _known(what, tuple(known) + (("players",) if kind == "auction" else ()), kind)
    options = dict(what)
    players = _whole(options.pop("players", 3 if kind == "three-way" else 2), f"{kind}: players", 2, MOST_PLAYERS)
    try:
        made = maker(_signals(_table(table.get("signals", {}), "signals"), players), **options)
    except TypeError as error:
        raise InputError(f"{kind}: {error}") from None
    scale, unit = _number(table.get("scale", made.scale), "scale"), _text(table, "unit", made.unit)
    return ContinuousGame(name, made.signals, made.tree, scale, unit)


def loads_models(text: str, game: ContinuousGame) -> list[Model]:
    """Models from the text of a file."""
    table = parse_toml(text)
    _known(table, ("model",), "the file")
    entries = table.get("model", [])
    if not isinstance(entries, list) or not entries:
        raise InputError("no models; write [[model]] and bands = { … } for each")
    models = []
    for number, one in enumerate(entries, start=1):
        where = f"model {number}"
        _known(_table(one, where), ("name", "bands", "order"), where)
        bands = _table(one.get("bands", {}), f"{where}: bands")
        if not all(isinstance(words, str) for words in bands.values()):
            raise InputError(f"{where}: bands {shown(dict(bands))}: moves are words in one text, 'b x b'")
        order = _text(one, "order", "", where) if "order" in one else None
        models.append(Model.make(game, bands, order, _text(one, "name", where, where)))
    return models


def dumps_models(models: list[Model], game: ContinuousGame) -> str:
    """The text of a file that holds models."""
    lines = []
    for model in models:
        lines += ["[[model]]", f'name = "{model.name}"']
        bands = ", ".join(f'"{name}" = "{words}"' for name, words in model.words(game).items())
        lines.append(f"bands = {{ {bands} }}")
        if model.order is not None:
            lines.append(f'order = "{model.order_words(game)}"')
    return "\n".join(lines) + "\n"


# --- parts --------------------------------------------------------------------------------------


def _known(table: Mapping[str, Any], keys: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in keys:
            raise InputError(f"{where}: {unknown('key', key, keys)}")


def _table(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"{where} = {shown(value)}: must be a table")
    return value


def _text(table: Mapping[str, Any], key: str, default: str, where: str = "") -> str:
    text = table.get(key, default)
    if not isinstance(text, str) or not text.isprintable():
        raise InputError(f"{where}{': ' if where else ''}{key} = {shown(text)}: must be a text on one line")
    return text


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _LARGEST:
        raise InputError(f"{where} = {shown(value)}: must be a finite number")
    return float(value)


def _numbers(value: Any, where: str) -> tuple[float, ...]:
    if not isinstance(value, list):
        raise InputError(f"{where} = {shown(value)}: must be a list of numbers")
    return tuple(_number(one, f"{where}, number {n}") for n, one in enumerate(value, start=1))


def _whole(value: Any, where: str, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InputError(f"{where} = {shown(value)}: must be a whole number from {low} to {high}")
    return value


def _signals(table: Mapping[str, Any], players: int) -> Signals:
    if not table:
        return deals.uniform(players)
    if "joint" in table or "edges" in table:
        _known(table, ("joint", "edges", "tied"), "signals")
        joint, tied = table.get("joint", []), table.get("tied", False)
        if not isinstance(joint, list) or not isinstance(tied, bool):
            raise InputError("signals: joint is a list of rows of numbers, tied is true or false")
        rows = [_numbers(row, f"signals.joint, row {n}") for n, row in enumerate(joint, start=1)]
        return deals.dependent(_numbers(table.get("edges", []), "signals.edges"), rows, tied=tied)
    numbers = tuple(str(p) for p in range(players))
    if any(key in numbers for key in table):
        _known(table, numbers, "signals")
        each = [_table(table.get(p, {}), f"signals.{p}") for p in numbers]
    else:
        each = [table] * players
    kinds = []
    for p, one in enumerate(each):
        _known(one, KINDS, f"signals.{p}")
        if len(one) != 1:
            raise InputError(f"signals.{p}: give one of {', '.join(KINDS)}")
        kinds.append(next(iter(one)))
    points = [_points(one[kind], f"signals.{p}: {kind}") for p, (one, kind) in enumerate(zip(each, kinds, strict=True))]
    if set(kinds) == {"discrete"}:
        return deals.discrete(points)
    if set(kinds) == {"density"}:
        return deals.densities(points)
    if "density" in kinds:
        raise InputError("signals: a density stands beside densities only; give a cdf")
    return deals.piecewise([_jumps(p) if k == "discrete" else p for k, p in zip(kinds, points, strict=True)])


def _points(value: Any, where: str) -> list[tuple[float, float]]:
    pairs = [_numbers(pair, f"{where}, pair {n}") for n, pair in enumerate(value, 1)] if isinstance(value, list) else []
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise InputError(f"{where} = {shown(value)}: must be a list of pairs of numbers")
    return [(x, y) for x, y in pairs]


def _jumps(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Probabilities of values as a distribution function that jumps."""
    corners, below = [], 0.0
    for x, chance in sorted(points):
        corners += [(x, below), (x, below + chance)]
        below += chance
    return corners


def _tree(table: Mapping[str, Any], where: str) -> Tree:
    if "pay" in table:
        _known(table, LEAF, where)
        pay, worth = (_numbers(table.get(key, []), f"{where}.{key}") for key in ("pay", "worth"))
        contenders = table.get("contenders", [])
        if not isinstance(contenders, list):
            raise InputError(f"{where}.contenders = {shown(contenders)}: must be a list of players")
        who = tuple(_whole(p, f"{where}.contenders", 0, MOST_PLAYERS - 1) for p in contenders)
        return Leaf(pay, _number(table.get("prize", 0.0), f"{where}.prize"), who, worth)
    _known(table, ("player", "moves", "situation"), where)
    moves = _table(table.get("moves", {}), f"{where}.moves")
    if "player" not in table or not moves:
        raise InputError(f"{where}: a decision needs player = 0 and moves, a leaf needs pay")
    player = _whole(table["player"], f"{where}.player", 0, MOST_PLAYERS - 1)
    below = tuple(
        (label, _tree(_table(child, f"{where}.{label}"), f"{where}.{label}")) for label, child in moves.items()
    )
    situation = _text(table, "situation", "", where) or None
    return Decision(player, below, situation)


def _players(tree: Tree) -> set[int]:
    if isinstance(tree, Leaf):
        return {len(tree.base) - 1}
    return {tree.player}.union(*(_players(child) for _, child in tree.moves))
