"""The command line: the functions of its commands, which call the API.

Functions are imported when they run, so that `--help` is quick.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from riverboat.cli import termination
from riverboat.cli.command import Command

# Function of each command below riverboat.cli, and the functions below riverboat.api whose options it also has.
COMMANDS: dict[str, tuple[str, ...]] = {
    "solve": ("solve.solve:solve", "solve:solve", "spots:spot_from_texts", "spots:spot_from_match_state"),
    "show": ("show.artifact:show",),
    "export": ("show.artifact:export",),
    "respond": ("show.artifact:respond",),
    "games": ("show.artifact:games",),
    "trace": ("show.artifact:trace", "show:trace"),
    "equity": ("cards:equity",),
    "range": ("cards:show_range",),
    "features": ("cards:features",),
    "abstract": ("abstract:abstract", "abstract:abstract"),
    "train": ("train:train", "train:train"),
    "play": ("play:play",),
    "act": ("play:act", "play:act"),
    "demo": ("demo:demo",),
    "acpc dealer": ("matches.remote:dealer",),
    "acpc client": ("matches.remote:client",),
    "bench": ("bench:bench",),
    "reproduce": ("reproduce:reproduce",),
    "match": ("matches.match:match", "match:match"),
    "review": ("matches.reviews:review", "review:review_match"),
    "ledger": ("ledger:ledger",),
    "online": ("matches.remote:online",),
    "continuous": ("models.continuous:continuous", "continuous:solve_continuous"),
    "icm": ("models.tournament:icm",),
    "pushfold": ("models.tournament:pushfold", "tournaments:push_fold"),
    "team": ("solve.multiplayer:team", "solve:team_values"),
    "correlated": ("solve.multiplayer:correlated", "general_sum:correlated"),
    "tournament": ("models.tournament:tournament", "tournaments:solve_tournament"),
    "exploitability": ("evaluation:exploitability", "evaluate:exploitability"),
    "lbr": ("evaluation:lbr", "evaluate:lbr"),
    "litmus": ("evaluation:litmus", "evaluate:litmus"),
    "cost": ("evaluation:cost", "evaluate:cost"),
    "explain": ("explain:explain",),
    "convert": ("files:convert", "artifacts:convert"),
    "ship": ("files:ship", "artifacts:ship"),
    "sweep": ("files:sweep", "sweep:sweep"),
    "hands": ("players:hands", "players:hand_statistics"),
    "model": ("players:model", "players:model_players"),
    "drill": ("practice:drill",),
    "charts": ("practice:charts",),
    "serve": ("serve:serve",),
    "cache": ("show.artifact:cache",),
    "endgames build": ("endgames:build", "endgames:build_endgames"),
    "endgames show": ("endgames:show",),
    "endgames query": ("endgames:query", "endgames:query_endgames"),
}
GROUPS = {"acpc": "Matches over the ACPC protocol.", "endgames": "Databases of solved river endgames."}


def make_app(called: str | None = None) -> typer.Typer:
    """Return the app with all commands, or with the called one and outlines of the others.

    Typer processes the options of every command first, which takes a tenth of a second.
    """
    app = typer.Typer(
        help="Solve imperfect-information games, with a certificate of the solution's quality.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        add_completion=False,
    )
    app.callback()(_global_options)
    groups = {"": app} | {name: typer.Typer(help=text, no_args_is_help=True) for name, text in GROUPS.items()}
    for name in GROUPS:
        app.add_typer(groups[name], name=name)
    for words in COMMANDS:
        group, _, name = words.rpartition(" ")
        groups[group].command(name)(make_command(words, outline=called not in (None, words.partition(" ")[0])))
    return app


def make_command(words: str, *, outline: bool = False) -> Command:
    """Return a command by its name, or an outline of it."""
    function, *api = COMMANDS[words]
    return Command(f"riverboat.cli.{function}", *(f"riverboat.api.{each}" for each in api), outline=outline)


def print_version(value: bool) -> None:
    """Print the version and exit."""
    if value:
        from riverboat import __version__

        typer.echo(f"riverboat {__version__}")
        raise typer.Exit


def _global_options(
    show_version: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Solve imperfect-information games, with a certificate of the solution's quality."""


def main(arguments: list[str] | None = None) -> None:
    """Run a command; print errors as one line and exit with their code."""
    words = sys.argv[1:] if arguments is None else arguments
    called = next((word for word in words if not word.startswith("-")), "")
    termination.run_app(make_app(called), arguments)


if __name__ == "__main__":
    main()
