"""`riverboat ledger`: results that are kept, compared and written as a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from riverboat.cli.terminal import emit, plain_console, say
from riverboat.core import atomic_io
from riverboat.core.errors import InputError
from riverboat.core.formatting import quote
from riverboat.core.tables import FIGURE, PROSE, Column, ReportTable
from riverboat.evaluation.ledger import (
    COSTS,
    EXPLOITABILITY,
    KINDS,
    LBR,
    MATCH,
    Entry,
    Ledger,
    read_ledger,
    read_result,
)
from riverboat.solvers.mccfr.sizing import DEVICE_CORES

UNITS = {
    "mbb_per_game": "mbb/g",
    "ci95": "mbb/g, half the width of a 95 % interval",
    "core_hours": f"hours of one core; one of a GPU that walks deals counts as {DEVICE_CORES}",
    "megabytes": "10^6 bytes of tables",
    "decision_seconds": "seconds of the clock, the mean of all decisions",
}


def ledger(file: Path, add: list[Path], page: Path | None, plot: Path | None, json: bool) -> None:
    """Take results, show what is there, write the page and draw strength against cost."""
    book = read_ledger(file)
    for path in add:
        book = book.add(read_result(path), str(path))
    if book.game is None:
        raise InputError(f"ledger {str(file)!r}: not there yet; --add RESULT.json begins one")
    if add:
        book.write()
        say(f"ledger: {file}, {len(book.entries)} results")
    if page is not None:
        atomic_io.write_text(page, as_page(book, page))
        say(f"page: {page}")
    if plot is not None:
        from riverboat.reports.plots.runs import strength_per_cost

        strength_per_cost(book, plot)
        say(f"picture: {plot}")
    if json:
        emit(_facts(book))
        return
    console = plain_console()
    for title, table in _tables(book):
        console.print(title)
        console.print(table)
    console.print(_scale(book))


def _facts(book: Ledger) -> dict[str, Any]:
    names = book.names()
    return {
        "game": dict(book.game or {}),
        "agents": [{"fingerprint": mark, **facts, "name": names[mark]} for mark, facts in sorted(book.agents.items())],
        "ratings": [
            {
                "agent": rating.agent,
                "name": names[rating.agent],
                "mbb_per_game": rating.mbb_per_game,
                "ci95": rating.ci95,
                "group": rating.group,
                "matches": rating.matches,
                "hands": rating.hands,
            }
            for rating in book.ratings()
        ],
        "results": [entry.line() | {"claims": [entry.claim.to_dict()]} for entry in book.entries],
        "pooled": [entry.line() for kind in KINDS for entry in book.pooled(kind) if "pieces" in entry.more],
        "unit": "mbb/g",
        "units": UNITS,
    }


# --- tables ---------------------------------------------------------------------------------------


def _tables(book: Ledger) -> list[tuple[str, ReportTable]]:
    """What there is to be shown, with titles."""
    tables = (
        ("Ratings", _ratings(book)),
        ("Matches", _matches(book)),
        ("Exploitability: exact, or a lower bound", _bounds(book)),
        ("Agents", _agents(book)),
        ("What they cost", _costs(book)),
    )
    return [(title, table) for title, table in tables if len(table)]


def _ratings(book: Ledger) -> ReportTable:
    names, ratings = book.names(), book.ratings()
    several = len({rating.group for rating in ratings}) > 1
    rows = tuple(
        (
            names[rating.agent],
            f"{rating.mbb_per_game:+,.0f}",
            f"{rating.ci95:,.0f}",
            f"{rating.matches}",
            f"{rating.hands:,}",
            *([str(rating.group + 1)] if several else []),
        )
        for rating in ratings
    )
    columns = [
        Column("agent"), Column("mbb/g", FIGURE), Column("± 95 %", FIGURE), Column("matches", FIGURE, rank=1),
        Column("hands", FIGURE, rank=2),
    ]  # fmt: skip
    return ReportTable("", (*columns, *([Column("group", FIGURE)] if several else [])), rows)


def _matches(book: Ledger) -> ReportTable:
    names = book.names()
    rows = tuple(
        (
            *(names[agent] for agent in entry.agents),
            f"{entry.mbb_per_game:+,.1f}",
            f"{entry.ci95:,.1f}",
            f"{entry.hands or 0:,}",
            str(entry.seed if entry.seed is not None else ""),
            " ".join(_how(entry)),
        )
        for entry in book.pooled(MATCH)
    )
    columns = (
        Column("agent"), Column("against"), Column("mbb/g", FIGURE), Column("± 95 %", FIGURE),
        Column("hands", FIGURE, rank=1), Column("seed", FIGURE, rank=3), Column("how", rank=2),
    )  # fmt: skip
    return ReportTable("", columns, rows)


def _how(entry: Entry) -> list[str]:
    words = ["AIVAT"] if entry.more.get("aivat") else []
    words += ["thinned"] if entry.more.get("played") else []
    words += [f"{entry.more['pieces']} pieces"] if "pieces" in entry.more else []
    return words + ([str(entry.more["verdict"])] if "verdict" in entry.more else [])


def measure(entry: Entry, names: Mapping[str, str]) -> str:
    """Name what a result measures: `won against demo`, `LBR fcpa from the turn`, `best response`."""
    if entry.kind == MATCH:
        return f"won against {names[entry.agents[1]]}"
    if entry.kind == EXPLOITABILITY:
        return "best response" + (" (exact)" if entry.more.get("is") == "exact" else "")
    start = entry.more.get("from")
    return f"LBR {entry.more.get('actions', '')}" + (f" from the {start}" if start not in (None, "preflop") else "")


def measurement_table(entries: Iterable[Entry], names: Mapping[str, str]) -> ReportTable:
    """Tabulate results of all kinds: agent, measure, mbb/g, half-width of the 95 % interval, hands."""
    rows = tuple(
        (
            names[entry.agents[0]],
            measure(entry, names),
            f"{entry.mbb_per_game:{'+' if entry.kind == MATCH else ''},.1f}",
            "exact" if entry.more.get("is") == "exact" else f"{entry.ci95:,.1f}",
            f"{entry.hands:,}" if entry.hands else "",
        )
        for entry in entries
    )
    columns = (
        Column("agent"), Column("measure", PROSE), Column("mbb/g", FIGURE), Column("± 95 %", FIGURE),
        Column("hands", FIGURE, rank=1),
    )  # fmt: skip
    return ReportTable("", columns, rows)


def _bounds(book: Ledger) -> ReportTable:
    return measurement_table((*book.pooled(EXPLOITABILITY), *book.pooled(LBR)), book.names())


def _agents(book: Ledger) -> ReportTable:
    names = book.names()
    rows = tuple(
        (names[mark], mark, str(facts.get("recipe", facts["kind"])), str(facts.get("cards", "")))
        for mark, facts in sorted(book.agents.items(), key=lambda item: (names[item[0]], item[0]))
    )
    return ReportTable(
        "", (Column("agent"), Column("fingerprint"), Column("recipe", rank=1), Column("cards", rank=2)), rows
    )


def _costs(book: Ledger) -> ReportTable:
    names = book.names()
    rows = tuple(
        (names[mark], *(f"{facts[key]:.4g}" if key in facts else "" for key in COSTS))
        for mark, facts in sorted(book.agents.items(), key=lambda item: (names[item[0]], item[0]))
        if any(key in facts for key in COSTS)
    )
    columns = (
        Column("agent"), Column("core-hours", FIGURE), Column("MB", FIGURE), Column("seconds a decision", FIGURE),
    )  # fmt: skip
    return ReportTable("", columns, rows)


def _scale(book: Ledger) -> str:
    assert book.game is not None
    groups = len({rating.group for rating in book.ratings()})
    apart = "" if groups < 2 else f"; {groups} groups that no match connects, each about its own mean"
    stacks = book.game["stacks"]
    behind = "" if stacks is None else f", stacks {' and '.join(f'{s:,}' for s in stacks)}"
    return f"{book.game['name']}{behind}, release {book.game['version']}; ratings are about the mean of all{apart}"


# --- the page -------------------------------------------------------------------------------------


def as_page(book: Ledger, page: Path) -> str:
    """The ledger as Markdown, for a file of this name: the page says how it is written again."""
    parts = [
        "# Strength",
        f"Written by `riverboat ledger {quote(book.where)} --write {quote(page)}`: {_scale(book)}.",
        "Figures are mbb/g ± half the width of a 95 % interval. A rating is the least-squares fit to all matches; its error "
        "is wider where they contradict each other. What can be won of an agent is exact, or a lower bound.",
    ]
    for title, table in _tables(book):
        parts.append(f"## {title}\n\n{_markdown(table)}")
    return "\n\n".join(parts) + "\n"


def _markdown(table: ReportTable) -> str:
    head = "| " + " | ".join(column.name for column in table.columns) + " |"
    rule = "|" + "|".join("--:" if column.kind == FIGURE else "---" for column in table.columns) + "|"
    rows = ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in table.rows]
    return "\n".join([head, rule, *rows])
