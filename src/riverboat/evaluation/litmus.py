"""Litmus checks: tests of basic poker sense for any agent that has strategies for all hands.

    report = run_litmus(agent, rules)                  # with the checks that come with the package
    report.num_failed, report.failures[0].reason

Checks are data: `[[check]]` tables of a TOML file (`shipped_checks`, `litmus.toml`). A failure names the line and the
board in table notation, the hand, and the agent's probabilities there. A check is skipped if the game has no such
public state, or if the agent never reaches it with the hands of the check.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from importlib import resources
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from riverboat.cards.notation import format_cards, parse_cards
from riverboat.cards.ranges import Range
from riverboat.cards.ranking import hand_strengths
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, located_errors, short_repr, unknown_name_error
from riverboat.core.files import parse_toml, read_toml_text
from riverboat.games.holdem.actions import CALL, FOLD
from riverboat.games.holdem.bet_sizes import parse_sizes, size_total
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.match_state import format_deal, format_match_state
from riverboat.games.holdem.public_states import PublicStates
from riverboat.games.holdem.rules import PokerRules
from riverboat.strategies.public_strategy import PublicPolicy, iterate_strategies, reach_probabilities
from riverboat.strategies.queries import hand_names

# --- Files of checks ---

# Keys that each kind needs in addition to lines; the methods `_check_…` are named after the kinds.
REQUIRED_KEYS = {
    "never": ("move", "hands"),
    "more": ("move", "hands", "than"),
    "monotone": (),
    "sizes": ("sizes",),
    "cheap": (),
}
SIZES = "sizes"
_ACTION_VERB = {"fold": "folds", "call": "checks or calls", "raise": "raises"}  # in the order of columns
ANY, NUTS = "any", "nuts"
CHECK_DOWN, MIN_RAISE, ALL_IN, SIZE_PLACEHOLDER = "~", "min", "a", "?"
MAX_BOARDS = 1000
MAX_LINES = 100


@dataclass(frozen=True)
class LitmusCheck:
    """One check, as a file of checks defines it.

    Attributes
    ----------
    name
        Name of the check.
    kind
        "never": `hands` do not make the move; "more": `hands` make it more often than `than`; "monotone": stronger hands
        do not fold more often than weaker ones; "sizes": the agent does not fold more often to a smaller bet; "cheap":
        the agent does not fold so often that a bet wins with any two cards.
    lines
        Lines after which the agent is checked: `c`, `f`, bet sizes, `~` (check down), `min`, and `?` in checks of
        sizes.
    boards
        Complete boards, or the number to draw.
    move
        "fold", "call" or "raise".
    hands
        Range of the check, "any" or "nuts".
    than
        Range to compare with, "any" or "nuts".
    sizes
        Bet sizes in place of `?`.
    tolerance
        Probability by which the agent may miss.

    Examples
    --------
    >>> from riverboat.evaluation.litmus import LitmusCheck
    >>> LitmusCheck("no open folds", "never", ("",), move="fold", hands="AA").tolerance
    0.0
    """

    name: str
    kind: str
    lines: tuple[str, ...]
    boards: tuple[tuple[int, ...], ...] | int = 0  # complete boards, or the number to draw
    move: str = ""
    hands: str = ANY
    than: str = ANY
    sizes: tuple[str, ...] = ()
    tolerance: float = 0.0


def shipped_checks() -> tuple[LitmusCheck, ...]:
    """Return the checks that come with the package.

    Returns
    -------
    tuple of LitmusCheck
        The checks of `litmus.toml`.

    Examples
    --------
    >>> from riverboat.evaluation.litmus import shipped_checks
    >>> len(shipped_checks()) > 5
    True
    """
    text = resources.files("riverboat.evaluation").joinpath("litmus.toml").read_text(encoding="utf-8")
    return parse_checks(text, "litmus.toml")


def read_checks(path: str | Path) -> tuple[LitmusCheck, ...]:
    """Read checks from a user's file.

    Parameters
    ----------
    path
        TOML file with `[[check]]` tables.

    Returns
    -------
    tuple of LitmusCheck
        The checks.

    Raises
    ------
    InputError
        If the file cannot be read, or a check is invalid.

    Examples
    --------
    >>> from riverboat.evaluation.litmus import read_checks
    >>> read_checks("no-such-file.toml")
    Traceback (most recent call last):
    riverboat.core.errors.InputError: ...
    """
    return parse_checks(read_toml_text(path, "checks"), str(path))


def merge_checks(defaults: Sequence[LitmusCheck], overrides: Sequence[LitmusCheck]) -> tuple[LitmusCheck, ...]:
    """Merge two lists of checks; an override replaces the default of the same name.

    Parameters
    ----------
    defaults
        First list.
    overrides
        Second list.

    Returns
    -------
    tuple of LitmusCheck
        All checks, one for each name.

    Examples
    --------
    >>> from riverboat.evaluation.litmus import merge_checks, shipped_checks
    >>> merge_checks(shipped_checks(), shipped_checks()) == shipped_checks()
    True
    """
    return tuple({check.name: check for check in (*defaults, *overrides)}.values())


def parse_checks(text: str, where: str = "checks") -> tuple[LitmusCheck, ...]:
    """Parse the text of a file of checks.

    Parameters
    ----------
    text
        TOML text with `[[check]]` tables.
    where
        Origin of the text, for messages.

    Returns
    -------
    tuple of LitmusCheck
        The checks.

    Raises
    ------
    InputError
        If the text is not valid, or two checks have one name.

    Examples
    --------
    >>> from riverboat.evaluation.litmus import parse_checks
    >>> lines = "[[check]]", 'name = "aces"', 'kind = "never"', 'lines = ["c"]', 'move = "fold"', 'hands = "AA"'
    >>> parse_checks("\\n".join(lines))[0].hands
    'AA'
    """
    with located_errors(where):
        table = parse_toml(text)
    entries = table.get("check")
    if set(table) != {"check"} or not isinstance(entries, list) or not entries:
        raise InputError(f"{where}: must consist of [[check]] tables, each with name, kind and lines")
    checks = tuple(_parse_check(entry, f"{where}, check {number}") for number, entry in enumerate(entries, 1))
    names = [check.name for check in checks]
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise InputError(f"{where}: two checks are named {short_repr(repeated[0])}")
    return checks


def _parse_check(entry: Any, where: str) -> LitmusCheck:
    if not isinstance(entry, Mapping):
        raise InputError(f"{where}: {short_repr(entry)} is not a table; write [[check]]")
    keys = [field.name for field in fields(LitmusCheck)]
    for key in entry:
        if key not in keys:
            raise InputError(f"{where}: {unknown_name_error('entry', key, keys)}")
    name, kind = (_read_text(entry, key, where) for key in ("name", "kind"))
    where = f"{where} ({short_repr(name)})"
    if kind not in REQUIRED_KEYS:
        raise InputError(f"{where}: {unknown_name_error('kind', kind, REQUIRED_KEYS)}")
    for key in REQUIRED_KEYS[kind]:
        if key not in entry:
            raise InputError(f"{where}: a check of kind {kind} needs {key}")
    for key in ("move", "hands", "than", "sizes"):
        if key in entry and key not in REQUIRED_KEYS[kind]:
            raise InputError(f"{where}: {key} is not valid in checks of kind {kind}")
    tolerance = entry.get("tolerance", 0.0)
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float) or not 0 <= tolerance <= 1:
        raise InputError(f"{where}: tolerance = {short_repr(tolerance)}: must be a probability, 0 to 1")
    sizes = _read_texts(entry, "sizes", where) if kind == SIZES else ()
    for size in sizes:
        _check_size(size, f"{where}: sizes")
    lines, boards = _read_lines(entry, kind, where), _read_boards(entry.get("boards", 0), where)
    move = str(entry.get("move", ""))
    if "move" in entry and move not in _ACTION_VERB:
        raise InputError(f"{where}: {unknown_name_error('move', move, _ACTION_VERB)}")
    hands, than = (_read_hands(entry, key, where) for key in ("hands", "than"))
    return LitmusCheck(name, kind, lines, boards, move, hands, than, sizes, float(tolerance))


def _read_text(entry: Mapping[str, Any], key: str, where: str) -> str:
    text = entry.get(key)
    if not isinstance(text, str) or not text.strip() or not text.isprintable():
        raise InputError(f"{where}: {key} = {short_repr(text)}: must be text")
    return text


def _read_texts(entry: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    texts = entry.get(key)
    if not isinstance(texts, list) or not 0 < len(texts) <= MAX_LINES or not all(isinstance(x, str) for x in texts):
        raise InputError(f"{where}: {key} = {short_repr(texts)}: must be a list of 1 to {MAX_LINES} strings")
    return tuple(texts)


def _read_hands(entry: Mapping[str, Any], key: str, where: str) -> str:
    if key not in entry:
        return ANY
    text = _read_text(entry, key, where)
    if text not in (ANY, NUTS):
        try:
            Range.parse(text)
        except InputError as error:
            raise InputError(f"{where}: {key}: {error}; or write {ANY} or {NUTS}") from None
    return text


def _read_lines(entry: Mapping[str, Any], kind: str, where: str) -> tuple[str, ...]:
    lines = _read_texts(entry, "lines", where)
    for line in lines:
        if (line.split().count(SIZE_PLACEHOLDER) != 1) if kind == SIZES else SIZE_PLACEHOLDER in line.split():
            raise InputError(
                f"{where}: line {short_repr(line)}: use {SIZE_PLACEHOLDER} once in checks of kind {SIZES}, else not"
            )
        for word in line.replace("/", " ").split():
            if word not in ("c", "f", CHECK_DOWN, SIZE_PLACEHOLDER):
                _check_size(word, f"{where}: line {short_repr(line)}")
    return lines


def _check_size(word: str, where: str) -> None:
    if word != MIN_RAISE:
        try:
            parse_sizes(word, where)
        except InputError as error:
            raise InputError(f"{error}; or c, f, {MIN_RAISE}, {CHECK_DOWN}") from None


def _read_boards(boards: Any, where: str) -> tuple[tuple[int, ...], ...] | int:
    if isinstance(boards, int) and not isinstance(boards, bool) and 0 <= boards <= MAX_BOARDS:
        return boards
    if not isinstance(boards, list) or not 0 < len(boards) <= MAX_BOARDS or not all(isinstance(x, str) for x in boards):
        raise InputError(
            f"{where}: boards = {short_repr(boards)}: must be a list of boards such as 'AsKd7h2c9s', or the number to draw"
        )
    with located_errors(where):
        return tuple(parse_cards(board, "board") for board in boards)


MIN_REACH = 1e-3  # hands with a smaller reach probability are ignored

_SEED = 7  # seed of random boards
Cards = tuple[int, ...]


@dataclass(frozen=True)
class LitmusFailure:
    """Failure of a check at one public state.

    Attributes
    ----------
    check
        Name of the check.
    reason
        What the agent does wrong.
    line
        Actions that lead to the state.
    board
        Cards of the board.
    hand
        The hand; empty if the failure is about all hands together.
    probabilities
        Probabilities of fold, call and raise, with that hand or over all hands.
    excess
        Size of the violation, in probability; more than the check's tolerance.
    match_state
        Match state for `riverboat act`, if the failure is about one hand.

    Examples
    --------
    >>> from riverboat.evaluation.litmus import LitmusFailure
    >>> LitmusFailure("aces", "folds", "", "", "AsAh", {"fold": 1.0}, 1.0).record()["hand"]
    'AsAh'
    """

    check: str
    reason: str
    line: str
    board: str
    hand: str  # empty if the failure is about all hands together
    probabilities: dict[str, float]  # probabilities of fold, call and raise, with that hand or over all hands
    excess: float  # size of the violation, in probability; more than the check's tolerance
    match_state: str = ""  # for `riverboat act`, if it is about one hand

    def record(self) -> dict[str, Any]:
        """Return the failure as a JSON object."""
        return {key: value for key, value in asdict(self).items() if key != "excess"}


@dataclass(frozen=True)
class LitmusCheckResult:
    """Result of one check.

    Attributes
    ----------
    check
        The check.
    num_states
        Public states at which the agent was checked.
    failures
        Failures, the worst first.
    skipped
        Why the check does not apply; empty if it does.

    Examples
    --------
    >>> from riverboat.evaluation.litmus import LitmusCheckResult, shipped_checks
    >>> LitmusCheckResult(shipped_checks()[0], 3, ()).status
    'passed'
    """

    check: LitmusCheck
    num_states: int  # public states at which the agent was checked
    failures: tuple[LitmusFailure, ...]  # the worst first
    skipped: str = ""  # why the check does not apply

    @property
    def status(self) -> str:
        """`passed`, `failed` or `skipped`."""
        return "skipped" if self.skipped else "failed" if self.failures else "passed"


@dataclass(frozen=True)
class LitmusReport:
    """Results of all checks.

    Attributes
    ----------
    results
        One result for each check.

    Examples
    --------
    >>> from riverboat.evaluation.litmus import LitmusReport
    >>> LitmusReport(()).num_failed
    0
    """

    results: tuple[LitmusCheckResult, ...]

    @property
    def num_checks(self) -> int:
        """Number of checks that were not skipped."""
        return sum(not verdict.skipped for verdict in self.results)

    @property
    def num_failed(self) -> int:
        """Number of checks with a failure."""
        return sum(bool(verdict.failures) for verdict in self.results)

    @property
    def failures(self) -> tuple[LitmusFailure, ...]:
        """All failures, check by check."""
        return tuple(failure for verdict in self.results for failure in verdict.failures)


def run_litmus(
    agent: PublicPolicy,
    rules: PokerRules,
    checks: Sequence[LitmusCheck] | None = None,
    *,
    progress: Callable[[float], None] | None = None,
) -> LitmusReport:
    """Run checks on an agent.

    Parameters
    ----------
    agent
        Agent that has strategies for all hands.
    rules
        The game.
    checks
        Checks; by default those that come with the package.
    progress
        Callback with the completed share.

    Returns
    -------
    LitmusReport
        Results of all checks.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> from riverboat.evaluation.litmus import run_litmus, shipped_checks
    >>> from riverboat.games.holdem.rules import read_game
    >>> run_litmus(make_agent("always-fold"), read_game("nolimit-200bb"), shipped_checks()[:1]).num_checks
    1
    """
    chosen = shipped_checks() if checks is None else tuple(checks)
    results = []
    for k, check in enumerate(chosen, 1):
        results.append(_LitmusRun(check, rules, agent).run())
        if progress is not None:
            progress(k / len(chosen))
    return LitmusReport(tuple(results))


# --- Public states ---


def state_after(rules: PokerRules, line: str, size: str = "") -> BettingState | None:
    """Return the state after a check's line.

    Parameters
    ----------
    rules
        The game.
    line
        Line of a check.
    size
        Bet size in place of `?`.

    Returns
    -------
    BettingState or None
        The state; None if the line is illegal or nobody acts after it.

    Examples
    --------
    >>> from riverboat.evaluation.litmus import state_after
    >>> from riverboat.games.holdem.rules import read_game
    >>> state_after(read_game("nolimit-200bb"), "c ~").street
    3
    """
    state = BettingState.start(rules).deal_due_streets()
    for word in line.replace("/", " ").split():
        if word == CHECK_DOWN:
            while state.street < rules.rounds - 1 and state.actor >= 0:
                state = state.play(CALL)
            continue
        action = _parse_word(state, size if word == SIZE_PLACEHOLDER else word)
        if action is None or not state.is_legal(action):
            return None
        state = state.play(action)
    return state if state.actor >= 0 else None


def _parse_word(state: BettingState, word: str) -> int | None:
    """Return the action of a word of a line; sizes are clipped to the legal range."""
    if word in ("c", "f"):
        return FOLD if word == "f" else CALL
    legal = state.raise_range()
    if legal is None or (state.rules.limit and word == ALL_IN):
        return None
    if state.rules.limit or word == MIN_RAISE:
        return legal.least
    size = parse_sizes(word)[0]
    if size.kind == "x" and not state.sizing_context.bet_faced:
        return None
    return min(max(state.committed_before_street + size_total(size, state.sizing_context), legal.least), legal.most)


def boards_for_check(check: LitmusCheck, rules: PokerRules) -> list[Cards]:
    """Return the complete boards of a check that the game can deal.

    Parameters
    ----------
    check
        The check.
    rules
        The game.

    Returns
    -------
    list of tuple of int
        Boards; drawn ones are the same in every call.

    Examples
    --------
    >>> from riverboat.evaluation.litmus import boards_for_check, shipped_checks
    >>> from riverboat.games.holdem.rules import read_game
    >>> {len(board) for board in boards_for_check(shipped_checks()[0], read_game("nolimit-200bb"))}
    {5}
    """
    size, deck = rules.board_sizes[-1], rules.deck.cards.tolist()
    if not isinstance(check.boards, int):
        return [board for board in check.boards if len(board) == size and set(board) <= set(deck)]
    rng = np.random.default_rng(_SEED)
    return [tuple(rng.permutation(deck)[:size].tolist()) for _ in range(max(check.boards, 1))]


@dataclass(frozen=True)
class _LitmusState:
    """Public state at which an agent is checked."""

    state: BettingState
    board: Cards  # cards dealt so far
    group: tuple[str, Cards]  # line and board of the check; states of a group differ only in a bet size


class _Violation(NamedTuple):
    """How far an agent misses a check at one public state."""

    excess: float  # a failure if above the tolerance
    reason: str
    chances: Array  # float64 [3]: probabilities of fold, call and raise
    hand: int = -1  # -1: all hands together


@dataclass
class _LitmusRun:
    """Run of one check on one agent."""

    check: LitmusCheck
    rules: PokerRules
    agent: PublicPolicy

    def run(self) -> LitmusCheckResult:
        """Run the check at all its public states that the agent reaches; skip it if there are none."""
        states = self._public_states()
        if not states:
            return LitmusCheckResult(self.check, 0, (), "the game has no such public state")
        if not any(self._hands_of_check(state).any() for state in states):
            return LitmusCheckResult(self.check, 0, (), "the game has no such hands")
        table = PublicStates.from_betting([state.state for state in states], [state.board for state in states])
        ranges = self._ranges(table)
        checker = None if self.check.kind == SIZES else getattr(self, f"_check_{self.check.kind}")
        found: list[tuple[_LitmusState, _Violation | None]] = []
        groups: dict[tuple[str, Cards], list[tuple[_LitmusState, Array]]] = {}
        for state, weights, strategy in zip(states, ranges, iterate_strategies(self.agent, table), strict=True):
            if not (weights > MIN_REACH).any():
                continue
            fold, call = strategy.move_probabilities(FOLD), strategy.move_probabilities(CALL)
            chances = np.stack([fold, call, strategy.probabilities.sum(axis=1) - fold - call], axis=1)
            groups.setdefault(state.group, []).append((state, weights @ chances / weights.sum()))
            found.append((state, None if checker is None else checker(state, weights, chances)))
        if not found:
            return LitmusCheckResult(self.check, 0, (), "the agent never reaches these states")
        num_states = len(found)
        found += [self._check_sizes(group) for group in groups.values() if self.check.kind == SIZES]
        violations = [(state, violation) for state, violation in found if violation is not None]
        failures = [self._failure(*each) for each in violations if each[1].excess > self.check.tolerance]
        return LitmusCheckResult(self.check, num_states, tuple(sorted(failures, key=lambda failure: -failure.excess)))

    def _public_states(self) -> list[_LitmusState]:
        states: dict[tuple[str, Cards], _LitmusState] = {}
        for line in self.check.lines:
            for size in self.check.sizes or ("",):
                state = state_after(self.rules, line, size)
                if state is None:
                    continue
                for board in boards_for_check(self.check, self.rules):
                    dealt = board[: self.rules.board_sizes[state.street]]
                    states.setdefault((state.line, dealt), _LitmusState(state, dealt, (line, dealt)))
        return list(states.values())

    def _ranges(self, public_states: PublicStates) -> Array:
        """Return the agent's reach probability of each public state with each hand. float64 [n, hands]"""
        out = np.zeros((len(public_states), self.rules.deck.num_hands))
        for seat in (0, 1):
            rows = np.flatnonzero(public_states.actor == seat)
            if len(rows):
                out[rows] = reach_probabilities(self.agent, public_states.take(rows), seat)
        return out

    def _hands_of_check(self, public_state: _LitmusState, text: str = "") -> Array:
        """Return the mask of hands that a text (by default `hands`) means: `any`, `nuts` or a range. bool [hands]"""
        deck, text = self.rules.deck, text or self.check.hands
        if text == ANY:
            return np.ones(deck.num_hands, bool)
        if text == NUTS:
            strength = hand_strengths(public_state.board, deck)
            return np.asarray(strength == strength.max())
        if deck.hole != 2:
            return np.zeros(deck.num_hands, bool)
        low, high = deck.hands.astype(int).T
        weights = Range.parse(text).weights
        return np.asarray(weights[high * (high - 1) // 2 + low] > 0)

    # --- Kinds of checks ---

    # Each method measures the violation at one state. `weights` is the range of the agent, float64 [hands]; `chances`
    # has its probabilities of fold, call and raise with each hand, float64 [hands, 3].

    def _check_never(self, public_state: _LitmusState, weights: Array, chances: Array) -> _Violation:
        hands = self._hands_of_check(public_state) & (weights > MIN_REACH)
        p = np.where(hands, chances[:, self._action_column], -1.0)
        worst = int(p.argmax())
        others = int((p > self.check.tolerance).sum()) - 1
        more = f", and so do {others} other hands" if others else ""
        reason = f"{_ACTION_VERB[self.check.move]} {_percent(p[worst])} of the time{more}"
        return _Violation(float(p[worst]), reason, chances[worst], worst)

    def _check_more(self, public_state: _LitmusState, weights: Array, chances: Array) -> _Violation | None:
        p, texts = chances[:, self._action_column], (self.check.hands, self.check.than)
        first, second = (self._hands_of_check(public_state, text) & (weights > MIN_REACH) for text in texts)
        if not first.any() or not second.any():
            return None
        reason = (
            f"{self.check.hands} {_ACTION_VERB[self.check.move]} {_percent(p[first].mean())} of the time, "
            f"{self.check.than} {_percent(p[second].mean())}"
        )
        return _Violation(float(p[second].mean() - p[first].mean()), reason, chances[first].mean(axis=0))

    def _check_monotone(self, public_state: _LitmusState, weights: Array, chances: Array) -> _Violation:
        strength = hand_strengths(public_state.board, self.rules.deck).astype(int)
        held = np.flatnonzero(weights > MIN_REACH)
        w, s, p = weights[held], strength[held], chances[held, 0]
        stronger = (s[:, None] > s) * np.outer(w, w)
        more = np.maximum(p[:, None] - p, 0.0) * stronger
        excess = float(more.sum() / max(stronger.sum(), 1e-300))
        a, b = np.unravel_index(int(more.argmax()), more.shape)
        reason = (
            f"stronger hands fold {_percent(excess)} more often than weaker ones on average; this one {_percent(p[a])}, "
            f"the weaker {hand_names(self.rules.deck)[held[b]]} {_percent(p[b])}"
        )
        return _Violation(excess, reason, chances[held[a]], int(held[a]))

    def _check_cheap(self, public_state: _LitmusState, weights: Array, chances: Array) -> _Violation:
        mean = weights @ chances / weights.sum()
        price = public_state.state.to_call / public_state.state.pot
        reason = f"folds {_percent(mean[0])} of all hands to a bet that needs {_percent(price)}"
        return _Violation(float(mean[0] - price), reason, mean)

    def _check_sizes(self, states_by_size: list[tuple[_LitmusState, Array]]) -> tuple[_LitmusState, _Violation]:
        """Measure how much more the agent folds to a smaller bet, over states that differ only in the bet faced.

        Each state comes with the mean probabilities of fold, call and raise over all hands.
        """
        states_by_size.sort(key=lambda pair: pair[0].state.to_call)
        pairs = [*combinations(states_by_size, 2)] or [(states_by_size[0], states_by_size[0])]
        (smaller, small_mean), (larger, mean) = max(pairs, key=lambda pair: pair[0][1][0] - pair[1][1][0])
        reason = (
            f"folds {_percent(mean[0])} of all hands to a bet of {larger.state.to_call:,}, but "
            f"{_percent(small_mean[0])} to one of {smaller.state.to_call:,}"
        )
        return larger, _Violation(float(small_mean[0] - mean[0]), reason, mean)

    # --- Failures ---

    @property
    def _action_column(self) -> int:
        return list(_ACTION_VERB).index(self.check.move)

    def _failure(self, public_state: _LitmusState, violation: _Violation) -> LitmusFailure:
        state, hand_name, match_state = public_state.state, "", ""
        if violation.hand >= 0:
            hand_name = hand_names(self.rules.deck)[violation.hand]
            hole: Cards = tuple(self.rules.deck.hands[violation.hand].tolist())
            holes = (hole, ()) if state.turn == 0 else ((), hole)
            match_state = format_match_state(state.turn, 0, state.line, format_deal(holes, public_state.board, state))
        chances = dict(zip(_ACTION_VERB, map(float, violation.chances), strict=True))
        facts = state.line, format_cards(public_state.board), hand_name, chances, violation.excess, match_state
        return LitmusFailure(self.check.name, violation.reason, *facts)


def _percent(p: float) -> str:
    return f"{100 * p:.1f} %"
