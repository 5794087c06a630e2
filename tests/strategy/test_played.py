"""What a blueprint plays with all hands at public places: against tables, against a slow twin, and by what must hold."""

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
from riverboat.games.holdem.actions import CALL, END, FOLD, play_move, read_move, show_move
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.match_state import settled
from riverboat.games.holdem.observation import Views
from riverboat.games.holdem.public_state import Places
from riverboat.games.holdem.rules import Rules
from riverboat.strategies.policy import SHARES, Played
from riverboat.strategies.public_cache import PublicCache
from riverboat.strategies.public_strategy import Strategies, ranges, reach
from riverboat.testing.agents import random_line

POSTS: list[dict[str, Any]] = [
    {},
    {"post": "purify"},
    {"post": "threshold", "share": 0.3},
    {"post": "new"},
    {"post": "purify", "spare_first": True},
]


def random_places(rules: Rules, count: int, seed: int) -> Places:
    """Places after random lines."""
    rng, states = np.random.default_rng(seed), []
    while len(states) < count:
        states += random_line(rules, rng)[:: int(rng.integers(1, 3))]
    states = states[:count]
    boards = [rng.permutation(rules.deck.cards)[: rules.board_sizes[state.street]] for state in states]
    return Places.of(states, boards)


def played_places(played: Played, count: int, seed: int, ends: bool = False) -> Places:
    """Places of hands in which one seat plays as the blueprint and the other anything; with `ends`, their ends alone."""
    rules, rng = played.rules, np.random.default_rng(seed)
    states: list[Betting] = []
    boards: list[Any] = []
    while len(states) < count:
        state, seat, deal = Betting.start(rules), int(rng.integers(2)), rng.permutation(rules.deck.cards)
        while state.actor != TERMINAL:
            board = deal[: rules.board_sizes[state.street]]
            if not ends:
                states.append(state)
                boards.append(board)
            if state.turn == seat:
                found = played.strategies(Places.of([state], [board]))
                moves = found.moves[0][found.probabilities[0].sum(axis=0) > 0]
                move = int(rng.choice(moves[moves != FOLD] if rng.random() < 0.9 and moves[-1] != FOLD else moves))
            else:
                move = random_move(state, rng)
            state = play_move(state, move)
        if ends:
            states.append(state)
            boards.append(deal[: rules.board_sizes[state.street]])
    return Places.of(states[:count], boards[:count])


def random_move(state: Betting, rng: np.random.Generator) -> int:
    """Mostly calls, and raises of every size."""
    span = state.raise_range()
    if span is None or rng.random() < 0.5:
        return CALL
    pot = 2 * max(state.spent)
    total = int(max(state.spent) + pot * rng.exponential())
    return span.least if state.rules.limit else min(max(total, span.least), span.most)


def tables(places: Places, i: int, numbers: np.ndarray) -> tuple[Views, np.ndarray]:
    """The tables of one place with every hand that the board leaves, and the numbers of these hands of cards."""
    hands = np.flatnonzero(places.live[i])
    holes = places.rules.deck.hands[hands]
    state, board = places.betting(i), places.shown(i)
    return Views.of([state] * len(hands), list(holes), [board] * len(hands), numbers[: len(hands)]), hands


def choice(found: Strategies, i: int, hand: int) -> dict[int, float]:
    row = zip(found.moves[i].tolist(), found.probabilities[i, hand].tolist(), strict=True)
    return {move: p for move, p in row if p > 0}


# --- against tables -----------------------------------------------------------------------------


@pytest.mark.parametrize("options", POSTS, ids=lambda o: o.get("post", "none"))
@pytest.mark.parametrize("kind", ["demo", "capped", "meek", "unequal", "limit", "pairs"])
def test_with_a_draw_it_is_what_is_drawn_from_in_that_hand(kind: str, options: dict[str, Any]) -> None:
    played = Played(blueprint_of(kind), seed=4, **options)
    places = played_places(played, 25, 5)
    draw = np.random.default_rng(1).integers(0, 2**31, len(places))
    found = played.strategies(places, draw)
    assert found.actor.tolist() == [places.betting(i).actor for i in range(len(places))]
    for i in range(len(places)):
        views, hands = tables(places, i, np.full(places.live.shape[1], draw[i]))
        rows = played.decide(views)
        for k, hand in enumerate(hands.tolist()):
            wanted: dict[int, float] = {}
            for move, p in zip(rows.moves[k].tolist(), rows.rows[k].tolist(), strict=True):
                if p > 0:
                    wanted[move] = wanted.get(move, 0.0) + p
            assert choice(found, i, hand) == wanted, (places.line(i), hand)  # bit for bit


@pytest.mark.parametrize(
    ("kind", "theirs"), [("demo", ["r280", "c", "r1000", "r2600"]), ("pairs", ["r260", "r900", "r1500"])]
)
def test_the_mean_over_many_hands(kind: str, theirs: list[str]) -> None:
    """Hands in which the player made its moves: the rest is thrown away, as somebody who watches would."""
    played, numbers = Played(blueprint_of(kind), seed=7), np.arange(40_000)
    rules, hand, ways = played.rules, 2, 0
    hole, deal = (
        rules.deck.hands[hand],
        [card for card in rules.deck.cards.tolist() if card not in rules.deck.hands[hand]],
    )
    state, left = Betting.start(rules), np.ones(len(numbers), bool)
    while state.actor != TERMINAL:
        board = deal[: rules.board_sizes[state.street]]
        if state.turn == 1:  # whatever is legal of what it would like to do
            label = theirs.pop(0) if theirs else "c"
            state = settled(state.play(label if state.legal(label) else "c"))
            continue
        places, one = Places.of([state], [board]), Views.of([state], [hole], [board], [0])
        found, kept = played.strategies(places), numbers[left]
        rows = played.decide(replace(one.take(np.zeros(len(kept), np.int64)), hand=kept))
        ways = max(ways, len(set(rows.node.tolist())))
        assert len(kept) > 100
        assert len(kept) / len(numbers) == pytest.approx(played.reach(places, 0)[0, hand], abs=0.02)
        shares = choice(found, 0, hand)
        for move, p in shares.items():
            seen = (rows.rows * (rows.moves == move)).sum(axis=1)
            assert p == pytest.approx(seen.mean(), abs=5 * seen.std() / len(seen) ** 0.5 + 1e-9), (state.line, move)
        move = max((move for move in shares if move >= 0), key=lambda m: shares[m])
        left &= played.act(replace(one.take(np.zeros(len(numbers), np.int64)), hand=numbers)) == move
        state = play_move(state, move)
    assert ways > 1  # the line was read in more than one way


def test_all_hands_of_holdem() -> None:
    """1,326 hands on a flop, a line off the tree: as at tables with a draw, and as the slow twin without."""
    played = Played(flop_blueprint(), post="threshold", share=0.2)
    places = Places.from_lines(played.rules, ["r270c/r470", "r300c/", "c"], ["8c8d5c", "AsKs2h", ""])
    draw, plain = np.array([3, 4, 5]), slow(played)
    mean, drawn = played.strategies(places), played.strategies(places, draw)
    assert mean.probabilities.shape[1] == 1326
    for i in range(len(places)):
        views, hands = tables(places, i, np.full(1326, draw[i]))
        rows, state = played.decide(views), places.betting(i)
        for k in range(0, len(hands), 37):
            table = rows.rows[k], rows.moves[k]
            wanted = {move: float(table[0][table[1] == move].sum()) for move in set(table[1][table[0] > 0].tolist())}
            assert choice(drawn, i, int(hands[k])) == pytest.approx(wanted, abs=1e-15)
        for k in range(0, len(hands), 401):
            hole = tuple(played.rules.deck.hands[hands[k]].tolist())
            _, row = twin.play(plain, state.line, state.turn, hole, places.shown(i))
            there = {read_move(label, state): p for label, p in row.items() if p > 1e-15}
            assert choice(mean, i, int(hands[k])) == pytest.approx(there, abs=1e-12)


# --- against the slow twin ------------------------------------------------------------------------


def slow(played: Played) -> SimpleNamespace:
    share = SHARES.get(played.post, 0.0) if played.share is None else played.share
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
def test_answers_are_those_of_the_plain_version(kind: str, mapping: str, options: dict[str, Any]) -> None:
    played = Played(blueprint_of(kind), translation=mapping, **options)
    places = played_places(played, 12, 6)
    found, plain, rng = played.strategies(places), slow(played), np.random.default_rng(0)
    both = [played.reach(places, seat) for seat in (0, 1)]
    for i in range(len(places)):
        state, board = places.betting(i), places.shown(i)
        for hand in rng.permutation(np.flatnonzero(places.live[i]))[:3].tolist():
            hole = tuple(played.rules.deck.hands[hand].tolist())
            for seat in (0, 1):
                total, row = twin.play(plain, state.line, seat, hole, board)
                assert both[seat][i, hand] == pytest.approx(total, abs=1e-12), (state.line, seat)
                if seat == state.turn:
                    wanted = {read_move(label, state): p for label, p in row.items() if p > 1e-15}
                    assert choice(found, i, hand) == pytest.approx(wanted, abs=1e-12), state.line


# --- what must hold -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_rows_sum_to_one_and_blocked_hands_play_nothing(kind: str) -> None:
    played = Played(blueprint_of(kind), post="threshold", share=0.1)
    places = random_places(played.rules, 40, 2)
    found = played.strategies(places)
    assert found.probabilities.min() >= 0
    sums = found.probabilities.sum(axis=2)
    assert np.allclose(sums[places.live], 1)
    assert not sums[~places.live].any()
    for i in range(len(places)):
        moves = [move for move in found.moves[i].tolist() if move != END]
        assert moves == sorted(set(moves))
        assert all(places.betting(i).legal(show_move(move, played.rules)) for move in moves)


@pytest.mark.parametrize("mapping", ["det-arith", "det-geo", "det-pshar"])
def test_what_is_read_in_one_way_needs_no_mean(mapping: str) -> None:
    played = Played(blueprint_of("demo"), translation=mapping)
    places = random_places(played.rules, 40, 3)
    mean, drawn = played.strategies(places), played.strategies(places, np.arange(len(places)))
    assert played.reads_one_way
    assert np.array_equal(mean.moves, drawn.moves)
    assert np.array_equal(mean.probabilities, drawn.probabilities)


@pytest.mark.parametrize("options", POSTS, ids=lambda o: o.get("post", "none"))
@pytest.mark.parametrize("kind", ["demo", "capped", "meek", "pairs"])
def test_a_hand_goes_on_as_often_as_it_came(kind: str, options: dict[str, Any]) -> None:
    """Over all moves of the player, hands that go on add up to those that were there; the other's moves change nothing."""
    played = Played(blueprint_of(kind), **options)
    places = played_places(played, 20, 8)
    found, here = played.strategies(places), ranges(places, played)
    some = 0
    for i in range(len(places)):
        state, seat = places.betting(i), int(places.actor[i])
        after = [play_move(state, move) for move in found.moves[i].tolist() if move != END]
        # The round that may follow has cards that block hands: compare where none is dealt.
        ways = [now for now in after if now.street == state.street]
        if not ways:
            continue
        there = ranges(Places.of(ways, [places.shown(i)] * len(ways)), played)
        assert np.allclose(there[:, 1 - seat], here[i, 1 - seat])
        if len(ways) == len(after):
            some += 1
            assert there[:, seat].sum(axis=0) == pytest.approx(here[i, seat], abs=1e-12)
    assert some > 3


@pytest.mark.parametrize("ends", [False, True])
def test_ranges_are_the_chain_rule(ends: bool) -> None:
    """The filter's own count of what is reached, against the product of what is played on the way."""
    first, second = Played(blueprint_of("demo")), Played(blueprint_of("demo"), translation="rand-arith", post="new")
    places = played_places(first, 30, 9, ends)
    both = ranges(places, first, second)
    for seat, player in enumerate((first, second)):
        plain = SimpleNamespace(strategies=player.strategies)
        assert np.allclose(reach(plain, places, seat), both[:, seat], rtol=1e-12, atol=0)
    assert not both[np.broadcast_to(~places.live[:, None], both.shape)].any()
    assert (both[:, 0] > 0).any(axis=1).sum() > 10


def test_suits_may_be_relabelled() -> None:
    played = Played(blueprint_of("pairs"))
    rules = played.rules
    places = random_places(rules, 8, 4)
    found, both = played.strategies(places), ranges(places, played)
    number = {frozenset(hand): h for h, hand in enumerate(rules.deck.hands.tolist())}
    for order in list(permutations(range(4)))[1::7]:
        relabel = np.array([4 * (card // 4) + order[card % 4] for card in range(52)] + [255] * 204, np.uint8)
        hands = [number[frozenset(hand)] for hand in relabel[rules.deck.hands].tolist()]
        other = replace(places, board=relabel[places.board])
        assert np.array_equal(played.strategies(other).probabilities[:, hands], found.probabilities)
        assert np.array_equal(ranges(other, played)[:, :, hands], both)


def test_where_hands_are_over_nothing_is_played() -> None:
    played = Played(blueprint_of("demo"))
    places = Places.from_lines(played.rules, ["r250f", "r20000c", "cc/r200"], ["", "AsKsQs", "As"])
    found = played.strategies(places)
    assert found.actor.tolist() == [-1, -1, 1]
    assert not found.probabilities[:2].any()
    assert (found.moves[:2] == END).all()
    assert found.probabilities[2].any()
    folds = played.strategies(Places.from_lines(played.rules, ["r250"])).chance_of(np.array([-1]))
    assert np.array_equal(ranges(places, played)[0, 0], folds[0])


def test_the_first_decision_is_reached_with_every_hand() -> None:
    played = Played(blueprint_of("pairs"))
    assert (ranges(Places.from_lines(played.rules, [""]), played) == 1).all()


def test_a_batch_is_many_single_places() -> None:
    played = Played(blueprint_of("capped"))
    places = random_places(played.rules, 600, 10)  # more than are held at once
    found = played.strategies(places)
    for i in (0, 17, 300, 599):
        alone = played.strategies(places.take(np.array([i])))
        width = alone.moves.shape[1]
        assert np.array_equal(alone.moves[0], found.moves[i, :width])
        assert np.array_equal(alone.probabilities[0], found.probabilities[i, :, :width])


def test_many_ways_to_read_a_line() -> None:
    """Every raise of the other halves between two sizes: more places than there is room for at first."""
    played = Played(blueprint_of("demo"))
    line = "r280r800c/r1100r3100c/r4000c/r7000"
    places = Places.from_lines(played.rules, [line], ["AsKsQs"])
    state, plain = places.betting(0), slow(played)
    hole = (int(played.rules.deck.cards[0]),)
    for seat in (0, 1):
        total, row = twin.play(plain, state.line, seat, hole, places.shown(0))
        assert played.reach(places, seat)[0, 0] == pytest.approx(total, abs=1e-12)
    assert len(row) > 2
    assert choice(played.strategies(places), 0, 0) == pytest.approx(
        {read_move(label, state): p for label, p in row.items() if p > 0}, abs=1e-12
    )


# --- only a cache -------------------------------------------------------------------------------


def test_what_is_kept_can_be_worked_out_again() -> None:
    played = Played(blueprint_of("pairs"))
    places = random_places(played.rules, 30, 11)
    first = played.strategies(places)
    assert len(played.cache) > 0
    again = played.strategies(places)
    played.cache.clear()
    assert len(played.cache) == 0
    fresh = played.strategies(places)
    small = replace(played, cache=PublicCache(most=1)).strategies(places)
    for other in (again, fresh, small):
        assert other.probabilities.tobytes() == first.probabilities.tobytes()
        assert other.moves.tobytes() == first.moves.tobytes()


def test_a_cache_keeps_what_was_asked_for_last() -> None:
    cache: PublicCache[int] = PublicCache(most=2)
    assert cache.at(b"a", lambda: 1) == 1
    assert cache.at(b"b", lambda: 2) == 2
    assert cache.at(b"a", lambda: 99) == 1
    cache.keep(b"c", 3)
    assert (cache.get(b"a"), cache.get(b"b"), cache.get(b"c")) == (1, None, 3)
    with pytest.raises(InputError, match="most=0"):
        PublicCache(most=0)


# --- what is refused ----------------------------------------------------------------------------


def test_wrong_questions() -> None:
    played = Played(blueprint_of("demo"))
    with pytest.raises(InputError, match="this strategy plays 'deep'"):
        played.strategies(random_places(KINDS["pairs"][0], 2, 0))
    with pytest.raises(InputError, match="number of a hand for each of 3"):
        played.strategies(random_places(played.rules, 3, 0), np.array([1]))
    places = random_places(played.rules, 2, 0)
    with pytest.raises(InputError, match="seat 2"):
        reach(played, places, 2)
