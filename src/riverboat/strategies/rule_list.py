"""Rule lists: a strategy as lines that a person can read, edit and learn.

    # what stands behind a hash is a comment
    if facing and made >= top pair: 30% raise 1 pot, 70% call
    if facing and not flush draw: fold
    otherwise: check

The first line whose tests all hold decides; the last has none. What is tested are features (`Feature`): flags, numbers,
shares in %, and levels in an order such as made hands. A move that cannot be made has its natural stand-in: who would fold
for free checks, and who cannot raise calls. So one line may speak of many decisions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple, TypeAlias

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, shown, unknown

FLAG, SHARE, NUMBER, LEVEL, CHOICE = "flag", "share", "number", "level", "choice"
HAND, BOARD, SITUATION = "hand", "board", "situation"  # what a feature speaks of, for sentences
FOLD, CALL, RAISE, OTHER = "fold", "call", "raise", "other"
MOST_RULES = 10_000
CLOSE = 1e-6

Columns: TypeAlias = Mapping[str, Array]  # features by name, float64 [n] each


@dataclass(frozen=True)
class Feature:
    """Something that can be seen at a decision, as a number: a flag is 0 or 1, a level or choice its place among `levels`."""

    name: str
    kind: str = FLAG
    about: str = HAND
    levels: tuple[str, ...] = ()
    yes: str = ""  # in a sentence, where a flag is there
    no: str = ""  # and where it is not
    effort: float = 1.0  # what a test of it costs a person, beside that of a flag

    def show(self, value: float) -> str:
        """A threshold as it is written."""
        if self.kind in (LEVEL, CHOICE):
            return self.levels[int(value)]
        return f"{100 * value:.10g}%" if self.kind == SHARE else f"{value:.10g}"

    def read(self, text: str) -> float:
        """What is written, as a number."""
        if self.kind in (LEVEL, CHOICE):
            if text not in self.levels:
                raise unknown(f"level of {self.name}", text, self.levels)
            return float(self.levels.index(text))
        try:
            value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            value = inf
        if not abs(value) < 1e12:
            example = "55%" if self.kind == SHARE else "3"
            raise InputError(f"{self.name} compared with {shown(text)}: write a number such as {example}")
        return value


class Condition(NamedTuple):
    """A feature at or above a value; of a choice, equal to it. Not so, where that is `wanted`."""

    feature: Feature
    value: float = 0.5
    wanted: bool = True

    def holds(self, columns: Columns) -> Array:
        """At which decisions. bool [n]"""
        x = columns[self.feature.name]
        true = (x == self.value) if self.feature.kind == CHOICE else (x >= self.value)
        held: Array = true == self.wanted
        return held

    def __str__(self) -> str:
        name, kind = self.feature.name, self.feature.kind
        if kind == FLAG:
            return name if self.wanted else f"not {name}"
        sign = ("is" if self.wanted else "is not") if kind == CHOICE else (">=" if self.wanted else "<")
        return f"{name} {sign} {self.feature.show(self.value)}"


class Move(NamedTuple):
    """What is meant by a move, whatever it is called where it is made."""

    kind: str
    size: float = 0.0  # of a raise: a share of the pot after a call; 0 the least or only one, infinite all-in
    label: str = ""  # of a move that is none of poker's

    def __str__(self) -> str:
        if self.kind != RAISE:
            return self.label or self.kind
        return "raise" if self.size == 0 else "all-in" if self.size == inf else f"raise {self.size:.3g} pot"


class Rule(NamedTuple):
    """Where all tests hold, moves with their probabilities."""

    tests: tuple[Condition, ...]
    mix: tuple[tuple[Move, float], ...]

    def __str__(self) -> str:
        parts = [(move, p) for move, p in self.mix if p > 0]
        moves = str(parts[0][0]) if len(parts) == 1 else ", ".join(f"{_percent(p)}% {move}" for move, p in parts)
        return f"if {' and '.join(map(str, self.tests))}: {moves}" if self.tests else f"otherwise: {moves}"


def _percent(share: float) -> str:
    return f"{100 * share:.6g}"


@dataclass(frozen=True)
class RuleList:
    """Rules in their order, the last without tests."""

    features: tuple[Feature, ...]
    rules: tuple[Rule, ...]

    def __post_init__(self) -> None:
        if not self.rules or self.rules[-1].tests:
            raise InputError("rules: the last one has no tests: end with a line such as 'otherwise: check'")
        if len(self.rules) > MOST_RULES:
            raise InputError(f"{len(self.rules):,} rules: at most {MOST_RULES:,} are read")

    def __len__(self) -> int:
        return len(self.rules)

    @property
    def moves(self) -> tuple[Move, ...]:
        """All moves that are named, in the order of their names first met."""
        return tuple(dict.fromkeys(move for rule in self.rules for move, _ in rule.mix))

    def needed(self) -> set[str]:
        """Names of the features that are tested."""
        return {test.feature.name for rule in self.rules for test in rule.tests}

    def which(self, columns: Columns, count: int) -> Array:
        """Number of the rule that decides each of so many decisions. int64 [n]"""
        numbers = np.full(count, len(self.rules) - 1)
        free = np.ones(count, bool)
        for number, rule in enumerate(self.rules[:-1]):
            hit = free.copy()
            for test in rule.tests:
                hit &= test.holds(columns)
            numbers[hit] = number
            free &= ~hit
        return numbers

    def mixes(self, moves: Sequence[Move]) -> Array:
        """Probabilities of the rules over some moves. float64 [rules, moves]"""
        out = np.zeros((len(self.rules), len(moves)))
        for number, rule in enumerate(self.rules):
            for move, p in rule.mix:
                out[number, _column(move, moves)] += p
        return out

    def decide(self, columns: Columns, moves: Sequence[Move], possible: Array) -> Array:
        """What is played at n decisions. bool [n, moves] -> float64 [n, moves]"""
        return stand_in(self.mixes(moves)[self.which(columns, len(possible))], moves, possible)

    def tests_read(self, columns: Columns, count: int) -> Array:
        """Tests that are looked at until a rule decides, when each is given up at its first failure. int64 [n]"""
        out, free = np.zeros(count, np.int64), np.ones(count, bool)
        for rule in self.rules[:-1]:
            hit = free.copy()
            for test in rule.tests:
                out += hit
                hit &= test.holds(columns)
            free &= ~hit
        return out

    # --- text -----------------------------------------------------------------------------------

    def __str__(self) -> str:
        return "\n".join(map(str, self.rules)) + "\n"

    @staticmethod
    def parse(text: str, features: Iterable[Feature]) -> RuleList:
        """A list as it is written."""
        known = {feature.name: feature for feature in features}
        rules: list[Rule] = []
        for number, line in enumerate(text.splitlines(), start=1):
            words = " ".join(line.partition("#")[0].split())
            if not words:
                continue
            if rules and not rules[-1].tests:
                raise InputError(
                    f"line {number}: {shown(words)} comes after 'otherwise', which decides all that is left"
                )
            try:
                rules.append(_rule(words, known))
            except InputError as error:
                raise InputError(f"line {number}: {error}") from None
            if len(rules) > MOST_RULES:
                raise InputError(f"line {number}: more than {MOST_RULES:,} rules")
        return RuleList(tuple(known.values()), tuple(rules))


_TEST = re.compile(r"(?P<name>.+?) (?P<sign>>=|<|is not|is) (?P<value>.+)")
_PART = re.compile(r"(?:(?P<percent>\d+(?:\.\d+)?) ?% )?(?P<move>.+)")
_RAISE = re.compile(r"(?:bet|raise)(?: (?P<size>\d+(?:\.\d+)?) ?(?:x )?pot)?")


def _rule(words: str, known: Mapping[str, Feature]) -> Rule:
    head, colon, tail = words.partition(":")
    if not colon or not (head == "otherwise" or head.startswith("if ")):
        raise InputError(f"{shown(words)}: write 'if FEATURE and FEATURE: MOVE' or 'otherwise: MOVE'")
    tests = tuple(_test(part, known) for part in head[3:].split(" and ")) if head != "otherwise" else ()
    parts = [_PART.fullmatch(part.strip()) for part in tail.split(",")]
    if not all(parts):
        raise InputError(f"{shown(tail.strip())}: write moves such as 'call' or '70% call, 30% raise 1 pot'")
    given = [part for part in parts if part is not None]
    if len(given) > 1 and not all(part["percent"] for part in given):
        raise InputError(f"{shown(tail.strip())}: of several moves each needs its share: '70% call, 30% fold'")
    mix = [(parse_move(part["move"]), float(part["percent"] or 100) / 100) for part in given]
    total = sum(p for _, p in mix)
    if abs(total - 1) > 0.011:  # shares of people are rounded
        raise InputError(f"{shown(tail.strip())}: the shares sum to {100 * total:g} %, not to 100 %")
    return Rule(tests, tuple((move, p / total) for move, p in mix))


def _test(words: str, known: Mapping[str, Feature]) -> Condition:
    words = words.strip()
    name = words.removeprefix("not ")
    if name in known and known[name].kind == FLAG:
        return Condition(known[name], 0.5, words == name)
    match = _TEST.fullmatch(words)
    if match is None or match["name"] not in known:
        raise unknown("feature", match["name"] if match else name, known)
    feature, sign = known[match["name"]], match["sign"]
    signs = ("is", "is not") if feature.kind == CHOICE else (">=", "<")
    if feature.kind == FLAG or sign not in signs:
        right = f"'{feature.name}'" if feature.kind == FLAG else f"'{feature.name} {signs[0]} …'"
        raise InputError(f"{shown(words)}: {feature.name} is a {feature.kind}: write {right}")
    return Condition(feature, feature.read(match["value"]), sign == signs[0])


def parse_move(text: str) -> Move:
    """`fold`, `check`, `call`, `bet`, `raise 0.75 pot`, `all-in`; any other word is a move of that name."""
    if text in ("fold", "check", "call"):
        return Move(FOLD if text == "fold" else CALL)
    if text == "all-in":
        return Move(RAISE, inf)
    match = _RAISE.fullmatch(text)
    if match:
        return Move(RAISE, float(match["size"] or 0))
    if text.startswith(("bet", "raise", "call", "fold", "check")):
        raise InputError(f"move {shown(text)}: write fold, check, call, raise, 'raise 0.75 pot' or all-in")
    return Move(OTHER, 0.0, text)


# --- moves that cannot be made ------------------------------------------------------------------


def _column(move: Move, moves: Sequence[Move]) -> int:
    """The place of a move, or of the raise that is nearest in size."""
    if move in moves:
        return moves.index(move)
    raises = [k for k, other in enumerate(moves) if other.kind == RAISE]
    if move.kind == RAISE and raises:
        return min(raises, key=lambda k: abs(_log(moves[k].size) - _log(move.size)))
    if move.kind == OTHER:
        raise unknown("move", move.label, [str(m) for m in moves])
    calls = [k for k, other in enumerate(moves) if other.kind == CALL]
    if not calls:
        raise unknown("move", str(move), [str(m) for m in moves])
    return calls[0]


def _log(size: float) -> float:
    """Sizes are compared as ratios; all-in is a very large one."""
    return float(np.log(min(max(size, 1e-3), 1e3)))


def stand_in(mix: Array, moves: Sequence[Move], possible: Array) -> Array:
    """Give the weight of moves that cannot be made to others: of a fold to the check, of a raise to the raise that is nearest
    in size or to the call, of other moves to all that can be made. float64 [n, moves] -> float64 [n, moves]
    """
    out = np.where(possible, mix, 0.0)
    calls = [k for k, move in enumerate(moves) if move.kind == CALL]
    raises = [k for k, move in enumerate(moves) if move.kind == RAISE]
    for k, move in enumerate(moves):
        lost = np.where(possible[:, k], 0.0, mix[:, k])
        if move.kind == RAISE:
            for other in sorted(
                (r for r in raises if r != k), key=lambda r: abs(_log(moves[r].size) - _log(move.size))
            ):
                takes = np.where(possible[:, other], lost, 0.0)
                out[:, other] += takes
                lost = lost - takes
        if move.kind != OTHER and calls:
            out[:, calls[0]] += lost
    total = out.sum(axis=1, keepdims=True)
    free = possible / np.maximum(possible.sum(axis=1, keepdims=True), 1)
    return np.where(total > 1e-12, out / np.where(total > 1e-12, total, 1.0), free)
