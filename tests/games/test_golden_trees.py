"""Golden fingerprints of betting trees, taken before all games shared one implementation of betting (November 2026).

A fingerprint that changes makes old blueprints and solutions unreadable. At that time spots had a state of their own,
limit hold'em another, with the dealer as player 0, and the flat trees a third.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from riverboat.formats import spot_file
from riverboat.games.boards.board_game import BettingTree
from riverboat.games.boards.holdem import holdem
from riverboat.games.holdem.action_tree import ActionTree, compile_action_tree
from riverboat.games.holdem.menus import menu_from_table
from riverboat.games.holdem.rules import read_game
from riverboat.solvers.mccfr.recipe import load_train_recipe

EXAMPLES = Path(__file__).parents[2] / "examples" / "spots"
SPOTS = {
    "3bet_pot": (539, "370e5fa86af51b756980baa03e0506aa1bc65b2259beae0808d816dcd1f7b873"),
    "calibration_river": (123, "fe2962d95eb28546ee8b2cee058daad3a7aafc38d50b8d3309dbfb8a9e5509ae"),
    "flop": (521, "8c971235e6d2c33223646b17ec2be4e5a90cfd90f3023a1b26451d940be26265"),
    "river": (39, "e411f213b14a6d750ab7a8891052c0d8472277f93e881807030009b64d1db2ff"),
    "turn": (430, "84e004a53723a1213dec2f203e685c3606e773dc01434bd404ae6b82b8a14f35"),
}
HOLDEM = {
    "4-4": (17221, "db9e2475a2593dd67462153fe12fa0e0b56cb2a85dc462a909d1bc5b43ce5a0d"),
    "2-1": (37, "0469e8457d7f20d204e2b402750ee3acd227a68f84b29f513bfe184ce7d3fd5d"),
    "3-2": (280, "18ac1ccd19ebf77fd4a1b51ba46d459176f5b06eb042075ee187b3e5ef7cecd4"),
}
FLAT = {
    "demo": (15274, "931756f3a940620058cb1a70fd43e9dba554df58dc2ab83f41c1df6b06a130e2"),
    "kuhn": (9, "cc930f884982f0bfe029ef7ccb955f171eb8c15a355dfd83c416359bb381a42c"),
    "leduc": (85, "eb44ec96e3c095aeacc2fee52da1e26a1c4d747857c5c7771dd7a44b2fd77617"),
    "limit": (16584, "ce4db1b8842ee38202ca23732ae1530684bc5cac55a1628abf36ee7472cb719b"),
    "unequal stacks": (178, "889f225045231c6472f3a8f1fc72baa3765733abfc447db1ef595d13c9e2a901"),
}


def digest(tree: BettingTree, *, exchange: bool = False) -> tuple[int, str]:
    """Return the number of nodes and a hash of a tree; `exchange`: with the seats exchanged."""
    actor, pay, spent = tree.actor, tree.payoffs, tree.spent
    if exchange:  # a stronger hand of one is a weaker hand of the other
        actor = np.where(actor >= 0, 1 - actor, actor).astype(np.int8)
        pay, spent = pay[:, ::-1, ::-1], spent[:, ::-1]
    found = hashlib.sha256()
    for array in (actor, tree.end, tree.street, tree.showdown, pay + 0.0, spent + 0.0):
        found.update(np.ascontiguousarray(array).data)
    found.update("|".join(tree.label).encode())
    return len(actor), found.hexdigest()


def flat(name: str) -> ActionTree:
    if name == "demo":
        recipe = load_train_recipe(name)
        return compile_action_tree(recipe.rules, recipe.menu)
    if name == "unequal stacks":
        menu = menu_from_table({"preflop": "75%, a", "force_all_in": "30%", "most_raises": 2})
        return compile_action_tree(replace(read_game("nolimit-200bb"), stacks=(700, 1510)), menu)
    return compile_action_tree(read_game(name))


@pytest.mark.parametrize("name", SPOTS)
def test_spots(name: str) -> None:
    assert digest(spot_file.load(EXAMPLES / f"{name}.toml").betting) == SPOTS[name]


@pytest.mark.parametrize("kind", HOLDEM)
def test_limit_holdem_with_the_seats_exchanged(kind: str) -> None:
    assert digest(holdem(kind).betting, exchange=True) == HOLDEM[kind]


@pytest.mark.parametrize("name", FLAT)
def test_flat_trees(name: str) -> None:
    tree = flat(name)
    assert (len(tree), tree.fingerprint) == FLAT[name]
