"""`riverboat drill`: practice decisions in the terminal, graded by EV lost; `riverboat charts`: charts of starting
hands.
"""

from __future__ import annotations

import secrets
import sys
import time as clock
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from riverboat.cli.terminal import emit, plain_console, say
from riverboat.core import files
from riverboat.core.cache import user_folder
from riverboat.core.errors import InputError
from riverboat.core.formatting import shell_quote
from riverboat.core.tables import FIGURE, ReportColumn, ReportTable
from riverboat.practice.charts import Chart, ChartBook, compare_charts, load_charts, save_sheet
from riverboat.practice.drills import GROUPINGS, Drill, DrillOptions, DrillRecord, Grade
from riverboat.practice.questions import DrillQuestion, make_source

QUIT_WORDS = ("q", "quit", "exit")
MAX_GROUPS_SHOWN = 6


@dataclass(frozen=True)
class DrillCommandOptions:
    """Options of `riverboat drill`."""

    questions: int | None = None
    drill: DrillOptions | None = None
    record: Path | None = None
    seed: int | None = None
    show: bool = False  # print the record and ask no questions
    json: bool = False


def record_file(path: Path | None) -> Path:
    """Return the file of answers: the given path, or one in the user's data folder."""
    if path is not None:
        return path
    folder = user_folder("data")
    folder.mkdir(parents=True, exist_ok=True)
    return folder / "drills.jsonl"


def run_drill(name: str, options: DrillCommandOptions, input_lines: TextIO | None = None) -> None:
    """Ask questions until the person quits or the requested number is reached."""
    if options.questions is not None and options.questions < 1:
        raise InputError(f"questions={options.questions}: must be at least 1")
    record = DrillRecord.read(record_file(options.record))
    if options.show:
        _print_record(record, name, options.json)
        return
    seed = secrets.randbits(32) if options.seed is None else options.seed
    drill = Drill(make_source(name, seed), options.drill, record, seed)
    lines = input_lines if input_lines is not None else sys.stdin
    drill.next_question()  # raises for an invalid source before anything is printed
    _print_line(
        f"{name}: answers are graded by EV lost. The number is for mixed decisions: low means the first move. q quits"
    )
    try:
        while len(drill.grades) != options.questions:
            question = drill.next_question()
            _print_question(question, len(drill.grades) + 1)
            grade = drill.answer(_read_answer(question, lines), _today())
            _print_grade(grade)
    except (EOFError, KeyboardInterrupt):
        _print_line("")
    if drill.grades:
        mean = sum(grade.percent for grade in drill.grades) / len(drill.grades)
        verdict = drill.grades[0].question.verdict
        _print_line(
            f"{len(drill.grades)} answers, EV lost {drill.ev_lost:,.4g} {verdict.unit}, {mean:.2f} % of "
            f"{verdict.share_of} on average"
        )


def _today() -> str:
    return clock.strftime("%Y-%m-%d")


def _print_question(question: DrillQuestion, number: int) -> None:
    board = f" on {question.board}" if question.board else ""
    where = f"{question.street}, {question.line or 'first to act'}"
    _print_line(f"\n{number}. {question.hole}{board}, you are {question.seat}; {where}; pot {question.pot:,.6g}")
    moves = ", ".join(
        f"{move} {text}" if text != move else move for move, text in zip(question.moves, question.words, strict=True)
    )
    _print_line(f"   number {question.number}   {moves}")


def _read_answer(question: DrillQuestion, lines: TextIO) -> str:
    letters = [move[0] for move in question.moves]
    short = {
        move[0]: move for move in question.moves if letters.count(move[0]) == 1
    }  # a letter that two sizes share is ambiguous
    while True:
        print("   > ", end="", flush=True)
        text = lines.readline()
        if not lines.isatty():
            print(text.rstrip("\n"))
        word = " ".join(text.split()).lower()
        if not text or word in QUIT_WORDS:
            raise EOFError
        if word in question.moves:
            return word
        if word in question.words:
            return question.moves[question.words.index(word)]
        if word in short:
            return short[word]
        _print_line(f"   {word!r}: type one of {', '.join(question.moves)}")


def _print_grade(grade: Grade) -> None:
    verdict = grade.question.verdict
    rows = []
    for option, word in zip(verdict.options, grade.question.words, strict=True):
        mark = "<- yours" if option.move == grade.move else ""
        ev = "" if option.ev is None else f"{option.ev:,.4g}" if verdict.is_reliable(option) else f"({option.ev:,.4g})"
        rows.append(
            (
                option.move,
                word,
                f"{100 * option.probability:.0f} %",
                ev,
                mark,
            )
        )
    columns = (
        ReportColumn("move"),
        ReportColumn("meaning"),
        ReportColumn("frequency", FIGURE),
        ReportColumn(f"EV, {verdict.unit}", FIGURE),
        ReportColumn(""),
    )
    plain_console().print(ReportTable("", columns, tuple(rows)))
    if not all(map(verdict.is_reliable, verdict.options)):
        _print_line("   in brackets: moves that the agent hardly ever makes; their EVs are unreliable")
        _print_line("   and count as no better than the best move")
    followed = "" if grade.followed is None else f"; {grade.question.number} means {grade.randomized_action}"
    _print_line(
        f"   EV lost {grade.ev_lost:,.4g} {verdict.unit}, {grade.percent:.2f} % of {verdict.share_of}{followed}"
    )


def _print_record(record: DrillRecord, name: str, json: bool) -> None:
    summary = record.to_dict(name)
    if json:
        emit({"source": name, **summary})
        return
    if not summary["answers"]:
        raise InputError(f"{name}: no answers are recorded yet")
    console = plain_console()
    mixed = (
        f"; you followed the number in {summary['followed']} of {summary['mixed']} mixed decisions"
        if summary["mixed"]
        else ""
    )
    console.print(
        f"{summary['answers']:,} answers, {summary['percent']:.2f} % of the pot lost on average{mixed}", highlight=False
    )
    for kind in GROUPINGS:
        groups = record.losses_by(kind, name)[:MAX_GROUPS_SHOWN]
        columns = ReportColumn(kind), ReportColumn("answers", FIGURE), ReportColumn("% of pot", FIGURE)
        console.print(ReportTable("", columns, tuple((g.name, f"{g.answers:,}", f"{g.percent:.2f}") for g in groups)))
    columns = ReportColumn("over time"), ReportColumn("answers", FIGURE), ReportColumn("% of pot", FIGURE)
    periods = record.over_time(name)
    console.print(ReportTable("", columns, tuple((g.name, f"{g.answers:,}", f"{g.percent:.2f}") for g in periods)))


def _print_line(text: str) -> None:
    print(text, flush=True)


# --- `riverboat charts`: strategies of starting hands, as grids on the screen and as one image ---

MAX_CELLS_SHOWN = 12  # most cells shown of a comparison


def show_charts(
    source: str, lines: list[str], against: str | None, out: Path | None, list_only: bool, json: bool
) -> None:
    """Print the charts of a source, compare them with those of another source, or draw them."""
    if out is not None:
        files.check_image_path(out)
    book = load_charts(source)
    chosen = [_find_chart(book, source, line) for line in lines] if lines else list(book.charts)
    if out is not None:
        save_sheet(chosen if lines else chosen[:6], out)
        say(f"picture: {out}")
    if against is not None:
        _print_chart_comparison(chosen if lines else chosen[:1], source, against, json)
        return
    if json:
        states = {"state": book.state, "states": list(book.states)} if book.states else {}
        emit({"source": source, **states, "charts": [chart.to_dict() for chart in chosen]})
        return
    console = plain_console()
    columns = ReportColumn("line"), ReportColumn("position"), ReportColumn("reached", FIGURE), ReportColumn("moves")
    console.print(ReportTable("", columns, tuple(_chart_row(chart) for chart in (chosen if lines else book.charts))))
    for chart in chosen if lines else () if list_only else _default_charts(book):
        console.print(chart.grid)
    if book.states:
        folder = source.partition("?")[0]
        examples = ", ".join(book.states[:: max(1, len(book.states) // 4)][:4])
        other_source = shell_quote(f"{folder}?state={book.states[-1]}")
        hint = f"stacks {book.state}; {len(book.states):,} states ({examples}, …): riverboat charts {other_source}"
        console.print(hint, highlight=False, soft_wrap=True)


def _find_chart(book: ChartBook, source: str, line: str) -> Chart:
    """Return a chart of the book, or one at a deeper line of a solved spot."""
    return book[line] if any(chart.line == line for chart in book.charts) else load_charts(source, line)[line]


def _default_charts(book: ChartBook) -> list[Chart]:
    """Return the charts drawn by default: the first decision, and the response to a shove."""
    return [*book.charts[:1], *(chart for chart in book.charts[1:] if chart.line == book.shove_line)]


def _chart_row(chart: Chart) -> tuple[str, ...]:
    probability = chart.reached
    reached = "" if probability is None else "never" if probability == 0 else f"{100 * probability:.1f} %"
    moves = ", ".join(f"{name} {100 * chart.grid.share(name):.0f} %" for name in chart.moves)
    return chart.line or "–", chart.position, reached, moves


def _print_chart_comparison(chosen: list[Chart], source: str, against: str, json: bool) -> None:
    other = load_charts(against)
    comparisons = [compare_charts(chart, _find_chart(other, against, chart.line)) for chart in chosen]
    if json:
        emit({"source": source, "against": against, "charts": comparisons})
        return
    if not comparisons:
        raise InputError(f"{source}: no charts to compare")
    console = plain_console()
    for comparison in comparisons:
        console.print(
            f"{comparison['lines'][0] or 'first decision'}: {100 * comparison['mean']:.1f} % of hands differ",
            highlight=False,
        )
        order = sorted(range(169), key=lambda cell: -comparison["apart"][cell])[:MAX_CELLS_SHOWN]
        rows = []
        for cell in order:
            change = ", ".join(
                f"{m} {100 * comparison['change'][m][cell]:+.0f} %"
                for m in comparison["moves"]
                if comparison["change"][m][cell]
            )
            rows.append((comparison["cells"][cell], f"{100 * comparison['apart'][cell]:.0f} %", change))
        console.print(
            ReportTable(
                "", (ReportColumn("hand"), ReportColumn("differs", FIGURE), ReportColumn("change")), tuple(rows)
            )
        )
