"""The contract of an agent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt

import numpy as np

from riverboat.agents.base import Agent, Answering, Chooser, Learner, Strategies, rules_of
from riverboat.core.arrays import Array
from riverboat.games.base import TERMINAL
from riverboat.games.holdem.actions import CALL, END, FOLD, play_move, show_move
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.match_state import settled
from riverboat.games.holdem.observation import Views
from riverboat.games.holdem.rules import Rules, read_game
from riverboat.games.records.hand_records import Played, record
from riverboat.testing.failures import TOLERANCE, at, fail

USUAL_GAME = "nolimit-200bb"  # for agents that play any
_PARTS = ("hand", "seat", "hole", "board", "moves", "length")
_MOST_NUMBERS = 1e7  # in answers for all hands, after which no more are asked for
_SIGMAS = 5  # drawn moves may be so many standard deviations from their share


def check_agent(agent: Agent, rules: Rules | None = None, *, tables: int = 300, seed: int = 0) -> None:
    """Raise unless an agent may sit down at any table of a game.

    - It has a name and takes the rules: those given, its own, or else no-limit hold'em.
    - At `tables` random tables, whose lines have bets of every size and all-ins, it answers with one legal move for each.
    - Its answer depends on the view alone: the same again, alone as in any batch, whatever room a line is given behind its
      end. It leaves the views as they were.
    - It plays whole hands against itself.
    - Where it says probabilities, they are those of legal moves and sum to one; what it does is among them, and over many
      hands as often as it says.
    - Where it answers for all hands at public places (`strategies`), rows are those of legal moves, upwards; they sum to one
      for hands that the board leaves, and others have none. Given the number of a hand (`draw`), what it does in that hand is
      among them; without it, at its first decisions, it is done as often over many hands. Asked again, or in another batch,
      the answers have equal bytes.
    - What it learns from (`observe`) are hands as it saw them: it takes them, also none.
    """
    rules = rules or rules_of(agent) or read_game(USUAL_GAME)
    where = f"agent {agent.name!r}" if isinstance(agent.name, str) and agent.name else "agent without a name"
    if where.endswith("name"):
        fail(where, f"its name is {agent.name!r}", "a text")
    with at(f"{where}: check_rules({rules.name})"):
        agent.check_rules(rules)
    rng = np.random.default_rng(seed)
    views = random_views(rules, tables, rng)
    moves = _moves(agent, views, where)
    _check_pure(agent, views, moves, where, rng)
    _check_self_play(agent, rules, where, rng)
    if isinstance(agent, Chooser):
        _check_shares(agent, views, moves, where)
    if isinstance(agent, Answering):
        _check_answers(agent, views, moves, where)
    if isinstance(agent, Learner):
        _check_learning(agent, rules, where)


# --- tables -----------------------------------------------------------------------------------


def random_views(rules: Rules, tables: int, rng: np.random.Generator) -> Views:
    """Tables after random lines: small raises, odd ones, large ones, all-ins."""
    states: list[Betting] = []
    while len(states) < tables:
        states += random_line(rules, rng)[:: int(rng.integers(1, 3))]
    states = states[:tables]
    deals = [rng.permutation(rules.deck.cards)[: rules.hole + rules.board_sizes[-1]] for _ in states]
    boards = [
        deal[rules.hole : rules.hole + rules.board_sizes[state.street]]
        for deal, state in zip(deals, states, strict=True)
    ]
    return Views.of(
        states, [deal[: rules.hole] for deal in deals], boards, rng.integers(0, 2**31, len(states)).tolist()
    )


def random_line(rules: Rules, rng: np.random.Generator) -> list[Betting]:
    """The states of one random hand in which somebody is to act."""
    state, states = Betting.start(rules), []
    shape = rng.random()  # some lines have many raises, some few
    while state.actor != TERMINAL:
        states.append(state)
        span, roll = state.raise_range(), rng.random()
        if span is None or roll > shape:
            label = "f" if state.legal("f") and rng.random() < 0.05 else "c"
        elif rules.limit:
            label = "r"
        else:
            kind, pot = rng.random(), 2 * max(state.spent)
            total = (
                span.least
                if kind < 0.3
                else span.most
                if kind > 0.97
                else int(max(state.spent) + pot * rng.exponential())
            )
            label = f"r{min(max(total, span.least), span.most)}"
        state = settled(state.play(label))
    return states


# --- promises ---------------------------------------------------------------------------------


def _moves(agent: Agent, views: Views, where: str, states: Sequence[Betting] = ()) -> Array:
    """What the agent does; refused unless it is one legal move for each table, whose `states` may be known."""
    before = [getattr(views, part).copy() for part in _PARTS]
    with at(f"{where}: act"):
        moves = np.asarray(agent.act(views))
    if moves.shape != (len(views),) or moves.dtype.kind not in "iu":
        fail(where, f"{len(views)} views are answered by {moves.dtype} {moves.shape}", "one whole number for each")
    for part, old in zip(_PARTS, before, strict=True):
        if not np.array_equal(getattr(views, part), old):
            fail(where, f"it overwrites `{part}` of the views", "views that stay as they were")
    for i, move in enumerate(moves.tolist()):
        _check_legal(views, i, states[i] if states else views.betting(i), move, where)
    return moves


def _check_legal(views: Views, i: int, state: Betting, move: int, where: str) -> None:
    span = state.raise_range()
    right = move == CALL or (move == FOLD and state.legal("f"))
    if move > 0 and span is not None:
        right = span.least <= move <= span.most
    if not right:
        totals = "" if span is None else f", or a raise to {span.least}-{span.most}"
        folds = " or fold (-1)" if state.legal("f") else ""
        fail(f"{where} at {views.match_state(i)}", f"it plays {move}", f"call (0){folds}{totals}")


def _check_pure(agent: Agent, views: Views, moves: Array, where: str, rng: np.random.Generator) -> None:
    wide = np.full((len(views), views.moves.shape[1] + 7), END, np.int32)
    wide[:, : views.moves.shape[1]] = views.moves
    order = rng.permutation(len(views))
    some = rng.permutation(len(views))[:40]
    alone = [agent.act(views.take(np.array([i])))[0] for i in some]
    for answered, expected, how in (
        (agent.act(views), moves, "asked again"),
        (agent.act(replace(views, moves=wide)), moves, "with more room behind the lines"),
        (agent.act(views.take(order)), moves[order], "in another order"),
        (np.array(alone), moves[some], "one table at a time"),
    ):
        differ = np.flatnonzero(np.asarray(answered) != expected)
        if len(differ):
            was, now = int(expected[differ[0]]), int(np.asarray(answered)[differ[0]])
            fail(where, f"{how}, it plays {now} at {len(differ)} tables where it played {was}", "the same moves")


def _check_self_play(agent: Agent, rules: Rules, where: str, rng: np.random.Generator, hands: int = 12) -> None:
    """Whole hands, both seats."""
    going = [(Betting.start(rules), rng.permutation(rules.deck.cards), number) for number in range(hands)]
    for _ in range(10_000):
        if not going:
            return
        boards = [deal[2 * rules.hole :][: rules.board_sizes[state.street]] for state, deal, _ in going]
        holes = [deal[state.turn * rules.hole :][: rules.hole] for state, deal, _ in going]
        states = [state for state, _, _ in going]
        views = Views.of(states, holes, boards, [number for _, _, number in going])
        moves = _moves(agent, views, where, states).tolist()
        after = [(play_move(state, move), deal, n) for (state, deal, n), move in zip(going, moves, strict=True)]
        going = [table for table in after if table[0].actor != TERMINAL]
    fail(where, "a hand against itself has not ended after 10,000 moves", "an end")


def _check_shares(agent: Chooser, views: Views, moves: Array, where: str, draws: int = 4000) -> None:
    with at(f"{where}: probabilities"):
        choices = agent.probabilities(views)
    if len(choices) != len(views):
        fail(where, f"{len(views)} views have {len(choices)} rows of probabilities", "one row for each")
    for i, (choice, move) in enumerate(zip(choices, moves.tolist(), strict=True)):
        place = f"{where} at {views.match_state(i)}"
        shares = dict(choice)
        if len(shares) < len(choice) or not all(p > 0 for p in shares.values()):
            fail(place, f"probabilities {choice[:6]}", "each move once, above zero")
        if abs(sum(shares.values()) - 1) > TOLERANCE:
            fail(place, f"probabilities sum to {sum(shares.values()):g}", "one")
        if move not in shares:
            fail(place, f"it plays {show_move(move, views.rules)}, which has no probability", "a move that has one")
        state = views.betting(i)
        for other in [*shares][:8]:
            _check_legal(views, i, state, other, place)
    mixed = [i for i, choice in enumerate(choices) if 1 < len(choice) < 20][:3]
    for i in mixed:
        many = replace(views.take(np.full(draws, i)), hand=np.arange(draws))
        if not all(dict(choice) == dict(choices[i]) for choice in agent.probabilities(many)):
            continue  # the number of the hand also decides how the line is read
        drawn = np.asarray(agent.act(many))
        for move, p in choices[i]:
            share = float((drawn == move).mean())
            if abs(share - p) > _SIGMAS * sqrt(p * (1 - p) / draws) + 1 / draws:
                fail(
                    f"{where} at {views.match_state(i)}",
                    f"{show_move(move, views.rules)} is played in {share:.1%} of {draws:,} hands",
                    f"{p:.1%}, as it says",
                )


# --- all hands --------------------------------------------------------------------------------


def _check_answers(agent: Answering, views: Views, moves: Array, where: str, asked: int = 12) -> None:
    """One place at a time, and fewer where answers are large: they may have a column for every legal raise."""
    alone: list[Strategies] = []
    numbers = 0
    for i in range(min(asked, len(views))):
        if numbers > _MOST_NUMBERS:
            break
        one, place = views.take(np.array([i])), f"{where} at {views.match_state(i)}"
        with at(f"{place}: strategies"):
            mean, drawn = agent.strategies(one.places), agent.strategies(one.places, one.hand)
        _check_rows(mean, one, f"{where}: strategies")
        _check_rows(drawn, one, f"{where}: strategies with draw")
        if mean.probabilities.tobytes() != agent.strategies(one.places).probabilities.tobytes():
            fail(place, "asked again, its strategy is another", "an answer that does not depend on earlier questions")
        (hand,) = _numbers(one)
        if not drawn.chance_of(moves[[i]])[0, hand] > 0:
            played = show_move(int(moves[i]), views.rules)
            fail(place, f"it plays {played}, which its strategy with this draw never does", "a move that it plays")
        if not (one.places.decisions()[0].actor == one.seat[0]).any():
            _check_means(agent, one, mean, hand, place)
        alone += [mean] * (len(alone) < 2)
        numbers += mean.probabilities.size
    together = agent.strategies(views.take(np.arange(len(alone))).places)
    for i, mean in enumerate(alone):
        if not np.array_equal(together.probabilities[i, :, : mean.moves.shape[1]], mean.probabilities[0]):
            fail(where, "its strategy at a place depends on the other places of a batch", "the same answer")


def _check_means(agent: Answering, one: Views, mean: Strategies, hand: int, place: str, draws: int = 4000) -> None:
    """At its first decision nothing is known of what it drew: over many hands it plays as often as it says."""
    if not isinstance(agent, Agent):
        return
    drawn = np.asarray(agent.act(replace(one.take(np.zeros(draws, np.int64)), hand=np.arange(draws))))
    for move, p in zip(mean.moves[0].tolist()[:20], mean.probabilities[0, hand].tolist(), strict=False):
        share = float((drawn == move).mean()) if move != END else 0.0
        if abs(share - p) > _SIGMAS * sqrt(p * (1 - p) / draws) + 1 / draws:
            label = show_move(move, one.rules)
            fail(place, f"{label} is played in {share:.1%} of {draws:,} hands", f"{p:.1%}, as its strategy says")


def _numbers(views: Views) -> list[int]:
    """The numbers of the hands held, as `deck.hands` has them."""
    number = {frozenset(hand): h for h, hand in enumerate(views.rules.deck.hands.tolist())}
    return [number[frozenset(hole)] for hole in views.hole.tolist()]


def _check_rows(answers: Strategies, views: Views, where: str) -> None:
    places, n = views.places, len(views)
    columns = answers.moves.shape[1]
    if answers.probabilities.shape != (n, views.rules.deck.hand_count, columns) or len(answers.moves) != n:
        fail(
            where,
            f"{answers.probabilities.shape} probabilities, moves {answers.moves.shape}",
            "[n, hands, moves], [n, moves]",
        )
    if not np.array_equal(answers.actor, views.seat):
        fail(where, f"it says that seats {answers.actor[:6].tolist()} act", f"{views.seat[:6].tolist()}")
    sums = answers.probabilities.sum(axis=2)
    if answers.probabilities.min(initial=0) < 0 or np.abs(sums - places.live).max(initial=0) > TOLERANCE:
        fail(where, f"rows sum to {sums[0, :4].tolist()} …", "one for each hand that the board leaves, none for others")
    for i in range(n):
        moves = [move for move in answers.moves[i].tolist() if move != END]
        if moves != sorted(set(moves)) or (answers.moves[i, len(moves) :] != END).any():
            fail(f"{where} at {views.match_state(i)}", f"moves {moves[:8]}", "each once, upwards, END behind the last")
        for move in [*moves[:6], *moves[-2:]]:
            _check_legal(views, i, views.betting(i), move, where)


def _check_learning(agent: Learner, rules: Rules, where: str) -> None:
    state = Betting.start(rules)
    while state.actor != TERMINAL:
        state = settled(state.play("f" if state.legal("f") else "c"))
    deck = rules.deck.cards.tolist()
    cards = tuple(deck[: rules.hole]), tuple(deck[rules.hole : 2 * rules.hole]), tuple(deck[-rules.board_sizes[-1] :])
    hands = record([Played(0, (agent.name, f"not {agent.name}"), state, cards)], rules).seen_by(agent.name)
    with at(f"{where}: observe"):
        agent.observe(hands)
        agent.observe(hands.take(np.zeros(0, np.int64)))
