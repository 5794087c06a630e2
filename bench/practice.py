"""Figures of playing and drilling: answers of an agent after a click, decisions graded, and EV lost counted again.

    python bench/practice.py [AGENT]      # demo by default; seconds of wall clock, and of processor time beside them

Starts a server of its own on a folder of its own, with a solved turn. Three targets stand beside the figures: an answer
without search 100 ms after the click, a decision graded from a solved spot in 50 ms, and in 2 s where it must be solved.
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
from riverboat.api.seating import rules_for
from riverboat.cards.deck import hand_index
from riverboat.games.holdem.betting import Betting
from riverboat.practice.evaluators import judge_of
from riverboat.practice.reviews import ev_lost
from riverboat.practice.session import Sitting

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from serve import cpu, start

from reference.spot_ev import SlowSpot

TURN: dict[str, Any] = {
    "board": "Td9d6hQc", "pot": 200, "stack": 900, "oop": "66+,A2s+,KTs+,QJs,AJo+", "ip": "22+,A2s+,K9s+,T9s,ATo+",
    "bets": "50%, a",
}  # fmt: skip
RIVER: dict[str, Any] = {
    "board": "Td9d6hQc2s",
    "pot": 100,
    "stack": 200,
    "oop": "AA,KJ,77,55",
    "ip": "QQ,AT,88,44",
    "bets": "50%, a",
}
DTYPES = ("float32", "float64")  # of a spot's tables; single ones are the default
MOVES, QUESTIONS, SOLVED, HANDS = 120, 40, 20, 60
REVIEWED = 5  # hands that are reviewed while others are played


def spread(seconds: list[float], target: float) -> str:
    """Some quantiles in milliseconds, and how many were late."""
    middle, high, most = (1e3 * float(np.quantile(seconds, q)) for q in (0.5, 0.95, 1.0))
    late = sum(one > target for one in seconds)
    told = f"median {middle:.1f} ms, 95 % {high:.1f} ms, most {most:.1f} ms"
    return f"{told}; {late} of {len(seconds)} above {1e3 * target:.0f} ms"


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What it gives, and how long it took."""
    begun = time.perf_counter()
    told = work()
    return told, time.perf_counter() - begun


def moves(client: httpx.Client, agent: str) -> list[float]:
    """Clicks of a sitting, from the first on: random moves, next hands among them."""
    rng, took = np.random.default_rng(1), []
    table = client.post("/api/play/sittings", json={"agent": agent, "seed": 1}).raise_for_status().json()
    place = f"/api/play/sittings/{table['name']}"
    while len(took) < MOVES:
        if table["over"]:
            answer, seconds = timed(lambda: client.post(f"{place}/deal"))
        else:
            choices = [one["move"] for one in table["moves"] if one["move"] != "f"] * 2 + [
                one["move"] for one in table["sizes"]
            ]
            move = str(rng.choice(choices))
            answer, seconds = timed(lambda move=move: client.post(f"{place}/move", json={"move": move}))
        table = answer.raise_for_status().json()
        took.append(seconds)
        time.sleep(0.05)  # a person looks
    return took


def behind_reviews(client: httpx.Client, agent: str) -> tuple[list[float], list[float]]:
    """Deals and moves of a searching agent while five hands are reviewed."""
    table = client.post("/api/play/sittings", json={"agent": agent, "seed": 5}).raise_for_status().json()
    place, deals, made = f"/api/play/sittings/{table['name']}", [], []

    def step(path: str, body: dict[str, str]) -> tuple[Any, float]:
        answer, seconds = timed(lambda: client.post(f"{place}/{path}", json=body))
        return answer.raise_for_status().json(), seconds

    for _ in range(REVIEWED):
        while not table["over"]:
            table, _ = step("move", {"move": "c"})
        table, _ = step("deal", {})
    for hand in range(REVIEWED):
        client.post(f"{place}/review", json={"hand": hand}).raise_for_status()
    while client.get(f"{place}/review", params={"hand": REVIEWED - 1}).json()["state"] in ("waiting", "running"):
        over = table["over"]
        table, seconds = step("deal", {}) if over else step("move", {"move": "c"})
        (deals if over else made).append(seconds)
        time.sleep(0.3)  # a person looks
    return deals, made


def grades(client: httpx.Client) -> tuple[list[float], list[float]]:
    """Answers of a drill of the solved turn, and the questions between them."""
    rng, graded, asked = np.random.default_rng(2), [], []
    drill = client.post("/api/drills", json={"source": "turn", "seed": 3}).raise_for_status().json()
    for _ in range(QUESTIONS):
        body = {"move": str(rng.choice(drill["question"]["moves"]))}
        answer, seconds = timed(
            lambda body=body, name=drill["name"]: client.post(f"/api/drills/{name}/answer", json=body)
        )
        answer.raise_for_status()
        graded.append(seconds)
        answer, seconds = timed(lambda name=drill["name"]: client.post(f"/api/drills/{name}/question"))
        drill = answer.raise_for_status().json()
        asked.append(seconds)
    return graded, asked


def solved(name: str, street: int) -> tuple[list[float], list[float]]:
    """Decisions on a street that are solved for: seconds, and those of the processor; the first one, which loads, apart."""
    agent, rng = make_agent(name), np.random.default_rng(street)
    judge, rules = judge_of(agent), rules_for([agent], None)
    took, busy = [], []
    lines = [["cr300c/", "cr250c/"], ["cc/", "cr500c/"], ["cc/", "cr1500c/"]]
    for _ in range(SOLVED + 1):
        line = "".join(str(rng.choice(lines[k])) for k in range(street))
        for total in (300, 900, 2700):  # raises in their order
            line = re.sub(r"r(?!!)\d+", f"r!{total}", line, count=1)
        line = line.replace("!", "")
        state = Betting.from_line(rules, line)
        cards = rng.permutation(52).tolist()
        begun, used = time.perf_counter(), time.process_time()
        judge.verdict(state, tuple(cards[2 : 2 + rules.board_sizes[street]]), tuple(cards[:2]))
        took.append(time.perf_counter() - begun)
        busy.append(time.process_time() - used)
    return took[1:], busy[1:]


def recounted(folder: Path) -> tuple[float, float, int]:
    """EV lost over a sitting on a solved river, by the review and by a recursion over all hands of the other."""
    rng = np.random.default_rng(4)
    sitting = Sitting.begin(None, str(folder), seed=4)
    for k in range(HANDS):
        while not sitting.table.over:
            sitting.act(str(rng.choice(sitting.table.legal())).partition(" ")[0])
        if k < HANDS - 1:
            sitting.deal()
    slow, agent, total, count = SlowSpot(rb.load(folder)), sitting.table.agent, 0.0, 0
    for hand in sitting.played():
        for state, move in hand.decisions():
            evs = slow.move_evs(agent.line(state, hand.board), hand_index(*hand.hole), hand.seat)
            labels = dict(zip(agent.menu(state, hand.board), agent.node(state, hand.board).actions, strict=True))
            total, count = total + max(evs.values()) - evs[labels[move]], count + 1
    return ev_lost(sitting.reviews()), total, count


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agent", nargs="?", default="demo")
    name = parser.parse_args().agent
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        rb.solve(rb.Spot.make(**TURN), until=0.5, out=data / "turn")
        for dtype in DTYPES:
            rb.solve(rb.Spot.make(**RIVER), iterations=60, dtype=dtype, out=data / dtype)
        process, base, token, _ = start(data)
        try:
            with httpx.Client(base_url=base, headers={"authorization": f"Bearer {token}"}, timeout=600) as client:
                client.get("/api/play/agents").raise_for_status()
                used, took = cpu(process.pid), moves(client, name)
                print(f"{name} answers, {MOVES} clicks from the first on: {spread(took, 0.1)}", flush=True)
                print(
                    f"    with all that its sitting down took {cpu(process.pid) - used:.2f} s of the processor",
                    flush=True,
                )
                deals, made = behind_reviews(client, f"{name}?search=turn")
                print(f"deals while {REVIEWED} hands are reviewed: {spread(deals, 0.1)}", flush=True)
                print(f"moves of {name}?search=turn then: {spread(made, 1.0)}", flush=True)
                graded, asked = grades(client)
                print(f"graded, from a solved turn: {spread(graded, 0.05)}", flush=True)
                print(f"the next question, with its EVs: {spread(asked, 0.05)}", flush=True)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)
        for street, words in ((2, "turn"), (3, "river")):
            took, busy = solved(name, street)
            print(
                f"a decision on the {words}, solved: {spread(took, 2.0)}; of the processor {spread(busy, 2.0)}",
                flush=True,
            )
        for dtype in DTYPES:
            told, again, count = recounted(data / dtype)
            apart = f"counted again {abs(told - again):.1e} chips apart, {abs(told / again - 1):.1e} of them"
            print(
                f"EV lost over {HANDS} hands, {count} decisions of a {dtype} river: {told:.6f} chips; {apart}",
                flush=True,
            )


if __name__ == "__main__":
    main()
