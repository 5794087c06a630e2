"""Counterfactual regret minimization with any schedule and any traversal on game trees.

The caller may own the loop:

    solver = CFR(tree, "dcfr")
    while solver.exploitability() > 1e-3:
        solver.step(100)

Zinkevich et al. (2007) introduced CFR; `schedules` and `traversals` cite the sources of the variants. A user's compiled
rule replaces regret matching in every traversal.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from numba import njit

from riverboat.compiled.jit import KERNEL_OPTIONS
from riverboat.core.arguments import PositiveCount, Seed, Threads, checked, parse_count
from riverboat.core.errors import InputError, MemoryLimitError, short_repr
from riverboat.core.formatting import format_bytes
from riverboat.core.resources import available_memory
from riverboat.engines.rules import RuleFunctions, compile_functions, recompile_callers, running
from riverboat.games.base import CHANCE, Array, Game
from riverboat.solvers import schedules, traversals
from riverboat.solvers.cfr_solver import CFRSolver
from riverboat.solvers.schedules import AnySchedule, ScheduleOrFactory
from riverboat.solvers.tabular import best_response
from riverboat.solvers.tabular._kernels import iterations, traversal
from riverboat.solvers.tabular.tree_engine import TreeEngine
from riverboat.strategies.tabular import Strategy, Tree
from riverboat.trees.compile import as_tree
from riverboat.trees.public import PublicTree

# --- kernels for user-defined rules ---


# Compiles all kernels with the functions of a rule in place of regret matching; returns them by name.
@cache
def _compile_rule(functions: RuleFunctions) -> SimpleNamespace:
    strategy, update = functions

    @njit(nogil=True)
    def match_regrets(regret, prediction, at, width, low, high, t, reach, here, out, row):  # type: ignore[no-untyped-def]
        predicted = prediction if len(prediction) > 0 else regret  # a rule that is not predictive must not read it
        found = out[row : row + width, low:high]
        strategy(regret[at : at + width, low:high], predicted[at : at + width, low:high], t, found)
        if reach is not None:
            found *= reach[here, low:high]

    @njit(nogil=True)
    def update_regrets(regret, prediction, at, width, low, high, step, instant, to):  # type: ignore[no-untyped-def]
        predicted = prediction if len(prediction) > 0 else regret
        instant_regret = instant[to : to + width, low:high]
        update(regret[at : at + width, low:high], predicted[at : at + width, low:high], instant_regret, step[4])

    @njit(**KERNEL_OPTIONS)
    def update_regrets_and_average(tables, at, width, low, high, step, share, instant, reach, row):  # type: ignore[no-untyped-def]
        first = np.uint64(at) if len(share) > 1 else np.uint64(0)
        for a in range(width):
            for h in range(low, high):
                instant[row + a, h] *= share[first, h]  # not read after this
        update_regrets(tables.regret, tables.prediction, at, width, low, high, step, instant, row)
        for a in range(width):
            for h in range(low, high):
                tables.average[at + a, h] = tables.average[at + a, h] * step[3] + reach[row + a, h]

    replacements: dict[str, Any] = {  # by the global names that the kernels call
        "match_regrets": match_regrets, "update_regrets": update_regrets,
        "update_regrets_and_average": update_regrets_and_average,
    }  # fmt: skip
    recompile_callers((traversal, iterations), replacements)
    return SimpleNamespace(**{**vars(traversal), **vars(iterations), **replacements})


_BUILT_IN = SimpleNamespace(**{**vars(traversal), **vars(iterations)})


def kernels_for(schedule: AnySchedule, dtype: str) -> SimpleNamespace:
    """Return the compiled loops for a schedule or a user-defined rule.

    Parameters
    ----------
    schedule
        Schedule or rule.
    dtype
        "float64" or "float32".

    Returns
    -------
    namespace
        The kernels by name.

    Raises
    ------
    InputError
        If the functions of a rule are not compiled.

    Examples
    --------
    >>> import riverboat as rb
    >>> from riverboat.solvers.tabular.cfr import kernels_for
    >>> kernels_for(rb.dcfr(), "float64").full_iterations.__name__
    'full_iterations'
    """
    return _BUILT_IN if schedule.rule is None else _compile_rule(compile_functions(schedule.rule, dtype))


DTYPES = ("float64", "float32")
ROUNDING_SHARE = 1e-14  # share of the largest payoff
ITERATIONS_PER_CALL = 65_536  # at most, in one compiled call


def check_dtype(dtype: str) -> None:
    """Raise InputError unless tables can have a dtype.

    Parameters
    ----------
    dtype
        Name to check: "float64" or "float32".

    Raises
    ------
    InputError
        If it is another one.

    Examples
    --------
    >>> from riverboat.solvers.tabular.cfr import check_dtype
    >>> check_dtype("float32")
    """
    if dtype not in DTYPES:
        raise InputError(f"dtype {short_repr(dtype)}: must be one of {', '.join(DTYPES)}")


def tree_table_bytes(tree: Tree, schedule: AnySchedule, dtype: str = "float64") -> int:
    """Return the memory of a solver's tables.

    Parameters
    ----------
    tree
        Tree of the game.
    schedule
        Schedule or rule; predictive and simultaneous ones need more tables.
    dtype
        "float64" or "float32".

    Returns
    -------
    int
        Bytes.

    Raises
    ------
    InputError
        If the dtype is not supported.

    Examples
    --------
    >>> import riverboat as rb
    >>> from riverboat.solvers.tabular.cfr import tree_table_bytes
    >>> tree_table_bytes(rb.compile_game(rb.game("kuhn")), rb.dcfr())
    384
    """
    check_dtype(dtype)
    return table_count(schedule, shared=tree.shared) * tree.table_size * np.dtype(dtype).itemsize


def table_count(schedule: AnySchedule, *, shared: bool) -> int:
    """Return the number of tables that a schedule needs.

    Parameters
    ----------
    schedule
        Schedule or rule.
    shared
        Whether several nodes belong to one information set, as in history trees.

    Returns
    -------
    int
        Tables of the size of the tree's.

    Examples
    --------
    >>> import riverboat as rb
    >>> from riverboat.solvers.tabular.cfr import table_count
    >>> table_count(rb.dcfr(), shared=False)
    2
    """
    tables = 2 + schedule.predictive + shared + (schedule.rule is not None and not shared)
    return tables if schedule.alternating else tables + 1 + schedule.predictive


def _rounding_bound(tree: Tree, dtype: str) -> float:
    """Return the largest regret that counts as a rounding error.

    Actions often tie exactly, above all in the first iterations. Regret matching would turn a difference of 1e-18 into
    a pure strategy, and runs would depend on the order of additions. Single precision is too coarse for such a bound.
    """
    if dtype != "float64":
        return 0.0
    largest = max(
        max(float(np.abs(side.pay).max(initial=0.0)), float(np.abs(side.matrix).max(initial=0.0)))
        * float(side.weight_opp.sum())
        for side in tree.player_arrays
    )
    return ROUNDING_SHARE * largest


def _sides_for(tree: Tree, schedule: AnySchedule, dtype: str) -> tuple[Any, ...]:
    """Return the arrays of the players; for a rule with a factor on the instant regrets of each row.

    The factor makes them counterfactual regrets, and is zero for hands that public cards make impossible. It is stored
    in the first row of each information set. float [rows, hands], or [1, hands] if all hands are always possible.
    """
    if schedule.rule is None:
        return tree.player_arrays
    sides = []
    for player, side in enumerate(tree.player_arrays):
        share = side.share[None].astype(dtype)
        if isinstance(tree, PublicTree) and np.any(tree.nodes.actor == CHANCE):
            own = np.flatnonzero(tree.nodes.actor == player)
            rows = tree.player_tables(np.zeros(tree.table_size, dtype))[player]
            rows[tree.nodes.data[own]] = share * tree.possible_hands[player][tree.board_of_node[own]]
            share = rows
        sides.append(side._replace(share=share))
    return tuple(sides)


class CFR(CFRSolver[Strategy]):
    """State of a CFR run: regrets, averages, iteration counter and random state.

    A sampled run applies the discounts of its schedule to the whole table once every `tick` iterations; its schedule
    counts ticks. Full runs apply them every iteration.

    Parameters
    ----------
    tree
        Game, its name, such as "leduc", or its tree (`riverboat.compile_game`), which several solvers may share.
    schedule
        Name, such as "dcfr" or "cfr+:gamma=2", a `Schedule`, or a `Rule`.
    traversal
        "full", or a sampled traversal: "chance", "external", "outcome", "pcs", "opcs", "spcs".
    seed
        Seed of sampled traversals, 0 or more.
    threads
        Threads of full traversals of large public trees. Results do not depend on it.
    dtype
        "float64", or "float32" for half the memory.
    tick
        Iterations between two discounts of a sampled run; by default a tenth of the information sets.
    epsilon
        Exploration of outcome sampling, above 0 and at most 1.

    Raises
    ------
    InputError
        If an option is invalid, or the tree does not support the traversal.
    MemoryLimitError
        If the tables do not fit in memory.

    References
    ----------
    .. [1] Zinkevich, Johanson, Bowling & Piccione, "Regret minimization in games with incomplete information", NIPS
       2007.

    Examples
    --------
    >>> import riverboat as rb
    >>> solver = rb.CFR("kuhn", "dcfr")
    >>> solver.step(500)
    >>> solver.exploitability() < 1e-3
    True
    """

    tree: Tree

    @checked
    def __init__(
        self,
        tree: str | Game | Tree,
        schedule: str | ScheduleOrFactory = "dcfr",
        traversal: str | traversals.Traversal = "full",
        *,
        seed: Seed = 0,
        threads: Threads = 1,
        dtype: str = "float64",
        tick: PositiveCount | None = None,
        epsilon: float = 0.6,
    ) -> None:
        check_dtype(dtype)
        if not 0 < epsilon <= 1:
            raise InputError(f"epsilon={epsilon:g}: exploration must be above 0 and at most 1")
        tree = as_tree(tree)
        self.tree, self.dtype, self.epsilon = tree, dtype, epsilon
        self.schedule = schedules.reject_stakes(schedules.parse(schedule), tree.name)
        self.traversal = traversals.parse_traversal(traversal)
        traversals.check_traversal(tree, self.traversal)
        # Without public chance events, PCS is the full traversal.
        self._full = not self.traversal.sampled or (self.traversal.name == "pcs" and not np.any(tree.nodes.actor == -1))
        self.noise = _rounding_bound(tree, dtype)
        self.tick = tick or max(1, tree.infoset_count // 10)
        self.seed, self.threads = seed, threads
        self.rng = np.array([np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]], np.uint64)
        self._kernels = kernels_for(self.schedule, dtype)
        self._sides = _sides_for(tree, self.schedule, dtype)
        self._engine = TreeEngine(tree, dtype, threads, self._kernels, self._sides)
        self._sampler = traversals.make_sampler(tree, self.traversal)
        self._blocks = traversals.infoset_rows(tree)
        self._allocate()

    def _allocate(self) -> None:
        required, free = tree_table_bytes(self.tree, self.schedule, self.dtype), available_memory()
        if free is not None and required > free:
            raise MemoryLimitError(
                f"{self.tree.name}: the tables need {format_bytes(required)} and {format_bytes(free)} are free; "
                f"{'float32 halves them' if self.dtype == 'float64' else 'use a larger machine'}"
            )
        self.regret = np.zeros(self.tree.table_size, self.dtype)
        # Weighted strategy sums, from which the average strategy is normalized.
        self.averages = np.zeros(self.tree.table_size, self.dtype)
        self.prediction = np.zeros(self.tree.table_size if self.schedule.predictive else 0, self.dtype)
        delta = np.zeros(self.tree.table_size if self.tree.shared else 0, self.dtype)
        simultaneous = not self.schedule.alternating and self._full  # the opponent's strategy is read from a copy
        opponent_regret = self.regret.copy() if simultaneous else self.regret
        opponent_prediction = self.prediction.copy() if simultaneous else self.prediction
        own_tables = self.regret, self.averages, self.prediction, delta
        opponent_tables = opponent_regret, opponent_prediction, self.averages
        self.tables = tuple(
            traversal.RegretTables(
                *(self._player_rows(table, me) for table in own_tables),
                *(self._player_rows(table, (me + 1) % self.tree.players) for table in opponent_tables),
            )
            for me in range(self.tree.players)
        )

    def _player_rows(self, table: Array, player: int) -> Array:
        hands = self.tree.hand_counts[player] if isinstance(self.tree, PublicTree) else 1
        return self.tree.player_tables(table)[player] if len(table) else np.zeros((0, hands), self.dtype)

    # --- iterations ---------------------------------------------------------------------------

    def step(self, count: int = 1) -> None:
        """Run iterations, each with one traversal per player.

        Parameters
        ----------
        count
            Number of iterations, 0 or more.

        Raises
        ------
        InputError
            If `count` is no whole number, or negative.
        """
        count = parse_count(count, "step")
        with running(self.schedule.rule):
            if not self._full:
                self._sampled_iterations(count)
            elif self._engine.threads == 1:
                for done in range(0, count, ITERATIONS_PER_CALL):
                    self._full_iterations(self.iteration + 1 + done, min(ITERATIONS_PER_CALL, count - done))
            else:
                for t in range(self.iteration + 1, self.iteration + 1 + count):
                    self._threaded_iteration(np.array([*self.schedule.step(t), self.noise]))
        self.iteration += count

    def warm(self) -> None:
        """Compile the kernels now, so that timings measure solving alone."""
        with running(self.schedule.rule):
            if not self._full:
                self._call_sampler(np.array([1.0, 1.0, 0.0, 1.0, 1.0, self.noise]), 0)
            else:
                self._full_iterations(0, 0)

    def _full_iterations(self, first: int, count: int) -> None:
        steps = np.column_stack([self.schedule.steps(first, count), np.full(count, self.noise)])
        self._kernels.full_iterations(
            self.tree.nodes, self._sides, self._blocks, self.tables, steps,
            not self.schedule.alternating, self.tree.shared, self.rng, self._engine.no_cuts,
            tuple(self._engine.player_frames),
        )  # fmt: skip

    def _threaded_iteration(self, step: Array) -> None:
        if not self.schedule.alternating:
            for me in (0, 1):
                self.tables[me].opp_regret[:] = self.tables[1 - me].regret
                self.tables[me].opp_prediction[:] = self.tables[1 - me].prediction
        for me in (0, 1):
            self._engine.traverse(me, self.tables[me], traversal.UPDATE, step)

    def _sampled_iterations(self, count: int) -> None:
        done = 0
        while done < count:
            chunk = count - done
            if self.schedule.discounts:
                chunk = min(chunk, self.tick - (self.iteration + done) % self.tick)
            clock = (self.iteration + done) // self.tick + 1
            floor = self.schedule.step(clock).floor
            self._call_sampler(np.array([1.0, 1.0, floor, 1.0, float(clock), self.noise]), chunk)
            done += chunk
            if self.schedule.discounts and (self.iteration + done) % self.tick == 0:
                after = self.schedule.step(clock + 1)
                self._kernels.discount_table(
                    self.averages.reshape(-1, 1), self.regret.reshape(-1, 1),
                    after.positive, after.negative, after.decay,
                )  # fmt: skip

    def _call_sampler(self, step: Array, count: int) -> None:
        tree, frames = self.tree, tuple(self._engine.player_frames)
        hands = np.zeros(tree.players, np.int64)
        common = tree.nodes, self._sides, self._sampler, self.tables, step, count
        if self.traversal.name == "external":
            self._kernels.external_iterations(*common, self.rng, hands, frames)
        elif self.traversal.name == "outcome":
            self._kernels.outcome_iterations(*common, self.epsilon, self.rng, hands, frames)
        else:
            self._kernels.public_chance_iterations(*common, tree.shared, self.rng, self._engine.no_cuts, frames)

    def state(self) -> tuple[dict[str, Array], dict[str, Any]]:
        """Return the arrays and numbers of a checkpoint."""
        arrays = {"regret": self.regret, "average": self.averages}
        if len(self.prediction):
            arrays["prediction"] = self.prediction
        counts = {"iteration": self.iteration, "rng": str(int(self.rng[0])), "nodes": self.nodes_touched}
        return arrays, {**counts, "tick": self.tick, "epsilon": self.epsilon}

    def restore(self, arrays: Mapping[str, Array], state: Mapping[str, Any]) -> None:
        """Restore the state of a checkpoint.

        Parameters
        ----------
        arrays
            Arrays that `state` returned.
        state
            Numbers that `state` returned.
        """
        self.regret[:] = arrays["regret"]
        self.averages[:] = arrays["average"]
        if len(self.prediction):
            self.prediction[:] = arrays["prediction"]
        self.iteration = int(state["iteration"])
        self.rng[0] = int(state["rng"])
        self._engine.player_frames[0].visits[0] = int(state["nodes"])

    # --- strategies and their quality ----------------------------------------------------------------------------

    @property
    def nodes_touched(self) -> int:
        """Number of nodes visited so far."""
        return sum(int(frames.visits[0]) for frames in self._engine.player_frames)

    def _strategy(self, table: Array | None, provenance: dict[str, Any]) -> Strategy:
        return Strategy.from_sums(self.tree, self.averages if table is None else table, provenance)

    def current(self) -> Strategy:
        """Return the current strategy, that of the last iterate."""
        out = np.zeros(self.tree.table_size)
        clock = float(self.iteration + 1 if self._full else self.iteration // self.tick + 1)
        with running(self.schedule.rule):
            for me, rows in enumerate(self.tree.player_tables(out)):
                self._kernels.current_strategy(self.tree.nodes, me, self.tables[me], clock, rows)
        return Strategy(self.tree, out, {**self.average_provenance(), "iterate": "last"})

    def quality(self) -> best_response.Quality:
        """Compute best-response values and expected values of the average strategy, without copying it."""
        return best_response.quality_of_averages(self.tree, self.averages, self.threads)
