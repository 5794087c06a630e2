"""`rb.play`: a table at which a person plays hands against an agent.

    table = play("rule-based", seed=1)
    table.hole, table.legal()       # ('Kd', 'Ts'), ('f', 'c', 'r200 to r20000')
    table.act("c")                  # the agent responds; returns the new events, which are also in table.events
    table.deal()                    # the next hand, once this one is over

The table has no clock and no screen: a program, a page or the terminal reads its state and passes actions to it.
Actions are written as in the ACPC protocol: `f`, `c`, `r300` with the total over the whole hand.

A solved spot (`runs/spot`) deals hands of its own subgame: from its ranges, at its root, in its tree. Winnings there
are a share of the final pot less the chips put in since the root.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from riverboat.agents.base import Agent, PolicyAgent
from riverboat.agents.search import SearchAgent
from riverboat.api import agent as agent_api
from riverboat.api.options import Seed, checked
from riverboat.cards.notation import format_cards
from riverboat.cards.ranking import rank
from riverboat.compiled.jit import is_cached
from riverboat.core import validation
from riverboat.core.errors import InputError
from riverboat.engines.rules import board_kernels
from riverboat.engines.tables import COMPACT, parse_table_format
from riverboat.games.base import TERMINAL
from riverboat.games.holdem.actions import format_action
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.match_state import HoleCards, Holes, MatchState, parse_match_state
from riverboat.games.holdem.observations import Observations
from riverboat.games.holdem.rules import PokerRules
from riverboat.subgames.search.report import SubgameReport

EventKind: TypeAlias = Literal["hand", "street", "move", "showdown", "won"]


@dataclass(frozen=True)
class TableEvent:
    """Public event at a table.

    Attributes
    ----------
    kind
        hand, street, move, showdown or won.
    state
        Betting state before an action, else after the event.
    who
        Seat of an action.
    move
        The action.
    won
        At the end of a hand: chips won by the person.

    Examples
    --------
    >>> play("always-call", seed=1).events[0].kind
    'hand'
    """

    kind: EventKind
    state: BettingState  # before an action, else after the event
    who: int | None = None  # seat of an action
    move: str = ""
    won: float = 0  # at the end of a hand: chips won by the person


class PlayTable:
    """Table of a person and an agent, hand after hand, with full stacks at the start of each.

    The seats alternate, unless the person has chosen one. Cards depend only on the seed and the number of the hand.

    Parameters
    ----------
    agent
        The agent.
    rules
        The game.
    seed
        Seed of the cards.
    seat
        Seat of the person; by default seats alternate.
    dealt
        Whether to deal the first hand.

    Examples
    --------
    >>> table = play("always-call", seed=1)
    >>> table.act("f")[-1].kind
    'won'
    """

    def __init__(
        self, agent: Agent, rules: PokerRules, seed: int, seat: int | None = None, *, dealt: bool = True
    ) -> None:
        if seat not in (None, 0, 1):
            raise InputError(f"seat={seat}: must be 0, or 1, which is the dealer")
        self.agent, self.rules, self.seed, self.fixed_seat = agent, rules, seed, seat
        self.number = -1  # number of the hand, from 0
        self.version = 0  # deals and actions so far: different for any two states of a table
        self.hands = 0  # finished hands
        self.won: float = 0  # chips that the person has won in finished hands
        self.events: list[TableEvent] = []  # events of this hand
        self.start: BettingState = getattr(agent, "start", None) or BettingState.start(rules).deal_due_streets()
        self.state = self.start
        self.cards: tuple[Holes, HoleCards] = (((), ()), ())
        if dealt:
            self.deal()

    def __repr__(self) -> str:
        return f"<Table with {self.agent.name}, {self.rules.name}: {self.won:+,} chips in {self.hands:,} hands>"

    # --- Observation of the person ---

    @property
    def seat(self) -> int:
        """Seat of the person; seat 1 is the dealer."""
        return 1 - self.number % 2 if self.fixed_seat is None else self.fixed_seat

    @property
    def over(self) -> bool:
        """Whether the hand is over."""
        return self.state.actor == TERMINAL

    @property
    def hole(self) -> tuple[str, ...]:
        """Hole cards of the person."""
        return _card_names(self.cards[0][self.seat])

    @property
    def board(self) -> tuple[str, ...]:
        """Board cards so far; all of them at a showdown."""
        return _card_names(self.cards[1][: self.rules.board_sizes[self.state.street]])

    @property
    def shown_cards(self) -> tuple[str, ...] | None:
        """Hole cards of the agent, if they are shown, else None."""
        if not self.over or self.state.folded is not None:
            return None
        return _card_names(self.cards[0][1 - self.seat])

    def legal(self) -> tuple[str, ...]:
        """Return the legal actions of the person, such as `f`, `c`, `r200 to r20000`; in limit games `r`.

        A finished hand has none.
        """
        if self.over:
            return ()
        menu = self._tree_actions()
        if menu is not None:
            return menu
        actions = ["f", "c"] if self.state.to_call else ["c"]
        raise_bounds = self.state.raise_range()
        if raise_bounds is not None:
            least, most = f"r{raise_bounds.least}", f"r{raise_bounds.most}"
            actions.append("r" if self.rules.limit else least if least == most else f"{least} to {most}")
        return tuple(actions)

    def _tree_actions(self) -> tuple[str, ...] | None:
        """Return the actions of the agent's tree in this state, if the agent can only play those; else None."""
        menu = getattr(self.agent, "menu", None)
        return None if menu is None else tuple(menu(self.state, self.cards[1]))

    def to_dict(self) -> dict[str, Any]:
        """Return the person's observation as a JSON object."""
        shown = self.shown_cards
        return {
            "agent": self.agent.name,
            "game": self.rules.name,
            "hand": self.number + 1,
            "seat": self.seat,
            "hole": list(self.hole),
            "board": list(self.board),
            "line": self.state.line,
            "pot": self.state.pot,
            "to_call": 0 if self.over else self.state.to_call,
            "legal": list(self.legal()),
            "over": self.over,
            "shown": None if shown is None else list(shown),
            "hands": self.hands,
            "won": self.won,
            "unit": "chips",
            "seed": self.seed,
        }

    # --- Events ---

    def deal(self) -> tuple[TableEvent, ...]:
        """Deal the next hand; the agent acts if it is first."""
        if self.number >= 0 and not self.over:
            raise InputError(f"hand {self.number + 1}: is not over; act first: {', '.join(self.legal())}")
        rng = np.random.default_rng([self.seed, self.number + 1])
        draw_cards = getattr(self.agent, "deal", self._deal_from_deck)
        with self._rollback_on_error():
            first, second, board = draw_cards(rng)
            self._begin((first, second), board)
            return self._let_agent_act(0)

    def _deal_from_deck(self, rng: np.random.Generator) -> tuple[HoleCards, HoleCards, HoleCards]:
        """Draw the hole cards of seats 0 and 1 and the board from the full deck."""
        hole = self.rules.hole
        cards = rng.permutation(self.rules.deck.cards)[: 2 * hole + self.rules.board_sizes[-1]].tolist()
        return tuple(cards[:hole]), tuple(cards[hole : 2 * hole]), tuple(cards[2 * hole :])

    @contextmanager
    def _rollback_on_error(self) -> Iterator[None]:
        """Undo a deal or an action if an error occurs, for example in the agent."""
        before = self.number, self.version, self.hands, self.won, list(self.events), self.state, self.cards
        try:
            yield
        except BaseException:
            self.number, self.version, self.hands, self.won, self.events, self.state, self.cards = before
            raise

    def _begin(self, holes: Holes, board: HoleCards) -> None:
        self.number, self.version = self.number + 1, self.version + 1
        self.cards = holes, board
        self.state, self.events = self.start, []
        self._add_event("hand")

    def replay(self, holes: Holes, board: HoleCards, moves: Sequence[str]) -> None:
        """Replay the next hand as it was played before, without calls to the agent. It may be unfinished.

        Parameters
        ----------
        holes
            Hole cards of both seats.
        board
            All board cards.
        moves
            Actions in their order.
        """
        if self.number >= 0 and not self.over:
            raise InputError(f"hand {self.number + 1}: is not over, so no other can be replayed")
        self._begin(holes, board)
        for move in moves:
            if self.over:
                raise InputError(f"hand {self.number + 1}: is over at {self.state.line!r}, so {move!r} cannot follow")
            self._move(move, self.state.actor)

    def resume(self) -> tuple[TableEvent, ...]:
        """Let the agent act after a replay, if it is its turn."""
        return self._let_agent_act(len(self.events))

    def act(self, move: str) -> tuple[TableEvent, ...]:
        """Apply an action of the person and let the agent respond; return the new events.

        They end with the person's next turn or with the hand.

        Parameters
        ----------
        move
            Action as in the ACPC protocol: f, c, or r300 with the total over the whole hand.
        """
        validation.check_text("move", move)
        if self.over:
            raise InputError(f"{move!r}: hand {self.number + 1} is over; deal the next one")
        menu = self._tree_actions()
        if menu is not None and move not in menu and self.state.find_action(move) is not None:
            raise InputError(
                f"{move!r} at {self.state.line!r}: not in the tree of {self.agent.name}: {', '.join(menu)}"
            )
        before = len(self.events)
        with self._rollback_on_error():
            self._move(move, self.seat)
            return self._let_agent_act(before)

    def _let_agent_act(self, first_event: int) -> tuple[TableEvent, ...]:
        """Let the agent act while it is its turn; return the events of the hand from index `first_event` on."""
        while not self.over and self.state.actor != self.seat:
            hole, board = self.cards[0][1 - self.seat], self.cards[1][: self.rules.board_sizes[self.state.street]]
            view = Observations.from_betting([self.state], [hole], [board], [self.number])
            self._move(agent_move(self.agent, view), 1 - self.seat)
        return tuple(self.events[first_event:])

    def _move(self, move: str, seat: int) -> None:
        before = self.state
        after = before.play(before.parse_action(move))
        self._add_event("move", before, who=seat, move=move)
        self.state, self.version = after, self.version + 1
        if self.over:
            if after.folded is None:
                self._add_event("showdown")
            won = chips_won(self.start, after, *self.cards, self.seat)
            self.hands, self.won = self.hands + 1, self.won + won
            self._add_event("won", won=won)
        elif after.street > before.street:
            self._add_event("street")

    def _add_event(self, kind: EventKind, state: BettingState | None = None, **more: Any) -> None:
        self.events.append(TableEvent(kind, self.state if state is None else state, **more))


def chips_won(start: BettingState, end: BettingState, holes: Holes, board: HoleCards, seat: int) -> float:
    """Return the chips that a seat has won at the end of a hand, as int if they are whole.

    Parameters
    ----------
    start
        State at the start of the hand.
    end
        State at its end.
    holes
        Hole cards of both seats.
    board
        All board cards.
    seat
        The seat.

    Returns
    -------
    float
        Chips won; negative if they are lost.

    Examples
    --------
    >>> start = BettingState.start(agent_api.rules_for([], "kuhn"))
    >>> end = BettingState.from_line(start.rules, "rf")
    >>> chips_won(start, end, ((0,), (1,)), (), 0)
    1
    """
    better = 0
    if end.folded is None:
        first, second = (rank((*hole, *board)) for hole in holes)
        better = (first > second) - (first < second)
    won = end.payoffs(start.spent if start.rules.pot else (0, 0))[1 - better][seat]
    return int(won) if won == int(won) else won


def _card_names(cards: HoleCards) -> tuple[str, ...]:
    return tuple(format_cards([card]) for card in cards)


def agent_move(agent: Agent, view: Observations) -> str:
    """Return the agent's action at one table; the error for an illegal action names the state.

    Parameters
    ----------
    agent
        The agent.
    view
        Observation of one table.

    Returns
    -------
    str
        The action, such as c or r300.

    Raises
    ------
    InputError
        If the agent's action is illegal.

    Examples
    --------
    >>> view = Observations.from_match_state("MATCHSTATE:0:3:cr:Ks|", agent_api.rules_for([], "leduc"))
    >>> agent_move(agent_api.agent("always-call"), view)
    'c'
    """
    action = int(agent.act(view)[0])
    try:
        view.betting(0).apply_action(action)
    except InputError as error:
        raise InputError(f"agent {agent.name!r}, {view.match_state(0)}: {error}") from None
    return format_action(action, view.rules)


@checked
def play(
    agent: str | Agent, *, seed: int = 0, game: str | PokerRules | None = None, seat: int | None = None
) -> PlayTable:
    """Sit down with an agent; the first hand is dealt.

    Parameters
    ----------
    agent
        Name of an agent, or an agent.
    seed
        Seed of the cards, and of a randomized agent whose name has none.
    game
        Name of a game, path of a game file, or rules; by default the game that the agent plays.
    seat
        Seat of the person: 0 (big blind, out of position) or 1 (dealer). By default seats alternate.

    Returns
    -------
    PlayTable
        Table with the first hand dealt.

    Raises
    ------
    InputError
        If there is no such agent or game, or the agent cannot play it.

    Examples
    --------
    >>> play("always-call", seed=1).legal()[0]
    'f'
    """
    player = agent_api.agent(agent, seed)
    return PlayTable(player, agent_api.rules_for([player], game), seed, seat)


# --- One decision ---


@dataclass(frozen=True, eq=False)
class AgentDecision:
    """An agent's decision in one match state.

    Attributes
    ----------
    agent
        Name of the agent.
    state
        The match state.
    action
        The sampled action.
    probabilities
        Probability of each action; None if the agent does not report them.
    seed
        Seed of the agent's random choices.
    search
        Report of the agent's search; None if it was not requested.

    Examples
    --------
    >>> act("always-call", "MATCHSTATE:0:30:cr300c/:9s8h|/8c8d5c").action
    'c'
    """

    agent: str
    state: MatchState
    action: str
    probabilities: Mapping[str, float] | None
    seed: int
    search: SubgameReport | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the decision as a JSON object."""
        betting, search = self.state.betting, self.search
        return {
            "agent": self.agent,
            "game": betting.rules.name,
            "match_state": str(self.state),
            "action": self.action,
            "reply": self.state.reply(self.action),
            "probabilities": None if self.probabilities is None else dict(self.probabilities),
            "pot": betting.pot,
            "to_call": betting.to_call,
            "seed": self.seed,
            **({} if search is None else {"search": {**search.summary(), "hands_here": search.hands()}}),
        }


def act(
    agent: str | Agent, state: str, *, explain: bool = False, seed: Seed = 0, game: str | PokerRules | None = None
) -> AgentDecision:
    """Compute an agent's action probabilities in one match state, and the action that it samples.

    Parameters
    ----------
    agent
        Name of an agent, or an agent.
    state
        Match state: 'MATCHSTATE:0:30:cr300c/:9s8h|/8c8d5c'.
    explain
        Print the search result: subgame, ranges, margins.
    seed
        Seed of the agent's random choices.
    game
        A game or .game file; by default the agents' game.

    Returns
    -------
    AgentDecision
        Probabilities and the sampled action.

    Raises
    ------
    InputError
        If the state is invalid, or a report is requested from an agent that does not search there.

    Examples
    --------
    >>> decision = act("always-raise", "MATCHSTATE:0:30:cr300c/:9s8h|/8c8d5c")
    >>> decision.probabilities
    {'r400': 1.0}
    """
    player = agent_api.agent(agent, seed)
    rules = agent_api.rules_for([player], game)
    parsed = parse_match_state(state.strip(), rules)
    views = Observations.from_match_states([parsed])
    report = _explain_search(player, views) if explain else None
    label = agent_move(player, views)
    choice = player.probabilities(views)[0] if isinstance(player, PolicyAgent) else None
    named = None if choice is None else {format_action(move, rules): p for move, p in choice}
    return AgentDecision(agent if isinstance(agent, str) else player.name, parsed, label, named, seed, report)


def _explain_search(agent: Agent, views: Observations) -> SubgameReport:
    """Return the report of the agent's search in this state."""
    explain = getattr(agent, "explain", None)
    if explain is None:
        raise InputError(f"agent {agent.name!r} does not search: --explain is for agents such as demo?search=turn")
    report: SubgameReport | None = explain(views)
    if report is None:
        raise InputError(
            f"agent {agent.name!r} does not search on this street: --explain needs a solved subgame; "
            "`riverboat show` prints the blueprint's strategy for all hands"
        )
    return report


def needs_compilation(agent: Agent) -> bool:
    """Return whether the first decision of an agent compiles kernels, which takes seconds once.

    Parameters
    ----------
    agent
        An agent.

    Returns
    -------
    bool
        True if the agent searches and its kernels are not cached.

    Examples
    --------
    >>> needs_compilation(agent_api.agent("always-call"))
    False
    """

    return isinstance(agent, SearchAgent) and not is_cached(board_kernels(None, parse_table_format(COMPACT)).traverse)


# --- Actions in words ---


def describe_action(label: str, state: BettingState) -> str:
    """Return a legal action in words: fold, check, call 50, bet 300, raise to 900.

    Parameters
    ----------
    label
        The action, such as c or r300.
    state
        State before it.

    Returns
    -------
    str
        The action as players say it; a raise has the total of this street.

    Examples
    --------
    >>> describe_action("c", BettingState.start(agent_api.rules_for([], "nolimit-200bb")))
    'call 50'
    """
    if label == "f":
        return "fold"
    after = state.apply_action(state.parse_action(label))
    spent = after.spent[state.turn]
    all_in = " (all-in)" if state.rules.stacks is not None and spent == state.rules.stacks[state.turn] else ""
    if label == "c":
        return f"call {state.to_call:,}{all_in}" if state.to_call else "check"
    if not has_bet(state):
        return f"bet {spent - state.spent[state.turn]:,}{all_in}"
    return f"raise to {spent - state.committed_before_street:,}{all_in}"  # total on this street, as players say it


def has_bet(state: BettingState) -> bool:
    """Return whether somebody has bet on this street; a big blind is a bet, antes are not.

    Parameters
    ----------
    state
        A betting state.

    Returns
    -------
    bool
        True if a raise is called a raise there, not a bet.

    Examples
    --------
    >>> has_bet(BettingState.start(agent_api.rules_for([], "nolimit-200bb")))
    True
    """
    return bool(state.to_call) or (state.street == 0 and state.rules.blinds[0] != state.rules.blinds[1])
