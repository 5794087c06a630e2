"""Exploitation with more than two players or nonzero sums: maximin values, safe responses and opponent models.

    adversary = MaximinAdversary(tree, player=0)
    adversary.value                                    # player 0's maximin value
    adversary.respond(model, epsilon=0.05)             # best response to a model among ε-safe plans

In two-player zero-sum games an equilibrium strategy guarantees the value. With more players or other sums it guarantees
nothing: others who leave the equilibrium can hurt a player who does not. A player can guarantee its maximin value
against all others together, and safety is relative to that value. Here the others are one adversary with all their
information, who minimizes the player's payoff: a two-player zero-sum game that linear programs solve. Others who act
independently can do no more than that adversary, so that guarantees hold against them, and may be pessimistic. Their
mistakes count as gifts (`opponents.safe_responses.guaranteed_earnings`), and RWYWE is safe with this value instead of
the game's.

Models and best responses do not need an adversary. DBBR fits each player separately. A best response to all models
earns its value against players who match the models, and guarantees nothing otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np

from riverboat.core.errors import InputError
from riverboat.core.validation import check_name
from riverboat.games.base import Array
from riverboat.opponents.dbbr import FITS
from riverboat.opponents.safe_responses import PlanResponse, guarantee, safe_response, unroll, value_of_game
from riverboat.solvers.exact.sequence_form import SequenceForm
from riverboat.strategies.tabular import Strategy, Tree
from riverboat.trees.compile import to_history_tree
from riverboat.trees.history import HistoryTree

LineCounts = Mapping[str, Array]  # public history -> action counts, float64 [actions]


class MaximinAdversary:
    """A game in which one player faces a single adversary that controls all others.

    Parameters
    ----------
    tree
        Tree of a game with any number of players.
    player
        Player whose guarantee is computed.

    Raises
    ------
    InputError
        If there is no such player.
    RecallError
        If the player has imperfect recall.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.trees.compile import compile_game
    >>> adversary = MaximinAdversary(compile_game(kuhn()), player=0)
    >>> round(18 * adversary.value, 6)
    -1.0
    """

    def __init__(self, tree: Tree, player: int) -> None:
        self.source, self.player = to_history_tree(tree), player
        if not 0 <= player < self.source.players:
            raise InputError(f"{tree.name}: no player {player}: must be 0 to {self.source.players - 1}")
        self.source.check_recall(player)
        self.tree, self._origin = _merge_opponents(self.source, player)

    @cached_property
    def form(self) -> SequenceForm:
        """Two-player sequence form: the player is 0, the adversary is 1."""
        return SequenceForm(self.tree)

    @cached_property
    def value(self) -> float:
        """Maximin value of the player."""
        return value_of_game(self.form, 0)

    def convert_profile(self, strategy: Strategy) -> Strategy:
        """Convert a profile of the game, in which others act independently, to the two-player game.

        Parameters
        ----------
        strategy
            Profile for the original tree.

        Raises
        ------
        InputError
            If the strategy is for another tree.
        """
        flat, table = unroll(strategy)
        if flat.fingerprint != self.source.fingerprint:
            raise InputError(f"{self.source.name}: the strategy is for another tree ({strategy.tree.name})")
        return Strategy(self.tree, np.array(table, float)[self._origin])

    def guaranteed_value(self, strategy: Strategy) -> float:
        """Return the value that the player's part of a profile guarantees.

        Parameters
        ----------
        strategy
            Profile for the original tree.
        """
        return guarantee(self.form, 0, self.form.plan(self.convert_profile(strategy), 0))

    def respond(self, model: Strategy, epsilon: float) -> PlanResponse:
        """Return the best response to the others' part of a profile among plans that guarantee the value minus epsilon.

        Parameters
        ----------
        model
            Profile with the models of the others.
        epsilon
            Part of the maximin value that may be risked, 0 or more.
        """
        return safe_response(self.form, 0, self.form.plan(self.convert_profile(model), 1), epsilon, self.value)

    def expected_value(self, plan: Array, others: Strategy) -> float:
        """Return the expected value of a plan against others who play a profile.

        Parameters
        ----------
        plan
            Plan of the player, float64 [own sequences].
        others
            Profile for the original tree.
        """
        opponent_plan = self.form.plan(self.convert_profile(others), 1)
        return float(plan @ (self.form.payoffs[0] @ opponent_plan)) + self.form.half_sum


def _merge_opponents(tree: HistoryTree, player: int) -> tuple[HistoryTree, Array]:
    """Return the two-player game of a player (0) against one adversary (1) who controls all others.

    The second result maps each entry of the new strategy table to that of the original game, int64 [table]. The
    adversary distinguishes histories by the information sets and actions of all others so far.
    """
    nodes, count = tree.nodes, len(tree.nodes.actor)
    memory: list[tuple[tuple[int, int], ...]] = [()] * count  # information sets and actions of the others on the path
    index_of: dict[object, int] = {}
    infoset, data = np.full(count, -1, np.int32), nodes.data.copy()
    names: list[tuple[str, tuple[str, ...]]] = []
    owner: list[int] = []
    offset: list[int] = []
    origin: list[int] = []
    info = list(tree.infosets())
    for node in range(count):
        actor, number = int(nodes.actor[node]), int(tree.node_infoset[node])
        if number >= 0:
            is_own = actor == player
            key = number if is_own else (number, memory[node])
            if key not in index_of:
                index_of[key] = len(names)
                names.append((f"{info[number].name} #{len(names)}", info[number].actions))
                owner.append(0 if is_own else 1)
                offset.append(len(origin))
                origin += range(info[number].offset, info[number].offset + len(info[number].actions))
            infoset[node] = index_of[key]
            data[node] = offset[index_of[key]]
        for k, child in enumerate(tree.children(node)):
            others_act = number >= 0 and actor != player
            memory[child] = (*memory[node], (number, k)) if others_act else memory[node]
    actors = np.where(tree.node_infoset >= 0, np.where(nodes.actor == player, 0, 1), nodes.actor).astype(np.int8)
    payoff = tree.payoffs[:, player]
    merged = HistoryTree(
        f"{tree.name}, player {player} against one adversary",
        tree.unit,
        nodes._replace(actor=actors, data=data),
        infoset,
        np.array(owner, np.int8),
        np.stack([payoff, -payoff], axis=1),
        tree.chance,
        lambda: names,
        tree.outcome_labels,
    )
    return merged, np.array(origin, np.int64)


# --- DBBR ---------------------------------------------------------------------------------------


def public_line(name: str) -> str:
    """Return the public part of an information set's name in our poker games.

    Parameters
    ----------
    name
        Name such as `J:cr`.

    Returns
    -------
    str
        The part after the first colon.

    Examples
    --------
    >>> public_line("J:cr")
    'cr'
    """
    return name.partition(":")[2]


def fit_opponent_model(
    base: Strategy, observed_player: int, counts: LineCounts, fit: str = "l1", prior: float = 5.0,
    line: Callable[[str], str] = public_line,
) -> Strategy:  # fmt: skip
    """Fit a DBBR model of one of several players: the strategy nearest to `base` that matches counts at public histories.

    Other players' rows stay, so that several players are modelled one after the other.

    Parameters
    ----------
    base
        Profile that the model stays close to, for a history tree.
    observed_player
        Modelled player.
    counts
        Action counts by public history, float64 [actions] each.
    fit
        Measure of closeness: `l1`, `l2` or `em`.
    prior
        Weight of `base` in the frequencies, in hands, above 0.
    line
        Function from the name of an information set to that of its public history.

    Returns
    -------
    Strategy
        The profile with the model in the player's rows.

    Raises
    ------
    InputError
        If the fit is unknown, `prior` is not above 0, the tree is a public tree, or counts have another length.

    References
    ----------
    .. [1] Ganzfried and Sandholm, "Game theory-based opponent modeling in large imperfect-information games", AAMAS
       2011.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.trees.compile import compile_game
    >>> base = Strategy.uniform(to_history_tree(compile_game(kuhn())))
    >>> fit_opponent_model(base, 1, {"r": np.array([5.0, 0.0])})["Q:r"]
    {'f': 0.75, 'c': 0.25}
    """
    check_name("fit", fit, FITS)
    if not prior > 0:
        raise InputError(f"prior={prior:g}: must be above 0 hands")
    tree = base.tree
    if not isinstance(tree, HistoryTree):
        raise InputError(f"{tree.name}: use opponents.dbbr for public trees of two players")
    table = np.array(base.probabilities, float)
    plex, info = tree.treeplex(observed_player), list(tree.infosets())
    groups: dict[str, list[int]] = {}
    for i, number in enumerate(plex.infosets.tolist()):  # parents come before children
        groups.setdefault(line(info[number].name), []).append(i)
    decisions = np.flatnonzero(tree.node_infoset >= 0)
    deal_weight = np.bincount(tree.node_infoset[decisions], tree.chance_reach[decisions], tree.infoset_count)
    plan, base_plan = np.ones(plex.sequences), np.ones(plex.sequences)
    for name, sets in groups.items():
        weights = np.array([deal_weight[plex.infosets[i]] * plan[plex.parent[i]] for i in sets])
        base_weights = np.array([deal_weight[plex.infosets[i]] * base_plan[plex.parent[i]] for i in sets])
        rows = np.array([table[plex.table_index[plex.first[i] : plex.first[i] + plex.width[i]]] for i in sets])
        observed = np.asarray(counts.get(name, np.zeros(rows.shape[1])), float)
        if observed.shape != (rows.shape[1],):
            raise InputError(f"{tree.name}: {len(observed)} counts at {name!r}, which has {rows.shape[1]} actions")
        fitted = rows
        if weights.sum() > 0 and base_weights.sum() > 0:
            target = (prior * (base_weights / base_weights.sum()) @ rows + observed) / (prior + observed.sum())
            fitted = np.maximum(FITS[fit](weights / weights.sum(), rows, target), 0.0)
            fitted /= fitted.sum(axis=1, keepdims=True)
        for i, row, base_row in zip(sets, fitted, rows, strict=True):
            sequences = slice(int(plex.first[i]), int(plex.first[i] + plex.width[i]))
            table[plex.table_index[sequences]] = row
            plan[sequences], base_plan[sequences] = plan[plex.parent[i]] * row, base_plan[plex.parent[i]] * base_row
    return Strategy(tree, table, {"method": "opponent model", "player": observed_player})


def count_public_actions(
    profile: Strategy,
    observed_player: int,
    hands: int,
    rng: np.random.Generator,
    line: Callable[[str], str] = public_line,
) -> dict[str, Array]:
    """Sample hands of a profile and count one player's public actions.

    Parameters
    ----------
    profile
        Strategy of all players.
    observed_player
        Player whose actions are counted.
    hands
        Number of hands.
    rng
        Random generator.
    line
        Function from the name of an information set to that of its public history.

    Returns
    -------
    dict
        Action counts by public history, float64 [actions] each.

    Examples
    --------
    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.trees.compile import compile_game
    >>> counts = count_public_actions(Strategy.uniform(compile_game(kuhn())), 1, 1000, np.random.default_rng(0))
    >>> sum(row.sum() for row in counts.values())
    np.float64(1000.0)
    """
    tree, probabilities = unroll(profile)
    info = list(tree.infosets())
    counts = {line(i.name): np.zeros(len(i.actions)) for i in info if i.player == observed_player}
    stack = [(0, hands)]
    while stack:
        node, num_hands = stack.pop()
        width, first = int(tree.nodes.width[node]), int(tree.nodes.data[node])
        if width == 0 or num_hands == 0:
            continue
        number = int(tree.node_infoset[node])
        row = np.asarray((tree.chance if number < 0 else probabilities)[first : first + width], float)
        sampled = rng.multinomial(num_hands, row / row.sum())
        if number >= 0 and info[number].player == observed_player:
            counts[line(info[number].name)] += sampled
        stack += list(zip(tree.children(node), sampled.tolist(), strict=True))
    return counts
