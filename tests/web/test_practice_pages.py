"""Play, Drill and Charts in a real browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

import riverboat as rb
from browsing import CHROMIUM, LEFT_OUT
from riverboat.cards.deck import hand_index
from riverboat.cards.notation import parse_cards
from riverboat.formats.hand_files import format_phhs
from riverboat.practice.charts import load_charts
from riverboat.practice.reviews import total_ev_lost
from riverboat.practice.session import PracticeSession

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=LEFT_OUT)
QUESTIONS = 10


def sit_down(page: Any, agent: str) -> None:
    page.locator("button.run", has_text=agent).first.click()
    expect(page.locator(".felt .seat").first).to_be_visible()


def dealt(page: Any) -> list[str]:
    """Return the visible cards, pot and history."""
    words = page.locator(".felt .card").evaluate_all("cards => cards.map((card) => card.getAttribute('aria-label'))")
    return [*words, page.locator(".pot").inner_text(), *page.locator(".history li").all_inner_texts()]


@pytest.mark.slow  # the review solves turns and rivers
def test_hands_with_every_kind_of_move(visit: Any) -> None:
    """Raise by number, check, bet by size and key, all-in by slider, call and fold; then reviews and results."""
    page = visit("#play")
    sit_down(page, "always-call")
    history, move = page.locator(".history"), page.locator
    page.get_by_label("Chips on this street").fill("350")
    page.get_by_label("Chips on this street").press("Enter")
    expect(history).to_contain_text("raise to 350")
    expect(move("[data-move=c]")).to_have_text("check")
    page.keyboard.press("c")
    expect(history).to_contain_text("Turn, pot 700")
    page.get_by_role("button", name="½ pot", exact=True).click()
    expect(move("[data-move=raise]")).to_have_text("Bet 350")
    page.keyboard.press("b")
    expect(history).to_contain_text("River, pot 1,400")
    page.get_by_label("Bet size").press("End")
    expect(move("[data-move=raise]")).to_contain_text("all-in")
    move("[data-move=raise]").click()
    expect(page.locator(".ended")).to_contain_text(re.compile(r"You (win|lose) 20,000|No chips won"))
    won = page.locator(".ended").inner_text()
    page.keyboard.press("n")
    expect(page.locator("h1")).to_have_text("Hand 2")
    page.get_by_role("button", name="all-in", exact=True).click()
    page.keyboard.press("b")
    expect(page.locator(".ended")).to_be_visible()
    page.keyboard.press("n")
    expect(page.locator("h1")).to_have_text("Hand 3")
    expect(move("[data-move=c]")).to_have_text("call 50")
    page.keyboard.press("f")
    expect(page.locator(".ended")).to_have_text("You lose 50")
    expect(page.locator(".numbers")).to_contain_text("3")
    expect(page.locator(".review summary .lost")).to_have_count(3)
    page.get_by_role("button", name="Remove luck (AIVAT)").click()
    expect(page.locator(".numbers")).to_contain_text("All-ins by equity")
    told = page.request.get(f"{page.url.partition('#')[0]}api/play/sittings/{page.url.rpartition('=')[2]}/hands.phhs")
    assert told.ok
    assert told.text().count("[") > 3
    assert "always-call" in told.text()
    assert won


def test_reload_during_a_hand(visit: Any) -> None:
    page = visit("#play")
    sit_down(page, "turn")
    if page.locator("[data-move=c]").count():
        moves = page.locator(".history li").count()
        page.locator("[data-move=c]").first.click()
        expect(page.locator(".history li").nth(moves)).to_be_visible()
    expect(page.locator(".history li").first).to_be_visible()
    before = dealt(page)
    page.reload()
    expect(page.locator(".felt .seat").first).to_be_visible()
    assert dealt(page) == before
    page.goto(page.url.partition("#")[0] + "#play")
    expect(page.locator("a.run").first).to_contain_text("turn")  # it is listed among the sessions


def test_hand_continued_in_another_tab(visit: Any) -> None:
    page = visit("#play")
    sit_down(page, "always-call")
    where = f"{page.url.partition('#')[0]}api/play/sittings/{page.url.rpartition('=')[2]}/move"
    origin = {"origin": page.url.partition("/#")[0]}
    assert page.request.post(where, data={"move": "c"}, headers=origin).ok  # like another window
    page.keyboard.press("f")  # based on the outdated state
    expect(page.locator(".note")).to_contain_text("another window")
    told = page.request.get(where.removesuffix("/move")).json()
    assert not told["over"]  # no player has folded
    expect(page.locator(".history li")).to_have_count(len(told["history"]))  # the action of the other window is shown
    page.keyboard.press("c")
    expect(page.locator(f".history li:nth-child({len(told['history']) + 1})")).to_be_attached()


def test_reviewed_decisions_open_in_study(visit: Any, data: Path) -> None:
    page = visit("#play")
    sit_down(page, "turn")
    while not page.locator("[data-move=deal]").count():
        count = page.locator(".history li").count()
        page.locator(".actions .act").last.click()
        expect(page.locator(f".history li:nth-child({count + 1})")).to_be_attached()
    review = page.locator(".review").first
    expect(review.locator("summary .lost")).to_contain_text("EV lost")
    review.locator("summary").click()
    total = float(review.locator("summary .lost").get_attribute("data-lost"))
    parts = review.locator(".decision .lost").evaluate_all("all => all.map((one) => Number(one.dataset.lost))")
    assert total == pytest.approx(sum(parts), abs=1e-9)
    review.get_by_role("button", name="Open in Study").first.click()
    expect(page.get_by_role("grid").first).to_be_visible()
    assert "#study?run=turn" in page.url


def test_drill_grades_match_the_solution(visit: Any, data: Path) -> None:
    solution, rng = rb.load(data / "turn"), np.random.default_rng(1)
    page = visit("#drill")
    with page.expect_response(re.compile("/api/drills$")) as begun:
        page.locator("button.run", has_text="turn").first.click()
    asked, total = begun.value.json()["question"], 0.0
    for number in range(1, QUESTIONS + 1):
        expect(page.locator("h1")).to_have_text(f"Question {number}")
        expect(page.locator(".number b")).to_have_text(str(asked["number"]))
        chosen = int(rng.integers(len(asked["moves"])))
        page.keyboard.press(str(chosen + 1))
        grade = page.locator("[aria-label=Grade] [data-lost]")
        expect(grade).to_be_visible()
        here = solution[asked["line"]]
        evs = here.action_ev()[:, hand_index(*parse_cards(asked["hole"], "hand"))]
        lost = float(evs.max() - evs[chosen])
        assert float(grade.get_attribute("data-lost")) == pytest.approx(lost, abs=1e-9)
        percent = 100 * lost / asked["pot"]
        expect(grade).to_have_text("No EV lost" if percent < 0.005 else f"EV lost: {percent:.2f} % of the pot")
        total += lost
        with page.expect_response(re.compile("/api/drills/drill-\\d+/question$")) as next_one:
            page.keyboard.press("n")
        asked = next_one.value.json()["question"]
    shown = page.locator(".numbers").first
    expect(shown).to_contain_text("10")
    told = page.request.get(f"{page.url.partition('#')[0]}api/drills/record?source=turn").json()
    assert told["answers"] == QUESTIONS
    assert told["lost"] == pytest.approx(total, abs=1e-9)


def test_addresses_start_no_costly_work(visit: Any, data: Path) -> None:
    """An unsolved push/fold table and a session with a searching agent wait for a click."""
    sittings = data / ".practice" / "sittings"
    sittings.mkdir(parents=True, exist_ok=True)
    PracticeSession.begin(sittings / "search-1.json", "always-call", seed=1, name="default?search=river")
    requests: list[str] = []
    page = visit("#charts?source=push:5,6")
    page.on("request", lambda sent: requests.append(f"{sent.method} {sent.url.rpartition('/api/')[2]}"))
    expect(page.get_by_role("button", name="Compute push:5,6")).to_be_visible()
    page.goto(page.url.partition("#")[0] + "#play?sitting=search-1")
    expect(page.get_by_role("button", name="Compute search-1")).to_be_visible()
    assert any("search-1" in one for one in requests)
    assert [one for one in requests if one.startswith("POST")] == []


@pytest.mark.slow  # two push/fold tables
def test_charts_are_compared_and_saved(visit: Any) -> None:
    page = visit("#charts?source=push:9,9&against=push:4,4&line=J")
    for source in ("push:9,9", "push:4,4"):  # an address starts nothing
        page.get_by_role("button", name=f"Compute {source}").click()
    chart = page.get_by_role("grid", name="Chart", exact=True)
    expect(chart.get_by_role("gridcell", name=re.compile("^AA, pair of aces: all-in 100 %"))).to_be_visible()
    square = load_charts("push:9,9")["J"].grid.frequencies["all-in"]
    for cell, name in ((0, "AA"), (13 * 12 + 7, "72o"), (12, "A2s")):
        label = chart.locator(f"[data-cell='{cell}']").get_attribute("aria-label")
        assert label.startswith(name)
        jam = float(square.ravel()[cell])
        assert ("all-in" in label) == (jam > 0.0005)
    chart.locator("[data-cell='0']").click()
    expect(page.locator("[aria-live=polite] h3")).to_have_text("AA")
    expect(page.locator("section.sheet", has_text="of hands are played differently")).to_be_visible()
    page.get_by_role("button", name="first decision").click()
    expect(page.locator("h2", has_text="SB, first in")).to_be_visible()
    link = page.get_by_role("link", name="PNG").get_attribute("href")
    kept = page.request.get(page.url.partition("/#")[0] + link)
    assert kept.ok
    assert kept.body()[:8] == b"\x89PNG\r\n\x1a\n"


@pytest.mark.slow
def test_tournament_charts(visit: Any, data: Path) -> None:
    page = visit("#charts")
    page.get_by_role("group", name="Sources").get_by_role("button", name="small").click()
    chart, stacks = page.get_by_role("grid", name="Chart", exact=True), page.get_by_label("Stacks", exact=True)
    expect(stacks).to_have_value("3,3")
    for name, chosen in (("4,2", lambda: page.get_by_role("button", name="Next state").click()), ("1,5", None)):
        stacks.select_option(name) if chosen is None else chosen()
        expect(page.locator("h2", has_text=f"stacks {name}")).to_be_visible()
        book = load_charts(f"{data / 'small'}?state={name}")
        share = float(book[""].grid.frequencies["all-in"].ravel()[0])
        expect(chart.locator("[data-cell='0']")).to_have_attribute(
            "aria-label", re.compile(f"all-in {100 * share:.0f} %")
        )
    page.get_by_role("button", name="J BB").click()
    expect(page.locator("h2", has_text="BB, behind 1 all-in")).to_be_visible()
    page.get_by_label("Compare with").fill("small?state=3,3")
    page.get_by_label("Compare with").press("Enter")
    expect(page.locator("section.sheet", has_text="of hands are played differently")).to_be_visible()
    link = page.get_by_role("link", name="All in one").get_attribute("href")
    kept = page.request.get(page.url.partition("/#")[0] + link)
    assert kept.body()[:8] == b"\x89PNG\r\n\x1a\n"
    page.emulate_media(media="print")
    expect(chart).to_be_visible()
    expect(page.get_by_role("group", name="Decisions")).to_be_hidden()
    expect(page.get_by_label("Source", exact=True)).to_be_hidden()


def test_review_of_a_hand_history(visit: Any, data: Path) -> None:
    """The review of a file by a solved spot equals the library's; a decision opens in Study."""
    sitting, rng = PracticeSession.begin(None, str(data / "turn"), seed=3, name="turn"), np.random.default_rng(3)
    for k in range(3):
        while not sitting.table.over:
            sitting.act(str(rng.choice(sitting.table.legal())).partition(" ")[0])
        if k < 2:
            sitting.deal()
    page = visit("#play")
    page.get_by_label("Hand history file").set_input_files(
        {"name": "evening.phhs", "mimeType": "text/plain", "buffer": format_phhs(sitting.finished.record()).encode()}
    )
    expect(page.locator("h1")).to_have_text("evening")
    expect(page.locator(".numbers")).to_contain_text("3 of 3")  # with the default reference
    page.get_by_label("Reviewed by").select_option("turn")
    expect(page).to_have_url(re.compile("judge=turn"))
    expect(page.locator(".numbers")).to_contain_text(
        re.compile(r"3 of 3.*Decisions reviewed\s*([1-9]\d*) of \1", re.DOTALL)
    )
    expect(page.get_by_label("Player", exact=True)).to_have_value("you")
    expect(page.locator(".review").first.locator("summary .lost")).to_have_attribute("data-lost", re.compile(r"\d"))
    lost = page.locator(".review summary .lost").evaluate_all("all => all.map((one) => Number(one.dataset.lost))")
    assert lost == sorted(lost, reverse=True)  # most EV lost first
    assert sum(lost) == pytest.approx(total_ev_lost(sitting.reviews()), abs=1e-9)
    page.locator(".review summary").first.click()
    page.get_by_role("button", name="Open in Study").first.click()
    expect(page.get_by_role("list", name="Moves so far")).to_be_visible()
    page.go_back()
    expect(page.locator(".numbers")).to_contain_text("3 of 3")
    page.get_by_role("button", name="Delete these hands").click()
    expect(page.get_by_role("heading", name="Play", exact=True)).to_be_visible()
