"""Results of solvers, their JSON form, and the progress that runs report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal, TypeAlias

from riverboat.cards.notation import format_cards
from riverboat.core.claims import EXACT, LOWER, UPPER, Claim, to_dicts
from riverboat.core.deprecation import RenamedAttributes
from riverboat.core.tables import PROSE, ReportColumn, ReportTable, to_dataframe
from riverboat.games.spots.spot import Spot
from riverboat.solvers.tabular.best_response import Quality
from riverboat.strategies.reports.node import node_summary
from riverboat.strategies.solution import Solution
from riverboat.strategies.tabular import Strategy

# --- results of spots as JSON (`Result.to_dict`, `riverboat solve --json`) ---


def spot_result_dict(solution: Solution, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries of a spot's result for JSON: EVs, equities and frequencies at the root, and `facts`.

    EVs are in chips, equities are shares of the pot, memory is in 10^6 bytes.
    """
    spot, root = solution.tree.game, node_summary(solution[""])
    assert isinstance(spot, Spot)
    spot_facts = {
        "exploitability_pct": facts["exploitability"],
        "iterations": facts["iterations"],
        "seconds": facts["seconds"],
        "ev_oop": root.ev[0],
        "ev_ip": root.ev[1],
        "equity_oop": root.equity[0],
        "memory_mb": (facts["table_bytes"] + facts["layout_bytes"]) / 1e6,
        "threads": facts["threads"],
        "equity_ip": root.equity[1],
        "eqr_oop": root.eqr[0],
        "eqr_ip": root.eqr[1],
        "frequencies": root.frequencies,
        "nash_conv_pct": facts["nash_conv"],
        "exploitability_is": "exact: half of NashConv, in % of the pot",
        "units": {"ev": "chips", "equity": "share of the pot", "memory": "MB (10^6 bytes): tables and tree"},
        "board": format_cards(spot.board),
        "pot": spot.pot,
        "stack": spot.stack,
        "dtype": solution.provenance["dtype"],
        "tables_mb": facts["table_bytes"] / 1e6,
    }
    return spot_facts | {key: value for key, value in facts.items() if key not in spot_facts}


@dataclass(frozen=True)
class SolveProgress:
    """Progress of a run, with the figures of the last check (None before the first).

    `value_low` and `value_high` are also None if no value is certified.
    """

    iteration: int
    seconds: float
    nodes: int
    exploitability: float | None
    nash_conv: float | None
    value_low: float | None
    value_high: float | None
    checked: bool  # whether the figures belong to this iteration
    value: float | None = None  # to player 0: middle of the certified interval, or expected value of the profile

    @classmethod
    def from_quality(
        cls, iteration: int, seconds: float, nodes: int, quality: Quality | None, *, checked: bool
    ) -> SolveProgress:
        """Make progress with the figures of the last check."""
        if quality is None:
            return cls(iteration, seconds, nodes, None, None, None, None, checked=checked)
        low, high = quality.interval or (None, None)
        figures = quality.exploitability, quality.nash_conv, low, high
        return cls(iteration, seconds, nodes, *figures, checked, quality.value)

    def after(self, iterations: int) -> SolveProgress:
        """Predict the progress after more iterations; figures are unknown."""
        return self.from_quality(self.iteration + iterations, self.seconds, self.nodes, None, checked=False)


Stopper: TypeAlias = Callable[[SolveProgress], bool]
Callback: TypeAlias = Callable[[SolveProgress], None]


DONE, TARGET, LIMIT, STALLED = "done", "target", "limit", "stalled"
Answer: TypeAlias = Literal["last", "best"]
LAST: Answer = "last"  # the average strategy of the last iteration
BEST: Answer = "best"  # the average strategy of the check with the lowest exploitability
NO_GUARANTEE = "none: with more than two players CFR need not converge; gains are exact for this strategy"
GENERAL_SUM = "none: payoffs have no constant sum, so CFR need not converge; gains are exact for this strategy"
IMPERFECT_RECALL = (
    "none: a player has imperfect recall, so CFR need not converge; gains are upper bounds, those under perfect recall"
)


@dataclass(frozen=True)
class Result(RenamedAttributes):
    """The result of a solve: a strategy and its quality. Figures are exact best-response values.

    Attributes
    ----------
    game, method, schedule, traversal
        Name of the game, and how it was solved; schedule and traversal are None for methods other than CFR.
    iterations, seconds
        Iterations and time of the run, over all sessions.
    value
        Value to player 0: middle of the certified interval, or expected value of the profile.
    value_low, value_high
        The certified interval; None if no value is certified.
    exploitability, nash_conv, unit
        Exploitability and NashConv in the unit of the game.
    infosets, seed, nodes
        Information sets, seed, and nodes touched.
    reached
        Whether the target `until` was met; True without a target.
    strategy
        The strategy, a mapping from information sets or lines.
    history
        The checks of the run.
    certified
        Whether the game has a value, between `value_low` and `value_high`.
    ended
        Why the run ended: done, target, limit or stalled.
    answer, answer_iteration
        Whether the strategy is that of the last iteration or of the best check, and its iteration; None if not
        iterative.
    values, gains
        Expected value of the profile and gain of a best response, per player.
    recalls
        Whether all players have perfect recall; otherwise gains are upper bounds.
    threads, table_bytes, layout_bytes
        Threads used, and memory of the tables and of the layout of boards.

    Examples
    --------
    >>> import riverboat as rb
    >>> rb.solve("kuhn", iterations=100).ended
    'limit'
    """

    _renamed_attributes: ClassVar[dict[str, str]] = {"shown_answer": "answer_description"}

    game: str
    method: str
    schedule: str | None
    traversal: str | None
    iterations: int
    seconds: float
    value: float  # to player 0: middle of the certified interval, or expected value of the profile
    value_low: float | None  # the certified interval; None if no value is certified
    value_high: float | None
    exploitability: float
    nash_conv: float
    unit: str
    infosets: int
    seed: int
    nodes: int
    reached: bool  # whether the target `until` was met; True without a target
    strategy: Strategy | Solution = field(repr=False, compare=False)
    history: tuple[SolveProgress, ...] = field(default=(), repr=False, compare=False)
    certified: bool = True  # whether the game has a value, between value_low and value_high
    ended: str = DONE  # why the run ended
    answer: Answer | None = None  # which strategy this is: that of the last iteration or the best check, if iterative
    answer_iteration: int | None = None  # the iteration of that strategy
    values: tuple[float, ...] = ()  # expected value of the profile, per player
    gains: tuple[float, ...] = ()  # gain of each player's best response, exact
    recalls: bool = True  # whether all players have perfect recall; otherwise gains are upper bounds
    threads: int = 1  # threads used
    table_bytes: int = 0  # memory of regret and average tables
    layout_bytes: int = 0  # memory of the layout: boards and their hands

    @property
    def guarantee(self) -> str | None:
        """Reason why no value is certified; None if one is."""
        if self.certified:
            return None
        return IMPERFECT_RECALL if not self.recalls else NO_GUARANTEE if len(self.values) > 2 else GENERAL_SUM

    @property
    def answer_description(self) -> str:
        """Which iteration the strategy comes from, in words."""
        at = "" if self.answer_iteration is None else f"iteration {self.answer_iteration:,}"
        return f"{at}, the best check" if self.answer == BEST else f"{at}, the last"

    @property
    def claims(self) -> tuple[Claim, ...]:
        """All claims about the strategy, exploitability first; a certified value is bounded from both sides."""
        kind = EXACT if self.recalls else UPPER
        figures = ("exploitability", self.exploitability), ("NashConv", self.nash_conv)
        claims = [Claim(name, figure, self.unit, kind) for name, figure in figures]
        if self.value_low is not None and self.value_high is not None:
            claims.append(Claim("value to player 0", self.value_low, self.unit, LOWER))
            claims.append(Claim("value to player 0", self.value_high, self.unit, UPPER))
            return tuple(claims)
        values = enumerate(self.values)
        return (*claims, *(Claim(f"earned by player {p}", value, self.unit, EXACT) for p, value in values))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, without strategy and history; results of spots also have EVs and equities."""
        facts = {k: v for k, v in self.__dict__.items() if k not in ("strategy", "history")}
        value = "expected value of the profile to player 0; no value of the game is claimed"
        if self.certified:
            value = "between value_low and value_high"
        facts |= {"exploitability_is": "exact", "value_is": value, "claims": to_dicts(self.claims)}
        if not self.recalls:
            facts["exploitability_is"] = "upper bound: the gains of players with perfect recall"
        elif len(self.values) > 2:
            facts["exploitability_is"] = "exact: the largest gain of a player"
        if self.guarantee is not None:
            facts["guarantee"] = self.guarantee
        if isinstance(self.strategy, Solution) and isinstance(self.strategy.tree.game, Spot):
            return spot_result_dict(self.strategy, facts)
        return facts

    def report(self) -> ReportTable:
        """Return a table of the method, the strategy and its quality."""
        how = " ".join(filter(None, (self.method, self.schedule, self.traversal)))
        value = f"between {self.value_low:.6g} and {self.value_high:.6g}" if self.certified else "none is claimed"
        lines = [
            ("method", f"{how}, {self.iterations:,} iterations, {self.seconds:.3g} s"),
            *((("strategy", self.answer_description),) if self.answer is not None else ()),
            ("exploitability", f"{self.exploitability:.6g} {self.unit}"),
            ("value to player 0", value),
            *((f"player {p} earns", f"{earned:.6g} {self.unit}") for p, earned in enumerate(self.values)),
            ("information sets", f"{self.infosets:,}"),
        ]
        return ReportTable(self.game, (ReportColumn("figure", title=" "), ReportColumn("is", PROSE, " ")), tuple(lines))

    def to_frame(self) -> Any:
        """Return the checks of the run as a pandas data frame."""
        names = [each.name for each in fields(SolveProgress) if each.name != "checked"]
        return to_dataframe({name: [getattr(check, name) for check in self.history] for name in names})

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()


def make_result(strategy: Strategy | Solution, quality: Quality, **facts: Any) -> Result:
    """Make the result of a strategy and its quality.

    `facts` are fields of `Result`. Missing ones come from the quality, the tree, and the provenance of the strategy.
    """
    provenance, low_high = strategy.provenance, quality.interval
    return Result(
        **{
            "game": strategy.tree.name,
            **{key: provenance.get(key) for key in ("method", "schedule", "traversal", "iterations", "seed")},
            "unit": strategy.tree.unit,
            "infosets": strategy.tree.infoset_count,
            "nodes": 0,
            "reached": True,
            "strategy": strategy,
            "value": quality.value,
            **dict(zip(("value_low", "value_high"), low_high or (None, None), strict=True)),
            **{key: getattr(quality, key) for key in ("exploitability", "nash_conv", "values", "gains", "recalls")},
            "certified": low_high is not None,
            **facts,
        }
    )
