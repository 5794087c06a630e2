"""Export of games: Gambit's trees (`.efg`) and tables (`.nfg`), and spots (`.toml`).

`riverboat.formats.gambit` reads the files back as the same game. Chance probabilities are written as fractions that sum
to exactly one, which Gambit requires: simple fractions such as 1/3 if they match, else the exact value of the float.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path

from riverboat.core import files
from riverboat.core.errors import InputError, short_repr
from riverboat.formats import spot_file
from riverboat.games.base import CHANCE, TERMINAL, Game
from riverboat.games.small.normal_form import NormalForm
from riverboat.games.spots.spot import Spot
from riverboat.trees.compile import compile_game, to_history_tree
from riverboat.trees.history import HistoryTree

MAX_NODES = 10_000_000  # about half a gigabyte of text
_MAX_DENOMINATOR = 1_000_000  # largest denominator of a simple fraction
_ROUNDING_ERROR = 1e-15  # tolerance for simple fractions


def write_game(game: Game, path: str | Path) -> Path:
    """Write a game to a file of the format of its suffix.

    Parameters
    ----------
    game
        The game.
    path
        A `.efg` file for any small game, `.nfg` for a normal-form game, or `.toml` for a spot.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        The suffix is another, does not fit the game, or the tree is too large.

    Examples
    --------
    >>> import tempfile
    >>> from riverboat.games.small.poker import kuhn
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_game(kuhn(), f"{folder}/kuhn.efg").name
    'kuhn.efg'
    """
    target = Path(path)
    files.write_text(target, dumps_game(game, target.suffix.lower(), str(path)))
    return target


def dumps_game(game: Game, kind: str, path: str = "") -> str:
    """Return the text of a game in the format of a suffix.

    Parameters
    ----------
    game
        The game.
    kind
        `.efg`, `.nfg` or `.toml`.
    path
        File of the game, for messages.

    Returns
    -------
    str
        The text.

    Raises
    ------
    InputError
        The format is another, does not fit the game, or the tree is too large.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> dumps_game(kuhn(), ".efg").split(" ", 3)[:3]
    ['EFG', '2', 'R']
    """
    if kind == ".efg":
        return dumps_efg(to_history_tree(compile_game(game)))
    if kind == ".nfg":
        if not isinstance(game, NormalForm):
            raise InputError(f"{game.name}: not a normal-form game, which an .nfg file needs; write it as .efg")
        return dumps_nfg(game)
    if kind == ".toml":
        if not isinstance(game, Spot):
            raise InputError(f"{game.name}: not a spot, which a .toml file needs; write it as .efg")
        return spot_file.dumps(game)
    raise InputError(
        f"file {short_repr(path or kind)}: a game is written as .efg, .nfg (matrix games) or .toml (spots)"
    )


# --- trees ---


def dumps_efg(tree: HistoryTree) -> str:
    r"""Format a tree as Gambit's `.efg`, with the names of information sets and actions.

    Parameters
    ----------
    tree
        The tree.

    Returns
    -------
    str
        The text.

    Raises
    ------
    InputError
        The tree has more than `MAX_NODES` histories.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> dumps_efg(to_history_tree(compile_game(kuhn()))).count("\nt ")
    30
    """
    if len(tree.nodes.actor) > MAX_NODES:
        raise InputError(
            f"{tree.name}: {len(tree.nodes.actor):,} histories, more than {MAX_NODES:,}: too many for a file"
        )
    players = " ".join(_quote(f"Player {p + 1}") for p in range(tree.players))
    return "\n".join([f"EFG 2 R {_quote(tree.name)} {{ {players} }}", '""', "", *_node_lines(tree), ""])


def _node_lines(tree: HistoryTree) -> Iterator[str]:
    """Yield the line of an `.efg` file for each node of a tree, in preorder."""
    names = [infoset.name for infoset in tree.infosets()]
    numbers = [0] * len(names)  # numbers of information sets, from 1 for each player
    count = [0] * tree.players
    for i, owner in enumerate(tree.owner.tolist()):
        count[owner] += 1
        numbers[i] = count[owner]
    outcomes = [f'{n} "" {{ {_format_payoffs(pay)} }}' for n, pay in enumerate(tree.payoffs.tolist(), 1)]
    chances: dict[int, tuple[int, str]] = {}  # by offset of the probabilities: number and text of outcomes
    actor, data, width = (x.tolist() for x in (tree.nodes.actor, tree.nodes.data, tree.nodes.width))
    for node, (player, offset, num_actions) in enumerate(zip(actor, data, width, strict=True)):
        if player == TERMINAL:
            yield f't "" {outcomes[offset]}'
        elif player == CHANCE:
            if offset not in chances:
                fractions = exact_fractions(tree.chance[offset : offset + num_actions].tolist())
                outcomes_here = zip(tree.labels(node), fractions, strict=True)
                chances[offset] = len(chances) + 1, " ".join(f"{_quote(label)} {p}" for label, p in outcomes_here)
            number, actions = chances[offset]
            yield f'c "" {number} "" {{ {actions} }} 0'
        else:
            i = int(tree.node_infoset[node])
            actions = " ".join(map(_quote, tree.labels(node)))
            yield f'p "" {player + 1} {numbers[i]} {_quote(names[i])} {{ {actions} }} 0'


def exact_fractions(probabilities: Sequence[float]) -> list[Fraction]:
    """Return fractions that sum to exactly one.

    Parameters
    ----------
    probabilities
        Probabilities that sum to one up to rounding.

    Returns
    -------
    list of Fraction
        Simple fractions if they match, else the exact floats with the largest one corrected.

    Examples
    --------
    >>> exact_fractions([1 / 3, 2 / 3])
    [Fraction(1, 3), Fraction(2, 3)]
    """
    simple = [Fraction(p).limit_denominator(_MAX_DENOMINATOR) for p in probabilities]
    errors = [abs(float(f) - p) for f, p in zip(simple, probabilities, strict=True)]
    if sum(simple) == 1 and max(errors) <= _ROUNDING_ERROR:
        return simple
    exact = [Fraction(p) for p in probabilities]
    largest = max(range(len(exact)), key=exact.__getitem__)
    exact[largest] += 1 - sum(exact)
    return exact


# --- tables ---


def dumps_nfg(game: NormalForm) -> str:
    """Format a normal-form game as Gambit's `.nfg`.

    Parameters
    ----------
    game
        The game.

    Returns
    -------
    str
        The text: an outcome for each combination, the first player's action varying fastest.

    Examples
    --------
    >>> from riverboat.formats.gambit import loads_nfg
    >>> text = 'NFG 1 R "coins" { "A" "B" } { 2 2 } 1 -1 -1 1 -1 1 1 -1'
    >>> dumps_nfg(loads_nfg(text)).splitlines()[0]
    'NFG 1 R "coins" { "Player 1" "Player 2" }'
    """
    players = " ".join(_quote(f"Player {p + 1}") for p in range(game.players))
    actions = [f"{{ {' '.join(map(_quote, labels))} }}" for labels in game.labels]
    cells = [cell[::-1] for cell in product(*(range(len(labels)) for labels in reversed(game.labels)))]
    outcomes = [f'{{ "" {_format_payoffs(game.table[cell].tolist())} }}' for cell in cells]
    numbers = " ".join(str(n) for n in range(1, len(cells) + 1))
    head = f"NFG 1 R {_quote(game.name)} {{ {players} }}"
    return "\n".join([head, "", "{", *actions, "}", '""', "", "{", *outcomes, "}", numbers, ""])


def _format_payoffs(pay: Iterable[float]) -> str:
    return ", ".join(f"{x:.0f}" if x == int(x) and abs(x) < 1e15 else repr(x) for x in pay)


def _quote(words: str) -> str:
    return '"' + words.replace("\\", "\\\\").replace('"', '\\"') + '"'
