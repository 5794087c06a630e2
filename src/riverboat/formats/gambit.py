"""Games from Gambit's files: trees (`.efg`) and tables (`.nfg`).

An information set keeps its name from the file when no other information set has it; otherwise it is called
`P{player}.{number}` with the file's numbers, as in `P1.3`. Moves that share a label at one node become
`a_1`, `a_2`, …; moves without a label become `m1`, `m2`, … by their place. Pay-offs of outcomes at
interior nodes are added up along the path.

Where the files in the world differ, the readers take either way: commas are as good as spaces, and what was
said once about an information set or an outcome need not be said again, but it may not be contradicted.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import NoReturn, TypeVar

import numpy as np

from riverboat.core.budget import Growth
from riverboat.core.errors import GameFileError
from riverboat.core.text_files import read_text
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.small.normal_form import NormalForm

_T = TypeVar("_T")

_TOKEN = re.compile(
    r"""[\s,]*+(?:"(?P<text>(?:[^"\\]|\\.)*+)"|(?P<left>{)|(?P<right>})|(?P<word>[^\s,{}"]++)|(?P<open>")|(?P<end>\Z))""",
    re.DOTALL,
)
_NUMBER = r"[+-]?(?:[0-9]+/[0-9]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
_TOLERANCE = 1e-9  # for the sum of probabilities; wide enough only for the rounding of floats


def load_efg(path: str | os.PathLike[str]) -> ExtensiveForm:
    """The game in an `.efg` file, named like the file."""
    with _reading(_read(path), os.fspath(path)) as reader:
        return _efg(reader, Path(path).stem)


def load_nfg(path: str | os.PathLike[str]) -> NormalForm:
    """The game in an `.nfg` file, named like the file."""
    with _reading(_read(path), os.fspath(path)) as reader:
        return _nfg(reader, Path(path).stem)


def loads_efg(text: str, name: str = "") -> ExtensiveForm:
    """The game in the text of an `.efg` file, named by `name` or else by its title."""
    with _reading(text, name or "<efg>") as reader:
        return _efg(reader, name)


def loads_nfg(text: str, name: str = "") -> NormalForm:
    """The game in the text of an `.nfg` file, named by `name` or else by its title."""
    with _reading(text, name or "<nfg>") as reader:
        return _nfg(reader, name)


@contextmanager
def _reading(text: str, path: str) -> Iterator[_Reader]:
    """The tokens of a text, which may have millions of lines."""
    with Growth(path, "reading", "lines", 0, about=text.count("\n") + 1) as grown:
        yield _Reader(text, path, grown)


def _read(path: str | os.PathLike[str]) -> str:
    return read_text(os.fspath(path), "game file")


# --- the game that a tree becomes -------------------------------------------------------------


@dataclass(eq=False)
class _Move:
    """What all nodes of one information set, of a player or of chance, have in common."""

    actor: int
    label: str
    given: tuple[str, ...]  # moves as the file has them, to compare with later mentions
    actions: tuple[str, ...]
    probabilities: tuple[float, ...]
    line: int
    name: str = ""


_END = _Move(TERMINAL, "", (), (), (), 0)


@dataclass(frozen=True, eq=False, slots=True)
class _Node:
    """A node, and the state of the game there."""

    tree: list[_Node] = field(repr=False)  # all nodes in preorder: children are found by number, since trees get deep
    move: _Move  # _END at a terminal
    total: tuple[float, ...]  # pay-offs of all outcomes from the root to here
    children: list[int] = field(default_factory=list)

    @property
    def actor(self) -> int:
        return self.move.actor

    def actions(self) -> tuple[str, ...]:
        return self.move.actions

    def probabilities(self) -> tuple[float, ...]:
        return self.move.probabilities

    def child(self, index: int) -> _Node:
        return self.tree[self.children[index]]

    def infoset(self) -> str:
        return self.move.name

    def payoffs(self) -> tuple[float, ...]:
        return self.total


@dataclass(frozen=True, eq=False)
class ExtensiveForm:
    """A game given by all its nodes in preorder."""

    name: str
    players: int
    nodes: list[_Node] = field(repr=False)
    unit: str = "points"

    def root(self) -> _Node:
        """The first node."""
        return self.nodes[0]


# --- words, numbers and braces ----------------------------------------------------------------


class _Reader:
    """The tokens of a file, one at a time with one to look ahead."""

    def __init__(self, text: str, path: str, grown: Growth) -> None:
        self._text, self._path, self._grown = text, path, grown
        self.line = 0  # of the token taken last
        self._start, self._start_line, self._after = 0, 1, 0  # of the token ahead
        self._scan()

    def _scan(self) -> None:
        token = _TOKEN.match(self._text, self._after)
        assert token is not None  # the pattern has a case for every text
        self.kind = str(token.lastgroup)
        before, self._start = self._start, token.start(self.kind)
        self._start_line += self._text.count("\n", before, self._start)
        self._value, self._after = token[self.kind], token.end()
        self._grown(self._start_line)
        if self.kind == "open":
            self.fail_ahead('a text starts here and never ends: its closing " is missing')

    def fail(self, problem: str, line: int | None = None) -> NoReturn:
        """Refuse the file for the token taken last, or for a line."""
        raise GameFileError(self._path, line or self.line, problem)

    def fail_ahead(self, problem: str) -> NoReturn:
        """Refuse the file for the token that comes next, or for its end."""
        last_line = self._text.rstrip().count("\n") + 1
        raise GameFileError(self._path, min(self._start_line, last_line), problem)

    def ahead(self) -> str:
        """What comes next, for messages."""
        if self.kind == "end":
            return "the file ends too early"
        shown = self._value if len(self._value) <= 40 else self._value[:40] + "…"
        return f'found "{shown}"' if self.kind == "text" else f"found {shown}"

    def take(self, kind: str, wanted: str, pattern: str = "") -> str:
        """The next token, which must be of this kind and shape."""
        if self.kind != kind or (pattern and not re.fullmatch(pattern, self._value)):
            # What is missing is often missing at the end of an earlier line.
            after = f" (after line {self.line})" if 0 < self.line < self._start_line and self.kind != "end" else ""
            self.fail_ahead(f"expected {wanted}, but {self.ahead()}{after}")
        taken, self.line = self._value, self._start_line
        self._scan()
        return taken

    def text(self, wanted: str) -> str:
        """A quoted text; inside, a backslash may stand before a quote or a backslash."""
        return re.sub(r'\\(["\\])', r"\1", self.take("text", f"{wanted} in quotes"))

    def text_if_any(self, wanted: str) -> str | None:
        """A quoted text that may be left out."""
        return self.text(wanted) if self.kind == "text" else None

    def whole(self, wanted: str) -> int:
        """A whole number."""
        return int(self.take("word", f"{wanted}, a whole number", "[+-]?[0-9]{1,18}"))

    def number(self, wanted: str) -> float:
        """A whole number, a decimal or a fraction."""
        word = self.take("word", f"{wanted}, a number like 2, -0.5, 1e-3 or 1/3", _NUMBER)
        above, _, below = word.partition("/")
        divisor = float(below or 1)
        value = float(above) / divisor if divisor else math.inf
        if not math.isfinite(value):
            self.fail(f"{wanted}: {word} is not a finite number")
        return value

    def within(self, wanted: str, item: Callable[[], _T]) -> list[_T]:
        """All items between a pair of braces."""
        self.take("left", f"{{ before {wanted}")
        items = []
        while self.kind != "right":
            items.append(item())
        self.take("right", "}")
        return items

    def done(self, whole: str) -> None:
        """Refuse whatever follows the end of the game."""
        if self.kind != "end":
            self.fail_ahead(f"{whole} is complete, but more follows: {self.ahead()}; remove it or check what is above")

    def prologue(self, form: str, version: int) -> tuple[str, int]:
        """Read `FORM version R "title" { players }`: the title, and how many players."""
        self.take("word", f"{form}, as an .{form.lower()} file begins", form)
        given = self.whole("the version")
        if given != version:
            self.fail(f"{form} version {given}: only version {version} can be read; save it anew with Gambit")
        self.take("word", "R or D, the kind of numbers", "[RD]")
        title = self.text("the title")
        players = len(self.within("the players", lambda: self.text("a player's name")))
        if not players:
            self.fail('the game has no players; name them like { "Player 1" "Player 2" }')
        return title, players


def _distinct(labels: Sequence[str]) -> tuple[str, ...]:
    """Labels that differ: repeated ones get a number, empty ones are called by their place."""
    times, taken = Counter(labels), set(labels)
    numbers: dict[str, Iterator[int]] = {}  # go on where the last use stopped: files may repeat one label often
    result = []
    for place, label in enumerate(labels, 1):
        if not label or times[label] > 1:
            stem, number = (f"{label}_", numbers.setdefault(label, count(1))) if label else ("m", count(place))
            label = next(name for k in number if (name := f"{stem}{k}") not in taken)
            taken.add(label)
        result.append(label)
    return tuple(result)


# --- trees ------------------------------------------------------------------------------------


def _efg(reader: _Reader, name: str) -> ExtensiveForm:
    title, players = reader.prologue("EFG", 2)
    reader.text_if_any("the comment")
    return ExtensiveForm(name or title or "efg", players, _Builder(reader, players).read())


class _Builder:
    """Reads the nodes, which stand in preorder."""

    def __init__(self, reader: _Reader, players: int) -> None:
        self.reader, self.players = reader, players
        self.moves: dict[tuple[int, int], _Move] = {}  # by player (or CHANCE) and number
        self.outcomes: dict[int, tuple[tuple[float, ...], int]] = {}  # pay-offs, line

    def read(self) -> list[_Node]:
        """Read nodes until every move leads somewhere, and name the information sets."""
        reader = self.reader
        nodes: list[_Node] = []
        unfinished: list[tuple[_Node, int]] = []  # from the root down, with their lines
        while unfinished or not nodes:
            if reader.kind == "end":
                why = f"the node in line {unfinished[-1][1]} has more moves" if nodes else "there are no nodes"
                reader.fail_ahead(f"the file ends too early: {why}")
            kind, line = reader.take("word", "a node: c, p or t", "[cpt]"), reader.line
            reader.text("the node's name")
            move = self._move(kind) if kind != "t" else _END
            payoffs = self._outcome()
            if unfinished:
                above = unfinished[-1][0]
                above.children.append(len(nodes))
                payoffs = tuple(a + b for a, b in zip(above.total, payoffs, strict=True))
            nodes.append(_Node(nodes, move, payoffs))
            unfinished.append((nodes[-1], line))
            while unfinished and len(unfinished[-1][0].children) == len(unfinished[-1][0].actions()):
                unfinished.pop()
        reader.done("the tree")
        self._name()
        return nodes

    def _move(self, kind: str) -> _Move:
        """Whose move it is: a new information set, or one mentioned before."""
        reader = self.reader
        actor = reader.whole("the player") - 1 if kind == "p" else CHANCE
        if kind == "p" and not 0 <= actor < self.players:
            reader.fail(f"player {actor + 1}: this file has players 1 to {self.players}")
        number, line = reader.whole("the information set"), reader.line
        place = f"information set {number} of {'chance' if actor == CHANCE else f'player {actor + 1}'}"
        known = self.moves.get((actor, number))
        label = reader.text_if_any("its name")
        if reader.kind == "left":
            given, probabilities = self._moves(place, actor, line)
        elif known:
            given, probabilities = known.given, known.probabilities
        else:
            reader.fail_ahead(f'expected the moves of {place}, like {{ "a" "b" }}, but {reader.ahead()}')
        if not known:
            known = _Move(actor, label or "", given, _distinct(given), probabilities, line)
            self.moves[actor, number] = known
        if (given, probabilities) != (known.given, known.probabilities):
            was, now = _moves_text(known.given, known.probabilities), _moves_text(given, probabilities)
            reader.fail(f"{place} has the moves {was} in line {known.line}, but here {now}", line)
        if label is not None and label != known.label:
            reader.fail(f'{place} is called "{known.label}" in line {known.line}, but here "{label}"', line)
        return known

    def _moves(self, place: str, actor: int, line: int) -> tuple[tuple[str, ...], tuple[float, ...]]:
        """The moves between braces; those of chance with their probabilities."""
        reader = self.reader

        def item() -> tuple[str, float]:
            return reader.text("a move"), reader.number("a probability") if actor == CHANCE else 0.0

        pairs = reader.within(f"the moves of {place}", item)
        if not pairs:
            reader.fail(f"{place} has no moves; a node where the game ends is written with t", line)
        labels, probabilities = zip(*pairs, strict=True)
        if actor != CHANCE:
            return labels, ()
        if min(probabilities) < 0:
            reader.fail(f"{place} has a probability of {min(probabilities):g}: must not be negative", line)
        total = math.fsum(probabilities)
        if abs(total - 1) > _TOLERANCE:
            reader.fail(f"the probabilities of {place} sum to {total:.12g}, not to 1; write thirds as 1/3", line)
        return labels, probabilities

    def _outcome(self) -> tuple[float, ...]:
        """What the players get at this node: a new outcome, or one mentioned before."""
        reader = self.reader
        number, line = reader.whole("the outcome"), reader.line
        label = reader.text_if_any("its name")
        said = reader.kind == "left"
        if number == 0:
            if said or label is not None:
                reader.fail("outcome 0 means that there is none: it has no name or pay-offs; use another number", line)
            return (0.0,) * self.players
        if not said:
            if number not in self.outcomes:
                reader.fail(f"outcome {number} has no pay-offs, neither here nor in a line above", line)
            return self.outcomes[number][0]
        payoffs = tuple(reader.within(f"the pay-offs of outcome {number}", lambda: reader.number("a pay-off")))
        if len(payoffs) != self.players:
            reader.fail(f"outcome {number} has {len(payoffs)} pay-offs for {self.players} players", line)
        known, before = self.outcomes.setdefault(number, (payoffs, line))
        if payoffs != known:
            was, now = (" ".join(f"{x:g}" for x in row) for row in (known, payoffs))
            reader.fail(f"outcome {number} pays {was} in line {before}, but here {now}; use another number", line)
        return payoffs

    def _name(self) -> None:
        """Names from the file where they tell information sets apart, numbers elsewhere."""
        decisions = {key: move for key, move in self.moves.items() if key[0] != CHANCE}
        by_number = {f"P{player + 1}.{number}": move for (player, number), move in decisions.items()}
        times = Counter(move.label for move in decisions.values())
        for name, move in by_number.items():
            # A file may call one information set by the number of another.
            usable = move.label and times[move.label] == 1 and by_number.get(move.label, move) is move
            move.name = move.label if usable else name


def _moves_text(labels: tuple[str, ...], probabilities: tuple[float, ...]) -> str:
    shown = [f'"{label}"' for label in labels]
    if probabilities:
        shown = [f"{label} {p:g}" for label, p in zip(shown, probabilities, strict=True)]
    return f"{{ {' '.join(shown)} }}"


# --- tables -----------------------------------------------------------------------------------


def _nfg(reader: _Reader, name: str) -> NormalForm:
    title, players = reader.prologue("NFG", 1)
    strategies = reader.within("the strategies", lambda: _strategies(reader))
    if len(strategies) != players:
        reader.fail(f"strategies of {len(strategies)} players for {players} players")
    reader.text_if_any("the comment")
    widths = [width for width, _ in strategies]
    cells = math.prod(widths)
    if reader.kind == "left":
        outcomes = reader.within("the outcomes", lambda: _outcome(reader, players))
        rows = [_chosen(reader, outcomes, players, f"{cell + 1} of {cells}") for cell in range(cells)]
    else:
        rows = [_row(reader, players, f"{cell + 1} of {cells}") for cell in range(cells)]
    reader.done("the table")
    # The first player's strategy varies fastest: the order that numpy calls Fortran's.
    table = np.ascontiguousarray(np.array(rows).reshape((*widths, players), order="F"))
    labels = tuple(_distinct(given or [str(k + 1) for k in range(width)]) for width, given in strategies)
    return NormalForm(table, labels, name or title or "nfg")


def _strategies(reader: _Reader) -> tuple[int, list[str]]:
    """One player's strategies: how many, and their labels where the file has them."""
    if reader.kind == "left":
        labels = reader.within("the strategies of a player", lambda: reader.text("a strategy"))
        width = len(labels)
    else:
        labels, width = [], reader.whole("how many strategies a player has")
    if width < 1:
        reader.fail(f"a player with {width} strategies: each needs at least one")
    return width, labels


def _row(reader: _Reader, players: int, cell: str) -> list[float]:
    """What each player gets for one combination of strategies."""
    return [reader.number(f"the pay-off of player {p + 1} for combination {cell}") for p in range(players)]


def _outcome(reader: _Reader, players: int) -> list[float]:
    """A name and pay-offs in braces."""
    reader.take("left", "{ before an outcome")
    place = f'outcome "{reader.text_if_any("its name") or ""}"'
    payoffs = [reader.number(f"the pay-off of player {p + 1} in {place}") for p in range(players)]
    reader.take("right", f"}} after the {players} pay-offs of {place}")
    return payoffs


def _chosen(reader: _Reader, outcomes: list[list[float]], players: int, cell: str) -> list[float]:
    """The outcome of one combination of strategies, given by its number."""
    number = reader.whole(f"the outcome of combination {cell}")
    if not 0 <= number <= len(outcomes):
        reader.fail(f"outcome {number}: the list above has outcomes 1 to {len(outcomes)}, and 0 stands for none")
    return outcomes[number - 1] if number else [0.0] * players
