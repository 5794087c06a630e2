"""`Distributed`: a blueprint trained by a head and blades (Brown, Ganzfried & Sandholm 2015, Algorithm 4).

    cards = load_abstraction("tartanian7")
    solver = Distributed(tree, cards, blades=2, engine="ray", cards_path="tartanian7")
    solver.step(1_000_000)
    solver.save("checkpoints/1")     # every blade writes its part, the head last
    solver.close()

The head has the first street (`head`), every blade the later ones of its public buckets (`blade`); tables never travel. An
iteration is one deal of hands, walked with each seat as traverser; every blade values its continuations on a board of its
own. Iterations are done in batches: within one the head plays the strategy of its start, so that one message to each blade
carries thousands of deals and the way there costs little. A batch has at most one in 1,024 of the deals before it, so that
the head learns often at the beginning.

A blade that dies is started again. Then all go back to the last checkpoint that is whole, since tables of different moments
would not fit together, and do the lost iterations again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.core import artifacts, cores
from riverboat.core.arrays import Array
from riverboat.core.errors import CorruptError, InputError, shown
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.solvers.cluster.backends import LOCAL, BladeLostError, make_engine
from riverboat.solvers.cluster.blade import shares
from riverboat.solvers.cluster.head import Head
from riverboat.solvers.mccfr.tables import BLOCK, Pruning, Weighting, as_weighting

KIND = "cluster head"
HEAD = "head"
GROWTH = 1024  # a batch has at most one in so many of the deals before it
MOST_FAULTS = 10  # in a row, without a batch in between


class ClusterTables:
    """What head and blades have learnt, by street and bucket."""

    def __init__(self, solver: Distributed) -> None:
        self._solver = solver

    def strategies(self, street: int, rows: Array | None = None, *, averages: bool = True) -> Array:
        """Average or current strategy of the buckets `rows` of a street. float32 [rows, width]"""
        solver = self._solver
        if street == 0:
            return solver.head.tables.strategies(0, rows, averages=averages)
        count = solver.cards.counts[street]
        chosen = np.arange(count) if rows is None else np.asarray(rows, np.int64)
        if chosen.size and not 0 <= chosen.min() <= chosen.max() < count:
            raise InputError(f"buckets {chosen.min()} to {chosen.max()}: street {street} has {count:,}")
        first = solver.cards.streets[street].first
        inside = [(chosen >= first[s.first]) & (chosen < first[s.end]) for s in solver.shares]
        asked = [(street, chosen[some], averages) if some.any() else None for some in inside]
        out = np.zeros((len(chosen), int(solver.tree.width[street])), np.float32)
        for some, answer in zip(inside, solver._ask_each("strategies", asked), strict=True):
            if answer is not None:
                out[some] = answer
        return out


class Distributed:
    """Head and blades in training; as a solver the same as `Blueprint`."""

    def __init__(
        self,
        tree: ActionTree,
        cards: CardAbstraction,
        *,
        blades: int = 2,
        engine: str = "local",
        cards_path: str | Path | None = None,
        seed: int = 0,
        threads: int = 1,
        mode: str = "weighted",
        weighting: str | Weighting = "none",
        prune: Pruning | None = None,
        dtype: str = "float32",
        batch: int = 1 << 14,
        first_batch: int = BLOCK,
    ) -> None:
        self.tree, self.cards = tree, cards
        self.first_batch = first_batch
        self.weighting = as_weighting(weighting)
        self.shares = shares(cards, tree, blades, threads=threads, dtype=dtype, prune=prune, mode=mode)
        # The head works while blades wait; its result does not depend on how many threads it has.
        hands = threads if engine == LOCAL else min(threads * blades, cores.available_cores())
        self.head = Head(tree, cards, seed=seed, threads=hands, dtype=dtype, prune=prune, batch=batch)
        path = Path(cards_path) if cards_path is not None else None
        self.engine = make_engine(engine, tree, cards, self.shares, path)
        self.iterations = 0
        self.weight = 0.0  # of all iterations together, as discounted
        self.faults = 0  # blades that were lost
        self._visited = 0  # decisions on blades
        self._kept: Path | dict[str, Array] | None = None  # the last whole checkpoint

    def __enter__(self) -> Distributed:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let the blades go."""
        self.engine.close()

    # --- training ----------------------------------------------------------------------------------

    def step(self, iterations: int) -> None:
        """Train for at least so many iterations: whole batches. One long step and many short ones are the same run."""
        if iterations < 0:
            raise InputError(f"{iterations} iterations: must not be negative")
        target, faults = self.iterations + iterations, 0
        while self.iterations < target:
            try:
                self._batch()
                faults = 0
            except BladeLostError:
                faults += 1
                if faults > MOST_FAULTS:
                    raise
                self._recover()

    def _batch(self) -> None:
        period = self.weighting.period
        end = self.iterations + max(
            min(self.first_batch, self.head.batch), min(self.head.batch, self.iterations // GROWTH)
        )
        end = -(-end // BLOCK) * BLOCK
        if self.weighting.discounts:
            end = min(end, (self.iterations // period + 1) * period)
        asked = self.head.record(self.iterations, end - self.iterations)
        answers = self.engine.ask("value", asked)
        self.head.finish((values, counts) for values, counts, _ in answers)
        self._visited += sum(visited for _, _, visited in answers)
        self.weight += end - self.iterations
        self.iterations = end
        if self.weighting.discounts and end % period == 0:
            self._discount(end // period + 1)

    def _discount(self, period: int) -> None:
        """Tables at the start of a period."""
        factors = self.weighting.factors(period)
        if factors is not None:
            self.engine.ask("discount", *factors, self.iterations)
            self.head.tables.discount(*factors, self.iterations)
            self.weight *= factors[0]

    def _ask(self, method: str, *given: Any) -> list[Any]:
        """Ask all blades something between batches; where one is lost, first get to the same iteration again."""
        return self._ask_each(method, [given] * len(self.shares))

    def _ask_each(self, method: str, given: Sequence[tuple[Any, ...] | None]) -> list[Any]:
        wanted = self.iterations
        for _ in range(MOST_FAULTS):
            try:
                return self.engine.ask_each(method, given)
            except BladeLostError:
                self._recover()
                self.step(wanted - self.iterations)
        return self.engine.ask_each(method, given)

    def _recover(self) -> None:
        """Start what has died again, and go back to the last moment that is known of all."""
        for trial in range(MOST_FAULTS):
            self.faults += self.engine.revive()
            try:
                if isinstance(self._kept, Path):
                    self.load(self._kept)
                else:
                    self._put(self._kept)
                return
            except BladeLostError:
                if trial == MOST_FAULTS - 1:
                    raise

    # --- what has been learned ---------------------------------------------------------------------

    @property
    def tables(self) -> ClusterTables:
        """The average strategy, wherever it lies."""
        return ClusterTables(self)

    @property
    def updates(self) -> int:
        """Decisions visited, by traversers and opponents."""
        return self.head.updates + self._visited

    @property
    def value(self) -> float:
        """What seat 0 has won a hand on average over the run."""
        first, second = self.head.payoff
        return float(first - second) / 2 / max(self.iterations, 1)

    def touched(self) -> tuple[int, ...]:
        """Information sets that have been visited, by street."""
        counts = sum(touched for touched, _ in self._ask("survey", None))
        counts[0] = self.head.tables.survey(0)[0]
        return tuple(int(n) for n in counts)

    def regret(self, rows: int = 4096) -> tuple[float, float]:
        """An estimate of each seat's average regret, in chips a hand, as in `Blueprint.regret`."""
        total = self.head.tables.survey(0)[1] + sum(regret for _, regret in self._ask("survey", rows))
        first, second = total / max(self.weight, 1.0)
        return float(first), float(second)

    # --- state -------------------------------------------------------------------------------------

    def _numbers(self) -> dict[str, Array]:
        return {
            "numbers": np.array([self.iterations, self.head.updates, self._visited], np.int64),
            "seed": np.array([self.head.seed % 2**64], np.uint64),
            "sums": np.array([self.weight, *self.head.payoff]),
        }

    def state(self) -> dict[str, Array]:
        """All that is needed to go on, gathered from the blades: for small games. Large ones `save`."""
        cells = {f"blade_{n}": np.array(part) for n, part in enumerate(self._ask("cells"))}
        self._kept = {**self._numbers(), "head": self.head.tables.cells.copy(), **cells}
        return dict(self._kept)

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go on from a state."""
        kept = {name: np.array(array) for name, array in state.items()}
        if len([name for name in kept if name.startswith("blade_")]) != len(self.shares):
            raise InputError(f"state of another number of blades than {len(self.shares)}: give blades={len(kept) - 4}")
        self._put(kept)
        self._kept = kept

    def _put(self, state: Mapping[str, Array] | None) -> None:
        """Head and blades as in a state, or as at the beginning."""
        blades = [(state[f"blade_{n}"] if state is not None else None,) for n in range(len(self.shares))]
        self.engine.ask_each("put", blades)
        self._put_head(state)

    def _put_head(self, state: Mapping[str, Array] | None) -> None:
        head = self.head
        if state is None:
            head.tables.cells[:] = 0
            self.iterations, head.updates, self._visited, self.weight, head.payoff = 0, 0, 0, 0.0, np.zeros(2)
            return
        if state["head"].shape != head.tables.cells.shape or state["head"].dtype != head.tables.cells.dtype:
            raise InputError(f"state of {state['head'].size:,} cells: the head has {head.tables.cells.size:,}")
        head.tables.cells[:] = state["head"]
        self.iterations, head.updates, self._visited = (int(n) for n in state["numbers"])
        head.seed = int(state["seed"][0])
        self.weight, head.payoff = float(state["sums"][0]), np.array(state["sums"][1:], float)

    def _facts(self, iterations: int) -> dict[str, Any]:
        """What all parts of a checkpoint have in common."""
        return {
            "iterations": iterations,
            "blades": len(self.shares),
            "tree": self.tree.fingerprint,
            "cards": self.cards.fingerprint,
        }

    def save(self, folder: str | Path) -> Path:
        """Write a checkpoint: each blade its part, then the head. Without the head's part it is none.

        Blades on other machines must see the same folder.
        """
        folder = Path(folder).resolve()
        facts = self._facts(self.iterations)
        if (folder / HEAD).exists():
            entries = artifacts.manifest(folder / HEAD)
            if any(entries[key] != mine for key, mine in facts.items()):
                raise InputError(f"{folder}: another checkpoint is there already; choose a new folder for each")
        else:  # otherwise it is the same moment, written before
            folder.mkdir(parents=True, exist_ok=True)
            self._ask("save", str(folder), facts)
            artifacts.write(folder / HEAD, KIND, {**self._numbers(), "head": self.head.tables.cells}, facts)
        self._kept = folder
        return folder

    def load(self, folder: str | Path) -> None:
        """Go on from a checkpoint."""
        folder = Path(folder).resolve()
        if not (folder / HEAD).is_dir():
            raise CorruptError(f"{folder}: no part of the head: the checkpoint was not finished; take an earlier one")
        entries, arrays = artifacts.read(folder / HEAD)
        facts = self._facts(entries.whole("iterations"))
        for key, mine in facts.items():
            if entries[key] != mine:
                raise InputError(f"{folder}: {key} is {shown(entries[key])}, not {mine}: of another run")
        arrays.check_state({**self._numbers(), "head": self.head.tables.cells})
        self.engine.ask("load", str(folder), facts)
        self._put_head(arrays)
        self._kept = folder
