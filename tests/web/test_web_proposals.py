"""Proposals before a solve: example lines, menus within limits, and estimates of many boards."""

from __future__ import annotations

from typing import Any

import pytest
from test_web import Client

import riverboat as rb
from random_blueprints import flop_blueprint, random_blueprint
from riverboat.api.estimate import LARGE_BET, TYPICAL_ITERATIONS, estimate_spot, largest_bet, propose, suit_symmetries
from riverboat.cards.notation import parse_cards
from riverboat.formats import spot_file
from riverboat.games.spots.spot import Spot
from riverboat.strategies.blueprint import save_blueprint
from riverboat.trees.boards import BoardTree
from riverboat.web import spot_sources
from riverboat.web.models import SpotSource
from riverboat.web.server import Server

GIB = 1 << 30


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Server:
    data = tmp_path_factory.mktemp("data")
    save_blueprint(flop_blueprint(), data / "trained" / "strategy")
    save_blueprint(random_blueprint("leduc"), data / "leduc" / "strategy")
    return Server(data, memory=8 * GIB)


@pytest.fixture(scope="module")
def client(server: Server) -> Client:
    return Client(server)


def test_examples_are_frequent_lines(client: Client) -> None:
    for agent, streets in (("default", ["flop", "turn", "river"]), ("trained", ["flop"])):
        examples = client.get("/api/spots/examples", agent=agent)
        assert [example["street"] for example in examples] == streets
        for example in examples:
            node = client.get("/api/node", run=agent, line=example["line"], board=example["board"])
            assert (node["kind"], node["street"]) == ("decision", example["street"])
            assert {name: side["combos"] for name, side in node["players"].items()} == pytest.approx(
                example["combos"], abs=0.01
            )
            assert min(example["combos"].values()) > 100
    assert client.get("/api/spots/examples", agent="leduc") == []  # its deck has no grid
    assert client.get("/api/spots/examples", agent="random") == []


def test_match_states_of_examples_give_the_same_spots(client: Client) -> None:
    for example in client.get("/api/spots/examples", agent="default"):
        line = {"agent": "default", "line": example["line"], "board": example["board"]}
        first, second = (
            client.post("/api/spots", one) for one in (line, {"agent": "default", "state": example["state"]})
        )
        assert first["weights"] == second["weights"]
        assert first["pot"] == second["pot"]


def spot_at(server: Server, line: str, board: str) -> Spot:
    return spot_sources.resolve_spot(
        SpotSource(line=line, board=board, agent="default"), server.data, server.solutions
    ).spot


@pytest.mark.parametrize(("line", "board"), [("r250c/cc/r500", "Kh7c2s9d"), ("r250c/cc/cc/", "Kh7c2s9d3h")])
@pytest.mark.parametrize("memory", [1 << 13, 30 << 20, GIB])
def test_richest_fitting_menu_is_proposed(server: Server, line: str, board: str, memory: int) -> None:
    spot = spot_at(server, line, board)
    found = propose(spot, memory=memory, seconds=300, threads=2)
    assert found.candidates[0].spot == spot
    assert found.candidates[0].left_out == ()
    sizes = []
    for each in found.candidates:
        facts = estimate_spot(each.spot, None, 2)
        sizes.append(facts["infosets"])
        assert each.fits == (facts["bytes"]["16-bit"] + facts["bytes_tree"] <= memory)
        assert not each.fits or facts["bytes"][each.dtype] + facts["bytes_tree"] == each.bytes <= memory
        assert each.spot == spot_file.loads(spot_file.dumps(each.spot), None, each.spot.name)  # it can be sent as a job
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) > 2
    good = [each for each in found.candidates if each.fits]
    assert found.chosen == (good[0] if good else None)
    assert bool(good) == (memory > 1 << 13)


def test_quickest_fitting_menu_is_the_fallback(server: Server) -> None:
    found = propose(spot_at(server, "r250c/cc/", "Kh7c2s9d"), memory=8 * GIB, seconds=0.001, threads=2)
    assert found.chosen == found.candidates[-1]


def test_limit_games_and_locks_keep_their_sizes() -> None:
    spot = Spot.make(board="QsJh2h7c", pot=100, stack=100, oop="AA,KK", ip="QQ,JTs", bets="50%, a")
    locked = propose(spot.lock("", {"b50": 1.0}), memory=GIB)
    assert [(each.spot.menu, each.dtype) for each in locked.candidates] == [(spot.menu, "compact")]


def test_response_lists_what_is_left_out(client: Client) -> None:
    asked = {"agent": "default", "line": "r250c/", "board": "Kh7c2s"}
    told = client.post("/api/spots/proposal", asked)
    chosen = told["candidates"][told["chosen"]]
    assert told["memory"] == 8 * GIB
    assert chosen["fits"]
    assert chosen["left_out"]
    assert chosen["bytes"] <= told["memory"] < told["candidates"][0]["bytes"]
    assert not told["candidates"][0]["fits"]
    job = client("POST", "/api/jobs", json={"spot": told["candidates"][0]["spot"], "dtype": "16-bit", "name": "large"})
    assert job.status_code == 400  # the memory cannot be overridden
    assert client.get("/api/jobs") == []
    never = client("POST", "/api/spots/proposal", json=asked | {"line": "cr300c/", "board": "8c8d5c"})
    assert never.status_code == 400
    assert "cr300c/" in never.json()["error"]


def test_the_estimate_counts_boards(server: Server, client: Client) -> None:
    spot: dict[str, Any] = {
        "board": "QsJs2s3s", "pot": 100, "stack": 100, "ranges": {"oop": "AA,KQs", "ip": "QQ,T9s"},
        "bets": {"turn": {"bet": "a"}},
    }  # fmt: skip
    (server.data.root / "boards.txt").write_text(
        "".join(f"{board}\n" for board in ("QsJs2s3s", "Ks7s4s3s", "Qs7h4d2c"))
    )
    each = [client.post("/api/spots/size", {"spot": spot | {"board": board}}) for board in ("QsJs2s3s", "Qs7h4d2c")]
    many = client.post("/api/spots/size", {"spot": spot, "boards": "boards.txt"})
    assert (each[0]["solves"], many["solves"]) == (1, 3)
    assert many["seconds_to_target"] == pytest.approx(2 * each[0]["seconds_to_target"] + each[1]["seconds_to_target"])
    assert many["bytes"] == each[1]["bytes"]  # sequential; a board with four suits has no symmetries
    assert many["bytes"]["compact"] > 2 * each[0]["bytes"]["compact"]
    assert client("POST", "/api/spots/size", json={"spot": spot, "boards": "nothing.txt"}).status_code == 400


@pytest.mark.parametrize(("board", "count"), [("AsKh2d", 1), ("AsKs2d", 2), ("AsKs2s", 6), ("AsAh2d", 2), ("AsAh", 4)])
def test_symmetries_of_suits(board: str, count: int) -> None:
    assert suit_symmetries(parse_cards(board, "board")) == count


@pytest.mark.parametrize(
    ("bets", "stack", "played", "share"),
    [("50%", 100, "", 0.5), ("50%, a", 100, "", 1.0), ("a", 1000, "", 10.0), ("50%, a", 1000, "x-b50", 950 / 200)],
)
def test_large_bets_take_more_iterations(bets: str, stack: int, played: str, share: float) -> None:
    more: dict[str, Any] = {"oop": "AA,KK", "ip": "QQ,JTs", "raises": bets if played else "", "played": played}
    spot = rb.Spot.make(board="QsJh2h7c2c", pot=100, stack=stack, bets=bets, **more)
    assert largest_bet(BoardTree(spot)) == pytest.approx(share)
    assert (estimate_spot(spot, None, 1)["iterations_to_target"] > TYPICAL_ITERATIONS) == (share > LARGE_BET)


def test_a_line_gives_its_run_a_name(server: Server) -> None:
    spot = spot_at(server, "r250c/", "Kh7c2s")
    assert server.data.free_name(spot.name) == "default-r250c-Kh7c2s"
