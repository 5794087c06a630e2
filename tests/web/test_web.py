"""The server of `riverboat serve`, called in this process: responses and rejected requests."""

from __future__ import annotations

import asyncio
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

import riverboat as rb
from random_blueprints import random_blueprint
from riverboat.api.artifacts import newest_artifact
from riverboat.cards.ranges import Range
from riverboat.core import files as core_files
from riverboat.core.errors import InputError
from riverboat.strategies import files
from riverboat.strategies.blueprint import save_blueprint
from riverboat.web.application import create_application
from riverboat.web.gateway import MAX_BODY_BYTES, PAGE, Gateway
from riverboat.web.serve import allowed_hosts, is_loopback_host
from riverboat.web.server import Server

FIGURE = re.compile(r"-?\d+\.\d+")
TOKEN, HOST = "a-token-of-the-test", "127.0.0.1:8765"
SPOT = {
    "name": "river", "board": "Td9d6hQc2s", "pot": 200, "stack": 900, "ranges": {"oop": "66+,AK", "ip": "QQ-22,AQ"},
    "bets": {"river": {"bet": "60%, a"}},
}  # fmt: skip


class Client:
    """Client of a server in this process, with the token unless another is given."""

    def __init__(self, server: Server) -> None:
        app = create_application(server)
        self.door = Gateway(lambda: app, TOKEN, frozenset({HOST}), 8765)

    def __call__(self, method: str, path: str, headers: dict[str, Any] | None = None, **more: Any) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(self.door)
            async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}", timeout=60) as client:
                sent = {"authorization": f"Bearer {TOKEN}"} | (headers or {})
                sent = {name: value for name, value in sent.items() if value is not None}
                return await client.request(method, path, headers=sent, **more)

        return asyncio.run(ask())

    def get(self, path: str, **parameters: Any) -> Any:
        """Return the response of a GET, which must succeed."""
        answer = self("GET", path, params=parameters)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, body: Any, status: int = 200) -> Any:
        """Return the response of a POST, which must succeed."""
        answer = self("POST", path, json=body)
        assert answer.status_code == status, answer.text
        return answer.json()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with one solved river."""
    folder = tmp_path_factory.mktemp("data")
    spot = rb.Spot.make(board="Td9d6hQc2s", pot=200, stack=900, oop="66+,AK", ip="QQ-22,AQ", bets="60%, a")
    rb.solve(spot, until=1.0, out=folder / "river")
    return folder


@pytest.fixture(scope="module")
def client(data: Path) -> Client:
    return Client(Server(data, memory=1 << 30))


# --- Responses ---


def test_node_equals_the_library(client: Client, data: Path) -> None:
    told, node = client.get("/api/node", run="river", line="b120"), files.load(data / "river")["b120"]
    summary = node.summary()
    assert (told["player"], told["pot"], told["board"]) == (summary.player, summary.pot, "Td9d6hQc2s")
    assert [move["name"] for move in told["moves"]] == list(node.actions)
    for who, name in enumerate(("oop", "ip")):
        side, hands = told["players"][name], np.array(told["players"][name]["hands"]["index"])
        assert side["ev"] == pytest.approx(summary.ev[who], abs=1e-4)
        assert side["equity"] == pytest.approx(summary.equity[who], abs=1e-4)
        assert side["hands"]["weight"] == pytest.approx(node.reach[who][hands].tolist(), abs=1e-5)
        assert sum(side["hands"]["weight"]) == pytest.approx(node.combos[who], abs=1e-2)
        assert sum(side["hands"]["deals"]) == pytest.approx(1, abs=1e-4)
        mean = np.dot(side["hands"]["deals"], side["hands"]["ev"])  # means are weighted by the probability of hands
        assert mean == pytest.approx(summary.ev[who], abs=1e-2)
    strategy = np.array(told["players"]["ip"]["hands"]["strategy"])
    assert strategy.sum(axis=0) == pytest.approx(np.ones(strategy.shape[1]), abs=1e-3)


def test_tables_and_graphs_are_of_the_same_hands(client: Client, data: Path) -> None:
    node = files.load(data / "river")["b120"]
    for who, name in enumerate(("oop", "ip")):
        for by in ("combos", "classes", "made", "equity"):
            told = client.get("/api/table", run="river", line="b120", by=by, player=name)
            combos = [column["name"] for column in told["columns"]].index("combos")
            assert sum(row[combos] for row in told["rows"]) == pytest.approx(node.combos[who], abs=1e-3)
        heights = [y for _, y in client.get("/api/graph", run="river", line="b120")[name]]
        assert heights == sorted(heights)
        live = node.equity[who][node.reach[who] * node.compatible_weight(who) > 0]
        assert (heights[0], heights[-1]) == pytest.approx((live.min(), live.max()), abs=1e-4)


def test_solution_equals_itself(client: Client) -> None:
    told = client.get("/api/compare", run="river", other="river", line="b120")
    assert told["moves"]["rows"]
    for part in ("moves", "sides"):
        change = [column["name"] for column in told[part]["columns"]].index("change")
        assert all(row[change] == 0 for row in told[part]["rows"])
    assert all(row[1] == 0 for row in told["cells"]["rows"])


def test_exports_equal_the_command_line(client: Client, data: Path, tmp_path: Path) -> None:
    solution = files.load(data / "river")
    for kind in ("csv", "json"):
        solution.export(tmp_path / f"node.{kind}", "b120")
        told = client("GET", "/api/export", params={"run": "river", "line": "b120", "format": kind})
        mine, theirs = told.text, (tmp_path / f"node.{kind}").read_text()
        assert FIGURE.sub("0", mine) == FIGURE.sub("0", theirs)
        figures = [[float(x) for x in FIGURE.findall(text)] for text in (mine, theirs)]
        assert figures[0] == pytest.approx(figures[1], abs=2e-6)  # equities may be summed in another order
        assert "attachment" in told.headers["content-disposition"]
    told = client("GET", "/api/export", params={"run": "river", "line": "b120", "format": "range", "player": "oop"})
    assert told.text.strip() == solution["b120"].range_text("oop")


def test_runs_and_their_logs_are_listed(client: Client, data: Path) -> None:
    (run,) = [run for run in client.get("/api/runs") if run["name"] == "river"]
    assert (run["kind"], run["board"], run["running"], run["job"]) == ("solution", "Td9d6hQc2s", False, False)
    told = client.get("/api/series", run="river")
    assert told["rows"][-1]["exploitability"] == run["exploitability"] < 1.0
    assert told["units"]["exploitability"] == "% of pot"
    assert client.get("/api/series/many", run=["river", "river"]) == [told, told]
    with core_files.folder_lock(data / "river"):
        assert [run["running"] for run in client.get("/api/runs") if run["name"] == "river"] == [True]


def test_training_in_a_terminal_is_watched(client: Client, data: Path) -> None:
    """The folder is locked by a process and has a log, and snapshots that are newer than the last checkpoint."""
    folder = data / "study" / "training"
    blueprint = random_blueprint("leduc")
    with core_files.folder_lock(folder):
        (told,) = [run for run in client.get("/api/runs") if run["name"] == "study/training"]
        assert (told["running"], told["ready"]) == (True, False)
        save_blueprint(blueprint, folder / "checkpoint-000000000000100")
        save_blueprint(blueprint, folder / "snapshots" / "000000000000200")
        for k in (100, 200):
            strength = {"against_snapshot": 5.0 * k, "unit": "mbb/g", "ci95": 12.0}
            row = {
                "iterations": k,
                "seconds": k / 10,
                "touched": 7 * k,
                "regret": 1.0,
                "left": 50.0,
                "strength": strength,
            }
            core_files.append_line(folder / "log.jsonl", json.dumps(row))
        (told,) = [run for run in client.get("/api/runs") if run["name"] == "study/training"]
        assert (told["kind"], told["running"], told["ready"]) == ("blueprint", True, True)
        series = client.get("/api/series", run="study/training")
        assert [row["strength"] for row in series["rows"]] == [500.0, 1000.0]
        assert [row["visits"] for row in series["rows"]] == [700, 1400]
        assert (series["seconds_left"], series["units"]["strength"]) == (50.0, "mbb/g")
        assert series["snapshots"] == ["000000000000200"]
        assert series["memory"] is None or series["memory"] > 1 << 20  # of this process, which locks the folder
    assert newest_artifact(folder).name == "000000000000200"


def test_nodes_of_agents(client: Client) -> None:
    first = client.get("/api/node", run="rule-based")
    assert (first["kind"], first["player"], first["street"]) == ("decision", "ip", "preflop")
    assert sum(move["frequency"] for move in first["moves"]) == pytest.approx(1, abs=1e-4)
    deal = client.get("/api/node", run="rule-based", line="cc/")
    assert (deal["kind"], deal["needs"]) == ("deal", 3)
    flop = client.get("/api/node", run="rule-based", line="cc/", board="8c8d5c")
    assert (flop["player"], flop["board"], flop["names"]) == ("oop", "8c8d5c", ["oop", "ip"])
    spot = client.post("/api/spots", {"line": "cc/", "board": "8c8d5c", "agent": "rule-based", "floor": 0.01})
    assert (spot["board"], spot["pot"]) == ("8c8d5c", flop["pot"])
    state = client.post(
        "/api/spots", {"state": "MATCHSTATE:0:30:cc/:9s8h|/8c8d5c", "agent": "rule-based", "floor": 0.01}
    )
    assert state["weights"] == spot["weights"]


def test_the_path_leads_back_to_the_node(client: Client) -> None:
    told = client.get("/api/node", run="river", line="x-b120")
    steps = told["path"]
    assert [step["chosen"] for step in steps] == ["x", "b120", None]
    for step, after in pairwise(steps):
        assert step["chosen"] in step["moves"]
        assert client.get("/api/node", run="river", line=step["line"])["path"] == [
            *steps[: steps.index(step)], step | {"chosen": None},
        ]  # fmt: skip
        assert after["line"].endswith(step["chosen"])


@pytest.mark.parametrize("text", ["22+,A2s+:0.5", "AsKs, AhKh:0.25", "random", "88-55 KTs+;98o-65o"])
def test_ranges_round_trip(client: Client, text: str) -> None:
    told = client.post("/api/ranges", {"text": text})
    assert told["weights"] == Range.parse(text).weights.tolist()
    again = client.post("/api/ranges", {"weights": told["weights"]})
    assert again["text"] == told["text"]
    assert Range.parse(told["text"]) == Range.parse(text)


def test_presets_are_ranges(client: Client) -> None:
    for preset in client.get("/api/ranges/presets"):
        assert Range.parse(preset["text"]).combos > 0


def test_spots_round_trip(client: Client) -> None:
    told = client.post("/api/spots", {"spot": SPOT})
    assert client.post("/api/spots", {"spot": told["spot"]}) == told
    assert client.post("/api/spots", {"text": told["text"]}) == told
    lock = {"line": "b120", "hands": "QQ", "strategy": {"c": 1.0}}
    locked = client.post("/api/spots", {"run": "river", "locks": [lock]})
    assert locked["spot"]["lock"] == [lock]
    size = client.post("/api/spots/size", {"spot": SPOT})
    assert size["infosets"] > 0
    assert size["bytes"]["compact"] > size["bytes"]["16-bit"] > 0


def test_every_route_is_documented(client: Client) -> None:
    page = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
    told = {(m, re.sub(r"\?.*", "", p)) for m, p in re.findall(r"`(GET|POST|DELETE) (/api/[^` ]+)", page)}
    known = {
        (method.upper(), re.sub(r"\{\w+\}", "NAME", path))
        for path, methods in client.get("/api/openapi.json")["paths"].items()
        for method in methods
    }
    assert told - {("GET", "/api/openapi.json")} == known


def test_json_responses_have_models(client: Client) -> None:
    for path, methods in client.get("/api/openapi.json")["paths"].items():
        for method, route in methods.items():
            for status, response in route["responses"].items():
                media = response.get("content", {}).get("application/json")
                if status.startswith("2") and media is not None:  # without a model, the schema allows everything
                    schema = media["schema"].get("items", media["schema"])
                    assert "$ref" in schema or isinstance(schema.get("additionalProperties"), dict), (method, path)


# --- Rejected requests ---


@pytest.mark.parametrize("token", ["", "wrong", TOKEN[:-1], TOKEN + "x", "ä"])
def test_requests_need_the_token(client: Client, token: str) -> None:
    for path in ("/api/about", "/api/node?run=river", "/", "/index.html", "/api/nothing"):
        answer = client("GET", path, {"authorization": f"Bearer {token}".encode()})  # type: ignore[dict-item]
        assert answer.status_code == 401
    assert client("GET", f"/?token={token or 'x'}", {"authorization": ""}).status_code == 401


def test_link_sets_the_cookie(client: Client) -> None:
    answer = client("GET", f"/?token={TOKEN}&run=river", {"authorization": None})
    cookie = answer.headers["set-cookie"]
    assert answer.status_code == 303
    assert answer.headers["location"] == "/?run=river"
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    with_it = {"authorization": None, "cookie": cookie.partition(";")[0]}
    assert client("GET", "/api/about", with_it).status_code == 200
    # the cookie alone may read; writes must come from the page, as shown by Origin
    for more, status in (({}, 403), ({"origin": f"http://{HOST}"}, 200), ({"sec-fetch-site": "same-origin"}, 200)):
        assert client("POST", "/api/ranges", with_it | more, json={"text": "AA"}).status_code == status


@pytest.mark.parametrize(
    "given", ["{}", "Basic {}", "Bearer{}", "Token {}", "bearer x{}", "Bearer {} x", "Bearer", "Bearer "]
)
def test_only_the_scheme_bearer_carries_the_token(client: Client, given: str) -> None:
    cookie = f"{client.door.cookie}={TOKEN}"
    for more in ({}, {"cookie": cookie}):  # a wrong Authorization header is rejected even with a cookie
        answer = client("GET", "/api/about", {"authorization": given.format(TOKEN)} | more)
        assert answer.status_code == 401
    for scheme in ("bearer", "BEARER", "bEaReR "):  # RFC 9110: schemes are case-insensitive
        assert client("GET", "/api/about", {"authorization": f"{scheme} {TOKEN}"}).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([("authorization", f"Bearer {TOKEN}"), ("authorization", "Bearer x")], 401),
        ([("authorization", "Bearer x"), ("authorization", f"Bearer {TOKEN}")], 401),
        ([("authorization", f"Bearer {TOKEN}"), ("authorization", f"Bearer {TOKEN}")], 401),
        ([("cookie", f"riverboat-8765={TOKEN}"), ("cookie", "other=1")], 200),
        ([("cookie", "other=1"), ("cookie", f"a=b; riverboat-8765={TOKEN}")], 200),
        ([("cookie", f"riverboat-8765=old; riverboat-8765={TOKEN}")], 200),
        ([("cookie", f"a@b/[x]=1; riverboat-8765={TOKEN}")], 200),  # cookies of other servers on this host
        ([("cookie", f"riverboat-9999={TOKEN}")], 401),
        ([("cookie", "riverboat-8765=")], 401),
        ([("cookie", "riverboat-8765")], 401),
        ([], 401),
    ],
)
def test_several_headers(client: Client, headers: list[tuple[str, str]], status: int) -> None:
    async def ask() -> int:
        transport = httpx.ASGITransport(client.door)
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}") as sender:
            return (await sender.get("/api/about", headers=headers)).status_code

    assert asyncio.run(ask()) == status
    with pytest.raises(ValueError, match="token"):
        Gateway(client.door.make_application, "", frozenset({HOST}), 8765)


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"}, {"origin": "null"}, {"origin": f"https://{HOST}"}, {"origin": "http://127.0.0.1:9999"},
        {"host": "evil.example"}, {"host": "evil.example:8765"}, {"host": "127.0.0.1"}, {"host": ""},
        {"host": "127.0.0.1:8765.evil.example"}, {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"},
    ],
)  # fmt: skip
def test_foreign_hosts_and_origins_are_rejected(client: Client, headers: dict[str, str]) -> None:
    for method, path in (("GET", "/api/about"), ("POST", "/api/jobs"), ("DELETE", "/api/jobs/river")):
        assert client(method, path, headers).status_code == 403
    assert client("GET", "/api/about", {"origin": f"http://{HOST}", "sec-fetch-site": "same-origin"}).status_code == 200


@pytest.mark.parametrize(
    "name",
    [
        "../river", "..", "/etc", "/etc/passwd", "river/../../x", ".jobs", ".", "", "~", "link", "link/x", "a\0b",
        "river\\..", "%2e%2e/x", "x" * 150,
    ],
)  # fmt: skip
def test_names_cannot_escape_the_data_folder(client: Client, data: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "spot.toml").write_text("secret")
    link = data / "link"
    if not link.exists():
        link.symlink_to(tmp_path)
    for answer in (
        client("GET", "/api/node", params={"run": name}),
        client("POST", "/api/spots", json={"file": name}),
        client("POST", "/api/spots", json={"file": f"{name}/spot.toml"}),
        client("POST", "/api/spots", json={"run": name}),
        client("POST", "/api/jobs", json={"spot": SPOT, "name": f"{name}/x"}),
        client("POST", "/api/jobs", json={"spot": SPOT, "boards": name}),
    ):
        assert answer.status_code in (400, 404, 422), answer.text
        assert "secret" not in answer.text
    for path in (f"/{name}", f"/page/{name}", "/..%2f..%2fdoor.py", "/../door.py", "/door.py"):
        answer = client("GET", path.replace("\0", "%00"))
        assert answer.status_code == 404 or answer.content == (PAGE / "index.html").read_bytes()  # "/.." is "/"


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"spot": 3}', b'{"spot": {}, "text": "x"}', b'{"unknown": 1}',
        b'{"spot": {"board": "AsAsAs"}}', b'{"spot": {"board": 1}}', b'{"text": "board = "}', b'{"file": 7}',
        b'{"run": "nothing"}', b'{"state": "MATCHSTATE:0:0::|", "agent": "os:system"}',
        b'{"line": "cc/", "agent": "riverboat.games:x", "board": "2c3c4c"}',
        b'{"line": "cc/", "agent": "demo?abstraction=/etc", "board": "2c3c4c"}',
        b'{"text": "' + b"[" * 5000 + b'"}', b"[" * 5000,
        json.dumps({"spot": SPOT | {"ranges": {"oop": "@/etc/passwd", "ip": "AA"}}}).encode(),
        json.dumps({"spot": SPOT | {"pot": 10**30}}).encode(), json.dumps({"spot": SPOT | {"pot": float("nan")}}).encode(),
        json.dumps({"spot": SPOT, "locks": [{"line": "b120"}]}).encode(), json.dumps({"spot": SPOT, "locks": [3]}).encode(),
    ],
)  # fmt: skip
def test_malformed_bodies_get_one_line(client: Client, body: bytes) -> None:
    for path in ("/api/spots", "/api/spots/size", "/api/jobs"):
        answer = client("POST", path, {"content-type": "application/json"}, content=body)
        assert answer.status_code in (400, 404, 422), answer.text
        told = answer.json()["error"]
        assert told
        assert "\n" not in told
        assert "root:" not in told


@pytest.mark.parametrize(
    "more",
    [
        {"schedule": "os:system"}, {"schedule": "os:system,x=1"}, {"schedule": "tests.fuzz:x"}, {"until": "soon"},
        {"until": "-1%"}, {"time": "long"}, {"checkpoint": "often"}, {"iterations": 0}, {"threads": 10**6},
        {"dtype": "pickle"}, {"report": "x"},
        {"boards": "sample:0"}, {"boards": "sample:x"}, {"name": "-x"}, {"name": "a/b"}, {"name": "river"},
    ],
)  # fmt: skip
def test_invalid_jobs_are_not_queued(client: Client, more: dict[str, Any]) -> None:
    answer = client("POST", "/api/jobs", json={"spot": SPOT} | more)
    assert answer.status_code in (400, 422), answer.text
    assert "\n" not in answer.json()["error"]
    assert client.get("/api/jobs") == []


def test_allowed_hosts() -> None:
    assert is_loopback_host("127.0.0.1")
    assert is_loopback_host("::1")
    assert not is_loopback_host("0.0.0.0")
    with pytest.raises(InputError, match=r"evil\.example"):
        is_loopback_host("evil.example")
    assert allowed_hosts("127.0.0.1", 9) == {"127.0.0.1:9", "localhost:9", "[::1]:9"}
    assert "192.0.2.7:9" in allowed_hosts("192.0.2.7", 9)
    assert not any("evil" in name for name in allowed_hosts("0.0.0.0", 9))


def test_large_bodies_are_rejected(client: Client) -> None:
    async def chunks() -> Any:
        for _ in range(MAX_BODY_BYTES // 1000 + 2):
            yield b" " * 1000

    assert client("POST", "/api/spots", content=b" " * (MAX_BODY_BYTES + 1)).status_code == 413
    assert client("POST", "/api/spots", content=chunks()).status_code == 413
    assert client("POST", "/api/ranges", json={"text": "A" * 300_000}).status_code == 422
