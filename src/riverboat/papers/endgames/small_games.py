"""Endgame solving in small games (Brown & Sandholm 2017): Coin Toss, Leduc's second round, and safety bounds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.abstraction.bucketed_game import BucketedGame
from riverboat.api.refine import refine
from riverboat.games.registry import game_from_spec
from riverboat.games.small.toy_games import CoinToss
from riverboat.papers.framework import Curve, ExperimentReport, format_notes, load_figures
from riverboat.papers.rows import ComparisonRow, ExplainedDifference, new_row, printed_row, theorem_row
from riverboat.solvers.exact.lp import solve_lp, undominated
from riverboat.solvers.tabular.best_response import best_response, quality
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.lifting import lift_cards
from riverboat.strategies.tabular import Strategy
from riverboat.subgames.resolving import lines_after_chance, ranges_at
from riverboat.subgames.values import subgame_root_values
from riverboat.trees.compile import compile_game
from riverboat.trees.gadgets import find_subgame
from riverboat.trees.public import PublicTree

TITLES = {
    "unsafe": "unsafe",
    "resolve": "re-solve",
    "maxmargin": "maxmargin",
    "reach_maxmargin": "reach-maxmargin",
    "reach_maxmargin_split": "reach-maxmargin, gifts split",
    "optimal": "best possible",
}
METHODS = tuple(TITLES)
SAFE_METHODS, REACH_METHODS = METHODS[1:-1], METHODS[3:-1]
LP_TOLERANCE = 1e-6  # sum of the numerical errors of many programs
SWAPPED_PROBABILITY = ExplainedDifference(**load_figures("coin-toss", "explained")["maxmargin"])

# Figure 1 of the paper: player 0 sees the coin, player 1 guesses.
COIN_TOSS_BASE = {
    "heads:": {"left": 0.25, "right": 0.75},
    "tails:": {"left": 0.5, "right": 0.5},
    "guesser:right": {"heads": 0.5, "tails": 0.25, "forfeit": 0.25},
}


def coin_toss_rows() -> list[ComparisonRow]:
    """Solve the endgame after Right by every method; the paper's player 2 is our player 1."""
    tree = PublicTree(CoinToss())
    base = Strategy.from_mapping(tree, COIN_TOSS_BASE)
    best = quality(base).best[0]
    rows = [printed_row("Coin Toss, base: best response of player 0", 0.5, best)]
    refined = {method: refine(base, "right", method, players=(1,)) for method in METHODS}
    value = refined["maxmargin"].endgames[0].values
    for hand, paper in (("heads", 0.0), ("tails", 0.5)):
        rows.append(printed_row(f"CBV of Right, {hand}", paper, value[hand]))
    conceded = {"unsafe": 0.75, "maxmargin": 0.375, "optimal": 0.0} | dict.fromkeys(REACH_METHODS, 0.25)
    heads = {"unsafe": 1.0, "maxmargin": 0.375, "optimal": 0.25} | dict.fromkeys(REACH_METHODS, 0.5)
    for method, solved in refined.items():
        title = TITLES[method]
        guess = solved.strategy["guesser:right"]["heads"]
        best_response_value = quality(solved.strategy).best[0]
        if method == "resolve":
            note = "many solutions: anything from 0.25 to 0.5 is one"
            rows.append(new_row(f"{title}: best response of player 0", best_response_value, note=note))
            least_margin = min(solved.endgames[0].margins.values())
            rows.append(theorem_row(f"{title}: least margin", 0.0, least_margin, ">="))
            chosen = refine(base, "right", method, players=(1,), solver=lambda tree: undominated(tree).strategy)
            note = "of the many, one that no other dominates: it never forfeits"
            best_response_value = quality(chosen.strategy).best[0]
            rows.append(new_row(f"{title}, undominated: best response of player 0", best_response_value, note=note))
            continue
        why = SWAPPED_PROBABILITY if method == "maxmargin" else None
        rows.append(printed_row(f"{title}: guess heads", heads[method], guess, explained=why))
        if why is not None:
            rows.append(printed_row(f"{title}: guess heads, later paper", 0.625, guess))
        rows.append(printed_row(f"{title}: best response of player 0", conceded[method], best_response_value))
    for method, margin in (("maxmargin", 0.25), ("reach_maxmargin", 0.5)):
        endgame = refined[method].endgames[0]
        for hand in ("heads", "tails"):
            ours = endgame.margins[hand] + endgame.gifts[hand]
            rows.append(printed_row(f"{TITLES[method]}: margin, {hand}", margin, ours))
    return rows


# --- Leduc's second round ---


def base_strategies(tree: PublicTree) -> dict[str, Strategy]:
    """Return base strategies by name: a short run, an abstraction, an equilibrium, and a perturbed equilibrium."""
    short = CFR(tree, "dcfr")
    short.step(5)
    exact = solve_lp(tree).strategy
    trembling = 0.9 * exact.probabilities + 0.1 * Strategy.uniform(tree).probabilities
    blind = BucketedGame(tree.game, lambda player, hand, board: hand[0], label="blind")  # only the rank of the hand
    return {
        "5 iterations of DCFR": short.average(),
        "abstraction blind to the public card": lift_cards(solve_lp(compile_game(blind)).strategy, blind, tree),
        "equilibrium": exact,
        "equilibrium with 10 % uniform": Strategy(tree, trembling),
    }


def second_round_rows(spec: str) -> tuple[list[ComparisonRow], list[Curve]]:
    """Compare the exploitability of methods that refine all second-round endgames independently, from each base."""
    tree = PublicTree(game_from_spec(spec))
    lines = lines_after_chance(tree)
    rows, curves = [], []
    for title, base in base_strategies(tree).items():
        strategies = {"base": base} | {TITLES[method]: refine(base, lines, method).strategy for method in METHODS}
        unsplit = refine(base, lines, "reach_maxmargin_whole").strategy
        strategies["reach-maxmargin, gifts not split"] = unsplit
        exploitability = {name: quality(strategy).exploitability for name, strategy in strategies.items()}
        for name, value in exploitability.items():
            note = "above the base" if value > exploitability["base"] + LP_TOLERANCE else ""
            rows.append(new_row(f"{spec}, {title}: {name}", value, note=note))
        largest_rise = max(exploitability[TITLES[method]] - exploitability["base"] for method in SAFE_METHODS)
        name = f"{spec}, {title}: most that a safe method rises"
        rows.append(theorem_row(name, 0.0, largest_rise, "<=", rounding=LP_TOLERANCE))
        curves.append(Curve(f"{spec}, {title}", range(len(exploitability)), exploitability.values()))
    return rows, curves


def random_base_rows(spec: str, count: int, seed: int) -> list[ComparisonRow]:
    """Measure, for each method, the largest rise of a best-response value over `count` random base strategies."""
    tree = PublicTree(game_from_spec(spec))
    lines, random = lines_after_chance(tree), np.random.default_rng(seed)
    worst = dict.fromkeys(("unsafe", *SAFE_METHODS), -np.inf)
    for _ in range(count):
        weights = random.random(tree.table_size) ** random.choice([0.5, 2.0, 8.0])
        base = Strategy.from_sums(tree, weights * (random.random(tree.table_size) > random.choice([0.0, 0.4])))
        before = np.array(quality(base).best)
        for method in worst:
            change = np.array(quality(refine(base, lines, method).strategy).best) - before
            worst[method] = max(worst[method], float(change.max()))
    name = f"{spec}, {count} random bases: {{}}, most that a best response gains"
    return [new_row(name.format(TITLES["unsafe"]), worst.pop("unsafe"))] + [
        theorem_row(name.format(TITLES[method]), 0.0, change, "<=", rounding=LP_TOLERANCE)
        for method, change in worst.items()
    ]


def run_coin_toss(full: bool, seed: int) -> ExperimentReport:
    """Compare methods of endgame solving in Coin Toss, and in Leduc's second round from fixed and random bases.

    With `full` also in larger and no-limit Leduc, and from more random bases.
    """
    rows = coin_toss_rows()
    curves: list[Curve] = []
    for spec in ("leduc", "leduc:ranks=5,suits=2", "leduc:stack=6") if full else ("leduc",):
        spec_rows, spec_curves = second_round_rows(spec)
        rows, curves = rows + spec_rows, curves + spec_curves
    rows += random_base_rows("leduc", 300 if full else 3, seed)
    return ExperimentReport(rows, format_notes("coin-toss"), curves)


# --- Safety bound (theorem 2) on Leduc's second round ---


class SafetyBound(NamedTuple):
    """The safety bound of one player's strategy, refined in all endgames."""

    before: float  # the opponent's best-response value against the base strategy
    after: float  # the opponent's best-response value against the refined strategy
    guaranteed_reduction: float  # largest guaranteed reduction of an information set that the new best response reaches
    binding_infoset: str  # information set with this reduction

    @property
    def bound(self) -> float:
        """Upper bound of the opponent's best-response value."""
        return self.before - self.guaranteed_reduction


def compute_safety_bound(base: Strategy, lines: list[str], method: str, player: int) -> SafetyBound:
    """Refine one player's strategy in all endgames, and compute theorem 2's bound of the opponent's best response."""
    tree, opponent = base.tree, 1 - player
    assert isinstance(tree, PublicTree)
    refined = refine(base, lines, method, players=(player,))
    before = best_response(base, opponent)[0]
    after, response = best_response(refined.strategy, opponent)
    root_values = subgame_root_values(base, player, [find_subgame(tree, line) for line in lines])
    best, binding = 0.0, "no endgame"
    for line, entry, endgame in zip(lines, root_values, refined.endgames, strict=True):
        reached = ranges_at(response, line)[opponent]
        for h, hand in enumerate(tree.hands[opponent]):
            if reached[h] > 0 and hand in endgame.margins:
                weight = tree.deal.weights[opponent][h] * entry.weights[h] / tree.total
                gift = (
                    endgame.gifts[hand] if method == "reach_maxmargin_split" else 0.0
                )  # whole gifts only loosen margins
                reduction = weight * (endgame.margins[hand] + gift)
                if reduction > best:
                    best, binding = float(reduction), f"{hand} at {line}"
    return SafetyBound(before, after, best, binding)


def safety_bound_rows(spec: str) -> list[ComparisonRow]:
    """Check the safety bound of a game for every base strategy, every safe method, and both players."""
    tree = PublicTree(game_from_spec(spec))
    lines, rows = lines_after_chance(tree), []
    for title, base in base_strategies(tree).items():
        for method in SAFE_METHODS:
            for player in (0, 1):
                bound = compute_safety_bound(base, lines, method, player)
                name = f"{title}: {TITLES[method]}, player {player} concedes"
                note = f"{bound.before:.4f} before, at least {bound.guaranteed_reduction:.4f} less by {bound.binding_infoset}"
                rows.append(theorem_row(name, bound.bound, bound.after, "<=", rounding=LP_TOLERANCE, note=note))
    return rows


def run_bound(full: bool, seed: int) -> ExperimentReport:
    """Check the safety bound (theorem 2) in Leduc; with `full`, also in Leduc with five ranks."""
    rows = safety_bound_rows("leduc") + (safety_bound_rows("leduc:ranks=5,suits=2") if full else [])
    return ExperimentReport(rows, format_notes("endgame-bound"))
