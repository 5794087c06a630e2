"""`riverboat explain`: a strategy as rules that a person can learn, and what following them costs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from riverboat import disk
from riverboat.errors import InputError
from riverboat.explain import small_games, spots
from riverboat.explain.decisions import Cost, Decisions
from riverboat.explain.explanation import Explanation, edited, explain
from riverboat.interfaces.progress import ProgressLine
from riverboat.interfaces.reading import load
from riverboat.interfaces.spot_reading import ROOT, node_of
from riverboat.interfaces.terminal import emit, plain_console, say
from riverboat.strategy.rule_list import RuleList
from riverboat.strategy.solution import Solution
from riverboat.strategy.table import Strategy
from riverboat.texts import read_text

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True)
class Options:
    """What is asked for."""

    rules: int = 10
    method: str = "auto"
    player: int | None = None
    list: Path | None = None
    out: Path | None = None
    plot: Path | None = None
    game: str | None = None
    json: bool = False


def run(folder: Path, line: str | None, options: Options) -> None:
    """Explain what a folder holds, all of it or one decision."""
    if options.plot is not None:
        disk.check_picture(options.plot)
    strategy = load(folder, options.game)
    with ProgressLine("learning rules"):
        if isinstance(strategy, Solution):
            found = [_spot(strategy, line, options)]
        else:
            found = _small(strategy, line, options)
    _written(found, options)
    if options.json:
        emit({"explanations": [one.to_dict() for one in found]})
        return
    console = plain_console()
    for number, one in enumerate(found):
        if number:
            console.print()
        _print(console, one)


def _spot(solution: Solution, line: str | None, options: Options) -> Explanation:
    if options.player is not None:
        raise InputError(f"--player {options.player}: in a spot the line says who acts")
    node = node_of(solution, line)
    decisions = spots.spot_decisions(node)
    return _explained(decisions, spots.cost_of(node, decisions), options, quick=False)


def _small(strategy: Strategy, line: str | None, options: Options) -> list[Explanation]:
    tree = strategy.tree
    if line is not None and options.player is None and hasattr(tree, "node"):
        at = "" if line == ROOT else line
        actor = int(tree.nodes.actor[tree.node(at)])
        if actor < 0:
            raise InputError(f"{tree.name}: nobody acts at {line!r}, so there is nothing to explain")
        players = [actor]
    else:
        players = list(range(tree.players)) if options.player is None else [options.player]
    at_line = None if line is None else "" if line == ROOT else line
    found = []
    for player in players:
        decisions = small_games.small_decisions(strategy, player, at_line)
        cost = small_games.cost_of(strategy, decisions, player) if tree.players == 2 else None
        found.append(_explained(decisions, cost, options))
    return found


def _explained(decisions: Decisions, cost: Cost | None, options: Options, *, quick: bool = True) -> Explanation:
    if options.list is not None:
        text = read_text(options.list, "rules")
        try:
            return edited(RuleList.parse(text, decisions.features), decisions, cost)
        except InputError as error:
            raise InputError(f"rules {str(options.list)!r}: {error}") from None
    return explain(decisions, options.rules, options.method, cost=cost, quick=quick)


def _written(found: list[Explanation], options: Options) -> None:
    if options.out is not None:
        if len(found) > 1:
            raise InputError(f"--out {options.out}: {len(found)} players have a list each; choose one with --player")
        disk.write_text(options.out, f"# {found[0].decisions.title}\n{found[0].rules}")
        say(f"rules: {options.out}")
    if options.plot is not None:
        from riverboat.interfaces.explain_plots import draw

        draw(found, options.plot)
        say(f"picture: {options.plot}")


# --- as text --------------------------------------------------------------------------------------


def _print(console: Console, one: Explanation) -> None:
    unit = one.decisions.unit
    console.print(one.decisions.title)
    console.print(headline(one))
    for number, told in enumerate(one.told, start=1):
        known = one.seen.ev_lost is not None
        worth = "" if told.worth is None else f", worth {_worth(told.worth, known, unit)}"
        console.print(f"{number:>3}. {told.sentence}")
        console.print(f"     {100 * told.share:.1f} % of decisions, right in {100 * told.agreement:.0f} %{worth}")
        more = [f"such as {', '.join(told.examples)}"] if told.examples else []
        more += [f"but not {'; '.join(told.exceptions)}"] if told.exceptions else []
        if more:
            console.print(f"     {'; '.join(more)}")
    console.print()
    console.print(f"the dial ({unit})" if unit else "the dial")
    console.print(one.dial)
    console.print()
    console.print(one.baselines)


def _worth(worth: float, known: bool, unit: str) -> str:
    return f"{worth:.3g} {unit}" if known else f"{100 * worth:.1f} % of distance"


def headline(one: Explanation) -> str:
    """The figures in a line."""
    unit, seen = one.decisions.unit, one.seen
    parts = [f"{seen.rules} rules ({one.method}): agreement {100 * seen.agreement:.1f} %"]
    if one.unseen is not None:
        parts.append(f"{100 * one.unseen.agreement:.1f} % on what was not seen")
    parts.append(f"distance {100 * seen.distance:.1f} %")
    parts.append(f"{seen.tests:.1f} tests a decision")
    parts.append(f"{100 * seen.coverage:.0f} % decided before the last rule")
    if seen.ev_lost is not None:
        lost = seen.ev_lost if one.unseen is None or one.unseen.ev_lost is None else one.unseen.ev_lost
        parts.append(f"EV lost {lost:.3f} {unit}" + ("" if one.unseen is None else " on what was not seen"))
    parts += [f"{name} {value:.4g} {unit}" for name, value in one.costs.items()]
    return ", ".join(parts)
