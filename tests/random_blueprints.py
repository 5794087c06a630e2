"""Blueprints that nobody trained, for tests of what reads them."""

import numpy as np

from riverboat.abstraction.card_abstraction import lossless
from riverboat.games.acpc import read_game
from riverboat.games.action_tree import compile_actions
from riverboat.games.menus import one_size
from riverboat.strategy.blueprint import BlueprintStrategy


def random_blueprint(game, seed=0, cards=None, dtype=np.float32, **more):
    """Random sums for a game that comes with the package, with one bet size; no cards are lost unless some are given."""
    rules = read_game(game)
    menu = None if rules.limit else one_size("100%")
    tree = compile_actions(rules, menu)
    cards = cards or lossless(rules.board[1:], rules.deck)
    rng = np.random.default_rng(seed)
    shapes = [(cards.counts[street], int(tree.width[street])) for street in range(rules.rounds)]
    sums = tuple(rng.integers(0, 100, shape, np.uint8).astype(dtype) for shape in shapes)
    return BlueprintStrategy(rules, menu, tree, cards, sums, {"method": "random", "seed": seed}, **more)
