"""Hands of other tables: the same place at the table of whoever judges, and hands of a spot as whole ones.

    there = read_at(state, agent.rules)      # a hand at 1/2 with 100 big blinds, at the agent's 50/100 with 200
    there.state, there.scale
    whole(end)                               # a hand of a spot as files write hands

An agent knows one game: its blinds and its stacks. A hand that was played for other amounts is read there with all amounts in
big blinds; one that comes to the street of a solved spot is read there with all amounts as shares of the pot.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from riverboat.agents.base import refuse_rules
from riverboat.core.errors import InputError, shown
from riverboat.games.holdem.betting import Betting, steps
from riverboat.games.holdem.rules import NO_RAKE, Rules
from riverboat.practice.verdicts import Option, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from riverboat.agents.spot_solution import SolutionAgent

CLOSE = 0.02  # how far stacks may be from those of a spot, as a share of the pot: amounts are whole chips


@dataclass(frozen=True)
class Reading:
    """A state as another table has it."""

    state: Betting
    scale: float = 1.0  # chips there for one chip here


# --- agents of whole games ----------------------------------------------------------------------


def read_at(state: Betting, rules: Rules, name: str = "judge") -> Reading:
    """The same place at a table with other blinds and stacks; refused where the games differ in more than that."""
    here = state.rules
    if here == rules:
        return Reading(state)
    alike = here.limit == rules.limit and here.big_blind > 0
    if alike:
        alike = replace(here, blinds=rules.blinds, stacks=rules.stacks, raise_sizes=rules.raise_sizes) == rules
    if not alike or here.blinds[0] * rules.blinds[1] != here.blinds[1] * rules.blinds[0]:
        refuse_rules(name, rules, here)
    scale = rules.big_blind / here.big_blind
    now = Betting.start(rules)
    for label in steps(state.line):
        if label == "/":
            now = now.next_street()
            continue
        span, move = now.raise_range(), label
        if now.actor < 0 or (label[0] == "r" and span is None):
            break
        if label[0] == "r" and not rules.limit and span is not None:
            move = f"r{min(max(round(int(label[1:]) * scale), span.least), span.most)}"
        now = now.play(move)
    else:
        if now.actor == state.actor:
            return Reading(now, scale)
    raise InputError(f"line {shown(state.line)}: deeper than the {_depth(rules)} big blinds of {name}")


def _depth(rules: Rules) -> str:
    return f"{rules.stack / rules.big_blind:g}"


def returned(verdict: Verdict, state: Betting, there: Reading) -> Verdict:
    """A verdict of another table in the amounts of this one: moves that come out alike are one, the likeliest values it."""
    if there.scale == 1.0 and there.state.rules == state.rules:
        return verdict
    merged: dict[str, Option] = {}
    for option in verdict.options:
        move = _move(option.move, state, there.scale)
        ev = None if option.ev is None else option.ev / there.scale
        before = merged.get(move)
        if before is not None:
            ev = before.ev if before.probability > option.probability else ev
        merged[move] = Option(move, option.probability + (0.0 if before is None else before.probability), ev)
    source = f"{verdict.source} at {_depth(there.state.rules)} big blinds"
    return replace(verdict, options=tuple(merged.values()), source=source, pot=verdict.pot / there.scale)


def _move(label: str, state: Betting, scale: float) -> str:
    span = state.raise_range()
    if label[0] != "r" or state.rules.limit or span is None:
        return label if span is not None or label[0] != "r" else "c"
    return f"r{min(max(round(int(label[1:]) / scale), span.least), span.most)}"


# --- solved spots -------------------------------------------------------------------------------


def inside(state: Betting, board: Sequence[int], agent: SolutionAgent) -> Reading:
    """A state of a whole hand as one of a spot: the hand must come to the spot's street with its board, and with its stacks
    as shares of the pot."""
    rules, spot = agent.rules, agent.spot
    if state.rules == rules:
        return Reading(state)
    if state.street < rules.begins:
        raise InputError(f"line {shown(state.line)}: before the {rules.streets[rules.begins]}, where the spot begins")
    cut = [k for k, letter in enumerate(state.line) if letter == "/"][rules.begins - 1] + 1
    root = Betting.from_line(state.rules, state.line[:cut])
    scale = spot.rules.pot / root.pot
    behind = [scale * chips for chips in root.behind]
    if tuple(board[: len(spot.board)]) != spot.board or any(
        abs(mine - theirs) > CLOSE * spot.rules.pot for mine, theirs in zip(behind, rules.stacks or (), strict=True)
    ):
        raise InputError(f"agent {agent.name!r}: its spot has another board, or other stacks behind its pot")
    now, before = Betting.start(rules), root.before
    for label in steps(state.line[cut:]):
        if label == "/":
            now = now.next_street()
            continue
        menu = agent.menu(now, board)
        move = label
        if label[0] == "r" and not rules.limit:
            wanted = scale * (int(label[1:]) - before)
            move = min(menu, key=lambda known: abs(int(known[1:]) - wanted) if known[0] == "r" else 1e300)
            if move[0] != "r" or abs(int(move[1:]) - wanted) > CLOSE * spot.rules.pot:
                raise InputError(f"{label!r} at {state.line!r}: not in the tree of {agent.name}: {', '.join(menu)}")
        now = now.play(move)
    return Reading(now, scale)


def whole(end: Betting) -> tuple[Betting, int]:
    """A hand of a spot as files have them, and how many chips it has for one of the spot's.

    The pot is an ante of both players, half of it each, and every street before the spot is two checks: the same chips lie in
    the middle and behind, and all moves since are what they were. A pot that is no even number counts in half chips.
    """
    rules = end.rules
    scale = 1 + rules.pot % 2
    ante, stacks = rules.pot * scale // 2, rules.stacks
    assert stacks is not None  # spots have some
    whole_rules = replace(
        rules, blinds=(0, 0), ante=ante, pot=0, stacks=(stacks[0] * scale + ante, stacks[1] * scale + ante), begins=0,
        raise_sizes=tuple(size * scale for size in rules.raise_sizes), least_bet=rules.book.least_bet * scale,
        first=(0,) * rules.rounds, rake=NO_RAKE, name=f"{rules.name}, as a whole hand",
    )  # fmt: skip
    line = "cc/" * rules.begins
    for label in steps(end.line):
        line += f"r{int(label[1:]) * scale + ante}" if label[0] == "r" and label != "r" else label
    return Betting.from_line(whole_rules, line), scale
