"""`riverboat show` for agents: their strategy with every hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from random_blueprints import random_blueprint
from riverboat.agents.registry import default_folder, make_agent
from riverboat.cards.ranges import Range
from riverboat.cli.evaluation import exploitability
from riverboat.cli.show import artifact
from riverboat.core.errors import InputError
from riverboat.evaluation.quality import quality
from riverboat.games.holdem.rules import PokerRules, format_game, read_game
from riverboat.strategies.blueprint import save_blueprint
from riverboat.strategies.queries import ask
from riverboat.strategies.reports.public_state import policy_node

NOLIMIT = read_game("nolimit-200bb")


@pytest.fixture(scope="module")
def leduc(tmp_path_factory):
    return save_blueprint(random_blueprint("leduc"), tmp_path_factory.mktemp("runs") / "leduc")


@pytest.fixture
def show(capsys):
    def call(name, line=None, *, json=True, game=None, abstraction=None, **view):
        artifact.show(Path(name), line, json=json, abstraction=abstraction, game=game, **view)
        return capsys.readouterr().out

    return call


def test_json_has_every_hand_and_both_ranges(show):
    found = json.loads(show("rule-based", "cr300", table="combos"))
    assert (found["agent"], found["game"], found["line"], found["player"]) == (
        "rule-based",
        NOLIMIT.name,
        "cr300",
        "ip",
    )
    answer = ask(make_agent("rule-based"), "cr300", rules=NOLIMIT)
    assert len(found["table"]["rows"]) == 1326
    for row in found["table"]["rows"][::101]:
        assert {move: row[move] for move in answer.moves if move in row} == pytest.approx(
            {move: p for move, p in answer.row(row["hand"]).items() if move in row}
        )
    # Hands that the rules raise with, and the range that the dealer limped with.
    for seat, player in enumerate(("oop", "ip")):
        assert Range.parse(found[player]["range"]).combos == pytest.approx(answer.ranges[seat].sum(), abs=0.1)


def test_lines_with_any_bets(show, leduc):
    """The shown strategy of an agent that translates and purifies is the one that it plays, on a small game."""
    name = f"{leduc}?purify"
    found = json.loads(show(name, "cr", table="combos"))
    agent = make_agent(name)
    answer = ask(agent, "cr")
    assert [action["action"] for action in found["actions"]] == [
        move for k, move in enumerate(answer.moves) if answer.probabilities[:, k].any()
    ]
    for row in found["table"]["rows"]:
        assert all(row[move] in (0, 1, 0.5) or row[move] == pytest.approx(1 / 3) for move in ("f", "c") if move in row)
    plain = json.loads(show(leduc, "cr", table="combos"))  # the folder itself is the unpurified strategy
    assert plain["table"] != found["table"]
    one = json.loads(show(name, "cr", hand="As"))
    assert one["frequencies"] == pytest.approx({m: p for m, p in answer.row("As").items() if m in one["frequencies"]})
    assert "bucket" not in one


def test_on_the_screen(show):
    shown = show("rule-based", "cc/", board="8c8d5c", json=False)
    assert "cc/: oop to act on the flop 8c 8d 5c, pot 200" in shown
    assert "cc/ on 8c 8d 5c: ip" in shown  # the opponent's range, after the strategy
    assert show("rule-based", "cc/", board="8c8d5c", json=False, range_text=True, player="ip") == "A4-A2,K2+,Q2+,J3+\n"
    assert "weight 100.0 %" in show("always-call", json=False, hand="AsKs")


def test_hundreds_of_raises_are_one_column():
    node = policy_node(make_agent("random"), replace(NOLIMIT, stacks=(900, 900)), "r300")
    assert node.moves == ("f", "c", "r500-r900")
    assert node.frequencies == pytest.approx(dict.fromkeys(node.moves, 1 / 3))


def test_exploitability_of_agents(leduc, capsys):
    name = f"{leduc}?purify"
    exploitability(Path(name), json=True)
    found = json.loads(capsys.readouterr().out)
    assert (found["game"], found["unit"], found["exploitability_is"]) == ("leduc", "mbb/g", "exact")
    assert found["exploitability"] == pytest.approx(quality(make_agent(name)).claims[0].value)
    exploitability(leduc, json=True)  # the blueprint itself
    assert json.loads(capsys.readouterr().out)["exploitability"] != pytest.approx(found["exploitability"])
    exploitability(Path("always-fold"), game="kuhn")
    assert "kuhn: exploitability 1000 mbb/g (exact)" in capsys.readouterr().out


def test_lower_bound_for_agents_that_cannot_be_tabulated(tmp_path, capsys):
    """Agents of a game with three rounds of one card get an LBR bound."""
    file = tmp_path / "short.game"
    file.write_text(format_game(PokerRules(blinds=(2, 1), stacks=(8, 8), board=(0, 1, 1), hole=1, ranks=3, suits=2)))
    exploitability(Path("always-call"), json=True, game=str(file))
    found = json.loads(capsys.readouterr().out)
    assert (found["is"], found["side"], found["value_low"]) == ("bound", "lower", None)
    assert found["mbb_per_game"] > found["ci95"] > 0
    exploitability(Path("always-call"), game=str(file))
    assert "mbb/g (lower bound, 4,032 hands, seed 0): " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "line", "more", "reason"),
    [
        ("rule-based", "cc/", {}, "'cc/'.*--board AsAhAd"),
        ("rule-based", "cc/", {"board": "8c8d"}, "8c8d.*3"),
        ("rule-based", "r300f", {}, "r300f"),
        ("rule-based", "r3", {}, "'r3'"),
        ("rule-based", "", {"runouts": True}, "rule-based.*--runouts"),
        ("rule-based", "", {"values": True}, "rule-based.*--values"),
        ("rule-based", "preflop", {}, "rule-based.*preflop"),
        ("rule-based", "", {"table": "buckets"}, "'buckets'"),
        ("rule-based?purify", "", {}, "'purify'"),
        ("rule-based", "", {"abstraction": "x"}, r"'rule-based\?abstraction=x'"),
        ("always-cal", "", {}, "always-cal"),
    ],
)
def test_invalid_arguments(show, name, line, more, reason):
    with pytest.raises(InputError, match=reason):
        show(name, line, **more)


WORDS = [
    ("preflop", {}), ("preflop", {"hand": "Ks"}), ("preflop", {"player": "ip", "sort": "chance"}), ("root", {}), ("", {}),
    ("r", {}), ("r", {"table": "combos"}), ("r", {"table": "buckets"}), ("r", {"hand": "Ks"}), ("r", {"player": "oop"}),
    ("cc/", {"board": "Qs"}), ("cc/", {"board": "Qs", "table": "buckets"}),
]  # fmt: skip


@pytest.mark.parametrize(("line", "view"), WORDS, ids=str)
def test_agent_and_blueprint_folder_show_the_same(show, leduc, line, view):
    """An agent has the same lines and texts as the folder of its blueprint; values are equal where the strategy is."""
    assert show(leduc, line, json=False, **view)
    assert show(f"{leduc}?seed=1", line, json=False, **view)
    folder, agent = (json.loads(show(name, line, **view)) for name in (leduc, f"{leduc}?seed=1"))
    assert agent.pop("agent") == f"{leduc}?seed=1"
    if line == "preflop" or view.get("values") or view.get("table") == "buckets":
        assert agent == folder
    else:
        assert {key: agent[key] for key in ("line", "board", "player")} == {
            key: folder[key] for key in ("line", "board", "player")
        }


RIVER = {"board": "8c8d5c6s2d"}


@pytest.mark.parametrize(
    ("line", "view"),
    [
        ("preflop", {"hand": "AsAh"}),
        ("r250", {"table": "buckets"}),
        ("cc/cc/cc/", {**RIVER, "values": True}),
        ("cc/cc/cc/", {**RIVER, "values": True, "hand": "AsAh"}),
        ("cc/cc/cc/", {**RIVER, "range_text": True}),
    ],
)
def test_shipped_agent_shows_its_blueprint(show, line, view):
    folder, agent = (json.loads(show(name, line, **view)) for name in (default_folder(), "default"))
    assert agent.pop("agent", "default") == "default"
    assert agent == folder


def test_unreached_line(show):
    """The first player of `default` never shoves; the response to a shove is shown all the same."""
    found = json.loads(show("default", "r20000"))
    assert (found["chance"], found["never_reached_by"]) == (0.0, ["ip"])
    shares = {row["action"]: row["frequency"] for row in found["actions"]}
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["f"] == pytest.approx(found["actions"][0]["combos"] / 1326, rel=1e-6)
    assert "never reached" in show("default", "r20000", json=False)
    assert json.loads(show("default", "r250"))["never_reached_by"] == []
