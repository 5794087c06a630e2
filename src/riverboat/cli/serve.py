"""The command that serves the page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from riverboat.cli.options import PORT


def serve(
    port: Annotated[int, typer.Option(min=0, max=PORT, help="Port of the page; 0 takes a free one.")] = 8765,
    host: Annotated[str, typer.Option(help="Address to listen at; another than this machine's says so.")] = "127.0.0.1",
    data: Annotated[Path, typer.Option(help="Folder of the runs: all that is read and written.")] = Path("runs"),
    jobs: Annotated[int, typer.Option(min=1, max=64, help="Solves at once; others wait.")] = 1,
    memory: Annotated[str | None, typer.Option(help="What solves may take together, such as 8GB.")] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Only print the link.")] = False,
) -> None:
    """Open a page in the browser: build spots, solve, read, and watch runs."""
    from riverboat.web import serve as serving

    serving.serve(port, host, data, jobs, memory, opens=not no_open)


COMMANDS = (serve,)
