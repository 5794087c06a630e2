"""`riverboat lbr`: what a local best response wins of an agent, a lower bound on its exploitability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from riverboat.cli.progress import Bar
from riverboat.cli.show.agent import answering
from riverboat.cli.terminal import emit, plain_console
from riverboat.core.errors import InputError
from riverboat.evaluation.identity import about
from riverboat.evaluation.local_best_response.estimate import WALKERS, LocalBestResponse, local_best_response
from riverboat.games.holdem.rules import Rules

HANDS = 4_000
UNITS = {
    "mbb_per_game": "mbb/g, what the local best response wins: a lower bound on exploitability, up to its interval",
    "ci95": "mbb/g, half the width of the 95 % interval over deals",
    "by_seat": "mbb/g, with the responder in seat 0 and in seat 1",
}


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the command was asked for."""

    actions: str = "fcpa"
    start: str = "preflop"
    hands: int | None = None
    seconds: float | None = None
    seed: int = 0
    walkers: int = WALKERS
    threads: int = 1
    game: str | None = None
    json: bool = False


def lbr(name: str, options: Options) -> None:
    """Walk hands of a local best response against an agent."""
    if options.hands is not None and options.seconds is not None:
        raise InputError(f"--hands {options.hands} and --time: give one of the two")
    hands = HANDS if options.hands is None and options.seconds is None else options.hands
    agent, rules = answering(name, options.game, options.seed)
    with Bar(f"local best response to {name}") as bar:
        response = local_best_response(
            agent,
            rules,
            actions=options.actions,
            start=options.start,
            hands=hands,
            seconds=options.seconds,
            seed=options.seed,
            walkers=options.walkers,
            threads=options.threads,
            progress=bar,
        )
    if options.json:
        emit(facts(response, rules) | about("lbr", rules, agent))
        return
    by_seat = (1000 * chips / response.big_blind for chips in response.by_seat)
    seats = ", ".join(f"{won:+,.0f} in seat {seat}" for seat, won in enumerate(by_seat))
    console = plain_console()
    console.print(f"{name}: {response.claim}")
    console.print(f"local best response with {response.actions} from the {response.start} on; {seats}")
    console.print(
        f"{rules.name}, {response.chips.count:,} deals; {response.seconds:,.1f} s, "
        f"{response.hands_per_second:,.0f} hands a second"
    )


def facts(response: LocalBestResponse, rules: Rules) -> dict[str, Any]:
    """The result as one object."""
    return {
        **response.record(),
        "agent": response.agent,
        "game": rules.name,
        "unit": "mbb/g",
        "units": UNITS,
        "claims": [response.claim.to_dict()],
        "seconds": round(response.seconds, 3),
        "hands_per_second": round(response.hands_per_second, 1),
    }
