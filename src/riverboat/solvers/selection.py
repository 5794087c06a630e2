"""Which solver serves which tree, and with what where nothing is said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.abstraction.small.last_street import named_cards
from riverboat.core.budget import require
from riverboat.core.errors import InputError
from riverboat.engines.devices import CPU, CUDA, check_device
from riverboat.games.boards.board_game import BoardGame
from riverboat.games.boards.full_holdem import Holdem
from riverboat.solvers import schedules, traversals
from riverboat.solvers.boards import cfr as boards
from riverboat.solvers.boards.cfr import BOARD_SCHEDULE as BOARD_SCHEDULE
from riverboat.solvers.boards.cfr import LIMIT_SCHEDULE, WHOLE_SCHEDULE, BoardCFR
from riverboat.solvers.boards.sampled import SampledBoards
from riverboat.solvers.schedules import AnySchedule, Schedule, dcfr
from riverboat.solvers.tabular import cfr
from riverboat.solvers.tabular.cfr import CFR
from riverboat.trees.boards import BoardTree
from riverboat.trees.compile import AnyTree

FLOAT32_ABOVE = 100_000_000  # entries of a table
READ = 4  # bytes of an entry that a check of a sampled run reads


def bytes_of_tables(
    tree: AnyTree, schedule: AnySchedule, dtype: str, traversal: str = "full", *, tied: bool = False
) -> int:
    """Memory that the tables of a solver take.

    On boards, sampled runs and runs with buckets (`tied`) have one more, which best responses read.
    """
    if isinstance(tree, BoardTree):
        read = READ * tree.table if tied or traversals.parse(traversal).sampled else 0
        return boards.table_bytes(tree, schedule, dtype) + read
    return cfr.table_bytes(tree, schedule, dtype)


def default_dtype(tree: AnyTree, cards: object = None, traversal: str = "full") -> str:
    """Double precision until the tables grow large; six bytes for each information set and action on boards.

    With buckets eight: what hands of a bucket play is then the same to the last bit; and for samplers.
    """
    if isinstance(tree, BoardTree):
        return "compact" if cards is None and not traversals.parse(traversal).sampled else "float32"
    return "float32" if tree.table > FLOAT32_ABOVE else "float64"


def default_schedule(tree: AnyTree, traversal: str = "full") -> AnySchedule:
    """DCFR; on boards with the exponents that were fastest on spots (docs/decisions/0014-schedule-of-spots.md), and in whole
    games of hold'em with moves weighed by their stakes (0043-schedule-of-whole-games.md) where walks can.
    """
    if not isinstance(tree, BoardTree):
        return dcfr()
    if not isinstance(tree.game, Holdem) or traversals.parse(traversal).sampled:
        return BOARD_SCHEDULE
    return LIMIT_SCHEDULE if tree.game.rules.limit else WHOLE_SCHEDULE


def caution(schedule: str | AnySchedule, traversal: str) -> str | None:
    """What nobody has proved of a schedule with a traversal, in words; None where there is a theory."""
    how, rule = traversals.parse(traversal), schedules.parse(schedule)
    if not how.sampled or (isinstance(rule, Schedule) and not rule.floored and not rule.predictive):
        return None
    return (
        f"schedule {rule} with traversal {how.name!r}: no theory says that it converges; take vanilla, linear or dcfr"
    )


def buckets_for(tree: AnyTree, cards: str | CardAbstraction | None) -> CardAbstraction | None:
    """A card abstraction for a tree, by its name where it has one (`riverboat.abstraction.small.last_street`)."""
    if cards is None:
        return None
    if not isinstance(tree, BoardTree):
        raise InputError(f"{tree.name}: cards are put into buckets in whole games of hold'em")
    game: BoardGame = tree.game
    buckets = named_cards(cards, game.deck, tuple(game.deals)) if isinstance(cards, str) else cards
    if buckets.public is None and len(buckets.streets) > tree.streets:  # of a longer game, the first streets
        buckets = replace(
            buckets, streets=buckets.streets[: tree.streets], deals=tuple(game.deals), known_fingerprint=None
        )
    return buckets


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
) -> CFR | BoardCFR | SampledBoards:
    """The solver for a tree."""
    check_device(device)
    if isinstance(tree, BoardTree):
        if (how := traversals.parse(traversal)).sampled:
            if device == CUDA:
                raise InputError(f"{tree.name}: device 'cuda' walks in full, not {traversal!r}; take 'cpu' or 'auto'")
            require(tree.name, bytes_of_tables(tree, schedules.parse(schedule), dtype, traversal))
            return SampledBoards(tree, schedule, how.name, seed=seed, threads=threads, dtype=dtype, cards=cards)
        return BoardCFR(tree, schedule, threads=threads, dtype=dtype, device=device, cards=cards, **options)
    if device == CUDA:
        raise InputError(f"{tree.name}: device 'cuda' is for spots and whole games of hold'em; take 'cpu' or 'auto'")
    return CFR(tree, schedule, traversal, seed=seed, threads=threads, dtype=dtype, **options)
