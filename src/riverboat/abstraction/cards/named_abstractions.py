"""Card abstractions by name, for games that are solved on boards."""

from __future__ import annotations

from pathlib import Path

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, load_abstraction, lossless_abstraction
from riverboat.abstraction.cards.percentile_buckets import strength_abstraction
from riverboat.abstraction.cards.potential_buckets import potential_abstraction
from riverboat.cards.deck import FULL_DECK, Deck
from riverboat.core.errors import InputError, short_repr

NAMED_METHODS = ("flops", "strength", "potential")
MAX_NAMED_BUCKETS = 10**7


def abstraction_by_name(
    name: str, deck: Deck = FULL_DECK, deals: tuple[int, ...] = (3,), threads: int = 1
) -> CardAbstraction:
    """Return the abstraction with a name: `flops:N`, `strength:N`, `potential:N`, `lossless`, or the folder of one.

    `flops:N` has N strength buckets, each on one board; `strength:N` has N over all boards; `potential:N` has N
    potential-aware buckets over all boards.
    """
    kind, colon, count = name.partition(":")
    if name == "lossless":
        return lossless_abstraction(deals, deck)
    if colon and kind in NAMED_METHODS:
        if not count.isdecimal() or not count.strip("0"):
            raise InputError(f"cards {short_repr(name)}: add the number of buckets, such as {kind}:2000")
        # length first: int() of a very long number is slow
        if len(count) > len(str(MAX_NAMED_BUCKETS)) or int(count) > MAX_NAMED_BUCKETS:
            raise InputError(
                f"cards {short_repr(name)}: at most {MAX_NAMED_BUCKETS:,} buckets, such as {kind}:{MAX_NAMED_BUCKETS}"
            )
        if len(deals) != 1:
            raise InputError(f"cards {short_repr(name)}: only for games with two rounds; here boards are dealt {deals}")
        if kind == "potential":
            return potential_abstraction(int(count), deck, deals[0], threads=threads)
        return strength_abstraction(int(count), deck, deals[0], per_board=kind == "flops")
    if not Path(name).is_dir():
        raise InputError(
            f"cards {short_repr(name)}: write flops:30000, strength:2000, potential:30000, lossless, or the folder of a "
            "card abstraction"
        )
    return load_abstraction(name)
