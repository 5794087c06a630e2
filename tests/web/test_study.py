"""Study in a real browser: examples that lead to a solved node, errors, lists, and all pages on a phone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

import riverboat as rb
from browsing import CHROMIUM, LEFT_OUT, NARROW
from riverboat.api import boards as many_boards
from riverboat.core import files as core_files
from riverboat.strategies import files

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=LEFT_OUT)


@pytest.fixture(scope="session")
def long_name(data: Path) -> str:
    """A run with a long name, many bet sizes and large numbers."""
    sizes = "10%, 33%, 50%, 75%, 100%, 150%, 250%, a"
    spot = rb.Spot.make(board=BOARDS[0], pot=1234567, stack=98765432, oop="AA,KK", ip="QQ,JTs", bets=sizes)
    rb.solve(spot, until=5.0, out=data / LONG)
    return LONG


@pytest.fixture(scope="session")
def boards(data: Path) -> str:
    """A run of two boards without saved solutions."""
    spot = rb.Spot.make(board="Td9d6hQc2s", pot=200, stack=900, oop="66+,AK", ip="QQ-22,AQ", bets="60%, a")
    two = [
        many_boards.WeightedBoard(rb.Spot.make(board=b, pot=2, stack=2, oop="AA", ip="KK", bets="").board, 1.0)
        for b in BOARDS
    ]
    many_boards.solve_boards(spot, two, until=5.0, out=data / "several")
    return "several"


BOARDS = ("Td9d6hQc2s", "Td9d6hQc3c")
LONG = "a" * 60


def alert(page: Any) -> Any:
    """Return the alerts of the page itself; messages in the corner disappear."""
    return page.locator("#main").get_by_role("alert")


def open_blueprint(page: Any, name: str) -> Any:
    """Choose a blueprint on the start page of Study, and wait for its examples."""
    page.get_by_label("Blueprint", exact=True).select_option(name)
    examples = page.get_by_role("group", name="Examples")
    expect(examples.get_by_role("button").first).to_be_visible()
    return examples


def test_example_line_and_its_estimate(visit: Any) -> None:
    page = visit("#study")
    examples = open_blueprint(page, "default")
    expect(page.get_by_label("Line", exact=True)).not_to_have_value("")  # the first example is filled in
    page.get_by_role("button", name="Open the line", exact=True).click()
    expect(page.locator(".crumb.here")).to_contain_text("check")
    combos = page.locator(".sheet.hands header small").filter(has_text="combos").all_inner_texts()
    assert all(float(re.sub(r"[^\d.]", "", text)) > 100 for text in combos)
    page.go_back()
    examples.get_by_role("button", name="river").click()
    page.get_by_role("button", name="Solve from here").click()
    proposal = page.get_by_role("region", name="Proposal")
    solve = proposal.get_by_role("button", name="Solve", exact=True)
    expect(proposal.get_by_role("radio", checked=True)).to_have_count(1)
    expect(proposal.get_by_text(re.compile(r"\d (kB|MB), about \d"))).not_to_have_count(0)
    expect(solve).to_be_enabled()
    assert not [job for job in page.request.get(f"{home(page)}api/jobs").json() if job["name"].startswith("default")]
    page.route("**/api/spots/proposal", lambda route: route.fulfill(json=too_large(route.fetch().json())))
    page.get_by_role("button", name="Solve from here").click()
    expect(alert(page)).to_be_visible()
    expect(solve).to_be_disabled()
    expect(proposal.get_by_role("radio", disabled=False)).to_have_count(0)


@pytest.mark.slow  # a job is a separate process
def test_an_example_leads_to_a_solved_node(visit: Any, data: Path) -> None:
    page = visit("#study")
    open_blueprint(page, "default").get_by_role("button", name="turn").click()
    page.get_by_role("button", name="Solve from here").click()
    page.get_by_role("region", name="Proposal").get_by_role("button", name="Solve", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("^default-r250c-cc"), timeout=300_000)
    expect(page.locator(".crumb.here")).to_contain_text("%")
    solved = files.load(data / page.get_by_role("heading", level=1).inner_text())
    assert solved[""].combos[0] > 100


def home(page: Any) -> str:
    """Return the address of the server."""
    return str(page.url.partition("#")[0])


def too_large(told: dict[str, Any]) -> dict[str, Any]:
    """Return a proposal as from a server with less memory."""
    return told | {"chosen": None, "candidates": [each | {"fits": False} for each in told["candidates"]]}


def test_invalid_links_show_an_error(visit: Any) -> None:
    page = visit("#study", refused=True)
    for place in ("run=nothing", "run=turn&line=zz", "run=default&line=r250c/&board=KhKhKh", "run=trained?zz"):
        page.evaluate("place => { location.hash = `#study?${place}` }", place)
        if "?" in place:
            page.get_by_role("button", name="Show its strategy").click()
        expect(alert(page)).to_be_visible()
        expect(page.get_by_text("Reading…")).to_have_count(0)
        page.get_by_role("button", name="Back to Study").click()
        expect(page.get_by_role("heading", name="Solved")).to_be_visible()


def test_invalid_lines_have_a_link_back(visit: Any) -> None:
    page = visit("#study?run=turn&line=x", refused=True)
    expect(page.locator(".crumb.here")).to_contain_text("IP")
    page.evaluate("location.hash = '#study?run=turn&line=zz'")
    expect(alert(page)).to_be_visible()
    page.get_by_role("button", name="Back to x").click()
    expect(page.locator(".crumb.here")).to_contain_text("IP")


def test_a_link_to_an_agent_with_options_computes_nothing(visit: Any) -> None:
    page = visit("#study")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for name in ("default?search=turn", "default%3Fexploit=dbbr", "trained?purify"):
        page.evaluate("name => { location.hash = `#study?run=${name}&line=` }", name)
        expect(page.get_by_role("heading", name=name.replace("%3F", "?"))).to_be_visible()
        page.wait_for_timeout(100)
    assert not [url for url in asked if "/api/node" in url]
    page.get_by_role("button", name="Show its strategy").click()
    expect(page.locator(".crumb.here")).to_contain_text("%")


def test_running_and_solved_runs_are_listed_separately(visit: Any, data: Path) -> None:
    with core_files.folder_lock(data / "terminal"):
        page = visit("#study")
        solved = page.get_by_role("region", name="Solved")
        expect(page.get_by_role("region", name="Runs in terminals").get_by_text("terminal", exact=True)).to_be_visible()
        expect(solved.get_by_text("turn", exact=True)).to_be_visible()
        expect(solved.get_by_text("terminal", exact=True)).to_have_count(0)
        page.evaluate("location.hash = '#study?run=terminal'")  # no results yet
        expect(alert(page)).to_be_visible()


def test_failed_report_keeps_the_table(visit: Any, boards: str) -> None:
    page = visit(f"#study?run={boards}", refused=True)
    table = page.get_by_role("table", name="Boards").locator("tbody tr")
    expect(table).to_have_count(3)
    page.get_by_label("Line of the report").fill("x")
    page.get_by_role("button", name="Show report").click()
    expect(alert(page)).to_contain_text("x")
    expect(table).to_have_count(3)
    page.get_by_label("Line of the report").fill("")
    page.get_by_role("button", name="Show report").click()
    expect(alert(page)).to_be_hidden()
    expect(table).to_have_count(3)


SLOW_RANGES = """() => {
  const ask = window.fetch;
  window.fetch = async (path, options) => {
    if (path === '/api/ranges') await new Promise((resolve) => setTimeout(resolve, 1500));
    return ask(path, options);
  };
}"""


def test_the_form_estimates_when_its_ranges_are_read(visit: Any) -> None:
    """Ranges that arrive late, after typed input is debounced, are still estimated."""
    page = visit("#study")
    page.evaluate(SLOW_RANGES)
    page.evaluate("location.hash = '#study?new=1'")
    expect(page.get_by_role("textbox", name="as text").first).to_be_visible()
    expect(page.locator(".cost .numbers")).to_be_visible()
    expect(page.get_by_role("button", name="Solve", exact=True)).to_be_enabled()


@pytest.mark.slow
def test_the_form_counts_boards(visit: Any) -> None:
    page = visit("#study?new=1")
    expect(page.locator(".cost .numbers")).to_be_visible()
    page.get_by_text("Many boards").click()
    page.get_by_label("Boards", exact=True).fill("sample:25")
    expect(page.locator(".cost")).to_contain_text("25 boards")


PLACES = {  # and a locator for its content
    "#study": ".openers .tags button", "#study?new=1": ".cost .numbers", "#study?run=turn": ".crumb.here",
    "#study?run=turn&tab=groups": ".group", "#study?run=turn&tab=graph": ".chart",
    "#study?run=turn&line=x-x/3d&tab=cards": "table[aria-label=Runouts]", "#study?run=turn&tab=lock": ".mix",
    "#study?run=turn&with=turn&tab=compare": "table[aria-label=Players]", "#study?run=several": "table[aria-label=Boards]",
    "#study?run=default&line=r250c/&board=Kh7c2s": ".crumb.here", "#study?run=nothing": ".problem",
    "#watch?runs=turn,trained": ".watching .numbers", "#charts?source=trained": ".grid", "#play": "h1:text('Play')",
    "#charts?source=small": ".grid", "#drill": "h1:text('Drill')", f"#study?run={LONG}": ".crumb.here",
    f"#study?run={LONG}%3Fpurify": "h1:text('purify')", f"#charts?source={LONG}": ".grid",
}  # fmt: skip


def test_pages_fit_a_phone(visit: Any, boards: str, long_name: str) -> None:
    page = visit("#study", NARROW, refused=True)
    sitting = page.request.post(
        f"{home(page)}api/play/sittings", data={"agent": long_name}, headers={"origin": home(page).rstrip("/")}
    ).json()
    wide = []
    for place, shown in (*PLACES.items(), (f"#play?sitting={sitting['name']}", ".felt .seat")):
        page.evaluate("place => { location.hash = place }", place)
        expect(page.locator(shown).first).to_be_visible()
        width = page.evaluate("document.documentElement.scrollWidth")
        wide += [(place, width)] if width > NARROW[0] else []
    assert wide == []
