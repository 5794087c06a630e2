"""Values of blueprints at lines and boards: against enumeration, best responses of whole games, and the general walk."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from evaluation.test_best_response import blueprint, bucketed
from reference.response import hand_values
from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets, lossless
from riverboat.abstraction.clustering.public_clusters import PublicBuckets, cluster_private
from riverboat.cards.deck import HANDS, hand_index
from riverboat.cards.isomorphism import canonical_boards
from riverboat.cards.notation import parse_cards
from riverboat.cards.ranges import Range
from riverboat.core.errors import InputError
from riverboat.evaluation.best_response.exact import quality
from riverboat.games.boards.unrolled import Unrolled
from riverboat.games.holdem.action_tree import compile_actions
from riverboat.games.holdem.menus import one_size, parse_menu
from riverboat.games.holdem.rules import Rules, read_game
from riverboat.solvers.tabular import best_response
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.strategies.blueprint_values import Values, blueprint_solution, blueprint_values
from riverboat.strategies.reports.blueprint import at_line
from riverboat.strategies.tabular import Strategy
from riverboat.trees.compile import compile_game

LIMIT = Rules(
    limit=True, blinds=(2, 1), raise_sizes=(2, 2, 4, 4), most_raises=(1, 1, 1, 1), board=(0, 3, 1, 1), ranks=4, suits=3
)
NO_LIMIT = Rules(blinds=(2, 1), stacks=(20, 20), board=(0, 3, 1, 1), ranks=5, suits=2)
SHORT = Rules(blinds=(2, 1), stacks=(20, 20), board=(0, 1, 1), ranks=4, suits=2)
MENU = parse_menu('preflop = ["a"]\nflop = ["100%", "a"]\nturn = ["100%, a"]\nmost_raises = [1, 2, 1, 1]')


def slow(strategy: BlueprintStrategy, found: Values, seat: int, respond: bool) -> np.ndarray:
    """The same by enumeration, per unit of the weight that each hand meets."""
    node = strategy.tree.find(found.line)
    hands = list(combinations(strategy.rules.deck.cards.tolist(), 2))
    theirs = {hand: float(found.ranges[1 - seat, hand_index(*hand)]) for hand in hands}
    out = np.full(HANDS, np.nan)
    for hand, value in hand_values(strategy, seat, node, found.board, theirs, respond).items():
        met = sum(w for o, w in theirs.items() if not set(o) & (set(hand) | set(found.board)))
        out[hand_index(*hand)] = value / met + found.spent[seat] if met else np.nan
    return out


def check(strategy: BlueprintStrategy, line: str, board: str, **more) -> Values:
    """Both figures of both seats; hands that are never brought there respond."""
    found = blueprint_values(strategy, line, board, **more)
    for seat in (0, 1):
        played, best = (slow(strategy, found, seat, respond) for respond in (False, True))
        np.testing.assert_allclose(found.best_response[seat], best, rtol=1e-5, atol=1e-5)
        wanted = np.where(found.ranges[seat] > 0, played, best)
        np.testing.assert_allclose(found.self_play[seat], wanted, rtol=1e-5, atol=1e-5)
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
def test_the_same_as_enumeration(name: str) -> None:
    rules, menu, line, board = LINES[name]
    strategy = blueprint(rules, menu, bucketed(rules, (6, 5, 4, 3), 1), 2)
    found = check(strategy, line, board)
    assert found.unit == "chips"
    np.testing.assert_array_equal(found.ranges > 0, np.stack(_reach(strategy, line, board)) > 0)
    total = sum(found.mean(found.self_play))
    assert total == pytest.approx(found.pot, rel=1e-5)  # what one wins of the pot the other does not
    assert sum(found.mean(found.best_response)) > found.pot


def _reach(strategy: BlueprintStrategy, line: str, board: str) -> list[np.ndarray]:
    node = at_line(strategy, line, board)
    found = [np.zeros(HANDS), np.zeros(HANDS)]
    for seat in (0, 1):
        for hand, weight in zip(node.hands.tolist(), node.reach[seat], strict=True):
            found[seat][hand_index(*hand)] = weight
    return found


def test_hands_that_never_get_there_have_values() -> None:
    """Tables of random sums, a third of them zero: many hands never play the line, and those who do never meet them."""
    strategy = blueprint(LIMIT, None, bucketed(LIMIT, (6, 5, 4, 3), 3), 4)
    found = check(strategy, "crc/rc/", "AsKhQdJs")
    for seat in (0, 1):
        absent = (found.ranges[seat] == 0) & (found.met[seat] > 0)
        assert absent.sum() > 3
        np.testing.assert_array_equal(found.self_play[seat, absent], found.best_response[seat, absent])
    # A best response does not ask how often the hand is held.
    ranges = [np.where(found.ranges[0] > 0, 0.0, 1.0), found.ranges[1]]
    again = blueprint_values(strategy, "crc/rc/", "AsKhQdJs", ranges)
    np.testing.assert_allclose(again.best_response[0], found.best_response[0], rtol=1e-5, atol=1e-5)


def test_ranges_that_are_given() -> None:
    strategy = blueprint(NO_LIMIT, MENU, bucketed(NO_LIMIT, (6, 5, 4, 3), 5), 6)
    rng = np.random.default_rng(0)
    ranges = [rng.random(HANDS), Range.parse("KsQs, JsJh:0.5, QhAs")]  # the board rules the last one out
    found = check(strategy, "cc/cc/", "AsKhQhTs", ranges=ranges)
    assert np.count_nonzero(found.ranges[1]) == 2
    nobody = blueprint_values(strategy, "cc/cc/", "AsKhQhTs", [np.zeros(HANDS), ranges[0]])
    assert np.isnan(nobody.best_response[1]).all()
    assert not nobody.counterfactual[1].any()
    assert np.isnan(nobody.mean(nobody.self_play)[0])
    assert not np.isnan(nobody.best_response[0, hand_index(*parse_cards("JsJh"))])


def test_boards_whose_cards_suits_exchange_between_streets() -> None:
    """Spades and hearts exchange the ace of the flop and that of the turn: nothing changes for whoever forgets which came
    first, and everything for buckets that remember.
    """
    rules, rng = LIMIT, np.random.default_rng(7)
    whole = lossless(rules.board[1:], rules.deck)
    values = [rng.integers(0, 100, (1, n)).astype(np.uint16) for n in whole.counts]
    cuts = [np.array([[50]], np.uint16), *(rng.integers(0, 100, (n, 1)).astype(np.uint16) for n in (2, 4, 8))]
    streets = [StreetBuckets(n, v, cuts=c) for n, v, c in zip((2, 4, 8, 16), values, cuts, strict=True)]
    recalls = CardAbstraction(tuple(streets), rules.board[1:], rules.deck)
    public = PublicBuckets((np.arange(len(canonical_boards(3, rules.deck)[0])) % 3).astype(np.int32), 3, rules.deck)
    streets = [StreetBuckets(2, (np.arange(whole.counts[0]) % 2).astype(np.uint16)[None])]
    for shown in (3, 4, 5):
        made = cluster_private(public, shown, lambda _, hands, __: hands % 3)
        streets.append(StreetBuckets(int(made.first[-1]), made.labels, made.layer, first=made.first))
    splits = CardAbstraction(tuple(streets), rules.board[1:], rules.deck, public)
    ones = [np.ones(HANDS)] * 2
    for cards in (recalls, splits):
        strategy = blueprint(rules, None, cards, 8)
        check(strategy, "cc/cc/cc/", "AsKdQdAhJd", ranges=ones)
        check(strategy, "cc/cc/cc/", "JhKdQdAdJs", ranges=ones)


# --- whole games ------------------------------------------------------------------------------


WHOLE = {
    "three streets of 20 cards": (read_game("bench-3x20"), one_size("100%"), (5, 7, 9)),
    "four streets of 10 cards": (NO_LIMIT, MENU, (6, 5, 4, 3)),
}


@pytest.mark.parametrize("name", WHOLE)
def test_from_the_deal_the_best_response_of_the_game(name: str) -> None:
    """Values of all hands before the first move sum to what `quality` finds by another walk."""
    rules, menu, counts = WHOLE[name]
    strategy = blueprint(rules, menu, bucketed(rules, counts, 5), 6)
    found, wanted = blueprint_values(strategy, ""), quality(strategy)
    net = [found.mean(found.net(values)) for values in (found.self_play, found.best_response)]
    np.testing.assert_allclose(net, [wanted.values, wanted.best], rtol=1e-5, atol=1e-5)
    raw = found.counterfactual[0] - found.spent[0] * found.met[0]
    assert np.nansum(raw) / found.met[0].sum() == pytest.approx(wanted.best[0], rel=1e-5)


def test_the_general_walk_on_all_cards() -> None:
    """The unrolled game, its strategy asked hand by hand and line by line."""
    strategy = blueprint(LIMIT, None, bucketed(LIMIT, (6, 5, 4, 3), 9), 10)
    ranges = [Range.parse("AdKs, QhQs, JdAh:0.25"), Range.parse("KdKs, JdJh:0.5, AdQh")]
    solution = blueprint_solution(strategy, "cc/rc/", "AsKhQdJs", ranges)
    tree = compile_game(Unrolled.of(solution.tree.game))
    rows = {}
    for infoset in tree.infosets():
        hand, _, line = infoset.name.partition(":")
        first, _, later = line.partition("/")
        card, _, rest = later.partition("-")
        here = f"cc/rc/{first.replace('-', '')}" + (f"/{rest.replace('-', '')}" if card else "")
        rows[infoset.name] = strategy.at(here, hand, "AsKhQdJs" + card)
    wanted = best_response.quality(Strategy.from_mapping(tree, rows))
    found = blueprint_values(strategy, "cc/rc/", "AsKhQdJs", ranges)
    assert found.mean(found.best_response) == pytest.approx(wanted.best, rel=1e-5)
    assert found.mean(found.self_play) == pytest.approx(wanted.values, rel=1e-5)
    for seat in (0, 1):  # and as solutions are read
        np.testing.assert_allclose(
            solution[""].ev(seat), np.where(found.ranges[seat] > 0, found.self_play[seat], np.nan), rtol=1e-5, atol=1e-5
        )
        assert solution.earnings(seat, respond=True) == pytest.approx(wanted.best[seat], rel=1e-5)


# --- street by street -------------------------------------------------------------------------


STREETS = {
    "from the deal": (SHORT, MENU, "", ""),
    "a flop whose suits are alike": (LIMIT, None, "cc/", "AsKsQs"),
    "a raise on the flop": (NO_LIMIT, MENU, "cc/r6", "AsAhQh"),
    "a bet on the turn": (LIMIT, None, "crc/rc/r", "AsKhQdJs"),
}


@pytest.mark.parametrize("name", STREETS)
def test_street_by_street_the_same_as_at_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a table would be too large, one is made for each line of the street and each card that may follow."""
    rules, menu, line, board = STREETS[name]
    strategy = blueprint(rules, menu, bucketed(rules, (6, 5, 4, 3)[: rules.rounds], 11), 12)
    at_once = blueprint_values(strategy, line, board)
    numbers = blueprint_solution(strategy, line, board).tree.game.numbers
    monkeypatch.setattr("riverboat.strategies.blueprint_values.MOST_BYTES", 4 * numbers - 1)
    for threads in (1, 2):
        found = blueprint_values(strategy, line, board, threads=threads)
        np.testing.assert_allclose(found.self_play, at_once.self_play, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(found.best_response, at_once.best_response, rtol=1e-4, atol=1e-5)


# --- the rest ---------------------------------------------------------------------------------


def test_threads_change_nothing() -> None:
    strategy = blueprint(LIMIT, None, bucketed(LIMIT, (6, 5, 4, 3), 1), 2)
    one, two = (blueprint_values(strategy, "cc/", "AsKhQd", threads=threads) for threads in (1, 2))
    np.testing.assert_array_equal(one.self_play, two.self_play)
    np.testing.assert_array_equal(one.best_response, two.best_response)


def test_tables_of_steps() -> None:
    """Compact tables hold bytes, and a decision for which nothing was added is uniform."""
    strategy = blueprint(LIMIT, None, bucketed(LIMIT, (6, 5, 4, 3), 1), 2)
    tables = tuple(np.where(np.arange(len(t))[:, None] == 0, 0, t).astype(np.uint8) for t in strategy.average)
    check(replace(strategy, average=tables), "cc/cc/cc/", "AsKhQdJsJh")


def test_wrong_questions() -> None:
    strategy = blueprint(NO_LIMIT, MENU, bucketed(NO_LIMIT, (6, 5, 4, 3), 1), 2)
    good = np.ones(HANDS)
    for error, line, board, ranges in (
        ("no move 'r7'", "r7", "", None),
        ("the hand is over", "f", "", None),
        ("3 cards; the turn has 4", "cc/cc/", "AsKhQh", None),
        ("1 given; give one for each seat, oop and ip", "cc/", "AsKhQh", [good]),
        (r"range of ip: \(45,\) weights", "cc/", "AsKhQh", [good, good[:45]]),
        ("range of oop: a weight of -1", "cc/", "AsKhQh", [-good, good]),
        ("range of oop: a weight of nan", "cc/", "AsKhQh", [good * np.nan, good]),
    ):
        with pytest.raises(InputError, match=error):
            blueprint_values(strategy, line, board, ranges)
    with pytest.raises(InputError, match="threads=0"):
        blueprint_values(strategy, "cc/", "AsKhQh", threads=0)
    kuhn = read_game("kuhn")
    with pytest.raises(InputError, match="hands of two cards, and it deals 1"):
        blueprint_values(blueprint(kuhn, None, lossless((), kuhn.deck), 0), "")


def test_what_takes_too_long_is_refused() -> None:
    rules = read_game("limit")
    tree, cards = compile_actions(rules), lossless((3, 1, 1), rules.deck)
    sums = [np.zeros(int(width), np.uint8) for width in tree.width]
    tables = tuple(np.broadcast_to(some, (n, len(some))) for n, some in zip(cards.counts, sums, strict=True))
    strategy = BlueprintStrategy(rules, None, tree, cards, tables)
    with pytest.raises(InputError, match=r"values at root: .* minutes on 2 threads, .* ask on a later street"):
        blueprint_values(strategy, "", threads=2)


def test_how_many_numbers_a_table_has() -> None:
    """Where no two suits are alike, as many as the tree counts."""
    strategy = blueprint(LIMIT, None, bucketed(LIMIT, (6, 5, 4, 3), 1), 2)
    ranges = [np.random.default_rng(seed).random(HANDS) for seed in (0, 1)]
    for line, board in (("cc/", "AsKhQd"), ("cc/cc/r", "AsKhQdJs")):
        tree = blueprint_solution(strategy, line, board, ranges).tree
        assert tree.game.numbers == tree.table
