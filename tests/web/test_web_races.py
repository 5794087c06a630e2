"""Reviews, results and states of a session while other threads play it; two windows of one session."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from browsing import PATIENCE
from riverboat.agents.baselines import BaselineAgent
from riverboat.api.play import PlayTable
from riverboat.cards.notation import format_cards
from riverboat.core.cancellation import check_cancellation
from riverboat.core.errors import InputError
from riverboat.games.holdem.rules import read_game
from riverboat.practice.session import PracticeSession, session_results
from riverboat.practice.verdicts import DecisionVerdict, VerdictOption
from riverboat.web.application import create_application
from riverboat.web.practice import OpenSession, PracticeService
from riverboat.web.routes.play import StaleStateError, refresh_state, review_by_agent, take_step
from riverboat.web.server import Server
from riverboat.web.work_queue import ReviewQueue, WorkQueue

SEED = 7
RULES = read_game("nolimit-200bb")


@cache
def truth(number: int) -> tuple[tuple[str, str], str, int]:
    """Return the cards of both seats, the board and the person's seat in a hand, from the seed alone."""
    cards = np.random.default_rng([SEED, number]).permutation(RULES.deck.cards)[:9].tolist()
    return (format_cards(cards[:2]), format_cards(cards[2:4])), format_cards(cards[4:]), 1 - number % 2


def belongs(number: int, hole: str, seat: int, board: str) -> bool:
    """Return whether all parts of a review belong to one hand of the person."""
    holes, whole, mine = truth(number)
    return (seat, hole) == (mine, holes[mine]) and whole.startswith(board)


class QuickJudge:
    """Evaluator without computation, which checks that it only gets cards dealt to the person."""

    def verdict(self, state: Any, board: Any, hole: Any, move: str | None = None) -> DecisionVerdict:
        return DecisionVerdict((VerdictOption("f", 0.5, 0.0), VerdictOption("c", 0.5, 1.0)), "quick", float(state.pot))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PracticeService, "judge", lambda desk, text: QuickJudge())


def session() -> OpenSession:
    table = PlayTable(BaselineAgent("always-raise", 1), RULES, SEED)
    return refresh_state(OpenSession("races-1", "always-raise", PracticeSession(table, "always-raise", None)))


def raced(count: int) -> tuple[int, int, int]:
    """Review the last hand repeatedly while hands are dealt; return reviews, hands and mismatches."""
    held, desk, stop = session(), PracticeService.__new__(PracticeService), threading.Event()
    wrong: list[str] = []
    done = [0, 0, 0]
    for move in ("f", None, "f", None):  # triggers imports on first use
        take_step(held, None, move)

    def deals() -> None:
        while not stop.is_set():
            take_step(held, None, "f")
            take_step(held, None, None)

    def reviews(number: int) -> None:
        while done[number] < count // len(done):
            finished, state = held.session.finished, held.state
            shown = belongs(state["hand"] - 1, "".join(state["hole"]), state["seat"], "".join(state["board"]))
            if not shown or len(finished) < state["hands"] - 1:
                wrong.append(f"state {state}")
            if not len(finished):
                continue
            last = len(finished) - 1
            told = review_by_agent(desk, finished.hand(last), held.agent)
            if told["hand"] != last or not belongs(last, told["hole"], told["seat"], told["board"]):
                wrong.append(f"review {told}")
            done[number] += 1

    threads = [threading.Thread(target=reviews, args=(k,)) for k in range(len(done))]
    dealing = threading.Thread(target=deals)
    for thread in (dealing, *threads):
        thread.start()
    for thread in threads:
        thread.join()
    stop.set()
    dealing.join()
    return sum(done), len(held.session.finished), len(wrong)


@pytest.mark.usefixtures("quick")
def test_reviews_are_consistent_while_hands_are_dealt() -> None:
    reviews, hands, wrong = raced(4_500)
    assert reviews == 4_500
    assert hands > 20
    assert wrong == 0


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_a_hundred_thousand_reviews_against_dealing() -> None:
    reviews, hands, wrong = raced(100_002)
    print(f"{reviews:,} reviews while {hands:,} hands were dealt: {wrong} wrong")
    assert reviews >= 100_000
    assert wrong == 0


def test_finished_hands_are_immutable() -> None:
    held = session()
    take_step(held, None, "f")
    before = held.session.finished
    record, facts = before.record(), session_results(before, None).to_dict()
    for _ in range(3):
        take_step(held, None, None)
        take_step(held, None, "f")
    assert len(before) == 1
    assert len(held.session.finished) == 4
    assert session_results(before, None).to_dict() == facts
    assert len(before.record()) == len(record) == 1
    with pytest.raises(InputError, match="hand 2: must be 1 to 1"):
        before.hand(1)


def test_failing_agent_does_not_change_the_table() -> None:
    class Failing:
        name, fails = "failing", False

        def check_rules(self, rules: Any) -> None:
            """Whatever is played."""

        def act(self, views: Any) -> Any:
            if self.fails:
                raise InputError("not now")
            return BaselineAgent("always-call", 1).act(views)

    agent = Failing()
    table = PlayTable(agent, RULES, SEED)
    before = table.to_dict(), table.version
    agent.fails = True
    with pytest.raises(InputError, match="not now"):
        table.act("r300")
    assert (table.to_dict(), table.version) == before
    agent.fails = False
    while not table.over:
        table.act("c")
    before, agent.fails = (table.to_dict(), table.version), True
    with pytest.raises(InputError, match="not now"):  # the agent acts first in the second hand
        table.deal()
    assert (table.to_dict(), table.version) == before
    agent.fails = False
    table.deal()
    assert table.number == 1


# --- Review queue ---


def test_reviews_are_queued_run_in_sequence_and_are_cancelled() -> None:
    queue = WorkQueue("reviews", threads=1, max_waiting=9)
    reviews, begun, release = ReviewQueue(queue), threading.Event(), threading.Event()
    computed: list[int] = []

    def work(number: int) -> Callable[[], dict[str, Any]]:
        def compute() -> dict[str, Any]:
            begun.set()
            release.wait(PATIENCE)
            computed.append(number)
            if number == 3:
                raise InputError("cannot be judged")
            return {"hand": number}

        return compute

    assert reviews.status("a", 0)["state"] == "none"
    assert reviews.request("a", 0, work(0))["state"] in ("waiting", "running")
    assert begun.wait(PATIENCE)
    assert reviews.request("a", 1, work(1))["ahead"] == 1
    assert reviews.request("b", 0, work(2))["ahead"] == 2
    reviews.request("b", 3, work(3))
    assert reviews.request("a", 1, work(9))["ahead"] == 1  # requested twice: still one
    reviews.cancel("a")  # one runs, one waits
    assert {reviews.status("a", hand)["state"] for hand in (0, 1)} == {"none"}
    release.set()
    while reviews.status("b", 3)["state"] in ("waiting", "running"):
        threading.Event().wait(0.01)
    assert computed == [0, 2, 3]  # the running one did not poll; its result is dropped
    assert reviews.status("a", 0)["state"] == "none"
    assert reviews.status("b", 0)["review"] == {"hand": 2}
    assert (reviews.status("b", 3)["state"], reviews.status("b", 3)["error"]) == ("failed", "cannot be judged")
    reviews.forget("b")
    assert reviews.status("b", 0)["state"] == "none"
    queue.close()


def test_play_does_not_wait_for_reviews(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More reviews than threads run forever: play continues, and leaving the table cancels them."""
    begun, ended = threading.Event(), threading.Event()

    class Endless(QuickJudge):
        def verdict(self, state: Any, board: Any, hole: Any, move: str | None = None) -> DecisionVerdict:
            begun.set()
            try:
                while True:
                    check_cancellation()
                    time.sleep(0.002)
            finally:
                ended.set()

    monkeypatch.setattr(PracticeService, "judge", lambda desk, text: Endless())
    server = Server(tmp_path)

    async def play() -> None:
        transport = httpx.ASGITransport(create_application(server))
        async with httpx.AsyncClient(transport=transport, base_url="http://test", timeout=60) as client:
            table = (await client.post("/api/play/sittings", json={"agent": "always-raise", "seed": SEED})).json()
            place = f"/api/play/sittings/{table['name']}"
            for number in range(12):
                table = (await client.post(f"{place}/move", json={"move": "f"})).json()
                told = (await client.post(f"{place}/review", json={"hand": number})).json()
                assert told["state"] in ("waiting", "running")
                table = (await client.post(f"{place}/deal")).json()
                assert table["hand"] == number + 2
                assert (await client.get(place)).json() == table
            assert begun.wait(PATIENCE)
            assert not ended.is_set()
            assert server.review_work_queue.num_pending == 12
            assert (await client.delete(f"{place}/reviews")).status_code == 204
            assert (await client.get(f"{place}/review", params={"hand": 0})).json()["state"] == "none"

    asyncio.run(play())
    assert ended.wait(PATIENCE)
    assert server.close()
    assert server.review_work_queue.num_started == 1


# --- Several windows ---


def test_steps_on_outdated_states_are_rejected() -> None:
    held = session()
    first = held.state["version"]
    now = take_step(held, first, "c")
    assert now["version"] > first
    with pytest.raises(StaleStateError) as stale:
        take_step(held, first, "f")  # another window with an outdated state
    assert stale.value.state == held.state == now
    assert not now["over"]
    assert take_step(held, None, "f")["over"]  # a script without a version
    with pytest.raises(StaleStateError):
        take_step(held, now["version"], None)
    assert take_step(held, held.state["version"], None)["hand"] == 2


@pytest.mark.usefixtures("quick")
def test_two_windows_over_the_api(tmp_path: Path) -> None:
    """One window plays and reviews, the other reads and sends old versions."""
    server = Server(tmp_path)
    app = create_application(server)

    async def ask(client: httpx.AsyncClient, method: str, path: str, body: Any = None, **more: Any) -> httpx.Response:
        return await client.request(method, f"/api/play/sittings{path}", json=body, params=more)

    async def windows() -> None:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test", timeout=60) as client:
            table = (await ask(client, "POST", "", {"agent": "always-raise", "seed": SEED})).json()
            place = f"/{table['name']}"
            for number in range(25):
                move = {"move": "f", "version": table["version"]}
                answers = await asyncio.gather(*(ask(client, "POST", f"{place}/move", move) for _ in range(2)))
                assert sorted(answer.status_code for answer in answers) == [
                    200,
                    409,
                ]  # only one of two clicks is accepted
                states = [answer.json().get("state", answer.json()) for answer in answers]
                assert states[0] == states[1]
                step = {"version": states[0]["version"]}
                review, deal = await asyncio.gather(
                    ask(client, "POST", f"{place}/review", {"hand": number}), ask(client, "POST", f"{place}/deal", step)
                )
                table, told = deal.json(), review.json()
                while told["state"] != "done":
                    told = (await ask(client, "GET", f"{place}/review", hand=number)).json()
                one = told["review"]
                assert belongs(number, one["hole"], one["seat"], one["board"])
                assert belongs(number + 1, "".join(table["hole"]), table["seat"], "".join(table["board"]))
            results = (await ask(client, "GET", f"{place}/results")).json()
            assert (results["hands"], results["won"]) == (25, table["won"])
            assert (await ask(client, "DELETE", place)).status_code == 204
            assert (await ask(client, "GET", f"{place}/review", hand=0)).status_code == 404
            again = (await ask(client, "POST", "", {"agent": "always-raise", "seed": 99})).json()
            assert again["name"] == table["name"]
            assert (await ask(client, "GET", f"{place}/review", hand=0)).json()[
                "state"
            ] == "none"  # not that of the deleted session

    asyncio.run(windows())
    assert server.close()
