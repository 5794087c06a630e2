"""Card abstractions on boards: iterations equal CFR in the abstract game, and qualities are those of the full game."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import riverboat as rb
from riverboat.abstraction.bucketed_game import BucketedGame
from riverboat.abstraction.cards.card_abstraction import CardAbstraction, lossless_abstraction
from riverboat.abstraction.cards.named_abstractions import abstraction_by_name
from riverboat.abstraction.cards.percentile_buckets import strength_abstraction
from riverboat.cards.deck import HAND_CARDS, Deck
from riverboat.cards.notation import parse_cards
from riverboat.core.errors import InputError
from riverboat.engines.cpu.ties import TiedRows
from riverboat.games.boards.holdem import Holdem, holdem
from riverboat.solvers.boards.cfr import BoardCFR
from riverboat.solvers.tabular.best_response import quality
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.lifting import lift_cards
from riverboat.trees.boards import BoardTree
from riverboat.trees.compile import compile_game
from riverboat.trees.public import PublicTree

DECK = Deck.small(4, 2)


def game() -> Holdem:
    return holdem("2-1", ranks=4, suits=2)


def bucketed(game: Holdem, cards: CardAbstraction) -> BucketedGame:
    """Return the abstract game by histories, with the bucket of the current street only."""

    def bucket(player: int, hand: str, board: tuple[str, ...]) -> str:
        seen = [card for dealt in board for card in parse_cards(dealt.strip("/"))]
        return f"{len(seen)}-{cards.bucket(parse_cards(hand), seen)}"

    return BucketedGame(game, bucket, perfect_recall=False)


@pytest.mark.parametrize(
    "schedule", ["dcfr", *(pytest.param(name, marks=pytest.mark.slow) for name in ("cfr+", "vanilla", "pcfr+"))]
)
def test_iterations_equal_those_of_the_abstract_game(schedule: str) -> None:
    """General CFR on the abstract game, lifted to the full game, has the same quality there."""
    cards, game = strength_abstraction(5, DECK, per_board=False), holdem("2-1", ranks=4, suits=2, raises="0/1")
    abstract = bucketed(game, cards)
    oracle, solver = (
        CFR(compile_game(abstract), schedule),
        BoardCFR(BoardTree(game), schedule, dtype="float64", cards=cards),
    )
    full = PublicTree(game)
    for count in (1, 2, 4):
        oracle.step(count)
        solver.step(count)
        expected = quality(lift_cards(oracle.average(), abstract, full))
        per_chip = solver.tree.per_chip
        assert solver.quality().best == pytest.approx([per_chip * x for x in expected.best], rel=1e-9, abs=1e-9)


def test_threads_and_evaluations_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riverboat.core.resources.available_cores", lambda: 4)
    runs = []
    for threads, looks in ((1, False), (3, False), (1, True)):
        solver = BoardCFR(
            BoardTree(game()), dtype="float64", threads=threads, cards=strength_abstraction(6, DECK, per_board=False)
        )
        for _ in range(4):
            solver.step(5)
            if looks:
                solver.quality()
        runs.append(solver)
    np.testing.assert_array_equal(runs[1].averages, runs[0].averages)
    np.testing.assert_allclose(runs[2].averages, runs[0].averages, rtol=1e-9, atol=1e-14)


def test_lossless_abstraction_equals_the_full_game() -> None:
    plain, tied = (
        BoardCFR(BoardTree(game()), dtype="float64", cards=cards) for cards in (None, lossless_abstraction((3,), DECK))
    )
    for solver in (plain, tied):
        solver.step(10)
    np.testing.assert_allclose(tied.averages, plain.averages, rtol=1e-9, atol=1e-12)


def test_hands_of_a_bucket_share_a_strategy() -> None:
    cards = strength_abstraction(3, DECK, per_board=False)
    solver = BoardCFR(BoardTree(game()), dtype="float64", cards=cards)
    solver.step(30)
    solution, seen = solver.average(), {}
    for board in ("AsKsQs", "AsKhJs", "QhJhJs"):
        node: Any = solution[f"rc/{board}/"]
        for hand in np.flatnonzero(~np.isnan(node.strategy[0])):
            bucket = cards.bucket(tuple(int(c) for c in HAND_CARDS[hand]), parse_cards(board))
            row = node.strategy[:, hand]
            np.testing.assert_allclose(row, seen.setdefault(bucket, row), atol=1e-12)
    assert len(seen) == 3


def test_fewer_buckets_lose_more() -> None:
    found = []
    for count in (1, 4, 40):
        solver = BoardCFR(BoardTree(game()), dtype="float64", cards=strength_abstraction(count, DECK, per_board=False))
        solver.step(300)
        found.append(solver.exploitability())
    assert found[0] > 1.5 * found[1] > 1.5 * found[2]


# --- maps -------------------------------------------------------------------------------------


def test_parts_of_each_flop_have_equal_weight() -> None:
    cards = abstraction_by_name("flops:35100")
    assert cards.counts == (169, 35_100)
    board = parse_cards("8h7d2c")
    held = [h for h in range(1326) if not set(HAND_CARDS[h]) & set(board)]
    rows = np.array([[*HAND_CARDS[h], *board] for h in held], np.uint8)
    sizes = np.bincount(cards.buckets(rows)[:, 0, 1])
    sizes = sizes[sizes > 0]
    assert len(sizes) == 20  # 35,100 buckets on 1,755 flops; hands that tie stay together
    assert abs(sizes - 1176 / 20).max() < 40


def test_the_stronger_hand_is_in_the_higher_bucket() -> None:
    cards, board = strength_abstraction(200, per_board=False), parse_cards("Kh8d2c")
    hands = ["4s3h", "8s7s", "KsQs", "KsKd"]
    found = [cards.bucket(parse_cards(h), board) for h in hands]
    assert found == sorted(found)
    assert len(set(found)) == 4


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("flops:10", ("flops:10", "1,755")),
        ("flops:x", ("flops:2000",)),
        ("flops:00", ("flops:2000",)),
        ("flops:999999999", ("'flops:999999999'", "10,000,000")),
        ("strength:" + "9" * 5000, ("10,000,000",)),
        ("nowhere", ("'nowhere'", "strength:2000")),
    ],
)
def test_invalid_names(name: str, words: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        abstraction_by_name(name)
    assert all(word in str(caught.value) for word in words)


def test_abstraction_of_another_game() -> None:
    with pytest.raises(InputError, match=r"\(3,\).*52"):
        TiedRows(BoardTree(game()), lossless_abstraction((3,)))


def test_run_resumes_only_with_its_own_abstraction(tmp_path: Path) -> None:
    """The error for another abstraction, or for none, names both."""
    cards = strength_abstraction(3, DECK, per_board=False)
    first = rb.solve(game(), cards=cards, iterations=4, out=tmp_path / "run")
    for other in (strength_abstraction(4, DECK, per_board=False), None):
        with pytest.raises(InputError, match=rf"cards='{cards.name} .*not .*{'None' if other is None else other.name}"):
            rb.solve(game(), cards=other, iterations=8, out=tmp_path / "run", resume=True)
    twice = rb.solve(game(), cards=cards, iterations=8, out=tmp_path / "run", resume=True)
    once = rb.solve(game(), cards=cards, iterations=8)
    assert first.iterations < twice.iterations == once.iterations
    assert twice.values == once.values
