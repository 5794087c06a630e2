"""`riverboat drill`: decisions asked in the terminal, graded by EV lost, and a record of them."""

from __future__ import annotations

import secrets
import sys
import time as clock
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from riverboat.cli.terminal import emit, plain_console
from riverboat.core.cache import own_folder
from riverboat.core.errors import InputError
from riverboat.core.tables import FIGURE, Column, ReportTable
from riverboat.practice.drill_record import KINDS, DrillRecord
from riverboat.practice.drills import Drill, DrillOptions, Grade
from riverboat.practice.questions import Question, source_of

QUIT = ("q", "quit", "exit")
MOST_GROUPS = 6


@dataclass(frozen=True)
class Options:
    """Of `riverboat drill`."""

    questions: int | None = None
    drill: DrillOptions | None = None
    record: Path | None = None
    seed: int | None = None
    show: bool = False  # the record, and no questions
    json: bool = False


def record_file(given: Path | None) -> Path:
    """Where answers are kept: in the user's data folder, or where somebody says."""
    if given is not None:
        return given
    folder = own_folder("data")
    folder.mkdir(parents=True, exist_ok=True)
    return folder / "drills.jsonl"


def drill(name: str, options: Options, typed: TextIO | None = None) -> None:
    """Ask until the person leaves, or so many questions."""
    if options.questions is not None and options.questions < 1:
        raise InputError(f"questions={options.questions}: must be at least 1")
    record = DrillRecord.read(record_file(options.record))
    if options.show:
        _show(record, name, options.json)
        return
    seed = secrets.randbits(32) if options.seed is None else options.seed
    asking = Drill(source_of(name, seed), options.drill, record, seed)
    lines = typed if typed is not None else sys.stdin
    asking.ask()  # what cannot be asked is refused before anything is said
    _say(f"{name}: EV lost is what counts. The number is for mixed decisions: low means the first move. q leaves")
    try:
        while len(asking.grades) != options.questions:
            question = asking.ask()
            _ask(question, len(asking.grades) + 1)
            grade = asking.answer(_typed(question, lines), _today())
            _grade(grade)
    except (EOFError, KeyboardInterrupt):
        _say("")
    if asking.grades:
        mean = sum(grade.percent for grade in asking.grades) / len(asking.grades)
        of = asking.grades[0].question.verdict
        _say(
            f"{len(asking.grades)} answers, EV lost {asking.lost:,.4g} {of.unit}, {mean:.2f} % of {of.share_of} on average"
        )


def _today() -> str:
    return clock.strftime("%Y-%m-%d")


def _ask(question: Question, number: int) -> None:
    board = f" on {question.board}" if question.board else ""
    where = f"{question.street}, {question.line or 'first to act'}"
    _say(f"\n{number}. {question.hole}{board}, you are {question.seat}; {where}; pot {question.pot:,.6g}")
    moves = ", ".join(
        f"{move} {word}" if word != move else move for move, word in zip(question.moves, question.words, strict=True)
    )
    _say(f"   number {question.number}   {moves}")


def _typed(question: Question, lines: TextIO) -> str:
    letters = [move[0] for move in question.moves]
    short = {move[0]: move for move in question.moves if letters.count(move[0]) == 1}  # a letter for two sizes is none
    while True:
        print("   > ", end="", flush=True)
        text = lines.readline()
        if not lines.isatty():
            print(text.rstrip("\n"))
        word = " ".join(text.split()).lower()
        if not text or word in QUIT:
            raise EOFError
        if word in question.moves:
            return word
        if word in question.words:
            return question.moves[question.words.index(word)]
        if word in short:
            return short[word]
        _say(f"   {word!r}: one of {', '.join(question.moves)}")


def _grade(grade: Grade) -> None:
    verdict = grade.question.verdict
    rows = []
    for option, word in zip(verdict.options, grade.question.words, strict=True):
        mark = "<- yours" if option.move == grade.move else ""
        ev = "" if option.ev is None else f"{option.ev:,.4g}" if verdict.sure(option) else f"({option.ev:,.4g})"
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
        Column("move"),
        Column("is"),
        Column("how often", FIGURE),
        Column(f"EV, {verdict.unit}", FIGURE),
        Column(""),
    )
    plain_console().print(ReportTable("", columns, tuple(rows)))
    if not all(map(verdict.sure, verdict.options)):
        _say("   in brackets: moves that the agent hardly ever makes; their values are hardly known,")
        _say("   and counted as no better than the best")
    followed = "" if grade.followed is None else f"; {grade.question.number} stands for {grade.stands_for}"
    _say(f"   EV lost {grade.lost:,.4g} {verdict.unit}, {grade.percent:.2f} % of {verdict.share_of}{followed}")


def _show(record: DrillRecord, name: str, json: bool) -> None:
    told = record.to_dict(name)
    if json:
        emit({"source": name, **told})
        return
    if not told["answers"]:
        raise InputError(f"{name}: nothing is on record yet")
    console = plain_console()
    mixed = (
        f"; the number was followed in {told['followed']} of {told['mixed']} mixed decisions" if told["mixed"] else ""
    )
    console.print(
        f"{told['answers']:,} answers, {told['percent']:.2f} % of the pot lost on average{mixed}", highlight=False
    )
    for kind in KINDS:
        groups = record.where(kind, name)[:MOST_GROUPS]
        columns = Column(kind), Column("answers", FIGURE), Column("% of pot", FIGURE)
        console.print(ReportTable("", columns, tuple((g.name, f"{g.answers:,}", f"{g.percent:.2f}") for g in groups)))
    columns = Column("over time"), Column("answers", FIGURE), Column("% of pot", FIGURE)
    parts = record.over_time(name)
    console.print(ReportTable("", columns, tuple((g.name, f"{g.answers:,}", f"{g.percent:.2f}") for g in parts)))


def _say(text: str) -> None:
    print(text, flush=True)
