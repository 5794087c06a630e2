"""Practice sessions: hands against an agent, saved after every action, resumed later, and reviewed.

    session = PracticeSession.begin("runs/evening.json", "demo", seed=7)
    session.table.hole, session.act("c"), session.deal()
    PracticeSession.open("runs/evening.json")          # resumes it, also in the middle of a hand

The file contains agent, game and seed, and for each hand its cards and all actions, so that resuming needs no calls
to the agent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from riverboat.agents.base import Agent
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.registry import make_agent
from riverboat.agents.spec import file_origin, parse_agent
from riverboat.api import agent as agent_api
from riverboat.api.play import PlayTable, TableEvent, chips_won
from riverboat.cards.equity.equities import equity
from riverboat.cards.notation import format_cards, parse_cards
from riverboat.cards.ranking import rank
from riverboat.core import files
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, short_repr
from riverboat.core.files import read_text
from riverboat.core.schema import FileEntries
from riverboat.evaluation.confidence_intervals import ConfidenceInterval, SampleSums
from riverboat.evaluation.matches.aivat import Aivat, has_strategies
from riverboat.games.holdem.actions import CALL
from riverboat.games.holdem.betting import DEAL, BettingState, split_line
from riverboat.games.holdem.hand_records import HandRecords, RecordedHand, build_records
from riverboat.games.holdem.match_state import HoleCards, Holes
from riverboat.games.holdem.observations import Observations
from riverboat.games.holdem.rules import PokerRules, format_game, parse_game
from riverboat.practice.evaluators import DecisionEvaluator, convert_to_whole_hand, make_evaluator
from riverboat.practice.reviews import HandReview, PlayedHand, review_hand
from riverboat.subgames.search.search import SubgameSearch

FORMAT_VERSION = 1
HUMAN_NAME = "you"
LATE_STREETS = ("turn", "river")  # streets whose first subgames are solved within a second
MAX_BYTES = 64 << 20  # largest file of a session
Progress: TypeAlias = Callable[[float], None]  # function of the completed share


@dataclass(frozen=True)
class SessionHand:
    """Hand of a session; `line` is as far as it was played.

    Attributes
    ----------
    seat
        Seat of the person: 0 big blind, 1 dealer.
    holes
        Cards of both seats.
    board
        Board cards.
    line
        Betting line.

    Examples
    --------
    >>> SessionHand(0, ((0, 5), (10, 15)), (), "c").to_dict()["holes"]
    ['2c3d', '4h5s']
    """

    seat: int
    holes: Holes
    board: HoleCards
    line: str

    def to_dict(self) -> dict[str, Any]:
        """Return the hand as a JSON object of the file."""
        holes = [format_cards(hole) for hole in self.holes]
        return {"seat": self.seat, "holes": holes, "board": format_cards(self.board), "line": self.line}


def warm_up(agent: Agent, rules: PokerRules) -> None:
    """Call an agent once on every street, so that kernels are loaded before a person plays.

    One call has a bet off its menu. An agent that searches late in a hand also solves a subgame; earlier searches
    would take too long.

    Parameters
    ----------
    agent
        The agent.
    rules
        Its game.

    Examples
    --------
    >>> from riverboat.games.holdem.rules import read_game
    >>> warm_up(make_agent("rule-based"), read_game("nolimit-200bb"))
    """
    search = getattr(agent, "search", None)
    if isinstance(search, SubgameSearch) and search.settings.street in LATE_STREETS:
        search.warm_up()
    base = getattr(agent, "base", agent)
    if not isinstance(base, BlueprintAgent) or rules.limit:
        return
    deck = rules.deck.cards.tolist()
    hole, board = tuple(deck[: rules.hole]), tuple(deck[rules.hole :])
    states, state = [], BettingState.start(rules)
    while state.actor >= 0:
        states.append(state)
        legal = state.raise_range()
        if legal is not None:
            states.append(state.apply_action(min(legal.least + legal.least // 7, legal.most)))
        while state.actor >= 0:
            state = state.apply_action(CALL)
        state = state.deal_due_streets()
    for example in states:
        base.act(Observations.from_betting([example], [hole], [board[: rules.board_sizes[example.street]]]))
    rank((*hole, *board[: rules.board_sizes[-1]]))


@dataclass(frozen=True)
class FinishedHands:
    """Finished hands of a session at one moment: an immutable value.

    Reviews, results and records use it on any thread while the session continues.

    Attributes
    ----------
    agent
        Name of the agent.
    start
        State at the start of every hand.
    hands
        The hands.

    Examples
    --------
    >>> session = PracticeSession.begin(None, "rule-based", seed=7, game="nolimit-200bb")
    >>> while not session.table.over:
    ...     _ = session.act("c")
    >>> len(session.finished), session.finished.hand(0).number
    (1, 0)
    """

    agent: str
    start: BettingState
    hands: tuple[SessionHand, ...] = ()

    def __len__(self) -> int:
        return len(self.hands)

    def hand(self, number: int) -> PlayedHand:
        """Return one hand as the person saw it.

        Parameters
        ----------
        number
            Number of the hand, from 0.

        Raises
        ------
        InputError
            If there is no such hand.
        """
        if not 0 <= number < len(self.hands):
            raise InputError(f"hand {number + 1}: must be 1 to {len(self.hands)}, the finished hands of this session")
        hand = self.hands[number]
        end = BettingState.from_line(self.start.rules, hand.line)
        won = chips_won(self.start, end, hand.holes, hand.board, hand.seat)
        return PlayedHand(number, hand.seat, hand.holes[hand.seat], hand.board, self.start, end, won)

    def played(self) -> list[PlayedHand]:
        """Return all hands as the person saw them."""
        return [self.hand(number) for number in range(len(self.hands))]

    def record(self) -> HandRecords:
        """Return a record with all cards, for files and for AIVAT.

        Hands of a spot become whole hands (`convert_to_whole_hand`).
        """
        hands, scale = [], 1
        for number, hand in enumerate(self.hands):
            names = (HUMAN_NAME, self.agent) if hand.seat == 0 else (self.agent, HUMAN_NAME)
            end = BettingState.from_line(self.start.rules, hand.line)
            if end.rules.begins:
                end, scale = convert_to_whole_hand(end)
            hands.append(RecordedHand(number, names, end, (*hand.holes, hand.board)))
        if not hands:
            raise InputError("no hand of this session is finished yet")
        return build_records(hands, hands[0].betting.rules, scale)


class PracticeSession:
    """Table whose hands are saved; `begin` and `open` create one.

    `act` and `deal` are for one thread at a time. `finished` is a value that other threads may read at any time.

    Parameters
    ----------
    table
        Table with the agent.
    agent
        Name of the agent in the file.
    path
        File of the session; None saves nothing.
    finished
        Finished hands.

    Examples
    --------
    >>> session = PracticeSession.begin(None, "rule-based", seed=7, game="nolimit-200bb")
    >>> while not session.table.over:
    ...     _ = session.act("c")
    >>> session
    <PracticeSession with rule-based: +100 chips in 1 hands>
    """

    def __init__(self, table: PlayTable, agent: str, path: Path | None, finished: Sequence[SessionHand] = ()) -> None:
        self.table, self.agent, self.path = table, agent, path
        self.finished = FinishedHands(agent, table.start, tuple(finished))  # includes the current hand once it is over
        self._reviews: dict[int, HandReview] = {}

    @staticmethod
    def begin(
        path: str | Path | None,
        agent: str | Agent,
        *,
        seed: int = 0,
        game: str | PokerRules | None = None,
        seat: int | None = None,
        name: str | None = None,
    ) -> PracticeSession:
        """Start a session in a new file.

        Parameters
        ----------
        path
            File that must not exist; without one nothing is saved.
        agent
            Agent or its spec.
        seed
            Seed of the cards and of the agent.
        game
            Game or its name; by default the agent's own.
        seat
            Seat of the person; by default seats change after every hand.
        name
            The agent's name in the file.

        Raises
        ------
        InputError
            If the file exists, or agent and game do not fit.
        """
        if path is not None and Path(path).exists():
            raise InputError(f"{path}: exists already; open it to resume, or choose another name")
        player = agent_api.agent(agent, seed)
        rules = agent_api.rules_for([player], game)
        warm_up(player, rules)
        table = PlayTable(player, rules, seed, seat)
        session = PracticeSession(table, name or player.name, None if path is None else Path(path))._add_finished_hand()
        session._save()
        return session

    @staticmethod
    def open(path: str | Path, agent: str | Agent | None = None) -> PracticeSession:
        """Open a session to resume it.

        A file may name agents that come with Riverboat, but neither code nor folders: for those, pass the same spec
        again as `agent`, or the agent itself.

        Parameters
        ----------
        path
            File of the session.
        agent
            Agent or its spec, where the file may not name it.

        Raises
        ------
        InputError
            If the file is not a session, or it is against another agent.
        """
        entries = _read_session(Path(path))
        seed, name = entries.integer("seed"), entries.text("agent")
        rules = parse_game(entries.text("game", multiline=True), entries.text("game_name"), str(path))
        if isinstance(agent, str) and agent != name:
            raise InputError(f"{path}: is a session against {short_repr(name)}, not {short_repr(agent)}")
        player = (
            make_agent(parse_agent(name, file_origin(path)), seed) if agent is None else agent_api.agent(agent, seed)
        )
        agent_api.rules_for([player], rules)
        hands = [_read_hand(entry) for entry in entries.tables("hands")]
        if not hands:
            raise InputError(f"{path}: has no hands; start another session")
        seat = None if entries["seat"] is None else entries.integer("seat", 0, 1)
        warm_up(player, rules)
        table = PlayTable(player, rules, seed, seat, dealt=False)
        for hand in hands:
            table.replay(hand.holes, hand.board, _actions_since(table.start, hand.line))
        table.resume()
        return PracticeSession(table, name, Path(path), hands[:-1])._add_finished_hand()

    @staticmethod
    def read_summary(path: str | Path) -> dict[str, Any]:
        """Read a summary of a file without opening the table: agent, game, seed, and number of hands.

        Parameters
        ----------
        path
            File of the session.
        """
        entries = _read_session(Path(path))
        summary = {"agent": entries.text("agent"), "game": entries.text("game_name"), "seed": entries.integer("seed")}
        return summary | {"hands": len(entries.tables("hands"))}

    def __repr__(self) -> str:
        return f"<PracticeSession with {self.agent}: {self.table.won:+,} chips in {self.table.hands:,} hands>"

    # --- Play ---

    def act(self, move: str) -> tuple[TableEvent, ...]:
        """Apply an action of the person, let the agent respond, and save.

        Parameters
        ----------
        move
            `f`, `c`, or `r300` for a raise to 300 chips in the hand.

        Raises
        ------
        InputError
            If the action is illegal.
        """
        events = self.table.act(move)
        self._add_finished_hand()._save()
        return events

    def deal(self) -> tuple[TableEvent, ...]:
        """Deal the next hand, and save."""
        events = self.table.deal()
        self._add_finished_hand()._save()
        return events

    def _add_finished_hand(self) -> PracticeSession:
        """Add the current hand to the finished ones if it is over and not yet among them; return the session."""
        if self.table.over and len(self.finished) == self.table.number:
            self.finished = replace(self.finished, hands=(*self.finished.hands, self._current_hand()))
        return self

    def _current_hand(self) -> SessionHand:
        holes, board = self.table.cards
        return SessionHand(self.table.seat, holes, board, self.table.state.line)

    def _save(self) -> None:
        if self.path is None:
            return
        table = self.table
        hands = [*self.finished.hands, *([] if table.over else [self._current_hand()])]
        facts = {
            "format_version": FORMAT_VERSION,
            "kind": "sitting",
            "agent": self.agent,
            "game": format_game(table.rules),
            "game_name": table.rules.name,
            "seed": table.seed,
            "seat": table.fixed_seat,
            "hands": [hand.to_dict() for hand in hands],
        }
        files.write_text(self.path, json.dumps(facts, indent=1) + "\n")

    # --- Review ---

    @cached_property
    def evaluator(self) -> DecisionEvaluator:
        """Evaluator of decisions."""
        return make_evaluator(self.table.agent)

    def review(self, number: int) -> HandReview:
        """Review a finished hand, decision by decision; the result is cached.

        Parameters
        ----------
        number
            Number of the hand, from 0.
        """
        if number not in self._reviews:
            self._reviews[number] = review_hand(self.evaluator, self.finished.hand(number))
        return self._reviews[number]

    def reviews(self) -> list[HandReview]:
        """Review all finished hands."""
        return [self.review(number) for number in range(len(self.finished))]


def _actions_since(start: BettingState, line: str) -> list[str]:
    """Return the actions of a line after those of the start state, without separators of streets."""
    if not line.startswith(start.line):
        raise InputError(f"line {short_repr(line)}: does not begin like the hands of this session")
    return [label for label in split_line(line[len(start.line) :]) if label != "/"]


def _read_hand(entry: FileEntries) -> SessionHand:
    holes = tuple(parse_cards(text, "hole") for text in entry.texts("holes"))
    if len(holes) != 2:
        raise InputError(f"{entry.location}: holes: must be the cards of two seats")
    board = parse_cards(entry.text("board"), "board") if entry.text("board") else ()
    return SessionHand(entry.integer("seat", 0, 1), (holes[0], holes[1]), board, entry.text("line"))


def _read_session(path: Path) -> FileEntries:
    try:
        entries = json.loads(read_text(path, "session", MAX_BYTES))
    except ValueError:
        raise InputError(f"{path}: is not a session: it is not valid JSON") from None
    if not isinstance(entries, dict) or entries.get("kind") != "sitting":
        raise InputError(f"{path}: is not a session; `riverboat play AGENT --out FILE` starts one")
    if entries.get("format_version") != FORMAT_VERSION:
        raise InputError(
            f"{path}: format {short_repr(entries.get('format_version'))}: this release reads {FORMAT_VERSION}"
        )
    return FileEntries(str(path), entries)


# --- Results ---


@dataclass(frozen=True)
class _HumanPlayer:
    """The person as an agent whose strategy is unknown to AIVAT."""

    name: str = HUMAN_NAME

    def check_rules(self, rules: PokerRules) -> None:
        """Accept all games."""

    def act(self, observations: Observations) -> Array:
        """Raise InputError: a person has no strategy to call."""
        raise InputError("a person played this seat and cannot be called")


@dataclass(frozen=True)
class SessionResults:
    """Winnings of the person in chips per hand; None where they cannot be estimated.

    Attributes
    ----------
    hands
        Number of hands.
    won
        Chips won in total.
    unit_chips
        Chips per unit: a thousandth of a big blind, or a hundredth of the pot of a spot.
    unit
        Name of the unit.
    raw
        Mean winnings.
    all_in
        The same with all-ins before the last card replaced by their expected value.
    aivat
        AIVAT estimate, with less variance of cards and of the agent's actions.
    no_aivat_reason
        Why there is no AIVAT estimate.

    Examples
    --------
    >>> SessionResults(1, 100.0, 0.1, "mbb/g", None, None, None, "it needs two or more hands").to_dict()["won"]
    100.0
    """

    hands: int
    won: float  # chips in total
    unit_chips: float  # chips per unit: a thousandth of a big blind, or a hundredth of the pot of a spot
    unit: str
    raw: ConfidenceInterval | None
    all_in: ConfidenceInterval | None  # all-ins before the last card count by expected value
    aivat: ConfidenceInterval | None  # AIVAT estimate, with less variance of cards and of the agent's actions
    no_aivat_reason: str = ""  # why there is no AIVAT estimate

    def to_dict(self) -> dict[str, Any]:
        """Return the results as a JSON object: chips, and means with the half-widths of their 95 % intervals."""
        results: dict[str, Any] = {"hands": self.hands, "won": self.won, "unit": self.unit, "won_unit": "chips"}
        scale = 1.0 / self.unit_chips
        for name, interval in (("raw", self.raw), ("all_in", self.all_in), ("aivat", self.aivat)):
            results[name] = interval and {"mean": interval.mean * scale, "ci95": interval.half_width * scale}
        return {**results, "why_no_aivat": self.no_aivat_reason or None}


def session_results(finished: FinishedHands, agent: Agent | None, progress: Progress | None = None) -> SessionResults:
    """Compute the results of finished hands, with AIVAT if their agent is given.

    Parameters
    ----------
    finished
        Finished hands.
    agent
        Agent that played them; None for no AIVAT estimate.
    progress
        Function of the completed fraction of an agent's value tables.

    Returns
    -------
    SessionResults
        Winnings with intervals.

    References
    ----------
    .. [1] Burch et al., "AIVAT: a new variance reduction technique for agent evaluation in imperfect information
       games", AAAI 2018.

    Examples
    --------
    >>> session = PracticeSession.begin(None, "rule-based", seed=7, game="nolimit-200bb")
    >>> while not session.table.over:
    ...     _ = session.act("c")
    >>> session_results(session.finished, None).hands
    1
    """
    start, won = finished.start, np.array([hand.won or 0.0 for hand in finished.played()])
    pairs = zip(finished.hands, won.tolist(), strict=True)
    adjusted = np.array([_all_in_adjusted(start, hand, chips) for hand, chips in pairs])
    scale, unit = (start.pot / 100, "% of the pot") if start.rules.pot else (start.rules.big_blind / 1000, "mbb/g")
    estimate, reason = None, "it was not requested"
    if agent is not None:
        estimate, reason = _aivat_interval(finished, agent, progress)
    raw, all_in = _mean_interval(won), _mean_interval(adjusted)
    return SessionResults(len(won), float(won.sum()), scale, unit, raw, all_in, estimate, reason)


def _mean_interval(samples: Array) -> ConfidenceInterval | None:
    return SampleSums().add_samples(samples).confidence_interval() if len(samples) > 1 else None


def _all_in_adjusted(start: BettingState, hand: SessionHand, won: float) -> float:
    """Return the winnings `won`, or their expected value over runouts if the hand was all-in with cards to come."""
    rules, end = start.rules, BettingState.from_line(start.rules, hand.line)
    last = max((k for k, action in enumerate(end.history) if action != DEAL), default=0)  # later deals: the runout
    shown = rules.board_sizes[rules.begins + end.history[:last].count(DEAL)]
    if end.folded is not None or shown == rules.board_sizes[-1] or (rules.hole, rules.board_sizes[-1]) != (2, 5):
        return won
    own_hole, other_hole = hand.holes[hand.seat], hand.holes[1 - hand.seat]
    (share, _) = equity(format_cards(own_hole), format_cards(other_hole), board=hand.board[:shown]).shares
    payoffs = end.payoffs(start.spent if rules.pot else (0, 0))
    win, lose = (payoffs[k][hand.seat] for k in ((0, 2) if hand.seat == 0 else (2, 0)))
    return float(win * share + lose * (1 - share))


def _aivat_interval(
    finished: FinishedHands, agent: Agent, progress: Progress | None
) -> tuple[ConfidenceInterval | None, str]:
    rules = finished.start.rules
    if rules.begins or not has_strategies(agent, rules):
        return None, "AIVAT needs whole hands against an agent that has strategies for all hands"
    if len(finished) < 2:
        return None, "it needs two or more hands"
    hands = finished.record()
    person_first = hands.names[0] == HUMAN_NAME  # estimates are for the first player of the record
    players: tuple[Agent, Agent] = (_HumanPlayer(), agent) if person_first else (agent, _HumanPlayer())
    estimates = Aivat(*players, rules, progress=progress).estimate(hands)
    return _mean_interval(estimates.total if person_first else -estimates.total), ""
