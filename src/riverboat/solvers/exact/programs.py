"""Parts of programs over realization plans: the constraints of plans, and envelopes of their products."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack, vstack

from riverboat.games.base import Array
from riverboat.solvers.exact import _kernels
from riverboat.trees.history import Treeplex


def plan_constraints(plex: Treeplex) -> tuple[csr_array, Array]:
    """Return E and e: the plans are the x >= 0 with E x = e. csr [1 + infosets, sequences], float64 [1 + infosets]

    Row 0 sets the empty sequence to one. Row i + 1 says that the probabilities of the actions at information set i sum
    to that of its parent sequence.
    """
    sets = np.arange(1, len(plex.parent) + 1)
    rows = np.concatenate([[0], sets, np.repeat(sets, plex.width)])
    columns = np.concatenate([[0], plex.parent, np.arange(1, plex.sequences)])
    values = np.ones(len(rows))
    values[1 : len(sets) + 1] = -1.0
    right = np.zeros(len(sets) + 1)
    right[0] = 1.0
    return csr_array((values, (rows, columns)), shape=(len(right), plex.sequences)), right


def place_columns(table: Any, first: int, columns: int) -> Any:
    """Return a table as columns `first` … of a program with `columns` columns, the others zero. sparse [rows, columns]"""
    rows, count = table.shape
    return hstack([csr_array((rows, first)), table, csr_array((rows, columns - first - count))])


def realization_plan(plex: Treeplex, behaviour: Array) -> Array:
    """Return the plan of a behavior strategy, the probabilities of the sequences' last actions. float64 [sequences]"""
    plan = np.empty(plex.sequences)
    _kernels.realization_plan(plex.parent, plex.first, plex.width, behaviour, plan)
    return plan


def product_envelope(
    columns: int, u: Array, v: Array, product: Array, u_box: tuple[Array, Array], v_box: tuple[Array, Array]
) -> tuple[csr_array, Array]:
    """Return McCormick's envelope of products u v in boxes, as a table A and numbers b with A x >= b.

    `u`, `v` and `product` are columns of a program with `columns` columns, `u_box` and `v_box` their lower and upper bounds.
    """
    count = len(product)
    row, parts, right = np.arange(count), [], []
    for sign, low, high in ((1.0, 0, 0), (1.0, 1, 1), (-1.0, 1, 0), (-1.0, 0, 1)):
        a, b = u_box[low], v_box[high]  # product >= a v + b u - a b, or <= the same with one bound from each side
        values = np.concatenate([np.full(count, sign), -sign * a, -sign * b])
        places = np.tile(row, 3), np.concatenate([product, v, u])
        parts.append(csr_array((values, places), shape=(count, columns)))
        right.append(-sign * a * b)
    return csr_array(vstack(parts)), np.concatenate(right)
