"""Which solver serves which tree, and with what where nothing is said."""

from __future__ import annotations

from typing import Any

from riverboat.abstraction.card_abstraction import CardAbstraction
from riverboat.abstraction.last_street import named_cards
from riverboat.errors import InputError
from riverboat.games.board_game import BoardGame
from riverboat.solving.boards import BOARD_SCHEDULE as BOARD_SCHEDULE
from riverboat.solving.boards import BoardCFR
from riverboat.solving.cfr import CFR
from riverboat.solving.schedules import AnySchedule, dcfr
from riverboat.trees.boards import BoardTree
from riverboat.trees.compile import AnyTree
from riverboat.walks.devices import CPU, CUDA

FLOAT32_ABOVE = 100_000_000  # entries of a table


def default_dtype(tree: AnyTree, cards: object = None) -> str:
    """Double precision until the tables grow large; six bytes for each information set and action on boards.

    With buckets eight: what hands of a bucket play is then the same to the last bit.
    """
    if isinstance(tree, BoardTree):
        return "compact" if cards is None else "float32"
    return "float32" if tree.table > FLOAT32_ABOVE else "float64"


def default_schedule(tree: AnyTree) -> AnySchedule:
    """DCFR; on boards with the exponents that were fastest on spots (docs/decisions/0014-schedule-of-spots.md)."""
    return BOARD_SCHEDULE if isinstance(tree, BoardTree) else dcfr()


def buckets_for(tree: AnyTree, cards: str | CardAbstraction | None) -> CardAbstraction | None:
    """A card abstraction for a tree, by its name where it has one (`riverboat.abstraction.last_street`)."""
    if cards is None:
        return None
    if not isinstance(tree, BoardTree):
        raise InputError(f"{tree.name}: cards are put into buckets in whole games of hold'em")
    game: BoardGame = tree.game
    return named_cards(cards, game.deck, tuple(game.deals)) if isinstance(cards, str) else cards


def make_solver(
    tree: AnyTree,
    schedule: str | AnySchedule,
    traversal: str,
    seed: int,
    threads: int,
    dtype: str,
    options: dict[str, Any],
    device: str = CPU,
    cards: CardAbstraction | None = None,
) -> CFR | BoardCFR:
    """The solver for a tree."""
    if isinstance(tree, BoardTree):
        if traversal != "full":
            raise InputError(f"{tree.name}: traversal {traversal!r}: boards are walked in full")
        return BoardCFR(tree, schedule, threads=threads, dtype=dtype, device=device, cards=cards, **options)
    if device == CUDA:
        raise InputError(f"{tree.name}: device 'cuda' is for spots and whole games of hold'em; take 'cpu' or 'auto'")
    return CFR(tree, schedule, traversal, seed=seed, threads=threads, dtype=dtype, **options)
