"""Routes for ranges, boards and spots: what the page needs to build a spot, and its estimated cost."""

from __future__ import annotations

from math import comb
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Response

from riverboat import __version__
from riverboat.api.estimate import DEFAULT_SECONDS, MenuProposal, estimate, propose
from riverboat.cards.deck import FULL_DECK
from riverboat.cards.grid import CLASS_NAMES, CLASS_OF_HAND
from riverboat.cards.hand_classes import DRAWS, MADE_HANDS
from riverboat.cards.notation import format_cards, parse_board
from riverboat.cards.ranges import Range
from riverboat.core import files
from riverboat.core.errors import InputError
from riverboat.formats import spot_file
from riverboat.games.holdem.menus import SEATS
from riverboat.web import models, spot_sources
from riverboat.web.gateway import MAX_BODY_BYTES
from riverboat.web.jobs.queue import check_boards
from riverboat.web.server import Server
from riverboat.web.solutions import json_response
from riverboat.web.views.node import round_array

# --- Range presets by position: rough shapes for 100 big blinds to start from, not solutions ---

RANGE_PRESETS = Path(__file__).parents[1] / "range_presets.toml"


def read_range(request: models.RangeRequest) -> Range:
    """Return a range from text or weights; files are not read."""
    if (request.text is None) == (request.weights is None):
        raise InputError("range: give either text or weights")
    if request.weights is not None:
        return Range(np.array(request.weights))
    assert request.text is not None
    if request.text.lstrip().startswith("@"):
        raise InputError("range: files are not read here; write the range itself")
    return Range.parse(request.text, allow_empty=True)


def proposal_response(
    spot_with_notes: spot_sources.SpotWithNotes, proposal: MenuProposal, memory: int, seconds: float
) -> models.ProposalResponse:
    """Convert proposed betting menus of a spot to a response; `memory` and `seconds` are the limits that were used."""
    spot = spot_with_notes.spot
    entries = [vars(each) | {"spot": spot_file.to_table(each.spot)} for each in proposal.candidates]
    candidates = [models.CandidateResponse(**each) for each in entries]
    hands = {name: int((weights > 0).sum()) for name, weights in zip(SEATS, spot.weights, strict=True)}
    chosen = None if proposal.chosen is None else proposal.candidates.index(proposal.chosen)
    return models.ProposalResponse(
        name=spot.name, board=format_cards(spot.board), pot=spot.pot, stack=spot.stack, hands=hands, memory=memory,
        seconds=seconds, chosen=chosen, candidates=candidates, notes=list(spot_with_notes.notes),
    )  # fmt: skip


def spot_routes(server: Server) -> APIRouter:
    """Return the routes for ranges and spots."""
    router = APIRouter(tags=["spots"])

    @router.get("/about")
    async def about() -> models.ServerInfo:
        """Return the server and its limits."""
        jobs = server.jobs
        return models.ServerInfo(
            version=__version__, data=str(server.data.root), cores=server.cores, jobs_at_once=jobs.max_running,
            memory=jobs.memory, most_body=MAX_BODY_BYTES,
        )  # fmt: skip

    @router.get("/hands")
    async def hands() -> models.HandNames:
        """Return the names of hands, cells and classes, in the order of all arrays."""
        names = [format_cards(hand[::-1]) for hand in FULL_DECK.hands.tolist()]  # the higher card first
        return models.HandNames(
            hands=names, cells=list(CLASS_NAMES), cell_of_hand=CLASS_OF_HAND.tolist(),
            made=list(MADE_HANDS), draws=list(DRAWS),
        )  # fmt: skip

    @router.get("/ranges/presets")
    async def preset_ranges() -> list[models.RangePreset]:
        """Return the range presets."""
        presets = files.parse_toml(RANGE_PRESETS.read_text(encoding="utf-8"))
        return [
            models.RangePreset(group=group, name=name, text=text)
            for group, ranges in presets.items()
            for name, text in ranges.items()
        ]

    @router.post("/ranges")
    async def ranges(body: models.RangeRequest) -> models.RangeResponse:
        """Return a range as its shortest text, 1,326 weights and 169 cells."""
        parsed, board = read_range(body), parse_board(body.board)
        live = parsed.remove(board)
        return models.RangeResponse(
            text=parsed.text(digits=6), weights=round_array(parsed.weights, 6),
            cells=round_array(parsed.class_weights(board).ravel(), 6), combos=live.combos,
            percent=100 * live.combos / comb(52 - len(board), 2),
        )  # fmt: skip

    @router.post("/spots")
    async def spots(source: models.SpotSource) -> models.SpotResponse:
        """Validate a spot; return its entries, its file and its first actions."""

        def work() -> models.SpotResponse:
            return spot_sources.spot_response(spot_sources.resolve_spot(source, server.data, server.solutions))

        return await server.compute_from(source.agent, work)

    @router.post("/spots/size", response_model=models.EstimateResponse)
    async def size(body: models.EstimateRequest) -> dict[str, Any]:
        """Estimate information sets, memory and seconds of a solve, as `riverboat solve --estimate --json` does.

        With `boards`, the seconds are those of all boards.
        """

        def work() -> dict[str, Any]:
            spot = spot_sources.resolve_spot(body, server.data, server.solutions).spot
            boards = None if body.boards is None else check_boards(body.boards, server.data)
            return {"solves": 1} | estimate(spot, threads=body.threads or server.cores, boards=boards)

        return await server.compute_from(body.agent, work)

    @router.post("/spots/proposal")
    async def proposal(body: models.ProposalRequest) -> models.ProposalResponse:
        """Propose simpler betting menus, and the richest within the memory and time limits."""

        def work() -> models.ProposalResponse:
            resolved = spot_sources.resolve_spot(body, server.data, server.solutions)
            seconds = DEFAULT_SECONDS if body.seconds is None else body.seconds
            memory, threads = server.jobs.memory, body.threads or server.cores
            proposed = propose(resolved.spot, memory=memory, seconds=seconds, threads=threads)
            return proposal_response(resolved, proposed, memory, seconds)

        return await server.compute(work)

    @router.get("/spots/examples", response_model=list[models.ExampleLine])
    async def examples(agent: Annotated[str, Query(max_length=200)]) -> Response:
        """Return frequent lines of a blueprint, one per street from the flop on; empty for other agents."""
        return json_response(await server.compute(lambda: server.solutions.examples(agent)))

    return router
