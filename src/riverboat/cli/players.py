"""Output of `riverboat hands`, statistics of players, and of `riverboat model`, opponent models."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from riverboat.api.options import Limits, Threads
from riverboat.api.players import HandStatistics, PlayerModels, hand_statistics, model_players
from riverboat.cli.terminal import figure, make_table, print_result, say
from riverboat.core.tables import COUNT, Cell, ReportColumn, ReportTable
from riverboat.formats.hand_files import HAND_FILE_SUFFIXES
from riverboat.formats.phh import NOT_HEADS_UP
from riverboat.plots.figures import save_figure

if TYPE_CHECKING:
    from riverboat.opponents.models.evaluation import ModelEvaluation
    from riverboat.opponents.statistics import FrequencyEstimate, PlayerStatistics

_TITLES = {
    "vpip": "VPIP", "pfr": "PFR", "three_bet": "3-bet", "continuation_bet": "c-bet",
    "fold_to_continuation_bet": "fold to c-bet", "went_to_showdown": "showdown",
}  # fmt: skip
_RIVALS = ("equilibrium", "frequencies")


def hands(
    files: list[Path],
    *,
    out: Path | None = None,
    review: Annotated[int, Limits(0, 10_000)] = 0,
    ranges: Path | None = None,
    threads: Threads = 2,
    plot: Path | None = None,
    json: bool = False,
    **options: Any,
) -> None:
    """Read hand histories: hands read and refused, results, statistics of the players, and reviews.

    Parameters
    ----------
    files
        Files and folders: histories of poker sites, .phh, .phhs (PHH) or .log (ACPC), also with .gz.
    out
        Save the hands of sites as PHH: FILE.phhs.
    review
        Hands of sites: review this many heads-up pots by EV, the largest first.
    ranges
        Preflop ranges for the reviews: a TOML file that replaces entries of the package's.
    threads
        Threads for the reviews.
    plot
        Plot the statistics with their intervals.
    """
    of_sites = review > 0 or out is not None or ranges is not None or not all(map(_is_record, files))
    report = None if of_sites else hand_statistics(files, **options)
    if report is None or NOT_HEADS_UP in report.gathered.rejected:
        from riverboat.cli.hand_reports import report_hands  # loads the solvers

        players = options.get("players") or ()
        report_hands(files, players=players, out=out, review=review, ranges=ranges, threads=threads, json=json)
        return
    if plot is not None and report.players:
        from riverboat.plots.results import plot_player_statistics  # loads matplotlib

        save_figure(plot_player_statistics(list(report.players)), plot)
    print_result(report, _statistics_parts(report, show_all=bool(options.get("players"))), json)


def _is_record(file: Path) -> bool:
    """Whether a file has a suffix of PHH or ACPC, so that it may be a record of heads-up hands for agents."""
    suffix = file.with_suffix("").suffix if file.suffix == ".gz" else file.suffix
    return suffix in HAND_FILE_SUFFIXES and not file.is_dir()


def model(agent: str, files: list[Path], *, plot: Path | None = None, json: bool = False, **options: Any) -> None:
    """Fit models of players in a blueprint's tree, and evaluate them on held-out hands.

    Parameters
    ----------
    files
        Hand histories, as for `riverboat hands`.
    plot
        Plot predicted against observed frequencies.
    """
    models = model_players(agent, files, **options)
    if options.get("out") is not None:
        say(f"saved the model of {models.evaluations[0].name} in {options['out']}")
    if plot is not None:
        from riverboat.plots.results import plot_calibration  # loads matplotlib

        save_figure(plot_calibration(list(models.evaluations)), plot)
    print_result(models, _model_parts(models), json)


def _statistics_parts(report: HandStatistics, show_all: bool) -> Iterator[Any]:
    """Yield the number of hands, rejected hands with examples, and tables of the players."""
    gathered, players = report.gathered, report.players
    game = "" if report.game is None else f" of {report.game}, {report.num_names:,} players"
    yield f"{report.num_hands:,} hands{game}; {sum(gathered.rejected.values()):,} rejected"
    for reason, times in gathered.rejected.items():
        yield f"  {times:,} × {reason}"
        for example in gathered.examples.get(reason, ())[:1]:
            yield f"      {example}"
    if len(players) > 1:
        rows: list[list[Cell]] = [[p.name, p.hands, *(_format_percent(p[key]) for key in _TITLES)] for p in players]
        columns: list[str | ReportColumn] = ["player", ReportColumn("hands", COUNT), *map(figure, _TITLES.values())]
        yield make_table(columns, rows, "% of opportunities")
    yield from map(_statistic_table, players if show_all or len(players) == 1 else ())


def _statistic_table(one: PlayerStatistics) -> ReportTable:
    rows: list[tuple[Cell, ...]] = [(_TITLES[key], *_share_cells(share)) for key, share in one.frequencies.items()]
    for (street, position), share in one.aggression.items():
        rows.append((f"aggression, {street}, {position}", *_share_cells(share)))
    title = f"{one.name}: {one.hands:,} hands"
    if one.win_rate is not None:
        title += f", won {one.win_rate[0]:+.1f} ± {one.win_rate[1]:.1f} big blinds per 100 hands"
    columns = "statistic", figure("%"), figure("95 %"), ReportColumn("opportunities", COUNT)
    return make_table(columns, rows, title)


def _share_cells(share: FrequencyEstimate) -> tuple[str, str, int]:
    return _format_percent(share), f"{100 * share.low:.1f} – {100 * share.high:.1f}", share.opportunities


def _format_percent(share: FrequencyEstimate) -> str:
    return "" if share.frequency is None else f"{100 * share.frequency:.1f}"


def _model_parts(models: PlayerModels) -> Iterator[Any]:
    """Yield a table of forecasts for each player."""
    yield from map(_forecast_table, models.evaluations)
    yield (
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
    return make_table(["forecast", figure("loss"), *(figure(f"below {rival}") for rival in _RIVALS)], rows, title)
