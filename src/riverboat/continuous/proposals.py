"""Models that are proposed: read off the solution of a finite game, simplified, and put in the order of their fit.

The linear program of the game in steps gives each situation the frequencies of its moves, step by step. Steps that neighbour
each other and play alike are clustered into bands by dynamic programming: the bands that agree with the most of what is
played, less a penalty for each band. Each penalty gives a model, few bands to many. Steps that a player's own moves never
reach count for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from riverboat.continuous.discretization import Steps, has_program
from riverboat.continuous.game import ContinuousGame
from riverboat.continuous.iteration import iterate
from riverboat.continuous.profile import Bands, Profile
from riverboat.continuous.qualitative_model import Model, every, of_profile
from riverboat.core.arrays import Array
from riverboat.solvers.exact.lp import preferred
from riverboat.strategies.tabular import Tree
from riverboat.trees.compile import compile_game

_NOISE = 1e-9  # frequencies that a linear program leaves where there are none
_SEEN = 0.02  # frequencies below this are noise of the solver
MOST_KNOWN = 128  # models of rivers that are tried: those with one raise; further raises multiply them
PENALTIES = (0.03, 0.02, 0.01, 0.005, 0.002)


@dataclass(frozen=True, eq=False)
class Reading:
    """What a finite game plays: by situation the frequency of each move, and how often each step gets there."""

    game: ContinuousGame
    edges: Array  # float64 [steps + 1]
    frequencies: dict[int, Array]  # float64 [moves, steps]
    weights: dict[int, Array]  # float64 [steps], by the player's own moves and the probability of the step


@dataclass(frozen=True, eq=False)
class Proposal:
    """A model with thresholds to start from."""

    model: Model
    profile: Profile
    fit: float  # share of what is played that the bands agree with, from 0 to 1


def read(game: ContinuousGame, steps: int = 60) -> Reading:
    """Solve the game in steps: by linear programming and the tidiest of its equilibria, else by iteration.

    Discrete signals are as many steps as there are values.
    """
    if game.signals.tied.all():
        steps = game.signals.mass.shape[1]
    if has_program(game):
        finite = Steps(game, steps)
        tree = compile_game(finite)
        played = finite.frequencies(preferred(tree, _tidy(finite, tree)).strategy)
        edges, dealt = finite.edges, np.stack(finite.weights)
    else:
        edges, dealt, played = iterate(game, steps)
    weights: dict[int, Array] = {}
    for s, situation in enumerate(game.situations):
        reach = dealt[situation.player]
        if situation.parent is not None:
            before, move = situation.parent
            reach = weights[before] * played[before][move]
        weights[s] = reach
    return Reading(game, edges, played, weights)


def _tidy(finite: Steps, tree: Tree) -> Array:
    """What makes an equilibrium easy to read: strong hands call, bets and raises are made with the extremes.

    Often a player is indifferent over a whole interval of signals, and only how many of them play a move counts. Then bluffs
    belong to the weakest, calls to the stronger ones, and of the strongest those that raise later lie above those that bet.
    Moves that are not named as in poker are left as they are.
    """
    t = (np.arange(finite.steps) + 0.5) / finite.steps - 0.5
    low, high = np.maximum(-t, 0.0), np.maximum(t, 0.0)
    wishes = {"c": t, "b": low + high, "r": 0.8 * low + 1.2 * high}
    out = np.zeros(tree.table)
    for situation in finite.game.situations:
        line = finite.line(situation)
        for step in np.flatnonzero(finite.weights[situation.player] > 0):
            infoset = tree.infoset(f"{step}:{line}")
            for move, label in enumerate(situation.moves):
                if label[:1] in wishes:
                    weight = finite.weights[situation.player][step]
                    out[infoset.offset + move * infoset.stride] = weight * wishes[label[:1]][step]
    return out


def propose(game: ContinuousGame, steps: int = 60) -> list[Proposal]:
    """Models for a game, the best fit first, where each threshold counts for half a percent of it.

    Those that are read off the game in steps, and for rivers with one size of bet also the known ones.
    """
    reading = read(game, steps)
    proposals: dict[tuple[tuple[int, ...], ...], Proposal] = {}
    for penalty in PENALTIES:
        proposal = simplify(reading, penalty)
        proposals.setdefault(proposal.model.bands, proposal)
    known = river_models(game)
    for model in known if len(known) <= MOST_KNOWN else []:
        proposals.setdefault(model.bands, fit(reading, model))
    return sorted([by_mass(reading), *proposals.values()], key=lambda p: 0.005 * len(p.model.thresholds) - p.fit)


def simplify(reading: Reading, penalty: float) -> Proposal:
    """The bands that agree best with what is played, less `penalty` for each."""
    bands, agreed, weight = [], 0.0, 0.0
    for s in range(len(reading.game.situations)):
        worth = reading.frequencies[s] * reading.weights[s]
        one, score = _segments(worth, reading.edges, penalty * max(float(reading.weights[s].sum()), 1e-9))
        bands.append(one)
        agreed += score
        weight += float(reading.weights[s].sum())
    profile = Profile(reading.game, tuple(bands))
    return Proposal(of_profile(profile), profile, agreed / weight)


def by_mass(reading: Reading) -> Proposal:
    """Bands that play every move as often as it is played, however thinly it is spread.

    The likeliest moves give runs of steps. What another move has inside a run widens its own neighbouring run where it
    touches it, and becomes a band of its own where it does not.
    """
    bands = []
    for s in range(len(reading.game.situations)):
        played, weight = reading.frequencies[s], reading.weights[s]
        reached = np.flatnonzero(weight >= 1e-3 * weight.max())  # all of them where nobody comes there
        nearest = reached[np.abs(np.arange(len(weight))[:, None] - reached).argmin(axis=1)]
        moves, widths = _runs(played[:, nearest])
        cuts = np.interp(np.cumsum(widths)[:-1], np.arange(len(reading.edges)), reading.edges)
        bands.append(Bands(tuple(moves), tuple(map(float, cuts))).merged())
    profile = Profile(reading.game, tuple(bands))
    return Proposal(of_profile(profile), profile, 1.0)


def of_atoms(reading: Reading) -> Profile:
    """Bands of a game with discrete signals, read in as many steps: a value's moves have the shares of the reading.

    Where a player has moved before, they share the part of the value that has moved there.
    """
    game, bands = reading.game, []
    parts: dict[tuple[int, int, int], tuple[float, float]] = {}  # by situation, move and value
    for s, situation in enumerate(game.situations):
        dealt, last = game.signals.mass[situation.player], 0
        moves, cuts = list[int](), list[float]()
        for k, whole in enumerate(pairwise(reading.edges.tolist())):
            low, high = whole if situation.parent is None else parts.get((*situation.parent, k), (whole[0], whole[0]))
            played = reading.frequencies[s][:, k]
            some = np.flatnonzero(played > _NOISE).tolist() if dealt[k] > 0 and high > low else [last]
            inside = sorted(some, key=lambda move: move != last)  # goes on with the move before, where it can
            ends = low + (high - low) * np.cumsum(played[inside]) / max(float(played[inside].sum()), _NOISE)
            for move, begin, end in zip(inside, [low, *ends[:-1]], ends, strict=True):
                parts[s, move, k] = float(begin), float(end)
            moves += inside
            cuts += [*ends[:-1].tolist(), whole[1]]
            last = inside[-1]
        bands.append(Bands(tuple(moves), tuple(cuts[:-1])).merged())
    return Profile(game, tuple(bands))


def _runs(played: Array) -> tuple[list[int], list[float]]:
    """Moves and widths in steps, so that every move keeps its share. played: float64 [moves, steps]"""
    steps = played.shape[1]
    best = np.argmax(played, axis=0)
    borders = [0, *(np.flatnonzero(np.diff(best)) + 1), steps]
    runs = [(int(best[a]), a, b) for a, b in pairwise(borders)]
    more = np.zeros(len(runs))  # what neighbours give to each run
    pieces: list[list[tuple[float, int, float]]] = [[] for _ in runs]  # bands inside: where, which, how wide
    for n, (move, low, high) in enumerate(runs):
        for other in range(len(played)):
            if other == move:
                continue
            inside = played[other, low:high] > _SEEN
            ends = np.flatnonzero(np.diff(np.concatenate([[0], inside.astype(int), [0]])))
            for a, b in ends.reshape(-1, 2) + low:
                width = float(played[other, a:b].sum())
                more[n] -= width
                if a == low and n > 0 and runs[n - 1][0] == other:
                    more[n - 1] += width
                elif b == high and n + 1 < len(runs) and runs[n + 1][0] == other:
                    more[n + 1] += width
                else:
                    centre = float((played[other, a:b] * (np.arange(a, b) + 0.5)).sum() / width)
                    pieces[n].append((centre, other, width))
    moves: list[int] = []
    widths: list[float] = []
    for (move, low, high), extra, inner in zip(runs, more, pieces, strict=True):
        left = max(high - low + extra, 0.0)
        taken = 0.0
        for centre, other, width in sorted(inner):
            part = min(max((centre - low) / (high - low) * left - taken, 0.0), left - taken)
            moves += [move, other]
            widths += [part, width]
            taken += part
        moves.append(move)
        widths.append(left - taken)
    return moves, widths


def fit(reading: Reading, model: Model) -> Proposal:
    """A given model at the thresholds that agree best with what is played."""
    bands, agreed, weight = [], 0.0, 0.0
    for s, moves in enumerate(model.bands):
        worth = reading.frequencies[s] * reading.weights[s]
        one, score = _placed(worth, reading.edges, moves)
        bands.append(one)
        agreed += score
        weight += float(reading.weights[s].sum())
    return Proposal(model, Profile(reading.game, tuple(bands)), agreed / weight)


def _segments(worth: Array, edges: Array, penalty: float) -> tuple[Bands, float]:
    """Bands of any moves; worth is float64 [moves, steps]."""
    moves, steps = worth.shape
    best = worth[:, 0].copy()
    back = np.zeros((moves, steps), int)
    for k in range(1, steps):
        jump = int(np.argmax(best))
        stay = best >= best[jump] - penalty
        back[:, k] = np.where(stay, np.arange(moves), jump)
        best = np.where(stay, best, best[jump] - penalty) + worth[:, k]
    here = int(np.argmax(best))
    played = [here]
    for k in range(steps - 1, 0, -1):
        here = int(back[here, k])
        played.append(here)
    played.reverse()
    score = float(worth[played, np.arange(steps)].sum())
    return Bands(tuple(played), tuple(map(float, edges[1:-1]))).merged(), score


def _placed(worth: Array, edges: Array, moves: tuple[int, ...]) -> tuple[Bands, float]:
    """Given moves at the best cuts between steps."""
    total = np.concatenate([np.zeros((len(worth), 1)), np.cumsum(worth, axis=1)], axis=1)  # up to each edge
    score = total[moves[0]].copy()
    back = []
    for move in moves[1:]:
        gain = score - total[move]
        top = np.maximum.accumulate(gain)
        at = np.array([int(np.argmax(gain[: k + 1])) for k in range(len(gain))])
        back.append(at)
        score = top + total[move]
    k, cuts = len(edges) - 1, []
    for at in reversed(back):
        k = int(at[k])
        cuts.append(float(edges[k]))
    return Bands(moves, tuple(reversed(cuts))), float(score[-1])


def river_models(game: ContinuousGame) -> list[Model]:
    """All models of a river with one size of bet that are plausible; none for other games.

    Who opens may bluff, who answers may raise as a bluff. The first to act may also check its best hands, to raise; a
    bluff-raise is made with the weakest hands, or with the best of those that would fold.
    """
    opening = ("x b", "b x b", "b x b x", "b x b x b")
    choices: dict[str, tuple[str, ...]] = {}
    for situation in game.situations:
        if set(situation.moves) == {"x", "b"}:
            choices[situation.name] = opening if situation.parent is None and situation.player == 0 else opening[:2]
        elif set(situation.moves) == {"f", "c", "r"}:
            choices[situation.name] = ("f c", "f c r", "r f c r", "f r c r")
        elif set(situation.moves) == {"f", "c"}:
            choices[situation.name] = ("f c",)
        else:
            return []
    return every(game, choices)


def further_raises(model: Model, smaller: ContinuousGame, larger: ContinuousGame) -> Model:
    """A model for a game with one more raise than the model's game: what is new answers as the last raise was answered.

    The situation that could only fold or call now also raises: with its strongest hands, and with its weakest as a bluff. The
    new situations fold and call.
    """
    old = {situation.name: s for s, situation in enumerate(smaller.situations)}
    bands = []
    for situation in larger.situations:
        if situation.name not in old:
            bands.append(_weak_to_strong(situation.moves))
            continue
        s = old[situation.name]
        words = [smaller.situations[s].moves[m] for m in model.bands[s]]
        new = [m for m in situation.moves if m not in smaller.situations[s].moves]
        moves = [situation.moves.index(word) for word in words]
        bands.append((situation.moves.index(new[0]), *moves, situation.moves.index(new[0])) if new else tuple(moves))
    return Model(f"{model.name}, one raise more", tuple(bands))


def _weak_to_strong(moves: tuple[str, ...]) -> tuple[int, ...]:
    """Fold, call, and every raise once, in the order of the moves."""
    return tuple(range(len(moves)))
