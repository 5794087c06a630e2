"""Requests and responses of the API as types, which define `/api/openapi.json`.

Unknown numbers are null. Shares and equities are 0 to 1, EVs and pots in chips, exploitability in the unit next to it.
Hands are numbered 0 to 1,325 and cells of the 13 × 13 grid 0 to 168; `GET /api/hands` returns their names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, RootModel

from riverboat.api.options import MAX_SEED, options_of
from riverboat.api.solve import solve

LongText = Annotated[str, Field(max_length=200_000)]
ShortText = Annotated[str, Field(max_length=200)]
Seed = Annotated[int, Field(ge=0, le=MAX_SEED)]
OptionText = Annotated[str, Field(max_length=2_000)]
LineText = Annotated[str, Field(max_length=500)]
Number = int | float  # a count stays an integer in JSON


class RequestBody(BaseModel):
    """Base of request bodies: unknown fields are rejected."""

    model_config = ConfigDict(extra="forbid")


Model = TypeVar("Model", bound=BaseModel)


def options_from(function: Callable[..., Any], **minimum: int) -> Callable[[type[Model]], type[Model]]:
    """Return a class decorator that copies limits and descriptions of a function's options to fields of the same name.

    `minimum`: smallest values of some options, by name, instead of those of the function.
    """

    def decorate(model: type[Model]) -> type[Model]:
        for option in options_of(function).values():
            # requests and job files use the long name in the terminal
            field = model.model_fields.get(option.flag_name.removeprefix("--").replace("-", "_"))
            if field is not None:
                limits: Any = Field(ge=minimum.get(option.name, option.minimum), le=option.maximum)
                field.description = field.description or option.help
                field.metadata += limits.metadata
        model.model_rebuild(force=True)
        return model

    return decorate


# --- Requests ---


class RangeRequest(RequestBody):
    """A range as text in any notation of the command line, or as 1,326 weights; board cards remove hands."""

    text: LongText | None = None
    weights: Annotated[list[Annotated[float, Field(ge=0, le=1)]], Field(min_length=1326, max_length=1326)] | None = None
    board: ShortText = ""


class SpotSource(RequestBody):
    """The source of a spot: exactly one of `spot`, `text`, `file`, `run`, `state` and `line`."""

    spot: dict[str, Any] | None = Field(
        None, description="entries of a spot file as JSON: board, pot, stack, ranges, bets, …"
    )
    text: LongText | None = Field(None, description="the text of a spot file (TOML), or of another solver's file")
    file: ShortText | None = Field(None, description="a spot file below the data folder")
    run: ShortText | None = Field(None, description="a solved run, whose spot is taken")
    state: LineText | None = Field(None, description="a match state, MATCHSTATE:…; needs `agent`")
    line: LineText | None = Field(None, description="a line of `agent` on `board`, such as cr300c/")
    agent: ShortText | None = Field(
        None, description="agent whose strategy gives both ranges: demo, or a run with a blueprint"
    )
    board: ShortText | None = None
    floor: Annotated[float, Field(ge=0, le=1)] | None = Field(None, description="minimum weight of a hand")
    locks: list[dict[str, Any]] | None = Field(None, description="replace the locks of the spot: line, strategy, hands")
    add_locks: list[dict[str, Any]] | None = Field(
        None, description="add locks to those of the spot; for hands in both, the added locks apply"
    )


@options_from(solve, iterations=1)
class SolveLimitsRequest(RequestBody):
    """Limits of a solve; by default it stops at 0.5 % of the pot."""

    until: ShortText | None = None
    iterations: int | None = None
    time: ShortText | None = None


@options_from(solve, iterations=1)
class SolveOptionsRequest(SolveLimitsRequest):
    """Options of a solve by their long names."""

    threads: int | None = None
    checkpoint: ShortText | None = Field(None, description="time between checkpoints, 15s by default")
    dtype: Literal["float64", "float32", "compact", "16-bit"] | None = None
    schedule: ShortText | None = None


class JobOptions(SolveOptionsRequest):
    """Options of `riverboat solve` that a job may have, by their long names."""

    boards: OptionText | None = None
    line: OptionText | None = None
    keep: Literal[True] | None = None


@options_from(solve)
class EstimateRequest(SpotSource):
    """A spot whose cost is estimated, with the number of threads and, optionally, many boards."""

    threads: int | None = None
    boards: ShortText | None = Field(None, description="many boards: all, sample:25, or a file below the data folder")


@options_from(solve)
class ProposalRequest(SpotSource):
    """A spot for which betting menus are proposed, with a time budget."""

    threads: int | None = None
    seconds: Annotated[float, Field(gt=0, le=10**7)] | None = Field(
        None, description="time budget to the target; 300 by default"
    )


class JobRequest(SpotSource, SolveOptionsRequest):
    """A spot to solve, on its board or on many."""

    name: ShortText | None = Field(None, description="name of the run; derived from the spot's name by default")
    boards: ShortText | None = Field(None, description="many boards: all, sample:25, or a file below the data folder")
    report: LineText | None = Field(None, description="with boards: the line to report, the root by default")
    keep: bool = Field(False, description="with boards: save every solution")


class NodeRequest(RequestBody):
    """A node: the name of a run or an agent, a line, and for blueprints and agents a board."""

    run: ShortText
    line: LineText = ""
    board: ShortText = ""


class SessionRequest(RequestBody):
    """The opponent, seed and seat of a new session."""

    agent: ShortText
    seed: Seed | None = None
    seat: str | None = Field(None, pattern="^(oop|ip)$")


class MoveRequest(RequestBody):
    """A move in ACPC notation: f, c, r300."""

    move: Annotated[str, Field(max_length=20)]


class TableStepRequest(RequestBody):
    """The `version` of the state that a step refers to; without one the step is taken in any state."""

    version: Annotated[int, Field(ge=0)] | None = None


class TableMoveRequest(MoveRequest, TableStepRequest):
    """A move at a table."""


class HandRequest(RequestBody):
    """The number of a finished hand, from 0."""

    hand: Annotated[int, Field(ge=0, le=10**9)]


class HistoryRequest(RequestBody):
    """A hand history: the text of a file (PHH or an ACPC log), or a file below the data folder."""

    text: Annotated[str, Field(max_length=1 << 20)] | None = None
    title: ShortText = Field("hands", description="title of the file")
    file: ShortText | None = None


class HistoryReviewRequest(HandRequest):
    """A hand of a history in which the player's cards are known, and `judge`, the reference agent."""

    player: ShortText
    judge: ShortText


class ChartBookRequest(RequestBody):
    """The charts of a source; for a solved spot those on the path to `line` and after it."""

    source: ShortText
    line: LineText = ""


class DrillRequest(RequestBody):
    """The source and options of a drill."""

    source: ShortText
    line: LineText | None = None
    seat: str | None = Field(None, pattern="^(oop|ip)$")
    only: Literal["all", "close", "mixed"] = "all"
    scope: Literal["one", "street", "end"] = "one"
    focus: bool = True
    seed: Seed | None = None


# --- Responses ---


class ErrorResponse(BaseModel):
    """Why a request failed."""

    error: str


class ServerInfo(BaseModel):
    """The server and its limits."""

    version: str
    data: str
    cores: int
    jobs_at_once: int
    memory: int = Field(description="memory limit of all jobs together, in bytes")
    most_body: int


class HandNames(BaseModel):
    """Names of hands, grid cells, and hand classes."""

    hands: list[str] = Field(description="1,326 names, such as AsKs")
    cells: list[str] = Field(description="169 names, row by row: AA, AKs, …, 22")
    cell_of_hand: list[int]
    made: list[str]
    draws: list[str]


class RangeResponse(BaseModel):
    """A range as text, weights and grid cells."""

    text: str
    weights: list[float]
    cells: list[float] = Field(description="mean weights of the hands possible on the board")
    combos: float
    percent: float


class RangePreset(BaseModel):
    """A named range."""

    group: str
    name: str
    text: str


class SpotFacts(BaseModel):
    """Name, board and chips of a spot."""

    name: str
    board: str
    pot: int
    stack: int
    notes: list[str] = Field(description="what was left out of another solver's file; locks that are never reached")


class SpotResponse(SpotFacts):
    """A valid spot."""

    spot: dict[str, Any] = Field(description="the entries of its file, as `spot` in other requests")
    text: str = Field(description="text of its file")
    player: str
    moves: list[str]
    weights: dict[str, list[float]] = Field(description="1,326 weights for oop and for ip")


class CandidateResponse(BaseModel):
    """A spot with one betting menu, and the cost of solving it."""

    spot: dict[str, Any] = Field(description="the entries of its file")
    dtype: str = Field(description="recommended table format, for `dtype` of a job")
    left_out: list[str] = Field(description="what is left out of the spot's own menu")
    infosets: int | None
    bytes: int | None = Field(description="null if the tree is too large to count")
    seconds: float | None = Field(description="estimated seconds to the target")
    fits: bool = Field(description="whether it is within the memory limit of jobs")


class ProposalResponse(SpotFacts):
    """The candidate menus of a spot, richest first, and the proposed one."""

    hands: dict[str, int] = Field(description="number of hands of oop and ip")
    memory: int = Field(description="memory limit of jobs, in bytes")
    seconds: float = Field(description="requested time budget")
    chosen: int | None = Field(description="index in `candidates`; null if none is within the memory limit")
    candidates: list[CandidateResponse]


class ExampleLine(BaseModel):
    """A frequent line of a blueprint."""

    street: str
    line: str
    board: str
    combos: dict[str, float]
    state: str = Field(description="the same as a match state")


class ExploitabilityCheck(BaseModel):
    """A row of a log: the result of an exploitability check."""

    model_config = ConfigDict(extra="allow")

    iteration: int
    seconds: float
    exploitability: float | None = None
    unit: str | None = None


class JobResponse(BaseModel):
    """A job and its state."""

    name: str
    kind: Literal["spot", "boards"]
    state: Literal["queued", "running", "stopping", "stopped", "done", "missed", "failed"]
    options: dict[str, Any]
    bytes: int
    created: float
    started: float | None
    ended: float | None
    message: str
    facts: dict[str, Any] = Field(description="properties of the spot: name, board, pot, stack")
    command: list[str] = Field(description="the equivalent command line")
    said: str = Field(description="last progress line of the command")
    last: ExploitabilityCheck | None = Field(description="the last check")
    ev: list[float | None] = Field(description="EVs of oop and ip at the last check, in chips")
    resident: int | None = Field(description="resident memory of its process in bytes, if the system reports it")
    result: dict[str, Any] | None = Field(description="output of `riverboat solve --json`")


class NodeValues(BaseModel):
    """Combinations, expected value, equity, and equity realization (EV over equity × pot); null if unknown."""

    combos: float | None = None
    ev: float | None = None
    equity: float | None = None
    eqr: float | None = None


class NodeAction(NodeValues):
    """An action at a node with its frequency and values."""

    name: str
    kind: Literal["fold", "check", "call", "bet", "raise"]
    chips: float = Field(description="chips added to the pot")
    share: float | None = Field(description="size of a bet or raise as a share of the pot")
    allin: bool
    line: str = Field(description="line after the action")
    frequency: float | None


class PathStep(BaseModel):
    """A decision or a deal on the path to a node."""

    line: str
    kind: Literal["decision", "deal", "end"]
    player: str | None
    moves: list[str]
    chosen: str | None
    locked: bool = Field(False, description="whether any hand is locked there")


class HandColumns(BaseModel):
    """Arrays over the hands of the starting range that are possible on the board."""

    index: list[int] = []
    weight: list[float] = []
    deals: list[float] = Field(default=[], description="probability of each hand, the weights of means; they sum to 1")
    ev: list[float | None] = []
    equity: list[float | None] = []
    eqr: list[float | None] = []
    strategy: list[list[float | None]] = Field(
        default=[], description="one array per action; empty for the player who does not act"
    )
    action_ev: list[list[float | None]] = []
    made: list[int] = []
    draws: list[int] = []


class NodePlayer(NodeValues):
    """A player at a node."""

    hands: HandColumns = HandColumns()


class NodeResponse(BaseModel):
    """A node of a solution, or a decision of a blueprint or an agent."""

    run: str
    line: str
    kind: Literal["decision", "deal", "end"]
    board: str
    street: str
    pot: float
    stacks: list[float] | None = None
    player: str | None = None
    played: float | None = None
    names: list[str]
    joiner: str = Field("", description="separator of two actions in a line")
    moves: list[NodeAction] = []
    cards: list[str] = []
    path: list[PathStep]
    players: dict[str, NodePlayer]
    locked: list[int] = Field([], description="hands of the player to act whose strategy is locked here")
    needs: int | None = Field(None, description="at a deal of a blueprint or an agent: number of board cards to give")


class TableColumn(BaseModel):
    """A column of a table: `share` is 0 to 1, `chips` is in chips."""

    name: str
    title: str
    kind: Literal["text", "prose", "figure", "share", "chips", "count"]


class TableResponse(BaseModel):
    """A report table; the first column names the row, and a last row `all` contains means."""

    title: str
    columns: list[TableColumn]
    rows: list[list[str | float | None]]


class ReviewResponse(BaseModel):
    """The state and result of a hand review. Reviews are computed one at a time, with a lower priority than play."""

    state: Literal["none", "waiting", "running", "done", "failed"] = Field(description="none: not requested yet")
    ahead: int = Field(description="reviews before it in the queue")
    review: dict[str, Any] | None = Field(description="when done: decisions with verdicts, and `ev_lost` in chips")
    error: str | None = Field(description="why it failed")


class RunResponse(BaseModel):
    """A run in the data folder."""

    name: str
    kind: Literal["solution", "blueprint", "boards", "tournament", "other"]
    game: str | None = None
    board: str | None = None
    state: str = Field(description="state of its job; running or done for others")
    running: bool
    job: bool = Field(description="whether this server can stop and resume it")
    ready: bool = Field(description="whether it can be read yet")
    changed: float
    iterations: int | None = None
    seconds: float | None = None
    exploitability: float | None = None
    unit: str | None = None


class SeriesResponse(BaseModel):
    """The log of a run as a time series."""

    name: str
    rows: list[dict[str, Any]]
    units: dict[str, str]
    memory: int | None = Field(
        default=None, description="resident memory of its process in bytes, if the system reports it"
    )
    seconds_left: float | None
    snapshots: list[str] = Field(
        default=[], description="snapshots of a training run; each is a run, NAME/snapshots/NUMBER"
    )


# --- Spots: estimates ---


class EstimateResponse(BaseModel):
    """The estimated cost of a solve, as `riverboat solve --estimate --json` prints it."""

    solves: int = Field(description="number of boards")
    game: str
    streets: list[dict[str, Any]]
    infosets: int
    infoset_actions: int
    bytes_32: int
    bytes_16: int
    bytes: dict[str, int] = Field(description="memory by table format")
    bytes_tree: int
    schedule: str
    seconds_per_iteration: float
    iterations_to_target: Number
    seconds_to_target: float
    target_pct: float
    threads: int
    seconds_are: str
    menus: list[dict[str, Any]]


class EquityGraphs(RootModel[dict[str, list[tuple[float | None, float | None]]]]):
    """Equity graphs of oop and ip: points (share of the range with less equity, equity)."""


# --- Play and hand histories ---


class OpponentResponse(BaseModel):
    """An opponent of sessions."""

    name: str
    kind: str = Field(description="blueprint, search, spot, tournament or yardstick")
    about: str


class SessionSummary(BaseModel):
    """A stored session."""

    name: str
    changed: float
    agent: str
    game: str
    hands: int


class TableAction(BaseModel):
    """An action at a table, also in words."""

    move: str
    words: str


class TableBet(TableAction):
    """A bet or raise of a common size."""

    name: str


class TableRaises(BaseModel):
    """Range of legal raises; totals include the chips of earlier streets, `before`."""

    least: int
    most: int
    before: int


class PublicEvent(BaseModel):
    """A deal, or a showdown."""

    kind: str
    street: str
    pot: Number


class ActionEvent(TableAction, PublicEvent):
    """An action of a player."""

    you: bool


class ResultEvent(PublicEvent):
    """The end of a hand."""

    won: Number


class SessionState(BaseModel):
    """The state of a table as its player sees it."""

    agent: str
    game: str
    hand: int
    seat: int
    hole: list[str]
    board: list[str]
    line: str
    pot: Number
    to_call: int
    legal: list[str]
    over: bool
    shown: list[str] | None = Field(description="hole cards of the agent at a showdown")
    hands: int
    won: Number
    unit: str
    seed: int
    name: str
    version: int
    street: str
    streets: list[str]
    seats: list[str]
    behind: list[int] | None
    bets: list[int]
    big_blind: int | None
    moves: list[TableAction]
    raises: TableRaises | None = Field(alias="raise")
    sizes: list[TableBet]
    history: list[Annotated[ActionEvent | ResultEvent | PublicEvent, Field(union_mode="left_to_right")]]
    result: Number | None
    phh: bool = Field(description="whether the hands can be exported as PHH")
    you: int


class MeanResponse(BaseModel):
    """A mean and the half-width of its 95 % interval."""

    mean: float
    ci95: float


class SessionResultsResponse(BaseModel):
    """The results of a session."""

    hands: int
    won: Number
    unit: str
    won_unit: str
    raw: MeanResponse | None
    all_in: MeanResponse | None
    aivat: MeanResponse | None
    why_no_aivat: str | None


class HistorySummary(BaseModel):
    """A stored hand history."""

    name: str
    changed: float
    kind: str


class HistoryPlayer(BaseModel):
    """A player of a hand history; `seen` is the number of hands in which its cards are known."""

    name: str
    hands: int
    seen: int


class RejectedHands(BaseModel):
    """Hands that were rejected for one reason."""

    why: str
    hands: int
    where: list[str]


class HistoryResponse(BaseModel):
    """The contents of a hand history."""

    name: str
    hands: int
    scale: int
    players: list[HistoryPlayer]
    refused: list[RejectedHands]


class HandSummary(BaseModel):
    """A hand as one player saw it: its cards, the line, and the chips won."""

    hand: int
    number: int
    hole: str
    board: str
    line: str
    won: Number | None
    seat: int


class HandListResponse(BaseModel):
    """The hands in which a player's cards are known; `left_out` counts those beyond the limit of a response."""

    player: str
    hands: list[HandSummary]
    left_out: int
    unit: str


# --- Charts and drills ---


class ChartSummary(BaseModel):
    """A chart without its cells."""

    line: str
    who: str
    title: str
    reached: float | None
    moves: list[str]
    colours: dict[str, str]
    totals: dict[str, float]


class ChartBookResponse(BaseModel):
    """All charts of a source."""

    source: str
    charts: list[ChartSummary]
    state: str | None = Field(description="state of a tournament")
    states: list[str]


class ChartResponse(ChartSummary):
    """A chart with its 169 cells."""

    source: str
    weight: list[float]
    strategy: dict[str, list[float]]
    cells: list[str]


class ChartDifference(BaseModel):
    """The second chart minus the first, by action and cell; `apart`: total variation distance of each cell."""

    lines: list[str]
    moves: list[str]
    change: dict[str, list[float]]
    apart: list[float]
    mean: float
    cells: list[str]


class QuestionResponse(BaseModel):
    """A question of a drill, without its answer."""

    hole: str
    board: str
    line: str
    seat: str
    street: str
    pot: Number
    behind: Number
    to_call: Number
    moves: list[str]
    words: list[str]
    number: int
    kinds: dict[str, str]
    unit: str


class DrillResponse(BaseModel):
    """A drill: its current question, and `total`, the EV lost so far."""

    name: str
    source: str
    answers: int
    total: Number
    percent: float | None
    question: QuestionResponse | None


class VerdictOptionResponse(BaseModel):
    """An available action; `sure` tells whether its EV is reliable."""

    move: str
    probability: Number
    ev: Number | None
    sure: bool


class VerdictResponse(BaseModel):
    """The verdict on a decision."""

    options: list[VerdictOptionResponse]
    best: str | None
    mixed: bool
    close: bool
    source: str
    pot: Number
    agent: dict[str, float] | None
    unit: str
    share_of: str


class GradeResponse(BaseModel):
    """The grade of an answer: EV lost, the action that `number` stands for, the verdict, and totals of the drill."""

    move: str
    lost: Number
    percent: float
    units: dict[str, str]
    number: int
    stands_for: str
    followed: bool | None
    verdict: VerdictResponse
    answers: int
    total: Number


class AnswerGroupResponse(BaseModel):
    """Answers to questions of one kind: their number, total EV lost, and mean EV lost in % of the pot."""

    name: str
    answers: int
    lost: Number
    percent: float


class DrillRecordResponse(BaseModel):
    """All answers: totals, groups, and the development over time."""

    answers: int
    lost: Number
    percent: float | None
    units: dict[str, str]
    mixed: int
    followed: int
    where: dict[str, list[AnswerGroupResponse]]
    over_time: list[AnswerGroupResponse]
