"""Navigation in a real browser: slow responses, cancelled work, bad addresses, random walks, messages and focus."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from browsing import CHROMIUM, LEFT_OUT, PATIENCE

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=LEFT_OUT)

TITLES = {"study": "Study", "watch": "Watch", "play": "Play", "drill": "Drill", "charts": "Charts"}


class Blocked:
    """Requests of a page that get no response until they are released."""

    def __init__(self, page: Any, pattern: str) -> None:
        self.page, self.pattern = page, re.compile(pattern)
        self.routes: list[Any] = []
        self.aborted: list[str] = []
        page.on("requestfailed", lambda request: self.pattern.search(request.url) and self.aborted.append(request.url))
        page.route(self.pattern, lambda route: self.routes.append(route))

    def wait(self, seen: str = "routes") -> None:
        """Wait until a request is blocked, or `aborted`."""
        for _ in range(int(PATIENCE / 0.02)):
            if getattr(self, seen):
                return
            self.page.wait_for_timeout(20)
        raise AssertionError(f"{self.pattern.pattern}: no request is among the {seen}")

    def release(self) -> None:
        """Send all responses, also those of abandoned requests."""
        for route in self.routes:
            route.fulfill(status=200, content_type="application/json", body=json.dumps({"name": "late"}))


def navigate(page: Any, address: str) -> None:
    page.evaluate("address => { location.hash = address }", address)


# --- Slow responses ---


@pytest.mark.parametrize(
    ("place", "pattern"),
    [
        ("#charts?source=small", r"/api/charts\?"),
        ("#study?run=turn", r"/api/node\?"),
        pytest.param("#charts?source=trained&line=c", r"/api/charts/chart\?", marks=pytest.mark.slow),
        pytest.param("#watch", r"/api/runs", marks=pytest.mark.slow),
        pytest.param("#play", r"/api/play/agents", marks=pytest.mark.slow),
        pytest.param("#play?history=any", r"/api/play/histories/any", marks=pytest.mark.slow),
    ],
)
def test_loading_pages_can_be_left_and_cancelled(visit: Any, place: str, pattern: str) -> None:
    page = visit("#drill")
    expect(page.get_by_role("button", name="Drill this table")).to_be_visible()
    blocked = Blocked(page, pattern)
    navigate(page, place)
    blocked.wait()
    name = place[1:].partition("?")[0]
    assert page.title().startswith(TITLES[name])  # the title of the new page while it loads
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator("#waiting")).to_contain_text(re.compile(r"\d s"))

    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(page.locator("main [role=alert]").get_by_role("heading", name="Cancelled")).to_be_visible()
    expect(page.locator("#waiting")).to_be_empty()

    blocked.routes.clear()
    page.get_by_role("button", name="Try again").click()
    blocked.wait()
    page.get_by_role("link", name="Drill", exact=True).click()
    expect(page.get_by_role("heading", level=1, name="Drill")).to_be_focused()
    if "agents" in pattern:  # this page waits for it too
        return
    expect(page.get_by_role("button", name="Drill this table")).to_be_visible()
    assert page.title().startswith("Drill")
    blocked.wait("aborted")  # the browser has closed the connections
    before = page.locator("main").inner_text()
    blocked.release()
    page.wait_for_timeout(50)
    assert page.locator("main").inner_text() == before
    assert page.locator("#notes").inner_text() == ""


def test_late_responses_do_not_navigate(visit: Any) -> None:
    page = visit("#play")
    agent = page.locator("button.run", has_text="always-call").first
    expect(agent).to_be_visible()
    blocked = Blocked(page, r"/api/play/sittings$")
    agent.click()
    blocked.wait()
    page.get_by_role("link", name="Drill", exact=True).click()
    expect(page.get_by_role("button", name="Drill this table")).to_be_visible()
    blocked.release()
    page.wait_for_timeout(100)
    assert page.url.endswith("#drill")
    assert not blocked.aborted  # requests that change something always complete


def test_form_stays_when_an_estimate_is_cancelled(visit: Any) -> None:
    page = visit("#study?new=1")
    expect(page.locator(".cost .numbers")).to_be_visible()
    blocked = Blocked(page, r"/api/spots/size")
    page.get_by_label("Pot", exact=True).fill("150")
    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(page.locator(".cost")).to_have_text("Cancelled.")
    expect(page.get_by_role("button", name="Solve", exact=True)).to_be_enabled()
    expect(page.get_by_label("Pot", exact=True)).to_have_value("150")
    blocked.wait("aborted")


def test_costly_sources_are_computed_after_a_click(visit: Any) -> None:
    """A link alone starts nothing; a click does, and shows progress."""
    page = visit("#drill", refused=True)
    posts: list[Any] = []

    def costly(route: Any) -> None:
        solved = posts and posts[-1] == "answered"
        if route.request.method == "POST":
            posts.append(route)
        elif solved:
            route.continue_()
        else:
            body = json.dumps({"error": "must be solved first", "costly": True})
            route.fulfill(status=405, content_type="application/json", body=body)

    page.route(re.compile(r"/api/charts(\?|$)"), costly)
    navigate(page, "#charts?source=small")
    solve = page.get_by_role("button", name="Compute small")
    expect(solve).to_be_visible()
    assert posts == []
    solve.click()
    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(page.get_by_role("heading", name="Cancelled")).to_be_visible()
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#waiting")).to_contain_text("Solving small")
    last = posts[-1]
    assert last.request.post_data_json["source"] == "small"
    posts.append("answered")
    last.fulfill(status=200, content_type="application/json", body="{}")
    expect(page.get_by_role("grid", name="Chart", exact=True)).to_be_visible()


# --- Bad addresses ---

BAD = {
    "": ["nosuch", "main"],
    "study": [
        "run=nosuch", "run=../etc", "run=turn&line=zz", "run=turn&line=x-x/9z", "run=trained&line=zz", "run=trained&board=xx",
        "new=1&from=nosuch",
    ],
    "watch": ["runs=nosuch"],
    "play": ["sitting=nosuch", "sitting=../x", "history=nosuch"],
    "drill": ["drill=nosuch"],
    "charts": [
        "source=nosuch", "source=push:x", "source=trained&line=zz", "source=turn&line=zz", "source=trained&against=nosuch",
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_addresses_show_an_error_and_links(visit: Any, name: str) -> None:
    page = None
    for rest in BAD[name]:
        place = f"#{name}?{rest}" if name else f"#{rest}"
        if page is None:
            page = visit(place, refused=True)
        else:
            navigate(page, place)
        alert = page.locator("main [role=alert]:not(:empty)")
        expect(alert).to_have_count(1)
        assert len(alert.inner_text()) > 20, place
        assert page.title().startswith(TITLES.get(name, "Not found")), place
        told = page.locator("main").inner_text()
        assert not re.search(r"(Loading|Reading)[^…\n]*…|^…$", told, re.MULTILINE), place
        expect(page.locator("#waiting")).to_be_empty()
        (alert.locator("a") if alert.locator("a").count() else page.locator("#nav a")).first.click()
        expect(alert).to_have_count(0)
        expect(page.get_by_role("heading", level=1, name=re.compile("|".join(TITLES.values())))).to_be_visible()


# --- Random walks ---

PLACES = [
    "#study", "#study?run=turn", "#study?run=turn&line=x", "#study?run=turn&line=x-x&tab=graph", "#study?run=trained",
    "#watch?runs=turn", "#watch?runs=trained,turn", "#play", "#drill", "#charts?source=trained", "#charts?source=small",
    "#charts?source=small&line=J", "#study?run=nosuch", "#charts?source=nosuch", "#play?sitting=nosuch", "#nosuch",
]  # fmt: skip
DELAYS = """seed => {
  const ask = window.fetch;
  const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  window.fetch = async (path, options = {}) => {
    seed = (seed * 16807) % 2147483647;
    await sleep(seed % 3 ? seed % 120 : 0);
    options.signal?.throwIfAborted();
    return ask(path, options);
  };
}"""
SHOWN = """() => [document.title, location.hash, document.querySelector('#nav [aria-current]')?.textContent ?? '',
  document.getElementById('main').innerText.replace(/just now|[\\d.]+ (s|min|h) ago/g, 'ago'),
  document.getElementById('waiting').innerText].join('\\n')"""


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 8))])
def test_random_walks_end_in_the_state_of_a_fresh_load(visit: Any, seed: int) -> None:
    """The last address is shown as after a fresh load, whatever was requested before and however late responses are."""
    rng = np.random.default_rng(seed)
    page = visit("#study", refused=True)
    page.evaluate(DELAYS, 1 + seed)
    for place in rng.choice(PLACES, 12):
        navigate(page, place)
        title = TITLES.get(place[1:].partition("?")[0], "Not found")
        page.wait_for_timeout(int(rng.choice([0, 0, 20, 150])))
        assert page.title().startswith(title)
        current = page.locator("#nav [aria-current]").all_inner_texts()
        assert current == ([title] if title in TITLES.values() else [])
    fresh = visit(place, refused=True)
    fresh.wait_for_load_state("networkidle")
    fresh.wait_for_function("!document.querySelector('[aria-busy]')")
    for _ in range(int(PATIENCE / 0.2)):
        expected = fresh.evaluate(SHOWN)
        page.wait_for_timeout(200)  # late responses change neither
        if page.evaluate(SHOWN) == fresh.evaluate(SHOWN) == expected:
            return
    assert page.evaluate(SHOWN) == expected


# --- Messages, focus and names ---


def test_messages_are_merged_limited_and_removed(visit: Any) -> None:
    page = visit("#drill")
    expect(page.get_by_role("button", name="Drill this table")).to_be_visible()
    page.clock.install()
    say = "async ([kind, texts]) => { const dom = await import('./dom.js'); texts.forEach((one) => dom[kind](one)); }"
    notes = page.locator("#notes .note")
    page.evaluate(say, ["complain", ["same"] * 5])
    expect(notes).to_have_count(1)
    expect(notes).to_contain_text("5×")
    page.evaluate(say, ["complain", [f"error {k}" for k in range(9)]])
    expect(notes).to_have_count(3)
    expect(notes.last).to_contain_text("error 8")
    page.evaluate(say, ["notify", ["Link copied", "Link copied"]])
    expect(notes).to_have_count(3)  # confirmations are removed before errors
    page.clock.fast_forward(60_000)
    expect(page.locator("#notes .error")).to_have_count(3)  # errors stay until they are dismissed
    for _ in range(3):
        page.get_by_role("button", name="Dismiss").first.click()
    page.evaluate(say, ["notify", ["Link copied", "Link copied"]])
    expect(notes).to_have_text(re.compile("Link copied 2×"))
    page.clock.fast_forward(60_000)
    expect(notes).to_have_count(0)


def test_focus_and_skip_link(visit: Any) -> None:
    page = visit("#drill")
    page.get_by_role("link", name="Charts", exact=True).click()
    expect(page.get_by_role("grid", name="Chart", exact=True)).to_be_visible()
    expect(page.get_by_role("heading", level=1, name="Charts")).to_be_focused()
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    assert page.url.endswith("#charts")


def test_names_and_order_of_preflop_charts(visit: Any) -> None:
    page = visit("#charts")
    lines = ["", "c", "r250", "r20000", "cr250", "r250r750", "r250r750r20000", "cr250r20000"]
    played = {"f": 1, "c": 0, "r20000": 0}
    reached = [1.0, 0.2, 0.7, 0.0, 0.1, 0.1, 0.01, 0.0]
    charts = [
        {"line": line, "who": "ip", "title": line, "reached": p, "moves": [*played], "totals": played}
        for line, p in zip(lines, reached, strict=True)
    ]  # fmt: skip
    script = "async (charts) => (await import('./chart_names.js')).named(charts)"
    found = {
        group["title"]: [(one["seat"], one["name"]) for one in group["charts"]]
        for group in page.evaluate(script, charts)
    }
    assert found == {
        "Common decisions": [
            ("SB", "First in"),
            ("BB", "Limp"),
            ("BB", "Raise to 250"),
            ("SB", "3-bet to 750 after 250"),
        ],
        "Facing an all-in": [("BB", "All-in"), ("BB", "All-in after 250, 750")],
        "After a limp": [("SB", "Raise to 250 after a limp")],
        "Rarely reached": [("BB", "All-in after a limp, 250")],
    }
    charts[3]["totals"] = {"f": 0, "c": 0, "r20000": 0}  # there is no strategy against an open shove
    groups = page.evaluate(script, charts)
    assert [one["chart"]["line"] for one in groups[-1]["charts"]] == ["r20000", "cr250r20000"]
    other = page.evaluate(script, [{**charts[0], "line": "J", "who": "BB", "moves": ["fold", "all-in"]}])
    assert [one["name"] for one in other[0]["charts"]] == ["J"]
