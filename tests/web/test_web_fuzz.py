"""Random requests to every route never cause an internal server error."""

from __future__ import annotations

import asyncio
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest

import riverboat as rb
from random_blueprints import random_blueprint
from riverboat.strategies.blueprint import save_blueprint
from riverboat.web.application import create_application
from riverboat.web.gateway import Gateway
from riverboat.web.server import Server
from web.test_web import HOST, SPOT, TOKEN
from web.test_web_trust import hostile

QUICK, MANY = 400, 20_000
ALLOWED = {503, 507}  # intended: too much computation or memory
WORDS = [
    "", "x", "river", "mine", "default", "always-call", "demo?purify", "push:2,2", "push:1e9,1",
    "Td9d6hQc2s", "b120", "x-x", "cr300c/",
    "0.5%", "all", "sample:2", "-1", "1e308", "nan", "null", "../..", "/etc/hostname",
    "a" * 5_000, "\x00", "🂡", "%00", "MATCHSTATE:0:0::AsKs|",
]  # fmt: skip
VALUES: list[Any] = [None, True, False, 0, -1, 1, 7, 10**30, 1e308, [], {}, [1], {"x": 1}, SPOT, {**SPOT, "pot": -1}]
STREAMS = ("/api/events",)  # endless


def value(rng: random.Random, words: list[str], depth: int = 0) -> Any:
    """Draw a random JSON value."""
    kind = rng.random()
    if kind < 0.6:
        word = rng.choice(words)
        return word if rng.random() < 0.7 else word[: rng.randrange(len(word) + 1)] + rng.choice(words)[:20]
    if kind < 0.9 or depth > 2:
        return rng.choice(VALUES)
    return {
        rng.choice(["board", "pot", "spot", "line", "x"]): value(rng, words, depth + 1) for _ in range(rng.randrange(4))
    }


def request(rng: random.Random, spec: dict[str, Any], words: list[str]) -> tuple[str, str, dict[str, Any]]:
    """Draw a request: mostly a route of the schema with its own parameters and random values."""
    path = rng.choice([one for one in spec["paths"] if one not in STREAMS])
    method = rng.choice(list(spec["paths"][path]))
    about = spec["paths"][path][method]
    body = about.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    known = spec["components"]["schemas"].get(body.get("$ref", "").rpartition("/")[2], {}).get("properties", {})
    sent = {name: value(rng, words) for name in known if rng.random() < 0.5}
    if rng.random() < 0.1:
        sent[rng.choice(words)[:30] or "x"] = value(rng, words)
    asked = {
        one["name"]: rng.choice(words) for one in about.get("parameters", []) if one["in"] == "query" and rng.random() < 0.8
    }  # fmt: skip
    place = re.sub(
        r"\{\w+\}", lambda _: rng.choice(["river", "mine", "none", "drill-1", "x" * 300, "%2e%2e", "a%2Fb"]), path
    )
    more: dict[str, Any] = {"params": asked}
    if method in ("post", "put"):
        more |= (
            {"json": sent}
            if rng.random() < 0.95
            else {"content": rng.choice([b"{", b"\xff", b"[]", b"null", b"1" * 100])}
        )
    return method.upper(), place, more


def fuzz(folder: Path, count: int, seed: int) -> Counter[int]:
    """Send random requests and count responses by status; none may be an internal error."""
    spot = rb.Spot.make(board="Td9d6hQc2s", pot=200, stack=900, oop="AA,AK", ip="QQ,AQ", bets="a")
    rb.solve(spot, iterations=5, out=folder / "river")
    save_blueprint(random_blueprint("leduc"), folder / "mine")
    server = Server(folder, memory=1 << 16)  # no job fits
    app = create_application(server)
    door = Gateway(lambda: app, TOKEN, frozenset({HOST}), 8765)
    rng, spec, codes = random.Random(seed), app.openapi(), Counter[int]()
    words = [*WORDS, *hostile(folder / "outside")]

    async def send() -> None:
        transport = httpx.ASGITransport(door)
        headers = {"authorization": f"Bearer {TOKEN}"}
        async with httpx.AsyncClient(
            transport=transport, base_url=f"http://{HOST}", headers=headers, timeout=120
        ) as client:
            for _ in range(count):
                method, place, more = request(rng, spec, words)
                answer = await client.request(method, place, **more)
                codes[answer.status_code] += 1
                fault = answer.status_code >= 500 and answer.status_code not in ALLOWED
                assert not fault, (method, place, more, answer.text)
                assert "Traceback" not in answer.text

    asyncio.run(send())
    server.close()
    return codes


def test_random_requests_are_answered(tmp_path: Path) -> None:
    codes = fuzz(tmp_path, QUICK, seed=1)
    assert {200, 400, 422} <= set(codes)


@pytest.mark.slow
def test_many_random_requests_are_answered(tmp_path: Path) -> None:
    codes = fuzz(tmp_path, MANY, seed=2)
    print(f"{sum(codes.values()):,} requests by status: {dict(sorted(codes.items()))}")
