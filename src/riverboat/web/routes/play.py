"""Routes for play: sessions, moves, results, reviews, and hand histories."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from riverboat.api.agent import DEFAULT, DEMO, agent_folder, baseline_descriptions
from riverboat.api.play import PlayTable, describe_action
from riverboat.cards.notation import format_cards
from riverboat.core.cancellation import check_cancellation
from riverboat.core.errors import InputError, RiverboatError
from riverboat.formats import spot_file
from riverboat.formats.hand_files import format_phhs
from riverboat.formats.phh import is_holdem
from riverboat.games.holdem.betting import BettingState, RaiseRange
from riverboat.games.holdem.menus import SEATS
from riverboat.practice import evaluators
from riverboat.practice.evaluators import DecisionEvaluator, SolutionEvaluator, TableEvaluator
from riverboat.practice.reviews import DecisionReview, HandReview, PlayedHand, review_hand
from riverboat.practice.session import session_results
from riverboat.web import models
from riverboat.web.practice import OpenSession, PracticeService
from riverboat.web.runs import list_runs
from riverboat.web.server import Server
from riverboat.web.solutions import hold_solution_lock
from riverboat.web.specs import parse_agent_spec, require_cheap

# --- Reviews: moves in words, and a link to Study for each decision ---


def review_to_dict(review: HandReview, agent: str, judge: DecisionEvaluator) -> dict[str, Any]:
    """Return a review as JSON, with actions in words and a link to the Study view for each decision.

    `agent`: spec of the reference agent, as in the request; `judge`: its evaluator.
    """
    fields = review.to_dict()
    for row, decision in zip(fields["decisions"], review.decisions, strict=True):
        state = decision.state
        row["words"] = describe_action(decision.move, state)
        if row["verdict"] is not None:
            for option in row["verdict"]["options"]:
                option["words"] = describe_action(option["move"], state)
            mix = row["verdict"]["agent"]
            row["verdict"]["agent_words"] = mix and {describe_action(move, state): p for move, p in mix.items()}
        row["study"] = _study_source(decision, agent, judge)
    return fields


def _study_source(decision: DecisionReview, agent: str, judge: DecisionEvaluator) -> dict[str, Any] | None:
    """Return what the Study view opens for a decision: a run and line, or the source of a spot; None if nothing fits.

    The source is a line of the agent, or the text of a spot file if the agent's game or tree lacks the line.
    """
    state, board = decision.state, decision.board
    try:
        if isinstance(judge, SolutionEvaluator):
            spot_state = evaluators.convert_to_spot(state, board, judge.agent)
            return {"run": agent, "line": judge.agent.solution_line(spot_state.state, board)}
        if state.street == 0 or not isinstance(judge, TableEvaluator):
            return None
        if judge.translated_state(state, board) is state:
            floor = evaluators.RANGE_FLOOR
            return {"source": {"line": state.line, "board": format_cards(board), "agent": agent, "floor": floor}}
        return {"source": {"text": spot_file.dumps(judge.spot(state, board, decision.action))}}
    except RiverboatError:  # nothing to study; the review contains the reason
        return None


POT_SHARES = ((1 / 3, "⅓ pot"), (1 / 2, "½ pot"), (3 / 4, "¾ pot"), (1.0, "pot"), (3 / 2, "1½ pot"))


class StaleStateError(RiverboatError):
    """A step refers to an outdated state of the table; `state` is the current one."""

    def __init__(self, message: str, state: dict[str, Any]) -> None:
        super().__init__(message)
        self.state = state


def play_routes(server: Server) -> APIRouter:
    """Return the routes for sessions."""
    router, practice = APIRouter(tags=["play"], prefix="/play"), server.practice

    @router.get("/agents")
    async def agents() -> list[models.OpponentResponse]:
        """Return the opponents: the demo, blueprints and solved spots of the data folder, and baseline agents.

        Tournaments have charts and drills only.
        """
        return await server.compute(lambda: list_opponents(server))

    @router.get("/sittings", response_model=list[models.SessionSummary])
    async def sittings() -> list[dict[str, Any]]:
        """Return all stored sessions, the latest first."""
        return await server.compute(practice.list_sessions)

    async def opened(name: str, *, cheap: bool = True) -> OpenSession:
        """Return a session with its state, opened if needed.

        `cheap`: raise CostlyError instead of opening a session whose agent searches, so that a link cannot start it.
        """
        # a session without a state is open, but its first state is not computed yet
        while (session := practice.find_open_session(name)) is None or not session.state:
            if cheap and session is None:
                require_cheap(practice.data, practice.session_agent(name))
            await server.play(lambda: refresh_state(practice.open_session(name)))
        return session

    @router.post("/sittings", status_code=201, response_model=models.SessionState)
    async def begin(body: models.SessionRequest) -> dict[str, Any]:
        """Begin a session and deal the first hand."""
        seat = None if body.seat is None else SEATS.index(body.seat)
        return (await server.play(lambda: refresh_state(practice.begin_session(body.agent, body.seed, seat)))).state

    @router.get("/sittings/{name}", response_model=models.SessionState)
    async def look(name: str) -> dict[str, Any]:
        """Return the current state of the table."""
        return (await opened(name)).state

    @router.post("/sittings/{name}/open", response_model=models.SessionState)
    async def reopen(name: str) -> dict[str, Any]:
        """Return the state of a session, also with an agent that searches after a restart of the server."""
        return (await opened(name, cheap=False)).state

    @router.post("/sittings/{name}/move", response_model=models.SessionState)
    async def move(name: str, body: models.TableMoveRequest) -> dict[str, Any]:
        """Make a move; the agent responds. Returns 409 with the current state if `version` is outdated."""
        return await server.play(lambda: take_step(practice.open_session(name), body.version, body.move))

    @router.post("/sittings/{name}/deal", response_model=models.SessionState)
    async def deal(name: str, body: models.TableStepRequest | None = None) -> dict[str, Any]:
        """Deal the next hand; `version` as for a move."""
        version = None if body is None else body.version
        return await server.play(lambda: take_step(practice.open_session(name), version, None))

    @router.get("/sittings/{name}/results", response_model=models.SessionResultsResponse)
    async def raw_results(name: str) -> dict[str, Any]:
        """Return the winnings as played, and with all-ins before the last card replaced by their expected value."""
        finished = (await opened(name)).session.finished
        return await server.compute(lambda: session_results(finished, None).to_dict())

    @router.post("/sittings/{name}/results", response_model=models.SessionResultsResponse)
    async def luckless_results(name: str) -> dict[str, Any]:
        """Return the winnings also as an AIVAT estimate; the first use of an agent may compute values for minutes."""
        session = await opened(name, cheap=False)

        def work() -> dict[str, Any]:
            agent = practice.agent(session.agent, session.session.table.seed, "values")
            with hold_solution_lock(agent):
                return session_results(session.session.finished, agent, lambda share: check_cancellation()).to_dict()

        return await server.compute_costly(work)

    @router.get("/sittings/{name}/review", response_model=models.ReviewResponse)
    async def review(name: str, hand: Annotated[int, Query(ge=0, le=10**9)]) -> dict[str, Any]:
        """Return the state of a hand's review, and its decisions when it is done; starts nothing."""
        practice.session_agent(name)  # raises if there is none
        return server.reviews.status(f"sitting/{name}", hand)

    @router.post("/sittings/{name}/review", response_model=models.ReviewResponse)
    async def ask_review(name: str, body: models.HandRequest) -> dict[str, Any]:
        """Queue the review of a finished hand: the options and the EV lost of each decision."""
        session = await opened(name, cheap=False)
        hand = session.session.finished.hand(body.hand)  # an immutable value, unaffected by play
        work = partial(review_by_agent, practice, hand, session.agent)
        return server.reviews.request(f"sitting/{name}", body.hand, work)

    @router.delete("/sittings/{name}/reviews", status_code=204)
    async def cancel_reviews(name: str) -> None:
        """Cancel pending reviews, because the player has left the table."""
        server.reviews.cancel(f"sitting/{name}")

    @router.get("/sittings/{name}/hands.phhs", response_class=Response)
    async def hands(name: str) -> Response:
        """Return the finished hands of a session as a PHH file."""
        finished = (await opened(name)).session.finished
        text = await server.compute(lambda: format_phhs(finished.record()))
        headers = {"content-disposition": f'attachment; filename="{name}.phhs"'}
        return Response(text, media_type="text/plain; charset=utf-8", headers=headers)

    @router.delete("/sittings/{name}", status_code=204)
    async def leave(name: str) -> None:
        """Delete a session and cancel its reviews."""
        await server.play(lambda: practice.delete_session(name))
        server.reviews.forget(f"sitting/{name}")

    return router


def list_opponents(server: Server) -> list[models.OpponentResponse]:
    """Return the agents that a session can be played against, with kind and description."""
    opponents = []
    for name, origin in ((DEFAULT, "comes with Riverboat"), (DEMO, "riverboat demo builds")):
        if name == DEFAULT or agent_folder(name).is_dir():
            about = f"the blueprint that {origin}"
            later = "the same with search from the turn on: half a second per move, at most one"
            opponents += [
                (name, "blueprint", about),
                (f"{name}?search=river", "search", f"{about}, with search on the river"),
                (f"{name}?search=turn", "search", later),
            ]
    for run in list_runs(server.data, server.jobs):
        if run.ready and run.kind == "solution" and run.board:
            opponents.append((run.name, "spot", f"solved spot on {run.board}"))
        elif run.ready and run.kind in ("blueprint", "tournament"):
            opponents.append((run.name, run.kind, f"{'blueprint of ' * (run.kind == 'blueprint')}{run.game}"))
    opponents += [(name, "yardstick", about) for name, about in baseline_descriptions().items()]
    return [models.OpponentResponse(name=name, kind=kind, about=about) for name, kind, about in opponents]


def take_step(session: OpenSession, version: int | None, move: str | None) -> dict[str, Any]:
    """Make a move, or deal if `move` is None; return the new state for the page.

    Raise StaleStateError if `version` is not that of the current state; None accepts any.
    """
    with session.lock, hold_solution_lock(session.session.table.agent):
        now = session.session.table.version
        if version is not None and version != now:
            session.state = _session_state(session)
            raise StaleStateError(
                f"this session was continued in another window (version {now}, not {version}); showing its current state",
                session.state,
            )
        if move is None:
            session.session.deal()
        else:
            session.session.act(move)
        session.state = _session_state(session)
        return session.state


def refresh_state(session: OpenSession) -> OpenSession:
    """Compute and store the state that the player sees, as JSON fields; return the session."""
    with session.lock, hold_solution_lock(session.session.table.agent):
        session.state = _session_state(session)
    return session


def _session_state(session: OpenSession) -> dict[str, Any]:
    table = session.session.table
    state = table.state
    span = None if table.over or table.rules.begins or table.rules.limit else state.raise_range()
    labels = [label for label in table.legal() if " to " not in label]  # without the range of raises
    return table.to_dict() | {
        "name": session.name,
        "agent": session.agent,
        "version": table.version,
        "street": table.rules.streets[state.street],
        "streets": list(table.rules.streets[table.rules.begins :]),
        "seats": list(SEATS),
        "behind": None if table.rules.stacks is None else list(state.behind),
        "bets": [spent - state.committed_before_street for spent in state.spent],
        "big_blind": table.rules.big_blind or None,
        "moves": [{"move": label, "words": describe_action(label, state)} for label in labels],
        "raise": None if span is None else {**span._asdict(), "before": state.committed_before_street},
        "sizes": [] if span is None else bet_sizes_to_dicts(state, span),
        "history": history_rows(table),
        "result": next((event.won for event in table.events if event.kind == "won"), None),
        "phh": is_holdem(table.rules),
        "you": table.seat,
    }


def bet_sizes_to_dicts(state: BettingState, span: RaiseRange) -> list[dict[str, Any]]:
    """Return the raises that the page offers, smallest, shares of the pot and all-in, as legal and distinct sizes."""
    high = max(state.spent)
    pot = state.pot + state.to_call
    by_share = [(round(high + share * pot), name) for share, name in POT_SHARES]
    names: dict[int, str] = {}
    for total, name in ((span.least, "min"), *by_share, (span.most, "all-in")):
        legal_total = min(max(total, span.least), span.most)
        names.setdefault(legal_total, "all-in" if legal_total == span.most else name)
    moves = {f"r{total}": name for total, name in names.items()}
    return [{"move": move, "name": name, "words": describe_action(move, state)} for move, name in moves.items()]


def history_rows(table: PlayTable) -> list[dict[str, Any]]:
    """Return the public events of the current hand as JSON rows: deals, actions, showdown, result."""
    rows: list[dict[str, Any]] = []
    for event in table.events:
        state = event.state
        row: dict[str, Any] = {"kind": event.kind, "street": table.rules.streets[state.street], "pot": state.pot}
        if event.kind == "move":
            row |= {"you": event.who == table.seat, "move": event.move, "words": describe_action(event.move, state)}
        elif event.kind == "won":
            row["won"] = event.won
        rows.append(row)
    return rows


def review_by_agent(desk: PracticeService, hand: PlayedHand, agent: str) -> dict[str, Any]:
    """Review a finished hand with an agent as reference, for the page."""
    judge = desk.judge(agent)
    with hold_solution_lock(judge):
        return review_to_dict(review_hand(judge, hand), agent, judge)


# --- Hand histories: files, players, hands and reviews ---

PlayerQuery = Annotated[str, Query(max_length=200)]


def history_routes(server: Server) -> APIRouter:
    """Return the routes for hand histories."""
    router, practice = APIRouter(tags=["play"], prefix="/play/histories"), server.practice
    histories = practice.histories

    @router.get("", response_model=list[models.HistorySummary])
    async def listed() -> list[dict[str, Any]]:
        """Return all stored hand histories, the latest first."""
        return await server.compute(histories.list_histories)

    @router.post("", status_code=201, response_model=models.HistoryResponse)
    async def keep(body: models.HistoryRequest) -> dict[str, Any]:
        """Store a hand history; return its players and rejected hands."""

        def work() -> dict[str, Any]:
            if (body.text is None) == (body.file is None):
                raise InputError("give either text or file")
            if body.file is not None:
                return histories.describe(histories.add_file(body.file))
            return histories.describe(histories.add_text(body.text or "", body.title))

        return await server.write(work)

    @router.get("/{name}", response_model=models.HistoryResponse)
    async def look(name: str) -> dict[str, Any]:
        """Return the players of a hand history, the number of its hands, and those rejected, by reason."""
        return await server.compute(lambda: histories.describe(name))

    @router.get("/{name}/hands", response_model=models.HandListResponse)
    async def hands(name: str, player: PlayerQuery) -> dict[str, Any]:
        """Return the hands in which a player's cards are known."""
        return await server.compute(lambda: histories.list_hands(name, player))

    @router.get("/{name}/review", response_model=models.ReviewResponse)
    async def review(
        name: str, player: PlayerQuery, judge: PlayerQuery, hand: Annotated[int, Query(ge=0, le=10**9)]
    ) -> dict[str, Any]:
        """Return the state of a hand's review, and its decisions when it is done; starts nothing."""
        return server.reviews.status(f"history/{name}", (player, judge, hand))

    @router.post("/{name}/review", response_model=models.ReviewResponse)
    async def ask_review(name: str, body: models.HistoryReviewRequest) -> dict[str, Any]:
        """Queue the review of a hand with an agent as reference."""
        parse_agent_spec(body.judge, server.data)  # raises if there is none
        hand = await server.compute(lambda: histories.hand(name, body.player, body.hand))
        key = body.player, body.judge, body.hand
        work = partial(review_by_agent, practice, hand, body.judge)
        return server.reviews.request(f"history/{name}", key, work)

    @router.delete("/{name}/reviews", status_code=204)
    async def cancel_reviews(name: str) -> None:
        """Cancel pending reviews, because nobody looks at these hands any more."""
        server.reviews.cancel(f"history/{name}")

    @router.delete("/{name}", status_code=204)
    async def remove(name: str) -> None:
        """Delete a hand history and cancel its reviews."""
        await server.write(lambda: histories.remove(name))
        server.reviews.forget(f"history/{name}")

    return router
