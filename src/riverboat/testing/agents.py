"""Contract suite for agents."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np

from riverboat.agents.base import Agent, ObservingAgent, PolicyAgent, PublicPolicy, StrategyBatch, rules_of_agents
from riverboat.agents.registry import make_agent, require_agent
from riverboat.core.arguments import PositiveCount, Seed, checked
from riverboat.core.arrays import Array
from riverboat.core.errors import short_repr
from riverboat.games.base import TERMINAL
from riverboat.games.holdem.actions import CALL, END_OF_LINE, FOLD, format_action
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.hand_records import RecordedHand, build_records
from riverboat.games.holdem.observations import Observations
from riverboat.games.holdem.rules import PokerRules, read_game
from riverboat.testing.failures import TOLERANCE, fail, report_location

DEFAULT_GAME = "nolimit-200bb"  # for agents that play any game
_OBSERVATION_FIELDS = ("hand", "seat", "hole", "board", "moves", "length")
_MAX_NUMBERS = 1e7  # limit of numbers in strategies for all hands, after which no more are checked
_NUM_HANDS = 12  # of the agent against itself
_NUM_STATES = 12  # public states whose strategies are checked
_NUM_DRAWS = 4000  # hands whose actions are counted at one decision
_SIGMAS = 5  # standard deviations that sampled frequencies may differ from their probabilities


@checked
def check_agent(
    agent: str | Agent, rules: str | PokerRules | None = None, *, tables: PositiveCount = 300, seed: Seed = 0
) -> None:
    """Check that an agent can play any table of a game; raise AssertionError if not.

    Parameters
    ----------
    agent
        Agent to check, or its name.
    rules
        Game to play, or its name; by default the agent's own game, or else no-limit hold'em.
    tables
        Number of random tables.
    seed
        Seed of the tables.

    Raises
    ------
    AssertionError
        If the agent breaks the contract; the message says where, what, and what was expected.

    Notes
    -----
    - It has a name and accepts the rules.
    - At `tables` random tables, whose lines have bets of every size and all-ins, it returns one legal action for each.
    - Its actions depend only on the observations: they are the same again, alone or in any batch, and with any
      padding after the lines. It does not change the observations.
    - It plays whole hands against itself.
    - If it has `probabilities`, they are those of legal actions and sum to one. Its actions are among them, and over
      many hands have these frequencies.
    - If it has strategies for all hands at public states (`strategies`), rows have legal actions in ascending order.
      They sum to one for unblocked hands and are zero for others. With the number of a hand (`draw`) its action in
      that hand is among them. Without it, at its first decisions, actions over many hands have these frequencies.
      Repeated calls and other batches give equal bytes.
    - If it learns (`observe`), it accepts hands as it saw them, also none.

    Examples
    --------
    >>> check_agent("always-call", tables=20)
    """
    agent = make_agent(agent) if isinstance(agent, str) else require_agent(agent, f"agent={short_repr(agent)}")
    rules = read_game(rules) if isinstance(rules, str) else rules
    rules = rules or rules_of_agents(agent) or read_game(DEFAULT_GAME)
    if not isinstance(agent.name, str) or not agent.name:
        fail("agent without a name", f"its name is {agent.name!r}", "a text")
    where = f"agent {agent.name!r}"
    with report_location(f"{where}: check_rules({rules.name})"):
        agent.check_rules(rules)
    rng = np.random.default_rng(seed)
    observations = random_views(rules, tables, rng)
    actions = _checked_actions(agent, observations, where)
    _check_pure(agent, observations, actions, where, rng)
    _check_self_play(agent, rules, where, rng)
    if isinstance(agent, PolicyAgent):
        _check_probabilities(agent, observations, actions, where)
    if isinstance(agent, PublicPolicy):
        _check_strategies(agent, observations, actions, where)
    if isinstance(agent, ObservingAgent):
        _check_learning(agent, rules, where)


# --- Random tables ---


def random_views(rules: PokerRules, tables: int, rng: np.random.Generator) -> Observations:
    """Return observations after random lines with small, odd, large and all-in raises.

    Parameters
    ----------
    rules
        Game.
    tables
        Number of tables.
    rng
        Random generator.

    Returns
    -------
    Observations
        One for each table, of the player to act.

    Examples
    --------
    >>> len(random_views(read_game("nolimit-200bb"), 5, np.random.default_rng(0)))
    5
    """
    states: list[BettingState] = []
    while len(states) < tables:
        states += random_line(rules, rng)[:: int(rng.integers(1, 3))]
    states = states[:tables]
    deals = [rng.permutation(rules.deck.cards)[: rules.hole + rules.board_sizes[-1]] for _ in states]
    boards = [d[rules.hole :][: rules.board_sizes[state.street]] for d, state in zip(deals, states, strict=True)]
    numbers = rng.integers(0, 2**31, len(states)).tolist()
    return Observations.from_betting(states, [deal[: rules.hole] for deal in deals], boards, numbers)


def random_line(rules: PokerRules, rng: np.random.Generator) -> list[BettingState]:
    """Return the decisions of one random hand.

    Parameters
    ----------
    rules
        Game.
    rng
        Random generator.

    Returns
    -------
    list of BettingState
        States at which a player acts, from the first on.

    Examples
    --------
    >>> random_line(read_game("nolimit-200bb"), np.random.default_rng(0))[0].line
    ''
    """
    state, states = BettingState.start(rules), []
    raise_rate = rng.random()  # raise frequency of this line
    while state.actor != TERMINAL:
        states.append(state)
        legal, roll = state.raise_range(), rng.random()
        if legal is None or roll > raise_rate:
            action = FOLD if state.to_call and rng.random() < 0.05 else CALL
        elif rules.limit:
            action = legal.least
        else:
            kind, spent = rng.random(), max(state.spent)
            total = legal.least if kind < 0.3 else legal.most
            if 0.3 <= kind <= 0.97:
                total = int(spent + 2 * spent * rng.exponential())
            action = min(max(total, legal.least), legal.most)
        state = state.play(action)
    return states


# --- Checks ---


def _checked_actions(agent: Agent, observations: Observations, where: str) -> Array:
    """Return the agent's actions; fail unless there is one legal action for each table."""
    before = [getattr(observations, part).copy() for part in _OBSERVATION_FIELDS]
    with report_location(f"{where}: act"):
        moves = np.asarray(agent.act(observations))
    if moves.shape != (len(observations),) or moves.dtype.kind not in "iu":
        what = f"{len(observations)} views are answered by {moves.dtype} {moves.shape}"
        fail(where, what, "one whole number for each")
    for part, old in zip(_OBSERVATION_FIELDS, before, strict=True):
        if not np.array_equal(getattr(observations, part), old):
            fail(where, f"it overwrites `{part}` of the views", "views that stay as they were")
    for i, move in enumerate(moves.tolist()):
        _check_legal(observations, i, observations.betting(i), move, where)
    return moves


def _check_legal(observations: Observations, i: int, state: BettingState, move: int, where: str) -> None:
    if not state.is_legal(move):
        bounds = state.raise_range()
        totals = "" if bounds is None else f", or a raise to {bounds.least}-{bounds.most}"
        folds = " or fold (-1)" if state.to_call else ""
        fail(f"{where} at {observations.match_state(i)}", f"it plays {move}", f"call (0){folds}{totals}")


# Fails if actions depend on earlier calls, padding, order of the tables, or the rest of the batch.
def _check_pure(agent: Agent, observations: Observations, moves: Array, where: str, rng: np.random.Generator) -> None:
    padded = np.full((len(observations), observations.moves.shape[1] + 7), END_OF_LINE, np.int32)
    padded[:, : observations.moves.shape[1]] = observations.moves
    order = rng.permutation(len(observations))
    sample = rng.permutation(len(observations))[:40]
    alone = [agent.act(observations.take(np.array([i])))[0] for i in sample]
    for actions, expected, circumstance in (
        (agent.act(observations), moves, "called again"),
        (agent.act(replace(observations, moves=padded)), moves, "with more padding after the lines"),
        (agent.act(observations.take(order)), moves[order], "in another order"),
        (np.array(alone), moves[sample], "one table at a time"),
    ):
        different = np.flatnonzero(np.asarray(actions) != expected)
        for i in different[:1]:
            what = f"{circumstance}, it plays {actions[i]} at {len(different)} tables where it played {expected[i]}"
            fail(where, what, "the same moves")


def _check_self_play(agent: Agent, rules: PokerRules, where: str, rng: np.random.Generator) -> None:
    """Play whole hands with the agent in both seats."""
    active = [(BettingState.start(rules), rng.permutation(rules.deck.cards), number) for number in range(_NUM_HANDS)]
    for _ in range(10_000):
        if not active:
            return
        boards = [deal[2 * rules.hole :][: rules.board_sizes[state.street]] for state, deal, _ in active]
        holes = [deal[state.turn * rules.hole :][: rules.hole] for state, deal, _ in active]
        states = [state for state, _, _ in active]
        observations = Observations.from_betting(states, holes, boards, [number for _, _, number in active])
        moves = _checked_actions(agent, observations, where).tolist()
        after = [(state.play(move), deal, n) for (state, deal, n), move in zip(active, moves, strict=True)]
        active = [table for table in after if table[0].actor != TERMINAL]
    fail(where, "a hand against itself has not ended after 10,000 moves", "an end")


def _check_probabilities(agent: PolicyAgent, observations: Observations, moves: Array, where: str) -> None:
    with report_location(f"{where}: probabilities"):
        choices = agent.probabilities(observations)
    if len(choices) != len(observations):
        fail(where, f"{len(observations)} views have {len(choices)} rows of probabilities", "one row for each")
    for i, (choice, move) in enumerate(zip(choices, moves.tolist(), strict=True)):
        location = f"{where} at {observations.match_state(i)}"
        probabilities = dict(choice)
        if len(probabilities) < len(choice) or not all(p > 0 for p in probabilities.values()):
            fail(location, f"probabilities {choice[:6]}", "each move once, above zero")
        if abs(sum(probabilities.values()) - 1) > TOLERANCE:
            fail(location, f"probabilities sum to {sum(probabilities.values()):g}", "one")
        if move not in probabilities:
            label = format_action(move, observations.rules)
            fail(location, f"it plays {label}, which has no probability", "a move that has one")
        state = observations.betting(i)
        for other in [*probabilities][:8]:
            _check_legal(observations, i, state, other, location)
    for i in [i for i, choice in enumerate(choices) if 1 < len(choice) < 20][:3]:
        copies = replace(observations.take(np.full(_NUM_DRAWS, i)), hand=np.arange(_NUM_DRAWS))
        if not all(dict(choice) == dict(choices[i]) for choice in agent.probabilities(copies)):
            continue  # the number of the hand also decides the translation of the line
        sampled, place = np.asarray(agent.act(copies)), f"{where} at {observations.match_state(i)}"
        for move, p in choices[i]:
            _check_frequency(sampled, move, p, observations.rules, place, "as it says")


# --- Strategies for all hands ---


def _check_strategies(agent: PublicPolicy, observations: Observations, moves: Array, where: str) -> None:
    """Check the strategies for all hands at public states, one state at a time; at fewer states if they are large."""
    singles: list[StrategyBatch] = []
    numbers = 0
    for i in range(min(_NUM_STATES, len(observations))):
        if numbers > _MAX_NUMBERS:
            break
        single, location = observations.take(np.array([i])), f"{where} at {observations.match_state(i)}"
        with report_location(f"{location}: strategies"):
            mean = agent.strategies(single.public_states)
            conditional = agent.strategies(single.public_states, single.hand)
        _check_rows(mean, single, f"{where}: strategies")
        _check_rows(conditional, single, f"{where}: strategies with draw")
        if mean.probabilities.tobytes() != agent.strategies(single.public_states).probabilities.tobytes():
            fail(location, "called again, its strategy differs", "a strategy that does not depend on earlier calls")
        (hand,) = single.rules.deck.hand_indices(single.hole).tolist()
        if not conditional.move_probabilities(moves[[i]])[0, hand] > 0:
            played = format_action(int(moves[i]), observations.rules)
            fail(location, f"it plays {played}, which its strategy with this draw never does", "a move that it plays")
        if not (single.public_states.decisions()[0].actor == single.seat[0]).any():
            _check_means(agent, single, mean, hand, location)
        singles += [mean] * (len(singles) < 2)
        numbers += mean.probabilities.size
    batch = agent.strategies(observations.take(np.arange(len(singles))).public_states)
    for i, mean in enumerate(singles):
        if not np.array_equal(batch.probabilities[i, :, : mean.moves.shape[1]], mean.probabilities[0]):
            fail(where, "its strategy at a public state depends on the rest of the batch", "the same strategy")


def _check_means(agent: Any, one: Observations, mean: StrategyBatch, hand: int, place: str) -> None:
    """Check action frequencies over many hands at the agent's first decision, which no earlier random draw affects."""
    sampled = np.asarray(agent.act(replace(one.take(np.zeros(_NUM_DRAWS, np.int64)), hand=np.arange(_NUM_DRAWS))))
    for move, p in zip(mean.moves[0].tolist()[:20], mean.probabilities[0, hand].tolist(), strict=False):
        _check_frequency(sampled, move, p, one.rules, place, "as its strategy says")


def _check_frequency(sampled: Array, move: int, p: float, rules: PokerRules, where: str, source: str) -> None:
    """Fail if an action's sampled frequency differs from its probability `p` by more than five standard deviations.

    `source` says in the message where the probability comes from.
    """
    draws, frequency = len(sampled), float((sampled == move).mean()) if move != END_OF_LINE else 0.0
    if abs(frequency - p) > _SIGMAS * sqrt(p * (1 - p) / draws) + 1 / draws:
        label = format_action(move, rules)
        fail(where, f"{label} is played in {frequency:.1%} of {draws:,} hands", f"{p:.1%}, {source}")


# Fails if a batch of strategies has the wrong shape, actor, sums of probabilities, or order of actions.
def _check_rows(answers: StrategyBatch, observations: Observations, where: str) -> None:
    public_states, n = observations.public_states, len(observations)
    columns = answers.moves.shape[1]
    if answers.probabilities.shape != (n, observations.rules.deck.num_hands, columns) or len(answers.moves) != n:
        shapes = f"{answers.probabilities.shape} probabilities, moves {answers.moves.shape}"
        fail(where, shapes, "[n, hands, moves], [n, moves]")
    if not np.array_equal(answers.actor, observations.seat):
        fail(where, f"it says that seats {answers.actor[:6].tolist()} act", f"{observations.seat[:6].tolist()}")
    sums = answers.probabilities.sum(axis=2)
    if answers.probabilities.min(initial=0) < 0 or np.abs(sums - public_states.live_hands).max(initial=0) > TOLERANCE:
        fail(where, f"rows sum to {sums[0, :4].tolist()} …", "one for each hand that the board leaves, none for others")
    for i in range(n):
        moves = [move for move in answers.moves[i].tolist() if move != END_OF_LINE]
        if moves != sorted(set(moves)) or (answers.moves[i, len(moves) :] != END_OF_LINE).any():
            place = f"{where} at {observations.match_state(i)}"
            fail(place, f"moves {moves[:8]}", "each once, upwards, END behind the last")
        for move in [*moves[:6], *moves[-2:]]:
            _check_legal(observations, i, observations.betting(i), move, where)


# Fails if `observe` rejects a record of one hand, or of none.
def _check_learning(agent: ObservingAgent, rules: PokerRules, where: str) -> None:
    state = BettingState.start(rules)
    while state.actor != TERMINAL:
        state = state.play(FOLD if state.to_call else CALL)
    deck = rules.deck.cards.tolist()
    cards = tuple(deck[: rules.hole]), tuple(deck[rules.hole : 2 * rules.hole]), tuple(deck[-rules.board_sizes[-1] :])
    hands = build_records([RecordedHand(0, (agent.name, f"not {agent.name}"), state, cards)], rules).seen_by(agent.name)
    with report_location(f"{where}: observe"):
        agent.observe(hands)
        agent.observe(hands.take(np.zeros(0, np.int64)))
