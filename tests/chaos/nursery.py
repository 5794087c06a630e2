"""A process that has everything loaded and forks a worker for each line that it reads; see `harness.Nursery`.

A line is a JSON list: the arguments of a Riverboat command, or `call` and the name of a function (`module:function`)
with its arguments. The replies are the id of the new process, and its exit code when it has ended.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import traceback

from riverboat.cli import main as cli


def work(words: list[str]) -> int:
    """Execute a line and return the exit code."""
    try:
        if words[0] == "call":
            module, _, name = words[1].partition(":")
            getattr(importlib.import_module(module), name)(*words[2:])
        else:
            cli.main(words)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    except KeyboardInterrupt:
        return 130
    return 0


def main() -> None:
    """Fork for each line and wait. Lines with `load` run here, so that later ones find everything in memory."""
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        command, output, load = json.loads(line)
        file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        for stream in (1, 2):
            os.dup2(file, stream)
        os.close(file)
        process = 0 if load else os.fork()
        if process or load:
            print(process or os.getpid(), file=answers, flush=True)
        if process == 0:
            code = 70
            try:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                code = work(command)
                sys.stdout.flush()
                sys.stderr.flush()
            except KeyboardInterrupt:  # before the command started, or after it ended
                code = 130 if code == 70 else code
            except BaseException:
                traceback.print_exc()
                sys.stderr.flush()
            finally:
                if not load:
                    os._exit(code)
        else:
            code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        print(code, file=answers, flush=True)


if __name__ == "__main__":
    main()
