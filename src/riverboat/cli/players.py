"""Output of `riverboat hands`, statistics of players, and of `riverboat model`, opponent models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from riverboat.api.players import HandStatistics, PlayerModels
from riverboat.cli.terminal import plain_console
from riverboat.core.tables import COUNT, FIGURE, Cell, ReportColumn, ReportTable

if TYPE_CHECKING:
    from riverboat.opponents.models.evaluation import ModelEvaluation
    from riverboat.opponents.statistics import FrequencyEstimate, PlayerStatistics

_TITLES = {
    "vpip": "VPIP", "pfr": "PFR", "three_bet": "3-bet", "continuation_bet": "c-bet",
    "fold_to_continuation_bet": "fold to c-bet", "went_to_showdown": "showdown",
}  # fmt: skip
_STATISTIC_COLUMNS = (
    ReportColumn("statistic"),
    ReportColumn("share", FIGURE, "%"),
    ReportColumn("ci95", FIGURE, "95 %"),
    ReportColumn("chances", COUNT, "opportunities"),
)
_OVERVIEW_COLUMNS = (
    ReportColumn("player"),
    ReportColumn("hands", COUNT),
    *(ReportColumn(key, FIGURE, title) for key, title in _TITLES.items()),
)
_RIVALS = ("equilibrium", "frequencies")
_FORECAST_COLUMNS = (
    ReportColumn("forecast"),
    ReportColumn("loss", FIGURE),
    *(ReportColumn(f"below {rival}", FIGURE) for rival in _RIVALS),
)


def print_statistics(report: HandStatistics, show_all: bool) -> None:
    """Print the number of hands, rejected hands with examples, and tables of the players."""
    console, gathered, players = plain_console(), report.gathered, report.players
    game = "" if report.game is None else f" of {report.game}, {report.num_names:,} players"
    console.print(f"{report.num_hands:,} hands{game}; {sum(gathered.rejected.values()):,} rejected")
    for reason, times in gathered.rejected.items():
        console.print(f"  {times:,} × {reason}")
        for example in gathered.examples.get(reason, ())[:1]:
            console.print(f"      {example}")
    if len(players) > 1:
        rows: list[tuple[Cell, ...]] = [
            (p.name, p.hands, *(_format_percent(p[key]) for key in _TITLES)) for p in players
        ]
        console.print(ReportTable("% of opportunities", _OVERVIEW_COLUMNS, tuple(rows)))
    for player in players if show_all or len(players) == 1 else ():
        console.print(_statistic_table(player))


def _statistic_table(one: PlayerStatistics) -> ReportTable:
    rows: list[tuple[Cell, ...]] = [(_TITLES[key], *_share_cells(share)) for key, share in one.frequencies.items()]
    rows += [
        (f"aggression, {street}, {position}", *_share_cells(share))
        for (street, position), share in one.aggression.items()
    ]
    title = f"{one.name}: {one.hands:,} hands"
    if one.win_rate is not None:
        title += f", won {one.win_rate[0]:+.1f} ± {one.win_rate[1]:.1f} big blinds per 100 hands"
    return ReportTable(title, _STATISTIC_COLUMNS, tuple(rows))


def _share_cells(share: FrequencyEstimate) -> tuple[str, str, int]:
    return _format_percent(share), f"{100 * share.low:.1f} – {100 * share.high:.1f}", share.opportunities


def _format_percent(share: FrequencyEstimate) -> str:
    return "" if share.frequency is None else f"{100 * share.frequency:.1f}"


def print_models(models: PlayerModels) -> None:
    """Print a table of forecasts for each player."""
    console = plain_console()
    for evaluation in models.evaluations:
        console.print(_forecast_table(evaluation))
    console.print(
        f"log-loss in nats per decision, ± 95 % over hands, on the last {100 * (1 - models.learn):.0f} % of each player's "
        f"hands; {100 * models.evaluations[0].off_tree_share:.1f} % of decisions are off-tree"
    )


def _forecast_table(one: ModelEvaluation) -> ReportTable:
    """Return a table with one row per forecast, the lowest loss first."""
    rows: list[tuple[Cell, ...]] = []
    for key in sorted(one.predictions, key=lambda key: one.loss(key)[0]):
        gains = ("" if key == rival else "{:+.3f} ± {:.3f}".format(*one.gain(key, rival)) for rival in _RIVALS)
        rows.append((key, "{:.3f} ± {:.3f}".format(*one.loss(key)), *gains))
    title = f"{one.name}: trained on {one.num_train_hands:,} hands, evaluated on {one.decisions:,} decisions"
    return ReportTable(title, _FORECAST_COLUMNS, tuple(rows))
