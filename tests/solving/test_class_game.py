"""Games of classes: sizes, values and best responses beside the general ways."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from riverboat.abstraction.small.game_shrink import by_suits, meetings, numbered, shrink
from riverboat.core.errors import InputError
from riverboat.games.small.rhode_island import rhode_island
from riverboat.papers.abstraction.class_form import ClassForm, sizes
from riverboat.papers.abstraction.rhode_island import class_game, coarser, whole_size
from riverboat.papers.public_chance_sampling.class_game import ClassCFR, ClassGame, class_quality
from riverboat.solvers.exact import lp
from riverboat.solvers.exact.lp import solve_lp
from riverboat.solvers.exact.sequence_form import SequenceForm
from riverboat.trees.compile import compile_game


@pytest.fixture(scope="module")
def small() -> ClassGame:
    game = rhode_island(3, 2, 1)
    return class_game(game, by_suits(game))


@pytest.fixture(scope="module")
def value() -> float:
    """Of the same game, card by card."""
    return solve_lp(compile_game(rhode_island(3, 2, 1))).value


@pytest.mark.parametrize(("corners", "near"), [(10**9, 1e-7), (0, 1e-6)])
def test_linear_programs_agree(
    small: ClassGame, value: float, corners: int, near: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By classes of suits, from corner to corner or by an interior point, and card by card: one value."""
    monkeypatch.setattr(lp, "CORNERS", corners)
    low, high = ClassForm(small).quality().bracket
    assert (low, high) == pytest.approx((value, value), abs=near)


def test_sizes_are_those_of_the_sequence_form() -> None:
    """With every card a class of its own, where two suits are two names for nothing: counted from histories."""
    game = rhode_island(2, 2, 1)
    form = SequenceForm(compile_game(game))
    count, card = 4, np.arange(4)
    third = np.where(
        (card[:, None, None] != card[:, None]) & (card[:, None, None] != card) & (card[:, None] != card),
        card[:, None, None] * count * count + card[:, None] * count + card,
        -1,
    )
    second = np.where(card[:, None] != card, card[:, None] * count + card, -1)
    found = sizes(class_game(game, numbered(card, second, third)))
    plex = form.treeplexes[0]
    assert (found.sequences, found.infosets) == (plex.sequences, len(plex.parent))
    assert found.payoffs == form.matrix.nnz


def test_learning_closes_in_on_the_value(small: ClassGame, value: float) -> None:
    solver = ClassCFR(small)
    solver.step(100)
    found = solver.quality()
    low, high = found.bracket
    assert low <= value <= high
    assert found.exploitability < 0.1
    assert found.values[0] == pytest.approx(-found.values[1])


def test_dense_and_sparse_are_the_same(small: ClassGame) -> None:
    dense = ClassGame(small.tree, small.parents, small.meets.toarray(), small.wins.toarray())
    rng = np.random.default_rng(0)
    tables = []
    for street, count in enumerate(small.counts):
        table = np.zeros((count, int(small.tree.width[street])))
        for node in np.flatnonzero((small.tree.actor >= 0) & (small.tree.street == street)):
            at, moves = int(small.tree.slot[node]), int(small.tree.count[node])
            table[:, at : at + moves] = rng.dirichlet(np.ones(moves), count)
        tables.append(table)
    assert class_quality(dense, tables).best == pytest.approx(class_quality(small, tables).best)


@pytest.mark.slow
def test_published_classes_and_rows() -> None:
    """Gilpin & Sandholm 2007: 91,224,226 rows before, 1,237,238 rows and 50,428,638 entries after."""
    assert whole_size(52)[0] == 91_224_226
    game = rhode_island()
    few, many = shrink(game), by_suits(game)
    assert many.counts == (13, 325, 9997)  # canonical hands, Waugh's indexer
    found = sizes(class_game(game, few))
    assert (found.rows, found.entries) == (1_237_238, 50_428_638)
    for street, label in enumerate(coarser(many, few)):  # what suits cannot tell apart GameShrink does not either
        here, there = many.labels[street], few.labels[street]
        assert (label[here[here >= 0]] == there[here >= 0]).all()


def test_counting_wins_loses_something(value: float) -> None:
    game = rhode_island(3, 2, 1)
    low, high = ClassForm(class_game(game, shrink(game))).quality().bracket
    assert high - low < 1e-6
    assert abs((low + high) / 2 - value) > 1e-3


def test_meetings_are_a_distribution() -> None:
    game = rhode_island(4, 2)
    for classes in (shrink(game), by_suits(game)):
        meets, wins = meetings(game, classes)
        assert meets.sum() == pytest.approx(1.0)
        assert np.array_equal(meets.toarray(), meets.toarray().T)
        assert np.array_equal(wins.toarray(), -wins.toarray().T)
        assert (abs(wins.toarray()) <= meets.toarray() + 1e-15).all()


def test_what_is_refused(small: ClassGame) -> None:
    with pytest.raises(InputError, match="classes meet each other"):
        ClassGame(small.tree, small.parents, csr_array((2, 2)), small.wins)
    with pytest.raises(InputError, match="the game has 3"):
        ClassGame(small.tree, small.parents[1:], small.meets, small.wins)
    with pytest.raises(InputError, match="a table of shape"):
        class_quality(small, [np.ones((1, 1))] * 3)
