"""Ignition, Bovada and Bodog: anonymous tables, where players are named by their positions and all cards are shown."""

from __future__ import annotations

import re

from riverboat.formats.sites.draft import HandDraft
from riverboat.formats.sites.lines import (
    CHIPS,
    SHOWN,
    LineFormat,
    collect,
    deal_board,
    read_stakes,
    require_holdem,
    return_uncalled,
    rule,
)
from riverboat.formats.sites.text import MONEY, amount, read_cards

NAME = r"(?P<name>[^:\[\]]+?) *(?P<me>\[ME\])? : "


def _header(draft: HandDraft, found: re.Match[str], text: str) -> None:
    draft.number, draft.site = found["number"], found["site"]
    table = re.search(r"(?:TBL#|Table:? ?#?)(\d+)", text)
    draft.table = table[1] if table is not None else ""
    require_holdem(draft, text)
    read_stakes(draft, text)
    tournament = re.search(r"Tournament #(\d+)", text)
    level = re.search(r"Level \d+ \((\d+)/(\d+)\)", text)
    draft.big_blind = amount(level[2]) if level is not None else 0  # cash games: the blinds that are posted
    draft.currency = "" if tournament is not None else "USD"
    draft.tournament = tournament[1] if tournament is not None else ""


def _seat(draft: HandDraft, found: re.Match[str]) -> None:
    name = found["name"].strip()
    draft.seat(int(found["seat"]), name, amount(found["chips"]))
    if found["me"]:
        draft.hero = name


def _cards(draft: HandDraft, found: re.Match[str]) -> None:
    draft.show(found["name"], read_cards(found["cards"]), hero=bool(found["me"]))


def _act(draft: HandDraft, found: re.Match[str]) -> None:
    name, verb = found["name"], found["verb"].lower()
    if verb.startswith("fold"):
        draft.act("fold", name)
    elif verb.startswith("check"):
        draft.act("check", name)
    elif found["to"]:
        draft.act("to", name, amount(found["to"]), all_in="all-in" in verb)
    elif verb.startswith("call"):
        draft.act("call", name, amount(found["chips"]))
    else:
        draft.act("add", name, amount(found["chips"]), all_in="all-in" in verb)


def _post(draft: HandDraft, found: re.Match[str]) -> None:
    name, what, chips = found["name"], found["what"].lower(), amount(found["chips"])
    if what.startswith("ante"):
        draft.post_ante(name, chips)
    elif what.startswith("posts dead"):
        draft.post_dead(name, chips)
    else:
        draft.post_blind(name, chips, "small" if "small" in what else "big" if "big" in what else "post")


IGNITION = LineFormat(
    "Ignition",
    re.compile(r"(?P<site>Ignition|Bovada|Bodog(?:\.eu|\.com)?) Hand #(?P<number>\d+)(?P<rest>.*)"),
    _header,
    (
        rule(
            rf"{NAME}(?P<verb>Folds|Checks|Calls|Call|Bets|Raises|All-in\(raise\)|All-in)"
            r"(?: ?\((?:timeout|disconnect|auth)\))?"
            rf"(?: {CHIPS})?(?: to (?P<to>{MONEY}))?$",
            _act,
        ),
        rule(rf"{NAME}(?P<what>Small Blind|Big blind|Ante chip|Ante|Posts dead chip|Posts chip) {CHIPS}$", _post),
        rule(r"Dealer *(?:\[ME\])? : Set dealer(?: \[(?P<button>\d+)\])?", lambda d, m: _button(d, m)),
        rule(rf"{NAME}Card dealt to a spot {SHOWN}", _cards),
        rule(
            rf"{NAME}Return uncalled portion of bet {CHIPS}", return_uncalled
        ),
        rule(
            rf"{NAME}Hand [Rr]esult(?:-Side [Pp]ot)? {CHIPS}", collect
        ),
        rule(r"\*\*\* (?:FLOP|TURN|RIVER) \*\*\* (?P<cards>.*)", deal_board),
        rule(rf"Seat (?P<seat>\d+): (?P<name>.+?) *(?P<me>\[ME\])? \({CHIPS} in chips\)", _seat),
    ),
    (rule(rf"Total Pot\((?P<pot>{MONEY})\)", lambda d, m: setattr(d, "pot", amount(m["pot"]))),),
    end=("Total Pot",),
)  # fmt: skip


def _button(draft: HandDraft, found: re.Match[str]) -> None:
    number = found["button"]
    draft.button = int(number) if number else draft.seats.get("Dealer", -1)
