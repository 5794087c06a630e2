"""Plots of results: convergence, experiments, round robins, strength against cost, explanations, players."""

from __future__ import annotations

from itertools import permutations
from math import ceil, inf
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
from scipy.special import stdtrit

from riverboat.core.errors import InputError
from riverboat.plots.figures import new_figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from riverboat.api.sweep import SweepResult, SweepTrial
    from riverboat.evaluation.ledger import Ledger, LedgerEntry
    from riverboat.evaluation.matches.match import RoundRobinTable
    from riverboat.explain.explanation import RuleExplanation
    from riverboat.opponents.models.evaluation import ModelEvaluation
    from riverboat.opponents.statistics import FrequencyEstimate, PlayerStatistics
    from riverboat.papers.framework import ExperimentReport
    from riverboat.solvers.result import Result

WIN_COLOR, LOSS_COLOR, NEUTRAL_COLOR = "#63b871", "#ef826f", "#8a8f98"  # win, loss, neither


def plot_convergence(results: list[Result]) -> Figure:
    """Plot exploitability against iterations and against seconds, one line for each run.

    Parameters
    ----------
    results
        Results of runs on the same game. Checks without a positive exploitability are left out.

    Examples
    --------
    >>> import riverboat as rb
    >>> figure = plot_convergence([rb.solve(rb.game("kuhn"), iterations=100)])
    >>> len(figure.axes)
    2
    """
    figure, ((by_iterations, by_seconds),) = new_figure((11, 4.5), columns=2, sharey=True)
    for result in results:
        points = [p for p in result.history if (p.exploitability or 0) > 0 and p.iteration > 0]
        errors = [p.exploitability for p in points]
        label = result.schedule if result.method == "cfr" else result.method
        by_iterations.plot([p.iteration for p in points], errors, marker=".", markersize=3, label=label)
        by_seconds.plot([p.seconds for p in points], errors, marker=".", markersize=3, label=label)
    for axis, name in ((by_iterations, "iterations"), (by_seconds, "seconds of solving")):
        axis.set(xscale="log", yscale="log", xlabel=name)
        axis.grid(visible=True, which="major", alpha=0.3)
    by_iterations.set_ylabel(f"exploitability ({results[0].unit})")
    by_iterations.legend()
    figure.suptitle(f"{results[0].game}: {results[0].infosets:,} information sets")
    return figure


def plot_sweep(sweep: SweepResult) -> Figure:
    """Plot exploitability by iterations: a panel for each game, a line for each method.

    With several seeds, a band shows the 95 % confidence interval of the geometric mean.

    Parameters
    ----------
    sweep
        Solves with at least one evaluation each.
    """
    groups = sweep.groups()
    games = list(dict.fromkeys(game for game, _ in groups))
    figure, (axes,) = new_figure((max(4.5 * len(games), 5), 4), columns=len(games))
    for axis, game in zip(axes, games, strict=True):
        for schedule, group in ((s, trials) for (g, s), trials in groups.items() if g == game):
            at, low, middle, high = _exploitability_band(group)
            (line,) = axis.plot(at, middle, marker=".", markersize=3, label=schedule)
            if len(group) > 1:
                axis.fill_between(at, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
        axis.set(xscale="log", yscale="log", xlabel="iterations", title=game)
        axis.set_ylabel(f"exploitability ({group[0].unit})")
        axis.grid(visible=True, which="major", alpha=0.3)
        axis.legend()
    return figure


def _exploitability_band(trials: Sequence[SweepTrial]) -> tuple[list[int], list[float], list[float], list[float]]:
    """Return the iterations that all seeds have evaluated, and bounds and middle of their geometric mean there.

    Bounds are the 95 % confidence interval of the mean of logarithms, by Student's t. Zeros are left out.
    """
    checks = [{at: error for at, _, error in trial.history if at > 0 and error > 0} for trial in trials]
    common = sorted(set.intersection(*(set(check) for check in checks)))
    logs = np.log([[check[at] for check in checks] for at in common]).reshape(len(common), len(checks))
    mean, seeds = logs.mean(axis=1), len(checks)
    width = np.zeros(len(common))
    if seeds > 1:
        width = stdtrit(seeds - 1, 0.975) * logs.std(axis=1, ddof=1) / np.sqrt(seeds)
    low, middle, high = (np.exp(each).tolist() for each in (mean - width, mean, mean + width))
    return common, low, middle, high


def plot_experiment(report: ExperimentReport, title: str) -> Figure:
    """Plot a report: its curves panel by panel, or its rows as bars.

    Parameters
    ----------
    report
        Report with at least one curve that is not empty, or with rows.
    title
        Title of the figure.
    """
    curves = [curve for curve in report.curves if curve.x]
    panels = list(dict.fromkeys(curve.panel for curve in curves)) or [""]
    columns = min(len(panels), 2)
    rows = ceil(len(panels) / columns)
    figure, grid = new_figure((9.0, 5.0) if columns == 1 else (13.0, 4.5 * rows), rows, columns)
    axes = dict(zip(panels, grid.flat, strict=False))
    for curve in curves:
        axes[curve.panel].plot(curve.x, curve.y, marker="." if len(curve.x) < 50 else None, label=curve.name)
    if not curves:
        _draw_bars(axes[panels[0]], report)
    for panel, axis in axes.items():
        axis.grid(visible=True, alpha=0.3)
        axis.legend(fontsize=8)
        axis.set_title(panel, fontsize=10)
        if report.log and curves:
            axis.set(xscale="log", yscale="log")
    figure.suptitle(title)
    return figure


def _draw_bars(axis: Axes, report: ExperimentReport) -> None:
    """Draw the value of each row of a report as a bar, next to the value that the paper prints, if any."""
    positions = range(len(report.rows))
    axis.bar([k + 0.2 for k in positions], [row.ours for row in report.rows], 0.4, label="ours")
    printed = [(k - 0.2, row.paper) for k, row in enumerate(report.rows) if row.paper is not None]
    if printed:
        axis.bar([k for k, _ in printed], [paper for _, paper in printed], 0.4, label="paper")
    axis.set_xticks(list(positions), [row.name for row in report.rows], rotation=60, ha="right", fontsize=7)


def plot_round_robin(round_robin: RoundRobinTable) -> Figure:
    """Plot the winnings of the row's agent against the column's, best first; pale where not significant.

    Parameters
    ----------
    round_robin
        Result of all matches between some agents.

    Examples
    --------
    >>> from riverboat.agents.baselines import BaselineAgent
    >>> from riverboat.evaluation.matches.match import RoundRobinTable, play_match
    >>> from riverboat.games.holdem.rules import read_game
    >>> names = ("always-call", "always-fold")
    >>> match = play_match(BaselineAgent(names[0]), BaselineAgent(names[1]), read_game("leduc"), 20, seed=0)
    >>> figure = plot_round_robin(RoundRobinTable(names, {(0, 1): match}))
    >>> len(figure.axes[0].texts)
    2
    """
    order, count = round_robin.ranking, len(round_robin.names)
    figure, ((axis,),) = new_figure((2.5 + 1.3 * count, 1.2 + 0.7 * count))
    for (row, i), (column, j) in permutations(enumerate(order), 2):
        won, half = round_robin.mbb_between(i, j)
        colour = WIN_COLOR if won > 0 else LOSS_COLOR if won < 0 else NEUTRAL_COLOR
        face = (colour, 0.75 if abs(won) > half else 0.2)
        axis.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=face, edgecolor="white"))
        axis.text(column, row, f"{won:+,.0f}\n± {half:,.0f}", ha="center", va="center", fontsize=9)
    names = [round_robin.names[i] for i in order]
    axis.set(xlim=(-0.5, count - 0.5), ylim=(count - 0.5, -0.5))
    axis.set_xticks(range(count), names, fontsize=9)
    axis.set_yticks(range(count), names, fontsize=9)
    axis.xaxis.tick_top()
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    figure.supxlabel("won by the row of the column, mbb/g ± 95 %", fontsize=9)
    return figure


LABEL_COST_RATIO = 3.0  # cost ratio within which labels may overlap
LABEL_HEIGHT = 0.06  # height of a label, as a share of the span of ratings
WIDE_COST_RATIO = 100.0  # from this ratio of the largest to the smallest cost on, the axis has fewer ticks
COST_LABELS = {"core_hours": "core-hours", "megabytes": "MB", "decision_seconds": "seconds a decision"}


def plot_strength_against_cost(ledger: Ledger) -> Figure:
    """Plot ratings (top) and local best-response values (bottom) against costs of agents.

    Parameters
    ----------
    ledger
        Matches, local best responses and costs of agents. A column is drawn for each kind of cost that some agent has.

    Raises
    ------
    InputError
        If no agent has costs.
    """
    names, ratings = ledger.names(), {rating.agent: rating for rating in ledger.ratings()}
    lbr_settings = sorted({_lbr_setting(entry) for entry in ledger.entries_of_kind("lbr")})
    cost_keys = [key for key in COST_LABELS if any(key in facts for facts in ledger.agents.values())]
    if not cost_keys:
        raise InputError(f"ledger {ledger.path!r}: no agent has costs; measure them with `riverboat cost AGENT --json`")
    rated = [r.mbb_per_game for mark, r in ratings.items() if any(key in ledger.agents[mark] for key in cost_keys)]
    span = max(rated, default=0.0) - min(rated, default=0.0)
    figure, axes = new_figure((4.6 * len(cost_keys), 8), 2, len(cost_keys), sharey="row")
    for column, key in enumerate(cost_keys):
        top, below = axes[:, column]
        costs = {mark: float(facts[key]) for mark, facts in ledger.agents.items() if facts.get(key, 0) > 0}
        last: dict[float, float] = {}  # by cost: position of the last label, so that labels do not overlap
        for mark in sorted((mark for mark in costs if mark in ratings), key=lambda mark: ratings[mark].mbb_per_game):
            rating, cost = ratings[mark], costs[mark]
            top.errorbar(cost, rating.mbb_per_game, yerr=rating.ci95, marker="o", capsize=3, color=NEUTRAL_COLOR)
            column_cost = next((x for x in last if 1 / LABEL_COST_RATIO < x / cost < LABEL_COST_RATIO), cost)
            last[column_cost] = max(rating.mbb_per_game, last.get(column_cost, -inf) + LABEL_HEIGHT * span)
            top.annotate(names[mark], (cost, last[column_cost]), fontsize=8, xytext=(5, 0),
                         textcoords="offset points", va="center")  # fmt: skip
        for number, (actions, start) in enumerate(lbr_settings):
            entries = [e for e in ledger.pooled_entries("lbr") if _lbr_setting(e) == (actions, start)]
            points = sorted((costs[e.agents[0]], e.mbb_per_game, e.ci95) for e in entries if e.agents[0] in costs)
            x, won, half_widths = np.array(points).reshape(-1, 3).T
            label = f"{actions} from the {'deal' if start == 'preflop' else start}"
            below.errorbar(
                x, won, yerr=half_widths, marker="o", capsize=3, linestyle="", color=f"C{number}", label=label
            )
        below.set(xlabel=COST_LABELS[key])
        least, most = min(costs.values(), default=1.0), max(costs.values(), default=1.0)
        for axis in (top, below):
            axis.set(xscale="log", xlim=(least / 2, most * max(3.0, (most / least) ** 0.4)))  # space for labels
            axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if most < WIDE_COST_RATIO * least else (1,)))
            axis.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
            axis.xaxis.set_minor_locator(NullLocator())
            axis.grid(visible=True, which="major", alpha=0.3)
    axes[0, 0].set_ylabel("rating, mbb/g")
    axes[1, 0].set_ylabel("won by a local best response, mbb/g")
    if lbr_settings:
        axes[1, -1].legend(fontsize=8, loc="center right")
    return figure


def _lbr_setting(entry: LedgerEntry) -> tuple[str, str]:
    """Return the action set of a local best response, such as `fcpa`, and the street on which it begins."""
    return str(entry.extra.get("actions")), str(entry.extra.get("from", "preflop"))


# --- Explanations ---

FIDELITY_COLUMNS = ("agreement", "unseen", "distance")


def plot_explanations(explanations: list[RuleExplanation]) -> Figure:
    """Plot fidelity and costs by number of rules, one row for each explanation.

    Parameters
    ----------
    explanations
        Explanations of strategies by rules, each with its fidelity curve.
    """
    count = len(explanations)
    figure, grid = new_figure((11, 4 * count), count, 2)
    for (left, right), explanation in zip(grid, explanations, strict=True):
        curve = explanation.fidelity_curve
        rules = curve.column("rules")
        for name in FIDELITY_COLUMNS:
            points = [(x, y) for x, y in zip(rules, curve.column(name), strict=True) if y is not None]
            if points:
                left.plot([x for x, _ in points], [100 * float(y) for _, y in points], marker=".", label=name)
        left.set(xscale="log", xlabel="rules", ylabel="%", title=explanation.decisions.title)
        costs = [name for name in curve.names if name in ("ev_lost", *explanation.costs)]
        for name in costs:
            right.plot(rules, curve.column(name), marker=".", label=name)
        for style, row in zip((":", "--", "-."), explanation.baselines, strict=False):
            if costs and row.get(costs[-1]) is not None:
                label = f"{row['instead']} ({costs[-1]})"
                right.axhline(row[costs[-1]], linestyle=style, color="grey", label=label)
        right.set(xscale="log", xlabel="rules", ylabel=explanation.decisions.unit, title="what following them costs")
        for axis in (left, right):
            axis.grid(visible=True, alpha=0.3)
            if axis.get_legend_handles_labels()[0]:
                axis.legend(fontsize=8)
    return figure


# --- Players ---

_STATISTIC_LABELS = {"vpip": "VPIP", "pfr": "PFR"}  # other statistics have their keys as labels
CALIBRATED_MODELS = ("equilibrium", "frequencies", "l1", "population, showdowns")


def plot_player_statistics(players: list[PlayerStatistics]) -> Figure:
    """Plot statistics of players with their intervals, and their aggression by street and position.

    Parameters
    ----------
    players
        Statistics of at least one player.
    """
    statistics = [_STATISTIC_LABELS.get(key, key.replace("_", " ")) for key in players[0].frequencies]
    situations = [", ".join(key) for key in players[0].aggression]
    size = (11, 1.5 + 0.32 * 8 * max(1, len(players) / 3))
    figure, ((left, right),) = new_figure(size, columns=2)
    for k, player in enumerate(players):
        shift = (k - (len(players) - 1) / 2) * 0.7 / len(players)
        name = player.name if len(player.name) <= 24 else player.name[:23] + "…"
        _plot_shares(left, list(player.frequencies.values()), shift, k, f"{name} ({player.hands:,})")
        _plot_shares(right, list(player.aggression.values()), shift, k, "")
    for axis, labels in ((left, statistics), (right, situations)):
        axis.set_yticks(range(len(labels)), labels)
        axis.set(xlim=(0, 100), ylim=(len(labels) - 0.5, -0.5), xlabel="% of chances, with the 95 % interval")
        axis.grid(visible=True, axis="x", alpha=0.3)
    right.set_title("bets and raises, of all moves but checks", fontsize=10)
    figure.legend(loc="outside upper left", fontsize=8, ncols=2)
    return figure


def _plot_shares(axis: Axes, shares: list[FrequencyEstimate], shift: float, k: int, label: str) -> None:
    available = [(row, share) for row, share in enumerate(shares) if share.frequency is not None]
    middle = [100 * share.count / share.opportunities for _, share in available]
    low = [m - 100 * share.low for m, (_, share) in zip(middle, available, strict=True)]
    high = [100 * share.high - m for m, (_, share) in zip(middle, available, strict=True)]
    axis.errorbar(
        middle, [row + shift for row, _ in available], xerr=[low, high], fmt="o", markersize=4, capsize=2,
        color=f"C{k}", label=label or None,
    )  # fmt: skip


def plot_calibration(players: list[ModelEvaluation]) -> Figure:
    """Plot observed against predicted frequencies of actions: a calibrated model lies on the diagonal.

    Parameters
    ----------
    players
        Evaluations of opponent models, one panel for each player.
    """
    count = len(players)
    figure, (axes,) = new_figure((1 + 3.6 * count, 4.4), columns=count, sharey=True)
    for axis, player in zip(axes, players, strict=True):
        axis.plot([0, 1], [0, 1], color=NEUTRAL_COLOR, linewidth=1)
        for k, key in enumerate(CALIBRATED_MODELS):
            predicted, observed, times = zip(*player.calibration(key), strict=True)
            half = [1.96 * (m * (1 - m) / n) ** 0.5 for m, n in zip(observed, times, strict=True)]
            axis.errorbar(predicted, observed, yerr=half, marker="o", markersize=3, capsize=2, linewidth=1,
                          color=f"C{k}", label=f"{key}: {player.loss(key)[0]:.3f}")  # fmt: skip
        axis.set(xlim=(0, 1), ylim=(0, 1), xlabel="said", title=player.name[:22])
        axis.title.set_fontsize(9)
        axis.grid(visible=True, alpha=0.3)
        axis.legend(fontsize=7, title="log-loss", title_fontsize=7)
    axes[0].set_ylabel("made")
    return figure
