"""Commands that play matches between agents, review them and record the results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from riverboat.cli.options import MAX_COUNT, MAX_SEED, THREAD_LIMIT, AgentArgument, GameOption, JsonOption
from riverboat.cli.progress import DeferredProgressBar
from riverboat.cli.terminal import emit, parse_duration, plain_console, say
from riverboat.cli.termination import flag_errors
from riverboat.core import files as core_files
from riverboat.core.errors import InputError
from riverboat.core.files import check_image_path


def match(
    agents: Annotated[
        list[str], typer.Argument(help="Two agents, or more for a round robin; also acpc:COMMAND, a program.")
    ],
    hands: Annotated[
        int,
        typer.Option(min=1, max=MAX_COUNT, help="Hands per match; every deal is played twice with exchanged seats."),
    ] = 20_000,
    seed: Annotated[
        int, typer.Option(min=0, max=MAX_SEED, help="Seed of the cards and of the agents' random choices.")
    ] = 0,
    game: GameOption = None,
    aivat: Annotated[bool, typer.Option("--aivat", help="Reduce variance with AIVAT.")] = False,
    until_settled: Annotated[
        str | None,
        typer.Option(metavar="LOW,HIGH", help="Stop once the result is decided (mbb/g), after at most --hands."),
    ] = None,
    thin: Annotated[
        str | None,
        typer.Option(
            metavar="STREET", help="Play pairs with small pots on that street less often, with higher weight."
        ),
    ] = None,
    threads: Annotated[int, typer.Option(min=1, max=THREAD_LIMIT, help="Threads of --aivat.")] = 2,
    workers: Annotated[
        int,
        typer.Option(min=1, max=THREAD_LIMIT, help="Processes for a match of two; the result does not depend on them."),
    ] = 1,
    device: Annotated[
        str | None, typer.Option(help="Device of agents that search: cpu, cuda, or auto (a GPU if there is one).")
    ] = None,
    worst: Annotated[
        int, typer.Option(min=0, max=1000, help="With --aivat: print this many hands that cost the first agent most.")
    ] = 0,
    histories: Annotated[Path | None, typer.Option(help="Write the hands: FILE.phhs (PHH) or FILE.log (ACPC).")] = None,
    plot: Annotated[Path | None, typer.Option(help="Three or more agents: plot the table.")] = None,
    json: JsonOption = False,
) -> None:
    """Play agents against each other in duplicate matches."""
    from riverboat.api.devices import with_search_device

    if len(agents) < 2:
        raise InputError(f"match: {len(agents)} agents: name two, or more for a round robin")
    with flag_errors("device"):
        names = agents if device is None else with_search_device(agents, device)
    shared: dict[str, Any] = {"hands": hands, "seed": seed, "game": game, "aivat": aivat, "threads": threads}
    two_only = {"--histories": histories, "--until-settled": until_settled, "--thin": thin, "--workers": workers > 1}
    if any(name.startswith("acpc:") for name in names):
        if len(names) != 2 or aivat or plot is not None or any(two_only.values()):
            raise InputError(
                "match with acpc:COMMAND: two players, without --histories, --plot, --aivat, --thin, --workers and "
                "--until-settled; riverboat acpc dealer writes a log"
            )
        _match_programs(names, game, hands, seed, json)
    elif len(names) == 2:
        if plot is not None:
            raise InputError("--plot draws the table of three or more agents; only two are named")
        if worst and not aivat:
            raise InputError(f"--worst {worst}: needs --aivat, which estimates the values of actions")
        _match_two(names, shared | {"thin": thin, "workers": workers, "worst": worst}, until_settled, histories, json)
    else:
        for option, value in two_only.items():
            if value:
                raise InputError(f"{option}: only for matches between two agents; {len(names)} are named")
        _match_round_robin(names, shared, plot, json)


def _match_two(
    names: list[str], options: dict[str, Any], until_settled: str | None, histories: Path | None, json: bool
) -> None:
    from riverboat.api.match import match as play_match
    from riverboat.cli.device_notes import report_agents_cpu_fallback
    from riverboat.cli.matches import match as output

    bounds = None if until_settled is None else output.parse_bounds(until_settled)
    report_agents_cpu_fallback(names)
    first, second = names
    with (
        output.open_histories(histories) as write,
        DeferredProgressBar("values for AIVAT, once") as values,
        DeferredProgressBar(f"{first} against {second}") as bar,
    ):
        result = play_match(
            first, second, **options, until_settled=bounds, observe=write, progress=bar.update_count, preparing=values
        )
    emit(result.to_dict()) if json else output.print_match(result)
    if histories is not None and not json:
        say(f"hand histories: {histories}")


def _match_round_robin(names: list[str], options: dict[str, Any], plot: Path | None, json: bool) -> None:
    from riverboat.api.match import match as play_match
    from riverboat.cli.matches import match as output

    if plot is not None:
        check_image_path(plot)  # raises before the match, not after it
    first, second, third, *others = names
    with DeferredProgressBar("values for AIVAT, once") as values, DeferredProgressBar(f"{len(names)} agents") as bar:
        result = play_match(first, second, third, *others, **options, progress=bar.update_count, preparing=values)
    if plot is not None:
        from riverboat.reports.plots.results import plot_round_robin  # loads matplotlib

        plot_round_robin(result, plot)
        say(f"picture: {plot}")
    emit(result.to_dict()) if json else output.print_round_robin(result)


def _match_programs(names: list[str], game: str | None, hands: int, seed: int, json: bool) -> None:
    """Play a match in which at least one player is a program that speaks the ACPC protocol."""
    from riverboat.acpc.programs import match_programs
    from riverboat.api.match import UNITS
    from riverboat.cli.matches.remote import WarningPrinter

    warnings = WarningPrinter()
    with flag_errors("hands"):
        facts = match_programs(names, game, hands, seed, warnings)
    warnings.close()
    if json:
        emit(facts | {"unit": "mbb/g", "units": UNITS})
        return
    result = f"{names[0]} against {names[1]}: {facts['mbb_per_game']:+,.1f} ± {facts['ci95']:,.1f} mbb/g"
    plain_console().print(f"{result} in {facts['hands']:,} hands, {facts['hands_per_second']:,.0f} per second")


def review(
    log: Annotated[Path, typer.Argument(help="A recorded match with all cards: FILE.log (ACPC) or FILE.phhs.")],
    agent: Annotated[
        list[str] | None,
        typer.Option(help="NAME=AGENT: the agent that a recorded player was, so that its strategy is known."),
    ] = None,
    player: Annotated[
        str | None, typer.Option(help="Review the decisions of this player by EV lost; any recorded hands will do.")
    ] = None,
    judge: Annotated[
        str, typer.Option(help="With --player: agent whose values and solutions are the reference.")
    ] = "default",
    worst: Annotated[
        int, typer.Option(min=0, max=1000, help="Print this many hands that cost the first player most.")
    ] = 5,
    game: GameOption = None,
    threads: Annotated[int, typer.Option(min=1, max=THREAD_LIMIT, help="Threads.")] = 2,
    json: JsonOption = False,
) -> None:
    """Review a recorded match with AIVAT, or the decisions of one player by EV lost."""
    if player is not None:
        from riverboat.cli.matches import reviews

        reviews.review_decisions(log, player, judge, worst, game, json)
        return
    from riverboat.api.review import review_match
    from riverboat.cli.matches.match import print_review

    with (
        flag_errors("agent"),
        DeferredProgressBar("values for AIVAT, once") as values,
        DeferredProgressBar("hands") as bar,
    ):
        result = review_match(
            log, agents=agent or (), worst=worst, game=game, threads=threads, preparing=values,
            progress=bar.update_count,
        )  # fmt: skip
    emit(result.to_dict()) if json else print_review(result)


def online(
    agent: AgentArgument,
    url: Annotated[str | None, typer.Option(help="URL of the bot's web API, such as https://bot.example/api.")] = None,
    hands: Annotated[int, typer.Option(min=1, max=MAX_COUNT, help="Number of hands.")] = 100,
    record: Annotated[Path | None, typer.Option(help="Record every request and reply in this file.")] = None,
    replay: Annotated[Path | None, typer.Option(help="Replay hands from such a file, without a network.")] = None,
    pause: Annotated[str, typer.Option(help="Pause before each request: 1s.")] = "0s",
    json: JsonOption = False,
) -> None:
    """Play an agent against a bot behind a web API."""
    from riverboat.cli.matches import remote as command

    command.run_online(agent, hands, url, record, replay, 0.0 if pause == "0s" else parse_duration(pause), json)


def ledger(
    file: Annotated[Path, typer.Argument(help="The ledger: a text file with one result per line.")] = Path(
        "ledger.jsonl"
    ),
    add: Annotated[
        list[Path] | None,
        typer.Option(help="Add a result file: output of match, lbr, exploitability or cost with --json."),
    ] = None,
    write: Annotated[Path | None, typer.Option(help="Write a page in Markdown.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Plot strength against core-hours, megabytes and seconds.")] = None,
    json: JsonOption = False,
) -> None:
    """Show recorded results: ratings over all matches, exploitability bounds, agents."""
    from riverboat.reports import ledger as report

    book = report.open_ledger(file, add or ())
    if add:
        say(f"ledger: {file}, {len(book.entries)} results")
    if write is not None:
        core_files.write_text(write, report.to_markdown_page(book, write))
        say(f"page: {write}")
    if plot is not None:
        from riverboat.reports.plots.results import plot_strength_against_cost

        plot_strength_against_cost(book, plot)
        say(f"picture: {plot}")
    if json:
        emit(report.ledger_to_dict(book))
        return
    console = plain_console()
    for title, table in report.ledger_tables(book):
        console.print(title)
        console.print(table)
    console.print(report.describe_scale(book))


COMMANDS = (match, review, ledger, online)
