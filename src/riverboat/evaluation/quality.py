"""Quality of any strategy: exploitability and values, each marked as exact, a bound or an estimate.

    quality(strategy).exploitability                   # of a small game or a spot: exact
    quality(blueprint).claims                          # exact in the game with its bet sizes, a bound in the full game
    quality(agent, rules=read_game("leduc")).claims    # exact if its strategy can be tabulated, else a bound

Exploitability is the gain of best responses: the mean over the players if there are two, the largest gain if there
are more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb, inf, isnan, nan
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import numpy as np

from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
from riverboat.core.arguments import Limits, PositiveCount, Threads, checked
from riverboat.core.arrays import Array
from riverboat.core.claims import EXACT, LOWER, UPPER, Claim, ClaimKind
from riverboat.core.errors import InputError
from riverboat.core.tables import COUNT, ReportColumn, ReportTable
from riverboat.engines.devices import AUTO, CPU, engine_from_average, resolve_device
from riverboat.evaluation.best_response import exact
from riverboat.evaluation.local_best_response import local_best_response
from riverboat.games.base import Game
from riverboat.games.holdem.action_tree import ActionTree, compile_action_tree, measure_action_tree
from riverboat.games.holdem.menus import every_size_menu
from riverboat.games.holdem.public_states import PublicStates
from riverboat.games.holdem.rules import PokerRules, read_game
from riverboat.solvers.tabular import best_response
from riverboat.strategies import files
from riverboat.strategies.blueprint import Blueprint
from riverboat.strategies.mapping import unwrap
from riverboat.strategies.policy import BlueprintPolicy, board_buckets
from riverboat.strategies.profiles import StrategyLike, as_strategy, game_of
from riverboat.strategies.public_strategy import PublicPolicy
from riverboat.strategies.queries import Queryable, rules_of
from riverboat.strategies.solution import Solution
from riverboat.strategies.tabular import Strategy, Tree

MAX_PUBLIC_STATES = 200_000  # largest number of public states at which an agent's strategy is tabulated
_BATCH_SIZE = 2_000
_TOLERANCE = 1e-9

Cards: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class StrategyQuality(best_response.Quality):
    """Best-response values and values of a strategy, in `unit`, with the claims that they support.

    Attributes
    ----------
    best
        Best-response value of each player.
    values
        Expected value of the profile to each player; NaN if not computed.
    total
        Constant sum of the payoffs; None if the game has no value to certify.
    recalls
        Whether all players have perfect recall.
    unit
        Unit of the values.
    kind
        Kind of the exploitability in the full game: exact, or a bound.
    mbb_per_unit
        Thousandths of a big blind per unit; None in games without blinds.
    exact_in
        The game in which best responses are exact, if it is smaller than the full game.
    half_widths
        95 % half-widths of an estimated bound, in `unit`: of the exploitability, then of the winnings in each seat.
    seed
        Seed of the samples of an estimated bound.
    hands
        Hands sampled for an estimated bound.

    Examples
    --------
    >>> import riverboat as rb
    >>> rb.quality(rb.Strategy.uniform(rb.compile_game(rb.game("kuhn")))).claims[0].unit
    'chips'
    """

    unit: str = "chips"
    kind: ClaimKind = EXACT  # kind of the exploitability in the full game: exact, or a bound
    mbb_per_unit: float | None = None  # thousandths of a big blind per unit; None in games without blinds
    exact_in: str = ""  # the game in which best responses are exact, if it is smaller than the full game
    # 95 % half-widths of an estimated bound, in `unit`: of the exploitability, then of the winnings in each seat
    half_widths: tuple[float, ...] = ()
    seed: int | None = None  # seed of the samples of an estimated bound
    hands: int | None = None  # hands sampled for an estimated bound

    @property
    def bracket(self) -> tuple[float, float]:
        """Interval that contains the value to player 0; unbounded if the figures are only estimates."""
        return (-inf, inf) if self.half_widths else super().bracket

    @property
    def scale(self) -> float:
        """Factor from `unit` to the unit of the claims."""
        return 1.0 if self.mbb_per_unit is None else self.mbb_per_unit

    @property
    def claims(self) -> tuple[Claim, ...]:
        """All claims about the strategy, the exploitability first."""
        factor, unit = self.scale, self.unit if self.mbb_per_unit is None else "mbb/g"
        widths: list[float | None] = [factor * width for width in self.half_widths]
        widths = widths or [None] * (1 + len(self.best))
        nash_conv_width = None if widths[0] is None else len(self.best) * widths[0]
        sample: dict[str, Any] = {"seed": self.seed, "size": self.hands, "samples": "hands" if self.hands else ""}
        claims = [Claim("exploitability", factor * self.exploitability, unit, self.kind, widths[0], **sample)]
        if self.exact_in:
            claims.append(Claim("exploitability", factor * self.exploitability, unit, EXACT, game=self.exact_in))
        claims.append(Claim("NashConv", factor * self.nash_conv, unit, self.kind, nash_conv_width, **sample))
        claims += [
            Claim(f"best response of player {p}", factor * best, unit, self.kind, width, **sample)
            for p, (best, width) in enumerate(zip(self.best, widths[1:], strict=True))
        ]
        values = [(p, value) for p, value in enumerate(self.values) if not isnan(value)]
        claims += [Claim(f"value to player {p}", factor * value, unit, EXACT) for p, value in values]
        return tuple(claims)

    def report(self) -> ReportTable:
        """Return a table with a row for each claim."""
        value, half_width = ReportColumn("value", COUNT), ReportColumn("half_width", COUNT, "±")
        columns = ReportColumn("figure"), value, half_width, ReportColumn("unit"), ReportColumn("kind")
        rows = tuple((c.name, c.value, c.half_width, c.unit, c.qualifiers) for c in self.claims)
        return ReportTable("", columns, rows)


@checked
def quality(
    strategy: Queryable | StrategyLike,
    threads: Threads = 1,
    *,
    rules: str | PokerRules | None = None,
    most_minutes: Annotated[float, Limits(0)] = 10.0,
    means: exact.BestResponseExecution | None = None,
    hands: PositiveCount = 4_000,
    device: str = CPU,
    game: str | Game | Tree | None = None,
) -> StrategyQuality:
    """Compute best responses to a strategy, and its value against itself.

    Parameters
    ----------
    strategy
        A `Strategy` or `Solution`: the result is exact, in the unit of its game, or an upper bound if a player has
        imperfect recall. A blueprint: exact against responders that see all cards and bet by its menu; in a no-limit
        game opponents may bet other sizes, so it is a lower bound. An agent: exact if its strategy can be tabulated,
        which needs at most one deal to the board and few lines; a blueprint policy is measured like a blueprint, with
        the post-processed strategy; for all other agents the result is a lower bound with its interval. A result stands
        for its strategy; a folder, or with `game` a mapping or a function of the information set, is a `Strategy`.
    threads
        Threads; the result does not depend on it.
    rules
        Game of an agent that plays any game, or its name; others know theirs.
    most_minutes
        Limit on the estimated time of a best response to a blueprint.
    means
        Folder, cluster and progress callback of a best response to a blueprint.
    hands
        Hands of a local best response ("fcpa") against an agent that cannot be tabulated.
    device
        "cpu", "cuda" or "auto", for a `Solution` or a blueprint; all others run on the CPU.
    game
        Game of a mapping, of a function, or of a folder that cannot name it.

    Returns
    -------
    StrategyQuality
        Exploitability, NashConv and values, each marked as exact, a bound or an estimate.

    Raises
    ------
    InputError
        If the strategy is of another type, the device does not support it, or the best response takes too long.

    Examples
    --------
    >>> import riverboat as rb
    >>> round(rb.quality(rb.Strategy.uniform("kuhn")).exploitability, 4)
    0.4583
    """
    strategy, known_game = unwrap(strategy), game_of(game)
    if isinstance(strategy, str | Path):
        strategy = files.load(strategy, known_game)
    if not isinstance(strategy, Strategy | Solution | Blueprint | PublicPolicy):
        strategy = as_strategy(strategy, game)
    if isinstance(rules, str):
        rules = read_game(rules)
    device_name = resolve_device(device)
    if device_name != CPU and device != AUTO and not isinstance(strategy, Solution | Blueprint):
        raise InputError(f"device {device!r} supports solved spots, hold'em and blueprints only; use 'cpu' or 'auto'")
    if isinstance(strategy, Strategy):
        measured = best_response.quality(strategy, threads)
        return StrategyQuality(**vars(measured), unit=strategy.tree.unit, kind=EXACT if measured.recalls else UPPER)
    if isinstance(strategy, Solution):
        return _solution_quality(strategy, device_name, threads)
    if isinstance(strategy, Blueprint):
        return _blueprint_quality(strategy, threads, most_minutes, means=means, device=device_name)
    if isinstance(strategy, PublicPolicy):
        return _agent_quality(strategy, rules or rules_of(strategy), threads, most_minutes, hands)
    raise InputError(f"{type(strategy).__name__}: must be a strategy, or an agent that has strategies for all hands")


def _solution_quality(solution: Solution, device: str, threads: int) -> StrategyQuality:
    tree = solution.tree
    solution.check_complete()
    engine = engine_from_average(device, tree, solution.table, threads=threads, root_average=solution.root)
    constant = engine.constant_sum
    best, values = (
        tuple(tree.per_chip * engine.expected_value(player, respond=respond) for player in (0, 1))
        for respond in (True, False)
    )
    total = None if constant is None else tree.per_chip * constant  # includes the choice at a gadget's root
    return StrategyQuality(best, values, total, unit=tree.unit)


def _blueprint_quality(strategy: Blueprint, threads: int, most_minutes: float, **options: Any) -> StrategyQuality:
    rules, measured = strategy.rules, exact.quality(strategy, threads, most_minutes, **options)
    scale, figures = 1000 / rules.big_blind, (measured.best, measured.values)
    if rules.limit or strategy.menu == every_size_menu():
        return StrategyQuality(*figures, mbb_per_unit=scale)
    return StrategyQuality(*figures, kind=LOWER, mbb_per_unit=scale, exact_in="where all bets are those of its menu")


# --- Agents ---


def _agent_quality(
    player: PublicPolicy, rules: PokerRules, threads: int, most_minutes: float, hands: int
) -> StrategyQuality:
    # The first that applies: tabulate the strategy, evaluate its blueprint, or compute a local best response.
    name = str(getattr(player, "name", "this player"))
    tree = full_action_tree(rules)
    if tree is not None:
        return _blueprint_quality(tabulate_agent(player, tree, name), threads, most_minutes)
    policy = player if isinstance(player, BlueprintPolicy) else getattr(player, "policy", None)
    if isinstance(policy, BlueprintPolicy):
        return _blueprint_quality(policy.tree_strategy(), threads, most_minutes)
    measured = local_best_response(player, rules, hands=hands, threads=threads)
    widths = tuple(part.half_width for part in (measured.chips, *measured.seats))
    bound: dict[str, Any] = {"kind": LOWER, "mbb_per_unit": 1000 / rules.big_blind, "half_widths": widths}
    return StrategyQuality(measured.by_seat, (nan, nan), **bound, seed=measured.seed, hands=measured.hands)


def full_action_tree(rules: PokerRules) -> ActionTree | None:
    """Return the tree of all legal lines if it is small enough to tabulate an agent's strategy on it.

    With more than one deal to the board the order of the cards may matter, and tables indexed by hands do not contain
    it.

    Parameters
    ----------
    rules
        The game.

    Returns
    -------
    ActionTree or None
        The tree; None if there are too many lines or more than one deal to the board.

    Examples
    --------
    >>> from riverboat.evaluation.quality import full_action_tree
    >>> from riverboat.games.holdem.rules import read_game
    >>> full_action_tree(read_game("nolimit-200bb")) is None
    True
    """
    if rules.rounds > 2 or rules.board[0] or not rules.zero_sum:
        return None
    menu = None if rules.limit else every_size_menu()
    if menu is not None and min(rules.stacks or (10**9,)) > 40 * rules.big_blind:
        return None  # too many sizes to enumerate
    lines = measure_action_tree(rules, menu).decisions
    boards = [comb(len(rules.deck.cards), shown) for shown in rules.board_sizes]
    public_states = sum(sum(seats) * count for seats, count in zip(lines, boards, strict=True))
    return compile_action_tree(rules, menu) if public_states <= MAX_PUBLIC_STATES else None


def tabulate_agent(player: PublicPolicy, tree: ActionTree, name: str = "player") -> Blueprint:
    """Tabulate an agent's strategy as a blueprint without card abstraction on the tree of all legal lines.

    Parameters
    ----------
    player
        Agent that has strategies for all hands.
    tree
        Tree of all legal lines (`full_action_tree`).
    name
        Name of the agent, for messages and provenance.

    Returns
    -------
    Blueprint
        The strategy.

    Raises
    ------
    InputError
        If hands that differ only in suits play differently.

    Examples
    --------
    >>> from riverboat.agents.registry import make_agent
    >>> from riverboat.evaluation.quality import full_action_tree, tabulate_agent
    >>> from riverboat.games.holdem.rules import read_game
    >>> tabulate_agent(make_agent("always-call"), full_action_tree(read_game("leduc"))).buckets
    (3, 15)
    """
    rules = tree.rules
    cards = lossless_abstraction(rules.board[1:], rules.deck)
    tables = tuple(np.full((cards.counts[s], int(tree.width[s])), np.nan) for s in range(rules.rounds))
    for nodes, boards in _decision_batches(tree):
        states = [tree.state(node) for node in nodes]
        strategies = player.strategies(PublicStates.from_betting(states, boards))
        for i, (node, board) in enumerate(zip(nodes, boards, strict=True)):
            actions = [tree.move(child) for child in tree.children(node)]
            street, slot = int(tree.street[node]), int(tree.slot[node])
            dealt = board_buckets(cards, np.array([board], np.uint8))
            live = dealt.live[0, : dealt.left[0]]
            rows = strategies.probabilities[i, live] @ (strategies.moves[i][:, None] == actions).astype(float)
            where = f"agent {name!r} at {states[i].line!r}"
            part = tables[street][:, slot : slot + len(actions)]
            _write_bucket_rows(part, dealt.buckets[0, street, live], rows, where)
    sums = tuple(np.nan_to_num(table).astype(np.float64) for table in tables)
    return Blueprint(rules, tree.menu, tree, cards, sums, {"method": f"asked of {name}"})


def _write_bucket_rows(part: Array, buckets: Array, rows: Array, where: str) -> None:
    """Write the strategies of hands to the rows of their buckets; raise InputError if hands of one bucket differ.

    `part` has the columns of one decision in the table of its street, `rows` the probabilities of the hands there.
    """
    old = part[buckets]
    if not np.abs(rows.sum(axis=1) - 1).max(initial=0) < 1e-6:
        raise InputError(f"{where}: its probabilities of the legal actions do not sum to one")
    part[buckets] = rows
    if (np.abs(part[buckets] - rows) > _TOLERANCE).any() or (np.abs(old - rows) > _TOLERANCE).any():
        raise InputError(
            f"{where}: it plays hands that differ only in suits differently; use riverboat lbr for a lower bound"
        )


def _decision_batches(tree: ActionTree) -> Iterator[tuple[list[int], list[Cards]]]:
    """Yield batches of (nodes, boards) that pair every decision of the tree with every board of its street."""
    rules = tree.rules
    decisions = (
        (node, board)
        for node in np.flatnonzero(tree.actor >= 0).tolist()
        for board in combinations(rules.deck.cards.tolist(), rules.board_sizes[int(tree.street[node])])
    )
    while batch := list(islice(decisions, _BATCH_SIZE)):
        yield [node for node, _ in batch], [board for _, board in batch]
