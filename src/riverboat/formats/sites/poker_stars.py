"""PokerStars and the sites whose histories have its form: GGPoker, home games, Zoom and Rush tables."""

from __future__ import annotations

import re

from riverboat.formats.sites.draft import OTHER_GAME, HandDraft
from riverboat.formats.sites.languages import to_english
from riverboat.formats.sites.lines import (
    CHIPS,
    NAME,
    SHOWN,
    LineFormat,
    collect,
    deal_board,
    read_stakes,
    require_holdem,
    return_uncalled,
    rule,
    set_button,
    show,
    show_own,
    skip,
)
from riverboat.formats.sites.text import MONEY, amount, read_cards

START = re.compile(
    r"(?P<site>PokerStars|Poker)(?: Zoom| Home)?(?: Game)? (?:Hand|Game) #(?P<number>[A-Z]{0,4}[0-9]+): *(?P<rest>.*)"
)
_TOURNAMENT = re.compile(r"Tournament #([0-9]+)")
_LEVEL = re.compile(rf"Level ?[IVXLC0-9]* ?\(({MONEY})/({MONEY})(?:\(({MONEY})\))?\)")
_CAP = re.compile(rf"({MONEY}) Cap")
ALL_IN = r"(?P<all> and is all-in| and has reached the .* cap)?"


def _header(draft: HandDraft, found: re.Match[str], text: str) -> None:
    draft.number = found["number"]
    if found["site"] == "Poker":
        draft.site = "GGPoker"
    rest = found["rest"]
    require_holdem(draft, rest)
    tournament, level, cap = _TOURNAMENT.search(rest), _LEVEL.search(rest), _CAP.search(rest)
    if tournament is not None:
        draft.tournament = tournament[1]
        if level is None:
            raise draft.fail(OTHER_GAME, "a tournament without a level")
        read_stakes(draft, rest)
        draft.big_blind, draft.currency = amount(level[2]), ""
        return
    read_stakes(draft, rest)
    if cap is not None:
        draft.cap = amount(cap[1])


def _post(draft: HandDraft, found: re.Match[str]) -> None:
    name, what, chips = found["name"], found["what"].lower(), amount(found["chips"])
    both = found["all"] is not None
    if both:
        draft.all_in.add(name)
    if "ante" in what:
        draft.post_ante(name, chips)
    elif "&" in what:  # small and big blind together: the small one is dead
        draft.post_blind(name, min(chips, draft.big_blind), "post")
        draft.post_dead(name, max(chips - draft.big_blind, 0))
    elif "straddle" in what:
        draft.post_blind(name, chips, "straddle")
    elif "dead" in what or "missed" in what:
        draft.post_dead(name, chips)
    else:
        draft.post_blind(name, chips, "small" if "small" in what else "big" if "big" in what else "post")


def _act(draft: HandDraft, found: re.Match[str]) -> None:
    name, verb, all_in = found["name"], found["verb"], found["all"] is not None
    if verb in ("folds", "checks"):
        draft.act("fold" if verb == "folds" else "check", name)
    elif verb == "raises":
        draft.act("to", name, amount(found["to"]), all_in=all_in)
    else:
        draft.act("call" if verb == "calls" else "add", name, amount(found["chips"]), all_in=all_in)


def _summary_show(draft: HandDraft, found: re.Match[str]) -> None:
    name = next((name for name, seat in draft.seats.items() if seat == int(found["seat"])), None)
    if name is not None and name in draft.dealt:
        draft.show(name, read_cards(found["cards"]))


def _pot(draft: HandDraft, found: re.Match[str]) -> None:
    draft.pot, draft.rake = amount(found["pot"]), 0
    for fee in re.findall(rf"(?:Rake|Jackpot|Bingo|Fortune|Tax|Comisión|Commission|JP Fee) ({MONEY})", found["fees"]):
        draft.rake += amount(fee)


def _refuse_cash_out(draft: HandDraft, found: re.Match[str]) -> None:
    raise draft.fail("an all-in insurance or cash-out", "chips change hands outside of the pot")


SUMMARY_RULES = (
    rule(rf"Seat #?(?P<seat>\d+): .+ (?:showed|mucked) {SHOWN}", _summary_show),
    rule(rf"Total pot (?P<pot>{MONEY})(?P<fees>.*)", _pot),
)
COMMON_RULES = (
    rule(rf"Dealt to {NAME} {SHOWN}$", show_own),
    rule(
        r"\*\*\* ?(?:(?P<run>FIRST|SECOND|THIRD) )?(?:FLOP|TURN|RIVER) ?\*\*\* (?P<cards>.*)",
        deal_board,
    ),
    rule(
        rf"Uncalled bet \({CHIPS}\) returned to (?P<name>.+)",
        return_uncalled,
    ),
    rule(
        rf"{NAME} collected \(?{CHIPS}\)?(?: from .*)?$",
        collect,
    ),
)
RULES = (
    rule(r'.+ said, ".*', skip),
    rule(
        rf"(?P<name>.+): (?P<verb>folds|checks|calls|bets|raises)(?: \[.*\])?(?: {CHIPS})?"
        rf"(?: to (?P<to>{MONEY}))?{ALL_IN} *$",
        _act,
    ),
    rule(
        rf"(?P<name>.+): (?P<what>(?:posts|straddles?)[a-z &]*?)(?: of)? {CHIPS}(?P<all> and is all-in)?$",
        _post,
    ),
    *COMMON_RULES,
    rule(rf"(?P<name>.+): shows {SHOWN}", show),
    rule(r".+: (?:mucks|doesn't show|shows|is sitting out|sits out|Chooses to EV)", skip),
    rule(r".+: (?:Pays Cashout|Receives Cashout|get an all-in insurance|pay premium)", _refuse_cash_out),
    rule(rf"Cash Drop to Pot ?: total {CHIPS}", lambda d, m: setattr(d, "added", d.added + amount(m["chips"]))),
    rule(
        rf"Seat (?P<seat>\d+): (?P<name>.+) \({CHIPS}(?: in chips)?(?:, .*bounty)?\)(?P<out>.* sitting out)?",
        lambda d, m: _seat(d, m),
    ),
    rule(r"Table '(?P<table>.*)' .*Seat #(?P<button>\d+) is the button", set_button),
    rule(r"Hand was (?:canceled|cancelled)", lambda d, m: _cancelled(d)),
)


def _seat(draft: HandDraft, found: re.Match[str]) -> None:
    draft.seat(int(found["seat"]), found["name"], amount(found["chips"]))
    if found["out"]:
        draft.out.add(found["name"])


def _cancelled(draft: HandDraft) -> None:
    raise draft.fail("a cancelled hand")


POKER_STARS = LineFormat(
    "PokerStars", START, _header, RULES, SUMMARY_RULES,
    strict=re.compile(r".+: (?:[a-z]+s|posts .*|straddle.*)\b.* ?[0-9.,]+$"), translate=to_english,
    end=("Total pot", "Bote total", "Pot total", "Total du pot"),
)  # fmt: skip
