"""The process of a job: a command line that is interrupted when its server exits.

    python -m riverboat.web.jobs.process solve spot.toml --out runs/spot …

Its standard input is a pipe from the server. When the pipe closes, because the job is stopped or the server was killed, the
command is interrupted as by Ctrl-C: it writes a checkpoint and exits. It runs at a low priority, so that the server stays
responsive.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import sys
import threading

NICENESS = 10  # lower priority than the server


def _interrupt_when_closed() -> None:
    """Interrupt the command when the server ends or closes the pipe to it."""
    with contextlib.suppress(OSError):
        while os.read(0, 1 << 10):
            pass
    _thread.interrupt_main()


def main() -> None:
    """Run the command in the arguments."""
    if hasattr(os, "nice"):
        with contextlib.suppress(OSError):
            os.nice(NICENESS)
    threading.Thread(target=_interrupt_when_closed, daemon=True).start()

    from riverboat.cli import main as cli
    from riverboat.core import plugins

    plugins.forbid_imports("a job of the server")
    cli.main(sys.argv[1:])


if __name__ == "__main__":
    main()
