"""Play, drills and charts over the API, called in this process."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

import riverboat as rb
from browsing import PATIENCE
from riverboat.formats.hand_files import read_hands
from riverboat.web.application import create_application
from riverboat.web.server import Server

RIVER = {"board": "Td9d6hQc2s", "pot": 100, "stack": 200, "oop": "AA,KJ,77", "ip": "QQ,AT,88", "bets": "50%, a"}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a solved river."""
    folder = tmp_path_factory.mktemp("data")
    rb.solve(rb.Spot.make(**RIVER), iterations=60, out=folder / "river")
    return folder


def asker(data: Path) -> Any:
    """Return `ask(method, path, body, status)` for a new server on a folder."""
    app = create_application(Server(data))

    def ask(method: str, path: str, body: Any = None, status: int = 200, **parameters: Any) -> Any:
        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://test", timeout=60) as client:
                return await client.request(method, f"/api/{path}", json=body, params=parameters)

        answer = asyncio.run(send())
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content and "json" in answer.headers.get("content-type", "") else answer

    return ask


def reviewed(ask: Any, path: str, **asked: Any) -> Any:
    """Request a review and wait for it."""
    told = ask("POST", path, asked)
    end = time.monotonic() + PATIENCE
    while told["state"] in ("waiting", "running"):
        assert time.monotonic() < end
        time.sleep(0.01)
        told = ask("GET", path, **asked)
    assert told["state"] == "done", told
    return told["review"]


def test_session_survives_its_server(data: Path, tmp_path: Path) -> None:
    ask = asker(data)
    names = {agent["name"]: agent["kind"] for agent in ask("GET", "play/agents")}
    assert names["river"] == "spot"
    assert names["rule-based"] == "yardstick"
    table = ask("POST", "play/sittings", {"agent": "rule-based", "seed": 5}, 201)
    for _ in range(3):
        while not table["over"]:
            table = ask("POST", f"play/sittings/{table['name']}/move", {"move": "c"})
        table = ask("POST", f"play/sittings/{table['name']}/deal")
    assert table["hands"] >= 3  # the agent may fold immediately, which ends the fourth hand too
    again = asker(data)
    assert again("GET", f"play/sittings/{table['name']}") == table
    assert table["name"] in [one["name"] for one in again("GET", "play/sittings")]
    kept = again("GET", f"play/sittings/{table['name']}/hands.phhs")
    (tmp_path / "kept.phhs").write_text(kept.text)
    record = read_hands(tmp_path / "kept.phhs", scale=1).hands
    assert len(record) == table["hands"]
    assert set(record.names) == {"you", "rule-based"}
    told = again("GET", f"play/sittings/{table['name']}/results")
    assert told["won"] == table["won"] == record.won[record.player == record.names.index("you")].sum()
    again("DELETE", f"play/sittings/{table['name']}", status=204)
    again("GET", f"play/sittings/{table['name']}", status=404)


def test_a_review_points_into_the_solution(data: Path) -> None:
    ask, solution = asker(data), rb.load(data / "river")
    table = ask("POST", "play/sittings", {"agent": "river", "seed": 2, "seat": "oop"}, 201)
    assert table["seat"] == 0
    while not table["over"]:
        table = ask("POST", f"play/sittings/{table['name']}/move", {"move": table["moves"][-1]["move"]})
    assert ask("GET", f"play/sittings/{table['name']}/review", hand=0)["state"] == "none"  # reading starts nothing
    review = reviewed(ask, f"play/sittings/{table['name']}/review", hand=0)
    assert review["ev_lost"] == pytest.approx(sum(one["ev_lost"] for one in review["decisions"]))
    for one in review["decisions"]:
        assert one["study"]["run"] == "river"
        here = solution[one["study"]["line"]]
        assert len(here.actions) == len(one["verdict"]["options"])
    ask("POST", f"play/sittings/{table['name']}/review", {"hand": 7}, 400)


def test_hand_history_reviews_equal_session_reviews(data: Path) -> None:
    """A session saved as PHH and uploaded again has the same EV lost, as text or as a file."""
    ask = asker(data)
    table = ask("POST", "play/sittings", {"agent": "river", "seed": 2}, 201)
    for k in range(3):
        while not table["over"]:
            table = ask("POST", f"play/sittings/{table['name']}/move", {"move": table["moves"][-1]["move"]})
        table = ask("POST", f"play/sittings/{table['name']}/deal") if k < 2 else table
    text = ask("GET", f"play/sittings/{table['name']}/hands.phhs").text
    told = ask("POST", "play/histories", {"text": text, "title": "Evening 1.phhs"}, 201)
    assert (told["name"], told["hands"], told["refused"]) == ("evening-1", 3, [])
    assert ask("POST", "play/histories", {"text": text, "title": "Evening 1.phhs"}, 201)["name"] == "evening-1"
    (data / "kept.phhs").write_text(text + "\n[4]\nvariant = 'NT'\n")
    other = ask("POST", "play/histories", {"file": "kept.phhs"}, 201)
    assert [one["why"] for one in other["refused"]] == ["a field is missing"]
    again = asker(data)  # a new server knows them
    assert {one["name"] for one in again("GET", "play/histories")} == {"evening-1", "kept"}
    listed = again("GET", "play/histories/evening-1/hands", player="you")["hands"]
    for k, one in enumerate(listed):
        kept = reviewed(ask, f"play/sittings/{table['name']}/review", hand=k)
        review = reviewed(again, "play/histories/evening-1/review", player="you", judge="river", hand=k)
        assert review["hole"] == one["hole"] == kept["hole"]
        assert review["ev_lost"] == pytest.approx(kept["ev_lost"], abs=1e-9)
        assert [d["study"] for d in review["decisions"]] == [d["study"] for d in kept["decisions"]]
        assert [d["words"] for d in review["decisions"]] == [d["words"] for d in kept["decisions"]]
    path = "play/histories/evening-1/review"
    again("POST", path, {"player": "nobody", "judge": "river", "hand": 0}, 400)
    again("POST", path, {"player": "you", "judge": "river", "hand": 9}, 400)
    again("POST", path, {"player": "you", "judge": "no-such", "hand": 0}, 404)
    for name in ("evening-1", "kept"):
        again("DELETE", f"play/histories/{name}", status=204)
    again("GET", "play/histories/kept", status=404)


@pytest.mark.parametrize(
    ("path", "body", "status", "said"),
    [
        ("play/sittings", {"agent": "os:system"}, 400, "os:system"),
        ("play/sittings", {"agent": "../../etc"}, 400, "'../../etc'"),
        ("play/sittings", {"agent": "river", "seat": "dealer"}, 422, "seat"),
        ("play/sittings", {"agent": "river", "extra": 1}, 422, "extra"),
        ("play/sittings/..%2F..%2Fx/move", {"move": "c"}, 404, ""),
        ("play/sittings/no-such/move", {"move": "c"}, 404, "no-such"),
        ("play/histories", {}, 400, "text"),
        ("play/histories", {"text": ""}, 400, "hands"),
        ("play/histories", {"text": "<html>"}, 400, "hands"),
        ("play/histories", {"text": "STATE:0:zzz:9s8h|"}, 400, ""),
        ("play/histories", {"file": "../../etc/passwd"}, 400, "'../../etc/passwd'"),
        ("play/histories", {"file": "river"}, 400, ".phhs"),
        ("play/histories", {"file": "no.phhs"}, 404, "no.phhs"),
        ("drills", {"source": "nowhere"}, 404, "nowhere"),
        ("drills", {"source": "always-call"}, 400, "always-call"),
        ("drills", {"source": "river", "only": "easy"}, 422, "only"),
        ("drills", {"source": "push:10"}, 400, "2 to 9"),
        ("drills", {"source": "push:ten,ten"}, 400, "ten"),
        ("drills/drill-99/answer", {"move": "c"}, 404, "drill-99"),
    ],
)
def test_invalid_requests_get_one_line(data: Path, path: str, body: Any, status: int, said: str) -> None:
    answer = asker(data)("POST", path, body, status)
    assert said in answer["error"]
    assert "\n" not in answer["error"]


def test_drill_grades_and_records(data: Path) -> None:
    ask = asker(data)
    begun = ask("POST", "drills", {"source": "river", "only": "mixed", "seed": 1}, 201)
    assert "verdict" not in begun["question"]
    ask("POST", f"drills/{begun['name']}/answer", {"move": "r7"}, 400)
    grade = ask("POST", f"drills/{begun['name']}/answer", {"move": begun["question"]["moves"][0]})
    assert grade["lost"] == pytest.approx(
        max(o["ev"] for o in grade["verdict"]["options"]) - grade["verdict"]["options"][0]["ev"]
    )
    assert grade["stands_for"] in begun["question"]["moves"]
    ask("POST", f"drills/{begun['name']}/answer", {"move": "c"}, 400)  # nothing was asked
    told = ask("GET", f"drills/{begun['name']}")
    assert (told["answers"], told["question"]) == (1, None)  # reading asks no question
    asked = ask("POST", f"drills/{begun['name']}/question")
    assert asked["question"] is not None
    assert ask("GET", f"drills/{begun['name']}") == asked == ask("POST", f"drills/{begun['name']}/question")
    assert asker(data)("GET", "drills/record", source="river")["answers"] == 1  # another server reads the record


def test_charts_of_a_run(data: Path) -> None:
    ask = asker(data)
    book = ask("GET", "charts", source="river")
    assert [chart["line"] for chart in book["charts"]] == ["", "x", "b50", "a"]
    chart = ask("GET", "charts/chart", source="river", line="x")
    assert len(chart["cells"]) == len(chart["weight"]) == 169
    deeper = ask("GET", "charts", source="river", root="b50")  # the path to the line, and the decisions after it
    assert [chart["line"] for chart in deeper["charts"]][:2] == ["", "b50"]
    assert all(chart["line"].startswith("b50") for chart in deeper["charts"][1:])
    assert ask("GET", "charts/difference", source="river", against="river", line="x")["mean"] == 0
    assert ask("GET", "charts/picture", source="river", line="x", kind="svg").text.startswith("<?xml")
    ask("GET", "charts", status=400, source="module:thing")
