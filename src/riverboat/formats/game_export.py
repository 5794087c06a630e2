"""Games to files that others read: Gambit's trees (`.efg`) and tables (`.nfg`), and spots (`.toml`).

What is written here `riverboat.formats.gambit` reads back as the same game. Probabilities of chance are written as fractions
that sum to one exactly, which Gambit asks for: 1/3 where that is what was meant, else the fraction that a float is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path

from riverboat.core import atomic_io
from riverboat.core.errors import InputError, shown
from riverboat.formats import spot_file
from riverboat.games.base import CHANCE, TERMINAL, Game
from riverboat.games.small.normal_form import NormalForm
from riverboat.games.spots.spot import Spot
from riverboat.trees.compile import compile_game, histories
from riverboat.trees.history import HistoryTree

MOST_NODES = 10_000_000  # of a tree that is written: about half a gigabyte of text
_SMALL = 1_000_000  # denominators of probabilities that somebody may have meant
_CLOSE = 1e-15  # what rounding does to them


def write_game(game: Game, path: str | Path) -> Path:
    """Write a game to a file of the kind that its name ends with: `.efg`, `.nfg`, or `.toml` for a spot."""
    place = Path(path)
    atomic_io.write_text(place, dumps_game(game, place.suffix.lower(), str(path)))
    return place


def dumps_game(game: Game, kind: str, place: str = "") -> str:
    """The text of such a file."""
    if kind == ".efg":
        return dumps_efg(histories(compile_game(game)))
    if kind == ".nfg":
        if not isinstance(game, NormalForm):
            raise InputError(f"{game.name}: no table of moves, as an .nfg file has it; write it as .efg")
        return dumps_nfg(game)
    if kind == ".toml":
        if not isinstance(game, Spot):
            raise InputError(f"{game.name}: no spot, as a .toml file has it; write it as .efg")
        return spot_file.dumps(game)
    raise InputError(f"file {shown(place or kind)}: a game is written as .efg, .nfg (matrix games) or .toml (spots)")


# --- trees --------------------------------------------------------------------------------------


def dumps_efg(tree: HistoryTree) -> str:
    """A tree as Gambit's `.efg`, information sets and moves under their names."""
    if len(tree.nodes.actor) > MOST_NODES:
        raise InputError(
            f"{tree.name}: {len(tree.nodes.actor):,} histories, more than {MOST_NODES:,}: too many for a file"
        )
    players = " ".join(_text(f"Player {p + 1}") for p in range(tree.players))
    return "\n".join([f"EFG 2 R {_text(tree.name)} {{ {players} }}", '""', "", *_nodes(tree), ""])


def _nodes(tree: HistoryTree) -> Iterator[str]:
    """A line for each node, in preorder."""
    names = [infoset.name for infoset in tree.infosets()]
    numbers = [0] * len(names)  # of information sets, counted for each player from 1 on
    count = [0] * tree.players
    for i, owner in enumerate(tree.owner.tolist()):
        count[owner] += 1
        numbers[i] = count[owner]
    outcomes = [f'{n} "" {{ {_numbers(pay)} }}' for n, pay in enumerate(tree.payoffs.tolist(), 1)]
    chances: dict[int, tuple[int, str]] = {}  # by where its probabilities are: number, moves
    actor, data, width = (x.tolist() for x in (tree.nodes.actor, tree.nodes.data, tree.nodes.width))
    for node, (who, at, wide) in enumerate(zip(actor, data, width, strict=True)):
        if who == TERMINAL:
            yield f't "" {outcomes[at]}'
        elif who == CHANCE:
            if at not in chances:
                odds = fractions(tree.chance[at : at + wide].tolist())
                moves = " ".join(f"{_text(label)} {p}" for label, p in zip(tree.labels(node), odds, strict=True))
                chances[at] = len(chances) + 1, moves
            number, moves = chances[at]
            yield f'c "" {number} "" {{ {moves} }} 0'
        else:
            i = int(tree.node_infoset[node])
            moves = " ".join(map(_text, tree.labels(node)))
            yield f'p "" {who + 1} {numbers[i]} {_text(names[i])} {{ {moves} }} 0'


def fractions(probabilities: Sequence[float]) -> list[Fraction]:
    """Fractions that sum to one: simple ones where they are meant, else what the floats are, the largest one mended."""
    simple = [Fraction(p).limit_denominator(_SMALL) for p in probabilities]
    if sum(simple) == 1 and all(abs(float(f) - p) <= _CLOSE for f, p in zip(simple, probabilities, strict=True)):
        return simple
    exact = [Fraction(p) for p in probabilities]
    largest = max(range(len(exact)), key=exact.__getitem__)
    exact[largest] += 1 - sum(exact)
    return exact


# --- tables -------------------------------------------------------------------------------------


def dumps_nfg(game: NormalForm) -> str:
    """A matrix game as Gambit's `.nfg`: an outcome for each combination, the first player's move changing fastest."""
    players = " ".join(_text(f"Player {p + 1}") for p in range(game.players))
    moves = [f"{{ {' '.join(map(_text, labels))} }}" for labels in game.labels]
    cells = [cell[::-1] for cell in product(*(range(len(labels)) for labels in reversed(game.labels)))]
    outcomes = [f'{{ "" {_numbers(game.table[cell].tolist())} }}' for cell in cells]
    numbers = " ".join(str(n) for n in range(1, len(cells) + 1))
    head = f"NFG 1 R {_text(game.name)} {{ {players} }}"
    return "\n".join([head, "", "{", *moves, "}", '""', "", "{", *outcomes, "}", numbers, ""])


def _numbers(pay: Iterable[float]) -> str:
    return ", ".join(f"{x:.0f}" if x == int(x) and abs(x) < 1e15 else repr(x) for x in pay)


def _text(words: str) -> str:
    return '"' + words.replace("\\", "\\\\").replace('"', '\\"') + '"'
