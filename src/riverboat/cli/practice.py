"""`riverboat drill`: practice decisions in the terminal, graded by EV lost; `riverboat charts`: charts of starting
hands.
"""

from __future__ import annotations

import secrets
import sys
import time as clock
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TextIO

from riverboat.api.options import Flag, PositiveCount, Seed
from riverboat.cli.terminal import figure, make_table, plain_console, print_line, print_result, read_words, say
from riverboat.core import files
from riverboat.core.cache import user_folder
from riverboat.core.errors import InputError
from riverboat.core.formatting import shell_quote
from riverboat.practice.charts import Chart, ChartBook, compare_charts, load_charts, save_sheet
from riverboat.practice.drills import GROUPINGS, Drill, DrillOptions, DrillRecord, Grade
from riverboat.practice.questions import DrillQuestion, make_source

MAX_GROUPS_SHOWN = 6


def drill(
    source: str = "default",
    *,
    questions: PositiveCount | None = None,
    line: str | None = None,
    seat: str | None = None,
    only: str = "all",
    scope: str = "one",
    no_focus: bool = False,
    record: Path | None = None,
    show: bool = False,
    seed: Seed | None = None,
    json: bool = False,
    input_lines: TextIO | None = None,
) -> None:
    """Practice decisions, graded by EV lost, with a record of your answers.

    Parameters
    ----------
    source
        Folder of a solved spot or tournament, an agent with a blueprint (demo), or push:10,10.
    questions
        Stop after this many questions.
    line
        Only ask questions at this line.
    seat
        oop or ip; both by default.
    only
        all, close (actions with nearly equal EV) or mixed decisions.
    scope
        one decision per hand, or on to the end of the street or of the hand.
    no_focus
        Deal at random, not more often where you lost EV.
    record
        File of answers; in the data folder by default.
    show
        Show the record: EV lost by group and over time.
    seed
        Seed of the cards; random by default.
    input_lines
        Typed lines; standard input by default.
    """
    if record is None:
        record = user_folder("data") / "drills.jsonl"
        record.parent.mkdir(parents=True, exist_ok=True)
    answers = DrillRecord.read(record)
    if show:
        summary = answers.to_dict(source)
        if not summary["answers"] and not json:
            raise InputError(f"{source}: no answers are recorded yet")
        print_result({"source": source, **summary}, _record_parts(answers, source, summary), json)
        return
    seed = secrets.randbits(32) if seed is None else seed
    drill = Drill(make_source(source, seed), DrillOptions(line, seat, only, scope, not no_focus), answers, seed)
    lines = input_lines if input_lines is not None else sys.stdin
    drill.next_question()  # raises for an invalid source before anything is printed
    print_line(
        f"{source}: answers are graded by EV lost. The number is for mixed decisions: low means the first move. q quits"
    )
    try:
        while len(drill.grades) != questions:
            question = drill.next_question()
            _print_question(question, len(drill.grades) + 1)
            _print_grade(drill.answer(_read_answer(question, lines), clock.strftime("%Y-%m-%d")))
    except (EOFError, KeyboardInterrupt):
        print_line("")
    if drill.grades:
        mean = sum(grade.percent for grade in drill.grades) / len(drill.grades)
        verdict = drill.grades[0].question.verdict
        print_line(
            f"{len(drill.grades)} answers, EV lost {drill.ev_lost:,.4g} {verdict.unit}, {mean:.2f} % of "
            f"{verdict.share_of} on average"
        )


def _print_question(question: DrillQuestion, number: int) -> None:
    board = f" on {question.board}" if question.board else ""
    where = f"{question.street}, {question.line or 'first to act'}"
    print_line(f"\n{number}. {question.hole}{board}, you are {question.seat}; {where}; pot {question.pot:,.6g}")
    named = zip(question.moves, question.words, strict=True)
    moves = ", ".join(f"{move} {text}" if text != move else move for move, text in named)
    print_line(f"   number {question.number}   {moves}")


def _read_answer(question: DrillQuestion, lines: TextIO) -> str:
    letters = [move[0] for move in question.moves]
    # a letter that two sizes share is ambiguous
    short = {move[0]: move for move in question.moves if letters.count(move[0]) == 1}
    while True:
        word = read_words("   > ", lines)
        if word in question.moves:
            return word
        if word in question.words:
            return question.moves[question.words.index(word)]
        if word in short:
            return short[word]
        print_line(f"   {word!r}: type one of {', '.join(question.moves)}")


def _print_grade(grade: Grade) -> None:
    verdict = grade.question.verdict
    rows = []
    for option, word in zip(verdict.options, grade.question.words, strict=True):
        mark = "<- yours" if option.move == grade.move else ""
        ev = "" if option.ev is None else f"{option.ev:,.4g}" if verdict.is_reliable(option) else f"({option.ev:,.4g})"
        rows.append((option.move, word, f"{100 * option.probability:.0f} %", ev, mark))
    columns = "move", "meaning", figure("frequency"), figure(f"EV, {verdict.unit}"), ""
    plain_console().print(make_table(columns, rows))
    if not all(map(verdict.is_reliable, verdict.options)):
        print_line("   in brackets: moves that the agent hardly ever makes; their EVs are unreliable")
        print_line("   and count as no better than the best move")
    followed = "" if grade.followed is None else f"; {grade.question.number} means {grade.randomized_action}"
    print_line(f"   EV lost {grade.ev_lost:,.4g} {verdict.unit}, {grade.percent:.2f} % of {verdict.share_of}{followed}")


def _record_parts(record: DrillRecord, name: str, summary: Mapping[str, Any]) -> Iterator[Any]:
    mixed = f"; you followed the number in {summary['followed']} of {summary['mixed']} mixed decisions"
    mixed = mixed if summary["mixed"] else ""
    yield f"{summary['answers']:,} answers, {summary['percent']:.2f} % of the pot lost on average{mixed}"
    tables = {kind: record.losses_by(kind, name)[:MAX_GROUPS_SHOWN] for kind in GROUPINGS}
    for title, groups in (tables | {"over time": record.over_time(name)}).items():
        rows = ((group.name, f"{group.answers:,}", f"{group.percent:.2f}") for group in groups)
        yield make_table([title, figure("answers"), figure("% of pot")], rows)


# --- `riverboat charts`: strategies of starting hands, as grids on the screen and as one image ---

MAX_CELLS_SHOWN = 12  # most cells shown of a comparison


def charts(
    source: str = "default",
    *,
    line: list[str] | None = None,
    against: str | None = None,
    out: Path | None = None,
    list_only: Annotated[bool, Flag("--list")] = False,
    json: bool = False,
) -> None:
    """Show charts of starting hands: blueprints, solved spots, push/fold tables, tournaments.

    Parameters
    ----------
    source
        Folder of a solved spot or tournament, an agent with a blueprint (demo), or push:10,10.
    line
        A decision, such as cr300 or J; repeat for several.
    against
        Compare with the charts of another source.
    out
        Draw the charts into one image: .png, .svg or .pdf.
    list_only
        List the decisions without grids.
    """
    lines = line or []
    if out is not None:
        files.check_image_path(out)
    book = load_charts(source)
    chosen = [_find_chart(book, source, each) for each in lines] if lines else list(book.charts)
    if out is not None:
        save_sheet(chosen if lines else chosen[:6], out)
        say(f"picture: {out}")
    if against is not None:
        _print_chart_comparison(chosen if lines else chosen[:1], source, against, json)
        return
    states = {"state": book.state, "states": list(book.states)} if book.states else {}
    first = [*book.charts[:1], *(chart for chart in book.charts[1:] if chart.line == book.shove_line)]
    drawn = chosen if lines else [] if list_only else first
    table = make_table(["line", "position", figure("reached"), "moves"], map(_chart_row, chosen))
    facts = {"source": source, **states, "charts": [chart.to_dict() for chart in chosen]}
    print_result(facts, [table, *(chart.grid for chart in drawn)], json)
    if book.states and not json:
        folder = source.partition("?")[0]
        examples = ", ".join(book.states[:: max(1, len(book.states) // 4)][:4])
        other_source = shell_quote(f"{folder}?state={book.states[-1]}")
        hint = f"stacks {book.state}; {len(book.states):,} states ({examples}, …): riverboat charts {other_source}"
        plain_console().print(hint, soft_wrap=True)


def _find_chart(book: ChartBook, source: str, line: str) -> Chart:
    """Return a chart of the book, or one at a deeper line of a solved spot."""
    return book[line] if any(chart.line == line for chart in book.charts) else load_charts(source, line)[line]


def _chart_row(chart: Chart) -> tuple[str, ...]:
    probability = chart.reached
    reached = "" if probability is None else "never" if probability == 0 else f"{100 * probability:.1f} %"
    moves = ", ".join(f"{name} {100 * chart.grid.share(name):.0f} %" for name in chart.moves)
    return chart.line or "–", chart.position, reached, moves


def _print_chart_comparison(chosen: list[Chart], source: str, against: str, json: bool) -> None:
    other = load_charts(against)
    comparisons = [compare_charts(chart, _find_chart(other, against, chart.line)) for chart in chosen]
    if not comparisons and not json:
        raise InputError(f"{source}: no charts to compare")
    facts = {"source": source, "against": against, "charts": comparisons}
    print_result(facts, _comparison_parts(comparisons), json)


def _comparison_parts(comparisons: Sequence[Mapping[str, Any]]) -> Iterator[Any]:
    for comparison in comparisons:
        yield f"{comparison['lines'][0] or 'first decision'}: {100 * comparison['mean']:.1f} % of hands differ"
        order = sorted(range(169), key=lambda cell: -comparison["apart"][cell])[:MAX_CELLS_SHOWN]
        rows = []
        for cell in order:
            changes = {move: comparison["change"][move][cell] for move in comparison["moves"]}
            change = ", ".join(f"{move} {100 * x:+.0f} %" for move, x in changes.items() if x)
            rows.append((comparison["cells"][cell], f"{100 * comparison['apart'][cell]:.0f} %", change))
        yield make_table(["hand", figure("differs"), "change"], rows)
