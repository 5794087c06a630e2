"""Locks in a real browser: locking again adds locks, locked hands are marked, and a list removes locks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

import riverboat as rb
from browsing import CHROMIUM, LEFT_OUT
from riverboat.cards.ranges import Range
from riverboat.strategies import files

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=LEFT_OUT)


def lock_cell(page: Any, cell: str, move: str) -> None:
    """Lock one cell of the player to act at the open node, and wait until the spot is solved again and opened."""
    page.get_by_role("radio", name="Lock").click()
    page.get_by_role("button", name=f"always {move}").click()
    page.locator(f'.acting [role="gridcell"][aria-label^="{cell},"]').click()
    page.get_by_role("button", name="Lock and solve again").click()
    expect(page.get_by_role("radio", name="Compare")).to_have_attribute("aria-checked", "true")


def test_locks_are_marked_listed_and_sent(visit: Any, data: Path) -> None:
    spot = files.load(data / "turn").tree.game.lock("", {"x": 1.0}, "AA").lock("x-x/*", {"a": 1.0}, "KK")
    rb.solve(spot, until=5.0, out=data / "fixed")
    page = visit("#study?run=fixed")
    sent: list[Any] = []

    def refuse(route: Any) -> None:
        sent.append(route.request.post_data_json)
        route.fulfill(status=200, json={"name": "x", "state": "stopped"})

    page.route("**/api/jobs", lambda route: refuse(route) if route.request.method == "POST" else route.continue_())
    page.route("**/api/jobs/x/events", lambda route: route.fulfill(status=204))
    expect(page.locator(".acting .cell.locked")).to_have_count(1)
    expect(page.locator(".crumb.here").get_by_text("locked")).to_be_visible()
    expect(page.locator('.acting [role="gridcell"][aria-label^="AA,"]')).to_have_attribute(
        "aria-label", re.compile("locked")
    )
    page.get_by_role("radio", name="Lock").click()
    locks = page.get_by_role("region", name="Locks")
    expect(locks.get_by_role("listitem")).to_have_count(2)
    page.get_by_role("button", name="always check").click()
    page.locator('.acting [role="gridcell"][aria-label^="KK,"]').click()
    for press in (page.get_by_role("button", name="Lock and solve again"), locks.get_by_label("Unlock root, AA")):
        with page.expect_request(lambda asked: asked.method == "POST" and asked.url.endswith("/api/jobs")):
            press.click()
    expect(page.get_by_role("region", name="Job x")).to_be_visible()
    assert [(one.get("locks"), one.get("add_locks")) for one in sent] == [
        (None, [{"line": "", "hands": "KK", "strategy": {"x": 1}}]),
        ([{"line": "x-x/*", "hands": "KK", "strategy": {"a": 1.0}}], None),
    ]
    page.goto(page.url.replace("run=fixed", "run=fixed&line=x"))
    expect(page.locator(".crumb").first.get_by_text("locked")).to_be_visible()
    expect(page.locator(".crumb.here").get_by_text("locked")).to_be_hidden()


@pytest.mark.slow  # three jobs
def test_locking_again_adds_marks_and_lists(visit: Any, data: Path) -> None:
    page = visit("#study?run=turn")
    acting, crumb = page.locator(".acting .cell.locked"), page.locator(".crumb.here")
    expect(crumb).to_be_visible()
    expect(acting).to_have_count(0)
    lock_cell(page, "AA", "check")
    lock_cell(page, "KK", "all-in")  # the same node again
    node = files.load(data / "turn-locked-2")[""]
    moves, weights = list(node.actions), node.reach[0]
    for hands, move in (("AA", "x"), ("KK", "a")):
        played = node.strategy[moves.index(move)][cards(hands, weights)]
        assert played == pytest.approx(1, abs=1e-4)
    page.get_by_role("radio", name="Hands").click()
    expect(acting).to_have_count(2)
    expect(crumb.get_by_text("locked")).to_be_visible()
    page.get_by_role("radio", name="Lock").click()
    locks = page.get_by_role("region", name="Locks")
    expect(locks.get_by_role("listitem")).to_have_count(2)
    locks.get_by_role("button", name="Unlock root, AA").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("turn-locked-3")
    page.get_by_role("radio", name="Lock").click()
    expect(locks.get_by_role("listitem")).to_have_count(1)
    expect(locks).to_contain_text("KK")


def cards(text: str, weights: Any) -> Any:
    """Return the numbers of the hands in a range."""
    return (Range.parse(text).weights * weights).nonzero()[0]
