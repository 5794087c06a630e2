"""Which requests are cheap: a GET reads what is stored or in memory, and everything else is a POST.

A link can make a browser send a GET, so a GET never writes, never solves, and never makes an agent that searches or learns
opponents. Where its answer would need that, it is refused with 405 and `"costly": true`; the POST of the same path computes
it, after somebody has clicked.
"""

from __future__ import annotations

from riverboat.agents.registry import SEVERAL
from riverboat.errors import RiverboatError, shown
from riverboat.practice.push_charts import PREFIX, is_solved

# Options of agents that change how a blueprint is read, and cost nothing. Others may search, learn or load what is large.
CHEAP_OPTIONS = frozenset({"purify", "threshold", "new", "spare-first", "translation", "tie", "seed", "state"})


class CostlyError(RiverboatError):
    """A GET would have to compute for long; the POST of the same path does."""


def is_cheap(source: str) -> bool:
    """Return whether an agent, a run or a push or fold table is only read: nothing is solved, searched or learnt for it."""
    if source.startswith(PREFIX):
        return is_solved(source)
    base, _, options = source.partition("?")
    names = {part.partition("=")[0] for part in options.split("&") if part}
    return not base.startswith(SEVERAL) and names <= CHEAP_OPTIONS


def require_cheap(*sources: str) -> None:
    """Raise `CostlyError` for sources that a GET may not compute."""
    for source in sources:
        if not is_cheap(source):
            raise CostlyError(
                f"{shown(source)}: is not computed yet, and a link alone computes nothing; the POST of this path does"
            )
