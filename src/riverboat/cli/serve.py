"""`riverboat serve`: the web page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from riverboat.api.options import MAX_PORT, Limits


def serve(
    *,
    port: Annotated[int, Limits(0, MAX_PORT)] = 8765,
    host: str = "127.0.0.1",
    data: Path = Path("runs"),
    jobs: Annotated[int, Limits(1, 64)] = 1,
    memory: str | None = None,
    no_open: bool = False,
) -> None:
    """Serve a web page: build spots, solve them, study the solutions, and watch runs.

    Parameters
    ----------
    port
        Port of the page; 0 takes a free one.
    host
        Address to listen at; prints a warning unless it is local.
    data
        Folder of the runs; nothing else is read or written.
    jobs
        Solves in parallel; others wait.
    memory
        Memory limit of all solves together, such as 8GB.
    no_open
        Only print the link.
    """
    from riverboat.web import serve as web_serve

    web_serve.serve(port, host, data, jobs, memory, open_browser=not no_open)
