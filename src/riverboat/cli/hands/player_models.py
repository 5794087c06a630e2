"""`riverboat model`: models of players in a blueprint's tree, and how well they tell what comes next."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.registry import make_agent
from riverboat.cli.terminal import emit, plain_console, say
from riverboat.core import atomic_io
from riverboat.core.errors import InputError, shown, unknown
from riverboat.core.tables import FIGURE, Cell, Column, ReportTable
from riverboat.formats.hand_files import gather_hands
from riverboat.games.records.hand_records import Hands
from riverboat.opponents.models.evaluation import EQUILIBRIUM, FREQUENCIES, Judged, judge
from riverboat.opponents.models.hand_lines import read_in
from riverboat.opponents.models.registry import MODELS, make_model
from riverboat.opponents.models.tree import count_moves
from riverboat.strategies.blueprint import BlueprintStrategy, save_blueprint

MOST = 4  # players that are modelled without being asked for
UNITS = {
    "loss": "nats a decision, on hands not seen; ci95 is half the width of the interval over hands",
    "below_equilibrium": "nats a decision by which the loss is below that of the blueprint itself, on the same decisions",
    "below_frequencies": "the same of the player's own frequencies at each public history, one of each move added",
    "calibration": "what was said of moves, how often they were made, and of how many moves, in tenths of what was said",
}
_COLUMNS = (
    Column("forecast"), Column("loss", FIGURE), Column("below equilibrium", FIGURE), Column("below frequencies", FIGURE),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the command was asked for."""

    players: list[str]
    fit: str = "l1"
    learn: float = 0.8
    out: Path | None = None
    plot: Path | None = None
    json: bool = False


def model(agent: str, files: list[Path], options: Options) -> None:
    """Learn, judge, save and show."""
    if options.plot is not None:
        atomic_io.check_picture(options.plot)
    if options.fit not in MODELS:
        raise unknown("--fit", options.fit, MODELS)
    if options.out is not None and len(options.players) != 1:
        raise InputError(f"--out {options.out}: saves the model of one player: add --player NAME")
    if options.out is not None and options.out.exists():
        raise InputError(f"--out {options.out}: exists already; choose another name")
    base = blueprint_of(agent)
    hands = gather_hands(files).hands
    if hands is None:
        raise InputError("no hand can be read: `riverboat hands` says why")
    for name in options.players:
        if name not in hands.names:
            raise unknown("player", name, hands.names)
    count = np.bincount(hands.player.ravel(), minlength=len(hands.names))
    names = options.players or [hands.names[k] for k in np.argsort(-count, kind="stable")[:MOST]]
    judged = [judge(base, hands, name, options.learn) for name in dict.fromkeys(names)]
    if options.out is not None:
        save_blueprint(_whole(base, hands, names[0], options.fit), options.out)
        say(f"saved the model of {names[0]} in {options.out}")
    if options.plot is not None:
        from riverboat.reports.plots import players as hand_plots

        hand_plots.calibration(judged, options.plot)
    if options.json:
        emit(
            {
                "agent": agent,
                "hands": len(hands),
                "players": [facts(one) for one in judged],
                "unit": "nats",
                "units": UNITS,
            }
        )
        return
    console = plain_console()
    for one in judged:
        console.print(table(one))
    console.print(
        f"log-loss in nats a decision, ± 95 % over hands, on the last {100 * (1 - options.learn):.0f} % of each player's "
        f"hands; {100 * judged[0].missed:.1f} % of decisions have no place in the tree"
    )


def blueprint_of(agent: str) -> BlueprintStrategy:
    """The blueprint that an agent plays."""
    made = make_agent(agent)
    if not isinstance(made, BlueprintAgent):
        raise InputError(f"agent {shown(agent)}: models need a blueprint, such as runs/mine or demo")
    return made.strategy


def _whole(base: BlueprintStrategy, hands: Hands, name: str, fit: str) -> BlueprintStrategy:
    """From all hands of a player, with showdowns, and with all others as the prior."""
    reading = read_in(base.tree, hands)
    mine = reading.player == hands.names.index(name)
    seen, others = (count_moves(reading, base.tree, some, hands, base.cards) for some in (mine, ~mine))
    return make_model(fit, make_model(fit, base, others), seen)


def table(one: Judged) -> ReportTable:
    """A row for every forecast, the best first."""
    order = sorted(one.forecasts, key=lambda key: one.loss(key)[0])
    rows: list[tuple[Cell, ...]] = []
    for key in order:
        gains = (_figure(one.gain(key, rival)) if key != rival else "" for rival in (EQUILIBRIUM, FREQUENCIES))
        rows.append((key, "{:.3f} ± {:.3f}".format(*one.loss(key)), *gains))
    title = f"{one.name}: learnt from {one.learnt:,} hands, judged by {one.decisions:,} decisions"
    return ReportTable(title, _COLUMNS, tuple(rows))


def _figure(gain: tuple[float, float]) -> str:
    return f"{gain[0]:+.3f} ± {gain[1]:.3f}"


def facts(one: Judged) -> dict[str, Any]:
    """For JSON."""
    forecasts = {}
    for key in one.forecasts:
        told: dict[str, Any] = {"loss": _claimed(one.loss(key)), "calibration": one.calibration(key)}
        told |= {
            f"below_{rival}": _claimed(one.gain(key, rival)) for rival in (EQUILIBRIUM, FREQUENCIES) if rival != key
        }
        forecasts[key] = told
    return {
        "player": one.name, "hands_learnt": one.learnt, "hands_judged": one.hands, "decisions": one.decisions,
        "share_without_a_place": one.missed, "forecasts": forecasts,
    }  # fmt: skip


def _claimed(figure: tuple[float, float]) -> dict[str, float]:
    return {"nats": figure[0], "ci95": figure[1]}
