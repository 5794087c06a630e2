"""How many buckets a training of so long can fill: strength does not follow size.

Measured with the demo's bets (mean against the others, mbb/g, 100,000 duplicate hands each): 2 core-minutes with 100 buckets
a street +26; 29 core-minutes with 100 buckets +77, with 500 +149, with 5,000 +11. By duels of six million hands: 500 buckets
after 10 core-minutes are 14 ± 9 ahead of 100 after 2 and 11 ± 9 behind 100 after 20; after 36 they are 48 ± 9 ahead of that.
With the bets of `default`, three million hands: 100 buckets after 10 core-minutes are 31 ± 12 ahead of those after 2, 500
after 40 are 21 ± 13 ahead of that, and after 120 35 ± 13, which is 6 ± 11 ahead of 40 (bench/frontier.py).
A table that is too large for its time is mostly noise, one that is too small stops to gain. So `riverboat train --time 8h`
without a recipe takes the size from the time, and a larger size begins where the one before it stands after a tenth of the
time (`carrying`).
"""

from __future__ import annotations

from dataclasses import dataclass

from riverboat.errors import InputError

SHARE = 0.1  # of the time that goes to the size before


@dataclass(frozen=True)
class Size:
    """Cards for a training of some length."""

    cards: str  # recipe of the card abstraction
    least: float  # core-seconds from which on it is taken
    begins: str | None  # recipe of the cards that it begins with
    measured: str  # what is known of it


SIZES = (
    Size(
        "tiny", 0.0, None, "100 buckets are nearly spent after 20 core-minutes: ten times more deals gain 45 ± 23 mbb/g"
    ),
    Size(
        "small",
        1_200.0,
        "tiny",
        "500 buckets are ahead of 100 and of 5,000 at 29 core-minutes; at 10 they are behind 100 at 20",
    ),
)


def size_for(seconds: float, threads: int) -> Size:
    """What a training of so many seconds on so many threads can fill."""
    if not seconds > 0 or threads < 1:
        raise InputError(f"{seconds:g} seconds on {threads} threads: both must be above zero")
    return [size for size in SIZES if size.least <= seconds * threads][-1]
