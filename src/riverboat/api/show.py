"""Reports on artifacts: summaries, nodes of blueprints and agents, values, card abstractions, traces of CFR.

node = blueprint_node(load_blueprint("runs/mine"), "cr300c/", "8c8d5c")
node_values(node).seats                 # EVs in self-play and of best responses
describe_abstraction("runs/cards").report
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from riverboat.abstraction import explanation, quality
from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.abstraction.cards.card_abstraction import load_abstraction as load_abstraction
from riverboat.agents.base import PublicPolicy
from riverboat.api.options import PositiveCount
from riverboat.cards.notation import format_cards
from riverboat.core.errors import InputError, unknown_name_error
from riverboat.core.schema import FileEntries
from riverboat.core.tables import ReportTable
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.rules import STREETS, PokerRules
from riverboat.solvers import game_values
from riverboat.solvers.tabular import trace as traces
from riverboat.strategies import blueprint_values as values_report
from riverboat.strategies.blueprint import Blueprint
from riverboat.strategies.reports.blueprint import BlueprintNode, node_at_line, parse_seat
from riverboat.strategies.reports.public_state import PublicStateNode, policy_node
from riverboat.strategies.solution import Solution
from riverboat.trees.drawing import draw_tree

VALUE_THREADS = 2  # threads of the traversal that computes values
PUBLIC = "public"  # name of the public buckets of a card abstraction
NUM_EXTREME_BUCKETS = 3  # tightest and widest buckets per street if all streets are reported


def solution_summary(solution: Solution, entries: FileEntries) -> dict[str, Any]:
    """Describe the solution of a spot.

    Parameters
    ----------
    solution
        The solution.
    entries
        Manifest of its folder.

    Returns
    -------
    dict
        Kind, game, board, pot, sizes, provenance, exploitability and actions of the root, as a JSON object.

    Examples
    --------
    >>> solution_summary.__name__
    'solution_summary'
    """

    game = solution.tree.game
    facts: dict[str, Any] = {"kind": entries["kind"], "game": solution.tree.name, "board": format_cards(game.board)}
    facts |= {key: getattr(game, key) for key in ("pot", "stack") if hasattr(game, key)}
    facts |= {"unit": solution.tree.unit, "infosets": solution.tree.infoset_count}
    facts |= entries.plain_table("provenance", 1)
    rows = entries.tables("history") if "history" in entries else []
    if history := [row for row in rows if row["exploitability"] is not None]:
        # the solution may be from an earlier check than the last
        own_checks = [row for row in history if row["iteration"] == facts.get("iterations")]
        facts["exploitability"] = (own_checks or history)[-1].number("exploitability")
        facts["seconds"] = history[-1].number("seconds")
    return facts | {"actions": list(solution[""].actions)}


def blueprint_summary(strategy: Blueprint, kind: str) -> dict[str, Any]:
    """Describe a blueprint.

    Parameters
    ----------
    strategy
        The blueprint.
    kind
        Kind of its artifact.

    Returns
    -------
    dict
        Game, betting, card abstraction, sizes and first actions, as a JSON object.

    Examples
    --------
    >>> from riverboat.agents.registry import default_folder
    >>> from riverboat.api.artifacts import load_blueprint
    >>> blueprint_summary(load_blueprint(default_folder()), "blueprint")["betting"]
    'no-limit'
    """
    rules, tables = strategy.rules, strategy.average
    counts = strategy.tree.table_size(strategy.buckets, max(table.dtype.itemsize for table in tables))
    return {
        "kind": kind,
        "game": rules.name,
        "betting": "limit" if rules.limit else "no-limit",
        "blinds": list(rules.blinds),
        "stacks": None if rules.stacks is None else list(rules.stacks),
        "abstraction": strategy.cards.name,
        "abstraction_path": None if strategy.cards_path is None else str(strategy.cards_path),
        "buckets": list(strategy.buckets),
        "nodes": len(strategy.tree),
        "infosets": sum(counts.infosets),
        "infoset_actions": sum(counts.infoset_actions),
        "table": str(tables[0].dtype),
        "table_bytes": sum(int(table.nbytes) for table in tables),
        "actions": list(strategy.moves(0)),
    }


# --- Nodes of blueprints and agents ---


def _require_board(rules: PokerRules, street: int, line: str, board: str | None) -> None:
    """Raise an error for a later street without a board, with an example of one."""

    num_cards = rules.board_sizes[street]
    if num_cards and board is None:
        example = format_cards(rules.deck.cards[::-1][:num_cards])
        cards = f"{num_cards} card{'s' * (num_cards != 1)}"
        raise InputError(f"line {line!r} is on the {rules.streets[street]}: give its {cards} with --board {example}")


def blueprint_node(strategy: Blueprint, line: str = "", board: str | None = None) -> BlueprintNode:
    """Return a decision of a blueprint's own tree, with both ranges.

    Parameters
    ----------
    strategy
        The blueprint.
    line
        Actions that lead to the decision, such as cr300c/; empty for the first one.
    board
        Cards of its street, such as 8c8d5c.

    Returns
    -------
    BlueprintNode
        Ranges of both players and the strategy of all hands.

    Raises
    ------
    InputError
        If the line is not in the tree, nobody acts there, or the board is missing.

    Examples
    --------
    >>> from riverboat.agents.registry import default_folder
    >>> from riverboat.api.artifacts import load_blueprint
    >>> blueprint_node(load_blueprint(default_folder())).seat
    1
    """

    node = strategy.tree.find(line)
    strategy.moves(node)  # raises if no player acts there
    _require_board(strategy.rules, int(strategy.tree.street[node]), line, board)
    return node_at_line(strategy, line, board or "")


def agent_node(agent: PublicPolicy, rules: PokerRules, line: str = "", board: str | None = None) -> PublicStateNode:
    """Return the strategy of an agent at any line, with ranges of self-play.

    Parameters
    ----------
    agent
        Agent that gives its strategy for all hands.
    rules
        The game that it plays.
    line
        Actions that lead to the decision, such as cr300c/; empty for the first one.
    board
        Cards of its street, such as 8c8d5c.

    Returns
    -------
    PublicStateNode
        Ranges of both players and the strategy of all hands.

    Raises
    ------
    InputError
        If the line is not legal, nobody acts there, or the board is missing.

    Examples
    --------
    >>> from riverboat.api.artifacts import load_policy
    >>> agent_node(*load_policy("always-call")).moves
    ('c',)
    """

    _require_board(rules, BettingState.from_line(rules, line).deal_due_streets().street, line, board)
    return policy_node(agent, rules, line, board or "")


@dataclass(frozen=True, eq=False)
class NodeValues:
    """EVs of hands at a decision of a blueprint, in self-play and against best responses.

    Attributes
    ----------
    unit
        Unit of the EVs.
    seats
        EVs of both players.
    hands
        EVs of all hands of one player, or of groups of them; None if one hand was requested.
    hand
        EVs of the requested hand, as a JSON object; None without one.

    Examples
    --------
    >>> NodeValues("chips", None, None, {"ev": 1.0}).hand
    {'ev': 1.0}
    """

    unit: str
    seats: ReportTable
    hands: ReportTable | None
    hand: dict[str, Any] | None


def node_values(
    node: BlueprintNode, *, player: str | None = None, hand: str | None = None, table: str | None = None
) -> NodeValues:
    """Compute EVs of hands at a decision of a blueprint, over all runouts.

    Parameters
    ----------
    node
        A decision from `blueprint_node`.
    player
        oop or ip; by default the player to act.
    hand
        One hand; all hands by default.
    table
        How to group hands: combos, classes, made, draws, groups or equity.

    Returns
    -------
    NodeValues
        EVs in self-play and against best responses.

    Raises
    ------
    InputError
        If the computation would take too long, or a name is unknown.

    Examples
    --------
    >>> node_values.__name__
    'node_values'
    """

    seat = parse_seat(node, player)
    values = values_report.blueprint_values(node.strategy, node.line, node.board, threads=VALUE_THREADS)
    seats = values_report.seat_values_table(values)
    if hand is not None:
        return NodeValues(values.unit, seats, None, values_report.hand_values(values, hand, seat))
    return NodeValues(values.unit, seats, values_report.hand_values_table(values, seat, table), None)


# --- Card abstractions ---


@dataclass(frozen=True, eq=False)
class AbstractionDescription:
    """A card abstraction with the quality of its buckets.

    Attributes
    ----------
    cards
        The card abstraction.
    part
        The street, or the public buckets, that was requested; None for all.
    report
        Quality of the buckets of all streets.

    Examples
    --------
    >>> AbstractionDescription.__name__
    'AbstractionDescription'
    """

    cards: CardAbstraction
    part: str | None
    report: quality.AbstractionReport

    @property
    def facts(self) -> dict[str, Any]:
        """Name, buckets, size, fingerprint and recipe."""
        cards = self.cards
        facts: dict[str, Any] = {"kind": "card abstraction", "name": cards.name, "buckets": list(cards.counts)}
        if cards.public is not None:
            facts["public_buckets"] = cards.public.count
        if cards.recipe.get("about"):
            facts["about"] = cards.recipe["about"]
        facts["table_bytes"] = sum(street.nbytes for street in cards.streets)
        seconds = [street.metadata["seconds"] for street in cards.streets if "seconds" in street.metadata]
        if seconds:
            facts["seconds"] = round(sum(seconds), 1)
        return facts | {"fingerprint": cards.fingerprint, "recipe": dict(cards.recipe)}

    def to_dict(self) -> dict[str, Any]:
        """Return the description as a JSON object: all streets, one street, or the public buckets."""
        report = self.report.to_dict()
        streets = {street["street"]: street for street in report["streets"]}
        if self.part == PUBLIC:
            return self.facts | {"public": report["public"]}
        if self.part is not None:
            return self.facts | {"streets": {self.part: streets[self.part]}}
        return self.facts | {"streets": streets} | ({"public": report["public"]} if report["public"] else {})


def describe_abstraction(cards: CardAbstraction, part: str | None = None, *, limit: int = 60) -> AbstractionDescription:
    """Describe a card abstraction and the quality of its buckets.

    Parameters
    ----------
    cards
        The card abstraction.
    part
        A street, or public for the public buckets; all by default.
    limit
        Tightest and widest buckets to report of one street.

    Returns
    -------
    AbstractionDescription
        Name, sizes and quality.

    Raises
    ------
    InputError
        If the abstraction has no such part.

    Examples
    --------
    >>> describe_abstraction.__name__
    'describe_abstraction'
    """

    parts = (*STREETS[: len(cards.streets)], *([PUBLIC] if cards.public is not None else []))
    if part is not None and part not in parts:
        raise unknown_name_error("part", part, parts)
    extremes = limit if part in STREETS else NUM_EXTREME_BUCKETS
    return AbstractionDescription(cards, part, quality.report_quality(cards, extremes))


def explain_buckets(cards: CardAbstraction, hand: str, board: str = "") -> explanation.BucketExplanation:
    """Explain the buckets of one hand on every street up to its board.

    Parameters
    ----------
    cards
        The card abstraction.
    hand
        Two cards, such as KsJs.
    board
        Up to five cards, such as Td9d6h.

    Returns
    -------
    BucketExplanation
        Bucket, features and neighbouring buckets on each street.

    Raises
    ------
    InputError
        If cards are invalid.

    Examples
    --------
    >>> explain_buckets.__name__
    'explain_buckets'
    """

    return explanation.explain_buckets(cards, hand, board)


# --- Traces ---


def trace(
    game: str = "kuhn",
    *,
    deal: str | None = None,
    schedule: str = "vanilla",
    iteration: PositiveCount = 1,
    svg: str | Path | None = None,
) -> traces.Trace:
    """Record one iteration of CFR, node by node.

    Parameters
    ----------
    game
        A small game.
    deal
        Hands of both players, such as QJ.
    schedule
        CFR schedule.
    iteration
        Which iteration to show, from 1.
    svg
        Draw the tree of the deal as SVG.

    Returns
    -------
    Trace
        Reach probabilities, values and regrets of every node.

    Raises
    ------
    InputError
        If there is no such game, deal or schedule.

    Examples
    --------
    >>> trace("kuhn", deal="QJ").to_dict()["game"]
    'kuhn'
    """

    made = game_values.game(game)
    traced = traces.trace(made, deal=deal, schedule=schedule, iterations=iteration)
    if svg is not None:
        draw_tree(made, deal=deal).save(svg)
    return traced
