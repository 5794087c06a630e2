"""A sitting: hands against an agent, kept after every move, gone on with later, looked at again.

    sitting = Sitting.begin("runs/evening.json", "demo", seed=7)
    sitting.table.hole, sitting.act("c"), sitting.deal()
    Sitting.open("runs/evening.json")                  # as it was left, in the middle of a hand too

The file has who plays what, and for each hand its cards and all moves: nobody is asked again what was played.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from riverboat.agents.base import Agent
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.registry import make_agent
from riverboat.agents.spec import from_file, parse_agent
from riverboat.api import seating
from riverboat.api.play import Event, Table, paid
from riverboat.cards.notation import parse_cards, show_cards
from riverboat.cards.ranking import rank
from riverboat.core import atomic_io
from riverboat.core.errors import InputError, shown
from riverboat.core.schema import Fields
from riverboat.core.text_files import read_text
from riverboat.games.holdem.betting import Betting, steps
from riverboat.games.holdem.match_state import Hand, Holes, settled
from riverboat.games.holdem.observation import Views
from riverboat.games.holdem.rules import Rules, parse_game, show_game
from riverboat.games.records.hand_records import Hands, Played, record
from riverboat.practice.evaluators import Judge, judge_of
from riverboat.practice.reviews import HandReview, PlayedHand, review_hand
from riverboat.practice.table_conversion import whole
from riverboat.subgames.search.search import Search

FORMAT = 1
YOU = "you"
LATE = ("turn", "river")  # streets whose search begins within a second
MOST = 64 << 20  # bytes of a file


@dataclass(frozen=True)
class Kept:
    """One hand of a sitting; `line` is as far as it was played."""

    seat: int
    holes: Holes
    board: Hand
    line: str

    def to_dict(self) -> dict[str, Any]:
        """For the file."""
        holes = [show_cards(hole) for hole in self.holes]
        return {"seat": self.seat, "holes": holes, "board": show_cards(self.board), "line": self.line}


def warm(agent: Agent, rules: Rules) -> None:
    """Ask an agent once on every street, and about a bet that is not of its menu: loops are loaded on first use, and who
    plays does not wait for that. One that searches late in a hand solves something, too; before that it would take long."""
    search = getattr(agent, "search", None)
    if isinstance(search, Search) and search.settings.street in LATE:
        search.warm()
    asked = getattr(agent, "base", agent)
    if not isinstance(asked, BlueprintAgent) or rules.limit:
        return
    deck = rules.deck.cards.tolist()
    hole, board = tuple(deck[: rules.hole]), tuple(deck[rules.hole :])
    states, state = [], Betting.start(rules)
    while state.actor >= 0:
        states.append(state)
        span = state.raise_range()
        if span is not None:
            states.append(state.play(f"r{min(span.least + span.least // 7, span.most)}"))
        while state.actor >= 0:
            state = state.play("c")
        state = settled(state)
    for one in states:
        asked.act(Views.of([one], [hole], [board[: rules.board_sizes[one.street]]]))
    rank((*hole, *board[: rules.board_sizes[-1]]))


@dataclass(frozen=True)
class FinishedHands:
    """The hands of a session that are over, as they were at one moment: a value that no later deal or move changes.

    Reviews, results and records are made from it, on whatever thread, while the session goes on.
    """

    agent: str
    start: Betting
    hands: tuple[Kept, ...] = ()

    def __len__(self) -> int:
        return len(self.hands)

    def hand(self, number: int) -> PlayedHand:
        """Return one hand as the person saw it."""
        if not 0 <= number < len(self.hands):
            raise InputError(f"hand {number + 1}: {len(self.hands)} hands of this sitting are over")
        kept = self.hands[number]
        end = _state(self.start, kept.line)
        won = paid(self.start, end, kept.holes, kept.board, kept.seat)
        return PlayedHand(number, kept.seat, kept.holes[kept.seat], kept.board, self.start, end, won)

    def played(self) -> list[PlayedHand]:
        """Return all hands as the person saw them."""
        return [self.hand(number) for number in range(len(self.hands))]

    def record(self) -> Hands:
        """Return a record with all cards: for files, and for estimates without luck. Hands of a spot become whole ones
        (`practice.table_conversion.whole`)."""
        hands, scale = [], 1
        for number, kept in enumerate(self.hands):
            names = (YOU, self.agent) if kept.seat == 0 else (self.agent, YOU)
            end = _state(self.start, kept.line)
            if end.rules.begins:
                end, scale = whole(end)
            hands.append(Played(number, names, end, (*kept.holes, kept.board)))
        if not hands:
            raise InputError("no hand of this sitting is over yet")
        return record(hands, hands[0].betting.rules, scale)


class Sitting:
    """A table whose hands are kept; `begin` and `open` make one.

    `act` and `deal` are for one thread at a time. `finished` is a value that other threads may read at any time.
    """

    def __init__(self, table: Table, agent: str, path: Path | None, over: Sequence[Kept] = ()) -> None:
        self.table, self.agent, self.path = table, agent, path
        self.finished = FinishedHands(agent, table.start, tuple(over))  # with the hand on the table, once it is over
        self._reviews: dict[int, HandReview] = {}

    @staticmethod
    def begin(
        path: str | Path | None,
        agent: str | Agent,
        *,
        seed: int = 0,
        game: str | Rules | None = None,
        seat: int | None = None,
        name: str | None = None,
    ) -> Sitting:
        """Sit down; the file is new. Without a path nothing is kept. `name` is what the file calls the agent."""
        if path is not None and Path(path).exists():
            raise InputError(f"{path}: is there already; open it to go on, or choose another name")
        made = seating.agent(agent, seed)
        rules = seating.rules_for([made], game)
        warm(made, rules)
        table = Table(made, rules, seed, seat)
        sitting = Sitting(table, name or made.name, None if path is None else Path(path))._ended()
        sitting._save()
        return sitting

    @staticmethod
    def open(path: str | Path, agent: str | Agent | None = None) -> Sitting:
        """Open a session as it was left.

        A file may name agents that come with Riverboat, and neither code nor folders: for those, `agent` is the same spec
        again, or the agent itself.
        """
        entries = _read(Path(path))
        seed, name = entries.whole("seed"), entries.text("agent")
        rules = parse_game(entries.text("game", lines=True), entries.text("game_name"), str(path))
        if isinstance(agent, str) and agent != name:
            raise InputError(f"{path}: was played against {shown(name)}, not {shown(agent)}")
        made = make_agent(parse_agent(name, from_file(path)), seed) if agent is None else seating.agent(agent, seed)
        seating.rules_for([made], rules)
        hands = [_hand(each) for each in entries.tables("hands")]
        if not hands:
            raise InputError(f"{path}: no hands; begin another sitting")
        seat = None if entries["seat"] is None else entries.whole("seat", 0, 1)
        warm(made, rules)
        table = Table(made, rules, seed, seat, dealt=False)
        for hand in hands:
            table.replay(hand.holes, hand.board, _moves(table.start, hand.line))
        table.go_on()
        return Sitting(table, name, Path(path), hands[:-1])._ended()

    @staticmethod
    def named(path: str | Path) -> tuple[str, int]:
        """Who plays in a file, and the seed."""
        entries = _read(Path(path))
        return entries.text("agent"), entries.whole("seed")

    @staticmethod
    def told(path: str | Path) -> dict[str, Any]:
        """What a list says of a file, without opening the table."""
        entries = _read(Path(path))
        return {
            "agent": entries.text("agent"),
            "game": entries.text("game_name"),
            "hands": len(entries.tables("hands")),
        }

    def __repr__(self) -> str:
        return f"<Sitting with {self.agent}: {self.table.won:+,} chips in {self.table.hands:,} hands>"

    # --- what happens -------------------------------------------------------------------------

    def act(self, move: str) -> tuple[Event, ...]:
        """A move of the person, and what the agent answers."""
        happened = self.table.act(move)
        self._ended()._save()
        return happened

    def deal(self) -> tuple[Event, ...]:
        """The next hand."""
        happened = self.table.deal()
        self._ended()._save()
        return happened

    def _ended(self) -> Sitting:
        """Add the hand on the table to the finished ones where it is over and new there: a new value, in one step."""
        if self.table.over and len(self.finished) == self.table.number:
            self.finished = replace(self.finished, hands=(*self.finished.hands, self._now()))
        return self

    def _now(self) -> Kept:
        holes, board = self.table.cards
        return Kept(self.table.seat, holes, board, self.table.state.line)

    def _save(self) -> None:
        if self.path is None:
            return
        table = self.table
        facts = {
            "format_version": FORMAT,
            "kind": "sitting",
            "agent": self.agent,
            "game": show_game(table.rules),
            "game_name": table.rules.name,
            "seed": table.seed,
            "seat": table.fixed_seat,
            "hands": [hand.to_dict() for hand in (*self.finished.hands, *(() if table.over else (self._now(),)))],
        }
        atomic_io.write_text(self.path, json.dumps(facts, indent=1) + "\n")

    # --- what was played ----------------------------------------------------------------------

    def played(self) -> list[PlayedHand]:
        """All hands that are over, as the person saw them."""
        return self.finished.played()

    @cached_property
    def judge(self) -> Judge:
        """What decisions are judged by."""
        return judge_of(self.table.agent)

    def review(self, number: int) -> HandReview:
        """A hand that is over, decision by decision; worked out once."""
        if number not in self._reviews:
            self._reviews[number] = review_hand(self.judge, self.finished.hand(number))
        return self._reviews[number]

    def reviews(self) -> list[HandReview]:
        """All of them."""
        return [self.review(number) for number in range(len(self.finished))]

    def record(self) -> Hands:
        """The hands that are over as a record, with all cards."""
        return self.finished.record()


def _moves(start: Betting, line: str) -> list[str]:
    """The moves since the start."""
    if not line.startswith(start.line):
        raise InputError(f"line {shown(line)}: does not begin as hands of this sitting do")
    return [label for label in steps(line[len(start.line) :]) if label != "/"]


def _state(start: Betting, line: str) -> Betting:
    return Betting.from_line(start.rules, line)


def _hand(entry: Fields) -> Kept:
    holes = tuple(parse_cards(text, "hole") for text in entry.texts("holes"))
    if len(holes) != 2:
        raise InputError(f"{entry.where}: holes: the cards of two seats are needed")
    board = parse_cards(entry.text("board"), "board") if entry.text("board") else ()
    return Kept(entry.whole("seat", 0, 1), (holes[0], holes[1]), board, entry.text("line"))


def _read(path: Path) -> Fields:
    try:
        entries = json.loads(read_text(path, "sitting", MOST))
    except ValueError:
        raise InputError(f"{path}: no sitting: it is not JSON") from None
    if not isinstance(entries, dict) or entries.get("kind") != "sitting":
        raise InputError(f"{path}: no sitting; `riverboat play AGENT --out FILE` begins one")
    if entries.get("format_version") != FORMAT:
        raise InputError(f"{path}: format {shown(entries.get('format_version'))}: this release reads {FORMAT}")
    return Fields(str(path), entries)
