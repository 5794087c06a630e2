"""Drills: decisions asked one after the other, graded by EV lost, more of what is expensive.

drill = Drill(source_of("runs/spot"), DrillOptions(only="mixed"), record=DrillRecord("drills.jsonl"), seed=1)
question = drill.ask()
drill.answer("c").percent          # EV lost, in % of the pot
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from riverboat.core.errors import InputError, shown, unknown
from riverboat.games.holdem.menus import SEATS
from riverboat.practice.drill_record import DrillRecord, Entry
from riverboat.practice.questions import Asking, Question, Source

ONLY = {
    "all": "every decision",
    "close": "where another move is worth within 1 % of the pot of the best",
    "mixed": "where two moves or more are right at least one time in ten",
}
SCOPES = {
    "one": "a new hand after every answer",
    "street": "the hand goes on to the end of the street",
    "end": "the hand goes on to its end",
}
TRIES = 400  # hands in which a question is looked for
SKIPPED = 0.5  # of the decisions that could be asked, so that later ones are too


@dataclass(frozen=True)
class DrillOptions:
    """What is asked."""

    line: str | None = None  # the same place again and again; None: whatever the source comes to
    seat: str | None = None  # oop or ip; None: both
    only: str = "all"  # one of ONLY
    scope: str = "one"  # one of SCOPES
    focus: bool = True  # deal more of what was expensive so far

    def __post_init__(self) -> None:
        if self.only not in ONLY:
            raise unknown("only", self.only, ONLY)
        if self.scope not in SCOPES:
            raise unknown("scope", self.scope, SCOPES)
        if self.seat not in (None, *SEATS):
            raise unknown("seat", str(self.seat), SEATS)


@dataclass(frozen=True)
class Grade:
    """What an answer was worth."""

    question: Question
    move: str
    lost: float  # chips
    stands_for: str  # the move that the number means

    @property
    def percent(self) -> float:
        """EV lost in % of the pot; of the prizes where money is played for."""
        return 100 * self.lost / self.question.verdict.pot

    @property
    def followed(self) -> bool | None:
        """Whether the move is the one that the number means; None where one move alone is right."""
        return self.move == self.stands_for if self.question.verdict.mixed else None

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "move": self.move,
            "lost": self.lost,
            "percent": self.percent,
            "units": {"lost": self.question.verdict.unit, "percent": f"% of {self.question.verdict.share_of}"},
            "number": self.question.number,
            "stands_for": self.stands_for,
            "followed": self.followed,
            "verdict": self.question.verdict.to_dict(),
        }


class Drill:
    """One drill, a question at a time."""

    def __init__(
        self, source: Source, options: DrillOptions | None = None, record: DrillRecord | None = None, seed: int = 0
    ) -> None:
        self.source, self.options = source, options or DrillOptions()
        self.record = record if record is not None else DrillRecord()
        self.grades: list[Grade] = []
        self.question: Question | None = None
        self._rng = np.random.default_rng(seed)
        self._hand: Asking | None = None
        self._answered: tuple[Question, str] | None = None  # behind which the hand may go on

    def ask(self) -> Question:
        """The question on the table, or the next one."""
        if self.question is None:
            self.question = self._go_on() or self._next()
        return self.question

    def answer(self, move: str, when: str = "") -> Grade:
        """Grade an answer and keep it; nothing new is worked out for that."""
        question = self.question
        if question is None:
            raise InputError("nothing was asked: ask first")
        if move not in question.moves:
            raise InputError(f"move {shown(move)}: one of {', '.join(question.moves)}")
        verdict = question.verdict
        lost = verdict.cost(move)
        assert lost is not None  # such questions are not asked
        grade = Grade(question, move, lost, verdict.stands_for(question.number))
        self.grades.append(grade)
        self.record.add(
            Entry(self.source.name, question.kinds, move, lost, grade.percent, verdict.mixed, grade.followed, when)
        )
        self.question, self._answered = None, (question, move)
        return grade

    @property
    def lost(self) -> float:
        """EV lost over all answers of this drill, in chips."""
        return sum(grade.lost for grade in self.grades)

    # --- what is asked next -----------------------------------------------------------------------

    def _go_on(self) -> Question | None:
        """The next decision of the hand, where the drill stays with it."""
        if self.options.scope == "one" or self._hand is None or self._answered is None:
            return None
        question, move = self._answered
        try:
            after = self._hand.send(move)
        except StopIteration:
            return None
        if self.options.scope == "street" and after.street != question.street:
            return None
        return after if after.verdict.best is not None else None

    def _next(self) -> Question:
        options = self.options
        seat = None if options.seat is None else SEATS.index(options.seat)
        for _ in range(TRIES):
            self._hand = self.source.hand(self._rng, options.line, seat)
            for question in self._hand:
                if self._wanted(question):
                    return question
                if options.line is not None:
                    break
        raise InputError(
            f"{self.source.name}: no decision of this kind ({options.only}) was found in {TRIES} hands; ask for others"
        )

    def _wanted(self, question: Question) -> bool:
        verdict, options = question.verdict, self.options
        if verdict.best is None:
            return False
        if (options.only == "mixed" and not verdict.mixed) or (options.only == "close" and not verdict.close):
            return False
        if options.focus and self._rng.random() >= self.record.weight(self.source.name, question.kinds):
            return False
        return options.line is not None or options.scope != "one" or bool(self._rng.random() >= SKIPPED)
