"""`riverboat play`: play hands against an agent in the terminal; `riverboat act`: an agent's strategy in one match
state.
"""

from __future__ import annotations

import re
import secrets
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from riverboat.api.agent import agent as make_agent
from riverboat.api.options import PositiveCount, Seed
from riverboat.api.play import AgentDecision, PlayTable, TableEvent, describe_action, has_bet, needs_compilation
from riverboat.api.play import act as decide
from riverboat.cli.matches.reviews import print_session_review
from riverboat.cli.terminal import COMPILING_MESSAGE, figure, make_table, print_line, print_result, prose, read_words
from riverboat.core.errors import InputError, short_repr
from riverboat.core.tables import ReportTable
from riverboat.formats.hand_files import hand_file_suffix, write_hands
from riverboat.games.holdem.bet_sizes import parse_sizes, size_total
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.menus import SEATS
from riverboat.practice.session import PracticeSession

MOVE_WORDS = {"fold": "f", "call": "c", "check": "c", "k": "c", "x": "c", "all-in": "a", "allin": "a", "all": "a"}
CHECK_WORDS, CALL_WORDS = ("check", "k", "x"), ("call",)  # the protocol writes both moves as c
SIZE_WORDS = {"pot": "100%", "half": "50%"}
HELP_TEXT = (
    "f fold   c check or call   r300 raise to 300, a total for the whole hand   b300 bet or raise to 300 on this street\n"
    "50%, pot, half, 2.5x: a bet or raise of that size   min smallest size   a all-in   q quit"
)
MAX_ROWS, MIN_PROBABILITY = 20, 0.0005  # limits of the moves that `act` prints: their number and their probability
_TOTAL_PATTERN = re.compile(
    r"(?P<kind>r|raise|raise to)\s*(?P<chips>[0-9]{1,15})|(?P<street>b|bet|bet to)\s*(?P<there>[0-9]{1,15})"
)
_SIZE_PATTERN = re.compile(r"(?:r|raise|b|bet)?\s*(?P<size>[0-9.]{1,15}[%x])")


# --- Sessions ---


def play(
    agent: str = "default?search=river",
    *,
    hands: PositiveCount | None = None,
    seed: Seed | None = None,
    game: str | None = None,
    seat: str | None = None,
    out: Path | None = None,
    resume: bool = False,
    review: bool = False,
    histories: Path | None = None,
    input_lines: TextIO | None = None,
) -> float:
    """Play hands against an agent in the terminal; a solved spot is an agent for its subgame.

    Parameters
    ----------
    hands
        Stop after this many hands.
    seed
        Seed of the cards and of the agent; a new one by default.
    seat
        oop or ip; by default the seats alternate.
    out
        Save the session in this file after every action.
    resume
        Continue the session in that file.
    review
        At the end, review the EV lost by each decision, and luck.
    histories
        At the end, write the hands to FILE.phhs (PHH).
    input_lines
        Typed lines; standard input by default.

    Returns
    -------
    float
        Chips that the person has won.
    """
    if hands is not None and hands < 1:
        raise InputError(f"hands={hands}: must be at least 1")
    if histories is not None and hand_file_suffix(histories) == ".phh":
        raise InputError(f"--histories {histories}: a file of many hands is named FILE.phhs or FILE.log")
    if seat is not None and seat not in SEATS:
        raise InputError(f"--seat {short_repr(seat)}: {' or '.join(SEATS)}; without the option seats alternate")
    if resume and out is None:
        raise InputError("--resume: name the file of the session with --out FILE")
    if resume and out is not None:
        same_agent = agent == PracticeSession.read_summary(out)["agent"]  # the same spec, typed again
        session = PracticeSession.open(out, agent if same_agent else None)
        if session.table.over:
            session.deal()
    else:
        seed = secrets.randbits(32) if seed is None else seed
        player, number = make_agent(agent, seed), None if seat is None else SEATS.index(seat)
        if needs_compilation(player):
            print_line(COMPILING_MESSAGE)
        session = PracticeSession.begin(out, player, seed=seed, game=game, seat=number)
    table, lines = session.table, input_lines if input_lines is not None else sys.stdin
    print_line(f"{table.rules.name} against {table.agent.name}; stacks are reset for every hand. ? for help, q to quit")
    try:
        while True:
            _print_events(table, table.events)
            while not table.over:
                _print_events(table, session.act(_read_move(table, lines)))
            print_line(f"score: {_format_score(table)}")
            if table.hands == hands:
                break
            session.deal()
    except (EOFError, KeyboardInterrupt):
        print_line("")
    hint = f"--seed {table.seed} deals the same cards again"
    if out is not None:
        hint = f"riverboat play {shlex.quote(session.agent)} --out {out} --resume continues"
    print_line(f"{_format_score(table)}; {hint}")
    if review and table.hands:
        print_session_review(session)
    if histories is not None and table.hands:
        write_hands(histories, session.finished.record())
        print_line(f"hands: {histories}")
    return table.won


def _print_events(table: PlayTable, events: Iterable[TableEvent]) -> None:
    """Print the events that the person at the table can see."""
    rules, you, agent = table.rules, table.seat, table.agent.name
    for event in events:
        if event.kind == "hand":
            begins = f"you put in {rules.blinds[you]:,}, {agent} {rules.blinds[1 - you]:,}"
            if rules.begins:  # a subgame
                street = rules.streets[rules.begins]
                begins = f"{street} {_format_board(table)}, pot {event.state.pot:,}, you are {SEATS[you]}"
            print_line(f"\nhand {table.number + 1}: you have {' '.join(table.hole)}; {begins}")
        elif event.kind == "street":
            print_line(f"{rules.streets[event.state.street]}: {_format_board(table)}, pot {event.state.pot:,}")
        elif event.kind == "move" and event.who != you:
            print_line(f"  {agent} {_third_person(describe_action(event.move, event.state))}")
        elif event.kind == "showdown":
            print_line(f"showdown: {_format_board(table)}, pot {event.state.pot:,}")
            print_line(f"  you have {' '.join(table.hole)}, {agent} has {' '.join(table.shown_cards or ())}")
        elif event.kind == "won":
            won = event.won
            even = "you win nothing" if rules.pot else "nobody wins"
            print_line(f"you win {won:,}" if won > 0 else f"you lose {-won:,}" if won < 0 else even)


def _read_move(table: PlayTable, input_lines: TextIO) -> str:
    """Read the person's move, repeating the prompt until it is legal."""
    left, state = "", table.state
    menu = table.legal() if table.rules.begins else None
    if table.rules.stacks is not None:
        left = f", behind: you {state.behind[state.turn]:,}, {table.agent.name} {state.behind[1 - state.turn]:,}"
    print_line(f"  pot {state.pot:,}{left}")
    while True:
        word = read_words(f"  {_format_moves(state, menu)} > ", input_lines)
        if word in ("?", "h", "help"):
            print_line(HELP_TEXT)
        elif word:
            try:
                return parse_typed_move(word, state, menu)
            except InputError as error:
                print_line(f"  {error}")


def _format_moves(state: BettingState, menu: Sequence[str] | None) -> str:
    """Return the legal moves as they are typed; with a menu only its moves."""
    if menu is not None:
        return ", ".join(f"{label} {describe_action(label, state)}" for label in menu)
    parts = [f"{label} {describe_action(label, state)}" for label in (("f", "c") if state.to_call else ("c",))]
    span = state.raise_range()
    if span is not None and state.rules.limit:
        parts.append(f"r {describe_action('r', state)}")
    elif span is not None:
        verb = "raise" if has_bet(state) else "bet"
        totals = f"r{span.least}" if span.least == span.most else f"r{span.least} to r{span.most}"
        parts.append(f"{totals} {verb}, total for the hand")
    return ", ".join(parts)


def _format_board(table: PlayTable) -> str:
    return " ".join(table.board) or "no cards on the board"


def _format_score(table: PlayTable) -> str:
    if not table.hands:
        return "no hands completed"
    rate = f", {1000 * table.won / table.hands / table.rules.big_blind:+,.0f} mbb/g" if table.rules.big_blind else ""
    if table.rules.pot:
        rate = f", {100 * table.won / table.hands / table.start.pot:+.1f} % of the pot per hand"
    return f"{table.won:+,} chips in {table.hands:,} hand{'s' * (table.hands != 1)}{rate}"


# --- Typed moves ---


def parse_typed_move(text: str, state: BettingState, menu: Sequence[str] | None = None) -> str:
    """Parse a typed move such as f, c, r300 or a word of `HELP_TEXT`; with a menu only its moves are valid."""
    _check_wording(text, state, menu)
    word = MOVE_WORDS.get(text, text)
    span = state.raise_range()
    if word in ("f", "c"):
        label = word
    elif state.rules.limit:
        label = "r" if word in ("r", "raise", "b", "bet") else word
    elif span is not None and word in ("a", "min"):
        label = f"r{span.most if word == 'a' else span.least}"
    elif match := _TOTAL_PATTERN.fullmatch(word):
        total = int(match["chips"]) if match["chips"] else state.committed_before_street + int(match["there"])
        label = f"r{total}"
    elif span is not None and (match := _SIZE_PATTERN.fullmatch(SIZE_WORDS.get(word, word))):
        at = state.sizing_context
        (size,) = parse_sizes(match["size"], "move", facing_bet=at.bet_faced > 0)
        label = f"r{min(max(state.committed_before_street + size_total(size, at), span.least), span.most)}"
    else:
        label = word
    _ = state.parse_action(label)  # raises if it is illegal
    if menu is not None and label not in menu:
        raise InputError(f"{text!r}: not in the solved tree; its actions are {', '.join(menu)}")
    return label


def _check_wording(text: str, state: BettingState, menu: Sequence[str] | None) -> None:
    """Reject a word for a move that is not available: `check` facing a bet, or `bet` after a bet.

    `c`, `r300` and `b300` are the short forms of `HELP_TEXT`, which mean both.
    """
    verb = text.partition(" ")[0].rstrip("0123456789.%x") or text
    bet_made = has_bet(state)
    reason = {
        **{word: f"you must call {state.to_call:,} or fold" for word in CHECK_WORDS if state.to_call},
        **{word: "there is nothing to call" for word in CALL_WORDS if not state.to_call},
        **({"bet": "a bet was already made, so raise"} if bet_made else {"raise": "no bet was made yet, so bet"}),
    }.get(verb)
    if reason is not None:
        raise InputError(f"{text!r}: {reason}; legal here: {_format_moves(state, menu)}")


def _third_person(text: str) -> str:
    """Return the third person of a move: `raises to 900` for `raise to 900`."""
    verb, space, rest = text.partition(" ")
    return f"{verb}s{space}{rest}"


# --- One decision: `riverboat act` ---


def act(agent: str, state: str, *, json: bool = False, **options: Any) -> None:
    """Print an agent's action probabilities in one match state, and the action it samples.

    Parameters
    ----------
    state
        Match state: 'MATCHSTATE:0:30:cr300c/:9s8h|/8c8d5c'.
    """
    decision = decide(agent, state, **options)
    print_result(decision, _decision_parts(decision), json)


def _decision_parts(decision: AgentDecision) -> Iterator[Any]:
    betting, search = decision.state.betting, decision.search
    if search is not None:
        yield make_table(["search", prose("")], search.summary_lines())
        for seat, held in zip(SEATS, search.ranges, strict=True):
            yield f"range of {seat}"
            yield held
        yield f"strategy of {SEATS[betting.turn]} with each hand"
        yield search.grid()
    if decision.probabilities is not None:
        yield _choice_table(decision.probabilities, decision.action, betting)
    yield f"{decision.action}: {describe_action(decision.action, betting)}"


def _choice_table(choice: Mapping[str, float], chosen: str, state: BettingState) -> ReportTable:
    likely = sorted((pair for pair in choice.items() if pair[1] >= MIN_PROBABILITY), key=lambda pair: -pair[1])
    likely = sorted(likely[:MAX_ROWS], key=lambda pair: state.parse_action(pair[0]))
    rows = [
        (label, f"{p:.4f}", describe_action(label, state) + (" <- sampled" if label == chosen else ""))
        for label, p in likely
    ]
    if len(choice) > len(likely):
        rest = 1 - sum(p for _, p in likely)
        rows.append(("…", f"{rest:.4f}", f"{len(choice) - len(likely):,} other moves"))
    return make_table(["move", figure("probability"), prose("description")], rows)
