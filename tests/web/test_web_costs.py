"""GET requests only read: every route is in a table, and reading it writes nothing, solves nothing and makes no costly agent.

A new GET route must be added to `READS` with its most demanding requests.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

import riverboat as rb
from riverboat.agents import registry
from riverboat.agents.search import SearchAgent
from riverboat.agents.spec import AgentSpec, parse_agent
from riverboat.api import agent as agent_api
from riverboat.core import artifacts
from riverboat.core.errors import InputError
from riverboat.evaluation.matches import value_tables
from riverboat.formats.hand_files import format_phhs
from riverboat.practice import charts, evaluators, reviews
from riverboat.practice.session import PracticeSession
from riverboat.solvers.boards import batches
from riverboat.tournaments.run import ARTIFACT_KIND
from riverboat.web import practice as sessions
from riverboat.web.application import create_application
from riverboat.web.data_folder import DataFolder
from riverboat.web.routes import play
from riverboat.web.server import Server
from riverboat.web.specs import is_cheap

SEARCH = "default?search=river"
PUSH = "push:7,7"
RIVER = {"board": "Td9d6hQc2s", "pot": 100, "stack": 200, "oop": "AA,KJ,77", "ip": "QQ,AT,88", "bets": "50%, a"}
# Each GET route with requests; status 405 means that a POST would compute it.
READS: dict[str, list[dict[str, Any]]] = {
    "/api/about": [{}],
    "/api/hands": [{}],
    "/api/ranges/presets": [{}],
    "/api/spots/examples": [{"agent": "default"}, {"agent": "rule-based"}, {"agent": SEARCH}],
    "/api/node": [{"run": "river"}, {"run": "rule-based"}, {"run": SEARCH}, {"run": "default?exploit=dbbr"}],
    "/api/table": [{"run": "river"}, {"run": SEARCH}],
    "/api/graph": [{"run": "river"}],
    "/api/runouts": [{"run": "river"}],
    "/api/compare": [{"run": "river", "other": "river"}, {"run": SEARCH, "other": "river"}],
    "/api/export": [{"run": "river", "depth": 1}, {"run": SEARCH}],
    "/api/aggregate": [{"run": "river"}],
    "/api/runs": [{}],
    "/api/series": [{"run": "river"}],
    "/api/series/many": [{"run": ["river"]}],
    "/api/jobs": [{}],
    "/api/jobs/{name}": [{}],
    "/api/jobs/{name}/events": [{}],
    "/api/play/agents": [{}],
    "/api/play/sittings": [{}],
    "/api/play/sittings/{name}": [{}],
    "/api/play/sittings/{name}/results": [{}, {"aivat": True}],
    "/api/play/sittings/{name}/review": [{"hand": 0}],
    "/api/play/sittings/{name}/hands.phhs": [{}],
    "/api/play/histories": [{}],
    "/api/play/histories/{name}": [{}],
    "/api/play/histories/{name}/hands": [{"player": "you"}],
    "/api/play/histories/{name}/review": [{"player": "you", "judge": SEARCH, "hand": 0}],
    "/api/evenings": [{}],
    "/api/evenings/{name}": [{}],
    "/api/evenings/{name}/hand": [{"hand": 0}],
    "/api/evenings/{name}/hands.phhs": [{}],
    "/api/evenings/{name}/review": [{"hand": 0}],
    "/api/drills/kinds": [{}],
    "/api/drills/record": [{}, {"source": "river"}],
    "/api/drills/{name}": [{}],
    "/api/charts": [{"source": "river"}, {"source": PUSH}, {"source": SEARCH}],
    "/api/charts/chart": [{"source": "river"}, {"source": PUSH}, {"source": SEARCH}],
    "/api/charts/difference": [{"source": "river", "against": "river"}, {"source": "river", "against": PUSH}],
    "/api/charts/picture": [{"source": "river", "kind": "svg"}, {"source": PUSH}],
}
ENDLESS = "/api/events"  # an endless stream: the same reads as for one job
NAMES = {
    "jobs": ["none"],
    "sittings": ["search-1", "plain-1", "none"],
    "histories": ["hands"],
    "evenings": ["none"],
    "drills": ["drill-1"],
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a solved river, two closed sessions, one of them with search, and a hand history."""
    folder = tmp_path_factory.mktemp("data")
    rb.solve(rb.Spot.make(**RIVER), iterations=30, out=folder / "river")
    practice = folder / ".practice"
    (practice / "sittings").mkdir(parents=True)
    for name, agent in (("plain-1", "always-call"), ("search-1", SEARCH)):
        sitting = PracticeSession.begin(
            practice / "sittings" / f"{name}.json", "always-call", seed=2, name=agent, game="nolimit-200bb"
        )
        for _ in range(2):
            while not sitting.table.over:
                sitting.act("c")
            sitting.deal()
    (practice / "histories").mkdir()
    (practice / "histories" / "hands.phhs").write_text(format_phhs(sitting.finished.record()))
    return folder


def written(folder: Path) -> dict[str, tuple[int, int]]:
    """Return all files and folders with their sizes and times."""
    facts: dict[str, tuple[int, int]] = {}
    for place, _, names in os.walk(folder):
        for path in (Path(place), *(Path(place) / name for name in names)):
            stat = path.stat()
            facts[str(path)] = stat.st_size, stat.st_mtime_ns
    return facts


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record and reject everything that a GET may not do."""
    noted: list[str] = []

    def forbid(what: str) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            noted.append(f"{what} {arguments[:1]}")
            raise AssertionError(what)

        return call

    make_agent = registry.make_agent

    def cheap_agent(spec: str | AgentSpec, seed: int = 0) -> Any:
        spec = parse_agent(spec) if isinstance(spec, str) else spec
        if spec.is_expensive:
            return forbid("agent")(spec.text)
        return make_agent(spec, seed)

    for module in (sessions, registry, agent_api):
        monkeypatch.setattr(module, "make_agent", cheap_agent)
    for module, name in (
        (charts, "solve"), (evaluators, "solve_many"), (batches, "solve_many"), (value_tables, "value_tables"),
        (play, "review_hand"), (reviews, "review_hand"), (sessions, "make_evaluator"),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, forbid(name))
    monkeypatch.setattr(SearchAgent, "__post_init__", forbid("search"))
    return noted


def paths(route: str) -> list[str]:
    """Return a route with existing names filled in."""
    kind = next((kind for kind in NAMES if f"/{kind}/{{name}}" in route), None)
    return [route] if kind is None else [route.replace("{name}", name) for name in NAMES[kind]]


def test_every_get_route_is_in_the_table(data: Path) -> None:
    app = create_application(Server(data))
    known = {path for path, methods in app.openapi()["paths"].items() if "get" in methods}
    assert known - {ENDLESS} == set(READS)


def test_gets_write_nothing_and_compute_nothing_costly(data: Path, refused: list[str]) -> None:
    server = Server(data)
    app, before = create_application(server), written(data)
    codes: dict[str, set[int]] = {}

    async def ask() -> None:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://test", timeout=60) as client:
            for route, requests in READS.items():
                for path in paths(route):
                    for parameters in requests:
                        answer = await client.get(path, params=parameters)
                        codes.setdefault(route, set()).add(answer.status_code)
                        assert answer.status_code < 500, (path, parameters, answer.text)
                        if answer.status_code == 405:
                            assert answer.json()["costly"] is True
                            assert answer.headers["allow"] == "POST"

    asyncio.run(ask())
    assert written(data) == before
    assert refused == []
    assert server.costly_queue.num_started == server.review_work_queue.num_started == 0
    assert server.close()
    costly = {route for route, some in codes.items() if 405 in some}
    posts = {path for path, methods in app.openapi()["paths"].items() if "post" in methods}
    assert {"/api/node", "/api/charts", "/api/play/sittings/{name}"} <= costly
    answered = {"/api/charts/chart", "/api/charts/difference", "/api/charts/picture"}  # by the POST of the book
    opened = {route for route in costly if route.startswith("/api/play/sittings/{name}")}  # by the POST of /open
    assert costly - answered - opened <= posts
    assert "/api/play/sittings/{name}/open" in posts


def test_a_solved_table_is_read_by_gets(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The POST computes once; then the charts are in memory."""
    solves: list[str] = []
    solved = charts._solve_table

    def counted(text: str) -> Any:
        solves.append(text)
        return solved(text)

    monkeypatch.setattr(charts, "_solve_table", counted)
    monkeypatch.setattr(charts, "ITERATIONS", 20)
    app = create_application(Server(data))

    async def ask() -> None:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test", timeout=100) as client:
            source = {"source": "push:6,7"}
            assert (await client.get("/api/charts", params=source)).status_code == 405
            told = (await client.post("/api/charts", json=source | {"line": ""})).json()
            assert (await client.get("/api/charts", params=source)).json() == told
            assert (await client.get("/api/charts/chart", params=source | {"line": "J"})).status_code == 200
            assert (await client.post("/api/charts", json={"source": "push:6"})).status_code == 400

    asyncio.run(ask())
    assert solves == ["push:6,7", "push:6"]


@pytest.fixture
def small(tmp_path: Path) -> DataFolder:
    """A data folder with the names of a solved river and a tournament."""
    rb.solve(rb.Spot.make(**RIVER), iterations=1, out=tmp_path / "river")
    artifacts.write(tmp_path / "small", ARTIFACT_KIND, {"x": np.zeros(1)}, {})
    return DataFolder(tmp_path)


@pytest.mark.parametrize(
    ("source", "cheap"),
    [
        ("river", True), ("default", True), ("default?purify", True), ("default?new=0.2&seed=3", True),
        ("small?state=5,5,5", True), ("default?search=turn", False), ("default?seed=1&search=turn", False),
        ("default?exploit=dbbr", False), ("push:9,9", False), ("push:9,9?ante=0.1", False),
    ],
)  # fmt: skip
def test_cheap_sources(source: str, cheap: bool, small: DataFolder) -> None:
    assert is_cheap(source, small) == cheap


@pytest.mark.parametrize(
    "source",
    [
        "default?exploit=known&opponent=x",
        "default?endgames=x",
        "default?unheard-of=1",
        "switch:a,b",
        "hedge:a,b",
        "os:abort",
    ],
)
def test_forbidden_sources_are_rejected_before_their_cost_matters(source: str, small: DataFolder) -> None:
    """The parser of specs rejects them, before anything is called cheap or costly."""
    with pytest.raises(InputError):
        is_cheap(source, small)
