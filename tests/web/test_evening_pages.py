"""An evening of hands of poker sites: over HTTP, and in a real browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.formats.site_samples import GG_POKER, IPOKER, POKER_STARS, SAMPLES
from tests.practice.test_hands import shallow
from tests.web.test_web_practice import asker, reviewed

from browsing import CHROMIUM, LEFT_OUT, NARROW
from riverboat.formats.sites.reader import read_text
from riverboat.practice.hands.report import write_phhs
from riverboat.web import evenings

in_browser = pytest.mark.skipif(CHROMIUM is None, reason=LEFT_OUT)
EVENING = [*POKER_STARS, *GG_POKER]
TEXT = "\n\n".join(sample.text for sample in EVENING)
OMAHA = POKER_STARS[0].text.replace("Hold'em No Limit", "Omaha Pot Limit").replace("#1001", "#77")


@pytest.fixture
def client(tmp_path: Path) -> Any:
    """`ask(method, path, body, status)` for a new server."""
    return asker(tmp_path)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The same with an evening that no test changes."""
    client = asker(tmp_path_factory.mktemp("kept"))
    ask(client, "POST", "evenings", 201, {"text": POKER_STARS[0].text, "title": "kept"})
    return client


def ask(client: Any, method: str, path: str, status: int = 200, body: Any = None, **parameters: Any) -> Any:
    return client(method, path, body, status, **parameters)


def test_an_evening_is_stored_reported_and_deleted(client: Any) -> None:
    name = ask(client, "POST", "evenings", 201, {"text": TEXT + OMAHA, "title": "Last night.txt"})["name"]
    assert name == "last-night"
    report = ask(client, "GET", f"evenings/{name}")
    assert (report["hands"], report["refused_count"], report["player"]) == (len(EVENING), 1, "Hero")
    assert report["refused"][0]["reason"] == "another game"
    assert report["refused"][0]["line"] > 1
    assert report["stakes"][0]["stake"] == "$0.05/$0.10"
    assert ask(client, "GET", f"evenings/{name}", player="Player2")["player"] == "Player2"
    ask(client, "POST", f"evenings/{name}/text", 200, {"text": SAMPLES[-1].text})
    assert ask(client, "GET", f"evenings/{name}")["hands"] == len(EVENING) + 1
    again = ask(client, "POST", "evenings", 201, {"text": TEXT, "title": "Last night.txt"})["name"]
    assert {one["name"] for one in ask(client, "GET", "evenings")} == {name, again}
    assert again == "last-night-2"
    walk = ask(client, "GET", f"evenings/{name}/hand", hand=0)
    assert [step["words"] for step in walk["steps"]] == ["raise to $0.25", "fold", "fold"]
    assert [seat["won"] for seat in walk["seats"]] == [-0.05, -0.1, 0.15]
    assert not walk["reviewable"]
    assert (
        read_text(client("GET", f"evenings/{name}/hands.phhs").text).hands == read_text(TEXT + SAMPLES[-1].text).hands
    )
    heads_up = client("GET", f"evenings/{name}/hands.phhs", heads_up=True).text
    stored = ask(client, "POST", "play/histories", 201, {"text": heads_up, "title": "heads-up"})
    assert stored["hands"] == report["heads_up"] == 3  # the existing reader of heads-up hands takes them
    assert stored["refused"] == []
    for each in (name, again):
        ask(client, "DELETE", f"evenings/{each}", 204)
    ask(client, "GET", f"evenings/{name}", 404)


def test_a_heads_up_pot_is_reviewed_in_the_background(client: Any, tmp_path: Path) -> None:
    write_phhs(tmp_path / "one.phhs", [shallow("KdKc", [(0, 400), (5, -1)])])
    text = (tmp_path / "one.phhs").read_text(encoding="utf-8")
    name = ask(client, "POST", "evenings", 201, {"text": text})["name"]
    assert ask(client, "GET", f"evenings/{name}/review", hand=0)["state"] == "none"  # reading starts nothing
    review = reviewed(client, f"evenings/{name}/review", hand=0, player="Hero")
    assert [one["action"] for one in review["decisions"]] == ["check", "check", "fold"]
    assert review["decisions"][2]["ev_lost_bb"] > 20
    assert review["ranges"]["oop"]["name"] == "SB 3-bets BTN"


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "message"),
    [
        ("POST", "evenings", {"text": ""}, 422, "text"),
        ("POST", "evenings", {"text": "x" * (1 << 21)}, 422, "text"),
        ("POST", "evenings", {"text": "no hand"}, 400, "no hand history of a known site"),
        ("POST", "evenings", {"text": OMAHA}, 400, "another game, omaha"),
        ("POST", "evenings", {"text": TEXT, "file": "/etc/passwd"}, 422, "file"),
        ("GET", "evenings/..%2F..%2Fetc", None, 404, ""),
        ("GET", "evenings/none", None, 404, "'none'"),
        ("POST", "evenings/none/text", {"text": TEXT}, 404, "'none'"),
        ("POST", "evenings/none/review", {"hand": 0}, 404, "'none'"),
        ("DELETE", "evenings/none", None, 404, "'none'"),
        ("GET", "evenings/kept?player=nobody", None, 400, "nobody"),
        ("GET", "evenings/kept/hand?hand=999", None, 400, "hand 999"),
        ("POST", "evenings/kept/review", {"hand": 999}, 400, "hand 999"),
        ("POST", "evenings/kept/review", {"hand": 0, "agent": "module:Class"}, 422, "agent"),
    ],
)
def test_bad_requests_are_refused(kept: Any, method: str, path: str, body: Any, status: int, message: str) -> None:
    route, _, query = path.partition("?")
    parameters = dict([query.split("=")]) if query else {}
    assert message in str(ask(kept, method, route, status, body, **parameters))


def test_the_size_of_an_evening_is_limited(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evenings, "MAX_EVENING_BYTES", 3 * len(TEXT) // 2)
    monkeypatch.setattr(evenings, "MAX_EVENINGS", 1)
    name = ask(client, "POST", "evenings", 201, {"text": TEXT})["name"]
    assert "more than" in ask(client, "POST", f"evenings/{name}/text", 400, {"text": TEXT})["error"]
    assert "delete some" in ask(client, "POST", "evenings", 400, {"text": TEXT})["error"]
    assert ask(client, "GET", f"evenings/{name}")["hands"] == len(EVENING)


# --- in the browser ---


@in_browser
def test_files_are_dropped_reported_and_walked_through(visit: Any) -> None:
    page = visit("#play")
    files = [
        {"name": "evening.txt", "mimeType": "text/plain", "buffer": (TEXT + OMAHA).encode("utf-16")},
        {"name": "more.txt", "mimeType": "text/plain", "buffer": SAMPLES[-1].text.replace("\n", "\r\n").encode()},
        {"name": "session.xml", "mimeType": "text/xml", "buffer": IPOKER[0].text.encode("utf-8-sig")},
    ]
    page.get_by_label("Files with hands of poker sites").set_input_files(files)
    expect(page.locator("h1")).to_have_text("evening")
    expect(page.locator(".title")).to_contain_text(f"{len(EVENING) + 2} hands read, 1 refused")
    page.get_by_text("Refused: 1 × another game").click()
    expect(page.locator("details li")).to_contain_text("omaha")
    expect(page.get_by_role("region", name="Winnings")).to_contain_text("$0.05/$0.10")
    expect(page.get_by_role("region", name="Statistics by position")).to_contain_text("BTN")
    expect(page.get_by_role("region", name="Statistics with intervals")).to_contain_text("W$SD")
    page.get_by_role("region", name="Hands").get_by_role("button", name="1003").click()
    expect(page.locator("h1")).to_have_text("Hand 1003")
    expect(page.locator(".seat-box")).to_have_count(3)
    expect(page.locator(".seats")).to_contain_text("+0.68")
    actions = page.get_by_role("list", name="Actions").get_by_role("button")
    expect(actions).to_have_count(10)
    expect(actions.first).to_have_text("BTN call $0.10")
    actions.nth(4).click()
    expect(page.locator(".seat-box.turn")).to_contain_text("BTN")
    page.get_by_role("button", name="Next ▶").click()
    expect(page.locator(".seat-box.turn")).to_contain_text("BB")
    page.get_by_role("button", name="Back to the evening").click()
    expect(page.locator("h1")).to_have_text("evening")
    page.get_by_label("Player", exact=True).select_option("Player2")
    expect(page).to_have_url(re.compile("player=Player2"))
    page.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Delete this evening").click()
    expect(page.get_by_role("heading", name="Play", exact=True)).to_be_visible()


@in_browser
def test_a_dropped_file_is_read(visit: Any) -> None:
    page = visit("#play")
    make = (
        "text => { const data = new DataTransfer(); data.items.add(new File([text], 'last-night.txt')); return data; }"
    )
    expect(page.locator(".drop")).to_be_visible()
    page.dispatch_event(".drop", "drop", {"dataTransfer": page.evaluate_handle(make, TEXT)})
    expect(page.locator("h1")).to_have_text("last-night")
    expect(page.locator(".title")).to_contain_text(f"{len(EVENING)} hands read, 0 refused")


@in_browser
@pytest.mark.slow
def test_pasted_hands_are_reviewed(visit: Any, tmp_path: Path) -> None:
    write_phhs(tmp_path / "one.phhs", [shallow("KdKc", [(0, 400), (5, -1)])])
    page = visit("#play")
    page.get_by_label("Hands of poker sites", exact=True).fill((tmp_path / "one.phhs").read_text(encoding="utf-8"))
    page.get_by_role("button", name="Read the text").click()
    expect(page.locator("h1")).to_have_text("pasted")
    page.get_by_label("Player", exact=True).select_option("Hero")
    page.get_by_role("button", name="Review the 1 largest heads-up pots").click()
    worst = page.get_by_role("region", name="Most expensive decisions")
    expect(worst).to_contain_text("fold")
    worst.get_by_role("button").first.click()
    page.get_by_role("button", name="Review my decisions").click()
    expect(page.locator(".decision")).to_have_count(3)
    expect(page.locator(".decision").last).to_contain_text("better:")
    page.get_by_text("Out of position: SB 3-bets BTN").click()
    expect(page.get_by_text("library: three_bet, SB")).to_be_visible()


@in_browser
def test_text_without_hands_is_refused_with_the_reason(visit: Any) -> None:
    page = visit("#play", refused=True)
    page.get_by_label("Hands of poker sites", exact=True).fill("once upon a time")
    page.get_by_role("button", name="Read the text").click()
    expect(page.locator(".note.error")).to_contain_text("no hand history of a known site")
