"""Games of hand classes: sizes, values and best responses against general methods."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from riverboat.abstraction.game_shrink import class_matchups, number_classes, shrink_game, suit_classes
from riverboat.core.errors import InputError
from riverboat.games.small.poker import rhode_island
from riverboat.papers.public_chance_sampling.class_game import (
    ClassCFR,
    ClassGame,
    ClassSequenceForm,
    class_program_size,
    class_quality,
)
from riverboat.papers.rhode_island import coarse_labels, full_game_size, make_class_game
from riverboat.solvers.exact import lp
from riverboat.solvers.exact.lp import solve_lp
from riverboat.solvers.exact.sequence_form import SequenceForm
from riverboat.trees.compile import compile_game


@pytest.fixture(scope="module")
def small() -> ClassGame:
    game = rhode_island(3, 2, 1)
    return make_class_game(game, suit_classes(game))


@pytest.fixture(scope="module")
def value() -> float:
    """The value of the same game, card by card."""
    return solve_lp(compile_game(rhode_island(3, 2, 1))).value


@pytest.mark.parametrize(("corners", "near"), [(10**9, 1e-7), (0, 1e-6)])
def test_linear_programs_agree(
    small: ClassGame, value: float, corners: int, near: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By suit classes, with the simplex or an interior-point method, and card by card: equal values."""
    monkeypatch.setattr(lp, "MAX_SIMPLEX_SEQUENCES", corners)
    low, high = ClassSequenceForm(small).quality().bracket
    assert (low, high) == pytest.approx((value, value), abs=near)


def test_sizes_are_those_of_the_sequence_form() -> None:
    """With every card a class of its own, where suits are distinct: counted from histories."""
    game = rhode_island(2, 2, 1)
    form = SequenceForm(compile_game(game))
    count, card = 4, np.arange(4)
    third = np.where(
        (card[:, None, None] != card[:, None]) & (card[:, None, None] != card) & (card[:, None] != card),
        card[:, None, None] * count * count + card[:, None] * count + card,
        -1,
    )
    second = np.where(card[:, None] != card, card[:, None] * count + card, -1)
    result = class_program_size(make_class_game(game, number_classes(card, second, third)))
    plex = form.treeplexes[0]
    assert (result.sequences, result.infosets) == (plex.sequences, len(plex.parent))
    assert result.payoffs == form.matrix.nnz


def test_cfr_converges_to_the_value(small: ClassGame, value: float) -> None:
    solver = ClassCFR(small)
    solver.step(100)
    result = solver.quality()
    low, high = result.bracket
    assert low <= value <= high
    assert result.exploitability < 0.1
    assert result.values[0] == pytest.approx(-result.values[1])


def test_dense_and_sparse_agree(small: ClassGame) -> None:
    dense = ClassGame(small.tree, small.parents, small.joint_probability.toarray(), small.win_margin.toarray())
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
    assert full_game_size(52)[0] == 91_224_226
    game = rhode_island()
    few, many = shrink_game(game), suit_classes(game)
    assert many.counts == (13, 325, 9997)  # canonical hands, Waugh's indexer
    result = class_program_size(make_class_game(game, few))
    assert (result.rows, result.entries) == (1_237_238, 50_428_638)
    for street, label in enumerate(coarse_labels(many, few)):  # GameShrink does not distinguish hands that suits do not
        node, there = many.labels[street], few.labels[street]
        assert (label[node[node >= 0]] == there[node >= 0]).all()


def test_game_shrink_by_win_counts_is_lossy(value: float) -> None:
    game = rhode_island(3, 2, 1)
    low, high = ClassSequenceForm(make_class_game(game, shrink_game(game))).quality().bracket
    assert high - low < 1e-6
    assert abs((low + high) / 2 - value) > 1e-3


def test_pair_probabilities_are_a_distribution() -> None:
    game = rhode_island(4, 2)
    for classes in (shrink_game(game), suit_classes(game)):
        meets, wins = class_matchups(game, classes)
        assert meets.sum() == pytest.approx(1.0)
        assert np.array_equal(meets.toarray(), meets.toarray().T)
        assert np.array_equal(wins.toarray(), -wins.toarray().T)
        assert (abs(wins.toarray()) <= meets.toarray() + 1e-15).all()


def test_invalid_input(small: ClassGame) -> None:
    with pytest.raises(InputError, match=r"\(2, 2\)"):
        ClassGame(small.tree, small.parents, csr_array((2, 2)), small.win_margin)
    with pytest.raises(InputError, match=r"\b3\b"):
        ClassGame(small.tree, small.parents[1:], small.joint_probability, small.win_margin)
    with pytest.raises(InputError, match=r"\(1, 1\)"):
        class_quality(small, [np.ones((1, 1))] * 3)
