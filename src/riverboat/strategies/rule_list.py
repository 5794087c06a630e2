"""Rule lists: a strategy as lines that a person can read, edit and learn.

    # a comment starts with a hash
    if facing and made >= top pair: 30% raise 1 pot, 70% call
    if facing and not flush draw: fold
    otherwise: check

The first line whose conditions all hold decides; the last line has none. Conditions test features (`DecisionFeature`):
flags, numbers, shares in %, and ordered levels such as made hands. An illegal action has a natural substitute: a fold
without a bet becomes a check, and an impossible raise becomes a call. So one line can cover many decisions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple, TypeAlias

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, short_repr, unknown_name_error
from riverboat.core.validation import check_name

FLAG, SHARE, NUMBER, LEVEL, CHOICE = "flag", "share", "number", "level", "choice"
HAND, BOARD, SITUATION = "hand", "board", "situation"  # what a feature describes, for sentences
FOLD, CALL, RAISE, OTHER = "fold", "call", "raise", "other"
MAX_RULES = 10_000
TOLERANCE = 1e-6

FeatureColumns: TypeAlias = Mapping[str, Array]  # features by name, float64 [n] each


@dataclass(frozen=True)
class DecisionFeature:
    """A numeric feature of a decision: a flag is 0 or 1, a level or choice is an index into `levels`."""

    name: str
    kind: str = FLAG
    subject: str = HAND
    levels: tuple[str, ...] = ()
    phrase_if_true: str = ""  # wording in a sentence if a flag is set
    phrase_if_false: str = ""  # wording if it is not set
    effort: float = 1.0  # a person's effort for a test, relative to a flag

    def format_value(self, value: float) -> str:
        """Format a threshold of the feature: the name of a level, a percentage for shares, or a number."""
        if self.kind in (LEVEL, CHOICE):
            return self.levels[int(value)]
        return f"{100 * value:.10g}%" if self.kind == SHARE else f"{value:.10g}"

    def parse_value(self, text: str) -> float:
        """Parse a threshold of the feature, as `format_value` writes it; raise `InputError` if it is invalid."""
        if self.kind in (LEVEL, CHOICE):
            check_name(f"level of {self.name}", text, self.levels)
            return float(self.levels.index(text))
        try:
            value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            value = inf
        if not abs(value) < 1e12:
            example = "55%" if self.kind == SHARE else "3"
            raise InputError(f"{self.name} compared with {short_repr(text)}: write a number such as {example}")
        return value


class FeatureCondition(NamedTuple):
    """Condition of a rule: a feature is at or above a value, or equals it for a choice; `wanted=False` negates it."""

    feature: DecisionFeature
    value: float = 0.5
    wanted: bool = True

    def holds(self, columns: FeatureColumns) -> Array:
        """Return whether the condition holds at each decision. bool [n]"""
        x = columns[self.feature.name]
        true = (x == self.value) if self.feature.kind == CHOICE else (x >= self.value)
        result: Array = true == self.wanted
        return result

    def __str__(self) -> str:
        name, kind = self.feature.name, self.feature.kind
        if kind == FLAG:
            return name if self.wanted else f"not {name}"
        sign = ("is" if self.wanted else "is not") if kind == CHOICE else (">=" if self.wanted else "<")
        return f"{name} {sign} {self.feature.format_value(self.value)}"


class RuleAction(NamedTuple):
    """An action of a rule, independent of its label in a game."""

    kind: str
    size: float = 0.0  # size of a raise in pots after a call; 0: the smallest or only raise, infinity: all-in
    label: str = ""  # name of an action other than fold, call and raise

    def __str__(self) -> str:
        if self.kind != RAISE:
            return self.label or self.kind
        return "raise" if self.size == 0 else "all-in" if self.size == inf else f"raise {self.size:.3g} pot"


class DecisionRule(NamedTuple):
    """Conditions, and a mixture of actions that is played if all of them hold."""

    tests: tuple[FeatureCondition, ...]
    mix: tuple[tuple[RuleAction, float], ...]

    def __str__(self) -> str:
        parts = [(action, p) for action, p in self.mix if p > 0]
        actions = str(parts[0][0]) if len(parts) == 1 else ", ".join(f"{100 * p:.6g}% {action}" for action, p in parts)
        return f"if {' and '.join(map(str, self.tests))}: {actions}" if self.tests else f"otherwise: {actions}"


@dataclass(frozen=True)
class RuleList:
    """Rules in order of precedence; the last one has no conditions."""

    features: tuple[DecisionFeature, ...]
    rules: tuple[DecisionRule, ...]

    def __post_init__(self) -> None:
        if not self.rules or self.rules[-1].tests:
            raise InputError("rules: the last one must have no conditions: end with a line such as 'otherwise: check'")
        if len(self.rules) > MAX_RULES:
            raise InputError(f"{len(self.rules):,} rules: at most {MAX_RULES:,} are allowed")

    def __len__(self) -> int:
        return len(self.rules)

    @property
    def moves(self) -> tuple[RuleAction, ...]:
        """All actions of the rules, in order of first occurrence."""
        return tuple(dict.fromkeys(move for rule in self.rules for move, _ in rule.mix))

    def tested_features(self) -> set[str]:
        """Return the names of the features that conditions test."""
        return {test.feature.name for rule in self.rules for test in rule.tests}

    def deciding_rules(self, columns: FeatureColumns, count: int) -> Array:
        """Return the index of the rule that decides each of `count` decisions. int64 [n]"""
        return self._decide(columns, count)[0]

    def num_tests_evaluated(self, columns: FeatureColumns, count: int) -> Array:
        """Count the tests until a rule decides; a rule is abandoned at its first failed test. int64 [n]"""
        return self._decide(columns, count)[1]

    def _decide(self, columns: FeatureColumns, count: int) -> tuple[Array, Array]:
        numbers, num_tests = np.full(count, len(self.rules) - 1), np.zeros(count, np.int64)
        undecided = np.ones(count, bool)
        for number, rule in enumerate(self.rules[:-1]):
            hit = undecided.copy()
            for test in rule.tests:
                num_tests += hit
                hit &= test.holds(columns)
            numbers[hit] = number
            undecided &= ~hit
        return numbers, num_tests

    def action_mixes(self, moves: Sequence[RuleAction]) -> Array:
        """Return each rule's probabilities of the actions `moves`. float64 [rules, actions]

        An action that is not in `moves` counts as the raise nearest in size, or as a call.
        """
        out = np.zeros((len(self.rules), len(moves)))
        for number, rule in enumerate(self.rules):
            for move, p in rule.mix:
                out[number, _nearest_column(move, moves)] += p
        return out

    def action_probabilities(self, columns: FeatureColumns, moves: Sequence[RuleAction], possible: Array) -> Array:
        """Return action probabilities at n decisions from their features. float64 [n, actions]

        `possible` marks the legal actions at each decision, bool [n, actions]; illegal ones are replaced.
        """
        mixes = self.action_mixes(moves)[self.deciding_rules(columns, len(possible))]
        return replace_illegal_moves(mixes, moves, possible)

    # --- text -----------------------------------------------------------------------------------

    def __str__(self) -> str:
        return "\n".join(map(str, self.rules)) + "\n"

    @staticmethod
    def parse(text: str, features: Iterable[DecisionFeature]) -> RuleList:
        """Parse a rule list whose conditions may test the given features; errors name the line."""
        features_by_name = {feature.name: feature for feature in features}
        rules: list[DecisionRule] = []
        for number, line in enumerate(text.splitlines(), start=1):
            rule_text = " ".join(line.partition("#")[0].split())
            if not rule_text:
                continue
            if rules and not rules[-1].tests:
                raise InputError(
                    f"line {number}: {short_repr(rule_text)} comes after 'otherwise', which decides all remaining cases"
                )
            try:
                rules.append(_parse_rule(rule_text, features_by_name))
            except InputError as error:
                raise InputError(f"line {number}: {error}") from None
            if len(rules) > MAX_RULES:
                raise InputError(f"line {number}: more than {MAX_RULES:,} rules")
        return RuleList(tuple(features_by_name.values()), tuple(rules))


_CONDITION_PATTERN = re.compile(r"(?P<name>.+?) (?P<sign>>=|<|is not|is) (?P<value>.+)")
_MOVE_PATTERN = re.compile(r"(?:(?P<percent>\d+(?:\.\d+)?) ?% )?(?P<move>.+)")
_RAISE_PATTERN = re.compile(r"(?:bet|raise)(?: (?P<size>\d+(?:\.\d+)?) ?(?:x )?pot)?")


def _parse_rule(words: str, known: Mapping[str, DecisionFeature]) -> DecisionRule:
    head, colon, tail = words.partition(":")
    if not colon or not (head == "otherwise" or head.startswith("if ")):
        raise InputError(f"{short_repr(words)}: write 'if FEATURE and FEATURE: MOVE' or 'otherwise: MOVE'")
    tests = tuple(_parse_condition(part, known) for part in head[3:].split(" and ")) if head != "otherwise" else ()
    parts = [_MOVE_PATTERN.fullmatch(part.strip()) for part in tail.split(",")]
    if not all(parts):
        raise InputError(f"{short_repr(tail.strip())}: write moves such as 'call' or '70% call, 30% raise 1 pot'")
    matches = [part for part in parts if part is not None]
    if len(matches) > 1 and not all(part["percent"] for part in matches):
        raise InputError(f"{short_repr(tail.strip())}: each of several moves needs a share: '70% call, 30% fold'")
    mix = [(parse_move(part["move"]), float(part["percent"] or 100) / 100) for part in matches]
    total = sum(p for _, p in mix)
    if abs(total - 1) > 0.011:  # people round shares
        raise InputError(f"{short_repr(tail.strip())}: the shares sum to {100 * total:g} %, not to 100 %")
    return DecisionRule(tests, tuple((move, p / total) for move, p in mix))


def _parse_condition(words: str, known: Mapping[str, DecisionFeature]) -> FeatureCondition:
    words = words.strip()
    name = words.removeprefix("not ")
    if name in known and known[name].kind == FLAG:
        return FeatureCondition(known[name], 0.5, words == name)
    match = _CONDITION_PATTERN.fullmatch(words)
    if match is None or match["name"] not in known:
        raise unknown_name_error("feature", match["name"] if match else name, known)
    feature, sign = known[match["name"]], match["sign"]
    signs = ("is", "is not") if feature.kind == CHOICE else (">=", "<")
    if feature.kind == FLAG or sign not in signs:
        right = f"'{feature.name}'" if feature.kind == FLAG else f"'{feature.name} {signs[0]} …'"
        raise InputError(f"{short_repr(words)}: {feature.name} is a {feature.kind}: write {right}")
    return FeatureCondition(feature, feature.parse_value(match["value"]), sign == signs[0])


def parse_move(text: str) -> RuleAction:
    """Parse `fold`, `check`, `call`, `bet`, `raise 0.75 pot` or `all-in`; any other word is an action of that name."""
    if text in ("fold", "check", "call"):
        return RuleAction(FOLD if text == "fold" else CALL)
    if text == "all-in":
        return RuleAction(RAISE, inf)
    match = _RAISE_PATTERN.fullmatch(text)
    if match:
        return RuleAction(RAISE, float(match["size"] or 0))
    if text.startswith(("bet", "raise", "call", "fold", "check")):
        raise InputError(f"move {short_repr(text)}: write fold, check, call, raise, 'raise 0.75 pot' or all-in")
    return RuleAction(OTHER, 0.0, text)


# --- illegal actions ----------------------------------------------------------------------------


def _nearest_column(move: RuleAction, moves: Sequence[RuleAction]) -> int:
    """Return the index of an action in `moves`; if it is missing, of the raise nearest in size, or of the call."""
    if move in moves:
        return moves.index(move)
    raises = [k for k, other in enumerate(moves) if other.kind == RAISE]
    if move.kind == RAISE and raises:
        return min(raises, key=lambda k: _size_distance(moves[k], move))
    calls = [k for k, other in enumerate(moves) if other.kind == CALL]
    if move.kind == OTHER or not calls:
        raise unknown_name_error("move", str(move), [str(m) for m in moves])
    return calls[0]


def _size_distance(one: RuleAction, other: RuleAction) -> float:
    """Return the absolute difference of the logarithms of two raise sizes; all-in is a very large size."""
    logarithms = [float(np.log(min(max(move.size, 1e-3), 1e3))) for move in (one, other)]
    return abs(logarithms[0] - logarithms[1])


def replace_illegal_moves(mix: Array, moves: Sequence[RuleAction], possible: Array) -> Array:
    """Move the probability of illegal actions to legal ones. float64 [n, actions] -> float64 [n, actions]

    A fold becomes a check, and a raise the raise nearest in size or a call. The probability of other actions is shared
    by the legal ones in proportion to theirs, or equally. `possible` marks the legal actions, bool [n, actions].
    """
    out = np.where(possible, mix, 0.0)
    calls = [k for k, move in enumerate(moves) if move.kind == CALL]
    raises = [k for k, move in enumerate(moves) if move.kind == RAISE]
    for k, move in enumerate(moves):
        lost = np.where(possible[:, k], 0.0, mix[:, k])
        if move.kind == RAISE:
            for other in sorted((r for r in raises if r != k), key=lambda r: _size_distance(moves[r], move)):
                moved = np.where(possible[:, other], lost, 0.0)
                out[:, other] += moved
                lost = lost - moved
        if move.kind != OTHER and calls:
            out[:, calls[0]] += lost
    total = out.sum(axis=1, keepdims=True)
    uniform = possible / np.maximum(possible.sum(axis=1, keepdims=True), 1)
    return np.where(total > 1e-12, out / np.where(total > 1e-12, total, 1.0), uniform)
