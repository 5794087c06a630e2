"""Reports of a node of a solution: summary, single hands, tables of hands, ranges and a strategy grid.

Values come from the node's arrays (`riverboat.strategies.solution.SolutionNode`). Means over hands are weighted by
deals: reach times the reach of the opponent's compatible hands. EQR, equity realization, is EV / (equity × pot at the
node).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from riverboat.cards.deck import FULL_DECK, NUM_HANDS, Deck, hand_index
from riverboat.cards.grid import CLASS_NAMES, CLASS_OF_HAND, HandGrid
from riverboat.cards.hand_classes import DRAWS, MADE_HANDS, classify, classify_all
from riverboat.cards.notation import Cards, as_hand, format_cards, format_hand
from riverboat.cards.ranges import Range
from riverboat.core.arrays import safe_divide
from riverboat.core.errors import InputError
from riverboat.core.tables import CHIPS, COUNT, SHARE, Cell, ReportColumn, ReportTable, format_cell, none_if_nan
from riverboat.core.validation import check_name
from riverboat.games.base import Array
from riverboat.games.boards.board_game import BoardGame
from riverboat.games.spots.spot import PLAYERS, Spot

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

    from riverboat.strategies.reports.public_state import PublicStateNode
    from riverboat.strategies.solution import SolutionNode

STREET_NAMES = {0: "preflop", 3: "flop", 4: "turn", 5: "river"}
TABLES = ("combos", "classes", "made", "draws", "groups", "equity")
NUM_EQUITY_BUCKETS = 10
MEANS_ROW = "all"  # the last row of a table with means
MIN_EQUITY = 5e-4  # smaller equities are shown as 0.0 %, and their EQR is undefined
WEIGHT_DIGITS = 3  # of weights in range texts


# --- arrays -----------------------------------------------------------------------------------


class HandFigures(NamedTuple):
    """Reach, EVs and equities of one player at a node; NaN for impossible hands. float64 [1326] each"""

    reach: Array
    deals: Array  # reach times the reach of the opponent's compatible hands
    ev: Array
    equity: Array
    eqr: Array
    in_range: Array  # bool: in the root range and not blocked by the board


def hand_figures(node: SolutionNode, player: int) -> HandFigures:
    """Return reach, EVs and equities of all hands of a player at a node; computed once per node."""
    cached: dict[int, HandFigures] = node.__dict__.setdefault("_figures", {})
    if player not in cached:
        reach, ev = node.reach[player], node.ev(player)
        in_range = (node.tree.game.weights[player] > 0) & node.live_hands
        equity = np.where(in_range, node.equity[player] if node.has_equity else np.nan, np.nan)
        eqr = _equity_realization(ev, equity, pot(node))
        cached[player] = HandFigures(reach, reach * node.compatible_weight(player), ev, equity, eqr, in_range)
    return cached[player]


def _equity_realization(ev: Array, equity: Array, chips: float) -> Array:
    """Return EV / (equity × pot); NaN where equity is below MIN_EQUITY."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(equity >= MIN_EQUITY, ev / (equity * chips), np.nan)


def pot(node: SolutionNode) -> float:
    """Return the chips in the pot, including an uncalled bet."""
    return float(getattr(node.tree.game, "pot", 0) + node.tree.betting.spent[node.betting_node].sum())


def stacks(node: SolutionNode) -> tuple[float, float] | None:
    """Return both players' remaining stacks, or None if the game is not a spot."""
    game, spent = node.tree.game, node.tree.betting.spent[node.betting_node]
    return (float(game.behind[0] - spent[0]), float(game.behind[1] - spent[1])) if isinstance(game, Spot) else None


def street(node: SolutionNode) -> str:
    """Return the name of a node's street, by the number of board cards."""
    return STREET_NAMES.get(len(node.board), f"{len(node.board)} cards")


def player_names(game: BoardGame) -> tuple[str, str]:
    """Return the names of the players: oop and ip in a spot, otherwise blind and dealer.

    In whole games position varies by street.
    """
    return PLAYERS if isinstance(game, Spot) else ("blind", "dealer")


def parse_player(node: SolutionNode, player: int | str | None) -> int:
    """Parse a player by number or name; the default is the player to act, else player 0."""
    if player is None:
        return max(node.player, 0)
    if player in (0, 1):
        return int(player)
    known_names = player_names(node.tree.game)
    check_name("player", str(player), known_names)
    return known_names.index(str(player))


def _mean(values: Array, weight: Array) -> float:
    """Return the weighted mean over hands with a value; NaN if there are none."""
    valid = (weight > 0) & ~np.isnan(values)
    total = weight[valid].sum()
    return float((values[valid] * weight[valid]).sum() / total) if total > 0 else float("nan")


def _mean_values(ev: Array, equity: Array, weight: Array, chips: float) -> tuple[float | None, ...]:
    """Return the weighted means of EV and equity, and the equity realization; None if they are undefined."""
    mean_ev, mean_equity = _mean(ev, weight), _mean(equity, weight)
    return none_if_nan(mean_ev), none_if_nan(mean_equity), mean_eqr(mean_ev, mean_equity, chips)


def mean_eqr(ev: float, equity: float, chips: float) -> float | None:
    """Return the equity realization of a mean EV and a mean equity in a pot of `chips`; None if it is undefined."""
    return none_if_nan(float(_equity_realization(np.array(ev), np.array(equity), chips)))


def node_title(node: SolutionNode | PublicStateNode) -> str:
    """Return a title such as `b94 on Qs Jh 2h`."""
    return f"{node.line or 'root'} on {format_cards(node.board, ' ')}" if node.board else node.line or "root"


def columns_table(title: str, columns: Sequence[ReportColumn], cells: Sequence[Iterable[Any]]) -> ReportTable:
    """Build a report table from the cells of each column; None and NaN are unknown values."""
    values = ([c if c is None or isinstance(c, str) else none_if_nan(c) for c in column] for column in cells)
    return ReportTable(title, tuple(columns), tuple(zip(*values, strict=True)))


# --- summary ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class NodeSummary:
    """Summary of a node. Pairs are (oop, ip); shares are 0 to 1, EVs in chips."""

    line: str
    board: str
    street: str
    pot: float
    stacks: tuple[float, float] | None
    player: str | None  # player to act
    combos: tuple[float, float]
    ev: tuple[float | None, float | None]
    equity: tuple[float | None, float | None]
    eqr: tuple[float | None, float | None]
    actions: ReportTable  # one row for each action: frequency; combos, EV, equity and EQR of the hands that take it
    names: tuple[str, str] = PLAYERS

    @property
    def frequencies(self) -> dict[str, float]:
        """Frequency of each action."""
        return {str(row["action"]): float(row["frequency"] or 0) for row in self.actions}

    def _headline(self) -> str:
        behind = "" if self.stacks is None else f", behind {self.stacks[0]:g} and {self.stacks[1]:g}"
        turn = f"{self.player} to act" if self.player else "nobody acts"
        where = f"on the {self.street} {self.board}" if self.board else self.street
        return f"{self.line or 'root'}: {turn} {where}, pot {self.pot:g}{behind}"

    def _players_table(self) -> ReportTable:
        columns = ReportColumn("player"), *_FIGURE_COLUMNS
        return columns_table("", columns, [self.names, self.combos, self.ev, self.equity, self.eqr])

    def __str__(self) -> str:
        tables = [self._players_table(), self.actions] if len(self.actions) else [self._players_table()]
        return "\n".join([self._headline(), *map(str, tables)])

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[RenderableType]:
        from rich.text import Text

        yield Text(self._headline(), style="bold")
        yield self._players_table()
        if len(self.actions):
            yield Text("")
            yield self.actions

    def _repr_html_(self) -> str:
        actions = self.actions._repr_html_() if len(self.actions) else ""
        return f"<div><b>{escape(self._headline())}</b></div>{self._players_table()._repr_html_()}{actions}"

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as a dictionary for JSON."""
        entries = {key: getattr(self, key) for key in ("line", "board", "street", "pot", "stacks", "player")}
        sides = {
            name: {key: getattr(self, key)[k] for key in ("combos", "ev", "equity", "eqr")}
            for k, name in enumerate(self.names)
        }
        return entries | sides | {"actions": list(self.actions)}


# Columns with a higher rank are dropped first in a narrow terminal; frequencies and EV stay longest.
_FIGURE_COLUMNS = (
    ReportColumn("combos", COUNT, rank=2), ReportColumn("ev", CHIPS, "EV"), ReportColumn("equity", SHARE, rank=1),
    ReportColumn("eqr", SHARE, "EQR", rank=3),
)  # fmt: skip


def node_summary(node: SolutionNode) -> NodeSummary:
    """Return the summary of a node: actor, pot, stacks, actions, and mean EV, equity and EQR of both players."""
    figures = [hand_figures(node, p) for p in (0, 1)]
    chips = pot(node)
    ev, equity, eqr = zip(*(_mean_values(f.ev, f.equity, f.deals, chips) for f in figures), strict=True)
    return NodeSummary(
        line=node.line,
        board=format_cards(node.board),
        street=street(node),
        pot=chips,
        stacks=stacks(node),
        player=player_names(node.tree.game)[node.player] if node.player >= 0 else None,
        combos=node.combos,
        ev=ev,
        equity=equity,
        eqr=eqr,
        actions=_actions_table(node, figures[node.player], chips) if node.player >= 0 else ReportTable("", (), ()),
        names=player_names(node.tree.game),
    )


def _actions_table(node: SolutionNode, hand_values: HandFigures, chips: float) -> ReportTable:
    rows = []
    for name, probability, action_ev in zip(node.actions, node.strategy, node.action_ev(), strict=True):
        probability = np.where(hand_values.in_range, probability, 0.0)
        taken = hand_values.deals * probability
        frequency = none_if_nan(_mean(probability, hand_values.deals))
        combos = float((hand_values.reach * probability).sum())
        rows.append((name, frequency, combos, *_mean_values(action_ev, hand_values.equity, taken, chips)))
    return ReportTable("", (ReportColumn("action"), ReportColumn("frequency", SHARE), *_FIGURE_COLUMNS), tuple(rows))


# --- single hands -----------------------------------------------------------------------------


@dataclass(frozen=True)
class HandReport:
    """One hand at a node. Shares are 0 to 1, EVs in chips; None if the opponent has no compatible hand."""

    hand: str
    player: str
    line: str
    board: str
    weight: float  # reach
    frequencies: dict[str, float]  # empty if the player does not act
    ev: float | None
    action_ev: dict[str, float | None]
    equity: float | None
    eqr: float | None
    made: str  # "" before the flop
    draws: tuple[str, ...]

    def __str__(self) -> str:
        head = f"{self.hand} of {self.player} at {self.line or 'root'} on {self.board}"
        if self.made:
            head += f": {', '.join([self.made, *self.draws])}"
        shares = [("equity", self.equity), ("EQR", self.eqr)]
        values = [f"weight {self.weight:.4g}", *([f"EV {format_cell(self.ev, CHIPS)}"] if self.ev is not None else [])]
        values += [f"{name} {format_cell(value, SHARE)} %" for name, value in shares if value is not None]
        actions = [
            f"{name} {100 * f:.1f} % (EV {format_cell(self.action_ev[name], CHIPS) or 'unknown'})"
            for name, f in self.frequencies.items()
        ]
        return "\n".join([head, "  ".join(values), *(["  ".join(actions)] if actions else [])])

    def _repr_html_(self) -> str:
        return "<br>".join(escape(line) for line in str(self).splitlines())

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a dictionary for JSON."""
        return asdict(self)


def hand_report(node: SolutionNode, cards: Cards, player: int | str | None = None) -> HandReport:
    """Return a report of one hand, such as `KsJs`."""
    seat, (first, second) = parse_player(node, player), as_hand(cards)
    index = hand_index(first, second)
    name = format_hand(index)
    figures = hand_figures(node, seat)
    if not figures.in_range[index]:
        shared = [c for c in (first, second) if c in node.board]
        reason = f"it is not in the range of {player_names(node.tree.game)[seat]}"
        if shared:
            reason = f"{format_cards(shared)} is on the board {format_cards(node.board)}"
        raise InputError(f"hand {name} at {node.line!r}: {reason}")
    acts = node.player == seat
    hand_class = classify((first, second), node.board, node.tree.game.deck) if node.board else None
    return HandReport(
        hand=name,
        player=player_names(node.tree.game)[seat],
        line=node.line,
        board=format_cards(node.board),
        weight=float(figures.reach[index]),
        frequencies=dict(zip(node.actions, node.strategy[:, index].tolist(), strict=True)) if acts else {},
        ev=none_if_nan(figures.ev[index]),
        action_ev=dict(zip(node.actions, map(none_if_nan, node.action_ev()[:, index]), strict=True)) if acts else {},
        equity=none_if_nan(figures.equity[index]),
        eqr=none_if_nan(figures.eqr[index]),
        made=hand_class.made if hand_class else "",
        draws=hand_class.draws if hand_class else (),
    )


def selected_hands_table(node: SolutionNode, text: str, player: int | str | None = None) -> ReportTable:
    """Return a table of the hands of a class such as `AKs` or of any range; the last row, `all`, has their means."""
    seat = parse_player(node, player)
    figures = hand_figures(node, seat)
    chosen = np.flatnonzero((Range.parse(text).weights > 0) & figures.in_range)
    if not len(chosen):
        name = player_names(node.tree.game)[seat]
        raise InputError(
            f"hands {text!r} at {node.line!r}: none of them is in the range of {name} and unblocked by the board"
        )
    table = _combo_table(node, seat, figures, chosen)
    deals = np.where(np.isin(np.arange(NUM_HANDS), chosen), figures.deals, 0.0)
    values = _mean_values(figures.ev, figures.equity, deals, pot(node))
    means: dict[str, Cell] = {"hand": MEANS_ROW, "combos": float(figures.reach[chosen].sum())}
    means |= dict(zip(("ev", "equity", "eqr"), values, strict=True))
    if node.player == seat:
        for name, probability, action_ev in zip(node.actions, node.strategy, node.action_ev(), strict=True):
            means |= {name: none_if_nan(_mean(probability, deals)), f"ev_{name}": none_if_nan(_mean(action_ev, deals))}
    return replace(table, rows=(*table.rows, tuple(means.get(name) for name in table.names)))


# --- ranges -------------------------------------------------------------------------------------


def player_range(node: SolutionNode, player: int | str | None = None) -> Range:
    """Return a player's range: root weights times the probability of the player's actions."""
    return Range(np.minimum(node.reach[parse_player(node, player)], 1.0))


def range_text(node: SolutionNode, player: int | str | None = None, digits: int = WEIGHT_DIGITS) -> str:
    """Return a player's range as text, weights rounded to `digits`. Classes are written with their blocked hands."""
    return player_range(node, player).text(node.board, digits)


# --- tables of hands --------------------------------------------------------------------------


def hands_table(node: SolutionNode, by: str | None = None, player: int | str | None = None) -> ReportTable:
    """Return a table of frequencies, EV, equity, EQR and combos.

    Rows are `combos`, the 169 `classes`, `made` hands, `draws`, `groups` (both of these, the default on a board), or
    `equity` in steps of 10 %. Draws may overlap. Rows without weight are omitted, except `combos`: there every
    unblocked hand of the root range has a row, with the EV of each action.
    """
    if by is None:
        by = "groups" if node.board else "classes"
    check_name("table", by, TABLES)
    seat = parse_player(node, player)
    figures = hand_figures(node, seat)
    if by == "combos":
        return _combo_table(node, seat, figures, np.flatnonzero(figures.in_range))
    if by == "equity":
        scaled = np.nan_to_num(figures.equity, nan=-1.0) * NUM_EQUITY_BUCKETS
        bucket = np.clip(scaled, -1, NUM_EQUITY_BUCKETS - 1).astype(int)
        step = 100 // NUM_EQUITY_BUCKETS
        groups = [(f"{k * step}-{(k + 1) * step} %", bucket == k) for k in reversed(range(NUM_EQUITY_BUCKETS))]
        return _group_table(node, seat, figures, "equity bucket", groups)
    return _group_table(node, seat, figures, *hand_groups(by, node.board, node.tree.game.deck))


def hand_groups(by: str, board: Sequence[int], deck: Deck = FULL_DECK) -> tuple[str, list[tuple[str, Array]]]:
    """Return the title of a table's first column, and the name and hands of each of its rows. bool [1326] each

    `by` is `classes`, `made`, `draws` or `groups`, which are both made hands and draws.
    """
    if by == "classes":
        return "class", [(name, np.equal(CLASS_OF_HAND, cell)) for cell, name in enumerate(CLASS_NAMES)]
    made, draws = classify_all(board, deck)
    groups = [] if by == "draws" else [(name, made == k) for k, name in enumerate(MADE_HANDS)]
    groups += [] if by == "made" else [(name, draws[:, k]) for k, name in enumerate(DRAWS)]
    return {"made": "made hand", "draws": "draw"}.get(by, "group"), groups


def describe_hands(hands: Array, board: Sequence[int], deck: Deck = FULL_DECK) -> tuple[list[str], list[str]]:
    """Return the name of the made hand and the names of the draws of each hand; `hands` are indices. int [n]"""
    made, draws = (part[hands] for part in classify_all(board, deck))
    drawing = [", ".join(name for name, has in zip(DRAWS, row, strict=True) if has) for row in draws]
    return [MADE_HANDS[kind] for kind in made], drawing


def _table_title(node: SolutionNode, seat: int) -> str:
    return f"{node_title(node)}: {player_names(node.tree.game)[seat]}"


def _group_table(
    node: SolutionNode, seat: int, hand_values: HandFigures, kind: str, groups: Sequence[tuple[str, Array]]
) -> ReportTable:
    names, probabilities = (node.actions, node.strategy) if node.player == seat else ((), ())
    members = np.array([mask for _, mask in groups], float).reshape(len(groups), NUM_HANDS)
    filled = np.flatnonzero(members @ np.where(hand_values.in_range, hand_values.deals, 0.0) > 0)
    values = *probabilities, hand_values.ev, hand_values.equity
    *shares, ev, equity = (_group_means(members, hand_values, numbers)[filled] for numbers in values)
    figures = (members @ hand_values.reach)[filled], ev, equity, _equity_realization(ev, equity, pot(node))
    columns = [ReportColumn(kind), *(ReportColumn(name, SHARE) for name in names), *_FIGURE_COLUMNS]
    rows = [groups[k][0] for k in filled.tolist()]
    return columns_table(_table_title(node, seat), columns, [rows, *shares, *figures])


def _group_means(members: Array, hand_values: HandFigures, values: Array) -> Array:
    """Return the mean of values over the hands of each group, weighted by deals; NaN if empty. float64 [groups]"""
    weight = np.where(hand_values.in_range & ~np.isnan(values), hand_values.deals, 0.0)
    return safe_divide(members @ (np.nan_to_num(values) * weight), members @ weight, np.nan)


def _combo_table(node: SolutionNode, seat: int, hand_values: HandFigures, hands: Array) -> ReportTable:
    hands = hands[::-1]
    acts = node.player == seat
    names, probabilities, action_evs = (node.actions, node.strategy, node.action_ev()) if acts else ((), (), ())
    values = *probabilities, hand_values.reach, hand_values.ev, hand_values.equity, hand_values.eqr, *action_evs
    columns = [ReportColumn("hand"), *(ReportColumn(name, SHARE) for name in names), *_FIGURE_COLUMNS]
    columns += [ReportColumn(f"ev_{name}", CHIPS, f"EV {name}", rank=3) for name in names]
    cells = [list(map(format_hand, hands.tolist())), *(numbers[hands] for numbers in values)]
    if node.board:
        columns += [ReportColumn("made", rank=1), ReportColumn("draws", rank=4)]
        cells += describe_hands(hands, node.board, node.tree.game.deck)
    return columns_table(_table_title(node, seat), columns, cells)


# --- equity curve -------------------------------------------------------------------------------


def equity_graph(node: SolutionNode, player: int | str | None = None, points: int = 100) -> list[tuple[float, float]]:
    """Return the sorted equities of a range as `points` + 1 pairs: (share of the range with less equity, equity)."""
    figures = hand_figures(node, parse_player(node, player))
    hands = np.flatnonzero((figures.deals > 0) & ~np.isnan(figures.equity))
    if not len(hands):
        return []
    order = hands[np.argsort(figures.equity[hands], kind="stable")]
    cumulative = np.cumsum(figures.deals[order]) / figures.deals[order].sum()
    shares = np.linspace(0, 1, points + 1)
    chosen = np.minimum(np.searchsorted(cumulative, shares - 1e-12), len(order) - 1)
    return list(zip(shares.tolist(), figures.equity[order][chosen].tolist(), strict=True))


# --- grid -------------------------------------------------------------------------------------


def strategy_grid(node: SolutionNode, player: int | str | None = None) -> HandGrid:
    """Return the 13 × 13 grid of action frequencies with heights by range weight.

    For a player who does not act, the grid has range weights only.
    """
    seat = parse_player(node, player)
    live, acts = node.live_hands, node.player == seat
    probabilities = dict(zip(node.actions, np.nan_to_num(node.strategy[:, live]), strict=True)) if acts else None
    reach, compatible = node.reach[seat][live], node.compatible_weight(seat)[live]
    return class_grid(CLASS_OF_HAND[live], reach, reach * compatible, probabilities, _table_title(node, seat))


def class_grid(
    cells: Array, reach: Array, deals: Array, probabilities: Mapping[str, Array] | None, title: str = ""
) -> HandGrid:
    """Return a 13 × 13 grid with heights by range weight and, with action probabilities, the frequencies of actions.

    Arrays have one entry for each hand: `cells` is its class (0 to 168), `reach` its range weight, `deals` its weight
    in means, and `probabilities` that of each action. Combos are scaled so that the legend's totals count deals.
    """

    def by_class(values: Array) -> Array:
        return np.bincount(cells, values, 169).reshape(13, 13)

    weight = np.minimum(by_class(reach) / np.maximum(by_class(np.ones(len(cells))), 1.0), 1.0)
    if probabilities is None:
        return HandGrid(weight, title=title)
    total = by_class(deals)
    weight = np.where(total > 0, weight, 0.0)
    divisor = np.where(total > 0, total, 1.0)
    frequencies = {name: by_class(deals * probability) / divisor for name, probability in probabilities.items()}
    combos = safe_divide(total, weight)
    return HandGrid.actions(frequencies, weight, combos, title)
