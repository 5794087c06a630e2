"""Study and Watch in a real browser: paint ranges, solve, navigate to the river, lock, open blueprint lines, watch
runs.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from browsing import CHROMIUM, LEFT_OUT, NARROW, WIDE, add_to_log
from riverboat.strategies import files

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=LEFT_OUT)


UNNAMED = """[...document.querySelectorAll('button, input, select, textarea')].filter(
    (x) => !x.labels?.length && !x.getAttribute('aria-label') && !x.textContent.trim()).length"""


def cell(page: Any, name: str, grid: int = 0) -> Any:
    """Return a cell of a grid by its accessible name."""
    return page.get_by_role("grid").nth(grid).locator(f'[role="gridcell"][aria-label^="{name},"]')


def drag(page: Any, first: Any, last: Any) -> None:
    """Drag from one element to another, in an odd number of steps: none ends on the corner of four cells."""
    for place, act in ((first, page.mouse.down), (last, page.mouse.up)):
        box = place.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=5)
        act()


def test_spot_is_painted_solved_read_and_locked(visit: Any, data: Path) -> None:
    page = visit("#study?new=1")
    painters = page.get_by_role("textbox", name="as text")
    expect(painters.nth(1)).not_to_have_value("")
    for clear in page.get_by_role("button", name="Clear").all():
        clear.click()
    drag(page, cell(page, "AA"), cell(page, "KK"))  # down the diagonal: AA, then KK
    expect(painters.nth(0)).to_have_value("AA,KK")
    painters.nth(1).fill("QQ; JTs:0.5  a5s")  # pasted text
    painters.nth(1).blur()
    expect(painters.nth(1)).to_have_value("QQ,A5s,JTs:0.5")

    for card in ("queen of spades", "jack of hearts", "2 of hearts"):  # another flop card, and a turn
        page.get_by_role("button", name=card, exact=True).click()
    for card in ("queen of spades", "8 of hearts", "2 of hearts", "7 of clubs"):
        page.get_by_role("button", name=card, exact=True).click()
    expect(page.get_by_role("textbox", name="Board", exact=True)).to_have_value("Qs 8h 2h 7c")
    for label, text in (
        ("Pot", "100"),
        ("Stack of oop", "100"),
        ("Bets, turn", "a"),
        ("Bets, river", "a"),
        ("Target", "1%"),
    ):
        page.get_by_label(label, exact=True).fill(text)
    for label in ("Raises, turn", "Raises, river", "Add all-in up to", "All-in if left below"):
        page.get_by_label(label, exact=True).fill("")
    page.get_by_label("Name", exact=True).fill("painted")
    expect(page.locator(".numbers")).to_contain_text("memory")
    page.get_by_role("button", name="Solve", exact=True).click()

    crumbs = page.get_by_role("list", name="Moves so far")
    expect(crumbs).to_be_visible()  # opens when it is solved
    solved = files.load(data / "painted")
    frequencies = solved[""].summary().frequencies
    expect(crumbs.locator(".here")).to_contain_text(f"{100 * frequencies['x']:.0f} %")

    for steps in (2, 3):
        crumbs.locator(".here").get_by_role("button", name="check").click()
        expect(crumbs.get_by_role("listitem")).to_have_count(steps)
    page.get_by_role("group", name="Card of the river").get_by_role("button", name="3 of diamonds").click()
    expect(crumbs.get_by_role("listitem")).to_have_count(4)
    crumbs.locator(".here").get_by_role("button", name="all-in").click()
    assert page.url.endswith("#study?run=painted&line=x-x/3d-a")
    facing = solved["x-x/3d-a"]
    share = facing.summary().frequencies["c"]
    expect(crumbs.locator(".here")).to_contain_text(f"{100 * share:.0f} %")
    cell(page, "QQ", 1).click()
    expect(page.locator(".tile")).to_have_count(3)

    page.get_by_role("radio", name="Lock").click()
    page.get_by_role("button", name="always fold").click()
    page.get_by_role("button", name="Paint all").click()
    page.get_by_label("for any card dealt").check()
    page.get_by_role("button", name="Lock and solve again").click()
    expect(page.get_by_role("heading", name="in painted")).to_be_visible()  # comparison of both solutions
    locked = files.load(data / "painted-locked")
    assert locked["x-x/3d-a"].summary().frequencies["f"] == pytest.approx(1)
    assert locked["x-x/Kd-a"].summary().frequencies["f"] == pytest.approx(1)
    assert locked[""].summary().ev[0] > solved[""].summary().ev[0] - 1


def test_links_and_keyboard_navigation(visit: Any) -> None:
    page = visit("#study?run=turn&line=x-x/3d")
    crumbs = page.get_by_role("list", name="Moves so far")
    expect(crumbs.locator(".here")).to_contain_text("OOP")
    first = cell(page, "AA")
    first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator(".tile")).to_have_count(6)  # kings
    assert "equity" in cell(page, "KK").get_attribute("aria-label")
    page.keyboard.press("x")
    expect(crumbs.locator(".here")).to_contain_text("IP")
    page.keyboard.press("Backspace")
    expect(crumbs.locator(".here")).to_contain_text("OOP")
    assert page.url.endswith("line=x-x/3d")


def test_ranges_are_painted_with_the_keyboard(visit: Any) -> None:
    page = visit("#study?new=1")
    page.get_by_role("button", name="Clear").first.click()
    cell(page, "AA").focus()
    for key in ("ArrowRight", "Space", "ArrowDown", "Space", "Space"):
        page.keyboard.press(key)
    expect(page.get_by_role("textbox", name="as text").first).to_have_value("AKs")


def test_line_of_a_blueprint(visit: Any) -> None:
    page = visit("#study")
    page.get_by_label("Blueprint", exact=True).select_option("trained")  # the demo may exist too
    page.get_by_label("Line", exact=True).fill("c")
    page.get_by_role("button", name="Open the line", exact=True).click()
    crumbs = page.get_by_role("list", name="Moves so far")
    expect(crumbs.locator(".here")).to_contain_text("OOP")
    crumbs.locator(".here").get_by_role("button", name="check").click()
    for card in ("8 of clubs", "8 of diamonds", "5 of clubs"):
        page.get_by_role("group", name="Cards of the flop").get_by_role("button", name=card).click()
    flop = page.get_by_role("heading", level=1).locator("..").get_by_role("img", name="5 of clubs")
    expect(flop).to_be_visible()
    assert "check" in cell(page, "AKs").get_attribute("aria-label")
    assert page.url.endswith("&board=8c8d5c")
    expect(page.get_by_role("button", name="Solve from here")).to_be_visible()
    page.keyboard.press("Backspace")
    expect(flop).to_be_hidden()  # back to preflop


def test_match_state_becomes_a_spot(visit: Any) -> None:
    page = visit("#study")
    page.get_by_label("Match state").fill("MATCHSTATE:1:30:cr300c/cc/cr600c/r900:|9s8h/8c8d5c/6s/2h")
    page.get_by_label("Agent for the ranges").select_option("random")
    page.locator("section", has=page.get_by_label("Match state")).get_by_role("button", name="Open").click()
    expect(page.get_by_role("textbox", name="Board", exact=True)).to_have_value("8c 8d 5c 6s 2h")
    expect(page.get_by_label("Pot", exact=True)).to_have_value(
        "1200"
    )  # at the start of the river, before the bet of 300


def test_running_runs_are_watched(visit: Any, data: Path) -> None:
    page = visit("#watch?runs=trained,turn")
    facts = page.locator(".numbers")
    expect(facts.first).to_contain_text("2 000")
    expect(page.get_by_role("img", name="Exploitability: turn")).to_be_visible()
    expect(page.get_by_role("img", name="Visits: trained ends at 4 000; turn")).to_be_visible()  # both in one plot
    expect(page.get_by_role("img", name="Strength against snapshots")).to_be_visible()
    expect(page.get_by_role("grid", name="Preflop chart")).to_be_visible()
    add_to_log(data / "trained", 3000)  # as a training run in a terminal does
    expect(facts.first).to_contain_text("3 000")
    page.get_by_role("group", name="Runs").get_by_role("button", name="trained").click()
    expect(facts).to_have_count(1)


def test_layout_themes_and_accessible_names(visit: Any) -> None:
    page = visit("#study?run=turn")
    expect(page.locator(".crumb.here")).to_be_visible()
    places = (
        "#study?run=turn&tab=groups",
        "#study?run=turn&tab=graph",
        "#study?run=turn&line=x-x/3d&tab=cards",
        "#study",
    )
    for place in (*places, "#study?new=1", "#watch"):
        page.evaluate("place => { location.hash = place }", place)
        page.wait_for_load_state("networkidle")
        assert page.evaluate(UNNAMED) == 0, place
        for width, height in (WIDE, NARROW):
            page.set_viewport_size({"width": width, "height": height})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, place
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        expect(page.locator("html")).to_have_attribute("data-theme", scheme)
        lightness = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]")
        assert (lightness > 128) == (scheme == "light")


@pytest.mark.slow
def test_weights_rake_and_sizes_per_player_are_sent(visit: Any) -> None:
    page = visit("#study?new=1")
    page.get_by_role("button", name="Clear").first.click()
    brush = page.get_by_label("Weight of the brush, in per cent").first
    brush.fill("25")
    cell(page, "AA").click()
    expect(page.get_by_role("textbox", name="as text").first).to_have_value("AA:0.25")
    page.get_by_text("Hands of AA").click()
    page.locator(".suits button").first.click()  # remove one hand
    expect(page.get_by_role("textbox", name="as text").first).to_have_value(re.compile(r"^A.A.:0.25(,A.A.:0.25){4}$"))
    page.get_by_label("Rake, %", exact=True).fill("5")
    page.get_by_label("Rake cap", exact=True).fill("3")
    page.get_by_role("radio", name="Each player").click()
    page.get_by_label("Bets, turn, oop", exact=True).fill("40%")
    with page.expect_request(
        lambda asked: asked.url.endswith("/api/spots/size") and "70%, a" in asked.post_data
    ) as size:
        page.get_by_label("Bets, turn, ip", exact=True).fill("70%, a")
    spot = size.value.post_data_json["spot"]
    assert spot["rake"] == {"rate": 0.05, "cap": 3}
    assert (spot["bets"]["oop"]["turn"]["bet"], spot["bets"]["ip"]["turn"]["bet"]) == ("40%", "70%, a")
    assert spot["ranges"]["oop"].count(":0.25") == 5


@pytest.mark.slow  # jobs are separate processes
def test_many_boards_and_deleted_jobs(visit: Any, data: Path) -> None:
    (data / "boards.txt").write_text("Td9d6hQc\nAsKd7h7c\n")
    page = visit("#study")
    home = page.url.partition("#")[0]
    bets = {"turn": {"bet": "50%"}, "river": {"bet": "50%"}}
    spot = {"board": "QsJh2h7c", "pot": 100, "stack": 100, "ranges": {"oop": "AA,KK", "ip": "QQ,JTs"}, "bets": bets}
    asked = {"spot": spot, "name": "many", "boards": "boards.txt", "keep": True, "until": "2%"}
    origin = {"origin": home.rstrip("/")}  # like the page's own requests
    assert page.request.post(f"{home}api/jobs", data=asked, headers=origin).ok
    expect(page.locator("a.run", has_text="many").first).to_be_visible()
    expect(page.get_by_role("button", name="Stop many")).to_be_hidden(timeout=120_000)
    page.goto(f"{home}#study?run=many")
    expect(page.get_by_role("table", name="Boards").locator("tbody tr")).to_have_count(3)
    page.get_by_label("Line of the report").fill("x-x/*")
    page.get_by_label("Line of the report").press("Enter")
    expect(page.locator("p.soft").first).to_contain_text("x-x/*")
    short = {"spot": spot, "name": "short", "time": "300s", "until": "0.00001%"}
    assert page.request.post(f"{home}api/jobs", data=short, headers=origin).ok
    page.goto(f"{home}#study")
    page.get_by_role("button", name="Stop short").click()
    page.get_by_role("button", name="Delete short").click()
    expect(page.get_by_role("button", name="Delete short")).to_be_hidden()
    assert not (data / "short").exists()
