"""Contract suites for your own games, schedules, strategies and agents.

    from riverboat.testing import check_game

    def test_my_game():
        check_game(MyGame())

Each raises `AssertionError` with a message that says what is wrong, where, and what was expected. None of them needs
pytest.
"""

from riverboat.testing.agents import check_agent
from riverboat.testing.games import GameReport, check_game
from riverboat.testing.schedules import check_schedule
from riverboat.testing.strategies import check_strategy

__all__ = ["GameReport", "check_agent", "check_game", "check_schedule", "check_strategy"]
