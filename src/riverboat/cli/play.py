"""`riverboat play`: hands against an agent in the terminal. `riverboat act`: what an agent does at one table."""

from __future__ import annotations

import re
import secrets
import shlex
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from riverboat.agents.base import Agent, Choice, Chooser
from riverboat.agents.registry import make_agent
from riverboat.api.play import Event, Table, agent_move, described, opened
from riverboat.api.seating import rules_for
from riverboat.cli.hands.decision_reviews import print_sitting
from riverboat.cli.terminal import COMPILING, emit, plain_console
from riverboat.compiled.jit import on_disk
from riverboat.core.errors import InputError, shown
from riverboat.core.tables import FIGURE, PROSE, Column, ReportTable
from riverboat.engines.rules import board_loops
from riverboat.engines.tables import table_format
from riverboat.formats.hand_files import kind_of, write_hands
from riverboat.games.holdem.actions import show_move
from riverboat.games.holdem.bet_sizes import parse_sizes, total
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.match_state import parse_match_state
from riverboat.games.holdem.menus import SEATS
from riverboat.games.holdem.observation import Views
from riverboat.practice.session import Sitting
from riverboat.solvers.boards.batches import SIX_BYTES
from riverboat.subgames.search.report import Explanation

WORDS = {"fold": "f", "call": "c", "check": "c", "k": "c", "x": "c", "all-in": "a", "allin": "a", "all": "a"}
CHECKS, CALLS = ("check", "k", "x"), ("call",)  # words for one of the two moves that the protocol writes c
SIZES = {"pot": "100%", "half": "50%"}
QUIT = ("q", "quit", "exit")
HELP = (
    "f fold   c check or call   r300 raise to 300 in all, over the whole hand   b300 bet or raise to 300 on this street\n"
    "50%, pot, half, 2.5x: a bet or raise of that size   min the least   a all-in   q leave"
)
ROWS, LEAST = 20, 0.0005  # moves that `act` prints, at most, and how likely they are at least
_TOTAL = re.compile(
    r"(?P<kind>r|raise|raise to)\s*(?P<chips>[0-9]{1,15})|(?P<street>b|bet|bet to)\s*(?P<there>[0-9]{1,15})"
)
_SIZE = re.compile(r"(?:r|raise|b|bet)?\s*(?P<size>[0-9.]{1,15}[%x])")


class Left(Exception):
    """The person has left the table."""


# --- play -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Options:
    """Of `riverboat play`."""

    hands: int | None = None
    seed: int | None = None
    game: str | None = None
    seat: str | None = None  # oop or ip
    out: Path | None = None  # the file of the sitting
    resume: bool = False
    review: bool = False
    histories: Path | None = None


def play(name: str, options: Options | None = None, source: TextIO | None = None) -> float:
    """Deal hands to a person and an agent until the person leaves; the chips that the person has won."""
    how = options if options is not None else Options()
    if how.hands is not None and how.hands < 1:
        raise InputError(f"hands={how.hands}: must be at least 1")
    if how.histories is not None and kind_of(how.histories) == ".phh":
        raise InputError(f"--histories {how.histories}: a file of many hands is named FILE.phhs or FILE.log")
    sitting = _sit_down(name, how)
    table, typed = sitting.table, source if source is not None else sys.stdin
    _say(
        f"{table.rules.name} against {table.agent.name}; all stacks are full again in every hand. ? for help, q to leave"
    )
    try:
        while True:
            _tell(table, table.events)
            while not table.over:
                _tell(table, sitting.act(_asked(table, typed)))
            _say(f"score: {_score(table)}")
            if table.hands == how.hands:
                break
            sitting.deal()
    except (Left, KeyboardInterrupt):
        _say("")
    kept = (
        f"riverboat play {shlex.quote(sitting.agent)} --out {how.out} --resume goes on"
        if how.out is not None
        else f"--seed {table.seed} deals the same cards again"
    )
    _say(f"{_score(table)}; {kept}")
    if how.review and table.hands:
        print_sitting(plain_console(), sitting)
    if how.histories is not None and table.hands:
        write_hands(how.histories, sitting.record())
        _say(f"hands: {how.histories}")
    return table.won


def _sit_down(name: str, how: Options) -> Sitting:
    seat = None
    if how.seat is not None:
        if how.seat not in SEATS:
            raise InputError(
                f"--seat {shown(how.seat)}: {' or '.join(SEATS)}; they are exchanged where none is asked for"
            )
        seat = SEATS.index(how.seat)
    if how.resume:
        if how.out is None:
            raise InputError("--resume: say which sitting with --out FILE")
        sitting = Sitting.open(
            how.out, name if name == Sitting.named(how.out)[0] else None
        )  # the same spec, typed again
        if sitting.table.over:
            sitting.deal()
        return sitting
    seed = secrets.randbits(32) if how.seed is None else how.seed
    if "search=" in name and not on_disk(board_loops(None, table_format(SIX_BYTES)).work):
        _say(COMPILING)
    return Sitting.begin(how.out, make_agent(name, seed), seed=seed, game=how.game, seat=seat)


def _tell(table: Table, events: Iterable[Event]) -> None:
    """What happened, as the person at the table sees it."""
    rules, you, agent = table.rules, table.seat, table.agent.name
    for event in events:
        if event.kind == "hand":
            begins = f"you put in {rules.blinds[you]:,}, {agent} {rules.blinds[1 - you]:,}"
            if rules.begins:  # a subgame
                begins = f"{rules.streets[rules.begins]} {_shown(table)}, pot {event.state.pot:,}, you are {SEATS[you]}"
            _say(f"\nhand {table.number + 1}: you have {' '.join(table.hole)}; {begins}")
        elif event.kind == "street":
            _say(f"{rules.streets[event.state.street]}: {_shown(table)}, pot {event.state.pot:,}")
        elif event.kind == "move" and event.who != you:
            _say(f"  {agent} {_past(described(event.move, event.state))}")
        elif event.kind == "showdown":
            _say(f"showdown: {_shown(table)}, pot {event.state.pot:,}")
            _say(f"  you have {' '.join(table.hole)}, {agent} has {' '.join(table.shown or ())}")
        elif event.kind == "won":
            won = event.won
            even = "you win nothing" if rules.pot else "nobody wins"
            _say(f"you win {won:,}" if won > 0 else f"you lose {-won:,}" if won < 0 else even)


def _asked(table: Table, source: TextIO) -> str:
    """The person's move, asked for until it is legal."""
    left, state = "", table.state
    menu = table.legal() if table.rules.begins else None
    if table.rules.stacks is not None:
        left = f", behind: you {state.behind[state.turn]:,}, {table.agent.name} {state.behind[1 - state.turn]:,}"
    _say(f"  pot {state.pot:,}{left}")
    while True:
        print(f"  {_options(state, menu)} > ", end="", flush=True)
        text = source.readline()
        if not source.isatty():
            print(text.rstrip("\n"))  # what a person has typed is on the screen; what a file says is not
        word = " ".join(text.split()).lower()
        if not text or word in QUIT:
            raise Left
        if word in ("?", "h", "help"):
            _say(HELP)
        elif word:
            try:
                return understood(word, state, menu)
            except InputError as error:
                _say(f"  {error}")


def _options(state: Betting, menu: Sequence[str] | None) -> str:
    """The legal moves, as they are typed; those of a tree, and no others, where there is one."""
    if menu is not None:
        return ", ".join(f"{label} {described(label, state)}" for label in menu)
    parts = [f"{label} {described(label, state)}" for label in ("f", "c") if state.legal(label)]
    span = state.raise_range()
    if span is not None and state.rules.limit:
        parts.append(f"r {described('r', state)}")
    elif span is not None:
        verb = "raise" if opened(state) else "bet"
        totals = f"r{span.least}" if span.least == span.most else f"r{span.least} to r{span.most}"
        parts.append(f"{totals} {verb}, in all")
    return ", ".join(parts)


def _shown(table: Table) -> str:
    return " ".join(table.board) or "no cards on the board"


def _score(table: Table) -> str:
    if not table.hands:
        return "no hand was finished"
    rate = f", {1000 * table.won / table.hands / table.rules.big_blind:+,.0f} mbb/g" if table.rules.big_blind else ""
    if table.rules.pot:
        rate = f", {100 * table.won / table.hands / table.start.pot:+.1f} % of the pot a hand"
    return f"{table.won:+,} chips in {table.hands:,} hand{'s' * (table.hands != 1)}{rate}"


def _say(text: str) -> None:
    print(text, flush=True)


# --- moves in words ---------------------------------------------------------------------------------


def understood(text: str, state: Betting, menu: Sequence[str] | None = None) -> str:
    """The legal move that a person means: f, c, r300, and the words of `HELP`; one of a menu where there is one."""
    _fits(text, state, menu)
    word = WORDS.get(text, text)
    span = state.raise_range()
    if word in ("f", "c"):
        label = word
    elif state.rules.limit:
        label = "r" if word in ("r", "raise", "b", "bet") else word
    elif span is not None and word in ("a", "min"):
        label = f"r{span.most if word == 'a' else span.least}"
    elif match := _TOTAL.fullmatch(word):
        label = f"r{int(match['chips'])}" if match["chips"] else f"r{state.before + int(match['there'])}"
    elif span is not None and (match := _SIZE.fullmatch(SIZES.get(word, word))):
        at = state.situation
        (size,) = parse_sizes(match["size"], "move", raising=at.faced > 0)
        label = f"r{min(max(state.before + total(size, at), span.least), span.most)}"
    else:
        label = word
    if not state.legal(label):
        state.play(label)  # says what is wrong
    if menu is not None and label not in menu:
        raise InputError(f"{text!r}: not in the tree that was solved: {', '.join(menu)}")
    return label


def _fits(text: str, state: Betting, menu: Sequence[str] | None) -> None:
    """Refuse a word for a move that is not there: a check of a bet is no call, and a bet behind a bet no raise.

    `c`, `r300` and `b300` are the letters of `HELP`, which mean both.
    """
    verb = text.partition(" ")[0].rstrip("0123456789.%x") or text
    here = opened(state)
    why = {
        **{word: f"there are {state.to_call:,} to call" for word in CHECKS if state.to_call},
        **{word: "there is nothing to call" for word in CALLS if not state.to_call},
        **({"bet": "somebody has bet already"} if here else {"raise": "nobody has bet yet"}),
    }.get(verb)
    if why is not None:
        raise InputError(f"{text!r}: {why}; legal here: {_options(state, menu)}")


def _past(text: str) -> str:
    """`raises to 900` for `raise to 900`."""
    verb, space, rest = text.partition(" ")
    return f"{verb}s{space}{rest}"


# --- act --------------------------------------------------------------------------------------------


def act(
    name: str,
    match_state: str,
    seed: int = 0,
    game: str | None = None,
    json: bool = False,
    explain: bool = False,
) -> None:
    """The moves of an agent at one table with their probabilities, and the one that it draws.

    `explain`: also what an agent that searches has found there.
    """
    agent = make_agent(name, seed)
    rules = rules_for([agent], game)
    state = parse_match_state(match_state.strip(), rules)
    views = Views.from_match_states([state])
    explanation = _explained(agent, views) if explain else None
    label = agent_move(agent, views)
    choice = agent.probabilities(views)[0] if isinstance(agent, Chooser) else None
    if json:
        labels = None if choice is None else {show_move(move, rules): p for move, p in choice}
        emit(
            {
                "agent": name,
                "game": rules.name,
                "match_state": str(state),
                "action": label,
                "reply": state.reply(label),
                "probabilities": labels,
                "pot": state.betting.pot,
                "to_call": state.betting.to_call,
                "seed": seed,
                **(
                    {}
                    if explanation is None
                    else {"search": {**explanation.facts(), "hands_here": explanation.hands()}}
                ),
            }
        )
        return
    console = plain_console()
    if explanation is not None:
        columns = Column("search"), Column("", PROSE)
        console.print(ReportTable("", columns, tuple(explanation.lines())))
        for seat, held in zip(SEATS, explanation.ranges, strict=True):
            console.print(f"range of {seat}")
            console.print(held)
        console.print(f"what {SEATS[state.betting.turn]} plays with each hand")
        console.print(explanation.grid())
    if choice is not None:
        console.print(_choices(choice, label, state.betting))
    console.print(f"{label}: {described(label, state.betting)}")


def _explained(agent: Agent, views: Views) -> Explanation:
    """What the agent has found where it searches."""
    explain = getattr(agent, "explain", None)
    if explain is None:
        raise InputError(f"agent {agent.name!r} does not search: --explain is for agents such as demo?search=turn")
    explanation: Explanation | None = explain(views)
    if explanation is None:
        raise InputError(
            f"agent {agent.name!r} does not search before its street: --explain is for what was solved; "
            "`riverboat show` has what the blueprint plays with all hands"
        )
    return explanation


def _choices(choice: Choice, chosen: str, state: Betting) -> ReportTable:
    rows = []
    likely = sorted((pair for pair in choice if pair[1] >= LEAST), key=lambda pair: -pair[1])[:ROWS]
    for move, p in sorted(likely):
        label = show_move(move, state.rules)
        rows.append((label, f"{p:.4f}", described(label, state) + (" <- drawn" if label == chosen else "")))
    if len(choice) > len(likely):
        rest = 1 - sum(p for _, p in likely)
        rows.append(("…", f"{rest:.4f}", f"{len(choice) - len(likely):,} other moves"))
    return ReportTable("", (Column("move"), Column("probability", FIGURE), Column("what it is", PROSE)), tuple(rows))
