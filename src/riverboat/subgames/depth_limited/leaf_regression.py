"""A value of exits that is learnt from turns that were solved, for a blueprint; made once and kept.

The turns are those that the blueprint reaches against itself, with ranges around its own. Features are of the flop, before
the turn card is seen, so what is fitted is the mean over turn cards.
"""

from __future__ import annotations

import numpy as np

from riverboat.cards.card_removal import without_shared
from riverboat.cards.deck import HAND_CARDS
from riverboat.core.arrays import Array
from riverboat.core.cache import kept
from riverboat.engines.cpu.board_engine import BoardWalker
from riverboat.engines.tables import table_format
from riverboat.solvers.boards.cfr import STAKES_SCHEDULE, step_rows
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.strategies.blueprint_game import line_game
from riverboat.subgames.database.build import Reached, reached
from riverboat.subgames.depth_limited.leaf_baselines import Learnt, PairEquities, features
from riverboat.subgames.depth_limited.rollouts import RUNOUTS, SHOWN, Exit, Rollouts, groups_of
from riverboat.subgames.depth_limited.street_game import Beside
from riverboat.trees.boards import BoardTree

TURN, FLOP_CARDS = 2, 3
COUNT = 16  # turns that are solved
ITERATIONS = 75
SMALL = 100  # hands: so few are groups of their own
VERSION = 1


def learnt(strategy: BlueprintStrategy, count: int = COUNT, seed: int = 0) -> Learnt:
    """What was learnt for a blueprint: from the user's cache folder, else now (two minutes of a processor with all cards)."""
    name = f"leaves-{VERSION}-{strategy.fingerprint}-{count}-{seed}"
    return Learnt(kept(name, lambda: {"weights": learn(strategy, count, seed).weights})["weights"])


def learn(strategy: BlueprintStrategy, count: int, seed: int = 0) -> Learnt:
    """Solve some turns, and fit what hands are worth there."""
    rng, source = np.random.default_rng([seed, 11]), reached(strategy, [seed, 12], TURN)
    inputs, targets, weights = [], [], []
    for _ in range(count):
        turn = next(source)
        noise = rng.random((2, len(HAND_CARDS))) ** rng.uniform(0.0, 3.0, (2, 1))
        for x, y, w in _examples(strategy, turn, np.stack(turn.ranges) * noise):
            inputs.append(x)
            targets.append(y)
            weights.append(w)
    return Learnt.fit(inputs, targets, weights)


def _examples(strategy: BlueprintStrategy, turn: Reached, ranges: Array) -> list[tuple[Array, ...]]:
    """For both seats: features of hands on the flop, what they win of the solved turn in pots, how often they are held."""
    flop = turn.board[:FLOP_CARDS]
    left = np.setdiff1d(strategy.rules.deck.cards, flop)
    hands = np.flatnonzero(np.isin(HAND_CARDS, left).all(axis=1))
    groups = groups_of(strategy, flop, hands, 1) if len(hands) <= SMALL else None
    shown = Rollouts.draw(
        strategy, [Exit(SHOWN, 1.0)], flop, hands, 1, groups=groups, runouts=4 * RUNOUTS, ways=("blueprint",)
    )
    pairs, apart = PairEquities.of(shown, 0).share, Beside(hands).apart
    game = line_game(strategy, strategy.tree.find(turn.line), turn.board, ranges)
    walker = BoardWalker.learner(BoardTree(game), table_format("float32"), stakes=STAKES_SCHEDULE.stakes)
    walker.learn(step_rows(STAKES_SCHEDULE, 0, 0.0, ITERATIONS)[0])
    out: list[tuple[Array, ...]] = []
    for seat in (0, 1):
        met = without_shared(ranges[1 - seat])[hands]
        share = (pairs if seat == 0 else 1.0 - pairs.T) * apart
        equity = share @ ranges[1 - seat][hands] / np.maximum(met, 1e-12)
        held = ranges[seat][hands] * met
        row = walker.tree.row_of[0, seat][hands]
        known = held > 0  # the turn card leaves them too
        value = walker.evaluate(seat)[0][row[known]]
        mean = np.array((held * equity).sum() / held.sum())
        out.append(
            (
                features(equity[known], mean, np.array(turn.stack / turn.pot), float(seat == 0)),
                value / met[known] / turn.pot,
                held[known] / held[known].sum(),
            )
        )
    return out
