"""`riverboat match`: duplicate matches between agents, of two or of everybody against everybody else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from riverboat.agents.base import Accounting, Agent
from riverboat.agents.registry import make_agent
from riverboat.api import match as verbs
from riverboat.api.match import UNITS, MatchResult
from riverboat.api.seating import rules_for
from riverboat.cli import acpc, device_notes
from riverboat.cli.hands.hand_reviews import print_reviews
from riverboat.cli.progress import Bar, LateBar
from riverboat.cli.terminal import emit, plain_console, say
from riverboat.core import atomic_io
from riverboat.core.errors import InputError, shown
from riverboat.core.tables import FIGURE, Column, ReportTable
from riverboat.engines.devices import choose
from riverboat.evaluation.matches.aivat import Aivat
from riverboat.evaluation.matches.match import Match, RoundRobin
from riverboat.evaluation.matches.sequential_test import LEAST
from riverboat.games.holdem.rules import Rules
from riverboat.games.records.hand_records import Hands


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the command was asked for."""

    hands: int = 20_000
    seed: int = 0  # of the cards, and of agents that draw and name no other
    game: str | None = None  # None: what the agents play
    aivat: bool = False
    until: str | None = None  # bounds in mbb/g: LOW,HIGH
    thin: str | None = None  # a street
    threads: int = 1  # of AIVAT
    workers: int = 1  # processes that play
    device: str | None = None  # where agents that search solve; None: where they say
    worst: int = 0  # hands that are shown
    histories: Path | None = None
    plot: Path | None = None  # of a round robin
    json: bool = False


def match(names: Sequence[str], options: Options) -> None:
    """Play two agents against each other, or several in a round robin."""
    if len(names) < 2:
        raise InputError(f"match: {len(names)} agents: name two, or more for a round robin")
    names = _placed(names, options.device)
    if any(name.startswith(acpc.PROGRAM) for name in names):
        _programs(names, options)
    elif len(names) == 2:
        if options.plot is not None:
            raise InputError("--plot draws the table of three agents or more; two are named")
        _pair(names[0], names[1], options)
    else:
        _all(names, options)


def _placed(names: Sequence[str], device: str | None) -> list[str]:
    """Agents that search are told where to solve, unless their names say so."""
    if device is None:
        return list(names)
    choose(device)
    keys = [{part.partition("=")[0] for part in name.partition("?")[2].split("&")} for name in names]
    if not any("search" in each for each in keys):
        raise InputError(f"--device {device}: none of these agents searches; add search=river to one, or leave it out")
    return [
        f"{name}&device={device}" if "search" in each and "device" not in each else name
        for name, each in zip(names, keys, strict=True)
    ]


def _programs(names: Sequence[str], options: Options) -> None:
    """A match in which somebody is a program that speaks the ACPC protocol."""
    asked = options.histories, options.plot, options.until, options.thin
    if len(names) != 2 or options.aivat or options.workers > 1 or any(each is not None for each in asked):
        raise InputError(
            "match with acpc:COMMAND: two players, without --histories, --plot, --aivat, --thin, --workers and "
            "--until-settled; riverboat acpc dealer writes a log"
        )
    ours = [make_agent(name, options.seed) for name in names if not name.startswith(acpc.PROGRAM)]
    facts = acpc.against_programs(names, rules_for(ours, options.game), options.hands, options.seed)
    if options.json:
        emit(facts | {"unit": "mbb/g", "units": UNITS})
        return
    told = f"{names[0]} against {names[1]}: {facts['mbb_per_game']:+,.1f} ± {facts['ci95']:,.1f} mbb/g"
    plain_console().print(f"{told} in {facts['hands']:,} hands, {facts['hands_per_second']:,.0f} a second")


# --- two agents -------------------------------------------------------------------------------------


def _pair(first: str, second: str, options: Options) -> None:
    until = None if options.until is None else bounds(options.until)
    if until is not None and options.hands < 2 * LEAST:
        raise InputError(f"--hands {options.hands}: with --until-settled at least {2 * LEAST:,} are allowed for")
    if options.worst and not options.aivat:
        raise InputError(f"--worst {options.worst}: needs --aivat, which knows what moves are worth")
    made = [make_agent(name, options.seed) for name in (first, second)]
    rules = rules_for(made, options.game)
    device_notes.tell_agents(made)
    with (
        _written(options.histories) as write,
        LateBar("values for AIVAT, once") as values,
        LateBar(f"{first} against {second}") as bar,
    ):
        both: tuple[str | Agent, str | Agent] = (first, second) if options.workers > 1 else (made[0], made[1])
        result = verbs.match(
            *both,
            hands=options.hands,
            seed=options.seed,
            game=rules,
            aivat=options.aivat,
            until_settled=until,
            thin=options.thin,
            threads=options.threads,
            workers=options.workers,
            worst=options.worst,
            observe=write,
            progress=bar.of,
            preparing=values,
        )
    accounts = {agent.name: agent.account() for agent in made if isinstance(agent, Accounting)}
    if options.json:
        emit(result.to_dict() | ({"accounts": accounts} if accounts else {}))
        return
    console = plain_console()
    console.print(results([result]))
    for name, account in accounts.items():
        console.print(f"{name}: {account}")
    console.print(_told(result))
    if result.raw is not None:
        console.print(compared(result))
    if result.verdict is not None:
        console.print(_settled(result))
    print_reviews(console, result.reviews, result.big_blind)
    if options.histories is not None:
        say(f"hand histories: {options.histories}")


def _written(path: Path | None) -> AbstractContextManager[Callable[[Hands], None] | None]:
    """What writes the hands of a match to a file, where one is asked for."""
    if path is None:
        return nullcontext(None)
    from riverboat.formats.hand_files import open_hands

    return open_hands(path)


def bounds(text: str) -> tuple[float, float]:
    """LOW,HIGH as a user writes them."""
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"--until-settled {shown(text)}: write two numbers of mbb/g, such as -50,50") from None
    if not (isfinite(low) and isfinite(high)) or low >= high:
        raise InputError(f"--until-settled {shown(text)}: the lower number first, such as -50,50")
    return low, high


def estimator(first: Agent, second: Agent, rules: Rules, threads: int = 1) -> Aivat:
    """AIVAT for two agents; the tables of values may have to be made first."""
    with Bar("values for AIVAT, once") as bar:
        return Aivat(first, second, rules, threads=threads, progress=bar)


def told_of(aivat: Aivat | None) -> dict[str, Any]:
    """Whose strategies AIVAT used."""
    if aivat is None:
        return {}
    return {"aivat": {"known": [a.name for a, used in zip(aivat.agents, aivat.known, strict=True) if used]}}


def compared(played: Match) -> str:
    """What AIVAT made of it."""
    assert played.raw is not None
    raw, half = (1000 * x / played.big_blind for x in (played.raw.mean, played.raw.half_width))
    saved = "" if played.factor is None else f"; so sure it would have been after {played.factor:,.1f} times the hands"
    return f"with AIVAT; without it {raw:+,.1f} ± {half:,.1f} mbb/g{saved}"


def _settled(played: Match) -> str:
    low, high = played.bounds or (0.0, 0.0)
    about = {
        "better": f"more than {high:g}",
        "worse": f"less than {low:g}",
        "between": f"between {low:g} and {high:g}",
        "open": f"not settled whether it is below {low:g}, above {high:g} or between",
    }
    return f"{played.verdict}: {about[played.verdict or 'open']} mbb/g; the interval holds whenever a match stops"


_RESULT = (
    Column("agent"), Column("against"), Column("mbb/g", FIGURE), Column("± 95 %", FIGURE),
    Column("bb/100", FIGURE, rank=2), Column("hands", FIGURE, rank=1), Column("verdict", rank=3),
)  # fmt: skip


def results(matches: Iterable[Match]) -> ReportTable:
    """A row for each match, from the first agent's side."""
    rows = []
    for played in matches:
        mean, half = f"{played.mbb_per_game:+,.1f}", f"{played.ci95:,.1f}"
        rows.append((*played.names, mean, half, f"{played.bb_per_100:+,.2f}", f"{played.hands:,}", verdict(played)))
    return ReportTable("", _RESULT, tuple(rows))


def verdict(played: Match) -> str:
    """What the interval says."""
    if played.mbb_per_game > played.ci95:
        return "wins"
    return "loses" if played.mbb_per_game < -played.ci95 else "undecided"


def _told(played: MatchResult) -> str:
    thinned = "" if played.played is None else f" of which {played.played // 2:,} were played"
    return (
        f"{played.game}, {played.pairs:,} duplicate pairs{thinned}, seed {played.seed}; {played.seconds:,.1f} s, "
        f"{played.hands_per_second:,.0f} hands a second"
    )


# --- everybody against everybody --------------------------------------------------------------------


def _all(names: Sequence[str], options: Options) -> None:
    for asked, what in (
        (options.histories, "--histories"), (options.until, "--until-settled"), (options.thin, "--thin"),
        (options.workers > 1, "--workers"),
    ):  # fmt: skip
        if asked:
            raise InputError(f"{what}: of matches between two agents; {len(names)} are named")
    if options.plot is not None:
        atomic_io.check_picture(options.plot)  # told before the hands, not after them
    first, second, third, *others = names
    with LateBar("values for AIVAT, once") as values, LateBar(f"{len(names)} agents") as bar:
        result = verbs.match(
            first,
            second,
            third,
            *others,
            hands=options.hands,
            seed=options.seed,
            game=options.game,
            aivat=options.aivat,
            threads=options.threads,
            progress=bar.of,
            preparing=values,
        )
    if options.plot is not None:
        from riverboat.reports.plots.runs import crossed  # loads matplotlib

        crossed(result, options.plot)
        say(f"picture: {options.plot}")
    if options.json:
        emit(result.to_dict())
        return
    console = plain_console()
    console.print(_crossed(result))
    console.print(
        f"what the agent of the row won of the one of the column, mbb/g ± 95 %; {result.rules.name}, {options.hands:,} hands "
        f"in duplicate pairs each, seed {options.seed}" + (", with AIVAT" if options.aivat else ""),
    )


def _crossed(result: RoundRobin) -> ReportTable:
    head, *rows = result.rows()
    return ReportTable("", (Column(head[0]), *(Column(name, FIGURE) for name in head[1:])), tuple(map(tuple, rows)))


# --- while it runs ----------------------------------------------------------------------------------


@contextmanager
def watched(title: str) -> Iterator[Callable[[int, int], None]]:
    """A bar for hands played, of all."""
    with Bar(title) as bar:
        yield lambda played, hands: bar(played / hands)
