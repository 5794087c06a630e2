"""The command that explains strategies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from riverboat.cli.options import SEED, Json, SolvedGame


def explain(
    folder: Annotated[Path, typer.Argument(help="Folder of a run or a strategy, of many boards, or an agent.")],
    line: Annotated[str | None, typer.Argument(help="One decision, such as b94 or cr; root is the first one.")] = None,
    rules: Annotated[int, typer.Option(min=1, max=300, help="At most so many rules.")] = 10,
    method: Annotated[str, typer.Option(help="list, tree, or auto: what is nearer on what was not seen.")] = "auto",
    player: Annotated[int | None, typer.Option(min=0, max=9, help="Of small games: one player; else all.")] = None,
    list_file: Annotated[Path | None, typer.Option("--list", help="Measure the rules of a text file instead.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the rules to a text file that can be edited.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the dial: fidelity and cost by the number of rules.")] = None,
    hand: Annotated[str | None, typer.Option(help="Of a spot: why this hand is played so, AhKh.")] = None,
    against: Annotated[Path | None, typer.Option(help="Another folder or agent: what changes there.")] = None,
    against_line: Annotated[str | None, typer.Option(help="The line there, if another one.")] = None,
    board: Annotated[str | None, typer.Option(help="Of an agent at a line: the board, 8c8d5c.")] = None,
    boards: Annotated[str | None, typer.Option(help="Many instead: a file, all flops, sample:25.")] = None,
    hands: Annotated[int, typer.Option(min=100, max=100_000, help="Of an agent: hands against itself.")] = 1_000,
    seed: Annotated[int, typer.Option(min=0, max=SEED, help="Of these hands, and of what is held out.")] = 0,
    game: SolvedGame = None,
    json: Json = False,
) -> None:
    """A strategy as rules that a person can learn, and what following them costs."""
    from riverboat.cli.explain import explain as explaining

    options = explaining.Options(
        rules, method, player, list_file, out, plot, hand, against, against_line, board, boards, hands, seed, game, json
    )
    explaining.run(folder, line, options)


COMMANDS = (explain,)
