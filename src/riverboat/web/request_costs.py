"""Which requests are cheap: a GET reads what is stored or in memory, and everything else is a POST.

A link can make a browser send a GET, so a GET never writes, never solves, and never makes an agent that searches or learns
opponents. Where its answer would need that, it is refused with 405 and `"costly": true`; the POST of the same path computes
it, after somebody has clicked.
"""

from __future__ import annotations

from riverboat.core.errors import RiverboatError, shown
from riverboat.practice.push_charts import PREFIX, is_solved
from riverboat.web.data_folder import DataFolder
from riverboat.web.specs import agent_spec, push_spec


class CostlyError(RiverboatError):
    """A GET would have to compute for long; the POST of the same path does."""


def is_cheap(source: str, data: DataFolder) -> bool:
    """Return whether an agent, a run or a push or fold table is only read: nothing is solved, searched or learnt for it.

    Raises for what a request may not name at all.
    """
    push = push_spec(source, data)
    if push is not None:
        return not push.startswith(PREFIX) or is_solved(push)
    return not agent_spec(source, data).computes


def require_cheap(data: DataFolder, *sources: str) -> None:
    """Raise `CostlyError` for sources that a GET may not compute."""
    for source in sources:
        if not is_cheap(source, data):
            raise CostlyError(
                f"{shown(source)}: is not computed yet, and a link alone computes nothing; the POST of this path does"
            )
