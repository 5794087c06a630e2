"""The engine on a real GPU against the one for processors: `make test-gpu`, on a machine with a device."""

from __future__ import annotations

import pytest

import riverboat as rb
from riverboat.cli.main import main
from riverboat.engines import devices
from riverboat.engines.tables import parse_table_format
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.batches import solve_many
from riverboat.solvers.boards.cfr import BoardCFR
from riverboat.trees.boards import BoardTree

pytestmark = pytest.mark.gpu
# 16-bit tables round to one of two neighbours.
CLOSE = {
    "river compact": 1e-4, "river 16-bit": 1e-4, "many": 0.5, "training by vectors": 1e-5, "learning by vectors": 0.02,
    "training by vectors with two cards": 1e-5, "training by vectors in limit": 1e-5, "training by deals": 1e-4,
    "training by deals in no-limit": 1e-4, "training by deals with public buckets": 1e-4,
    "training by deals with cuts": 1e-4,
}  # fmt: skip
NAMES = (
    "river float64", "river compact", "river 16-bit", "river predicting", "river at once", "more than four moves",
    "turn with rake", "flop", "stop", "choose", "stop before a turn", "locked", "batch", "moved", "far", "stakes",
    "nearest centres", "best response", "best response with two cards", "best response in limit", "stop with draws",
    "training by vectors", "training by vectors with two cards", "training by vectors in limit", "learning by vectors",
    "steps by vectors",
    "training by deals", "training by deals in no-limit", "training by deals with public buckets",
    "training by deals with cuts",
)  # fmt: skip
SPOTS = ("river", "turn")


@pytest.fixture(autouse=True)
def device() -> None:
    reason = devices.cuda_unavailable_reason()
    assert reason is None, reason


@pytest.mark.parametrize("name", NAMES)
def test_small_trees(name: str) -> None:
    from engines.simulated import cases

    bound = CLOSE.get(name, 1e-9)
    assert {what: x for what, x in cases()[name]().items() if not x <= bound} == {}


@pytest.mark.parametrize("dtype", ["compact", "16-bit", "float32"])
@pytest.mark.parametrize("name", SPOTS)
def test_exploitability_after_equal_iterations(name: str, dtype: str) -> None:
    """Within 1e-4 of the pot, from regrets without ties, which the last bit of sums would decide."""
    from engines.simulated import untied

    tree = BoardTree(rb.game(f"examples/spots/{name}.toml"))
    gaps = []
    for where in ("cpu", "cuda"):
        solver = BoardCFR(tree, "dcfr", dtype=dtype, device=where)
        solver.iteration = 1
        solver.engine.write("regret", untied(tree, parse_table_format(dtype)))
        solver.step(100)
        gaps.append(solver.exploitability())
    assert abs(gaps[0] - gaps[1]) <= 0.01, gaps


def test_many_rivers_at_once() -> None:
    """The exploitability of each solution is confirmed by the processor's best response."""
    boards = ("AsKd7c4h2s", "Td9d6hQc2s", "2c3c4c5c6c", "AhAdAcKsKd")
    spots = [
        Spot.make(board=board, pot=100, stack=500 * (1 + k % 2), bets="75%", raises="3x", oop="random", ip="random")
        for k, board in enumerate(boards)
    ]
    for solution in solve_many(spots, iterations=2000, until=0.3, check_every=50, device="cuda"):
        reported = solution.provenance["exploitability"]
        assert reported <= 0.3
        assert abs(rb.quality(solution).exploitability - reported) <= 0.001


def test_commands(capfd: pytest.CaptureFixture[str], tmp_path: object) -> None:
    """A solve on the device, evaluated by the processor and by the device."""
    out = f"{tmp_path}/run"
    with pytest.raises(SystemExit) as ended:
        main(["solve", "examples/spots/turn.toml", "--device", "cuda", "--until", "0.5%", "--out", out, "--json"])
    assert not ended.value.code
    for where in ("cpu", "cuda"):
        with pytest.raises(SystemExit) as ended:
            main(["exploitability", out, "--device", where, "--json"])
        assert not ended.value.code
    assert capfd.readouterr().out.count('"exploitability"') >= 3
