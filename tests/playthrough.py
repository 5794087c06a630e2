"""Playthroughs: seeded traversals of every registered game, with all observable facts.

They are stored in tests/playthroughs and compared with the games, so that no rule changes unnoticed. After an intended
change: `python -m tests.playthrough --write`, and read the diff.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from riverboat.games import registry
from riverboat.games.base import CHANCE, TERMINAL, ConstantPayoff, HistoryGame, MatrixPayoff, Payoff, PublicGame

FOLDER = Path(__file__).parent / "playthroughs"
WALKS = 3
MOST = 40  # items of a list that are shown
SPECS = {
    "holdem": "holdem:2-1,ranks=7,suits=1",
    "rhode_island": "rhode_island:ranks=3,suits=2,cap=1",
    "flop_holdem": "flop_holdem:small,ranks=7,suits=1,stack=1000",
}  # specs for games that cannot be made by their name alone


def playthrough(name: str) -> str:
    """The text for a registered game."""
    spec = SPECS.get(name, name)
    game = registry.game_from_spec(spec)
    lines = [f"game: {spec}", f"name: {game.name}", f"about: {registry.GAMES[name].description}", f"unit: {game.unit}"]
    options = " ".join(f"{key}={value}" for key, value in registry.game_options(name).items())
    lines += [f"options: {options or 'none'}"]
    walk = _public if isinstance(game, PublicGame) else _history
    if isinstance(game, PublicGame):
        lines += _hands(game)
    else:
        lines += ["shape: history", f"players: {game.players}"]
    for number in range(1, WALKS + 1):
        lines += ["", *walk(game, number, Random(f"{spec} {number}"))]
    return "\n".join(lines) + "\n"


def path_of(name: str) -> Path:
    """Path of the playthrough of a registered game."""
    return FOLDER / f"{name}.txt"


def _items(items: Sequence[Any]) -> str:
    shown = " ".join(f"{item:.12g}" if isinstance(item, float) else f"{item}" for item in items[:MOST])
    return shown + (f" … ({len(items)} in all)" if len(items) > MOST else "")


def _draw(random: Random, weights: Sequence[float]) -> int:
    """A random index by weight. Only `random()` is used, whose numbers are the same in every version of Python."""
    at = random.random() * sum(weights)
    for index, weight in enumerate(weights):
        at -= weight
        if at < 0:
            return index
    return max(index for index, weight in enumerate(weights) if weight > 0)


# --- public games ---------------------------------------------------------------------------


def _hands(game: PublicGame) -> Iterator[str]:
    yield "shape: public"
    yield f"joiner: {game.joiner!r}"
    for player in (0, 1):
        yield f"hands of player {player}: {_items(game.hands[player])}"
        yield f"their weights: {_items(game.deal.weights[player].tolist())}"
    pairs = [f"{game.hands[0][h0]}-{game.hands[1][h1]}" for h0, h1 in sorted(game.deal.excludes)]
    yield f"pairs that cannot be dealt: {_items(pairs) or 'none'}"


def _public(game: Any, number: int, random: Random) -> Iterator[str]:
    joint = game.deal.joint()
    pair = divmod(_draw(random, joint.ravel().tolist()), joint.shape[1])
    hands = [game.hands[player][pair[player]] for player in (0, 1)]
    yield f"walk {number}: hands {hands[0]} and {hands[1]}, dealt with probability {joint[pair]:.12g}"
    state, line = game.root(), []
    while state.actor != TERMINAL:
        where = game.joiner.join(line)
        if state.actor == CHANCE:
            outcomes = state.outcomes()
            yield f"  chance at {where!r}"
            for outcome in outcomes[:MOST]:
                dead = [[game.hands[p][h] for h in outcome.dead[p]] for p in (0, 1)]
                gone = "; ".join(f"not {_items(some)} of player {p}" for p, some in enumerate(dead) if some)
                yield f"    {outcome.label} {outcome.weight:.12g}{': ' if gone else ''}{gone}"
            live = [all(pair[p] not in outcome.dead[p] for p in (0, 1)) for outcome in outcomes]
            index = _draw(random, [outcome.weight * alive for outcome, alive in zip(outcomes, live, strict=True)])
            line.append(outcomes[index].label)
        else:
            moves = state.actions()
            yield f"  player {state.actor} at {f'{hands[state.actor]}:{where}'!r}: {_items(moves)}"
            index = _draw(random, [1.0] * len(moves))
            line.append(moves[index])
        yield f"  -> {line[-1]}"
        state = state.child(index)
    payoff = state.payoff()
    yield f"  end at {game.joiner.join(line)!r}: {_show(payoff)}"
    yield f"  pays {_items(_pay(payoff, pair))}"


def _show(payoff: Payoff) -> str:
    if isinstance(payoff, ConstantPayoff):
        return f"constant {_items(payoff.payoffs)}"
    if isinstance(payoff, MatrixPayoff):
        return f"matrix {np.shape(payoff.payoffs[0])}"
    first, second = (_items(strengths) for strengths in payoff.strengths)
    win, tie, lose = (_items(pays) for pays in (payoff.win, payoff.tie, payoff.lose))
    return f"compare {first} with {second}; higher {win}, equal {tie}, lower {lose}"


def _pay(payoff: Payoff, pair: tuple[int, int]) -> tuple[float, float]:
    if isinstance(payoff, ConstantPayoff):
        return payoff.payoffs
    if isinstance(payoff, MatrixPayoff):
        return payoff.payoffs[0][pair[0]][pair[1]], payoff.payoffs[1][pair[0]][pair[1]]
    own, other = payoff.strengths[0][pair[0]], payoff.strengths[1][pair[1]]
    return payoff.win if own > other else payoff.lose if own < other else payoff.tie


# --- history games --------------------------------------------------------------------------


def _history(game: HistoryGame, number: int, random: Random) -> Iterator[str]:
    yield f"walk {number}"
    state = game.root()
    while state.actor != TERMINAL:
        labels = state.actions()
        if state.actor == CHANCE:
            weights = list(state.probabilities())
            yield f"  chance: {_items(labels)} with probabilities {_items(weights)}"
        else:
            weights = [1.0] * len(labels)
            yield f"  player {state.actor} at {state.infoset()!r}: {_items(labels)}"
        index = _draw(random, weights)
        yield f"  -> {labels[index]}"
        state = state.child(index)
    yield f"  pays {_items([float(pay) for pay in state.payoffs()])}"


def main() -> None:
    """Print all playthroughs, or write them to their files."""
    for name in registry.GAMES:
        if sys.argv[1:] == ["--write"]:
            FOLDER.mkdir(exist_ok=True)
            path_of(name).write_text(playthrough(name), encoding="utf-8", newline="\n")
        else:
            print(playthrough(name))


if __name__ == "__main__":
    main()
