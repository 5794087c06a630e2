"""How hands come to the root of a tree: by the ranges, or through a gadget; and what that makes of the values there."""

from __future__ import annotations

import numpy as np

from riverboat.cards.card_removal import without_shared
from riverboat.cards.deck import HANDS
from riverboat.engines.cpu._kernels.gadget import CHOOSE, NONE, STOP, Gadget
from riverboat.games.base import Array
from riverboat.games.boards.root_gadgets import Choose, RootGadget, Stop
from riverboat.trees.boards import NOWHERE, BoardTree

TABLES = ("regret", "average", "prediction")  # of a gadget, as walkers name them with `root_` in front


class Root:
    """The weights of a tree's root, and the state of its gadget. Numbers by row at the root, or by hand that is chosen."""

    def __init__(self, tree: BoardTree, scale: float, *, predictive: bool = False, apart: bool = False) -> None:
        self.tree, self.scale = tree, scale
        self.gadget: RootGadget | None = getattr(tree.game, "gadget", None)
        self.mass = tuple(float(np.sum(w)) or 1.0 for w in tree.game.weights)  # nobody may be left in a range
        self.weights = tree.weights[0] / self.mass[0], tree.weights[1] / self.mass[1]
        self.state = self._state(predictive, apart)

    # --- what the compiled walk reads ---------------------------------------------------------

    def _state(self, predictive: bool, apart: bool) -> Gadget:
        gadget, none = self.gadget, np.zeros((0, 0))
        if gadget is None:
            empty = np.zeros(0)
            arrays = np.zeros(0, np.int32), empty, empty, empty, empty
            return Gadget(NONE, 0, none, none, none, none, none, *arrays, none, none)
        who = gadget.player
        reps = self.tree.reps(0, who)
        meets = without_shared(self.tree.game.weights[1 - who]) / self.mass[1 - who]
        meets[meets < 1e-12] = 0.0  # what cancelling leaves of nothing
        if isinstance(gadget, Stop):
            draws = gadget.draws
            row = np.tile(np.arange(len(reps), dtype=np.int32), len(draws))
            shape, share = (2, len(row)), np.concatenate([chances[reps] for _, chances in draws])
            factor, entry = np.ones(len(row)), self.weights[who][row] * share
            drawn = np.concatenate([payoffs[reps] for payoffs, _ in draws])
            spent = self.tree.betting.spent[:, who]
            drawn[np.isneginf(drawn)] = spent[0] - spent.max()  # entering cannot lose more
            offset = drawn * self.scale * meets[reps][row]
        else:
            row_of = self.tree.row_of[0, who]
            # hands that share a row have the same numbers: those of the hand that stands for it
            hands = np.flatnonzero((row_of != NOWHERE) & (self.tree.game.weights[who] > 0))
            hands = hands[meets[reps[row_of[hands]]] > 0]
            row = row_of[hands].astype(np.int32)
            shape, stand, share = (len(hands), 1), reps[row], np.ones(len(hands))
            factor = np.asarray(gadget.weights)[stand] / meets[stand]
            entry = factor / max(float(factor.max(initial=0.0)), 1e-300)  # in any unit, so that it stays below one
            offset = gadget.shifts[stand] * self.scale
        regret, average = np.zeros(shape), np.zeros(shape)
        prediction = np.zeros(shape if predictive else (0, 0))
        seen = (regret.copy(), prediction.copy()) if apart else (regret, prediction)
        kind = STOP if isinstance(gadget, Stop) else CHOOSE
        return Gadget(
            kind,
            who,
            regret,
            average,
            prediction,
            *seen,
            row,
            share,
            factor,
            offset,
            entry,
            np.zeros(shape),
            np.zeros(shape),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The tables that a checkpoint must hold."""
        return tuple(f"root_{name}" for name in TABLES if self.gadget and getattr(self.state, name).size)

    def read(self, name: str) -> Array:
        """One of them: the memory itself."""
        table: Array = getattr(self.state, name.removeprefix("root_"))
        return table

    def copy_seen(self) -> None:
        """Before an iteration in which both answer the same profile."""
        if self.state.opp_regret is not self.state.regret:
            self.state.opp_regret[:] = self.state.regret
            self.state.opp_prediction[:] = self.state.prediction

    # --- what is read from it -----------------------------------------------------------------

    @property
    def play(self) -> Array:
        """What the gadget's averages play. float64 [2, rows × draws] (stop, enter), or [hands, 1]"""
        total = self.state.average.sum(axis=0)
        return np.where(total > 0, self.state.average / np.where(total > 0, total, 1.0), 1.0 / len(self.state.average))

    @property
    def constant(self) -> float | None:
        """What both players earn together, in chips; None where that depends on what they do."""
        if isinstance(self.gadget, Choose):  # the one who does not choose is paid what makes the game zero-sum
            return None if self.tree.constant is None else 0.0
        return self.tree.constant

    def reach(self, player: int) -> Array:
        """How often one hand of each row comes to the root, when a gadget follows its averages. float64 [rows]"""
        state = self.state
        if state.kind == NONE or player != state.player:
            return self.tree.weights[player]
        weights: Array = np.zeros(len(self.weights[player]))
        if state.kind == STOP:
            np.add.at(weights, state.row, self.play[1] * state.share)
            return self.tree.weights[player] * weights
        weights[state.row] = self.play[:, 0] * state.factor / self.mass[1 - player]
        return weights

    def dealt(self, player: int) -> tuple[tuple[Array, Array], float]:
        """Weights at the root, a player's as `reach` has them, to sums of one; and what one is of the player's."""
        if player != self.state.player or self.state.kind == NONE:
            return self.weights, self.mass[player]
        reach = self.reach(player)
        unit = float(np.sum(reach * self.tree.row_hands[player])) or 1.0
        reach = reach / unit
        return (reach, self.weights[1]) if player == 0 else (self.weights[0], reach), unit

    def earnings(self, player: int, values: Array, *, respond: bool) -> float:
        """What a player wins on average, in chips, when its rows win `values` from the root on.

        Values are sums over the opponent's hands as they come to the root (`reach`).
        """
        tree, state = self.tree, self.state
        if state.kind == NONE:
            return float(np.sum(values * tree.weights[player] * tree.row_hands[player])) / tree.total
        if player == state.player:
            return self._chosen(values, respond)
        won = float(np.sum(values * tree.weights[player] * tree.row_hands[player]))
        pot, play = tree.constant or 0.0, self.play
        if state.kind == STOP:
            paid = pot * self._meets()[state.row] - self._stops()
            return (won + float(np.sum(play[0] * self._dealt_draws() * paid))) / tree.total
        return won + float(np.sum(play[:, 0] * (self._shifts() - pot * self._gadget_weights())))

    def _chosen(self, values: Array, respond: bool) -> float:
        """What the gadget's player wins."""
        tree, state, play = self.tree, self.state, self.play
        if state.kind == STOP:
            both = np.array([self._stops(), values[state.row]])
            worth = both.max(axis=0) if respond else (play * both).sum(axis=0)
            return float(np.sum(worth * self._dealt_draws())) / tree.total
        earned = values[state.row] * state.factor / self.mass[1 - state.player] - self._shifts()
        return float(earned.max()) if respond else float(np.sum(play[:, 0] * earned))

    def margins(self, values: Array) -> Array:
        """How much less than the stop pay-off or shift each hand gets by entering, where its rows win `values` at best.

        Of all 1,326 hands, NaN where a hand is no choice. float64 [1326]
        """
        state, margin = self.state, np.full(HANDS, np.nan)
        row_of = self.tree.row_of[0, state.player]
        rows = np.full(len(self.tree.weights[state.player]), np.nan)
        if isinstance(self.gadget, Stop):
            meets, stops = self._meets(), self.gadget.payoffs[self.tree.reps(0, state.player)]
            some = meets > 0
            rows[some] = stops[some] - values[some] / meets[some]
        else:
            rows[state.row] = self._shifts() - values[state.row] * state.factor / self.mass[1 - state.player]
        live = row_of != NOWHERE
        margin[live] = rows[row_of[live]]
        return margin

    def _meets(self) -> Array:
        """Weight of the opponent's hands that each row of the gadget's player meets."""
        who = self.state.player
        meets: Array = without_shared(self.tree.game.weights[1 - who])[self.tree.reps(0, who)]
        return np.where(meets < 1e-12 * self.mass[1 - who], 0.0, meets)

    def _dealt_draws(self) -> Array:
        """How often the hands of each row are dealt, with each draw."""
        tree, state = self.tree, self.state
        dealt: Array = (tree.weights[state.player] * tree.row_hands[state.player])[state.row] * state.share
        return dealt

    def _stops(self) -> Array:
        """What stopping pays each row with each draw, times the weight that it meets."""
        return self.state.offset * (self.mass[1 - self.state.player] / self.scale)

    def _shifts(self) -> Array:
        return self.state.offset / self.scale

    def _gadget_weights(self) -> Array:
        assert isinstance(self.gadget, Choose)
        return np.asarray(self.gadget.weights)[self.tree.reps(0, self.state.player)[self.state.row]]
