"""What the interface for scripts takes and gives, as types: they are what `/api/openapi.json` says.

Numbers that are not known are null. Shares and equities are 0 to 1, EVs and pots in chips, exploitability in the unit
beside it.
Hands are numbered 0 to 1,325 and cells of the 13 × 13 grid 0 to 168; `GET /api/hands` has their names.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Text = Annotated[str, Field(max_length=200_000)]
Word = Annotated[str, Field(max_length=200)]
Line = Annotated[str, Field(max_length=500)]
Count = Annotated[int, Field(ge=1, le=10**15)]


class Asked(BaseModel):
    """What a client sends: unknown entries are refused."""

    model_config = ConfigDict(extra="forbid")


# --- what is asked ------------------------------------------------------------------------------


class RangeAsked(Asked):
    """A range as text, in any notation of the command line, or as 1,326 weights; cards of a board block hands of it."""

    text: Text | None = None
    weights: Annotated[list[Annotated[float, Field(ge=0, le=1)]], Field(min_length=1326, max_length=1326)] | None = None
    board: Word = ""


class Source(Asked):
    """Where a spot comes from: exactly one of `spot`, `text`, `file`, `run`, `state` and `line`."""

    spot: dict[str, Any] | None = Field(
        None, description="entries of a spot file as JSON: board, pot, stack, ranges, bets, …"
    )
    text: Text | None = Field(None, description="the text of a spot file (TOML), or of another solver's file")
    file: Word | None = Field(None, description="a spot file below the data folder")
    run: Word | None = Field(None, description="a solved run: its spot")
    state: Line | None = Field(None, description="a table state, MATCHSTATE:…; needs `agent`")
    line: Line | None = Field(None, description="a line of `agent` on `board`, such as cr300c/")
    agent: Word | None = Field(None, description="whose strategy gives both ranges: demo, or a run with a blueprint")
    board: Word | None = None
    floor: Annotated[float, Field(ge=0, le=1)] | None = Field(None, description="the least weight of a hand")
    locks: list[dict[str, Any]] | None = Field(None, description="replace the locks of the spot: line, strategy, hands")
    add_locks: list[dict[str, Any]] | None = Field(
        None, description="add locks to those of the spot; hands of both play as the added ones"
    )


class Limits(Asked):
    """When a solve ends; with none of them at 0.5 % of the pot."""

    until: Word | None = Field(None, description="exploitability, such as 0.5%")
    iterations: Count | None = None
    time: Word | None = Field(None, description="such as 90s or 5m")


class SizeAsked(Source):
    """A spot, how many threads would solve it, and on which boards."""

    threads: Annotated[int, Field(ge=1, le=1024)] | None = None
    boards: Word | None = Field(None, description="many boards: all, sample:25, or a file below the data folder")


class ProposalAsked(Source):
    """A spot, and the time that its solve may take."""

    threads: Annotated[int, Field(ge=1, le=1024)] | None = None
    seconds: Annotated[float, Field(gt=0, le=10**7)] | None = Field(None, description="to the target; 300 by default")


class JobAsked(Source, Limits):
    """A spot to solve, on its board or on many."""

    name: Word | None = Field(None, description="of the run; made from the spot's name by default")
    threads: Annotated[int, Field(ge=1, le=1024)] | None = None
    dtype: Literal["float64", "float32", "compact", "16-bit"] | None = None
    schedule: Word | None = None
    checkpoint: Word | None = Field(None, description="time between checkpoints, 15s by default")
    boards: Word | None = Field(None, description="many boards: all, sample:25, or a file below the data folder")
    report: Line | None = Field(None, description="with boards: the line to report, the root by default")
    keep: bool = Field(False, description="with boards: keep every solution")


# --- what is answered -----------------------------------------------------------------------------


class Failed(BaseModel):
    """Why a request was refused."""

    error: str


class About(BaseModel):
    """The server."""

    version: str
    data: str
    cores: int
    jobs_at_once: int
    memory: int = Field(description="bytes that jobs may take together")
    most_body: int


class Hands(BaseModel):
    """Names of hands, cells, and classes of hands."""

    hands: list[str] = Field(description="1,326 names, such as AsKs")
    cells: list[str] = Field(description="169 names, row by row: AA, AKs, …, 22")
    cell_of_hand: list[int]
    made: list[str]
    draws: list[str]


class RangeTold(BaseModel):
    """A range in all forms."""

    text: str
    weights: list[float]
    cells: list[float] = Field(description="mean weights of the hands that the board leaves")
    combos: float
    percent: float


class Preset(BaseModel):
    """A range with a name."""

    group: str
    name: str
    text: str


class SpotTold(BaseModel):
    """A spot that can be solved."""

    name: str
    spot: dict[str, Any] = Field(description="the entries of its file, which `spot` of other requests takes")
    text: str = Field(description="its file")
    board: str
    pot: int
    stack: int
    player: str
    moves: list[str]
    weights: dict[str, list[float]] = Field(description="1,326 for oop and ip")
    notes: list[str] = Field(description="what of another solver's file was left out; locks that are never reached")


class CandidateTold(BaseModel):
    """A spot with one betting menu, and what its solve takes."""

    spot: dict[str, Any] = Field(description="the entries of its file")
    dtype: str = Field(description="tables that fit best, for `dtype` of a job")
    left_out: list[str] = Field(description="what of the spot's own menu is left out")
    infosets: int | None
    bytes: int | None = Field(description="null where the tree is too large to be counted")
    seconds: float | None = Field(description="to the target, about")
    fits: bool = Field(description="whether it fits into the memory that jobs may take")


class ProposalTold(BaseModel):
    """The menus of a spot, the richest first, and the one that is proposed."""

    name: str
    board: str
    pot: int
    stack: int
    hands: dict[str, int] = Field(description="hands of oop and ip")
    memory: int = Field(description="bytes that jobs may take")
    seconds: float = Field(description="that the proposal was asked to stay within")
    chosen: int | None = Field(description="place in `candidates`; null where none fits into the memory")
    candidates: list[CandidateTold]
    notes: list[str]


class Example(BaseModel):
    """A line that a blueprint plays often."""

    street: str
    line: str
    board: str
    combos: dict[str, float]
    state: str = Field(description="the same as a table state")


class Check(BaseModel):
    """A line of a log: what a check has found."""

    model_config = ConfigDict(extra="allow")

    iteration: int
    seconds: float
    exploitability: float | None = None
    unit: str | None = None


class JobTold(BaseModel):
    """A job and where it stands."""

    name: str
    kind: Literal["spot", "boards"]
    state: Literal["queued", "running", "stopping", "stopped", "done", "missed", "failed"]
    options: dict[str, Any]
    bytes: int
    created: float
    started: float | None
    ended: float | None
    message: str
    facts: dict[str, Any] = Field(description="of the spot: name, board, pot, stack")
    command: list[str] = Field(description="the same in a terminal")
    said: str = Field(description="the last line that the command has said: what it does, time left")
    last: Check | None = Field(description="the last check")
    ev: list[float | None] = Field(description="of oop and ip at the last check, in chips")
    resident: int | None = Field(description="bytes that its process holds now, where the system tells")
    result: dict[str, Any] | None = Field(description="what `riverboat solve --json` has printed")


class Move(BaseModel):
    """A move at a node, and how it is played."""

    name: str
    kind: Literal["fold", "check", "call", "bet", "raise"]
    chips: float = Field(description="what it adds to the pot")
    share: float | None = Field(description="of a bet or raise: its size over the pot")
    allin: bool
    line: str = Field(description="of what follows")
    frequency: float | None
    combos: float | None
    ev: float | None
    equity: float | None
    eqr: float | None


class Step(BaseModel):
    """A decision or a deal on the way to a node."""

    line: str
    kind: Literal["decision", "deal", "end"]
    player: str | None
    moves: list[str]
    chosen: str | None
    locked: bool = Field(False, description="whether some hand is locked there")


class HandColumns(BaseModel):
    """Arrays over the hands of the starting range that the board leaves."""

    index: list[int]
    weight: list[float]
    deals: list[float] = Field(
        description="how often each is dealt there; they sum to 1, and means take them as weights"
    )
    ev: list[float | None] = []
    equity: list[float | None] = []
    eqr: list[float | None] = []
    strategy: list[list[float | None]] = Field([], description="one array for each move; none of who does not act")
    action_ev: list[list[float | None]] = []
    made: list[int] = []
    draws: list[int] = []


class Side(BaseModel):
    """A player at a node."""

    combos: float | None
    ev: float | None
    equity: float | None
    eqr: float | None
    hands: HandColumns


class Node(BaseModel):
    """A node of a solution, or a decision of a blueprint or an agent."""

    run: str
    line: str
    kind: Literal["decision", "deal", "end"]
    board: str
    street: str
    pot: float
    stacks: list[float] | None
    player: str | None
    played: float | None
    names: list[str]
    joiner: str = Field(description="what stands between two moves of a line")
    moves: list[Move]
    cards: list[str]
    path: list[Step]
    players: dict[str, Side]
    locked: list[int] = Field([], description="hands of the player to act whose strategy is locked here")


class TableColumn(BaseModel):
    """A column: `share` is 0 to 1, `chips` chips."""

    name: str
    title: str
    kind: Literal["text", "prose", "figure", "share", "chips", "count"]


class Table(BaseModel):
    """A table of the library; the first column names the row, and a last row `all` has the means."""

    title: str
    columns: list[TableColumn]
    rows: list[list[str | float | None]]


class ReviewTold(BaseModel):
    """Where the review of a hand stands. Reviews are computed one at a time, behind play."""

    state: Literal["none", "waiting", "running", "done", "failed"] = Field(description="none: nobody has asked for it")
    ahead: int = Field(description="reviews before it in the queue")
    review: dict[str, Any] | None = Field(
        description="once it is done: decisions with verdicts, and `ev_lost` in chips"
    )
    error: str | None = Field(description="why it failed")


class RunTold(BaseModel):
    """A run of the data folder."""

    name: str
    kind: Literal["solution", "blueprint", "boards", "tournament", "other"]
    game: str | None
    board: str | None
    state: str = Field(description="of its job; of others running or done")
    running: bool
    job: bool = Field(description="whether this server can stop it and go on with it")
    ready: bool = Field(description="whether something can be read yet")
    changed: float
    iterations: int | None
    seconds: float | None
    exploitability: float | None
    unit: str | None


class Series(BaseModel):
    """A run's log."""

    name: str
    rows: list[dict[str, Any]]
    units: dict[str, str]
    memory: int | None = Field(description="bytes that its process holds now, where the system tells")
    seconds_left: float | None
    snapshots: list[str] = Field(description="of a training; each is a run, NAME/snapshots/NUMBER")
