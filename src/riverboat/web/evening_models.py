"""Requests and responses of the routes for hands of poker sites."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from riverboat.web.models import Number, RequestBody, ShortText


class EveningRequest(RequestBody):
    """The text of hand histories of poker sites, or PHH."""

    text: Annotated[str, Field(min_length=1, max_length=1 << 20)]
    title: ShortText = Field("evening", description="title of the file")


class PotReviewRequest(RequestBody):
    """A hand of an evening by its number, and the player whose decisions are reviewed."""

    hand: Annotated[int, Field(ge=0, le=10**9)]
    player: ShortText = ""


class EveningSummary(BaseModel):
    """A stored evening."""

    name: str
    changed: float


class EveningName(BaseModel):
    """The name of a stored evening."""

    name: str


class Refusal(BaseModel):
    """A part of the text that is no hand which can be read: its line from 1, and the reason."""

    file: str
    line: int
    reason: str
    detail: str
    number: str


class PlayerCount(BaseModel):
    """A player and the number of its hands."""

    name: str
    hands: int


class PlayedHandRow(BaseModel):
    """A hand of the player: cards, chips won in units of money and in big blinds, and size of the pot."""

    hand: int
    number: str
    time: str
    stake: str
    position: str
    hole: str
    board: str
    won: Number
    won_bb: Number
    pot_bb: Number
    reviewable: bool


class EveningResponse(BaseModel):
    """The report of an evening; `left_out` counts hands beyond the limit of a response, `heads_up` those of tables of two."""

    name: str
    hands: int
    duplicates: int
    refused_count: int
    refused: list[Refusal]
    reasons: dict[str, int]
    player: str
    players: list[PlayerCount]
    stakes: list[dict[str, Any]]
    statistics: dict[str, Any]
    played: list[PlayedHandRow]
    left_out: int
    reviewable: int
    heads_up: int


class WalkSeat(BaseModel):
    """A player of a hand; `own` marks the one whose hands these are."""

    name: str
    position: str
    stack: str
    hole: str
    won: Number
    own: bool


class WalkStep(BaseModel):
    """An action in words, with the pot before it."""

    player: int
    street: str
    words: str
    pot: str
    fold: bool
    board: str


class WalkResponse(BaseModel):
    """One hand from the first action to the last."""

    hand: int
    number: str
    site: str
    table: str
    time: str
    stake: str
    seats: list[WalkSeat]
    steps: list[WalkStep]
    boards: list[str]
    rake: str
    reviewable: bool


class PotReviewResponse(BaseModel):
    """State of a review (`none`, `waiting`, `running`, `done`, `failed`), and the review when it is done."""

    state: str
    ahead: int
    review: dict[str, Any] | None
    error: str | None
