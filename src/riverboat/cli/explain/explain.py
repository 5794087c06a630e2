"""`riverboat explain`: a strategy as rules that a person can learn, and what following them costs.

What there is decides what is explained: a small game, a node of a spot, a spot on many boards, an agent at one line or in
all that it does. With `--hand` it is one hand, with `--against` two strategies.
"""

from __future__ import annotations

import json as json_files
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from riverboat.cards.notation import parse_cards
from riverboat.cli.progress import ProgressLine
from riverboat.cli.show.agent import answering, is_agent
from riverboat.cli.show.commands import load
from riverboat.cli.show.spot import ROOT, node_of
from riverboat.cli.solve import many_boards
from riverboat.cli.terminal import emit, plain_console, say
from riverboat.core import artifacts, atomic_io
from riverboat.core.errors import InputError, shown
from riverboat.core.schema import Fields
from riverboat.core.text_files import read_text
from riverboat.explain import agent_decisions, small_games, spots
from riverboat.explain.comparison import Comparison, compare
from riverboat.explain.decisions import Cost, Decisions
from riverboat.explain.explanation import DIAL, Explanation, edited, explain
from riverboat.explain.flop_rules import BoardRow, board_decisions
from riverboat.explain.why import why
from riverboat.strategies import blueprint, files
from riverboat.strategies.reports import runouts
from riverboat.strategies.rule_list import CALL, FOLD, RAISE, Move, RuleList
from riverboat.strategies.solution import Solution
from riverboat.strategies.tabular import Strategy

if TYPE_CHECKING:
    from rich.console import Console

FEW = 30  # rules of the dial of an agent, whose tables are large


@dataclass(frozen=True)
class Options:
    """What is asked for."""

    rules: int = 10
    method: str = "auto"
    player: int | None = None
    list: Path | None = None
    out: Path | None = None
    plot: Path | None = None
    hand: str | None = None
    against: Path | None = None
    against_line: str | None = None
    board: str | None = None
    boards: str | None = None
    hands: int = 1_000
    seed: int = 0
    game: str | None = None
    json: bool = False


@dataclass(frozen=True)
class Asked:
    """Decisions, and what playing them otherwise costs."""

    decisions: Decisions
    cost: Cost | None = None
    quick: bool = True
    large: bool = False  # a table for which the dial goes less far


def run(folder: Path, line: str | None, options: Options) -> None:
    """Explain what a folder or an agent holds, all of it or one decision."""
    if options.plot is not None:
        atomic_io.check_picture(options.plot)
    if options.hand is not None:
        _why(folder, line, options)
        return
    if options.against is not None:
        _against(folder, line, options)
        return
    asked = gather(folder, line, options)
    if options.out is not None and len(asked) > 1:
        raise InputError(f"--out {options.out}: {len(asked)} players have a list each; choose one with --player")
    with ProgressLine("learning rules"):
        explanations = [_explained(one, options) for one in asked]
    _written(explanations, options)
    if options.json:
        emit({"explanations": [one.to_dict() for one in explanations]})
        return
    console = plain_console()
    for number, one in enumerate(explanations):
        if number:
            console.print()
        _print(console, one)


# --- what there is ----------------------------------------------------------------------------------


def gather(folder: Path, line: str | None, options: Options) -> list[Asked]:
    """The decisions that are asked about."""
    if is_agent(folder) or (folder.is_dir() and _is_blueprint(folder)):
        return [_agent(str(folder), line, options)]
    if options.board is not None or options.boards is not None:
        raise InputError(f"{folder}: --board and --boards are for agents; the cards of a spot stand in its lines")
    if (folder / many_boards.DONE).is_file():
        return [Asked(_boards(folder, line))]
    strategy = load(folder, options.game)
    with ProgressLine("EVs and equities"):
        return [_spot(strategy, line, options)] if isinstance(strategy, Solution) else _small(strategy, line, options)


def _is_blueprint(folder: Path) -> bool:
    if (folder / many_boards.DONE).is_file():
        return False
    return artifacts.manifest(files.newest(folder))["kind"] in blueprint.KINDS


def _spot(solution: Solution, line: str | None, options: Options) -> Asked:
    if options.player is not None:
        raise InputError(f"--player {options.player}: in a spot the line says who acts")
    if line is not None and runouts.stands_for_many(line):
        return Asked(spots.card_decisions(solution, line), large=True)
    node = node_of(solution, line)
    decisions = spots.spot_decisions(node)
    return Asked(decisions, spots.cost_of(node, decisions), quick=False)


def _small(strategy: Strategy, line: str | None, options: Options) -> list[Asked]:
    tree = strategy.tree
    at = None if line is None else "" if line == ROOT else line
    players = list(range(tree.players)) if options.player is None else [options.player]
    if at is not None and options.player is None and hasattr(tree, "node"):
        players = [int(tree.nodes.actor[tree.node(at)])]
        if players[0] < 0:
            raise InputError(f"{tree.name}: nobody acts at {line!r}, so there is nothing to explain")
    small = []
    for player in players:
        decisions = small_games.small_decisions(strategy, player, at)
        small.append(Asked(decisions, small_games.cost_of(strategy, decisions, player) if tree.players == 2 else None))
    return small


def _agent(name: str, line: str | None, options: Options) -> Asked:
    agent, rules = answering(name, options.game, options.seed)
    if line is None:
        if options.board is not None or options.boards is not None:
            raise InputError(f"agent {shown(name)}: --board and --boards need a LINE; root is the first decision")
        with ProgressLine(f"{options.hands:,} hands of {name} against itself"):
            return Asked(agent_decisions.played_decisions(agent, rules, options.hands, options.seed), large=True)  # type: ignore[arg-type]
    at = "" if line == ROOT else line
    if options.boards is not None:
        boards = [board.cards for board in many_boards.read(options.boards)]
    else:
        boards = [parse_cards(options.board or "", "board")]
    with ProgressLine(f"asking {name}"):
        return Asked(agent_decisions.line_decisions(agent, rules, at, boards), large=len(boards) > 1)


def _boards(folder: Path, line: str | None) -> Decisions:
    """What was found on many boards, from `riverboat solve --boards --out`."""
    path = folder / many_boards.DONE
    rows: list[BoardRow] = []
    menu: list[Move] = []
    for number, text in enumerate(read_text(path, "boards").splitlines(), 1):
        try:
            row = Fields(f"{path}, line {number}", json_files.loads(text))
        except ValueError:
            continue  # torn: it is solved again by --resume
        place = row.table("node") if "node" in row else row
        at = place.text("line") if "node" in row else ""
        if line is not None and at != ("" if line == ROOT else line):
            raise InputError(f"{folder}: boards were solved at {at or ROOT!r}, not at {line!r}")
        frequencies = {str(k): float(v) for k, v in dict(place["frequencies"]).items()}
        if at and "player" not in place:
            raise InputError(f"{folder}: does not say who acts at {at!r}, as later releases do: solve the boards again")
        menu = [_move(label, float(place["pot"])) for label in frequencies]
        player = place.text("player") if at else "oop"
        rows.append(BoardRow(row.text("board"), float(row["weight"]), frequencies, float(place[f"equity_{player}"])))
    return board_decisions(rows, menu, f"{folder}: {len(rows)} boards")


def _move(label: str, pot: float) -> Move:
    """A move of a spot by its label, whose sizes are in chips; a raise is told by what it is to."""
    if label in ("x", "c", "f"):
        return Move(FOLD if label == "f" else CALL)
    return Move(RAISE, inf) if label == "a" else Move(RAISE, round(float(label[1:]) / pot, 4))


def _explained(asked: Asked, options: Options) -> Explanation:
    decisions = asked.decisions
    if options.list is not None:
        text = read_text(options.list, "rules")
        try:
            return edited(RuleList.parse(text, decisions.features), decisions, asked.cost)
        except InputError as error:
            raise InputError(f"rules {str(options.list)!r}: {error}") from None
    dial = [n for n in DIAL if n <= max(FEW, options.rules)] if asked.large else DIAL
    method = "list" if asked.large and options.method == "auto" else options.method
    return explain(decisions, options.rules, method, cost=asked.cost, quick=asked.quick, dial=dial, seed=options.seed)


def _written(explanations: list[Explanation], options: Options) -> None:
    if options.out is not None:
        atomic_io.write_text(options.out, f"# {explanations[0].decisions.title}\n{explanations[0].rules}")
        say(f"rules: {options.out}")
    if options.plot is not None:
        from riverboat.reports.plots.explanation import draw

        draw(explanations, options.plot)
        say(f"picture: {options.plot}")


# --- one hand, two strategies -------------------------------------------------------------------------


def _why(folder: Path, line: str | None, options: Options) -> None:
    if is_agent(folder) or _is_blueprint(folder):
        raise InputError(f"{folder}: --hand is for spots, where every move of a hand has its exact EV")
    solution = load(folder, options.game)
    if not isinstance(solution, Solution):
        raise InputError(f"{folder}: holds {solution.tree.name}; --hand is for spots")
    with ProgressLine("EVs of all replies"):
        told = why(node_of(solution, line), str(options.hand))
    if options.json:
        emit({"why": told.to_dict()})
        return
    console = plain_console()
    console.print(told.table())
    console.print(str(told))


def _against(folder: Path, line: str | None, options: Options) -> None:
    assert options.against is not None
    other = line if options.against_line is None else options.against_line
    first, second = gather(folder, line, options), gather(options.against, other, options)
    if len(first) != 1 or len(second) != 1:
        raise InputError("--against compares one decision of each: give a LINE, or --player")
    with ProgressLine("comparing"):
        comparison = compare(first[0].decisions, second[0].decisions, options.rules)
    if options.json:
        emit({"comparison": comparison.to_dict()})
        return
    _print_comparison(plain_console(), comparison)


def _print_comparison(console: Console, comparison: Comparison) -> None:
    console.print(f"first:  {comparison.titles[0]}")
    console.print(f"second: {comparison.titles[1]}")
    console.print(comparison.moves)
    parts = [] if comparison.distance is None else [f"distance {100 * comparison.distance:.1f} %"]
    parts += (
        [] if comparison.worth is None else [f"playing as before costs {comparison.worth:.4g} {comparison.unit} now"]
    )
    if parts:
        console.print(", ".join(parts))
    if comparison.change is not None:
        console.print("what changes:")
        for number, told in enumerate(comparison.change.told, start=1):
            console.print(
                f"{number:>3}. {told.sentence} ({100 * told.share:.1f} %; such as {', '.join(told.examples)})"
            )
    console.print(comparison.groups[:12])


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
