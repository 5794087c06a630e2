"""`riverboat explain`: approximate a strategy by rules that a person can learn, and measure what following them costs.

The source decides what is explained: a small game, a node of a spot, a spot on many boards, or an agent at one line or over
all its decisions. `--hand` explains one hand; `--against` compares two strategies.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from riverboat.api import boards as many_boards
from riverboat.api.options import Flag, Limits, Seed
from riverboat.cards.notation import parse_cards
from riverboat.cli.progress import ProgressLine
from riverboat.cli.terminal import print_result, save_picture, say
from riverboat.core import files as core_files
from riverboat.core.errors import InputError
from riverboat.explain.comparison import DecisionComparison, compare_decisions
from riverboat.explain.explanation import RuleExplanation
from riverboat.explain.sources import collect_tasks, explain_hand


def explain(
    folder: Path,
    line: str | None = None,
    *,
    rules: Annotated[int, Limits(1, 300)] = 10,
    method: str = "auto",
    player: Annotated[int, Limits(0, 9)] | None = None,
    list_file: Annotated[Path, Flag("--list")] | None = None,
    out: Path | None = None,
    plot: Path | None = None,
    hand: str | None = None,
    against: Path | None = None,
    against_line: str | None = None,
    board: str | None = None,
    boards: str | None = None,
    hands: Annotated[int, Limits(100, 100_000)] = 1_000,
    seed: Seed = 0,
    game: str | None = None,
    json: bool = False,
) -> None:
    """Approximate a strategy by rules that a person can learn, and measure what following them costs.

    Parameters
    ----------
    folder
        Folder of a run, a strategy or many solved boards; or an agent.
    line
        One decision, such as b94 or cr; root for the first one.
    rules
        Maximum number of rules.
    method
        list, tree, or auto (the better one on held-out decisions).
    player
        Small games: one player; all by default.
    list_file
        Evaluate the rules of a text file instead.
    out
        Write the rules to a text file that can be edited.
    plot
        Plot fidelity and cost by the number of rules.
    hand
        Spots: explain the strategy of one hand, AhKh.
    against
        Compare with another folder or agent.
    against_line
        Line in the other strategy, if it differs.
    board
        Agents with a line: the board, 8c8d5c.
    boards
        Agents with a line: many boards: a file, all flops, sample:25.
    hands
        Agents: hands of self-play.
    seed
        Seed of these hands and of the held-out decisions.
    game
        The game that was solved, if it was module:object.
    """
    if hand is not None:
        with ProgressLine("EVs of all responses"):
            breakdown = explain_hand(folder, line, hand, game)
        print_result({"why": breakdown.to_dict()}, [breakdown.table(), str(breakdown)], json)
        return
    source: dict[str, Any] = {"player": player, "hands": hands, "seed": seed, "game": game, "boards": None}
    if boards is not None:
        source["boards"] = [each.cards for each in many_boards.read_boards(boards)]
    elif board is not None:
        source["boards"] = [parse_cards(board, "board")]
    with ProgressLine("decisions"):
        tasks = collect_tasks(folder, line, **source)
        other_line = line if against_line is None else against_line
        others = [] if against is None else collect_tasks(against, other_line, **source)
    if against is not None:
        if len(tasks) != 1 or len(others) != 1:
            raise InputError("--against compares one decision of each strategy: give a LINE, or --player")
        with ProgressLine("comparing"):
            comparison = compare_decisions(tasks[0].decisions, others[0].decisions, rules)
        print_result({"comparison": comparison.to_dict()}, _comparison_parts(comparison), json)
        return
    if out is not None and len(tasks) > 1:
        raise InputError(f"--out {out}: there are {len(tasks)} rule lists, one per player; choose one with --player")
    with ProgressLine("learning rules"):
        explanations = [
            task.explain(rules, method, seed) if list_file is None else task.evaluate(list_file) for task in tasks
        ]
    if out is not None:
        core_files.write_text(out, f"# {explanations[0].decisions.title}\n{explanations[0].rules}")
        say(f"rules: {out}")
    if plot is not None:
        from riverboat.plots.results import plot_explanations  # loads matplotlib

        save_picture(plot_explanations(explanations), plot)
    facts = {"explanations": [one.to_dict() for one in explanations]}
    parts = [part for one in explanations for part in ("", *_rule_parts(one))]
    print_result(facts, parts[1:], json)


def _comparison_parts(comparison: DecisionComparison) -> Iterator[Any]:
    yield f"first:  {comparison.titles[0]}"
    yield f"second: {comparison.titles[1]}"
    yield comparison.moves
    figures = [] if comparison.distance is None else [f"distance {100 * comparison.distance:.1f} %"]
    if comparison.ev_gain is not None:
        figures.append(f"the first strategy now loses {comparison.ev_gain:.4g} {comparison.unit}")
    if figures:
        yield ", ".join(figures)
    if comparison.change is not None:
        yield "changes:"
        for number, rule in enumerate(comparison.change.rule_texts, start=1):
            yield f"{number:>3}. {rule.sentence} ({100 * rule.share:.1f} %; for example {', '.join(rule.examples)})"
    yield comparison.groups[:12]


# --- Printing ---


def _rule_parts(explanation: RuleExplanation) -> Iterator[Any]:
    unit = explanation.decisions.unit
    yield explanation.decisions.title
    yield summary_line(explanation)
    for number, rule in enumerate(explanation.rule_texts, start=1):
        ev_known = explanation.fidelity.ev_lost is not None
        value = ""
        if rule.worth is not None:
            value = ", value " + (f"{rule.worth:.3g} {unit}" if ev_known else f"{100 * rule.worth:.1f} % of distance")
        yield f"{number:>3}. {rule.sentence}"
        yield f"     {100 * rule.share:.1f} % of decisions, agreement {100 * rule.agreement:.0f} %{value}"
        notes = [f"for example {', '.join(rule.examples)}"] if rule.examples else []
        notes += [f"exceptions: {'; '.join(rule.exceptions)}"] if rule.exceptions else []
        if notes:
            yield f"     {'; '.join(notes)}"
    yield ""
    yield f"fidelity by number of rules ({unit})" if unit else "fidelity by number of rules"
    yield explanation.fidelity_curve
    yield ""
    yield explanation.baselines


def summary_line(explanation: RuleExplanation) -> str:
    """Return the fidelity of an explanation in one line."""
    unit, fidelity = explanation.decisions.unit, explanation.fidelity
    parts = [f"{fidelity.rules} rules ({explanation.method}): agreement {100 * fidelity.agreement:.1f} %"]
    if explanation.held_out_fidelity is not None:
        parts.append(f"{100 * explanation.held_out_fidelity.agreement:.1f} % on held-out decisions")
    parts.append(f"distance {100 * fidelity.distance:.1f} %")
    parts.append(f"{fidelity.tests:.1f} tests a decision")
    parts.append(f"{100 * fidelity.coverage:.0f} % decided before the last rule")
    if fidelity.ev_lost is not None:
        held_out = explanation.held_out_fidelity
        ev_lost = fidelity.ev_lost if held_out is None or held_out.ev_lost is None else held_out.ev_lost
        parts.append(f"EV lost {ev_lost:.3f} {unit}" + ("" if held_out is None else " on held-out decisions"))
    parts += [f"{name} {value:.4g} {unit}" for name, value in explanation.costs.items()]
    return ", ".join(parts)
