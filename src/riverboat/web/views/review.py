"""Reviews as the page draws them: words for moves, and for each decision what opens its spot in Study."""

from __future__ import annotations

from typing import Any

from riverboat.api.play import described
from riverboat.cards.notation import parse_board
from riverboat.core.errors import RiverboatError
from riverboat.formats import spot_file
from riverboat.games.holdem.betting import Betting
from riverboat.practice.evaluators import FLOOR, Judge, SolutionJudge, TableJudge
from riverboat.practice.reviews import HandReview
from riverboat.practice.table_conversion import inside


def told_review(review: HandReview, agent: str, judge: Judge) -> dict[str, Any]:
    """A review by an agent, as its reader names it."""
    told = review.to_dict()
    for row in told["decisions"]:
        state = Betting.from_line(review.hand.end.rules, row["line"])
        row["words"] = described(row["move"], state)
        if row["verdict"] is not None:
            for option in row["verdict"]["options"]:
                option["words"] = described(option["move"], state)
            played = row["verdict"]["agent"]
            row["verdict"]["agent_words"] = played and {described(move, state): p for move, p in played.items()}
        row["study"] = _study(state, row, agent, judge)
    return told


def _study(state: Betting, row: dict[str, Any], agent: str, judge: Judge) -> dict[str, Any] | None:
    """A node of a run, a line of an agent, or a whole spot where the table is not the agent's."""
    board = parse_board(row["board"]) if row["board"] else ()
    try:
        if isinstance(judge, SolutionJudge):
            there = inside(state, board, judge.agent)
            return {"run": agent, "line": judge.agent.line(there.state, board)}
        if state.street == 0 or not isinstance(judge, TableJudge):
            return None
        if judge.played_as(state, board) is state:
            return {"source": {"line": state.line, "board": row["board"], "agent": agent, "floor": FLOOR}}
        return {"source": {"text": spot_file.dumps(judge.spot(state, board, row["move"]))}}
    except RiverboatError:  # nothing to study there: the review says why
        return None
