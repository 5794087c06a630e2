"""Players in hand histories: their statistics, and models of them in a blueprint's tree.

report = hand_statistics(["session.phhs"])
report.players[0]["vpip"]     # share, interval and number of opportunities
models = model_players("demo", ["session.phhs"], players=["villain"], out="runs/villain")
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from riverboat.api.options import Flag
from riverboat.core.errors import InputError, unknown_name_error
from riverboat.formats import hand_files
from riverboat.games.holdem.hand_records import HandRecords, trace_decisions
from riverboat.games.holdem.rules import read_game
from riverboat.opponents.statistics import STATISTICS, PlayerStatistics, player_statistics
from riverboat.strategies.blueprint import Blueprint, save_blueprint

if TYPE_CHECKING:
    from riverboat.opponents.models.evaluation import ModelEvaluation

MAX_PLAYERS_SHOWN = 10  # players by default
MAX_PLAYERS_MODELED = 4
FORECAST_UNITS = {
    "loss": "nats per decision on held-out hands; ci95 is half the width of the interval over hands",
    "below_equilibrium": "nats per decision by which the loss is below that of the blueprint itself, on the same decisions",
    "below_frequencies": "the same for the player's own frequencies at each public history, with add-one smoothing",
    "calibration": "predicted probability, observed frequency and number of actions, in bins of one tenth of the prediction",
}


def _chosen_players(hands: HandRecords, players: Sequence[str], default: int) -> list[str]:
    """Return the named players, or if none are named the `default` ones with the most hands; raise if unknown."""

    for name in players:
        if name not in hands.names:
            raise unknown_name_error("player", name, hands.names)
    if players:
        return list(dict.fromkeys(players))
    count = np.bincount(hands.player.ravel(), minlength=len(hands.names))
    return [hands.names[k] for k in np.argsort(-count, kind="stable")[:default]]


@dataclass(frozen=True, eq=False)
class HandStatistics:
    """Hands of files, and statistics of their players.

    Attributes
    ----------
    gathered
        The hands, and the number of rejected hands by reason with examples.
    players
        Statistics of the chosen players.

    Examples
    --------
    >>> hand_statistics([]).to_dict()["hands"]
    0
    """

    gathered: hand_files.GatheredHands
    players: tuple[PlayerStatistics, ...]

    @property
    def num_hands(self) -> int:
        """Number of hands that could be read."""
        return 0 if self.gathered.hands is None else len(self.gathered.hands)

    @property
    def num_names(self) -> int:
        """Number of players in the files."""
        return 0 if self.gathered.hands is None else len(self.gathered.hands.names)

    @property
    def game(self) -> str | None:
        """Kind of the game; None without hands."""
        hands = self.gathered.hands
        return None if hands is None else "limit hold'em" if hands.rules.limit else "no-limit hold'em"

    def to_dict(self) -> dict[str, Any]:
        """Return the statistics as a JSON object."""

        return {
            "hands": self.num_hands,
            "refused": self.gathered.rejected,
            "examples": {reason: list(examples) for reason, examples in self.gathered.examples.items()},
            "game": self.game,
            "players": [player.to_dict() for player in self.players],
            "names": self.num_names,
            "units": {
                "share": "of the opportunities, from 0 to 1",
                "ci95": "Wilson interval of the share",
                "bb_per_100": "big blinds won per 100 hands, over hands with a known result, with half the width of the "
                "95 % interval",
                **STATISTICS,
                "aggression": "bets and raises as a share of bets, raises, calls and folds",
            },
        }


def hand_statistics(
    files: Sequence[str | Path], *, players: Annotated[Sequence[str], Flag("--player")] = (), game: str | None = None
) -> HandStatistics:
    """Read hand histories and compute the statistics of their players.

    Parameters
    ----------
    files
        Hand histories: .phh, .phhs (PHH) or .log (ACPC), also with .gz.
    players
        Player to show; by default those with the most hands.
    game
        A game or .game file; by default the agents' game.

    Returns
    -------
    HandStatistics
        Number of hands, rejected hands, and statistics.

    Raises
    ------
    InputError
        If a file cannot be read, or a player does not occur.

    Examples
    --------
    >>> hand_statistics(["missing.phhs"])
    Traceback (most recent call last):
    riverboat.core.errors.InputError: ...
    """

    gathered = hand_files.gather_hands([Path(file) for file in files], None if game is None else read_game(game))
    hands = gathered.hands
    if hands is None:
        return HandStatistics(gathered, ())
    names = _chosen_players(hands, players, MAX_PLAYERS_SHOWN)
    decisions = trace_decisions(hands)
    return HandStatistics(gathered, tuple(player_statistics(hands, decisions, name) for name in names))


@dataclass(frozen=True, eq=False)
class PlayerModels:
    """Models of players, evaluated on held-out hands.

    Attributes
    ----------
    agent
        Name of the agent whose blueprint was used.
    num_hands
        Number of hands in the files.
    evaluations
        Predictions of all kinds of models, for each player.
    learn
        Share of a player's hands used for training.

    Examples
    --------
    >>> PlayerModels("demo", 0, ()).to_dict()["unit"]
    'nats'
    """

    agent: str
    num_hands: int
    evaluations: tuple[ModelEvaluation, ...]
    learn: float = 0.8

    def to_dict(self) -> dict[str, Any]:
        """Return the evaluations as a JSON object."""
        players = [_evaluation_to_dict(evaluation) for evaluation in self.evaluations]
        facts = {"agent": self.agent, "hands": self.num_hands, "players": players}
        return facts | {"unit": "nats", "units": FORECAST_UNITS}


def _evaluation_to_dict(evaluation: ModelEvaluation) -> dict[str, Any]:
    from riverboat.opponents.models.evaluation import EQUILIBRIUM, FREQUENCIES

    def figure(mean: float, half_width: float) -> dict[str, float]:
        return {"nats": mean, "ci95": half_width}

    forecasts: dict[str, Any] = {}
    for key in evaluation.predictions:
        entry = {"loss": figure(*evaluation.loss(key)), "calibration": evaluation.calibration(key)}
        rivals = (rival for rival in (EQUILIBRIUM, FREQUENCIES) if rival != key)
        forecasts[key] = entry | {f"below_{rival}": figure(*evaluation.gain(key, rival)) for rival in rivals}
    return {
        "player": evaluation.name, "hands_learnt": evaluation.num_train_hands,
        "hands_judged": evaluation.num_test_hands, "decisions": evaluation.decisions,
        "share_without_a_place": evaluation.off_tree_share, "forecasts": forecasts,
    }  # fmt: skip


def model_players(
    agent: str,
    files: Sequence[str | Path],
    *,
    players: Annotated[Sequence[str], Flag("--player")] = (),
    fit: str = "l1",
    learn: float = 0.8,
    out: str | Path | None = None,
) -> PlayerModels:
    """Fit models of players in a blueprint's tree, and evaluate them on held-out hands.

    Parameters
    ----------
    agent
        Agent with the blueprint: demo, default or a folder.
    files
        Hand histories: .phh, .phhs (PHH) or .log (ACPC), also with .gz.
    players
        Player to model; by default those with the most hands.
    fit
        Kind of the model that is saved: tied, l1, l2, em or clusters.
    learn
        Share of a player's hands used for training.
    out
        Folder for the model of one player, trained on all hands, as a blueprint.

    Returns
    -------
    PlayerModels
        Log-loss of all kinds of models on held-out hands.

    Raises
    ------
    InputError
        If the agent has no blueprint, no hand can be read, or an option is invalid.

    Examples
    --------
    >>> model_players("always-call", [])
    Traceback (most recent call last):
    riverboat.core.errors.InputError: ...
    """
    from riverboat.api.agent import blueprint_agent
    from riverboat.opponents.models.evaluation import evaluate_models
    from riverboat.opponents.models.hierarchical import MODEL_FITTERS

    if fit not in MODEL_FITTERS:
        raise unknown_name_error("fit", fit, MODEL_FITTERS)
    if out is not None and len(players) != 1:
        raise InputError(f"out {out}: saves the model of one player, so name one player=…")
    if out is not None and Path(out).exists():
        raise InputError(f"out {out}: exists already; choose another name")
    loaded = blueprint_agent(agent, "models need a blueprint, such as runs/mine or demo")
    hands = hand_files.gather_hands([Path(file) for file in files]).hands
    if hands is None:
        raise InputError("no hand can be read: `riverboat hands` shows the reasons")
    names = _chosen_players(hands, players, MAX_PLAYERS_MODELED)
    evaluations = tuple(evaluate_models(loaded.strategy, hands, name, learn) for name in names)
    if out is not None:
        save_blueprint(_fit_on_all_hands(loaded.strategy, hands, names[0], fit), Path(out))
    return PlayerModels(agent, len(hands), evaluations, learn)


def _fit_on_all_hands(base: Blueprint, hands: HandRecords, name: str, fit: str) -> Blueprint:
    """Fit a model to all decisions of a player, with the model of all other players as its prior.

    Shown hands count by bucket too. `fit`: kind of model.
    """
    from riverboat.opponents.models.hand_lines import read_hands
    from riverboat.opponents.models.hierarchical import fit_model_kind
    from riverboat.opponents.models.tree import count_moves

    reading = read_hands(base.tree, hands)
    own_decisions = reading.player == hands.names.index(name)
    subsets = own_decisions, ~own_decisions
    own_counts, other_counts = (count_moves(reading, base.tree, subset, hands, base.cards) for subset in subsets)
    return fit_model_kind(fit, fit_model_kind(fit, base, other_counts), own_counts)
