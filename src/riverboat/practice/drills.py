"""Drills: questions about decisions, graded by EV lost, with more of the kinds that lose most.

    drill = Drill(make_source("runs/spot"), DrillOptions(only="mixed"), record=DrillRecord("drills.jsonl"), seed=1)
    question = drill.next_question()
    drill.answer("c").percent          # EV lost, in % of the pot

`DrillRecord` stores every answer as a line of a file, and shows where EV is lost.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from riverboat.core import files
from riverboat.core.errors import InputError, short_repr
from riverboat.core.files import read_text
from riverboat.core.validation import check_name, optional
from riverboat.games.holdem.menus import SEATS
from riverboat.practice.questions import DrillQuestion, QuestionGenerator, QuestionSource

# --- Record of answers ---

GROUPINGS = ("line", "board", "hand")
MAX_BYTES = 256 << 20  # largest file of a record
PRIOR_ANSWERS = 3.0  # prior answers of a group, with the mean loss of all answers
MAX_PARTS = 12  # most parts of `DrillRecord.over_time`
MIN_WEIGHT = 0.15  # smallest probability of asking a question, relative to the largest


@dataclass(frozen=True)
class DrillAnswer:
    """Answer to a question, with its grade, as the record stores it.

    Attributes
    ----------
    source
        Name of the source.
    kinds
        Groups of the question: line, board, hand.
    move
        The action.
    lost
        EV lost in chips.
    percent
        EV lost in % of the pot.
    mixed
        Whether several actions are right.
    followed
        Whether it followed the random number; None if one action alone is right.
    when
        Date, in the caller's format.

    Examples
    --------
    >>> DrillAnswer("push:10,10", {"hand": "low pair"}, "fold", 0.5, 5.0, False, None).percent
    5.0
    """

    source: str
    kinds: Mapping[str, str]
    move: str
    lost: float  # EV lost in chips
    percent: float  # EV lost in % of the pot
    mixed: bool
    followed: bool | None  # whether it followed the random number; None if one action alone is right
    when: str = ""  # date, in the caller's format

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as the JSON object of its line in the file."""
        return {**vars(self), "kinds": dict(self.kinds)}


class AnswerGroup(NamedTuple):
    """Statistics of a group of answers.

    Attributes
    ----------
    name
        Name of the group.
    answers
        Number of answers.
    lost
        EV lost in chips, in total.
    percent
        EV lost in % of the pot, on average.

    Examples
    --------
    >>> AnswerGroup("low pair", 10, 2.5, 3.0).percent
    3.0
    """

    name: str
    answers: int
    lost: float  # EV lost in chips, in total
    percent: float  # EV lost in % of the pot, on average


class DrillRecord:
    """Answers in order, optionally stored in a file.

    Parameters
    ----------
    path
        File to append to; None stores nothing.

    Examples
    --------
    >>> record = DrillRecord()
    >>> record.add(DrillAnswer("push:10,10", {"hand": "low pair"}, "fold", 0.5, 5.0, False, None))
    >>> record.losses_by("hand")
    [AnswerGroup(name='low pair', answers=1, lost=0.5, percent=5.0)]
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = None if path is None else Path(path)
        self.answers: list[DrillAnswer] = []

    @staticmethod
    def read(path: str | Path) -> DrillRecord:
        """Read a record; a missing file gives an empty one.

        Parameters
        ----------
        path
            File of the record.

        Raises
        ------
        InputError
            If a line is not an answer of a drill.
        """
        record = DrillRecord(path)
        if Path(path).exists():
            for number, line in enumerate(read_text(path, "record of drills", MAX_BYTES).splitlines(), 1):
                record.answers += [_parse_answer(line, f"{path}, line {number}")] if line.strip() else []
        return record

    def snapshot(self) -> DrillRecord:
        """Return a copy of the answers without a file, which stays valid while another thread adds to this record."""
        copy = DrillRecord()
        copy.answers = list(self.answers)
        return copy

    def add(self, answer: DrillAnswer) -> None:
        """Add an answer, and append it to the file.

        Parameters
        ----------
        answer
            The answer.
        """
        self.answers.append(answer)
        if self.path is not None:
            files.append_line(self.path, json.dumps(answer.to_dict()))

    def losses_by(self, by: str, source: str | None = None) -> list[AnswerGroup]:
        """Group answers by line, board or hand, the largest total loss first.

        Parameters
        ----------
        by
            `line`, `board` or `hand`.
        source
            Only answers of this source; None for all.

        Raises
        ------
        InputError
            If `by` is unknown.
        """
        check_name("kind", by, GROUPINGS)
        groups: dict[str, list[DrillAnswer]] = {}
        for entry in self._answers_from(source):
            groups.setdefault(entry.kinds.get(by, "?"), []).append(entry)
        result = [_summarize(name, members) for name, members in groups.items()]
        return sorted(result, key=lambda group: (-group.percent * group.answers, group.name))

    def over_time(self, source: str | None = None) -> list[AnswerGroup]:
        """Split the answers into up to twelve consecutive parts, with the mean loss of each.

        Parameters
        ----------
        source
            Only answers of this source; None for all.
        """
        entries = self._answers_from(source)
        size = max(1, -(-len(entries) // MAX_PARTS))
        parts = [(begin + 1, entries[begin : begin + size]) for begin in range(0, len(entries), size)]
        return [_summarize(part[-1].when or f"{first}-{first + len(part) - 1}", part) for first, part in parts]

    def weight(self, source: str, kinds: Mapping[str, str]) -> float:
        """Return how often to ask a question, relative to the most useful one, by the losses of its kinds so far.

        Parameters
        ----------
        source
            Name of the source.
        kinds
            Groups of the question.
        """
        entries = self._answers_from(source)
        mean = sum(entry.percent for entry in entries) / max(len(entries), 1)
        if mean <= 0:
            return 1.0
        ratios = []
        for kind in GROUPINGS:
            same_kind = [e.percent for e in entries if e.kinds.get(kind) == kinds.get(kind)]
            ratios.append((sum(same_kind) + PRIOR_ANSWERS * mean) / (len(same_kind) + PRIOR_ANSWERS) / mean)
        return min(1.0, max(MIN_WEIGHT, sum(ratios) / len(ratios) / 2.0))  # a ratio of 1 is an average loss

    def _answers_from(self, source: str | None) -> list[DrillAnswer]:
        return [entry for entry in self.answers if source is None or entry.source == source]

    def to_dict(self, source: str | None = None) -> dict[str, Any]:
        """Return totals, groups of all kinds, and the development over time as a JSON object.

        Parameters
        ----------
        source
            Only answers of this source; None for all.
        """
        entries = self._answers_from(source)
        followed = [entry.followed for entry in entries if entry.followed is not None]
        return {
            "answers": len(entries),
            "lost": sum(entry.lost for entry in entries),
            "percent": sum(entry.percent for entry in entries) / len(entries) if entries else None,
            "units": {"lost": "chips", "percent": "% of the pot, on average"},
            "mixed": len(followed),
            "followed": sum(followed),
            "where": {kind: [group._asdict() for group in self.losses_by(kind, source)] for kind in GROUPINGS},
            "over_time": [group._asdict() for group in self.over_time(source)],
        }


def _summarize(name: str, answers: Sequence[DrillAnswer]) -> AnswerGroup:
    percent = sum(answer.percent for answer in answers) / len(answers)
    return AnswerGroup(name, len(answers), sum(answer.lost for answer in answers), percent)


def _parse_answer(line: str, where: str) -> DrillAnswer:
    try:
        facts = json.loads(line)
        kinds = {str(key): str(value) for key, value in facts["kinds"].items()}
        followed = facts["followed"]
        if followed not in (None, True, False):
            raise ValueError
        return DrillAnswer(
            str(facts["source"]), kinds, str(facts["move"]), float(facts["lost"]), float(facts["percent"]),
            bool(facts["mixed"]), followed, str(facts.get("when", "")),
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"{where}: {short_repr(line[:60])}: is not an answer of a drill") from None


FILTERS = {
    "all": "every decision",
    "close": "where another move is within 1 % of the pot of the best",
    "mixed": "where two or more moves have a frequency of at least 10 %",
}
SCOPES = {
    "one": "a new hand after every answer",
    "street": "the hand continues to the end of the street",
    "end": "the hand continues to its end",
}
MAX_HANDS = 400  # most hands that are dealt to find a question
SKIP_PROBABILITY = 0.5  # probability of skipping a suitable decision, so that later ones are asked too


@dataclass(frozen=True)
class DrillOptions:
    """Options of a drill.

    Parameters
    ----------
    line
        Always ask at this line; None: at any decision of the source.
    seat
        `oop` or `ip`; None: both.
    only
        One of `FILTERS`: `all`, `close` or `mixed`.
    scope
        One of `SCOPES`: `one`, `street` or `end`.
    focus
        Whether to ask more of the kinds that lost most so far.

    Raises
    ------
    InputError
        If a name is unknown.

    Examples
    --------
    >>> DrillOptions(only="mixed").scope
    'one'
    """

    line: str | None = None  # always ask at this line; None: at any decision of the source
    seat: str | None = None  # oop or ip; None: both
    only: str = "all"  # one of FILTERS
    scope: str = "one"  # one of SCOPES
    focus: bool = True  # ask more of the kinds that lost most so far

    def __post_init__(self) -> None:
        check_name("only", self.only, FILTERS)
        check_name("scope", self.scope, SCOPES)
        optional(check_name, "seat", self.seat, SEATS)


@dataclass(frozen=True)
class Grade:
    """Grade of an answer.

    Attributes
    ----------
    question
        The question.
    move
        The answer.
    ev_lost
        EV lost in chips.
    randomized_action
        Action for the random number.

    Examples
    --------
    >>> from riverboat.practice.questions import make_source
    >>> drill = Drill(make_source("push:10,10"), DrillOptions(line=""), seed=1)
    >>> question = drill.next_question()
    >>> best = question.verdict.best.move
    >>> drill.answer(best).percent
    0.0
    """

    question: DrillQuestion
    move: str
    ev_lost: float  # EV lost in chips
    randomized_action: str  # action for the random number

    @property
    def percent(self) -> float:
        """EV lost in % of the pot, or of the prizes if the table is played for money."""
        return 100 * self.ev_lost / self.question.verdict.pot

    @property
    def followed(self) -> bool | None:
        """Whether the answer is the action for the random number; None if one action alone is right."""
        return self.move == self.randomized_action if self.question.verdict.mixed else None

    def to_dict(self) -> dict[str, Any]:
        """Return the grade as a JSON object."""
        return {
            "move": self.move,
            "lost": self.ev_lost,
            "percent": self.percent,
            "units": {"lost": self.question.verdict.unit, "percent": f"% of {self.question.verdict.share_of}"},
            "number": self.question.number,
            "stands_for": self.randomized_action,
            "followed": self.followed,
            "verdict": self.question.verdict.to_dict(),
        }


class Drill:
    """Drill, one question at a time.

    Parameters
    ----------
    source
        Source of questions.
    options
        Which questions are asked; the defaults of `DrillOptions`.
    record
        Record of the answers; a new one in memory by default.
    seed
        Seed of the questions.

    Examples
    --------
    >>> from riverboat.practice.questions import make_source
    >>> drill = Drill(make_source("push:10,10"), seed=1)
    >>> drill.next_question().moves
    ('fold', 'all-in')
    >>> drill.answer("fold").ev_lost == drill.ev_lost
    True
    """

    def __init__(
        self,
        source: QuestionSource,
        options: DrillOptions | None = None,
        record: DrillRecord | None = None,
        seed: int = 0,
    ) -> None:
        self.source, self.options = source, options or DrillOptions()
        self.record = record if record is not None else DrillRecord()
        self.grades: list[Grade] = []
        self.question: DrillQuestion | None = None
        self._rng = np.random.default_rng(seed)
        self._hand: QuestionGenerator | None = None
        self._answered: tuple[DrillQuestion, str] | None = None  # last question and answer

    def next_question(self) -> DrillQuestion:
        """Return the open question, or the next one."""
        if self.question is None:
            self.question = self._next_in_hand() or self._new_question()
        return self.question

    def answer(self, move: str, when: str = "") -> Grade:
        """Grade an answer and record it, without further computation.

        Parameters
        ----------
        move
            One of the question's actions.
        when
            Date, in the caller's format.

        Raises
        ------
        InputError
            If no question is open, or the action is not available.
        """
        question = self.question
        if question is None:
            raise InputError("no open question: call next_question first")
        if move not in question.moves:
            raise InputError(f"move {short_repr(move)}: must be one of {', '.join(question.moves)}")
        verdict, name, kinds = question.verdict, self.source.name, question.kinds
        lost = verdict.cost(move)
        assert lost is not None  # questions without EVs are not asked
        grade = Grade(question, move, lost, verdict.action_for_number(question.number))
        self.grades.append(grade)
        self.record.add(DrillAnswer(name, kinds, move, lost, grade.percent, verdict.mixed, grade.followed, when))
        self.question, self._answered = None, (question, move)
        return grade

    @property
    def ev_lost(self) -> float:
        """EV lost over all answers of this drill, in chips."""
        return sum(grade.ev_lost for grade in self.grades)

    # --- Next question ---

    def _next_in_hand(self) -> DrillQuestion | None:
        """Play the last answer and return the hand's next decision if the drill's scope includes it, else None."""
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

    def _new_question(self) -> DrillQuestion:
        line, seat = self.options.line, None if self.options.seat is None else SEATS.index(self.options.seat)
        for _ in range(MAX_HANDS):
            self._hand = self.source.play_hand(self._rng, line, seat)
            for question in islice(self._hand, None if line is None else 1):
                if self._accepts(question):
                    return question
        raise InputError(
            f"{self.source.name}: no decision of kind {self.options.only} was found in {MAX_HANDS} hands; choose another"
        )

    def _accepts(self, question: DrillQuestion) -> bool:
        verdict, options = question.verdict, self.options
        if verdict.best is None:
            return False
        if (options.only == "mixed" and not verdict.mixed) or (options.only == "close" and not verdict.close):
            return False
        if options.focus and self._rng.random() >= self.record.weight(self.source.name, question.kinds):
            return False
        return options.line is not None or options.scope != "one" or bool(self._rng.random() >= SKIP_PROBABILITY)
