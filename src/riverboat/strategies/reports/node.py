"""What a node of a solution has to tell: a summary, one hand, tables of hands, its ranges and a grid.

Figures are those of the node's arrays (`riverboat.strategies.solution.Spotlight`). A mean over hands takes each hand as
often as it is dealt: its reach times the weight of the opponent's hands that leave it possible. EQR, the equity that is
realised, is EV / (equity × pot at the node).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from riverboat.cards.deck import HAND_CARDS, HANDS, hand_index
from riverboat.cards.grid import CLASS_NAMES, CLASS_OF_HAND, Grid
from riverboat.cards.hand_classes import DRAWS, MADE, classify, classify_all
from riverboat.cards.notation import Cards, as_hand, show_cards, show_hand
from riverboat.cards.ranges import Range
from riverboat.core.errors import InputError, unknown
from riverboat.core.tables import CHIPS, COUNT, SHARE, Cell, Column, ReportTable, known, show
from riverboat.games.base import Array
from riverboat.games.boards.board_game import BoardGame
from riverboat.games.spots.spot import PLAYERS, Spot

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

    from riverboat.strategies.solution import Spotlight

STREETS = {0: "preflop", 3: "flop", 4: "turn", 5: "river"}
BY = ("combos", "classes", "made", "draws", "groups", "equity")
BUCKETS = 10  # of equity
ALL = "all"  # the last row of a table with means
LEAST_EQUITY = 5e-4  # less is shown as 0.0 %: there is nothing to realise, and EQR is undefined
DIGITS = 3  # of the weights of a range that is written


# --- what everything below is made of ---------------------------------------------------------


class Figures(NamedTuple):
    """Of one player at a node, for all 1,326 hands; NaN where a hand cannot be there. float64 [1326] each"""

    reach: Array
    deals: Array  # how often it is dealt: reach, times what the opponent may hold beside it
    ev: Array
    equity: Array
    eqr: Array
    here: Array  # bool: in the starting range, and left by the board


def figures(node: Spotlight, player: int) -> Figures:
    """The arrays of a player; made once for each node."""
    kept: dict[int, Figures] = node.__dict__.setdefault("_figures", {})
    if player not in kept:
        kept[player] = _figures(node, player)
    return kept[player]


def _figures(node: Spotlight, player: int) -> Figures:
    reach, ev = node.reach[player], node.ev(player)
    here = (node.tree.game.weights[player] > 0) & _live(node)
    equity = node.equity[player] if _has_equity(node) else np.full(HANDS, np.nan)
    equity = np.where(here, equity, np.nan)
    return Figures(reach, reach * node.compatible(player), ev, equity, _eqr(ev, equity, pot(node)), here)


def _live(node: Spotlight) -> Array:
    return np.logical_not(np.isin(HAND_CARDS, node.board).any(axis=1))


def _has_equity(node: Spotlight) -> bool:
    game = node.tree.game
    return len(game.board) + sum(game.deals) == 5


def _eqr(ev: Array, equity: Array, chips: float) -> Array:
    """Equity realisation: EV over the share of the pot that the equity is; NaN where there is no equity to realise."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(equity >= LEAST_EQUITY, ev / (equity * chips), np.nan)


def pot(node: Spotlight) -> float:
    """Chips in the middle there, with a bet that is not called yet."""
    return float(getattr(node.tree.game, "pot", 0) + node.tree.betting.spent[node.place].sum())


def stacks(node: Spotlight) -> tuple[float, float] | None:
    """Chips that the players have behind there, where the game knows."""
    game, spent = node.tree.game, node.tree.betting.spent[node.place]
    return (float(game.behind[0] - spent[0]), float(game.behind[1] - spent[1])) if isinstance(game, Spot) else None


def street(node: Spotlight) -> str:
    """The name of the street."""
    return STREETS.get(len(node.board), f"{len(node.board)} cards")


def names(game: BoardGame) -> tuple[str, str]:
    """Of the players: oop and ip in a spot. From the deal on that changes with the street, so there they have seats."""
    return PLAYERS if isinstance(game, Spot) else ("blind", "dealer")


def player_of(node: Spotlight, player: int | str | None) -> int:
    """A player by number or name; by default the one who acts, else player 0."""
    if player is None:
        return max(node.player, 0)
    if player in (0, 1):
        return int(player)
    known_names = names(node.tree.game)
    if player not in known_names:
        raise unknown("player", str(player), known_names)
    return known_names.index(str(player))


def _mean(values: Array, weight: Array) -> float:
    """The mean over the hands of some weight where a value is known; NaN where there are none."""
    held = (weight > 0) & ~np.isnan(values)
    total = weight[held].sum()
    return float((values[held] * weight[held]).sum() / total) if total > 0 else float("nan")


def mean_eqr(ev: float, equity: float, chips: float) -> float | None:
    """Equity realisation of means; None where it is undefined."""
    return known(float(_eqr(np.array(ev), np.array(equity), chips)))


def title(node: Spotlight) -> str:
    """`b94 on QsJh2h`."""
    return f"{node.line or 'root'} on {show_cards(node.board, ' ')}" if node.board else node.line or "root"


# --- the summary ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Summary:
    """A node in a few figures. Pairs are (oop, ip); shares are 0 to 1, EVs in chips."""

    line: str
    board: str
    street: str
    pot: float
    stacks: tuple[float, float] | None
    player: str | None  # who acts
    combos: tuple[float, float]
    ev: tuple[float | None, float | None]
    equity: tuple[float | None, float | None]
    eqr: tuple[float | None, float | None]
    actions: ReportTable  # one row for each: frequency, combos, EV and equity of the hands that take it
    names: tuple[str, str] = PLAYERS

    @property
    def frequencies(self) -> dict[str, float]:
        """How often each action is taken."""
        return {str(row["action"]): float(row["frequency"] or 0) for row in self.actions}

    def _headline(self) -> str:
        behind = "" if self.stacks is None else f", behind {self.stacks[0]:g} and {self.stacks[1]:g}"
        turn = f"{self.player} to act" if self.player else "nobody acts"
        where = f"on the {self.street} {self.board}" if self.board else self.street
        return f"{self.line or 'root'}: {turn} {where}, pot {self.pot:g}{behind}"

    def _sides(self) -> ReportTable:
        columns = Column("player"), *_FIGURES
        rows = zip(self.names, self.combos, self.ev, self.equity, self.eqr, strict=True)
        return ReportTable("", columns, tuple(rows))

    def __str__(self) -> str:
        return "\n".join([self._headline(), str(self._sides()), *([str(self.actions)] if len(self.actions) else [])])

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[RenderableType]:
        from rich.text import Text

        yield Text(self._headline(), style="bold")
        yield self._sides()
        if len(self.actions):
            yield Text("")
            yield self.actions

    def _repr_html_(self) -> str:
        actions = self.actions._repr_html_() if len(self.actions) else ""
        return f"<div><b>{escape(self._headline())}</b></div>{self._sides()._repr_html_()}{actions}"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        facts = {key: getattr(self, key) for key in ("line", "board", "street", "pot", "stacks", "player")}
        sides = {
            name: {key: getattr(self, key)[k] for key in ("combos", "ev", "equity", "eqr")}
            for k, name in enumerate(self.names)
        }
        return facts | sides | {"actions": list(self.actions)}


# Ranks say what a narrow terminal does without: frequencies and EV stay longest.
_FIGURES = (
    Column("combos", COUNT, rank=2), Column("ev", CHIPS, "EV"), Column("equity", SHARE, rank=1),
    Column("eqr", SHARE, "EQR", rank=3),
)  # fmt: skip


def summary(node: Spotlight) -> Summary:
    """Who acts, what is in the middle, and what both may expect."""
    both = [figures(node, p) for p in (0, 1)]
    chips = pot(node)
    ev = [_mean(f.ev, f.deals) for f in both]
    equity = [_mean(f.equity, f.deals) for f in both]
    realised = [mean_eqr(ev[p], equity[p], chips) for p in (0, 1)]
    return Summary(
        line=node.line,
        board=show_cards(node.board),
        street=street(node),
        pot=chips,
        stacks=stacks(node),
        player=names(node.tree.game)[node.player] if node.player >= 0 else None,
        combos=node.combos,
        ev=(known(ev[0]), known(ev[1])),
        equity=(known(equity[0]), known(equity[1])),
        eqr=(realised[0], realised[1]),
        actions=_actions(node, both[node.player], chips) if node.player >= 0 else ReportTable("", (), ()),
        names=names(node.tree.game),
    )


def _actions(node: Spotlight, mine: Figures, chips: float) -> ReportTable:
    rows = []
    for name, chance, worth in zip(node.actions, node.strategy, node.action_ev(), strict=True):
        chance = np.where(mine.here, chance, 0.0)
        taken = mine.deals * chance
        ev, equity = _mean(worth, taken), _mean(mine.equity, taken)
        frequency = _mean(chance, mine.deals)
        combos = float((mine.reach * chance).sum())
        rows.append((name, known(frequency), combos, known(ev), known(equity), mean_eqr(ev, equity, chips)))
    return ReportTable("", (Column("action"), Column("frequency", SHARE), *_FIGURES), tuple(rows))


# --- one hand ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class HandReport:
    """One hand at a node. Shares are 0 to 1, EVs in chips; None where the opponent cannot hold anything beside it."""

    hand: str
    player: str
    line: str
    board: str
    weight: float  # reach: how often it is held there
    frequencies: dict[str, float]  # empty where the player does not act
    ev: float | None
    action_ev: dict[str, float | None]
    equity: float | None
    eqr: float | None
    made: str  # "" before the flop
    draws: tuple[str, ...]

    def __str__(self) -> str:
        what = ", ".join([self.made, *self.draws]) if self.made else ""
        head = f"{self.hand} of {self.player} at {self.line or 'root'} on {self.board}" + (f": {what}" if what else "")
        shares = [("equity", self.equity), ("EQR", self.eqr)]
        facts = [f"weight {self.weight:.4g}", *([f"EV {show(self.ev, CHIPS)}"] if self.ev is not None else [])]
        facts += [f"{name} {show(value, SHARE)} %" for name, value in shares if value is not None]
        moves = [
            f"{name} {100 * f:.1f} % (EV {show(self.action_ev[name], CHIPS) or 'unknown'})"
            for name, f in self.frequencies.items()
        ]
        return "\n".join([head, "  ".join(facts), *(["  ".join(moves)] if moves else [])])

    def _repr_html_(self) -> str:
        return "<br>".join(escape(line) for line in str(self).splitlines())

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def hand(node: Spotlight, cards: Cards, player: int | str | None = None) -> HandReport:
    """What is known of one hand, such as `KsJs`."""
    who, (first, second) = player_of(node, player), as_hand(cards)
    number = hand_index(first, second)
    shown = show_hand(number)
    mine = figures(node, who)
    if not mine.here[number]:
        shared = [c for c in (first, second) if c in node.board]
        why = (
            f"{show_cards(shared)} is on the board {show_cards(node.board)}"
            if shared
            else f"it is not in the range of {names(node.tree.game)[who]}"
        )
        raise InputError(f"hand {shown} at {node.line!r}: {why}")
    acts = node.player == who
    named = classify((first, second), node.board, node.tree.game.deck) if node.board else None
    return HandReport(
        hand=shown,
        player=names(node.tree.game)[who],
        line=node.line,
        board=show_cards(node.board),
        weight=float(mine.reach[number]),
        frequencies=dict(zip(node.actions, node.strategy[:, number].tolist(), strict=True)) if acts else {},
        ev=known(mine.ev[number]),
        action_ev={a: known(v[number]) for a, v in zip(node.actions, node.action_ev(), strict=True)} if acts else {},
        equity=known(mine.equity[number]),
        eqr=known(mine.eqr[number]),
        made=named.made if named else "",
        draws=named.draws if named else (),
    )


def hands(node: Spotlight, text: str, player: int | str | None = None) -> ReportTable:
    """Those of some hands that can be there: a class such as `AK`, `AKs` or `QQ`, or any range. The last row, `all`, has
    their means.
    """
    who = player_of(node, player)
    mine = figures(node, who)
    chosen = np.flatnonzero((Range.parse(text).weights > 0) & mine.here)
    if not len(chosen):
        name = names(node.tree.game)[who]
        raise InputError(f"hands {text!r} at {node.line!r}: the range of {name} has none of them that the board leaves")
    table = _combos(node, who, mine, chosen)
    deals = np.where(np.isin(np.arange(HANDS), chosen), mine.deals, 0.0)
    ev, equity = _mean(mine.ev, deals), _mean(mine.equity, deals)
    means: dict[str, Cell] = {"hand": ALL, "combos": float(mine.reach[chosen].sum())}
    means |= {"ev": known(ev), "equity": known(equity), "eqr": mean_eqr(ev, equity, pot(node))}
    if node.player == who:
        for name, chance, worth in zip(node.actions, node.strategy, node.action_ev(), strict=True):
            means |= {name: known(_mean(chance, deals)), f"ev_{name}": known(_mean(worth, deals))}
    return replace(table, rows=(*table.rows, tuple(means.get(name) for name in table.names)))


# --- the range ------------------------------------------------------------------------------------------


def held(node: Spotlight, player: int | str | None = None) -> Range:
    """What a player holds there: each hand of the starting range as often as it is played so far."""
    return Range(np.minimum(node.reach[player_of(node, player)], 1.0))


def range_text(node: Spotlight, player: int | str | None = None, digits: int = DIGITS) -> str:
    """The same as text to paste elsewhere, weights to so many digits. Hands that the board blocks are written along with
    their class.
    """
    return held(node, player).text(node.board, digits)


# --- tables of hands --------------------------------------------------------------------------


def table(node: Spotlight, by: str | None = None, player: int | str | None = None) -> ReportTable:
    """Frequencies, EV, equity, EQR and combos: by `combos`, by the 169 `classes`, by `made` hand, by `draws`, by both
    of these (`groups`, the default on a board), or by `equity` in steps of 10 %. Draws may overlap.

    Rows without any weight are left out, except of combos: there every hand of the starting range that the board leaves
    has its row, and the EV of each action.
    """
    if by is None:
        by = "groups" if node.board else "classes"
    if by not in BY:
        raise unknown("table", by, BY)
    who = player_of(node, player)
    mine = figures(node, who)
    if by == "combos":
        return _combos(node, who, mine, np.flatnonzero(mine.here))
    if by == "classes":
        groups = [(name, np.equal(CLASS_OF_HAND, cell)) for cell, name in enumerate(CLASS_NAMES)]
        return _grouped(node, who, mine, "class", groups)
    if by == "equity":
        bucket = np.clip(np.nan_to_num(mine.equity, nan=-1.0) * BUCKETS, -1, BUCKETS - 1).astype(int)
        step = 100 // BUCKETS
        groups = [(f"{k * step}-{(k + 1) * step} %", bucket == k) for k in reversed(range(BUCKETS))]
        return _grouped(node, who, mine, "equity bucket", groups)
    made, draws = classify_all(node.board, node.tree.game.deck)
    groups = [] if by == "draws" else [(name, made == k) for k, name in enumerate(MADE)]
    if by != "made":
        groups += [(name, draws[:, k]) for k, name in enumerate(DRAWS)]
    return _grouped(node, who, mine, "made hand" if by == "made" else "draw" if by == "draws" else "group", groups)


def _head(node: Spotlight, who: int) -> str:
    return f"{title(node)}: {names(node.tree.game)[who]}"


def _grouped(node: Spotlight, who: int, mine: Figures, kind: str, groups: Sequence[tuple[str, Array]]) -> ReportTable:
    acts, chips = node.player == who, pot(node)
    moves = list(node.strategy) if acts else []
    members = np.array([mask for _, mask in groups], float).reshape(len(groups), HANDS)
    sums = members @ np.where(mine.here, mine.deals, 0.0)  # all groups at once
    means = [_group_means(members, mine, values) for values in (*moves, mine.ev, mine.equity)]
    combos = members @ mine.reach
    rows = []
    for k in np.flatnonzero(sums > 0).tolist():
        *shares, ev, equity = (float(mean[k]) for mean in means)
        figures_of = float(combos[k]), known(ev), known(equity), mean_eqr(ev, equity, chips)
        rows.append((groups[k][0], *map(known, shares), *figures_of))
    frequencies = [Column(name, SHARE) for name in (node.actions if acts else ())]
    return ReportTable(_head(node, who), (Column(kind), *frequencies, *_FIGURES), tuple(rows))


def _group_means(members: Array, mine: Figures, values: Array) -> Array:
    """`_mean` over the hands of each group. float64 [groups]"""
    held = np.where(mine.here & ~np.isnan(values), mine.deals, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        means: Array = members @ (np.nan_to_num(values) * held) / (members @ held)
    return means


def _combos(node: Spotlight, who: int, mine: Figures, hands: Array) -> ReportTable:
    acts = node.player == who
    names = node.actions if acts else ()
    made, draws = classify_all(node.board, node.tree.game.deck) if node.board else (None, None)
    chances, worths = (node.strategy, node.action_ev()) if acts else (np.zeros((0, HANDS)), np.zeros((0, HANDS)))
    rows = []
    for h in hands[::-1].tolist():
        told = [] if made is None else [MADE[made[h]]]
        if draws is not None:
            told.append(", ".join(name for name, has in zip(DRAWS, draws[h], strict=True) if has))
        figures_of = (float(mine.reach[h]), known(mine.ev[h]), known(mine.equity[h]), known(mine.eqr[h]))
        rows.append((show_hand(h), *chances[:, h].tolist(), *figures_of, *(known(w) for w in worths[:, h]), *told))
    columns = [Column("hand"), *(Column(name, SHARE) for name in names), *_FIGURES]
    columns += [Column(f"ev_{name}", CHIPS, f"EV {name}", rank=3) for name in names]
    columns += [Column("made", rank=1), Column("draws", rank=4)] if made is not None else []
    return ReportTable(_head(node, who), tuple(columns), tuple(rows))


# --- equities as a curve ------------------------------------------------------------------------


def equity_graph(node: Spotlight, player: int | str | None = None, points: int = 100) -> list[tuple[float, float]]:
    """The equities of a range from the lowest to the highest: (share of the range that has less, equity), some points."""
    mine = figures(node, player_of(node, player))
    held = np.flatnonzero((mine.deals > 0) & ~np.isnan(mine.equity))
    if not len(held):
        return []
    order = held[np.argsort(mine.equity[held], kind="stable")]
    upto = np.cumsum(mine.deals[order]) / mine.deals[order].sum()
    places = np.linspace(0, 1, points + 1)
    chosen = np.minimum(np.searchsorted(upto, places - 1e-12), len(order) - 1)
    return list(zip(places.tolist(), mine.equity[order][chosen].tolist(), strict=True))


# --- the grid ---------------------------------------------------------------------------------


def grid(node: Spotlight, player: int | str | None = None) -> Grid:
    """The 13 × 13 grid: actions side by side, as high as the hands are held; of a player who does not act, weights."""
    who = player_of(node, player)
    reach, live = node.reach[who], _live(node)
    count = np.bincount(CLASS_OF_HAND[live], minlength=169).astype(float)
    weight = np.minimum(_by_class(reach) / np.maximum(count, 1.0), 1.0)
    head = _head(node, who)
    if node.player != who:
        return Grid(weight.reshape(13, 13), title=head)
    deals = reach * node.compatible(who)
    total = _by_class(deals)
    weight = np.where(total > 0, weight, 0.0)
    moves = np.where(np.isnan(node.strategy), 0.0, node.strategy)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = [np.where(total > 0, _by_class(deals * move) / total, 0.0) for move in moves]
        # so that the totals of the legend count deals, as all means do
        combos = np.where(weight > 0, total / weight, 0.0)
    frequencies = {name: share.reshape(13, 13) for name, share in zip(node.actions, shares, strict=True)}
    return Grid.actions(frequencies, weight.reshape(13, 13), combos.reshape(13, 13), head)


def _by_class(values: Array) -> Array:
    """Sums over the hands of each class. float64 [169]"""
    return np.bincount(CLASS_OF_HAND, values, 169)
