"""Exploitation with more than two players, and where pay-offs do not cancel: what can still be guaranteed.

    against = Adversary(tree, player=0)
    against.value                                      # what player 0 can guarantee, whatever the others do
    against.respond(model, epsilon=0.05)               # the most won from a model, at most epsilon below that

With two players and zero sum an equilibrium strategy guarantees the value. With more players, or other sums, it guarantees
nothing of the kind: others who leave the equilibrium can hurt a player who does not. What a player can guarantee is its
maximin value against all others together, and that is what safety is relative to. Here the others are one adversary who knows
what each of them knows and wants nothing but the player's loss: a zero-sum game for two, with linear programs as ever. Others
who play on their own, by their own plans, can do no more than that adversary; so guarantees hold against them, and may be
pessimistic. What they give away counts as gifts (`opponents.safe.epsilon_safe.credit`), and RWYWE's rule is safe with this value in the
place of the game's.

Models and best responses need none of this: DBBR fits each player by itself, and a best response to all models wins what it
says from others who are as modelled, and promises nothing otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np

from riverboat.core.errors import InputError, unknown
from riverboat.games.base import Array
from riverboat.opponents.dbbr import FITS
from riverboat.opponents.safe.epsilon_safe import Response, guarantee, safe_response, value
from riverboat.solvers.exact.sequence_form import SequenceForm
from riverboat.strategies.tabular import Strategy, Tree
from riverboat.trees.compile import histories
from riverboat.trees.history import HistoryTree

Counts = Mapping[str, Array]  # public history: how often each action was seen


class Adversary:
    """A game as it looks to one player who trusts nobody: all others are one."""

    def __init__(self, tree: Tree, player: int) -> None:
        self.source, self.player = histories(tree), player
        if not 0 <= player < self.source.players:
            raise InputError(f"{tree.name}: no player {player}: there are players 0 to {self.source.players - 1}")
        self.source.check_recall(player)
        self.tree, self._origin = _merged(self.source, player)

    @cached_property
    def form(self) -> SequenceForm:
        """The sequence form for two: the player is 0, the others are 1."""
        return SequenceForm(self.tree)

    @cached_property
    def value(self) -> float:
        """What the player can guarantee."""
        return value(self.form, 0)

    def carried(self, strategy: Strategy) -> Strategy:
        """A profile of the game as one of two players here: others who play on their own."""
        if histories(strategy.tree).fingerprint != self.source.fingerprint:
            raise InputError(f"{self.source.name}: the strategy is for another tree ({strategy.tree.name})")
        flat = histories(strategy.tree)
        table = strategy.probabilities
        if flat is not strategy.tree and flat.origin is not None:
            table = table[flat.origin]
        return Strategy(self.tree, np.array(table, float)[self._origin])

    def guaranteed(self, strategy: Strategy) -> float:
        """What the player's part of a profile guarantees."""
        return guarantee(self.form, 0, self.form.plan(self.carried(strategy), 0))

    def respond(self, model: Strategy, epsilon: float) -> Response:
        """The most won from the others' part of a profile, among plans that guarantee the value less epsilon."""
        return safe_response(self.form, 0, self.form.plan(self.carried(model), 1), epsilon, self.value)

    def earned(self, plan: Array, others: Strategy) -> float:
        """What a plan earns against others who play a profile."""
        return float(plan @ (self.form.payoffs[0] @ self.form.plan(self.carried(others), 1))) + self.form.half


def _merged(tree: HistoryTree, player: int) -> tuple[HistoryTree, Array]:
    """The game for two, and where each place of its table stands in that of the game. int64 [table]

    The others tell apart whatever any of them could tell apart so far: their information sets on the way, and their moves.
    """
    nodes, count = tree.nodes, len(tree.nodes.actor)
    known: list[tuple[tuple[int, int], ...]] = [()] * count  # sets and moves of the others on the way
    numbers: dict[object, int] = {}
    infoset, data = np.full(count, -1, np.int32), nodes.data.copy()
    names: list[tuple[str, tuple[str, ...]]] = []
    owner: list[int] = []
    offset: list[int] = []
    origin: list[int] = []
    info = list(tree.infosets())
    for node in range(count):
        actor, number = int(nodes.actor[node]), int(tree.node_infoset[node])
        if number >= 0:
            mine = actor == player
            key = number if mine else (number, known[node])
            if key not in numbers:
                numbers[key] = len(names)
                names.append((f"{info[number].name} #{len(names)}", info[number].actions))
                owner.append(0 if mine else 1)
                offset.append(len(origin))
                origin += range(info[number].offset, info[number].offset + len(info[number].actions))
            infoset[node] = numbers[key]
            data[node] = offset[numbers[key]]
        for k, child in enumerate(tree.children(node)):
            moved = number >= 0 and actor != player
            known[child] = (*known[node], (number, k)) if moved else known[node]
    actors = np.where(tree.node_infoset >= 0, np.where(nodes.actor == player, 0, 1), nodes.actor).astype(np.int8)
    pay = tree.payoffs[:, player]
    made = HistoryTree(
        f"{tree.name} as player {player} may fear it",
        tree.unit,
        nodes._replace(actor=actors, data=data),
        infoset,
        np.array(owner, np.int8),
        np.stack([pay, -pay], axis=1),
        tree.chance,
        lambda: names,
        tree.outcome_labels,
    )
    return made, np.array(origin, np.int64)


# --- DBBR ---------------------------------------------------------------------------------------


def behind_cards(name: str) -> str:
    """The public part of the names that poker games here give their information sets: `J:cr` is `cr`."""
    return name.partition(":")[2]


def model(
    base: Strategy, watched: int, counts: Counts, fit: str = "l1", prior: float = 5.0,
    line: Callable[[str], str] = behind_cards,
) -> Strategy:  # fmt: skip
    """DBBR for one of several players: the strategy nearest to `base` that shows what was counted at public histories.

    `line` makes the name of a public history from that of an information set. Other players' rows are kept, so models of
    several are made one after the other.
    """
    if fit not in FITS:
        raise unknown("fit", fit, FITS)
    if not prior > 0:
        raise InputError(f"prior={prior:g}: must be above 0 hands")
    tree = base.tree
    if not isinstance(tree, HistoryTree):
        raise InputError(f"{tree.name}: a game of two has public histories of its own: exploit.dbbr")
    table = np.array(base.probabilities, float)
    plex, info = tree.treeplex(watched), list(tree.infosets())
    groups: dict[str, list[int]] = {}
    for i, number in enumerate(plex.infosets.tolist()):  # parents come before children
        groups.setdefault(line(info[number].name), []).append(i)
    dealt = np.zeros(tree.infoset_count)
    decisions = np.flatnonzero(tree.node_infoset >= 0)
    np.add.at(dealt, tree.node_infoset[decisions], tree.chance_reach[decisions])
    plan, before = np.ones(plex.sequences), np.ones(plex.sequences)
    for name, sets in groups.items():
        weights = np.array([dealt[plex.infosets[i]] * plan[plex.parent[i]] for i in sets])
        old = np.array([dealt[plex.infosets[i]] * before[plex.parent[i]] for i in sets])
        rows = np.array([table[plex.table[plex.first[i] : plex.first[i] + plex.width[i]]] for i in sets])
        seen = np.asarray(counts.get(name, np.zeros(rows.shape[1])), float)
        if seen.shape != (rows.shape[1],):
            raise InputError(f"{tree.name}: {len(seen)} counts at {name!r}, which has {rows.shape[1]} moves")
        new = rows
        if weights.sum() > 0 and old.sum() > 0:
            wanted = (prior * (old / old.sum()) @ rows + seen) / (prior + seen.sum())
            new = np.maximum(FITS[fit](weights / weights.sum(), rows, wanted), 0.0)
            new /= new.sum(axis=1, keepdims=True)
        for i, row, was in zip(sets, new, rows, strict=True):
            moves = slice(int(plex.first[i]), int(plex.first[i] + plex.width[i]))
            table[plex.table[moves]] = row
            plan[moves], before[moves] = plan[plex.parent[i]] * row, before[plex.parent[i]] * was
    return Strategy(tree, table, {"method": "opponent model", "player": watched})


def watch(
    profile: Strategy, watched: int, hands: int, rng: np.random.Generator, line: Callable[[str], str] = behind_cards
) -> dict[str, Array]:
    """Play hands of a profile and count one player's public actions."""
    tree = histories(profile.tree)
    info = list(tree.infosets())
    counts = {line(i.name): np.zeros(len(i.actions)) for i in info if i.player == watched}
    work = [(0, hands)]
    while work:
        node, here = work.pop()
        width, first = int(tree.nodes.width[node]), int(tree.nodes.data[node])
        if width == 0 or here == 0:
            continue
        number = int(tree.node_infoset[node])
        chances = tree.chance if number < 0 else profile.probabilities
        row = np.asarray(chances[first : first + width], float)
        drawn = rng.multinomial(here, row / row.sum())
        if number >= 0 and info[number].player == watched:
            counts[line(info[number].name)] += drawn
        work += list(zip(tree.children(node), drawn.tolist(), strict=True))
    return counts
