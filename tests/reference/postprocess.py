"""Purification, thresholding and Tartanian7's rule for rows, with whole arrays."""

from __future__ import annotations

from functools import partial

import numpy as np

TIE = 1e-9


def purify(rows, tie=TIE):
    """Only the most likely action; ties share equally."""
    best = rows >= rows.max(axis=-1, keepdims=True) - tie
    return best / best.sum(axis=-1, keepdims=True)


def threshold(rows, epsilon):
    """Drop actions with probability below ε and renormalize; a row without any left is purified."""
    stored = np.where(rows >= epsilon - TIE, rows, 0.0)
    total = stored.sum(axis=-1, keepdims=True)
    return np.where(total > 0, stored / np.where(total > 0, total, 1.0), purify(rows))


def tartanian7(rows, labels, fold_threshold, epsilon=None):
    """Fold, or choose a kind of action, then an action."""
    choose = purify if epsilon is None else partial(threshold, epsilon=epsilon)
    kinds = np.array([{"f": 0, "c": 1}.get(label, 2) for label in labels])
    members = kinds == np.unique(kinds)[:, None]  # bool [kinds present, actions]
    among_kinds = choose(rows @ members.T)
    out = np.zeros_like(rows)
    for k, member in enumerate(members):
        part = rows[..., member]
        mass = part.sum(axis=-1, keepdims=True)
        inside = choose(np.where(mass > 0, part / np.where(mass > 0, mass, 1.0), 1.0 / member.sum()))
        out[..., member] = among_kinds[..., k, None] * inside
    if 0 in kinds:
        folds = rows[..., kinds == 0].sum(axis=-1, keepdims=True) > fold_threshold + TIE
        out = np.where(folds, (kinds == 0).astype(float), out)
    return out
