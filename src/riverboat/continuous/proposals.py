"""Proposal of qualitative models: read off the solution of a discretized game, simplified, and sorted by fit.

The linear program of the discretized game gives the frequency of each action at each step. Dynamic programming clusters
neighbouring steps with the same action into bands: it maximizes agreement with the solution less a penalty for each
band. Each penalty gives a model, from few bands to many. Steps that a player's own actions never reach have no weight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from riverboat.continuous.discretization import DiscretizedGame, has_linear_program, run_cfr_plus
from riverboat.continuous.game import ContinuousGame
from riverboat.continuous.strategies import (
    ActionBands,
    QualitativeModel,
    ThresholdProfile,
    enumerate_models,
    model_of_profile,
)
from riverboat.core.arrays import Array
from riverboat.solvers.exact.lp import preferred_equilibrium
from riverboat.strategies.tabular import Tree
from riverboat.trees.compile import compile_game

_LP_NOISE = 1e-9  # smaller frequencies are numerical errors of the linear program
_MIN_FREQUENCY = 0.02  # smaller frequencies are noise of the solver
MAX_KNOWN_MODELS = 128  # river models to try: one raise stays below this limit, further raises multiply their number
PENALTIES = (0.03, 0.02, 0.01, 0.005, 0.002)


@dataclass(frozen=True, eq=False)
class DiscretizedSolution:
    """The solution of a discretized game: the frequency of each action by situation, and the reach of each step."""

    game: ContinuousGame
    edges: Array  # float64 [steps + 1]
    frequencies: dict[int, Array]  # float64 [moves, steps]
    weights: dict[int, Array]  # float64 [steps]: probability of the step times the player's own reach


@dataclass(frozen=True, eq=False)
class ModelProposal:
    """A model with initial thresholds."""

    model: QualitativeModel
    profile: ThresholdProfile
    fit: float  # share of the frequencies on which the bands agree, from 0 to 1


def solve_discretized(game: ContinuousGame, steps: int = 60) -> DiscretizedSolution:
    """Solve the discretized game: the most readable equilibrium of the linear program, or CFR+ where no program exists.

    Discrete signals have one step for each value.
    """
    if game.signals.tied.all():
        steps = game.signals.mass.shape[1]
    if has_linear_program(game):
        finite = DiscretizedGame(game, steps)
        tree = compile_game(finite)
        frequencies = finite.frequencies(preferred_equilibrium(tree, _tidy_objective(finite, tree)).strategy)
        edges, dealt = finite.edges, finite.weights
    else:
        edges, dealt, frequencies = run_cfr_plus(game, steps)
    weights: dict[int, Array] = {}
    for s, situation in enumerate(game.situations):
        reach = dealt[situation.player]
        if situation.parent is not None:
            parent, move = situation.parent
            reach = weights[parent] * frequencies[parent][move]
        weights[s] = reach
    return DiscretizedSolution(game, edges, frequencies, weights)


def _tidy_objective(finite: DiscretizedGame, tree: Tree) -> Array:
    """Build a secondary objective for readable equilibria: strong hands call, and extreme hands bet and raise.

    Often a player is indifferent over a whole interval of signals, and only the total frequency of an action matters.
    Then the objective assigns bluffs to the weakest hands and calls to stronger ones. Of the strongest hands, those
    that raise later lie above those that bet. Actions without a poker letter are not affected.
    """
    t = (np.arange(finite.steps) + 0.5) / finite.steps - 0.5
    low, high = np.maximum(-t, 0.0), np.maximum(t, 0.0)
    preferences = {"c": t, "b": low + high, "r": 0.8 * low + 1.2 * high}
    out = np.zeros(tree.table_size)
    for situation in finite.game.situations:
        line = finite.lines[situation.name]
        for step in np.flatnonzero(finite.weights[situation.player] > 0):
            infoset = tree.infoset(f"{step}:{line}")
            for move, label in enumerate(situation.moves):
                if label[:1] in preferences:
                    weight = finite.weights[situation.player][step]
                    out[infoset.offset + move * infoset.stride] = weight * preferences[label[:1]][step]
    return out


def propose_models(game: ContinuousGame, steps: int = 60) -> list[ModelProposal]:
    """Propose models for a game, best fit first; each threshold costs half a percent of fit.

    The proposals come from the discretized game, and for rivers with one bet size also from the list of known models.
    """
    discretized = solve_discretized(game, steps)
    proposals: dict[tuple[tuple[int, ...], ...], ModelProposal] = {}
    for penalty in PENALTIES:
        proposal = _propose_by_penalty(discretized, penalty)
        proposals.setdefault(proposal.model.bands, proposal)
    candidates = river_models(game)
    for model in candidates if len(candidates) <= MAX_KNOWN_MODELS else []:
        proposals.setdefault(model.bands, fit_thresholds(discretized, model))
    every = [_propose_by_mass(discretized), *proposals.values()]
    return sorted(every, key=lambda proposal: 0.005 * len(proposal.model.thresholds) - proposal.fit)


def _propose_by_penalty(discretized: DiscretizedSolution, penalty: float) -> ModelProposal:
    """Find the bands with the best agreement, less `penalty` for each band."""

    def fit(s: int, weights: Array) -> tuple[ActionBands, float]:
        return _best_bands(weights, discretized.edges, penalty * max(float(discretized.weights[s].sum()), 1e-9))

    profile, agreement = _fit_profile(discretized, fit)
    return ModelProposal(model_of_profile(profile), profile, agreement)


def _fit_profile(
    discretized: DiscretizedSolution, fit: Callable[[int, Array], tuple[ActionBands, float]]
) -> tuple[ThresholdProfile, float]:
    """Fit bands to weighted frequencies, situation by situation; return them and the share that they agree on."""
    bands, agreed, weight = [], 0.0, 0.0
    for s in range(len(discretized.game.situations)):
        action_bands, score = fit(s, discretized.frequencies[s] * discretized.weights[s])
        bands.append(action_bands)
        agreed += score
        weight += float(discretized.weights[s].sum())
    return ThresholdProfile(discretized.game, tuple(bands)), agreed / weight


def _propose_by_mass(discretized: DiscretizedSolution) -> ModelProposal:
    """Build bands that keep the total frequency of every action, even if it is spread thinly.

    The most frequent actions give runs of steps. The frequency of another action inside a run widens an adjacent run of
    that action; without an adjacent run it becomes a band of its own.
    """
    bands = []
    for s in range(len(discretized.game.situations)):
        frequencies, weight = discretized.frequencies[s], discretized.weights[s]
        reached = np.flatnonzero(weight >= 1e-3 * weight.max())  # all steps if none reaches the situation
        nearest = reached[np.abs(np.arange(len(weight))[:, None] - reached).argmin(axis=1)]
        moves, widths = _band_runs(frequencies[:, nearest])
        cuts = np.interp(np.cumsum(widths)[:-1], np.arange(len(discretized.edges)), discretized.edges)
        bands.append(ActionBands(tuple(moves), tuple(map(float, cuts))).merge_narrow())
    profile = ThresholdProfile(discretized.game, tuple(bands))
    return ModelProposal(model_of_profile(profile), profile, 1.0)


def profile_of_atoms(discretized: DiscretizedSolution) -> ThresholdProfile:
    """Convert a solution with one step for each value of a discrete signal to bands that play the same frequencies.

    The actions of a value divide its atom in proportion to their frequencies. After an earlier own action, they divide
    only the part of the atom that took that action.
    """
    game, bands = discretized.game, []
    parts: dict[tuple[int, int, int], tuple[float, float]] = {}  # by situation, action and value
    for s, situation in enumerate(game.situations):
        dealt, last = game.signals.mass[situation.player], 0
        moves, cuts = list[int](), list[float]()
        for k, whole in enumerate(pairwise(discretized.edges.tolist())):
            low, high = whole if situation.parent is None else parts.get((*situation.parent, k), (whole[0], whole[0]))
            frequencies = discretized.frequencies[s][:, k]
            actions = np.flatnonzero(frequencies > _LP_NOISE).tolist() if dealt[k] > 0 and high > low else [last]
            inside = sorted(actions, key=lambda move: move != last)  # the previous action first, to merge bands
            total = max(float(frequencies[inside].sum()), _LP_NOISE)
            ends = low + (high - low) * np.cumsum(frequencies[inside]) / total
            for move, begin, end in zip(inside, [low, *ends[:-1]], ends, strict=True):
                parts[s, move, k] = float(begin), float(end)
            moves += inside
            cuts += [*ends[:-1].tolist(), whole[1]]
            last = inside[-1]
        bands.append(ActionBands(tuple(moves), tuple(cuts[:-1])).merge_narrow())
    return ThresholdProfile(game, tuple(bands))


def _band_runs(frequencies: Array) -> tuple[list[int], list[float]]:
    """Return actions and widths in steps that keep the total frequency of every action.

    frequencies: float64 [moves, steps]
    """
    steps = frequencies.shape[1]
    best = np.argmax(frequencies, axis=0)
    runs = [(int(best[a]), a, b) for a, b in pairwise([0, *(np.flatnonzero(np.diff(best)) + 1), steps])]
    extra_width = np.zeros(len(runs))  # width that each run gains from its neighbours
    pieces: list[list[tuple[float, int, float]]] = [[] for _ in runs]  # bands inside: center, action, width
    for n, (move, low, high) in enumerate(runs):
        for other in range(len(frequencies)):
            if other == move:
                continue
            inside = frequencies[other, low:high] > _MIN_FREQUENCY
            ends = np.flatnonzero(np.diff(np.concatenate([[0], inside.astype(int), [0]])))
            for a, b in ends.reshape(-1, 2) + low:
                width = float(frequencies[other, a:b].sum())
                extra_width[n] -= width
                if a == low and n > 0 and runs[n - 1][0] == other:
                    extra_width[n - 1] += width
                elif b == high and n + 1 < len(runs) and runs[n + 1][0] == other:
                    extra_width[n + 1] += width
                else:
                    centre = float((frequencies[other, a:b] * (np.arange(a, b) + 0.5)).sum() / width)
                    pieces[n].append((centre, other, width))
    moves, widths = list[int](), list[float]()
    for (move, low, high), extra, inner in zip(runs, extra_width, pieces, strict=True):
        remaining = max(high - low + extra, 0.0)
        taken = 0.0
        for centre, other, width in sorted(inner):
            part = min(max((centre - low) / (high - low) * remaining - taken, 0.0), remaining - taken)
            moves += [move, other]
            widths += [part, width]
            taken += part
        moves.append(move)
        widths.append(remaining - taken)
    return moves, widths


def fit_thresholds(discretized: DiscretizedSolution, model: QualitativeModel) -> ModelProposal:
    """Fit the thresholds of a model to the discretized solution."""
    return ModelProposal(
        model, *_fit_profile(discretized, lambda s, weights: _best_cuts(weights, discretized.edges, model.bands[s]))
    )


def _best_bands(weights: Array, edges: Array, penalty: float) -> tuple[ActionBands, float]:
    """Find bands of any actions that agree best with weighted frequencies, less `penalty` for each change of action.

    Dynamic programming over steps; also return the agreement. weights: float64 [moves, steps]
    """
    moves, steps = weights.shape
    best = weights[:, 0].copy()
    back = np.zeros((moves, steps), int)
    for k in range(1, steps):
        jump = int(np.argmax(best))
        stay = best >= best[jump] - penalty
        back[:, k] = np.where(stay, np.arange(moves), jump)
        best = np.where(stay, best, best[jump] - penalty) + weights[:, k]
    move = int(np.argmax(best))
    moves_by_step = [move]
    for k in range(steps - 1, 0, -1):
        move = int(back[move, k])
        moves_by_step.append(move)
    moves_by_step.reverse()
    score = float(weights[moves_by_step, np.arange(steps)].sum())
    return ActionBands(tuple(moves_by_step), tuple(map(float, edges[1:-1]))).merge_narrow(), score


def _best_cuts(weights: Array, edges: Array, moves: tuple[int, ...]) -> tuple[ActionBands, float]:
    """Find cuts between bands of given actions that agree best with weighted frequencies, by dynamic programming.

    Also return the agreement. weights: float64 [moves, steps]
    """
    total = np.concatenate([np.zeros((len(weights), 1)), np.cumsum(weights, axis=1)], axis=1)  # up to each edge
    score = total[moves[0]].copy()
    back = []
    for move in moves[1:]:
        gain = score - total[move]
        at = np.array([int(np.argmax(gain[: k + 1])) for k in range(len(gain))])
        back.append(at)
        score = gain[at] + total[move]
    k, cuts = len(edges) - 1, []
    for at in reversed(back):
        k = int(at[k])
        cuts.append(float(edges[k]))
    return ActionBands(moves, tuple(reversed(cuts))), float(score[-1])


def river_models(game: ContinuousGame) -> list[QualitativeModel]:
    """List all plausible models of a river with one bet size; none for other games.

    The opener may bluff, and the caller may bluff-raise. The first player may also check its best hands to raise. A
    bluff-raise uses the weakest hands, or the best of those that would fold.
    """
    lists = {"xb": ("x b", "b x b"), "fcr": ("f c", "f c r", "r f c r", "f r c r"), "fc": ("f c",)}
    by_moves = {frozenset(moves): words for moves, words in lists.items()}
    choices: dict[str, tuple[str, ...]] = {}
    for situation in game.situations:
        if frozenset(situation.moves) not in by_moves:
            return []
        choices[situation.name] = by_moves[frozenset(situation.moves)]
        if "b" in situation.moves and situation.parent is None and situation.player == 0:
            choices[situation.name] += ("b x b x", "b x b x b")
    return enumerate_models(game, choices)


def add_raise(model: QualitativeModel, smaller: ContinuousGame, larger: ContinuousGame) -> QualitativeModel:
    """Extend a model of the river `smaller` to the river `larger`, which has one more raise.

    A situation that could only fold or call now also raises: with its strongest hands, and with its weakest as a bluff.
    The new situations fold weak hands and call with strong ones.
    """
    old = {situation.name: s for s, situation in enumerate(smaller.situations)}
    bands = []
    for situation in larger.situations:
        if situation.name not in old:
            bands.append(tuple(range(len(situation.moves))))  # fold, call, and every raise once
            continue
        known = smaller.situations[old[situation.name]].moves
        moves = [situation.moves.index(known[m]) for m in model.bands[old[situation.name]]]
        new = [m for m, label in enumerate(situation.moves) if label not in known][:1]
        bands.append((*new, *moves, *new))
    return QualitativeModel(f"{model.name}, one raise more", tuple(bands))
