"""Blueprints of games with one hole card as strategies on the public tree of the same game, for exact evaluation."""

import numpy as np

from riverboat.strategies.tabular import Strategy


def small_game_strategy(trainer, tree, *, averages=True):
    """Convert the average (or current) strategy to the public tree of the same game, such as `leduc`.

    Lines are matched action by action, `cc/Jh/cr` with `cc/cr`. Hands and board cards are matched by their order in the
    deck, since small games call their cards J, Q, K and decks have the highest ranks.
    """
    deck = trainer.tree.rules.deck
    assert trainer.tree.rules.hole == 1
    assert len(tree.hands[0]) == len(deck.cards)
    card = {name: int(deck.cards[k]) for k, name in enumerate(tree.hands[0])}
    out = np.array(Strategy.uniform(tree).probabilities)
    for infoset in tree.infosets():
        hand, _, line = infoset.name.partition(":")
        parts = line.split("/")
        betting, board = "/".join(parts[::2]), [card[name] for name in parts[1::2]]
        node = trainer.tree.find(betting)
        assert trainer.tree.actions(node) == infoset.actions, (infoset.name, betting)
        row = (trainer.average if averages else trainer.current)(node, trainer.cards.bucket([card[hand]], board))
        out[infoset.offset + infoset.stride * np.arange(len(row))] = row / row.sum()
    return Strategy(tree, out, {"method": "external sampling", "iterations": trainer.iterations})
