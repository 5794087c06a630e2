"""Bad input on purpose: over a thousand commands that are wrong, and some that only look so.

One rule for all of them: the exit code that docs/formats.md has for it, one line that begins with `error:`, no traceback, no
silence above two seconds, and nothing lost: what was on disk before is there afterwards, byte for byte.

    python -m tests.fuzz                    all cases, with a summary
    python -m tests.fuzz 'cards/*' --show   some of them, with what they print

A case is a command with what it should come to. Cases are not listed by hand: `values` has bad values by kind, `groups` say
which options of which commands take which kind, and cross them. Commands run in this process, in a folder of their own
beside `world`, which has solved games, blueprints and files to point at.
"""
