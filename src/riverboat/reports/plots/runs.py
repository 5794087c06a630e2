"""Pictures of runs."""

from __future__ import annotations

from math import inf
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from riverboat.core import atomic_io
from riverboat.core.errors import InputError
from riverboat.evaluation.ledger import COSTS, LBR, Ledger
from riverboat.evaluation.matches.match import RoundRobin
from riverboat.solvers.result import Result

UP, DOWN, EVEN = "#63b871", "#ef826f", "#8a8f98"  # won, lost, neither


def convergence(results: list[Result], path: Path) -> None:
    """Exploitability against iterations and against seconds, one line for each run."""
    atomic_io.check_picture(path)
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), sharey=True, layout="constrained")
    for result in results:
        points = [
            p for p in result.history if p.exploitability is not None and p.exploitability > 0 and p.iteration > 0
        ]
        errors = [p.exploitability for p in points]
        label = result.schedule if result.method == "cfr" else result.method
        axes[0].plot([p.iteration for p in points], errors, marker=".", markersize=3, label=label)
        axes[1].plot([p.seconds for p in points], errors, marker=".", markersize=3, label=label)
    for axis, name in zip(axes, ("iterations", "seconds of solving"), strict=True):
        axis.set(xscale="log", yscale="log", xlabel=name)
        axis.grid(visible=True, which="major", alpha=0.3)
    axes[0].set_ylabel(f"exploitability ({results[0].unit})")
    axes[0].legend()
    figure.suptitle(f"{results[0].game}: {results[0].infosets:,} information sets")
    atomic_io.save_picture(figure, path)
    plt.close(figure)


def crossed(matches: RoundRobin, path: Path) -> None:
    """What the agent of the row won of the one of the column, the best first; paler where that is not settled."""
    atomic_io.check_picture(path)
    order, count = matches.ranking, len(matches.names)
    figure, axis = plt.subplots(figsize=(2.5 + 1.3 * count, 1.2 + 0.7 * count), layout="constrained")
    for row, i in enumerate(order):
        for column, j in enumerate(order):
            if i == j:
                continue
            won, half = matches.mbb(i, j)
            colour = (UP if won > 0 else DOWN if won < 0 else EVEN, 0.75 if abs(won) > half else 0.2)
            axis.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=colour, edgecolor="white"))
            axis.text(column, row, f"{won:+,.0f}\n± {half:,.0f}", ha="center", va="center", fontsize=9)
    names = [matches.names[i] for i in order]
    axis.set(xlim=(-0.5, count - 0.5), ylim=(count - 0.5, -0.5))
    axis.set_xticks(range(count), names, fontsize=9)
    axis.set_yticks(range(count), names, fontsize=9)
    axis.xaxis.tick_top()
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    figure.supxlabel("won by the row of the column, mbb/g ± 95 %", fontsize=9)
    atomic_io.save_picture(figure, path)
    plt.close(figure)


NEAR, LINE, WIDE = 3.0, 0.06, 100.0  # costs side by side; a line of the ratings' span; costs that need fewer ticks
COST_NAMES = {"core_hours": "core-hours", "megabytes": "MB", "decision_seconds": "seconds a decision"}


def strength_per_cost(book: Ledger, path: Path) -> None:
    """Ratings above and what local best responses win below, against what agents cost."""
    atomic_io.check_picture(path)
    names, ratings = book.names(), {rating.agent: rating for rating in book.ratings()}
    asked = sorted({(str(e.more.get("actions")), str(e.more.get("from", "preflop"))) for e in book.of(LBR)})
    shown = [key for key in COSTS if any(key in facts for facts in book.agents.values())]
    if not shown:
        raise InputError(
            f"ledger {book.where!r}: no agent says what it cost; `riverboat cost AGENT --json` measures it"
        )
    rated = [rating.mbb_per_game for mark, rating in ratings.items() if any(key in book.agents[mark] for key in shown)]
    span = max(rated, default=0.0) - min(rated, default=0.0)
    figure, axes = plt.subplots(
        2, len(shown), figsize=(4.6 * len(shown), 8), sharey="row", squeeze=False, layout="constrained"
    )
    for column, key in enumerate(shown):
        top, below = axes[:, column]
        known = [mark for mark, facts in book.agents.items() if facts.get(key, 0) > 0 and mark in ratings]
        last: dict[float, float] = {}  # by cost: where the last name ends, so that names do not lie on each other
        for mark in sorted(known, key=lambda mark: ratings[mark].mbb_per_game):
            rating, cost = ratings[mark], float(book.agents[mark][key])
            top.errorbar(cost, rating.mbb_per_game, yerr=rating.ci95, marker="o", capsize=3, color=EVEN)
            near = next((x for x in last if 1 / NEAR < x / cost < NEAR), cost)
            last[near] = max(rating.mbb_per_game, last.get(near, -inf) + LINE * span)
            top.annotate(names[mark], (cost, last[near]), fontsize=8, xytext=(5, 0), textcoords="offset points",
                         va="center")  # fmt: skip
        for number, (actions, start) in enumerate(asked):
            mine = [
                (float(book.agents[e.agents[0]][key]), e)
                for e in book.pooled(LBR)
                if (str(e.more.get("actions")), str(e.more.get("from", "preflop"))) == (actions, start)
                and book.agents[e.agents[0]].get(key, 0) > 0
            ]
            mine.sort(key=lambda point: point[0])
            where = "deal" if start == "preflop" else start
            below.errorbar(
                [x for x, _ in mine], [e.mbb_per_game for _, e in mine], yerr=[e.ci95 for _, e in mine], marker="o",
                capsize=3, linestyle="", color=f"C{number}", label=f"{actions} from the {where}",
            )  # fmt: skip
        below.set(xlabel=COST_NAMES[key])
        paid = [float(facts[key]) for facts in book.agents.values() if facts.get(key, 0) > 0] or [1.0]
        for axis in (top, below):
            axis.set(
                xscale="log", xlim=(min(paid) / 2, max(paid) * max(3.0, (max(paid) / min(paid)) ** 0.4))
            )  # room for names
            axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if max(paid) < WIDE * min(paid) else (1,)))
            axis.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
            axis.xaxis.set_minor_locator(NullLocator())
            axis.grid(visible=True, which="major", alpha=0.3)
    axes[0, 0].set_ylabel("rating, mbb/g")
    axes[1, 0].set_ylabel("won by a local best response, mbb/g")
    if asked:
        axes[1, -1].legend(fontsize=8, loc="center right")
    atomic_io.save_picture(figure, path)
    plt.close(figure)
