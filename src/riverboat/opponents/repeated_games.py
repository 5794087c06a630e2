"""Repeated play of a small game by rules that exploit, safely or not (Ganzfried & Sandholm 2012, 2015).

Every rule plays, each hand, an ε-safe best response to a model of the opponent. Rules differ in ε and in what they count
as won so far, k. The model is the frequency of what was seen at each information set, after a prior of some
hands of equilibrium play there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riverboat.core.errors import InputError, unknown
from riverboat.games.base import TERMINAL, Array, Constant
from riverboat.opponents import _kernels
from riverboat.opponents.safe.frontier import Corners
from riverboat.trees.history import HistoryTree
from riverboat.trees.public import PublicTree


@dataclass(frozen=True)
class Rule:
    """How k is spent, and how it is counted."""

    name: str
    spend: int
    realised: bool = False  # count what was won; else only what the opponent certainly gave
    safe: bool = True


RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        Rule("rwyw", _kernels.SPEND, realised=True, safe=False),
        Rule("rwywe", _kernels.SPEND),
        Rule("befewp", _kernels.IF_AFFORDABLE),
        Rule("beffe", _kernels.TO_THE_END),
        Rule("best-equilibrium", _kernels.NEVER),
        Rule("best-response", _kernels.ALWAYS, safe=False),
    )
}


@dataclass(frozen=True)
class Convention:
    """What the paper leaves open.

    Among responses that do equally well against the model, `prefer="reference"` takes the one nearest (in L1 of
    plans) to the equilibrium that bets most, `"bets"` the one that itself bets and calls most, `"checks"` the one that does
    so least. `nemesis` decides the same for an opponent that responds to us. With `reveal="showdown"` a hand that was
    folded stays unknown: it adds nothing to the model, and k is counted for the worst of the hands it may have been.
    """

    prefer: str = "reference"
    nemesis: str = "bets"
    reveal: str = "always"
    prior: float = 5.0  # hands of equilibrium play at each information set


PREFER = ("reference", "bets", "checks")
NEMESIS = {"bets": 1.0, "checks": 0.0, "even": 0.5}
REVEAL = ("always", "showdown")


@dataclass(frozen=True, eq=False)
class Matches:
    """What a rule earned against each opponent, by exact expectation per hand."""

    mean: Array  # float64 [matches]: per hand
    least: Array  # float64 [matches]: the smallest k, where k counts gifts
    profit: Array  # float64 [0 or matches, hands]: so far
    bank: Array  # float64 [0 or matches, hands]: k before each hand


def play(
    corners: Corners,
    rule: str,
    opponents: Array,  # float64 [matches, opponent sequences]: behaviour; 1 for the empty sequence
    equilibrium: Array,  # float64 [opponent sequences]: behaviour that the prior assumes
    hands: int = 1000,
    seed: int = 0,
    nemesis_after: int | None = None,
    convention: Convention | None = None,
    record: bool = False,
) -> Matches:
    """Play matches of `hands` hands each against given opponents.

    Equal seeds mean equal deals and equal luck of the opponents for every rule. After `nemesis_after` hands an
    opponent knows our plan of each hand and best-responds to it.
    """
    if rule not in RULES:
        raise unknown("rule", rule, RULES)
    if hands < 1:
        raise InputError(f"{hands} hands: a match has at least one")
    convention = convention or Convention()
    for field, known in (("prefer", PREFER), ("nemesis", NEMESIS), ("reveal", REVEAL)):
        if getattr(convention, field) not in known:
            raise unknown(f"convention {field}", getattr(convention, field), known)
    if not convention.prior > 0:
        raise InputError(f"convention prior={convention.prior:g}: must be above 0 hands")
    form, me = corners.form, corners.player
    sequences = form.treeplexes[1 - me].sequences
    if opponents.ndim != 2 or opponents.shape[1] != sequences:
        raise InputError(f"{form.tree.name}: opponents of shape {opponents.shape}, not [matches, {sequences}]")
    if equilibrium.shape != (sequences,):
        raise InputError(f"{form.tree.name}: an equilibrium of shape {equilibrium.shape}, not ({sequences},)")
    table = _table(corners, convention.reveal)
    rows = len(opponents) if record else 0
    matches = Matches(
        np.zeros(len(opponents)), np.zeros(len(opponents)), np.zeros((rows, hands)), np.zeros((rows, hands))
    )
    seeds = np.random.SeedSequence(seed).generate_state(3 * len(opponents), np.uint64).reshape(-1, 3, 1)
    own = form.treeplexes[me].sequences
    room = _kernels.Room(
        *(np.zeros(n) for n in (sequences, sequences, own, len(corners.plans), own, sequences, sequences))
    )
    prior, prefer = convention.prior * equilibrium, _preference(corners, convention.prefer)
    style = _kernels.Style(RULES[rule].spend, RULES[rule].realised, prior, prefer)
    change = hands if nemesis_after is None else nemesis_after
    met = _kernels.Opponents(np.ascontiguousarray(opponents), change, NEMESIS[convention.nemesis])
    _kernels.matches(table, me, style, met, seeds, hands, room, _kernels.Earned(**vars(matches)))
    return matches


def _preference(corners: Corners, prefer: str) -> Array:
    """What to prefer among equals. float64 [corners]"""
    if prefer == "reference":
        out: Array = -np.abs(corners.plans - corners.plans[corners.boldest_equilibrium]).sum(axis=1)
        return out
    return corners.boldness if prefer == "bets" else -corners.boldness


def _table(corners: Corners, reveal: str) -> _kernels.Table:
    form, me = corners.form, corners.player
    tree, other = form.histories, form.treeplexes[1 - me]
    first = np.zeros(len(tree.nodes.actor), np.int32)
    for player in (0, 1):
        plex = form.treeplexes[player]
        start = np.zeros(tree.infoset_count, np.int32)
        start[plex.infosets] = plex.first
        mine = tree.nodes.actor == player
        first[mine] = start[tree.node_infoset[mine]]
    set_of = np.full(other.sequences, -1, np.int32)
    for i, (begin, width) in enumerate(zip(other.first, other.width, strict=True)):
        set_of[begin : begin + width] = i
    last = np.ascontiguousarray(tree.last_sequence, np.int32)
    alike, seen = _sights(corners, reveal)
    return _kernels.Table(
        tree.nodes.actor, tree.nodes.end, tree.nodes.data, first, last, tree.nodes.width, tree.chance,
        np.ascontiguousarray(tree.payoffs[:, me]), np.ascontiguousarray(form.payoffs[me].toarray().T),
        np.stack([other.first, other.width], axis=1).astype(np.int32), set_of, alike, seen,
        corners.plans, corners.worst,
    )  # fmt: skip


def _sights(corners: Corners, reveal: str) -> tuple[Array, Array]:
    """At each terminal: the opponent's sequences that fit what the player saw, and whether the hand was shown."""
    form, me = corners.form, corners.player
    tree = form.histories
    ends = np.flatnonzero(tree.nodes.actor == TERMINAL)
    last = tree.last_sequence
    seen = np.ones(len(tree.nodes.actor), bool)
    groups: dict[object, list[int]] = {}
    if reveal == "showdown":
        lines = _public_ends(form.tree, tree)
        for n, (public, folded) in lines.items():
            seen[n] = not folded
            groups.setdefault((int(last[n, me]), public) if folded else n, []).append(n)
    else:
        groups = {int(n): [int(n)] for n in ends}
    alike = np.full((len(tree.nodes.actor), max(len(g) for g in groups.values())), -1, np.int32)
    for group in groups.values():
        for place in group:
            alike[place, : len(group)] = last[group, 1 - me]
    return alike, seen


def _public_ends(tree: object, histories: HistoryTree) -> dict[int, tuple[str, bool]]:
    """For each terminal history of an unrolled public tree: its public line and whether somebody folded."""
    if not isinstance(tree, PublicTree):
        raise InputError(f"{histories.name}: hands are shown or not in public games only; use reveal='always'")
    ends: dict[int, tuple[str, bool]] = {}
    work: list[tuple[int, int, str]] = [(0, 0, "")]  # history, depth (the first two are deals), line
    while work:
        node, depth, line = work.pop()
        if histories.nodes.actor[node] == TERMINAL:
            payoff = tree.layout.payoffs[tree.layout.index[tree.node(line)]]
            ends[node] = line, isinstance(payoff, Constant)
            continue
        for child, label in zip(histories.children(node), histories.labels(node), strict=True):
            longer = label if not line else f"{line}{tree.joiner}{label}"
            work.append((child, depth + 1, line if depth < 2 else longer))
    return ends
