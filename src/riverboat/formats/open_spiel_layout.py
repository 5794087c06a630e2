"""Layouts of OpenSpiel games: one traversal of pyspiel's states, and a cache of its result.

The traversal calls OpenSpiel as rarely as it can, since every call from Python takes 0.1 µs or more. The last child of
a state reuses the state itself, and labels of actions are computed once for each information set. Actions with equal
numbers are the same action, as in OpenSpiel's policies.

`undo_action` would replace most copies, but many games do not implement it.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import inspect
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from riverboat.core import cache
from riverboat.core.arrays import Array
from riverboat.core.budget import BuildMonitor, require_memory
from riverboat.core.errors import InputError, RiverboatError
from riverboat.games.base import CHANCE, TERMINAL, HistoryState
from riverboat.games.tree_layout import (
    MAX_DEPTH,
    MIN_HISTORY_BYTES,
    ChanceLayout,
    HistoryLayoutBuilder,
    HistoryTreeLayout,
    PayoffCheck,
    estimate_tree_size,
    too_deep_error,
)

CACHE_VERSION = 1  # of the arrays in the cache
MIN_CACHED_HISTORIES = 50_000  # smaller games are traversed in less than half a second
MAX_CACHED_BYTES = 500_000_000
_MONITOR_MASK = 255  # the monitor is called once for 256 histories


def open_spiel_error(where: str, error: Exception) -> InputError:
    """Return an InputError with the message of OpenSpiel's exception in one line.

    Parameters
    ----------
    where
        What was being done.
    error
        The exception.

    Returns
    -------
    InputError
        The error, for the caller to raise.

    Examples
    --------
    >>> print(open_spiel_error("game 'x'", RuntimeError("no such game")))
    game 'x': OpenSpiel says: no such game
    """
    # After an unknown name OpenSpiel lists all known games.
    text = " ".join(str(error).partition(" Available games")[0].split())
    return InputError(f"{where}: OpenSpiel says: {text or type(error).__name__}")


def unique_labels(labels: Sequence[str], actions: Sequence[int]) -> tuple[str, ...]:
    """Return labels of actions; the number is added to labels that several actions have.

    Parameters
    ----------
    labels
        Labels, possibly with duplicates.
    actions
        OpenSpiel's numbers of the actions.

    Returns
    -------
    tuple of str
        Different labels.

    Examples
    --------
    >>> unique_labels(["go", "go", "stay"], [0, 1, 2])
    ('go #0', 'go #1', 'stay')
    """
    if len(set(labels)) == len(labels):
        return tuple(labels)
    count = Counter(labels)
    return tuple(t if count[t] == 1 else f"{t} #{action}" for t, action in zip(labels, actions, strict=True))


def layout_of_game(
    name: str, game: Any, root: Callable[[], HistoryState], check_payoffs: PayoffCheck | None = None
) -> HistoryTreeLayout:
    """Return the layout of a turn-based OpenSpiel game, from the cache if it is there.

    Only games that come with OpenSpiel are cached, and only from `MIN_CACHED_HISTORIES` histories on. Those of users may
    change without a new version.

    Parameters
    ----------
    name
        Name of the game, for messages.
    game
        The `pyspiel.Game`.
    root
        Function that returns the initial state, for the estimate of the size.
    check_payoffs
        Function that is called with each new row of payoffs and may raise an error.

    Returns
    -------
    HistoryTreeLayout
        The layout.

    Raises
    ------
    InputError
        OpenSpiel has raised an exception, or the game is inconsistent.
    MemoryLimitError
        The tree does not fit in memory.

    Examples
    --------
    >>> from riverboat.formats.open_spiel_games import load_open_spiel_game
    >>> game = load_open_spiel_game("kuhn_poker")  # doctest: +SKIP
    >>> len(layout_of_game("kuhn", game.game, game.root).infosets)  # doctest: +SKIP
    12
    """
    identity = cache_identity(game)
    if identity is None:
        return _traverse(name, game, root, check_payoffs)
    file = f"open_spiel/{game.get_type().short_name}-{hashlib.sha256(identity.encode()).hexdigest()[:16]}"
    arrays = cache.load_arrays(file, identity)
    if arrays is not None:
        histories = len(arrays["actor"])
        require_memory(f"{name}: {histories:,} histories", MIN_HISTORY_BYTES * histories)
        layout = _unpack(arrays)
        if check_payoffs is not None:
            for pay in layout.payoffs.tolist():
                check_payoffs(pay)
        return layout
    layout = _traverse(name, game, root, check_payoffs)
    if len(layout.actor) >= MIN_CACHED_HISTORIES:
        arrays = _pack(layout)
        if sum(array.nbytes for array in arrays.values()) <= MAX_CACHED_BYTES:
            cache.store_arrays(file, arrays, identity)
    return layout


# --- traversal ---


def _traverse(
    name: str, game: Any, root: Callable[[], HistoryState], check_payoffs: PayoffCheck | None
) -> HistoryTreeLayout:
    """Traverse the histories of a game in preorder."""
    build = HistoryLayoutBuilder(name, game.num_players(), check_payoffs)
    estimate = partial(estimate_tree_size, root())
    state = game.new_initial_state()
    with BuildMonitor(name, "building the tree of", "histories", MIN_HISTORY_BYTES, estimate) as monitor:
        _visit_all(name, build, monitor, state)
        return build.layout()


def _visit_all(name: str, build: HistoryLayoutBuilder, monitor: BuildMonitor, state: Any) -> None:
    """Visit a state and all below it in preorder. The state is modified."""
    add_actor, add_end, add_index = build.actor.append, build.end.append, build.index.append
    end, payoffs, new_payoff = build.end, build.payoffs, build.payoff
    infosets: list[dict[str, int]] = [{} for _ in range(build.players)]  # by name
    known_actions: list[list[int]] = []  # by information set; equal lists are one object
    interned: dict[tuple[int, ...], list[int]] = {}
    owners: dict[str, int] = {}  # the player who first used a name
    open_nodes: list[tuple[int, Any, list[int]]] = []  # node, its state, and the actions that are left, the last first
    node = 0
    try:
        while True:
            if not node & _MONITOR_MASK:
                monitor(node)
            player = state.current_player()
            actions: list[int] | None = None
            if player >= 0:
                actions = state.legal_actions()
                text = state.information_state_string()
                number = infosets[player].get(text, -1)
                if number < 0:
                    number = infosets[player][text] = _add_infoset(build, owners, state, player, text, actions)
                    known_actions.append(interned.setdefault(tuple(actions), actions.copy()))
                elif actions != known_actions[number]:
                    build.check_infoset(number, player, _action_labels(state, actions))
                add_actor(player)
                add_index(number)
            elif state.is_terminal():
                pay = tuple(state.returns())
                number = payoffs.get(pay, -1)
                add_actor(TERMINAL)
                add_index(new_payoff(pay) if number < 0 else number)
            elif state.is_chance_node():
                outcomes = state.chance_outcomes()
                actions = [action for action, _ in outcomes]
                number = build.outcomes(_action_labels(state, actions), tuple([float(p) for _, p in outcomes]))
                add_actor(CHANCE)
                add_index(number)
            else:
                raise InputError(
                    f"{name}: actor {player!r} after {state.history()}: there are players 0 to {build.players - 1}"
                )
            node += 1
            add_end(node)
            if actions:
                actions.reverse()
                open_nodes.append((node - 1, state, actions))
                if len(open_nodes) > MAX_DEPTH:
                    raise too_deep_error(name, node)
            while open_nodes:
                parent, state, actions = open_nodes[-1]
                if actions:
                    action = actions.pop()
                    if actions:
                        state = state.child(action)
                    else:
                        state.apply_action(action)
                    break
                end[parent] = node
                open_nodes.pop()
            else:
                return
    except (RiverboatError, MemoryError):
        raise
    except Exception as error:  # pyspiel's own, C++ exceptions, and those of games written in Python
        raise open_spiel_error(f"{name} after {state.history()}", error) from None


def _action_labels(state: Any, actions: Sequence[int]) -> tuple[str, ...]:
    return unique_labels([state.action_to_string(action) for action in actions], actions)


def _add_infoset(
    build: HistoryLayoutBuilder, owners: dict[str, int], state: Any, player: int, text: str, actions: Sequence[int]
) -> int:
    """Add an information set. If another player has one of the same name (phantom_ttt), the name gets a suffix."""
    name = text if owners.setdefault(text, player) == player else f"{text} (player {player})"
    return build.add_infoset(name, player, _action_labels(state, actions))


# --- cache ---


def cache_identity(game: Any) -> str | None:
    """Return a text that identifies the rules of a game, or None if they may change without notice.

    It has the game's parameters, OpenSpiel's version, and sizes and times of the files that implement the game.

    Parameters
    ----------
    game
        A `pyspiel.Game`.

    Returns
    -------
    str or None
        The text; None for games that read files or were registered by users, and for OpenSpiel without a version.

    Examples
    --------
    >>> from riverboat.formats.open_spiel_games import import_pyspiel
    >>> "dice_sides=4" in cache_identity(import_pyspiel().load_game("liars_dice(dice_sides=4)"))  # doctest: +SKIP
    True
    """
    import pyspiel

    text = str(game)
    files = {Path(str(pyspiel.__file__))}
    if "file" in text.lower():
        return None
    for begin in re.finditer(r"\w+\(", text):  # the game, and those inside it
        try:
            part = pyspiel.load_game(_balanced(text[begin.start() :]))
        except Exception:  # games of Gambit files have a name that is not registered
            return None
        module = type(part).__module__
        if module.partition(".")[0] not in ("pyspiel", "open_spiel"):
            return None
        if module != "pyspiel":
            files.add(Path(inspect.getfile(type(part))))
    try:
        version = importlib.metadata.version("open_spiel")
        stats = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in sorted(files)]
    except (importlib.metadata.PackageNotFoundError, OSError):
        return None
    return json.dumps([CACHE_VERSION, text, version, stats])


def _balanced(text: str) -> str:
    """Return the beginning of a text up to the bracket that closes the first one."""
    depth = 0
    for end, letter in enumerate(text, 1):
        depth += (letter == "(") - (letter == ")")
        if letter == ")" and not depth:
            return text[:end]
    return text


def _pack(layout: HistoryTreeLayout) -> dict[str, Array]:
    """Return a layout as arrays; texts are JSON."""
    chance = [[event.labels, event.probabilities] for event in layout.chance]
    texts = json.dumps([layout.infoset_names, layout.action_labels, chance]).encode()
    arrays = {name: value for name, value in vars(layout).items() if isinstance(value, np.ndarray)}
    return {**arrays, "texts": np.frombuffer(texts, np.uint8)}


def _unpack(arrays: dict[str, Array]) -> HistoryTreeLayout:
    names, labels, chance = json.loads(arrays.pop("texts").tobytes())
    return HistoryTreeLayout(
        infoset_names=tuple(names),
        action_labels=tuple(map(tuple, labels)),
        chance=tuple(ChanceLayout(tuple(outcomes), tuple(probabilities)) for outcomes, probabilities in chance),
        **arrays,
    )
