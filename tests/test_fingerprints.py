"""Fingerprints in users' artifacts, checkpoints and ledgers: they must never change.

The values were printed by release 0.1.0 before its packages were renamed. A class, field or module may get another
name; the digest still uses the old one.
"""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import riverboat as rb
from random_blueprints import random_blueprint
from riverboat import agents
from riverboat.agents.baselines import BaselineAgent
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.registry import SHIPPED, SHIPPED_LEDGER, make_agent
from riverboat.api.review import RecordedPlayer
from riverboat.evaluation.identity import CLASS_NAMES, agent_identity
from riverboat.evaluation.ledger import read_ledger
from riverboat.games.registry import game_from_spec
from riverboat.strategies.blueprint import load_blueprint
from riverboat.trees.compile import compile_game, to_history_tree

SPOT = {"pot": 200, "stack": 900, "oop": "66+,AK", "ip": "QQ-22,AQ", "bets": "60%, a"}
TREES = {
    "leduc": "e81e02255223bac70bd078c75d5c4f06c382722e0745b9233d386668f35d6673",
    "leduc:stack=10": "246a93a48eb185429c8c1428fa2f4230008a97f9bc3d7d8ef83b1c7f549bfc5e",
    "kuhn": "3a1842edddb68a2c87a283b2ba3ef3b4effb4101cba019b2ddce636e11e07886",
    "bluff:1,1": "f362ec0e10e09892f135d6ae6c68df27e8e4886db3fe66d98f6e1a49609195c3",
    "coin_toss": "fa96ff0200b47dfac8e8c3b52067d771088be3b23a6e2a036685a04f3cb164b4",
}
AGENTS = {
    "always-call": "4a910404930f",
    "default": "6500838ff677",
    "default?search=river": "250a0ae867dd",
    "default?search=turn&threads=2": "ad685f063c24",
    "default?exploit=dbbr": "3fdeb7e25d2d",
    "default?exploit=dbbr&search=river": "e4447eb0e337",
    "default?exploit=dbbr&search=river&safe=20": "49b0800a3086",
    "default?exploit=dbbr&notice=200": "5c6fc486da24",
    "switch:always-call,default,deals=500": "4c8ab4a9f64a",
    "hedge:always-call,default": "11bdbbc3b9bd",
}


@pytest.mark.parametrize("name", TREES)
def test_trees_of_small_games(name: str) -> None:
    assert compile_game(game_from_spec(name)).fingerprint == TREES[name]


def test_a_tree_of_histories() -> None:
    tree = to_history_tree(compile_game(game_from_spec("kuhn")))
    assert tree.fingerprint == "16aeb5d31ae3261cd9773ee7bd7f1582bee298f06bb1f6aa64f80bc8452e8e7b"


@pytest.mark.parametrize(
    ("board", "rake", "fingerprint"),
    [
        ("Td9d6hQc2s", None, "da1db8ed3aeab872253d59ee2f8116621324ec5a13b9dbc583a78ff585d83e3e"),
        ("Td9d6hQc", 0.05, "59e87187a76372bb2251fd4aa60ac4221119704b1e5fb869cc61609041370a59"),
    ],
)
def test_trees_of_spots(board: str, rake: float | None, fingerprint: str) -> None:
    assert compile_game(rb.Spot.make(board=board, rake=rake, **SPOT)).fingerprint == fingerprint


def test_blueprints() -> None:
    shipped = load_blueprint(SHIPPED)
    assert shipped.tree.fingerprint == "0778320d618710c68988c3ca1a96b4b176c01d260f6d3f7d49ed549b9857b861"
    assert shipped.cards.fingerprint == "da66226f358434d990a9dfe057aeec82867fef4f7b02e25e5ad1d3bd7016a771"
    assert shipped.fingerprint == "338c249bc3ad81020fe3b6d63ea95fe8551ac09ca0c7dabe923ce53c09308f10"
    small = random_blueprint("leduc")
    assert small.tree.fingerprint == "eb44ec96e3c095aeacc2fee52da1e26a1c4d747857c5c7771dd7a44b2fd77617"
    assert small.cards.fingerprint == "b28710df6f3789c29306524af9cd145851e5b95dcfbdb061711a24f5674b725c"


@pytest.mark.parametrize("name", AGENTS)
def test_agents(name: str) -> None:
    assert agent_identity(make_agent(name))["fingerprint"] == AGENTS[name]


def test_rows_of_the_shipped_ledger_have_described_agents() -> None:
    ledger = read_ledger(SHIPPED_LEDGER)
    assert len(ledger.entries) > 100
    assert {mark for entry in ledger.entries for mark in entry.agents} <= ledger.agents.keys()
    expected = {ledger.agents[mark]["name"]: mark for mark in ledger.agents}
    for name in ("default", "default?search=river", "default?search=turn"):
        assert expected[name] == agent_identity(make_agent(name))["fingerprint"]


def test_every_agent_class_has_a_stable_name() -> None:
    """Agents that are identified by their class, and not by a fingerprint of their own, are in the table."""
    classes = set()
    for each in pkgutil.walk_packages(agents.__path__, f"{agents.__name__}."):
        module = importlib.import_module(each.name)
        own = [one for one in vars(module).values() if isinstance(one, type) and one.__module__ == each.name]
        classes |= {one for one in own if hasattr(one, "act") and not one.__name__.startswith("_")}
    made = {one for one in classes if not getattr(one, "_is_protocol", False)} - {BlueprintAgent, BaselineAgent}
    bases = {base for one in made for base in one.__mro__[1:]} - set(CLASS_NAMES)
    assert made - bases == set(CLASS_NAMES)
    assert len(set(CLASS_NAMES.values())) == len(CLASS_NAMES)


def test_recorded_players() -> None:
    assert agent_identity(RecordedPlayer("x"))["fingerprint"] == "a20a039c59f5"
