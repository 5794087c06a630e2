"""Contract suite for games: checks of every state, and of the compiled tree as a whole."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from riverboat.core.arguments import PositiveCount, Seed, checked
from riverboat.core.errors import RecallError
from riverboat.games.base import (
    CHANCE,
    TERMINAL,
    Array,
    ComparisonPayoff,
    ConstantPayoff,
    Game,
    HistoryGame,
    HistoryState,
    MatrixPayoff,
    Outcome,
    Payoff,
    PublicGame,
    PublicState,
    append_label,
)
from riverboat.games.tree_layout import PublicTreeLayout, layout_from_states
from riverboat.solvers.tabular.best_response import quality
from riverboat.strategies.tabular import Strategy
from riverboat.testing.failures import TOLERANCE, describe_state, fail, report_location
from riverboat.testing.strategies import check_strategy
from riverboat.trees.compile import as_game, compile_game, to_history_tree
from riverboat.trees.public import PublicTree

# --- Traversal of states ---

NUM_RANDOM_LINES = 200  # in a game that is too large for a full traversal


class _StateSnapshot(NamedTuple):
    """Everything observable about a state; equal states have equal snapshots."""

    actor: int
    labels: tuple[str, ...]
    data: Any  # outcomes, probabilities, name of an information set, or payoffs


def _check_states(inspector: _GameInspector, limit: int, seed: int) -> tuple[int, bool]:
    """Check every state; in games of more than `limit` states the first ones and those on random lines.

    Each state is created twice and must look the same both times, and again after everything below it has been visited.
    Returns the number of visited states, and whether these are all.
    """
    name = inspector.name
    with report_location(f"{name}: root()"):
        (root, context), (twin, _) = inspector.root(), inspector.root()
    stack: list[tuple[Any, Any, tuple[str, ...], Any, _StateSnapshot | None]] = [(root, twin, (), context, None)]
    states, complete = 0, True
    while stack:
        state, twin, line, context, before = stack.pop()
        where = describe_state(name, line)
        if before is not None:
            with report_location(where):
                after = inspector.read(state)
            if after != before:
                fail(where, f"the state changed while its children were visited, from {before} to {after}", "no change")
            continue
        if states >= limit:
            complete = False
            continue
        states += 1
        snapshot = _check_state(inspector, state, where, context)
        with report_location(where):
            again = inspector.read(twin)
        if again != snapshot:
            fail(where, f"made twice, the state was once {snapshot} and once {again}", "the same both times")
        stack.append((state, None, line, context, snapshot))
        for k in reversed(range(len(snapshot.labels))):
            with report_location(f"{where}: child({k})"):
                child, twin = state.child(k), state.child(k)
            below = inspector.child_context(snapshot, k, context)
            stack.append((child, twin, (*line, snapshot.labels[k]), below, None))
    if not complete:
        states += _random_lines(inspector, Random(seed))
    return states, complete


# Checks the states on random lines from the root to a terminal; returns their number.
def _random_lines(inspector: _GameInspector, random: Random) -> int:
    states = 0
    for _ in range(NUM_RANDOM_LINES):
        state, context = inspector.root()
        line: tuple[str, ...] = ()
        while True:
            states += 1
            where = describe_state(inspector.name, line)
            snapshot = _check_state(inspector, state, where, context)
            if not snapshot.labels:
                break
            k = random.randrange(len(snapshot.labels))
            with report_location(f"{where}: child({k})"):
                state = state.child(k)
            context, line = inspector.child_context(snapshot, k, context), (*line, snapshot.labels[k])
    return states


def _check_state(inspector: _GameInspector, state: Any, where: str, context: Any) -> _StateSnapshot:
    with report_location(where):
        snapshot = inspector.read(state)
    inspector.check(snapshot, where, context)
    return snapshot


def _check_labels(labels: Sequence[str], where: str, what: str) -> None:
    """Fail unless there are labels, all of them different and not empty."""
    if not labels:
        fail(where, f"no {what}", "at least one")
    for k, label in enumerate(labels):
        if not isinstance(label, str) or not label:
            fail(where, f"one of the {what} is {label!r}", "a text that is not empty")
        if label in labels[k + 1 :]:
            fail(where, f"{label!r} is twice among the {what} {tuple(labels)}", "labels that differ")


def _check_numbers(numbers: Any, where: str, what: str) -> None:
    for number in np.asarray(numbers, float).ravel():
        if not math.isfinite(number):
            fail(where, f"{what} {numbers} with {number}", "finite numbers")


# --- History games ---


class _HistoryInspector:
    """Checks of the states of a history game. There is no context: it is None."""

    def __init__(self, game: HistoryGame) -> None:
        self.game, self.name, self.zero_sum = game, game.name, True
        self.infosets: dict[str, tuple[int, tuple[str, ...], str]] = {}  # player, actions, first occurrence

    def root(self) -> tuple[HistoryState, Any]:
        """Return the root, and None as its context."""
        return self.game.root(), None

    def read(self, state: HistoryState) -> _StateSnapshot:
        """Take a snapshot of a state."""
        actor = state.actor
        if actor == TERMINAL:
            return _StateSnapshot(actor, (), tuple(state.payoffs()))
        data = tuple(state.probabilities()) if actor == CHANCE else state.infoset()
        return _StateSnapshot(actor, tuple(state.actions()), data)

    def check(self, snapshot: _StateSnapshot, where: str, context: Any) -> None:
        """Fail unless the snapshot is valid."""
        players = self.game.players
        if snapshot.actor == TERMINAL:
            if len(snapshot.data) != players:
                fail(where, f"payoffs {snapshot.data}", f"one for each of the {players} players")
            _check_numbers(snapshot.data, where, "payoffs")
            self.zero_sum &= abs(sum(snapshot.data)) <= TOLERANCE
            return
        if snapshot.actor != CHANCE and snapshot.actor not in range(players):
            fail(where, f"actor {snapshot.actor!r}", f"a player from 0 to {players - 1}, CHANCE or TERMINAL")
        _check_labels(snapshot.labels, where, "moves")
        if snapshot.actor == CHANCE:
            _check_numbers(snapshot.data, where, "probabilities")
            if len(snapshot.data) != len(snapshot.labels) or min(snapshot.data) < 0:
                expected = f"one of at least 0 for each outcome of {snapshot.labels}"
                fail(where, f"probabilities {snapshot.data}", expected)
            if abs(sum(snapshot.data) - 1) > TOLERANCE:
                fail(where, f"probabilities {snapshot.data}, which sum to {sum(snapshot.data):g}", "a sum of one")
        else:
            self._check_infoset(snapshot, where)

    def _check_infoset(self, snapshot: _StateSnapshot, where: str) -> None:
        if not isinstance(snapshot.data, str):
            fail(where, f"an information set called {snapshot.data!r}", "a text")
        first_seen = self.infosets.setdefault(snapshot.data, (snapshot.actor, snapshot.labels, where))
        if first_seen[:2] != (snapshot.actor, snapshot.labels):
            fail(
                where,
                f"information set {snapshot.data!r} of player {snapshot.actor} with moves {snapshot.labels}",
                f"player {first_seen[0]} with moves {first_seen[1]} as it was met before ({first_seen[2]})",
            )

    def child_context(self, snapshot: _StateSnapshot, index: int, context: Any) -> Any:
        """Return the context of a child, which is None in history games."""
        return context


# --- Public games ---


class _PublicInspector:
    """Checks of the states of a public game. The context contains the pairs of hands that are still possible."""

    def __init__(self, game: PublicGame) -> None:
        self.game, self.name, self.zero_sum = game, game.name, True
        self.counts = len(game.hands[0]), len(game.hands[1])

    def root(self) -> tuple[PublicState, Array]:
        """Return the root, and as its context a mask of the pairs of hands that can be dealt."""
        return self.game.root(), self.game.deal.joint() > 0

    def read(self, state: PublicState) -> _StateSnapshot:
        """Take a snapshot of a state."""
        actor = state.actor
        if actor == TERMINAL:
            return _StateSnapshot(actor, (), state.payoff())
        if actor == CHANCE:
            outcomes = tuple(state.outcomes())
            return _StateSnapshot(actor, tuple(outcome.label for outcome in outcomes), outcomes)
        return _StateSnapshot(actor, tuple(state.actions()), None)

    def check(self, snapshot: _StateSnapshot, where: str, context: Array) -> None:
        """Fail unless the snapshot is valid."""
        if snapshot.actor == TERMINAL:
            self._check_payoff(snapshot.data, where, context)
            return
        if snapshot.actor not in (0, 1, CHANCE):
            fail(where, f"actor {snapshot.actor!r}", "0, 1, CHANCE or TERMINAL")
        _check_labels(snapshot.labels, where, "outcomes" if snapshot.actor == CHANCE else "moves")
        if snapshot.actor == CHANCE:
            self._check_outcomes(snapshot.data, where, context)

    def _check_outcomes(self, outcomes: tuple[Outcome, ...], where: str, possible: Array) -> None:
        total = np.zeros(self.counts)
        for outcome in outcomes:
            if not (math.isfinite(outcome.weight) and outcome.weight >= 0):
                fail(where, f"outcome {outcome.label!r} has weight {outcome.weight}", "a number of at least 0")
            for player, dead in enumerate(outcome.dead):
                for hand in dead:
                    if hand not in range(self.counts[player]):
                        expected = f"a number from 0 to {self.counts[player] - 1}"
                        fail(where, f"outcome {outcome.label!r} makes hand {hand!r} of player {player} dead", expected)
            total += outcome.weight * _live_pairs(outcome, self.counts)
        for h0, h1 in np.argwhere(possible & (np.abs(total - 1) > TOLERANCE))[:1]:
            fail(
                where,
                f"with hands {self.game.hands[0][h0]!r} and {self.game.hands[1][h1]!r} the outcomes that neither "
                f"makes dead weigh {total[h0, h1]:g} in all",
                "one for every pair of hands that is still possible",
            )

    def _check_payoff(self, payoff: Payoff, where: str, possible: Array) -> None:
        if not isinstance(payoff, ConstantPayoff | ComparisonPayoff | MatrixPayoff):
            fail(where, f"a payoff of type {type(payoff).__name__}", "Constant, Compare or Matrix")
        try:
            hash(payoff)
        except TypeError as error:
            fail(where, f"a payoff that cannot be hashed ({error})", "tuples of plain numbers all the way down")
        if isinstance(payoff, ComparisonPayoff):
            lengths = tuple(map(len, payoff.strengths))
            if lengths != self.counts:
                fail(where, f"strengths for {lengths} hands", f"one for each of the {self.counts} hands")
            _check_numbers(payoff.strengths[0] + payoff.strengths[1], where, "strengths")
        tables = _pair_payoffs(payoff, self.counts)
        for player, table in enumerate(tables):
            if table.shape != self.counts:
                fail(where, f"payoffs of player {player} of shape {table.shape}", f"{self.counts}, player 0 first")
            for h0, h1 in np.argwhere(~np.isfinite(table))[:1]:
                pair = f"{self.game.hands[0][h0]!r} and {self.game.hands[1][h1]!r}"
                fail(where, f"hands {pair} pay player {player} {table[h0, h1]}", "a finite number")
        self.zero_sum &= bool(np.all(np.abs(tables[0] + tables[1])[possible] <= TOLERANCE))

    def child_context(self, snapshot: _StateSnapshot, index: int, context: Array) -> Array:
        """Return the context of child `index`: the pairs of hands that are possible there."""
        return context & _live_pairs(snapshot.data[index], self.counts) if snapshot.actor == CHANCE else context


_GameInspector: TypeAlias = _HistoryInspector | _PublicInspector


def _live_pairs(outcome: Outcome, counts: tuple[int, int]) -> Array:
    """Return the pairs of hands that an outcome leaves possible. bool [hands0, hands1]"""
    live = np.ones(counts, bool)
    live[list(outcome.dead[0]), :] = live[:, list(outcome.dead[1])] = False
    return live


def _pair_payoffs(payoff: Payoff, counts: tuple[int, int]) -> tuple[Array, Array]:
    """Return the payoffs of each player for every pair of hands, by definition. float64 [hands0, hands1] each"""
    if isinstance(payoff, ConstantPayoff):
        return np.full(counts, payoff.payoffs[0], float), np.full(counts, payoff.payoffs[1], float)
    if isinstance(payoff, MatrixPayoff):
        return np.asarray(payoff.payoffs[0], float), np.asarray(payoff.payoffs[1], float)
    first_strength, second_strength = (np.asarray(strengths) for strengths in payoff.strengths)
    better = np.sign(first_strength[:, None] - second_strength[None, :])
    first, second = (
        np.where(better > 0, payoff.win[p], np.where(better < 0, payoff.lose[p], payoff.tie[p])).astype(float)
        for p in (0, 1)
    )
    return first, second


MAX_UNROLLED = 1_000_000  # largest number of histories of an unrolled public tree
NUM_STRATEGIES = 3  # random strategies that are evaluated in every tree


@dataclass(frozen=True)
class GameReport:
    """Properties of a game that satisfies the contract.

    Attributes
    ----------
    name
        Name of the game.
    shape
        `public` or `history`.
    states
        Number of visited states.
    complete
        Whether all states were visited.
    zero_sum
        Whether payoffs sum to zero at every visited terminal.
    infosets
        Number of information sets; None unless complete.

    Examples
    --------
    >>> GameReport("toy", "history", states=3, complete=True, zero_sum=True, infosets=1).complete
    True
    """

    name: str
    shape: str  # "public" or "history"
    states: int  # visited
    complete: bool  # whether all states were visited
    zero_sum: bool  # whether payoffs sum to zero at every visited terminal
    infosets: int | None  # None unless complete


@checked
def check_game(game: str | Game, *, limit: PositiveCount = 20_000, seed: Seed = 0) -> GameReport:
    """Check that a game, public or by histories, satisfies what solvers rely on, and return its properties.

    Parameters
    ----------
    game
        Game to check, or its name. It need not be zero-sum: the report says whether it is.
    limit
        Games of more states are visited in part, and checks of the whole tree are skipped: the report's `complete` is then
        False.
    seed
        Seed of random lines and strategies.

    Returns
    -------
    GameReport
        Properties of the game.

    Raises
    ------
    AssertionError
        If the game breaks the contract; the message says where, what, and what was expected.

    Notes
    -----
    For each state:

    - the actor is a player, CHANCE or TERMINAL; labels are different non-empty strings;
    - chance is a distribution. In a public game: for every pair of hands that is still possible, the weights of the
      outcomes that neither hand makes dead sum to one;
    - payoffs are finite, one for each player (and hand);
    - it looks the same when it is created twice, and after its children were visited.

    For a public game: names of hands differ and have no `:`; the deal's weights are finite and not negative, and some
    pair can be dealt; `layout()`, if it exists, equals the tree of the states.

    For the whole game: an information set has one player and one list of actions, with perfect recall. Random
    strategies have the same value by plain arithmetic on the states, in the compiled tree and, for public games, in
    the unrolled history tree, where best responses agree as well. Names of information sets lead back to them.

    Examples
    --------
    >>> check_game("kuhn")
    GameReport(name='kuhn', shape='public', states=9, complete=True, zero_sum=True, infosets=12)
    """
    if isinstance(game, str):
        game = as_game(game)
    inspector: _GameInspector
    if isinstance(game, PublicGame) and not isinstance(game, type):
        _check_public(game)
        inspector = _PublicInspector(game)
    elif isinstance(game, HistoryGame) and not isinstance(game, type):
        _check_texts(game, ("name", "unit"))
        if not isinstance(game.players, int) or game.players < 1:
            fail(game.name, f"players is {game.players!r}", "a whole number of at least 1")
        inspector = _HistoryInspector(game)
    else:
        public = [a for a in ("name", "unit", "joiner", "hands", "deal", "root") if not hasattr(game, a)]
        history = [a for a in ("name", "players", "unit", "root") if not hasattr(game, a)]
        fail(
            type(game).__name__,
            f"neither a public game (it lacks {', '.join(public)}) nor a history game (it lacks {', '.join(history)})",
            "one of the two",
        )
    states, complete = _check_states(inspector, limit, seed)
    infosets = _check_tree(game, seed) if complete else None
    shape = "public" if isinstance(game, PublicGame) else "history"
    return GameReport(game.name, shape, states, complete, inspector.zero_sum, infosets)


def _check_texts(game: Game, attributes: tuple[str, ...]) -> None:
    for attribute in attributes:
        value = getattr(game, attribute)
        if not isinstance(value, str) or (attribute == "name" and not value):
            fail(type(game).__name__, f"{attribute} is {value!r}", "a text")


def _check_public(game: PublicGame) -> None:
    _check_texts(game, ("name", "unit", "joiner"))
    if len(game.hands) != 2:
        fail(game.name, f"lists of hands for {len(game.hands)} players", "two lists")
    for player, hands in enumerate(game.hands):
        where = f"{game.name}, player {player}"
        _check_labels(hands, where, "hands")
        for hand in hands:
            if ":" in hand:
                fail(where, f"a hand called {hand!r}", "no ':', which ends the hand in names such as 'hand:line'")
        weights = game.deal.weights[player]
        if np.shape(weights) != (len(hands),):
            fail(where, f"deal weights of shape {np.shape(weights)}", f"one for each of the {len(hands)} hands")
        for k in np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[:1]:
            fail(where, f"hand {hands[k]!r} has deal weight {weights[k]}", "a number of at least 0")
    pairs = np.outer(*game.deal.weights)
    for pair in game.deal.excludes:
        if len(pair) != 2 or not all(hand in range(count) for hand, count in zip(pair, pairs.shape, strict=True)):
            fail(game.name, f"the deal excludes {pair}", f"a pair of hands below {pairs.shape}, player 0 first")
        pairs[pair] = 0.0
    if not pairs.any():
        fail(game.name, "no pair of hands can be dealt", "at least one")


# --- Whole tree ---


def _check_tree(game: Game, seed: int) -> int:
    with report_location(f"{game.name}: compiling"):
        tree, again = compile_game(game), compile_game(game)
    if tree.fingerprint != again.fingerprint:
        fail(game.name, "compiled twice, it gave two different trees", "the same tree both times")
    if isinstance(tree, PublicTree):
        if hasattr(game, "layout"):
            _check_layout(tree)
    else:
        for player in range(tree.players):
            try:
                tree.check_recall(player)
            except RecallError as error:
                fail(game.name, str(error), "information sets in which a player knows all that it did")
    random = np.random.default_rng(seed)
    for number in range(NUM_STRATEGIES):
        # Some actions have probability 0, so that parts of the tree are not reached.
        sums = random.random(tree.table_size) * (random.random(tree.table_size) >= 0.2 * number)
        strategy = Strategy.from_sums(tree, sums)
        if not number:
            check_strategy(strategy)
        _check_values(game, strategy)
    return tree.infoset_count


# Fails if the game's own `layout()` differs from the layout that a traversal of its states gives.
def _check_layout(tree: PublicTree) -> None:
    own, expected = tree.layout, layout_from_states(tree.game)
    where = f"{tree.name}: layout()"
    for attribute in ("actor", "end"):
        own_value, expected_value = getattr(own, attribute), getattr(expected, attribute)
        if own_value.shape != expected_value.shape:
            fail(where, f"{len(own_value)} nodes", f"{len(expected_value)}, as in the traversal of the states")
        for n in np.flatnonzero(own_value != expected_value)[:1]:
            fail(where, f"{attribute} of node {n} is {own_value[n]}", f"{expected_value[n]}, as its state says")
    for n, actor in enumerate(expected.actor):
        own_value, expected_value = _node_content(own, n, actor), _node_content(expected, n, actor)
        if own_value != expected_value:
            fail(where, f"node {n} has {own_value}", f"{expected_value}, as its state says")


def _node_content(layout: PublicTreeLayout, node: int, who: int) -> object:
    row = int(layout.index[node])
    if who == TERMINAL:
        return layout.payoffs[row]
    return layout.chance_outcomes[row] if who == CHANCE else layout.action_labels[row]


# Fails if a strategy has different values in the states, in the compiled tree, and in the unrolled history tree.
def _check_values(game: Game, strategy: Strategy) -> None:
    tree = strategy.tree
    with report_location(f"{game.name}: evaluating a random strategy"):
        compiled = quality(strategy)
    direct = _public_values(game, strategy) if isinstance(game, PublicGame) else _history_values(game, strategy)
    _check_same(game.name, "value of a random strategy in the compiled tree", compiled.values, direct)
    tolerance = 1e-9 * max(1.0, *(abs(x) for x in (*compiled.best, *compiled.values)))
    if any(b < v - tolerance for b, v in zip(compiled.best, compiled.values, strict=True)):
        fail(game.name, f"a best response earns {compiled.best}", f"at least {compiled.values}, as the strategy itself")
    if isinstance(tree, PublicTree) and len(tree.nodes.actor) * np.prod(tree.hand_counts) <= MAX_UNROLLED:
        unrolled = to_history_tree(tree)
        separate = quality(Strategy(unrolled, strategy.probabilities[unrolled.origin]))
        _check_same(game.name, "value of a random strategy in the unrolled tree", separate.values, direct)
        _check_same(game.name, "best responses in the unrolled tree", separate.best, compiled.best)


def _check_same(name: str, what: str, ours: tuple[float, ...], expected: tuple[float, ...]) -> None:
    if not np.allclose(ours, expected, rtol=1e-9, atol=1e-9):
        fail(name, f"{what}: {ours}", f"{expected}, as found another way")


def _history_values(game: HistoryGame, strategy: Strategy) -> tuple[float, ...]:
    """Return the value of a strategy to each player: payoffs weighted by the probability of each history."""
    rows, total = strategy.mapping(), np.zeros(game.players)
    stack = [(game.root(), 1.0)]
    while stack:
        state, reach = stack.pop()
        if state.actor == TERMINAL:
            total += reach * np.asarray(state.payoffs(), float)
            continue
        weights = state.probabilities() if state.actor == CHANCE else [*rows[state.infoset()].values()]
        stack += [(state.child(k), reach * weight) for k, weight in enumerate(weights)]
    return tuple(total.tolist())


def _public_values(game: PublicGame, strategy: Strategy) -> tuple[float, ...]:
    """Return the value of a strategy in a public game, by the probability of each pair of hands."""
    rows, counts, total = strategy.mapping(), (len(game.hands[0]), len(game.hands[1])), np.zeros(2)
    stack: list[tuple[Any, str, Array]] = [(game.root(), "", game.deal.joint())]
    while stack:
        state, line, reach = stack.pop()
        if state.actor == TERMINAL:
            total += [float((reach * table).sum()) for table in _pair_payoffs(state.payoff(), counts)]
        elif state.actor == CHANCE:
            for k, outcome in enumerate(state.outcomes()):
                after = reach * outcome.weight * _live_pairs(outcome, counts)
                stack.append((state.child(k), append_label(line, game.joiner, outcome.label), after))
        else:
            actor, names = state.actor, [f"{hand}:{line}" for hand in game.hands[state.actor]]
            for k, label in enumerate(state.actions()):
                # Dead hands have no information set, and no weight either.
                probabilities = np.array([rows.get(name, {}).get(label, 0.0) for name in names])
                after = reach * (probabilities[:, None] if actor == 0 else probabilities)
                stack.append((state.child(k), append_label(line, game.joiner, label), after))
    return tuple(total.tolist())
