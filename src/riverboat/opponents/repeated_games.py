"""Repeated play of a small game by exploitation rules, safe or not (Ganzfried & Sandholm 2012, 2015).

In each hand, every rule plays an ε-safe best response to a model of the opponent. Rules differ in ε and in how they
count the bank k of winnings so far. The model is the observed frequency at each information set, after a prior of some
hands of equilibrium play.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from riverboat.core.errors import InputError
from riverboat.core.validation import check_name
from riverboat.games.base import TERMINAL, Array, ConstantPayoff, append_label
from riverboat.opponents import _kernels
from riverboat.opponents.safe_responses import PlanVertices
from riverboat.trees.history import HistoryTree
from riverboat.trees.public import PublicTree


@dataclass(frozen=True)
class ExploitationRule:
    """Rule for spending and counting the bank k.

    Attributes
    ----------
    name
        Name in `EXPLOITATION_RULES`.
    spend
        How the bank is spent, a constant of the kernels.
    realised
        Count realized winnings; otherwise only certain gifts.
    safe
        Whether the rule guarantees the value of the game on average.

    Examples
    --------
    >>> [name for name, rule in EXPLOITATION_RULES.items() if rule.safe]
    ['rwywe', 'befewp', 'beffe', 'best-equilibrium']
    """

    name: str
    spend: int
    realised: bool = False  # count realized winnings; otherwise only certain gifts
    safe: bool = True


EXPLOITATION_RULES: dict[str, ExploitationRule] = {
    rule.name: rule
    for rule in (
        ExploitationRule("rwyw", _kernels.SPEND, realised=True, safe=False),
        ExploitationRule("rwywe", _kernels.SPEND),
        ExploitationRule("befewp", _kernels.IF_AFFORDABLE),
        ExploitationRule("beffe", _kernels.TO_THE_END),
        ExploitationRule("best-equilibrium", _kernels.NEVER),
        ExploitationRule("best-response", _kernels.ALWAYS, safe=False),
    )
}


@dataclass(frozen=True)
class MatchConventions:
    """Conventions of a repeated match that Ganzfried & Sandholm (2012, 2015) leave open.

    Attributes
    ----------
    prefer
        Tie-breaking among responses with equal payoff against the model: `reference` takes the one nearest (in L1
        distance of plans) to the equilibrium that bets most, `bets` the one that bets and calls most, `checks` the one
        that does so least.
    nemesis
        Tie-breaking of an opponent that responds to us: `bets`, `checks` or `even`.
    reveal
        `always`, or `showdown`: folded hands stay unknown, add nothing to the model, and k is counted for the worst of
        the hands that are possible.
    prior
        Hands of equilibrium play at each information set.

    Examples
    --------
    >>> MatchConventions(reveal="showdown").prior
    5.0
    """

    prefer: str = "reference"
    nemesis: str = "bets"
    reveal: str = "always"
    prior: float = 5.0  # hands of equilibrium play at each information set


PREFERENCES = ("reference", "bets", "checks")
NEMESIS_AGGRESSION = {"bets": 1.0, "checks": 0.0, "even": 0.5}
REVEAL_MODES = ("always", "showdown")


class RepeatedMatchResults(NamedTuple):
    """Exact expected earnings of a rule against each opponent.

    Attributes
    ----------
    mean
        Expected payoff per hand, float64 [matches].
    least
        The smallest k, if k counts gifts, float64 [matches].
    profit
        Cumulative expected payoff, float64 [0 or matches, hands].
    bank
        k before each hand, float64 [0 or matches, hands].

    Examples
    --------
    >>> zero = np.zeros(1)
    >>> RepeatedMatchResults(zero, zero, zero, zero).mean
    array([0.])
    """

    mean: Array  # float64 [matches]: expected payoff per hand
    least: Array  # float64 [matches]: the smallest k, if k counts gifts
    profit: Array  # float64 [0 or matches, hands]: cumulative expected payoff
    bank: Array  # float64 [0 or matches, hands]: k before each hand


def play_matches(
    vertices: PlanVertices,
    rule: str,
    opponents: Array,  # float64 [matches, opponent sequences]: behavior strategies; 1 for the empty sequence
    equilibrium: Array,  # float64 [opponent sequences]: behavior strategy of the prior
    hands: int = 1000,
    seed: int = 0,
    nemesis_after: int | None = None,
    convention: MatchConventions | None = None,
    record: bool = False,
) -> RepeatedMatchResults:
    """Play matches of `hands` hands each against given opponents.

    Equal seeds give equal deals and equal random actions of the opponents for every rule.

    Parameters
    ----------
    vertices
        Plans of the player.
    rule
        Name in `EXPLOITATION_RULES`.
    opponents
        Behavior strategies by sequence, float64 [matches, opponent sequences]; 1 for the empty sequence.
    equilibrium
        Behavior strategy of the prior, float64 [opponent sequences].
    hands
        Hands of a match.
    seed
        Seed of cards and actions.
    nemesis_after
        Number of hands after which an opponent knows our plan of each hand and best-responds to it; None: never.
    convention
        Tie-breaking, prior and what is shown.
    record
        Whether to store profit and bank of every hand.

    Returns
    -------
    RepeatedMatchResults
        Earnings of each match.

    Raises
    ------
    InputError
        If the rule or a convention is unknown, or an array has another shape.

    References
    ----------
    .. [1] Ganzfried and Sandholm, "Safe opponent exploitation", EC 2012; ACM Transactions on Economics and Computation
       2015.

    Examples
    --------
    An opponent that mixes evenly, and a prior that does so too:

    >>> from riverboat.games.small.poker import kuhn
    >>> from riverboat.opponents.safe_responses import enumerate_vertices
    >>> from riverboat.solvers.exact.sequence_form import SequenceForm
    >>> from riverboat.trees.compile import compile_game
    >>> vertices = enumerate_vertices(SequenceForm(compile_game(kuhn())), player=0)
    >>> even = np.concatenate([[1.0], np.full(12, 0.5)])
    >>> play_matches(vertices, "best-response", even[None], even, hands=20).mean.round(3)
    array([0.5])
    """
    check_name("rule", rule, EXPLOITATION_RULES)
    if hands < 1:
        raise InputError(f"{hands} hands: must be at least 1")
    convention = convention or MatchConventions()
    for field, choices in (("prefer", PREFERENCES), ("nemesis", NEMESIS_AGGRESSION), ("reveal", REVEAL_MODES)):
        check_name(f"convention {field}", getattr(convention, field), choices)
    if not convention.prior > 0:
        raise InputError(f"convention prior={convention.prior:g}: must be above 0 hands")
    form, player = vertices.form, vertices.player
    sequences = form.treeplexes[1 - player].sequences
    if opponents.ndim != 2 or opponents.shape[1] != sequences:
        raise InputError(f"{form.tree.name}: opponents of shape {opponents.shape}, not [matches, {sequences}]")
    if equilibrium.shape != (sequences,):
        raise InputError(f"{form.tree.name}: an equilibrium of shape {equilibrium.shape}, not ({sequences},)")
    game = _game_arrays(vertices, convention.reveal)
    count, recorded = len(opponents), (len(opponents) if record else 0, hands)
    matches = RepeatedMatchResults(np.zeros(count), np.zeros(count), np.zeros(recorded), np.zeros(recorded))
    seeds = np.random.SeedSequence(seed).generate_state(3 * count, np.uint64).reshape(-1, 3, 1)
    own = form.treeplexes[player].sequences
    lengths = sequences, sequences, own, len(vertices.plans), own, sequences, sequences
    workspace = _kernels.RepeatedGameWorkspace(*map(np.zeros, lengths))
    prior, prefer = convention.prior * equilibrium, _preference(vertices, convention.prefer)
    style = _kernels.SpendingRule(EXPLOITATION_RULES[rule].spend, EXPLOITATION_RULES[rule].realised, prior, prefer)
    change, aggression = hands if nemesis_after is None else nemesis_after, NEMESIS_AGGRESSION[convention.nemesis]
    match_opponents = _kernels.MatchOpponents(np.ascontiguousarray(opponents), change, aggression)
    _kernels.play_matches(game, player, style, match_opponents, seeds, hands, workspace, matches)
    return matches


def _preference(vertices: PlanVertices, prefer: str) -> Array:
    """Return the tie-breaking preference of each vertex, larger is better. float64 [vertices]"""
    if prefer == "reference":
        distances = np.abs(vertices.plans - vertices.plans[vertices.most_aggressive_equilibrium]).sum(axis=1)
        return np.asarray(-distances)
    return vertices.aggression if prefer == "bets" else -vertices.aggression


# Convert the game and the vertices of the player's plans to the arrays of the kernels.
def _game_arrays(vertices: PlanVertices, reveal: str) -> _kernels.RepeatedGameArrays:
    form, own_player = vertices.form, vertices.player
    tree, other = form.histories, form.treeplexes[1 - own_player]
    start = np.zeros(tree.infoset_count, np.int32)
    for plex in form.treeplexes:
        start[plex.infosets] = plex.first
    first = np.where(tree.node_infoset >= 0, start[tree.node_infoset], 0).astype(np.int32)
    set_of = np.concatenate([[-1], np.repeat(np.arange(len(other.width)), other.width)]).astype(np.int32)
    last = np.ascontiguousarray(tree.last_sequence, np.int32)
    consistent, seen = _visible_endings(vertices, reveal)
    return _kernels.RepeatedGameArrays(
        tree.nodes.actor, tree.nodes.end, tree.nodes.data, first, last, tree.nodes.width, tree.chance,
        np.ascontiguousarray(tree.payoffs[:, own_player]), np.ascontiguousarray(form.payoffs[own_player].toarray().T),
        np.stack([other.first, other.width], axis=1).astype(np.int32), set_of, consistent, seen,
        vertices.plans, vertices.guarantees,
    )  # fmt: skip


def _visible_endings(vertices: PlanVertices, reveal: str) -> tuple[Array, Array]:
    """Return, for each terminal, the opponent's sequences that fit what the player sees, and whether its hand is shown.

    int32 [nodes, k], filled up with -1, and bool [nodes]
    """
    form, player = vertices.form, vertices.player
    tree = form.histories
    last = tree.last_sequence
    seen = np.ones(len(tree.nodes.actor), bool)
    groups: dict[object, list[int]] = {}
    if reveal == "showdown":
        for n, (public, folded) in _public_endings(form.tree, tree).items():
            seen[n] = not folded
            groups.setdefault((int(last[n, player]), public) if folded else n, []).append(n)
    else:
        groups = {n: [n] for n in np.flatnonzero(tree.nodes.actor == TERMINAL).tolist()}
    consistent = np.full((len(tree.nodes.actor), max(len(g) for g in groups.values())), -1, np.int32)
    for group in groups.values():
        for node in group:
            consistent[node, : len(group)] = last[group, 1 - player]
    return consistent, seen


def _public_endings(tree: object, histories: HistoryTree) -> dict[int, tuple[str, bool]]:
    """Return, for each terminal of an unrolled public tree, its public line and whether somebody folded."""
    if not isinstance(tree, PublicTree):
        raise InputError(f"{histories.name}: hands are shown or not in public games only; use reveal='always'")
    endings: dict[int, tuple[str, bool]] = {}
    stack: list[tuple[int, int, str]] = [(0, 0, "")]  # history, depth (the first two are deals), line
    while stack:
        node, depth, line = stack.pop()
        if histories.nodes.actor[node] == TERMINAL:
            payoff = tree.layout.payoffs[tree.layout.index[tree.node(line)]]
            endings[node] = line, isinstance(payoff, ConstantPayoff)
            continue
        for child, label in zip(histories.children(node), histories.labels(node), strict=True):
            stack.append((child, depth + 1, line if depth < 2 else append_label(line, tree.joiner, label)))
    return endings
