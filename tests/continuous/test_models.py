"""Qualitative models: programs, Newton's method, proposals, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.reference.continuous import half_street

from riverboat.continuous import signals as deals
from riverboat.continuous.best_response import certify
from riverboat.continuous.discretization import Steps
from riverboat.continuous.examples import auction, river
from riverboat.continuous.game import ContinuousGame, Decision
from riverboat.continuous.proposals import further_raises, propose, river_models
from riverboat.continuous.qualitative_model import Model, every, of_profile
from riverboat.continuous.solve import solve, solve_model, solve_models
from riverboat.core.errors import InputError
from riverboat.solvers.exact.lp import solve_lp
from riverboat.trees.compile import compile_game

BLUFF = {"root": "b x b", "b": "f c"}
ORDER = "root:1 b:1 root:2"
# The first to act bets its weakest and its strong hands and checks the strongest to raise; both bluff-raise the weakest.
RAISED = {"root": "b x b x", "x": "b x b", "x-b": "r f c r", "x-b-r": "f c", "b": "r f c r", "b-r": "f c"}


def half(pot: float = 2.0, signals: deals.Signals | None = None) -> tuple[ContinuousGame, Model]:
    game = river(signals, pot=pot, street="half")
    return game, Model.make(game, BLUFF, ORDER)


@pytest.mark.parametrize("method", ["lp", "linear", "milp", "newton"])
@pytest.mark.parametrize("pot", [0.7, 2.0, 9.0])
def test_every_method_finds_von_neumann(method: str, pot: float) -> None:
    game, model = half(pot)
    answer = solve_model(game, model, method)
    a, b, c = half_street(pot)
    assert answer.solved
    assert answer.profile is not None
    assert answer.profile.cuts == pytest.approx([a, b, c], abs=1e-9)
    assert answer.share < 1e-12


@pytest.mark.parametrize("kind", ["cdf", "density"])
def test_equal_distributions_have_the_same_shares(kind: str) -> None:
    """Substitute u = F(x): whatever both draw from, the same shares of it bet and call."""
    points = [(0.0, 0.0), (0.2, 0.5), (3.0, 0.6), (4.0, 1.0)]
    cdf = (
        deals.piecewise([points] * 2) if kind == "cdf" else deals.densities([[(0.0, 1.0), (1.0, 0.1), (3.0, 2.0)]] * 2)
    )
    game, model = half(2.0, cdf)
    answer = solve_model(game, model, "auto", start=np.array([cdf.quantile(0, q) for q in (0.1, 0.7, 0.4)]))
    assert answer.solved
    shares = [s for row in answer.profile.to_dict().values() for s in row["shares"]]  # type: ignore[union-attr]
    assert shares == pytest.approx([0.1, 0.7, 0.4], abs=1e-9)


def random_cdf(rng: np.random.Generator) -> list[tuple[float, float]]:
    inner = np.sort(rng.choice(9, 2, replace=False) + 1) / 10
    shares = np.sort(rng.uniform(0.1, 0.9, 2))
    return [(0.0, 0.0), *((float(x), float(p)) for x, p in zip(inner, shares, strict=True)), (1.0, 1.0)]


@pytest.mark.parametrize("seed", range(4))
def test_different_distributions(seed: int) -> None:
    """The MILP's answer is an equilibrium, Newton finds the same, and the game in steps has its value."""
    rng = np.random.default_rng(seed)
    signals = deals.piecewise([random_cdf(rng), random_cdf(rng)])
    game, model = half(float(rng.uniform(1, 5)), signals)
    answers = [solve_model(game, model, method) for method in ("milp", "newton")]
    assert all(a.solved and a.share < 1e-9 for a in answers)
    assert answers[0].certificate is not None
    steps = 60
    near = solve_lp(compile_game(Steps(game, steps))).value
    # a step is a tie for a share 1 / steps of the signals, about, and the most at stake is the pot and two bets
    assert answers[0].certificate.values[0] == pytest.approx(near, abs=(game.scale + 2) * 4 / steps)


def test_the_steps_converge_to_the_continuum() -> None:
    game, _ = half()
    errors = [abs(solve_lp(compile_game(Steps(game, n))).value - 0.1) for n in (7, 23, 61)]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-3


def test_one_raise() -> None:
    """The model with a check-raise, from the thresholds that the game in steps proposes."""
    game = river(raises=(1.0,))
    answer = solve_model(game, Model.make(game, RAISED))
    assert answer.solved
    assert answer.share < 1e-12
    assert answer.profile is not None
    ordered = of_profile(answer.profile)
    again = [solve_model(game, ordered, method) for method in ("lp", "linear", "milp")]
    for other in again:
        assert other.solved
        assert other.certificate is not None
        assert answer.certificate is not None
        assert other.certificate.values == pytest.approx(answer.certificate.values, abs=1e-9)


@pytest.mark.slow
def test_proposals_solve_rivers_without_help() -> None:
    two_raises = river(pot=2.0, raises=(1.0,), cap=2)
    for game in (river(pot=3.0), river(pot=2.0, bets=(1.0, 2.0)), river(pot=2.0, raises=(2.0,)), two_raises):
        best = solve(game)[0]
        assert best.solved, best.reason
        assert best.share < 1e-9


def test_proposals_are_in_order_of_fit_and_need_no_luck() -> None:
    game, model = half()
    found = propose(game, 40)
    assert found[0].model.bands == model.bands
    assert found[0].fit > 0.95


def test_further_raises() -> None:
    small, large = river(raises=(1.0,)), river(raises=(1.0,), cap=2)
    model = further_raises(Model.make(small, RAISED), small, large)
    words = model.words(large)
    assert words["x-b-r"] == "r f c r"
    assert words["x-b-r-r"] == "f c"
    assert words["root"] == RAISED["root"]


def test_models_that_do_not_fit_are_refused_with_the_reason() -> None:
    game, model = half()
    wrong = Model.make(game, {"root": "x b", "b": "f c"}, "b:1 root:1", name="never bluffs")
    best, other = solve_models(game, [wrong, model])
    assert (best.solved, other.solved) == (True, False)
    assert "player 1" in other.reason
    assert "'f' at 'b'" in other.reason
    assert other.share > 0.01
    later = solve_model(game, Model.make(game, BLUFF, "root:1 root:2 b:1"))
    assert "infeasible" in later.reason


def test_the_first_price_auction() -> None:
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
    model = Model.make(game, {"bidder 0": "0 0.25 0.5", "bidder 1": "0 0.25 0.5"})
    answer = solve_model(game, model)
    assert answer.solved, answer.reason
    assert answer.profile is not None
    assert answer.profile.cuts == pytest.approx([p, q, p, q], abs=1e-9)


def test_dependent_and_discrete_signals_are_certified() -> None:
    joint = deals.dependent([0.0, 0.5, 1.0], [[0.3, 0.2], [0.2, 0.3]])
    game = river(joint, street="half")
    answer = solve(game)[0]
    assert answer.solved, answer.reason
    assert answer.profile is not None
    assert 0.5 in answer.profile.cuts  # at the edge expectations jump, and nobody has to be indifferent
    with pytest.raises(InputError, match="independent"):
        solve_model(game, Model.make(game, BLUFF, ORDER), "milp")
    three = deals.discrete([[(k, 1 / 3) for k in range(3)]] * 2)
    kuhn_like = river(three, street="half")
    profile = Model.make(kuhn_like, {"root": "b x b", "b": "f c"}).profile(kuhn_like, np.array([0.1, 2 / 3, 1 / 3]))
    assert 0 < certify(profile).share < 0.2


@pytest.mark.parametrize(
    ("bands", "order", "message"),
    [
        ({"root": "b x b"}, None, "no moves for situation 'b'"),
        ({"root": "b q", "b": "f c"}, None, "no move 'q'; there are x, b"),
        ({"root": "b b", "b": "f c"}, None, "neighbours must differ"),
        ({"root": "", "b": "f c"}, None, "no moves"),
        (BLUFF | {"c": "f"}, None, "no situation 'c'"),
        (BLUFF, "root:1 b:1", "each of 3 thresholds once"),
        (BLUFF, "root:2 b:1 root:1", "exchanges"),
        (BLUFF, "root:1 b:2 root:2", "b has 1 thresholds"),
        (BLUFF, "root b:1", "root:1"),
    ],
)
def test_models_are_checked(bands: dict[str, str], order: str | None, message: str) -> None:
    game = river(street="half")
    with pytest.raises(InputError, match=message) as caught:
        Model.make(game, bands, order)
    assert "\n" not in str(caught.value)


def test_all_models_of_the_limit_river() -> None:
    game = river(raises=(1.0,))
    models = river_models(game)
    assert len(models) == 4 * 2 * 4 * 4  # lists of moves for root, x, x-b and b
    assert len({model.bands for model in models}) == len(models)
    assert river_models(auction()) == []
    assert len(every(river(street="half"), {"root": ("x b", "b x b"), "b": ("f c",)})) == 2


@pytest.mark.parametrize("seed", range(5))
def test_discrete_signals_are_solved_as_they_are(seed: int) -> None:
    """Mixing with one value is a threshold inside it; values that only one player may have do no harm."""
    rng = np.random.default_rng(seed)
    tables = []
    for _ in range(2):
        values = np.sort(rng.choice(6, size=int(rng.integers(2, 5)), replace=False))
        tables.append(list(zip(values.tolist(), rng.dirichlet(np.ones(len(values))).tolist(), strict=True)))
    game = river(deals.discrete(tables), pot=2.0, bets=(1.0, 3.0), raises=(2.0,))
    best = solve(game)[0]
    assert best.solved
    assert best.share < 1e-9


def test_the_name_of_a_situation_is_not_its_line() -> None:
    """The game in steps goes by lines, whatever the decisions are called."""
    plain = river(pot=2.0, street="half")
    assert isinstance(plain.tree, Decision)
    (check, checked), (bet, facing) = plain.tree.moves
    assert isinstance(facing, Decision)
    named = Decision(0, ((check, checked), (bet, replace(facing, situation="facing"))), situation="first")
    best = solve(ContinuousGame("named", plain.signals, named, plain.scale), 20)[0]
    assert best.solved
    assert [s.name for s in best.profile.game.situations] == ["first", "facing"]  # type: ignore[union-attr]
    assert best.profile.cuts == pytest.approx(half_street(2.0), abs=1e-9)  # type: ignore[union-attr]


def test_situations_that_nobody_comes_to_are_proposed_something() -> None:
    """With many sizes some lines are never played; they have bands too."""
    game = river(pot=2.0, bets=(1.0, 2.0, 3.0), raises=(1.0, 2.0), cap=2)
    found = propose(game, 8)
    assert all(len(p.model.bands) == len(game.situations) for p in found)


def test_games_that_are_too_large_are_refused() -> None:
    with pytest.raises(InputError, match="more than 500 leaves"):
        auction(bids=[k / 30 for k in range(30)])
