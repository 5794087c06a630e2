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
            arrays = np.zeros(0, np.int32), *[np.zeros(0)] * 4
            return GadgetState._make((NO_GADGET, 0, *[no_table] * 5, *arrays, no_table, no_table))
        player = gadget.player
        representatives = self.tree.representatives(0, player)
        opponent_weight = compatible_weights(self.tree.game.weights[1 - player]) / self.mass[1 - player]
        opponent_weight[opponent_weight < 1e-12] = 0.0  # rounding errors of zero
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
            shape, hand_of_row, share = (len(hands), 1), representatives[row], np.ones(len(hands))
            factor = np.asarray(gadget.weights)[hand_of_row] / opponent_weight[hand_of_row]
            entry = factor / max(float(factor.max(initial=0.0)), 1e-300)  # the unit is arbitrary: keep it below one
            offset = gadget.shifts[hand_of_row] * self.scale
        regret, average = np.zeros(shape), np.zeros(shape)
        prediction = np.zeros(shape if predictive else (0, 0))
        opponent_tables = (regret.copy(), prediction.copy()) if simultaneous else (regret, prediction)
        kind = STOP if isinstance(gadget, ResolvingGadget) else CHOOSE
        tables, scratch = (regret, average, prediction, *opponent_tables), (np.zeros(shape), np.zeros(shape))
        return GadgetState(kind, player, *tables, row, share, factor, offset, entry, *scratch)

    @property
    def table_names(self) -> tuple[str, ...]:
        """Names of the gadget's tables in a checkpoint."""
        return tuple(f"root_{name}" for name in GADGET_TABLES if self.gadget and getattr(self.state, name).size)

    def read(self, name: str) -> Array:
        """Return one of the gadget's tables: its memory, not a copy."""
        table: Array = getattr(self.state, name.removeprefix("root_"))
        return table

    def copy_opponent_tables(self) -> None:
        """Copy the tables to those that the opponent plays from, before an iteration with simultaneous updates."""
        if self.state.opp_regret is not self.state.regret:
            self.state.opp_regret[:] = self.state.regret
            self.state.opp_prediction[:] = self.state.prediction

    # --- results ------------------------------------------------------------------------------

    @property
    def average_strategy(self) -> Array:
        """Average strategy of the gadget. float64 [2, rows × draws] (stop, enter), or [hands, 1]"""
        return normalize(self.state.average)

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
        weights[state.row] = self.average_strategy[:, 0] * state.factor / self.mass[1 - player]
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
        return total_value + float(np.sum(strategy[:, 0] * (self._shifts() - pot * self._gadget_weights())))

    def _gadget_player_value(self, values: Array, best_response: bool) -> float:
        """Return the expected value of the gadget's player, in chips; `values` as in `expected_value`."""
        tree, state, strategy = self.tree, self.state, self.average_strategy
        if state.kind == STOP:
            action_values = np.array([self._stop_values(), values[state.row]])
            row_values = action_values.max(axis=0) if best_response else (strategy * action_values).sum(axis=0)
            return float(np.sum(row_values * self._draw_weights())) / tree.total
        hand_values = values[state.row] * state.factor / self.mass[1 - state.player] - self._shifts()
        return float(hand_values.max()) if best_response else float(np.sum(strategy[:, 0] * hand_values))

    def margins(self, values: Array) -> Array:
        """Return the margin of each hand: stop payoff or shift minus the best-response value of entering.

        float64 [1326], NaN where a hand has no choice. `values`: best-response values of the player's rows at the root.
        """
        state, margin = self.state, np.full(NUM_HANDS, np.nan)
        row_of = self.tree.row_of[0, state.player]
        rows = np.full(len(self.tree.weights[state.player]), np.nan)
        if isinstance(self.gadget, ResolvingGadget):
            opponent_weight = self._opponent_weights()
            stop_values = self.gadget.payoffs[self.tree.representatives(0, state.player)]
            possible = opponent_weight > 0
            rows[possible] = stop_values[possible] - values[possible] / opponent_weight[possible]
        else:
            rows[state.row] = self._shifts() - values[state.row] * state.factor / self.mass[1 - state.player]
        live = row_of != NO_ROW
        margin[live] = rows[row_of[live]]
        return margin

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

    def _gadget_weights(self) -> Array:
        assert isinstance(self.gadget, MaxmarginGadget)
        return np.asarray(self.gadget.weights)[self.tree.representatives(0, self.state.player)[self.state.row]]
