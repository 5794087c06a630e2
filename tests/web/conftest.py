"""One server and one browser for all tests of the page: Debian's Chromium, driven by Playwright.

A test fails where the page writes an error to the console, throws, or asks another host for anything. A picture of what
was to be seen when a test failed lies in its temporary folder, and the report says where.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import riverboat as rb
from browsing import CHROMIUM, WIDE, add_to_log
from random_blueprints import random_blueprint
from riverboat.strategies.blueprint import save_blueprint
from riverboat.tournaments.run import SolvedTournament
from riverboat.tournaments.tournament import Tournament
from riverboat.web import serve
from riverboat.web.connections import listener
from riverboat.web.gateway import Door

TOKEN = "a-token-of-the-tests"
PATIENCE = 60_000  # ms that a page may take on a machine where nothing is compiled and everything else runs too
TURN: dict[str, Any] = {"board": "QsJh2h7c", "pot": 100, "stack": 100, "oop": "AA,KK,T9s", "ip": "QQ,JTs,A5s"}


Open = Callable[..., Any]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The browser."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        # without a sandbox, since tests may run as root in a container; nothing but our own page is opened
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder: a solved turn, a blueprint of hold'em that ends on the flop, with the log of its training, and a
    tournament whose players do anything."""
    folder = tmp_path_factory.mktemp("data")
    rb.solve(rb.Spot.make(**TURN, bets="50%, a"), until=1.0, out=folder / "turn")
    save_blueprint(random_blueprint("bench-2x52", dtype=np.uint8), folder / "trained" / "strategy")
    for iteration in (1000, 2000):
        add_to_log(folder / "trained", iteration)
    played, rng = (
        Tournament(players=2, chips=6, unit=1, blinds=(0.5, 1.0), payouts=(60.0, 40.0)),
        np.random.default_rng(1),
    )
    strategies = [rng.random((2, 169)).round(2) for _ in played.states]
    places = np.full(2 * len(played.states), 50.0)
    SolvedTournament(played, "pi-fp", 1, strategies, places, 0 * places, 1.0).save(folder / "small")
    return folder


@pytest.fixture(scope="session")
def address(data: Path) -> Iterator[str]:
    """A server on a free port of the loopback address."""
    bound = serve.listen("127.0.0.1", 0)
    port = bound.getsockname()[1]
    inside = serve.Inside(data, 1, None)
    door = Door(inside, TOKEN, serve.hosts("127.0.0.1", port), port)
    server = listener(door, inside.stop)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(10)
    inside.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Note whether the test itself failed, for the picture."""
    report = yield
    if report.when == "call":  # type: ignore[attr-defined]
        item.stash[FAILED] = report.failed  # type: ignore[attr-defined]
    return report


FAILED = pytest.StashKey[bool]()


@pytest.fixture
def visit(browser: Any, address: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """`visit("#study", size, scheme)`: a page of the server in a browser of its own cookies, watched for what goes wrong.

    With `refused` the server may answer that a request is wrong; the browser logs each of these answers.
    """
    wrong: list[str] = []
    pages: list[Any] = []

    def go(place: str, size: tuple[int, int] = WIDE, scheme: str = "light", *, refused: bool = False) -> Any:
        viewport = {"width": size[0], "height": size[1]}
        context = browser.new_context(viewport=viewport, color_scheme=scheme, reduced_motion="reduce")
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        pages.append(page)
        # 405 and 409 are answers that the page knows what to do with: costly, or gone on in another window
        allowed = re.compile(rf"Failed to load resource: .* status of {r'4..' if refused else r'40(5|9)'}")
        page.on(
            "console",
            lambda said: (
                said.type == "error" and not allowed.match(said.text) and wrong.append(f"console: {said.text}")
            ),
        )
        page.on("pageerror", lambda error: wrong.append(f"thrown: {error}"))
        page.on("request", lambda asked: foreign(asked.url, address) and wrong.append(f"elsewhere: {asked.url}"))
        page.goto(f"{address}/?token={TOKEN}{place}")
        return page

    yield go
    for number, page in enumerate(pages):
        if request.node.stash.get(FAILED, False):
            picture = tmp_path / f"failed-{number}.png"
            page.screenshot(path=picture, full_page=True)
            print(f"what was to be seen: {picture}")
        page.context.close()
    assert wrong == []


def foreign(url: str, address: str) -> bool:
    """Whether a page asked for something that is not the server's."""
    return not url.startswith((f"{address}/", "data:", "blob:"))
