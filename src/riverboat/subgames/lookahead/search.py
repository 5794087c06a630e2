"""The agent that searches at every decision, and its exact exploitability.

A search at each of a player's public states gives its strategy there for all hands. Together these are a strategy of the
whole game, whose exploitability a best response measures (Burch, Johanson & Bowling 2014; Moravcik et al. 2017).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from riverboat.core import validation
from riverboat.core.tables import COUNT, PROSE, ReportColumn, ReportTable
from riverboat.games.base import TERMINAL, Array
from riverboat.solvers.tabular.best_response import Quality, quality
from riverboat.strategies.tabular import Strategy
from riverboat.subgames.lookahead.leaf_values import Continuations, Leaves
from riverboat.subgames.lookahead.subgame_solver import (
    LimitedSolver,
    SolvedRoot,
    check_arguments,
    opponent_acted,
    root_values,
    state_ranges,
)
from riverboat.subgames.lookahead.trees import DepthLimit, LeafState, normalized_range, public_strategy
from riverboat.subgames.resolving import GadgetSolver, lp_solver
from riverboat.subgames.values import SubgameRootValues, subgame_root_values
from riverboat.trees.gadgets import TreeSubgame
from riverboat.trees.public import PublicTree

ROOTS = ("carried", "blueprint")


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The strategy of an agent that searches at every decision, and what it concedes.

    Attributes
    ----------
    strategy
        Its strategy, assembled over all public states.
    quality
        Exact best-response values against it.
    base_quality
        The same for the base strategy.
    subgames
        Number of subgames that were solved.
    iterations
        Iterations of CFR in all of them, 0 for linear programs.
    rise
        For each player: the most by which the searches change the opponent's best-response value. It is the sum over searches
        of what each of them adds to the opponent's values at its root, if the base strategy follows after the leaves.
        Zero or less if every search is exact and safe.
    method
        Method at the roots.
    limit
        End of the subgames.

    Examples
    --------
    >>> import riverboat as rb
    >>> result = search(rb.solve("kuhn", iterations=5).strategy, method="maxmargin")
    >>> result.subgames > 0, result.exploitability < 1e-9 < result.base_exploitability
    (True, True)
    """

    strategy: Strategy
    quality: Quality
    base_quality: Quality
    subgames: int
    iterations: int
    rise: tuple[float, float]
    method: str
    limit: DepthLimit

    @property
    def exploitability(self) -> float:
        """Exploitability of the agent in both seats, in the game's unit."""
        return self.quality.exploitability

    @property
    def base_exploitability(self) -> float:
        """Exploitability of the base strategy."""
        return self.base_quality.exploitability

    @property
    def bound(self) -> float:
        """Upper bound of the exploitability: that of the base strategy and half of what the searches add at most."""
        return self.base_exploitability + sum(self.rise) / 2

    def report(self) -> ReportTable:
        """Return a table with a row for the base strategy and one for the agent."""
        columns = (
            ReportColumn("strategy", PROSE),
            *(ReportColumn(name, COUNT) for name in ("exploitability", "best response 0", "best response 1")),
        )
        rows: list[tuple[str | float | None, ...]] = [
            (name, each.exploitability, *each.best)
            for name, each in (("base", self.base_quality), (f"search, {self.method}", self.quality))
        ]
        title = f"{self.strategy.tree.name}: {self.subgames:,} subgames, {self.limit}, {self.iterations:,} iterations"
        return ReportTable(title, columns, tuple(rows))

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()


def search(
    base: Strategy,
    *,
    depth: int | None = None,
    rounds: int | None = None,
    leaves: Leaves = Continuations(),  # noqa: B008  # frozen
    method: str = "resolve",
    roots: str = "carried",
    players: Sequence[int] = (0, 1),
    solver: GadgetSolver | int = lp_solver,
    progress: Callable[[int, int], None] | None = None,
) -> SearchResult:
    """Search at every decision of a game, and compute the exact exploitability of the agent that does so.

    Each public state at which a player acts is the root of one depth-limited subgame for that player. The solution's
    first action, for all hands, is the agent's strategy there.

    Parameters
    ----------
    base
        Strategy of a public game, which play begins from; `Strategy.uniform(tree)` if there is none.
    depth, rounds, leaves, method, solver
        As in `solve_limited`.
    roots
        Where ranges and the opponent's values at a root come from. `carried`: continual re-solving, from one search to the
        next; the player's range follows from the searched strategies, and the opponent's values are those of its best
        response to them. The first search is at the root of the game. With `Continuations` the base strategy follows after
        the leaves; a table or a function values the leaves and public states after them. `blueprint`: ranges and values
        of the base strategy, at every root.
    players
        Players that search; the other one follows the base strategy.
    progress
        Called after each public state with the number of those that are done, and with that of all of them.

    Returns
    -------
    SearchResult
        The agent's strategy, its exploitability, and the number of subgames.

    Raises
    ------
    InputError
        As in `solve_limited`.

    Notes
    -----
    With carried roots, re-solving, maxmargin or reach-maxmargin, an exact solver and no limit, no search raises the
    exploitability [1]_.
    Leaves at which the opponent has few continuations make its values too low; `SearchResult.rise` measures by how
    much. Results are deterministic. Reach-maxmargin keeps each hand of the opponent at or below its value at the root.

    References
    ----------
    .. [1] Burch, Johanson and Bowling, "Solving imperfect information games using decomposition", AAAI 2014.
    .. [2] Moravcik et al., "DeepStack: expert-level artificial intelligence in heads-up no-limit poker", Science 2017.
    .. [3] Brown, Sandholm and Amos, "Depth-limited solving for imperfect-information games", NeurIPS 2018.

    Examples
    --------
    >>> import riverboat as rb
    >>> base = rb.solve("leduc", iterations=20).strategy
    >>> leaves = Continuations(["blueprint", "f:5", "c:5", "r:5"])
    >>> result = search(base, depth=2, leaves=leaves, method="reach_maxmargin")
    >>> result.exploitability < result.base_exploitability < result.bound
    True
    """
    check_arguments(method, players, leaves, solver)
    validation.check_text("roots", roots)
    validation.check_name("roots", roots, ROOTS)
    tree = public_strategy(base).tree
    limit = DepthLimit(depth, rounds)
    table = np.array(base.probabilities, float)
    assert isinstance(tree, PublicTree)
    subgames, iterations, rise = 0, 0, [0.0, 0.0]
    agents = [
        _Agent(LimitedSolver(base, player, limit, leaves, solver), method, roots == "carried")
        for player in sorted(set(players))
    ]
    total, done = sum(len(agent.roots) for agent in agents), 0
    for agent in agents:
        player = agent.player
        for _ in agent.search_everywhere():
            done += 1
            if progress is not None:
                progress(done, total)
        tree.player_tables(table)[player][:] = tree.player_tables(agent.table)[player]
        subgames, iterations = subgames + agent.subgames, iterations + agent.iterations
        rise[player] = agent.rise
    provenance = {**base.provenance, "searched": "everywhere", "method": method, "depth": depth, "rounds": rounds}
    strategy = Strategy(tree, table, provenance)
    measured = quality(strategy), quality(base)
    return SearchResult(strategy, *measured, subgames, iterations, (rise[0], rise[1]), method, limit)


class _Agent:
    """One player's searches, in the order of the tree.

    `table` is the player's strategy so far, and what it expects of the opponent.
    """

    def __init__(self, solver: LimitedSolver, method: str, carries: bool) -> None:
        self.solver, self.method, self.carries = solver, method, carries
        self.tree, self.player = solver.tree, solver.player
        self.table = np.array(solver.base.probabilities, float)
        self.carried: dict[int, SubgameRootValues] = {}  # by node: the opponent's values, where searches compute them
        self.subgames, self.iterations, self.rise = 0, 0, 0.0
        nodes = self.tree.nodes
        # All public states at which the player has a choice, and the root of the game if values are carried on.
        chooses = (nodes.actor == self.player) & (nodes.width > 1)
        chooses[0] |= carries
        self.roots = np.flatnonzero(chooses)

    def search_everywhere(self) -> Iterator[int]:
        """Search at all roots, from the root of the game down; yield each when it is done."""
        base_roots: Sequence[SubgameRootValues | None] = [None] * len(self.roots)
        if not self.carries:
            base_roots = subgame_root_values(self.solver.base, self.player, self._subgames(self.roots))
        for node, root in zip(self.roots.tolist(), base_roots, strict=True):
            self._search_at(node, root)
            yield node

    def _subgames(self, roots: Array) -> list[TreeSubgame]:
        return [TreeSubgame(self.tree, self.tree.line(node), np.array([node])) for node in roots.tolist()]

    def _search_at(self, node: int, root: SubgameRootValues | None) -> None:
        """Search at one root, and write the solution."""
        before = self._values_at(node)
        if not (before.weights > 0).any():
            return  # the player never comes here
        method = self.method if opponent_acted(self.tree, node, self.player) else "unsafe"
        source = Strategy(self.tree, self.table) if self.carries else self.solver.base
        if method == "reach_maxmargin":
            (subgame,) = self._subgames(np.array([node]))
            root = root_values(source, self.player, subgame, method)
        elif root is None:
            root = self.carried.pop(node, before)
        ranges = state_ranges(source.probabilities, self.tree, node)
        solved = self.solver.solve(node, method, root, ranges, self.table)
        if solved is None:
            return
        self.subgames, self.iterations = self.subgames + 1, self.iterations + solved.iterations
        if self.carries:
            players = (0, 1) if method in ("unsafe", "resolve") else (self.player,)
            solved.write(self.table, players)
            if self.solver.by_hand is not None:
                self._carry(node, solved)
        else:
            solved.write(self.table, (self.player,), root_only=True)
        self.rise += self._rise(node, before, self._values_at(node))

    def _values_at(self, node: int) -> SubgameRootValues:
        """Return the opponent's best-response values at a node against the current strategy."""
        strategy = Strategy(self.tree, self.table)
        return subgame_root_values(strategy, self.player, [TreeSubgame(self.tree, "", np.array([node]))])[0]

    def _rise(self, node: int, before: SubgameRootValues, after: SubgameRootValues) -> float:
        """Return the most that the opponent's best-response value can have risen by a change of strategy below a node.

        Where the opponent has not acted, it comes with all of its hands, and the change of its value is exact.
        """
        gained = after.values * after.weights - before.values * before.weights
        if opponent_acted(self.tree, node, self.player):
            gained = np.maximum(gained, 0.0)
        return float(self.tree.deal.weights[1 - self.player] @ gained) / self.tree.total

    def _carry(self, node: int, solved: SolvedRoot) -> None:
        """Store the opponent's values at the player's next decisions: from the solution, or from its leaf values."""
        opponent = 1 - self.player
        for after in self._next_decisions(node):
            if after in solved.limited.position:
                self.carried[after] = solved.opponent_values(self.player, after)
                continue
            assert self.solver.by_hand is not None
            root = self._values_at(after)
            possible = LeafState(self.tree, after).possible
            ranges = state_ranges(self.table, self.tree, after)
            batch = [normalized_range((ranges[p] * possible[p])[None], possible[p].astype(float)[None]) for p in (0, 1)]
            values = self.solver.by_hand.values([after], (batch[0], batch[1]))[opponent][0]
            self.carried[after] = root._replace(values=np.where(root.weights > 0, values, 0.0))

    def _next_decisions(self, node: int) -> list[int]:
        """Return the player's next decisions after its action at a node, or after a node at which it does not act."""
        found, waiting = [], list(self.tree.children(node))
        while waiting:
            at = waiting.pop()
            if self.tree.nodes.actor[at] == self.player and self.tree.nodes.width[at] > 1:
                found.append(at)
            elif self.tree.nodes.actor[at] != TERMINAL:
                waiting += self.tree.children(at)
        return found
