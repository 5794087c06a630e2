"""Results of solvers, and the progress that runs report on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias

from riverboat.core.claims import EXACT, LOWER, UPPER, Claim, to_dicts
from riverboat.core.dataframes import frame
from riverboat.core.tables import PROSE, Column, ReportTable
from riverboat.games.spots.spot import Spot
from riverboat.solvers.spot_summary import facts_of_spot
from riverboat.solvers.tabular.best_response import Quality
from riverboat.strategies.solution import Solution
from riverboat.strategies.tabular import Strategy


@dataclass(frozen=True)
class Progress:
    """Where a run stands. Figures are those of the last check, None before the first.

    `value_low` and `value_high` are None also where no value is certified.
    """

    iteration: int
    seconds: float
    nodes: int
    exploitability: float | None
    nash_conv: float | None
    value_low: float | None
    value_high: float | None
    checked: bool  # whether the figures are of this iteration
    value: float | None = None  # to player 0: the middle of the certified interval, or what the profile earns

    @classmethod
    def of(cls, iteration: int, seconds: float, nodes: int, quality: Quality | None, *, checked: bool) -> Progress:
        """Progress with the figures of the last check."""
        if quality is None:
            return cls(iteration, seconds, nodes, None, None, None, None, checked=checked)
        low, high = quality.interval or (None, None)
        return cls(
            iteration, seconds, nodes, quality.exploitability, quality.nash_conv, low, high, checked, quality.value
        )

    def after(self, iterations: int) -> Progress:
        """So many iterations later, as far as that is known now."""
        return Progress(self.iteration + iterations, self.seconds, self.nodes, None, None, None, None, checked=False)


Stopper: TypeAlias = Callable[[Progress], bool]
Callback: TypeAlias = Callable[[Progress], None]


EXACT_METHODS = ("lp", "egt", "undominated")  # on the sequence form
DONE, TARGET, LIMIT, STALLED = "done", "target", "limit", "stalled"
Answer: TypeAlias = Literal["last", "best"]
LAST: Answer = "last"  # the strategy of the last iteration
BEST: Answer = "best"  # that of the check with the lowest exploitability
NO_GUARANTEE = "none: with more than two players CFR need not converge; gains are exact for this strategy"
GENERAL_SUM = "none: pay-offs have no constant sum, so CFR need not converge; gains are exact for this strategy"
FORGETFUL = (
    "none: a player forgets its own moves, so CFR need not converge; gains are upper bounds: of one who remembers"
)


@dataclass(frozen=True)
class Result:
    """What a solve gives: a strategy, and how good it is. Figures are exact best-response values."""

    game: str
    method: str
    schedule: str | None
    traversal: str | None
    iterations: int
    seconds: float
    value: float  # to player 0: the middle of the certified interval, or what the profile earns
    value_low: float | None  # the certified interval; None where no value is certified
    value_high: float | None
    exploitability: float
    nash_conv: float
    unit: str
    infosets: int
    seed: int
    nodes: int
    reached: bool  # whether the target of `until` was met (true where there was none)
    strategy: Strategy | Solution = field(repr=False, compare=False)
    history: tuple[Progress, ...] = field(default=(), repr=False, compare=False)
    certified: bool = True  # whether the game has a value, which lies between value_low and value_high
    ended: str = DONE  # what ended the run
    answer: Answer | None = None  # which iteration's strategy this is: the last, or the best check; None: not iterative
    answer_iteration: int | None = None  # the iteration of that strategy
    values: tuple[float, ...] = ()  # what the profile earns, per player
    gains: tuple[float, ...] = ()  # what each player could gain by deviating alone, exact
    recalls: bool = True  # whether no player forgets its own moves; of one who does, gains are upper bounds
    threads: int = 1  # that were used
    table_bytes: int = 0  # memory of the tables that were learnt in
    layout_bytes: int = 0  # and of what lies beside them: boards and their hands

    @property
    def guarantee(self) -> str | None:
        """Why there is none; None where the value is certified."""
        if self.certified:
            return None
        return FORGETFUL if not self.recalls else NO_GUARANTEE if len(self.values) > 2 else GENERAL_SUM

    @property
    def shown_answer(self) -> str:
        """Which iteration's strategy this is, in words."""
        at = "" if self.answer_iteration is None else f"iteration {self.answer_iteration:,}"
        return f"{at}, the best check" if self.answer == BEST else f"{at}, the last"

    @property
    def claims(self) -> tuple[Claim, ...]:
        """All that is said of the answer, the exploitability first; a certified value is bounded from both sides."""
        kind = EXACT if self.recalls else UPPER
        claimed = [
            Claim("exploitability", self.exploitability, self.unit, kind),
            Claim("NashConv", self.nash_conv, self.unit, kind),
        ]
        if self.value_low is not None and self.value_high is not None:
            claimed.append(Claim("value to player 0", self.value_low, self.unit, LOWER))
            claimed.append(Claim("value to player 0", self.value_high, self.unit, UPPER))
            return tuple(claimed)
        earned = enumerate(self.values)
        return (*claimed, *(Claim(f"earned by player {p}", value, self.unit, EXACT) for p, value in earned))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, without the strategy. Those of a spot begin with the EVs and equities of its root."""
        facts = {k: v for k, v in self.__dict__.items() if k not in ("strategy", "history")}
        certified = "between value_low and value_high"
        value = certified if self.certified else "what the profile earns to player 0; no value of the game is claimed"
        facts |= {"exploitability_is": "exact", "value_is": value, "claims": to_dicts(self.claims)}
        if not self.recalls:
            facts["exploitability_is"] = "upper bound: what players who remember their own moves would gain"
        elif len(self.values) > 2:
            facts["exploitability_is"] = "exact: the largest gain of a player"
        if self.guarantee is not None:
            facts["guarantee"] = self.guarantee
        if isinstance(self.strategy, Solution) and isinstance(self.strategy.tree.game, Spot):
            return facts_of_spot(self.strategy, facts)
        return facts

    def report(self) -> ReportTable:
        """What it is and how good, line by line."""
        how = " ".join(filter(None, (self.method, self.schedule, self.traversal)))
        value = f"between {self.value_low:.6g} and {self.value_high:.6g}" if self.certified else "none is claimed"
        lines = [
            ("method", f"{how}, {self.iterations:,} iterations, {self.seconds:.3g} s"),
            *((("strategy", self.shown_answer),) if self.answer is not None else ()),
            ("exploitability", f"{self.exploitability:.6g} {self.unit}"),
            ("value to player 0", value),
            *((f"player {p} earns", f"{earned:.6g} {self.unit}") for p, earned in enumerate(self.values)),
            ("information sets", f"{self.infosets:,}"),
        ]
        return ReportTable(self.game, (Column("figure", title=" "), Column("is", PROSE, " ")), tuple(lines))

    def to_frame(self) -> Any:
        """The checks on the way, for pandas: iterations, seconds, nodes and figures of each."""
        names = [each.name for each in fields(Progress) if each.name != "checked"]
        return frame({name: [getattr(check, name) for check in self.history] for name in names})

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()


def figures(quality: Quality) -> dict[str, Any]:
    """The fields of `Result` that the quality of its strategy decides."""
    low, high = quality.interval or (None, None)
    return {
        "value": quality.value,
        "value_low": low,
        "value_high": high,
        "exploitability": quality.exploitability,
        "nash_conv": quality.nash_conv,
        "certified": quality.interval is not None,
        "values": quality.values,
        "gains": quality.gains,
        "recalls": quality.recalls,
    }
