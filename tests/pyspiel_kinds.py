"""Types of OpenSpiel games that tests define."""

from __future__ import annotations

from typing import Any


def small_game_type(short_name: str, players: int) -> Any:
    """Return the type of a sequential game without chance that has information state strings only."""
    import pyspiel

    kind = pyspiel.GameType
    return kind(
        short_name=short_name,
        long_name=short_name,
        dynamics=kind.Dynamics.SEQUENTIAL,
        chance_mode=kind.ChanceMode.DETERMINISTIC,
        information=kind.Information.IMPERFECT_INFORMATION,
        utility=kind.Utility.ZERO_SUM if players == 2 else kind.Utility.GENERAL_SUM,
        reward_model=kind.RewardModel.TERMINAL,
        max_num_players=players,
        min_num_players=players,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=False,
        provides_observation_tensor=False,
        parameter_specification={},
    )
