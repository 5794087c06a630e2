"""The compiled search for the nearest of many endgames."""

from __future__ import annotations

from riverboat.compiled.jit import kernel


@kernel
def nearest(
    visit,  # int64 [cells]: in the order in which they are looked at
    far,  # float32 [cells]: distances of their centres to what is looked for
    reach,  # float32 [cells]: the largest radius of each; below zero: nobody lives there
    first,  # int64 [cells + 1]: where the entries of a cell begin
    radius,  # float32 [n]: distances of entries to the centre of their cell, rising in each cell
    coarse,  # float32 [n, 2, tenths]: sums over tenths of the steps
    cdf,  # float32 [n, 2, steps]
    query,  # float32 [2, steps]
    tenths,  # float32 [2, tenths]
    best,  # float64 [2] IN AND OUT: the entry, and its distance
):
    """Distances are times the steps. Most entries are ruled out by their cell, most others by tenths."""
    for cell in visit:
        if far[cell] - reach[cell] >= best[1]:
            continue
        for entry in range(first[cell], first[cell + 1]):
            least = best[1]
            if radius[entry] <= far[cell] - least:
                continue
            if radius[entry] >= far[cell] + least:
                break
            if _distance(coarse, entry, tenths, least) < least:
                whole = _distance(cdf, entry, query, least)
                if whole < least:
                    best[0], best[1] = entry, whole


@kernel
def _distance(rows, entry, query, least):
    """The larger of the two seats' sums of differences; once that is too large, where it was noticed."""
    first, second = 0.0, 0.0
    for begin in range(0, query.shape[1], 20):
        for k in range(begin, min(begin + 20, query.shape[1])):
            first += abs(rows[entry, 0, k] - query[0, k])
            second += abs(rows[entry, 1, k] - query[1, k])
        if max(first, second) >= least:
            break
    return max(first, second)
