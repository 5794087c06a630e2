"""The contract of a game."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from riverboat.core.errors import RecallError
from riverboat.games.base import CHANCE, TERMINAL, Array, Game, HistoryGame, PublicGame, extend
from riverboat.games.layout import Layout, from_states
from riverboat.solvers.tabular.best_response import Quality, quality
from riverboat.strategies.tabular import Strategy
from riverboat.testing.failures import at, fail
from riverboat.testing.states import HistoryInspector, Inspector, PublicInspector, check_labels, pair_payoffs, walk
from riverboat.testing.strategies import check_strategy
from riverboat.trees.compile import compile_game, histories
from riverboat.trees.public import PublicTree

MAX_UNROLLED = 1_000_000  # histories of a public tree that are still compared one by one
STRATEGIES = 3  # random ones that are evaluated in every way there is


@dataclass(frozen=True)
class GameReport:
    """What a game that keeps the contract turned out to be."""

    name: str
    shape: str  # "public" or "history"
    states: int  # that were visited
    complete: bool  # whether that was all of them
    zero_sum: bool  # whether the pay-offs cancelled at every terminal that was visited
    infosets: int | None  # None where the game was not seen whole


def check_game(game: Game, *, limit: int = 20_000, seed: int = 0) -> GameReport:
    """Raise unless a game, public or by histories, keeps to what solvers rely on; say what it is.

    Of each state:

    - the actor is a player, CHANCE or TERMINAL; labels are texts, not empty, all different;
    - chance is a distribution. In a public game: for every pair of hands that is still possible, the weights of
      the outcomes that neither hand makes dead sum to one;
    - pay-offs are finite, one for each player (and hand);
    - it looks the same when it is made twice, and after its children were visited.

    Of a public game: hands have names without `:` that differ, the deal's weights are finite, not negative, and some
    pair can be dealt; `layout()`, where there is one, is the tree that walking the states gives.

    Of the whole: an information set has one player and one list of moves, and nobody forgets what it did; random
    strategies are worth the same by plain arithmetic on the states, in the compiled tree and, for public games, in the
    tree unrolled hand by hand, where best responses agree as well; names of information sets lead back to them.

    Games of more than `limit` states are walked in part, and what needs the whole tree is left out: the report's
    `complete` is then false. A game need not be zero-sum: the report says whether it is.
    """
    inspector: Inspector
    if isinstance(game, PublicGame):
        _check_public(game)
        inspector = PublicInspector(game)
    elif isinstance(game, HistoryGame):
        _check_texts(game, ("name", "unit"))
        if not isinstance(game.players, int) or game.players < 1:
            fail(game.name, f"players is {game.players!r}", "a whole number of at least 1")
        inspector = HistoryInspector(game)
    else:
        _blame_shape(game)
    seen = walk(inspector, limit, seed)
    infosets = _check_whole(game, seed) if seen.complete else None
    shape = "public" if isinstance(game, PublicGame) else "history"
    return GameReport(game.name, shape, seen.states, seen.complete, inspector.zero_sum, infosets)


def _blame_shape(game: Any) -> NoReturn:
    public = [a for a in ("name", "unit", "joiner", "hands", "deal", "root") if not hasattr(game, a)]
    history = [a for a in ("name", "players", "unit", "root") if not hasattr(game, a)]
    fail(
        type(game).__name__,
        f"neither a public game (it lacks {', '.join(public)}) nor a history game (it lacks {', '.join(history)})",
        "one of the two",
    )


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
        check_labels(hands, where, "hands")
        for hand in hands:
            if ":" in hand:
                fail(where, f"a hand called {hand!r}", "no ':', which ends the hand in names such as 'hand:line'")
        weights = game.deal.weights[player]
        if np.shape(weights) != (len(hands),):
            fail(where, f"deal weights of shape {np.shape(weights)}", f"one for each of the {len(hands)} hands")
        wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
        if len(wrong):
            fail(where, f"hand {hands[wrong[0]]!r} has deal weight {weights[wrong[0]]}", "a number of at least 0")
    counts = len(game.hands[0]), len(game.hands[1])
    for pair in game.deal.excludes:
        if len(pair) != 2 or pair[0] not in range(counts[0]) or pair[1] not in range(counts[1]):
            fail(game.name, f"the deal excludes {pair}", f"a pair of hands below {counts}, player 0 first")
    pairs = np.outer(*game.deal.weights)
    for pair in game.deal.excludes:
        pairs[pair] = 0.0
    if not pairs.any():
        fail(game.name, "no pair of hands can be dealt", "at least one")


# --- the tree as a whole --------------------------------------------------------------------


def _check_whole(game: Game, seed: int) -> int:
    with at(f"{game.name}: compiling"):
        tree = compile_game(game)
        again = compile_game(game)
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
    for number in range(STRATEGIES):
        # Some moves are never made, so that parts of the tree are out of reach.
        sums = random.random(tree.table) * (random.random(tree.table) >= 0.2 * number)
        strategy = Strategy.from_sums(tree, sums)
        if not number:
            check_strategy(strategy)
        _check_values(game, strategy)
    return tree.infoset_count


def _check_layout(tree: PublicTree) -> None:
    own, walked = tree.layout, from_states(tree.game)
    for what in ("actor", "end"):
        mine, theirs = getattr(own, what), getattr(walked, what)
        if mine.shape != theirs.shape:
            fail(f"{tree.name}: layout()", f"{len(mine)} nodes", f"{len(theirs)}, as walking the states gives")
        wrong = np.flatnonzero(mine != theirs)
        if len(wrong):
            n = int(wrong[0])
            fail(f"{tree.name}: layout()", f"{what} of node {n} is {mine[n]}", f"{theirs[n]}, as its state says")
    for n, who in enumerate(walked.actor):
        mine, theirs = _content(own, n, who), _content(walked, n, who)
        if mine != theirs:
            fail(f"{tree.name}: layout()", f"node {n} has {mine}", f"{theirs}, as its state says")


def _content(layout: Layout, node: int, who: int) -> object:
    row = int(layout.index[node])
    if who == TERMINAL:
        return layout.payoffs[row]
    return layout.chances[row] if who == CHANCE else layout.menus[row]


def _check_values(game: Game, strategy: Strategy) -> None:
    tree = strategy.tree
    with at(f"{game.name}: evaluating a random strategy"):
        compiled = quality(strategy)
    by_hand = _public_values(game, strategy) if isinstance(game, PublicGame) else _history_values(game, strategy)
    _check_same(game.name, "worth of a random strategy in the compiled tree", compiled.values, by_hand)
    if any(b < v - _slack(compiled) for b, v in zip(compiled.best, compiled.values, strict=True)):
        fail(game.name, f"a best response earns {compiled.best}", f"at least {compiled.values}, as the strategy itself")
    if isinstance(tree, PublicTree) and len(tree.nodes.actor) * np.prod(tree.hand_counts) <= MAX_UNROLLED:
        unrolled = histories(tree)
        apart = quality(Strategy(unrolled, strategy.probabilities[unrolled.origin]))
        _check_same(game.name, "worth of a random strategy in the unrolled tree", apart.values, by_hand)
        _check_same(game.name, "best responses in the unrolled tree", apart.best, compiled.best)


def _slack(measured: Quality) -> float:
    return 1e-9 * max(1.0, *(abs(x) for x in (*measured.best, *measured.values)))


def _check_same(name: str, what: str, ours: tuple[float, ...], expected: tuple[float, ...]) -> None:
    if not np.allclose(ours, expected, rtol=1e-9, atol=1e-9):
        fail(name, f"{what}: {ours}", f"{expected}, as found another way")


def _history_values(game: HistoryGame, strategy: Strategy) -> tuple[float, ...]:
    """What a strategy is worth to each player: pay-offs weighted by the probability of each history."""
    rows, total = strategy.mapping(), np.zeros(game.players)
    work = [(game.root(), 1.0)]
    while work:
        state, reach = work.pop()
        if state.actor == TERMINAL:
            total += reach * np.asarray(state.payoffs(), float)
            continue
        weights = state.probabilities() if state.actor == CHANCE else [*rows[state.infoset()].values()]
        work += [(state.child(k), reach * weight) for k, weight in enumerate(weights)]
    return tuple(total.tolist())


def _public_values(game: PublicGame, strategy: Strategy) -> tuple[float, ...]:
    """The same for a public game, with the probability of each pair of hands carried along."""
    rows, counts, total = strategy.mapping(), (len(game.hands[0]), len(game.hands[1])), np.zeros(2)
    work: list[tuple[Any, str, Array]] = [(game.root(), "", game.deal.joint())]
    while work:
        state, line, reach = work.pop()
        if state.actor == TERMINAL:
            total += [float((reach * table).sum()) for table in pair_payoffs(state.payoff(), counts)]
        elif state.actor == CHANCE:
            for k, outcome in enumerate(state.outcomes()):
                after = reach * outcome.weight
                after[list(outcome.dead[0]), :] = 0.0
                after[:, list(outcome.dead[1])] = 0.0
                work.append((state.child(k), extend(line, game.joiner, outcome.label), after))
        else:
            who, names = state.actor, [f"{hand}:{line}" for hand in game.hands[state.actor]]
            for k, label in enumerate(state.actions()):
                # Hands that are dead here have no information set, and no weight either.
                played = np.array([rows.get(name, {}).get(label, 0.0) for name in names])
                after = reach * (played[:, None] if who == 0 else played)
                work.append((state.child(k), extend(line, game.joiner, label), after))
    return tuple(total.tolist())
