"""`riverboat match`: duplicate matches between agents, of two or of everybody against everybody else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any

from riverboat.agents.base import Agent, rules_of
from riverboat.agents.registry import make_agent
from riverboat.errors import InputError, shown
from riverboat.evaluation.aivat import Aivat
from riverboat.evaluation.identity import about
from riverboat.evaluation.matches import Match, RoundRobin, play_match, round_robin
from riverboat.evaluation.review import Worst
from riverboat.evaluation.settling import LEAST
from riverboat.games.acpc import Rules, read_game
from riverboat.interfaces import acpc_match
from riverboat.interfaces.hand_reviews import print_reviews, record
from riverboat.interfaces.progress import Bar
from riverboat.interfaces.terminal import emit, plain_console, say
from riverboat.report_table import FIGURE, Column, ReportTable

GAME = "nolimit-200bb"  # where neither the user nor an agent names one
UNITS = {
    "mbb_per_game": "mbb/g",
    "bb_per_100": "bb/100",
    "ci95": "mbb/g, half the width of the 95 % interval over pairs",
}
ANY_TIME = "mbb/g, half the width over pairs of a 95 % interval that holds whenever the match stops"


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the command was asked for."""

    hands: int = 20_000
    seed: int = 0  # of the cards, and of agents that draw and name no other
    game: str | None = None  # None: what the agents play
    aivat: bool = False
    until: str | None = None  # bounds in mbb/g: LOW,HIGH
    threads: int = 1  # of AIVAT
    worst: int = 0  # hands that are shown
    histories: Path | None = None
    json: bool = False


def match(names: Sequence[str], options: Options) -> None:
    """Play two agents against each other, or several in a round robin."""
    if len(names) < 2:
        raise InputError(f"match: {len(names)} agents: name two, or more for a round robin")
    if any(name.startswith(acpc_match.PROGRAM) for name in names):
        _programs(names, options)
        return
    agents = [make_agent(name, options.seed) for name in names]
    rules = rules_for(agents, options.game)
    if len(agents) == 2:
        _pair(agents[0], agents[1], rules, options)
    else:
        _all(dict(zip(names, agents, strict=True)), len(names), rules, options)


def rules_for(agents: Sequence[Agent], game: str | None) -> Rules:
    """The game that is named, else the one that the agents play; each of them agrees or says why not."""
    own = rules_of(*agents)
    rules = read_game(game) if game is not None else own if own is not None else read_game(GAME)
    for agent in agents:
        agent.check_rules(rules)
    return rules


def _programs(names: Sequence[str], options: Options) -> None:
    """A match in which somebody is a program that speaks the ACPC protocol."""
    if len(names) != 2 or options.histories is not None or options.aivat or options.until is not None:
        raise InputError(
            "match with acpc:COMMAND: two players, without --histories, --aivat and --until-settled; "
            "riverboat acpc dealer writes a log"
        )
    ours = [make_agent(name, options.seed) for name in names if not name.startswith(acpc_match.PROGRAM)]
    found = acpc_match.against_programs(names, rules_for(ours, options.game), options.hands, options.seed)
    if options.json:
        emit(found | {"unit": "mbb/g", "units": UNITS})
        return
    told = f"{names[0]} against {names[1]}: {found['mbb_per_game']:+,.1f} ± {found['ci95']:,.1f} mbb/g"
    plain_console().print(f"{told} in {found['hands']:,} hands, {found['hands_per_second']:,.0f} a second")


# --- two agents -------------------------------------------------------------------------------------


def _pair(first: Agent, second: Agent, rules: Rules, options: Options) -> None:
    until = None if options.until is None else bounds(options.until)
    if until is not None and options.hands < 2 * LEAST:
        raise InputError(f"--hands {options.hands}: with --until-settled at least {2 * LEAST:,} are allowed for")
    if options.histories is None:
        file: Any = nullcontext(None)
    else:
        from riverboat.games.hand_files import open_hands

        file = open_hands(options.histories)
    if options.worst and not options.aivat:
        raise InputError(f"--worst {options.worst}: needs --aivat, which knows what moves are worth")
    aivat = estimator(first, second, rules, options.threads) if options.aivat else None
    worst = Worst(options.worst) if options.worst else None
    with file as write, watched(f"{first.name} against {second.name}") as progress:
        found = play_match(
            first,
            second,
            rules,
            options.hands,
            options.seed,
            aivat=aivat,
            until=until,
            observe=write,
            estimated=worst,
            progress=progress,
        )
    reviews = [] if worst is None or aivat is None else worst.reviews(aivat)
    if options.json:
        shown_hands = {"worst": [record(hand, rules.big_blind) for hand in reviews]} if reviews else {}
        emit(facts(found, rules) | told_of(aivat) | about("match", rules, first, second) | shown_hands)
        return
    console = plain_console()
    console.print(results([found]))
    console.print(_told(found, rules))
    if found.raw is not None:
        console.print(compared(found))
    if found.verdict is not None:
        console.print(_settled(found))
    print_reviews(console, reviews, rules.big_blind)
    if options.histories is not None:
        say(f"hand histories: {options.histories}")


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


def compared(found: Match) -> str:
    """What AIVAT made of it."""
    assert found.raw is not None
    raw, half = (1000 * x / found.big_blind for x in (found.raw.mean, found.raw.half_width))
    saved = "" if found.factor is None else f"; so sure it would have been after {found.factor:,.1f} times the hands"
    return f"with AIVAT; without it {raw:+,.1f} ± {half:,.1f} mbb/g{saved}"


def _settled(found: Match) -> str:
    low, high = found.bounds or (0.0, 0.0)
    about = {
        "better": f"more than {high:g}",
        "worse": f"less than {low:g}",
        "between": f"between {low:g} and {high:g}",
        "open": f"not settled whether it is below {low:g}, above {high:g} or between",
    }
    return f"{found.verdict}: {about[found.verdict or 'open']} mbb/g; the interval holds whenever a match stops"


def facts(found: Match, rules: Rules) -> dict[str, Any]:
    """A match as one object."""
    units = UNITS if found.verdict is None else UNITS | {"ci95": ANY_TIME, "bounds": "mbb/g"}
    return {
        **found.record(),
        "names": list(found.names),
        "game": rules.name,
        "unit": "mbb/g",
        "units": units,
        "claims": [found.claim.to_dict()],
        "seconds": round(found.seconds, 3),
        "hands_per_second": round(found.hands_per_second),
    }


_RESULT = (
    Column("agent"), Column("against"), Column("mbb/g", FIGURE), Column("± 95 %", FIGURE),
    Column("bb/100", FIGURE, rank=2), Column("hands", FIGURE, rank=1), Column("verdict", rank=3),
)  # fmt: skip


def results(matches: Iterable[Match]) -> ReportTable:
    """A row for each match, from the first agent's side."""
    rows = []
    for found in matches:
        mean, half = f"{found.mbb_per_game:+,.1f}", f"{found.ci95:,.1f}"
        rows.append((*found.names, mean, half, f"{found.bb_per_100:+,.2f}", f"{found.hands:,}", verdict(found)))
    return ReportTable("", _RESULT, tuple(rows))


def verdict(found: Match) -> str:
    """What the interval says."""
    if found.mbb_per_game > found.ci95:
        return "wins"
    return "loses" if found.mbb_per_game < -found.ci95 else "undecided"


def _told(found: Match, rules: Rules) -> str:
    return (
        f"{rules.name}, {found.pairs:,} duplicate pairs, seed {found.seed}; {found.seconds:,.1f} s, "
        f"{found.hands_per_second:,.0f} hands a second"
    )


# --- everybody against everybody --------------------------------------------------------------------


def _all(agents: dict[str, Agent], count: int, rules: Rules, options: Options) -> None:
    if len(agents) < count:
        raise InputError(f"match: {count} agents, {len(agents)} different ones: in a round robin each is named once")
    for asked, what in (
        (options.histories, "--histories"),
        (options.until, "--until-settled"),
    ):
        if asked:
            raise InputError(f"{what}: of matches between two agents; {count} are named")
    estimate = partial(estimator, rules=rules, threads=options.threads) if options.aivat else None
    with watched(f"{len(agents)} agents") as progress:
        found = round_robin(agents, rules, options.hands, options.seed, estimator=estimate, progress=progress)
    if options.json:
        how = {"hands": options.hands, "pairs": options.hands // 2, "seed": options.seed}
        emit(_each(found, agents, rules, options) | how | {"game": rules.name, "unit": "mbb/g", "units": UNITS})
        return
    console = plain_console()
    console.print(_crossed(found))
    console.print(
        f"what the agent of the row won of the one of the column, mbb/g ± 95 %; {rules.name}, {options.hands:,} hands in "
        f"duplicate pairs each, seed {options.seed}" + (", with AIVAT" if options.aivat else ""),
    )


def _each(found: RoundRobin, agents: dict[str, Agent], rules: Rules, options: Options) -> dict[str, Any]:
    """All matches, each with whom it is of, so that a ledger takes them."""
    told = found.record()
    for match in told["matches"]:
        match |= {"aivat": True} if options.aivat else {}
        match |= about("match", rules, *(agents[name] for name in match["agents"]))
    for match, each in zip(told["matches"], (found.matches[key] for key in sorted(found.matches)), strict=True):
        match["claims"] = [each.claim.to_dict()]
    return told


def _crossed(found: RoundRobin) -> ReportTable:
    head, *rows = found.rows()
    return ReportTable("", (Column(head[0]), *(Column(name, FIGURE) for name in head[1:])), tuple(map(tuple, rows)))


# --- while it runs ----------------------------------------------------------------------------------


@contextmanager
def watched(title: str) -> Iterator[Callable[[int, int], None]]:
    """A bar for hands played, of all."""
    with Bar(title) as bar:
        yield lambda played, hands: bar(played / hands)
