"""A process that has everything loaded and forks one that works for each line that it reads; see `harness.Nursery`.

A line is a JSON list: the words of a command of Riverboat, or `call` and the name of a function (`module:function`) with its
arguments. The answers are the number of the new process, and its exit code when it has ended.
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
    """Do what a line says: the exit code."""
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
    """Fork for each line, and wait. Lines that are to be `loaded` are done here, so that later ones find all in memory."""
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        words, output, here = json.loads(line)
        file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        for stream in (1, 2):
            os.dup2(file, stream)
        os.close(file)
        process = 0 if here else os.fork()
        if process or here:
            print(process or os.getpid(), file=answers, flush=True)
        if process == 0:
            code = 70
            try:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                code = work(words)
                sys.stdout.flush()
                sys.stderr.flush()
            except KeyboardInterrupt:  # before the command began, or after its end
                code = 130 if code == 70 else code
            except BaseException:
                traceback.print_exc()
                sys.stderr.flush()
            finally:
                if not here:
                    os._exit(code)
        else:
            code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        print(code, file=answers, flush=True)


if __name__ == "__main__":
    main()
