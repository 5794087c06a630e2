"""Piecewise polynomials: sums, upper envelopes and integrals without a grid.

A function is `breaks` and one row of coefficients for each piece, in powers of the distance from the start of the
piece.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.polynomial.polynomial import polyval

from riverboat.core.arrays import Array

_TINY = 1e-15  # pieces and leading coefficients below this, relative to the whole, are rounding


@dataclass(frozen=True, eq=False)
class PiecewisePolynomial:
    """A piecewise polynomial on an interval."""

    breaks: Array  # float64 [pieces + 1]
    coef: Array  # float64 [pieces, degree + 1], lowest power first

    def refine(self, breaks: Array) -> PiecewisePolynomial:
        """Return the same function on more pieces; `breaks` contains the old ones."""
        middle = (breaks[:-1] + breaks[1:]) / 2
        k = np.clip(np.searchsorted(self.breaks, middle, side="right") - 1, 0, len(self.coef) - 1)
        return PiecewisePolynomial(breaks, _shift_polynomial(self.coef[k], breaks[:-1] - self.breaks[k]))

    def __add__(self, other: PiecewisePolynomial) -> PiecewisePolynomial:
        breaks = _merge_breaks(self.breaks, other.breaks)
        a, b = self.refine(breaks).coef, other.refine(breaks).coef
        return PiecewisePolynomial(breaks, _pad_coefficients(a, b.shape[-1]) + _pad_coefficients(b, a.shape[-1]))


def _merge_breaks(*breaks: Array) -> Array:
    """Merge the breaks of several functions, without pieces that are rounding errors."""
    if len(breaks) == 2 and breaks[0] is breaks[1]:
        return breaks[0]
    points = np.unique(np.concatenate(breaks))
    keep = np.concatenate([[True], np.diff(points) > _TINY * (points[-1] - points[0])])
    return np.asarray(points[keep])


def _pad_coefficients(coef: Array, width: int) -> Array:
    """Pad coefficients with zeros for higher powers."""
    more = width - coef.shape[-1]
    return coef if more <= 0 else np.concatenate([coef, np.zeros((*coef.shape[:-1], more))], axis=-1)


def evaluate_polynomial(coef: Array, u: Array) -> Array:
    """Evaluate polynomials by Horner's rule. coef: [..., degree + 1], lowest power first; u: points [...]"""
    return np.asarray(polyval(u, np.moveaxis(coef, -1, 0), tensor=False))


def _shift_polynomial(coef: Array, by: Array) -> Array:
    """Return the coefficients of u ↦ p(u + by)."""
    out = np.zeros_like(coef)
    degree = coef.shape[-1] - 1
    for k in range(degree + 1):
        for j in range(k + 1):
            out[..., j] += comb(k, j) * coef[..., k] * by ** (k - j)
    return out


def multiply_polynomials(a: Array, b: Array) -> Array:
    """Return the coefficients of products of polynomials, lowest power first. [..., degree + 1] all"""
    out = np.zeros((*np.broadcast_shapes(a.shape[:-1], b.shape[:-1]), a.shape[-1] + b.shape[-1] - 1))
    for k in range(a.shape[-1]):
        out[..., k : k + b.shape[-1]] += a[..., k : k + 1] * b
    return out


def integrate(coef: Array, width: Array) -> float:
    """Integrate a piecewise polynomial. coef: [pieces, degree + 1]; width: lengths of the pieces, [pieces]"""
    powers = np.arange(1, coef.shape[-1] + 1)
    return float(np.sum(coef * width[:, None] ** powers / powers))


def upper_envelope(functions: list[PiecewisePolynomial]) -> tuple[PiecewisePolynomial, Array]:
    """Return the pointwise maximum, and the index of the largest function on each of its pieces (the first on ties)."""
    breaks = _merge_breaks(*(f.breaks for f in functions))
    width = max(f.coef.shape[-1] for f in functions)
    stack = np.stack([_pad_coefficients(f.refine(breaks).coef, width) for f in functions])
    finer = _merge_breaks(breaks, *(_crossings(breaks, b - a) for a, b in combinations(stack, 2)))
    middle = (finer[:-1] + finer[1:]) / 2
    k = np.clip(np.searchsorted(breaks, middle, side="right") - 1, 0, len(breaks) - 2)
    pieces = stack[:, k]
    best = np.argmax(evaluate_polynomial(pieces, middle - breaks[k]), axis=0)
    chosen = pieces[best, np.arange(len(best))]
    return PiecewisePolynomial(finer, _shift_polynomial(chosen, finer[:-1] - breaks[k])), best


def _crossings(breaks: Array, coef: Array) -> Array:
    """Return the real roots of piecewise polynomials that lie inside their own pieces. coef: [pieces, degree + 1]"""
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
            nonzero = np.flatnonzero(np.abs(scaled) > 1e-14 * top) if top > 0 else np.zeros(0, int)
            if len(nonzero) and nonzero[-1] > 0:
                zeros = np.roots(scaled[: nonzero[-1] + 1][::-1])
                real = zeros.real[np.abs(zeros.imag) < 1e-9] * width[s]
                roots[s, : len(real)] = real
    with np.errstate(invalid="ignore"):
        inside = (roots > 0) & (roots < width[:, None])
    return (breaks[:-1, None] + np.where(inside, roots, 0.0))[inside]
