"""Blueprint policies for all hands at public states: against observations, a reference implementation, and invariants."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from random_blueprints import KINDS, blueprint_of, flop_blueprint
from reference import postprocess as slow_post
from reference import public_mean as twin
from riverboat.core.errors import InputError
from riverboat.games.base import TERMINAL
from riverboat.games.holdem.actions import CALL, END_OF_LINE, FOLD
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.observations import Observations
from riverboat.games.holdem.public_states import PublicStates
from riverboat.games.holdem.rules import PokerRules
from riverboat.strategies.policy import DEFAULT_SHARES, BlueprintPolicy
from riverboat.strategies.public_strategy import PublicStateCache, StrategyBatch, ranges, reach_probabilities
from riverboat.testing.agents import random_line

POSTS: list[dict[str, Any]] = [
    {},
    {"post": "purify"},
    {"post": "threshold", "share": 0.3},
    {"post": "new"},
    {"post": "purify", "spare_first": True},
]


def random_places(rules: PokerRules, count: int, seed: int) -> PublicStates:
    """Public states after random lines."""
    rng, states = np.random.default_rng(seed), []
    while len(states) < count:
        states += random_line(rules, rng)[:: int(rng.integers(1, 3))]
    states = states[:count]
    boards = [rng.permutation(rules.deck.cards)[: rules.board_sizes[state.street]] for state in states]
    return PublicStates.from_betting(states, boards)


def played_places(played: BlueprintPolicy, count: int, seed: int, ends: bool = False) -> PublicStates:
    """Public states of hands in which one seat plays the blueprint and the other plays randomly; with `ends`, terminals
    only.
    """
    rules, rng = played.rules, np.random.default_rng(seed)
    states: list[BettingState] = []
    boards: list[Any] = []
    while len(states) < count:
        state, seat, deal = BettingState.start(rules), int(rng.integers(2)), rng.permutation(rules.deck.cards)
        while state.actor != TERMINAL:
            board = deal[: rules.board_sizes[state.street]]
            if not ends:
                states.append(state)
                boards.append(board)
            if state.turn == seat:
                found = played.strategies(PublicStates.from_betting([state], [board]))
                moves = found.moves[0][found.probabilities[0].sum(axis=0) > 0]
                move = int(rng.choice(moves[moves != FOLD] if rng.random() < 0.9 and moves[-1] != FOLD else moves))
            else:
                move = random_move(state, rng)
            state = state.play(move)
        if ends:
            states.append(state)
            boards.append(deal[: rules.board_sizes[state.street]])
    return PublicStates.from_betting(states[:count], boards[:count])


def random_move(state: BettingState, rng: np.random.Generator) -> int:
    """Mostly calls, and raises of every size."""
    span = state.raise_range()
    if span is None or rng.random() < 0.5:
        return CALL
    pot = 2 * max(state.spent)
    total = int(max(state.spent) + pot * rng.exponential())
    return span.least if state.rules.limit else min(max(total, span.least), span.most)


def tables(places: PublicStates, i: int, numbers: np.ndarray) -> tuple[Observations, np.ndarray]:
    """Observations of one public state with every unblocked hand, and the indices of these hands."""
    hands = np.flatnonzero(places.live_hands[i])
    holes = places.rules.deck.hands[hands]
    state, board = places.betting(i), places.board_cards(i)
    return Observations.from_betting(
        [state] * len(hands), list(holes), [board] * len(hands), numbers[: len(hands)]
    ), hands


def choice(found: StrategyBatch, i: int, hand: int) -> dict[int, float]:
    row = zip(found.moves[i].tolist(), found.probabilities[i, hand].tolist(), strict=True)
    return {move: p for move, p in row if p > 0}


# --- against observations -----------------------------------------------------------------------


@pytest.mark.parametrize("options", POSTS, ids=lambda o: o.get("post", "none"))
@pytest.mark.parametrize("kind", ["demo", "capped", "meek", "unequal", "limit", "pairs"])
def test_drawn_strategies_equal_decisions(kind: str, options: dict[str, Any]) -> None:
    policy = BlueprintPolicy(blueprint_of(kind), seed=4, **options)
    public_states = played_places(policy, 25, 5)
    draw = np.random.default_rng(1).integers(0, 2**31, len(public_states))
    found = policy.strategies(public_states, draw)
    assert found.actor.tolist() == [public_states.betting(i).actor for i in range(len(public_states))]
    for i in range(len(public_states)):
        views, hands = tables(public_states, i, np.full(public_states.live_hands.shape[1], draw[i]))
        rows = policy.decide(views)
        for k, hand in enumerate(hands.tolist()):
            expected: dict[int, float] = {}
            for move, p in zip(rows.moves[k].tolist(), rows.rows[k].tolist(), strict=True):
                if p > 0:
                    expected[move] = expected.get(move, 0.0) + p
            assert choice(found, i, hand) == expected, (public_states.line(i), hand)  # exactly


@pytest.mark.parametrize(
    ("kind", "theirs"), [("demo", ["r280", "c", "r1000", "r2600"]), ("pairs", ["r260", "r900", "r1500"])]
)
def test_strategies_are_means_over_hands(kind: str, theirs: list[str]) -> None:
    """Simulate many hands and keep those in which the player played its actions of the line."""
    policy, numbers = BlueprintPolicy(blueprint_of(kind), seed=7), np.arange(40_000)
    rules, hand, num_nodes = policy.rules, 2, 0
    hole, deal = (
        rules.deck.hands[hand],
        [card for card in rules.deck.cards.tolist() if card not in rules.deck.hands[hand]],
    )
    state, alive = BettingState.start(rules), np.ones(len(numbers), bool)
    while state.actor != TERMINAL:
        board = deal[: rules.board_sizes[state.street]]
        if state.turn == 1:  # the wanted action if it is legal, else a call
            label = theirs.pop(0) if theirs else "c"
            state = state.play(state.find_action(label) or CALL)
            continue
        public_states, observation = (
            PublicStates.from_betting([state], [board]),
            Observations.from_betting([state], [hole], [board], [0]),
        )
        found, kept_numbers = policy.strategies(public_states), numbers[alive]
        rows = policy.decide(replace(observation.take(np.zeros(len(kept_numbers), np.int64)), hand=kept_numbers))
        num_nodes = max(num_nodes, len(set(rows.node.tolist())))
        assert len(kept_numbers) > 100
        assert len(kept_numbers) / len(numbers) == pytest.approx(policy.reach(public_states, 0)[0, hand], abs=0.02)
        shares = choice(found, 0, hand)
        for move, p in shares.items():
            samples = (rows.rows * (rows.moves == move)).sum(axis=1)
            assert p == pytest.approx(samples.mean(), abs=5 * samples.std() / len(samples) ** 0.5 + 1e-9), (
                state.line,
                move,
            )
        move = max((move for move in shares if move >= 0), key=lambda m: shares[m])
        alive &= policy.act(replace(observation.take(np.zeros(len(numbers), np.int64)), hand=numbers)) == move
        state = state.play(move)
    assert num_nodes > 1  # the line has more than one translation


def test_all_hands_of_holdem() -> None:
    """1,326 hands on a flop after an off-tree line: as decisions with a draw, and as the reference without."""
    policy = BlueprintPolicy(flop_blueprint(), post="threshold", share=0.2)
    public_states = PublicStates.from_lines(policy.rules, ["r270c/r470", "r300c/", "c"], ["8c8d5c", "AsKs2h", ""])
    draw, reference = np.array([3, 4, 5]), slow(policy)
    mean, drawn = policy.strategies(public_states), policy.strategies(public_states, draw)
    assert mean.probabilities.shape[1] == 1326
    for i in range(len(public_states)):
        views, hands = tables(public_states, i, np.full(1326, draw[i]))
        rows, state = policy.decide(views), public_states.betting(i)
        for k in range(0, len(hands), 37):
            table = rows.rows[k], rows.moves[k]
            expected = {move: float(table[0][table[1] == move].sum()) for move in set(table[1][table[0] > 0].tolist())}
            assert choice(drawn, i, int(hands[k])) == pytest.approx(expected, abs=1e-15)
        for k in range(0, len(hands), 401):
            hole = tuple(policy.rules.deck.hands[hands[k]].tolist())
            _, row = twin.play(reference, state.line, state.turn, hole, public_states.board_cards(i))
            expected_mean = {state.parse_action(label): p for label, p in row.items() if p > 1e-15}
            assert choice(mean, i, int(hands[k])) == pytest.approx(expected_mean, abs=1e-12)


# --- against the reference implementation ---------------------------------------------------------


def slow(played: BlueprintPolicy) -> SimpleNamespace:
    share = DEFAULT_SHARES.get(played.post, 0.0) if played.share is None else played.share
    spares = played.post == "new" if played.spare_first is None else played.spare_first

    def rule(row, labels, first):
        if played.post == "none" or (first and spares):
            return row
        if played.post == "new":
            return slow_post.tartanian7(row, labels, share)
        return slow_post.purify(row) if played.post == "purify" else slow_post.threshold(row, share)

    return SimpleNamespace(
        strategy=played.strategy, rules=played.rules, translation=played.translation, tie=played.tie, rule=rule
    )


@pytest.mark.parametrize("options", POSTS, ids=lambda o: o.get("post", "none"))
@pytest.mark.parametrize(
    ("kind", "mapping"),
    [
        ("demo", "rand-pshar"),
        ("capped", "rand-geo-2"),
        ("meek", "rand-arith"),
        ("unequal", "det-pshar"),
        ("pairs", "rand-pshar"),
    ],
)
def test_strategies_equal_the_reference(kind: str, mapping: str, options: dict[str, Any]) -> None:
    policy = BlueprintPolicy(blueprint_of(kind), translation=mapping, **options)
    public_states = played_places(policy, 12, 6)
    found, reference, rng = policy.strategies(public_states), slow(policy), np.random.default_rng(0)
    reaches = [policy.reach(public_states, seat) for seat in (0, 1)]
    for i in range(len(public_states)):
        state, board = public_states.betting(i), public_states.board_cards(i)
        for hand in rng.permutation(np.flatnonzero(public_states.live_hands[i]))[:3].tolist():
            hole = tuple(policy.rules.deck.hands[hand].tolist())
            for seat in (0, 1):
                total, row = twin.play(reference, state.line, seat, hole, board)
                assert reaches[seat][i, hand] == pytest.approx(total, abs=1e-12), (state.line, seat)
                if seat == state.turn:
                    expected = {state.parse_action(label): p for label, p in row.items() if p > 1e-15}
                    assert choice(found, i, hand) == pytest.approx(expected, abs=1e-12), state.line


# --- invariants ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_rows_sum_to_one_and_blocked_hands_are_zero(kind: str) -> None:
    policy = BlueprintPolicy(blueprint_of(kind), post="threshold", share=0.1)
    public_states = random_places(policy.rules, 40, 2)
    found = policy.strategies(public_states)
    assert found.probabilities.min() >= 0
    sums = found.probabilities.sum(axis=2)
    assert np.allclose(sums[public_states.live_hands], 1)
    assert not sums[~public_states.live_hands].any()
    for i in range(len(public_states)):
        moves = [move for move in found.moves[i].tolist() if move != END_OF_LINE]
        assert moves == sorted(set(moves))
        assert all(public_states.betting(i).is_legal(move) for move in moves)


@pytest.mark.parametrize("mapping", ["det-arith", "det-geo", "det-pshar"])
def test_deterministic_translation_needs_no_mean(mapping: str) -> None:
    policy = BlueprintPolicy(blueprint_of("demo"), translation=mapping)
    public_states = random_places(policy.rules, 40, 3)
    mean, drawn = policy.strategies(public_states), policy.strategies(public_states, np.arange(len(public_states)))
    assert policy.has_deterministic_translation
    assert np.array_equal(mean.moves, drawn.moves)
    assert np.array_equal(mean.probabilities, drawn.probabilities)


@pytest.mark.parametrize("options", POSTS, ids=lambda o: o.get("post", "none"))
@pytest.mark.parametrize("kind", ["demo", "capped", "meek", "pairs"])
def test_reach_is_conserved(kind: str, options: dict[str, Any]) -> None:
    """Over all actions of the player, the reach of the children sums to that of the node; the opponent's actions change
    nothing.
    """
    policy = BlueprintPolicy(blueprint_of(kind), **options)
    public_states = played_places(policy, 20, 8)
    found, reach = policy.strategies(public_states), ranges(public_states, policy)
    checked = 0
    for i in range(len(public_states)):
        state, seat = public_states.betting(i), int(public_states.actor[i])
        after = [state.play(move) for move in found.moves[i].tolist() if move != END_OF_LINE]
        # New board cards would block hands: compare only where none are dealt.
        same_street = [child for child in after if child.street == state.street]
        if not same_street:
            continue
        child_reach = ranges(
            PublicStates.from_betting(same_street, [public_states.board_cards(i)] * len(same_street)), policy
        )
        assert np.allclose(child_reach[:, 1 - seat], reach[i, 1 - seat])
        if len(same_street) == len(after):
            checked += 1
            assert child_reach[:, seat].sum(axis=0) == pytest.approx(reach[i, seat], abs=1e-12)
    assert checked > 3


@pytest.mark.parametrize("ends", [False, True])
def test_ranges_equal_the_chain_rule(ends: bool) -> None:
    """The reach of the belief filter equals the product of the strategies on the path."""
    first, second = (
        BlueprintPolicy(blueprint_of("demo")),
        BlueprintPolicy(blueprint_of("demo"), translation="rand-arith", post="new"),
    )
    public_states = played_places(first, 30, 9, ends)
    both_ranges = ranges(public_states, first, second)
    for seat, player in enumerate((first, second)):
        strategies_only = SimpleNamespace(strategies=player.strategies)
        assert np.allclose(
            reach_probabilities(strategies_only, public_states, seat), both_ranges[:, seat], rtol=1e-12, atol=0
        )
    assert not both_ranges[np.broadcast_to(~public_states.live_hands[:, None], both_ranges.shape)].any()
    assert (both_ranges[:, 0] > 0).any(axis=1).sum() > 10


def test_suit_symmetry() -> None:
    policy = BlueprintPolicy(blueprint_of("pairs"))
    rules = policy.rules
    public_states = random_places(rules, 8, 4)
    found, both_ranges = policy.strategies(public_states), ranges(public_states, policy)
    index_of = {frozenset(hand): h for h, hand in enumerate(rules.deck.hands.tolist())}
    for order in list(permutations(range(4)))[1::7]:
        relabel = np.array([4 * (card // 4) + order[card % 4] for card in range(52)] + [255] * 204, np.uint8)
        hands = [index_of[frozenset(hand)] for hand in relabel[rules.deck.hands].tolist()]
        other = replace(public_states, board=relabel[public_states.board])
        assert np.array_equal(policy.strategies(other).probabilities[:, hands], found.probabilities)
        assert np.array_equal(ranges(other, policy)[:, :, hands], both_ranges)


def test_terminals_have_no_strategy() -> None:
    policy = BlueprintPolicy(blueprint_of("demo"))
    public_states = PublicStates.from_lines(policy.rules, ["r250f", "r20000c", "cc/r200"], ["", "AsKsQs", "As"])
    found = policy.strategies(public_states)
    assert found.actor.tolist() == [-1, -1, 1]
    assert not found.probabilities[:2].any()
    assert (found.moves[:2] == END_OF_LINE).all()
    assert found.probabilities[2].any()
    folds = policy.strategies(PublicStates.from_lines(policy.rules, ["r250"])).move_probabilities(np.array([-1]))
    assert np.array_equal(ranges(public_states, policy)[0, 0], folds[0])


def test_root_ranges_are_full() -> None:
    policy = BlueprintPolicy(blueprint_of("pairs"))
    assert (ranges(PublicStates.from_lines(policy.rules, [""]), policy) == 1).all()


def test_batches_equal_single_queries() -> None:
    policy = BlueprintPolicy(blueprint_of("capped"))
    public_states = random_places(policy.rules, 600, 10)  # more than one internal batch
    found = policy.strategies(public_states)
    for i in (0, 17, 300, 599):
        alone = policy.strategies(public_states.take(np.array([i])))
        width = alone.moves.shape[1]
        assert np.array_equal(alone.moves[0], found.moves[i, :width])
        assert np.array_equal(alone.probabilities[0], found.probabilities[i, :, :width])


def test_many_translations_of_a_line() -> None:
    """Every raise of the opponent splits between two sizes: more positions than the initial workspace holds."""
    policy = BlueprintPolicy(blueprint_of("demo"))
    line = "r280r800c/r1100r3100c/r4000c/r7000"
    public_states = PublicStates.from_lines(policy.rules, [line], ["AsKsQs"])
    state, reference = public_states.betting(0), slow(policy)
    hole = (int(policy.rules.deck.cards[0]),)
    for seat in (0, 1):
        total, row = twin.play(reference, state.line, seat, hole, public_states.board_cards(0))
        assert policy.reach(public_states, seat)[0, 0] == pytest.approx(total, abs=1e-12)
    assert len(row) > 2
    assert choice(policy.strategies(public_states), 0, 0) == pytest.approx(
        {state.parse_action(label): p for label, p in row.items() if p > 0}, abs=1e-12
    )


# --- cache --------------------------------------------------------------------------------------


def test_cache_does_not_change_results() -> None:
    policy = BlueprintPolicy(blueprint_of("pairs"))
    public_states = random_places(policy.rules, 30, 11)
    first = policy.strategies(public_states)
    assert len(policy.cache) > 0
    again = policy.strategies(public_states)
    policy.cache.clear()
    assert len(policy.cache) == 0
    fresh = policy.strategies(public_states)
    small = replace(policy, cache=PublicStateCache(capacity=1)).strategies(public_states)
    for other in (again, fresh, small):
        assert other.probabilities.tobytes() == first.probabilities.tobytes()
        assert other.moves.tobytes() == first.moves.tobytes()


def test_cache_evicts_the_least_recently_used() -> None:
    cache: PublicStateCache[int] = PublicStateCache(capacity=2)
    assert cache.get_or_compute(b"a", lambda: 1) == 1
    assert cache.get_or_compute(b"b", lambda: 2) == 2
    assert cache.get_or_compute(b"a", lambda: 99) == 1
    cache.put(b"c", 3)
    assert (cache.get(b"a"), cache.get(b"b"), cache.get(b"c")) == (1, None, 3)
    with pytest.raises(InputError, match="capacity=0"):
        PublicStateCache(capacity=0)


# --- invalid input ------------------------------------------------------------------------------


def test_invalid_queries() -> None:
    policy = BlueprintPolicy(blueprint_of("demo"))
    with pytest.raises(InputError, match="'deep'"):
        policy.strategies(random_places(KINDS["pairs"][0], 2, 0))
    with pytest.raises(InputError, match=r"draw .*\(1,\).*3"):
        policy.strategies(random_places(policy.rules, 3, 0), np.array([1]))
    public_states = random_places(policy.rules, 2, 0)
    with pytest.raises(InputError, match="seat 2"):
        reach_probabilities(policy, public_states, 2)
