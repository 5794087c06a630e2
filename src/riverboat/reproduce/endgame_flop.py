"""Endgames of flop hold'em solved by every method from the strategy of an abstraction, as in table 1 of the paper.

The base is the solution of the game with its flop hands in buckets; every endgame begins after the betting before the flop
and before the flop is dealt, and is solved with all hands. Exploitability is that of the whole strategy, exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riverboat.abstraction.last_street import named_cards
from riverboat.endgame.flop_refine import METHODS, refine_flop
from riverboat.endgame.flop_values import Round
from riverboat.games.holdem import Holdem
from riverboat.games.registry import make
from riverboat.reproduce.framework import Curve, Report
from riverboat.reproduce.rows import Row, finding, new, theorem
from riverboat.solving.boards import BoardCFR, quality_of
from riverboat.trees.boards import BoardTree
from riverboat.walks.board_walk import BoardWalker

BASE = "base"
ORDER = ("resolve", "maxmargin", "reach", "reach_split", "reach_plain", "gifts_split", "gifts_whole")
ROUNDING = 1e-5


@dataclass(frozen=True)
class Size:
    """How large an experiment is."""

    game: str
    buckets: int
    base: int  # iterations of the base
    iterations: int  # of each endgame
    threads: int = 1


@dataclass(frozen=True)
class Measured:
    """One strategy for the whole game."""

    best: tuple[float, ...]  # what the best responses of both players earn, in mbb/g
    allowance: tuple[float, float] = (0.0, 0.0)  # by which each player's opponent may gain at most
    margin: float = float("nan")

    @property
    def exploitability(self) -> float:
        """Half of what the best responses earn together."""
        return sum(self.best) / 2


def measure(size: Size, *, buckets: bool = True) -> dict[str, Measured]:
    """Solve the base, with buckets or with all hands, refine its endgames by every method, and measure all of them."""
    game = make(size.game)
    assert isinstance(game, Holdem)
    tree = BoardTree(game)
    cards = named_cards(f"flops:{size.buckets}", game.deck, tuple(game.deals)) if buckets else None
    solver = BoardCFR(tree, dtype="float32", threads=size.threads, cards=cards)
    solver.step(size.base)
    base = Round(tree, np.array(solver.average().table), threads=size.threads)
    del solver
    measured = {BASE: Measured(quality_of(base.walker).best)}
    for name in ("unsafe", *(ORDER if buckets else ("resolve", "maxmargin"))):
        refined = refine_flop(base, name, iterations=size.iterations, dtype="float32", threads=size.threads)
        best = quality_of(BoardWalker.reader(tree, refined.table, size.threads)).best
        measured[name] = Measured(best, (refined.allowance(0), refined.allowance(1)), refined.least_margin)
    return measured


def beyond(base: Measured, after: Measured) -> float:
    """By how much a best response gains more than the gadgets' own exploitability lets it. At most zero for safe methods."""
    return max(after.best[1 - p] - base.best[1 - p] - after.allowance[p] for p in (0, 1))


def rows(measured: dict[str, Measured], paper: dict[str, float], title: str) -> list[Row]:
    """Every method's exploitability, the paper's ratios beside ours, and what the theorems demand."""
    base, out = measured[BASE], [new(f"{title}: base", measured[BASE].exploitability, note=_paper(paper, BASE))]
    for name, after in measured.items():
        if name == BASE:
            continue
        method = METHODS[name]
        notes = [_paper(paper, name)]
        if method.gadget:
            notes.append(f"gadgets' own {sum(after.allowance) / 2:.3g}, least margin {after.margin:.3g}")
        out.append(new(f"{title}: {method.title}", after.exploitability, note="; ".join(n for n in notes if n)))
    for name, after in measured.items():
        if name != BASE and METHODS[name].safe:
            demand = f"{title}: {METHODS[name].title}, gain beyond the gadgets' own"
            out.append(theorem(demand, 0.0, beyond(base, after), "<=", rounding=ROUNDING))
    return out


def _paper(paper: dict[str, float], name: str) -> str:
    """The first version prints a tenth of what the later one has for the same experiments."""
    return f"paper {paper[name]:g}, in the later version's unit {10 * paper[name]:g}" if name in paper else ""


def ratios(measured: dict[str, Measured], paper: dict[str, float], title: str) -> list[Row]:
    """One method over another, as the paper has it and as we have it; orders that the paper shows and that must hold."""
    out = []
    for name, over in (("unsafe", BASE), ("resolve", BASE), ("maxmargin", "resolve"), ("reach", "maxmargin")):
        ours = measured[name].exploitability / measured[over].exploitability
        theirs = paper[name] / paper[over]
        words = METHODS[name].title, "base" if over == BASE else METHODS[over].title
        label, note = f"{title}: {words[0]} / {words[1]}", f"paper {theirs:.3g}"
        if name in ("resolve", "maxmargin"):
            out.append(finding(label, 1.0, ours, "<=", note=note))
        else:
            out.append(
                new(
                    label, ours, note=f"{note}: {'the same side of 1' if (ours < 1) == (theirs < 1) else 'not so here'}"
                )
            )
    return out


def report(small: Size, full: Size, use_full: bool, paper: dict[str, float], chosen: dict[str, int]) -> Report:
    """The table at one of two sizes."""
    size = full if use_full else small
    if chosen:
        spec = size.game.partition(",")[0]
        ranks, suits = chosen.get("ranks", 13 if use_full else 5), chosen.get("suits", 4)
        size = Size(
            f"{spec},ranks={ranks},suits={suits}",
            chosen.get("buckets", size.buckets),
            chosen.get("base", size.base),
            chosen.get("iterations", size.iterations),
            chosen.get("threads", size.threads),
        )
    coarse, fine = measure(size), measure(size, buckets=False)
    buckets = f"{size.buckets:,} buckets"
    listed = rows(coarse, paper, buckets) + ratios(coarse, paper, buckets)
    listed += rows(fine, {}, "all hands")
    worse = fine["unsafe"].exploitability / fine[BASE].exploitability
    title = "all hands: unsafe / base, where the base is nearly an equilibrium"
    listed.append(
        finding(title, 1.0, worse, ">=", note="the paper's large game has 9.58: unsafe can be worse than the base")
    )
    notes = (
        f"{size.game}: {size.base} iterations for the base, {size.iterations} for each endgame. "
        "mbb/g, exact in the whole game.",
        "The paper gives counts of its games and no menus; its figures in mbb/h are a tenth of those of the later version "
        "where the experiment is the same. Orders and ratios are compared, not digits.",
        "Reach-maxmargin in the paper's own form has its margin at the opponent's first decision and everything the opponent "
        "gave up since then in it; a move off the path counts as the least that the opponent can be held to there. With "
        "whole gifts it is proved for one endgame; all of them together may spend a gift twice, split they cannot.",
        "Gadgets' own: the most that their solutions' exploitability lets best responses gain, both players' mean.",
    )
    names = [METHODS[name].title if name != BASE else "base" for name in coarse]
    curve = Curve(buckets, tuple(map(float, range(len(names)))), tuple(f.exploitability for f in coarse.values()))
    return Report(tuple(listed), (*notes, f"Curve: {', '.join(names)}."), (curve,))
