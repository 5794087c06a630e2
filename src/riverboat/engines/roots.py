"""Root of a board tree: hands enter by their ranges, or through a gadget of subgame solving.

Re-solving gadgets follow Burch, Johanson & Bowling 2014, maxmargin gadgets Moravcik et al. 2016.
"""

from __future__ import annotations

import numpy as np

from riverboat.cards.deck import NUM_HANDS
from riverboat.cards.ranges import compatible_weights
from riverboat.core.arrays import normalize
from riverboat.engines.cpu._kernels.node import CHOOSE, NO_GADGET, STOP, GadgetState
from riverboat.games.base import Array
from riverboat.games.boards.root_gadgets import MaxmarginGadget, ResolvingGadget, RootGadget
from riverboat.trees.boards import NO_ROW, BoardTree

GADGET_TABLES = ("regret", "average", "prediction")  # tables of a gadget; engines prefix their names with `root_`
ADJUSTED_TABLES = ("offset", "limit", "multiplier")  # further tables of a gadget with limits, which `adjust` changes
MAX_GROWTH = 4.0**8  # most by which a multiplier may rise
FIRST_ADJUSTMENT, ADJUSTMENT_GROWTH = 16, 1.25  # iteration of the first adjustment, and how far apart later ones are
VALUE_ROUNDING = 1e-6  # rounding error of values in single precision, as a share of the largest payoff


def next_adjustment(done: int) -> int:
    """Return the iteration, after `done` iterations, at which a gadget with limits is adjusted next.

    Adjustments are geometric, so that they cost a fixed share of the iterations.
    """
    return max(FIRST_ADJUSTMENT, done + 1, int(done * ADJUSTMENT_GROWTH))


class RootState:
    """Ranges at the root of a tree, and the state of its gadget for the kernels.

    `scale` is the engine's factor from chips to internal payoffs. `weights` are the ranges by row, divided by their
    sums `mass`.
    """

    def __init__(self, tree: BoardTree, scale: float, *, predictive: bool = False, simultaneous: bool = False) -> None:
        self.tree, self.scale = tree, scale
        self.gadget: RootGadget | None = getattr(tree.game, "gadget", None)
        self.mass = tuple(float(np.sum(w)) or 1.0 for w in tree.game.weights)  # a range may be empty
        self.weights = tree.weights[0] / self.mass[0], tree.weights[1] / self.mass[1]
        self.state = self._make_gadget_state(predictive, simultaneous)

    # --- state for the kernels ----------------------------------------------------------------

    def _make_gadget_state(self, predictive: bool, simultaneous: bool) -> GadgetState:
        """Make the arrays of the gadget for the kernels."""
        gadget, no_table = self.gadget, np.zeros((0, 0))
        if gadget is None:
            arrays = np.zeros(0, np.int32), *[np.zeros(0)] * 6
            return GadgetState._make((NO_GADGET, 0, *[no_table] * 5, *arrays, no_table, no_table))
        player = gadget.player
        representatives = self.tree.representatives(0, player)
        opponent_weight = compatible_weights(self.tree.game.weights[1 - player]) / self.mass[1 - player]
        opponent_weight[opponent_weight < 1e-12] = 0.0  # rounding errors of zero
        limit = multiplier = np.zeros(0)
        if isinstance(gadget, ResolvingGadget):
            draws = gadget.stop_payoff_draws
            row = np.tile(np.arange(len(representatives), dtype=np.int32), len(draws))
            shape, share = (2, len(row)), np.concatenate([chances[representatives] for _, chances in draws])
            factor, entry = np.ones(len(row)), self.weights[player][row] * share
            stop_values = np.concatenate([payoffs[representatives] for payoffs, _ in draws])
            spent = self.tree.betting.spent[:, player]
            stop_values[np.isneginf(stop_values)] = spent[0] - spent.max()  # the most that entering can lose
            offset = stop_values * self.scale * opponent_weight[representatives][row]
        else:
            row_of = self.tree.row_of[0, player]
            # Hands that share a row have the same values: those of the representative hand.
            hands = np.flatnonzero((row_of != NO_ROW) & (self.tree.game.weights[player] > 0))
            hands = hands[opponent_weight[representatives[row_of[hands]]] > 0]
            row = row_of[hands].astype(np.int32)
            shape, hand_of_row, share = (1, len(hands)), representatives[row], np.ones(len(hands))
            factor = np.asarray(gadget.weights)[hand_of_row] / opponent_weight[hand_of_row]
            entry = factor / max(float(factor.max(initial=0.0)), 1e-300)  # the unit is arbitrary: keep it below one
            offset = gadget.shifts[hand_of_row] * self.scale
            if gadget.limits is not None:
                shape = 3, len(hands)
                limit = (gadget.limits * gadget.weights)[hand_of_row] * self.scale
                multiplier = np.asarray(gadget.multipliers)[hand_of_row] / max(len(hands), 1)
        regret, average = np.zeros(shape), np.zeros(shape)
        prediction = np.zeros(shape if predictive else (0, 0))
        opponent_tables = (regret.copy(), prediction.copy()) if simultaneous else (regret, prediction)
        kind = STOP if isinstance(gadget, ResolvingGadget) else CHOOSE
        tables, scratch = (regret, average, prediction, *opponent_tables), (np.zeros(shape), np.zeros(shape))
        return GadgetState(kind, player, *tables, row, share, factor, offset, entry, limit, multiplier, *scratch)

    @property
    def has_limits(self) -> bool:
        """Whether the gadget limits the values of hands."""
        return len(self.state.limit) > 0

    @property
    def table_names(self) -> tuple[str, ...]:
        """Names of the gadget's tables in a checkpoint."""
        names = (*GADGET_TABLES, *ADJUSTED_TABLES) if self.has_limits else GADGET_TABLES
        return tuple(f"root_{name}" for name in names if self.gadget and getattr(self.state, name).size)

    def read(self, name: str) -> Array:
        """Return one of the gadget's tables: its memory, not a copy."""
        table: Array = getattr(self.state, name.removeprefix("root_"))
        return table

    def copy_opponent_tables(self) -> None:
        """Copy the tables to those that the opponent plays from, before an iteration with simultaneous updates."""
        if self.state.opp_regret is not self.state.regret:
            self.state.opp_regret[:] = self.state.regret
            self.state.opp_prediction[:] = self.state.prediction

    # --- gadgets with limits ------------------------------------------------------------------

    def adjust(self, values: Array, caps: Array | None = None) -> None:
        """Adapt a gadget with limits to the average strategy so far.

        The multiplier of a hand doubles while the hand exceeds its limit although it enters more often than not, and
        halves again while its average entry needs less than an eighth of it. A hand with a smaller *cap* than the least
        margin need not have a larger margin than its cap: it cannot be chosen any more, and its limit is the value at
        the cap.

        Parameters
        ----------
        values
            Best-response values of the rows of the gadget's player at the root. float64 [rows]
        caps
            Most that each hand's margin needs to be, in chips, times the gadget's weight. float64 [1326]; None: no caps
        """
        state = self.state
        if not self.has_limits:
            return
        entered, scale = self._entered_values(values) * self.scale, self.scale
        if caps is not None:
            self._cover_hands(entered, caps[self.tree.representatives(0, state.player)[state.row]] * scale)
        tolerance = VALUE_ROUNDING * float(self.tree.betting.spent.max()) * scale
        entries = self.average_multipliers[1]
        stop, enter = np.maximum(state.regret[1:], 0.0)
        first = self._first_multipliers()
        rising = (entered - state.limit > tolerance) & (enter > stop) & (entries > state.multiplier / 4)
        falling = (entries < state.multiplier / 8) & (state.multiplier > first)
        self._scale_multipliers(rising & (state.multiplier < MAX_GROWTH * first), 2.0)
        self._scale_multipliers(falling, 0.5)

    def _scale_multipliers(self, hands: Array, factor: float) -> None:
        """Scale multipliers of some hands, and the probabilities of entering inversely."""
        state = self.state
        stop, enter = np.maximum(state.regret[1:, hands], 0.0)
        entering = np.minimum(enter / factor, stop + enter)
        state.regret[1:, hands] = stop + enter - entering, entering
        state.multiplier[hands] *= factor

    def _cover_hands(self, entered: Array, caps: Array) -> None:
        """Exclude hands with a cap below the largest least margin from the choice, except the last; in internal units.

        The least margin of any strategy, minus its penalty for exceeded limits, is a lower bound on the largest one.
        """
        state, shifts, margins = self.state, self._gadget_shifts() * self.scale, self._open_margins(entered)
        if np.isnan(margins).all():
            return
        penalty = 2.0 * float(state.multiplier @ np.maximum(entered - state.limit, 0.0))  # multipliers may rise
        covered = ~np.isnan(margins) & (caps < np.nanmin(margins) - penalty)
        if not covered.any() or covered[~np.isnan(margins)].all():
            return
        span = 4.0 * float(self.tree.betting.spent.max()) * self.scale
        state.offset[covered] += np.abs(shifts[covered]) + span * np.maximum(state.factor[covered], 1.0)
        state.limit[covered] = np.minimum(state.limit, shifts - caps)[covered]
        state.regret[0, covered] = state.average[0, covered] = 0.0
        state.average[0] = normalize(state.average[0])

    def _open_margins(self, entered: Array) -> Array:
        """Return the margins of hands, NaN for those that cannot be chosen any more, in internal units. float64 [hands]"""
        shifts = self._gadget_shifts() * self.scale
        return np.where(self.state.offset <= shifts, shifts - entered, np.nan)

    # --- results ------------------------------------------------------------------------------

    @property
    def average_strategy(self) -> Array:
        """Average strategy of the decision at the root. float64 [2, rows × draws] (stop, enter), or [hands] (choice)"""
        if self.state.kind == STOP:
            return normalize(self.state.average)
        return normalize(self.state.average[0])

    @property
    def average_multipliers(self) -> tuple[Array, Array]:
        """Average multipliers of hands with limits, and of the hands' average entries; empty without. float64 [hands]"""
        state = self.state
        weight = float(state.average[0].sum())
        if weight <= 0.0:
            return state.multiplier, state.multiplier / 2
        return (state.average[1] + state.average[2]) / weight, state.average[2] / weight

    @property
    def average_entries(self) -> Array:
        """Average weight with which each hand enters: its probability to be chosen, plus its multiplied entry."""
        choice = self.average_strategy
        return choice + self.average_multipliers[1] if self.has_limits else choice

    @property
    def constant_sum(self) -> float | None:
        """Sum of both players' values, in chips; None if it depends on their strategies."""
        if isinstance(self.gadget, MaxmarginGadget):  # the other player's payoffs make the game zero-sum
            return None if self.tree.constant_sum is None else 0.0
        return self.tree.constant_sum

    def reach(self, player: int) -> Array:
        """Return the reach of one hand of each row at the root under the gadget's average strategy. float64 [rows]"""
        state = self.state
        if state.kind == NO_GADGET or player != state.player:
            return self.tree.weights[player]
        weights: Array = np.zeros(len(self.weights[player]))
        if state.kind == STOP:
            np.add.at(weights, state.row, self.average_strategy[1] * state.share)
            return self.tree.weights[player] * weights
        weights[state.row] = self.average_entries * state.factor / self.mass[1 - player]
        return weights

    def normalized_reach(self, player: int) -> tuple[tuple[Array, Array], float]:
        """Return both players' reach at the root, scaled to sum one, and the factor that restores that of `player`.

        The reach of `player` includes the gadget's average strategy, as in `reach`.
        """
        if player != self.state.player or self.state.kind == NO_GADGET:
            return self.weights, self.mass[player]
        reach = self.reach(player)
        unit = float(np.sum(reach * self.tree.hands_per_row[player])) or 1.0
        reach = reach / unit
        return (reach, self.weights[1]) if player == 0 else (self.weights[0], reach), unit

    def expected_value(self, player: int, values: Array, *, respond: bool) -> float:
        """Return the expected value of a player, in chips, given the `values` of its rows at the root.

        Values are sums over the opponent's hands with their reach at the root (`reach`).
        """
        tree, state = self.tree, self.state
        if state.kind == NO_GADGET:
            return float(np.sum(values * tree.weights[player] * tree.hands_per_row[player])) / tree.total
        if player == state.player:
            return self._gadget_player_value(values, respond)
        total_value = float(np.sum(values * tree.weights[player] * tree.hands_per_row[player]))
        pot, strategy = tree.constant_sum or 0.0, self.average_strategy
        if state.kind == STOP:
            stop_payoffs = pot * self._opponent_weights()[state.row] - self._stop_values()
            return (total_value + float(np.sum(strategy[0] * self._draw_weights() * stop_payoffs))) / tree.total
        total_value += float(np.sum(strategy * (self._shifts() - pot * self._gadget_weights())))
        if self.has_limits:
            total_value += float(np.sum(self.average_multipliers[1] * (self._limits() - pot * self._gadget_weights())))
        return total_value

    def _gadget_player_value(self, values: Array, best_response: bool) -> float:
        """Return the expected value of the gadget's player, in chips; `values` as in `expected_value`."""
        tree, state, strategy = self.tree, self.state, self.average_strategy
        if state.kind == STOP:
            action_values = np.array([self._stop_values(), values[state.row]])
            row_values = action_values.max(axis=0) if best_response else (strategy * action_values).sum(axis=0)
            return float(np.sum(row_values * self._draw_weights())) / tree.total
        entered = self._entered_values(values)
        hand_values, value = entered - self._shifts(), 0.0
        if self.has_limits:
            multiplier, entries = self.average_multipliers
            excess = entered - self._limits()
            value = float(np.sum(multiplier * np.maximum(excess, 0.0) if best_response else entries * excess))
        return value + (float(hand_values.max()) if best_response else float(np.sum(strategy * hand_values)))

    def _entered_values(self, values: Array) -> Array:
        """Return the value of entering with each hand of a choice, times the gadget's weight, in chips. float64 [hands]"""
        entered: Array = values[self.state.row] * self.state.factor / self.mass[1 - self.state.player]
        return entered

    def margins(self, values: Array) -> Array:
        """Return the margin of each hand: stop payoff or shift minus the best-response value of entering.

        float64 [1326], NaN where a hand has no choice. `values`: best-response values of the player's rows at the root.
        """
        state = self.state
        rows = np.full(len(self.tree.weights[state.player]), np.nan)
        if isinstance(self.gadget, ResolvingGadget):
            opponent_weight = self._opponent_weights()
            stop_values = self.gadget.payoffs[self.tree.representatives(0, state.player)]
            possible = opponent_weight > 0
            rows[possible] = stop_values[possible] - values[possible] / opponent_weight[possible]
        else:
            rows[state.row] = self._open_margins(self._entered_values(values) * self.scale) / self.scale
        return self._rows_to_hands(rows)

    def excesses(self, values: Array) -> Array:
        """Return by how much the best-response value of entering with each hand exceeds the hand's limit.

        In chips, times the gadget's weight of the hand. float64 [1326], NaN where there is no limit. `values` as in
        `margins`.
        """
        rows = np.full(len(self.tree.weights[self.state.player]), np.nan)
        if self.has_limits:
            rows[self.state.row] = self._entered_values(values) - self._limits()
        return self._rows_to_hands(rows)

    def _rows_to_hands(self, rows: Array) -> Array:
        """Return the number of each hand's row, NaN for impossible hands. float64 [rows] -> [1326]"""
        row_of = self.tree.row_of[0, self.state.player]
        hands, live = np.full(NUM_HANDS, np.nan), row_of != NO_ROW
        hands[live] = rows[row_of[live]]
        return hands

    def _opponent_weights(self) -> Array:
        """Return the deal weight of the opponent's hands that each row of the gadget's player allows. float64 [rows]"""
        player = self.state.player
        weights: Array = compatible_weights(self.tree.game.weights[1 - player])[self.tree.representatives(0, player)]
        return np.where(weights < 1e-12 * self.mass[1 - player], 0.0, weights)

    def _draw_weights(self) -> Array:
        """Return the deal weight of each row's hands times the chance of each payoff draw. float64 [rows × draws]"""
        tree, state = self.tree, self.state
        weights: Array = (tree.weights[state.player] * tree.hands_per_row[state.player])[state.row] * state.share
        return weights

    def _stop_values(self) -> Array:
        """Return the stop payoff of each row with each draw, times the opponent's weight. float64 [rows × draws]"""
        return self.state.offset * (self.mass[1 - self.state.player] / self.scale)

    def _shifts(self) -> Array:
        return self.state.offset / self.scale

    def _gadget_shifts(self) -> Array:
        """Return the shifts of hands without those that exclude them. float64 [hands]"""
        assert isinstance(self.gadget, MaxmarginGadget)
        return self.gadget.shifts[self.tree.representatives(0, self.state.player)[self.state.row]]

    def _first_multipliers(self) -> Array:
        """Return the multipliers of hands before any adjustment, 0 without limits. float64 [hands]"""
        assert isinstance(self.gadget, MaxmarginGadget)
        hand = self.tree.representatives(0, self.state.player)[self.state.row]
        return np.asarray(self.gadget.multipliers)[hand] / len(hand)

    def _limits(self) -> Array:
        return self.state.limit / self.scale

    def _gadget_weights(self) -> Array:
        assert isinstance(self.gadget, MaxmarginGadget)
        return np.asarray(self.gadget.weights)[self.tree.representatives(0, self.state.player)[self.state.row]]
