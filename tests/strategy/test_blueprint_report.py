"""What a blueprint tells of a line: who gets there with which hands, and what they play."""

from itertools import permutations

import numpy as np
import pytest

from random_blueprints import random_blueprint
from riverboat.cards.notation import show_cards
from riverboat.core.errors import InputError
from riverboat.games.holdem.betting import steps
from riverboat.strategies.reports import blueprint as report


@pytest.fixture(scope="module")
def leduc():
    return random_blueprint("leduc", seed=5)


@pytest.fixture(scope="module")
def bench():
    return random_blueprint("bench-2x52", seed=6, dtype=np.uint8)


def weight(strategy, seat, hand, line, board):
    """How often a seat makes its moves of a line with a hand: one look-up for each move."""
    found, done = 1.0, ""
    for step in steps(line):
        node = strategy.tree.find(done)
        if step != "/" and strategy.tree.actor[node] == seat:
            shown = board[: strategy.rules.board_sizes[strategy.tree.street[node]]]
            found *= strategy.at(done, hand, shown)[step]
        done += step
    return found


@pytest.mark.parametrize(("line", "board"), [("", ""), ("crr", ""), ("crc/", "Ks"), ("rc/crr", "As")])
def test_weights_and_chances_are_those_of_all_deals(leduc, line, board):
    node = report.at_line(leduc, line, board)
    cards = [int(c) for c in leduc.rules.deck.cards]
    dealt = [c for c in cards if show_cards([c]) != board]
    assert node.hands.ravel().tolist() == dealt
    shown = node.board
    for seat in (0, 1):
        right = [weight(leduc, seat, [card], line, shown) for card in dealt]
        np.testing.assert_allclose(node.reach[seat], right, rtol=1e-12)
    pairs = list(permutations(dealt, 2))
    both = [weight(leduc, 0, [a], line, shown) * weight(leduc, 1, [b], line, shown) for a, b in pairs]
    assert node.chance == pytest.approx(sum(both) / len(pairs))
    for move in node.moves:
        plays = [leduc.at(line, [pair[node.seat]], shown)[move] for pair in pairs]
        assert node.frequencies[move] == pytest.approx(np.dot(both, plays) / sum(both))


def test_lines_of_a_street_share_out_what_comes(bench):
    nodes = {node.line: node for node in report.first_street(bench)}
    assert list(nodes) == ["", "c", "r6", "cr6"]
    assert nodes[""].chance == pytest.approx(1)
    assert nodes["c"].chance == pytest.approx(nodes[""].frequencies["c"])
    assert nodes["cr6"].chance == pytest.approx(nodes["c"].chance * nodes["c"].frequencies["r6"])
    np.testing.assert_array_equal(nodes["cr6"].reach, report.at_line(bench, "cr6").reach)


def test_two_cards_block_each_other(bench):
    node = report.at_line(bench, "r6c/", "AsKd2c")
    assert len(node.hands) == 49 * 48 // 2
    one = 700
    apart = [not set(h) & set(node.hands[one].tolist()) for h in node.hands.tolist()]
    for seat in (0, 1):
        right = node.reach[seat, one] * node.reach[1 - seat, apart].sum()
        assert node.deals[seat, one] == pytest.approx(right)


def test_tables_of_a_flop_agree_with_single_hands(bench):
    node = report.at_line(bench, "r6c/c", "AsKd2c")
    assert node.seat == 1
    combos = report.table(node, "combos")
    row, told = combos["QhJh"], report.hand(node, "JhQh")
    assert told["frequencies"] == {"c": row["c"], "r18": row["r18"]} == bench.at("r6c/c", "QhJh", "AsKd2c")
    assert (told["weight"], str(told["bucket"])) == (row["weight"], row["bucket"])
    assert (row["made"], row["draws"]) == ("high card", "gutshot")
    by_class = report.table(node, "classes")
    suited = [combos[name] for name in ("QsJs", "QhJh", "QdJd", "QcJc")]
    assert by_class["QJs"]["combos"] == pytest.approx(sum(r["weight"] for r in suited))
    assert by_class["QJs"]["weight"] == pytest.approx(sum(r["weight"] for r in suited) / 4)
    made = report.table(node, "made")
    assert sum(made.column("combos")) == pytest.approx(node.reach[1].sum())
    for by in ("classes", "made"):
        rows = report.table(node, by)
        shares = np.array([[r["c"], r["r18"]] for r in rows])
        np.testing.assert_allclose(shares.sum(axis=1), 1)
    buckets = report.table(node, "buckets")
    assert sum(buckets.column("hands")) == len(node.hands)
    assert buckets[str(told["bucket"])]["c"] == pytest.approx(row["c"])
    assert set(report.table(node, "combos", "oop").names) == {"hand", "weight", "bucket", "made", "draws"}


def test_the_grid_shows_moves_of_who_acts_and_weights_of_the_other(bench):
    node = report.at_line(bench, "r6c/", "AsKd2c")
    mine, other = report.grid(node), report.grid(node, "ip")
    assert {name: mine.share(name) for name in node.moves} == pytest.approx(node.frequencies)
    cell = (2, 3)  # QJs
    row = report.table(node, "classes")["QJs"]
    assert mine.weight[cell] == pytest.approx(row["weight"])
    assert mine.frequencies["c"][cell] == pytest.approx(row["c"])
    assert not other.frequencies
    assert other.weight[cell] == pytest.approx(report.table(node, "classes", "ip")["QJs"]["weight"])
    held = node.range(1)
    assert held.combos == pytest.approx(node.reach[1].sum())
    assert held.weight("AsQh") == 0


def test_small_decks(leduc):
    short = random_blueprint("bench-3x20")
    node = report.at_line(short, "cc/cc/", "AsKdTcTd")
    assert report.choices(node) == report.BY
    assert report.grid(node).weight[12, 12] == 0  # 22 is not in the deck
    assert node.range(0) is None
    one = report.at_line(leduc, "cc/", "As")
    assert report.grid(one) is None
    assert report.table(one).column("hand") == ["Ah", "Ks", "Kh", "Qs", "Qh"]
    with pytest.raises(InputError, match=r"unknown table 'classes'.*buckets, combos"):
        report.table(one, "classes")


def test_a_line_that_nobody_plays_has_no_weights():
    strategy = random_blueprint("leduc", seed=5)
    strategy.average[0][:, 1] = 0  # seat 0 never bets first
    node = report.at_line(strategy, "rc/", "As")
    assert node.chance == 0
    assert not node.reach[0].any()
    assert node.reach[1].all()
    assert node.absent == (0,)
    assert sum(node.frequencies.values()) == pytest.approx(1)  # as if seat 0 could hold any hand
    assert all(row["c"] + row["r"] == pytest.approx(1) for row in report.table(node, "combos"))


def test_summary_and_headline(bench):
    node = report.at_line(bench, "r6c/", "AsKd2c")
    told = report.summary(node)
    assert {"line": "r6c/", "board": "AsKd2c", "street": "flop", "pot": 12, "player": "oop"}.items() <= told.items()
    assert report.headline(node).startswith("r6c/: oop to act on the flop As Kd 2c, pot 12, behind 156 and 156; ")
    assert [row["action"] for row in told["actions"]] == list(node.moves)
    assert sum(row["combos"] for row in told["actions"]) == pytest.approx(told["oop"]["combos"])


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda s: report.at_line(s, "r7c/", "AsKd2c"), r"no move 'r7' at '' in this tree: f, c, r6"),
        (lambda s: report.at_line(s, "r6c/", "AsKd"), r"2 cards; the flop has 3"),
        (lambda s: report.at_line(s, "f"), "the hand is over"),
        (lambda s: report.hand(report.at_line(s, "r6c/", "AsKd2c"), "AsQs"), "As is on the board AsKd2c"),
        (lambda s: report.table(report.at_line(s, ""), "made"), "unknown table 'made'"),
        (lambda s: report.grid(report.at_line(s, ""), "dealer"), "unknown player 'dealer'"),
    ],
)
def test_what_is_refused(bench, ask, message):
    with pytest.raises(InputError, match=message):
        ask(bench)
