"""Kernels of the nearest-neighbor search in an endgame database."""

from riverboat.compiled.jit import kernel


@kernel
def find_nearest_entry(
    cell_order,  # int64 [cells]: order of the search
    center_distance,  # float32 [cells]: distances of the centres to the query
    max_radius,  # float32 [cells]: the largest radius of each; negative for empty cells
    first,  # int64 [cells + 1]: first entry of each cell
    radius,  # float32 [n]: distances of entries to the centre of their cell, ascending within a cell
    coarse,  # float32 [n, 2, tenths]: sums over tenths of the steps
    cdf,  # float32 [n, 2, steps]
    query,  # float32 [2, steps]
    coarse_query,  # float32 [2, tenths]
    best,  # float64 [2] INOUT: the nearest entry, and its distance
):
    """Find the entry nearest to a query by the triangle inequality; distances are multiplied by the number of steps.

    Most entries are excluded by the bound of their cell, most others by the lower bound from the coarse distributions.
    """
    for cell in cell_order:
        if center_distance[cell] - max_radius[cell] >= best[1]:
            continue
        for entry in range(first[cell], first[cell + 1]):
            bound = best[1]
            if radius[entry] <= center_distance[cell] - bound:
                continue
            if radius[entry] >= center_distance[cell] + bound:
                break
            if _distance(coarse, entry, coarse_query, bound) < bound:
                distance = _distance(cdf, entry, query, bound)
                if distance < bound:
                    best[0], best[1] = entry, distance


@kernel
def _distance(rows, entry, query, bound):
    """Return the larger of the two seats' L1 distances; a partial sum if that already exceeds the bound."""
    first, second = 0.0, 0.0
    for begin in range(0, query.shape[1], 20):
        for k in range(begin, min(begin + 20, query.shape[1])):
            first += abs(rows[entry, 0, k] - query[0, k])
            second += abs(rows[entry, 1, k] - query[1, k])
        if max(first, second) >= bound:
            break
    return max(first, second)
