"""Games with continuous signals: certified thresholds, and river spots solved by thresholds.

result = solve_continuous("examples/continuous/half_street.toml")
result.best.profile           # thresholds of every situation
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from riverboat.api.options import Limits
from riverboat.continuous import game_file
from riverboat.continuous.game import ContinuousGame
from riverboat.continuous.holdem import RiverSolution, solve_river
from riverboat.continuous.solver import ModelSolution
from riverboat.core.errors import InputError
from riverboat.core.files import parse_toml, read_toml_text
from riverboat.formats.spot_file import load


@dataclass(frozen=True, eq=False)
class ContinuousResult:
    """Solutions of a continuous game, one for each qualitative model, the best first.

    Attributes
    ----------
    game
        The game.
    solutions
        Thresholds, certificate and verdict of each model.

    Examples
    --------
    >>> ContinuousResult.__name__
    'ContinuousResult'
    """

    game: ContinuousGame
    solutions: tuple[ModelSolution, ...]

    @property
    def best(self) -> ModelSolution:
        """Solution of the best model."""
        return self.solutions[0]

    @property
    def solved(self) -> bool:
        """Whether the best model has an equilibrium."""
        return self.best.solved

    def to_dict(self) -> dict[str, Any]:
        """Return the solutions as a JSON object."""
        answers = [solution.to_dict(self.game) for solution in self.solutions]
        return {"game": self.game.name, "solved": self.solved, "answers": answers}


@dataclass(frozen=True, eq=False)
class RiverThresholdsResult:
    """A river spot solved by thresholds over hand ranks, next to its exact solution.

    Attributes
    ----------
    river
        Thresholds, and the strategy of every hand.
    exact_exploitability
        Exploitability of the exact solution, in % of the pot.

    Examples
    --------
    >>> RiverThresholdsResult.solved
    True
    """

    river: RiverSolution
    exact_exploitability: float

    solved = True  # exploitability is measured in the river itself

    def to_dict(self) -> dict[str, Any]:
        """Return the thresholds as a JSON object."""
        river, hands = self.river, self.river.threshold_hands()
        rows = {name: row | {"hands": hands[name]} for name, row in river.profile.to_dict().items()}
        return {
            "spot": river.spot.name, "model": river.model_solution.model.to_dict(river.profile.game), "situations": rows,
            "epsilon_share": river.certificate.epsilon_share, "solved": river.model_solution.solved,
            "loss": river.exploitability, "exact_exploitability": self.exact_exploitability, "unit": "% of pot",
        }  # fmt: skip


def solve_continuous(
    game: str | Path,
    *,
    models: str | Path | None = None,
    method: str = "auto",
    steps: Annotated[int, Limits(2, 1000)] = 60,
) -> ContinuousResult | RiverThresholdsResult:
    """Solve a game with continuous signals, or a river spot by thresholds.

    Parameters
    ----------
    game
        A .toml file with signals and actions, or a river spot.
    models
        A .toml file with qualitative models; found automatically by default.
    method
        With models: auto, linear, lp, path, milp or newton.
    steps
        Grid steps of the finite game that suggests models.

    Returns
    -------
    ContinuousResult or RiverThresholdsResult
        Certified thresholds; of a spot also their exploitability.

    Raises
    ------
    InputError
        If a file is invalid, or models or a method are given where they do not apply.

    Notes
    -----
    Qualitative models of equilibria [1]_.

    References
    ----------
    .. [1] Ganzfried and Sandholm, "Computing equilibria by incorporating qualitative models", AAMAS 2010.

    Examples
    --------
    >>> solve_continuous("missing.toml")
    Traceback (most recent call last):
    riverboat.core.errors.InputError: ...
    """
    from riverboat.continuous.solver import solve, solve_models

    if "board" in parse_toml(read_toml_text(Path(game), "continuous game")):
        if models is not None or method != "auto":
            raise InputError(f"{game}: models and method are not for spots: models are found from the ranges")
        return _solve_river(Path(game), steps)
    loaded = game_file.load(game)
    if models is None:
        if method != "auto":
            raise InputError(f"method {method}: needs models=…")
        return ContinuousResult(loaded, tuple(solve(loaded, steps)))
    return ContinuousResult(loaded, tuple(solve_models(loaded, game_file.load_models(models, loaded), method, steps)))


def _solve_river(path: Path, steps: int) -> RiverThresholdsResult:
    from riverboat.api.solve import solve

    spot = load(path)
    return RiverThresholdsResult(solve_river(spot, steps), solve(spot, until=0.5).exploitability)
