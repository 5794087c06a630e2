"""Fixtures: a solved river and a solved turn, small enough for hand-by-hand recomputation."""

import pytest

import riverboat as rb


def solved(folder, board, **more):
    spot = rb.Spot.make(board=board, **{"pot": 100, "stack": 200, "bets": "50%, a", **more})
    rb.solve(spot, iterations=60, out=folder)
    return str(folder)


@pytest.fixture(scope="session")
def river(tmp_path_factory):
    """River with few hands; both players mix."""
    folder = tmp_path_factory.mktemp("spots") / "river"
    return solved(folder, "Td9d6hQc2s", oop="AA,KJ,77,55", ip="QQ,AT,88,44")


@pytest.fixture(scope="session")
def turn(tmp_path_factory):
    """Turn in the middle of its betting."""
    folder = tmp_path_factory.mktemp("spots") / "turn"
    return solved(
        folder, "Td9d6hQc", oop="AA,KJs,77", ip="QQ,ATs,88", bets={"turn": {"bet": "50%"}, "river": {"bet": "50%"}}
    )
