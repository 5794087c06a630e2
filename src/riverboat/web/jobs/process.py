"""The process of a job: a command line, as a person would type it, that ends when its server does.

    python -m riverboat.web.jobs.process solve spot.toml --out runs/spot …

Its standard input is a pipe from the server. When that is closed, to stop the job or because the server was killed, the
command is interrupted as by Ctrl-C: it writes a checkpoint and ends. It works at a low priority, so that the server answers.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import sys
import threading

NICE = 10  # steps of priority that the work leaves to the server and to everything else


def _listen() -> None:
    """Interrupt the command when the pipe closes."""
    with contextlib.suppress(OSError):
        while os.read(0, 1 << 10):
            pass
    _thread.interrupt_main()


def main() -> None:
    """Run the command that stands behind the module's name."""
    if hasattr(os, "nice"):
        with contextlib.suppress(OSError):
            os.nice(NICE)
    threading.Thread(target=_listen, daemon=True).start()

    from riverboat.cli import main as cli
    from riverboat.core import plugins

    plugins.forbid("a job of the server")
    cli.main(sys.argv[1:])


if __name__ == "__main__":
    main()
