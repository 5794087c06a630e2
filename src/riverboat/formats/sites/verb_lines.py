"""Sites whose events are `NAME VERB AMOUNT`: Winamax, ACR and other WPN skins (new form), Full Tilt, OnGame."""

from __future__ import annotations

import re

from riverboat.formats.sites.draft import HandDraft
from riverboat.formats.sites.lines import (
    CHIPS,
    NAME,
    SHOWN,
    LineFormat,
    collect,
    deal_street,
    read_stakes,
    require_holdem,
    return_uncalled,
    rule,
    set_button,
    show,
    show_own,
    skip,
)
from riverboat.formats.sites.poker_stars import COMMON_RULES, SUMMARY_RULES
from riverboat.formats.sites.text import MONEY, amount, read_cards

ALL_IN = r"(?P<all>,? (?:and|which) is all[ -]?in|, and is all in| \[all in\]| all-?in)?"
POSTS = (
    rf"{NAME} posts (?:an? |the )?"
    r"(?P<what>small blind|big blind|dead small blind|ante|straddle|dead blind|missed blind|dead|small & big blinds?)?"
    rf"(?: of)? ?\(?{CHIPS}\)?{ALL_IN}$"
)


def post(draft: HandDraft, found: re.Match[str]) -> None:
    """Add an ante or a blind of the groups `name`, `what` and `chips`."""
    name, what, chips = found["name"], (found["what"] or "post").lower(), amount(found["chips"])
    if found["all"]:
        draft.all_in.add(name)
    if what == "ante":
        draft.post_ante(name, chips)
    elif "&" in what:
        draft.post_blind(name, min(chips, draft.big_blind), "post")
        draft.post_dead(name, max(chips - draft.big_blind, 0))
    elif "dead" in what or "missed" in what:
        draft.post_dead(name, chips)
    elif what == "straddle":
        draft.post_blind(name, chips, "straddle")
    else:
        draft.post_blind(name, chips, "small" if "small" in what else "big" if "big" in what else "post")


def act(draft: HandDraft, found: re.Match[str]) -> None:
    """Add an action of the groups `name`, `verb`, `chips`, `to` and `all`."""
    name, verb, all_in = found["name"], found["verb"], bool(found["all"])
    if verb in ("folds", "checks"):
        draft.act("fold" if verb == "folds" else "check", name)
    elif verb == "raises":
        draft.act("to", name, amount(found["to"]), all_in=all_in)
    else:
        draft.act("call" if verb == "calls" else "add", name, amount(found["chips"]), all_in=all_in)


def seat(draft: HandDraft, found: re.Match[str]) -> None:
    """Add a player of the groups `seat`, `name` and `chips`."""
    draft.seat(int(found["seat"]), found["name"], amount(found["chips"]))


ACTION = rf"{NAME} (?P<verb>folds|checks|calls|bets|raises)(?: {CHIPS})?(?: ?to (?P<to>{MONEY}))?{ALL_IN} *$"


# --- Winamax ---


def _winamax_header(draft: HandDraft, found: re.Match[str], text: str) -> None:
    draft.number = found["number"]
    require_holdem(draft, found["rest"])
    read_stakes(draft, found["rest"])
    stakes = re.findall(rf"\(({MONEY}(?:/{MONEY})+)\)", found["rest"])
    if stakes:  # ante/small blind/big blind in tournaments
        draft.big_blind = max(map(amount, stakes[-1].split("/")))
    if "Tournament" in found["kind"]:
        draft.tournament, draft.currency = found["kind"].partition('"')[2].partition('"')[0] or "Winamax", ""


WINAMAX = LineFormat(
    "Winamax",
    re.compile(r"Winamax Poker - (?P<kind>.*?) ?- HandId: #(?P<number>[0-9-]+) - (?P<rest>.*)"),
    _winamax_header,
    (
        rule(ACTION, act),
        rule(POSTS, post),
        rule(rf"Dealt to {NAME} {SHOWN}$", show_own),
        *COMMON_RULES,
        rule(rf"{NAME} shows {SHOWN}", show),
        rule(rf"Seat (?P<seat>\d+): (?P<name>.+) \({CHIPS}(?:, .*)?\)$", seat),
        rule(r"Table: '(?P<table>.*)' .*Seat #(?P<button>\d+) is the button", set_button),
    ),
    (
        rule(rf"Total pot (?P<pot>{MONEY}) \| (?:No rake|Rake (?P<rake>{MONEY}))", lambda d, m: _winamax_pot(d, m)),
        SUMMARY_RULES[0],
    ),
    end=("Total pot",), wins_include_uncalled=True,
)  # fmt: skip


def _winamax_pot(draft: HandDraft, found: re.Match[str]) -> None:
    draft.rake = amount(found["rake"]) if found["rake"] else 0
    draft.pot = amount(found["pot"]) + draft.rake


# --- ACR, BlackChip and other skins of the WPN, since 2019 ---


def _wpn_header(draft: HandDraft, found: re.Match[str], text: str) -> None:
    draft.number = found["number"]
    require_holdem(draft, text)
    read_stakes(draft, text)
    tournament = re.search(r"Tournament #(\d+)", text)
    if tournament is not None:
        draft.tournament, draft.currency = tournament[1], ""


WPN = LineFormat(
    "ACR",
    re.compile(r"(?:Game )?Hand #(?P<number>\d+) - (?=.*(?:Hold|Omaha|Stud|7-Card))"),
    _wpn_header,
    (
        rule(ACTION, act),
        rule(POSTS, post),
        *COMMON_RULES,
        rule(rf"{NAME} shows {SHOWN}", show),
        rule(rf"Seat (?P<seat>\d+): (?P<name>.+) \({CHIPS}\)(?: is sitting out)?$", seat),
        rule(r"(?P<table>.*?) ?\d+-max Seat #(?P<button>\d+) is the button", set_button),
    ),
    SUMMARY_RULES,
    end=("Total pot",),
)


# --- Full Tilt ---


def _tilt_header(draft: HandDraft, found: re.Match[str], text: str) -> None:
    draft.number, draft.table = found["number"], found["table"]
    require_holdem(draft, found["rest"])
    read_stakes(draft, found["rest"])
    if "Ante" in found["rest"]:  # $1/$2 Ante $0.25
        draft.currency = draft.currency or ""
    tournament = re.search(r"\((\d{6,})\)", found["table"])
    if tournament is not None and not draft.currency:
        draft.tournament = tournament[1]


FULL_TILT = LineFormat(
    "Full Tilt",
    re.compile(r"Full ?Tilt ?Poker(?:\.[a-z]+)? (?:Game|Hand) #(?P<number>\d+): (?P<table>.*?) - (?P<rest>.*)"),
    _tilt_header,
    (
        rule(
            rf"Seat (?P<seat>\d+): (?P<name>.+) \({CHIPS}\)(?P<out>, is sitting out)?$",
            lambda d, m: _tilt_seat(d, m),
        ),
        rule(r"(?P<name>[^:]+): .*", skip),  # chat
        rule(r"The button is in seat #(?P<button>\d+)", set_button),
        rule(ACTION, act),
        rule(POSTS, post),
        rule(rf"{NAME} antes {CHIPS}(?:, .*)?$", lambda d, m: d.post_ante(m["name"], amount(m["chips"]))),
        rule(
            rf"Uncalled bet of {CHIPS} returned to (?P<name>.+)",
            return_uncalled,
        ),
        *COMMON_RULES,
        rule(rf"{NAME} (?:shows|mucks) {SHOWN}", show),
        rule(
            rf"{NAME} (?:wins|ties for) (?:the |side |main )*pot(?: \d+)? ?\({CHIPS}\)",
            collect,
        ),
    ),
    SUMMARY_RULES,
    end=("Total pot",),
)  # fmt: skip


def _tilt_seat(draft: HandDraft, found: re.Match[str]) -> None:
    seat(draft, found)
    if found["out"]:
        draft.out.add(found["name"])


# --- OnGame ---


def _ongame_header(draft: HandDraft, found: re.Match[str], text: str) -> None:
    draft.number = found["number"]


def _ongame_table(draft: HandDraft, found: re.Match[str]) -> None:
    draft.table = found["table"]
    require_holdem(draft, found["game"].replace("_", " "))
    date, draft.time = draft.time, ""
    read_stakes(draft, found["game"])
    draft.time = date


def _ongame_start(draft: HandDraft, found: re.Match[str]) -> None:
    read_stakes(draft, found[0])


def _ongame_pot(draft: HandDraft, found: re.Match[str]) -> None:
    for name, chips in re.findall(rf"(?:^|, )(.+?) \(({MONEY})\)", found["winners"]):
        draft.collect(name, amount(chips))


def _ongame_result(draft: HandDraft, found: re.Match[str]) -> None:
    name = found["name"]
    if found["net"]:
        draft.net[name] = amount(found["net"]) * (-1 if found["sign"] == "-" else 1)
    if found["cards"] and name in draft.dealt:
        draft.show(name, read_cards(found["cards"]))


ONGAME = LineFormat(
    "OnGame",
    re.compile(r"\*{5} History for hand (?P<number>[A-Z0-9-]+) \*{5}"),
    _ongame_header,
    (
        rule(ACTION, act),
        rule(POSTS, post),
        rule(r"Start hand: .*", _ongame_start),
        rule(r"Table: (?P<table>.*?) \((?P<game>[A-Z_]+ .*)", _ongame_table),
        rule(r"Button: seat (?P<button>\d+)", set_button),
        rule(rf"Dealing to (?P<name>.+): {SHOWN}", show_own),
        rule(rf"--- Dealing (?:flop|turn|river) {SHOWN}", deal_street),
        rule(rf"Seat (?P<seat>\d+): (?P<name>.+) \({CHIPS}\)$", seat),
        rule(rf"{NAME} shows {SHOWN}", show),
    ),
    (
        rule(r"(?:Main pot|Side pot ?\d*): .*? won by (?P<winners>.*)", _ongame_pot),
        rule(rf"Rake taken: (?P<rake>{MONEY})", lambda d, m: setattr(d, "rake", amount(m["rake"]))),
        rule(
            rf"Seat \d+: {NAME} \({MONEY}\), net: (?P<sign>[+-])(?P<net>{MONEY})(?:, {SHOWN})?",
            _ongame_result,
        ),
    ),
    end=("End of hand",),
)  # fmt: skip
