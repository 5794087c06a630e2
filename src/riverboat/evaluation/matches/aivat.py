"""AIVAT: unbiased, low-variance estimates of winnings (Burch, Schmid, Moravčík, Morrill and Bowling 2018).

    aivat = Aivat(first, second, rules)
    estimates = aivat.estimate(hands)                 # hands of `play_match`, batch by batch
    estimates.total                                   # chips of the first agent, a number for each hand

If a player's strategy is known, the estimate averages over all hands that the player may hold (imaginary
observations). An all-in is averaged over the remaining boards. Each board card and each action of a known player adds
a correction term: the mean value over all alternatives minus the value of the actual outcome. The corrections have
mean zero for any fixed value function, so the estimate stays unbiased. The values come from tables of a blueprint
(`value_tables`): better values remove more variance.

Secret randomization of a player is averaged by its own strategies for all hands (`PublicPolicy`). At each of its
actions the probabilities are conditional on its earlier actions of the line.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from threading import Lock
from typing import Any

import numpy as np

from riverboat.abstraction.cards.card_abstraction import next_buckets
from riverboat.agents.base import Agent, ObservingAgent, PublicPolicy
from riverboat.agents.baselines import BaselineAgent
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.cards.deck import FULL_DECK, Deck
from riverboat.cards.equity import equities
from riverboat.cards.equity.batch_equities import BatchShowdown
from riverboat.cards.features.hand_features import pad_streets
from riverboat.cards.isomorphism import suit_permutations
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, check_threads
from riverboat.core.parallel import map_in_order
from riverboat.evaluation.matches._kernels import aivat as kernels
from riverboat.evaluation.matches.duel import baseline_strategy
from riverboat.evaluation.matches.value_tables import ValueTables, value_tables
from riverboat.games.holdem.actions import END_OF_LINE, compact_rules_arrays, format_action
from riverboat.games.holdem.hand_records import HandRecords
from riverboat.games.holdem.public_states import PublicStates
from riverboat.games.holdem.rules import PokerRules
from riverboat.strategies.policy import board_buckets, line_arrays
from riverboat.strategies.public_strategy import StrategyBatch

BATCH_HANDS = 128
MIN_POT = 10.0  # big blinds: with both strategies known, 98 % of the variance of later cards is in larger pots
MAX_SMALL_DECK_HANDS = 200  # games with at most this many hands need no `min_pot`
TRANSLATION = "det-pshar"  # deterministic translation of bets that the tree of the values does not have
TREE_BASELINES = {f"always-{action}": action for action in ("call", "fold", "raise")}  # agents that a tree can express


@dataclass(frozen=True, eq=False)
class AivatEstimates:
    """AIVAT estimates of n hands for the first agent, in chips."""

    hands: HandRecords
    terminal_value: Array  # float64 [n]: value of the terminal, averaged over the hands that known players may hold
    chance: Array  # float64 [n, rounds]: corrections of the deal and of the board cards of each later round
    actions: Array  # float64 [n, most]: corrections of the actions

    @property
    def total(self) -> Array:
        """AIVAT estimate of each hand: terminal value plus all corrections. float64 [n]"""
        return np.asarray(self.terminal_value + self.chance.sum(axis=1) + self.actions.sum(axis=1))

    def __len__(self) -> int:
        return len(self.terminal_value)

    def take(self, chosen: Array) -> AivatEstimates:
        """Return the estimates of some hands, by index or by mask."""
        terms = self.terminal_value, self.chance, self.actions
        return AivatEstimates(self.hands.take(chosen), *(term[chosen] for term in terms))


class Aivat:
    """AIVAT estimator of a match between two agents."""

    def __init__(
        self,
        first: Agent,
        second: Agent,
        rules: PokerRules,
        *,
        use_corrections: bool = True,
        known: tuple[bool, bool] | None = None,
        deals: int | None = None,
        min_pot: float | None = None,
        threads: int = 1,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        """Set up the estimator, and compute the value tables if needed.

        Parameters
        ----------
        first, second, rules
            Agents and game of the match.
        use_corrections
            Whether to add correction terms; without them only imaginary observations reduce the variance.
        known
            Whose strategies may be used; by default those of all agents that have strategies for all hands.
        deals
            Sampled deals for the value tables.
        min_pot
            Big blinds. In smaller pots the cards of turn and river get no corrections: they have little variance and
            take half of the time.
        threads
            Threads that estimate hands in parallel; the results do not depend on it.
        progress
            Callback with the completed fraction of the value tables.
        """
        self.agents, self.rules = (first, second), rules
        self.known = (has_strategies(first, rules), has_strategies(second, rules)) if known is None else known
        for agent, is_known in zip(self.agents, self.known, strict=True):
            if is_known and not has_strategies(agent, rules):
                raise InputError(
                    f"agent {agent.name!r}: has no strategies for all hands, so AIVAT cannot average over its actions"
                )
        if 0 in rules.board[1:] or rules.board[0]:
            raise InputError(
                f"{rules.name}: deals {rules.board} board cards: AIVAT needs one or more in each later round"
            )
        check_threads(threads)
        self.use_corrections, self.threads = use_corrections, threads
        costly = rules.deck.num_hands > MAX_SMALL_DECK_HANDS and all(self.known)
        self.min_pot = (MIN_POT if costly else 0.0) if min_pot is None else min_pot
        options: dict[str, Any] = {"progress": progress} | ({} if deals is None else {"deals": deals})
        self.values = _value_tables_by_seating(first, second, options) if use_corrections else None
        self._lock = Lock()
        self._second_street_cache: dict[bytes, float] = {}  # means over the boards of the second street, by line
        self._filled_rows: set[tuple[int, int]] = set()  # rows of `_means` that are computed

    # --- Inputs of the kernels ---

    @cached_property
    def _showdown(self) -> BatchShowdown:
        return BatchShowdown(self.rules.deck, self.rules.board_sizes[-1])

    @cached_property
    def _boards(self) -> tuple[Array, Array]:
        """All boards of the second street, and the bucket on each of one hand of every suit orbit; -1 if blocked.

        uint8 [boards, cards], int32 [orbits, boards]
        """
        assert self.values is not None
        cards, deck = self.values[0].strategy.cards, self.rules.deck
        boards = np.array([*combinations(deck.cards.tolist(), self.rules.board_sizes[1])], np.uint8)
        members = deck.hands[np.unique(_suit_orbits(deck)[0], return_index=True)[1]]
        buckets = np.full((len(members), len(boards)), -1, np.int32)
        for c, hand in enumerate(members):
            free = np.flatnonzero(~np.isin(boards, hand).any(axis=1))
            deals = np.concatenate([np.tile(hand, (len(free), 1)), boards[free]], axis=1)
            buckets[c, free] = cards.buckets(deals, check=False)[:, 0, 1]
        return boards, buckets

    @cached_property
    def _means(self) -> list[Array]:
        """`SecondStreetMeans.means` of each seating; `_second_street_means` computes rows when they are needed."""
        assert self.values is not None
        orbit, _ = _suit_orbits(self.rules.deck)
        shape = 2, int(orbit.max()) + 1, len(orbit)
        return [np.zeros((tables.begin[1].shape[1], *shape)) for tables in self.values]

    def _second_street_means(self, seating: int, rows: Array) -> kernels.SecondStreetMeans:
        """Return the sums of values over all boards of the second street; compute those of `rows` that are missing.

        Rows are the nodes that begin the second street; negative ones are ignored.
        """
        orbit, image = _suit_orbits(self.rules.deck)
        if self.values is None or self.rules.rounds < 2:
            return kernels.SecondStreetMeans(orbit, image, np.zeros((1, 2, 1, 1)))
        means, table, cards = self._means[seating], self.values[seating].begin[1], self._showdown.kernel_hands
        for row in np.unique(rows[rows >= 0]).tolist():
            if (seating, row) not in self._filled_rows:
                for seat in (0, 1):
                    scratch = np.zeros(53), np.zeros((53, 53))
                    kernels.pair_sums(
                        cards.first, cards.second, *self._boards, table[seat, row], *scratch, means[row, seat]
                    )
                self._filled_rows.add((seating, row))
        return kernels.SecondStreetMeans(orbit, image, means)

    def _kernel_values(self, seating: int) -> kernels.AivatValues:
        if self.values is None:
            empty = pad_streets([np.zeros((2, 1, 1), np.float32)])
            return kernels.AivatValues(empty, empty, -1, self.use_corrections)
        tables = self.values[seating]
        return kernels.AivatValues(tables.after, tables.begin, int(tables.begin_row[0]), self.use_corrections)

    def buckets(self, board: Array, pots: Array) -> tuple[Array, Array, Array]:
        """Look up the buckets of all hands on the actual boards and, in large pots, with every possible next card.

        `board` has complete boards, and `pots` is the result of `pots_by_street`. Returns the buckets on the actual
        boards, int32 [n, rounds, hands]; an index into the third array for each hand and street, -1: none,
        int64 [n, rounds]; and the buckets with every card that may come next, int32 [boards, cards, hands].
        """
        rules, deck, n = self.rules, self.rules.deck, len(board)
        actual, next_index = np.zeros((n, rules.rounds, deck.num_hands), np.int32), np.full((n, rules.rounds), -1)
        if self.values is None:
            return actual, next_index, np.zeros((1, 1, 1), np.int32)
        alternatives: list[Array] = []
        cards, count = self.values[0].strategy.cards, 0
        for street, shown in enumerate(rules.board_sizes):
            reached = np.flatnonzero(pots[:, street])
            if not len(reached):
                break
            boards, number = np.unique(board[reached, :shown], axis=0, return_inverse=True)
            actual[reached, street] = board_buckets(cards, boards).buckets[number.reshape(-1), street]
            large = np.flatnonzero(pots[:, street] >= max(1, self.min_pot * rules.big_blind))
            if street > 1 and rules.board[street] == 1 and len(large):
                before = board[large, : shown - 1]
                boards, first, number = np.unique(before, axis=0, return_index=True, return_inverse=True)
                alternatives.append(next_buckets(cards, boards, actual[large[first], street - 1]))
                next_index[large, street] = count + number.reshape(-1)
                count += len(boards)
        return actual, next_index, np.concatenate(alternatives) if alternatives else np.zeros((1, 1, 1), np.int32)

    # --- Hands ---

    def estimate(self, hands: HandRecords) -> AivatEstimates:
        """Compute the AIVAT estimates of hands of a match between these agents, each hand by itself."""
        if any(isinstance(agent, ObservingAgent) for agent in self.agents):
            self._second_street_cache.clear()  # the agent may have changed
        base, chance = np.zeros(len(hands)), np.zeros((len(hands), self.rules.rounds))
        moves = np.zeros(hands.moves.shape)

        def work(begin: int) -> None:
            batch = np.arange(begin, min(begin + BATCH_HANDS, len(hands)))
            board = np.ascontiguousarray(hands.cards[batch, 2 * self.rules.hole :])
            all_buckets = self.buckets(board, pots_by_street(hands.take(batch)))
            for seating in (0, 1):  # the first agent has seat 0, or seat 1
                rows = np.flatnonzero(hands.player[batch, 0] == seating)
                if len(rows):
                    chosen, buckets = batch[rows], (all_buckets[0][rows], all_buckets[1][rows], all_buckets[2])
                    terms = self._estimate_seating(seating, hands.take(chosen), board[rows], buckets)
                    for out, part in zip((base, chance, moves), terms, strict=True):
                        out[chosen] = (1.0 - 2.0 * seating) * part

        for _ in map_in_order(work, range(0, len(hands), BATCH_HANDS), self.threads):
            pass
        return AivatEstimates(hands, base, chance, moves)

    def _estimate_seating(
        self, seating: int, hands: HandRecords, board: Array, buckets: tuple[Array, Array, Array]
    ) -> tuple[Array, Array, Array]:
        """Compute the terms of the estimates in chips of seat 0, for hands with the first agent in seat `seating`."""
        rules, n, hole = self.rules, len(hands), self.rules.hole
        public_states, owner, actions = PublicStates(rules, hands.moves, hands.length, board).decisions()
        actor = public_states.actor
        known = self.known_seats(seating)
        decisions, row, column, strategies = self.decision_strategies(seating, public_states, actions)
        outcomes = self.action_outcomes(seating, decisions)
        lines, line = self._preflop_lines(seating, hands, public_states, owner, known)
        held = np.stack([rules.deck.hand_indices(hands.cards[:, s * hole : (s + 1) * hole]) for s in (0, 1)], axis=1)
        decision = np.stack([row, column, actor.astype(np.int64), public_states.street], axis=1)
        start = np.concatenate([[0], np.cumsum(hands.length)]).astype(np.int64)
        shown = np.array(rules.board_sizes, np.int64)
        kernel_hands = kernels.AivatHands(known, shown, held, board, *buckets, start, decision, line)
        scratch = np.zeros((kernels.NUM_ROWS, rules.deck.num_hands)), np.zeros(shown[-1], np.uint8)
        workspace = kernels.AivatWorkspace(*scratch, equities.showdown_workspace(rules.deck.num_hands))
        second_street_mean = np.array([self._second_street_cache.get(key, np.nan) for key in lines])
        out = kernels.AivatTerms(np.zeros(n), np.zeros((n, rules.rounds)), np.zeros(len(owner)), second_street_mean)
        means = self._second_street_means(seating, outcomes.begin[row, column][public_states.street == 0])
        values, pot = self._kernel_values(seating), float(sum(rules.compact.start[:2]))
        cards, classes = self._showdown.kernel_hands, _make_hand_classes(rules)
        impossible = kernels.estimate_hands(
            cards, classes, values, means, outcomes, strategies, pot, kernel_hands, workspace, out
        )
        if impossible >= 0:
            raise self._unlisted_action_error(seating, public_states, actions, impossible)
        self._second_street_cache |= {
            key: x for key, x in zip(lines, out.second_street_mean.tolist(), strict=True) if key and x == x
        }
        moves = np.zeros(hands.moves.shape)
        moves[np.arange(hands.moves.shape[1]) < hands.length[:, None]] = out.actions
        return out.terminal_value, out.chance, moves

    def known_seats(self, seating: int) -> Array:
        """Return for each seat whether its strategy is known, with the first agent in seat `seating`. bool [2]"""
        return np.array([self.known[seating], self.known[1 - seating]])

    def decision_strategies(
        self, seating: int, public_states: PublicStates, actions: Array
    ) -> tuple[tuple[PublicStates, Array], Array, Array, Array]:
        """Return the distinct decisions, the position of each actual action among them, and the strategies there.

        The members are (distinct public states, their actions int32 [rows, columns]), the row and the column of each
        actual action, and float64 [rows, hands, columns]. A decision of a player with unknown strategy has the actual
        action only, and no probabilities.
        """
        actor, known = public_states.actor, self.known_seats(seating)
        unknown_action = np.where(known[actor], END_OF_LINE, actions)[:, None]
        key = np.concatenate([public_states.moves, public_states.board.astype(np.int32), unknown_action], axis=1)
        _, first, row = np.unique(key, axis=0, return_index=True, return_inverse=True)
        row = row.reshape(-1)
        decisions, agent_of = public_states.take(first), np.where(known[actor[first]], actor[first] ^ seating, -1)
        batches = []
        for agent in (0, 1):
            rows = np.flatnonzero(agent_of == agent)
            if len(rows):
                batches.append((rows, self._strategies_of(agent, decisions.take(rows))))
        width = max((batch.moves.shape[1] for _, batch in batches), default=1)
        moves = np.full((len(first), width), END_OF_LINE, np.int32)
        moves[:, 0] = actions[first]
        strategies = np.zeros((len(first), self.rules.deck.num_hands, width))
        for rows, batch in batches:
            moves[rows, : batch.moves.shape[1]] = batch.moves
            strategies[rows, :, : batch.moves.shape[1]] = batch.probabilities
        matches = moves[row] == actions[:, None]
        column = np.where(matches.any(axis=1), matches.argmax(axis=1), -1)
        if (column < 0).any():
            raise self._unlisted_action_error(seating, public_states, actions, int(np.flatnonzero(column < 0)[0]))
        return (decisions, moves), row, column.astype(np.int64), strategies

    def _unlisted_action_error(self, seating: int, public_states: PublicStates, actions: Array, i: int) -> InputError:
        agent, action = self.agents[int(public_states.actor[i]) ^ seating], format_action(int(actions[i]), self.rules)
        return InputError(
            f"agent {agent.name!r} played {action!r} at {public_states.line(i)!r}, "
            "which has probability 0 in its strategies for all hands (`strategies`): run the match without --aivat"
        )

    def _strategies_of(self, agent: int, public_states: PublicStates) -> StrategyBatch:
        """Return an agent's strategies at public states.

        Only blueprints and baselines are queried by several threads at a time.
        """
        player = self.agents[agent]
        assert isinstance(player, PublicPolicy)
        with nullcontext() if isinstance(player, BlueprintAgent | BaselineAgent) else self._lock:
            return player.strategies(public_states)

    def action_outcomes(self, seating: int, decisions: tuple[PublicStates, Array]) -> kernels.ActionOutcomes:
        """Return the outcomes of the actions at distinct decisions, with rows of the value tables after each action.

        `decisions` has the public states and their actions, as `decision_strategies` returns them.
        """
        public_states, moves = decisions
        kind, stake = np.zeros(moves.shape, np.int8), np.zeros(moves.shape, np.int64)
        after, begin = np.full((2, *moves.shape), -1, np.int64)
        out = kernels.ActionOutcomes(moves, kind, stake, np.zeros((*moves.shape, 2), np.int64), after, begin)
        tables, root = (None, -1) if self.values is None else (self.values[seating], 0)
        after_row, begin_row = np.full((2, 1), -1, np.int32) if tables is None else (tables.after_row, tables.begin_row)
        rows = kernels.ValueRows(after_row, begin_row)
        tree, reader = line_arrays(None if tables is None else tables.strategy, self.rules, TRANSLATION)
        lines, length = np.ascontiguousarray(public_states.moves), np.ascontiguousarray(public_states.length)
        kernels.locate_actions(compact_rules_arrays(self.rules), tree, reader, rows, root, lines, length, out)
        return out

    def _preflop_lines(
        self, seating: int, hands: HandRecords, public_states: PublicStates, owner: Array, known: Array
    ) -> tuple[list[bytes], Array]:
        """Group hands by their actions before the board; return a key for each group, and the group of each hand.

        With both strategies known, hands of a group have the same mean over the boards of the second street. Otherwise
        each hand is a group of its own with an empty key.
        """
        if not known.all():
            return [b""] * len(hands), np.arange(len(hands))
        before = np.bincount(owner[public_states.street == 0], minlength=len(hands))
        keys = [bytes([seating]) + row[:n].tobytes() for row, n in zip(hands.moves, before.tolist(), strict=True)]
        distinct = list(dict.fromkeys(keys))
        number = {key: k for k, key in enumerate(distinct)}
        return distinct, np.array([number[key] for key in keys], np.int64)


def has_strategies(agent: Agent, rules: PokerRules) -> bool:
    """Return whether AIVAT can use an agent's strategies; those of `random` are too large in no-limit games."""
    if isinstance(agent, BaselineAgent) and agent.name == "random" and not rules.limit:
        return False
    return isinstance(agent, PublicPolicy)


def pots_by_street(hands: HandRecords) -> Array:
    """Return the pot in chips at the first decision of each street; 0 if there was none. int64 [n, rounds]"""
    board = hands.cards[:, 2 * hands.rules.hole :]
    public_states, owner, _ = PublicStates(hands.rules, hands.moves, hands.length, board).decisions()
    pots = np.zeros((len(hands), hands.rules.rounds), np.int64)
    reverse = np.arange(len(owner))[::-1]  # the first decision of a street is written last
    pots[owner[reverse], public_states.street[reverse]] = public_states.states[reverse, :2].sum(axis=1)
    return pots


# --- Value tables ---


def _value_tables_by_seating(
    first: Agent, second: Agent, options: dict[str, Any]
) -> tuple[ValueTables, ValueTables] | None:
    """Return value tables with the first agent in seat 0, and in seat 1; None if neither agent plays a blueprint.

    An agent whose strategy the blueprint's tree and cards cannot express is replaced by the blueprint.
    """
    blueprints = [agent.strategy for agent in (first, second) if isinstance(agent, BlueprintAgent)]
    if not blueprints:
        return None
    template = blueprints[0]
    by_agent = []
    for agent in (first, second):
        if isinstance(agent, BlueprintAgent) and _same_abstraction(agent.strategy, template):
            by_agent.append(agent.policy.tree_strategy())
        elif agent.name in TREE_BASELINES and isinstance(agent, BaselineAgent):
            by_agent.append(baseline_strategy(TREE_BASELINES[agent.name], template))
        else:
            by_agent.append(template)
    one, other = (strategy.with_labels(progress=options["progress"]) for strategy in by_agent)
    if one is other or one.fingerprint == other.fingerprint:
        both = value_tables(one, **options)
        return both, both
    return value_tables(one, other, **options), value_tables(other, one, **options)


def _same_abstraction(one: Any, other: Any) -> bool:
    return bool(one.tree.fingerprint == other.tree.fingerprint and one.cards.fingerprint == other.cards.fingerprint)


# --- Cards ---


@lru_cache(maxsize=1)
def _make_hand_classes(rules: PokerRules) -> kernels.AivatHandClasses:
    """Return the classes of starting hands of hold'em with their exact preflop equities; empty for other games."""
    if rules.deck != FULL_DECK or rules.board_sizes[-1] != 5:
        none = np.zeros((0, 0))
        return kernels.AivatHandClasses(np.zeros(0, np.int16), np.zeros(0, np.int64), none, none)
    group, pairs = equities.starting_hand_classes(), equities.count_class_pairs().astype(float)
    members = np.unique(group, return_index=True)[1]
    return kernels.AivatHandClasses(group, members, (2 * equities.preflop_equities() - 1) * pairs, pairs)


@lru_cache(maxsize=4)
def _suit_orbits(deck: Deck) -> tuple[Array, Array]:
    """Return the orbit of each hand under suit permutations, and the images of all hands. int32 [hands]

    Image [a, b] is hand b after a suit permutation that maps a to the first hand of its orbit. int32 [hands, hands]
    """
    all_images = suit_permutations(deck)[1]  # [orders, hands]
    leader, best_order = all_images.min(axis=0), all_images.argmin(axis=0)
    orbit = np.unique(leader, return_inverse=True)[1].reshape(-1)
    return orbit.astype(np.int32), all_images[best_order]
