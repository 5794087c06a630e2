"""Routes for ranges, boards and spots: what the page builds a spot with, and what it comes to before it is solved."""

from __future__ import annotations

from math import comb
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query

from riverboat import __version__
from riverboat.cards.deck import FULL_DECK
from riverboat.cards.grid import CLASS_NAMES, CLASS_OF_HAND
from riverboat.cards.hand_classes import DRAWS, MADE
from riverboat.cards.notation import parse_board, show_cards
from riverboat.cards.ranges import Range
from riverboat.cli.solve.spot_proposal import SECONDS, Proposal, propose
from riverboat.core.errors import InputError
from riverboat.formats import spot_file
from riverboat.games.holdem.menus import SEATS
from riverboat.strategies.queries import hand_names
from riverboat.web import presets, spot_sources
from riverboat.web.gateway import MOST_BODY
from riverboat.web.jobs.options import check_boards
from riverboat.web.models import (
    About,
    CandidateTold,
    Example,
    Hands,
    Preset,
    ProposalAsked,
    ProposalTold,
    RangeAsked,
    RangeTold,
    SizeAsked,
    Source,
    SpotTold,
)
from riverboat.web.server import Server
from riverboat.web.views.node import numbers


def read_range(asked: RangeAsked) -> Range:
    """A range from text or weights; files are not read here."""
    if (asked.text is None) == (asked.weights is None):
        raise InputError("a range: give text or weights")
    if asked.weights is not None:
        return Range(np.array(asked.weights))
    assert asked.text is not None
    if asked.text.lstrip().startswith("@"):
        raise InputError("range: no file is read here; write the range itself")
    return Range.parse(asked.text, allow_empty=True)


def proposal_told(noted: spot_sources.NotedSpot, made: Proposal, memory: int, seconds: float) -> ProposalTold:
    """Return a proposal as the page reads it."""
    spot = noted.spot
    candidates = [
        CandidateTold(
            spot=spot_file.to_table(each.spot), dtype=each.dtype, left_out=list(each.left_out), infosets=each.infosets,
            bytes=each.bytes, seconds=each.seconds, fits=each.fits,
        )
        for each in made.candidates
    ]  # fmt: skip
    hands = {name: int((weights > 0).sum()) for name, weights in zip(SEATS, spot.weights, strict=True)}
    chosen = None if made.chosen is None else made.candidates.index(made.chosen)
    return ProposalTold(
        name=spot.name, board=show_cards(spot.board), pot=spot.pot, stack=spot.stack, hands=hands, memory=memory,
        seconds=seconds, chosen=chosen, candidates=candidates, notes=noted.notes,
    )  # fmt: skip


def routes(server: Server) -> APIRouter:
    """The routes of this module."""
    router = APIRouter(tags=["spots"])

    @router.get("/about")
    async def about() -> About:
        """The server and its limits."""
        jobs = server.jobs
        return About(
            version=__version__, data=str(server.data.root), cores=server.cores, jobs_at_once=jobs.most,
            memory=jobs.memory, most_body=MOST_BODY,
        )  # fmt: skip

    @router.get("/hands")
    async def hands() -> Hands:
        """Names of hands, cells and classes, in the order of all arrays."""
        return Hands(
            hands=list(hand_names(FULL_DECK)), cells=list(CLASS_NAMES), cell_of_hand=CLASS_OF_HAND.tolist(),
            made=list(MADE), draws=list(DRAWS),
        )  # fmt: skip

    @router.get("/ranges/presets")
    async def preset_ranges() -> list[Preset]:
        """Ranges with names."""
        return [Preset(group=group, name=name, text=text) for group, name, text in presets.RANGES]

    @router.post("/ranges")
    async def ranges(asked: RangeAsked) -> RangeTold:
        """A range in all forms: its shortest text, 1,326 weights, 169 cells."""
        held, board = read_range(asked), parse_board(asked.board)
        left = held.remove(board)
        return RangeTold(
            text=held.text(digits=6), weights=numbers(held.weights, 6),
            cells=numbers(held.class_weights(board).ravel(), 6), combos=left.combos,
            percent=100 * left.combos / comb(52 - len(board), 2),
        )  # fmt: skip

    @router.post("/spots")
    async def spots(source: Source) -> SpotTold:
        """A spot, checked: as entries, as a file, and its first moves."""

        def work() -> dict[str, Any]:
            return spot_sources.told(spot_sources.find(source, server.data, server.shelf))

        return SpotTold(**await server.compute_from(source.agent, work))

    @router.post("/spots/size")
    async def size(asked: SizeAsked) -> dict[str, Any]:
        """Nodes, memory and seconds of a solve, as `riverboat solve --estimate --json` tells them; with `boards` the seconds
        of all of them."""

        def work() -> dict[str, Any]:
            spot = spot_sources.find(asked, server.data, server.shelf).spot
            boards = None if asked.boards is None else check_boards(asked.boards, server.data)
            return spot_sources.size(spot, None, asked.threads or server.cores, boards)

        return await server.compute_from(asked.agent, work)

    @router.post("/spots/proposal")
    async def proposal(asked: ProposalAsked) -> ProposalTold:
        """The spot with leaner and leaner menus, and the richest that fits into the memory and the time."""

        def work() -> ProposalTold:
            noted = spot_sources.find(asked, server.data, server.shelf)
            seconds = SECONDS if asked.seconds is None else asked.seconds
            memory, threads = server.jobs.memory, asked.threads or server.cores
            return proposal_told(
                noted, propose(noted.spot, memory=memory, seconds=seconds, threads=threads), memory, seconds
            )

        return await server.compute(work)

    @router.get("/spots/examples")
    async def examples(agent: Annotated[str, Query(max_length=200)]) -> list[Example]:
        """Lines that a blueprint plays often, one for each street from the flop on; of other agents none."""
        return [Example(**row) for row in await server.compute(lambda: server.shelf.examples(agent))]

    return router
