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
from riverboat.continuous.game import ContinuousGame, Decision, Leaf, Tree
from riverboat.continuous.makers import MAKERS
from riverboat.continuous.qualitative import Model
from riverboat.continuous.signals import Signals
from riverboat.errors import InputError, shown, unknown
from riverboat.texts import parse_toml, read_toml

KEYS = ("name", "signals", "tree", "scale", "unit", *MAKERS)
KINDS = ("cdf", "discrete", "density")
LEAF = ("pay", "prize", "contenders", "worth")


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
    name = str(table.get("name", name))
    given = [key for key in ("tree", *MAKERS) if key in table]
    if len(given) != 1:
        raise InputError(f"{len(given)} of tree, {', '.join(MAKERS)} are given: give one")
    (kind,) = given
    what = _table(table[kind], kind)
    if kind == "tree":
        tree = _tree(what, "tree")
        players = 1 + max(_players(tree))
        signals = _signals(_table(table.get("signals", {}), "signals"), max(players, 2))
        return ContinuousGame(name, signals, tree, float(table.get("scale", 1.0)), str(table.get("unit", "chips")))
    maker = MAKERS[kind]
    known = [key for key in inspect.signature(maker).parameters if key not in ("signals", "name")]
    _known(what, tuple(known) + (("players",) if kind == "auction" else ()), kind)
    options = dict(what)
    players = int(options.pop("players", 3 if kind == "three-way" else 2))
    try:
        made = maker(_signals(_table(table.get("signals", {}), "signals"), players), **options)
    except TypeError as error:
        raise InputError(f"{kind}: {error}") from None
    scale, unit = float(table.get("scale", made.scale)), str(table.get("unit", made.unit))
    return ContinuousGame(name, made.signals, made.tree, scale, unit)


def loads_models(text: str, game: ContinuousGame) -> list[Model]:
    """Models from the text of a file."""
    table = parse_toml(text)
    _known(table, ("model",), "the file")
    found = table.get("model", [])
    if not isinstance(found, list) or not found:
        raise InputError("no models; write [[model]] and bands = { … } for each")
    models = []
    for number, one in enumerate(found, start=1):
        where = f"model {number}"
        _known(_table(one, where), ("name", "bands", "order"), where)
        bands = _table(one.get("bands", {}), f"{where}: bands")
        if not all(isinstance(words, str) for words in bands.values()):
            raise InputError(f"{where}: bands {shown(dict(bands))}: moves are words in one text, 'b x b'")
        models.append(Model.make(game, bands, one.get("order"), str(one.get("name", where))))
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


def _signals(table: Mapping[str, Any], players: int) -> Signals:
    if not table:
        return deals.uniform(players)
    if "joint" in table or "edges" in table:
        _known(table, ("joint", "edges", "tied"), "signals")
        return deals.dependent(table.get("edges", []), table.get("joint", []), tied=bool(table.get("tied", False)))
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
    try:
        return [(float(x), float(y)) for x, y in value]
    except (TypeError, ValueError):
        raise InputError(f"{where} = {shown(value)}: must be a list of pairs of numbers") from None


def _jumps(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Probabilities of values as a distribution function that jumps."""
    found, below = [], 0.0
    for x, chance in sorted(points):
        found += [(x, below), (x, below + chance)]
        below += chance
    return found


def _tree(table: Mapping[str, Any], where: str) -> Tree:
    if "pay" in table:
        _known(table, LEAF, where)
        try:
            pay = tuple(map(float, table["pay"]))
            worth = tuple(map(float, table.get("worth", ())))
            return Leaf(pay, float(table.get("prize", 0.0)), tuple(map(int, table.get("contenders", ()))), worth)
        except (TypeError, ValueError):
            raise InputError(f"{where}: pay, worth and contenders are lists of numbers, prize is a number") from None
    _known(table, ("player", "moves", "situation"), where)
    moves = _table(table.get("moves", {}), f"{where}.moves")
    player = table.get("player")
    if not isinstance(player, int) or not moves:
        raise InputError(f"{where}: a decision needs player = 0 and moves, a leaf needs pay")
    below = tuple(
        (label, _tree(_table(child, f"{where}.{label}"), f"{where}.{label}")) for label, child in moves.items()
    )
    situation = table.get("situation")
    return Decision(player, below, None if situation is None else str(situation))


def _players(tree: Tree) -> set[int]:
    if isinstance(tree, Leaf):
        return {len(tree.base) - 1}
    return {tree.player}.union(*(_players(child) for _, child in tree.moves))
