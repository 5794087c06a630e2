"""Routes for hands of poker sites: upload, report, one hand, and reviews of heads-up pots."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import PlainTextResponse

from riverboat.web import evening_models as models
from riverboat.web.evenings import EveningStore
from riverboat.web.server import Server

PlayerQuery = Annotated[
    str, Query(max_length=200, description="name of the player; by default the one whose cards are shown")
]
HandQuery = Annotated[int, Query(ge=0, le=10**9)]


def evening_routes(server: Server) -> APIRouter:
    """Return the routes for evenings."""
    router, evenings = APIRouter(tags=["evenings"], prefix="/evenings"), EveningStore(server.data)

    @router.get("", response_model=list[models.EveningSummary])
    async def listed() -> list[dict[str, Any]]:
        """Return all stored evenings, the latest first."""
        return await server.compute(evenings.list_evenings)

    @router.post("", status_code=201, response_model=models.EveningName)
    async def begin(body: models.EveningRequest) -> dict[str, Any]:
        """Store hands of poker sites as a new evening; a text without any hand is an error with the reasons."""
        return {"name": await server.write(lambda: evenings.begin(body.text, body.title))}

    @router.post("/{name}/text", response_model=models.EveningName)
    async def add(name: str, body: models.EveningRequest) -> dict[str, Any]:
        """Append further hands to an evening."""
        await server.write(lambda: evenings.add(name, body.text))
        server.reviews.forget(f"evening/{name}")
        return {"name": name}

    @router.get("/{name}", response_model=models.EveningResponse)
    async def report(name: str, player: PlayerQuery = "") -> dict[str, Any]:
        """Return the report: hands read and refused with reasons, results by stake, statistics, and the player's hands."""
        return await server.compute(lambda: evenings.describe(name, player))

    @router.get("/{name}/hands.phhs", response_class=PlainTextResponse)
    async def phhs(name: str, heads_up: bool = False) -> PlainTextResponse:
        """Return the hands as PHH; with `heads_up` only those of tables of two, which an agent can review."""
        return PlainTextResponse(await server.compute(lambda: evenings.format_phhs(name, heads_up)))

    @router.get("/{name}/hand", response_model=models.WalkResponse)
    async def walk(name: str, hand: HandQuery, player: PlayerQuery = "") -> dict[str, Any]:
        """Return one hand: its seats, and every action with the pot before it."""
        return await server.compute(lambda: evenings.walk(name, hand, player))

    @router.get("/{name}/review", response_model=models.PotReviewResponse)
    async def review(name: str, hand: HandQuery, player: PlayerQuery = "") -> dict[str, Any]:
        """Return the state of a hand's review, and its decisions when it is done; starts nothing."""
        return server.reviews.status(f"evening/{name}", (player, hand))

    @router.post("/{name}/review", response_model=models.PotReviewResponse)
    async def ask_review(name: str, body: models.PotReviewRequest) -> dict[str, Any]:
        """Queue the review of a heads-up pot, which is solved from the flop on."""
        await server.compute(lambda: evenings.hand(name, body.hand, body.player))  # raises if there is none
        work = partial(evenings.review, name, body.hand, body.player)
        return server.reviews.request(f"evening/{name}", (body.player, body.hand), work)

    @router.delete("/{name}/reviews", status_code=204)
    async def cancel_reviews(name: str) -> None:
        """Cancel pending reviews, because nobody looks at these hands any more."""
        server.reviews.cancel(f"evening/{name}")

    @router.delete("/{name}", status_code=204)
    async def remove(name: str) -> None:
        """Delete an evening and cancel its reviews."""
        await server.write(lambda: evenings.remove(name))
        server.reviews.forget(f"evening/{name}")

    return router
