"""Blueprint training by a head and blades (Brown, Ganzfried & Sandholm 2015, Algorithm 4).

    cards = load_abstraction("tartanian7")
    solver = DistributedTrainer(tree, cards, blades=2, engine="ray", cards_path="tartanian7")
    solver.step(1_000_000)
    solver.save("checkpoints/1")     # every blade writes its part, the head last
    solver.close()

The head owns the tables of the first street, every blade those of the later streets for its public buckets (`blade`);
tables are never transferred. An iteration is one deal of hands, traversed with each seat as traverser; every blade
computes the values of the continuations on a board of its own. Iterations run in batches: within one the head plays the
strategy of its start, so that one message to each blade carries thousands of deals and latency costs little. A batch
has at most 1/1,024 of the deals before it, so that the head updates often at the beginning.

A blade that dies is restarted. Then all blades return to the last complete checkpoint, since tables of different
iterations are inconsistent, and repeat the lost iterations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import comb
from pathlib import Path
from typing import Any

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.core import artifacts, resources
from riverboat.core.arrays import Array
from riverboat.core.errors import CorruptError, InputError, short_repr
from riverboat.engines.sampling._kernels import cluster as kernels
from riverboat.engines.sampling._kernels import external
from riverboat.engines.threads import ThreadTeam
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.solvers.cluster.backends import LOCAL, BladeLostError, make_backend
from riverboat.solvers.cluster.blade import assign_blades
from riverboat.solvers.mccfr import tables as trainer_tables
from riverboat.solvers.mccfr.tables import LOOKUP_BLOCK, BucketTables, Pruning, Weighting
from riverboat.solvers.mccfr.trainer import SamplingTrainer

# --- head: first-street tables and the two passes of Algorithm 4 ---

_MAX_NOTE_BYTES = 1 << 29  # memory for the notes of a batch


class Head:
    """Tables and traversals of the first street, in the process that calls the blades."""

    def __init__(
        self, tree: ActionTree, cards: CardAbstraction, threads: int, dtype: str, prune: Pruning | None, batch: int
    ) -> None:
        if batch < 1:
            raise InputError(f"batch={batch}: deals per message, must be at least 1")
        self.team = ThreadTeam(threads)
        self.tree, self.cards = tree, cards
        self.tables = BucketTables(tree, (cards.counts[0], *[0] * (tree.rules.rounds - 1)), dtype)
        self.game = trainer_tables.make_sampling_game(tree, cards, self.tables)
        self.rule = trainer_tables.update_rule(self.tables, prune)
        # Flops that avoid both hands: 17,296 in hold'em.
        self.flops = comb(len(cards.deck.cards) - 2 * cards.deck.hole, tree.rules.board[1])
        nodes = self.game.nodes.reshape(-1, 4).copy()
        nodes[tree.street > 0, 0] = 0  # no actions: traversals end with the first street
        notes = trainer_tables.DealGroup(nodes.reshape(-1))
        self.group, self.batch = notes.size, self._fit_batch(notes.need, batch)
        self._allocate_notes(notes)
        self._deals = 0
        self._start = np.zeros(1, np.int64)

    # --- passes ------------------------------------------------------------------------------------

    def record(self, seed: int, begin: int, end: int) -> kernels.ContinuationBatch:
        """Run the first pass over deals begin … end - 1 of a run; return the continuations that the blades evaluate."""
        taken, deals = trainer_tables.deal_range(seed, begin, end), end - begin

        def run(_: int) -> None:
            arguments = self.game, self.cards.lookup, self.tables.cells, taken, self.rule
            kernels.record_batch(*arguments, self._groups, self._block, self._hands, self._cuts)

        self.team.run(run)
        groups = -(-deals // self.group)
        self._deals, self._start = deals, np.concatenate([[0], np.cumsum(self._cuts.of_deal[:deals])])
        root = np.concatenate([self._cuts.root[g, : self._cuts.own[g, 2]] for g in range(groups)])
        hole_cards = 2 * self.cards.deck.hole
        keys, prune = self._block.keys[:deals], self._block.prune[:deals]
        return kernels.ContinuationBatch(keys, self._hands[: deals * hole_cards], prune, self._start, root)

    def finish(self, answers: Iterable[tuple[Array, Array]]) -> tuple[int, Array]:
        """Run the second pass: back up the continuations' values and update the tables of the first street.

        `answers` has of every blade its values, float32 [continuations], and the number |F| of its flops that the dealt
        hands do not block, int32 [deals]. Returns the number of decisions visited, and the total payoff of each seat as
        traverser, in chips. float64 [2]
        """
        deals, start = self._deals, self._start
        total, flops = np.zeros(int(start[-1])), np.zeros(deals, np.int64)
        for values, counts in answers:
            total += np.repeat(np.asarray(counts, float), np.diff(start)) * np.asarray(values)
            flops += counts
        assert (flops == self.flops).all(), f"{flops.min()} to {flops.max()} flops over all blades, not {self.flops}"
        total /= self.flops
        groups, turn = -(-deals // self.group), np.zeros(1, np.int64)
        payoff = np.zeros((groups, 2))

        def back_up_values(_: int) -> None:
            arguments = self.tables.cells, deals, self.rule, turn, self._groups, self._block
            kernels.finish_batch(*arguments, start, self._cuts, total, payoff)

        def add_increments(thread: int) -> None:
            journals = self._groups.journals
            external.apply_increments(self.tables.cells, journals, groups, self.rule.floor, thread, self.team.threads)

        self.team.run(back_up_values)
        self.team.run(add_increments)
        return int(self._cuts.own[:groups, :2].sum()), payoff.sum(axis=0) * self.tables.unit

    # --- workspace --------------------------------------------------------------------------------------

    def _fit_batch(self, need: Array, batch: int) -> int:
        """Reduce the batch to the deals whose notes fit in memory, in whole blocks."""
        deal_bytes = int(need @ (48, 24, 24)) + 8 * int(need[0] + need[1]) * int(self.tree.count.max())
        blocks = min(-(-batch // LOOKUP_BLOCK), max(1, _MAX_NOTE_BYTES // deal_bytes // LOOKUP_BLOCK))
        return blocks * LOOKUP_BLOCK

    def _allocate_notes(self, notes: trainer_tables.DealGroup) -> None:
        """Allocate the records that the first pass over a batch writes and the second pass reads."""
        groups, moves = -(-self.batch // self.group), int(self.tree.count[self.tree.street == 0].max())
        places = groups, (int(notes.need[2]) + 2) * self.group
        starts, own = np.zeros(self.batch + 1, np.int64), np.zeros((groups, 3), np.int64)
        self._cuts = kernels.ContinuationCuts(np.zeros(places, np.int32), np.zeros(places, np.int32), starts, own)
        self._groups = kernels.HeadGroups(notes.make_notes(groups), notes.make_journals(moves, groups))
        self._block = trainer_tables.make_block(self.game, self.batch, streets=1)
        self._hands = np.zeros(self.batch * 2 * self.cards.deck.hole, np.uint8)


KIND = "cluster head"
HEAD_FOLDER = "head"
BATCH_GROWTH = 1024  # a batch has at most 1 / BATCH_GROWTH of the deals before it
MAX_FAULTS = 10  # consecutive lost blades, without a batch in between


class ClusterTables:
    """Strategies and regrets of head and blades, by street and bucket."""

    def __init__(self, solver: DistributedTrainer) -> None:
        self._solver = solver

    def strategies(self, street: int, rows: Array | None = None, *, averages: bool = True) -> Array:
        """Return average or current strategies of the buckets `rows` of a street. float32 [rows, width]"""
        solver = self._solver
        if street == 0:
            return solver.head.tables.strategies(0, rows, averages=averages)
        chosen = trainer_tables.bucket_rows(street, solver.cards.counts[street], rows)
        first = solver.cards.streets[street].first
        inside = [(chosen >= first[s.first]) & (chosen < first[s.end]) for s in solver.assignments]
        requests = [(street, chosen[selected], averages) if selected.any() else None for selected in inside]
        out = np.zeros((len(chosen), int(solver.tree.width[street])), np.float32)
        for selected, answer in zip(inside, solver._call_each_blade("strategies", requests), strict=True):
            if answer is not None:
                out[selected] = answer
        return out

    def sampled_regret(self, rows: int | None) -> tuple[Array, Array]:
        """Count visited information sets by street, and sum their largest regrets by seat, as `BucketTables` does."""
        visited, regrets = zip(*self._solver._call_blades("survey", rows), strict=True)
        on_head, regret = self._solver.head.tables.visited_and_regret(0)
        return np.array([on_head, *sum(visited)[1:]]), regret + sum(regrets)


class ClusterTraverser:
    """External sampling by a head, which owns the first street, and blades, which own the later ones.

    `engine` names a backend (`make_backend`), `mode` the weights of increments (`blade.MODES`); a batch has at most
    `batch` deals. Each blade has `threads` threads.
    """

    def __init__(
        self,
        tree: ActionTree,
        cards: CardAbstraction,
        *,
        blades: int = 2,
        engine: str = "local",
        cards_path: str | Path | None = None,
        threads: int = 1,
        mode: str = "weighted",
        prune: Pruning | None = None,
        dtype: str = "float32",
        batch: int = 1 << 14,
    ) -> None:
        self.assignments = assign_blades(cards, tree, blades, threads=threads, dtype=dtype, prune=prune, mode=mode)
        # The head works while the blades wait; its result does not depend on its number of threads.
        head_threads = threads if engine == LOCAL else min(threads * blades, resources.available_cores())
        self.head = Head(tree, cards, head_threads, dtype, prune, batch)
        path = Path(cards_path) if cards_path is not None else None
        self.backend = make_backend(engine, tree, cards, self.assignments, path)
        self.blade_updates = 0  # decisions visited on blades

    def train(self, seed: int, begin: int, end: int, payoff: Array) -> tuple[int, Array]:
        """Run iterations begin … end - 1; see `Traverser`."""
        answers = self.backend.call_all("value", self.head.record(seed, begin, end))
        visited, gained = self.head.finish((values, counts) for values, counts, _ in answers)
        on_blades = sum(decisions for _, _, decisions in answers)
        self.blade_updates += on_blades
        return visited + on_blades, payoff + gained

    def discount(self, positive: float, negative: float, decay: float, seed: int) -> None:
        """Multiply positive and negative regrets and averages by factors; `seed` is for random rounding."""
        self.backend.call_all("discount", positive, negative, decay, seed)
        self.head.tables.discount(positive, negative, decay, seed)


class DistributedTrainer(SamplingTrainer):
    """A trainer with a head and blades, with the interface of `BlueprintTrainer`.

    `options` are those of `ClusterTraverser`; the first batches have `first_batch` deals.
    """

    traverser: ClusterTraverser

    def __init__(
        self,
        tree: ActionTree,
        cards: CardAbstraction,
        *,
        seed: int = 0,
        weighting: str | Weighting = "none",
        first_batch: int = LOOKUP_BLOCK,
        **options: Any,
    ) -> None:
        super().__init__(tree, cards, seed, weighting, ClusterTraverser(tree, cards, **options))
        self.assignments, self.backend = self.traverser.assignments, self.traverser.backend
        self.head, self.first_batch = self.traverser.head, first_batch
        self.faults = 0  # blades lost so far
        self._first_counts = self._counts(0, 0)
        self._last_checkpoint: Path | dict[str, Array] | None = None  # the last complete checkpoint

    def __enter__(self) -> DistributedTrainer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Shut down the blades."""
        self.backend.close()

    @property
    def tables(self) -> ClusterTables:
        """The strategies of head and blades."""
        return ClusterTables(self)

    # --- training ----------------------------------------------------------------------------------

    def _batch_end(self, begin: int, target: int) -> int:
        """Return the end of the next batch, which depends on the iterations before it alone."""
        deals = min(max(self.first_batch, self.iterations // BATCH_GROWTH), self.head.batch)
        return -(-(self.iterations + deals) // LOOKUP_BLOCK) * LOOKUP_BLOCK

    def _round_weight(self, weight: float) -> float:
        """Return the weight unrounded: batches end at the same iterations in steps of any length, so sums are equal."""
        return weight

    def step(self, iterations: int) -> None:
        """Train for at least this many iterations, in whole batches. One long step equals many short ones."""
        target, faults = self.iterations + iterations, 0
        while True:
            begin = self.iterations
            try:
                super().step(target - begin)
                return
            except BladeLostError:
                faults = faults + 1 if self.iterations == begin else 1
                if faults > MAX_FAULTS:
                    raise
                self._recover()

    def _call_blades(self, method: str, *given: Any) -> list[Any]:
        """Call a method of all blades with the same arguments, between batches, and return their results.

        If a blade has died, first restore the last checkpoint and train again up to the current iteration.
        """
        return self._call_each_blade(method, [given] * len(self.assignments))

    # As `_call_blades`, with own arguments for each blade; None skips a blade.
    def _call_each_blade(self, method: str, given: Sequence[tuple[Any, ...] | None]) -> list[Any]:
        target = self.iterations
        for _ in range(MAX_FAULTS):
            try:
                return self.backend.call_each(method, given)
            except BladeLostError:
                self._recover()
                self.step(target - self.iterations)
        return self.backend.call_each(method, given)

    def _recover(self) -> None:
        """Restart dead blades and return to the last complete checkpoint."""
        for trial in range(MAX_FAULTS):
            self.faults += self.backend.restart_dead()
            try:
                if isinstance(self._last_checkpoint, Path):
                    self.load(self._last_checkpoint)
                else:
                    self._restore_all(self._last_checkpoint)
                return
            except BladeLostError:
                if trial == MAX_FAULTS - 1:
                    raise

    # --- state -------------------------------------------------------------------------------------

    def _head_state(self) -> dict[str, Array]:
        """Return the arrays of the head."""
        blade_updates = self.traverser.blade_updates
        return {**self._counts(self.updates - blade_updates, blade_updates), "head": self.head.tables.cells}

    def state(self) -> dict[str, Array]:
        """Return the complete state, gathered from the blades: for small games. Large games use `save`."""
        cells = {f"blade_{n}": np.array(part) for n, part in enumerate(self._call_blades("cells"))}
        self._last_checkpoint = {name: array.copy() for name, array in self._head_state().items()} | cells
        return dict(self._last_checkpoint)

    def restore(self, state: Mapping[str, Array]) -> None:
        """Restore a state."""
        copied = {name: np.array(array) for name, array in state.items()}
        if len([name for name in copied if name.startswith("blade_")]) != len(self.assignments):
            raise InputError(f"the state does not have {len(self.assignments)} blades: set blades={len(copied) - 4}")
        self._restore_all(copied)
        self._last_checkpoint = copied

    def _restore_all(self, state: Mapping[str, Array] | None) -> None:
        """Restore head and blades from a state, or reset them."""
        blades = [(state[f"blade_{n}"] if state is not None else None,) for n in range(len(self.assignments))]
        self.backend.call_each("put", blades)
        self._restore_head(state)

    def _restore_head(self, state: Mapping[str, Array] | None) -> None:
        """Restore the head and the counts of the run, or reset them."""
        self.head.tables.put(None if state is None else state["head"], "the head")
        counts = self._first_counts if state is None else state
        self._restore_counts(counts)
        self.traverser.blade_updates = int(counts["numbers"][2])

    def _checkpoint_facts(self, iterations: int) -> dict[str, Any]:
        """Return the manifest entries common to all parts of a checkpoint."""
        facts = {"iterations": iterations, "blades": len(self.assignments)}
        return {**facts, "tree": self.tree.fingerprint, "cards": self.cards.fingerprint}

    def save(self, folder: str | Path) -> Path:
        """Write a checkpoint: the part of each blade, then the head's. Without the head's part it is incomplete.

        Blades on other machines must see the same folder.
        """
        folder = Path(folder).resolve()
        facts = self._checkpoint_facts(self.iterations)
        if (folder / HEAD_FOLDER).exists():
            entries = artifacts.read_manifest(folder / HEAD_FOLDER)
            if any(entries[key] != value for key, value in facts.items()):
                raise InputError(f"{folder}: already holds another checkpoint; choose a new folder for each")
        else:  # an existing one is of the same iteration
            folder.mkdir(parents=True, exist_ok=True)
            self._call_blades("save", str(folder), facts)
            artifacts.write(folder / HEAD_FOLDER, KIND, self._head_state(), facts)
        self._last_checkpoint = folder
        return folder

    def load(self, folder: str | Path) -> None:
        """Restore head and blades from a checkpoint that `save` has written."""
        folder = Path(folder).resolve()
        if not (folder / HEAD_FOLDER).is_dir():
            raise CorruptError(f"{folder}: no {HEAD_FOLDER} folder: the checkpoint is incomplete; use an earlier one")
        entries, arrays = artifacts.read(folder / HEAD_FOLDER)
        facts = self._checkpoint_facts(entries.integer("iterations"))
        for key, expected in facts.items():
            if entries[key] != expected:
                raise InputError(f"{folder}: {key} is {short_repr(entries[key])}, not {expected}: of another run")
        arrays.check_state(self._head_state())
        self.backend.call_all("load", str(folder), facts)
        self._restore_head(arrays)
        self._last_checkpoint = folder
