"""Compiled post-processing of rows of probabilities; `strategies.postprocessing` says what the rules are."""

from __future__ import annotations

from typing import NamedTuple

from riverboat.compiled.jit import kernel, part

TIE = 1e-9  # probabilities this close are equal: solvers leave rounding errors
NONE, PURIFY, THRESHOLD, TARTANIAN7 = 0, 1, 2, 3
FOLD_KIND, CALL_KIND, BET_KIND = 0, 1, 2
WITHOUT = -1.0  # in place of ε: only the most likely is kept


class Post(NamedTuple):
    """A rule."""

    rule: int  # NONE …
    fold: float  # above which TARTANIAN7 folds
    epsilon: float  # of THRESHOLD, and of TARTANIAN7 where it is not WITHOUT


@part
def kept(x, most, unit, epsilon):
    """The weight of a move of probability x, the most likely having `most`, both in parts of a unit."""
    if epsilon < 0 or most < (epsilon - TIE) * unit:  # nothing would be left
        return 1.0 if x >= most - TIE * unit else 0.0
    return x if x >= (epsilon - TIE) * unit else 0.0


@part
def keep_all(rows, i, epsilon):
    """Purify a row, or threshold it."""
    most, total = 0.0, 0.0
    for k in range(rows.shape[1]):
        most = max(most, rows[i, k])
    for k in range(rows.shape[1]):
        total += kept(rows[i, k], most, 1.0, epsilon)
    for k in range(rows.shape[1]):
        rows[i, k] = kept(rows[i, k], most, 1.0, epsilon) / total


@part
def kind_mass(rows, i, kinds, kind):
    """Probability of all moves of a kind; -1 where there are none."""
    mass = -1.0
    for k in range(rows.shape[1]):
        if kinds[k] == kind:
            mass = max(mass, 0.0) + rows[i, k]
    return mass


@part
def keep_kind(rows, i, kinds, kind, mass, share, epsilon):
    """Divide a share among the moves of a kind, whose probabilities sum to `mass`."""
    most, total, count = 0.0, 0.0, 0
    for k in range(rows.shape[1]):
        if kinds[k] == kind:
            most = max(most, rows[i, k])
            count += 1
    for k in range(rows.shape[1]):
        if kinds[k] == kind and mass > 0:
            total += kept(rows[i, k], most, mass, epsilon)
    for k in range(rows.shape[1]):
        if kinds[k] == kind:
            inside = kept(rows[i, k], most, mass, epsilon) / total if mass > 0 else 1.0 / count
            rows[i, k] = share * inside


@part
def fold_or_choose(rows, i, kinds, fold, epsilon):
    """Tartanian7's: fold surely above a share of folds; else choose among the kinds, then inside each."""
    folds, calls, bets = (
        kind_mass(rows, i, kinds, FOLD_KIND),
        kind_mass(rows, i, kinds, CALL_KIND),
        kind_mass(rows, i, kinds, BET_KIND),
    )
    if folds > fold + TIE:
        for k in range(rows.shape[1]):
            rows[i, k] = 1.0 if kinds[k] == FOLD_KIND else 0.0
        return
    most = max(folds, calls, bets)
    first = kept(folds, most, 1.0, epsilon) if folds >= 0 else 0.0
    second = kept(calls, most, 1.0, epsilon) if calls >= 0 else 0.0
    third = kept(bets, most, 1.0, epsilon) if bets >= 0 else 0.0
    total = first + second + third
    keep_kind(rows, i, kinds, FOLD_KIND, folds, first / total, epsilon)
    keep_kind(rows, i, kinds, CALL_KIND, calls, second / total, epsilon)
    keep_kind(rows, i, kinds, BET_KIND, bets, third / total, epsilon)


@part
def process(
    post,  # Post
    kinds,  # int8 [moves]: FOLD_KIND …
    rows,  # float64 [n, moves] INOUT
    i,
):
    """What is played instead of row i."""
    if post.rule == PURIFY or post.rule == THRESHOLD:
        keep_all(rows, i, post.epsilon)
    elif post.rule == TARTANIAN7:
        fold_or_choose(rows, i, kinds, post.fold, post.epsilon)


@kernel
def process_all(post, kinds, rows):
    """`process` for all rows."""
    for i in range(len(rows)):
        process(post, kinds, rows, i)
