"""Deviation-based best response (Ganzfried & Sandholm 2011): fit the equilibrium to observed frequencies, and respond.

At every public history the model stays close to the equilibrium σ* and matches the observed frequencies:

    closest s to σ*   subject to   Σ_b β_b s_b = α,   every s_b a distribution

α are the posterior frequencies, β the weights of the buckets. Then compute a best response to the model. Closeness is:

- `l1`: minimal Σ_b β_b Σ_a |s - σ*|. Many s attain the minimum. Here every bucket gives up the same share of an
  overused action and moves it to the underused ones; a linear program would return an arbitrary vertex.
- `l2`: minimal Σ_b β_b Σ_a (s - σ*)²; then s_b is σ*_b plus one vector for all buckets, projected to the simplex.
- `em`: the paper's earth mover's heuristic. An action to be played more is raised to the maximum in the bucket that
  plays it most, then in the next; one to be played less is lowered first where it is played least. The last bucket
  takes the remainder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from riverboat.core.arrays import safe_divide
from riverboat.core.errors import InputError, RiverboatError
from riverboat.core.validation import check_name
from riverboat.games.base import CHANCE, Array
from riverboat.solvers.tabular.best_response import best_response, quality
from riverboat.strategies.tabular import Strategy
from riverboat.trees.public import PublicTree

# --- public histories and frequencies -----------------------------------------------------------

# Function of a public history, bucket weights [b] and action probabilities [b, actions] that returns new probabilities.
RowFit: TypeAlias = Callable[["PublicHistory", Array, Array], Array]
PublicActionCounts: TypeAlias = Mapping[str, Array]  # public history -> action counts, float64 [actions]


@dataclass(frozen=True, eq=False)
class PublicHistory:
    """Decisions of a player after the same public actions, with any cards.

    Attributes
    ----------
    line
        Public actions; "/" separates rounds.
    nodes
        Nodes of the public tree with this line.
    actions
        Labels of the actions.

    Examples
    --------
    >>> PublicHistory("cr", (3,), ("f", "c")).actions
    ('f', 'c')
    """

    line: str  # actions only; "/" separates rounds
    nodes: tuple[int, ...]
    actions: tuple[str, ...]


@lru_cache(maxsize=8)  # called repeatedly in a match
def public_histories(tree: PublicTree, player: int) -> tuple[PublicHistory, ...]:
    """Return a player's public histories, parents before children.

    Parameters
    ----------
    tree
        Tree of a public game.
    player
        Player 0 or 1.

    Returns
    -------
    tuple of PublicHistory
        One for each line at which the player acts.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.trees.compile import compile_game
    >>> [history.line for history in public_histories(compile_game(kuhn()), 1)]
    ['c', 'r']
    """
    lines = _public_lines(tree)
    nodes_at: dict[tuple[int, str], list[int]] = {}
    for node in np.flatnonzero(tree.nodes.actor == player):
        nodes_at.setdefault((len(lines[node]), lines[node]), []).append(int(node))
    histories = sorted(nodes_at.items())
    return tuple(PublicHistory(line, tuple(nodes), tree.labels(nodes[0])) for (_, line), nodes in histories)


@lru_cache(maxsize=8)
def _public_lines(tree: PublicTree) -> list[str]:
    """Return the public actions that lead to each node, in one text without cards: "/" stands for a public deal."""
    lines = [""] * len(tree.nodes.actor)
    for node, actor in enumerate(tree.nodes.actor):
        for child, label in zip(tree.children(node), tree.labels(node), strict=True):
            lines[child] = lines[node] + ("/" if actor == CHANCE else label)
    return lines


def map_public_histories(strategy: Strategy, player: int, fit: RowFit) -> Strategy:
    """Replace a player's strategy by what `fit` returns, one public history after the other, from the root down.

    A bucket is a hand with the public cards. Its weight is the probability that it is dealt and that the player reaches
    the history with it, by the rows fitted so far. The other player's cards and actions are ignored, as in the paper.

    Parameters
    ----------
    strategy
        Strategy of a public game.
    player
        Player whose rows change.
    fit
        Function of a history, bucket weights that sum to one [buckets] and rows [buckets, actions]; returns new rows.

    Returns
    -------
    Strategy
        The strategy with the new rows.

    Raises
    ------
    InputError
        If the game has no public tree.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.trees.compile import compile_game
    >>> uniform = Strategy.uniform(compile_game(kuhn()))
    >>> cautious = map_public_histories(uniform, 1, lambda history, weights, rows: np.tile([1.0, 0.0], (len(rows), 1)))
    >>> cautious["K:r"]
    {'f': 1.0, 'c': 0.0}
    """
    tree = strategy.tree
    if not isinstance(tree, PublicTree):
        raise InputError(f"{tree.name} has no public histories: opponent models need a public game")
    table = np.array(strategy.probabilities, float)
    rows, hands = tree.player_tables(table)[player], tree.hand_counts[player]
    side, nodes = tree.player_arrays[player], tree.nodes
    weight = np.zeros((len(nodes.actor), hands))
    weight[0] = tree.deal.joint().sum(axis=1 - player)
    history_of = {n: h for h in public_histories(tree, player) for n in h.nodes}
    level = [0]
    while level:
        # All nodes of a history are on one level.
        for history in dict.fromkeys(history_of[n] for n in level if n in history_of):
            blocks = [slice(int(nodes.data[n]), int(nodes.data[n]) + int(nodes.width[n])) for n in history.nodes]
            reach = weight[list(history.nodes)].ravel()
            if reach.sum() > 0:
                new = fit(history, reach / reach.sum(), np.concatenate([rows[block].T for block in blocks]))
                for k, block in enumerate(blocks):
                    rows[block] = new[k * hands : (k + 1) * hands].T
        next_level = []
        for n in level:
            for a, child in enumerate(tree.children(n)):
                if nodes.actor[n] == player:
                    weight[child] = weight[n] * rows[int(nodes.data[n]) + a]
                elif nodes.actor[n] == CHANCE:
                    outcome = int(nodes.data[n]) + a
                    weight[child] = weight[n] * side.chance[outcome] * side.live[outcome]
                else:
                    weight[child] = weight[n]
                next_level.append(child)
        level = next_level
    return Strategy(tree, table, {"method": "opponent model", "player": player})


def public_frequencies(strategy: Strategy, player: int) -> dict[str, Array]:
    """Return a strategy's action frequencies at its public histories, over all hands. float64 [actions]

    Parameters
    ----------
    strategy
        Strategy of a public game.
    player
        Player whose frequencies are computed.

    Returns
    -------
    dict
        Frequencies by the line of the public history.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.trees.compile import compile_game
    >>> public_frequencies(Strategy.uniform(compile_game(kuhn())), 1)["r"]
    array([0.5, 0.5])
    """
    frequencies: dict[str, Array] = {}

    def record(history: PublicHistory, weights: Array, rows: Array) -> Array:
        frequencies[history.line] = weights @ rows
        return rows

    map_public_histories(strategy, player, record)
    return frequencies


def posterior_frequencies(
    expected: PublicActionCounts, counts: PublicActionCounts, prior: float = 5.0
) -> dict[str, Array]:
    """Return posterior action frequencies, with a Dirichlet prior of `prior` hands of the expected frequencies.

    Parameters
    ----------
    expected
        Frequencies of the base strategy by public history, float64 [actions] each.
    counts
        Observed action counts by public history; missing histories count as not observed.
    prior
        Weight of the expected frequencies in hands, above 0. The paper uses 5.

    Returns
    -------
    dict
        Frequencies by public history.

    Raises
    ------
    InputError
        If `prior` is not above 0.

    Examples
    --------
    >>> posterior_frequencies({"r": np.array([0.5, 0.5])}, {"r": np.array([5, 0])})["r"]
    array([0.75, 0.25])
    """
    if not prior > 0:
        raise InputError(f"prior={prior:g}: must be above 0 hands")
    observed = {line: counts.get(line, np.zeros(len(frequency))) for line, frequency in expected.items()}
    return {line: (prior * expected[line] + count) / (prior + count.sum()) for line, count in observed.items()}


def count_public_actions(
    tree: PublicTree, profile: Strategy, observed_player: int, hands: int, rng: np.random.Generator
) -> dict[str, Array]:
    """Sample hands of a profile and count the public actions of one player.

    Parameters
    ----------
    tree
        Tree of a public game.
    profile
        Strategy of both players.
    observed_player
        Player whose actions are counted.
    hands
        Number of hands.
    rng
        Random generator.

    Returns
    -------
    dict
        Action counts by public history, float64 [actions] each.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.trees.compile import compile_game
    >>> tree = compile_game(kuhn())
    >>> counts = count_public_actions(tree, Strategy.uniform(tree), 1, 1000, np.random.default_rng(0))
    >>> sum(row.sum() for row in counts.values())
    np.float64(1000.0)
    """
    joint = tree.deal.joint()
    hole = np.stack(np.unravel_index(rng.choice(joint.size, hands, p=joint.ravel()), joint.shape))  # [2, hands]
    lines, views = _public_lines(tree), tree.player_tables(np.asarray(profile.probabilities))
    counts = {h.line: np.zeros(len(h.actions)) for h in public_histories(tree, observed_player)}
    stack = [(0, np.arange(hands))]
    while stack:
        node, deals = stack.pop()
        actor, width, first = (int(x[node]) for x in (tree.nodes.actor, tree.nodes.width, tree.nodes.data))
        if width == 0:
            continue
        if actor == CHANCE:
            outcomes = slice(first, first + width)
            probabilities = tree.player_arrays[0].chance[outcomes] * np.ones((len(deals), 1))
            for player in (0, 1):
                probabilities = probabilities * tree.player_arrays[player].live[outcomes][:, hole[player, deals]].T
        else:
            probabilities = views[actor][first : first + width, hole[actor, deals]].T
        cumulative = probabilities.cumsum(axis=1)
        action = (rng.random((len(deals), 1)) * cumulative[:, -1:] >= cumulative[:, :-1]).sum(axis=1)
        if actor == observed_player:
            counts[lines[node]] += np.bincount(action, minlength=width)
        stack += [(child, deals[action == k]) for k, child in enumerate(tree.children(node)) if np.any(action == k)]
    return counts


def fit_l1(weights: Array, rows: Array, target: Array) -> Array:
    """Return rows with Σ_b weights_b rows_b = target, at minimal weighted L1 distance.

    Parameters
    ----------
    weights
        Probabilities of the buckets, float64 [buckets].
    rows
        Action probabilities of the buckets, float64 [buckets, actions].
    target
        Frequencies over all buckets, float64 [actions].

    Returns
    -------
    Array
        Fitted rows, float64 [buckets, actions].

    Examples
    --------
    >>> fit_l1(np.array([0.5, 0.5]), np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([0.5, 0.5])).round(3)
    array([[0.667, 0.333],
           [0.333, 0.667]])
    """
    current = weights @ rows
    excess, deficit = np.maximum(current - target, 0.0), np.maximum(target - current, 0.0)
    if deficit.sum() <= 0:
        return rows
    freed = rows * safe_divide(excess, current)
    return np.asarray(rows - freed + freed.sum(axis=1, keepdims=True) * (deficit / deficit.sum()))


def fit_l2(weights: Array, rows: Array, target: Array) -> Array:
    """Return rows with Σ_b weights_b rows_b = target, at minimal weighted squared distance.

    Newton's method on the dual.

    Parameters
    ----------
    weights
        Probabilities of the buckets, float64 [buckets].
    rows
        Action probabilities of the buckets, float64 [buckets, actions].
    target
        Frequencies over all buckets, float64 [actions].

    Returns
    -------
    Array
        Fitted rows, float64 [buckets, actions].

    Raises
    ------
    RiverboatError
        If the iteration does not reach the target.

    Examples
    --------
    >>> fit_l2(np.array([0.5, 0.5]), np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([0.5, 0.5])).round(3)
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """

    def dual(shift: Array) -> tuple[float, Array]:
        fitted = _project_to_simplex(rows + shift)
        return float(weights @ (((fitted - rows) ** 2).sum(axis=1) / 2 - fitted @ shift) + target @ shift), fitted

    shift = np.zeros(rows.shape[1])
    dual_value, fitted = dual(shift)
    for _ in range(200):
        gradient = target - weights @ fitted
        if np.abs(gradient).max() < 1e-12:
            break
        active = (fitted > 0).astype(float)  # coordinates that move with the shift
        hessian = np.diag(weights @ active) - (active * (weights / active.sum(axis=1))[:, None]).T @ active
        step = np.linalg.lstsq(hessian + 1e-12 * np.eye(len(gradient)), gradient, rcond=None)[0]
        if step @ gradient <= 0 or not np.all(np.isfinite(step)):
            step = gradient
        scale = 1.0
        while scale > 1e-12:
            new_value, candidate = dual(shift + scale * step)
            if new_value >= dual_value + 1e-4 * scale * float(step @ gradient):
                break
            scale /= 2
        else:
            scale, step = 1.0, gradient  # a safe step: the dual's gradient is 1-Lipschitz
            new_value, candidate = dual(shift + gradient)
        shift, dual_value, fitted = shift + scale * step, new_value, candidate
    if np.abs(target - weights @ fitted).max() > 1e-6:
        raise RiverboatError(f"L2 fit: frequencies {weights @ fitted} instead of {target}")
    return fitted


def _project_to_simplex(points: Array) -> Array:
    """Project each row to the nearest point of the probability simplex (Held, Wolfe & Crowder 1974).

    float64 [rows, actions]
    """
    descending = -np.sort(-points, axis=1)
    thresholds = (descending.cumsum(axis=1) - 1) / np.arange(1, points.shape[1] + 1)
    last = (descending > thresholds).sum(axis=1) - 1
    return np.asarray(np.maximum(points - thresholds[np.arange(len(points)), last][:, None], 0.0))


def fit_em(weights: Array, rows: Array, target: Array) -> Array:
    """Return rows with Σ_b weights_b rows_b = target, by the earth mover's heuristic.

    Actions are fitted from the last of the menu on.

    Parameters
    ----------
    weights
        Probabilities of the buckets, float64 [buckets].
    rows
        Action probabilities of the buckets, float64 [buckets, actions].
    target
        Frequencies over all buckets, float64 [actions].

    Returns
    -------
    Array
        Fitted rows, float64 [buckets, actions].

    Examples
    --------
    >>> fit_em(np.array([0.5, 0.5]), np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([0.5, 0.5]))
    array([[1., 0.],
           [0., 1.]])
    """
    fitted = rows.copy()
    for a in range(rows.shape[1] - 1, 0, -1):
        available = 1 - fitted[:, a + 1 :].sum(axis=1)  # mass not used by later actions
        gap = float(target[a] - weights @ fitted[:, a])
        order = np.argsort(rows[:, a], kind="stable")
        if gap > 0:
            order = order[::-1]
        limit = weights * (available - fitted[:, a] if gap > 0 else fitted[:, a])  # maximum change of each bucket
        moved = np.clip(abs(gap) - (np.cumsum(limit[order]) - limit[order]), 0.0, limit[order])
        step = np.zeros(len(weights))
        used = weights[order] > 0
        step[order[used]] = np.sign(gap) * moved[used] / weights[order][used]
        others = fitted[:, :a].sum(axis=1, keepdims=True)
        share = np.where(others > 0, fitted[:, :a] / np.where(others > 0, others, 1.0), np.eye(a)[a - 1])
        fitted[:, a] += step
        fitted[:, :a] -= step[:, None] * share
    return np.maximum(fitted, 0.0)


FITS: dict[str, Callable[[Array, Array, Array], Array]] = {"l1": fit_l1, "l2": fit_l2, "em": fit_em}


def fit_opponent_model(base: Strategy, player: int, target: PublicActionCounts, fit: str = "em") -> Strategy:
    """Return the strategy of `player` nearest to `base` with the target frequencies.

    Parameters
    ----------
    base
        Strategy that the model stays close to. The other player's rows do not change.
    player
        Modelled player.
    target
        Action probabilities at every public history of the player, as `posterior_frequencies` returns them.
    fit
        Measure of closeness: `l1`, `l2` or `em`.

    Returns
    -------
    Strategy
        The model.

    Raises
    ------
    InputError
        If the fit is unknown, or the game has no public tree.

    References
    ----------
    .. [1] Ganzfried and Sandholm, "Game theory-based opponent modeling in large imperfect-information games", AAMAS
       2011.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.trees.compile import compile_game
    >>> base = Strategy.uniform(compile_game(kuhn()))
    >>> target = {"c": np.array([0.5, 0.5]), "r": np.array([0.75, 0.25])}
    >>> fit_opponent_model(base, 1, target, "l1")["Q:r"]
    {'f': 0.75, 'c': 0.25}
    """
    check_name("fit", fit, FITS)
    return map_public_histories(
        base, player, lambda history, weights, rows: FITS[fit](weights, rows, target[history.line])
    )


@dataclass(frozen=True, eq=False)
class DBBRMatch:
    """Exact expected value of every hand of a match, to the modelling player.

    Attributes
    ----------
    expected_values
        Expected value of each hand, float64 [hands], in the unit of the game.

    Examples
    --------
    >>> DBBRMatch(np.array([0.0, 0.5])).mean
    0.25
    """

    expected_values: Array  # float64 [hands]

    @property
    def mean(self) -> float:
        """Mean expected value per hand."""
        return float(self.expected_values.mean())


def play_match(
    base: Strategy,
    opponent: Strategy,
    player: int,
    fit: str | None = "em",
    hands: int = 3000,
    learning_hands: int = 1000,
    update_every: int = 50,
    prior: float = 5.0,
    seed: int = 0,
) -> DBBRMatch:
    """Play a match: `base` for some hands, then best responses to a model of the opponent.

    Only public actions are observed.

    Parameters
    ----------
    base
        Strategy of the first hands, and the prior of the model.
    opponent
        Strategy that is played against; only the rows of the other player are used.
    player
        Seat of the modelling player.
    fit
        `l1`, `l2` or `em`; None stays with `base`.
    hands
        Number of hands.
    learning_hands
        Hands with `base` before the first model.
    update_every
        Hands between two models.
    prior
        Weight of `base` in the frequencies, in hands.
    seed
        Seed of the sampled hands.

    Returns
    -------
    DBBRMatch
        Expected value of each hand.

    Raises
    ------
    InputError
        If both strategies are not for one public tree, or a number is out of range.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.trees.compile import compile_game
    >>> uniform = Strategy.uniform(compile_game(kuhn()))
    >>> match = play_match(uniform, uniform, player=0, hands=300, learning_hands=100)
    >>> match.expected_values[0] < match.expected_values[-1]
    np.True_
    """
    tree = base.tree
    if not isinstance(tree, PublicTree) or opponent.tree.fingerprint != tree.fingerprint:
        raise InputError(f"{tree.name}: a match needs two strategies for one public tree")
    if min(hands, update_every) < 1 or learning_hands < 0:
        raise InputError(
            f"hands={hands}, learning_hands={learning_hands}, update_every={update_every}: must be at least 1, 0 and 1"
        )
    rng = np.random.default_rng(seed)
    expected = public_frequencies(base, 1 - player)
    counts = {line: np.zeros(len(frequency)) for line, frequency in expected.items()}
    expected_values = np.empty(hands)
    done = 0
    while done < hands:
        if fit is None or done < learning_hands:
            strategy, block = base, hands if fit is None else min(learning_hands, hands)
        else:
            model = fit_opponent_model(base, 1 - player, posterior_frequencies(expected, counts, prior), fit)
            strategy, block = best_response(model, player)[1], min(update_every, hands - done)
        profile = combine_strategies(strategy, opponent, player)
        expected_values[done : done + block] = quality(profile).values[player]
        if fit is not None:
            for line, observed in count_public_actions(tree, profile, 1 - player, block, rng).items():
                counts[line] += observed
        done += block
    return DBBRMatch(expected_values)


def combine_strategies(mine: Strategy, other: Strategy, player: int) -> Strategy:
    """Return a strategy with one player's rows from `mine` and all others from `other`.

    Parameters
    ----------
    mine
        Strategy of `player`.
    other
        Strategy of the other player, for the same tree.
    player
        Player 0 or 1.

    Returns
    -------
    Strategy
        The combined profile.

    Raises
    ------
    InputError
        If the game has no public tree.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.trees.compile import compile_game
    >>> uniform = Strategy.uniform(compile_game(kuhn()))
    >>> combine_strategies(uniform, uniform, 0)["J:r"]
    {'f': 0.5, 'c': 0.5}
    """
    tree = mine.tree
    if not isinstance(tree, PublicTree):
        raise InputError(f"{tree.name}: combining strategies needs a public game")
    table = np.array(other.probabilities, float)
    tree.player_tables(table)[player][:] = tree.player_tables(np.asarray(mine.probabilities))[player]
    return Strategy(tree, table)
