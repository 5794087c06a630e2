"""Endgames of flop hold'em solved by every method from the strategy of an abstraction, as in table 1 of the paper.

The base is the solution of the game with its flop hands in buckets; every endgame begins after the betting before the flop
and before the flop is dealt, and is solved with all hands. Exploitability is that of the whole strategy, exact.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from riverboat.abstraction.small.last_street import named_cards
from riverboat.engines.cpu.board_engine import BoardWalker
from riverboat.engines.devices import AUTO, CPU
from riverboat.games.boards.full_holdem import Holdem
from riverboat.games.registry import make
from riverboat.papers.framework import Curve, Report
from riverboat.papers.pieces import Pieces
from riverboat.papers.rows import Explained, Row, finding, new, theorem
from riverboat.solvers.boards.cfr import BoardCFR, quality_of
from riverboat.solvers.schedules import dcfr
from riverboat.subgames.flop.refinement import METHODS, refine_flop
from riverboat.subgames.flop.values import Round
from riverboat.trees.boards import BoardTree

BASE = "base"
ORDER = ("resolve", "maxmargin", "reach", "reach_split", "reach_plain", "gifts_split", "gifts_whole")
FINE = (BASE, "unsafe", "resolve", "maxmargin")  # of a base with all hands
# What gadgets lack after 100 iterations is half of what other schedules leave.
SCHEDULE = dcfr(alpha=1.1, beta=0.25, gamma=4.0, stakes=0.8)
VERSION = 1  # of what is kept
ROUNDING = 1e-5
OPTIONS = ("ranks", "suits", "buckets", "base", "iterations", "fine", "threads", "cuda", "part")


@dataclass(frozen=True)
class Size:
    """How large an experiment is."""

    game: str
    buckets: int
    base: int  # iterations of the base
    iterations: int  # of each endgame
    threads: int = 1
    device: str = CPU  # where endgames are solved: bases with buckets need processors
    fine: int = 0  # iterations of the base with all hands, which should be nearly an equilibrium; 0: as the other

    @property
    def recipe(self) -> str:
        """What figures depend on."""
        return f"{VERSION} {self.game} {self.buckets} {self.base} {self.iterations} {SCHEDULE}"


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


class Table:
    """One base, with buckets or with all hands, and its endgames refined by every method."""

    def __init__(self, size: Size, *, buckets: bool = True) -> None:
        self.size, self.buckets = size, buckets
        self.iterations = size.base if buckets else size.fine or size.base

    @cached_property
    def base(self) -> Round:
        """The whole game's strategy, solved when it is first needed."""
        size, game = self.size, make(self.size.game)
        assert isinstance(game, Holdem)
        tree = BoardTree(game)
        cards = named_cards(f"flops:{size.buckets}", game.deck, tuple(game.deals)) if self.buckets else None
        device = CPU if self.buckets else size.device
        solver = BoardCFR(tree, SCHEDULE, dtype="float32", threads=size.threads, cards=cards, device=device)
        solver.step(self.iterations)
        return Round(tree, np.array(solver.averages), threads=size.threads)

    def measure(self, name: str) -> Measured:
        """The base, or the whole strategy after a method."""
        base, size = self.base, self.size
        if name == BASE:
            return Measured(quality_of(base.walker).best)
        refined = refine_flop(
            base, name, iterations=size.iterations, schedule=SCHEDULE, dtype="float32", threads=size.threads,
            device=size.device,
        )  # fmt: skip
        best = quality_of(BoardWalker.reader(base.tree, refined.table, size.threads)).best
        return Measured(best, (refined.allowance(0), refined.allowance(1)), refined.least_margin)

    def measured(self, names: Iterable[str], pieces: Pieces) -> dict[str, Measured]:
        """Those of some methods that are there, or can be made."""
        kind, out = "buckets" if self.buckets else f"all-{self.iterations}", {}
        for name in names:
            figures = pieces.get(f"{kind}-{name}", lambda name=name: vars(self.measure(name)))  # type: ignore[misc]
            if figures is not None:
                best, (first, second) = figures["best"], figures["allowance"]
                out[name] = Measured(tuple(map(float, best)), (float(first), float(second)), float(figures["margin"]))
        return out


def beyond(base: Measured, after: Measured) -> float:
    """By how much a best response gains more than the gadgets' own exploitability lets it. At most zero for safe methods."""
    return max(after.best[1 - p] - base.best[1 - p] - after.allowance[p] for p in (0, 1))


def rows(measured: dict[str, Measured], paper: dict[str, float], title: str) -> list[Row]:
    """Every method's exploitability, the paper's ratios beside ours, and what the theorems demand."""
    out = []
    for name, after in measured.items():
        notes = [_paper(paper, name)]
        if name != BASE and METHODS[name].gadget:
            notes.append(f"gadgets' own {sum(after.allowance) / 2:.3g}, least margin {after.margin:.3g}")
        out.append(new(f"{title}: {_title(name)}", after.exploitability, note="; ".join(n for n in notes if n)))
    for name, after in measured.items():
        if BASE in measured and name != BASE and METHODS[name].safe:
            demand = f"{title}: {_title(name)}, gain beyond the gadgets' own"
            out.append(theorem(demand, 0.0, beyond(measured[BASE], after), "<=", rounding=ROUNDING))
    return out


def _title(name: str) -> str:
    return name if name == BASE else METHODS[name].title


def _paper(paper: dict[str, float], name: str) -> str:
    """The first version prints a tenth of what the later one has for the same experiments."""
    return f"paper {paper[name]:g}, in the later version's unit {10 * paper[name]:g}" if name in paper else ""


def ratios(measured: dict[str, Measured], paper: dict[str, float], title: str) -> list[Row]:
    """One method over another, as the paper has it and as we have it; orders that the paper shows and that must hold."""
    out = []
    for name, over in (("unsafe", BASE), ("resolve", BASE), ("maxmargin", "resolve"), ("reach", "maxmargin")):
        if name not in measured or over not in measured:
            continue
        ours = measured[name].exploitability / measured[over].exploitability
        theirs = paper[name] / paper[over]
        label, note = f"{title}: {_title(name)} / {_title(over)}", f"paper {theirs:.3g}"
        if name in ("resolve", "maxmargin"):
            out.append(finding(label, 1.0, ours, "<=", note=note))
        else:
            same = "the same side of 1" if (ours < 1) == (theirs < 1) else "not so here"
            out.append(new(label, ours, note=f"{note}: {same}"))
    return out


def report(
    small: Size,
    full: Size,
    use_full: bool,
    paper: dict[str, float],
    chosen: dict[str, int],
    explained: Explained | None = None,
) -> Report:
    """The table at one of two sizes; at full size its pieces are kept, and `explained` says why unsafe was not worse."""
    size = _chosen(full if use_full else small, chosen)
    name = f"endgame-{size.game.partition(':')[2].partition(',')[0]}"
    pieces = Pieces(name, size.recipe, keep=use_full, part=chosen.get("part", 0))
    coarse = Table(size).measured((BASE, "unsafe", *ORDER), pieces)
    fine = Table(size, buckets=False).measured(FINE, pieces)
    buckets = f"{size.buckets:,} buckets"
    listed = rows(coarse, paper, buckets) + ratios(coarse, paper, buckets) + rows(fine, {}, "all hands")
    if {BASE, "unsafe"} <= set(fine):
        worse = fine["unsafe"].exploitability / fine[BASE].exploitability
        title = "all hands: unsafe / base, where the base is nearly an equilibrium"
        note = "the paper's large game has 9.58: unsafe can be worse than the base"
        listed.append(finding(title, 1.0, worse, ">=", explained=explained if use_full else None, note=note))
    notes = (
        f"{size.game}: {size.base} iterations for the base ({size.fine or size.base} with all hands), {size.iterations} for "
        f"each endgame, {SCHEDULE}. mbb/g, exact in the whole game. {pieces.note}",
        "The paper gives counts of its games and no menus; its figures in mbb/h are a tenth of those of the later version "
        "where the experiment is the same. Orders and ratios are compared, not digits.",
        "Reach-maxmargin in the paper's own form has its margin at the opponent's first decision and everything the opponent "
        "gave up since then in it; a move off the path counts as the least that the opponent can be held to there. With "
        "whole gifts it is proved for one endgame; all of them together may spend a gift twice, split they cannot.",
        "Gadgets' own: the most that their solutions' exploitability lets best responses gain, both players' mean.",
        f"Curve: {', '.join(map(_title, coarse))}.",
    )
    curve = Curve(buckets, tuple(map(float, range(len(coarse)))), tuple(f.exploitability for f in coarse.values()))
    return Report(tuple(listed), notes, (curve,))


def _chosen(size: Size, chosen: dict[str, int]) -> Size:
    """A size with what was asked for."""
    spec, *given = size.game.split(",")
    usual = {key: int(value) for key, value in (word.split("=") for word in given)}
    deck = ",".join(f"{key}={chosen.get(key, usual[key])}" for key in ("ranks", "suits"))
    numbers = {key: chosen[key] for key in ("buckets", "base", "iterations", "fine", "threads") if key in chosen}
    return replace(size, game=f"{spec},{deck}", device=AUTO if chosen.get("cuda") else size.device, **numbers)
