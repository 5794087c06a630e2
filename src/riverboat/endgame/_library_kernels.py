"""The compiled search for the nearest of many endgames."""

from __future__ import annotations

from riverboat.jit import kernel


@kernel
def nearest(
    visit,  # int64 [pivots]: in the order in which their neighbours are looked at
    far,  # float32 [pivots]: their distances to what is looked for
    first,  # int64 [pivots + 1]: where the neighbours of a pivot begin in `order`
    order,  # int64 [n]: entries, pivot by pivot
    radius,  # float32 [n]: the distance of each of those to its pivot
    cdf,  # float32 [n, 2, steps]
    coarse,  # float32 [n, 2, tenths]: sums over tenths of the steps
    query,  # float32 [2, steps]
    tenths,  # float32 [2, tenths]
    best,  # float64 [2] IN AND OUT: the entry, and its distance
):
    """Distances are times the steps. Most entries are ruled out by their pivot, most others by tenths."""
    for pivot in visit:
        for place in range(first[pivot], first[pivot + 1]):
            least = best[1]
            if abs(far[pivot] - radius[place]) >= least:
                continue
            entry = order[place]
            largest = 0.0
            for seat in range(2):
                total = 0.0
                for k in range(tenths.shape[1]):
                    total += abs(coarse[entry, seat, k] - tenths[seat, k])
                largest = max(largest, total)
            if largest >= least:
                continue
            largest = 0.0
            for seat in range(2):
                total = 0.0
                for k in range(query.shape[1]):
                    total += abs(cdf[entry, seat, k] - query[seat, k])
                largest = max(largest, total)
            if largest < least:
                best[0], best[1] = entry, largest
