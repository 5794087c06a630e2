"""Readers of Gambit's files: trees (`.efg`) and tables (`.nfg`).

An information set keeps its name from the file if the name is unique; otherwise it is called `P{player}.{number}` with
the file's numbers, as in `P1.3`. Actions that share a label at one node become `a_1`, `a_2`, …; actions without a label
become `m1`, `m2`, … by position. Payoffs of outcomes at interior nodes are summed along the path.

The readers accept the common variants of the formats: commas are as good as spaces. An information set or an outcome
need not be described again at a later mention, but must not be contradicted.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import NoReturn, TypeVar

import numpy as np

from riverboat.core.budget import BuildMonitor
from riverboat.core.errors import GameFileError
from riverboat.core.files import read_text
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
    """Read the game of an `.efg` file.

    Parameters
    ----------
    path
        The file; the game is named like it.

    Returns
    -------
    ExtensiveForm
        The game.

    Raises
    ------
    InputError
        The file cannot be read.
    GameFileError
        The file is malformed.

    Examples
    --------
    >>> load_efg("missing.efg")
    Traceback (most recent call last):
    riverboat.core.errors.InputError: game file 'missing.efg': No such file or directory
    """
    with _open_file(path) as reader:
        return _parse_efg(reader, Path(path).stem)


def load_nfg(path: str | os.PathLike[str]) -> NormalForm:
    """Read the game of an `.nfg` file.

    Parameters
    ----------
    path
        The file; the game is named like it.

    Returns
    -------
    NormalForm
        The game.

    Raises
    ------
    InputError
        The file cannot be read.
    GameFileError
        The file is malformed.

    Examples
    --------
    >>> load_nfg("missing.nfg")
    Traceback (most recent call last):
    riverboat.core.errors.InputError: game file 'missing.nfg': No such file or directory
    """
    with _open_file(path) as reader:
        return _parse_nfg(reader, Path(path).stem)


def loads_efg(text: str, name: str = "") -> ExtensiveForm:
    """Parse the text of an `.efg` file.

    Parameters
    ----------
    text
        The text.
    name
        Name of the game; its title by default.

    Returns
    -------
    ExtensiveForm
        The game.

    Raises
    ------
    GameFileError
        The text is malformed.

    Examples
    --------
    >>> game = loads_efg('EFG 2 R "one" { "A" } p "" 1 1 "" { "l" "r" } 0 t "" 1 "" { 1 } t "" 2 "" { 2 }')
    >>> game.root().actions()
    ('l', 'r')
    """
    with _open_reader(text, name or "<efg>") as reader:
        return _parse_efg(reader, name)


def loads_nfg(text: str, name: str = "") -> NormalForm:
    """Parse the text of an `.nfg` file.

    Parameters
    ----------
    text
        The text.
    name
        Name of the game; its title by default.

    Returns
    -------
    NormalForm
        The game.

    Raises
    ------
    GameFileError
        The text is malformed.

    Examples
    --------
    >>> loads_nfg('NFG 1 R "coins" { "A" "B" } { 2 2 } 1 -1 -1 1 -1 1 1 -1').table.shape
    (2, 2, 2)
    """
    with _open_reader(text, name or "<nfg>") as reader:
        return _parse_nfg(reader, name)


@contextmanager
def _open_reader(text: str, path: str) -> Iterator[_GambitReader]:
    """Yield a reader of a text, which may have millions of lines, with progress reports."""
    with BuildMonitor(path, "reading", "lines", 0, expected=text.count("\n") + 1) as monitor:
        yield _GambitReader(text, path, monitor)


def _open_file(path: str | os.PathLike[str]) -> AbstractContextManager[_GambitReader]:
    return _open_reader(read_text(os.fspath(path), "game file"), os.fspath(path))


# --- games ---


@dataclass(eq=False)
class _EfgInformationSet:
    """Common properties of all nodes of an information set, of a player or of chance."""

    actor: int
    label: str
    raw_actions: tuple[str, ...]  # actions as in the file, to compare with later mentions
    actions: tuple[str, ...]
    probabilities: tuple[float, ...]
    line: int  # line of the file where it is described first
    name: str = ""  # unique name, set when all nodes have been read


_TERMINAL_NODE = _EfgInformationSet(TERMINAL, "", (), (), (), 0)


@dataclass(frozen=True, eq=False, slots=True)
class _EfgNode:
    """A node, which is also the state of the game."""

    tree: list[_EfgNode] = field(repr=False)  # all nodes in preorder; children are indices, since trees can be deep
    information_set: _EfgInformationSet  # _TERMINAL_NODE at a terminal
    cumulative_payoffs: tuple[float, ...]  # payoffs of all outcomes from the root to here
    children: list[int] = field(default_factory=list)

    @property
    def actor(self) -> int:
        return self.information_set.actor

    def actions(self) -> tuple[str, ...]:
        return self.information_set.actions

    def probabilities(self) -> tuple[float, ...]:
        return self.information_set.probabilities

    def child(self, index: int) -> _EfgNode:
        return self.tree[self.children[index]]

    def infoset(self) -> str:
        return self.information_set.name

    def payoffs(self) -> tuple[float, ...]:
        return self.cumulative_payoffs


@dataclass(frozen=True, eq=False)
class ExtensiveForm:
    """An extensive-form game given by all its nodes in preorder.

    Parameters
    ----------
    name
        Name of the game.
    players
        Number of players.
    nodes
        All nodes in preorder, as the readers of this module make them.
    unit
        Unit of payoffs.

    Examples
    --------
    >>> loads_efg('EFG 2 R "done" { "A" } t "" 1 "" { 1 }').root().payoffs()
    (1.0,)
    """

    name: str
    players: int
    nodes: list[_EfgNode] = field(repr=False)
    unit: str = "points"

    def root(self) -> _EfgNode:
        """Return the root node."""
        return self.nodes[0]


# --- tokens ---


class _GambitReader:
    """Reader of the tokens of a file, with one token of lookahead."""

    def __init__(self, text: str, path: str, grown: BuildMonitor) -> None:
        self._text, self._path, self._monitor = text, path, grown
        self.line = 0  # line of the last token read
        self._start, self._start_line, self._after = 0, 1, 0  # start of the next token, its line, and its end
        self._scan()

    def _scan(self) -> None:
        token = _TOKEN.match(self._text, self._after)
        assert token is not None  # the pattern has a case for every text
        self.kind = str(token.lastgroup)
        before, self._start = self._start, token.start(self.kind)
        self._start_line += self._text.count("\n", before, self._start)
        self._value, self._after = token[self.kind], token.end()
        self._monitor(self._start_line)
        if self.kind == "open":
            self.fail_ahead('a text starts here and never ends: its closing " is missing')

    def fail(self, problem: str, line: int | None = None) -> NoReturn:
        """Raise GameFileError with the line of the last token read, or another line."""
        raise GameFileError(self._path, line or self.line, problem)

    def fail_ahead(self, problem: str) -> NoReturn:
        """Raise GameFileError with the line of the next token, at most the last line that is not blank."""
        last_line = self._text.rstrip().count("\n") + 1
        raise GameFileError(self._path, min(self._start_line, last_line), problem)

    def describe_next(self) -> str:
        """Describe the next token, for messages."""
        if self.kind == "end":
            return "the file ends too early"
        shown = self._value if len(self._value) <= 40 else self._value[:40] + "…"
        return f'found "{shown}"' if self.kind == "text" else f"found {shown}"

    def expect(self, kind: str, wanted: str, pattern: str = "") -> str:
        """Read the next token, or fail unless it is of this kind and matches the pattern.

        `kind` is a group of _TOKEN; `wanted` says in messages what was expected.
        """
        if self.kind != kind or (pattern and not re.fullmatch(pattern, self._value)):
            # The missing token often belongs to the end of an earlier line.
            after = f" (after line {self.line})" if 0 < self.line < self._start_line and self.kind != "end" else ""
            self.fail_ahead(f"expected {wanted}, but {self.describe_next()}{after}")
        taken, self.line = self._value, self._start_line
        self._scan()
        return taken

    def text(self, wanted: str) -> str:
        """Read a quoted text; a backslash escapes a quote or a backslash."""
        return re.sub(r'\\(["\\])', r"\1", self.expect("text", f"{wanted} in quotes"))

    def optional_text(self, wanted: str) -> str | None:
        """Read a quoted text, or return None if the next token is not one."""
        return self.text(wanted) if self.kind == "text" else None

    def integer(self, wanted: str) -> int:
        """Read an integer."""
        return int(self.expect("word", f"{wanted}, a whole number", "[+-]?[0-9]{1,18}"))

    def number(self, wanted: str) -> float:
        """Read an integer, a decimal or a fraction."""
        word = self.expect("word", f"{wanted}, a number like 2, -0.5, 1e-3 or 1/3", _NUMBER)
        numerator, _, denominator = word.partition("/")
        divisor = float(denominator or 1)
        value = float(numerator) / divisor if divisor else math.inf
        if not math.isfinite(value):
            self.fail(f"{wanted}: {word} is not a finite number")
        return value

    def braced_list(self, wanted: str, item: Callable[[], _T]) -> list[_T]:
        """Read all items between braces; `item` reads one."""
        self.expect("left", f"{{ before {wanted}")
        items = []
        while self.kind != "right":
            items.append(item())
        self.expect("right", "}")
        return items

    def expect_end(self, whole: str) -> None:
        """Raise GameFileError if anything follows the game; `whole` names it: the tree or the table."""
        if self.kind != "end":
            self.fail_ahead(
                f"{whole} is complete, but more follows: {self.describe_next()}; remove it, or check the lines above"
            )

    def prologue(self, form: str, version: int) -> tuple[str, int]:
        """Read `FORM version R "title" { players }`; return the title and the number of players."""
        self.expect("word", f"{form}, as an .{form.lower()} file begins", form)
        actual = self.integer("the version")
        if actual != version:
            self.fail(f"{form} version {actual}: only version {version} is supported; save the file again with Gambit")
        self.expect("word", "R or D, the kind of numbers", "[RD]")
        title = self.text("the title")
        players = len(self.braced_list("the players", lambda: self.text("a player's name")))
        if not players:
            self.fail('the game has no players; name them like { "Player 1" "Player 2" }')
        return title, players


def _unique_labels(labels: Sequence[str]) -> tuple[str, ...]:
    """Make labels unique: repeated ones get a number, empty ones are named by position."""
    times, taken = Counter(labels), set(labels)
    numbers: dict[str, Iterator[int]] = {}  # continue after the last use: files may repeat one label often
    result = []
    for position, label in enumerate(labels, 1):
        if not label or times[label] > 1:
            stem, number = (f"{label}_", numbers.setdefault(label, count(1))) if label else ("m", count(position))
            label = next(name for k in number if (name := f"{stem}{k}") not in taken)
            taken.add(label)
        result.append(label)
    return tuple(result)


# --- trees ---


def _parse_efg(reader: _GambitReader, name: str) -> ExtensiveForm:
    title, players = reader.prologue("EFG", 2)
    reader.optional_text("the comment")
    return ExtensiveForm(name or title or "efg", players, _EfgBuilder(reader, players).read())


class _EfgBuilder:
    """Reader of the nodes of a tree, which are in preorder."""

    def __init__(self, reader: _GambitReader, players: int) -> None:
        self.reader, self.players = reader, players
        self.moves: dict[tuple[int, int], _EfgInformationSet] = {}  # information sets by player (or CHANCE) and number
        self.outcomes: dict[int, tuple[tuple[float, ...], int]] = {}  # by number: payoffs and line

    def read(self) -> list[_EfgNode]:
        """Read nodes until the tree is complete, and name the information sets."""
        reader = self.reader
        nodes: list[_EfgNode] = []
        # Nodes on the current path that lack children, from the root down, with their lines.
        unfinished: list[tuple[_EfgNode, int]] = []
        while unfinished or not nodes:
            if reader.kind == "end":
                reason = f"the node in line {unfinished[-1][1]} has more actions" if nodes else "there are no nodes"
                reader.fail_ahead(f"the file ends too early: {reason}")
            kind, line = reader.expect("word", "a node: c, p or t", "[cpt]"), reader.line
            reader.text("the node's name")
            information_set = self._read_information_set(kind) if kind != "t" else _TERMINAL_NODE
            payoffs = self._read_outcome()
            if unfinished:
                parent = unfinished[-1][0]
                parent.children.append(len(nodes))
                payoffs = tuple(a + b for a, b in zip(parent.cumulative_payoffs, payoffs, strict=True))
            nodes.append(_EfgNode(nodes, information_set, payoffs))
            unfinished.append((nodes[-1], line))
            while unfinished and len(unfinished[-1][0].children) == len(unfinished[-1][0].actions()):
                unfinished.pop()
        reader.expect_end("the tree")
        self._name_information_sets()
        return nodes

    def _read_information_set(self, kind: str) -> _EfgInformationSet:
        """Read the information set of a node; a later mention must agree with the first and may be shorter."""
        reader = self.reader
        actor = reader.integer("the player") - 1 if kind == "p" else CHANCE
        if kind == "p" and not 0 <= actor < self.players:
            reader.fail(f"player {actor + 1}: this file has players 1 to {self.players}")
        number, line = reader.integer("the information set"), reader.line
        description = f"information set {number} of {'chance' if actor == CHANCE else f'player {actor + 1}'}"
        known = self.moves.get((actor, number))
        label = reader.optional_text("its name")
        if reader.kind == "left":
            labels, probabilities = self._read_actions(description, actor, line)
        elif known:
            labels, probabilities = known.raw_actions, known.probabilities
        else:
            reader.fail_ahead(
                f'expected the actions of {description}, like {{ "a" "b" }}, but {reader.describe_next()}'
            )
        if not known:
            known = _EfgInformationSet(actor, label or "", labels, _unique_labels(labels), probabilities, line)
            self.moves[actor, number] = known
        if (labels, probabilities) != (known.raw_actions, known.probabilities):
            before, here = _moves_text(known.raw_actions, known.probabilities), _moves_text(labels, probabilities)
            reader.fail(f"{description} has the actions {before} in line {known.line}, but here {here}", line)
        if label is not None and label != known.label:
            reader.fail(f'{description} is called "{known.label}" in line {known.line}, but here "{label}"', line)
        return known

    def _read_actions(self, place: str, actor: int, line: int) -> tuple[tuple[str, ...], tuple[float, ...]]:
        """Read labels of actions between braces, and probabilities for chance; a player has no probabilities.

        `place` names the information set in messages.
        """
        reader = self.reader

        def item() -> tuple[str, float]:
            return reader.text("an action"), reader.number("a probability") if actor == CHANCE else 0.0

        pairs = reader.braced_list(f"the actions of {place}", item)
        if not pairs:
            reader.fail(f"{place} has no actions; a terminal node is written with t", line)
        labels, probabilities = zip(*pairs, strict=True)
        if actor != CHANCE:
            return labels, ()
        if min(probabilities) < 0:
            reader.fail(f"{place} has a probability of {min(probabilities):g}: must not be negative", line)
        total = math.fsum(probabilities)
        if abs(total - 1) > _TOLERANCE:
            reader.fail(f"the probabilities of {place} sum to {total:.12g}, not to 1; write thirds as 1/3", line)
        return labels, probabilities

    def _read_outcome(self) -> tuple[float, ...]:
        """Read a node's outcome and return its payoff to each player; zeros for outcome 0, which means none."""
        reader = self.reader
        number, line = reader.integer("the outcome"), reader.line
        label = reader.optional_text("its name")
        has_payoffs = reader.kind == "left"
        if number == 0:
            if has_payoffs or label is not None:
                reader.fail(
                    "outcome 0 means that there is none: it cannot have a name or payoffs; use another number", line
                )
            return (0.0,) * self.players
        if not has_payoffs:
            if number not in self.outcomes:
                reader.fail(f"outcome {number} has no payoffs, neither here nor in an earlier line", line)
            return self.outcomes[number][0]
        payoffs = tuple(reader.braced_list(f"the payoffs of outcome {number}", lambda: reader.number("a payoff")))
        if len(payoffs) != self.players:
            reader.fail(f"outcome {number} has {len(payoffs)} payoffs for {self.players} players", line)
        known, before = self.outcomes.setdefault(number, (payoffs, line))
        if payoffs != known:
            earlier, here = (" ".join(f"{x:g}" for x in row) for row in (known, payoffs))
            reader.fail(f"outcome {number} pays {earlier} in line {before}, but here {here}; use another number", line)
        return payoffs

    def _name_information_sets(self) -> None:
        """Name information sets by their labels if these are unique, else by number."""
        decisions = {key: infoset for key, infoset in self.moves.items() if key[0] != CHANCE}
        by_number = {f"P{player + 1}.{number}": infoset for (player, number), infoset in decisions.items()}
        times = Counter(infoset.label for infoset in decisions.values())
        for name, infoset in by_number.items():
            # The label of one information set may look like the number of another.
            usable = infoset.label and times[infoset.label] == 1 and by_number.get(infoset.label, infoset) is infoset
            infoset.name = infoset.label if usable else name


def _moves_text(labels: tuple[str, ...], probabilities: tuple[float, ...]) -> str:
    shown = [f'"{label}"' for label in labels]
    if probabilities:
        shown = [f"{label} {p:g}" for label, p in zip(shown, probabilities, strict=True)]
    return f"{{ {' '.join(shown)} }}"


# --- tables ---


def _parse_nfg(reader: _GambitReader, name: str) -> NormalForm:
    title, players = reader.prologue("NFG", 1)
    strategies = reader.braced_list("the strategies", lambda: _parse_strategies(reader))
    if len(strategies) != players:
        reader.fail(f"strategies of {len(strategies)} players for {players} players")
    reader.optional_text("the comment")
    widths = [width for width, _ in strategies]
    cells = math.prod(widths)
    if reader.kind == "left":
        outcomes = reader.braced_list("the outcomes", lambda: _parse_outcome(reader, players))
        rows = [_parse_outcome_number(reader, outcomes, players, f"{cell + 1} of {cells}") for cell in range(cells)]
    else:
        rows = [_parse_payoffs(reader, players, f"for combination {cell + 1} of {cells}") for cell in range(cells)]
    reader.expect_end("the table")
    # The first player's strategy varies fastest, which is NumPy's Fortran order.
    table = np.ascontiguousarray(np.array(rows).reshape((*widths, players), order="F"))
    labels = tuple(_unique_labels(given or [str(k + 1) for k in range(width)]) for width, given in strategies)
    return NormalForm(table, labels, name or title or "nfg")


def _parse_strategies(reader: _GambitReader) -> tuple[int, list[str]]:
    """Parse the strategies of a player: their number, and their labels if the file has them."""
    if reader.kind == "left":
        labels = reader.braced_list("the strategies of a player", lambda: reader.text("a strategy"))
        width = len(labels)
    else:
        labels, width = [], reader.integer("the number of strategies of a player")
    if width < 1:
        reader.fail(f"a player with {width} strategies: each needs at least one")
    return width, labels


def _parse_payoffs(reader: _GambitReader, players: int, where: str) -> list[float]:
    """Parse the payoff of each player."""
    return [reader.number(f"the payoff of player {p + 1} {where}") for p in range(players)]


def _parse_outcome(reader: _GambitReader, players: int) -> list[float]:
    """Parse one outcome in braces, an optional name and a payoff for each player; return the payoffs."""
    reader.expect("left", "{ before an outcome")
    description = f'outcome "{reader.optional_text("its name") or ""}"'
    payoffs = _parse_payoffs(reader, players, f"in {description}")
    reader.expect("right", f"}} after the {players} payoffs of {description}")
    return payoffs


def _parse_outcome_number(reader: _GambitReader, outcomes: list[list[float]], players: int, cell: str) -> list[float]:
    """Parse the outcome number of one combination of strategies, and return its payoffs."""
    number = reader.integer(f"the outcome of combination {cell}")
    if not 0 <= number <= len(outcomes):
        reader.fail(f"outcome {number}: the list above has outcomes 1 to {len(outcomes)}, and 0 means none")
    return outcomes[number - 1] if number else [0.0] * players
