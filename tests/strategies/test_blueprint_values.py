"""Values of blueprints at lines and boards: against enumeration, best responses of whole games, and the general engine."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from evaluation.test_best_response import blueprint, bucketed
from reference.response import hand_values
from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets, lossless_abstraction
from riverboat.abstraction.clustering.public_clusters import PublicBuckets, cluster_private
from riverboat.cards.deck import NUM_HANDS, hand_index
from riverboat.cards.isomorphism import canonical_boards
from riverboat.cards.notation import parse_cards
from riverboat.cards.ranges import Range
from riverboat.core.errors import InputError
from riverboat.evaluation.best_response.exact import quality
from riverboat.games.boards.board_game import UnrolledBoardGame
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.games.holdem.menus import one_size_menu, parse_menu
from riverboat.games.holdem.rules import PokerRules, read_game
from riverboat.solvers.tabular import best_response
from riverboat.strategies.blueprint import Blueprint
from riverboat.strategies.blueprint_values import BlueprintValues, blueprint_solution, blueprint_values
from riverboat.strategies.reports.blueprint import node_at_line
from riverboat.strategies.tabular import Strategy
from riverboat.trees.compile import compile_game

LIMIT = PokerRules(
    limit=True, blinds=(2, 1), raise_sizes=(2, 2, 4, 4), most_raises=(1, 1, 1, 1), board=(0, 3, 1, 1), ranks=4, suits=3
)
NO_LIMIT = PokerRules(blinds=(2, 1), stacks=(20, 20), board=(0, 3, 1, 1), ranks=5, suits=2)
SHORT = PokerRules(blinds=(2, 1), stacks=(20, 20), board=(0, 1, 1), ranks=4, suits=2)
MENU = parse_menu('preflop = ["a"]\nflop = ["100%", "a"]\nturn = ["100%, a"]\nmost_raises = [1, 2, 1, 1]')


def slow(strategy: Blueprint, found: BlueprintValues, seat: int, respond: bool) -> np.ndarray:
    """Values by enumeration, per unit of compatible weight."""
    node = strategy.tree.find(found.line)
    hands = list(combinations(strategy.rules.deck.cards.tolist(), 2))
    opponent_range = {hand: float(found.ranges[1 - seat, hand_index(*hand)]) for hand in hands}
    out = np.full(NUM_HANDS, np.nan)
    for hand, value in hand_values(strategy, seat, node, found.board, opponent_range, respond).items():
        weight = sum(w for o, w in opponent_range.items() if not set(o) & (set(hand) | set(found.board)))
        out[hand_index(*hand)] = value / weight + found.spent[seat] if weight else np.nan
    return out


def check(strategy: Blueprint, line: str, board: str, **more) -> BlueprintValues:
    """Check self-play and best-response values of both seats; hands with reach zero best-respond."""
    found = blueprint_values(strategy, line, board, **more)
    for seat in (0, 1):
        self_play, best = (slow(strategy, found, seat, respond) for respond in (False, True))
        np.testing.assert_allclose(found.best_response[seat], best, rtol=1e-5, atol=1e-5)
        expected = np.where(found.ranges[seat] > 0, self_play, best)
        np.testing.assert_allclose(found.self_play[seat], expected, rtol=1e-5, atol=1e-5)
    return found


LINES = {
    "limit, the start of a turn": (LIMIT, None, "cc/cc/", "AsKhQdJs"),
    "limit, a bet on the turn": (LIMIT, None, "crc/rc/r", "AsKhQdJs"),
    "limit, a river": (LIMIT, None, "cc/rc/cc/", "AsKhQdJsJh"),
    "no-limit, the start of a turn": (NO_LIMIT, MENU, "cc/cc/", "AsKhQhTs"),
    "no-limit, a raise on the flop": (NO_LIMIT, MENU, "cc/cr6", "AsAhQh"),
    "no-limit, a bet on the river": (NO_LIMIT, MENU, "cc/cc/cc/r6", "AsKhQhQsKs"),
}


@pytest.mark.parametrize("name", LINES)
def test_values_equal_enumeration(name: str) -> None:
    rules, menu, line, board = LINES[name]
    strategy = blueprint(rules, menu, bucketed(rules, (6, 5, 4, 3), 1), 2)
    found = check(strategy, line, board)
    assert found.unit == "chips"
    np.testing.assert_array_equal(found.ranges > 0, np.stack(_reach(strategy, line, board)) > 0)
    total = sum(found.range_means(found.self_play))
    assert total == pytest.approx(found.pot, rel=1e-5)  # the players share the pot
    assert sum(found.range_means(found.best_response)) > found.pot


def _reach(strategy: Blueprint, line: str, board: str) -> list[np.ndarray]:
    node = node_at_line(strategy, line, board)
    found = [np.zeros(NUM_HANDS), np.zeros(NUM_HANDS)]
    for seat in (0, 1):
        for hand, weight in zip(node.hands.tolist(), node.reach[seat], strict=True):
            found[seat][hand_index(*hand)] = weight
    return found


def test_values_of_hands_with_reach_zero() -> None:
    """Tables of random sums, a third of them zero: many hands never play the line."""
    strategy = blueprint(LIMIT, None, bucketed(LIMIT, (6, 5, 4, 3), 3), 4)
    found = check(strategy, "crc/rc/", "AsKhQdJs")
    for seat in (0, 1):
        absent = (found.ranges[seat] == 0) & (found.opponent_weight[seat] > 0)
        assert absent.sum() > 3
        np.testing.assert_array_equal(found.self_play[seat, absent], found.best_response[seat, absent])
    # A best response does not depend on the weight of the hand.
    ranges = [np.where(found.ranges[0] > 0, 0.0, 1.0), found.ranges[1]]
    again = blueprint_values(strategy, "crc/rc/", "AsKhQdJs", ranges)
    np.testing.assert_allclose(again.best_response[0], found.best_response[0], rtol=1e-5, atol=1e-5)


def test_custom_ranges() -> None:
    strategy = blueprint(NO_LIMIT, MENU, bucketed(NO_LIMIT, (6, 5, 4, 3), 5), 6)
    rng = np.random.default_rng(0)
    ranges = [rng.random(NUM_HANDS), Range.parse("KsQs, JsJh:0.5, QhAs")]  # the board blocks the last one
    found = check(strategy, "cc/cc/", "AsKhQhTs", ranges=ranges)
    assert np.count_nonzero(found.ranges[1]) == 2
    empty = blueprint_values(strategy, "cc/cc/", "AsKhQhTs", [np.zeros(NUM_HANDS), ranges[0]])
    assert np.isnan(empty.best_response[1]).all()
    assert not empty.counterfactual[1].any()
    assert np.isnan(empty.range_means(empty.self_play)[0])
    assert not np.isnan(empty.best_response[0, hand_index(*parse_cards("JsJh"))])


def test_suit_exchange_between_streets() -> None:
    """Spades and hearts exchange the ace of the flop and that of the turn.

    Nothing changes for buckets that forget the order, and everything for buckets that remember it.
    """
    rules, rng = LIMIT, np.random.default_rng(7)
    lossless = lossless_abstraction(rules.board[1:], rules.deck)
    values = [rng.integers(0, 100, (1, n)).astype(np.uint16) for n in lossless.counts]
    cuts = [np.array([[50]], np.uint16), *(rng.integers(0, 100, (n, 1)).astype(np.uint16) for n in (2, 4, 8))]
    streets = [StreetBuckets(n, v, cuts=c) for n, v, c in zip((2, 4, 8, 16), values, cuts, strict=True)]
    recalls = CardAbstraction(tuple(streets), rules.board[1:], rules.deck)
    public = PublicBuckets((np.arange(len(canonical_boards(3, rules.deck)[0])) % 3).astype(np.int32), 3, rules.deck)
    streets = [StreetBuckets(2, (np.arange(lossless.counts[0]) % 2).astype(np.uint16)[None])]
    for num_cards in (3, 4, 5):
        clusters = cluster_private(public, num_cards, lambda _, hands, __: hands % 3)
        streets.append(StreetBuckets(int(clusters.first[-1]), clusters.labels, clusters.layer, first=clusters.first))
    splits = CardAbstraction(tuple(streets), rules.board[1:], rules.deck, public)
    ones = [np.ones(NUM_HANDS)] * 2
    for cards in (recalls, splits):
        strategy = blueprint(rules, None, cards, 8)
        check(strategy, "cc/cc/cc/", "AsKdQdAhJd", ranges=ones)
        check(strategy, "cc/cc/cc/", "JhKdQdAdJs", ranges=ones)


# --- whole games ------------------------------------------------------------------------------


WHOLE = {
    "three streets of 20 cards": (read_game("bench-3x20"), one_size_menu("100%"), (5, 7, 9)),
    "four streets of 10 cards": (NO_LIMIT, MENU, (6, 5, 4, 3)),
}


@pytest.mark.parametrize("name", WHOLE)
def test_root_values_equal_quality(name: str) -> None:
    """Values of all hands before the first action sum to the result of `quality`, which uses another traversal."""
    rules, menu, counts = WHOLE[name]
    strategy = blueprint(rules, menu, bucketed(rules, counts, 5), 6)
    found, wanted = blueprint_values(strategy, ""), quality(strategy)
    net = [found.range_means(found.net_values(values)) for values in (found.self_play, found.best_response)]
    np.testing.assert_allclose(net, [wanted.values, wanted.best], rtol=1e-5, atol=1e-5)
    raw = found.counterfactual[0] - found.spent[0] * found.opponent_weight[0]
    assert np.nansum(raw) / found.opponent_weight[0].sum() == pytest.approx(wanted.best[0], rel=1e-5)


def test_values_equal_the_unrolled_game() -> None:
    """The unrolled game, with the strategy queried hand by hand and line by line."""
    strategy = blueprint(LIMIT, None, bucketed(LIMIT, (6, 5, 4, 3), 9), 10)
    ranges = [Range.parse("AdKs, QhQs, JdAh:0.25"), Range.parse("KdKs, JdJh:0.5, AdQh")]
    solution = blueprint_solution(strategy, "cc/rc/", "AsKhQdJs", ranges)
    tree = compile_game(UnrolledBoardGame.from_game(solution.tree.game))
    rows = {}
    for infoset in tree.infosets():
        hand, _, line = infoset.name.partition(":")
        first, _, later = line.partition("/")
        card, _, rest = later.partition("-")
        full_line = f"cc/rc/{first.replace('-', '')}" + (f"/{rest.replace('-', '')}" if card else "")
        rows[infoset.name] = strategy.hand_probabilities(full_line, hand, "AsKhQdJs" + card)
    expected = best_response.quality(Strategy.from_mapping(tree, rows))
    found = blueprint_values(strategy, "cc/rc/", "AsKhQdJs", ranges)
    assert found.range_means(found.best_response) == pytest.approx(expected.best, rel=1e-5)
    assert found.range_means(found.self_play) == pytest.approx(expected.values, rel=1e-5)
    for seat in (0, 1):  # also through `Solution`
        np.testing.assert_allclose(
            solution[""].ev(seat), np.where(found.ranges[seat] > 0, found.self_play[seat], np.nan), rtol=1e-5, atol=1e-5
        )
        assert solution.expected_value(seat, respond=True) == pytest.approx(expected.best[seat], rel=1e-5)


# --- street by street -------------------------------------------------------------------------


STREETS = {
    "from the deal": (SHORT, MENU, "", ""),
    "a flop whose suits are alike": (LIMIT, None, "cc/", "AsKsQs"),
    "a raise on the flop": (NO_LIMIT, MENU, "cc/r6", "AsAhQh"),
    "a bet on the turn": (LIMIT, None, "crc/rc/r", "AsKhQdJs"),
}


@pytest.mark.parametrize("name", STREETS)
def test_street_by_street_equals_whole_game(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a table would be too large, each line of the street and each next card gets a table of its own."""
    rules, menu, line, board = STREETS[name]
    strategy = blueprint(rules, menu, bucketed(rules, (6, 5, 4, 3)[: rules.rounds], 11), 12)
    whole = blueprint_values(strategy, line, board)
    table_size = blueprint_solution(strategy, line, board).tree.game.max_table_size
    monkeypatch.setattr("riverboat.strategies.blueprint_values.MAX_TABLE_BYTES", 4 * table_size - 1)
    for threads in (1, 2):
        found = blueprint_values(strategy, line, board, threads=threads)
        np.testing.assert_allclose(found.self_play, whole.self_play, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(found.best_response, whole.best_response, rtol=1e-4, atol=1e-5)


# --- threads, compact tables, invalid input ---------------------------------------------------


def test_result_does_not_depend_on_threads() -> None:
    strategy = blueprint(LIMIT, None, bucketed(LIMIT, (6, 5, 4, 3), 1), 2)
    one, two = (blueprint_values(strategy, "cc/", "AsKhQd", threads=threads) for threads in (1, 2))
    np.testing.assert_array_equal(one.self_play, two.self_play)
    np.testing.assert_array_equal(one.best_response, two.best_response)


def test_compact_tables() -> None:
    """Compact tables hold bytes, and a decision without weight is uniform."""
    strategy = blueprint(LIMIT, None, bucketed(LIMIT, (6, 5, 4, 3), 1), 2)
    tables = tuple(np.where(np.arange(len(t))[:, None] == 0, 0, t).astype(np.uint8) for t in strategy.average)
    check(replace(strategy, average=tables), "cc/cc/cc/", "AsKhQdJsJh")


def test_invalid_input() -> None:
    strategy = blueprint(NO_LIMIT, MENU, bucketed(NO_LIMIT, (6, 5, 4, 3), 1), 2)
    good = np.ones(NUM_HANDS)
    for error, line, board, ranges in (
        ("'r7'", "r7", "", None),
        ("line 'f'", "f", "", None),
        ("'AsKhQh'.*turn", "cc/cc/", "AsKhQh", None),
        ("ranges: 1 .*oop and ip", "cc/", "AsKhQh", [good]),
        (r"ip: \(45,\)", "cc/", "AsKhQh", [good, good[:45]]),
        ("oop: .*-1", "cc/", "AsKhQh", [-good, good]),
        ("oop: .*nan", "cc/", "AsKhQh", [good * np.nan, good]),
    ):
        with pytest.raises(InputError, match=error):
            blueprint_values(strategy, line, board, ranges)
    with pytest.raises(InputError, match="threads=0"):
        blueprint_values(strategy, "cc/", "AsKhQh", threads=0)
    kuhn = read_game("kuhn")
    with pytest.raises(InputError, match=r"kuhn: .*1"):
        blueprint_values(blueprint(kuhn, None, lossless_abstraction((), kuhn.deck), 0), "")


def test_time_limit() -> None:
    rules = read_game("limit")
    tree, cards = compile_action_tree(rules), lossless_abstraction((3, 1, 1), rules.deck)
    sums = [np.zeros(int(width), np.uint8) for width in tree.width]
    tables = tuple(np.broadcast_to(some, (n, len(some))) for n, some in zip(cards.counts, sums, strict=True))
    strategy = Blueprint(rules, None, tree, cards, tables)
    with pytest.raises(InputError, match=r"root: .*2 threads.*max_minutes"):
        blueprint_values(strategy, "", threads=2)


def test_max_table_size() -> None:
    """Without isomorphic suits it is the table size of the tree."""
    strategy = blueprint(LIMIT, None, bucketed(LIMIT, (6, 5, 4, 3), 1), 2)
    ranges = [np.random.default_rng(seed).random(NUM_HANDS) for seed in (0, 1)]
    for line, board in (("cc/", "AsKhQd"), ("cc/cc/r", "AsKhQdJs")):
        tree = blueprint_solution(strategy, line, board, ranges).tree
        assert tree.game.max_table_size == tree.table_size
