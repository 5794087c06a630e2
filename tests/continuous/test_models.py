"""Qualitative models: programs, Newton's method, proposals, and invalid models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.reference.continuous import half_street

from riverboat.continuous import signals as deals
from riverboat.continuous.best_response import certify
from riverboat.continuous.discretization import DiscretizedGame
from riverboat.continuous.examples import auction, river
from riverboat.continuous.game import ContinuousGame, DecisionNode
from riverboat.continuous.proposals import add_raise, propose_models, river_models
from riverboat.continuous.solver import solve, solve_model, solve_models
from riverboat.continuous.strategies import QualitativeModel, enumerate_models, model_of_profile
from riverboat.core.errors import InputError
from riverboat.solvers.exact.lp import solve_lp
from riverboat.trees.compile import compile_game

BLUFF = {"root": "b x b", "b": "f c"}
ORDER = "root:1 b:1 root:2"
# The first player bets its weakest and strong hands and checks the strongest to raise; both bluff-raise the weakest.
RAISED = {"root": "b x b x", "x": "b x b", "x-b": "r f c r", "x-b-r": "f c", "b": "r f c r", "b-r": "f c"}


def half(pot: float = 2.0, signals: deals.Signals | None = None) -> tuple[ContinuousGame, QualitativeModel]:
    game = river(signals, pot=pot, street="half")
    return game, QualitativeModel.from_words(game, BLUFF, ORDER)


@pytest.mark.parametrize("method", ["lp", "linear", "milp", "newton"])
@pytest.mark.parametrize("pot", [0.7, 2.0, 9.0])
def test_every_method_finds_von_neumann(method: str, pot: float) -> None:
    game, model = half(pot)
    solution = solve_model(game, model, method)
    a, b, c = half_street(pot)
    assert solution.solved
    assert solution.profile is not None
    assert solution.profile.cuts == pytest.approx([a, b, c], abs=1e-9)
    assert solution.epsilon_share < 1e-12


@pytest.mark.parametrize("kind", ["cdf", "density"])
def test_equal_distributions_have_the_same_shares(kind: str) -> None:
    """Substituting u = F(x): for any common distribution, the same shares of hands bet and call."""
    points = [(0.0, 0.0), (0.2, 0.5), (3.0, 0.6), (4.0, 1.0)]
    cdf = (
        deals.from_cdfs([points] * 2)
        if kind == "cdf"
        else deals.from_densities([[(0.0, 1.0), (1.0, 0.1), (3.0, 2.0)]] * 2)
    )
    game, model = half(2.0, cdf)
    solution = solve_model(game, model, "auto", start=np.array([cdf.quantile(0, q) for q in (0.1, 0.7, 0.4)]))
    assert solution.solved
    shares = [s for row in solution.profile.to_dict().values() for s in row["shares"]]  # type: ignore[union-attr]
    assert shares == pytest.approx([0.1, 0.7, 0.4], abs=1e-9)


def random_cdf(rng: np.random.Generator) -> list[tuple[float, float]]:
    inner = np.sort(rng.choice(9, 2, replace=False) + 1) / 10
    shares = np.sort(rng.uniform(0.1, 0.9, 2))
    return [(0.0, 0.0), *((float(x), float(p)) for x, p in zip(inner, shares, strict=True)), (1.0, 1.0)]


@pytest.mark.parametrize("seed", range(4))
def test_different_distributions(seed: int) -> None:
    """The MILP finds an equilibrium, Newton's method finds the same, and the discretized game has its value."""
    rng = np.random.default_rng(seed)
    signals = deals.from_cdfs([random_cdf(rng), random_cdf(rng)])
    game, model = half(float(rng.uniform(1, 5)), signals)
    solutions = [solve_model(game, model, method) for method in ("milp", "newton")]
    assert all(a.solved and a.epsilon_share < 1e-9 for a in solutions)
    assert solutions[0].certificate is not None
    steps = 60
    discretized_value = solve_lp(compile_game(DiscretizedGame(game, steps))).value
    # a step is a tie for about 1 / steps of the signals, and at most the pot and two bets are at stake
    assert solutions[0].certificate.values[0] == pytest.approx(discretized_value, abs=(game.scale + 2) * 4 / steps)


def test_discretizations_converge() -> None:
    game, _ = half()
    errors = [abs(solve_lp(compile_game(DiscretizedGame(game, n))).value - 0.1) for n in (7, 23, 61)]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-3


def test_one_raise() -> None:
    """The model with a check-raise, from the thresholds proposed by the discretized game."""
    game = river(raises=(1.0,))
    solution = solve_model(game, QualitativeModel.from_words(game, RAISED))
    assert solution.solved
    assert solution.epsilon_share < 1e-12
    assert solution.profile is not None
    ordered = model_of_profile(solution.profile)
    again = [solve_model(game, ordered, method) for method in ("lp", "linear", "milp")]
    for other in again:
        assert other.solved
        assert other.certificate is not None
        assert solution.certificate is not None
        assert other.certificate.values == pytest.approx(solution.certificate.values, abs=1e-9)


@pytest.mark.slow
def test_proposals_solve_rivers() -> None:
    two_raises = river(pot=2.0, raises=(1.0,), cap=2)
    for game in (river(pot=3.0), river(pot=2.0, bets=(1.0, 2.0)), river(pot=2.0, raises=(2.0,)), two_raises):
        best = solve(game)[0]
        assert best.solved, best.reason
        assert best.epsilon_share < 1e-9


def test_proposals_are_sorted_by_fit() -> None:
    game, model = half()
    found = propose_models(game, 40)
    assert found[0].model.bands == model.bands
    assert found[0].fit > 0.95


def test_further_raises() -> None:
    small, large = river(raises=(1.0,)), river(raises=(1.0,), cap=2)
    model = add_raise(QualitativeModel.from_words(small, RAISED), small, large)
    words = model.band_words(large)
    assert words["x-b-r"] == "r f c r"
    assert words["x-b-r-r"] == "f c"
    assert words["root"] == RAISED["root"]


def test_models_that_do_not_fit_have_a_reason() -> None:
    game, model = half()
    wrong = QualitativeModel.from_words(game, {"root": "x b", "b": "f c"}, "b:1 root:1", name="never bluffs")
    best, other = solve_models(game, [wrong, model])
    assert (best.solved, other.solved) == (True, False)
    assert "player 1" in other.reason
    assert "'f' at 'b'" in other.reason
    assert other.epsilon_share > 0.01
    later = solve_model(game, QualitativeModel.from_words(game, BLUFF, "root:1 root:2 b:1"))
    assert "infeasible" in later.reason


def test_first_price_auction() -> None:
    """Two uniform bidders, bids 0, 1/4 and 1/2; thresholds from the two equations of the symmetric equilibrium.

    At t between bids b < d, with F the opponent's share below: (t - b) (F_b + (F_d - F_b) / 2 …) on both sides. In numbers:
    p = share of bid 0, q = of bids 0 and 1/4.  p: t p / 2 = (t - 1/4) (p + (q - p) / 2) at t = p;
    q: (q - 1/4) (p + (q - p) / 2) = (q - 1/2) (q + (1 - q) / 2).
    """
    from scipy.optimize import fsolve

    def equations(x: np.ndarray) -> list[float]:
        p, q = x
        middle = p + (q - p) / 2
        return [p * p / 2 - (p - 0.25) * middle, (q - 0.25) * middle - (q - 0.5) * (q + (1 - q) / 2)]

    p, q = fsolve(equations, [0.4, 0.9])
    game = auction(bids=(0.0, 0.25, 0.5))
    model = QualitativeModel.from_words(game, {"bidder 0": "0 0.25 0.5", "bidder 1": "0 0.25 0.5"})
    solution = solve_model(game, model)
    assert solution.solved, solution.reason
    assert solution.profile is not None
    assert solution.profile.cuts == pytest.approx([p, q, p, q], abs=1e-9)


def test_correlated_and_discrete_signals_are_certified() -> None:
    joint = deals.correlated([0.0, 0.5, 1.0], [[0.3, 0.2], [0.2, 0.3]])
    game = river(joint, street="half")
    solution = solve(game)[0]
    assert solution.solved, solution.reason
    assert solution.profile is not None
    assert 0.5 in solution.profile.cuts  # values jump at the edge, without indifference
    with pytest.raises(InputError, match="newton"):
        solve_model(game, QualitativeModel.from_words(game, BLUFF, ORDER), "milp")
    three = deals.from_values([[(k, 1 / 3) for k in range(3)]] * 2)
    kuhn_like = river(three, street="half")
    profile = QualitativeModel.from_words(kuhn_like, {"root": "b x b", "b": "f c"}).profile(
        kuhn_like, np.array([0.1, 2 / 3, 1 / 3])
    )
    assert 0 < certify(profile).epsilon_share < 0.2


@pytest.mark.parametrize(
    ("bands", "order", "message"),
    [
        ({"root": "b x b"}, None, "situation 'b'"),
        ({"root": "b q", "b": "f c"}, None, "'q'.* x, b"),
        ({"root": "b b", "b": "f c"}, None, "'b b'"),
        ({"root": "", "b": "f c"}, None, "root: .* x, b"),
        (BLUFF | {"c": "f"}, None, "situation 'c'.* root, b"),
        (BLUFF, "root:1 b:1", "order .*3 thresholds"),
        (BLUFF, "root:2 b:1 root:1", "order .*situation"),
        (BLUFF, "root:1 b:2 root:2", "1 thresholds, not 'b:2'"),
        (BLUFF, "root b:1", "'root'.*root:1"),
    ],
)
def test_invalid_models(bands: dict[str, str], order: str | None, message: str) -> None:
    game = river(street="half")
    with pytest.raises(InputError, match=message) as caught:
        QualitativeModel.from_words(game, bands, order)
    assert "\n" not in str(caught.value)


def test_all_models_of_the_limit_river() -> None:
    game = river(raises=(1.0,))
    models = river_models(game)
    assert len(models) == 4 * 2 * 4 * 4  # lists of actions for root, x, x-b and b
    assert len({model.bands for model in models}) == len(models)
    assert river_models(auction()) == []
    assert len(enumerate_models(river(street="half"), {"root": ("x b", "b x b"), "b": ("f c",)})) == 2


@pytest.mark.parametrize("seed", range(5))
def test_discrete_signals_are_solved_directly(seed: int) -> None:
    """Mixing with one value is a threshold inside it; values of only one player cause no problem."""
    rng = np.random.default_rng(seed)
    tables = []
    for _ in range(2):
        values = np.sort(rng.choice(6, size=int(rng.integers(2, 5)), replace=False))
        tables.append(list(zip(values.tolist(), rng.dirichlet(np.ones(len(values))).tolist(), strict=True)))
    game = river(deals.from_values(tables), pot=2.0, bets=(1.0, 3.0), raises=(2.0,))
    best = solve(game)[0]
    assert best.solved
    assert best.epsilon_share < 1e-9


def test_named_situations() -> None:
    """The discretized game uses lines, regardless of the names of situations."""
    plain = river(pot=2.0, street="half")
    assert isinstance(plain.tree, DecisionNode)
    (check, checked), (bet, facing) = plain.tree.moves
    assert isinstance(facing, DecisionNode)
    named = DecisionNode(0, ((check, checked), (bet, replace(facing, situation="facing"))), situation="first")
    best = solve(ContinuousGame("named", plain.signals, named, plain.scale), 20)[0]
    assert best.solved
    assert [s.name for s in best.profile.game.situations] == ["first", "facing"]  # type: ignore[union-attr]
    assert best.profile.cuts == pytest.approx(half_street(2.0), abs=1e-9)  # type: ignore[union-attr]


def test_unreached_situations_have_bands() -> None:
    """With many sizes some lines are never reached; proposals have bands for them too."""
    game = river(pot=2.0, bets=(1.0, 2.0, 3.0), raises=(1.0, 2.0), cap=2)
    found = propose_models(game, 8)
    assert all(len(p.model.bands) == len(game.situations) for p in found)


def test_too_large_games() -> None:
    with pytest.raises(InputError, match=r"\b500 leaves"):
        auction(bids=[k / 30 for k in range(30)])
