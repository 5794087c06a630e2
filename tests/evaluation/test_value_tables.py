"""Value tables: against all possible hands, cached on disk, and invalid input."""

from __future__ import annotations

import numpy as np
import pytest

from random_blueprints import random_blueprint
from reference.matches import all_hands
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.core import cache
from riverboat.core.errors import InputError
from riverboat.evaluation.matches import value_tables as module
from riverboat.evaluation.matches.value_tables import value_tables

DEALS = 60_000


def test_values_against_all_hands() -> None:
    """Values of buckets are means over all hands: at the root, and after the first action for the other player."""
    first, second = random_blueprint("leduc", 1), random_blueprint("leduc", 2)
    rules, tree, cards = first.rules, first.tree, first.cards
    hands, chance = all_hands(BlueprintAgent(first, "a"), BlueprintAgent(second, "b"), rules)
    tables = value_tables(first, second, DEALS)
    bucket = cards.buckets(hands.cards, 2)[:, :, 0]
    nodes = {0: (0, np.ones(len(hands), bool), (0, 1), tables.begin_row, tables.begin)}
    starter = int(tree.actor[0])
    for child in tree.children(0):
        move = {"c": 0}.get(tree.label(child), int(tree.total[child]))
        nodes[child] = (0, hands.moves[:, 0] == move, (1 - starter,), tables.after_row, tables.after)
    for node, (street, there, seats, row, values) in nodes.items():
        spent = tree.spent[node]
        for seat in seats:
            for b in range(3):
                mine = there & (bucket[:, seat] == b)
                won = (chance[mine] * hands.won[mine, seat]).sum() / chance[mine].sum()
                exact = (won + spent[seat]) / spent.sum()
                assert values[street][seat, row[node], b] == pytest.approx(exact, abs=0.08)


def test_tables_are_cached(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setattr(cache, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(module, "cached_arrays", cache.cached_arrays)
    strategy, calls = random_blueprint("leduc", 5), []
    one = value_tables(strategy, deals=50, progress=calls.append)
    assert calls == [1.0]
    again = value_tables(strategy, deals=50, progress=calls.append)
    assert calls == [1.0]
    assert all(np.array_equal(a, b) for a, b in zip(one.after, again.after, strict=True))
    value_tables(random_blueprint("leduc", 6), deals=50, progress=calls.append)
    value_tables(strategy, deals=60, progress=calls.append)
    assert calls == [1.0] * 3


def test_invalid_input() -> None:
    with pytest.raises(InputError, match="deals=0"):
        value_tables(random_blueprint("leduc"), deals=0)
    with pytest.raises(InputError, match="strategies"):
        value_tables(random_blueprint("leduc"), random_blueprint("kuhn"))
