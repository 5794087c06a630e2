"""One server and one browser for all tests of the page: Debian's Chromium, driven by Playwright.

A test fails if the page writes an error to the console, throws, or sends a request to another host. A screenshot of a failed
test is in its temporary folder; the report names it.
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
from browsing import CHROMIUM, PATIENCE, WIDE, add_to_log
from random_blueprints import random_blueprint
from riverboat.strategies.blueprint import save_blueprint
from riverboat.tournaments.run import SolvedTournament
from riverboat.tournaments.tournament import Tournament
from riverboat.web import serve, server
from riverboat.web.connections import make_server
from riverboat.web.gateway import Gateway

TOKEN = "a-token-of-the-tests"
TURN: dict[str, Any] = {"board": "QsJh2h7c", "pot": 100, "stack": 100, "oop": "AA,KK,T9s", "ip": "QQ,JTs,A5s"}


Open = Callable[..., Any]


@pytest.fixture(scope="session", autouse=True)
def _reads_have_time() -> Iterator[None]:
    """Give reads of servers in this process as much time as the tests have: the first ones compile kernels."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "READ_SECONDS", PATIENCE)
        yield


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The browser."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=1000 * PATIENCE)
    with sync_playwright() as playwright:
        # no sandbox, because tests may run as root in a container; only our own page is opened
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder: a solved turn, a blueprint of hold'em up to the flop with its log, and a random tournament."""
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
    """The address of a server on a free port."""
    bound = serve.bind_socket("127.0.0.1", 0)
    port = bound.getsockname()[1]
    inside = serve.LazyApplication(data, 1, None)
    door = Gateway(inside, TOKEN, serve.allowed_hosts("127.0.0.1", port), port)
    listener = make_server(door, inside.stop)
    thread = threading.Thread(target=listener.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{port}"
    listener.should_exit = True
    thread.join(PATIENCE)
    inside.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Record whether the test itself failed, for the screenshot."""
    report = yield
    if report.when == "call":  # type: ignore[attr-defined]
        item.stash[FAILED] = report.failed  # type: ignore[attr-defined]
    return report


FAILED = pytest.StashKey[bool]()


@pytest.fixture
def visit(browser: Any, address: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """`visit("#study", size, scheme)`: open a page of the server in a new browser context and watch for errors.

    With `refused` the server may reject requests; the browser logs each of these responses.
    """
    wrong: list[str] = []
    pages: list[Any] = []

    def go(place: str, size: tuple[int, int] = WIDE, scheme: str = "light", *, refused: bool = False) -> Any:
        viewport = {"width": size[0], "height": size[1]}
        context = browser.new_context(viewport=viewport, color_scheme=scheme, reduced_motion="reduce")
        context.set_default_timeout(1000 * PATIENCE)
        page = context.new_page()
        pages.append(page)
        # the page handles 405 (costly) and 409 (continued in another window)
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
    """Return whether a page sent a request to another host."""
    return not url.startswith((f"{address}/", "data:", "blob:"))
