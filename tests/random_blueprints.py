"""Random blueprints, for tests of code that reads blueprints."""

from dataclasses import replace
from functools import cache

import numpy as np

from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.games.holdem.menus import menu_from_table, one_size_menu
from riverboat.games.holdem.rules import PokerRules, read_game
from riverboat.strategies.blueprint import Blueprint


def random_blueprint(game, seed=0, cards=None, dtype=np.float32, **more):
    """A random blueprint for a shipped game, with one bet size; lossless unless a card abstraction is given."""
    rules = read_game(game)
    menu = None if rules.limit else one_size_menu("100%")
    tree = compile_action_tree(rules, menu)
    cards = cards or lossless_abstraction(rules.board[1:], rules.deck)
    rng = np.random.default_rng(seed)
    shapes = [(cards.counts[street], int(tree.width[street])) for street in range(rules.rounds)]
    sums = tuple(rng.integers(0, 100, shape, np.uint8).astype(dtype) for shape in shapes)
    return Blueprint(rules, menu, tree, cards, sums, {"method": "random", "seed": seed}, **more)


# One card each, and one board card per round from the second: betting as in hold'em, and few hands.
DEEP = PokerRules(blinds=(100, 50), stacks=(20_000, 20_000), board=(0, 1, 1, 1), hole=1, ranks=4, suits=2, name="deep")
SHORT = replace(DEEP, stacks=(1_300, 1_300), name="short")
UNEQUAL = replace(DEEP, stacks=(2_150, 900), name="unequal")
# Two cards each: sixteen cards, and a flop and a turn.
PAIRS = PokerRules(blinds=(100, 50), stacks=(3_000, 3_000), board=(0, 3, 1), hole=2, ranks=4, suits=4, name="pairs")
DEMO = menu_from_table({"preflop": ["2.5x, a", "100%, a", "a"], "flop": ["50%, 100%, a", "100%, a", "a"]})
CAPPED = menu_from_table({"preflop": ["100%", "100%"], "flop": ["50%, 100%", "100%"], "most_raises": [3, 2, 1, 1]})
MEEK = menu_from_table(
    {"preflop": "100%, a", "most_raises": 2, "ip": {"flop": ""}}
)  # the dealer never bets after the flop
KINDS = {
    "demo": (DEEP, DEMO),
    "pot": (SHORT, one_size_menu("100%")),
    "capped": (DEEP, CAPPED),
    "meek": (DEEP, MEEK),
    "short": (SHORT, DEMO),
    "unequal": (UNEQUAL, DEMO),
    "limit": (read_game("leduc"), None),
    "one round": (read_game("kuhn"), None),
    "pairs": (PAIRS, CAPPED),
}

# All 1,326 hands and all flops: 1.3 million buckets, and few lines.
FLOP = PokerRules(blinds=(100, 50), stacks=(1_000, 1_000), board=(0, 3), name="flop")


@cache
def flop_blueprint():
    """A random blueprint for hold'em that ends on the flop, without card abstraction."""
    menu = one_size_menu("100%", most_raises=1)
    tree, cards = compile_action_tree(FLOP, menu), lossless_abstraction((3,))
    rng = np.random.default_rng(5)
    sums = [rng.random((cards.counts[street], int(tree.width[street])), np.float32) for street in (0, 1)]
    return Blueprint(FLOP, menu, tree, cards, tuple(sums))


@cache
def blueprint_of(kind):
    """A random blueprint for one of KINDS, with some zero sums."""
    rules, menu = KINDS[kind]
    tree, cards = compile_action_tree(rules, menu), lossless_abstraction(rules.board[1:], rules.deck)
    rng = np.random.default_rng(3)
    shapes = [(cards.counts[street], int(tree.width[street])) for street in range(rules.rounds)]
    sums = [rng.random(shape, np.float32) * (rng.random(shape) > 0.2) for shape in shapes]
    return Blueprint(rules, menu, tree, cards, tuple(s.astype(np.float32) for s in sums))
