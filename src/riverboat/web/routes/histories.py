"""Routes to look again at hands from files: what is kept, its players, its hands, and what their decisions cost."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from riverboat.core.errors import InputError
from riverboat.web.models import Asked, ReviewTold, Word
from riverboat.web.routes.play import HandAsked, judged
from riverboat.web.server import Server
from riverboat.web.specs import agent_spec

Player = Annotated[str, Query(max_length=200)]


class HistoryAsked(Asked):
    """Hands: the text of a file (PHH or an ACPC log), or a file below the data folder."""

    text: Annotated[str, Field(max_length=1 << 20)] | None = None
    title: Word = Field("hands", description="what to call it")
    file: Word | None = None


class HistoryReviewAsked(HandAsked):
    """A hand in which a player's cards were seen, and the agent that judges it."""

    player: Word
    judge: Word


def routes(server: Server) -> APIRouter:
    """The routes of this module."""
    router, desk, histories = APIRouter(tags=["play"], prefix="/play/histories"), server.desk, server.desk.histories

    @router.get("")
    async def listed() -> list[dict[str, Any]]:
        """All files of hands that are kept, the last first."""
        return await server.compute(histories.all)

    @router.post("", status_code=201)
    async def keep(asked: HistoryAsked) -> dict[str, Any]:
        """Keep hands: players, and what could not be read."""

        def work() -> dict[str, Any]:
            if (asked.text is None) == (asked.file is None):
                raise InputError("hands come from one of text and file")
            name = (
                histories.bring(asked.file) if asked.file is not None else histories.keep(asked.text or "", asked.title)
            )
            return histories.told(name)

        return await server.write(work)

    @router.get("/{name}")
    async def look(name: str) -> dict[str, Any]:
        """What a file holds."""
        return await server.compute(lambda: histories.told(name))

    @router.get("/{name}/hands")
    async def hands(name: str, player: Player) -> dict[str, Any]:
        """The hands in which a player's cards were seen."""
        return await server.compute(lambda: histories.listed(name, player))

    @router.get("/{name}/review")
    async def review(
        name: str, player: Player, judge: Player, hand: Annotated[int, Query(ge=0, le=10**9)]
    ) -> ReviewTold:
        """Where the review of one of those hands stands, and every decision of it once it is done; starts nothing."""
        return ReviewTold(**server.reviews.look(_owner(name), (player, judge, hand)))

    @router.post("/{name}/review")
    async def ask_review(name: str, asked: HistoryReviewAsked) -> ReviewTold:
        """Let one of those hands be judged by an agent, behind play."""
        agent_spec(asked.judge, server.data)  # refused where there is none
        hand = await server.compute(lambda: histories.hand(name, asked.player, asked.hand))
        key = asked.player, asked.judge, asked.hand
        return ReviewTold(**server.reviews.request(_owner(name), key, lambda: judged(desk, hand, asked.judge)))

    @router.delete("/{name}/reviews", status_code=204)
    async def cancel_reviews(name: str) -> None:
        """Give up reviews that wait or run: nobody looks at these hands any more."""
        server.reviews.cancel(_owner(name))

    @router.delete("/{name}", status_code=204)
    async def remove(name: str) -> None:
        """Delete a file, and give up its reviews."""
        await server.write(lambda: histories.remove(name))
        server.reviews.forget(_owner(name))

    return router


def _owner(name: str) -> str:
    return f"history/{name}"
