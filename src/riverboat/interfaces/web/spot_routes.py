"""Routes for ranges, boards and spots: what the page builds a spot with, and what it comes to before it is solved."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
from fastapi import APIRouter

from riverboat import __version__
from riverboat.cards.classes import DRAWS, MADE
from riverboat.cards.deck import FULL_DECK
from riverboat.cards.grid import CLASS_NAMES, CLASS_OF_HAND
from riverboat.cards.notation import parse_board
from riverboat.cards.ranges import Range
from riverboat.errors import InputError
from riverboat.interfaces.spot_estimate import estimate
from riverboat.interfaces.web import presets, sources
from riverboat.interfaces.web.door import MOST_BODY
from riverboat.interfaces.web.models import About, Hands, Preset, RangeAsked, RangeTold, SizeAsked, Source, SpotTold
from riverboat.interfaces.web.node_json import numbers
from riverboat.interfaces.web.server import Server
from riverboat.strategy.asking import hand_names


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
            return sources.told(sources.find(source, server.data, server.shelf))

        return SpotTold(**await server.compute_from(source.agent, work))

    @router.post("/spots/size")
    async def size(asked: SizeAsked) -> dict[str, Any]:
        """Nodes, memory and seconds of a solve, as `riverboat solve --estimate --json` tells them."""

        def work() -> dict[str, Any]:
            spot = sources.find(asked, server.data, server.shelf).spot
            return estimate(spot, None, asked.threads or server.cores)

        return await server.compute_from(asked.agent, work)

    return router
