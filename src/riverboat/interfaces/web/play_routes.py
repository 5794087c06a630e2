"""Routes to play: sittings, moves, results, and what decisions cost."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field

from riverboat.agents.registry import DEFAULT, DEMO, demo_folder
from riverboat.agents.yardsticks import YARDSTICKS
from riverboat.games.betting import Betting
from riverboat.games.hand_files import phhs_text
from riverboat.games.menus import SEATS
from riverboat.games.phh import is_holdem
from riverboat.interfaces.web.models import Asked, Word
from riverboat.interfaces.web.practice_desk import Desk, Held
from riverboat.interfaces.web.review_json import told_review
from riverboat.interfaces.web.runs import listing
from riverboat.interfaces.web.server import Server
from riverboat.practice.luck import results
from riverboat.practice.sitting import Sitting
from riverboat.verbs.playing import Table, described

Seed = Annotated[int, Field(ge=0, le=2**63 - 1)]
SHARES = ((1 / 3, "⅓ pot"), (1 / 2, "½ pot"), (3 / 4, "¾ pot"), (1.0, "pot"), (3 / 2, "1½ pot"))


class SittingAsked(Asked):
    """Who is played against."""

    agent: Word
    seed: Seed | None = None
    seat: str | None = Field(None, pattern="^(oop|ip)$")


class MoveAsked(Asked):
    """A move, as tables write them: f, c, r300."""

    move: Annotated[str, Field(max_length=20)]


def routes(server: Server) -> APIRouter:
    """The routes of this module."""
    router, desk = APIRouter(tags=["play"], prefix="/play"), server.desk

    @router.get("/agents")
    async def agents() -> list[dict[str, Any]]:
        """Whom one may sit down with: the demo, blueprints and solved spots of the data folder, yardsticks. Tournaments have
        charts and drills alone."""
        return await server.compute(lambda: opponents(server))

    @router.get("/sittings")
    async def sittings() -> list[dict[str, Any]]:
        """All sittings that are kept, the last first."""
        return await server.compute(desk.sittings)

    @router.post("/sittings", status_code=201)
    async def begin(asked: SittingAsked) -> dict[str, Any]:
        """Sit down: the first hand is dealt."""
        seat = None if asked.seat is None else SEATS.index(asked.seat)
        return await server.compute(lambda: state_of(desk.sit(asked.agent, asked.seed, seat)))

    @router.get("/sittings/{name}")
    async def look(name: str) -> dict[str, Any]:
        """The table as it stands."""
        return await server.compute(lambda: state_of(desk.sitting(name)))

    @router.post("/sittings/{name}/move")
    async def move(name: str, asked: MoveAsked) -> dict[str, Any]:
        """Make a move; the agent answers."""
        return await server.compute(lambda: _acted(desk, name, asked.move))

    @router.post("/sittings/{name}/deal")
    async def deal(name: str) -> dict[str, Any]:
        """The next hand."""
        return await server.compute(lambda: _acted(desk, name, None))

    @router.get("/sittings/{name}/results")
    async def told(name: str, aivat: bool = False) -> dict[str, Any]:
        """What was won: as played, all-ins by equity, and with `aivat` without most luck; that takes a while at first."""
        return await server.compute(lambda: _results(desk, name, aivat))

    @router.get("/sittings/{name}/review")
    async def review(name: str, hand: Annotated[int, Query(ge=0, le=10**9)]) -> dict[str, Any]:
        """Every decision of a hand that is over: what there was to do, and the EV that it cost."""
        return await server.compute(lambda: _review(desk, name, hand))

    @router.get("/sittings/{name}/hands.phhs", response_class=Response)
    async def hands(name: str) -> Response:
        """The hands that are over, as PHH."""
        held = desk.sitting(name)
        text = await server.compute(lambda: phhs_text(held.thing.record()))
        kind = {"content-disposition": f'attachment; filename="{name}.phhs"'}
        return Response(text, media_type="text/plain; charset=utf-8", headers=kind)

    @router.delete("/sittings/{name}", status_code=204)
    async def leave(name: str) -> None:
        """Delete a sitting."""
        await server.compute(lambda: desk.leave(name))

    return router


def _with_search(name: str, what: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "kind": "blueprint", "about": f"the blueprint that {what}"},
        {"name": f"{name}?search=river", "kind": "search", "about": f"the one that {what}, solves rivers at the table"},
        {
            "name": f"{name}?search=turn",
            "kind": "search",
            "about": "the same, solves from the turn on: half a second a move, a second at most",
        },
    ]


def opponents(server: Server) -> list[dict[str, Any]]:
    """Agents by name, with what they are."""
    told = _with_search(DEFAULT, "comes with Riverboat")
    if demo_folder().is_dir():
        told += _with_search(DEMO, "riverboat demo builds")
    for run in listing(server.data, server.jobs):
        if run["ready"] and run["kind"] == "solution" and run["board"]:
            told.append({"name": run["name"], "kind": "spot", "about": f"solved spot on {run['board']}"})
        elif run["ready"] and run["kind"] == "blueprint":
            told.append({"name": run["name"], "kind": "blueprint", "about": f"blueprint of {run['game']}"})
        elif run["ready"] and run["kind"] == "tournament":
            told.append({"name": run["name"], "kind": "tournament", "about": run["game"]})
    return told + [{"name": name, "kind": "yardstick", "about": about} for name, (_, about) in YARDSTICKS.items()]


def _acted(desk: Desk, name: str, move: str | None) -> dict[str, Any]:
    held = desk.sitting(name)
    with held.lock:
        sitting: Sitting = held.thing
        if move is None:
            sitting.deal()
        else:
            sitting.act(move)
        return _state(held)


def state_of(held: Held) -> dict[str, Any]:
    """What the person sees."""
    with held.lock:
        return _state(held)


def _state(held: Held) -> dict[str, Any]:
    sitting: Sitting = held.thing
    table = sitting.table
    state, you = table.state, table.seat
    facts = table.to_dict() | {"name": held.name, "agent": held.agent}
    stacks = table.rules.stacks
    on_street = [spent - state.before for spent in state.spent]
    facts |= {
        "street": table.rules.streets[state.street],
        "streets": list(table.rules.streets[table.rules.begins :]),
        "seats": list(SEATS),
        "behind": None if stacks is None else [stack - spent for stack, spent in zip(stacks, state.spent, strict=True)],
        "bets": on_street,
        "big_blind": table.rules.big_blind or None,
        "moves": [] if table.over else moves_of(table),
        "raise": None if table.over or table.rules.begins or table.rules.limit else _span(state),
        "sizes": [] if table.over or table.rules.begins or table.rules.limit else sizes_of(state),
        "history": history(table),
        "result": next((event.won for event in table.events if event.kind == "won"), None),
        "phh": is_holdem(table.rules),
        "you": you,
    }
    return facts


def moves_of(table: Table) -> list[dict[str, Any]]:
    """The moves in words; of raises that span a range, none."""
    return [{"move": label, "words": described(label, table.state)} for label in table.legal() if " to " not in label]


def _span(state: Betting) -> dict[str, Any] | None:
    span = state.raise_range()
    return None if span is None else {"least": span.least, "most": span.most, "before": state.before}


def sizes_of(state: Betting) -> list[dict[str, Any]]:
    """Totals of raises by shares of the pot, with their words; those that come out alike once."""
    span = state.raise_range()
    if span is None:
        return []
    high = max(state.spent)
    pot = state.pot + state.to_call
    wanted = [
        (span.least, "least"),
        *((round(high + share * pot), name) for share, name in SHARES),
        (span.most, "all-in"),
    ]
    told: dict[int, str] = {}
    for total, name in wanted:
        fitted = min(max(total, span.least), span.most)
        told.setdefault(fitted, "all-in" if fitted == span.most else name)
    return [{"move": f"r{total}", "name": name, "words": described(f"r{total}", state)} for total, name in told.items()]


def history(table: Table) -> list[dict[str, Any]]:
    """What both saw in this hand."""
    told: list[dict[str, Any]] = []
    for event in table.events:
        row: dict[str, Any] = {
            "kind": event.kind,
            "street": table.rules.streets[event.state.street],
            "pot": event.state.pot,
        }
        if event.kind == "move":
            row |= {"you": event.who == table.seat, "move": event.move, "words": described(event.move, event.state)}
        elif event.kind == "won":
            row["won"] = event.won
        told.append(row)
    return told


def _results(desk: Desk, name: str, aivat: bool) -> dict[str, Any]:
    sitting: Sitting = desk.sitting(name).thing
    with desk.judging:
        return results(sitting, aivat=aivat).to_dict()


def _review(desk: Desk, name: str, hand: int) -> dict[str, Any]:
    held = desk.sitting(name)
    sitting: Sitting = held.thing
    with desk.judging:
        review = sitting.review(hand)
    return told_review(review, held.agent, sitting.judge)
