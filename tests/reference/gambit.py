"""Recorded results of Gambit, since its Python package takes minutes to build.

    pip install ".[peers]" && python -m tests.reference.gambit

runs it again and writes `tests/games/recorded/gambit.json`: for every tree its nodes in preorder and the payoffs of
four strategy profiles, for every table its cells, and the text of the games that are not files of ours. A slow test
does the same and compares, if the package is installed.
"""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

TESTS = Path(__file__).parent.parent
DATA = TESTS / "games" / "data"
RECORDED = TESTS / "games" / "recorded" / "gambit.json"
SHAPES = [(1,), (3,), (2, 2), (3, 4), (2, 3, 2), (2, 1, 2, 3)]
TREES = 60

Facts = dict[str, Any]


def plans(widths: list[int]) -> list[list[list[float]]]:
    """Two mixed and two pure profiles for information sets of these widths."""
    rng = np.random.default_rng(len(widths))
    mixed = [[rng.dirichlet(np.ones(width)) for width in widths] for _ in range(4)]
    pure = [[np.eye(len(p))[p.argmax()] for p in plan] for plan in mixed[2:]]
    return [[p.tolist() for p in plan] for plan in mixed[:2] + pure]


def tree_facts(game: Any) -> Facts:
    """A tree in preorder: [player, information set, labels], ["chance", labels, probabilities] or ["end", payoffs].

    Payoffs are summed from the root; information sets are numbered in the order of visits.
    """
    players = list(game.players)
    numbers = {player.label: k for k, player in enumerate(players)}
    sets: dict[Any, int] = {}
    result: list[Any] = []
    nodes: list[list[Any]] = []
    work = [(game.root, [0.0] * len(players))]
    while work:
        node, before = work.pop()
        payoffs = [float(node.outcome[p]) if node.outcome else 0.0 for p in players]
        total = [a + b for a, b in zip(before, payoffs, strict=True)]
        if node.is_terminal:
            nodes.append(["end", total])
            continue
        labels = [action.label for action in node.infoset.actions]
        if node.player.is_chance:
            nodes.append(["chance", labels, [float(a.prob) for a in node.infoset.actions]])
        else:
            key = (numbers[node.player.label], node.infoset.number)
            if key not in sets:
                sets[key] = len(sets)
                result.append(node.infoset)
            nodes.append([key[0], sets[key], labels])
        work += [(child, total) for child in reversed(list(node.children))]
    values = []
    for plan in plans([len(i.actions) for i in result]):
        profile = game.mixed_behavior_profile()
        for infoset, probabilities in zip(result, plan, strict=True):
            for action, p in zip(infoset.actions, probabilities, strict=True):
                profile[action] = p
        values.append([float(profile.payoff(p)) for p in players])
    return {"players": len(players), "nodes": nodes, "values": values}


def table_facts(game: Any) -> Facts:
    """The strategies of each player and the payoffs of every combination."""
    cells = []
    for cell in game.contingencies:  # Gambit's own to_arrays fails on combinations without an outcome
        outcome = game[cell]
        cells.append([list(cell), [float(outcome[p]) if outcome else 0.0 for p in game.players]])
    return {"labels": [[s.label for s in p.strategies] for p in game.players], "cells": cells}


def random_tree(gbt: Any, seed: int) -> Any:
    """A tree built by Gambit: chance, several players, shared information sets, outcomes anywhere."""
    rng = random.Random(seed)
    game = gbt.Game.new_tree(players=[f"player {k}" for k in range(rng.randint(1, 4))], title=f"random {seed}")
    leaves = [game.root]
    for _ in range(rng.randint(1, 12)):
        leaf = leaves.pop(rng.randrange(len(leaves)))
        expected = list(game.infosets)
        if expected and rng.random() < 0.3:
            game.append_infoset(leaf, rng.choice(expected))
        else:
            actor = rng.choice([game.players.chance, *game.players])
            game.append_move(leaf, actor, [f"m {k}" for k in range(rng.randint(1, 3))])
            if actor.is_chance:
                weights = [rng.randint(1, 9) for _ in leaf.infoset.actions]
                game.set_chance_probs(leaf.infoset, [gbt.Rational(w, sum(weights)) for w in weights])
        leaves += list(leaf.children)
    for node in list(game.nodes):
        if rng.random() < 0.6:
            numbers = [rng.choice([rng.randint(-9, 9), gbt.Rational(rng.randint(-9, 9), 7)]) for _ in game.players]
            game.set_outcome(node, game.add_outcome(payoffs=numbers, label=f"outcome {len(game.outcomes)}"))
    return game


def read(parse: Callable[[Any], Any], text: str) -> Any:
    return parse(io.BytesIO(text.encode()))


def ask() -> dict[str, Any]:
    """Compute everything that is recorded, from Gambit itself."""
    import pygambit as gbt  # type: ignore[import-not-found, import-untyped, unused-ignore]

    trees: dict[str, Facts] = {}
    tables: dict[str, Facts] = {}
    for path in sorted(DATA.glob("*.efg")):
        game = gbt.read_efg(path)
        written = game.to_efg()
        assert tree_facts(read(gbt.read_efg, written)) == tree_facts(game)
        trees[path.name] = {"written": written, **tree_facts(game)}
    for path in sorted(DATA.glob("*.nfg")):
        game = gbt.read_nfg(path)
        tables[path.name] = {"written": game.to_nfg(), **table_facts(game)}
    for seed in range(TREES):
        game = random_tree(gbt, seed)
        trees[f"random {seed}"] = {"written": game.to_efg(), **tree_facts(game)}
    for shape in SHAPES:
        game = gbt.Game.from_arrays(*np.random.default_rng(0).integers(-9, 9, (len(shape), *shape)))
        tables[f"random {shape}"] = {"written": game.to_nfg(), **table_facts(game)}
    return {"program": f"pygambit {metadata.version('pygambit')}", "trees": trees, "tables": tables}


def catalogue(gbt: Any) -> list[tuple[str, Any]]:
    """The games that come with Gambit. They are Gambit's, so they are read from it and not recorded."""
    names = sorted(gbt.catalog.games()["Game"]) if hasattr(gbt, "catalog") else []
    return [(name, gbt.catalog.load(name)) for name in names]


def load() -> dict[str, Any]:
    """Load the recorded results."""
    result: dict[str, Any] = json.loads(RECORDED.read_text())
    return result


if __name__ == "__main__":
    RECORDED.parent.mkdir(exist_ok=True)
    answers = ask()
    lines = [
        f"{json.dumps(kind)}: {{\n"
        + ",\n".join(f"{json.dumps(name)}: {json.dumps(fact)}" for name, fact in answers[kind].items())
        + "\n}"
        for kind in ("trees", "tables")
    ]
    RECORDED.write_text(f'{{"program": {json.dumps(answers["program"])},\n' + ",\n".join(lines) + "}\n")
