"""Spots on the command line: solving, estimates, many boards, reports and exports."""

import csv
import json
import re
import time as clock
from pathlib import Path

import pytest

import riverboat as rb
from riverboat.api import boards as many_boards
from riverboat.api.options import parse_byte_size, parse_target
from riverboat.api.spots import spot_from_texts
from riverboat.cards.ranges import Range
from riverboat.core.errors import InputError
from riverboat.explain.spot_decisions import card_decisions
from riverboat.formats import spot_file
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.cfr import BOARD_SCHEDULE, BoardCFR
from riverboat.strategies.solution import Solution
from riverboat.trees.boards import BoardTree

KEYS = [
    "exploitability_pct", "iterations", "seconds", "ev_oop", "ev_ip", "equity_oop", "memory_mb", "threads",
]  # fmt: skip
RIVER = """
board = "Td9d6hQc2s"
pot = 200
stack = 900
[ranges]
oop = "66+,A8s+,KQo,QTs+,JTs,98s,87s,54s"
ip = "QQ-22,ATs+,KJs+,T8s+,97s+,65s"
[bets]
river = { bet = "60%, a", raise = "2.5x" }
[tree]
add_all_in = "150%"
"""
TURN = """
board = "Td9d6hQc"
pot = 100
stack = 200
[ranges]
oop = "AA,KsKd,JTs:0.5,8h7h"
ip = "QQ,T9s,5d4d:0.7"
[bets]
turn = { bet = "50%", raise = "a" }
"""
FLAGS = [
    "--board", "Td9d6hQc", "--pot", 100, "--stack", 200, "--oop", "AA,KsKd,JTs:0.5,8h7h", "--ip", "QQ,T9s,5d4d:0.7",
    "--bets", "50%", "--raises", "a",
]  # fmt: skip


@pytest.fixture
def files(tmp_path):
    """Files of a river and a turn."""
    (tmp_path / "river.toml").write_text(RIVER)
    (tmp_path / "turn.toml").write_text(TURN)
    return tmp_path


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """Folder of a solved turn."""
    folder = tmp_path_factory.mktemp("solved") / "turn"
    rb.solve(spot_file.loads(TURN, name="turn"), until=0.5, out=folder)
    return folder


# --- Solving ---


def test_solve_prints_the_agreed_keys(run, files):
    code, out, err = run("solve", files / "river.toml", "--until", "0.5%", "--threads", 2, "--json")
    found = json.loads(out)
    assert code == 0
    assert list(found)[: len(KEYS)] == KEYS
    assert found["exploitability_pct"] <= 0.5
    assert found["ev_oop"] + found["ev_ip"] == pytest.approx(200, abs=0.01)
    assert 0 < found["equity_oop"] < 1
    assert sum(found["frequencies"].values()) == pytest.approx(1)
    assert found["memory_mb"] > found["tables_mb"] > 0
    assert "information sets, tables of" in err  # before they are allocated
    assert run("solve", files / "river.toml", "--until", "1e-7", "--iterations", 3)[0] == 1


def test_flags_make_the_same_spot_as_a_file(run, files):
    from_file = json.loads(run("solve", files / "turn.toml", "--iterations", 20, "--json")[1])
    from_flags = json.loads(run("solve", "spot", *FLAGS, "--iterations", 20, "--json")[1])
    for key in ("exploitability_pct", "ev_oop", "equity_oop", "frequencies", "infosets"):
        assert from_flags[key] == from_file[key]


def test_flags_reach_the_spot():
    given = {
        "board": "Td9d6h", "pot": 100, "stack": 900, "oop": "AA", "ip": "KK", "bets": "33%, 75% / 50%", "raises": "3x",
        "donks": "20%", "rake": "5%", "rake_cap": 3.0, "add_all_in": "150%", "force_all_in": "15%", "merge": "10%",
        "no_donk": True, "raise_cap": 2,
    }  # fmt: skip
    expected = Spot.make(
        **{k: v for k, v in given.items() if k not in ("bets", "raises", "donks", "rake", "no_donk")},
        donk_bets=False,
        rake=0.05,
        bets={
            "flop": {"bet": "33%, 75%", "raise": "3x", "donk": "20%"},
            "turn": {"bet": "50%", "raise": "3x", "donk": "20%"},
        },
    )
    assert spot_from_texts(**given) == expected


@pytest.mark.parametrize("dtype", ["compact", "16-bit", "float32"])
def test_formats_of_tables(run, files, dtype):
    found = json.loads(run("solve", files / "river.toml", "--dtype", dtype, "--json")[1])
    assert found["dtype"] == dtype
    assert found["exploitability_pct"] <= 0.5  # the default target
    bytes_each = {"compact": 6, "16-bit": 4, "float32": 8}[dtype]
    sizes = json.loads(run("solve", files / "river.toml", "--estimate", "--json")[1])
    assert found["tables_mb"] == pytest.approx(sizes["infoset_actions"] * bytes_each / 1e6)


def test_rake_is_taken(run, files):
    found = json.loads(run("solve", "spot", *FLAGS, "--rake", "5%", "--rake-cap", 3, "--json")[1])
    assert 100 - 3.001 <= found["ev_oop"] + found["ev_ip"] <= 98


def test_text_report(run, files):
    code, out, _ = run("solve", files / "river.toml", "--until", 1)
    assert code == 0
    assert "exploitability" in out
    assert "oop to act on the river Td9d6hQc2s" in out


def test_estimate_solves_nothing(run, files):
    found = json.loads(run("solve", files / "turn.toml", "--estimate", "--json")[1])
    assert found["bytes_32"] == 6 * found["infoset_actions"]
    assert found["bytes_16"] == 4 * found["infoset_actions"]
    assert [row["street"] for row in found["streets"]] == ["turn", "river"]
    assert {"line": "x-b50-c/*", "street": 1, "player": "oop", "pot": 200.0, "moves": ["x", "b100"]} in found["menus"]
    assert sum(row["decisions_oop"] + row["decisions_ip"] for row in found["streets"]) == len(found["menus"])
    code, out, _ = run("solve", files / "turn.toml", "--estimate")
    assert code == 0
    assert "x-b50-c/*: oop, pot 200: x b100" in out


def test_estimate_has_seconds(run, files):
    found = json.loads(run("solve", files / "turn.toml", "--estimate", "--json")[1])
    more = json.loads(run("solve", files / "turn.toml", "--estimate", "--threads", 2, "--json")[1])
    assert found["seconds_to_target"] > found["iterations_to_target"] * found["seconds_per_iteration"]
    assert found["seconds_per_iteration"] / 2 < more["seconds_per_iteration"] < found["seconds_per_iteration"]
    assert (found["target_pct"], more["threads"]) == (0.5, 2)
    out = run("solve", files / "turn.toml", "--estimate")[1]
    assert re.search(r"about \S+ [µm]?s .* 1 thread, \S+ [µm]?s to 0.5 % of the pot", out)
    river = [run("solve", files / "river.toml", "--estimate", "--threads", n, "--json")[1] for n in (1, 2)]
    one, two = (json.loads(text)["seconds_per_iteration"] for text in river)
    assert one == two  # one board occupies one thread only


@pytest.mark.slow
@pytest.mark.parametrize("name", ["turn", "calibration_river"])
def test_seconds_of_an_estimate_are_within_a_factor_of_three(run, name):
    """Times are CPU seconds, so that other work on the machine does not matter."""
    path = Path(__file__).parents[2] / "examples" / "spots" / f"{name}.toml"
    told = json.loads(run("solve", path, "--estimate", "--json")[1])
    solver = BoardCFR(BoardTree(spot_file.load(path)), BOARD_SCHEDULE, dtype="compact")
    solver.warm()
    started = clock.process_time()
    solver.step(20)
    each = (clock.process_time() - started) / 20
    assert told["seconds_per_iteration"] / 3 < each < told["seconds_per_iteration"] * 3
    started = clock.process_time()
    rb.solve(spot_file.load(path), until=told["target_pct"])
    whole = clock.process_time() - started
    assert told["seconds_to_target"] / 3 < whole < told["seconds_to_target"] * 3


def test_memory_limit_exits_with_3(run, files):
    code, out, err = run("solve", files / "turn.toml", "--memory", "10kB")
    assert (code, out) == (3, "")
    assert re.search(r"\d+ kB, .*10 kB", err)  # the size and the limit, each in its unit
    assert run("solve", files / "river.toml", "--memory", "1GB", "--iterations", 1)[0] == 0


def test_resume(run, files):
    folder = files / "run"
    assert run("solve", files / "turn.toml", "--iterations", 10, "--out", folder)[0] == 0
    assert run("solve", files / "turn.toml", "--iterations", 10, "--out", folder)[0] == 2
    again = json.loads(run("solve", files / "turn.toml", "--iterations", 30, "--out", folder, "--resume", "--json")[1])
    whole = json.loads(run("solve", files / "turn.toml", "--iterations", 30, "--json")[1])
    assert again["iterations"] == 30
    assert again["exploitability_pct"] == whole["exploitability_pct"]


# --- Invalid input ---


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("Td9d6hQc2s", "TdTd6hQc2s"), "Td"),
        (("Td9d6hQc2s", "Td9d"), "2 cards"),
        (('ip = "QQ-22', 'ip = "QQ-22:0'), None),
        (('oop = "66+,A8s+,KQo,QTs+,JTs,98s,87s,54s"', 'oop = ""'), "range of oop"),
        (('oop = "66+,A8s+,KQo,QTs+,JTs,98s,87s,54s"', 'oop = "TdTh,9d8d"'), "oop"),
        (("60%, a", "0%, a"), "'0%"),
        (("60%, a", "-5%"), "-5%"),
        (("60%, a", "60"), "'60'"),
        (("pot = 200", "potty = 200"), "'pot'"),
        (("add_all_in", "add_allin"), "'add_all_in'"),
        (("stack = 900", "stack = 0"), "stack=0"),
        (("pot = 200", "pot = 0"), "pot=0"),
        (("pot = 200", "pot = "), "TOML"),
        (("66+,A8s+", "66+,AXs+"), "'AXs+'"),
    ],
)
def test_invalid_files_give_one_line(run, files, change, message):
    text = RIVER.replace(*change)
    assert text != RIVER
    (files / "wrong.toml").write_text(text)
    code, out, err = run("solve", files / "wrong.toml", "--iterations", 1)
    if message is None:
        assert code == 0  # a weight of zero removes hands, and others are left
        return
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1
    assert "wrong.toml" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["solve", "nowhere.toml"], "nowhere.toml"),
        (["solve", "spot", "--board", "Td9d6hQc"], "--pot"),
        (["solve", "spot", *FLAGS, "--rake", "much"], "--rake 'much'"),
        (["solve", "spot", *FLAGS, "--donks", "1% / 2% / 3%"], "--donks '1% / 2% / 3%'"),
        (["solve", "spot", *FLAGS, "--until", "half"], "--until 'half'"),
        (["solve", "spot", *FLAGS, "--memory", "some"], "--memory 'some'"),
        (["solve", "spot", *FLAGS, "--dtype", "int8"], "'int8'"),
        (["solve", "spot", *FLAGS, "--traversal", "pcs"], "pcs"),
        (["solve", "spot", *FLAGS, "--resume"], "--out"),
        (["solve", "spot", *FLAGS, "--boards", "nowhere.txt"], "nowhere.txt"),
        (["solve", "spot", *FLAGS, "--boards", "sample:0"], "'sample:0'"),
        (["solve", "spot", *FLAGS, "--boards", "sample:2"], "3 cards"),
        (["solve", "kuhn", "--pot", 3], "kuhn"),
        (["solve", "kuhn", "--pot", 3, "--estimate"], "kuhn"),
        (["solve", "kuhn", "--until", "1%"], "--until '1%'"),
    ],
)
def test_invalid_options_give_one_line(run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err.splitlines()[-1]
    assert "Traceback" not in err


def test_flags_do_not_apply_to_files(run, files):
    code, _, err = run("solve", files / "river.toml", "--rake", "5%")
    assert code == 2
    assert "--rake" in err


def test_numbers_with_units():
    assert parse_target("0.5%", "% of pot") == parse_target(" 0.5 ", "% of pot") == 0.5
    assert parse_target("1e-3", "chips") == 1e-3
    assert parse_byte_size("2GB") == 2 * 10**9
    assert parse_byte_size("1.5 GiB") == 3 * 2**29
    assert parse_byte_size("100") == 100
    with pytest.raises(InputError, match="'GB'"):
        parse_byte_size("GB")


# --- show and export ---


def test_show(run, solved, tmp_path):
    code, out, _ = run("show", solved)
    assert code == 0
    assert "Td9d6hQc" in out
    facts = json.loads(run("show", solved, "--json")[1])
    assert facts["exploitability"] <= 0.5
    assert facts["actions"] == ["x", "b50"]
    out = run("show", solved, "b50")[1]
    for word in ("ip to act", "EQR", "set", "group"):
        assert word in out
    assert "root: oop to act" in run("show", solved, "root")[1]
    node = json.loads(run("show", solved, "x-x/2c", "--json")[1])
    assert node["pot"] == 100
    assert node["oop"]["ev"] + node["ip"]["ev"] == pytest.approx(100, abs=0.01)
    hand = json.loads(run("show", solved, "b50", "--hand", "QsQh", "--json")[1])["hand"]
    assert sum(hand["frequencies"].values()) == pytest.approx(1)
    assert "QsQh of ip at b50" in run("show", solved, "b50", "--hand", "QsQh")[1]
    table = json.loads(run("show", solved, "b50", "--table", "combos", "--sort", "ev", "--json")[1])["table"]["rows"]
    assert table[0]["ev"] == max(row["ev"] for row in table)
    assert len(json.loads(run("show", solved, "x-x", "--runouts", "--json")[1])["runouts"]["rows"]) == 48
    assert "2c" in run("show", solved, "x-x", "--runouts")[1]
    assert run("show", solved, "root", "--picture", tmp_path / "g.png")[0] == 0
    assert (tmp_path / "g.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["b51"], "'b51'"),
        (["x-x/Td"], "Td"),
        (["root", "--hand", "7c2d"], "7c2d"),
        (["root", "--table", "suits"], "'suits'"),
        (["root", "--player", "hero"], "'hero'"),
        (["root", "--runouts"], "card"),
        (["root", "--sort", "luck"], "'luck'"),
        (["root", "--picture", "g.xyz"], "g.xyz"),
        (["x-x/*", "--hand", "QsQh"], "--hand"),
        (["x-x/*", "--range"], "--range"),
        (["x", "--hand", "72o"], "ip"),
        (["x", "--board", "2c"], "--board 2c"),
    ],
)
def test_invalid_arguments_of_show(run, solved, arguments, message):
    code, _, err = run("show", solved, *arguments)
    assert code == 2
    assert message in err


def test_show_has_the_root(run, solved):
    code, out, _ = run("show", solved)
    assert code == 0
    assert "root: oop to act on the turn Td9d6hQc, pot 100" in out
    assert "root on Td 9d 6h Qc: oop" in out  # the grid
    root = json.loads(run("show", solved, "--json")[1])["root"]
    assert root == {k: v for k, v in json.loads(run("show", solved, "root", "--json")[1]).items() if k != "table"}


def test_show_hands_of_a_class(run, solved):
    told = json.loads(run("show", solved, "x", "--hand", "QQ", "--json")[1])["hands"]["rows"]
    assert [row["hand"] for row in told] == ["QsQh", "QsQd", "QhQd", "all"]
    out = run("show", solved, "x", "--hand", "QQ", "--sort", "ev", "--limit", 1)[1]
    assert len(out.splitlines()) == 4  # title, columns, one hand, and the means
    assert out.splitlines()[-1].startswith("all")
    assert run("show", solved, "x", "--hand", "Qs Qh")[1].startswith("QsQh of ip at x")


def test_show_a_range_and_nothing_else(run, solved):
    code, out, err = run("show", solved, "x", "--range")
    assert (code, out, err) == (0, "QQ,T9s,5d4d:0.7\n", "")
    found = json.loads(run("show", solved, "x", "--range", "--player", "oop", "--json")[1])
    assert (found["player"], found["line"], found["digits"]) == ("oop", "x", 3)
    held = Range.parse(found["range"]).remove(found["board"])
    assert held.combos == pytest.approx(found["combos"], abs=0.1)


def test_show_any_card(run, solved):
    found = json.loads(run("show", solved, "x-x/*", "--json")[1])
    assert found["deals"] == 48
    assert found["means"] == found["rows"][-1]
    assert sum(row["chance"] for row in found["rows"][:-1]) == pytest.approx(1)
    out = run("show", solved, "x-x/*-b50", "--runouts", "--limit", 2)[1]
    assert [line.split()[0] for line in out.splitlines()[1:]] == ["card", "As", "Ah", "all"]


def test_export(run, solved, tmp_path):
    code, out, _ = run("export", solved, "--csv")
    rows = list(csv.DictReader(out.splitlines()))
    assert code == 0
    assert {row["player"] for row in rows} == {"oop", "ip"}
    assert float(rows[0]["frequency_x"]) + float(rows[0]["frequency_b50"]) == pytest.approx(1, abs=1e-5)
    found = json.loads(run("export", solved, "--json", "--line", "x-x/2c")[1])
    assert [node["line"] for node in found["nodes"]] == ["x-x/2c"]
    assert run("export", solved, "--depth", 1, "--out", tmp_path / "all.json")[0] == 0
    assert len(json.loads((tmp_path / "all.json").read_text())["nodes"]) == 6
    assert run("export", solved, "--csv", "--json")[0] == 2


def test_small_games_are_exported_too(run, tmp_path):
    run("solve", "kuhn", "--iterations", 10, "--out", tmp_path / "k")
    rows = list(csv.DictReader(run("export", tmp_path / "k", "--csv")[1].splitlines()))
    assert len(rows) == 24
    assert json.loads(run("export", tmp_path / "k", "--json", "--line", "Q:r")[1])["strategy"]["Q:r"].keys() == {
        "f",
        "c",
    }
    assert run("show", tmp_path / "k", "--runouts")[0] == 2


def test_exploitability_is_computed_again(run, solved):
    told = json.loads(run("show", solved, "--json")[1])["exploitability"]
    found = json.loads(run("exploitability", solved, "--json")[1])
    assert found["exploitability"] == pytest.approx(told, abs=1e-3)
    assert found["unit"] == "% of pot"
    assert run("respond", solved)[0] == 2


# --- Many boards ---


def test_many_boards(run, files):
    (files / "boards.txt").write_text("# rivers\nTd9d6hQc2s 3\nAs Kd 7h 7c 2d: 1\nAh,Kh,Qh,4d,4c\n")
    out = files / "many"
    words = ["solve", files / "river.toml", "--boards", files / "boards.txt", "--until", "1%", "--out", out]
    found = json.loads(run(*words, "--json")[1])
    assert [row["board"] for row in found["boards"]] == ["Td9d6hQc2s", "AsKd7h7c2d", "AhKhQh4d4c"]
    for key in ("ev_oop", "ev_ip", "equity_oop", "exploitability_pct"):
        mean = sum(row["weight"] * row[key] for row in found["boards"]) / 5
        assert found["aggregate"][key] == pytest.approx(mean)
    checks = sum(row["weight"] * row["frequencies"]["x"] for row in found["boards"]) / 5
    assert found["aggregate"]["x"] == pytest.approx(checks)
    rows = list(csv.DictReader((out / "aggregate.csv").read_text().splitlines()))
    assert [row["board"] for row in rows][-1] == "all"
    assert float(rows[-1]["ev_oop"]) == pytest.approx(found["aggregate"]["ev_oop"])
    assert json.loads((out / "aggregate.json").read_text())["aggregate"] == found["aggregate"]
    alone = json.loads(run("solve", files / "river.toml", "--until", "1%", "--json")[1])
    assert found["boards"][0]["ev_oop"] == alone["ev_oop"]
    code, text, _ = run("solve", files / "river.toml", "--boards", files / "boards.txt", "--until", 5)
    assert code == 0
    assert "AsKd7h7c2d" in text


def test_boards_in_batches(run, files, monkeypatch):
    """Batches as on a GPU give the same results as single solves, and solved boards are skipped."""
    (files / "boards.txt").write_text("Td9d6hQc2s 3\nAsKd7h7c2d\nAhKhQh4d4c\n")
    words = ["solve", files / "river.toml", "--boards", files / "boards.txt", "--iterations", 64, "--json"]
    alone = json.loads(run(*words)[1])
    monkeypatch.setattr(many_boards, "_can_batch_on_gpu", lambda options: True)
    monkeypatch.setattr(many_boards, "CUDA", "cpu")
    monkeypatch.setattr(many_boards, "BATCH_SIZE", 2)
    together = json.loads(run(*words, "--out", files / "run")[1])
    for one, other in zip(alone["boards"], together["boards"], strict=True):
        told = {key: other[key] for key in one if key not in ("seconds", "nodes", "history", "ended")}
        assert told == {key: one[key] for key in told}
    again = json.loads(run(*words, "--out", files / "run", "--resume")[1])
    assert again == together


def test_many_boards_at_a_line(run, files):
    """The node on each board is reported, and means are weighted by its reach probability."""
    (files / "boards.txt").write_text("Td9d6hQc 3\nAsKd7h7c\n")
    out = files / "many"
    words = ["solve", files / "turn.toml", "--boards", files / "boards.txt", "--until", "1%"]
    found = json.loads(run(*words, "--line", "b50", "--out", out, "--keep", "--json")[1])
    rows = found["table"][:-1]
    for row in rows:
        node = rb.load(out / "runs" / row["board"])["b50"]
        told = node.summary()
        assert (row["ev_oop"], row["ev_ip"]) == pytest.approx(told.ev)
        assert [row[move] for move in ("f", "c", "a")] == pytest.approx(list(told.frequencies.values()))
        root = rb.load(out / "runs" / row["board"])[""].summary()
        assert row["played"] == pytest.approx(root.frequencies["b50"])
    often = [row["weight"] * row["played"] for row in rows]
    mean = sum(w * row["ev_ip"] for w, row in zip(often, rows, strict=True)) / sum(often)
    assert found["aggregate"]["ev_ip"] == pytest.approx(mean)
    assert found["aggregate"]["played"] == pytest.approx(sum(often) / 4)
    written = list(csv.DictReader((out / "aggregate.csv").read_text().splitlines()))
    assert float(written[-1]["ev_ip"]) == pytest.approx(mean)
    starred = files / "starred"
    cards = json.loads(run(*words, "--line", "x-x/*", "--out", starred, "--json")[1])
    means = rb.load(out / "runs" / "AsKd7h7c").runouts("x-x/*")["all"]
    told = json.loads(run("explain", starred, "--rules", 2, "--json")[1])["explanations"]  # boards, by their means
    assert len(told) == 1
    # With a wildcard, the means are those of the table of runouts.
    decisions = card_decisions(rb.load(out / "runs" / "AsKd7h7c"), "x-x/*")
    often = dict(
        zip(rb.load(out / "runs" / "AsKd7h7c")["x-x/2s"].actions, decisions.weight @ decisions.strategy, strict=True)
    )
    assert often == pytest.approx({move: means[move] for move in often}, abs=1e-9)
    assert run("explain", out / "runs" / "AsKd7h7c", "x-x/*", "--rules", 2, "--json")[0] == 0
    assert run("explain", out / "runs" / "AsKd7h7c", "x-b50-f/*")[0] == 2
    assert cards["table"][1]["ev_oop"] == pytest.approx(means["ev_oop"])
    assert cards["table"][1]["played"] == pytest.approx(means["played"])
    again = json.loads(run(*words, "--line", "b50", "--out", out, "--resume", "--json")[1])
    assert again["aggregate"] == found["aggregate"]
    assert run(*words, "--line", "x", "--out", out, "--resume")[0] == 2  # other options


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("b77", "'b77'"),
        ("x-x", "line 'x-x'"),
        ("x-x/7h", "AsKd7h7c: line 'x-x/7h'"),
    ],
)
def test_lines_are_checked_before_a_board_is_solved(run, files, monkeypatch, line, message):
    (files / "boards.txt").write_text("Td9d6hQc 3\nAsKd7h7c\n")
    monkeypatch.setattr(many_boards, "solve", lambda *_, **__: pytest.fail("solved"))
    code, _, err = run("solve", files / "turn.toml", "--boards", files / "boards.txt", "--line", line)
    assert code == 2
    assert message in err
    assert run("solve", files / "turn.toml", "--line", line)[2].endswith(" --boards\n")
    assert run("solve", "kuhn", "--keep")[2].endswith(" --boards\n")


def test_solved_boards_are_skipped(run, files, monkeypatch):
    (files / "boards.txt").write_text("Td9d6hQc2s\nAsKd7h7c2d\n")
    out = files / "many"
    words = ["solve", files / "river.toml", "--boards", files / "boards.txt", "--until", 1, "--out", out]
    solve, seen = many_boards.solve, []

    def stopped(spot, *rest, **more):
        seen.append(spot.board)
        if len(seen) == 2:
            raise KeyboardInterrupt
        return solve(spot, *rest, **more)

    monkeypatch.setattr(many_boards, "solve", stopped)
    assert run(*words)[0] == 130
    with (out / "boards.jsonl").open("a") as lines:
        lines.write('{"board": "torn')
    assert run(*words)[0] == 2  # without --resume
    code, text, _ = run(*words, "--resume", "--json")
    assert code == 0
    assert len(seen) == 3
    assert len(json.loads(text)["boards"]) == 2
    assert run(*words, "--resume", "--dtype", "float32")[0] == 2  # other options than before


def test_solutions_of_boards_are_saved_on_request(run, files):
    (files / "boards.txt").write_text("Td9d6hQc2s\n")
    words = ["solve", files / "river.toml", "--boards", files / "boards.txt", "--until", 5]
    run(*words, "--out", files / "kept", "--keep")
    assert isinstance(rb.load(files / "kept" / "runs" / "Td9d6hQc2s"), Solution)
    run(*words, "--out", files / "lost")
    assert not (files / "lost" / "runs" / "Td9d6hQc2s").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("QsJh2h\nQsJh2x\n", "line 2"),
        ("QsJh2h\n2hQsJh 3\n", "line 2: .*2hQsJh"),
        ("QsJh2h -1\n", "weight -1"),
        ("QsJh\n", "2 cards"),
        ("# nothing\n", "b.txt"),
    ],
)
def test_invalid_files_of_boards(tmp_path, text, message):
    (tmp_path / "b.txt").write_text(text)
    with pytest.raises(InputError, match=message):
        many_boards.read_boards(str(tmp_path / "b.txt"))


def test_named_sets_of_flops():
    every = many_boards.read_boards("all")
    assert len(every) == 1755
    assert sum(board.weight for board in every) == 22100  # 52 choose 3
    some = many_boards.read_boards("sample:25")
    assert sum(board.weight for board in some) == 25
    assert {board.cards for board in some} <= {board.cards for board in every}


@pytest.mark.slow
def test_two_flops(run, files):
    """The weighted mean of two isomorphic flops is the value of each."""
    (files / "flops.txt").write_text("Td9d6h 1\nTh9h6d 2\n")
    words = ["--pot", 100, "--stack", 150, "--oop", "AA,KQs,T9s,87s", "--ip", "QQ,JJ,AKs", "--bets", "60%"]
    done = run("solve", "spot", "--board", "QsJh2h", *words, "--boards", files / "flops.txt", "--until", 0.2, "--json")
    found = json.loads(done[1])
    first, second = found["boards"]
    assert first["ev_oop"] == pytest.approx(second["ev_oop"], abs=0.2)
    assert found["aggregate"]["equity_oop"] == pytest.approx(first["equity_oop"], abs=1e-9)
