"""Piecewise polynomials: sums, upper envelopes and integrals without a grid.

A function is `breaks` and one row of coefficients for each piece, in powers of the distance from the piece's begin.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from riverboat.core.arrays import Array

_TINY = 1e-15  # pieces and leading coefficients below this, relative to the whole, are rounding


@dataclass(frozen=True, eq=False)
class Piecewise:
    """A function on an interval."""

    breaks: Array  # float64 [pieces + 1]
    coef: Array  # float64 [pieces, degree + 1], lowest power first

    def __call__(self, x: Array) -> Array:
        x = np.asarray(x, float)
        k = np.clip(np.searchsorted(self.breaks, x, side="right") - 1, 0, len(self.coef) - 1)
        return evaluate(self.coef[k], x - self.breaks[k])

    def refined(self, breaks: Array) -> Piecewise:
        """The same function on more pieces; `breaks` contains the old ones."""
        middle = (breaks[:-1] + breaks[1:]) / 2
        k = np.clip(np.searchsorted(self.breaks, middle, side="right") - 1, 0, len(self.coef) - 1)
        return Piecewise(breaks, shifted(self.coef[k], breaks[:-1] - self.breaks[k]))

    def __add__(self, other: Piecewise) -> Piecewise:
        breaks = merged(self.breaks, other.breaks)
        a, b = self.refined(breaks).coef, other.refined(breaks).coef
        return Piecewise(breaks, padded(a, b.shape[-1]) + padded(b, a.shape[-1]))


def merged(*breaks: Array) -> Array:
    """Breaks of several functions as one list, without pieces that are rounding."""
    if len(breaks) == 2 and breaks[0] is breaks[1]:
        return breaks[0]
    places = np.unique(np.concatenate(breaks))
    span = places[-1] - places[0]
    keep = np.concatenate([[True], np.diff(places) > _TINY * span])
    kept: Array = places[keep]
    return kept


def padded(coef: Array, width: int) -> Array:
    """Coefficients with zeros for higher powers."""
    more = width - coef.shape[-1]
    return coef if more <= 0 else np.concatenate([coef, np.zeros((*coef.shape[:-1], more))], axis=-1)


def evaluate(coef: Array, u: Array) -> Array:
    """Polynomials at places, by Horner's rule."""
    out = np.zeros(np.broadcast_shapes(coef.shape[:-1], np.shape(u)))
    for k in range(coef.shape[-1] - 1, -1, -1):
        out = out * u + coef[..., k]
    return out


def shifted(coef: Array, by: Array) -> Array:
    """Coefficients of u ↦ p(u + by)."""
    out = np.zeros_like(coef)
    degree = coef.shape[-1] - 1
    for k in range(degree + 1):
        for j in range(k + 1):
            out[..., j] += comb(k, j) * coef[..., k] * by ** (k - j)
    return out


def product(a: Array, b: Array) -> Array:
    """Coefficients of a product."""
    shape = (*np.broadcast_shapes(a.shape[:-1], b.shape[:-1]), a.shape[-1] + b.shape[-1] - 1)
    out = np.zeros(shape)
    for k in range(a.shape[-1]):
        out[..., k : k + b.shape[-1]] += a[..., k : k + 1] * b
    return out


def integral(coef: Array, width: Array) -> float:
    """The integral over all pieces."""
    powers = np.arange(1, coef.shape[-1] + 1)
    return float(np.sum(coef * width[:, None] ** powers / powers))


def envelope(functions: list[Piecewise]) -> tuple[Piecewise, Array]:
    """The pointwise maximum, and which function is the largest on each of its pieces (the first of equal ones)."""
    breaks = merged(*(f.breaks for f in functions))
    if len(functions) == 2:
        breaks = merged(functions[0].breaks, functions[1].breaks)
    width = max(f.coef.shape[-1] for f in functions)
    stack = np.stack([padded(f.refined(breaks).coef, width) for f in functions])
    cuts = [breaks]
    for a in range(len(functions)):
        for b in range(a):
            cuts.append(_crossings(breaks, stack[a] - stack[b]))
    finer = merged(*cuts)
    middle = (finer[:-1] + finer[1:]) / 2
    k = np.clip(np.searchsorted(breaks, middle, side="right") - 1, 0, len(breaks) - 2)
    pieces = stack[:, k]
    best = np.argmax(evaluate(pieces, middle - breaks[k]), axis=0)
    chosen = pieces[best, np.arange(len(best))]
    return Piecewise(finer, shifted(chosen, finer[:-1] - breaks[k])), best


def _crossings(breaks: Array, coef: Array) -> Array:
    """Where polynomials change sign inside their pieces."""
    width = np.diff(breaks)
    size = np.abs(coef * width[:, None] ** np.arange(coef.shape[-1])).max(axis=0, initial=0.0)
    degree = max((k for k in range(coef.shape[-1]) if size[k] > 0), default=0)
    if degree == 0:
        return np.zeros(0)
    if degree == 1:
        with np.errstate(divide="ignore", invalid="ignore"):
            roots = (-coef[:, 0] / coef[:, 1])[:, None]
    else:
        roots = np.full((len(coef), degree), np.nan)
        for s, row in enumerate(coef[:, : degree + 1]):
            scaled = row * width[s] ** np.arange(degree + 1)
            top = np.abs(scaled).max()
            live = np.flatnonzero(np.abs(scaled) > 1e-14 * top) if top > 0 else np.zeros(0, int)
            if len(live) and live[-1] > 0:
                zeros = np.roots(scaled[: live[-1] + 1][::-1])
                real = zeros.real[np.abs(zeros.imag) < 1e-9] * width[s]
                roots[s, : len(real)] = real
    with np.errstate(invalid="ignore"):
        inside = (roots > 0) & (roots < width[:, None])
    return (breaks[:-1, None] + np.where(inside, roots, 0.0))[inside]
