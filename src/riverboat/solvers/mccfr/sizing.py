"""How many buckets a training of so long can fill: strength does not follow size.

A table that is too large for its time is mostly noise, one that is too small stops to gain. Measured with the bets of
`default` by duels of six million hands, deals as many as two cores make (docs/algorithms/blueprints.md): 100 buckets a street
gain 53 ± 9 mbb/g from 2 to 10 core-minutes. 500 after 40 are 22 ± 9 ahead of 100 after 10, and gain 10 ± 8 until 120. There
2,000 are 31 ± 9 ahead of 500, and after 960 they are 17 ± 8 ahead of themselves. With the demo's bets 500 buckets after 10
core-minutes were 11 ± 9 behind 100 after 20. So `riverboat train --time 8h` without a recipe takes the size from the time,
and a larger size begins where the one before it stands after a tenth of the time (`carrying`).
"""

from __future__ import annotations

from dataclasses import dataclass

from riverboat.core.errors import InputError

SHARE = 0.1  # of the time that goes to the size before
DEVICE_CORES = 150  # that a GPU stands for: an H200 walks 28 to 42 million deals a second, a core some 175,000


@dataclass(frozen=True)
class Size:
    """Cards for a training of some length."""

    cards: str  # recipe of the card abstraction
    least: float  # core-seconds from which on it is taken
    begins: str | None  # recipe of the cards that it begins with
    rate: int  # deals a second and core, as they were measured: what a GPU needs for as much
    measured: str  # what is known of it


SIZES = (
    Size(
        "tiny",
        0.0,
        None,
        175_000,
        "100 buckets are nearly spent after 20 core-minutes: ten times more deals gain 45 ± 23 mbb/g",
    ),
    Size("small", 1_200.0, "tiny", 175_000, "500 buckets after 40 core-minutes are 22 ± 9 mbb/g ahead of 100 after 10"),
    Size("medium", 7_200.0, "small", 150_000, "2,000 buckets are 31 ± 9 mbb/g ahead of 500 after 120 core-minutes"),
)


def size_for(seconds: float, threads: int, *, device: bool = False) -> Size:
    """What a training of so many seconds on so many threads, or on a GPU, can fill."""
    if not seconds > 0 or threads < 1:
        raise InputError(f"{seconds:g} seconds on {threads} threads: both must be above zero")
    return [size for size in SIZES if size.least <= seconds * (DEVICE_CORES if device else threads)][-1]
