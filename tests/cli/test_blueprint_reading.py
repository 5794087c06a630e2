"""`riverboat show` for blueprints."""

import json

import numpy as np
import pytest

from random_blueprints import random_blueprint
from riverboat.cards.deck import hand_index
from riverboat.cards.notation import parse_cards
from riverboat.cli.show import blueprint
from riverboat.cli.show.spot import ShowOptions
from riverboat.core.errors import InputError
from riverboat.strategies.blueprint import load_blueprint, save_blueprint
from riverboat.strategies.blueprint_values import blueprint_values


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Folders of blueprints, by game."""
    home = tmp_path_factory.mktemp("blueprints")
    tables = {"kuhn": np.float32, "leduc": np.float32, "bench-2x52": np.uint8}
    return {game: save_blueprint(random_blueprint(game, dtype=tables[game]), home / game) for game in tables}


@pytest.fixture
def show(folders, capsys):
    """A function that returns the printed output, as text or parsed JSON."""

    def call(game, line=None, *, as_json=False, **options):
        blueprint.show_blueprint(folders[game], line, ShowOptions(**options), as_json)
        out = capsys.readouterr().out
        return json.loads(out) if as_json else out

    return call


def test_summary(show):
    found = show("bench-2x52", as_json=True)
    assert (found["kind"], found["game"], found["abstraction"]) == ("blueprint", "bench-2x52", "lossless")
    assert (found["method"], found["buckets"], found["table"]) == ("random", [169, 1286792], "uint8")
    assert found["infoset_actions"] == 169 * 9 + 1286792 * 24 == found["table_bytes"]
    assert '"100%"' in found["menu"]
    text = show("bench-2x52")
    assert "no-limit" in text
    assert "preflop = " in text
    assert "information sets" in text
    assert show("kuhn", as_json=True)["menu"] is None


def test_preflop_grids(show):
    text = show("bench-2x52", "preflop", limit=3)
    for head in ("root: ip to act preflop", "c: oop to act preflop", "r6: oop to act", "cr6: ip to act"):
        assert head in text
    assert text.count("       A    K    Q") == 3 + 2 + 2 + 2  # moves at root; c, r6; f, c; f, c
    found = show("bench-2x52", "preflop", as_json=True)
    assert [row["line"] for row in found["rows"]] == ["root", "c", "r6", "cr6"]
    assert found["rows"][0]["chance"] == 1
    assert found["rows"][1]["chance"] == pytest.approx(found["rows"][0]["call"])
    assert len(found["nodes"][0]["table"]["rows"]) == 169
    assert found["nodes"][2]["oop"]["range"] == "random"
    ones = show("bench-2x52", "preflop", as_json=True, player="oop")
    assert [row["line"] for row in ones["rows"]] == ["c", "r6"]


def test_preflop_of_one_hand(show, folders):
    found = show("bench-2x52", "preflop", as_json=True, hand="AsKs")
    right = load_blueprint(folders["bench-2x52"]).hand_probabilities("c", "AsKs")
    assert found["title"] == "AsKs"
    assert found["rows"][1]["call"] == pytest.approx(right["c"])
    assert found["nodes"] == []


def test_a_flop(show, folders):
    text = show("bench-2x52", "r6c/", board="AsKd2c")
    assert "r6c/: oop to act on the flop As Kd 2c, pot 12" in text
    assert "r6c/ on As Kd 2c: oop" in text  # strategy of the player to act
    assert "r6c/ on As Kd 2c: ip" in text  # range of the opponent
    assert "backdoor flush draw" in text
    found = show("bench-2x52", "r6c/", as_json=True, board="AsKd2c", table="combos", limit=3)
    assert len(found["table"]["rows"]) == 1176
    hand = show("bench-2x52", "r6c/", as_json=True, board="AsKd2c", hand="QhJh")
    assert hand["frequencies"] == load_blueprint(folders["bench-2x52"]).hand_probabilities("r6c/", "QhJh", "AsKd2c")
    told = show("bench-2x52", "r6c/", board="AsKd2c", hand="QhJh")
    assert told.startswith("QhJh (oop) at r6c/ on AsKd2c: weight ")
    assert "  r18 " in told
    other = show("bench-2x52", "r6c/", board="AsKd2c", table="classes", player="ip", sort="weight", limit=4)
    assert len(other.splitlines()) == 2 + 4


def test_games_of_one_card_have_tables_and_no_grids(show):
    assert show("kuhn", "preflop").count("\nhand ") == 4  # a table for each decision
    text = show("leduc", "cc/", board="As")
    assert "to act on the flop As" in text
    assert "Kh" in text
    assert show("leduc", hand="Ks").startswith("Ks (oop) at root: weight 100.0 %")


def test_pictures(show, tmp_path):
    show("bench-2x52", "r6c/", board="AsKd2c", picture=tmp_path / "flop.png", hand="QhJh")
    show("bench-2x52", "preflop", picture=tmp_path / "first.png", hand="QhJh", player="ip")
    names = {path.name for path in tmp_path.iterdir() if path.read_bytes().startswith(b"\x89PNG")}
    assert names == {"flop.png", "first.png", "first-cr6.png"}


@pytest.mark.parametrize(
    ("line", "options", "message"),
    [
        ("cc/", {}, r"'cc/'.*--board As"),
        ("cc/", {"board": "AsKs"}, r"'AsKs'.* 1"),
        ("cc/", {"board": "2c"}, "2c"),
        ("c", {"board": "As"}, "'As'.*preflop"),
        (None, {"board": "As"}, "'As'.*preflop"),
        ("ccc", {"board": "As"}, r"'ccc'.*'cc/c'"),
        ("rrr", {}, r"'r' at 'rr'.* f, c"),
        ("rf", {}, "'rf'"),
        ("preflop", {"board": "As"}, "--board As"),
        ("root", {"runouts": True}, "--runouts"),
        ("cc/", {"board": "As", "hand": "As"}, "As "),
        ("root", {"picture": "x.png"}, "x.png"),
        ("root", {"sort": "ev"}, "'ev'"),
    ],
)
def test_invalid_arguments(show, line, options, message):
    with pytest.raises(InputError, match=message):
        show("leduc", line, **options)


def test_values(show, folders):
    """EVs of both players sum to the pot; those of each hand are the library's."""
    strategy = load_blueprint(folders["bench-2x52"])
    found = show("bench-2x52", "cr6c/", board="AsKd2c", values=True, as_json=True)
    assert found["values"]["oop"]["ev"] + found["values"]["ip"]["ev"] == pytest.approx(found["pot"], rel=1e-5)
    assert all(found["values"][seat]["gain"] > 0 for seat in ("oop", "ip"))
    assert found["values"]["unit"] == "chips"
    known = blueprint_values(strategy, "cr6c/", "AsKd2c")
    combos = show("bench-2x52", "cr6c/", board="AsKd2c", values=True, table="combos", player="ip", as_json=True)[
        "table"
    ]
    assert len(combos["rows"]) == 49 * 48 // 2
    row = next(row for row in combos["rows"] if row["hand"] == "QhQc")
    number = hand_index(*parse_cards("QhQc"))
    assert (row["ev"], row["best"]) == (known.self_play[1, number], known.best_response[1, number])
    one = show("bench-2x52", "cr6c/", board="AsKd2c", values=True, hand="QhQc", player="ip", as_json=True)
    assert (one["ev"], one["best"], one["weight"]) == (row["ev"], row["best"], row["weight"])
    classes = show("bench-2x52", "cr6c/", board="AsKd2c", values=True, as_json=True)["table"]["rows"]
    mean = sum(row["ev"] * row["combos"] for row in classes) / sum(row["combos"] for row in classes)
    assert mean == pytest.approx(found["values"]["oop"]["ev"], rel=0.05)  # combos ignore card removal
    text = show("bench-2x52", "cr6c/", board="AsKd2c", values=True, limit=4, sort="ev")
    assert "best response" in text
    assert "QhQc (ip): weight" in show("bench-2x52", "cr6c/", board="AsKd2c", values=True, hand="QhQc", player="ip")


def test_invalid_arguments_for_values(show):
    for message, line, options in (
        ("preflop and --values", "preflop", {}),
        ("--values and --range", "cr6c/", {"board": "AsKd2c", "range": True}),
        ("'made'", "cr6c/", {"board": "AsKd2c", "table": "made"}),
        ("AsKs at 'cr6c/'", "cr6c/", {"board": "AsKd2c", "hand": "AsKs"}),
    ):
        with pytest.raises(InputError, match=message):
            show("bench-2x52", line, values=True, **options)
    with pytest.raises(InputError, match="two cards"):
        show("leduc", "root", values=True)
