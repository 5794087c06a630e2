"""Latencies of play and drills: responses of an agent after a click, graded decisions, and a check of lost EV.

    python bench/practice.py [AGENT]      # demo by default; wall-clock seconds, and CPU time in addition

Starts a server of its own on a folder of its own, with a solved turn. Three targets are printed with the figures: a
response without search 100 ms after the click, a decision graded from a solved spot in 50 ms, and in 2 s if it must be
solved.
"""

from __future__ import annotations

import argparse
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np

import riverboat as rb
from riverboat.agents.registry import make_agent
from riverboat.api.agent import rules_for
from riverboat.cards.deck import hand_index
from riverboat.games.holdem.actions import format_action
from riverboat.games.holdem.betting import BettingState
from riverboat.practice.evaluators import make_evaluator
from riverboat.practice.reviews import total_ev_lost
from riverboat.practice.session import PracticeSession

sys.path.append(str(Path(__file__).parents[1] / "tests"))
import serve

from reference.spot_ev import SlowSpot

TURN: dict[str, Any] = {
    "board": "Td9d6hQc", "pot": 200, "stack": 900, "oop": "66+,A2s+,KTs+,QJs,AJo+", "ip": "22+,A2s+,K9s+,T9s,ATo+",
    "bets": "50%, a",
}  # fmt: skip
RIVER: dict[str, Any] = {
    "board": "Td9d6hQc2s", "pot": 100, "stack": 200, "oop": "AA,KJ,77,55", "ip": "QQ,AT,88,44", "bets": "50%, a",
}  # fmt: skip
DTYPES = ("float32", "float64")  # of a spot's tables; single precision is the default
MOVES, QUESTIONS, SOLVED, HANDS = 120, 40, 20, 60
REVIEWED = 5  # hands under review while others are played


def spread(seconds: list[float], target: float) -> str:
    """Format some quantiles in milliseconds, and the number above the target."""
    late = sum(value > target for value in seconds)
    return f"{serve.spread(seconds, 1)}; {late} of {len(seconds)} above {1e3 * target:.0f} ms"


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result of `work` and its seconds."""
    started = time.perf_counter()
    result = work()
    return result, time.perf_counter() - started


def moves(client: httpx.Client, agent: str) -> list[float]:
    """Return the latencies of a session from its first click: random actions and next hands."""
    rng, times = np.random.default_rng(1), []
    table = client.post("/api/play/sittings", json={"agent": agent, "seed": 1}).raise_for_status().json()
    url = f"/api/play/sittings/{table['name']}"
    while len(times) < MOVES:
        if table["over"]:
            answer, seconds = timed(lambda: client.post(f"{url}/deal"))
        else:
            choices = [one["move"] for one in table["moves"] if one["move"] != "f"] * 2
            choices += [one["move"] for one in table["sizes"]]
            move = str(rng.choice(choices))
            answer, seconds = timed(lambda move=move: client.post(f"{url}/move", json={"move": move}))
        table = answer.raise_for_status().json()
        times.append(seconds)
        time.sleep(0.05)  # thinking time
    return times


def behind_reviews(client: httpx.Client, agent: str) -> tuple[list[float], list[float]]:
    """Return latencies of deals and of a searching agent's actions while five hands are reviewed."""
    table = client.post("/api/play/sittings", json={"agent": agent, "seed": 5}).raise_for_status().json()
    url, deals, actions = f"/api/play/sittings/{table['name']}", [], []

    def step(path: str, body: dict[str, str]) -> tuple[Any, float]:
        answer, seconds = timed(lambda: client.post(f"{url}/{path}", json=body))
        return answer.raise_for_status().json(), seconds

    for _ in range(REVIEWED):
        while not table["over"]:
            table, _ = step("move", {"move": "c"})
        table, _ = step("deal", {})
    for hand in range(REVIEWED):
        client.post(f"{url}/review", json={"hand": hand}).raise_for_status()
    while client.get(f"{url}/review", params={"hand": REVIEWED - 1}).json()["state"] in ("waiting", "running"):
        over = table["over"]
        table, seconds = step("deal", {}) if over else step("move", {"move": "c"})
        (deals if over else actions).append(seconds)
        time.sleep(0.3)  # thinking time
    return deals, actions


def grades(client: httpx.Client) -> tuple[list[float], list[float]]:
    """Return latencies of graded answers in a drill of the solved turn, and of the questions between them."""
    rng, graded, questions = np.random.default_rng(2), [], []
    drill = client.post("/api/drills", json={"source": "turn", "seed": 3}).raise_for_status().json()
    for _ in range(QUESTIONS):
        body = {"move": str(rng.choice(drill["question"]["moves"]))}
        url = f"/api/drills/{drill['name']}"
        answer, seconds = timed(lambda body=body, url=url: client.post(f"{url}/answer", json=body))
        answer.raise_for_status()
        graded.append(seconds)
        answer, seconds = timed(lambda url=url: client.post(f"{url}/question"))
        drill = answer.raise_for_status().json()
        questions.append(seconds)
    return graded, questions


def solved(name: str, street: int) -> tuple[list[float], list[float]]:
    """Return wall-clock and CPU seconds of decisions that must be solved; the first one, which loads, is separate."""
    agent, rng = make_agent(name), np.random.default_rng(street)
    judge, rules = make_evaluator(agent), rules_for([agent], None)
    wall, busy = [], []
    lines = [["cr300c/", "cr250c/"], ["cc/", "cr500c/"], ["cc/", "cr1500c/"]]
    for _ in range(SOLVED + 1):
        line = "".join(str(rng.choice(lines[k])) for k in range(street))
        for total in (300, 900, 2700):  # raises in their order
            line = re.sub(r"r(?!!)\d+", f"r!{total}", line, count=1)
        line = line.replace("!", "")
        state = BettingState.from_line(rules, line)
        cards = rng.permutation(52).tolist()
        started, used = time.perf_counter(), time.process_time()
        judge.verdict(state, tuple(cards[2 : 2 + rules.board_sizes[street]]), tuple(cards[:2]))
        wall.append(time.perf_counter() - started)
        busy.append(time.process_time() - used)
    return wall[1:], busy[1:]


def recounted(folder: Path) -> tuple[float, float, int]:
    """Return the EV lost over a session on a solved river, by the review and by a recursion over all opponent hands."""
    rng = np.random.default_rng(4)
    session = PracticeSession.begin(None, str(folder), seed=4)
    for k in range(HANDS):
        while not session.table.over:
            session.act(str(rng.choice(session.table.legal())).partition(" ")[0])
        if k < HANDS - 1:
            session.deal()
    slow, agent, total, count = SlowSpot(rb.load(folder)), session.table.agent, 0.0, 0
    for hand in session.played():
        for state, action in hand.decisions():
            evs = slow.move_evs(agent.solution_line(state, hand.board), hand_index(*hand.hole), hand.seat)
            labels = dict(zip(agent.menu(state, hand.board), agent.node_at(state, hand.board).actions, strict=True))
            move = format_action(action, state.rules)
            total, count = total + max(evs.values()) - evs[labels[move]], count + 1
    return total_ev_lost(session.reviews()), total, count


def main() -> None:
    """Measure and print all figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agent", nargs="?", default="demo")
    name = parser.parse_args().agent
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        rb.solve(rb.Spot.make(**TURN), until=0.5, out=data / "turn")
        for dtype in DTYPES:
            rb.solve(rb.Spot.make(**RIVER), iterations=60, dtype=dtype, out=data / dtype)
        process, base, token, _ = serve.start(data)
        try:
            with httpx.Client(base_url=base, headers={"authorization": f"Bearer {token}"}, timeout=600) as client:
                client.get("/api/play/agents").raise_for_status()
                used, times = serve.cpu(process.pid), moves(client, name)
                print(f"responses of {name}, {MOVES} clicks from the first: {spread(times, 0.1)}", flush=True)
                used = serve.cpu(process.pid) - used
                print(f"    CPU time, including the start of the session: {used:.2f} s", flush=True)
                deals, actions = behind_reviews(client, f"{name}?search=turn")
                print(f"deals during the review of {REVIEWED} hands: {spread(deals, 0.1)}", flush=True)
                print(f"actions of {name}?search=turn during the review: {spread(actions, 1.0)}", flush=True)
                graded, questions = grades(client)
                print(f"graded, from a solved turn: {spread(graded, 0.05)}", flush=True)
                print(f"the next question, with its EVs: {spread(questions, 0.05)}", flush=True)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)
        for street, street_name in ((2, "turn"), (3, "river")):
            times, busy = solved(name, street)
            figures = f"{spread(times, 2.0)}; of the processor {spread(busy, 2.0)}"
            print(f"a decision on the {street_name}, solved: {figures}", flush=True)
        for dtype in DTYPES:
            reviewed, again, count = recounted(data / dtype)
            print(f"EV lost over {HANDS} hands, {count} decisions of a {dtype} river: {reviewed:.6f} chips; the recursion "
                  f"differs by {abs(reviewed - again):.1e} chips, relative {abs(reviewed / again - 1):.1e}",
                  flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
