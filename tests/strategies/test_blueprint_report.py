"""Reports of a blueprint at a line: ranges, reach probabilities and strategies."""

from itertools import permutations

import numpy as np
import pytest

from random_blueprints import random_blueprint
from riverboat.cards.notation import format_cards
from riverboat.core.errors import InputError
from riverboat.games.holdem.betting import split_line
from riverboat.strategies.reports import blueprint as report


@pytest.fixture(scope="module")
def leduc():
    return random_blueprint("leduc", seed=5)


@pytest.fixture(scope="module")
def bench():
    return random_blueprint("bench-2x52", seed=6, dtype=np.uint8)


def weight(strategy, seat, hand, line, board):
    """Probability that a seat plays its actions of a line with a hand, by one look-up per action."""
    probability, done = 1.0, ""
    for step in split_line(line):
        node = strategy.tree.find(done)
        if step != "/" and strategy.tree.actor[node] == seat:
            public = board[: strategy.rules.board_sizes[strategy.tree.street[node]]]
            probability *= strategy.hand_probabilities(done, hand, public)[step]
        done += step
    return probability


@pytest.mark.parametrize(("line", "board"), [("", ""), ("crr", ""), ("crc/", "Ks"), ("rc/crr", "As")])
def test_weights_and_reach_equal_enumeration_of_deals(leduc, line, board):
    node = report.node_at_line(leduc, line, board)
    cards = [int(c) for c in leduc.rules.deck.cards]
    dealt = [c for c in cards if format_cards([c]) != board]
    assert node.hands.ravel().tolist() == dealt
    shown = node.board
    for seat in (0, 1):
        expected = [weight(leduc, seat, [card], line, shown) for card in dealt]
        np.testing.assert_allclose(node.reach[seat], expected, rtol=1e-12)
    pairs = list(permutations(dealt, 2))
    joint = [weight(leduc, 0, [a], line, shown) * weight(leduc, 1, [b], line, shown) for a, b in pairs]
    assert node.reach_probability == pytest.approx(sum(joint) / len(pairs))
    for move in node.moves:
        plays = [leduc.hand_probabilities(line, [pair[node.seat]], shown)[move] for pair in pairs]
        assert node.frequencies[move] == pytest.approx(np.dot(joint, plays) / sum(joint))


def test_reach_of_preflop_lines(bench):
    nodes = {node.line: node for node in report.first_street_nodes(bench)}
    assert list(nodes) == ["", "c", "r6", "cr6"]
    assert nodes[""].reach_probability == pytest.approx(1)
    assert nodes["c"].reach_probability == pytest.approx(nodes[""].frequencies["c"])
    assert nodes["cr6"].reach_probability == pytest.approx(nodes["c"].reach_probability * nodes["c"].frequencies["r6"])
    np.testing.assert_array_equal(nodes["cr6"].reach, report.node_at_line(bench, "cr6").reach)


def test_two_cards_block_each_other(bench):
    node = report.node_at_line(bench, "r6c/", "AsKd2c")
    assert len(node.hands) == 49 * 48 // 2
    row = 700
    disjoint = [not set(h) & set(node.hands[row].tolist()) for h in node.hands.tolist()]
    for seat in (0, 1):
        expected = node.reach[seat, row] * node.reach[1 - seat, disjoint].sum()
        assert node.deal_weights[seat, row] == pytest.approx(expected)


def test_tables_agree_with_single_hands(bench):
    node = report.node_at_line(bench, "r6c/c", "AsKd2c")
    assert node.seat == 1
    combos = report.hands_table(node, "combos")
    row, hand = combos["QhJh"], report.hand_report(node, "JhQh")
    assert (
        hand["frequencies"] == {"c": row["c"], "r18": row["r18"]} == bench.hand_probabilities("r6c/c", "QhJh", "AsKd2c")
    )
    assert (hand["weight"], str(hand["bucket"])) == (row["weight"], row["bucket"])
    assert (row["made"], row["draws"]) == ("high card", "gutshot")
    by_class = report.hands_table(node, "classes")
    suited = [combos[name] for name in ("QsJs", "QhJh", "QdJd", "QcJc")]
    assert by_class["QJs"]["combos"] == pytest.approx(sum(r["weight"] for r in suited))
    assert by_class["QJs"]["weight"] == pytest.approx(sum(r["weight"] for r in suited) / 4)
    made = report.hands_table(node, "made")
    assert sum(made.column("combos")) == pytest.approx(node.reach[1].sum())
    for by in ("classes", "made"):
        rows = report.hands_table(node, by)
        shares = np.array([[r["c"], r["r18"]] for r in rows])
        np.testing.assert_allclose(shares.sum(axis=1), 1)
    buckets = report.hands_table(node, "buckets")
    assert sum(buckets.column("hands")) == len(node.hands)
    assert buckets[str(hand["bucket"])]["c"] == pytest.approx(row["c"])
    assert set(report.hands_table(node, "combos", "oop").names) == {"hand", "weight", "bucket", "made", "draws"}


def test_grid_has_actions_of_the_actor_and_weights_of_the_other(bench):
    node = report.node_at_line(bench, "r6c/", "AsKd2c")
    acting, other = report.strategy_grid(node), report.strategy_grid(node, "ip")
    assert {name: acting.share(name) for name in node.moves} == pytest.approx(node.frequencies)
    cell = (2, 3)  # QJs
    row = report.hands_table(node, "classes")["QJs"]
    assert acting.weight[cell] == pytest.approx(row["weight"])
    assert acting.frequencies["c"][cell] == pytest.approx(row["c"])
    assert not other.frequencies
    assert other.weight[cell] == pytest.approx(report.hands_table(node, "classes", "ip")["QJs"]["weight"])
    weights = node.range(1)
    assert weights.combos == pytest.approx(node.reach[1].sum())
    assert weights.weight("AsQh") == 0


def test_small_decks(leduc):
    short = random_blueprint("bench-3x20")
    node = report.node_at_line(short, "cc/cc/", "AsKdTcTd")
    assert report.available_tables(node) == report.TABLES
    assert report.strategy_grid(node).weight[12, 12] == 0  # 22 is not in the deck
    assert node.range(0) is None
    one_card = report.node_at_line(leduc, "cc/", "As")
    assert report.strategy_grid(one_card) is None
    assert report.hands_table(one_card).column("hand") == ["Ah", "Ks", "Kh", "Qs", "Qh"]
    with pytest.raises(InputError, match=r"'classes'.*buckets, combos"):
        report.hands_table(one_card, "classes")


def test_unreached_line_has_reach_zero():
    strategy = random_blueprint("leduc", seed=5)
    strategy.average[0][:, 1] = 0  # seat 0 never bets first
    node = report.node_at_line(strategy, "rc/", "As")
    assert node.reach_probability == 0
    assert not node.reach[0].any()
    assert node.reach[1].all()
    assert node.unreachable_seats == (0,)
    assert sum(node.frequencies.values()) == pytest.approx(1)  # as if seat 0 could hold any hand
    assert all(row["c"] + row["r"] == pytest.approx(1) for row in report.hands_table(node, "combos"))


def test_summary_and_headline(bench):
    node = report.node_at_line(bench, "r6c/", "AsKd2c")
    summary = report.node_summary(node)
    assert {"line": "r6c/", "board": "AsKd2c", "street": "flop", "pot": 12, "player": "oop"}.items() <= summary.items()
    assert report.headline(node).startswith("r6c/: oop to act on the flop As Kd 2c, pot 12, behind 156 and 156; ")
    assert [row["action"] for row in summary["actions"]] == list(node.moves)
    assert sum(row["combos"] for row in summary["actions"]) == pytest.approx(summary["oop"]["combos"])


@pytest.mark.parametrize(
    ("query", "place"),
    [
        (lambda s: report.node_at_line(s, "r7c/", "AsKd2c"), r"'r7'.*f, c, r6"),
        (lambda s: report.node_at_line(s, "r6c/", "AsKd"), r"'AsKd'.*flop"),
        (lambda s: report.node_at_line(s, "f"), "line 'f'"),
        (lambda s: report.hand_report(report.node_at_line(s, "r6c/", "AsKd2c"), "AsQs"), "AsQs at 'r6c/'.*AsKd2c"),
        (lambda s: report.hands_table(report.node_at_line(s, ""), "made"), "'made'"),
        (lambda s: report.strategy_grid(report.node_at_line(s, ""), "dealer"), "'dealer'"),
    ],
)
def test_invalid_queries(bench, query, place):
    with pytest.raises(InputError, match=place):
        query(bench)
