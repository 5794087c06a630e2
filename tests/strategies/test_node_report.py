"""Reports of a node: values against the node's arrays, sums against totals, exports against reports."""

import csv
import io
import json

import numpy as np
import pytest
from rich.console import Console

from riverboat.cards.deck import HAND_CARDS, hand_index
from riverboat.cards.grid import CLASS_NAMES
from riverboat.cards.hand_classes import DRAWS, MADE_HANDS, classify
from riverboat.cards.notation import parse_hand
from riverboat.cards.ranges import Range
from riverboat.core.errors import InputError
from riverboat.core.tables import ReportColumn, ReportTable
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.cfr import BoardCFR
from riverboat.strategies.reports import comparison, export
from riverboat.strategies.reports import node as node_report
from riverboat.trees.boards import BoardTree

SPOT = Spot.make(
    board="Td9d6hQc", pot=100, stack=200, oop="AA,KsKd,JTs:0.5,8h7h,8s7s,AdKd:0.25", ip="QQ,T9s,5d4d:0.7,AJs,A5o:0.5",
    bets="50%", raises="a", name="small",
)  # fmt: skip


@pytest.fixture(scope="module")
def solution():
    solver = BoardCFR(BoardTree(SPOT), "dcfr")
    solver.step(60)
    return solver.average()


def number(hand):
    return hand_index(*parse_hand(hand))


# --- summary ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "pot", "stacks", "player"),
    [
        ("", 100, (200, 200), "oop"),
        ("b50", 150, (150, 200), "ip"),
        ("b50-c", 200, (150, 150), None),
        ("b50-c/2c-x", 200, (150, 150), "ip"),
        ("b50-a", 350, (150, 0), "oop"),
    ],
)
def test_summary(solution, line, pot, stacks, player):
    summary, node = node_report.node_summary(solution[line]), solution[line]
    assert (summary.pot, summary.stacks, summary.player) == (pot, stacks, player)
    assert summary.combos == node.combos
    assert sum(summary.ev) == pytest.approx(pot, abs=0.01)  # without rake the players share the pot
    assert sum(summary.equity) == pytest.approx(1, abs=1e-9)
    for seat in (0, 1):
        assert summary.ev[seat] == pytest.approx(node.range_mean(seat, node.ev(seat)))
        assert summary.eqr[seat] == pytest.approx(summary.ev[seat] / (summary.equity[seat] * pot))
    if player is None:
        assert summary.frequencies == {}
        return
    assert tuple(summary.frequencies) == node.actions
    assert sum(summary.frequencies.values()) == pytest.approx(1)
    actor = node.player
    assert sum(summary.actions.column("combos")) == pytest.approx(summary.combos[actor])
    mean_ev = sum(row["frequency"] * row["ev"] for row in summary.actions if row["ev"] is not None)
    assert mean_ev == pytest.approx(summary.ev[actor], abs=0.01)


def test_representations(solution):
    console = Console(file=io.StringIO(), width=120)
    node = solution["b50"]
    for report in (
        node_report.node_summary(node),
        node_report.hands_table(node),
        node_report.hand_report(node, "QsQh"),
    ):
        assert "EV" in str(report)
        assert "<" in report._repr_html_()
        json.dumps(report.to_dict(), allow_nan=False)
    console.print(node_report.node_summary(node))
    text = console.file.getvalue()
    assert "b50: ip to act on the turn Td9d6hQc, pot 150, behind 150 and 200" in text
    assert "EQR" in text


# --- single hands -----------------------------------------------------------------------------


def test_hand(solution):
    node, h = solution["x"], number("QsQh")
    report = node_report.hand_report(node, "QhQs")
    assert (report.hand, report.player, report.made, report.draws) == ("QsQh", "ip", "set", ("no draw",))
    assert report.weight == 1
    assert report.ev == node.ev(1)[h]
    assert report.equity == node.equity[1][h]
    assert report.eqr == pytest.approx(report.ev / (report.equity * 100))
    assert list(report.frequencies.values()) == node.strategy[:, h].tolist()
    assert report.action_ev["x"] == node.action_ev()[0][h]
    other = node_report.hand_report(node, "AdKd", "oop")
    assert other.frequencies == {}
    assert other.weight == pytest.approx(0.25 * solution[""].strategy[0][number("AdKd")])


@pytest.mark.parametrize(
    ("hand", "player", "place"),
    [
        ("TdTs", None, "Td .*Td9d6hQc"),
        ("7c2d", None, "7c2d|2d7c.*ip"),
        ("AsAh", None, "AsAh.*ip"),
        ("As", None, "As.*2"),
        ("QsQh", "hero", "'hero'"),
    ],
)
def test_invalid_hands(solution, hand, player, place):
    with pytest.raises(InputError, match=place):
        node_report.hand_report(solution["x"], hand, player)


# --- tables -----------------------------------------------------------------------------------


def test_combos_are_the_possible_hands(solution):
    node = solution["x-x/Ah"]
    table = node_report.hands_table(node, "combos")
    hands = [number(name) for name in table.column("hand")]
    possible = (SPOT.weights[0] > 0) & ~np.isin(HAND_CARDS, node.board).any(axis=1)
    assert sorted(hands) == np.flatnonzero(possible).tolist()
    assert "AhAs" not in table.column("hand")
    assert sum(table.column("combos")) == pytest.approx(node.combos[0])
    row = table["KsKd"]
    h = number("KsKd")
    assert row["x"] + row["b50"] == pytest.approx(1)
    assert row["ev"] == node.ev(0)[h]
    assert row["ev_b50"] == node.action_ev()[1][h]
    assert (row["made"], row["draws"]) == (classify("KsKd", node.board).made, "")


@pytest.mark.parametrize(
    ("by", "names"), [("classes", CLASS_NAMES), ("made", MADE_HANDS), ("groups", MADE_HANDS + DRAWS)]
)
@pytest.mark.parametrize("player", ["oop", "ip"])
def test_groups_sum_to_the_range(solution, by, names, player):
    node, seat = solution["x"], ("oop", "ip").index(player)
    table = node_report.hands_table(node, by, player)
    summary = node_report.node_summary(node)
    assert set(table.column(table.names[0])) <= set(names)
    if by != "groups":  # draws overlap
        assert sum(table.column("combos")) == pytest.approx(summary.combos[seat])
    assert ("b50" in table.names) == (player == "ip")
    deals = node.reach[seat] * node.compatible_weight(seat)
    for row in table:
        if row[table.names[0]] == "overpair":
            overpairs = np.array(
                [classify(HAND_CARDS[h], SPOT.board).made == "overpair" for h in np.flatnonzero(deals)]
            )
            chosen = np.flatnonzero(deals)[overpairs]
            assert row["combos"] == pytest.approx(node.reach[seat][chosen].sum())
            assert row["ev"] == pytest.approx((node.ev(seat) * deals)[chosen].sum() / deals[chosen].sum())


def test_draws(solution):
    table = node_report.hands_table(solution[""], "draws")
    assert table["nut flush draw"]["combos"] == 0.25  # AdKd
    assert table["open-ended"]["combos"] == pytest.approx(1.5)  # JsTs, JhTh and JcTc by halves
    assert "flush draw" not in table.column("draw")
    with pytest.raises(InputError, match="'straight draw'"):
        table["straight draw"]


def test_tables_sort_and_index_by_name(solution):
    table = node_report.hands_table(solution[""], "combos").sorted("ev")
    evs = [ev for ev in table.column("ev") if ev is not None]
    assert evs == sorted(evs, reverse=True)
    assert len(table.top(3)) == 3
    with pytest.raises(InputError, match=r"'evv'.*'ev'"):
        table.sorted("evv")
    with pytest.raises(InputError, match="'suits'"):
        node_report.hands_table(solution[""], "suits")
    rows = list(csv.DictReader(io.StringIO(table.to_csv())))
    assert [row["hand"] for row in rows] == table.column("hand")
    assert float(rows[0]["ev"]) == evs[0]


def test_missing_values_sort_last_and_print_empty():
    table = ReportTable("t", (ReportColumn("name"), ReportColumn("ev", "chips")), (("a", None), ("b", 1.0), ("c", 2.0)))
    assert table.sorted("ev").column("name") == ["c", "b", "a"]
    assert str(table).splitlines()[2].strip() == "a"
    assert table.to_csv() == "name,ev\na,\nb,1.0\nc,2.0\n"


@pytest.mark.parametrize(
    ("text", "count"), [("AJs", 4), ("AJ", 4), ("QQ", 3), ("A5o", 12), ("QQ,5d4d", 4), ("QQ-TT", 3)]
)
def test_hands_of_a_class(solution, text, count):
    node = solution["x"]
    table = node_report.selected_hands_table(node, text)
    chosen = [number(name) for name in table.column("hand")[:-1]]
    expected = (Range.parse(text).weights > 0) & (SPOT.weights[1] > 0)
    assert sorted(chosen) == np.flatnonzero(expected).tolist()
    assert len(chosen) == count
    all_hands = node_report.hands_table(node, "combos")
    assert [table[name] for name in table.column("hand")[:-1]] == [
        row for row in all_hands if number(row["hand"]) in chosen
    ]
    deals = (node.reach[1] * node.compatible_weight(1))[chosen]
    means = table["all"]
    assert means["combos"] == pytest.approx(node.reach[1][chosen].sum())
    assert means["ev"] == pytest.approx(node.ev(1)[chosen] @ deals / deals.sum())
    assert means["b50"] == pytest.approx(node.strategy[1][chosen] @ deals / deals.sum())
    assert means["ev_b50"] == pytest.approx(node.action_ev()[1][chosen] @ deals / deals.sum())
    assert means["eqr"] == pytest.approx(means["ev"] / (means["equity"] * 100))


def test_hands_of_the_other_player_and_missing_hands(solution):
    table = node_report.selected_hands_table(solution["x"], "AA", "oop")
    assert "b50" not in table.names
    assert table["all"]["combos"] == pytest.approx(sum(table.column("combos")[:-1]))
    with pytest.raises(InputError, match=r"'KK' at 'x'.*ip"):
        node_report.selected_hands_table(solution["x"], "KK")
    with pytest.raises(InputError, match="'AX'"):
        node_report.selected_hands_table(solution["x"], "AX")


# --- ranges as text -------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ["", "x", "b50", "x-x/Ah", "x-b50-c/2c-x"])
@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("digits", [2, 3, 6])
def test_range_text_round_trip(solution, line, player, digits):
    node = solution[line]
    again = Range.parse(node.range_text(player, digits), allow_empty=True).remove(node.board)
    assert np.abs(again.weights - node.reach[player]).max() <= 0.5 * 10**-digits + 1e-12
    assert node.range(player).weights == pytest.approx(node.reach[player])


def test_range_text_uses_classes(solution):
    """Also where the board blocks some hands of a class: Qc is on the board, and QQ stays QQ."""
    assert solution["x"].range_text() == "QQ,AJs,T9s,A5o:0.5,5d4d:0.7"
    assert solution["x"].range_text("ip") == solution[""].range_text("ip")
    assert solution[""].range_text("oop") == "AA,JTs:0.5,AdKd:0.25,KsKd,8s7s,8h7h"


# --- grid -------------------------------------------------------------------------------------


def test_grid(solution, tmp_path):
    node = solution["x"]
    grid = node_report.strategy_grid(node)
    for name, share in node_report.node_summary(node).frequencies.items():
        assert grid.share(name) == pytest.approx(share, abs=1e-9)
    cell = CLASS_NAMES.index("A5o")
    assert grid.weight.ravel()[cell] == pytest.approx(0.5)
    assert grid.weight.ravel()[CLASS_NAMES.index("54s")] == pytest.approx(0.7 / 4)  # one of four hands
    assert grid.weight.ravel()[CLASS_NAMES.index("AA")] == 0
    weights = node_report.strategy_grid(node, "oop")
    assert not weights.frequencies
    assert weights.weight.ravel()[CLASS_NAMES.index("AA")] > 0
    grid.save(tmp_path / "grid.png")
    assert (tmp_path / "grid.png").read_bytes().startswith(b"\x89PNG")


# --- runouts ----------------------------------------------------------------------------------


def test_runouts_average_to_the_chance_node(solution):
    node = solution["x-x"]
    table, summary = comparison.node_runouts(node), node_report.node_summary(solution["x-x"])
    assert len(table) == 48
    chances = np.array(table.column("chance"))
    assert chances.sum() == pytest.approx(1)
    for seat, name in enumerate(("oop", "ip")):
        assert chances @ np.array(table.column(f"ev_{name}")) == pytest.approx(summary.ev[seat], abs=0.01)
        assert chances @ np.array(table.column(f"equity_{name}")) == pytest.approx(summary.equity[seat], abs=1e-9)
    row, child = table["Ah"], node_report.node_summary(solution["x-x/Ah"])
    assert [row[move] for move in solution["x-x/Ah"].actions] == list(child.frequencies.values())
    assert row["ev_ip"] == child.ev[1]


def test_runouts_of_a_later_node_replace_its_last_card(solution):
    table = comparison.node_runouts(solution["x-x/2c-x"])
    assert len(table) == 48
    assert table["Ks"]["ev_oop"] == node_report.node_summary(solution["x-x/Ks-x"]).ev[0]
    with pytest.raises(InputError, match="'x'"):
        comparison.node_runouts(solution["x"])


@pytest.mark.parametrize("line", ["x-x/*", "x-x/*-b50", "b50-c/*-x"])
def test_wildcard_is_the_mean_over_cards(solution, line):
    table = solution.runouts(line)
    assert len(table) == 48 + 1
    nodes = [solution[line.replace("*", str(card))] for card in table.column("card")[:-1]]
    mass = np.array([float(n.reach[0] @ n.compatible_weight(0)) for n in nodes])
    assert table.column("chance")[:-1] == pytest.approx(mass / mass.sum())
    means = table["all"]
    assert means["chance"] == pytest.approx(1)
    totals = [n.pair_weights[1] for n in nodes]
    played = sum(n.reach_probability * w for n, w in zip(nodes, totals, strict=True)) / sum(totals)
    assert means["played"] == pytest.approx(played)
    seat = nodes[0].player
    frequencies = sum(
        np.array([n.range_mean(seat, probability) for probability in n.strategy]) * m
        for n, m in zip(nodes, mass, strict=True)
    )
    assert [means[move] for move in nodes[0].actions] == pytest.approx(frequencies / mass.sum())
    ev = sum(n.range_mean(0, n.ev(0)) * m for n, m in zip(nodes, mass, strict=True))
    assert means["ev_oop"] == pytest.approx(ev / mass.sum())
    assert means["eqr_oop"] == pytest.approx(means["ev_oop"] / (means["equity_oop"] * node_report.pot(nodes[0])))


def test_reach_probability(solution):
    assert solution[""].reach_probability == 1
    frequencies = node_report.node_summary(solution[""]).frequencies
    assert solution["b50"].reach_probability == pytest.approx(frequencies["b50"])
    assert solution["x-x"].reach_probability == pytest.approx(
        frequencies["x"] * node_report.node_summary(solution["x"]).frequencies["x"]
    )
    rest = [solution[f"x-x/2c-{move}"].reach_probability for move in solution["x-x/2c"].actions]
    assert sum(rest) == pytest.approx(solution["x-x/2c"].reach_probability)


def test_wildcard_equals_the_chance_node(solution):
    """The means over the cards are the EVs of the chance node."""
    means, summary = solution.runouts("x-x/*")["all"], node_report.node_summary(solution["x-x"])
    assert (means["ev_oop"], means["ev_ip"]) == pytest.approx(summary.ev, abs=0.01)


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("x-x", r"'x-x'.*\*"),
        ("x-*", r"'x-\*'"),
        ("x-x/**", r"'x-x/\*\*'"),
        ("x/*", r"'x/\*'"),
        ("x-x/*-b99", "x, b50"),
    ],
)
def test_invalid_wildcard_lines(solution, line, place):
    with pytest.raises(InputError, match=place):
        solution.runouts(line)


def test_runouts_after_all_in(solution):
    table = comparison.node_runouts(solution["b50-a-c"])
    assert table.names[:4] == ("card", "chance", "played", "ev_oop")
    row = table["2c"]
    assert row["ev_oop"] == pytest.approx(500 * row["equity_oop"], abs=0.01)


# --- exports ----------------------------------------------------------------------------------


def test_json_of_a_node(solution):
    node = solution["x-x/Ah"]
    found = export.node_dict(node)
    assert (found["line"], found["board"], found["pot"], found["player"]) == ("x-x/Ah", "Td9d6hQcAh", 100, "oop")
    hands = {row["hand"]: row for row in found["oop"]["hands"]}
    assert not any("Ah" in hand or "Td" in hand for hand in hands)
    assert hands["AdKd"]["weight"] == pytest.approx(0.25 * solution[""].strategy[0][number("AdKd")], abs=1e-6)
    assert sum(hands["AdKd"]["strategy"].values()) == pytest.approx(1, abs=1e-5)
    assert hands["AdKd"]["action_ev"]["x"] == pytest.approx(node.action_ev()[0][number("AdKd")], abs=1e-6)
    assert all("strategy" not in row for row in found["ip"]["hands"])
    json.dumps(found, allow_nan=False)


def test_csv_agrees_with_json(solution, tmp_path):
    assert export.export(solution, tmp_path / "n.json", "b50") == 1
    assert export.export(solution, tmp_path / "n.csv", "b50") == 1
    (node,) = json.loads((tmp_path / "n.json").read_text())["nodes"]
    rows = list(csv.DictReader((tmp_path / "n.csv").read_text().splitlines()))
    hands = [(name, row) for name in ("oop", "ip") for row in node[name]["hands"]]
    assert len(rows) == len(hands)
    for row, (player, hand) in zip(rows, hands, strict=True):
        assert (row["line"], row["board"], row["player"], row["hand"]) == ("b50", "Td9d6hQc", player, hand["hand"])
        for key in ("weight", "ev", "equity", "eqr"):
            assert (float(row[key]) if row[key] else None) == hand[key]
        assert (row["frequency_c"] != "") == (player == "ip")
        if player == "ip":
            assert float(row["frequency_c"]) == hand["strategy"]["c"]
            assert float(row["ev_a"]) == hand["action_ev"]["a"]


def test_nodes_over_several_streets(solution, tmp_path):
    first = [node.line for node in export.iterate_nodes(solution)]
    assert first == ["", "x", "x-b50", "x-b50-a", "b50", "b50-a"]
    both = list(export.iterate_nodes(solution, "x-x", 2))
    cards = {node.line.split("/")[1][:2] for node in both}
    assert len(cards) == 48
    decisions = len([line for line in (node.line for node in both) if line.startswith("x-x/2c")])
    assert len(both) == 48 * decisions
    with pytest.raises(InputError, match="depth 0"):
        next(export.iterate_nodes(solution, "", 0))
    count = export.export(solution, tmp_path / "all.csv", depth=1)
    rows = list(csv.DictReader((tmp_path / "all.csv").read_text().splitlines()))
    assert count == len(first)
    assert list(dict.fromkeys(row["line"] for row in rows)) == first
    aces = [row for row in rows if row["hand"] == "AsAh" and row["line"] == "" and row["player"] == "oop"]
    assert [row["action"] for row in aces] == ["x", "b50"]
    assert sum(float(row["frequency"]) for row in aces) == pytest.approx(1, abs=1e-5)
    with pytest.raises(InputError, match=r"all\.txt.*\.json.*\.csv"):
        export.export(solution, tmp_path / "all.txt")


# --- methods ----------------------------------------------------------------------------------


def test_report_methods(solution, tmp_path):
    node = solution["x"]
    assert node.summary() == node_report.node_summary(node)
    assert node.hand("QsQh") == node_report.hand_report(node, "QsQh")
    assert node.table("classes", "oop") == node_report.hands_table(node, "classes", "oop")
    assert str(node.grid()) == str(node_report.strategy_grid(node))
    assert solution["x-x"].runouts() == comparison.node_runouts(solution["x-x"])
    assert str(node) == str(node.summary())
    assert node._repr_html_() == node.summary()._repr_html_()
    assert solution.export(tmp_path / "a.csv", "x") == 1
