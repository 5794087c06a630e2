"""Plots of results: convergence, round robins, strength against cost, explanations, players and their models."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import permutations
from math import inf
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from riverboat.core import files
from riverboat.core.errors import InputError
from riverboat.evaluation.ledger import COST_KEYS, LBR, Ledger, LedgerEntry
from riverboat.evaluation.matches.match import RoundRobinTable
from riverboat.explain.explanation import RuleExplanation
from riverboat.opponents.models.evaluation import EQUILIBRIUM, FREQUENCIES, POPULATION, SHOWDOWNS, ModelEvaluation
from riverboat.opponents.statistics import POSITIONS, STATISTICS, FrequencyEstimate, PlayerStatistics
from riverboat.solvers.result import Result

matplotlib.use("Agg")


WIN_COLOR, LOSS_COLOR, NEUTRAL_COLOR = "#63b871", "#ef826f", "#8a8f98"  # win, loss, neither


@contextmanager
def _saved_figure(path: Path, rows: int, columns: int, **options: Any) -> Iterator[tuple[Figure, Any]]:
    """Yield a figure and its axes [rows, columns]; write the figure at the end of the block and close it."""
    files.check_image_path(path)
    figure, axes = plt.subplots(rows, columns, squeeze=False, layout="constrained", **options)
    try:
        yield figure, axes
        files.save_figure(figure, path)
    finally:
        plt.close(figure)


def plot_convergence(results: list[Result], path: Path) -> None:
    """Plot exploitability against iterations and against seconds, one line for each run.

    Parameters
    ----------
    results
        Results of runs on the same game. Checks without a positive exploitability are left out.
    path
        File to write: .png, .svg or .pdf.

    Raises
    ------
    InputError
        If the path has another suffix, or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> import riverboat as rb
    >>> result = rb.solve(rb.game("kuhn"), iterations=100)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plot_convergence([result], Path(folder, "kuhn.svg"))
    ...     Path(folder, "kuhn.svg").exists()
    True
    """
    with _saved_figure(path, 1, 2, figsize=(11, 4.5), sharey=True) as (figure, ((by_iterations, by_seconds),)):
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


def plot_round_robin(round_robin: RoundRobinTable, path: Path) -> None:
    """Plot the winnings of the row's agent against the column's, best first; pale where not significant.

    Parameters
    ----------
    round_robin
        Result of all matches between some agents.
    path
        File to write: .png, .svg or .pdf.

    Raises
    ------
    InputError
        If the path has another suffix, or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from riverboat.agents.baselines import BaselineAgent
    >>> from riverboat.evaluation.matches.match import play_match
    >>> from riverboat.games.holdem.rules import read_game
    >>> names = ("always-call", "always-fold")
    >>> match = play_match(BaselineAgent(names[0]), BaselineAgent(names[1]), read_game("leduc"), 20, seed=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plot_round_robin(RoundRobinTable(names, {(0, 1): match}), Path(folder, "table.svg"))
    ...     Path(folder, "table.svg").exists()
    True
    """
    order, count = round_robin.ranking, len(round_robin.names)
    with _saved_figure(path, 1, 1, figsize=(2.5 + 1.3 * count, 1.2 + 0.7 * count)) as (figure, ((axis,),)):
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


LABEL_COST_RATIO = 3.0  # cost ratio within which labels may overlap
LABEL_HEIGHT = 0.06  # of a label, as a share of the span
WIDE_COST_RATIO = 100.0  # cost ratio for fewer ticks
COST_LABELS = {"core_hours": "core-hours", "megabytes": "MB", "decision_seconds": "seconds a decision"}


def plot_strength_against_cost(ledger: Ledger, path: Path) -> None:
    """Plot ratings (top) and local best-response values (bottom) against costs of agents.

    Parameters
    ----------
    ledger
        Matches, local best responses and costs of agents. A column is drawn for each kind of cost that some agent has.
    path
        File to write: .png, .svg or .pdf.

    Raises
    ------
    InputError
        If no agent has costs, or if the path has another suffix or cannot be written.
    """
    names, ratings = ledger.names(), {rating.agent: rating for rating in ledger.ratings()}
    lbr_settings = sorted({_lbr_setting(entry) for entry in ledger.entries_of_kind(LBR)})
    cost_keys = [key for key in COST_KEYS if any(key in facts for facts in ledger.agents.values())]
    if not cost_keys:
        raise InputError(f"ledger {ledger.path!r}: no agent has costs; measure them with `riverboat cost AGENT --json`")
    rated = [
        rating.mbb_per_game for mark, rating in ratings.items() if any(key in ledger.agents[mark] for key in cost_keys)
    ]
    span = max(rated, default=0.0) - min(rated, default=0.0)
    with _saved_figure(path, 2, len(cost_keys), figsize=(4.6 * len(cost_keys), 8), sharey="row") as (_, axes):
        for column, key in enumerate(cost_keys):
            top, below = axes[:, column]
            rated_agents = [mark for mark, facts in ledger.agents.items() if facts.get(key, 0) > 0 and mark in ratings]
            last: dict[float, float] = {}  # by cost: position of the last label, so that labels do not overlap
            for mark in sorted(rated_agents, key=lambda mark: ratings[mark].mbb_per_game):
                rating, cost = ratings[mark], float(ledger.agents[mark][key])
                top.errorbar(cost, rating.mbb_per_game, yerr=rating.ci95, marker="o", capsize=3, color=NEUTRAL_COLOR)
                column_cost = next((x for x in last if 1 / LABEL_COST_RATIO < x / cost < LABEL_COST_RATIO), cost)
                last[column_cost] = max(rating.mbb_per_game, last.get(column_cost, -inf) + LABEL_HEIGHT * span)
                top.annotate(names[mark], (cost, last[column_cost]), fontsize=8, xytext=(5, 0),
                             textcoords="offset points", va="center")  # fmt: skip
            for number, (actions, start) in enumerate(lbr_settings):
                points = [
                    (float(ledger.agents[e.agents[0]][key]), e)
                    for e in ledger.pooled_entries(LBR)
                    if _lbr_setting(e) == (actions, start) and ledger.agents[e.agents[0]].get(key, 0) > 0
                ]
                points.sort(key=lambda point: point[0])
                where = "deal" if start == "preflop" else start
                below.errorbar(
                    [x for x, _ in points], [e.mbb_per_game for _, e in points], yerr=[e.ci95 for _, e in points],
                    marker="o", capsize=3, linestyle="", color=f"C{number}", label=f"{actions} from the {where}",
                )  # fmt: skip
            below.set(xlabel=COST_LABELS[key])
            costs = [float(facts[key]) for facts in ledger.agents.values() if facts.get(key, 0) > 0] or [1.0]
            least, most = min(costs), max(costs)
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


def _lbr_setting(entry: LedgerEntry) -> tuple[str, str]:
    """Return the actions of a local best response and the street it begins on."""
    return str(entry.extra.get("actions")), str(entry.extra.get("from", "preflop"))


# --- Explanations ---

FIDELITY_COLUMNS = ("agreement", "unseen", "distance")


def plot_explanations(explanations: list[RuleExplanation], path: Path) -> None:
    """Plot fidelity and costs by number of rules, one row for each explanation.

    Parameters
    ----------
    explanations
        Explanations of strategies by rules, each with its fidelity curve.
    path
        File to write: .png, .svg or .pdf.

    Raises
    ------
    InputError
        If the path has another suffix, or cannot be written.
    """
    count = len(explanations)
    with _saved_figure(path, count, 2, figsize=(11, 4 * count)) as (_, grid):
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
            right.set(
                xscale="log", xlabel="rules", ylabel=explanation.decisions.unit, title="what following them costs"
            )
            for axis in (left, right):
                axis.grid(visible=True, alpha=0.3)
                if axis.get_legend_handles_labels()[0]:
                    axis.legend(fontsize=8)


# --- Players ---

_STATISTIC_LABELS = {key: key.replace("_", " ") for key in STATISTICS} | {"vpip": "VPIP", "pfr": "PFR"}
_COLORS = tuple(f"C{k}" for k in range(10))


def plot_player_statistics(players: list[PlayerStatistics], path: Path) -> None:
    """Plot statistics of players with their intervals, and their aggression by street and position.

    Parameters
    ----------
    players
        Statistics of at least one player.
    path
        File to write: .png, .svg or .pdf.

    Raises
    ------
    InputError
        If the path has another suffix, or cannot be written.
    """
    streets = list(dict.fromkeys(street for street, _ in players[0].aggression))
    rows = {f"{street}, {position}": (street, position) for street in streets for position in POSITIONS}
    size = (11, 1.5 + 0.32 * 8 * max(1, len(players) / 3))
    with _saved_figure(path, 1, 2, figsize=size) as (figure, ((left, right),)):
        for k, player in enumerate(players):
            shift = (k - (len(players) - 1) / 2) * 0.7 / len(players)
            name = player.name if len(player.name) <= 24 else player.name[:23] + "…"
            _plot_shares(left, [player[key] for key in STATISTICS], shift, k, f"{name} ({player.hands:,})")
            _plot_shares(right, [player.aggression[key] for key in rows.values()], shift, k, "")
        for axis, labels in ((left, list(_STATISTIC_LABELS.values())), (right, list(rows))):
            axis.set_yticks(range(len(labels)), labels)
            axis.set(xlim=(0, 100), ylim=(len(labels) - 0.5, -0.5), xlabel="% of chances, with the 95 % interval")
            axis.grid(visible=True, axis="x", alpha=0.3)
        right.set_title("bets and raises, of all moves but checks", fontsize=10)
        figure.legend(loc="outside upper left", fontsize=8, ncols=2)


def _plot_shares(axis: Axes, shares: list[FrequencyEstimate], shift: float, k: int, label: str) -> None:
    available = [(row, share) for row, share in enumerate(shares) if share.frequency is not None]
    middle = [100 * share.count / share.opportunities for _, share in available]
    low = [m - 100 * share.low for m, (_, share) in zip(middle, available, strict=True)]
    high = [100 * share.high - m for m, (_, share) in zip(middle, available, strict=True)]
    axis.errorbar(
        middle, [row + shift for row, _ in available], xerr=[low, high], fmt="o", markersize=4, capsize=2,
        color=_COLORS[k % len(_COLORS)], label=label or None,
    )  # fmt: skip


def plot_calibration(players: list[ModelEvaluation], path: Path) -> None:
    """Plot observed against predicted frequencies of actions: a calibrated model lies on the diagonal.

    Parameters
    ----------
    players
        Evaluations of opponent models, one panel for each player.
    path
        File to write: .png, .svg or .pdf.

    Raises
    ------
    InputError
        If the path has another suffix, or cannot be written.
    """
    shown, count = (EQUILIBRIUM, FREQUENCIES, "l1", f"{POPULATION}, {SHOWDOWNS}"), len(players)
    with _saved_figure(path, 1, count, figsize=(1 + 3.6 * count, 4.4), sharey=True) as (_, (axes,)):
        for axis, player in zip(axes, players, strict=True):
            axis.plot([0, 1], [0, 1], color=NEUTRAL_COLOR, linewidth=1)
            for k, key in enumerate(shown):
                predicted, observed, times = zip(*player.calibration(key), strict=True)
                half = [1.96 * (m * (1 - m) / n) ** 0.5 for m, n in zip(observed, times, strict=True)]
                axis.errorbar(predicted, observed, yerr=half, marker="o", markersize=3, capsize=2, linewidth=1,
                              color=_COLORS[k], label=f"{key}: {player.loss(key)[0]:.3f}")  # fmt: skip
            axis.set(xlim=(0, 1), ylim=(0, 1), xlabel="said", title=player.name[:22])
            axis.title.set_fontsize(9)
            axis.grid(visible=True, alpha=0.3)
            axis.legend(fontsize=7, title="log-loss", title_fontsize=7)
        axes[0].set_ylabel("made")
