"""Routes to play: sittings, moves, results, and what decisions cost."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field

from riverboat.agents.baselines import YARDSTICKS
from riverboat.agents.registry import DEFAULT, DEMO, demo_folder
from riverboat.api.play import Table, described
from riverboat.core.cancellation import poll
from riverboat.core.errors import RiverboatError
from riverboat.formats.hand_files import phhs_text
from riverboat.formats.phh import is_holdem
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.menus import SEATS
from riverboat.practice.luck import results_of
from riverboat.practice.reviews import PlayedHand, review_hand
from riverboat.web.models import Asked, ReviewTold, Word
from riverboat.web.practice.sessions import Desk, HeldSitting, Used
from riverboat.web.request_costs import require_cheap
from riverboat.web.runs.locks import walking
from riverboat.web.runs.runs import listing
from riverboat.web.server import Server
from riverboat.web.views.review import told_review

Seed = Annotated[int, Field(ge=0, le=2**63 - 1)]
SHARES = ((1 / 3, "⅓ pot"), (1 / 2, "½ pot"), (3 / 4, "¾ pot"), (1.0, "pot"), (3 / 2, "1½ pot"))


class StaleError(RiverboatError):
    """A step was chosen on a state that is not the table's any more; `state` is what it is now."""

    def __init__(self, message: str, state: dict[str, Any]) -> None:
        super().__init__(message)
        self.state = state


class SittingAsked(Asked):
    """Who is played against."""

    agent: Word
    seed: Seed | None = None
    seat: str | None = Field(None, pattern="^(oop|ip)$")


class MoveAsked(Asked):
    """A move, as tables write them: f, c, r300."""

    move: Annotated[str, Field(max_length=20)]


class StepAsked(Asked):
    """The state that a step was chosen on, by its `version`; without one the step is taken whatever the state is."""

    version: Annotated[int, Field(ge=0)] | None = None


class TableMoveAsked(MoveAsked, StepAsked):
    """A move at a table."""


class HandAsked(Asked):
    """A hand that is over, from 0."""

    hand: Annotated[int, Field(ge=0, le=10**9)]


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

    async def opened(name: str, *, cheap: bool = True) -> HeldSitting:
        """The session as it is open now. A GET opens it where that is `cheap`: a link cannot start a search."""
        while (held := desk.opened(name)) is None or not held.state:  # its first state is on its way
            if cheap and held is None:
                require_cheap(desk.data, desk.named(name))
            await server.play(lambda: published(desk.sitting(name)))
        return held

    @router.post("/sittings", status_code=201)
    async def begin(asked: SittingAsked) -> dict[str, Any]:
        """Sit down: the first hand is dealt."""
        seat = None if asked.seat is None else SEATS.index(asked.seat)
        return (await server.play(lambda: published(desk.sit(asked.agent, asked.seed, seat)))).state

    @router.get("/sittings/{name}")
    async def look(name: str) -> dict[str, Any]:
        """The table as it stands."""
        return (await opened(name)).state

    @router.post("/sittings/{name}/open")
    async def reopen(name: str) -> dict[str, Any]:
        """The same, also of a session with an agent that searches, after a restart of the server."""
        return (await opened(name, cheap=False)).state

    @router.post("/sittings/{name}/move")
    async def move(name: str, asked: TableMoveAsked) -> dict[str, Any]:
        """Make a move; the agent answers. 409 with the state as it is where `version` is an older one."""
        return await server.play(lambda: take_step(desk.sitting(name), asked.version, asked.move))

    @router.post("/sittings/{name}/deal")
    async def deal(name: str, asked: StepAsked | None = None) -> dict[str, Any]:
        """The next hand; `version` as for a move."""
        version = None if asked is None else asked.version
        return await server.play(lambda: take_step(desk.sitting(name), version, None))

    @router.get("/sittings/{name}/results")
    async def raw_results(name: str) -> dict[str, Any]:
        """What was won: as played, and with all-ins by equity."""
        finished = (await opened(name)).finished
        return await server.compute(lambda: results_of(finished, None).to_dict())

    @router.post("/sittings/{name}/results")
    async def luckless_results(name: str) -> dict[str, Any]:
        """The same and by AIVAT, without most luck: minutes where an agent's values are made for the first time."""
        held = await opened(name, cheap=False)
        return await server.compute_costly(lambda: _aivat(desk, held))

    @router.get("/sittings/{name}/review")
    async def review(name: str, hand: Annotated[int, Query(ge=0, le=10**9)]) -> ReviewTold:
        """Where the review of a hand stands, and every decision of it once it is done; starts nothing."""
        desk.named(name)  # refused where there is none
        return ReviewTold(**server.reviews.look(_owner(name), hand))

    @router.post("/sittings/{name}/review")
    async def ask_review(name: str, asked: HandAsked) -> ReviewTold:
        """Let a hand that is over be reviewed, behind play: what there was to do, and the EV that each decision cost."""
        held = await opened(name, cheap=False)
        hand = held.finished.hand(asked.hand)  # a value: what is dealt or played meanwhile does not change it
        return ReviewTold(**server.reviews.request(_owner(name), asked.hand, lambda: judged(desk, hand, held.agent)))

    @router.delete("/sittings/{name}/reviews", status_code=204)
    async def cancel_reviews(name: str) -> None:
        """Give up reviews that wait or run: the table was left."""
        server.reviews.cancel(_owner(name))

    @router.get("/sittings/{name}/hands.phhs", response_class=Response)
    async def hands(name: str) -> Response:
        """The hands that are over, as PHH."""
        finished = (await opened(name)).finished
        text = await server.compute(lambda: phhs_text(finished.record()))
        kind = {"content-disposition": f'attachment; filename="{name}.phhs"'}
        return Response(text, media_type="text/plain; charset=utf-8", headers=kind)

    @router.delete("/sittings/{name}", status_code=204)
    async def leave(name: str) -> None:
        """Delete a sitting, and give up its reviews."""
        await server.play(lambda: desk.leave(name))
        server.reviews.forget(_owner(name))

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


def _owner(name: str) -> str:
    return f"sitting/{name}"


def take_step(held: HeldSitting, version: int | None, move: str | None) -> dict[str, Any]:
    """Make a move, or deal where there is none; refused where it was chosen on an older state than the table's."""
    with held.lock, walking(held.sitting.table.agent):
        now = held.sitting.table.version
        if version is not None and version != now:
            held.state = _state(held)
            raise StaleError(
                f"this session went on in another window (version {now}, not {version}); this is how it stands",
                held.state,
            )
        if move is None:
            held.sitting.deal()
        else:
            held.sitting.act(move)
        held.state = _state(held)
        return held.state


def published(held: HeldSitting) -> HeldSitting:
    """A session with the state that the person sees."""
    with held.lock, walking(held.sitting.table.agent):
        held.state = _state(held)
    return held


def _state(held: HeldSitting) -> dict[str, Any]:
    table = held.sitting.table
    state, you = table.state, table.seat
    facts = table.to_dict() | {"name": held.name, "agent": held.agent, "version": table.version}
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


def _aivat(desk: Desk, held: HeldSitting) -> dict[str, Any]:
    agent = desk.agent(held.agent, held.sitting.table.seed, Used.VALUES)
    with walking(agent):
        return results_of(held.finished, agent, progress=lambda share: poll()).to_dict()


def judged(desk: Desk, hand: PlayedHand, agent: str) -> dict[str, Any]:
    """A review of a finished hand by an agent, as the page draws it."""
    judge = desk.judge(agent)
    with walking(judge):
        return told_review(review_hand(judge, hand), agent, judge)
