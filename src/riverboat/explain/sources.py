"""Decisions to explain, by the name of their source: a small game, a node of a spot, many boards, or an agent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from riverboat.api.artifacts import BOARDS_FILE, describe, is_solution, load_policy, load_solved
from riverboat.core.errors import InputError, short_repr
from riverboat.core.files import read_text
from riverboat.core.schema import FileEntries
from riverboat.explain import agent_decisions, small_game_decisions, spot_decisions
from riverboat.explain.decisions import CostFunction, DecisionTable
from riverboat.explain.ev_breakdown import HandEvBreakdown, break_down_hand_ev
from riverboat.explain.explanation import AUTO, RULE_COUNTS, RuleExplanation, evaluate_rules, explain
from riverboat.explain.rule_learning import LIST
from riverboat.explain.spot_decisions import BoardRow, board_decisions
from riverboat.strategies.reports.comparison import has_wildcard
from riverboat.strategies.rule_list import RAISE, RuleAction, RuleList
from riverboat.strategies.solution import Solution
from riverboat.strategies.tabular import Strategy

ROOT = "root"  # name of the empty line
MAX_AGENT_RULES = 30  # most rules tried for an agent, whose decision tables are large


@dataclass(frozen=True)
class ExplanationTask:
    """A table of decisions to explain, with the cost function of playing them differently."""

    decisions: DecisionTable
    cost: CostFunction | None = None
    quick: bool = True  # whether the cost is cheap enough for every point of the fidelity curve
    large: bool = False  # large table: fewer rule counts are tried

    def explain(self, rules: int = 10, method: str = AUTO, seed: int = 0) -> RuleExplanation:
        """Learn a rule list of at most `rules` rules from the decisions, and evaluate it."""
        counts: Sequence[int] = RULE_COUNTS
        if self.large:
            counts = [n for n in counts if n <= max(MAX_AGENT_RULES, rules)]
            method = LIST if method == AUTO else method
        return explain(
            self.decisions, rules, method, cost=self.cost, cost_is_cheap=self.quick, rule_counts=counts, seed=seed
        )

    def evaluate(self, file: Path) -> RuleExplanation:
        """Evaluate a hand-written rule list from a text file on the decisions."""
        text = read_text(file, "rules")
        try:
            return evaluate_rules(RuleList.parse(text, self.decisions.features), self.decisions, self.cost)
        except InputError as error:
            raise InputError(f"rules {str(file)!r}: {error}") from None


def collect_tasks(
    source: str | Path,
    line: str | None = None,
    *,
    player: int | None = None,
    boards: Sequence[Any] | None = None,
    hands: int = 1_000,
    seed: int = 0,
    game: str | None = None,
) -> list[ExplanationTask]:
    """Collect the decisions to explain of an agent or of a solution's folder (small games: a task for each player).

    Agents: decisions at a line on `boards`, or without a line those in `hands` hands of self-play.
    """
    kind = describe(source).type
    if kind in ("agent", "blueprint"):
        return [_agent_task(str(source), line, boards, hands, seed, game)]
    if boards is not None:
        raise InputError(f"{source}: --board and --boards are for agents; the cards of a spot are part of its lines")
    if kind == "boards":
        return [ExplanationTask(_board_decisions(Path(source), line))]
    strategy = load_solved(source, game)
    if is_solution(strategy):
        return [_spot_task(strategy, line, player)]
    return _small_game_tasks(strategy, line, player)


def explain_hand(source: str | Path, line: str | None, hand: str, game: str | None = None) -> HandEvBreakdown:
    """Break down the EVs of all actions of one hand at a node of a spot."""
    if describe(source).type in ("agent", "blueprint"):
        raise InputError(f"{source}: --hand is for spots, where every action of a hand has an exact EV")
    solution = load_solved(source, game)
    if not is_solution(solution):
        raise InputError(f"{source}: contains {solution.tree.name}; --hand is for spots")
    return break_down_hand_ev(solution["" if line in (None, ROOT) else str(line)], hand)


def _spot_task(solution: Solution, line: str | None, player: int | None) -> ExplanationTask:
    if player is not None:
        raise InputError(f"--player {player}: in a spot the line determines who acts")
    if line is not None and has_wildcard(line):
        return ExplanationTask(spot_decisions.card_decisions(solution, line), large=True)
    node = solution["" if line in (None, ROOT) else str(line)]
    decisions = spot_decisions.spot_decisions(node)
    return ExplanationTask(decisions, spot_decisions.node_exploitability_cost(node, decisions), quick=False)


def _small_game_tasks(strategy: Strategy, line: str | None, player: int | None) -> list[ExplanationTask]:
    tree = strategy.tree
    at = "" if line == ROOT else line
    players = list(range(tree.players)) if player is None else [player]
    if at is not None and player is None and hasattr(tree, "node"):
        players = [int(tree.nodes.actor[tree.node(at)])]
        if players[0] < 0:
            raise InputError(f"{tree.name}: no player acts at {line!r}, so there is nothing to explain")
    tasks = []
    for who in players:
        decisions = small_game_decisions.small_game_decisions(strategy, who, at)
        cost = small_game_decisions.exploitability_cost(strategy, decisions, who) if tree.players == 2 else None
        tasks.append(ExplanationTask(decisions, cost))
    return tasks


def _agent_task(
    name: str, line: str | None, boards: Sequence[Any] | None, hands: int, seed: int, game: str | None
) -> ExplanationTask:
    agent, rules = load_policy(name, game, seed)
    if line is None:
        if boards is not None:
            raise InputError(f"agent {short_repr(name)}: --board and --boards need a LINE; root is the first decision")
        decisions = agent_decisions.self_play_decisions(agent, rules, hands, seed)  # type: ignore[arg-type]
        return ExplanationTask(decisions, large=True)
    cards = [()] if boards is None else boards
    decisions = agent_decisions.line_decisions(agent, rules, "" if line == ROOT else line, cards)
    return ExplanationTask(decisions, large=len(cards) > 1)


def _board_decisions(folder: Path, line: str | None) -> DecisionTable:
    """Read the decisions on many boards from the folder of `riverboat solve --boards --out`."""
    path = folder / BOARDS_FILE
    rows: list[BoardRow] = []
    menu: list[RuleAction] = []
    for number, text in enumerate(read_text(path, "boards").splitlines(), 1):
        try:
            row = FileEntries(f"{path}, line {number}", json.loads(text))
        except ValueError:
            continue  # torn line: --resume solves that board again
        entry = row.table("node") if "node" in row else row
        solved_line = entry.text("line") if "node" in row else ""
        if line is not None and solved_line != ("" if line == ROOT else line):
            raise InputError(f"{folder}: boards were solved at {solved_line or ROOT!r}, not at {line!r}")
        frequencies = {str(k): float(v) for k, v in dict(entry["frequencies"]).items()}
        if solved_line and "player" not in entry:
            raise InputError(
                f"{folder}: written by an earlier release, without the player who acts at {solved_line!r}: solve the "
                f"boards again"
            )
        menu = [_parse_move(label, float(entry["pot"])) for label in frequencies]
        player = entry.text("player") if solved_line else "oop"
        rows.append(BoardRow(row.text("board"), float(row["weight"]), frequencies, float(entry[f"equity_{player}"])))
    return board_decisions(rows, menu, f"{folder}: {len(rows)} boards")


def _parse_move(label: str, pot: float) -> RuleAction:
    """Parse an action label of a spot; sizes in chips become shares of the pot, and raises are totals."""
    if label in spot_decisions.PASSIVE_MOVES:
        return spot_decisions.PASSIVE_MOVES[label]
    return RuleAction(RAISE, inf if label == "a" else round(float(label[1:]) / pot, 4))
