"""Invalid input on purpose: over a thousand commands that are wrong, and some that only look so.

One rule for all of them: the exit code of docs/formats.md, one line that begins with `error:`, no traceback, no silence
of more than two seconds, and no data loss: files that existed before are unchanged, byte for byte.

    python -m tests.fuzz                    all cases, with a summary
    python -m tests.fuzz 'cards/*' --show   some of them, with their output

A case is a command with its expected exit codes. Cases are generated: `values` has bad values by kind, and `groups`
combine them with the options of commands that take that kind. Commands run in this process, each in a folder of its own
next to `world`, which has solved games, blueprints and files to point at.
"""
