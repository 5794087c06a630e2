"""Continuous games and qualitative models as TOML files, read strictly.

name = "von Neumann"
[signals]                                # for all players; [signals.0], [signals.1] where they differ
cdf = [[0, 0], [1, 1]]                   # points of the distribution function; two with one signal are an atom
# discrete = [[1, 0.5], [2, 0.5]]        # or values with their probabilities
# density = [[0, 1], [1, 3]]             # or points of a density that is linear between them
# edges = [0, 1, 2]                      # or correlated signals of two players:
# joint = [[0.3, 0.2], [0.1, 0.4]]       # probability of each pair of segments, row: player 0
[river]                                  # or [auction], [three-way]; or the tree itself:
pot = 2
bets = [1]
street = "half"
[tree]                                   # decisions have player and moves, leaves have pay (prize, contenders, worth)
player = 0
moves.x = { pay = [-1, -1], prize = 2 }
moves.b = { player = 1, moves = { f = { pay = [1, -1] }, c = { pay = [-2, -2], prize = 4 } } }

A file of models has one [[model]] table for each:
[[model]]
name = "bluff and value"
bands = { root = "b x b", b = "f c" }    # moves from weak to strong, for each situation
order = "root:1 b:1 root:2"              # optional: order of all thresholds from weak to strong
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from riverboat.continuous import signals
from riverboat.continuous.examples import GAME_MAKERS
from riverboat.continuous.game import ContinuousGame, ContinuousTree, DecisionNode, Leaf, nodes_with_lines
from riverboat.continuous.signals import Signals
from riverboat.continuous.strategies import QualitativeModel
from riverboat.core.errors import InputError, located_errors, short_repr
from riverboat.core.files import parse_toml, read_toml_text
from riverboat.core.schema import check_keys

GAME_KEYS = ("name", "signals", "tree", "scale", "unit", *GAME_MAKERS)
DISTRIBUTION_KEYS = ("cdf", "discrete", "density")
LEAF_KEYS = ("pay", "prize", "contenders", "worth")
MAX_PLAYERS = 4
_MAX_NUMBER = 1e100  # payoffs and signals: their products stay finite


def load(path: str | Path) -> ContinuousGame:
    r"""Load a game from a TOML file; its default name is the name of the file.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    ContinuousGame
        The game.

    Raises
    ------
    InputError
        If the file cannot be read, or an entry is unknown or invalid.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "half-street.toml"
    ...     _ = path.write_text('[river]\npot = 2\nstreet = "half"', encoding="utf-8")
    ...     load(path).name
    'half-street'
    """
    text = read_toml_text(path, "continuous game")
    with located_errors(path):
        return loads(text, Path(path).stem)


def load_models(path: str | Path, game: ContinuousGame) -> list[QualitativeModel]:
    r"""Load qualitative models for a game from a TOML file.

    Parameters
    ----------
    path
        The file.
    game
        The game.

    Returns
    -------
    list of QualitativeModel
        The models.

    Raises
    ------
    InputError
        If the file cannot be read, or an entry is unknown or invalid.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "models.toml"
    ...     _ = path.write_text('[[model]]\nbands = { root = "b x b", b = "f c" }', encoding="utf-8")
    ...     load_models(path, loads('[river]\nstreet = "half"'))[0].name
    'model 1'
    """
    text = read_toml_text(path, "qualitative models")
    with located_errors(path):
        return loads_models(text, game)


def loads(text: str, name: str = "game") -> ContinuousGame:
    r"""Parse a game from the text of a TOML file.

    Parameters
    ----------
    text
        Text of the file.
    name
        Name of the game, unless the file has one.

    Returns
    -------
    ContinuousGame
        The game.

    Raises
    ------
    InputError
        If an entry is unknown or invalid.

    Examples
    --------
    >>> loads('[river]\npot = 2\nbets = [1]\nstreet = "half"').scale
    2.0
    """
    table = parse_toml(text)
    check_keys(table, GAME_KEYS, "the file")
    name = _text(table, "name", name)
    kinds = [key for key in ("tree", *GAME_MAKERS) if key in table]
    if len(kinds) != 1:
        raise InputError(f"{len(kinds)} of tree, {', '.join(GAME_MAKERS)} are present: give exactly one")
    (kind,) = kinds
    options_table = _table(table[kind], kind)
    if kind == "tree":
        tree = _tree(options_table, "tree")
        nodes = [node for node, _ in nodes_with_lines(tree)]
        players = max(len(node.base) if isinstance(node, Leaf) else 1 + node.player for node in nodes)
        signals = _signals(_table(table.get("signals", {}), "signals"), max(players, 2))
        game = ContinuousGame(name, signals, tree)
    else:
        maker = GAME_MAKERS[kind]
        allowed = [key for key in inspect.signature(maker).parameters if key not in ("signals", "name")]
        check_keys(options_table, tuple(allowed) + (("players",) if kind == "auction" else ()), kind)
        options = dict(options_table)
        players = _integer(options.pop("players", 3 if kind == "three-way" else 2), f"{kind}: players", 2, MAX_PLAYERS)
        try:
            game = maker(_signals(_table(table.get("signals", {}), "signals"), players), **options)
        except TypeError as error:
            raise InputError(f"{kind}: {error}") from None
    scale, unit = _number(table.get("scale", game.scale), "scale"), _text(table, "unit", game.unit)
    return ContinuousGame(name, game.signals, game.tree, scale, unit)


def loads_models(text: str, game: ContinuousGame) -> list[QualitativeModel]:
    r"""Parse models from the text of a TOML file.

    Parameters
    ----------
    text
        Text of the file.
    game
        The game.

    Returns
    -------
    list of QualitativeModel
        The models.

    Raises
    ------
    InputError
        If an entry is unknown or invalid.

    Examples
    --------
    >>> game = loads('[river]\nstreet = "half"')
    >>> loads_models('[[model]]\nbands = { root = "b x b", b = "f c" }', game)[0].bands
    ((1, 0, 1), (0, 1))
    """
    table = parse_toml(text)
    check_keys(table, ("model",), "the file")
    entries = table.get("model", [])
    if not isinstance(entries, list) or not entries:
        raise InputError("no models; write [[model]] with bands = { … } for each")
    models = []
    for number, entry in enumerate(entries, start=1):
        where = f"model {number}"
        check_keys(_table(entry, where), ("name", "bands", "order"), where)
        bands = _table(entry.get("bands", {}), f"{where}: bands")
        if not all(isinstance(words, str) for words in bands.values()):
            raise InputError(f"{where}: bands {short_repr(dict(bands))}: must be moves in one text, such as 'b x b'")
        order = _text(entry, "order", "", where) if "order" in entry else None
        models.append(QualitativeModel.from_words(game, bands, order, _text(entry, "name", where, where)))
    return models


# --- Checked access to tables ---


def _table(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"{where} = {short_repr(value)}: must be a table")
    return value


def _text(table: Mapping[str, Any], key: str, default: str, where: str = "") -> str:
    text = table.get(key, default)
    if not isinstance(text, str) or not text.isprintable():
        raise InputError(f"{where}{': ' if where else ''}{key} = {short_repr(text)}: must be a text on one line")
    return text


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _MAX_NUMBER:
        raise InputError(f"{where} = {short_repr(value)}: must be a finite number")
    return float(value)


def _numbers(value: Any, where: str) -> tuple[float, ...]:
    if not isinstance(value, list):
        raise InputError(f"{where} = {short_repr(value)}: must be a list of numbers")
    return tuple(_number(item, f"{where}, number {n}") for n, item in enumerate(value, start=1))


def _integer(value: Any, where: str, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InputError(f"{where} = {short_repr(value)}: must be a whole number from {low} to {high}")
    return value


def _signals(table: Mapping[str, Any], players: int) -> Signals:
    if not table:
        return signals.uniform(players)
    if "joint" in table or "edges" in table:
        check_keys(table, ("joint", "edges", "tied"), "signals")
        joint, tied = table.get("joint", []), table.get("tied", False)
        if not isinstance(joint, list) or not isinstance(tied, bool):
            raise InputError("signals: joint is a list of rows of numbers, tied is true or false")
        rows = [_numbers(row, f"signals.joint, row {n}") for n, row in enumerate(joint, start=1)]
        return signals.correlated(_numbers(table.get("edges", []), "signals.edges"), rows, tied=tied)
    numbers = tuple(str(p) for p in range(players))
    if any(key in numbers for key in table):
        check_keys(table, numbers, "signals")
        each = [_table(table.get(p, {}), f"signals.{p}") for p in numbers]
    else:
        each = [table] * players
    kinds, points = [], []
    for p, table_of_player in enumerate(each):
        check_keys(table_of_player, DISTRIBUTION_KEYS, f"signals.{p}")
        if len(table_of_player) != 1:
            raise InputError(f"signals.{p}: give one of {', '.join(DISTRIBUTION_KEYS)}")
        ((kind, pairs),) = table_of_player.items()
        kinds.append(kind)
        points.append(_points(pairs, f"signals.{p}: {kind}"))
    if set(kinds) == {"discrete"}:
        return signals.from_values(points)
    if set(kinds) == {"density"}:
        return signals.from_densities(points)
    if "density" in kinds:
        raise InputError("signals: density cannot be mixed with cdf or discrete; give a cdf for every player")
    return signals.from_cdfs([_step_cdf(p) if k == "discrete" else p for k, p in zip(kinds, points, strict=True)])


def _points(value: Any, where: str) -> list[tuple[float, float]]:
    pairs = [_numbers(pair, f"{where}, pair {n}") for n, pair in enumerate(value, 1)] if isinstance(value, list) else []
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise InputError(f"{where} = {short_repr(value)}: must be a list of pairs of numbers")
    return [(x, y) for x, y in pairs]


def _step_cdf(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Convert probabilities of values to points of a step distribution function."""
    corners, below = [], 0.0
    for x, chance in sorted(points):
        corners += [(x, below), (x, below + chance)]
        below += chance
    return corners


def _tree(table: Mapping[str, Any], where: str) -> ContinuousTree:
    if "pay" in table:
        check_keys(table, LEAF_KEYS, where)
        pay, signal_weights = (_numbers(table.get(key, []), f"{where}.{key}") for key in ("pay", "worth"))
        contenders = table.get("contenders", [])
        if not isinstance(contenders, list):
            raise InputError(f"{where}.contenders = {short_repr(contenders)}: must be a list of players")
        seats = tuple(_integer(p, f"{where}.contenders", 0, MAX_PLAYERS - 1) for p in contenders)
        return Leaf(pay, _number(table.get("prize", 0.0), f"{where}.prize"), seats, signal_weights)
    check_keys(table, ("player", "moves", "situation"), where)
    moves = _table(table.get("moves", {}), f"{where}.moves")
    if "player" not in table or not moves:
        raise InputError(f"{where}: a decision needs player = 0 and moves, a leaf needs pay")
    player = _integer(table["player"], f"{where}.player", 0, MAX_PLAYERS - 1)
    below = tuple(
        (label, _tree(_table(child, f"{where}.{label}"), f"{where}.{label}")) for label, child in moves.items()
    )
    return DecisionNode(player, below, _text(table, "situation", "", where) or None)
